/* SPDX-License-Identifier: MIT
 *
 *   side row                 of the reserved project, besides those of directory.h
 *   once/<SHA-256>           {"v":1,"until":…}  a secret that was used; until it has expired anyway
 *   shared-key               {"v":1,"key":"…"} */
#include "accounts/arrival.h"
#include "accounts/audit.h"

#include <stdio.h>

#include "base/encode.h"
#include "codec/json.h"

#define ONCE_PREFIX "once/"
#define KEY_ROW "shared-key"

void
rt_identity_add(rt_buf *out, const char *kind, rt_str issuer, rt_str subject)
{
	rt_buf_add_f(out, "%s:", kind);
	rt_buf_add_str(out, issuer);
	if (issuer.size > 0)
		rt_buf_add_byte(out, ' ');
	rt_buf_add_str(out, subject);
}

/* ---- invitations ---- */

uint64_t
rt_accounts_invite_new(const rt_accounts *a, const rt_invite_options *options, char out_secret[RT_SECRET_ROOM])
{
	rt_directory_change change = rt_directory_begin(a->directory, a->scope);
	rt_item invite = {.kind = RT_ITEM_INVITE,
			  .name = options->name,
			  .until_us = options->until_us,
			  .made_us = a->env->now_us(a->env->ctx),
			  .by = a->by,
			  .list = options->roles,
			  .list_count = 2 * options->role_count};
	rt_buf *on = rt_scope_buf(a->scope);

	out_secret[0] = '\0';
	if (options->role_count > RT_INVITE_ROLES_MAX)
		rt_scope_fail(a->scope, RT_LIMIT, "an invitation can have at most %d "
						  "projects", RT_INVITE_ROLES_MAX);
	if (options->name.size > 0)
		rt_account_name_check(a->scope, options->name);
	if (rt_ok(a->scope)) {
		rt_directory_add_secret(&change, a->env, &invite, out_secret);
		rt_buf_add_f(on, "%llu", (unsigned long long)invite.id);
		rt_audit_note(&change, a, "invite.new", rt_scope_str(a->scope, on));
	}
	rt_directory_end(&change);
	return invite.id;
}

void
rt_accounts_invite_revoke(const rt_accounts *a, uint64_t id)
{
	rt_directory_change change = rt_directory_begin(a->directory, a->scope);
	const rt_item *invite = change.roster != NULL ? rt_roster_numbered(change.roster, RT_ITEM_INVITE, id) : NULL;
	rt_buf *on = rt_scope_buf(a->scope);

	if (change.roster != NULL && invite == NULL)
		rt_scope_fail(a->scope, RT_NOT_FOUND, "there is no invitation %llu", (unsigned long long)id);
	if (rt_ok(a->scope)) {
		rt_directory_drop(&change, invite);
		rt_buf_add_f(on, "%llu", (unsigned long long)id);
		rt_audit_note(&change, a, "invite.revoke", rt_scope_str(a->scope, on));
	}
	rt_directory_end(&change);
}

/* The user gets the roles of an invitation, unless it has higher ones; the invitation is used up. */
static void
accept(rt_directory_change *change, const rt_accounts *a, const rt_item *invite, const rt_item *user)
{
	rt_buf *on = rt_scope_buf(a->scope);

	for (size_t i = 0; i + 1 < invite->list_count; i += 2) {
		rt_item member = {.kind = RT_ITEM_MEMBER,
				  .project = invite->list[i],
				  .user = user->id,
				  .role = invite->list[i + 1],
				  .made_us = a->env->now_us(a->env->ctx),
				  .by = invite->by};
		const rt_item *old = rt_roster_member(change->roster, member.project, user->id, 0);

		if (member.role < RT_ROLE_COUNT && (old == NULL || old->role < member.role))
			rt_directory_write(change, &member);
	}
	rt_directory_drop(change, invite);
	rt_buf_add_f(on, "%llu %.*s", (unsigned long long)invite->id, RT_STR_ARG(user->name));
	if (rt_ok(a->scope))
		rt_audit_note(change, a, "invite.accept", rt_scope_str(a->scope, on));
}

/* ---- names ---- */

/* Could be mistaken for another origin of a change, in histories and in the audit log. */
static const char *const reserved_names[] = {"machine", "http", "web", "nobody", NULL};

static bool
is_free(const rt_roster *roster, rt_str name)
{
	return !rt_str_is_one_of(name, reserved_names) && rt_roster_named(roster, RT_ITEM_USER, name) == NULL;
}

