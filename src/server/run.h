/* SPDX-License-Identifier: MIT
 *
 * Run: a model at work for a client: a question and its reply, another reply, a summary. It
 * goes on when the client that asked for it is gone; what arrives is a text that grows, which
 * any number of streams read, each at its own place.
 *
 *   {"run":"r3","state":"running","how":"ask","discussion":"d1","take":"t1","model":…,
 *    "question":"k3f9","text":"…so far…","thinking":"…"}
 *   then "state" is "done", "stopped" or "failed", with "entry", "seq", "usage", "stop",
 *   "partial", "problem"
 *
 * A run that has ended is remembered for an hour, and then its entry is all there is.
 *
 * Threads: locks itself; each run has a thread of its own. */
#ifndef RT_SERVER_RUN_H
#define RT_SERVER_RUN_H

#include "codec/json.h"
#include "engine/send.h"
#include "server/web.h"

typedef struct rt_runs rt_runs;
struct rt_served;

enum { RT_RUNS_MAX = 64 /* of one project, at a time */ };

RT_CHECKED rt_status rt_runs_new(struct rt_served *served, rt_runs **out, rt_error *err);
/* Stops them all and waits; what had arrived is kept as a partial reply. */
void rt_runs_free(rt_runs *runs);

typedef struct rt_run_request {
	const char *how;         /* "ask", "again", "continue", "compact", "compress", "go" */
	rt_str discussion, take; /* addresses; empty: the active ones */
	yyjson_val *fields;      /* the body: text, content, role, at, model, budget,
	                          * instructions …, see docs/api.md; or NULL */
	rt_str by;
} rt_run_request;

/* Start one. name: of the run, NUL-terminated. What can be said at once is refused at once:
 * RT_NOT_FOUND, RT_USAGE, RT_CREDENTIALS (no model), RT_LIMIT (too many), RT_BUSY. */
RT_CHECKED rt_status rt_runs_start(rt_runs *runs, const rt_run_request *request,
				   char out_name[24], rt_error *err);
/* RT_NOT_FOUND: there never was one, or it is forgotten. */
RT_CHECKED rt_status rt_runs_stop(rt_runs *runs, rt_str name, rt_error *err);
/* The object above, appended. */
RT_CHECKED rt_status rt_runs_show(rt_runs *runs, rt_str name, rt_buf *out, rt_error *err);
/* An array of them, newest first, without texts. */
RT_CHECKED rt_status rt_runs_list(rt_runs *runs, rt_buf *out, rt_error *err);

/* ---- for streams (feed.c) ---- */

/* Where a stream is in the runs. Zero: has seen none of them. */
typedef struct rt_run_place {
	uint64_t run;    /* number of the run it is at */
	size_t offset;   /* in what has arrived of it */
	bool is_begun;   /* "run.started" or "run.snapshot" was sent */
	bool is_ended;
} rt_run_place;

enum { RT_RUN_PLACES = RT_RUNS_MAX };

typedef struct rt_run_places {
	rt_run_place at[RT_RUN_PLACES];
	size_t count;
	uint64_t seen; /* runs up to this number are in at, or have ended */
	bool is_new;   /* nothing was read yet: runs in flight come as snapshots */
} rt_run_places;

/* Append events that this stream has not had, whole ones, until out has about room bytes.
 * false: there is nothing (more). */
bool rt_runs_events(rt_runs *runs, rt_run_places *places, size_t room, rt_buf *out);

#endif
