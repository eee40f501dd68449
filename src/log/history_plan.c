/* SPDX-License-Identifier: MIT
 *
 * Planning undo, redo and jump: which steps to take back or bring back, in which documents.
 * A plan is a log row that grows move by move, and the value after the moves so far. */
#include "log/history_impl.h"

#include "core/setting.h"

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
	size_t count, room, redo_room;
	const rt_project *now; /* ours: the value after the moves so far */
	uint64_t seq;          /* the row's number to be */
	rt_record row;
	rt_moves_cache redo;   /* the row that redo reads from */
	plan_passed passed[2]; /* in the project; in the discussion that is pinned */
	bool has_capacity;     /* undo is limited: */
	uint64_t capacity;     /* to so many steps from the newest state */
	uint64_t undone;       /* those that are undone already, seen from undone_disc */
	uint32_t undone_disc;  /* 0: not counted yet */
} plan;

/* with_next: it makes way for the move that comes after it. */
static rt_status
plan_add(plan *p, uint64_t step_seq, int direction, bool with_next, const uint32_t *discs,
	 size_t disc_count, const rt_record *step, const rt_redo_hint *hint, rt_error *err)
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
		.step = step_seq, .direction = direction, .with_next = with_next, .discs = copy,
		.disc_count = disc_count};
	/* what redo was in a document before this row */
	for (i = 0; i < disc_count; i++) {
		rt_history h;

		for (j = 0; j < p->row.redo_count; j++)
			if (p->row.redos[j].disc == discs[i])
				break;
		if (j < p->row.redo_count)
			continue;
		st = rt_history_get(p->now, discs[i], &h, err);
		if (st != RT_OK)
			return st;
		if (p->row.redo_count == p->redo_room) {
			size_t room = p->redo_room == 0 ? 8 : p->redo_room * 2;
			rt_record_redo *redos = rt_arena_get(p->arena, room * sizeof(*redos));

			if (redos == NULL)
				return rt_fail(err, RT_NOMEM, "out of memory");
			if (p->row.redo_count > 0)
				memcpy(redos, p->row.redos, p->row.redo_count * sizeof(*redos));
			p->row.redos = redos;
			p->redo_room = room;
		}
		p->row.redos[p->row.redo_count++] =
			(rt_record_redo){discs[i], h.redo_row, h.redo_move};
	}
	p->count++;
	p->row.moves = p->moves;
	p->row.move_count = p->count;
	st = rt_history_move(p->engine, p->now, p->seq, &p->row, (uint32_t)(p->count - 1), step,
			     hint, &next, err);
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
scope_of(const rt_request *r, unsigned *out, rt_error *err)
{
	*out = 3;
	if (r->scope.ptr == NULL)
		return RT_OK;
	if (rt_str_is(r->scope, "discussion"))
		*out = 1;
	else if (rt_str_is(r->scope, "project"))
		*out = 2;
	else
		return rt_fail(
			err, RT_USAGE,
			"\"scope\" is \"discussion\" or \"project\" (both when it is left out)");
	return RT_OK;
}

static rt_status
count_of(const rt_request *r, uint64_t *out, rt_error *err)
{
	*out = r->count.given ? r->count.value : 1;
	if (*out < 1)
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
		if (!passed->found && !rt_history_parent(&step, disc, &passed->at))
			st = rt_fail(err, RT_CORRUPT, "step %llu did not touch document %u",
				     (unsigned long long)passed->at, disc);
	}
	*out = passed->found ? passed->at : 0;
	rt_arena_free(arena);
	return st;
}

/* Take back the switches above a step in one of its documents, if nothing else
 * does. Whatever comes next belongs to them. */
static rt_status
undo_switches(plan *p, uint32_t disc, uint64_t down_to, rt_error *err)
{
	uint64_t current, at;
	rt_arena *arena = NULL;
	rt_record step;
	rt_history h;
	rt_status st = rt_history_get(p->now, disc, &h, err);

	if (st != RT_OK || h.current <= down_to)
		return st;
	current = h.current;
	arena = rt_arena_new(p->engine->alloc);
	if (arena == NULL)
		return rt_fail(err, RT_NOMEM, "out of memory");
	for (at = current; st == RT_OK && at > down_to;) {
		rt_arena_reset(arena);
		st = rt_engine_record(p->engine, at, arena, &step, NULL, err);
		if (st == RT_OK && (!is_switch(&step) || !rt_history_parent(&step, disc, &at)))
			break;
	}
	while (st == RT_OK && at == down_to && current > down_to) {
		rt_arena_reset(arena);
		st = rt_engine_record(p->engine, current, arena, &step, NULL, err);
		if (st == RT_OK)
			st = plan_add(p, current, -1, false, &disc, 1, &step, NULL, err);
		if (st == RT_OK) {
			p->moves[p->count - 1].with_next = true;
			(void)rt_history_parent(&step, disc, &current);
		}
	}
	rt_arena_free(arena);
	return st;
}

