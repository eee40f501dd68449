/* SPDX-License-Identifier: MIT
 *
 * Reading: the text becomes JSON (codec/toml.h), which is read by a table of known keys. The
 * position of a key is looked up in the text when a message needs it. Choosing: a model's name
 * against the configured providers and the built-in list. */
#include "llm/config.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "codec/toml.h"
#include "core/setting.h"
#include "llm/builtin.h"
#include "llm/provider.h"
#include "llm/url.h"

#define NO_KEY_HERE \
	"keys are not allowed in the configuration, which may be shared: use key_env, " \
	"key_file or key_cmd"
#define HOOK_SHAPE "must be a list of tables: [[hook]]"
#define ROLES_SHAPE "a list of up to 100 names: [\"User\", \"AI\"]"
#define MODELS_SHAPE "must be a list of names: [\"big\", \"small\"]"

enum { ROLES_MAX = 100, PROVIDER_NAME_MAX = 64, PATH_DEPTH = 3, SHOWN_MAX = 40, NAME_SHOWN_MAX = 80 };

typedef struct reader {
	rt_config *c;
	rt_scope *s; /* the configuration's: its memory, and the first failure */
	rt_str text;
	rt_str path[PATH_DEPTH]; /* to the key that is being read */
	size_t depth;
	uint64_t max; /* of a number */
	size_t warning_capacity;
} reader;

/* ---- messages ---- */

/* The most similar of several words, for "did you mean". */
typedef struct nearest {
	rt_str word, best; /* best empty: none is similar */
	size_t distance;
} nearest;

static nearest
nearest_to(rt_str word)
{
	return (nearest){.word = word, .distance = word.size < 4 ? 2 : 3};
}

static void
compare(nearest *n, rt_str candidate)
{
	size_t distance = rt_str_distance(n->word, candidate);

	if (distance < n->distance) {
		n->distance = distance;
		n->best = candidate;
	}
}

static void
find_position(const reader *r, uint64_t *line, uint64_t *column)
{
	*line = *column = 0;
	for (size_t depth = r->depth; depth > 0; depth--)
		if (rt_toml_find(r->text, r->path, depth, line, column))
			return;
}

/* The value of the key at path is wrong. */
RT_PRINTF(3, 4)
static void
fail(reader *r, rt_status st, const char *format, ...)
{
	char where[(SHOWN_MAX + 1) * PATH_DEPTH + 1] = "", words[RT_ERROR_TEXT_SIZE];
	uint64_t line, column;
	va_list args;

	if (!rt_ok(r->s))
		return;
	va_start(args, format);
	(void)vsnprintf(words, sizeof(words), format, args);
	va_end(args);
	for (size_t i = 0, size = 0; i < r->depth; i++, size = strlen(where))
		(void)snprintf(where + size, sizeof(where) - size, "%s%.*s", i > 0 ? "." : "",
			       (int)rt_utf8_cut(r->path[i], SHOWN_MAX), r->path[i].ptr);
	find_position(r, &line, &column);
	if (line == 0)
		(void)rt_scope_fail(r->s, st, "%s: %s", where, words);
	else
		(void)rt_scope_fail(r->s, st, "line %llu, column %llu: %s: %s",
				    (unsigned long long)line, (unsigned long long)column, where,
				    words);
	r->s->error.line = line;
}

/* The key at path is unknown. meant: a similar known one; may be empty. */
static void
warn_unknown(reader *r, rt_str meant)
{
	rt_str key = r->path[r->depth - 1];
	rt_config_warning warning = {0}, *warnings;
	rt_buf *words = rt_scope_buf(r->s);

	find_position(r, &warning.line, &warning.column);
	if (warning.line != 0)
		rt_buf_add_f(words, "line %llu, column %llu: ", (unsigned long long)warning.line,
			     (unsigned long long)warning.column);
	rt_buf_add_c(words, "unknown key ");
	rt_json_add_string(words, rt_str_at(key.ptr, rt_utf8_cut(key, SHOWN_MAX)));
	if (meant.size > 0)
		rt_buf_add_f(words, " (did you mean %.*s?)", RT_STR_ARG(meant));
	warning.words = rt_scope_str(r->s, words);
	warnings = rt_scope_grow(r->s, r->c->warnings, r->c->warning_count, &r->warning_capacity,
				 sizeof(*warnings));
	if (warnings == NULL)
		return;
	r->c->warnings = warnings;
	warnings[r->c->warning_count++] = warning;
}

