/* SPDX-License-Identifier: MIT */
#include "server/call.h"

enum { BY_MAX = 64 };

/* ---- what came ---- */

bool
rt_call_failed(rt_call *call, const rt_error *err)
{
	rt_call_fail(call, err, NULL);
	return false;
}

bool
rt_call_refuse(rt_call *call, const char *detail)
{
	rt_error err;

	memset(&err, 0, sizeof(err));
	(void)rt_fail(&err, RT_USAGE, "%s", detail);
	return rt_call_failed(call, &err);
}

bool
rt_call_nomem(rt_call *call)
{
	rt_error err;

	memset(&err, 0, sizeof(err));
	(void)rt_fail(&err, RT_NOMEM, "out of memory");
	return rt_call_failed(call, &err);
}

bool
rt_call_body(rt_call *call, bool empty_is_fine, rt_json_doc **out_doc, yyjson_val **out_root)
{
	rt_str body = rt_str_trim(call->request->body);
	rt_json_doc *doc = NULL;
	rt_error err;
	rt_status st;

	memset(&err, 0, sizeof(err));
	if (body.size == 0 && empty_is_fine)
		body = RT_STR("{}");
	if (body.size == 0)
		return rt_call_refuse(call, "the body is empty; it is a JSON object");
	st = rt_json_read(call->request->alloc, body, &doc, &err);
	if (st != RT_OK) {
		rt_error inner = err;

		(void)rt_fail(&err, st == RT_LIMIT ? RT_USAGE : st, "the body: %.400s", inner.text);
		err.has_at = inner.has_at;
		err.at = inner.at;
		return rt_call_failed(call, &err);
	}
	if (!yyjson_is_obj(rt_json_root(doc))) {
		rt_json_free(doc);
		return rt_call_refuse(call, "the body is JSON, but no object");
	}
	*out_doc = doc;
	*out_root = rt_json_root(doc);
	return true;
}

bool
rt_call_value(rt_call *call, const rt_project **out)
{
	rt_open_project *open_project = call->open_project;
	const rt_env *env = rt_project_pool_get_options(call->pool)->env;
	int64_t now_us = env->now_us(env->ctx), age_us = now_us - open_project->looked_us;
	rt_error err;
	rt_status st = RT_OK;

	memset(&err, 0, sizeof(err));
	if (age_us < 0 || age_us >= RT_CALL_FRESH_US) {
		st = rt_engine_refresh(open_project->engine, &err);
		open_project->looked_us = now_us; /* before we looked: never younger than it is */
	}
	if (st != RT_OK)
		return rt_call_failed(call, &err);
	*out = rt_engine_value(open_project->engine);
	return true;
}

/* Is every escape of the query one? What does not decode must not count as absent. */
static bool
query_is_good(const rt_web_request *request)
{
	rt_str all;

	return request->query.size == 0 || rt_web_decode(request, request->query, true, &all);
}

bool
rt_call_text(rt_call *call, const char *name, rt_str *out)
{
	if (rt_web_query(call->request, name, out)) {
		if (out->ptr == NULL)
			*out = RT_STR("");
		return true;
	}
	*out = rt_str_at(NULL, 0);
	return query_is_good(call->request)
		       ? true
		       : rt_call_refuse(
				 call,
				 "the query has an escape that is none, or text that is not UTF-8");
}

bool
rt_call_place(rt_call *call, const rt_project *project, rt_str disc, rt_place *out)
{
	const rt_disc *d = NULL;
	rt_place place = {0, 0};
	rt_error err;
	rt_str take;
	rt_status st;

	memset(&err, 0, sizeof(err));
	if (!rt_call_text(call, "take", &take))
		return false;
	st = rt_resolve_place(project, disc, take, &place, &err);
	if (st == RT_OK && place.disc == 0)
		place.disc = project->active;
	if (st == RT_OK)
		st = rt_project_disc(project, place.disc, &d, &err);
	if (st != RT_OK)
		return rt_call_failed(call, &err);
	if (place.take == 0)
		place.take = d->active;
	*out = place;
	return true;
}

bool
rt_call_number(rt_call *call, const char *name, uint64_t absent, uint64_t *out)
{
	uint64_t number = 0;
	rt_error err;
	rt_str text;
	size_t i;

	if (!rt_call_text(call, name, &text))
		return false;
	*out = absent;
	if (text.ptr == NULL)
		return true;
	for (i = 0;
	     i < text.size && text.ptr[i] >= '0' && text.ptr[i] <= '9' && number <= UINT64_MAX / 16;
	     i++)
		number = number * 10 + (uint64_t)(text.ptr[i] - '0');
	if (i == text.size && i > 0) {
		*out = number;
		return true;
	}
	memset(&err, 0, sizeof(err));
	(void)rt_fail(&err, RT_USAGE, "\"%s\" is a whole number, 0 or more", name);
	return rt_call_failed(call, &err);
}

bool
rt_call_flag(rt_call *call, const char *name, bool *out)
{
	rt_error err;
	rt_str text;

	if (!rt_call_text(call, name, &text))
		return false;
	*out = text.ptr != NULL &&
	       (text.size == 0 || rt_str_is(text, "1") || rt_str_is(text, "true"));
	if (*out || text.ptr == NULL || rt_str_is(text, "0") || rt_str_is(text, "false"))
		return true;
	memset(&err, 0, sizeof(err));
	(void)rt_fail(&err, RT_USAGE, "\"%s\" is true or false", name);
	return rt_call_failed(call, &err);
}

rt_str
rt_call_param(const rt_call *call, const char *name)
{
	size_t i;

	for (i = 0; i < RT_ROUTE_PARAMS; i++)
		if (rt_str_is(rt_route_param_name(call->route->path, i), name))
			return call->params[i];
	return rt_str_at(NULL, 0);
}

bool
rt_call_by(rt_call *call, rt_str *out)
{
	rt_str name = rt_web_header(call->request, "Retake-By");
	char *room;
	size_t i;

	*out = rt_principal_actor(&call->principal);
	if (rt_web_header_repeats(call->request, "Retake-By") == 0)
		return true;
	for (i = 0; i < name.size; i++) {
		char c = name.ptr[i];

		if (!((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
		      c == '.' || c == '_' || c == '-'))
			break;
	}
	if (name.size == 0 || name.size > BY_MAX || i < name.size)
		return rt_call_refuse(call, "Retake-By is a name of 1 to 64 of A-Z a-z 0-9 . _ -");
	room = rt_arena_get(call->request->arena, out->size + 1 + name.size);
	if (room == NULL)
		return rt_call_nomem(call);
	memcpy(room, out->ptr, out->size);
	room[out->size] = ':';
	memcpy(room + out->size + 1, name.ptr, name.size);
	*out = rt_str_at(room, out->size + 1 + name.size);
	return true;
}

/* ---- answers ---- */

void
rt_call_done(rt_call *call, unsigned status)
{
	rt_web_answer *answer = call->answer;

	if (answer->body.status != RT_OK) {
		rt_error err;

		memset(&err, 0, sizeof(err));
		(void)rt_fail(&err, answer->body.status == RT_LIMIT ? RT_LIMIT : RT_NOMEM,
			      "the answer does not fit into memory");
		rt_call_fail(call, &err, NULL);
		return;
	}
	answer->status = status;
	answer->type = "application/json";
}

void
rt_call_fail(rt_call *call, const rt_error *err, const char *hint)
{
	rt_problem_answer(call->answer, err, hint, rt_str_at(NULL, 0));
}

void
rt_call_etag(rt_call *call, const char *etag)
{
	rt_web_answer_header(call->answer, call->request, "ETag", rt_str_of(etag));
}
