/* SPDX-License-Identifier: MIT
 *
 * Applying and reverting log rows. The functions here change the caller's value *now step by step;
 * after a failure it is some intermediate value. */
#include "log/history.h"

#include "log/engine_impl.h"

/* ---- the history of a document ---- */

rt_status
rt_history_get(const rt_project *project, uint32_t number, rt_history *out, rt_error *err)
{
	const rt_disc *disc;
	rt_status st = RT_OK;

	if (number == 0) {
		*out = project->history;
		return RT_OK;
	}
	st = rt_project_disc(project, number, &disc, err);
	if (st == RT_OK)
		*out = disc->history;
	return st;
}

static rt_history
get(const rt_project *project, uint32_t number, rt_scope *s)
{
	rt_history h = {0};

	RT_TRY(s, rt_history_get(project, number, &h, &s->error));
	return h;
}

/* mine is referenced by its caller only. */
static void
set(rt_project *mine, uint32_t number, const rt_history *history, rt_scope *s)
{
	const rt_disc *disc;
	rt_disc *copy = NULL;

	if (!rt_ok(s))
		return;
	if (number == 0) {
		mine->history = *history;
		return;
	}
	RT_TRY(s, rt_project_disc(mine, number, &disc, &s->error));
	RT_TRY(s, rt_disc_copy(disc, &copy));
	if (copy != NULL)
		copy->history = *history;
	RT_TRY(s, rt_project_set_disc(mine, copy));
	rt_object_unref(copy);
}

static bool
has_disc(const uint32_t *discs, size_t count, uint32_t number)
{
	for (size_t i = 0; i < count; i++)
		if (discs[i] == number)
			return true;
	return false;
}

/* Does the effect set the draft of a discussion? */
static bool
sets_draft(const rt_effect *effect)
{
	return effect->kind == RT_EFFECT_SET && effect->disc != 0 && effect->sub == 0 &&
	       rt_str_is(effect->key, "setting.draft");
}

bool
rt_history_sets_draft(const rt_record *step, uint32_t disc)
{
	for (size_t i = 0; i < step->effect_count; i++)
		if (step->effects[i].disc == disc && sets_draft(&step->effects[i]))
			return true;
	return false;
}

bool
rt_history_is_draft(const rt_record *step)
{
	for (size_t i = 0; i < step->effect_count; i++)
		if (!sets_draft(&step->effects[i]))
			return false;
	return step->kind == RT_RECORD_STEP && step->effect_count > 0;
}

bool
rt_history_parent(const rt_record *step, uint32_t disc, uint64_t *out)
{
	for (size_t i = 0; i < step->parent_count; i++)
		if (step->parents[i].disc == disc) {
			*out = step->parents[i].step;
			return true;
		}
	return false;
}

rt_status
rt_history_newest(rt_engine *engine, const rt_project *project, uint32_t disc, uint64_t *out,
		  rt_error *err)
{
	rt_history h = {0};
	rt_record step;
	bool is_found = false;
	rt_scope s;

	*out = 0;
	rt_scope_init(&s, engine->alloc);
	RT_TRY(&s, rt_history_get(project, disc, &h, &s.error));
	while (rt_ok(&s) && !is_found && h.current > project->history.current) {
		rt_arena *arena;

		rt_scope_reset(&s);
		arena = rt_scope_arena(&s);
		if (arena == NULL || RT_TRY(&s, rt_engine_record(engine, h.current, arena, &step, NULL,
								 &s.error)) != RT_OK)
			break;
		is_found = !rt_history_is_draft(&step);
		if (!is_found && !rt_history_parent(&step, disc, &h.current))
			RT_TRY(&s, rt_history_not_touched(h.current, disc, &s.error));
	}
	*out = h.current > project->history.current ? h.current : project->history.current;
	return rt_scope_end(&s, err);
}

rt_status
rt_history_not_touched(uint64_t step, uint32_t disc, rt_error *err)
{
	return rt_fail(err, RT_CORRUPT, "step %llu did not change document %u",
		       (unsigned long long)step, disc);
}

/* ---- moves: a step undone or redone ---- */

/* The effects of a step on some of its documents. */
static void
apply_step(const rt_project **now, const rt_record *step, const uint32_t *discs, size_t disc_count,
	   bool back, rt_scope *s)
{
	for (size_t i = 0; rt_ok(s) && i < step->effect_count; i++) {
		const rt_effect *e = &step->effects[back ? step->effect_count - 1 - i : i];
		const rt_project *next;

		if (has_disc(discs, disc_count, e->disc) &&
		    RT_TRY(s, rt_effect_apply(*now, e, back, &next, &s->error)) == RT_OK)
			rt_project_replace(now, next);
	}
}

