/* SPDX-License-Identifier: MIT
 *
 * Transactions of the PostgreSQL store: begin, the locks of projects, commit, and the outcome of a
 * commit whose connection was lost. */
#include "store/store_postgres_impl.h"

#define BEGIN_SQL "BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE"
#define LOCK_SQL "SELECT seq, body, mark, fence, epoch FROM retake.lock($1, $2, $3)"

enum { ATTEMPTS = 4 /* of a commit without a lock */ };

/* --- calls --- */

rt_pg_call
rt_pg_reading(rt_store *store)
{
	rt_pg_call call = {.store = rt_pg_self(store)};

	rt_scope_init(&call.scope, call.store->alloc);
	call.conn = rt_pg_own(call.store);
	if (call.conn == NULL)
		RT_TRY(&call.scope,
		       rt_pg_acquire(call.store, false, false, &call.conn, &call.scope.error));
	else if (call.conn->tx.status != RT_OK)
		rt_scope_fail(&call.scope, call.conn->tx.status,
			      "%s: an earlier access in the same step failed (%s)",
			      call.store->place, rt_status_word(call.conn->tx.status));
	return call;
}

rt_pg_call
rt_pg_writing(rt_store *store)
{
	rt_pg_call call = rt_pg_reading(store);

	RT_ASSERT(call.conn == NULL || call.conn->tx.is_open);
	return call;
}

rt_status
rt_pg_end(rt_pg_call *call, rt_error *err)
{
	rt_pg_conn *c = call->conn;

	if (c != NULL && !c->tx.is_open)
		rt_pg_release(call->store, c);
	return rt_scope_end(&call->scope, err);
}

/* A failure of the server ends its transaction. */
static void
spoil(rt_pg_call *call)
{
	if (!rt_ok(&call->scope) && call->conn->tx.is_open)
		call->conn->tx.status = call->scope.status;
}

/* --- known heads --- */

static void
learn(rt_pg_store *s, const rt_pg_heads *h)
{
	RT_ASSERT(pthread_mutex_lock(&s->guard) == 0);
	if (h->project != 0)
		s->known[h->project % RT_PG_HEADS_KNOWN] = *h;
	s->hint = h->project != 0 ? h->project : s->hint;
	RT_ASSERT(pthread_mutex_unlock(&s->guard) == 0);
}

static bool
recall(rt_pg_store *s, uint64_t project, uint64_t seq, rt_pg_heads *out)
{
	RT_ASSERT(pthread_mutex_lock(&s->guard) == 0);
	*out = s->known[project % RT_PG_HEADS_KNOWN];
	RT_ASSERT(pthread_mutex_unlock(&s->guard) == 0);
	return project != 0 && out->project == project && out->seq == seq;
}

static void
forget(rt_pg_store *s, uint64_t project)
{
	RT_ASSERT(pthread_mutex_lock(&s->guard) == 0);
	s->known[project % RT_PG_HEADS_KNOWN].project = 0;
	RT_ASSERT(pthread_mutex_unlock(&s->guard) == 0);
}

static rt_pg_heads
heads_in(rt_pg_call *call, const PGresult *rows, uint64_t project)
{
	rt_pg_heads h = {0};

	if (call->store->pq->ntuples(rows) != 1)
		return h;
	h = (rt_pg_heads){project,
			  rt_pg_u64(call, rows, 0, 0),
			  rt_pg_u64(call, rows, 0, 1),
			  rt_pg_u64(call, rows, 0, 2),
			  rt_pg_u64(call, rows, 0, 3),
			  rt_pg_u64(call, rows, 0, 4)};
	if (call->store->pq->getisnull(rows, 0, 0))
		h.project = 0;
	return h;
}

rt_pg_heads
rt_pg_read_heads(rt_pg_call *call, uint64_t project)
{
	rt_pg_query q = rt_pg_query_of("SELECT p.seq, p.body, p.mark, p.fence, s.epoch FROM"
				       " retake.store s LEFT JOIN retake.project p ON p.id = $1");
	rt_pg_heads h = {0};
	PGresult *rows;

	q.name = RT_PG_NAME_HEADS;
	rt_pg_arg_u64(&q, project);
	rows = rt_pg_rows(call, &q);
	if (rows != NULL)
		h = heads_in(call, rows, project);
	rt_pg_clear(call, rows);
	if (project != 0 && h.project == 0)
		rt_pg_check_visible(call, project);
	if (h.project != 0 && !call->conn->tx.is_open)
		learn(call->store, &h);
	return h;
}

