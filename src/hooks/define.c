/* SPDX-License-Identifier: MIT
 *
 * Definitions: read, checked, matched. */
#include "hooks/define.h"

void
rt_hook_list_init(rt_hook_list *list, const rt_alloc *alloc)
{
	memset(list, 0, sizeof(*list));
	list->alloc = alloc;
	rt_buf_init(&list->warnings, alloc, 1 << 20);
}

static void
hook_deinit(const rt_alloc *alloc, rt_hook *hook)
{
	size_t i;

	for (i = 0; i < hook->word_count; i++)
		rt_text_unref(hook->words[i]);
	rt_free(alloc, hook->words);
	rt_text_unref(hook->event_name);
	rt_text_unref(hook->name);
	rt_text_unref(hook->match);
	rt_text_unref(hook->path);
	rt_text_unref(hook->broken);
}

void
rt_hook_list_deinit(rt_hook_list *list)
{
	size_t i;

	for (i = 0; i < list->count; i++)
		hook_deinit(list->alloc, &list->items[i]);
	rt_free(list->alloc, list->items);
	rt_buf_deinit(&list->warnings);
}

static rt_status
nomem(rt_error *err)
{
	return rt_fail(err, RT_NOMEM, "out of memory");
}

/* Takes what is in hook over, also when it fails. */
static rt_status
add(rt_hook_list *list, rt_hook *hook, rt_error *err)
{
	rt_hook *items = NULL;
	rt_status st = RT_OK;

	if (hook->name == NULL || hook->event_name == NULL)
		st = nomem(err);
	else if (list->count == RT_HOOK_COUNT_MAX)
		st = rt_fail(err, RT_LIMIT, "there are more than %d hooks", RT_HOOK_COUNT_MAX);
	if (st == RT_OK) {
		items = rt_resize(list->alloc, list->items, (list->count + 1) * sizeof(*items));
		st = items == NULL ? nomem(err) : RT_OK;
	}
	if (st != RT_OK) {
		hook_deinit(list->alloc, hook);
		return st;
	}
	list->items = items;
	list->items[list->count++] = *hook;
	return RT_OK;
}

/* --- warnings --- */

static void
warn_event(rt_hook_list *list, const char *where, rt_str who, rt_str event)
{
	const char *nearest = rt_hook_event_nearest(event);

	rt_buf_add_f(&list->warnings, "%s ", where);
	rt_buf_add(&list->warnings, who.ptr, rt_utf8_cut(who, 200));
	rt_buf_add_c(&list->warnings, ": there is no event \"");
	rt_buf_add(&list->warnings, event.ptr, rt_utf8_cut(event, 80));
	rt_buf_add_c(&list->warnings, "\"");
	if (nearest != NULL)
		rt_buf_add_f(&list->warnings, "; did you mean %s?", nearest);
	rt_buf_add_byte(&list->warnings, '\n');
}

static void
warn(rt_hook_list *list, const rt_hook *hook, const char *what)
{
	rt_buf_add_c(&list->warnings, "hook ");
	rt_buf_add_str(&list->warnings, rt_text_str(hook->name));
	rt_buf_add_f(&list->warnings, ": %s\n", what);
}

/* The first thing that is wrong counts. */
static void
mark_broken(rt_hook_list *list, rt_hook *hook, const char *why)
{
	if (hook->broken != NULL)
		return;
	hook->broken = rt_text_new(list->alloc, rt_str_of(why));
	warn(list, hook, why);
}

/* --- one of the configuration --- */

bool
rt_hook_read_timeout(rt_str text, int64_t *out_ms)
{
	static const struct {
		const char *unit;
		int64_t ms;
	} units[] = {{"ms", 1}, {"s", 1000}, {"m", 60 * 1000}, {"", 1000}};
	int64_t number = 0;
	size_t i = 0, k;

	while (i < text.size && text.ptr[i] >= '0' && text.ptr[i] <= '9' && number < 100000000)
		number = number * 10 + (text.ptr[i++] - '0');
	if (i == 0)
		return false;
	for (k = 0; k < sizeof(units) / sizeof(units[0]); k++)
		if (rt_str_is(rt_str_at(text.ptr + i, text.size - i), units[k].unit)) {
			number *= units[k].ms;
			if (number < 1 || number > RT_HOOK_TIMEOUT_MAX_MS)
				return false;
			*out_ms = number;
			return true;
		}
	return false;
}

