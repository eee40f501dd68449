/* SPDX-License-Identifier: MIT */
#define _POSIX_C_SOURCE 200809L

#include "server/project_pool.h"

#include <pthread.h>

#include "base/hash.h"
#include "log/index.h"
#include "server/embedding.h"
#include "server/idempotency.h"
#include "server/project_watch.h"
#include "server/run_claim.h"
#include "server/run_json.h"

enum {
	TEND_S = 15,      /* between two of tend() */
	SWEEP_S = 600,    /* between two looks for expired responses, which read all of them */
	INDEX_LEAST = 256, /* texts */
	INDEX_PAUSE_US = 200000,
	INDEX_PAUSE_MOST_US = 60000000 /* after failures */
};

/* ---- the response cache ---- */

bool
rt_response_cache_init(rt_response_cache *cache, const rt_alloc *alloc)
{
	memset(cache, 0, sizeof(*cache));
	cache->alloc = alloc;
	return pthread_mutex_init(&cache->lock, NULL) == 0;
}

static void
drop_all(rt_response_cache *cache)
{
	for (size_t i = 0; i < RT_RESPONSE_CACHE_SLOTS; i++)
		rt_text_unref(cache->at[i].body);
	memset(cache->at, 0, sizeof(cache->at));
}

void
rt_response_cache_deinit(rt_response_cache *cache)
{
	drop_all(cache);
	pthread_mutex_destroy(&cache->lock);
}

void
rt_response_cache_forget(rt_response_cache *cache)
{
	pthread_mutex_lock(&cache->lock);
	drop_all(cache);
	pthread_mutex_unlock(&cache->lock);
}

/* With the lock. */
static void
enter_epoch(rt_response_cache *cache, uint64_t epoch)
{
	if (cache->epoch != epoch)
		drop_all(cache);
	cache->epoch = epoch;
}

static rt_cached_response *
slot_of(rt_response_cache *cache, rt_str target)
{
	return &cache->at[rt_hash(target.ptr, target.size, 0) % RT_RESPONSE_CACHE_SLOTS];
}

bool
rt_response_cache_find(rt_response_cache *cache, uint64_t epoch, uint64_t seq, rt_str target,
		       rt_buf *body, char etag[RT_ETAG_ROOM])
{
	const rt_cached_response *slot;
	const rt_text *found = NULL;

	if (target.size == 0 || target.size > RT_RESPONSE_CACHE_TARGET_MAX)
		return false;
	slot = slot_of(cache, target);
	pthread_mutex_lock(&cache->lock);
	enter_epoch(cache, epoch);
	if (slot->epoch == epoch && slot->seq == seq &&
	    rt_str_eq(target, rt_str_at(slot->target, slot->target_size))) {
		found = rt_text_ref(slot->body);
		memcpy(etag, slot->etag, RT_ETAG_ROOM);
	}
	pthread_mutex_unlock(&cache->lock);
	if (found != NULL)
		rt_buf_add_str(body, rt_text_str(found));
	rt_text_unref(found);
	return found != NULL;
}

void
rt_response_cache_put(rt_response_cache *cache, uint64_t epoch, uint64_t seq, rt_str target,
		      rt_str body, const char *etag)
{
	const rt_text *text, *old;
	rt_cached_response *slot;

	if (target.size == 0 || target.size > RT_RESPONSE_CACHE_TARGET_MAX || body.size == 0 ||
	    body.size > RT_RESPONSE_CACHE_SIZE_MAX || strlen(etag) >= RT_ETAG_ROOM)
		return;
	text = rt_text_new(cache->alloc, body);
	if (text == NULL)
		return;
	slot = slot_of(cache, target);
	pthread_mutex_lock(&cache->lock);
	enter_epoch(cache, epoch);
	old = slot->body;
	slot->epoch = epoch;
	slot->seq = seq;
	memcpy(slot->target, target.ptr, target.size);
	slot->target_size = target.size;
	memcpy(slot->etag, etag, strlen(etag) + 1);
	slot->body = text;
	pthread_mutex_unlock(&cache->lock);
	rt_text_unref(old);
}

/* ---- the pool ---- */

struct rt_project_pool {
	rt_project_pool_options options;
	pthread_mutex_t opening;      /* held while a project is opened */
	_Atomic(rt_open_project *) first;
	rt_project_watch watch;
	rt_embedding *embedding;      /* or NULL */
};

