/* SPDX-License-Identifier: MIT */
#include "server/server_impl.h"

#include <stdio.h>

#include "app/run.h"
#include "server/access.h"
#include "server/api.h"
#include "server/page.h"

/* ---- probes ---- */

static void
answer_probe(rt_web_answer *answer, const char *trouble)
{
	answer->status = trouble == NULL ? 200 : 503;
	answer->type = "text/plain; charset=utf-8";
	rt_buf_add_f(&answer->body, "%s\n", trouble == NULL ? "ok" : trouble);
}

/* Can it answer requests? One thread at a time asks the store, which may have to wait for a database;
 * the others report the last result, unless there is none for PROBE_MS: where the network is cut, a
 * database does not answer for long. */
static void
answer_ready(rt_server *server, rt_web_answer *answer)
{
	enum { PROBE_MS = 1000 };
	rt_store *store = server->options.pool.store;
	int64_t now = rt_server_now_us(server), since = 0;
	bool is_late = false;
	uint64_t epoch;

	if (!server->is_draining && atomic_compare_exchange_strong(&server->probed_us, &since, now)) {
		server->is_store_lost = store->ops->epoch(store, &epoch, NULL) != RT_OK;
		server->probed_us = 0;
		since = 0;
	}
	is_late = since != 0 && now - since > PROBE_MS * 1000;
	answer_probe(answer, server->is_draining		? "draining"
			     : is_late				? "the store does not answer"
			     : server->is_store_lost		? "the store cannot be read"
								: NULL);
}

/* ---- handling ---- */

/* A browser has signed in. */
static void
note_sign_in(rt_server *server, const rt_web_request *request, const char *cookie)
{
	char hash[RT_BROWSER_ROOM], project[RT_BROWSER_PROJECT_ROOM];
	uint64_t user = 0;
	rt_scope s;

	if (server->directory == NULL ||
	    !rt_browsers_find(server->browsers, rt_str_of(cookie), hash, project, &user))
		return;
	const rt_roster *roster = rt_directory_roster(server->directory);
	const rt_item *item = rt_roster_user(roster, user);
	rt_scope_init(&s, server->alloc);
	rt_accounts a = {.directory = server->directory,
			 .scope = &s,
			 .env = server->options.pool.env,
			 .by = item != NULL ? item->name : RT_STR("unknown"),
			 .from = RT_STR("http"),
			 .request = rt_str_of(request->id)};
	rt_audit_add(&a, "sign-in", RT_STR("browser"));
	(void)!rt_scope_end(&s, NULL);
	rt_object_unref(roster);
}

/* The sign-in page. */
static void
show_login(rt_server *server, const rt_web_request *request, const rt_admitted *in,
	   rt_web_answer *answer, const rt_error *failure)
{
	rt_buf login;

	rt_buf_init(&login, server->alloc, RT_BUF_UNLIMITED);
	rt_server_add_login(server, &login);
	rt_page_login(request, answer, rt_buf_str(&login), rt_sign_in_service(server->sign_in), failure,
		      in->principal.kind == RT_PRINCIPAL_BROWSER);
	if (login.status != RT_OK)
		answer->status = 0;
	rt_buf_deinit(&login);
}

/* The code in the text pasted into the sign-in page: all of it, or the end of a link. */
static rt_str
code_in(rt_str pasted)
{
	const rt_str mark = RT_STR("code=");
	size_t at;

	pasted = rt_str_trim(pasted);
	at = rt_str_find(pasted, mark, 0);
	if (at == SIZE_MAX)
		return pasted;
	pasted = rt_str_skip(pasted, at + mark.size);
	return rt_str_at(pasted.ptr,
			 pasted.size < RT_CODE_ROOM - 1 ? pasted.size : RT_CODE_ROOM - 1);
}

/* Do browsers reach it through TLS? */
static bool
is_secure(const rt_server *server)
{
	return rt_str_starts(server->options.sign_in.public_url, RT_STR("https://"));
}

