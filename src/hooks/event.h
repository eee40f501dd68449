/* SPDX-License-Identifier: MIT
 *
 * Events: one table of what hooks can be notified of. The help, the documentation and the samples
 * of `retake hooks test` are generated from it. Immutable. */
#ifndef RT_HOOKS_EVENT_H
#define RT_HOOKS_EVENT_H

#include "base/text.h"

enum {
	RT_HOOK_BEFORE = 1 << 0,    /* the action can still be denied */
	RT_HOOK_SUMMARIZES = 1 << 1 /* a hook may supply the summary */
};

typedef struct rt_hook_event {
	const char *name;     /* "entry.before_edit" */
	const char *alias;    /* its name in other programs, or NULL */
	unsigned traits;
	const char *when;     /* one line */
	const char *replaces; /* members that a patch may change, separated by blanks; or "" */
	const char *members;  /* members of the event object besides v, event, id and the common
	                         ones: one "key: description" per line */
	const char *subject;  /* the keys that a matcher can test, separated by blanks */
	const char *sample;   /* members as `"key":value,…`, for `hooks test` */
} rt_hook_event;

extern const rt_hook_event rt_hook_events[]; /* ends with a NULL name */
/* The members common to all events, in the same two forms. */
extern const char rt_hook_common_members[];
extern const char rt_hook_common_sample[];

/* By name or alias; NULL: unknown. */
const rt_hook_event *rt_hook_event_find(rt_str name);
/* The name or alias with the most similar spelling; NULL: none is close. */
const char *rt_hook_event_nearest(rt_str name);
/* True if a patch may change this member. */
bool rt_hook_event_replaces(const rt_hook_event *event, rt_str member);

#endif
