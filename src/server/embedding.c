/* SPDX-License-Identifier: MIT */
#include "server/embedding.h"

#include "base/clock_host.h"
#include "codec/json.h"

enum {
	LOOK_MS = 1000,             /* between two looks for new texts */
	PAUSE_MS = 5000,            /* after a failure: at first, and at most */
	PAUSE_MOST_MS = 5 * 60 * 1000,
	TEXT_MS = 10 * 1000         /* for the text of a search */
};

struct rt_embedding {
	rt_project_pool *pool;
	pthread_t thread;
	bool has_thread;
	pthread_mutex_t lock;
	pthread_cond_t changed;
	bool is_ending;
	char problem[RT_ERROR_TEXT_SIZE]; /* of the thread's last request; or empty */
	pthread_mutex_t search_lock;      /* for the next member */
	rt_embedder *search_embedder;     /* NULL: not open yet */
};

static bool
is_ending(void *ctx)
{
	rt_embedding *e = ctx;

	(void)pthread_mutex_lock(&e->lock);
	bool is = e->is_ending;
	(void)pthread_mutex_unlock(&e->lock);
	return is;
}

static rt_status
open_embedder(rt_embedding *e, unsigned tries, rt_embedder **out, rt_error *err)
{
	const rt_project_pool_options *given = rt_project_pool_get_options(e->pool);
	rt_models_options options = {.alloc = given->alloc,
				     .env = given->env,
				     .config = given->config,
				     .tries = tries,
				     .stop = is_ending,
				     .stop_ctx = e};
	rt_buf warnings;
	rt_status st;

	rt_buf_init(&warnings, given->alloc, RT_BUF_UNLIMITED);
	st = rt_embedder_open(&options, out, &warnings, err);
	rt_buf_deinit(&warnings);
	return st;
}

/* ---- the thread ---- */

/* One step of each project that has new texts. more: there may be others. */
static rt_status
step(rt_embedding *e, rt_embedder *embedder, bool *more, rt_error *err)
{
	rt_status st = RT_OK;

	*more = false;
	for (rt_open_project *p = rt_project_pool_first(e->pool); p != NULL && st == RT_OK && !is_ending(e);
	     p = p->next) {
		rt_embed_state state;

		st = rt_embed_step(embedder, p->engine, &state, err);
		*more = *more || (st == RT_OK && state.done < state.all);
	}
	return st;
}

/* Notes a failure, or clears the last one, and waits. */
static void
note_and_wait(rt_embedding *e, rt_status st, const rt_error *why, int64_t pause_ms)
{
	int64_t until_ms = rt_clock_ms() + pause_ms;

	(void)pthread_mutex_lock(&e->lock);
	e->problem[0] = '\0';
	if (st != RT_OK && st != RT_INTERRUPTED)
		memcpy(e->problem, why->text, sizeof(e->problem));
	while (pause_ms > 0 && !e->is_ending && rt_wait_until(&e->lock, &e->changed, until_ms))
		continue;
	(void)pthread_mutex_unlock(&e->lock);
}

static void *
run(void *ctx)
{
	rt_embedding *e = ctx;
	rt_embedder *embedder = NULL;
	int64_t pause_ms = PAUSE_MS;

	while (!is_ending(e)) {
		rt_error why = {0};
		bool more = false;
		rt_status st = embedder == NULL ? open_embedder(e, 0, &embedder, &why) : RT_OK;

		if (st == RT_OK) {
			rt_embedder_set_stop(embedder, is_ending, e);
			st = step(e, embedder, &more, &why);
		}
		if (st == RT_OK || st == RT_BUSY) {
			note_and_wait(e, RT_OK, NULL, more ? 0 : LOOK_MS);
			pause_ms = PAUSE_MS;
			continue;
		}
		note_and_wait(e, st, &why, pause_ms);
		pause_ms = 2 * pause_ms < PAUSE_MOST_MS ? 2 * pause_ms : PAUSE_MOST_MS;
	}
	rt_embedder_close(embedder);
	return NULL;
}

