/* SPDX-License-Identifier: MIT
 *
 * A store in one SQLite file: projects, log and bodies, and the table of
 * functions. See store_sqlite_impl.h for what the file looks like. */
#include "store/store_sqlite_impl.h"

#include "base/hash.h"

int64_t
rt_sqlite_sum(enum rt_sqlite_table table, uint64_t key, uint64_t extra, const void *data,
	      size_t size)
{
	uint64_t seed;

	if (RT_SEEDED(RT_SEEDED_NO_SUMS))
		return 0;
	seed = rt_hash_u64(key ^ (uint64_t)table << 56) ^ rt_hash_u64(extra + 1);

	return (int64_t)rt_hash(data, size, seed);
}

rt_status
rt_sqlite_damaged(rt_sqlite_store *s, const char *noun, uint64_t number, rt_error *err)
{
	return rt_fail(err, RT_CORRUPT,
		       "%s is damaged: %s %llu is not what was written; run "
		       "retake fsck",
		       s->place, noun, rt_sqlite_ull(number));
}

rt_status
rt_sqlite_size_ok(size_t size, rt_error *err)
{
	if (size <= RT_SQLITE_ROW_SIZE_MAX)
		return RT_OK;
	return rt_fail(err, RT_LIMIT, "%llu bytes are more than a row can hold (%d)",
		       rt_sqlite_ull(size), RT_SQLITE_ROW_SIZE_MAX);
}

/* --- projects --- */

static rt_status
project_last(rt_sqlite_store *s, rt_sqlite_conn *c, uint64_t *out, rt_error *err)
{
	sqlite3_stmt *stmt = NULL;
	rt_status st = rt_sqlite_stmt(s, c, SQL_PROJECT_LAST, &stmt, err);

	if (st != RT_OK)
		return st;
	if (sqlite3_step(stmt) == SQLITE_ROW)
		*out = (uint64_t)sqlite3_column_int64(stmt, 0);
	else
		st = rt_sqlite_fail(s, c->db, "reading its projects", err);
	(void)sqlite3_reset(stmt);
	return st;
}

rt_status
rt_sqlite_write_enter(rt_sqlite_store *s, uint64_t project, rt_error *err)
{
	uint64_t last = 0;
	rt_status st;

	RT_ASSERT(rt_sqlite_is_owner(s));
	if (s->tx_status != RT_OK && !RT_SEEDED(RT_SEEDED_HALF_COMMITTED))
		return rt_sqlite_refuse_broken(s, err);
	if (project != 0 && (project <= s->project_last || project <= s->tx_project_last))
		return RT_OK;
	st = project_last(s, &s->writer, &last, err);
	if (st == RT_OK && (project == 0 || project > last))
		st = rt_fail(err, RT_NOT_FOUND, "there is no project %llu", rt_sqlite_ull(project));
	if (st == RT_OK && last > s->tx_project_last)
		s->tx_project_last = last;
	return st;
}

/* The id of the project of that name, 0 when there is none. */
static rt_status
project_named(rt_sqlite_store *s, rt_sqlite_conn *c, rt_str name, uint64_t *out, rt_error *err)
{
	sqlite3_stmt *stmt = NULL;
	rt_status st = rt_sqlite_stmt(s, c, SQL_PROJECT_FIND, &stmt, err);
	int rc;

	if (st != RT_OK)
		return st;
	(void)sqlite3_bind_blob64(stmt, 1, name.size > 0 ? name.ptr : "", name.size, SQLITE_STATIC);
	rc = sqlite3_step(stmt);
	*out = 0;
	if (rc == SQLITE_ROW) {
		uint64_t id = (uint64_t)sqlite3_column_int64(stmt, 0);

		if (sqlite3_column_int64(stmt, 1) !=
		    rt_sqlite_sum(RT_TABLE_PROJECT, id, 0, name.ptr, name.size))
			st = rt_sqlite_damaged(s, "project", id, err);
		*out = id;
	} else if (rc != SQLITE_DONE) {
		st = rt_sqlite_fail(s, c->db, "reading its projects", err);
	}
	(void)sqlite3_reset(stmt);
	return st;
}

