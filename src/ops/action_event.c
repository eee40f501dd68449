/* SPDX-License-Identifier: MIT
 *
 * The events of a request. They follow from its effects, which are tried in memory: so an append
 * that branches has the event of a new take, and a deletion of the last entry of a role has that
 * role, regardless of the operation. */
#include "ops/action_impl.h"
#include "ops/ops.h"

#include <stdio.h>

enum { NAMES_MAX = 32 /* distinct roles and kinds of one event */ };

/* The state of c before the request. */
typedef struct mark {
	const rt_project *now; /* ours */
	size_t effects, bodies, views;
	uint64_t next_body;
	uint32_t next_entry;
} mark;

/* ---- which ---- */

/* All events that the request can have. Settings, labels, views, names and the lists of roles,
 * files and presets have no events; nor has purge, which no hook may delay. */
static unsigned
possible(const rt_request *r)
{
	return r->invalid == NULL ? rt_ops[r->op].events : 0;
}

bool
rt_action_concerns(const rt_action_state *a, const rt_request *request)
{
	return (possible(request) & (a->before | a->after)) != 0;
}

void
rt_action_item_init(rt_action_state *a, rt_action_item *item, const rt_request *request)
{
	*item = (rt_action_item){.request = *request,
				 .subject = rt_scope_buf(&a->scope),
				 .made = rt_scope_buf(&a->scope),
				 .switched = rt_scope_buf(&a->scope),
				 .moved = rt_scope_buf(&a->scope)};
}

rt_hook_call
rt_action_hook_call(const rt_action_state *a, rt_place place, rt_place_ids *room)
{
	*room = rt_place_ids_of(place);
	return (rt_hook_call){.engine = a->engine,
			      .hooks = a->with->hooks,
			      .by = a->with->by,
			      .discussion = rt_str_of(room->disc),
			      .take = rt_str_of(room->take),
			      .stop = a->with->stop,
			      .ctx = a->with->ctx,
			      .notes = a->with->notes};
}

/* ---- trying ---- */

static mark
mark_at(const rt_change *c)
{
	return (mark){rt_object_ref(c->now), c->effect_count, c->body_count, c->view_count,
		      c->next_body,          c->next_entry};
}

/* As if the later requests had never been tried. */
static void
back_to(rt_change *c, const mark *m)
{
	rt_object_unref(c->now);
	c->now = rt_object_ref(m->now);
	c->effect_count = m->effects;
	c->body_count = m->bodies;
	c->view_count = m->views;
	c->next_body = m->next_body;
	c->next_entry = m->next_entry;
}

static void
find_place(rt_action_state *a, rt_action_item *item, rt_change *c)
{
	rt_change_find_place(c, &item->request, a->disc, a->take);
	if (rt_change_ok(c))
		item->place = c->place;
}

/* A failure of the scope of the whole call fails the trial, too. */
static void
check_memory(const rt_action_state *a, rt_change *c)
{
	(void)rt_scope_adopt(c->scope, &a->scope);
}

/* The id of the entry that an address means; empty: unchanged. New entries of this step may get
 * another number on execution. */
static void
id_of(const rt_change *c, const rt_action_item *item, rt_str address, char *out)
{
	bool whole = (possible(&item->request) & (RT_EVENT_TAKE | RT_EVENT_HEAD)) != 0;
	uint32_t entry = 0;

	out[0] = '\0';
	if (rt_resolve_entry(c->now, c->place, address, false, &entry, NULL) != RT_OK &&
	    (!whole || rt_resolve_entry(c->now, c->place, address, true, &entry, NULL) != RT_OK))
		return;
	if (entry == 0 || entry >= c->base->next_entry ||
	    rt_entry_id(c->now, entry, out, NULL) != RT_OK)
		out[0] = '\0';
}

