/* SPDX-License-Identifier: MIT
 *
 * Run: a model request on behalf of a client: a question and its reply, another reply, a summary.
 * It continues after the client disconnects. The reply is a growing text that any number of readers
 * follow, each with its own cursor.
 *
 * A finished run is kept for an hour (at most RT_RUNS_KEPT of them, but each for at least
 * RT_RUNS_FRESH_S, so that readers see its end); after that only its entry remains. Names are not
 * reused after a restart.
 *
 * Threads: locks itself; one thread per run. */
#ifndef RT_APP_RUN_H
#define RT_APP_RUN_H

#include "app/attach.h"
#include "chat/send.h"
#include "chat/summary.h"
#include "llm/comms_host.h"
#include "llm/models_host.h"

typedef struct rt_runs rt_runs;

enum {
	RT_RUNS_MAX = 64,  /* of one project, at a time */
	RT_RUNS_KEPT = 256,
	RT_RUNS_KEPT_S = 3600,
	RT_RUNS_FRESH_S = 10, /* however many there are */
	RT_RUN_REPLIES_MAX = 100,
	RT_RUN_EVENT_MAX = 64 << 10, /* bytes of text in one event */
	RT_RUN_PACE_MS = 15 /* between two pieces of a built-in model's reply */
};

/* What a run has added, whatever it ended with. */
typedef struct rt_run_use {
	uint64_t bytes, entries; /* received text, and entries other than the question */
	uint64_t tokens;         /* sent and received; estimated if the model does not say */
} rt_run_use;

/* The environment of runs. All of it must outlive them. */
typedef struct rt_runs_options {
	rt_engine *engine;
	const rt_alloc *alloc;   /* locks itself; NULL: the C library's */
	const rt_env *env;
	rt_hooks *hooks;         /* or NULL */
	const rt_config *config; /* or NULL */
	rt_comms *comms;         /* or NULL */
	rt_str owner;            /* this process */
	rt_str store_path;
	rt_str model;            /* if no setting names one; or empty */
	rt_owner_lives_fn lives; /* or NULL: all do */
	const rt_file_options *files; /* where files are read; NULL: none are sent */
	unsigned pace_ms;        /* of built-in models */
	/* A run has ended; called from its thread, without a lock. by: as in its request. Or NULL. */
	void (*ended)(void *ctx, rt_str by, const struct rt_run_use *use);
	void *ended_ctx;
	/* There may be new events; called from any thread, without a lock. Or NULL. */
	void (*changed)(void *ctx);
	void *changed_ctx;
} rt_runs_options;

RT_CHECKED rt_status rt_runs_new(const rt_runs_options *options, rt_runs **out, rt_error *err);
/* Stops all runs and waits for them; received text is kept as a partial reply. No run can be
 * started afterwards; readers still see how the runs ended. */
void rt_runs_stop_all(rt_runs *runs);
/* The same, and frees them. */
void rt_runs_free(rt_runs *runs);
/* A text was purged from the project: runs that have ended and contain it are forgotten. */
void rt_runs_purge(rt_runs *runs, rt_str text);

/* ---- starting and stopping ---- */

typedef enum rt_run_how {
	RT_RUN_ASK,
	RT_RUN_AGAIN,
	RT_RUN_CONTINUE,
	RT_RUN_COMPACT,
	RT_RUN_COMPRESS,
	RT_RUN_GO,
	RT_RUN_MERGE,
	RT_RUN_HOWS
} rt_run_how;

/* "ask", "again", … */
extern const char *const rt_run_how_names[RT_RUN_HOWS];

