/* SPDX-License-Identifier: MIT
 *
 * Replacing a store by another file, and removing an empty one.
 *
 * An open store holds SQLite's shared lock on its file from the first read until close (in WAL
 * mode it is kept between transactions), even while it is idle and its log is empty. So the lock
 * that excludes it is taken before anything is renamed, and held until everything is. A process
 * that has just opened the file and not read it yet notices when it reads
 * (rt_sqlite_conn_open). */
#define _POSIX_C_SOURCE 200809L
#include "store/store_sqlite_impl.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h> /* rename, snprintf */
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum {
	/* Where SQLite locks the file, which is part of its format: one byte for pending, one
	 * for reserved, 510 for shared. */
	LOCK_FIRST = 0x40000000,
	LOCK_BYTES = 512,
	WAIT_MS = 1000, /* for a command that is about to end */
	NAP_MS = 20
};

static const char *const suffixes[] = {"-wal", "-shm"}; /* of the files beside a store */
enum { SUFFIXES = 2 };

typedef struct exchange {
	const char *path, *copy, *aside;
	bool linked, moved; /* the store has both names, or only the new one */
	bool moved_too[SUFFIXES];
} exchange;

static bool
exists(const char *path)
{
	struct stat info;

	return lstat(path, &info) == 0;
}

/* --- exclusive access --- */

/* Opening and closing writes back the write-ahead log that a crash left. A file that cannot be
 * opened because of its contents is set aside unchanged. */
static rt_status
settle(const rt_alloc *alloc, const rt_env *env, const char *path, bool *out_sound, rt_error *err)
{
	rt_store_sqlite_options options = {.busy_ms = WAIT_MS};
	rt_store *store = NULL;
	rt_status st = rt_store_sqlite_open(alloc, env, path, &options, &store, err);

	*out_sound = st == RT_OK;
	if (st == RT_OK)
		store->ops->close(store);
	return st == RT_CORRUPT || st == RT_NOT_OURS || st == RT_TOO_NEW ? RT_OK : st;
}

static rt_status
hold(const char *path, int *out_fd, rt_error *err)
{
	struct flock lock = {.l_type = F_WRLCK,
			     .l_whence = SEEK_SET,
			     .l_start = LOCK_FIRST,
			     .l_len = LOCK_BYTES};
	struct stat ours, there;
	rt_status st = RT_OK;
	int fd = open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW);

	if (fd < 0)
		return rt_fail(err, RT_IO, "%s cannot be opened for writing: %s", path,
			       strerror(errno));
	if (fcntl(fd, F_SETLK, &lock) != 0)
		st = errno == EACCES || errno == EAGAIN
			     ? rt_fail(err, RT_BUSY, "%s is in use by another program", path)
			     : rt_fail(err, RT_IO, "%s cannot be locked: %s", path,
				       strerror(errno));
	else if (fstat(fd, &ours) != 0 || stat(path, &there) != 0 || ours.st_dev != there.st_dev ||
		 ours.st_ino != there.st_ino)
		st = rt_fail(err, RT_BUSY, "%s is being replaced by another program", path);
	if (st != RT_OK)
		(void)close(fd);
	else
		*out_fd = fd;
	return st;
}

static bool
log_left(const char *path)
{
	char name[RT_SQLITE_PATH_ROOM + 8];
	struct stat info;

	snprintf(name, sizeof(name), "%s-wal", path);
	return stat(name, &info) == 0 && info.st_size > 0;
}

/* The store with an empty log, locked until *out_fd is closed. */
static rt_status
settle_and_hold(const rt_alloc *alloc, const rt_env *env, const char *path, int *out_fd,
		rt_error *err)
{
	const struct timespec nap = {0, NAP_MS * 1000000L};
	int64_t until = rt_clock_ns() + (int64_t)WAIT_MS * 1000000;
	rt_status st;
	bool sound;

	for (;;) {
		st = settle(alloc, env, path, &sound, err);
		if (st == RT_OK)
			st = hold(path, out_fd, err);
		if (st == RT_OK && sound && log_left(path)) {
			/* another process opened it in between and left without writing it back */
			(void)close(*out_fd);
			st = rt_fail(
				err, RT_BUSY,
				"the write-ahead log of %s could not be merged: another program is writing, the disk is full, or memory ran out",
				path);
		}
		if (st != RT_BUSY || rt_clock_ns() >= until)
			return st;
		nanosleep(&nap, NULL);
	}
}

