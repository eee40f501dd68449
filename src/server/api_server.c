/* SPDX-License-Identifier: MIT
 *
 * The server itself: letting browsers in and out, and how busy it is. */
#include "server/api.h"

#include <stdio.h>

#include "server/guard.h"
#include "server/page.h"

void
rt_api_codes(rt_call *call)
{
	rt_buf *body = &call->answer->body;
	char code[RT_CODE_ROOM];
	rt_json_doc *doc = NULL;
	yyjson_val *root = NULL;
	rt_str project, wanted, store = rt_project_pool_get_options(call->pool)->store_path;
	rt_open_project *open_project;
	bool replaced = false;
	rt_error err;
	rt_status st = RT_OK;

	if (!rt_call_body(call, true, &doc, &root))
		return;
	wanted = rt_json_str(rt_json_get(root, "store"));
	if (wanted.size > 0 && !rt_str_eq(wanted, store)) {
		char detail[300];

		(void)snprintf(detail, sizeof(detail), "it serves %.*s",
			       (int)rt_utf8_cut(store, sizeof(detail) - 20), store.ptr);
		rt_problem_http(call->answer, 409, "other-store", "This server has another store", detail);
		rt_json_free(doc);
		return;
	}
	project = rt_json_str(rt_json_get(root, "project"));
	if (project.size > 0) /* it has to be there: a slip would make another one */
		st = rt_project_pool_project(call->pool, project, false, &open_project, &err);
	if (st == RT_OK)
		st = rt_browsers_code(call->browsers, project, code, &replaced, &err);
	rt_json_free(doc);
	if (st != RT_OK) {
		rt_call_fail(call, &err, "projects: GET /retake/v1/projects");
		return;
	}
	rt_json_open(body, NULL, '{');
	rt_json_put_c(body, "code", code);
	rt_json_add_key(body, "url");
	rt_buf_add_f(body, "\"http://%s/?code=%s\"", call->place, code);
	rt_json_put_u64(body, "seconds", RT_CODE_S);
	rt_json_put_bool(body, "replaced", replaced);
	rt_json_put_str(body, "store", store);
	rt_json_close(body, '}');
	rt_call_done(call, 201);
}

void
rt_api_logout(rt_call *call)
{
	char name[32], value[96];
	rt_open_project *open_project;
	rt_error err;
	rt_status st;

	if (call->principal.kind != RT_PRINCIPAL_BROWSER) {
		rt_fail(&err, RT_REFUSED, "only a browser can log out: this request came with the "
			"token, or over the socket");
		rt_call_fail(call, &err, "a new token: retake serve --new-token");
		return;
	}
	st = rt_browsers_leave(call->browsers, call->principal.browser, &err);
	if (st != RT_OK) {
		rt_call_fail(call, &err, NULL);
		return;
	}
	/* Its events end now, and not when something happens. */
	for (open_project = rt_project_pool_first(call->pool); open_project != NULL;
	     open_project = open_project->next)
		rt_feed_changed(open_project->feed);
	rt_page_cookie_name(rt_front_port(call->front), name);
	(void)snprintf(value, sizeof(value), "%s=; Path=/; Max-Age=0; HttpOnly; SameSite=Strict",
		       name);
	rt_web_answer_header(call->answer, call->request, "Set-Cookie", rt_str_of(value));
	rt_web_answer_header(call->answer, call->request, "Clear-Site-Data",
			     RT_STR("\"cache\", \"storage\""));
	rt_buf_add_c(&call->answer->body, "{\"status\":\"logged out\"}");
	rt_call_done(call, 200);
}

void
rt_api_server(rt_call *call)
{
	rt_buf *body = &call->answer->body;
	rt_front_counts counts;
	rt_open_project *open_project;
	size_t projects = 0;

	rt_front_count(call->front, &counts);
	for (open_project = rt_project_pool_first(call->pool); open_project != NULL;
	     open_project = open_project->next)
		projects++;
	rt_json_open(body, NULL, '{');
	rt_json_put_u64(body, "connections", counts.connections);
	rt_json_put_u64(body, "streams", counts.streams);
	rt_json_put_u64(body, "workers", counts.workers);
	rt_json_put_u64(body, "requests", counts.requests);
	rt_json_put_u64(body, "late", counts.late);
	rt_json_put_u64(body, "projects_open", projects);
	rt_json_close(body, '}');
	rt_call_done(call, 200);
}