/* Ids in place of addresses: while hooks run, ":7" may come to mean another entry. */
static void
pin(rt_action_state *a, rt_action_item *item, rt_change *c)
{
	for (const rt_op_field *f = rt_ops[item->request.op].fields;
	     f->name != NULL && rt_change_ok(c); f++) {
		rt_str *address = (rt_str *)((char *)&item->request + f->offset);
		char id[RT_ID_MAX + 1];

		if (f->type != RT_FIELD_ADDRESS || address->ptr == NULL || rt_str_is_null(*address))
			continue;
		id_of(c, item, *address, id);
		if (id[0] != '\0' && !rt_str_is(*address, id))
			*address = rt_scope_copy(&a->scope, rt_str_of(id));
		check_memory(a, c);
	}
}

/* Each role and kind once. */
static void
add_names(rt_action_item *item, const rt_effect_slot *slots, size_t count)
{
	const rt_effect_slot *seen[NAMES_MAX];
	size_t known = 0;

	for (size_t i = 0; i < count; i++) {
		size_t k = 0;

		while (k < known && !(rt_str_eq(seen[k]->role, slots[i].role) &&
				      rt_str_eq(seen[k]->kind, slots[i].kind)))
			k++;
		if (k < known)
			continue;
		rt_hook_call_add_subject(item->subject, slots[i].role, slots[i].kind);
		if (known < NAMES_MAX)
			seen[known++] = &slots[i];
	}
}

/* The entries that the request concerns: those it adds, else those that it changes. */
static void
find_entries(rt_action_item *item, rt_change *c, const mark *m)
{
	bool adds = (possible(&item->request) & RT_EVENT_ADD) != 0;

	rt_buf_clear(item->subject);
	rt_hook_subject_add(item->subject, "op", rt_str_of(rt_ops[item->request.op].name));
	item->entry[0] = '\0';
	for (size_t i = m->effects; i < c->effect_count; i++) {
		const rt_effect *e = &c->effects[i];

		if (e->kind != RT_EFFECT_SPLICE)
			continue;
		add_names(item, adds ? e->added : e->removed,
			  adds ? e->added_count : e->removed_count);
		if (!adds && item->entry[0] == '\0' && e->removed_count > 0)
			RT_TRY(c->scope, rt_entry_id(c->now, e->removed[0].slot.entry, item->entry,
						     &c->scope->error));
	}
	RT_TRY(c->scope, item->subject->status);
}

static bool
makes_take(const rt_change *c, const mark *m)
{
	for (size_t i = m->effects; i < c->effect_count; i++)
		if (c->effects[i].kind == RT_EFFECT_NEW &&
		    (c->effects[i].disc != 0 || c->effects[i].from_disc != 0))
			return true;
	return false;
}

/* Compiles it onto c and inspects its effects. */
static void
try(rt_action_item *item, rt_change *c, const mark *m)
{
	rt_result result = {0};

	c->result = &result;
	rt_compile(c, &item->request);
	c->result = NULL;
	rt_result_deinit(&result);
	if (rt_change_ok(c))
		find_entries(item, c, m);
	if (!rt_change_ok(c))
		return;
	item->happens = c->effect_count > m->effects ? possible(&item->request) : 0;
	if (!makes_take(c, m))
		item->happens &= ~(unsigned)RT_EVENT_TAKE;
	if (m->now->active == c->now->active)
		item->happens &= ~(unsigned)RT_EVENT_SWITCH;
}

/* ---- asking ---- */

/* NULL after a failure, and if a hook denied it. */
static const rt_hook_answer *
ask(rt_action_state *a, const rt_action_item *item, rt_change *c, const char *event,
    const rt_buf *members, rt_str subject)
{
	rt_place_ids room;
	rt_hook_call h = rt_action_hook_call(a, item->place, &room);

	return rt_hook_call_ask(c->scope, &h, event, members, subject);
}

/* Another operation of the same kind in its place; false: none. */
static bool
apply_patch(rt_action_state *a, rt_action_item *item, rt_change *c, const rt_hook_answer *answer)
{
	const char *now = rt_ops[item->request.op].name;
	yyjson_val *patch;
	rt_str name;

	if (answer == NULL)
		return false;
	patch = rt_hook_call_patched(&a->scope, answer, "op");
	check_memory(a, c);
	if (patch == NULL)
		return false;
	name = rt_json_str(rt_json_get(patch, "op"));
	if (!rt_str_is(name, now))
		rt_scope_fail(c->scope, RT_USAGE,
			      "hook %.*s replaced the operation with \"%.*s\" instead of %s; "
			      "hooks can change the fields of an operation, not its type",
			      RT_STR_ARG(rt_buf_str(&answer->by)), (int)rt_utf8_cut(name, 80),
			      name.ptr == NULL ? "" : name.ptr, now);
	RT_TRY(c->scope, rt_request_read(patch, &item->request, &c->scope->error));
	return rt_change_ok(c);
}

