/* SPDX-License-Identifier: MIT
 *
 * Compaction: where to cut, what the model is told, the entry that says it.
 *
 *   1 … 40   summed up     41 … 55   kept to the letter     56 the compaction
 *   `------ content -----' `first_kept
 *
 * What an earlier compaction stands for is not read again: its summary is, so that each
 * compaction costs what has come since. */
#include "chat/summary_impl.h"

#include <stdio.h>

#define TASK                                                                                     \
	"Sum up the conversation above, for somebody who goes on with it and has not seen it. " \
	"Say what is wanted; what was decided, and why; what has been done, what is under way " \
	"and what stands in the way; and what comes next. Keep names, numbers, paths, error "   \
	"messages and code to the letter where they still matter. Where a summary of something " \
	"earlier is part of it, take over what still holds."

typedef rt_summing_parts parts;

static void
gather(void *ctx, const rt_context_part *part)
{
	parts *p = ctx;

	if (p->count == p->room) {
		size_t room = p->room == 0 ? 256 : p->room * 2;
		rt_context_part *more = rt_resize(p->alloc, p->items, room * sizeof(*more));

		if (more == NULL) {
			p->nomem = true;
			return;
		}
		p->items = more;
		p->room = room;
	}
	p->items[p->count++] = *part;
}

rt_status
rt_summing_read_parts(rt_summing *s, const rt_provider *provider, uint32_t upto, parts *p,
		      rt_error *err)
{
	rt_context_totals totals;
	rt_context_options options = {
		.part = gather, .ctx = p, .totals = &totals, .upto = upto};
	rt_buf body;
	rt_status st;

	rt_buf_init(&body, s->engine->alloc, RT_BUF_UNLIMITED);
	st = rt_view_context(s->engine, s->value, s->place, provider, &options, &body, err);
	rt_buf_deinit(&body);
	if (st == RT_OK && p->nomem)
		st = rt_summing_nomem(err);
	if (st == RT_OK)
		s->out->tokens_before = totals.tokens;
	return st;
}

/* May the kept part begin here? Not with the result of a call that is summed up. */
static rt_status
can_begin(rt_summing *s, const rt_context_part *part, bool *out, rt_error *err)
{
	rt_context_entry entry;
	rt_str role, kind = rt_str_at("", 0);
	const rt_slot *slot = &s->slots[part->at];
	rt_buf bytes;
	rt_body body;
	rt_status st;

	*out = !part->is_summary;
	if (part->is_summary || (slot->flags & RT_SLOT_RICH) == 0)
		return RT_OK;
	st = rt_project_name(s->value, slot->role, &role, err);
	if (st == RT_OK && slot->kind != 0)
		st = rt_project_name(s->value, slot->kind, &kind, err);
	if (st == RT_OK)
		st = rt_engine_body(s->engine, slot->body, &bytes, &body, err);
	if (st != RT_OK)
		return st;
	rt_context_entry_of(&entry, role, kind, &body);
	*out = !rt_context_entry_is_result(&entry);
	rt_body_deinit(&body);
	rt_buf_deinit(&bytes);
	return RT_OK;
}

/* The first part that is kept. */
static rt_status
choose_cut(rt_summing *s, const parts *p, size_t keep_tokens, size_t *out, rt_error *err)
{
	size_t cut = p->count, kept = 0;
	bool good = false;
	rt_status st = RT_OK;

	while (cut > 0 && kept + p->items[cut - 1].tokens <= keep_tokens)
		kept += p->items[--cut].tokens;
	if (cut == p->count && cut > 0)
		cut--; /* the last one is kept whatever its size */
	while (st == RT_OK && cut > 0 && !good) {
		st = can_begin(s, &p->items[cut], &good, err);
		if (st == RT_OK && !good)
			cut--;
	}
	*out = cut;
	return st;
}

/* What is summed up, as text; for hooks also as objects. */
static rt_status
tell_parts(rt_summing *s, const parts *p, size_t first, size_t end, rt_buf *objects, rt_error *err)
{
	size_t i;
	rt_status st = RT_OK;

	for (i = first; st == RT_OK && i < end; i++) {
		const rt_slot *slot = &s->slots[p->items[i].at];

		st = rt_summing_add_entry(s,
					  p->items[i].is_summary ? RT_STR("summary of what was before")
								 : rt_str_at("", 0),
					  slot, err);
		if (st == RT_OK && objects != NULL)
			st = rt_summing_add_object(s, slot, objects, err);
	}
	return st;
}

