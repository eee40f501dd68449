/* SPDX-License-Identifier: MIT
 *
 * Project watch: changes of other programs in all open projects, with one statement where the store has
 * one (rt_store_ops.watch). Without it each feed asks for its own project. Also projects that were deleted.
 *
 * Threads: that of the tick. */
#ifndef RT_SERVER_PROJECT_WATCH_H
#define RT_SERVER_PROJECT_WATCH_H

#include "server/project_pool.h"

enum {
	RT_WATCH_SIDE_MS = 15000, /* between two queries for replies and runs in projects without streams */
	RT_WATCH_SHARE = 4        /* the queries take at most this fraction (1/n) of the time */
};

typedef struct rt_project_watch {
	int64_t next_us;             /* no query before this time */
	int64_t took_us;             /* duration of the last one */
	int64_t replies_us, side_us; /* time of the last query for replies, and for all side rows */
	int64_t deleted_us;          /* time of the last rt_project_watch_deleted */
	uint64_t epoch;              /* the store's epoch at that time */
} rt_project_watch;

/* Empties projects that another program has deleted, even if no request accesses them any more. At most
 * every RT_WATCH_SIDE_MS, and only after a change of the epoch, the list of projects is read. */
void rt_project_watch_deleted(rt_project_watch *watch, rt_project_pool *pool, int64_t now_us);

/* Sets news and has_side of all open projects; after a failure they keep their values. At most one
 * statement per 1,000 projects for the logs, and one for each prefix of side rows that is due. False:
 * the store has no watch, so each feed has to refresh its own project. */
bool rt_project_watch_look(rt_project_watch *watch, rt_project_pool *pool, int64_t now_us);

#endif
