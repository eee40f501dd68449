/* SPDX-License-Identifier: MIT
 *
 * Runs of models in the conversation that the terminal UI shows, and in others. */
#define _POSIX_C_SOURCE 200809L

#include "tui/work_impl.h"

#include <stdio.h>
#include <stdlib.h>

#include "app/attach.h"
#include "llm/comms_host.h"

rt_status
rt_work_open_runs(rt_work *work, rt_error *err)
{
	rt_session *session = work->session;
	rt_status st;

	rt_host_add_owner(&work->owner);
	work->store_path = rt_session_store_path(session);
	rt_scope_init(&work->files_scope, work->alloc);
	work->files = rt_attach_here(&work->files_scope);
	if (rt_host_state_dir(&work->state, NULL) == RT_OK &&
	    rt_comms_open(work->alloc, session->env, rt_buf_str(&work->state),
			  session->config == NULL || session->config->comms_texts, &work->comms,
			  err) != RT_OK)
		work->comms = NULL; /* nothing is recorded then; everything else works */
	work->cursor = rt_new0(work->alloc, sizeof(*work->cursor));
	if (work->cursor == NULL || work->owner.status != RT_OK || !rt_ok(&work->files_scope))
		return rt_fail(err, RT_NOMEM, "out of memory");
	st = rt_runs_new(&(rt_runs_options){.engine = work->engine,
					    .env = session->env,
					    .hooks = session->gate.inner,
					    .config = session->config,
					    .comms = work->comms,
					    .owner = rt_buf_str(&work->owner),
					    .store_path = rt_str_of(work->store_path),
					    .files = &work->files,
					    .model = rt_str_of(getenv("RETAKE_MODEL")),
					    .lives = rt_host_owner_lives,
					    .pace_ms = RT_RUN_PACE_MS},
			 &work->runs, err);
	if (st == RT_OK)
		rt_runs_join(work->runs, work->cursor);
	return st;
}

static void
clear_end(rt_work *work)
{
	rt_text_unref(work->end.note);
	rt_text_unref(work->end.editor);
	work->end = (rt_work_end){0};
}

bool
rt_work_is_running(const rt_work *work)
{
	return work->run[0] != 0;
}

bool
rt_work_is_running_here(const rt_work *work)
{
	return rt_work_is_running(work) && work->run_disc == work->place.disc;
}

static void
store_end(rt_work *work, const rt_run_info *run)
{
	rt_work_end *end = &work->end;

	if (work->run_models > 0 && end->has_problem) /* of another model: it is the one to report */
		return;
	clear_end(work);
	end->models = work->run_models;
	end->has_ended = true;
	end->how = run->how;
	end->state = run->state;
	end->is_removed = run->is_removed;
	end->has_problem = run->problem != NULL;
	if (end->has_problem)
		end->problem = *run->problem;
	if (run->replies != NULL && run->reply_count > 0) {
		const rt_send_result *r = &run->replies[run->reply_count - 1];

		memcpy(end->entry, r->entry, sizeof(end->entry));
		memcpy(end->take, r->take, sizeof(end->take));
		end->seq = r->seq;
		end->note = rt_text_ref(r->note);
	}
	if (run->summary != NULL) {
		const rt_summary_result *r = run->summary;

		memcpy(end->entry, run->how == RT_RUN_GO ? r->target : r->entry,
		       sizeof(end->entry));
		end->has_summary = r->entry[0] != '\0';
		end->is_unchanged = r->already;
		end->seq = r->seq;
		end->entries = end->has_summary ? r->entries : 0;
		end->tokens_before = end->has_summary ? r->tokens_before : 0;
		end->tokens_after = end->has_summary ? r->tokens_after : 0;
		end->note = rt_text_ref(r->note);
		end->editor = rt_text_ref(r->editor);
	}
}

static rt_work_background *
background_of(rt_work *work, const char *run)
{
	for (size_t i = 0; i < work->background_count; i++)
		if (strcmp(work->background[i].run, run) == 0)
			return &work->background[i];
	return NULL;
}

