/* SPDX-License-Identifier: MIT
 *
 * Runs of models, and events. */
#include "server/access_log_host.h"
#include "server/api.h"
#include "server/quota.h"
#include "server/run_claim.h"
#include "server/run_json.h"

void
rt_api_runs(rt_call *call)
{
	rt_scope *s = &call->scope;

	rt_buf *out = &call->answer->body;

	RT_TRY(s, rt_runs_list_json(call->open_project->runs, out, &s->error));
	if (!rt_ok(s))
		return;
	out->size--; /* the bracket */
	RT_TRY(s, rt_run_claims_list(call->open_project->claims, out, &s->error));
	rt_json_close(out, ']');
}

/* It may be a run of another server. */
static void
show(rt_call *call, rt_str run)
{
	rt_scope *s = &call->scope;
	rt_open_project *in = call->open_project;
	rt_status st = rt_ok(s) ? rt_runs_show_json(in->runs, run, &call->answer->body, &s->error)
				: s->status;

	if (st == RT_NOT_FOUND)
		st = rt_run_claims_show(in->claims, run, &call->answer->body, &s->error);
	rt_scope_note(s, st);
}

void
rt_api_run(rt_call *call)
{
	show(call, rt_call_param(call, "run"));
}

/* Stops a run. The reply ends soon; the events, or a later request, report the result. */
void
rt_api_run_stop(rt_call *call)
{
	rt_scope *s = &call->scope;
	rt_str run = rt_call_param(call, "run");

	rt_open_project *in = call->open_project;
	rt_status st = rt_ok(s) ? rt_runs_stop(in->runs, run, &s->error) : s->status;

	if (st == RT_NOT_FOUND)
		st = rt_run_claims_stop(in->claims, run, &s->error);
	rt_scope_note(s, st);
	show(call, run);
}

/* The kind requested by the body; the empty name is "ask". */
static rt_run_request
read_request(rt_call *call, yyjson_val *root)
{
	rt_scope *s = &call->scope;
	rt_str name = rt_json_str(rt_json_get(root, "how"));
	rt_run_request request = {0};
	rt_run_how how = RT_RUN_ASK;

	while (name.size > 0 && how < RT_RUN_HOWS && !rt_str_is(name, rt_run_how_names[how]))
		how++;
	if (how == RT_RUN_HOWS)
		rt_scope_fail(s, RT_USAGE,
			      "\"how\" must be ask, again, continue, compact, compress, go or merge");
	RT_TRY(s, rt_run_request_read(root, how, &request, &s->error));
	return request;
}

/* The trace of the request for the model's server: no span is recorded here, so the caller's is
 * passed on. A later version is sent as version 00, which has the same beginning. */
static rt_str
read_trace(rt_call *call)
{
	enum { VERSION = 2, SIZE = 55 };
	rt_str given = rt_web_header(call->request, "traceparent");
	char id[RT_TRACE_ID_ROOM];
	rt_buf *out = rt_scope_buf(&call->scope);

	rt_trace_id(call->request, id);
	if (id[0] == '\0' || !rt_ok(&call->scope))
		return RT_STR("");
	rt_buf_add_f(out, "00%.*s", SIZE - VERSION, given.ptr + VERSION);
	return rt_scope_str(&call->scope, out);
}

/* Starts a run; if the place has one already, the failure names it. */
static rt_str
start(rt_call *call, const rt_run_request *request)
{
	rt_scope *s = &call->scope;
	char name[24] = "";

	if (!rt_ok(s))
		return RT_STR("");
	rt_status st = rt_runs_start(call->open_project->runs, request, name, &s->error);
	rt_str run = rt_scope_copy(s, rt_str_of(name));
	if (st == RT_OK)
		rt_run_claims_add(call->open_project->claims, run);
	if (st != RT_OK && run.size > 0) {
		rt_buf *hint = rt_scope_buf(s), *extra = rt_scope_buf(s);

		rt_buf_add_f(hint, "follow it with GET %s/runs/%s or the events; stop it with DELETE",
			     RT_API_ROOT, name);
		rt_json_put_str(extra, "run", run);
		call->extra = rt_scope_str(s, extra);
		rt_call_hint(call, rt_scope_str(s, hint).ptr);
	}
	rt_scope_note(s, st);
	return run;
}