/* ---- values ---- */

static bool
is_word(rt_str s, const char *further)
{
	return s.size > 0 && rt_word_size(s, further) == s.size;
}

static rt_str
read_string(reader *r, yyjson_val *value)
{
	rt_str text = rt_json_str(value);

	if (!yyjson_is_str(value) || text.size == 0)
		fail(r, RT_USAGE, "must be a non-empty quoted string");
	else if (!rt_header_is_one_line(text))
		fail(r, RT_USAGE, "contains a newline or another control character");
	return rt_scope_copy(r->s, text);
}

/* ---- keys of a provider: each fills the member `to` ---- */

static void
read_text(reader *r, yyjson_val *value, void *to)
{
	*(rt_str *)to = read_string(r, value);
}

static void
read_number(reader *r, yyjson_val *value, void *to)
{
	uint64_t number = 0;

	if (!rt_json_u64(value, &number) || number == 0 || number > r->max)
		fail(r, RT_USAGE, "must be a whole number from 1 to %llu",
		     (unsigned long long)r->max);
	*(size_t *)to = (size_t)number;
}

static void
read_flag(reader *r, yyjson_val *value, void *to)
{
	if (!yyjson_is_bool(value))
		fail(r, RT_USAGE, "must be true or false");
	*(bool *)to = yyjson_get_bool(value);
}

static void
read_url(reader *r, yyjson_val *value, void *to)
{
	rt_str text = read_string(r, value);
	rt_error why;
	rt_url url;

	if (rt_ok(r->s) && rt_url_read(text, &url, &why) != RT_OK)
		fail(r, RT_USAGE, "%s", why.text);
	*(rt_str *)to = text;
}

static void
read_variable(reader *r, yyjson_val *value, void *to)
{
	rt_str name = read_string(r, value);

	/* It may be the key itself by mistake: it is not shown. */
	if (rt_ok(r->s) && (!is_word(name, "_") || (name.ptr[0] >= '0' && name.ptr[0] <= '9')))
		fail(r, RT_USAGE,
		     "must be the name of an environment variable (letters, digits and _)");
	*(rt_str *)to = name;
}

/* Texts; first_min: bytes of the first one, rest_min of the others. */
static rt_str *
read_list(reader *r, yyjson_val *value, size_t first_min, size_t rest_min, const char *shape,
	  size_t *count)
{
	rt_str *list = rt_scope_array(r->s, yyjson_arr_size(value), sizeof(*list));

	for (rt_json_iter it = rt_json_items(value); rt_json_next(&it);) {
		rt_str word = rt_json_str(it.value);

		if (!yyjson_is_str(it.value) || word.size < (it.index == 0 ? first_min : rest_min) ||
		    (rest_min == 0 && word.size > 0 && memchr(word.ptr, '\0', word.size) != NULL))
			fail(r, RT_USAGE, "%s", shape);
		if (!rt_ok(r->s))
			break;
		list[(*count)++] = rt_scope_copy(r->s, word);
	}
	return list;
}

static void
read_command(reader *r, yyjson_val *value, void *to)
{
	rt_config_provider *p = to;

	if (!yyjson_is_arr(value) || yyjson_arr_size(value) == 0)
		fail(r, RT_USAGE,
		     "must be a list of the program and its arguments: [\"pass\", \"show\", "
		     "\"x\"]; no shell is used");
	p->key_cmd = read_list(r, value, 1, 0, "must be a list of strings without NUL",
			       &p->key_cmd_count);
}

