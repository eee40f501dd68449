/* SPDX-License-Identifier: MIT
 *
 * What a model would be sent, and what it comes to in tokens. */
#include "llm/models_host.h"
#include "llm/provider.h"
#include "server/api_view_impl.h"

typedef struct context {
	rt_api_view *l;
	const rt_provider *provider;
	rt_str model, service;
	rt_buf name;    /* of the model, as it was chosen */
	rt_buf entries; /* "[{…" of the table */
	rt_buf unsent;  /* blocks that it cannot contain, a line each */
	rt_pick_counter counter;
	bool is_known;
	uint64_t budget;
	rt_context_totals totals;
	rt_status status;
} context;

static size_t
count_text(void *ctx, rt_str text)
{
	context *c = ctx;

	return rt_pick_count(&c->counter, text);
}

/* Positions count from 1 here, as in addresses. */
static void
add_part(void *ctx, const rt_context_part *part)
{
	char id[RT_ID_MAX + 1];
	context *c = ctx;

	if (c->status == RT_OK)
		c->status = rt_entry_id(c->l->project, part->entry, id, &c->l->err);
	if (c->status != RT_OK)
		return;
	rt_json_add_comma(&c->entries);
	rt_buf_add_c(&c->entries, "{\"id\":");
	rt_json_add_string(&c->entries, rt_str_of(id));
	rt_buf_add_f(&c->entries, ",\"at\":%zu,\"tokens\":%zu", part->at + 1, part->tokens);
	rt_api_view_add_bool(&c->entries, "left_out", part->left_out);
	if (part->is_summary)
		rt_buf_add_c(&c->entries, ",\"summary\":true");
	rt_buf_add_byte(&c->entries, '}');
}

/* As ask chooses, without a key; and the provider that the query names instead. */
static rt_status
choose(context *c)
{
	const rt_project_pool_options *given = rt_project_pool_get_options(c->l->call->pool);
	const rt_config_provider *own;
	rt_model_choice choice;
	rt_str said, model;
	rt_status st;

	if (!rt_call_text(c->l->call, "provider", &said) ||
	    !rt_call_text(c->l->call, "model", &model))
		return RT_USAGE;
	st = rt_pick_name(c->l->call->request->alloc, c->l->project, c->l->disc, model,
			  given->model, &c->name, NULL, &c->l->err);
	if (st == RT_OK && c->name.size == 0 && given->config != NULL)
		rt_buf_add_str(&c->name, given->config->model);
	if (st == RT_OK && c->name.status != RT_OK)
		st = rt_fail(&c->l->err, RT_NOMEM, "out of memory");
	if (st != RT_OK)
		return st;
	c->provider = &rt_provider_openai;
	c->model = rt_buf_str(&c->name);
	if (said.size > 0) {
		own = rt_config_provider_named(given->config, said);
		c->provider = own != NULL ? own->kind : rt_provider_named(said);
		if (c->provider == NULL)
			return rt_fail(&c->l->err, RT_NOT_FOUND, "there is no provider \"%.*s\"",
				       (int)rt_utf8_cut(said, 80), said.ptr);
		c->model = rt_provider_model(c->provider, c->model);
		return RT_OK;
	}
	if (c->name.size == 0)
		return RT_OK;
	st = rt_models_choose(given->config, c->model, &choice, &c->l->err);
	if (st == RT_OK) {
		c->is_known = true;
		c->provider = choice.provider;
		c->service = choice.provider_name;
		c->model = choice.model;
		if (choice.config != NULL && c->budget == 0)
			c->budget = choice.config->context_tokens;
	}
	/* One that was only set before, and that nobody knows, can be counted for. */
	return st == RT_NOT_FOUND && model.size == 0 ? RT_OK : st;
}

/* Is the sum of the table what the request comes to? */
static rt_status
count_all(const context *c, rt_str body, size_t *out_tokens, bool *out_exact)
{
	size_t tokens = 0;
	bool whole = false;
	rt_status st;

	*out_tokens = c->totals.tokens;
	*out_exact = false;
	if (c->counter.ranks == NULL)
		return RT_OK;
	*out_tokens += RT_TOKENS_REPLY;
	if (c->provider != &rt_provider_openai)
		return RT_OK;
	st = rt_tokens_count_request(c->counter.ranks, body, &tokens, &whole, &c->l->err);
	*out_exact = st == RT_OK && whole && tokens == *out_tokens;
	return st;
}

