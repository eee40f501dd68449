/* SPDX-License-Identifier: MIT */
#include "accounts/erase.h"

#include "accounts/audit.h"
#include "accounts/directory_impl.h"
#include "accounts/quota.h"
#include "codec/record.h"
#include "log/heads.h"

/* ---- the projects ---- */

typedef struct listing {
	rt_scope *s;
	rt_erase_project *at;
	size_t count, room;
} listing;

static bool
list_project(void *ctx, const rt_store_row *row)
{
	listing *l = ctx;

	if (rt_store_is_reserved(row->data))
		return true;
	l->at = rt_scope_grow(l->s, l->at, l->count, &l->room, sizeof(*l->at));
	if (rt_ok(l->s))
		l->at[l->count++] = (rt_erase_project){.number = row->number, .name = rt_scope_copy(l->s, row->data)};
	return rt_ok(l->s);
}

/* "ann", or "ann:script". */
static bool
is_by(rt_str by, rt_str name)
{
	return rt_str_starts(by, name) && (by.size == name.size || by.ptr[name.size] == ':');
}

typedef struct counting {
	rt_scope *s;
	rt_arena *arena; /* of one row */
	rt_str name;
	uint32_t last_entry;
	rt_erase_project *project;
} counting;

/* Entries are numbered in the order in which they are created. */
static bool
count_row(void *ctx, const rt_store_row *row)
{
	counting *c = ctx;
	rt_record record;

	c->project->rows++;
	rt_arena_reset(c->arena);
	rt_status st = rt_record_read(c->s->alloc, c->arena, row->data, &record, NULL);
	if (st == RT_NOMEM)
		(void)rt_scope_nomem(c->s);
	if (st != RT_OK) /* of a newer version, for example */
		return st != RT_NOMEM;
	bool is_theirs = is_by(record.by, c->name);
	c->project->steps += is_theirs;
	for (size_t i = 0; i < record.effect_count; i++)
		for (size_t k = 0; k < record.effects[i].added_count; k++) {
			uint32_t entry = record.effects[i].added[k].slot.entry;

			c->project->entries += is_theirs && entry > c->last_entry;
			c->last_entry = entry > c->last_entry ? entry : c->last_entry;
		}
	return true;
}

static void
count_steps(rt_store *store, rt_scope *s, rt_str name, rt_erase_project *project)
{
	counting c = {.s = s, .arena = rt_arena_new(s->alloc), .name = name, .project = project};

	if (c.arena == NULL)
		(void)rt_scope_nomem(s);
	if (rt_ok(s))
		RT_TRY(s, store->ops->read(store, rt_rows_all(RT_STORE_LOG, project->number), count_row, &c, &s->error));
	rt_arena_free(c.arena);
}

/* Is this a membership of the user, or with others of another one? A disabled user counts. */
static bool
is_of(const rt_roster *roster, const rt_item *member, uint64_t user, bool others)
{
	const rt_item *team = member->team != 0 ? rt_roster_team(roster, member->team) : NULL;
	size_t count = team != NULL ? team->list_count : 1;

	for (size_t i = 0; i < count; i++) {
		uint64_t id = team != NULL ? team->list[i] : member->user;

		if (rt_roster_user(roster, id) != NULL && (id == user) != others)
			return true;
	}
	return false;
}

static bool
found_one(void *ctx, const rt_store_row *row)
{
	(void)row;
	*(bool *)ctx = true;
	return false;
}

static bool
has_sign_ins(rt_store *store, rt_scope *s, uint64_t project)
{
	static const char *const prefixes[] = {RT_BROWSER_PREFIX, RT_CODE_PREFIX};
	bool found = false;

	for (size_t i = 0; i < 2 && rt_ok(s); i++)
		RT_TRY(s, store->ops->read(store, rt_rows_prefixed(project, rt_str_of(prefixes[i])), found_one, &found, &s->error));
	return found;
}

