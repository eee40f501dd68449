/* SPDX-License-Identifier: MIT
 *
 * Operations on takes, the head and labels. A take is never copied: a branch refers to a take and
 * the length of the common beginning. */
#include <stdlib.h> /* qsort */

#include "core/role.h"
#include "log/engine_impl.h"
#include "ops/ops.h"

/* ---- names ---- */

rt_str
rt_take_base(rt_str name)
{
	size_t at = rt_str_find(name, RT_STR("_take_"), 0);

	return at == SIZE_MAX ? name : rt_str_at(name.ptr, at);
}

/* The n of "<base>_take_<n>", without leading zeros and at most max; 0: not such a name. */
static size_t
take_index(rt_str name, rt_str base, size_t max)
{
	size_t at = base.size + 6;
	uint64_t n;

	if (name.size <= at || !rt_str_starts(name, base) ||
	    memcmp(name.ptr + base.size, "_take_", 6) != 0 || name.ptr[at] == '0')
		return 0;
	return rt_str_u64(rt_str_skip(name, at), max, &n) ? (size_t)n : 0;
}

/* `<base>_take_<n>` with the first free n (C7), which is at most the number of takes plus one. */
static rt_str
numbered_name(rt_change *c, const rt_disc *disc, rt_str like)
{
	rt_str base = rt_take_base(like);
	size_t count = rt_disc_take_count(disc), n = 1;
	bool *used = rt_scope_array(c->scope, count + 2, sizeof(*used));
	rt_buf *name = rt_scope_buf(c->scope);

	if (!rt_change_ok(c))
		return base;
	for (size_t i = 1; i <= count; i++) {
		const rt_take *take = rt_disc_take(disc, (uint32_t)i);

		if (take->present)
			used[take_index(rt_text_str(take->name), base, count + 1)] = true;
	}
	while (used[n])
		n++;
	rt_buf_add_str(name, base);
	rt_buf_add_c(name, "_take_");
	rt_buf_add_u64(name, n);
	return rt_scope_str(c->scope, name);
}

void
rt_check_name(rt_change *c, rt_str name)
{
	if (name.size == 0)
		rt_scope_fail(c->scope, RT_USAGE, "\"name\" is empty");
}

static void
check_take_name(rt_change *c, const rt_disc *disc, rt_str name)
{
	rt_check_name(c, name);
	if (disc != NULL && rt_disc_take_named(disc, name) != 0)
		rt_scope_fail(c->scope, RT_REFUSED, "a take \"%.*s\" already exists",
			      RT_STR_ARG(name));
}

void
rt_check_disc_name(rt_change *c, rt_str name)
{
	rt_check_name(c, name);
	if (rt_project_disc_named(c->now, name) != 0)
		rt_scope_fail(c->scope, RT_REFUSED, "a discussion \"%.*s\" already exists",
			      RT_STR_ARG(name));
}

/* ---- which take ---- */

/* Make a take active with the head at its tip. */
static void
activate(rt_change *c, uint32_t disc, uint32_t take)
{
	rt_take_files_switch(c, disc, take);
	rt_change_set_number(c, disc, 0, "active", take);
	rt_change_clear(c, disc, 0, "head");
}

/* The take that an operation names in "take"; NULL after a failure. */
static const rt_take *
named_take(rt_change *c, const rt_request *r, const rt_disc **out_disc)
{
	const rt_disc *disc = *out_disc = rt_change_disc(c);
	const rt_take *take =
		disc != NULL ? rt_disc_take(disc, rt_take_addressed(disc, r->target)) : NULL;

	if (take == NULL)
		rt_scope_fail_advise(c->scope, RT_NOT_FOUND, "see: retake takes",
				     "no take \"%.*s\"", RT_STR_ARG(rt_address_shown(r->target)));
	else if (!take->present)
		rt_scope_fail(c->scope, RT_NOT_FOUND,
			      "take \"%.*s\" was deleted; undo restores it",
			      RT_STR_ARG(rt_address_shown(r->target)));
	return rt_change_ok(c) ? take : NULL;
}

