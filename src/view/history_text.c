/* SPDX-License-Identifier: MIT
 *
 * A step in words: the operation's verb ("deleted") and its object, derived from its effects.
 * An operation without words here gets those of its row in the table. */
#include "view/history_text.h"

#include "codec/json.h"
#include "core/address.h"
#include "core/op.h"

enum { VALUE_MAX = 48 }; /* bytes of a setting's value that are shown */

typedef struct text {
	rt_scope *scope;
	const rt_project *project;
	const rt_record *step;
	bool plain; /* without ids */
	rt_buf *buf;
} text;

/* A space and the id of an entry, or nothing. */
static void
add_id(text *t, uint64_t entry)
{
	char id[RT_ID_MAX + 1];

	if (t->plain)
		return;
	rt_buf_add_byte(t->buf, ' ');
	if (entry != 0 && entry < t->project->next_entry &&
	    RT_TRY(t->scope, rt_entry_id(t->project, (uint32_t)entry, id, &t->scope->error)) == RT_OK)
		rt_buf_add_c(t->buf, id);
}

static void
add_quoted(text *t, rt_str name)
{
	rt_buf_add_byte(t->buf, '"');
	rt_buf_add_str(t->buf, name);
	rt_buf_add_byte(t->buf, '"');
}

/* The beginning of a JSON value. */
static void
add_value(text *t, rt_str json)
{
	size_t size = json.size > VALUE_MAX ? rt_utf8_valid_size(rt_str_at(json.ptr, VALUE_MAX))
					    : json.size;

	rt_buf_add(t->buf, json.ptr, size);
	if (json.size > VALUE_MAX)
		rt_buf_add_c(t->buf, "…");
}

static const char *
ies(size_t count)
{
	return count == 1 ? "y" : "ies";
}

/* The first effect of a kind; key: of RT_EFFECT_SET, or NULL: any. */
static const rt_effect *
find_effect(const text *t, rt_effect_kind kind, const char *key)
{
	for (size_t i = 0; i < t->step->effect_count; i++) {
		const rt_effect *e = &t->step->effects[i];

		if (e->kind == kind && (key == NULL || rt_str_is(e->key, key)))
			return e;
	}
	return NULL;
}

/* ---- entries ---- */

static size_t
entry_count(const rt_effect *e)
{
	return e->added_count > e->removed_count ? e->added_count : e->removed_count;
}

static const rt_slot *
first_slot(const rt_effect *e)
{
	return e->added_count > 0 ? &e->added[0].slot : &e->removed[0].slot;
}

/* "added entry x" or "added 3 entries, first x" */
static void
add_entries(text *t, const char *verb, const char *noun)
{
	const rt_effect *first = NULL;
	size_t count = 0;

	for (size_t i = 0; i < t->step->effect_count; i++) {
		const rt_effect *e = &t->step->effects[i];

		if (e->kind != RT_EFFECT_SPLICE || entry_count(e) == 0)
			continue;
		first = first == NULL ? e : first;
		/* the same entry again, in another take, does not count */
		if (e == first || first_slot(e)->entry != first_slot(first)->entry)
			count += entry_count(e);
	}
	if (count > 1)
		rt_buf_add_f(t->buf, "%s %zu entries%s", verb, count, t->plain ? "" : ", first");
	else
		rt_buf_add_f(t->buf, "%s %s", verb, noun);
	if (first != NULL)
		add_id(t, first_slot(first)->entry);
}

/* A reply that replaces itself was continued. */
static void
add_reply(text *t)
{
	const rt_effect *e = find_effect(t, RT_EFFECT_SPLICE, NULL);
	bool goes_on = e != NULL && e->removed_count > 0 && e->added_count > 0;

	add_entries(t, goes_on ? "continued" : "got", "reply");
}

static void
add_mute(text *t)
{
	const rt_effect *e = find_effect(t, RT_EFFECT_SPLICE, NULL);
	bool muted = e != NULL && e->added_count > 0 &&
		     (e->added[0].slot.flags & RT_SLOT_MUTED) != 0;

	add_entries(t, muted ? "muted" : "unmuted", "entry");
}

