/* SPDX-License-Identifier: MIT
 *
 * Finds the edits that the model does not know of, and words the notices. */
#include "chat/edit_notice.h"
#include "core/role.h"
#include "view/view_rows.h"

enum {
	EDITS_MAX = RT_EDIT_NOTICES_MAX - 1, /* edited replies in one round: the newest */
	STEPS_MAX = 2000,  /* that are searched */
	SHOWN_MAX = 2000,  /* bytes of an edited text that are repeated */
};

typedef struct noticing {
	rt_scope *scope;
	rt_engine *engine;
	const rt_project *value;
	const rt_disc *disc;
	const rt_take *take;
	size_t end; /* of the path that the question continues */
	uint32_t entries[EDITS_MAX];
	size_t count;
} noticing;

/* The setting: 'n'one, 'p'rompt, 'a'll. */
static char
which(const noticing *n)
{
	rt_str json = rt_project_setting(n->value, n->disc, "setting.edit_notices");

	if (rt_str_is(json, "\"all\""))
		return 'a';
	return rt_str_is(json, "\"none\"") ? 'n' : 'p';
}

static bool
is_known(const noticing *n, uint32_t entry)
{
	for (size_t i = 0; i < n->count; i++)
		if (n->entries[i] == entry)
			return true;
	return false;
}

/* Is this the same entry with another text? Many edits may be one step (a batch). */
static bool
is_changed(const rt_effect *e, size_t k)
{
	return e->removed_count == e->added_count &&
	       e->removed[k].slot.entry == e->added[k].slot.entry &&
	       e->removed[k].slot.body != e->added[k].slot.body;
}

static rt_str
text_of(noticing *n, uint64_t number)
{
	rt_view view = {n->scope, n->engine, n->value, {0, 0}};
	const rt_body *body = rt_view_body(&view, number);
	rt_buf *text = rt_scope_buf(n->scope);

	if (body != NULL)
		rt_body_add_text(text, body);
	return rt_scope_str(n->scope, text);
}

/* A user's edit that changes further fields is an entry.reply, as a continuation by the model is.
 * Both can keep a reply edited, but the text of a continuation begins with the previous one. */
static bool
is_by_hand(noticing *n, const rt_effect *e, size_t k)
{
	const rt_slot *before = &e->removed[k].slot, *after = &e->added[k].slot;

	if ((after->flags & RT_SLOT_EDITED) == 0 || (before->flags & RT_SLOT_EDITED) == 0)
		return (after->flags & RT_SLOT_EDITED) != 0;
	return !rt_str_starts(text_of(n, after->body), text_of(n, before->body));
}

/* Collects a step's edits of replies; *out_end: the model was sent everything before it. */
static void
collect_edits(noticing *n, const rt_record *step, bool *out_end)
{
	bool may_edit = rt_op_may(step->op, RT_OP_EDITS_TEXT);

	*out_end = rt_op_may(step->op, RT_OP_REPLIES);
	for (size_t i = step->effect_count; i-- > 0;) { /* the newest first */
		const rt_effect *e = &step->effects[i];

		if (e->kind != RT_EFFECT_SPLICE)
			continue;
		for (size_t k = e->added_count; k-- > 0;) {
			const rt_effect_slot *slot = &e->added[k];
			bool is_edit = is_changed(e, k);

			if (rt_str_is(slot->kind, "prompt_notice") && e->removed_count == 0)
				*out_end = true;
			if (is_edit && !may_edit) {
				is_edit = *out_end && is_by_hand(n, e, k);
				*out_end = *out_end && !is_edit;
			}
			if (is_edit && slot->kind.size == 0 &&
			    rt_role_is_assistant(slot->role) && n->count < EDITS_MAX &&
			    !is_known(n, slot->slot.entry))
				n->entries[n->count++] = slot->slot.entry;
		}
	}
}

