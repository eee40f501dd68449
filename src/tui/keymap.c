/* SPDX-License-Identifier: MIT
 *
 * A keymap is the table's rows with the keys that they have now. Rows are few, so they are gone
 * through; a key is pressed by a person. */
#include "tui/keymap.h"

#include "codec/toml.h"

struct rt_keymap {
	const rt_alloc *alloc;
	size_t count;                  /* of rt_key_rows */
	rt_key (*keys)[RT_KEYS_MAX];   /* of each row; RT_KEY_NONE: no more */
};

static const char *const screen_words[RT_SCREEN_COUNT] = {
	"any", "chat", "entry", "tree", "history", "discussions", "reader", "field",
};

static const char *const screen_titles[RT_SCREEN_COUNT] = {
	"Everywhere", "Chat", "An entry of the chat", "Tree", "History", "Discussions", "Reader",
	"Writing",
};

static const char *const screen_abouts[RT_SCREEN_COUNT] = {
	"Wherever the screen has no use of its own for the key.",
	"The keys of “Writing” work as well. `?` is for when nothing is written.",
	"When an entry is selected (Alt+Up). What is typed goes into the input, and nothing is selected then.",
	"What is typed searches; Enter ends typing, and goes there when pressed again.",
	"What is typed finds a step; Enter ends typing, and goes there when pressed again.",
	"What is typed filters the list; the keys of “Writing” work as well.",
	"A long text: an entry, help, what a command said.",
	"Wherever something is written.",
};

static const char *const action_words[RT_ACT_COUNT] = {
	"none",
#define ACTION_WORD(name, word, effect) word,
	RT_ACTIONS(ACTION_WORD)
#undef ACTION_WORD
};

const char *
rt_screen_word(rt_screen screen)
{
	RT_ASSERT(screen < RT_SCREEN_COUNT);
	return screen_words[screen];
}

const char *
rt_action_word(rt_action action)
{
	RT_ASSERT(action < RT_ACT_COUNT);
	return action_words[action];
}

bool
rt_action_only_looks(rt_action action)
{
	enum { DO, LOOK };
	static const bool looks[RT_ACT_COUNT] = {
#define ACTION_EFFECT(name, word, effect) [RT_ACT_##name] = effect,
		RT_ACTIONS(ACTION_EFFECT)
#undef ACTION_EFFECT
	};

	return looks[action];
}

bool
rt_screen_has_field(rt_screen screen)
{
	return screen == RT_SCREEN_CHAT || screen == RT_SCREEN_DISCUSSIONS;
}

bool
rt_keymap_is_text(const rt_keymap *map, rt_screen screen, rt_key key)
{
	if (!rt_key_is_text(key))
		return false;
	if (screen == RT_SCREEN_FIELD || rt_screen_has_field(screen))
		return true;
	return (screen == RT_SCREEN_ENTRY || screen == RT_SCREEN_TREE || screen == RT_SCREEN_HISTORY) &&
	       rt_keymap_action(map, screen, key) == RT_ACT_NONE;
}

/* Words of the table. */
static rt_status
read_words(const char *words, rt_key keys[RT_KEYS_MAX], rt_error *err)
{
	size_t count = 0, size;
	rt_status st = RT_OK;

	for (; *words != 0 && st == RT_OK; words += size + (words[size] == ' ')) {
		size = strcspn(words, " ");
		RT_ASSERT(count < RT_KEYS_MAX);
		st = rt_key_read(rt_str_at(words, size), &keys[count++], err);
	}
	return st;
}

rt_status
rt_keymap_new(const rt_alloc *alloc, rt_keymap **out, rt_error *err)
{
	rt_keymap *map = rt_new0(alloc, sizeof(*map));
	rt_status st = RT_OK;
	size_t i;

	if (map == NULL)
		return rt_fail(err, RT_NOMEM, "out of memory");
	map->alloc = alloc;
	while (rt_key_rows[map->count].action != RT_ACT_NONE)
		map->count++;
	map->keys = rt_new0(alloc, map->count * sizeof(*map->keys));
	if (map->keys == NULL)
		st = rt_fail(err, RT_NOMEM, "out of memory");
	for (i = 0; i < map->count && st == RT_OK; i++)
		st = read_words(rt_key_rows[i].keys, map->keys[i], err);
	if (st == RT_OK)
		*out = map;
	else
		rt_keymap_free(map);
	return st;
}

void
rt_keymap_free(rt_keymap *map)
{
	if (map == NULL)
		return;
	rt_free(map->alloc, map->keys);
	rt_free(map->alloc, map);
}

/* --- looking up --- */

/* The row of an action on a screen itself, or SIZE_MAX. */
static size_t
row_of(const rt_keymap *map, rt_screen screen, rt_action action)
{
	size_t i;

	for (i = 0; i < map->count; i++)
		if (rt_key_rows[i].screen == screen && rt_key_rows[i].action == action)
			return i;
	return SIZE_MAX;
}

