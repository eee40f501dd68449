/* SPDX-License-Identifier: MIT */
#include "server/access.h"

#include <stdio.h>

#include "accounts/audit.h"
#include "log/identity.h"
#include "server/call.h"

static int64_t
now_of(const rt_call *call)
{
	const rt_env *env = rt_project_pool_get_options(call->pool)->env;

	return env->now_us(env->ctx);
}

static rt_verdict
authorize(const rt_call *call, rt_right right, rt_target target)
{
	return rt_authorize(call->roster, &call->principal.account, right, target, now_of(call));
}

bool
rt_access_allows(const rt_call *call, rt_right right)
{
	return authorize(call, right, (rt_target){0, 0}) == RT_VERDICT_ALLOWED;
}

bool
rt_access_shows(const rt_call *call, uint64_t project)
{
	return authorize(call, RT_RIGHT_READ, (rt_target){project, 0}) == RT_VERDICT_ALLOWED;
}

bool
rt_access_may(const rt_call *call, rt_right right, rt_target target)
{
	return authorize(call, right, target) == RT_VERDICT_ALLOWED;
}

static const rt_item *
secret_of(const rt_call *call, rt_account_kind account, rt_item_kind kind)
{
	return call->principal.account.kind == account && call->roster != NULL
		       ? rt_roster_secret(call->roster, kind, call->principal.account.hash)
		       : NULL;
}

const rt_item *
rt_access_token(const rt_call *call)
{
	return secret_of(call, RT_ACCOUNT_TOKEN, RT_ITEM_TOKEN);
}

const rt_item *
rt_access_link(const rt_call *call)
{
	return secret_of(call, RT_ACCOUNT_LINK, RT_ITEM_LINK);
}

/* ---- refusals ---- */

/* The same for a project that does not exist and one that is not visible. */
static void
answer_no_project(rt_call *call, rt_str name)
{
	rt_error err;

	(void)rt_fail(&err, RT_NOT_FOUND, "no project \"%.*s\"", (int)rt_utf8_cut(name, 80), name.ptr);
	rt_problem_answer(call->answer, &err, "projects: GET " RT_API_ROOT "/projects", rt_str_at(NULL, 0));
}

static void
answer_forbidden(rt_call *call, rt_right right)
{
	rt_role role = rt_right_role(right);
	char detail[160];

	if (role != RT_ROLE_NONE)
		(void)snprintf(detail, sizeof(detail),
			       "this requires the role %s in the project; a token also requires the scope %s",
			       rt_role_names[role], rt_token_scope_names[rt_right_scope(right)]);
	else
		(void)snprintf(detail, sizeof(detail), "%s; a token also requires the scope %s",
			       right == RT_RIGHT_SERVER ? "only administrators of the server may do this"
							: "a share link, or a token limited to projects, cannot do this",
			       rt_token_scope_names[rt_right_scope(right)]);
	rt_problem_http(call->answer, 403, "forbidden", "You may not do this", detail);
}

/* The account of the request, for the audit log: lives as long as the roster and room. */
static rt_str
name_of_account(const rt_call *call, char room[40])
{
	const rt_item *link = rt_access_link(call);

	if (call->principal.user.size > 0)
		return call->principal.user;
	if (link != NULL)
		(void)snprintf(room, 40, "link %llu", (unsigned long long)link->id);
	else
		(void)snprintf(room, 40, "%s",
			       call->principal.account.kind == RT_ACCOUNT_MACHINE ? "machine" : "unknown");
	return rt_str_of(room);
}

