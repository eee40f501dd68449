/* SPDX-License-Identifier: MIT
 *
 * Revert: a new step that puts back what one old step changed, where it still is as that
 * step left it (C17). */
#include "log/plan.h"

#include "core/role.h"
#include "log/history.h"

#include <stdio.h>

/* Flags that go with the body. */
enum { OF_BODY = RT_SLOT_RICH | RT_SLOT_EDITED };

static void
cannot(rt_change *c, uint64_t seq, const char *why)
{
	rt_scope_fail(c->scope, RT_REFUSED, "cannot revert step %llu: %s", (unsigned long long)seq,
		      why);
}

static rt_revert
revert_of(const rt_record *step)
{
	const rt_op *op = rt_op_named(step->op); /* NULL: a batch, or unknown here */

	return op == NULL ? RT_REVERT_NOTHING : op->revert;
}

/* The discussion that a step changed, where it changed neither the one in view nor the
 * project; 0: it did. */
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

static void
cannot_kind(rt_change *c, const rt_record *step, uint64_t seq)
{
	const rt_op *op = rt_op_named(step->op);
	uint32_t elsewhere = changed_elsewhere(c, step);
	uint64_t parent;
	/* jump 0 alone concerns the discussion only */
	bool is_projects = seq == 1 && rt_history_parent(step, 0, &parent);
	char disc[24] = "";

	if (elsewhere != 0)
		snprintf(disc, sizeof(disc), "-d d%u ", elsewhere);
	rt_scope_fail(c->scope, RT_REFUSED,
		      "cannot revert step %llu, which %s. To undo it and everything after it: "
		      "retake %sjump %llu%s   Revert takes back added, edited and deleted entries, "
		      "roles, mutes, labels, settings, files, the track, the prompt and the list "
		      "of roles",
		      (unsigned long long)seq, op != NULL ? op->done : "did several things", disc,
		      (unsigned long long)seq - 1, is_projects ? " --scope project" : "");
}

static bool
is_purged(rt_change *c, uint64_t number)
{
	return rt_change_read_body(c, number)->format == RT_BODY_PURGED;
}

/* The take that an effect was made in, as it is now; NULL after a failure. */
static const rt_take *
take_of(rt_change *c, const rt_effect *e, uint64_t seq)
{
	const rt_disc *disc;
	const rt_take *take = NULL;

	if (RT_TRY(c->scope, rt_project_disc(c->now, e->disc, &disc, &c->scope->error)) == RT_OK)
		take = rt_disc_take(disc, e->sub);
	if (take == NULL || !take->present)
		cannot(c, seq, "its take is gone");
	return rt_change_ok(c) ? take : NULL;
}

static bool
find(rt_change *c, const rt_take *take, uint32_t entry, size_t *out_at, rt_slot *out_slot)
{
	bool found = false;

	RT_TRY(c->scope, rt_take_find(c->now, take, entry, out_at, out_slot, &found,
				      &c->scope->error));
	return rt_change_ok(c) && found;
}

/* Reverts a changed slot if the change is still in effect (only what the step changed). */
static void
revert_slot(rt_change *c, const rt_effect *e, size_t index, uint64_t seq)
{
	const rt_effect_slot *was = &e->removed[index], *became = &e->added[index];
	const rt_take *take = take_of(c, e, seq);
	rt_slot slot = {0};
	rt_effect_slot now;
	size_t at = 0;
	bool changed = false;

	if (!find(c, take, was->slot.entry, &at, &slot))
		cannot(c, seq, "the entry is gone");
	now = rt_change_name(c, &slot);
	if (!rt_change_ok(c))
		return;
	/* Purged texts are all the same: nothing. */
	if (was->slot.body != became->slot.body &&
	    !(now.slot.body == became->slot.body && is_purged(c, was->slot.body) &&
	      is_purged(c, became->slot.body))) {
		if (now.slot.body != became->slot.body)
			cannot(c, seq, "the text was changed again since");
		now.slot.body = was->slot.body;
		now.slot.size = was->slot.size;
		now.slot.flags = (now.slot.flags & ~(uint32_t)OF_BODY) | (was->slot.flags & OF_BODY);
		changed = true;
	}
	if (!rt_str_eq(was->role, became->role)) {
		if (!rt_str_eq(now.role, became->role))
			cannot(c, seq, "the role was changed again since");
		now.role = was->role;
		changed = true;
	}
	if (((was->slot.flags ^ became->slot.flags) & RT_SLOT_MUTED) != 0) {
		if (((now.slot.flags ^ became->slot.flags) & RT_SLOT_MUTED) != 0)
			cannot(c, seq, "it was muted or unmuted again since");
		now.slot.flags = (now.slot.flags & ~(uint32_t)RT_SLOT_MUTED) |
				 (was->slot.flags & RT_SLOT_MUTED);
		changed = true;
	}
	if (changed)
		rt_change_splice(c, e->disc, e->sub, at, 1, &now, 1);
}

