/* SPDX-License-Identifier: MIT
 *
 * The memory store: the SQLite store on a VFS that holds its one file in memory.
 *
 * SQLite's ":memory:" databases belong to one connection, and its "memdb" VFS makes readers
 * wait for an open transaction. This VFS has SQLite's usual lock levels, so that readers on other
 * connections see committed data while a writer is in a transaction:
 *
 *   shared      any number of connections that read
 *   reserved    one connection that collects changes in its page cache
 *   pending     it waits for the readers to finish; no new ones may start
 *   exclusive   it writes its pages back
 *
 * The VFS itself waits, on a condition variable, for as long as the running calls take: a
 * reader holds its lock for one call, and a writer is exclusive while it commits. There are no
 * other files: the rollback journal and temporary tables are kept in memory by SQLite. */
#define _POSIX_C_SOURCE 200809L
#include "store/store_memory.h"

#include "store/store_sqlite_impl.h"

#include <stdio.h> /* snprintf */
#include <string.h>

typedef struct memory_file {
	sqlite3_file base;
	rt_sqlite_memory *memory;
	int level; /* SQLITE_LOCK_… */
} memory_file;

struct rt_sqlite_memory {
	sqlite3_vfs base; /* first: SQLite passes it to our methods */
	const rt_alloc *alloc;
	pthread_mutex_t lock;    /* guards what follows */
	pthread_cond_t unlocked; /* signalled when a file's lock level fell */
	unsigned char *bytes;    /* the file; NULL: none yet */
	size_t size, room;
	int shared;                /* files at SQLITE_LOCK_SHARED and above */
	const memory_file *writer; /* at RESERVED and above */
	bool is_pending;           /* the writer waits for readers, or is exclusive */
	char name[40];
};

static rt_sqlite_memory *
enter(sqlite3_file *file)
{
	rt_sqlite_memory *m = ((memory_file *)file)->memory;

	RT_ASSERT(pthread_mutex_lock(&m->lock) == 0);
	return m;
}

static int
leave(rt_sqlite_memory *m, int rc)
{
	RT_ASSERT(pthread_mutex_unlock(&m->lock) == 0);
	return rc;
}

/* --- contents --- */

static int
resize(rt_sqlite_memory *m, size_t size)
{
	if (size > m->room) {
		size_t room = size + size / 2;
		unsigned char *bytes = rt_resize(m->alloc, m->bytes, room);

		if (bytes == NULL)
			return SQLITE_IOERR_NOMEM;
		m->bytes = bytes;
		m->room = room;
	}
	if (size > m->size)
		memset(m->bytes + m->size, 0, size - m->size);
	m->size = size;
	return SQLITE_OK;
}

static int
file_read(sqlite3_file *file, void *to, int size, sqlite3_int64 at)
{
	rt_sqlite_memory *m = enter(file);
	size_t wanted = (size_t)size, from = (size_t)at;
	size_t count = from >= m->size ? 0 : m->size - from < wanted ? m->size - from : wanted;

	if (count > 0)
		memcpy(to, m->bytes + from, count);
	memset((unsigned char *)to + count, 0, wanted - count);
	return leave(m, count == wanted ? SQLITE_OK : SQLITE_IOERR_SHORT_READ);
}

static int
file_write(sqlite3_file *file, const void *bytes, int size, sqlite3_int64 at)
{
	rt_sqlite_memory *m = enter(file);
	size_t end = (size_t)at + (size_t)size;
	int rc = end > m->size ? resize(m, end) : SQLITE_OK;

	if (rc == SQLITE_OK)
		memcpy(m->bytes + at, bytes, (size_t)size);
	return leave(m, rc);
}

static int
file_truncate(sqlite3_file *file, sqlite3_int64 size)
{
	rt_sqlite_memory *m = enter(file);

	return leave(m, resize(m, (size_t)size));
}

static int
file_sync(sqlite3_file *file, int flags)
{
	(void)file;
	(void)flags;
	return SQLITE_OK;
}

static int
file_size(sqlite3_file *file, sqlite3_int64 *out)
{
	rt_sqlite_memory *m = enter(file);

	*out = (sqlite3_int64)m->size;
	return leave(m, SQLITE_OK);
}

/* --- locks --- */

static void
wait_unlocked(rt_sqlite_memory *m)
{
	RT_ASSERT(pthread_cond_wait(&m->unlocked, &m->lock) == 0);
}

static int
file_lock(sqlite3_file *file, int level)
{
	memory_file *f = (memory_file *)file;
	rt_sqlite_memory *m = enter(file);

	if (level <= f->level)
		return leave(m, SQLITE_OK);
	if (level == SQLITE_LOCK_SHARED) {
		while (m->is_pending)
			wait_unlocked(m);
		m->shared++;
	} else if (m->writer != NULL && m->writer != f) {
		return leave(m, SQLITE_BUSY);
	} else {
		m->writer = f;
		m->is_pending = level >= SQLITE_LOCK_PENDING;
		while (level == SQLITE_LOCK_EXCLUSIVE && m->shared > 1)
			wait_unlocked(m);
	}
	f->level = level;
	return leave(m, SQLITE_OK);
}

