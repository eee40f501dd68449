/* SPDX-License-Identifier: MIT
 *
 * Check of the SQLite store.
 *
 * Findings. The ids are permanent: people and scripts look them up.
 *
 *   store-page-damaged      SQLite's own check of pages and trees found something
 *   store-schema-changed    a table differs from the schema, is missing, or is unknown
 *   store-meta-damaged      a row of meta does not match its checksum
 *   store-project-damaged   a project's row does not match its checksum
 *   store-project-missing   rows of a project that is not in the list of projects
 *   store-log-damaged       a log row does not match its checksum
 *   store-log-gap           a log row is missing between two others or at the beginning
 *   store-body-damaged      a body does not match its checksum
 *   store-node-damaged      a node of a checkpoint does not match its checksum (a cache)
 *   store-root-damaged      a checkpoint's root does not match its checksum (a cache)
 *   store-root-ahead        a checkpoint covers more than the log holds
 *   store-side-damaged      a side row does not match its checksum
 *   store-index-damaged     the full-text index is not in order (a cache)
 *   store-index-orphan      the index has a text of a body that does not exist (a cache)
 *   store-index-ahead       the index's mark is beyond the last body (a cache)
 */
#include "store/store_sqlite_impl.h"

#include <stdio.h> /* snprintf */
#include <stdlib.h>

typedef struct checking {
	rt_sqlite_call *call;
	rt_store_findings found;
} checking;

typedef void (*row_fn)(checking *k, sqlite3_stmt *row, void *state);

/* A query did not run to its end: damage is a finding, anything else a failure. */
static void
report_broken(checking *k, const char *id, const char *what)
{
	sqlite3 *db = k->call->conn->db;
	rt_error why;
	rt_status st = rt_sqlite_fail(k->call->store, db, "checking it", &why);

	if (st == RT_CORRUPT || st == RT_NOT_OURS)
		rt_store_report(&k->found, id, "%s cannot be read to the end (%s)", what,
				sqlite3_errmsg(db));
	else
		rt_scope_fail_as(&k->call->scope, st, &why);
}

static bool
is_over(const checking *k)
{
	return k->found.stop || !rt_ok(&k->call->scope);
}

/* Runs a query and calls each for every row. */
static void
rows(checking *k, const char *sql, const char *id, const char *what, row_fn each, void *state)
{
	sqlite3_stmt *stmt = NULL;
	int rc;

	if (is_over(k))
		return;
	rc = sqlite3_prepare_v2(k->call->conn->db, sql, -1, &stmt, NULL);
	while (rc == SQLITE_OK || rc == SQLITE_ROW) {
		rc = sqlite3_step(stmt);
		if (rc != SQLITE_ROW || is_over(k))
			break;
		each(k, stmt, state);
	}
	if (rc != SQLITE_DONE && rc != SQLITE_ROW)
		report_broken(k, id, what);
	(void)sqlite3_finalize(stmt);
}

/* --- pages --- */

/* SQLite's check continues after an unreadable page, and lists that among the damage: "unable to
 * get the page. error code=N". Its later findings are unreliable. */
static rt_status
page_unread(const char *text)
{
	static const char before[] = "error code=";
	const char *code = strstr(text, before);
	rt_status st = RT_OK;

	if (code != NULL)
		st = rt_sqlite_status(atoi(code + sizeof(before) - 1));
	else if (strstr(text, "failed to get page") != NULL)
		st = RT_IO;
	return st == RT_IO || st == RT_NOMEM ? st : RT_OK;
}

