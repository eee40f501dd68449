/* SPDX-License-Identifier: MIT
 *
 * SQLite writes its log like this:
 *
 *   offset 0    32 bytes   the log's header, when it restarts
 *   then        24 bytes   a frame's header; bytes 4..7 are not zero in the last frame of
 *                          a commit
 *               a page     the frame's page; both again for every frame
 *
 * A write is buffered only when it continues the previous one. The buffer is written out
 *
 *   - when the page of a frame that ends a commit arrives, before that call returns;
 *   - when a write does not continue the previous one (SQLite rewriting headers after a page
 *     was written twice; such writes come one by one and are never buffered);
 *   - before a sync, a truncation, a query of the size, and a read that overlaps it;
 *   - when it is full.
 *
 * So outside of calls the buffer belongs to an open transaction: no other connection knows these
 * frames, and if the process dies they never existed. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* sync_file_range */
#endif
#include "store/store_sqlite_vfs.h"

#include <fcntl.h>
#include <stdio.h> /* snprintf */
#include <string.h>
#include <unistd.h>

enum {
	BUFFER_SIZE = 120 << 10, /* the unix VFS writes up to 128 KiB - 1 at once */
	EARLY_SIZE = 512 << 10,  /* bytes after which the system is asked to start writing */
	FRAME_HEADER_SIZE = 24
};

struct rt_sqlite_vfs {
	sqlite3_vfs base; /* first: SQLite passes it to our methods */
	sqlite3_vfs *under;
	const rt_alloc *alloc;
	int early;
	char name[40];
};

/* An open log. The under VFS's own file follows it in memory. */
typedef struct log_file {
	sqlite3_file base;
	sqlite3_file *under;
	unsigned char *buffer; /* BUFFER_SIZE bytes; NULL before the first write */
	sqlite3_int64 start;   /* the buffer's offset in the file */
	int buffered;
	sqlite3_int64 next;       /* where the last write ended; -1: unknown */
	int ends_commit;          /* the last frame header was that of a commit's last frame */
	int early_fd;             /* our own descriptor for sync_file_range; -1: none */
	sqlite3_int64 early_from; /* written, but not yet requested */
} log_file;

static log_file *
log_of(sqlite3_file *file)
{
	return (log_file *)file;
}

/* --- the buffer --- */

static void
start_early(log_file *f, sqlite3_int64 end)
{
#if defined(__linux__) && defined(SYNC_FILE_RANGE_WRITE)
	if (f->early_fd < 0)
		return;
	if (end < f->early_from)
		f->early_from = 0; /* the log restarted */
	if (end - f->early_from < EARLY_SIZE)
		return;
	/* A hint: it promises nothing, and its failure means nothing. */
	(void)sync_file_range(f->early_fd, f->early_from, end - f->early_from,
			      SYNC_FILE_RANGE_WRITE);
	f->early_from = end;
#else
	(void)f;
	(void)end;
#endif
}

static int
flush(log_file *f)
{
	int size = f->buffered, rc;

	if (size == 0)
		return SQLITE_OK;
	f->buffered = 0;
	rc = f->under->pMethods->xWrite(f->under, f->buffer, size, f->start);
	if (rc != SQLITE_OK)
		f->next = -1;
	else
		start_early(f, f->start + size);
	return rc;
}

static int
write_through(log_file *f, const void *bytes, int size, sqlite3_int64 at)
{
	int rc = flush(f);

	if (rc == SQLITE_OK)
		rc = f->under->pMethods->xWrite(f->under, bytes, size, at);
	f->next = rc == SQLITE_OK ? at + size : -1;
	return rc;
}

