/* SPDX-License-Identifier: MIT
 *
 * Commits of several threads that share a pipeline of the PostgreSQL store.
 *
 * Each member is a statement that is a separate transaction, and may fail alone. All but the last are
 * committed without waiting until they are durable (synchronous_commit = off in that transaction); the
 * end of the last one writes the server's log up to itself, and with it the earlier ones. No member
 * returns before. Thus a group costs one round trip, one wait for the disk, and one process of the
 * server, instead of one for each member.
 *
 * A thread that finds no free slot for a group waits; whoever is free next sends all that have
 * arrived. A member that waits for a lock keeps the others waiting, so it is cancelled soon, and
 * repeated alone. */
#include "store/store_postgres_impl.h"

#include <string.h>

/* It writes nothing, but is a commit that has to be durable. */
void
rt_pg_flush_query(rt_pg_query *out)
{
	*out = rt_pg_control_of("SELECT 1::bigint, pg_logical_emit_message(true, 'retake', '')::text");
	out->name = RT_PG_NAME_FLUSH;
}

/* With the guard; NULL: none. */
static rt_pg_conn *
free_slot(rt_pg_store *s)
{
	for (int i = 0; i < RT_PG_GROUPS_MAX; i++)
		if (!s->conns[RT_PG_SLOTS + i].used)
			return &s->conns[RT_PG_SLOTS + i];
	return NULL;
}

/* This member and those in the queue, with the guard. */
static size_t
take_group(rt_pg_store *s, rt_pg_member *mine, rt_pg_member **group)
{
	size_t count = 0;

	group[count++] = mine;
	for (; s->queue != NULL && count < RT_PG_GROUP_MAX; s->queue = s->queue->next)
		group[count++] = s->queue;
	return count;
}

/* Lets the thread of a member continue. A member exists only until then, but its slot stays. */
static void
wake(rt_pg_member *m, bool *flag)
{
	rt_pg_conn *conn = m->conn;

	RT_ASSERT(pthread_mutex_lock(&conn->lock) == 0);
	*flag = true;
	RT_ASSERT(pthread_mutex_unlock(&conn->lock) == 0);
	RT_ASSERT(pthread_cond_signal(&conn->moved) == 0);
}

/* The slot is given to the first of those that have arrived meanwhile. */
static void
send_group(rt_pg_store *s, rt_pg_conn *slot, rt_pg_member *const *group, size_t count)
{
	rt_pg_call call = {.store = s, .conn = slot};
	rt_error err;
	rt_status st = rt_pg_connect(s, slot, &err);
	rt_pg_query flush;

	rt_pg_flush_query(&flush);
	if (st == RT_OK)
		rt_pg_exchange_group(&call, group, count, &flush);
	RT_ASSERT(pthread_mutex_lock(&s->guard) == 0);
	rt_pg_member *next = s->queue;
	if (next != NULL) {
		s->queue = next->next;
		next->slot = slot;
	}
	RT_ASSERT(pthread_mutex_unlock(&s->guard) == 0);
	if (next != NULL)
		wake(next, &next->is_leader);
	else
		rt_pg_release(s, slot);
	for (size_t i = count; i-- > 0;) {
		group[i]->status = st;
		group[i]->was_grouped = count > 1;
		if (st != RT_OK)
			group[i]->error = err;
		if (i > 0)
			wake(group[i], &group[i]->is_done);
	}
}

/* Until another thread has sent it, or this one is to send. */
static void
wait_turn(rt_pg_member *mine)
{
	RT_ASSERT(pthread_mutex_lock(&mine->conn->lock) == 0);
	while (!mine->is_done && !mine->is_leader)
		RT_ASSERT(pthread_cond_wait(&mine->conn->moved, &mine->conn->lock) == 0);
	RT_ASSERT(pthread_mutex_unlock(&mine->conn->lock) == 0);
}

static void
join_group(rt_pg_store *s, rt_pg_member *mine)
{
	rt_pg_member *group[RT_PG_GROUP_MAX], **end = &s->queue;
	size_t count = 0;

	RT_ASSERT(pthread_mutex_lock(&s->guard) == 0);
	mine->slot = free_slot(s);
	if (mine->slot != NULL) {
		mine->slot->used = true;
		group[count++] = mine;
	} else {
		while (*end != NULL)
			end = &(*end)->next;
		*end = mine;
	}
	RT_ASSERT(pthread_mutex_unlock(&s->guard) == 0);
	if (count == 0) {
		wait_turn(mine);
		if (mine->is_done)
			return;
		RT_ASSERT(pthread_mutex_lock(&s->guard) == 0);
		count = take_group(s, mine, group);
		RT_ASSERT(pthread_mutex_unlock(&s->guard) == 0);
	}
	send_group(s, mine->slot, group, count);
}

static bool
exchange_alone(rt_pg_call *call, const rt_pg_query *q, PGresult **result)
{
	RT_TRY(&call->scope, rt_pg_connect(call->store, call->conn, &call->scope.error));
	return rt_ok(&call->scope) && rt_pg_exchange(call, q, 1, result);
}

bool
rt_pg_exchange_shared(rt_pg_call *call, const rt_pg_query *q, PGresult **result)
{
	rt_pg_store *s = call->store;
	rt_pg_member mine = {.query = q, .conn = call->conn};

	if (s->has_no_names) /* a pooler, which may distribute the transactions */
		return exchange_alone(call, q, result);
	mine.has_identity = rt_pg_identity_query(call, q, &mine.identity);
	join_group(s, &mine);
	if (mine.status != RT_OK)
		rt_scope_fail_as(&call->scope, mine.status, &mine.error);
	if (mine.result == NULL && mine.was_grouped && !call->conn->failure.is_lost && strcmp(call->conn->failure.code, "55P03") == 0)
		return exchange_alone(call, q, result);
	*result = mine.result;
	return mine.result != NULL;
}
