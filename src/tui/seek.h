/* SPDX-License-Identifier: MIT
 *
 * Seek: the next entry of the take at hand that holds a text, looked for a piece at a time, so
 * that no key waits for it. Around the end it goes on at the other one.
 *
 * Threads: the one of the terminal. */
#ifndef RT_TUI_SEEK_H
#define RT_TUI_SEEK_H

#include "tui/work.h"

enum {
	RT_SEEK_ENTRIES = 512,   /* of one piece */
	RT_SEEK_BYTES = 1 << 20, /* the same; more is looked at only of the last one */
	RT_SEEK_MAX = 1 << 20    /* entries of one search */
};

/* All zero: nothing is looked for. */
typedef struct rt_seek {
	bool is_on;
	bool back;
	size_t at;        /* the position that was looked at last */
	size_t left, all; /* entries: to be looked at still, at first */
} rt_seek;

/* at: a position of the take, which has at least one; it is looked at last. */
void rt_seek_begin(rt_seek *seek, const rt_work *work, size_t at, bool back);
/* One piece more. true: an entry holds what (whatever the case of ASCII letters), and *out_at is
 * its position. It is over when is_on is false. What cannot be read is passed over. */
bool rt_seek_on(rt_seek *seek, rt_work *work, rt_str what, size_t *out_at);
/* How much was looked at, of 100. */
unsigned rt_seek_percent(const rt_seek *seek);

#endif
