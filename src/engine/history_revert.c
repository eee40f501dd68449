/* SPDX-License-Identifier: MIT
 *
 * Revert: a new step that puts back what one old step changed, where it still is as that
 * step left it (C17). */
#include "engine/engine_impl.h"

/* Flags that go with the body. */
enum { OF_BODY = RT_SLOT_RICH | RT_SLOT_EDITED };

static rt_status
cannot(rt_error *err, uint64_t seq, const char *why)
{
	return rt_fail(err, RT_REFUSED, "cannot revert step %llu: %s", (unsigned long long)seq,
		       why);
}

/* A changed slot back to what it was, where the change still stands (only what the step
 * changed is put back). */
static rt_status
revert_slot(rt_change *c, const rt_effect *e, size_t index, uint64_t seq, rt_error *err)
{
	const rt_effect_slot *was = &e->removed[index], *became = &e->added[index];
	const rt_disc *disc;
	const rt_take *take;
	rt_slot slot;
	rt_effect_slot now;
	size_t at;
	bool found;
	rt_status st = rt_project_disc(c->now, e->disc, &disc, err);

	if (st != RT_OK)
		return st;
	take = rt_disc_take(disc, e->sub);
	if (take == NULL || !take->present)
		return cannot(err, seq, "its take is gone");
	st = rt_take_find(c->now, take, was->slot.entry, &at, &slot, &found, err);
	if (st == RT_OK && !found)
		return cannot(err, seq, "the entry is gone");
	if (st == RT_OK)
		st = rt_change_name(c, &slot, &now, err);
	if (st != RT_OK)
		return st;
	if (was->slot.body != became->slot.body) {
		if (now.slot.body != became->slot.body)
			return cannot(err, seq, "the text was changed again since");
		now.slot.body = was->slot.body;
		now.slot.size = was->slot.size;
		now.slot.flags = (now.slot.flags & ~(uint32_t)OF_BODY) | (was->slot.flags & OF_BODY);
	}
	if (!rt_str_eq(was->role, became->role)) {
		if (!rt_str_eq(now.role, became->role))
			return cannot(err, seq, "the role was changed again since");
		now.role = was->role;
	}
	if (((was->slot.flags ^ became->slot.flags) & RT_SLOT_MUTED) != 0) {
		if (((now.slot.flags ^ became->slot.flags) & RT_SLOT_MUTED) != 0)
			return cannot(err, seq, "it was muted or unmuted again since");
		now.slot.flags = (now.slot.flags & ~(uint32_t)RT_SLOT_MUTED) |
				 (was->slot.flags & RT_SLOT_MUTED);
	}
	return rt_change_splice(c, e->disc, e->sub, at, 1, &now, 1, err);
}

static rt_status
revert_added(rt_change *c, const rt_effect *e, uint64_t seq, rt_error *err)
{
	size_t i;

	for (i = 0; i < e->added_count; i++) {
		const rt_disc *disc;
		const rt_take *take;
		rt_slot slot;
		rt_str role;
		size_t at;
		bool found;
		rt_status st = rt_project_disc(c->now, e->disc, &disc, err);

		if (st != RT_OK)
			return st;
		take = rt_disc_take(disc, e->sub);
		if (take == NULL || !take->present)
			return cannot(err, seq, "its take is gone");
		st = rt_take_find(c->now, take, e->added[i].slot.entry, &at, &slot, &found, err);
		if (st == RT_OK && !found)
			return cannot(err, seq, "the entry is gone");
		if (st == RT_OK)
			st = rt_project_name(c->now, slot.role, &role, err);
		if (st == RT_OK &&
		    (slot.body != e->added[i].slot.body || !rt_str_eq(role, e->added[i].role) ||
		     ((slot.flags ^ e->added[i].slot.flags) & RT_SLOT_MUTED) != 0))
			return cannot(err, seq, "the entry was changed since");
		if (st == RT_OK)
			st = rt_change_splice(c, e->disc, e->sub, at, 1, NULL, 0, err);
		if (st != RT_OK)
			return st;
	}
	return RT_OK;
}

/* Deleted entries back, behind the nearest predecessor that still stands. before is the
 * value right before the effect. */
static rt_status
revert_removed(rt_change *c, const rt_effect *e, const rt_project *before, uint64_t seq,
	       rt_error *err)
{
	const rt_disc *disc, *old_disc;
	const rt_take *take, *old_take;
	size_t i, at = 0, back;
	bool found = false;
	rt_status st = rt_project_disc(c->now, e->disc, &disc, err);

	if (st == RT_OK)
		st = rt_project_disc(before, e->disc, &old_disc, err);
	if (st != RT_OK)
		return st;
	take = rt_disc_take(disc, e->sub);
	old_take = rt_disc_take(old_disc, e->sub);
	if (take == NULL || !take->present || old_take == NULL)
		return cannot(err, seq, "its take is gone");
	for (i = 0; i < e->removed_count; i++) {
		st = rt_take_find(c->now, take, e->removed[i].slot.entry, &at, NULL, &found, err);
		if (st != RT_OK)
			return st;
		if (found)
			return cannot(err, seq, "the entry is there again");
	}
	for (back = (size_t)e->at; back > 0; back--) {
		rt_slot slot;

		if (back > rt_seq_count(old_take->slots))
			continue;
		st = rt_seq_get(old_take->slots, back - 1, &slot, err);
		if (st == RT_OK)
			st = rt_take_find(c->now, take, slot.entry, &at, NULL, &found, err);
		if (st != RT_OK)
			return st;
		if (found)
			break;
	}
	return rt_change_splice(c, e->disc, e->sub, back > 0 ? at + 1 : 0, 0, e->removed,
				e->removed_count, err);
}

