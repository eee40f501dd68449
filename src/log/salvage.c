/* SPDX-License-Identifier: MIT
 *
 * Salvage: a project out of a store that lacks rows, bodies or both, into a sound one.
 *
 *   1  the rows up to the first that is missing go over as they are, with their bodies
 *   2  a checkpoint of a later row, with the rows after it, says what the state was then:
 *      one more row makes it so. Entries and bodies keep their numbers, so ids stay
 *   3  texts that neither names go into a discussion of their own, in the order in which
 *      they were written
 *
 * A body that is missing becomes one that cannot be read; rt_engine_repair then gives it up
 * and says where it was. */
#include "log/checkpoint.h"
#include "log/engine_impl.h"
#include "log/repair.h"

#include <stdio.h>  /* snprintf */
#include <stdlib.h> /* qsort, bsearch */

/* A body beyond the first part of the log. */
typedef struct item {
	uint64_t number;
	rt_effect_slot slot; /* of a text that no state names: what is known of it */
	bool is_named;       /* by the state */
} item;

typedef struct salvaging {
	const rt_alloc *alloc;
	rt_store *from, *to;
	rt_engine *old, *new;    /* old: what is left, opened leniently */
	const rt_project *first; /* after the rows up to the first gap */
	const rt_project *ahead; /* of the checkpoint and what follows it; NULL: none */
	rt_arena *arena;         /* lives to the end */
	uint32_t *owners;        /* of the bodies that the first rows name */
	item *items;
	size_t item_count, item_room;
	rt_salvaged *out;
	rt_error *err;
	rt_status status; /* of a callback */
} salvaging;

static rt_status
nomem(rt_error *err)
{
	return rt_fail(err, RT_NOMEM, "out of memory");
}

/* ---- rows ---- */

typedef struct row_kept {
	salvaging *s;
	rt_store_row row;
	bool found;
} row_kept;

static bool
keep_row(void *ctx, const rt_store_row *row)
{
	row_kept *k = ctx;
	char *data = rt_arena_get(k->s->arena, row->data.size + 1);

	if (data == NULL) {
		k->s->status = nomem(k->s->err);
		return false;
	}
	memcpy(data, row->data.ptr, row->data.size);
	k->row = *row;
	k->row.data = rt_str_at(data, row->data.size);
	k->found = true;
	return false;
}

/* A row into the arena. *out_found false: it is missing. */
static rt_status
read_row(salvaging *s, uint64_t seq, rt_store_row *out, bool *out_found)
{
	row_kept k = {.s = s};
	rt_error why;
	rt_status st = s->from->ops->read(s->from, rt_rows_one(RT_STORE_LOG, s->old->project, seq),
					  keep_row, &k, &why);

	if (st == RT_OK)
		st = s->status;
	else if (st != RT_CORRUPT && s->err != NULL)
		*s->err = why;
	*out_found = st == RT_OK && k.found;
	*out = k.row;
	return st == RT_CORRUPT ? RT_OK : st;
}

static rt_status
note_owners(salvaging *s, rt_arena *scratch, const rt_store_row *row)
{
	rt_record record;
	size_t i, j;
	rt_status st = rt_record_read(s->alloc, scratch, row->data, &record, s->err);

	for (i = 0; st == RT_OK && record.kind == RT_RECORD_STEP && i < record.effect_count; i++)
		for (j = 0; j < record.effects[i].added_count; j++) {
			const rt_slot *slot = &record.effects[i].added[j].slot;

			if (slot->body < s->first->next_body)
				s->owners[slot->body] = slot->entry;
		}
	return st;
}

