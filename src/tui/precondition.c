/* SPDX-License-Identifier: MIT */
#include "tui/precondition.h"

#include "base/hash.h"
#include "view/view.h"

void
rt_precondition_init(rt_precondition *precondition, const rt_alloc *alloc, uint32_t disc)
{
	memset(precondition, 0, sizeof(*precondition));
	precondition->alloc = alloc;
	precondition->disc = disc;
	rt_buf_init(&precondition->prompt, alloc, RT_BUF_UNLIMITED);
}

void
rt_precondition_deinit(rt_precondition *precondition)
{
	rt_free(precondition->alloc, precondition->spots);
	rt_buf_deinit(&precondition->prompt);
	precondition->spots = NULL;
	precondition->count = precondition->room = 0;
}

/* ---- entries ---- */

/* An entry in a take, and its label; *out_there false: it is not in it. */
static rt_status
spot_of(const rt_project *value, uint32_t number, uint32_t take, uint32_t entry,
	rt_precondition_entry *out, bool *out_there, rt_error *err)
{
	const rt_cell *cell = rt_project_cell(value, number);
	const rt_disc *disc = NULL;
	const rt_take *in;
	rt_str label;
	size_t at;
	rt_status st;

	*out_there = false;
	if (cell == NULL || !cell->present)
		return RT_OK;
	st = rt_project_disc(value, number, &disc, err);
	in = st == RT_OK ? rt_disc_take(disc, take) : NULL;
	if (in == NULL || !in->present)
		return st;
	st = rt_take_find(value, in, entry, &at, &out->slot, out_there, err);
	if (st == RT_OK && *out_there)
		st = rt_disc_label(value, disc, entry, &label, err);
	if (st != RT_OK || !*out_there)
		return st;
	out->take = take;
	out->label = label.size > 0 ? rt_hash(label.ptr, label.size, 1) : 0;
	return RT_OK;
}

rt_status
rt_precondition_add_entry(rt_precondition *precondition, const rt_project *value, uint32_t take,
			  uint32_t entry, rt_error *err)
{
	bool is_there = false;
	rt_precondition_entry spot;
	rt_status st = spot_of(value, precondition->disc, take, entry, &spot, &is_there, err);

	if (st != RT_OK || !is_there)
		return st;
	if (precondition->count == precondition->room) {
		size_t room = precondition->room == 0 ? 4 : 2 * precondition->room;
		rt_precondition_entry *spots = rt_new_array(precondition->alloc, room,
							    sizeof(*spots));

		if (spots == NULL)
			return rt_fail(err, RT_NOMEM, "out of memory");
		if (precondition->count > 0)
			memcpy(spots, precondition->spots, precondition->count * sizeof(*spots));
		rt_free(precondition->alloc, precondition->spots);
		precondition->spots = spots;
		precondition->room = room;
	}
	precondition->spots[precondition->count++] = spot;
	return RT_OK;
}

rt_status
rt_precondition_entry_matches(const rt_precondition *precondition, size_t at, const rt_project *now,
			      bool *out_holds, bool *out_there, rt_error *err)
{
	const rt_precondition_entry *was = &precondition->spots[at];
	bool is_there = false;
	rt_precondition_entry is;
	rt_status st = spot_of(now, precondition->disc, was->take, was->slot.entry, &is, &is_there,
			       err);

	if (st != RT_OK)
		return st;
	/* What is seen of it, and not where it stands. */
	*out_holds = is_there && is.slot.body == was->slot.body && is.slot.ts_us == was->slot.ts_us &&
		     is.slot.role == was->slot.role && is.slot.kind == was->slot.kind &&
		     is.slot.flags == was->slot.flags && is.label == was->label;
	if (out_there != NULL)
		*out_there = is_there;
	return RT_OK;
}

/* 0: it is not there. */
static rt_status
hash_below(const rt_project *value, uint32_t number, uint32_t take, uint32_t entry, uint64_t *out,
	   rt_error *err)
{
	const rt_disc *disc = NULL;
	bool is_there = false;
	rt_precondition_entry spot;
	const rt_take *in;
	size_t at = 0, count;
	rt_slot slot;
	rt_status st = spot_of(value, number, take, entry, &spot, &is_there, err);

	*out = 0;
	if (st != RT_OK || !is_there)
		return st;
	st = rt_project_disc(value, number, &disc, err);
	if (st != RT_OK)
		return st;
	in = rt_disc_take(disc, take);
	count = rt_seq_count(in->slots);
	st = rt_take_find(value, in, entry, &at, &slot, &is_there, err);
	*out = 1;
	for (; st == RT_OK && at < count; at++) {
		uint64_t both[2];

		st = rt_seq_get(in->slots, at, &slot, err);
		both[0] = slot.entry;
		both[1] = slot.body;
		if (st == RT_OK)
			*out = rt_hash(both, sizeof(both), *out) | 1;
	}
	return st;
}

rt_status
rt_precondition_add_below(rt_precondition *precondition, const rt_project *value, uint32_t take,
			  uint32_t entry, rt_error *err)
{
	precondition->below_take = take;
	precondition->below = entry;
	return hash_below(value, precondition->disc, take, entry, &precondition->below_hash, err);
}

/* ---- steps, the prompt ---- */

void
rt_precondition_set_step(rt_precondition *precondition, uint64_t step)
{
	precondition->has_step = true;
	precondition->step = step;
}

