/* SPDX-License-Identifier: MIT
 *
 * The numbered tables of the SQLite store: projects, log, bodies, nodes, root and side rows.
 *
 * They differ in the statements to use and in a few checks: the log has no gaps, and a project
 * is looked for both in its table and in the index over names, since a damaged page in either
 * must not make it disappear. */
#include "store/store_sqlite_impl.h"

typedef struct source {
	enum rt_sqlite_table table;
	rt_sqlite_sql scan;                 /* ?1 .. ?2, or of project ?1 */
	rt_sqlite_sql one;                  /* row ?1; 0: by scan */
	rt_sqlite_sql named, numbers, head; /* 0: there is none */
	const char *noun;                   /* in messages */
	const char *doing;
} source;

static const source sources[] = {
	[RT_STORE_PROJECTS] = {.table = RT_TABLE_PROJECT,
			       .scan = SQL_PROJECT_LIST,
			       .named = SQL_PROJECT_FIND,
			       .noun = "project",
			       .doing = "reading its projects"},
	[RT_STORE_LOG] = {.table = RT_TABLE_LOG,
			  .scan = SQL_LOG_UP,
			  .head = SQL_LOG_HEAD,
			  .noun = "log row",
			  .doing = "reading the log"},
	[RT_STORE_BODIES] = {.table = RT_TABLE_BODY,
			     .scan = SQL_BODY_UP,
			     .head = SQL_BODY_HEAD,
			     .noun = "body",
			     .doing = "reading a body"},
	[RT_STORE_NODES] = {.table = RT_TABLE_NODE,
			    .scan = SQL_NODE_UP,
			    .one = SQL_NODE_GET,
			    .numbers = SQL_NODE_NUMBERS,
			    .head = SQL_NODE_HEAD,
			    .noun = "node",
			    .doing = "reading it"},
	[RT_STORE_ROOT] = {.table = RT_TABLE_ROOT,
			   .scan = SQL_ROOT_GET,
			   .noun = "root",
			   .doing = "reading it"},
	[RT_STORE_SIDE] = {.table = RT_TABLE_SIDE,
			   .scan = SQL_SIDE_LIST,
			   .named = SQL_SIDE_GET,
			   .noun = "side row of project",
			   .doing = "listing side rows"},
};

/* --- projects --- */

static uint64_t
project_last(rt_sqlite_call *call)
{
	rt_sqlite_query q = rt_sqlite_select(call, SQL_PROJECT_LAST, "reading its projects", NULL);
	uint64_t last = rt_sqlite_next(&q) ? (uint64_t)sqlite3_column_int64(q.stmt, 0) : 0;

	rt_sqlite_end(&q);
	return last;
}

rt_sqlite_call
rt_sqlite_writing_store(rt_store *store, rt_error *err)
{
	rt_sqlite_store *s = rt_sqlite_self(store);
	rt_sqlite_call call = {.store = s, .conn = &s->writer, .err = err};

	RT_ASSERT(rt_sqlite_is_owner(s));
	/* SQLite ends some transactions by itself when a write fails, and others then hold half
	 * of a call. Neither may be committed, nor may anything more be written. */
	if (s->tx_status != RT_OK)
		call.status = rt_fail(err, s->tx_status,
				      "%s: nothing is written, because an earlier write of the "
				      "same step failed (%s)",
				      s->place, rt_status_word(s->tx_status));
	return call;
}

rt_sqlite_call
rt_sqlite_writing(rt_store *store, uint64_t project, rt_error *err)
{
	rt_sqlite_store *s = rt_sqlite_self(store);
	rt_sqlite_call call = rt_sqlite_writing_store(store, err);

	if (project == 0 || (project > s->project_last && project > s->tx_project_last)) {
		uint64_t last = project_last(&call);

		if (call.status == RT_OK && (project == 0 || project > last))
			call.status = rt_fail(err, RT_NOT_FOUND, "there is no project %llu",
					      rt_sqlite_ull(project));
		if (call.status == RT_OK)
			s->tx_project_last = last;
	}
	return call;
}

/* Runs a query that has no rows unless the list of projects is damaged. */
static void
projects_ok(rt_sqlite_call *call, rt_sqlite_sql which, const rt_sqlite_value *values)
{
	rt_sqlite_query q = rt_sqlite_select(call, which, "reading its projects", values);

	if (rt_sqlite_next(&q))
		call->status = rt_fail(call->err, RT_CORRUPT,
				       "%s is damaged: its list of projects is not complete; run "
				       "retake fsck",
				       call->store->place);
	rt_sqlite_end(&q);
}

