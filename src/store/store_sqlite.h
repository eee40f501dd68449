/* SPDX-License-Identifier: MIT
 *
 * A store in one SQLite file (with its -wal and -shm while it is open). Several processes may have
 * it open at the same time. */
#ifndef RT_STORE_SQLITE_H
#define RT_STORE_SQLITE_H

#include "base/env.h"
#include "log/store.h"

typedef struct rt_store_sqlite_options {
	bool create;    /* create the file (mode 0600, its folder 0700) if it does not exist */
	bool read_only; /* never write a byte; no -shm file if that can be avoided */
	bool relaxed;   /* commits are not synced: a loss of power may lose the last seconds
	                   (at most one checkpoint interval of the log), a crash of the
	                   process loses nothing */
	int busy_ms;    /* how long to wait for another writer; 0: the default, 30,000 */
	/* Pages in the write-ahead log that trigger a checkpoint; 0: the default, 1,000 (8 MB).
	   After a crash the next open has to read that much. */
	int checkpoint_pages;
	/* For tests, else NULL. Read during open only (vfs: while the store is open). */
	const char *vfs;  /* the name of a registered VFS, such as one that loses power */
	const char *boot; /* the id of this boot of the machine */
} rt_store_sqlite_options;

/* The file system must support locks: not NFS, SMB or 9p, nor a folder that two machines share (a
 * bind mount on one machine is fine). A closed store is one file: the last process to close it
 * writes the -wal back and removes it. An existing -wal is part of the store.
 *
 * After a fork the child must reopen the store: the parent's handle fails with RT_REFUSED.
 *
 * RT_NOT_FOUND: no such file, and create is off. RT_NOT_OURS: another kind of file; it is not
 * changed. RT_TOO_NEW: written by a newer Retake; read_only may work, and the message names the
 * versions. RT_CORRUPT: damaged; an empty or truncated store is damaged, not new. RT_IO: cannot
 * be read (permissions, disk); never treated as empty. An SQLite library older than 3.51.3 is
 * refused (it can damage a store that two processes write to). */
RT_CHECKED rt_status rt_store_sqlite_open(const rt_alloc *alloc, const rt_env *env,
					  const char *path, const rt_store_sqlite_options *options,
					  rt_store **out_store, rt_error *err);

/* The path with all symbolic links resolved; the file need not exist. */
RT_CHECKED rt_status rt_store_sqlite_real_path(const char *path, rt_buf *out, rt_error *err);

/* Renames the file at path to aside, with its -wal and -shm, and the file copy to path; then syncs
 * the folder. All three are in one folder, path is a real path, and copy is not open anywhere and
 * has no log. path need not exist. The store cannot be opened in the meantime.
 *
 * RT_BUSY: the store is open, for writing or not. RT_REFUSED: aside exists. After a failure
 * everything has its old name unless *out_changed is set. */
RT_CHECKED rt_status rt_store_sqlite_exchange(const rt_alloc *alloc, const rt_env *env,
					      const char *path, const char *copy, const char *aside,
					      bool *out_changed, rt_error *err);

/* Removes the store at path, with its -wal and -shm, if all logs are empty and it has no bodies.
 * *out_removed false: they are not, or the store is open or being replaced. The caller has closed
 * it. */
RT_CHECKED rt_status rt_store_sqlite_remove_empty(const rt_alloc *alloc, const rt_env *env,
						  const char *path, bool *out_removed,
						  rt_error *err);

/* Rows copied from a damaged file. */
typedef struct rt_store_salvaged {
	uint64_t rows, bodies;   /* of all projects */
	uint64_t projects_named; /* that got a new name, because theirs was lost */
} rt_store_salvaged;

/* Is a file that open refuses with RT_NOT_OURS a store with a damaged first page? *out_ours: it has
 * a page with an intact row of a store. The caller has no store open at path. */
RT_CHECKED rt_status rt_store_sqlite_recognise(const rt_alloc *alloc, const char *path,
					       bool *out_ours, rt_error *err);

/* Copies every intact row of the file at path into a new store at `to`, which may then lack rows
 * that others refer to: for rt_engine_salvage. The file at path is only read, whatever its damage.
 * Needs as much memory as the file is large. */
RT_CHECKED rt_status rt_store_sqlite_salvage(const rt_alloc *alloc, const rt_env *env,
					     const char *path, const char *to,
					     rt_store_salvaged *out, rt_error *err);

#endif