/* --- locks --- */

static void
lock_query(rt_pg_call *call, uint64_t project, bool bump, rt_pg_query *out)
{
	*out = rt_pg_query_of(LOCK_SQL);
	out->doing = "starting to write";
	out->name = RT_PG_NAME_LOCK;
	rt_pg_arg_u64(out, project);
	rt_pg_arg_u64(out, (uint64_t)call->store->options.busy_ms);
	rt_pg_arg_u64(out, bump);
}

/* --- rows that are read with the lock --- */

void
rt_pg_log_query(uint64_t project, uint64_t first, uint64_t last, uint64_t limit, rt_pg_query *out)
{
	*out = rt_pg_query_of(RT_PG_LOG_SQL);
	out->doing = "reading the log";
	out->name = RT_PG_NAME_LOG;
	rt_pg_arg_u64(out, project);
	rt_pg_arg_u64(out, first);
	rt_pg_arg_u64(out, last);
	rt_pg_arg_u64(out, limit);
}

static void
drop_ahead(rt_pg_call *call)
{
	rt_pg_ahead *a = &call->conn->tx.ahead;

	rt_pg_clear(call, a->log);
	rt_pg_clear(call, a->side);
	*a = (rt_pg_ahead){0};
}

static PGresult *
take(const rt_pg_call *call, uint64_t project, PGresult **from)
{
	const rt_pg_transaction *tx = &call->conn->tx;
	PGresult *taken = tx->is_open && tx->now.project == project ? *from : NULL;

	if (taken != NULL)
		*from = NULL;
	return taken;
}

PGresult *
rt_pg_log_ahead(rt_pg_call *call, uint64_t project, uint64_t first, uint64_t last)
{
	rt_pg_ahead *a = &call->conn->tx.ahead;

	return first == a->after + 1 && last >= call->conn->tx.base.seq ? take(call, project, &a->log) : NULL;
}

PGresult *
rt_pg_side_ahead(rt_pg_call *call, uint64_t project, rt_str name)
{
	rt_pg_ahead *a = &call->conn->tx.ahead;

	return a->side != NULL && rt_str_eq(name, a->name) ? take(call, project, &a->side) : NULL;
}

/* --- the begin of the server --- */

/* Begins the server's transaction and locks a project, or for 0 the list. restart: ends the one
 * before, which has written nothing. wanted: the rows that are read together with the lock; or NULL. */