static rt_status
copy_rows(salvaging *s, rt_arena *scratch)
{
	uint64_t seq;
	rt_status st = RT_OK;

	for (seq = 1; st == RT_OK && seq <= s->first->seq; seq++) {
		rt_store_row row;
		bool found;

		rt_arena_reset(scratch);
		rt_arena_reset(s->arena);
		st = read_row(s, seq, &row, &found);
		if (st == RT_OK && !found)
			st = rt_fail(s->err, RT_CORRUPT, "log row %llu went missing",
				     (unsigned long long)seq);
		if (st == RT_OK)
			st = note_owners(s, scratch, &row);
		if (st == RT_OK)
			st = s->to->ops->append(s->to, s->new->project, seq - 1, &row, 1, NULL, 0,
						NULL, s->err);
	}
	rt_arena_reset(s->arena);
	return st;
}

/* The bytes of a body, or some that are none. */
static rt_status
read_body(salvaging *s, uint64_t number, rt_buf *bytes, bool *out_found)
{
	rt_error why;
	rt_status st;

	rt_buf_clear(bytes);
	st = rt_store_get(s->from, rt_rows_one(RT_STORE_BODIES, s->old->project, number), bytes,
			  NULL, &why);
	*out_found = st == RT_OK;
	if (st == RT_NOT_FOUND || st == RT_CORRUPT) {
		rt_buf_clear(bytes);
		rt_buf_add_byte(bytes, '?');
		st = bytes->status;
	} else if (st != RT_OK && s->err != NULL) {
		*s->err = why;
	}
	return st;
}

static rt_status
copy_bodies(salvaging *s)
{
	uint64_t number;
	rt_buf bytes;
	rt_status st = RT_OK;

	rt_buf_init(&bytes, s->alloc, RT_BUF_UNLIMITED);
	for (number = 1; st == RT_OK && number < s->first->next_body; number++) {
		rt_store_row row = {.number = number, .entry = s->owners[number]};
		bool found;

		st = read_body(s, number, &bytes, &found);
		if (st != RT_OK || (!found && row.entry == 0))
			continue; /* a number that was never used */
		s->out->bodies_lost += !found;
		row.data = rt_buf_str(&bytes);
		st = s->to->ops->append(s->to, s->new->project, s->first->seq, NULL, 0, &row, 1,
					NULL, s->err);
	}
	rt_buf_deinit(&bytes);
	return st;
}

static bool
copy_side(void *ctx, const rt_store_row *row)
{
	salvaging *s = ctx;

	if (!rt_str_is(row->name, RT_HEAD_MARK))
		s->status = s->to->ops->write(
			s->to, rt_rows_named(RT_STORE_SIDE, s->new->project, row->name), row->data,
			s->err);
	return s->status == RT_OK;
}

/* What can be taken over as it is. The new project's engine sees it afterwards. */
static rt_status
copy_first(salvaging *s)
{
	const rt_store_ops *ops = s->to->ops;
	rt_arena *scratch = rt_arena_new(s->alloc);
	size_t room = (size_t)s->first->next_body + 1;
	rt_status st = RT_OK;

	s->owners = rt_new_array(s->alloc, room, sizeof(*s->owners));
	if (scratch == NULL || s->owners == NULL) {
		rt_arena_free(scratch);
		return nomem(s->err);
	}
	memset(s->owners, 0, room * sizeof(*s->owners));
	st = ops->begin(s->to, s->err);
	if (st == RT_OK)
		st = s->from->ops->read(s->from, rt_rows_all(RT_STORE_SIDE, s->old->project),
					copy_side, s, s->err);
	if (st == RT_OK)
		st = s->status;
	if (st == RT_OK && s->old->salt != 0) /* its side row may be lost */
		st = ops->write(
			s->to,
			rt_rows_named(RT_STORE_SIDE, s->new->project, RT_STR(RT_SALTED_MARK)),
			RT_STR("1"), s->err);
	if (st == RT_OK)
		st = copy_rows(s, scratch);
	if (st == RT_OK)
		st = copy_bodies(s);
	if (st == RT_OK && s->first->seq > 0)
		st = rt_engine_mark_head(s->new, s->first->seq, s->err);
	if (st == RT_OK)
		st = ops->commit(s->to, s->err);
	ops->cancel(s->to);
	rt_arena_free(scratch);
	return st;
}

/* ---- bodies beyond the first part ---- */

