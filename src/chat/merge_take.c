/* SPDX-License-Identifier: MIT
 *
 * Merging a take: a model summarises what another take concluded after the point where the two
 * diverge, and the summary becomes an entry at the head of this one.
 *
 *   A ── B ── C ── D           this take; the summary follows D
 *         `── E ── F ── G      the other one: E F G are summarised, from the last compaction on
 *
 * The entry is a branch_summary like the one of a branch that was left: from_id is the tip of the
 * other take, first_id its first entry that was read, from_take its name. */
#include "chat/summary_impl.h"

#define TASK                                                                                      \
	"The conversation above is the end of an alternative branch of a conversation. Summarise what " \
	"it concluded, for a reader who continues the conversation without having seen that branch: " \
	"results, decisions with their reasons, and open questions. Keep names, numbers, paths and " \
	"code exactly."

/* The last compaction from there on replaces the entries before it. */
static size_t
skip_compacted(rt_summing *s, size_t first)
{
	for (size_t i = s->count; i > first && rt_ok(&s->scope); i--) {
		rt_str kind = {0};

		if (s->slots[i - 1].kind != 0)
			RT_TRY(&s->scope, rt_project_name(s->value, s->slots[i - 1].kind, &kind,
							  &s->scope.error));
		if (rt_str_is(kind, "compaction"))
			return i - 1;
	}
	return first;
}

static void
merge(rt_summing *s, const rt_merge_take_options *o)
{
	rt_scope *sc = &s->scope;
	rt_place to = {0, 0};
	rt_place_ids from = rt_place_ids_of(s->place);
	size_t common = 0;

	if (!rt_ok(sc))
		return;
	RT_TRY(sc, rt_resolve_place(s->value, rt_str_of(from.disc), o->take, &to, &sc->error));
	if (!rt_ok(sc))
		return;
	rt_str name = rt_text_str(s->take->name);
	if (to.take == s->place.take)
		rt_scope_fail(sc, RT_REFUSED, "the take \"%.*s\" cannot be merged into itself",
			      RT_STR_ARG(name));
	rt_summing_reach(s, rt_seq_count(s->take->slots)); /* wherever its head is */
	if (!rt_ok(sc))
		return;
	RT_TRY(sc, rt_seq_common(s->take->slots, rt_disc_take(s->disc, to.take)->slots, &common,
				 &sc->error));
	size_t first = skip_compacted(s, common);

	for (size_t i = first; i < s->count && rt_ok(sc); i++)
		rt_summing_add_entry(s, RT_STR(""), &s->slots[i]);
	if (s->out->entries == 0)
		rt_scope_fail(
			sc, RT_REFUSED,
			"the take \"%.*s\" has no entries to summarise after the point where it diverges",
			RT_STR_ARG(name));
	s->needs.from = first;
	s->needs.count = s->count - first;
	s->needs.nothing = "nothing was merged";
	rt_summing_ask_model(s, RT_STR(TASK), o->instructions);
	if (!rt_ok(sc))
		return;
	rt_buf *fields = rt_summing_open_fields(s);

	RT_TRY(sc, rt_hook_call_add_id(s->value, fields, "from_id", s->slots[s->count - 1].entry,
				       &sc->error));
	RT_TRY(sc, rt_hook_call_add_id(s->value, fields, "first_id", s->slots[first].entry,
				       &sc->error));
	rt_json_put_str(fields, "from_take", name);
	rt_request request = {.op = RT_OP_ENTRY_APPEND,
			      .role = RT_STR("System"),
			      .kind = RT_STR("branch_summary"),
			      .content.text = rt_buf_str(s->summary),
			      .source = rt_summing_close_fields(s, fields, o->instructions)};
	rt_summing_apply(s, to.take, &request, 1, false);
}

rt_status
rt_engine_merge_take(rt_engine *engine, const rt_merge_take_options *options,
		     rt_summary_result *out, rt_error *err)
{
	rt_summing s;

	rt_summing_begin(&s, engine, &options->with, options->discussion, options->from, out);
	rt_summing_need_model(&s);
	merge(&s, options);
	return rt_summing_end(&s, err);
}
