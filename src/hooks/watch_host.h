/* SPDX-License-Identifier: MIT
 *
 * Watch: has any of these files or folders changed since it was looked at?
 *
 * The cheap question before every operation, so it is one stat() a path. A change of the names in
 * a folder, of a file's bytes, mode or owner changes its ctime, which nobody can set. Clocks of
 * file systems are coarse: what changed shortly before it was looked at may change once more
 * without showing, so a watch with such a path says "changed" until the time has passed.
 *
 * Threads: immutable once filled. */
#ifndef RT_HOOKS_WATCH_HOST_H
#define RT_HOOKS_WATCH_HOST_H

#include "base/text.h"

typedef struct rt_hook_watched rt_hook_watched;

typedef struct rt_hook_watch {
	const rt_alloc *alloc;
	rt_hook_watched *items;
	size_t count, room;
	bool is_fresh; /* something changed too shortly before it was looked at */
} rt_hook_watch;

void rt_hook_watch_init(rt_hook_watch *watch, const rt_alloc *alloc);
void rt_hook_watch_deinit(rt_hook_watch *watch);
/* Look at a path, which need not be there. Before it is read, so that no change is missed in
 * between. RT_NOMEM. */
RT_CHECKED rt_status rt_hook_watch_add(rt_hook_watch *watch, const char *path);
/* Is anything seen to be different? */
bool rt_hook_watch_differs(const rt_hook_watch *watch);
/* The same, or may it be without being seen? */
bool rt_hook_watch_changed(const rt_hook_watch *watch);

#endif
