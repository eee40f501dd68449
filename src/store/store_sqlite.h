/* SPDX-License-Identifier: MIT
 *
 * A store in one SQLite file (and its -wal and -shm while it is open). Several processes
 * may have it open at once. */
#ifndef RT_STORE_SQLITE_H
#define RT_STORE_SQLITE_H

#include "base/env.h"
#include "log/store.h"

typedef struct rt_store_sqlite_options {
	bool create;    /* make the file (mode 0600, its folder 0700) when it is missing */
	bool read_only; /* never write a byte, not even a -shm next to it where avoidable */
	bool relaxed;   /* commits are not synced: a loss of power may take the last seconds
	                   (at most what one WAL checkpoint interval holds), a crash of the
	                   process takes nothing */
	int busy_ms;    /* how long to wait for another writer; 0: the default, 30,000 */
	/* Pages in the write-ahead log after which they go into the file; 0: the default,
	   1,000 (8 MB). A crash leaves that much to read at the next open. */
	int checkpoint_pages;
	/* Both NULL but in tests, and read during open only (vfs: as long as it is open). */
	const char *vfs;  /* the name of a registered VFS: one that loses power */
	const char *boot; /* names this start of the machine */
} rt_store_sqlite_options;

/* Locks must work where the file lies: not on NFS, SMB or 9p, and not on a folder that two
 * machines share (a bind mount of one machine is fine). At rest a store is the one file; the
 * last one to close writes the -wal back and removes it. A -wal that is there belongs to it.
 *
 * After a fork the child must open the store anew: the parent's handle refuses (RT_REFUSED).
 *
 * RT_NOT_FOUND: no such file and create is off. RT_NOT_OURS: another kind of file, its
 * bytes untouched. RT_TOO_NEW: written by a newer Retake: opened only with read_only, the
 * message names the versions. RT_CORRUPT: damaged; an empty or truncated file that once was
 * a store is damaged, not new. RT_IO: cannot be read (permissions, disk): never taken for
 * empty. An SQLite library older than 3.51.3 is refused (it can damage a store that two
 * processes write to). */
RT_CHECKED rt_status rt_store_sqlite_open(const rt_alloc *alloc, const rt_env *env,
					  const char *path, const rt_store_sqlite_options *options,
					  rt_store **out_store, rt_error *err);

/* The path with all symbolic links followed, also where there is no file yet. */
RT_CHECKED rt_status rt_store_sqlite_real_path(const char *path, rt_buf *out, rt_error *err);

/* Whatever is at path gets the name aside, with what lies beside it, and the file copy takes
 * its place; then the folder is synced. All three are in one folder, path is a real path,
 * nobody has copy open and it has no log. When there is nothing at path, copy just gets that
 * name. Nobody can open the store meanwhile.
 *
 * RT_BUSY: somebody has it open, writing or not. RT_REFUSED: aside is there already. After a
 * failure everything has its old name again unless *out_changed says otherwise. */
RT_CHECKED rt_status rt_store_sqlite_exchange(const rt_alloc *alloc, const rt_env *env,
					      const char *path, const char *copy, const char *aside,
					      bool *out_changed, rt_error *err);

/* Remove the store at path, with what lies beside it, if it has no row in any log and no text.
 * *out_removed false: it has, or somebody else has it open or is replacing it. The caller has
 * closed it. */
RT_CHECKED rt_status rt_store_sqlite_remove_empty(const rt_alloc *alloc, const rt_env *env,
						  const char *path, bool *out_removed,
						  rt_error *err);

/* What was found in a damaged file. */
typedef struct rt_store_salvaged {
	uint64_t rows, bodies;   /* of all projects */
	uint64_t projects_named; /* whose names were lost */
} rt_store_salvaged;

/* Is a file that open refuses as RT_NOT_OURS a store after all, whose first page is damaged?
 * *out_ours: a page of it, in its place, lists a row of a store that is whole. The caller has no
 * store open at path. */
RT_CHECKED rt_status rt_store_sqlite_recognise(const rt_alloc *alloc, const char *path,
					       bool *out_ours, rt_error *err);

/* Copy every row of the file at path that is whole, wherever it lies, into a new store at
 * `to`, which may then lack rows that others need: for rt_engine_salvage. The file at path,
 * damaged in whatever way, is only read. Memory: the size of the file. */
RT_CHECKED rt_status rt_store_sqlite_salvage(const rt_alloc *alloc, const rt_env *env,
					     const char *path, const char *to,
					     rt_store_salvaged *out, rt_error *err);

#endif
