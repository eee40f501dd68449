/* SPDX-License-Identifier: MIT
 *
 * The text becomes JSON (codec/toml.h), and that is read by tables of known keys. Where a
 * key stands is looked up in the text again when a message needs it. */
#include "llm/config.h"

#include "codec/toml.h"
#include "llm/provider.h"
#include "llm/url.h"

enum { PROVIDER_NAME_MAX = 64, PATH_DEPTH = 3 };

typedef struct reader {
	rt_config *c;
	rt_str text;
	rt_error *err;
	rt_str path[PATH_DEPTH]; /* to what is being read */
	size_t depth;
} reader;

static const char *const top_keys[] = {"model", "provider", "hook", NULL};
static const char *const provider_keys[] = {"kind",	 "url",	       "key_env",
					    "key_file",	 "key_cmd",    "headers",
					    "timeout_s", "context_tokens", "ca_file",
					    "allow_plain_http", "models", NULL};
/* What people call a key when they write it down. */
static const char *const forbidden_keys[] = {"key",   "api_key", "apikey", "api-key", "apiKey",
					     "token", "secret",	 "password", NULL};

/* ---- words ---- */

static void
find(const reader *r, uint64_t *line, uint64_t *column)
{
	size_t depth = r->depth;

	*line = *column = 0;
	while (depth > 0 && !rt_toml_find(r->text, r->path, depth, line, column))
		depth--;
}

/* What is wrong with the key that path leads to. */
static rt_status
fail(reader *r, rt_status st, const char *words)
{
	char where[160] = "";
	uint64_t line, column;
	rt_buf name;
	size_t i;

	find(r, &line, &column);
	rt_buf_init(&name, r->c->alloc, sizeof(where) - 1);
	for (i = 0; i < r->depth; i++) {
		if (i > 0)
			rt_buf_add_byte(&name, '.');
		rt_buf_add(&name, r->path[i].ptr, rt_utf8_cut(r->path[i], 40));
	}
	if (name.status == RT_OK && name.size > 0)
		memcpy(where, name.ptr, name.size + 1);
	rt_buf_deinit(&name);
	st = line == 0 ? rt_fail(r->err, st, "%s: %s", where, words)
		       : rt_fail(r->err, st, "line %llu, column %llu: %s: %s",
				 (unsigned long long)line, (unsigned long long)column, where, words);
	if (r->err != NULL)
		r->err->line = line;
	return st;
}

static rt_status
fail_memory(reader *r)
{
	return rt_fail(r->err, RT_NOMEM, "out of memory while reading the configuration");
}

static bool
is_in(const char *const *list, rt_str word)
{
	for (; *list != NULL; list++)
		if (rt_str_is(word, *list))
			return true;
	return false;
}

/* The word that was meant, or NULL. */
static const char *
nearest(const char *const *list, rt_str word)
{
	const char *best = NULL;
	size_t least = word.size < 4 ? 2 : 3, distance;

	for (; *list != NULL; list++) {
		distance = rt_str_distance(word, rt_str_of(*list));
		if (distance < least) {
			least = distance;
			best = *list;
		}
	}
	return best;
}

/* ---- keeping ---- */

static bool
keep(reader *r, rt_str s, rt_str *out)
{
	char *copy = rt_arena_get(r->c->arena, s.size + 1);

	if (copy == NULL)
		return false;
	if (s.size > 0)
		memcpy(copy, s.ptr, s.size);
	copy[s.size] = '\0';
	*out = rt_str_at(copy, s.size);
	return true;
}

static rt_status
keep_json(reader *r, yyjson_val *value, rt_str *out)
{
	rt_buf json;
	rt_status st;

	rt_buf_init(&json, r->c->alloc, RT_BUF_UNLIMITED);
	rt_json_add_value(&json, value);
	st = json.status == RT_OK && keep(r, rt_buf_str(&json), out) ? RT_OK : fail_memory(r);
	rt_buf_deinit(&json);
	return st;
}

