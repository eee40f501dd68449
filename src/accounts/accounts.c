/* SPDX-License-Identifier: MIT */
#include "accounts/accounts.h"

#include "accounts/audit.h"
#include "accounts/directory_impl.h"
#include "accounts/quota.h"

/* ---- changes ---- */

/* Finds an existing item; a failure of the scope and NULL otherwise. */
static const rt_item *
find(rt_directory_change *change, rt_item_kind kind, rt_str name)
{
	const rt_item *item = change->roster != NULL ? rt_roster_named(change->roster, kind, name) : NULL;

	if (change->roster != NULL && item == NULL)
		rt_scope_fail(change->scope, RT_NOT_FOUND, "there is no %s \"%.*s\"",
			      kind == RT_ITEM_TEAM ? "team" : "user", (int)rt_utf8_cut(name, 80), name.ptr);
	return item;
}

void
rt_account_name_check(rt_scope *s, rt_str name)
{
	if (!rt_account_name_is_valid(name))
		rt_scope_fail(s, RT_USAGE,
			      "a name must have 1 to %d characters of a-z 0-9 . _ - and begin with a letter or a digit",
			      RT_ACCOUNT_NAME_MAX);
}

uint64_t
rt_accounts_user_new(const rt_accounts *a, rt_str name, bool is_admin, rt_str identity)
{
	rt_account_name_check(a->scope, name);
	rt_directory_change change = rt_directory_begin(a->directory, a->scope);
	rt_item user = {.kind = RT_ITEM_USER,
			.name = name,
			.identity = identity,
			.is_admin = is_admin,
			.made_us = a->env->now_us(a->env->ctx),
			.by = a->by};

	if (change.roster != NULL && rt_roster_named(change.roster, RT_ITEM_USER, name) != NULL)
		rt_scope_fail(a->scope, RT_REFUSED, "a user \"%.*s\" already exists", RT_STR_ARG(name));
	if (rt_ok(a->scope)) {
		user.id = rt_directory_new_id(&change);
		rt_directory_write(&change, &user);
		rt_audit_note(&change, a, is_admin ? "user.new.admin" : "user.new", name);
	}
	rt_directory_end(&change);
	return user.id;
}

/* ---- the last ones ---- */

/* Does a membership make a user other than this one an owner? */
static bool
makes_owner(const rt_roster *roster, const rt_item *member, uint64_t without)
{
	const rt_item *team = member->team != 0 ? rt_roster_team(roster, member->team) : NULL;
	size_t count = team != NULL ? team->list_count : 1;

	for (size_t i = 0; member->role == RT_ROLE_OWNER && i < count; i++) {
		uint64_t id = team != NULL ? team->list[i] : member->user;
		const rt_item *user = rt_roster_user(roster, id);

		if (user != NULL && id != without && !user->is_disabled)
			return true;
	}
	return false;
}

/* Has the project an owner besides this user and this membership (NULL: none)? */
static bool
has_owner(const rt_roster *roster, uint64_t project, uint64_t without, const rt_item *left_out)
{
	const rt_item *member;
	size_t count = rt_roster_members(roster, project, &member);

	for (; count > 0; count--, member++)
		if (member != left_out && makes_owner(roster, member, without))
			return true;
	return false;
}

/* Fails if the user is the only administrator that can sign in. */
static void
keep_admin(const rt_accounts *a, const rt_roster *roster, const rt_item *user)
{
	bool is_last = a->keeps_last && user->is_admin && !user->is_disabled;

	for (size_t i = roster->first[RT_ITEM_USER]; i < roster->first[RT_ITEM_USER + 1]; i++) {
		const rt_item *other = &roster->items[i];

		is_last = is_last && (other == user || !other->is_admin || other->is_disabled);
	}
	if (is_last)
		rt_scope_fail(a->scope, RT_REFUSED,
			      "\"%.*s\" is the only administrator; make another user an administrator first",
			      RT_STR_ARG(user->name));
}