/* ---- making takes ---- */

/* A take out of the first count slots of another one, which becomes active. */
static void
make_take(rt_change *c, const rt_disc *disc, uint32_t from, size_t count, rt_str name,
	  rt_str git_commit)
{
	rt_effect e = {.kind = RT_EFFECT_NEW,
		       .disc = disc->number,
		       .sub = (uint32_t)rt_disc_take_count(disc) + 1,
		       .from_take = from,
		       .count = count,
		       .name = name,
		       .git_commit = git_commit};

	rt_take_files_switch(c, e.disc, from); /* the lists of its source */
	rt_change_emit(c, &e);
	rt_change_set_number(c, e.disc, 0, "active", e.sub);
	rt_change_clear(c, e.disc, 0, "head");
	rt_result_take(c, name);
	c->place.take = e.sub;
}

void
rt_fork_take(rt_change *c, size_t at)
{
	rt_position from = rt_find_take(c);

	if (!rt_change_ok(c))
		return;
	make_take(c, from.disc, from.take->number, at,
		  numbered_name(c, from.disc, rt_text_str(from.take->name)),
		  rt_scope_copy(c->scope, rt_text_str(from.take->git_commit)));
}

void
rt_fork_aside(rt_change *c, size_t at)
{
	const rt_disc *disc = rt_change_disc(c);

	if (disc == NULL)
		return;
	uint32_t number = disc->number, active = disc->active;
	rt_str head = rt_change_field(c, number, 0, RT_STR("head"), 0);
	rt_fork_take(c, at);
	rt_change_set_number(c, number, 0, "active", active);
	rt_change_set(c, number, 0, RT_STR("head"), 0, head);
}

rt_str
rt_present_commit(rt_change *c, const rt_request *r)
{
	if (r->git_commit.ptr != NULL || c->engine->git_commit == NULL)
		return r->git_commit;
	return rt_scope_copy(c->scope, rt_str_of(c->engine->git_commit(c->engine->git_ctx)));
}

void
rt_op_take_branch(rt_change *c, const rt_request *r)
{
	rt_position s = rt_find_anywhere(c, r->entry);
	rt_str commit, name = r->name;

	if (!rt_change_ok(c))
		return;
	if (name.ptr != NULL)
		check_take_name(c, s.disc, name);
	else
		name = numbered_name(c, s.disc, rt_text_str(s.take->name));
	commit = rt_text_str(s.take->git_commit);
	if (s.take->git_commit == NULL || r->git_commit.ptr != NULL)
		commit = rt_present_commit(c, r);
	make_take(c, s.disc, s.take->number, s.at + 1, rt_scope_copy(c->scope, name),
		  rt_scope_copy(c->scope, commit));
	rt_result_entry(c, s.entry);
}

void
rt_op_take_switch(rt_change *c, const rt_request *r)
{
	const rt_disc *disc;
	const rt_take *take = named_take(c, r, &disc);

	if (take == NULL)
		return;
	rt_result_take(c, rt_text_str(take->name));
	if (take->number != disc->active)
		activate(c, disc->number, take->number);
}

void
rt_op_take_rename(rt_change *c, const rt_request *r)
{
	const rt_disc *disc;
	const rt_take *take = named_take(c, r, &disc);

	rt_check_name(c, r->name);
	if (!rt_change_ok(c))
		return;
	rt_result_take(c, r->name);
	if (rt_disc_take_named(disc, r->name) == take->number)
		return;
	check_take_name(c, disc, r->name);
	rt_change_set_text(c, disc->number, take->number, "name", 0, r->name);
}