/* Sets why a project is kept, if it is, and how many others lose it. */
static void
decide(rt_store *store, rt_scope *s, const rt_roster *roster, uint64_t user, rt_str home, rt_erase_project *project)
{
	const rt_item *member;
	size_t count = rt_roster_members(roster, project->number, &member);
	bool has_others = false;

	for (; count > 0; count--, member++) {
		bool is_other = is_of(roster, member, user, true);

		project->is_owned |= member->role == RT_ROLE_OWNER && is_of(roster, member, user, false);
		has_others = has_others || (member->role == RT_ROLE_OWNER && is_other);
		project->others += is_other;
	}
	if (!project->is_owned)
		project->kept = "the user is not an owner";
	else if (has_others)
		project->kept = "it has other owners";
	else if (rt_str_eq(project->name, home) || has_sign_ins(store, s, project->number))
		project->kept = "servers store sign-ins in it";
}

/* ---- the accounts ---- */

/* By this report, or earlier. */
static bool
is_deleted(const rt_erase_report *report, uint64_t project)
{
	size_t low = 0, high = report->remaining_count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (report->remaining[middle] < project)
			low = middle + 1;
		else
			high = middle;
	}
	return project != 0 && project <= report->last &&
	       (low == report->remaining_count || report->remaining[low] != project);
}

static bool
is_link(const rt_erase_report *report, const rt_item *item)
{
	return item->kind == RT_ITEM_LINK && (is_deleted(report, item->project) || is_by(item->by, report->name));
}

static bool
is_invitation(const rt_erase_report *report, const rt_item *item)
{
	return item->kind == RT_ITEM_INVITE && (rt_str_eq(item->name, report->name) || is_by(item->by, report->name));
}

void
rt_accounts_erase_plan(const rt_accounts *a, rt_str name, rt_str home, rt_erase_report *out)
{
	rt_store *store = rt_directory_store(a->directory);
	const rt_roster *roster = rt_directory_roster(a->directory);
	const rt_item *user = rt_roster_named(roster, RT_ITEM_USER, name);
	listing l = {.s = a->scope};

	*out = (rt_erase_report){.name = name};
	if (user == NULL)
		rt_scope_fail(a->scope, RT_NOT_FOUND, "there is no user \"%.*s\"", (int)rt_utf8_cut(name, 80), name.ptr);
	if (rt_ok(a->scope))
		RT_TRY(a->scope, store->ops->read(store, rt_rows_all(RT_STORE_PROJECTS, 0), list_project, &l, &a->scope->error));
	out->projects = l.at;
	out->remaining = rt_scope_array(a->scope, l.count + 1, sizeof(*out->remaining));
	for (size_t i = 0; i < l.count && rt_ok(a->scope); i++) {
		rt_erase_project *project = &out->projects[out->project_count];

		*project = l.at[i];
		count_steps(store, a->scope, name, project);
		decide(store, a->scope, roster, user->id, home, project);
		out->deleted_count += project->kept == NULL;
		out->last = project->number;
		if (project->kept != NULL)
			out->remaining[out->remaining_count++] = project->number;
		out->project_count += project->is_owned || project->steps > 0;
	}
	for (size_t i = 0; i < roster->count && rt_ok(a->scope); i++) {
		const rt_item *item = &roster->items[i];

		out->links += is_link(out, item);
		out->invitations += is_invitation(out, item);
		out->removed.memberships += item->kind == RT_ITEM_MEMBER && item->user == user->id;
		out->removed.tokens += item->kind == RT_ITEM_TOKEN && item->user == user->id;
		out->removed.teams += item->kind == RT_ITEM_TEAM && rt_item_lists(item, user->id);
	}
	out->has_identity = user != NULL && user->identity.size > 0;
	rt_object_unref(roster);
}

/* An invitation of another user without roles in deleted projects. */
static void
narrow_invitation(rt_directory_change *change, const rt_erase_report *report, const rt_item *item)
{
	uint64_t *list = rt_scope_array(change->scope, item->list_count, sizeof(*list));
	rt_item narrowed = *item;

	narrowed.list = list;
	narrowed.list_count = 0;
	for (size_t i = 0; list != NULL && i + 1 < item->list_count; i += 2)
		if (!is_deleted(report, item->list[i])) {
			list[narrowed.list_count++] = item->list[i];
			list[narrowed.list_count++] = item->list[i + 1];
		}
	if (rt_ok(change->scope) && narrowed.list_count < item->list_count)
		rt_directory_write(change, &narrowed);
}

