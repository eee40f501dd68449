/* SPDX-License-Identifier: MIT
 *
 * The numbered tables of the SQLite store: projects, log, bodies, nodes, root and side rows.
 *
 * They differ in the statements to use and in a few checks: the log has no gaps, and a project
 * is looked for both in its table and in the index over names, since a damaged page in either
 * must not make it disappear. */
#include "store/store_sqlite_impl.h"

enum { RUN_GAP = 4 /* between listed rows of one run */ };

typedef struct source {
	const char *noun;   /* in messages */
	rt_sqlite_sql scan; /* a range, or all of a project */
	rt_sqlite_sql one, named, numbers, set; /* 0: there is none */
} source;

static const source sources[] = {
	[RT_STORE_PROJECTS] = {"project", SQL_PROJECT_LIST, .named = SQL_PROJECT_FIND},
	[RT_STORE_LOG] = {"log row", SQL_LOG_UP, .set = SQL_LOG_SET},
	[RT_STORE_BODIES] = {"body", SQL_BODY_UP, .set = SQL_BODY_SET},
	[RT_STORE_NODES] = {"node", SQL_NODE_UP, .one = SQL_NODE_GET, .numbers = SQL_NODE_NUMBERS,
			    .set = SQL_NODE_SET},
	[RT_STORE_ROOT] = {"root", SQL_ROOT_GET, .set = SQL_ROOT_SET},
	[RT_STORE_SIDE] = {"side row of project", SQL_SIDE_LIST, .named = SQL_SIDE_GET,
			   .numbers = SQL_SIDE_NAMES, .set = SQL_SIDE_SET},
};

/* --- projects --- */

/* Runs a query that has no rows unless the list of projects is damaged. */
static void
check_projects(rt_sqlite_call *call, rt_sqlite_sql which, rt_sqlite_args args)
{
	if (rt_sqlite_any(call, which, args))
		rt_scope_fail_advise(&call->scope, RT_CORRUPT, "run retake fsck",
				     "%s is damaged: its list of projects is not complete",
				     call->store->place);
}

/* The index over names has no project of that name. The table has to agree. */
static void
check_absent(rt_sqlite_call *call, rt_str name)
{
	check_projects(call, SQL_PROJECT_SCAN, (rt_sqlite_args){.bytes = name});
}

rt_status
rt_sqlite_project_new(rt_store *store, rt_str name, uint64_t *out_project, rt_error *err)
{
	rt_sqlite_call call = rt_sqlite_writing_store(store);
	rt_scope *scope = &call.scope;
	rt_sqlite_query q;
	rt_store_row row;
	uint64_t last;

	rt_store_check_size(&call.scope, name.size, RT_SQLITE_ROW_SIZE_MAX);
	q = rt_sqlite_select(&call, SQL_PROJECT_FIND, (rt_sqlite_args){.bytes = name});
	if (rt_sqlite_next(&q)) {
		rt_sqlite_row(&q, "project", &row);
		rt_store_name_used(scope, name);
	}
	rt_sqlite_end(&q);
	check_absent(&call, name);
	last = rt_sqlite_last_project(&call);
	/* There must be nothing of the new project yet. */
	check_projects(&call, SQL_PROJECT_BEYOND,
		       (rt_sqlite_args){.key = rt_row_key(last + 1, 0), .last = last});
	rt_store_check_last(scope, last);
	rt_sqlite_row_write(&call, SQL_PROJECT_ADD, last + 1, &(rt_store_row){.data = name});
	if (rt_ok(scope))
		*out_project = last + 1;
	return rt_scope_end(scope, err);
}

/* The number stays taken: the next one is that of the last project and one more. */
static void
keep_number(rt_sqlite_call *call, uint64_t project)
{
	rt_str name = RT_STR(RT_STORE_DROPPED);

	rt_sqlite_run(call, SQL_PROJECT_DROP_NAMED, (rt_sqlite_args){.bytes = name});
	rt_store_check_last(&call->scope, project);
	rt_sqlite_row_write(call, SQL_PROJECT_ADD, project + 1, &(rt_store_row){.data = name});
}