static bool
has_nul(rt_str text)
{
	return text.size > 0 && memchr(text.ptr, 0, text.size) != NULL;
}

static rt_status
read_run(rt_hook_list *list, yyjson_val *run, rt_hook *hook, rt_error *err)
{
	yyjson_val *word;
	size_t i, count;
	rt_str first;

	if (!yyjson_is_arr(run) || yyjson_arr_size(run) == 0) {
		mark_broken(list, hook,
			    "run must be a list of words, such as [\"/path/to/program\"]; there is "
			    "no shell");
		return RT_OK;
	}
	if (yyjson_arr_size(run) > RT_HOOK_WORDS_COUNT_MAX) {
		mark_broken(list, hook, "run has too many words");
		return RT_OK;
	}
	hook->words = rt_new_array(list->alloc, yyjson_arr_size(run), sizeof(*hook->words));
	if (hook->words == NULL)
		return nomem(err);
	yyjson_arr_foreach(run, i, count, word) {
		if (!yyjson_is_str(word) || has_nul(rt_json_str(word))) {
			mark_broken(list, hook, "every word of run must be a text without NUL");
			return RT_OK;
		}
		hook->words[i] = rt_text_new(list->alloc, rt_json_str(word));
		if (hook->words[i] == NULL)
			return nomem(err);
		hook->word_count++;
	}
	first = rt_text_str(hook->words[0]);
	if (first.size == 0 || (first.ptr[0] != '/' && memchr(first.ptr, '/', first.size) != NULL))
		mark_broken(list, hook,
			    "the first word of run must be an absolute path, or a name to be looked "
			    "for in PATH");
	return RT_OK;
}

static void
read_flag(rt_hook_list *list, yyjson_val *object, const char *key, rt_hook *hook, bool *out)
{
	yyjson_val *value = rt_json_get(object, key);

	if (value == NULL)
		return;
	if (yyjson_is_bool(value))
		*out = yyjson_is_true(value);
	else
		mark_broken(list, hook, "required, async, persistent and once are true or false");
}

/* Words with a "=" in each? */
static bool
is_match(rt_str match)
{
	size_t i = 0;

	while (i < match.size) {
		size_t end = i;

		while (end < match.size && match.ptr[end] != ' ')
			end++;
		if (end > i && (match.ptr[i] == '=' ||
				memchr(match.ptr + i, '=', end - i) == NULL))
			return false;
		i = end + 1;
	}
	return true;
}

static void
read_match(rt_hook_list *list, yyjson_val *value, rt_hook *hook)
{
	if (value == NULL)
		return;
	if (!yyjson_is_str(value) || !is_match(rt_json_str(value))) {
		mark_broken(list, hook, "match must be words such as \"role=user kind=message\"");
		return;
	}
	hook->match = rt_text_new(list->alloc, rt_json_str(value));
	if (hook->match == NULL)
		list->warnings.status = RT_NOMEM;
}

static void
read_timeout(rt_hook_list *list, yyjson_val *value, rt_hook *hook)
{
	hook->timeout_ms = RT_HOOK_TIMEOUT_MS;
	if (value != NULL && !rt_hook_read_timeout(rt_json_str(value), &hook->timeout_ms))
		mark_broken(list, hook, "timeout must be a time such as \"5s\" or \"500ms\", at most "
					"an hour");
}