/* The page of the project in the address. One that does not exist leads to the home project. */
static void
show_home(rt_server *server, const rt_web_request *request, const rt_admitted *in,
	  rt_web_answer *answer)
{
	rt_str name = rt_server_project_of(request, &in->principal);
	rt_open_project *project;

	/* With accounts a page must not show which projects exist: its first request is refused. */
	if (name.size > 0 && in->principal.project.size == 0 && server->directory == NULL &&
	    rt_project_pool_project(server->pool, name, false, &project, NULL) != RT_OK) {
		answer->status = 303;
		rt_web_answer_header(answer, request, "Location", RT_STR("/"));
		return;
	}
	rt_page_home(request, answer, server->options.pool.store_path,
		     name.size > 0 ? name : server->options.pool.project);
	if (rt_guard_cookie(request, server->cookie, &name))
		rt_page_set_cookie(request, answer, server->cookie_port, is_secure(server), name);
}

static void
handle_page(rt_server *server, const rt_web_request *request, const rt_admitted *in,
	    rt_web_answer *answer)
{
	char cookie[RT_TOKEN_ROOM];
	rt_error err;
	rt_str code;

	if (rt_str_is(request->path, RT_PAGE_SHARED)) {
		rt_page_shared(request, answer);
	} else if (!rt_str_is(request->path, "/")) {
		if (!rt_page_asset(request, answer))
			rt_problem_http(answer, 404, "not-found", "There is no route with this address",
				   NULL);
	} else if (rt_web_query(request, "code", &code) &&
		   !rt_str_is(request->method_name, "HEAD")) {
		if (rt_browsers_enter(server->browsers, code_in(code), cookie, &err) == RT_OK) {
			note_sign_in(server, request, cookie);
			rt_page_welcome(request, answer, server->cookie_port, is_secure(server), cookie);
		} else {
			rt_server_note_unknown(server, request, "sign-in.refused");
			show_login(server, request, in, answer, &err);
		}
	} else if (in->principal.kind == RT_PRINCIPAL_BROWSER) {
		show_home(server, request, in, answer);
	} else if (in->is_shared) {
		rt_page_shared_ended(request, answer);
	} else {
		show_login(server, request, in, answer, NULL);
	}
}

static void
handle_route(rt_server *server, const rt_web_request *request, const rt_admitted *in,
	     rt_web_answer *answer)
{
	rt_call call = {.request = request,
			.answer = answer,
			.principal = in->principal,
			.route = in->route,
			.pool = server->pool,
			.needs_match = server->options.require_match,
			.routes = rt_routes,
			.browsers = server->browsers,
			.directory = server->directory,
			.account_notes = server->notes,
			.meter = server->meter,
			.front = server->front,
			.metrics = server->metrics,
			.cookie = server->cookie,
			.place = server->place};

	for (size_t i = 0; i < RT_ROUTE_PARAMS && in->params[i].ptr != NULL; i++)
		if (!rt_web_decode(request, in->params[i], false, &call.params[i])) {
			rt_problem_http(answer, 400, "invalid-request", "The address is not valid",
				   "its value is not UTF-8");
			return;
		}
	/* A browser's separate project is made by its first request. */
	rt_access_answer(&call, rt_server_project_of(request, &call.principal), call.principal.project.size > 0);
	/* The events of a browser end when it logs out. */
	if (answer->stream != NULL && call.principal.browser.size > 0) {
		answer->stream = rt_browsers_guard_stream(
			server->browsers, call.principal.browser, answer->stream);
		if (answer->stream == NULL)
			answer->status = 0;
	}
	if (answer->status == 0)
		rt_problem_http(answer, 503, "out-of-memory", "Out of memory",
			   NULL);
}

