/* SPDX-License-Identifier: MIT */
#include "terminal/key.h"

#include "app/width.h"

typedef struct key_name {
	uint32_t code;
	const char *word;  /* for rt_key_add_word and rt_key_read */
	const char *title; /* as people read it */
	const char *other; /* an alias; or NULL */
} key_name;

static const key_name names[] = {
	{' ', "space", "Space", NULL},
	{RT_KEY_ENTER, "enter", "Enter", "return"},
	{RT_KEY_ESCAPE, "escape", "Esc", "esc"},
	{RT_KEY_TAB, "tab", "Tab", NULL},
	{RT_KEY_BACKSPACE, "backspace", "Backspace", NULL},
	{RT_KEY_DELETE, "delete", "Del", "del"},
	{RT_KEY_INSERT, "insert", "Ins", "ins"},
	{RT_KEY_UP, "up", "Up", NULL},
	{RT_KEY_DOWN, "down", "Down", NULL},
	{RT_KEY_LEFT, "left", "Left", NULL},
	{RT_KEY_RIGHT, "right", "Right", NULL},
	{RT_KEY_HOME, "home", "Home", NULL},
	{RT_KEY_END, "end", "End", NULL},
	{RT_KEY_PAGE_UP, "pageup", "PgUp", "page-up"},
	{RT_KEY_PAGE_DOWN, "pagedown", "PgDn", "page-down"},
	{RT_KEY_F1 + 0, "f1", "F1", NULL},
	{RT_KEY_F1 + 1, "f2", "F2", NULL},
	{RT_KEY_F1 + 2, "f3", "F3", NULL},
	{RT_KEY_F1 + 3, "f4", "F4", NULL},
	{RT_KEY_F1 + 4, "f5", "F5", NULL},
	{RT_KEY_F1 + 5, "f6", "F6", NULL},
	{RT_KEY_F1 + 6, "f7", "F7", NULL},
	{RT_KEY_F1 + 7, "f8", "F8", NULL},
	{RT_KEY_F1 + 8, "f9", "F9", NULL},
	{RT_KEY_F1 + 9, "f10", "F10", NULL},
	{RT_KEY_F1 + 10, "f11", "F11", NULL},
	{RT_KEY_F1 + 11, "f12", "F12", NULL},
};
enum { NAME_COUNT = sizeof(names) / sizeof(names[0]) };

static const struct {
	uint8_t mod;
	rt_str word;
	const char *title;
} mods[] = {
	{RT_KEY_CTRL, RT_STR_INIT("ctrl+"), "Ctrl+"},
	{RT_KEY_ALT, RT_STR_INIT("alt+"), "Alt+"},
	{RT_KEY_SHIFT, RT_STR_INIT("shift+"), "Shift+"},
};
enum { MOD_COUNT = 3 };

static bool
is_upper(uint32_t code)
{
	return code >= 'A' && code <= 'Z';
}

static bool
is_lower(uint32_t code)
{
	return code >= 'a' && code <= 'z';
}

static bool
is_character(uint32_t code)
{
	return code >= 0x20 && code < 0x110000 && !(code >= 0x7F && code < 0xA0) &&
	       !(code >= 0xD800 && code < 0xE000);
}

rt_key
rt_key_normal(rt_key key)
{
	bool ctrl = (key.mods & RT_KEY_CTRL) != 0, shift = (key.mods & RT_KEY_SHIFT) != 0;

	if (ctrl && is_upper(key.code))
		key.code += 32;
	if (ctrl && !shift && (key.code == 'i' || key.code == 'm' || key.code == '[')) {
		key.code = key.code == 'i'   ? (uint32_t)RT_KEY_TAB
			   : key.code == 'm' ? (uint32_t)RT_KEY_ENTER
					     : (uint32_t)RT_KEY_ESCAPE;
		key.mods &= (uint8_t)~RT_KEY_CTRL;
	} else if (shift && !ctrl && is_character(key.code)) {
		if (is_lower(key.code))
			key.code -= 32;
		key.mods &= (uint8_t)~RT_KEY_SHIFT;
	}
	return key;
}

bool
rt_key_is_text(rt_key key)
{
	return key.mods == 0 && is_character(key.code);
}

static const key_name *
name_of(uint32_t code)
{
	for (size_t i = 0; i < NAME_COUNT; i++)
		if (names[i].code == code)
			return &names[i];
	return NULL;
}