/* One string for each line. */
static void
add_unsent(context *c)
{
	rt_str lines = rt_buf_str(&c->unsent);

	rt_buf_add_c(c->l->body, ",\"unsent\":[");
	while (lines.size > 0) {
		size_t end = rt_str_find(lines, RT_STR("\n"), 0);

		rt_json_add_comma(c->l->body);
		rt_json_add_string(c->l->body, rt_str_at(lines.ptr, end));
		lines = rt_str_at(lines.ptr + end + 1, lines.size - end - 1);
	}
	rt_buf_add_byte(c->l->body, ']');
}

static rt_status
add_context(context *c)
{
	rt_context_options options = {.stream = c->is_known,
				      .model = c->model,
				      .service = c->service,
				      .budget_tokens = (size_t)c->budget,
				      .count = c->counter.encoding != NULL ? count_text : NULL,
				      .part = add_part,
				      .ctx = c,
				      .unsent = &c->unsent,
				      .totals = &c->totals};
	rt_buf *out = c->l->body, request;
	size_t tokens = 0;
	bool is_exact = false;
	rt_status st;

	rt_buf_init(&request, c->l->call->request->alloc, RT_BUF_UNLIMITED);
	st = rt_view_context(c->l->engine, c->l->project, c->l->place, c->provider, &options,
			     &request, &c->l->err);
	if (st == RT_OK)
		st = c->status;
	if (st == RT_OK && (request.status != RT_OK || c->entries.status != RT_OK))
		st = rt_fail(&c->l->err, RT_NOMEM, "out of memory");
	if (st == RT_OK)
		st = count_all(c, rt_buf_str(&request), &tokens, &is_exact);
	if (st == RT_OK) {
		rt_buf_add_c(out, "{\"provider\":");
		rt_json_add_string(out, rt_str_of(c->provider->name));
		if (c->service.size > 0)
			rt_api_view_add_text(out, "service", c->service);
		rt_json_add_key(out, "model");
		if (c->model.size > 0)
			rt_json_add_string(out, c->model);
		else
			rt_buf_add_c(out, "null");
		rt_api_view_add_number(out, "tokens", tokens);
		rt_api_view_add_bool(out, "exact", is_exact);
		rt_api_view_add_number(out, "left_out", c->totals.left_out);
		if (c->budget > 0)
			rt_api_view_add_number(out, "budget", c->budget);
		rt_buf_add_c(out, ",\"entries\":[");
		rt_buf_add_str(out, rt_buf_str(&c->entries));
		rt_buf_add_byte(out, ']');
		add_unsent(c);
		rt_buf_add_c(out, ",\"body\":");
		rt_buf_add_str(out, rt_buf_str(&request));
		rt_buf_add_byte(out, '}');
	}
	rt_buf_deinit(&request);
	return st;
}

void
rt_api_context(rt_call *call)
{
	context c = {.status = RT_OK};
	rt_status st;
	rt_api_view l;

	rt_buf_init(&c.name, call->request->alloc, RT_BUF_UNLIMITED);
	rt_buf_init(&c.entries, call->request->alloc, RT_BUF_UNLIMITED);
	rt_buf_init(&c.unsent, call->request->alloc, RT_BUF_UNLIMITED);
	if (rt_api_view_begin(&l, call) && rt_call_number(call, "budget", 0, &c.budget)) {
		c.l = &l;
		st = choose(&c);
		rt_pick_counter_init(&c.counter, call->request->alloc, c.model);
		if (st == RT_OK)
			st = add_context(&c);
		if (call->answer->status == 0) /* the query may be answered already */
			rt_api_view_done(&l, st, RT_API_VIEW_NO_ETAG);
		rt_pick_counter_deinit(&c.counter);
	}
	rt_api_view_end(&l);
	rt_buf_deinit(&c.name);
	rt_buf_deinit(&c.entries);
	rt_buf_deinit(&c.unsent);
}