static void
note_refusal(rt_call *call, rt_verdict verdict, rt_str project)
{
	static const char *const kinds[] = {[RT_VERDICT_FORBIDDEN] = "refused.forbidden",
					    [RT_VERDICT_UNKNOWN] = "refused.unknown",
					    [RT_VERDICT_NOT_VISIBLE] = "refused.not-visible"};
	char room[40], on[160];
	rt_audit row = {.by = name_of_account(call, room),
			.what = rt_str_of(kinds[verdict]),
			.on = rt_str_of(on),
			.request = rt_str_of(call->request->id)};

	if (call->account_notes == NULL)
		return;
	(void)snprintf(on, sizeof(on), "%s %.*s", call->route->name, (int)rt_utf8_cut(project, 80), project.ptr);
	row.on = rt_str_of(on);
	rt_account_notes_refused(call->account_notes, now_of(call), row.by, &row, kinds[verdict]);
}

/* What an account has done that the history of the project does not show to administrators. */
static void
note_deed(rt_call *call, rt_str project)
{
	bool is_export = rt_str_starts(rt_str_of(call->route->name), RT_STR("export")) && !rt_call_flag(call, "dry_run");
	char room[40];
	rt_scope s;

	if (call->directory == NULL || (!is_export && call->audit == NULL) || call->answer->status >= 300)
		return;
	if (call->open_project != NULL)
		project = rt_text_str(call->open_project->name);
	rt_scope_init(&s, call->request->alloc);
	rt_accounts a = {.directory = call->directory,
			 .scope = &s,
			 .env = rt_project_pool_get_options(call->pool)->env,
			 .by = name_of_account(call, room),
			 .from = RT_STR("http"),
			 .request = rt_str_of(call->request->id)};
	rt_audit_add(&a, is_export ? "export" : call->audit, project);
	(void)!rt_scope_end(&s, NULL);
}

static void
refuse(rt_call *call, rt_verdict verdict, rt_right right, rt_str project)
{
	note_refusal(call, verdict, project);
	if (verdict == RT_VERDICT_NOT_VISIBLE) {
		answer_no_project(call, project);
	} else if (verdict == RT_VERDICT_FORBIDDEN) {
		answer_forbidden(call, right);
	} else {
		rt_problem_http(call->answer, 401, "unauthenticated", "Authentication required", NULL);
		rt_web_answer_header(call->answer, call->request, "WWW-Authenticate",
				     RT_STR("Bearer realm=\"retake\""));
	}
}

void
rt_access_check(rt_call *call, const rt_request *request)
{
	rt_right right;
	rt_verdict verdict;

	/* The engine refuses a request that could not be decoded. */
	if (!rt_ok(&call->scope) || request->invalid != NULL)
		return;
	right = rt_request_right(request);
	verdict = authorize(call, right,
			    (rt_target){rt_engine_project_number(call->open_project->engine), 0});
	if (verdict == RT_VERDICT_ALLOWED && right == RT_RIGHT_MANAGE)
		call->audit = rt_ops[request->op].name;
	if (verdict == RT_VERDICT_ALLOWED)
		return;
	refuse(call, verdict, right, rt_text_str(call->open_project->name));
	rt_call_stop(call);
}

/* ---- the project ---- */

static rt_status
open_project(rt_call *call, rt_str name, bool create, rt_error *err)
{
	return rt_project_pool_project(call->pool, name, create, &call->open_project, err);
}

/* The number of a project; 0: there is none. RT_OK also then. It is opened only if everybody may open
 * it, or it is open already. */
static rt_status
find_number(rt_call *call, rt_str name, bool create, uint64_t *out, rt_error *err)
{
	rt_store *store = rt_project_pool_get_options(call->pool)->store;
	rt_status st;

	*out = 0;
	if (rt_store_is_reserved(name))
		return RT_OK;
	if (create || rt_project_pool_is_open(call->pool, name)) {
		st = open_project(call, name, create, err);
		if (st == RT_OK)
			*out = rt_engine_project_number(call->open_project->engine);
		return st;
	}
	st = rt_store_get(store, rt_rows_named(RT_STORE_PROJECTS, 0, name), NULL, out, err);
	if (st == RT_NOT_FOUND)
		*out = 0;
	return st == RT_NOT_FOUND ? RT_OK : st;
}

