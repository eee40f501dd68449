/* SPDX-License-Identifier: MIT
 *
 * Run: a model at work for a client: a question and its reply, another reply, a summary. It
 * goes on when the client that asked for it is gone; what arrives is a text that grows, which
 * any number of streams read, each at its own place.
 *
 *   {"run":"r3-9f3a6c","state":"running","how":"ask","discussion":"d1","take":"t1","model":…,
 *    "started":…,"question":"k3f9","text":"…so far…","thinking":"…"}
 *
 *   "take"      what was asked for; when it ends, what the reply is in
 *   "question"  once it is an entry
 *   "at"        the entry that was named: to go on from, or to reply to anew
 *   "notice"    what a person should know meanwhile: "trying again in 2 s …"
 *   "calls"     of tools: [{"block":2,"offset":0,"arguments":"…"}], pieces in their order
 *   "reply":2   of several ("again" with "n") the text is that of this one, counted from 0
 *
 *   then "state" is "done", "stopped" or "failed", with "ended" and, as far as there is one,
 *   "entry", "seq", "stop", "usage", "partial", "left_out", "tokens_estimate", "compaction",
 *   "fate", "note"; a summary: "entry", "seq", "entries", "tokens_before", "tokens_after",
 *   "first_kept", "from_hook"; go: "summary" (its entry), "entry" (where the head is now),
 *   "take", "seq", "unchanged", "editor". "problem" is {"code","detail"}: why it failed, or
 *   why a reply is partial. Several replies: "replies", an array of such outcomes.
 *
 * What may be in the body that starts one:
 *
 *   all        model, budget (tokens)
 *   ask        text, or content (a text or blocks); none of both: what is there is answered;
 *              at (an entry to go on from), role, reply_role
 *   again      at (the reply, or what it answers), n (1 to RT_RUN_REPLIES_MAX)
 *   continue   at
 *   compact    from and to (entries), keep (tokens), instructions
 *   compress   instructions
 *   go         entry (null: before the first), select, summary (true unless it is false),
 *              instructions
 *
 * Events (feed.h), none of which has an id:
 *
 *   run.started    the object above without its texts
 *   run.snapshot   the same with the texts so far, for a stream that came later; of a long
 *                  text it is the beginning, and deltas with the rest follow at once
 *   run.asked      {"run","question"}: the question is an entry, whose row was sent before
 *   run.notice     {"run","text"}
 *   run.delta      {"run","offset","text"}, or "thinking" in the place of text: what comes at
 *                  this place in all text (thinking) of the reply so far, in bytes of UTF-8; or
 *                  "call" with "block": in the arguments of that call. "reply" as above,
 *                  where it is not 0. Blocks of text are parted by a line end
 *   run.ended      the object without its texts; the row of its entry was sent before it
 *
 * A run that has ended is remembered for an hour (and at most RT_RUNS_KEPT of them, but each for
 * RT_RUNS_FRESH_S, so that who waits for its end hears of it), and then its entry is all there is. Who comes back and is not sent a snapshot of a run knows that it
 * has ended.
 *
 * A name is not given again when the server was ended and began anew.
 *
 * Threads: locks itself; each run has a thread of its own. */
#ifndef RT_SERVER_RUN_H
#define RT_SERVER_RUN_H

#include "codec/json.h"
#include "chat/send.h"
#include "llm/comms_host.h"
#include "llm/models_host.h"
#include "server/web.h"

typedef struct rt_runs rt_runs;
struct rt_feed;
struct rt_open_project;

enum {
	RT_RUNS_MAX = 64,  /* of one project, at a time */
	RT_RUNS_KEPT = 256,
	RT_RUNS_KEPT_S = 3600,
	RT_RUNS_FRESH_S = 10, /* however many there are */
	RT_RUN_REPLIES_MAX = 100,
	RT_RUN_PACE_MS = 15 /* between two pieces of a built-in model's reply */
};