static void
revert_added(rt_change *c, const rt_effect *e, uint64_t seq)
{
	for (size_t i = 0; i < e->added_count && rt_change_ok(c); i++) {
		const rt_effect_slot *added = &e->added[i];
		const rt_take *take = take_of(c, e, seq);
		rt_slot slot = {0};
		size_t at = 0;

		if (!find(c, take, added->slot.entry, &at, &slot))
			cannot(c, seq, "the entry is gone");
		if (slot.body != added->slot.body ||
		    !rt_str_eq(rt_change_name(c, &slot).role, added->role) ||
		    ((slot.flags ^ added->slot.flags) & RT_SLOT_MUTED) != 0)
			cannot(c, seq, "the entry was changed since");
		rt_change_splice(c, e->disc, e->sub, at, 1, NULL, 0);
	}
}

/* Deleted entries back, after the nearest predecessor that is still there. before is the value
 * right before the effect. */
static void
revert_removed(rt_change *c, const rt_effect *e, const rt_project *before, uint64_t seq)
{
	const rt_disc *old_disc;
	const rt_take *take = take_of(c, e, seq), *old_take;
	size_t at = 0, back, count;

	if (RT_TRY(c->scope, rt_project_disc(before, e->disc, &old_disc, &c->scope->error)) != RT_OK)
		return;
	old_take = rt_disc_take(old_disc, e->sub);
	if (old_take == NULL) {
		cannot(c, seq, "its take is gone");
		return;
	}
	for (size_t i = 0; i < e->removed_count; i++)
		if (find(c, take, e->removed[i].slot.entry, &at, NULL))
			cannot(c, seq, "the entry is there again");
	count = rt_seq_count(old_take->slots);
	for (back = e->at < count ? (size_t)e->at : count; back > 0 && rt_change_ok(c); back--) {
		rt_slot slot = {0};

		RT_TRY(c->scope, rt_seq_get(old_take->slots, back - 1, &slot, &c->scope->error));
		if (find(c, take, slot.entry, &at, NULL))
			break;
	}
	rt_change_splice(c, e->disc, e->sub, back > 0 ? at + 1 : 0, 0, e->removed,
			 e->removed_count);
}

/* "the setting model was changed again since" */
static void
changed_again(rt_change *c, uint64_t seq, rt_str key)
{
	rt_str setting = RT_STR("setting.");
	rt_str name = key;
	const char *noun = "the list of ";

	if (rt_str_starts(key, setting)) {
		name = rt_str_at(key.ptr + setting.size, key.size - setting.size);
		noun = "the setting ";
	} else if (rt_str_is(key, "label") || rt_str_is(key, "track") ||
		   rt_str_is(key, "prompt")) {
		noun = "the ";
	}
	rt_scope_fail(c->scope, RT_REFUSED, "cannot revert step %llu: %s%.*s was changed again since",
		      (unsigned long long)seq, noun, name.size < 200 ? (int)name.size : 200,
		      name.ptr);
}

typedef struct item_list {
	rt_str *items;
	size_t count;
} item_list;

/* Items of a list by their JSON, sorted: equal items have equal text. */
static item_list
read_items(rt_change *c, rt_str list)
{
	yyjson_val *root = list.ptr != NULL ? rt_json_parse(c->scope, list) : NULL, *item;
	item_list out = {.count = yyjson_arr_size(root)};
	size_t i, max;

	out.items = rt_scope_array(c->scope, out.count, sizeof(*out.items));
	yyjson_arr_foreach(root, i, max, item)
	{
		rt_buf *text = rt_scope_buf(c->scope);

		rt_json_add_sorted(text, c->scope->alloc, item);
		if (out.items != NULL)
			out.items[i] = rt_scope_str(c->scope, text);
	}
	if (!rt_change_ok(c))
		out.count = 0;
	return out;
}

static size_t
find_item(const rt_str *items, size_t count, rt_str item)
{
	size_t i;

	for (i = 0; i < count; i++)
		if (rt_str_eq(items[i], item))
			return i;
	return SIZE_MAX;
}

static bool
has(item_list list, rt_str item)
{
	return find_item(list.items, list.count, item) != SIZE_MAX;
}

static bool
has_twice(item_list list)
{
	for (size_t i = 1; i < list.count; i++)
		if (find_item(list.items, i, list.items[i]) != SIZE_MAX)
			return true;
	return false;
}

