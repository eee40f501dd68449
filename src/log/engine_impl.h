/* SPDX-License-Identifier: MIT
 *
 * The inside of the engine, shared by its files:
 *
 *   engine.c     open, close, values, taking in rows, checkpoints
 *   commit.c     requests in, one transaction, results out; several threads share it
 *   change.c     one step under construction
 *   no_op.c      does a step of several operations leave everything as it was?
 *   history.c    undo, redo, jump, revert, past values
 *   view*.c      values as JSON
 *   heads.c      do the log, the bodies and the checkpoint end at the same place?
 *   salvage.c    a project out of a store that lacks rows
 *   import.c, export.c, fsck.c, purge.c, search.c, context.c */
#ifndef RT_ENGINE_IMPL_H
#define RT_ENGINE_IMPL_H

#include <pthread.h>
#include <stdatomic.h>

#include "codec/record.h"
#include "codec/state.h"
#include "core/id.h"
#include "core/op.h"
#include "core/role.h"
#include "log/change.h"

enum {
	RT_CHECKPOINT_EVERY = 1024,   /* log rows between checkpoints */
	RT_CHECKPOINT_AT_CLOSE = 128, /* fewer are replayed faster than written */
};

/* How requests are carried out; zero is rt_engine_apply's way. */
typedef struct rt_apply_options {
	bool atomic;             /* all are one step, or none is done */
	rt_str disc, take;       /* where requests work that name none; empty: the active ones */
	rt_str by;               /* who asks; empty: as the engine was opened */
	rt_compile_fn *compile;  /* what operations do */
	rt_apply_check_fn check; /* or NULL */
	void *check_ctx;
	rt_apply_keep_fn keep;   /* or NULL */
	void *keep_ctx;
} rt_apply_options;

/* Requests of one caller, waiting for their commit. */
typedef struct rt_ticket {
	const rt_request *requests;
	size_t count;
	const rt_apply_options *how;
	rt_result *results;
	bool done;
	pthread_cond_t moved; /* it is done, or may lead */
	struct rt_ticket *next;
} rt_ticket;

struct rt_engine {
	const rt_alloc *alloc;
	const rt_env *env;
	rt_store *store;
	uint64_t project;
	bool read_only;
	bool is_lenient; /* opened although its parts may disagree */
	unsigned checkpoint_every;
	rt_text *by;
	rt_text *name; /* of the project, as it was asked for */
	uint64_t salt; /* of its generated ids */
	const char *(*git_commit)(void *ctx);
	void *git_ctx;
	void (*purged)(void *ctx, rt_str text);
	void *purged_ctx;
	rt_seq_source source; /* nodes of the checkpoint */
	atomic_bool node_gone; /* one was not there: values of before may not be readable */

	pthread_mutex_t value_lock; /* held for a pointer and a count, never longer */
	const rt_project *value;
	uint64_t newer_seq; /* the first row that this version does not know; 0: none */
	rt_error newer;     /* what it needs */
	uint64_t value_epoch; /* of the history that value belongs to */

	pthread_mutex_t queue_lock;
	pthread_cond_t queue_moved; /* nobody leads: for who wants to and has no ticket */
	rt_ticket *queue_first, *queue_last;
	bool leading; /* a thread is at work on a batch */

	/* the leader's */
	uint64_t epoch;           /* of the store, as it was seen last */
	uint64_t root_seq;        /* of the checkpoint that we know of */
	uint64_t root_ahead;      /* of one that is ahead of the log; 0: it is not */
	uint64_t next_node;
	uint64_t nodes_written;   /* since the last sweep */
	uint64_t nodes_live;      /* found by it */
	bool scrub_after;         /* something was purged in this round */
	bool scrub_pending;       /* something was purged before, and is not wiped yet */
	const rt_text **gone;     /* texts of entries that were purged in this round */
	size_t gone_count, gone_room;
};

/* The names of side rows of replies in flight begin so (send.h). */
#define RT_INFLIGHT_PREFIX "reply/"

/* Those of what was sent last, and then the discussion's id (last_request.h). */
#define RT_LAST_REQUEST_PREFIX "sent/"

/* The side row that says that the project's generated ids are salted by its name. Projects
 * that older versions made have none, and no salt; neither has "default". Never dropped. */
#define RT_SALTED_MARK "salted-ids"

/* The side row with the number of the last log row that was written without bodies (heads.c).
 * Stores that older versions made have none, and older versions do not move it. */
#define RT_HEAD_MARK "log-head"

/* Inside begin: row seq is being written, without bodies. */
rt_status rt_engine_mark_head(rt_engine *engine, uint64_t seq, rt_error *err);
/* What it says; 0: there is none. */
rt_status rt_engine_head_mark(rt_engine *engine, uint64_t *out_seq, rt_error *err);
/* RT_CORRUPT where the log does not end where the bodies, the mark and the checkpoint say.
 * project is the newest value, with what was loaded last. A few key look-ups. */
rt_status rt_engine_check_heads(rt_engine *engine, const rt_project *project, rt_error *err);
/* RT_CORRUPT: the log ends with row head, before a row that is in project. */
rt_status rt_engine_lost_end(rt_engine *engine, const rt_project *project, uint64_t head,
			     rt_error *err);
/* RT_CORRUPT with what is wrong, where, and what to do. */
rt_status rt_engine_damaged(rt_engine *engine, rt_error *err, const char *format, ...)
	RT_PRINTF(3, 4);

/* gone, down to so many. */
void rt_engine_forget_gone(rt_engine *engine, size_t count);
/* Was something purged of which bytes may still be in the store's files? */
bool rt_engine_scrub_pending(rt_engine *engine);

