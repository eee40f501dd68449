/* SPDX-License-Identifier: MIT
 *
 * Navigation: the head moves to another entry of the tree, with or without a summary of the
 * branch that it leaves (seed 4).
 *
 *   A ── B ── C ── D ── E ── F    the head now
 *              `── G ── H         target
 *              ^common ancestor: D E F are summarized, from F back to C or to a
 *               compaction, which summarizes everything before it */
#include "chat/summary_impl.h"
#include "core/role.h"

#define TASK "Summarize this conversation branch concisely"

typedef struct navigation {
	rt_summing *s;
	const rt_navigate_options *options;
	uint32_t target;   /* 0: before the first */
	uint32_t take;     /* the number of the target's */
	uint32_t leaf;     /* the head now; 0: before the first */
	uint32_t to;       /* the head afterwards; 0: before the first */
	uint32_t ancestor; /* 0: none */
	size_t common;     /* entries that both paths share */
	size_t first;      /* summarized positions: first .. count-1 */
	rt_buf *editor;    /* text that is returned; NULL: none */
} navigation;

static bool
is_user_message(rt_str role, rt_str kind)
{
	return rt_str_is(kind, "custom_message") ||
	       ((kind.size == 0 || rt_str_is(kind, "message")) && rt_role_is_user(role));
}

/* For a user's or custom message the head goes before it, and its text is returned (T10). */
static void
select_target(navigation *g, const rt_take *take, size_t at, const rt_slot *slot)
{
	rt_summing *s = g->s;
	rt_scope *sc = &s->scope;
	rt_effect_slot named;
	rt_slot parent = {0};

	RT_TRY(sc, rt_hook_call_name(s->value, slot, &named, &sc->error));
	if (!rt_ok(sc) || !is_user_message(named.role, named.kind))
		return;
	g->editor = rt_scope_buf(sc);
	const rt_body *body = rt_summing_read_body(s, slot);

	if (body == NULL)
		return;
	rt_body_add_text(g->editor, body);
	(void)rt_scope_str(sc, g->editor);
	if (at > 0)
		RT_TRY(sc, rt_seq_copy(take->slots, at - 1, 1, &parent, &sc->error));
	g->to = parent.entry;
}

/* Where the two paths diverge, by entry (C40). */
static void
find_common(navigation *g, const rt_take *take, size_t count)
{
	rt_summing *s = g->s;
	size_t low = 0, high = count < s->count ? count : s->count;
	rt_slot slot;

	if (take == s->take)
		low = high;
	while (low < high && RT_TRY(&s->scope, rt_seq_copy(take->slots, low, 1, &slot,
							   &s->scope.error)) == RT_OK) {
		if (slot.entry != s->slots[low].entry)
			break;
		low++;
	}
	g->common = low;
	g->ancestor = low > 0 ? s->slots[low - 1].entry : 0;
}

static void
find_target(navigation *g)
{
	const rt_navigate_options *o = g->options;
	rt_summing *s = g->s;
	rt_scope *sc = &s->scope;
	const rt_take *take = s->take;
	rt_place place = s->place;
	rt_slot slot = {0};
	bool found = false;
	size_t at = 0;

	if (!rt_ok(sc))
		return;
	g->leaf = s->count > 0 ? s->slots[s->count - 1].entry : 0;
	g->take = take->number;
	if (o->target.ptr == NULL) {
		find_common(g, take, 0);
		return;
	}
	if (o->target_take.size > 0)
		RT_TRY(sc, rt_resolve_place(s->value, s->discussion, o->target_take, &place,
					    &sc->error));
	RT_TRY(sc, rt_resolve_entry(s->value, place, o->target, true, &g->target, &sc->error));
	if (!rt_ok(sc))
		return;
	g->take = place.take;
	take = rt_disc_take(s->disc, g->take);
	RT_TRY(sc, rt_take_find(s->value, take, g->target, &at, &slot, &found, &sc->error));
	if (!found &&
	    RT_TRY(sc, rt_take_holding(s->value, s->disc, g->target, &g->take, &at, &sc->error)) ==
		    RT_OK) {
		take = rt_disc_take(s->disc, g->take);
		RT_TRY(sc, rt_seq_copy(take->slots, at, 1, &slot, &sc->error));
	}
	g->to = g->target;
	if (rt_ok(sc) && o->select && g->target != g->leaf)
		select_target(g, take, at, &slot);
	find_common(g, take, at + 1);
}

/* From the leaf back to the common ancestor, or to a compaction. */
static void
find_abandoned(navigation *g)
{
	rt_summing *s = g->s;
	rt_scope *sc = &s->scope;

	for (g->first = s->count; g->first > g->common && rt_ok(sc); g->first--) {
		const rt_slot *slot = &s->slots[g->first - 1];
		rt_str kind = {0};

		if (slot->kind != 0)
			RT_TRY(sc, rt_project_name(s->value, slot->kind, &kind, &sc->error));
		if (rt_str_is(kind, "compaction"))
			break;
	}
}