rt_status
rt_sqlite_project_drop(rt_store *store, uint64_t project, rt_error *err)
{
	static const rt_sqlite_sql ranges[] = {SQL_LOG_DROP, SQL_BODY_DROP, SQL_NODE_DROP, SQL_FOUND_DROP};
	static const rt_sqlite_sql rest[] = {SQL_ROOT_DROP, SQL_SIDE_DROP_ALL, SQL_MARK_DROP, SQL_PROJECT_DROP};
	rt_sqlite_store *s = rt_sqlite_self(store);
	rt_sqlite_call call = rt_sqlite_writing(store, project);
	bool is_last = rt_ok(&call.scope) && rt_sqlite_last_project(&call) == project;

	rt_sqlite_wipe(&call);
	if (!rt_sqlite_index_is_present(&call)) /* that of an earlier version, or none */
		rt_sqlite_index_clear(&call);
	rt_sqlite_index_forget(s);
	for (size_t i = 0; i < sizeof(ranges) / sizeof(ranges[0]); i++)
		rt_sqlite_run(&call, ranges[i], rt_sqlite_range(project, 0, RT_STORE_NUMBER_MAX));
	for (size_t i = 0; i < sizeof(rest) / sizeof(rest[0]); i++)
		rt_sqlite_run(&call, rest[i], (rt_sqlite_args){.key = project});
	if (is_last)
		keep_number(&call, project);
	s->tx_found = s->tx_project = 0;
	return rt_scope_end(&call.scope, err);
}

rt_status
rt_sqlite_head(rt_store *store, rt_store_table table, uint64_t project, uint64_t *out_number,
	       rt_error *err)
{
	rt_sqlite_store *s = rt_sqlite_self(store);
	rt_sqlite_call call = rt_sqlite_reading(store);
	bool cached = rt_sqlite_is_owner(s) && (table == RT_STORE_LOG || table == RT_STORE_BODIES);
	uint64_t number = 0;

	if (table != RT_STORE_PROJECTS && (project == 0 || project > RT_STORE_PROJECT_MAX)) {
		*out_number = 0;
		return RT_OK;
	}
	while (rt_sqlite_attempt(&call)) {
		if (cached) {
			rt_sqlite_cache_heads(&call, project);
			number = table == RT_STORE_LOG ? s->tx_head : s->tx_body_head;
		} else if (table == RT_STORE_INDEX) {
			number = rt_sqlite_index_mark(&call, project);
		} else if (table == RT_STORE_PROJECTS) {
			number = rt_sqlite_last_project(&call);
		} else {
			number = rt_sqlite_last_number(&call, table, project);
		}
	}
	if (rt_ok(&call.scope))
		*out_number = number;
	return rt_scope_end(&call.scope, err);
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
	rt_buf *last_name;
	size_t listed; /* the next of the listed numbers in a run */
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
		return rt_str_cmp(row->name, rt_buf_str(r->last_name)) <= 0;
	return r->down ? row->number >= r->last_number : row->number <= r->last_number;
}

static void
pass_on(reader *r, const rt_store_row *row)
{
	rt_scope *s = &r->call.scope;

	if (!rt_ok(s) || is_repeated(r, row))
		return;
	r->has_last = true;
	r->last_number = row->number;
	if (r->rows->table == RT_STORE_SIDE && r->call.store->options.read_only) {
		rt_buf_clear(r->last_name);
		rt_buf_add_str(r->last_name, row->name);
		if (r->last_name->status != RT_OK)
			rt_scope_fail(s, RT_NOMEM, "out of memory while listing side rows");
	}
	if (rt_ok(s))
		r->call.is_ended = !r->fn(r->ctx, row);
}

static rt_sqlite_query
select_range(reader *r, uint64_t first, uint64_t last)
{
	const rt_rows *rows = r->rows;
	rt_sqlite_sql which = r->down                                      ? SQL_LOG_DOWN
			      : rows->is_named                             ? r->src->named
			      : rows->numbers_only && r->src->numbers != 0 ? r->src->numbers
			      : first == last && r->src->one != 0          ? r->src->one
									   : r->src->scan;

	if (rows->is_named || rows->table == RT_STORE_ROOT || rows->table == RT_STORE_SIDE)
		return rt_sqlite_select(
			&r->call, which,
			(rt_sqlite_args){.key = rows->project, .bytes = rows->name});
	/* The key of a project is its number. */
	return rt_sqlite_select(&r->call, which, rt_sqlite_range(rows->project, first, last));
}

