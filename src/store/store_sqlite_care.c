/* SPDX-License-Identifier: MIT
 *
 * Scrub, backup and check of the SQLite store.
 *
 * Findings of check. The ids are for ever: people and scripts look them up.
 *
 *   store-page-damaged      SQLite's own check of pages and trees found something
 *   store-schema-changed    a table is not as we made it, or there is one more or less
 *   store-meta-damaged      a row of meta is not what was written
 *   store-project-damaged   a project's row is not what was written
 *   store-project-missing   rows of a project that is not in the list of projects
 *   store-log-damaged       a log row is not what was written
 *   store-log-gap           a log row is missing between two others or at the beginning
 *   store-body-damaged      a body is not what was written
 *   store-node-damaged      a node of a checkpoint is not what was written (a cache)
 *   store-root-damaged      a checkpoint's root is not what was written (a cache)
 *   store-root-ahead        a checkpoint stands for more than the log holds
 *   store-side-damaged      a side row is not what was written
 *   store-index-damaged     the full-text index is not in order (a cache)
 *   store-index-orphan      the index holds a text of a body that is not there (a cache)
 *   store-index-ahead       the index's mark is beyond the last body (a cache)
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "store/store_sqlite_impl.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h> /* snprintf, vsnprintf */
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/hash.h"

/* --- scrub --- */

/* What may still hold purged bytes, and what ends it:
 *   index segments   FTS5 marks a dropped text as gone and keeps its words until segments
 *                    are merged: "optimize" merges all
 *   free pages and   SQLite moves rows between pages and leaves copies behind:
 *   gaps in pages    VACUUM builds every page anew
 *   the log (-wal)   a TRUNCATE checkpoint empties it
 * The -shm file holds page numbers only. */
rt_status
rt_sqlite_scrub(rt_store *store, rt_error *err)
{
	rt_sqlite_store *s = rt_sqlite_self(store);
	rt_status st = store->ops->begin(store, err);

	if (st != RT_OK)
		return st;
	st = rt_sqlite_wipe(s, err);
	if (st == RT_OK)
		st = rt_sqlite_exec(s, &s->writer, "INSERT INTO found(found) VALUES('optimize')",
				    "scrubbing the index", err);
	if (st != RT_OK)
		goto done;
	/* VACUUM is a transaction of its own; we keep our turn, so no thread comes between.
	 * Another process may, and does no harm. */
	st = rt_sqlite_exec(s, &s->writer, "COMMIT", "scrubbing the index", err);
	if (st == RT_OK)
		st = rt_sqlite_exec(s, &s->writer, "VACUUM", "scrubbing", err);
	if (st == RT_OK)
		st = rt_sqlite_checkpoint(s, SQLITE_CHECKPOINT_TRUNCATE, true, err);
done:
	store->ops->cancel(store);
	return st;
}

/* --- check --- */

typedef struct checking {
	rt_sqlite_store *s;
	rt_sqlite_conn *c;
	rt_finding_fn fn;
	void *ctx;
	rt_error *err;
	bool stop;        /* fn has had enough, or we failed */
	rt_status failed; /* RT_OK, or why it could not be looked at; err has the words */
} checking;

static void found(checking *k, const char *id, const char *format, ...) RT_PRINTF(3, 4);

static void
found(checking *k, const char *id, const char *format, ...)
{
	char text[400];
	va_list ap;

	if (k->stop)
		return;
	va_start(ap, format);
	vsnprintf(text, sizeof(text), format, ap);
	va_end(ap);
	/* SQLite's sentences may quote the damaged file. */
	for (char *p = text; *p != 0; p++) {
		if ((unsigned char)*p < 0x20 || (unsigned char)*p > 0x7e)
			*p = '?';
	}
	k->stop = !k->fn(k->ctx, id, text);
}