/* A valid name that is free, similar to the one that is wanted (or an address before its "@"). */
static rt_str
free_name(rt_scope *s, const rt_roster *roster, rt_str wanted)
{
	enum { ROOM = RT_ACCOUNT_NAME_MAX - 8 };
	rt_buf *name = rt_scope_buf(s);

	for (size_t i = 0; i < wanted.size && wanted.ptr[i] != '@' && name->size < ROOM; i++) {
		char c = wanted.ptr[i];
		bool is_upper = c >= 'A' && c <= 'Z', is_plain = is_upper || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');

		if (is_plain)
			rt_buf_add_byte(name, (char)(is_upper ? c | 0x20 : c));
		else if (name->size > 0 && name->ptr[name->size - 1] != '-')
			rt_buf_add_byte(name, c == '.' || c == '_' ? c : '-');
	}
	if (name->size == 0)
		rt_buf_add_c(name, "user");
	size_t size = name->size;
	for (unsigned i = 2; rt_ok(s) && name->status == RT_OK && !is_free(roster, rt_buf_str(name)); i++) {
		name->size = size;
		rt_buf_add_f(name, "-%u", i);
	}
	return rt_scope_str(s, name);
}

/* ---- arriving ---- */

/* Notes that a secret was used, and forgets those that have expired. */
typedef struct used {
	rt_scope *s;
	rt_str name;
	int64_t now_us;
	bool found;
	rt_buf *expired; /* names of rows, each ended by a NUL */
} used;

static bool
read_used(void *ctx, const rt_store_row *row)
{
	used *u = ctx;
	rt_json_doc *doc = NULL;
	int64_t until = 0;

	u->found = u->found || rt_str_eq(row->name, u->name);
	if (rt_json_read(u->s->alloc, row->data, &doc, NULL) != RT_OK)
		return true;
	if (rt_json_i64(rt_json_get(rt_json_root(doc), "until"), &until) && until < u->now_us) {
		rt_buf_add_str(u->expired, row->name);
		rt_buf_add_byte(u->expired, '\0');
	}
	rt_json_free(doc);
	return true;
}

static void
use_once(rt_directory_change *change, const rt_accounts *a, rt_str hash, int64_t until_us)
{
	rt_scope *s = a->scope;
	rt_store *store = rt_directory_store(a->directory);
	rt_buf *name = rt_scope_buf(s), *value = rt_scope_buf(s);
	used u = {.s = s, .now_us = a->env->now_us(a->env->ctx), .expired = rt_scope_buf(s)};

	rt_buf_add_c(name, ONCE_PREFIX);
	rt_buf_add_str(name, hash);
	u.name = rt_scope_str(s, name);
	RT_TRY(s, store->ops->read(store, rt_directory_rows(a->directory, RT_STR(ONCE_PREFIX)), read_used, &u, &s->error));
	if (rt_ok(s) && (u.found || until_us < u.now_us))
		rt_scope_fail(s, RT_CREDENTIALS, "this sign-in was completed before, or took too long");
	rt_str names = rt_scope_str(s, u.expired);
	for (size_t at = 0; rt_ok(s) && at < names.size; at += strlen(names.ptr + at) + 1)
		rt_directory_write_side(change, rt_str_of(names.ptr + at), RT_STR(""));
	rt_json_open(value, NULL, '{');
	rt_json_put_u64(value, "v", 1);
	rt_json_put_i64(value, "until", until_us);
	rt_json_close(value, '}');
	rt_directory_write_side(change, u.name, rt_scope_str(s, value));
}

/* The user that exists; NULL: none, or a failure. */
static const rt_item *
find_user(rt_directory_change *change, const rt_accounts *a, const rt_arrival *arrival)
{
	const rt_item *user = NULL;

	if (!rt_ok(a->scope))
		return NULL;
	if (arrival->identity.size > 0)
		user = rt_roster_identity(change->roster, arrival->identity);
	else if (arrival->user != 0)
		user = rt_roster_user(change->roster, arrival->user);
	if (user != NULL && user->is_disabled != 0)
		rt_scope_fail(a->scope, RT_REFUSED, "the user %.*s is disabled", RT_STR_ARG(user->name));
	return user;
}

/* An invitation that counts; NULL: none was given, or a failure. */
static const rt_item *
find_invite(rt_directory_change *change, const rt_accounts *a, rt_str hash)
{
	const rt_item *invite = NULL;
	char text[RT_SHA256_HEX_ROOM] = {0};

	if (!rt_ok(a->scope) || hash.size == 0)
		return NULL;
	if (rt_sha256_is_hex(hash)) {
		memcpy(text, hash.ptr, hash.size);
		invite = rt_roster_secret(change->roster, RT_ITEM_INVITE, text);
	}
	if (invite == NULL || rt_item_has_expired(invite, a->env->now_us(a->env->ctx)))
		rt_scope_fail(a->scope, RT_CREDENTIALS, "this invitation was used, has expired or was revoked");
	return rt_ok(a->scope) ? invite : NULL;
}

