/* SPDX-License-Identifier: MIT
 *
 * The server itself: its description, login and logout of browsers, the projects of its store, and
 * the available models. */
#include "server/api.h"

#include <stdio.h>

#include "accounts/accounts.h"
#include "formats/formats.h"
#include "llm/keys_host.h"
#include "llm/models_host.h"
#include "llm/provider.h"
#include "server/access.h"
#include "server/embedding.h"
#include "server/guard.h"
#include "server/openapi.h"
#include "server/page.h"
#include "server/page.h"
#include "server/quota.h"
#include "server/run_json.h"

/* ---- description ---- */

void
rt_api_health(rt_call *call)
{
	rt_buf_add_c(&call->answer->body, "{\"status\":\"ok\",\"version\":\"" RT_VERSION "\"}");
}

void
rt_api_openapi(rt_call *call)
{
	rt_openapi_write(call->routes, &call->answer->body);
}

static void
put_limits(rt_buf *buf, bool is_browser)
{
	rt_json_open(buf, "limits", '{');
	rt_json_put_u64(buf, "body", RT_BODY_MAX);
	rt_json_put_u64(buf, "import", is_browser ? RT_BODY_BROWSER : RT_BODY_LARGE);
	rt_json_put_u64(buf, "window", RT_API_WINDOW_MAX);
	rt_json_put_u64(buf, "steps", RT_API_STEPS_MAX);
	rt_json_put_u64(buf, "hits", RT_API_HITS_MAX);
	rt_json_put_u64(buf, "batch", RT_API_BATCH_MAX);
	rt_json_put_u64(buf, "runs", RT_RUNS_MAX);
	rt_json_close(buf, '}');
}

static void
put_formats(rt_buf *buf)
{
	rt_json_open(buf, "formats", '[');
	for (size_t i = 0; rt_formats[i] != NULL; i++) {
		rt_json_open(buf, NULL, '{');
		rt_json_put_c(buf, "name", rt_formats[i]->name);
		rt_json_put_c(buf, "extension", rt_formats[i]->extension);
		rt_json_put_c(buf, "about", rt_formats[i]->about);
		rt_json_put_bool(buf, "reads", rt_formats[i]->read != NULL);
		rt_json_put_bool(buf, "writes", rt_formats[i]->write != NULL);
		rt_json_close(buf, '}');
	}
	rt_json_close(buf, ']');
}

#define FEATURES                                                                                  \
	"\"at-op\",\"batch\",\"columns\",\"events\",\"idempotency-key\",\"if-match\",\"runs\""

void
rt_api_info(rt_call *call)
{
	rt_buf *buf = &call->answer->body;
	const rt_project_pool_options *given = rt_project_pool_get_options(call->pool);
	const rt_project *project = rt_call_value(call);
	rt_str own = call->principal.project;
	rt_buf *path = rt_scope_buf(&call->scope);
	rt_str model = given->model.size > 0 || given->config == NULL ? given->model
								       : given->config->model;

	if (project == NULL)
		return;
	rt_buf_add_c(buf, "{\"name\":\"retake\",\"version\":\"" RT_VERSION "\",\"api\":\"v1\"");
	rt_json_put_str(buf, "project", rt_text_str(call->open_project->name));
	rt_json_put_str(buf, "default_project", own.size > 0 ? own : given->project);
	rt_json_put_u64(buf, "seq", project->seq);
	rt_buf_add_f(buf, ",\"epoch\":\"%016llx\"",
		     (unsigned long long)rt_engine_epoch(call->open_project->engine));
	put_limits(buf, call->principal.kind == RT_PRINCIPAL_BROWSER);
	rt_json_open(buf, "features", '[');
	rt_buf_add_c(buf, FEATURES);
	if (given->files != NULL && given->files->root_count > 0)
		rt_json_put_c(buf, NULL, "files");
	if (rt_project_pool_embedding(call->pool) != NULL)
		rt_json_put_c(buf, NULL, "similar");
	if (own.size == 0)
		rt_json_put_c(buf, NULL, "projects");
	rt_json_close(buf, ']');
	put_formats(buf);
	rt_json_open(buf, "providers", '[');
	for (size_t i = 0; rt_providers[i] != NULL; i++)
		rt_json_put_c(buf, NULL, rt_providers[i]->name);
	rt_json_close(buf, ']');
	if (model.size > 0)
		rt_json_put_str(buf, "model", model);
	if (own.size == 0 && rt_access_allows(call, RT_RIGHT_SERVER) &&
	    rt_config_path(path, NULL) == RT_OK)
		rt_json_put_str(buf, "config_file", rt_scope_str(&call->scope, path));
	rt_embedding_put(rt_project_pool_embedding(call->pool), &call->scope, call->open_project->engine, buf);
	rt_json_open(buf, "operations", '[');
	for (size_t i = 0; i < RT_OP_COUNT; i++)
		rt_json_put_c(buf, NULL, rt_ops[i].name);
	rt_json_close(buf, ']');
	rt_json_close(buf, '}');
}