/* A query could not run to its end: damage is a finding, anything else a failure. */
static rt_status
broke(checking *k, const char *id, const char *what)
{
	rt_error local;
	rt_status st = rt_sqlite_fail(k->s, k->c->db, "checking it", &local);

	if (st != RT_CORRUPT && st != RT_NOT_OURS) {
		if (k->err != NULL)
			*k->err = local;
		return st;
	}
	found(k, id, "%s cannot be read to the end (%s)", what, sqlite3_errmsg(k->c->db));
	return RT_OK;
}

/* Run a query and hand every row to each. */
static rt_status
rows(checking *k, const char *sql, const char *id, const char *what,
     void (*each)(checking *k, sqlite3_stmt *row, void *state), void *state)
{
	sqlite3_stmt *stmt = NULL;
	rt_status st = RT_OK;
	int rc;

	if (k->stop)
		return RT_OK;
	if (sqlite3_prepare_v2(k->c->db, sql, -1, &stmt, NULL) != SQLITE_OK)
		return broke(k, id, what);
	while ((rc = sqlite3_step(stmt)) == SQLITE_ROW && !k->stop)
		each(k, stmt, state);
	if (rc != SQLITE_DONE && rc != SQLITE_ROW)
		st = broke(k, id, what);
	(void)sqlite3_finalize(stmt);
	return st == RT_OK ? k->failed : st;
}

static rt_str
column(sqlite3_stmt *row, int at)
{
	const void *ptr = sqlite3_column_blob(row, at);

	return rt_str_at(ptr, (size_t)sqlite3_column_bytes(row, at));
}

static bool
sum_fits(sqlite3_stmt *row, int at, enum rt_sqlite_table table, uint64_t key, uint64_t extra,
	 rt_str data)
{
	return sqlite3_column_int64(row, at) ==
	       rt_sqlite_sum(table, key, extra, data.ptr, data.size);
}

static unsigned long long
project_of(uint64_t key)
{
	return key >> 43;
}

static unsigned long long
number_of(uint64_t key)
{
	return key & RT_STORE_NUMBER_MAX;
}

/* SQLite's check goes on where a page could not be read, and lists that among the damage:
 * "unable to get the page. error code=N". What it finds after that is not to be trusted. */
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

	(void)state;
	if (text == NULL) {
		k->failed = rt_fail(k->err, RT_NOMEM, "out of memory while checking it");
		k->stop = true;
		return;
	}
	if (strcmp(text, "ok") == 0)
		return;
	k->failed = page_unread(text);
	if (k->failed != RT_OK) {
		k->stop = true;
		(void)rt_fail(k->err, k->failed,
			      k->failed == RT_NOMEM ? "out of memory while checking %s"
						    : "%s: the disk failed while checking it (a "
						      "page cannot be read)",
			      k->s->place);
		return;
	}
	if (strstr(text, "fts5") != NULL || strstr(text, "inverted index") != NULL)
		found(k, "store-index-damaged", "the full-text index is damaged: %s", text);
	else
		found(k, "store-page-damaged", "a page is damaged: %s", text);
}

static void
each_meta(checking *k, sqlite3_stmt *row, void *state)
{
	rt_str key = column(row, 0), value = column(row, 2);

	(void)state;
	if (!sum_fits(row, 1, RT_TABLE_META, 0, rt_hash(key.ptr, key.size, 0), value))
		found(k, "store-meta-damaged", "the row \"%.*s\" of meta is not what was written",
		      RT_STR_ARG(key));
}

static void
each_project(checking *k, sqlite3_stmt *row, void *state)
{
	uint64_t id = (uint64_t)sqlite3_column_int64(row, 0);

	(void)state;
	if (!sum_fits(row, 1, RT_TABLE_PROJECT, id, 0, column(row, 2)))
		found(k, "store-project-damaged", "the row of project %llu is not what was written",
		      (unsigned long long)id);
}

