/* SPDX-License-Identifier: MIT
 *
 * Operations on takes, the head and labels. A take is never copied: a branch names the
 * take it begins like and how far. */
#include <stdlib.h> /* qsort */

#include "ops/compile.h"

static rt_status
nomem(rt_error *err)
{
	return rt_fail(err, RT_NOMEM, "out of memory");
}

static rt_status
unchanged(rt_change *c)
{
	if (c->result != NULL)
		c->result->unchanged = true;
	return RT_OK;
}

rt_str
rt_compile_take_base(rt_str name)
{
	size_t at = rt_str_find(name, RT_STR("_take_"), 0);

	return at == SIZE_MAX ? name : rt_str_at(name.ptr, at);
}

rt_status
rt_compile_take_name(rt_change *c, const rt_disc *disc, rt_str like, rt_str *out, rt_error *err)
{
	rt_str base = rt_compile_take_base(like);
	size_t n, i, count = rt_disc_take_count(disc);
	bool *used = rt_new_array(c->engine->alloc, count + 2, 1);
	rt_buf name;
	rt_status st = RT_OK;

	/* the first free n is at most the number of takes and one: mark those in use */
	if (used == NULL)
		return nomem(err);
	memset(used, 0, count + 2);
	for (i = 1; i <= count; i++) {
		const rt_take *take = rt_disc_take(disc, (uint32_t)i);
		rt_str other = rt_text_str(take->name);
		size_t number = 0, k;

		if (!take->present || other.size <= base.size + 6 || !rt_str_starts(other, base) ||
		    memcmp(other.ptr + base.size, "_take_", 6) != 0)
			continue;
		if (other.ptr[base.size + 6] == '0')
			continue;
		for (k = base.size + 6; k < other.size && number <= count; k++) {
			if (other.ptr[k] < '0' || other.ptr[k] > '9') {
				number = count + 2;
				break;
			}
			number = number * 10 + (size_t)(other.ptr[k] - '0');
		}
		if (number >= 1 && number <= count + 1)
			used[number] = true;
	}
	for (n = 1; used[n]; n++)
		;
	rt_free(c->engine->alloc, used);
	rt_buf_init(&name, c->engine->alloc, RT_BUF_UNLIMITED);
	rt_buf_add_str(&name, base);
	rt_buf_add_c(&name, "_take_");
	rt_buf_add_u64(&name, n);
	*out = name.status == RT_OK ? rt_change_keep(c, rt_buf_str(&name)) : rt_str_at(NULL, 0);
	if (out->ptr == NULL)
		st = nomem(err);
	rt_buf_deinit(&name);
	return st;
}

rt_status
rt_compile_take_for(const rt_project *project, const rt_disc *disc, uint32_t entry,
		    uint32_t *out_take, size_t *out_at, rt_error *err)
{
	size_t i, at, best_at = 0;
	uint32_t best = 0;
	bool best_tip = false;

	for (i = 1; i <= rt_disc_take_count(disc); i++) {
		const rt_take *take = rt_disc_take(disc, (uint32_t)i);
		bool found, tip;
		rt_status st;

		if (!take->present)
			continue;
		st = rt_take_find(project, take, entry, &at, NULL, &found, err);
		if (st != RT_OK)
			return st;
		if (!found)
			continue;
		tip = at + 1 == rt_seq_count(take->slots);
		if (best == 0 || (tip && !best_tip)) {
			best = take->number;
			best_at = at;
			best_tip = tip;
		}
	}
	*out_take = best;
	*out_at = best_at;
	return RT_OK;
}

uint32_t
rt_first_take(const rt_disc *disc, uint32_t but)
{
	const rt_take *best = NULL;
	size_t i;

	for (i = 1; i <= rt_disc_take_count(disc); i++) {
		const rt_take *take = rt_disc_take(disc, (uint32_t)i);

		if (take->present && take->number != but &&
		    (best == NULL ||
		     rt_str_cmp(rt_text_str(take->name), rt_text_str(best->name)) < 0))
			best = take;
	}
	return best == NULL ? 0 : best->number;
}

static rt_status
head_to_tip(rt_change *c, uint32_t disc, rt_error *err)
{
	return rt_change_set(c, disc, 0, "head", 0, rt_str_at(NULL, 0), err);
}