/* The documents of a group's row in which undo takes it back. Discussions that the group
 * made are left as they are: they are not in the catalogue afterwards. So undo of a large
 * import does not have to look at each. Where the project has newer steps (only a
 * discussion's are undone), it is taken back in that discussion alone. */
static bool
in_group_undo(const rt_record *step, uint32_t number, bool project_too, uint32_t disc)
{
	return project_too ? number <= step->group_discs : number == disc;
}

/* An import that undo takes back as one, with those that were written to the same project while
 * it was: their rows alternate, and undo goes from the newest row down. */
typedef struct undo_span {
	uint64_t first;     /* down to this row */
	uint32_t disc;      /* the document whose steps are followed: the project, or a discussion
	                     * where the project has newer steps */
	bool alone;         /* the one import, without others */
	struct {
		uint64_t group;
		uint32_t discs; /* that there were before it */
	} groups[16];
	size_t group_count;
} undo_span;

/* Is the row part of it? A group's first row does not say so itself. */
static bool
in_span(undo_span *span, uint64_t seq, const rt_record *step, uint32_t *out_discs)
{
	uint64_t group = step->group != 0 ? step->group : seq;
	size_t i;

	for (i = 0; i < span->group_count && span->groups[i].group != group; i++)
		;
	if (i == span->group_count) {
		if (span->alone || step->group == 0 ||
		    i == sizeof(span->groups) / sizeof(span->groups[0]))
			return false;
		span->groups[i].group = group;
		span->groups[i].discs = step->group_discs;
		span->group_count++;
		if (group < span->first)
			span->first = group;
	}
	*out_discs = span->groups[i].discs;
	return true;
}

/* Take back one row of the span, where it is what is current. *out_done: it was. */
static rt_status
undo_span_row(plan *p, undo_span *span, uint64_t seq, rt_arena *arena, bool *out_done, rt_error *err)
{
	rt_record step;
	uint32_t *discs;
	size_t disc_count = 0, i;
	rt_status st = rt_engine_record(p->engine, seq, arena, &step, NULL, err);

	*out_done = false;
	if (st != RT_OK || !in_span(span, seq, &step, &step.group_discs))
		return st;
	discs = rt_arena_get(arena, step.parent_count * sizeof(*discs) + 1);
	if (discs == NULL)
		return rt_fail(err, RT_NOMEM, "out of memory");
	for (i = 0; st == RT_OK && i < step.parent_count; i++) {
		rt_history h;

		if (!in_group_undo(&step, step.parents[i].disc, span->disc == 0, span->disc))
			continue;
		st = rt_history_get(p->now, step.parents[i].disc, &h, err);
		if (st == RT_OK && h.current == seq)
			discs[disc_count++] = step.parents[i].disc;
	}
	if (st != RT_OK || disc_count == 0)
		return st;
	st = plan_add(p, seq, -1, false, discs, disc_count, &step, NULL, err);
	if (st == RT_OK && p->count > 1)
		p->moves[p->count - 2].with_next = true;
	*out_done = st == RT_OK;
	return st;
}

/* Take back the other rows of a group of which one was just taken back, in document disc and
 * those that have the same rows, as long as they are what is current there. With it they are
 * one for redo. */
