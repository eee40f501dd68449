/* SPDX-License-Identifier: MIT
 *
 * All runs of a project: starting, stopping, inspecting, forgetting. */
#define _POSIX_C_SOURCE 200809L

#include "app/run_impl.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

/* ---- new and free ---- */

rt_status
rt_runs_new(const rt_runs_options *options, rt_runs **out, rt_error *err)
{
	const rt_alloc *alloc = options->alloc != NULL ? options->alloc : rt_alloc_libc();
	rt_runs *runs = rt_new0(alloc, sizeof(*runs));

	if (runs == NULL)
		return rt_fail(err, RT_NOMEM, "out of memory");
	runs->given = *options;
	runs->alloc = alloc;
	pthread_mutex_init(&runs->opening, NULL);
	pthread_mutex_init(&runs->lock, NULL);
	options->env->random(options->env->ctx, &runs->tag, sizeof(runs->tag));
	runs->tag &= 0xffffff;
	*out = runs;
	return RT_OK;
}

static rt_run *
run_new(rt_runs *runs)
{
	rt_run *run = rt_new0(runs->alloc, sizeof(*run));

	if (run == NULL)
		return NULL;
	run->runs = runs;
	rt_scope_init(&run->scope, runs->alloc);
	atomic_init(&run->stops, 0);
	rt_pick_counter_init(&run->counter, runs->alloc, rt_str_at("", 0));
	rt_buf_init(&run->model_name, runs->alloc, RT_BUF_UNLIMITED);
	rt_run_text_init(&run->text, runs->alloc);
	rt_buf_init(&run->notice, runs->alloc, RT_BUF_UNLIMITED);
	return run;
}

static void
free_results(rt_run *run)
{
	while (run->reply_count > 0)
		rt_send_result_deinit(&run->replies[--run->reply_count]);
	rt_free(run->runs->alloc, run->replies);
	run->replies = NULL;
	run->reply_room = 0;
	if (run->is_summed_up)
		rt_summary_result_deinit(&run->summary);
	run->is_summed_up = false;
}

static void
run_free(rt_run *run)
{
	if (run->model != NULL)
		run->model->ops->close(run->model);
	rt_pick_counter_deinit(&run->counter);
	rt_buf_deinit(&run->model_name);
	rt_run_text_deinit(&run->text);
	rt_buf_deinit(&run->notice);
	free_results(run);
	rt_send_group_unref(run->group);
	rt_scope_deinit(&run->scope);
	rt_free(run->runs->alloc, run);
}

/* Frees a run whose thread has nothing more to do, or is being joined. Called without the lock. */
static void
end_run(rt_run *run)
{
	pthread_join(run->thread, NULL);
	run_free(run);
}

static void
unlink_run(rt_runs *runs, rt_run *run)
{
	if (run->older != NULL)
		run->older->newer = run->newer;
	else
		runs->oldest = run->newer;
	if (run->newer != NULL)
		run->newer->older = run->older;
	else
		runs->newest = run->older;
	runs->count--;
}

void
rt_runs_stop_all(rt_runs *runs)
{
	rt_run *run;

	if (runs == NULL || runs->is_stopped)
		return;
	pthread_mutex_lock(&runs->lock);
	runs->is_ending = true;
	for (run = runs->oldest; run != NULL; run = run->newer)
		atomic_store(&run->stops, 2);
	pthread_mutex_unlock(&runs->lock);
	/* The list does not change any more. */
	for (run = runs->oldest; run != NULL; run = run->newer)
		pthread_join(run->thread, NULL);
	runs->is_stopped = true;
}

void
rt_runs_free(rt_runs *runs)
{
	rt_run *run;

	if (runs == NULL)
		return;
	rt_runs_stop_all(runs);
	while (runs->oldest != NULL) {
		run = runs->oldest;
		unlink_run(runs, run);
		run_free(run);
	}
	while (runs->leaving != NULL) {
		run = runs->leaving;
		runs->leaving = run->older;
		end_run(run);
	}
	pthread_mutex_destroy(&runs->opening);
	pthread_mutex_destroy(&runs->lock);
	rt_free(runs->alloc, runs);
}

/* ---- finished runs ---- */

/* With the lock held: a run that has ended no longer counts. Its thread may still have to report
 * the end, which it does without the lock. */
static void
forget_run(rt_runs *runs, rt_run *run)
{
	unlink_run(runs, run);
	if (run->is_over) {
		end_run(run);
		return;
	}
	rt_run_text_deinit(&run->text);
	rt_run_text_init(&run->text, runs->alloc);
	free_results(run);
	run->older = runs->leaving;
	runs->leaving = run;
}

