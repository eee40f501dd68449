/* SPDX-License-Identifier: MIT
 *
 * Compares the neighbourhood before and after a change. */
#include "chat/lint.h"

#include "chat/context_impl.h"
#include "chat/last_request.h"
#include "core/role.h"
#include "ops/ops.h"

typedef enum problem_kind { SAME_SPEAKER, CALL_PARTED, RESULT_PARTED, REASONING_STALE } problem_kind;

static const struct {
	const char *id;
	const char *words;  /* with the entry, and the other one */
	const char *repair; /* an operation on the entry; or NULL */
} advices[] = {
	[SAME_SPEAKER] = {"same-speaker",
			  "entries %s and %s are now adjacent and have the same role",
			  "entry.merge"},
	[CALL_PARTED] =
		{"call-parted",
		 "entry %s calls a tool whose result is no longer sent; the call will be sent as text",
		 "entry.mute"},
	[RESULT_PARTED] = {"call-parted",
			   "entry %s is the result of a tool call that is no longer sent; it will "
			   "be sent as text",
			   "entry.mute"},
	[REASONING_STALE] = {"reasoning-stale",
			     "the signed reasoning of entry %s no longer matches its text and will "
			     "not be sent",
			     NULL},
};

/* A problem in a neighbourhood. */
typedef struct problem {
	problem_kind kind;
	uint32_t entry, other; /* other 0: none */
	bool apart;            /* there are muted entries in between */
} problem;

typedef struct problems {
	problem *items;
	size_t count, capacity;
} problems;

/* A call, or a result, without its counterpart so far. */
typedef struct unpaired {
	rt_str id;
	uint32_t entry;
	bool is_result, met;
} unpaired;

typedef struct advising {
	rt_scope *scope;
	rt_change *c;
	rt_lint_fn fn;
	void *ctx;
	unpaired *unpaired;
	size_t unpaired_count, unpaired_capacity;
	problems stale; /* edits of signed text */
} advising;

static void
add_problem(advising *a, problems *p, problem fresh)
{
	problem *items = rt_scope_grow(a->scope, p->items, p->count, &p->capacity, sizeof(*items));

	if (items == NULL)
		return;
	p->items = items;
	p->items[p->count++] = fresh;
}

static void
add_call(advising *a, rt_str id, uint32_t entry, bool is_result)
{
	if (id.size == 0)
		return;
	for (size_t i = a->unpaired_count; is_result && i > 0; i--) {
		unpaired *call = &a->unpaired[i - 1];

		if (!call->is_result && !call->met && rt_str_eq(call->id, id)) {
			call->met = true;
			return;
		}
	}
	unpaired *items = rt_scope_grow(a->scope, a->unpaired, a->unpaired_count,
					&a->unpaired_capacity, sizeof(*items));

	if (items == NULL)
		return;
	a->unpaired = items;
	a->unpaired[a->unpaired_count++] = (unpaired){id, entry, is_result, false};
}

/* Calls and results of one entry. */
static void
add_calls(advising *a, const rt_slot *slot, rt_str role)
{
	const rt_body *body = rt_change_read_body(a->c, slot->body);
	rt_context_entry e;
	rt_context_result result;
	yyjson_val *item;
	size_t i, max;

	rt_context_entry_of(&e, role, RT_STR(""), body);
	yyjson_arr_foreach(e.content_json, i, max, item)
	{
		rt_str type = rt_json_str(rt_json_get(item, "type"));

		if (rt_str_is(type, "toolCall") || rt_str_is(type, "tool_use"))
			add_call(a, rt_json_str(rt_json_get(item, "id")), slot->entry, false);
		if (rt_context_result_of(item, &result))
			add_call(a, result.id, slot->entry, true);
	}
	yyjson_arr_foreach(rt_body_field(body, "tool_calls"), i, max, item)
		add_call(a, rt_json_str(rt_json_get(item, "id")), slot->entry, false);
	add_call(a, rt_json_str(rt_body_field(body, "tool_call_id")), slot->entry, true);
	add_call(a, rt_json_str(rt_json_get(rt_json_get(e.record, "message"), "toolCallId")),
		 slot->entry, true);
}

/* 'u'ser, 'a'ssistant, or 0: does not take turns. */
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