/* The list with the step's changes reverted; false: undetermined. */
static bool
merge_items(item_list was, item_list became, item_list now, item_list *out)
{
	size_t count = 0, at;

	if (has_twice(was) || has_twice(became) || has_twice(now))
		return false;
	for (size_t i = 0; i < now.count; i++)
		if (!has(became, now.items[i]) || has(was, now.items[i]))
			out->items[count++] = now.items[i];
	for (size_t i = 0; i < became.count; i++)
		if (!has(was, became.items[i]) && !has(now, became.items[i]))
			return false;
	for (size_t i = 0; i < was.count; i++) {
		if (has(became, was.items[i]))
			continue;
		if (has(now, was.items[i]))
			return false;
		at = 0;
		for (size_t k = i; k > 0 && at == 0; k--) /* SIZE_MAX + 1: 0 */
			at = find_item(out->items, count, was.items[k - 1]) + 1;
		memmove(out->items + at + 1, out->items + at, (count++ - at) * sizeof(*out->items));
		out->items[at] = was.items[i];
	}
	out->count = count;
	return true;
}

/* A list of which the step added or removed items, others changed since: those out that it
 * added, those back that it removed, after the nearest one before them that is still there. */
static rt_str
revert_items(rt_change *c, const rt_effect *e, rt_str list, uint64_t seq)
{
	rt_str none = e->disc == 0 ? rt_str_of(rt_default_roles) : rt_str_at(NULL, 0);
	item_list was = read_items(c, e->before.ptr != NULL ? e->before : none);
	item_list became = read_items(c, e->after.ptr != NULL ? e->after : none);
	item_list now = read_items(c, list.ptr != NULL ? list : none), out;
	rt_buf *text = rt_scope_buf(c->scope);

	out.items = rt_scope_array(c->scope, now.count + was.count, sizeof(*out.items));
	if (!rt_change_ok(c))
		return none;
	if (!merge_items(was, became, now, &out)) {
		changed_again(c, seq, e->key);
		return none;
	}
	if (e->disc != 0 && out.count == 0)
		return rt_str_at(NULL, 0);
	rt_json_open(text, NULL, '[');
	for (size_t i = 0; i < out.count; i++)
		rt_json_put_raw(text, NULL, out.items[i]);
	rt_json_close(text, ']');
	return rt_scope_str(c->scope, text);
}

static void
revert_set(rt_change *c, const rt_effect *e, bool is_list, uint64_t seq)
{
	rt_str now = rt_change_field(c, e->disc, e->sub, e->key, e->entry), before = e->before;

	if ((now.ptr == NULL) != (e->after.ptr == NULL) || !rt_str_eq(now, e->after)) {
		if (is_list)
			before = revert_items(c, e, now, seq);
		else
			changed_again(c, seq, e->key);
	}
	rt_change_set(c, e->disc, e->sub, e->key, e->entry, before);
}

/* Does one of them clear the flag, as a notice does, and a prompt that the model gave? */
static bool
clears_flag(const rt_effect *effects, size_t count, uint32_t disc)
{
	size_t i;

	for (i = 0; i < count; i++)
		if (effects[i].kind == RT_EFFECT_SET && effects[i].disc == disc &&
		    rt_str_is(effects[i].key, "prompt_edited") && effects[i].after.ptr == NULL)
			return true;
	return false;
}

/* Was the model told of the prompt since a step (or can that not be seen from here)? */
static bool
was_told_since(rt_change *c, uint32_t disc_number, uint64_t seq)
{
	const rt_disc *disc;
	uint64_t at;
	bool told = clears_flag(c->effects, c->effect_count, disc_number);
	rt_scope step_scope;

	if (RT_TRY(c->scope, rt_project_disc(c->base, disc_number, &disc, &c->scope->error)) != RT_OK)
		return false;
	at = disc->history.current;
	rt_scope_init(&step_scope, c->scope->alloc);
	while (rt_ok(&step_scope) && !told && at > seq) {
		rt_record step = {0};
		rt_arena *arena;

		rt_scope_reset(&step_scope);
		arena = rt_scope_arena(&step_scope);
		RT_TRY(&step_scope, rt_engine_record(c->engine, at, arena, &step, NULL,
						     &step_scope.error));
		told = clears_flag(step.effects, step.effect_count, disc_number);
		if (rt_ok(&step_scope) && !rt_history_parent(&step, disc_number, &at))
			rt_scope_fail(&step_scope, RT_CORRUPT, "step %llu did not touch document %u",
				      (unsigned long long)at, disc_number);
	}
	(void)rt_scope_join(c->scope, &step_scope);
	return told || at != seq;
}

