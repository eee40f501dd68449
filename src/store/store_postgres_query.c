/* SPDX-License-Identifier: MIT
 *
 * Statements of the PostgreSQL store and their results, through libpq's pipeline mode: several
 * statements are sent at once, and one wait receives all results. */
#define _POSIX_C_SOURCE 200809L
#include "store/store_postgres_impl.h"

#include <poll.h>
#include <stdio.h> /* snprintf */
#include <string.h>

enum { BIGINT = 20, BYTEA = 17, TEXT = 25, BIGINTS = 1016, BYTEAS = 1001 }; /* numbers of types */

enum { EXCHANGED_MAX = 4 };

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
keep_text(rt_pg_conn *c, const char *text)
{
	size_t size = 0;

	for (; *text != 0 && size + 1 < sizeof(c->text); text++)
		if (*text != '\n')
			c->text[size++] = *text == '\t' ? ' ' : *text;
		else if (text[1] != 0 && text[1] != '\n')
			c->text[size++] = ' ';
	c->text[size] = 0;
}

static void
fail_conn(rt_pg_call *call, const char *text)
{
	rt_pg_conn *c = call->conn;

	c->is_lost = true;
	c->code[0] = 0;
	keep_text(c, text != NULL ? text : call->store->pq->errorMessage(c->pg));
	rt_pg_disconnect(call->store, c);
}

static void
keep_failure(rt_pg_call *call, const PGresult *result)
{
	const rt_pq *pq = call->store->pq;
	const char *code = pq->resultErrorField(result, PG_DIAG_SQLSTATE);
	const char *text = pq->resultErrorField(result, PG_DIAG_MESSAGE_PRIMARY);

	(void)snprintf(call->conn->code, sizeof(call->conn->code), "%s", code == NULL ? "" : code);
	keep_text(call->conn, text != NULL ? text : pq->errorMessage(call->conn->pg));
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
	if (strcmp(c->code, "25006") == 0 && s->has_written)
		fail_conn(call, c->text);
	rt_status st = c->is_lost ? RT_BUSY : status_of(c->code);

	if (c->is_lost)
		rt_scope_fail(&call->scope, st,
			      "%s: the connection was lost while %s, and nothing was written; try "
			      "again (%s)",
			      s->place, doing, c->text);
	else if (strcmp(c->code, "55P03") == 0)
		rt_scope_fail(&call->scope, st,
			      "another program has been writing to %s for %d s; try again",
			      s->place, (s->options.busy_ms + 999) / 1000);
	else if (st == RT_BUSY)
		rt_scope_fail(&call->scope, st, "%s: the server interrupted %s (%s); try again",
			      s->place, doing, c->text);
	else if (st == RT_REFUSED)
		rt_scope_fail_advise(&call->scope, st,
				     "see the section on roles in docs/postgresql.md",
				     "%s: no permission for %s (%s)", s->place, doing, c->text);
	else
		rt_scope_fail(&call->scope, st, "%s: the server reported an error while %s (%s%s%s)", s->place,
			      doing, c->code, c->code[0] != 0 ? ": " : "", c->text);
}

void
rt_pg_damaged(rt_pg_call *call, const char *noun, uint64_t number)
{
	rt_scope_fail_advise(&call->scope, RT_CORRUPT, "run retake fsck",
			     "%s is damaged: %s %llu is missing or has a wrong checksum",
			     call->store->place, noun, (unsigned long long)number);
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
		fail_conn(call, "the server does not answer");
		return false;
	}
	if (call->store->pq->consumeInput(call->conn->pg) == 0) {
		fail_conn(call, NULL);
		return false;
	}
	return true;
}

static bool
flush(rt_pg_call *call, int64_t until_ms)
{
	int rc;

	while ((rc = call->store->pq->flush(call->conn->pg)) > 0)
		if (!wait_socket(call, true, until_ms))
			return false;
	if (rc < 0)
		fail_conn(call, NULL);
	return rc == 0;
}

/* The next result; *out NULL: the end of a statement's results. */
static bool
receive(rt_pg_call *call, int64_t until_ms, PGresult **out)
{
	const rt_pq *pq = call->store->pq;

	while (pq->isBusy(call->conn->pg))
		if (!wait_socket(call, false, until_ms))
			return false;
	*out = pq->getResult(call->conn->pg);
	return true;
}

typedef struct sent {
	const rt_pg_query *query;
	PGresult **result;
	bool is_preparing; /* it is prepared by the same pipeline */
} sent;

static bool
is_named(const rt_pg_call *call, const rt_pg_query *q)
{
	return q->name != RT_PG_NAME_NONE && !call->store->has_no_names;
}

/* Prepares it the first time. The number changes with the statement: versions may share a connection of
 * a pooler that was not noticed. */
static bool
send_named(rt_pg_call *call, sent *one, const int *formats)
{
	static const char *const names[] = {
		[RT_PG_NAME_APPEND_ONE] = "retake_append_one_2", [RT_PG_NAME_APPEND] = "retake_append_2",
		[RT_PG_NAME_WRITE] = "retake_write_1",           [RT_PG_NAME_LOCK] = "retake_lock_1",
		[RT_PG_NAME_HEADS] = "retake_heads_1",           [RT_PG_NAME_LOG] = "retake_log_1",
		[RT_PG_NAME_IDENTITY] = "retake_identity_1",     [RT_PG_NAME_WATCH] = "retake_watch_1",
		[RT_PG_NAME_WATCH_SIDE] = "retake_watch_side_1",
	};
	const rt_pg_query *q = one->query;
	const rt_pq *pq = call->store->pq;
	rt_pg_conn *c = call->conn;

	one->is_preparing = (c->named & 1u << q->name) == 0;
	if (one->is_preparing && pq->sendPrepare(c->pg, names[q->name], q->sql, q->count, q->types) != 1)
		return false;
	c->named |= 1u << q->name;
	return pq->sendQueryPrepared(c->pg, names[q->name], q->count, q->values, q->sizes, formats, 1) == 1;
}

