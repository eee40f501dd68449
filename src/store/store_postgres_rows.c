/* SPDX-License-Identifier: MIT
 *
 * The tables of rows of the PostgreSQL store: projects, log, bodies, nodes, root and side rows.
 *
 * Every read selects the number, the checksum, the data, one more number and a name, and is done
 * page by page, so that neither side holds a large result. A page is one round trip. */
#include "store/store_postgres_impl.h"

#include "base/hash.h"

enum { PAGE_MAX = 4096, PAGE_BYTES = 1 << 20 };

typedef struct source {
	enum rt_row_table table;
	const char *noun, *doing;
	const char *range;   /* project, first, last, limit */
	const char *listed;  /* project, numbers */
	const char *numbers; /* project */
} source;

#define WHERE_RANGE " WHERE project = $1 AND number BETWEEN $2 AND $3 ORDER BY number LIMIT $4"
#define WHERE_LISTED " WHERE project = $1 AND number = ANY($2) ORDER BY number"
#define BODIES "SELECT number, sum, data, entry, ''::bytea FROM retake.body"
#define NODES "SELECT number, sum, data, 0::bigint, ''::bytea FROM retake.node"

static const source sources[] = {
	[RT_STORE_PROJECTS] = {RT_TABLE_PROJECT, "project", "reading its projects",
			       "SELECT id, sum, name, 0::bigint, ''::bytea FROM retake.project"
			       " WHERE $1 = 0 AND id BETWEEN $2 AND $3 ORDER BY id LIMIT $4",
			       NULL, NULL},
	[RT_STORE_LOG] = {RT_TABLE_LOG, "log row", "reading the log",
			  RT_PG_LOG_SQL, NULL, NULL},
	[RT_STORE_BODIES] = {RT_TABLE_BODY, "body", "reading a body", BODIES WHERE_RANGE,
			     BODIES WHERE_LISTED, NULL},
	[RT_STORE_NODES] = {RT_TABLE_NODE, "node", "reading the checkpoint", NODES WHERE_RANGE,
			    NODES WHERE_LISTED,
			    "SELECT number FROM retake.node WHERE project = $1 ORDER BY number"},
	[RT_STORE_ROOT] = {RT_TABLE_ROOT, "root of project", "reading the checkpoint",
			   "SELECT project, sum, data, seq, ''::bytea FROM retake.root WHERE"
			   " project = $1 AND $2 <= $3 LIMIT $4",
			   NULL, NULL},
	[RT_STORE_SIDE] = {RT_TABLE_SIDE, "side row of project", "reading side rows", NULL, NULL,
			   "SELECT name FROM retake.side WHERE project = $1 AND name >= '\\x24' ORDER BY name"},
};

/* --- heads --- */

static uint64_t
number_of(rt_pg_call *call, const char *sql, uint64_t project)
{
	rt_pg_query q = rt_pg_query_of(sql);
	uint64_t number = 0;
	PGresult *rows;

	rt_pg_arg_u64(&q, project);
	rows = rt_pg_rows(call, &q);
	if (rows != NULL)
		number = rt_pg_u64(call, rows, 0, 0);
	rt_pg_clear(call, rows);
	return number;
}

static uint64_t
last_project(rt_pg_call *call)
{
	rt_pg_settle(call, RT_STORE_PROJECTS);
	return number_of(call, "SELECT coalesce(max(id), 0) FROM retake.project WHERE $1 = 0", 0);
}

rt_status
rt_pg_head(rt_store *store, rt_store_table table, uint64_t project, uint64_t *out_number,
	   rt_error *err)
{
	rt_pg_call call = rt_pg_reading(store);
	const rt_pg_transaction *tx = &call.conn->tx;
	uint64_t number = 0;

	if (!rt_ok(&call.scope))
		return rt_pg_end(&call, err);
	if (table == RT_STORE_PROJECTS) {
		number = last_project(&call);
	} else if (project == 0 || project > RT_STORE_PROJECT_MAX) {
		number = 0;
	} else if (tx->is_open && !rt_pg_touch(&call, project)) {
		number = 0;
	} else if (table == RT_STORE_NODES) {
		rt_pg_settle(&call, table);
		number = number_of(&call,
				   "SELECT coalesce(max(number), 0) FROM retake.node WHERE"
				   " project = $1",
				   project);
	} else {
		rt_pg_heads h = tx->is_open ? tx->now : rt_pg_read_heads(&call, project);

		number = table == RT_STORE_LOG ? h.seq : table == RT_STORE_BODIES ? h.body : h.mark;
	}
	if (rt_ok(&call.scope))
		*out_number = number;
	return rt_pg_end(&call, err);
}