static rt_pg_heads
begin_on(rt_pg_call *call, uint64_t project, bool restart, const rt_pg_ahead *wanted)
{
	enum { ROLLBACK, BEGIN, LOCK, LOG, SIDE, COUNT };
	rt_pg_transaction *tx = &call->conn->tx;
	rt_pg_query queries[COUNT];
	PGresult *rows[COUNT];
	rt_pg_heads h = {0};

	queries[ROLLBACK] = rt_pg_control_of("ROLLBACK");
	queries[BEGIN] = rt_pg_control_of(BEGIN_SQL);
	queries[BEGIN].name = RT_PG_NAME_BEGIN;
	if (wanted == NULL) {
		lock_query(call, project, false, &queries[LOCK]);
	} else {
		/* Two statements cost less than the function. The second one sees the commits before the
		 * lock. */
		queries[LOCK] = rt_pg_query_of("SELECT seq, body, mark, fence, 0::bigint FROM retake.project"
					       " WHERE id = $1 FOR UPDATE");
		queries[LOCK].doing = "starting to write";
		queries[LOCK].name = RT_PG_NAME_LOCK_ALONE;
		queries[LOCK].is_cancelled = true;
		rt_pg_arg_u64(&queries[LOCK], project);
		rt_pg_log_query(project, wanted->after + 1, RT_STORE_NUMBER_MAX, RT_PG_PAGE_FIRST, &queries[LOG]);
		queries[SIDE] = rt_pg_query_of("SELECT s.epoch, r.sum, r.data, 0::bigint, r.name FROM retake.store s"
					       " LEFT JOIN retake.side r ON r.project = $1 AND r.name = $2");
		queries[SIDE].name = RT_PG_NAME_SIDE_AHEAD;
		rt_pg_arg_u64(&queries[SIDE], project);
		rt_pg_arg_bytes(&queries[SIDE], wanted->name);
	}
	for (int attempt = 1; rt_ok(&call->scope); attempt++) {
		size_t first = restart ? ROLLBACK : BEGIN;

		RT_TRY(&call->scope, rt_pg_connect(call->store, call->conn, &call->scope.error));
		if (!rt_ok(&call->scope))
			break;
		bool has_names = !call->store->has_no_names;
		if (rt_pg_exchange(call, &queries[first], (wanted != NULL ? COUNT : LOG) - first, &rows[first])) {
			h = heads_in(call, rows[LOCK], project);
			tx->is_sent = true;
			tx->has_list = project == 0;
			rt_pg_clear(call, rows[LOCK]);
			drop_ahead(call);
			if (wanted != NULL) {
				tx->ahead = (rt_pg_ahead){rows[LOG], rows[SIDE], wanted->after, wanted->name};
				h.epoch = rt_pg_u64(call, rows[SIDE], 0, 0);
			}
			break;
		}
		if (has_names && call->store->has_no_names) /* it was not executed */
			rt_pg_disconnect(call->store, call->conn);
		if (call->conn->pg == NULL && attempt < ATTEMPTS) {
			restart = false; /* the server has ended it */
			continue;
		}
		tx->is_sent = !call->conn->failure.is_lost; /* it has to be rolled back */
		rt_pg_call_fail(call, "starting to write");
	}
	return h;
}

/* The server's transaction for a begin that has only assumed where the log ends. */
static void
begin_late(rt_pg_call *call)
{
	rt_pg_transaction *tx = &call->conn->tx;
	rt_pg_heads h;

	if (tx->is_sent || !rt_ok(&call->scope))
		return;
	h = begin_on(call, tx->base.project, false, NULL);
	if (rt_ok(&call->scope) &&
	    (h.project != tx->base.project || h.seq != tx->base.seq || h.body != tx->base.body ||
	     h.fence != tx->base.fence || h.epoch != tx->base.epoch))
		tx->is_stale = true;
	spoil(call);
}

static void
relock(rt_pg_call *call, uint64_t project)
{
	rt_pg_transaction *tx = &call->conn->tx;
	rt_pg_heads h;

	if (tx->is_sent && tx->is_guess && tx->batch.count == 0) {
		h = begin_on(call, project, true, NULL);
	} else {
		rt_pg_query q;
		PGresult *rows;

		begin_late(call);
		rt_pg_flush(call);
		lock_query(call, project, false, &q);
		rows = rt_pg_rows(call, &q);
		h = rows != NULL ? heads_in(call, rows, project) : (rt_pg_heads){0};
		rt_pg_clear(call, rows);
		tx->has_list = tx->has_list || project == 0;
	}
	spoil(call);
	if (!rt_ok(&call->scope) || (project == 0 && tx->now.project != 0 && !tx->is_guess))
		return;
	tx->base = tx->now = h;
}

bool
rt_pg_touch(rt_pg_call *call, uint64_t project)
{
	rt_pg_transaction *tx = &call->conn->tx;

	if (!rt_ok(&call->scope) || project == 0 || project > RT_STORE_PROJECT_MAX)
		return false;
	if (tx->now.project != project)
		relock(call, project);
	tx->is_guess = tx->is_guess && tx->now.project != project;
	if (tx->now.project != project)
		rt_pg_check_visible(call, project);
	return rt_ok(&call->scope) && tx->now.project == project;
}

void
rt_pg_insist(rt_pg_call *call, uint64_t project)
{
	if (!rt_pg_touch(call, project))
		rt_store_no_project(&call->scope, project);
}

void
rt_pg_touch_list(rt_pg_call *call)
{
	rt_pg_transaction *tx = &call->conn->tx;

	if (!tx->has_list)
		relock(call, 0);
	tx->is_guess = false;
}

void
rt_pg_leave(rt_pg_call *call)
{
	rt_pg_transaction *tx = &call->conn->tx;

	forget(call->store, tx->now.project);
	tx->now = tx->base = (rt_pg_heads){.epoch = tx->now.epoch};
	tx->is_flushed = true;
}

