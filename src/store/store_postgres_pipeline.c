/* SPDX-License-Identifier: MIT
 *
 * Pipelines of the PostgreSQL store: several statements, of one transaction or of several, are sent at once,
 * and one wait receives all results. */
#define _POSIX_C_SOURCE 200809L
#include "store/store_postgres_impl.h"

#include <poll.h>
#include <stdio.h> /* snprintf */
#include <string.h>

/* --- failures --- */

void
rt_pg_disconnect(rt_pg_store *s, rt_pg_conn *c)
{
	s->pq->finish(c->pg);
	c->pg = NULL;
	c->named = 0;
}

/* A message in one line. */
static void
keep_text(rt_pg_failure *to, const char *text)
{
	size_t size = 0;

	for (; *text != 0 && size + 1 < sizeof(to->text); text++)
		if (*text != '\n')
			to->text[size++] = *text == '\t' ? ' ' : *text;
		else if (text[1] != 0 && text[1] != '\n')
			to->text[size++] = ' ';
	to->text[size] = 0;
}

void
rt_pg_fail_conn(rt_pg_call *call, const char *text)
{
	rt_pg_conn *c = call->conn;

	call->store->losses++;
	c->failure.is_lost = true;
	c->failure.code[0] = 0;
	keep_text(&c->failure, text != NULL ? text : call->store->pq->errorMessage(c->pg));
	rt_pg_disconnect(call->store, c);
}

void
rt_pg_keep_failure(rt_pg_call *call, const PGresult *result, rt_pg_failure *to)
{
	const rt_pq *pq = call->store->pq;
	const char *code = pq->resultErrorField(result, PG_DIAG_SQLSTATE);
	const char *text = pq->resultErrorField(result, PG_DIAG_MESSAGE_PRIMARY);

	(void)snprintf(to->code, sizeof(to->code), "%s", code == NULL ? "" : code);
	keep_text(to, text != NULL ? text : pq->errorMessage(call->conn->pg));
}

/* --- sending and receiving --- */

/* The statement has waited too long, probably for a lock. Its result follows in any case. */
static void
cancel(rt_pg_call *call)
{
	const rt_pq *pq = call->store->pq;
	PGcancel *request = pq->getCancel(call->conn->pg);
	char ignored[256];

	call->conn->has_busy_limit = false;
	call->conn->was_cancelled = true;
	if (request != NULL)
		(void)pq->cancel(request, ignored, sizeof(ignored));
	pq->freeCancel(request);
}

/* Waits until the socket has input or, if wanted, accepts output. */
static bool
wait_socket(rt_pg_call *call, bool output, int64_t until_ms)
{
	struct pollfd fd = {.fd = call->store->pq->socket(call->conn->pg),
			    .events = (short)(output ? POLLIN | POLLOUT : POLLIN)};
	rt_pg_conn *c = call->conn;
	int64_t left = until_ms - rt_clock_ms() - (c->has_busy_limit ? RT_PG_ANSWER_MS : 0);
	int rc = poll(&fd, 1, call->is_unlimited ? 60000 : left > 0 ? (int)left : 0);

	if (rc == 0 && c->has_busy_limit) {
		cancel(call);
		return true;
	}
	if (rc == 0 && !call->is_unlimited) {
		rt_pg_fail_conn(call, "the server does not answer");
		return false;
	}
	if (call->store->pq->consumeInput(call->conn->pg) == 0) {
		rt_pg_fail_conn(call, NULL);
		return false;
	}
	return true;
}

bool
rt_pg_send_rest(rt_pg_call *call, int64_t until_ms)
{
	int rc;

	while ((rc = call->store->pq->flush(call->conn->pg)) > 0)
		if (!wait_socket(call, true, until_ms))
			return false;
	if (rc < 0)
		rt_pg_fail_conn(call, NULL);
	return rc == 0;
}

/* The next result; *out NULL: the end of a statement's results. */
bool
rt_pg_receive(rt_pg_call *call, int64_t until_ms, PGresult **out)
{
	const rt_pq *pq = call->store->pq;

	while (pq->isBusy(call->conn->pg))
		if (!wait_socket(call, false, until_ms))
			return false;
	*out = pq->getResult(call->conn->pg);
	return true;
}

