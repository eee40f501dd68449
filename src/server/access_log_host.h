/* SPDX-License-Identifier: MIT
 *
 * Access log: one line of JSON for each request, and the identification of requests.
 *
 *   {"time":"2026-11-28T10:00:00.123456Z","level":"info","request":"k3f9…","trace":"4bf9…",
 *    "method":"PATCH","route":"entry.edit","status":200,"ms":1.234,"bytes":120,"by":"token",
 *    "project":"work"}
 *
 * level is "error" for a status of 500 and above, "warn" from 400, else "info". Texts, queries and
 * the names in paths are never logged; a request without a route has its path instead.
 *
 * Threads: any. */
#ifndef RT_SERVER_ACCESS_LOG_HOST_H
#define RT_SERVER_ACCESS_LOG_HOST_H

#include "base/env.h"
#include "server/web.h"

enum { RT_REQUEST_ID_ROOM = 65, RT_TRACE_ID_ROOM = 33 };

/* The id of the request: its header X-Request-Id, if it has 1 to 64 letters, digits, "-", "_" or
 * "."; else a random one. */
void rt_request_id(const rt_env *env, const rt_web_request *request, char out[RT_REQUEST_ID_ROOM]);
/* The trace that the request belongs to, by its header traceparent (W3C Trace Context, level 1);
 * empty: none, or it is not valid. */
void rt_trace_id(const rt_web_request *request, char out[RT_TRACE_ID_ROOM]);

typedef struct rt_access_log rt_access_log;

typedef struct rt_access {
	const char *request, *trace; /* ids; empty: none */
	rt_str method, path;
	const char *route; /* NULL: none */
	unsigned status;
	int64_t us;
	size_t bytes;
	const char *by;  /* "token", "socket", "browser", "none" */
	rt_str project;  /* empty: none, or the default one */
} rt_access;

/* Appends to the file at path, which is created with mode 0600; "-": standard error. RT_IO. */
RT_CHECKED rt_status rt_access_log_open(const rt_alloc *alloc, const rt_env *env, const char *path,
					rt_access_log **out, rt_error *err);
void rt_access_log_close(rt_access_log *log);
/* Writes a line with one system call, so lines of several processes do not mix. A failure is
 * ignored. */
void rt_access_log_add(rt_access_log *log, const rt_access *access);
/* Opens the file again if it was renamed or removed, as log rotation does. Called now and then. */
void rt_access_log_reopen(rt_access_log *log);

#endif
