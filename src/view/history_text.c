/* SPDX-License-Identifier: MIT
 *
 * A step in words: the operation's own ("deleted") and what it was done to, read off its
 * effects. An operation without words of its own here gets those of the table. */
#include "view/history_text.h"

#include "codec/json.h"
#include "core/id.h"
#include "core/op.h"
#include "core/project.h"
#include "log/engine.h"

enum { VALUE_MAX = 48 }; /* bytes of a setting's value that are shown */

typedef struct saying {
	const rt_project *project;
	const rt_record *step;
	bool plain; /* without ids */
	rt_buf *buf;
	rt_error *err;
	rt_status status;
} saying;

static void
say(saying *s, const char *text)
{
	rt_buf_add_c(s->buf, text);
}

static void
say_entry(saying *s, uint64_t entry)
{
	char id[RT_ID_MAX + 1];

	if (s->plain || entry == 0 || entry >= s->project->next_entry || s->status != RT_OK)
		return;
	s->status = rt_entry_id(s->project, (uint32_t)entry, id, s->err);
	if (s->status == RT_OK)
		say(s, id);
}

/* Words with an entry behind them. */
static void
say_of(saying *s, const char *words, uint64_t entry)
{
	say(s, words);
	if (!s->plain)
		say(s, " ");
	say_entry(s, entry);
}

static void
say_quoted(saying *s, rt_str name)
{
	rt_buf_add_byte(s->buf, '"');
	rt_buf_add_str(s->buf, name);
	rt_buf_add_byte(s->buf, '"');
}

/* A value as it is written in JSON, not too much of it. */
static void
say_value(saying *s, rt_str json)
{
	if (json.size > VALUE_MAX) {
		json.size = VALUE_MAX;
		rt_buf_add(s->buf, json.ptr, rt_utf8_valid_size(json));
		say(s, "…");
		return;
	}
	rt_buf_add_str(s->buf, json);
}

static const rt_effect *
effect_of(const saying *s, rt_effect_kind kind)
{
	size_t i;

	for (i = 0; i < s->step->effect_count; i++)
		if (s->step->effects[i].kind == kind)
			return &s->step->effects[i];
	return NULL;
}

static const rt_effect *
set_of(const saying *s, const char *key)
{
	size_t i;

	for (i = 0; i < s->step->effect_count; i++)
		if (s->step->effects[i].kind == RT_EFFECT_SET &&
		    rt_str_is(s->step->effects[i].key, key))
			return &s->step->effects[i];
	return NULL;
}

/* ---- entries ---- */

static size_t
entries_of(const rt_effect *e)
{
	return e->added_count > e->removed_count ? e->added_count : e->removed_count;
}

static const rt_effect_slot *
slot_of(const rt_effect *e)
{
	return e->added_count > 0 ? &e->added[0] : &e->removed[0];
}

static void
say_entries(saying *s, const char *verb, const char *noun)
{
	const rt_effect *first = NULL;
	size_t i, count = 0;

	for (i = 0; i < s->step->effect_count; i++) {
		const rt_effect *e = &s->step->effects[i];

		if (e->kind != RT_EFFECT_SPLICE || entries_of(e) == 0)
			continue;
		first = first == NULL ? e : first;
		/* the same entry again, in another take, is not one more */
		if (e == first || slot_of(e)->slot.entry != slot_of(first)->slot.entry)
			count += entries_of(e);
	}
	if (first == NULL) {
		rt_buf_add_f(s->buf, "%s %s", verb, noun);
		return;
	}
	if (count == 1)
		rt_buf_add_f(s->buf, "%s %s", verb, noun);
	else
		rt_buf_add_f(s->buf, "%s %zu entries", verb, count);
	say_of(s, count > 1 && !s->plain ? ", first" : "", slot_of(first)->slot.entry);
}

/* One that takes the place of itself goes on. */
static void
say_reply(saying *s)
{
	const rt_effect *e = effect_of(s, RT_EFFECT_SPLICE);
	bool goes_on = e != NULL && e->removed_count > 0 && e->added_count > 0;

	say_entries(s, goes_on ? "continued" : "got", "reply");
}

static void
say_mute(saying *s)
{
	const rt_effect *e = effect_of(s, RT_EFFECT_SPLICE);
	bool muted = e != NULL && e->added_count > 0 && 
		     (e->added[0].slot.flags & RT_SLOT_MUTED) != 0;

	say_entries(s, muted ? "muted" : "unmuted", "entry");
}

