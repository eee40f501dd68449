/* SPDX-License-Identifier: MIT
 *
 * Hook API: the routes of programs written for Manual Slop (docs/hook-api.md), next to /retake/v1
 * and with the same access control: the entries of the active take as one list to read and
 * replace, fields to read and set, callbacks by name. Each change is one step, and the answer says
 * how to undo it.
 *
 * Threads: any. */
#ifndef RT_SERVER_HOOK_API_H
#define RT_SERVER_HOOK_API_H

#include "server/route.h"

/* Rows as in rt_routes, with complete paths; ends with a NULL path. */
extern const rt_route rt_hook_routes[];

#endif