static rt_status
add_item(salvaging *s, const item *what)
{
	if (s->item_count == s->item_room) {
		size_t room = s->item_room * 2 + 64;
		item *items = rt_resize(s->alloc, s->items, room * sizeof(*items));

		if (items == NULL)
			return nomem(s->err);
		s->items = items;
		s->item_room = room;
	}
	s->items[s->item_count++] = *what;
	return RT_OK;
}

static int
by_number(const void *a, const void *b)
{
	const item *x = a, *y = b;

	if (x->number != y->number)
		return x->number < y->number ? -1 : 1;
	return (int)y->is_named - (int)x->is_named;
}

/* Sorted, each number once; one that the state names before others. */
static void
sort_items(salvaging *s)
{
	size_t i, count = 0;

	if (s->item_count == 0)
		return;
	qsort(s->items, s->item_count, sizeof(*s->items), by_number);
	for (i = 0; i < s->item_count; i++)
		if (count == 0 || s->items[count - 1].number != s->items[i].number)
			s->items[count++] = s->items[i];
	s->item_count = count;
}

/* What the slots of the later state name. */
static rt_status
name_items(salvaging *s)
{
	size_t d, t, at;
	rt_status st = RT_OK;

	for (d = 1; st == RT_OK && d <= rt_project_disc_count(s->ahead); d++) {
		const rt_disc *disc;

		st = rt_project_disc(s->ahead, (uint32_t)d, &disc, s->err);
		for (t = 1; st == RT_OK && t <= rt_disc_take_count(disc); t++) {
			const rt_seq *slots = rt_disc_take(disc, (uint32_t)t)->slots;

			for (at = 0; st == RT_OK && at < rt_seq_count(slots); at++) {
				item one = {.is_named = true};

				st = rt_seq_get(slots, at, &one.slot.slot, s->err);
				one.number = one.slot.slot.body;
				if (st == RT_OK && one.number >= s->first->next_body)
					st = add_item(s, &one);
			}
		}
	}
	return st;
}

static bool
add_leftover(void *ctx, const rt_store_row *row)
{
	salvaging *s = ctx;
	item one = {.number = row->number};

	if (row->data.size == 0 || row->data.ptr[0] == RT_BODY_PURGED)
		return true;
	one.slot.slot.entry = row->entry < RT_HEAD_TIP - 1 ? (uint32_t)row->entry : 0;
	one.slot.slot.body = row->number;
	one.slot.slot.size = row->data.size - 1 < UINT32_MAX ? (uint32_t)(row->data.size - 1)
							     : UINT32_MAX;
	one.slot.role = RT_STR("User");
	one.slot.kind = RT_STR("");
	s->status = add_item(s, &one);
	return s->status == RT_OK;
}

/* Rows after the gap cannot be taken in, but they say what a text was. */
static rt_status
learn_roles(salvaging *s)
{
	uint64_t seq;
	rt_status st = RT_OK;

	for (seq = s->first->seq + 1; st == RT_OK && seq <= s->out->rows_known; seq++) {
		rt_record record;
		rt_store_row row;
		bool found;
		size_t i, j;

		st = read_row(s, seq, &row, &found);
		if (st != RT_OK || !found ||
		    rt_record_read(s->alloc, s->arena, row.data, &record, NULL) != RT_OK ||
		    record.kind != RT_RECORD_STEP)
			continue;
		for (i = 0; i < record.effect_count; i++)
			for (j = 0; j < record.effects[i].added_count; j++) {
				const rt_effect_slot *slot = &record.effects[i].added[j];
				item key = {.number = slot->slot.body};
				item *hit;

				key.is_named = false;
				for (hit = NULL; s->item_count > 0 && hit == NULL;) {
					hit = bsearch(&key, s->items, s->item_count,
						      sizeof(*s->items), by_number);
					if (hit != NULL || key.is_named)
						break;
					key.is_named = true;
				}
				if (hit == NULL || hit->is_named)
					continue;
				hit->slot.role = slot->role;
				hit->slot.kind = slot->kind;
				hit->slot.slot.ts_us = slot->slot.ts_us;
			}
	}
	return st;
}