/* rt_web_site: the body has been read. */
static void
handle(void *ctx, rt_web_request *request, rt_web_answer *answer)
{
	rt_admitted *in = request->user;
	rt_server *server = ctx;
	rt_web_plan plan = {0};

	if (in->unknown_us != 0) {
		(void)!rt_browsers_refresh(server->browsers, in->unknown_us, NULL);
		if (server->directory != NULL)
			(void)!rt_directory_refresh(server->directory, in->unknown_us, NULL);
		rt_server_identify(server, request, in);
		if (!rt_server_admit_known(server, request, in, &plan, answer)) {
			answer->close = true;
			return;
		}
	}
	if (in->is_probe && rt_str_is(request->path, "/healthz"))
		answer_probe(answer, NULL);
	else if (in->is_probe)
		answer_ready(ctx, answer);
	else if (in->is_sign_in)
		rt_sign_in_answer(server->sign_in, request, &in->principal, answer);
	else if (in->route == NULL)
		handle_page(ctx, request, in, answer);
	else
		handle_route(ctx, request, in, answer);
}

/* rt_web_site: a failure of the front. */
static void
refuse(void *ctx, const rt_web_request *request, unsigned status, rt_web_answer *answer)
{
	const rt_admitted *in = request->user;
	bool is_browser = in != NULL && in->principal.kind == RT_PRINCIPAL_BROWSER;

	(void)ctx;
	if (status == 413)
		rt_problem_http(answer, status, "too-large", "The body is too large",
			   is_browser ? "a body can be at most 8 MiB, an import from a browser 64 MiB; import a larger file with: retake "
					"import FILE"
				      : "a body can be at most 8 MiB, an import 1 GiB; import larger files on the command line: retake import "
					"FILE");
	else if (status == 400)
		rt_problem_http(answer, status, "malformed-request", "This is not a valid HTTP request",
			   "headers after the body (trailers) are not supported");
	else
		rt_problem_http(answer, status, "busy", "The server cannot do this at the moment", NULL);
}

/* rt_web_site: an answer is about to be sent. */
static void
note_answer(void *ctx, const rt_web_request *request, const rt_web_answer *answer, int64_t us)
{
	static const char *const kinds[] = {[RT_PRINCIPAL_NOBODY] = "none",
					    [RT_PRINCIPAL_TOKEN] = "token",
					    [RT_PRINCIPAL_LOCAL] = "socket",
					    [RT_PRINCIPAL_BROWSER] = "browser"};
	static const rt_admitted unknown;
	rt_server *server = ctx;
	const rt_admitted *in = request->user != NULL ? request->user : &unknown;

	rt_metrics_add(server->metrics, in->route, answer->status, us);
	if (server->log == NULL)
		return;
	rt_access_log_add(server->log,
			  &(rt_access){.request = in->id,
				       .trace = in->trace,
				       .method = request->method_name,
				       .path = request->path,
				       .route = in->route != NULL ? in->route->name : NULL,
				       .status = answer->status,
				       .us = us,
				       .bytes = answer->body.size,
				       .by = kinds[in->principal.kind],
				       .project = rt_server_project_of(request, &in->principal)});
}

/* ---- opening ---- */

/* The address that it listens on, in the form for links and the header Host. */
static void
own_host(const rt_server *server, char out[RT_GUARD_HOST_ROOM])
{
	const char *address = server->options.front.address;

	if (address == NULL || strcmp(address, "0.0.0.0") == 0)
		address = "127.0.0.1";
	else if (strcmp(address, "::") == 0)
		address = "::1";
	(void)snprintf(out, RT_GUARD_HOST_ROOM, strchr(address, ':') != NULL ? "[%s]" : "%s",
		       address);
	for (; *out != '\0'; out++)
		if (*out >= 'A' && *out <= 'F')
			*out = (char)(*out | 0x20);
}

/* The port of the first host, if it names one. Browsers know the server by this name, so the cookie
 * is named after it: then all servers of one proxy use the same cookie. */