/* Make a take active with the head at its tip. */
static rt_status
activate(rt_change *c, uint32_t disc, uint32_t take, rt_error *err)
{
	rt_status st = rt_change_set_number(c, disc, 0, "active", take, err);

	return st == RT_OK ? head_to_tip(c, disc, err) : st;
}

/* The take that an operation names in "take". */
static rt_status
named_take(rt_change *c, const rt_request *r, const rt_disc **out_disc, const rt_take **out,
	   rt_error *err)
{
	rt_str name = r->target;
	rt_status st = rt_change_disc(c, out_disc, err);

	if (st != RT_OK)
		return st;
	*out = rt_disc_take(*out_disc, rt_take_addressed(*out_disc, name));
	if (*out == NULL)
		return rt_fail(err, RT_NOT_FOUND, "no take \"%.*s\"; see: retake takes",
			       RT_STR_ARG(name));
	if (!(*out)->present)
		return rt_fail(err, RT_NOT_FOUND, "take \"%.*s\" was deleted; undo brings it back",
			       RT_STR_ARG(name));
	return RT_OK;
}

rt_status
rt_op_take_branch(rt_change *c, const rt_request *r, rt_error *err)
{
	const rt_disc *disc;
	const rt_take *from;
	uint32_t entry, number;
	size_t at;
	rt_effect e;
	rt_status st = rt_resolve_entry(c->now, c->place, r->entry, true, &entry, err);

	if (st == RT_OK)
		st = rt_change_disc(c, &disc, err);
	if (st == RT_OK) {
		/* a pinned take that holds it goes first */
		bool found = false;

		from = rt_disc_take(disc, c->place.take);
		st = rt_take_find(c->now, from, entry, &at, NULL, &found, err);
		number = from->number;
		if (st == RT_OK && !found)
			st = rt_compile_take_for(c->now, disc, entry, &number, &at, err);
	}
	if (st != RT_OK)
		return st;
	from = rt_disc_take(disc, number);
	memset(&e, 0, sizeof(e));
	e.kind = RT_EFFECT_NEW;
	e.disc = disc->number;
	e.sub = (uint32_t)rt_disc_take_count(disc) + 1;
	e.from_take = number;
	e.count = at + 1;
	if (r->name.ptr != NULL) {
		if (r->name.size == 0)
			return rt_fail(err, RT_USAGE, "\"name\" is empty");
		if (rt_disc_take_named(disc, r->name) != 0)
			return rt_fail(err, RT_REFUSED, "there is a take \"%.*s\" already",
				       RT_STR_ARG(r->name));
		e.name = rt_change_keep(c, r->name);
		if (e.name.ptr == NULL)
			return nomem(err);
	} else {
		st = rt_compile_take_name(c, disc, rt_text_str(from->name), &e.name, err);
		if (st != RT_OK)
			return st;
	}
	if (from->git_commit != NULL) {
		e.git_commit = rt_change_keep(c, rt_text_str(from->git_commit));
	} else if (c->engine->git_commit != NULL) {
		const char *commit = c->engine->git_commit(c->engine->git_ctx);

		e.git_commit = rt_change_keep(c, rt_str_of(commit));
	}
	st = rt_change_emit(c, &e, err);
	if (st == RT_OK)
		st = activate(c, e.disc, e.sub, err);
	if (st == RT_OK)
		st = rt_compile_result_entry(c, entry, err);
	rt_compile_result_take(c, e.name);
	return st;
}

rt_status
rt_op_take_switch(rt_change *c, const rt_request *r, rt_error *err)
{
	const rt_disc *disc;
	const rt_take *take;
	rt_status st = named_take(c, r, &disc, &take, err);

	if (st != RT_OK)
		return st;
	rt_compile_result_take(c, rt_text_str(take->name));
	if (take->number == disc->active)
		return unchanged(c);
	return activate(c, disc->number, take->number, err);
}

rt_status
rt_op_take_rename(rt_change *c, const rt_request *r, rt_error *err)
{
	rt_str name = r->name;
	const rt_disc *disc;
	const rt_take *take;
	uint32_t other;
	rt_status st = named_take(c, r, &disc, &take, err);

	if (st != RT_OK)
		return st;
	if (name.size == 0)
		return rt_fail(err, RT_USAGE, "\"name\" is empty");
	other = rt_disc_take_named(disc, name);
	if (other == take->number) {
		rt_compile_result_take(c, name);
		return unchanged(c);
	}
	if (other != 0)
		return rt_fail(err, RT_REFUSED, "there is a take \"%.*s\" already",
			       RT_STR_ARG(name));
	st = rt_change_set_text(c, disc->number, take->number, "name", 0, name, err);
	rt_compile_result_take(c, name);
	return st;
}