static rt_status
gather_items(salvaging *s)
{
	rt_status st = s->ahead != NULL ? name_items(s) : RT_OK;

	if (st == RT_OK)
		st = s->from->ops->read(s->from,
					rt_rows_between(RT_STORE_BODIES, s->old->project,
							s->first->next_body, RT_STORE_NUMBER_MAX),
					add_leftover, s, s->err);
	if (st == RT_OK)
		st = s->status;
	sort_items(s);
	return st == RT_OK ? learn_roles(s) : st;
}

/* ---- the later state, as changes ---- */

static rt_status
set_to(rt_change *c, uint32_t disc, uint32_t sub, rt_str key, rt_str value, rt_error *err)
{
	rt_change_set(c, disc, sub, key, 0, value);
	return rt_change_status(c, err);
}

static rt_status
set_present(rt_change *c, uint32_t disc, uint32_t sub, bool present, rt_error *err)
{
	rt_change_set(c, disc, sub, RT_STR("present"), 0,
		      present ? RT_STR("true") : rt_str_at(NULL, 0));
	return rt_change_status(c, err);
}

static rt_status
same_fields(rt_change *c, uint32_t disc, const rt_fields *now, const rt_fields *then, rt_error *err)
{
	size_t i;
	rt_status st = RT_OK;

	for (i = 0; st == RT_OK && i < rt_fields_count(then); i++)
		st = set_to(c, disc, 0, rt_fields_name(then, i), rt_fields_value(then, i), err);
	for (i = 0; st == RT_OK && i < rt_fields_count(now); i++)
		if (rt_fields_get(then, rt_fields_name(now, i)).ptr == NULL)
			st = set_to(c, disc, 0, rt_fields_name(now, i), rt_str_at(NULL, 0), err);
	return st;
}

static rt_status
same_labels(salvaging *s, rt_change *c, uint32_t disc, const rt_disc *now, const rt_disc *then)
{
	size_t i, at;
	rt_status st = RT_OK;

	for (i = 0; st == RT_OK && i < rt_seq_count(then->labels); i++) {
		rt_slot label;
		rt_str text;

		st = rt_seq_get(then->labels, i, &label, s->err);
		if (st == RT_OK)
			st = rt_project_name(s->ahead, (uint32_t)label.body, &text, s->err);
		if (st == RT_OK) {
			rt_change_set_text(c, disc, 0, "label", (uint32_t)label.key, text);
			st = rt_change_status(c, s->err);
		}
	}
	for (i = 0; st == RT_OK && i < rt_seq_count(now->labels); i++) {
		rt_slot label;
		bool found = true;

		st = rt_seq_get(now->labels, i, &label, s->err);
		if (st == RT_OK)
			st = rt_seq_find(then->labels, label.key, &at, &found, NULL, s->err);
		if (st == RT_OK && !found) {
			rt_change_set(c, disc, 0, RT_STR("label"), (uint32_t)label.key,
				      rt_str_at(NULL, 0));
			st = rt_change_status(c, s->err);
		}
	}
	return st;
}

/* A slot of the later state, with the id that was given to its entry. */
static rt_status
slot_then(salvaging *s, rt_change *c, const rt_slot *slot, rt_effect_slot *out)
{
	char id[RT_ID_MAX + 1];
	rt_slot home;
	bool found;
	rt_status st;

	memset(out, 0, sizeof(*out));
	out->slot = *slot;
	st = rt_project_name(s->ahead, slot->role, &out->role, s->err);
	if (st == RT_OK)
		st = rt_project_name(s->ahead, slot->kind, &out->kind, s->err);
	if (st == RT_OK)
		st = rt_project_entry(c->now, slot->entry, &home, &found, s->err);
	if (st != RT_OK || found)
		return st;
	st = rt_project_entry(s->ahead, slot->entry, &home, &found, s->err);
	if (st == RT_OK && found && home.ts_us != 0)
		st = rt_entry_id(s->ahead, slot->entry, id, s->err);
	if (st == RT_OK && found && home.ts_us != 0) {
		out->id = rt_scope_copy(c->scope, rt_str_of(id));
		if (out->id.ptr == NULL)
			st = nomem(s->err);
	}
	return st;
}

