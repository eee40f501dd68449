/* SPDX-License-Identifier: MIT
 *
 * Hook API: the routes that programs for Manual Slop know (docs/hook-api.md), beside
 * /retake/v1 and with the same access: the entries of the active take as one list that can
 * be read and replaced, fields that can be read and set, callbacks by name. Each change is
 * one step, and says how to take it back.
 *
 * Threads: any. */
#ifndef RT_SERVER_HOOK_API_H
#define RT_SERVER_HOOK_API_H

#include "server/route.h"

/* Rows as rt_routes has them, with whole paths; ended by a NULL path. */
extern const rt_route rt_hook_routes[];

void rt_hook_api_session(rt_call *call);     /* GET /api/session */
void rt_hook_api_session_set(rt_call *call); /* POST */
void rt_hook_api_states(rt_call *call);      /* GET /api/state */
void rt_hook_api_state(rt_call *call);       /* GET /api/state/{field} */
void rt_hook_api_state_set(rt_call *call);   /* PUT and POST */
void rt_hook_api_callbacks(rt_call *call);   /* GET /api/callbacks */
void rt_hook_api_callback(rt_call *call);    /* POST /api/callbacks/{name} */
void rt_hook_api_reset(rt_call *call);       /* POST /api/reset */
void rt_hook_api_history(rt_call *call);     /* GET /api/history */
void rt_hook_api_status(rt_call *call);      /* GET /status */

#endif
