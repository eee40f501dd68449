/* SPDX-License-Identifier: MIT
 *
 * Salvage: copies a project from a store that lacks rows, bodies or both into a sound one.
 *
 *   1  the rows up to the first missing one are copied unchanged, with their bodies
 *   2  a checkpoint of a later row, with the rows after it, gives the state after that row: one
 *      new row leads there. Entries and bodies keep their numbers, and thereby their ids
 *   3  texts that neither refers to go into a separate discussion, in the order of writing
 *
 * A missing body becomes one that cannot be decoded; rt_engine_repair then replaces it and
 * reports where it was. */
#include "log/checkpoint.h"
#include "log/engine_impl.h"
#include "log/repair.h"

#include <stdio.h>  /* snprintf */
#include <stdlib.h> /* qsort, bsearch */

/* A body beyond the rows that are copied. */
typedef struct item {
	uint64_t number;
	rt_effect_slot slot; /* of a text that the state does not refer to: as far as known */
	bool is_named;       /* by the state */
} item;

typedef struct salvage {
	rt_scope scope;
	rt_scope scratch;        /* of the current row, body or take */
	rt_engine *old, *new;    /* old: the remains, opened leniently */
	const rt_project *first; /* after the rows up to the first missing one */
	const rt_project *ahead; /* of the checkpoint and the rows after it; NULL: none */
	item *items;             /* in scope */
	size_t item_count, item_capacity;
	rt_salvaged *out;
} salvage;

/* ---- reading the remains ---- */

typedef struct row_copy {
	rt_scope *scope;
	rt_store_row row;
	bool found;
} row_copy;

static bool
copy_row(void *ctx, const rt_store_row *row)
{
	row_copy *copy = ctx;

	copy->row = *row;
	copy->row.data = rt_scope_copy(copy->scope, row->data);
	copy->found = true;
	return false;
}

/* A log row, in scratch. false: it is missing or damaged, or a failure. */
static bool
read_row(salvage *v, uint64_t seq, rt_store_row *out)
{
	row_copy copy = {.scope = &v->scratch};
	rt_status st;

	if (!rt_ok(&v->scope))
		return false;
	rt_scope_reset(&v->scratch);
	st = rt_engine_read(v->old, RT_STORE_LOG, seq, seq, copy_row, &copy, &v->scratch.error);
	if (st != RT_CORRUPT)
		rt_scope_note(&v->scratch, st);
	*out = copy.row;
	return rt_scope_adopt(&v->scope, &v->scratch) == RT_OK && st == RT_OK && copy.found;
}

/* The bytes of a body, in scratch; invalid bytes if it is missing or damaged. */
static rt_str
read_body(salvage *v, uint64_t number, bool *out_found)
{
	rt_scope *s = &v->scratch;
	rt_status st;

	rt_scope_reset(s);
	rt_buf *bytes = rt_scope_buf(s);
	st = rt_store_get(v->old->store, rt_rows_one(RT_STORE_BODIES, v->old->project, number), bytes,
			  NULL, &s->error);
	*out_found = st == RT_OK;
	if (st == RT_NOT_FOUND || st == RT_CORRUPT) {
		rt_buf_clear(bytes);
		rt_buf_add_byte(bytes, '?');
	} else {
		rt_scope_note(s, st);
	}
	rt_str data = rt_scope_str(s, bytes);
	rt_scope_adopt(&v->scope, s);
	return data;
}

/* ---- 1: rows that are copied ---- */

static void
append(salvage *v, uint64_t head, const rt_store_row *row, const rt_store_row *body)
{
	rt_store *to = v->new->store;

	RT_TRY(&v->scope, to->ops->append(to, v->new->project, head, row, row != NULL, body,
					  body != NULL, NULL, &v->scope.error));
}