static void
each_page(checking *k, sqlite3_stmt *row, void *state)
{
	const char *text = (const char *)sqlite3_column_text(row, 0);
	rt_status st = text == NULL ? RT_NOMEM : page_unread(text);

	(void)state;
	if (st == RT_NOMEM)
		rt_scope_fail(&k->call->scope, st, "out of memory while checking %s",
			      k->call->store->place);
	else if (st != RT_OK)
		rt_scope_fail(&k->call->scope, st,
			      "%s: a disk error occurred during the check (a page cannot be read)",
			      k->call->store->place);
	else if (strcmp(text, "ok") == 0)
		return;
	else if (strstr(text, "fts5") != NULL || strstr(text, "inverted index") != NULL)
		rt_store_report(&k->found, "store-index-damaged",
				"the full-text index is damaged: %s", text);
	else
		rt_store_report(&k->found, "store-page-damaged", "a page is damaged: %s", text);
}

/* --- the schema --- */

/* Hashes the name and text of everything in it; an index of an earlier version as the present one, without the
 * tables that FTS5 made for it. */
static void
each_schema(checking *k, sqlite3_stmt *row, void *state)
{
	static const char *const earlier[] = {RT_SQLITE_INDEX_OLD, RT_SQLITE_INDEX_WORDS, RT_SQLITE_INDEX_PAIRS,
					      RT_SQLITE_INDEX_WORDS_1, NULL};
	uint64_t *sum = state;
	rt_str texts[2];

	(void)k;
	for (int i = 0; i < 2; i++)
		texts[i] = rt_str_at(sqlite3_column_blob(row, i), (size_t)sqlite3_column_bytes(row, i));
	if (rt_str_starts(texts[0], RT_STR("found_")))
		return;
	if (rt_str_is_one_of(texts[1], earlier))
		texts[1] = RT_STR(RT_SQLITE_INDEX_TABLE);
	for (int i = 0; i < 2; i++)
		*sum = rt_hash(texts[i].ptr, texts[i].size, *sum);
}

/* Compares it with that of a new store. */
static void
check_schema(checking *k)
{
	static const char sql[] = "SELECT name, sql FROM sqlite_schema ORDER BY name";
	rt_sqlite_conn fresh = {0};
	rt_sqlite_call call = rt_sqlite_call_on(k->call->store, &fresh);
	checking of_fresh = {.call = &call};
	uint64_t here = 0, there = 0;

	rows(k, sql, "store-page-damaged", "the list of tables", each_schema, &here);
	if (is_over(k))
		return;
	rt_sqlite_open_scratch(&call, rt_sqlite_schema);
	rows(&of_fresh, sql, "", "", each_schema, &there);
	rt_sqlite_conn_close(&fresh);
	(void)rt_scope_join(&k->call->scope, &call.scope);
	if (rt_ok(&k->call->scope) && here != there)
		rt_store_report(&k->found, "store-schema-changed",
				"the tables differ from those that Retake creates");
}

/* --- rows --- */

typedef struct table_check {
	enum rt_row_table table;
	const char *sql; /* key, sum, data, extra, name, as for rt_sqlite_row_read */
	const char *id;
	const char *what;   /* "the log" cannot be read to the end */
	uint64_t before;    /* log: the key of the row before */
} table_check;

/* BODY_HEAD: the number of the project's last body. */
#define BODY_HEAD \
	"coalesce((SELECT key & 8796093022207 FROM body WHERE key BETWEEN mark.project << 43 AND" \
	" mark.project << 43 | 8796093022207 ORDER BY key DESC LIMIT 1), 0)"

static const table_check tables[] = {
	{RT_TABLE_META, "SELECT 0, sum, value, 0, key FROM meta", "store-meta-damaged", "meta", 0},
	{RT_TABLE_PROJECT, "SELECT id, sum, name, 0, NULL FROM project", "store-project-damaged",
	 "the list of projects", 0},
	{RT_TABLE_LOG, "SELECT key, sum, data, at, step FROM log ORDER BY key", "store-log-damaged",
	 "the log", 0},
	{RT_TABLE_BODY, "SELECT key, sum, data, entry, NULL FROM body ORDER BY key",
	 "store-body-damaged", "the bodies", 0},
	{RT_TABLE_NODE, "SELECT key, sum, data, 0, NULL FROM node ORDER BY key",
	 "store-node-damaged", "the checkpoint", 0},
	{RT_TABLE_ROOT, "SELECT project, sum, data, seq, NULL FROM root", "store-root-damaged",
	 "the checkpoint's roots", 0},
	{RT_TABLE_SIDE, "SELECT project, sum, data, 0, name FROM side", "store-side-damaged",
	 "the side rows", 0},
	{RT_TABLE_MARK, "SELECT project, sum, NULL, number, NULL, " BODY_HEAD " FROM mark",
	 "store-index-damaged", "the index's marks", 0},
};