static void
read_row(reader *r, rt_sqlite_query *q, rt_store_row *out)
{
	uint64_t key = (uint64_t)sqlite3_column_int64(q->stmt, 0);

	if (q->which == SQL_NODE_NUMBERS)
		*out = (rt_store_row){.number = key & RT_STORE_NUMBER_MAX};
	else if (q->which == SQL_SIDE_NAMES)
		*out = (rt_store_row){.name = rt_str_at(sqlite3_column_blob(q->stmt, 1),
							(size_t)sqlite3_column_bytes(q->stmt, 1))};
	else
		rt_sqlite_row(q, r->src->noun, out);
}

/* Does the caller want the row, or is it between rows that are listed? */
static bool
is_listed(reader *r, const rt_sqlite_query *q)
{
	const uint64_t *numbers = r->rows->numbers;
	uint64_t number = (uint64_t)sqlite3_column_int64(q->stmt, 0) & RT_STORE_NUMBER_MAX;

	if (numbers == NULL)
		return true;
	while (r->listed < r->rows->number_count && numbers[r->listed] < number)
		r->listed++;
	return r->listed < r->rows->number_count && numbers[r->listed] == number;
}

static void
read_range(reader *r, uint64_t first, uint64_t last)
{
	rt_sqlite_query q = select_range(r, first, last);
	rt_store_row row;

	while (!r->call.is_ended && rt_sqlite_next(&q)) {
		if (!is_listed(r, &q))
			continue;
		read_row(r, &q, &row);
		pass_on(r, &row);
	}
	rt_sqlite_end(&q);
}

/* A scan did not reach this row. That is fine if the log ends before it, or if it was added
 * after the scan; else it was lost. */
static void
check_not_lost(rt_sqlite_call *call, uint64_t project, uint64_t seq)
{
	if (seq <= rt_sqlite_last_number(call, RT_STORE_LOG, project) &&
	    !rt_sqlite_any(call, SQL_LOG_UP, rt_sqlite_range(project, seq, seq)))
		rt_sqlite_damaged(call, "log row", seq);
}