static void
read_models(reader *r, yyjson_val *value, void *to)
{
	rt_config_provider *p = to;

	if (!yyjson_is_arr(value))
		fail(r, RT_USAGE, MODELS_SHAPE);
	p->models = read_list(r, value, 1, 1, MODELS_SHAPE, &p->model_count);
}

static void
read_headers(reader *r, yyjson_val *value, void *to)
{
	rt_config_provider *p = to;

	if (!yyjson_is_obj(value))
		fail(r, RT_USAGE, "must be a table of strings: { \"x-org\" = \"me\" }");
	p->headers = rt_scope_array(r->s, yyjson_obj_size(value), sizeof(*p->headers));
	for (rt_json_iter it = rt_json_members(value); rt_json_next(&it);) {
		if (!is_word(it.key, "!#$%&'*+-.^_`|~"))
			fail(r, RT_USAGE, "has an invalid header name");
		if (!yyjson_is_str(it.value) || !rt_header_is_one_line(rt_json_str(it.value)))
			fail(r, RT_USAGE, "must contain only single-line strings");
		if (!rt_ok(r->s))
			return;
		p->headers[p->header_count++] = (rt_header){
			.name = rt_scope_copy(r->s, it.key),
			.value = rt_scope_copy(r->s, rt_json_str(it.value)),
		};
	}
}

/* value NULL: the provider's name is its kind. */
static void
read_kind(reader *r, yyjson_val *value, void *to)
{
	rt_config_provider *p = to;
	rt_buf *names = rt_scope_buf(r->s);

	if (value == NULL || yyjson_is_str(value))
		p->kind = rt_provider_named(value == NULL ? p->name : rt_json_str(value));
	if (p->kind != NULL)
		return;
	rt_provider_add_names(names);
	fail(r, RT_USAGE, "%s%s",
	     value == NULL ? "requires kind, one of: " : "must be one of: ",
	     rt_scope_str(r->s, names).ptr);
}

/* Usual names of a key. */
static bool
is_key_name(rt_str name)
{
	static const char *const names[] = {"key",   "api_key", "apikey",   "api-key", "apiKey",
					    "token", "secret",  "password", NULL};

	return rt_str_is_one_of(name, names);
}

static void
read_setting(reader *r, rt_str key, yyjson_val *value, rt_config_provider *p)
{
#define MEMBER(name) offsetof(rt_config_provider, name)
	static const struct {
		const char *key;
		void (*read)(reader *r, yyjson_val *value, void *to);
		size_t offset; /* 0: the provider itself */
		uint64_t max;  /* of a number */
	} settings[] = {
		{"kind", read_kind, 0, 0},
		{"url", read_url, MEMBER(url), 0},
		{"key_env", read_variable, MEMBER(key_env), 0},
		{"key_file", read_text, MEMBER(key_file), 0},
		{"key_cmd", read_command, 0, 0},
		{"headers", read_headers, 0, 0},
		{"timeout_s", read_number, MEMBER(timeout_s), RT_CONFIG_TIMEOUT_MAX_S},
		{"context_tokens", read_number, MEMBER(context_tokens), 1u << 30},
		{"ca_file", read_text, MEMBER(ca_file), 0},
		{"allow_plain_http", read_flag, MEMBER(allow_plain_http), 0},
		{"models", read_models, 0, 0},
	};
#undef MEMBER
	nearest meant = nearest_to(key);

	for (size_t i = 0; i < sizeof(settings) / sizeof(*settings); i++) {
		if (rt_str_is(key, settings[i].key)) {
			r->max = settings[i].max;
			settings[i].read(r, value, (char *)p + settings[i].offset);
			return;
		}
		compare(&meant, rt_str_of(settings[i].key));
	}
	if (is_key_name(key))
		fail(r, RT_REFUSED, NO_KEY_HERE);
	else
		warn_unknown(r, meant.best);
}

