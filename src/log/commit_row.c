/* SPDX-License-Identifier: MIT
 *
 * A change as a row of the log: its documents with their current steps, its group, and whether it
 * keeps redo. */
#include "log/engine_impl.h"
#include "log/heads.h"
#include "log/history.h"
#include "log/rows.h"

/* The documents that effects touch, with their current steps. */
static void
add_parents(rt_change *c, rt_record *record)
{
	rt_record_parent *parents = rt_scope_array(c->scope, c->effect_count + 1, sizeof(*parents));
	size_t found = 0;

	if (parents != NULL && c->group != 0 && c->group_in_project)
		parents[found++] = (rt_record_parent){0, c->base->history.current};
	for (size_t i = 0; i < c->effect_count && rt_change_ok(c); i++) {
		uint32_t disc = c->effects[i].disc;
		uint64_t step = c->base->history.current;
		const rt_disc *d;
		size_t known = found;

		while (known > 0 && parents[known - 1].disc != disc)
			known--;
		if (known > 0)
			continue;
		if (disc != 0 && rt_project_cell(c->base, disc) == NULL)
			step = 0; /* created in this step */
		else if (disc != 0 && RT_TRY(c->scope, rt_project_disc(c->base, disc, &d,
								       &c->scope->error)) == RT_OK)
			step = d->history.current;
		parents[found++] = (rt_record_parent){disc, step};
	}
	record->parents = parents;
	record->parent_count = found;
}

const rt_project *
rt_engine_write_row(rt_scope *s, rt_engine *engine, const rt_project *project,
		    const rt_project *applied, const rt_record *record, const rt_change *of)
{
	const rt_store_ops *ops = engine->store->ops;
	size_t body_count = of != NULL ? of->body_count : 0;
	rt_store_row *rows = rt_scope_array(s, body_count, sizeof(*rows));
	const rt_project *next = NULL;
	uint64_t seq = project->seq + 1;
	rt_store_row row = {0};
	rt_buf *text = rt_scope_buf(s);

	for (size_t i = 0; i < body_count && rows != NULL; i++)
		rows[i] = (rt_store_row){.number = of->bodies[i].number,
					 .entry = of->bodies[i].entry,
					 .data = of->bodies[i].data};
	rt_record_write(text, record);
	row.data = rt_scope_str(s, text);
	row.at_us = engine->env->now_us(engine->env->ctx);
	engine->env->random(engine->env->ctx, row.step, sizeof(row.step));
	if (applied != NULL)
		RT_TRY(s, rt_engine_close_step(applied, seq, record, &next, &s->error));
	else
		RT_TRY(s, rt_engine_apply_row(engine, project, seq, record, &next, &s->error));
	if (!rt_ok(s))
		return NULL;
	RT_TRY(s, ops->append(engine->store, engine->project, project->seq, &row, 1, rows,
			      body_count, NULL, &s->error));
	if (body_count == 0)
		RT_TRY(s, rt_engine_mark_head(engine, seq, &s->error));
	if (!rt_ok(s)) {
		rt_object_unref(next);
		return NULL;
	}
	engine->unsaved += rt_record_work(record);
	return next;
}

/* The discussion in which undo reverts the step; 0: in any, because it touches the project. */
static uint32_t
undo_disc_of(const rt_record *step, uint32_t in_view)
{
	uint32_t found = 0;

	for (size_t i = 0; i < step->parent_count; i++) {
		if (step->parents[i].disc == 0)
			return 0;
		if (found == 0 || step->parents[i].disc == in_view)
			found = step->parents[i].disc;
	}
	return found;
}

/* Is there a step to redo, in this discussion or the project? */
static bool
has_redo(const rt_project *project, uint32_t disc)
{
	const rt_disc *d;

	return project->history.redo_row != 0 ||
	       (disc != 0 && rt_project_cell(project, disc) != NULL &&
		rt_project_disc(project, disc, &d, NULL) == RT_OK && d->history.redo_row != 0);
}

