/* SPDX-License-Identifier: MIT
 *
 * Administration of the accounts: users, teams, members, tokens, links. The right that each route
 * needs is in its row; what accounts/accounts.h refuses is refused here. */
#include "server/api.h"

#include "accounts/arrival.h"
#include "accounts/audit.h"
#include "accounts/quota.h"
#include "server/access.h"
#include "server/guard.h"

enum { DAYS_MAX = 36500, DAY_S = 86400 };

/* As the sender of the request. Fails if the server has no accounts. */
static rt_accounts
accounts_of(rt_call *call)
{
	rt_str user = call->principal.user;

	if (call->directory == NULL) {
		rt_call_hint(call, "retake serve --accounts");
		rt_scope_fail(&call->scope, RT_NOT_FOUND, "this server has no accounts");
	}
	return (rt_accounts){.directory = call->directory,
			     .scope = &call->scope,
			     .env = rt_project_pool_get_options(call->pool)->env,
			     .by = user.size > 0 ? user : RT_STR("machine"),
			     .from = RT_STR("http"),
			     .keeps_last = true,
			     .request = rt_str_of(call->request->id)};
}

static uint64_t
project_of(const rt_call *call)
{
	return rt_engine_project_number(call->open_project->engine);
}

/* ---- the request ---- */

/* A text of the body, or of another type: failure. */
static rt_str
body_text(rt_call *call, yyjson_val *root, const char *key, bool is_required)
{
	yyjson_val *value = rt_json_get(root, key);

	if (value == NULL ? is_required : !yyjson_is_str(value))
		rt_scope_fail(&call->scope, RT_USAGE, "\"%s\" must be a string", key);
	return rt_json_str(value);
}

/* 0, 1; -1: absent. */
static int
body_flag(rt_call *call, yyjson_val *root, const char *key)
{
	yyjson_val *value = rt_json_get(root, key);

	if (value != NULL && !yyjson_is_bool(value))
		rt_scope_fail(&call->scope, RT_USAGE, "\"%s\" must be true or false", key);
	return value == NULL ? -1 : yyjson_is_true(value);
}

/* The end of "days" from now; 0: it does not expire. absent: days without the member. */
static int64_t
body_until(rt_call *call, yyjson_val *root, uint64_t absent)
{
	const rt_env *env = rt_project_pool_get_options(call->pool)->env;
	yyjson_val *value = rt_json_get(root, "days");
	uint64_t days = absent;

	if (value != NULL && (!rt_json_u64(value, &days) || days > DAYS_MAX))
		rt_scope_fail(&call->scope, RT_USAGE, "\"days\" must be a whole number up to %d; 0: it does not expire",
			      (int)DAYS_MAX);
	return days == 0 || days > DAYS_MAX ? 0 : env->now_us(env->ctx) + (int64_t)days * DAY_S * 1000000;
}

/* The number in the path. */
static uint64_t
path_number(rt_call *call, const char *name)
{
	uint64_t number = 0;

	if (!rt_str_u64(rt_call_param(call, name), INT64_MAX, &number) || number == 0)
		rt_scope_fail(&call->scope, RT_NOT_FOUND, "there is no %s with this number", name);
	return number;
}

/* ---- answers ---- */

/* The items of a kind that belong to a user and a project; 0: to any. */
static void
list(rt_call *call, rt_item_kind kind, uint64_t user, uint64_t project)
{
	rt_accounts a = accounts_of(call);
	rt_buf *body = &call->answer->body;
	const rt_roster *roster = call->roster;

	rt_json_open(body, NULL, '[');
	for (size_t i = rt_ok(a.scope) ? roster->first[kind] : 0; rt_ok(a.scope) && i < roster->first[kind + 1]; i++)
		if ((user == 0 || roster->items[i].user == user) &&
		    (project == 0 || roster->items[i].project == project))
			rt_accounts_put(&a, roster, &roster->items[i], body);
	rt_json_close(body, ']');
}

static void
say(rt_call *call, const char *status)
{
	rt_buf_add_f(&call->answer->body, "{\"status\":\"%s\"}", status);
}

/* ---- the account of the request ---- */

/* The project that it asks about: its number, 0 if there is none. */
static rt_target
asked_target(rt_call *call)
{
	const rt_item *link = rt_access_link(call);
	rt_str name = rt_call_text(call, "project");
	rt_target target = {0, 0};

	if (link != NULL)
		return (rt_target){link->project, link->discussion};
	if (name.size == 0)
		name = rt_web_header(call->request, "Retake-Project");
	if (name.size == 0)
		name = rt_project_pool_get_options(call->pool)->project;
	rt_accounts a = accounts_of(call);
	target.project = rt_accounts_project(&a, name);
	return target;
}