static void
ask_hooks(navigation *g)
{
	rt_summing *s = g->s;
	rt_scope *sc = &s->scope;
	rt_hooks *hooks = s->with->hooks;
	rt_hook_call_leaving leaving = {.target = g->target,
					.leaf = g->leaf,
					.ancestor = g->ancestor,
					.slots = s->slots + g->first,
					.count = s->count - g->first,
					.wants_summary = g->options->summarize};

	rt_hooks_renew(hooks);
	if (hooks == NULL || !hooks->ops->wants(hooks, "head.before_move"))
		return;
	rt_buf *m = rt_scope_buf(sc);
	RT_TRY(sc, rt_hook_call_add_preparation(s->engine, s->value, &leaving, NULL, m,
						&sc->error));
	rt_hook_call_add_known(m, "customInstructions", g->options->instructions);
	rt_summing_put_model(s, m);
	rt_summing_ask_hooks(s, "head.before_move", m);
	if (!g->options->summarize) { /* a hook's summary is used only if one was requested */
		rt_buf_clear(s->summary);
		rt_buf_clear(s->details);
		s->out->from_hook = false;
	}
}

static void
summarize(navigation *g)
{
	rt_summing *s = g->s;

	for (size_t i = g->first; i < s->count && rt_ok(&s->scope); i++)
		rt_summing_add_entry(s, RT_STR(""), &s->slots[i]);
	if (s->summary->size == 0 && s->text->size > 0)
		rt_summing_ask_model(s, RT_STR(TASK), g->options->instructions);
	if (s->scope.status == RT_INTERRUPTED)
		(void)rt_fail(&s->scope.error, RT_INTERRUPTED, "Navigation cancelled");
}

static void
move(navigation *g)
{
	rt_summing *s = g->s;
	rt_scope *sc = &s->scope;
	char to[RT_ID_MAX + 1] = "";
	rt_request requests[2] = {{.op = RT_OP_HEAD_MOVE, .entry = RT_NULL_STR},
				  {.op = RT_OP_ENTRY_APPEND,
				   .role = RT_STR("System"),
				   .kind = RT_STR("branch_summary")}};
	bool has_summary = s->summary->size > 0;

	/* Only the move needs the take of the call: the summary goes to the new head. */
	rt_place_ids ids = rt_place_ids_of((rt_place){
		0, g->options->target_take.size > 0 ? g->take : s->place.take});
	requests[0].take = rt_str_of(ids.take);
	if (g->to != 0) {
		RT_TRY(sc, rt_entry_id(s->value, g->to, to, &sc->error));
		requests[0].entry = rt_str_of(to);
	}
	if (has_summary) {
		rt_buf *fields = rt_summing_open_fields(s);

		RT_TRY(sc, rt_hook_call_add_id(s->value, fields, "from_id", g->leaf, &sc->error));
		requests[1].content.text = rt_buf_str(s->summary);
		requests[1].source = rt_summing_close_fields(s, fields, g->options->instructions);
		/* the summarised branch, without entries added to its end since */
		s->needs.from = g->first;
		s->needs.count = s->count - g->first;
		s->needs.to_end = s->count == rt_seq_count(s->take->slots);
		s->needs.nothing = "nothing was moved";
	}
	rt_summing_apply(s, 0, requests, has_summary ? 2 : 1, true);
	if (!has_summary)
		s->out->entry[0] = '\0';
}

static void
tell_hooks(navigation *g)
{
	rt_summing *s = g->s;
	rt_hooks *hooks = s->with->hooks;
	bool has_summary = s->out->entry[0] != '\0';
	rt_scope sc;

	rt_hooks_renew(hooks);
	if (hooks == NULL || !hooks->ops->wants(hooks, "head.after_move"))
		return;
	rt_scope_init(&sc, s->engine->alloc);
	rt_buf *m = rt_scope_buf(&sc);
	if (has_summary)
		rt_json_put_c(m, "newLeafId", s->out->entry);
	else
		RT_TRY(&sc, rt_hook_call_add_id(s->value, m, "newLeafId", g->to, NULL));
	RT_TRY(&sc, rt_hook_call_add_id(s->value, m, "oldLeafId", g->leaf, NULL));
	if (has_summary)
		rt_summing_put_made(s, &sc, m, "summaryEntry");
	if (rt_ok(&sc))
		rt_summing_tell_hooks(s, "head.after_move", m);
	rt_scope_deinit(&sc);
}

static void
navigate(navigation *g)
{
	rt_summing *s = g->s;
	rt_scope *sc = &s->scope;
	rt_summary_result *out = s->out;
	const rt_text *editor = NULL;

	find_target(g);
	if (!rt_ok(sc))
		return;
	if (g->target == g->leaf && s->take->number == s->disc->active &&
	    g->take == s->take->number) {
		out->already = true;
		if (g->target != 0)
			RT_TRY(sc, rt_entry_id(s->value, g->target, out->target, &sc->error));
		return;
	}
	find_abandoned(g);
	if (rt_ok(sc))
		ask_hooks(g);
	if (g->options->summarize && rt_ok(sc))
		summarize(g);
	if (g->to != 0)
		RT_TRY(sc, rt_entry_id(s->value, g->to, out->target, &sc->error));
	if (g->editor != NULL && rt_ok(sc)) {
		editor = rt_text_new(s->engine->alloc, rt_buf_str(g->editor));
		if (editor == NULL)
			rt_scope_nomem(sc);
	}
	move(g);
	if (rt_ok(sc)) {
		out->editor = editor;
		tell_hooks(g);
	} else {
		rt_text_unref(editor);
	}
}

rt_status
rt_engine_navigate(rt_engine *engine, const rt_navigate_options *options, rt_summary_result *out,
		   rt_error *err)
{
	rt_summing s;
	navigation g = {.s = &s, .options = options};

	rt_summing_begin(&s, engine, &options->with, options->discussion, options->take, out);
	navigate(&g);
	return rt_summing_end(&s, err);
}
