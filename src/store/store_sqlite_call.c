/* SPDX-License-Identifier: MIT
 *
 * Calls of the SQLite store: the connection of a call, attempts of reads, checks of writes, and the
 * last numbers of a project. */
#include "store/store_sqlite_impl.h"

#include <unistd.h>

enum { READ_ATTEMPTS = 32 /* of a read without locks; after a few it takes locks */ };

rt_status
rt_sqlite_refuse_fork(const rt_sqlite_store *s, rt_error *err)
{
	if (s->process == getpid())
		return RT_OK;
	return rt_fail(err, RT_REFUSED,
		       "%s was opened by the process that this one was forked from; open it "
		       "again",
		       s->place);
}

/* --- reading --- */

rt_sqlite_call
rt_sqlite_reading(rt_store *store)
{
	return rt_sqlite_call_on(rt_sqlite_self(store), NULL);
}

static rt_sqlite_conn *
acquire_reader(rt_sqlite_store *s)
{
	RT_ASSERT(pthread_mutex_lock(&s->guard) == 0);
	for (;;) {
		for (int i = 0; i < RT_SQLITE_READERS_MAX; i++) {
			if (s->readers[i].used)
				continue;
			s->readers[i].used = true;
			RT_ASSERT(pthread_mutex_unlock(&s->guard) == 0);
			return &s->readers[i];
		}
		RT_ASSERT(pthread_cond_wait(&s->free, &s->guard) == 0);
	}
}

static void
release_reader(rt_sqlite_store *s, rt_sqlite_conn *c)
{
	RT_ASSERT(pthread_mutex_lock(&s->guard) == 0);
	c->used = false;
	RT_ASSERT(pthread_cond_broadcast(&s->free) == 0);
	RT_ASSERT(pthread_mutex_unlock(&s->guard) == 0);
}

static void
begin_attempt(rt_sqlite_call *call)
{
	rt_sqlite_store *s = call->store;
	rt_scope *scope = &call->scope;
	rt_sqlite_conn *c;

	rt_scope_reset(scope);
	RT_TRY(scope, rt_sqlite_refuse_fork(s, &scope->error));
	if (!rt_ok(scope))
		return;
	if (rt_sqlite_is_owner(s) && s->writer.db != NULL) {
		call->conn = &s->writer;
		return;
	}
	c = acquire_reader(s);
	if (c->immutable && rt_sqlite_conn_changed(s, c))
		rt_sqlite_conn_close(c); /* another process writes to it: open it again */
	if (c->db == NULL)
		RT_TRY(scope, rt_sqlite_conn_open(s, c, false, &scope->error));
	if (rt_ok(scope)) {
		call->conn = c;
	} else {
		c->immutable = false;
		release_reader(s, c);
	}
}

/* Releases the connection. True: the data read is invalid and may be read again. */
static bool
end_attempt(rt_sqlite_call *call)
{
	rt_sqlite_store *s = call->store;
	rt_sqlite_conn *c = call->conn;
	bool lost;

	call->conn = NULL;
	if (c == NULL || c == &s->writer)
		return false;
	lost = !call->is_ended && c->immutable && rt_sqlite_conn_changed(s, c);
	if (lost) {
		c->losses++;
		rt_scope_reset(&call->scope);
		rt_scope_fail(&call->scope, RT_BUSY,
			      "%s was modified while it was being read without a lock; try again",
			      s->place);
	} else if (s->options.read_only && !c->immutable && call->scope.status == RT_READ_ONLY) {
		/* With locks, but the log's index was removed by the process that created it. */
		rt_sqlite_conn_close(c);
		lost = true;
	}
	release_reader(s, c);
	return lost && call->attempts < READ_ATTEMPTS;
}

bool
rt_sqlite_attempt(rt_sqlite_call *call)
{
	if (call->attempts > 0 && !end_attempt(call))
		return false;
	call->attempts++;
	begin_attempt(call);
	return rt_ok(&call->scope);
}

/* --- writing --- */

rt_sqlite_call
rt_sqlite_writing_store(rt_store *store)
{
	rt_sqlite_store *s = rt_sqlite_self(store);
	rt_sqlite_call call = rt_sqlite_call_on(s, &s->writer);

	RT_ASSERT(rt_sqlite_is_owner(s));
	/* SQLite ends some transactions by itself when a write fails, and others then contain half
	 * of a call. Neither may be committed or written to. */
	if (s->tx_status != RT_OK)
		rt_scope_fail(&call.scope, s->tx_status,
			      "%s: not written, because an earlier write of the same step failed "
			      "(%s)",
			      s->place, rt_status_word(s->tx_status));
	return call;
}

uint64_t
rt_sqlite_last_project(rt_sqlite_call *call)
{
	return rt_sqlite_number(call, SQL_PROJECT_LAST, (rt_sqlite_args){0});
}

rt_sqlite_call
rt_sqlite_writing(rt_store *store, uint64_t project)
{
	rt_sqlite_store *s = rt_sqlite_self(store);
	rt_sqlite_call call = rt_sqlite_writing_store(store);

	if (project == 0 || s->tx_found != project) {
		if (!rt_sqlite_any(&call, SQL_PROJECT_EXISTS, (rt_sqlite_args){.key = project}))
			rt_store_no_project(&call.scope, project);
		if (rt_ok(&call.scope))
			s->tx_found = project;
	}
	return call;
}

/* --- heads --- */

uint64_t
rt_sqlite_last_number(rt_sqlite_call *call, rt_store_table table, uint64_t project)
{
	static const struct {
		rt_sqlite_sql head;
		const char *noun;
	} tables[] = {
		[RT_STORE_LOG] = {SQL_LOG_HEAD, "log row"},
		[RT_STORE_BODIES] = {SQL_BODY_HEAD, "body"},
		[RT_STORE_NODES] = {SQL_NODE_HEAD, "node"},
	};
	uint64_t number = 0;
	rt_sqlite_query q;

	RT_ASSERT(table >= RT_STORE_LOG && table <= RT_STORE_NODES);
	q = rt_sqlite_select(call, tables[table].head,
			     rt_sqlite_range(project, 0, RT_STORE_NUMBER_MAX));
	if (rt_sqlite_next(&q)) {
		number = (uint64_t)sqlite3_column_int64(q.stmt, 0) & RT_STORE_NUMBER_MAX;
		if (sqlite3_column_int64(q.stmt, 1) != 1)
			rt_sqlite_damaged(call, tables[table].noun, number);
	}
	rt_sqlite_end(&q);
	return number;
}

void
rt_sqlite_cache_heads(rt_sqlite_call *call, uint64_t project)
{
	rt_sqlite_store *s = call->store;

	if (!rt_ok(&call->scope) || s->tx_project == project)
		return;
	s->tx_project = 0;
	s->tx_head = rt_sqlite_last_number(call, RT_STORE_LOG, project);
	s->tx_body_head = rt_sqlite_last_number(call, RT_STORE_BODIES, project);
	if (rt_ok(&call->scope))
		s->tx_project = project;
}

/* If an inner page is damaged, a search for added rows may go astray. */
void
rt_sqlite_check_added(rt_sqlite_call *call)
{
	const rt_sqlite_store *s = call->store;

	if (rt_sqlite_last_number(call, RT_STORE_LOG, s->tx_project) != s->tx_head)
		rt_sqlite_damaged(call, "log row", s->tx_head);
	if (rt_sqlite_last_number(call, RT_STORE_BODIES, s->tx_project) != s->tx_body_head)
		rt_sqlite_damaged(call, "body", s->tx_body_head);
}
