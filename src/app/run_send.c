/* SPDX-License-Identifier: MIT
 *
 * A run's thread: calls the engine as the command line does, and passes its progress to streams. */
#define _POSIX_C_SOURCE 200809L

#include "app/run_impl.h"
#include "app/title.h"

#include <stdio.h>

#include "llm/names_host.h"

static void
changed(const rt_run *run)
{
	if (run->runs->given.changed != NULL)
		run->runs->given.changed(run->runs->given.changed_ctx);
}

/* ---- callbacks of the engine, on this thread ---- */

/* The question is an entry once the engine continues from it. */
static void
see_question(rt_run *run)
{
	rt_runs *runs = run->runs;
	uint64_t epoch;

	if (run->sending == NULL || run->sending->question[0] == '\0' || run->question[0] != '\0')
		return; /* no other thread writes run->question */
	epoch = rt_engine_epoch(runs->given.engine);
	pthread_mutex_lock(&runs->lock);
	memcpy(run->question, run->sending->question, sizeof(run->question));
	run->question_seq = run->sending->question_seq;
	run->epoch = epoch;
	pthread_mutex_unlock(&runs->lock);
	changed(run);
}

static void
arrived(void *ctx, rt_reply_block_kind kind, size_t block, rt_str added)
{
	rt_run *run = ctx;

	see_question(run);
	if (added.size == 0)
		return;
	pthread_mutex_lock(&run->runs->lock);
	rt_run_text_add(&run->text, kind, block, added);
	pthread_mutex_unlock(&run->runs->lock);
	changed(run);
}

static void
notice(void *ctx, const rt_notice *said)
{
	rt_run *run = ctx;

	see_question(run);
	pthread_mutex_lock(&run->runs->lock);
	rt_buf_clear(&run->notice);
	rt_buf_add_c(&run->notice, said->words);
	run->retry = said->retry;
	run->retries = said->retries;
	run->notice_number++;
	pthread_mutex_unlock(&run->runs->lock);
	changed(run);
}

static void
line(void *ctx, const rt_comms_item *item)
{
	rt_run *run = ctx;

	see_question(run);
	if (run->runs->given.comms != NULL)
		rt_comms_add(run->runs->given.comms, item);
}

bool
rt_run_is_listed(const rt_run *run)
{
	const rt_project *value = rt_engine_value(run->runs->given.engine);
	const rt_cell *cell = rt_project_cell(value, run->asked.disc);
	bool is_listed = cell != NULL && cell->present;

	rt_object_unref(value);
	return is_listed;
}

static bool
stopped(void *ctx)
{
	rt_run *run = ctx;

	see_question(run);
	/* After a reset or a deletion has removed the discussion, its reply is not needed. */
	return atomic_load(&run->stops) > 0 || (run->is_listed && !rt_run_is_listed(run));
}

static bool
insists(void *ctx)
{
	rt_run *run = ctx;

	return atomic_load(&run->stops) > 1;
}

static rt_send_with
make_with(rt_run *run)
{
	const rt_runs_options *given = &run->runs->given;
	rt_send_with with = {.model = run->model,
			     .price = run->model == NULL
					      ? NULL
					      : rt_config_price_of(given->config,
								   rt_model_service(run->model),
								   run->model->name),
			     .hooks = given->hooks,
			     .budget_tokens = run->budget_tokens,
			     .owner = given->owner,
			     .run = rt_str_of(run->name),
			     .trace = run->asked.trace,
			     .store = given->store_path,
			     .by = run->asked.by,
			     .fn = arrived,
			     .stop = stopped,
			     .insists = insists,
			     .notice = notice,
			     .comms = line,
			     .bare_log = rt_comms_bare_key(given->comms),
			     .ctx = run};

	if (given->files != NULL && !run->asked.no_files) {
		with.attach = rt_attach;
		with.attach_ctx = given->files;
	}
	if (run->budget_tokens > 0 && run->counter.encoding != NULL) {
		with.count = rt_pick_count;
		with.count_ctx = &run->counter;
	}
	return with;
}

/* ---- results ---- */

static uint64_t
last_step(const rt_send_result *r)
{
	uint64_t seq = r->seq > r->failure_seq ? r->seq : r->failure_seq;

	if (r->question_seq > seq)
		seq = r->question_seq;
	return r->compaction.seq > seq ? r->compaction.seq : seq;
}

