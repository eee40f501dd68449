/* SPDX-License-Identifier: MIT
 *
 * Items of the directory for people and programs. */
#include "accounts/audit.h"
#include "accounts/quota.h"

#include "codec/json.h"

uint64_t
rt_accounts_project(const rt_accounts *a, rt_str name)
{
	rt_store *store = rt_directory_store(a->directory);
	uint64_t number = 0;
	rt_status st = RT_NOT_FOUND;

	if (rt_ok(a->scope) && name.size > 0 && !rt_store_is_reserved(name))
		st = rt_store_get(store, rt_rows_named(RT_STORE_PROJECTS, 0, name), NULL, &number, &a->scope->error);
	if (st != RT_NOT_FOUND)
		rt_scope_note(a->scope, st);
	return st == RT_OK ? number : 0;
}

typedef struct naming {
	uint64_t number;
	rt_scope *s;
	rt_str name;
} naming;

static bool
find_name(void *ctx, const rt_store_row *row)
{
	naming *n = ctx;

	if (row->number != n->number)
		return true;
	n->name = rt_scope_copy(n->s, row->data);
	return false;
}

rt_str
rt_accounts_project_name(const rt_accounts *a, uint64_t number)
{
	rt_store *store = rt_directory_store(a->directory);
	naming n = {number, a->scope, RT_STR("?")};

	RT_TRY(a->scope,
	       store->ops->read(store, rt_rows_all(RT_STORE_PROJECTS, 0), find_name, &n, &a->scope->error));
	return n.name;
}

static void
put_project(const rt_accounts *a, rt_buf *out, const char *key, uint64_t number)
{
	rt_json_put_str(out, key, rt_accounts_project_name(a, number));
}

static void
put_name(rt_buf *out, const char *key, const rt_item *item)
{
	rt_json_put_str(out, key, item != NULL ? item->name : RT_STR("?"));
}

/* The holder of the role, token or link, and its place. */
static void
put_holder(const rt_accounts *a, const rt_roster *roster, const rt_item *item, rt_buf *out)
{
	if (item->user != 0)
		put_name(out, "user", rt_roster_user(roster, item->user));
	if (item->team != 0)
		put_name(out, "team", rt_roster_team(roster, item->team));
	if (item->project != 0)
		put_project(a, out, "project", item->project);
	if (item->discussion != 0)
		rt_json_put_u64(out, "discussion", item->discussion);
}

/* "roles":["thesis=editor",…] of an invitation. */
static void
put_roles(const rt_accounts *a, const rt_item *invite, rt_buf *out)
{
	rt_json_open(out, "roles", '[');
	for (size_t i = 0; i + 1 < invite->list_count; i += 2) {
		rt_buf *text = rt_scope_buf(a->scope);

		rt_buf_add_str(text, rt_accounts_project_name(a, invite->list[i]));
		rt_buf_add_f(text, "=%s", rt_role_names[invite->list[i + 1] % RT_ROLE_COUNT]);
		rt_json_put_str(out, NULL, rt_scope_str(a->scope, text));
	}
	rt_json_close(out, ']');
}

static void
put_users(const rt_roster *roster, const rt_item *team, rt_buf *out)
{
	rt_json_open(out, "users", '[');
	for (size_t i = 0; i < team->list_count; i++)
		put_name(out, NULL, rt_roster_user(roster, team->list[i]));
	rt_json_close(out, ']');
}

static void
put_token(const rt_accounts *a, const rt_item *token, rt_buf *out)
{
	rt_json_put_c(out, "scope", rt_token_scope_names[token->scope]);
	rt_json_open(out, "projects", '[');
	for (size_t i = 0; i < token->list_count; i++)
		put_project(a, out, NULL, token->list[i]);
	rt_json_close(out, ']');
	rt_account_used_put(a->directory, a->scope, token->id, out);
}

void
rt_accounts_put(const rt_accounts *a, const rt_roster *roster, const rt_item *item, rt_buf *out)
{
	rt_json_open(out, NULL, '{');
	if (item->id != 0)
		rt_json_put_u64(out, "id", item->id);
	if (item->name.size > 0)
		rt_json_put_str(out, "name", item->name);
	if (item->kind == RT_ITEM_USER) {
		rt_json_put_bool(out, "admin", item->is_admin);
		rt_json_put_bool(out, "disabled", item->is_disabled);
		if (item->identity.size > 0)
			rt_json_put_str(out, "identity", item->identity);
	}
	if (item->kind == RT_ITEM_INVITE)
		put_roles(a, item, out);
	if (item->kind == RT_ITEM_TEAM)
		put_users(roster, item, out);
	put_holder(a, roster, item, out);
	if (item->kind == RT_ITEM_MEMBER)
		rt_json_put_c(out, "role", rt_role_names[item->role]);
	if (item->kind == RT_ITEM_QUOTA)
		rt_quota_put(a, roster, item, NULL, out);
	if (item->kind == RT_ITEM_TOKEN)
		put_token(a, item, out);
	if (item->until_us != 0)
		rt_json_put_time(out, "until", (rt_moment){.us = item->until_us});
	rt_json_close(out, '}');
}