static bool
same_slot(const rt_effect_slot *a, const rt_effect_slot *b)
{
	return a->slot.entry == b->slot.entry && a->slot.body == b->slot.body &&
	       a->slot.flags == b->slot.flags && a->slot.ts_us == b->slot.ts_us &&
	       a->slot.size == b->slot.size && rt_str_eq(a->role, b->role) &&
	       rt_str_eq(a->kind, b->kind);
}

/* Replace what differs, from the first to the last entry that does. */
static rt_status
same_slots(salvaging *s, rt_change *c, uint32_t disc, uint32_t number, const rt_seq *now,
	   const rt_seq *then)
{
	size_t had = rt_seq_count(now), count = rt_seq_count(then), head = 0, tail = 0, i;
	rt_effect_slot *fresh = rt_new_array(s->alloc, count + 1, sizeof(*fresh));
	rt_effect_slot *old = rt_new_array(s->alloc, had + 1, sizeof(*old));
	rt_status st = fresh == NULL || old == NULL ? nomem(s->err) : RT_OK;
	rt_slot slot;

	for (i = 0; st == RT_OK && i < count; i++) {
		st = rt_seq_get(then, i, &slot, s->err);
		if (st == RT_OK)
			st = slot_then(s, c, &slot, &fresh[i]);
	}
	for (i = 0; st == RT_OK && i < had; i++) {
		st = rt_seq_get(now, i, &slot, s->err);
		if (st == RT_OK) {
			old[i] = rt_change_name(c, &slot);
			st = rt_change_status(c, s->err);
		}
	}
	while (st == RT_OK && head < had && head < count && same_slot(&old[head], &fresh[head]))
		head++;
	while (st == RT_OK && tail < had - head && tail < count - head &&
	       same_slot(&old[had - tail - 1], &fresh[count - tail - 1]))
		tail++;
	if (st == RT_OK) {
		rt_change_splice(c, disc, number, head, had - head - tail, fresh + head,
				 count - head - tail);
		st = rt_change_status(c, s->err);
	}
	rt_free(s->alloc, fresh);
	rt_free(s->alloc, old);
	return st;
}

static rt_str
text_of(const rt_text *text)
{
	return text != NULL ? rt_text_str(text) : rt_str_at("", 0);
}

static rt_status
same_take(salvaging *s, rt_change *c, uint32_t disc, const rt_take *then)
{
	const rt_disc *now;
	rt_status st = rt_project_disc(c->now, disc, &now, s->err);

	if (st == RT_OK && then->number > rt_disc_take_count(now)) {
		rt_effect e = {.kind = RT_EFFECT_NEW,
			       .disc = disc,
			       .sub = then->number,
			       .name = rt_text_str(then->name),
			       .git_commit = text_of(then->git_commit)};

		rt_change_emit(c, &e);
		st = rt_change_status(c, s->err);
	} else if (st == RT_OK) {
		rt_change_set_text(c, disc, then->number, "name", 0, rt_text_str(then->name));
		st = rt_change_status(c, s->err);
	}
	if (st == RT_OK)
		st = set_present(c, disc, then->number, then->present, s->err);
	if (st == RT_OK)
		st = rt_project_disc(c->now, disc, &now, s->err);
	return st == RT_OK ? same_slots(s, c, disc, then->number,
					rt_disc_take(now, then->number)->slots, then->slots)
			   : st;
}