/* ---- tables ---- */

static void
read_provider(reader *r, rt_str name, yyjson_val *table, rt_config_provider *p)
{
	if (name.size > PROVIDER_NAME_MAX || !is_word(name, "-_."))
		fail(r, RT_USAGE, "a provider's name can have letters, digits, - and _");
	else if (!yyjson_is_obj(table))
		fail(r, RT_USAGE, "must be a table: [provider.NAME]");
	p->name = rt_scope_copy(r->s, name);
	r->depth = 3;
	for (rt_json_iter it = rt_json_members(table); rt_ok(r->s) && rt_json_next(&it);) {
		r->path[2] = it.key;
		read_setting(r, it.key, it.value, p);
	}
	r->depth = 2;
	if (p->kind == NULL)
		read_kind(r, NULL, p);
	if ((p->key_env.size > 0) + (p->key_file.size > 0) + (p->key_cmd_count > 0) > 1)
		fail(r, RT_USAGE, "has more than one of key_env, key_file and key_cmd");
}

static void
read_providers(reader *r, yyjson_val *table)
{
	if (!yyjson_is_obj(table))
		fail(r, RT_USAGE, "must be tables: [provider.NAME]");
	r->c->providers = rt_scope_array(r->s, yyjson_obj_size(table), sizeof(*r->c->providers));
	for (rt_json_iter it = rt_json_members(table); rt_ok(r->s) && rt_json_next(&it);) {
		r->path[1] = it.key;
		r->depth = 2;
		read_provider(r, it.key, it.value, &r->c->providers[r->c->provider_count++]);
	}
}

/* A default is a setting that any discussion may have, or the list of roles. */
static void
read_default(reader *r, rt_str key, yyjson_val *value, rt_buf *json)
{
	const rt_setting *setting = rt_setting_named(key);
	nearest meant = nearest_to(key);
	const char *wants = NULL;
	rt_buf *text = rt_scope_buf(r->s);

	rt_json_add_value(text, value);
	if (rt_str_is(key, "roles")) {
		bool is_list = yyjson_is_arr(value) && yyjson_arr_size(value) > 0 &&
			       yyjson_arr_size(value) <= ROLES_MAX;

		for (rt_json_iter it = rt_json_items(value); is_list && rt_json_next(&it);)
			is_list = yyjson_is_str(it.value) &&
				  rt_str_trim(rt_json_str(it.value)).size > 0;
		wants = is_list ? NULL : ROLES_SHAPE;
	} else if (setting != NULL && !rt_setting_is_of_one(key)) {
		wants = rt_setting_wants(setting, rt_scope_str(r->s, text));
	} else {
		compare(&meant, RT_STR("roles"));
		for (size_t i = 0; rt_settings[i].key != NULL; i++)
			if (!rt_setting_is_of_one(rt_str_of(rt_settings[i].key)))
				compare(&meant, rt_str_of(rt_settings[i].key));
		warn_unknown(r, meant.best);
		return;
	}
	if (wants != NULL)
		fail(r, RT_USAGE, "must be %s", wants);
	rt_json_add_key_str(json, key);
	rt_json_add_value(json, value);
}

static void
read_defaults(reader *r, yyjson_val *table)
{
	rt_buf *json = rt_scope_buf(r->s);

	if (!yyjson_is_obj(table))
		fail(r, RT_USAGE, "must be a table: [defaults]");
	rt_json_open(json, NULL, '{');
	for (rt_json_iter it = rt_json_members(table); rt_ok(r->s) && rt_json_next(&it);) {
		r->path[1] = it.key;
		r->depth = 2;
		read_default(r, it.key, it.value, json);
	}
	rt_json_close(json, '}');
	r->c->defaults = rt_scope_str(r->s, json);
}

