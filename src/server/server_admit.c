/* SPDX-License-Identifier: MIT
 *
 * Admission: who sends a request, and whether it may have what it asks for, before its body is read. */
#include "server/server_impl.h"

#include <stdio.h>

#include "server/access.h"
#include "server/api.h"
#include "server/page.h"

static bool
deny(rt_web_answer *answer, unsigned status, const char *kind, const char *title,
     const char *detail)
{
	rt_problem_http(answer, status, kind, title, detail);
	return false;
}

static bool
deny_fault(rt_web_answer *answer, const rt_guard_fault *fault)
{
	(void)deny(answer, fault->status, fault->kind, fault->title, fault->detail);
	answer->close = fault->close;
	return false;
}

int64_t
rt_server_now_us(const rt_server *server)
{
	return server->options.pool.env->now_us(server->options.pool.env->ctx);
}

/* The owner's token, a personal access token or a share link. */
static void
identify_bearer(rt_server *server, const rt_web_request *request, rt_admitted *in)
{
	rt_account *account = &in->principal.account;
	rt_str given;

	if (!rt_guard_bearer(request, &given))
		return;
	if (rt_guard_same(given, rt_str_at(server->token, RT_TOKEN_SIZE)))
		account->kind = RT_ACCOUNT_MACHINE;
	else if (server->directory != NULL && !rt_access_identify(server->directory, given, account) &&
		 account->hash[0] != '\0')
		in->unknown_us = rt_server_now_us(server);
	if (account->kind != RT_ACCOUNT_NOBODY)
		in->principal.kind = RT_PRINCIPAL_TOKEN;
}

/* A browser. With accounts it acts for the user that its code was made for. */
static void
identify_browser(rt_server *server, rt_admitted *in, uint64_t user)
{
	rt_account account = {.kind = RT_ACCOUNT_USER, .user = user};

	/* One that signed in as a user must not get all rights when the server has no accounts. */
	if (server->directory == NULL && user == 0)
		account.kind = RT_ACCOUNT_MACHINE;
	else if (server->directory == NULL)
		return;
	else if (!rt_access_is_known(server->directory, &account))
		return;
	in->principal.kind = RT_PRINCIPAL_BROWSER;
	in->principal.account = account;
	in->principal.project = rt_str_of(in->project);
	in->principal.browser = rt_str_of(in->hash);
}

/* A page that a share link has opened: the query names the link, and its cookie has the secret. False:
 * it is another request. No other cookie of it counts. */
static bool
identify_shared(rt_server *server, const rt_web_request *request, rt_admitted *in)
{
	char name[RT_PAGE_LINK_COOKIE_ROOM];
	uint64_t link = 0;
	rt_str text, given;

	if (server->directory == NULL || !rt_web_query(request, "shared", &text))
		return false;
	if (!rt_str_u64(text, INT64_MAX, &link))
		return true;
	rt_page_link_cookie(server->cookie_port, link, name);
	in->is_shared = true;
	if (!rt_guard_cookie(request, name, &given))
		return true;
	if (!rt_access_identify(server->directory, given, &in->principal.account))
		in->unknown_us = rt_server_now_us(server);
	else if (in->principal.account.kind == RT_ACCOUNT_LINK)
		in->principal.kind = RT_PRINCIPAL_BROWSER;
	return true;
}

void
rt_server_identify(rt_server *server, const rt_web_request *request, rt_admitted *in)
{
	rt_str given;
	uint64_t user;

	in->unknown_us = 0;

	if (in->principal.account.kind == RT_ACCOUNT_USER && !rt_guard_bearer(request, &given)) {
		in->principal.kind = RT_PRINCIPAL_BROWSER; /* named by a proxy */
		return;
	}
	in->principal.account = (rt_account){0};
	if (request->is_local) {
		in->principal.kind = RT_PRINCIPAL_LOCAL;
		in->principal.account.kind = RT_ACCOUNT_MACHINE;
	} else if (rt_web_header(request, "Authorization").ptr != NULL) {
		identify_bearer(server, request, in);
	} else if (identify_shared(server, request, in)) {
		return;
	} else if (!rt_guard_cookie(request, server->cookie, &given)) {
		return;
	} else if (!rt_browsers_find(server->browsers, given, in->hash, in->project, &user)) {
		in->unknown_us = given.size == RT_TOKEN_SIZE ? rt_server_now_us(server) : 0;
	} else {
		identify_browser(server, in, user);
	}
}

/* The project that a request is about: the only one that its principal may open, else the one in its
 * header or, for requests that cannot have headers, its query; empty: the home project. */
