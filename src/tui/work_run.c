/* SPDX-License-Identifier: MIT
 *
 * Models at work for the terminal: the runs of server/run.h, without a server. What arrives is
 * read as a stream reads it: events with pieces, each piece once. */
#define _POSIX_C_SOURCE 200809L

#include <stdlib.h>

#include "llm/comms_host.h"
#include "tui/work_impl.h"

enum { EVENTS_ROOM = 256 << 10, PACE_MS = 15 };

void
rt_work_run_init(rt_work *work)
{
	rt_buf_init(&work->events, work->alloc, RT_BUF_UNLIMITED);
	rt_buf_init(&work->run_text, work->alloc, RT_BUF_UNLIMITED);
	rt_buf_init(&work->run_thinking, work->alloc, RT_BUF_UNLIMITED);
	rt_buf_init(&work->run_notice, work->alloc, RT_BUF_UNLIMITED);
	rt_buf_init(&work->run_how, work->alloc, RT_BUF_UNLIMITED);
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
				   .pace_ms = PACE_MS};
	rt_status st = RT_OK;

	rt_host_add_owner(&work->owner);
	work->store_path = rt_session_store_path(session);
	if (rt_host_state_dir(&work->state, NULL) == RT_OK &&
	    rt_comms_open(work->alloc, session->env, rt_buf_str(&work->state), &work->comms, err) !=
		    RT_OK)
		work->comms = NULL; /* then nothing is recorded, and all else works */
	work->places = rt_new0(work->alloc, sizeof(*work->places));
	if (work->places == NULL || work->owner.status != RT_OK)
		return rt_fail(err, RT_NOMEM, "out of memory");
	options.comms = work->comms;
	options.owner = rt_buf_str(&work->owner);
	options.store_path = rt_str_of(work->store_path);
	options.model = rt_str_of(getenv("RETAKE_MODEL"));
	st = rt_runs_new_with(&options, &work->runs, err);
	if (st == RT_OK)
		rt_runs_join(work->runs, work->places);
	return st;
}

