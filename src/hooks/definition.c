/* SPDX-License-Identifier: MIT */
#include "hooks/definition.h"

enum { WARNINGS_MAX = 1 << 20 };

const char *const rt_hook_source_words[] = {[RT_HOOK_FROM_CONFIG] = "config",
					    [RT_HOOK_FROM_USER] = "user",
					    [RT_HOOK_FROM_PROJECT] = "project"};

void
rt_hook_list_init(rt_hook_list *list, const rt_alloc *alloc)
{
	*list = (rt_hook_list){.items = NULL};
	rt_scope_init(&list->scope, alloc);
	list->warnings = rt_scope_buf(&list->scope);
	list->warnings->limit = WARNINGS_MAX;
}

void
rt_hook_list_deinit(rt_hook_list *list)
{
	rt_scope_deinit(&list->scope);
}

static void
add(rt_hook_list *list, const rt_hook *hook)
{
	rt_hook *items;

	if (list->count == RT_HOOK_COUNT_MAX)
		rt_scope_fail(&list->scope, RT_LIMIT, "there are more than %d hooks",
			      RT_HOOK_COUNT_MAX);
	items = rt_scope_grow(&list->scope, list->items, list->count, &list->capacity,
			      sizeof(*items));
	if (items == NULL)
		return;
	list->items = items;
	items[list->count++] = *hook;
}

/* ---- warnings ---- */

static void
warn_event(rt_hook_list *list, rt_str name, rt_str event)
{
	const char *nearest = rt_hook_event_nearest(event);

	rt_buf_add_c(list->warnings, "hook ");
	rt_buf_add(list->warnings, name.ptr, rt_utf8_cut(name, 200));
	rt_buf_add_c(list->warnings, ": there is no event \"");
	rt_buf_add(list->warnings, event.ptr, rt_utf8_cut(event, 80));
	rt_buf_add_c(list->warnings, "\"");
	if (nearest != NULL)
		rt_buf_add_f(list->warnings, "; did you mean %s?", nearest);
	rt_buf_add_byte(list->warnings, '\n');
}

static void
warn(rt_hook_list *list, const rt_hook *hook, const char *text)
{
	rt_buf_add_c(list->warnings, "hook ");
	rt_buf_add_str(list->warnings, hook->name);
	rt_buf_add_f(list->warnings, ": %s\n", text);
}

/* The first reason is kept. */
static void
mark_broken(rt_hook_list *list, rt_hook *hook, const char *why)
{
	if (hook->broken.size > 0)
		return;
	hook->broken = rt_str_of(why);
	warn(list, hook, why);
}

/* ---- hooks of the configuration ---- */

bool
rt_hook_parse_timeout(rt_str text, int64_t *out_ms)
{
	static const struct {
		const char *unit;
		int64_t ms;
	} units[] = {{"ms", 1}, {"s", 1000}, {"m", 60 * 1000}, {"", 1000}};
	int64_t number = 0;
	size_t i = 0;

	while (i < text.size && text.ptr[i] >= '0' && text.ptr[i] <= '9' && number < 100000000)
		number = number * 10 + (text.ptr[i++] - '0');
	if (i == 0)
		return false;
	for (size_t k = 0; k < sizeof(units) / sizeof(units[0]); k++)
		if (rt_str_is(rt_str_skip(text, i), units[k].unit)) {
			number *= units[k].ms;
			if (number < 1 || number > RT_HOOK_TIMEOUT_MAX_MS)
				return false;
			*out_ms = number;
			return true;
		}
	return false;
}

static void
read_run(rt_hook_list *list, yyjson_val *run, rt_hook *hook)
{
	rt_str first;

	if (!yyjson_is_arr(run) || yyjson_arr_size(run) == 0) {
		mark_broken(list, hook,
			    "run must be a list of words, such as [\"/path/to/program\"]; no "
			    "shell is used");
		return;
	}
	if (yyjson_arr_size(run) > RT_HOOK_ARGS_MAX) {
		mark_broken(list, hook, "run has too many words");
		return;
	}
	hook->args = rt_scope_array(&list->scope, yyjson_arr_size(run), sizeof(*hook->args));
	if (hook->args == NULL)
		return;
	for (rt_json_iter it = rt_json_items(run); rt_json_next(&it);) {
		rt_str word = rt_json_str(it.value);

		if (!yyjson_is_str(it.value) ||
		    (word.size > 0 && memchr(word.ptr, 0, word.size) != NULL)) {
			mark_broken(list, hook, "every word of run must be a string without NUL");
			return;
		}
		hook->args[hook->arg_count++] = rt_scope_copy(&list->scope, word);
	}
	first = hook->args[0];
	if (first.size == 0 || (first.ptr[0] != '/' && memchr(first.ptr, '/', first.size) != NULL))
		mark_broken(list, hook,
			    "the first word of run must be an absolute path or the name of a "
			    "program in PATH");
}

