/* SPDX-License-Identifier: MIT
 *
 * Text search: the next entry of the take at hand that holds a text, looked for a piece at a time,
 * so that no key waits for it. Around the end it goes on at the other one.
 *
 * Threads: the one of the terminal. */
#ifndef RT_TUI_TEXT_SEARCH_H
#define RT_TUI_TEXT_SEARCH_H

#include "tui/work.h"

enum {
	RT_TEXT_SEARCH_ENTRIES = 512,   /* of one piece */
	RT_TEXT_SEARCH_BYTES = 1 << 20, /* the same; more is looked at only of the last one */
	RT_TEXT_SEARCH_MAX = 1 << 20    /* entries of one search */
};

/* All zero: nothing is looked for. */
typedef struct rt_text_search {
	bool is_on;
	bool back;
	size_t at;        /* the position that was looked at last */
	size_t left, all; /* entries: to be looked at still, at first */
} rt_text_search;

/* at: a position of the take, which has at least one; it is looked at last. */
void rt_text_search_begin(rt_text_search *search, const rt_work *work, size_t at, bool back);
/* One piece more. true: an entry holds what (whatever the case of ASCII letters), and *out_at is
 * its position. It is over when is_on is false. What cannot be read is passed over. */
bool rt_text_search_next(rt_text_search *search, rt_work *work, rt_str what, size_t *out_at);
/* How much was looked at, of 100. */
unsigned rt_text_search_percent(const rt_text_search *search);

#endif