static void
add_role(text *t)
{
	const rt_effect *e = find_effect(t, RT_EFFECT_SPLICE, NULL);

	add_entries(t, "changed the role of", "entry");
	if (e != NULL && e->added_count > 0) {
		rt_buf_add_c(t->buf, " to ");
		rt_buf_add_str(t->buf, e->added[0].role);
	}
}

/* ---- names and fields ---- */

static void
add_label(text *t)
{
	const rt_effect *e = find_effect(t, RT_EFFECT_SET, "label");

	if (e == NULL) {
		rt_buf_add_c(t->buf, "set a label");
	} else if (e->after.ptr != NULL) {
		rt_buf_add_c(t->buf, "labelled entry");
		add_id(t, e->entry);
		rt_buf_add_byte(t->buf, ' ');
		add_value(t, e->after);
	} else {
		rt_buf_add_c(t->buf, "removed label ");
		add_value(t, e->before);
		rt_buf_add_c(t->buf, " from entry");
		add_id(t, e->entry);
	}
}

/* A number in JSON; 0: not a number. */
static uint64_t
number_of(rt_str json)
{
	uint64_t number;

	return rt_str_u64(json, UINT64_MAX, &number) ? number : 0;
}

static void
add_head(text *t)
{
	const rt_effect *e = find_effect(t, RT_EFFECT_SET, "head");
	bool is_known = e != NULL && e->after.ptr != NULL;
	uint64_t entry = is_known ? number_of(e->after) : 0;

	rt_buf_add_c(t->buf, t->plain ? "continued from" : "moved the head");
	if (!is_known) {
		rt_buf_add_c(t->buf, t->plain ? " another entry" : "");
		return;
	}
	rt_buf_add_c(t->buf, t->plain ? "" : " to");
	rt_buf_add_c(t->buf, entry != 0 ? " entry" : " before the first entry");
	if (entry != 0)
		add_id(t, entry);
}

/* The name of the setting that an effect changes; ptr NULL: it changes none. */
static rt_str
setting_of(const rt_effect *e)
{
	static const rt_str prefix = RT_STR_INIT("setting.");

	if (e == NULL || e->kind != RT_EFFECT_SET || !rt_str_starts(e->key, prefix))
		return (rt_str){0};
	return rt_str_at(e->key.ptr + prefix.size, e->key.size - prefix.size);
}

/* ["work","files"] as: work, files. */
static void
add_list(text *t, rt_str json)
{
	rt_str rest = rt_str_at(json.ptr + 2, json.size - 4);
	size_t end;

	while ((end = rt_str_find(rest, RT_STR("\",\""), 0)) != SIZE_MAX) {
		rt_buf_add(t->buf, rest.ptr, end);
		rt_buf_add_c(t->buf, ", ");
		rest = rt_str_skip(rest, end + 3);
	}
	rt_buf_add_str(t->buf, rest);
}

/* The name of a setting, for users where it has a command or a control. */
static void
add_setting_name(text *t, rt_str name)
{
	static const rt_str template = RT_STR_INIT("template.");

	if (rt_str_is(name, "project_system_prompt")) {
		rt_buf_add_c(t->buf, "the instructions");
	} else if (rt_str_is(name, "tags")) {
		rt_buf_add_c(t->buf, "the tags");
	} else if (rt_str_starts(name, template)) {
		rt_buf_add_c(t->buf, "the template ");
		add_quoted(t, rt_str_skip(name, template.size));
	} else {
		rt_buf_add_str(t->buf, name);
	}
}