/* The next word of *rest; false: none. */
static bool
next_word(rt_str *rest, rt_str *out)
{
	while (rt_str_split(rest, ' ', out))
		if (out->size > 0)
			return true;
	return false;
}

/* True if every word is "key=…". */
static bool
is_match(rt_str match)
{
	rt_str word;

	while (next_word(&match, &word))
		if (word.ptr[0] == '=' || memchr(word.ptr, '=', word.size) == NULL)
			return false;
	return true;
}

static void
read_match(rt_hook_list *list, yyjson_val *value, rt_hook *hook)
{
	if (value == NULL)
		return;
	if (!yyjson_is_str(value) || !is_match(rt_json_str(value)))
		mark_broken(list, hook, "match must be words such as \"role=user kind=message\"");
	else
		hook->match = rt_scope_copy(&list->scope, rt_json_str(value));
}

static void
read_timeout(rt_hook_list *list, yyjson_val *value, rt_hook *hook)
{
	hook->timeout_ms = RT_HOOK_TIMEOUT_MS;
	if (value != NULL && !rt_hook_parse_timeout(rt_json_str(value), &hook->timeout_ms))
		mark_broken(list, hook,
			    "timeout must be a duration such as \"5s\" or \"500ms\", at most one hour");
}

static void
read_flag(rt_hook_list *list, yyjson_val *value, rt_hook *hook, size_t offset)
{
	if (value != NULL && !yyjson_is_bool(value))
		mark_broken(list, hook, "required, async, persistent and once must be true or false");
	*(bool *)((char *)hook + offset) = yyjson_is_true(value);
}

/* The keys of a definition: a reader, or the member of a flag. */
static const struct field {
	const char *key;
	void (*read)(rt_hook_list *list, yyjson_val *value, rt_hook *hook); /* NULL: a flag */
	size_t flag; /* 0: the key is read elsewhere */
} fields[] = {
	{"event", NULL, 0},
	{"name", NULL, 0},
	{"run", read_run, 0},
	{"match", read_match, 0},
	{"timeout", read_timeout, 0},
	{"required", NULL, offsetof(rt_hook, required)},
	{"async", NULL, offsetof(rt_hook, is_async)},
	{"persistent", NULL, offsetof(rt_hook, persistent)},
	{"once", NULL, offsetof(rt_hook, once)},
};

enum { FIELD_COUNT = sizeof(fields) / sizeof(fields[0]) };

static void
warn_unknown_keys(rt_hook_list *list, yyjson_val *object, const rt_hook *hook)
{
	for (rt_json_iter it = rt_json_members(object); rt_json_next(&it);) {
		size_t k = 0;

		while (k < FIELD_COUNT && !rt_str_is(it.key, fields[k].key))
			k++;
		if (k < FIELD_COUNT)
			continue;
		rt_buf_add_c(list->warnings, "hook ");
		rt_buf_add_str(list->warnings, hook->name);
		rt_buf_add_c(list->warnings, ": unknown key \"");
		rt_buf_add(list->warnings, it.key.ptr, rt_utf8_cut(it.key, 80));
		rt_buf_add_c(list->warnings, "\"\n");
	}
}

/* The configured name, or the program's file name, or the number in the list. Control characters
 * become "_". */
static rt_str
display_name(rt_hook_list *list, yyjson_val *object, size_t index)
{
	rt_str name = rt_json_str(rt_json_get(object, "name"));
	yyjson_val *run = rt_json_get(object, "run");
	rt_buf *buf = rt_scope_buf(&list->scope);

	if (name.size == 0 && yyjson_is_arr(run)) {
		name = rt_json_str(yyjson_arr_get_first(run));
		for (size_t i = name.size; i > 0; i--)
			if (name.ptr[i - 1] == '/') {
				name = rt_str_skip(name, i);
				break;
			}
	}
	if (name.size == 0)
		rt_buf_add_u64(buf, index + 1);
	else
		rt_buf_add(buf, name.ptr, rt_utf8_cut(name, 200));
	for (size_t i = 0; i < buf->size; i++)
		if ((unsigned char)buf->ptr[i] < ' ')
			buf->ptr[i] = '_';
	return rt_scope_str(&list->scope, buf);
}

