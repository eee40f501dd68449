/* SPDX-License-Identifier: MIT
 *
 * Shared by action.c (asking hooks, executing, notifying) and action_event.c (the events of a
 * request and their members). */
#ifndef RT_OPS_ACTION_IMPL_H
#define RT_OPS_ACTION_IMPL_H

#include "ops/action.h"
#include "ops/hook_call.h"

typedef struct rt_action_state {
	rt_engine *engine;
	const rt_apply_context *with;
	rt_scope scope;         /* of the requests as executed, and of events */
	unsigned before, after; /* RT_EVENT_ that hooks want */
	rt_str disc, take;      /* where requests without a place work */
} rt_action_state;

/* A request in progress. */
typedef struct rt_action_item {
	rt_request request; /* the request to execute */
	rt_place place;
	unsigned happens;   /* RT_EVENT_ of all its effects */
	char entry[RT_ID_MAX + 1]; /* that is changed; empty: the result has it */
	/* in the scope of the call */
	rt_buf *subject; /* op=… role=… kind=… */
	rt_buf *made;    /* members of take.created except the name; likewise for the others */
	rt_buf *switched;
	rt_buf *moved;
} rt_action_item;

/* The initial settings of a project without any history (rt_engine_options). */
rt_status rt_defaults_apply(rt_engine *engine, rt_error *err);

void rt_action_item_init(rt_action_state *a, rt_action_item *item, const rt_request *request);

/* May this request have an event that is wanted? Cheap. */
bool rt_action_concerns(const rt_action_state *a, const rt_request *request);
/* Tries it on c, and calls the hooks. Afterwards c has the effects of item->request, or its scope
 * has failed: with RT_DENIED, or with the error of executing it. */
void rt_action_ask_hooks(rt_action_state *a, rt_action_item *item, rt_change *c);
/* It was done. */
void rt_action_notify_hooks(rt_action_state *a, rt_action_item *item, const rt_result *result);
/* A hook call for a place, to be passed to rt_hook_call_fire; the caller provides the buffers
 * for the addresses. */
rt_hook_call rt_action_hook_call(const rt_action_state *a, rt_place place, rt_place_ids *room);

/* A file as described to hooks. */
void rt_action_add_file(const rt_action_file *file, rt_buf *members, rt_buf *subject);

/* session.after_switch, if the active discussion has changed. previous: the name of the previous
 * one. */
void rt_action_notify_switch(rt_action_state *a, uint32_t was, rt_str previous, bool is_new);

#endif
