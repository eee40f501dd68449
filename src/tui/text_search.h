/* SPDX-License-Identifier: MIT
 *
 * Text search: the next entry of the current take that contains a text, searched in slices, so that
 * keys do not wait for it. Wraps around at the ends.
 *
 * Threads: the one of the terminal. */
#ifndef RT_TUI_TEXT_SEARCH_H
#define RT_TUI_TEXT_SEARCH_H

#include "tui/work.h"

enum {
	RT_TEXT_SEARCH_ENTRIES = 512,   /* of a slice */
	RT_TEXT_SEARCH_BYTES = 1 << 20, /* of a slice; its last entry may exceed them */
	RT_TEXT_SEARCH_MAX = 1 << 20    /* entries of a search */
};

/* All zero: no search. */
typedef struct rt_text_search {
	bool is_on;
	bool back;
	size_t at;        /* the position examined last */
	size_t left, all; /* entries left to examine, of these */
} rt_text_search;

/* at: a position of the take, which must have one; examined last. */
void rt_text_search_begin(rt_text_search *search, const rt_work *work, size_t at, bool back);
/* Examine a slice. True: an entry contains what, at *out_at. The search has ended when is_on is
 * false. Entries that cannot be read are skipped. */
bool rt_text_search_next(rt_text_search *search, rt_work *work, rt_str what, size_t *out_at);
/* How many entries contain what; *out_number: the number of the one at a position among them, from the
 * beginning. 0: the take is too large for one slice. */
size_t rt_text_search_count(rt_work *work, rt_str what, size_t at, size_t *out_number);
/* The part that was examined. */
unsigned rt_text_search_percent(const rt_text_search *search);

#endif