static bool
has_key(const rt_key keys[RT_KEYS_MAX], rt_key key)
{
	size_t i;

	for (i = 0; i < RT_KEYS_MAX && keys[i].code != RT_KEY_NONE; i++)
		if (rt_key_eq(keys[i], key))
			return true;
	return false;
}

static rt_action
action_of(const rt_keymap *map, rt_screen screen, rt_key key)
{
	size_t i;

	for (i = 0; i < map->count; i++)
		if (rt_key_rows[i].screen == screen && has_key(map->keys[i], key))
			return rt_key_rows[i].action;
	return RT_ACT_NONE;
}

rt_action
rt_keymap_action(const rt_keymap *map, rt_screen screen, rt_key key)
{
	rt_action action = action_of(map, screen, key);

	return action != RT_ACT_NONE ? action : action_of(map, RT_SCREEN_ANY, key);
}

size_t
rt_keymap_keys(const rt_keymap *map, rt_screen screen, rt_action action, rt_key out[RT_KEYS_MAX])
{
	size_t row = row_of(map, screen, action), count = 0;

	if (row == SIZE_MAX && rt_screen_has_field(screen))
		row = row_of(map, RT_SCREEN_FIELD, action);
	if (row == SIZE_MAX)
		row = row_of(map, RT_SCREEN_ANY, action);
	if (row == SIZE_MAX)
		return 0;
	while (count < RT_KEYS_MAX && map->keys[row][count].code != RT_KEY_NONE) {
		out[count] = map->keys[row][count];
		count++;
	}
	return count;
}

void
rt_keymap_add_key(const rt_keymap *map, rt_screen screen, rt_action action, rt_buf *buf)
{
	rt_key keys[RT_KEYS_MAX];

	if (rt_keymap_keys(map, screen, action, keys) > 0)
		rt_key_add_word(buf, keys[0], true);
}

/* --- the file --- */

typedef struct reader {
	rt_keymap *map; /* being changed */
	rt_str toml;
	rt_error *err;
} reader;

/* What is wrong, with the line that the path leads to. */
static rt_status
wrong(const reader *r, const rt_str *path, size_t count, const char *words)
{
	uint64_t line = 0, column = 0;
	rt_status st;

	while (count > 0 && !rt_toml_find(r->toml, path, count, &line, &column))
		count--;
	if (line == 0)
		return rt_fail(r->err, RT_USAGE, "keys.toml: %s", words);
	st = rt_fail(r->err, RT_USAGE, "keys.toml, line %llu: %s", (unsigned long long)line, words);
	if (r->err != NULL)
		r->err->line = line;
	return st;
}

/* What is not known, and what may have been meant. */
static rt_status
unknown(const reader *r, const rt_str *path, size_t count, const char *what, const char *const *words,
	size_t word_count)
{
	char said[RT_ERROR_TEXT_SIZE];
	rt_str name = path[count - 1];
	const char *near = NULL;
	size_t least = name.size < 4 ? 2 : 4, i;
	rt_buf buf;

	for (i = 0; i < word_count; i++) {
		size_t distance = rt_str_distance(name, rt_str_of(words[i]));

		if (distance < least) {
			least = distance;
			near = words[i];
		}
	}
	rt_buf_init(&buf, r->map->alloc, sizeof(said) - 1);
	rt_buf_add_f(&buf, "there is no %s \"%.*s\"", what, (int)rt_utf8_cut(name, 60), name.ptr);
	if (near != NULL)
		rt_buf_add_f(&buf, "; is \"%s\" meant?", near);
	memcpy(said, buf.size > 0 ? buf.ptr : "", buf.size + 1);
	rt_buf_deinit(&buf);
	return wrong(r, path, count, said);
}

static rt_status
read_key(const reader *r, const rt_str *path, size_t count, yyjson_val *value, rt_key *out)
{
	rt_error error;

	memset(&error, 0, sizeof(error));
	if (!yyjson_is_str(value))
		return wrong(r, path, count, "a key is a text, such as \"ctrl+o\"");
	if (rt_key_read(rt_json_str(value), out, &error) != RT_OK)
		return wrong(r, path, count, error.text);
	return RT_OK;
}

