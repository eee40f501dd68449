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
#include "log/checkpoint.h"
#include "log/engine_impl.h"
#include "log/history.h"
#include "log/plan.h"
#include "log/purge.h"

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
static void
add_parents(rt_change *c, rt_record *record)
{
	rt_record_parent *parents = rt_scope_array(c->scope, c->effect_count + 1, sizeof(*parents));
	size_t found = 0;

	if (parents != NULL && c->group != 0)
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
			step = 0; /* made in this very step */
		else if (disc != 0 && RT_TRY(c->scope, rt_project_disc(c->base, disc, &d,
								       &c->scope->error)) == RT_OK)
			step = d->history.current;
		parents[found++] = (rt_record_parent){disc, step};
	}
	record->parents = parents;
	record->parent_count = found;
}

/* Append one row. The value after it, or NULL after a failure. applied: the value with the
 * record's effects in it already, or NULL. of: the change whose bodies go with it, or NULL. */
static const rt_project *
write_row(rt_scope *s, rt_engine *engine, const rt_project *project, const rt_project *applied,
	  const rt_record *record, const rt_change *of)
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
	if (rt_ok(s))
		return next;
	rt_object_unref(next);
	return NULL;
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
	next = write_row(c->scope, c->engine, c->base, is_step ? c->now : NULL, &record, c);
	if (next != NULL && c->result != NULL)
		c->result->undo_disc = undo_disc_of(&record, disc);
	return next;
}

/* ---- undo, redo, jump ---- */

/* A move that was planned before the store was locked: to take back an import may mean to read
 * much. It holds as long as the value is the one that it was planned on. */
typedef struct planned {
	rt_scope scope;
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
	rt_scope_deinit(&p->scope);
	*p = (planned){0};
}

static bool
is_move(const rt_request *r)
{
	return r->invalid == NULL && (rt_ops[r->op].flags & RT_OP_MOVES_HISTORY) != 0;
}

static bool
is_purge(const rt_request *r)
{
	return r->invalid == NULL && r->op == RT_OP_PURGE;
}

static void
begin_request(rt_change *c, rt_scope *s, rt_engine *engine, const rt_project *project,
	      const rt_apply_options *how, rt_result *result)
{
	rt_change_init(c, s, engine, project);
	c->by = how->by.size > 0 ? how->by : c->by;
	c->result = result;
}

static void
plan(rt_change *c, const rt_request *r, planned *out)
{
	rt_arena *arena = rt_scope_arena(c->scope);

	RT_TRY(c->scope, rt_history_plan(c->engine, c->base, r, c, arena, &out->record, &out->moved,
					 &out->steps, &c->scope->error));
	if (!rt_change_ok(c))
		out->moved = NULL;
}

/* Of a round with a single request. What fails here fails under the lock, too, or does not. */
static void
plan_ahead(rt_engine *engine, const rt_ticket *t, planned *p)
{
	const rt_request *r = &t->requests[0];
	rt_change c;

	*p = (planned){0};
	rt_scope_init(&p->scope, engine->alloc);
	if (t->next != NULL || t->count != 1 || t->how->atomic || !is_move(r))
		return;
	p->on = rt_engine_value(engine);
	begin_request(&c, &p->scope, engine, p->on, t->how, &p->result);
	rt_change_find_place(&c, r, t->how->disc, t->how->take);
	plan(&c, r, p);
	rt_change_deinit(&c);
	if (p->moved == NULL)
		planned_deinit(p);
}

static const rt_project *
run_move(rt_change *c, const rt_request *r, const planned *ahead)
{
	const rt_project *next;
	planned own = {0};

	if (ahead->moved != NULL && ahead->on == c->base) {
		own.record = ahead->record;
		own.moved = rt_object_ref(ahead->moved);
		own.steps = ahead->steps;
		rt_text_unref(c->result->note);
		c->result->note = (rt_text *)(uintptr_t)rt_text_ref(ahead->result.note);
	} else {
		plan(c, r, &own);
	}
	if (!rt_change_ok(c))
		return NULL;
	if (own.record.move_count == 0) {
		rt_object_unref(own.moved);
		return rt_object_ref(c->base);
	}
	if (r->op != RT_OP_JUMP)
		c->result->steps = own.steps;
	next = write_row(c->scope, c->engine, c->base, own.moved, &own.record, NULL);
	rt_object_unref(own.moved);
	return next;
}

rt_status
rt_engine_undo_group(rt_engine *engine, uint64_t group, uint32_t group_discs, rt_str by,
		     rt_error *err)
{
	const rt_store_ops *ops = engine->store->ops;
	const rt_project *project = NULL, *moved = NULL, *next = NULL;
	rt_record record = {0};
	rt_scope s;

	rt_scope_init(&s, engine->alloc);
	rt_arena *arena = rt_scope_arena(&s);
	rt_engine_lock_writer(engine);
	if (RT_TRY(&s, ops->begin(engine->store, &s.error)) == RT_OK) {
		RT_TRY(&s, rt_engine_newest(engine, &project, &s.error));
		RT_TRY(&s, rt_history_plan_group(engine, project, group, group_discs, by, arena,
						 &record, &moved, &s.error));
		if (rt_ok(&s) && record.move_count > 0)
			next = write_row(&s, engine, project, moved, &record, NULL);
		if (next != NULL)
			RT_TRY(&s, ops->commit(engine->store, &s.error));
		else
			ops->cancel(engine->store);
		if (rt_ok(&s) && next != NULL)
			rt_engine_publish(engine, next);
		else
			rt_object_unref(next);
		rt_object_unref(moved);
		rt_object_unref(project);
	}
	rt_engine_unlock_writer(engine);
	return rt_scope_end(&s, err);
}