static unsigned
port_of_first(rt_str hosts, unsigned otherwise)
{
	size_t end = rt_str_find(hosts, RT_STR(","), 0), digits = 0;
	rt_str first = rt_str_trim(rt_str_at(hosts.ptr, end == SIZE_MAX ? hosts.size : end));
	unsigned port = 0;

	while (digits < first.size && digits < 5 && first.ptr[first.size - digits - 1] >= '0' &&
	       first.ptr[first.size - digits - 1] <= '9')
		digits++;
	if (digits == 0 || digits == first.size || first.ptr[first.size - digits - 1] != ':')
		return otherwise;
	for (size_t i = first.size - digits; i < first.size; i++)
		port = port * 10 + (unsigned)(first.ptr[i] - '0');
	return port;
}

/* The names that the server answers to, and its address for links. */
static rt_status
set_hosts(rt_server *server, rt_error *err)
{
	rt_str hosts = rt_str_of(server->options.hosts);
	char own[RT_GUARD_HOST_ROOM];
	rt_status st = RT_OK;

	own_host(server, own);
	rt_guard_init(&server->guard, rt_server_port(server));
	server->cookie_port = port_of_first(hosts, rt_server_port(server));
	rt_page_cookie_name(server->cookie_port, server->cookie);
	(void)snprintf(server->place, sizeof(server->place), "%.*s:%u", RT_GUARD_HOST_ROOM - 8, own,
		       rt_server_port(server));
	/* A given address is accepted as Host in digits, which no other name can equal. If it
	 * does not fit, --host must name it. */
	if (server->options.front.address != NULL)
		(void)!rt_guard_add_host(&server->guard, rt_str_of(own), NULL);
	while (st == RT_OK && hosts.size > 0) {
		size_t end = rt_str_find(hosts, RT_STR(","), 0);
		rt_str one = rt_str_at(hosts.ptr, end == SIZE_MAX ? hosts.size : end);

		st = rt_guard_add_host(&server->guard, rt_str_trim(one), err);
		end = end == SIZE_MAX ? hosts.size : end + 1;
		hosts = rt_str_at(hosts.ptr + end, hosts.size - end);
	}
	return st;
}

/* Projects are opened before the accounts: replies that another process has left are not counted. */
static void
count_run(void *ctx, uint64_t project, rt_str by, const rt_run_use *use)
{
	rt_server *server = ctx;

	if (server->meter != NULL)
		rt_quota_count_run(server->meter, server->directory, project, by, use);
}

/* What was counted; after a failure it is written later. */
static void
write_use(rt_server *server, bool now)
{
	rt_scope s;

	if (server->meter == NULL)
		return;
	rt_scope_init(&s, server->alloc);
	rt_quota_write(server->meter, server->directory, now, &s);
	(void)!rt_scope_end(&s, NULL);
}

rt_status
rt_server_open(const rt_server_options *options, rt_server **out, rt_error *err)
{
	const rt_alloc *alloc = options->pool.alloc;
	rt_server *server = rt_new0(alloc, sizeof(*server));

	if (server == NULL)
		return rt_fail(err, RT_NOMEM, "out of memory");
	server->options = *options;
	server->alloc = alloc;
	server->options.front.site = (rt_web_site){server, rt_server_admit, handle, refuse, note_answer};
	server->options.front.alloc = alloc;
	server->options.pool.run_ended = count_run;
	server->options.pool.run_ended_ctx = server;
	server->metrics = rt_metrics_new(alloc);
	rt_status st = server->metrics == NULL ? rt_fail(err, RT_NOMEM, "out of memory") : RT_OK;
	if (st == RT_OK && options->access_log != NULL)
		st = rt_access_log_open(alloc, options->pool.env, options->access_log, &server->log, err);
	if (st == RT_OK)
		st = options->token_file != NULL
			     ? rt_token_read(options->token_file, server->token, err)
			     : rt_token_load(alloc, options->pool.env, options->state_folder,
				     options->new_token, server->token, err);
	if (st == RT_OK)
		st = rt_project_pool_open(&server->options.pool, &server->pool, err);
	if (st == RT_OK)
		st = rt_project_pool_project(server->pool, options->pool.project, true,
					     &server->home, err);
	if (st == RT_OK)
		st = rt_browsers_open(alloc, options->pool.env, server->home, options->isolate,
				      &server->browsers, err);
	if (st == RT_OK && options->accounts)
		st = rt_directory_open(alloc, options->pool.env, options->pool.store, &server->directory, err);
	if (st == RT_OK && options->accounts &&
	    ((server->notes = rt_account_notes_new(alloc)) == NULL || (server->meter = rt_quota_meter_new(alloc)) == NULL))
		st = rt_fail(err, RT_NOMEM, "out of memory");
	if (st == RT_OK)
		st = rt_front_open(&server->options.front, &server->front, err);
	if (st == RT_OK)
		st = set_hosts(server, err);
	if (st == RT_OK && options->accounts)
		st = rt_sign_in_open(alloc, options->pool.env, &options->sign_in, server->directory, server->browsers, server->place,
				     server->cookie_port, &server->sign_in, err);
	if (st == RT_OK)
		st = rt_front_start(server->front, err);
	if (st != RT_OK) {
		rt_server_close(server);
		return st;
	}
	*out = server;
	return RT_OK;
}