static void
say_role(saying *s)
{
	const rt_effect *e = effect_of(s, RT_EFFECT_SPLICE);
	say_entries(s, "changed the role of", "entry");
	if (e != NULL && e->added_count > 0) {
		say(s, " to ");
		rt_buf_add_str(s->buf, e->added[0].role);
	}
}

/* ---- names and fields ---- */

static void
say_label(saying *s)
{
	const rt_effect *e = set_of(s, "label");

	if (e == NULL) {
		say(s, "set a label");
	} else if (e->after.ptr != NULL) {
		say_of(s, "labelled entry", e->entry);
		say(s, " ");
		say_value(s, e->after);
	} else {
		say(s, "took label ");
		say_value(s, e->before);
		say_of(s, " from entry", e->entry);
	}
}

/* The entry that the head went to; 0: none. */
static uint64_t
head_entry(const rt_effect *e)
{
	uint64_t entry = 0;
	size_t i;

	for (i = 0; i < e->after.size && e->after.ptr[i] >= '0' && e->after.ptr[i] <= '9'; i++)
		entry = entry * 10 + (uint64_t)(e->after.ptr[i] - '0');
	return i == e->after.size ? entry : 0;
}

static void
say_head(saying *s)
{
	const rt_effect *e = set_of(s, "head");
	uint64_t entry = 0;

	say(s, s->plain ? "went on from" : "moved the head");
	if (e == NULL || e->after.ptr == NULL) {
		say(s, s->plain ? " another entry" : "");
		return;
	}
	entry = head_entry(e);
	say(s, s->plain ? "" : " to");
	if (entry != 0) {
		say_of(s, " entry", entry);
	} else {
		say(s, " before the first entry");
	}
}

static rt_str
setting_of(const rt_effect *e)
{
	static const rt_str before = RT_STR_INIT("setting.");

	if (e == NULL || e->kind != RT_EFFECT_SET || !rt_str_starts(e->key, before))
		return (rt_str){0};
	return rt_str_at(e->key.ptr + before.size, e->key.size - before.size);
}

static void
say_setting(saying *s)
{
	const rt_effect *e = effect_of(s, RT_EFFECT_SET);
	rt_str name = setting_of(e);

	if (name.size == 0) {
		say(s, "changed a setting");
		return;
	}
	say(s, e->after.ptr != NULL ? "set " : "put ");
	rt_buf_add(s->buf, name.ptr, name.size);
	say(s, e->after.ptr != NULL ? " to " : " back to its default");
	if (e->after.ptr != NULL)
		say_value(s, e->after);
}

/* The name of a take, or (disc 0) of a discussion. */
static void
say_name(saying *s, uint32_t disc, uint32_t sub)
{
	const rt_disc *d;
	const rt_take *take;

	if (disc == 0) {
		if (rt_project_cell(s->project, sub) != NULL)
			say_quoted(s, rt_cell_name(rt_project_cell(s->project, sub)));
		return;
	}
	if (rt_project_disc(s->project, disc, &d, NULL) != RT_OK)
		return;
	take = rt_disc_take(d, sub);
	if (take != NULL)
		say_quoted(s, rt_text_str(take->name));
}

static uint32_t
number_of(rt_str json)
{
	uint32_t number = 0;
	size_t i;

	for (i = 0; i < json.size && i < 9 && json.ptr[i] >= '0' && json.ptr[i] <= '9'; i++)
		number = number * 10 + (uint32_t)(json.ptr[i] - '0');
	return number;
}

static void
say_switch(saying *s, const char *noun)
{
	const rt_effect *e = set_of(s, "active");

	rt_buf_add_f(s->buf, "switched to %s ", noun);
	if (e != NULL)
		say_name(s, e->disc, number_of(e->after));
}

static void
say_rename(saying *s, const char *noun)
{
	const rt_effect *e = set_of(s, "name");

	rt_buf_add_f(s->buf, "renamed %s ", noun);
	if (e == NULL)
		return;
	say_value(s, e->before);
	say(s, " to ");
	say_value(s, e->after);
}

static void
say_deleted(saying *s, const char *noun)
{
	size_t i;

	rt_buf_add_f(s->buf, "deleted %s ", noun);
	for (i = 0; i < s->step->effect_count; i++) {
		const rt_effect *e = &s->step->effects[i];

		if (e->kind == RT_EFFECT_SET && e->sub != 0) {
			say_name(s, e->disc, e->sub);
			return;
		}
	}
}