/* What runs work with. Everything outlives them. */
typedef struct rt_runs_options {
	rt_engine *engine;
	struct rt_feed *feed;    /* who is told; or NULL */
	const rt_alloc *alloc;   /* locks itself; NULL: the C library's */
	const rt_env *env;
	rt_hooks *hooks;         /* or NULL */
	const rt_config *config; /* or NULL */
	rt_comms *comms;         /* or NULL */
	rt_str owner;            /* this process */
	rt_str store_path;
	rt_str model;            /* that a setting does not name; or empty */
	rt_owner_lives_fn lives; /* or NULL: all do */
	unsigned pace_ms;        /* of built-in models */
} rt_runs_options;

/* With what the pool was given; the feed is told of the runs. */
RT_CHECKED rt_status rt_runs_new(struct rt_open_project *open_project, rt_runs **out,
				 rt_error *err);
RT_CHECKED rt_status rt_runs_new_with(const rt_runs_options *options, rt_runs **out, rt_error *err);
/* Stops them all and waits; what had arrived is kept as a partial reply. Then the feed lets
 * go of them. */
void rt_runs_free(rt_runs *runs);
/* A text was purged from the project: runs that have ended and hold it are forgotten. */
void rt_runs_purge(rt_runs *runs, rt_str text);

typedef struct rt_run_request {
	const char *how;         /* "ask", "again", "continue", "compact", "compress", "go" */
	rt_str discussion, take; /* addresses; empty: the active ones */
	yyjson_val *fields;      /* the body, see above; or NULL */
	rt_str by;
	bool may_name_files;     /* "builtin/play:PATH" opens that file: not for who could not */
} rt_run_request;

/* Start one. name: of the run, NUL-terminated. What can be said at once is refused at once:
 * RT_NOT_FOUND, RT_USAGE, RT_CREDENTIALS (no model), RT_LIMIT (too many), RT_BUSY (the server
 * ends), RT_READ_ONLY, RT_TOO_NEW; RT_REFUSED with a name: that run continues the same reply of
 * the same take. May wait for a command that says a key. */
RT_CHECKED rt_status rt_runs_start(rt_runs *runs, const rt_run_request *request,
				   char out_name[24], rt_error *err);
/* Once more: hooks that are told of what was stopped end, too. RT_NOT_FOUND: there never was
 * one, or it is forgotten. */
RT_CHECKED rt_status rt_runs_stop(rt_runs *runs, rt_str name, rt_error *err);
/* The object above, appended. */
RT_CHECKED rt_status rt_runs_show(rt_runs *runs, rt_str name, rt_buf *out, rt_error *err);
/* An array of them, newest first, without texts. */
RT_CHECKED rt_status rt_runs_list(rt_runs *runs, rt_buf *out, rt_error *err);

/* ---- for streams (feed.c) ---- */

/* Where a stream is in a run. */
typedef struct rt_run_place {
	uint64_t run;    /* its number */
	size_t offset;   /* in what has arrived of it */
	unsigned notice; /* that was told last */
	bool is_begun;   /* "run.started" or "run.snapshot" was sent */
	bool is_asked;   /* the question was told of */
	bool is_late;    /* it was there before the stream */
	bool is_ended;
} rt_run_place;

enum { RT_RUN_PLACES = RT_RUNS_MAX };

/* Where a stream is in the runs. Zero: has seen none of them. */
typedef struct rt_run_places {
	rt_run_place at[RT_RUN_PLACES];
	size_t count;
	uint64_t seen; /* runs up to this number are in at, or have ended */
	bool is_new;   /* nothing was read yet: runs in flight come as snapshots */
	/* Said by the stream before each reading: */
	uint32_t disc; /* only runs in this discussion; 0: all */
	uint64_t epoch, seq; /* rows that it was sent: a run ends behind its row */
} rt_run_places;

/* A stream begins: from now on it is told of all runs, and of those in flight as snapshots.
 * Without it that is so from the first reading on. */
void rt_runs_join(rt_runs *runs, rt_run_places *places);
/* Append events that this stream has not had, whole ones, until out has about room bytes.
 * false: there is nothing (more). */
bool rt_runs_events(rt_runs *runs, rt_run_places *places, size_t room, rt_buf *out);
/* Is a reply in flight received by another process, and is that still there? */
bool rt_runs_is_elsewhere(const rt_runs *runs, rt_str owner, int64_t written_us);

#endif
