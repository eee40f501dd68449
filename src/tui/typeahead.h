/* SPDX-License-Identifier: MIT
 *
 * Typeahead: a queue of keys and pastes that were typed while a change was pending or a command
 * was running.
 *
 * Threads: the terminal's. */
#ifndef RT_TUI_TYPEAHEAD_H
#define RT_TUI_TYPEAHEAD_H

#include "terminal/terminal.h"

enum { RT_TYPEAHEAD_MAX = 1024 };

typedef struct rt_typeahead {
	const rt_alloc *alloc;
	rt_event *events;    /* a ring of RT_TYPEAHEAD_MAX, NULL at first; owns the texts */
	size_t first, count;
} rt_typeahead;

void rt_typeahead_init(rt_typeahead *typeahead, const rt_alloc *alloc);
void rt_typeahead_deinit(rt_typeahead *typeahead);
/* Append a copy, unless the queue is full. */
RT_CHECKED rt_status rt_typeahead_add(rt_typeahead *typeahead, const rt_event *event);
/* Remove the oldest, whose text the caller frees with rt_typeahead_free. False: empty. */
bool rt_typeahead_next(rt_typeahead *typeahead, rt_event *out);
void rt_typeahead_free(rt_typeahead *typeahead, rt_event *event);
void rt_typeahead_clear(rt_typeahead *typeahead);

#endif
