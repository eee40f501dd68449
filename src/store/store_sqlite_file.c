/* SPDX-License-Identifier: MIT
 *
 * Examining and creating a store's file.
 *
 * A file is examined through the VFS before SQLite opens it (never with open(2): closing a
 * second descriptor would drop the locks of this process's other handles). Only a complete header
 * of a Retake store is accepted; everything else is refused and not changed.
 *
 * Creating builds the whole image in memory, writes it to a temporary file next to the path, syncs
 * it and renames it in one step that fails when the name is in use. So there is never a half-made
 * store, two processes that create at once end up with one store, and an empty file under a store's
 * name is damage. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* renameat2 */
#endif
#include "store/store_sqlite_impl.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h> /* snprintf, renameat2: no streams */
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <time.h>
#include <unistd.h>

const char rt_sqlite_schema[] =
	"CREATE TABLE meta(key TEXT PRIMARY KEY, sum INTEGER NOT NULL, value TEXT NOT NULL)"
	" STRICT, WITHOUT ROWID;"
	"CREATE TABLE project(id INTEGER PRIMARY KEY, sum INTEGER NOT NULL,"
	" name BLOB NOT NULL UNIQUE) STRICT;"
	"CREATE TABLE log(key INTEGER PRIMARY KEY, step BLOB NOT NULL, at INTEGER NOT NULL,"
	" sum INTEGER NOT NULL, data BLOB NOT NULL) STRICT;"
	"CREATE TABLE body(key INTEGER PRIMARY KEY, entry INTEGER NOT NULL,"
	" sum INTEGER NOT NULL, data BLOB NOT NULL) STRICT;"
	"CREATE TABLE node(key INTEGER PRIMARY KEY, sum INTEGER NOT NULL, data BLOB NOT NULL)"
	" STRICT;"
	"CREATE TABLE root(project INTEGER PRIMARY KEY, seq INTEGER NOT NULL,"
	" sum INTEGER NOT NULL, data BLOB NOT NULL) STRICT;"
	"CREATE TABLE side(project INTEGER NOT NULL, name BLOB NOT NULL, sum INTEGER NOT NULL,"
	" data BLOB NOT NULL, PRIMARY KEY(project, name)) STRICT, WITHOUT ROWID;"
	"CREATE TABLE mark(project INTEGER PRIMARY KEY, number INTEGER NOT NULL,"
	" sum INTEGER NOT NULL) STRICT;" RT_SQLITE_INDEX_TABLE;

/* --- examining --- */

static rt_status
examine_kind(const rt_sqlite_store *s, rt_sqlite_file_state *out, rt_error *err)
{
	struct stat info;

	*out = RT_SQLITE_REFUSED;
	if (stat(s->path, &info) != 0) {
		if (errno != ENOENT && errno != ENOTDIR)
			return rt_fail(err, RT_IO, "%s cannot be accessed: %s", s->place,
				       strerror(errno));
		if (errno == ENOTDIR)
			return rt_fail(err, RT_IO, "a part of the path %s is not a directory",
				       s->place);
		*out = RT_SQLITE_MISSING;
		return RT_OK;
	}
	if (S_ISDIR(info.st_mode))
		return rt_fail(err, RT_IO, "%s is a directory, not a store", s->place);
	if (!S_ISREG(info.st_mode))
		return rt_fail(err, RT_NOT_OURS, "%s is not a regular file", s->place);
	*out = RT_SQLITE_OURS;
	return RT_OK;
}

