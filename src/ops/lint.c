/* SPDX-License-Identifier: MIT
 *
 * What a change breaks: the neighbourhood before and after it, compared. */
#include "ops/lint.h"

#include "chat/context_impl.h"

/* Something that is wrong in a neighbourhood. */
typedef struct problem {
	const char *id;
	uint32_t entry, other; /* other 0: none */
} problem;

typedef struct problems {
	problem *items;
	size_t count, room;
} problems;

/* A call, or a result, on its way to its counterpart. */
typedef struct loose {
	rt_str id;
	uint32_t entry;
	bool is_result, met;
} loose;

typedef struct advising {
	rt_engine *engine;
	rt_arena *arena;
	rt_change *c;
	rt_lint_fn fn;
	void *ctx;
	loose *loose;
	size_t loose_count, loose_room;
	problems stale; /* edits of what is signed */
} advising;

static rt_status
nomem(rt_error *err)
{
	return rt_fail(err, RT_NOMEM, "out of memory");
}

static rt_status
add_problem(advising *a, problems *p, const char *id, uint32_t entry, uint32_t other, rt_error *err)
{
	if (p->count == p->room) {
		size_t room = p->room == 0 ? 16 : p->room * 2;
		problem *more = rt_arena_get(a->arena, room * sizeof(*more));

		if (more == NULL)
			return nomem(err);
		if (p->count > 0)
			memcpy(more, p->items, p->count * sizeof(*more));
		p->items = more;
		p->room = room;
	}
	p->items[p->count++] = (problem){id, entry, other};
	return RT_OK;
}

static rt_status
add_loose(advising *a, rt_str id, uint32_t entry, bool is_result, rt_error *err)
{
	size_t i;

	if (id.size == 0)
		return RT_OK;
	for (i = a->loose_count; is_result && i > 0; i--)
		if (!a->loose[i - 1].is_result && !a->loose[i - 1].met &&
		    rt_str_eq(a->loose[i - 1].id, id)) {
			a->loose[i - 1].met = true;
			return RT_OK;
		}
	if (a->loose_count == a->loose_room) {
		size_t room = a->loose_room == 0 ? 16 : a->loose_room * 2;
		loose *more = rt_arena_get(a->arena, room * sizeof(*more));

		if (more == NULL)
			return nomem(err);
		if (a->loose_count > 0)
			memcpy(more, a->loose, a->loose_count * sizeof(*more));
		a->loose = more;
		a->loose_room = room;
	}
	id = rt_change_keep(a->c, id);
	if (id.ptr == NULL)
		return nomem(err);
	a->loose[a->loose_count++] = (loose){id, entry, is_result, false};
	return RT_OK;
}

/* Calls and results of one entry. */
static rt_status
add_calls(advising *a, const rt_slot *slot, rt_str role, rt_error *err)
{
	yyjson_val *item, *calls, *message;
	rt_context_result result;
	rt_context_entry e;
	rt_buf bytes;
	rt_body body;
	size_t i, max;
	rt_status st = rt_change_body_read(a->c, slot->body, &bytes, &body, err);

	if (st == RT_OK) {
		rt_context_entry_of(&e, role, rt_str_at("", 0), &body);
		message = rt_json_get(e.record, "message");
		yyjson_arr_foreach(e.content_json, i, max, item)
		{
			rt_str type = rt_json_str(rt_json_get(item, "type"));

			if (st == RT_OK && (rt_str_is(type, "toolCall") || rt_str_is(type, "tool_use")))
				st = add_loose(a, rt_json_str(rt_json_get(item, "id")), slot->entry,
					       false, err);
			if (st == RT_OK && rt_context_result_of(item, &result))
				st = add_loose(a, result.id, slot->entry, true, err);
		}
		calls = rt_body_field(&body, "tool_calls");
		yyjson_arr_foreach(calls, i, max, item) if (st == RT_OK)
			st = add_loose(a, rt_json_str(rt_json_get(item, "id")), slot->entry, false,
				       err);
		if (st == RT_OK)
			st = add_loose(a, rt_json_str(rt_body_field(&body, "tool_call_id")),
				       slot->entry, true, err);
		if (st == RT_OK)
			st = add_loose(a, rt_json_str(rt_json_get(message, "toolCallId")),
				       slot->entry, true, err);
	}
	rt_body_deinit(&body);
	rt_buf_deinit(&bytes);
	return st;
}