/* Fails if a project would have no owner without the user (0: none) and the membership. */
static void
keep_owner(const rt_accounts *a, const rt_roster *roster, uint64_t user, const rt_item *left_out)
{
	for (size_t i = roster->first[RT_ITEM_MEMBER]; a->keeps_last && i < roster->first[RT_ITEM_MEMBER + 1]; i++) {
		const rt_item *member = &roster->items[i];
		bool is_lost = member == left_out || (left_out == NULL && makes_owner(roster, member, 0) &&
						      !makes_owner(roster, member, user));

		if (is_lost && makes_owner(roster, member, 0) && !has_owner(roster, member->project, user, left_out))
			rt_scope_fail(a->scope, RT_REFUSED,
				      "this would leave a project without an owner; make another member an owner first");
	}
}

/* The same without the user in the team. */
static void
keep_team(const rt_accounts *a, const rt_roster *roster, const rt_item *team, uint64_t user)
{
	for (size_t i = roster->first[RT_ITEM_MEMBER]; a->keeps_last && i < roster->first[RT_ITEM_MEMBER + 1]; i++) {
		const rt_item *member = &roster->items[i];

		if (member->team == team->id && makes_owner(roster, member, 0) &&
		    !makes_owner(roster, member, user))
			keep_owner(a, roster, 0, member);
	}
}

void
rt_accounts_user_change(const rt_accounts *a, rt_str name, int is_admin, int is_disabled)
{
	rt_directory_change change = rt_directory_begin(a->directory, a->scope);
	const rt_item *user = find(&change, RT_ITEM_USER, name);

	if (user != NULL && (is_admin == 0 || is_disabled > 0))
		keep_admin(a, change.roster, user);
	if (user != NULL && is_disabled > 0)
		keep_owner(a, change.roster, user->id, NULL);
	if (user != NULL && rt_ok(a->scope)) {
		rt_item changed = *user;

		changed.is_admin = is_admin >= 0 ? (uint64_t)is_admin : user->is_admin;
		changed.is_disabled = is_disabled >= 0 ? (uint64_t)is_disabled : user->is_disabled;
		rt_directory_write(&change, &changed);
		rt_audit_note(&change, a,
		     changed.is_disabled ? "user.disable"
		     : changed.is_admin	 ? "user.admin"
					 : "user.change",
		     name);
	}
	rt_directory_end(&change);
}

/* The list without a number, or with it. */
static void
change_list(rt_scope *s, rt_item *item, uint64_t number, bool is_in)
{
	uint64_t *list = rt_scope_array(s, item->list_count + 1, sizeof(*list));
	size_t count = 0;

	for (size_t i = 0; list != NULL && i < item->list_count; i++)
		if (item->list[i] != number)
			list[count++] = item->list[i];
	if (list != NULL && is_in)
		list[count++] = number;
	item->list = list;
	item->list_count = list != NULL ? count : 0;
}

/* A team without users is removed with its memberships. */
static void
write_team(rt_directory_change *change, const rt_item *team)
{
	const rt_roster *roster = change->roster;

	if (team->list_count > 0) {
		rt_directory_write(change, team);
		return;
	}
	rt_directory_drop(change, team);
	rt_quota_drop(change, (rt_quota_subject){.team = team->id});
	for (size_t i = roster->first[RT_ITEM_MEMBER]; i < roster->first[RT_ITEM_MEMBER + 1]; i++)
		if (roster->items[i].team == team->id)
			rt_directory_drop(change, &roster->items[i]);
}

rt_accounts_removed
rt_user_drop(rt_directory_change *change, const rt_item *user)
{
	rt_accounts_removed removed = {0};

	for (size_t i = 0; rt_ok(change->scope) && i < change->roster->count; i++) {
		const rt_item *item = &change->roster->items[i];

		if (item->kind == RT_ITEM_TEAM && rt_item_lists(item, user->id)) {
			rt_item team = *item;

			change_list(change->scope, &team, user->id, false);
			write_team(change, &team);
			removed.teams++;
		} else if ((item->kind == RT_ITEM_MEMBER || item->kind == RT_ITEM_TOKEN) &&
			   item->user == user->id) {
			rt_directory_drop(change, item);
			if (item->kind == RT_ITEM_TOKEN)
				rt_account_used_drop(change, item->id);
			removed.memberships += item->kind == RT_ITEM_MEMBER;
			removed.tokens += item->kind == RT_ITEM_TOKEN;
		}
	}
	rt_directory_drop(change, user);
	rt_quota_drop(change, (rt_quota_subject){.user = user->id});
	return removed;
}