/* "quotas": the limits that the user of the request is subject to, and, for those who can read it, those
 * of the project. */
static void
put_quotas(rt_call *call, uint64_t project)
{
	const rt_env *env = rt_project_pool_get_options(call->pool)->env;
	rt_buf *body = &call->answer->body;
	const rt_roster *roster = call->roster;
	const rt_item *user = rt_account_user(roster, &call->principal.account, env->now_us(env->ctx));

	if (roster == NULL || roster->first[RT_ITEM_QUOTA] == roster->first[RT_ITEM_QUOTA + 1] ||
	    call->principal.account.kind == RT_ACCOUNT_LINK)
		return;
	rt_accounts a = accounts_of(call);
	rt_json_open(body, "quotas", '[');
	for (size_t i = roster->first[RT_ITEM_QUOTA]; i < roster->first[RT_ITEM_QUOTA + 1]; i++) {
		const rt_item *quota = &roster->items[i];
		const rt_item *team = quota->team != 0 ? rt_roster_team(roster, quota->team) : NULL;
		bool is_own = user != NULL && (quota->user == user->id || (team != NULL && rt_item_lists(team, user->id)) ||
					       quota->user + quota->team + quota->project == 0);

		if (is_own && quota->user + quota->team + quota->project == 0) {
			rt_json_open(body, NULL, '{');
			rt_quota_put(&a, roster, quota, user, body);
			rt_json_close(body, '}');
		} else if (is_own || (quota->project != 0 && quota->project == project && rt_access_shows(call, project))) {
			rt_accounts_put(&a, roster, quota, body);
		}
	}
	rt_json_close(body, ']');
}

void
rt_api_account(rt_call *call)
{
	static const char *const kinds[] = {[RT_ACCOUNT_NOBODY] = "none",
					    [RT_ACCOUNT_MACHINE] = "machine",
					    [RT_ACCOUNT_USER] = "user",
					    [RT_ACCOUNT_TOKEN] = "token",
					    [RT_ACCOUNT_LINK] = "link"};
	rt_buf *body = &call->answer->body;
	bool has_accounts = call->directory != NULL;
	rt_target target = {1, 0};

	if (has_accounts)
		target = asked_target(call);
	rt_json_open(body, NULL, '{');
	rt_json_put_bool(body, "accounts", has_accounts);
	rt_json_put_c(body, "kind", kinds[call->principal.account.kind]);
	if (call->principal.user.size > 0)
		rt_json_put_str(body, "user", call->principal.user);
	if (target.discussion != 0) {
		rt_json_add_key(body, "discussion");
		rt_buf_add_f(body, "\"d%llu\"", (unsigned long long)target.discussion);
	}
	rt_json_open(body, "rights", '[');
	for (int right = RT_RIGHT_OPEN; right < RT_RIGHT_COUNT; right++)
		if (rt_access_may(call, (rt_right)right, target))
			rt_json_put_c(body, NULL, rt_right_names[right]);
	rt_json_close(body, ']');
	put_quotas(call, target.project);
	rt_json_close(body, '}');
}

/* ---- users and teams ---- */

void
rt_api_users(rt_call *call)
{
	list(call, RT_ITEM_USER, 0, 0);
}

void
rt_api_user_new(rt_call *call)
{
	rt_accounts a = accounts_of(call);
	yyjson_val *root = rt_call_body(call, false);
	rt_str name = body_text(call, root, "name", true);
	bool is_admin = body_flag(call, root, "admin") > 0;
	uint64_t id = rt_ok(a.scope) ? rt_accounts_user_new(&a, name, is_admin, RT_STR("")) : 0;

	rt_buf_add_f(&call->answer->body, "{\"id\":%llu}", (unsigned long long)id);
	call->answer->status = 201;
}

void
rt_api_user_change(rt_call *call)
{
	rt_accounts a = accounts_of(call);
	yyjson_val *root = rt_call_body(call, false);
	int is_admin = body_flag(call, root, "admin"), is_disabled = body_flag(call, root, "disabled");

	if (rt_ok(a.scope))
		rt_accounts_user_change(&a, rt_call_param(call, "user"), is_admin, is_disabled);
	say(call, "changed");
}

