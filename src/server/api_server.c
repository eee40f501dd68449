/* SPDX-License-Identifier: MIT
 *
 * The server itself: letting browsers in and out, and how busy it is. */
#include "server/api.h"

#include <stdio.h>

#include "server/guard.h"
#include "server/page.h"
#include "server/server.h"

void
rt_api_codes(rt_call *call)
{
	rt_server *server = call->server;
	char code[RT_CODE_ROOM], place[RT_GUARD_HOST_ROOM];
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
		st = rt_server_code(server, project, code, &replaced, &err);
	rt_json_free(doc);
	if (st != RT_OK) {
		rt_call_fail(call, &err, "projects: GET /retake/v1/projects");
		return;
	}
	rt_server_place(server, place);
	rt_buf_add_f(&call->answer->body,
		     "{\"code\":\"%s\",\"url\":\"http://%s/?code=%s\",\"seconds\":%d,\"replaced\":%s,"
		     "\"store\":", code, place, code, (int)RT_CODE_S, replaced ? "true" : "false");
	rt_json_add_string(&call->answer->body, store);
	rt_buf_add_byte(&call->answer->body, '}');
	rt_call_done(call, 201);
}

void
rt_api_logout(rt_call *call)
{
	rt_server *server = call->server;
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
	st = rt_browsers_leave(rt_server_browsers(server), call->principal.browser, &err);
	if (st != RT_OK) {
		rt_call_fail(call, &err, NULL);
		return;
	}
	/* Its events end now, and not when something happens. */
	for (open_project = rt_project_pool_first(call->pool); open_project != NULL;
	     open_project = open_project->next)
		rt_feed_changed(open_project->feed);
	rt_page_cookie_name(rt_server_port(server), name);
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
	rt_front_counts counts;
	rt_open_project *open_project;
	size_t projects = 0;

	rt_server_counts(call->server, &counts);
	for (open_project = rt_project_pool_first(call->pool); open_project != NULL;
	     open_project = open_project->next)
		projects++;
	rt_buf_add_f(&call->answer->body,
		     "{\"connections\":%u,\"streams\":%u,\"workers\":%u,\"requests\":%llu,\"late\":%llu,"
		     "\"projects_open\":%zu}",
		     counts.connections, counts.streams, counts.workers,
		     (unsigned long long)counts.requests, (unsigned long long)counts.late, projects);
	rt_call_done(call, 200);
}