rt_status
rt_op_take_delete(rt_change *c, const rt_request *r, rt_error *err)
{
	const rt_disc *disc;
	const rt_take *take;
	uint32_t number, disc_number, next;
	bool active;
	rt_status st = named_take(c, r, &disc, &take, err);

	if (st != RT_OK)
		return st;
	if (rt_disc_present_count(disc) < 2)
		return rt_fail(err, RT_REFUSED, "\"%.*s\" is the last take; it cannot be deleted",
			       RT_STR_ARG(rt_text_str(take->name)));
	number = take->number;
	disc_number = disc->number;
	active = disc->active == number;
	next = rt_first_take(disc, number);
	if (active) {
		rt_compile_result_take(c, rt_change_keep(c, rt_text_str(rt_disc_take(disc, next)->name)));
		st = activate(c, disc_number, next, err);
	}
	if (st == RT_OK)
		st = rt_change_set(c, disc_number, number, "present", 0, rt_str_at(NULL, 0), err);
	return st;
}

/* A new discussion out of the first count slots of a take; labels go along. */
static rt_status
new_from_take(rt_change *c, const rt_disc *disc, const rt_take *take, uint64_t count, rt_str name,
	      uint32_t *out_number, rt_error *err)
{
	rt_effect e;
	rt_status st;

	memset(&e, 0, sizeof(e));
	e.kind = RT_EFFECT_NEW;
	e.sub = (uint32_t)rt_project_disc_count(c->now) + 1;
	e.from_disc = disc->number;
	e.from_take = take->number;
	e.count = count;
	e.name = rt_change_keep(c, name);
	e.take_name = e.name;
	e.git_commit = rt_change_keep(c, rt_text_str(take->git_commit));
	if (e.name.ptr == NULL)
		return nomem(err);
	st = rt_change_emit(c, &e, err);
	*out_number = e.sub;
	return st;
}

rt_status
rt_op_take_promote(rt_change *c, const rt_request *r, rt_error *err)
{
	rt_str name = r->name;
	const rt_disc *disc;
	const rt_take *take;
	uint32_t made, number, disc_number;
	bool was_active;
	rt_status st = named_take(c, r, &disc, &take, err);

	if (st != RT_OK)
		return st;
	if (name.size == 0)
		return rt_fail(err, RT_USAGE, "\"name\" is empty");
	if (rt_disc_present_count(disc) < 2)
		return rt_fail(err, RT_REFUSED,
			       "\"%.*s\" is the only take; rename the discussion instead",
			       RT_STR_ARG(rt_text_str(take->name)));
	if (rt_project_disc_named(c->now, name) != 0)
		return rt_fail(err, RT_REFUSED, "there is a discussion \"%.*s\" already",
			       RT_STR_ARG(name));
	number = take->number;
	disc_number = disc->number;
	was_active = disc->active == number;
	st = new_from_take(c, disc, take, rt_seq_count(take->slots), name, &made, err);
	if (st == RT_OK)
		st = rt_project_disc(c->now, disc_number, &disc, err);
	if (st == RT_OK && was_active)
		st = activate(c, disc_number, rt_first_take(disc, number), err);
	if (st == RT_OK)
		st = rt_change_set(c, disc_number, number, "present", 0, rt_str_at(NULL, 0), err);
	if (st == RT_OK && was_active && c->now->active == disc_number)
		st = rt_change_set_number(c, 0, 0, "active", made, err);
	rt_compile_result_disc(c, name);
	rt_compile_result_take(c, name);
	return st;
}

rt_status
rt_op_take_clear(rt_change *c, const rt_request *r, rt_error *err)
{
	bool all = r->all == RT_YES;
	size_t before = c->effect_count;
	const rt_disc *disc;
	const rt_take *take;
	rt_status st = rt_change_disc(c, &disc, err);

	if (st != RT_OK)
		return st;
	take = rt_disc_take(disc, c->place.take);
	if (c->result != NULL)
		c->result->count = rt_seq_count(take->slots);
	st = rt_change_splice(c, c->place.disc, c->place.take, 0, rt_seq_count(take->slots), NULL, 0,
			      err);
	if (st == RT_OK && all)
		st = rt_change_set(c, c->place.disc, 0, "prompt", 0, rt_str_at(NULL, 0), err);
	if (st == RT_OK && all)
		st = rt_change_set(c, c->place.disc, 0, "prompt_edited", 0, rt_str_at(NULL, 0), err);
	if (st == RT_OK && c->effect_count == before)
		return unchanged(c);
	return st;
}