/* owners: the entries of bodies, by body number. */
static void
note_owners(salvage *v, uint32_t *owners, rt_str data)
{
	rt_scope *s = &v->scratch;
	rt_record record = {0};
	rt_slot_walk walk = {0};
	const rt_effect_slot *named;

	rt_arena *arena = rt_scope_arena(s);
	RT_TRY(s, rt_record_read(s->alloc, arena, data, &record, &s->error));
	while (rt_ok(s) && (named = rt_record_next_slot(&record, &walk)) != NULL)
		if (walk.is_added && named->slot.body < v->first->next_body)
			owners[named->slot.body] = named->slot.entry;
	rt_scope_adopt(&v->scope, s);
}

static void
copy_rows(salvage *v, uint32_t *owners)
{
	for (uint64_t seq = 1; rt_ok(&v->scope) && seq <= v->first->seq; seq++) {
		rt_store_row row;

		if (!read_row(v, seq, &row)) {
			rt_scope_fail(&v->scope, RT_CORRUPT, "log row %llu is missing",
				      (unsigned long long)seq);
			return;
		}
		note_owners(v, owners, row.data);
		append(v, seq - 1, &row, NULL);
	}
}

static void
copy_bodies(salvage *v, const uint32_t *owners)
{
	for (uint64_t number = 1; rt_ok(&v->scope) && number < v->first->next_body; number++) {
		rt_store_row row = {.number = number, .entry = owners[number]};
		bool found;

		row.data = read_body(v, number, &found);
		if (!found && row.entry == 0)
			continue; /* a number that was never used */
		v->out->bodies_lost += !found;
		append(v, v->first->seq, NULL, &row);
	}
}

static void
write_side(salvage *v, rt_str name, rt_str data)
{
	rt_store *to = v->new->store;

	RT_TRY(&v->scope,
	       to->ops->write(to, rt_rows_named(RT_STORE_SIDE, v->new->project, name), data,
			      &v->scope.error));
}

static bool
copy_side(void *ctx, const rt_store_row *row)
{
	salvage *v = ctx;

	if (!rt_str_is(row->name, RT_HEAD_MARK))
		write_side(v, row->name, row->data);
	return rt_ok(&v->scope);
}

/* The new project's engine sees it when it is opened again. */
static void
copy_first(salvage *v)
{
	rt_store *from = v->old->store, *to = v->new->store;
	rt_scope *s = &v->scope;
	uint32_t *owners = rt_scope_array(s, (size_t)v->first->next_body + 1, sizeof(*owners));

	RT_TRY(s, to->ops->begin(to, &s->error));
	RT_TRY(s, from->ops->read(from, rt_rows_all(RT_STORE_SIDE, v->old->project), copy_side, v,
				  &s->error));
	if (v->old->salt != 0) /* its side row may be lost */
		write_side(v, RT_STR(RT_SALTED_MARK), RT_STR("1"));
	copy_rows(v, owners);
	copy_bodies(v, owners);
	if (v->first->seq > 0)
		RT_TRY(s, rt_engine_mark_head(v->new, v->first->seq, &s->error));
	rt_store_end(to, s);
}

/* ---- bodies beyond these rows ---- */

static void
add_item(salvage *v, const item *what)
{
	item *items = rt_scope_grow(&v->scope, v->items, v->item_count, &v->item_capacity,
				    sizeof(*items));

	if (items == NULL)
		return;
	v->items = items;
	v->items[v->item_count++] = *what;
}

static int
by_number(const void *a, const void *b)
{
	uint64_t x = ((const item *)a)->number, y = ((const item *)b)->number;

	return (x > y) - (x < y);
}

static int
by_number_named_first(const void *a, const void *b)
{
	int order = by_number(a, b);

	return order != 0 ? order : (int)((const item *)b)->is_named - (int)((const item *)a)->is_named;
}

/* Sorted, each number once; the item of the state before others. */
static void
sort_items(salvage *v)
{
	size_t count = 0;

	if (v->item_count > 1)
		qsort(v->items, v->item_count, sizeof(*v->items), by_number_named_first);
	for (size_t i = 0; i < v->item_count; i++)
		if (count == 0 || v->items[count - 1].number != v->items[i].number)
			v->items[count++] = v->items[i];
	v->item_count = count;
}

