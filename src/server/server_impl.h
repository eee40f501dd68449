/* SPDX-License-Identifier: MIT
 *
 * The server: server_admit.c decides what a request may access, server.c answers it.
 *
 * Threads: any, several at once, unless stated otherwise. */
#ifndef RT_SERVER_IMPL_H
#define RT_SERVER_IMPL_H

#include "server/server.h"

#include <stdatomic.h>

#include "accounts/audit.h"
#include "server/access_log_host.h"
#include "server/guard.h"
#include "server/metrics.h"
#include "server/quota.h"
#include "server/route.h"
#include "server/web.h"

struct rt_server {
	rt_server_options options;
	const rt_alloc *alloc;
	rt_project_pool *pool;
	rt_open_project *home; /* the project of requests without one */
	rt_browsers *browsers;
	rt_directory *directory; /* the accounts; NULL: none */
	rt_sign_in *sign_in;     /* with accounts */
	rt_account_notes *notes; /* with accounts */
	rt_quota_meter *meter;   /* with accounts */
	rt_guard guard;
	char token[RT_TOKEN_ROOM];
	unsigned cookie_port; /* in the name of the cookie */
	char cookie[32];      /* its name */
	char place[RT_GUARD_HOST_ROOM]; /* its address for links */
	rt_metrics *metrics;
	rt_access_log *log; /* or NULL */
	atomic_bool is_draining;
	_Atomic(int64_t) probed_us;  /* since when a thread asks the store for GET /readyz; 0: none */
	atomic_bool is_store_lost;   /* the last answer */
	uint64_t seen_roster; /* version that streams were told of */
	rt_front *front;
};

/* The results of rt_server_admit, for the answer. */
typedef struct rt_admitted {
	const rt_route *route; /* NULL: the page */
	rt_str params[RT_ROUTE_PARAMS]; /* encoded */
	rt_principal principal;
	char hash[RT_BROWSER_ROOM], project[RT_BROWSER_PROJECT_ROOM];
	char id[RT_REQUEST_ID_ROOM], trace[RT_TRACE_ID_ROOM];
	bool is_shared; /* of a page that a share link has opened */
	bool is_sign_in; /* one of the pages of sign_in.h */
	bool is_probe; /* GET /healthz, GET /readyz */
	int64_t unknown_us; /* when it came with a cookie that this server does not know; 0: not so */
} rt_admitted;

/* The admission of rt_web_site. False: *answer refuses the request. */
bool rt_server_admit(void *ctx, rt_web_request *request, rt_web_plan *plan, rt_web_answer *answer);
/* For a request with a cookie that was unknown at its admission: the principal, after another look at the
 * store; then the rest of the admission. */
void rt_server_identify(rt_server *server, const rt_web_request *request, rt_admitted *in);
bool rt_server_admit_known(rt_server *server, const rt_web_request *request, rt_admitted *in, rt_web_plan *plan,
			   rt_web_answer *answer);
/* The name of the project that a request is for; empty: the server's own. Borrowed from both. */
rt_str rt_server_project_of(const rt_web_request *request, const rt_principal *principal);
int64_t rt_server_now_us(const rt_server *server);
/* For the audit log: a request, or a sign-in, of an unknown account. */
void rt_server_note_unknown(rt_server *server, const rt_web_request *request, const char *what);

#endif
