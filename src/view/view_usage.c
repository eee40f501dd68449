/* SPDX-License-Identifier: MIT
 *
 * Usage: tokens and cost of the replies in a discussion or a project. Each entry counts once,
 * however many takes contain it, and so does a reply that was imported several times. */
#include "view/view_impl.h"

#include <stdlib.h>

#include "base/hash.h"
#include "base/hash_table.h"
#include "log/engine_impl.h"

enum { RUN = 64 };

/* A reply, whatever entry contains it. */
typedef struct reply {
	int64_t ts_us;
	uint64_t model, input, output; /* model: a hash */
} reply;

typedef struct counting {
	const rt_view *view;
	const rt_usage_visitor *visitor;
	const rt_disc *disc; /* that is being visited */
	unsigned char *seen; /* by number of the entry */
	size_t unseen;       /* entries of the project that have not been seen */
	rt_hash_table known; /* of replies */
	reply *replies;
	size_t count, capacity;
} counting;

static yyjson_val *
first_number(yyjson_val *in, const char *const names[3])
{
	for (int i = 0; i < 3; i++)
		if (rt_json_is_number(rt_json_get(in, names[i])))
			return rt_json_get(in, names[i]);
	return NULL;
}

static bool
add_tokens(yyjson_val *usage, const char *const names[3], uint64_t *total)
{
	uint64_t count = 0;

	if (!rt_json_u64(first_number(usage, names), &count) || count > UINT64_MAX / 2)
		return false;
	*total = *total + count < *total ? UINT64_MAX : *total + count;
	return true;
}

/* "cost" of a reply, or of a session of pi: "usage":{"cost":{"total"}}. */
static bool
add_cost(yyjson_val *own, yyjson_val *usage, double *total)
{
	yyjson_val *of_usage = rt_json_get(usage, "cost");
	yyjson_val *cost = rt_json_is_number(own) ? own : rt_json_get(of_usage, "total");
	char text[48];
	rt_str number;

	if (!rt_json_is_number(cost))
		cost = of_usage;
	number = rt_json_str(cost);
	if (!rt_json_is_number(cost) || number.size == 0 || number.size >= sizeof(text))
		return false;
	memcpy(text, number.ptr, number.size);
	text[number.size] = '\0';
	double value = strtod(text, NULL);
	if (!(value >= 0 && value < 1e12))
		return false;
	*total += value;
	return true;
}

/* The message of a record of pi. */
static yyjson_val *
pi_message(const rt_body *body)
{
	yyjson_val *pi = body->format == RT_BODY_PI ? body->fields : rt_body_field(body, "pi");

	return rt_json_get(pi, "message");
}

rt_str
rt_usage_model(const rt_body *body)
{
	rt_str model = rt_json_str(rt_body_field(body, "model"));

	return model.size > 0 ? model : rt_json_str(rt_json_get(pi_message(body), "model"));
}

static void
add_body(rt_usage_totals *t, const rt_body *body)
{
	static const char *const in[] = {"input_tokens", "prompt_tokens", "input"};
	static const char *const out[] = {"output_tokens", "completion_tokens", "output"};
	yyjson_val *usage = rt_body_field(body, "usage");

	if (usage == NULL)
		usage = rt_json_get(pi_message(body), "usage");
	bool has_input = add_tokens(usage, in, &t->input);
	bool has_output = add_tokens(usage, out, &t->output);
	if (!has_input && !has_output)
		return;
	t->replies++;
	t->priced += add_cost(rt_body_field(body, "cost"), usage, &t->cost);
}

/* --- visiting --- */

/* The first of the entries with this reply? Replies without a time are all different. */
static bool
is_first(counting *c, const rt_slot *slot, const rt_body *body, const rt_usage_totals *usage)
{
	rt_scope *s = c->view->scope;
	rt_str model = rt_usage_model(body);
	reply r = {slot->ts_us, rt_hash(model.ptr, model.size, 0), usage->input, usage->output};
	uint64_t hash = rt_hash(&r, sizeof(r), 0);
	uint32_t number;

	if ((slot->flags & RT_SLOT_NO_TS) != 0)
		return true;
	for (size_t probe = 0; rt_hash_table_next(&c->known, hash, &probe, &number);)
		if (memcmp(&c->replies[number], &r, sizeof(r)) == 0)
			return false;
	c->replies = rt_scope_grow(s, c->replies, c->count, &c->capacity, sizeof(r));
	if (c->replies == NULL)
		return false;
	c->replies[c->count] = r;
	(void)rt_scope_note(s, rt_hash_table_add(&c->known, s->alloc, hash, c->count++));
	return true;
}