/* --- changes --- */

void
rt_pg_flush(rt_pg_call *call)
{
	rt_pg_transaction *tx = &call->conn->tx;
	rt_pg_query q;
	PGresult *rows;

	begin_late(call);
	if (!rt_ok(&call->scope) || tx->batch.count == 0)
		return;
	drop_ahead(call);
	if (!tx->is_stale) {
		rt_pg_batch_query(call, tx->now.project, false, &q);
		rows = rt_pg_rows(call, &q);
		if (rows != NULL && !rt_pg_has_written(call, rows))
			tx->is_stale = true;
		rt_pg_clear(call, rows);
	}
	tx->base = tx->now;
	tx->is_flushed = true;
	rt_pg_batch_clear(&tx->batch);
	spoil(call);
}

void
rt_pg_settle(rt_pg_call *call, rt_store_table table)
{
	const rt_pg_transaction *tx = &call->conn->tx;

	if (tx->is_open && (tx->batch.written & 1u << table) != 0)
		rt_pg_flush(call);
}

/* --- begin --- */

static void
start(rt_pg_conn *c)
{
	rt_pg_transaction *tx = &c->tx;

	tx->is_sent = tx->is_guess = tx->has_list = tx->is_flushed = tx->is_stale = false;
	tx->status = RT_OK;
	tx->now = tx->base = (rt_pg_heads){0};
	tx->has_log = false;
	rt_pg_batch_clear(&tx->batch);
}

/* Ends this thread's begin. */
static void
finish(rt_pg_call *call)
{
	rt_pg_conn *c = call->conn;
	rt_pg_query q = rt_pg_control_of("ROLLBACK");
	PGresult *none;

	if (c->tx.is_sent && c->pg != NULL && !rt_pg_exchange(call, &q, 1, &none))
		rt_pg_disconnect(call->store, c);
	if (c->tx.batch.bytes > RT_PG_BATCH_BYTES) { /* free the memory of a large row */
		rt_pg_batch_deinit(&c->tx.batch);
		rt_pg_batch_init(&c->tx.batch, call->store->alloc);
	}
	rt_pg_batch_clear(&c->tx.batch);
	drop_ahead(call);
	rt_pg_release(call->store, c);
}

/* seq: not NULL: no lock is needed if the log ends there as far as is known. wanted: as for begin_on. */
static rt_status
begin(rt_store *store, uint64_t project, const uint64_t *seq, const rt_pg_ahead *wanted, rt_error *err)
{
	rt_pg_store *s = rt_pg_self(store);
	rt_pg_call call = {.store = s};
	rt_pg_transaction *tx;
	rt_pg_heads known;
	rt_status st;

	RT_ASSERT(rt_pg_own(s) == NULL);
	if (s->options.read_only)
		return rt_fail(err, RT_READ_ONLY, "%s was opened read-only", s->place);
	bool is_assumed = seq != NULL && recall(s, project, *seq, &known);
	st = rt_pg_acquire(s, true, is_assumed, &call.conn, err);
	if (st != RT_OK)
		return st;
	rt_scope_init(&call.scope, s->alloc);
	start(call.conn);
	tx = &call.conn->tx;
	if (is_assumed) {
		tx->base = tx->now = known;
		return RT_OK;
	}
	tx->base = tx->now = begin_on(&call, project, false, wanted);
	tx->is_guess = true;
	if (!rt_ok(&call.scope))
		finish(&call);
	return rt_scope_end(&call.scope, err);
}

rt_status
rt_pg_begin(rt_store *store, rt_error *err)
{
	rt_pg_store *s = rt_pg_self(store);

	RT_ASSERT(pthread_mutex_lock(&s->guard) == 0);
	uint64_t hint = s->hint;
	RT_ASSERT(pthread_mutex_unlock(&s->guard) == 0);
	return begin(store, hint, NULL, NULL, err);
}

rt_status
rt_pg_begin_at(rt_store *store, uint64_t project, uint64_t seq, const rt_str *locked, rt_error *err)
{
	if (locked == NULL)
		return begin(store, project, &seq, NULL, err);
	rt_pg_ahead wanted = {.after = seq, .name = *locked};

	return begin(store, project, NULL, &wanted, err);
}