static void
add_setting(text *t)
{
	static const struct {
		const char *name, *on, *off;
	} flags[] = {
		{"pinned", "pinned the discussion", "unpinned the discussion"},
		{"archived", "archived the discussion", "unarchived the discussion"},
	};
	const rt_effect *e = find_effect(t, RT_EFFECT_SET, NULL);
	rt_str name = setting_of(e);

	if (name.size == 0) {
		rt_buf_add_c(t->buf, "changed a setting");
		return;
	}
	for (size_t i = 0; i < sizeof(flags) / sizeof(flags[0]); i++)
		if (rt_str_is(name, flags[i].name)) {
			bool is_on = e->after.ptr != NULL && rt_str_is(e->after, "true");

			rt_buf_add_c(t->buf, is_on ? flags[i].on : flags[i].off);
			return;
		}
	rt_buf_add_c(t->buf, e->after.ptr != NULL ? "set " : "reset ");
	add_setting_name(t, name);
	rt_buf_add_c(t->buf, e->after.ptr != NULL ? " to " : " to its default");
	if (e->after.ptr != NULL && e->after.size < VALUE_MAX && e->after.size > 4 &&
	    rt_str_starts(e->after, RT_STR("[\"")) && e->after.ptr[e->after.size - 2] == '"')
		add_list(t, e->after);
	else if (e->after.ptr != NULL)
		add_value(t, e->after);
}

/* The name of a take, or (disc 0) of a discussion. */
static void
add_name(text *t, uint32_t disc, uint32_t sub)
{
	const rt_disc *d;

	if (disc == 0) {
		if (rt_project_cell(t->project, sub) != NULL)
			add_quoted(t, rt_cell_name(rt_project_cell(t->project, sub)));
	} else if (rt_project_disc(t->project, disc, &d, NULL) == RT_OK &&
		   rt_disc_take(d, sub) != NULL) {
		add_quoted(t, rt_text_str(rt_disc_take(d, sub)->name));
	}
}

static void
add_switched(text *t, const char *noun)
{
	const rt_effect *e = find_effect(t, RT_EFFECT_SET, "active");

	rt_buf_add_f(t->buf, "switched to %s ", noun);
	if (e != NULL)
		add_name(t, e->disc, (uint32_t)number_of(e->after));
}

static void
add_renamed(text *t, const char *noun)
{
	const rt_effect *e = find_effect(t, RT_EFFECT_SET, "name");

	rt_buf_add_f(t->buf, "renamed %s ", noun);
	if (e == NULL)
		return;
	add_value(t, e->before);
	rt_buf_add_c(t->buf, " to ");
	add_value(t, e->after);
}

static void
add_deleted(text *t, const char *noun)
{
	rt_buf_add_f(t->buf, "deleted %s ", noun);
	for (size_t i = 0; i < t->step->effect_count; i++) {
		const rt_effect *e = &t->step->effects[i];

		if (e->kind == RT_EFFECT_SET && e->sub != 0) {
			add_name(t, e->disc, e->sub);
			return;
		}
	}
}

/* ---- imports ---- */

/* Does an effect before number `end` concern the discussion? */
static bool
has_disc_before(const rt_record *step, size_t end, uint32_t disc)
{
	for (size_t i = 0; i < end; i++)
		if (step->effects[i].disc == disc)
			return true;
	return false;
}

/* How many discussions an import created or extended; *out_disc is the last of them. Each has its
 * own effects, unlike a number that was only skipped. One that was hidden again had existed
 * before. */
static size_t
imported_discs(const rt_record *step, uint32_t *out_disc)
{
	size_t count = 0;

	*out_disc = 0;
	for (size_t i = 0; i < step->effect_count; i++) {
		const rt_effect *e = &step->effects[i];

		if (e->disc != 0 && e->disc != *out_disc && !has_disc_before(step, i, e->disc)) {
			*out_disc = e->disc;
			count++;
		} else if (e->kind == RT_EFFECT_SET && e->disc == 0 && e->sub != 0 &&
			   e->sub == *out_disc && rt_str_is(e->key, "present")) {
			if (e->after.ptr != NULL)
				count++;
			else
				count--;
		}
	}
	return count;
}

/* " as" and the name that an import gave to the discussion, or " into" and its old name. */
static void
add_imported(text *t, uint32_t disc)
{
	for (size_t i = t->step->effect_count; i > 0; i--) {
		const rt_effect *e = &t->step->effects[i - 1];
		bool is_name = e->kind == RT_EFFECT_SET && rt_str_is(e->key, "name");

		if (e->disc != 0 || e->sub != disc || (e->kind != RT_EFFECT_NEW && !is_name))
			continue;
		rt_buf_add_c(t->buf, " as ");
		if (is_name)
			add_value(t, e->after);
		else
			add_quoted(t, e->name);
		return;
	}
	rt_buf_add_c(t->buf, " into ");
	add_name(t, 0, disc);
}