/* --- reading --- */

typedef struct reader {
	rt_pg_call call;
	const rt_rows *rows;
	const source *src;
	rt_store_row_fn fn;
	void *ctx;
	bool is_ended;        /* the callback wants no more rows */
	uint64_t limit;       /* of the next page */
	uint64_t last_number; /* of the last page */
	rt_buf *last_name;
} reader;

static uint64_t
key_of(const reader *r, uint64_t number)
{
	switch (r->src->table) {
	case RT_TABLE_LOG:
	case RT_TABLE_BODY:
	case RT_TABLE_NODE: return rt_row_key(r->rows->project, number);
	case RT_TABLE_PROJECT: return number;
	default: return r->rows->project;
	}
}

/* Fails the call if the row is not intact. */
static void
decode(reader *r, const PGresult *rows, int at, rt_store_row *out)
{
	rt_pg_call *call = &r->call;
	uint64_t number = rt_pg_u64(call, rows, at, 0), extra = rt_pg_u64(call, rows, at, 3);
	rt_str name = rt_pg_bytes(call, rows, at, 4);

	*out = (rt_store_row){.number = number, .data = rt_pg_bytes(call, rows, at, 2)};
	switch (r->src->table) {
	case RT_TABLE_LOG:
		out->at_us = (int64_t)extra;
		if (name.size == RT_STEP_ID_SIZE)
			memcpy(out->step, name.ptr, RT_STEP_ID_SIZE);
		break;
	case RT_TABLE_BODY: out->entry = extra; break;
	case RT_TABLE_ROOT: out->number = extra; break;
	case RT_TABLE_SIDE:
		out->number = 0;
		out->name = name;
		break;
	default: break;
	}
	if ((int64_t)rt_pg_u64(call, rows, at, 1) !=
	    rt_row_sum(r->src->table, key_of(r, number), out))
		rt_pg_damaged(call, r->src->noun,
			      r->src->table == RT_TABLE_SIDE ? r->rows->project : number);
}

/* Passes the rows of a page on and chooses the size of the next one. Returns their number. */
static int
pass_page(reader *r, PGresult *rows)
{
	int count = rows != NULL ? r->call.store->pq->ntuples(rows) : 0;
	uint64_t bytes = 0;

	if (count == 1 && r->call.store->pq->getisnull(rows, 0, 2)) /* of an outer join */
		count = 0;
	for (int i = 0; i < count && !r->is_ended; i++) {
		rt_store_row row;

		decode(r, rows, i, &row);
		if (!rt_ok(&r->call.scope))
			break;
		bytes += row.data.size;
		r->last_number = row.number;
		if (r->src->table == RT_TABLE_SIDE) {
			rt_buf_clear(r->last_name);
			rt_buf_add_str(r->last_name, row.name);
			RT_TRY(&r->call.scope, r->last_name->status);
		}
		r->is_ended = !r->fn(r->ctx, &row);
	}
	rt_pg_clear(&r->call, rows);
	if (count > 0 && r->limit < PAGE_MAX)
		r->limit *= 4;
	if (count > 0 && bytes / (uint64_t)count * r->limit > PAGE_BYTES)
		r->limit = PAGE_BYTES / (bytes / (uint64_t)count) + 1;
	return count;
}

static int
read_page(reader *r, const char *sql, uint64_t first, uint64_t last)
{
	rt_pg_query q;
	PGresult *ahead = NULL;

	if (r->src->table == RT_TABLE_LOG && sql == r->src->range) {
		ahead = rt_pg_log_ahead(&r->call, r->rows->project, first, last);
		rt_pg_log_query(r->rows->project, first, last, r->limit, &q);
	} else {
		q = rt_pg_query_of(sql);
		q.doing = r->src->doing;
		rt_pg_arg_u64(&q, r->rows->project);
		rt_pg_arg_u64(&q, first);
		rt_pg_arg_u64(&q, last);
		rt_pg_arg_u64(&q, r->limit);
	}
	return pass_page(r, ahead != NULL ? ahead : rt_pg_rows(&r->call, &q));
}

