/* SPDX-License-Identifier: MIT */
#include "tui/steps.h"

#include "base/moment.h"

void
rt_steps_init(rt_steps *steps, const rt_alloc *alloc)
{
	memset(steps, 0, sizeof(*steps));
	steps->alloc = alloc;
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
	size_t i;

	(void)rt_object_ref(value);
	rt_object_unref(steps->value);
	steps->value = value;
	steps->engine = engine;
	steps->disc = disc;
	steps->at = (rt_history_at){0};
	steps->is_whole = steps->has_trunk = false;
	steps->count = 0;
	rt_buf_clear(&steps->texts);
	for (i = 0; i < RT_STEPS_LANES; i++)
		steps->waits[i] = UINT64_MAX;
}

/* The lane of a step, and what becomes of the others beside it. */
static void
place(rt_steps *steps, rt_step *step)
{
	unsigned lane, own = 0, joins = 0, passes = 0;

	for (lane = RT_STEPS_LANES - 1; lane > 0; lane--) {
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
	for (lane = 1; lane < RT_STEPS_LANES; lane++) {
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

static rt_status
make_room(rt_steps *steps, size_t more)
{
	size_t room = steps->room;
	rt_step *grown;

	if (steps->count + more <= room)
		return RT_OK;
	while (room < steps->count + more)
		room = room > 0 ? room * 2 : 256;
	grown = rt_resize(steps->alloc, steps->steps, room * sizeof(*grown));
	if (grown == NULL)
		return RT_NOMEM;
	steps->steps = grown;
	steps->room = room;
	return RT_OK;
}

/* about: the first words of the entry that it is about, or empty. */
static rt_step *
add(rt_steps *steps, rt_str what, rt_str about, rt_str by)
{
	rt_step *step = &steps->steps[steps->count++];

	memset(step, 0, sizeof(*step));
	step->what = (uint32_t)steps->texts.size;
	rt_buf_add_str(&steps->texts, what);
	step->about = (uint32_t)steps->texts.size;
	if (about.size > 0) {
		rt_buf_add_c(&steps->texts, ": ");
		rt_buf_add_str(&steps->texts, about);
	}
	step->by = (uint32_t)steps->texts.size;
	rt_buf_add_str(&steps->texts, by);
	step->end = (uint32_t)steps->texts.size;
	return step;
}

static void
add_row(rt_steps *steps, yyjson_val *row)
{
	rt_step *step = add(steps, rt_json_str(rt_json_get(row, "did")),
			    rt_str_trim(rt_json_str(rt_json_get(row, "about"))),
			    rt_json_str(rt_json_get(row, "by")));
	rt_moment at;

	(void)rt_json_u64(rt_json_get(row, "seq"), &step->seq);
	(void)rt_json_u64(rt_json_get(row, "parent"), &step->parent);
	if (rt_moment_parse(rt_json_str(rt_json_get(row, "at")), &at))
		step->at_us = at.us;
	step->is_undone = yyjson_is_true(rt_json_get(row, "undone"));
	step->is_current = yyjson_is_true(rt_json_get(row, "current"));
	step->of_project = rt_str_is(rt_json_str(rt_json_get(row, "scope")), "project");
	place(steps, step);
}

rt_status
rt_steps_more(rt_steps *steps, size_t count, rt_error *err)
{
	rt_history_at at = steps->at;
	size_t before = steps->texts.size, i, max, got = 0;
	rt_json_doc *doc = NULL;
	yyjson_val *row;
	rt_status st;
	rt_buf json;

	if (steps->is_whole)
		return RT_OK;
	rt_buf_init(&json, steps->alloc, RT_BUF_UNLIMITED);
	st = rt_view_history_next(steps->engine, steps->value, steps->disc, &at, count, &json, err);
	if (st == RT_OK)
		st = rt_json_read(steps->alloc, rt_buf_str(&json), &doc, err);
	if (st == RT_OK) {
		got = yyjson_arr_size(rt_json_root(doc));
		st = make_room(steps, got + 1);
		/* So that nothing fails once rows were taken in. */
		if (st == RT_OK && rt_buf_reserve(&steps->texts, json.size + 32) == NULL)
			st = steps->texts.status;
		if (st != RT_OK)
			(void)rt_fail(err, st, "out of memory");
	}
	if (st != RT_OK) {
		steps->texts.size = before;
		steps->texts.status = RT_OK;
		goto done;
	}
	yyjson_arr_foreach(rt_json_root(doc), i, max, row)
		add_row(steps, row);
	steps->at = at;
	if (count == 0 || got < count || at.seq == 0) {
		rt_step *first = add(steps, RT_STR("the beginning"), rt_str_at(NULL, 0),
				     rt_str_at(NULL, 0));

		first->is_current = !steps->has_trunk;
		place(steps, first);
		steps->is_whole = true;
	}
done:
	rt_json_free(doc);
	rt_buf_deinit(&json);
	return st;
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
