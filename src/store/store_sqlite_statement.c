/* SPDX-License-Identifier: MIT
 *
 * Prepared statements of the SQLite store: binding, stepping, and rows with their checksums.
 *
 * Statements on the numbered tables share one shape, so that one function binds and one reads
 * the rows of all: key, sum, data, extra (a number), name (or step). */
#include "store/store_sqlite_impl.h"

static const char *const sql_text[SQL_COUNT] = {
	[SQL_BEGIN] = "BEGIN IMMEDIATE",
	[SQL_COMMIT] = "COMMIT",
	[SQL_ROLLBACK] = "ROLLBACK",
	[SQL_SNAPSHOT] = "BEGIN",
	[SQL_META_GET] = "SELECT 0, sum, value, 0, key FROM meta WHERE key = ?1",
	[SQL_META_SET] = "INSERT OR REPLACE INTO meta(key, sum, value)"
			 " VALUES(CAST(?5 AS TEXT), ?2, CAST(?3 AS TEXT))",
	[SQL_META_DROP] = "DELETE FROM meta WHERE key = ?1",
	[SQL_DATA_VERSION] = "PRAGMA data_version",
	[SQL_PROJECT_ADD] = "INSERT INTO project(id, sum, name) VALUES(?1, ?2, ?3)",
	[SQL_PROJECT_FIND] = "SELECT id, sum, name, 0, NULL FROM project WHERE name = ?1",
	[SQL_PROJECT_LIST] = "SELECT id, sum, name, 0, NULL FROM project WHERE id BETWEEN ?1 AND ?2"
			     " ORDER BY id",
	[SQL_PROJECT_LAST] = "SELECT max(id) FROM project",
	/* Empty, unless a row is in the table but not in its index, or the other way round. */
	[SQL_PROJECT_SCAN] = "SELECT id FROM project NOT INDEXED WHERE +name = ?1"
			     " UNION ALL SELECT 0 WHERE (SELECT count(*) FROM project NOT INDEXED)"
			     " <> (SELECT count(name) FROM project INDEXED BY"
			     " sqlite_autoindex_project_1)",
	[SQL_PROJECT_BEYOND] = "SELECT 1 WHERE EXISTS(SELECT 1 FROM log WHERE key >= ?1)"
			       " OR EXISTS(SELECT 1 FROM body WHERE key >= ?1)"
			       " OR EXISTS(SELECT 1 FROM root WHERE project > ?2)",
	/* The key, and whether the row looks like one of this table: a page of another table in
	 * the place of the last one has other columns. Not the data, which may be large. */
	[SQL_LOG_HEAD] = "SELECT key, length(step) = 16 FROM log WHERE key BETWEEN ?1 AND ?2"
			 " ORDER BY key DESC LIMIT 1",
	[SQL_LOG_ADD] = "INSERT INTO log(key, step, at, sum, data) VALUES(?1, ?5, ?4, ?2, ?3)",
	[SQL_LOG_UP] = "SELECT key, sum, data, at, step FROM log WHERE key BETWEEN ?1 AND ?2"
		       " ORDER BY key",
	[SQL_LOG_DOWN] = "SELECT key, sum, data, at, step FROM log WHERE key BETWEEN ?1 AND ?2"
			 " ORDER BY key DESC",
	[SQL_LOG_SET] = "UPDATE log SET sum = ?2, data = ?3 WHERE key = ?1",
	[SQL_BODY_ADD] = "INSERT INTO body(key, entry, sum, data) VALUES(?1, ?4, ?2, ?3)",
	[SQL_BODY_HEAD] = "SELECT key, typeof(sum) = 'integer' FROM body"
			  " WHERE key BETWEEN ?1 AND ?2 ORDER BY key DESC LIMIT 1",
	[SQL_BODY_UP] = "SELECT key, sum, data, entry, NULL FROM body WHERE key BETWEEN ?1 AND ?2"
			" ORDER BY key",
	[SQL_BODY_SET] = "UPDATE body SET sum = ?2, data = ?3 WHERE key = ?1",
	[SQL_NODE_SET] = "INSERT OR REPLACE INTO node(key, sum, data) VALUES(?1, ?2, ?3)",
	[SQL_NODE_HEAD] = "SELECT key, 1 FROM node WHERE key BETWEEN ?1 AND ?2"
			  " ORDER BY key DESC LIMIT 1",
	[SQL_NODE_UP] = "SELECT key, sum, data, 0, NULL FROM node WHERE key BETWEEN ?1 AND ?2"
			" ORDER BY key",
	/* Faster to prepare than a range; opening a project reads nodes one by one. */
	[SQL_NODE_GET] = "SELECT key, sum, data, 0, NULL FROM node WHERE key = ?1",
	[SQL_NODE_NUMBERS] = "SELECT key FROM node WHERE key BETWEEN ?1 AND ?2 ORDER BY key",
	[SQL_NODE_DROP] = "DELETE FROM node WHERE key BETWEEN ?1 AND ?2",
	[SQL_ROOT_SET] = "INSERT OR REPLACE INTO root(project, seq, sum, data)"
			 " VALUES(?1, ?4, ?2, ?3)",
	[SQL_ROOT_GET] = "SELECT project, sum, data, seq, NULL FROM root WHERE project = ?1",
	[SQL_ROOT_DROP] = "DELETE FROM root WHERE project = ?1",
	[SQL_SIDE_SET] = "INSERT OR REPLACE INTO side(project, name, sum, data)"
			 " VALUES(?1, ?5, ?2, ?3)",
	[SQL_SIDE_GET] = "SELECT project, sum, data, 0, name FROM side WHERE project = ?1"
			 " AND name = ?2",
	[SQL_SIDE_LIST] = "SELECT project, sum, data, 0, name FROM side WHERE project = ?1"
			  " ORDER BY name",
	[SQL_SIDE_DROP] = "DELETE FROM side WHERE project = ?1 AND name = ?2",
	[SQL_MARK_GET] = "SELECT project, sum, NULL, number, NULL FROM mark WHERE project = ?1",
	[SQL_MARK_SET] = "INSERT OR REPLACE INTO mark(project, number, sum) VALUES(?1, ?4, ?2)",
	[SQL_INDEX_ADD] = "INSERT OR REPLACE INTO found(rowid, text, entry) VALUES(?1, ?2, ?3)",
	[SQL_INDEX_DROP] = "DELETE FROM found WHERE rowid = ?1",
	[SQL_INDEX_FIND] = "SELECT rowid, entry FROM found WHERE found MATCH ?1"
			   " AND rowid BETWEEN ?2 AND ?3 ORDER BY rank",
};