rt_status
rt_project_pool_open(const rt_project_pool_options *options, rt_project_pool **out, rt_error *err)
{
	rt_project_pool *pool = rt_new0(options->alloc, sizeof(*pool));

	if (pool == NULL || pthread_mutex_init(&pool->opening, NULL) != 0) {
		rt_free(options->alloc, pool);
		return rt_fail(err, RT_NOMEM, "out of memory");
	}
	pool->options = *options;
	rt_status st = rt_embedding_new(pool, &pool->embedding, err);
	if (st == RT_OK)
		*out = pool;
	else
		rt_project_pool_close(pool);
	return st;
}

rt_embedding *
rt_project_pool_embedding(rt_project_pool *pool)
{
	return pool->embedding;
}

const rt_project_pool_options *
rt_project_pool_get_options(const rt_project_pool *pool)
{
	return &pool->options;
}

rt_open_project *
rt_project_pool_first(rt_project_pool *pool)
{
	return pool->first;
}

/* ---- a project ---- */

rt_apply_context
rt_open_project_context(rt_open_project *open_project, rt_str by, rt_buf *notes)
{
	return (rt_apply_context){.hooks = open_project->hooks,
				  .notes = notes,
				  .by = by,
				  .coalesce_ms = RT_COALESCE_MS};
}

static void
open_project_free(rt_open_project *open_project)
{
	rt_apply_context with = rt_open_project_context(open_project, RT_STR("http"), NULL);
	const rt_alloc *alloc = open_project->pool->options.alloc;

	rt_runs_stop_all(open_project->runs);
	if (open_project->claims != NULL)
		rt_run_claims_flush(open_project->claims);
	rt_run_claims_free(open_project->claims);
	if (open_project->feed != NULL)
		rt_feed_set_runs(open_project->feed, NULL);
	rt_runs_free(open_project->runs);
	rt_feed_free(open_project->feed);
	if (open_project->is_told)
		rt_action_session_close(open_project->engine, &with);
	rt_engine_close(open_project->engine);
	if (open_project->hooks != NULL)
		open_project->hooks->ops->close(open_project->hooks);
	if (open_project->cache != NULL)
		rt_response_cache_deinit(open_project->cache);
	rt_free(alloc, open_project->cache);
	rt_text_unref(open_project->name);
	rt_free(alloc, open_project);
}

/* Copies of this project's texts elsewhere, and of no other project's. */
static rt_status
purged(void *ctx, rt_str text, rt_error *err)
{
	rt_open_project *open_project = ctx;
	const rt_project_pool_options *given = &open_project->pool->options;

	rt_runs_purge(open_project->runs, text);
	if (open_project->cache != NULL)
		rt_response_cache_forget(open_project->cache);
	if (given->purged == NULL)
		return RT_OK;
	return given->purged(given->purged_ctx, rt_engine_project_number(open_project->engine),
			     text, err);
}

static void
runs_changed(void *ctx)
{
	rt_feed_changed(ctx);
}

static void
run_ended(void *ctx, rt_str by, const rt_run_use *use)
{
	rt_open_project *open_project = ctx;
	const rt_project_pool_options *given = &open_project->pool->options;

	if (given->run_ended != NULL)
		given->run_ended(given->run_ended_ctx, rt_engine_project_number(open_project->engine), by, use);
}

static rt_status
start_runs(rt_open_project *open_project, rt_error *err)
{
	const rt_project_pool_options *given = &open_project->pool->options;
	rt_runs_options options = {.engine = open_project->engine,
				   .alloc = given->alloc,
				   .env = given->env,
				   .hooks = open_project->hooks,
				   .config = given->config,
				   .comms = given->comms,
				   .owner = given->owner,
				   .store_path = given->store_path,
				   .model = given->model,
				   .files = given->files,
				   .lives = given->lives,
				   .pace_ms = RT_RUN_PACE_MS,
				   .changed = runs_changed,
				   .changed_ctx = open_project->feed,
				   .ended = run_ended,
				   .ended_ctx = open_project};
	rt_status st = rt_runs_new(&options, &open_project->runs, err);

	if (st == RT_OK)
		rt_feed_set_runs(open_project->feed, open_project->runs);
	rt_run_claims_options claims = {.engine = open_project->engine,
					.runs = open_project->runs,
					.alloc = given->alloc,
					.env = given->env,
					.owner = given->owner,
					.lives = given->lives};
	return st == RT_OK ? rt_run_claims_new(&claims, &open_project->claims, err) : st;
}