void
rt_pg_cancel(rt_store *store)
{
	rt_pg_call call = {.store = rt_pg_self(store)};

	call.conn = rt_pg_own(call.store);
	if (call.conn != NULL)
		finish(&call);
}

/* --- commit --- */

/* The outcome of a commit after which the connection was lost. */
typedef enum outcome { WRITTEN, NOT_WRITTEN, UNKNOWN } outcome;

/* A statement that was sent without a lock may still be running, or start later. The lock waits
 * for it, and the new fence makes a later one write nothing. Of a transaction with log rows the
 * step tells; of others the fence, if no other transaction has changed it since. */
static outcome
look_up(rt_pg_call *call)
{
	rt_pg_transaction *tx = &call->conn->tx;
	rt_pg_heads h = {0};
	outcome found = UNKNOWN;
	rt_pg_query q;
	PGresult *rows;

	if (tx->now.project == 0)
		return UNKNOWN;
	lock_query(call, tx->now.project, tx->has_log, &q);
	rows = rt_pg_rows(call, &q);
	if (rows != NULL)
		h = heads_in(call, rows, tx->now.project);
	rt_pg_clear(call, rows);
	if (h.project == 0)
		return UNKNOWN;
	if (!tx->has_log)
		return h.fence == tx->now.fence    ? WRITTEN
		       : h.fence == tx->base.fence ? NOT_WRITTEN
						   : UNKNOWN;
	tx->base.fence = tx->now.fence = h.fence;
	q = rt_pg_query_of("SELECT step FROM retake.log WHERE project = $1 AND seq = $2");
	rt_pg_arg_u64(&q, tx->now.project);
	rt_pg_arg_u64(&q, tx->first_seq);
	rows = rt_pg_rows(call, &q);
	if (rows != NULL)
		found = call->store->pq->ntuples(rows) == 1 &&
					rt_str_eq(
						rt_pg_bytes(call, rows, 0, 0),
						rt_str_at((const char *)tx->step, RT_STEP_ID_SIZE))
				? WRITTEN
				: NOT_WRITTEN;
	rt_pg_clear(call, rows);
	return found;
}

/* The commit was sent and the connection lost. */
static outcome
find_outcome(rt_pg_call *call, bool was_locked)
{
	rt_pg_conn *c = call->conn;
	char text[sizeof(c->failure.text)];
	outcome found;

	memcpy(text, c->failure.text, sizeof(text));
	c->tx.is_sent = false;
	found = look_up(call);
	rt_scope_reset(&call->scope);
	if (found == UNKNOWN)
		rt_scope_fail(&call->scope, RT_IO,
			      "%s: the connection was lost during a commit (%s), and the server "
			      "could not be asked whether the change was written; the next command shows "
			      "whether it was",
			      call->store->place, text);
	else if (found == NOT_WRITTEN && was_locked)
		rt_scope_fail(&call->scope, RT_BUSY,
			      "%s: the connection was lost during a commit (%s), and nothing was "
			      "written; try again",
			      call->store->place, text);
	return found;
}

static void
fail_stale(rt_pg_call *call)
{
	rt_scope_fail(&call->scope, RT_CONFLICT,
		      "another program has written to project %llu of %s; try again",
		      (unsigned long long)call->conn->tx.base.project, call->store->place);
}

/* One statement, which is its own transaction. */
static void
commit_alone(rt_pg_call *call)
{
	rt_pg_transaction *tx = &call->conn->tx;
	bool is_written = false;
	rt_pg_query q;
	PGresult *rows;

	for (int attempt = 1; rt_ok(&call->scope) && !is_written; attempt++) {
		if (!rt_pg_append_query(call, &q))
			rt_pg_batch_query(call, tx->now.project, false, &q);
		bool has_names = !call->store->has_no_names;
		if (rt_pg_exchange_shared(call, &q, &rows)) {
			is_written = rt_pg_has_written(call, rows);
			rt_pg_clear(call, rows);
			if (!is_written)
				fail_stale(call);
			return;
		}
		if (!rt_ok(&call->scope)) /* it could not connect */
			return;
		if (call->conn->failure.is_lost) {
			is_written = find_outcome(call, false) == WRITTEN;
			if (!is_written && rt_ok(&call->scope) && attempt == ATTEMPTS)
				rt_scope_fail(&call->scope, RT_BUSY,
					      "%s: the connection was lost %d times, and nothing "
					      "was written; try again",
					      call->store->place, attempt);
		} else if (has_names && call->store->has_no_names) {
			continue; /* it was not executed */
		} else if (strncmp(call->conn->failure.code, "40", 2) != 0 || attempt == ATTEMPTS) {
			if (strcmp(call->conn->failure.code, "RT001") == 0)
				fail_stale(call);
			rt_pg_call_fail(call, q.doing);
		}
	}
}