/* With the lock held: drop old or excess finished runs. */
static void
forget(rt_runs *runs)
{
	int64_t now = runs->given.env->now_us(runs->given.env->ctx), ago;
	size_t bytes = 0, kept = 0;
	rt_run *run, *older, **at = &runs->leaving;

	while (*at != NULL) {
		run = *at;
		if (run->is_over) {
			*at = run->older;
			end_run(run);
		} else {
			at = &run->older;
		}
	}
	for (run = runs->newest; run != NULL; run = older) {
		older = run->older;
		if (!run->is_over || runs->is_ending)
			continue;
		bytes += run->text.bytes.room;
		kept++;
		ago = now - run->ended_us;
		if (ago < (int64_t)RT_RUNS_KEPT_S * 1000000 && kept <= RT_RUNS_KEPT &&
		    bytes <= RT_RUN_KEPT_BYTES)
			continue;
		if (ago < (int64_t)RT_RUNS_FRESH_S * 1000000 ||
		    (kept == 1 && ago < (int64_t)RT_RUNS_KEPT_S * 1000000))
			continue; /* just ended; the newest is kept, however long it is */
		forget_run(runs, run);
	}
}

static bool
contains(const rt_text *text, rt_str part)
{
	return text != NULL && rt_str_find(rt_text_str(text), part, 0) != SIZE_MAX;
}

static bool
run_contains(const rt_run *run, rt_str part)
{
	if (rt_str_find(rt_buf_str(&run->text.bytes), part, 0) != SIZE_MAX)
		return true;
	for (size_t i = 0; i < run->reply_count; i++)
		if (contains(run->replies[i].note, part))
			return true;
	return run->is_summed_up &&
	       (contains(run->summary.note, part) || contains(run->summary.editor, part));
}

void
rt_runs_purge(rt_runs *runs, rt_str text)
{
	rt_run *run, *older;

	pthread_mutex_lock(&runs->lock);
	for (run = runs->newest; run != NULL && text.size > 0 && !runs->is_ending; run = older) {
		older = run->older;
		if (run->state != RT_RUN_RUNNING && run_contains(run, text))
			forget_run(runs, run);
	}
	pthread_mutex_unlock(&runs->lock);
}

rt_run *
rt_runs_find(const rt_runs *runs, uint64_t number)
{
	rt_run *run = runs->newest;

	while (run != NULL && run->number > number)
		run = run->older;
	return run != NULL && run->number == number ? run : NULL;
}

static rt_status
find_named(rt_runs *runs, rt_str name, rt_run **out, rt_error *err)
{
	forget(runs);
	for (*out = runs->newest; *out != NULL; *out = (*out)->older)
		if (rt_str_is(name, (*out)->name))
			return RT_OK;
	return rt_fail(err, RT_NOT_FOUND, "there is no run \"%.*s\"; finished runs are removed "
					  "after a while",
		       RT_STR_ARG(name.size > 40 ? rt_str_at(name.ptr, 40) : name));
}

/* ---- starting ---- */

/* May this many start? With the lock held. */
static rt_status
may_begin(rt_runs *runs, size_t count, rt_error *err)
{
	if (runs->is_ending)
		return rt_fail(err, RT_BUSY, "the server is shutting down");
	if (runs->running + count > RT_RUNS_MAX)
		return rt_fail(err, RT_LIMIT, "%d runs are active in this project; wait for one of "
			       "them, or stop it", (int)RT_RUNS_MAX);
	return RT_OK;
}

/* Is the same reply being continued already? Two continuations must not run at once. With the lock
 * held. */
static rt_status
may_continue(rt_runs *runs, const rt_run_asked *asked, char out_name[24], rt_error *err)
{
	const rt_run *run;

	if (asked->how != RT_RUN_CONTINUE || asked->into == 0)
		return RT_OK;
	for (run = runs->newest; run != NULL; run = run->older) {
		const rt_run_asked *other = &run->asked;

		if (run->state != RT_RUN_RUNNING || other->how != RT_RUN_CONTINUE ||
		    other->disc != asked->disc || other->into != asked->into ||
		    !rt_str_eq(other->shown_take, asked->shown_take))
			continue;
		memcpy(out_name, run->name, sizeof(run->name));
		return rt_fail(err, RT_REFUSED, "this reply is already being continued (run %s)",
			       run->name);
	}
	return RT_OK;
}