/* The index over names has no project of that name. The table has to agree. */
static void
project_absent(rt_sqlite_call *call, rt_str name)
{
	projects_ok(call, SQL_PROJECT_SCAN, RT_SQL_VALUES(RT_SQL_BLOB(name)));
}

rt_status
rt_sqlite_project_new(rt_store *store, rt_str name, uint64_t *out_project, rt_error *err)
{
	rt_sqlite_store *s = rt_sqlite_self(store);
	rt_sqlite_call call = rt_sqlite_writing_store(store, err);
	rt_sqlite_query q;
	uint64_t last;

	rt_sqlite_size_ok(&call, name.size);
	q = rt_sqlite_select(&call, SQL_PROJECT_FIND, "reading its projects",
			     RT_SQL_VALUES(RT_SQL_BLOB(name)));
	if (rt_sqlite_next(&q)) {
		rt_store_row row;
		uint64_t key;

		if (rt_sqlite_row_read(q.stmt, RT_TABLE_PROJECT, &key, &row) != RT_OK)
			rt_sqlite_damaged(&call, "project", key);
		else
			call.status = rt_fail(err, RT_REFUSED,
					      "there is a project \"%.*s\" already",
					      RT_STR_ARG(name));
	}
	rt_sqlite_end(&q);
	project_absent(&call, name);
	last = project_last(&call);
	/* There must be nothing of the new project yet. */
	projects_ok(&call, SQL_PROJECT_BEYOND,
		    RT_SQL_VALUES(RT_SQL_NUMBER(rt_sqlite_key(last + 1, 0)), RT_SQL_NUMBER(last)));
	if (call.status == RT_OK && last >= RT_STORE_PROJECT_MAX)
		call.status = rt_fail(err, RT_LIMIT,
				      "the store holds %d projects, the most there can be",
				      RT_STORE_PROJECT_MAX);
	rt_sqlite_row_write(&call, SQL_PROJECT_ADD, "adding a project", RT_TABLE_PROJECT, last + 1,
			    &(rt_store_row){.data = name});
	if (call.status == RT_OK) {
		s->tx_project_last = last + 1;
		*out_project = last + 1;
	}
	return call.status;
}

/* --- heads --- */

/* The last number of a project in a table whose key holds both; 0: none. */
static uint64_t
last_number(rt_sqlite_call *call, rt_store_table table, uint64_t project)
{
	const source *src = &sources[table];
	rt_sqlite_query q = rt_sqlite_select(
		call, src->head, "reading it",
		RT_SQL_VALUES(RT_SQL_NUMBER(rt_sqlite_key(project, 0)),
			      RT_SQL_NUMBER(rt_sqlite_key(project, RT_STORE_NUMBER_MAX))));
	uint64_t number = 0;

	RT_ASSERT(src->head != 0);
	if (rt_sqlite_next(&q)) {
		number = (uint64_t)sqlite3_column_int64(q.stmt, 0) & RT_STORE_NUMBER_MAX;
		if (sqlite3_column_int64(q.stmt, 1) != 1)
			rt_sqlite_damaged(call, src->noun, number);
	}
	rt_sqlite_end(&q);
	return number;
}

/* Caches the heads of a project inside our begin. */
static void
know_heads(rt_sqlite_call *call, uint64_t project)
{
	rt_sqlite_store *s = call->store;

	if (call->status != RT_OK || s->tx_project == project)
		return;
	s->tx_project = 0;
	s->tx_head = last_number(call, RT_STORE_LOG, project);
	s->tx_body_head = last_number(call, RT_STORE_BODIES, project);
	if (call->status == RT_OK)
		s->tx_project = project;
}

/* Where an inner page is damaged, a search for what was added may lead elsewhere. */
void
rt_sqlite_check_added(rt_sqlite_call *call)
{
	const rt_sqlite_store *s = call->store;
	uint64_t head = last_number(call, RT_STORE_LOG, s->tx_project);
	uint64_t body = last_number(call, RT_STORE_BODIES, s->tx_project);

	if (head != s->tx_head)
		rt_sqlite_damaged(call, "log row", s->tx_head);
	if (body != s->tx_body_head)
		rt_sqlite_damaged(call, "body", s->tx_body_head);
}

