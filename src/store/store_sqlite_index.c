/* SPDX-License-Identifier: MIT
 *
 * The full-text index of the SQLite store: FTS5 without a copy of the texts. A row is
 * known by its body's key; the entry stands beside it. The mark says how far along the
 * bodies the index is; it is written in the same transaction as what it speaks of. */
#include "store/store_sqlite_impl.h"

#include "store/store_words.h"

static rt_status
read_mark(rt_sqlite_store *s, rt_sqlite_conn *c, uint64_t project, uint64_t *out, rt_error *err)
{
	sqlite3_stmt *stmt = NULL;
	rt_status st = rt_sqlite_stmt(s, c, SQL_MARK_GET, &stmt, err);
	int rc;

	if (st != RT_OK)
		return st;
	(void)sqlite3_bind_int64(stmt, 1, (int64_t)project);
	rc = sqlite3_step(stmt);
	*out = 0;
	if (rc == SQLITE_ROW) {
		*out = (uint64_t)sqlite3_column_int64(stmt, 1);
		if (sqlite3_column_int64(stmt, 0) !=
		    rt_sqlite_sum(RT_TABLE_MARK, project, *out, NULL, 0))
			st = rt_fail(err, RT_CORRUPT,
				     "%s is damaged: the mark of the index of "
				     "project %llu is not what was written; run retake fsck",
				     s->place, (unsigned long long)project);
	} else if (rc != SQLITE_DONE) {
		st = rt_sqlite_fail(s, c->db, "reading the index", err);
	}
	(void)sqlite3_reset(stmt);
	return st;
}

rt_status
rt_sqlite_index_mark(rt_store *store, uint64_t project, uint64_t *out_number, rt_error *err)
{
	rt_sqlite_store *s = rt_sqlite_self(store);
	rt_sqlite_reading r = {0};

	while (rt_sqlite_read(s, &r, err))
		r.status = read_mark(s, r.conn, project, out_number, err);
	return r.status;
}

static rt_status
move_mark(rt_sqlite_store *s, uint64_t project, uint64_t number, rt_error *err)
{
	sqlite3_stmt *stmt = NULL;
	uint64_t mark = 0;
	rt_status st = read_mark(s, &s->writer, project, &mark, err);

	if (st != RT_OK || mark >= number)
		return st;
	st = rt_sqlite_stmt(s, &s->writer, SQL_MARK_SET, &stmt, err);
	if (st != RT_OK)
		return st;
	(void)sqlite3_bind_int64(stmt, 1, (int64_t)project);
	(void)sqlite3_bind_int64(stmt, 2, (int64_t)number);
	(void)sqlite3_bind_int64(stmt, 3, rt_sqlite_sum(RT_TABLE_MARK, project, number, NULL, 0));
	return rt_sqlite_run(s, &s->writer, stmt, "writing to the index", err);
}

rt_status
rt_sqlite_index_add(rt_store *store, uint64_t project, uint64_t number, uint64_t entry, rt_str text,
		    rt_error *err)
{
	rt_sqlite_store *s = rt_sqlite_self(store);
	sqlite3_stmt *stmt = NULL;
	rt_status st = rt_sqlite_write_enter(s, project, err);

	if (st != RT_OK)
		return st;
	if (number < 1 || number > RT_STORE_NUMBER_MAX)
		return rt_fail(err, RT_USAGE, "%llu is not the number of a body",
			       (unsigned long long)number);
	st = rt_sqlite_size_ok(text.size, err);
	if (st != RT_OK)
		return st;
	if (text.size > 0) {
		st = rt_sqlite_stmt(s, &s->writer, SQL_INDEX_ADD, &stmt, err);
		if (st != RT_OK)
			return st;
		(void)sqlite3_bind_int64(stmt, 1, (int64_t)rt_sqlite_key(project, number));
		(void)sqlite3_bind_text64(stmt, 2, text.ptr, text.size, SQLITE_STATIC, SQLITE_UTF8);
		(void)sqlite3_bind_int64(stmt, 3, (int64_t)entry);
		st = rt_sqlite_run(s, &s->writer, stmt, "writing to the index", err);
		if (st != RT_OK)
			return st;
	}
	return move_mark(s, project, number, err);
}