void
rt_history_redo_before(const rt_record *row, uint64_t seq, uint32_t move, uint32_t disc,
		       rt_history *h)
{
	for (uint32_t i = move; i > 0; i--) {
		const rt_record_move *m = &row->moves[i - 1];

		if (m->direction < 0 && has_disc(m->discs, m->disc_count, disc)) {
			h->redo_row = seq;
			h->redo_move = i - 1;
			return;
		}
	}
	h->redo_row = 0;
	h->redo_move = 0;
	for (size_t i = 0; i < row->redo_count; i++)
		if (row->redos[i].disc == disc) {
			h->redo_row = row->redos[i].row;
			h->redo_move = row->redos[i].move;
		}
}

/* Was the step of this move undone only to make room for the step that the redo pointer names? */
static bool
makes_way(const rt_record *row, uint32_t index)
{
	size_t i = index;

	if (row->moves[i].direction > 0)
		return false;
	while (i < row->move_count && row->moves[i].with_next)
		i++;
	return i > index && (i == row->move_count || row->moves[i].direction > 0);
}

rt_status
rt_moves_read(rt_engine *engine, rt_moves_cache *cache, uint64_t seq, rt_error *err)
{
	rt_status st;

	if (cache->arena != NULL && cache->seq == seq)
		return RT_OK;
	cache->seq = 0;
	if (cache->arena == NULL)
		cache->arena = rt_arena_new(engine->alloc);
	if (cache->arena == NULL)
		return rt_fail(err, RT_NOMEM, "out of memory");
	rt_arena_reset(cache->arena);
	st = rt_engine_record(engine, seq, cache->arena, &cache->row, NULL, err);
	if (st == RT_OK)
		cache->seq = seq;
	return st;
}

/* The redo pointer after the step of a move was redone. */
static void
move_redo(rt_engine *engine, uint64_t seq, const rt_record *row, uint64_t step, uint32_t disc,
	  rt_moves_cache *cache, rt_history *h, rt_scope *s)
{
	if (h->redo_row == 0)
		return;
	if (h->redo_row != seq) {
		if (RT_TRY(s, rt_moves_read(engine, cache, h->redo_row, &s->error)) != RT_OK)
			return;
		row = &cache->row;
	}
	if (h->redo_move < row->move_count && row->moves[h->redo_move].step == step)
		rt_history_redo_before(row, h->redo_row, h->redo_move, disc, h);
	else
		h->redo_row = h->redo_move = 0;
}

/* The history of one document after a move. */
static void
move_history(rt_engine *engine, const rt_project *now, uint64_t seq, const rt_record *row,
	     uint32_t index, const rt_record *step, uint32_t disc, rt_moves_cache *cache,
	     rt_scope *s)
{
	const rt_record_move *m = &row->moves[index];
	rt_history h = get(now, disc, s);
	uint64_t parent = 0;

	if (!rt_ok(s))
		return;
	if (!rt_history_parent(step, disc, &parent)) {
		rt_scope_note(s, rt_history_not_touched(m->step, disc, &s->error));
		return;
	}
	if (h.current != (m->direction < 0 ? m->step : parent)) {
		rt_scope_fail(s, RT_CORRUPT, "a move of step %llu does not fit the current step %llu",
			      (unsigned long long)m->step, (unsigned long long)h.current);
		return;
	}
	h.current = m->direction < 0 ? parent : m->step;
	if (m->direction > 0) {
		move_redo(engine, seq, row, m->step, disc, cache, &h, s);
	} else if (!makes_way(row, index)) {
		h.redo_row = seq;
		h.redo_move = index;
	}
	set((rt_project *)(uintptr_t)now, disc, &h, s);
}