rt_accounts_removed
rt_accounts_user_remove(const rt_accounts *a, rt_str name)
{
	rt_directory_change change = rt_directory_begin(a->directory, a->scope);
	const rt_item *user = find(&change, RT_ITEM_USER, name);
	rt_accounts_removed removed = {0};

	if (user != NULL) {
		keep_admin(a, change.roster, user);
		keep_owner(a, change.roster, user->id, NULL);
	}
	if (user != NULL && rt_ok(a->scope)) {
		removed = rt_user_drop(&change, user);
		rt_audit_note(&change, a, "user.remove", name);
	}
	rt_directory_end(&change);
	return removed;
}

void
rt_accounts_team_set(const rt_accounts *a, rt_str team, rt_str user, bool is_in)
{
	rt_account_name_check(a->scope, team);
	rt_directory_change change = rt_directory_begin(a->directory, a->scope);
	const rt_item *member = find(&change, RT_ITEM_USER, user);
	const rt_item *old = is_in && change.roster != NULL
				     ? rt_roster_named(change.roster, RT_ITEM_TEAM, team)
			     : member != NULL ? find(&change, RT_ITEM_TEAM, team)
					      : NULL;
	rt_item item = {.kind = RT_ITEM_TEAM, .name = team, .by = a->by, .made_us = a->env->now_us(a->env->ctx)};

	if (old != NULL)
		item = *old;
	if (old != NULL && !is_in)
		keep_team(a, change.roster, old, member->id);
	if (item.list_count >= RT_TEAM_USERS_MAX && is_in)
		rt_scope_fail(a->scope, RT_LIMIT, "a team can have at most %d users", RT_TEAM_USERS_MAX);
	if (rt_ok(a->scope)) {
		if (old == NULL)
			item.id = rt_directory_new_id(&change);
		change_list(a->scope, &item, member->id, is_in);
	}
	if (rt_ok(a->scope)) {
		write_team(&change, &item);
		rt_audit_note(&change, a, is_in ? "team.add" : "team.remove", team);
	}
	rt_directory_end(&change);
}

void
rt_accounts_member_set(const rt_accounts *a, uint64_t project, rt_str project_name, rt_str name, rt_role role)
{
	rt_directory_change change = rt_directory_begin(a->directory, a->scope);
	bool is_team = name.size > 0 && name.ptr[0] == '@';
	const rt_item *holder = find(&change, is_team ? RT_ITEM_TEAM : RT_ITEM_USER, rt_str_skip(name, is_team));
	rt_buf *on = rt_scope_buf(a->scope);

	RT_ASSERT(project != 0);
	if (holder != NULL) {
		rt_item item = {.kind = RT_ITEM_MEMBER,
				.project = project,
				.user = is_team ? 0 : holder->id,
				.team = is_team ? holder->id : 0,
				.role = role,
				.made_us = a->env->now_us(a->env->ctx),
				.by = a->by};

		const rt_item *old = rt_roster_member(change.roster, project, item.user, item.team);

		if (old != NULL && role != RT_ROLE_OWNER)
			keep_owner(a, change.roster, 0, old);
		if (role == RT_ROLE_NONE && old == NULL)
			rt_scope_fail(a->scope, RT_NOT_FOUND, "\"%.*s\" is not a member of the project",
				      RT_STR_ARG(name));
		if (rt_ok(a->scope) && role == RT_ROLE_NONE)
			rt_directory_drop(&change, &item);
		else if (rt_ok(a->scope))
			rt_directory_write(&change, &item);
		rt_buf_add_f(on, "%.*s %s %.*s", RT_STR_ARG(name), rt_role_names[role],
			     RT_STR_ARG(project_name));
		if (rt_ok(a->scope))
			rt_audit_note(&change, a, "member.set", rt_scope_str(a->scope, on));
	}
	rt_directory_end(&change);
}

