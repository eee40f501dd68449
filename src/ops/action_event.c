/* SPDX-License-Identifier: MIT
 *
 * The events of a request. Which it has is read off its effects, tried in memory, so that an
 * append which branches makes a take, and a deletion of the last entry of a role has that
 * role, whatever the operation is called. */
#include "ops/action_impl.h"
#include "ops/ops.h"

#include <stdio.h>

enum { NAMES_MAX = 32 /* different roles and kinds of one event that are told apart */ };

/* What c was before the request. */
typedef struct mark {
	const rt_project *now; /* ours */
	size_t effects, bodies, views;
	uint64_t next_body;
	uint32_t next_entry;
} mark;

static rt_status
nomem(rt_error *err)
{
	return rt_fail(err, RT_NOMEM, "out of memory");
}

/* ---- which ---- */

/* All that the request can do. Settings, labels, views, names and the lists of roles, files and
 * presets have no events; nor has purge, which no hook may hold up. */
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
rt_action_item_init(const rt_action_state *a, rt_action_item *item, const rt_request *request)
{
	const rt_alloc *alloc = a->engine->alloc;

	memset(item, 0, sizeof(*item));
	item->request = *request;
	rt_buf_init(&item->subject, alloc, RT_BUF_UNLIMITED);
	rt_buf_init(&item->made, alloc, RT_BUF_UNLIMITED);
	rt_buf_init(&item->switched, alloc, RT_BUF_UNLIMITED);
	rt_buf_init(&item->moved, alloc, RT_BUF_UNLIMITED);
}

void
rt_action_item_deinit(rt_action_item *item)
{
	rt_buf_deinit(&item->subject);
	rt_buf_deinit(&item->made);
	rt_buf_deinit(&item->switched);
	rt_buf_deinit(&item->moved);
}

