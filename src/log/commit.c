/* SPDX-License-Identifier: MIT
 *
 * Requests in, one transaction, results out.
 *
 * A caller queues its requests; the first to come leads: it takes what is queued, opens
 * the store's transaction, takes in what other processes wrote, compiles and appends each
 * request on top of the one before, commits, publishes, and wakes the others. Whoever
 * comes meanwhile waits for the next round. So many writers share one sync, and nothing is
 * seen, and no result given, before it is durable.
 *
 * A request that fails changes nothing and the rest goes on; a commit that fails fails
 * every request in it. */
#include "log/engine_impl.h"

static rt_status
nomem(rt_error *err)
{
	return rt_fail(err, RT_NOMEM, "out of memory");
}

static void
result_fail(rt_result *result, rt_status status, const rt_error *err)
{
	rt_text_unref(result->editor);
	rt_text_unref(result->note);
	memset(result, 0, sizeof(*result));
	result->status = status;
	result->error = *err;
	result->error.status = status;
}

void
rt_result_deinit(rt_result *result)
{
	rt_text_unref(result->editor);
	rt_text_unref(result->note);
	result->editor = NULL;
	result->note = NULL;
}

enum { MANY_MOVES = 512 };

/* ---- writing rows ---- */

/* The documents that effects touch, with their current steps. A row of a group touches the
 * project in any case: the group is found along the project's steps. */
static rt_status
parents_of(const rt_project *project, rt_arena *arena, const rt_effect *effects, size_t count,
	   bool of_group, rt_record_parent **out, size_t *out_count, rt_error *err)
{
	rt_record_parent *parents = rt_arena_get(arena, (count + 1) * sizeof(*parents));
	size_t found = 0, i, j;

	if (parents == NULL)
		return nomem(err);
	if (of_group)
		parents[found++] = (rt_record_parent){0, project->history.current};
	for (i = 0; i < count; i++) {
		uint32_t disc = effects[i].disc;

		for (j = found; j > 0 && parents[j - 1].disc != disc; j--)
			;
		if (j > 0)
			continue;
		parents[found].disc = disc;
		parents[found].step = project->history.current;
		if (disc != 0) {
			const rt_disc *d;

			if (rt_project_cell(project, disc) == NULL) {
				parents[found++].step = 0; /* made in this very step */
				continue;
			}
			if (rt_project_disc(project, disc, &d, err) != RT_OK)
				return err != NULL ? err->status : RT_CORRUPT;
			parents[found].step = d->history.current;
		}
		found++;
	}
	*out = parents;
	*out_count = found;
	return RT_OK;
}

/* Append one row and give the value after it. applied: the value with the record's effects
 * in it already, or NULL. */
static rt_status
write_row(rt_engine *engine, const rt_project *project, const rt_project *applied,
	  const rt_record *record, const rt_new_body *bodies, size_t body_count, rt_arena *arena, const rt_project **out,
	  rt_error *err)
{
	rt_store_row *rows = rt_arena_get(arena, (body_count + 1) * sizeof(*rows));
	rt_store_row row;
	rt_buf text;
	size_t i;
	rt_status st;

	if (rows == NULL)
		return nomem(err);
	for (i = 0; i < body_count; i++)
		rows[i] = (rt_store_row){.number = bodies[i].number,
					 .entry = bodies[i].entry,
					 .data = bodies[i].data};
	rt_buf_init(&text, engine->alloc, RT_BUF_UNLIMITED);
	rt_record_write(&text, record);
	memset(&row, 0, sizeof(row));
	row.data = rt_buf_str(&text);
	row.at_us = engine->env->now_us(engine->env->ctx);
	engine->env->random(engine->env->ctx, row.step, sizeof(row.step));
	if (text.status != RT_OK)
		st = nomem(err);
	else if (applied != NULL &&
		 (record->kind == RT_RECORD_STEP || record->kind == RT_RECORD_MOVE))
		st = rt_engine_close_step(applied, project->seq + 1, record, out, err);
	else
		st = rt_engine_apply_row(engine, project, project->seq + 1, record, out, err);
	if (st == RT_OK) {
		st = engine->store->ops->append(engine->store, engine->project, project->seq, &row,
						1, rows, body_count, NULL, err);
		if (st == RT_OK && body_count == 0)
			st = rt_engine_mark_head(engine, project->seq + 1, err);
		if (st != RT_OK) {
			rt_object_unref(*out);
			*out = NULL;
		}
	}
	rt_buf_deinit(&text);
	return st;
}

