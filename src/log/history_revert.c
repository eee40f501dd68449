/* SPDX-License-Identifier: MIT
 *
 * Revert: a new step that puts back what one old step changed, where it still is as that
 * step left it (C17). */
#include "log/history_impl.h"

/* Flags that go with the body. */
enum { OF_BODY = RT_SLOT_RICH | RT_SLOT_EDITED };

static rt_status
cannot(rt_error *err, uint64_t seq, const char *why)
{
	return rt_fail(err, RT_REFUSED, "cannot revert step %llu: %s", (unsigned long long)seq,
		       why);
}

/* Steps that can be reverted by themselves. */
static const rt_op_id of_entries[] = {RT_OP_ENTRY_APPEND, RT_OP_ENTRY_INSERT, RT_OP_ENTRY_REPLY,
				      RT_OP_ENTRY_EDIT,   RT_OP_ENTRY_ROLE,   RT_OP_ENTRY_MUTE,
				      RT_OP_ENTRY_DELETE};
static const rt_op_id of_fields[] = {RT_OP_LABEL_SET, RT_OP_SETTING_SET, RT_OP_FILES_SET,
				     RT_OP_TRACK_SET, RT_OP_PROMPT_UPDATE, RT_OP_ROLE_ADD,
				     RT_OP_ROLE_REMOVE};

