/* SPDX-License-Identifier: MIT
 *
 * Internals of the engine: its state, and the files that may change it.
 *
 * Each file may use those above it:
 *
 *   value.c       the newest value; one thread at a time is the writer, which may replace it
 *   heads.c       do the log, the bodies and the checkpoint end at the same place?
 *   rows.c        log rows and bodies, read from the store
 *   history.c     applying and reverting rows; past values
 *   checkpoint.c  the value from the checkpoint and the rows after it; written, swept
 *   engine.c      open, close, read what other processes wrote
 *   index.c       the search index
 *   vectors.c     vectors of texts, for the search by meaning
 *   fsck*.c       is everything as it was written?
 *   repair.c      give up texts that cannot be read
 *   purge*.c      remove a text permanently
 *   collect.c     remove contents of files to which nothing refers
 *   change.c      one step under construction
 *   no_op.c       does a change leave everything as it was?
 *   plan.c        undo, redo, jump
 *   revert.c      one old step undone as a new one (and revert_*.c)
 *   commit.c      requests in, one transaction, results out; several threads share it
 *   salvage.c     a project out of a store that lacks rows
 *   copy.c        a project from one store to another */
#ifndef RT_LOG_ENGINE_IMPL_H
#define RT_LOG_ENGINE_IMPL_H

#include <pthread.h>
#include <stdatomic.h>

#include "base/scope.h"
#include "codec/record.h"
#include "codec/state.h"
#include "core/op.h"
#include "core/role.h"
#include "log/change.h"
#include "log/heads.h"
#include "log/rows.h"

enum {
	RT_CHECKPOINT_EVERY = 1024,   /* log rows between checkpoints */
	RT_CHECKPOINT_AT_CLOSE = 128, /* fewer are replayed faster than written */
	RT_CHECKPOINT_WORK = 4096,    /* or after this much work, see rt_record_work */
};

/* How requests are executed; all zero: as rt_engine_apply does. */
typedef struct rt_apply_options {
	bool atomic;             /* all are one step, or none is executed */
	rt_str disc, take;       /* where requests without a place work; empty: the active ones */
	rt_str by;               /* the requester; empty: the one given when the engine was
				  * opened */
	rt_compile_fn *compile;  /* what operations do */
	rt_apply_check_fn check; /* or NULL */
	void *check_ctx;
	rt_apply_keep_fn keep; /* or NULL */
	void *keep_ctx;
	/* A step that sets only a draft joins the draft before it in a group, which undo reverts as
	 * a whole, if the earlier draft was written by the same requester no longer ago than this;
	 * 0: never. */
	unsigned coalesce_ms;
	/* The steps belong to the group that this row begins (codec/record.h): undo reverts them
	 * together. 0: none. */
	uint64_t group;
} rt_apply_options;

/* Requests of one caller, waiting for their commit. */
typedef struct rt_ticket {
	const rt_request *requests;
	size_t count;
	const rt_apply_options *how;
	rt_result *results;
	rt_str identity; /* of its caller */
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
	bool is_lenient; /* opened although its parts may be inconsistent */
	unsigned checkpoint_every;
	rt_text *by;
	rt_text *name; /* of the project, as given to rt_engine_open */
	rt_text *defaults; /* as in rt_engine_options; NULL: none */
	uint64_t salt; /* of its generated ids */
	const char *(*git_commit)(void *ctx);
	void *git_ctx;
	rt_status (*purged)(void *ctx, rt_str text, rt_error *err);
	void *purged_ctx;
	rt_seq_source source;  /* nodes of the checkpoint */
	atomic_bool is_deleted; /* another program has deleted the project */
	atomic_bool node_gone; /* a node was missing: values of before may not be readable */

	pthread_mutex_t value_lock; /* held only to copy a pointer and a count, never longer */
	const rt_project *value;
	uint64_t newer_seq;   /* the first row that this version does not know; 0: none */
	rt_error newer;       /* required version */
	uint64_t value_epoch; /* of the history that value belongs to */

	pthread_mutex_t queue_lock;
	pthread_cond_t queue_moved; /* no leader: wakes threads without a ticket */
	rt_ticket *queue_first, *queue_last;
	bool leading; /* a thread is executing a batch */

	/* the leader's */
	uint64_t epoch;      /* of the store, as last read */
	uint64_t root_seq;   /* of the checkpoint that was read last */
	bool is_contended;   /* another program writes to the project */
	uint64_t unsaved;    /* replay cost of the rows since then, as in rt_record_work */
	uint64_t root_ahead; /* of a checkpoint that is ahead of the log; 0: it is not */
	uint64_t next_node;
	uint64_t nodes_written; /* since the last sweep */
	uint64_t nodes_live;    /* found by it */
	bool scrub_after;       /* a purge was committed in this round */
	bool scrub_pending;     /* there was a purge whose bytes are not overwritten yet */
	const rt_text **gone;   /* texts of entries purged in this round */
	size_t gone_count, gone_room;
};

