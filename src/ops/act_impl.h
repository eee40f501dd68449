/* SPDX-License-Identifier: MIT
 *
 * What act.c (requests asked, done and told) and act_event.c (which events a request has, and
 * what they say) share. */
#ifndef RT_OPS_ACT_IMPL_H
#define RT_OPS_ACT_IMPL_H

#include "ops/act.h"
#include "ops/hooked.h"

/* What may happen, and which of it somebody wants to be asked or told of. */
enum {
	RT_ACT_ADD = 1 << 0,
	RT_ACT_EDIT = 1 << 1,
	RT_ACT_DELETE = 1 << 2,
	RT_ACT_ROLE = 1 << 3,
	RT_ACT_ENTRY = 1 << 4,  /* entry.after */
	RT_ACT_TAKE = 1 << 5,   /* a take, or a discussion, is made from an entry on */
	RT_ACT_HEAD = 1 << 6,
	RT_ACT_SWITCH = 1 << 7, /* another discussion */
	RT_ACT_UNDO = 1 << 8,
	RT_ACT_REDO = 1 << 9
};

typedef struct rt_acting {
	rt_engine *engine;
	const rt_act_with *with;
	unsigned before, after; /* what is wanted */
	rt_str disc, take;      /* where requests work that name none */
} rt_acting;

/* One request on its way. */
typedef struct rt_act_item {
	yyjson_val *request; /* what is carried out */
	rt_json_doc *doc;    /* holds it where it is not the caller's; or NULL */
	const rt_op *op;     /* NULL: it is no operation */
	rt_place place;
	unsigned happens;    /* RT_ACT_ of all that it does */
	char entry[RT_ID_MAX + 1]; /* that is changed; empty: the result has it */
	rt_buf subject;      /* op=… role=… kind=… */
	rt_buf made;         /* members of take.created but for the name; so for the others */
	rt_buf switched;
	rt_buf moved;
} rt_act_item;

void rt_act_item_init(const rt_acting *a, rt_act_item *item, yyjson_val *request);
void rt_act_item_deinit(rt_act_item *item);

/* May this request have an event that is wanted? Cheap. */
bool rt_act_concerns(const rt_acting *a, yyjson_val *request);
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