/* The key that path leads to is not known. */
static rt_status
warn_unknown(reader *r, const char *const *known, rt_str key)
{
	rt_config_warning *w = &r->c->warnings[r->c->warning_count];
	const char *meant = nearest(known, key);
	rt_buf words;
	rt_status st;

	find(r, &w->line, &w->column);
	rt_buf_init(&words, r->c->alloc, RT_BUF_UNLIMITED);
	if (w->line != 0)
		rt_buf_add_f(&words, "line %llu, column %llu: ", (unsigned long long)w->line,
			     (unsigned long long)w->column);
	rt_buf_add_c(&words, "nothing is known of ");
	rt_json_add_string(&words, rt_str_at(key.ptr, rt_utf8_cut(key, 40)));
	if (meant != NULL)
		rt_buf_add_f(&words, " (did you mean %s?)", meant);
	st = words.status == RT_OK && keep(r, rt_buf_str(&words), &w->words) ? RT_OK
									     : fail_memory(r);
	if (st == RT_OK)
		r->c->warning_count++;
	rt_buf_deinit(&words);
	return st;
}

/* ---- values ---- */

static bool
is_one_line(rt_str s)
{
	size_t i;

	for (i = 0; i < s.size; i++)
		if ((unsigned char)s.ptr[i] < 0x20 || s.ptr[i] == 0x7F)
			return false;
	return true;
}

static rt_status
read_text(reader *r, yyjson_val *value, rt_str *out)
{
	rt_str text = rt_json_str(value);

	if (!yyjson_is_str(value) || text.size == 0)
		return fail(r, RT_USAGE, "is to be a text in quotes, and not empty");
	if (!is_one_line(text))
		return fail(r, RT_USAGE, "has a line end or another control character");
	return keep(r, text, out) ? RT_OK : fail_memory(r);
}

static rt_status
read_number(reader *r, yyjson_val *value, uint64_t max, uint64_t *out)
{
	char words[64];
	rt_buf text;
	rt_status st;

	if (rt_json_u64(value, out) && *out > 0 && *out <= max)
		return RT_OK;
	rt_buf_init(&text, r->c->alloc, sizeof(words));
	rt_buf_add_f(&text, "is to be a whole number from 1 to %llu", (unsigned long long)max);
	st = fail(r, RT_USAGE, text.status == RT_OK ? text.ptr : "is too small or too large");
	rt_buf_deinit(&text);
	return st;
}

static rt_status
read_url(reader *r, yyjson_val *value, rt_str *out)
{
	rt_error why;
	rt_url url;
	rt_status st = read_text(r, value, out);

	if (st == RT_OK && rt_url_read(*out, &url, &why) != RT_OK)
		st = fail(r, RT_USAGE, why.text);
	return st;
}

