/* SPDX-License-Identifier: MIT
 *
 * Rows of the SQLite store that are rewritten in place: the checkpoint's nodes and root,
 * side rows, and what purge blanks. */
#include "store/store_sqlite_impl.h"

static rt_status
number_ok(uint64_t number, const char *noun, rt_error *err)
{
	if (number >= 1 && number <= RT_STORE_NUMBER_MAX)
		return RT_OK;
	return rt_fail(err, RT_USAGE, "%llu is not the number of a %s", rt_sqlite_ull(number),
		       noun);
}

/* Step a statement of the shape "SELECT sum, data[, extra] …" and give its only row. */
static rt_status
read_row(rt_sqlite_store *s, rt_sqlite_conn *c, sqlite3_stmt *stmt, enum rt_sqlite_table table,
	 uint64_t project, uint64_t number, uint64_t key, uint64_t extra, const char *noun,
	 rt_buf *out, uint64_t *out_extra, rt_error *err)
{
	rt_status st = RT_OK;
	int rc = sqlite3_step(stmt);

	if (rc == SQLITE_DONE) {
		st = rt_sqlite_missing(noun, project, number, err);
	} else if (rc != SQLITE_ROW) {
		st = rt_sqlite_fail(s, c->db, "reading it", err);
	} else {
		rt_str data = rt_sqlite_column(stmt, 1);

		if (out_extra != NULL)
			extra = (uint64_t)sqlite3_column_int64(stmt, 2);
		if (rt_sqlite_column_lost(stmt, 1))
			st = rt_fail(err, RT_NOMEM, "out of memory while reading a %s", noun);
		else if (sqlite3_column_int64(stmt, 0) !=
			 rt_sqlite_sum(table, key, extra, data.ptr, data.size))
			st = rt_sqlite_damaged(s, noun, number, err);
		else
			rt_buf_add_str(out, data);
		if (st == RT_OK && out->status != RT_OK)
			st = rt_sqlite_no_room(out, noun, number, err);
		if (st == RT_OK && out_extra != NULL)
			*out_extra = extra;
	}
	(void)sqlite3_reset(stmt);
	return st;
}

rt_status
rt_sqlite_node_write(rt_store *store, uint64_t project, uint64_t number, rt_str data, rt_error *err)
{
	rt_sqlite_store *s = rt_sqlite_self(store);
	uint64_t key = rt_sqlite_key(project, number);
	sqlite3_stmt *stmt = NULL;
	rt_status st = rt_sqlite_write_enter(s, project, err);

	if (st == RT_OK)
		st = number_ok(number, "node", err);
	if (st == RT_OK)
		st = rt_sqlite_size_ok(data.size, err);
	if (st == RT_OK)
		st = rt_sqlite_stmt(s, &s->writer, SQL_NODE_SET, &stmt, err);
	if (st != RT_OK)
		return st;
	(void)sqlite3_bind_int64(stmt, 1, (int64_t)key);
	(void)sqlite3_bind_int64(stmt, 2,
				 rt_sqlite_sum(RT_TABLE_NODE, key, 0, data.ptr, data.size));
	rt_sqlite_bind(stmt, 3, data);
	return rt_sqlite_run(s, &s->writer, stmt, "writing a node", err);
}

rt_status
rt_sqlite_node_drop(rt_store *store, uint64_t project, uint64_t number, rt_error *err)
{
	rt_sqlite_store *s = rt_sqlite_self(store);
	sqlite3_stmt *stmt = NULL;
	rt_status st = rt_sqlite_write_enter(s, project, err);

	if (st != RT_OK || number > RT_STORE_NUMBER_MAX)
		return st;
	st = rt_sqlite_stmt(s, &s->writer, SQL_NODE_DROP, &stmt, err);
	if (st != RT_OK)
		return st;
	(void)sqlite3_bind_int64(stmt, 1, (int64_t)rt_sqlite_key(project, number));
	return rt_sqlite_run(s, &s->writer, stmt, "dropping a node", err);
}