static int
file_unlock(sqlite3_file *file, int level)
{
	memory_file *f = (memory_file *)file;
	rt_sqlite_memory *m = enter(file);

	if (level < f->level) {
		if (m->writer == f) {
			m->writer = NULL;
			m->is_pending = false;
		}
		if (level == SQLITE_LOCK_NONE)
			m->shared--;
		f->level = level;
		RT_ASSERT(pthread_cond_broadcast(&m->unlocked) == 0);
	}
	return leave(m, SQLITE_OK);
}

static int
file_check_lock(sqlite3_file *file, int *out)
{
	rt_sqlite_memory *m = enter(file);

	*out = m->writer != NULL;
	return leave(m, SQLITE_OK);
}

static int
file_close(sqlite3_file *file)
{
	return file_unlock(file, SQLITE_LOCK_NONE);
}

static int
file_control(sqlite3_file *file, int op, void *arg)
{
	(void)file;
	(void)op;
	(void)arg;
	return SQLITE_NOTFOUND;
}

static int
file_sector_size(sqlite3_file *file)
{
	(void)file;
	return 512;
}

static int
file_device(sqlite3_file *file)
{
	(void)file;
	return SQLITE_IOCAP_ATOMIC | SQLITE_IOCAP_POWERSAFE_OVERWRITE | SQLITE_IOCAP_SAFE_APPEND |
	       SQLITE_IOCAP_SEQUENTIAL;
}

static const sqlite3_io_methods file_methods = {
	.iVersion = 1,
	.xClose = file_close,
	.xRead = file_read,
	.xWrite = file_write,
	.xTruncate = file_truncate,
	.xSync = file_sync,
	.xFileSize = file_size,
	.xLock = file_lock,
	.xUnlock = file_unlock,
	.xCheckReservedLock = file_check_lock,
	.xFileControl = file_control,
	.xSectorSize = file_sector_size,
	.xDeviceCharacteristics = file_device,
};

/* --- the VFS --- */

static int
vfs_open(sqlite3_vfs *vfs, sqlite3_filename name, sqlite3_file *file, int flags, int *out_flags)
{
	memory_file *f = (memory_file *)file;

	(void)name;
	file->pMethods = NULL;
	if ((flags & SQLITE_OPEN_MAIN_DB) == 0)
		return SQLITE_CANTOPEN;
	f->memory = (rt_sqlite_memory *)vfs;
	f->level = SQLITE_LOCK_NONE;
	file->pMethods = &file_methods;
	if (out_flags != NULL)
		*out_flags = flags;
	return SQLITE_OK;
}

static int
vfs_delete(sqlite3_vfs *vfs, const char *name, int sync)
{
	(void)vfs;
	(void)name;
	(void)sync;
	return SQLITE_IOERR_DELETE_NOENT;
}

static int
vfs_access(sqlite3_vfs *vfs, const char *name, int flags, int *out)
{
	const rt_sqlite_memory *m = (const rt_sqlite_memory *)vfs;

	(void)flags;
	*out = strcmp(name, RT_SQLITE_MEMORY_PATH) == 0 && m->size > 0;
	return SQLITE_OK;
}

static int
vfs_full_path(sqlite3_vfs *vfs, const char *name, int room, char *out)
{
	(void)vfs;
	sqlite3_snprintf(room, out, "%s", name);
	return SQLITE_OK;
}

rt_status
rt_sqlite_memory_new(const rt_alloc *alloc, rt_sqlite_memory **out, rt_error *err)
{
	sqlite3_vfs *system = sqlite3_vfs_find(NULL);
	rt_sqlite_memory *m = rt_new0(alloc, sizeof(*m));

	if (m == NULL || system == NULL || pthread_mutex_init(&m->lock, NULL) != 0) {
		rt_free(alloc, m);
		return rt_fail(err, RT_NOMEM, "out of memory");
	}
	RT_ASSERT(pthread_cond_init(&m->unlocked, NULL) == 0);
	m->alloc = alloc;
	m->base = *system; /* time, randomness and sleeping are those of the system */
	m->base.iVersion = 1;
	m->base.szOsFile = sizeof(memory_file);
	m->base.mxPathname = 512;
	m->base.pNext = NULL;
	m->base.zName = m->name;
	m->base.xOpen = vfs_open;
	m->base.xDelete = vfs_delete;
	m->base.xAccess = vfs_access;
	m->base.xFullPathname = vfs_full_path;
	snprintf(m->name, sizeof(m->name), "retake-memory-%p", (void *)m);
	if (sqlite3_vfs_register(&m->base, 0) != SQLITE_OK) {
		rt_sqlite_memory_free(m);
		return rt_fail(err, RT_NOMEM, "out of memory");
	}
	*out = m;
	return RT_OK;
}

const char *
rt_sqlite_memory_name(const rt_sqlite_memory *m)
{
	return m->name;
}

void
rt_sqlite_memory_free(rt_sqlite_memory *m)
{
	if (m == NULL)
		return;
	(void)sqlite3_vfs_unregister(&m->base);
	RT_ASSERT(pthread_cond_destroy(&m->unlocked) == 0);
	RT_ASSERT(pthread_mutex_destroy(&m->lock) == 0);
	rt_free(m->alloc, m->bytes);
	rt_free(m->alloc, m);
}