void
rt_op_take_delete(rt_change *c, const rt_request *r)
{
	const rt_disc *disc;
	const rt_take *take = named_take(c, r, &disc);
	uint32_t next;

	if (take != NULL && rt_disc_present_count(disc) < 2)
		rt_scope_fail(c->scope, RT_REFUSED, "\"%.*s\" is the last take; it cannot be deleted",
			      RT_STR_ARG(rt_text_str(take->name)));
	if (!rt_change_ok(c))
		return;
	next = rt_disc_first(disc, take->number);
	if (disc->active == take->number) {
		rt_result_take(c, rt_text_str(rt_disc_take(disc, next)->name));
		activate(c, disc->number, next);
	}
	rt_change_clear(c, disc->number, take->number, "present");
}

/* A new discussion out of the first count slots of a take; labels, the commit and the lists of
 * files go along. Its number. */
static uint32_t
make_disc(rt_change *c, const rt_disc *disc, const rt_take *take, uint64_t count, rt_str name)
{
	rt_effect e = {.kind = RT_EFFECT_NEW,
		       .sub = (uint32_t)rt_project_disc_count(c->now) + 1,
		       .from_disc = disc->number,
		       .from_take = take->number,
		       .count = count,
		       .name = rt_scope_copy(c->scope, name),
		       .git_commit = rt_scope_copy(c->scope, rt_text_str(take->git_commit))};

	rt_str files = rt_take_files(c, disc, take->number);

	e.take_name = e.name;
	rt_change_emit(c, &e);
	rt_take_files_give(c, e.sub, files);
	rt_result_disc(c, name);
	rt_result_take(c, name);
	return e.sub;
}

void
rt_op_take_promote(rt_change *c, const rt_request *r)
{
	const rt_disc *disc;
	const rt_take *take = named_take(c, r, &disc);
	rt_buf *note = rt_scope_buf(c->scope);
	uint32_t made;

	rt_check_name(c, r->name);
	if (take != NULL && rt_disc_present_count(disc) < 2)
		rt_scope_fail(c->scope, RT_REFUSED,
			      "\"%.*s\" is the only take; rename the discussion instead",
			      RT_STR_ARG(rt_text_str(take->name)));
	rt_check_disc_name(c, r->name);
	if (!rt_change_ok(c))
		return;
	rt_buf_add_f(note, "The steps of \"%.*s\" and the record of its last request stay in \"%.*s\".",
		     RT_STR_ARG(rt_text_str(take->name)), RT_STR_ARG(rt_cell_name(rt_project_cell(c->now, disc->number))));
	rt_result_set_note(c->result, c->scope, note);
	made = make_disc(c, disc, take, rt_seq_count(take->slots), r->name);
	if (disc->active == take->number)
		activate(c, disc->number, rt_disc_first(disc, take->number));
	rt_change_clear(c, disc->number, take->number, "present");
	if (disc->active == take->number && c->now->active == disc->number)
		rt_change_set_number(c, 0, 0, "active", made);
}

/* ---- clear, truncate ---- */

void
rt_op_take_clear(rt_change *c, const rt_request *r)
{
	rt_position end = rt_find_take(c);

	c->result->count = end.at;
	rt_change_splice(c, c->place.disc, c->place.take, 0, end.at, NULL, 0);
	if (r->all == RT_YES) {
		rt_change_clear(c, c->place.disc, 0, "prompt");
		rt_change_clear(c, c->place.disc, 0, "prompt_edited");
	}
}

void
rt_op_take_truncate(rt_change *c, const rt_request *r)
{
	rt_position end = rt_find_take(c);
	uint64_t pairs = r->pairs.value, turns;
	size_t at = end.at;

	if (!rt_change_ok(c))
		return;
	turns = rt_seq_total(end.take->slots).turns;
	if (pairs > turns)
		return;
	if (pairs > 0)
		RT_TRY(c->scope, rt_seq_find_turn(end.take->slots, turns - pairs, &at,
						  &c->scope->error));
	c->result->count = at;
	rt_change_splice(c, c->place.disc, c->place.take, 0, at, NULL, 0);
}

/* ---- graft ---- */

static int
by_position(const void *a, const void *b)
{
	const rt_position *x = a, *y = b;

	return (x->at > y->at) - (x->at < y->at);
}

