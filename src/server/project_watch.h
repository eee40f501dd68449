/* SPDX-License-Identifier: MIT
 *
 * Project watch: changes of other programs in all open projects, with one statement where the store has
 * one (rt_store_ops.watch). Without it each feed asks for its own project.
 *
 * Threads: that of the tick. */
#ifndef RT_SERVER_PROJECT_WATCH_H
#define RT_SERVER_PROJECT_WATCH_H

#include "server/project_pool.h"

enum {
	RT_WATCH_SIDE_MS = 15000, /* between two looks for replies and runs in projects without streams */
	RT_WATCH_SHARE = 4        /* asking takes at most this fraction (1/n) of the time */
};

typedef struct rt_project_watch {
	int64_t next_us;             /* not asked before */
	int64_t took_us;             /* the last one */
	int64_t replies_us, side_us; /* when replies, and all side rows, were last asked for */
} rt_project_watch;

/* Sets news and has_side of all open projects. False: each has to ask for itself. */
bool rt_project_watch_look(rt_project_watch *watch, rt_project_pool *pool, int64_t now_us);

#endif