static rt_status
open_project_new(rt_project_pool *pool, rt_str name, bool create, rt_open_project **out,
		 rt_error *err)
{
	const rt_project_pool_options *given = &pool->options;
	rt_engine_options options = {.alloc = given->alloc,
				     .env = given->env,
				     .project = name,
				     .by = RT_STR("http"),
				     .create = create,
				     .purged = purged};
	rt_open_project *open_project = rt_new0(given->alloc, sizeof(*open_project));
	rt_apply_context with;
	rt_status st = RT_OK;

	if (open_project == NULL)
		return rt_fail(err, RT_NOMEM, "out of memory");
	open_project->pool = pool;
	open_project->index_idle_seq = UINT64_MAX;
	open_project->cache = rt_new(given->alloc, sizeof(*open_project->cache));
	if (open_project->cache != NULL &&
	    !rt_response_cache_init(open_project->cache, given->alloc)) {
		rt_free(given->alloc, open_project->cache);
		open_project->cache = NULL;
	}
	options.purged_ctx = open_project;
	if (given->config != NULL)
		options.defaults = given->config->defaults;
	options.git_commit = rt_git_commit;
	options.git_ctx = &open_project->git;
	open_project->name = rt_text_new(given->alloc, name);
	options.read_only = given->store->is_read_only;
	if (open_project->name == NULL)
		st = rt_fail(err, RT_NOMEM, "out of memory");
	if (st == RT_OK)
		st = rt_engine_open(&options, given->store, &open_project->engine, err);
	if (st == RT_OK && !options.read_only && given->lives != NULL)
		st = rt_engine_keep_left(open_project->engine, given->lives, NULL, NULL, err);
	if (st == RT_OK && given->hooks_open != NULL)
		st = given->hooks_open(given->hooks_ctx, name, &open_project->hooks, err);
	if (st == RT_OK)
		st = rt_feed_new(open_project->engine, given->env, &open_project->feed, err);
	if (st == RT_OK)
		st = start_runs(open_project, err);
	if (st != RT_OK) {
		open_project_free(open_project);
		return st;
	}
	with = rt_open_project_context(open_project, RT_STR("http"), NULL);
	rt_action_session_open(open_project->engine, &with);
	open_project->is_told = true;
	*out = open_project;
	return RT_OK;
}

/* With the lock "opening". */
static rt_status
open_project_add(rt_project_pool *pool, rt_str name, bool create, rt_open_project **out,
		 rt_error *err)
{
	rt_status st = open_project_new(pool, name, create, out, err);

	if (st == RT_OK) {
		(*out)->next = pool->first;
		pool->first = *out;
	}
	return st;
}

static rt_open_project *
find(rt_project_pool *pool, rt_str name)
{
	rt_open_project *open_project = pool->first;

	while (open_project != NULL &&
	       (!rt_str_eq(rt_text_str(open_project->name), name) || rt_engine_is_deleted(open_project->engine)))
		open_project = open_project->next;
	return open_project;
}

bool
rt_project_pool_is_open(rt_project_pool *pool, rt_str name)
{
	return find(pool, name.size == 0 ? pool->options.project : name) != NULL;
}

rt_status
rt_project_pool_project(rt_project_pool *pool, rt_str name, bool create, rt_open_project **out,
			rt_error *err)
{
	rt_open_project *open_project;
	rt_status st = RT_OK;

	if (name.size == 0)
		name = pool->options.project;
	open_project = find(pool, name);
	if (open_project == NULL) {
		pthread_mutex_lock(&pool->opening);
		open_project = find(pool, name);
		if (open_project == NULL)
			st = open_project_add(pool, name, create, &open_project, err);
		pthread_mutex_unlock(&pool->opening);
	}
	if (st == RT_OK)
		*out = open_project;
	return st;
}

