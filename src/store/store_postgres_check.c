/* SPDX-License-Identifier: MIT
 *
 * Check and scrub of the PostgreSQL store. The findings are those of store_sqlite_check.c; the
 * pages are the server's to check (data checksums, amcheck). */
#include "store/store_postgres_impl.h"

#include <stdio.h> /* snprintf */

enum { FETCHED = 50 /* rows at a time, which may be large */ };

typedef struct checking {
	rt_pg_call *call;
	rt_store_findings found;
} checking;

typedef struct table_check {
	enum rt_row_table table;
	const char *sql; /* project, number, sum, data, extra, name */
} table_check;

static const table_check tables[] = {
	{RT_TABLE_PROJECT,
	 "SELECT 0::bigint, id, sum, name, 0::bigint, ''::bytea FROM retake.project"},
	{RT_TABLE_LOG, "SELECT project, seq, sum, data, at, step FROM retake.log ORDER BY 1, 2"},
	{RT_TABLE_BODY, "SELECT project, number, sum, data, entry, ''::bytea FROM retake.body"},
	{RT_TABLE_NODE, "SELECT project, number, sum, data, 0::bigint, ''::bytea FROM retake.node"},
	{RT_TABLE_ROOT, "SELECT project, seq, sum, data, seq, ''::bytea FROM retake.root"},
	{RT_TABLE_SIDE, "SELECT project, 0::bigint, sum, data, 0::bigint, name FROM retake.side"},
};

/* Findings that a query finds: two numbers for the message. */
static const struct {
	const char *id, *text, *sql;
} relations[] = {
	{"store-log-gap", "the log of project %llu does not end with row %llu",
	 "SELECT p.id, p.seq FROM retake.project p WHERE p.seq <> coalesce((SELECT max(l.seq) FROM"
	 " retake.log l WHERE l.project = p.id), 0)"},
	{"store-body-damaged", "the bodies of project %llu do not end with body %llu",
	 "SELECT p.id, p.body FROM retake.project p WHERE p.body <> coalesce((SELECT max(b.number)"
	 " FROM retake.body b WHERE b.project = p.id), 0)"},
	{"store-root-ahead",
	 "the checkpoint of project %llu is at log row %llu, which does not exist",
	 "SELECT r.project, r.seq FROM retake.root r JOIN retake.project p ON p.id = r.project AND"
	 " r.seq > p.seq"},
	{"store-index-ahead", "the index of project %llu refers to body %llu, which does not exist",
	 "SELECT id, mark FROM retake.project WHERE mark > body"},
	{"store-index-orphan",
	 "the index contains a text of project %llu for body %llu, which does not exist",
	 "SELECT f.project, f.number FROM retake.found f WHERE NOT EXISTS(SELECT FROM retake.body b"
	 " WHERE b.project = f.project AND b.number = f.number)"},
	{"store-project-missing",
	 "there are rows of project %llu, which does not exist (%llu tables)",
	 "SELECT project, count(*) FROM (SELECT DISTINCT project FROM retake.log UNION ALL SELECT"
	 " DISTINCT project FROM retake.body UNION ALL SELECT DISTINCT project FROM retake.node UNION"
	 " ALL SELECT project FROM retake.root UNION ALL SELECT DISTINCT project FROM retake.side)"
	 " AS all_rows WHERE project NOT IN (SELECT id FROM retake.project) GROUP BY project"},
};

static void
check_row(checking *k, const table_check *t, const PGresult *rows, int at, uint64_t *before)
{
	rt_pg_call *call = k->call;
	uint64_t project = rt_pg_u64(call, rows, at, 0), number = rt_pg_u64(call, rows, at, 1);
	uint64_t extra = rt_pg_u64(call, rows, at, 4), key = rt_row_key(project, number);
	rt_str name = rt_pg_bytes(call, rows, at, 5);
	rt_store_row row = {.number = number,
			    .entry = extra,
			    .at_us = (int64_t)extra,
			    .data = rt_pg_bytes(call, rows, at, 3),
			    .name = name};

	if (t->table == RT_TABLE_LOG) {
		if (name.size == RT_STEP_ID_SIZE)
			memcpy(row.step, name.ptr, RT_STEP_ID_SIZE);
		rt_store_check_log(&k->found, key, before);
	} else if (t->table == RT_TABLE_PROJECT) {
		key = number;
	} else if (t->table == RT_TABLE_ROOT || t->table == RT_TABLE_SIDE) {
		key = project;
	}
	if ((int64_t)rt_pg_u64(call, rows, at, 2) != rt_row_sum(t->table, key, &row))
		rt_store_report_row(&k->found, t->table, key);
}