/* Stores the result, whatever it is. */
static void
keep_reply(rt_run *run, rt_send_result *r)
{
	rt_runs *runs = run->runs;
	uint64_t seq = last_step(r), epoch = rt_engine_epoch(runs->given.engine);

	pthread_mutex_lock(&runs->lock);
	memcpy(run->question, r->question, sizeof(run->question));
	run->question_seq = r->question_seq;
	if (r->take[0] != '\0')
		memcpy(run->take, r->take, sizeof(run->take));
	else if (r->asked_take != 0) /* another one may be active by now */
		(void)snprintf(run->take, sizeof(run->take), RT_BY_ID "t%u", (unsigned)r->asked_take);
	if (seq > run->seq) {
		run->seq = seq;
		run->epoch = epoch;
	}
	if (run->reply_count < run->reply_room)
		run->replies[run->reply_count++] = *r;
	else
		rt_send_result_deinit(r);
	pthread_mutex_unlock(&runs->lock);
	changed(run);
}

static rt_status
send(rt_run *run, rt_error *err)
{
	const rt_run_asked *a = &run->asked;
	rt_send_options options = {.how = a->how == RT_RUN_ASK	   ? RT_SEND_ASK
					  : a->how == RT_RUN_AGAIN ? RT_SEND_AGAIN
								   : RT_SEND_CONTINUE,
				   .with = make_with(run),
				   .group = run->group,
				   .discussion = a->discussion,
				   .take = a->take,
				   .at = a->at,
				   .text = a->text,
				   .content = a->content,
				   .role = a->role,
				   .clears_draft = a->clears_draft,
				   .reply_role = a->reply_role};
	rt_send_result result;
	rt_send_result *replies = rt_new_array(run->runs->alloc, (size_t)a->replies,
					       sizeof(*replies));
	uint64_t i;
	rt_status st = RT_OK;

	if (replies == NULL)
		return rt_fail(err, RT_NOMEM, "out of memory");
	pthread_mutex_lock(&run->runs->lock);
	run->replies = replies;
	run->reply_room = (size_t)a->replies;
	pthread_mutex_unlock(&run->runs->lock);
	if (a->how == RT_RUN_ASK && a->text.ptr == NULL && a->at.size > 0)
		options.how = RT_SEND_AGAIN; /* answers the existing path */
	for (i = 0; st == RT_OK && i < a->replies; i++) {
		if (i > 0) {
			pthread_mutex_lock(&run->runs->lock);
			rt_run_text_next(&run->text);
			pthread_mutex_unlock(&run->runs->lock);
		}
		memset(&result, 0, sizeof(result));
		run->sending = &result;
		st = rt_engine_send(run->runs->given.engine, &options, &result, err);
		run->sending = NULL;
		keep_reply(run, &result);
		/* stopped between two of them */
		if (st == RT_OK && i + 1 < a->replies && atomic_load(&run->stops) > 0)
			st = rt_fail(err, RT_INTERRUPTED, "stopped");
	}
	return st;
}

/* Stores the result. */
static void
keep_summary(rt_run *run, const rt_summary_result *r)
{
	rt_runs *runs = run->runs;
	uint64_t epoch = rt_engine_epoch(runs->given.engine);

	pthread_mutex_lock(&runs->lock);
	if (r->take[0] != '\0')
		memcpy(run->take, r->take, sizeof(run->take));
	run->seq = r->seq;
	run->epoch = epoch;
	run->summary = *r;
	run->is_summed_up = true;
	pthread_mutex_unlock(&runs->lock);
	changed(run);
}

static rt_status
sum_up(rt_run *run, rt_error *err)
{
	const rt_run_asked *a = &run->asked;
	rt_engine *engine = run->runs->given.engine;
	rt_compact_options compact = {.with = make_with(run),
				      .discussion = a->discussion,
				      .take = a->take,
				      .from = a->from,
				      .to = a->to,
				      .keep_tokens = (size_t)a->keep_tokens,
				      .instructions = a->instructions};
	rt_compress_options compress = {.with = compact.with,
					.discussion = a->discussion,
					.take = a->take,
					.instructions = a->instructions};
	rt_navigate_options go = {.with = compact.with,
				  .discussion = a->discussion,
				  .take = a->take,
				  .target = a->target,
				  .target_take = a->target_take,
				  .select = a->select,
				  .summarize = a->summarize,
				  .instructions = a->instructions};
	rt_merge_take_options merge = {.with = compact.with,
				       .discussion = a->discussion,
				       .take = a->take,
				       .from = a->from,
				       .instructions = a->instructions};
	rt_summary_result result;
	rt_status st;

	memset(&result, 0, sizeof(result));
	if (a->how == RT_RUN_MERGE)
		st = rt_engine_merge_take(engine, &merge, &result, err);
	else if (a->how == RT_RUN_COMPACT)
		st = rt_engine_compact(engine, &compact, &result, err);
	else if (a->how == RT_RUN_COMPRESS)
		st = rt_engine_compress(engine, &compress, &result, err);
	else
		st = rt_engine_navigate(engine, &go, &result, err);
	keep_summary(run, &result);
	return st;
}