void
rt_api_user_remove(rt_call *call)
{
	rt_accounts a = accounts_of(call);
	rt_buf *body = &call->answer->body;
	rt_accounts_removed removed = {0};

	if (rt_ok(a.scope))
		removed = rt_accounts_user_remove(&a, rt_call_param(call, "user"));
	rt_json_open(body, NULL, '{');
	rt_json_put_u64(body, "memberships", removed.memberships);
	rt_json_put_u64(body, "teams", removed.teams);
	rt_json_put_u64(body, "tokens", removed.tokens);
	rt_json_close(body, '}');
}

void
rt_api_teams(rt_call *call)
{
	list(call, RT_ITEM_TEAM, 0, 0);
}

void
rt_api_team_set(rt_call *call)
{
	rt_accounts a = accounts_of(call);
	bool is_in = call->request->method == RT_WEB_PUT;

	if (rt_ok(a.scope))
		rt_accounts_team_set(&a, rt_call_param(call, "team"), rt_call_param(call, "user"), is_in);
	say(call, is_in ? "added" : "removed");
}

/* ---- invitations and identities ---- */

void
rt_api_invitations(rt_call *call)
{
	list(call, RT_ITEM_INVITE, 0, 0);
}

/* "roles":{"thesis":"editor"} */
static void
add_roles(const rt_accounts *a, yyjson_val *roles, rt_invite_options *options)
{
	size_t count = yyjson_obj_size(roles);
	uint64_t *list = rt_scope_array(a->scope, 2 * count + 1, sizeof(*list));

	if (roles != NULL && !yyjson_is_obj(roles))
		rt_scope_fail(a->scope, RT_USAGE, "\"roles\" must be an object with a role for each project");
	if (count > RT_INVITE_ROLES_MAX)
		rt_scope_fail(a->scope, RT_LIMIT, "an invitation can have at most %d "
						  "projects", (int)RT_INVITE_ROLES_MAX);
	for (rt_json_iter it = rt_json_members(roles); rt_ok(a->scope) && rt_json_next(&it);) {
		uint64_t number = rt_accounts_project(a, it.key);
		rt_role role = rt_role_named(rt_json_str(it.value));

		if (role == RT_ROLE_NONE)
			rt_scope_fail(a->scope, RT_USAGE, "a role must be reader, commenter, editor or owner");
		else if (number == 0)
			rt_scope_fail(a->scope, RT_NOT_FOUND, "no project \"%.*s\"", (int)rt_utf8_cut(it.key, 80), it.key.ptr);
		if (!rt_ok(a->scope))
			return;
		list[2 * options->role_count] = number;
		list[2 * options->role_count++ + 1] = role;
	}
	options->roles = list;
}

void
rt_api_invitation_new(rt_call *call)
{
	rt_accounts a = accounts_of(call);
	rt_buf *body = &call->answer->body, *path = rt_scope_buf(a.scope);
	yyjson_val *root = rt_call_body(call, true);
	rt_invite_options options = {.name = body_text(call, root, "name", false), .until_us = body_until(call, root, 7)};
	char secret[RT_SECRET_ROOM] = "";
	uint64_t id = 0;

	add_roles(&a, rt_json_get(root, "roles"), &options);
	if (rt_ok(a.scope))
		id = rt_accounts_invite_new(&a, &options, secret);
	rt_buf_add_f(path, "/sign-in/invite?invite=%s", secret);
	rt_json_open(body, NULL, '{');
	rt_json_put_u64(body, "id", id);
	rt_json_put_c(body, "invite", secret);
	rt_json_put_str(body, "path", rt_scope_str(a.scope, path));
	rt_json_close(body, '}');
	call->answer->status = 201;
}

void
rt_api_invitation_revoke(rt_call *call)
{
	rt_accounts a = accounts_of(call);
	uint64_t id = path_number(call, "invitation");

	if (rt_ok(a.scope))
		rt_accounts_invite_revoke(&a, id);
	say(call, "revoked");
}

/* A user has at most one. */
void
rt_api_identities(rt_call *call)
{
	rt_accounts a = accounts_of(call);
	rt_buf *body = &call->answer->body;
	rt_str name = rt_call_param(call, "user");
	const rt_item *user = rt_ok(a.scope) ? rt_roster_named(call->roster, RT_ITEM_USER, name) : NULL;

	if (rt_ok(a.scope) && user == NULL)
		rt_scope_fail(a.scope, RT_NOT_FOUND, "there is no user with this name");
	rt_json_open(body, NULL, '[');
	if (user != NULL && user->identity.size > 0) {
		rt_json_open(body, NULL, '{');
		rt_json_put_str(body, "identity", user->identity);
		rt_json_close(body, '}');
	}
	rt_json_close(body, ']');
}

