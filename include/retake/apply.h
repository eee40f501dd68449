/* SPDX-License-Identifier: MIT
 *
 * Apply: changing a project, by the operations of docs/contract.md. */
#ifndef RETAKE_APPLY_H
#define RETAKE_APPLY_H

#include "retake/project.h"

RETAKE_BEGIN

typedef struct retake_apply_options {
	size_t size;            /* sizeof(retake_apply_options) */
	int atomic;             /* all requests are one step, or nothing is done */
	const char *discussion; /* where requests that name none work: name or id ("d3"); */
	const char *take;       /* the same ("t2"); NULL: the active one */
} retake_apply_options;

#define RETAKE_APPLY_OPTIONS_INIT {sizeof(retake_apply_options), 0, NULL, NULL}

/* Carries out one request, {"op":"entry.append","content":"Hi."}, or an array of them in
 * their order. Without atomic each is a step of its own, and one that fails does not keep the
 * others from being done.
 *
 * out_results becomes a JSON array with one result for each request, {"seq":1,"entry":"w3y3"}
 * or {"error":{"code":"not_found","message":"…"}}. It is filled in also where requests failed;
 * it stays as it was where none was tried.
 *
 * The status is RETAKE_OK when all were carried out, else that of the first that was not,
 * which error tells of. On return what was done is on the disk (relaxed: handed to the
 * system). RETAKE_USAGE with has_at: json is no JSON, and nothing was tried. RETAKE_NOMEM
 * with out_results as it was: there was no memory for the results; retake_project_seq says
 * whether anything was done.
 *
 * Threads: those that wait share one commit, and each gets its own results.
 * Cost: for most operations the same however long the conversation is. */
RETAKE_CHECKED RETAKE_API retake_status retake_apply(retake_project *project, const char *json,
						     size_t size,
						     const retake_apply_options *options,
						     retake_text *out_results,
						     retake_error *error);

RETAKE_END

#endif
