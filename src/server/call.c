/* SPDX-License-Identifier: MIT */
#include "server/call.h"

#include "app/condition.h"
#include "server/web.h"

enum { ACTOR_MAX = 64 };

/* ---- the request ---- */

yyjson_val *
rt_call_body(rt_call *call, bool may_be_empty)
{
	rt_scope *s = &call->scope;
	rt_str body = rt_str_trim(call->request->body);

	if (body.size == 0 && may_be_empty)
		body = RT_STR("{}");
	if (body.size == 0)
		rt_scope_fail(s, RT_USAGE, "the body is empty; it must be a JSON object");
	if (!rt_ok(s))
		return NULL;
	yyjson_val *root = rt_json_parse(s, body);
	if (root == NULL) {
		rt_error error = s->error;

		s->status = s->status == RT_LIMIT ? RT_USAGE : s->status;
		(void)rt_fail(&s->error, s->status, "the body: %.400s", error.text);
		s->error.has_at = error.has_at;
		s->error.at = error.at;
		return NULL;
	}
	if (!yyjson_is_obj(root)) {
		rt_scope_fail(s, RT_USAGE, "the body is not a JSON object");
		return NULL;
	}
	return root;
}

rt_str
rt_call_param(const rt_call *call, const char *name)
{
	for (size_t i = 0; i < RT_ROUTE_PARAMS; i++)
		if (rt_str_is(rt_route_param_name(call->route->path, i), name))
			return call->params[i];
	return rt_str_at(NULL, 0);
}

rt_str
rt_call_text(rt_call *call, const char *name)
{
	const rt_web_request *request = call->request;
	rt_str value = {NULL, 0}, all;

	if (!rt_ok(&call->scope))
		return value;
	if (rt_web_query(request, name, &value))
		return value.ptr != NULL ? value : RT_STR("");
	/* An invalid parameter must not count as absent. */
	if (request->query.size > 0 && !rt_web_decode(request, request->query, true, &all))
		rt_scope_fail(&call->scope, RT_USAGE,
			      "the query has an invalid percent escape or text that is not UTF-8");
	return rt_str_at(NULL, 0);
}

uint64_t
rt_call_number(rt_call *call, const char *name, uint64_t absent)
{
	rt_str text = rt_call_text(call, name);
	uint64_t number = 0;
	size_t i = 0;

	if (text.ptr == NULL)
		return absent;
	while (i < text.size && text.ptr[i] >= '0' && text.ptr[i] <= '9' &&
	       number <= UINT64_MAX / 16)
		number = number * 10 + (uint64_t)(text.ptr[i++] - '0');
	if (i == text.size && i > 0)
		return number;
	rt_scope_fail(&call->scope, RT_USAGE, "\"%s\" must be a whole number, 0 or more", name);
	return absent;
}

size_t
rt_call_limit(rt_call *call, size_t absent, size_t max)
{
	uint64_t limit = rt_call_number(call, "limit", absent);

	return limit == 0 || limit > max ? max : (size_t)limit;
}

bool
rt_call_flag(rt_call *call, const char *name)
{
	rt_str text = rt_call_text(call, name);

	if (text.ptr == NULL || rt_str_is(text, "0") || rt_str_is(text, "false"))
		return false;
	if (text.size > 0 && !rt_str_is(text, "1") && !rt_str_is(text, "true"))
		rt_scope_fail(&call->scope, RT_USAGE, "\"%s\" must be true or false", name);
	return true;
}

