/* SPDX-License-Identifier: MIT
 *
 * Backup and scrub of the SQLite store. */
#define _GNU_SOURCE
#include "store/store_sqlite_impl.h"

#include <stdio.h> /* snprintf */
#include <sys/stat.h>
#include <unistd.h>

/* Places that may still hold purged bytes, and what removes them:
 *   free pages and   SQLite moves rows between pages and leaves copies:
 *   gaps in pages    VACUUM rebuilds every page
 *   the log (-wal)   a TRUNCATE checkpoint empties it
 * The -shm file holds page numbers only. */
rt_status
rt_sqlite_scrub(rt_store *store, rt_error *err)
{
	rt_sqlite_store *s = rt_sqlite_self(store);
	rt_sqlite_call call = rt_sqlite_call_on(s, &s->writer);
	rt_status st = rt_sqlite_begin(store, err);

	if (st != RT_OK)
		return st;
	rt_sqlite_wipe(&call);
	/* VACUUM is a separate transaction; we keep our turn, so no other thread can write in
	 * between. Another process may, which is harmless. */
	rt_sqlite_exec(&call, "COMMIT", "scrubbing");
	rt_sqlite_exec(&call, "VACUUM", "scrubbing");
	RT_TRY(&call.scope,
	       rt_sqlite_checkpoint(s, SQLITE_CHECKPOINT_TRUNCATE, true, &call.scope.error));
	rt_sqlite_cancel(store);
	return rt_scope_end(&call.scope, err);
}

/* --- backup --- */

static bool
first_finding(void *ctx, const char *id, const char *text)
{
	char *to = ctx;

	snprintf(to, 300, "%s: %s", id, text);
	return false;
}

/* Copies all pages of one snapshot into the empty file `name`, and checks it. */
static void
copy_pages(rt_sqlite_call *from, const char *name)
{
	rt_sqlite_conn to = {0};
	rt_sqlite_call call = rt_sqlite_call_on(from->store, &to);
	char finding[300] = "";

	if (sqlite3_open_v2(name, &to.db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, NULL) !=
	    SQLITE_OK)
		rt_sqlite_call_fail(&call, "making a copy");
	rt_sqlite_add_words(&call, "making a copy");
	rt_sqlite_exec(&call, "PRAGMA synchronous = OFF; PRAGMA journal_mode = OFF",
		       "making a copy");
	if (rt_ok(&call.scope)) {
		sqlite3_backup *job = sqlite3_backup_init(to.db, "main", from->conn->db, "main");

		if (job != NULL)
			(void)sqlite3_backup_step(job, -1);
		if (job == NULL || sqlite3_backup_finish(job) != SQLITE_OK)
			rt_sqlite_call_fail(&call, "making a copy");
	}
	if (rt_ok(&call.scope))
		rt_sqlite_check_conn(&call, first_finding, finding);
	if (finding[0] != 0)
		rt_scope_fail(&call.scope, RT_CORRUPT,
			      "%s is damaged, so it was not copied (%s)", from->store->place,
			      finding);
	rt_sqlite_conn_close(&to);
	(void)rt_scope_join(&from->scope, &call.scope);
}

rt_status
rt_sqlite_backup(rt_store *store, const char *path, rt_error *err)
{
	rt_sqlite_call call = rt_sqlite_reading(store);
	rt_scope *s = &call.scope;
	char name[RT_SQLITE_PATH_ROOM + 104], beside[RT_SQLITE_PATH_ROOM + 114];
	struct stat info;
	rt_status st;
	int fd;

	if (call.store->memory != NULL)
		return rt_fail(err, RT_REFUSED,
			       "a store in memory has no file to copy to %s", path);
	if (strlen(path) == 0 || strlen(path) > RT_SQLITE_PATH_ROOM)
		return rt_fail(err, RT_USAGE, "not a valid path for a copy");
	if (lstat(path, &info) == 0)
		return rt_fail(err, RT_REFUSED, "%s already exists", path);
	st = rt_sqlite_make_beside(call.store, path, path, name, sizeof(name), &fd, err);
	if (st != RT_OK)
		return st;
	(void)close(fd);
	while (rt_sqlite_attempt(&call))
		copy_pages(&call, name);
	RT_TRY(s, rt_sqlite_sync_file(name, &s->error));
	RT_TRY(s, rt_sqlite_rename(name, path, &s->error));
	RT_TRY(s, rt_sqlite_sync_folder(path, &s->error));
	/* Removes remaining files after a failure. */
	(void)unlink(name);
	for (int i = 0; i < 2; i++) {
		snprintf(beside, sizeof(beside), "%s%s", name, i == 0 ? "-wal" : "-shm");
		(void)unlink(beside);
	}
	return rt_scope_end(s, err);
}