/* --- failures --- */

void
rt_sqlite_call_fail(rt_sqlite_call *call, const char *doing)
{
	if (call->status == RT_OK)
		call->status = rt_sqlite_fail(call->store, call->conn->db, doing, call->err);
}

void
rt_sqlite_damaged(rt_sqlite_call *call, const char *noun, uint64_t number)
{
	if (call->status == RT_OK)
		call->status = rt_fail(call->err, RT_CORRUPT,
				       "%s is damaged: %s %llu is not what was written; run "
				       "retake fsck",
				       call->store->place, noun, rt_sqlite_ull(number));
}

void
rt_sqlite_size_ok(rt_sqlite_call *call, size_t size)
{
	if (call->status == RT_OK && size > RT_SQLITE_ROW_SIZE_MAX)
		call->status = rt_fail(call->err, RT_LIMIT,
				       "%llu bytes are more than a row can hold (%d)",
				       rt_sqlite_ull(size), RT_SQLITE_ROW_SIZE_MAX);
}

/* --- statements --- */

sqlite3_stmt *
rt_sqlite_stmt(rt_sqlite_call *call, rt_sqlite_sql which)
{
	sqlite3_stmt **stmt = &call->conn->stmts[which];

	if (call->status != RT_OK)
		return NULL;
	if (*stmt == NULL &&
	    sqlite3_prepare_v3(call->conn->db, sql_text[which], -1, SQLITE_PREPARE_PERSISTENT, stmt,
			       NULL) != SQLITE_OK) {
		rt_sqlite_call_fail(call, "preparing to read it");
		return NULL;
	}
	return *stmt;
}

static void
bind(sqlite3_stmt *stmt, int at, const rt_sqlite_value *value)
{
	/* SQLite takes a NULL pointer for SQL's NULL. */
	const char *bytes = value->bytes.size > 0 ? value->bytes.ptr : "";

	switch (value->kind) {
	case RT_SQL_IS_NUMBER: (void)sqlite3_bind_int64(stmt, at, value->number); break;
	case RT_SQL_IS_BLOB:
		(void)sqlite3_bind_blob64(stmt, at, bytes, value->bytes.size, SQLITE_STATIC);
		break;
	case RT_SQL_IS_TEXT:
		(void)sqlite3_bind_text64(stmt, at, bytes, value->bytes.size, SQLITE_STATIC,
					  SQLITE_UTF8);
		break;
	}
}