/* key, sum, step, at, data; state: the key before. */
static void
each_log(checking *k, sqlite3_stmt *row, void *state)
{
	uint64_t key = (uint64_t)sqlite3_column_int64(row, 0), *before = state;
	int64_t at = sqlite3_column_int64(row, 3);
	rt_str step = column(row, 2);
	uint64_t expected = key >> 43 == *before >> 43 ? *before + 1 : (key >> 43 << 43) + 1;

	if (key != expected)
		found(k, "store-log-gap", "the log of project %llu lacks row %llu", project_of(key),
		      number_of(expected));
	*before = key;
	if (step.size != RT_STEP_ID_SIZE ||
	    !sum_fits(row, 1, RT_TABLE_LOG, key, rt_hash(step.ptr, step.size, (uint64_t)at),
		      column(row, 4)))
		found(k, "store-log-damaged",
		      "log row %llu of project %llu is not what was written", number_of(key),
		      project_of(key));
}

static void
each_body(checking *k, sqlite3_stmt *row, void *state)
{
	uint64_t key = (uint64_t)sqlite3_column_int64(row, 0);

	(void)state;
	if (!sum_fits(row, 1, RT_TABLE_BODY, key, (uint64_t)sqlite3_column_int64(row, 2),
		      column(row, 3)))
		found(k, "store-body-damaged", "body %llu of project %llu is not what was written",
		      number_of(key), project_of(key));
}

static void
each_node(checking *k, sqlite3_stmt *row, void *state)
{
	uint64_t key = (uint64_t)sqlite3_column_int64(row, 0);

	(void)state;
	if (!sum_fits(row, 1, RT_TABLE_NODE, key, 0, column(row, 2)))
		found(k, "store-node-damaged", "node %llu of project %llu is not what was written",
		      number_of(key), project_of(key));
}

static void
each_root(checking *k, sqlite3_stmt *row, void *state)
{
	uint64_t project = (uint64_t)sqlite3_column_int64(row, 0);

	(void)state;
	if (!sum_fits(row, 1, RT_TABLE_ROOT, project, (uint64_t)sqlite3_column_int64(row, 2),
		      column(row, 3)))
		found(k, "store-root-damaged", "the root of project %llu is not what was written",
		      (unsigned long long)project);
}

static void
each_side(checking *k, sqlite3_stmt *row, void *state)
{
	uint64_t project = (uint64_t)sqlite3_column_int64(row, 0);
	rt_str name = column(row, 2);

	(void)state;
	if (!sum_fits(row, 1, RT_TABLE_SIDE, project, rt_hash(name.ptr, name.size, 0),
		      column(row, 3)))
		found(k, "store-side-damaged", "a side row of project %llu is not what was written",
		      (unsigned long long)project);
}

static void
each_mark(checking *k, sqlite3_stmt *row, void *state)
{
	uint64_t project = (uint64_t)sqlite3_column_int64(row, 0);
	uint64_t number = (uint64_t)sqlite3_column_int64(row, 2);

	(void)state;
	if (!sum_fits(row, 1, RT_TABLE_MARK, project, number, RT_STR("")))
		found(k, "store-index-damaged",
		      "the mark of the index of project %llu is not what was written",
		      (unsigned long long)project);
	else if (number > (uint64_t)sqlite3_column_int64(row, 3))
		found(k, "store-index-ahead",
		      "the index of project %llu claims body %llu, which is not there",
		      (unsigned long long)project, (unsigned long long)number);
}

/* id and table of rows without a project */
static void
each_stranger(checking *k, sqlite3_stmt *row, void *state)
{
	const char *table = (const char *)sqlite3_column_text(row, 1);

	(void)state;
	found(k, "store-project-missing", "table %s holds rows of project %lld, which is not there",
	      table == NULL ? "" : table, (long long)sqlite3_column_int64(row, 0));
}

static void
each_orphan(checking *k, sqlite3_stmt *row, void *state)
{
	uint64_t key = (uint64_t)sqlite3_column_int64(row, 0);

	(void)state;
	found(k, "store-index-orphan",
	      "the index holds body %llu of project %llu, which is not there", number_of(key),
	      project_of(key));
}