/* 'u'ser, 'a'ssistant, or 0: what does not take turns. */
static char
speaker(rt_str role, rt_str kind)
{
	if (rt_context_kind_is_silent(kind) || rt_str_is(kind, "custom_message") ||
	    rt_str_is(kind, "prompt_notice"))
		return 0;
	if (rt_role_is_user(role))
		return 'u';
	return rt_role_is_assistant(role) ? 'a' : 0;
}

/* What is wrong between two positions of a take. */
static rt_status
examine(advising *a, const rt_project *value, const rt_take *take, size_t from, size_t to,
	problems *out, rt_error *err)
{
	rt_slot *slots = rt_arena_get(a->arena, (to - from + 1) * sizeof(*slots));
	uint32_t last = 0;
	char spoke = 0;
	size_t i;
	rt_status st;

	a->loose_count = 0;
	if (slots == NULL)
		return nomem(err);
	st = to > from ? rt_seq_copy(take->slots, from, to - from, slots, err) : RT_OK;
	for (i = 0; st == RT_OK && i < to - from; i++) {
		rt_str role, kind = rt_str_at("", 0);
		char who;

		if ((slots[i].flags & RT_SLOT_MUTED) != 0)
			continue;
		st = rt_project_name(value, slots[i].role, &role, err);
		if (st == RT_OK && slots[i].kind != 0)
			st = rt_project_name(value, slots[i].kind, &kind, err);
		if (st == RT_OK && (slots[i].flags & RT_SLOT_RICH) != 0)
			st = add_calls(a, &slots[i], role, err);
		if (st != RT_OK)
			break;
		who = speaker(role, kind);
		if (who != 0 && who == spoke)
			st = add_problem(a, out, "same-speaker", last, slots[i].entry, err);
		if (kind.size == 0 || who != 0) {
			spoke = who;
			last = slots[i].entry;
		}
	}
	for (i = 0; st == RT_OK && i < a->loose_count; i++)
		if (!a->loose[i].met)
			st = add_problem(a, out, "call-parted", a->loose[i].entry,
					 a->loose[i].is_result ? 1 : 0, err);
	return st;
}

static bool
had(const problems *before, const problem *p)
{
	size_t i;

	for (i = 0; i < before->count; i++)
		if (before->items[i].id == p->id && before->items[i].entry == p->entry &&
		    before->items[i].other == p->other)
			return true;
	return false;
}

static rt_status
tell(advising *a, const problem *p, rt_error *err)
{
	rt_lint advice = {.id = p->id};
	bool is_pair = strcmp(p->id, "same-speaker") == 0;
	rt_buf words, repair;
	rt_status st = rt_entry_id(a->c->now, p->entry, advice.entry, err);

	if (st == RT_OK && is_pair)
		st = rt_entry_id(a->c->now, p->other, advice.other, err);
	if (st != RT_OK)
		return st;
	rt_buf_init(&words, a->engine->alloc, RT_BUF_UNLIMITED);
	rt_buf_init(&repair, a->engine->alloc, RT_BUF_UNLIMITED);
	if (is_pair) {
		rt_buf_add_f(&words, "entries %s and %s now follow each other and are of the same "
				     "speaker", advice.entry, advice.other);
		rt_buf_add_f(&repair, "{\"op\":\"entry.merge\",\"entry\":\"%s\"}", advice.entry);
	} else if (strcmp(p->id, "call-parted") == 0) {
		rt_buf_add_f(&words,
			     p->other != 0 ? "entry %s is the result of a tool's call that is not "
					     "sent any more; it will be sent as text"
					   : "entry %s calls a tool whose result is not sent any more; "
					     "the call will be sent as text",
			     advice.entry);
		rt_buf_add_f(&repair, "{\"op\":\"entry.mute\",\"entry\":\"%s\"}", advice.entry);
	} else {
		rt_buf_add_f(&words, "the signed reasoning of entry %s does not fit its text any "
				     "more and is not sent from now on", advice.entry);
	}
	advice.words = rt_buf_str(&words);
	advice.repair = repair.size > 0 ? rt_buf_str(&repair) : rt_str_at("", 0);
	if (words.status == RT_OK && repair.status == RT_OK)
		a->fn(a->ctx, &advice);
	else
		st = nomem(err);
	rt_buf_deinit(&words);
	rt_buf_deinit(&repair);
	return st;
}