void
rt_api_server(rt_call *call)
{
	rt_buf *body = &call->answer->body;
	rt_front_counts counts;
	size_t projects = 0;

	rt_front_count(call->front, &counts);
	for (rt_open_project *p = rt_project_pool_first(call->pool); p != NULL; p = p->next)
		projects++;
	rt_json_open(body, NULL, '{');
	rt_json_put_u64(body, "connections", counts.connections);
	rt_json_put_u64(body, "streams", counts.streams);
	rt_json_put_u64(body, "workers", counts.workers);
	rt_json_put_u64(body, "requests", counts.requests);
	rt_json_put_u64(body, "late", counts.late);
	rt_json_put_u64(body, "projects_open", projects);
	rt_json_close(body, '}');
}

/* ---- browsers ---- */

/* The user that a browser is to act for; 0: the server has no accounts. */
static uint64_t
user_of(rt_call *call, yyjson_val *root)
{
	rt_str name = rt_json_str(rt_json_get(root, "user"));
	const rt_item *user = call->roster != NULL && name.size > 0
				      ? rt_roster_named(call->roster, RT_ITEM_USER, name)
				      : NULL;

	if (call->roster != NULL && name.size == 0)
		rt_scope_fail(&call->scope, RT_USAGE,
			      "this server has accounts: \"user\" must be the name of the user to sign in");
	else if (call->roster == NULL && name.size > 0)
		rt_scope_fail(&call->scope, RT_REFUSED, "this server was started without --accounts");
	else if (name.size > 0 && user == NULL)
		rt_scope_fail(&call->scope, RT_NOT_FOUND, "there is no user \"%.*s\"",
			      (int)rt_utf8_cut(name, 80), name.ptr);
	return user != NULL ? user->id : 0;
}

void
rt_api_codes(rt_call *call)
{
	rt_scope *s = &call->scope;
	rt_buf *body = &call->answer->body;
	rt_str store = rt_project_pool_get_options(call->pool)->store_path;
	yyjson_val *root = rt_call_body(call, true);
	rt_str wanted = rt_json_str(rt_json_get(root, "store"));
	rt_str project = rt_json_str(rt_json_get(root, "project"));
	rt_open_project *open_project;
	char code[RT_CODE_ROOM] = "";
	bool replaced = false;

	if (wanted.size > 0 && !rt_str_eq(wanted, store)) {
		char detail[300];

		(void)snprintf(detail, sizeof(detail), "it serves the store %.*s",
			       (int)rt_utf8_cut(store, sizeof(detail) - 20), store.ptr);
		rt_call_problem(call, 409, "other-store", "This server serves another store", detail);
		return;
	}
	rt_call_hint(call, "projects: GET /retake/v1/projects");
	if (project.size > 0) /* must exist: a typing error would create another one */
		RT_TRY(s, rt_project_pool_project(call->pool, project, false, &open_project,
						  &s->error));
	uint64_t user = user_of(call, root);
	RT_TRY(s, rt_browsers_code(call->browsers, user, project, code, &replaced, &s->error));
	rt_json_open(body, NULL, '{');
	rt_json_put_c(body, "code", code);
	rt_json_add_key(body, "url");
	rt_buf_add_f(body, "\"http://%s/?code=%s\"", call->place, code);
	rt_json_put_u64(body, "seconds", RT_CODE_S);
	rt_json_put_bool(body, "replaced", replaced);
	rt_json_put_str(body, "store", store);
	rt_json_close(body, '}');
	call->answer->status = 201;
}