/* The bodies in a take of the later state. */
static void
add_named(salvage *v, const rt_seq *slots)
{
	rt_scope *s = &v->scope;

	for (size_t at = 0; rt_ok(s) && at < rt_seq_count(slots); at++) {
		item one = {.is_named = true};

		RT_TRY(s, rt_seq_get(slots, at, &one.slot.slot, &s->error));
		one.number = one.slot.slot.body;
		if (one.number >= v->first->next_body)
			add_item(v, &one);
	}
}

static void
name_items(salvage *v)
{
	rt_scope *s = &v->scope;
	size_t discs = v->ahead != NULL ? rt_project_disc_count(v->ahead) : 0;

	for (uint32_t d = 1; rt_ok(s) && d <= discs; d++) {
		const rt_disc *disc;

		RT_TRY(s, rt_project_disc(v->ahead, d, &disc, &s->error));
		for (uint32_t t = 1; rt_ok(s) && t <= rt_disc_take_count(disc); t++)
			add_named(v, rt_disc_take(disc, t)->slots);
	}
}

static bool
add_leftover(void *ctx, const rt_store_row *row)
{
	salvage *v = ctx;
	item one = {.number = row->number,
		    .slot = {.slot = {.body = row->number},
			     .role = RT_STR("User"),
			     .kind = RT_STR("")}};

	if (row->data.size == 0 || row->data.ptr[0] == RT_BODY_PURGED)
		return true;
	one.slot.slot.entry = row->entry < RT_HEAD_TIP - 1 ? (uint32_t)row->entry : 0;
	one.slot.slot.size = row->data.size - 1 < UINT32_MAX ? (uint32_t)(row->data.size - 1)
							     : UINT32_MAX;
	add_item(v, &one);
	return rt_ok(&v->scope);
}

/* Rows after a missing one cannot be replayed, but they tell the role of a text. */
static void
learn_role(salvage *v, const rt_effect_slot *slot)
{
	item key = {.number = slot->slot.body};
	item *hit = v->item_count > 0 ? bsearch(&key, v->items, v->item_count, sizeof(*v->items),
						by_number)
				      : NULL;

	if (hit == NULL || hit->is_named)
		return;
	hit->slot.role = rt_scope_copy(&v->scope, slot->role);
	hit->slot.kind = rt_scope_copy(&v->scope, slot->kind);
	hit->slot.slot.ts_us = slot->slot.ts_us;
}

static void
learn_roles(salvage *v)
{
	for (uint64_t seq = v->first->seq + 1; rt_ok(&v->scope) && seq <= v->out->rows_known; seq++) {
		rt_record record;
		rt_store_row row;
		rt_slot_walk walk = {0};
		const rt_effect_slot *slot;

		if (!read_row(v, seq, &row) ||
		    rt_record_read(v->scratch.alloc, v->scratch.arena, row.data, &record, NULL) !=
			    RT_OK)
			continue;
		while ((slot = rt_record_next_slot(&record, &walk)) != NULL)
			if (walk.is_added)
				learn_role(v, slot);
	}
}

static void
gather_items(salvage *v)
{
	rt_scope *s = &v->scope;

	name_items(v);
	RT_TRY(s, rt_engine_read(v->old, RT_STORE_BODIES, v->first->next_body, RT_STORE_NUMBER_MAX,
				 add_leftover, v, &s->error));
	sort_items(v);
	learn_roles(v);
}

/* ---- 2: the later state, as changes ---- */

static void
set_present(rt_change *c, uint32_t disc, uint32_t sub, bool present)
{
	rt_change_set(c, disc, sub, RT_STR("present"), 0,
		      present ? RT_STR("true") : rt_str_at(NULL, 0));
}