static void
add_entry(rt_action_state *a, rt_change *c, const rt_effect_slot *slot, rt_buf *members)
{
	RT_TRY(c->scope, rt_hook_call_add_entry(a->engine, c->now, slot, c, members,
						&c->scope->error));
}

/* The present state of the entries that are removed or changed: the first, and all if there are
 * several and all of them are removed. */
static void
add_entries(rt_action_state *a, rt_change *c, const mark *m, bool all, rt_buf *members)
{
	const rt_effect_slot *first = NULL;
	size_t count = 0;

	for (size_t i = m->effects; i < c->effect_count; i++) {
		const rt_effect *e = &c->effects[i];

		if (e->kind == RT_EFFECT_SPLICE && e->removed_count > 0) {
			first = first == NULL ? e->removed : first;
			count += e->removed_count;
		}
	}
	rt_json_add_key(members, "entry");
	if (first != NULL)
		add_entry(a, c, first, members);
	else
		rt_buf_add_c(members, "null");
	if (!all || count < 2)
		return;
	rt_json_open(members, "entries", '[');
	for (size_t i = m->effects; i < c->effect_count; i++)
		for (size_t k = 0; c->effects[i].kind == RT_EFFECT_SPLICE &&
				   k < c->effects[i].removed_count;
		     k++)
			add_entry(a, c, &c->effects[i].removed[k], members);
	rt_json_close(members, ']');
}

/* True: a hook replaced the request. */
static bool
ask_entry(rt_action_state *a, rt_action_item *item, rt_change *c, const mark *m)
{
	unsigned what = item->happens & a->before;
	const char *event = (what & RT_EVENT_ADD) != 0      ? "entry.before_add"
			    : (what & RT_EVENT_EDIT) != 0   ? "entry.before_edit"
			    : (what & RT_EVENT_ROLE) != 0   ? "entry.before_role"
			    : (what & RT_EVENT_DELETE) != 0 ? "entry.before_delete"
							    : NULL;
	rt_buf *members;

	if (event == NULL || !rt_change_ok(c))
		return false;
	members = rt_scope_buf(c->scope);
	rt_json_add_key(members, "op");
	rt_request_write(members, &item->request);
	if ((what & RT_EVENT_ADD) == 0)
		add_entries(a, c, m, (what & RT_EVENT_DELETE) != 0, members);
	return apply_patch(a, item, c, ask(a, item, c, event, members, rt_buf_str(item->subject)));
}

/* Where a take, or a discussion, diverges from the old one. */
static void
ask_take(rt_action_state *a, rt_action_item *item, rt_change *c, const mark *m)
{
	const rt_effect *e = &c->effects[m->effects];
	rt_buf *members = rt_scope_buf(c->scope);
	const rt_disc *disc;
	const rt_take *from;
	rt_slot slot = {0};

	while (e->kind != RT_EFFECT_NEW)
		e++;
	RT_TRY(c->scope, rt_project_disc(m->now, e->disc != 0 ? e->disc : e->from_disc, &disc,
					 &c->scope->error));
	if (!rt_change_ok(c))
		return;
	from = rt_disc_take(disc, e->from_take);
	if (e->count > 0)
		RT_TRY(c->scope, rt_seq_copy(from->slots, (size_t)e->count - 1, 1, &slot,
					     &c->scope->error));
	RT_TRY(c->scope, rt_hook_call_add_id(m->now, item->made, "entryId", slot.entry,
					     &c->scope->error));
	rt_buf_add_str(members, rt_buf_str(item->made));
	rt_json_put_str(members, "name", e->name);
	rt_json_put_str(item->made, "previous", rt_text_str(from->name));
	if ((a->before & RT_EVENT_TAKE) != 0)
		(void)ask(a, item, c, "take.before_create", members, RT_STR(""));
}