static void
read_hooks(reader *r, yyjson_val *list)
{
	rt_buf *json = rt_scope_buf(r->s);

	if (!yyjson_is_arr(list))
		fail(r, RT_USAGE, HOOK_SHAPE);
	for (rt_json_iter it = rt_json_items(list); rt_json_next(&it);)
		if (!yyjson_is_obj(it.value))
			fail(r, RT_USAGE, HOOK_SHAPE);
	rt_json_add_value(json, list);
	r->c->hooks = rt_scope_str(r->s, json);
}

/* The price of a million tokens; 0 if it is left out. */
static double
read_price(reader *r, yyjson_val *table, const char *key)
{
	yyjson_val *value = rt_json_get(table, key);

	char digits[40] = "";
	rt_str text = rt_json_str(value);

	if (value == NULL)
		return 0;
	if (!rt_json_is_number(value) || text.size >= sizeof(digits) || text.ptr[0] == '-') {
		fail(r, RT_USAGE, "%s must be a number, 0 or more", key);
		return 0;
	}
	memcpy(digits, text.ptr, text.size);
	return strtod(digits, NULL);
}

static void
read_prices(reader *r, yyjson_val *table)
{
	rt_config *c = r->c;

	if (!yyjson_is_obj(table))
		fail(r, RT_USAGE, "must be a table: [prices]");
	c->prices = rt_scope_array(r->s, yyjson_obj_size(table), sizeof(*c->prices));
	for (rt_json_iter it = rt_json_members(table); rt_ok(r->s) && rt_json_next(&it);) {
		rt_price price = {read_price(r, it.value, "input"),
				  read_price(r, it.value, "output"),
				  read_price(r, it.value, "cached")};

		if (!yyjson_is_obj(it.value))
			fail(r, RT_USAGE, "a price must be a table: { input = 1.25, output = 10 }");
		if (rt_json_get(it.value, "cached") == NULL)
			price.cached = price.input;
		if (rt_ok(r->s))
			c->prices[c->price_count++] =
				(rt_config_price){rt_scope_copy(r->s, it.key), price};
	}
}

static void
read_theme(reader *r, yyjson_val *value, void *to)
{
	static const char *const themes[] = {"auto", "dark", "light", NULL};
	rt_str text = read_string(r, value);

	if (!rt_str_is_one_of(text, themes))
		fail(r, RT_USAGE, "must be \"auto\", \"dark\" or \"light\"");
	*(rt_str *)to = text;
}

static void
read_tui_setting(reader *r, rt_str key, yyjson_val *value)
{
#define MEMBER(name) offsetof(rt_config, tui.name)
	static const struct {
		const char *key;
		void (*read)(reader *r, yyjson_val *value, void *to);
		size_t offset;
	} settings[] = {
		{"mouse", read_flag, MEMBER(mouse)},
		{"theme", read_theme, MEMBER(theme)},
	};
#undef MEMBER
	nearest meant = nearest_to(key);

	for (size_t i = 0; i < sizeof(settings) / sizeof(*settings); i++) {
		if (rt_str_is(key, settings[i].key)) {
			settings[i].read(r, value, (char *)r->c + settings[i].offset);
			return;
		}
		compare(&meant, rt_str_of(settings[i].key));
	}
	warn_unknown(r, meant.best);
}

static void
read_tui(reader *r, yyjson_val *table)
{
	if (!yyjson_is_obj(table))
		fail(r, RT_USAGE, "must be a table: [tui]");
	for (rt_json_iter it = rt_json_members(table); rt_ok(r->s) && rt_json_next(&it);) {
		r->path[1] = it.key;
		r->depth = 2;
		read_tui_setting(r, it.key, it.value);
	}
}

