/* SPDX-License-Identifier: MIT
 *
 * Rosters: rows in memory, in the order of their kinds and keys, found by bisection. */
#include "accounts/directory_impl.h"
#include "accounts/quota.h"

#include <stdlib.h>
#include <string.h>

const char *const rt_role_names[RT_ROLE_COUNT] = {
	[RT_ROLE_NONE] = "none",	   [RT_ROLE_READER] = "reader", [RT_ROLE_COMMENTER] = "commenter",
	[RT_ROLE_EDITOR] = "editor", [RT_ROLE_OWNER] = "owner"};

const char *const rt_token_scope_names[RT_TOKEN_SCOPES] = {[RT_TOKEN_NOTHING] = "none",
							    [RT_TOKEN_READ] = "read",
							    [RT_TOKEN_WRITE] = "write",
							    [RT_TOKEN_ADMIN] = "admin"};

static size_t
index_of(rt_str name, const char *const *names, size_t count)
{
	for (size_t i = 1; i < count; i++)
		if (rt_str_is(name, names[i]))
			return i;
	return 0;
}

rt_role
rt_role_named(rt_str name)
{
	return (rt_role)index_of(name, rt_role_names, RT_ROLE_COUNT);
}

rt_token_scope
rt_token_scope_named(rt_str name)
{
	return (rt_token_scope)index_of(name, rt_token_scope_names, RT_TOKEN_SCOPES);
}

/* ---- order ---- */

static int
compare_numbers(uint64_t a, uint64_t b)
{
	return (a > b) - (a < b);
}

int
rt_item_compare(const void *left, const void *right)
{
	const rt_item *a = left, *b = right;
	int by = (int)a->kind - (int)b->kind;

	bool has_holder = a->kind == RT_ITEM_MEMBER || a->kind == RT_ITEM_QUOTA;

	if (by == 0 && has_holder)
		by = compare_numbers(a->project, b->project);
	if (by == 0 && has_holder)
		by = compare_numbers(a->user, b->user);
	if (by == 0 && has_holder)
		by = compare_numbers(a->team, b->team);
	if (by == 0 && (a->kind == RT_ITEM_USER || a->kind == RT_ITEM_TEAM))
		by = compare_numbers(a->id, b->id);
	if (by == 0 && a->kind >= RT_ITEM_TOKEN)
		by = memcmp(a->hash, b->hash, sizeof(a->hash));
	return by;
}

static const rt_item *
find(const rt_roster *roster, const rt_item *key)
{
	size_t first = roster->first[key->kind];

	if (roster->first[key->kind + 1] == first)
		return NULL;
	return bsearch(key, roster->items + first, roster->first[key->kind + 1] - first,
		       sizeof(*key), rt_item_compare);
}

const rt_item *
rt_roster_user(const rt_roster *roster, uint64_t id)
{
	return find(roster, &(rt_item){.kind = RT_ITEM_USER, .id = id});
}

const rt_item *
rt_roster_team(const rt_roster *roster, uint64_t id)
{
	return find(roster, &(rt_item){.kind = RT_ITEM_TEAM, .id = id});
}

const rt_item *
rt_roster_member(const rt_roster *roster, uint64_t project, uint64_t user, uint64_t team)
{
	return find(roster, &(rt_item){.kind = RT_ITEM_MEMBER, .project = project, .user = user, .team = team});
}

const rt_item *
rt_roster_quota(const rt_roster *roster, rt_quota_subject subject)
{
	return find(roster, &(rt_item){.kind = RT_ITEM_QUOTA,
				       .user = subject.user,
				       .team = subject.team,
				       .project = subject.project});
}

const rt_item *
rt_roster_secret(const rt_roster *roster, rt_item_kind kind, const char *hash)
{
	rt_item key = {.kind = kind};

	RT_ASSERT(kind >= RT_ITEM_TOKEN && strlen(hash) < sizeof(key.hash));
	memcpy(key.hash, hash, strlen(hash));
	return find(roster, &key);
}

const rt_item *
rt_roster_named(const rt_roster *roster, rt_item_kind kind, rt_str name)
{
	for (size_t i = roster->first[kind]; i < roster->first[kind + 1]; i++)
		if (rt_str_eq(roster->items[i].name, name))
			return &roster->items[i];
	return NULL;
}

const rt_item *
rt_roster_identity(const rt_roster *roster, rt_str identity)
{
	for (size_t i = roster->first[RT_ITEM_USER]; i < roster->first[RT_ITEM_USER + 1]; i++)
		if (identity.size > 0 && rt_str_eq(roster->items[i].identity, identity))
			return &roster->items[i];
	return NULL;
}

const rt_item *
rt_roster_numbered(const rt_roster *roster, rt_item_kind kind, uint64_t id)
{
	for (size_t i = roster->first[kind]; i < roster->first[kind + 1]; i++)
		if (roster->items[i].id == id)
			return &roster->items[i];
	return NULL;
}

size_t
rt_roster_members(const rt_roster *roster, uint64_t project, const rt_item **out_first)
{
	size_t low = roster->first[RT_ITEM_MEMBER], high = roster->first[RT_ITEM_MEMBER + 1], end;

	for (size_t last = high; low < last;) {
		size_t middle = low + (last - low) / 2;

		if (roster->items[middle].project < project)
			low = middle + 1;
		else
			last = middle;
	}
	for (end = low; end < high && roster->items[end].project == project;)
		end++;
	*out_first = roster->items + low;
	return end - low;
}

bool
rt_item_lists(const rt_item *item, uint64_t number)
{
	for (size_t i = 0; i < item->list_count; i++)
		if (item->list[i] == number)
			return true;
	return false;
}

/* ---- secrets and names ---- */

static const char *const prefixes[RT_ITEM_KINDS] = {
	[RT_ITEM_TOKEN] = "rtk_", [RT_ITEM_INVITE] = "rti_", [RT_ITEM_LINK] = "rtl_"};

enum { PREFIX_SIZE = 4 };

void
rt_secret_make(const rt_env *env, rt_item_kind kind, char out[RT_SECRET_ROOM])
{
	static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
	unsigned char random[RT_SECRET_RANDOM];

	RT_ASSERT(prefixes[kind] != NULL);
	env->random(env->ctx, random, sizeof(random));
	memcpy(out, prefixes[kind], PREFIX_SIZE);
	for (size_t i = 0; i < sizeof(random); i++)
		out[PREFIX_SIZE + i] = letters[random[i] & 63];
	out[PREFIX_SIZE + RT_SECRET_RANDOM] = '\0';
	memset(random, 0, sizeof(random));
}

bool
rt_secret_hash(rt_str text, rt_item_kind kind, char out[RT_SHA256_HEX_ROOM])
{
	rt_sha256 sha;

	out[0] = '\0';
	if (text.size != PREFIX_SIZE + RT_SECRET_RANDOM ||
	    !rt_str_starts(text, rt_str_of(prefixes[kind])))
		return false;
	rt_sha256_init(&sha);
	rt_sha256_add(&sha, text.ptr, text.size);
	rt_sha256_end_hex(&sha, out);
	return true;
}

bool
rt_account_name_is_valid(rt_str name)
{
	for (size_t i = 0; i < name.size; i++) {
		char c = name.ptr[i];
		bool is_plain = (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');

		if (!is_plain && (i == 0 || (c != '.' && c != '_' && c != '-')))
			return false;
	}
	return name.size > 0 && name.size <= RT_ACCOUNT_NAME_MAX;
}
