/* SPDX-License-Identifier: MIT */
#include "app/next_request.h"

#include "llm/provider.h"

rt_next_request
rt_next_request_of(rt_scope *s, rt_engine *engine, const rt_project *value, rt_place place)
{
	static const rt_file_set none = {0};

	return (rt_next_request){.s = s,
				 .engine = engine,
				 .value = value,
				 .place = place,
				 .provider = &rt_provider_openai,
				 .file_set = &none,
				 .unsent = rt_scope_buf(s),
				 .body = rt_scope_buf(s)};
}

/* ---- the model ---- */

static void
free_counter(void *counter)
{
	rt_pick_counter_deinit(counter);
}

static rt_status
choose(rt_next_request *r, const rt_provider *provider, rt_error *err)
{
	rt_model_choice choice = {0};
	rt_status st;

	if (provider != NULL) {
		r->provider = provider;
		r->model = rt_provider_model(provider, r->model);
		return RT_OK;
	}
	if (r->model.size == 0)
		return RT_OK;
	st = rt_models_choose(r->config, r->model, &choice, err);
	if (st != RT_OK)
		return st;
	r->is_known = true;
	r->provider = choice.provider;
	r->service = choice.provider_name;
	r->model = choice.model;
	if (choice.config != NULL && r->budget == 0)
		r->budget = choice.config->context_tokens;
	return RT_OK;
}

rt_status
rt_next_request_choose(rt_next_request *r, rt_str said, rt_str standard,
		       const rt_provider *provider, rt_error *err)
{
	rt_scope *s = r->s;
	rt_buf *name = rt_scope_buf(s);
	const rt_disc *disc = NULL;
	rt_status st;

	RT_TRY(s, rt_project_disc(r->value, r->place.disc, &disc, &s->error));
	RT_TRY(s, rt_pick_name(s->alloc, r->value, disc, said, standard, name, NULL, &s->error));
	if (rt_ok(s) && name->size == 0 && r->config != NULL)
		rt_buf_add_str(name, r->config->model);
	r->model = rt_scope_str(s, name);
	r->counter = rt_scope_get(s, sizeof(*r->counter));
	if (!rt_ok(s))
		return RT_OK;
	st = choose(r, provider, err);
	rt_pick_counter_init(r->counter, s->alloc, r->model);
	rt_scope_defer(s, free_counter, r->counter);
	return st;
}

/* ---- the files ---- */

void
rt_next_request_read_files(rt_next_request *r, const rt_file_options *options)
{
	rt_scope *s = r->s;
	rt_str message = rt_attach_message(s, r->engine, r->value, r->place, 0);

	r->file_set = rt_attach_look(s, options, r->value, r->place.disc, message);
	r->files = rt_attach_set(s, r->file_set);
	r->file_tokens = rt_scope_array(s, r->files.count + 1, sizeof(*r->file_tokens));
}

/* ---- the body ---- */

static size_t
count_text(void *ctx, rt_str text)
{
	rt_next_request *r = ctx;

	return rt_pick_count(r->counter, text);
}

static void
add_part(void *ctx, const rt_context_part *part)
{
	rt_next_request *r = ctx;

	r->parts = rt_scope_grow(r->s, r->parts, r->part_count, &r->part_capacity,
				 sizeof(*r->parts));
	if (r->parts != NULL)
		r->parts[r->part_count++] = *part;
}

/* Is the sum of the parts the request's total? */
static void
prove(rt_next_request *r)
{
	rt_scope *s = r->s;
	rt_str body = rt_scope_str(s, r->body);
	size_t tokens = 0;
	bool is_whole = false;

	r->tokens = r->totals.tokens;
	if (r->counter == NULL || r->counter->ranks == NULL)
		return;
	r->tokens += RT_TOKENS_REPLY;
	if (r->provider != &rt_provider_openai)
		return;
	RT_TRY(s, rt_tokens_count_request(r->counter->ranks, body, &tokens, &is_whole, &s->error));
	r->is_exact = rt_ok(s) && is_whole && tokens == r->tokens;
}

void
rt_next_request_build(rt_next_request *r)
{
	rt_scope *s = r->s;
	bool is_counted = r->is_counted && r->counter != NULL && r->counter->encoding != NULL;
	rt_context_options options = {
		.stream = r->is_known, /* in the form in which it would be sent */
		.model = r->is_known || r->names_model ? r->model : RT_STR(""),
		.service = r->service,
		.budget_tokens = r->budget,
		.files = &r->files,
		.file_tokens = r->file_tokens,
		.count = is_counted ? count_text : NULL,
		.part = r->is_counted ? add_part : NULL,
		.ctx = r,
		.totals = &r->totals,
		.unsent = r->unsent,
	};

	RT_TRY(s, rt_view_context(r->engine, r->value, r->place, r->provider, &options, r->body,
				  &s->error));
	if (is_counted && r->counter->status != RT_OK)
		rt_scope_fail(s, r->counter->status, "out of memory while counting tokens");
	if (rt_ok(s))
		prove(r);
}