static bool
may_continue(const reader *r)
{
	return rt_ok(&r->call.scope) && !r->is_ended;
}

static void
read_range(reader *r, uint64_t first, uint64_t last)
{
	while (may_continue(r) && first <= last) {
		uint64_t limit = r->limit;

		if ((uint64_t)read_page(r, r->src->range, first, last) < limit)
			break;
		first = r->last_number + 1;
		if (r->src->table == RT_TABLE_ROOT)
			break;
	}
}

/* Checks that a page of the log has no gaps, while it is passed on. */
typedef struct log_check {
	reader *r;
	rt_store_row_fn fn;
	void *ctx;
	uint64_t expected;
	bool down;
} log_check;

static bool
check_log_row(void *ctx, const rt_store_row *row)
{
	log_check *check = ctx;

	if (row->number != check->expected) {
		rt_pg_damaged(&check->r->call, "log row", check->expected);
		return false;
	}
	check->expected = check->down ? row->number - 1 : row->number + 1;
	return check->fn(check->ctx, row);
}

/* Where the log ends. Rows that were added after a page was read are not missing in it. */
static uint64_t
log_head(reader *r)
{
	const rt_pg_transaction *tx = &r->call.conn->tx;

	return tx->is_open && tx->now.project == r->rows->project
		       ? tx->now.seq
		       : rt_pg_read_heads(&r->call, r->rows->project).seq;
}

static void
read_log(reader *r, uint64_t low, uint64_t high, bool down)
{
	log_check check = {r, r->fn, r->ctx, low, down};
	uint64_t head = down || high == RT_STORE_NUMBER_MAX ? log_head(r) : high;
	bool is_exact = down || high == RT_STORE_NUMBER_MAX;

	r->fn = check_log_row;
	r->ctx = &check;
	if (high > head)
		high = head;
	check.expected = down ? high : low;
	while (may_continue(r) && low <= high) {
		uint64_t before = check.expected;

		(void)read_page(r, down ? RT_PG_LOG_COLUMNS " ORDER BY seq DESC LIMIT $4" : r->src->range,
				low, high);
		if (!may_continue(r))
			return;
		if (check.expected != before) {
			if (down)
				high = check.expected;
			else
				low = check.expected;
			continue;
		}
		if (!is_exact) { /* does the log end before? */
			is_exact = true;
			head = log_head(r);
			high = head < high ? head : high;
			continue;
		}
		rt_pg_damaged(&r->call, "log row", before);
	}
}

/* Numbers are listed in pages, too. */
static void
read_listed(reader *r)
{
	const uint64_t *numbers = r->rows->numbers;
	size_t left = r->rows->number_count;
	rt_buf *array = rt_scope_buf(&r->call.scope);

	while (may_continue(r) && left > 0) {
		size_t count = left < r->limit ? left : (size_t)r->limit;
		rt_pg_query q = rt_pg_query_of(r->src->listed);

		rt_buf_clear(array);
		rt_pg_put_array(array, count, false);
		for (size_t i = 0; i < count; i++) {
			rt_pg_put_u32(array, sizeof(uint64_t));
			rt_pg_put_u64(array, numbers[i] <= RT_STORE_NUMBER_MAX ? numbers[i] : 0);
		}
		q.doing = r->src->doing;
		rt_pg_arg_u64(&q, r->rows->project);
		rt_pg_arg_array(&q, rt_scope_str(&r->call.scope, array), false);
		(void)pass_page(r, rt_pg_rows(&r->call, &q));
		numbers += count;
		left -= count;
	}
}

