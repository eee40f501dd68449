/* SPDX-License-Identifier: MIT
 *
 * Connections of the SQLite store, their statements, and opening. */
#define _GNU_SOURCE /* CLOCK_REALTIME_COARSE */
#include "store/store_memory.h"
#include "store/store_sqlite_impl.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h> /* snprintf */
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <time.h>
#include <unistd.h>

#ifdef CLOCK_REALTIME_COARSE
#define FILE_CLOCK CLOCK_REALTIME_COARSE
#else
#define FILE_CLOCK CLOCK_REALTIME
#endif

enum {
	CACHE_KIB = 16384,         /* pages in memory for each connection, at most */
	WAL_KEEP_BYTES = 32 << 20, /* a longer write-ahead log is cut when it starts anew */
	LOG_HEADER_SIZE = 32,      /* bytes before the first frame of a write-ahead log */
	LOSSES_MOST = 3,           /* after so many a reader takes locks */
	TIDIED_WAITS = 20,         /* milliseconds that who tidies up may take */
	TICK_MOST_MS = 12          /* a tick of the clock that files are dated by is shorter */
};

static const char *const sql_text[SQL_COUNT] = {
	[SQL_BEGIN] = "BEGIN IMMEDIATE",
	[SQL_COMMIT] = "COMMIT",
	[SQL_ROLLBACK] = "ROLLBACK",
	[SQL_META_GET] = "SELECT sum, value FROM meta WHERE key = ?1",
	[SQL_META_SET] = "INSERT OR REPLACE INTO meta(key, sum, value) VALUES(?1, ?2, ?3)",
	[SQL_META_DROP] = "DELETE FROM meta WHERE key = ?1",
	[SQL_DATA_VERSION] = "PRAGMA data_version",
	[SQL_PROJECT_ADD] = "INSERT INTO project(id, sum, name) VALUES(?1, ?2, ?3)",
	[SQL_PROJECT_FIND] = "SELECT id, sum FROM project WHERE name = ?1",
	[SQL_PROJECT_LIST] = "SELECT id, sum, name FROM project ORDER BY id",
	[SQL_PROJECT_LAST] = "SELECT max(id) FROM project",
	/* Nothing, or what is in the table but not in its index, or the other way round. */
	[SQL_PROJECT_SCAN] = "SELECT id FROM project NOT INDEXED WHERE +name = ?1"
			     " UNION ALL SELECT 0 WHERE (SELECT count(*) FROM project NOT INDEXED)"
			     " <> (SELECT count(name) FROM project INDEXED BY"
			     " sqlite_autoindex_project_1)",
	[SQL_PROJECT_BEYOND] = "SELECT 1 WHERE EXISTS(SELECT 1 FROM log WHERE key >= ?1)"
			       " OR EXISTS(SELECT 1 FROM body WHERE key >= ?1)"
			       " OR EXISTS(SELECT 1 FROM root WHERE project > ?2)",
	/* Not its data, which may be as long as an import. */
	[SQL_LOG_HEAD] = "SELECT key, length(step) FROM log WHERE key BETWEEN ?1 AND ?2"
			 " ORDER BY key DESC LIMIT 1",
	[SQL_LOG_ADD] = "INSERT INTO log(key, step, at, sum, data) VALUES(?1, ?2, ?3, ?4, ?5)",
	[SQL_LOG_UP] = "SELECT key, sum, step, at, data FROM log WHERE key BETWEEN ?1 AND ?2"
		       " ORDER BY key",
	[SQL_LOG_DOWN] = "SELECT key, sum, step, at, data FROM log WHERE key BETWEEN ?1 AND ?2"
			 " ORDER BY key DESC",
	[SQL_LOG_SET] = "UPDATE log SET sum = ?2, data = ?3 WHERE key = ?1",
	[SQL_BODY_ADD] = "INSERT INTO body(key, entry, sum, data) VALUES(?1, ?2, ?3, ?4)",
	[SQL_BODY_HEAD] = "SELECT key, typeof(sum) FROM body WHERE key BETWEEN ?1 AND ?2"
			  " ORDER BY key DESC LIMIT 1",
	[SQL_BODY_SCAN] = "SELECT key, sum, entry, data FROM body WHERE key BETWEEN ?1 AND ?2"
			  " ORDER BY key",
	[SQL_BODY_SET] = "UPDATE body SET sum = ?2, data = ?3 WHERE key = ?1",
	[SQL_NODE_SET] = "INSERT OR REPLACE INTO node(key, sum, data) VALUES(?1, ?2, ?3)",
	[SQL_NODE_GET] = "SELECT sum, data FROM node WHERE key = ?1",
	[SQL_NODE_LIST] = "SELECT key FROM node WHERE key BETWEEN ?1 AND ?2 ORDER BY key",
	[SQL_NODE_DROP] = "DELETE FROM node WHERE key = ?1",
	[SQL_NODE_DROP_ALL] = "DELETE FROM node WHERE key BETWEEN ?1 AND ?2",
	[SQL_ROOT_SET] = "INSERT OR REPLACE INTO root(project, seq, sum, data)"
			 " VALUES(?1, ?2, ?3, ?4)",
	[SQL_ROOT_GET] = "SELECT sum, data, seq FROM root WHERE project = ?1",
	[SQL_ROOT_DROP] = "DELETE FROM root WHERE project = ?1",
	[SQL_SIDE_SET] = "INSERT OR REPLACE INTO side(project, name, sum, data)"
			 " VALUES(?1, ?2, ?3, ?4)",
	[SQL_SIDE_GET] = "SELECT sum, data FROM side WHERE project = ?1 AND name = ?2",
	[SQL_SIDE_LIST] = "SELECT name, sum, data FROM side WHERE project = ?1 ORDER BY name",
	[SQL_SIDE_DROP] = "DELETE FROM side WHERE project = ?1 AND name = ?2",
	[SQL_MARK_GET] = "SELECT sum, number FROM mark WHERE project = ?1",
	[SQL_MARK_SET] = "INSERT OR REPLACE INTO mark(project, number, sum) VALUES(?1, ?2, ?3)",
	[SQL_INDEX_ADD] = "INSERT OR REPLACE INTO found(rowid, text, entry) VALUES(?1, ?2, ?3)",
	[SQL_INDEX_DROP] = "DELETE FROM found WHERE rowid = ?1",
	[SQL_INDEX_FIND] = "SELECT rowid, entry FROM found WHERE found MATCH ?1"
			   " AND rowid BETWEEN ?2 AND ?3 ORDER BY rank",
};

