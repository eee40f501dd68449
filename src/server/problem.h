/* SPDX-License-Identifier: MIT
 *
 * Problem: how the server says no (RFC 9457, application/problem+json).
 *
 *   {"type":"urn:retake:problem:stale","title":"The discussion changed since you read it",
 *    "status":412,"code":"conflict","detail":"…","hint":"…"}
 *
 * code is the word that the command line has for the same failure.
 *
 * Threads: any. */
#ifndef RT_SERVER_PROBLEM_H
#define RT_SERVER_PROBLEM_H

#include "server/web.h"

/* The HTTP status for one of ours: usage 400, not_found 404, ambiguous and refused 409,
 * conflict 412, denied 422, busy 503 … */
unsigned rt_problem_http_status(rt_status status);

/* Fill in the answer. hint (or NULL): what to do next. extra: further members, each with a comma
 * in front (`,"since":[42]`); or empty. */
void rt_problem_answer(rt_web_answer *answer, const rt_error *err, const char *hint,
		       rt_str extra);
/* The same for what is HTTP's and not the engine's: kind is the end of the type ("forbidden-host");
 * title, detail: sentences. */
void rt_problem_http(rt_web_answer *answer, unsigned status, const char *kind, const char *title,
		     const char *detail);
/* The object alone, of one failure, appended: for results of a batch. */
void rt_problem_add(rt_buf *buf, unsigned status, const rt_error *err, const char *hint,
		    rt_str extra);

#endif
