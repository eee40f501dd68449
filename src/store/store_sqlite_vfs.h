/* SPDX-License-Identifier: MIT
 *
 * A layer over SQLite's VFS that hands the pieces of a commit to the disk in one write.
 *
 * SQLite writes every page of a commit to its write-ahead log with two system calls, the
 * 24-byte frame header and the page. Most of our commits are two pages, so four calls,
 * and half the time of a commit that is not synced. Here they become one.
 *
 * What must stay true: when the call that writes a commit's last frame returns, everything
 * before it has been written, so that a killed process loses nothing that was
 * acknowledged, and a failed write is reported before the commit is. See the rules in the
 * .c file. Only the -wal file is touched; every other file is the VFS's own. */
#ifndef RT_STORE_SQLITE_VFS_H
#define RT_STORE_SQLITE_VFS_H

#include <sqlite3.h>

#include "base/alloc.h"
#include "base/status.h"

typedef struct rt_sqlite_vfs rt_sqlite_vfs;

/* Register a layer over the VFS called under (NULL: the system's). It has a name of its
 * own; free it after the last connection that uses it.
 *
 * early      ask the system to start writing the log back while we go on, so that a later
 *            sync finds less to do; for the system's VFS only */
RT_CHECKED rt_status rt_sqlite_vfs_new(const rt_alloc *alloc, const char *under, int early,
				       rt_sqlite_vfs **out, rt_error *err);
void rt_sqlite_vfs_free(rt_sqlite_vfs *vfs);
const char *rt_sqlite_vfs_name(const rt_sqlite_vfs *vfs);

#endif