/* Undo looks at the project wherever it is asked for, and else at one discussion. */
static uint32_t
undo_disc_of(const rt_record *step, uint32_t in_view)
{
	uint32_t found = 0;
	size_t i;

	for (i = 0; i < step->parent_count; i++) {
		if (step->parents[i].disc == 0)
			return 0;
		if (found == 0 || step->parents[i].disc == in_view)
			found = step->parents[i].disc;
	}
	return found;
}

/* Is something undone that redo would bring back, in this discussion or the project? */
static bool
has_redo(const rt_project *project, uint32_t disc)
{
	const rt_disc *d;

	return project->history.redo_row != 0 ||
	       (disc != 0 && rt_project_cell(project, disc) != NULL &&
		rt_project_disc(project, disc, &d, NULL) == RT_OK && d->history.redo_row != 0);
}

/* Drafts are written by programs when somebody leaves, not by people who go on: where
 * something is undone, a step that sets nothing else does not end redo (C30). */
static bool
keeps_redo(const rt_project *project, const rt_record *step)
{
	size_t i;

	for (i = 0; i < step->effect_count; i++)
		if (step->effects[i].kind != RT_EFFECT_SET || step->effects[i].disc == 0 ||
		    !rt_str_is(step->effects[i].key, "setting.draft"))
			return false;
	return has_redo(project, step->disc) || has_redo(project, step->effects[0].disc);
}

/* The finished change as a row. */
rt_status
rt_engine_write_change(rt_engine *engine, rt_change *c, rt_str op, uint32_t disc, rt_arena *arena,
	     const rt_project **out, rt_error *err)
{
	rt_record record;
	rt_status st = RT_OK;

	memset(&record, 0, sizeof(record));
	record.op = op;
	record.by = c->by;
	record.disc = disc;
	record.group = c->effect_count > 0 ? c->group : 0;
	record.group_discs = c->group_discs;
	record.effects = c->effects;
	record.effect_count = c->effect_count;
	record.views = c->views;
	record.view_count = c->view_count;
	record.extra = c->extra;
	record.kind = c->effect_count > 0 ? RT_RECORD_STEP : RT_RECORD_VIEW;
	if (record.kind == RT_RECORD_STEP)
		st = parents_of(c->base, arena, c->effects, c->effect_count, c->group != 0,
				&record.parents, &record.parent_count, err);
	record.keeps_redo = record.kind == RT_RECORD_STEP && keeps_redo(c->base, &record);
	if (st == RT_OK)
		st = write_row(engine, c->base, c->now, &record, c->bodies, c->body_count, arena, out, err);
	if (st == RT_OK && c->result != NULL)
		c->result->undo_disc = undo_disc_of(&record, disc);
	return st;
}

/* ---- one request, one step ---- */

/* A move that was planned before the store was locked: to take back an import may mean to read
 * much. It holds as long as the value is the one that it was planned on. */
typedef struct planned {
	rt_arena *arena;
	const rt_project *on, *moved; /* ours; NULL: nothing is planned */
	rt_record record;
	uint64_t steps;
	rt_result result; /* what it says */
} planned;

static void
planned_deinit(planned *p)
{
	rt_object_unref(p->on);
	rt_object_unref(p->moved);
	rt_result_deinit(&p->result);
	rt_arena_free(p->arena);
	memset(p, 0, sizeof(*p));
}

static bool
is_move(const rt_request *r)
{
	return r->invalid == NULL && (rt_ops[r->op].flags & RT_OP_MOVES_HISTORY) != 0;
}

/* Of a round with a single request. What fails here fails under the lock, too, or does not. */
static void
plan_ahead(rt_engine *engine, const rt_ticket *t, planned *p)
{
	const rt_request *r = &t->requests[0];
	rt_change c;

	memset(p, 0, sizeof(*p));
	if (t->next != NULL || t->count != 1 || t->how->atomic || !is_move(r))
		return;
	p->arena = rt_arena_new(engine->alloc);
	if (p->arena == NULL)
		return;
	p->on = rt_engine_value(engine);
	rt_change_init(&c, engine, p->arena, p->on);
	c.by = t->how->by.size > 0 ? t->how->by : c.by;
	c.result = &p->result;
	if (rt_compile_place(&c, r, t->how->disc, t->how->take, NULL) != RT_OK ||
	    rt_history_plan(engine, p->on, r, &c, p->arena, &p->record, &p->moved, &p->steps,
			    NULL) != RT_OK)
		p->moved = NULL;
	rt_change_deinit(&c);
	if (p->moved == NULL)
		planned_deinit(p);
}