rt_status
rt_project_pool_create(rt_project_pool *pool, rt_str name, rt_error *err)
{
	rt_open_project *open_project = find(pool, name);
	uint64_t number;
	rt_status st;

	pthread_mutex_lock(&pool->opening);
	st = open_project != NULL || find(pool, name) != NULL
		     ? RT_OK
		     : rt_store_get(pool->options.store, rt_rows_named(RT_STORE_PROJECTS, 0, name),
				    NULL, &number, err);
	if (st == RT_OK)
		st = rt_fail(err, RT_REFUSED, "a project \"%.*s\" already exists",
			     (int)rt_utf8_cut(name, 80), name.ptr);
	else if (st == RT_NOT_FOUND)
		st = open_project_add(pool, name, true, &open_project, err);
	pthread_mutex_unlock(&pool->opening);
	return st;
}

/* Replies of other processes that have ended, and expired responses. Failures are retried. */
static void
tend(rt_open_project *open_project, int64_t now_us, bool is_watched)
{
	const rt_project_pool_options *given = &open_project->pool->options;
	size_t kept = 0;

	if (now_us >= open_project->tended_us &&
	    now_us - open_project->tended_us < (int64_t)TEND_S * 1000000)
		return;
	open_project->tended_us = now_us;
	if (given->store->is_read_only)
		return;
	if (now_us < open_project->swept_us ||
	    now_us - open_project->swept_us >= (int64_t)SWEEP_S * 1000000) {
		open_project->swept_us = now_us;
		(void)!rt_idempotency_sweep(open_project->engine, now_us, NULL, NULL);
	}
	if (is_watched && !open_project->has_side)
		return; /* there is nothing to read */
	if (given->lives != NULL && rt_run_claims_sweep(open_project->claims, &kept, NULL) == RT_OK &&
	    kept > 0)
		rt_feed_changed(open_project->feed);
}

/* Adds a batch of texts to the search index if many are new, so that the first search after an
 * import need not read all of them. Writers wait for a batch; the pauses leave them most of the
 * time. After a failure the pauses become longer, since it may be permanent, for example because
 * the database role may only read. Where there was nothing to do, the store is not asked again
 * before the project has changed: thousands of projects may be open. */
static void
index_texts(rt_open_project *open_project, int64_t now_us)
{
	const rt_env *env = open_project->pool->options.env;
	int64_t used_us, pause_us = INDEX_PAUSE_US;
	const rt_project *value = rt_engine_value(open_project->engine);
	uint64_t seq = value->seq;
	bool is_idle;
	rt_status st;

	rt_object_unref(value);
	if (seq == open_project->index_idle_seq || open_project->pool->options.store->is_read_only ||
	    (now_us >= open_project->indexed_us &&
	     now_us < open_project->indexed_us + open_project->index_pause_us))
		return;
	st = rt_engine_index_step(open_project->engine, INDEX_LEAST, &is_idle, NULL);
	open_project->index_idle_seq = is_idle ? seq : UINT64_MAX;
	open_project->indexed_us = env->now_us(env->ctx);
	used_us = open_project->indexed_us - now_us;
	if (st != RT_OK && st != RT_INTERRUPTED) /* for example because nothing may be written */
		pause_us = open_project->index_pause_us >= INDEX_PAUSE_MOST_US / 2 ? INDEX_PAUSE_MOST_US
			   : open_project->index_pause_us > 0 ? 2 * open_project->index_pause_us
							      : INDEX_PAUSE_US;
	else if (used_us > INDEX_PAUSE_US / 3)
		pause_us = 3 * used_us;
	open_project->index_pause_us = pause_us;
}

void
rt_project_pool_tick(rt_project_pool *pool)
{
	int64_t now_us = pool->options.env->now_us(pool->options.env->ctx);
	bool is_watched = rt_project_watch_look(&pool->watch, pool, now_us);
	rt_open_project *open_project;

	rt_project_watch_deleted(&pool->watch, pool, now_us);
	for (open_project = pool->first; open_project != NULL; open_project = open_project->next) {
		rt_run_claims_tick(open_project->claims);
		rt_feed_tick(open_project->feed, is_watched ? &open_project->news : NULL);
		tend(open_project, now_us, is_watched);
		index_texts(open_project, now_us);
	}
}

void
rt_project_pool_close(rt_project_pool *pool)
{
	rt_open_project *open_project, *next;

	if (pool == NULL)
		return;
	rt_embedding_free(pool->embedding);
	for (open_project = pool->first; open_project != NULL; open_project = next) {
		next = open_project->next;
		open_project_free(open_project);
	}
	pthread_mutex_destroy(&pool->opening);
	rt_free(pool->options.alloc, pool);
}