/* ---- history ---- */

/* Read one row of the log and take it apart in the arena. RT_NOT_FOUND. */
rt_status rt_engine_record(rt_engine *engine, uint64_t seq, rt_arena *arena, rt_record *out,
			   int64_t *out_at_us, rt_error *err);
/* When it was written, without reading what it says: an import's row is as long as the import. */
rt_status rt_engine_record_time(rt_engine *engine, uint64_t seq, int64_t *out_at_us,
				rt_error *err);
/* The next value by a row: forwards. seq is the row's number. */
rt_status rt_engine_apply_row(rt_engine *engine, const rt_project *project, uint64_t seq,
			      const rt_record *record, const rt_project **out, rt_error *err);
/* applied has a step's effects in it already: the value with the step in its history. */
rt_status rt_engine_close_step(const rt_project *applied, uint64_t seq, const rt_record *record,
			       const rt_project **out, rt_error *err);
/* Build the record that takes back the rows of a group, as far as nothing else came since. */
rt_status rt_history_plan_group(rt_engine *engine, const rt_project *project, uint64_t group,
				uint32_t group_discs, rt_str by, rt_arena *arena, rt_record *out,
				const rt_project **out_moved, rt_error *err);
/* Build the record of an undo, redo or jump, and the value with its moves (yours; its seq is
 * still the old one). move_count 0: nothing to do. */
rt_status rt_history_plan(rt_engine *engine, const rt_project *project, const rt_request *r,
			  const rt_change *c, rt_arena *arena,
			  rt_record *out, const rt_project **out_moved, uint64_t *out_steps,
			  rt_error *err);
/* The value right after row seq, walking back from base, which is newer. Each document's
 * current step is the one of then; what redo would bring back is not known. */
rt_status rt_engine_value_back(rt_engine *engine, const rt_project *base, uint64_t seq,
			       const rt_project **out, rt_error *err);
/* Add the effects that take back a step to c (C17). */
void rt_history_revert(rt_change *c, uint64_t seq);


/* ---- the rest ---- */

/* rt_engine_apply with more to be said: of requests that are made from a value that may be
 * old by now, what they go by is looked at once more in the transaction that carries them
 * out (check), so that nobody can change it in between; what has to be there if they are is
 * written in it, too (keep). options live as long as the call. */
rt_status rt_engine_apply_if(rt_engine *engine, const rt_request *requests, size_t count,
			     const rt_apply_options *options, rt_result *results);
/* rt_engine_import; by: who asks, empty: as the engine was opened. */
RT_CHECKED rt_status rt_engine_import_by(rt_engine *engine, const rt_outlines *outlines, rt_str name,
					 rt_str by, bool dry_run, rt_import_result *out,
					 rt_error *err);
rt_status rt_engine_purge(rt_engine *engine, const rt_project *project, const rt_request *r,
			  rt_place place, rt_result *result, rt_error *err);
/* Nobody else changes the value between these two. */
void rt_engine_lock_writer(rt_engine *engine);
void rt_engine_unlock_writer(rt_engine *engine);
void rt_engine_yield_writer(rt_engine *engine);
/* May this engine write? RT_READ_ONLY; RT_TOO_NEW: the log goes on with what a newer version
 * wrote, as far as is known by now (rt_engine_newest knows). */
rt_status rt_engine_may_write(rt_engine *engine, rt_error *err);
/* Inside begin: the value with everything that others wrote; yours. RT_TOO_NEW. */
rt_status rt_engine_newest(rt_engine *engine, const rt_project **out, rt_error *err);
/* Inside begin: a finished change as one row. The value after it, yours; NULL after a failure. */
const rt_project *rt_change_write(rt_change *c, rt_str op, uint32_t disc);
/* Take back the rows of a group in a transaction of its own, as undo would. */
rt_status rt_engine_undo_group(rt_engine *engine, uint64_t group, uint32_t group_discs, rt_str by,
			       rt_error *err);
/* Inside begin: rows that others wrote. *project is replaced. It stops before a row that this
 * version does not know: RT_OK, and rt_engine_newer says so. */
rt_status rt_engine_catch_up(rt_engine *engine, const rt_project **project, uint64_t head,
			     rt_error *err);
void rt_engine_publish(rt_engine *engine, const rt_project *project); /* takes it over */
/* Write a checkpoint when so many rows have come since the last one. Failure is harmless. */
void rt_engine_maybe_checkpoint(rt_engine *engine, unsigned rows);
/* As the leader, between transactions: write a checkpoint of what is new, and drop from memory
 * what it has, of discussions from this one on. */
rt_status rt_engine_settle(rt_engine *engine, uint32_t from, rt_error *err);
rt_status rt_engine_load(rt_engine *engine, bool use_checkpoint, const rt_project **out,
			 rt_error *err);
/* What can be made of a log that lacks rows: *out_first the value after all rows before the
 * first that is missing or cannot be taken in, *out_ahead one after a later row, from the
 * checkpoint; NULL: there is none. Both are yours. */
rt_status rt_engine_load_parts(rt_engine *engine, const rt_project **out_first,
			       const rt_project **out_ahead, rt_error *err);
/* Shared by show and others: one entry as a JSON object. */
rt_status rt_view_add_slot(rt_engine *engine, const rt_project *project, const rt_disc *disc,
			   const rt_slot *slot, rt_buf *buf, rt_error *err);
/* The first characters of a text on one line, as a JSON string. */
rt_status rt_view_add_preview(const rt_alloc *alloc, const rt_body *body, size_t characters,
			      rt_buf *buf, rt_error *err);

#endif