/* A query that finds nothing unless the list of projects is damaged. */
static rt_status
projects_ok(rt_sqlite_store *s, rt_sqlite_conn *c, sqlite3_stmt *stmt, rt_error *err)
{
	rt_status st = RT_OK;
	int rc = sqlite3_step(stmt);

	if (rc == SQLITE_ROW)
		st = rt_fail(err, RT_CORRUPT,
			     "%s is damaged: its list of projects is not complete; run retake fsck",
			     s->place);
	else if (rc != SQLITE_DONE)
		st = rt_sqlite_fail(s, c->db, "reading its projects", err);
	(void)sqlite3_reset(stmt);
	return st;
}

/* There is no project of that name in the index over the names. The table has to agree. */
static rt_status
project_absent(rt_sqlite_store *s, rt_sqlite_conn *c, rt_str name, rt_error *err)
{
	sqlite3_stmt *stmt = NULL;
	rt_status st = rt_sqlite_stmt(s, c, SQL_PROJECT_SCAN, &stmt, err);

	if (st != RT_OK)
		return st;
	(void)sqlite3_bind_blob64(stmt, 1, name.size > 0 ? name.ptr : "", name.size, SQLITE_STATIC);
	return projects_ok(s, c, stmt, err);
}

/* There must be nothing yet of a project that is made now. */
static rt_status
nothing_beyond(rt_sqlite_store *s, rt_sqlite_conn *c, uint64_t last, rt_error *err)
{
	sqlite3_stmt *stmt = NULL;
	rt_status st = rt_sqlite_stmt(s, c, SQL_PROJECT_BEYOND, &stmt, err);

	if (st != RT_OK)
		return st;
	(void)sqlite3_bind_int64(stmt, 1, (int64_t)rt_sqlite_key(last + 1, 0));
	(void)sqlite3_bind_int64(stmt, 2, (int64_t)last);
	return projects_ok(s, c, stmt, err);
}

static rt_status
sqlite_project_new(rt_store *store, rt_str name, uint64_t *out_project, rt_error *err)
{
	rt_sqlite_store *s = rt_sqlite_self(store);
	sqlite3_stmt *stmt = NULL;
	uint64_t last = 0, taken = 0;
	rt_status st;

	RT_ASSERT(rt_sqlite_is_owner(s));
	if (s->tx_status != RT_OK)
		return rt_sqlite_refuse_broken(s, err);
	st = rt_sqlite_size_ok(name.size, err);
	if (st == RT_OK)
		st = project_named(s, &s->writer, name, &taken, err);
	if (st == RT_OK && taken != 0)
		st = rt_fail(err, RT_REFUSED, "there is a project \"%.*s\" already",
			     RT_STR_ARG(name));
	if (st == RT_OK)
		st = project_absent(s, &s->writer, name, err);
	if (st == RT_OK)
		st = project_last(s, &s->writer, &last, err);
	if (st == RT_OK)
		st = nothing_beyond(s, &s->writer, last, err);
	if (st == RT_OK && last >= RT_STORE_PROJECT_MAX)
		st = rt_fail(err, RT_LIMIT, "the store holds %d projects, the most there can be",
			     RT_STORE_PROJECT_MAX);
	if (st == RT_OK)
		st = rt_sqlite_stmt(s, &s->writer, SQL_PROJECT_ADD, &stmt, err);
	if (st != RT_OK)
		return st;
	last++;
	(void)sqlite3_bind_int64(stmt, 1, (int64_t)last);
	(void)sqlite3_bind_int64(stmt, 2,
				 rt_sqlite_sum(RT_TABLE_PROJECT, last, 0, name.ptr, name.size));
	(void)sqlite3_bind_blob64(stmt, 3, name.size > 0 ? name.ptr : "", name.size, SQLITE_STATIC);
	st = rt_sqlite_run(s, &s->writer, stmt, "adding a project", err);
	if (st == RT_OK) {
		s->tx_project_last = last;
		*out_project = last;
	}
	return st;
}

static rt_status
sqlite_project_find(rt_store *store, rt_str name, uint64_t *out_project, rt_error *err)
{
	rt_sqlite_store *s = rt_sqlite_self(store);
	rt_sqlite_reading r = {0};
	uint64_t id = 0;

	while (rt_sqlite_read(s, &r, err)) {
		id = 0;
		r.status = project_named(s, r.conn, name, &id, err);
		if (r.status == RT_OK && id == 0)
			r.status = project_absent(s, r.conn, name, err);
	}
	if (r.status == RT_OK && id == 0)
		return rt_fail(err, RT_NOT_FOUND, "there is no project \"%.*s\"", RT_STR_ARG(name));
	if (r.status == RT_OK)
		*out_project = id;
	return r.status;
}

