/* SPDX-License-Identifier: MIT
 *
 * Apply: changes to a project, as operations of docs/contract.md. */
#ifndef RETAKE_APPLY_H
#define RETAKE_APPLY_H

#include "retake/project.h"

RETAKE_BEGIN

typedef struct retake_apply_options {
	size_t size;            /* sizeof(retake_apply_options) */
	int atomic;             /* apply all requests as one step, or none */
	const char *discussion; /* default for requests that name none: name or id ("d3"); NULL: */
	const char *take;       /* the active one; likewise ("t2") */
} retake_apply_options;

#define RETAKE_APPLY_OPTIONS_INIT {sizeof(retake_apply_options), 0, NULL, NULL}

/* Apply one request, {"op":"entry.append","content":"Hi."}, or an array of them in order. Unless
 * atomic is set, each is a separate step, and a failed one does not affect the others.
 *
 * out_results receives a JSON array with one result per request, {"seq":1,"entry":"w3y3"} or
 * {"error":{"code":"not_found","message":"…"}}. It is set even if requests failed, and unchanged
 * if none was attempted.
 *
 * Returns RETAKE_OK if all were applied, otherwise the status of the first failure, with its
 * message in error. Changes are durable on return (relaxed: handed to the operating system).
 * RETAKE_USAGE with has_at: json is malformed, and nothing was attempted. RETAKE_NOMEM with
 * out_results unchanged: no memory for the results; retake_project_seq tells whether anything
 * was applied.
 *
 * Threads: concurrent calls share one commit; each gets its own results.
 * Cost: for most operations independent of the length of the conversation. */
RETAKE_CHECKED RETAKE_API retake_status retake_apply(retake_project *project, const char *json,
						     size_t size,
						     const retake_apply_options *options,
						     retake_text *out_results,
						     retake_error *error);

RETAKE_END

#endif