void
rt_api_identity_remove(rt_call *call)
{
	rt_accounts a = accounts_of(call);

	if (rt_ok(a.scope))
		rt_accounts_identity_set(&a, rt_call_param(call, "user"), RT_STR(""));
	say(call, "removed");
}

/* ---- quotas ---- */

void
rt_api_quotas(rt_call *call)
{
	list(call, RT_ITEM_QUOTA, 0, 0);
}

/* The limits in the body; null: none. Returns their number. */
static size_t
body_limits(rt_call *call, yyjson_val *root, rt_quota_change changes[RT_QUOTA_KINDS])
{
	rt_scope *s = &call->scope;
	size_t count = 0;

	for (rt_json_iter it = rt_json_members(root); rt_ok(s) && rt_json_next(&it);) {
		rt_quota_change change = {.kind = rt_quota_named(it.key), .is_limited = !yyjson_is_null(it.value)};
		bool is_number = rt_json_u64(it.value, &change.limit) && change.limit <= INT64_MAX;

		if (change.kind == RT_QUOTA_KINDS)
			rt_scope_fail(s, RT_USAGE,
				      "there is no limit \"%.*s\"; use bytes, entries, projects, requests or "
				      "tokens",
				      (int)rt_utf8_cut(it.key, 40), it.key.ptr);
		else if (change.is_limited && !is_number)
			rt_scope_fail(s, RT_USAGE, "\"%.*s\" must be a whole number or null", (int)it.key.size,
				      it.key.ptr);
		else if (count < RT_QUOTA_KINDS)
			changes[count++] = change;
	}
	if (rt_ok(s) && count == 0)
		rt_scope_fail(s, RT_USAGE, "the body must contain a limit, such as {\"bytes\":1000000}");
	return count;
}

/* The subject in the path; of each user: none. */
static rt_quota_subject
path_subject(rt_call *call, const rt_accounts *a, rt_buf *out_name)
{
	rt_str kind = rt_call_param(call, "of"), name = rt_call_param(call, "name");
	bool is_team = rt_str_is(kind, "team"), is_project = rt_str_is(kind, "project");
	rt_quota_subject subject = {0};
	const rt_item *holder = NULL;

	rt_buf_add_f(out_name, kind.size > 0 ? "%.*s %.*s" : "users", RT_STR_ARG(kind), RT_STR_ARG(name));
	if (!rt_ok(a->scope) || kind.size == 0)
		return subject;
	if (is_project)
		subject.project = rt_accounts_project(a, name);
	else if (is_team || rt_str_is(kind, "user"))
		holder = rt_roster_named(call->roster, is_team ? RT_ITEM_TEAM : RT_ITEM_USER, name);
	else
		rt_scope_fail(a->scope, RT_USAGE, "there are no limits for a \"%.*s\": use user, team or project",
			      (int)rt_utf8_cut(kind, 40), kind.ptr);
	if (rt_ok(a->scope) && holder == NULL && subject.project == 0)
		rt_scope_fail(a->scope, RT_NOT_FOUND, "there is no %.*s with this name", RT_STR_ARG(kind));
	if (holder != NULL && is_team)
		subject.team = holder->id;
	else if (holder != NULL)
		subject.user = holder->id;
	return subject;
}

void
rt_api_quota_set(rt_call *call)
{
	rt_accounts a = accounts_of(call);
	rt_quota_change changes[RT_QUOTA_KINDS];
	size_t count = body_limits(call, rt_call_body(call, false), changes);
	rt_buf *name = rt_scope_buf(a.scope);
	rt_quota_subject subject = path_subject(call, &a, name);

	rt_str text = rt_scope_str(a.scope, name);
	if (rt_ok(a.scope))
		rt_accounts_quota_set(&a, subject, text, changes, count);
	say(call, "changed");
}

/* ---- the audit log ---- */

enum { AUDIT = 1000 /* rows; the default, and at most 100 times as many */ };

typedef struct audit_list {
	rt_buf *out;
	size_t count, skip;
} audit_list;

static bool
count_row(void *ctx, const rt_audit *row)
{
	(void)row;
	((audit_list *)ctx)->count++;
	return true;
}