static rt_status
revert_set(rt_change *c, const rt_effect *e, uint64_t seq, rt_error *err)
{
	rt_str now;
	char key[260];
	rt_status st = rt_field_now(c->now, c->arena, e->disc, e->sub, e->key, e->entry, &now, err);

	if (st != RT_OK)
		return st;
	if ((now.ptr == NULL) != (e->after.ptr == NULL) || !rt_str_eq(now, e->after))
		return cannot(err, seq, "it was changed again since");
	if (e->key.size >= sizeof(key))
		return cannot(err, seq, "its field has a long name");
	memcpy(key, e->key.ptr, e->key.size);
	key[e->key.size] = '\0';
	return rt_change_set(c, e->disc, e->sub, key, e->entry, e->before, err);
}

/* A step may be reverted that nobody sees the effect of: say where it is. */
static rt_status
note_elsewhere(rt_change *c, const rt_record *step, rt_error *err)
{
	uint32_t elsewhere = 0;
	size_t i;
	rt_buf note;

	for (i = 0; i < step->effect_count; i++) {
		if (step->effects[i].disc == 0 || step->effects[i].disc == c->place.disc)
			return RT_OK;
		elsewhere = step->effects[i].disc;
	}
	if (elsewhere == 0 || c->result == NULL || c->result->note != NULL)
		return RT_OK;
	rt_buf_init(&note, c->engine->alloc, RT_BUF_UNLIMITED);
	rt_buf_add_c(&note, "That changed discussion \"");
	rt_buf_add_str(&note, rt_text_str(rt_project_cell(c->now, elsewhere)->name));
	rt_buf_add_c(&note, "\".");
	if (note.status == RT_OK)
		c->result->note = (rt_text *)(uintptr_t)rt_text_new(c->engine->alloc,
								    rt_buf_str(&note));
	rt_buf_deinit(&note);
	return c->result->note != NULL ? RT_OK : rt_fail(err, RT_NOMEM, "out of memory");
}

rt_status
rt_history_revert(rt_change *c, uint64_t seq, rt_error *err)
{
	rt_record step;
	const rt_project *before = NULL;
	size_t i;
	bool plain_field;
	rt_status st;

	if (seq == 0 || seq > c->now->seq)
		return rt_fail(err, RT_NOT_FOUND, "no step %llu; see: retake history",
			       (unsigned long long)seq);
	st = rt_engine_record(c->engine, seq, c->arena, &step, NULL, err);
	if (st != RT_OK)
		return st;
	if (step.kind != RT_RECORD_STEP || step.parent_count == 0)
		return rt_fail(err, RT_NOT_FOUND, "%llu is not a step; see: retake history",
			       (unsigned long long)seq);
	plain_field = rt_str_is(step.op, "label.set") || rt_str_is(step.op, "setting.set") ||
		      rt_str_is(step.op, "files.set") || rt_str_is(step.op, "track.set") ||
		      rt_str_is(step.op, "prompt.update") || rt_str_is(step.op, "role.add") ||
		      rt_str_is(step.op, "role.remove");
	if (!plain_field && !rt_str_is(step.op, "entry.edit") &&
	    !rt_str_is(step.op, "entry.role") && !rt_str_is(step.op, "entry.mute") &&
	    !rt_str_is(step.op, "entry.append") && !rt_str_is(step.op, "entry.insert") &&
	    !rt_str_is(step.op, "entry.reply") && !rt_str_is(step.op, "entry.delete"))
		return cannot(err, seq,
			      "only changes to entries, labels and settings can be "
			      "reverted by themselves; see: retake jump");
	if (rt_str_is(step.op, "entry.delete")) {
		st = rt_engine_value_back(c->engine, c->base, seq, &before, err);
		if (st != RT_OK)
			return st;
	}
	for (i = step.effect_count; st == RT_OK && i > 0; i--) {
		const rt_effect *e = &step.effects[i - 1];
		size_t k;

		if (before != NULL) { /* to right before this effect of the step */
			const rt_project *after = before;

			st = rt_effect_apply(after, e, true, &before, err);
			if (st != RT_OK) {
				before = after;
				break;
			}
			rt_object_unref(after);
		}
		if (e->kind == RT_EFFECT_SET) {
			if (plain_field)
				st = revert_set(c, e, seq, err);
			continue;
		}
		if (e->kind != RT_EFFECT_SPLICE)
			continue;
		if (e->removed_count == 0)
			st = revert_added(c, e, seq, err);
		else if (e->added_count == 0)
			st = revert_removed(c, e, before, seq, err);
		else
			for (k = 0; st == RT_OK && k < e->removed_count; k++)
				st = revert_slot(c, e, k, seq, err);
	}
	rt_object_unref(before);
	if (st == RT_OK)
		st = note_elsewhere(c, &step, err);
	for (i = 0; st == RT_OK && c->result != NULL && i < step.effect_count; i++) {
		const rt_effect *e = &step.effects[i];
		uint32_t entry = e->entry;

		if (e->kind == RT_EFFECT_SPLICE)
			entry = e->added_count > 0 ? e->added[0].slot.entry
						   : e->removed[0].slot.entry;
		if (entry != 0) {
			st = rt_entry_id(c->now, entry, c->result->entry, err);
			break;
		}
	}
	return st;
}
