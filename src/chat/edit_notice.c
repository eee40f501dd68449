/* SPDX-License-Identifier: MIT
 *
 * Which edits the model does not know of, and the words for them. */
#include "chat/edit_notice.h"
#include "core/role.h"

enum {
	EDITS_MAX = 8,     /* replies told of in one notice round: the newest */
	STEPS_MAX = 2000,  /* looked at */
	SHOWN_MAX = 2000,  /* bytes of an edited text that are repeated */
};

typedef struct noticing {
	rt_engine *engine;
	const rt_project *value;
	const rt_disc *disc;
	const rt_take *take;
	rt_arena *arena;
	size_t end; /* of the path that the question goes on from */
	uint32_t entries[EDITS_MAX];
	size_t count;
} noticing;

static rt_status
nomem(rt_error *err)
{
	return rt_fail(err, RT_NOMEM, "out of memory");
}

/* What the setting says: 'n'one, 'p'rompt, 'a'll. */
static char
which(const noticing *n)
{
	rt_str json = rt_fields_get(n->disc->fields, RT_STR("setting.edit_notices"));

	if (json.ptr == NULL)
		json = rt_fields_get(n->value->fields, RT_STR("setting.edit_notices"));
	if (rt_str_is(json, "\"all\""))
		return 'a';
	return rt_str_is(json, "\"none\"") ? 'n' : 'p';
}

static bool
is_known(const noticing *n, uint32_t entry)
{
	size_t i;

	for (i = 0; i < n->count; i++)
		if (n->entries[i] == entry)
			return true;
	return false;
}

/* Is this the same entry with another text? Many edits may be one step (a batch). */
static bool
is_edit(const rt_record *step, const rt_effect *e, size_t k)
{
	return (rt_str_is(step->op, "entry.edit") || rt_str_is(step->op, "batch")) &&
	       e->removed_count == e->added_count &&
	       e->removed[k].slot.entry == e->added[k].slot.entry &&
	       e->removed[k].slot.body != e->added[k].slot.body;
}

/* Take a step's edits of replies in; *out_end: the model knows of all before it. */
static void
collect_edits(noticing *n, const rt_record *step, bool *out_end)
{
	size_t i, k;

	*out_end = rt_str_is(step->op, "entry.reply");
	for (i = step->effect_count; i-- > 0;) { /* the newest first */
		const rt_effect *e = &step->effects[i];

		if (e->kind != RT_EFFECT_SPLICE)
			continue;
		for (k = e->added_count; k-- > 0;) {
			const rt_effect_slot *slot = &e->added[k];

			if (rt_str_is(slot->kind, "prompt_notice") && e->removed_count == 0)
				*out_end = true;
			if (is_edit(step, e, k) && slot->kind.size == 0 &&
			    rt_role_is_assistant(slot->role) && n->count < EDITS_MAX &&
			    !is_known(n, slot->slot.entry))
				n->entries[n->count++] = slot->slot.entry;
		}
	}
}

static rt_status
find_edits(noticing *n, rt_error *err)
{
	uint64_t seq = n->disc->history.current;
	bool end = false;
	size_t i, steps = 0;
	rt_status st = RT_OK;

	while (st == RT_OK && seq != 0 && !end && steps++ < STEPS_MAX && n->count < EDITS_MAX) {
		rt_record step;
		uint64_t parent = 0;

		rt_arena_reset(n->arena);
		st = rt_engine_record(n->engine, seq, n->arena, &step, NULL, err);
		if (st != RT_OK)
			break;
		collect_edits(n, &step, &end);
		for (i = 0; i < step.parent_count; i++)
			if (step.parents[i].disc == n->disc->number)
				parent = step.parents[i].step;
		seq = parent;
	}
	return st;
}