static rt_status
run_move(rt_engine *engine, const rt_request *r, const rt_change *c, const planned  *ahead,
	 rt_arena *arena, const rt_project **out, rt_result *result, rt_error *err)
{
	const rt_project *moved = NULL;
	uint64_t steps = 0;
	rt_record record;
	rt_status st = RT_OK;

	if (ahead != NULL && ahead->moved != NULL && ahead->on == c->base) {
		record = ahead->record;
		moved = rt_object_ref(ahead->moved);
		steps = ahead->steps;
		rt_text_unref(result->note);
		result->note = (rt_text *)(uintptr_t)rt_text_ref(ahead->result.note);
	} else {
		st = rt_history_plan(engine, c->base, r, c, arena, &record, &moved, &steps, err);
	}
	if (st != RT_OK)
		return st;
	if (record.move_count == 0) {
		result->unchanged = true;
		rt_object_unref(moved);
		*out = rt_object_ref(c->base);
		return RT_OK;
	}
	if (r->op != RT_OP_JUMP)
		result->steps = steps;
	st = write_row(engine, c->base, moved, &record, NULL, 0, arena, out, err);
	rt_object_unref(moved);
	return st;
}

rt_status
rt_engine_undo_group(rt_engine *engine, uint64_t group, uint32_t group_discs, rt_str by,
		     rt_error *err)
{
	const rt_store_ops *ops = engine->store->ops;
	const rt_project *project = NULL, *moved = NULL, *next = NULL;
	rt_arena *arena = rt_arena_new(engine->alloc);
	rt_record record;
	rt_status st;

	if (arena == NULL)
		return nomem(err);
	rt_engine_lock_writer(engine);
	st = ops->begin(engine->store, err);
	if (st == RT_OK) {
		st = rt_engine_newest(engine, &project, err);
		if (st == RT_OK)
			st = rt_history_plan_group(engine, project, group, group_discs, by, arena,
						   &record, &moved, err);
		if (st == RT_OK && record.move_count > 0)
			st = write_row(engine, project, moved, &record, NULL, 0, arena, &next, err);
		if (st == RT_OK && next != NULL)
			st = ops->commit(engine->store, err);
		else
			ops->cancel(engine->store);
		if (st == RT_OK && next != NULL)
			rt_engine_publish(engine, next);
		else
			rt_object_unref(next);
		rt_object_unref(moved);
		rt_object_unref(project);
	}
	rt_engine_unlock_writer(engine);
	rt_arena_free(arena);
	return st;
}

/* ---- wiping what was purged ---- */

#define SCRUB_MARK "scrub" /* a side row */

bool
rt_engine_scrub_pending(rt_engine *engine)
{
	rt_buf mark;
	rt_status st;

	rt_buf_init(&mark, engine->alloc, RT_BUF_UNLIMITED);
	st = rt_store_get(engine->store,
			  rt_rows_named(RT_STORE_SIDE, engine->project, RT_STR(SCRUB_MARK)), &mark,
			  NULL, NULL);
	rt_buf_deinit(&mark);
	return st == RT_OK;
}

static rt_status
scrub(rt_engine *engine, rt_error *err)
{
	const rt_store_ops *ops = engine->store->ops;
	rt_status st = ops->scrub(engine->store, err);

	if (st != RT_OK || ops->begin(engine->store, NULL) != RT_OK)
		return st; /* a mark too many is wiped after once more */
	if (ops->write(engine->store,
		       rt_rows_named(RT_STORE_SIDE, engine->project, RT_STR(SCRUB_MARK)),
		       rt_str_at(NULL, 0), NULL) != RT_OK ||
	    ops->commit(engine->store, NULL) != RT_OK)
		ops->cancel(engine->store);
	return RT_OK;
}

/* What was purged is gone from the state, but its bytes may still be in the files. That is
 * the purge's failure and nobody else's: everything is committed. */
