/* SPDX-License-Identifier: MIT
 *
 * Engine: one project of one store, open for reading and changing.
 *
 * The engine holds the newest value. Readers take a reference and never wait. A change is a request
 * (an operation as JSON, contract section 7); requests are compiled against the newest value under
 * the store's write lock, appended to the log, and published when they are durable. Several threads
 * share one commit; rows of other processes are read first.
 *
 * Threads: the engine locks itself; call from any thread. Values and data borrowed from them live
 * until the caller's rt_object_unref. */
#ifndef RT_LOG_ENGINE_H
#define RT_LOG_ENGINE_H

#include "base/env.h"
#include "codec/body.h"
#include "codec/request_json.h"
#include "core/address.h"
#include "log/store.h"

typedef struct rt_engine rt_engine;

typedef struct rt_engine_options {
	const rt_alloc *alloc; /* NULL: the C library's */
	const rt_env *env;     /* needed: clock and randomness */
	rt_str project;        /* name; empty: "default" */
	rt_str by;             /* the requester, for the history: "cli", "web", "hook:name" */
	bool read_only;
	/* Open it for reading even if its parts are inconsistent (such as a truncated log), as far
	 * as possible: for checks and recovery. */
	bool lenient;
	bool create;           /* make the project when the store has none of that name */
	unsigned checkpoint_every; /* log rows between checkpoints; 0: 1024 */
	/* A JSON object of settings, and "roles" as a list of names: the initial settings of a
	 * project. The first change of a project without any history follows a step that sets them
	 * (not an import, which brings its own). Copied; empty: none. */
	rt_str defaults;
	const char *(*git_commit)(void *ctx); /* of a new take; may be NULL, may return NULL */
	void *git_ctx;
	/* A text was purged from the project and should be removed from any other place that keeps
	 * texts. May be NULL. For a purged entry: each of its texts of 32 bytes or more (shorter
	 * ones occur in unrelated texts by chance: purge those as a text), at most the newest 16.
	 * Called by the executing thread after the commit, for the texts of an entry also before
	 * it, inside the transaction: if the purge is interrupted then, or the commit fails, the
	 * entry still has its texts and the purge can be repeated. A failure after the commit
	 * fails the requests to purge; the store is purged nevertheless. */
	rt_status (*purged)(void *ctx, rt_str text, rt_error *err);
	void *purged_ctx;
} rt_engine_options;

/* store stays the caller's and must outlive the engine. A damaged or older checkpoint is not an
 * error: the log rebuilds it. If the log continues with effects unknown to this version, the value
 * is that of the last known row, nothing is written, and every change is RT_TOO_NEW: see
 * rt_engine_newer. Cost: the checkpoint's root and the log's rows since. */
RT_CHECKED rt_status rt_engine_open(const rt_engine_options *options, rt_store *store,
				    rt_engine **out_engine, rt_error *err);
/* Writes a checkpoint when there is something new and the store lets us. */
void rt_engine_close(rt_engine *engine);

rt_store *rt_engine_store(const rt_engine *engine);
/* The epoch of the history that the newest value belongs to, see store.h. */
uint64_t rt_engine_epoch(rt_engine *engine);
uint64_t rt_engine_project_number(const rt_engine *engine);
const rt_alloc *rt_engine_alloc(const rt_engine *engine);

/* The newest value; the caller must rt_object_unref it. Never waits. */
const rt_project *rt_engine_value(rt_engine *engine);
/* Read what other processes have written since. An old value may turn out to be RT_CORRUPT because
 * another process dropped nodes that a newer checkpoint does not use. So on RT_CORRUPT refresh once
 * and retry; only a second failure is damage. If nothing is new it costs two look-ups in the store
 * and never waits. */
RT_CHECKED rt_status rt_engine_refresh(rt_engine *engine, rt_error *err);
/* The same without waiting: RT_BUSY, and the value stays, while a thread of this process uses the
 * store (it may be waiting for another process). */
