/* SPDX-License-Identifier: MIT
 *
 * What act.c (requests asked, done and told) and act_event.c (which events a request has, and
 * what they say) share. */
#ifndef RT_OPS_ACT_IMPL_H
#define RT_OPS_ACT_IMPL_H

#include "ops/act.h"
#include "ops/hooked.h"

typedef struct rt_acting {
	rt_engine *engine;
	const rt_act_with *with;
	rt_scope scope;         /* what requests were changed to; deinit it */
	unsigned before, after; /* RT_EVENT_ that hooks want */
	rt_str disc, take;      /* where requests work that name none */
} rt_acting;

/* One request on its way. */
typedef struct rt_act_item {
	rt_request request; /* what is carried out */
	rt_place place;
	unsigned happens;   /* RT_EVENT_ of all that it does */
	char entry[RT_ID_MAX + 1]; /* that is changed; empty: the result has it */
	rt_buf subject;      /* op=… role=… kind=… */
	rt_buf made;         /* members of take.created but for the name; so for the others */
	rt_buf switched;
	rt_buf moved;
} rt_act_item;

void rt_act_item_init(const rt_acting *a, rt_act_item *item, const rt_request *request);
void rt_act_item_deinit(rt_act_item *item);

/* May this request have an event that is wanted? Cheap. */
bool rt_act_concerns(const rt_acting *a, const rt_request *request);
/* Try it on c, and ask the hooks. On RT_OK c has what item->request does. RT_DENIED;
 * otherwise what carrying it out would give. */
RT_CHECKED rt_status rt_act_ask(rt_acting *a, rt_act_item *item, rt_change *c, rt_error *err);
/* It was done. */
void rt_act_tell(rt_acting *a, rt_act_item *item, const rt_result *result);
/* Where it happens, for rt_hooked_fire; room for the addresses is the caller's. */
typedef struct rt_act_place {
	char disc[16], take[16];
} rt_act_place;
rt_hooked rt_act_hooked(const rt_acting *a, rt_place place, rt_act_place *room);

/* A file, as hooks are told of it. */
void rt_act_add_file(const rt_act_file *file, rt_buf *members, rt_buf *subject);

/* session.after_switch, when another discussion is active than was. previous: its name. */
void rt_act_tell_switch(rt_acting *a, uint32_t was, rt_str previous, bool is_new);

#endif