static rt_status
find_rows(rt_sqlite_store *s, rt_sqlite_reading *r, uint64_t project, rt_str match,
	  rt_sqlite_hits *hits, rt_error *err)
{
	sqlite3_stmt *stmt = NULL;
	rt_status st = rt_sqlite_stmt(s, r->conn, SQL_INDEX_FIND, &stmt, err);
	int rc = SQLITE_DONE;

	if (st != RT_OK)
		return st;
	(void)sqlite3_bind_text64(stmt, 1, match.ptr, match.size, SQLITE_STATIC, SQLITE_UTF8);
	(void)sqlite3_bind_int64(stmt, 2, (int64_t)rt_sqlite_key(project, 0));
	(void)sqlite3_bind_int64(stmt, 3, (int64_t)rt_sqlite_key(project, RT_STORE_NUMBER_MAX));
	while ((rc = sqlite3_step(stmt)) == SQLITE_ROW) {
		uint64_t key = (uint64_t)sqlite3_column_int64(stmt, 0);

		if (!rt_sqlite_hit(hits, r, key & RT_STORE_NUMBER_MAX,
				   (uint64_t)sqlite3_column_int64(stmt, 1)))
			break;
	}
	if (rc != SQLITE_ROW && rc != SQLITE_DONE)
		st = rt_sqlite_fail(s, r->conn->db, "searching the index", err);
	(void)sqlite3_reset(stmt);
	return st;
}

rt_status
rt_sqlite_index_find(rt_store *store, uint64_t project, rt_str query, rt_store_find how,
		     rt_hit_fn fn, void *ctx, rt_error *err)
{
	rt_sqlite_store *s = rt_sqlite_self(store);
	rt_sqlite_reading r = {0};
	rt_sqlite_hits hits;
	rt_buf match;

	if (project == 0 || project > RT_STORE_PROJECT_MAX)
		return RT_OK;
	rt_buf_init(&match, s->alloc, RT_BUF_UNLIMITED);
	rt_words_fts5(&match, query, how);
	if (match.status != RT_OK)
		r.status = rt_fail(err, match.status, "out of memory while searching");
	rt_sqlite_hits_init(&hits, s->alloc, fn, ctx);
	if (r.status == RT_OK && match.size > 0) {
		while (rt_sqlite_read(s, &r, err)) {
			rt_buf_clear(&hits.held);
			r.status = find_rows(s, &r, project, rt_buf_str(&match), &hits, err);
		}
	}
	rt_buf_deinit(&match);
	return rt_sqlite_hits_end(&hits, r.status, err);
}

rt_status
rt_sqlite_index_drop(rt_store *store, uint64_t project, uint64_t number, rt_str text, rt_error *err)
{
	rt_sqlite_store *s = rt_sqlite_self(store);
	sqlite3_stmt *stmt = NULL;
	rt_status st = rt_sqlite_write_enter(s, project, err);

	(void)text; /* FTS5 finds the row by its number; its words go with scrub */
	if (st == RT_OK)
		st = rt_sqlite_wipe(s, err);
	if (st == RT_OK && number <= RT_STORE_NUMBER_MAX)
		st = rt_sqlite_stmt(s, &s->writer, SQL_INDEX_DROP, &stmt, err);
	if (st != RT_OK || number > RT_STORE_NUMBER_MAX)
		return st;
	(void)sqlite3_bind_int64(stmt, 1, (int64_t)rt_sqlite_key(project, number));
	return rt_sqlite_run(s, &s->writer, stmt, "taking a text out of the index", err);
}

rt_status
rt_sqlite_index_clear(rt_store *store, rt_error *err)
{
	rt_sqlite_store *s = rt_sqlite_self(store);
	rt_status st;

	RT_ASSERT(rt_sqlite_is_owner(s));
	/* The table itself goes: "delete-all" would read what may be damaged. SQLite 3.53.2
	 * leaves found_content behind for a table of this kind, and guards it. */
	(void)sqlite3_db_config(s->writer.db, SQLITE_DBCONFIG_DEFENSIVE, 0, NULL);
	st = rt_sqlite_exec(s, &s->writer,
			    "DROP TABLE IF EXISTS found; DROP TABLE IF EXISTS found_content;"
			    "DELETE FROM mark;" RT_SQLITE_INDEX_TABLE,
			    "making the index anew", err);
	(void)sqlite3_db_config(s->writer.db, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
	return st;
}
