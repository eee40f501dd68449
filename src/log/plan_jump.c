/* SPDX-License-Identifier: MIT
 *
 * Planning a jump: the paths of documents from their current steps to those that were current after
 * a row, along any branch. */
#include "log/plan_impl.h"
#include "log/rows.h"

/* The path of one document through its tree of steps: up to the common ancestor, then down. */
typedef struct path {
	uint32_t disc;
	uint64_t at;    /* its current step */
	uint64_t to;    /* how much of the way down is known, seen from its end */
	uint64_t *down; /* in the scope */
	size_t down_count, down_capacity;
} path;

/* The part of the way down below the current step. If `at` is not `to` afterwards, `at` must be
 * undone. */
static void
extend_path(rt_planning *p, path *w, rt_scope *scratch)
{
	rt_record step;

	while (rt_ok(p->s) && w->to > w->at) {
		uint64_t *down = rt_scope_grow(p->s, w->down, w->down_count, &w->down_capacity,
					       sizeof(*down));
		if (down == NULL || !rt_planning_step(p, scratch, w->to, &step))
			return;
		w->down = down;
		w->down[w->down_count++] = w->to;
		if (!rt_history_parent(&step, w->disc, &w->to))
			rt_scope_note(p->s,
				      rt_history_not_touched(w->to, w->disc, &p->s->error));
	}
}

static uint64_t
next_down(const path *w)
{
	return w->down_count > 0 ? w->down[w->down_count - 1] : UINT64_MAX;
}

/* One step, undone (or redone) together on all paths that contain it. */
static void
move_on_paths(rt_planning *p, path *paths, size_t count, uint64_t seq, bool back, rt_scope *scratch)
{
	size_t disc_count = 0;
	uint32_t *discs;
	rt_record step;

	if (!rt_planning_step(p, scratch, seq, &step))
		return;
	discs = rt_scope_array(scratch, count, sizeof(*discs));
	rt_scope_note(p->s, scratch->status);
	for (size_t i = 0; rt_ok(p->s) && i < count; i++) {
		path *w = &paths[i];

		if (back ? w->at == w->to || w->at != seq : next_down(w) != seq)
			continue;
		discs[disc_count++] = w->disc;
		if (!back)
			w->down_count--;
		else if (!rt_history_parent(&step, w->disc, &w->at))
			rt_scope_note(p->s,
				      rt_history_not_touched(seq, w->disc, &p->s->error));
	}
	if (rt_ok(p->s))
		(void)rt_planning_move(p, seq, back ? -1 : 1, false, discs, disc_count, &step);
}

/* Walk documents from their current steps to another. The newest is undone first, whichever
 * document it is in, so that redo goes back step by step. */
static void
walk_paths(rt_planning *p, path *paths, size_t count)
{
	rt_scope scratch;

	rt_scope_init(&scratch, p->engine->alloc);
	for (size_t i = 0; i < count; i++)
		paths[i].at = rt_planning_history(p, paths[i].disc).current;
	for (uint64_t newest = 1; rt_ok(p->s) && newest > 0;) {
		newest = 0;
		for (size_t i = 0; i < count; i++) {
			extend_path(p, &paths[i], &scratch);
			if (paths[i].at != paths[i].to && paths[i].at > newest)
				newest = paths[i].at;
		}
		if (rt_ok(p->s) && newest > 0)
			move_on_paths(p, paths, count, newest, true, &scratch);
	}
	for (uint64_t oldest = 0; rt_ok(p->s) && oldest < UINT64_MAX;) {
		oldest = UINT64_MAX;
		for (size_t i = 0; i < count; i++)
			if (next_down(&paths[i]) < oldest)
				oldest = next_down(&paths[i]);
		if (oldest < UINT64_MAX)
			move_on_paths(p, paths, count, oldest, false, &scratch);
	}
	rt_scope_deinit(&scratch);
}

/* Does the jump restore this discussion to the catalogue? */
static bool
is_restored(const rt_project *now, const rt_project *then, uint32_t disc)
{
	const rt_cell *cell = rt_project_cell(then, disc);

	return cell != NULL && cell->present && !rt_project_cell(now, disc)->present;
}