static rt_status
project_rows(rt_sqlite_store *s, rt_sqlite_reading *r, rt_project_fn fn, void *ctx, rt_error *err)
{
	rt_sqlite_conn *c = r->conn;
	sqlite3_stmt *stmt = NULL;
	int rc = SQLITE_DONE;
	rt_status st = rt_sqlite_stmt(s, c, SQL_PROJECT_LIST, &stmt, err);

	if (st != RT_OK)
		return st;
	while ((rc = sqlite3_step(stmt)) == SQLITE_ROW) {
		uint64_t id = (uint64_t)sqlite3_column_int64(stmt, 0);
		rt_str name = rt_sqlite_column(stmt, 2);

		if (rt_sqlite_column_lost(stmt, 2)) {
			rc = SQLITE_NOMEM;
			break;
		}
		if (sqlite3_column_int64(stmt, 1) !=
		    rt_sqlite_sum(RT_TABLE_PROJECT, id, 0, name.ptr, name.size)) {
			st = rt_sqlite_damaged(s, "project", id, err);
			break;
		}
		r->is_ended = !rt_sqlite_is_told(r) && !fn(ctx, id, name);
		if (r->is_ended)
			break;
	}
	if (rc != SQLITE_ROW && rc != SQLITE_DONE)
		st = rt_sqlite_fail(s, c->db, "reading its projects", err);
	(void)sqlite3_reset(stmt);
	/* All there are? One with an impossible name is in neither. */
	if (st == RT_OK && !r->is_ended)
		st = project_absent(s, c, RT_STR("\0"), err);
	return st;
}

static rt_status
sqlite_project_list(rt_store *store, rt_project_fn fn, void *ctx, rt_error *err)
{
	rt_sqlite_store *s = rt_sqlite_self(store);
	rt_sqlite_reading r = {0};

	while (rt_sqlite_read(s, &r, err))
		r.status = project_rows(s, &r, fn, ctx, err);
	return r.status;
}

/* --- log and bodies --- */

static bool
is_integer(sqlite3_stmt *stmt, int at)
{
	const unsigned char *type = sqlite3_column_text(stmt, at);

	return type != NULL && strcmp((const char *)type, "integer") == 0;
}

/* The last number of a project in a table whose key holds both; 0: none. */
static rt_status
last_number(rt_sqlite_store *s, rt_sqlite_conn *c, rt_sqlite_sql which, uint64_t project,
	    uint64_t *out, rt_error *err)
{
	sqlite3_stmt *stmt = NULL;
	rt_status st = rt_sqlite_stmt(s, c, which, &stmt, err);
	int rc;

	if (st != RT_OK)
		return st;
	(void)sqlite3_bind_int64(stmt, 1, (int64_t)rt_sqlite_key(project, 0));
	(void)sqlite3_bind_int64(stmt, 2, (int64_t)rt_sqlite_key(project, RT_STORE_NUMBER_MAX));
	rc = sqlite3_step(stmt);
	if (rc == SQLITE_ROW)
		*out = (uint64_t)sqlite3_column_int64(stmt, 0) & RT_STORE_NUMBER_MAX;
	else if (rc == SQLITE_DONE)
		*out = 0;
	else
		st = rt_sqlite_fail(s, c->db, "reading it", err);
	/* A page of another table in the place of the last one has other columns. */
	if (rc == SQLITE_ROW && which == SQL_LOG_HEAD &&
	    sqlite3_column_int64(stmt, 1) != RT_STEP_ID_SIZE)
		st = rt_sqlite_damaged(s, "log row", *out, err);
	else if (rc == SQLITE_ROW && which == SQL_BODY_HEAD && !is_integer(stmt, 1))
		st = rt_sqlite_damaged(s, "body", *out, err);
	(void)sqlite3_reset(stmt);
	return st;
}