static void
read_top(reader *r, yyjson_val *root)
{
	static const char *const top_keys[] = {"model", "title_model", "embedding_model", "comms_texts", "provider",
						"prices", "defaults", "tui", "hook"};

	for (rt_json_iter it = rt_json_members(root); rt_ok(r->s) && rt_json_next(&it);) {
		nearest meant = nearest_to(it.key);

		r->path[0] = it.key;
		r->depth = 1;
		for (size_t k = 0; k < sizeof(top_keys) / sizeof(*top_keys); k++)
			compare(&meant, rt_str_of(top_keys[k]));
		if (rt_str_is(it.key, "model"))
			r->c->model = read_string(r, it.value);
		else if (rt_str_is(it.key, "title_model"))
			r->c->title_model = read_string(r, it.value);
		else if (rt_str_is(it.key, "embedding_model"))
			r->c->embedding_model = read_string(r, it.value);
		else if (rt_str_is(it.key, "comms_texts"))
			read_flag(r, it.value, &r->c->comms_texts);
		else if (rt_str_is(it.key, "provider"))
			read_providers(r, it.value);
		else if (rt_str_is(it.key, "prices"))
			read_prices(r, it.value);
		else if (rt_str_is(it.key, "defaults"))
			read_defaults(r, it.value);
		else if (rt_str_is(it.key, "tui"))
			read_tui(r, it.value);
		else if (rt_str_is(it.key, "hook"))
			read_hooks(r, it.value);
		else if (is_key_name(it.key))
			fail(r, RT_REFUSED, NO_KEY_HERE " of a provider");
		else
			warn_unknown(r, meant.best);
	}
}

/* The configuration is allocated in its scope. */
rt_status
rt_config_read(const rt_alloc *alloc, rt_str text, rt_config **out, rt_error *err)
{
	rt_scope s, parsing;

	rt_scope_init(&s, alloc);
	rt_scope_init(&parsing, alloc);
	rt_config *c = rt_scope_get(&s, sizeof(*c));
	if (c != NULL)
		c->comms_texts = c->tui.mouse = true;
	if (text.size > RT_CONFIG_SIZE_MAX)
		(void)rt_scope_fail(&s, RT_LIMIT, "a configuration file can be at most %d bytes",
				    (int)RT_CONFIG_SIZE_MAX);
	if (rt_ok(&s) && rt_str_trim(text).size > 0) { /* otherwise it can be read without TOML,
							* too */
		reader r = {.c = c, .s = &s, .text = text};
		rt_buf *json = rt_scope_buf(&parsing);

		RT_TRY(&s, rt_toml_to_json(alloc, text, json, &s.error));
		yyjson_val *root = rt_json_parse(&parsing, rt_buf_str(json));
		RT_TRY(&s, parsing.status);
		read_top(&r, root);
	}
	rt_scope_deinit(&parsing);
	if (s.status == RT_NOMEM)
		(void)rt_fail(&s.error, RT_NOMEM, "out of memory while reading the configuration");
	if (!rt_ok(&s))
		return rt_scope_end(&s, err);
	if (c->hooks.ptr == NULL)
		c->hooks = RT_STR("[]");
	c->scope = s;
	*out = c;
	return RT_OK;
}

void
rt_config_free(rt_config *config)
{
	if (config == NULL)
		return;
	rt_scope s = config->scope;
	rt_scope_deinit(&s);
}

const rt_config_provider *
rt_config_provider_named(const rt_config *config, rt_str name)
{
	for (size_t i = 0; config != NULL && i < config->provider_count; i++)
		if (rt_str_eq(config->providers[i].name, name))
			return &config->providers[i];
	return NULL;
}

/* Is that the listed model, or one of its dated versions ("gpt-5-2025-08-07")? */
static bool
has_price(rt_str listed, rt_str service, rt_str model)
{
	rt_str rest;

	if (!rt_str_starts(listed, service) || listed.size <= service.size ||
	    listed.ptr[service.size] != '/')
		return false;
	listed = rt_str_skip(listed, service.size + 1);
	if (listed.size == 0 || !rt_str_starts(model, listed))
		return false;
	rest = rt_str_skip(model, listed.size);
	return rest.size == 0 || rest.ptr[0] == ':' ||
	       (rest.size > 1 && rest.ptr[0] == '-' && rest.ptr[1] >= '0' && rest.ptr[1] <= '9');
}