static rt_status
read_action(const reader *r, rt_screen screen, rt_str path[2], yyjson_val *value)
{
	rt_key keys[RT_KEYS_MAX];
	size_t i, count, row = SIZE_MAX;
	rt_status st = RT_OK;

	memset(keys, 0, sizeof(keys));
	for (i = 0; i < r->map->count && row == SIZE_MAX; i++)
		if (rt_key_rows[i].screen == screen &&
		    rt_str_is(path[1], rt_action_word(rt_key_rows[i].action)))
			row = i;
	if (row == SIZE_MAX) {
		const char *words[RT_ACT_COUNT];

		for (i = count = 0; i < r->map->count; i++)
			if (rt_key_rows[i].screen == screen)
				words[count++] = rt_action_word(rt_key_rows[i].action);
		return unknown(r, path, 2, "action here that is called", words, count);
	}
	if (!yyjson_is_arr(value)) {
		st = read_key(r, path, 2, value, &keys[0]);
	} else if (yyjson_arr_size(value) > RT_KEYS_MAX) {
		st = wrong(r, path, 2, "an action has four keys at most");
	} else {
		for (i = 0; i < yyjson_arr_size(value) && st == RT_OK; i++)
			st = read_key(r, path, 2, yyjson_arr_get(value, i), &keys[i]);
	}
	if (st == RT_OK)
		memcpy(r->map->keys[row], keys, sizeof(keys));
	return st;
}

static rt_status
read_screen(const reader *r, rt_str name, yyjson_val *table)
{
	rt_str path[2] = {name, {NULL, 0}};
	yyjson_obj_iter iter = yyjson_obj_iter_with(table);
	rt_status st = RT_OK;
	yyjson_val *key;
	size_t screen = 0;

	while (screen < RT_SCREEN_COUNT && !rt_str_is(name, screen_words[screen]))
		screen++;
	if (screen == RT_SCREEN_COUNT)
		return unknown(r, path, 1, "screen", screen_words, RT_SCREEN_COUNT);
	if (!yyjson_is_obj(table))
		return wrong(r, path, 1, "a screen is a table of actions and their keys");
	while (st == RT_OK && (key = yyjson_obj_iter_next(&iter)) != NULL) {
		path[1] = rt_json_str(key);
		st = read_action(r, (rt_screen)screen, path, yyjson_obj_iter_get_val(key));
	}
	return st;
}

/* May both rows not have the same key? */
static bool
share_keys(const rt_key_row *a, const rt_key_row *b)
{
	if (a->action == b->action)
		return false;
	return a->screen == b->screen ||
	       (a->screen == RT_SCREEN_FIELD && rt_screen_has_field(b->screen)) ||
	       (b->screen == RT_SCREEN_FIELD && rt_screen_has_field(a->screen));
}

/* A key that means two things at once. */
static rt_status
check_twice(const reader *r)
{
	size_t i, j, k;

	for (i = 0; i < r->map->count; i++)
		for (j = i + 1; j < r->map->count; j++) {
			const rt_key_row *a = &rt_key_rows[i], *b = &rt_key_rows[j];

			for (k = 0; k < RT_KEYS_MAX && share_keys(a, b); k++) {
				rt_key key = r->map->keys[i][k];
				char said[160] = "";
				rt_str path[2];
				uint64_t line, column;
				rt_buf buf;

				if (key.code == RT_KEY_NONE || !has_key(r->map->keys[j], key))
					continue;
				rt_buf_init(&buf, r->map->alloc, sizeof(said) - 1);
				rt_key_add_word(&buf, key, false);
				rt_buf_add_f(&buf, " would be both %s.%s and %s.%s",
					     rt_screen_word(a->screen), rt_action_word(a->action),
					     rt_screen_word(b->screen), rt_action_word(b->action));
				memcpy(said, buf.size > 0 ? buf.ptr : "", buf.size + 1);
				rt_buf_deinit(&buf);
				/* The one that the file names. */
				path[0] = rt_str_of(rt_screen_word(b->screen));
				path[1] = rt_str_of(rt_action_word(b->action));
				if (!rt_toml_find(r->toml, path, 2, &line, &column)) {
					path[0] = rt_str_of(rt_screen_word(a->screen));
					path[1] = rt_str_of(rt_action_word(a->action));
				}
				return wrong(r, path, 2, said);
			}
		}
	return RT_OK;
}

rt_status
rt_keymap_read(rt_keymap *map, rt_str toml, rt_error *err)
{
	size_t size = map->count * sizeof(*map->keys);
	rt_key(*kept)[RT_KEYS_MAX] = rt_new(map->alloc, size);
	reader r = {map, toml, err};
	rt_json_doc *doc = NULL;
	rt_status st = RT_OK;
	yyjson_obj_iter iter;
	yyjson_val *key;
	rt_buf json;

	rt_buf_init(&json, map->alloc, RT_BUF_UNLIMITED);
	if (kept == NULL) {
		st = rt_fail(err, RT_NOMEM, "out of memory");
		goto done;
	}
	memcpy(kept, map->keys, size);
	st = rt_toml_to_json(map->alloc, toml, &json, err);
	if (st == RT_OK)
		st = rt_json_read(map->alloc, rt_buf_str(&json), &doc, err);
	if (st != RT_OK)
		goto done;
	iter = yyjson_obj_iter_with(rt_json_root(doc));
	while (st == RT_OK && (key = yyjson_obj_iter_next(&iter)) != NULL)
		st = read_screen(&r, rt_json_str(key), yyjson_obj_iter_get_val(key));
	if (st == RT_OK)
		st = check_twice(&r);
	if (st != RT_OK)
		memcpy(map->keys, kept, size);
done:
	rt_json_free(doc);
	rt_free(map->alloc, kept);
	rt_buf_deinit(&json);
	return st;
}