static void
fail_purges(rt_ticket *first, rt_status st, const rt_error *why)
{
	rt_error err;
	rt_ticket *t;
	size_t i;

	rt_fail(&err, st, "purged, but its bytes could not be wiped from the store yet (%.300s); "
		"purge it again", why->text);
	for (t = first; t != NULL; t = t->next)
		for (i = 0; i < t->count; i++)
			if (t->results[i].status == RT_OK && t->requests[i].op == RT_OP_PURGE)
				result_fail(&t->results[i], st, &err);
}

/* The reply in flight that a request ends; empty: none. It is ended once, also when its
 * keeper and somebody who found it left behind (inflight.c) both try. */
static rt_status
flight_of(rt_engine *engine, const rt_request *r, rt_str *out, rt_error *err)
{
	rt_buf row;
	rt_status st;

	*out = rt_str_at("", 0);
	if (r->flight.ptr == NULL)
		return RT_OK;
	*out = r->flight;
	if (!rt_str_starts(*out, RT_STR(RT_INFLIGHT_PREFIX)))
		return rt_fail(err, RT_USAGE, "\"flight\" is the name of a reply in flight");
	rt_buf_init(&row, engine->alloc, RT_BUF_UNLIMITED);
	st = rt_store_get(engine->store, rt_rows_named(RT_STORE_SIDE, engine->project, *out), &row,
			  NULL, err);
	rt_buf_deinit(&row);
	return st == RT_NOT_FOUND
		       ? rt_fail(err, RT_NOT_FOUND, "this reply was kept, or given up, already")
		       : st;
}

/* *out_torn: it failed, but something of it is in the transaction, which cannot be. */
static rt_status
run_one(rt_engine *engine, const rt_project **project, const rt_request *r,
	const rt_apply_options *how, const planned *ahead, rt_arena *arena, rt_result *result,
	bool *out_torn)
{
	const rt_project *next = NULL;
	rt_change c;
	rt_error err;
	rt_status st;

	memset(&err, 0, sizeof(err));
	rt_change_init(&c, engine, arena, *project);
	c.by = how->by.size > 0 ? how->by : c.by;
	c.result = result;
	st = rt_compile_place(&c, r, how->disc, how->take, &err);
	if (st == RT_OK && is_move(r)) {
		st = run_move(engine, r, &c, ahead, arena, &next, result, &err);
	} else if (st == RT_OK && r->op == RT_OP_PURGE) {
		bool before = engine->scrub_after;

		engine->scrub_after = true; /* from its first body on */
		st = rt_engine_purge(engine, *project, r, c.place, result, &err);
		if (st != RT_NOMEM && (st != RT_OK || result->unchanged))
			engine->scrub_after = before;
		/* The mark stands until everything is wiped, also after a crash. */
		if (st == RT_OK && !result->unchanged)
			st = engine->store->ops->write(
				engine->store,
				rt_rows_named(RT_STORE_SIDE, engine->project, RT_STR(SCRUB_MARK)),
				RT_STR("1"), &err);
		else if (st == RT_OK && rt_engine_scrub_pending(engine))
			engine->scrub_after = true;
		if (st == RT_OK && !result->unchanged) {
			rt_record record;

			memset(&record, 0, sizeof(record));
			record.kind = RT_RECORD_NOTE;
			record.op = rt_str_of(rt_ops[r->op].name);
			record.by = c.by;
			record.disc = c.place.disc;
			st = write_row(engine, *project, NULL, &record, NULL, 0, arena, &next,
				       &err);
			/* Whoever has seen what was there is told to forget it. */
			if (st == RT_OK)
				st = engine->store->ops->epoch_renew(engine->store, &err);
			if (st == RT_OK)
				st = engine->store->ops->epoch(engine->store, &engine->epoch, &err);
			/* names and fields in the log may have changed: the value anew */
			if (st == RT_OK && r->text.ptr != NULL) {
				rt_object_unref(next);
				next = NULL;
				st = rt_engine_load(engine, false, &next, &err);
				if (st == RT_OK)
					st = engine->store->ops->epoch(engine->store, &engine->epoch,
								       &err);
			}
		} else if (st == RT_OK) {
			next = rt_object_ref(*project);
		}
	} else if (st == RT_OK) {
		uint32_t disc = c.place.disc;
		rt_str flight = {NULL, 0};

		st = flight_of(engine, r, &flight, &err);
		if (st == RT_OK)
			st = rt_compile(&c, r, &err);
		if (st == RT_OK && c.effect_count == 0 && c.view_count == 0)
			next = rt_object_ref(*project);
		else if (st == RT_OK)
			st = rt_engine_write_change(engine, &c, rt_str_of(rt_ops[r->op].name), disc,
						    arena, &next, &err);
		if (st == RT_OK && flight.size > 0) {
			st = engine->store->ops->write(
				engine->store,
				rt_rows_named(RT_STORE_SIDE, engine->project, flight),
				rt_str_at(NULL, 0), &err);
			*out_torn = st != RT_OK; /* its row of the log is written */
		}
	}
	rt_change_deinit(&c);
	if (st != RT_OK) {
		rt_object_unref(next); /* a purge's, loaded anew */
		result_fail(result, st, &err);
		return st;
	}
	result->seq = next->seq;
	result->unchanged = next->seq == (*project)->seq;
	rt_object_unref(*project);
	*project = next;
	return RT_OK;
}