static void
change_fields(rt_change *c, uint32_t disc, const rt_fields *now, const rt_fields *then)
{
	for (size_t i = 0; rt_change_ok(c) && i < rt_fields_count(then); i++)
		rt_change_set(c, disc, 0, rt_fields_name(then, i), 0, rt_fields_value(then, i));
	for (size_t i = 0; rt_change_ok(c) && i < rt_fields_count(now); i++)
		if (rt_fields_get(then, rt_fields_name(now, i)).ptr == NULL)
			rt_change_set(c, disc, 0, rt_fields_name(now, i), 0, rt_str_at(NULL, 0));
}

static void
change_labels(salvage *v, rt_change *c, uint32_t disc, const rt_seq *now, const rt_seq *then)
{
	rt_scope *s = c->scope;

	for (size_t i = 0; rt_ok(s) && i < rt_seq_count(then); i++) {
		rt_slot label = {0};
		rt_str text;

		RT_TRY(s, rt_seq_get(then, i, &label, &s->error));
		RT_TRY(s, rt_project_name(v->ahead, (uint32_t)label.body, &text, &s->error));
		if (rt_ok(s))
			rt_change_set_text(c, disc, 0, "label", (uint32_t)label.key, text);
	}
	for (size_t i = 0; rt_ok(s) && i < rt_seq_count(now); i++) {
		rt_slot label;
		size_t at;
		bool found = true;

		RT_TRY(s, rt_seq_get(now, i, &label, &s->error));
		RT_TRY(s, rt_seq_find(then, label.key, &at, &found, NULL, &s->error));
		if (!found)
			rt_change_set(c, disc, 0, RT_STR("label"), (uint32_t)label.key,
				      rt_str_at(NULL, 0));
	}
}

/* A slot of the later state, with the id that was given to its entry. */
static rt_effect_slot
slot_then(salvage *v, rt_change *c, const rt_slot *slot)
{
	rt_effect_slot out = {.slot = *slot};
	rt_scope *s = c->scope;
	char id[RT_ID_MAX + 1];
	rt_slot home = {0};
	bool found = false;

	RT_TRY(s, rt_project_name(v->ahead, slot->role, &out.role, &s->error));
	RT_TRY(s, rt_project_name(v->ahead, slot->kind, &out.kind, &s->error));
	RT_TRY(s, rt_project_entry(c->now, slot->entry, &home, &found, &s->error));
	if (!rt_ok(s) || found)
		return out;
	RT_TRY(s, rt_project_entry(v->ahead, slot->entry, &home, &found, &s->error));
	if (rt_ok(s) && found && home.ts_us != 0 &&
	    RT_TRY(s, rt_entry_id(v->ahead, slot->entry, id, &s->error)) == RT_OK)
		out.id = rt_scope_copy(s, rt_str_of(id));
	return out;
}

static bool
same_slot(const rt_effect_slot *a, const rt_effect_slot *b)
{
	return a->slot.entry == b->slot.entry && a->slot.body == b->slot.body &&
	       a->slot.flags == b->slot.flags && a->slot.ts_us == b->slot.ts_us &&
	       a->slot.size == b->slot.size && rt_str_eq(a->role, b->role) &&
	       rt_str_eq(a->kind, b->kind);
}

/* Replaces the slots from the first to the last that differ. */
static void
change_slots(salvage *v, rt_change *c, uint32_t disc, uint32_t take, const rt_seq *now,
	     const rt_seq *then)
{
	rt_scope *s = c->scope;
	size_t had = rt_seq_count(now), count = rt_seq_count(then), head = 0, tail = 0;

	rt_scope_reset(&v->scratch);
	rt_effect_slot *old = rt_scope_array(&v->scratch, had, sizeof(*old));
	rt_effect_slot *fresh = rt_scope_array(&v->scratch, count, sizeof(*fresh));
	rt_scope_adopt(s, &v->scratch);
	for (size_t i = 0; rt_ok(s) && i < count; i++) {
		rt_slot slot = {0};

		RT_TRY(s, rt_seq_get(then, i, &slot, &s->error));
		fresh[i] = slot_then(v, c, &slot);
	}
	for (size_t i = 0; rt_ok(s) && i < had; i++) {
		rt_slot slot = {0};

		RT_TRY(s, rt_seq_get(now, i, &slot, &s->error));
		old[i] = rt_change_name(c, &slot);
	}
	if (!rt_ok(s))
		return;
	while (head < had && head < count && same_slot(&old[head], &fresh[head]))
		head++;
	while (tail < had - head && tail < count - head &&
	       same_slot(&old[had - tail - 1], &fresh[count - tail - 1]))
		tail++;
	rt_change_splice(c, disc, take, head, had - head - tail, fresh + head, count - head - tail);
}

