/* SPDX-License-Identifier: MIT
 *
 * SQLite's result codes as statuses and messages. SQLite's own message is included only where it
 * adds information; "database is locked" does not. */
#define _POSIX_C_SOURCE 200809L /* O_CLOEXEC, O_NOFOLLOW */
#define _GNU_SOURCE
#include "store/store_sqlite_impl.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h> /* snprintf */
#include <sys/stat.h>
#include <unistd.h>

rt_status
rt_sqlite_status(int rc)
{
	switch (rc & 0xff) {
	case SQLITE_OK:
	case SQLITE_ROW:
	case SQLITE_DONE: return RT_OK;
	case SQLITE_NOMEM: return RT_NOMEM;
	case SQLITE_BUSY:
	case SQLITE_LOCKED:
	case SQLITE_PROTOCOL: return RT_BUSY;
	case SQLITE_FULL: return RT_FULL;
	case SQLITE_TOOBIG: return RT_LIMIT;
	case SQLITE_NOTADB: return RT_NOT_OURS;
	case SQLITE_READONLY: return RT_READ_ONLY;
	case SQLITE_INTERRUPT: return RT_INTERRUPTED;
	case SQLITE_IOERR:
		if (rc == SQLITE_IOERR_NOMEM)
			return RT_NOMEM;
		/* Not CORRUPTFS: SQLite reports that for a read that fails with EIO. */
		return rc == SQLITE_IOERR_DATA ? RT_CORRUPT : RT_IO;
	case SQLITE_CANTOPEN:
	case SQLITE_PERM:
	case SQLITE_AUTH:
	case SQLITE_NOLFS: return RT_IO;
	default:
		/* CORRUPT; and ERROR, SCHEMA, CONSTRAINT, MISMATCH …: our statements are right, so
		 * the tables have been changed. */
		return RT_CORRUPT;
	}
}

/* SQLite's own message may quote a damaged file: keep printable ASCII only. */
static void
printable(char *to, size_t room, const char *from)
{
	size_t i;

	for (i = 0; i + 1 < room && from[i] != 0; i++)
		to[i] = from[i] >= 0x20 && from[i] < 0x7f ? from[i] : '?';
	to[i] = 0;
}

static bool
is_full(int no)
{
	return no == ENOSPC || no == EDQUOT || no == EFBIG;
}

/* SQLite could not open a file. If a file next to the store could not be created, SQLite has
 * retried read-only, and errno is ENOENT. So try to create one: 0, or the error. */
static int
try_create_beside(rt_sqlite_store *s)
{
	char name[RT_SQLITE_PATH_ROOM + 32];
	int fd, no = 0;

	if (rt_sqlite_make_beside(s, s->path, s->place, name, sizeof(name), &fd, NULL) != RT_OK)
		no = errno;
	if (fd >= 0)
		(void)close(fd);
	if (fd >= 0)
		(void)unlink(name);
	return no;
}

static rt_status
fail_beside(rt_sqlite_store *s, rt_error *err)
{
	int no = s->options.read_only ? 0 : try_create_beside(s);

	if (is_full(no))
		return rt_fail(err, RT_FULL,
			       "no space left on the disk of %s; free some and try again",
			       s->place);
	if (no == EACCES || no == EPERM || no == EROFS)
		return rt_fail(err, RT_IO,
			       "no permission to write to the directory of %s, which is needed for two temporary files",
			       s->place);
	return rt_fail(err, RT_IO,
		       "%s: its -wal and -shm files could not be opened or created; check the free disk space",
		       s->place);
}

static int
last_errno(sqlite3_file *file)
{
	int no = 0;

	if (file != NULL && file->pMethods != NULL)
		(void)file->pMethods->xFileControl(file, SQLITE_FCNTL_LAST_ERRNO, &no);
	return no;
}

/* SQLite reports a read that fails with EIO as a damaged database, and FTS5 as an error like any
 * other. The difference matters to users: the disk has to be replaced. */
static bool
could_not_read(sqlite3 *db, int *out_no)
{
	static const int files[] = {SQLITE_FCNTL_FILE_POINTER, SQLITE_FCNTL_JOURNAL_POINTER};

	for (size_t i = 0; i < sizeof(files) / sizeof(*files); i++) {
		sqlite3_file *file = NULL;
		int no;

		(void)sqlite3_file_control(db, "main", files[i], &file);
		no = last_errno(file);
		if (no == EIO || no == ENXIO) {
			*out_no = no;
			return true;
		}
	}
	return false;
}

rt_status
rt_sqlite_fail(rt_sqlite_store *s, sqlite3 *db, const char *doing, rt_error *err)
{
	int rc = db == NULL ? SQLITE_NOMEM : sqlite3_extended_errcode(db);
	int no = db == NULL ? 0 : sqlite3_system_errno(db);
	rt_status st = rt_sqlite_status(rc);
	char why[120];

	printable(why, sizeof(why), db == NULL ? "" : sqlite3_errmsg(db));
	if (st == RT_CORRUPT && could_not_read(db, &no)) {
		rc = SQLITE_IOERR_READ;
		st = RT_IO;
	}
	if (st == RT_OK)
		st = RT_IO; /* a failure whose code SQLite has reset */
	if (rc == SQLITE_IOERR_FSYNC || rc == SQLITE_IOERR_DIR_FSYNC)
		s->poisoned = true;
	if (rt_sqlite_is_owner(s))
		s->tx_status = st;
	switch (st) {
	case RT_NOMEM: return rt_fail(err, st, "out of memory while %s", doing);
	case RT_BUSY:
		return rt_fail(err, st,
			       "another process has been writing to %s for %d s; try again",
			       s->place, (s->options.busy_ms + 999) / 1000);
	case RT_FULL:
		return rt_fail(err, st,
			       "no space left on the disk of %s; free some and try again",
			       s->place);
	case RT_LIMIT:
		return rt_fail(err, st, "%s: a row is too large for a store", s->place);
	case RT_READ_ONLY: return rt_fail(err, st, "%s cannot be written", s->place);
	case RT_NOT_OURS: return rt_fail(err, st, "%s is not a Retake store", s->place);
	case RT_IO:
		if (is_full(no))
			return rt_fail(err, RT_FULL,
				       "no space left on the disk of %s; free some and try "
				       "again",
				       s->place);
		if (rc == SQLITE_CANTOPEN && no == ENOENT && s->options.vfs == NULL &&
		    access(s->path, F_OK) == 0)
			return fail_beside(s, err);
		return rt_fail(err, st, "%s: the disk failed while %s (%s, error %d, system %d)",
			       s->place, doing, sqlite3_errstr(rc), rc, no);
	case RT_CORRUPT:
		return rt_fail_advise(err, st, "run retake fsck",
				      "%s is damaged (found while %s: %s)", s->place, doing, why);
	default: return rt_fail(err, st, "%s: %s failed: %s", s->place, doing, sqlite3_errstr(rc));
	}
}

/* --- failures of calls --- */

void
rt_sqlite_call_fail(rt_sqlite_call *call, const char *doing)
{
	rt_scope *s = &call->scope;

	RT_TRY(s, rt_sqlite_fail(call->store, call->conn->db, doing, &s->error));
}

void
rt_sqlite_damaged(rt_sqlite_call *call, const char *noun, uint64_t number)
{
	rt_scope_fail_advise(&call->scope, RT_CORRUPT, "run retake fsck",
			     "%s is damaged: %s %llu has a wrong checksum", call->store->place,
			     noun, (unsigned long long)number);
}