static rt_status
same_disc(salvaging *s, rt_change *c, uint32_t number)
{
	const rt_cell *cell = rt_project_cell(s->ahead, number);
	const rt_disc *then, *now;
	uint32_t t;
	rt_status st = rt_project_disc(s->ahead, number, &then, s->err);

	if (st != RT_OK)
		return st;
	if (number > rt_project_disc_count(c->now)) {
		rt_effect e = {.kind = RT_EFFECT_NEW,
			       .sub = number,
			       .name = rt_cell_name(cell),
			       .take_name = rt_text_str(rt_disc_take(then, 1)->name),
			       .git_commit = text_of(rt_disc_take(then, 1)->git_commit)};

		rt_change_emit(c, &e);
		st = rt_change_status(c, s->err);
	} else {
		rt_change_set_text(c, 0, number, "name", 0, rt_cell_name(cell));
		st = rt_change_status(c, s->err);
	}
	if (st == RT_OK)
		st = set_present(c, 0, number, cell->present, s->err);
	for (t = 1; st == RT_OK && t <= rt_disc_take_count(then); t++)
		st = same_take(s, c, number, rt_disc_take(then, t));
	if (st == RT_OK)
		st = rt_project_disc(c->now, number, &now, s->err);
	now = st == RT_OK ? rt_object_ref(now) : NULL;
	if (st == RT_OK)
		st = same_labels(s, c, number, now, then);
	if (st == RT_OK)
		st = same_fields(c, number, now->fields, then->fields, s->err);
	rt_object_unref(now);
	if (st == RT_OK) {
		rt_change_set_number(c, number, 0, "active", then->active);
		st = rt_change_status(c, s->err);
	}
	if (st == RT_OK && then->head == RT_HEAD_TIP) {
		rt_change_clear(c, number, 0, "head");
		st = rt_change_status(c, s->err);
	} else if (st == RT_OK) {
		rt_change_set_number(c, number, 0, "head", then->head);
		st = rt_change_status(c, s->err);
	}
	return st;
}

static rt_status
same_views(salvaging *s, rt_change *c)
{
	size_t i;
	rt_status st = RT_OK;

	for (i = 0; st == RT_OK && i < rt_seq_count(s->ahead->views); i++) {
		rt_slot view;
		unsigned now = 0;

		st = rt_seq_get(s->ahead->views, i, &view, s->err);
		if (st == RT_OK)
			st = rt_project_view(c->now, (uint32_t)view.key, &now, s->err);
		if (st == RT_OK && now != view.body && view.key < c->now->next_entry) {
			rt_change_view(c, (uint32_t)view.key, (unsigned)view.body);
			st = rt_change_status(c, s->err);
		}
	}
	return st;
}

static rt_status
same_project(salvaging *s, rt_change *c)
{
	const rt_fields *now;
	size_t d;
	rt_status st = RT_OK;

	for (d = 1; st == RT_OK && d <= rt_project_disc_count(s->ahead); d++)
		st = same_disc(s, c, (uint32_t)d);
	now = rt_object_ref(c->now->fields);
	if (st == RT_OK)
		st = same_fields(c, 0, now, s->ahead->fields, s->err);
	rt_object_unref(now);
	if (st == RT_OK) {
		rt_change_set_number(c, 0, 0, "active", s->ahead->active);
		st = rt_change_status(c, s->err);
	}
	return st == RT_OK ? same_views(s, c) : st;
}

/* ---- texts that nothing names ---- */

static rt_status
recovered_name(salvaging *s, rt_change *c, rt_str *out)
{
	char name[40] = "recovered";
	int i;

	for (i = 2; rt_project_disc_named(c->now, rt_str_of(name)) != 0; i++)
		(void)snprintf(name, sizeof(name), "recovered_%d", i);
	*out = rt_scope_copy(c->scope, rt_str_of(name));
	return out->ptr == NULL ? nomem(s->err) : RT_OK;
}

