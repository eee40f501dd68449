/* SPDX-License-Identifier: MIT
 *
 * Call: one request to the API while it is answered.
 *
 * A call has a scope: its memory, its resources and its first failure. Handlers write the body
 * (JSON) to call->answer->body; the functions below return values and do nothing after a failure.
 * When the handler returns, rt_call_answer makes the answer: the body, or the failure as a problem
 * document.
 *
 * Preconditions. If-Match names the state that the client has read: an entry's tag, its
 * discussion's, or the project's (app/condition.h). It is checked in the transaction of the change;
 * if it fails, the answer is 412 and nothing is done. Idempotency-Key: the response is stored in
 * the transaction of the change and kept for a day; the same request with the same key gets that
 * response and is done once, even after a crash; another request with that key gets 422.
 *
 * Threads: a call belongs to one at a time. */
#ifndef RT_SERVER_CALL_H
#define RT_SERVER_CALL_H

#include "codec/request_json.h"
#include "server/route.h"

struct rt_idempotency;

/* Interval for checking whether other processes have changed a project: the check would be most of
 * the cost of a small read. */
enum { RT_CALL_FRESH_US = 500 };

/* Answers with the route's handler. The call is authorized (access.h). */
void rt_call_answer(rt_call *call);

/* ---- the request ---- */

/* The body, a JSON object. may_be_empty: an empty body counts as {}. */
yyjson_val *rt_call_body(rt_call *call, bool may_be_empty);
/* A parameter of the path by its name in the route ("discussion"); empty: the path has none. */
rt_str rt_call_param(const rt_call *call, const char *name);
/* A parameter of the query; absent: ptr NULL. */
rt_str rt_call_text(rt_call *call, const char *name);
/* The same as a whole number; absent: the value given. */
uint64_t rt_call_number(rt_call *call, const char *name, uint64_t absent);
/* The parameter "limit"; 0, or more than max: max. */
size_t rt_call_limit(rt_call *call, size_t absent, size_t max);
/* The same as a boolean ("1", "true", "0", "false", or the name alone). */
bool rt_call_flag(rt_call *call, const char *name);
/* The author of the change, for the history: rt_principal_actor, or "http:NAME" with Retake-By. */
rt_str rt_call_actor(rt_call *call);
/* RT_USAGE with the message unless list is an array of at most max strings. */
void rt_call_check_texts(rt_call *call, yyjson_val *list, size_t max, const char *message);

/* ---- target ---- */

/* The newest value; lives as long as the call. NULL after a failure. */
const rt_project *rt_call_value(rt_call *call);
/* The same right after row at_op; UINT64_MAX: the newest. */
const rt_project *rt_call_value_at(rt_call *call, uint64_t at_op);
/* Where the request applies: disc (an address; empty: the active one) and the query's "take".
 * Numbers, never 0. */
rt_place rt_call_place(rt_call *call, const rt_project *project, rt_str disc);

/* A value and a place in it: of the path, or the active one; the value of the query's "at_op". */
typedef struct rt_snapshot {
	rt_engine *engine;
	uint64_t epoch; /* from before the value was read */
	const rt_project *project;
	rt_place place;
	const rt_disc *disc;
	const rt_take *take;
	bool is_past;
} rt_snapshot;
rt_snapshot rt_call_snapshot(rt_call *call);
/* The same with another row (UINT64_MAX: none) and discussion (an address; empty: the active
 * one). */
rt_snapshot rt_call_locate(rt_call *call, uint64_t at_op, rt_str disc);
/* Sets the ETag of the answer: the discussion's, the project's. A past value has none. */
void rt_call_tag_disc(rt_call *call, const rt_snapshot *snapshot);
void rt_call_tag_project(rt_call *call, const rt_snapshot *snapshot);

/* ---- the answer ---- */

void rt_call_header(rt_call *call, const char *name, rt_str value);
/* The next step after failures from here on; NULL: none. Static, or as long as the call. */
void rt_call_hint(rt_call *call, const char *hint);
/* An array with one string for each line; truncated if a line is not UTF-8. */
void rt_call_put_lines(rt_buf *buf, const char *key, rt_str lines);
/* Answers with a problem of HTTP (rt_problem_http); nothing more is done then. */
void rt_call_problem(rt_call *call, unsigned status, const char *kind, const char *title,
		     const char *detail);
/* The answer is complete: nothing more is done, and later writes to it are dropped. */
void rt_call_stop(rt_call *call);
/* Discards the answer and the failure, so that the work can be tried again; memory stays. */
void rt_call_clear(rt_call *call);

/* ---- changes ---- */

/* Requests and where they apply. */
typedef struct rt_call_change {
	const rt_request *requests;
	size_t count;
	bool is_atomic;    /* all requests as one step */
	bool is_one;       /* answered as one result, however many requests there are */
	rt_str disc, take; /* where; empty: the active ones */
	bool names_takes;  /* the requests name their takes; take is only for If-Match */
	rt_str entry;      /* that they concern, for If-Match; empty: none */
	rt_str extra;      /* further members of the answer: "key":value,… */
	/* The list from which the requests were made, which must be unchanged; or NULL. */
	const rt_snapshot *list;
	bool is_made; /* 201, and Location if an entry, a take or a discussion was made */
} rt_call_change;

/* Executes the change under the preconditions of the headers, with hooks, and answers: one
 * result as `retake apply` prints it, or for several {"results":[…],"seq":…}; with "op" (how to
 * undo it) and ETag. False: the list was changed in the meantime, which is a failure of the
 * call. */
bool rt_call_apply(rt_call *call, const rt_call_change *change);

/* Answers a request that was done before under its Idempotency-Key. For handlers that must read the
 * value to determine the change. */
void rt_call_replay(rt_call *call);

/* For changes that are not requests (a run, an import): checks the preconditions of the headers.
 * Lives as long as the call. */
struct rt_idempotency *rt_call_begin(rt_call *call, rt_str disc, rt_str take);
/* Right before work that must not begin twice, even while the first is not answered.
 * rt_call_keep has to follow. */
void rt_call_reserve(rt_call *call, struct rt_idempotency *idem);
/* Stores the answer, which is complete. A failure is not stored. */
void rt_call_keep(rt_call *call, struct rt_idempotency *idem);

#endif
