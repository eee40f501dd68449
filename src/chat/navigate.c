/* SPDX-License-Identifier: MIT
 *
 * Going elsewhere in the tree, with or without a summary of the branch that is left
 * (seed 4).
 *
 *   A ── B ── C ── D ── E ── F    the head is left here
 *              `── G ── H         target
 *              ^common ancestor: D E F are summed up, from F back to C, or to a
 *               compaction, which has summed up what is before it already */
#include "chat/summary_impl.h"
#include "core/role.h"

#define TASK "Summarize this conversation branch concisely"

typedef struct going {
	rt_summing *s;
	const rt_navigate_options *options;
	uint32_t target;   /* 0: before the first */
	uint32_t take;     /* the number of the one that it is gone to */
	uint32_t leaf;     /* the head now; 0: before the first */
	uint32_t to;       /* the head then; 0: before the first */
	uint32_t ancestor; /* 0: none */
	size_t common;     /* entries that both paths share */
	size_t first;      /* of what is summed up: positions first .. count-1 */
	rt_buf editor;
	bool hands_back;
} going;

static bool
is_user_message(rt_str role, rt_str kind)
{
	return rt_str_is(kind, "custom_message") ||
	       ((kind.size == 0 || rt_str_is(kind, "message")) && rt_role_is_user(role));
}

/* A user's or custom message is gone before, its text handed back (T10). */
static rt_status
select_target(going *g, const rt_take *take, size_t at, const rt_slot *slot, rt_error *err)
{
	rt_summing *s = g->s;
	rt_str role, kind = rt_str_at("", 0);
	rt_slot parent;
	rt_buf bytes;
	rt_body body;
	rt_status st = rt_project_name(s->value, slot->role, &role, err);

	if (st == RT_OK && slot->kind != 0)
		st = rt_project_name(s->value, slot->kind, &kind, err);
	if (st != RT_OK || !is_user_message(role, kind))
		return st;
	st = rt_engine_body(s->engine, slot->body, &bytes, &body, err);
	if (st != RT_OK)
		return st;
	rt_body_add_text(&g->editor, &body);
	rt_body_deinit(&body);
	rt_buf_deinit(&bytes);
	g->hands_back = true;
	g->to = 0;
	if (at > 0) {
		st = rt_seq_copy(take->slots, at - 1, 1, &parent, err);
		g->to = parent.entry;
	}
	return st == RT_OK && g->editor.status != RT_OK ? rt_summing_nomem(err) : st;
}

/* Where the two paths part, by entry (C40). */
static rt_status
find_common(going *g, const rt_take *take, size_t count, rt_error *err)
{
	rt_summing *s = g->s;
	size_t low = 0, high = count < s->count ? count : s->count;
	rt_slot slot;
	rt_status st = RT_OK;

	if (take == s->take) {
		g->common = high;
		low = high;
	}
	while (st == RT_OK && low < high) {
		st = rt_seq_copy(take->slots, low, 1, &slot, err);
		if (st != RT_OK || slot.entry != s->slots[low].entry)
			break;
		low++;
	}
	g->common = low;
	g->ancestor = low > 0 ? s->slots[low - 1].entry : 0;
	return st;
}

static rt_status
find_target(going *g, rt_error *err)
{
	const rt_navigate_options *o = g->options;
	rt_summing *s = g->s;
	const rt_take *take = s->take;
	rt_place place = s->place;
	rt_slot slot;
	bool found = false;
	size_t at = 0;
	rt_status st = RT_OK;

	g->leaf = s->count > 0 ? s->slots[s->count - 1].entry : 0;
	g->take = take->number;
	if (o->target.ptr == NULL)
		return find_common(g, take, 0, err);
	/* What is left is a matter of the other take: the one at hand. */
	if (o->target_take.size > 0)
		st = rt_resolve_place(s->value, s->discussion, o->target_take, &place, err);
	if (st == RT_OK) {
		g->take = place.take;
		take = rt_disc_take(s->disc, g->take);
		st = rt_resolve_entry(s->value, place, o->target, true, &g->target, err);
	}
	if (st == RT_OK)
		st = rt_take_find(s->value, take, g->target, &at, &slot, &found, err);
	if (st == RT_OK && !found) {
		st = rt_take_holding(s->value, s->disc, g->target, &g->take, &at, err);
		if (st == RT_OK) {
			take = rt_disc_take(s->disc, g->take);
			st = rt_seq_copy(take->slots, at, 1, &slot, err);
		}
	}
	g->to = g->target;
	if (st == RT_OK && o->select && g->target != g->leaf)
		st = select_target(g, take, at, &slot, err);
	return st == RT_OK ? find_common(g, take, at + 1, err) : st;
}