/* "models": a run for each, {"runs":[…]}. */
static void
start_several(rt_call *call, const rt_run_request *request, yyjson_val *list)
{
	rt_scope *s = &call->scope;
	rt_buf *out = &call->answer->body;
	char names[RT_RUN_MODELS_MAX][24];
	rt_str models[RT_RUN_MODELS_MAX];
	size_t count = 0;

	if (request->model.size > 0)
		rt_scope_fail(s, RT_USAGE, "give either \"model\" or \"models\"");
	if (!yyjson_is_arr(list) || yyjson_arr_size(list) == 0 ||
	    yyjson_arr_size(list) > RT_RUN_MODELS_MAX)
		rt_scope_fail(s, RT_USAGE, "\"models\" must be an array of 1 to %d names",
			      (int)RT_RUN_MODELS_MAX);
	for (rt_json_iter it = rt_json_items(list); rt_ok(s) && rt_json_next(&it);) {
		if (!yyjson_is_str(it.value) || yyjson_get_len(it.value) == 0)
			rt_scope_fail(s, RT_USAGE, "\"models\" must be an array of names");
		models[count++] = rt_json_str(it.value);
	}
	if (rt_ok(s))
		RT_TRY(s, rt_runs_start_several(call->open_project->runs, request, models, count,
						names, &s->error));
	for (size_t i = 0; rt_ok(s) && i < count; i++)
		rt_run_claims_add(call->open_project->claims, rt_str_of(names[i]));
	rt_json_open(out, NULL, '{');
	rt_json_open(out, "runs", '[');
	for (size_t i = 0; rt_ok(s) && i < count; i++)
		show(call, rt_str_of(names[i]));
	rt_json_close(out, ']');
	rt_json_close(out, '}');
	call->answer->status = 202;
}

/* What a run would add: a request for each model and reply, the question, and the replies. */
static rt_use
use_of(const rt_call *call, const rt_run_request *request, uint64_t models)
{
	uint64_t replies = request->replies > 0 ? request->replies : 1, requests = models * replies;
	bool has_question = request->text.size > 0 || request->content != NULL;

	return (rt_use){{[RT_QUOTA_BYTES] = call->request->body.size,
			 [RT_QUOTA_ENTRIES] = has_question + requests,
			 [RT_QUOTA_REQUESTS] = requests}};
}

/* Counts the start of a run. Replies are counted when they have arrived. */
static void
count_start(rt_call *call, rt_use added)
{
	added.counts[RT_QUOTA_ENTRIES] -= added.counts[RT_QUOTA_REQUESTS];
	rt_call_count_use(call, &added);
}

void
rt_api_run_start(rt_call *call)
{
	rt_scope *s = &call->scope;
	rt_str by = rt_call_actor(call), disc = rt_call_param(call, "discussion");
	yyjson_val *root = rt_call_body(call, true);
	rt_str take = rt_call_text(call, "take");
	rt_str in_body = rt_json_str(rt_json_get(root, "take"));

	if (in_body.size > 0)
		take = in_body;
	struct rt_idempotency *idem = rt_call_begin(call, disc, take);
	rt_call_reserve(call, idem);
	rt_run_request request = read_request(call, root);
	request.by = by;
	request.trace = read_trace(call);
	request.discussion = disc;
	request.take = take;
	request.may_name_files = call->principal.kind != RT_PRINCIPAL_BROWSER &&
				 call->principal.account.kind == RT_ACCOUNT_MACHINE;
	yyjson_val *models = rt_json_get(root, "models");
	rt_use added = use_of(call, &request, yyjson_is_arr(models) ? yyjson_arr_size(models) : 1);
	rt_call_check_quota(call, &added);
	if (models != NULL && !yyjson_is_null(models)) {
		start_several(call, &request, models);
		count_start(call, added);
		rt_call_keep(call, idem);
		return;
	}
	rt_str run = start(call, &request);
	count_start(call, added);
	show(call, run);
	rt_buf *location = rt_scope_buf(s);
	rt_buf_add_f(location, "%s/runs/%.*s", RT_API_ROOT, RT_STR_ARG(run));
	rt_call_header(call, "Location", rt_scope_str(s, location));
	call->answer->status = 202;
	rt_call_keep(call, idem);
}

void
rt_api_events(rt_call *call)
{
	rt_scope *s = &call->scope;
	rt_str disc = rt_call_param(call, "discussion");
	rt_str last = rt_web_header(call->request, "Last-Event-ID");
	rt_web_stream *stream = NULL;
	rt_place place = {0, 0};

	if (disc.size == 0)
		disc = rt_call_text(call, "discussion");
	if (last.size == 0)
		last = rt_call_text(call, "last_event_id");
	const rt_project *project = rt_call_value(call);
	if (disc.size > 0)
		RT_TRY(s, rt_resolve_place(project, disc, RT_STR(""), &place, &s->error));
	if (call->discussion != 0) /* the only one of a share link */
		RT_TRY(s, rt_feed_stream_of_one(call->open_project->feed, last, (uint32_t)call->discussion, &stream,
						&s->error));
	else
		RT_TRY(s, rt_feed_stream(call->open_project->feed, last, place.disc, &stream, &s->error));
	call->answer->type = "text/event-stream";
	call->answer->stream = stream;
}