static void
ask_switch(rt_action_state *a, rt_action_item *item, rt_change *c, const mark *m)
{
	rt_buf *members = rt_scope_buf(c->scope);
	rt_str reason = RT_STR("resume");

	for (size_t i = m->effects; i < c->effect_count; i++)
		if (c->effects[i].kind == RT_EFFECT_NEW)
			reason = RT_STR("new");
	rt_json_put_str(item->switched, "previous",
			rt_cell_name(rt_project_cell(m->now, m->now->active)));
	rt_json_put_str(item->switched, "reason", reason);
	rt_json_put_str(members, "target",
			rt_cell_name(rt_project_cell(c->now, c->now->active)));
	rt_json_put_str(members, "reason", reason);
	if ((a->before & RT_EVENT_SWITCH) != 0)
		(void)ask(a, item, c, "session.before_switch", members, RT_STR(""));
}

/* ---- the head ---- */

typedef struct path {
	const rt_take *take;
	size_t count; /* entries before the head */
	uint32_t leaf;
} path;

static path
path_of(rt_change *c, const rt_project *value, uint32_t number)
{
	path p = {0};
	const rt_disc *disc;
	rt_slot slot = {0};

	RT_TRY(c->scope, rt_project_disc(value, number, &disc, &c->scope->error));
	if (!rt_change_ok(c))
		return p;
	p.take = rt_disc_take(disc, disc->active);
	RT_TRY(c->scope, rt_disc_head_at(value, disc, &p.count, &c->scope->error));
	if (p.count > 0)
		RT_TRY(c->scope, rt_seq_copy(p.take->slots, p.count - 1, 1, &slot,
					     &c->scope->error));
	p.leaf = slot.entry;
	return p;
}

/* The branch that is left: from the old leaf back to the fork or to a compaction. */
static rt_hook_call_leaving
find_left(rt_change *c, const path *old, const path *new)
{
	size_t least = old->count < new->count ? old->count : new->count, common = 0, first;
	rt_slot *slots = rt_scope_array(c->scope, old->count, sizeof(*slots));
	rt_slot *other = rt_scope_array(c->scope, least, sizeof(*other));
	rt_str kind = {NULL, 0};

	RT_TRY(c->scope, rt_seq_copy(old->take->slots, 0, old->count, slots, &c->scope->error));
	RT_TRY(c->scope, rt_seq_copy(new->take->slots, 0, least, other, &c->scope->error));
	if (!rt_change_ok(c))
		return (rt_hook_call_leaving){0};
	while (common < least && slots[common].entry == other[common].entry)
		common++;
	for (first = old->count; first > common; first--) {
		if (slots[first - 1].kind == 0)
			continue;
		RT_TRY(c->scope, rt_project_name(c->now, slots[first - 1].kind, &kind,
						 &c->scope->error));
		if (rt_str_is(kind, "compaction"))
			break;
	}
	return (rt_hook_call_leaving){.target = new->leaf,
				      .leaf = old->leaf,
				      .ancestor = common > 0 ? slots[common - 1].entry : 0,
				      .slots = slots + first,
				      .count = old->count - first};
}

static void
ask_head(rt_action_state *a, rt_action_item *item, rt_change *c, const mark *m)
{
	path old = path_of(c, m->now, item->place.disc), new = path_of(c, c->now, item->place.disc);
	rt_buf *members = rt_scope_buf(c->scope);
	rt_hook_call_leaving leaving;

	if (!rt_change_ok(c))
		return;
	if (old.take->number == new.take->number && old.count == new.count) {
		item->happens &= ~(unsigned)RT_EVENT_HEAD; /* another take was deleted */
		return;
	}
	RT_TRY(c->scope, rt_hook_call_add_id(c->now, item->moved, "newLeafId", new.leaf,
					     &c->scope->error));
	RT_TRY(c->scope, rt_hook_call_add_id(c->now, item->moved, "oldLeafId", old.leaf,
					     &c->scope->error));
	if ((a->before & RT_EVENT_HEAD) == 0)
		return;
	leaving = find_left(c, &old, &new);
	RT_TRY(c->scope, rt_hook_call_add_preparation(a->engine, c->now, &leaving, c, members,
						      &c->scope->error));
	rt_json_put_null(members, "customInstructions");
	rt_json_put_null(members, "model");
	(void)ask(a, item, c, "head.before_move", members, RT_STR(""));
}