static void
remove_background(rt_work *work, rt_work_background *other)
{
	rt_buf_deinit(&other->text);
	rt_buf_deinit(&other->thinking);
	rt_buf_deinit(&other->notice);
	rt_buf_deinit(&other->model);
	work->background_count--;
	memmove(other, other + 1,
		(size_t)(work->background + work->background_count - other) * sizeof(*other));
}

static void
swap_bufs(rt_buf *a, rt_buf *b)
{
	rt_buf kept = *a;

	*a = *b;
	*b = kept;
}

/* Show the next of the others, or none. */
static void
show_next_run(rt_work *work)
{
	rt_work_background *other = work->background;

	rt_buf_clear(&work->run_notice);
	work->run[0] = 0;
	if (work->background_count == 0)
		return;
	memcpy(work->run, other->run, sizeof(work->run));
	swap_bufs(&work->run_text, &other->text);
	swap_bufs(&work->run_thinking, &other->thinking);
	swap_bufs(&work->run_notice, &other->notice);
	swap_bufs(&work->run_model, &other->model);
	remove_background(work, other);
}

static void
set_text(rt_buf *buf, rt_str text)
{
	rt_buf_clear(buf);
	rt_buf_add_str(buf, text);
}

static bool
on_run_event(void *ctx, const rt_run_event *event)
{
	rt_work *work = ctx;
	rt_str question = event->run->question;
	bool is_shown = strcmp(event->run->name, work->run) == 0;
	rt_work_background *other = is_shown ? NULL : background_of(work, event->run->name);
	rt_buf *notice;

	if (!is_shown && other == NULL)
		return true;
	notice = is_shown ? &work->run_notice : &other->notice;
	work->change++;
	switch (event->kind) {
	case RT_RUN_STARTED:
	case RT_RUN_SNAPSHOT:
		set_text(is_shown ? &work->run_model : &other->model, event->run->model);
		break;
	case RT_RUN_ASKED:
		(void)snprintf(work->run_question, sizeof(work->run_question), "%.*s",
			       RT_STR_ARG(question));
		break;
	case RT_RUN_NOTICE: set_text(notice, event->run->notice); break;
	case RT_RUN_DELTA:
		rt_buf_clear(notice);
		if (event->piece->kind == RT_REPLY_TEXT)
			rt_buf_add_str(is_shown ? &work->run_text : &other->text, event->text);
		else if (event->piece->kind != RT_REPLY_CALL)
			rt_buf_add_str(is_shown ? &work->run_thinking : &other->thinking, event->text);
		break;
	case RT_RUN_ENDED:
		store_end(work, event->run);
		if (is_shown)
			show_next_run(work);
		else
			remove_background(work, other);
		break;
	}
	return true;
}

void
rt_work_add_restart(rt_work *work)
{
	if (!rt_session_config_is_outdated(work->session))
		return;
	rt_buf_add_c(&work->hint, work->hint.size > 0 ? ".  " : "");
	rt_buf_add_c(&work->hint, "config.toml has changed: restart Retake to apply the changes");
}

static void
add_hint(rt_work *work, rt_status st, rt_error *err)
{
	if (st == RT_CREDENTIALS && work->model.size == 0) {
		(void)rt_fail(err, st, "no model is set");
		rt_buf_add_c(&work->hint, "Choose one: Ctrl+L   To try it without a key, choose "
					  "builtin/echo");
	} else if (st == RT_CREDENTIALS) {
		rt_buf_add_c(&work->hint, "Another model: /model or Ctrl+L");
	} else if (st == RT_NOT_FOUND) {
		rt_buf_add_c(&work->hint, "Models: /model");
	}
	rt_work_add_restart(work);
}