/* Entries of a take by their addresses, each once and in its order (C51). */
static rt_position *
pick(rt_change *c, yyjson_val *addresses, size_t *out_count)
{
	rt_position *picks = rt_scope_array(c->scope, yyjson_arr_size(addresses), sizeof(*picks));
	yyjson_val *item;
	size_t i, max, k, count = 0;

	yyjson_arr_foreach(addresses, i, max, item)
	{
		if (!yyjson_is_str(item))
			rt_scope_fail(c->scope, RT_USAGE,
				      "\"entries\" must be a list of addresses as strings");
		rt_position s = rt_find_entry(c, rt_json_str(item));
		if (!rt_change_ok(c))
			return NULL;
		for (k = 0; k < count && picks[k].entry != s.entry; k++)
			;
		if (k == count)
			picks[count++] = s;
	}
	*out_count = count;
	if (count > 0)
		qsort(picks, count, sizeof(*picks), by_position);
	return picks;
}

/* A new entry with the content of another, and its id as "grafted_from". */
static rt_effect_slot
copy_entry(rt_change *c, const rt_effect_slot *of)
{
	const rt_body *old = rt_change_read_body(c, of->slot.body);
	rt_effect_slot copy = rt_new_slot(c, of->role, of->kind, RT_STR(""));
	rt_buf *body = rt_scope_buf(c->scope);
	char id[RT_ID_MAX + 1] = "";

	RT_TRY(c->scope, rt_entry_id(c->now, of->slot.entry, id, &c->scope->error));
	rt_buf_add_c(body, "J{\"content\":");
	rt_body_add_content(body, old);
	rt_body_add_fields(body, c->scope->alloc, old, false);
	rt_json_put_str(body, "grafted_from", rt_str_of(id));
	rt_buf_add_byte(body, '}');
	copy.slot.ts_us = of->slot.ts_us;
	copy.slot.flags = of->slot.flags & ~(uint32_t)RT_SLOT_EDITED;
	rt_give_body(c, &copy, rt_scope_str(c->scope, body),
		     old->format == RT_BODY_PURGED ? 0 : of->slot.size);
	return copy;
}

void
rt_op_take_graft(rt_change *c, const rt_request *r)
{
	rt_position into = rt_find_take(c);
	uint32_t number = c->place.take, from;
	rt_effect_slot *slots;
	rt_position *picks;
	size_t at = 0, count = 0;

	if (!rt_change_ok(c))
		return;
	from = rt_take_addressed(into.disc, r->from_take);
	if (from == 0 || !rt_disc_take(into.disc, from)->present)
		rt_scope_fail_advise(c->scope, RT_NOT_FOUND, "see: retake takes",
				     "no take \"%.*s\"", RT_STR_ARG(r->from_take));
	/* an empty take has nothing to insert before or after */
	if (into.at > 0 || r->before.ptr != NULL || r->after.ptr != NULL)
		at = rt_find_gap(c, r);
	c->place.take = from;
	picks = pick(c, r->entries, &count);
	c->place.take = number;
	if (!rt_change_ok(c) || count == 0)
		return;
	slots = rt_scope_array(c->scope, count, sizeof(*slots));
	for (size_t i = 0; i < count && rt_change_ok(c); i++) {
		bool found = false;
		size_t where;

		RT_TRY(c->scope, rt_take_find(c->now, into.take, picks[i].entry, &where, NULL,
					      &found, &c->scope->error));
		/* an entry is in a take only once */
		slots[i] = found ? copy_entry(c, &picks[i].slot) : picks[i].slot;
	}
	rt_change_splice(c, c->place.disc, number, at, 0, slots, count);
	if (rt_change_ok(c))
		rt_result_entry(c, slots[0].slot.entry);
	c->result->count = count;
}

/* ---- head and labels ---- */