static void
visit_entry(counting *c, const rt_slot *slot, const rt_body *body)
{
	rt_usage_totals usage = {0};

	if (body != NULL)
		add_body(&usage, body);
	if (usage.replies > 0 && !is_first(c, slot, body, &usage))
		usage = (rt_usage_totals){0};
	c->visitor->entry(c->visitor->ctx, c->disc, slot, body, &usage);
}

/* Only bodies with more than text can contain a usage. */
static void
visit_run(counting *c, rt_body_reader *reader, const rt_slot *slots, size_t count)
{
	const rt_usage_visitor *v = c->visitor;
	rt_scope inner;
	rt_view view = *c->view;

	rt_scope_init(&inner, view.scope->alloc);
	view.scope = &inner;
	for (size_t i = 0; i < count && rt_ok(c->view->scope); i++) {
		unsigned char *seen = &c->seen[slots[i].entry];
		const rt_body *body = NULL;

		if (*seen != 0)
			continue;
		*seen = 1;
		c->unseen--;
		if (v->wants != NULL && !v->wants(v->ctx, &slots[i]))
			continue;
		if ((slots[i].flags & RT_SLOT_RICH) != 0)
			body = rt_view_body_at(&view, reader, slots, count, i);
		if (inner.status == RT_NOMEM)
			rt_scope_adopt(c->view->scope, &inner);
		else if (!rt_ok(&inner))
			rt_scope_reset(&inner); /* a damaged body: fsck reports it */
		visit_entry(c, &slots[i], body);
	}
	rt_scope_deinit(&inner);
}

static void
visit_take(counting *c, const rt_take *take)
{
	rt_scope *s = c->view->scope;
	size_t count = rt_seq_count(take->slots);
	rt_slot slots[RUN];

	for (size_t at = 0, n; at < count && rt_ok(s); at += n) {
		rt_body_reader reader = {0};

		n = count - at < RUN ? count - at : RUN;
		if (RT_TRY(s, rt_seq_copy(take->slots, at, n, slots, &s->error)) != RT_OK)
			return;
		rt_buf_init(&reader.run.bytes, s->alloc, RT_BUF_UNLIMITED);
		visit_run(c, &reader, slots, n);
		rt_body_reader_deinit(&reader);
	}
}

static void
visit_disc(counting *c, uint32_t number)
{
	rt_scope *s = c->view->scope;
	const rt_cell *cell = rt_project_cell(c->view->project, number);

	if (cell == NULL || !cell->present)
		return;
	c->disc = NULL;
	RT_TRY(s, rt_project_disc_peek(c->view->project, number, &c->disc, &s->error));
	for (uint32_t i = 1; c->disc != NULL && i <= rt_disc_take_count(c->disc) && rt_ok(s); i++)
		if (rt_disc_take(c->disc, i)->present)
			visit_take(c, rt_disc_take(c->disc, i));
	rt_object_unref(c->disc);
}

static void
visit_state(counting *c, bool is_project)
{
	const rt_project *project = c->view->project;

	c->seen = rt_scope_array(c->view->scope, project->next_entry + 1, 1);
	c->unseen = project->next_entry - 1; /* numbers begin at 1 */
	for (uint32_t i = 1; is_project && c->seen != NULL && i <= rt_project_disc_count(project); i++)
		visit_disc(c, i);
	if (!is_project && c->seen != NULL)
		visit_disc(c, c->view->place.disc != 0 ? c->view->place.disc : project->active);
	c->disc = NULL;
}

void
rt_usage_visit(const rt_view *view, bool is_project, const rt_usage_visitor *visitor)
{
	counting c = {.view = view, .visitor = visitor};

	visit_state(&c, is_project);
	rt_hash_table_deinit(&c.known, view->scope->alloc);
}

/* The added slots of a step. */
static void
visit_effect(counting *c, const rt_effect *effect)
{
	rt_slot slots[RUN];

	for (size_t at = 0, n; at < effect->added_count && rt_ok(c->view->scope);) {
		rt_body_reader reader = {0};

		for (n = 0; n < RUN && at < effect->added_count; at++)
			if (effect->added[at].slot.entry <= c->view->project->next_entry)
				slots[n++] = effect->added[at].slot;
		rt_buf_init(&reader.run.bytes, c->view->scope->alloc, RT_BUF_UNLIMITED);
		visit_run(c, &reader, slots, n);
		rt_body_reader_deinit(&reader);
	}
}