/* Whether an effect before `end` concerns the discussion. */
static bool
has_disc_before(const saying *s, size_t end, uint32_t disc)
{
	size_t i;

	for (i = 0; i < end; i++)
		if (s->step->effects[i].disc == disc)
			return true;
	return false;
}

/* How many discussions an import added or extended; *out_disc is the last of them. Every one
 * has effects of its own, which a number that was only skipped has not. One that was hidden
 * again was there already. */
static size_t
imported_discs(const saying *s, uint32_t *out_disc)
{
	size_t i, count = 0;
	uint32_t last = 0;

	for (i = 0; i < s->step->effect_count; i++) {
		const rt_effect *e = &s->step->effects[i];

		if (e->disc != 0 && e->disc != last && !has_disc_before(s, i, e->disc)) {
			last = e->disc;
			count++;
		} else if (e->kind == RT_EFFECT_SET && e->disc == 0 && e->sub != 0 &&
			   e->sub == last && rt_str_is(e->key, "present")) {
			count += e->after.ptr != NULL ? 1 : SIZE_MAX;
		}
	}
	*out_disc = last;
	return count;
}

/* The name that an import gave to a discussion; without one it was there before. */
static void
say_imported(saying *s, uint32_t disc)
{
	size_t i;

	for (i = s->step->effect_count; i > 0; i--) {
		const rt_effect *e = &s->step->effects[i - 1];

		if (e->disc != 0 || e->sub != disc)
			continue;
		if (e->kind == RT_EFFECT_NEW) {
			say(s, " as ");
			say_quoted(s, e->name);
			return;
		}
		if (e->kind == RT_EFFECT_SET && rt_str_is(e->key, "name")) {
			say(s, " as ");
			say_value(s, e->after);
			return;
		}
	}
	say(s, " into ");
	say_name(s, 0, disc);
}

static void
say_import(saying *s)
{
	size_t i, count = 0, discs;
	uint32_t disc;

	if (s->step->group != 0) { /* what the other rows added is not known here */
		say(s, "imported many entries, since step ");
		rt_buf_add_u64(s->buf, s->step->group);
		return;
	}
	if (s->step->disc == 0) {
		say(s, "imported settings");
		return;
	}
	for (i = 0; i < s->step->effect_count; i++)
		if (s->step->effects[i].kind == RT_EFFECT_SPLICE)
			count += s->step->effects[i].added_count;
	discs = imported_discs(s, &disc);
	rt_buf_add_f(s->buf, "imported %zu entr%s", count, count == 1 ? "y" : "ies");
	if (discs > 1)
		rt_buf_add_f(s->buf, " in %zu discussions", discs);
	else if (discs == 1)
		say_imported(s, disc);
}

/* ---- several operations as one step ---- */

/* The first entry of this kind that came in, or NULL. */
static const rt_effect_slot *
added_kind(const saying *s, const char *kind)
{
	size_t i, j;

	for (i = 0; i < s->step->effect_count; i++)
		for (j = 0; j < s->step->effects[i].added_count; j++)
			if (rt_str_is(s->step->effects[i].added[j].kind, kind))
				return &s->step->effects[i].added[j];
	return NULL;
}

/* What several operations came to, by what they did: a new discussion outweighs a new take,
 * which outweighs entries, which outweigh settings. */