/* {"op":"entry.append",…} for one edited reply that is still there. */
static rt_status
add_edit(noticing *n, uint32_t entry, rt_buf *array, size_t *count, rt_error *err)
{
	rt_buf bytes, text, words;
	rt_body body;
	rt_slot slot;
	bool found;
	size_t at, cut;
	rt_status st = rt_take_find(n->value, n->take, entry, &at, &slot, &found, err);

	if (st != RT_OK || !found || at >= n->end || (slot.flags & RT_SLOT_MUTED) != 0)
		return st;
	st = rt_engine_body(n->engine, slot.body, &bytes, &body, err);
	if (st != RT_OK)
		return st;
	rt_buf_init(&text, n->engine->alloc, RT_BUF_UNLIMITED);
	rt_buf_init(&words, n->engine->alloc, RT_BUF_UNLIMITED);
	rt_body_add_text(&text, &body);
	cut = rt_utf8_cut(rt_buf_str(&text), SHOWN_MAX);
	rt_buf_add_f(&words, "[user edited reply %zu to: \"", at + 1);
	rt_buf_add_str(&words, rt_str_at(text.ptr, cut));
	rt_buf_add_c(&words, cut < text.size ? "…\"]" : "\"]");
	rt_json_add_comma(array);
	rt_buf_add_c(array, "{\"op\":\"entry.append\",\"role\":\"system\",\"kind\":\"prompt_notice\","
			    "\"content\":");
	rt_json_add_string(array, rt_buf_str(&words));
	rt_buf_add_byte(array, '}');
	++*count;
	if (text.status != RT_OK || words.status != RT_OK || array->status != RT_OK)
		st = nomem(err);
	rt_buf_deinit(&text);
	rt_buf_deinit(&words);
	rt_body_deinit(&body);
	rt_buf_deinit(&bytes);
	return st;
}

/* Where the question comes. */
static rt_status
find_end(noticing *n, rt_place place, rt_str at, rt_error *err)
{
	uint32_t entry;
	bool found = false;
	size_t position;
	rt_status st = RT_OK;

	n->end = rt_seq_count(n->take->slots);
	if (at.size == 0)
		return n->take->number == n->disc->active
			       ? rt_disc_head_at(n->value, n->disc, &n->end, err)
			       : RT_OK;
	/* an address that leads nowhere is told by who goes there */
	if (rt_resolve_entry(n->value, place, at, false, &entry, NULL) == RT_OK)
		st = rt_take_find(n->value, n->take, entry, &position, NULL, &found, err);
	if (found)
		n->end = position + 1;
	return st;
}

static rt_status
add_all(noticing *n, rt_str discussion, rt_str take, rt_str at, rt_buf *array, size_t *count,
	rt_error *err)
{
	rt_place place;
	char how;
	size_t i;
	rt_status st = rt_resolve_place(n->value, discussion, take, &place, err);

	if (st == RT_OK)
		st = rt_project_disc(n->value, place.disc, &n->disc, err);
	if (st != RT_OK)
		return st;
	n->take = rt_disc_take(n->disc, place.take);
	how = which(n);
	if (how == 'a')
		st = find_end(n, place, at, err);
	if (st == RT_OK && how == 'a')
		st = find_edits(n, err);
	for (i = n->count; st == RT_OK && i > 0; i--) /* oldest first */
		st = add_edit(n, n->entries[i - 1], array, count, err);
	if (st == RT_OK && how != 'n' &&
	    rt_fields_get(n->disc->fields, RT_STR("prompt_edited")).ptr != NULL) {
		rt_json_add_comma(array);
		rt_buf_add_c(array, "{\"op\":\"prompt.notify\"}");
		++*count;
	}
	return st;
}

rt_status
rt_edit_notice_add(rt_engine *engine, rt_str discussion, rt_str take, rt_str at, rt_buf *array,
		   size_t *out_count, rt_error *err)
{
	noticing n = {.engine = engine};
	rt_status st;

	*out_count = 0;
	n.arena = rt_arena_new(engine->alloc);
	if (n.arena == NULL)
		return nomem(err);
	n.value = rt_engine_value(engine);
	st = add_all(&n, discussion, take, at, array, out_count, err);
	rt_object_unref(n.value);
	rt_arena_free(n.arena);
	return st;
}