/* Know the heads of a project inside our begin. */
static rt_status
know_heads(rt_sqlite_store *s, uint64_t project, rt_error *err)
{
	rt_status st;

	if (s->tx_project == project)
		return RT_OK;
	s->tx_project = 0;
	st = last_number(s, &s->writer, SQL_LOG_HEAD, project, &s->tx_head, err);
	if (st == RT_OK)
		st = last_number(s, &s->writer, SQL_BODY_HEAD, project, &s->tx_body_head, err);
	if (st == RT_OK)
		s->tx_project = project;
	return st;
}

/* Where an inner page is damaged, a search for what was added may lead elsewhere. */
rt_status
rt_sqlite_check_added(rt_sqlite_store *s, rt_error *err)
{
	uint64_t head = 0, body = 0;
	rt_status st = last_number(s, &s->writer, SQL_LOG_HEAD, s->tx_project, &head, err);

	if (st == RT_OK)
		st = last_number(s, &s->writer, SQL_BODY_HEAD, s->tx_project, &body, err);
	if (st == RT_OK && (head != s->tx_head || body != s->tx_body_head))
		st = rt_sqlite_damaged(s, head != s->tx_head ? "log row" : "body",
				       head != s->tx_head ? s->tx_head : s->tx_body_head, err);
	return st;
}

static rt_status
head_of(rt_store *store, rt_sqlite_sql which, uint64_t project, uint64_t *out, rt_error *err)
{
	rt_sqlite_store *s = rt_sqlite_self(store);
	rt_sqlite_reading r = {0};
	rt_status st;

	if (project == 0 || project > RT_STORE_PROJECT_MAX) {
		*out = 0;
		return RT_OK;
	}
	if (rt_sqlite_is_owner(s)) {
		st = know_heads(s, project, err);
		if (st == RT_OK)
			*out = which == SQL_LOG_HEAD ? s->tx_head : s->tx_body_head;
		return st;
	}
	while (rt_sqlite_read(s, &r, err))
		r.status = last_number(s, r.conn, which, project, out, err);
	return r.status;
}

static rt_status
sqlite_log_head(rt_store *store, uint64_t project, uint64_t *out_seq, rt_error *err)
{
	return head_of(store, SQL_LOG_HEAD, project, out_seq, err);
}

static rt_status
sqlite_body_head(rt_store *store, uint64_t project, uint64_t *out_number, rt_error *err)
{
	return head_of(store, SQL_BODY_HEAD, project, out_number, err);
}

static rt_status
add_log_row(rt_sqlite_store *s, sqlite3_stmt *stmt, uint64_t key, const rt_log_row *row,
	    rt_error *err)
{
	(void)sqlite3_bind_int64(stmt, 1, (int64_t)key);
	(void)sqlite3_bind_blob(stmt, 2, row->step, RT_STEP_ID_SIZE, SQLITE_STATIC);
	(void)sqlite3_bind_int64(stmt, 3, row->at_us);
	(void)sqlite3_bind_int64(stmt, 4,
				 rt_sqlite_sum(RT_TABLE_LOG, key,
					       rt_sqlite_log_extra(row->step, row->at_us),
					       row->data.ptr, row->data.size));
	rt_sqlite_bind(stmt, 5, row->data);
	return rt_sqlite_run(s, &s->writer, stmt, "adding to its log", err);
}

static rt_status
add_body(rt_sqlite_store *s, sqlite3_stmt *stmt, uint64_t key, const rt_body_row *row,
	 rt_error *err)
{
	(void)sqlite3_bind_int64(stmt, 1, (int64_t)key);
	(void)sqlite3_bind_int64(stmt, 2, (int64_t)row->entry);
	(void)sqlite3_bind_int64(
		stmt, 3,
		rt_sqlite_sum(RT_TABLE_BODY, key, row->entry, row->data.ptr, row->data.size));
	rt_sqlite_bind(stmt, 4, row->data);
	return rt_sqlite_run(s, &s->writer, stmt, "adding a body", err);
}

static rt_status
bodies_ok(uint64_t last, const rt_body_row *bodies, size_t count, rt_error *err)
{
	rt_status st = RT_OK;

	for (size_t i = 0; i < count && st == RT_OK; i++) {
		if (bodies[i].number <= last || bodies[i].number > RT_STORE_NUMBER_MAX)
			return rt_fail(err, RT_USAGE, "body %llu cannot follow body %llu",
				       rt_sqlite_ull(bodies[i].number), rt_sqlite_ull(last));
		st = rt_sqlite_size_ok(bodies[i].data.size, err);
		last = bodies[i].number;
	}
	return st;
}

