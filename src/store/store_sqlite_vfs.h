/* SPDX-License-Identifier: MIT
 *
 * A layer over SQLite's VFS that writes the pieces of a commit in one call.
 *
 * SQLite writes every page of a commit to its write-ahead log with two system calls, for the
 * 24-byte frame header and the page. Most of our commits are two pages, so four calls, and half
 * the time of a commit that is not synced. The layer merges them into one call.
 *
 * Invariant: when the call that writes a commit's last frame returns, everything before it has
 * been written, so that a killed process loses nothing that was acknowledged, and a failed write
 * is reported before the commit is. Only the -wal file is affected; all other files are the
 * VFS's own. */
#ifndef RT_STORE_SQLITE_VFS_H
#define RT_STORE_SQLITE_VFS_H

#include <sqlite3.h>

#include "base/alloc.h"
#include "base/status.h"

typedef struct rt_sqlite_vfs rt_sqlite_vfs;

/* Registers a layer over the VFS called under (NULL: the system's), under its own name. Free it
 * after the last connection that uses it.
 *
 * early      make the system start writing the log to disk early, so that a later sync has less
 *            to do; for the system's VFS only */
RT_CHECKED rt_status rt_sqlite_vfs_new(const rt_alloc *alloc, const char *under, int early,
				       rt_sqlite_vfs **out, rt_error *err);
void rt_sqlite_vfs_free(rt_sqlite_vfs *vfs);
const char *rt_sqlite_vfs_name(const rt_sqlite_vfs *vfs);

#endif
