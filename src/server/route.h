/* SPDX-License-Identifier: MIT
 *
 * Route: one kind of request: method, path, parameters, handler. The rows are in routes.c;
 * dispatch, the documents (/retake/v1/openapi.json, docs/api.md) and the tests of access are made
 * from them. Every operation has the path of its row in core/op.def, and POST /retake/v1/ops/{op}.
 * The body of a row that names an operation has the fields that its path does not have.
 *
 * Threads: immutable. */
#ifndef RT_SERVER_ROUTE_H
#define RT_SERVER_ROUTE_H

#include "core/op.h"
#include "server/browser.h"
#include "server/front.h"
#include "server/project_pool.h"
#include "server/web.h"

#define RT_API_ROOT "/retake/v1"

enum {
	RT_ROUTE_QUICK = 1 << 0,   /* never waits: answered on the loop's own thread */
	RT_ROUTE_OWNER = 1 << 1,   /* not for browsers */
	RT_ROUTE_CHANGES = 1 << 2, /* changes something: If-Match and Idempotency-Key count */
	RT_ROUTE_LARGE = 1 << 3,   /* a body of up to RT_BODY_LARGE, RT_BODY_BROWSER, of any type */
	RT_ROUTE_STREAM = 1 << 4,  /* answers with events */
	RT_ROUTE_NO_PROJECT = 1 << 5, /* does not concern a project */
	RT_ROUTE_ROOT = 1 << 6,       /* path is the whole of it, not under RT_API_ROOT */
	RT_ROUTE_FILE = 1 << 7,       /* the body is a file, never in memory as a whole */
	RT_ROUTE_STORE = 1 << 8,      /* not for browsers that may open only one project */
	RT_ROUTE_ONE_DISCUSSION = 1 << 9, /* answers about the discussion of its path only, so also to
					   * share links of a discussion */
	RT_ROUTE_OF_LINK = 1 << 10, /* with the share link of a discussion: answers about that one only */
	RT_ROUTE_PARAMS = 4,
	RT_BODY_MAX = 8 << 20,
	RT_BODY_LARGE = 1 << 30,
	RT_BODY_UNKNOWN = 64 << 10, /* with a cookie that is not known yet */
	RT_BODY_BROWSER = 64 << 20, /* the same for a browser with its own project */
	RT_IMPORT_BROWSER_DISCUSSIONS = 100000, /* in what such a browser imports */
	RT_IMPORT_BROWSER_ENTRIES = 1000000
};

typedef struct rt_route_param {
	const char *name;  /* NULL ends the list */
	const char *type;  /* "string", "integer", "boolean" */
	const char *about;
} rt_route_param;

struct rt_route;

/* A request in progress (call.h). */
typedef struct rt_call {
	rt_scope scope; /* of the work between rt_api_answer's call and return */
	const struct rt_route *route;
	const rt_web_request *request;
	rt_web_answer *answer;
	rt_principal principal;
	rt_str params[RT_ROUTE_PARAMS]; /* of the path, in its order, decoded */
	rt_project_pool *pool;
	rt_open_project *open_project;  /* the project; NULL with RT_ROUTE_NO_PROJECT */
	const struct rt_route *routes; /* that are documented */
	rt_directory *directory; /* the accounts; NULL: the server has none */
	struct rt_account_notes *account_notes; /* or NULL */
	struct rt_quota_meter *meter; /* of quotas (quota.h); or NULL */
	const rt_roster *roster; /* of this request */
	bool is_authorized;      /* access.h has found nothing against it */
	const char *audit;       /* what it does, for the audit log; NULL: nothing of interest */
	uint64_t discussion;     /* the only one that it may read: number; 0: all */
	rt_browsers *browsers;
	rt_front *front;
	struct rt_metrics *metrics; /* or NULL */
	const char *cookie; /* the name of browsers' cookies */
	const char *place;  /* the server's address for links: "127.0.0.1:8999" */
	bool needs_match;   /* a change without If-Match is refused: 428 */
	rt_buf *notes;      /* of hooks */
	const char *hint;   /* of a failure: the next step; or NULL */
	rt_str extra;       /* further members of its problem document: "key":value,… */
	bool is_answered;   /* the answer is complete; later writes are dropped */
	rt_web_answer complete;
} rt_call;

typedef void (*rt_route_fn)(rt_call *call);

typedef struct rt_route {
	rt_web_method method;
	rt_right right;     /* that it needs; of a route with an operation: at least this */
	const char *path;   /* under RT_API_ROOT; whole with RT_ROUTE_ROOT: the Hook API's */
	const char *name;   /* operationId: "entry.edit" */
	const char *about;  /* one line */
	rt_route_fn fn;
	int op;             /* rt_op_id of its operation (rt_api_op); -1: none */
	unsigned flags;
	const char *answer; /* name of the response's shape, see openapi.c; NULL: a result */
	const rt_route_param *query; /* or NULL */
	const rt_route_param *body;  /* fields of the body that do not belong to an operation; or
				      * NULL */
} rt_route;

typedef enum rt_route_found {
	RT_ROUTE_FOUND,
	RT_ROUTE_UNKNOWN,      /* 404 */
	RT_ROUTE_OTHER_METHOD, /* 405; *out_allow lists the existing ones, "GET, POST" */
	RT_ROUTE_BAD           /* 400: an invalid escape */
} rt_route_found;

/* The name of a parameter of a path pattern, from 0; empty: there are no more. */
rt_str rt_route_param_name(const char *path, size_t at);

/* Adds text as one segment of a path, or a value of a query. */
void rt_route_encode(rt_buf *buf, rt_str text);

/* "GET" */
const char *rt_route_method(rt_web_method method);

/* The first match in tables (ended by NULL). params are views of the path, still encoded. allow has
 * capacity for 64 bytes. */
rt_route_found rt_route_find(const rt_route *const *tables, rt_web_method method, rt_str path,
			     const rt_route **out, rt_str params[RT_ROUTE_PARAMS], char allow[64]);

/* ---- the tables (routes.c, hook_api.c) ---- */

/* Under RT_API_ROOT; ended by a NULL path. */
extern const rt_route rt_routes[];
extern const size_t rt_route_count;
/* The members of the body of run.start (run_json.c). */
extern const rt_route_param rt_run_members[];
/* The same for the Hook API (hook_api.c), with complete paths. */
extern const rt_route rt_hook_routes[];
/* The fields of GET /api/state as a JSON schema with that key. */
void rt_hook_api_schema(rt_buf *buf, const char *key);
/* Both tables; ended by NULL. */
extern const rt_route *const rt_all_routes[];

#endif