static rt_status
add_leftovers(salvaging *s, rt_change *c)
{
	rt_effect e = {.kind = RT_EFFECT_NEW, .take_name = RT_STR("main")};
	rt_effect_slot *slots = rt_new_array(s->alloc, s->item_count + 1, sizeof(*slots));
	uint32_t next = c->now->next_entry, highest = next;
	size_t i, count = 0;
	rt_status st = slots == NULL ? nomem(s->err) : RT_OK;

	/* Entries keep their numbers where they can: the first text of each, in order. */
	for (i = 0; st == RT_OK && i < s->item_count; i++)
		if (!s->items[i].is_named && s->items[i].slot.slot.entry >= highest)
			highest = s->items[i].slot.slot.entry + 1;
	for (i = 0; st == RT_OK && i < s->item_count; i++) {
		if (s->items[i].is_named)
			continue;
		if (s->items[i].slot.slot.entry >= next)
			next = s->items[i].slot.slot.entry + 1;
		else
			s->items[i].slot.slot.entry = highest++;
		if (s->items[i].slot.slot.ts_us == 0)
			s->items[i].slot.slot.ts_us = s->new->env->now_us(s->new->env->ctx);
		slots[count++] = s->items[i].slot;
	}
	if (st == RT_OK && count > 0) {
		e.sub = (uint32_t)rt_project_disc_count(c->now) + 1;
		st = recovered_name(s, c, &e.name);
		if (st == RT_OK) {
			rt_change_emit(c, &e);
			st = rt_change_status(c, s->err);
		}
		if (st == RT_OK)
			st = set_present(c, 0, e.sub, true, s->err);
		if (st == RT_OK) {
			rt_change_splice(c, e.sub, 1, 0, 0, slots, count);
			st = rt_change_status(c, s->err);
		}
		s->out->recovered = count;
		(void)snprintf(s->out->discussion, sizeof(s->out->discussion), "%s", e.name.ptr);
	}
	rt_free(s->alloc, slots);
	return st;
}

/* The bodies of everything that the change names, in order. */
static rt_status
add_bodies(salvaging *s, rt_change *c)
{
	rt_buf bytes;
	size_t i;
	rt_status st = RT_OK;

	rt_buf_init(&bytes, s->alloc, RT_BUF_UNLIMITED);
	for (i = 0; st == RT_OK && i < s->item_count; i++) {
		bool found;

		st = read_body(s, s->items[i].number, &bytes, &found);
		s->out->bodies_lost += st == RT_OK && !found;
		c->next_body = s->items[i].number;
		if (st == RT_OK) {
			(void)rt_change_add_body(c, s->items[i].slot.slot.entry,
						 rt_scope_copy(c->scope, rt_buf_str(&bytes)));
			st = rt_change_status(c, s->err);
		}
	}
	rt_buf_deinit(&bytes);
	return st;
}

/* One row for what came after the first part. */
static rt_status
add_rest(salvaging *s)
{
	const rt_store_ops *ops = s->to->ops;
	const rt_project *base = NULL, *next = NULL;
	rt_scope scope;
	rt_change c;
	rt_status st;

	rt_engine_lock_writer(s->new);
	st = ops->begin(s->to, s->err);
	if (st == RT_OK)
		st = rt_engine_newest(s->new, &base, s->err);
	if (st != RT_OK) {
		ops->cancel(s->to);
		rt_engine_unlock_writer(s->new);
		return st;
	}
	rt_scope_init(&scope, s->alloc);
	rt_change_init(&c, &scope, s->new, base);
	if (s->ahead != NULL)
		st = same_project(s, &c);
	if (st == RT_OK)
		st = add_leftovers(s, &c);
	if (st == RT_OK)
		st = add_bodies(s, &c);
	if (st == RT_OK && c.effect_count + c.view_count > 0) {
		next = rt_change_write(&c, RT_STR("import"), 0);
		st = rt_change_status(&c, s->err);
	}
	if (st == RT_OK && next != NULL)
		st = ops->commit(s->to, s->err);
	ops->cancel(s->to);
	rt_change_deinit(&c);
	rt_scope_deinit(&scope);
	if (st == RT_OK && next != NULL)
		rt_engine_publish(s->new, next);
	else
		rt_object_unref(next);
	rt_object_unref(base);
	rt_engine_unlock_writer(s->new);
	return st;
}

/* ---- what is missing ---- */

