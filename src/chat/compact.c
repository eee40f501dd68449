/* SPDX-License-Identifier: MIT
 *
 * Compaction: where to cut, the request to the model, the entry with the summary.
 *
 *   1 … 40   summarised    41 … 55   kept unchanged       56 the compaction
 *   `------ content -----' `first_kept
 *
 * Of an earlier compaction only the summary is read, so the cost is that of the entries added
 * since. */
#include "chat/summary_impl.h"

#define TASK                                                                                     \
	"Summarise the conversation above for a reader who continues it without having seen it. " \
	"State the goal, the decisions and their reasons, completed work, work in progress, " \
	"blockers and next steps. Keep names, numbers, paths, error "               \
	"messages and code exactly where they still matter. If the conversation begins with an " \
	"earlier summary, keep the parts that are still valid."

typedef rt_summing_parts parts;

/* The compacted parts: first .. end-1. */
typedef struct range {
	size_t first, end;
	char from[RT_ID_MAX + 1], to[RT_ID_MAX + 1]; /* if a range was given */
} range;

/* May the kept part begin here? Not with the result of a call that is summarised. */
static bool
can_begin(rt_summing *s, const rt_context_part *part)
{
	rt_scope *sc = &s->scope;
	const rt_slot *slot = &s->slots[part->at];
	rt_context_entry entry;
	rt_effect_slot named;

	if (part->is_summary || (slot->flags & RT_SLOT_RICH) == 0)
		return !part->is_summary;
	RT_TRY(sc, rt_hook_call_name(s->value, slot, &named, &sc->error));
	const rt_body *body = rt_summing_read_body(s, slot);

	if (body == NULL)
		return false;
	rt_context_entry_of(&entry, named.role, named.kind, body);
	return !rt_context_entry_is_result(&entry);
}

static void
put_id(rt_summing *s, uint32_t entry, char *out)
{
	RT_TRY(&s->scope, rt_entry_id(s->value, entry, out, &s->scope.error));
}

/* The first part that is kept. */
static size_t
choose_cut(rt_summing *s, const parts *p, size_t keep_tokens)
{
	size_t cut = p->count, kept = 0;

	while (cut > 0 && kept + p->items[cut - 1].tokens <= keep_tokens)
		kept += p->items[--cut].tokens;
	if (cut == p->count && cut > 0)
		cut--; /* the last one is kept, whatever its size */
	while (cut > 0 && rt_ok(&s->scope) && !can_begin(s, &p->items[cut]))
		cut--;
	return cut;
}

/* Compactions on the path, newest first. */
static void
add_previous(rt_summing *s, rt_buf *out)
{
	rt_str kind;

	for (size_t i = s->count; i > 0 && rt_ok(&s->scope); i--)
		if (s->slots[i - 1].kind != 0 &&
		    rt_project_name(s->value, s->slots[i - 1].kind, &kind, NULL) ==
			    RT_OK &&
		    rt_str_is(kind, "compaction"))
			rt_summing_put_summary(&s->scope, s->engine, s->value, s->take, i - 1, out,
					       NULL);
}

/* Writes the text to compact and calls hooks. */
static void
ask_hooks(rt_summing *s, const rt_compact_options *o, const parts *p, const range *r)
{
	rt_hooks *hooks = o->with.hooks;
	rt_buf *m = rt_scope_buf(&s->scope);

	rt_hooks_renew(hooks);
	bool wanted = !o->dry_run && hooks != NULL && hooks->ops->wants(hooks, "compact.before");
	rt_json_open(m, "preparation", '{');
	rt_json_put_c(m, "firstKeptEntryId", s->out->first_kept);
	rt_json_put_u64(m, "tokensBefore", s->out->tokens_before);
	rt_json_open(m, "entriesToSummarize", '[');
	s->out->tokens_after = s->out->tokens_before -
			       rt_summing_add_parts(s, p, r->first, r->end, wanted ? m : NULL);
	rt_json_close(m, ']');
	rt_json_close(m, '}');
	rt_json_open(m, "previousCompactions", '[');
	if (wanted)
		add_previous(s, m);
	rt_json_close(m, ']');
	rt_json_put_c(m, "reason", o->is_threshold ? "threshold" : "manual");
	rt_hook_call_add_known(m, "customInstructions", o->instructions);
	rt_summing_put_model(s, m);
	if (wanted)
		rt_summing_ask_hooks(s, "compact.before", m);
}