static rt_str
text_of(const rt_text *text)
{
	return text != NULL ? rt_text_str(text) : RT_STR("");
}

static void
change_take(salvage *v, rt_change *c, uint32_t number, const rt_take *then)
{
	const rt_disc *disc;
	rt_scope *s = c->scope;

	if (RT_TRY(s, rt_project_disc(c->now, number, &disc, &s->error)) != RT_OK)
		return;
	if (then->number > rt_disc_take_count(disc))
		rt_change_emit(c, &(rt_effect){.kind = RT_EFFECT_NEW,
					       .disc = number,
					       .sub = then->number,
					       .name = rt_text_str(then->name),
					       .git_commit = text_of(then->git_commit)});
	else
		rt_change_set_text(c, number, then->number, "name", 0, rt_text_str(then->name));
	set_present(c, number, then->number, then->present);
	if (RT_TRY(s, rt_project_disc(c->now, number, &disc, &s->error)) == RT_OK)
		change_slots(v, c, number, then->number, rt_disc_take(disc, then->number)->slots,
			     then->slots);
}

static void
change_disc(salvage *v, rt_change *c, uint32_t number)
{
	const rt_cell *cell = rt_project_cell(v->ahead, number);
	const rt_disc *then, *now = NULL;
	rt_scope *s = c->scope;

	if (RT_TRY(s, rt_project_disc(v->ahead, number, &then, &s->error)) != RT_OK)
		return;
	const rt_take *take = rt_disc_take(then, 1);
	if (number > rt_project_disc_count(c->now))
		rt_change_emit(c, &(rt_effect){.kind = RT_EFFECT_NEW,
					       .sub = number,
					       .name = rt_cell_name(cell),
					       .take_name = rt_text_str(take->name),
					       .git_commit = text_of(take->git_commit)});
	else
		rt_change_set_text(c, 0, number, "name", 0, rt_cell_name(cell));
	set_present(c, 0, number, cell->present);
	for (uint32_t t = 1; rt_ok(s) && t <= rt_disc_take_count(then); t++)
		change_take(v, c, number, rt_disc_take(then, t));
	if (RT_TRY(s, rt_project_disc(c->now, number, &now, &s->error)) != RT_OK)
		return;
	rt_object_ref(now);
	change_labels(v, c, number, now->labels, then->labels);
	change_fields(c, number, now->fields, then->fields);
	rt_object_unref(now);
	rt_change_set_number(c, number, 0, "active", then->active);
	if (then->head == RT_HEAD_TIP)
		rt_change_clear(c, number, 0, "head");
	else
		rt_change_set_number(c, number, 0, "head", then->head);
}

static void
change_views(salvage *v, rt_change *c)
{
	rt_scope *s = c->scope;

	for (size_t i = 0; rt_ok(s) && i < rt_seq_count(v->ahead->views); i++) {
		rt_slot view = {0};
		unsigned now = 0;

		RT_TRY(s, rt_seq_get(v->ahead->views, i, &view, &s->error));
		RT_TRY(s, rt_project_view(c->now, (uint32_t)view.key, &now, &s->error));
		if (rt_ok(s) && now != view.body && view.key < c->now->next_entry)
			rt_change_view(c, (uint32_t)view.key, (unsigned)view.body);
	}
}

static void
change_project(salvage *v, rt_change *c)
{
	for (uint32_t d = 1; rt_change_ok(c) && d <= rt_project_disc_count(v->ahead); d++)
		change_disc(v, c, d);
	const rt_fields *now = rt_object_ref(c->now->fields);
	change_fields(c, 0, now, v->ahead->fields);
	rt_object_unref(now);
	rt_change_set_number(c, 0, 0, "active", v->ahead->active);
	change_views(v, c);
}