enum { EXCHANGED_MAX = 4 };

/* One statement of a pipeline. */
typedef struct sent {
	const rt_pg_query *query;
	PGresult **result;
	rt_pg_failure *failure;
	bool ends;        /* its transaction ends after it */
	bool is_later;    /* it need not be durable before one after it */
} sent;

/* The state of receiving. */
typedef struct answers {
	bool ok;          /* the connection */
	bool has_failed;  /* the transaction */
	bool any_failed;
	int64_t until_ms;
} answers;

static rt_pg_name
name_of(const rt_pg_call *call, const sent *one)
{
	rt_pg_name name = one->is_later ? one->query->later_name : one->query->name;

	return call->store->has_no_names ? RT_PG_NAME_NONE : name;
}

static const char *
sql_of(const sent *one)
{
	return one->is_later ? one->query->later_sql : one->query->sql;
}

/* The number changes with the statement: versions may share a connection of a pooler that was not noticed. */
static const char *const names[] = {
	[RT_PG_NAME_APPEND_ONE] = "retake_append_one_3", [RT_PG_NAME_APPEND] = "retake_append_3",
	[RT_PG_NAME_WRITE] = "retake_write_1",           [RT_PG_NAME_LOCK] = "retake_lock_1",
	[RT_PG_NAME_HEADS] = "retake_heads_1",           [RT_PG_NAME_LOG] = "retake_log_1",
	[RT_PG_NAME_IDENTITY] = "retake_identity_1",     [RT_PG_NAME_WATCH] = "retake_watch_1",
	[RT_PG_NAME_WATCH_SIDE] = "retake_watch_side_1", [RT_PG_NAME_SIDE] = "retake_side_1",
	[RT_PG_NAME_APPEND_ONE_LATER] = "retake_append_one_later_3",
	[RT_PG_NAME_APPEND_LATER] = "retake_append_later_3",
	[RT_PG_NAME_WRITE_LATER] = "retake_write_later_1",
	[RT_PG_NAME_FLUSH] = "retake_flush_1",
	[RT_PG_NAME_BEGIN] = "retake_begin_1",           [RT_PG_NAME_COMMIT] = "retake_commit_1",
	[RT_PG_NAME_LOCK_ALONE] = "retake_lock_alone_1", [RT_PG_NAME_SIDE_AHEAD] = "retake_side_ahead_1",
};

/* Prepares those that are not prepared on this connection. Returns their bits. */
static unsigned
send_names(rt_pg_call *call, const sent *all, size_t count, bool *ok)
{
	const rt_pq *pq = call->store->pq;
	unsigned named = 0;

	for (size_t i = 0; *ok && i < count; i++) {
		const rt_pg_query *q = all[i].query;
		rt_pg_name name = name_of(call, &all[i]);

		if (name == RT_PG_NAME_NONE || ((call->conn->named | named) & 1u << name) != 0)
			continue;
		*ok = pq->sendPrepare(call->conn->pg, names[name], sql_of(&all[i]), q->count, q->types) == 1;
		named |= 1u << name;
	}
	return named;
}

static bool
send_one(rt_pg_call *call, const sent *one)
{
	static const int binary[RT_PG_ARGS_MAX] = {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1};
	const rt_pq *pq = call->store->pq;
	PGconn *pg = call->conn->pg;
	const rt_pg_query *q = one->query;
	rt_pg_name name = name_of(call, one);

	return (name != RT_PG_NAME_NONE
			? pq->sendQueryPrepared(pg, names[name], q->count, q->values, q->sizes, binary, 1)
			: pq->sendQueryParams(pg, sql_of(one), q->count, q->types, q->values, q->sizes, binary,
					      1)) == 1 &&
	       (!one->ends || pq->pipelineSync(pg) == 1);
}

