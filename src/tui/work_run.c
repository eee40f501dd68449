/* SPDX-License-Identifier: MIT
 *
 * Models at work for the terminal: the runs of app/run.h. */
#define _POSIX_C_SOURCE 200809L

#include <stdlib.h>

#include "llm/comms_host.h"
#include "tui/work_impl.h"

void
rt_work_run_init(rt_work *work)
{
	rt_buf_init(&work->run_text, work->alloc, RT_BUF_UNLIMITED);
	rt_buf_init(&work->run_thinking, work->alloc, RT_BUF_UNLIMITED);
	rt_buf_init(&work->run_notice, work->alloc, RT_BUF_UNLIMITED);
	rt_buf_init(&work->owner, work->alloc, RT_BUF_UNLIMITED);
	rt_buf_init(&work->state, work->alloc, RT_BUF_UNLIMITED);
}

static bool
owner_lives(void *ctx, rt_str owner, int64_t written_us)
{
	(void)ctx;
	return rt_host_owner_lives(owner, written_us);
}

rt_status
rt_work_run_open(rt_work *work, rt_error *err)
{
	rt_session *session = work->session;
	rt_runs_options options = {.engine = work->engine,
				   .env = session->env,
				   .hooks = session->gate.inner,
				   .config = session->config,
				   .lives = owner_lives,
				   .pace_ms = RT_RUN_PACE_MS};
	rt_status st = RT_OK;

	rt_host_add_owner(&work->owner);
	work->store_path = rt_session_store_path(session);
	if (rt_host_state_dir(&work->state, NULL) == RT_OK &&
	    rt_comms_open(work->alloc, session->env, rt_buf_str(&work->state), &work->comms, err) !=
		    RT_OK)
		work->comms = NULL; /* then nothing is recorded, and all else works */
	work->cursor = rt_new0(work->alloc, sizeof(*work->cursor));
	if (work->cursor == NULL || work->owner.status != RT_OK)
		return rt_fail(err, RT_NOMEM, "out of memory");
	options.comms = work->comms;
	options.owner = rt_buf_str(&work->owner);
	options.store_path = rt_str_of(work->store_path);
	options.model = rt_str_of(getenv("RETAKE_MODEL"));
	st = rt_runs_new(&options, &work->runs, err);
	if (st == RT_OK)
		rt_runs_join(work->runs, work->cursor);
	return st;
}

static void
clear_end(rt_work *work)
{
	rt_text_unref(work->end.note);
	rt_text_unref(work->end.editor);
	memset(&work->end, 0, sizeof(work->end));
}

void
rt_work_run_close(rt_work *work)
{
	if (work->runs != NULL)
		rt_runs_free(work->runs);
	work->runs = NULL;
	rt_comms_close(work->comms);
	work->comms = NULL;
	rt_free(work->alloc, work->cursor);
	work->cursor = NULL;
	clear_end(work);
	rt_buf_deinit(&work->run_text);
	rt_buf_deinit(&work->run_thinking);
	rt_buf_deinit(&work->run_notice);
	rt_buf_deinit(&work->owner);
	rt_buf_deinit(&work->state);
	free(work->store_path);
	work->store_path = NULL;
}

bool
rt_work_is_running(const rt_work *work)
{
	return work->run[0] != 0;
}

/* ---- events ---- */

static void
keep_end(rt_work *work, const rt_run_info *run)
{
	rt_work_end *end = &work->end;

	clear_end(work);
	end->has_ended = true;
	end->how = run->how;
	end->state = run->state;
	end->has_problem = run->problem != NULL;
	if (end->has_problem)
		end->problem = *run->problem;
	if (run->replies != NULL && run->reply_count > 0) {
		const rt_send_result *r = &run->replies[run->reply_count - 1];

		memcpy(end->entry, r->entry, sizeof(end->entry));
		end->seq = r->seq;
		end->note = rt_text_ref(r->note);
	}
	if (run->summary != NULL) {
		const rt_summary_result *r = run->summary;

		memcpy(end->entry, run->how == RT_RUN_GO ? r->target : r->entry, sizeof(end->entry));
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

static bool
on_event(void *ctx, const rt_run_event *event)
{
	rt_work *work = ctx;
	rt_str question = event->run->question;

	if (strcmp(event->run->name, work->run) != 0)
		return true;
	work->change++;
	switch (event->kind) {
	case RT_RUN_STARTED:
	case RT_RUN_SNAPSHOT: break;
	case RT_RUN_ASKED:
		(void)snprintf(work->run_question, sizeof(work->run_question), "%.*s",
			       RT_STR_ARG(question));
		break;
	case RT_RUN_NOTICE:
		rt_buf_clear(&work->run_notice);
		rt_buf_add_str(&work->run_notice, event->run->notice);
		break;
	case RT_RUN_DELTA:
		rt_buf_clear(&work->run_notice);
		if (event->piece->kind != RT_REPLY_CALL)
			rt_buf_add_str(event->piece->kind == RT_REPLY_TEXT ? &work->run_text
									   : &work->run_thinking,
				       event->text);
		break;
	case RT_RUN_ENDED:
		keep_end(work, event->run);
		work->run[0] = 0;
		rt_buf_clear(&work->run_notice);
		break;
	}
	return true;
}

void
rt_work_run_tend(rt_work *work, bool *out_ended)
{
	if (!rt_work_is_running(work))
		return;
	work->cursor->epoch = rt_engine_epoch(work->engine);
	work->cursor->seq = work->value->seq;
	while (rt_runs_read(work->runs, work->cursor, on_event, work))
		;
	if (out_ended != NULL && !rt_work_is_running(work))
		*out_ended = true;
}

/* ---- starting and stopping ---- */

static void
hint(rt_work *work, rt_status st, rt_error *err)
{
	if (st == RT_CREDENTIALS && work->model.size == 0) {
		(void)rt_fail(err, st, "no model is chosen");
		rt_buf_add_c(&work->hint, "Choose one: /model or Ctrl+L   To try it without a key: "
					  "/model builtin/echo");
	} else if (st == RT_CREDENTIALS) {
		rt_buf_add_c(&work->hint, "Another model: /model or Ctrl+L");
	}
	if (st == RT_NOT_FOUND)
		rt_buf_add_c(&work->hint, "Models: /model");
}

rt_status
rt_work_run(rt_work *work, const rt_run_request *what, rt_error *err)
{
	rt_run_request request = *what;
	char disc[24], take[24];
	rt_status st;

	rt_buf_clear(&work->hint);
	if (rt_work_is_running(work))
		return rt_fail(err, RT_BUSY, "a reply is on its way already");
	/* Starting one takes in what is new, and would wait for a writer. */
	if (rt_engine_refresh_now(work->engine, err) == RT_BUSY)
		return rt_fail(err, RT_BUSY, "something is still being written; try again in a moment");
	(void)snprintf(disc, sizeof(disc), "d%u", work->place.disc);
	(void)snprintf(take, sizeof(take), "t%u",
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
	work->run_how = request.how;
	work->run_question[0] = 0;
	st = rt_runs_start(work->runs, &request, work->run, err);
	if (st == RT_OK) {
		clear_end(work);
	} else {
		work->run[0] = 0;
		hint(work, st, err);
	}
	work->change++;
	return st;
}

void
rt_work_stop(rt_work *work)
{
	rt_error ignored;

	if (rt_work_is_running(work) &&
	    rt_runs_stop(work->runs, rt_str_of(work->run), &ignored) != RT_OK)
		work->run[0] = 0; /* it is forgotten */
}
