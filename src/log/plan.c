/* SPDX-License-Identifier: MIT
 *
 * Planning undo, redo and jump: a row of moves that grows, and the value after the moves so far.
 * After the first failure (plan.s) nothing is added any more. */
#include "log/plan_impl.h"

#include "core/setting.h"
#include "log/history.h"
#include "log/rows.h"

/* The plan of a row, without moves. Ended by plan_end. */
static rt_planning
plan_begin(rt_engine *engine, rt_scope *s, const rt_project *project, rt_str op, rt_str by,
	   uint32_t disc)
{
	return (rt_planning){.engine = engine,
		      .s = s,
		      .now = rt_object_ref(project),
		      .seq = project->seq + 1,
		      .row = {.kind = RT_RECORD_MOVE, .op = op, .by = by, .disc = disc}};
}

static rt_plan
plan_end(rt_planning *p, uint64_t steps)
{
	rt_arena_free(p->redo.arena);
	rt_arena_free(p->moved.arena);
	if (rt_ok(p->s))
		return (rt_plan){.row = p->row, .moved = p->now, .steps = steps,
				 .drafts = p->drafts, .draft_count = p->draft_count,
				 .sets_draft = p->sets_draft,
				 .work = p->work};
	rt_object_unref(p->now);
	return (rt_plan){0};
}

rt_history
rt_planning_history(rt_planning *p, uint32_t disc)
{
	rt_history h = {0};

	RT_TRY(p->s, rt_history_get(p->now, disc, &h, &p->s->error));
	return h;
}

bool
rt_planning_step(rt_planning *p, rt_scope *scratch, uint64_t seq, rt_record *out)
{
	rt_arena *arena;

	rt_scope_reset(scratch);
	arena = rt_scope_arena(scratch);
	rt_scope_note(p->s, scratch->status);
	RT_TRY(p->s, rt_engine_record(p->engine, seq, arena, out, NULL, &p->s->error));
	return rt_ok(p->s);
}

/* ---- a move ---- */

/* The redo pointer of a document before this row. */
static void
keep_redo(rt_planning *p, uint32_t disc)
{
	rt_record *row = &p->row;

	for (size_t i = 0; i < row->redo_count; i++)
		if (row->redos[i].disc == disc)
			return;
	rt_history h = rt_planning_history(p, disc);
	rt_record_redo *redos = rt_scope_grow(p->s, row->redos, row->redo_count, &p->redo_capacity,
					      sizeof(*redos));
	if (redos == NULL)
		return;
	row->redos = redos;
	row->redos[row->redo_count++] = (rt_record_redo){disc, h.redo_row, h.redo_move};
}

bool
rt_planning_move(rt_planning *p, uint64_t step_seq, int direction, bool with_next,
		 const uint32_t *discs, size_t disc_count, const rt_record *step)
{
	const rt_project *next;
	rt_record *row = &p->row;
	uint32_t *copy = rt_scope_array(p->s, disc_count, sizeof(*copy));
	rt_record_move *moves;

	for (size_t i = 0; rt_ok(p->s) && i < disc_count; i++)
		keep_redo(p, discs[i]);
	moves = rt_scope_grow(p->s, row->moves, row->move_count, &p->move_capacity, sizeof(*moves));
	if (moves == NULL)
		return false;
	row->moves = moves;
	p->work += RT_MOVE_WORK + rt_record_work(step);
	memcpy(copy, discs, disc_count * sizeof(*copy));
	row->moves[row->move_count++] = (rt_record_move){.step = step_seq,
							 .direction = direction,
							 .with_next = with_next,
							 .discs = copy,
							 .disc_count = disc_count};
	if (RT_TRY(p->s,
		   rt_history_move(p->engine, p->now, p->seq, row, (uint32_t)(row->move_count - 1),
				   step, &p->moved, &next, &p->s->error)) == RT_OK)
		rt_project_replace(&p->now, next);
	return rt_ok(p->s);
}

/* ---- the request ---- */