/* Checks that are possible before anything begins. */
static rt_status
look_first(rt_runs *runs, size_t count, rt_error *err)
{
	rt_engine *engine = runs->given.engine;
	rt_store *store = rt_engine_store(engine);
	rt_status st;

	pthread_mutex_lock(&runs->lock);
	st = may_begin(runs, count, err);
	pthread_mutex_unlock(&runs->lock);
	if (st == RT_OK && store->is_read_only)
		st = rt_fail(err, RT_READ_ONLY, "%s is open read-only", store->place);
	if (st == RT_OK)
		st = rt_engine_refresh(engine, err);
	if (st == RT_OK && rt_engine_newer(engine, err))
		st = RT_TOO_NEW;
	return st;
}

/* Put it into the list and let it run. Signals are handled by other threads. group: the name
 * of the group's first run; empty: this is the first. */
static rt_status
begin(rt_runs *runs, rt_run *run, const char *group, char out_name[24], rt_error *err)
{
	sigset_t all, before;
	rt_status st;

	sigfillset(&all);
	pthread_mutex_lock(&runs->lock);
	st = may_begin(runs, 1, err);
	if (st == RT_OK)
		st = may_continue(runs, &run->asked, out_name, err);
	if (st == RT_OK) {
		run->number = runs->last + 1;
		(void)snprintf(run->name, sizeof(run->name), "r%llu-%06x",
			       (unsigned long long)run->number, (unsigned)runs->tag);
		memcpy(out_name, run->name, sizeof(run->name));
		if (run->group != NULL)
			memcpy(run->group_name, group[0] != '\0' ? group : run->name,
			       sizeof(run->group_name));
		pthread_sigmask(SIG_SETMASK, &all, &before);
		if (pthread_create(&run->thread, NULL, rt_run_work, run) != 0)
			st = rt_fail(err, RT_LIMIT, "the system cannot create more threads");
		pthread_sigmask(SIG_SETMASK, &before, NULL);
	}
	if (st == RT_OK) {
		runs->last++;
		runs->running++;
		runs->count++;
		run->older = runs->newest;
		if (runs->newest != NULL)
			runs->newest->newer = run;
		else
			runs->oldest = run;
		runs->newest = run;
		forget(runs);
	}
	pthread_mutex_unlock(&runs->lock);
	return st;
}

/* A run that is ready to start; NULL after a failure. */
static rt_run *
prepare(rt_runs *runs, const rt_run_request *request, rt_error *err)
{
	rt_run *run = run_new(runs);

	if (run == NULL) {
		(void)rt_fail(err, RT_NOMEM, "out of memory");
		return NULL;
	}
	const rt_project *project = rt_engine_value(runs->given.engine);
	rt_run_resolve(run, request, project);
	rt_run_open_model(run, project);
	rt_run_check_files(run, project);
	rt_object_unref(project);
	run->started_us = runs->given.env->now_us(runs->given.env->ctx);
	run->is_listed = rt_run_is_listed(run);
	if (rt_ok(&run->scope))
		return run;
	*err = run->scope.error;
	run_free(run);
	return NULL;
}

static void
tell_changed(const rt_runs *runs)
{
	if (runs->given.changed != NULL)
		runs->given.changed(runs->given.changed_ctx);
}

rt_status
rt_runs_start(rt_runs *runs, const rt_run_request *request, char out_name[24], rt_error *err)
{
	rt_error ignored = {0}, *why = err != NULL ? err : &ignored;
	rt_status st = look_first(runs, 1, why);

	out_name[0] = '\0';
	if (st != RT_OK)
		return st;
	rt_run *run = prepare(runs, request, why);
	if (run == NULL)
		return why->status;
	st = begin(runs, run, "", out_name, why); /* from here on the run belongs to its thread */
	if (st != RT_OK) {
		run_free(run);
		return st;
	}
	tell_changed(runs);
	return RT_OK;
}

/* The run of each model, checked; after a failure those before it are freed. */
static rt_status
prepare_several(rt_runs *runs, const rt_run_request *request, const rt_str *models, size_t count,
		rt_run **out, rt_error *err)
{
	size_t made = 0;

	for (bool is_fine = true; is_fine && made < count;) {
		rt_run_request one = *request;

		one.model = models[made];
		out[made] = prepare(runs, &one, err);
		is_fine = out[made] != NULL;
		for (size_t i = 0; is_fine && i < made; i++)
			if (rt_str_eq(rt_buf_str(&out[i]->model_name),
				      rt_buf_str(&out[made]->model_name)))
				is_fine = rt_fail(err, RT_USAGE, "%.*s is named twice",
						  RT_STR_ARG(models[made])) == RT_OK;
		made += out[made] != NULL;
		if (is_fine)
			continue;
		while (made > 0)
			run_free(out[--made]);
		return err->status;
	}
	return RT_OK;
}