rt_status
rt_op_take_truncate(rt_change *c, const rt_request *r, rt_error *err)
{
	const rt_disc *disc;
	const rt_take *take;
	uint64_t pairs = r->pairs.value, turns;
	size_t at;
	rt_status st = rt_change_disc(c, &disc, err);

	if (st != RT_OK)
		return st;
	take = rt_disc_take(disc, c->place.take);
	turns = rt_seq_total(take->slots).turns;
	at = rt_seq_count(take->slots);
	if (pairs > turns)
		return unchanged(c);
	if (pairs > 0) {
		st = rt_seq_find_turn(take->slots, turns - pairs, &at, err);
		if (st != RT_OK)
			return st;
	}
	if (at == 0)
		return unchanged(c);
	if (c->result != NULL)
		c->result->count = at;
	return rt_change_splice(c, c->place.disc, c->place.take, 0, at, NULL, 0, err);
}

typedef struct picked {
	size_t at;
	rt_slot slot;
} picked;

static int
by_position(const void *a, const void *b)
{
	const picked *x = a, *y = b;

	return (x->at > y->at) - (x->at < y->at);
}

rt_status
rt_op_take_graft(rt_change *c, const rt_request *r, rt_error *err)
{
	yyjson_val *list = r->entries, *item;
	rt_str from_name = r->from_take;
	size_t count = yyjson_arr_size(list), i, max, at, kept = 0;
	const rt_disc *disc;
	const rt_take *from, *into;
	rt_place place = c->place;
	picked *picks;
	rt_effect_slot *slots;
	rt_status st = rt_change_disc(c, &disc, err);

	if (st != RT_OK)
		return st;
	place.take = rt_take_addressed(disc, from_name);
	if (place.take == 0 || !rt_disc_take(disc, place.take)->present)
		return rt_fail(err, RT_NOT_FOUND, "no take \"%.*s\"; see: retake takes",
			       RT_STR_ARG(from_name));
	from = rt_disc_take(disc, place.take);
	into = rt_disc_take(disc, c->place.take);
	/* into an empty take there is nothing to stand before or after */
	if (rt_seq_count(into->slots) == 0 && r->before.ptr == NULL && r->after.ptr == NULL)
		at = 0;
	else
		st = rt_compile_gap(c, r, &at, err);
	if (st != RT_OK)
		return st;
	picks = rt_arena_get(c->arena, count * sizeof(*picks) + 1);
	slots = rt_arena_get(c->arena, count * sizeof(*slots) + 1);
	if (picks == NULL || slots == NULL)
		return nomem(err);
	yyjson_arr_foreach(list, i, max, item)
	{
		uint32_t entry;
		bool found;
		size_t j;

		if (!yyjson_is_str(item))
			return rt_fail(err, RT_USAGE, "\"entries\" is a list of addresses as strings");
		st = rt_resolve_entry(c->now, place, rt_json_str(item), false, &entry, err);
		if (st == RT_OK)
			st = rt_take_find(c->now, from, entry, &picks[kept].at, &picks[kept].slot,
					  &found, err);
		if (st != RT_OK)
			return st;
		for (j = 0; j < kept && picks[j].slot.entry != entry; j++)
			;
		kept += j == kept;
	}
	if (kept == 0)
		return unchanged(c);
	qsort(picks, kept, sizeof(*picks), by_position); /* their order is kept (C51) */
	for (i = 0; i < kept; i++) {
		bool found;
		size_t where;

		st = rt_change_name(c, &picks[i].slot, &slots[i], err);
		if (st == RT_OK)
			st = rt_take_find(c->now, into, picks[i].slot.entry, &where, NULL, &found, err);
		if (st != RT_OK)
			return st;
		if (found) { /* the take has it already: a new entry that names the old one */
			rt_effect_slot fresh;
			rt_buf bytes, body;
			rt_body old;
			bool old_purged;
			char id[RT_ID_MAX + 1];

			st = rt_compile_plain(c, slots[i].role, slots[i].kind, RT_STR(""),
					      false, rt_str_at(NULL, 0), &fresh, err);
			if (st == RT_OK)
				st = rt_entry_id(c->now, picks[i].slot.entry, id, err);
			if (st != RT_OK)
				return st;
			c->body_count--; /* a body with the text, the fields and the link instead */
			c->next_body--;
			st = rt_change_body_read(c, picks[i].slot.body, &bytes, &old, err);
			if (st != RT_OK) {
				rt_buf_deinit(&bytes);
				return st;
			}
			rt_buf_init(&body, c->engine->alloc, RT_BUF_UNLIMITED);
			rt_buf_add_c(&body, "J{\"content\":");
			rt_body_add_content(&body, &old);
			rt_body_add_fields(&body, c->engine->alloc, &old, false);
			rt_buf_add_c(&body, ",\"grafted_from\":");
			rt_json_add_string(&body, rt_str_of(id));
			rt_buf_add_byte(&body, '}');
			st = body.status != RT_OK ? nomem(err)
						  : rt_change_body(c, fresh.slot.entry,
								   rt_buf_str(&body),
								   &fresh.slot.body, err);
			old_purged = old.format == RT_BODY_PURGED;
			rt_body_deinit(&old);
			rt_buf_deinit(&bytes);
			rt_buf_deinit(&body);
			if (st != RT_OK)
				return st;
			fresh.slot.size = old_purged ? 0 : picks[i].slot.size;
			fresh.slot.ts_us = picks[i].slot.ts_us;
			fresh.slot.flags = (picks[i].slot.flags & ~(uint32_t)RT_SLOT_EDITED) |
					   RT_SLOT_RICH;
			slots[i] = fresh;
		}
	}
	st = rt_change_splice(c, c->place.disc, c->place.take, at, 0, slots, kept, err);
	if (st == RT_OK)
		st = rt_compile_result_entry(c, slots[0].slot.entry, err);
	if (c->result != NULL)
		c->result->count = kept;
	return st;
}

