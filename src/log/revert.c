/* SPDX-License-Identifier: MIT
 *
 * Revert: a new step that restores everything that one old step changed (C17). The effects of the
 * old step are reverted one by one, the last first. Each place must still be in the state that the
 * step left; if one was changed since, the whole revert is refused, and the message names the later
 * step.
 *
 * A take or discussion that the step made is removed as a whole, if its content is the same as
 * right after the step; the effects inside it need not be reverted one by one.
 *
 * The active take and discussion, the head and the recorded commit of a take are not the subject of
 * a step, unless it changes nothing else. They are restored if they are still in the state that the
 * step left (the head only together with the active take), and stay otherwise. */
#include "log/revert_impl.h"

#include <stdio.h>

#include "core/setting.h"

/* ---- values ---- */

const rt_project *
rt_revert_past(rt_reverting *r, size_t count)
{
	rt_scope *s = r->c->scope;

	if (r->after == NULL)
		RT_TRY(s, rt_engine_value_back(r->c->engine, r->c->base, r->seq, &r->after,
					       &s->error));
	if (!rt_change_ok(r->c))
		return NULL;
	if (r->past == NULL) {
		r->past = rt_object_ref(r->after);
		r->past_count = r->step.effect_count;
	}
	while (rt_change_ok(r->c) && r->past_count > count) {
		const rt_project *next;

		if (RT_TRY(s, rt_effect_apply(r->past, &r->step.effects[r->past_count - 1], true,
					      &next, &s->error)) != RT_OK)
			return NULL;
		rt_object_unref(r->past);
		r->past = next;
		r->past_count--;
	}
	return rt_change_ok(r->c) ? r->past : NULL;
}

const rt_disc *
rt_revert_disc(rt_reverting *r, const rt_project *project, uint32_t number)
{
	const rt_disc *disc = NULL;

	RT_TRY(r->c->scope, rt_project_disc(project, number, &disc, &r->c->scope->error));
	return rt_change_ok(r->c) ? disc : NULL;
}

/* The value right after the step. */
static const rt_project *
value_after(rt_reverting *r)
{
	return rt_revert_past(r, r->step.effect_count) != NULL ? r->after : NULL;
}

/* ---- takes and discussions that the step made ---- */

/* Does it have the same content as right after the step? */
static bool
is_as_made(rt_reverting *r, uint32_t disc, uint32_t sub)
{
	const rt_project *after = value_after(r);
	const rt_disc *was = after != NULL ? rt_revert_disc(r, after, disc != 0 ? disc : sub) : NULL;
	const rt_disc *is = was != NULL ? rt_revert_disc(r, r->c->now, disc != 0 ? disc : sub) : NULL;

	if (is == NULL)
		return false;
	return disc == 0 ? rt_change_same_content(r->c, was, is)
			 : rt_change_same_slots(r->c, rt_disc_take(was, sub)->slots,
						rt_disc_take(is, sub)->slots);
}

static bool
is_present(rt_reverting *r, uint32_t disc, uint32_t sub)
{
	return rt_change_field(r->c, disc, sub, RT_STR("present"), 0).ptr != NULL;
}

/* Removes it, unless it has other content by now. */
static void
take_out(rt_reverting *r, uint32_t disc, uint32_t sub)
{
	rt_revert_place whole = {.disc = disc == 0 ? sub : disc, .sub = disc == 0 ? 0 : sub};
	rt_revert_place listed = {.disc = disc, .sub = sub, .key = RT_STR("present")};

	if (!is_present(r, disc, sub))
		rt_revert_refuse(r, listed, disc == 0 ? "the discussion has already been deleted"
						      : "the take has already been deleted");
	else if (!is_as_made(r, disc, sub))
		rt_revert_refuse(r, whole, disc == 0 ? "the discussion was changed later"
						     : "the take was changed later");
	rt_change_clear(r->c, disc, sub, "present");
}

/* A deleted one is restored under its name. */
static void
bring_back(rt_reverting *r, uint32_t disc, uint32_t sub)
{
	rt_revert_place place = {.disc = disc, .sub = sub, .key = RT_STR("present")};
	const rt_disc *in = disc != 0 ? rt_revert_disc(r, r->c->now, disc) : NULL;
	rt_str name = {NULL, 0};
	bool is_taken = false;
	char why[300];

	if (!rt_change_ok(r->c))
		return;
	if (is_present(r, disc, sub))
		rt_revert_refuse(r, place, disc == 0 ? "the discussion has already been restored"
						     : "the take has already been restored");
	if (in != NULL && rt_disc_take(in, sub) != NULL)
		name = rt_text_str(rt_disc_take(in, sub)->name);
	else if (in == NULL)
		name = rt_cell_name(rt_project_cell(r->c->now, sub));
	is_taken = in != NULL ? rt_disc_take_named(in, name) != 0
			      : rt_project_disc_named(r->c->now, name) != 0;
	snprintf(why, sizeof(why), "there is now another %s \"%.*s\"; rename that one first",
		 disc == 0 ? "discussion" : "take", name.size < 200 ? (int)name.size : 200, name.ptr);
	if (is_taken)
		rt_revert_refuse(r, (rt_revert_place){.disc = RT_REVERT_NOWHERE}, why);
	rt_change_set(r->c, disc, sub, RT_STR("present"), 0, RT_STR("true"));
}