static void
each_row(checking *k, sqlite3_stmt *stmt, void *state)
{
	table_check *t = state;
	rt_store_row row;
	uint64_t key;
	rt_status st = rt_sqlite_row_read(stmt, t->table, &key, &row);

	if (t->table == RT_TABLE_LOG)
		rt_store_check_log(&k->found, key, &t->before);
	if (st == RT_NOMEM)
		rt_scope_fail(&k->call->scope, st, "out of memory while checking it");
	else if (st != RT_OK && t->table == RT_TABLE_META)
		rt_store_report(&k->found, t->id, "the row \"%.*s\" of meta was altered",
				RT_STR_ARG(row.name));
	else if (st != RT_OK)
		rt_store_report_row(&k->found, t->table, key);
	else if (t->table == RT_TABLE_MARK && row.number > (uint64_t)sqlite3_column_int64(stmt, 5))
		rt_store_report(&k->found, "store-index-ahead",
		       "the index of project %llu refers to body %llu, which does not exist",
		       (unsigned long long)key, (unsigned long long)row.number);
}

/* --- relations --- */

/* Rows: the project and the name of the table. */
static void
each_stranger(checking *k, sqlite3_stmt *row, void *state)
{
	const char *table = (const char *)sqlite3_column_text(row, 1);

	(void)state;
	rt_store_report(&k->found, "store-project-missing",
	       "table %s contains rows of project %lld, which does not exist",
	       table == NULL ? "" : table, (long long)sqlite3_column_int64(row, 0));
}

typedef struct index_check {
	checking *k;
	uint64_t project;
} index_check;

static void
see_orphan(void *ctx, uint64_t number)
{
	index_check *c = ctx;

	rt_store_report(&c->k->found, "store-index-orphan",
			"the index contains body %llu of project %llu, which does not exist",
			(unsigned long long)number, (unsigned long long)c->project);
}

/* The index of a project. */
static void
each_index(checking *k, sqlite3_stmt *row, void *state)
{
	index_check c = {k, (uint64_t)sqlite3_column_int64(row, 0)};
	rt_sqlite_call call = rt_sqlite_call_on(k->call->store, k->call->conn);

	(void)state;
	rt_sqlite_index_check(&call, c.project, see_orphan, &c);
	if (call.scope.status == RT_CORRUPT) {
		rt_store_report(&k->found, "store-index-damaged", "the full-text index of project %llu is damaged",
				(unsigned long long)c.project);
		rt_scope_deinit(&call.scope);
	} else {
		(void)rt_scope_join(&k->call->scope, &call.scope);
	}
}

static void
each_ahead(checking *k, sqlite3_stmt *row, void *state)
{
	(void)state;
	rt_store_report(&k->found, "store-root-ahead",
	       "the checkpoint of project %lld is at log row %lld, which does not exist",
	       (long long)sqlite3_column_int64(row, 0), (long long)sqlite3_column_int64(row, 1));
}

/* The projects of a table whose key starts with one: a skip scan, one step for each project. */
#define PROJECTS_OF(table) \
	"WITH RECURSIVE p(id) AS (SELECT (SELECT min(key) >> 43 FROM " table ")" \
	" UNION ALL SELECT (SELECT key >> 43 FROM " table " WHERE key >= (p.id + 1) << 43" \
	" ORDER BY key LIMIT 1) FROM p WHERE p.id IS NOT NULL AND p.id < 1048575)" \
	" SELECT id, '" table "' FROM p WHERE id IS NOT NULL AND id NOT IN" \
	" (SELECT id FROM project)"