static int
log_write(sqlite3_file *file, const void *bytes, int size, sqlite3_int64 at)
{
	log_file *f = log_of(file);
	const unsigned char *header = bytes;
	int rc = SQLITE_OK, is_header = size == FRAME_HEADER_SIZE;

	if (f->buffer == NULL)
		f->buffer = sqlite3_malloc(BUFFER_SIZE);
	if (is_header)
		f->ends_commit = (header[4] | header[5] | header[6] | header[7]) != 0;
	if (f->buffer == NULL || at != f->next || size > BUFFER_SIZE)
		return write_through(f, bytes, size, at);
	if (f->buffered + size > BUFFER_SIZE)
		rc = flush(f);
	if (rc != SQLITE_OK)
		return rc;
	if (f->buffered == 0)
		f->start = at;
	memcpy(f->buffer + f->buffered, bytes, (size_t)size);
	f->buffered += size;
	f->next = at + size;
	if (f->ends_commit && !is_header)
		return flush(f);
	return SQLITE_OK;
}

/* --- the rest of a file --- */

static int
log_close(sqlite3_file *file)
{
	log_file *f = log_of(file);

	/* What is buffered belongs to a transaction that was never committed. */
	sqlite3_free(f->buffer);
	f->buffer = NULL;
	if (f->early_fd >= 0)
		(void)close(f->early_fd);
	return f->under->pMethods->xClose(f->under);
}

static int
log_read(sqlite3_file *file, void *to, int size, sqlite3_int64 at)
{
	log_file *f = log_of(file);
	int rc = SQLITE_OK;

	if (f->buffered > 0 && at + size > f->start)
		rc = flush(f);
	return rc == SQLITE_OK ? f->under->pMethods->xRead(f->under, to, size, at) : rc;
}

static int
log_truncate(sqlite3_file *file, sqlite3_int64 size)
{
	log_file *f = log_of(file);
	int rc = flush(f);

	return rc == SQLITE_OK ? f->under->pMethods->xTruncate(f->under, size) : rc;
}

static int
log_sync(sqlite3_file *file, int flags)
{
	log_file *f = log_of(file);
	int rc = flush(f);

	if (rc == SQLITE_OK)
		rc = f->under->pMethods->xSync(f->under, flags);
	return rc;
}

static int
log_size(sqlite3_file *file, sqlite3_int64 *out)
{
	log_file *f = log_of(file);
	int rc = flush(f);

	return rc == SQLITE_OK ? f->under->pMethods->xFileSize(f->under, out) : rc;
}

static int
log_lock(sqlite3_file *file, int level)
{
	return log_of(file)->under->pMethods->xLock(log_of(file)->under, level);
}

static int
log_unlock(sqlite3_file *file, int level)
{
	return log_of(file)->under->pMethods->xUnlock(log_of(file)->under, level);
}

static int
log_check_lock(sqlite3_file *file, int *out)
{
	return log_of(file)->under->pMethods->xCheckReservedLock(log_of(file)->under, out);
}

static int
log_control(sqlite3_file *file, int op, void *arg)
{
	return log_of(file)->under->pMethods->xFileControl(log_of(file)->under, op, arg);
}

static int
log_sector_size(sqlite3_file *file)
{
	return log_of(file)->under->pMethods->xSectorSize(log_of(file)->under);
}

static int
log_device(sqlite3_file *file)
{
	return log_of(file)->under->pMethods->xDeviceCharacteristics(log_of(file)->under);
}

/* A log is never mapped nor shared, so version 1 is all it needs. */
static const sqlite3_io_methods log_methods = {
	.iVersion = 1,
	.xClose = log_close,
	.xRead = log_read,
	.xWrite = log_write,
	.xTruncate = log_truncate,
	.xSync = log_sync,
	.xFileSize = log_size,
	.xLock = log_lock,
	.xUnlock = log_unlock,
	.xCheckReservedLock = log_check_lock,
	.xFileControl = log_control,
	.xSectorSize = log_sector_size,
	.xDeviceCharacteristics = log_device,
};

/* --- the VFS --- */