/* --- names --- */

static rt_status
put_aside(exchange *x, rt_error *err)
{
	char from[RT_SQLITE_PATH_ROOM + 8], to[RT_SQLITE_PATH_ROOM + 8];
	rt_status st;

	if (exists(x->path)) {
		/* Two names, where links are possible: then the store exists at any time. */
		x->linked = link(x->path, x->aside) == 0;
		if (!x->linked) {
			st = rt_sqlite_rename(x->path, x->aside, err);
			if (st != RT_OK)
				return st;
			x->moved = true;
		}
	}
	/* A damaged store's log stays with it, and one without a store must not become the log
	 * of the copy. */
	for (int i = 0; i < SUFFIXES; i++) {
		snprintf(from, sizeof(from), "%s%s", x->path, suffixes[i]);
		snprintf(to, sizeof(to), "%s%s", x->aside, suffixes[i]);
		if (!exists(from))
			continue;
		st = rt_sqlite_rename(from, to, err);
		if (st != RT_OK)
			return st;
		x->moved_too[i] = true;
	}
	return RT_OK;
}

static rt_status
put_in_place(exchange *x, rt_error *err)
{
	if (!x->linked) /* there is no file, or a new store that must not be overwritten */
		return rt_sqlite_rename(x->copy, x->path, err);
	return rename(x->copy, x->path) == 0
		       ? RT_OK
		       : rt_fail(err, rt_sqlite_full_or_io(errno), "%s could not be renamed: %s",
				 x->copy, strerror(errno));
}

/* Undoes put_aside. */
static bool
put_back(exchange *x)
{
	char from[RT_SQLITE_PATH_ROOM + 8], to[RT_SQLITE_PATH_ROOM + 8];
	bool ok = true;

	for (int i = SUFFIXES - 1; i >= 0; i--) {
		snprintf(from, sizeof(from), "%s%s", x->aside, suffixes[i]);
		snprintf(to, sizeof(to), "%s%s", x->path, suffixes[i]);
		if (x->moved_too[i] && rt_sqlite_rename(from, to, NULL) != RT_OK)
			ok = false;
	}
	if (x->moved && rt_sqlite_rename(x->aside, x->path, NULL) != RT_OK)
		ok = false;
	if (x->linked && ok) /* otherwise a file that could not be moved back would belong to this
			      * name */
		(void)unlink(x->aside);
	return ok;
}

rt_status
rt_store_sqlite_exchange(const rt_alloc *alloc, const rt_env *env, const char *path,
			 const char *copy, const char *aside, bool *out_changed, rt_error *err)
{
	exchange x = {.path = path, .copy = copy, .aside = aside};
	int fd = -1;
	rt_status st;

	*out_changed = false;
	if (strlen(path) >= RT_SQLITE_PATH_ROOM || strlen(aside) >= RT_SQLITE_PATH_ROOM)
		return rt_fail(err, RT_LIMIT, "the path of the store is too long");
	st = rt_sqlite_sync_file(copy, err);
	if (st == RT_OK && exists(path))
		st = settle_and_hold(alloc, env, path, &fd, err);
	if (st != RT_OK)
		return st;
	st = put_aside(&x, err);
	if (st == RT_OK)
		st = put_in_place(&x, err);
	if (st == RT_OK) {
		*out_changed = true;
		st = rt_sqlite_sync_folder(path, err);
	} else if (!put_back(&x)) {
		*out_changed = true;
		st = rt_fail(err, RT_IO,
			     "%s could not be renamed, and its old name could not be restored: it is now %s",
			     path, aside);
	}
	if (fd >= 0)
		(void)close(fd); /* releases the lock */
	return st;
}

/* --- removing an empty store --- */