/* Did what failed leave a row of the log in the transaction? Then nothing of it may be kept. */
static bool
is_torn(rt_engine *engine, const rt_project *project)
{
	uint64_t head;

	return engine->store->ops->head(engine->store, RT_STORE_LOG, engine->project, &head,
					NULL) != RT_OK ||
	       head != project->seq;
}

/* All requests of a ticket as one step, or none. */
static rt_status
run_atomic(rt_engine *engine, const rt_project **project, rt_ticket *t, rt_arena *arena)
{
	const rt_project *next = NULL;
	rt_change c;
	rt_error err;
	uint32_t disc = 0;
	rt_str op_name = {NULL, 0};
	bool cancelled = false; /* what one did, another took back */
	size_t i;
	rt_status st = RT_OK;

	memset(&err, 0, sizeof(err));
	rt_change_init(&c, engine, arena, *project);
	c.by = t->how->by.size > 0 ? t->how->by : c.by;
	for (i = 0; st == RT_OK && i < t->count; i++) {
		size_t before = c.effect_count + c.view_count;
		const rt_request *r = &t->requests[i];
		rt_str name = r->invalid == NULL ? rt_str_of(rt_ops[r->op].name) : RT_STR("");

		c.result = &t->results[i];
		if (r->invalid == NULL && (rt_ops[r->op].flags & RT_OP_ALONE) != 0)
			st = rt_fail(&err, RT_REFUSED, "%s cannot be part of an atomic step",
				     rt_ops[r->op].name);
		if (st == RT_OK && r->flight.ptr != NULL)
			st = rt_fail(&err, RT_REFUSED,
				     "the end of a reply in flight cannot be part of an atomic step");
		if (st == RT_OK)
			st = rt_compile_place(&c, r, t->how->disc, t->how->take, &err);
		if (st == RT_OK && disc == 0)
			disc = c.place.disc;
		if (st == RT_OK)
			st = rt_compile(&c, r, &err);
		if (st == RT_OK)
			op_name = op_name.ptr == NULL || rt_str_eq(op_name, name) ? name
										   : RT_STR("batch");
		if (st == RT_OK)
			t->results[i].unchanged = c.effect_count + c.view_count == before;
	}
	if (st == RT_OK && c.effect_count + c.view_count > 0)
		st = rt_change_is_nothing(&c, &cancelled, &err);
	if (st == RT_OK && (cancelled || c.effect_count + c.view_count == 0))
		next = rt_object_ref(*project);
	else if (st == RT_OK)
		st = rt_engine_write_change(engine, &c, op_name, disc, arena, &next, &err);
	rt_change_deinit(&c);
	if (st != RT_OK) {
		size_t failed = i > 0 ? i - 1 : 0;

		for (i = 0; i < t->count; i++) {
			rt_error other;

			if (i == failed) {
				result_fail(&t->results[i], st, &err);
				continue;
			}
			rt_fail(&other, st, "not done, since line %zu failed: %.300s", failed + 1,
				err.text);
			result_fail(&t->results[i], st, &other);
		}
		return st;
	}
	for (i = 0; i < t->count; i++) {
		if (cancelled) {
			rt_result_deinit(&t->results[i]); /* what it made is not there */
			t->results[i] = (rt_result){.unchanged = true};
		}
		t->results[i].seq = next->seq;
		t->results[i].undo_disc = t->results[t->count - 1].undo_disc;
	}
	rt_object_unref(*project);
	*project = next;
	return RT_OK;
}

/* ---- a round ---- */

static void
fail_all(rt_ticket *first, rt_status st, const rt_error *err)
{
	rt_ticket *t;
	size_t i;

	for (t = first; t != NULL; t = t->next)
		for (i = 0; i < t->count; i++)
			if (t->results[i].status == RT_OK)
				result_fail(&t->results[i], st, err);
}

