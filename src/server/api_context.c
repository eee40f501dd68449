/* SPDX-License-Identifier: MIT
 *
 * The next request to a model and its tokens, with its files; the last request. */
#include "chat/last_request.h"
#include "llm/models_host.h"
#include "llm/provider.h"
#include "server/api.h"
#include "view/view.h"

/* ---- the next request ---- */

typedef struct context {
	rt_call *call;
	rt_scope *scope; /* the call's */
	rt_snapshot v;
	const rt_provider *provider;
	rt_str model, service;
	rt_buf *name;    /* of the model, as it was chosen */
	rt_buf *entries; /* of the table */
	rt_buf *unsent;  /* blocks that the request cannot contain, a line each */
	rt_pick_counter counter;
	bool is_known;
	uint64_t budget;
	rt_context_totals totals;
	const rt_file_set *file_set;
	rt_attachments files;
	size_t *file_tokens;
} context;

static size_t
count_text(void *ctx, rt_str text)
{
	context *c = ctx;

	return rt_pick_count(&c->counter, text);
}

/* Positions count from 1 here, as in addresses. */
static void
put_part(void *ctx, const rt_context_part *part)
{
	context *c = ctx;
	rt_scope *s = c->scope;
	char id[RT_ID_MAX + 1] = "";

	RT_TRY(s, rt_entry_id(c->v.project, part->entry, id, &s->error));
	rt_json_open(c->entries, NULL, '{');
	rt_json_put_c(c->entries, "id", id);
	rt_json_put_u64(c->entries, "at", part->at + 1);
	rt_json_put_u64(c->entries, "tokens", part->tokens);
	rt_json_put_bool(c->entries, "left_out", part->left_out);
	if (part->is_summary)
		rt_json_put_bool(c->entries, "summary", true);
	rt_json_close(c->entries, '}');
}

/* The provider given by the query, whatever its models are. */
static void
choose_provider(context *c, const rt_config *config, rt_str name)
{
	const rt_config_provider *own = rt_config_provider_named(config, name);

	c->provider = own != NULL ? own->kind : rt_provider_named(name);
	if (c->provider == NULL)
		rt_scope_fail(c->scope, RT_NOT_FOUND, "there is no provider \"%.*s\"",
			      (int)rt_utf8_cut(name, 80), name.ptr);
	else
		c->model = rt_provider_model(c->provider, c->model);
}

/* Chosen like ask does, without a key; or the provider given by the query. */
static void
choose_model(context *c)
{
	rt_scope *s = c->scope;
	const rt_project_pool_options *given = rt_project_pool_get_options(c->call->pool);
	rt_str provider = rt_call_text(c->call, "provider");
	rt_str model = rt_call_text(c->call, "model");
	rt_model_choice choice = {0};

	RT_TRY(s, rt_pick_name(s->alloc, c->v.project, c->v.disc, model, given->model, c->name,
			       NULL, &s->error));
	if (rt_ok(s) && c->name->size == 0 && given->config != NULL)
		rt_buf_add_str(c->name, given->config->model);
	c->provider = &rt_provider_openai;
	c->model = rt_scope_str(s, c->name);
	if (!rt_ok(s))
		return;
	if (provider.size > 0) {
		choose_provider(c, given->config, provider);
		return;
	}
	if (c->name->size == 0)
		return;
	rt_status st = rt_models_choose(given->config, c->model, &choice, &s->error);
	/* Tokens can be counted even if the model was only set and is not known. */
	if (st == RT_NOT_FOUND && model.size == 0)
		return;
	if (rt_scope_note(s, st) != RT_OK)
		return;
	c->is_known = true;
	c->provider = choice.provider;
	c->service = choice.provider_name;
	c->model = choice.model;
	if (choice.config != NULL && c->budget == 0)
		c->budget = choice.config->context_tokens;
}

/* The tokens of the request; *out_exact: counted, and the sum of the table is the same. */
static size_t
count_all(const context *c, rt_str body, bool *out_exact)
{
	rt_scope *s = c->scope;
	size_t sum = c->totals.tokens, tokens = 0;
	bool is_whole = false;

	*out_exact = false;
	if (c->counter.ranks == NULL)
		return sum;
	sum += RT_TOKENS_REPLY;
	if (c->provider == &rt_provider_openai) {
		RT_TRY(s, rt_tokens_count_request(c->counter.ranks, body, &tokens, &is_whole,
						  &s->error));
		*out_exact = is_whole && tokens == sum;
	}
	return sum;
}