void
rt_server_close(rt_server *server)
{
	if (server == NULL)
		return;
	rt_sign_in_stop(server->sign_in);
	rt_front_close(server->front);
	rt_sign_in_close(server->sign_in);
	rt_browsers_close(server->browsers);
	rt_project_pool_close(server->pool); /* its runs end, and are counted */
	write_use(server, true);
	rt_quota_meter_free(server->meter);
	rt_account_notes_free(server->notes);
	rt_directory_close(server->directory);
	rt_access_log_close(server->log);
	rt_metrics_free(server->metrics);
	memset(server->token, 0, sizeof(server->token));
	rt_free(server->alloc, server);
}

unsigned
rt_server_port(const rt_server *server)
{
	return rt_front_port(server->front);
}

const char *
rt_server_place(const rt_server *server)
{
	return server->place;
}

void
rt_server_add_login(const rt_server *server, rt_buf *out)
{
	rt_buf_add_c(out, "retake serve --login");
	if (server->options.usual_socket)
		return;
	rt_buf_add_f(out, " --port %u", rt_server_port(server));
	if (server->options.front.address != NULL)
		rt_buf_add_f(out, " --listen %s", server->options.front.address);
}

rt_status
rt_server_code(rt_server *server, rt_str project, char out[RT_CODE_ROOM], bool *out_replaced,
	       rt_error *err)
{
	return rt_browsers_code(server->browsers, 0, project, out, out_replaced, err);
}

void
rt_server_drain(rt_server *server)
{
	server->is_draining = true;
}

bool
rt_server_is_idle(rt_server *server)
{
	rt_open_project *project = rt_project_pool_first(server->pool);

	while (project != NULL && rt_runs_running(project->runs) == 0)
		project = project->next;
	return project == NULL;
}

/* Reads changes by others; streams whose accounts have lost their right end. */
static void
tend_accounts(rt_server *server)
{
	rt_scope s;

	rt_scope_init(&s, server->alloc);
	rt_account_notes_write(server->notes, server->directory, &s);
	(void)!rt_scope_end(&s, NULL);
	write_use(server, false);
	if (rt_directory_refresh(server->directory, rt_server_now_us(server) - (int64_t)RT_ACCESS_FRESH_MS * 1000, NULL) != RT_OK)
		return;
	const rt_roster *roster = rt_directory_roster(server->directory);
	bool has_changed = roster->version != server->seen_roster;
	server->seen_roster = roster->version;
	rt_object_unref(roster);
	for (rt_open_project *p = rt_project_pool_first(server->pool); has_changed && p != NULL; p = p->next)
		rt_feed_changed(p->feed);
}

void
rt_server_tick(rt_server *server)
{
	if (server->log != NULL)
		rt_access_log_reopen(server->log);
	rt_project_pool_tick(server->pool);
	rt_browsers_tend(server->browsers);
	if (server->directory != NULL)
		tend_accounts(server);
}