static uint32_t
get32(const unsigned char *p)
{
	return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

/* A file of the VFS, open for reading. SQLite's own VFS keeps a pointer to the name and reads it
 * when the file is closed, so the name must live until then. */
typedef struct peek {
	sqlite3_file *file; /* NULL: not open */
	sqlite3_filename name;
} peek;

static void
peek_close(peek *p)
{
	if (p->file != NULL && p->file->pMethods != NULL)
		(void)p->file->pMethods->xClose(p->file);
	sqlite3_free(p->file);
	sqlite3_free_filename(p->name);
	p->file = NULL;
	p->name = NULL;
}

/* out->file is NULL when that fails. */
static int
peek_open(const rt_sqlite_store *s, const char *suffix, int kind, peek *out)
{
	char path[RT_SQLITE_PATH_ROOM + 8];
	int rc = SQLITE_NOMEM;

	out->name = NULL;
	out->file = sqlite3_malloc(s->vfs->szOsFile);
	if (out->file == NULL)
		return SQLITE_NOMEM;
	memset(out->file, 0, (size_t)s->vfs->szOsFile);
	snprintf(path, sizeof(path), "%s%s", s->path, suffix);
	out->name = sqlite3_create_filename(path, "", "", 0, NULL);
	if (out->name != NULL)
		rc = s->vfs->xOpen(s->vfs, out->name, out->file, SQLITE_OPEN_READONLY | kind, NULL);
	if (rc != SQLITE_OK)
		peek_close(out);
	return rc;
}

/* Is there a write-ahead log? It starts with 37 7f 06 82 or 83. */
static bool
has_log(const rt_sqlite_store *s)
{
	unsigned char head[32] = {0};
	peek file = {NULL, NULL};
	bool filled = false, found = false;

	if (!rt_sqlite_exists(s, "-wal", &filled) || !filled ||
	    peek_open(s, "-wal", SQLITE_OPEN_WAL, &file) != SQLITE_OK)
		return false;
	if (file.file->pMethods->xRead(file.file, head, sizeof(head), 0) == SQLITE_OK)
		found = head[0] == 0x37 && head[1] == 0x7f && head[2] == 0x06 &&
			(head[3] & 0xfe) == 0x82;
	peek_close(&file);
	return found;
}

/* The first 100 bytes of an SQLite file:
 *    0  "SQLite format 3" and a NUL
 *   16  page size, 2 bytes, 1 stands for 65536
 *   24  change counter, 4 bytes
 *   28  pages in the file, 4 bytes; right if 24 and 92 hold the same
 *   60  user_version, 4 bytes
 *   68  application_id, 4 bytes
 *   92  the change counter for which 28 is right, 4 bytes */
static rt_status
judge_header(const rt_sqlite_store *s, const unsigned char *head, sqlite3_int64 size, rt_error *err)
{
	static const char magic[16] = "SQLite format 3";
	size_t known = size < 16 ? (size_t)size : 16;

	if (size == 0)
		return rt_fail(err, RT_CORRUPT, "%s is empty; it is not treated as a new store",
			       s->place);
	/* A first page that was destroyed while the log was written back is intact in the log.
	 * Opening checks again, through SQLite. */
	if (memcmp(head, magic, known) != 0 && size >= 512 && has_log(s))
		return RT_OK;
	if (memcmp(head, magic, known) != 0)
		return rt_fail(err, RT_NOT_OURS, "%s is not a Retake store",
			       s->place);
	if (size < RT_SQLITE_HEADER_SIZE)
		return rt_fail(err, RT_CORRUPT, "%s is truncated to %d bytes",
			       s->place, (int)size);
	if (get32(head + 68) != RT_SQLITE_APPLICATION_ID)
		return rt_fail(err, RT_NOT_OURS,
			       "%s is an SQLite database of another program, not a Retake store",
			       s->place);
	return RT_OK;
}

/* Is the file shorter than its header says (-1), or at least a page longer (1)? With a
 * write-ahead log it may be: the rest is in the log. Without one, a longer file has an outdated
 * first page, and the next write would overwrite pages that are in use. */
static int
size_off(const rt_sqlite_store *s, const unsigned char *head, sqlite3_int64 size)
{
	sqlite3_int64 says;
	uint32_t page = (uint32_t)head[16] << 8 | head[17];
	bool filled;

	if (page == 1)
		page = 65536;
	says = (sqlite3_int64)get32(head + 28) * page;
	if (memcmp(head + 24, head + 92, 4) != 0 || (size >= says && size < says + page))
		return 0;
	(void)rt_sqlite_exists(s, "-wal", &filled);
	return filled ? 0 : size < says ? -1 : 1;
}

static rt_status
examine_header(rt_sqlite_store *s, rt_sqlite_file_state *out, int *out_off, rt_error *err)
{
	unsigned char head[RT_SQLITE_HEADER_SIZE] = {0};
	peek file = {NULL, NULL};
	sqlite3_int64 size = 0;
	rt_status st = RT_OK;
	int rc, there = 0;

	*out = RT_SQLITE_REFUSED;
	*out_off = 0;
	errno = 0;
	if (s->options.vfs != NULL) {
		rc = s->vfs->xAccess(s->vfs, s->path, SQLITE_ACCESS_EXISTS, &there);
		if (rc == SQLITE_OK && !there) {
			*out = RT_SQLITE_MISSING;
			return RT_OK;
		}
	}
	rc = peek_open(s, "", SQLITE_OPEN_MAIN_DB, &file);
	if (rc == SQLITE_OK)
		rc = file.file->pMethods->xFileSize(file.file, &size);
	if (rc == SQLITE_OK)
		rc = file.file->pMethods->xRead(file.file, head, sizeof(head), 0);
	if (rc == SQLITE_IOERR_SHORT_READ)
		rc = SQLITE_OK; /* the rest is zero */
	if (size == 0 && head[0] != 0)
		size = 1; /* SQLite's unix VFS reports 0 for a file of one byte */
	if (rc != SQLITE_OK)
		st = rt_fail(err, rt_sqlite_status(rc) == RT_NOMEM ? RT_NOMEM : RT_IO,
			     "cannot read %s: %s", s->place,
			     errno == EACCES ? "no permission" : sqlite3_errstr(rc));
	else
		st = judge_header(s, head, size, err);
	if (st == RT_OK) {
		*out = RT_SQLITE_OURS;
		*out_off = size_off(s, head, size);
	}
	peek_close(&file);
	return st;
}

rt_status
rt_sqlite_examine(rt_sqlite_store *s, rt_sqlite_file_state *out, rt_error *err)
{
	enum { ATTEMPTS = 3 };
	struct timespec nap = {0, 5000000};
	int off = 0;
	rt_status st = RT_OK;

	*out = RT_SQLITE_OURS;
	if (s->options.vfs == NULL)
		st = examine_kind(s, out, err);
	if (st != RT_OK || *out != RT_SQLITE_OURS)
		return st;
	/* Header, size and log are read one after the other; a writer may have closed in between. */
	for (int i = 0; i < ATTEMPTS; i++) {
		st = examine_header(s, out, &off, err);
		if (st != RT_OK || off == 0)
			return st;
		if (i + 1 < ATTEMPTS)
			nanosleep(&nap, NULL);
	}
	*out = RT_SQLITE_REFUSED;
	return rt_fail(err, RT_CORRUPT,
		       off < 0 ? "%s is truncated: it is shorter than its first page says"
			       : "%s is damaged: it is longer than its first page says",
		       s->place);
}

/* --- creating --- */

/* The bytes of a new store; sqlite3_free them. */
static rt_status
make_image(rt_sqlite_store *s, unsigned char **out, size_t *out_size, rt_error *err)
{
	rt_sqlite_conn c = {0};
	rt_sqlite_call call = rt_sqlite_call_on(s, &c);
	sqlite3_int64 size = 0;
	uint64_t epoch = 0;
	char sql[200];

	snprintf(sql, sizeof(sql),
		 "PRAGMA page_size = %d; PRAGMA application_id = %d; PRAGMA user_version = %d;",
		 RT_SQLITE_PAGE_SIZE, RT_SQLITE_APPLICATION_ID, RT_SQLITE_FORMAT);
	while (epoch == 0)
		s->env.random(s->env.ctx, &epoch, sizeof(epoch));
	rt_sqlite_open_scratch(&call, sql);
	rt_sqlite_exec(&call, rt_sqlite_schema, "creating it");
	rt_sqlite_meta_set_number(&call, "min_reader", RT_SQLITE_MIN_READER);
	rt_sqlite_meta_set_number(&call, "min_writer", RT_SQLITE_MIN_WRITER);
	rt_sqlite_meta_set(&call, "written_by", RT_VERSION);
	rt_sqlite_meta_set_number(&call, "epoch", epoch);
	if (rt_ok(&call.scope)) {
		*out = sqlite3_serialize(c.db, "main", &size, 0);
		if (*out == NULL)
			rt_scope_nomem(&call.scope);
	}
	if (rt_ok(&call.scope)) {
		RT_ASSERT(size > RT_SQLITE_HEADER_SIZE);
		if (s->memory == NULL)
			(*out)[18] = (*out)[19] = 2; /* write-ahead log */
		*out_size = (size_t)size;
	}
	rt_sqlite_conn_close(&c);
	return rt_scope_end(&call.scope, err);
}

static rt_status
write_all(int fd, const unsigned char *bytes, size_t size)
{
	while (size > 0) {
		ssize_t did = write(fd, bytes, size);

		if (did < 0 && errno == EINTR)
			continue;
		if (did <= 0)
			return rt_sqlite_full_or_io(errno);
		bytes += did;
		size -= (size_t)did;
	}
	return fsync(fd) == 0 ? RT_OK : RT_IO;
}

/* Creates missing parent folders, mode 0700. */
static rt_status
make_folders(const rt_sqlite_store *s, rt_error *err)
{
	char folder[RT_SQLITE_PATH_ROOM];

	snprintf(folder, sizeof(folder), "%s", s->path);
	for (char *slash = strchr(folder + 1, '/'); slash != NULL; slash = strchr(slash + 1, '/')) {
		*slash = 0;
		if (mkdir(folder, 0700) == 0) {
			rt_status st = rt_sqlite_sync_folder(folder, err);

			if (st != RT_OK)
				return st;
		} else if (errno != EEXIST && access(folder, F_OK) != 0) {
			return rt_fail(err, errno == ENOSPC ? RT_FULL : RT_IO,
				       "the directory %s could not be created: %s", folder,
				       strerror(errno));
		}
		*slash = '/';
	}
	return RT_OK;
}

static rt_status
create_on_disk(rt_sqlite_store *s, const unsigned char *image, size_t size, rt_error *err)
{
	char name[RT_SQLITE_PATH_ROOM + 32];
	rt_status st = make_folders(s, err);
	int fd = -1;

	if (st == RT_OK)
		st = rt_sqlite_make_beside(s, s->path, s->place, name, sizeof(name), &fd, err);
	if (st != RT_OK)
		return st;
	st = write_all(fd, image, size);
	if (st != RT_OK)
		(void)rt_fail(err, st, "%s could not be written: %s", s->place, strerror(errno));
	if (close(fd) != 0 && st == RT_OK)
		st = rt_fail(err, RT_IO, "%s could not be written: %s", s->place, strerror(errno));
	if (st == RT_OK) {
		st = rt_sqlite_rename(name, s->path, err);
		if (st == RT_REFUSED)
			st = RT_OK; /* another process has just created it: use that one */
		if (st == RT_OK)
			st = rt_sqlite_sync_folder(s->path, err);
	}
	(void)unlink(name);
	return st;
}

/* Other VFSes cannot rename: write the file in place. */
static rt_status
create_in_vfs(rt_sqlite_store *s, const unsigned char *image, size_t size, rt_error *err)
{
	sqlite3_file *file = sqlite3_malloc(s->vfs->szOsFile);
	sqlite3_filename name = sqlite3_create_filename(s->path, "", "", 0, NULL);
	int rc = SQLITE_NOMEM;

	if (file != NULL && name != NULL) {
		memset(file, 0, (size_t)s->vfs->szOsFile);
		rc = s->vfs->xOpen(s->vfs, name, file,
				   SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_MAIN_DB,
				   NULL);
		for (size_t at = 0; rc == SQLITE_OK && at < size; at += RT_SQLITE_PAGE_SIZE)
			rc = file->pMethods->xWrite(file, image + at, RT_SQLITE_PAGE_SIZE,
						    (sqlite3_int64)at);
		if (rc == SQLITE_OK)
			rc = file->pMethods->xSync(file, SQLITE_SYNC_FULL);
		if (file->pMethods != NULL)
			(void)file->pMethods->xClose(file);
	}
	sqlite3_free_filename(name);
	sqlite3_free(file);
	if (rc != SQLITE_OK)
		return rt_fail(err, rt_sqlite_status(rc), "%s could not be created: %s", s->place,
			       sqlite3_errstr(rc));
	return RT_OK;
}

rt_status
rt_sqlite_create(rt_sqlite_store *s, rt_error *err)
{
	unsigned char *image = NULL;
	size_t size = 0;
	rt_status st = make_image(s, &image, &size, err);

	if (st == RT_OK)
		st = s->options.vfs == NULL ? create_on_disk(s, image, size, err)
					    : create_in_vfs(s, image, size, err);
	sqlite3_free(image);
	return st;
}
