/* SPDX-License-Identifier: MIT
 *
 * Typeahead: keys and pastes that were typed while a change was under way, or a command ran, in
 * their order, until it stands.
 *
 * Threads: the one of the terminal. */
#ifndef RT_TUI_TYPEAHEAD_H
#define RT_TUI_TYPEAHEAD_H

#include "tui/terminal.h"

enum { RT_TYPEAHEAD_MAX = 1024 };

typedef struct rt_typeahead {
	const rt_alloc *alloc;
	rt_event *events;    /* RT_TYPEAHEAD_MAX; NULL until the first; their texts are ours */
	size_t first, count; /* of those that are still there */
} rt_typeahead;

void rt_typeahead_init(rt_typeahead *typeahead, const rt_alloc *alloc);
void rt_typeahead_deinit(rt_typeahead *typeahead);
/* A copy. RT_LIMIT: there are as many as there can be. */
RT_CHECKED rt_status rt_typeahead_add(rt_typeahead *typeahead, const rt_event *event);
/* The oldest; its text is to be freed with rt_typeahead_free. false: there is none. */
bool rt_typeahead_next(rt_typeahead *typeahead, rt_event *out);
void rt_typeahead_free(rt_typeahead *typeahead, rt_event *event);
void rt_typeahead_clear(rt_typeahead *typeahead);

#endif