const rt_price *
rt_config_price_of(const rt_config *config, rt_str service, rt_str model)
{
	const rt_config_price *best = NULL;

	for (size_t i = 0; config != NULL && i < config->price_count; i++)
		if (has_price(config->prices[i].model, service, model) &&
		    (best == NULL || config->prices[i].model.size > best->model.size))
			best = &config->prices[i];
	return best != NULL ? &best->price : NULL;
}

/* ---- which model a name means ---- */

bool
rt_models_provider_named(const rt_config *config, rt_str name, rt_model_choice *out)
{
	const rt_config_provider *configured = rt_config_provider_named(config, name);
	const rt_provider *kind = rt_provider_named(name);

	if (configured == NULL && kind != NULL) /* it may be written in another case */
		configured = rt_config_provider_named(config, rt_str_of(kind->name));
	if (configured == NULL && kind == NULL)
		return false;
	out->config = configured;
	out->provider = configured != NULL ? configured->kind : kind;
	out->provider_name = configured != NULL ? configured->name : rt_str_of(kind->name);
	return true;
}

bool
rt_models_next_provider(const rt_config *config, size_t *at, rt_model_choice *out)
{
	size_t own = config != NULL ? config->provider_count : 0;

	if (*at < own) {
		const rt_config_provider *p = &config->providers[(*at)++];

		*out = (rt_model_choice){.provider = p->kind, .config = p, .provider_name = p->name};
		return true;
	}
	while (rt_providers[*at - own] != NULL) {
		const rt_provider *kind = rt_providers[(*at)++ - own];
		rt_str name = rt_str_of(kind->name);

		*out = (rt_model_choice){.provider = kind, .provider_name = name};
		if (rt_config_provider_named(config, name) == NULL)
			return true;
	}
	return false;
}

static rt_str
nearest_provider(const rt_config *config, rt_str name)
{
	nearest meant = nearest_to(name);

	for (size_t i = 0; config != NULL && i < config->provider_count; i++)
		compare(&meant, config->providers[i].name);
	for (size_t i = 0; rt_providers[i] != NULL; i++)
		compare(&meant, rt_str_of(rt_providers[i]->name));
	return meant.best;
}

/* The provider of models with such a name; NULL: unknown. */
static const rt_provider *
maker_of(rt_str model)
{
	const rt_provider *likely = NULL;

	for (size_t i = 0; rt_providers[i] != NULL; i++) {
		const char *infix = rt_providers[i]->model_infix;

		for (const char *const *prefix = rt_providers[i]->model_prefixes; *prefix != NULL;
		     prefix++)
			if (rt_str_starts(model, rt_str_of(*prefix)))
				return rt_providers[i];
		if (likely == NULL && infix != NULL &&
		    rt_str_find(model, rt_str_of(infix), 0) != SIZE_MAX)
			likely = rt_providers[i];
	}
	return likely;
}

/* The names of all providers, for a sentence. */
static void
add_provider_names(const rt_config *config, rt_buf *out)
{
	for (size_t i = 0; config != NULL && i < config->provider_count; i++)
		if (rt_provider_named(config->providers[i].name) == NULL)
			rt_buf_add_f(out, "%.*s, ", RT_STR_ARG(config->providers[i].name));
	rt_provider_add_names(out);
}

static rt_status
fail_unknown(const rt_config *config, const char *words, rt_str name, rt_error *err)
{
	rt_buf names;
	rt_status st;

	rt_buf_init(&names, rt_alloc_libc(), RT_BUF_UNLIMITED);
	rt_buf_add_c(&names, "; use PROVIDER/MODEL; providers: ");
	add_provider_names(config, &names);
	st = rt_fail(err, RT_NOT_FOUND, "%s%.*s%s", words, (int)rt_utf8_cut(name, NAME_SHOWN_MAX),
		     name.size == 0 ? "" : name.ptr, names.status == RT_OK ? names.ptr : "");
	rt_buf_deinit(&names);
	return st;
}