/* --- telling --- */

static void
add_keys(const rt_keymap *map, size_t row, rt_buf *buf, const char *around)
{
	size_t i;

	for (i = 0; i < RT_KEYS_MAX && map->keys[row][i].code != RT_KEY_NONE; i++) {
		bool is_tick = around[0] == '`' && map->keys[row][i].code == '`';

		rt_buf_add_c(buf, i == 0 ? "" : around[0] == 0 ? "  " : " ");
		rt_buf_add_c(buf, is_tick ? "`` " : around);
		rt_key_add_word(buf, map->keys[row][i], false);
		rt_buf_add_c(buf, is_tick ? " ``" : around);
	}
}

/* "|" ends a cell, in code too. */
static void
add_cell(rt_buf *buf, size_t from)
{
	size_t i;

	for (i = from; i < buf->size; i++) {
		if (buf->ptr[i] != '|')
			continue;
		rt_buf_add_byte(buf, 0);
		if (buf->status != RT_OK)
			return;
		memmove(buf->ptr + i + 1, buf->ptr + i, buf->size - 1 - i);
		buf->ptr[i++] = '\\';
	}
}

/* As people meet them. */
static const rt_screen order[RT_SCREEN_COUNT] = {
	RT_SCREEN_CHAT,    RT_SCREEN_FIELD,       RT_SCREEN_ENTRY,  RT_SCREEN_TREE,
	RT_SCREEN_HISTORY, RT_SCREEN_DISCUSSIONS, RT_SCREEN_READER, RT_SCREEN_ANY,
};

void
rt_keymap_add_markdown(const rt_keymap *map, rt_buf *buf)
{
	size_t i, row;

	for (i = 0; i < RT_SCREEN_COUNT; i++) {
		rt_screen screen = order[i];

		rt_buf_add_f(buf, "%s## %s: `[%s]`\n\n", i == 0 ? "" : "\n", screen_titles[screen],
			     screen_words[screen]);
		if (screen_abouts[screen] != NULL)
			rt_buf_add_f(buf, "%s\n\n", screen_abouts[screen]);
		rt_buf_add_c(buf, "| keys | name | what they do |\n|---|---|---|\n");
		for (row = 0; row < map->count; row++) {
			size_t from;

			if (rt_key_rows[row].screen != screen)
				continue;
			rt_buf_add_c(buf, "| ");
			from = buf->size;
			add_keys(map, row, buf, "`");
			add_cell(buf, from);
			rt_buf_add_f(buf, " | `%s` | ", rt_action_word(rt_key_rows[row].action));
			from = buf->size;
			rt_buf_add_c(buf, rt_key_rows[row].what);
			add_cell(buf, from);
			rt_buf_add_c(buf, " |\n");
		}
	}
}

static void
add_screen(const rt_keymap *map, rt_screen screen, rt_buf *buf)
{
	enum { KEYS_COLUMNS = 26 };
	size_t row, from;

	rt_buf_add_f(buf, "%s%s\n\n", buf->size == 0 ? "" : "\n", screen_titles[screen]);
	for (row = 0; row < map->count; row++) {
		if (rt_key_rows[row].screen != screen || map->keys[row][0].code == RT_KEY_NONE)
			continue;
		rt_buf_add_c(buf, "  ");
		from = buf->size;
		add_keys(map, row, buf, "");
		do
			rt_buf_add_byte(buf, ' ');
		while (buf->status == RT_OK && buf->size - from < KEYS_COLUMNS);
		rt_buf_add_f(buf, " %s\n", rt_key_rows[row].what);
	}
}

void
rt_keymap_add_help(const rt_keymap *map, rt_screen screen, rt_buf *buf)
{
	size_t i;

	for (i = 0; screen == RT_SCREEN_COUNT && i < RT_SCREEN_COUNT; i++)
		add_screen(map, order[i], buf);
	if (screen == RT_SCREEN_COUNT)
		return;
	add_screen(map, screen, buf);
	if (rt_screen_has_field(screen))
		add_screen(map, RT_SCREEN_FIELD, buf);
	if (screen != RT_SCREEN_ANY)
		add_screen(map, RT_SCREEN_ANY, buf);
}
