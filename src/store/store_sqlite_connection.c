/* SPDX-License-Identifier: MIT
 *
 * Connections of the SQLite store: how a file is opened, with which settings, and how long they
 * wait for the locks of other processes. */
#define _GNU_SOURCE /* CLOCK_REALTIME_COARSE */
#include "store/store_sqlite_impl.h"

#include <stdio.h> /* snprintf */
#include <sys/stat.h>
#include <time.h>

#ifdef CLOCK_REALTIME_COARSE
#define FILE_CLOCK CLOCK_REALTIME_COARSE
#else
#define FILE_CLOCK CLOCK_REALTIME
#endif

enum {
	CACHE_KIB = 16384,         /* page cache of each connection, at most */
	WAL_KEEP_BYTES = 32 << 20, /* a longer write-ahead log is truncated when it restarts */
	LOSSES_MAX = 3,            /* after this many a reader takes locks */
	OPEN_ATTEMPTS = 3,         /* while the file is being replaced */
	TIDY_MS = 20,              /* time for another process to remove its log */
	TICK_MAX_MS = 12           /* the clock of file times ticks faster than this */
};

/* --- waiting for other processes --- */

static uint64_t
next_random(rt_sqlite_store *s)
{
	s->dice ^= s->dice << 13;
	s->dice ^= s->dice >> 7;
	s->dice ^= s->dice << 17;
	return s->dice;
}

/* Sleeps a random time before the next attempt: up to a tenth of a millisecond at first, later
 * up to ten. So all waiting processes have equal chances, regardless of their order. */
static int
on_busy(void *ctx, int count)
{
	rt_sqlite_store *s = ctx;
	int64_t now = rt_clock_ns();
	int64_t most_us = count < 7 ? 100 << count : 10000;
	struct timespec nap = {0, 0};

	if (s->no_wait)
		return 0;
	if (count == 0)
		s->wait_from_ns = now;
	if (now - s->wait_from_ns >= (int64_t)s->options.busy_ms * 1000000)
		return 0;
	nap.tv_nsec = (long)(next_random(s) % (uint64_t)most_us + 50) * 1000;
	nanosleep(&nap, NULL);
	return 1;
}

/* A reader waits for a recovery only. It shares no state with the writer. */
static int
on_reader_busy(void *ctx, int count)
{
	rt_sqlite_store *s = ctx;
	struct timespec nap = {0, 1000000};

	if (count >= s->options.busy_ms)
		return 0;
	nanosleep(&nap, NULL);
	return 1;
}

static int
on_commit(void *ctx, sqlite3 *db, const char *name, int pages)
{
	rt_sqlite_store *s = ctx;

	(void)db;
	(void)name;
	s->wal_pages = pages;
	return SQLITE_OK;
}

/* --- connections --- */

/* "file:" and the full path, with special characters escaped. */
static rt_str
uri_of(rt_scope *scope, const rt_sqlite_store *s, const char *query)
{
	rt_buf *uri = rt_scope_buf(scope);

	rt_buf_add_c(uri, "file:");
	for (const char *p = s->path; *p != 0; p++) {
		if (*p == '%' || *p == '?' || *p == '#')
			rt_buf_add_f(uri, "%%%02X", (unsigned)*p);
		else
			rt_buf_add_byte(uri, *p);
	}
	rt_buf_add_c(uri, query);
	return rt_scope_str(scope, uri);
}

/* A hash of the file's size, times and identity. */
static uint64_t
stamp_of(const rt_sqlite_store *s)
{
	uint64_t facts[6] = {0};
	struct stat info;

	if (s->options.vfs != NULL || stat(s->path, &info) != 0)
		return 0;
	facts[0] = (uint64_t)info.st_size;
	facts[1] = (uint64_t)info.st_mtim.tv_sec;
	facts[2] = (uint64_t)info.st_mtim.tv_nsec;
	facts[3] = (uint64_t)info.st_ino;
	facts[4] = (uint64_t)info.st_ctim.tv_sec;
	facts[5] = (uint64_t)info.st_ctim.tv_nsec;
	return rt_hash(facts, sizeof(facts), 0);
}