/* Texts that were purged here lie elsewhere perhaps. */
static void
tell_purged(rt_engine *engine, rt_ticket *first)
{
	rt_ticket *t;
	size_t i;

	for (t = first; engine->purged != NULL && t != NULL; t = t->next)
		for (i = 0; i < t->count; i++) {
			const rt_request *r = &t->requests[i];

			if (t->results[i].status == RT_OK && r->op == RT_OP_PURGE && r->text.size > 0)
				engine->purged(engine->purged_ctx, r->text);
		}
	for (i = 0; i < engine->gone_count; i++)
		engine->purged(engine->purged_ctx, rt_text_str(engine->gone[i]));
}

/* Under the store's lock: the newest value. */
rt_status
rt_engine_newest(rt_engine *engine, const rt_project **out, rt_error *err)
{
	const rt_store_ops *ops = engine->store->ops;
	const rt_project *project = rt_engine_value(engine);
	uint64_t head, epoch, bodies, seq = project->seq;
	rt_status st = ops->head(engine->store, RT_STORE_LOG, engine->project, &head, err);

	/* Another history may have a head of the same number. */
	if (st == RT_OK)
		st = ops->epoch(engine->store, &epoch, err);
	if (st == RT_OK)
		engine->epoch = epoch;
	if (st == RT_OK && epoch == engine->value_epoch && head < project->seq) {
		st = rt_engine_lost_end(engine, project, head, err);
	} else if (st == RT_OK && epoch != engine->value_epoch) {
		rt_object_unref(project);
		project = NULL;
		st = rt_engine_load(engine, true, &project, err);
	} else if (st == RT_OK && head != project->seq) {
		st = rt_engine_catch_up(engine, &project, head, err);
		if (st == RT_NOT_FOUND || st == RT_CORRUPT) {
			rt_object_unref(project);
			project = NULL;
			st = rt_engine_load(engine, true, &project, err);
		}
	}
	if (st == RT_OK && rt_engine_newer(engine, err))
		st = RT_TOO_NEW;
	/* Bodies as well, which costs nothing here: the store knows their head by now. */
	if (st == RT_OK)
		st = ops->head(engine->store, RT_STORE_BODIES, engine->project, &bodies, err);
	if (st == RT_OK && (head != seq || epoch != engine->value_epoch ||
			    bodies + 1 != project->next_body))
		st = rt_engine_check_heads(engine, project, err);
	if (st != RT_OK) {
		rt_object_unref(project);
		return st;
	}
	*out = project;
	return RT_OK;
}

/* Does what the ticket's requests go by still hold? If not, none of them is done. */
static rt_status
check_ticket(rt_ticket *t, const rt_project *project)
{
	rt_error err;
	size_t i;
	rt_status st;

	if (t->how->check == NULL)
		return RT_OK;
	memset(&err, 0, sizeof(err));
	st = t->how->check(t->how->check_ctx, project, &err);
	for (i = 0; st != RT_OK && i < t->count; i++)
		result_fail(&t->results[i], st, &err);
	return st;
}

/* What its owner keeps with what was written; nothing where nothing was. */
static rt_status
keep_ticket(rt_engine *engine, const rt_ticket *t, const rt_project *now, rt_error *err)
{
	size_t i = 0;

	while (i < t->count && (t->results[i].status != RT_OK || t->results[i].unchanged))
		i++;
	return t->how->keep == NULL || i == t->count
		       ? RT_OK
		       : t->how->keep(t->how->keep_ctx, engine->store, engine->project, now,
				      t->results, t->count, err);
}