static void
add_figures(const rt_erase_report *report, rt_buf *out)
{
	uint64_t entries = 0;

	for (size_t i = 0; i < report->project_count; i++)
		entries += report->projects[i].kept != NULL ? report->projects[i].entries : 0;
	rt_buf_add_f(out, "%.*s: projects deleted: %zu, kept: %zu (entries of the user: %llu); removed: teams %zu, "
			  "memberships %zu, tokens %zu, links %zu, invitations %zu",
		     RT_STR_ARG(report->name), report->deleted_count, report->project_count - report->deleted_count,
		     (unsigned long long)entries, report->removed.teams, report->removed.memberships, report->removed.tokens,
		     report->links, report->invitations);
}

static void
erase_accounts(const rt_accounts *a, const rt_erase_report *report)
{
	rt_directory_change change = rt_directory_begin(a->directory, a->scope);
	const rt_item *user = change.roster != NULL ? rt_roster_named(change.roster, RT_ITEM_USER, report->name) : NULL;
	rt_buf *figures = rt_scope_buf(a->scope);

	if (change.roster != NULL && user == NULL)
		rt_scope_fail(a->scope, RT_NOT_FOUND, "there is no user \"%.*s\"", RT_STR_ARG(report->name));
	for (size_t i = 0; user != NULL && rt_ok(a->scope) && i < change.roster->count; i++) {
		const rt_item *item = &change.roster->items[i];

		if (is_link(report, item) || is_invitation(report, item) ||
		    (item->kind == RT_ITEM_MEMBER && item->user != user->id && is_deleted(report, item->project)))
			rt_directory_drop(&change, item);
		else if (item->kind == RT_ITEM_INVITE)
			narrow_invitation(&change, report, item);
	}
	for (size_t i = 0; rt_ok(a->scope) && i < report->project_count; i++)
		if (report->projects[i].kept == NULL)
			rt_quota_drop(&change, (rt_quota_subject){.project = report->projects[i].number});
	if (user != NULL && rt_ok(a->scope))
		(void)rt_user_drop(&change, user);
	add_figures(report, figures);
	rt_str text = rt_scope_str(a->scope, figures);
	if (rt_ok(a->scope))
		rt_audit_note(&change, a, "user.purge", text);
	rt_directory_end(&change);
}

void
rt_accounts_erase(const rt_accounts *a, const rt_erase_report *report)
{
	rt_store *store = rt_directory_store(a->directory);
	rt_scope *s = a->scope;

	for (size_t i = 0; i < report->project_count && rt_ok(s); i++) {
		rt_status st = report->projects[i].kept == NULL
				       ? rt_store_project_delete(store, report->projects[i].number, &s->error)
				       : RT_OK;

		if (st != RT_NOT_FOUND) /* another program has done it */
			rt_scope_note(s, st);
	}
	erase_accounts(a, report);
	if (report->deleted_count > 0 && rt_ok(s))
		RT_TRY(s, store->ops->scrub(store, &s->error));
}

/* ---- the report ---- */

void
rt_erase_put(rt_buf *out, const rt_erase_report *report)
{
	rt_json_put_str(out, "user", report->name);
	for (int is_kept = 0; is_kept < 2; is_kept++) {
		rt_json_open(out, is_kept ? "kept" : "deleted", '[');
		for (size_t i = 0; i < report->project_count; i++) {
			const rt_erase_project *project = &report->projects[i];

			if ((project->kept != NULL) != is_kept)
				continue;
			rt_json_open(out, NULL, '{');
			rt_json_put_str(out, "project", project->name);
			rt_json_put_u64(out, "steps", project->steps);
			rt_json_put_u64(out, "entries", project->entries);
			if (is_kept)
				rt_json_put_c(out, "reason", project->kept);
			else
				rt_json_put_u64(out, "other_members", project->others);
			rt_json_close(out, '}');
		}
		rt_json_close(out, ']');
	}
	rt_json_put_u64(out, "memberships", report->removed.memberships);
	rt_json_put_u64(out, "teams", report->removed.teams);
	rt_json_put_u64(out, "tokens", report->removed.tokens);
	rt_json_put_u64(out, "links", report->links);
	rt_json_put_u64(out, "invitations", report->invitations);
	rt_json_put_bool(out, "identity", report->has_identity);
}
