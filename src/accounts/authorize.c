/* SPDX-License-Identifier: MIT */
#include "accounts/authorize.h"

const char *const rt_right_names[RT_RIGHT_COUNT] = {
	[RT_RIGHT_NONE] = "none",	[RT_RIGHT_OPEN] = "open",	[RT_RIGHT_SELF] = "self",
	[RT_RIGHT_CREATE] = "create",	[RT_RIGHT_READ] = "read",	[RT_RIGHT_COMMENT] = "comment",
	[RT_RIGHT_EDIT] = "edit",	[RT_RIGHT_MANAGE] = "manage",	[RT_RIGHT_SERVER] = "server"};

/* role: RT_ROLE_NONE: the right is not about a project. A right without a row is never given. */
static const struct {
	rt_role role;
	rt_token_scope scope;
	bool for_limited; /* also for tokens that are limited to projects */
	bool for_links;
} needs[RT_RIGHT_COUNT] = {
	[RT_RIGHT_OPEN] = {RT_ROLE_NONE, RT_TOKEN_READ, true, true},
	[RT_RIGHT_SELF] = {RT_ROLE_NONE, RT_TOKEN_ADMIN, false, false},
	[RT_RIGHT_CREATE] = {RT_ROLE_NONE, RT_TOKEN_WRITE, false, false},
	[RT_RIGHT_READ] = {RT_ROLE_READER, RT_TOKEN_READ, true, true},
	[RT_RIGHT_COMMENT] = {RT_ROLE_COMMENTER, RT_TOKEN_WRITE, true, false},
	[RT_RIGHT_EDIT] = {RT_ROLE_EDITOR, RT_TOKEN_WRITE, true, false},
	[RT_RIGHT_MANAGE] = {RT_ROLE_OWNER, RT_TOKEN_ADMIN, true, false},
	[RT_RIGHT_SERVER] = {RT_ROLE_NONE, RT_TOKEN_ADMIN, false, false},
};

rt_role
rt_right_role(rt_right right)
{
	return needs[right].role;
}

rt_token_scope
rt_right_scope(rt_right right)
{
	return needs[right].scope;
}

/* The item of a token or link that has neither been revoked nor expired. */
static const rt_item *
find_secret(const rt_roster *roster, rt_item_kind kind, const rt_account *account, int64_t now_us)
{
	const rt_item *item = rt_roster_secret(roster, kind, account->hash);

	return item != NULL && !rt_item_has_expired(item, now_us) ? item : NULL;
}

static const rt_item *
find_user(const rt_roster *roster, uint64_t id)
{
	const rt_item *user = rt_roster_user(roster, id);

	return user != NULL && !user->is_disabled ? user : NULL;
}

const rt_item *
rt_account_user(const rt_roster *roster, const rt_account *account, int64_t now_us)
{
	const rt_item *token;

	if (roster == NULL)
		return NULL;
	if (account->kind == RT_ACCOUNT_USER)
		return find_user(roster, account->user);
	if (account->kind != RT_ACCOUNT_TOKEN)
		return NULL;
	token = find_secret(roster, RT_ITEM_TOKEN, account, now_us);
	return token != NULL ? find_user(roster, token->user) : NULL;
}

rt_role
rt_roster_role(const rt_roster *roster, uint64_t project, uint64_t user)
{
	const rt_item *member, *team;
	size_t count = rt_roster_members(roster, project, &member);
	uint64_t role = RT_ROLE_NONE;

	for (; count > 0; count--, member++) {
		bool is_his = member->user == user;

		if (member->team != 0) {
			team = rt_roster_team(roster, member->team);
			is_his = team != NULL && rt_item_lists(team, user);
		}
		if (is_his && member->role > role)
			role = member->role;
	}
	return (rt_role)role;
}

static rt_verdict
decide_link(const rt_item *link, rt_right right, rt_target target)
{
	if (link == NULL)
		return RT_VERDICT_UNKNOWN;
	if (needs[right].role == RT_ROLE_NONE)
		return needs[right].for_links ? RT_VERDICT_ALLOWED : RT_VERDICT_FORBIDDEN;
	if (target.project == 0 || target.project != link->project)
		return RT_VERDICT_NOT_VISIBLE;
	if (!needs[right].for_links)
		return RT_VERDICT_FORBIDDEN;
	return link->discussion == 0 || link->discussion == target.discussion ? RT_VERDICT_ALLOWED
									       : RT_VERDICT_NOT_VISIBLE;
}

/* token NULL: signed in, without limits. */
static rt_verdict
decide_user(const rt_roster *roster, const rt_item *user, const rt_item *token, rt_right right,
	    uint64_t project)
{
	uint64_t scope = token != NULL ? token->scope : RT_TOKEN_ADMIN;
	bool is_limited = token != NULL && token->list_count > 0;
	bool is_admin = user->is_admin && scope >= RT_TOKEN_ADMIN;
	rt_role role;

	if (needs[right].role == RT_ROLE_NONE) {
		if (is_limited && !needs[right].for_limited)
			return RT_VERDICT_FORBIDDEN;
		if (right == RT_RIGHT_SERVER && !is_admin)
			return RT_VERDICT_FORBIDDEN;
		return scope >= (uint64_t)needs[right].scope ? RT_VERDICT_ALLOWED : RT_VERDICT_FORBIDDEN;
	}
	if (is_limited && !rt_item_lists(token, project))
		return RT_VERDICT_NOT_VISIBLE;
	role = is_admin ? RT_ROLE_OWNER : rt_roster_role(roster, project, user->id);
	if (role == RT_ROLE_NONE || scope < RT_TOKEN_READ || project == 0)
		return RT_VERDICT_NOT_VISIBLE;
	return role >= needs[right].role && scope >= (uint64_t)needs[right].scope ? RT_VERDICT_ALLOWED
										   : RT_VERDICT_FORBIDDEN;
}

rt_verdict
rt_authorize(const rt_roster *roster, const rt_account *account, rt_right right, rt_target target,
	     int64_t now_us)
{
	const rt_item *user, *token = NULL;

	if ((unsigned)right >= RT_RIGHT_COUNT || needs[right].scope == RT_TOKEN_NOTHING)
		return RT_VERDICT_FORBIDDEN;
	if (account->kind == RT_ACCOUNT_MACHINE)
		return needs[right].role != RT_ROLE_NONE && target.project == 0 ? RT_VERDICT_NOT_VISIBLE
										 : RT_VERDICT_ALLOWED;
	if (roster == NULL)
		return RT_VERDICT_UNKNOWN;
	if (account->kind == RT_ACCOUNT_LINK)
		return decide_link(find_secret(roster, RT_ITEM_LINK, account, now_us), right, target);
	user = rt_account_user(roster, account, now_us);
	if (user == NULL)
		return RT_VERDICT_UNKNOWN;
	if (account->kind == RT_ACCOUNT_TOKEN)
		token = find_secret(roster, RT_ITEM_TOKEN, account, now_us);
	return decide_user(roster, user, token, right, target.project);
}