/* File times come from a clock that ticks every few milliseconds. A file written within the
 * current tick may be written again without getting another time: wait for the next tick. */
static void
wait_for_tick(const rt_sqlite_store *s)
{
	struct timespec now, nap = {0, 1000000};
	struct stat info;
	int64_t ahead;

	for (int i = 0; i < TICK_MAX_MS; i++) {
		if (s->options.vfs != NULL || stat(s->path, &info) != 0 ||
		    clock_gettime(FILE_CLOCK, &now) != 0)
			return;
		ahead = (int64_t)(info.st_mtim.tv_sec - now.tv_sec) * 1000000000 +
			(info.st_mtim.tv_nsec - now.tv_nsec);
		if (ahead < 0 || ahead > (int64_t)TICK_MAX_MS * 1000000)
			return; /* older, or from another machine's clock */
		nanosleep(&nap, NULL);
	}
}

bool
rt_sqlite_conn_changed(const rt_sqlite_store *s, const rt_sqlite_conn *c)
{
	bool filled = false;

	(void)rt_sqlite_exists(s, "-wal", &filled);
	return filled || stamp_of(s) != c->stamp;
}

/* How to read without writing a byte. Without a filled write-ahead log no process is writing and
 * the file alone is complete: no locks, no -shm. With one, the writer's -shm is used if there is
 * one; otherwise SQLite has to create it, as it must if the file changed a few times while it was
 * read without locks: a program that keeps changing a store creates files next to it anyway.
 *
 * A log with a header and no frame is left by a disk that failed at the first write. With a -shm
 * SQLite would look for its frames for ten seconds and then give up (SQLITE_PROTOCOL), so it counts
 * as an empty log. */
static const char *
reading_mode(const rt_sqlite_store *s, const rt_sqlite_conn *c)
{
	bool filled, shm_filled;

	if ((!rt_sqlite_exists(s, "-wal", &filled) || !filled) && c->losses < LOSSES_MAX)
		return "?immutable=1";
	return rt_sqlite_exists(s, "-shm", &shm_filled) ? "?readonly_shm=1" : "";
}

static void
set_up(rt_sqlite_call *call, bool writer)
{
	rt_sqlite_store *s = call->store;
	rt_sqlite_conn *c = call->conn;
	const char *sync = s->memory != NULL ? "OFF" : s->options.relaxed ? "NORMAL" : "FULL";
	char sql[400];

	(void)sqlite3_db_config(c->db, SQLITE_DBCONFIG_DEFENSIVE, 1, (int *)NULL);
	(void)sqlite3_db_config(c->db, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, (int *)NULL);
	(void)sqlite3_db_config(c->db, SQLITE_DBCONFIG_ENABLE_VIEW, 0, (int *)NULL);
	(void)sqlite3_db_config(c->db, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, (int *)NULL);
	(void)sqlite3_extended_result_codes(c->db, 1);
	if (writer)
		(void)sqlite3_busy_handler(c->db, on_busy, s);
	else
		(void)sqlite3_busy_handler(c->db, on_reader_busy, s);
	snprintf(sql, sizeof(sql),
		 "PRAGMA cell_size_check = 1; PRAGMA cache_size = -%d; PRAGMA mmap_size = 0;"
		 "PRAGMA synchronous = %s; PRAGMA secure_delete = FAST;"
		 "PRAGMA temp_store = MEMORY; PRAGMA journal_size_limit = %d; %s",
		 CACHE_KIB, sync, WAL_KEEP_BYTES,
		 s->memory != NULL ? "PRAGMA journal_mode = MEMORY" : "");
	rt_sqlite_exec(call, sql, "opening it");
	rt_sqlite_add_words(call, "opening its index");
	/* We run checkpoints ourselves: a failed sync inside one must not go unnoticed. */
	if (writer)
		(void)sqlite3_wal_hook(c->db, on_commit, s);
}