static bool
is_word(rt_str s, const char *further)
{
	size_t i;

	for (i = 0; i < s.size; i++) {
		char c = s.ptr[i];

		if (!((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
		      (c != '\0' && strchr(further, c) != NULL)))
			return false;
	}
	return s.size > 0;
}

static rt_status
read_variable(reader *r, yyjson_val *value, rt_str *out)
{
	rt_status st = read_text(r, value, out);

	/* Somebody may have put the key itself here: it is not shown. */
	if (st == RT_OK && (!is_word(*out, "_") || (out->ptr[0] >= '0' && out->ptr[0] <= '9')))
		st = fail(r, RT_USAGE, "is to be the name of an environment variable, which has "
			  "only letters, digits and _");
	return st;
}

static rt_status
read_command(reader *r, yyjson_val *value, rt_config_provider *p)
{
	yyjson_val *item;
	size_t i, max;

	if (!yyjson_is_arr(value) || yyjson_arr_size(value) == 0)
		return fail(r, RT_USAGE, "is to be a list, the program and its arguments: "
			    "[\"pass\", \"show\", \"x\"]; there is no shell");
	p->key_cmd = rt_arena_get(r->c->arena, yyjson_arr_size(value) * sizeof(*p->key_cmd));
	if (p->key_cmd == NULL)
		return fail_memory(r);
	yyjson_arr_foreach(value, i, max, item)
	{
		rt_str word = rt_json_str(item);

		if (!yyjson_is_str(item) || (i == 0 && word.size == 0) ||
		    (word.size > 0 && memchr(word.ptr, '\0', word.size) != NULL))
			return fail(r, RT_USAGE, "is to be a list of texts without NUL");
		if (!keep(r, word, &p->key_cmd[i]))
			return fail_memory(r);
		p->key_cmd_count++;
	}
	return RT_OK;
}

static rt_status
read_models(reader *r, yyjson_val *value, rt_config_provider *p)
{
	yyjson_val *item;
	size_t i, max;

	if (!yyjson_is_arr(value))
		return fail(r, RT_USAGE, "is to be a list of names: [\"big\", \"small\"]");
	if (yyjson_arr_size(value) == 0)
		return RT_OK;
	p->models = rt_arena_get(r->c->arena, yyjson_arr_size(value) * sizeof(*p->models));
	if (p->models == NULL)
		return fail_memory(r);
	yyjson_arr_foreach(value, i, max, item)
	{
		if (!yyjson_is_str(item) || yyjson_get_len(item) == 0)
			return fail(r, RT_USAGE, "is to be a list of names: [\"big\", \"small\"]");
		if (!keep(r, rt_json_str(item), &p->models[i]))
			return fail_memory(r);
		p->model_count++;
	}
	return RT_OK;
}

static rt_status
read_headers(reader *r, yyjson_val *value, rt_config_provider *p)
{
	yyjson_val *key, *item;
	size_t i, max;

	if (!yyjson_is_obj(value))
		return fail(r, RT_USAGE, "is to be a table of texts: { \"x-org\" = \"me\" }");
	if (yyjson_obj_size(value) == 0)
		return RT_OK;
	p->headers = rt_arena_get(r->c->arena, yyjson_obj_size(value) * sizeof(*p->headers));
	if (p->headers == NULL)
		return fail_memory(r);
	yyjson_obj_foreach(value, i, max, key, item)
	{
		rt_header *header = &p->headers[p->header_count];

		*header = (rt_header){.secret = false};
		if (!is_word(rt_json_str(key), "!#$%&'*+-.^_`|~"))
			return fail(r, RT_USAGE, "has a name that no header has");
		if (!yyjson_is_str(item) || !is_one_line(rt_json_str(item)))
			return fail(r, RT_USAGE, "is to hold texts of one line");
		if (!keep(r, rt_json_str(key), &header->name) ||
		    !keep(r, rt_json_str(item), &header->value))
			return fail_memory(r);
		p->header_count++;
	}
	return RT_OK;
}

static rt_status
read_flag(reader *r, yyjson_val *value, bool *out)
{
	if (!yyjson_is_bool(value))
		return fail(r, RT_USAGE, "is to be true or false");
	*out = yyjson_get_bool(value);
	return RT_OK;
}

/* ---- a provider ---- */

static rt_status
read_kind(reader *r, yyjson_val *value, rt_config_provider *p)
{
	rt_str name = value == NULL ? p->name : rt_json_str(value);
	rt_buf words;
	rt_status st;

	p->kind = value == NULL || yyjson_is_str(value) ? rt_provider_named(name) : NULL;
	if (p->kind != NULL)
		return RT_OK;
	rt_buf_init(&words, r->c->alloc, RT_BUF_UNLIMITED);
	rt_buf_add_c(&words, value == NULL ? "needs a kind, one of: " : "is to be one of: ");
	rt_provider_add_names(&words);
	st = words.status != RT_OK ? fail_memory(r) : fail(r, RT_USAGE, words.ptr);
	rt_buf_deinit(&words);
	return st;
}

static rt_status
read_member(reader *r, rt_str key, yyjson_val *value, rt_config_provider *p)
{
	uint64_t number = 0;
	rt_status st = RT_OK;

	if (rt_str_is(key, "kind"))
		return read_kind(r, value, p);
	if (rt_str_is(key, "url"))
		return read_url(r, value, &p->url);
	if (rt_str_is(key, "key_env"))
		return read_variable(r, value, &p->key_env);
	if (rt_str_is(key, "key_file"))
		return read_text(r, value, &p->key_file);
	if (rt_str_is(key, "key_cmd"))
		return read_command(r, value, p);
	if (rt_str_is(key, "headers"))
		return read_headers(r, value, p);
	if (rt_str_is(key, "models"))
		return read_models(r, value, p);
	if (rt_str_is(key, "ca_file"))
		return read_text(r, value, &p->ca_file);
	if (rt_str_is(key, "allow_plain_http"))
		return read_flag(r, value, &p->allow_plain_http);
	if (rt_str_is(key, "timeout_s")) {
		st = read_number(r, value, RT_CONFIG_TIMEOUT_MAX_S, &number);
		p->timeout_s = (unsigned)number;
	} else if (rt_str_is(key, "context_tokens")) {
		st = read_number(r, value, 1u << 30, &number);
		p->context_tokens = (size_t)number;
	} else if (is_in(forbidden_keys, key)) {
		st = fail(r, RT_REFUSED, "a key does not stand in the configuration, which people "
			  "copy and show: use key_env, key_file or key_cmd");
	} else {
		st = warn_unknown(r, provider_keys, key);
	}
	return st;
}

static rt_status
read_provider(reader *r, rt_str name, yyjson_val *table, rt_config_provider *p)
{
	yyjson_val *key, *value;
	size_t i, max;
	rt_status st = RT_OK;

	memset(p, 0, sizeof(*p));
	if (name.size > PROVIDER_NAME_MAX || !is_word(name, "-_."))
		return fail(r, RT_USAGE, "a provider's name has letters, digits, - and _");
	if (!yyjson_is_obj(table))
		return fail(r, RT_USAGE, "is to be a table: [provider.NAME]");
	if (!keep(r, name, &p->name))
		return fail_memory(r);
	yyjson_obj_foreach(table, i, max, key, value)
	{
		r->path[2] = rt_json_str(key);
		r->depth = 3;
		if (st == RT_OK)
			st = read_member(r, r->path[2], value, p);
	}
	r->depth = 2;
	if (st == RT_OK && p->kind == NULL)
		st = read_kind(r, NULL, p);
	if (st == RT_OK && (p->key_env.size > 0) + (p->key_file.size > 0) + (p->key_cmd_count > 0) > 1)
		st = fail(r, RT_USAGE, "has more than one of key_env, key_file and key_cmd");
	return st;
}

static rt_status
read_providers(reader *r, yyjson_val *table)
{
	yyjson_val *key, *value;
	size_t i, max;
	rt_status st = RT_OK;

	if (!yyjson_is_obj(table))
		return fail(r, RT_USAGE, "is to be tables: [provider.NAME]");
	if (yyjson_obj_size(table) == 0)
		return RT_OK;
	r->c->providers = rt_arena_get(r->c->arena,
				       yyjson_obj_size(table) * sizeof(*r->c->providers));
	if (r->c->providers == NULL)
		return fail_memory(r);
	yyjson_obj_foreach(table, i, max, key, value)
	{
		r->path[1] = rt_json_str(key);
		r->depth = 2;
		if (st != RT_OK)
			continue;
		st = read_provider(r, r->path[1], value, &r->c->providers[i]);
		r->c->provider_count += st == RT_OK;
	}
	return st;
}

/* ---- the whole ---- */

static rt_status
read_hooks(reader *r, yyjson_val *list)
{
	yyjson_val *item;
	size_t i, max;

	if (!yyjson_is_arr(list))
		return fail(r, RT_USAGE, "is to be a list of tables: [[hook]]");
	yyjson_arr_foreach(list, i, max, item)
	{
		if (!yyjson_is_obj(item))
			return fail(r, RT_USAGE, "is to be a list of tables: [[hook]]");
	}
	return keep_json(r, list, &r->c->hooks);
}

static rt_status
read_top(reader *r, yyjson_val *root)
{
	yyjson_val *key, *value;
	size_t i, max;
	rt_status st = RT_OK;

	yyjson_obj_foreach(root, i, max, key, value)
	{
		rt_str name = rt_json_str(key);

		if (st != RT_OK)
			break;
		r->path[0] = name;
		r->depth = 1;
		if (rt_str_is(name, "model"))
			st = read_text(r, value, &r->c->model);
		else if (rt_str_is(name, "provider"))
			st = read_providers(r, value);
		else if (rt_str_is(name, "hook"))
			st = read_hooks(r, value);
		else if (is_in(forbidden_keys, name))
			st = fail(r, RT_REFUSED, "a key does not stand in the configuration, which "
				  "people copy and show: use key_env, key_file or key_cmd of a "
				  "provider");
		else
			st = warn_unknown(r, top_keys, name);
	}
	return st;
}

/* Every key could be worth a warning. */
static size_t
count_keys(yyjson_val *value)
{
	yyjson_val *key, *item, *inner, *deep;
	size_t i, max, k, inner_max, count = yyjson_obj_size(value);

	yyjson_obj_foreach(value, i, max, key, item)
	{
		count += yyjson_obj_size(item);
		yyjson_obj_foreach(item, k, inner_max, inner, deep)
			count += yyjson_obj_size(deep);
	}
	return count;
}

static rt_status
read_document(reader *r, yyjson_val *root)
{
	r->c->warnings = rt_arena_get(r->c->arena,
				      (count_keys(root) + 1) * sizeof(*r->c->warnings));
	if (r->c->warnings == NULL)
		return fail_memory(r);
	return read_top(r, root);
}

static rt_config *
new_config(const rt_alloc *alloc)
{
	rt_config *c = rt_new0(alloc, sizeof(*c));

	if (c == NULL)
		return NULL;
	c->alloc = alloc;
	c->arena = rt_arena_new(alloc);
	c->hooks = RT_STR("[]");
	if (c->arena != NULL)
		return c;
	rt_free(alloc, c);
	return NULL;
}

rt_status
rt_config_read(const rt_alloc *alloc, rt_str text, rt_config **out, rt_error *err)
{
	reader r = {.text = text, .err = err};
	rt_json_doc *doc = NULL;
	rt_status st = RT_OK;
	rt_buf json;

	if (text.size > RT_CONFIG_SIZE_MAX)
		return rt_fail(err, RT_LIMIT, "a configuration has at most %d bytes",
			       (int)RT_CONFIG_SIZE_MAX);
	r.c = new_config(alloc);
	if (r.c == NULL)
		return fail_memory(&r);
	rt_buf_init(&json, alloc, RT_BUF_UNLIMITED);
	if (rt_str_trim(text).size == 0) /* needs no reader of TOML */
		goto done;
	st = rt_toml_to_json(alloc, text, &json, err);
	if (st == RT_OK)
		st = rt_json_read(alloc, rt_buf_str(&json), &doc, err);
	if (st == RT_OK)
		st = read_document(&r, rt_json_root(doc));
done:
	rt_json_free(doc);
	rt_buf_deinit(&json);
	if (st == RT_OK)
		*out = r.c;
	else
		rt_config_free(r.c);
	return st;
}

void
rt_config_free(rt_config *config)
{
	const rt_alloc *alloc;

	if (config == NULL)
		return;
	alloc = config->alloc;
	rt_arena_free(config->arena);
	rt_free(alloc, config);
}