rt_sqlite_query
rt_sqlite_select(rt_sqlite_call *call, rt_sqlite_sql which, const char *doing,
		 const rt_sqlite_value *values)
{
	rt_sqlite_query q = {.call = call, .stmt = rt_sqlite_stmt(call, which), .doing = doing};
	int count = q.stmt == NULL || values == NULL ? 0 : sqlite3_bind_parameter_count(q.stmt);

	for (int i = 0; i < count; i++)
		bind(q.stmt, i + 1, &values[i]);
	return q;
}

bool
rt_sqlite_next(rt_sqlite_query *q)
{
	int rc;

	if (q->stmt == NULL || q->call->status != RT_OK)
		return false;
	rc = sqlite3_step(q->stmt);
	if (rc != SQLITE_ROW && rc != SQLITE_DONE)
		rt_sqlite_call_fail(q->call, q->doing);
	return rc == SQLITE_ROW;
}

void
rt_sqlite_end(rt_sqlite_query *q)
{
	(void)sqlite3_reset(q->stmt);
}

void
rt_sqlite_run(rt_sqlite_call *call, rt_sqlite_sql which, const char *doing,
	      const rt_sqlite_value *values)
{
	rt_sqlite_query q = rt_sqlite_select(call, which, doing, values);

	while (rt_sqlite_next(&q))
		continue;
	rt_sqlite_end(&q);
}

void
rt_sqlite_exec(rt_sqlite_call *call, const char *sql, const char *doing)
{
	if (call->status == RT_OK &&
	    sqlite3_exec(call->conn->db, sql, NULL, NULL, NULL) != SQLITE_OK)
		rt_sqlite_call_fail(call, doing);
}

/* --- rows --- */

static uint64_t
name_hash(rt_str name)
{
	return rt_hash(name.ptr, name.size, 0);
}

int64_t
rt_sqlite_row_sum(enum rt_sqlite_table table, uint64_t key, const rt_store_row *row)
{
	uint64_t extra = 0;

	switch (table) {
	case RT_TABLE_LOG: extra = rt_hash(row->step, RT_STEP_ID_SIZE, (uint64_t)row->at_us); break;
	case RT_TABLE_BODY: extra = row->entry; break;
	case RT_TABLE_ROOT:
	case RT_TABLE_MARK: extra = row->number; break;
	case RT_TABLE_SIDE:
	case RT_TABLE_META: extra = name_hash(row->name); break;
	case RT_TABLE_PROJECT:
	case RT_TABLE_NODE: break;
	}
	return (int64_t)rt_hash(row->data.ptr, row->data.size,
				rt_hash_u64(key ^ (uint64_t)table << 56) ^ rt_hash_u64(extra + 1));
}

/* A view of a column's bytes, until the next step. False: out of memory. */
static bool
column(sqlite3_stmt *stmt, int at, rt_str *out)
{
	const void *ptr = sqlite3_column_blob(stmt, at);

	*out = rt_str_at(ptr, (size_t)sqlite3_column_bytes(stmt, at));
	return ptr != NULL || sqlite3_errcode(sqlite3_db_handle(stmt)) != SQLITE_NOMEM;
}

rt_status
rt_sqlite_row_read(sqlite3_stmt *stmt, enum rt_sqlite_table table, uint64_t *out_key,
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
	return sqlite3_column_int64(stmt, 1) == rt_sqlite_row_sum(table, key, out) ? RT_OK
										   : RT_CORRUPT;
}

void
rt_sqlite_row_bind(sqlite3_stmt *stmt, enum rt_sqlite_table table, uint64_t key,
		   const rt_store_row *row)
{
	int64_t extra = table == RT_TABLE_LOG    ? row->at_us
			: table == RT_TABLE_BODY ? (int64_t)row->entry
						 : (int64_t)row->number;
	rt_str name = table == RT_TABLE_LOG ? rt_str_at((const char *)row->step, RT_STEP_ID_SIZE)
					    : row->name;
	const rt_sqlite_value values[] = {
		RT_SQL_NUMBER(key), RT_SQL_NUMBER(rt_sqlite_row_sum(table, key, row)),
		RT_SQL_BLOB(row->data), RT_SQL_NUMBER(extra), RT_SQL_BLOB(name)};

	int count = sqlite3_bind_parameter_count(stmt);

	for (int i = 0; i < count; i++)
		bind(stmt, i + 1, &values[i]);
}

void
rt_sqlite_row_write(rt_sqlite_call *call, rt_sqlite_sql which, const char *doing,
		    enum rt_sqlite_table table, uint64_t key, const rt_store_row *row)
{
	rt_sqlite_query q = rt_sqlite_select(call, which, doing, NULL);

	if (q.stmt != NULL)
		rt_sqlite_row_bind(q.stmt, table, key, row);
	while (rt_sqlite_next(&q))
		continue;
	rt_sqlite_end(&q);
}
