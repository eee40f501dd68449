/* SPDX-License-Identifier: MIT */
#include "tui/typeahead.h"

void
rt_typeahead_init(rt_typeahead *typeahead, const rt_alloc *alloc)
{
	*typeahead = (rt_typeahead){.alloc = alloc};
}

void
rt_typeahead_deinit(rt_typeahead *typeahead)
{
	rt_typeahead_clear(typeahead);
	rt_free(typeahead->alloc, typeahead->events);
	typeahead->events = NULL;
}

rt_status
rt_typeahead_add(rt_typeahead *typeahead, const rt_event *event)
{
	rt_event copy = *event;
	char *text = NULL;

	if (typeahead->count == RT_TYPEAHEAD_MAX)
		return RT_OK;
	if (typeahead->events == NULL)
		typeahead->events = rt_new_array(typeahead->alloc, RT_TYPEAHEAD_MAX, sizeof(copy));
	if (event->kind == RT_EVENT_PASTE && event->text.size > 0)
		text = rt_new(typeahead->alloc, event->text.size);
	copy.text = rt_str_at(text, event->kind == RT_EVENT_PASTE ? event->text.size : 0);
	if (typeahead->events == NULL || (copy.text.size > 0 && text == NULL)) {
		rt_free(typeahead->alloc, text);
		return RT_NOMEM;
	}
	if (text != NULL)
		memcpy(text, event->text.ptr, copy.text.size);
	typeahead->events[(typeahead->first + typeahead->count++) % RT_TYPEAHEAD_MAX] = copy;
	return RT_OK;
}

bool
rt_typeahead_next(rt_typeahead *typeahead, rt_event *out)
{
	if (typeahead->count == 0)
		return false;
	*out = typeahead->events[typeahead->first];
	typeahead->first = (typeahead->first + 1) % RT_TYPEAHEAD_MAX;
	typeahead->count--;
	return true;
}

void
rt_typeahead_free(rt_typeahead *typeahead, rt_event *event)
{
	rt_free(typeahead->alloc, (void *)(uintptr_t)event->text.ptr);
	event->text = rt_str_at(NULL, 0);
}

void
rt_typeahead_clear(rt_typeahead *typeahead)
{
	rt_event event;

	while (rt_typeahead_next(typeahead, &event))
		rt_typeahead_free(typeahead, &event);
}