rt_status
rt_embedding_new(rt_project_pool *pool, rt_embedding **out, rt_error *err)
{
	const rt_project_pool_options *given = rt_project_pool_get_options(pool);
	rt_embedding *e;

	*out = NULL;
	if (given->config == NULL || given->config->embedding_model.size == 0)
		return RT_OK;
	e = rt_new0(given->alloc, sizeof(*e));
	if (e == NULL || pthread_mutex_init(&e->search_lock, NULL) != 0) {
		rt_free(given->alloc, e);
		return rt_fail(err, RT_NOMEM, "out of memory");
	}
	e->pool = pool;
	if (!rt_wait_init(&e->lock, &e->changed)) {
		(void)pthread_mutex_destroy(&e->search_lock);
		rt_free(given->alloc, e);
		return rt_fail(err, RT_NOMEM, "out of memory");
	}
	/* Without a thread, texts are embedded by "retake index". */
	e->has_thread = !given->store->is_read_only && pthread_create(&e->thread, NULL, run, e) == 0;
	*out = e;
	return RT_OK;
}

void
rt_embedding_free(rt_embedding *e)
{
	if (e == NULL)
		return;
	(void)pthread_mutex_lock(&e->lock);
	e->is_ending = true;
	(void)pthread_cond_broadcast(&e->changed);
	(void)pthread_mutex_unlock(&e->lock);
	if (e->has_thread)
		(void)pthread_join(e->thread, NULL);
	rt_embedder_close(e->search_embedder);
	rt_wait_deinit(&e->lock, &e->changed);
	(void)pthread_mutex_destroy(&e->search_lock);
	rt_free(rt_project_pool_get_options(e->pool)->alloc, e);
}

/* ---- searches ---- */

typedef struct limit {
	rt_embedding *e;
	int64_t until_ms;
} limit;

static bool
is_late(void *ctx)
{
	limit *l = ctx;

	return rt_clock_ms() > l->until_ms || is_ending(l->e);
}

void
rt_embedding_text(rt_embedding *e, rt_scope *s, rt_str text, rt_meaning *out)
{
	limit l = {e, rt_clock_ms() + TEXT_MS};

	if (e == NULL) {
		rt_scope_fail(s, RT_REFUSED, "search by meaning requires an embedding_model in config.toml");
		return;
	}
	if (!rt_ok(s))
		return;
	(void)pthread_mutex_lock(&e->search_lock);
	if (e->search_embedder == NULL)
		RT_TRY(s, open_embedder(e, 1, &e->search_embedder, &s->error));
	if (rt_ok(s)) {
		rt_embedder_set_stop(e->search_embedder, is_late, &l);
		*out = rt_embed_text(e->search_embedder, s, text);
		if (s->status == RT_INTERRUPTED) {
			s->status = RT_OK;
			rt_scope_fail(s, RT_UPSTREAM, "the server of the embedding_model did not answer within %d seconds",
				      TEXT_MS / 1000);
		}
	}
	(void)pthread_mutex_unlock(&e->search_lock);
}

void
rt_embedding_put(rt_embedding *e, rt_scope *s, rt_engine *engine, rt_buf *json)
{
	const rt_config *config = e != NULL ? rt_project_pool_get_options(e->pool)->config : NULL;
	rt_embed_state state = {0};

	if (e == NULL)
		return;
	RT_TRY(s, rt_embed_state_read(config->embedding_model, engine, &state, &s->error));
	rt_json_open(json, "embedding", '{');
	rt_json_put_str(json, "model", config->embedding_model);
	rt_json_put_u64(json, "done", state.done);
	rt_json_put_u64(json, "all", state.all);
	(void)pthread_mutex_lock(&e->lock);
	if (e->problem[0] != '\0')
		rt_json_put_c(json, "problem", e->problem);
	(void)pthread_mutex_unlock(&e->lock);
	rt_json_close(json, '}');
}