static void
read_named(reader *r)
{
	rt_pg_query q;
	PGresult *ahead = NULL;

	if (r->rows->table == RT_STORE_SIDE) {
		ahead = rt_pg_side_ahead(&r->call, r->rows->project, r->rows->name);
		q = rt_pg_query_of("SELECT 0::bigint, sum, data, 0::bigint, name FROM retake.side WHERE"
				   " project = $1 AND name = $2");
		q.name = RT_PG_NAME_SIDE;
		rt_pg_arg_u64(&q, r->rows->project);
	} else {
		q = rt_pg_query_of("SELECT id, sum, name, 0::bigint, ''::bytea FROM retake.project WHERE"
				   " hash = $1 AND name = $2");
		q.is_of_list = true;
		rt_pg_arg_u64(&q, rt_hash(r->rows->name.ptr, r->rows->name.size, 0));
	}
	q.doing = r->src->doing;
	rt_pg_arg_bytes(&q, r->rows->name);
	(void)pass_page(r, ahead != NULL ? ahead : rt_pg_rows(&r->call, &q));
}

/* Pages by name: each begins after the last name of the one before. */
static void
read_side(reader *r)
{
	static const char sql[] = "SELECT 0::bigint, sum, data, 0::bigint, name FROM retake.side"
				  " WHERE project = $1 AND name >= $2 AND substring(name FROM 1 FOR"
				  " length($3)) = $3 ORDER BY name LIMIT $4";
	uint64_t limit;
	int count;

	rt_buf_add_str(r->last_name, r->rows->name.size > 0 ? r->rows->name : RT_STR(RT_STORE_SIDE_FIRST));
	do {
		rt_pg_query q = rt_pg_query_of(sql);

		limit = r->limit;
		q.doing = r->src->doing;
		rt_pg_arg_u64(&q, r->rows->project);
		rt_pg_arg_bytes(&q, rt_scope_str(&r->call.scope, r->last_name));
		rt_pg_arg_bytes(&q, r->rows->name);
		rt_pg_arg_u64(&q, limit);
		count = pass_page(r, rt_pg_rows(&r->call, &q));
		rt_buf_add_byte(r->last_name, 0);
	} while (may_continue(r) && (uint64_t)count == limit);
}

static void
read_numbers(reader *r)
{
	rt_pg_query q = rt_pg_query_of(r->src->numbers);
	PGresult *rows;

	q.doing = r->src->doing;
	rt_pg_arg_u64(&q, r->rows->project);
	rows = rt_pg_rows(&r->call, &q);
	for (int i = 0; rows != NULL && !r->is_ended && i < r->call.store->pq->ntuples(rows); i++) {
		rt_store_row row = {0};

		if (r->src->table == RT_TABLE_SIDE)
			row.name = rt_pg_bytes(&r->call, rows, i, 0);
		else
			row.number = rt_pg_u64(&r->call, rows, i, 0);
		r->is_ended = !r->fn(r->ctx, &row);
	}
	rt_pg_clear(&r->call, rows);
}

/* Inside a begin: the lock, and the changes so far. False: there are no such rows. */
static bool
prepare(reader *r)
{
	rt_pg_call *call = &r->call;

	if (!rt_ok(&call->scope))
		return false;
	if (call->conn->tx.is_open && r->rows->table != RT_STORE_PROJECTS &&
	    !rt_pg_touch(call, r->rows->project))
		return false;
	if (call->conn->tx.is_open && r->rows->table == RT_STORE_PROJECTS && r->rows->is_named)
		rt_pg_touch_list(call);
	rt_pg_settle(call, r->rows->table);
	return rt_ok(&call->scope);
}

rt_status
rt_pg_read(rt_store *store, rt_rows rows, rt_store_row_fn fn, void *ctx, rt_error *err)
{
	uint64_t first, last;
	rt_buf last_name;
	bool down;

	if (rows.table == RT_STORE_PROJECTS)
		rows.project = 0;
	if (!rt_store_range(&rows, &first, &last, &down))
		return RT_OK;
	reader r = {.call = rt_pg_reading(store),
		    .rows = &rows,
		    .src = &sources[rows.table],
		    .fn = fn,
		    .ctx = ctx,
		    .limit = RT_PG_PAGE_FIRST,
		    .last_name = &last_name};
	rt_buf_init(&last_name, r.call.store->alloc, RT_BUF_UNLIMITED);
	if (!prepare(&r)) {
		/* nothing to read */
	} else if (rows.is_named) {
		read_named(&r);
	} else if (rows.numbers != NULL) {
		read_listed(&r);
	} else if (rows.numbers_only && r.src->numbers != NULL) {
		read_numbers(&r);
	} else if (rows.table == RT_STORE_SIDE) {
		read_side(&r);
	} else if (rows.table == RT_STORE_LOG) {
		read_log(&r, first, last, down);
	} else {
		read_range(&r, first, last);
	}
	rt_buf_deinit(&last_name);
	return rt_pg_end(&r.call, err);
}