/* Compactions on the path, newest first. */
static rt_status
add_previous(rt_summing *s, rt_buf *out, rt_error *err)
{
	rt_str kind;
	size_t i;
	rt_status st = RT_OK;

	for (i = s->count; st == RT_OK && i > 0; i--)
		if (s->slots[i - 1].kind != 0 &&
		    rt_project_name(s->value, s->slots[i - 1].kind, &kind, err) == RT_OK &&
		    rt_str_is(kind, "compaction"))
			st = rt_summing_add_object(s, &s->slots[i - 1], out, err);
	return st;
}

static rt_status
ask_hooks(rt_summing *s, const rt_compact_options *o, const parts *p, size_t first, size_t cut,
	  rt_error *err)
{
	rt_hooks *hooks = o->with.hooks;
	bool wanted;
	rt_buf m;
	rt_status st;

	rt_hooks_renew(hooks);
	wanted = !o->dry_run && hooks != NULL && hooks->ops->wants(hooks, "compact.before");
	rt_buf_init(&m, s->engine->alloc, RT_BUF_UNLIMITED);
	rt_buf_add_c(&m, "\"preparation\":{");
	rt_hook_call_add_member(&m, "firstKeptEntryId", rt_str_of(s->out->first_kept));
	rt_json_add_key(&m, "tokensBefore");
	rt_buf_add_u64(&m, s->out->tokens_before);
	rt_buf_add_c(&m, ",\"entriesToSummarize\":[");
	st = tell_parts(s, p, first, cut, wanted ? &m : NULL, err);
	rt_buf_add_c(&m, "]},\"previousCompactions\":[");
	if (st == RT_OK && wanted)
		st = add_previous(s, &m, err);
	rt_buf_add_byte(&m, ']');
	rt_hook_call_add_member(&m, "reason",
				o->is_threshold ? RT_STR("threshold") : RT_STR("manual"));
	rt_hook_call_add_known(&m, "customInstructions", o->instructions);
	rt_hook_call_add_known(&m, "model", o->with.model->name);
	if (st == RT_OK && m.status != RT_OK)
		st = rt_summing_nomem(err);
	if (st == RT_OK && wanted)
		st = rt_summing_ask_hooks(s, "compact.before", rt_buf_str(&m), err);
	rt_buf_deinit(&m);
	return st;
}

/* What the summary goes by has to be there still, as it was read: what is told of parts
 * first .. cut-1, and for the beginning of a path that what is kept begins where it did. */
static void
need_parts(rt_summing *s, const rt_compact_options *o, const parts *p, size_t first, size_t cut)
{
	size_t i, end = 0;

	for (i = first; i < cut; i++)
		if (end <= p->items[i].at)
			end = p->items[i].at + 1;
	if (o->from.size > 0) {
		s->needs.from = p->items[first].at;
		s->needs.floats = true;
	} else if (end <= p->items[cut].at) {
		end = p->items[cut].at;
		s->needs.next = p->items[cut].entry;
	}
	s->needs.count = end - s->needs.from;
	s->needs.nothing = "nothing was changed";
}

static rt_status
append(rt_summing *s, const rt_compact_options *o, rt_error *err)
{
	char take[16];
	rt_buf a;
	rt_status st;

	snprintf(take, sizeof(take), "t%u", s->place.take);
	rt_buf_init(&a, s->engine->alloc, RT_BUF_UNLIMITED);
	rt_buf_add_c(&a, o->before.size > 0 ? "[{\"op\":\"entry.insert\"" : "[{\"op\":\"entry.append\"");
	if (o->before.size > 0)
		rt_hook_call_add_member(&a, "before", o->before);
	rt_buf_add_c(&a, ",\"role\":\"System\",\"kind\":\"compaction\"");
	rt_hook_call_add_member(&a, "content", rt_buf_str(&s->summary));
	if (o->from.size > 0) {
		rt_hook_call_add_member(&a, "from", o->from);
		rt_hook_call_add_member(&a, "to", o->to);
	} else {
		rt_hook_call_add_member(&a, "first_kept", rt_str_of(s->out->first_kept));
	}
	rt_json_add_key(&a, "tokens_before");
	rt_buf_add_u64(&a, s->out->tokens_before);
	if (s->details.size > 0) {
		rt_json_add_key(&a, "details");
		rt_buf_add_str(&a, rt_buf_str(&s->details));
	}
	if (s->out->from_hook)
		rt_buf_add_c(&a, ",\"from_hook\":true");
	else
		rt_hook_call_add_member(&a, "model", o->with.model->name);
	rt_buf_add_c(&a, "}]");
	st = a.status == RT_OK ? rt_summing_apply(s, rt_str_of(take), rt_buf_str(&a), true, err)
			       : rt_summing_nomem(err);
	rt_buf_deinit(&a);
	return st;
}

