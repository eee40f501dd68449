/* SPDX-License-Identifier: MIT
 *
 * Terminal input: decodes the bytes that terminals send for keys. A pure function, so that the
 * encodings of xterm, tmux, rxvt, the Linux console and others are tested without them. */
#ifndef RT_TERMINAL_TERMINAL_INPUT_H
#define RT_TERMINAL_TERMINAL_INPUT_H

#include "terminal/key.h"

typedef enum rt_keys_kind {
	RT_KEYS_MORE,    /* incomplete: try again with more bytes */
	RT_KEYS_KEY,
	RT_KEYS_MOUSE,
	RT_KEYS_NOTHING, /* bytes that are not a key */
	RT_KEYS_PASTE    /* pasted text follows, up to RT_KEYS_PASTE_END */
} rt_keys_kind;

typedef struct rt_terminal_input {
	rt_key key;     /* KEY */
	rt_mouse mouse; /* MOUSE */
} rt_terminal_input;

#define RT_KEYS_PASTE_END "\033[201~"

/* Decode the beginning of bytes, which are not empty. is_all: no more bytes are expected soon, so a
 * single escape is that key; RT_KEYS_MORE is not returned then. erase: the byte of the terminal's
 * backspace key. *out_size: the bytes that were used (not for MORE). */
rt_keys_kind rt_keys_read(rt_str bytes, bool is_all, char erase, rt_terminal_input *out,
			  size_t *out_size);

/* Bytes of RT_KEYS_NOTHING: are they the terminal's reply to the query of its background (OSC 11)?
 * Then *out_is_light tells whether dark text is readable on it. */
bool rt_keys_background(rt_str bytes, bool *out_is_light);

#endif
