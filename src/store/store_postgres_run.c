/* SPDX-License-Identifier: MIT
 *
 * Running statements of the PostgreSQL store one by one, and the status of those that fail. */
#define _POSIX_C_SOURCE 200809L
#include "store/store_postgres_impl.h"

#include <string.h>

/* --- failures --- */

/* What the caller can do about an SQLSTATE; the longest prefix decides. */
static rt_status
status_of(const char *code)
{
	static const struct {
		const char *code;
		rt_status status;
	} codes[] = {
		{"55P03", RT_BUSY},      {"57014", RT_BUSY},    {"57P", RT_BUSY},
		{"40", RT_BUSY},         {"53300", RT_BUSY},    {"53100", RT_FULL},
		{"25006", RT_READ_ONLY}, {"42501", RT_REFUSED}, {"28", RT_REFUSED},
		{"3D000", RT_NOT_FOUND}, {"XX001", RT_CORRUPT}, {"XX002", RT_CORRUPT},
		{"23505", RT_CORRUPT},   {"54", RT_LIMIT},      {"RT001", RT_CONFLICT},
		{"26000", RT_BUSY},      {"42P05", RT_BUSY},
	};

	for (size_t i = 0; i < sizeof(codes) / sizeof(codes[0]); i++)
		if (strncmp(code, codes[i].code, strlen(codes[i].code)) == 0)
			return codes[i].status;
	return RT_IO;
}

void
rt_pg_call_fail(rt_pg_call *call, const char *doing)
{
	const rt_pg_store *s = call->store;
	const rt_pg_conn *c = call->conn;

	/* It was the primary, and another server is now: a new connection finds that. */
	if (strcmp(c->failure.code, "25006") == 0 && s->has_written)
		rt_pg_fail_conn(call, c->failure.text);
	rt_status st = c->failure.is_lost ? RT_BUSY : status_of(c->failure.code);

	if (c->failure.is_lost)
		rt_scope_fail(&call->scope, st,
			      "%s: the connection was lost while %s, and nothing was written; try "
			      "again (%s)",
			      s->place, doing, c->failure.text);
	else if (strcmp(c->failure.code, "55P03") == 0)
		rt_scope_fail(&call->scope, st,
			      "another program has been writing to %s for %d s; try again",
			      s->place, (s->options.busy_ms + 999) / 1000);
	else if (st == RT_BUSY)
		rt_scope_fail(&call->scope, st, "%s: the server interrupted %s (%s); try again",
			      s->place, doing, c->failure.text);
	else if (st == RT_REFUSED)
		rt_scope_fail_advise(&call->scope, st,
				     "see the section on roles in docs/postgresql.md",
				     "%s: no permission for %s (%s)", s->place, doing, c->failure.text);
	else
		rt_scope_fail(&call->scope, st, "%s: the server reported an error while %s (%s%s%s)", s->place,
			      doing, c->failure.code, c->failure.code[0] != 0 ? ": " : "", c->failure.text);
}

void
rt_pg_damaged(rt_pg_call *call, const char *noun, uint64_t number)
{
	rt_scope_fail_advise(&call->scope, RT_CORRUPT, "run retake fsck",
			     "%s is damaged: %s %llu is missing or has a wrong checksum",
			     call->store->place, noun, (unsigned long long)number);
}

/* --- statements --- */

PGresult *
rt_pg_rows(rt_pg_call *call, const rt_pg_query *q)
{
	int64_t until = rt_clock_ms() + call->store->options.busy_ms;
	PGresult *rows = NULL;

	while (rt_ok(&call->scope)) {
		bool is_sent = call->conn->tx.is_open && call->conn->tx.is_sent;

		if (!is_sent)
			RT_TRY(&call->scope,
			       rt_pg_connect(call->store, call->conn, &call->scope.error));
		bool has_names = !call->store->has_no_names;
		if (!rt_ok(&call->scope) || rt_pg_exchange(call, q, 1, &rows))
			break;
		if (!is_sent && has_names && call->store->has_no_names)
			continue; /* it was not executed */
		if (is_sent || !call->conn->failure.is_lost || rt_clock_ms() >= until)
			rt_pg_call_fail(call, q->doing);
		if (is_sent) /* the server has ended the transaction */
			call->conn->tx.status = call->scope.status;
	}
	return rows;
}

void
rt_pg_script(rt_pg_call *call, const char *sql, const char *doing)
{
	const rt_pq *pq = call->store->pq;
	int64_t until = rt_clock_ms() + call->store->options.busy_ms + RT_PG_ANSWER_MS;
	bool failed = false, ok;
	PGresult *one = NULL;

	RT_TRY(&call->scope, rt_pg_connect(call->store, call->conn, &call->scope.error));
	if (!rt_ok(&call->scope))
		return;
	call->conn->failure.is_lost = false;
	ok = pq->exitPipelineMode(call->conn->pg) == 1 && pq->sendQuery(call->conn->pg, sql) == 1;
	if (!ok)
		rt_pg_fail_conn(call, NULL);
	ok = ok && rt_pg_send_rest(call, until);
	while (ok && (ok = rt_pg_receive(call, until, &one)) && one != NULL) {
		if (pq->resultStatus(one) == PGRES_FATAL_ERROR && !failed) {
			failed = true;
			rt_pg_keep_failure(call, one, &call->conn->failure);
		}
		pq->clear(one);
	}
	if (!ok || failed)
		rt_pg_call_fail(call, doing);
	/* The script's own transaction, if it failed in the middle of it. */
	if (call->conn->pg != NULL && (pq->transactionStatus(call->conn->pg) != PQTRANS_IDLE ||
				       pq->enterPipelineMode(call->conn->pg) == 0))
		rt_pg_disconnect(call->store, call->conn);
}