/* --- writing --- */

static void
add_row(rt_pg_call *call, rt_pg_change kind, enum rt_row_table table, uint64_t key,
	const rt_store_row *row)
{
	uint64_t extra = table == RT_TABLE_LOG ? (uint64_t)row->at_us : row->entry;
	rt_str name = table == RT_TABLE_LOG ? rt_str_at((const char *)row->step, RT_STEP_ID_SIZE)
					    : row->name;

	rt_pg_add(call, kind, row->number, extra, rt_row_sum(table, key, row), name, row->data);
}

rt_status
rt_pg_project_new(rt_store *store, rt_str name, uint64_t *out_project, rt_error *err)
{
	rt_pg_call call = rt_pg_writing(store);
	rt_store_row row = {.data = name};
	rt_pg_query q = rt_pg_query_of("SELECT 1::bigint FROM retake.project WHERE hash = $1 AND"
				       " name = $2");
	uint64_t hash = rt_hash(name.ptr, name.size, 0);
	PGresult *rows = NULL;

	q.is_of_list = true;

	rt_store_check_size(&call.scope, name.size, RT_PG_ROW_SIZE_MAX);
	if (rt_ok(&call.scope))
		rt_pg_touch_list(&call);
	if (rt_ok(&call.scope))
		row.number = last_project(&call) + 1;
	rt_pg_arg_u64(&q, hash);
	rt_pg_arg_bytes(&q, name);
	if (rt_ok(&call.scope))
		rows = rt_pg_rows(&call, &q);
	if (rows != NULL && call.store->pq->ntuples(rows) > 0)
		rt_store_name_used(&call.scope, name);
	rt_pg_clear(&call, rows);
	rt_store_check_last(&call.scope, row.number - 1);
	if (rt_ok(&call.scope)) {
		rt_pg_add(&call, RT_PG_PROJECT_ADD, row.number, hash,
			  rt_row_sum(RT_TABLE_PROJECT, row.number, &row), rt_str_at(NULL, 0), name);
		*out_project = row.number;
	}
	return rt_pg_end(&call, err);
}

/* Keeps the number of a removed project in use: the next project gets the number after the last
 * one's. */
static void
keep_number(rt_pg_call *call, uint64_t project)
{
	rt_store_row row = {.number = project + 1, .data = RT_STR(RT_STORE_DROPPED)};
	uint64_t hash = rt_hash(row.data.ptr, row.data.size, 0);
	rt_pg_query q = rt_pg_query_of("DELETE FROM retake.project WHERE hash = $1 AND name = $2");

	rt_store_check_last(&call->scope, project);
	q.is_of_list = true;
	rt_pg_arg_u64(&q, hash);
	rt_pg_arg_bytes(&q, row.data);
	if (rt_ok(&call->scope))
		rt_pg_clear(call, rt_pg_rows(call, &q));
	if (rt_ok(&call->scope))
		rt_pg_add(call, RT_PG_PROJECT_ADD, row.number, hash, rt_row_sum(RT_TABLE_PROJECT, row.number, &row),
			  rt_str_at(NULL, 0), row.data);
}

