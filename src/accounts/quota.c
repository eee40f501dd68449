/* SPDX-License-Identifier: MIT
 *
 * Limits: items of the directory, checked and explained. */
#include "accounts/quota_impl.h"

#include "accounts/audit.h"
#include "codec/json.h"

const char *const rt_quota_names[RT_QUOTA_KINDS] = {[RT_QUOTA_BYTES] = "bytes",
						     [RT_QUOTA_ENTRIES] = "entries",
						     [RT_QUOTA_PROJECTS] = "projects",
						     [RT_QUOTA_REQUESTS] = "requests",
						     [RT_QUOTA_TOKENS] = "tokens"};

rt_quota_kind
rt_quota_named(rt_str name)
{
	int kind = 0;

	while (kind < RT_QUOTA_KINDS && !rt_str_is(name, rt_quota_names[kind]))
		kind++;
	return (rt_quota_kind)kind;
}

/* ---- items ---- */

uint64_t
rt_quota_limit(const rt_item *quota, rt_quota_kind kind)
{
	for (size_t i = 0; quota != NULL && i + 1 < quota->list_count; i += 2)
		if (quota->list[i] == (uint64_t)kind)
			return quota->list[i + 1];
	return UINT64_MAX;
}

/* The pairs of kinds and limits after the changes. */
static void
make_list(rt_scope *s, const rt_item *old, const rt_quota_change *changes, size_t count, rt_item *out)
{
	uint64_t limits[RT_QUOTA_KINDS], *list = rt_scope_array(s, 2 * (size_t)RT_QUOTA_KINDS, sizeof(*list));

	for (int kind = 0; kind < RT_QUOTA_KINDS; kind++)
		limits[kind] = rt_quota_limit(old, (rt_quota_kind)kind);
	for (size_t i = 0; i < count; i++)
		limits[changes[i].kind] = changes[i].is_limited ? changes[i].limit : UINT64_MAX;
	out->list = list;
	out->list_count = 0;
	for (int kind = 0; list != NULL && kind < RT_QUOTA_KINDS; kind++)
		if (limits[kind] != UINT64_MAX) {
			list[out->list_count++] = (uint64_t)kind;
			list[out->list_count++] = limits[kind];
		}
}

void
rt_accounts_quota_set(const rt_accounts *a, rt_quota_subject subject, rt_str name, const rt_quota_change *changes,
		      size_t count)
{
	rt_scope *s = a->scope;
	rt_directory_change change = rt_directory_begin(a->directory, s);
	const rt_item *old = change.roster != NULL ? rt_roster_quota(change.roster, subject) : NULL;
	rt_item quota = {.kind = RT_ITEM_QUOTA,
			 .user = subject.user,
			 .team = subject.team,
			 .project = subject.project,
			 .made_us = a->env->now_us(a->env->ctx),
			 .by = a->by};
	rt_buf *on = rt_scope_buf(s);

	make_list(s, old, changes, count, &quota);
	if (rt_ok(s) && quota.list_count > 0)
		rt_directory_write(&change, &quota);
	else if (rt_ok(s) && old != NULL)
		rt_directory_drop(&change, old);
	rt_buf_add_str(on, name);
	for (size_t i = 0; i < count; i++) {
		rt_buf_add_f(on, " %s=", rt_quota_names[changes[i].kind]);
		if (changes[i].is_limited)
			rt_buf_add_f(on, "%llu", (unsigned long long)changes[i].limit);
		else
			rt_buf_add_c(on, "none");
	}
	if (rt_ok(s))
		rt_audit_note(&change, a, "quota.set", rt_scope_str(s, on));
	rt_directory_end(&change);
}

void
rt_quota_drop(rt_directory_change *change, rt_quota_subject subject)
{
	const rt_item *quota = rt_roster_quota(change->roster, subject);
	rt_buf *name = rt_scope_buf(change->scope);

	if (quota != NULL)
		rt_directory_drop(change, quota);
	rt_use_add_name(name, subject);
	rt_directory_write_side(change, rt_scope_str(change->scope, name), RT_STR(""));
}

static rt_quota_subject
subject_of(const rt_item *quota)
{
	return (rt_quota_subject){.user = quota->user, .team = quota->team, .project = quota->project};
}

static bool
is_for_each(const rt_item *quota)
{
	return quota->user == 0 && quota->team == 0 && quota->project == 0;
}

void
rt_quota_put(const rt_accounts *a, const rt_roster *roster, const rt_item *quota, const rt_item *user, rt_buf *out)
{
	bool has_use = !is_for_each(quota) || user != NULL;
	rt_use use = {{0}};

	if (has_use)
		rt_use_read(a, roster, is_for_each(quota) ? (rt_quota_subject){.user = user->id} : subject_of(quota), &use);
	if (is_for_each(quota))
		rt_json_put_bool(out, "each_user", true);
	for (int part = 0; part < (has_use ? 2 : 1); part++) {
		rt_json_open(out, part == 0 ? "limits" : "use", '{');
		for (int kind = 0; kind < RT_QUOTA_KINDS; kind++) {
			uint64_t limit = rt_quota_limit(quota, (rt_quota_kind)kind);

			if (limit != UINT64_MAX)
				rt_json_put_u64(out, rt_quota_names[kind], part == 0 ? limit : use.counts[kind]);
		}
		rt_json_close(out, '}');
	}
}