rt_status
rt_sqlite_head(rt_store *store, rt_store_table table, uint64_t project, uint64_t *out_number,
	       rt_error *err)
{
	rt_sqlite_store *s = rt_sqlite_self(store);
	rt_sqlite_call call = rt_sqlite_reading(store, err);
	bool cached = rt_sqlite_is_owner(s) && (table == RT_STORE_LOG || table == RT_STORE_BODIES);
	uint64_t number = 0;

	if (table != RT_STORE_PROJECTS && (project == 0 || project > RT_STORE_PROJECT_MAX)) {
		*out_number = 0;
		return RT_OK;
	}
	while (rt_sqlite_attempt(&call)) {
		if (cached) {
			know_heads(&call, project);
			number = table == RT_STORE_LOG ? s->tx_head : s->tx_body_head;
		} else if (table == RT_STORE_INDEX) {
			number = rt_sqlite_index_mark(&call, project);
		} else if (table == RT_STORE_PROJECTS) {
			number = project_last(&call);
		} else {
			number = last_number(&call, table, project);
		}
	}
	if (call.status == RT_OK)
		*out_number = number;
	return call.status;
}

/* --- reading --- */

typedef struct reader {
	rt_sqlite_call call;
	const rt_rows *rows;
	const source *src;
	rt_store_row_fn fn;
	void *ctx;
	bool down;
	/* The last row that was passed on: a later attempt continues after it. */
	bool has_last;
	uint64_t last_number;
	rt_buf last_name;
} reader;

/* Was the row passed on by an earlier attempt? */
static bool
is_repeated(const reader *r, const rt_store_row *row)
{
	if (!r->has_last)
		return false;
	if (r->rows->table == RT_STORE_ROOT)
		return true;
	if (r->rows->table == RT_STORE_SIDE)
		return rt_str_cmp(row->name, rt_buf_str(&r->last_name)) <= 0;
	return r->down ? row->number >= r->last_number : row->number <= r->last_number;
}

static void
pass_on(reader *r, const rt_store_row *row)
{
	if (r->call.status != RT_OK || is_repeated(r, row))
		return;
	r->has_last = true;
	r->last_number = row->number;
	if (r->rows->table == RT_STORE_SIDE && r->call.store->options.read_only) {
		rt_buf_clear(&r->last_name);
		rt_buf_add_str(&r->last_name, row->name);
		if (r->last_name.status != RT_OK)
			r->call.status = rt_fail(r->call.err, RT_NOMEM,
						 "out of memory while listing side rows");
	}
	if (r->call.status == RT_OK)
		r->call.is_ended = !r->fn(r->ctx, row);
}

static rt_sqlite_query
select_range(reader *r, uint64_t first, uint64_t last)
{
	const rt_rows *rows = r->rows;
	rt_sqlite_sql which = r->down                                      ? SQL_LOG_DOWN
			      : rows->numbers_only && r->src->numbers != 0 ? r->src->numbers
									   : r->src->scan;

	if (rows->is_named && rows->table == RT_STORE_PROJECTS)
		return rt_sqlite_select(&r->call, r->src->named, r->src->doing,
					RT_SQL_VALUES(RT_SQL_BLOB(rows->name)));
	if (rows->is_named)
		return rt_sqlite_select(
			&r->call, r->src->named, r->src->doing,
			RT_SQL_VALUES(RT_SQL_NUMBER(rows->project), RT_SQL_BLOB(rows->name)));
	if (rows->table == RT_STORE_ROOT || rows->table == RT_STORE_SIDE)
		return rt_sqlite_select(&r->call, which, r->src->doing,
					RT_SQL_VALUES(RT_SQL_NUMBER(rows->project)));
	if (first == last && which == r->src->scan && r->src->one != 0)
		return rt_sqlite_select(
			&r->call, r->src->one, r->src->doing,
			RT_SQL_VALUES(RT_SQL_NUMBER(rt_sqlite_key(rows->project, first))));
	/* The key of a project is its number. */
	return rt_sqlite_select(&r->call, which, r->src->doing,
				RT_SQL_VALUES(RT_SQL_NUMBER(rt_sqlite_key(rows->project, first)),
					      RT_SQL_NUMBER(rt_sqlite_key(rows->project, last))));
}

static void
read_row(reader *r, sqlite3_stmt *stmt, rt_store_row *out)
{
	uint64_t key = (uint64_t)sqlite3_column_int64(stmt, 0);
	rt_status st;

	if (r->rows->numbers_only && r->src->numbers != 0) {
		*out = (rt_store_row){.number = key & RT_STORE_NUMBER_MAX};
		return;
	}
	st = rt_sqlite_row_read(stmt, r->src->table, &key, out);
	if (st == RT_CORRUPT)
		rt_sqlite_damaged(&r->call, r->src->noun, key & RT_STORE_NUMBER_MAX);
	else if (st != RT_OK)
		r->call.status = rt_fail(r->call.err, st, "out of memory while %s", r->src->doing);
}