static void
say_batch(saying *s)
{
	const rt_effect_slot *left = added_kind(s, "branch_summary");
	const rt_effect_slot *compressed = added_kind(s, "compaction");
	const rt_effect *made = NULL, *take = NULL;
	size_t i, added = 0, removed = 0, takes = 0, settings = 0, others = 0;

	for (i = 0; i < s->step->effect_count; i++) {
		const rt_effect *e = &s->step->effects[i];

		takes += e->kind == RT_EFFECT_NEW && e->disc != 0;
		added += e->added_count;
		removed += e->removed_count;
		if (e->kind == RT_EFFECT_NEW && e->disc == 0)
			made = made == NULL ? e : made;
		else if (e->kind == RT_EFFECT_NEW)
			take = take == NULL ? e : take;
		else if (e->kind == RT_EFFECT_SET && rt_str_starts(e->key, RT_STR("setting.")))
			settings++;
		else if (e->kind == RT_EFFECT_SET)
			others++;
	}
	if (made != NULL) {
		say(s, "made discussion ");
		say_quoted(s, made->name);
		if (added > 0)
			rt_buf_add_f(s->buf, " with %zu entr%s", added, added == 1 ? "y" : "ies");
		if (added > 0 && takes > 0)
			rt_buf_add_f(s->buf, " in %zu takes", takes + 1); /* the first comes with it */
	} else if (left != NULL) {
		say_of(s, "left a branch with summary", left->slot.entry);
	} else if (compressed != NULL && removed > 0) {
		rt_buf_add_f(s->buf, "compressed %zu entr%s into", removed,
			     removed == 1 ? "y" : "ies");
		say_of(s, " summary", compressed->slot.entry);
	} else if (take != NULL) {
		say(s, "started take ");
		say_quoted(s, take->name);
		if (added > 0)
			say_entries(s, " and added", "entry");
	} else if (added > 0 && removed == 0) {
		say_entries(s, "added", "entry");
	} else if (added == 0 && removed > 0) {
		say_entries(s, "deleted", "entry");
	} else if (added > 0) {
		say_entries(s, "changed", "entry");
	} else if (settings > 1 && others == 0) {
		rt_buf_add_f(s->buf, "changed %zu settings", settings);
	} else if (settings == 1 && others == 0) {
		say_setting(s);
	} else {
		say(s, "several changes in one step");
	}
}

static void
say_other(saying *s, const rt_op *op)
{
	const rt_effect *made = effect_of(s, RT_EFFECT_NEW);

	if (op != NULL)
		say(s, op->done);
	else
		rt_buf_add_str(s->buf, s->step->op);
	if (made != NULL) {
		say(s, " ");
		say_quoted(s, made->name);
	}
}

rt_status
rt_history_text(const rt_project *project, const rt_record *step, bool plain, rt_buf *buf,
		rt_error *err)
{
	const rt_op *op = rt_op_named(step->op);
	saying s = {project, step, plain, buf, err, RT_OK};

	if (op == NULL) {
		if (rt_str_is(step->op, "import"))
			say_import(&s);
		else if (rt_str_is(step->op, "batch"))
			say_batch(&s);
		else
			say_other(&s, NULL);
	} else {
		switch (op->text) {
		case RT_OP_TEXT_DONE: say_other(&s, op); break;
		case RT_OP_TEXT_PLAIN: say(&s, op->done); break;
		case RT_OP_TEXT_ENTRIES: say_entries(&s, op->verb, "entry"); break;
		case RT_OP_TEXT_REPLY: say_reply(&s); break;
		case RT_OP_TEXT_ROLE: say_role(&s); break;
		case RT_OP_TEXT_MUTE: say_mute(&s); break;
		case RT_OP_TEXT_SWITCHED: say_switch(&s, op->noun); break;
		case RT_OP_TEXT_RENAMED: say_rename(&s, op->noun); break;
		case RT_OP_TEXT_DELETED: say_deleted(&s, op->noun); break;
		case RT_OP_TEXT_HEAD: say_head(&s); break;
		case RT_OP_TEXT_LABEL: say_label(&s); break;
		case RT_OP_TEXT_SETTING:
			if (step->effect_count > 1)
				say_batch(&s);
			else
				say_setting(&s);
			break;
		}
	}
	if (s.status == RT_OK && buf->status != RT_OK)
		s.status = rt_fail(err, buf->status, "out of memory");
	return s.status;
}

uint32_t
rt_history_text_entry(const rt_record *step, uint64_t *out_body)
{
	size_t i;

	*out_body = 0;
	for (i = 0; i < step->effect_count; i++) {
		const rt_effect *e = &step->effects[i];

		if (e->kind == RT_EFFECT_SPLICE && entries_of(e) > 0) {
			*out_body = slot_of(e)->slot.body;
			return slot_of(e)->slot.entry;
		}
	}
	for (i = 0; i < step->effect_count; i++) {
		const rt_effect *e = &step->effects[i];

		if (e->kind == RT_EFFECT_SET && e->entry != 0)
			return e->entry;
		if (e->kind == RT_EFFECT_SET && rt_str_is(e->key, "head"))
			return (uint32_t)head_entry(e);
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
	size_t i;

	for (i = 0; i < step->effect_count; i++)
		if (step->effects[i].disc == disc && step->effects[i].sub != 0)
			return step->effects[i].sub;
	return 0;
}
