/* SPDX-License-Identifier: MIT
 *
 * Firing events: the members of every event, and calling the hooks. */
#ifndef RT_OPS_HOOK_CALL_H
#define RT_OPS_HOOK_CALL_H

#include "log/engine_impl.h"
#include "ops/hook.h"

/* The place of an event, for its object and for matchers. */
typedef struct rt_hook_call {
	rt_engine *engine;
	rt_hooks *hooks;       /* NULL: no hooks */
	rt_str by;             /* the requester; empty: the one given when the engine was opened */
	rt_str discussion, take; /* addresses; empty, or no longer existing: the active ones */
	rt_stop_fn stop;       /* or NULL */
	void *ctx;
	rt_buf *notes;         /* notes of hooks for the user are added, a line each */
} rt_hook_call;

bool rt_hook_call_wants(const rt_hook_call *h, const char *event);
/* Fire an event: members as `"key":value,…`; subject: further `key=value` words (may be
 * empty). *answer is initialised in any case; deinit it. RT_DENIED: a hook denied it, and err has
 * its name and reason. No lock of the store or the engine may be held. */
RT_CHECKED rt_status rt_hook_call_fire(const rt_hook_call *h, const char *event, rt_str members,
				       rt_str subject, rt_hook_answer *answer, rt_error *err);
/* The same in a scope: members in a buffer, the answer lives as long as the scope. NULL after a
 * failure, RT_DENIED too. */
const rt_hook_answer *rt_hook_call_ask(rt_scope *s, const rt_hook_call *h, const char *event,
				       const rt_buf *members, rt_str subject);
/* A member that hooks replaced, in the scope; NULL: not replaced. */
yyjson_val *rt_hook_call_patched(rt_scope *s, const rt_hook_answer *answer, const char *key);
/* The same for after-events: failures are only notes. */
void rt_hook_call_notify(const rt_hook_call *h, const char *event, const rt_buf *members,
			 const rt_buf *subject);
/* Notes are lines: begins a new one. */
void rt_hook_call_next_note(rt_buf *notes);
/* Appends a member of the hooks' replacement to out as JSON text; *out_found false: unchanged. A
 * read failure is RT_NOMEM, never the replaced value. */
RT_CHECKED rt_status rt_hook_call_patch(const rt_hook_call *h, const rt_hook_answer *answer,
					const char *key, rt_buf *out, bool *out_found,
					rt_error *err);

/* ---- members of events ---- */

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

/* The branch that is left when the head moves (seed 4). */
typedef struct rt_hook_call_leaving {
	uint32_t target, leaf, ancestor; /* entries; 0: before the first */
	const rt_slot *slots;            /* which entries would be summarised */
	size_t count;
	bool wants_summary;
} rt_hook_call_leaving;

/* `"preparation":{…}` of head.before_move. */
RT_CHECKED rt_status rt_hook_call_add_preparation(rt_engine *engine, const rt_project *value,
						  const rt_hook_call_leaving *leaving, rt_change *c,
						  rt_buf *out, rt_error *err);

#endif
