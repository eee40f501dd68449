/* SPDX-License-Identifier: MIT
 *
 * Hooks: programs of the user that are told before and after something happens, and may
 * say no, change it, or do it themselves. This is what the engine knows of them; finding,
 * trusting and running them is in src/hooks/.
 *
 * Threads: the implementation locks itself. */
#ifndef RT_ENGINE_HOOK_H
#define RT_ENGINE_HOOK_H

#include "codec/json.h"
#include "engine/model.h"

typedef enum rt_hook_decision {
	RT_HOOK_ALLOW,
	RT_HOOK_DENY,   /* "decision":"deny", or "cancel":true, or exit status 2 */
	RT_HOOK_REPLACE /* "decision":"replace": patch says by what */
} rt_hook_decision;

/* What all hooks of an event together said: asked in the order of the configuration, each
 * given what the ones before it made of it; the first DENY ends it. */
typedef struct rt_hook_answer {
	rt_hook_decision decision;
	rt_buf reason; /* for people: why not, and who said so */
	rt_buf patch;  /* JSON object; empty: none */
	rt_buf summary;/* JSON value of the field "summary" (seeds 2 and 4); empty: none */
	rt_buf by;     /* the name of the hook that denied, replaced or summed up */
	rt_buf notes;  /* what else they wanted people to know, one a line: warnings too */
} rt_hook_answer;

void rt_hook_answer_init(rt_hook_answer *answer, const rt_alloc *alloc);
void rt_hook_answer_deinit(rt_hook_answer *answer);

typedef struct rt_hooks rt_hooks;

typedef struct rt_hooks_ops {
	void (*close)(rt_hooks *hooks);
	/* Is there anyone to ask? So that nobody builds an event in vain. Cheap. */
	bool (*wants)(rt_hooks *hooks, const char *event);
	/* event: its name; members: what the event's object has beside "v", "event" and "id",
	 * as `"key":value,…` without braces. subject: what matchers look at ("role=user …");
	 * may be empty. Waits for the answer, or (after-events of hooks that are "async")
	 * does not. stop: asked every 50 ms; true ends the hook.
	 * RT_OK whatever the hooks said; RT_DENIED: a hook that is "required" could not be
	 * run, or timed out; RT_INTERRUPTED; RT_NOMEM. */
	rt_status (*fire)(rt_hooks *hooks, const char *event, rt_str members, rt_str subject,
			  rt_stop_fn stop, void *stop_ctx, rt_hook_answer *out, rt_error *err);
} rt_hooks_ops;

struct rt_hooks {
	const rt_hooks_ops *ops;
	/* what follows belongs to the kind */
};

#endif