void
rt_work_run_close(rt_work *work)
{
	if (work->runs != NULL)
		rt_runs_free(work->runs);
	work->runs = NULL;
	rt_comms_close(work->comms);
	work->comms = NULL;
	rt_free(work->alloc, work->places);
	work->places = NULL;
	rt_json_free(work->end);
	work->end = NULL;
	rt_buf_deinit(&work->events);
	rt_buf_deinit(&work->run_text);
	rt_buf_deinit(&work->run_thinking);
	rt_buf_deinit(&work->run_notice);
	rt_buf_deinit(&work->run_how);
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

yyjson_val *
rt_work_end(const rt_work *work)
{
	return work->end == NULL ? NULL : rt_json_root(work->end);
}

/* ---- events ---- */

static void
copy_id(char *to, size_t room, rt_str id)
{
	if (id.size >= room)
		id.size = room - 1;
	memcpy(to, id.ptr == NULL ? "" : id.ptr, id.size);
	to[id.size] = 0;
}

/* One event; true: the run that is shown has ended. doc is kept then, and otherwise freed. */
static bool
hear(rt_work *work, rt_str name, rt_json_doc *doc)
{
	yyjson_val *data = rt_json_root(doc);
	bool ended = false;

	if (!rt_str_eq(rt_json_str(rt_json_get(data, "run")), rt_str_of(work->run))) {
		rt_json_free(doc);
		return false;
	}
	if (rt_str_is(name, "run.asked")) {
		copy_id(work->run_question, sizeof(work->run_question),
			rt_json_str(rt_json_get(data, "question")));
	} else if (rt_str_is(name, "run.notice")) {
		rt_buf_clear(&work->run_notice);
		rt_buf_add_str(&work->run_notice, rt_json_str(rt_json_get(data, "text")));
	} else if (rt_str_is(name, "run.delta")) {
		rt_buf_clear(&work->run_notice);
		rt_buf_add_str(&work->run_text, rt_json_str(rt_json_get(data, "text")));
		rt_buf_add_str(&work->run_thinking, rt_json_str(rt_json_get(data, "thinking")));
	}
	ended = rt_str_is(name, "run.ended");
	work->change++;
	if (!ended) {
		rt_json_free(doc);
		return false;
	}
	rt_json_free(work->end);
	work->end = doc;
	work->run[0] = 0;
	rt_buf_clear(&work->run_notice);
	return true;
}

/* "event: NAME\ndata: JSON\n\n", cut off the front of events. */
static bool
next_event(rt_str *events, rt_str *name, rt_str *data)
{
	size_t end = rt_str_find(*events, RT_STR("\n\n"), 0), line;

	if (end == SIZE_MAX)
		return false;
	*name = rt_str_at(events->ptr, end);
	events->ptr += end + 2;
	events->size -= end + 2;
	line = rt_str_find(*name, RT_STR("\n"), 0);
	*data = line == SIZE_MAX ? rt_str_at("", 0)
				 : rt_str_at(name->ptr + line + 1, name->size - line - 1);
	name->size = line == SIZE_MAX ? name->size : line;
	if (rt_str_starts(*name, RT_STR("event: ")))
		*name = rt_str_at(name->ptr + 7, name->size - 7);
	if (rt_str_starts(*data, RT_STR("data: ")))
		*data = rt_str_at(data->ptr + 6, data->size - 6);
	return true;
}

rt_status
rt_work_run_tend(rt_work *work, bool *out_ended, rt_error *err)
{
	rt_status st = RT_OK;
	bool more = true;

	if (!rt_work_is_running(work))
		return RT_OK;
	work->places->epoch = rt_engine_epoch(work->engine);
	work->places->seq = work->value->seq;
	while (st == RT_OK && more) {
		rt_str events, name, data;

		rt_buf_clear(&work->events);
		more = rt_runs_events(work->runs, work->places, EVENTS_ROOM, &work->events);
		if (work->events.status != RT_OK)
			return rt_fail(err, RT_NOMEM, "out of memory");
		events = rt_buf_str(&work->events);
		if (events.size == 0)
			break;
		while (st == RT_OK && next_event(&events, &name, &data)) {
			rt_json_doc *doc = NULL;

			st = rt_json_read(work->alloc, data, &doc, err);
			if (st == RT_OK && hear(work, name, doc) && out_ended != NULL)
				*out_ended = true;
		}
	}
	return st;
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
rt_work_run(rt_work *work, const char *how, rt_str fields, rt_error *err)
{
	rt_run_request request = {.how = how, .by = RT_STR("tui"), .may_name_files = true};
	rt_json_doc *doc = NULL;
	char disc[24], take[24];
	rt_buf body;
	rt_status st;

	rt_buf_clear(&work->hint);
	if (rt_work_is_running(work))
		return rt_fail(err, RT_BUSY, "a reply is on its way already");
	/* Beginning one looks at what is new, and would wait for who writes. */
	if (rt_engine_refresh_now(work->engine, err) == RT_BUSY)
		return rt_fail(err, RT_BUSY, "something is still being written; try again in a moment");
	(void)snprintf(disc, sizeof(disc), "d%u", work->place.disc);
	(void)snprintf(take, sizeof(take), "t%u",
		       work->seen_take != 0 ? work->seen_take : work->place.take);
	rt_buf_init(&body, work->alloc, RT_BUF_UNLIMITED);
	rt_buf_add_byte(&body, '{');
	rt_buf_add_str(&body, fields);
	if (work->said_model != NULL && work->said_model[0] != 0) {
		rt_json_add_key(&body, "model");
		rt_json_add_string(&body, rt_str_of(work->said_model));
	}
	rt_buf_add_byte(&body, '}');
	st = body.status != RT_OK ? rt_fail(err, RT_NOMEM, "out of memory")
				  : rt_json_read(work->alloc, rt_buf_str(&body), &doc, err);
	request.discussion = rt_str_of(disc);
	request.take = rt_str_of(take);
	request.fields = st == RT_OK ? rt_json_root(doc) : NULL;
	rt_buf_clear(&work->run_text);
	rt_buf_clear(&work->run_thinking);
	rt_buf_clear(&work->run_notice);
	rt_buf_clear(&work->run_how);
	rt_buf_add_c(&work->run_how, how);
	work->run_question[0] = 0;
	if (st == RT_OK)
		st = rt_runs_start(work->runs, &request, work->run, err);
	if (st != RT_OK) {
		work->run[0] = 0;
		hint(work, st, err);
	} else {
		rt_json_free(work->end);
		work->end = NULL;
	}
	work->change++;
	rt_json_free(doc);
	rt_buf_deinit(&body);
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