/* From the leaf back to the common ancestor, or to a compaction. */
static rt_status
find_abandoned(going *g, rt_error *err)
{
	rt_summing *s = g->s;
	rt_str kind;
	rt_status st = RT_OK;

	g->first = s->count;
	while (st == RT_OK && g->first > g->common) {
		const rt_slot *slot = &s->slots[g->first - 1];

		if (slot->kind != 0) {
			st = rt_project_name(s->value, slot->kind, &kind, err);
			if (st == RT_OK && rt_str_is(kind, "compaction"))
				break;
		}
		g->first--;
	}
	return st;
}

static rt_status
ask_hooks(going *g, rt_error *err)
{
	rt_summing *s = g->s;
	rt_hooks *hooks = s->with->hooks;
	rt_hook_call_leaving leaving = {.target = g->target,
					.leaf = g->leaf,
					.ancestor = g->ancestor,
					.slots = s->slots + g->first,
					.count = s->count - g->first,
					.wants_summary = g->options->summarize};
	rt_buf m;
	rt_status st;

	rt_hooks_renew(hooks);
	if (hooks == NULL || !hooks->ops->wants(hooks, "head.before_move"))
		return RT_OK;
	rt_buf_init(&m, s->engine->alloc, RT_BUF_UNLIMITED);
	st = rt_hook_call_add_preparation(s->engine, s->value, &leaving, NULL, &m, err);
	rt_hook_call_add_known(&m, "customInstructions", g->options->instructions);
	rt_hook_call_add_known(&m, "model",
			       s->with->model != NULL ? s->with->model->name : rt_str_at("", 0));
	if (st == RT_OK && m.status != RT_OK)
		st = rt_summing_nomem(err);
	if (st == RT_OK)
		st = rt_summing_ask_hooks(s, "head.before_move", rt_buf_str(&m), err);
	rt_buf_deinit(&m);
	if (!g->options->summarize) { /* a hook's summary is for who wants one */
		rt_buf_clear(&s->summary);
		rt_buf_clear(&s->details);
		s->out->from_hook = false;
	}
	return st;
}

static rt_status
summarize(going *g, rt_error *err)
{
	rt_summing *s = g->s;
	size_t i;
	rt_status st = RT_OK;

	for (i = g->first; st == RT_OK && i < s->count; i++)
		st = rt_summing_add_entry(s, rt_str_at("", 0), &s->slots[i], err);
	if (st == RT_OK && s->summary.size == 0 && s->text.size > 0)
		st = rt_summing_ask_model(s, RT_STR(TASK), g->options->instructions, err);
	if (st == RT_INTERRUPTED)
		st = rt_fail(err, RT_INTERRUPTED, "Navigation cancelled");
	return st;
}

static rt_status
move(going *g, rt_error *err)
{
	rt_summing *s = g->s;
	rt_buf a;
	rt_status st;

	rt_buf_init(&a, s->engine->alloc, RT_BUF_UNLIMITED);
	/* The summary goes where the head is then: only the move is said where to begin. */
	rt_buf_add_f(&a, "[{\"op\":\"head.move\",\"take\":\"t%u\"",
		     g->options->target_take.size > 0 ? g->take : s->place.take);
	st = rt_hook_call_add_id(s->value, &a, "entry", g->to, err);
	rt_buf_add_byte(&a, '}');
	if (st == RT_OK && s->summary.size > 0) {
		rt_buf_add_c(&a, ",{\"op\":\"entry.append\",\"role\":\"System\","
				 "\"kind\":\"branch_summary\"");
		rt_hook_call_add_member(&a, "content", rt_buf_str(&s->summary));
		st = rt_hook_call_add_id(s->value, &a, "from_id", g->leaf, err);
		/* the branch as it was summed up; what others added to its end is not in it */
		s->needs.from = g->first;
		s->needs.count = s->count - g->first;
		s->needs.to_end = s->count == rt_seq_count(s->take->slots);
		s->needs.nothing = "nothing was moved";
		if (s->details.size > 0) {
			rt_json_add_key(&a, "details");
			rt_buf_add_str(&a, rt_buf_str(&s->details));
		}
		if (s->out->from_hook)
			rt_buf_add_c(&a, ",\"from_hook\":true");
		else
			rt_hook_call_add_member(&a, "model", s->with->model->name);
		rt_buf_add_byte(&a, '}');
	}
	rt_buf_add_byte(&a, ']');
	if (st == RT_OK)
		st = a.status == RT_OK
			     ? rt_summing_apply(s, rt_str_at("", 0), rt_buf_str(&a), true, err)
			     : rt_summing_nomem(err);
	if (s->summary.size == 0)
		s->out->entry[0] = '\0';
	rt_buf_deinit(&a);
	return st;
}