/* Addresses of a range to ids and parts. */
static rt_status
find_range(rt_summing *s, const rt_compact_options *o, const parts *p, size_t *first, size_t *end,
	   char *from_id, char *to_id, rt_error *err)
{
	uint32_t from, to;
	size_t i;
	rt_status st = rt_resolve_entry(s->value, s->place, o->from, false, &from, err);

	if (st == RT_OK)
		st = rt_resolve_entry(s->value, s->place, o->to, false, &to, err);
	if (st == RT_OK)
		st = rt_entry_id(s->value, from, from_id, err);
	if (st == RT_OK)
		st = rt_entry_id(s->value, to, to_id, err);
	if (st != RT_OK)
		return st;
	*first = *end = SIZE_MAX;
	for (i = 0; i < p->count; i++) {
		if (p->items[i].is_summary)
			continue;
		if (p->items[i].entry == from)
			*first = i;
		if (p->items[i].entry == to)
			*end = i + 1;
	}
	if (*first == SIZE_MAX || *end == SIZE_MAX || *first >= *end)
		return rt_fail(err, RT_USAGE,
			       "a range goes from an entry to a later one, both of which are sent now");
	return RT_OK;
}

/* Neither end of a range parts a call from its result. */
static rt_status
check_range(rt_summing *s, const parts *p, size_t first, size_t end, rt_error *err)
{
	bool begins = true, follows = true;
	rt_status st = can_begin(s, &p->items[first], &begins, err);

	if (st == RT_OK && end < p->count && !p->items[end].is_summary)
		st = can_begin(s, &p->items[end], &follows, err);
	if (st == RT_OK && (!begins || !follows))
		st = rt_fail(err, RT_REFUSED,
			     "the range parts a tool's call from its result; take %s",
			     begins ? "the results behind it in" : "the call before it in");
	return st;
}

/* The path ends with o->before. */
static rt_status
find_end(rt_summing *s, const rt_compact_options *o, uint32_t *out, rt_error *err)
{
	bool found = false;
	size_t at = 0;
	rt_status st = rt_resolve_entry(s->value, s->place, o->before, true, out, err);

	if (st == RT_OK)
		st = rt_take_find(s->value, s->take, *out, &at, NULL, &found, err);
	if (st == RT_OK && !found)
		st = rt_fail(err, RT_NOT_FOUND, "the take does not hold that entry");
	return st == RT_OK ? rt_summing_reach(s, at + 1, err) : st;
}

/* The last part that a compaction can stand before: a call and its results stay together. */
static rt_status
find_gap(rt_summing *s, const parts *p, char *out_id, rt_error *err)
{
	size_t at = p->count;
	bool good = false;
	rt_status st = RT_OK;

	while (st == RT_OK && !good && at > 0)
		st = can_begin(s, &p->items[--at], &good, err);
	if (st == RT_OK && !good)
		st = rt_fail(err, RT_REFUSED, "there is nothing to compact");
	return st == RT_OK ? rt_entry_id(s->value, p->items[at].entry, out_id, err) : st;
}