static bool
is_touched(const rt_record *row, uint32_t disc)
{
	uint64_t parent;

	if (rt_history_parent(row, disc, &parent))
		return true;
	for (size_t i = 0; i < row->move_count; i++)
		for (size_t k = 0; k < row->moves[i].disc_count; k++)
			if (row->moves[i].discs[k] == disc)
				return true;
	return false;
}

/* The documents in scope, from `to` on at the step that was current right after it. Without
 * a scope: the project, the discussion in view, the one that was active, those that row `to`
 * touched, and those that the jump restores to the catalogue. Where the next row is a jump, also
 * those that it touched: so the row before a jump leads back from it exactly. Cost: the rows since
 * then, as for --at-step, and the steps on the way. */
static size_t
find_paths(rt_planning *p, uint64_t to, unsigned scope, uint32_t disc, path *paths)
{
	uint32_t end = (uint32_t)rt_project_disc_count(p->now) + 1;
	const rt_project *then = NULL;
	rt_record row = {0}, next = {0};
	size_t count = 0;
	rt_scope *s = p->s;
	rt_arena *arena = rt_scope_arena(s);

	if (to > 0)
		RT_TRY(s, rt_engine_value_back(p->engine, p->now, to, &then, &s->error));
	if (scope == RT_IN_BOTH)
		RT_TRY(s, rt_engine_record(p->engine, to, arena, &row, NULL, &s->error));
	if (scope == RT_IN_BOTH && to + 1 < p->seq)
		RT_TRY(s, rt_engine_record(p->engine, to + 1, arena, &next, NULL, &s->error));
	if (!rt_str_is(next.op, "jump"))
		next = (rt_record){0};
	for (uint32_t number = 0; rt_ok(s) && number < end; number++) {
		rt_history was = {0};

		if (scope == RT_IN_BOTH
			    ? number != 0 && number != disc && number != then->active &&
				      !is_touched(&row, number) && !is_touched(&next, number) &&
				      !is_restored(p->now, then, number)
			    : number != (scope == RT_IN_DISC ? disc : 0))
			continue;
		if (then != NULL)
			RT_TRY(s, rt_history_get(then, number, &was, &s->error));
		if (rt_planning_history(p, number).current != was.current && rt_ok(s))
			paths[count++] = (path){.disc = number, .to = was.current};
	}
	rt_object_unref(then);
	return count;
}

/* Name the discussions that a jump changed, except for the one in view and the active one. */
static void
note_others(rt_planning *p, const path *paths, size_t count, uint32_t disc, const rt_project *before,
	    rt_result *result)
{
	const rt_cell *other = NULL;
	size_t others = 0;

	for (size_t i = 0; i < count; i++) {
		const rt_cell *cell = rt_project_cell(before, paths[i].disc);

		if (paths[i].disc != 0 && paths[i].disc != disc &&
		    paths[i].disc != p->now->active &&
		    (cell->present || rt_project_cell(p->now, paths[i].disc)->present)) {
			other = cell;
			others++;
		}
	}
	if (others == 0)
		return;
	rt_buf *note = rt_scope_buf(p->s);
	if (others == 1)
		rt_buf_add_f(note, "Discussion \"%.*s\" also changed.",
			     RT_STR_ARG(rt_cell_name(other)));
	else
		rt_buf_add_f(note, "%zu other discussions also changed.", others);
	rt_result_set_note(result, p->s, note);
}

void
rt_planning_jump(rt_planning *p, const rt_request *r, uint32_t disc, rt_result *result)
{
	const rt_project *before;
	uint64_t to = r->step.value;
	unsigned scope = rt_planning_scope(p, r);
	path *paths;

	if (!rt_ok(p->s))
		return;
	if (to >= p->seq) {
		rt_scope_fail_advise(p->s, RT_NOT_FOUND, "see: retake history", "no step %llu",
				     (unsigned long long)to);
		return;
	}
	if (to == 0 && scope == RT_IN_BOTH)
		scope = RT_IN_DISC; /* the discussion before its first step (C18) */
	paths = rt_scope_array(p->s, rt_project_disc_count(p->now) + 1, sizeof(*paths));
	if (paths == NULL)
		return;
	before = rt_object_ref(p->now);
	size_t count = find_paths(p, to, scope, disc, paths);
	walk_paths(p, paths, count);
	if (rt_ok(p->s))
		note_others(p, paths, count, disc, before, result);
	rt_object_unref(before);
}
