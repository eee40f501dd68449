/* SPDX-License-Identifier: MIT */
#include "tui/held.h"

void
rt_held_init(rt_held *held, const rt_alloc *alloc)
{
	memset(held, 0, sizeof(*held));
	held->alloc = alloc;
}

void
rt_held_deinit(rt_held *held)
{
	rt_held_clear(held);
	rt_free(held->alloc, held->events);
	held->events = NULL;
}

rt_status
rt_held_add(rt_held *held, const rt_event *event)
{
	rt_event kept = *event;
	char *text = NULL;

	if (held->count == RT_HELD_MAX)
		return RT_LIMIT;
	if (held->events == NULL)
		held->events = rt_new_array(held->alloc, RT_HELD_MAX, sizeof(*held->events));
	if (held->events == NULL)
		return RT_NOMEM;
	if (event->kind == RT_EVENT_PASTE && event->text.size > 0) {
		text = rt_new(held->alloc, event->text.size);
		if (text == NULL)
			return RT_NOMEM;
		memcpy(text, event->text.ptr, event->text.size);
	}
	kept.text = rt_str_at(text, text == NULL ? 0 : event->text.size);
	held->events[(held->first + held->count++) % RT_HELD_MAX] = kept;
	return RT_OK;
}

bool
rt_held_next(rt_held *held, rt_event *out)
{
	if (held->count == 0)
		return false;
	*out = held->events[held->first];
	held->first = (held->first + 1) % RT_HELD_MAX;
	held->count--;
	return true;
}

void
rt_held_free(rt_held *held, rt_event *event)
{
	rt_free(held->alloc, (void *)(uintptr_t)event->text.ptr);
	event->text = rt_str_at(NULL, 0);
}

void
rt_held_clear(rt_held *held)
{
	rt_event event;

	while (rt_held_next(held, &event))
		rt_held_free(held, &event);
}
