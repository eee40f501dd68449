/* SPDX-License-Identifier: MIT */
#include "tui/steps.h"

void
rt_steps_init(rt_steps *steps, const rt_alloc *alloc)
{
	*steps = (rt_steps){.alloc = alloc};
	rt_buf_init(&steps->texts, alloc, UINT32_MAX);
}

void
rt_steps_deinit(rt_steps *steps)
{
	rt_object_unref(steps->value);
	rt_free(steps->alloc, steps->steps);
	rt_buf_deinit(&steps->texts);
}

void
rt_steps_begin(rt_steps *steps, rt_engine *engine, const rt_project *value, uint32_t disc)
{
	(void)rt_object_ref(value);
	rt_object_unref(steps->value);
	steps->value = value;
	steps->engine = engine;
	steps->disc = disc;
	steps->at = (rt_history_at){0};
	steps->is_whole = steps->has_trunk = steps->is_past_current = false;
	steps->count = 0;
	rt_buf_clear(&steps->texts);
	for (size_t i = 0; i < RT_STEPS_LANES; i++)
		steps->waits[i] = UINT64_MAX;
}

/* Set the lane of a step, and those that pass it or end there. */
static void
place(rt_steps *steps, rt_step *step)
{
	unsigned own = 0, joins = 0, passes = 0;

	for (unsigned lane = RT_STEPS_LANES - 1; lane > 0; lane--) {
		if (steps->waits[lane] != step->seq)
			continue;
		joins |= 1u << lane;
		own = lane;
	}
	if (step->is_undone && own == 0) {
		for (own = 1; own < RT_STEPS_LANES - 1; own++)
			if (steps->waits[own] == UINT64_MAX)
				break;
	} else if (!step->is_undone) {
		own = 0;
	}
	for (unsigned lane = 1; lane < RT_STEPS_LANES; lane++) {
		if ((joins & 1u << lane) != 0)
			steps->waits[lane] = UINT64_MAX;
		else if (lane != own && steps->waits[lane] != UINT64_MAX)
			passes |= 1u << lane;
	}
	if (own != 0) {
		steps->waits[own] = step->parent;
		passes |= steps->has_trunk;
	} else {
		steps->has_trunk = true;
	}
	step->lane = (uint8_t)own;
	step->joins = (uint8_t)(joins & ~(1u << own));
	step->passes = (uint8_t)passes;
}

/* A step that only set a draft is not shown: those that follow it follow its parent, and the first
 * step in effect below a current one is the current one. */
static void
pass_draft(rt_steps *steps, const rt_history_row *row)
{
	for (unsigned lane = 1; lane < RT_STEPS_LANES; lane++)
		if (steps->waits[lane] == row->seq)
			steps->waits[lane] = row->parent;
	steps->is_past_current = steps->is_past_current || row->is_current;
}

static void
add_step(rt_steps *steps, rt_scope *s, const rt_history_row *row)
{
	rt_buf *texts = &steps->texts;
	bool is_current = row->is_current || (steps->is_past_current && !row->is_undone);
	rt_str about = rt_str_trim(row->about);
	rt_step *step = rt_array_add(s->alloc, &steps->steps, &steps->count, &steps->capacity,
				     sizeof(*step));

	if (step == NULL) {
		(void)rt_scope_nomem(s);
		return;
	}
	*step = (rt_step){.seq = row->seq,
			  .parent = row->parent,
			  .at_us = row->at_us,
			  .is_undone = row->is_undone,
			  .is_current = is_current,
			  .of_project = !row->of_disc};
	steps->is_past_current = steps->is_past_current && !is_current;
	step->what = (uint32_t)texts->size;
	rt_buf_add_str(texts, row->did);
	step->about = (uint32_t)texts->size;
	rt_buf_add_c(texts, about.size > 0 ? ": " : "");
	rt_buf_add_str(texts, about);
	step->by = (uint32_t)texts->size;
	rt_buf_add_str(texts, row->by);
	step->end = (uint32_t)texts->size;
	if (RT_TRY(s, texts->status) == RT_OK)
		place(steps, step);
}

rt_status
rt_steps_more(rt_steps *steps, size_t count, rt_error *err)
{
	rt_steps before = *steps;
	rt_scope s;
	rt_view view = {&s, steps->engine, steps->value, {steps->disc, 0}};
	rt_history_cursor *cursor;
	const rt_history_row *row;
	size_t read = 0;

	if (steps->is_whole)
		return RT_OK;
	rt_scope_init(&s, steps->alloc);
	cursor = rt_history_open(&view, &steps->at, 0);
	while ((count == 0 || read < count) && (row = rt_history_next(cursor)) != NULL) {
		if (rt_history_row_is_draft(row)) {
			pass_draft(steps, row);
			continue;
		}
		add_step(steps, &s, row);
		read++;
	}
	if (rt_ok(&s))
		steps->at = rt_history_position(cursor);
	if (rt_ok(&s) && (count == 0 || read < count || steps->at.seq == 0)) {
		add_step(steps, &s,
			 &(rt_history_row){.did = RT_STR("the beginning"),
					   .is_current = !steps->has_trunk,
					   .of_disc = true});
		steps->is_whole = true;
	}
	if (!rt_ok(&s)) { /* as before, but for the capacity */
		before.steps = steps->steps;
		before.capacity = steps->capacity;
		before.texts.ptr = steps->texts.ptr;
		before.texts.room = steps->texts.room;
		*steps = before;
	}
	return rt_scope_end(&s, err);
}

rt_str
rt_steps_what(const rt_steps *steps, const rt_step *step)
{
	return rt_str_at(steps->texts.ptr + step->what, step->by - step->what);
}

rt_str
rt_steps_did(const rt_steps *steps, const rt_step *step)
{
	return rt_str_at(steps->texts.ptr + step->what, step->about - step->what);
}

rt_str
rt_steps_by(const rt_steps *steps, const rt_step *step)
{
	return rt_str_at(steps->texts.ptr + step->by, step->end - step->by);
}