static void
lead_round(rt_engine *engine, rt_ticket *first)
{
	const rt_store_ops *ops = engine->store->ops;
	const rt_project *project = NULL;
	rt_arena *arena;
	rt_error err;
	rt_ticket *t;
	size_t i;
	bool reloaded = false, again, torn = false;
	planned ahead;
	rt_status st, one;

	memset(&err, 0, sizeof(err));
	if (engine->scratch == NULL)
		engine->scratch = rt_arena_new(engine->alloc);
	arena = engine->scratch;
	if (arena == NULL) {
		st = nomem(&err);
		fail_all(first, st, &err);
		return;
	}
	plan_ahead(engine, first, &ahead);
retry:
	again = false;
	engine->scrub_after = false;
	st = engine->read_only ? rt_fail(&err, RT_READ_ONLY, "%s is open for reading only",
					 engine->store->place)
			       : ops->begin(engine->store, &err);
	if (st != RT_OK) {
		fail_all(first, st, &err);
		planned_deinit(&ahead);
		return;
	}
	st = rt_engine_newest(engine, &project, &err);
	for (t = first; st == RT_OK && t != NULL && !again; t = t->next) {
		one = check_ticket(t, project);
		if (one != RT_OK) {
			again = one == RT_CORRUPT && !reloaded;
			continue;
		}
		if (t->how->atomic) {
			rt_arena_reset(arena);
			one = run_atomic(engine, &project, t, arena);
			torn = one != RT_OK && is_torn(engine, project);
			again = one == RT_CORRUPT && !reloaded;
		}
		for (i = 0; !t->how->atomic && i < t->count && !again; i++) {
			rt_arena_reset(arena);
			one = run_one(engine, &project, &t->requests[i], t->how, &ahead, arena,
				      &t->results[i], &torn);
			torn = torn || (one != RT_OK && is_torn(engine, project));
			if (torn)
				break;
			again = one == RT_CORRUPT && !reloaded; /* once; then it is damage */
			/* A purge changes bodies before its row is there. */
			if (one == RT_NOMEM && engine->scrub_after) {
				st = nomem(&err);
				break;
			}
		}
		if (torn) {
			err = t->results[i < t->count ? i : 0].error;
			st = err.status;
		}
		if (st == RT_OK && !again)
			st = keep_ticket(engine, t, project, &err);
	}
	if (again && st == RT_OK) {
		/* A node that another process replaced since we saw it: from the log anew. */
		ops->cancel(engine->store);
		rt_object_unref(project);
		project = NULL;
		reloaded = true;
		rt_engine_forget_gone(engine, 0);
		for (t = first; t != NULL; t = t->next)
			for (i = 0; i < t->count; i++) {
				rt_result_deinit(&t->results[i]);
				memset(&t->results[i], 0, sizeof(t->results[i]));
			}
		if (rt_engine_load(engine, false, &project, &err) == RT_OK)
			rt_engine_publish(engine, project);
		project = NULL;
		goto retry;
	}
	if (st == RT_OK) {
		st = ops->commit(engine->store, &err);
	} else {
		ops->cancel(engine->store);
	}
	if (st != RT_OK) {
		fail_all(first, st, &err);
		rt_object_unref(project);
	} else {
		rt_engine_publish(engine, project);
		if (engine->scrub_after || engine->scrub_pending)
			st = scrub(engine, &err);
		engine->scrub_pending = false; /* one try in each process */
		if (st != RT_OK)
			fail_purges(first, st, &err);
		tell_purged(engine, first);
		/* many moves take long to follow again */
		rt_engine_maybe_checkpoint(engine, ahead.record.move_count > MANY_MOVES
							   ? 1
							   : engine->checkpoint_every);
	}
	engine->scrub_after = false;
	rt_engine_forget_gone(engine, 0);
	rt_arena_reset(arena);
	planned_deinit(&ahead);
}

/* Under the queue's lock: nobody leads now. */
void
rt_engine_yield_writer(rt_engine *engine)
{
	engine->leading = false;
	if (engine->queue_first != NULL)
		pthread_cond_signal(&engine->queue_first->moved);
	pthread_cond_broadcast(&engine->queue_moved);
}

rt_status
rt_engine_apply(rt_engine *engine, const rt_request *requests, size_t count, bool atomic,
		rt_str default_disc, rt_str default_take, rt_result *results)
{
	rt_apply_options how = {.atomic = atomic, .disc = default_disc, .take = default_take};

	return rt_engine_apply_if(engine, requests, count, &how, results);
}