static rt_status
append_rows(rt_sqlite_store *s, uint64_t project, uint64_t head, const rt_log_row *rows,
	    size_t row_count, const rt_body_row *bodies, size_t body_count, rt_error *err)
{
	sqlite3_stmt *log = NULL, *body = NULL;
	rt_status st = RT_OK;

	if (row_count > 0)
		st = rt_sqlite_stmt(s, &s->writer, SQL_LOG_ADD, &log, err);
	if (st == RT_OK && body_count > 0)
		st = rt_sqlite_stmt(s, &s->writer, SQL_BODY_ADD, &body, err);
	if (st != RT_OK)
		return st;
	for (size_t i = 0; i < row_count && st == RT_OK && RT_SEEDED(RT_SEEDED_LOG_FIRST); i++) {
		rt_log_row empty = rows[i];

		empty.data.size = 0;
		st = add_log_row(s, log, rt_sqlite_key(project, head + i + 1), &empty, err);
		if (st == RT_OK)
			st = rt_sqlite_exec(s, &s->writer,
					    "COMMIT; BEGIN IMMEDIATE;"
					    "DELETE FROM log WHERE data = x''",
					    "", err);
	}
	for (size_t i = 0; i < row_count && st == RT_OK; i++)
		st = add_log_row(s, log, rt_sqlite_key(project, head + i + 1), &rows[i], err);
	if (RT_SEEDED(RT_SEEDED_TWO_TRANSACTIONS) && st == RT_OK)
		st = rt_sqlite_exec(s, &s->writer, "COMMIT; BEGIN IMMEDIATE", "", err);
	for (size_t i = 0; i < body_count && st == RT_OK; i++)
		st = add_body(s, body, rt_sqlite_key(project, bodies[i].number), &bodies[i], err);
	return st;
}

static rt_status
sqlite_append(rt_store *store, uint64_t project, uint64_t expected, const rt_log_row *rows,
	      size_t row_count, const rt_body_row *bodies, size_t body_count, uint64_t *out_head,
	      rt_error *err)
{
	rt_sqlite_store *s = rt_sqlite_self(store);
	uint64_t head;
	rt_status st = rt_sqlite_write_enter(s, project, err);

	if (st == RT_OK)
		st = know_heads(s, project, err);
	if (st != RT_OK)
		return st;
	head = s->tx_head;
	if (head != expected && !RT_SEEDED(RT_SEEDED_NO_CONFLICT)) {
		if (out_head != NULL)
			*out_head = head;
		return rt_fail(err, RT_CONFLICT, "the log is at %llu, not at %llu",
			       rt_sqlite_ull(head), rt_sqlite_ull(expected));
	}
	if (row_count > RT_STORE_NUMBER_MAX - head)
		return rt_fail(err, RT_LIMIT, "the log of project %llu is full",
			       rt_sqlite_ull(project));
	for (size_t i = 0; i < row_count && st == RT_OK; i++)
		st = rt_sqlite_size_ok(rows[i].data.size, err);
	if (st == RT_OK)
		st = bodies_ok(s->tx_body_head, bodies, body_count, err);
	if (st == RT_OK)
		st = append_rows(s, project, head, rows, row_count, bodies, body_count, err);
	if (st != RT_OK)
		return st;
	s->tx_added = true;
	s->tx_head = head + row_count;
	if (body_count > 0)
		s->tx_body_head = bodies[body_count - 1].number;
	if (out_head != NULL)
		*out_head = s->tx_head;
	return RT_OK;
}

/* One row of the log from its statement, checked. */
static rt_status
log_row_of(rt_sqlite_store *s, sqlite3_stmt *stmt, rt_log_row *out, rt_error *err)
{
	uint64_t key = (uint64_t)sqlite3_column_int64(stmt, 0);
	rt_str step = rt_sqlite_column(stmt, 2);

	out->seq = key & RT_STORE_NUMBER_MAX;
	out->at_us = sqlite3_column_int64(stmt, 3);
	out->data = rt_sqlite_column(stmt, 4);
	if (rt_sqlite_column_lost(stmt, 4))
		return rt_fail(err, RT_NOMEM, "out of memory while reading the log");
	if (step.size != RT_STEP_ID_SIZE)
		return rt_sqlite_damaged(s, "log row", out->seq, err);
	memcpy(out->step, step.ptr, RT_STEP_ID_SIZE);
	if (sqlite3_column_int64(stmt, 1) !=
	    rt_sqlite_sum(RT_TABLE_LOG, key, rt_sqlite_log_extra(out->step, out->at_us),
			  out->data.ptr, out->data.size))
		return rt_sqlite_damaged(s, "log row", out->seq, err);
	return RT_OK;
}