static void
check_relations(checking *k)
{
	static const char *const strangers[] = {
		PROJECTS_OF("log"),
		PROJECTS_OF("body"),
		PROJECTS_OF("node"),
		"SELECT project, 'root' FROM root WHERE project NOT IN (SELECT id FROM project)",
		"SELECT DISTINCT project, 'side' FROM side WHERE project NOT IN"
		" (SELECT id FROM project)",
		"SELECT project, 'mark' FROM mark WHERE project NOT IN (SELECT id FROM project)",
	};

	for (size_t i = 0; i < sizeof(strangers) / sizeof(*strangers); i++)
		rows(k, strangers[i], "store-page-damaged", "a table", each_stranger, NULL);
	rows(k,
	     "SELECT project, seq FROM root WHERE seq > coalesce((SELECT key & 8796093022207 FROM"
	     " log WHERE key BETWEEN root.project << 43 AND root.project << 43 | 8796093022207"
	     " ORDER BY key DESC LIMIT 1), 0)",
	     "store-root-damaged", "the checkpoint's roots", each_ahead, NULL);
	if (is_over(k) || !rt_sqlite_index_is_present(k->call))
		return;
	rows(k, PROJECTS_OF("found"), "store-index-damaged", "the index", each_stranger, NULL);
	rows(k, "SELECT id FROM project", "store-index-damaged", "the index", each_index, NULL);
}

void
rt_sqlite_check_conn(rt_sqlite_call *call, rt_finding_fn fn, void *ctx)
{
	checking k = {.call = call, .found = {.fn = fn, .ctx = ctx}};

	/* One snapshot for everything. */
	rt_sqlite_exec(call, "BEGIN", "checking it");
	if (!rt_ok(&call->scope))
		return;
	rows(&k, "PRAGMA integrity_check(100)", "store-page-damaged", "the file", each_page, NULL);
	check_schema(&k);
	for (size_t i = 0; i < sizeof(tables) / sizeof(*tables); i++) {
		table_check t = tables[i];

		rows(&k, t.sql, t.id, t.what, each_row, &t);
	}
	check_relations(&k);
	(void)sqlite3_exec(call->conn->db, "ROLLBACK", NULL, NULL, NULL);
}

/* Keeps id and text, each with its NUL. */
static bool
keep_finding(void *ctx, const char *id, const char *text)
{
	rt_buf *found = ctx;

	rt_buf_add(found, id, strlen(id) + 1);
	rt_buf_add(found, text, strlen(text) + 1);
	return found->status == RT_OK;
}

/* Findings are reported once the attempt has ended: a file that changes while it is read without
 * locks looks like a damaged one. */
rt_status
rt_sqlite_check(rt_store *store, rt_finding_fn fn, void *ctx, rt_error *err)
{
	rt_sqlite_call call = rt_sqlite_reading(store);
	bool more = true;
	rt_buf found;

	RT_ASSERT(!rt_sqlite_is_owner(call.store));
	rt_buf_init(&found, call.store->alloc, RT_BUF_UNLIMITED);
	while (rt_sqlite_attempt(&call)) {
		rt_buf_clear(&found);
		rt_sqlite_check_conn(&call, keep_finding, &found);
		if (found.status != RT_OK)
			rt_scope_fail(&call.scope, RT_NOMEM, "out of memory while checking");
	}
	if (call.scope.status == RT_BUSY || call.scope.status == RT_NOMEM)
		more = false;
	for (size_t at = 0; more && at < found.size;) {
		const char *id = found.ptr + at, *text = id + strlen(id) + 1;

		at += strlen(id) + strlen(text) + 2;
		more = fn(ctx, id, text);
	}
	rt_buf_deinit(&found);
	return rt_scope_end(&call.scope, err);
}