RT_CHECKED rt_status rt_engine_refresh_now(rt_engine *engine, rt_error *err);
/* Has a refresh or a change noticed that the project was deleted (rt_store_project_delete)? Then the
 * value becomes empty, and these calls and all changes fail with RT_NOT_FOUND. */
bool rt_engine_is_deleted(rt_engine *engine);
/* Does the log continue after the newest value with rows that only a newer version can read? out
 * (may be NULL): RT_TOO_NEW, with the first of them and the version that it needs. */
bool rt_engine_newer(rt_engine *engine, rt_error *out);
/* The value right after log row seq (a step, a move, a view); 0: the first state. Changes
 * nothing. RT_NOT_FOUND, RT_TOO_NEW. Cost: the steps between here and there. */
RT_CHECKED rt_status rt_engine_value_at(rt_engine *engine, uint64_t seq, const rt_project **out,
					rt_error *err);

/* ---- changing ---- */

/* The result of a request. */
typedef struct rt_result {
	rt_status status;
	rt_error error;      /* where status is not RT_OK */
	bool is_consequence; /* it was not executed because another request of the batch failed */
	uint64_t seq;        /* the row that was written; the current one when unchanged */
	bool unchanged;
	uint64_t steps;      /* undo, redo: how many; 0 otherwise */
	uint64_t move_seq;   /* undo, redo, jump: the row with the moves; seq is a later one if
			      * drafts were restored after it; 0 otherwise */
	uint64_t count;      /* number of entries, matches, blanked bodies … that it concerned */
	uint32_t undo_disc;  /* a step: undo reverts it in this discussion; 0: in any */
	char entry[132];     /* id of the entry made or changed; empty: none */
	char take[260];      /* name of the take made or activated (cut); empty: none */
	char discussion[260];/* the same for discussions */
	rt_text *editor;     /* text returned for re-submission, or NULL; owned by the caller */
	rt_text *note;       /* for the user: copies that could not be reached, other effects; or
			      * NULL */
} rt_result;

void rt_result_deinit(rt_result *result);
/* The index of the first request that failed by itself, when requests failed. */
size_t rt_results_cause(const rt_result *results, size_t count);

/* The precondition of requests (ops/action.h). Called with the newest value, under the store's
 * lock, right before the first of them; any status but RT_OK becomes their result, and none of them
 * is executed. It may be called again, and from another thread while the caller's waits. */
typedef rt_status (*rt_apply_check_fn)(void *ctx, const rt_project *now, rt_error *err);

/* Called after the requests were executed, in their transaction before it is committed, with the
 * value after the last of them: side rows that it writes are committed with the requests or not at
 * all. Not called if nothing was written (every result is a failure or unchanged). Any status but
 * RT_OK rolls back the whole round and is the result of all its participants, so it must be a
 * failure of the store. It may be called again, and from another thread while the caller's
 * waits. */
typedef rt_status (*rt_apply_keep_fn)(void *ctx, rt_store *store, uint64_t project,
				      const rt_project *now, const rt_result *results,
				      size_t count, rt_error *err);

/* Execute requests in order. Each is a separate step, or (atomic) all are one step and nothing is
 * done if one fails. results has count items; each is filled in. The status is RT_OK if all
 * succeeded, else that of the first failure. On return, successful requests are durable.
 * default_disc, default_take (may be empty): where requests without "discussion"/"take" work;
 * empty: the active ones. */
rt_status rt_engine_apply(rt_engine *engine, const rt_request *requests, size_t count, bool atomic,
			  rt_str default_disc, rt_str default_take, rt_result *results);
/* The same with requests as JSON objects {"op":…}. */
rt_status rt_engine_apply_json(rt_engine *engine, yyjson_val *const *requests, size_t count,
			       bool atomic, rt_str default_disc, rt_str default_take,
			       rt_result *results);
/* One request as text. */
rt_status rt_engine_apply_text(rt_engine *engine, rt_str json, rt_str default_disc,
			       rt_str default_take, rt_result *result);
/* `{"seq":…,"entry":…}` or `{"error":{"code":…,"message":…}}`, as `apply` prints it. */
void rt_result_add_json(rt_buf *buf, const rt_result *result);

#endif