unsigned
rt_planning_scope(rt_planning *p, const rt_request *r)
{
	if (r->scope.ptr == NULL)
		return RT_IN_BOTH;
	if (rt_str_is(r->scope, "discussion"))
		return RT_IN_DISC;
	if (rt_str_is(r->scope, "project"))
		return RT_IN_PROJECT;
	rt_scope_fail(p->s, RT_USAGE,
		      "\"scope\" must be \"discussion\" or \"project\" (default: both)");
	return 0;
}

static uint64_t
count_of(rt_planning *p, const rt_request *r)
{
	uint64_t count = r->count.given ? r->count.value : 1;

	if (count < 1)
		rt_scope_fail(p->s, RT_USAGE, "\"count\" must be a whole number, 1 or more");
	return count;
}

/* ---- steps that undo passes over ---- */

/* Does undo pass over it: a step that only changes the place, or only sets a draft? */
static bool
is_passed(const rt_planning *p, const rt_record *step)
{
	return (p->pinned && rt_op_may(step->op, RT_OP_SWITCHES)) ||
	       (p->keep_draft && rt_history_is_draft(step));
}

/* The newest step of a document, in effect, that undo does not pass over; 0: none above `enough`.
 * Continues where the last search of the same plan ended. */
static uint64_t
newest_not_passed(rt_planning *p, uint32_t disc, uint64_t current, uint64_t enough)
{
	rt_newest_search *search = &p->passed[disc != 0];
	rt_scope scratch;
	rt_record step;

	if (search->from != current)
		*search = (rt_newest_search){current, current, false};
	rt_scope_init(&scratch, p->engine->alloc);
	while (!search->found && search->at > enough &&
	       rt_planning_step(p, &scratch, search->at, &step)) {
		search->found = !is_passed(p, &step);
		if (!search->found && !rt_history_parent(&step, disc, &search->at))
			rt_scope_note(p->s,
				      rt_history_not_touched(search->at, disc, &p->s->error));
	}
	rt_scope_deinit(&scratch);
	return search->found ? search->at : 0;
}

/* A move of a step that sets only drafts: they are restored after the plan. */
static void
keep_draft(rt_planning *p, uint32_t disc)
{
	uint32_t *drafts;

	for (size_t i = 0; i < p->draft_count; i++)
		if (p->drafts[i] == disc)
			return;
	drafts = rt_scope_grow(p->s, p->drafts, p->draft_count, &p->draft_capacity, sizeof(*drafts));
	if (drafts == NULL)
		return;
	p->drafts = drafts;
	p->drafts[p->draft_count++] = disc;
}

/* Undo the steps above down_to in a document, if undo passes over all of them, or (for_redo) redo
 * replaces them. The next move belongs to them. Returns the step that is current then. */
static uint64_t
undo_above(rt_planning *p, uint32_t disc, uint64_t down_to, bool for_redo)
{
	uint64_t current = rt_planning_history(p, disc).current, at = current;
	rt_scope scratch;
	rt_record step;

	rt_scope_init(&scratch, p->engine->alloc);
	while (at > down_to && rt_planning_step(p, &scratch, at, &step) &&
	       (for_redo ? step.keeps_redo : is_passed(p, &step)) &&
	       rt_history_parent(&step, disc, &at))
		;
	while (at == down_to && current > down_to &&
	       rt_planning_step(p, &scratch, current, &step) &&
	       rt_planning_move(p, current, -1, for_redo, &disc, 1, &step)) {
		p->row.moves[p->row.move_count - 1].with_next = true;
		if (p->keep_draft && rt_history_is_draft(&step))
			keep_draft(p, disc);
		(void)rt_history_parent(&step, disc, &current);
	}
	rt_scope_deinit(&scratch);
	return current;
}

/* ---- undo of imports ---- */

/* The documents of a group's row in which it is undone. Discussions that the group made are not
 * changed: they are not in the catalogue afterwards. So undo of a large import need not visit each.
 * If the project has newer steps (only a discussion's are undone), the row is undone in that
 * discussion only. */
static bool
in_group_undo(uint32_t group_discs, uint32_t number, bool project_too, uint32_t disc)
{
	return project_too ? number <= group_discs : number == disc;
}

/* An import that is undone as a whole, together with imports that ran in the same project at the
 * same time: their rows alternate, and undo proceeds from the newest row down. */