/* The share link's discussion, which is then the only one that is read. */
static uint64_t
only_discussion(const rt_call *call)
{
	const rt_item *link = rt_access_link(call);

	return link != NULL ? link->discussion : 0;
}

/* "d7" */
static uint64_t
discussion_of(const rt_call *call)
{
	rt_str text = rt_call_param(call, "discussion");
	uint64_t number = 0;

	if ((call->route->flags & RT_ROUTE_OF_LINK) != 0)
		return only_discussion(call);
	if ((call->route->flags & RT_ROUTE_ONE_DISCUSSION) == 0 || text.size < 2 || text.ptr[0] != 'd' ||
	    !rt_str_u64(rt_str_skip(text, 1), UINT32_MAX, &number))
		return 0;
	return number;
}

/* Decides, and opens the project. False: answered. */
static bool
admit(rt_call *call, rt_str name, bool create)
{
	rt_right right = call->route->right;
	bool has_project = (call->route->flags & RT_ROUTE_NO_PROJECT) == 0;
	rt_target target = {0, discussion_of(call)};
	rt_status st = RT_OK;
	rt_error err;

	RT_ASSERT(!create || call->directory == NULL);
	if (name.size == 0)
		name = rt_project_pool_get_options(call->pool)->project;
	if (has_project && rt_utf8_valid_size(name) != name.size)
		st = rt_fail(&err, RT_USAGE, "the name of the project is not UTF-8");
	else if (has_project)
		st = find_number(call, name, create, &target.project, &err);
	rt_verdict verdict = st == RT_OK ? authorize(call, right, target) : RT_VERDICT_ALLOWED;
	if (verdict != RT_VERDICT_ALLOWED) {
		refuse(call, verdict, right, name);
		return false;
	}
	if (st == RT_OK && has_project && call->open_project == NULL)
		st = open_project(call, name, false, &err);
	if (st != RT_OK)
		rt_problem_answer(call->answer, &err, NULL, rt_str_at(NULL, 0));
	return st == RT_OK;
}

/* ---- answering ---- */

/* The accounts as they were at most RT_ACCESS_FRESH_MS ago, for their administration as they are: a
 * right that was lost must not be given back to oneself. False: answered. */
static bool
take_roster(rt_call *call)
{
	rt_right right = call->route->right;
	bool is_now = right == RT_RIGHT_MANAGE || right == RT_RIGHT_SERVER || right == RT_RIGHT_SELF;
	int64_t age_us = is_now ? 0 : (int64_t)RT_ACCESS_FRESH_MS * 1000;
	rt_error err;

	if (call->directory == NULL)
		return true;
	if (rt_directory_refresh(call->directory, now_of(call) - age_us, &err) != RT_OK) {
		rt_problem_answer(call->answer, &err, NULL, rt_str_at(NULL, 0));
		return false;
	}
	call->roster = rt_directory_roster(call->directory);
	const rt_item *user = rt_account_user(call->roster, &call->principal.account, now_of(call));
	if (user != NULL)
		call->principal.user = user->name; /* lives as long as the roster */
	return true;
}

rt_str
rt_access_identity(const rt_account *account, char room[RT_SHA256_HEX_ROOM + 8])
{
	enum { ROOM = RT_SHA256_HEX_ROOM + 8 };

	switch (account->kind) {
	case RT_ACCOUNT_MACHINE: return RT_STORE_ITSELF;
	case RT_ACCOUNT_USER: (void)snprintf(room, ROOM, "u%llu", (unsigned long long)account->user); break;
	case RT_ACCOUNT_TOKEN: (void)snprintf(room, ROOM, "t%s", account->hash); break;
	case RT_ACCOUNT_LINK: (void)snprintf(room, ROOM, "l%s", account->hash); break;
	case RT_ACCOUNT_NOBODY: (void)snprintf(room, ROOM, "nobody"); break;
	}
	return rt_str_of(room);
}