static void
each_ahead(checking *k, sqlite3_stmt *row, void *state)
{
	(void)state;
	found(k, "store-root-ahead",
	      "the checkpoint of project %lld stands for log row %lld, which is not there",
	      (long long)sqlite3_column_int64(row, 0), (long long)sqlite3_column_int64(row, 1));
}

/* The schema as one hash: name and text of everything in it. */
static void
each_schema(checking *k, sqlite3_stmt *row, void *state)
{
	uint64_t *sum = state;
	rt_str name = column(row, 0);

	(void)k;
	*sum = rt_hash(name.ptr, name.size, *sum);
	name = column(row, 1);
	*sum = rt_hash(name.ptr, name.size, *sum);
}

static const char schema_sql[] = "SELECT name, sql FROM sqlite_schema ORDER BY name";

/* Compare with the schema of a store made just now. */
static rt_status
check_schema(checking *k)
{
	rt_sqlite_conn fresh = {0};
	checking of_fresh = *k;
	uint64_t here = 0, there = 0;
	rt_status st = rows(k, schema_sql, "store-page-damaged", "the list of tables", each_schema,
			    &here);

	if (st != RT_OK || k->stop)
		return st;
	of_fresh.c = &fresh;
	if (sqlite3_open_v2(":memory:", &fresh.db,
			    SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_MEMORY,
			    NULL) != SQLITE_OK)
		st = rt_sqlite_fail(k->s, fresh.db, "checking it", k->err);
	if (st == RT_OK)
		st = rt_sqlite_exec(k->s, &fresh, rt_sqlite_schema, "checking it", k->err);
	if (st == RT_OK)
		st = rows(&of_fresh, schema_sql, "", "", each_schema, &there);
	rt_sqlite_conn_close(&fresh);
	if (st == RT_OK && here != there)
		found(k, "store-schema-changed", "the tables are not as Retake makes them");
	return st;
}

static rt_status
check_rows(checking *k)
{
	uint64_t before = 0;
	rt_status st;

	st = rows(k, "SELECT key, sum, value FROM meta", "store-meta-damaged", "meta", each_meta,
		  NULL);
	if (st == RT_OK)
		st = rows(k, "SELECT id, sum, name FROM project", "store-project-damaged",
			  "the list of projects", each_project, NULL);
	if (st == RT_OK)
		st = rows(k, "SELECT key, sum, step, at, data FROM log ORDER BY key",
			  "store-log-damaged", "the log", each_log, &before);
	if (st == RT_OK)
		st = rows(k, "SELECT key, sum, entry, data FROM body ORDER BY key",
			  "store-body-damaged", "the bodies", each_body, NULL);
	if (st == RT_OK)
		st = rows(k, "SELECT key, sum, data FROM node ORDER BY key", "store-node-damaged",
			  "the checkpoint", each_node, NULL);
	if (st == RT_OK)
		st = rows(k, "SELECT project, sum, seq, data FROM root", "store-root-damaged",
			  "the checkpoint's roots", each_root, NULL);
	if (st == RT_OK)
		st = rows(k, "SELECT project, sum, name, data FROM side", "store-side-damaged",
			  "the side rows", each_side, NULL);
	if (st == RT_OK)
		st = rows(k,
			  "SELECT project, sum, number, coalesce((SELECT key & 8796093022207"
			  " FROM body WHERE key BETWEEN mark.project << 43 AND"
			  " mark.project << 43 | 8796093022207 ORDER BY key DESC LIMIT 1), 0)"
			  " FROM mark",
			  "store-index-damaged", "the index's marks", each_mark, NULL);
	return st;
}

