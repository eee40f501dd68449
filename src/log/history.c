/* SPDX-License-Identifier: MIT
 *
 * History: a tree of steps for every document (each discussion, and the project's own
 * settings). A document knows its current step; every step knows, for each document it
 * touched, which step was current before. Undo takes the current step's effects back in
 * the documents where it is current; redo brings back what an undo took.
 *
 * What redo would do is not kept as a list but read from the log: a document's history
 * points at the newest move that took something back (row, index), and that row says what
 * the pointer was before it. So undo and redo cost the same after a restart, at any depth.
 *
 * Here: what a row of the log does to a value, forwards and back. */
#include "log/history_impl.h"

static rt_history
history_of(const rt_project *project, const rt_disc *disc)
{
	return disc != NULL ? disc->history : project->history;
}

rt_status
rt_history_get(const rt_project *project, uint32_t number, rt_history *out, rt_error *err)
{
	const rt_disc *disc = NULL;
	rt_status st = RT_OK;

	if (number != 0)
		st = rt_project_disc(project, number, &disc, err);
	if (st == RT_OK)
		*out = history_of(project, disc);
	return st;
}

static rt_status
history_set(rt_project *mine, uint32_t number, const rt_history *history, rt_error *err)
{
	const rt_disc *disc;
	rt_disc *copy = NULL;
	rt_status st;

	if (number == 0) {
		mine->history = *history;
		return RT_OK;
	}
	st = rt_project_disc(mine, number, &disc, err);
	if (st != RT_OK)
		return st;
	if (rt_disc_copy(disc, &copy) != RT_OK)
		return rt_fail(err, RT_NOMEM, "out of memory");
	copy->history = *history;
	if (rt_project_set_disc(mine, copy) != RT_OK)
		st = rt_fail(err, RT_NOMEM, "out of memory");
	rt_object_unref(copy);
	return st;
}

static bool
has_disc(const uint32_t *discs, size_t count, uint32_t number)
{
	size_t i;

	for (i = 0; i < count; i++)
		if (discs[i] == number)
			return true;
	return false;
}

bool
rt_history_parent(const rt_record *step, uint32_t disc, uint64_t *out)
{
	size_t i;

	for (i = 0; i < step->parent_count; i++)
		if (step->parents[i].disc == disc) {
			*out = step->parents[i].step;
			return true;
		}
	return false;
}

/* The effects of a step on some of its documents, forwards or back. */
static rt_status
apply_step(const rt_project *project, const rt_record *step, const uint32_t *discs,
	   size_t disc_count, bool back, const rt_project **out, rt_error *err)
{
	const rt_project *now = rt_object_ref(project), *next;
	size_t i;

	for (i = 0; i < step->effect_count; i++) {
		const rt_effect *e = &step->effects[back ? step->effect_count - 1 - i : i];
		rt_status st;

		if (!has_disc(discs, disc_count, e->disc))
			continue;
		st = rt_effect_apply(now, e, back, &next, err);
		rt_object_unref(now);
		if (st != RT_OK)
			return st;
		now = next;
	}
	*out = now;
	return RT_OK;
}

void
rt_history_redo_before(const rt_record *row, uint64_t seq, uint32_t move, uint32_t disc,
		       rt_history *h)
{
	size_t i;

	for (i = move; i > 0; i--) {
		const rt_record_move *m = &row->moves[i - 1];

		if (m->direction < 0 && has_disc(m->discs, m->disc_count, disc)) {
			h->redo_row = seq;
			h->redo_move = (uint32_t)(i - 1);
			return;
		}
	}
	h->redo_row = 0;
	h->redo_move = 0;
	for (i = 0; i < row->redo_count; i++)
		if (row->redos[i].disc == disc) {
			h->redo_row = row->redos[i].row;
			h->redo_move = row->redos[i].move;
		}
}