/* The results of one statement, or (NULL) of preparing one. */
static void
receive_one(rt_pg_call *call, answers *a, const sent *one, rt_pg_failure *failure)
{
	const rt_pq *pq = call->store->pq;
	PGresult *result = NULL;

	while (a->ok && (a->ok = rt_pg_receive(call, a->until_ms, &result)) && result != NULL) {
		ExecStatusType st = pq->resultStatus(result);

		if (st == PGRES_FATAL_ERROR && !a->has_failed) {
			a->has_failed = a->any_failed = true;
			if (failure->code[0] == 0) /* else a transaction of the same pipeline has failed because of that */
				rt_pg_keep_failure(call, result, failure);
		}
		if (one != NULL && st == PGRES_TUPLES_OK && *one->result == NULL)
			*one->result = result;
		else
			pq->clear(result);
	}
}

static void
receive_end(rt_pg_call *call, answers *a)
{
	const rt_pq *pq = call->store->pq;
	PGresult *result = NULL;

	a->ok = a->ok && rt_pg_receive(call, a->until_ms, &result);
	if (a->ok && (result == NULL || pq->resultStatus(result) != PGRES_PIPELINE_SYNC)) {
		rt_pg_fail_conn(call, NULL);
		a->ok = false;
	}
	pq->clear(result);
	a->has_failed = false;
}

/* The connection was lost before the transactions from this statement on have ended. */
static void
lose(rt_pg_call *call, const sent *all, size_t from, size_t count)
{
	for (size_t i = from; i < count; i++) {
		call->store->pq->clear(*all[i].result);
		*all[i].result = NULL;
		*all[i].failure = call->conn->failure;
	}
}

/* Adds the cause of a failed transaction, from its first statement on. */
static void
explain(rt_pg_call *call, const sent *all, size_t from, size_t to)
{
	rt_pg_failure *failure = all[to - 1].failure;

	for (size_t i = from; i < to; i++) {
		call->store->pq->clear(*all[i].result);
		*all[i].result = NULL;
	}
	/* The server says why it ends a connection before it does. */
	if (strncmp(failure->code, "57P", 3) == 0) {
		rt_pg_fail_conn(call, failure->text);
		lose(call, all, from, to);
	}
	if (call->conn->was_cancelled && strcmp(failure->code, "57014") == 0)
		memcpy(failure->code, "55P03", sizeof(failure->code)); /* as the server's own limit */
	if (strcmp(failure->code, "26000") == 0 || strcmp(failure->code, "42P05") == 0)
		call->store->has_no_names = true; /* a pooler has changed the server connection */
}

/* The server sends the results of a transaction at its end. */
static bool
is_limited(const sent *all, size_t from, size_t count)
{
	bool is = all[from].query->is_cancelled;

	while (!is && !all[from].ends && ++from < count)
		is = all[from].query->is_cancelled;
	return is;
}

/* wait_ms: how long each transaction may take before it is cancelled. False: one has failed. */
static bool
exchange(rt_pg_call *call, const sent *all, size_t count, int64_t wait_ms, bool is_group)
{
	rt_pg_conn *c = call->conn;
	answers a = {.ok = true, .until_ms = rt_clock_ms() + wait_ms + RT_PG_ANSWER_MS};
	bool any_cancelled = false;
	size_t from = 0;

	c->has_busy_limit = c->was_cancelled = false;
	for (size_t i = 0; i < count; i++) {
		*all[i].result = NULL;
		*all[i].failure = (rt_pg_failure){0};
	}
	if (c->pg == NULL) {
		c->failure = (rt_pg_failure){.is_lost = true};
		lose(call, all, 0, count);
		return false;
	}
	c->has_busy_limit = is_group || is_limited(all, 0, count);
	unsigned preparing = send_names(call, all, count, &a.ok);
	for (size_t i = 0; a.ok && i < count; i++)
		a.ok = send_one(call, &all[i]);
	if (!a.ok)
		rt_pg_fail_conn(call, NULL);
	a.ok = a.ok && rt_pg_send_rest(call, a.until_ms);
	for (unsigned i = 0; a.ok && preparing >> i != 0; i++)
		if ((preparing >> i & 1u) != 0) {
			receive_one(call, &a, NULL, all[0].failure);
			c->named |= a.has_failed || !a.ok ? 0 : 1u << i;
		}
	for (size_t i = 0; a.ok && i < count; i++) {
		c->has_busy_limit = !c->was_cancelled && (is_group || is_limited(all, i, count));
		receive_one(call, &a, &all[i], all[i].failure);
		if (!all[i].ends)
			continue;
		bool has_failed = a.has_failed;
		receive_end(call, &a);
		if (!a.ok)
			break;
		any_cancelled = any_cancelled || c->was_cancelled;
		if (has_failed)
			explain(call, all, from, i + 1);
		a.ok = c->pg != NULL;
		from = i + 1;
		if (is_group) {
			c->was_cancelled = false;
			a.until_ms = rt_clock_ms() + wait_ms + RT_PG_ANSWER_MS;
		}
	}
	if (c->pg == NULL)
		lose(call, all, from, count);
	c->was_cancelled = any_cancelled;
	return c->pg != NULL && !a.any_failed;
}

