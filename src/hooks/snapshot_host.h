/* SPDX-License-Identifier: MIT
 *
 * Snapshot: the metadata of files and folders, to find out later whether they have changed.
 *
 * Cheap enough to check before every operation: one stat() per path. Any change to the names in a
 * folder, or to the bytes, mode or owner of a file, sets its ctime, which programs cannot forge.
 * File system clocks are coarse: a file that changed shortly before its snapshot may change again
 * without a visible difference, so such a snapshot counts as changed.
 *
 * Threads: immutable once filled. */
#ifndef RT_HOOKS_SNAPSHOT_HOST_H
#define RT_HOOKS_SNAPSHOT_HOST_H

#include "base/scope.h"

typedef struct rt_hook_snapshot_item rt_hook_snapshot_item;

typedef struct rt_hook_snapshot {
	rt_hook_snapshot_item *items; /* in the scope's memory, newest first */
	bool is_racy;                 /* an item changed too shortly before it was added */
} rt_hook_snapshot;

/* Add a path, which need not exist. Call it before reading the file, so that no change is missed
 * in between. */
void rt_hook_snapshot_add(rt_hook_snapshot *snapshot, rt_scope *scope, const char *path);
/* True if a difference is visible. */
bool rt_hook_snapshot_differs(const rt_hook_snapshot *snapshot);
/* True if something has changed, or may have. */
bool rt_hook_snapshot_is_stale(const rt_hook_snapshot *snapshot);

#endif