/* The flag of a prompt that was put back: as it was before the step, unless the model was told
 * of another prompt since; then it has to be told of this one. */
static void
revert_prompt_flag(rt_change *c, const rt_record *step, uint32_t disc, uint64_t seq)
{
	rt_str flag = RT_STR("true");
	bool told = was_told_since(c, disc, seq);

	for (size_t i = step->effect_count; !told && i > 0; i--) {
		const rt_effect *e = &step->effects[i - 1];

		if (e->kind == RT_EFFECT_SET && e->disc == disc &&
		    rt_str_is(e->key, "prompt_edited"))
			flag = e->before;
	}
	rt_change_set(c, disc, 0, RT_STR("prompt_edited"), 0, flag);
}

/* Does the step set the prompt of that discussion before this effect, too? */
static bool
prompt_before(const rt_record *step, size_t index)
{
	const rt_effect *e = &step->effects[index];
	size_t i;

	for (i = 0; i < index; i++)
		if (step->effects[i].disc == e->disc && rt_str_is(step->effects[i].key, "prompt"))
			return true;
	return !rt_str_is(e->key, "prompt");
}

/* A step may be reverted that nobody sees the effect of: say where it is. */
static void
note_elsewhere(rt_change *c, const rt_record *step)
{
	uint32_t elsewhere = changed_elsewhere(c, step);
	rt_buf *note = rt_scope_buf(c->scope);

	if (elsewhere == 0 || c->result->note != NULL || !rt_change_ok(c))
		return;
	rt_buf_add_c(note, "That changed discussion \"");
	rt_buf_add_str(note, rt_cell_name(rt_project_cell(c->now, elsewhere)));
	rt_buf_add_c(note, "\".");
	rt_result_set_note(c->result, c->scope, note);
}

/* The result names the first entry that the step was about. */
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

/* Take back effect number index. before: the value right before it, for deletions. */
static void
revert_effect(rt_change *c, const rt_record *step, size_t index, const rt_project *before,
	      uint64_t seq)
{
	const rt_effect *e = &step->effects[index];
	bool is_list = rt_str_starts(step->op, RT_STR("role.")) || rt_str_is(step->op, "files.set");
	bool is_field = revert_of(step) == RT_REVERT_FIELDS;

	if (e->kind == RT_EFFECT_SET) {
		/* the lists of other takes stay as they are */
		if (is_field && !rt_str_is(e->key, "prompt_edited") &&
		    !rt_str_is(e->key, "take_files"))
			revert_set(c, e, is_list, seq);
		if (rt_str_is(step->op, "prompt.update") && !prompt_before(step, index))
			revert_prompt_flag(c, step, e->disc, seq);
	} else if (e->kind == RT_EFFECT_SPLICE && e->removed_count == 0) {
		revert_added(c, e, seq);
	} else if (e->kind == RT_EFFECT_SPLICE && e->added_count == 0) {
		revert_removed(c, e, before, seq);
	} else if (e->kind == RT_EFFECT_SPLICE) {
		for (size_t k = 0; k < e->removed_count; k++)
			revert_slot(c, e, k, seq);
	}
}

void
rt_history_revert(rt_change *c, uint64_t seq)
{
	rt_arena *arena = rt_scope_arena(c->scope);
	rt_record step = {0};
	const rt_project *before = NULL;

	if (seq == 0 || seq > c->now->seq)
		rt_scope_fail(c->scope, RT_NOT_FOUND, "no step %llu; see: retake history",
			      (unsigned long long)seq);
	RT_TRY(c->scope, rt_engine_record(c->engine, seq, arena, &step, NULL, &c->scope->error));
	if (step.kind != RT_RECORD_STEP || step.parent_count == 0)
		rt_scope_fail(c->scope, RT_NOT_FOUND, "%llu is not a step; see: retake history",
			      (unsigned long long)seq);
	if (revert_of(&step) == RT_REVERT_NOTHING)
		cannot_kind(c, &step, seq);
	if (rt_str_is(step.op, "entry.delete"))
		RT_TRY(c->scope, rt_engine_value_back(c->engine, c->base, seq, &before,
						      &c->scope->error));
	for (size_t i = step.effect_count; rt_change_ok(c) && i > 0; i--) {
		const rt_project *next;

		if (before != NULL && /* to right before this effect of the step */
		    RT_TRY(c->scope, rt_effect_apply(before, &step.effects[i - 1], true, &next,
						     &c->scope->error)) == RT_OK) {
			rt_object_unref(before);
			before = next;
		}
		revert_effect(c, &step, i - 1, before, seq);
	}
	rt_object_unref(before);
	note_elsewhere(c, &step);
	name_entry(c, &step);
}