void
rt_op_head_move(rt_change *c, const rt_request *r)
{
	bool to_start = rt_str_is_null(r->entry);
	rt_position s = to_start ? rt_find_take(c) : rt_find_anywhere(c, r->entry);
	uint32_t head;
	size_t count;

	if (!rt_change_ok(c))
		return;
	if (!to_start)
		rt_result_entry(c, s.entry);
	count = rt_seq_count(s.take->slots);
	head = to_start ? RT_HEAD_START : s.entry;
	if (to_start ? count == 0 : s.at + 1 == count)
		head = RT_HEAD_TIP;
	if (s.take->number != s.disc->active) {
		rt_result_take(c, rt_text_str(s.take->name));
		rt_take_files_switch(c, c->place.disc, s.take->number);
		rt_change_set_number(c, c->place.disc, 0, "active", s.take->number);
	}
	if (head == RT_HEAD_TIP)
		rt_change_clear(c, c->place.disc, 0, "head");
	else
		rt_change_set_number(c, c->place.disc, 0, "head", head);
}

void
rt_op_label_set(rt_change *c, const rt_request *r)
{
	uint32_t entry = 0;

	RT_TRY(c->scope, rt_resolve_entry(c->now, c->place, r->entry, true, &entry,
					  &c->scope->error));
	rt_result_entry(c, entry);
	rt_set_or_clear(c, c->place.disc, "label", entry, r->label);
}

/* ---- extract (C50) ---- */

/* `<base>_<n>`, the first that no discussion has. */
static rt_str
free_disc_name(rt_change *c, rt_str base)
{
	rt_buf *name = rt_scope_buf(c->scope);

	for (uint64_t n = 2; rt_change_ok(c); n++) {
		rt_buf_clear(name);
		rt_buf_add_str(name, base);
		rt_buf_add_byte(name, '_');
		rt_buf_add_u64(name, n);
		if (rt_project_disc_named(c->now, rt_scope_str(c->scope, name)) == 0)
			break;
	}
	return rt_scope_str(c->scope, name);
}

/* The text of an entry in the result, for the editor. */
static void
hand_back(rt_change *c, const rt_slot *slot)
{
	rt_buf *text = rt_scope_buf(c->scope);

	rt_body_add_text(text, rt_change_read_body(c, slot->body));
	rt_str words = rt_scope_str(c->scope, text);
	if (!rt_change_ok(c))
		return;
	c->result->editor = (rt_text *)(uintptr_t)rt_text_new(c->engine->alloc, words);
	if (c->result->editor == NULL)
		rt_scope_nomem(c->scope);
}

void
rt_op_discussion_extract(rt_change *c, const rt_request *r)
{
	rt_position s = rt_find_anywhere(c, r->entry);
	rt_buf *link = rt_scope_buf(c->scope), *disc_id = rt_scope_buf(c->scope);
	char id[RT_ID_MAX + 1] = "";
	bool left_out = rt_role_is_user(s.slot.role); /* a question, to be sent again */
	rt_str name = r->name;
	uint32_t made;

	RT_TRY(c->scope, rt_entry_id(c->now, s.entry, id, &c->scope->error));
	if (!rt_change_ok(c))
		return;
	if (left_out)
		hand_back(c, &s.slot.slot);
	else
		rt_result_entry(c, s.entry);
	if (name.ptr != NULL)
		rt_check_disc_name(c, name);
	else
		name = free_disc_name(c, rt_cell_name(rt_project_cell(c->now, s.disc->number)));
	rt_buf_add_number_id(disc_id, 'd', s.disc->number);
	rt_json_open(link, NULL, '{');
	rt_json_put_str(link, "discussion", rt_scope_str(c->scope, disc_id));
	rt_json_put_str(link, "entry", rt_str_of(id));
	rt_json_close(link, '}');
	made = make_disc(c, s.disc, s.take, left_out ? s.at : s.at + 1, name);
	rt_change_set(c, made, 0, RT_STR("link"), 0, rt_scope_str(c->scope, link));
	rt_change_set_number(c, 0, 0, "active", made);
}