static void
read_log(reader *r, uint64_t low, uint64_t high)
{
	uint64_t project = r->rows->project, before = 0, top = 0;
	rt_sqlite_query q = select_range(r, low, high);
	rt_store_row row;

	while (!r->call.is_ended && rt_sqlite_next(&q)) {
		uint64_t expected = before == 0 ? low : r->down ? before - 1 : before + 1;

		read_row(r, &q, &row);
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
	/* No row before the first and none after the last was found: do none exist there? */
	if (before == 0)
		check_not_lost(&r->call, project, low);
	else if (top < high)
		check_not_lost(&r->call, project, top + 1);
	if (top < high)
		check_not_lost(&r->call, project, high);
	if (r->down && before > low)
		check_not_lost(&r->call, project, before - 1);
}

/* One state of the store for several queries, unless a transaction has one already. Returns whether
 * end_snapshot has to end it. */
static bool
begin_snapshot(reader *r)
{
	bool alone = sqlite3_get_autocommit(r->call.conn->db) != 0;

	if (alone)
		rt_sqlite_run(&r->call, SQL_SNAPSHOT, (rt_sqlite_args){0});
	return alone;
}

static void
end_snapshot(reader *r, bool alone, const char *doing)
{
	sqlite3 *db = r->call.conn->db;

	if (alone && sqlite3_get_autocommit(db) == 0 &&
	    sqlite3_exec(db, "END", NULL, NULL, NULL) != SQLITE_OK)
		rt_sqlite_call_fail(&r->call, doing);
}

/* Reads numbers in runs, in one transaction: otherwise each run would take and release the
 * file's locks. To step over a few rows costs less than to begin another run. */
static void
read_listed(reader *r)
{
	const uint64_t *numbers = r->rows->numbers;
	size_t count = r->rows->number_count;
	const char *doing = r->rows->table == RT_STORE_BODIES ? "reading a body" : "reading it";
	bool alone;

	r->call.doing = doing;
	alone = begin_snapshot(r);
	for (size_t from = 0, to; rt_ok(&r->call.scope) && !r->call.is_ended && from < count;
	     from = to) {
		to = from + 1;
		while (to < count && numbers[to] > numbers[to - 1] &&
		       numbers[to] - numbers[to - 1] <= RUN_GAP)
			to++;
		r->listed = from;
		if (numbers[from] <= RT_STORE_NUMBER_MAX)
			read_range(r, numbers[from], numbers[to - 1]);
	}
	end_snapshot(r, alone, doing);
	r->call.doing = NULL;
}

/* Reads projects and checks that these are all; a project with an impossible name is in neither
 * table nor index. Another process may create one meanwhile. */
static void
read_projects(reader *r, uint64_t first, uint64_t last)
{
	bool alone = begin_snapshot(r);

	read_range(r, first, last);
	if (!r->call.is_ended)
		check_absent(&r->call, r->rows->is_named ? r->rows->name : RT_STR("\0"));
	end_snapshot(r, alone, "reading its projects");
}

static void
read_all(reader *r, uint64_t first, uint64_t last)
{
	if (r->rows->numbers != NULL)
		read_listed(r);
	else if (r->rows->table == RT_STORE_LOG)
		read_log(r, first, last);
	else if (r->rows->table == RT_STORE_PROJECTS)
		read_projects(r, first, last);
	else
		read_range(r, first, last);
}

rt_status
rt_sqlite_read(rt_store *store, rt_rows rows, rt_store_row_fn fn, void *ctx, rt_error *err)
{
	rt_buf last_name;
	reader r = {.call = rt_sqlite_reading(store),
		    .rows = &rows,
		    .src = &sources[rows.table],
		    .fn = fn,
		    .ctx = ctx,
		    .last_name = &last_name};
	uint64_t first, last;

	if (!rt_store_range(&rows, &first, &last, &r.down))
		return RT_OK;
	rt_buf_init(&last_name, r.call.store->alloc, RT_BUF_UNLIMITED); /* for all attempts */
	while (rt_sqlite_attempt(&r.call))
		read_all(&r, first, last);
	rt_buf_deinit(&last_name);
	return rt_scope_end(&r.call.scope, err);
}

/* --- writing --- */

rt_status
rt_sqlite_append(rt_store *store, uint64_t project, uint64_t expected, const rt_store_row *rows,
		 size_t row_count, const rt_store_row *bodies, size_t body_count,
		 uint64_t *out_head, rt_error *err)
{
	rt_sqlite_store *s = rt_sqlite_self(store);
	rt_sqlite_call call = rt_sqlite_writing(store, project);
	rt_scope *scope = &call.scope;
	uint64_t head;

	rt_sqlite_cache_heads(&call, project);
	if (!rt_ok(scope))
		return rt_scope_end(scope, err);
	head = s->tx_head;
	if (head != expected && out_head != NULL)
		*out_head = head;
	rt_store_check_append(scope, project, head, expected, rows, row_count, s->tx_body_head,
			      bodies, body_count, RT_SQLITE_ROW_SIZE_MAX);
	for (size_t i = 0; i < row_count && rt_ok(scope); i++)
		rt_sqlite_row_write(&call, SQL_LOG_ADD, rt_row_key(project, head + i + 1),
				    &rows[i]);
	for (size_t i = 0; i < body_count && rt_ok(scope); i++)
		rt_sqlite_row_write(&call, SQL_BODY_ADD, rt_row_key(project, bodies[i].number),
				    &bodies[i]);
	if (rt_ok(scope)) {
		s->tx_added = true;
		s->tx_head = head + row_count;
		if (body_count > 0)
			s->tx_body_head = bodies[body_count - 1].number;
		if (out_head != NULL)
			*out_head = s->tx_head;
	}
	return rt_scope_end(scope, err);
}

/* Purge: overwrites the data of a log row or a body. The present row need not be intact. */
static void
overwrite(rt_sqlite_call *call, const rt_rows *at, rt_str data)
{
	const source *src = &sources[at->table];
	uint64_t key = rt_row_key(at->project, at->first);
	bool found = false;
	rt_sqlite_query q;
	rt_store_row row;

	call->doing = "purging";
	if (at->first <= RT_STORE_NUMBER_MAX) {
		q = rt_sqlite_select(call, src->scan, (rt_sqlite_args){.key = key, .last = key});
		found = rt_sqlite_next(&q);
		if (found && rt_sqlite_row_read(q.stmt,
						at->table == RT_STORE_LOG ? RT_TABLE_LOG
									  : RT_TABLE_BODY,
						&key, &row) == RT_NOMEM)
			rt_scope_nomem(&call->scope);
		if (found && at->table == RT_STORE_LOG && row.name.size != RT_STEP_ID_SIZE)
			rt_sqlite_damaged(call, src->noun, at->first);
		rt_sqlite_end(&q);
	}
	if (!found)
		rt_scope_fail(&call->scope, RT_NOT_FOUND, "there is no %s %llu in project %llu",
			      src->noun, (unsigned long long)at->first,
			      (unsigned long long)at->project);
	if (!rt_ok(&call->scope))
		return;
	row.data = data;
	rt_store_check_size(&call->scope, data.size, RT_SQLITE_ROW_SIZE_MAX);
	rt_sqlite_wipe(call);
	rt_sqlite_row_write(call, src->set, key, &row);
}

static void
write_row(rt_sqlite_call *call, const rt_rows *at, rt_str data)
{
	const source *src = &sources[at->table];
	rt_store_row row = {.number = at->first, .name = at->name, .data = data};

	switch (at->table) {
	case RT_STORE_LOG:
	case RT_STORE_BODIES: overwrite(call, at, data); break;
	case RT_STORE_NODES:
		rt_store_check_number(&call->scope, "node", at->first);
		rt_store_check_size(&call->scope, data.size, RT_SQLITE_ROW_SIZE_MAX);
		rt_sqlite_row_write(call, src->set, rt_row_key(at->project, at->first), &row);
		break;
	case RT_STORE_SIDE:
	case RT_STORE_ROOT:
		rt_store_check_size(&call->scope, at->name.size + data.size,
				    RT_SQLITE_ROW_SIZE_MAX);
		if (at->table == RT_STORE_SIDE && data.size == 0)
			rt_sqlite_run(call, SQL_SIDE_DROP,
				      (rt_sqlite_args){.key = at->project, .bytes = at->name});
		else
			rt_sqlite_row_write(call, src->set, at->project, &row);
		break;
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
	call = rt_sqlite_writing(store, row.project);
	write_row(&call, &row, data);
	return rt_sqlite_end_alone(&call, alone, err);
}

rt_status
rt_sqlite_drop(rt_store *store, rt_rows rows, rt_error *err)
{
	bool is_all = rows.table == RT_STORE_INDEX && rows.project == 0;
	rt_sqlite_call call =
		is_all ? rt_sqlite_writing_store(store) : rt_sqlite_writing(store, rows.project);

	RT_ASSERT(rows.table == RT_STORE_INDEX || rows.table == RT_STORE_NODES ||
		  rows.table == RT_STORE_ROOT);
	if (is_all) {
		rt_sqlite_index_clear(&call);
	} else if (rows.first > RT_STORE_NUMBER_MAX) {
		/* nothing has such a number */
	} else if (rows.table == RT_STORE_INDEX) {
		rt_sqlite_index_drop(&call, rows.project, rows.first);
	} else {
		if (rows.table == RT_STORE_ROOT)
			rows = rt_rows_all(RT_STORE_ROOT, rows.project);
		rt_sqlite_run(&call, SQL_NODE_DROP,
			      rt_sqlite_range(rows.project, rows.first, rows.last));
		if (rows.table == RT_STORE_ROOT)
			rt_sqlite_run(&call, SQL_ROOT_DROP,
				      (rt_sqlite_args){.key = rows.project});
	}
	return rt_scope_end(&call.scope, err);
}