rt_hook_call
rt_action_hook_call(const rt_action_state *a, rt_place place, rt_action_place *room)
{
	room->disc[0] = room->take[0] = '\0';
	if (place.disc != 0)
		snprintf(room->disc, sizeof(room->disc), "d%u", place.disc);
	if (place.take != 0)
		snprintf(room->take, sizeof(room->take), "t%u", place.take);
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

/* As if what came since had never been tried. */
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

static rt_status
check(rt_action_state *a, rt_action_item *item, rt_change *c, rt_error *err)
{
	rt_status st;

	rt_change_find_place(c, &item->request, a->disc, a->take);
	st = rt_change_status(c, err);
	if (st == RT_OK)
		item->place = c->place;
	return st;
}

/* The id of the entry that an address means; empty: leave it as it is. What is new in this
 * very step may get another number when it is carried out. */
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

/* Ids in place of addresses: hooks take their time, and ":7" may be another one then. */
static rt_status
pin(rt_action_state *a, rt_action_item *item, const rt_change *c, rt_error *err)
{
	for (const rt_op_field *f = rt_ops[item->request.op].fields; f->name != NULL; f++) {
		rt_str *address = (rt_str *)((char *)&item->request + f->offset);
		char id[RT_ID_MAX + 1];

		if (f->type != RT_FIELD_ADDRESS || address->ptr == NULL || rt_str_is_null(*address))
			continue;
		id_of(c, item, *address, id);
		if (id[0] == '\0' || rt_str_is(*address, id))
			continue;
		*address = rt_scope_copy(&a->scope, rt_str_of(id));
		if (!rt_ok(&a->scope))
			return nomem(err);
	}
	return RT_OK;
}

/* Each role and kind once. */
static void
add_names(rt_action_item *item, const rt_effect_slot *slots, size_t count)
{
	const rt_effect_slot *seen[NAMES_MAX];
	size_t i, k, known = 0;

	for (i = 0; i < count; i++) {
		for (k = 0; k < known; k++)
			if (rt_str_eq(seen[k]->role, slots[i].role) &&
			    rt_str_eq(seen[k]->kind, slots[i].kind))
				break;
		if (k < known)
			continue;
		rt_hook_call_add_subject(&item->subject, slots[i].role, slots[i].kind);
		if (known < NAMES_MAX)
			seen[known++] = &slots[i];
	}
}

/* The entries that the request is about: those it adds, else those that it changes. */
static rt_status
find_entries(rt_action_item *item, const rt_change *c, const mark *m, rt_error *err)
{
	bool adds = (possible(&item->request) & RT_EVENT_ADD) != 0;
	size_t i;

	rt_buf_clear(&item->subject);
	rt_hook_subject_add(&item->subject, "op", rt_str_of(rt_ops[item->request.op].name));
	item->entry[0] = '\0';
	for (i = m->effects; i < c->effect_count; i++) {
		const rt_effect *e = &c->effects[i];

		if (e->kind != RT_EFFECT_SPLICE)
			continue;
		add_names(item, adds ? e->added : e->removed,
			  adds ? e->added_count : e->removed_count);
		if (!adds && item->entry[0] == '\0' && e->removed_count > 0 &&
		    rt_entry_id(c->now, e->removed[0].slot.entry, item->entry, err) != RT_OK)
			return err != NULL ? err->status : RT_CORRUPT;
	}
	return item->subject.status == RT_OK ? RT_OK : nomem(err);
}

/* Compile it onto c, and see what it does. */
static rt_status
try(rt_action_item *item, rt_change *c, const mark *m, rt_error *err)
{
	rt_result result;
	bool made = false;
	size_t i;
	rt_status st;

	memset(&result, 0, sizeof(result));
	c->result = &result;
	rt_compile(c, &item->request);
	st = rt_change_status(c, err);
	c->result = NULL;
	rt_result_deinit(&result);
	if (st == RT_OK)
		st = find_entries(item, c, m, err);
	if (st != RT_OK)
		return st;
	item->happens = 0;
	if (c->effect_count == m->effects)
		return RT_OK;
	for (i = m->effects; i < c->effect_count; i++)
		made = made || (c->effects[i].kind == RT_EFFECT_NEW &&
				(c->effects[i].disc != 0 || c->effects[i].from_disc != 0));
	item->happens = possible(&item->request);
	if (!made)
		item->happens &= ~(unsigned)RT_EVENT_TAKE;
	if (m->now->active == c->now->active)
		item->happens &= ~(unsigned)RT_EVENT_SWITCH;
	return RT_OK;
}

/* ---- asking ---- */

static rt_status
ask(rt_action_state *a, const rt_action_item *item, const char *event, const rt_buf *members,
    rt_str subject, rt_hook_answer *answer, rt_error *err)
{
	rt_action_place room;
	rt_hook_call h = rt_action_hook_call(a, item->place, &room);

	if (members->status == RT_OK)
		return rt_hook_call_fire(&h, event, rt_buf_str(members), subject, answer, err);
	rt_hook_answer_init(answer, a->engine->alloc);
	return nomem(err);
}

static rt_status
ask_plainly(rt_action_state *a, const rt_action_item *item, const char *event,
	    const rt_buf *members, rt_error *err)
{
	rt_hook_answer answer;
	rt_status st = ask(a, item, event, members, rt_str_at("", 0), &answer, err);

	rt_hook_answer_deinit(&answer);
	return st;
}

static void
free_doc(void *item)
{
	rt_json_free(item);
}

/* Another operation of the same kind in its place. */
static rt_status
apply_patch(rt_action_state *a, rt_action_item *item, const rt_hook_answer *answer,
	    bool *out_patched, rt_error *err)
{
	rt_action_place room;
	rt_hook_call h = rt_action_hook_call(a, item->place, &room);
	const char *now = rt_ops[item->request.op].name;
	rt_json_doc *doc = NULL;
	bool found = false;
	rt_str name;
	rt_buf json;
	rt_status st;

	rt_buf_init(&json, a->engine->alloc, RT_BUF_UNLIMITED);
	st = rt_hook_call_patch(&h, answer, "op", &json, &found, err);
	if (st == RT_OK && found)
		st = rt_json_read(a->engine->alloc, rt_buf_str(&json), &doc, err);
	rt_buf_deinit(&json);
	if (st != RT_OK || !found)
		return st;
	rt_scope_defer(&a->scope, free_doc, doc);
	if (!rt_ok(&a->scope))
		return nomem(err);
	name = rt_json_str(rt_json_get(rt_json_root(doc), "op"));
	if (!rt_str_is(name, now))
		return rt_fail(err, RT_USAGE,
			       "hook %.*s puts \"%.*s\" in the place of %s; it may change the "
			       "fields of an operation, not which one it is",
			       RT_STR_ARG(rt_buf_str(&answer->by)), (int)rt_utf8_cut(name, 80),
			       name.ptr == NULL ? "" : name.ptr, now);
	st = rt_request_read(rt_json_root(doc), &item->request, err);
	*out_patched = st == RT_OK;
	return st;
}

/* The entries that are taken out or changed, as they are: the first, and all where there are
 * several and all of them go. */
static rt_status
add_entries(rt_action_state *a, rt_change *c, const mark *m, bool all, rt_buf *members,
	    rt_error *err)
{
	const rt_effect_slot *first = NULL;
	size_t i, k, count = 0;
	rt_status st = RT_OK;

	for (i = m->effects; i < c->effect_count; i++)
		if (c->effects[i].kind == RT_EFFECT_SPLICE && c->effects[i].removed_count > 0) {
			first = first == NULL ? c->effects[i].removed : first;
			count += c->effects[i].removed_count;
		}
	rt_json_add_key(members, "entry");
	if (first != NULL)
		st = rt_hook_call_add_entry(a->engine, c->now, first, c, members, err);
	else
		rt_buf_add_c(members, "null");
	if (!all || count < 2)
		return st;
	rt_buf_add_c(members, ",\"entries\":[");
	for (i = m->effects; i < c->effect_count; i++)
		for (k = 0; st == RT_OK && c->effects[i].kind == RT_EFFECT_SPLICE &&
			    k < c->effects[i].removed_count;
		     k++)
			st = rt_hook_call_add_entry(a->engine, c->now, &c->effects[i].removed[k], c,
						    members, err);
	rt_buf_add_byte(members, ']');
	return st;
}

static rt_status
ask_entry(rt_action_state *a, rt_action_item *item, rt_change *c, const mark *m, bool *out_patched,
	  rt_error *err)
{
	unsigned what = item->happens & a->before;
	const char *event = (what & RT_EVENT_ADD) != 0      ? "entry.before_add"
			    : (what & RT_EVENT_EDIT) != 0   ? "entry.before_edit"
			    : (what & RT_EVENT_ROLE) != 0   ? "entry.before_role"
			    : (what & RT_EVENT_DELETE) != 0 ? "entry.before_delete"
							  : NULL;
	rt_hook_answer answer;
	rt_buf members;
	rt_status st = RT_OK;

	if (event == NULL)
		return RT_OK;
	rt_buf_init(&members, a->engine->alloc, RT_BUF_UNLIMITED);
	rt_json_add_key(&members, "op");
	rt_request_write(&members, &item->request);
	if ((what & RT_EVENT_ADD) == 0)
		st = add_entries(a, c, m, (what & RT_EVENT_DELETE) != 0, &members, err);
	if (st == RT_OK) {
		st = ask(a, item, event, &members, rt_buf_str(&item->subject), &answer, err);
		if (st == RT_OK)
			st = apply_patch(a, item, &answer, out_patched, err);
		rt_hook_answer_deinit(&answer);
	}
	rt_buf_deinit(&members);
	return st;
}

/* Where a take, or a discussion, leaves the old one. */
static rt_status
ask_take(rt_action_state *a, rt_action_item *item, rt_change *c, const mark *m, rt_error *err)
{
	const rt_effect *e = &c->effects[m->effects];
	const rt_disc *disc;
	const rt_take *from;
	rt_slot slot = {0};
	rt_buf members;
	rt_status st;

	while (e->kind != RT_EFFECT_NEW)
		e++;
	st = rt_project_disc(m->now, e->disc != 0 ? e->disc : e->from_disc, &disc, err);
	if (st != RT_OK)
		return st;
	from = rt_disc_take(disc, e->from_take);
	if (e->count > 0)
		st = rt_seq_copy(from->slots, (size_t)e->count - 1, 1, &slot, err);
	if (st == RT_OK)
		st = rt_hook_call_add_id(m->now, &item->made, "entryId", slot.entry, err);
	if (st != RT_OK)
		return st;
	rt_buf_init(&members, a->engine->alloc, RT_BUF_UNLIMITED);
	rt_buf_add_str(&members, rt_buf_str(&item->made));
	rt_hook_call_add_member(&members, "name", e->name);
	rt_hook_call_add_member(&item->made, "previous", rt_text_str(from->name));
	if ((a->before & RT_EVENT_TAKE) != 0)
		st = ask_plainly(a, item, "take.before_create", &members, err);
	rt_buf_deinit(&members);
	return st;
}

static rt_status
ask_switch(rt_action_state *a, rt_action_item *item, const rt_change *c, const mark *m,
	   rt_error *err)
{
	bool is_new = false;
	rt_buf members;
	size_t i;
	rt_status st = RT_OK;

	for (i = m->effects; i < c->effect_count; i++)
		is_new = is_new || c->effects[i].kind == RT_EFFECT_NEW;
	rt_hook_call_add_member(&item->switched, "previous",
				rt_cell_name(rt_project_cell(m->now, m->now->active)));
	rt_hook_call_add_member(&item->switched, "reason",
				is_new ? RT_STR("new") : RT_STR("resume"));
	if ((a->before & RT_EVENT_SWITCH) == 0)
		return RT_OK;
	rt_buf_init(&members, a->engine->alloc, RT_BUF_UNLIMITED);
	rt_hook_call_add_member(&members, "target",
				rt_cell_name(rt_project_cell(c->now, c->now->active)));
	rt_hook_call_add_member(&members, "reason", is_new ? RT_STR("new") : RT_STR("resume"));
	st = ask_plainly(a, item, "session.before_switch", &members, err);
	rt_buf_deinit(&members);
	return st;
}

/* ---- the head ---- */

typedef struct path {
	const rt_take *take;
	size_t count; /* entries before the head */
	uint32_t leaf;
} path;

static rt_status
find_path(const rt_project *value, uint32_t number, path *out, rt_error *err)
{
	const rt_disc *disc;
	rt_slot slot = {0};
	rt_status st = rt_project_disc(value, number, &disc, err);

	if (st != RT_OK)
		return st;
	out->take = rt_disc_take(disc, disc->active);
	st = rt_disc_head_at(value, disc, &out->count, err);
	if (st == RT_OK && out->count > 0)
		st = rt_seq_copy(out->take->slots, out->count - 1, 1, &slot, err);
	out->leaf = slot.entry;
	return st;
}

/* What is left: from the old leaf back to where the paths part, or to a compaction. */
static rt_status
find_left(const path *old, const path *new, rt_change *c, rt_hook_call_leaving *out, rt_error *err)
{
	size_t least = old->count < new->count ? old->count : new->count, common = 0, first;
	rt_slot *slots = rt_scope_array(c->scope, old->count, sizeof(*slots));
	rt_slot *other = rt_scope_array(c->scope, least, sizeof(*other));
	rt_str kind;
	rt_status st;

	if (slots == NULL || other == NULL)
		return nomem(err);
	st = rt_seq_copy(old->take->slots, 0, old->count, slots, err);
	if (st == RT_OK)
		st = rt_seq_copy(new->take->slots, 0, least, other, err);
	while (st == RT_OK && common < least && slots[common].entry == other[common].entry)
		common++;
	for (first = old->count; st == RT_OK && first > common; first--) {
		if (slots[first - 1].kind == 0)
			continue;
		st = rt_project_name(c->now, slots[first - 1].kind, &kind, err);
		if (st == RT_OK && rt_str_is(kind, "compaction"))
			break;
	}
	*out = (rt_hook_call_leaving){.target = new->leaf,
				      .leaf = old->leaf,
				      .ancestor = common > 0 ? slots[common - 1].entry : 0,
				      .slots = slots + first,
				      .count = old->count - first};
	return st;
}

static rt_status
ask_head(rt_action_state *a, rt_action_item *item, rt_change *c, const mark *m, rt_error *err)
{
	path old, new;
	rt_hook_call_leaving leaving;
	rt_buf members;
	rt_status st = find_path(m->now, item->place.disc, &old, err);

	if (st == RT_OK)
		st = find_path(c->now, item->place.disc, &new, err);
	if (st == RT_OK && old.take->number == new.take->number && old.count == new.count) {
		item->happens &= ~(unsigned)RT_EVENT_HEAD; /* another take was deleted */
		return RT_OK;
	}
	if (st == RT_OK)
		st = rt_hook_call_add_id(c->now, &item->moved, "newLeafId", new.leaf, err);
	if (st == RT_OK)
		st = rt_hook_call_add_id(c->now, &item->moved, "oldLeafId", old.leaf, err);
	if (st != RT_OK || (a->before & RT_EVENT_HEAD) == 0)
		return st;
	rt_buf_init(&members, a->engine->alloc, RT_BUF_UNLIMITED);
	st = find_left(&old, &new, c, &leaving, err);
	if (st == RT_OK)
		st = rt_hook_call_add_preparation(a->engine, c->now, &leaving, c, &members, err);
	rt_buf_add_c(&members, ",\"customInstructions\":null,\"model\":null");
	if (st == RT_OK)
		st = ask_plainly(a, item, "head.before_move", &members, err);
	rt_buf_deinit(&members);
	return st;
}

/* ---- all of it ---- */

static rt_status
ask_tried(rt_action_state *a, rt_action_item *item, rt_change *c, const mark *m, rt_error *err)
{
	unsigned wanted = a->before | a->after;
	bool patched = false;
	rt_status st = try(item, c, m, err);

	if (st == RT_OK)
		st = ask_entry(a, item, c, m, &patched, err);
	if (st == RT_OK && patched) {
		back_to(c, m);
		st = check(a, item, c, err);
		if (st == RT_OK)
			st = pin(a, item, c, err);
		if (st == RT_OK)
			st = try(item, c, m, err);
	}
	if (st == RT_OK && (item->happens & wanted & RT_EVENT_TAKE) != 0)
		st = ask_take(a, item, c, m, err);
	if (st == RT_OK && (item->happens & wanted & RT_EVENT_SWITCH) != 0)
		st = ask_switch(a, item, c, m, err);
	if (st == RT_OK && (item->happens & wanted & RT_EVENT_HEAD) != 0)
		st = ask_head(a, item, c, m, err);
	return st;
}

rt_status
rt_action_ask_hooks(rt_action_state *a, rt_action_item *item, rt_change *c, rt_error *err)
{
	rt_status st = check(a, item, c, err);
	mark m;

	if (st != RT_OK)
		return st;
	/* what is told where trying it fails and it is done all the same */
	item->happens = possible(&item->request) & (RT_EVENT_ENTRY | RT_EVENT_UNDO | RT_EVENT_REDO);
	if ((rt_ops[item->request.op].flags & RT_OP_ALONE) != 0)
		return RT_OK; /* not compiled; nobody is asked */
	st = pin(a, item, c, err);
	if (st != RT_OK)
		return st;
	m = mark_at(c);
	st = ask_tried(a, item, c, &m, err);
	rt_object_unref(m.now);
	return st;
}

/* ---- telling ---- */

/* The entry as it is right after the row; null: it is not there (any more). */
static void
add_entry_now(const rt_action_state *a, const rt_action_item *item, const rt_result *result,
	      rt_buf *out)
{
	rt_str id = rt_str_of(item->entry[0] != '\0' ? item->entry : result->entry);
	const rt_project *value = NULL;
	const rt_disc *disc;
	const rt_take *take = NULL;
	uint32_t entry, number = item->place.take;
	size_t at, size = out->size;
	bool found = false;
	rt_effect_slot named;
	rt_slot slot;
	rt_status st = RT_NOT_FOUND;

	if ((item->happens & RT_EVENT_DELETE) == 0 && id.size > 0)
		st = rt_engine_value_at(a->engine, result->seq, &value, NULL);
	if (st == RT_OK)
		st = rt_resolve_entry(value, item->place, id, true, &entry, NULL);
	if (st == RT_OK)
		st = rt_project_disc(value, item->place.disc, &disc, NULL);
	if (st == RT_OK) {
		take = rt_disc_take(disc, number);
		if (take != NULL && take->present)
			st = rt_take_find(value, take, entry, &at, &slot, &found, NULL);
	}
	if (st == RT_OK && !found)
		st = rt_take_holding(value, disc, entry, &number, &at, NULL);
	if (st == RT_OK && !found && number != 0) {
		st = rt_seq_copy(rt_disc_take(disc, number)->slots, at, 1, &slot, NULL);
		found = true;
	}
	if (st == RT_OK && found)
		st = rt_hook_call_name(value, &slot, &named, NULL);
	if (st == RT_OK && found)
		st = rt_hook_call_add_entry(a->engine, value, &named, NULL, out, NULL);
	if (st != RT_OK || !found) {
		out->size = size;
		rt_buf_add_c(out, "null");
	}
	rt_object_unref(value);
}

static void
add_seq(rt_buf *members, uint64_t seq)
{
	rt_json_add_key(members, "seq");
	rt_buf_add_u64(members, seq);
}

static void
tell_entry(const rt_action_state *a, const rt_action_item *item, const rt_hook_call *h,
	   const rt_result *result)
{
	rt_buf members;

	rt_buf_init(&members, a->engine->alloc, RT_BUF_UNLIMITED);
	rt_json_add_key(&members, "op");
	rt_request_write(&members, &item->request);
	rt_json_add_key(&members, "entry");
	add_entry_now(a, item, result, &members);
	add_seq(&members, result->seq);
	rt_hook_call_notify(h, "entry.after", &members, &item->subject);
	rt_buf_deinit(&members);
}

/* undo.after with the steps that were taken back, redo.after with those brought back. */
static void
tell_moves(const rt_action_state *a, const rt_action_item *item, const rt_hook_call *h,
	   const rt_result *result)
{
	static const struct {
		const char *event;
		unsigned what;
		int direction;
	} ways[] = {{"undo.after", RT_EVENT_UNDO, -1}, {"redo.after", RT_EVENT_REDO, 1}};
	rt_arena *arena = rt_arena_new(a->engine->alloc);
	rt_record record;
	uint64_t reverted = item->request.op == RT_OP_REVERT ? item->request.step.value : 0;
	rt_buf members;
	size_t i, k;

	memset(&record, 0, sizeof(record));
	if (item->request.op != RT_OP_REVERT && (arena == NULL || rt_engine_record(a->engine, result->seq, arena, &record, NULL,
						   NULL) != RT_OK))
		memset(&record, 0, sizeof(record));
	rt_buf_init(&members, a->engine->alloc, RT_BUF_UNLIMITED);
	for (i = 0; i < 2; i++) {
		size_t count = 0;

		rt_buf_clear(&members);
		rt_buf_add_c(&members, "\"steps\":[");
		if (reverted != 0 && ways[i].direction < 0) {
			rt_buf_add_u64(&members, reverted);
			count++;
		}
		for (k = 0; k < record.move_count; k++) {
			if (record.moves[k].direction != ways[i].direction)
				continue;
			rt_json_add_comma(&members);
			rt_buf_add_u64(&members, record.moves[k].step);
			count++;
		}
		rt_buf_add_byte(&members, ']');
		add_seq(&members, result->seq);
		if (count > 0 && (a->after & ways[i].what) != 0)
			rt_hook_call_notify(h, ways[i].event, &members, NULL);
	}
	rt_buf_deinit(&members);
	rt_arena_free(arena);
}

void
rt_action_notify_hooks(rt_action_state *a, rt_action_item *item, const rt_result *result)
{
	unsigned what = item->happens & a->after;
	rt_action_place room;
	rt_hook_call h;

	if (what == 0)
		return;
	h = rt_action_hook_call(a, item->place, &room);
	if ((what & RT_EVENT_ENTRY) != 0)
		tell_entry(a, item, &h, result);
	if ((what & RT_EVENT_TAKE) != 0) {
		rt_hook_call_add_member(&item->made, "name", rt_str_of(result->take));
		rt_hook_call_notify(&h, "take.created", &item->made, NULL);
	}
	if ((what & RT_EVENT_SWITCH) != 0) {
		h = rt_action_hook_call(a, (rt_place){0, 0}, &room); /* where we are since */
		rt_hook_call_notify(&h, "session.after_switch", &item->switched, NULL);
	}
	if ((what & RT_EVENT_HEAD) != 0)
		rt_hook_call_notify(&h, "head.after_move", &item->moved, NULL);
	if ((what & (RT_EVENT_UNDO | RT_EVENT_REDO)) != 0)
		tell_moves(a, item, &h, result);
}

void
rt_action_notify_switch(rt_action_state *a, uint32_t was, rt_str previous, bool is_new)
{
	const rt_project *value = rt_engine_value(a->engine);
	rt_action_place room;
	rt_hook_call h = rt_action_hook_call(a, (rt_place){0, 0}, &room);
	rt_buf members;

	rt_buf_init(&members, a->engine->alloc, RT_BUF_UNLIMITED);
	rt_hook_call_add_member(&members, "previous", previous);
	rt_hook_call_add_member(&members, "reason", is_new ? RT_STR("new") : RT_STR("resume"));
	if (value->active != was)
		rt_hook_call_notify(&h, "session.after_switch", &members, NULL);
	rt_buf_deinit(&members);
	rt_object_unref(value);
}
