/* SPDX-License-Identifier: MIT
 *
 * Statements of the PostgreSQL store: their parameters, failures and results. */
#define _POSIX_C_SOURCE 200809L
#include "store/store_postgres_impl.h"

#include <stdio.h> /* snprintf */
#include <string.h>

enum { BIGINT = 20, BYTEA = 17, TEXT = 25, BIGINTS = 1016, BYTEAS = 1001 }; /* numbers of types */

/* --- parameters --- */

void
rt_pg_put_u32(rt_buf *buf, uint32_t number)
{
	for (int shift = 24; shift >= 0; shift -= 8)
		rt_buf_add_byte(buf, (char)(number >> shift));
}

void
rt_pg_put_u64(rt_buf *buf, uint64_t number)
{
	rt_pg_put_u32(buf, (uint32_t)(number >> 32));
	rt_pg_put_u32(buf, (uint32_t)number);
}

void
rt_pg_put_array(rt_buf *buf, size_t count, bool is_bytes)
{
	rt_pg_put_u32(buf, count > 0 ? 1 : 0); /* dimensions */
	rt_pg_put_u32(buf, 0);                 /* without NULL */
	rt_pg_put_u32(buf, is_bytes ? BYTEA : BIGINT);
	if (count > 0) {
		rt_pg_put_u32(buf, (uint32_t)count);
		rt_pg_put_u32(buf, 1); /* the first index */
	}
}

static void
add_arg(rt_pg_query *q, Oid type, rt_str value)
{
	RT_ASSERT(q->count < RT_PG_ARGS_MAX);
	q->types[q->count] = type;
	q->values[q->count] = value.size > 0 ? value.ptr : ""; /* a NULL pointer is SQL's NULL */
	q->sizes[q->count] = (int)value.size;
	q->count++;
}

void
rt_pg_arg_u64(rt_pg_query *q, uint64_t number)
{
	char *to = q->numbers[q->count];

	for (int i = 0; i < 8; i++)
		to[i] = (char)(number >> (56 - 8 * i));
	add_arg(q, BIGINT, rt_str_at(to, 8));
}

void
rt_pg_arg_bytes(rt_pg_query *q, rt_str bytes)
{
	add_arg(q, BYTEA, bytes);
}

void
rt_pg_arg_text(rt_pg_query *q, rt_str text)
{
	add_arg(q, TEXT, text);
}

uint64_t
rt_pg_query_project(const rt_pg_query *q)
{
	uint64_t number = 0;

	if (q->is_of_list || q->count == 0 || q->types[0] != BIGINT)
		return 0;
	for (int i = 0; i < 8; i++)
		number = number << 8 | (unsigned char)q->numbers[0][i];
	return number;
}

void
rt_pg_arg_array(rt_pg_query *q, rt_str array, bool is_bytes)
{
	add_arg(q, is_bytes ? BYTEAS : BIGINTS, array);
}

/* --- failures --- */

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
rt_pg_clear(rt_pg_call *call, PGresult *rows)
{
	call->store->pq->clear(rows);
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

/* --- results --- */

rt_str
rt_pg_bytes(rt_pg_call *call, const PGresult *rows, int row, int column)
{
	const rt_pq *pq = call->store->pq;

	return rt_str_at(pq->getvalue(rows, row, column), (size_t)pq->getlength(rows, row, column));
}

uint64_t
rt_pg_u64(rt_pg_call *call, const PGresult *rows, int row, int column)
{
	rt_str bytes = rt_pg_bytes(call, rows, row, column);
	uint64_t number = 0;

	for (size_t i = 0; i < bytes.size && i < 8; i++)
		number = number << 8 | (unsigned char)bytes.ptr[i];
	return number;
}

bool
rt_pg_has_written(rt_pg_call *call, const PGresult *rows)
{
	return call->store->pq->ntuples(rows) == 1 && rt_pg_u64(call, rows, 0, 0) == 1;
}

bool
rt_pg_bool(rt_pg_call *call, const PGresult *rows, int row, int column)
{
	return rt_pg_u64(call, rows, row, column) == 1;
}