static void
check_keys(rt_hook_list *list, yyjson_val *object, const rt_hook *hook)
{
	static const char *const known[] = {"event",    "run",        "match", "timeout", "required",
					    "async",    "persistent", "once",  "name"};
	yyjson_val *key, *value;
	size_t i, count, k;

	yyjson_obj_foreach(object, i, count, key, value) {
		rt_str name = rt_json_str(key);

		for (k = 0; k < sizeof(known) / sizeof(known[0]); k++)
			if (rt_str_is(name, known[k]))
				break;
		if (k < sizeof(known) / sizeof(known[0]))
			continue;
		rt_buf_add_c(&list->warnings, "hook ");
		rt_buf_add_str(&list->warnings, rt_text_str(hook->name));
		rt_buf_add_c(&list->warnings, ": nothing is known of \"");
		rt_buf_add(&list->warnings, name.ptr, rt_utf8_cut(name, 80));
		rt_buf_add_c(&list->warnings, "\"\n");
	}
}

/* The name that it was given, or its program's, or its number. */
static const rt_text *
name_of(rt_hook_list *list, yyjson_val *object, size_t index)
{
	rt_str name = rt_json_str(rt_json_get(object, "name"));
	yyjson_val *run = rt_json_get(object, "run");
	const rt_text *text;
	size_t i;
	rt_buf buf;

	if (name.size == 0 && yyjson_is_arr(run)) {
		name = rt_json_str(yyjson_arr_get_first(run));
		for (i = name.size; i > 0; i--)
			if (name.ptr[i - 1] == '/') {
				name = rt_str_at(name.ptr + i, name.size - i);
				break;
			}
	}
	rt_buf_init(&buf, list->alloc, 4096);
	if (name.size == 0)
		rt_buf_add_f(&buf, "%zu", index + 1);
	else
		rt_buf_add(&buf, name.ptr, rt_utf8_cut(name, 200));
	for (i = 0; i < buf.size; i++)
		if ((unsigned char)buf.ptr[i] < ' ')
			buf.ptr[i] = '_';
	text = buf.status == RT_OK ? rt_text_new(list->alloc, rt_buf_str(&buf)) : NULL;
	rt_buf_deinit(&buf);
	return text;
}

static rt_status
read_hook(rt_hook_list *list, yyjson_val *object, size_t index, rt_error *err)
{
	rt_str event = rt_json_str(rt_json_get(object, "event"));
	rt_hook hook;
	rt_status st;

	memset(&hook, 0, sizeof(hook));
	hook.source = RT_HOOK_FROM_CONFIG;
	hook.name = name_of(list, object, index);
	hook.event = rt_hook_event_named(event);
	if (hook.name == NULL)
		return nomem(err);
	if (hook.event == NULL) {
		warn_event(list, "hook", rt_text_str(hook.name), event);
		rt_text_unref(hook.name);
		return RT_OK;
	}
	hook.event_name = rt_text_new(list->alloc, event);
	st = read_run(list, rt_json_get(object, "run"), &hook, err);
	read_match(list, rt_json_get(object, "match"), &hook);
	read_timeout(list, rt_json_get(object, "timeout"), &hook);
	read_flag(list, object, "required", &hook, &hook.required);
	read_flag(list, object, "async", &hook, &hook.is_async);
	read_flag(list, object, "persistent", &hook, &hook.persistent);
	read_flag(list, object, "once", &hook, &hook.once);
	check_keys(list, object, &hook);
	if (hook.is_async && (hook.event->traits & RT_HOOK_BEFORE)) {
		warn(list, &hook, "it is waited for: async is for events that nothing can stop");
		hook.is_async = false;
	}
	if (hook.is_async && hook.persistent)
		mark_broken(list, &hook, "it is either async or persistent");
	if (st == RT_OK)
		return add(list, &hook, err);
	hook_deinit(list->alloc, &hook);
	return st;
}