/* Absent members are all bytes 0. Entries are given by their addresses. */
typedef struct rt_run_request {
	rt_run_how how;
	rt_str discussion, take; /* addresses; empty: the active ones */
	rt_str by;               /* for the history */
	rt_str trace;            /* for the model's server, as in rt_ask */
	bool may_name_files;     /* "builtin/play:PATH" may open that file */
	rt_str model;            /* empty: the setting's, then the options' */
	uint64_t budget;         /* tokens; 0: as the configuration says */
	/* ASK: text, or content (an array of blocks); neither: answers the existing path. */
	rt_str text;
	yyjson_val *content;
	rt_str role;
	bool clears_draft;       /* ASK: the step of the question clears the field draft, too */
	rt_str at;               /* ASK: the entry to continue from;
	                          * AGAIN, CONTINUE: the reply, or its question */
	rt_str reply_role;       /* these three */
	bool no_files;           /* these three: without the discussion's files */
	uint64_t replies;        /* AGAIN: how many, at most RT_RUN_REPLIES_MAX; 0: one */
	/* COMPACT */
	rt_str from, to;         /* a range, or neither */
	rt_number keep_tokens;
	rt_str instructions;     /* COMPACT, COMPRESS, GO, MERGE */
	rt_str from_take;        /* MERGE: the take that is summarised */
	/* GO */
	rt_str entry;            /* ptr NULL: before the first */
	rt_str entry_take;       /* whose entry it is; empty: not said */
	bool select, no_summary;
} rt_run_request;

/* Starts one. out_name: of the run, NUL-terminated. Fails before it begins with
 * RT_NOT_FOUND, RT_USAGE, RT_CREDENTIALS (no model), RT_LIMIT (too many), RT_BUSY (about to end),
 * RT_READ_ONLY, RT_TOO_NEW; RT_REFUSED without a name: a file cannot be sent; RT_REFUSED with a name: that run continues the same reply of the same
 * take. May wait for a command that prints a key. */
RT_CHECKED rt_status rt_runs_start(rt_runs *runs, const rt_run_request *request,
				   char out_name[24], rt_error *err);
enum { RT_RUN_MODELS_MAX = 16 };
/* Asks several models in parallel (ASK, AGAIN; chat/send_group.h): a run for each, with its name in
 * out_names. Fails as rt_runs_start, before any of them begins: RT_USAGE also for a model that is
 * named twice, and for more than RT_RUN_MODELS_MAX. */
RT_CHECKED rt_status rt_runs_start_several(rt_runs *runs, const rt_run_request *request,
					   const rt_str *models, size_t count,
					   char (*out_names)[24], rt_error *err);
/* A second call also ends hooks that are being notified of the stop. RT_NOT_FOUND: there was never
 * such a run, or it is forgotten. */
RT_CHECKED rt_status rt_runs_stop(rt_runs *runs, rt_str name, rt_error *err);

/* ---- looking ---- */

typedef enum rt_run_state {
	RT_RUN_RUNNING,
	RT_RUN_DONE,
	RT_RUN_STOPPED,
	RT_RUN_FAILED
} rt_run_state;

/* A span of received bytes of one kind. */
typedef struct rt_run_piece {
	size_t at;      /* its offset in all received bytes */
	size_t from;    /* and in all of its kind (of a call: of its block) in this reply */
	unsigned reply; /* of several, from 0 */
	rt_reply_block_kind kind;
	size_t block;
} rt_run_piece;

/* Received bytes of all kinds, in order of arrival. */
typedef struct rt_run_text {
	rt_buf bytes;
	rt_run_piece *pieces;
	size_t count, room;
	unsigned reply;     /* the one that is arriving */
	size_t reply_at;    /* its offset in bytes */
	size_t reply_piece; /* the number of its first piece */
	size_t sizes[2];    /* of its text and its thinking */
} rt_run_text;

/* Where a piece ends. */
size_t rt_run_text_end(const rt_run_text *text, size_t piece);