/* The projects of a table whose key begins with one: a skip scan, one step a project. */
#define PROJECTS_OF(table) \
	"WITH RECURSIVE p(id) AS (SELECT (SELECT min(key) >> 43 FROM " table ")" \
	" UNION ALL SELECT (SELECT key >> 43 FROM " table " WHERE key >= (p.id + 1) << 43" \
	" ORDER BY key LIMIT 1) FROM p WHERE p.id IS NOT NULL AND p.id < 1048575)" \
	" SELECT id, '" table "' FROM p WHERE id IS NOT NULL AND id NOT IN" \
	" (SELECT id FROM project)"

static rt_status
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
	rt_status st = RT_OK;

	for (size_t i = 0; i < sizeof(strangers) / sizeof(*strangers) && st == RT_OK; i++)
		st = rows(k, strangers[i], "store-page-damaged", "a table", each_stranger, NULL);
	if (st == RT_OK)
		st = rows(k,
			  "SELECT project, seq FROM root WHERE seq > coalesce((SELECT"
			  " key & 8796093022207 FROM log WHERE key BETWEEN root.project << 43"
			  " AND root.project << 43 | 8796093022207 ORDER BY key DESC LIMIT 1),"
			  " 0)",
			  "store-root-damaged", "the checkpoint's roots", each_ahead, NULL);
	if (st == RT_OK)
		st = rows(k, "SELECT id FROM found_docsize WHERE id NOT IN (SELECT key FROM body)",
			  "store-index-damaged", "the index", each_orphan, NULL);
	return st;
}

rt_status
rt_sqlite_check_conn(rt_sqlite_store *s, rt_sqlite_conn *c, rt_finding_fn fn, void *ctx,
		     rt_error *err)
{
	checking k = {s, c, fn, ctx, err, false, RT_OK};
	rt_status st;

	/* One snapshot for everything. */
	if (sqlite3_exec(c->db, "BEGIN", NULL, NULL, NULL) != SQLITE_OK)
		return rt_sqlite_fail(s, c->db, "checking it", err);
	st = rows(&k, "PRAGMA integrity_check(100)", "store-page-damaged", "the file", each_page,
		  NULL);
	if (st == RT_OK)
		st = check_schema(&k);
	if (st == RT_OK)
		st = check_rows(&k);
	if (st == RT_OK)
		st = check_relations(&k);
	(void)sqlite3_exec(c->db, "ROLLBACK", NULL, NULL, NULL);
	return st;
}

/* Id and text, each with its end. */
static bool
keep_finding(void *ctx, const char *id, const char *text)
{
	rt_buf *found = ctx;

	rt_buf_add(found, id, strlen(id) + 1);
	rt_buf_add(found, text, strlen(text) + 1);
	return found->status == RT_OK;
}

/* What is found is told when it is known to be so: a file that is written to while it is read
 * without a lock looks like a damaged one. */
rt_status
rt_sqlite_check(rt_store *store, rt_finding_fn fn, void *ctx, rt_error *err)
{
	rt_sqlite_store *s = rt_sqlite_self(store);
	rt_sqlite_reading r = {0};
	bool more = true;
	rt_buf found;
	size_t at = 0;

	RT_ASSERT(!rt_sqlite_is_owner(s));
	rt_buf_init(&found, s->alloc, RT_BUF_UNLIMITED);
	while (rt_sqlite_read(s, &r, err)) {
		rt_buf_clear(&found);
		r.status = rt_sqlite_check_conn(s, r.conn, keep_finding, &found, err);
		if (found.status != RT_OK)
			r.status = rt_fail(err, RT_NOMEM, "out of memory while checking");
	}
	while (more && at < found.size && r.status != RT_BUSY && r.status != RT_NOMEM) {
		const char *id = found.ptr + at, *text = id + strlen(id) + 1;

		at += strlen(id) + strlen(text) + 2;
		more = fn(ctx, id, text);
	}
	rt_buf_deinit(&found);
	return r.status;
}

/* --- backup --- */

static bool
first_finding(void *ctx, const char *id, const char *text)
{
	char *to = ctx;

	snprintf(to, 300, "%s: %s", id, text);
	return false;
}