/* ---- head and labels ---- */

rt_status
rt_op_head_move(rt_change *c, const rt_request *r, rt_error *err)
{
	const rt_disc *disc;
	const rt_take *take;
	uint32_t entry = RT_HEAD_START, number, head;
	size_t at = 0, count;
	bool found = false;
	rt_status st;

	if (!rt_str_is_null(r->entry)) {
		st = rt_resolve_entry(c->now, c->place, r->entry, true, &entry, err);
		if (st != RT_OK)
			return st;
	}
	st = rt_change_disc(c, &disc, err);
	if (st != RT_OK)
		return st;
	number = c->place.take;
	if (entry != RT_HEAD_START) {
		st = rt_take_find(c->now, rt_disc_take(disc, number), entry, &at, NULL, &found, err);
		if (st == RT_OK && !found)
			st = rt_compile_take_for(c->now, disc, entry, &number, &at, err);
		if (st == RT_OK)
			st = rt_compile_result_entry(c, entry, err);
		if (st != RT_OK)
			return st;
	}
	take = rt_disc_take(disc, number);
	count = rt_seq_count(take->slots);
	head = entry == RT_HEAD_START ? (count == 0 ? RT_HEAD_TIP : RT_HEAD_START)
	       : at + 1 == count      ? RT_HEAD_TIP
				      : entry;
	if (number == disc->active && head == disc->head)
		return unchanged(c);
	if (number != disc->active) {
		rt_compile_result_take(c, rt_text_str(take->name));
		st = rt_change_set_number(c, c->place.disc, 0, "active", number, err);
	}
	if (st == RT_OK && head == RT_HEAD_TIP)
		st = head_to_tip(c, c->place.disc, err);
	else if (st == RT_OK)
		st = rt_change_set_number(c, c->place.disc, 0, "head", head, err);
	return st;
}

rt_status
rt_op_label_set(rt_change *c, const rt_request *r, rt_error *err)
{
	rt_str label = r->label;
	size_t before = c->effect_count;
	uint32_t entry;
	rt_status st = rt_resolve_entry(c->now, c->place, r->entry, true, &entry, err);

	if (st == RT_OK)
		st = rt_compile_result_entry(c, entry, err);
	if (st != RT_OK)
		return st;
	if (label.size == 0)
		st = rt_change_set(c, c->place.disc, 0, "label", entry, rt_str_at(NULL, 0), err);
	else
		st = rt_change_set_text(c, c->place.disc, 0, "label", entry, label, err);
	if (st == RT_OK && c->effect_count == before)
		return unchanged(c);
	return st;
}