rt_status
rt_pg_project_drop(rt_store *store, uint64_t project, rt_error *err)
{
	static const char *const deletions[] = {
		"DELETE FROM retake.log WHERE project = $1",  "DELETE FROM retake.body WHERE project = $1",
		"DELETE FROM retake.node WHERE project = $1", "DELETE FROM retake.root WHERE project = $1",
		"DELETE FROM retake.side WHERE project = $1", "DELETE FROM retake.found WHERE project = $1",
		"DELETE FROM retake.project WHERE id = $1",
	};
	rt_pg_call call = rt_pg_writing(store);
	bool is_last = false;

	if (rt_ok(&call.scope))
		rt_pg_touch_list(&call);
	if (rt_ok(&call.scope))
		rt_pg_insist(&call, project);
	if (rt_ok(&call.scope))
		rt_pg_flush(&call);
	if (rt_ok(&call.scope))
		is_last = last_project(&call) == project;
	call.is_unlimited = true;
	for (size_t i = 0; rt_ok(&call.scope) && i < sizeof(deletions) / sizeof(deletions[0]); i++) {
		rt_pg_query q = rt_pg_query_of(deletions[i]);

		q.doing = "removing a project";
		rt_pg_arg_u64(&q, project);
		rt_pg_clear(&call, rt_pg_rows(&call, &q));
	}
	call.is_unlimited = false;
	if (rt_ok(&call.scope))
		rt_pg_leave(&call);
	if (is_last && rt_ok(&call.scope))
		keep_number(&call, project);
	return rt_pg_end(&call, err);
}

rt_status
rt_pg_append(rt_store *store, uint64_t project, uint64_t expected, const rt_store_row *rows,
	     size_t row_count, const rt_store_row *bodies, size_t body_count, uint64_t *out_head,
	     rt_error *err)
{
	rt_pg_call call = rt_pg_writing(store);
	rt_scope *scope = &call.scope;

	if (rt_ok(scope))
		rt_pg_insist(&call, project);
	if (!rt_ok(scope))
		return rt_pg_end(&call, err);
	rt_pg_heads *h = &call.conn->tx.now;
	if (h->seq != expected && out_head != NULL)
		*out_head = h->seq;
	rt_store_check_append(scope, project, h->seq, expected, rows, row_count, h->body, bodies,
			      body_count, RT_PG_ROW_SIZE_MAX);
	for (size_t i = 0; i < row_count && rt_ok(scope); i++) {
		rt_store_row row = rows[i];

		row.number = h->seq + 1;
		add_row(&call, RT_PG_LOG_ADD, RT_TABLE_LOG, rt_row_key(project, row.number), &row);
		h->seq++;
	}
	for (size_t i = 0; i < body_count && rt_ok(scope); i++) {
		add_row(&call, RT_PG_BODY_ADD, RT_TABLE_BODY, rt_row_key(project, bodies[i].number),
			&bodies[i]);
		h->body = bodies[i].number;
	}
	if (rt_ok(scope) && out_head != NULL)
		*out_head = h->seq;
	return rt_pg_end(&call, err);
}

/* Purge: overwrites the data of a log row or a body. */
static void
overwrite(rt_pg_call *call, const rt_rows *at, rt_str data)
{
	const source *src = &sources[at->table];
	rt_pg_query q = rt_pg_query_of(
		at->table == RT_STORE_LOG ? "SELECT at, step FROM retake.log WHERE project = $1"
					    " AND seq = $2"
					  : "SELECT entry, ''::bytea FROM retake.body WHERE"
					    " project = $1 AND number = $2");
	rt_store_row row = {.number = at->first, .data = data};
	bool found = false;
	PGresult *rows;

	rt_pg_settle(call, at->table);
	q.doing = "purging";
	rt_pg_arg_u64(&q, at->project);
	rt_pg_arg_u64(&q, at->first);
	rows = at->first <= RT_STORE_NUMBER_MAX ? rt_pg_rows(call, &q) : NULL;
	if (rows != NULL && call->store->pq->ntuples(rows) == 1) {
		rt_str step = rt_pg_bytes(call, rows, 0, 1);

		found = true;
		row.entry = rt_pg_u64(call, rows, 0, 0);
		row.at_us = (int64_t)row.entry;
		if (at->table == RT_STORE_LOG && step.size == RT_STEP_ID_SIZE)
			memcpy(row.step, step.ptr, RT_STEP_ID_SIZE);
	}
	rt_pg_clear(call, rows);
	if (!found)
		rt_scope_fail(&call->scope, RT_NOT_FOUND, "there is no %s %llu in project %llu",
			      src->noun, (unsigned long long)at->first,
			      (unsigned long long)at->project);
	if (rt_ok(&call->scope))
		add_row(call, at->table == RT_STORE_LOG ? RT_PG_LOG_SET : RT_PG_BODY_SET,
			src->table, rt_row_key(at->project, at->first), &row);
}