typedef struct group_undo {
	uint64_t first; /* down to this row */
	uint32_t disc;  /* the document whose steps are followed: the project, or a discussion
			 * where the project has newer steps */
	bool alone;     /* the one import, without others */
	struct {
		uint64_t group;
		uint32_t discs; /* discussions that existed before it */
	} groups[16];
	size_t group_count;
} group_undo;

/* Is the row part of it? A group's first row does not contain this itself. */
static bool
in_groups(group_undo *g, uint64_t seq, const rt_record *step, uint32_t *out_discs)
{
	uint64_t group = step->group != 0 ? step->group : seq;
	size_t i = 0;

	while (i < g->group_count && g->groups[i].group != group)
		i++;
	if (i == g->group_count) {
		if (g->alone || step->group == 0 || i == sizeof(g->groups) / sizeof(g->groups[0]))
			return false;
		g->groups[i].group = group;
		g->groups[i].discs = step->group_discs;
		g->group_count++;
		if (group < g->first)
			g->first = group;
	}
	*out_discs = g->groups[i].discs;
	return true;
}

/* Undo one row where it is current. false: it is not, or a failure. */
static bool
undo_group_row(rt_planning *p, group_undo *g, uint64_t seq, rt_scope *scratch)
{
	rt_record step;
	uint32_t group_discs, *discs;
	size_t disc_count = 0;

	if (!rt_planning_step(p, scratch, seq, &step) || !in_groups(g, seq, &step, &group_discs))
		return false;
	discs = rt_scope_array(scratch, step.parent_count, sizeof(*discs));
	rt_scope_note(p->s, scratch->status);
	for (size_t i = 0; rt_ok(p->s) && i < step.parent_count; i++) {
		uint32_t disc = step.parents[i].disc;

		if (in_group_undo(group_discs, disc, g->disc == 0, g->disc) &&
		    rt_planning_history(p, disc).current == seq)
			discs[disc_count++] = disc;
	}
	if (disc_count == 0 || !rt_planning_move(p, seq, -1, false, discs, disc_count, &step))
		return false;
	if (p->row.move_count > 1)
		p->row.moves[p->row.move_count - 2].with_next = true;
	return true;
}

/* Undo the other rows of a group of which one was just undone, in document disc and those with the
 * same rows, as long as they are current there. Redo treats them as one. */
static void
undo_group(rt_planning *p, uint64_t group, uint32_t group_discs, uint32_t disc, bool alone)
{
	group_undo g = {.first = group,
			.disc = disc,
			.alone = alone,
			.groups = {{group, group_discs}},
			.group_count = 1};
	uint64_t current;
	rt_scope scratch;

	rt_scope_init(&scratch, p->engine->alloc);
	do
		current = rt_planning_history(p, disc).current;
	while (rt_ok(p->s) && current >= g.first && undo_group_row(p, &g, current, &scratch));
	/* The first row need not have touched the project. */
	if (rt_ok(p->s) && disc == 0 && current < g.first)
		(void)undo_group_row(p, &g, group, &scratch);
	rt_scope_deinit(&scratch);
}

/* ---- undo ---- */

static bool
is_changed_since(rt_planning *p, uint32_t disc, uint64_t seq)
{
	return rt_planning_history(p, disc).current > seq;
}

/* Would undoing the project's newest step remove a discussion, other than the one in view, that has
 * been changed since the step created it (C1)? */
static bool
removes_changed(rt_planning *p, uint64_t seq, uint32_t disc)
{
	bool found = false;
	rt_scope scratch;
	rt_record step;

	if (!rt_ok(p->s) || p->now->seq == seq)
		return false; /* no newer row */
	rt_scope_init(&scratch, p->engine->alloc);
	if (rt_planning_step(p, &scratch, seq, &step) && step.group != 0)
		for (uint32_t i = step.group_discs + 1; rt_ok(p->s) && !found && i <= p->now->disc_count; i++) {
			const rt_cell *cell = rt_project_cell(p->now, i);

			found = i != disc && cell != NULL && cell->present && is_changed_since(p, i, seq);
		}
	for (size_t i = 0; rt_ok(p->s) && !found && i < step.effect_count; i++) {
		const rt_effect *e = &step.effects[i];

		found = e->kind == RT_EFFECT_NEW && e->disc == 0 && e->sub != disc &&
			is_changed_since(p, e->sub, seq);
	}
	rt_scope_deinit(&scratch);
	return found;
}