static void
rename_back(rt_reverting *r, const rt_effect *e)
{
	rt_revert_place place = {.disc = e->disc, .sub = e->sub, .key = e->key};
	rt_str now = rt_change_field(r->c, e->disc, e->sub, e->key, 0);
	rt_str name = rt_json_str(rt_json_parse(r->c->scope, e->before));
	const rt_disc *in = e->disc != 0 ? rt_revert_disc(r, r->c->now, e->disc) : NULL;
	char why[300];

	if (!rt_change_ok(r->c))
		return;
	snprintf(why, sizeof(why), "there is now another %s \"%.*s\"; rename that one first",
		 e->disc == 0 ? "discussion" : "take", name.size < 200 ? (int)name.size : 200,
		 name.ptr);
	if (!rt_str_eq(now, e->after))
		rt_revert_refuse(r, place, "it was renamed again later");
	else if (in != NULL ? rt_disc_take_named(in, name) != 0
			    : rt_project_disc_named(r->c->now, name) != 0)
		rt_revert_refuse(r, (rt_revert_place){.disc = RT_REVERT_NOWHERE}, why);
	rt_change_set(r->c, e->disc, e->sub, e->key, 0, e->before);
}

/* Marks the effects that made something that is removed as a whole. A take that a reply or an entry
 * began (C9) may have further entries by now; then only the entry is removed. */
static void
mark_whole(rt_reverting *r, bool adds)
{
	for (size_t i = 0; i < r->step.effect_count && rt_change_ok(r->c); i++) {
		const rt_effect *e = &r->step.effects[i];

		if (e->kind != RT_EFFECT_NEW)
			continue;
		r->whole[i] = e->disc == 0 || !adds ||
			      (is_present(r, e->disc, e->sub) && is_as_made(r, e->disc, e->sub));
		if (!r->whole[i] && is_present(r, e->disc, e->sub))
			rt_buf_add_c(
				r->note,
				"The take that it started has since been extended and is kept. ");
	}
}

/* Is the effect inside something that is removed as a whole? */
static bool
goes_along(const rt_reverting *r, const rt_effect *e)
{
	for (size_t i = 0; i < r->step.effect_count; i++) {
		const rt_effect *made = &r->step.effects[i];

		if (r->whole[i] && made != e && (made->disc == 0 ? e->disc == made->sub ||
				     (e->disc == 0 && e->sub == made->sub)
			     : e->disc == made->disc && e->sub == made->sub))
			return true;
	}
	return false;
}

/* ---- the active take and discussion, and the head ---- */

static bool
is_position(const rt_effect *e)
{
	return e->kind == RT_EFFECT_SET && e->sub == 0 &&
	       (rt_str_is(e->key, "active") || (e->disc != 0 && rt_str_is(e->key, "head")));
}

/* Fields that the revert itself records again (the commit of a take), and the lists of files of
 * takes that are not active, which stay. */
static bool
is_of_takes(const rt_effect *e)
{
	return e->kind == RT_EFFECT_SET && e->disc != 0 &&
	       (rt_str_is(e->key, "git_commit") || rt_str_is(e->key, "take_files"));
}

/* The lists of files change with the active take. */
static bool
is_list_of_files(const rt_effect *e)
{
	return e->kind == RT_EFFECT_SET && e->disc != 0 && e->sub == 0 && rt_is_file_list(e->key);
}

static uint32_t
number_in(rt_str json)
{
	uint64_t number;

	return rt_str_u64(json, UINT32_MAX, &number) ? (uint32_t)number : 0;
}

/* The value of a position before the step and after it; false: the step did not set it. */
static bool
position_of(const rt_reverting *r, uint32_t disc, const char *key, rt_str *out_was, rt_str *out_is)
{
	bool found = false;

	for (size_t i = 0; i < r->step.effect_count; i++) {
		const rt_effect *e = &r->step.effects[i];

		if (!is_position(e) || e->disc != disc || !rt_str_is(e->key, key))
			continue;
		if (!found)
			*out_was = e->before;
		*out_is = e->after;
		found = true;
	}
	return found;
}

