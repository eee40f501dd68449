/* SPDX-License-Identifier: MIT
 *
 * Which later step changed the same place: the reason for which a step cannot be reverted. */
#include "log/revert_impl.h"

#include <stdio.h>

static const rt_effect_slot *
slot_of(const rt_effect_slot *slots, size_t count, uint32_t entry)
{
	size_t i;

	for (i = 0; i < count; i++)
		if (slots[i].slot.entry == entry)
			return &slots[i];
	return NULL;
}

static bool
touches_entry(const rt_effect *e, uint32_t entry, rt_revert_part part)
{
	const rt_effect_slot *was = slot_of(e->removed, e->removed_count, entry);
	const rt_effect_slot *is = slot_of(e->added, e->added_count, entry);

	if (was == NULL || is == NULL)
		return was != is;
	return part == RT_REVERT_ANY || (part == RT_REVERT_TEXT && was->slot.body != is->slot.body) ||
	       (part == RT_REVERT_ROLE && !rt_str_eq(was->role, is->role)) ||
	       (part == RT_REVERT_MUTE && ((was->slot.flags ^ is->slot.flags) & RT_SLOT_MUTED) != 0);
}

static bool
touches(const rt_effect *e, rt_revert_place place)
{
	if (e->disc != place.disc)
		return false;
	if (place.key.ptr != NULL)
		return e->kind == RT_EFFECT_SET && e->sub == place.sub &&
		       e->entry == place.entry && rt_str_eq(e->key, place.key);
	if (place.sub == 0)
		return true;
	if (e->sub != place.sub)
		return false;
	return place.entry == 0 || (e->kind == RT_EFFECT_SPLICE &&
				    touches_entry(e, place.entry, place.part));
}

/* Clears the flag of the prompt, as a notice does, and a prompt that the model gave. */
static bool
clears_flag(const rt_effect *e, rt_revert_place place)
{
	return e->kind == RT_EFFECT_SET && e->disc == place.disc &&
	       rt_str_is(e->key, "prompt_edited") && e->after.ptr == NULL;
}

/* The newest step in effect after the step, or between the rows of its group, whose effects match;
 * 0: none. *out_done: its operation in words. *out_in_effect: the step itself is. */
static uint64_t
later_step(rt_reverting *r, bool (*match)(const rt_effect *, rt_revert_place),
	   rt_revert_place place, const char **out_done, bool *out_in_effect)
{
	rt_scope *s = r->c->scope, scratch;
	rt_history h = {0};
	uint64_t at, found = 0;

	*out_in_effect = false;
	if (!rt_change_ok(r->c))
		return 0;
	rt_scope_init(&scratch, s->alloc);
	RT_TRY(&scratch, rt_history_get(r->c->base, place.disc, &h, &scratch.error));
	for (at = h.current; rt_ok(&scratch) && found == 0 && at != 0 && at >= r->first;) {
		rt_record step = {0};
		const rt_op *op;
		bool is_its_own;

		rt_scope_reset(&scratch);
		RT_TRY(&scratch, rt_engine_record(r->c->engine, at, rt_scope_arena(&scratch),
						  &step, NULL, &scratch.error));
		is_its_own = at == r->first || (r->first < r->seq && step.group == r->first);
		*out_in_effect = *out_in_effect || is_its_own;
		for (size_t i = 0; i < step.effect_count && found == 0 && !is_its_own; i++)
			if (match(&step.effects[i], place))
				found = at;
		op = rt_op_named(step.op);
		*out_done = op != NULL ? op->done : "changed several things";
		if (rt_ok(&scratch) && !rt_history_parent(&step, place.disc, &at))
			RT_TRY(&scratch, rt_history_not_touched(at, place.disc, &scratch.error));
	}
	*out_in_effect = *out_in_effect || found != 0;
	return rt_scope_join(s, &scratch) == RT_OK ? found : 0;
}

void
rt_revert_refuse(rt_reverting *r, rt_revert_place place, const char *why)
{
	unsigned long long seq = r->seq;
	const char *done = "";
	bool in_effect = true;
	uint64_t later = 0;

	if (place.disc != RT_REVERT_NOWHERE)
		later = later_step(r, touches, place, &done, &in_effect);
	if (later != 0)
		rt_scope_fail(r->c->scope, RT_REFUSED,
			      "cannot revert step %llu: %s (step %llu %s); first revert that step: retake revert %llu",
			      seq, why, (unsigned long long)later, done, (unsigned long long)later);
	else if (!in_effect)
		rt_scope_fail(r->c->scope, RT_REFUSED,
			      "cannot revert step %llu, which is not in effect: it was undone, or is "
			      "on another branch of the history", seq);
	rt_scope_fail(r->c->scope, RT_REFUSED, "cannot revert step %llu: %s", seq, why);
}

bool
rt_revert_was_told(rt_reverting *r, uint32_t disc)
{
	rt_revert_place place = {.disc = disc};
	const char *done;
	bool in_effect;
	size_t i;

	for (i = 0; i < r->c->effect_count; i++)
		if (clears_flag(&r->c->effects[i], place))
			return true;
	return later_step(r, clears_flag, place, &done, &in_effect) != 0 || !in_effect;
}
