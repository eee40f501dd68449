/* SPDX-License-Identifier: MIT
 *
 * Key: a pressed key, as a value and as a word ("ctrl+o", "alt+left", "G", "space").
 *
 * A key that types a character is that character: "G" is shift+g, "?" is "?". With ctrl, letters
 * are lower case. Shift is a modifier only of other keys, and with ctrl; alt+shift+g is alt and
 * "G". */
#ifndef RT_TERMINAL_KEY_H
#define RT_TERMINAL_KEY_H

#include "base/text.h"

enum {
	RT_KEY_NONE = 0,
	/* a Unicode character, or: */
	RT_KEY_ENTER = 0x110000,
	RT_KEY_ESCAPE,
	RT_KEY_TAB,
	RT_KEY_BACKSPACE,
	RT_KEY_DELETE,
	RT_KEY_INSERT,
	RT_KEY_UP,
	RT_KEY_DOWN,
	RT_KEY_LEFT,
	RT_KEY_RIGHT,
	RT_KEY_HOME,
	RT_KEY_END,
	RT_KEY_PAGE_UP,
	RT_KEY_PAGE_DOWN,
	RT_KEY_F1 /* F2 to F12 follow */
};

enum { RT_KEY_CTRL = 1, RT_KEY_ALT = 2, RT_KEY_SHIFT = 4 };

typedef struct rt_key {
	uint32_t code;
	uint8_t mods;
} rt_key;

static inline bool
rt_key_eq(rt_key a, rt_key b)
{
	return a.code == b.code && a.mods == b.mods;
}
/* The mouse, at a cell of the screen, counted from 0. */
typedef enum rt_mouse_kind { RT_MOUSE_PRESS, RT_MOUSE_WHEEL_UP, RT_MOUSE_WHEEL_DOWN } rt_mouse_kind;
typedef struct rt_mouse {
	rt_mouse_kind kind;
	int x, y;
} rt_mouse;

/* The normal form: as above, and ctrl+i is tab and ctrl+m is enter, since most terminals send the
 * same bytes. */
rt_key rt_key_normal(rt_key key);
/* Does it type a character? */
bool rt_key_is_text(rt_key key);
/* Append its word: "ctrl+o", or for display: "Ctrl+O". rt_key_read reads either. */
void rt_key_add_word(rt_buf *buf, rt_key key, bool is_title);
/* The key of a word in a text, with the letters that rt_key_add_word writes for display ("Enter",
 * not "enter"); false: there is none. */
bool rt_key_read_title(rt_str word, rt_key *out);
/* RT_USAGE: no such key. Case matters only for a single letter. */
RT_CHECKED rt_status rt_key_read(rt_str word, rt_key *out, rt_error *err);

#endif
