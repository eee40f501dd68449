/* SPDX-License-Identifier: MIT
 *
 * Stats by project: each project of a store is opened for reading, one after the other.
 *
 * Threads: call from any thread that may use the store. */
#ifndef RT_APP_STATS_H
#define RT_APP_STATS_H

#include "view/stats.h"

/* In the order of the store. Memory: one open project at a time. */
rt_stats rt_stats_of_projects(rt_scope *s, rt_store *store, const rt_env *env,
			      const rt_stats_options *options);

#endif