static void
run(rt_pg_call *call, rt_pg_query q)
{

	q.doing = "checking it";
	rt_pg_clear(call, rt_pg_rows(call, &q));
}

static void
check_table(checking *k, const table_check *t)
{
	rt_pg_call *call = k->call;
	rt_pg_query q = rt_pg_control_of("FETCH 50 FROM rows_to_check");
	char sql[300];
	uint64_t before = 0;
	int count = FETCHED;

	(void)snprintf(sql, sizeof(sql), "DECLARE rows_to_check CURSOR FOR %s", t->sql);
	run(call, rt_pg_query_of(sql));
	q.doing = "checking it";
	while (rt_ok(&call->scope) && !k->found.stop && count == FETCHED) {
		PGresult *rows = rt_pg_rows(call, &q);

		count = rows != NULL ? call->store->pq->ntuples(rows) : 0;
		for (int i = 0; i < count && !k->found.stop; i++)
			check_row(k, t, rows, i, &before);
		rt_pg_clear(call, rows);
	}
	if (rt_ok(&call->scope))
		run(call, rt_pg_control_of("CLOSE rows_to_check"));
}

static void
check_relations(checking *k)
{
	for (size_t i = 0; i < sizeof(relations) / sizeof(*relations); i++) {
		rt_pg_query q = rt_pg_query_of(relations[i].sql);
		PGresult *rows = k->found.stop ? NULL : rt_pg_rows(k->call, &q);

		for (int at = 0; rows != NULL && at < k->call->store->pq->ntuples(rows); at++)
			rt_store_report(&k->found, relations[i].id, relations[i].text,
			       (unsigned long long)rt_pg_u64(k->call, rows, at, 0),
			       (unsigned long long)rt_pg_u64(k->call, rows, at, 1));
		rt_pg_clear(k->call, rows);
	}
}

/* In one transaction with one snapshot. is_sent keeps a lost connection from being replaced. */
rt_status
rt_pg_check(rt_store *store, rt_finding_fn fn, void *ctx, rt_error *err)
{
	rt_pg_call call = rt_pg_reading(store);
	checking k = {.call = &call, .found = {.fn = fn, .ctx = ctx}};

	if (!rt_ok(&call.scope))
		return rt_pg_end(&call, err);
	RT_ASSERT(!call.conn->tx.is_open);
	call.is_unlimited = true;
	run(&call, rt_pg_control_of("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"));
	for (size_t i = 0; i < sizeof(tables) / sizeof(*tables) && rt_ok(&call.scope); i++)
		check_table(&k, &tables[i]);
	if (rt_ok(&call.scope))
		check_relations(&k);
	if (rt_ok(&call.scope))
		run(&call, rt_pg_control_of("ROLLBACK"));
	else
		rt_pg_disconnect(call.store, call.conn);
	return rt_pg_end(&call, err);
}

/* Dead rows are removed from the pages and the index is built again, because a GIN index keeps the
 * words of rows that were deleted. Free space inside pages, the write-ahead log, archives and
 * replicas belong to the server: docs/postgresql.md. */
rt_status
rt_pg_scrub(rt_store *store, rt_error *err)
{
	static const char *const commands[] = {
		"VACUUM retake.log",
		"VACUUM retake.body",
		"VACUUM retake.node",
		"VACUUM retake.root",
		"VACUUM retake.side",
		"VACUUM retake.found",
		"REINDEX INDEX CONCURRENTLY retake.found_words",
	};
	size_t count = sizeof(commands) / sizeof(*commands);
	rt_pg_query q = rt_pg_query_of("SELECT pg_has_role(relowner, 'USAGE') FROM pg_class WHERE"
				       " oid = 'retake.found_words'::regclass");
	rt_pg_call call = rt_pg_reading(store);
	PGresult *rows = rt_pg_rows(&call, &q);

	/* VACUUM passes over the tables of others, REINDEX fails. */
	if (rows != NULL && !rt_pg_bool(&call, rows, 0, 0))
		count--;
	rt_pg_clear(&call, rows);

	for (size_t i = 0; i < count && rt_ok(&call.scope); i++) {
		call.is_unlimited = true;
		rt_pg_script(&call, commands[i], "removing purged rows");
	}
	return rt_pg_end(&call, err);
}