static void
add_import(text *t)
{
	size_t count = 0;
	uint32_t disc;

	if (t->step->group != 0) { /* the other rows of the group are not known here */
		rt_buf_add_c(t->buf, "imported many entries, in several steps from step ");
		rt_buf_add_u64(t->buf, t->step->group);
		return;
	}
	if (t->step->disc == 0) {
		rt_buf_add_c(t->buf, "imported settings");
		return;
	}
	for (size_t i = 0; i < t->step->effect_count; i++)
		if (t->step->effects[i].kind == RT_EFFECT_SPLICE)
			count += t->step->effects[i].added_count;
	rt_buf_add_f(t->buf, "imported %zu entr%s", count, ies(count));
	size_t discs = imported_discs(t->step, &disc);

	if (discs > 1)
		rt_buf_add_f(t->buf, " in %zu discussions", discs);
	else if (discs == 1)
		add_imported(t, disc);
}

/* ---- several operations as one step ---- */

/* The first entry of this kind that was added, or NULL. */
static const rt_slot *
added_kind(const text *t, const char *kind)
{
	for (size_t i = 0; i < t->step->effect_count; i++)
		for (size_t k = 0; k < t->step->effects[i].added_count; k++)
			if (rt_str_is(t->step->effects[i].added[k].kind, kind))
				return &t->step->effects[i].added[k].slot;
	return NULL;
}

/* The result of several operations, by their effects: a new discussion outweighs a new take, which
 * outweighs entries, which outweigh settings. */
static void
add_batch(text *t)
{
	const rt_slot *left = added_kind(t, "branch_summary");
	const rt_slot *compressed = added_kind(t, "compaction");
	const rt_effect *disc = NULL, *take = NULL, *renamed = find_effect(t, RT_EFFECT_SET, "name");
	size_t added = 0, removed = 0, takes = 0, settings = 0, others = 0;

	for (size_t i = 0; i < t->step->effect_count; i++) {
		const rt_effect *e = &t->step->effects[i];

		added += e->added_count;
		removed += e->removed_count;
		if (e->kind == RT_EFFECT_NEW && e->disc == 0) {
			disc = disc == NULL ? e : disc;
		} else if (e->kind == RT_EFFECT_NEW) {
			take = take == NULL ? e : take;
			takes++;
		} else if (setting_of(e).ptr != NULL) {
			settings++;
		} else {
			others += e->kind == RT_EFFECT_SET;
		}
	}
	if (disc != NULL) {
		rt_buf_add_c(t->buf, "created discussion ");
		add_quoted(t, disc->name);
		if (added > 0)
			rt_buf_add_f(t->buf, " with %zu entr%s", added, ies(added));
		if (added > 0 && takes > 0)
			rt_buf_add_f(t->buf, " in %zu takes", takes + 1); /* the first take comes
									   * with it */
	} else if (left != NULL) {
		rt_buf_add_c(t->buf, "left a branch and added its summary");
		add_id(t, left->entry);
	} else if (compressed != NULL && removed > 0) {
		rt_buf_add_f(t->buf, "compressed %zu entr%s into summary", removed, ies(removed));
		add_id(t, compressed->entry);
	} else if (take != NULL) {
		rt_buf_add_c(t->buf, "started take ");
		add_quoted(t, take->name);
		if (added > 0)
			add_entries(t, " and added", "entry");
	} else if (added + removed > 0) {
		add_entries(t, removed == 0 ? "added" : added == 0 ? "deleted" : "changed", "entry");
	} else if (renamed != NULL && renamed->disc == 0 && renamed->sub != 0 && settings == 0) {
		add_renamed(t, "discussion"); /* and takes with the same name */
	} else if (settings > 1 && others == 0) {
		rt_buf_add_f(t->buf, "changed %zu settings", settings);
	} else if (settings == 1 && others == 0) {
		add_setting(t);
	} else {
		rt_buf_add_c(t->buf, "several changes in one step");
	}
}