static rt_status
conn_open(rt_sqlite_store *s, rt_sqlite_conn *c, bool writer, rt_error *err)
{
	bool read_only = s->options.read_only;
	int flags = SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_PRIVATECACHE | SQLITE_OPEN_URI |
		    (read_only ? SQLITE_OPEN_READONLY : SQLITE_OPEN_READWRITE);
	const char *vfs = s->layer != NULL ? rt_sqlite_vfs_name(s->layer) : s->options.vfs;
	rt_sqlite_call call = rt_sqlite_call_on(s, c);
	const char *mode;
	rt_str uri;

	if (read_only)
		wait_for_tick(s);
	c->stamp = stamp_of(s);
	mode = read_only ? reading_mode(s, c) : "";
	c->immutable = strcmp(mode, "?immutable=1") == 0;
	uri = uri_of(&call.scope, s, mode);
	if (rt_ok(&call.scope) && sqlite3_open_v2(uri.ptr, &c->db, flags, vfs) != SQLITE_OK) {
		if (c->db != NULL)
			(void)sqlite3_extended_result_codes(c->db, 1);
		rt_sqlite_call_fail(&call, "opening it");
	}
	if (rt_ok(&call.scope) && !read_only && sqlite3_db_readonly(c->db, "main") == 1)
		rt_scope_fail(&call.scope, RT_READ_ONLY,
			      "no permission to write %s; it can be opened read-only",
			      s->place);
	if (rt_ok(&call.scope))
		set_up(&call, writer);
	/* Opens the log and its index now rather than at the first read: see below. */
	if (read_only && !c->immutable)
		rt_sqlite_exec(&call, "PRAGMA schema_version", "opening it");
	if (!rt_ok(&call.scope)) {
		c->immutable = false;
		rt_sqlite_conn_close(c);
	}
	return rt_scope_end(&call.scope, err);
}

/* A store is a file and the log of that name. If another file took the place of the opened one
 * before a lock was held, the two do not belong together: open again. conn_open holds the lock
 * (set_up reads the file). */
rt_status
rt_sqlite_conn_open(rt_sqlite_store *s, rt_sqlite_conn *c, bool writer, rt_error *err)
{
	uint64_t device, number, device_now, number_now;
	struct timespec nap = {0, 1000000};
	int waits = 0;

	for (int attempt = 0; attempt < OPEN_ATTEMPTS; attempt++) {
		rt_status st = rt_sqlite_same_file(s, err);

		if (st != RT_OK)
			return st;
		(void)rt_sqlite_file_at(s, &device, &number);
		st = conn_open(s, c, writer, err);
		if ((st == RT_IO || st == RT_READ_ONLY) && s->options.read_only &&
		    waits++ < TIDY_MS) {
			/* The last writer removed its log between our check and SQLite's. If
			 * nothing can be created next to the file, it is read without locks
			 * again. */
			c->losses = 0;
			attempt--;
			nanosleep(&nap, NULL);
			continue;
		}
		if (st != RT_OK || c->immutable)
			return st;
		(void)rt_sqlite_file_at(s, &device_now, &number_now);
		st = rt_sqlite_same_file(s, err);
		if (st == RT_OK && device == device_now && number == number_now)
			return RT_OK;
		rt_sqlite_conn_close(c);
		if (st != RT_OK)
			return st;
	}
	return rt_fail(err, RT_BUSY, "%s is being replaced by another program; try again",
		       s->place);
}

void
rt_sqlite_conn_close(rt_sqlite_conn *c)
{
	for (int i = 0; i < SQL_COUNT; i++) {
		(void)sqlite3_finalize(c->stmts[i]);
		c->stmts[i] = NULL;
	}
	RT_ASSERT(sqlite3_close(c->db) == SQLITE_OK);
	c->db = NULL;
	c->epoch_known = false;
}