/* The summarised entries must still be unchanged, and for the beginning of a path the first kept
 * entry must follow them. */
static void
need_parts(rt_summing *s, const rt_compact_options *o, const parts *p, const range *r)
{
	size_t end = 0;

	for (size_t i = r->first; i < r->end; i++)
		if (end <= p->items[i].at)
			end = p->items[i].at + 1;
	if (o->from.size > 0) {
		s->needs.from = p->items[r->first].at;
		s->needs.floats = true;
	} else if (end <= p->items[r->end].at) {
		end = p->items[r->end].at;
		s->needs.next = p->items[r->end].entry;
	}
	s->needs.count = end - s->needs.from;
	s->needs.nothing = "nothing was changed";
}

static void
append(rt_summing *s, const rt_compact_options *o, const range *r, rt_str before)
{
	rt_request request = {.op = before.size > 0 ? RT_OP_ENTRY_INSERT : RT_OP_ENTRY_APPEND,
			      .before = before.size > 0 ? before : (rt_str){0},
			      .role = RT_STR("System"),
			      .kind = RT_STR("compaction"),
			      .content.text = rt_buf_str(s->summary)};
	rt_buf *fields = rt_summing_open_fields(s);

	if (r->from[0] != '\0') {
		rt_json_put_c(fields, "from", r->from);
		rt_json_put_c(fields, "to", r->to);
	} else {
		rt_json_put_c(fields, "first_kept", s->out->first_kept);
	}
	rt_json_put_u64(fields, "tokens_before", s->out->tokens_before);
	rt_json_put_c(fields, "reason", o->is_threshold ? "threshold" : "manual");
	request.source = rt_summing_close_fields(s, fields, o->instructions);
	rt_summing_apply(s, s->place.take, &request, 1, true);
}

/* Addresses of a range to ids and parts. */
static void
find_range(rt_summing *s, const rt_compact_options *o, const parts *p, range *r)
{
	rt_scope *sc = &s->scope;
	uint32_t from = 0, to = 0;

	RT_TRY(sc, rt_resolve_entry(s->value, s->place, o->from, false, &from, &sc->error));
	RT_TRY(sc, rt_resolve_entry(s->value, s->place, o->to, false, &to, &sc->error));
	put_id(s, from, r->from);
	put_id(s, to, r->to);
	if (!rt_ok(sc))
		return;
	r->first = r->end = SIZE_MAX;
	for (size_t i = 0; i < p->count; i++) {
		if (p->items[i].is_summary)
			continue;
		if (p->items[i].entry == from)
			r->first = i;
		if (p->items[i].entry == to)
			r->end = i + 1;
	}
	if (r->first == SIZE_MAX || r->end == SIZE_MAX || r->first >= r->end) {
		rt_scope_fail(sc, RT_USAGE,
			      "a range goes from an entry to a later one, and both must be part of the request");
		return;
	}
	/* neither end of a range separates a call from its result */
	bool begins = can_begin(s, &p->items[r->first]);
	bool follows = r->end >= p->count || p->items[r->end].is_summary ||
		       can_begin(s, &p->items[r->end]);
	if (!begins || !follows)
		rt_scope_fail(sc, RT_REFUSED,
			      "the range separates a tool call from its result; also include %s",
			      begins ? "the results after it" : "the call before it");
}

/* The beginning of the path. */
static void
find_beginning(rt_summing *s, const rt_compact_options *o, const parts *p, range *r)
{
	size_t i = 0;

	r->end = choose_cut(s, p, o->keep_tokens > 0 ? o->keep_tokens : RT_COMPACT_KEEP_TOKENS);
	while (i < r->end && p->items[i].is_summary)
		i++;
	if (i >= r->end)
		rt_scope_fail(&s->scope, RT_REFUSED,
			      "nothing to compact: all entries are within the part to keep");
	if (rt_ok(&s->scope))
		put_id(s, p->items[r->end].entry, s->out->first_kept);
}