/* ---- checking ---- */

/* Tokens are known only afterwards: a request is refused when they are used up. */
static bool
is_beyond(rt_quota_kind kind, uint64_t limit, const rt_use *use, const rt_use *added)
{
	if (kind == RT_QUOTA_TOKENS)
		return added->counts[RT_QUOTA_REQUESTS] > 0 && use->counts[kind] >= limit;
	return added->counts[kind] > 0 &&
	       (use->counts[kind] > limit || added->counts[kind] > limit - use->counts[kind]);
}

typedef struct checking {
	rt_quota_meter *meter;
	const rt_accounts *a;
	const rt_roster *roster;
	const rt_use *added;
	rt_quota_excess *out;
} checking;

/* The limits of quota that others does not have, for the use of a subject. */
static bool
exceeds(const checking *c, const rt_item *quota, const rt_item *instead, rt_quota_subject subject)
{
	rt_use use = {{0}};
	bool is_read = false;

	for (int i = 0; quota != NULL && rt_ok(c->a->scope) && i < RT_QUOTA_KINDS; i++) {
		rt_quota_kind kind = (rt_quota_kind)i;
		uint64_t limit = rt_quota_limit(quota, kind);

		if (limit == UINT64_MAX || rt_quota_limit(instead, kind) != UINT64_MAX)
			continue;
		if (!is_read)
			rt_use_now(c->meter, c->a, c->roster, subject, &use);
		is_read = true;
		if (is_beyond(kind, limit, &use, c->added)) {
			*c->out = (rt_quota_excess){kind, quota, limit, use.counts[kind], c->added->counts[kind]};
			return true;
		}
	}
	return false;
}

bool
rt_quota_is_exceeded(rt_quota_meter *meter, const rt_accounts *a, const rt_roster *roster, uint64_t user,
		     uint64_t project, const rt_use *added, rt_quota_excess *out)
{
	checking c = {meter, a, roster, added, out};
	size_t first = roster->first[RT_ITEM_QUOTA], end = roster->first[RT_ITEM_QUOTA + 1];
	const rt_item *own;

	if (first == end)
		return false;
	if (user != 0) {
		own = rt_roster_quota(roster, (rt_quota_subject){.user = user});
		if (exceeds(&c, own, NULL, (rt_quota_subject){.user = user}) ||
		    exceeds(&c, rt_roster_quota(roster, (rt_quota_subject){0}), own, (rt_quota_subject){.user = user}))
			return true;
	}
	for (size_t i = first; user != 0 && i < end; i++) {
		const rt_item *quota = &roster->items[i];
		const rt_item *team = quota->team != 0 ? rt_roster_team(roster, quota->team) : NULL;

		if (team != NULL && rt_item_lists(team, user) && exceeds(&c, quota, NULL, subject_of(quota)))
			return true;
	}
	own = project != 0 ? rt_roster_quota(roster, (rt_quota_subject){.project = project}) : NULL;
	return exceeds(&c, own, NULL, (rt_quota_subject){.project = project});
}

void
rt_quota_explain(const rt_accounts *a, const rt_roster *roster, const rt_quota_excess *excess, uint64_t user,
		 rt_buf *out)
{
	static const char *const uses[RT_QUOTA_KINDS] = {
		[RT_QUOTA_BYTES] = "has stored %llu of at most %llu bytes",
		[RT_QUOTA_ENTRIES] = "has added %llu of at most %llu entries",
		[RT_QUOTA_PROJECTS] = "owns %llu of at most %llu projects",
		[RT_QUOTA_REQUESTS] = "has sent %llu of at most %llu model requests today",
		[RT_QUOTA_TOKENS] = "has used %llu of at most %llu tokens today"};
	const rt_item *quota = excess->quota;
	const rt_item *team = quota->team != 0 ? rt_roster_team(roster, quota->team) : NULL;
	const rt_item *holder = team != NULL ? team : rt_roster_user(roster, user);
	const char *what = quota->project != 0 ? "project" : team != NULL ? "team" : "user";
	rt_str name = quota->project != 0 ? rt_accounts_project_name(a, quota->project)
		      : holder != NULL	  ? holder->name
					  : RT_STR("?");

	rt_buf_add_f(out, "the %s %.*s ", what, RT_STR_ARG(name));
	rt_buf_add_f(out, uses[excess->kind], (unsigned long long)excess->use, (unsigned long long)excess->limit);
	if (rt_quota_is_daily(excess->kind))
		rt_buf_add_c(out, "; the count starts again at 00:00 UTC");
	else
		rt_buf_add_f(out, ", and this would add %llu", (unsigned long long)excess->added);
	rt_buf_add_f(out, "; an administrator can raise the limit: retake quota %s %.*s %s=NUMBER", what,
		     RT_STR_ARG(name), rt_quota_names[excess->kind]);
}
