/* SPDX-License-Identifier: MIT
 *
 * Call: what handlers of routes share: the body read, parameters taken, changes asked for
 * with their conditions, answers given.
 *
 * A function that gives false has answered already: the handler just returns.
 *
 * Conditions. If-Match names what the client has seen: an entry's tag, or its discussion's,
 * or the project's (etag.h). It is looked at within the transaction that makes the change, so
 * nobody comes in between; when it does not fit, 412 and nothing is done. Idempotency-Key: the
 * answer is kept with the change, in the same transaction, for a day; the same request with
 * the same key is answered with it and done once, also after a crash; another request with
 * that key is refused with 422. */
#ifndef RT_SERVER_CALL_H
#define RT_SERVER_CALL_H

#include "codec/request_json.h"
#include "server/problem.h"
#include "server/route.h"

/* The body as a JSON object; free the document with
 * rt_json_free. An empty body is an empty object where empty_is_fine. */
bool rt_call_body(rt_call *call, bool empty_is_fine, rt_json_doc **out_doc, yyjson_val **out_root);

/* The newest value; yours to rt_object_unref. What this server changed is in it, and what other
 * processes wrote until RT_CALL_FRESH_US ago: to look at the store for each of sixty thousand
 * readers in a second would be most of what they cost. */
enum { RT_CALL_FRESH_US = 500 };
bool rt_call_value(rt_call *call, const rt_project **out);
/* Where the request is about: discussion (an address; empty: the active one) and, from the
 * query's "take", the take. Numbers, never 0. */
bool rt_call_place(rt_call *call, const rt_project *project, rt_str disc, rt_place *out);
/* A whole number of the query; absent gives absent. */
bool rt_call_number(rt_call *call, const char *name, uint64_t absent, uint64_t *out);
/* A boolean of the query ("1", "true", "0", "false", or just its name). */
bool rt_call_flag(rt_call *call, const char *name, bool *out);
/* A text of the query; absent: ptr NULL. */
bool rt_call_text(rt_call *call, const char *name, rt_str *out);
/* A parameter of the path by its name in the route ("discussion"); empty: it has none. */
rt_str rt_call_param(const rt_call *call, const char *name);

/* ---- answers ---- */

/* 200 (or status) with JSON that was put into call->answer->body. Too little memory: 503. */
void rt_call_done(rt_call *call, unsigned status);
void rt_call_fail(rt_call *call, const rt_error *err, const char *hint);
/* Failures in one line; each returns false. */
bool rt_call_failed(rt_call *call, const rt_error *err);
/* RT_USAGE with these words. */
bool rt_call_refuse(rt_call *call, const char *detail);
bool rt_call_nomem(rt_call *call);
/* ETag of the answer. */
void rt_call_etag(rt_call *call, const char *etag);

/* ---- changes ---- */

/* A change: requests and where they apply. */
typedef struct rt_call_change {
	const rt_request *requests;
	size_t count;
	bool is_atomic;    /* all requests as one step */
	bool is_one;       /* answered as one result, however many requests there are */
	rt_str disc, take; /* where; empty: the active ones */
	bool names_takes;  /* the requests name their takes; take is for If-Match alone */
	rt_str entry;      /* that it is about, for If-Match; empty: none */
	rt_str extra;      /* further members of the answer, each with a comma in front */
	/* A further precondition, checked after those of the headers; or NULL. */
	rt_apply_check_fn check;
	void *check_ctx;
	bool is_made; /* 201, and Location where an entry, a take or a discussion was made */
} rt_call_change;
/* Carries out the change under the preconditions of the headers, with hooks, and answers: one
 * result as `retake apply` prints it, or for several {"results":[…],"seq":…}; with "op", how to
 * undo it, and ETags. A failure is answered with a problem. */
void rt_call_change_do(rt_call *call, const rt_call_change *change);

/* Who asks, for the history: as rt_principal_actor, or "http:NAME" with the header Retake-By. */
bool rt_call_by(rt_call *call, rt_str *out);

/* Was this request done before, under its Idempotency-Key? true: answered with what was said
 * then. For handlers that have to look at what there is before they know what to ask for. */
bool rt_call_replayed(rt_call *call);

/* For what is changed by another way than requests (a run, an import): conditions before it
 * (true: go on), and its answer kept after it. idem lives in the call's arena. */
struct rt_idempotency;
bool rt_call_begin(rt_call *call, rt_str disc, rt_str take, struct rt_idempotency **out_idem);
/* Where it must not be begun twice, even if the first is not answered yet: right before it.
 * rt_call_keep has to follow. */
bool rt_call_reserve(rt_call *call, const struct rt_idempotency *idem);
/* call->answer is filled in. A failure is not kept. */
void rt_call_keep(rt_call *call, const struct rt_idempotency *idem);

#endif