static bool
can_be_active(rt_reverting *r, uint32_t disc, uint32_t number)
{
	const rt_disc *in = disc != 0 ? rt_revert_disc(r, r->c->now, disc) : NULL;
	const rt_cell *cell = disc == 0 ? rt_project_cell(r->c->now, number) : NULL;

	if (!rt_change_ok(r->c) || (in != NULL && rt_disc_take(in, number) == NULL))
		return false;
	return in != NULL ? rt_disc_take(in, number)->present : cell != NULL && cell->present;
}

/* Restores the active take or (0) discussion if it is the one that the step left. If it no longer
 * exists, the first one by name becomes active (C32). */
static void
revert_active(rt_reverting *r, uint32_t disc, bool strict)
{
	rt_change *c = r->c;
	rt_str key = RT_STR("active"), was, is, now = rt_change_field(c, disc, 0, key, 0);
	bool is_left = position_of(r, disc, "active", &was, &is) && rt_str_eq(now, is);
	uint32_t first;

	if (strict && position_of(r, disc, "active", &was, &is)) {
		if (!is_left)
			rt_revert_refuse(r, (rt_revert_place){.disc = disc, .key = key},
					 disc == 0 ? "another discussion became active later"
						   : "another take became active later");
		else if (!can_be_active(r, disc, number_in(was)))
			rt_revert_refuse(r, (rt_revert_place){.disc = disc, .sub = number_in(was),
							      .key = RT_STR("present")},
					 disc == 0 ? "that discussion was deleted"
						   : "that take was deleted");
	}
	if (is_left && can_be_active(r, disc, number_in(was)))
		rt_change_set(c, disc, 0, key, 0, was);
	now = rt_change_field(c, disc, 0, key, 0);
	if (!rt_change_ok(c) || can_be_active(r, disc, number_in(now)))
		return;
	if (disc == 0)
		first = rt_project_first(c->now, 0);
	else
		first = rt_disc_first(rt_revert_disc(r, c->now, disc), 0);
	if (first == 0)
		rt_scope_fail(c->scope, RT_REFUSED, "cannot revert step %llu: no %s would be left",
			      (unsigned long long)r->seq, disc == 0 ? "discussion" : "take");
	rt_change_set_number(c, disc, 0, "active", first);
	if (disc != 0)
		rt_change_clear(c, disc, 0, "head");
}

/* Restores the head with the active take, if both are as the step left them; by itself only if the
 * step changed nothing else. before: the active take before the revert. */
static void
revert_head(rt_reverting *r, uint32_t disc, uint32_t before, bool strict)
{
	rt_change *c = r->c;
	rt_str key = RT_STR("head"), was = {NULL, 0}, is = {NULL, 0};
	rt_str now = rt_change_field(c, disc, 0, key, 0);
	const rt_project *after;
	const rt_disc *then, *d;
	bool is_left, found = true;
	size_t at;

	if (!position_of(r, disc, "head", &was, &is))
		return;
	after = value_after(r);
	then = after != NULL ? rt_revert_disc(r, after, disc) : NULL;
	d = rt_revert_disc(r, c->now, disc);
	if (then == NULL || d == NULL || (!strict && d->active == before))
		return;
	is_left = then->active == before && (now.ptr == NULL) == (is.ptr == NULL) &&
		  rt_str_eq(now, is);
	if (was.ptr != NULL && number_in(was) != RT_HEAD_START)
		RT_TRY(c->scope, rt_take_find(c->now, rt_disc_active(d), number_in(was), &at, NULL,
					      &found, &c->scope->error));
	if (strict && (!is_left || !found))
		rt_revert_refuse(r, (rt_revert_place){.disc = disc, .key = key},
				 "the head was moved again later");
	if (is_left && found)
		rt_change_set(c, disc, 0, key, 0, was);
}

/* For every document that the step touched. */
static void
revert_positions(rt_reverting *r, bool strict)
{
	for (size_t i = 0; i < r->step.effect_count && rt_change_ok(r->c); i++) {
		const rt_effect *e = &r->step.effects[i];
		const rt_disc *disc;
		uint32_t active;
		bool seen = false;

		for (size_t k = 0; k < i && !seen; k++)
			seen = r->step.effects[k].disc == e->disc;
		if (seen || (e->disc != 0 && goes_along(r, &(rt_effect){.disc = e->disc})))
			continue;
		disc = e->disc != 0 ? rt_revert_disc(r, r->c->now, e->disc) : NULL;
		active = disc != NULL ? disc->active : 0;
		revert_active(r, e->disc, strict);
		if (disc != NULL && rt_change_ok(r->c))
			revert_head(r, e->disc, active, strict);
	}
}

/* ---- the step ---- */

/* The discussion that a step changed, if it changed neither the one in view nor the project; 0: it
 * changed one of these. */