/* The current state of a run. Borrowed, for the duration of a callback. */
typedef struct rt_run_info {
	const char *name;
	rt_run_state state;
	rt_run_how how;
	rt_str discussion, take; /* ids; take: the requested one, then (by name) that of the reply */
	rt_str at;               /* the entry of the request; or empty */
	rt_str model;            /* "openai/gpt-4o"; or empty */
	rt_str group;            /* of several models: the name of the first of these runs; or empty */
	rt_str question;         /* once it is an entry */
	rt_str notice;           /* for display: "server error 500, retry 1 of 4 …"; or empty */
	unsigned retry, retries; /* of the notice: the next attempt, of this many; or 0 */
	int64_t started_us, ended_us;
	bool is_removed;         /* its discussion was reset or deleted before it ended */
	const rt_error *problem; /* why it failed, or why a reply is partial; or NULL */
	/* replies as far as they have ended; NULL for a summary */
	const rt_send_result *replies;
	size_t reply_count;
	bool several;            /* more than one was requested */
	const rt_summary_result *summary; /* how > CONTINUE, once it has ended; or NULL */
	const rt_run_text *text;
} rt_run_info;

/* RT_NOT_FOUND. With a lock held: fn may not call back. */
RT_CHECKED rt_status rt_runs_show(rt_runs *runs, rt_str name,
				  void (*fn)(void *ctx, const rt_run_info *run), void *ctx,
				  rt_error *err);
/* Calls fn for all runs, newest first. */
void rt_runs_each(rt_runs *runs, void (*fn)(void *ctx, const rt_run_info *run), void *ctx);
/* How many are running. */
size_t rt_runs_running(rt_runs *runs);
/* Is this the owner of these runs? */
bool rt_runs_is_owner(const rt_runs *runs, rt_str owner);
/* Is a reply in flight received by another process, and is that process alive? */
bool rt_runs_is_elsewhere(const rt_runs *runs, rt_str owner, int64_t written_us);

/* ---- following ---- */

typedef enum rt_run_event_kind {
	RT_RUN_STARTED,
	RT_RUN_SNAPSHOT, /* instead, for a reader that came later: with the text so far, up to
	                  * text_end; what follows it comes in deltas */
	RT_RUN_ASKED,    /* the question is an entry whose log row the reader has */
	RT_RUN_NOTICE,
	RT_RUN_DELTA,
	RT_RUN_ENDED     /* the reader has the log row of its entry */
} rt_run_event_kind;

typedef struct rt_run_event {
	rt_run_event_kind kind;
	const rt_run_info *run;
	size_t text_end;          /* SNAPSHOT */
	/* DELTA */
	const rt_run_piece *piece;
	size_t offset;            /* of the text in all of its kind in this reply, in bytes */
	rt_str text;
} rt_run_event;

/* true: can accept another event. Called with a lock held: must not call back. */
typedef bool (*rt_run_event_fn)(void *ctx, const rt_run_event *event);

/* A reader's position in one run. */
typedef struct rt_run_place {
	uint64_t run;    /* its number */
	size_t offset;   /* in the received bytes */
	unsigned notice; /* the last one that was read */
	bool is_begun;   /* STARTED or SNAPSHOT was read */
	bool is_asked;
	bool is_late;    /* the run existed before the reader */
	bool is_ended;
} rt_run_place;

enum { RT_RUN_PLACES = RT_RUNS_MAX };

/* A reader's cursor. Zero: has seen no runs. */
typedef struct rt_run_cursor {
	rt_run_place at[RT_RUN_PLACES];
	size_t count;
	uint64_t seen; /* runs up to this number are in at, or have ended */
	bool is_new;   /* nothing was read yet: runs in flight come as snapshots */
	/* Set by the reader before each reading: */
	uint32_t disc;       /* only runs in this discussion; 0: all */
	uint64_t epoch, seq; /* of the rows it has: a run ends after its row */
} rt_run_cursor;

/* Follow all runs from now on; those in flight arrive as snapshots. A reader that does not join
 * follows from its first read. */
void rt_runs_join(rt_runs *runs, rt_run_cursor *cursor);
/* Passes new events of this reader to fn until it returns false. False: no more events. */
bool rt_runs_read(rt_runs *runs, rt_run_cursor *cursor, rt_run_event_fn fn, void *ctx);

#endif