/* A new user. */
static rt_item
make_user(rt_directory_change *change, const rt_accounts *a, const rt_arrival *arrival, const rt_item *invite)
{
	rt_scope *s = a->scope;
	rt_item user = {.kind = RT_ITEM_USER, .identity = arrival->identity, .made_us = a->env->now_us(a->env->ctx), .by = a->by};
	rt_str wanted = invite != NULL && invite->name.size > 0 ? invite->name : arrival->name;

	if (arrival->identity.size > 0 && invite == NULL && !arrival->may_create)
		rt_scope_fail(s, RT_REFUSED, "no user of this server has this identity");
	else if (arrival->identity.size == 0 && invite == NULL)
		rt_scope_fail(s, RT_CREDENTIALS, "an invitation is required");
	if (!rt_ok(s))
		return user;
	user.name = wanted;
	if (arrival->identity.size > 0)
		user.name = free_name(s, change->roster, wanted);
	else
		rt_account_name_check(s, wanted);
	if (rt_ok(s) && !is_free(change->roster, user.name))
		rt_scope_fail(s, RT_REFUSED, "the name \"%.*s\" is in use; choose another one", RT_STR_ARG(user.name));
	if (rt_ok(s)) {
		user.id = rt_directory_new_id(change);
		rt_directory_write(change, &user);
		rt_audit_note(change, a, "user.new", user.name);
	}
	return user;
}

uint64_t
rt_accounts_arrive(const rt_accounts *a, const rt_arrival *arrival, rt_str *out_name)
{
	rt_directory_change change = rt_directory_begin(a->directory, a->scope);
	const rt_item *known, *invite;
	rt_item user = {0};

	if (rt_ok(a->scope) && arrival->once.size > 0)
		use_once(&change, a, arrival->once, arrival->once_until_us);
	known = find_user(&change, a, arrival);
	invite = find_invite(&change, a, arrival->invite);
	if (known != NULL)
		user = *known;
	else if (rt_ok(a->scope))
		user = make_user(&change, a, arrival, invite);
	if (rt_ok(a->scope) && invite != NULL)
		accept(&change, a, invite, &user);
	if (rt_ok(a->scope)) {
		rt_accounts arrived = *a;

		arrived.by = user.name;
		rt_audit_note(&change, &arrived, "sign-in", RT_STR("browser"));
	}
	*out_name = rt_scope_copy(a->scope, user.name);
	rt_directory_end(&change);
	return rt_ok(a->scope) ? user.id : 0;
}

void
rt_accounts_identity_set(const rt_accounts *a, rt_str name, rt_str identity)
{
	rt_directory_change change = rt_directory_begin(a->directory, a->scope);
	const rt_item *user = change.roster != NULL ? rt_roster_named(change.roster, RT_ITEM_USER, name) : NULL;
	const rt_item *other = change.roster != NULL ? rt_roster_identity(change.roster, identity) : NULL;

	if (change.roster != NULL && user == NULL)
		rt_scope_fail(a->scope, RT_NOT_FOUND, "there is no user \"%.*s\"", (int)rt_utf8_cut(name, 80), name.ptr);
	if (rt_ok(a->scope) && other != NULL && other->id != user->id)
		rt_scope_fail(a->scope, RT_REFUSED, "the user %.*s has this identity", RT_STR_ARG(other->name));
	if (rt_ok(a->scope)) {
		rt_item changed = *user;

		changed.identity = identity;
		rt_directory_write(&change, &changed);
		rt_audit_note(&change, a, "user.identity", name);
	}
	rt_directory_end(&change);
}

/* ---- the shared key ---- */

static bool
read_key(void *ctx, const rt_store_row *row)
{
	char *out = ctx;
	rt_json_doc *doc = NULL;

	if (!rt_str_is(row->name, KEY_ROW) || rt_json_read(rt_alloc_libc(), row->data, &doc, NULL) != RT_OK)
		return true;
	rt_str key = rt_json_str(rt_json_get(rt_json_root(doc), "key"));
	if (rt_sha256_is_hex(key))
		memcpy(out, key.ptr, key.size);
	rt_json_free(doc);
	return true;
}

void
rt_accounts_shared_key(const rt_accounts *a, char out[RT_SHA256_HEX_ROOM])
{
	rt_scope *s = a->scope;
	rt_store *store = rt_directory_store(a->directory);
	rt_directory_change change = rt_directory_begin(a->directory, s);
	rt_buf *value = rt_scope_buf(s);
	unsigned char random[RT_SHA256_SIZE];

	memset(out, 0, RT_SHA256_HEX_ROOM);
	RT_TRY(s, store->ops->read(store, rt_directory_rows(a->directory, RT_STR(KEY_ROW)), read_key, out, &s->error));
	if (rt_ok(s) && out[0] == '\0') {
		a->env->random(a->env->ctx, random, sizeof(random));
		rt_hex(random, sizeof(random), out);
		rt_json_open(value, NULL, '{');
		rt_json_put_u64(value, "v", 1);
		rt_json_put_c(value, "key", out);
		rt_json_close(value, '}');
		rt_directory_write_side(&change, RT_STR(KEY_ROW), rt_scope_str(s, value));
	}
	rt_directory_end(&change);
}