void
rt_access_answer(rt_call *call, rt_str project, bool create)
{
	char room[RT_SHA256_HEX_ROOM + 8];

	if (!take_roster(call))
		return;
	/* What this thread reads and writes from here on, the store may check, too. */
	rt_str identity = rt_store_set_identity(
		call->directory != NULL ? rt_access_identity(&call->principal.account, room) : RT_STORE_ITSELF);
	if (admit(call, project, create)) {
		call->is_authorized = true;
		call->discussion = only_discussion(call);
		if (call->account_notes != NULL && rt_access_token(call) != NULL)
			rt_account_notes_used(call->account_notes, now_of(call), rt_access_token(call)->id);
		rt_call_answer(call);
		note_deed(call, project);
		if (call->answer->stream != NULL && call->directory != NULL) {
			call->answer->stream = rt_access_guard_stream(call, call->answer->stream);
			if (call->answer->stream == NULL)
				call->answer->status = 0;
		}
	}
	(void)rt_store_set_identity(identity);
	call->principal.user = rt_str_at(NULL, 0);
	rt_object_unref(call->roster);
	call->roster = NULL;
}

bool
rt_access_is_known(rt_directory *directory, const rt_account *account)
{
	const rt_roster *roster = rt_directory_roster(directory);
	rt_verdict verdict = rt_authorize(roster, account, RT_RIGHT_OPEN, (rt_target){0, 0},
					  rt_directory_now(directory));

	rt_object_unref(roster);
	return verdict == RT_VERDICT_ALLOWED;
}

bool
rt_access_identify(rt_directory *directory, rt_str secret, rt_account *out)
{
	*out = (rt_account){.kind = RT_ACCOUNT_NOBODY};
	if (rt_secret_hash(secret, RT_ITEM_TOKEN, out->hash))
		out->kind = RT_ACCOUNT_TOKEN;
	else if (rt_secret_hash(secret, RT_ITEM_LINK, out->hash))
		out->kind = RT_ACCOUNT_LINK;
	if (out->kind != RT_ACCOUNT_NOBODY && !rt_access_is_known(directory, out))
		out->kind = RT_ACCOUNT_NOBODY;
	return out->kind != RT_ACCOUNT_NOBODY;
}

/* ---- streams ---- */

typedef struct guarded_stream {
	rt_web_stream stream;
	const rt_alloc *alloc;
	rt_directory *directory;
	rt_web_stream *inner;
	rt_account account;
	rt_right right;
	rt_target target;
} guarded_stream;

static size_t
read_guarded(rt_web_stream *stream, char *out, size_t room, bool *out_ended)
{
	guarded_stream *g = (guarded_stream *)stream;
	const rt_roster *roster = rt_directory_roster(g->directory);

	*out_ended = rt_authorize(roster, &g->account, g->right, g->target, rt_directory_now(g->directory)) !=
		     RT_VERDICT_ALLOWED;
	rt_object_unref(roster);
	return *out_ended ? 0 : g->inner->ops->read(g->inner, out, room, out_ended);
}

static void
close_guarded(rt_web_stream *stream)
{
	guarded_stream *g = (guarded_stream *)stream;

	g->inner->ops->close(g->inner);
	rt_free(g->alloc, g);
}

static void
pass_wake(void *stream)
{
	rt_web_wake(stream);
}

rt_web_stream *
rt_access_guard_stream(const rt_call *call, rt_web_stream *inner)
{
	static const rt_web_stream_ops ops = {read_guarded, close_guarded};
	const rt_alloc *alloc = rt_project_pool_get_options(call->pool)->alloc;
	guarded_stream *g = rt_new0(alloc, sizeof(*g));

	if (g == NULL) {
		inner->ops->close(inner);
		return NULL;
	}
	g->stream.ops = &ops;
	g->alloc = alloc;
	g->directory = call->directory;
	g->inner = inner;
	g->account = call->principal.account;
	g->right = call->route->right;
	g->target.project = rt_engine_project_number(call->open_project->engine);
	g->target.discussion = call->discussion;
	inner->front = &g->stream;
	inner->wake = pass_wake;
	return &g->stream;
}
