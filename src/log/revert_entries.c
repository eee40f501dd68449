/* SPDX-License-Identifier: MIT
 *
 * Reverting splices, entry by entry: one that the step added is removed, one that it removed is
 * restored after its nearest surviving predecessor, one that it changed gets its old text, role or
 * mute flag, and one that it moved (removed and added) moves back in its present state. */
#include "log/revert_impl.h"

/* Flags that go with the body. */
enum { OF_BODY = RT_SLOT_RICH | RT_SLOT_EDITED };

static rt_revert_place
place_of(const rt_effect *e, uint32_t entry, rt_revert_part part)
{
	return (rt_revert_place){.disc = e->disc, .sub = e->sub, .entry = entry, .part = part};
}

static bool
is_purged(rt_change *c, uint64_t number)
{
	return rt_change_read_body(c, number)->format == RT_BODY_PURGED;
}

/* The present state of the take that an effect was made in; NULL after a failure. */
static const rt_take *
take_of(rt_reverting *r, const rt_effect *e)
{
	const rt_disc *disc = rt_revert_disc(r, r->c->now, e->disc);
	const rt_take *take = disc != NULL ? rt_disc_take(disc, e->sub) : NULL;

	if (take == NULL || !take->present)
		rt_revert_refuse(r, place_of(e, 0, RT_REVERT_ANY), "its take was deleted");
	return rt_change_ok(r->c) ? take : NULL;
}

static bool
find(rt_change *c, const rt_project *project, const rt_take *take, uint32_t entry, size_t *out_at,
     rt_slot *out_slot)
{
	bool found = false;

	if (rt_change_ok(c))
		RT_TRY(c->scope, rt_take_find(project, take, entry, out_at, out_slot, &found,
					      &c->scope->error));
	return rt_change_ok(c) && found;
}

/* Reverts a changed slot if the change is still in effect (only the parts that the step
 * changed). */
static void
revert_slot(rt_reverting *r, const rt_effect *e, const rt_effect_slot *was,
	    const rt_effect_slot *became)
{
	rt_change *c = r->c;
	const rt_take *take = take_of(r, e);
	uint32_t entry = was->slot.entry;
	rt_slot slot = {0};
	rt_effect_slot now;
	size_t at = 0;
	bool changed = false;

	if (!find(c, c->now, take, entry, &at, &slot))
		rt_revert_refuse(r, place_of(e, entry, RT_REVERT_ANY), "the entry was deleted");
	now = rt_change_name(c, &slot);
	if (!rt_change_ok(c))
		return;
	/* Purged texts are all equal: empty. */
	if (was->slot.body != became->slot.body &&
	    !(now.slot.body == became->slot.body && is_purged(c, was->slot.body) &&
	      is_purged(c, became->slot.body))) {
		if (now.slot.body != became->slot.body)
			rt_revert_refuse(r, place_of(e, entry, RT_REVERT_TEXT),
					 "the text was changed again later");
		now.slot.body = was->slot.body;
		now.slot.size = was->slot.size;
		now.slot.flags = (now.slot.flags & ~(uint32_t)OF_BODY) | (was->slot.flags & OF_BODY);
		changed = true;
	}
	if (!rt_str_eq(was->role, became->role)) {
		if (!rt_str_eq(now.role, became->role))
			rt_revert_refuse(r, place_of(e, entry, RT_REVERT_ROLE),
					 "the role was changed again later");
		now.role = was->role;
		changed = true;
	}
	if (((was->slot.flags ^ became->slot.flags) & RT_SLOT_MUTED) != 0) {
		if (((now.slot.flags ^ became->slot.flags) & RT_SLOT_MUTED) != 0)
			rt_revert_refuse(r, place_of(e, entry, RT_REVERT_MUTE),
					 "it was muted or unmuted again later");
		now.slot.flags = (now.slot.flags & ~(uint32_t)RT_SLOT_MUTED) |
				 (was->slot.flags & RT_SLOT_MUTED);
		changed = true;
	}
	if (changed)
		rt_change_splice(c, e->disc, e->sub, at, 1, &now, 1);
}

/* ---- moves: an entry that one effect removes and a later one adds ---- */

static size_t
slot_in(const rt_effect_slot *slots, size_t count, uint32_t entry)
{
	size_t i = 0;

	while (i < count && slots[i].slot.entry != entry)
		i++;
	return i;
}

static bool
is_moved(const rt_reverting *r, size_t index, uint32_t entry)
{
	const rt_effect *e = &r->step.effects[index], *other;

	for (size_t i = 0; i < index; i++) {
		other = &r->step.effects[i];
		if (other->kind == RT_EFFECT_SPLICE && other->disc == e->disc &&
		    other->sub == e->sub && other->added_count == 0 &&
		    slot_in(other->removed, other->removed_count, entry) < other->removed_count)
			return true;
	}
	return false;
}

/* The nearest entry of the old take before (way -1) or after (1) a position that is in the take
 * now, too; false: none. */
static bool
nearest(rt_reverting *r, const rt_take *old, size_t at, int way, const rt_take *take,
	size_t *out_now)
{
	size_t count = rt_seq_count(old->slots);

	while (rt_change_ok(r->c) && (way < 0 ? at > 0 : at + 1 < count)) {
		rt_slot slot = {0};

		at = way < 0 ? at - 1 : at + 1;
		RT_TRY(r->c->scope, rt_seq_get(old->slots, at, &slot, &r->c->scope->error));
		if (find(r->c, r->c->now, take, slot.entry, out_now, NULL))
			return true;
	}
	return false;
}