/* A scan did not come to this row. Fine where the log ends before it, or where it was added
 * after the scan; else it was lost. */
static rt_status
row_not_lost(rt_sqlite_store *s, rt_sqlite_conn *c, uint64_t project, uint64_t seq, rt_error *err)
{
	uint64_t head = 0;
	sqlite3_stmt *stmt = NULL;
	rt_status st = last_number(s, c, SQL_LOG_HEAD, project, &head, err);
	int rc;

	if (st != RT_OK || seq > head)
		return st;
	st = rt_sqlite_stmt(s, c, SQL_LOG_UP, &stmt, err);
	if (st != RT_OK)
		return st;
	(void)sqlite3_bind_int64(stmt, 1, (int64_t)rt_sqlite_key(project, seq));
	(void)sqlite3_bind_int64(stmt, 2, (int64_t)rt_sqlite_key(project, seq));
	rc = sqlite3_step(stmt);
	if (rc == SQLITE_DONE)
		st = rt_sqlite_damaged(s, "log row", seq, err);
	else if (rc != SQLITE_ROW)
		st = rt_sqlite_fail(s, c->db, "reading the log", err);
	(void)sqlite3_reset(stmt);
	return st;
}

static rt_status
log_read_rows(rt_sqlite_store *s, rt_sqlite_reading *r, uint64_t project, uint64_t first,
	      uint64_t last, rt_log_fn fn, void *ctx, rt_error *err)
{
	rt_sqlite_conn *c = r->conn;
	bool down = first > last;
	uint64_t low = down ? last : first, high = down ? first : last, before = 0, top = 0;
	sqlite3_stmt *stmt = NULL;
	rt_status st = rt_sqlite_stmt(s, c, down ? SQL_LOG_DOWN : SQL_LOG_UP, &stmt, err);
	int rc = SQLITE_DONE;

	if (st != RT_OK)
		return st;
	if (high > RT_STORE_NUMBER_MAX)
		high = RT_STORE_NUMBER_MAX;
	if (low == 0)
		low = 1;
	(void)sqlite3_bind_int64(stmt, 1, (int64_t)rt_sqlite_key(project, low));
	(void)sqlite3_bind_int64(stmt, 2, (int64_t)rt_sqlite_key(project, high));
	while ((rc = sqlite3_step(stmt)) == SQLITE_ROW) {
		rt_log_row row;

		st = log_row_of(s, stmt, &row, err);
		/* Rows have no gaps, so a missing one was lost. */
		if (st == RT_OK && before != 0 && row.seq != (down ? before - 1 : before + 1))
			st = rt_sqlite_damaged(s, "log row", down ? before - 1 : before + 1, err);
		if (st == RT_OK && before == 0 && !down && row.seq != low)
			st = rt_sqlite_damaged(s, "log row", low, err);
		if (st != RT_OK)
			break;
		r->is_ended = !rt_sqlite_is_told(r) && !fn(ctx, &row);
		if (r->is_ended)
			break;
		before = row.seq;
		top = row.seq > top ? row.seq : top;
	}
	if (rc != SQLITE_ROW && rc != SQLITE_DONE && !RT_SEEDED(RT_SEEDED_READ_EMPTY))
		st = rt_sqlite_fail(s, c->db, "reading the log", err);
	(void)sqlite3_reset(stmt);
	if (st != RT_OK || rc != SQLITE_DONE)
		return st;
	/* No row came before the first and none after the last: is there none? */
	if (before == 0)
		st = row_not_lost(s, c, project, low, err);
	else if (top < high)
		st = row_not_lost(s, c, project, top + 1, err);
	if (st == RT_OK && top < high)
		st = row_not_lost(s, c, project, high, err);
	if (st == RT_OK && down && before > low)
		st = row_not_lost(s, c, project, before - 1, err);
	return st;
}

