/* SPDX-License-Identifier: MIT */
#include "tui/seen.h"

#include "base/hash.h"

void
rt_seen_init(rt_seen *seen, const rt_alloc *alloc, uint32_t disc)
{
	memset(seen, 0, sizeof(*seen));
	seen->alloc = alloc;
	seen->disc = disc;
	rt_buf_init(&seen->prompt, alloc, RT_BUF_UNLIMITED);
}

void
rt_seen_deinit(rt_seen *seen)
{
	rt_free(seen->alloc, seen->spots);
	rt_buf_deinit(&seen->prompt);
	seen->spots = NULL;
	seen->count = seen->room = 0;
}

/* ---- entries ---- */

/* An entry in a take, and its label; *out_there false: it is not in it. */
static rt_status
spot_of(const rt_project *value, uint32_t number, uint32_t take, uint32_t entry, rt_seen_spot *out,
	bool *out_there, rt_error *err)
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
rt_seen_entry(rt_seen *seen, const rt_project *value, uint32_t take, uint32_t entry, rt_error *err)
{
	bool is_there = false;
	rt_seen_spot spot;
	rt_status st = spot_of(value, seen->disc, take, entry, &spot, &is_there, err);

	if (st != RT_OK || !is_there)
		return st;
	if (seen->count == seen->room) {
		size_t room = seen->room == 0 ? 4 : 2 * seen->room;
		rt_seen_spot *spots = rt_new_array(seen->alloc, room, sizeof(*spots));

		if (spots == NULL)
			return rt_fail(err, RT_NOMEM, "out of memory");
		if (seen->count > 0)
			memcpy(spots, seen->spots, seen->count * sizeof(*spots));
		rt_free(seen->alloc, seen->spots);
		seen->spots = spots;
		seen->room = room;
	}
	seen->spots[seen->count++] = spot;
	return RT_OK;
}

rt_status
rt_seen_spot_holds(const rt_seen *seen, size_t at, const rt_project *now, bool *out_holds,
		   bool *out_there, rt_error *err)
{
	const rt_seen_spot *was = &seen->spots[at];
	bool is_there = false;
	rt_seen_spot is;
	rt_status st = spot_of(now, seen->disc, was->take, was->slot.entry, &is, &is_there, err);

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
	rt_seen_spot spot;
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
rt_seen_below(rt_seen *seen, const rt_project *value, uint32_t take, uint32_t entry, rt_error *err)
{
	seen->below_take = take;
	seen->below = entry;
	return hash_below(value, seen->disc, take, entry, &seen->below_hash, err);
}

/* ---- steps, the prompt ---- */

void
rt_seen_step(rt_seen *seen, uint64_t step)
{
	seen->has_step = true;
	seen->step = step;
}

rt_status
rt_seen_newest(const rt_project *value, uint32_t number, uint64_t *out, rt_error *err)
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
rt_seen_redo(rt_seen *seen, const rt_project *value, rt_error *err)
{
	const rt_disc *disc = NULL;
	rt_status st = rt_project_disc(value, seen->disc, &disc, err);

	if (st != RT_OK)
		return st;
	seen->has_redo = true;
	seen->redo[0] = disc->history;
	seen->redo[1] = value->history;
	return RT_OK;
}

static bool
is_same(const rt_history *a, const rt_history *b)
{
	return a->current == b->current && a->last_step == b->last_step &&
	       a->redo_row == b->redo_row && a->redo_move == b->redo_move;
}

rt_status
rt_seen_prompt(rt_seen *seen, rt_str text)
{
	seen->has_prompt = true;
	rt_buf_clear(&seen->prompt);
	rt_buf_add_str(&seen->prompt, text);
	return seen->prompt.status;
}

rt_status
rt_seen_read_prompt(rt_engine *engine, const rt_project *value, uint32_t disc, rt_buf *out,
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
prompt_holds(const rt_seen *seen, rt_engine *engine, const rt_project *now, rt_error *err)
{
	rt_buf text;
	rt_status st;

	rt_buf_init(&text, seen->alloc, RT_BUF_UNLIMITED);
	st = rt_seen_read_prompt(engine, now, seen->disc, &text, NULL, err);
	if (st == RT_OK && !rt_str_eq(rt_buf_str(&text), rt_buf_str(&seen->prompt)))
		st = rt_fail(err, RT_CONFLICT, "somebody else changed the working prompt meanwhile");
	rt_buf_deinit(&text);
	return st;
}

static rt_status
steps_hold(const rt_seen *seen, const rt_project *now, rt_error *err)
{
	const rt_disc *disc = NULL;
	uint64_t step = 0;
	rt_status st = rt_seen_newest(now, seen->disc, &step, err);

	if (st == RT_OK && seen->has_step && step != seen->step)
		return rt_fail(err, RT_CONFLICT, "step %llu is not the newest any more",
			       (unsigned long long)seen->step);
	if (st == RT_OK)
		st = rt_project_disc(now, seen->disc, &disc, err);
	if (st == RT_OK && seen->has_redo &&
	    (!is_same(&seen->redo[0], &disc->history) || !is_same(&seen->redo[1], &now->history)))
		return rt_fail(err, RT_CONFLICT, "somebody else changed something meanwhile");
	return st;
}

rt_status
rt_seen_holds(const rt_seen *seen, rt_engine *engine, const rt_project *now, rt_error *err)
{
	size_t i, differ = 0;
	uint64_t below = 0;
	rt_status st = RT_OK;

	for (i = 0; st == RT_OK && i < seen->count; i++) {
		bool holds = true;

		st = rt_seen_spot_holds(seen, i, now, &holds, NULL, err);
		differ += !holds;
	}
	if (st == RT_OK && differ > 0)
		return seen->count == 1
			       ? rt_fail(err, RT_CONFLICT, "somebody else changed the entry meanwhile")
			       : rt_fail(err, RT_CONFLICT,
					 "somebody else changed %zu of these %zu entries meanwhile",
					 differ, seen->count);
	if (st == RT_OK && seen->below != 0) {
		st = hash_below(now, seen->disc, seen->below_take, seen->below, &below, err);
		if (st == RT_OK && below != seen->below_hash)
			return rt_fail(err, RT_CONFLICT, "somebody else changed what follows meanwhile");
	}
	if (st == RT_OK && (seen->has_step || seen->has_redo))
		st = steps_hold(seen, now, err);
	if (st == RT_OK && seen->has_prompt)
		st = prompt_holds(seen, engine, now, err);
	return st;
}