/* Is the entry still between the neighbours that the step gave it, as far as they exist? */
static void
check_still_there(rt_reverting *r, size_t index, uint32_t entry, const rt_take *take, size_t at)
{
	const rt_effect *e = &r->step.effects[index];
	const rt_project *past = rt_revert_past(r, index + 1);
	const rt_disc *old_disc = past != NULL ? rt_revert_disc(r, past, e->disc) : NULL;
	const rt_take *old = old_disc != NULL ? rt_disc_take(old_disc, e->sub) : NULL;
	size_t old_at = 0, side = 0;

	if (old == NULL || !find(r->c, past, old, entry, &old_at, NULL))
		return;
	if ((nearest(r, old, old_at, -1, take, &side) && side > at) ||
	    (nearest(r, old, old_at, 1, take, &side) && side < at))
		rt_revert_refuse(r, place_of(e, entry, RT_REVERT_ANY),
				 "the entry was moved again later");
}

static void
take_up(rt_reverting *r, const rt_slot *slot)
{
	rt_effect_slot *moving = rt_scope_grow(r->c->scope, r->moving, r->moving_count,
					       &r->moving_room, sizeof(*moving));

	if (moving == NULL)
		return;
	r->moving = moving;
	r->moving[r->moving_count++] = rt_change_name(r->c, slot);
}

/* The slot to restore: of a moved entry, the state in which it was removed. */
static rt_effect_slot
put_down(rt_reverting *r, const rt_effect_slot *removed)
{
	size_t i = slot_in(r->moving, r->moving_count, removed->slot.entry);
	rt_effect_slot slot = *removed;

	if (i < r->moving_count) {
		slot = r->moving[i];
		r->moving[i] = r->moving[--r->moving_count];
	}
	return slot;
}

/* ---- added and removed ---- */

/* One of the entries that the step added; *out_at: where it is. */
static void
check_added(rt_reverting *r, size_t index, const rt_effect_slot *added, const rt_take *take,
	    size_t *out_at)
{
	rt_change *c = r->c;
	const rt_effect *e = &r->step.effects[index];
	rt_revert_place place = place_of(e, added->slot.entry, RT_REVERT_ANY);
	rt_slot slot = {0};

	if (!find(c, c->now, take, added->slot.entry, out_at, &slot))
		rt_revert_refuse(r, place, "the entry was deleted");
	if (!rt_change_ok(c))
		return;
	if (is_moved(r, index, added->slot.entry)) {
		check_still_there(r, index, added->slot.entry, take, *out_at);
		take_up(r, &slot);
	} else if (slot.body != added->slot.body ||
		   !rt_str_eq(rt_change_name(c, &slot).role, added->role) ||
		   ((slot.flags ^ added->slot.flags) & RT_SLOT_MUTED) != 0) {
		rt_revert_refuse(r, place, "the entry was changed later");
	}
}

/* Removes the entries that the effect added and did not replace, neighbours together. */
static void
revert_added(rt_reverting *r, size_t index)
{
	rt_change *c = r->c;
	const rt_effect *e = &r->step.effects[index];
	size_t at = 0, run = 0, run_at = 0;

	for (size_t i = e->added_count; i > 0 && rt_change_ok(c); i--) {
		uint32_t entry = e->added[i - 1].slot.entry;
		const rt_take *take;

		if (slot_in(e->removed, e->removed_count, entry) < e->removed_count)
			continue;
		take = take_of(r, e);
		check_added(r, index, &e->added[i - 1], take, &at);
		if (run > 0 && at + 1 != run_at) {
			rt_change_splice(c, e->disc, e->sub, run_at, run, NULL, 0);
			at -= run_at < at ? run : 0;
			run = 0;
		}
		run_at = at;
		run++;
	}
	rt_change_splice(c, e->disc, e->sub, run_at, run, NULL, 0);
}

/* Restores removed entries, each run of them after its nearest surviving predecessor. */
static void
revert_run(rt_reverting *r, size_t index, size_t first, size_t count)
{
	rt_change *c = r->c;
	const rt_effect *e = &r->step.effects[index];
	const rt_take *take = take_of(r, e), *old;
	const rt_project *past = rt_revert_past(r, index);
	const rt_disc *old_disc = past != NULL ? rt_revert_disc(r, past, e->disc) : NULL;
	rt_effect_slot *slots = rt_scope_array(c->scope, count, sizeof(*slots));
	size_t at = 0;

	old = old_disc != NULL ? rt_disc_take(old_disc, e->sub) : NULL;
	if (old == NULL || slots == NULL)
		return;
	for (size_t i = 0; i < count && rt_change_ok(c); i++) {
		uint32_t entry = e->removed[first + i].slot.entry;

		if (find(c, c->now, take, entry, &at, NULL))
			rt_revert_refuse(r, place_of(e, entry, RT_REVERT_ANY),
					 "the entry has already been restored");
		slots[i] = put_down(r, &e->removed[first + i]);
	}
	at = nearest(r, old, (size_t)e->at + first, -1, take, &at) ? at + 1 : 0;
	rt_change_splice(c, e->disc, e->sub, at, 0, slots, count);
}

void
rt_revert_splice(rt_reverting *r, size_t index)
{
	const rt_effect *e = &r->step.effects[index];
	size_t i, k, run = 0;

	revert_added(r, index);
	for (i = 0; i < e->removed_count && rt_change_ok(r->c); i++) {
		k = slot_in(e->added, e->added_count, e->removed[i].slot.entry);
		if (k == e->added_count) {
			run++;
			continue;
		}
		if (run > 0)
			revert_run(r, index, i - run, run);
		run = 0;
		revert_slot(r, e, &e->removed[i], &e->added[k]);
	}
	if (run > 0)
		revert_run(r, index, i - run, run);
}