static uint32_t
changed_elsewhere(const rt_change *c, const rt_record *step)
{
	uint32_t elsewhere = 0;
	size_t i;

	for (i = 0; i < step->effect_count; i++) {
		if (step->effects[i].disc == 0 || step->effects[i].disc == c->place.disc)
			return 0;
		elsewhere = step->effects[i].disc;
	}
	return elsewhere;
}

/* The effect of a reverted step may not be in view: say where it is. */
static void
note_elsewhere(rt_reverting *r)
{
	rt_change *c = r->c;
	uint32_t elsewhere = changed_elsewhere(c, &r->step);

	if (elsewhere != 0 && rt_change_ok(c)) {
		rt_buf_add_c(r->note, "This changed discussion \"");
		rt_buf_add_str(r->note, rt_cell_name(rt_project_cell(c->now, elsewhere)));
		rt_buf_add_c(r->note, "\".");
	}
	if (c->result->note == NULL && rt_scope_str(c->scope, r->note).size > 0) {
		rt_buf *note = rt_scope_buf(c->scope);

		rt_buf_add_str(note, rt_str_trim(rt_scope_str(c->scope, r->note)));
		rt_result_set_note(c->result, c->scope, note);
	}
}

/* The result names the first entry that the step concerned. */
static void
name_entry(rt_change *c, const rt_record *step)
{
	for (size_t i = 0; i < step->effect_count; i++) {
		const rt_effect *e = &step->effects[i];
		uint32_t entry = e->entry;

		if (e->kind == RT_EFFECT_SPLICE)
			entry = e->added_count > 0 ? e->added[0].slot.entry
						   : e->removed[0].slot.entry;
		if (entry != 0) {
			RT_TRY(c->scope, rt_entry_id(c->now, entry, c->result->entry,
						     &c->scope->error));
			return;
		}
	}
}

static void
revert_effect(rt_reverting *r, size_t index, bool adds)
{
	const rt_effect *e = &r->step.effects[index];

	if (goes_along(r, e) || is_position(e) || is_of_takes(e))
		return;
	if (e->kind == RT_EFFECT_SPLICE)
		rt_revert_splice(r, index);
	else if (e->kind == RT_EFFECT_NEW && r->whole[index])
		take_out(r, e->disc, e->sub);
	else if (e->kind == RT_EFFECT_SET && e->sub != 0 && rt_str_is(e->key, "name"))
		rename_back(r, e);
	else if (e->kind == RT_EFFECT_SET && e->sub != 0 && rt_str_is(e->key, "present"))
		e->before.ptr != NULL ? bring_back(r, e->disc, e->sub) : take_out(r, e->disc, e->sub);
	else if (e->kind == RT_EFFECT_SET)
		rt_revert_field(r, index, e->sub != 0 ||
				(adds && rt_str_starts(e->key, RT_STR("prompt"))));
}

static void
read_step(rt_reverting *r)
{
	rt_change *c = r->c;
	unsigned long long seq = r->seq;

	if (seq == 0 || seq > c->now->seq)
		rt_scope_fail_advise(c->scope, RT_NOT_FOUND, "see: retake history", "no step %llu",
				     seq);
	RT_TRY(c->scope, rt_engine_record(c->engine, r->seq, rt_scope_arena(c->scope), &r->step,
					  NULL, &c->scope->error));
	if (rt_change_ok(c) && (r->step.kind != RT_RECORD_STEP || r->step.parent_count == 0))
		rt_scope_fail_advise(c->scope, RT_NOT_FOUND, "see: retake history",
				     "%llu is not a step", seq);
	if (rt_change_ok(c))
		rt_revert_read_group(r);
}

uint64_t
rt_history_revert(rt_change *c, uint64_t seq)
{
	rt_reverting r = {.c = c, .seq = seq, .first = seq, .note = rt_scope_buf(c->scope)};
	bool adds = false, strict = true;

	read_step(&r);
	r.whole = rt_scope_array(c->scope, r.step.effect_count + 1, sizeof(*r.whole));
	for (size_t i = 0; i < r.step.effect_count; i++) {
		const rt_effect *e = &r.step.effects[i];

		strict = strict && (is_position(e) || is_of_takes(e) || is_list_of_files(e));
		adds = adds || (e->kind == RT_EFFECT_SPLICE && e->removed_count == 0);
	}
	mark_whole(&r, adds);
	for (size_t i = r.step.effect_count; rt_change_ok(c) && i > 0; i--)
		revert_effect(&r, i - 1, adds);
	revert_positions(&r, strict);
	note_elsewhere(&r);
	name_entry(c, &r.step);
	rt_object_unref(r.past);
	rt_object_unref(r.after);
	return r.seq;
}