static bool
has_signature(yyjson_val *v)
{
	return rt_json_get(v, "thinkingSignature") != NULL || rt_json_get(v, "signature") != NULL ||
	       rt_json_get(v, "thoughtSignature") != NULL || rt_json_get(v, "redacted") != NULL ||
	       rt_str_is(rt_json_str(rt_json_get(v, "type")), "redacted_thinking");
}

/* Has an entry reasoning with a signature that fits what it says? */
static rt_status
is_signed(advising *a, uint64_t number, bool *out, rt_error *err)
{
	yyjson_val *item;
	rt_buf bytes, hash;
	rt_body body;
	size_t i, max;
	rt_status st = rt_change_body_read(a->c, number, &bytes, &body, err);

	*out = false;
	rt_buf_init(&hash, a->engine->alloc, RT_BUF_UNLIMITED);
	if (st == RT_OK) {
		yyjson_arr_foreach(body.content_json, i, max, item) *out |= has_signature(item);
		yyjson_arr_foreach(rt_body_field(&body, "thinking_segments"), i, max, item)
			*out |= has_signature(item);
	}
	if (st == RT_OK && *out && body.format != RT_BODY_PI) { /* else it is stale already */
		rt_reply_add_signed_text(body.content, body.content_json, a->engine->alloc, &hash);
		*out = rt_str_eq(rt_buf_str(&hash),
				 rt_json_str(rt_body_field(&body, "signed_text")));
		if (hash.status != RT_OK)
			st = nomem(err);
	}
	rt_buf_deinit(&hash);
	rt_body_deinit(&body);
	rt_buf_deinit(&bytes);
	return st;
}

/* The first place in the take that changed, and how far back it is the same again. */
static rt_status
advise_change(advising *a, const rt_project *before, problems *old, problems *fresh,
	      size_t *resent, rt_error *err)
{
	const rt_disc *was, *is;
	const rt_take *then, *now;
	size_t at, count_then, count_now, from, tail;
	rt_seq_sum sum;
	rt_status st = rt_project_disc(before, a->c->place.disc, &was, err);

	if (st == RT_OK)
		st = rt_project_disc(a->c->now, a->c->place.disc, &is, err);
	if (st != RT_OK)
		return st;
	then = rt_disc_take(was, a->c->place.take);
	now = rt_disc_take(is, a->c->place.take);
	if (then == NULL || now == NULL)
		return RT_OK;
	st = rt_seq_differ(then->slots, now->slots, 0, &at, err);
	if (st != RT_OK)
		return st;
	count_then = rt_seq_count(then->slots);
	count_now = rt_seq_count(now->slots);
	if (at >= count_then)
		return RT_OK; /* only more at the end */
	from = at > RT_LINT_WINDOW ? at - RT_LINT_WINDOW : 0;
	tail = RT_LINT_WINDOW + (count_then > count_now ? count_then - count_now : 0);
	st = examine(a, before, then, from, at + tail < count_then ? at + tail : count_then, old, err);
	tail = RT_LINT_WINDOW + (count_now > count_then ? count_now - count_then : 0);
	if (st == RT_OK)
		st = examine(a, a->c->now, now, from,
			     at + tail < count_now ? at + tail : count_now, fresh, err);
	/* what stands behind the change was sent with what was there before */
	if (st == RT_OK && at < count_now) {
		const rt_seq *head = NULL;

		st = rt_seq_splice(now->slots, at, count_now - at, NULL, 0, &head, err);
		if (st == RT_OK) {
			sum = rt_seq_total(head);
			*resent = rt_tokens_estimate(
				(size_t)(rt_seq_total(now->slots).bytes - sum.bytes));
			rt_seq_unref(head);
		}
	}
	return st;
}