/* Undo step seq, which is the newest of the discussion or the project apart from those that are
 * passed over; only_disc: not in the project. */
static void
undo_step(rt_planning *p, uint64_t seq, uint32_t disc, bool only_disc, rt_scope *scratch)
{
	uint32_t *discs;
	size_t disc_count = 0;
	uint64_t parent;
	bool project_too, passes = p->pinned || p->keep_draft;
	rt_record step;

	if (!rt_planning_step(p, scratch, seq, &step))
		return;
	discs = rt_scope_array(scratch, step.parent_count, sizeof(*discs));
	rt_scope_note(p->s, scratch->status);
	if (passes && step.group != 0 && rt_history_parent(&step, 0, &parent))
		(void)undo_above(p, 0, seq, false); /* is the project past it? */
	project_too = p->now->history.current == seq && !only_disc;
	for (size_t i = 0; rt_ok(p->s) && i < step.parent_count; i++) {
		uint32_t number = step.parents[i].disc;

		if (number == 0 && only_disc)
			continue;
		if (step.group != 0 && !in_group_undo(step.group_discs, number, project_too, disc))
			continue;
		if (passes)
			(void)undo_above(p, number, seq, false);
		p->sets_draft = p->sets_draft || rt_history_sets_draft(&step, number);
		if (rt_planning_history(p, number).current == seq)
			discs[disc_count++] = number;
	}
	if (rt_ok(p->s) && rt_planning_move(p, seq, -1, false, discs, disc_count, &step) &&
	    step.group != 0)
		undo_group(p, step.group, step.group_discs, project_too ? 0 : disc, false);
}

/* Undo once. false: nothing is left, or a failure. */
static bool
undo_once(rt_planning *p, uint32_t disc, unsigned scope)
{
	uint64_t in_disc = (scope & RT_IN_DISC) != 0 ? rt_planning_history(p, disc).current : 0;
	uint64_t in_project = (scope & RT_IN_PROJECT) != 0 ? p->now->history.current : 0;
	uint64_t seq;
	bool only_disc;
	rt_scope scratch;

	if (rt_ok(p->s) && (p->pinned || p->keep_draft)) {
		in_disc = newest_not_passed(p, disc, in_disc, 0);
		in_project = newest_not_passed(p, 0, in_project, in_disc > 0 ? in_disc - 1 : 0);
	}
	only_disc = scope == RT_IN_BOTH && in_project >= in_disc && in_project > 0 &&
		    removes_changed(p, in_project, disc);
	if (only_disc) {
		p->kept = in_project;
		in_project = 0;
	}
	seq = in_disc > in_project ? in_disc : in_project;
	if (!rt_ok(p->s) || seq == 0)
		return false;
	rt_scope_init(&scratch, p->engine->alloc);
	undo_step(p, seq, disc, only_disc, &scratch);
	rt_scope_deinit(&scratch);
	return rt_ok(p->s);
}

/* ---- redo ---- */

/* Redo one move of a row (which may be the one that is being planned), together in the documents
 * where it was undone together, but not where another step followed. false: in none of them, or a
 * failure. */
static bool
redo_move(rt_planning *p, uint64_t seq, const rt_record *from, uint32_t index)
{
	const rt_record_move m = from->moves[index];
	uint32_t *discs;
	size_t disc_count = 0;
	bool done = false;
	rt_scope scratch;
	rt_record step;

	rt_scope_init(&scratch, p->engine->alloc);
	(void)rt_planning_step(p, &scratch, m.step, &step);
	discs = rt_scope_array(&scratch, m.disc_count, sizeof(*discs));
	rt_scope_note(p->s, scratch.status);
	for (size_t i = 0; rt_ok(p->s) && i < m.disc_count; i++) {
		rt_history h = rt_planning_history(p, m.discs[i]);
		uint64_t parent;

		if (h.redo_row == seq && h.redo_move == index &&
		    rt_history_parent(&step, m.discs[i], &parent) &&
		    undo_above(p, m.discs[i], parent, true) == parent)
			discs[disc_count++] = m.discs[i];
	}
	for (size_t i = 0; i < disc_count && !rt_history_is_draft(&step); i++)
		p->sets_draft = p->sets_draft || rt_history_sets_draft(&step, discs[i]);
	if (disc_count > 0)
		done = rt_planning_move(p, m.step, 1, false, discs, disc_count, &step);
	rt_scope_deinit(&scratch);
	return done;
}