void
rt_key_add_word(rt_buf *buf, rt_key key, bool is_title)
{
	const key_name *name = name_of(key.code);
	char bytes[4];

	/* The case of a letter with alt is written as a modifier. */
	if (key.mods == RT_KEY_ALT && is_upper(key.code)) {
		key.code += 32;
		key.mods |= RT_KEY_SHIFT;
	}
	for (size_t i = 0; i < MOD_COUNT; i++) {
		if ((key.mods & mods[i].mod) == 0)
			continue;
		if (is_title)
			rt_buf_add_c(buf, mods[i].title);
		else
			rt_buf_add_str(buf, mods[i].word);
	}
	if (name != NULL) {
		rt_buf_add_c(buf, is_title ? name->title : name->word);
		return;
	}
	if (is_title && key.mods != 0 && is_lower(key.code))
		key.code -= 32;
	if (is_character(key.code))
		rt_buf_add(buf, bytes, rt_rune_encode(key.code, bytes));
}

/* Remove a modifier from the beginning of a word; 0: there is none. */
static uint8_t
read_mod(rt_str *word)
{
	for (size_t i = 0; i < MOD_COUNT; i++) {
		size_t size = mods[i].word.size;

		if (word->size > size && rt_str_eq_nocase(rt_str_at(word->ptr, size), mods[i].word)) {
			*word = rt_str_skip(*word, size);
			return mods[i].mod;
		}
	}
	return 0;
}

static bool
read_name(rt_str word, uint32_t *out)
{
	for (size_t i = 0; i < NAME_COUNT; i++)
		if (rt_str_eq_nocase(word, rt_str_of(names[i].word)) ||
		    rt_str_eq_nocase(word, rt_str_of(names[i].other))) {
			*out = names[i].code;
			return true;
		}
	return false;
}

/* The most similar name, or NULL. */
static const char *
nearest_name(rt_str word)
{
	const char *best = NULL;
	size_t least = 3;

	for (size_t i = 0; i < NAME_COUNT; i++) {
		size_t distance = rt_str_distance(word, rt_str_of(names[i].word));

		if (distance < least) {
			least = distance;
			best = names[i].word;
		}
	}
	return best;
}

bool
rt_key_read_title(rt_str word, rt_key *out)
{
	rt_key key = {RT_KEY_NONE, 0};
	rt_rune rune;
	uint8_t mod;

	while ((mod = read_mod(&word)) != 0)
		key.mods |= mod;
	for (size_t i = 0; i < NAME_COUNT; i++)
		if (rt_str_is(word, names[i].title))
			key.code = names[i].code;
	if (key.code == RT_KEY_NONE && word.size > 0) {
		rune = rt_rune_read(word, true);
		if (rune.size == word.size && is_character(rune.code))
			key.code = key.mods != 0 && is_upper(rune.code) ? rune.code + 32 : rune.code;
	}
	*out = rt_key_normal(key);
	return key.code != RT_KEY_NONE;
}

rt_status
rt_key_read(rt_str word, rt_key *out, rt_error *err)
{
	rt_key key = {RT_KEY_NONE, 0};
	rt_str rest = word;
	const char *nearest;
	uint8_t mod;

	while ((mod = read_mod(&rest)) != 0)
		key.mods |= mod;
	if (rest.size > 0 && !read_name(rest, &key.code)) {
		rt_rune rune = rt_rune_read(rest, true);

		if (rune.size == rest.size && is_character(rune.code) &&
		    rt_utf8_valid_size(rest) == rest.size)
			key.code = rune.code;
	}
	if (key.code != RT_KEY_NONE) {
		if (key.mods != 0 && is_upper(key.code))
			key.code += 32;
		*out = rt_key_normal(key);
		return RT_OK;
	}
	nearest = rest.size > 1 ? nearest_name(rest) : NULL;
	if (nearest != NULL)
		return rt_fail(err, RT_USAGE, "there is no key \"%.*s\"; did you mean \"%s\"?",
			       RT_STR_ARG(word), nearest);
	return rt_fail(err, RT_USAGE,
		       "there is no key \"%.*s\" (examples: ctrl+o, alt+left, G, space, f1)",
		       RT_STR_ARG(word));
}
