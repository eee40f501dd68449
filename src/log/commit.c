/* SPDX-License-Identifier: MIT
 *
 * Requests in, one transaction, results out.
 *
 * A caller queues its requests; the first caller leads: it takes the queue, opens the store's
 * transaction, reads other processes' rows, compiles and appends each request on top of the
 * previous one, commits, publishes, and wakes the others. Callers that arrive meanwhile wait for
 * the next round. Thus many writers share one sync, and nothing is visible, and no result returned,
 * before it is durable.
 *
 * A request that fails changes nothing and the rest continues; a commit that fails fails every
 * request in it. */
#include "log/checkpoint.h"
#include "log/engine_impl.h"
#include "log/history.h"
#include "log/identity.h"
#include "log/plan.h"
#include "log/purge.h"
#include "log/rows.h"

/* ---- undo, redo, jump ---- */

/* A move that was planned before the store was locked: undoing an import may have to read many
 * rows. It is valid while the value is the one that it was planned on. */
typedef struct planned {
	rt_scope scope;
	const rt_project *on; /* owned; NULL: nothing is planned */
	rt_plan plan;
	rt_result result; /* its note */
} planned;

static void
planned_deinit(planned *p)
{
	rt_object_unref(p->on);
	rt_object_unref(p->plan.moved);
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

static rt_change
begin_request(rt_scope *s, rt_engine *engine, const rt_project *project,
	      const rt_apply_options *how, rt_result *result)
{
	rt_change c;

	rt_change_init(&c, s, engine, project);
	c.by = how->by.size > 0 ? how->by : c.by;
	c.coalesce_ms = how->coalesce_ms;
	c.group = how->group;
	c.group_discs = how->group != 0 ? (uint32_t)rt_project_disc_count(project) : 0;
	c.result = result;
	return c;
}

/* For a round with a single request. A failure here leads to another attempt under the lock. */
static void
plan_ahead(rt_engine *engine, const rt_ticket *t, planned *p)
{
	const rt_request *r = &t->requests[0];

	*p = (planned){0};
	rt_scope_init(&p->scope, engine->alloc);
	if (t->next != NULL || t->count != 1 || t->how->atomic || !is_move(r))
		return;
	p->on = rt_engine_value(engine);
	rt_change c = begin_request(&p->scope, engine, p->on, t->how, &p->result);
	rt_change_find_place(&c, r, t->how->disc, t->how->take);
	if (rt_change_ok(&c))
		p->plan = rt_history_plan(&c, r);
	rt_change_deinit(&c);
	if (p->plan.moved == NULL)
		planned_deinit(p);
}

/* Returns the value after the row. A plan without moves changes nothing. */
static const rt_project *
write_plan(rt_scope *s, rt_engine *engine, const rt_project *project, const rt_plan *plan)
{
	if (!rt_ok(s))
		return NULL;
	if (plan->row.move_count == 0)
		return rt_object_ref(project);
	engine->unsaved += plan->work;
	return rt_engine_write_row(s, engine, project, plan->moved, &plan->row, NULL);
}

/* Restores the drafts of a plan that keeps them, as a separate step. Takes `next`, the value after
 * the moves, and returns the value after the step; NULL: a failure. */
static const rt_project *
restore_drafts(rt_change *c, const rt_plan *plan, const rt_project *next)
{
	const rt_project *restored = next;
	rt_change step;

	rt_change_init(&step, c->scope, c->engine, next);
	step.by = c->by;
	for (size_t i = 0; i < plan->draft_count; i++) {
		uint32_t disc = plan->drafts[i];
		rt_str draft = rt_change_field(c, disc, 0, RT_STR("setting.draft"), 0);

		/* redo restores that of a discussion that was removed, with the discussion */
		if (rt_project_cell(next, disc)->present && (draft.ptr != NULL || !plan->sets_draft))
			rt_change_set(&step, disc, 0, RT_STR("setting.draft"), 0, draft);
	}
	if (rt_change_ok(c) && step.effect_count > 0)
		restored = rt_change_write(&step, rt_str_of(rt_ops[RT_OP_SETTING_SET].name),
					   step.effects[0].disc);
	rt_change_deinit(&step);
	if (restored != next || !rt_change_ok(c))
		rt_object_unref(next);
	return rt_change_ok(c) ? restored : NULL;
}

/* *out_torn: it failed after its first row was written. */
static const rt_project *
run_move(rt_change *c, const rt_request *r, const planned *ahead, bool *out_torn)
{
	rt_plan plan;

	if (ahead->on == c->base) {
		plan = ahead->plan;
		rt_object_ref(plan.moved);
		rt_text_unref(c->result->note);
		c->result->note = (rt_text *)(uintptr_t)rt_text_ref(ahead->result.note);
	} else {
		plan = rt_history_plan(c, r);
	}
	if (r->op != RT_OP_JUMP && plan.row.move_count > 0)
		c->result->steps = plan.steps;
	const rt_project *next = write_plan(c->scope, c->engine, c->base, &plan);
	rt_object_unref(plan.moved);
	if (next != NULL)
		c->result->move_seq = next->seq;
	if (next == NULL || plan.draft_count == 0)
		return next;
	next = restore_drafts(c, &plan, next);
	*out_torn = next == NULL;
	return next;
}

rt_status
rt_engine_undo_group(rt_engine *engine, uint64_t group, uint32_t group_discs, rt_str by,
		     rt_error *err)
{
	const rt_project *project = NULL, *next = NULL;
	rt_plan plan = {0};
	rt_scope s;

	rt_scope_init(&s, engine->alloc);
	rt_engine_lock_writer(engine);
	if (RT_TRY(&s, engine->store->ops->begin(engine->store, &s.error)) == RT_OK) {
		RT_TRY(&s, rt_engine_newest(engine, &project, &s.error));
		if (rt_ok(&s))
			plan = rt_history_plan_group(engine, &s, project, group, group_discs, by);
		next = write_plan(&s, engine, project, &plan);
		rt_store_end(engine->store, &s);
		if (rt_ok(&s))
			rt_engine_publish(engine, next);
		else
			rt_object_unref(next);
		rt_object_unref(plan.moved);
		rt_object_unref(project);
	}
	rt_engine_unlock_writer(engine);
	return rt_scope_end(&s, err);
}

/* ---- one request ---- */

static void
write_side(rt_change *c, rt_str name, rt_str value)
{
	rt_store *store = c->engine->store;

	RT_TRY(c->scope, store->ops->write(store,
					   rt_rows_named(RT_STORE_SIDE, c->engine->project, name),
					   value, &c->scope->error));
}

/* The reply in flight that a request ends; empty: none. It is ended only once, although both its
 * keeper and a recovery (inflight.c) may try. */
static rt_str
flight_of(rt_change *c, const rt_request *r)
{
	rt_buf *row = rt_scope_buf(c->scope);
	rt_status st;

	if (r->flight.ptr == NULL)
		return RT_STR("");
	if (!rt_str_starts(r->flight, RT_STR(RT_INFLIGHT_PREFIX)))
		rt_scope_fail(c->scope, RT_USAGE, "\"flight\" must be the name of a reply in flight");
	if (!rt_change_ok(c))
		return RT_STR("");
	st = rt_store_get(c->engine->store,
			  rt_rows_named(RT_STORE_SIDE, c->engine->project, r->flight), row, NULL,
			  &c->scope->error);
	if (st == RT_NOT_FOUND)
		rt_scope_fail(c->scope, RT_NOT_FOUND, "this reply has already been stored or discarded");
	RT_TRY(c->scope, st);
	return r->flight;
}

/* *out_torn: it failed after its first write. */
static const rt_project *
run_purge(rt_change *c, const rt_request *r, bool *out_torn)
{
	rt_engine *engine = c->engine;
	rt_store *store = engine->store;
	rt_scope *s = c->scope;
	rt_record record = {.kind = RT_RECORD_NOTE, .op = rt_str_of(rt_ops[r->op].name),
			    .by = c->by, .disc = c->place.disc};
	const rt_project *next = NULL;
	bool has_written = rt_engine_purge(c, r);

	if (rt_ok(s) && c->result->unchanged) {
		engine->scrub_after = engine->scrub_after || rt_engine_scrub_pending(engine);
		return rt_object_ref(c->base);
	}
	engine->scrub_after = engine->scrub_after || has_written;
	/* The mark stays until all purged bytes are overwritten, also after a crash. */
	write_side(c, RT_STR(RT_SCRUB_MARK), RT_STR("1"));
	if (rt_ok(s))
		next = rt_engine_write_row(s, engine, c->base, NULL, &record, NULL);
	/* Other processes drop their loaded values. */
	RT_TRY(s, store->ops->epoch_renew(store, &s->error));
	RT_TRY(s, store->ops->epoch(store, &engine->epoch, &s->error));
	if (rt_ok(s) && r->text.ptr != NULL) { /* names and fields in the log may have changed */
		rt_object_unref(next);
		next = NULL;
		RT_TRY(s, rt_engine_load(engine, false, &next, &s->error));
		RT_TRY(s, store->ops->epoch(store, &engine->epoch, &s->error));
	}
	if (rt_ok(s))
		return next;
	*out_torn = has_written;
	rt_object_unref(next);
	return NULL;
}

/* *out_torn: it failed after its log row was written. */
static const rt_project *
run_step(rt_change *c, const rt_request *r, const rt_apply_options *how, bool *out_torn)
{
	rt_str flight = flight_of(c, r);
	const rt_project *next = NULL;

	if (rt_change_ok(c))
		how->compile(c, r);
	if (!rt_change_ok(c))
		return NULL;
	if (c->effect_count == 0 && c->view_count == 0)
		next = rt_object_ref(c->base);
	else
		next = rt_change_write(c, rt_str_of(rt_ops[r->op].name), c->place.disc);
	if (next == NULL || flight.size == 0)
		return next;
	write_side(c, flight, rt_str_at(NULL, 0));
	if (rt_change_ok(c))
		return next;
	*out_torn = true;
	rt_object_unref(next);
	return NULL;
}

/* ---- a round ---- */

/* The tickets executed in one transaction. */
typedef struct round {
	rt_engine *engine;
	rt_ticket *first;
	planned ahead;
	rt_scope scope;            /* of a request, or an atomic step */
	rt_scope identities;       /* of the tickets */
	const rt_project *project; /* owned: the value after the requests so far */
	rt_error err;              /* of the transaction */
	bool torn;    /* a request failed after its first write: the transaction is cancelled */
	bool stale;   /* a node is missing that another process replaced after the value was
		       * loaded */
	bool reloaded; /* if this happens a second time, it is damage */
	bool is_locked; /* begun with the store's lock, not on an assumption */
	bool is_single; /* no other ticket may join */
} round;

/* The value after a request. */
static void
advance(round *r, const rt_project *next)
{
	rt_object_unref(r->project);
	r->project = next;
}

static rt_status
run_one(round *r, const rt_ticket *t, size_t index)
{
	rt_scope *s = &r->scope;
	static const planned nothing;
	const rt_request *request = &t->requests[index];
	rt_result *result = &t->results[index];
	const rt_project *next = NULL;
	rt_change c = begin_request(s, r->engine, r->project, t->how, result);

	rt_change_find_place(&c, request, t->how->disc, t->how->take);
	if (rt_ok(s))
		next = is_move(request)    ? run_move(&c, request, t == r->first ? &r->ahead : &nothing, &r->torn)
		       : is_purge(request) ? run_purge(&c, request, &r->torn)
					   : run_step(&c, request, t->how, &r->torn);
	rt_change_deinit(&c);
	if (!rt_ok(s)) {
		rt_result_fail(result, s->status, &s->error);
		return s->status;
	}
	result->seq = next->seq;
	result->unchanged = next->seq == r->project->seq;
	advance(r, next);
	return RT_OK;
}

/* One request of a step of several. *op: the step's name so far. */
static void
compile_in_step(rt_change *c, const rt_request *r, const rt_apply_options *how, rt_str *op)
{
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
	rt_str name = rt_str_of(rt_ops[r->op].name);
	*op = op->ptr == NULL || rt_str_eq(*op, name) ? name : RT_STR(RT_STEP_BATCH);
}

/* All requests of a ticket as one step, or none. */
static rt_status
run_atomic(round *r, const rt_ticket *t)
{
	rt_scope *s = &r->scope;
	const rt_project *next = NULL;
	rt_change c = begin_request(s, r->engine, r->project, t->how, NULL);
	uint32_t disc = 0;
	rt_str op = {NULL, 0};
	size_t failed = 0;

	for (size_t i = 0; i < t->count && rt_ok(s); i++) {
		size_t before = c.effect_count + c.view_count;

		failed = i;
		c.result = &t->results[i];
		compile_in_step(&c, &t->requests[i], t->how, &op);
		disc = disc == 0 ? c.place.disc : disc;
		t->results[i].unchanged = c.effect_count + c.view_count == before;
	}
	bool is_empty = c.effect_count + c.view_count == 0;
	bool is_cancelled = !is_empty && rt_change_is_nothing(&c); /* one undid another */
	if (rt_ok(s))
		next = is_empty || is_cancelled ? rt_object_ref(r->project)
						: rt_change_write(&c, op, disc);
	rt_change_deinit(&c);
	if (!rt_ok(s)) {
		rt_results_fail(t->results, t->count, failed, s->status, &s->error);
		return s->status;
	}
	for (size_t i = 0; i < t->count; i++) {
		if (is_cancelled) {
			rt_result_reset(&t->results[i]);
			t->results[i].unchanged = true;
		}
		t->results[i].seq = next->seq;
		t->results[i].undo_disc = t->results[t->count - 1].undo_disc;
	}
	advance(r, next);
	return RT_OK;
}

/* Did a request that failed leave a log row in the transaction? */
static bool
has_new_row(const round *r)
{
	uint64_t head;

	return rt_engine_head(r->engine, RT_STORE_LOG, &head, NULL) != RT_OK ||
	       head != r->project->seq;
}

/* Does the ticket's precondition hold? If not, none of its requests is executed. */
static rt_status
check_ticket(const round *r, const rt_ticket *t)
{
	rt_error err = {0};
	rt_status st = t->how->check != NULL ? t->how->check(t->how->check_ctx, r->project, &err)
					     : RT_OK;

	for (size_t i = 0; st != RT_OK && i < t->count; i++)
		rt_result_fail(&t->results[i], st, &err);
	return st;
}

/* The caller's own side rows, if anything was written. */
static rt_status
keep_ticket(round *r, const rt_ticket *t)
{
	size_t i = 0;

	while (i < t->count && (t->results[i].status != RT_OK || t->results[i].unchanged))
		i++;
	if (t->how->keep == NULL || i == t->count)
		return RT_OK;
	return t->how->keep(t->how->keep_ctx, r->engine->store, r->engine->project, r->project,
			    t->results, t->count, &r->err);
}

/* Failures of requests are in their results; a returned one is the whole transaction's. */
static rt_status
run_ticket(round *r, const rt_ticket *t)
{
	rt_status st = check_ticket(r, t);

	if (st != RT_OK) {
		r->stale = st == RT_CORRUPT && !r->reloaded;
		return RT_OK;
	}
	for (size_t i = 0; i < (t->how->atomic ? 1 : t->count); i++) {
		rt_scope_reset(&r->scope);
		st = t->how->atomic ? run_atomic(r, t) : run_one(r, t, i);
		if (st != RT_OK && (r->torn || has_new_row(r))) {
			r->err = r->scope.error; /* the failure of an atomic step is in one of its
						  * results */
			return st;
		}
		r->stale = st == RT_CORRUPT && !r->reloaded;
		if (r->stale)
			return RT_OK;
	}
	return keep_ticket(r, t);
}

/* The round starts again. */
static void
start_again(round *r)
{
	r->engine->store->ops->cancel(r->engine->store);
	advance(r, NULL);
	rt_engine_forget_gone(r->engine, 0);
	for (rt_ticket *t = r->first; t != NULL; t = t->next)
		for (size_t i = 0; i < t->count; i++)
			rt_result_reset(&t->results[i]);
}

/* Reload from the log; the round starts again. */
static void
reload(round *r)
{
	const rt_project *project = NULL;

	start_again(r);
	if (rt_engine_load(r->engine, false, &project, &r->err) == RT_OK)
		rt_engine_publish(r->engine, project);
	r->reloaded = true;
}

/* Returns the first failure; every text is reported. */
static rt_status
report_gone(const rt_engine *engine, rt_status st, rt_error *err)
{
	for (size_t i = 0; engine->purged != NULL && i < engine->gone_count; i++) {
		rt_status one = engine->purged(engine->purged_ctx, rt_text_str(engine->gone[i]),
					       st == RT_OK ? err : NULL);

		st = st == RT_OK ? one : st;
	}
	return st;
}

/* The identities of the tickets, each once. */
static rt_str
identities_of(rt_scope *s, const rt_ticket *first)
{
	rt_buf *all = rt_scope_buf(s);

	for (const rt_ticket *t = first; t != NULL; t = t->next) {
		const rt_ticket *before = first;

		while (before != t && !rt_str_eq(before->identity, t->identity))
			before = before->next;
		if (before != t || t->identity.size == 0)
			continue;
		if (all->size > 0)
			rt_buf_add_byte(all, ' ');
		rt_buf_add_str(all, t->identity);
	}
	return rt_scope_str(s, all);
}

/* The thread acts for all of them; a store checks the rights of each. */
static rt_status
identify(round *r)
{
	rt_status st;

	rt_scope_deinit(&r->identities);
	rt_scope_init(&r->identities, r->engine->alloc);
	(void)rt_store_set_identity(identities_of(&r->identities, r->first));
	st = r->identities.status;
	if (st != RT_OK)
		r->err = r->identities.error;
	return st;
}

/* A purge has effects outside the store before its commit. */
static bool
may_assume(const round *r)
{
	if (r->engine->store->ops->begin_at == NULL || r->is_locked || r->engine->is_contended)
		return false;
	for (const rt_ticket *t = r->first; t != NULL; t = t->next)
		for (size_t i = 0; i < t->count; i++)
			if (is_purge(&t->requests[i]))
				return false;
	return true;
}

/* The tickets that have arrived while it waited for the lock. */
static rt_status
join_waiting(round *r)
{
	rt_engine *engine = r->engine;
	rt_ticket *last = r->first;

	while (last->next != NULL)
		last = last->next;
	pthread_mutex_lock(&engine->queue_lock);
	last->next = engine->queue_first;
	engine->queue_first = engine->queue_last = NULL;
	pthread_mutex_unlock(&engine->queue_lock);
	return last->next != NULL ? identify(r) : RT_OK;
}

/* Without waiting for the lock, if no other program is likely to have written. Then the newest value. */
static rt_status
begin_round(round *r)
{
	rt_engine *engine = r->engine;
	rt_store *store = engine->store;
	const rt_project *value = rt_engine_value(engine);
	const rt_str mark = RT_STR(RT_HEAD_MARK);
	uint64_t seq = value->seq;
	rt_status st;

	rt_object_unref(value);
	r->is_locked = !may_assume(r);
	st = store->ops->begin_at == NULL
		     ? store->ops->begin(store, &r->err)
		     : store->ops->begin_at(store, engine->project, seq, r->is_locked ? &mark : NULL, &r->err);
	if (st == RT_OK && r->is_locked && !r->is_single && store->ops->begin_at != NULL)
		st = join_waiting(r);
	if (st == RT_OK)
		st = rt_engine_newest(engine, &r->project, &r->err);
	if (st == RT_OK)
		engine->is_contended = r->is_locked && r->project->seq != seq;
	return st;
}

/* Has another program written since a begin without the lock? The round starts again with it. */
static bool
was_assumed_wrongly(round *r, rt_status st)
{
	if (r->is_locked || (st != RT_CONFLICT && !r->torn))
		return false;
	start_again(r);
	r->is_locked = true;
	r->torn = false;
	return true;
}

/* One transaction, until its commit. Texts of purged entries are reported before it, because they
 * are not known afterwards; a purge that is interrupted here can be repeated. A copy elsewhere that
 * cannot be purged does not keep the texts in the store: report_purged tries again and reports the
 * failure. */
static rt_status
run_transaction(round *r)
{
	const rt_store_ops *ops = r->engine->store->ops;
	rt_status st = RT_OK;

	if (r->engine->read_only)
		return rt_fail(&r->err, RT_READ_ONLY, "%s is open read-only",
			       r->engine->store->place);
	do {
		if (r->stale)
			reload(r);
		r->stale = false;
		r->engine->scrub_after = false;
		st = begin_round(r);
		for (rt_ticket *t = r->first; st == RT_OK && t != NULL && !r->stale; t = t->next)
			st = run_ticket(r, t);
		if (st == RT_OK && !r->stale) {
			(void)report_gone(r->engine, RT_OK, NULL);
			st = ops->commit(r->engine->store, &r->err);
		}
	} while (was_assumed_wrongly(r, st) || (st == RT_OK && r->stale));
	if (st != RT_OK)
		ops->cancel(r->engine->store);
	return st;
}

/* ---- after the commit ---- */

static void
fail_all(rt_ticket *first, rt_status st, const rt_error *err)
{
	for (rt_ticket *t = first; t != NULL; t = t->next)
		for (size_t i = 0; i < t->count; i++)
			if (t->results[i].status == RT_OK)
				rt_result_fail(&t->results[i], st, err);
}

static rt_status
scrub(rt_engine *engine, rt_error *err)
{
	rt_store *store = engine->store;
	rt_status st = store->ops->scrub(store, err);

	if (st != RT_OK || store->ops->begin(store, NULL) != RT_OK)
		return st; /* the mark stays, so the store is scrubbed again */
	if (store->ops->write(store, rt_engine_side(engine, RT_SCRUB_MARK), rt_str_at(NULL, 0),
			      NULL) != RT_OK ||
	    store->ops->commit(store, NULL) != RT_OK)
		store->ops->cancel(store);
	return RT_OK;
}

/* Everything is committed, but purged bytes may still be in the store's files or in copies
 * elsewhere: only the purges fail for that. */
static void
fail_purges(rt_ticket *first, rt_status st, bool is_elsewhere, const rt_error *why)
{
	rt_error err;

	if (is_elsewhere)
		rt_fail(&err, st,
			"purged from the store, but copies elsewhere may still contain it (%.300s); solve this problem, then purge the text again",
			why->text);
	else
		rt_fail(&err, st, "purged, but its bytes could not be wiped from the store yet "
			"(%.300s); purge it again", why->text);
	for (rt_ticket *t = first; t != NULL; t = t->next)
		for (size_t i = 0; i < t->count; i++)
			if (t->results[i].status == RT_OK && t->requests[i].op == RT_OP_PURGE)
				rt_result_fail(&t->results[i], st, &err);
}

/* Copies elsewhere may contain the purged texts too, including those written before the commit. */
static void
report_purged(rt_engine *engine, rt_ticket *first)
{
	rt_status st = RT_OK;
	rt_error err;

	if (engine->purged == NULL)
		return;
	for (const rt_ticket *t = first; t != NULL; t = t->next)
		for (size_t i = 0; i < t->count; i++) {
			const rt_request *r = &t->requests[i];

			if (r->op != RT_OP_PURGE || r->text.size == 0 || t->results[i].status != RT_OK)
				continue;
			rt_status one = engine->purged(engine->purged_ctx, r->text,
						       st == RT_OK ? &err : NULL);
			st = st == RT_OK ? one : st;
		}
	st = report_gone(engine, st, &err);
	if (st != RT_OK)
		fail_purges(first, st, true, &err);
}

/* With the identities of all its tickets; the rest of the leader's work is that of the program. */
static rt_status
run_for(round *r)
{
	rt_status st = identify(r);

	if (st == RT_OK)
		st = run_transaction(r);
	(void)rt_store_set_identity(RT_STORE_ITSELF);
	rt_scope_deinit(&r->identities);
	return st;
}

static void
lead_round(rt_engine *engine, rt_ticket *first, bool is_single)
{
	round r = {.engine = engine, .first = first, .is_single = is_single};
	rt_status st;

	rt_scope_init(&r.scope, engine->alloc);
	rt_scope_init(&r.identities, engine->alloc);
	plan_ahead(engine, first, &r.ahead);
	st = run_for(&r);
	/* The store refused one of them. If that one joined after the lock was granted, the refusal appears
	 * only at the commit, as a conflict. */
	if ((st == RT_REFUSED || (st == RT_CONFLICT && r.is_locked)) && first->next != NULL) {
		/* One that may not do its part keeps no others from theirs. */
		start_again(&r);
		rt_scope_deinit(&r.scope);
		planned_deinit(&r.ahead);
		for (rt_ticket *t = first, *next; t != NULL; t = next) {
			next = t->next;
			t->next = NULL;
			lead_round(engine, t, true);
			t->next = next;
		}
		return;
	}
	if (st != RT_OK) {
		fail_all(first, st, &r.err);
		rt_object_unref(r.project);
	} else {
		rt_engine_publish(engine, r.project);
		if (engine->scrub_after || engine->scrub_pending)
			st = scrub(engine, &r.err);
		engine->scrub_pending = false; /* one attempt in each process */
		report_purged(engine, first);
		if (st != RT_OK)
			fail_purges(first, st, false, &r.err);
		rt_engine_maybe_checkpoint(engine, engine->checkpoint_every);
	}
	engine->scrub_after = false;
	rt_engine_forget_gone(engine, 0);
	rt_scope_deinit(&r.scope);
	planned_deinit(&r.ahead);
}

rt_status
rt_engine_apply_if(rt_engine *engine, const rt_request *requests, size_t count,
		   const rt_apply_options *options, rt_result *results)
{
	rt_str identity = rt_store_identity();
	rt_ticket mine = {.requests = requests, .count = count, .how = options, .results = results,
			  .identity = identity};

	memset(results, 0, count * sizeof(*results));
	if (count == 0)
		return RT_OK;
	(void)pthread_cond_init(&mine.moved, NULL); /* never fails: nothing is allocated */
	pthread_mutex_lock(&engine->queue_lock);
	if (engine->queue_last != NULL)
		engine->queue_last->next = &mine;
	else
		engine->queue_first = &mine;
	engine->queue_last = &mine;
	/* Each has its own condition variable: a round wakes only those whose requests are done,
	 * and the next leader. */
	while (!mine.done && engine->leading)
		pthread_cond_wait(&mine.moved, &engine->queue_lock);
	if (!mine.done) {
		rt_ticket *first = engine->queue_first;

		engine->leading = true;
		engine->queue_first = engine->queue_last = NULL;
		pthread_mutex_unlock(&engine->queue_lock);
		lead_round(engine, first, false);
		(void)rt_store_set_identity(identity);
		pthread_mutex_lock(&engine->queue_lock);
		for (rt_ticket *t = first, *next; t != NULL; t = next) {
			next = t->next;
			t->done = true; /* its owner returns as soon as the lock is free */
			if (t != &mine)
				pthread_cond_signal(&t->moved);
		}
		rt_engine_yield_writer(engine);
	}
	pthread_mutex_unlock(&engine->queue_lock);
	pthread_cond_destroy(&mine.moved);
	for (size_t i = 0; i < count; i++)
		if (results[i].status != RT_OK)
			return results[i].status;
	return RT_OK;
}