/* Problems between two positions of a take. */
static void
examine(advising *a, const rt_project *value, const rt_take *take, size_t from, size_t to,
	problems *out)
{
	rt_slot *slots = rt_scope_array(a->scope, to - from, sizeof(*slots));
	uint32_t last = 0;
	size_t last_at = 0;
	char spoke = 0;

	a->unpaired_count = 0;
	if (to > from)
		RT_TRY(a->scope, rt_seq_copy(take->slots, from, to - from, slots, &a->scope->error));
	for (size_t i = 0; rt_ok(a->scope) && i < to - from; i++) {
		rt_str role = {NULL, 0}, kind = {NULL, 0};
		char who;

		if ((slots[i].flags & RT_SLOT_MUTED) != 0)
			continue;
		RT_TRY(a->scope, rt_project_name(value, slots[i].role, &role, &a->scope->error));
		RT_TRY(a->scope, rt_project_name(value, slots[i].kind, &kind, &a->scope->error));
		if ((slots[i].flags & RT_SLOT_RICH) != 0)
			add_calls(a, &slots[i], role);
		who = speaker(role, kind);
		if (who != 0 && who == spoke) {
			add_problem(a, out, (problem){.kind = SAME_SPEAKER,
						      .entry = last,
						      .other = slots[i].entry,
						      .apart = i > last_at + 1});
		}
		if (kind.size == 0 || who != 0) {
			spoke = who;
			last = slots[i].entry;
			last_at = i;
		}
	}
	for (size_t i = 0; i < a->unpaired_count; i++)
		if (!a->unpaired[i].met)
			add_problem(a, out, (problem){.kind = a->unpaired[i].is_result
								      ? RESULT_PARTED
								      : CALL_PARTED,
						      .entry = a->unpaired[i].entry});
}

static bool
had(const problems *before, const problem *p)
{
	for (size_t i = 0; i < before->count; i++)
		if (before->items[i].kind == p->kind && before->items[i].entry == p->entry &&
		    before->items[i].other == p->other)
			return true;
	return false;
}

static void
report(advising *a, const problem *p)
{
	rt_lint advice = {.id = advices[p->kind].id};
	const char *op = advices[p->kind].repair;
	rt_buf *words = rt_scope_buf(a->scope), *repair = rt_scope_buf(a->scope);

	RT_TRY(a->scope, rt_entry_id(a->c->now, p->entry, advice.entry, &a->scope->error));
	if (p->other != 0)
		RT_TRY(a->scope, rt_entry_id(a->c->now, p->other, advice.other, &a->scope->error));
	rt_buf_add_f(words, advices[p->kind].words, advice.entry, advice.other);
	/* entry.merge joins an entry with the next one, which would be a muted one */
	if (op != NULL && !p->apart)
		rt_buf_add_f(repair, "{\"op\":\"%s\",\"entry\":\"%s\"}", op, advice.entry);
	advice.words = rt_scope_str(a->scope, words);
	advice.repair = rt_scope_str(a->scope, repair);
	if (rt_ok(a->scope))
		a->fn(a->ctx, &advice);
}

static bool
has_signature(yyjson_val *v)
{
	return rt_json_get(v, "thinkingSignature") != NULL || rt_json_get(v, "signature") != NULL ||
	       rt_json_get(v, "thoughtSignature") != NULL || rt_json_get(v, "redacted") != NULL ||
	       rt_str_is(rt_json_str(rt_json_get(v, "type")), "redacted_thinking");
}

/* Has an entry reasoning with a signature that fits its content? */
static bool
is_signed(advising *a, const rt_slot *slot)
{
	const rt_body *body = rt_change_read_body(a->c, slot->body);
	rt_buf *hash = rt_scope_buf(a->scope);
	bool is = false;
	yyjson_val *item;
	size_t i, max;

	yyjson_arr_foreach(body->content_json, i, max, item) is |= has_signature(item);
	yyjson_arr_foreach(rt_body_field(body, "thinking_segments"), i, max, item)
		is |= has_signature(item);
	if (!is || body->format == RT_BODY_PI)
		return is;
	/* with another text than the signed one it is stale already */
	rt_reply_add_signed_text(body->content, body->content_json, a->scope->alloc, hash);
	return rt_str_eq(rt_scope_str(a->scope, hash),
			 rt_json_str(rt_body_field(body, "signed_text")));
}

static size_t
least(size_t a, size_t b)
{
	return a < b ? a : b;
}

/* Finds the problems around what changed in the take, before the change and now. Returns the tokens
 * that were sent before and are sent again, because something before them changed. */