static rt_status
sqlite_log_read(rt_store *store, uint64_t project, uint64_t first, uint64_t last, rt_log_fn fn,
		void *ctx, rt_error *err)
{
	rt_sqlite_store *s = rt_sqlite_self(store);
	rt_sqlite_reading r = {0};

	if (project == 0 || project > RT_STORE_PROJECT_MAX ||
	    (first > RT_STORE_NUMBER_MAX && last > RT_STORE_NUMBER_MAX))
		return RT_OK;
	while (rt_sqlite_read(s, &r, err))
		r.status = log_read_rows(s, &r, project, first, last, fn, ctx, err);
	return r.status;
}

/* Bodies from .. to, each checked and handed to fn. */
static rt_status
body_rows(rt_sqlite_store *s, rt_sqlite_reading *r, uint64_t project, uint64_t first, uint64_t last,
	  rt_body_fn fn, void *ctx, rt_error *err)
{
	rt_sqlite_conn *c = r->conn;
	sqlite3_stmt *stmt = NULL;
	rt_status st = rt_sqlite_stmt(s, c, SQL_BODY_SCAN, &stmt, err);
	int rc = SQLITE_DONE;

	if (st != RT_OK)
		return st;
	(void)sqlite3_bind_int64(stmt, 1, (int64_t)rt_sqlite_key(project, first));
	(void)sqlite3_bind_int64(stmt, 2, (int64_t)rt_sqlite_key(project, last));
	while ((rc = sqlite3_step(stmt)) == SQLITE_ROW) {
		uint64_t key = (uint64_t)sqlite3_column_int64(stmt, 0);
		rt_body_row row;

		row.number = key & RT_STORE_NUMBER_MAX;
		row.entry = (uint64_t)sqlite3_column_int64(stmt, 2);
		row.data = rt_sqlite_column(stmt, 3);
		if (rt_sqlite_column_lost(stmt, 3))
			st = rt_fail(err, RT_NOMEM, "out of memory while reading a body");
		else if (sqlite3_column_int64(stmt, 1) !=
			 rt_sqlite_sum(RT_TABLE_BODY, key, row.entry, row.data.ptr, row.data.size))
			st = rt_sqlite_damaged(s, "body", row.number, err);
		if (st != RT_OK)
			break;
		r->is_ended = !rt_sqlite_is_told(r) && !fn(ctx, &row);
		if (r->is_ended)
			break;
	}
	if (rc != SQLITE_ROW && rc != SQLITE_DONE)
		st = rt_sqlite_fail(s, c->db, "reading a body", err);
	(void)sqlite3_reset(stmt);
	return st;
}

static rt_status
sqlite_body_scan(rt_store *store, uint64_t project, uint64_t first, uint64_t last, rt_body_fn fn,
		 void *ctx, rt_error *err)
{
	rt_sqlite_store *s = rt_sqlite_self(store);
	rt_sqlite_reading r = {0};

	if (last > RT_STORE_NUMBER_MAX)
		last = RT_STORE_NUMBER_MAX;
	if (project == 0 || project > RT_STORE_PROJECT_MAX || first > last)
		return RT_OK;
	while (rt_sqlite_read(s, &r, err))
		r.status = body_rows(s, &r, project, first, last, fn, ctx, err);
	return r.status;
}

/* One transaction around all: without it, each look would take and leave the file's locks. */
static rt_status
picked_bodies(rt_sqlite_store *s, rt_sqlite_reading *r, uint64_t project, const uint64_t *numbers,
	      size_t count, rt_body_fn fn, void *ctx, rt_error *err)
{
	rt_sqlite_conn *c = r->conn;
	bool alone = sqlite3_get_autocommit(c->db) != 0;
	rt_status st = RT_OK;
	size_t from, to;

	if (alone)
		st = rt_sqlite_exec(s, c, "BEGIN", "reading bodies", err);
	for (from = 0; st == RT_OK && !r->is_ended && from < count; from = to) {
		to = from + 1;
		while (to < count && numbers[to] == numbers[to - 1] + 1)
			to++;
		if (numbers[from] <= RT_STORE_NUMBER_MAX)
			st = body_rows(s, r, project, numbers[from], numbers[to - 1], fn, ctx, err);
	}
	if (alone && sqlite3_get_autocommit(c->db) == 0 &&
	    sqlite3_exec(c->db, "END", NULL, NULL, NULL) != SQLITE_OK && st == RT_OK)
		st = rt_sqlite_fail(s, c->db, "reading bodies", err);
	return st;
}

