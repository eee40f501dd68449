/* SPDX-License-Identifier: MIT
 *
 * The search of the list of discussions. It runs in a thread, one at a time; when the text changes
 * it is cancelled and started again. Hits are shown as they are found. A search by meaning waits until
 * nothing is typed, because each sends the text to a server. */
#include "app/host.h"
#include "base/clock_host.h"
#include "llm/embed.h"
#include "tui/pane_discussions_impl.h"

enum { MEANING_PAUSE_MS = 400, MEANING_STEPS = 4 /* of new texts, before a search */ };

static bool
is_cancelled(void *ctx)
{
	return !rt_worker_is_wanted(&((rt_find_job *)ctx)->worker);
}

static void
on_progress(void *ctx, unsigned percent, rt_hits hits)
{
	rt_find_job *job = ctx;

	(void)pthread_mutex_lock(&job->lock);
	job->hits = hits;
	(void)pthread_mutex_unlock(&job->lock);
	if (atomic_exchange(&job->percent, percent) != percent && job->worker.terminal != NULL)
		rt_terminal_wake(job->worker.terminal);
}

/* What the words of the query mean; some new texts are sent first. */
static void
find_meaning(rt_find_job *job, rt_str query, rt_meaning *out)
{
	rt_models_options options = {.alloc = job->scope.alloc,
				     .env = job->env,
				     .config = job->config,
				     .tries = 2,
				     .stop = is_cancelled,
				     .stop_ctx = job};
	rt_scope *s = &job->scope;
	rt_buf *warnings = rt_scope_buf(s);
	rt_str words = rt_search_words(s, query);
	rt_embedder *e = NULL;
	rt_embed_state state = {0, 1, 0};

	RT_TRY(s, rt_embedder_open(&options, &e, warnings, &s->error));
	if (!rt_ok(s))
		return;
	rt_embedder_set_stop(e, is_cancelled, job);
	if (rt_engine_store(job->engine)->is_read_only)
		state.all = 0;
	for (int i = 0; i < MEANING_STEPS && state.done < state.all && rt_ok(s); i++)
		RT_TRY(s, rt_embed_step(e, job->engine, &state, &s->error));
	*out = rt_embed_text(e, s, words);
	rt_embedder_close(e);
}

static void
run_search(rt_worker *worker, void *ctx)
{
	rt_find_job *job = ctx;
	rt_meaning meaning;
	rt_view view = {&job->scope, job->engine, job->value, {0}};
	rt_search search = {.query = job->query,
			    .limit = RT_FIND_HITS,
			    .zone = rt_clock_zone_us,
			    .stop = is_cancelled,
			    .progress = on_progress,
			    .ctx = job};
	rt_hits hits;

	if (rt_discussions_is_meaning(job->config, job->query)) {
		search.query = rt_str_skip(job->query, 1);
		search.meaning = &meaning;
		rt_worker_pause(worker, MEANING_PAUSE_MS);
		if (rt_worker_is_wanted(worker))
			find_meaning(job, search.query, &meaning);
		if (!rt_worker_is_wanted(worker))
			return;
	}
	hits = rt_ok(&job->scope) ? rt_search_run(&view, &search) : (rt_hits){0};
	(void)pthread_mutex_lock(&job->lock);
	job->hits = rt_ok(&job->scope) ? hits : (rt_hits){0};
	(void)pthread_mutex_unlock(&job->lock);
}

void
rt_find_job_free(void *ctx)
{
	rt_find_job *job = ctx;
	const rt_alloc *alloc;

	if (job == NULL)
		return;
	alloc = job->scope.alloc;
	rt_object_unref(job->value);
	rt_scope_deinit(&job->scope);
	(void)pthread_mutex_destroy(&job->lock);
	rt_free(alloc, job);
}

static void
start_search(rt_discussions *d)
{
	rt_tui *tui = d->pane.tui;
	rt_find_job *job = rt_new0(tui->alloc, sizeof(*job));
	rt_status st;

	if (job == NULL) {
		(void)rt_scope_nomem(rt_discussions_scope(d));
		return;
	}
	rt_scope_init(&job->scope, tui->alloc);
	job->engine = tui->work.engine;
	job->config = tui->session->config;
	job->env = tui->session->env;
	job->value = rt_object_ref(tui->work.value);
	(void)pthread_mutex_init(&job->lock, NULL);
	atomic_init(&job->percent, 0);
	job->query = rt_scope_copy(&job->scope, rt_discussions_query(d));
	st = job->scope.status;
	if (st == RT_OK)
		st = rt_worker_start(&job->worker, tui, run_search, job);
	if (st == RT_OK) {
		d->job = job;
		return;
	}
	rt_find_job_free(job);
	if (st != RT_BUSY) /* no thread now: try again later */
		RT_TRY(rt_discussions_scope(d), st);
}

/* Shows the hits of a search, so far. The rows point to them. */
static void
show_hits(rt_discussions *d, rt_find_job *job, rt_hits hits)
{
	if (d->found != job) {
		d->hits.count = d->filter.list.count = 0;
		rt_find_job_free(d->found);
	}
	d->found = job;
	d->hits = hits;
	rt_filter_fill(&d->filter);
}

bool
rt_discussions_is_answered(const rt_discussions *d)
{
	return d->is_searched && d->found != NULL && d->found->is_complete &&
	       rt_str_eq(d->found->query, rt_discussions_query(d));
}

/* The search has ended. */
static void
collect_hits(rt_discussions *d)
{
	rt_find_job *job = d->job;

	d->job = NULL;
	job->is_complete = rt_worker_is_wanted(&job->worker);
	if (job->is_complete) {
		if (job->scope.status == RT_NOMEM)
			(void)rt_scope_nomem(rt_discussions_scope(d));
		d->is_searched = job->value == d->pane.tui->work.value;
		show_hits(d, job, job->hits);
	} else if (d->found != job) {
		rt_find_job_free(job);
	}
}

static void
collect_partial_hits(rt_discussions *d)
{
	rt_hits hits;

	(void)pthread_mutex_lock(&d->job->lock);
	hits = d->job->hits;
	(void)pthread_mutex_unlock(&d->job->lock);
	if (hits.count == (d->found == d->job ? d->hits.count : 0))
		return;
	show_hits(d, d->job, hits);
}

void
rt_discussions_poll(rt_pane *pane)
{
	rt_discussions *d = rt_discussions_of(pane);

	if (d->job != NULL && rt_worker_ended(&d->job->worker))
		collect_hits(d);
	else if (d->job != NULL && !rt_str_eq(d->job->query, rt_discussions_query(d)))
		rt_worker_cancel(&d->job->worker);
	else if (d->job != NULL)
		collect_partial_hits(d);
	if (!rt_ok(rt_discussions_scope(d)) || rt_discussions_query(d).size == 0 ||
	    rt_discussions_is_answered(d) || d->job != NULL)
		return;
	start_search(d);
	if (d->job != NULL && rt_worker_ended(&d->job->worker)) /* at once, without a terminal */
		collect_hits(d);
}