static bool
is_actor_name(rt_str name)
{
	for (size_t i = 0; i < name.size; i++) {
		char c = name.ptr[i];

		if (!((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
		      c == '.' || c == '_' || c == '-'))
			return false;
	}
	return name.size > 0 && name.size <= ACTOR_MAX;
}

rt_str
rt_call_actor(rt_call *call)
{
	rt_scope *s = &call->scope;
	rt_str actor = rt_principal_actor(&call->principal);
	rt_str name = rt_web_header(call->request, "Retake-By");

	if (rt_web_header_repeats(call->request, "Retake-By") == 0)
		return actor;
	if (!is_actor_name(name)) {
		rt_scope_fail(s, RT_USAGE, "Retake-By must be a name of 1 to 64 of the characters A-Z a-z 0-9 . _ -");
		return actor;
	}
	rt_buf *full = rt_scope_buf(s);
	rt_buf_add_str(full, actor);
	rt_buf_add_byte(full, ':');
	rt_buf_add_str(full, name);
	return rt_scope_str(s, full);
}

void
rt_call_check_texts(rt_call *call, yyjson_val *list, size_t max, const char *message)
{
	bool is_list = yyjson_is_arr(list) && yyjson_arr_size(list) <= max;
	yyjson_val *text;
	size_t i, count;

	yyjson_arr_foreach(list, i, count, text)
		is_list = is_list && yyjson_is_str(text);
	if (!is_list)
		rt_scope_fail(&call->scope, RT_USAGE, "%s", message);
}

/* ---- value and place ---- */

static void
unref_value(void *value)
{
	rt_object_unref(value);
}

static const rt_project *
keep_value(rt_call *call, const rt_project *value)
{
	rt_scope_defer(&call->scope, unref_value, (void *)(uintptr_t)value);
	return rt_ok(&call->scope) ? value : NULL;
}

const rt_project *
rt_call_value(rt_call *call)
{
	rt_open_project *open_project = call->open_project;
	const rt_env *env = rt_project_pool_get_options(call->pool)->env;
	rt_scope *s = &call->scope;
	int64_t now_us = env->now_us(env->ctx), age_us = now_us - open_project->looked_us;

	if (rt_ok(s) && (age_us < 0 || age_us >= RT_CALL_FRESH_US)) {
		RT_TRY(s, rt_engine_refresh(open_project->engine, &s->error));
		open_project->looked_us = now_us; /* from before: the value is never older */
	}
	return rt_ok(s) ? keep_value(call, rt_engine_value(open_project->engine)) : NULL;
}

const rt_project *
rt_call_value_at(rt_call *call, uint64_t at_op)
{
	rt_scope *s = &call->scope;
	const rt_project *value = rt_call_value(call), *past = NULL;

	if (at_op == UINT64_MAX)
		return value;
	RT_TRY(s, rt_engine_value_at(call->open_project->engine, at_op, &past, &s->error));
	return keep_value(call, past);
}

rt_place
rt_call_place(rt_call *call, const rt_project *project, rt_str disc_address)
{
	rt_scope *s = &call->scope;
	rt_str take = rt_call_text(call, "take");
	const rt_disc *disc = NULL;
	rt_place place = {0, 0};

	RT_TRY(s, rt_resolve_place(project, disc_address, take, &place, &s->error));
	if (rt_ok(s) && place.disc == 0)
		place.disc = project->active;
	RT_TRY(s, rt_project_disc(project, place.disc, &disc, &s->error));
	if (rt_ok(s) && place.take == 0)
		place.take = disc->active;
	return place;
}

rt_snapshot
rt_call_locate(rt_call *call, uint64_t at_op, rt_str disc)
{
	rt_scope *s = &call->scope;
	rt_snapshot snapshot = {.engine = call->open_project->engine,
				.epoch = rt_engine_epoch(call->open_project->engine),
				.is_past = at_op != UINT64_MAX};

	snapshot.project = rt_call_value_at(call, at_op); /* not older than the epoch */
	snapshot.place = rt_call_place(call, snapshot.project, disc);
	RT_TRY(s, rt_project_disc(snapshot.project, snapshot.place.disc, &snapshot.disc,
				  &s->error));
	/* A name may mean another discussion than the number that was authorized. */
	if (rt_ok(s) && call->discussion != 0 &&
	    (snapshot.place.disc != call->discussion || snapshot.is_past))
		rt_scope_fail(s, RT_NOT_FOUND, "there is no such discussion");
	if (rt_ok(s))
		snapshot.take = rt_disc_take(snapshot.disc, snapshot.place.take);
	return snapshot;
}

rt_snapshot
rt_call_snapshot(rt_call *call)
{
	uint64_t at_op = rt_call_number(call, "at_op", UINT64_MAX);

	return rt_call_locate(call, at_op, rt_call_param(call, "discussion"));
}

void
rt_call_tag_disc(rt_call *call, const rt_snapshot *snapshot)
{
	char etag[RT_ETAG_ROOM];

	if (!rt_ok(&call->scope) || snapshot->is_past)
		return;
	rt_etag_disc(snapshot->epoch, snapshot->project, snapshot->disc, etag);
	rt_call_header(call, "ETag", rt_str_of(etag));
}

void
rt_call_tag_project(rt_call *call, const rt_snapshot *snapshot)
{
	char etag[RT_ETAG_ROOM];

	if (!rt_ok(&call->scope) || snapshot->is_past)
		return;
	rt_etag_project(snapshot->epoch, snapshot->project, etag);
	rt_call_header(call, "ETag", rt_str_of(etag));
}

/* ---- the answer ---- */

void
rt_call_header(rt_call *call, const char *name, rt_str value)
{
	if (rt_ok(&call->scope))
		rt_web_answer_header(call->answer, call->request, name, value);
}

void
rt_call_hint(rt_call *call, const char *hint)
{
	if (rt_ok(&call->scope))
		call->hint = hint;
}

void
rt_call_put_lines(rt_buf *buf, const char *key, rt_str lines)
{
	rt_json_open(buf, key, '[');
	while (lines.size > 0) {
		size_t end = rt_str_find(lines, RT_STR("\n"), 0);
		rt_str line = rt_str_at(lines.ptr, end == SIZE_MAX ? lines.size : end);

		end = end == SIZE_MAX ? lines.size : end + 1;
		lines = rt_str_at(lines.ptr + end, lines.size - end);
		rt_json_put_str(buf, NULL, rt_str_at(line.ptr, rt_utf8_valid_size(line)));
	}
	rt_json_close(buf, ']');
}

void
rt_call_problem(rt_call *call, unsigned status, const char *kind, const char *title,
		const char *detail)
{
	if (!rt_ok(&call->scope))
		return;
	rt_problem_http(call->answer, status, kind, title, detail);
	rt_call_stop(call);
}

void
rt_call_stop(rt_call *call)
{
	if (!rt_ok(&call->scope))
		return;
	call->is_answered = true;
	call->complete = *call->answer;
	rt_buf_init(&call->answer->body, call->complete.body.alloc, call->complete.body.limit);
	call->scope.status = RT_INTERRUPTED; /* so that nothing more is done */
}

/* Drops everything written after rt_call_stop. */
static void
restore_answer(rt_call *call)
{
	if (!call->is_answered)
		return;
	call->is_answered = false;
	rt_buf_deinit(&call->answer->body);
	*call->answer = call->complete;
	call->scope.status = RT_OK;
}

void
rt_call_clear(rt_call *call)
{
	rt_web_answer *answer = call->answer;

	restore_answer(call);
	call->scope.status = RT_OK;
	call->hint = NULL;
	call->extra = rt_str_at(NULL, 0);
	rt_buf_clear(call->notes);
	rt_buf_clear(&answer->body);
	answer->header_count = 0;
	answer->type = NULL;
	answer->status = 0;
}

/* Turns the handler's result into an answer. */
static void
finish(rt_call *call)
{
	rt_web_answer *answer = call->answer;
	rt_scope *s = &call->scope;

	restore_answer(call);
	if (answer->body.status != RT_OK)
		rt_scope_fail(s, answer->body.status == RT_LIMIT ? RT_LIMIT : RT_NOMEM,
			      "out of memory for the response");
	if (!rt_ok(s)) {
		rt_problem_answer(answer, &s->error, call->hint, call->extra);
		return;
	}
	if (answer->status == 0)
		answer->status = 200;
	if (answer->type == NULL)
		answer->type = "application/json";
}

static void
handle(rt_call *call)
{
	rt_scope_reset(&call->scope);
	call->notes = rt_scope_buf(&call->scope);
	if (rt_ok(&call->scope)) {
		rt_call_clear(call);
		call->route->fn(call);
	}
	finish(call);
}

void
rt_call_answer(rt_call *call)
{
	RT_ASSERT(call->is_authorized);
	rt_scope_init(&call->scope, call->request->alloc);
	handle(call);
	/* A read that does not find a node that should exist (rt_engine_refresh) is tried once
	 * again. */
	if (call->request->method == RT_WEB_GET && call->answer->status == 500) {
		if (call->open_project != NULL)
			call->open_project->looked_us = 0; /* from the store, however recent the
							    * value is */
		handle(call);
	}
	rt_scope_deinit(&call->scope);
}