/* "PROVIDER/MODEL"; false: the name has another form. */
static bool
split(const rt_config *config, rt_str name, rt_model_choice *out)
{
	size_t slash = rt_str_find(name, RT_STR("/"), 0);

	if (slash == SIZE_MAX || slash == 0 ||
	    !rt_models_provider_named(config, rt_str_at(name.ptr, slash), out))
		return false;
	out->model = rt_str_skip(name, slash + 1);
	return true;
}

rt_status
rt_models_choose(const rt_config *config, rt_str name, rt_model_choice *out, rt_error *err)
{
	rt_model_choice choice = {0};
	const rt_provider *maker = NULL;
	bool has_usual;
	size_t slash;

	if (name.size == 0) {
		if (config == NULL || config->model.size == 0)
			return fail_unknown(config,
					    "no model was given, and the configuration has no default",
					    name, err);
		name = config->model;
	}
	if (split(config, name, &choice)) {
		if (choice.model.size == 0)
			return fail_unknown(config, "no model is given after ", name, err);
		choice.provider = rt_provider_for(choice.provider, choice.model);
		*out = choice;
		return RT_OK;
	}
	has_usual = config != NULL && split(config, config->model, &choice);
	slash = rt_str_find(name, RT_STR("/"), 0);
	if (slash != SIZE_MAX && slash > 0) {
		rt_str provider = rt_str_at(name.ptr, slash);

		if (!has_usual || nearest_provider(config, provider).size > 0)
			return rt_models_check_provider(config, provider, err);
	}
	if (has_usual) { /* a model without a provider: of the provider of the configuration's
			  * model */
		*out = choice;
		out->model = name;
		out->provider = rt_provider_for(choice.provider, name);
		return RT_OK;
	}
	if (slash == SIZE_MAX)
		maker = maker_of(name);
	if (maker == NULL)
		return fail_unknown(config, "the name of the model has no provider: ", name,
				    err);
	name.size = rt_utf8_cut(name, NAME_SHOWN_MAX);
	return rt_fail(err, RT_NOT_FOUND,
		       "the model \"%.*s\" needs its provider as a prefix (did you mean %s/%.*s?)",
		       RT_STR_ARG(name), maker->name, RT_STR_ARG(name));
}

rt_status
rt_models_check_setting(const rt_config *config, rt_str name, rt_error *err)
{
	rt_model_choice choice;
	rt_status st;

	if (name.size == 0)
		return rt_fail(err, RT_USAGE, "the name of the model is empty");
	st = rt_models_choose(config, name, &choice, err);
	if (st == RT_OK && choice.provider->url == NULL)
		st = rt_builtin_check(choice.model, err);
	return st;
}

rt_status
rt_models_check_provider(const rt_config *config, rt_str name, rt_error *err)
{
	rt_model_choice ignored;
	rt_str meant = nearest_provider(config, name);
	rt_status st;
	rt_buf names;

	if (rt_models_provider_named(config, name, &ignored))
		return RT_OK;
	rt_buf_init(&names, rt_alloc_libc(), RT_BUF_UNLIMITED);
	add_provider_names(config, &names);
	name.size = rt_utf8_cut(name, NAME_SHOWN_MAX);
	st = rt_fail(err, RT_NOT_FOUND, "there is no provider \"%.*s\"%s%.*s%s; available: %s",
		     RT_STR_ARG(name), meant.size > 0 ? " (did you mean " : "", RT_STR_ARG(meant),
		     meant.size > 0 ? "?)" : "", names.status == RT_OK ? names.ptr : "others");
	rt_buf_deinit(&names);
	return st;
}