/* The words of the table, and the name of the created object. */
static void
add_other(text *t, rt_str done)
{
	const rt_effect *created = find_effect(t, RT_EFFECT_NEW, NULL);

	rt_buf_add_str(t->buf, done);
	if (created != NULL) {
		rt_buf_add_byte(t->buf, ' ');
		add_quoted(t, created->name);
	}
}

static void
add_op(text *t, const rt_op *op)
{
	switch (op->text) {
	case RT_OP_TEXT_DONE: add_other(t, rt_str_of(op->done)); break;
	case RT_OP_TEXT_PLAIN: rt_buf_add_c(t->buf, op->done); break;
	case RT_OP_TEXT_ENTRIES: add_entries(t, op->verb, "entry"); break;
	case RT_OP_TEXT_REPLY: add_reply(t); break;
	case RT_OP_TEXT_ROLE: add_role(t); break;
	case RT_OP_TEXT_MUTE: add_mute(t); break;
	case RT_OP_TEXT_SWITCHED: add_switched(t, op->noun); break;
	case RT_OP_TEXT_RENAMED: add_renamed(t, op->noun); break;
	case RT_OP_TEXT_DELETED: add_deleted(t, op->noun); break;
	case RT_OP_TEXT_HEAD: add_head(t); break;
	case RT_OP_TEXT_LABEL: add_label(t); break;
	case RT_OP_TEXT_SETTING:
		if (t->step->effect_count > 1)
			add_batch(t);
		else
			add_setting(t);
		break;
	}
}

uint64_t
rt_history_text_reverted(rt_scope *scope, const rt_record *step)
{
	uint64_t number = 0;

	if (!rt_str_is(step->op, "revert") || step->extra.size == 0)
		return 0;
	(void)rt_json_u64(rt_json_get(rt_json_parse(scope, step->extra), "reverts"), &number);
	return number;
}

rt_str
rt_history_text(rt_scope *scope, const rt_project *project, const rt_record *step, bool plain)
{
	const rt_op *op = rt_op_named(step->op);
	text t = {scope, project, step, plain, rt_scope_buf(scope)};
	uint64_t reverted = rt_history_text_reverted(scope, step);

	if (reverted != 0)
		rt_buf_add_f(t.buf, "reverted step %llu", (unsigned long long)reverted);
	else if (op != NULL)
		add_op(&t, op);
	else if (rt_str_is(step->op, RT_STEP_IMPORT))
		add_import(&t);
	else if (rt_str_is(step->op, RT_STEP_BATCH))
		add_batch(&t);
	else
		add_other(&t, step->op);
	return rt_scope_str(scope, t.buf);
}

/* ---- the subject of a step ---- */

uint32_t
rt_history_text_entry(const rt_record *step, uint64_t *out_body)
{
	*out_body = 0;
	for (size_t i = 0; i < step->effect_count; i++) {
		const rt_effect *e = &step->effects[i];

		if (e->kind == RT_EFFECT_SPLICE && entry_count(e) > 0) {
			*out_body = first_slot(e)->body;
			return first_slot(e)->entry;
		}
	}
	for (size_t i = 0; i < step->effect_count; i++) {
		const rt_effect *e = &step->effects[i];

		if (e->kind == RT_EFFECT_SET && e->entry != 0)
			return e->entry;
		if (e->kind == RT_EFFECT_SET && rt_str_is(e->key, "head"))
			return (uint32_t)number_of(e->after);
	}
	return 0;
}

rt_str
rt_history_text_setting(const rt_record *step)
{
	return step->effect_count == 1 ? setting_of(&step->effects[0]) : (rt_str){0};
}

uint32_t
rt_history_text_take(const rt_record *step, uint32_t disc)
{
	for (size_t i = 0; i < step->effect_count; i++)
		if (step->effects[i].disc == disc && step->effects[i].sub != 0)
			return step->effects[i].sub;
	return 0;
}