/* After a reply, when the run has ended for all readers: a failure is ignored, and the next reply
 * tries again. */
static void
write_title(rt_run *run)
{
	const rt_runs_options *given = &run->runs->given;
	rt_send_with with = {.hooks = given->hooks,
			     .owner = given->owner,
			     .store = given->store_path,
			     .by = run->asked.by,
			     .trace = run->asked.trace,
			     .stop = stopped,
			     .insists = insists,
			     .comms = line,
			     .ctx = run};
	rt_title_options options = {.engine = given->engine,
				    .alloc = run->runs->alloc,
				    .env = given->env,
				    .config = given->config,
				    .opening = &run->runs->opening,
				    .disc = run->asked.disc};
	rt_summary_result result;
	rt_error err;

	if (rt_title_write(&options, with, &result, &err) == RT_OK && result.seq != 0)
		changed(run);
	rt_summary_result_deinit(&result);
}

static void
add_tokens(rt_run_use *use, const rt_usage *usage, size_t sent)
{
	use->tokens += usage->input != SIZE_MAX ? usage->input : sent;
	if (usage->output != SIZE_MAX)
		use->tokens += usage->output;
}

/* On the run's thread, which alone changes these results. */
static void
report_use(const rt_run *run)
{
	const rt_runs_options *given = &run->runs->given;
	rt_run_use use = {.bytes = run->text.bytes.size};

	if (given->ended == NULL)
		return;
	for (size_t i = 0; i < run->reply_count; i++) {
		const rt_send_result *r = &run->replies[i];

		use.entries += r->entry[0] != '\0';
		add_tokens(&use, &r->usage, r->tokens);
	}
	if (run->is_summed_up) {
		use.entries += run->summary.entry[0] != '\0';
		add_tokens(&use, &run->summary.usage, 0);
	}
	given->ended(given->ended_ctx, run->asked.by, &use);
}

void *
rt_run_work(void *ctx)
{
	rt_run *run = ctx;
	rt_runs *runs = run->runs;
	rt_error err;
	int64_t now;
	bool is_removed;
	rt_status st;

	memset(&err, 0, sizeof(err));
	st = run->asked.how <= RT_RUN_CONTINUE ? send(run, &err) : sum_up(run, &err);
	if (run->model != NULL && st == RT_OK)
		rt_model_names_answered(runs->alloc, runs->given.env, run->model);
	if (run->model != NULL)
		run->model->ops->close(run->model);
	run->model = NULL;
	rt_pick_counter_deinit(&run->counter);
	rt_pick_counter_init(&run->counter, runs->alloc, rt_str_at("", 0));
	report_use(run);
	now = runs->given.env->now_us(runs->given.env->ctx);
	is_removed = run->is_listed && !rt_run_is_listed(run);
	pthread_mutex_lock(&runs->lock);
	run->is_removed = is_removed;
	run->state = st == RT_OK ? RT_RUN_DONE : st == RT_INTERRUPTED ? RT_RUN_STOPPED
								       : RT_RUN_FAILED;
	if (st != RT_OK && st != RT_INTERRUPTED) {
		run->problem = err;
		run->problem.status = st;
	}
	rt_buf_clear(&run->notice);
	run->ended_us = now;
	runs->running--;
	pthread_mutex_unlock(&runs->lock);
	changed(run);
	/* a title between the replies of a group would split the group that one undo reverts */
	if (st == RT_OK && run->asked.how <= RT_RUN_CONTINUE && run->group == NULL)
		write_title(run);
	pthread_mutex_lock(&runs->lock);
	run->is_over = true;
	pthread_mutex_unlock(&runs->lock);
	return NULL;
}