static void
read_range(reader *r, uint64_t first, uint64_t last)
{
	rt_sqlite_query q = select_range(r, first, last);
	rt_store_row row;

	while (!r->call.is_ended && rt_sqlite_next(&q)) {
		read_row(r, q.stmt, &row);
		pass_on(r, &row);
	}
	rt_sqlite_end(&q);
}

/* A scan did not come to this row. That is fine where the log ends before it, or where it was
 * added after the scan; else it was lost. */
static void
row_not_lost(rt_sqlite_call *call, uint64_t project, uint64_t seq)
{
	uint64_t key = rt_sqlite_key(project, seq);
	rt_sqlite_query q;

	if (seq > last_number(call, RT_STORE_LOG, project))
		return;
	q = rt_sqlite_select(call, SQL_LOG_UP, "reading the log",
			     RT_SQL_VALUES(RT_SQL_NUMBER(key), RT_SQL_NUMBER(key)));
	if (!rt_sqlite_next(&q))
		rt_sqlite_damaged(call, "log row", seq);
	rt_sqlite_end(&q);
}

static void
read_log(reader *r, uint64_t low, uint64_t high)
{
	uint64_t project = r->rows->project, before = 0, top = 0;
	rt_sqlite_query q = select_range(r, low, high);
	rt_store_row row;

	while (!r->call.is_ended && rt_sqlite_next(&q)) {
		uint64_t expected = before == 0 ? low : r->down ? before - 1 : before + 1;

		read_row(r, q.stmt, &row);
		/* Rows have no gaps, so a missing one was lost. */
		if (row.number != expected && (before != 0 || !r->down))
			rt_sqlite_damaged(&r->call, "log row", expected);
		pass_on(r, &row);
		before = row.number;
		top = row.number > top ? row.number : top;
	}
	rt_sqlite_end(&q);
	if (r->call.is_ended)
		return;
	/* Nothing came before the first row and after the last one: does nothing exist there? */
	if (before == 0)
		row_not_lost(&r->call, project, low);
	else if (top < high)
		row_not_lost(&r->call, project, top + 1);
	if (top < high)
		row_not_lost(&r->call, project, high);
	if (r->down && before > low)
		row_not_lost(&r->call, project, before - 1);
}

/* Reads numbers in runs, in one transaction: otherwise each run would take and release the
 * file's locks. */
static void
read_listed(reader *r)
{
	const uint64_t *numbers = r->rows->numbers;
	size_t count = r->rows->number_count;
	sqlite3 *db = r->call.conn->db;
	bool alone = sqlite3_get_autocommit(db) != 0;

	if (alone)
		rt_sqlite_run(&r->call, SQL_SNAPSHOT, r->src->doing, NULL);
	for (size_t from = 0, to; r->call.status == RT_OK && !r->call.is_ended && from < count;
	     from = to) {
		to = from + 1;
		while (to < count && numbers[to] == numbers[to - 1] + 1)
			to++;
		if (numbers[from] <= RT_STORE_NUMBER_MAX)
			read_range(r, numbers[from], numbers[to - 1]);
	}
	if (alone && sqlite3_get_autocommit(db) == 0 &&
	    sqlite3_exec(db, "END", NULL, NULL, NULL) != SQLITE_OK)
		rt_sqlite_call_fail(&r->call, r->src->doing);
}

static void
read_all(reader *r, uint64_t first, uint64_t last)
{
	if (r->rows->numbers != NULL)
		read_listed(r);
	else if (r->rows->table == RT_STORE_LOG)
		read_log(r, first, last);
	else
		read_range(r, first, last);
	/* Are these all? A project with an impossible name is in neither table nor index. */
	if (r->rows->table == RT_STORE_PROJECTS && !r->call.is_ended)
		project_absent(&r->call, r->rows->is_named ? r->rows->name : RT_STR("\0"));
}

