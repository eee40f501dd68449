/* SPDX-License-Identifier: MIT
 *
 * Event: what hooks can be told of. One table; the help, the pages and the samples of
 * `retake hooks test` are made from it. Immutable. */
#ifndef RT_HOOKS_EVENT_H
#define RT_HOOKS_EVENT_H

#include "base/text.h"

enum {
	RT_HOOK_BEFORE = 1 << 0, /* it can still be denied */
	RT_HOOK_SUMS = 1 << 1    /* a hook may hand in the summary */
};

typedef struct rt_hook_event {
	const char *name;     /* "entry.before_edit" */
	const char *alias;    /* the name that other programs have for it; NULL: none */
	unsigned traits;
	const char *when;     /* one line */
	const char *replaces; /* members that a patch may change, a blank between; or "" */
	const char *members;  /* what the object has beside v, event, id and those of all events:
	                         "key: what it is" a line */
	const char *subject;  /* what match can look at: the keys, a blank between */
	const char *sample;   /* members as `"key":value,…`, for trying a hook */
} rt_hook_event;

extern const rt_hook_event rt_hook_events[]; /* ended by a NULL name */
/* The same form, of the members that all events have. */
extern const char rt_hook_common_members[];
extern const char rt_hook_common_sample[];

/* By name or alias; NULL: there is none. */
const rt_hook_event *rt_hook_event_named(rt_str name);
/* The name or alias that is spelled most like it; NULL: none is near. */
const char *rt_hook_event_nearest(rt_str name);
/* May a patch change this member? */
bool rt_hook_event_replaces(const rt_hook_event *event, rt_str member);

#endif