static bool
put_row(void *ctx, const rt_audit *row)
{
	audit_list *l = ctx;

	if (l->skip > 0)
		l->skip--;
	else
		rt_audit_put(l->out, row);
	return l->out->status == RT_OK;
}

/* The newest rows, the oldest of them first. */
void
rt_api_audit(rt_call *call)
{
	rt_accounts a = accounts_of(call);
	size_t limit = rt_call_limit(call, AUDIT, (size_t)AUDIT * 100);
	rt_audit_filter filter = {.user = rt_call_text(call, "user")};
	rt_str since = rt_call_text(call, "since");
	audit_list l = {.out = &call->answer->body};
	rt_moment moment = {0};

	if (since.size > 0 && !rt_moment_parse(since, &moment))
		rt_scope_fail(a.scope, RT_USAGE, "\"since\" must be a day or a time, such as 2026-11-18");
	filter.since_us = since.size > 0 ? moment.us : INT64_MIN;
	if (rt_ok(a.scope))
		rt_audit_read(a.directory, a.scope, &filter, count_row, &l);
	l.skip = l.count > limit ? l.count - limit : 0;
	rt_json_open(l.out, NULL, '[');
	if (rt_ok(a.scope))
		rt_audit_read(a.directory, a.scope, &filter, put_row, &l);
	rt_json_close(l.out, ']');
}

/* ---- members and links of a project ---- */

void
rt_api_members(rt_call *call)
{
	list(call, RT_ITEM_MEMBER, 0, project_of(call));
}

void
rt_api_member_set(rt_call *call)
{
	rt_accounts a = accounts_of(call);
	bool is_removal = call->request->method == RT_WEB_DELETE;
	rt_role role = RT_ROLE_NONE;

	if (!is_removal)
		role = rt_role_named(body_text(call, rt_call_body(call, false), "role", true));
	if (!is_removal && role == RT_ROLE_NONE)
		rt_scope_fail(a.scope, RT_USAGE, "\"role\" must be reader, commenter, editor or owner");
	if (rt_ok(a.scope))
		rt_accounts_member_set(&a, project_of(call), rt_text_str(call->open_project->name),
				       rt_call_param(call, "member"), role);
	say(call, is_removal ? "removed" : "changed");
}

void
rt_api_links(rt_call *call)
{
	list(call, RT_ITEM_LINK, 0, project_of(call));
}

void
rt_api_link_new(rt_call *call)
{
	rt_accounts a = accounts_of(call);
	rt_buf *body = &call->answer->body;
	yyjson_val *root = rt_call_body(call, true);
	rt_str disc = body_text(call, root, "discussion", false);
	int64_t until_us = body_until(call, root, 0);
	uint64_t id = 0, discussion = disc.size > 0 ? rt_call_locate(call, UINT64_MAX, disc).place.disc : 0;
	char secret[RT_SECRET_ROOM] = "";

	if (rt_ok(a.scope))
		id = rt_accounts_link_new(&a, project_of(call), discussion, until_us, secret);
	rt_json_open(body, NULL, '{');
	rt_json_put_u64(body, "id", id);
	rt_json_put_c(body, "link", secret);
	rt_json_close(body, '}');
	call->answer->status = 201;
}

void
rt_api_link_revoke(rt_call *call)
{
	rt_accounts a = accounts_of(call);
	uint64_t id = path_number(call, "link");

	if (rt_ok(a.scope))
		rt_accounts_link_revoke(&a, id, project_of(call));
	say(call, "revoked");
}

void
rt_api_link_open(rt_call *call)
{
	const rt_item *link = rt_access_link(call);
	rt_accounts a = accounts_of(call);
	rt_buf *body = &call->answer->body, *value = rt_scope_buf(a.scope);
	rt_str secret;

	if (link == NULL || !rt_guard_bearer(call->request, &secret))
		rt_scope_fail(a.scope, RT_REFUSED, "the Authorization header must contain the secret of a share link");
	if (!rt_ok(a.scope))
		return;
	rt_buf_add_f(value, "%s_link%llu=%.*s; Path=/; HttpOnly; SameSite=Strict", call->cookie,
		     (unsigned long long)link->id, RT_STR_ARG(secret));
	rt_call_header(call, "Set-Cookie", rt_scope_str(a.scope, value));
	rt_json_open(body, NULL, '{');
	rt_json_put_u64(body, "id", link->id);
	rt_json_put_str(body, "project", rt_accounts_project_name(&a, link->project));
	if (link->discussion != 0) {
		rt_json_add_key(body, "discussion");
		rt_buf_add_f(body, "\"d%llu\"", (unsigned long long)link->discussion);
	}
	rt_json_close(body, '}');
}