rt_status
rt_sqlite_read(rt_store *store, rt_rows rows, rt_store_row_fn fn, void *ctx, rt_error *err)
{
	reader r = {.call = rt_sqlite_reading(store, err),
		    .rows = &rows,
		    .src = &sources[rows.table],
		    .fn = fn,
		    .ctx = ctx,
		    .down = rows.table == RT_STORE_LOG && rows.first > rows.last};
	uint64_t first = r.down ? rows.last : rows.first, last = r.down ? rows.first : rows.last;

	RT_ASSERT(rows.table < RT_STORE_INDEX);
	if (rows.table != RT_STORE_PROJECTS &&
	    (rows.project == 0 || rows.project > RT_STORE_PROJECT_MAX))
		return RT_OK;
	if (rows.table == RT_STORE_LOG && first == 0)
		first = 1;
	if (last > RT_STORE_NUMBER_MAX)
		last = RT_STORE_NUMBER_MAX;
	if (first > last || (rows.numbers != NULL && rows.number_count == 0))
		return RT_OK;
	rt_buf_init(&r.last_name, r.call.store->alloc, RT_BUF_UNLIMITED);
	while (rt_sqlite_attempt(&r.call))
		read_all(&r, first, last);
	rt_buf_deinit(&r.last_name);
	return r.call.status;
}

/* --- writing --- */

static void
check_bodies(rt_sqlite_call *call, uint64_t last, const rt_store_row *bodies, size_t count)
{
	for (size_t i = 0; i < count && call->status == RT_OK; i++) {
		if (bodies[i].number <= last || bodies[i].number > RT_STORE_NUMBER_MAX)
			call->status = rt_fail(
				call->err, RT_USAGE, "body %llu cannot follow body %llu",
				rt_sqlite_ull(bodies[i].number), rt_sqlite_ull(last));
		rt_sqlite_size_ok(call, bodies[i].data.size);
		last = bodies[i].number;
	}
}

rt_status
rt_sqlite_append(rt_store *store, uint64_t project, uint64_t expected, const rt_store_row *rows,
		 size_t row_count, const rt_store_row *bodies, size_t body_count,
		 uint64_t *out_head, rt_error *err)
{
	rt_sqlite_store *s = rt_sqlite_self(store);
	rt_sqlite_call call = rt_sqlite_writing(store, project, err);
	uint64_t head;

	know_heads(&call, project);
	if (call.status != RT_OK)
		return call.status;
	head = s->tx_head;
	if (head != expected) {
		if (out_head != NULL)
			*out_head = head;
		return rt_fail(err, RT_CONFLICT, "the log is at %llu, not at %llu",
			       rt_sqlite_ull(head), rt_sqlite_ull(expected));
	}
	if (row_count > RT_STORE_NUMBER_MAX - head)
		return rt_fail(err, RT_LIMIT, "the log of project %llu is full",
			       rt_sqlite_ull(project));
	for (size_t i = 0; i < row_count; i++)
		rt_sqlite_size_ok(&call, rows[i].data.size);
	check_bodies(&call, s->tx_body_head, bodies, body_count);
	for (size_t i = 0; i < row_count && call.status == RT_OK; i++)
		rt_sqlite_row_write(&call, SQL_LOG_ADD, "adding to its log", RT_TABLE_LOG,
				    rt_sqlite_key(project, head + i + 1), &rows[i]);
	for (size_t i = 0; i < body_count && call.status == RT_OK; i++)
		rt_sqlite_row_write(&call, SQL_BODY_ADD, "adding a body", RT_TABLE_BODY,
				    rt_sqlite_key(project, bodies[i].number), &bodies[i]);
	if (call.status != RT_OK)
		return call.status;
	s->tx_added = true;
	s->tx_head = head + row_count;
	if (body_count > 0)
		s->tx_body_head = bodies[body_count - 1].number;
	if (out_head != NULL)
		*out_head = s->tx_head;
	return RT_OK;
}

/* Purge: overwrites the data of a log row or a body. The row as it is need not be intact. */
static void
overwrite(rt_sqlite_call *call, const rt_rows *at, rt_str data)
{
	const source *src = &sources[at->table];
	uint64_t key = rt_sqlite_key(at->project, at->first);
	rt_sqlite_query q;
	rt_store_row row;
	bool found = false;

	if (at->first <= RT_STORE_NUMBER_MAX) {
		q = rt_sqlite_select(call, src->scan, "purging",
				     RT_SQL_VALUES(RT_SQL_NUMBER(key), RT_SQL_NUMBER(key)));
		found = rt_sqlite_next(&q);
		if (found && rt_sqlite_row_read(q.stmt, src->table, &key, &row) == RT_NOMEM)
			call->status = rt_fail(call->err, RT_NOMEM, "out of memory");
		if (found && at->table == RT_STORE_LOG && row.name.size != RT_STEP_ID_SIZE)
			rt_sqlite_damaged(call, src->noun, at->first);
		rt_sqlite_end(&q);
	}
	if (call->status == RT_OK && !found)
		call->status = rt_fail(call->err, RT_NOT_FOUND,
				       "there is no %s %llu in project %llu", src->noun,
				       rt_sqlite_ull(at->first), rt_sqlite_ull(at->project));
	if (call->status != RT_OK)
		return;
	row.data = data;
	rt_sqlite_size_ok(call, data.size);
	rt_sqlite_wipe(call);
	rt_sqlite_row_write(call, at->table == RT_STORE_LOG ? SQL_LOG_SET : SQL_BODY_SET, "purging",
			    src->table, key, &row);
}