rt_status
rt_sqlite_node_drop_all(rt_store *store, uint64_t project, rt_error *err)
{
	rt_sqlite_store *s = rt_sqlite_self(store);
	sqlite3_stmt *nodes, *root;
	rt_status st = rt_sqlite_write_enter(s, project, err);

	if (st == RT_OK)
		st = rt_sqlite_stmt(s, &s->writer, SQL_NODE_DROP_ALL, &nodes, err);
	if (st == RT_OK)
		st = rt_sqlite_stmt(s, &s->writer, SQL_ROOT_DROP, &root, err);
	if (st != RT_OK)
		return st;
	(void)sqlite3_bind_int64(nodes, 1, (int64_t)rt_sqlite_key(project, 0));
	(void)sqlite3_bind_int64(nodes, 2, (int64_t)rt_sqlite_key(project, RT_STORE_NUMBER_MAX));
	(void)sqlite3_bind_int64(root, 1, (int64_t)project);
	st = rt_sqlite_run(s, &s->writer, nodes, "dropping nodes", err);
	if (st == RT_OK)
		st = rt_sqlite_run(s, &s->writer, root, "dropping the root", err);
	return st;
}

rt_status
rt_sqlite_node_read(rt_store *store, uint64_t project, uint64_t number, rt_buf *out, rt_error *err)
{
	rt_sqlite_store *s = rt_sqlite_self(store);
	uint64_t key = rt_sqlite_key(project, number);
	rt_sqlite_reading r = {0};
	size_t had = out->size;

	if (project == 0 || project > RT_STORE_PROJECT_MAX || number > RT_STORE_NUMBER_MAX)
		return rt_sqlite_missing("node", project, number, err);
	while (rt_sqlite_read(s, &r, err)) {
		sqlite3_stmt *stmt = NULL;

		out->size = had;
		r.status = rt_sqlite_stmt(s, r.conn, SQL_NODE_GET, &stmt, err);
		if (r.status != RT_OK)
			continue;
		(void)sqlite3_bind_int64(stmt, 1, (int64_t)key);
		r.status = read_row(s, r.conn, stmt, RT_TABLE_NODE, project, number, key, 0, "node",
				    out, NULL, err);
	}
	return r.status;
}

/* One transaction around all, as for bodies. */
static rt_status
picked_nodes(rt_sqlite_store *s, rt_sqlite_reading *r, uint64_t project, const uint64_t *numbers,
	     size_t count, rt_body_fn fn, void *ctx, rt_error *err)
{
	rt_sqlite_conn *c = r->conn;
	sqlite3_stmt *stmt = NULL;
	rt_buf data;
	bool alone;
	rt_status st;
	size_t i;

	rt_buf_init(&data, s->alloc, RT_BUF_UNLIMITED);
	st = rt_sqlite_stmt(s, c, SQL_NODE_GET, &stmt, err);
	alone = sqlite3_get_autocommit(c->db) != 0;
	if (st == RT_OK && alone)
		st = rt_sqlite_exec(s, c, "BEGIN", "reading nodes", err);
	for (i = 0; st == RT_OK && !r->is_ended && i < count && numbers[i] <= RT_STORE_NUMBER_MAX;
	     i++) {
		uint64_t key = rt_sqlite_key(project, numbers[i]);
		rt_body_row row = {.number = numbers[i]};

		rt_buf_clear(&data);
		(void)sqlite3_bind_int64(stmt, 1, (int64_t)key);
		st = read_row(s, c, stmt, RT_TABLE_NODE, project, numbers[i], key, 0, "node", &data,
			      NULL, err);
		row.data = rt_buf_str(&data);
		r->is_ended = st == RT_OK && !rt_sqlite_is_told(r) && !fn(ctx, &row);
		st = st == RT_NOT_FOUND ? RT_OK : st;
	}
	if (alone && sqlite3_get_autocommit(c->db) == 0 &&
	    sqlite3_exec(c->db, "END", NULL, NULL, NULL) != SQLITE_OK && st == RT_OK)
		st = rt_sqlite_fail(s, c->db, "reading nodes", err);
	rt_buf_deinit(&data);
	return st;
}

rt_status
rt_sqlite_node_pick(rt_store *store, uint64_t project, const uint64_t *numbers, size_t count,
		    rt_body_fn fn, void *ctx, rt_error *err)
{
	rt_sqlite_store *s = rt_sqlite_self(store);
	rt_sqlite_reading r = {0};

	if (project == 0 || project > RT_STORE_PROJECT_MAX)
		return RT_OK;
	while (rt_sqlite_read(s, &r, err))
		r.status = picked_nodes(s, &r, project, numbers, count, fn, ctx, err);
	return r.status;
}

