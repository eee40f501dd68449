/* SPDX-License-Identifier: MIT
 *
 * History: a tree of steps for every document (each discussion, and the project's own
 * settings). A document knows its current step; every step knows, for each document it
 * touched, which step was current before. Undo takes the current step's effects back in
 * the documents where it is current; redo brings back what an undo took.
 *
 * What redo would do is not kept as a list but read from the log: a document's history
 * points at the newest move that took something back (row, index), and that row says what
 * the pointer was before it. So undo and redo cost the same after a restart, at any depth. */
#include "engine/engine_impl.h"

static rt_history
history_of(const rt_project *project, const rt_disc *disc)
{
	return disc != NULL ? disc->history : project->history;
}

/* The history of a document as it stands. */
static rt_status
history_get(const rt_project *project, uint32_t number, rt_history *out, rt_error *err)
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

static bool
step_parent(const rt_record *step, uint32_t disc, uint64_t *out)
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

/* Where redo stands in a document after the move it names was taken: the move of that row
 * before it, or what the row found. */
static void
redo_before(const rt_record *row, uint64_t seq, uint32_t move, uint32_t disc, rt_history *h)
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

/* A log row that is at hand already, where it may be the one that redo points at. */
typedef struct redo_hint {
	uint64_t seq;
	const rt_record *row;
} redo_hint;