static rt_status
sqlite_body_pick(rt_store *store, uint64_t project, const uint64_t *numbers, size_t count,
		 rt_body_fn fn, void *ctx, rt_error *err)
{
	rt_sqlite_store *s = rt_sqlite_self(store);
	rt_sqlite_reading r = {0};

	if (project == 0 || project > RT_STORE_PROJECT_MAX)
		return RT_OK;
	while (rt_sqlite_read(s, &r, err))
		r.status = picked_bodies(s, &r, project, numbers, count, fn, ctx, err);
	return r.status;
}

typedef struct one_body {
	rt_buf *out;
	uint64_t entry;
	bool found;
} one_body;

static bool
take_body(void *ctx, const rt_body_row *row)
{
	one_body *one = ctx;

	rt_buf_add(one->out, row->data.ptr, row->data.size);
	one->entry = row->entry;
	one->found = true;
	return false;
}

rt_status
rt_sqlite_missing(const char *noun, uint64_t project, uint64_t number, rt_error *err)
{
	return rt_fail(err, RT_NOT_FOUND, "there is no %s %llu in project %llu", noun,
		       rt_sqlite_ull(number), rt_sqlite_ull(project));
}

rt_status
rt_sqlite_no_room(const rt_buf *out, const char *noun, uint64_t number, rt_error *err)
{
	return rt_fail(err, out->status,
		       out->status == RT_NOMEM ? "out of memory while reading %s %llu"
					       : "%s %llu is larger than what takes it",
		       noun, rt_sqlite_ull(number));
}

static rt_status
sqlite_body_read(rt_store *store, uint64_t project, uint64_t number, rt_buf *out,
		 uint64_t *out_entry, rt_error *err)
{
	one_body one = {out, 0, false};
	rt_status st = sqlite_body_scan(store, project, number, number, take_body, &one, err);

	if (st != RT_OK)
		return st;
	if (!one.found)
		return rt_sqlite_missing("body", project, number, err);
	if (out->status != RT_OK)
		return rt_sqlite_no_room(out, "body", number, err);
	if (out_entry != NULL)
		*out_entry = one.entry;
	return RT_OK;
}

const rt_store_ops rt_sqlite_ops = {
	.kind = "sqlite",
	.close = rt_sqlite_close,
	.place = rt_sqlite_place,
	.is_read_only = rt_sqlite_is_read_only,
	.epoch = rt_sqlite_epoch,
	.begin = rt_sqlite_begin,
	.commit = rt_sqlite_commit,
	.cancel = rt_sqlite_cancel,
	.project_new = sqlite_project_new,
	.project_find = sqlite_project_find,
	.project_list = sqlite_project_list,
	.log_head = sqlite_log_head,
	.append = sqlite_append,
	.log_read = sqlite_log_read,
	.body_read = sqlite_body_read,
	.body_scan = sqlite_body_scan,
	.body_pick = sqlite_body_pick,
	.body_head = sqlite_body_head,
	.node_write = rt_sqlite_node_write,
	.node_drop = rt_sqlite_node_drop,
	.node_drop_all = rt_sqlite_node_drop_all,
	.node_read = rt_sqlite_node_read,
	.node_pick = rt_sqlite_node_pick,
	.node_list = rt_sqlite_node_list,
	.root_write = rt_sqlite_root_write,
	.root_read = rt_sqlite_root_read,
	.side_write = rt_sqlite_side_write,
	.side_read = rt_sqlite_side_read,
	.side_list = rt_sqlite_side_list,
	.index_mark = rt_sqlite_index_mark,
	.index_add = rt_sqlite_index_add,
	.index_find = rt_sqlite_index_find,
	.body_replace = rt_sqlite_body_replace,
	.log_replace = rt_sqlite_log_replace,
	.index_drop = rt_sqlite_index_drop,
	.index_clear = rt_sqlite_index_clear,
	.scrub = rt_sqlite_scrub,
	.backup = rt_sqlite_backup,
	.check = rt_sqlite_check,
	.epoch_renew = rt_sqlite_epoch_renew,
};
