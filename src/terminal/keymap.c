/* SPDX-License-Identifier: MIT
 *
 * A keymap is the rows of the table with their current keys. Rows are few, and keys are pressed by
 * people, so lookups are linear. */
#include "terminal/keymap.h"

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
	"Everywhere", "Chat", "Chat entries", "Tree", "History", "Discussions", "Reader",
	"Writing",
};

static const char *const screen_abouts[RT_SCREEN_COUNT] = {
	"Used wherever the screen does not bind the key.",
	"The keys of “Writing” work as well. `?` works when the input is empty.",
	"When an entry is selected (Alt+Up). Typing goes to the input and ends the selection.",
	"Typing searches; Enter ends the search, and a second Enter goes to the selected entry.",
	"Typing finds a step; Enter ends the search, and a second Enter restores its state.",
	"Typing filters the list; the keys of “Writing” work as well.",
	"A long text: an entry, help, the output of a command.",
	"In every text field.",
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

rt_status
rt_keymap_new(const rt_alloc *alloc, rt_keymap **out, rt_error *err)
{
	rt_keymap *map = rt_new0(alloc, sizeof(*map));
	rt_status st = RT_OK;

	if (map == NULL)
		return rt_fail(err, RT_NOMEM, "out of memory");
	map->alloc = alloc;
	while (rt_key_rows[map->count].action != RT_ACT_NONE)
		map->count++;
	map->keys = rt_new0(alloc, map->count * sizeof(*map->keys));
	if (map->keys == NULL)
		st = rt_fail(err, RT_NOMEM, "out of memory");
	for (size_t i = 0; st == RT_OK && i < map->count; i++) {
		rt_str words = rt_str_of(rt_key_rows[i].keys), word;

		for (size_t k = 0; st == RT_OK && rt_str_split(&words, ' ', &word); k++) {
			RT_ASSERT(k < RT_KEYS_MAX);
			st = rt_key_read(word, &map->keys[i][k], err);
		}
	}
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

/* ---- lookups ---- */

/* The row of an action on exactly this screen, or SIZE_MAX. */
static size_t
find_row(const rt_keymap *map, rt_screen screen, rt_action action)
{
	for (size_t i = 0; i < map->count; i++)
		if (rt_key_rows[i].screen == screen && rt_key_rows[i].action == action)
			return i;
	return SIZE_MAX;
}

static bool
has_key(const rt_key keys[RT_KEYS_MAX], rt_key key)
{
	for (size_t i = 0; i < RT_KEYS_MAX && keys[i].code != RT_KEY_NONE; i++)
		if (rt_key_eq(keys[i], key))
			return true;
	return false;
}

static rt_action
action_of(const rt_keymap *map, rt_screen screen, rt_key key)
{
	for (size_t i = 0; i < map->count; i++)
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
	size_t row = find_row(map, screen, action), count = 0;

	if (row == SIZE_MAX && rt_screen_has_field(screen))
		row = find_row(map, RT_SCREEN_FIELD, action);
	if (row == SIZE_MAX)
		row = find_row(map, RT_SCREEN_ANY, action);
	if (row == SIZE_MAX)
		return 0;
	memcpy(out, map->keys[row], sizeof(map->keys[row]));
	while (count < RT_KEYS_MAX && out[count].code != RT_KEY_NONE)
		count++;
	return count;
}

void
rt_keymap_add_key(const rt_keymap *map, rt_screen screen, rt_action action, rt_buf *buf)
{
	rt_key keys[RT_KEYS_MAX];

	if (rt_keymap_keys(map, screen, action, keys) > 0)
		rt_key_add_word(buf, keys[0], true);
}

/* ---- keys.toml ---- */

typedef struct reader {
	rt_scope scope;
	rt_keymap *map; /* being changed */
	rt_str toml;
	rt_str path[2]; /* screen and action that are being read */
	size_t depth;   /* of path */
} reader;

static bool
find_line(const reader *r, uint64_t *out_line)
{
	uint64_t column;

	for (size_t depth = r->depth; depth > 0; depth--)
		if (rt_toml_find(r->toml, r->path, depth, out_line, &column))
			return true;
	return false;
}

/* Fail with the line of the path. */
static void
reject(reader *r, const char *words)
{
	uint64_t line = 0;

	if (!find_line(r, &line)) {
		(void)rt_scope_fail(&r->scope, RT_USAGE, "keys.toml: %s", words);
		return;
	}
	(void)rt_scope_fail(&r->scope, RT_USAGE, "keys.toml, line %llu: %s", (unsigned long long)line,
			    words);
	r->scope.error.line = line;
}

/* Reject the last name of the path, with the nearest of the words that are known. */
static void
reject_unknown(reader *r, const char *what, const char *const *words, size_t word_count)
{
	rt_str name = r->path[r->depth - 1];
	rt_buf *message = rt_scope_buf(&r->scope);
	const char *nearest = NULL;
	size_t least = name.size < 4 ? 2 : 4;

	for (size_t i = 0; i < word_count; i++) {
		size_t distance = rt_str_distance(name, rt_str_of(words[i]));

		if (distance < least) {
			least = distance;
			nearest = words[i];
		}
	}
	rt_buf_add_f(message, "there is no %s \"%.*s\"", what, (int)rt_utf8_cut(name, 60), name.ptr);
	if (nearest != NULL)
		rt_buf_add_f(message, "; did you mean \"%s\"?", nearest);
	if (rt_scope_str(&r->scope, message).size > 0)
		reject(r, message->ptr);
}

static void
read_key(reader *r, yyjson_val *value, rt_key *out)
{
	rt_error error = {0};

	if (!yyjson_is_str(value))
		reject(r, "a key must be a string, such as \"ctrl+o\"");
	else if (rt_key_read(rt_json_str(value), out, &error) != RT_OK)
		reject(r, error.text);
}

static void
read_action(reader *r, rt_screen screen, yyjson_val *value)
{
	const char *words[RT_ACT_COUNT];
	rt_key keys[RT_KEYS_MAX] = {{0}};
	size_t count = 0, row = SIZE_MAX;

	for (size_t i = 0; i < r->map->count; i++) {
		const char *word = rt_action_word(rt_key_rows[i].action);

		if (rt_key_rows[i].screen != screen)
			continue;
		words[count++] = word;
		if (rt_str_is(r->path[1], word))
			row = i;
	}
	if (row == SIZE_MAX) {
		reject_unknown(r, "action on this screen called", words, count);
		return;
	}
	if (yyjson_arr_size(value) > RT_KEYS_MAX)
		reject(r, "an action has at most four keys");
	else if (!yyjson_is_arr(value))
		read_key(r, value, &keys[0]);
	for (rt_json_iter it = rt_json_items(value); rt_ok(&r->scope) && rt_json_next(&it);)
		read_key(r, it.value, &keys[it.index]);
	if (rt_ok(&r->scope))
		memcpy(r->map->keys[row], keys, sizeof(keys));
}

static void
read_screen(reader *r, rt_str name, yyjson_val *table)
{
	size_t screen = 0;

	r->path[0] = name;
	r->depth = 1;
	while (screen < RT_SCREEN_COUNT && !rt_str_is(name, screen_words[screen]))
		screen++;
	if (screen == RT_SCREEN_COUNT) {
		reject_unknown(r, "screen", screen_words, RT_SCREEN_COUNT);
		return;
	}
	if (!yyjson_is_obj(table))
		reject(r, "a screen must be a table of actions and their keys");
	r->depth = 2;
	for (rt_json_iter it = rt_json_members(table); rt_ok(&r->scope) && rt_json_next(&it);) {
		r->path[1] = it.key;
		read_action(r, (rt_screen)screen, it.value);
	}
}

/* Do the keys of both rows apply at the same time? */
static bool
are_exclusive(const rt_key_row *a, const rt_key_row *b)
{
	return a->action != b->action &&
	       (a->screen == b->screen ||
		(a->screen == RT_SCREEN_FIELD && rt_screen_has_field(b->screen)) ||
		(b->screen == RT_SCREEN_FIELD && rt_screen_has_field(a->screen)));
}

static void
set_path(reader *r, const rt_key_row *row)
{
	r->path[0] = rt_str_of(rt_screen_word(row->screen));
	r->path[1] = rt_str_of(rt_action_word(row->action));
	r->depth = 2;
}

static void
reject_twice(reader *r, rt_key key, const rt_key_row *a, const rt_key_row *b)
{
	rt_buf *message = rt_scope_buf(&r->scope);
	uint64_t line, column;

	rt_key_add_word(message, key, false);
	rt_buf_add_f(message, " is bound to both %s.%s and %s.%s", rt_screen_word(a->screen),
		     rt_action_word(a->action), rt_screen_word(b->screen), rt_action_word(b->action));
	/* The one in the file. */
	set_path(r, b);
	if (!rt_toml_find(r->toml, r->path, 2, &line, &column))
		set_path(r, a);
	if (rt_scope_str(&r->scope, message).size > 0)
		reject(r, message->ptr);
}

/* Reject a key with two actions at once. */
static void
check_keys(reader *r)
{
	for (size_t i = 0; i < r->map->count; i++)
		for (size_t j = i + 1; j < r->map->count; j++) {
			const rt_key_row *a = &rt_key_rows[i], *b = &rt_key_rows[j];

			for (size_t k = 0; k < RT_KEYS_MAX && are_exclusive(a, b); k++) {
				rt_key key = r->map->keys[i][k];

				if (key.code != RT_KEY_NONE && has_key(r->map->keys[j], key)) {
					reject_twice(r, key, a, b);
					return;
				}
			}
		}
}

rt_status
rt_keymap_read(rt_keymap *map, rt_str toml, rt_error *err)
{
	size_t size = map->count * sizeof(*map->keys);
	reader r = {.map = map, .toml = toml};
	yyjson_val *root;
	rt_buf *json;
	void *old;

	rt_scope_init(&r.scope, map->alloc);
	json = rt_scope_buf(&r.scope);
	old = rt_scope_get(&r.scope, size);
	if (old != NULL)
		memcpy(old, map->keys, size);
	RT_TRY(&r.scope, rt_toml_to_json(map->alloc, toml, json, &r.scope.error));
	root = rt_json_parse(&r.scope, rt_buf_str(json));
	for (rt_json_iter it = rt_json_members(root); rt_ok(&r.scope) && rt_json_next(&it);)
		read_screen(&r, it.key, it.value);
	if (rt_ok(&r.scope))
		check_keys(&r);
	if (!rt_ok(&r.scope) && old != NULL)
		memcpy(map->keys, old, size);
	return rt_scope_end(&r.scope, err);
}

/* ---- documentation ---- */

static void
add_keys(const rt_keymap *map, size_t row, rt_buf *buf)
{
	for (size_t i = 0; i < RT_KEYS_MAX && map->keys[row][i].code != RT_KEY_NONE; i++) {
		bool is_tick = map->keys[row][i].code == '`';

		rt_buf_add_c(buf, i == 0 ? "" : " ");
		rt_buf_add_c(buf, is_tick ? "`` " : "`");
		rt_key_add_word(buf, map->keys[row][i], true);
		rt_buf_add_c(buf, is_tick ? " ``" : "`");
	}
}

/* "|" would end a cell, even in code. */
static void
add_cell(rt_buf *buf, rt_str text)
{
	for (size_t i = 0; i < text.size; i++) {
		if (text.ptr[i] == '|')
			rt_buf_add_byte(buf, '\\');
		rt_buf_add_byte(buf, text.ptr[i]);
	}
}

/* In the order of importance for users. */
static const rt_screen order[RT_SCREEN_COUNT] = {
	RT_SCREEN_CHAT,    RT_SCREEN_FIELD,       RT_SCREEN_ENTRY,  RT_SCREEN_TREE,
	RT_SCREEN_HISTORY, RT_SCREEN_DISCUSSIONS, RT_SCREEN_READER, RT_SCREEN_ANY,
};

void
rt_keymap_add_markdown(const rt_keymap *map, rt_buf *buf)
{
	rt_scope s;
	rt_buf *keys;

	rt_scope_init(&s, map->alloc);
	keys = rt_scope_buf(&s);
	for (size_t i = 0; i < RT_SCREEN_COUNT; i++) {
		rt_screen screen = order[i];

		rt_buf_add_f(buf, "%s## %s: `[%s]`\n\n%s\n\n", i == 0 ? "" : "\n",
			     screen_titles[screen], screen_words[screen], screen_abouts[screen]);
		rt_buf_add_c(buf, "| keys | name | action |\n|---|---|---|\n");
		for (size_t row = 0; row < map->count; row++) {
			if (rt_key_rows[row].screen != screen)
				continue;
			rt_buf_clear(keys);
			add_keys(map, row, keys);
			rt_buf_add_c(buf, "| ");
			add_cell(buf, rt_scope_str(&s, keys));
			rt_buf_add_f(buf, " | `%s` | ", rt_action_word(rt_key_rows[row].action));
			add_cell(buf, rt_str_of(rt_key_rows[row].what));
			rt_buf_add_c(buf, " |\n");
		}
	}
	if (!rt_ok(&s))
		buf->status = s.status;
	rt_scope_deinit(&s);
}

/* The keys from *key on that fit into their column, at least one. */
static void
add_key_cell(const rt_keymap *map, size_t row, rt_buf *buf, size_t *key)
{
	size_t from = buf->size, end = from;

	do {
		rt_buf_add_c(buf, "  ");
		rt_key_add_word(buf, map->keys[row][*key], true);
		if (end > from && buf->size - from > RT_KEYMAP_HELP_COLUMNS - 2) {
			buf->size = end;
			return;
		}
		end = buf->size;
	} while (++*key < RT_KEYS_MAX && map->keys[row][*key].code != RT_KEY_NONE);
}

void
rt_keymap_add_screen(const rt_keymap *map, rt_screen screen,
		     bool (*applies)(void *ctx, rt_action action), void *ctx, rt_buf *buf)
{
	rt_buf_add_f(buf, "%s%s\n\n", buf->size == 0 ? "" : "\n", screen_titles[screen]);
	for (size_t row = 0; row < map->count; row++) {
		size_t from, key = 0;

		if (rt_key_rows[row].screen != screen || map->keys[row][0].code == RT_KEY_NONE ||
		    (applies != NULL && !applies(ctx, rt_key_rows[row].action)))
			continue;
		from = buf->size;
		add_key_cell(map, row, buf, &key);
		while (buf->status == RT_OK && buf->size - from < RT_KEYMAP_HELP_COLUMNS)
			rt_buf_add_byte(buf, ' ');
		rt_buf_add_c(buf, rt_key_rows[row].what);
		while (key < RT_KEYS_MAX && map->keys[row][key].code != RT_KEY_NONE) {
			rt_buf_add_byte(buf, '\n');
			add_key_cell(map, row, buf, &key);
		}
		rt_buf_add_byte(buf, '\n');
	}
}

void
rt_keymap_add_help(const rt_keymap *map, rt_screen screen, rt_buf *buf)
{
	if (screen == RT_SCREEN_COUNT) {
		for (size_t i = 0; i < RT_SCREEN_COUNT; i++)
			rt_keymap_add_screen(map, order[i], NULL, NULL, buf);
		return;
	}
	rt_keymap_add_screen(map, screen, NULL, NULL, buf);
	if (rt_screen_has_field(screen))
		rt_keymap_add_screen(map, RT_SCREEN_FIELD, NULL, NULL, buf);
	if (screen != RT_SCREEN_ANY)
		rt_keymap_add_screen(map, RT_SCREEN_ANY, NULL, NULL, buf);
}