/* Which of two redo pointers was set later: the discussion's? */
static bool
is_disc_later(const rt_history *disc, const rt_history *project)
{
	return disc->redo_row > project->redo_row ||
	       (disc->redo_row == project->redo_row && disc->redo_move >= project->redo_move);
}

/* The row of moves that a redo pointer names; NULL: a failure. */
static const rt_record *
redo_row(rt_planning *p, uint64_t seq, uint32_t index)
{
	const rt_record *row = seq == p->seq ? &p->row : &p->redo.row;

	if (seq != p->seq)
		RT_TRY(p->s, rt_moves_read(p->engine, &p->redo, seq, &p->s->error));
	if (rt_ok(p->s) && index >= row->move_count)
		rt_scope_fail(p->s, RT_CORRUPT, "row %llu has no move %u",
			      (unsigned long long)seq, index);
	return rt_ok(p->s) ? row : NULL;
}

/* false: nothing is left, or a failure. */
static bool
redo_once(rt_planning *p, uint32_t disc, unsigned scope)
{
	rt_history d = rt_planning_history(p, disc), project = p->now->history, h;
	const rt_record *from;

	if ((scope & RT_IN_DISC) == 0)
		d.redo_row = 0;
	if ((scope & RT_IN_PROJECT) == 0)
		project.redo_row = 0;
	h = is_disc_later(&d, &project) ? d : project;
	if (!rt_ok(p->s) || h.redo_row == 0)
		return false;
	from = redo_row(p, h.redo_row, h.redo_move);
	if (from == NULL || !redo_move(p, h.redo_row, from, h.redo_move))
		return false;
	/* the switches and drafts that were undone together with this step */
	for (uint32_t i = h.redo_move; rt_ok(p->s) && i > 0 && from->moves[i - 1].with_next;
	     i--)
		(void)redo_move(p, h.redo_row, from, i - 1);
	return rt_ok(p->s);
}

/* ---- the capacity of undo ---- */

/* Move the redo pointer of a document past a move, if it is at that move. */
static void
pass_redo(const rt_record *row, uint64_t seq, uint32_t index, uint32_t disc, rt_history *h)
{
	const rt_record_move *m = &row->moves[index];

	for (size_t i = 0; i < m->disc_count; i++)
		if (m->discs[i] == disc && h->redo_row == seq && h->redo_move == index) {
			rt_history_redo_before(row, seq, index, disc, h);
			return;
		}
}

/* How many steps could be redone in a discussion and the project, one after another, up to the
 * capacity. Where an undo continued into this discussion, no fewer than were counted before. O(that
 * many moves). */
static void
count_undone(rt_planning *p, uint32_t disc)
{
	rt_history d = rt_planning_history(p, disc), project = p->now->history;
	uint64_t count = 0;

	p->undone_disc = disc;
	for (; rt_ok(p->s) && count < p->capacity; count++) {
		rt_history h = is_disc_later(&d, &project) ? d : project;
		const rt_record *row;

		if (h.redo_row == 0 || (row = redo_row(p, h.redo_row, h.redo_move)) == NULL)
			break;
		/* the step, and the switches and drafts that were undone with it */
		for (uint32_t i = h.redo_move;; i--) {
			pass_redo(row, h.redo_row, i, disc, &d);
			pass_redo(row, h.redo_row, i, 0, &project);
			if (i == 0 || !row->moves[i - 1].with_next)
				break;
		}
	}
	if (count > p->undone)
		p->undone = count;
}

static bool
capacity_of(const rt_project *project, uint64_t *out)
{
	return rt_setting_count(rt_fields_get(project->fields, RT_STR("setting.undo_capacity")),
				out);
}