/* Sends the statements of a pipeline. */
static bool
transmit(rt_pg_call *call, sent *queries, size_t count)
{
	static const int binary[RT_PG_ARGS_MAX] = {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1};
	const rt_pq *pq = call->store->pq;
	PGconn *pg = call->conn->pg;

	for (size_t i = 0; i < count; i++) {
		const rt_pg_query *q = queries[i].query;

		if (is_named(call, q) ? !send_named(call, &queries[i], binary)
				      : pq->sendQueryParams(pg, q->sql, q->count, q->types, q->values,
							    q->sizes, binary, 1) == 0) {
			fail_conn(call, NULL);
			return false;
		}
	}
	if (pq->pipelineSync(pg) == 0) {
		fail_conn(call, NULL);
		return false;
	}
	return true;
}

static bool
exchange(rt_pg_call *call, sent *all, size_t count)
{
	const rt_pq *pq = call->store->pq;
	rt_pg_conn *c = call->conn;
	int64_t until = rt_clock_ms() + call->store->options.busy_ms + RT_PG_ANSWER_MS;
	bool ok = true, failed = false;
	PGresult *one = NULL;

	c->is_lost = c->has_busy_limit = c->was_cancelled = false;
	c->code[0] = c->text[0] = 0;
	for (size_t i = 0; i < count; i++)
		*all[i].result = NULL;
	if (c->pg == NULL) {
		c->is_lost = true;
		return false;
	}
	ok = transmit(call, all, count) && flush(call, until);
	for (size_t i = 0; ok && i < count; i++) {
		bool is_preparing = all[i].is_preparing;

		c->has_busy_limit = all[i].query->is_cancelled;
		for (;;) {
			ok = receive(call, until, &one);
			if (ok && one == NULL && is_preparing) { /* the statement follows */
				is_preparing = false;
				if (failed)
					c->named &= ~(1u << all[i].query->name);
				continue;
			}
			if (!ok || one == NULL)
				break;
			ExecStatusType st = pq->resultStatus(one);
			if (st == PGRES_FATAL_ERROR && !failed) {
				failed = true;
				keep_failure(call, one);
			}
			if (st == PGRES_TUPLES_OK && *all[i].result == NULL)
				*all[i].result = one;
			else
				pq->clear(one);
		}
	}
	if (ok) { /* the end of the pipeline */
		ok = receive(call, until, &one);
		if (ok && (one == NULL || pq->resultStatus(one) != PGRES_PIPELINE_SYNC)) {
			pq->clear(one);
			fail_conn(call, NULL);
			ok = false;
		} else if (ok) {
			pq->clear(one);
		}
	}
	/* The server says why it ends a connection before it does. */
	if (ok && failed && strncmp(c->code, "57P", 3) == 0)
		fail_conn(call, c->text);
	if (ok && !failed)
		return true;
	if (c->was_cancelled && strcmp(c->code, "57014") == 0)
		memcpy(c->code, "55P03", sizeof(c->code)); /* as the server's own limit */
	if (strcmp(c->code, "26000") == 0 || strcmp(c->code, "42P05") == 0)
		call->store->has_no_names = true; /* a pooler has changed the server connection */
	for (size_t i = 0; i < count; i++) {
		pq->clear(*all[i].result);
		*all[i].result = NULL;
	}
	return false;
}

bool
rt_pg_exchange(rt_pg_call *call, const rt_pg_query *queries, size_t count, PGresult **results)
{
	PGresult *ignored[EXCHANGED_MAX];
	rt_pg_query identities[EXCHANGED_MAX];
	sent all[2 * EXCHANGED_MAX];
	size_t sending = 0;
	bool ok;

	RT_ASSERT(count <= EXCHANGED_MAX);
	for (size_t i = 0; i < count; i++) {
		ignored[i] = NULL;
		if (rt_pg_identity_query(call, &queries[i], &identities[i]))
			all[sending++] = (sent){&identities[i], &ignored[i], false};
		all[sending++] = (sent){&queries[i], &results[i], false};
	}
	ok = exchange(call, all, sending);
	for (size_t i = 0; i < count; i++)
		call->store->pq->clear(ignored[i]);
	return ok;
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
		if (is_sent || !call->conn->is_lost || rt_clock_ms() >= until)
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
	call->conn->is_lost = false;
	ok = pq->exitPipelineMode(call->conn->pg) == 1 && pq->sendQuery(call->conn->pg, sql) == 1;
	if (!ok)
		fail_conn(call, NULL);
	ok = ok && flush(call, until);
	while (ok && (ok = receive(call, until, &one)) && one != NULL) {
		if (pq->resultStatus(one) == PGRES_FATAL_ERROR && !failed) {
			failed = true;
			keep_failure(call, one);
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
rt_pg_bool(rt_pg_call *call, const PGresult *rows, int row, int column)
{
	return rt_pg_u64(call, rows, row, column) == 1;
}