/* Where the entry that a request is about stands; *out_found false: nowhere. */
static rt_status
find_edited(advising *a, const rt_request *r, rt_slot *out, bool *out_found, rt_error *err)
{
	uint32_t entry;
	const rt_disc *disc;
	size_t at;
	rt_status st = rt_resolve_entry(a->c->now, a->c->place, r->entry, false, &entry, err);

	if (st == RT_OK)
		st = rt_change_disc(a->c, &disc, err);
	if (st == RT_OK)
		st = rt_take_find(a->c->now, rt_disc_take(disc, a->c->place.take), entry, &at, out,
				  out_found, err);
	return st;
}

/* Carry out a request in memory, and note signed reasoning that it makes stale. */
static rt_status
advise_request(advising *a, const rt_request *r, rt_error *err)
{
	bool found = false, was = false, is = true;
	rt_slot slot;
	rt_status st = RT_OK;

	if (r->op == RT_OP_ENTRY_EDIT)
		st = find_edited(a, r, &slot, &found, err);
	if (st == RT_OK && found && (slot.flags & RT_SLOT_RICH) != 0)
		st = is_signed(a, slot.body, &was, err);
	if (st == RT_OK)
		st = rt_compile(a->c, r, err);
	if (st == RT_OK && was)
		st = find_edited(a, r, &slot, &found, err);
	if (st == RT_OK && was && found)
		st = is_signed(a, slot.body, &is, err);
	if (st == RT_OK && was && found && !is)
		st = add_problem(a, &a->stale, "reasoning-stale", slot.entry, 0, err);
	return st;
}

rt_status
rt_engine_lint(rt_engine *engine, const rt_request *requests, size_t count, rt_str discussion,
	       rt_str take, rt_lint_fn fn, void *ctx, size_t *out_resent, rt_error *err)
{
	advising a = {.engine = engine, .fn = fn, .ctx = ctx};
	problems old = {NULL, 0, 0}, fresh = {NULL, 0, 0};
	const rt_project *value = rt_engine_value(engine);
	rt_change c;
	size_t i, resent = 0;
	bool known = true;
	rt_status st = RT_OK;

	*out_resent = 0;
	a.arena = rt_arena_new(engine->alloc);
	if (a.arena == NULL) {
		rt_object_unref(value);
		return nomem(err);
	}
	a.c = &c;
	rt_change_init(&c, engine, a.arena, value);
	for (i = 0; known && i < count; i++) {
		const rt_request *r = &requests[i];

		known = r->invalid == NULL && (rt_ops[r->op].flags & RT_OP_EDITS_ENTRIES) != 0 &&
			rt_compile_place(&c, r, discussion, take, NULL) == RT_OK &&
			advise_request(&a, r, NULL) == RT_OK;
	}
	if (known && c.effect_count > 0)
		st = advise_change(&a, value, &old, &fresh, &resent, err);
	for (i = 0; known && st == RT_OK && i < a.stale.count; i++)
		st = tell(&a, &a.stale.items[i], err);
	for (i = 0; known && st == RT_OK && i < fresh.count; i++)
		if (!had(&old, &fresh.items[i]))
			st = tell(&a, &fresh.items[i], err);
	*out_resent = st == RT_OK ? resent : 0;
	rt_change_deinit(&c);
	rt_arena_free(a.arena);
	rt_object_unref(value);
	return st;
}