int64_t
rt_sqlite_now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

/* --- waiting for another process --- */

static uint64_t
roll(rt_sqlite_store *s)
{
	s->dice ^= s->dice << 13;
	s->dice ^= s->dice >> 7;
	s->dice ^= s->dice << 17;
	return s->dice;
}

/* Between two tries sleep a random time: a tenth of a millisecond at first, up to ten
 * later. Those who wait are on the same footing then, whoever came first. */
static int
on_busy(void *ctx, int count)
{
	rt_sqlite_store *s = ctx;
	int64_t now = rt_sqlite_now_ns();
	int64_t most_us = count < 7 ? 100 << count : 10000;
	struct timespec nap = {0, 0};

	if (s->no_wait || RT_SEEDED(RT_SEEDED_NO_WAITING))
		return 0;
	if (count == 0)
		s->wait_from_ns = now;
	if (now - s->wait_from_ns >= (int64_t)s->options.busy_ms * 1000000)
		return 0;
	nap.tv_nsec = (long)(roll(s) % (uint64_t)most_us + 50) * 1000;
	nanosleep(&nap, NULL);
	return 1;
}

/* A reader only ever waits for a recovery. It shares nothing with the writer. */
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

/* "file:" and the full path with everything escaped that a URI would read otherwise. */
static rt_status
uri_of(const rt_sqlite_store *s, const char *query, rt_buf *out, rt_error *err)
{
	static const char hex[] = "0123456789ABCDEF";

	rt_buf_add_c(out, "file:");
	for (const unsigned char *p = (const unsigned char *)s->path; *p != 0; p++) {
		if (*p == '%' || *p == '?' || *p == '#') {
			rt_buf_add_byte(out, '%');
			rt_buf_add_byte(out, hex[*p >> 4]);
			rt_buf_add_byte(out, hex[*p & 15]);
		} else {
			rt_buf_add_byte(out, (char)*p);
		}
	}
	rt_buf_add_c(out, query);
	return out->status == RT_OK ? RT_OK : rt_fail(err, out->status, "out of memory");
}