static rt_status
node_rows(rt_sqlite_store *s, rt_sqlite_reading *r, uint64_t project, rt_sqlite_hits *hits,
	  rt_error *err)
{
	sqlite3_stmt *stmt = NULL;
	int rc = SQLITE_DONE;
	rt_status st = rt_sqlite_stmt(s, r->conn, SQL_NODE_LIST, &stmt, err);

	if (st != RT_OK)
		return st;
	(void)sqlite3_bind_int64(stmt, 1, (int64_t)rt_sqlite_key(project, 0));
	(void)sqlite3_bind_int64(stmt, 2, (int64_t)rt_sqlite_key(project, RT_STORE_NUMBER_MAX));
	while ((rc = sqlite3_step(stmt)) == SQLITE_ROW) {
		uint64_t key = (uint64_t)sqlite3_column_int64(stmt, 0);

		if (!rt_sqlite_hit(hits, r, key & RT_STORE_NUMBER_MAX, 0))
			break;
	}
	if (rc != SQLITE_ROW && rc != SQLITE_DONE)
		st = rt_sqlite_fail(s, r->conn->db, "listing nodes", err);
	(void)sqlite3_reset(stmt);
	return st;
}

rt_status
rt_sqlite_node_list(rt_store *store, uint64_t project, rt_hit_fn fn, void *ctx, rt_error *err)
{
	rt_sqlite_store *s = rt_sqlite_self(store);
	rt_sqlite_reading r = {0};
	rt_sqlite_hits hits;

	if (project == 0 || project > RT_STORE_PROJECT_MAX)
		return RT_OK;
	rt_sqlite_hits_init(&hits, s->alloc, fn, ctx);
	while (rt_sqlite_read(s, &r, err)) {
		rt_buf_clear(&hits.held);
		r.status = node_rows(s, &r, project, &hits, err);
	}
	return rt_sqlite_hits_end(&hits, r.status, err);
}

rt_status
rt_sqlite_root_write(rt_store *store, uint64_t project, uint64_t seq, rt_str data, rt_error *err)
{
	rt_sqlite_store *s = rt_sqlite_self(store);
	sqlite3_stmt *stmt = NULL;
	rt_status st = rt_sqlite_write_enter(s, project, err);

	if (st == RT_OK)
		st = rt_sqlite_size_ok(data.size, err);
	if (st == RT_OK)
		st = rt_sqlite_stmt(s, &s->writer, SQL_ROOT_SET, &stmt, err);
	if (st != RT_OK)
		return st;
	(void)sqlite3_bind_int64(stmt, 1, (int64_t)project);
	(void)sqlite3_bind_int64(stmt, 2, (int64_t)seq);
	(void)sqlite3_bind_int64(stmt, 3,
				 rt_sqlite_sum(RT_TABLE_ROOT, project, seq, data.ptr, data.size));
	rt_sqlite_bind(stmt, 4, data);
	return rt_sqlite_run(s, &s->writer, stmt, "writing the root", err);
}

rt_status
rt_sqlite_root_read(rt_store *store, uint64_t project, uint64_t *out_seq, rt_buf *out,
		    rt_error *err)
{
	rt_sqlite_store *s = rt_sqlite_self(store);
	rt_sqlite_reading r = {0};
	size_t had = out->size;
	uint64_t seq = 0;

	while (rt_sqlite_read(s, &r, err)) {
		sqlite3_stmt *stmt = NULL;

		out->size = had;
		r.status = rt_sqlite_stmt(s, r.conn, SQL_ROOT_GET, &stmt, err);
		if (r.status != RT_OK)
			continue;
		(void)sqlite3_bind_int64(stmt, 1, (int64_t)project);
		r.status = read_row(s, r.conn, stmt, RT_TABLE_ROOT, project, project, project, 0,
				    "root", out, &seq, err);
	}
	if (r.status == RT_OK && out_seq != NULL)
		*out_seq = seq;
	return r.status;
}