/* The project's rows. */
static inline rt_status
rt_engine_head(rt_engine *engine, rt_store_table table, uint64_t *out_number, rt_error *err)
{
	return engine->store->ops->head(engine->store, table, engine->project, out_number, err);
}
static inline rt_status
rt_engine_read(rt_engine *engine, rt_store_table table, uint64_t first, uint64_t last,
	       rt_store_row_fn fn, void *ctx, rt_error *err)
{
	return engine->store->ops->read(
		engine->store, rt_rows_between(table, engine->project, first, last), fn, ctx, err);
}
static inline rt_rows
rt_engine_side(const rt_engine *engine, const char *name)
{
	return rt_rows_named(RT_STORE_SIDE, engine->project, rt_str_of(name));
}

/* Replaces *now, which is owned, by next, whose ownership passes. */
static inline void
rt_project_replace(const rt_project **now, const rt_project *next)
{
	rt_object_unref(*now);
	*now = next;
}

/* ---- the newest value (value.c) ---- */

/* Become the leader: waits until no other thread is; then no other thread changes the value or
 * writes until rt_engine_unlock_writer. */
void rt_engine_lock_writer(rt_engine *engine);
/* The same without waiting; false: another thread leads. */
bool rt_engine_try_lead(rt_engine *engine);
void rt_engine_unlock_writer(rt_engine *engine);
/* The same under queue_lock: wakes the next leader. */
void rt_engine_yield_writer(rt_engine *engine);
/* As the leader: sets the newest value. Takes ownership. */
void rt_engine_publish(rt_engine *engine, const rt_project *project);
/* The log continues with row seq, which this version cannot read for this reason; 0: it does
 * not. */
void rt_engine_set_newer(rt_engine *engine, uint64_t seq, const rt_error *why);
/* RT_READ_ONLY; RT_TOO_NEW: the log continues with rows of a newer version, as far as known yet
 * (rt_engine_newest checks). */
rt_status rt_engine_may_write(rt_engine *engine, rt_error *err);
/* A text of a purged entry, to be reported after the commit. */
void rt_engine_add_gone(rt_engine *engine, rt_str text, rt_scope *s);
/* Drops them, down to this count. */
void rt_engine_forget_gone(rt_engine *engine, size_t count);

/* ---- rows of other processes (engine.c) ---- */

/* Inside begin: the value including all rows of other processes; the caller owns it. RT_TOO_NEW. */
rt_status rt_engine_newest(rt_engine *engine, const rt_project **out, rt_error *err);

/* ---- result.c ---- */

void rt_result_reset(rt_result *result);
/* A result that is only a failure. */
void rt_result_fail(rt_result *result, rt_status status, const rt_error *err);
/* The results of an atomic step that failed at one of its requests. */
void rt_results_fail(rt_result *results, size_t count, size_t failed, rt_status status,
		     const rt_error *err);
/* The result's note becomes the text of a buffer. */
void rt_result_set_note(rt_result *result, rt_scope *s, const rt_buf *note);

/* ---- commit.c ---- */

/* rt_engine_apply with options, which live as long as the call. */
rt_status rt_engine_apply_if(rt_engine *engine, const rt_request *requests, size_t count,
			     const rt_apply_options *options, rt_result *results);
/* Inside begin: one row. Returns the value after it, owned by the caller; NULL after a failure.
 * applied: the value with the record's effects in it already, or NULL. of: the change whose bodies
 * are written with it, or NULL. */
const rt_project *rt_engine_write_row(rt_scope *s, rt_engine *engine, const rt_project *project,
				      const rt_project *applied, const rt_record *record,
				      const rt_change *of);
/* Inside begin: a finished change as one row. Returns the value after it, owned by the caller; NULL
 * after a failure. */
const rt_project *rt_change_write(rt_change *c, rt_str op, uint32_t disc);
/* Undo the rows of a group in a separate transaction. */
rt_status rt_engine_undo_group(rt_engine *engine, uint64_t group, uint32_t group_discs, rt_str by,
			       rt_error *err);

#endif