bool
rt_pg_exchange(rt_pg_call *call, const rt_pg_query *queries, size_t count, PGresult **results)
{
	PGresult *ignored[EXCHANGED_MAX];
	rt_pg_query identities[EXCHANGED_MAX];
	sent all[2 * EXCHANGED_MAX];
	size_t sending = 0;
	bool ok;

	RT_ASSERT(count > 0 && count <= EXCHANGED_MAX);
	for (size_t i = 0; i < count; i++) {
		ignored[i] = NULL;
		if (rt_pg_identity_query(call, &queries[i], &identities[i]))
			all[sending++] = (sent){&identities[i], &ignored[i], &call->conn->failure, false, false};
		all[sending++] = (sent){&queries[i], &results[i], &call->conn->failure,
				       i + 1 == count || queries[i].is_end, queries[i].is_later};
	}
	ok = exchange(call, all, sending, call->store->options.busy_ms, false);
	for (size_t i = 0; i < count; i++)
		call->store->pq->clear(ignored[i]);
	return ok;
}

/* Is it known that the statement has changed something? */
static bool
has_written(rt_pg_call *call, const rt_pg_member *m)
{
	return m->result != NULL && rt_pg_has_written(call, m->result);
}

/* After a group whose last transaction has written nothing, or may have been told not to wait for a
 * standby, so that its end did not make the others durable. */
static void
make_durable(rt_pg_call *call, rt_pg_member *const *group, size_t count, const rt_pg_query *flush)
{
	rt_pg_failure failure;
	PGresult *result;
	sent one = {flush, &result, &failure, true, false};
	bool is_needed = false;

	for (size_t i = 0; i < count; i++)
		is_needed = is_needed || has_written(call, group[i]);
	if (!is_needed)
		return;
	bool ok = exchange(call, &one, 1, call->store->options.busy_ms, false);
	call->store->pq->clear(result);
	for (size_t i = 0; !ok && i < count; i++)
		if (has_written(call, group[i])) {
			call->store->pq->clear(group[i]->result);
			group[i]->result = NULL;
			group[i]->conn->failure = failure;
			group[i]->conn->failure.is_lost = true; /* its outcome is not known */
		}
}

void
rt_pg_exchange_group(rt_pg_call *call, rt_pg_member *const *group, size_t count, const rt_pg_query *flush)
{
	sent all[2 * RT_PG_GROUP_MAX];
	PGresult *ignored[RT_PG_GROUP_MAX];
	size_t sending = 0;

	RT_ASSERT(count > 0 && count <= RT_PG_GROUP_MAX);
	for (size_t i = 0; i < count; i++) {
		rt_pg_member *m = group[i];

		ignored[i] = NULL;
		if (m->has_identity)
			all[sending++] = (sent){&m->identity, &ignored[i], &m->conn->failure, false, false};
		all[sending++] = (sent){m->query, &m->result, &m->conn->failure, true, i + 1 < count};
	}
	(void)exchange(call, all, sending, count > 1 ? RT_PG_GROUP_MS : call->store->options.busy_ms,
		       count > 1);
	for (size_t i = 0; i < count; i++)
		call->store->pq->clear(ignored[i]);
	if (count > 1 && (!has_written(call, group[count - 1]) || call->conn->was_cancelled))
		make_durable(call, group, count, flush);
}
