/* SPDX-License-Identifier: MIT
 *
 * Terminal input: the bytes that terminals send, as keys. A pure function, so that what xterm,
 * tmux, rxvt, the Linux console and others send can be tested without any of them. */
#ifndef RT_TUI_TERMINAL_INPUT_H
#define RT_TUI_TERMINAL_INPUT_H

#include "tui/key.h"

typedef enum rt_keys_kind {
	RT_KEYS_MORE,    /* the beginning of something: ask again when more has come */
	RT_KEYS_KEY,
	RT_KEYS_NOTHING, /* bytes that mean no key */
	RT_KEYS_PASTE    /* what follows up to RT_KEYS_PASTE_END is pasted */
} rt_keys_kind;

#define RT_KEYS_PASTE_END "\033[201~"

/* What stands at the beginning of bytes, which are not empty. is_all: nothing more comes soon,
 * so an escape that is alone is the key of that name; then never RT_KEYS_MORE. erase: what the
 * terminal says that its backspace key sends. *out_size: the bytes that it took (not for MORE). */
rt_keys_kind rt_keys_read(rt_str bytes, bool is_all, char erase, rt_key *out, size_t *out_size);

#endif