static size_t
compare(advising *a, const rt_project *before, problems *old, problems *fresh)
{
	const rt_disc *was, *is = rt_change_disc(a->c);
	const rt_take *then, *now;
	size_t at = 0, count_then, count_now, from, tail, resent;
	const rt_seq *head = NULL;

	RT_TRY(a->scope, rt_project_disc(before, a->c->place.disc, &was, &a->scope->error));
	if (!rt_ok(a->scope))
		return 0;
	then = rt_disc_take(was, a->c->place.take);
	now = rt_disc_take(is, a->c->place.take);
	if (then == NULL || now == NULL)
		return 0;
	RT_TRY(a->scope, rt_seq_differ(then->slots, now->slots, 0, &at, &a->scope->error));
	count_then = rt_seq_count(then->slots);
	count_now = rt_seq_count(now->slots);
	if (!rt_ok(a->scope) || at >= count_then)
		return 0; /* only more at the end */
	from = at > RT_LINT_WINDOW ? at - RT_LINT_WINDOW : 0;
	tail = RT_LINT_WINDOW + (count_then > count_now ? count_then - count_now : 0);
	examine(a, before, then, from, least(at + tail, count_then), old);
	tail = RT_LINT_WINDOW + (count_now > count_then ? count_now - count_then : 0);
	examine(a, a->c->now, now, from, least(at + tail, count_now), fresh);
	/* entries after the change were sent with the previous content */
	if (at >= count_now || RT_TRY(a->scope, rt_seq_splice(now->slots, at, count_now - at, NULL, 0,
							      &head, &a->scope->error)) != RT_OK)
		return 0;
	resent = rt_tokens_estimate(
		(size_t)(rt_seq_total(now->slots).bytes - rt_seq_total(head).bytes));
	rt_seq_unref(head);
	return resent;
}

/* Executes a request in memory, and notes signed reasoning that it makes stale. */
static void
try_request(advising *a, const rt_request *r)
{
	bool was_signed = false;

	if ((rt_ops[r->op].flags & RT_OP_EDITS_TEXT) != 0) {
		rt_position s = rt_find_entry(a->c, r->entry);

		was_signed = (s.slot.slot.flags & RT_SLOT_RICH) != 0 &&
			     is_signed(a, &s.slot.slot);
	}
	rt_compile(a->c, r);
	if (was_signed) {
		rt_position s = rt_find_entry(a->c, r->entry);

		if (rt_ok(a->scope) && !is_signed(a, &s.slot.slot))
			add_problem(a, &a->stale, (problem){.kind = REASONING_STALE, .entry = s.entry});
	}
}

rt_status
rt_engine_lint(rt_engine *engine, const rt_request *requests, size_t count, rt_str discussion,
	       rt_str take, rt_lint_fn fn, void *ctx, size_t *out_resent, rt_error *err)
{
	const rt_project *value = rt_engine_value(engine);
	problems old = {0}, fresh = {0};
	rt_result result = {0};
	rt_scope s;
	rt_change c;
	advising a = {.scope = &s, .c = &c, .fn = fn, .ctx = ctx};
	bool known = true;

	*out_resent = 0;
	rt_scope_init(&s, engine->alloc);
	rt_change_init(&c, &s, engine, value);
	c.result = &result;
	for (size_t i = 0; known && i < count; i++) {
		const rt_request *r = &requests[i];

		known = r->invalid == NULL && (rt_ops[r->op].flags & RT_OP_EDITS_ENTRIES) != 0;
		if (known)
			rt_change_find_place(&c, r, discussion, take);
		if (known && rt_ok(&s))
			try_request(&a, r);
		known = known && rt_ok(&s);
	}
	if (known && c.effect_count > 0)
		*out_resent = compare(&a, value, &old, &fresh);
	/* the provider has cached nothing of a discussion that was never sent */
	if (*out_resent > 0 &&
	    rt_engine_last_request(engine, c.place.disc, NULL, NULL) == RT_NOT_FOUND)
		*out_resent = 0;
	for (size_t i = 0; known && i < a.stale.count; i++)
		report(&a, &a.stale.items[i]);
	for (size_t i = 0; known && i < fresh.count; i++)
		if (!had(&old, &fresh.items[i]))
			report(&a, &fresh.items[i]);
	if (known && !rt_ok(&s))
		*out_resent = 0;
	rt_change_deinit(&c);
	rt_object_unref(value);
	rt_result_deinit(&result);
	if (known)
		return rt_scope_end(&s, err);
	rt_scope_deinit(&s); /* failures are reported on execution */
	return RT_OK;
}