rt_status
rt_engine_apply_if(rt_engine *engine, const rt_request *requests, size_t count,
		   const rt_apply_options *options, rt_result *results)
{
	rt_ticket mine;
	size_t i;

	memset(results, 0, count * sizeof(*results));
	if (count == 0)
		return RT_OK;
	memset(&mine, 0, sizeof(mine));
	mine.requests = requests;
	mine.count = count;
	mine.how = options;
	mine.results = results;
	(void)pthread_cond_init(&mine.moved, NULL); /* never fails: nothing is allocated */
	pthread_mutex_lock(&engine->queue_lock);
	if (engine->queue_last != NULL)
		engine->queue_last->next = &mine;
	else
		engine->queue_first = &mine;
	engine->queue_last = &mine;
	/* One place to wait for each: a round wakes those whose work is done and who leads next,
	 * and leaves the others asleep. */
	while (!mine.done && engine->leading)
		pthread_cond_wait(&mine.moved, &engine->queue_lock);
	if (!mine.done) {
		rt_ticket *round = engine->queue_first, *t, *next;

		engine->leading = true;
		engine->queue_first = engine->queue_last = NULL;
		pthread_mutex_unlock(&engine->queue_lock);
		lead_round(engine, round);
		pthread_mutex_lock(&engine->queue_lock);
		for (t = round; t != NULL; t = next) {
			next = t->next;
			t->done = true; /* its owner leaves as soon as we let go of the lock */
			if (t != &mine)
				pthread_cond_signal(&t->moved);
		}
		rt_engine_yield_writer(engine);
	}
	pthread_mutex_unlock(&engine->queue_lock);
	pthread_cond_destroy(&mine.moved);
	for (i = 0; i < count; i++)
		if (results[i].status != RT_OK)
			return results[i].status;
	return RT_OK;
}

rt_status
rt_engine_apply_json(rt_engine *engine, yyjson_val *const *requests, size_t count, bool atomic,
		     rt_str default_disc, rt_str default_take, rt_result *results)
{
	rt_request *typed;
	rt_scope s;
	rt_status st;

	rt_scope_init(&s, engine->alloc);
	typed = rt_requests_read(&s, requests, count);
	if (typed != NULL) {
		st = rt_engine_apply(engine, typed, count, atomic, default_disc, default_take,
				     results);
	} else {
		for (size_t i = 0; i < count; i++) {
			memset(&results[i], 0, sizeof(results[i]));
			result_fail(&results[i], s.status, &s.error);
		}
		st = s.status;
	}
	rt_scope_deinit(&s);
	return st;
}

rt_status
rt_engine_apply_text(rt_engine *engine, rt_str json, rt_str default_disc, rt_str default_take,
		     rt_result *result)
{
	rt_json_doc *doc = NULL;
	yyjson_val *request;
	rt_error err;
	rt_status st = rt_json_read(engine->alloc, json, &doc, &err);

	memset(result, 0, sizeof(*result));
	if (st != RT_OK) {
		result_fail(result, st == RT_LIMIT ? RT_USAGE : st, &err);
		return result->status;
	}
	request = rt_json_root(doc);
	st = rt_engine_apply_json(engine, &request, 1, false, default_disc, default_take, result);
	rt_json_free(doc);
	return st;
}

void
rt_result_add_json(rt_buf *buf, const rt_result *result)
{
	rt_buf_add_byte(buf, '{');
	if (result->status != RT_OK) {
		rt_buf_add_c(buf, "\"error\":{\"code\":");
		rt_json_add_string(buf, rt_str_of(rt_status_word(result->status)));
		rt_json_add_key(buf, "message");
		rt_json_add_string(buf, rt_str_at(result->error.text,
						  rt_utf8_valid_size(rt_str_of(result->error.text))));
		rt_buf_add_c(buf, "}}");
		return;
	}
	rt_json_add_key(buf, "seq");
	rt_buf_add_u64(buf, result->seq);
	if (result->entry[0] != '\0') {
		rt_json_add_key(buf, "entry");
		rt_json_add_string(buf, rt_str_of(result->entry));
	}
	if (result->take[0] != '\0') {
		rt_json_add_key(buf, "take");
		rt_json_add_string(buf, rt_str_of(result->take));
	}
	if (result->discussion[0] != '\0') {
		rt_json_add_key(buf, "discussion");
		rt_json_add_string(buf, rt_str_of(result->discussion));
	}
	if (result->steps > 0) {
		rt_json_add_key(buf, "steps");
		rt_buf_add_u64(buf, result->steps);
	}
	if (result->editor != NULL) {
		rt_json_add_key(buf, "editor");
		rt_json_add_string(buf, rt_text_str(result->editor));
	}
	if (result->note != NULL) {
		rt_json_add_key(buf, "note");
		rt_json_add_string(buf, rt_text_str(result->note));
	}
	if (result->unchanged)
		rt_buf_add_c(buf, ",\"unchanged\":true");
	rt_buf_add_byte(buf, '}');
}