/* Is the step of this move taken back only so that what redo points at can come back? */
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
rt_history_move(rt_engine *engine, const rt_project *project, uint64_t seq, const rt_record *row,
		uint32_t index, const rt_record *step, const rt_redo_hint *hint,
		const rt_project **out, rt_error *err)
{
	const rt_record_move *m = &row->moves[index];
	const rt_project *moved = NULL;
	rt_arena *arena = NULL;
	size_t i;
	rt_status st = apply_step(project, step, m->discs, m->disc_count, m->direction < 0, &moved,
				  err);

	if (st != RT_OK)
		return st;
	for (i = 0; st == RT_OK && i < m->disc_count; i++) {
		rt_history h;
		uint64_t parent = 0;

		st = rt_history_get(moved, m->discs[i], &h, err);
		if (st != RT_OK)
			break;
		if (!rt_history_parent(step, m->discs[i], &parent)) {
			st = rt_fail(err, RT_CORRUPT, "step %llu did not touch document %u",
				     (unsigned long long)m->step, m->discs[i]);
			break;
		}
		if (h.current != (m->direction < 0 ? m->step : parent)) {
			st = rt_fail(err, RT_CORRUPT, "a move of step %llu finds step %llu",
				     (unsigned long long)m->step, (unsigned long long)h.current);
			break;
		}
		if (m->direction < 0) {
			h.current = parent;
			if (!makes_way(row, index)) {
				h.redo_row = seq;
				h.redo_move = index;
			}
		} else {
			h.current = m->step;
			if (h.redo_row == seq) {
				uint32_t was = h.redo_move;

				if (row->moves[was].step == m->step)
					rt_history_redo_before(row, seq, was, m->discs[i], &h);
				else
					h.redo_row = h.redo_move = 0;
			} else if (h.redo_row != 0) {
				rt_record other;

				if (hint != NULL && hint->seq == h.redo_row) {
					other = *hint->row;
				} else {
					if (arena == NULL)
						arena = rt_arena_new(engine->alloc);
					if (arena == NULL) {
						st = rt_fail(err, RT_NOMEM, "out of memory");
						break;
					}
					st = rt_engine_record(engine, h.redo_row, arena, &other,
							      NULL, err);
				}
				if (st != RT_OK)
					break;
				if (h.redo_move < other.move_count &&
				    other.moves[h.redo_move].step == m->step)
					rt_history_redo_before(&other, h.redo_row, h.redo_move,
							       m->discs[i], &h);
				else
					h.redo_row = h.redo_move = 0;
			}
		}
		st = history_set((rt_project *)(uintptr_t)moved, m->discs[i], &h, err);
	}
	rt_arena_free(arena);
	if (st != RT_OK) {
		rt_object_unref(moved);
		return st;
	}
	*out = moved;
	return RT_OK;
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

/* The row that a redo of the row at `seq` looks at, in its first document. */
static rt_status
read_redo_row(rt_engine *engine, const rt_project *now, uint64_t seq, const rt_record_move *move,
	      rt_moves_cache *cache, rt_error *err)
{
	rt_history h;
	rt_status st;

	if (move->direction < 0 || move->disc_count == 0)
		return RT_OK;
	st = rt_history_get(now, move->discs[0], &h, err);
	if (st != RT_OK || h.redo_row == 0 || h.redo_row == seq)
		return st;
	return rt_moves_read(engine, cache, h.redo_row, err);
}

static rt_status
apply_views(const rt_project *project, const rt_record *record, const rt_project **out,
	    rt_error *err)
{
	const rt_project *now = rt_object_ref(project), *next;
	size_t i;

	for (i = 0; i < record->view_count; i++) {
		rt_status st = rt_project_set_view(now, record->views[i].entry,
						   record->views[i].flags, &next, err);

		rt_object_unref(now);
		if (st != RT_OK)
			return st;
		now = next;
	}
	*out = now;
	return RT_OK;
}

static rt_status
end_redo(rt_project *mine, uint32_t disc, rt_error *err)
{
	rt_history h;
	rt_status st;

	if (disc != 0 && rt_project_cell(mine, disc) == NULL)
		return RT_OK;
	st = rt_history_get(mine, disc, &h, err);
	if (st != RT_OK || h.redo_row == 0)
		return st;
	h.redo_row = 0;
	h.redo_move = 0;
	return history_set(mine, disc, &h, err);
}

rt_status
rt_engine_close_step(const rt_project *applied, uint64_t seq, const rt_record *record,
		     const rt_project **out, rt_error *err)
{
	rt_project *mine = NULL;
	size_t i;
	rt_status st = RT_OK;

	if (rt_project_copy(applied, &mine) != RT_OK)
		return rt_fail(err, RT_NOMEM, "out of memory");
	mine->seq = seq;
	if (record->kind == RT_RECORD_MOVE) { /* planning did the rest */
		*out = mine;
		return RT_OK;
	}
	for (i = 0; st == RT_OK && i < record->parent_count; i++) {
		rt_history h;

		st = rt_history_get(mine, record->parents[i].disc, &h, err);
		if (st == RT_OK && h.current != record->parents[i].step)
			st = rt_fail(err, RT_CORRUPT,
				     "step %llu follows step %llu, but %llu is current",
				     (unsigned long long)seq,
				     (unsigned long long)record->parents[i].step,
				     (unsigned long long)h.current);
		h.current = h.last_step = seq;
		if (!record->keeps_redo)
			h.redo_row = h.redo_move = 0;
		if (st == RT_OK)
			st = history_set(mine, record->parents[i].disc, &h, err);
	}
	/* a new step ends redo in the discussion in view and in the project (C30) */
	if (st == RT_OK && record->parent_count > 0 && !record->keeps_redo)
		st = end_redo(mine, record->disc, err);
	if (st == RT_OK && record->parent_count > 0 && !record->keeps_redo)
		st = end_redo(mine, 0, err);
	if (st != RT_OK) {
		rt_object_unref(mine);
		return st;
	}
	*out = mine;
	return RT_OK;
}

rt_status
rt_engine_apply_row(rt_engine *engine, const rt_project *project, uint64_t seq,
		    const rt_record *record, const rt_project **out, rt_error *err)
{
	const rt_project *now = NULL, *next;
	rt_arena *arena = NULL;
	rt_moves_cache cache = {0};
	rt_project *mine = NULL;
	size_t i;
	rt_status st = RT_OK;

	switch (record->kind) {
	case RT_RECORD_STEP:
		st = rt_effects_apply(project, record->effects, record->effect_count, false, &now,
				      err);
		if (st == RT_OK && record->view_count > 0) {
			st = apply_views(now, record, &next, err);
			rt_object_unref(now);
			now = st == RT_OK ? next : NULL;
		}
		if (st == RT_OK)
			st = rt_engine_close_step(now, seq, record, out, err);
		rt_object_unref(now);
		return st;
	case RT_RECORD_MOVE:
		now = rt_object_ref(project);
		arena = rt_arena_new(engine->alloc);
		if (arena == NULL)
			st = rt_fail(err, RT_NOMEM, "out of memory");
		for (i = 0; st == RT_OK && i < record->move_count; i++) {
			rt_redo_hint hint;
			rt_record step;

			rt_arena_reset(arena);
			st = rt_engine_record(engine, record->moves[i].step, arena, &step, NULL,
					      err);
			if (st == RT_OK)
				st = read_redo_row(engine, now, seq, &record->moves[i], &cache, err);
			hint = (rt_redo_hint){cache.seq, &cache.row};
			if (st == RT_OK)
				st = rt_history_move(engine, now, seq, record, (uint32_t)i, &step,
						     cache.seq != 0 ? &hint : NULL, &next, err);
			if (st == RT_OK) {
				rt_object_unref(now);
				now = next;
			}
		}
		rt_arena_free(arena);
		rt_arena_free(cache.arena);
		if (st == RT_OK && rt_project_copy(now, &mine) != RT_OK)
			st = rt_fail(err, RT_NOMEM, "out of memory");
		rt_object_unref(now);
		now = mine;
		break;
	case RT_RECORD_VIEW:
		st = apply_views(project, record, &now, err);
		if (st == RT_OK && rt_project_copy(now, &mine) != RT_OK)
			st = rt_fail(err, RT_NOMEM, "out of memory");
		rt_object_unref(now);
		now = mine;
		break;
	case RT_RECORD_NOTE:
		if (rt_project_copy(project, &mine) != RT_OK)
			st = rt_fail(err, RT_NOMEM, "out of memory");
		now = mine;
		break;
	}
	if (st != RT_OK) {
		rt_object_unref(now);
		return st;
	}
	mine->seq = seq;
	*out = mine;
	return RT_OK;
}

/* ---- past values ---- */

static rt_status
set_current(rt_project *mine, uint32_t disc, uint64_t step, rt_error *err)
{
	rt_history h;
	rt_status st = rt_history_get(mine, disc, &h, err);

	h.current = step;
	return st == RT_OK ? history_set(mine, disc, &h, err) : st;
}

/* *now is ours. */
static rt_status
undo_record(rt_engine *engine, rt_project **now, const rt_record *record, rt_error *err)
{
	const rt_project *next = NULL;
	rt_arena *arena;
	size_t i, k;
	rt_status st = RT_OK;

	if (record->kind == RT_RECORD_STEP) {
		st = rt_effects_apply(*now, record->effects, record->effect_count, true, &next,
				      err);
		if (st == RT_OK) {
			rt_object_unref(*now);
			*now = (rt_project *)(uintptr_t)next;
		}
		for (i = 0; st == RT_OK && i < record->parent_count; i++)
			st = set_current(*now, record->parents[i].disc, record->parents[i].step,
					 err);
		return st;
	}
	if (record->kind != RT_RECORD_MOVE)
		return RT_OK;
	arena = rt_arena_new(engine->alloc);
	if (arena == NULL)
		return rt_fail(err, RT_NOMEM, "out of memory");
	for (i = record->move_count; st == RT_OK && i > 0; i--) {
		const rt_record_move *m = &record->moves[i - 1];
		rt_record step;

		rt_arena_reset(arena);
		st = rt_engine_record(engine, m->step, arena, &step, NULL, err);
		if (st == RT_OK)
			st = apply_step(*now, &step, m->discs, m->disc_count, m->direction > 0,
					&next, err);
		if (st == RT_OK) {
			rt_object_unref(*now);
			*now = (rt_project *)(uintptr_t)next;
		}
		for (k = 0; st == RT_OK && k < m->disc_count; k++) {
			uint64_t current = m->step;

			if (m->direction > 0 && !rt_history_parent(&step, m->discs[k], &current))
				st = rt_fail(err, RT_CORRUPT,
					     "step %llu did not touch document %u",
					     (unsigned long long)m->step, m->discs[k]);
			else
				st = set_current(*now, m->discs[k], current, err);
		}
	}
	rt_arena_free(arena);
	return st;
}

rt_status
rt_engine_value_at(rt_engine *engine, uint64_t seq, const rt_project **out, rt_error *err)
{
	const rt_project *base = rt_engine_value(engine);
	rt_status st = rt_engine_value_back(engine, base, seq, out, err);

	rt_object_unref(base);
	return st;
}

rt_status
rt_engine_value_back(rt_engine *engine, const rt_project *base, uint64_t seq,
		     const rt_project **out, rt_error *err)
{
	rt_arena *arena = rt_arena_new(engine->alloc);
	rt_project *now = NULL;
	uint64_t at;
	rt_status st = RT_OK;

	if (arena == NULL || rt_project_copy(base, &now) != RT_OK)
		st = rt_fail(err, RT_NOMEM, "out of memory");
	if (st == RT_OK && seq > base->seq && rt_engine_newer(engine, err))
		st = RT_TOO_NEW;
	else if (st == RT_OK && seq > base->seq)
		st = rt_fail(err, RT_NOT_FOUND, "no step %llu yet; the newest is %llu",
			     (unsigned long long)seq, (unsigned long long)base->seq);
	for (at = base->seq; st == RT_OK && at > seq; at--) {
		rt_record record;

		rt_arena_reset(arena);
		st = rt_engine_record(engine, at, arena, &record, NULL, err);
		if (st == RT_OK)
			st = undo_record(engine, &now, &record, err);
	}
	rt_arena_free(arena);
	if (st != RT_OK) {
		rt_object_unref(now);
		return st;
	}
	now->seq = seq;
	*out = now;
	return RT_OK;
}