static void
read_hook(rt_hook_list *list, yyjson_val *object, size_t index)
{
	rt_str event = rt_json_str(rt_json_get(object, "event"));
	rt_hook hook = {.source = RT_HOOK_FROM_CONFIG,
			.name = display_name(list, object, index),
			.event = rt_hook_event_find(event),
			.event_name = rt_scope_copy(&list->scope, event)};

	if (hook.event == NULL) {
		warn_event(list, hook.name, event);
		return;
	}
	for (const struct field *f = fields; f < fields + FIELD_COUNT; f++) {
		yyjson_val *value = rt_json_get(object, f->key);

		if (f->read != NULL)
			f->read(list, value, &hook);
		else if (f->flag != 0)
			read_flag(list, value, &hook, f->flag);
	}
	warn_unknown_keys(list, object, &hook);
	if (hook.is_async && (hook.event->traits & RT_HOOK_BEFORE)) {
		warn(list, &hook, "async cannot be used for events that a hook can deny");
		hook.is_async = false;
	}
	if (hook.is_async && hook.persistent)
		mark_broken(list, &hook, "async and persistent cannot be combined");
	add(list, &hook);
}

void
rt_hook_list_read(rt_hook_list *list, rt_str json)
{
	yyjson_val *root;

	if (rt_str_trim(json).size == 0)
		return;
	root = rt_json_parse(&list->scope, json);
	if (!yyjson_is_arr(root)) {
		rt_scope_fail(&list->scope, RT_USAGE, "the hooks are not a list");
		return;
	}
	for (rt_json_iter it = rt_json_items(root); rt_ok(&list->scope) && rt_json_next(&it);) {
		if (yyjson_is_obj(it.value))
			read_hook(list, it.value, it.index);
		else
			rt_buf_add_f(list->warnings, "hook %zu is not a table\n", it.index + 1);
	}
	if (list->warnings->status == RT_NOMEM)
		rt_scope_nomem(&list->scope);
}

/* ---- hooks in folders ---- */

void
rt_hook_list_add_file(rt_hook_list *list, rt_hook_source source, rt_str event, rt_str file,
		      rt_str path, bool off)
{
	rt_buf *name = rt_scope_buf(&list->scope);
	rt_hook hook = {.source = source,
			.event = rt_hook_event_find(event),
			.event_name = rt_scope_copy(&list->scope, event),
			.path = rt_scope_copy(&list->scope, path),
			.args = rt_scope_array(&list->scope, 1, sizeof(*hook.args)),
			.arg_count = 1,
			.timeout_ms = RT_HOOK_TIMEOUT_MS,
			.off = off};

	if (hook.event == NULL) {
		warn_event(list, path, event);
		return;
	}
	rt_buf_add_f(name, "%.*s/%.*s", RT_STR_ARG(event), RT_STR_ARG(file));
	hook.name = rt_scope_str(&list->scope, name);
	if (hook.args != NULL)
		hook.args[0] = hook.path;
	add(list, &hook);
}

/* ---- matching ---- */

static char
lower(char c)
{
	return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

/* Glob matching of the whole text with "*" only; backtracks to the last "*" alone. */
static bool
glob_matches(rt_str pattern, rt_str text)
{
	size_t p = 0, t = 0, star = SIZE_MAX, retry = 0;

	while (t < text.size) {
		if (p < pattern.size && pattern.ptr[p] == '*') {
			star = p++;
			retry = t;
		} else if (p < pattern.size && lower(pattern.ptr[p]) == lower(text.ptr[t])) {
			p++;
			t++;
		} else if (star != SIZE_MAX) {
			p = star + 1;
			t = ++retry;
		} else {
			return false;
		}
	}
	while (p < pattern.size && pattern.ptr[p] == '*')
		p++;
	return p == pattern.size;
}

static bool
word_matches(rt_str word, rt_str subject)
{
	size_t equals = rt_str_find(word, RT_STR("="), 0);
	rt_str key = rt_str_at(word.ptr, equals == SIZE_MAX ? 0 : equals + 1), other;

	while (next_word(&subject, &other))
		if (rt_str_starts(other, key) &&
		    glob_matches(rt_str_skip(word, key.size), rt_str_skip(other, key.size)))
			return true;
	return false;
}

bool
rt_hook_matches(rt_str match, rt_str subject)
{
	rt_str word;

	while (next_word(&match, &word))
		if (!word_matches(word, subject))
			return false;
	return true;
}