/* Rows of the log are committed without waiting until they are durable, and made durable by the next
 * transaction of the same pipeline, so that another program gets the lock before. */
static void
commit_locked(rt_pg_call *call)
{
	rt_pg_transaction *tx = &call->conn->tx;
	rt_pg_query queries[3];
	PGresult *rows[3] = {NULL};
	size_t count = 0;
	bool is_later = tx->has_log && tx->batch.count > 0 && !call->store->has_no_names;

	if (!tx->has_log && tx->now.project != 0) {
		call->store->env.random(call->store->env.ctx, &tx->now.fence, sizeof(uint64_t));
		tx->now.fence >>= 2; /* positive, and no other fence is one more */
		rt_pg_add(call, RT_PG_FENCE_SET, tx->now.fence, 0, 0, rt_str_at(NULL, 0),
			  rt_str_at(NULL, 0));
		if (!rt_ok(&call->scope))
			return;
	}
	bool has_batch = tx->batch.count > 0;
	if (has_batch) {
		rt_pg_batch_query(call, tx->now.project, false, &queries[count]);
		queries[count++].is_later = is_later;
	}
	queries[count] = rt_pg_control_of("COMMIT");
	queries[count].name = RT_PG_NAME_COMMIT;
	queries[count++].is_end = true;
	if (is_later)
		rt_pg_flush_query(&queries[count++]);
	bool ok = rt_pg_exchange(call, queries, count, rows);
	bool is_committed = ok || (is_later && rows[0] != NULL); /* the rest of the pipeline may fail */
	if (is_committed)
		tx->is_sent = false;
	if (is_committed && has_batch && !rt_pg_has_written(call, rows[0])) /* the function wrote nothing */
		fail_stale(call);
	else if (call->conn->failure.is_lost || (is_committed && !ok))
		(void)find_outcome(call, true);
	else if (!ok)
		rt_pg_call_fail(call, "committing");
	for (size_t i = 0; i < count; i++)
		rt_pg_clear(call, rows[i]);
}

/* A begin that has only assumed where the log ends, and wrote nothing: its reader must not act on an
 * old state either. */
static void
check_assumed(rt_pg_call *call)
{
	const rt_pg_heads *base = &call->conn->tx.base;
	rt_pg_heads h = rt_pg_read_heads(call, base->project);

	if (rt_ok(&call->scope) &&
	    (h.seq != base->seq || h.body != base->body || h.epoch != base->epoch))
		fail_stale(call);
}

rt_status
rt_pg_commit(rt_store *store, rt_error *err)
{
	rt_pg_call call = rt_pg_writing(store);
	rt_pg_transaction *tx = &call.conn->tx;

	if (!tx->is_sent && tx->batch.count > 0 && !tx->has_log)
		begin_late(&call); /* its outcome could not be found by a step */
	if (rt_ok(&call.scope) && tx->is_stale)
		fail_stale(&call);
	if (tx->batch.count > 0 || tx->is_flushed) {
		if (rt_ok(&call.scope) && tx->is_sent)
			commit_locked(&call);
		else if (rt_ok(&call.scope))
			commit_alone(&call);
	} else if (rt_ok(&call.scope) && !tx->is_sent) {
		check_assumed(&call);
	}
	if (rt_ok(&call.scope) && (tx->batch.count > 0 || tx->is_flushed))
		call.store->has_written = true;
	if (rt_ok(&call.scope))
		learn(call.store, &tx->now);
	else
		forget(call.store, tx->now.project);
	finish(&call);
	return rt_scope_end(&call.scope, err);
}