/* names: of the runs. The first one is shown. */
static void
add_runs(rt_work *work, char (*names)[24], size_t count)
{
	work->run_models = count > 1 ? count : 0;
	memcpy(work->run, names[0], sizeof(work->run));
	for (size_t i = 1; i < count; i++) {
		rt_work_background *other = &work->background[work->background_count++];

		memcpy(other->run, names[i], sizeof(other->run));
		rt_buf_init(&other->text, work->alloc, RT_BUF_UNLIMITED);
		rt_buf_init(&other->thinking, work->alloc, RT_BUF_UNLIMITED);
		rt_buf_init(&other->notice, work->alloc, RT_BUF_UNLIMITED);
		rt_buf_init(&other->model, work->alloc, RT_BUF_UNLIMITED);
	}
}

rt_status
rt_work_run(rt_work *work, const rt_run_request *what, rt_error *err)
{
	return rt_work_run_several(work, what, NULL, 0, err);
}

rt_status
rt_work_run_several(rt_work *work, const rt_run_request *what, const rt_str *models, size_t count,
		    rt_error *err)
{
	rt_run_request request = *what;
	char disc[24], take[24], names[RT_RUN_MODELS_MAX][24];
	rt_status st;

	rt_buf_clear(&work->hint);
	if (rt_work_is_running(work))
		return rt_fail(err, RT_BUSY, "still receiving a reply");
	/* Starting one reads new rows, and would wait for a writer. */
	if (rt_engine_refresh_now(work->engine, err) == RT_BUSY)
		return rt_fail(err, RT_BUSY,
			       "another change is still being written; try again in a moment");
	(void)snprintf(disc, sizeof(disc), RT_BY_ID "d%u", work->place.disc);
	(void)snprintf(take, sizeof(take), RT_BY_ID "t%u",
		       work->seen_take != 0 ? work->seen_take : work->place.take);
	request.by = RT_STR("tui");
	request.may_name_files = true;
	request.discussion = rt_str_of(disc);
	request.take = rt_str_of(take);
	if (work->said_model != NULL && work->said_model[0] != 0)
		request.model = rt_str_of(work->said_model);
	rt_buf_clear(&work->run_text);
	rt_buf_clear(&work->run_thinking);
	rt_buf_clear(&work->run_notice);
	rt_buf_clear(&work->run_model);
	work->run_how = request.how;
	work->run_question[0] = 0;
	st = count > 0 ? rt_runs_start_several(work->runs, &request, models, count, names, err)
		       : rt_runs_start(work->runs, &request, names[0], err);
	if (st == RT_OK) {
		clear_end(work);
		work->run_disc = work->place.disc;
		add_runs(work, names, count > 0 ? count : 1);
	} else {
		work->run[0] = 0;
		add_hint(work, st, err);
	}
	work->change++;
	return st;
}

void
rt_work_stop(rt_work *work)
{
	for (size_t i = work->background_count; i-- > 0;)
		if (rt_runs_stop(work->runs, rt_str_of(work->background[i].run), NULL) != RT_OK)
			remove_background(work, &work->background[i]); /* it is forgotten */
	if (rt_work_is_running(work) &&
	    rt_runs_stop(work->runs, rt_str_of(work->run), NULL) != RT_OK)
		show_next_run(work);
}

void
rt_work_read_runs(rt_work *work)
{
	work->cursor->epoch = rt_engine_epoch(work->engine);
	work->cursor->seq = work->value->seq;
	while (rt_runs_read(work->runs, work->cursor, on_run_event, work))
		;
}

void
rt_work_close_runs(rt_work *work)
{
	if (work->runs != NULL)
		rt_runs_free(work->runs);
	work->runs = NULL;
	while (work->background_count > 0)
		remove_background(work, work->background);
	rt_comms_close(work->comms);
	work->comms = NULL;
	rt_free(work->alloc, work->cursor);
	work->cursor = NULL;
	clear_end(work);
	if (work->files_scope.alloc != NULL)
		rt_scope_deinit(&work->files_scope);
	work->files_scope.alloc = NULL;
	free(work->store_path);
	work->store_path = NULL;
}
