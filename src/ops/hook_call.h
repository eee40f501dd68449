/* SPDX-License-Identifier: MIT
 *
 * What the engine tells hooks with every event, and how it asks them. */
#ifndef RT_OPS_HOOK_CALL_H
#define RT_OPS_HOOK_CALL_H

#include "log/engine_impl.h"
#include "ops/hook.h"

/* Where something happens, for the event's object and for what matchers look at. */
typedef struct rt_hook_call {
	rt_engine *engine;
	rt_hooks *hooks;       /* NULL: nobody is told */
	rt_str by;             /* who asks; empty: as the engine was opened */
	rt_str discussion, take; /* addresses; empty, or no longer there: the active ones */
	rt_stop_fn stop;       /* or NULL */
	void *ctx;
	rt_buf *notes;         /* what hooks want people to know is added, a line each */
} rt_hook_call;

bool rt_hook_call_wants(const rt_hook_call *h, const char *event);
/* Fire an event: members as `"key":value,…`; subject: further `key=value` words (may be
 * empty). *answer is initialised in any case; deinit it. RT_DENIED: a hook said no, and
 * err says which and why. No lock of the store or the engine may be held. */
RT_CHECKED rt_status rt_hook_call_fire(const rt_hook_call *h, const char *event, rt_str members,
				       rt_str subject, rt_hook_answer *answer, rt_error *err);
/* The same in a scope: members in a buffer, the answer lives as long as the scope. NULL after a
 * failure, RT_DENIED too. */
const rt_hook_answer *rt_hook_call_ask(rt_scope *s, const rt_hook_call *h, const char *event,
				       const rt_buf *members, rt_str subject);
/* A member of what hooks put in the place of others, in the scope; NULL: they left it. */
yyjson_val *rt_hook_call_patched(rt_scope *s, const rt_hook_answer *answer, const char *key);
/* The same for what has happened: what goes wrong is a note and nothing more. */
void rt_hook_call_notify(const rt_hook_call *h, const char *event, const rt_buf *members,
			 const rt_buf *subject);
/* Notes are lines: what is added next begins one. */
void rt_hook_call_next_note(rt_buf *notes);
/* A member of what hooks put in the place of others, as JSON text appended to out; *out_found
 * false: they left it as it was. What cannot be read is RT_NOMEM, never what it replaces. */
RT_CHECKED rt_status rt_hook_call_patch(const rt_hook_call *h, const rt_hook_answer *answer,
					const char *key, rt_buf *out, bool *out_found,
					rt_error *err);

/* ---- what events say ---- */

/* A string; null where it is empty. */
void rt_hook_call_add_known(rt_buf *buf, const char *key, rt_str text);
/* A slot with its names. */
RT_CHECKED rt_status rt_hook_call_name(const rt_project *value, const rt_slot *slot,
				       rt_effect_slot *out, rt_error *err);
/* role=… kind=…, for matchers. */
void rt_hook_call_add_subject(rt_buf *subject, rt_str role, rt_str kind);
/* An entry as an object: id, role, kind, content, its further fields. c: a change whose new
 * bodies count too; may be NULL. */
RT_CHECKED rt_status rt_hook_call_add_entry(rt_engine *engine, const rt_project *value,
					    const rt_effect_slot *slot, rt_change *c, rt_buf *out,
					    rt_error *err);
/* `"key":"id"`, or null where entry is 0. */
RT_CHECKED rt_status rt_hook_call_add_id(const rt_project *value, rt_buf *out, const char *key,
					 uint32_t entry, rt_error *err);

/* What is left when the head goes elsewhere (seed 4). */
typedef struct rt_hook_call_leaving {
	uint32_t target, leaf, ancestor; /* entries; 0: before the first */
	const rt_slot *slots;            /* what would be summed up */
	size_t count;
	bool wants_summary;
} rt_hook_call_leaving;

/* `"preparation":{…}` of head.before_move. */
RT_CHECKED rt_status rt_hook_call_add_preparation(rt_engine *engine, const rt_project *value,
						  const rt_hook_call_leaving *leaving, rt_change *c,
						  rt_buf *out, rt_error *err);

#endif