/* The files of the discussion in view, with or without the symbols that are sent along, below the
 * directories that the server may read. */
static const rt_file_set *
read_files(rt_call *call, const rt_snapshot *v, bool is_sent, rt_attachments *out)
{
	static const rt_file_set none = {0};
	static const rt_file_options nowhere = {0};
	rt_scope *s = &call->scope;
	const rt_file_options *options = rt_project_pool_get_options(call->pool)->files;

	if (!rt_ok(s))
		return &none;
	rt_str message = is_sent ? rt_attach_message(s, v->engine, v->project, v->place, 0)
				 : RT_STR("");
	const rt_file_set *set = rt_attach_look(s, options != NULL ? options : &nowhere, v->project,
						v->place.disc, message);

	*out = rt_attach_set(s, set);
	return set;
}

static void
put_context(context *c)
{
	rt_scope *s = c->scope;
	rt_context_options options = {.stream = c->is_known,
				      .model = c->model,
				      .service = c->service,
				      .budget_tokens = (size_t)c->budget,
				      .count = c->counter.encoding != NULL ? count_text : NULL,
				      .part = put_part,
				      .ctx = c,
				      .unsent = c->unsent,
				      .files = &c->files,
				      .file_tokens = c->file_tokens,
				      .totals = &c->totals};
	rt_buf *out = &c->call->answer->body, *request = rt_scope_buf(s);
	bool is_exact = false;

	rt_json_open(c->entries, NULL, '[');
	RT_TRY(s, rt_view_context(c->v.engine, c->v.project, c->v.place, c->provider, &options,
				  request, &s->error));
	rt_json_close(c->entries, ']');
	size_t tokens = count_all(c, rt_scope_str(s, request), &is_exact);
	if (!rt_ok(s))
		return;
	rt_json_open(out, NULL, '{');
	rt_json_put_c(out, "provider", c->provider->name);
	if (c->service.size > 0)
		rt_json_put_str(out, "service", c->service);
	if (c->model.size > 0)
		rt_json_put_str(out, "model", c->model);
	else
		rt_json_put_null(out, "model");
	rt_json_put_u64(out, "tokens", tokens);
	rt_json_put_bool(out, "exact", is_exact);
	rt_json_put_u64(out, "left_out", c->totals.left_out);
	if (c->budget > 0)
		rt_json_put_u64(out, "budget", c->budget);
	rt_attach_put(out, c->file_set, c->file_tokens);
	rt_json_put_u64(out, "file_tokens", c->totals.file_tokens);
	rt_json_put_raw(out, "entries", rt_scope_str(s, c->entries));
	rt_call_put_lines(out, "unsent", rt_scope_str(s, c->unsent));
	rt_json_put_raw(out, "body", rt_scope_str(s, request));
	rt_json_close(out, '}');
}

void
rt_api_context(rt_call *call)
{
	rt_scope *s = &call->scope;
	context c = {.call = call,
		     .scope = s,
		     .v = rt_call_snapshot(call),
		     .name = rt_scope_buf(s),
		     .entries = rt_scope_buf(s),
		     .unsent = rt_scope_buf(s)};

	c.budget = rt_call_number(call, "budget", 0);
	choose_model(&c);
	c.file_set = read_files(call, &c.v, true, &c.files);
	c.file_tokens = rt_scope_array(s, c.files.count, sizeof(*c.file_tokens));
	rt_pick_counter_init(&c.counter, s->alloc, c.model);
	if (rt_ok(s))
		put_context(&c);
	rt_pick_counter_deinit(&c.counter);
}

/* ---- names of files ---- */

/* Below the directories that the lists may name, and nowhere else. */
void
rt_api_file_names(rt_call *call)
{
	enum { MOST = 100 };
	rt_scope *s = &call->scope;
	const rt_file_options *options = rt_project_pool_get_options(call->pool)->files;
	rt_buf *out = &call->answer->body;
	rt_file_names names = {0};
	rt_str word = rt_call_text(call, "search");
	uint64_t count = rt_call_number(call, "count", MOST);

	if (options != NULL && options->root_count > 0)
		names = rt_file_names_find(s, options, word, count < MOST ? (size_t)count : MOST);
	if (!rt_ok(s))
		return;
	rt_json_open(out, NULL, '{');
	rt_json_open(out, "names", '[');
	for (size_t i = 0; i < names.count; i++)
		rt_json_put_str(out, NULL, names.items[i]);
	rt_json_close(out, ']');
	rt_json_put_bool(out, "complete", !names.is_cut);
	rt_json_close(out, '}');
}