void
rt_api_logout(rt_call *call)
{
	rt_scope *s = &call->scope;
	char value[96];

	if (call->principal.account.kind == RT_ACCOUNT_USER && call->principal.browser.size == 0) {
		rt_buf_add_c(&call->answer->body, "{\"status\":\"signed in by a proxy\",\"sign_out\":\"" RT_PAGE_SIGN_OUT "\"}");
		return;
	}
	if (call->principal.browser.size == 0) {
		rt_call_hint(call, "a new token: retake serve --new-token");
		rt_scope_fail(s, RT_REFUSED,
			      "only a browser can sign out: this request used the token or the "
			      "socket");
	}
	RT_TRY(s, rt_browsers_leave(call->browsers, call->principal.browser, &s->error));
	if (!rt_ok(s))
		return;
	/* The browser's event streams end now, not at the next event. */
	for (rt_open_project *p = rt_project_pool_first(call->pool); p != NULL; p = p->next)
		rt_feed_changed(p->feed);
	(void)snprintf(value, sizeof(value), "%s=; Path=/; Max-Age=0; HttpOnly; SameSite=Strict",
		       call->cookie);
	rt_call_header(call, "Set-Cookie", rt_str_of(value));
	rt_call_header(call, "Clear-Site-Data", RT_STR("\"cache\", \"storage\""));
	rt_buf_add_c(&call->answer->body, "{\"status\":\"logged out\"}");
}

/* ---- projects ---- */

static bool
put_project(void *ctx, const rt_store_row *row)
{
	rt_call *call = ctx;
	rt_buf *buf = &call->answer->body;

	if (rt_store_is_reserved(row->data) || !rt_access_shows(call, row->number))
		return true;
	rt_str usual = rt_project_pool_get_options(call->pool)->project;

	rt_json_open(buf, NULL, '{');
	rt_json_put_str(buf, "name", row->data);
	rt_json_put_bool(buf, "default", rt_str_eq(row->data, usual));
	rt_json_close(buf, '}');
	return buf->status == RT_OK;
}

void
rt_api_projects(rt_call *call)
{
	rt_scope *s = &call->scope;
	rt_store *store = rt_project_pool_get_options(call->pool)->store;

	rt_json_open(&call->answer->body, NULL, '[');
	RT_TRY(s, store->ops->read(store, rt_rows_all(RT_STORE_PROJECTS, 0), put_project, call,
				   &s->error));
	rt_json_close(&call->answer->body, ']');
}

/* The projects that a user creates are named after the user, so that the names of those that are not
 * visible cannot be found out by creating one. */
static void
check_own_name(rt_call *call, rt_str name)
{
	rt_str user = call->principal.user;

	if (rt_access_allows(call, RT_RIGHT_SERVER) ||
	    (user.size > 0 && rt_str_starts(name, user) && name.size > user.size + 1 &&
	     name.ptr[user.size] == '/'))
		return;
	rt_call_hint(call, "an administrator can create projects with other names");
	rt_scope_fail(&call->scope, RT_USAGE, "the name of the project must begin with \"%.*s/\"",
		      RT_STR_ARG(user));
}

static void
make_owner(rt_call *call, rt_str name)
{
	rt_scope *s = &call->scope;
	rt_accounts accounts = {.directory = call->directory,
				.scope = s,
				.env = rt_project_pool_get_options(call->pool)->env,
				.by = call->principal.user,
				.from = RT_STR("http"),
				.request = rt_str_of(call->request->id)};
	rt_open_project *made = NULL;

	if (call->principal.user.size == 0 || !rt_ok(s))
		return;
	RT_TRY(s, rt_project_pool_project(call->pool, name, false, &made, &s->error));
	if (rt_ok(s))
		rt_accounts_member_set(&accounts, rt_engine_project_number(made->engine), name,
				       call->principal.user, RT_ROLE_OWNER);
}

void
rt_api_project_new(rt_call *call)
{
	rt_scope *s = &call->scope;
	rt_buf *body = &call->answer->body;
	yyjson_val *value = rt_json_get(rt_call_body(call, false), "name");
	rt_str name = rt_json_str(value);

	if (!yyjson_is_str(value) || name.size == 0)
		rt_scope_fail(s, RT_USAGE, "\"name\" must be the name of the project");
	check_own_name(call, name);
	rt_call_check_quota(call, &(rt_use){{[RT_QUOTA_PROJECTS] = 1}});
	RT_TRY(s, rt_project_pool_create(call->pool, name, &s->error));
	make_owner(call, name);
	rt_json_open(body, NULL, '{');
	rt_json_put_str(body, "project", name);
	rt_json_close(body, '}');
	call->answer->status = 201;
}

/* ---- models ---- */

typedef struct listing {
	rt_call *call;
	rt_str provider;
} listing;