static rt_status
side_put(rt_sqlite_store *s, uint64_t project, rt_str name, rt_str value, rt_error *err)
{
	bool gone = value.size == 0;
	sqlite3_stmt *stmt = NULL;
	rt_status st = rt_sqlite_write_enter(s, project, err);

	if (st == RT_OK)
		st = rt_sqlite_size_ok(name.size + value.size, err);
	if (st == RT_OK)
		st = rt_sqlite_stmt(s, &s->writer, gone ? SQL_SIDE_DROP : SQL_SIDE_SET, &stmt, err);
	if (st != RT_OK)
		return st;
	(void)sqlite3_bind_int64(stmt, 1, (int64_t)project);
	rt_sqlite_bind(stmt, 2, name);
	if (!gone) {
		(void)sqlite3_bind_int64(stmt, 3,
					 rt_sqlite_sum(RT_TABLE_SIDE, project,
						       rt_sqlite_name_hash(name), value.ptr,
						       value.size));
		rt_sqlite_bind(stmt, 4, value);
	}
	return rt_sqlite_run(s, &s->writer, stmt, "writing a side row", err);
}

rt_status
rt_sqlite_side_write(rt_store *store, uint64_t project, rt_str name, rt_str value, rt_error *err)
{
	rt_sqlite_store *s = rt_sqlite_self(store);
	bool alone;
	rt_status st = rt_sqlite_begin_alone(s, &alone, err);

	if (st != RT_OK)
		return st;
	st = side_put(s, project, name, value, err);
	return rt_sqlite_end_alone(s, alone, st, err);
}

rt_status
rt_sqlite_side_read(rt_store *store, uint64_t project, rt_str name, rt_buf *out, rt_error *err)
{
	rt_sqlite_store *s = rt_sqlite_self(store);
	rt_sqlite_reading r = {0};
	size_t had = out->size;

	while (rt_sqlite_read(s, &r, err)) {
		sqlite3_stmt *stmt = NULL;

		out->size = had;
		r.status = rt_sqlite_stmt(s, r.conn, SQL_SIDE_GET, &stmt, err);
		if (r.status != RT_OK)
			continue;
		(void)sqlite3_bind_int64(stmt, 1, (int64_t)project);
		rt_sqlite_bind(stmt, 2, name);
		r.status = read_row(s, r.conn, stmt, RT_TABLE_SIDE, project, 0, project,
				    rt_sqlite_name_hash(name), "side row", out, NULL, err);
	}
	return r.status;
}

/* last: the name of the row that was handed on last, by which a later try goes on: rows
 * come and go. */
static rt_status
side_rows(rt_sqlite_store *s, rt_sqlite_reading *r, uint64_t project, rt_buf *last, rt_side_fn fn,
	  void *ctx, rt_error *err)
{
	rt_sqlite_conn *c = r->conn;
	sqlite3_stmt *stmt = NULL;
	int rc = SQLITE_DONE;
	rt_status st = rt_sqlite_stmt(s, c, SQL_SIDE_LIST, &stmt, err);

	if (st != RT_OK)
		return st;
	(void)sqlite3_bind_int64(stmt, 1, (int64_t)project);
	while ((rc = sqlite3_step(stmt)) == SQLITE_ROW) {
		rt_str name = rt_sqlite_column(stmt, 0), value = rt_sqlite_column(stmt, 2);

		if (rt_sqlite_column_lost(stmt, 0) || rt_sqlite_column_lost(stmt, 2)) {
			st = rt_fail(err, RT_NOMEM, "out of memory while listing side rows");
			break;
		}
		if (sqlite3_column_int64(stmt, 1) != rt_sqlite_sum(RT_TABLE_SIDE, project,
								   rt_sqlite_name_hash(name),
								   value.ptr, value.size)) {
			st = rt_sqlite_damaged(s, "side row of project", project, err);
			break;
		}
		if (r->told > 0 && rt_str_cmp(name, rt_buf_str(last)) <= 0)
			continue;
		r->told++;
		rt_buf_clear(last);
		rt_buf_add_str(last, name);
		if (last->status != RT_OK) {
			st = rt_fail(err, RT_NOMEM, "out of memory while listing side rows");
			break;
		}
		r->is_ended = !fn(ctx, name, value);
		if (r->is_ended)
			break;
	}
	if (rc != SQLITE_ROW && rc != SQLITE_DONE)
		st = rt_sqlite_fail(s, c->db, "listing side rows", err);
	(void)sqlite3_reset(stmt);
	return st;
}