rt_str
rt_server_project_of(const rt_web_request *request, const rt_principal *principal)
{
	rt_str name = principal->project;

	if (name.size == 0)
		name = rt_web_header(request, "Retake-Project");
	if (name.size == 0)
		(void)rt_web_query(request, "project", &name);
	return name;
}

static bool
admit_page(const rt_web_request *request, const rt_admitted *in, rt_web_plan *plan,
	   rt_web_answer *answer)
{
	rt_guard_fault fault = rt_guard_check_form(request, &in->principal, false);

	if (fault.status != 0)
		return deny_fault(answer, &fault);
	plan->quick = request->query.size == 0;
	if (request->method == RT_WEB_GET)
		return true;
	(void)deny(answer, 405, "method-not-allowed", "This method is not allowed here", NULL);
	rt_web_answer_header(answer, request, "Allow", RT_STR("GET, HEAD"));
	return false;
}

/* The flags of routes that it must not use, without accounts. */
static unsigned
forbidden(const rt_principal *principal)
{
	if (principal->kind != RT_PRINCIPAL_BROWSER || principal->account.kind != RT_ACCOUNT_MACHINE)
		return 0;
	return principal->project.size > 0 ? RT_ROUTE_OWNER | RT_ROUTE_STORE : RT_ROUTE_OWNER;
}

/* The route of the request; false: denied. */
static bool
find_route(const rt_web_request *request, rt_admitted *in, rt_web_answer *answer)
{
	char allow[64], words[96];
	rt_route_found found = rt_route_find(rt_all_routes, request->method, request->path,
					     &in->route, in->params, allow);

	if (found == RT_ROUTE_BAD)
		return deny(answer, 400, "invalid-request", "The address is not valid",
			    "a percent sign must be followed by two hexadecimal digits");
	if (found == RT_ROUTE_OTHER_METHOD) {
		(void)snprintf(words, sizeof(words), "allowed methods: %s", allow);
		(void)deny(answer, 405, "method-not-allowed", "This method is not allowed here", words);
		rt_web_answer_header(answer, request, "Allow", rt_str_of(allow));
		return false;
	}
	/* A route that is not for this browser does not exist for it. */
	if (found == RT_ROUTE_UNKNOWN || (in->route->flags & forbidden(&in->principal)) != 0)
		return deny(answer, 404, "not-found", "There is no route with this address",
			    "all routes: GET /retake/v1/openapi.json");
	return true;
}

static bool
admit_route(rt_server *server, const rt_web_request *request, rt_admitted *in, rt_web_plan *plan,
	    rt_web_answer *answer)
{
	rt_str ignored;

	if (!find_route(request, in, answer))
		return false;
	unsigned flags = in->route->flags;
	rt_guard_fault fault =
		rt_guard_check_form(request, &in->principal, (flags & RT_ROUTE_LARGE) != 0);
	if (fault.status != 0)
		return deny_fault(answer, &fault);
	plan->body_max = (flags & RT_ROUTE_LARGE) == 0			? RT_BODY_MAX
			 : in->principal.kind == RT_PRINCIPAL_BROWSER	? RT_BODY_BROWSER
									: RT_BODY_LARGE;
	plan->as_file = (flags & RT_ROUTE_FILE) != 0;
	/* A past value may have to be computed from the whole history. */
	plan->quick = (flags & RT_ROUTE_QUICK) != 0 && server->directory == NULL && !rt_web_query(request, "at_op", &ignored) &&
		      !rt_web_query(request, "blocks", &ignored) &&
		      ((flags & RT_ROUTE_NO_PROJECT) != 0 ||
		       rt_project_pool_is_open(server->pool, rt_server_project_of(request, &in->principal)));
	return true;
}

static bool
is_probe(const rt_web_request *request)
{
	return request->method == RT_WEB_GET && (rt_str_is(request->path, "/healthz") ||
						 rt_str_is(request->path, "/readyz"));
}

/* Load balancers have no token and name the server by any address; the answers say nothing about the
 * data. */
static bool
admit_probe(const rt_web_request *request, rt_admitted *in, rt_web_plan *plan, rt_web_answer *answer)
{
	rt_guard_fault fault = rt_guard_check_framing(request);

	if (fault.status == 0)
		fault = rt_guard_check_form(request, &in->principal, false);
	if (fault.status != 0)
		return deny_fault(answer, &fault);
	in->is_probe = true;
	plan->quick = rt_str_is(request->path, "/healthz");
	return true;
}