static rt_status
undo_group(plan *p, uint64_t group, uint32_t group_discs, uint32_t disc, bool alone,
	   rt_error *err)
{
	rt_arena *arena = rt_arena_new(p->engine->alloc);
	undo_span span = {.first = group,
			  .disc = disc,
			  .alone = alone,
			  .groups = {{group, group_discs}},
			  .group_count = 1};
	bool done = true;
	rt_history h;
	rt_status st = arena != NULL ? RT_OK : rt_fail(err, RT_NOMEM, "out of memory");

	while (st == RT_OK && done) {
		rt_arena_reset(arena);
		done = false;
		st = rt_history_get(p->now, disc, &h, err);
		if (st == RT_OK && h.current >= span.first)
			st = undo_span_row(p, &span, h.current, arena, &done, err);
	}
	/* The first row need not have touched the project. */
	if (st == RT_OK && disc == 0 && h.current < span.first) {
		rt_arena_reset(arena);
		st = undo_span_row(p, &span, group, arena, &done, err);
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
	bool project_too = false;
	rt_record step;
	rt_arena *arena = rt_arena_new(p->engine->alloc);
	rt_status st = RT_OK;

	*out_done = false;
	if (arena == NULL)
		return rt_fail(err, RT_NOMEM, "out of memory");
	if ((scope & 1) != 0)
		st = rt_history_get(p->now, disc, &d, err);
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
	if (st == RT_OK && pinned && step.group != 0) /* whether the project is past it */
		st = undo_switches(p, 0, seq, err);
	project_too = p->now->history.current == seq;
	for (i = 0; st == RT_OK && i < step.parent_count; i++) {
		rt_history h;

		if (step.group != 0 &&
		    !in_group_undo(&step, step.parents[i].disc, project_too, disc))
			continue;
		if (pinned)
			st = undo_switches(p, step.parents[i].disc, seq, err);
		if (st == RT_OK)
			st = rt_history_get(p->now, step.parents[i].disc, &h, err);
		if (st == RT_OK && h.current == seq)
			discs[disc_count++] = step.parents[i].disc;
	}
	if (st == RT_OK)
		st = plan_add(p, seq, -1, false, discs, disc_count, &step, NULL, err);
	if (st == RT_OK && step.group != 0)
		st = undo_group(p, step.group, step.group_discs, project_too ? 0 : disc, false, err);
	*out_done = st == RT_OK;
done:
	rt_arena_free(arena);
	return st;
}

/* Take back the drafts above a step in a document, if nothing else does, so that what
 * was undone can come back there. The number of the step that is current then. */
static rt_status
pass_drafts(plan *p, uint32_t disc, uint64_t down_to, uint64_t *out_current, rt_error *err)
{
	uint64_t current, at;
	rt_arena *arena = NULL;
	rt_record step;
	rt_history h;
	rt_status st = rt_history_get(p->now, disc, &h, err);

	*out_current = h.current;
	if (st != RT_OK || h.current <= down_to)
		return st;
	current = h.current;
	arena = rt_arena_new(p->engine->alloc);
	if (arena == NULL)
		return rt_fail(err, RT_NOMEM, "out of memory");
	for (at = current; st == RT_OK && at > down_to;) {
		rt_arena_reset(arena);
		st = rt_engine_record(p->engine, at, arena, &step, NULL, err);
		if (st == RT_OK && (!step.keeps_redo || !rt_history_parent(&step, disc, &at)))
			break;
	}
	while (st == RT_OK && at == down_to && current > down_to) {
		rt_arena_reset(arena);
		st = rt_engine_record(p->engine, current, arena, &step, NULL, err);
		if (st == RT_OK)
			st = plan_add(p, current, -1, true, &disc, 1, &step, NULL, err);
		if (st == RT_OK)
			(void)rt_history_parent(&step, disc, &current);
	}
	*out_current = current;
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
	rt_redo_hint hint = {seq, from};
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

		st = rt_history_get(p->now, m->discs[i], &other, err);
		if (st != RT_OK || other.redo_row != seq || other.redo_move != index ||
		    !rt_history_parent(&step, m->discs[i], &parent))
			continue;
		st = pass_drafts(p, m->discs[i], parent, &other.current, err);
		if (st == RT_OK && other.current == parent)
			discs[disc_count++] = m->discs[i];
	}
	if (st == RT_OK && disc_count > 0) {
		st = plan_add(p, step_seq, 1, false, discs, disc_count, &step,
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
	const rt_record *from = &p->redo.row;
	bool also = true;
	rt_status st;

	*out_done = false;
	st = rt_history_get(p->now, disc, &d, err);
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
		return st;
	index = h.redo_move;
	if (h.redo_row == p->seq)
		from = &p->row;
	else
		st = rt_moves_read(p->engine, &p->redo, h.redo_row, err);
	if (st == RT_OK && index >= from->move_count)
		st = rt_fail(err, RT_CORRUPT, "row %llu has no move %u",
			     (unsigned long long)h.redo_row, index);
	if (st == RT_OK)
		st = redo_move(p, h.redo_row, from, index, out_done, err);
	/* the switches that this step was undone with */
	while (st == RT_OK && *out_done && index > 0 && from->moves[index - 1].with_next)
		st = redo_move(p, h.redo_row, from, --index, &also, err);
	return st;
}

/* ---- the capacity of undo ---- */

/* The redo pointer of a document leads past a move, if it is at that move. */
static void
pass_redo(const rt_record *row, uint64_t seq, uint32_t index, uint32_t disc, rt_history *h)
{
	const rt_record_move *m = &row->moves[index];
	size_t i;

	for (i = 0; i < m->disc_count; i++)
		if (m->discs[i] == disc && h->redo_row == seq && h->redo_move == index) {
			rt_history_redo_before(row, seq, index, disc, h);
			return;
		}
}

/* How many steps redo could bring back in a discussion and the project, one after another.
 * No more than `enough` are counted. Where undo came through into this discussion, no fewer
 * than were counted before. Cost: a look at as many moves. */
static rt_status
count_undone(plan *p, uint32_t disc, uint64_t enough, rt_error *err)
{
	rt_history d = {0}, project = p->now->history;
	rt_status st = rt_history_get(p->now, disc, &d, err);
	uint64_t count;

	p->undone_disc = disc;
	for (count = 0; st == RT_OK && count < enough; count++) {
		const rt_record *row = &p->row;
		bool of_disc = d.redo_row > project.redo_row ||
			       (d.redo_row == project.redo_row && d.redo_move >= project.redo_move);
		uint64_t seq = of_disc ? d.redo_row : project.redo_row;
		uint32_t index = of_disc ? d.redo_move : project.redo_move;

		if (seq == 0)
			break;
		if (seq != p->seq) {
			st = rt_moves_read(p->engine, &p->redo, seq, err);
			row = &p->redo.row;
		}
		if (st == RT_OK && index >= row->move_count)
			st = rt_fail(err, RT_CORRUPT, "row %llu has no move %u",
				     (unsigned long long)seq, index);
		/* the step, and the switches that it was undone with */
		for (; st == RT_OK; index--) {
			pass_redo(row, seq, index, disc, &d);
			pass_redo(row, seq, index, 0, &project);
			if (index == 0 || !row->moves[index - 1].with_next)
				break;
		}
	}
	if (count > p->undone)
		p->undone = count;
	return st;
}

/* May one more step be taken back? The setting counts as it is when undo is asked for. Jumps
 * are not asked; the log keeps everything. */
static rt_status
look_at_capacity(plan *p, uint32_t disc, rt_error *err)
{
	rt_status st = RT_OK;

	if (!p->has_capacity)
		return RT_OK;
	if (p->undone_disc != disc)
		st = count_undone(p, disc, p->capacity, err);
	if (st == RT_OK && p->undone >= p->capacity)
		st = rt_fail(err, RT_REFUSED,
			     "the setting undo_capacity lets undo reach %llu step%s back, and so "
			     "many are undone; history keeps everything, and jump still reaches it",
			     (unsigned long long)p->capacity, p->capacity == 1 ? "" : "s");
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
	if (st == RT_OK && !rt_history_parent(&step, disc, out))
		st = rt_fail(err, RT_CORRUPT, "step %llu did not touch document %u",
			     (unsigned long long)step_seq, disc);
	rt_arena_free(arena);
	return st;
}

/* The way of one document through its tree of steps: up to the common ancestor, down. */
typedef struct way {
	uint32_t disc;
	uint64_t at; /* its current step */
	uint64_t to; /* how far the way down is known, seen from its end */
	uint64_t *down;
	size_t down_count, down_room;
} way;

/* As much of the way down as lies below the current step. Where `at` is not `to` then,
 * `at` is to be taken back. */
static rt_status
way_look(plan *p, way *w, rt_error *err)
{
	rt_status st = RT_OK;

	while (st == RT_OK && w->to > w->at) {
		if (w->down_count == w->down_room) {
			size_t room = w->down_room == 0 ? 64 : w->down_room * 2;
			uint64_t *more = rt_resize(p->engine->alloc, w->down, room * sizeof(*more));

			if (more == NULL)
				return rt_fail(err, RT_NOMEM, "out of memory");
			w->down = more;
			w->down_room = room;
		}
		w->down[w->down_count++] = w->to;
		st = parent_of(p, w->to, w->disc, &w->to, err);
	}
	return st;
}

/* One step, taken back (or brought back) together on all ways that are there. */
static rt_status
ways_move(plan *p, way *ways, size_t count, uint64_t seq, bool back, uint32_t *discs, rt_error *err)
{
	rt_arena *arena = rt_arena_new(p->engine->alloc);
	rt_redo_hint hint = {0, NULL};
	size_t i, disc_count = 0;
	rt_record step;
	rt_history h;
	rt_status st = RT_OK;

	if (arena == NULL)
		return rt_fail(err, RT_NOMEM, "out of memory");
	st = rt_engine_record(p->engine, seq, arena, &step, NULL, err);
	for (i = 0; st == RT_OK && i < count; i++) {
		way *w = &ways[i];

		if (back ? w->at == w->to || w->at != seq
			 : w->down_count == 0 || w->down[w->down_count - 1] != seq)
			continue;
		discs[disc_count++] = w->disc;
		if (!back)
			w->down_count--;
		else if (!rt_history_parent(&step, w->disc, &w->at))
			st = rt_fail(err, RT_CORRUPT, "step %llu did not touch document %u",
				     (unsigned long long)seq, w->disc);
	}
	/* Forwards, every move looks at the row that redo points at, which is the same for many. */
	if (st == RT_OK && !back && disc_count > 0) {
		st = rt_history_get(p->now, discs[0], &h, err);
		if (st == RT_OK && h.redo_row != 0 && h.redo_row != p->seq) {
			st = rt_moves_read(p->engine, &p->redo, h.redo_row, err);
			hint = (rt_redo_hint){h.redo_row, &p->redo.row};
		}
	}
	if (st == RT_OK)
		st = plan_add(p, seq, back ? -1 : 1, false, discs, disc_count, &step,
			      hint.seq != 0 ? &hint : NULL, err);
	rt_arena_free(arena);
	return st;
}

/* Walk documents from their current steps to another. The newest is taken back first,
 * whichever document it is in, so that redo leads back step by step. */
static rt_status
jump_ways(plan *p, way *ways, size_t count, rt_error *err)
{
	uint32_t *discs = rt_arena_get(p->arena, count * sizeof(*discs) + 1);
	size_t i;
	rt_status st = RT_OK;

	if (discs == NULL)
		return rt_fail(err, RT_NOMEM, "out of memory");
	for (i = 0; st == RT_OK && i < count; i++) {
		rt_history h;

		st = rt_history_get(p->now, ways[i].disc, &h, err);
		if (st == RT_OK)
			ways[i].at = h.current;
	}
	for (;;) {
		uint64_t newest = 0;

		for (i = 0; st == RT_OK && i < count; i++) {
			st = way_look(p, &ways[i], err);
			if (ways[i].at != ways[i].to && ways[i].at > newest)
				newest = ways[i].at;
		}
		if (st != RT_OK || newest == 0)
			break;
		st = ways_move(p, ways, count, newest, true, discs, err);
	}
	for (;;) {
		uint64_t oldest = UINT64_MAX;

		for (i = 0; i < count; i++)
			if (ways[i].down_count > 0 && ways[i].down[ways[i].down_count - 1] < oldest)
				oldest = ways[i].down[ways[i].down_count - 1];
		if (st != RT_OK || oldest == UINT64_MAX)
			break;
		st = ways_move(p, ways, count, oldest, false, discs, err);
	}
	for (i = 0; i < count; i++)
		rt_free(p->engine->alloc, ways[i].down);
	return st;
}

static rt_status
set_note(plan *p, const rt_buf *note, rt_result *result, rt_error *err)
{
	if (note->status == RT_OK)
		result->note = (rt_text *)(uintptr_t)rt_text_new(p->engine->alloc,
								 rt_buf_str(note));
	return result->note != NULL ? RT_OK : rt_fail(err, RT_NOMEM, "out of memory");
}

static bool
capacity_of(const rt_project *project, uint64_t *out)
{
	return rt_setting_count(rt_fields_get(project->fields, RT_STR("setting.undo_capacity")),
				out);
}

/* Undo or redo did fewer steps than it was asked for. */
static rt_status
note_fewer(plan *p, const char *op, uint64_t done, uint64_t count, bool by_capacity,
	   rt_result *result, rt_error *err)
{
	uint64_t capacity = 0;
	rt_buf note;
	rt_status st;

	rt_buf_init(&note, p->engine->alloc, RT_BUF_UNLIMITED);
	rt_buf_add_f(&note, "%llu of %llu steps: ", (unsigned long long)done,
		     (unsigned long long)count);
	if (by_capacity && capacity_of(p->now, &capacity) && capacity == p->capacity)
		rt_buf_add_c(&note, "the setting undo_capacity lets undo go no further.");
	else if (by_capacity) /* one of the steps had set it: the next undo may go further */
		rt_buf_add_f(&note, "undo_capacity was %llu when undo began.",
			     (unsigned long long)p->capacity);
	else
		rt_buf_add_f(&note, "there is nothing more to %s.", op);
	st = set_note(p, &note, result, err);
	rt_buf_deinit(&note);
	return st;
}

/* Name the discussions that a jump changed, but for the one in view and the active one. */
static rt_status
note_others(plan *p, const way *ways, size_t count, uint32_t disc, const rt_project *before,
	    rt_result *result, rt_error *err)
{
	const rt_cell *other = NULL;
	size_t others = 0, i;
	rt_buf note;
	rt_status st;

	for (i = 0; i < count; i++) {
		const rt_cell *cell = rt_project_cell(before, ways[i].disc);

		if (ways[i].disc != 0 && ways[i].disc != disc &&
		    ways[i].disc != p->now->active &&
		    (cell->present || rt_project_cell(p->now, ways[i].disc)->present)) {
			other = cell;
			others++;
		}
	}
	if (others == 0)
		return RT_OK;
	rt_buf_init(&note, p->engine->alloc, RT_BUF_UNLIMITED);
	if (others == 1) {
		rt_buf_add_c(&note, "Discussion \"");
		rt_buf_add_str(&note, rt_cell_name(other));
		rt_buf_add_c(&note, "\" changed, too.");
	} else {
		rt_buf_add_f(&note, "%zu other discussions changed, too.", others);
	}
	st = set_note(p, &note, result, err);
	rt_buf_deinit(&note);
	return st;
}

static bool
is_touched(const rt_record *row, uint32_t disc)
{
	uint64_t parent;
	size_t i, k;

	if (rt_history_parent(row, disc, &parent))
		return true;
	for (i = 0; i < row->move_count; i++)
		for (k = 0; k < row->moves[i].disc_count; k++)
			if (row->moves[i].discs[k] == disc)
				return true;
	return false;
}

/* The documents in scope, from `to` on at the step that was current right after it. Without
 * a scope: the project, the discussion in view, the one that was active, and those that row
 * `to` touched. Where the next row is a jump, also those that it touched: so the row before
 * a jump leads back from it exactly. Cost: the rows since then, as for --at-op, and the steps
 * on the way. */
static rt_status
jump_targets(plan *p, uint64_t to, unsigned scope, uint32_t disc, way *ways, size_t *count,
	     rt_error *err)
{
	uint32_t number, end = (uint32_t)rt_project_disc_count(p->now) + 1;
	const rt_project *then = NULL;
	rt_record row = {0}, next = {0};
	rt_status st = RT_OK;

	if (to > 0)
		st = rt_engine_value_back(p->engine, p->now, to, &then, err);
	if (st == RT_OK && scope == 3)
		st = rt_engine_record(p->engine, to, p->arena, &row, NULL, err);
	if (st == RT_OK && scope == 3 && to + 1 < p->seq)
		st = rt_engine_record(p->engine, to + 1, p->arena, &next, NULL, err);
	if (!rt_str_is(next.op, "jump"))
		next = (rt_record){0};
	for (number = 0; st == RT_OK && number < end; number++) {
		rt_history was = {0}, now;

		if (scope == 3 ? number != 0 && number != disc && number != then->active &&
					 !is_touched(&row, number) && !is_touched(&next, number)
			       : number != (scope == 1 ? disc : 0))
			continue;
		if (then != NULL)
			st = rt_history_get(then, number, &was, err);
		if (st == RT_OK)
			st = rt_history_get(p->now, number, &now, err);
		if (st == RT_OK && now.current != was.current)
			ways[(*count)++] = (way){.disc = number, .to = was.current};
	}
	rt_object_unref(then);
	return st;
}

static rt_status
plan_jump(plan *p, const rt_request *r, uint32_t disc, rt_result *result, rt_error *err)
{
	const rt_project *before;
	size_t count = 0;
	unsigned scope;
	way *ways;
	uint64_t to = r->step.value;
	rt_status st = scope_of(r, &scope, err);

	if (st != RT_OK)
		return st;
	if (to >= p->seq)
		return rt_fail(err, RT_NOT_FOUND, "no step %llu; see: retake history",
			       (unsigned long long)to);
	if (to == 0 && scope == 3)
		scope = 1; /* the discussion before its first step (C18) */
	ways = rt_arena_get(p->arena, (rt_project_disc_count(p->now) + 1) * sizeof(*ways));
	if (ways == NULL)
		return rt_fail(err, RT_NOMEM, "out of memory");
	before = rt_object_ref(p->now);
	st = jump_targets(p, to, scope, disc, ways, &count, err);
	if (st == RT_OK)
		st = jump_ways(p, ways, count, err);
	if (st == RT_OK)
		st = note_others(p, ways, count, disc, before, result, err);
	rt_object_unref(before);
	return st;
}

rt_status
rt_history_plan(rt_engine *engine, const rt_project *project, const rt_request *r,
		const rt_change *c, rt_arena *arena, rt_record *out, const rt_project **out_moved,
		uint64_t *out_steps, rt_error *err)
{
	const rt_op *op = &rt_ops[r->op];
	plan p;
	uint64_t count = 1, done_count = 0, i;
	unsigned scope = 3;
	bool done = true, by_capacity = false;
	rt_status st = RT_OK;

	memset(&p, 0, sizeof(p));
	p.engine = engine;
	p.arena = arena;
	p.now = rt_object_ref(project);
	p.seq = project->seq + 1;
	p.has_capacity = capacity_of(project, &p.capacity);
	p.row.kind = RT_RECORD_MOVE;
	p.row.disc = c->place.disc;
	p.row.op = rt_str_of(op->name);
	p.row.by = c->by;
	if (op->id == RT_OP_JUMP) {
		st = plan_jump(&p, r, c->place.disc, c->result, err);
	} else {
		st = count_of(r, &count, err);
		if (st == RT_OK)
			st = scope_of(r, &scope, err);
		for (i = 0; st == RT_OK && done && done_count < count; i++) {
			/* what is in view may be another discussion after every step */
			uint32_t disc = c->named_disc ? c->place.disc : p.now->active;
			if (op->id == RT_OP_UNDO) {
				st = look_at_capacity(&p, disc, err);
				if (st == RT_REFUSED && done_count > 0) {
					st = RT_OK;
					by_capacity = true;
					break;
				}
				if (st == RT_OK)
					st = undo_once(&p, disc, scope, c->pinned, &done, err);
				p.undone += done;
			} else {
				st = redo_once(&p, disc, scope, &done, err);
			}
			done_count += done;
		}
		if (st == RT_OK && p.count == 0)
			st = rt_fail(err, RT_REFUSED, "nothing to %s", op->name);
		else if (st == RT_OK && done_count < count)
			st = note_fewer(&p, op->name, done_count, count, by_capacity, c->result,
					err);
	}
	rt_arena_free(p.redo.arena);
	*out = p.row;
	*out_steps = done_count;
	if (st == RT_OK)
		*out_moved = p.now;
	else
		rt_object_unref(p.now);
	return st;
}

rt_status
rt_history_plan_group(rt_engine *engine, const rt_project *project, uint64_t group,
		      uint32_t group_discs, rt_str by, rt_arena *arena, rt_record *out,
		      const rt_project **out_moved, rt_error *err)
{
	plan p;
	rt_status st;

	memset(&p, 0, sizeof(p));
	p.engine = engine;
	p.arena = arena;
	p.now = rt_object_ref(project);
	p.seq = project->seq + 1;
	p.row.kind = RT_RECORD_MOVE;
	p.row.disc = project->active;
	p.row.op = RT_STR("undo");
	p.row.by = by.size > 0 ? by : rt_text_str(engine->by);
	st = undo_group(&p, group, group_discs, 0, true, err); /* others may go on with theirs */
	*out = p.row;
	if (st == RT_OK)
		*out_moved = p.now;
	else
		rt_object_unref(p.now);
	return st;
}