static int
layer_open(sqlite3_vfs *vfs, sqlite3_filename name, sqlite3_file *file, int flags, int *out_flags)
{
	rt_sqlite_vfs *layer = (rt_sqlite_vfs *)vfs;
	log_file *f = log_of(file);
	int rc;

	if ((flags & SQLITE_OPEN_WAL) == 0)
		return layer->under->xOpen(layer->under, name, file, flags, out_flags);
	memset(f, 0, sizeof(*f));
	f->under = (sqlite3_file *)(f + 1);
	f->next = -1;
	f->early_fd = -1;
	rc = layer->under->xOpen(layer->under, name, f->under, flags, out_flags);
	/* Without methods SQLite does not call xClose. */
	if (f->under->pMethods == NULL)
		return rc;
	file->pMethods = &log_methods;
	/* The log has no locks that closing a second descriptor could release. */
	if (rc == SQLITE_OK && layer->early && name != NULL)
		f->early_fd = open(name, O_WRONLY | O_CLOEXEC | O_NOFOLLOW);
	return rc;
}

static sqlite3_vfs *
under(sqlite3_vfs *vfs)
{
	return ((rt_sqlite_vfs *)vfs)->under;
}

static int
layer_delete(sqlite3_vfs *vfs, const char *name, int sync)
{
	return under(vfs)->xDelete(under(vfs), name, sync);
}

static int
layer_access(sqlite3_vfs *vfs, const char *name, int flags, int *out)
{
	return under(vfs)->xAccess(under(vfs), name, flags, out);
}

static int
layer_full_path(sqlite3_vfs *vfs, const char *name, int room, char *out)
{
	return under(vfs)->xFullPathname(under(vfs), name, room, out);
}

static int
layer_randomness(sqlite3_vfs *vfs, int size, char *out)
{
	return under(vfs)->xRandomness(under(vfs), size, out);
}

static int
layer_sleep(sqlite3_vfs *vfs, int us)
{
	return under(vfs)->xSleep(under(vfs), us);
}

static int
layer_time(sqlite3_vfs *vfs, double *out)
{
	return under(vfs)->xCurrentTime(under(vfs), out);
}

static int
layer_last_error(sqlite3_vfs *vfs, int room, char *out)
{
	return under(vfs)->xGetLastError(under(vfs), room, out);
}

rt_status
rt_sqlite_vfs_new(const rt_alloc *alloc, const char *name, int early, rt_sqlite_vfs **out,
		  rt_error *err)
{
	sqlite3_vfs *found = sqlite3_vfs_find(name);
	rt_sqlite_vfs *layer;

	if (found == NULL)
		return rt_fail(err, RT_USAGE, "SQLite has no VFS of that name");
	layer = rt_new0(alloc, sizeof(*layer));
	if (layer == NULL)
		return rt_fail(err, RT_NOMEM, "out of memory");
	layer->base = (sqlite3_vfs){
		.iVersion = 1,
		.szOsFile = (int)sizeof(log_file) + found->szOsFile,
		.mxPathname = found->mxPathname,
		.zName = layer->name,
		.xOpen = layer_open,
		.xDelete = layer_delete,
		.xAccess = layer_access,
		.xFullPathname = layer_full_path,
		.xRandomness = layer_randomness,
		.xSleep = layer_sleep,
		.xCurrentTime = layer_time,
		.xGetLastError = layer_last_error,
	};
	layer->under = found;
	layer->alloc = alloc;
	layer->early = early;
	snprintf(layer->name, sizeof(layer->name), "retake-%p", (void *)layer);
	if (sqlite3_vfs_register(&layer->base, 0) != SQLITE_OK) {
		rt_free(alloc, layer);
		return rt_fail(err, RT_NOMEM, "out of memory");
	}
	*out = layer;
	return RT_OK;
}

void
rt_sqlite_vfs_free(rt_sqlite_vfs *layer)
{
	if (layer == NULL)
		return;
	(void)sqlite3_vfs_unregister(&layer->base);
	rt_free(layer->alloc, layer);
}

const char *
rt_sqlite_vfs_name(const rt_sqlite_vfs *layer)
{
	return layer->name;
}