rt_status
rt_history_move(rt_engine *engine, const rt_project *project, uint64_t seq, const rt_record *row,
		uint32_t index, const rt_record *step, rt_moves_cache *cache,
		const rt_project **out, rt_error *err)
{
	const rt_record_move *m = &row->moves[index];
	const rt_project *now = rt_object_ref(project);
	rt_scope s;

	rt_scope_init(&s, engine->alloc);
	if (m->direction > 0) { /* takes have been changed by that step again, not by this row */
		rt_project *then = NULL;

		if (RT_TRY(&s, rt_project_copy(project, &then)) == RT_OK) {
			then->seq = m->step - 1;
			rt_project_replace(&now, then);
		}
	}
	apply_step(&now, step, m->discs, m->disc_count, m->direction < 0, &s);
	if (now != project && rt_ok(&s))
		((rt_project *)(uintptr_t)now)->seq = project->seq;
	if (now == project) { /* without effects there: a copy, to set its history */
		rt_project *mine = NULL;

		RT_TRY(&s, rt_project_copy(project, &mine));
		rt_project_replace(&now, mine);
	}
	for (size_t i = 0; rt_ok(&s) && i < m->disc_count; i++)
		move_history(engine, now, seq, row, index, step, m->discs[i], cache, &s);
	if (rt_ok(&s))
		*out = now;
	else
		rt_object_unref(now);
	return rt_scope_end(&s, err);
}

/* ---- rows, forwards ---- */

static void
apply_moves(rt_engine *engine, const rt_project **now, uint64_t seq, const rt_record *row,
	    rt_scope *s)
{
	rt_moves_cache cache = {0};
	rt_scope one;

	rt_scope_init(&one, engine->alloc);
	for (uint32_t i = 0; rt_ok(&one) && i < row->move_count; i++) {
		const rt_project *next;
		rt_record step;

		rt_scope_reset(&one);
		rt_arena *arena = rt_scope_arena(&one);
		RT_TRY(&one, rt_engine_record(engine, row->moves[i].step, arena, &step, NULL,
					      &one.error));
		RT_TRY(&one, rt_history_move(engine, *now, seq, row, i, &step, &cache, &next,
					     &one.error));
		if (rt_ok(&one))
			rt_project_replace(now, next);
	}
	rt_arena_free(cache.arena);
	(void)rt_scope_join(s, &one);
}

static void
apply_views(const rt_project **now, const rt_record *row, rt_scope *s)
{
	for (size_t i = 0; rt_ok(s) && i < row->view_count; i++) {
		const rt_project *next;

		if (RT_TRY(s, rt_project_set_view(*now, row->views[i].entry, row->views[i].flags,
						  &next, &s->error)) == RT_OK)
			rt_project_replace(now, next);
	}
}

/* All effects of a step. */
static void
apply_effects(const rt_project **now, const rt_record *row, bool back, rt_scope *s)
{
	const rt_project *next;

	if (RT_TRY(s, rt_effects_apply(*now, row->effects, row->effect_count, back, &next,
				       &s->error)) == RT_OK)
		rt_project_replace(now, next);
}

/* A new step ends redo in the discussion in view and in the project (C30). */
static void
end_redo(rt_project *mine, uint32_t disc, rt_scope *s)
{
	if (!rt_ok(s) || (disc != 0 && rt_project_cell(mine, disc) == NULL))
		return;
	rt_history h = get(mine, disc, s);
	if (h.redo_row == 0)
		return;
	h.redo_row = h.redo_move = 0;
	set(mine, disc, &h, s);
}

rt_status
rt_engine_close_step(const rt_project *applied, uint64_t seq, const rt_record *record,
		     const rt_project **out, rt_error *err)
{
	rt_project *mine = NULL;
	bool is_step = record->kind == RT_RECORD_STEP && record->parent_count > 0;
	rt_scope s;

	rt_scope_init(&s, applied->object.alloc);
	if (RT_TRY(&s, rt_project_copy(applied, &mine)) == RT_OK)
		mine->seq = seq;
	for (size_t i = 0; rt_ok(&s) && is_step && i < record->parent_count; i++) {
		const rt_record_parent *p = &record->parents[i];
		rt_history h = get(mine, p->disc, &s);

		if (rt_ok(&s) && h.current != p->step)
			rt_scope_fail(&s, RT_CORRUPT,
				      "step %llu follows step %llu, but %llu is current",
				      (unsigned long long)seq, (unsigned long long)p->step,
				      (unsigned long long)h.current);
		h.current = h.last_step = seq;
		if (!record->keeps_redo)
			h.redo_row = h.redo_move = 0;
		set(mine, p->disc, &h, &s);
	}
	if (is_step && !record->keeps_redo) {
		end_redo(mine, record->disc, &s);
		end_redo(mine, 0, &s);
	}
	if (rt_ok(&s))
		*out = mine;
	else
		rt_object_unref(mine);
	return rt_scope_end(&s, err);
}