/* ---- all of it ---- */

void
rt_action_ask_hooks(rt_action_state *a, rt_action_item *item, rt_change *c)
{
	unsigned wanted = a->before | a->after;
	mark m;

	find_place(a, item, c);
	if (!rt_change_ok(c))
		return;
	/* used if the trial fails and it is executed anyway */
	item->happens = possible(&item->request) & (RT_EVENT_ENTRY | RT_EVENT_UNDO | RT_EVENT_REDO);
	if ((rt_ops[item->request.op].flags & RT_OP_ALONE) != 0)
		return; /* not compiled; no hooks are called */
	pin(a, item, c);
	m = mark_at(c);
	if (rt_change_ok(c))
		try(item, c, &m);
	if (ask_entry(a, item, c, &m)) {
		back_to(c, &m);
		find_place(a, item, c);
		pin(a, item, c);
		if (rt_change_ok(c))
			try(item, c, &m);
	}
	if (rt_change_ok(c) && (item->happens & wanted & RT_EVENT_TAKE) != 0)
		ask_take(a, item, c, &m);
	if (rt_change_ok(c) && (item->happens & wanted & RT_EVENT_SWITCH) != 0)
		ask_switch(a, item, c, &m);
	if (rt_change_ok(c) && (item->happens & wanted & RT_EVENT_HEAD) != 0)
		ask_head(a, item, c, &m);
	rt_object_unref(m.now);
}

/* ---- notifying ---- */

/* The slot of an entry as a take, or the take that holds it, shows it. */
static bool
find_slot(const rt_project *value, rt_place place, uint32_t entry, rt_slot *out, rt_scope *s)
{
	const rt_disc *disc;
	const rt_take *take;
	uint32_t number = place.take;
	size_t at;
	bool found = false;

	if (RT_TRY(s, rt_project_disc(value, place.disc, &disc, &s->error)) != RT_OK)
		return false;
	take = rt_disc_take(disc, number);
	if (take != NULL && take->present)
		RT_TRY(s, rt_take_find(value, take, entry, &at, out, &found, &s->error));
	if (!rt_ok(s) || found)
		return found;
	RT_TRY(s, rt_take_holding(value, disc, entry, &number, &at, &s->error));
	if (!rt_ok(s) || number == 0)
		return false;
	return RT_TRY(s, rt_seq_copy(rt_disc_take(disc, number)->slots, at, 1, out, &s->error)) ==
	       RT_OK;
}

/* The entry right after the row; null: it does not exist (any more). */
static void
add_entry_now(const rt_action_state *a, const rt_action_item *item, const rt_result *result,
	      rt_buf *out)
{
	rt_str id = rt_str_of(item->entry[0] != '\0' ? item->entry : result->entry);
	const rt_project *value = NULL;
	size_t size = out->size;
	uint32_t entry = 0;
	rt_effect_slot named;
	rt_slot slot;
	rt_scope s;

	rt_scope_init(&s, a->engine->alloc);
	if ((item->happens & RT_EVENT_DELETE) != 0 || id.size == 0)
		rt_scope_note(&s, RT_NOT_FOUND);
	RT_TRY(&s, rt_engine_value_at(a->engine, result->seq, &value, NULL));
	RT_TRY(&s, rt_resolve_entry(value, item->place, id, true, &entry, NULL));
	if (rt_ok(&s) && !find_slot(value, item->place, entry, &slot, &s))
		rt_scope_note(&s, RT_NOT_FOUND);
	RT_TRY(&s, rt_hook_call_name(value, &slot, &named, NULL));
	RT_TRY(&s, rt_hook_call_add_entry(a->engine, value, &named, NULL, out, NULL));
	if (!rt_ok(&s)) {
		out->size = size;
		rt_buf_add_c(out, "null");
	}
	rt_object_unref(value);
	rt_scope_deinit(&s);
}

