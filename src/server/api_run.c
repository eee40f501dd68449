/* SPDX-License-Identifier: MIT
 *
 * Models at work, and events. */
#include "server/api.h"

#include <stdio.h>

#include "server/idempotency.h"
#include "server/problem.h"
#include "server/run_json.h"

static void
finish(rt_call *call, rt_status st, const rt_error *err, unsigned status)
{
	if (st == RT_OK)
		rt_call_done(call, status);
	else
		rt_call_fail(call, err, NULL);
}

/* name: of the run that is at work at the same already; or empty. */
static void
refuse(rt_call *call, const rt_error *err, const char *name)
{
	char hint[160], extra[64];

	if (name[0] == '\0') {
		rt_call_fail(call, err, NULL);
		return;
	}
	(void)snprintf(hint, sizeof(hint),
		       "follow it: GET %s/runs/%s, or the events; DELETE stops it", RT_API_ROOT,
		       name);
	(void)snprintf(extra, sizeof(extra), ",\"run\":\"%s\"", name);
	rt_problem_answer(call->answer, err, hint, rt_str_of(extra));
}

void
rt_api_runs(rt_call *call)
{
	rt_error err;
	rt_status st;

	memset(&err, 0, sizeof(err));
	st = rt_runs_list_json(call->open_project->runs, &call->answer->body, &err);
	finish(call, st, &err, 200);
}

void
rt_api_run(rt_call *call)
{
	rt_error err;
	rt_status st;

	memset(&err, 0, sizeof(err));
	st = rt_runs_show_json(call->open_project->runs, rt_call_param(call, "run"), &call->answer->body,
			  &err);
	finish(call, st, &err, 200);
}

/* Its reply ends soon; what it is then is for the events, or for a look. */
void
rt_api_run_stop(rt_call *call)
{
	rt_error err;
	rt_status st;

	memset(&err, 0, sizeof(err));
	st = rt_runs_stop(call->open_project->runs, rt_call_param(call, "run"), &err);
	if (st == RT_OK)
		st = rt_runs_show_json(call->open_project->runs, rt_call_param(call, "run"),
				  &call->answer->body, &err);
	finish(call, st, &err, 200);
}

/* Empty: ask. RT_RUN_HOWS: there is none of that name. */
static rt_run_how
how_named(rt_str name)
{
	rt_run_how how = RT_RUN_ASK;

	while (name.size > 0 && how < RT_RUN_HOWS && !rt_str_is(name, rt_run_how_names[how]))
		how++;
	return how;
}

void
rt_api_run_start(rt_call *call)
{
	rt_str by, take;
	rt_run_request request;
	rt_run_how how;
	struct rt_idempotency *idem = NULL;
	rt_json_doc *doc = NULL;
	yyjson_val *root = NULL;
	char name[24] = "";
	rt_error err;
	rt_status st;

	memset(&err, 0, sizeof(err));
	if (!rt_call_by(call, &by) || !rt_call_body(call, true, &doc, &root) ||
	    !rt_call_text(call, "take", &take))
		goto done;
	if (rt_json_str(rt_json_get(root, "take")).size > 0)
		take = rt_json_str(rt_json_get(root, "take"));
	if (!rt_call_begin(call, rt_call_param(call, "discussion"), take, &idem) ||
	    !rt_call_reserve(call, idem))
		goto done;
	how = how_named(rt_json_str(rt_json_get(root, "how")));
	st = how < RT_RUN_HOWS
		     ? rt_run_request_read(root, how, &request, &err)
		     : rt_fail(&err, RT_USAGE,
			       "\"how\" is ask, again, continue, compact, compress or go");
	if (st == RT_OK) {
		request.by = by;
		request.discussion = rt_call_param(call, "discussion");
		request.take = take;
		request.may_name_files = call->principal.kind != RT_PRINCIPAL_BROWSER;
		st = rt_runs_start(call->open_project->runs, &request, name, &err);
	}
	if (st == RT_OK)
		st = rt_runs_show_json(call->open_project->runs, rt_str_of(name), &call->answer->body,
				  &err);
	if (st == RT_OK) {
		rt_buf where;

		rt_buf_init(&where, call->request->alloc, RT_BUF_UNLIMITED);
		rt_buf_add_f(&where, "%s/runs/%s", RT_API_ROOT, name);
		rt_web_answer_header(call->answer, call->request, "Location", rt_buf_str(&where));
		rt_buf_deinit(&where);
	}
	if (st == RT_OK)
		rt_call_done(call, 202);
	else
		refuse(call, &err, name);
	rt_call_keep(call, idem);
done:
	rt_json_free(doc);
}

void
rt_api_events(rt_call *call)
{
	rt_str disc = rt_call_param(call, "discussion");
	rt_str last = rt_web_header(call->request, "Last-Event-ID");
	const rt_project *project = NULL;
	rt_web_stream *stream = NULL;
	rt_place place = {0, 0};
	rt_error err;
	rt_status st = RT_OK;

	memset(&err, 0, sizeof(err));
	if ((disc.size == 0 && !rt_call_text(call, "discussion", &disc)) ||
	    (last.size == 0 && !rt_call_text(call, "last_event_id", &last)) ||
	    !rt_call_value(call, &project))
		return;
	if (disc.size > 0)
		st = rt_resolve_place(project, disc, RT_STR(""), &place, &err);
	rt_object_unref(project);
	if (st == RT_OK)
		st = rt_feed_stream(call->open_project->feed, last, place.disc, &stream, &err);
	if (st != RT_OK) {
		rt_call_fail(call, &err, NULL);
		return;
	}
	call->answer->status = 200;
	call->answer->type = "text/event-stream";
	call->answer->stream = stream;
}