/* Programs write drafts when a user leaves: if steps have been undone, a step that sets nothing
 * else does not end redo (C30). */
static bool
keeps_redo(const rt_project *project, const rt_record *step)
{
	return rt_history_is_draft(step) &&
	       (has_redo(project, step->disc) || has_redo(project, step->effects[0].disc));
}

static bool
find_move(void *ctx, const rt_store_row *row)
{
	rt_scope *s = ctx;
	rt_record record;

	rt_arena *arena = rt_scope_arena(s);
	RT_TRY(s, rt_record_read(s->alloc, arena, row->data, &record, &s->error));
	if (rt_ok(s) && record.kind == RT_RECORD_MOVE)
		rt_scope_note(s, RT_CONFLICT);
	return rt_ok(s);
}

/* Has anything been undone or redone since that step? With too many rows since, the answer is
 * yes. */
static bool
has_moved_since(rt_change *c, uint64_t step)
{
	enum { ROWS_MAX = 1024 };
	rt_scope s;

	if (c->base->seq - step > ROWS_MAX)
		return true;
	rt_scope_init(&s, c->scope->alloc);
	if (c->base->seq > step)
		RT_TRY(&s, rt_engine_read(c->engine, RT_STORE_LOG, step + 1, c->base->seq,
					  find_move, &s, &s.error));
	return rt_scope_end(&s, NULL) != RT_OK;
}

/* The group of a draft that continues the previous one (C61): the number of its first row; 0: it
 * begins a group. In between there is no step, undo or redo in the discussion or the project. */
static uint64_t
draft_group(rt_change *c, const rt_record *record)
{
	const rt_history *project = &c->base->history;
	uint64_t before = record->parent_count == 1 ? record->parents[0].step : 0;
	rt_history h = {0};
	rt_record step = {0};
	int64_t now_us, at_us = 0;

	if (c->coalesce_ms == 0 || before == 0 || !rt_history_is_draft(record))
		return 0;
	RT_TRY(c->scope, rt_history_get(c->base, record->parents[0].disc, &h, &c->scope->error));
	if (!rt_change_ok(c) || before < project->current)
		return 0;
	RT_TRY(c->scope, rt_engine_record(c->engine, before, rt_scope_arena(c->scope), &step, &at_us,
					  &c->scope->error));
	now_us = c->engine->env->now_us(c->engine->env->ctx);
	if (!rt_change_ok(c) || !rt_history_is_draft(&step) || !rt_str_eq(step.by, c->by) || now_us < at_us ||
	    now_us - at_us > (int64_t)c->coalesce_ms * 1000 || has_moved_since(c, before))
		return 0;
	return step.group != 0 ? step.group : before;
}

const rt_project *
rt_change_write(rt_change *c, rt_str op, uint32_t disc)
{
	bool is_step = c->effect_count > 0;
	rt_record record = {.kind = is_step ? RT_RECORD_STEP : RT_RECORD_VIEW,
			    .op = op,
			    .by = c->by,
			    .disc = disc,
			    .group = is_step ? c->group : 0,
			    .group_discs = c->group_discs,
			    .effects = c->effects,
			    .effect_count = c->effect_count,
			    .views = c->views,
			    .view_count = c->view_count,
			    .extra = c->extra};
	const rt_project *next;

	if (is_step)
		add_parents(c, &record);
	if (!rt_change_ok(c))
		return NULL;
	record.keeps_redo = is_step && keeps_redo(c->base, &record);
	if (is_step && record.group == 0)
		record.group = draft_group(c, &record);
	next = rt_engine_write_row(c->scope, c->engine, c->base, is_step ? c->now : NULL, &record,
				   c);
	if (next != NULL && c->result != NULL)
		c->result->undo_disc = undo_disc_of(&record, disc);
	return next;
}
