/* SPDX-License-Identifier: MIT
 *
 * Problem: failures as answers (RFC 9457, application/problem+json).
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

/* Replaces the answer by a failure of the engine; the HTTP status follows from err->status. hint
 * (or NULL): what to do about it. extra: further members ("index":3), or empty. */
void rt_problem_answer(rt_web_answer *answer, const rt_error *err, const char *hint,
		       rt_str extra);
/* The same for a failure of HTTP's own: kind is the end of the type ("forbidden-host"); title,
 * detail (or NULL): sentences. */
void rt_problem_http(rt_web_answer *answer, unsigned status, const char *kind, const char *title,
		     const char *detail);

#endif