bool
rt_sqlite_exists(const rt_sqlite_store *s, const char *suffix, bool *out_filled)
{
	char name[RT_SQLITE_PATH_ROOM + 8];
	struct stat info;

	snprintf(name, sizeof(name), "%s%s", s->path, suffix);
	if (s->options.vfs != NULL) {
		int there = 0;

		(void)s->vfs->xAccess(s->vfs, name, SQLITE_ACCESS_EXISTS, &there);
		*out_filled = there != 0;
		return there != 0;
	}
	*out_filled = false;
	if (stat(name, &info) != 0)
		return false;
	*out_filled = info.st_size > (strcmp(suffix, "-wal") == 0 ? LOG_HEADER_SIZE : 0);
	return true;
}

/* The state of the file, as far as its outside shows it. */
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

/* A file is dated by a clock that stands still for some milliseconds. One that was written in
 * this very moment may be written again without another date: so wait for the next. */
static void
leave_tick(const rt_sqlite_store *s)
{
	struct timespec now, nap = {0, 1000000};
	struct stat info;
	int64_t ahead;

	for (int i = 0; i < TICK_MOST_MS; i++) {
		if (s->options.vfs != NULL || stat(s->path, &info) != 0 ||
		    clock_gettime(FILE_CLOCK, &now) != 0)
			return;
		ahead = (int64_t)(info.st_mtim.tv_sec - now.tv_sec) * 1000000000 +
			(info.st_mtim.tv_nsec - now.tv_nsec);
		if (ahead < 0 || ahead > (int64_t)TICK_MOST_MS * 1000000)
			return; /* older; or dated by another machine's clock */
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

/* How to read without writing a byte. Without a filled write-ahead log nobody is writing
 * and the file alone is the truth: no locks, no -shm. With one, the -shm of whoever is
 * writing is read where there is one; where there is none SQLite has to make it. So it has
 * where somebody wrote a few times while the file was read without locks: what makes a
 * store change all the time makes files beside it, too.
 *
 * A log of a header and no frame is what a disk leaves behind that failed at the first
 * write. With a -shm beside it SQLite would look for its frames for ten seconds and then
 * give up (SQLITE_PROTOCOL), so it has to count as the empty log that it is. */
static const char *
reading_mode(const rt_sqlite_store *s, const rt_sqlite_conn *c)
{
	bool filled, shm_filled;

	if ((!rt_sqlite_exists(s, "-wal", &filled) || !filled) && c->losses < LOSSES_MOST)
		return "?immutable=1";
	return rt_sqlite_exists(s, "-shm", &shm_filled) ? "?readonly_shm=1" : "";
}

/* Which file is at the path? False: none, or it is not for the system to say. */
static bool
file_at(const rt_sqlite_store *s, uint64_t *out_device, uint64_t *out_number)
{
	struct stat info;

	*out_device = *out_number = 0;
	if (s->options.vfs != NULL || stat(s->path, &info) != 0)
		return false;
	*out_device = (uint64_t)info.st_dev;
	*out_number = (uint64_t)info.st_ino;
	return true;
}

rt_status
rt_sqlite_same_file(const rt_sqlite_store *s, rt_error *err)
{
	uint64_t device, number;

	if (!s->file_known)
		return RT_OK;
	if (!file_at(s, &device, &number))
		return rt_fail(err, RT_REFUSED,
			       "%s is not there any more (removed, or given another name) since it "
			       "was opened; open it again",
			       s->place);
	if (device != s->file_device || number != s->file_number)
		return rt_fail(err, RT_REFUSED,
			       "%s was replaced by another file since it was opened; open it again",
			       s->place);
	return RT_OK;
}

static rt_status
set_up(rt_sqlite_store *s, rt_sqlite_conn *c, bool writer, rt_error *err)
{
	char sql[400];
	rt_status st;

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
		 "PRAGMA temp_store = MEMORY;",
		 CACHE_KIB,
		 RT_SEEDED(RT_SEEDED_SYNC_OFF)                          ? "OFF"
		 : s->options.relaxed || RT_SEEDED(RT_SEEDED_ACK_FIRST) ? "NORMAL"
									: "FULL");
	st = rt_sqlite_exec(s, c, sql, "opening it", err);
	if (st == RT_OK && s->memory != NULL)
		st = rt_sqlite_exec(s, c, "PRAGMA journal_mode = MEMORY; PRAGMA synchronous = OFF",
				    "opening it", err);
	if (st != RT_OK || !writer)
		return st;
	/* Checkpoints are ours: a failed sync inside one must not go by unseen. */
	(void)sqlite3_wal_hook(c->db, on_commit, s);
	snprintf(sql, sizeof(sql), "PRAGMA journal_size_limit = %d", WAL_KEEP_BYTES);
	return rt_sqlite_exec(s, c, sql, "opening it", err);
}

static rt_status
conn_open(rt_sqlite_store *s, rt_sqlite_conn *c, bool writer, rt_error *err)
{
	bool read_only = s->options.read_only;
	uint64_t stamp;
	const char *mode;
	int flags = SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_PRIVATECACHE | SQLITE_OPEN_URI |
		    (read_only ? SQLITE_OPEN_READONLY : SQLITE_OPEN_READWRITE);
	rt_status st;
	rt_buf uri;
	int rc;

	if (read_only)
		leave_tick(s);
	stamp = stamp_of(s);
	mode = read_only ? reading_mode(s, c) : "";
	rt_buf_init(&uri, s->alloc, RT_SQLITE_PATH_ROOM * 4);
	st = uri_of(s, mode, &uri, err);
	if (st != RT_OK)
		goto done;
	rc = sqlite3_open_v2(uri.ptr, &c->db, flags,
			     s->layer != NULL ? rt_sqlite_vfs_name(s->layer) : s->options.vfs);
	if (rc != SQLITE_OK) {
		if (c->db != NULL)
			(void)sqlite3_extended_result_codes(c->db, 1);
		st = rt_sqlite_fail(s, c->db, "opening it", err);
		goto done;
	}
	c->immutable = read_only && strcmp(mode, "?immutable=1") == 0;
	c->stamp = stamp;
	if (!read_only && sqlite3_db_readonly(c->db, "main") == 1) {
		st = rt_fail(
			err, RT_READ_ONLY,
			"%s cannot be written (permissions); it can be opened for reading only",
			s->place);
		goto done;
	}
	st = set_up(s, c, writer, err);
	/* The log and its index are opened now, not by what is read first: see below. */
	if (st == RT_OK && read_only && !c->immutable)
		st = rt_sqlite_exec(s, c, "PRAGMA schema_version", "opening it", err);
done:
	if (st != RT_OK)
		rt_sqlite_conn_close(c);
	rt_buf_deinit(&uri);
	return st;
}

/* A store is a file and the log of that name. When another file took the place of the one
 * that was opened before a lock kept it, the two do not belong together: once more. The
 * lock is had by the time conn_open returns (set_up looks into the file). */
rt_status
rt_sqlite_conn_open(rt_sqlite_store *s, rt_sqlite_conn *c, bool writer, rt_error *err)
{
	uint64_t device, number, device_now, number_now;
	struct timespec nap = {0, 1000000};
	int waits = 0;
	rt_status st;

	for (int tries = 0; tries < 3; tries++) {
		st = rt_sqlite_same_file(s, err);
		if (st != RT_OK)
			return st;
		(void)file_at(s, &device, &number);
		st = conn_open(s, c, writer, err);
		if ((st == RT_IO || st == RT_READ_ONLY) && s->options.read_only &&
		    waits++ < TIDIED_WAITS) {
			/* Who wrote last has tidied up between our look and SQLite's. Where
			 * nothing can be made beside the file it is read without again. */
			c->losses = 0;
			tries--;
			nanosleep(&nap, NULL);
			continue;
		}
		if (st != RT_OK || c->immutable)
			return st;
		(void)file_at(s, &device_now, &number_now);
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

rt_status
rt_sqlite_stmt(rt_sqlite_store *s, rt_sqlite_conn *c, rt_sqlite_sql which, sqlite3_stmt **out,
	       rt_error *err)
{
	if (c->stmts[which] == NULL &&
	    sqlite3_prepare_v3(c->db, sql_text[which], -1, SQLITE_PREPARE_PERSISTENT,
			       &c->stmts[which], NULL) != SQLITE_OK)
		return rt_sqlite_fail(s, c->db, "preparing to read it", err);
	*out = c->stmts[which];
	return RT_OK;
}

rt_status
rt_sqlite_exec(rt_sqlite_store *s, rt_sqlite_conn *c, const char *sql, const char *doing,
	       rt_error *err)
{
	if (sqlite3_exec(c->db, sql, NULL, NULL, NULL) != SQLITE_OK)
		return rt_sqlite_fail(s, c->db, doing, err);
	return RT_OK;
}

rt_status
rt_sqlite_ask(rt_sqlite_store *s, rt_sqlite_conn *c, const char *sql, int64_t *out, rt_error *err)
{
	sqlite3_stmt *stmt = NULL;
	rt_status st = RT_OK;
	int rc;

	if (sqlite3_prepare_v2(c->db, sql, -1, &stmt, NULL) != SQLITE_OK)
		return rt_sqlite_fail(s, c->db, "preparing to read it", err);
	rc = sqlite3_step(stmt);
	if (rc == SQLITE_ROW)
		*out = sqlite3_column_int64(stmt, 0);
	else if (rc == SQLITE_DONE)
		*out = 0;
	else
		st = rt_sqlite_fail(s, c->db, "reading it", err);
	(void)sqlite3_finalize(stmt);
	return st;
}

/* --- opening --- */

static rt_status
meta_number(rt_sqlite_store *s, rt_sqlite_conn *c, const char *key, uint64_t *out, rt_error *err)
{
	rt_status st;
	rt_buf text;

	rt_buf_init(&text, s->alloc, 64);
	st = rt_sqlite_meta_get(s, c, key, &text, err);
	if (st == RT_OK)
		*out = strtoull(text.ptr == NULL ? "" : text.ptr, NULL, 10);
	rt_buf_deinit(&text);
	if (st == RT_NOT_FOUND || st == RT_LIMIT)
		st = rt_fail(err, RT_CORRUPT, "%s is damaged: it does not say its %s", s->place,
			     key);
	return st;
}

static rt_status
check_gates(rt_sqlite_store *s, rt_sqlite_conn *c, rt_error *err)
{
	uint64_t reader = 0, writer = 0;
	char by[40] = "a newer Retake";
	rt_status st = meta_number(s, c, "min_reader", &reader, err);
	rt_buf text;

	if (st == RT_OK)
		st = meta_number(s, c, "min_writer", &writer, err);
	if (st != RT_OK)
		return st;
	rt_buf_init(&text, s->alloc, 20);
	if (rt_sqlite_meta_get(s, c, "written_by", &text, NULL) == RT_OK &&
	    rt_utf8_valid_size(rt_buf_str(&text)) == text.size)
		snprintf(by, sizeof(by), "Retake %.*s", RT_STR_ARG(rt_buf_str(&text)));
	rt_buf_deinit(&text);
	if (reader > RT_SQLITE_FORMAT)
		return rt_fail(err, RT_TOO_NEW,
			       "%s was written by %s in format %llu; this is Retake %s, which "
			       "reads up to format %d",
			       s->place, by, (unsigned long long)reader, RT_VERSION,
			       RT_SQLITE_FORMAT);
	if (writer > RT_SQLITE_FORMAT && !s->options.read_only)
		return rt_fail(err, RT_TOO_NEW,
			       "%s was written by %s in format %llu; this is Retake %s, which "
			       "can open it for reading only",
			       s->place, by, (unsigned long long)writer, RT_VERSION);
	return RT_OK;
}

/* The id of this start of the machine. */
static void
find_boot(rt_sqlite_store *s, const char *given)
{
	int fd;

	if (given != NULL) {
		snprintf(s->boot, sizeof(s->boot), "%s", given);
		return;
	}
	fd = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);
	if (fd >= 0) {
		ssize_t size = read(fd, s->boot, sizeof(s->boot) - 1);

		s->boot[size > 0 ? size : 0] = 0;
		s->boot[strcspn(s->boot, "\r\n ")] = 0;
		(void)close(fd);
	}
	/* Unknown: every open is taken for another boot, which is the safe side. */
	if (s->boot[0] == 0) {
		uint64_t random;

		s->env.random(s->env.ctx, &random, sizeof(random));
		snprintf(s->boot, sizeof(s->boot), "?%016llx", (unsigned long long)random);
	}
}

/* If the store carries another boot's mark, make the derived epoch the real one. */
static rt_status
settle_epoch(rt_sqlite_store *s, rt_error *err)
{
	rt_store *store = &s->base;
	rt_status st = rt_sqlite_begin(store, err);

	if (st != RT_OK)
		return st;
	st = rt_sqlite_epoch_settle(s, err);
	if (st == RT_OK)
		st = rt_sqlite_commit(store, err);
	rt_sqlite_cancel(store);
	return st;
}

static rt_status
check_found(rt_sqlite_store *s, rt_sqlite_conn *c, bool *out_derived, rt_error *err)
{
	uint64_t epoch = 0;
	int64_t id = 0;
	rt_status st = rt_sqlite_ask(s, c, "PRAGMA application_id", &id, err);

	if (st == RT_OK && id != RT_SQLITE_APPLICATION_ID) {
		(void)sqlite3_db_config(c->db, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, (int *)NULL);
		st = rt_fail(err, RT_NOT_OURS, "%s is not a Retake store", s->place);
	}
	if (st == RT_OK)
		st = check_gates(s, c, err);
	return st == RT_OK ? rt_sqlite_epoch_read(s, c, &epoch, out_derived, err) : st;
}

static rt_status
open_found(rt_sqlite_store *s, rt_error *err)
{
	rt_sqlite_reading r = {0};
	bool derived = false;

	while (rt_sqlite_read(s, &r, err)) {
		if (!s->options.read_only && !s->file_known)
			s->file_known = file_at(s, &s->file_device, &s->file_number);
		r.status = check_found(s, r.conn, &derived, err);
	}
	return r.status == RT_OK && derived && !s->options.read_only ? settle_epoch(s, err)
								     : r.status;
}

static rt_status
find_path(rt_sqlite_store *s, const char *path, rt_error *err)
{
	char full[RT_SQLITE_PATH_ROOM];
	size_t size = strlen(path);
	int rc;

	if (size == 0 || s->vfs == NULL)
		return rt_fail(err, RT_USAGE,
			       s->vfs == NULL ? "SQLite knows no VFS of that name"
					      : "the path of the store is empty");
	s->place = rt_new(s->alloc, size + 1);
	if (s->place == NULL)
		return rt_fail(err, RT_NOMEM, "out of memory");
	memcpy(s->place, path, size + 1);
	if (s->vfs->mxPathname + 1 > RT_SQLITE_PATH_ROOM || size + 32 > (size_t)s->vfs->mxPathname)
		return rt_fail(err, RT_LIMIT, "the path of the store is too long");
	rc = s->vfs->xFullPathname(s->vfs, path, s->vfs->mxPathname + 1, full);
	if (rc != SQLITE_OK && rc != SQLITE_OK_SYMLINK)
		return rt_fail(err, RT_IO, "%s cannot be found: %s", path, sqlite3_errstr(rc));
	s->path = rt_new(s->alloc, strlen(full) + 1);
	if (s->path == NULL)
		return rt_fail(err, RT_NOMEM, "out of memory");
	memcpy(s->path, full, strlen(full) + 1);
	return RT_OK;
}

static rt_status
library_ok(rt_error *err)
{
	int version = sqlite3_libversion_number();

	if (version < RT_SQLITE_LIBRARY_MIN || version == RT_SQLITE_LIBRARY_BAD)
		return rt_fail(err, RT_REFUSED,
			       "the SQLite library is %s, and 3.51.3 or newer is needed: older "
			       "ones can damage a store that two processes write to",
			       sqlite3_libversion());
	if (sqlite3_threadsafe() == 0)
		return rt_fail(err, RT_REFUSED,
			       "the SQLite library was built without support for threads");
	/* It would do so by itself, but not say why it could not. */
	if (sqlite3_initialize() != SQLITE_OK)
		return rt_fail(err, RT_NOMEM, "out of memory while starting SQLite");
	return RT_OK;
}

static rt_status
locks_init(rt_sqlite_store *s, rt_error *err)
{
	pthread_condattr_t attr;
	bool ok = false;

	if (pthread_mutex_init(&s->guard, NULL) != 0)
		return rt_fail(err, RT_NOMEM, "no lock could be made");
	if (pthread_condattr_init(&attr) == 0) {
		ok = pthread_condattr_setclock(&attr, CLOCK_MONOTONIC) == 0 &&
		     pthread_cond_init(&s->free, &attr) == 0;
		(void)pthread_condattr_destroy(&attr);
	}
	if (!ok) {
		(void)pthread_mutex_destroy(&s->guard);
		return rt_fail(err, RT_NOMEM, "no lock could be made");
	}
	return RT_OK;
}

void
rt_sqlite_free(rt_sqlite_store *s)
{
	/* The writer goes last: it is the one that may tidy up. */
	for (int i = 0; i < RT_SQLITE_READERS_MAX; i++)
		rt_sqlite_conn_close(&s->readers[i]);
	if (s->writer.db != NULL && s->poisoned)
		(void)sqlite3_db_config(s->writer.db, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1,
					(int *)NULL);
	rt_sqlite_conn_close(&s->writer);
	rt_sqlite_vfs_free(s->layer);
	rt_sqlite_memory_free(s->memory);
	(void)pthread_cond_destroy(&s->free);
	(void)pthread_mutex_destroy(&s->guard);
	rt_free(s->alloc, s->path);
	rt_free(s->alloc, s->place);
	rt_free(s->alloc, s);
}

static rt_status
open_store(const rt_alloc *alloc, const rt_env *env, const char *path,
	   const rt_store_sqlite_options *options, bool in_memory, rt_store **out_store,
	   rt_error *err)
{
	rt_sqlite_store *s = NULL;
	rt_sqlite_look_result found = RT_SQLITE_REFUSED;
	rt_status st = library_ok(err);

	if (st != RT_OK)
		return st;
	s = rt_new0(alloc, sizeof(*s));
	if (s == NULL)
		return rt_fail(err, RT_NOMEM, "out of memory");
	s->base.ops = &rt_sqlite_ops;
	s->alloc = alloc;
	s->env = *env;
	s->process = getpid();
	if (options != NULL)
		s->options = *options;
	if (s->options.busy_ms <= 0)
		s->options.busy_ms = RT_SQLITE_BUSY_MS;
	if (s->options.checkpoint_pages <= 0)
		s->options.checkpoint_pages = RT_SQLITE_CHECKPOINT_PAGES;
	while (s->dice == 0)
		env->random(env->ctx, &s->dice, sizeof(s->dice));
	st = locks_init(s, err);
	if (st != RT_OK) {
		rt_free(alloc, s);
		return st;
	}
	find_boot(s, s->options.boot);
	if (in_memory)
		st = rt_sqlite_memory_new(alloc, &s->memory, err);
	if (st == RT_OK && in_memory)
		s->options.vfs = rt_sqlite_memory_name(s->memory);
	s->vfs = sqlite3_vfs_find(s->options.vfs);
	if (st == RT_OK)
		st = find_path(s, path, err);
	if (st == RT_OK && !s->options.read_only && !in_memory)
		st = rt_sqlite_vfs_new(alloc, s->options.vfs, s->options.vfs == NULL, &s->layer,
				       err);
	if (st == RT_OK)
		st = rt_sqlite_look(s, &found, err);
	if (st == RT_OK && found == RT_SQLITE_MISSING && s->options.create &&
	    !s->options.read_only) {
		st = rt_sqlite_create(s, err);
		if (st == RT_OK)
			st = rt_sqlite_look(s, &found, err);
	}
	if (st == RT_OK && found == RT_SQLITE_MISSING)
		st = rt_fail(err, RT_NOT_FOUND, "there is no store at %s", path);
	if (st == RT_OK)
		st = open_found(s, err);
	if (st != RT_OK) {
		rt_sqlite_free(s);
		return st;
	}
	*out_store = &s->base;
	return RT_OK;
}

rt_status
rt_store_sqlite_open(const rt_alloc *alloc, const rt_env *env, const char *path,
		     const rt_store_sqlite_options *options, rt_store **out_store, rt_error *err)
{
	return open_store(alloc, env, path, options, false, out_store, err);
}

rt_status
rt_store_memory_open(const rt_alloc *alloc, const rt_env *env, rt_store **out_store, rt_error *err)
{
	const rt_store_sqlite_options options = {.create = true, .boot = "memory"};

	return open_store(alloc, env, RT_SQLITE_MEMORY_PATH, &options, true, out_store, err);
}
