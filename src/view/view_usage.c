/* SPDX-License-Identifier: MIT
 *
 * Usage: tokens and cost of the replies in a discussion or a project. Each entry counts once,
 * however many takes contain it. */
#include "view/view_impl.h"

#include <stdlib.h>

enum { RUN = 64 };

typedef struct counting {
	const rt_view *view;
	const rt_usage_visitor *visitor;
	const rt_disc *disc; /* that is being visited */
	unsigned char *seen; /* by number of the entry */
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

void
rt_usage_add_body(rt_usage_totals *t, const rt_body *body)
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
		if (v->wants != NULL && !v->wants(v->ctx, &slots[i]))
			continue;
		if ((slots[i].flags & RT_SLOT_RICH) != 0)
			body = rt_view_body_at(&view, reader, slots, count, i);
		if (inner.status == RT_NOMEM)
			rt_scope_adopt(c->view->scope, &inner);
		else if (!rt_ok(&inner))
			rt_scope_reset(&inner); /* a damaged body: fsck reports it */
		v->entry(v->ctx, c->disc, &slots[i], body);
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

void
rt_usage_visit(const rt_view *view, bool is_project, const rt_usage_visitor *visitor)
{
	const rt_project *project = view->project;
	counting c = {.view = view,
		      .visitor = visitor,
		      .seen = rt_scope_array(view->scope, project->next_entry + 1, 1)};

	for (uint32_t i = 1; is_project && c.seen != NULL && i <= rt_project_disc_count(project); i++)
		visit_disc(&c, i);
	if (!is_project && c.seen != NULL)
		visit_disc(&c, view->place.disc != 0 ? view->place.disc : project->active);
}

/* --- totals --- */

static void
add_entry(void *ctx, const rt_disc *disc, const rt_slot *slot, const rt_body *body)
{
	(void)disc, (void)slot;
	if (body != NULL)
		rt_usage_add_body(ctx, body);
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