/* All pages of one snapshot into the file `name`, which is there and empty. */
static rt_status
copy_pages(rt_sqlite_store *s, rt_sqlite_conn *from, const char *name, rt_error *err)
{
	rt_sqlite_conn to = {0};
	sqlite3_backup *job = NULL;
	char finding[300] = "";
	rt_status st = RT_OK;

	if (sqlite3_open_v2(name, &to.db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, NULL) !=
	    SQLITE_OK)
		st = rt_sqlite_fail(s, to.db, "making a copy", err);
	if (st == RT_OK)
		st = rt_sqlite_exec(s, &to, "PRAGMA synchronous = OFF; PRAGMA journal_mode = OFF",
				    "making a copy", err);
	if (st == RT_OK) {
		job = sqlite3_backup_init(to.db, "main", from->db, "main");
		if (job == NULL)
			st = rt_sqlite_fail(s, to.db, "making a copy", err);
	}
	if (st == RT_OK && sqlite3_backup_step(job, -1) != SQLITE_DONE) {
		(void)sqlite3_backup_finish(job);
		job = NULL;
		st = rt_sqlite_fail(s, to.db, "making a copy", err);
	}
	if (job != NULL && sqlite3_backup_finish(job) != SQLITE_OK)
		st = rt_sqlite_fail(s, to.db, "making a copy", err);
	if (st == RT_OK)
		st = rt_sqlite_check_conn(s, &to, first_finding, finding, err);
	if (st == RT_OK && finding[0] != 0)
		st = rt_fail(err, RT_CORRUPT, "%s is damaged, so no copy was made (%s)", s->place,
			     finding);
	rt_sqlite_conn_close(&to);
	return st;
}

static rt_status
sync_file(const char *name, rt_error *err)
{
	int fd = open(name, O_RDONLY | O_CLOEXEC), failed = 0;

	if (fd < 0)
		return rt_fail(err, RT_IO, "%s cannot be opened: %s", name, strerror(errno));
	if (fsync(fd) != 0)
		failed = errno;
	(void)close(fd);
	if (failed != 0)
		return rt_fail(err, RT_IO, "%s cannot be synced: %s", name, strerror(failed));
	return RT_OK;
}

rt_status
rt_sqlite_backup(rt_store *store, const char *path, rt_error *err)
{
	rt_sqlite_store *s = rt_sqlite_self(store);
	char name[4200], beside[4210];
	rt_sqlite_reading r = {0};
	struct stat info;
	uint64_t random;
	rt_status st;
	int fd;

	if (s->memory != NULL)
		return rt_fail(err, RT_REFUSED,
			       "a store in memory has no file that could be copied to %s", path);
	if (strlen(path) == 0 || strlen(path) > 4096)
		return rt_fail(err, RT_USAGE, "that is not a path for a copy");
	if (lstat(path, &info) == 0)
		return rt_fail(err, RT_REFUSED, "%s is there already", path);
	s->env.random(s->env.ctx, &random, sizeof(random));
	snprintf(name, sizeof(name), "%s.new-%016llx", path, (unsigned long long)random);
	fd = open(name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (fd < 0)
		return rt_fail(err, errno == ENOSPC || errno == EDQUOT ? RT_FULL : RT_IO,
			       "%s could not be made: %s", path, strerror(errno));
	(void)close(fd);
	while (rt_sqlite_read(s, &r, err))
		r.status = copy_pages(s, r.conn, name, err);
	st = r.status;
	if (st == RT_OK)
		st = sync_file(name, err);
	if (st == RT_OK)
		st = rt_sqlite_rename(name, path, err);
	if (st == RT_OK)
		st = rt_sqlite_sync_folder(path, err);
	/* What is left when something failed. */
	(void)unlink(name);
	snprintf(beside, sizeof(beside), "%s-wal", name);
	(void)unlink(beside);
	snprintf(beside, sizeof(beside), "%s-shm", name);
	(void)unlink(beside);
	return st;
}