rt_status
rt_precondition_newest_step(const rt_project *value, uint32_t number, uint64_t *out, rt_error *err)
{
	const rt_disc *disc = NULL;
	rt_status st = rt_project_disc(value, number, &disc, err);

	if (st != RT_OK)
		return st;
	*out = disc->history.current > value->history.current ? disc->history.current
							      : value->history.current;
	return RT_OK;
}

rt_status
rt_precondition_add_redo(rt_precondition *precondition, const rt_project *value, rt_error *err)
{
	const rt_disc *disc = NULL;
	rt_status st = rt_project_disc(value, precondition->disc, &disc, err);

	if (st != RT_OK)
		return st;
	precondition->has_redo = true;
	precondition->redo[0] = disc->history;
	precondition->redo[1] = value->history;
	return RT_OK;
}

static bool
is_same(const rt_history *a, const rt_history *b)
{
	return a->current == b->current && a->last_step == b->last_step &&
	       a->redo_row == b->redo_row && a->redo_move == b->redo_move;
}

rt_status
rt_precondition_set_prompt(rt_precondition *precondition, rt_str text)
{
	precondition->has_prompt = true;
	rt_buf_clear(&precondition->prompt);
	rt_buf_add_str(&precondition->prompt, text);
	return precondition->prompt.status;
}

rt_status
rt_precondition_read_prompt(rt_engine *engine, const rt_project *value, uint32_t disc, rt_buf *out,
			    bool *out_edited, rt_error *err)
{
	rt_json_doc *doc = NULL;
	yyjson_val *prompt;
	rt_buf json;
	rt_status st;

	rt_buf_init(&json, rt_engine_alloc(engine), RT_BUF_UNLIMITED);
	st = rt_view_settings(engine, value, disc, &json, err);
	if (st == RT_OK)
		st = rt_json_read(rt_engine_alloc(engine), rt_buf_str(&json), &doc, err);
	if (st == RT_OK) {
		prompt = rt_json_get(rt_json_root(doc), "prompt");
		rt_buf_add_str(out, rt_json_str(rt_json_get(prompt, "text")));
		if (out_edited != NULL)
			*out_edited = yyjson_is_true(rt_json_get(prompt, "edited"));
		if (out->status != RT_OK)
			st = rt_fail(err, out->status, "out of memory");
	}
	rt_json_free(doc);
	rt_buf_deinit(&json);
	return st;
}

/* ---- is it so? ---- */

static rt_status
prompt_holds(const rt_precondition *precondition, rt_engine *engine, const rt_project *now,
	     rt_error *err)
{
	rt_buf text;
	rt_status st;

	rt_buf_init(&text, precondition->alloc, RT_BUF_UNLIMITED);
	st = rt_precondition_read_prompt(engine, now, precondition->disc, &text, NULL, err);
	if (st == RT_OK && !rt_str_eq(rt_buf_str(&text), rt_buf_str(&precondition->prompt)))
		st = rt_fail(err, RT_CONFLICT, "somebody else changed the working prompt meanwhile");
	rt_buf_deinit(&text);
	return st;
}

static rt_status
steps_hold(const rt_precondition *precondition, const rt_project *now, rt_error *err)
{
	const rt_disc *disc = NULL;
	uint64_t step = 0;
	rt_status st = rt_precondition_newest_step(now, precondition->disc, &step, err);

	if (st == RT_OK && precondition->has_step && step != precondition->step)
		return rt_fail(err, RT_CONFLICT, "step %llu is not the newest any more",
			       (unsigned long long)precondition->step);
	if (st == RT_OK)
		st = rt_project_disc(now, precondition->disc, &disc, err);
	if (st == RT_OK && precondition->has_redo &&
	    (!is_same(&precondition->redo[0], &disc->history) ||
	     !is_same(&precondition->redo[1], &now->history)))
		return rt_fail(err, RT_CONFLICT, "somebody else changed something meanwhile");
	return st;
}

rt_status
rt_precondition_holds(const rt_precondition *precondition, rt_engine *engine, const rt_project *now,
		      rt_error *err)
{
	size_t i, differ = 0;
	uint64_t below = 0;
	rt_status st = RT_OK;

	for (i = 0; st == RT_OK && i < precondition->count; i++) {
		bool holds = true;

		st = rt_precondition_entry_matches(precondition, i, now, &holds, NULL, err);
		differ += !holds;
	}
	if (st == RT_OK && differ > 0)
		return precondition->count == 1
			       ? rt_fail(err, RT_CONFLICT,
					 "somebody else changed the entry meanwhile")
			       : rt_fail(err, RT_CONFLICT,
					 "somebody else changed %zu of these %zu entries meanwhile",
					 differ, precondition->count);
	if (st == RT_OK && precondition->below != 0) {
		st = hash_below(now, precondition->disc, precondition->below_take,
				precondition->below, &below, err);
		if (st == RT_OK && below != precondition->below_hash)
			return rt_fail(err, RT_CONFLICT, "somebody else changed what follows meanwhile");
	}
	if (st == RT_OK && (precondition->has_step || precondition->has_redo))
		st = steps_hold(precondition, now, err);
	if (st == RT_OK && precondition->has_prompt)
		st = prompt_holds(precondition, engine, now, err);
	return st;
}