/* ---- wiping what was purged ---- */

static rt_status
scrub(rt_engine *engine, rt_error *err)
{
	const rt_store_ops *ops = engine->store->ops;
	rt_status st = ops->scrub(engine->store, err);

	if (st != RT_OK || ops->begin(engine->store, NULL) != RT_OK)
		return st; /* a mark too many is wiped after once more */
	if (ops->write(engine->store,
		       rt_rows_named(RT_STORE_SIDE, engine->project, RT_STR(RT_SCRUB_MARK)),
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

/* ---- one request ---- */

/* The reply in flight that a request ends; empty: none. It is ended once, also when its
 * keeper and a recovery (inflight.c) both try. */
static rt_str
flight_of(rt_change *c, const rt_request *r)
{
	rt_buf *row = rt_scope_buf(c->scope);
	rt_status st;

	if (r->flight.ptr == NULL)
		return RT_STR("");
	if (!rt_str_starts(r->flight, RT_STR(RT_INFLIGHT_PREFIX)))
		rt_scope_fail(c->scope, RT_USAGE, "\"flight\" is the name of a reply in flight");
	if (!rt_change_ok(c))
		return RT_STR("");
	st = rt_store_get(c->engine->store,
			  rt_rows_named(RT_STORE_SIDE, c->engine->project, r->flight), row, NULL,
			  &c->scope->error);
	if (st == RT_NOT_FOUND)
		rt_scope_fail(c->scope, RT_NOT_FOUND, "this reply was kept, or given up, already");
	RT_TRY(c->scope, st);
	return r->flight;
}

static void
write_side(rt_change *c, rt_str name, rt_str value)
{
	const rt_store_ops *ops = c->engine->store->ops;

	RT_TRY(c->scope, ops->write(c->engine->store,
				    rt_rows_named(RT_STORE_SIDE, c->engine->project, name), value,
				    &c->scope->error));
}

static const rt_project *
run_purge(rt_change *c, const rt_request *r)
{
	rt_engine *engine = c->engine;
	rt_store *store = engine->store;
	rt_scope *s = c->scope;
	rt_record record = {.kind = RT_RECORD_NOTE, .op = rt_str_of(rt_ops[r->op].name),
			    .by = c->by, .disc = c->place.disc};
	const rt_project *next;
	bool before = engine->scrub_after;

	engine->scrub_after = true; /* from its first body on */
	RT_TRY(s, rt_engine_purge(engine, c->base, r, c->place, c->result, &s->error));
	if (s->status != RT_NOMEM && (!rt_ok(s) || c->result->unchanged))
		engine->scrub_after = before;
	if (!rt_ok(s))
		return NULL;
	if (c->result->unchanged) {
		if (rt_engine_scrub_pending(engine))
			engine->scrub_after = true;
		return rt_object_ref(c->base);
	}
	/* The mark stays until everything is wiped, also after a crash. */
	write_side(c, RT_STR(RT_SCRUB_MARK), RT_STR("1"));
	next = rt_ok(s) ? write_row(s, engine, c->base, NULL, &record, NULL) : NULL;
	/* Whoever has seen what was there is made to forget it. */
	RT_TRY(s, store->ops->epoch_renew(store, &s->error));
	RT_TRY(s, store->ops->epoch(store, &engine->epoch, &s->error));
	if (rt_ok(s) && r->text.ptr != NULL) {
		/* names and fields in the log may have changed: the value anew */
		rt_object_unref(next);
		next = NULL;
		RT_TRY(s, rt_engine_load(engine, false, &next, &s->error));
		RT_TRY(s, store->ops->epoch(store, &engine->epoch, &s->error));
	}
	if (rt_ok(s))
		return next;
	rt_object_unref(next);
	return NULL;
}

/* *out_torn: it failed, but something of it is in the transaction, which cannot be. */
static const rt_project *
run_step(rt_change *c, const rt_request *r, const rt_apply_options *how, bool *out_torn)
{
	uint32_t disc = c->place.disc;
	rt_str flight = flight_of(c, r);
	const rt_project *next = NULL;

	if (rt_change_ok(c))
		how->compile(c, r);
	if (!rt_change_ok(c))
		return NULL;
	if (c->effect_count == 0 && c->view_count == 0)
		next = rt_object_ref(c->base);
	else
		next = rt_change_write(c, rt_str_of(rt_ops[r->op].name), disc);
	if (next == NULL || flight.size == 0)
		return next;
	write_side(c, flight, rt_str_at(NULL, 0));
	if (rt_change_ok(c))
		return next;
	*out_torn = true; /* its row of the log is written */
	rt_object_unref(next);
	return NULL;
}

static rt_status
run_one(rt_scope *s, rt_engine *engine, const rt_project **project, const rt_request *r,
	const rt_apply_options *how, const planned *ahead, rt_result *result, bool *out_torn)
{
	const rt_project *next = NULL;
	rt_change c;

	begin_request(&c, s, engine, *project, how, result);
	rt_change_find_place(&c, r, how->disc, how->take);
	if (rt_ok(s))
		next = is_move(r)    ? run_move(&c, r, ahead)
		       : is_purge(r) ? run_purge(&c, r)
				     : run_step(&c, r, how, out_torn);
	rt_change_deinit(&c);
	if (!rt_ok(s)) {
		result_fail(result, s->status, &s->error);
		return s->status;
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

/* One request of a step of several. *op: what the step is called so far. */
static void
compile_in_step(rt_change *c, const rt_request *r, const rt_apply_options *how, rt_str *op)
{
	rt_str name;

	if (r->invalid == NULL && (rt_ops[r->op].flags & RT_OP_ALONE) != 0)
		rt_scope_fail(c->scope, RT_REFUSED, "%s cannot be part of an atomic step",
			      rt_ops[r->op].name);
	if (r->flight.ptr != NULL)
		rt_scope_fail(c->scope, RT_REFUSED,
			      "the end of a reply in flight cannot be part of an atomic step");
	rt_change_find_place(c, r, how->disc, how->take);
	if (!rt_change_ok(c))
		return;
	how->compile(c, r);
	name = rt_str_of(rt_ops[r->op].name);
	*op = op->ptr == NULL || rt_str_eq(*op, name) ? name : RT_STR("batch");
}

static void
fail_ticket(rt_ticket *t, size_t failed, const rt_scope *s)
{
	for (size_t i = 0; i < t->count; i++) {
		rt_error other;

		rt_fail(&other, s->status, "not done, since line %zu failed: %.300s", failed + 1,
			s->error.text);
		result_fail(&t->results[i], s->status, i == failed ? &s->error : &other);
	}
}

/* All requests of a ticket as one step, or none. */
static rt_status
run_atomic(rt_scope *s, rt_engine *engine, const rt_project **project, rt_ticket *t)
{
	const rt_project *next = NULL;
	rt_change c;
	uint32_t disc = 0;
	rt_str op = {NULL, 0};
	bool cancelled; /* what one did, another took back */
	size_t failed = 0;

	begin_request(&c, s, engine, *project, t->how, NULL);
	for (size_t i = 0; i < t->count && rt_ok(s); i++) {
		size_t before = c.effect_count + c.view_count;

		failed = i;
		c.result = &t->results[i];
		compile_in_step(&c, &t->requests[i], t->how, &op);
		disc = disc == 0 ? c.place.disc : disc;
		t->results[i].unchanged = c.effect_count + c.view_count == before;
	}
	cancelled = c.effect_count + c.view_count > 0 && rt_change_is_nothing(&c);
	if (rt_ok(s) && (cancelled || c.effect_count + c.view_count == 0))
		next = rt_object_ref(*project);
	else if (rt_ok(s))
		next = rt_change_write(&c, op, disc);
	rt_change_deinit(&c);
	if (!rt_ok(s)) {
		fail_ticket(t, failed, s);
		return s->status;
	}
	for (size_t i = 0; i < t->count; i++) {
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
	rt_scope scope; /* of a request, or an atomic step */
	rt_error err;
	rt_ticket *t;
	size_t i;
	bool reloaded = false, again, torn = false;
	planned ahead;
	rt_status st, one;

	memset(&err, 0, sizeof(err));
	rt_scope_init(&scope, engine->alloc);
	plan_ahead(engine, first, &ahead);
retry:
	again = false;
	engine->scrub_after = false;
	st = engine->read_only ? rt_fail(&err, RT_READ_ONLY, "%s is open for reading only",
					 engine->store->place)
			       : ops->begin(engine->store, &err);
	if (st != RT_OK) {
		fail_all(first, st, &err);
		rt_scope_deinit(&scope);
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
			rt_scope_reset(&scope);
			one = run_atomic(&scope, engine, &project, t);
			torn = one != RT_OK && is_torn(engine, project);
			again = one == RT_CORRUPT && !reloaded;
		}
		for (i = 0; !t->how->atomic && i < t->count && !again; i++) {
			rt_scope_reset(&scope);
			one = run_one(&scope, engine, &project, &t->requests[i], t->how, &ahead,
				      &t->results[i], &torn);
			torn = torn || (one != RT_OK && is_torn(engine, project));
			if (torn)
				break;
			again = one == RT_CORRUPT && !reloaded; /* once; then it is damage */
			/* A purge changes bodies before its row is there. */
			if (one == RT_NOMEM && engine->scrub_after) {
				st = rt_fail(&err, RT_NOMEM, "out of memory");
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
	rt_scope_deinit(&scope);
	planned_deinit(&ahead);
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