rt_status
rt_sqlite_side_list(rt_store *store, uint64_t project, rt_side_fn fn, void *ctx, rt_error *err)
{
	rt_sqlite_store *s = rt_sqlite_self(store);
	rt_sqlite_reading r = {0};
	rt_buf last;

	rt_buf_init(&last, s->alloc, RT_BUF_UNLIMITED);
	while (rt_sqlite_read(s, &r, err))
		r.status = side_rows(s, &r, project, &last, fn, ctx, err);
	rt_buf_deinit(&last);
	return r.status;
}

/* What a row is besides its data, which stays: step and time, or the entry. */
static rt_status
extra_of(rt_sqlite_store *s, bool is_log, uint64_t key, uint64_t *out, bool *out_found,
	 rt_error *err)
{
	sqlite3_stmt *stmt = NULL;
	rt_status st = rt_sqlite_stmt(s, &s->writer, is_log ? SQL_LOG_UP : SQL_BODY_SCAN, &stmt,
				      err);
	int rc;

	if (st != RT_OK)
		return st;
	(void)sqlite3_bind_int64(stmt, 1, (int64_t)key);
	(void)sqlite3_bind_int64(stmt, 2, (int64_t)key);
	rc = sqlite3_step(stmt);
	*out_found = rc == SQLITE_ROW;
	if (rc == SQLITE_ROW && is_log) {
		rt_str step = rt_sqlite_column(stmt, 2);

		if (step.size != RT_STEP_ID_SIZE)
			st = rt_sqlite_damaged(s, "log row", key & RT_STORE_NUMBER_MAX, err);
		else
			*out = rt_sqlite_log_extra(step.ptr, sqlite3_column_int64(stmt, 3));
	} else if (rc == SQLITE_ROW) {
		*out = (uint64_t)sqlite3_column_int64(stmt, 2);
	} else if (rc != SQLITE_DONE) {
		st = rt_sqlite_fail(s, s->writer.db, "purging", err);
	}
	(void)sqlite3_reset(stmt);
	return st;
}

static rt_status
replace(rt_store *store, bool is_log, uint64_t project, uint64_t number, rt_str data, rt_error *err)
{
	rt_sqlite_store *s = rt_sqlite_self(store);
	uint64_t key = rt_sqlite_key(project, number), extra = 0;
	sqlite3_stmt *stmt = NULL;
	bool found = false;
	rt_status st = rt_sqlite_write_enter(s, project, err);

	if (st == RT_OK && number <= RT_STORE_NUMBER_MAX)
		st = extra_of(s, is_log, key, &extra, &found, err);
	if (st == RT_OK && !found)
		return rt_sqlite_missing(is_log ? "log row" : "body", project, number, err);
	if (st == RT_OK)
		st = rt_sqlite_size_ok(data.size, err);
	if (st == RT_OK)
		st = rt_sqlite_wipe(s, err);
	if (st == RT_OK)
		st = rt_sqlite_stmt(s, &s->writer, is_log ? SQL_LOG_SET : SQL_BODY_SET, &stmt, err);
	if (st != RT_OK)
		return st;
	(void)sqlite3_bind_int64(stmt, 1, (int64_t)key);
	(void)sqlite3_bind_int64(stmt, 2,
				 rt_sqlite_sum(is_log ? RT_TABLE_LOG : RT_TABLE_BODY, key, extra,
					       data.ptr, data.size));
	rt_sqlite_bind(stmt, 3, data);
	return rt_sqlite_run(s, &s->writer, stmt, "purging", err);
}

rt_status
rt_sqlite_body_replace(rt_store *store, uint64_t project, uint64_t number, rt_str data,
		       rt_error *err)
{
	return replace(store, false, project, number, data, err);
}

rt_status
rt_sqlite_log_replace(rt_store *store, uint64_t project, uint64_t seq, rt_str data, rt_error *err)
{
	return replace(store, true, project, seq, data, err);
}