static void
find_edits(noticing *n)
{
	uint64_t seq = n->disc->history.current;
	bool end = false;
	rt_scope step_scope;

	rt_scope_init(&step_scope, n->engine->alloc);
	for (size_t steps = 0; seq != 0 && !end && steps < STEPS_MAX && n->count < EDITS_MAX;
	     steps++) {
		rt_record step;
		uint64_t parent = 0;

		rt_scope_reset(&step_scope);
		rt_arena *arena = rt_scope_arena(&step_scope);
		if (RT_TRY(&step_scope, rt_engine_record(n->engine, seq, arena, &step, NULL,
							 &step_scope.error)) != RT_OK)
			break;
		collect_edits(n, &step, &end);
		for (size_t i = 0; i < step.parent_count; i++)
			if (step.parents[i].disc == n->disc->number)
				parent = step.parents[i].step;
		seq = parent;
	}
	(void)rt_scope_join(n->scope, &step_scope);
}

/* The notice of an edited reply that still exists; false: it needs none. */
static bool
write_notice(noticing *n, uint32_t entry, rt_request *out)
{
	rt_scope *sc = n->scope;
	rt_buf *words = rt_scope_buf(sc);
	rt_slot slot;
	bool found = false;
	size_t at = 0;

	RT_TRY(sc, rt_take_find(n->value, n->take, entry, &at, &slot, &found, &sc->error));
	if (!rt_ok(sc) || !found || at >= n->end || (slot.flags & RT_SLOT_MUTED) != 0)
		return false;
	rt_str text = text_of(n, slot.body);
	size_t cut = rt_utf8_cut(text, SHOWN_MAX);
	rt_buf_add_f(words, "[user edited reply %zu to: \"", at + 1);
	rt_buf_add_str(words, rt_str_at(text.ptr, cut));
	rt_buf_add_c(words, cut < text.size ? "…\"]" : "\"]");
	*out = (rt_request){.op = RT_OP_ENTRY_APPEND,
			    .role = RT_STR("system"),
			    .kind = RT_STR("prompt_notice"),
			    .content.text = rt_scope_str(sc, words)};
	return rt_ok(sc);
}

/* Where the question is added. */
static void
find_end(noticing *n, rt_place place, rt_str at)
{
	rt_scope *sc = n->scope;
	uint32_t entry;
	bool found = false;
	size_t position = 0;

	n->end = rt_seq_count(n->take->slots);
	if (at.size == 0) {
		if (n->take->number == n->disc->active)
			RT_TRY(sc, rt_disc_head_at(n->value, n->disc, &n->end, &sc->error));
		return;
	}
	/* an invalid address fails when the head is moved there */
	if (rt_resolve_entry(n->value, place, at, false, &entry, NULL) == RT_OK)
		RT_TRY(sc, rt_take_find(n->value, n->take, entry, &position, NULL, &found,
					&sc->error));
	if (found)
		n->end = position + 1;
}

static size_t
make_requests(noticing *n, rt_str discussion, rt_str take, rt_str at, rt_request *out)
{
	rt_scope *sc = n->scope;
	rt_place place;
	size_t count = 0;

	RT_TRY(sc, rt_resolve_place(n->value, discussion, take, &place, &sc->error));
	RT_TRY(sc, rt_project_disc(n->value, place.disc, &n->disc, &sc->error));
	if (!rt_ok(sc))
		return 0;
	n->take = rt_disc_take(n->disc, place.take);
	char how = which(n);
	if (how == 'a') {
		find_end(n, place, at);
		if (rt_ok(sc))
			find_edits(n);
	}
	for (size_t i = n->count; i > 0; i--) /* oldest first */
		count += write_notice(n, n->entries[i - 1], &out[count]);
	if (how != 'n' && rt_fields_get(n->disc->fields, RT_STR("prompt_edited")).ptr != NULL)
		out[count++] = (rt_request){.op = RT_OP_PROMPT_NOTIFY};
	return rt_ok(sc) ? count : 0;
}

size_t
rt_edit_notice_requests(rt_scope *scope, rt_engine *engine, rt_str discussion, rt_str take,
			rt_str at, rt_request *out)
{
	noticing n = {.scope = scope, .engine = engine, .value = rt_engine_value(engine)};
	size_t count = make_requests(&n, discussion, take, at, out);

	rt_object_unref(n.value);
	return count;
}