static void
put_model(void *ctx, rt_str name, size_t context_tokens)
{
	listing *l = ctx;
	rt_buf *buf = &l->call->answer->body, *full = rt_scope_buf(&l->call->scope);

	rt_buf_add_str(full, l->provider);
	rt_buf_add_byte(full, '/');
	rt_buf_add_str(full, name);
	rt_json_open(buf, NULL, '{');
	rt_json_put_str(buf, "model", rt_scope_str(&l->call->scope, full));
	if (context_tokens > 0)
		rt_json_put_u64(buf, "context_tokens", context_tokens);
	rt_json_close(buf, '}');
}

static void
close_model(void *model)
{
	rt_model *m = model;

	m->ops->close(m);
}

enum { LIST_S = 5 /* maximum time for a provider's list: a thread waits for it */ };

typedef struct list_limit {
	const rt_env *env;
	int64_t until_us;
} list_limit;

static bool
is_late(void *ctx)
{
	const list_limit *limit = ctx;

	return limit->env->now_us(limit->env->ctx) > limit->until_us;
}

/* The models on a provider's server. */
static void
put_models(rt_call *call, rt_str provider)
{
	rt_scope *s = &call->scope;
	const rt_project_pool_options *given = rt_project_pool_get_options(call->pool);
	listing l = {call, provider};
	rt_buf *name = rt_scope_buf(s), *warnings = rt_scope_buf(s);
	rt_model *model = NULL;

	RT_TRY(s, rt_models_check_provider(given->config, provider, &s->error));
	if (rt_str_is(provider, "builtin")) {
		put_model(&l, RT_STR("echo"), 0);
		put_model(&l, RT_STR("summary"), 0);
		put_model(&l, RT_STR("text"), 0);
		return;
	}
	rt_buf_add_str(name, provider);
	rt_buf_add_c(name, "/-"); /* which of its models does not matter */
	rt_models_options options = {.alloc = s->alloc,
				     .env = given->env,
				     .config = given->config,
				     .name = rt_scope_str(s, name),
				     .tries = 2};
	RT_TRY(s, rt_models_open(&options, &model, NULL, warnings, &s->error));
	rt_scope_defer(s, close_model, model);
	list_limit limit = {given->env, given->env->now_us(given->env->ctx) + LIST_S * 1000000};
	rt_status st = rt_ok(s) ? rt_server_models(model, is_late, &limit, put_model, &l, &s->error)
				: RT_OK;
	if (st == RT_INTERRUPTED)
		st = rt_fail(&s->error, RT_UPSTREAM, "%.*s did not list its models within %d seconds",
			     RT_STR_ARG(provider), (int)LIST_S);
	rt_scope_note(s, st);
}

static void
put_provider(rt_call *call, const rt_model_choice *p)
{
	rt_scope *s = &call->scope;
	const rt_provider *kind = p->provider;
	rt_buf *buf = &call->answer->body, *url = rt_scope_buf(s);
	const char *state = rt_key_state(s, p, url);

	rt_json_open(buf, NULL, '{');
	rt_json_put_str(buf, "provider", p->provider_name);
	rt_json_put_c(buf, "kind", kind->name);
	rt_json_put_str(buf, "url", rt_scope_str(s, url));
	rt_json_put_c(buf, "state", state);
	if (p->config == NULL && kind->key_env != NULL)
		rt_json_put_c(buf, "key_env", kind->key_env);
	if (rt_str_is(p->provider_name, kind->name)) { /* a model's name without a provider means these */
		rt_json_open(buf, "model_prefixes", '[');
		for (const char *const *prefix = kind->model_prefixes; *prefix != NULL; prefix++)
			rt_json_put_c(buf, NULL, *prefix);
		rt_json_close(buf, ']');
		if (kind->model_infix != NULL)
			rt_json_put_c(buf, "model_infix", kind->model_infix);
	}
	rt_json_close(buf, '}');
}

void
rt_api_models(rt_call *call)
{
	const rt_config *config = rt_project_pool_get_options(call->pool)->config;
	rt_buf *body = &call->answer->body;
	rt_str provider = rt_call_text(call, "provider");
	rt_model_choice p;
	size_t at = 0;

	rt_call_hint(call, "Providers: GET " RT_API_ROOT "/models");
	rt_json_open(body, NULL, '[');
	if (provider.size > 0) {
		put_models(call, provider);
	} else if (rt_ok(&call->scope)) {
		while (rt_models_next_provider(config, &at, &p))
			put_provider(call, &p);
	}
	rt_json_close(body, ']');
}