enum { EMPTY_SIZE_MAX = 1 << 20 }; /* a new store has some 20 pages */

/* The file's bytes are queried in memory: opening and closing the file would release the lock of
 * fd. */
static bool
is_empty(int fd)
{
	/* One project is what opening the store creates. */
	static const char query[] = "SELECT NOT EXISTS(SELECT 1 FROM log)"
				    " AND NOT EXISTS(SELECT 1 FROM body)"
				    " AND NOT EXISTS(SELECT 1 FROM side)"
				    " AND (SELECT count(*) FROM project) < 2";
	sqlite3_stmt *stmt = NULL;
	sqlite3 *db = NULL;
	unsigned char *bytes = NULL;
	struct stat info;
	bool empty = false;

	if (fstat(fd, &info) != 0 || info.st_size < RT_SQLITE_HEADER_SIZE ||
	    info.st_size > EMPTY_SIZE_MAX)
		return false;
	bytes = sqlite3_malloc((int)info.st_size);
	if (bytes != NULL && pread(fd, bytes, (size_t)info.st_size, 0) == info.st_size &&
	    sqlite3_open_v2(":memory:", &db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_MEMORY, NULL) ==
		    SQLITE_OK) {
		bytes[18] = bytes[19] = 1; /* memory has no write-ahead log */
		empty = sqlite3_deserialize(db, "main", bytes, info.st_size, info.st_size,
					    SQLITE_DESERIALIZE_READONLY) == SQLITE_OK &&
			sqlite3_prepare_v2(db, query, -1, &stmt, NULL) == SQLITE_OK &&
			sqlite3_step(stmt) == SQLITE_ROW && sqlite3_column_int(stmt, 0) == 1;
	}
	(void)sqlite3_finalize(stmt);
	(void)sqlite3_close(db);
	sqlite3_free(bytes);
	return empty;
}

rt_status
rt_store_sqlite_remove_empty(const rt_alloc *alloc, const rt_env *env, const char *path,
			     bool *out_removed, rt_error *err)
{
	char name[RT_SQLITE_PATH_ROOM + 8];
	int fd = -1;
	rt_status st;

	*out_removed = false;
	if (strlen(path) >= RT_SQLITE_PATH_ROOM)
		return rt_fail(err, RT_LIMIT, "the path of the store is too long");
	st = settle_and_hold(alloc, env, path, &fd, err);
	if (st == RT_BUSY || st == RT_NOT_FOUND)
		return RT_OK;
	if (st != RT_OK)
		return st;
	if (is_empty(fd)) {
		for (int i = 0; i < SUFFIXES; i++) {
			snprintf(name, sizeof(name), "%s%s", path, suffixes[i]);
			(void)unlink(name);
		}
		*out_removed = unlink(path) == 0;
	}
	(void)close(fd);
	return RT_OK;
}

rt_status
rt_store_sqlite_real_path(const char *path, rt_buf *out, rt_error *err)
{
	char full[RT_SQLITE_PATH_ROOM];
	sqlite3_vfs *vfs;
	int rc;

	if (sqlite3_initialize() != SQLITE_OK)
		return rt_fail(err, RT_NOMEM, "out of memory while starting SQLite");
	vfs = sqlite3_vfs_find(NULL);
	if (vfs == NULL || strlen(path) == 0 || vfs->mxPathname + 1 > RT_SQLITE_PATH_ROOM ||
	    strlen(path) + 32 > (size_t)vfs->mxPathname)
		return rt_fail(err, RT_LIMIT, "the path of the store is %s",
			       *path == 0 ? "empty" : "too long");
	rc = vfs->xFullPathname(vfs, path, vfs->mxPathname + 1, full);
	if (rc != SQLITE_OK && rc != SQLITE_OK_SYMLINK)
		return rt_fail(err, RT_IO, "%s cannot be found: %s", path, sqlite3_errstr(rc));
	rt_buf_clear(out);
	rt_buf_add_c(out, full);
	return out->status == RT_OK ? RT_OK : rt_fail(err, out->status, "out of memory");
}