rt_status
rt_engine_apply_row(rt_engine *engine, const rt_project *project, uint64_t seq,
		    const rt_record *record, const rt_project **out, rt_error *err)
{
	const rt_project *now = rt_object_ref(project);
	rt_scope s;

	rt_scope_init(&s, engine->alloc);
	if (record->kind == RT_RECORD_STEP)
		apply_effects(&now, record, false, &s);
	else if (record->kind == RT_RECORD_MOVE)
		apply_moves(engine, &now, seq, record, &s);
	apply_views(&now, record, &s);
	RT_TRY(&s, rt_engine_close_step(now, seq, record, out, &s.error));
	rt_object_unref(now);
	return rt_scope_end(&s, err);
}

/* ---- rows, back ---- */

static void
set_current(rt_project *mine, uint32_t disc, uint64_t step, rt_scope *s)
{
	rt_history h = get(mine, disc, s);

	h.current = step;
	set(mine, disc, &h, s);
}

static void
revert_move(rt_engine *engine, const rt_project **now, const rt_record_move *m, rt_scope *s)
{
	rt_arena *arena = rt_scope_arena(s);
	rt_record step;

	RT_TRY(s, rt_engine_record(engine, m->step, arena, &step, NULL, &s->error));
	if (!rt_ok(s))
		return;
	apply_step(now, &step, m->discs, m->disc_count, m->direction > 0, s);
	for (size_t k = 0; rt_ok(s) && k < m->disc_count; k++) {
		uint64_t current = m->step;

		if (m->direction > 0 && !rt_history_parent(&step, m->discs[k], &current))
			rt_scope_note(s, rt_history_not_touched(m->step, m->discs[k], &s->error));
		set_current((rt_project *)(uintptr_t)*now, m->discs[k], current, s);
	}
}

/* *now is referenced here alone. */
static void
revert_row(rt_engine *engine, const rt_project **now, const rt_record *row, rt_scope *s)
{
	if (row->kind == RT_RECORD_STEP) {
		apply_effects(now, row, true, s);
		for (size_t i = 0; rt_ok(s) && i < row->parent_count; i++)
			set_current((rt_project *)(uintptr_t)*now, row->parents[i].disc,
				    row->parents[i].step, s);
	}
	if (row->kind == RT_RECORD_MOVE) {
		rt_scope one;

		rt_scope_init(&one, engine->alloc);
		for (size_t i = row->move_count; rt_ok(&one) && i > 0; i--) {
			rt_scope_reset(&one);
			revert_move(engine, now, &row->moves[i - 1], &one);
		}
		(void)rt_scope_join(s, &one);
	}
}

rt_status
rt_engine_value_back(rt_engine *engine, const rt_project *base, uint64_t seq,
		     const rt_project **out, rt_error *err)
{
	const rt_project *now = NULL;
	rt_project *mine = NULL;
	rt_scope s;

	rt_scope_init(&s, engine->alloc);
	RT_TRY(&s, rt_project_copy(base, &mine));
	now = mine;
	if (rt_ok(&s) && seq > base->seq && rt_engine_newer(engine, &s.error))
		rt_scope_note(&s, RT_TOO_NEW);
	else if (seq > base->seq)
		rt_scope_fail(&s, RT_NOT_FOUND, "no step %llu yet; the newest is %llu",
			      (unsigned long long)seq, (unsigned long long)base->seq);
	for (uint64_t at = base->seq; rt_ok(&s) && at > seq; at--) {
		rt_record record;

		rt_scope_reset(&s);
		rt_arena *arena = rt_scope_arena(&s);
		RT_TRY(&s, rt_engine_record(engine, at, arena, &record, NULL, &s.error));
		if (rt_ok(&s))
			revert_row(engine, &now, &record, &s);
	}
	if (rt_ok(&s)) {
		((rt_project *)(uintptr_t)now)->seq = seq;
		*out = now;
	} else {
		rt_object_unref(now);
	}
	return rt_scope_end(&s, err);
}

rt_status
rt_engine_value_at(rt_engine *engine, uint64_t seq, const rt_project **out, rt_error *err)
{
	const rt_project *base = rt_engine_value(engine);
	rt_status st = rt_engine_value_back(engine, base, seq, out, err);

	rt_object_unref(base);
	return st;
}