static void
write_row(rt_pg_call *call, const rt_rows *at, rt_str data)
{
	rt_store_row row = {.number = at->first, .name = at->name, .data = data};

	switch (at->table) {
	case RT_STORE_LOG:
	case RT_STORE_BODIES: overwrite(call, at, data); break;
	case RT_STORE_NODES:
		rt_store_check_number(&call->scope, "node", at->first);
		if (rt_ok(&call->scope))
			add_row(call, RT_PG_NODE_SET, RT_TABLE_NODE,
				rt_row_key(at->project, at->first), &row);
		break;
	case RT_STORE_ROOT: add_row(call, RT_PG_ROOT_SET, RT_TABLE_ROOT, at->project, &row); break;
	case RT_STORE_SIDE:
		row.number = 0;
		add_row(call, data.size > 0 ? RT_PG_SIDE_SET : RT_PG_SIDE_DROP, RT_TABLE_SIDE,
			at->project, &row);
		break;
	case RT_STORE_PROJECTS:
	case RT_STORE_INDEX: RT_ASSERT(false);
	}
}

/* A side row outside a begin: one statement, without comparing heads. It may be repeated. */
static void
write_alone(rt_pg_call *call, uint64_t project)
{
	rt_pg_query q;
	PGresult *rows;

	rt_pg_batch_query(call, project, true, &q);
	rows = rt_pg_rows(call, &q);
	if (rows != NULL && !rt_pg_has_written(call, rows))
		rt_store_no_project(&call->scope, project);
	rt_pg_clear(call, rows);
	rt_pg_batch_clear(&call->conn->tx.batch);
}

rt_status
rt_pg_write(rt_store *store, rt_rows row, rt_str data, rt_error *err)
{
	rt_pg_call call = rt_pg_reading(store);

	if (!rt_ok(&call.scope))
		return rt_pg_end(&call, err);
	if (call.conn->tx.is_open) {
		rt_pg_insist(&call, row.project);
		if (rt_ok(&call.scope))
			write_row(&call, &row, data);
		return rt_pg_end(&call, err);
	}
	RT_ASSERT(row.table == RT_STORE_SIDE);
	if (call.store->options.read_only)
		rt_scope_fail(&call.scope, RT_READ_ONLY, "%s was opened read-only",
			      call.store->place);
	if (rt_ok(&call.scope))
		write_row(&call, &row, data);
	if (rt_ok(&call.scope))
		write_alone(&call, row.project);
	return rt_pg_end(&call, err);
}

rt_status
rt_pg_drop(rt_store *store, rt_rows rows, rt_error *err)
{
	bool is_all = rows.table == RT_STORE_INDEX && rows.project == 0;
	rt_str none = rt_str_at(NULL, 0);
	rt_pg_call call = rt_pg_writing(store);

	RT_ASSERT(rows.table == RT_STORE_INDEX || rows.table == RT_STORE_NODES ||
		  rows.table == RT_STORE_ROOT);
	if (rt_ok(&call.scope) && !is_all)
		rt_pg_insist(&call, rows.project);
	if (!rt_ok(&call.scope))
		return rt_pg_end(&call, err);
	if (is_all) {
		rt_pg_add(&call, RT_PG_INDEX_CLEAR, 0, 0, 0, none, none);
		call.conn->tx.now.mark = 0;
	} else if (rows.table == RT_STORE_ROOT) {
		rt_pg_add(&call, RT_PG_ROOT_DROP, 0, 0, 0, none, none);
	} else if (rows.first <= RT_STORE_NUMBER_MAX) {
		bool is_node = rows.table == RT_STORE_NODES;

		rt_pg_add(&call, is_node ? RT_PG_NODE_DROP : RT_PG_INDEX_DROP, rows.first,
			  rows.last <= RT_STORE_NUMBER_MAX ? rows.last : RT_STORE_NUMBER_MAX, 0,
			  none, none);
	}
	return rt_pg_end(&call, err);
}