static void
write_side(rt_sqlite_call *call, const rt_rows *at, rt_str data)
{
	rt_store_row row = {.name = at->name, .data = data};

	rt_sqlite_size_ok(call, at->name.size + data.size);
	if (data.size == 0)
		rt_sqlite_run(call, SQL_SIDE_DROP, "writing a side row",
			      RT_SQL_VALUES(RT_SQL_NUMBER(at->project), RT_SQL_BLOB(at->name)));
	else
		rt_sqlite_row_write(call, SQL_SIDE_SET, "writing a side row", RT_TABLE_SIDE,
				    at->project, &row);
}

static void
write_row(rt_sqlite_call *call, const rt_rows *at, rt_str data)
{
	rt_store_row row = {.number = at->first, .data = data};

	switch (at->table) {
	case RT_STORE_LOG:
	case RT_STORE_BODIES: overwrite(call, at, data); break;
	case RT_STORE_NODES:
		if (call->status == RT_OK && (at->first < 1 || at->first > RT_STORE_NUMBER_MAX))
			call->status = rt_fail(call->err, RT_USAGE,
					       "%llu is not the number of a node",
					       rt_sqlite_ull(at->first));
		rt_sqlite_size_ok(call, data.size);
		rt_sqlite_row_write(call, SQL_NODE_SET, "writing a node", RT_TABLE_NODE,
				    rt_sqlite_key(at->project, at->first), &row);
		break;
	case RT_STORE_ROOT:
		rt_sqlite_size_ok(call, data.size);
		rt_sqlite_row_write(call, SQL_ROOT_SET, "writing the root", RT_TABLE_ROOT,
				    at->project, &row);
		break;
	case RT_STORE_SIDE: write_side(call, at, data); break;
	case RT_STORE_PROJECTS:
	case RT_STORE_INDEX: RT_ASSERT(false);
	}
}

rt_status
rt_sqlite_write(rt_store *store, rt_rows row, rt_str data, rt_error *err)
{
	rt_sqlite_store *s = rt_sqlite_self(store);
	bool alone = false;
	rt_status st = row.table == RT_STORE_SIDE ? rt_sqlite_begin_alone(s, &alone, err) : RT_OK;
	rt_sqlite_call call;

	if (st != RT_OK)
		return st;
	call = rt_sqlite_writing(store, row.project, err);
	write_row(&call, &row, data);
	return rt_sqlite_end_alone(s, alone, call.status, err);
}

rt_status
rt_sqlite_drop(rt_store *store, rt_rows rows, rt_error *err)
{
	rt_sqlite_call call;

	if (rows.table == RT_STORE_INDEX && rows.project == 0) {
		call = rt_sqlite_writing_store(store, err);
		rt_sqlite_index_clear(&call);
		return call.status;
	}
	call = rt_sqlite_writing(store, rows.project, err);
	if (rows.first > RT_STORE_NUMBER_MAX)
		return call.status;
	if (rows.table == RT_STORE_INDEX) {
		rt_sqlite_index_drop(&call, rows.project, rows.first);
		return call.status;
	}
	RT_ASSERT(rows.table == RT_STORE_NODES || rows.table == RT_STORE_ROOT);
	if (rows.table == RT_STORE_ROOT)
		rows = rt_rows_all(RT_STORE_ROOT, rows.project);
	rt_sqlite_run(&call, SQL_NODE_DROP, "dropping nodes",
		      RT_SQL_VALUES(RT_SQL_NUMBER(rt_sqlite_key(rows.project, rows.first)),
				    RT_SQL_NUMBER(rt_sqlite_key(rows.project, rows.last))));
	if (rows.table == RT_STORE_ROOT)
		rt_sqlite_run(&call, SQL_ROOT_DROP, "dropping the root",
			      RT_SQL_VALUES(RT_SQL_NUMBER(rows.project)));
	return call.status;
}