/* ---- extract (C50) ---- */

static rt_status
free_name(rt_change *c, rt_str base, rt_str *out, rt_error *err)
{
	uint64_t n;

	for (n = 2;; n++) {
		rt_buf name;
		rt_str kept;

		rt_buf_init(&name, c->engine->alloc, RT_BUF_UNLIMITED);
		rt_buf_add_str(&name, base);
		rt_buf_add_byte(&name, '_');
		rt_buf_add_u64(&name, n);
		kept = name.status == RT_OK ? rt_change_keep(c, rt_buf_str(&name))
					    : rt_str_at(NULL, 0);
		rt_buf_deinit(&name);
		if (kept.ptr == NULL)
			return nomem(err);
		if (rt_project_disc_named(c->now, kept) == 0) {
			*out = kept;
			return RT_OK;
		}
	}
}

rt_status
rt_op_discussion_extract(rt_change *c, const rt_request *r, rt_error *err)
{
	const rt_disc *disc;
	const rt_take *take;
	rt_slot slot;
	rt_str role, name;
	rt_buf link;
	char id[RT_ID_MAX + 1];
	uint32_t entry, number, made;
	size_t at;
	uint64_t count;
	rt_status st = rt_resolve_entry(c->now, c->place, r->entry, true, &entry, err);

	if (st == RT_OK)
		st = rt_change_disc(c, &disc, err);
	if (st == RT_OK) {
		bool found;

		number = c->place.take;
		st = rt_take_find(c->now, rt_disc_take(disc, number), entry, &at, NULL, &found, err);
		if (st == RT_OK && !found)
			st = rt_compile_take_for(c->now, disc, entry, &number, &at, err);
	}
	if (st != RT_OK)
		return st;
	take = rt_disc_take(disc, number);
	st = rt_seq_get(take->slots, at, &slot, err);
	if (st == RT_OK)
		st = rt_project_name(c->now, slot.role, &role, err);
	if (st == RT_OK)
		st = rt_entry_id(c->now, entry, id, err);
	if (st != RT_OK)
		return st;
	count = at + 1;
	if (rt_role_is_user(role)) { /* left out: its text comes back for re-submission */
		rt_buf bytes, text;
		rt_body body;

		count = at;
		st = rt_change_body_read(c, slot.body, &bytes, &body, err);
		if (st == RT_OK && c->result != NULL) {
			rt_buf_init(&text, c->engine->alloc, RT_BUF_UNLIMITED);
			rt_body_add_text(&text, &body);
			c->result->editor = (rt_text *)(uintptr_t)rt_text_new(c->engine->alloc,
									      rt_buf_str(&text));
			rt_buf_deinit(&text);
		}
		rt_body_deinit(&body);
		rt_buf_deinit(&bytes);
		if (st != RT_OK)
			return st;
	}
	if (r->name.ptr != NULL) {
		name = r->name;
		if (name.size == 0)
			return rt_fail(err, RT_USAGE, "\"name\" is empty");
		if (rt_project_disc_named(c->now, name) != 0)
			return rt_fail(err, RT_REFUSED, "there is a discussion \"%.*s\" already",
				       RT_STR_ARG(name));
	} else {
		st = free_name(c, rt_cell_name(rt_project_cell(c->now, disc->number)), &name,
			       err);
		if (st != RT_OK)
			return st;
	}
	rt_buf_init(&link, c->engine->alloc, RT_BUF_UNLIMITED);
	rt_buf_add_c(&link, "{\"discussion\":\"");
	rt_buf_add_number_id(&link, 'd', disc->number);
	rt_buf_add_c(&link, "\",\"entry\":");
	rt_json_add_string(&link, rt_str_of(id));
	rt_buf_add_byte(&link, '}');
	st = link.status == RT_OK ? RT_OK : nomem(err);
	if (st == RT_OK)
		st = new_from_take(c, disc, take, count, name, &made, err);
	if (st == RT_OK)
		st = rt_change_set(c, made, 0, "link", 0, rt_buf_str(&link), err);
	if (st == RT_OK)
		st = rt_change_set_number(c, 0, 0, "active", made, err);
	rt_buf_deinit(&link);
	rt_compile_result_disc(c, name);
	rt_compile_result_take(c, name);
	if (st == RT_OK && count == at + 1)
		st = rt_compile_result_entry(c, entry, err);
	return st;
}