/* One move of row `seq`, with its step at hand. hint may be NULL. */
static rt_status
take_move(rt_engine *engine, const rt_project *project, uint64_t seq, const rt_record *row,
	  uint32_t index, const rt_record *step, const redo_hint *hint, const rt_project **out,
	  rt_error *err)
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

		st = history_get(moved, m->discs[i], &h, err);
		if (st != RT_OK)
			break;
		if (!step_parent(step, m->discs[i], &parent)) {
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
			h.redo_row = seq;
			h.redo_move = index;
		} else {
			h.current = m->step;
			if (h.redo_row == seq) {
				uint32_t was = h.redo_move;

				if (row->moves[was].step == m->step)
					redo_before(row, seq, was, m->discs[i], &h);
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
					redo_before(&other, h.redo_row, h.redo_move, m->discs[i],
						    &h);
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

static rt_status
take_views(const rt_project *project, const rt_record *record, const rt_project **out,
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
	st = history_get(mine, disc, &h, err);
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

		st = history_get(mine, record->parents[i].disc, &h, err);
		if (st == RT_OK && h.current != record->parents[i].step)
			st = rt_fail(err, RT_CORRUPT,
				     "step %llu follows step %llu, but %llu is current",
				     (unsigned long long)seq,
				     (unsigned long long)record->parents[i].step,
				     (unsigned long long)h.current);
		h.current = h.last_step = seq;
		h.redo_row = 0;
		h.redo_move = 0;
		if (st == RT_OK)
			st = history_set(mine, record->parents[i].disc, &h, err);
	}
	/* a new step ends redo in the discussion in view and in the project (C30) */
	if (st == RT_OK && record->parent_count > 0)
		st = end_redo(mine, record->disc, err);
	if (st == RT_OK && record->parent_count > 0)
		st = end_redo(mine, 0, err);
	if (st != RT_OK) {
		rt_object_unref(mine);
		return st;
	}
	*out = mine;
	return RT_OK;
}

rt_status
rt_engine_take_row(rt_engine *engine, const rt_project *project, uint64_t seq,
		   const rt_record *record, const rt_project **out, rt_error *err)
{
	const rt_project *now = NULL, *next;
	rt_arena *arena = NULL;
	rt_project *mine = NULL;
	size_t i;
	rt_status st = RT_OK;

	switch (record->kind) {
	case RT_RECORD_STEP:
		st = rt_effects_apply(project, record->effects, record->effect_count, false, &now,
				      err);
		if (st == RT_OK && record->view_count > 0) {
			st = take_views(now, record, &next, err);
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
			rt_record step;

			rt_arena_reset(arena);
			st = rt_engine_record(engine, record->moves[i].step, arena, &step, NULL,
					      err);
			if (st == RT_OK)
				st = take_move(engine, now, seq, record, (uint32_t)i, &step, NULL,
					       &next, err);
			if (st == RT_OK) {
				rt_object_unref(now);
				now = next;
			}
		}
		rt_arena_free(arena);
		if (st == RT_OK && rt_project_copy(now, &mine) != RT_OK)
			st = rt_fail(err, RT_NOMEM, "out of memory");
		rt_object_unref(now);
		now = mine;
		break;
	case RT_RECORD_VIEW:
		st = take_views(project, record, &now, err);
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

/* ---- planning a move ---- */

/* How far below a document's current step the search for one that is no switch has come. */
typedef struct plan_passed {
	uint64_t from, at; /* the current step; where the search goes on */
	bool found;        /* `at` is no switch */
} plan_passed;

/* A record of moves that grows. */
typedef struct plan {
	rt_engine *engine;
	rt_arena *arena;
	rt_record_move *moves;
	size_t count, room;
	const rt_project *now; /* ours: the value after the moves so far */
	uint64_t seq;          /* the row's number to be */
	rt_record row;
	plan_passed passed[2]; /* in the project; in the discussion that is pinned */
} plan;

static rt_status
plan_add(plan *p, uint64_t step_seq, int direction, const uint32_t *discs, size_t disc_count,
	 const rt_record *step, const redo_hint *hint, rt_error *err)
{
	const rt_project *next;
	uint32_t *copy = rt_arena_get(p->arena, disc_count * sizeof(*copy) + 1);
	size_t i, j;
	rt_status st;

	if (copy != NULL && p->count == p->room) {
		size_t room = p->room == 0 ? 8 : p->room * 2;
		rt_record_move *moves = rt_arena_get(p->arena, room * sizeof(*moves));

		if (moves != NULL && p->count > 0)
			memcpy(moves, p->moves, p->count * sizeof(*moves));
		p->moves = moves;
		p->room = room;
	}
	if (copy == NULL || p->moves == NULL)
		return rt_fail(err, RT_NOMEM, "out of memory");
	memcpy(copy, discs, disc_count * sizeof(*copy));
	p->moves[p->count] = (rt_record_move){
		.step = step_seq, .direction = direction, .discs = copy, .disc_count = disc_count};
	/* what redo was in a document before this row */
	for (i = 0; i < disc_count; i++) {
		rt_record_redo *redos;
		rt_history h;

		for (j = 0; j < p->row.redo_count; j++)
			if (p->row.redos[j].disc == discs[i])
				break;
		if (j < p->row.redo_count)
			continue;
		st = history_get(p->now, discs[i], &h, err);
		if (st != RT_OK)
			return st;
		redos = rt_arena_get(p->arena, (p->row.redo_count + 1) * sizeof(*redos));
		if (redos == NULL)
			return rt_fail(err, RT_NOMEM, "out of memory");
		if (p->row.redo_count > 0)
			memcpy(redos, p->row.redos, p->row.redo_count * sizeof(*redos));
		redos[p->row.redo_count++] = (rt_record_redo){discs[i], h.redo_row, h.redo_move};
		p->row.redos = redos;
	}
	p->count++;
	p->row.moves = p->moves;
	p->row.move_count = p->count;
	st = take_move(p->engine, p->now, p->seq, &p->row, (uint32_t)(p->count - 1), step, hint,
		       &next, err);
	if (st != RT_OK) {
		p->count--;
		p->row.move_count--;
		return st;
	}
	rt_object_unref(p->now);
	p->now = next;
	return RT_OK;
}

/* Does the step only say where somebody is? */
static bool
is_switch(const rt_record *step)
{
	return rt_str_is(step->op, "take.switch") || rt_str_is(step->op, "discussion.switch");
}

/* Which documents a request's scope takes in: bit 0 the discussion, bit 1 the project. */
static rt_status
scope_of(yyjson_val *request, unsigned *out, rt_error *err)
{
	yyjson_val *scope = rt_json_get(request, "scope");

	*out = 3;
	if (scope == NULL)
		return RT_OK;
	if (rt_str_is(rt_json_str(scope), "discussion"))
		*out = 1;
	else if (rt_str_is(rt_json_str(scope), "project"))
		*out = 2;
	else
		return rt_fail(err, RT_USAGE,
			       "\"scope\" is \"discussion\" or \"project\" (both when it is left out)");
	return RT_OK;
}

static rt_status
count_of(yyjson_val *request, uint64_t *out, rt_error *err)
{
	yyjson_val *count = rt_json_get(request, "count");

	*out = 1;
	if (count != NULL && (!rt_json_u64(count, out) || *out < 1))
		return rt_fail(err, RT_USAGE, "\"count\" is a whole number from 1 on");
	return RT_OK;
}

/* The newest step of a document, in effect, that somebody who has pinned a place would take
 * back: the switches of others are passed over. The search ends at `enough`, where it would
 * find nothing newer. It goes on from where the last one in the same plan ended. */
static rt_status
pass_switches(plan *p, uint32_t disc, uint64_t current, uint64_t enough, uint64_t *out,
	      rt_error *err)
{
	plan_passed *passed = &p->passed[disc != 0];
	rt_arena *arena = rt_arena_new(p->engine->alloc);
	rt_record step;
	rt_status st = RT_OK;

	if (arena == NULL)
		return rt_fail(err, RT_NOMEM, "out of memory");
	if (passed->from != current)
		*passed = (plan_passed){current, current, false};
	while (st == RT_OK && !passed->found && passed->at > enough) {
		rt_arena_reset(arena);
		st = rt_engine_record(p->engine, passed->at, arena, &step, NULL, err);
		if (st != RT_OK)
			break;
		passed->found = !is_switch(&step);
		if (!passed->found && !step_parent(&step, disc, &passed->at))
			st = rt_fail(err, RT_CORRUPT, "step %llu did not touch document %u",
				     (unsigned long long)passed->at, disc);
	}
	*out = passed->found ? passed->at : 0;
	rt_arena_free(arena);
	return st;
}

/* Take back the switches that lie above a step in one of its documents, if nothing else
 * does. Whatever comes next belongs to them. */
static rt_status
undo_switches(plan *p, uint32_t disc, uint64_t down_to, rt_error *err)
{
	uint64_t current, at;
	rt_arena *arena = NULL;
	rt_record step;
	rt_history h;
	rt_status st = history_get(p->now, disc, &h, err);

	if (st != RT_OK || h.current <= down_to)
		return st;
	current = h.current;
	arena = rt_arena_new(p->engine->alloc);
	if (arena == NULL)
		return rt_fail(err, RT_NOMEM, "out of memory");
	for (at = current; st == RT_OK && at > down_to;) {
		rt_arena_reset(arena);
		st = rt_engine_record(p->engine, at, arena, &step, NULL, err);
		if (st == RT_OK && (!is_switch(&step) || !step_parent(&step, disc, &at)))
			break;
	}
	while (st == RT_OK && at == down_to && current > down_to) {
		rt_arena_reset(arena);
		st = rt_engine_record(p->engine, current, arena, &step, NULL, err);
		if (st == RT_OK)
			st = plan_add(p, current, -1, &disc, 1, &step, NULL, err);
		if (st == RT_OK) {
			p->moves[p->count - 1].with_next = true;
			(void)step_parent(&step, disc, &current);
		}
	}
	rt_arena_free(arena);
	return st;
}

/* Undo once. pinned: for somebody who names discussion and take; the switches of others do
 * not concern them. *out_done false: nothing left. */
static rt_status
undo_once(plan *p, uint32_t disc, unsigned scope, bool pinned, bool *out_done, rt_error *err)
{
	rt_history d = {0}, project = {0};
	uint32_t *discs;
	size_t disc_count = 0, i;
	uint64_t seq;
	rt_record step;
	rt_arena *arena = rt_arena_new(p->engine->alloc);
	rt_status st = RT_OK;

	*out_done = false;
	if (arena == NULL)
		return rt_fail(err, RT_NOMEM, "out of memory");
	if ((scope & 1) != 0)
		st = history_get(p->now, disc, &d, err);
	if ((scope & 2) != 0)
		project = p->now->history;
	if (st == RT_OK && pinned)
		st = pass_switches(p, disc, d.current, 0, &d.current, err);
	if (st == RT_OK && pinned)
		st = pass_switches(p, 0, project.current, d.current, &project.current, err);
	seq = d.current > project.current ? d.current : project.current;
	if (st != RT_OK || seq == 0)
		goto done;
	st = rt_engine_record(p->engine, seq, arena, &step, NULL, err);
	if (st != RT_OK)
		goto done;
	discs = rt_arena_get(arena, step.parent_count * sizeof(*discs) + 1);
	if (discs == NULL)
		st = rt_fail(err, RT_NOMEM, "out of memory");
	for (i = 0; st == RT_OK && i < step.parent_count; i++) {
		rt_history h;

		if (pinned)
			st = undo_switches(p, step.parents[i].disc, seq, err);
		if (st == RT_OK)
			st = history_get(p->now, step.parents[i].disc, &h, err);
		if (st == RT_OK && h.current == seq)
			discs[disc_count++] = step.parents[i].disc;
	}
	if (st == RT_OK)
		st = plan_add(p, seq, -1, discs, disc_count, &step, NULL, err);
	*out_done = st == RT_OK;
done:
	rt_arena_free(arena);
	return st;
}

/* Bring back one move of a row (which may be the one that is being planned), together in
 * the documents where it was taken together, but not where something else came since.
 * *out_done: in one at least. */
static rt_status
redo_move(plan *p, uint64_t seq, const rt_record *from, uint32_t index, bool *out_done,
	  rt_error *err)
{
	const rt_record_move *m = &from->moves[index];
	uint64_t step_seq = m->step;
	uint32_t *discs;
	size_t disc_count = 0, i;
	redo_hint hint = {seq, from};
	rt_record step;
	rt_arena *arena = rt_arena_new(p->engine->alloc);
	rt_status st = RT_OK;

	*out_done = false;
	if (arena == NULL)
		return rt_fail(err, RT_NOMEM, "out of memory");
	discs = rt_arena_get(arena, m->disc_count * sizeof(*discs) + 1);
	if (discs == NULL)
		st = rt_fail(err, RT_NOMEM, "out of memory");
	if (st == RT_OK)
		st = rt_engine_record(p->engine, step_seq, arena, &step, NULL, err);
	for (i = 0; st == RT_OK && i < m->disc_count; i++) {
		rt_history other;
		uint64_t parent;

		st = history_get(p->now, m->discs[i], &other, err);
		if (st == RT_OK && other.redo_row == seq && other.redo_move == index &&
		    step_parent(&step, m->discs[i], &parent) && other.current == parent)
			discs[disc_count++] = m->discs[i];
	}
	if (st == RT_OK && disc_count > 0) {
		st = plan_add(p, step_seq, 1, discs, disc_count, &step,
			      seq != p->seq ? &hint : NULL, err);
		*out_done = st == RT_OK;
	}
	rt_arena_free(arena);
	return st;
}

static rt_status
redo_once(plan *p, uint32_t disc, unsigned scope, bool *out_done, rt_error *err)
{
	rt_history d = {0}, project = {0}, h;
	uint32_t index;
	rt_record row;
	const rt_record *from = &row;
	rt_arena *arena = rt_arena_new(p->engine->alloc);
	bool also = true;
	rt_status st = RT_OK;

	*out_done = false;
	if (arena == NULL)
		return rt_fail(err, RT_NOMEM, "out of memory");
	st = history_get(p->now, disc, &d, err);
	project = p->now->history;
	if ((scope & 1) == 0)
		d.redo_row = 0;
	if ((scope & 2) == 0)
		project.redo_row = 0;
	h = d.redo_row > project.redo_row ||
			    (d.redo_row == project.redo_row && d.redo_move >= project.redo_move)
		    ? d
		    : project;
	if (st != RT_OK || h.redo_row == 0)
		goto done;
	index = h.redo_move;
	if (h.redo_row == p->seq)
		from = &p->row;
	else
		st = rt_engine_record(p->engine, h.redo_row, arena, &row, NULL, err);
	if (st == RT_OK && index >= from->move_count)
		st = rt_fail(err, RT_CORRUPT, "row %llu has no move %u",
			     (unsigned long long)h.redo_row, index);
	if (st == RT_OK)
		st = redo_move(p, h.redo_row, from, index, out_done, err);
	/* the switches that this step was undone with */
	while (st == RT_OK && *out_done && index > 0 && from->moves[index - 1].with_next)
		st = redo_move(p, h.redo_row, from, --index, &also, err);
done:
	rt_arena_free(arena);
	return st;
}

/* The parent of a step in a document. */
static rt_status
parent_of(plan *p, uint64_t step_seq, uint32_t disc, uint64_t *out, rt_error *err)
{
	rt_arena *arena = rt_arena_new(p->engine->alloc);
	rt_record step;
	rt_status st;

	if (arena == NULL)
		return rt_fail(err, RT_NOMEM, "out of memory");
	st = rt_engine_record(p->engine, step_seq, arena, &step, NULL, err);
	if (st == RT_OK && !step_parent(&step, disc, out))
		st = rt_fail(err, RT_CORRUPT, "step %llu did not touch document %u",
			     (unsigned long long)step_seq, disc);
	rt_arena_free(arena);
	return st;
}

/* Walk one document from its current step to another: up to the common ancestor, down. */
static rt_status
jump_disc(plan *p, uint32_t disc, uint64_t to, rt_error *err)
{
	uint64_t *down = NULL, a, b = to;
	size_t down_count = 0, down_room = 0;
	rt_history h;
	rt_status st = history_get(p->now, disc, &h, err);

	if (st != RT_OK)
		return st;
	a = h.current;
	while (st == RT_OK && a != b) {
		rt_arena *arena;
		rt_record step;

		if (a > b) { /* take a back */
			arena = rt_arena_new(p->engine->alloc);
			if (arena == NULL)
				st = rt_fail(err, RT_NOMEM, "out of memory");
			if (st == RT_OK)
				st = rt_engine_record(p->engine, a, arena, &step, NULL, err);
			if (st == RT_OK)
				st = plan_add(p, a, -1, &disc, 1, &step, NULL, err);
			if (st == RT_OK && !step_parent(&step, disc, &a))
				st = rt_fail(err, RT_CORRUPT, "a step without its document");
			rt_arena_free(arena);
			continue;
		}
		if (down_count == down_room) {
			size_t room = down_room == 0 ? 64 : down_room * 2;
			uint64_t *more = rt_resize(p->engine->alloc, down, room * sizeof(*down));

			if (more == NULL) {
				st = rt_fail(err, RT_NOMEM, "out of memory");
				break;
			}
			down = more;
			down_room = room;
		}
		down[down_count++] = b;
		st = parent_of(p, b, disc, &b, err);
	}
	while (st == RT_OK && down_count > 0) {
		rt_arena *arena = rt_arena_new(p->engine->alloc);
		rt_record step;

		if (arena == NULL) {
			st = rt_fail(err, RT_NOMEM, "out of memory");
			break;
		}
		st = rt_engine_record(p->engine, down[down_count - 1], arena, &step, NULL, err);
		if (st == RT_OK)
			st = plan_add(p, down[--down_count], 1, &disc, 1, &step, NULL, err);
		rt_arena_free(arena);
	}
	rt_free(p->engine->alloc, down);
	return st;
}

static rt_status
plan_jump(plan *p, yyjson_val *request, uint32_t disc, rt_error *err)
{
	rt_record target;
	uint64_t to;
	size_t i;
	rt_status st;

	if (!rt_json_u64(rt_json_get(request, "to"), &to))
		return rt_fail(err, RT_USAGE, "\"to\" is the number of a step, or 0");
	if (to == 0)
		return jump_disc(p, disc, 0, err);
	if (to >= p->seq)
		return rt_fail(err, RT_NOT_FOUND, "no step %llu; see: retake history",
			       (unsigned long long)to);
	st = rt_engine_record(p->engine, to, p->arena, &target, NULL, err);
	if (st != RT_OK)
		return st;
	if (target.kind != RT_RECORD_STEP || target.parent_count == 0)
		return rt_fail(err, RT_NOT_FOUND,
			       "%llu is not a step (undo, redo and jumps are none); see: retake "
			       "history",
			       (unsigned long long)to);
	for (i = 0; st == RT_OK && i < target.parent_count; i++)
		st = jump_disc(p, target.parents[i].disc, to, err);
	return st;
}

rt_status
rt_history_plan(rt_engine *engine, const rt_project *project, const rt_op *op, yyjson_val *request,
		const rt_change *c, rt_arena *arena, rt_record *out,
		const rt_project **out_moved, uint64_t *out_steps, rt_error *err)
{
	plan p;
	uint64_t count = 1, done_count = 0, i;
	unsigned scope = 3;
	bool done = true;
	rt_status st = RT_OK;

	memset(&p, 0, sizeof(p));
	p.engine = engine;
	p.arena = arena;
	p.now = rt_object_ref(project);
	p.seq = project->seq + 1;
	p.row.kind = RT_RECORD_MOVE;
	p.row.disc = c->place.disc;
	p.row.op = rt_str_of(op->name);
	p.row.by = rt_text_str(engine->by);
	if (op->id == RT_OP_JUMP) {
		st = plan_jump(&p, request, c->place.disc, err);
	} else {
		st = count_of(request, &count, err);
		if (st == RT_OK)
			st = scope_of(request, &scope, err);
		for (i = 0; st == RT_OK && done && done_count < count; i++) {
			/* what is in view may be another discussion after every step */
			uint32_t disc = c->named_disc ? c->place.disc : p.now->active;
			if (op->id == RT_OP_UNDO)
				st = undo_once(&p, disc, scope, c->pinned, &done, err);
			else
				st = redo_once(&p, disc, scope, &done, err);
			done_count += done;
		}
		if (st == RT_OK && p.count == 0)
			st = rt_fail(err, RT_REFUSED, "nothing to %s", op->name);
	}
	*out = p.row;
	*out_steps = done_count;
	if (st == RT_OK)
		*out_moved = p.now;
	else
		rt_object_unref(p.now);
	return st;
}

/* ---- past values ---- */

static rt_status
take_back(rt_engine *engine, const rt_project **now, const rt_record *record, rt_error *err)
{
	const rt_project *next = NULL;
	rt_arena *arena;
	size_t i;
	rt_status st = RT_OK;

	if (record->kind == RT_RECORD_STEP) {
		st = rt_effects_apply(*now, record->effects, record->effect_count, true, &next, err);
		if (st == RT_OK) {
			rt_object_unref(*now);
			*now = next;
		}
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
			*now = next;
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
	const rt_project *now = rt_object_ref(base);
	rt_arena *arena = rt_arena_new(engine->alloc);
	rt_project *mine = NULL;
	uint64_t at;
	rt_status st = RT_OK;

	if (arena == NULL)
		st = rt_fail(err, RT_NOMEM, "out of memory");
	if (st == RT_OK && seq > now->seq)
		st = rt_fail(err, RT_NOT_FOUND, "no step %llu yet; the newest is %llu",
			     (unsigned long long)seq, (unsigned long long)now->seq);
	for (at = now->seq; st == RT_OK && at > seq; at--) {
		rt_record record;

		rt_arena_reset(arena);
		st = rt_engine_record(engine, at, arena, &record, NULL, err);
		if (st == RT_OK)
			st = take_back(engine, &now, &record, err);
	}
	rt_arena_free(arena);
	if (st == RT_OK && rt_project_copy(now, &mine) != RT_OK)
		st = rt_fail(err, RT_NOMEM, "out of memory");
	rt_object_unref(now);
	if (st == RT_OK) {
		mine->seq = seq;
		*out = mine;
	}
	return st;
}

/* ---- revert ---- */

static rt_status
cannot(rt_error *err, uint64_t seq, const char *why)
{
	return rt_fail(err, RT_REFUSED, "cannot revert step %llu: %s", (unsigned long long)seq, why);
}

/* A changed slot back to what it was, where the change still stands (only what the step
 * changed is put back). */
static rt_status
revert_slot(rt_change *c, const rt_effect *e, size_t index, uint64_t seq, rt_error *err)
{
	const rt_effect_slot *was = &e->removed[index], *became = &e->added[index];
	const rt_disc *disc;
	const rt_take *take;
	rt_slot slot;
	rt_effect_slot now;
	size_t at;
	bool found;
	rt_status st = rt_project_disc(c->now, e->disc, &disc, err);

	if (st != RT_OK)
		return st;
	take = rt_disc_take(disc, e->sub);
	if (take == NULL || !take->present)
		return cannot(err, seq, "its take is gone");
	st = rt_take_find(c->now, take, was->slot.entry, &at, &slot, &found, err);
	if (st == RT_OK && !found)
		return cannot(err, seq, "the entry is gone");
	if (st == RT_OK)
		st = rt_change_name(c, &slot, &now, err);
	if (st != RT_OK)
		return st;
	if (was->slot.body != became->slot.body) {
		if (now.slot.body != became->slot.body)
			return cannot(err, seq, "the text was changed again since");
		now.slot.body = was->slot.body;
		now.slot.size = was->slot.size;
		now.slot.flags = (now.slot.flags & ~(uint32_t)RT_SLOT_RICH) |
				 (was->slot.flags & RT_SLOT_RICH);
	}
	if (!rt_str_eq(was->role, became->role)) {
		if (!rt_str_eq(now.role, became->role))
			return cannot(err, seq, "the role was changed again since");
		now.role = was->role;
	}
	if (((was->slot.flags ^ became->slot.flags) & RT_SLOT_MUTED) != 0) {
		if (((now.slot.flags ^ became->slot.flags) & RT_SLOT_MUTED) != 0)
			return cannot(err, seq, "it was muted or unmuted again since");
		now.slot.flags = (now.slot.flags & ~(uint32_t)RT_SLOT_MUTED) |
				 (was->slot.flags & RT_SLOT_MUTED);
	}
	return rt_change_splice(c, e->disc, e->sub, at, 1, &now, 1, err);
}

static rt_status
revert_added(rt_change *c, const rt_effect *e, uint64_t seq, rt_error *err)
{
	size_t i;

	for (i = 0; i < e->added_count; i++) {
		const rt_disc *disc;
		const rt_take *take;
		rt_slot slot;
		rt_str role;
		size_t at;
		bool found;
		rt_status st = rt_project_disc(c->now, e->disc, &disc, err);

		if (st != RT_OK)
			return st;
		take = rt_disc_take(disc, e->sub);
		if (take == NULL || !take->present)
			return cannot(err, seq, "its take is gone");
		st = rt_take_find(c->now, take, e->added[i].slot.entry, &at, &slot, &found, err);
		if (st == RT_OK && !found)
			return cannot(err, seq, "the entry is gone");
		if (st == RT_OK)
			st = rt_project_name(c->now, slot.role, &role, err);
		if (st == RT_OK &&
		    (slot.body != e->added[i].slot.body || !rt_str_eq(role, e->added[i].role) ||
		     ((slot.flags ^ e->added[i].slot.flags) & RT_SLOT_MUTED) != 0))
			return cannot(err, seq, "the entry was changed since");
		if (st == RT_OK)
			st = rt_change_splice(c, e->disc, e->sub, at, 1, NULL, 0, err);
		if (st != RT_OK)
			return st;
	}
	return RT_OK;
}

/* Deleted entries back, behind the nearest predecessor that still stands. before is the
 * value right before the effect. */
static rt_status
revert_removed(rt_change *c, const rt_effect *e, const rt_project *before, uint64_t seq,
	       rt_error *err)
{
	const rt_disc *disc, *old_disc;
	const rt_take *take, *old_take;
	size_t i, at = 0, back;
	bool found = false;
	rt_status st = rt_project_disc(c->now, e->disc, &disc, err);

	if (st == RT_OK)
		st = rt_project_disc(before, e->disc, &old_disc, err);
	if (st != RT_OK)
		return st;
	take = rt_disc_take(disc, e->sub);
	old_take = rt_disc_take(old_disc, e->sub);
	if (take == NULL || !take->present || old_take == NULL)
		return cannot(err, seq, "its take is gone");
	for (i = 0; i < e->removed_count; i++) {
		st = rt_take_find(c->now, take, e->removed[i].slot.entry, &at, NULL, &found, err);
		if (st != RT_OK)
			return st;
		if (found)
			return cannot(err, seq, "the entry is there again");
	}
	for (back = (size_t)e->at; back > 0; back--) {
		rt_slot slot;

		if (back > rt_seq_count(old_take->slots))
			continue;
		st = rt_seq_get(old_take->slots, back - 1, &slot, err);
		if (st == RT_OK)
			st = rt_take_find(c->now, take, slot.entry, &at, NULL, &found, err);
		if (st != RT_OK)
			return st;
		if (found)
			break;
	}
	return rt_change_splice(c, e->disc, e->sub, back > 0 ? at + 1 : 0, 0, e->removed,
				e->removed_count, err);
}

static rt_status
revert_set(rt_change *c, const rt_effect *e, uint64_t seq, rt_error *err)
{
	rt_str now;
	char key[260];
	rt_status st = rt_field_now(c->now, c->arena, e->disc, e->sub, e->key, e->entry, &now, err);

	if (st != RT_OK)
		return st;
	if ((now.ptr == NULL) != (e->after.ptr == NULL) || !rt_str_eq(now, e->after))
		return cannot(err, seq, "it was changed again since");
	if (e->key.size >= sizeof(key))
		return cannot(err, seq, "its field has a long name");
	memcpy(key, e->key.ptr, e->key.size);
	key[e->key.size] = '\0';
	return rt_change_set(c, e->disc, e->sub, key, e->entry, e->before, err);
}

rt_status
rt_history_revert(rt_change *c, uint64_t seq, rt_error *err)
{
	rt_record step;
	const rt_project *before = NULL;
	size_t i;
	bool plain_field;
	rt_status st;

	if (seq == 0 || seq > c->now->seq)
		return rt_fail(err, RT_NOT_FOUND, "no step %llu; see: retake history",
			       (unsigned long long)seq);
	st = rt_engine_record(c->engine, seq, c->arena, &step, NULL, err);
	if (st != RT_OK)
		return st;
	if (step.kind != RT_RECORD_STEP || step.parent_count == 0)
		return rt_fail(err, RT_NOT_FOUND, "%llu is not a step; see: retake history",
			       (unsigned long long)seq);
	plain_field = rt_str_is(step.op, "label.set") || rt_str_is(step.op, "setting.set") ||
		      rt_str_is(step.op, "files.set") || rt_str_is(step.op, "track.set") ||
		      rt_str_is(step.op, "prompt.update") || rt_str_is(step.op, "role.add") ||
		      rt_str_is(step.op, "role.remove");
	if (!plain_field && !rt_str_is(step.op, "entry.edit") && !rt_str_is(step.op, "entry.role") &&
	    !rt_str_is(step.op, "entry.mute") && !rt_str_is(step.op, "entry.append") &&
	    !rt_str_is(step.op, "entry.insert") && !rt_str_is(step.op, "entry.delete"))
		return cannot(err, seq, "only changes to entries, labels and settings can be "
					"reverted by themselves; see: retake jump");
	if (rt_str_is(step.op, "entry.delete")) {
		st = rt_engine_value_back(c->engine, c->base, seq, &before, err);
		if (st != RT_OK)
			return st;
	}
	for (i = step.effect_count; st == RT_OK && i > 0; i--) {
		const rt_effect *e = &step.effects[i - 1];
		size_t k;

		if (before != NULL) { /* to right before this effect of the step */
			const rt_project *after = before;

			st = rt_effect_apply(after, e, true, &before, err);
			if (st != RT_OK) {
				before = after;
				break;
			}
			rt_object_unref(after);
		}
		if (e->kind == RT_EFFECT_SET) {
			if (plain_field)
				st = revert_set(c, e, seq, err);
			continue;
		}
		if (e->kind != RT_EFFECT_SPLICE)
			continue;
		if (e->removed_count == 0)
			st = revert_added(c, e, seq, err);
		else if (e->added_count == 0)
			st = revert_removed(c, e, before, seq, err);
		else
			for (k = 0; st == RT_OK && k < e->removed_count; k++)
				st = revert_slot(c, e, k, seq, err);
	}
	rt_object_unref(before);
	for (i = 0; st == RT_OK && c->result != NULL && i < step.effect_count; i++) {
		const rt_effect *e = &step.effects[i];
		uint32_t entry = e->entry;

		if (e->kind == RT_EFFECT_SPLICE)
			entry = e->added_count > 0 ? e->added[0].slot.entry
						   : e->removed[0].slot.entry;
		if (entry != 0) {
			st = rt_entry_id(c->now, entry, c->result->entry, err);
			break;
		}
	}
	return st;
}