uint64_t
rt_accounts_token_new(const rt_accounts *a, const rt_token_options *options, char out_secret[RT_SECRET_ROOM])
{
	rt_directory_change change = rt_directory_begin(a->directory, a->scope);
	const rt_item *user = find(&change, RT_ITEM_USER, options->user);
	rt_item token = {.kind = RT_ITEM_TOKEN,
			 .name = options->name,
			 .scope = options->scope,
			 .made_us = a->env->now_us(a->env->ctx),
			 .until_us = options->until_us,
			 .by = a->by,
			 .list = options->projects,
			 .list_count = options->project_count};

	RT_ASSERT(options->scope != RT_TOKEN_NOTHING);
	out_secret[0] = '\0';
	if (options->project_count > RT_TOKEN_PROJECTS_MAX)
		rt_scope_fail(a->scope, RT_LIMIT, "a token can be limited to at most %d projects",
			      RT_TOKEN_PROJECTS_MAX);
	if (user != NULL && rt_ok(a->scope)) {
		token.user = user->id;
		rt_directory_add_secret(&change, a->env, &token, out_secret);
		rt_audit_note(&change, a, "token.new", options->user);
	}
	rt_directory_end(&change);
	return token.id;
}

/* Removes a token or link. owner 0: any. */
static void
revoke(const rt_accounts *a, rt_item_kind kind, uint64_t id, uint64_t owner)
{
	rt_directory_change change = rt_directory_begin(a->directory, a->scope);
	const rt_item *item = change.roster != NULL ? rt_roster_numbered(change.roster, kind, id) : NULL;
	uint64_t of = item == NULL ? 0 : kind == RT_ITEM_TOKEN ? item->user : item->project;
	rt_buf *on = rt_scope_buf(a->scope);

	if (change.roster != NULL && (item == NULL || (owner != 0 && of != owner)))
		rt_scope_fail(a->scope, RT_NOT_FOUND, "there is no %s %llu",
			      kind == RT_ITEM_TOKEN ? "token" : "link", (unsigned long long)id);
	if (rt_ok(a->scope)) {
		rt_directory_drop(&change, item);
		if (kind == RT_ITEM_TOKEN)
			rt_account_used_drop(&change, id);
		rt_buf_add_f(on, "%llu", (unsigned long long)id);
		rt_audit_note(&change, a, kind == RT_ITEM_TOKEN ? "token.revoke" : "link.revoke",
		     rt_scope_str(a->scope, on));
	}
	rt_directory_end(&change);
}

void
rt_accounts_token_revoke(const rt_accounts *a, uint64_t id, uint64_t user)
{
	revoke(a, RT_ITEM_TOKEN, id, user);
}

uint64_t
rt_accounts_link_new(const rt_accounts *a, uint64_t project, uint64_t discussion, int64_t until_us,
		     char out_secret[RT_SECRET_ROOM])
{
	rt_directory_change change = rt_directory_begin(a->directory, a->scope);
	rt_item link = {.kind = RT_ITEM_LINK,
			.project = project,
			.discussion = discussion,
			.made_us = a->env->now_us(a->env->ctx),
			.until_us = until_us,
			.by = a->by};
	rt_buf *on = rt_scope_buf(a->scope);

	RT_ASSERT(project != 0);
	out_secret[0] = '\0';
	if (rt_ok(a->scope)) {
		rt_directory_add_secret(&change, a->env, &link, out_secret);
		rt_buf_add_f(on, "%llu", (unsigned long long)link.id);
		rt_audit_note(&change, a, "link.new", rt_scope_str(a->scope, on));
	}
	rt_directory_end(&change);
	return link.id;
}

void
rt_accounts_link_revoke(const rt_accounts *a, uint64_t id, uint64_t project)
{
	revoke(a, RT_ITEM_LINK, id, project);
}