rt_status
rt_hook_list_read(rt_hook_list *list, rt_str json, rt_error *err)
{
	rt_json_doc *doc = NULL;
	yyjson_val *object;
	size_t i, count;
	rt_status st = RT_OK;

	if (rt_str_trim(json).size == 0)
		return RT_OK;
	st = rt_json_read(list->alloc, json, &doc, err);
	if (st != RT_OK)
		return st;
	if (!yyjson_is_arr(rt_json_root(doc)))
		st = rt_fail(err, RT_USAGE, "the hooks are no list");
	else
		yyjson_arr_foreach(rt_json_root(doc), i, count, object) {
			if (st != RT_OK)
				break;
			if (yyjson_is_obj(object))
				st = read_hook(list, object, i, err);
			else
				rt_buf_add_f(&list->warnings, "hook %zu is no table\n", i + 1);
		}
	rt_json_free(doc);
	return st == RT_OK && list->warnings.status == RT_NOMEM ? nomem(err) : st;
}

/* --- one of a folder --- */

rt_status
rt_hook_list_add_file(rt_hook_list *list, rt_hook_source source, rt_str event, rt_str file,
		      rt_str path, bool off, rt_error *err)
{
	rt_hook hook;
	rt_buf name;

	memset(&hook, 0, sizeof(hook));
	hook.source = source;
	hook.event = rt_hook_event_named(event);
	if (hook.event == NULL) {
		warn_event(list, "hook", path, event);
		return RT_OK;
	}
	rt_buf_init(&name, list->alloc, 8192);
	rt_buf_add_f(&name, "%.*s/%.*s", RT_STR_ARG(event), RT_STR_ARG(file));
	hook.event_name = rt_text_new(list->alloc, event);
	hook.name = name.status == RT_OK ? rt_text_new(list->alloc, rt_buf_str(&name)) : NULL;
	hook.path = rt_text_new(list->alloc, path);
	hook.timeout_ms = RT_HOOK_TIMEOUT_MS;
	hook.off = off;
	rt_buf_deinit(&name);
	hook.words = rt_new_array(list->alloc, 1, sizeof(*hook.words));
	if (hook.path == NULL || hook.words == NULL) {
		hook_deinit(list->alloc, &hook);
		return nomem(err);
	}
	hook.words[0] = rt_text_ref(hook.path);
	hook.word_count = 1;
	return add(list, &hook, err);
}

/* --- matching --- */

static char
lower(char c)
{
	return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

/* Does the pattern, with * for anything, fit all of the text? Goes back to the last * only. */
static bool
fits(rt_str pattern, rt_str text)
{
	size_t p = 0, t = 0, star = SIZE_MAX, again = 0;

	while (t < text.size) {
		if (p < pattern.size && pattern.ptr[p] == '*') {
			star = p++;
			again = t;
		} else if (p < pattern.size && lower(pattern.ptr[p]) == lower(text.ptr[t])) {
			p++;
			t++;
		} else if (star != SIZE_MAX) {
			p = star + 1;
			t = ++again;
		} else {
			return false;
		}
	}
	while (p < pattern.size && pattern.ptr[p] == '*')
		p++;
	return p == pattern.size;
}

/* The next word at or behind *at; false: there is none. */
static bool
next_word(rt_str text, size_t *at, rt_str *out)
{
	size_t i = *at, end;

	while (i < text.size && text.ptr[i] == ' ')
		i++;
	for (end = i; end < text.size && text.ptr[end] != ' ';)
		end++;
	*at = end;
	*out = i < end ? rt_str_at(text.ptr + i, end - i) : rt_str_at(NULL, 0);
	return i < end;
}

static bool
word_fits(rt_str word, rt_str subject)
{
	size_t equals = rt_str_find(word, RT_STR("="), 0), at = 0;
	rt_str key = rt_str_at(word.ptr, equals == SIZE_MAX ? 0 : equals + 1), other;

	while (next_word(subject, &at, &other))
		if (rt_str_starts(other, key) &&
		    fits(rt_str_at(word.ptr + key.size, word.size - key.size),
			 rt_str_at(other.ptr + key.size, other.size - key.size)))
			return true;
	return false;
}

bool
rt_hook_matches(rt_str match, rt_str subject)
{
	size_t at = 0;
	rt_str word;

	while (next_word(match, &at, &word))
		if (!word_fits(word, subject))
			return false;
	return true;
}
