/* SPDX-License-Identifier: MIT
 *
 * Project pool: the served store and its open projects. A project is opened on first use and stays
 * open until the server ends. Each has its engine, its events (feed.h), its runs of models
 * (app/run.h), and a cache of responses.
 *
 * Threads: locks itself. */
#ifndef RT_SERVER_PROJECT_POOL_H
#define RT_SERVER_PROJECT_POOL_H

#include <pthread.h>
#include <stdatomic.h>

#include "app/attach.h"
#include "app/condition.h"
#include "app/git_host.h"
#include "ops/action.h"
#include "chat/send.h"
#include "llm/comms_host.h"
#include "llm/models_host.h"
#include "server/feed.h"

/* ---- the response cache ---- */

/* Answers of a project from a moment ago, for requests that repeat while nothing has changed. The
 * key is the target, the store's epoch and the number of the newest row, so an answer is never
 * older than the value that was read; a purge changes the epoch, which drops all cached answers.
 * Locks itself. */

enum {
	RT_RESPONSE_CACHE_SLOTS = 128,
	RT_RESPONSE_CACHE_SIZE_MAX = 16 << 10, /* bytes of one */
	RT_RESPONSE_CACHE_TARGET_MAX = 256
};

typedef struct rt_cached_response {
	uint64_t epoch, seq;
	char target[RT_RESPONSE_CACHE_TARGET_MAX];
	size_t target_size;  /* 0: none */
	char etag[RT_ETAG_ROOM];
	const rt_text *body; /* counted */
} rt_cached_response;

typedef struct rt_response_cache {
	pthread_mutex_t lock;
	const rt_alloc *alloc;
	uint64_t epoch; /* of all stored bodies */
	rt_cached_response at[RT_RESPONSE_CACHE_SLOTS];
} rt_response_cache;

/* False: no memory. */
bool rt_response_cache_init(rt_response_cache *cache, const rt_alloc *alloc);
void rt_response_cache_deinit(rt_response_cache *cache);
/* After a purge: drops everything. */
void rt_response_cache_forget(rt_response_cache *cache);
/* Appends the body; false: not cached. */
bool rt_response_cache_find(rt_response_cache *cache, uint64_t epoch, uint64_t seq, rt_str target,
			    rt_buf *body, char etag[RT_ETAG_ROOM]);
/* Stores one, if it is small enough and there is memory. */
void rt_response_cache_put(rt_response_cache *cache, uint64_t epoch, uint64_t seq, rt_str target,
			   rt_str body, const char *etag);

/* ---- projects ---- */

typedef struct rt_project_pool rt_project_pool;
struct rt_runs;
struct rt_run_use;

/* A project that is open. */
typedef struct rt_open_project {
	rt_project_pool *pool;
	const rt_text *name;
	rt_engine *engine;
	rt_hooks *hooks;    /* or NULL */
	rt_feed *feed;
	struct rt_runs *runs;
	struct rt_run_claims *claims; /* of its runs, for other servers */
	rt_response_cache *cache; /* or NULL */
	_Atomic int64_t looked_us; /* when changes of other processes were last read (call.h) */
	rt_git git; /* the commit of the server's working folder */
	int64_t tended_us;  /* when rt_project_pool_tick last maintained it */
	int64_t swept_us;   /* and when expired responses were last dropped */
	int64_t indexed_us, index_pause_us; /* when texts were last indexed; until the next ones */
	rt_feed_news news;  /* of other processes, see project_watch.h */
	bool has_side;      /* there are replies in flight, or rows of runs */
	uint64_t index_idle_seq; /* with this newest row there was nothing to index; UINT64_MAX: none */
	bool is_present;    /* in the list of projects, see rt_project_watch_deleted */
	bool is_told;       /* hooks know that it is open */
	struct rt_open_project *next; /* opened before this one */
} rt_open_project;

typedef struct rt_project_pool_options {
	const rt_alloc *alloc;
	const rt_env *env;
	rt_store *store;     /* owned by the caller; outlives the pool */
	/* The hooks of a project, for as long as it is open; *out NULL: there are none. NULL:
	 * no project has any. */
	rt_status (*hooks_open)(void *ctx, rt_str project, rt_hooks **out, rt_error *err);
	void *hooks_ctx;
	const rt_config *config;
	rt_comms *comms;     /* the log of requests, or NULL; outlives the pool */
	rt_str project;      /* of requests that name none */
	rt_str owner;        /* this process, in the form of rt_host_add_owner */
	rt_str store_path;   /* complete; for the log of requests */
	const rt_file_options *files; /* where files are read; outlives the pool */
	rt_str model;        /* if no setting names one: RETAKE_MODEL; or empty */
	/* As in rt_engine_options, with the number of the project. */
	rt_status (*purged)(void *ctx, uint64_t project, rt_str text, rt_error *err);
	void *purged_ctx;
	/* A run of this project has ended (rt_runs_options); or NULL. */
	void (*run_ended)(void *ctx, uint64_t project, rt_str by, const struct rt_run_use *use);
	void *run_ended_ctx;
	/* Is the process that receives a reply alive? (rt_host_owner_lives) */
	rt_owner_lives_fn lives;
} rt_project_pool_options;

RT_CHECKED rt_status rt_project_pool_open(const rt_project_pool_options *options,
					  rt_project_pool **out, rt_error *err);
/* Ends replies in flight (received text is kept), notifies hooks, closes the engines. */
void rt_project_pool_close(rt_project_pool *pool);
const rt_project_pool_options *rt_project_pool_get_options(const rt_project_pool *pool);
/* NULL: no embedding_model is configured. */
struct rt_embedding *rt_project_pool_embedding(rt_project_pool *pool);

/* A project by name, owned by the pool. create: create it if missing. RT_NOT_FOUND. */
RT_CHECKED rt_status rt_project_pool_project(rt_project_pool *pool, rt_str name, bool create,
					     rt_open_project **out, rt_error *err);
/* Creates and opens a project. RT_REFUSED: it already exists. */
RT_CHECKED rt_status rt_project_pool_create(rt_project_pool *pool, rt_str name, rt_error *err);
/* Is it open already, so that the call above does not wait? */
bool rt_project_pool_is_open(rt_project_pool *pool, rt_str name);
/* The open projects, newest first, by next; none is ever removed. */
rt_open_project *rt_project_pool_first(rt_project_pool *pool);
/* Every RT_FEED_TICK_MS: changes of other processes, heartbeats. Now and then: expired responses
 * are dropped (idempotency.h), and partial replies of processes that have ended become entries
 * (run_claim.h). */
void rt_project_pool_tick(rt_project_pool *pool);

/* The context of a change; by: its author, for the history ("http", "web"). Notes of hooks are
 * added to notes. */
rt_apply_context rt_open_project_context(rt_open_project *open_project, rt_str by, rt_buf *notes);

#endif
