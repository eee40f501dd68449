/* SPDX-License-Identifier: MIT
 *
 * Routes: the one table of what can be asked over HTTP, and what it is a part of. Whoever
 * dispatches or documents routes is given a table; only the program and the server name this one.
 *
 * Threads: immutable. */
#ifndef RT_SERVER_ROUTES_H
#define RT_SERVER_ROUTES_H

#include "server/route.h"

/* Under RT_API_ROOT; ended by a NULL path. */
extern const rt_route rt_routes[];
extern const size_t rt_route_count;
/* Of the Hook API (hook_api.c), with complete paths; the same. */
extern const rt_route rt_hook_routes[];
/* Both tables; ended by NULL. */
extern const rt_route *const rt_all_routes[];

#endif
