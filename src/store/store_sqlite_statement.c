/* SPDX-License-Identifier: MIT
 *
 * Prepared statements of the SQLite store: binding, stepping, and rows with their checksums. */
#include "store/store_sqlite_impl.h"

static const struct {
	const char *text, *doing;
	enum rt_row_table table;
} statements[SQL_COUNT] = {
#define SQL(name, of_table, of_doing, sql) \
	[SQL_##name] = {.text = sql, .doing = of_doing, .table = of_table},
#include "store/store_sqlite.def"
#undef SQL
};

static const char *
doing(const rt_sqlite_call *call, rt_sqlite_sql which)
{
	return call->doing != NULL ? call->doing : statements[which].doing;
}

/* --- statements --- */

sqlite3_stmt *
rt_sqlite_stmt(rt_sqlite_call *call, rt_sqlite_sql which)
{
	sqlite3_stmt **stmt = &call->conn->stmts[which];

	if (!rt_ok(&call->scope))
		return NULL;
	if (*stmt == NULL &&
	    sqlite3_prepare_v3(call->conn->db, statements[which].text, -1,
			       SQLITE_PREPARE_PERSISTENT, stmt, NULL) != SQLITE_OK) {
		rt_sqlite_call_fail(call, "preparing to read it");
		return NULL;
	}
	return *stmt;
}

static void
bind_blob(sqlite3_stmt *stmt, int at, rt_str bytes)
{
	/* SQLite takes a NULL pointer for SQL's NULL. */
	(void)sqlite3_bind_blob64(stmt, at, bytes.size > 0 ? bytes.ptr : "", bytes.size,
				  SQLITE_STATIC);
}

static void
bind_number(sqlite3_stmt *stmt, int at, uint64_t number)
{
	(void)sqlite3_bind_int64(stmt, at, (int64_t)number);
}

rt_sqlite_query
rt_sqlite_select(rt_sqlite_call *call, rt_sqlite_sql which, rt_sqlite_args args)
{
	rt_sqlite_query q = {.call = call, .stmt = rt_sqlite_stmt(call, which), .which = which};
	int count = q.stmt != NULL ? sqlite3_bind_parameter_count(q.stmt) : 0;

	if (count > 0)
		bind_number(q.stmt, 1, args.key);
	if (count > 1)
		bind_number(q.stmt, 2, args.last);
	if (count > 2 && args.is_text)
		(void)sqlite3_bind_text64(q.stmt, 3, args.bytes.size > 0 ? args.bytes.ptr : "",
					  args.bytes.size, SQLITE_STATIC, SQLITE_UTF8);
	else if (count > 2)
		bind_blob(q.stmt, 3, args.bytes);
	return q;
}

bool
rt_sqlite_next(rt_sqlite_query *q)
{
	int rc;

	if (q->stmt == NULL || !rt_ok(&q->call->scope))
		return false;
	rc = sqlite3_step(q->stmt);
	if (rc != SQLITE_ROW && rc != SQLITE_DONE)
		rt_sqlite_call_fail(q->call, doing(q->call, q->which));
	return rc == SQLITE_ROW;
}

void
rt_sqlite_end(rt_sqlite_query *q)
{
	(void)sqlite3_reset(q->stmt);
}

uint64_t
rt_sqlite_number(rt_sqlite_call *call, rt_sqlite_sql which, rt_sqlite_args args)
{
	rt_sqlite_query q = rt_sqlite_select(call, which, args);
	uint64_t number = rt_sqlite_next(&q) ? (uint64_t)sqlite3_column_int64(q.stmt, 0) : 0;

	rt_sqlite_end(&q);
	return number;
}

bool
rt_sqlite_any(rt_sqlite_call *call, rt_sqlite_sql which, rt_sqlite_args args)
{
	rt_sqlite_query q = rt_sqlite_select(call, which, args);
	bool any = rt_sqlite_next(&q);

	rt_sqlite_end(&q);
	return any;
}

void
rt_sqlite_run(rt_sqlite_call *call, rt_sqlite_sql which, rt_sqlite_args args)
{
	(void)rt_sqlite_any(call, which, args);
}

void
rt_sqlite_exec(rt_sqlite_call *call, const char *sql, const char *what)
{
	if (rt_ok(&call->scope) &&
	    sqlite3_exec(call->conn->db, sql, NULL, NULL, NULL) != SQLITE_OK)
		rt_sqlite_call_fail(call, what);
}

void
rt_sqlite_add_words(rt_sqlite_call *call, const char *doing)
{
	int rc;

	if (!rt_ok(&call->scope))
		return;
	/* FTS5 passes on the results of inner statements: without this it reports IOERR where
	 * IOERR_NOMEM is meant. */
	(void)sqlite3_extended_result_codes(call->conn->db, 1);
	rc = rt_sqlite_words_register(call->conn->db);
	if (rt_sqlite_status(rc) == RT_NOMEM) /* not always stored in the connection */
		(void)rt_scope_nomem(&call->scope);
	else if (rc != SQLITE_OK)
		rt_sqlite_call_fail(call, doing);
}

void
rt_sqlite_open_scratch(rt_sqlite_call *call, const char *schema)
{
	if (rt_ok(&call->scope) &&
	    sqlite3_open_v2(":memory:", &call->conn->db,
			    SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_MEMORY,
			    NULL) != SQLITE_OK)
		rt_sqlite_call_fail(call, "creating it");
	rt_sqlite_add_words(call, "creating its index");
	rt_sqlite_exec(call, schema, "creating it");
}

/* --- rows --- */

/* A view of a column's bytes, until the next step. False: out of memory. */
static bool
column(sqlite3_stmt *stmt, int at, rt_str *out)
{
	const void *ptr = sqlite3_column_blob(stmt, at);

	*out = rt_str_at(ptr, (size_t)sqlite3_column_bytes(stmt, at));
	return ptr != NULL || sqlite3_errcode(sqlite3_db_handle(stmt)) != SQLITE_NOMEM;
}

rt_status
rt_sqlite_row_read(sqlite3_stmt *stmt, enum rt_row_table table, uint64_t *out_key,
		   rt_store_row *out)
{
	uint64_t key = (uint64_t)sqlite3_column_int64(stmt, 0);
	int64_t extra = sqlite3_column_int64(stmt, 3);

	*out = (rt_store_row){.number = key & RT_STORE_NUMBER_MAX};
	*out_key = key;
	if (!column(stmt, 2, &out->data) || !column(stmt, 4, &out->name))
		return RT_NOMEM;
	if (table == RT_TABLE_LOG) {
		out->at_us = extra;
		if (out->name.size != RT_STEP_ID_SIZE)
			return RT_CORRUPT;
		memcpy(out->step, out->name.ptr, RT_STEP_ID_SIZE);
	} else if (table == RT_TABLE_BODY) {
		out->entry = (uint64_t)extra;
	} else if (table == RT_TABLE_ROOT || table == RT_TABLE_MARK) {
		out->number = (uint64_t)extra;
	} else if (table == RT_TABLE_SIDE) {
		out->number = 0;
	}
	return sqlite3_column_int64(stmt, 1) == rt_row_sum(table, key, out) ? RT_OK
										   : RT_CORRUPT;
}

void
rt_sqlite_row(rt_sqlite_query *q, const char *noun, rt_store_row *out)
{
	uint64_t key;
	rt_status st = rt_sqlite_row_read(q->stmt, statements[q->which].table, &key, out);

	if (st == RT_CORRUPT)
		rt_sqlite_damaged(q->call, noun, key & RT_STORE_NUMBER_MAX);
	else if (st != RT_OK)
		rt_scope_fail(&q->call->scope, st, "out of memory while %s",
			      doing(q->call, q->which));
}

void
rt_sqlite_row_bind(sqlite3_stmt *stmt, enum rt_row_table table, uint64_t key,
		   const rt_store_row *row)
{
	int count = sqlite3_bind_parameter_count(stmt);

	bind_number(stmt, 1, key);
	bind_number(stmt, 2, (uint64_t)rt_row_sum(table, key, row));
	if (count > 2)
		bind_blob(stmt, 3, row->data);
	if (count > 3)
		bind_number(stmt, 4,
			    table == RT_TABLE_LOG    ? (uint64_t)row->at_us
			    : table == RT_TABLE_BODY ? row->entry
						     : row->number);
	if (count > 4)
		bind_blob(stmt, 5,
			  table == RT_TABLE_LOG
				  ? rt_str_at((const char *)row->step, RT_STEP_ID_SIZE)
				  : row->name);
}

void
rt_sqlite_row_write(rt_sqlite_call *call, rt_sqlite_sql which, uint64_t key,
		    const rt_store_row *row)
{
	rt_sqlite_query q = {.call = call, .stmt = rt_sqlite_stmt(call, which), .which = which};

	if (q.stmt != NULL)
		rt_sqlite_row_bind(q.stmt, statements[which].table, key, row);
	while (rt_sqlite_next(&q))
		continue;
	rt_sqlite_end(&q);
}
