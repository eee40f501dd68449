/* SPDX-License-Identifier: MIT
 *
 * What the engine tells hooks with every event, and how it asks them. */
#ifndef RT_ENGINE_HOOKED_H
#define RT_ENGINE_HOOKED_H

#include "engine/engine_impl.h"
#include "engine/hook.h"

/* Where something happens, for the event's object and for what matchers look at. */
typedef struct rt_hooked {
	rt_engine *engine;
	rt_hooks *hooks;       /* NULL: nobody is told */
	rt_str discussion, take; /* addresses; empty: the active ones */
	rt_stop_fn stop;       /* or NULL */
	void *ctx;
	rt_buf *notes;         /* what hooks want people to know is added, a line each */
} rt_hooked;

bool rt_hooked_wants(const rt_hooked *h, const char *event);
/* Fire an event: members as `"key":value,…`; subject: further `key=value` words (may be
 * empty). *answer is initialised in any case; deinit it. RT_DENIED: a hook said no, and
 * err says which and why. */
RT_CHECKED rt_status rt_hooked_fire(const rt_hooked *h, const char *event, rt_str members,
				    rt_str subject, rt_hook_answer *answer, rt_error *err);
/* A member of the answer's patch, as JSON text appended to out; false: it has none. */
bool rt_hooked_patch(const rt_hooked *h, const rt_hook_answer *answer, const char *key,
		     rt_buf *out);

#endif
