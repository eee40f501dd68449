/* SPDX-License-Identifier: MIT
 *
 * Hooks: programs of the user that run before and after an event and may deny it, change it, or do
 * it themselves. This is the engine's interface to them; src/hooks/ finds, trusts and runs them.
 *
 * Threads: the implementation locks itself. */
#ifndef RT_OPS_HOOK_H
#define RT_OPS_HOOK_H

#include "base/env.h"
#include "codec/json.h"

typedef enum rt_hook_decision {
	RT_HOOK_ALLOW,
	RT_HOOK_DENY,   /* "decision":"deny", or "cancel":true, or exit status 2 */
	RT_HOOK_REPLACE /* "decision":"replace": patch has the new members */
} rt_hook_decision;

/* The combined answer of an event's hooks: called in the order of the configuration, each with the
 * result of the previous ones; the first DENY ends it. Its texts are untrusted: valid UTF-8, but
 * not safe for a terminal. */
typedef struct rt_hook_answer {
	rt_hook_decision decision;
	rt_buf reason;  /* for the user: the reason; empty: none is shown ("cancel" without it) */
	rt_buf patch;   /* JSON object: the members of the event that hooks changed, each complete,
			 * as the last of them left it; empty: none */
	rt_buf summary; /* JSON value of the field "summary": an object with the string "summary"
	                   and perhaps "details" (seeds 2 and 4); empty: none */
	rt_buf by;      /* the name of the hook that denied, or replaced or summarised last */
	rt_buf notes;   /* other notes for the user, one a line: warnings too */
	rt_buf runs;    /* JSON array, for the log: of each hook that was run its name, how it
	                   ended, the time it took, and the hash it is trusted by */
} rt_hook_answer;

void rt_hook_answer_init(rt_hook_answer *answer, const rt_alloc *alloc);
void rt_hook_answer_deinit(rt_hook_answer *answer);
/* No answer, allowed; keeps its memory. */
void rt_hook_answer_clear(rt_hook_answer *answer);

/* Adds "key=value" to a subject. White space in the value becomes "_", so that a subject is
 * words with one blank between them. A key may come several times. */
void rt_hook_subject_add(rt_buf *subject, const char *key, rt_str value);

typedef struct rt_hooks rt_hooks;

typedef struct rt_hooks_ops {
	void (*close)(rt_hooks *hooks);
	/* Is any hook subscribed to this event? Avoids building unneeded events. Cheap. */
	bool (*wants)(rt_hooks *hooks, const char *event);
	/* event: its name; members: those of the event's object besides "v", "event" and "id", as
	 * `"key":value,…` without braces. subject: what matchers are applied to, as
	 * rt_hook_subject_add writes it ("role=User kind=message"); may be empty. Waits for the
	 * answer, or (after-events of hooks that are "async") does not. stop: asked every 50 ms;
	 * true ends the hook; may be NULL. out: initialised; overwritten. RT_OK whatever the hooks
	 * answered; RT_DENIED: a hook that is "required" could not be run, timed out or answered
	 * wrongly; RT_INTERRUPTED; RT_NOMEM; RT_USAGE: unknown event or invalid members. */
	rt_status (*fire)(rt_hooks *hooks, const char *event, rt_str members, rt_str subject,
			  rt_stop_fn stop, void *stop_ctx, rt_hook_answer *out, rt_error *err);
	/* Called when an operation begins: loads hooks added, changed or removed since. If that
	 * fails, before-events are wanted and denied. Cheap if nothing has changed. NULL: never
	 * changes. */
	void (*renew)(rt_hooks *hooks);
} rt_hooks_ops;

struct rt_hooks {
	const rt_hooks_ops *ops;
	/* the following members belong to the implementation */
};

/* Calls renew if there is one; hooks may be NULL. */
void rt_hooks_renew(rt_hooks *hooks);

#endif