/* A page of sign-in. */
static bool
admit_sign_in(const rt_web_request *request, rt_admitted *in, rt_web_plan *plan, rt_web_answer *answer)
{
	plan->quick = false;
	in->is_sign_in = true;
	return rt_str_is(request->method_name, "GET") ||
	       deny(answer, 405, "method-not-allowed", "This page can only be opened", NULL);
}

/* For the audit log: the proxy has signed this user in. */
static void
note_proxied(rt_server *server, const rt_web_request *request, uint64_t id)
{
	const rt_roster *roster = rt_directory_roster(server->directory);
	const rt_item *user = rt_roster_user(roster, id);
	rt_str bearer;

	if (user != NULL && !rt_guard_bearer(request, &bearer)) /* which would take precedence */
		rt_account_notes_proxied(server->notes, rt_server_now_us(server), id, user->name, rt_str_of(request->id));
	rt_object_unref(roster);
}

/* The user whom a proxy names, if it is one. False: denied. */
static bool
identify_proxy(rt_server *server, const rt_web_request *request, rt_admitted *in, rt_web_answer *answer)
{
	rt_guard_fault fault = {0};

	if (server->directory != NULL && !request->is_local &&
	    rt_proxy_user(&server->options.sign_in, server->directory, request, &in->principal.account, &fault))
		note_proxied(server, request, in->principal.account.user);
	return fault.status == 0 || deny_fault(answer, &fault);
}

/* For the audit log: a request, or a sign-in, of an unknown account. */
void
rt_server_note_unknown(rt_server *server, const rt_web_request *request, const char *what)
{
	rt_audit row = {.by = RT_STR("unknown"), .what = rt_str_of(what), .on = RT_STR(""), .request = rt_str_of(request->id)};

	if (server->notes != NULL)
		rt_account_notes_refused(server->notes, rt_server_now_us(server), row.by, &row, what);
}

/* Once the principal is known. */
bool
rt_server_admit_known(rt_server *server, const rt_web_request *request, rt_admitted *in, rt_web_plan *plan,
	    rt_web_answer *answer)
{
	bool is_known = in->principal.kind != RT_PRINCIPAL_NOBODY, ignored;
	/* The addresses of the page's files do not name a share link; they contain no data. */
	bool has_files = is_known || server->directory != NULL;

	if (server->sign_in != NULL && rt_sign_in_is_page(request, &ignored))
		return admit_sign_in(request, in, plan, answer);
	if (rt_str_is(request->path, "/") || rt_str_is(request->path, RT_PAGE_SHARED) ||
	    (has_files && (rt_str_starts(request->path, RT_STR("/web/")) ||
			  rt_str_is(request->path, RT_PAGE_WORKER))))
		return admit_page(request, in, plan, answer);
	if (is_known)
		return admit_route(server, request, in, plan, answer);
	rt_server_note_unknown(server, request, "refused.unknown");
	(void)deny(answer, 401, "unauthenticated", "Authentication required", NULL);
	rt_web_answer_header(answer, request, "WWW-Authenticate",
			     RT_STR("Bearer realm=\"retake\""));
	return false;
}

/* A browser that has just signed in on another server of this store is not known here until its row
 * is read. That waits for the store, so it is done in handle, and the rest of admit after it. */
static bool
admit_later(rt_web_plan *plan)
{
	plan->quick = false;
	plan->body_max = RT_BODY_UNKNOWN;
	return true;
}

/* rt_web_site: the headers have been read. */
bool
rt_server_admit(void *ctx, rt_web_request *request, rt_web_plan *plan, rt_web_answer *answer)
{
	rt_server *server = ctx;
	rt_admitted *in = rt_arena_get(request->arena, sizeof(*in));

	if (in == NULL) {
		answer->status = 503;
		return false;
	}
	memset(in, 0, sizeof(*in));
	request->user = in;
	request->id = in->id;
	rt_request_id(server->options.pool.env, request, in->id);
	rt_trace_id(request, in->trace);
	if (is_probe(request))
		return admit_probe(request, in, plan, answer);
	bool is_arrival = false;
	if (server->sign_in != NULL)
		(void)rt_sign_in_is_page(request, &is_arrival);
	rt_guard_fault fault = is_arrival ? rt_guard_check_arrival(&server->guard, request)
					  : rt_guard_check(&server->guard, request);
	if (fault.status != 0)
		return deny_fault(answer, &fault);
	if (!identify_proxy(server, request, in, answer))
		return false;
	rt_server_identify(server, request, in);
	return in->unknown_us != 0 ? admit_later(plan) : rt_server_admit_known(server, request, in, plan, answer);
}