/* The last row that anything speaks of. */
static rt_status
find_known(salvaging *s)
{
	uint64_t head = 0, mark = 0, known;
	rt_error why;
	rt_status st = s->from->ops->head(s->from, RT_STORE_LOG, s->old->project, &head, s->err);

	if (st != RT_OK)
		return st;
	st = rt_engine_head_mark(s->old, &mark, &why);
	if (st == RT_CORRUPT)
		st = RT_OK;
	else if (st != RT_OK && s->err != NULL)
		*s->err = why;
	known = head > mark ? head : mark;
	if (s->ahead != NULL && s->ahead->seq > known)
		known = s->ahead->seq;
	s->out->rows_known = known;
	return st;
}

static rt_status
tell_missing(salvaging *s, rt_lost_rows_fn fn, void *ctx)
{
	uint64_t seq, from = 0;
	rt_status st = RT_OK;

	for (seq = s->first->seq + 1; st == RT_OK && seq <= s->out->rows_known + 1; seq++) {
		rt_store_row row;
		bool found = seq > s->out->rows_known;

		if (!found)
			st = read_row(s, seq, &row, &found);
		if (!found && from == 0)
			from = seq;
		if (found && from != 0) {
			s->out->rows_lost += seq - from;
			fn(ctx, from, seq - 1);
			from = 0;
		}
		if (found && seq <= s->out->rows_known)
			s->out->rows_unused++;
	}
	return st;
}

static rt_status
open_new(salvaging *s, const rt_env *env, rt_str name)
{
	rt_engine_options options = {
		.alloc = s->alloc, .env = env, .project = name, .by = RT_STR("repair")};

	return rt_engine_open(&options, s->to, &s->new, s->err);
}

rt_status
rt_engine_salvage(const rt_alloc *alloc, const rt_env *env, rt_store *from, rt_str name,
		  rt_store *to, rt_salvaged *out, rt_lost_rows_fn fn, void *ctx, rt_error *err)
{
	rt_engine_options options = {.alloc = alloc, .env = env, .project = name, .lenient = true};
	salvaging s = {.alloc = alloc, .from = from, .to = to, .out = out, .err = err};
	uint64_t number;
	rt_status st;

	memset(out, 0, sizeof(*out));
	s.arena = rt_arena_new(alloc);
	st = s.arena == NULL ? nomem(err) : rt_engine_open(&options, from, &s.old, err);
	if (st == RT_OK && rt_engine_newer(s.old, err))
		st = RT_TOO_NEW;
	if (st == RT_OK)
		st = rt_engine_load_parts(s.old, &s.first, &s.ahead, err);
	if (st == RT_OK)
		st = find_known(&s);
	if (st == RT_OK)
		st = to->ops->begin(to, err);
	if (st == RT_OK) {
		st = to->ops->project_new(to, name, &number, err);
		if (st == RT_OK && s.old->salt != 0)
			st = to->ops->write(
				to, rt_rows_named(RT_STORE_SIDE, number, RT_STR(RT_SALTED_MARK)),
				RT_STR("1"), err);
		if (st == RT_OK)
			st = to->ops->commit(to, err);
		to->ops->cancel(to);
	}
	if (st == RT_OK)
		st = open_new(&s, env, name);
	if (st == RT_OK)
		st = copy_first(&s);
	rt_engine_close(s.new);
	s.new = NULL;
	if (st == RT_OK)
		st = open_new(&s, env, name);
	if (st == RT_OK)
		st = gather_items(&s);
	if (st == RT_OK)
		st = add_rest(&s);
	if (st == RT_OK)
		st = tell_missing(&s, fn, ctx);
	if (st == RT_OK) {
		out->rows = s.first->seq;
		out->state_seq = s.ahead != NULL ? s.ahead->seq : 0;
	}
	rt_engine_close(s.new);
	rt_object_unref(s.first);
	rt_object_unref(s.ahead);
	rt_engine_close(s.old);
	rt_free(alloc, s.owners);
	rt_free(alloc, s.items);
	rt_arena_free(s.arena);
	return st;
}