/* ---- tokens ---- */

/* The user whose tokens a route is about: the one in its path, else that of the request. NULL after a
 * failure. */
static const rt_item *
token_owner(rt_call *call)
{
	bool is_named = rt_route_param_name(call->route->path, 0).size > 0 &&
			rt_str_is(rt_route_param_name(call->route->path, 0), "user");
	rt_accounts a = accounts_of(call);
	rt_str name = is_named ? rt_call_param(call, "user") : call->principal.user;
	const rt_item *user = rt_ok(a.scope) ? rt_roster_named(call->roster, RT_ITEM_USER, name) : NULL;

	if (rt_ok(a.scope) && user == NULL && !is_named)
		rt_call_hint(call, "tokens of a user: GET " RT_API_ROOT "/users/NAME/tokens");
	if (rt_ok(a.scope) && user == NULL)
		rt_scope_fail(a.scope, RT_NOT_FOUND,
			      is_named ? "there is no user with this name" : "this request does not belong to a user");
	return user;
}

void
rt_api_tokens(rt_call *call)
{
	const rt_item *user = token_owner(call);

	if (user != NULL)
		list(call, RT_ITEM_TOKEN, user->id, 0);
}

/* The projects that the token is to be limited to. */
static void
add_projects(rt_call *call, const rt_accounts *a, yyjson_val *list, rt_token_options *options)
{
	uint64_t *numbers;

	rt_call_check_texts(call, list, RT_TOKEN_PROJECTS_MAX, "\"projects\" must be an array of at most 64 names");
	numbers = rt_scope_array(a->scope, yyjson_arr_size(list) + 1, sizeof(*numbers));
	for (rt_json_iter it = rt_json_items(list); rt_ok(a->scope) && rt_json_next(&it);) {
		rt_str name = rt_json_str(it.value);
		uint64_t number = rt_accounts_project(a, name);

		if (number == 0 || !rt_access_shows(call, number))
			rt_scope_fail(a->scope, RT_NOT_FOUND, "no project \"%.*s\"", (int)rt_utf8_cut(name, 80),
				      name.ptr);
		numbers[options->project_count++] = number;
	}
	options->projects = numbers;
}

void
rt_api_token_new(rt_call *call)
{
	const rt_item *user = token_owner(call), *own = rt_access_token(call);
	rt_accounts a = accounts_of(call);
	rt_buf *body = &call->answer->body;
	yyjson_val *root = rt_call_body(call, true), *projects = rt_json_get(root, "projects");
	rt_str scope = body_text(call, root, "scope", false);
	rt_token_options options = {.name = body_text(call, root, "name", false),
				    .scope = scope.size > 0 ? rt_token_scope_named(scope) : RT_TOKEN_WRITE,
				    .until_us = body_until(call, root, 0)};
	char secret[RT_SECRET_ROOM] = "";
	uint64_t id = 0;

	if (options.name.size > RT_ACCOUNT_NAME_MAX)
		rt_scope_fail(a.scope, RT_LIMIT, "the name of a token can have at most %d bytes", RT_ACCOUNT_NAME_MAX);
	if (options.scope == RT_TOKEN_NOTHING)
		rt_scope_fail(a.scope, RT_USAGE, "\"scope\" must be read, write or admin");
	if (projects != NULL)
		add_projects(call, &a, projects, &options);
	/* A token does not outlive itself. */
	if (own != NULL && own->until_us != 0 && (options.until_us == 0 || options.until_us > own->until_us))
		options.until_us = own->until_us;
	if (rt_ok(a.scope)) {
		options.user = user->name;
		id = rt_accounts_token_new(&a, &options, secret);
	}
	rt_json_open(body, NULL, '{');
	rt_json_put_u64(body, "id", id);
	rt_json_put_c(body, "token", secret);
	rt_json_close(body, '}');
	call->answer->status = 201;
}

void
rt_api_token_revoke(rt_call *call)
{
	const rt_item *user = token_owner(call);
	rt_accounts a = accounts_of(call);
	uint64_t id = path_number(call, "token");

	if (rt_ok(a.scope))
		rt_accounts_token_revoke(&a, id, user->id);
	say(call, "revoked");
}