/* ---- symbols ---- */

/* [{"name","kind",…}]: the symbols that begin with the prefix, or those of a name with their
 * text. */
static void
put_symbols(rt_call *call, rt_str wanted, bool is_show)
{
	static const rt_file_options nowhere = {0};
	rt_scope *s = &call->scope;
	const rt_file_options *options = rt_project_pool_get_options(call->pool)->files;
	rt_snapshot v = rt_call_snapshot(call);
	rt_attachments unused;
	const rt_file_set *set = read_files(call, &v, false, &unused);
	const rt_file_symbols *symbols;
	rt_buf *out = &call->answer->body;
	size_t count, at;

	symbols = rt_ok(s) ? rt_file_symbols_read(s, options != NULL ? options : &nowhere, set)
			   : NULL;
	if (symbols == NULL)
		return;
	if (symbols->problem.size > 0) {
		rt_scope_fail(s, RT_REFUSED, "%.*s", RT_STR_ARG(symbols->problem));
		return;
	}
	at = rt_file_symbols_range(symbols, wanted, &count);
	if (is_show && (count == 0 || !rt_str_eq(symbols->items[at].name, wanted))) {
		rt_scope_fail(s, RT_NOT_FOUND, "no symbol \"%.*s\" in the files of this discussion",
			      (int)rt_utf8_cut(wanted, 80), wanted.ptr);
		return;
	}
	rt_json_open(out, NULL, '[');
	for (size_t i = at; i < at + count; i++)
		if (!is_show || rt_str_eq(symbols->items[i].name, wanted))
			rt_file_symbol_put(out, set, &symbols->items[i], is_show);
	rt_json_close(out, ']');
}

void
rt_api_symbols(rt_call *call)
{
	put_symbols(call, rt_call_text(call, "prefix"), false);
}

void
rt_api_symbol(rt_call *call)
{
	put_symbols(call, rt_call_param(call, "name"), true);
}

/* ---- the last request ---- */

/* Members of the answer that are copied from the record, and those from the changes since. */
static const char *const of_record[] = {"at",    "seq",  "take",     "provider",      "service",
					"model", "upto", "left_out", "budget_tokens", NULL};
static const char *const of_changes[] = {"exact",    "same",   "entries", "moved",
					 "settings", "prompt", "files", NULL};

static void
put_members(rt_buf *out, yyjson_val *from, const char *const *names)
{
	for (; *names != NULL; names++) {
		yyjson_val *value = rt_json_get(from, *names);

		if (value != NULL)
			rt_json_put_value(out, *names, value);
	}
}

/* The last request of the discussion, built again, and its differences from one made now. */
void
rt_api_sent(rt_call *call)
{
	rt_scope *s = &call->scope;
	rt_buf *body = &call->answer->body;
	rt_snapshot v = rt_call_snapshot(call);
	rt_buf *row = rt_scope_buf(s), *changes = rt_scope_buf(s);
	rt_last_request sent = {0};
	rt_attachments files = {0};

	(void)read_files(call, &v, true, &files);
	RT_TRY(s, rt_engine_last_request(v.engine, v.place.disc, row, &s->error));
	yyjson_val *record = rt_json_parse(s, rt_scope_str(s, row));
	const rt_provider *provider =
		rt_provider_named(rt_json_str(rt_json_get(record, "provider")));
	RT_TRY(s, rt_last_request_build(v.engine, record, provider, NULL, NULL, &sent, &s->error));
	RT_TRY(s, rt_view_last_request_changes(v.engine, v.project, v.place, record, provider,
					       &files, changes, &s->error));
	yyjson_val *changed = rt_json_parse(s, rt_scope_str(s, changes));
	rt_json_open(body, NULL, '{');
	put_members(body, record, of_record);
	put_members(body, changed, of_changes);
	rt_json_put_raw(body, "body", rt_buf_str(&sent.body));
	rt_json_close(body, '}');
	rt_last_request_deinit(&sent);
}