rt_status
rt_runs_start_several(rt_runs *runs, const rt_run_request *request, const rt_str *models,
		      size_t count, char (*out_names)[24], rt_error *err)
{
	rt_run *all[RT_RUN_MODELS_MAX];
	rt_send_group *group = NULL;
	rt_status st = RT_OK;
	size_t begun = 0;

	if (count < 1 || count > RT_RUN_MODELS_MAX)
		return rt_fail(err, RT_USAGE, "give 1 to %d models",
			       (int)RT_RUN_MODELS_MAX);
	if (request->how > RT_RUN_AGAIN || request->replies > 1)
		return rt_fail(err, RT_USAGE, "with several models, only a question can be answered, with one "
					      "reply from each");
	st = look_first(runs, count, err);
	if (st == RT_OK)
		st = prepare_several(runs, request, models, count, all, err);
	if (st != RT_OK)
		return st;
	st = rt_send_group_new(runs->alloc, count, &group, err);
	for (size_t i = 0; i < count; i++)
		all[i]->group = group;
	while (st == RT_OK && begun < count) {
		st = begin(runs, all[begun], begun > 0 ? out_names[0] : "", out_names[begun], err);
		begun += st == RT_OK;
	}
	for (size_t i = 0; st != RT_OK && i < count; i++)
		if (i < begun)
			(void)!rt_runs_stop(runs, rt_str_of(out_names[i]), NULL);
		else
			run_free(all[i]);
	tell_changed(runs);
	return st;
}

/* ---- the rest ---- */

rt_status
rt_runs_stop(rt_runs *runs, rt_str name, rt_error *err)
{
	rt_run *run = NULL;
	rt_status st;

	pthread_mutex_lock(&runs->lock);
	st = find_named(runs, name, &run, err);
	if (st == RT_OK && run->state == RT_RUN_RUNNING)
		atomic_fetch_add(&run->stops, 1);
	pthread_mutex_unlock(&runs->lock);
	return st;
}

rt_run_info
rt_run_get_info(const rt_run *run)
{
	const rt_run_asked *a = &run->asked;
	bool is_reply = a->how <= RT_RUN_CONTINUE;

	return (rt_run_info){
		.name = run->name,
		.state = run->state,
		.how = a->how,
		.discussion = rt_address_shown(a->discussion),
		.take = rt_address_shown(run->take[0] != '\0' ? rt_str_of(run->take)
							       : a->shown_take),
		.at = a->at,
		.model = rt_buf_str(&run->model_name),
		.group = rt_str_of(run->group_name),
		.question = rt_str_of(run->question),
		.notice = rt_buf_str(&run->notice),
		.retry = run->retry,
		.retries = run->retries,
		.is_removed = run->is_removed,
		.started_us = run->started_us,
		.ended_us = run->ended_us,
		.problem = run->problem.status != RT_OK ? &run->problem : NULL,
		.replies = is_reply ? run->replies : NULL,
		.reply_count = run->reply_count,
		.several = a->replies > 1,
		.summary = run->is_summed_up ? &run->summary : NULL,
		.text = &run->text,
	};
}

rt_status
rt_runs_show(rt_runs *runs, rt_str name, void (*fn)(void *ctx, const rt_run_info *run), void *ctx,
	     rt_error *err)
{
	rt_run *run = NULL;
	rt_status st;

	pthread_mutex_lock(&runs->lock);
	st = find_named(runs, name, &run, err);
	if (st == RT_OK) {
		rt_run_info info = rt_run_get_info(run);

		fn(ctx, &info);
	}
	pthread_mutex_unlock(&runs->lock);
	return st;
}

void
rt_runs_each(rt_runs *runs, void (*fn)(void *ctx, const rt_run_info *run), void *ctx)
{
	pthread_mutex_lock(&runs->lock);
	forget(runs);
	for (const rt_run *run = runs->newest; run != NULL; run = run->older) {
		rt_run_info info = rt_run_get_info(run);

		fn(ctx, &info);
	}
	pthread_mutex_unlock(&runs->lock);
}

size_t
rt_runs_running(rt_runs *runs)
{
	size_t count;

	pthread_mutex_lock(&runs->lock);
	count = runs->running;
	pthread_mutex_unlock(&runs->lock);
	return count;
}

bool
rt_runs_is_owner(const rt_runs *runs, rt_str owner)
{
	return rt_str_eq(owner, runs->given.owner);
}

bool
rt_runs_is_elsewhere(const rt_runs *runs, rt_str owner, int64_t written_us)
{
	const rt_runs_options *given = &runs->given;

	if (rt_runs_is_owner(runs, owner))
		return false;
	return given->lives == NULL || given->lives(NULL, owner, written_us);
}