/* The path ends with o->before; returns that entry. */
static uint32_t
find_end(rt_summing *s, const rt_compact_options *o)
{
	rt_scope *sc = &s->scope;
	uint32_t entry = 0;
	bool found = false;
	size_t at = 0;

	RT_TRY(sc, rt_resolve_entry(s->value, s->place, o->before, true, &entry, &sc->error));
	RT_TRY(sc, rt_take_find(s->value, s->take, entry, &at, NULL, &found, &sc->error));
	if (!found)
		rt_scope_fail(sc, RT_NOT_FOUND, "the take does not contain that entry");
	rt_summing_reach(s, at + 1);
	return entry;
}

/* The last part that a compaction can be inserted before: a call and its results stay
 * together. */
static void
find_gap(rt_summing *s, const parts *p, char *out_id)
{
	size_t at = p->count;
	bool good = false;

	while (!good && at > 0 && rt_ok(&s->scope))
		good = can_begin(s, &p->items[--at]);
	if (!good)
		rt_scope_fail(&s->scope, RT_REFUSED, "nothing to compact");
	if (rt_ok(&s->scope))
		put_id(s, p->items[at].entry, out_id);
}

static void
compact(rt_summing *s, const rt_compact_options *o)
{
	rt_scope *sc = &s->scope;
	range r = {0};
	char gap[RT_ID_MAX + 1] = "";
	uint32_t end = 0;

	if (o->before.size > 0)
		end = find_end(s, o);
	parts p = rt_summing_read_parts(s, o->with.model->provider, end);
	if (o->before.size > 0)
		find_gap(s, &p, gap);
	if (!rt_ok(sc))
		return;
	if (o->from.size > 0)
		find_range(s, o, &p, &r);
	else
		find_beginning(s, o, &p, &r);
	if (!rt_ok(sc))
		return;
	ask_hooks(s, o, &p, &r);
	size_t tokens = rt_tokens_estimate(s->text->size);
	if (s->summary->size == 0 && o->is_threshold && o->with.budget_tokens > 0 &&
	    tokens > o->with.budget_tokens)
		rt_scope_fail(sc, RT_LIMIT,
			      "the text to summarise has about %zu tokens, but the model accepts "
			      "%zu; summarise a part of it: retake compact FROM..TO",
			      tokens, o->with.budget_tokens);
	if (!o->dry_run && rt_ok(sc)) {
		if (s->summary->size == 0)
			rt_summing_ask_model(s, RT_STR(TASK), o->instructions);
		need_parts(s, o, &p, &r);
		append(s, o, &r, rt_str_of(gap));
	}
	if (rt_ok(sc))
		s->out->tokens_after +=
			rt_tokens_estimate(s->summary->size) + RT_TOKENS_PER_MESSAGE;
}

/* In a separate scope: the step is done, so nothing may fail any more. */
static void
tell_hooks(rt_summing *s)
{
	rt_scope sc;

	rt_scope_init(&sc, s->engine->alloc);
	rt_buf *m = rt_scope_buf(&sc);

	rt_summing_put_made(s, &sc, m, "compactionEntry");
	if (rt_ok(&sc))
		rt_summing_tell_hooks(s, "compact.after", m);
	rt_scope_deinit(&sc);
}

rt_status
rt_engine_compact(rt_engine *engine, const rt_compact_options *options, rt_summary_result *out,
		  rt_error *err)
{
	rt_summing s;

	rt_summing_begin(&s, engine, &options->with, options->discussion, options->take, out);
	rt_summing_need_model(&s);
	if ((options->from.size > 0) != (options->to.size > 0))
		rt_scope_fail(&s.scope, RT_USAGE, "a range needs a beginning and an end");
	if (rt_ok(&s.scope))
		compact(&s, options);
	if (rt_ok(&s.scope) && !options->dry_run)
		tell_hooks(&s);
	return rt_summing_end(&s, err);
}