/* ---- 3: texts that nothing names ---- */

/* The name of a discussion that is not in use, in the result. */
static rt_str
name_recovered(salvage *v, const rt_project *now)
{
	char *name = v->out->discussion;
	const size_t size = sizeof(v->out->discussion);

	(void)snprintf(name, size, "recovered");
	for (int i = 2; rt_project_disc_named(now, rt_str_of(name)) != 0; i++)
		(void)snprintf(name, size, "recovered_%d", i);
	return rt_str_of(name);
}

/* Entries keep their numbers if possible: the first text of each, in order. */
static void
number_leftovers(salvage *v, uint32_t next)
{
	uint32_t highest = next;

	for (size_t i = 0; i < v->item_count; i++)
		if (!v->items[i].is_named && v->items[i].slot.slot.entry >= highest)
			highest = v->items[i].slot.slot.entry + 1;
	for (size_t i = 0; i < v->item_count; i++) {
		rt_slot *slot = &v->items[i].slot.slot;

		if (v->items[i].is_named)
			continue;
		if (slot->entry >= next)
			next = slot->entry + 1;
		else
			slot->entry = highest++;
		if (slot->ts_us == 0)
			slot->ts_us = v->new->env->now_us(v->new->env->ctx);
	}
}

static void
add_leftovers(salvage *v, rt_change *c)
{
	uint32_t disc = (uint32_t)rt_project_disc_count(c->now) + 1;
	rt_effect_slot *slots = rt_scope_array(c->scope, v->item_count, sizeof(*slots));
	size_t count = 0;

	if (slots == NULL)
		return;
	number_leftovers(v, c->now->next_entry);
	for (size_t i = 0; i < v->item_count; i++)
		if (!v->items[i].is_named)
			slots[count++] = v->items[i].slot;
	v->out->recovered = count;
	if (count == 0)
		return;
	rt_change_emit(c, &(rt_effect){.kind = RT_EFFECT_NEW,
				       .sub = disc,
				       .name = name_recovered(v, c->now),
				       .take_name = RT_STR("main")});
	set_present(c, 0, disc, true);
	rt_change_splice(c, disc, 1, 0, 0, slots, count);
}

/* The bodies of everything that the change names, in order. */
static void
add_bodies(salvage *v, rt_change *c)
{
	for (size_t i = 0; rt_change_ok(c) && i < v->item_count; i++) {
		bool found;
		rt_str data = read_body(v, v->items[i].number, &found);

		v->out->bodies_lost += !found;
		c->next_body = v->items[i].number;
		(void)rt_change_add_body(c, v->items[i].slot.slot.entry,
					 rt_scope_copy(c->scope, data));
	}
}

/* One row for everything after the copied rows. */
static void
add_rest(salvage *v)
{
	rt_store *to = v->new->store;
	const rt_project *base = NULL, *next = NULL;
	rt_scope *s = &v->scope;
	rt_change c;

	if (!rt_ok(s))
		return;
	rt_engine_lock_writer(v->new);
	RT_TRY(s, to->ops->begin(to, &s->error));
	RT_TRY(s, rt_engine_newest(v->new, &base, &s->error));
	if (rt_ok(s)) {
		rt_change_init(&c, s, v->new, base);
		if (v->ahead != NULL)
			change_project(v, &c);
		add_leftovers(v, &c);
		add_bodies(v, &c);
		if (rt_ok(s) && c.effect_count + c.view_count > 0)
			next = rt_change_write(&c, RT_STR(RT_STEP_IMPORT), 0);
		rt_change_deinit(&c);
	}
	rt_store_end(to, s);
	if (rt_ok(s) && next != NULL)
		rt_engine_publish(v->new, next);
	else
		rt_object_unref(next);
	rt_object_unref(base);
	rt_engine_unlock_writer(v->new);
}