/* May one more step be undone? The value of the setting at the time of the undo counts. Jumps are
 * not limited; the log keeps everything. */
static bool
is_at_capacity(rt_planning *p, uint32_t disc)
{
	if (p->has_capacity && p->undone_disc != disc)
		count_undone(p, disc);
	return p->has_capacity && p->undone >= p->capacity;
}

/* ---- notes ---- */

/* Undo or redo did fewer steps than requested. */
static void
note_fewer(rt_planning *p, const char *op, uint64_t done, uint64_t count, bool by_capacity,
	   rt_result *result)
{
	uint64_t capacity = 0;
	rt_buf *note = rt_scope_buf(p->s);

	rt_buf_add_f(note, "%llu of %llu steps: ", (unsigned long long)done,
		     (unsigned long long)count);
	if (by_capacity && capacity_of(p->now, &capacity) && capacity == p->capacity)
		rt_buf_add_c(note, "the setting undo_capacity limits undo.");
	else if (by_capacity) /* one of the steps had set the limit: the next undo may get
			       * further */
		rt_buf_add_f(note, "undo_capacity was %llu when this undo started.",
			     (unsigned long long)p->capacity);
	else
		rt_buf_add_f(note, "there are no more steps to %s.", op);
	rt_result_set_note(result, p->s, note);
}

/* ---- a whole plan ---- */

/* Returns how many steps were undone or redone. */
static uint64_t
plan_count(rt_planning *p, const rt_request *r, const rt_change *c)
{
	const char *op = rt_ops[r->op].name;
	uint64_t count = count_of(p, r), done = 0;
	unsigned scope = rt_planning_scope(p, r);
	bool by_capacity = false;

	while (rt_ok(p->s) && done < count) {
		/* every step may change the discussion in view */
		uint32_t disc = c->named_disc ? c->place.disc : p->now->active;

		by_capacity = r->op == RT_OP_UNDO && is_at_capacity(p, disc);
		if (by_capacity || !(r->op == RT_OP_UNDO ? undo_once(p, disc, scope)
							 : redo_once(p, disc, scope)))
			break;
		p->undone++;
		done++;
	}
	if (by_capacity && done == 0)
		rt_scope_fail(
			p->s, RT_REFUSED,
			"the setting undo_capacity limits undo to %llu step%s, all of which have been undone; to reach earlier states, "
			"use history and jump",
			(unsigned long long)p->capacity, p->capacity == 1 ? "" : "s");
	if (rt_ok(p->s) && p->row.move_count == 0 && p->kept > 0)
		rt_scope_fail(p->s, RT_REFUSED,
			      "nothing to undo in this discussion; step %llu created a discussion that has been changed "
			      "since, and is only undone with the scope project",
			      (unsigned long long)p->kept);
	else if (rt_ok(p->s) && p->row.move_count == 0)
		rt_scope_fail(p->s, RT_REFUSED, "nothing to %s", op);
	else if (rt_ok(p->s) && done < count)
		note_fewer(p, op, done, count, by_capacity, c->result);
	return done;
}

rt_plan
rt_history_plan(rt_change *c, const rt_request *r)
{
	rt_planning p = plan_begin(c->engine, c->scope, c->base, rt_str_of(rt_ops[r->op].name),
				   c->by, c->place.disc);
	uint64_t steps = 0;

	p.has_capacity = capacity_of(c->base, &p.capacity);
	p.pinned = c->pinned;
	p.keep_draft = r->keep_draft == RT_YES;
	if (r->op == RT_OP_JUMP)
		rt_planning_jump(&p, r, c->place.disc, c->result);
	else
		steps = plan_count(&p, r, c);
	return plan_end(&p, steps);
}

rt_plan
rt_history_plan_group(rt_engine *engine, rt_scope *s, const rt_project *project, uint64_t group,
		      uint32_t group_discs, rt_str by)
{
	rt_planning p = plan_begin(engine, s, project, RT_STR("undo"),
				   by.size > 0 ? by : rt_text_str(engine->by), project->active);

	undo_group(&p, group, group_discs, 0, true); /* other imports may still be running */
	return plan_end(&p, 0);
}