static bool
is_one_of(rt_str op, const rt_op_id *ids, size_t count)
{
	size_t i;

	for (i = 0; i < count; i++)
		if (rt_str_is(op, rt_ops[ids[i]].name))
			return true;
	return false;
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

static rt_status
cannot_kind(const rt_change *c, const rt_record *step, uint64_t seq, rt_error *err)
{
	const rt_op *op = rt_op_named(step->op);
	uint32_t elsewhere = changed_elsewhere(c, step);
	char disc[24] = "";

	if (elsewhere != 0)
		snprintf(disc, sizeof(disc), "-d d%u ", elsewhere);
	return rt_fail(err, RT_REFUSED,
		       "cannot revert step %llu, which %s. To undo it and everything after it: "
		       "retake %sjump %llu   Revert takes back added, edited and deleted entries, "
		       "roles, mutes, labels, settings, files, the track, the prompt and the list "
		       "of roles",
		       (unsigned long long)seq, op != NULL ? op->done : "did several things", disc,
		       (unsigned long long)seq - 1);
}

/* Purged texts are all the same: nothing. */
static rt_status
both_purged(rt_change *c, uint64_t one, uint64_t other, bool *out, rt_error *err)
{
	uint64_t numbers[2] = {one, other};
	size_t i;
	rt_status st = RT_OK;

	*out = true;
	for (i = 0; st == RT_OK && *out && i < 2; i++) {
		rt_body body;
		rt_buf bytes;

		rt_buf_init(&bytes, c->engine->alloc, RT_BUF_UNLIMITED);
		memset(&body, 0, sizeof(body));
		st = rt_change_body_read(c, numbers[i], &bytes, &body, err);
		*out = st == RT_OK && body.format == RT_BODY_PURGED;
		rt_body_deinit(&body);
		rt_buf_deinit(&bytes);
	}
	return st;
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
	bool found, purged = false, changed = false;
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
	if (st == RT_OK && was->slot.body != became->slot.body &&
	    now.slot.body == became->slot.body)
		st = both_purged(c, was->slot.body, became->slot.body, &purged, err);
	if (st != RT_OK)
		return st;
	if (was->slot.body != became->slot.body && !purged) {
		if (now.slot.body != became->slot.body)
			return cannot(err, seq, "the text was changed again since");
		now.slot.body = was->slot.body;
		now.slot.size = was->slot.size;
		now.slot.flags = (now.slot.flags & ~(uint32_t)OF_BODY) | (was->slot.flags & OF_BODY);
		changed = true;
	}
	if (!rt_str_eq(was->role, became->role)) {
		if (!rt_str_eq(now.role, became->role))
			return cannot(err, seq, "the role was changed again since");
		now.role = was->role;
		changed = true;
	}
	if (((was->slot.flags ^ became->slot.flags) & RT_SLOT_MUTED) != 0) {
		if (((now.slot.flags ^ became->slot.flags) & RT_SLOT_MUTED) != 0)
			return cannot(err, seq, "it was muted or unmuted again since");
		now.slot.flags = (now.slot.flags & ~(uint32_t)RT_SLOT_MUTED) |
				 (was->slot.flags & RT_SLOT_MUTED);
		changed = true;
	}
	return changed ? rt_change_splice(c, e->disc, e->sub, at, 1, &now, 1, err) : RT_OK;
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

/* "the setting model was changed again since" */
static rt_status
changed_again(rt_error *err, uint64_t seq, rt_str key)
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
	return rt_fail(err, RT_REFUSED, "cannot revert step %llu: %s%.*s was changed again since",
		       (unsigned long long)seq, noun, name.size < 200 ? (int)name.size : 200,
		       name.ptr);
}

/* Items of a list by their JSON, sorted: equal items have equal text. */
static rt_status
read_items(rt_change *c, rt_str list, rt_str **out, size_t *out_count, rt_error *err)
{
	rt_json_doc *doc = NULL;
	yyjson_val *item;
	size_t i, max;
	rt_buf text;
	rt_status st = RT_OK;

	*out_count = 0;
	*out = NULL;
	if (list.ptr != NULL)
		st = rt_json_read(c->engine->alloc, list, &doc, err);
	if (st != RT_OK || doc == NULL)
		return st;
	max = yyjson_arr_size(rt_json_root(doc));
	*out = rt_arena_get(c->arena, (max + 1) * sizeof(**out));
	rt_buf_init(&text, c->engine->alloc, RT_BUF_UNLIMITED);
	if (*out == NULL)
		st = rt_fail(err, RT_NOMEM, "out of memory");
	yyjson_arr_foreach(rt_json_root(doc), i, max, item)
	{
		if (st != RT_OK)
			break;
		rt_buf_clear(&text);
		rt_json_add_sorted(&text, c->engine->alloc, item);
		(*out)[i] = rt_change_keep(c, rt_buf_str(&text));
		*out_count = i + 1;
		if (text.status != RT_OK || (*out)[i].ptr == NULL)
			st = rt_fail(err, RT_NOMEM, "out of memory");
	}
	rt_buf_deinit(&text);
	rt_json_free(doc);
	return st;
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
has_twice(const rt_str *items, size_t count)
{
	size_t i;

	for (i = 1; i < count; i++)
		if (find_item(items, i, items[i]) != SIZE_MAX)
			return true;
	return false;
}

/* A list of which the step added or removed items, others changed since: those out that it
 * added, those back that it removed, after the nearest one before them that is still there. */
static rt_status
revert_items(rt_change *c, const rt_effect *e, rt_str list, uint64_t seq, rt_str *out,
	     rt_error *err)
{
	rt_str none = e->disc == 0 ? rt_str_of(rt_default_roles) : rt_str_at(NULL, 0);
	rt_str *was, *became, *now, *items;
	size_t was_count, became_count, now_count, count, at, i, k;
	rt_buf text;
	rt_status st = read_items(c, e->before.ptr != NULL ? e->before : none, &was, &was_count, err);

	if (st == RT_OK)
		st = read_items(c, e->after.ptr != NULL ? e->after : none, &became, &became_count,
				err);
	if (st == RT_OK)
		st = read_items(c, list.ptr != NULL ? list : none, &now, &now_count, err);
	if (st != RT_OK)
		return st;
	items = rt_arena_get(c->arena, (now_count + was_count + 1) * sizeof(*items));
	if (items == NULL)
		return rt_fail(err, RT_NOMEM, "out of memory");
	if (has_twice(was, was_count) || has_twice(became, became_count) ||
	    has_twice(now, now_count))
		return changed_again(err, seq, e->key);
	for (count = i = 0; i < now_count; i++)
		if (find_item(became, became_count, now[i]) == SIZE_MAX ||
		    find_item(was, was_count, now[i]) != SIZE_MAX)
			items[count++] = now[i];
	for (i = 0; i < became_count; i++)
		if (find_item(was, was_count, became[i]) == SIZE_MAX &&
		    find_item(now, now_count, became[i]) == SIZE_MAX)
			return changed_again(err, seq, e->key);
	for (i = 0; i < was_count; i++) {
		if (find_item(became, became_count, was[i]) != SIZE_MAX)
			continue;
		if (find_item(now, now_count, was[i]) != SIZE_MAX)
			return changed_again(err, seq, e->key);
		for (at = 0, k = i; k > 0 && at == 0; k--)
			at = find_item(items, count, was[k - 1]) + 1; /* SIZE_MAX + 1: 0 */
		memmove(items + at + 1, items + at, (count++ - at) * sizeof(*items));
		items[at] = was[i];
	}
	rt_buf_init(&text, c->engine->alloc, RT_BUF_UNLIMITED);
	rt_buf_add_byte(&text, '[');
	for (i = 0; i < count; i++) {
		rt_json_add_comma(&text);
		rt_buf_add_str(&text, items[i]);
	}
	rt_buf_add_byte(&text, ']');
	*out = e->disc != 0 && count == 0 ? rt_str_at(NULL, 0)
					  : rt_change_keep(c, rt_buf_str(&text));
	if (text.status != RT_OK || (out->ptr == NULL && (e->disc == 0 || count > 0)))
		st = rt_fail(err, RT_NOMEM, "out of memory");
	rt_buf_deinit(&text);
	return st;
}

static rt_status
revert_set(rt_change *c, const rt_effect *e, bool is_list, uint64_t seq, rt_error *err)
{
	rt_str now, before = e->before;
	char key[260];
	rt_status st = rt_field_now(c->now, c->arena, e->disc, e->sub, e->key, e->entry, &now, err);

	if (st == RT_OK && ((now.ptr == NULL) != (e->after.ptr == NULL) || !rt_str_eq(now, e->after)))
		st = is_list ? revert_items(c, e, now, seq, &before, err)
			     : changed_again(err, seq, e->key);
	if (st != RT_OK)
		return st;
	if (e->key.size >= sizeof(key))
		return cannot(err, seq, "its field has a long name");
	memcpy(key, e->key.ptr, e->key.size);
	key[e->key.size] = '\0';
	return rt_change_set(c, e->disc, e->sub, key, e->entry, before, err);
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
static rt_status
was_told_since(rt_change *c, uint32_t disc_number, uint64_t seq, bool *out, rt_error *err)
{
	rt_arena *arena = rt_arena_new(c->engine->alloc);
	const rt_disc *disc;
	uint64_t at = 0;
	rt_status st = rt_project_disc(c->base, disc_number, &disc, err);

	if (arena == NULL)
		return rt_fail(err, RT_NOMEM, "out of memory");
	if (st == RT_OK)
		at = disc->history.current;
	*out = clears_flag(c->effects, c->effect_count, disc_number);
	while (st == RT_OK && !*out && at > seq) {
		rt_record step;
		uint64_t parent = 0;

		rt_arena_reset(arena);
		st = rt_engine_record(c->engine, at, arena, &step, NULL, err);
		if (st == RT_OK)
			*out = clears_flag(step.effects, step.effect_count, disc_number);
		if (st == RT_OK && !rt_history_parent(&step, disc_number, &parent))
			st = rt_fail(err, RT_CORRUPT, "step %llu did not touch document %u",
				     (unsigned long long)at, disc_number);
		at = parent;
	}
	*out = *out || at != seq;
	rt_arena_free(arena);
	return st;
}

/* The flag of a prompt that was put back: as it was before the step, unless the model was told
 * of another prompt since; then it has to be told of this one. */
static rt_status
revert_prompt_flag(rt_change *c, const rt_record *step, uint32_t disc, uint64_t seq, rt_error *err)
{
	rt_str flag = RT_STR("true");
	bool told = false;
	size_t i;
	rt_status st = was_told_since(c, disc, seq, &told, err);

	for (i = step->effect_count; !told && i > 0; i--) {
		const rt_effect *e = &step->effects[i - 1];

		if (e->kind == RT_EFFECT_SET && e->disc == disc &&
		    rt_str_is(e->key, "prompt_edited"))
			flag = e->before;
	}
	return st == RT_OK ? rt_change_set(c, disc, 0, "prompt_edited", 0, flag, err) : st;
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
static rt_status
note_elsewhere(rt_change *c, const rt_record *step, rt_error *err)
{
	uint32_t elsewhere = changed_elsewhere(c, step);
	rt_buf note;

	if (elsewhere == 0 || c->result == NULL || c->result->note != NULL)
		return RT_OK;
	rt_buf_init(&note, c->engine->alloc, RT_BUF_UNLIMITED);
	rt_buf_add_c(&note, "That changed discussion \"");
	rt_buf_add_str(&note, rt_cell_name(rt_project_cell(c->now, elsewhere)));
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
	bool plain_field, is_prompt, is_list;
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
	plain_field = is_one_of(step.op, of_fields, sizeof(of_fields) / sizeof(of_fields[0]));
	is_prompt = rt_str_is(step.op, "prompt.update");
	is_list = rt_str_starts(step.op, RT_STR("role.")) || rt_str_is(step.op, "files.set");
	if (!plain_field &&
	    !is_one_of(step.op, of_entries, sizeof(of_entries) / sizeof(of_entries[0])))
		return cannot_kind(c, &step, seq, err);
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
			if (plain_field && !rt_str_is(e->key, "prompt_edited"))
				st = revert_set(c, e, is_list, seq, err);
			if (st == RT_OK && is_prompt && !prompt_before(&step, i - 1))
				st = revert_prompt_flag(c, &step, e->disc, seq, err);
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
