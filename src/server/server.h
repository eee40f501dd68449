/* SPDX-License-Identifier: MIT
 *
 * Server: the store's projects over HTTP.
 *
 *   front.h           sockets, limits, time     guard.h   which requests are accepted
 *   token_host.h, browser.h   credentials       route.h   the table of routes
 *   project_pool.h    projects                  call.h, api_*.c   handlers
 *   feed.h            events                    run_json.h   runs of models (app/run.h)
 *   hook_api.c        the Hook API              page.h    pages for browsers
 *
 * A request: front → admit (guard, route, principal) → [body] → handle → an rt_call → the route's
 * function → an answer → front.
 *
 * Threads: open and close from one; the rest is its own. */
#ifndef RT_SERVER_SERVER_H
#define RT_SERVER_SERVER_H

#include "server/browser.h"
#include "server/front.h"
#include "server/project_pool.h"
#include "server/sign_in.h"

typedef struct rt_server rt_server;

typedef struct rt_server_options {
	rt_project_pool_options pool;
	rt_front_options front; /* its site is the server's */
	const char *state_folder;
	bool new_token;
	const char *token_file; /* instead of the one in state_folder; or NULL */
	bool isolate;           /* each browser has a separate project, and no other */
	bool require_match;     /* changes need If-Match: 428 without */
	const char *hosts;      /* further names that it answers to, separated by commas; or NULL */
	bool usual_socket;      /* front.socket is the default of `serve --login` */
	bool accounts;          /* users with rights; not with isolate */
	rt_sign_in_options sign_in; /* with accounts */
	const char *access_log; /* path of the access log, "-": standard error; NULL: none */
} rt_server_options;

/* RT_BUSY: the port is in use. When it has returned, clients can connect. */
RT_CHECKED rt_status rt_server_open(const rt_server_options *options, rt_server **out,
				    rt_error *err);
/* Ends replies in flight (received text is kept) and streams; waits for the rest. */
void rt_server_close(rt_server *server);

unsigned rt_server_port(const rt_server *server);
/* "127.0.0.1:8999": its address for links; that of the loopback if it listens on all addresses.
 * Lives as long as the server. */
const char *rt_server_place(const rt_server *server);
/* "retake serve --login" with the flags that reach this server. It names no store, since every
 * client that can connect can read it. */
void rt_server_add_login(const rt_server *server, rt_buf *out);
/* As rt_browsers_code. */
RT_CHECKED rt_status rt_server_code(rt_server *server, rt_str project, char out[RT_CODE_ROOM],
				    bool *out_replaced, rt_error *err);
/* From here on GET /readyz answers 503, so that a load balancer sends requests elsewhere; everything
 * else works as before. */
void rt_server_drain(rt_server *server);
/* No reply is in flight. */
bool rt_server_is_idle(rt_server *server);
/* Every RT_FEED_TICK_MS. */
void rt_server_tick(rt_server *server);

#endif