static void
tell_done(going *g)
{
	rt_summing *s = g->s;
	rt_hooks *hooks = s->with->hooks;
	rt_buf m;
	rt_status st;

	rt_hooks_renew(hooks);
	if (hooks == NULL || !hooks->ops->wants(hooks, "head.after_move"))
		return;
	rt_buf_init(&m, s->engine->alloc, RT_BUF_UNLIMITED);
	if (s->out->entry[0] != '\0') {
		rt_hook_call_add_member(&m, "newLeafId", rt_str_of(s->out->entry));
		st = RT_OK;
	} else {
		st = rt_hook_call_add_id(s->value, &m, "newLeafId", g->to, NULL);
	}
	if (st == RT_OK)
		st = rt_hook_call_add_id(s->value, &m, "oldLeafId", g->leaf, NULL);
	if (s->out->entry[0] != '\0') {
		rt_buf_add_c(&m, ",\"summaryEntry\":{");
		rt_hook_call_add_member(&m, "id", rt_str_of(s->out->entry));
		rt_hook_call_add_member(&m, "role", RT_STR("System"));
		rt_hook_call_add_member(&m, "kind", RT_STR("branch_summary"));
		rt_hook_call_add_member(&m, "content", rt_buf_str(&s->summary));
		rt_hook_call_add_member(&m, "summary", rt_buf_str(&s->summary));
		rt_buf_add_c(&m, s->out->from_hook ? "},\"fromHook\":true"
						   : "},\"fromHook\":false");
	}
	if (st == RT_OK)
		rt_summing_tell_hooks(s, "head.after_move", &m);
	rt_buf_deinit(&m);
}

rt_status
rt_engine_navigate(rt_engine *engine, const rt_navigate_options *options, rt_summary_result *out,
		   rt_error *err)
{
	rt_summing s;
	going g = {.s = &s, .options = options};
	const rt_text *editor = NULL;
	rt_status st = rt_summing_begin(&s, engine, &options->with, options->discussion,
					options->take, out, err);

	rt_buf_init(&g.editor, engine->alloc, RT_BUF_UNLIMITED);
	if (st == RT_OK)
		st = find_target(&g, err);
	if (st == RT_OK && g.target == g.leaf && s.take->number == s.disc->active &&
	    g.take == s.take->number) {
		out->already = true;
		if (g.target != 0)
			st = rt_entry_id(s.value, g.target, out->target, err);
		goto done;
	}
	if (st == RT_OK)
		st = find_abandoned(&g, err);
	if (st == RT_OK)
		st = ask_hooks(&g, err);
	if (st == RT_OK && options->summarize)
		st = summarize(&g, err);
	if (st == RT_OK && g.to != 0)
		st = rt_entry_id(s.value, g.to, out->target, err);
	if (st == RT_OK && g.hands_back) {
		editor = rt_text_new(engine->alloc, rt_buf_str(&g.editor));
		st = editor != NULL ? RT_OK : rt_summing_nomem(err);
	}
	if (st == RT_OK)
		st = move(&g, err);
	if (st == RT_OK) {
		out->editor = editor;
		editor = NULL;
		tell_done(&g);
	}
done:
	rt_text_unref(editor);
	rt_buf_deinit(&g.editor);
	rt_summing_end(&s);
	return st;
}