static rt_status
compact(rt_summing *s, const rt_compact_options *o, parts *p, rt_error *err)
{
	char from_id[RT_ID_MAX + 1] = "", to_id[RT_ID_MAX + 1] = "", gap[RT_ID_MAX + 1];
	rt_compact_options fixed = *o;
	size_t cut = 0, first = 0, i;
	uint32_t end = 0;
	rt_status st = RT_OK;

	if (o->before.size > 0)
		st = find_end(s, o, &end, err);
	if (st == RT_OK)
		st = rt_summing_read_parts(s, o->with.model->provider, end, p, err);
	if (st == RT_OK && o->before.size > 0) {
		st = find_gap(s, p, gap, err);
		fixed.before = rt_str_of(gap);
	}
	if (st != RT_OK)
		return st;
	if (o->from.size > 0) {
		st = find_range(s, o, p, &first, &cut, from_id, to_id, err);
		if (st == RT_OK)
			st = check_range(s, p, first, cut, err);
		fixed.from = rt_str_of(from_id);
		fixed.to = rt_str_of(to_id);
	} else {
		st = choose_cut(s, p, o->keep_tokens > 0 ? o->keep_tokens : RT_COMPACT_KEEP_TOKENS,
				&cut, err);
		for (i = 0; i < cut && p->items[i].is_summary; i++)
			;
		if (st == RT_OK && i >= cut)
			st = rt_fail(err, RT_REFUSED,
				     "there is nothing to compact: everything is among what is kept");
		if (st == RT_OK)
			st = rt_entry_id(s->value, p->items[cut].entry, s->out->first_kept, err);
	}
	if (st == RT_OK)
		st = ask_hooks(s, &fixed, p, first, cut, err);
	s->out->tokens_after = s->out->tokens_before;
	for (i = first; st == RT_OK && i < cut; i++)
		s->out->tokens_after -= p->items[i].tokens;
	if (st == RT_OK && s->summary.size == 0 && o->is_threshold && o->with.budget_tokens > 0 &&
	    rt_tokens_estimate(s->text.size) > o->with.budget_tokens)
		st = rt_fail(err, RT_LIMIT,
			     "what is to be summed up is about %zu tokens itself, and the model takes "
			     "%zu; sum up a part of it: retake compact FROM..TO",
			     rt_tokens_estimate(s->text.size), o->with.budget_tokens);
	if (st == RT_OK && s->summary.size == 0 && !o->dry_run)
		st = rt_summing_ask_model(s, RT_STR(TASK), o->instructions, err);
	if (st == RT_OK && !o->dry_run) {
		need_parts(s, o, p, first, cut);
		st = append(s, &fixed, err);
	}
	if (st == RT_OK)
		s->out->tokens_after += rt_tokens_estimate(s->summary.size) + RT_TOKENS_PER_MESSAGE;
	return st;
}

static void
tell_done(rt_summing *s)
{
	rt_buf m;

	rt_buf_init(&m, s->engine->alloc, RT_BUF_UNLIMITED);
	rt_buf_add_c(&m, "\"compactionEntry\":{");
	rt_hook_call_add_member(&m, "id", rt_str_of(s->out->entry));
	rt_hook_call_add_member(&m, "role", RT_STR("System"));
	rt_hook_call_add_member(&m, "kind", RT_STR("compaction"));
	rt_hook_call_add_member(&m, "content", rt_buf_str(&s->summary));
	rt_hook_call_add_member(&m, "summary", rt_buf_str(&s->summary));
	rt_buf_add_c(&m, s->out->from_hook ? "},\"fromHook\":true" : "},\"fromHook\":false");
	rt_summing_tell_hooks(s, "compact.after", &m);
	rt_buf_deinit(&m);
}

rt_status
rt_engine_compact(rt_engine *engine, const rt_compact_options *options, rt_summary_result *out,
		  rt_error *err)
{
	parts p = {.alloc = engine->alloc};
	rt_summing s;
	rt_status st = rt_summing_begin(&s, engine, &options->with, options->discussion,
					options->take, out, err);

	if (st == RT_OK && options->with.model == NULL)
		st = rt_fail(err, RT_CREDENTIALS,
			     "there is no model to write the summary; see: retake models");
	if (st == RT_OK && (options->from.size > 0) != (options->to.size > 0))
		st = rt_fail(err, RT_USAGE, "a range has a beginning and an end");
	if (st == RT_OK)
		st = compact(&s, options, &p, err);
	if (st == RT_OK && !options->dry_run)
		tell_done(&s);
	rt_free(engine->alloc, p.items);
	rt_summing_end(&s);
	return st;
}
