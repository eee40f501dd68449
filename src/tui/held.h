/* SPDX-License-Identifier: MIT
 *
 * Held: keys and pastes that were typed while a change was under way, or a command ran, in their
 * order, until it stands.
 *
 * Threads: the one of the terminal. */
#ifndef RT_TUI_HELD_H
#define RT_TUI_HELD_H

#include "tui/glass.h"

enum { RT_HELD_MAX = 1024 };

typedef struct rt_held {
	const rt_alloc *alloc;
	rt_event *events;    /* RT_HELD_MAX; NULL until the first; their texts are ours */
	size_t first, count; /* of those that are still there */
} rt_held;

void rt_held_init(rt_held *held, const rt_alloc *alloc);
void rt_held_deinit(rt_held *held);
/* A copy. RT_LIMIT: there are as many as there can be. */
RT_CHECKED rt_status rt_held_add(rt_held *held, const rt_event *event);
/* The oldest; its text is to be freed with rt_held_free. false: there is none. */
bool rt_held_next(rt_held *held, rt_event *out);
void rt_held_free(rt_held *held, rt_event *event);
void rt_held_clear(rt_held *held);

#endif