static void
visit_row(counting *c, uint32_t disc, rt_scope *memory, rt_str data)
{
	rt_record record;
	rt_arena *arena;
	rt_status st;

	rt_scope_reset(memory);
	arena = rt_scope_arena(memory);
	st = arena == NULL ? RT_NOMEM
			   : rt_record_read(memory->alloc, arena, data, &record, NULL);
	if (st == RT_NOMEM)
		(void)rt_scope_nomem(c->view->scope);
	/* a damaged row, or one of a newer version: fsck reports it */
	if (st != RT_OK || record.kind != RT_RECORD_STEP)
		return;
	for (size_t i = 0; i < record.effect_count; i++)
		if (record.effects[i].kind == RT_EFFECT_SPLICE &&
		    (disc == 0 || record.effects[i].disc == disc))
			visit_effect(c, &record.effects[i]);
}

void
rt_usage_visit_received(const rt_view *view, bool is_project, const rt_usage_visitor *visitor)
{
	rt_scope *s = view->scope, *memory = rt_view_inner(s);
	uint32_t here = view->place.disc != 0 ? view->place.disc : view->project->active;
	rt_stretch *rows = rt_scope_get(s, sizeof(*rows));
	counting c = {.view = view, .visitor = visitor};

	visit_state(&c, is_project);
	if (rows != NULL)
		rows->memory = rt_view_inner(s);
	/* The log is read only for entries that no take contains now, until all have been found. */
	for (uint64_t seq = 1; rt_ok(s) && c.unseen > 0 && seq <= view->project->seq; seq++) {
		rt_stretch_read(s, view->engine, rows, seq, view->project->seq);
		if (rows->count == 0)
			break;
		for (size_t i = 0; i < rows->count; i++)
			visit_row(&c, is_project ? 0 : here, memory, rows->rows[i].data);
		seq = rows->rows[rows->count - 1].seq;
	}
	rt_hash_table_deinit(&c.known, s->alloc);
}

/* --- totals --- */

static void
add_entry(void *ctx, const rt_disc *disc, const rt_slot *slot, const rt_body *body,
	  const rt_usage_totals *usage)
{
	(void)disc, (void)slot, (void)body;
	rt_usage_add(ctx, usage);
}

rt_usage_totals
rt_view_usage(const rt_view *view, bool is_project)
{
	rt_usage_totals out = {0};
	const rt_usage_visitor visitor = {.ctx = &out, .entry = add_entry};

	rt_usage_visit(view, is_project, &visitor);
	return rt_ok(view->scope) ? out : (rt_usage_totals){0};
}

void
rt_usage_add(rt_usage_totals *to, const rt_usage_totals *from)
{
	to->replies += from->replies;
	to->priced += from->priced;
	to->input = to->input + from->input < to->input ? UINT64_MAX : to->input + from->input;
	to->output = to->output + from->output < to->output ? UINT64_MAX : to->output + from->output;
	to->cost += from->cost;
}

void
rt_usage_add_json(const rt_usage_totals *t, const char *key, rt_buf *out)
{
	char cost[48];

	rt_json_open(out, key, '{');
	rt_json_put_u64(out, "replies", t->replies);
	rt_json_put_u64(out, "input_tokens", t->input);
	rt_json_put_u64(out, "output_tokens", t->output);
	(void)snprintf(cost, sizeof(cost), "%.6f", t->cost);
	if (t->priced > 0)
		rt_json_put_raw(out, "cost", rt_str_of(cost));
	if (t->replies > t->priced)
		rt_json_put_u64(out, "without_price", t->replies - t->priced);
	rt_json_close(out, '}');
}

void
rt_usage_add_text(const rt_usage_totals *t, rt_buf *out)
{
	size_t without = t->replies - t->priced;

	if (t->replies == 0) {
		rt_buf_add_c(out, "no tokens yet");
		return;
	}
	rt_buf_add_grouped(out, t->input);
	rt_buf_add_c(out, " tokens in, ");
	rt_buf_add_grouped(out, t->output);
	rt_buf_add_c(out, " out");
	if (t->priced > 0)
		rt_buf_add_f(out, t->cost < 0.1 ? ", cost %.4f" : ", cost %.2f", t->cost);
	if (t->priced == 0)
		rt_buf_add_c(out, ", cost unknown: no price for the model");
	else if (without > 0)
		rt_buf_add_f(out, ", excluding %zu repl%s with an unknown price", without,
			     without == 1 ? "y" : "ies");
}