static void
notify_entry(const rt_action_state *a, const rt_action_item *item, const rt_hook_call *h,
	     const rt_result *result, rt_scope *s)
{
	rt_buf *members = rt_scope_buf(s);

	rt_json_add_key(members, "op");
	rt_request_write(members, &item->request);
	rt_json_add_key(members, "entry");
	add_entry_now(a, item, result, members);
	rt_json_put_u64(members, "seq", result->seq);
	rt_hook_call_notify(h, "entry.after", members, item->subject);
}

/* undo.after with the steps that were undone, redo.after with those that were redone. */
static void
notify_moves(const rt_action_state *a, const rt_action_item *item, const rt_hook_call *h,
	     const rt_result *result, rt_scope *s)
{
	static const struct {
		const char *event;
		unsigned what;
		int direction;
	} ways[] = {{"undo.after", RT_EVENT_UNDO, -1}, {"redo.after", RT_EVENT_REDO, 1}};
	rt_record_move reverted = {.step = item->request.step.value, .direction = -1};
	rt_record record = {.moves = &reverted, .move_count = 1};

	if (item->request.op != RT_OP_REVERT) {
		rt_arena *arena = rt_scope_arena(s);

		if (arena == NULL || rt_engine_record(a->engine, result->move_seq, arena, &record,
						      NULL, NULL) != RT_OK)
			return;
	}
	for (size_t i = 0; i < 2; i++) {
		rt_buf *members = rt_scope_buf(s);
		size_t count = 0;

		rt_json_open(members, "steps", '[');
		for (size_t k = 0; k < record.move_count; k++)
			if (record.moves[k].direction == ways[i].direction) {
				rt_json_put_u64(members, NULL, record.moves[k].step);
				count++;
			}
		rt_json_close(members, ']');
		rt_json_put_u64(members, "seq", result->seq);
		if (count > 0 && (a->after & ways[i].what) != 0)
			rt_hook_call_notify(h, ways[i].event, members, NULL);
	}
}

void
rt_action_notify_hooks(rt_action_state *a, rt_action_item *item, const rt_result *result)
{
	unsigned what = item->happens & a->after;
	rt_place_ids room;
	rt_scope s;

	if (what == 0)
		return;
	rt_scope_init(&s, a->engine->alloc);
	rt_hook_call h = rt_action_hook_call(a, item->place, &room);
	if ((what & RT_EVENT_ENTRY) != 0)
		notify_entry(a, item, &h, result, &s);
	if ((what & RT_EVENT_TAKE) != 0) {
		rt_json_put_str(item->made, "name", rt_str_of(result->take));
		rt_hook_call_notify(&h, "take.created", item->made, NULL);
	}
	if ((what & RT_EVENT_SWITCH) != 0) {
		h = rt_action_hook_call(a, (rt_place){0, 0}, &room); /* the new active ones */
		rt_hook_call_notify(&h, "session.after_switch", item->switched, NULL);
	}
	if ((what & RT_EVENT_HEAD) != 0)
		rt_hook_call_notify(&h, "head.after_move", item->moved, NULL);
	if ((what & (RT_EVENT_UNDO | RT_EVENT_REDO)) != 0)
		notify_moves(a, item, &h, result, &s);
	rt_scope_deinit(&s);
}

void
rt_action_notify_switch(rt_action_state *a, uint32_t was, rt_str previous, bool is_new)
{
	const rt_project *value = rt_engine_value(a->engine);
	rt_place_ids room;
	rt_hook_call h = rt_action_hook_call(a, (rt_place){0, 0}, &room);
	rt_scope s;

	rt_scope_init(&s, a->engine->alloc);
	rt_buf *members = rt_scope_buf(&s);
	rt_json_put_str(members, "previous", previous);
	rt_json_put_c(members, "reason", is_new ? "new" : "resume");
	if (value->active != was)
		rt_hook_call_notify(&h, "session.after_switch", members, NULL);
	rt_object_unref(value);
	rt_scope_deinit(&s);
}