/* ---- missing bodies ---- */

/* The last row that any part of the store refers to. */
static void
find_known(salvage *v)
{
	rt_scope *s = &v->scope;
	uint64_t head = 0, mark = 0;

	RT_TRY(s, rt_engine_head(v->old, RT_STORE_LOG, &head, &s->error));
	if (!rt_ok(s))
		return;
	rt_status st = rt_engine_head_mark(v->old, &mark, &s->error);
	if (st != RT_CORRUPT)
		rt_scope_note(s, st);
	v->out->rows = v->first->seq;
	v->out->rows_known = head > mark ? head : mark;
	if (v->ahead != NULL && v->ahead->seq > v->out->rows_known)
		v->out->rows_known = v->ahead->seq;
	v->out->state_seq = v->ahead != NULL ? v->ahead->seq : 0;
}

static void
report_missing(salvage *v, rt_lost_rows_fn fn, void *ctx)
{
	uint64_t from = 0, end = v->out->rows_known + 1;

	for (uint64_t seq = v->first->seq + 1; rt_ok(&v->scope) && seq <= end; seq++) {
		rt_store_row row;
		bool found = seq == end || read_row(v, seq, &row);

		if (!rt_ok(&v->scope))
			return;
		if (!found && from == 0)
			from = seq;
		if (found && from != 0) {
			v->out->rows_lost += seq - from;
			fn(ctx, from, seq - 1);
			from = 0;
		}
		v->out->rows_unused += found && seq < end;
	}
}

/* ---- the whole ---- */

static void
make_project(salvage *v, rt_store *to, rt_str name)
{
	rt_scope *s = &v->scope;
	uint64_t number;

	RT_TRY(s, to->ops->begin(to, &s->error));
	RT_TRY(s, to->ops->project_new(to, name, &number, &s->error));
	if (rt_ok(s) && v->old->salt != 0)
		RT_TRY(s, to->ops->write(
				  to, rt_rows_named(RT_STORE_SIDE, number, RT_STR(RT_SALTED_MARK)),
				  RT_STR("1"), &s->error));
	rt_store_end(to, s);
}

static void
open_new(salvage *v, const rt_env *env, rt_store *to, rt_str name)
{
	rt_engine_options options = {
		.alloc = v->scope.alloc, .env = env, .project = name, .by = RT_STR("repair")};

	rt_engine_close(v->new);
	v->new = NULL;
	RT_TRY(&v->scope, rt_engine_open(&options, to, &v->new, &v->scope.error));
}

rt_status
rt_engine_salvage(const rt_alloc *alloc, const rt_env *env, rt_store *from, rt_str name,
		  rt_store *to, rt_salvaged *out, rt_lost_rows_fn fn, void *ctx, rt_error *err)
{
	rt_engine_options options = {.alloc = alloc, .env = env, .project = name, .lenient = true};
	salvage v = {.out = out};
	rt_scope *s = &v.scope;

	*out = (rt_salvaged){0};
	rt_scope_init(s, alloc);
	rt_scope_init(&v.scratch, alloc);
	RT_TRY(s, rt_engine_open(&options, from, &v.old, &s->error));
	if (rt_ok(s) && rt_engine_newer(v.old, &s->error))
		rt_scope_note(s, RT_TOO_NEW);
	RT_TRY(s, rt_engine_load_parts(v.old, &v.first, &v.ahead, &s->error));
	if (rt_ok(s)) {
		find_known(&v);
		make_project(&v, to, name);
	}
	open_new(&v, env, to, name);
	if (rt_ok(s))
		copy_first(&v);
	open_new(&v, env, to, name);
	if (rt_ok(s)) {
		gather_items(&v);
		add_rest(&v);
		report_missing(&v, fn, ctx);
	}
	rt_engine_close(v.new);
	rt_object_unref(v.first);
	rt_object_unref(v.ahead);
	rt_engine_close(v.old);
	rt_scope_deinit(&v.scratch);
	return rt_scope_end(s, err);
}
