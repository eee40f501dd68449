/* SPDX-License-Identifier: MIT
 *
 * The next request to a model and its tokens, with its files; the last request. */
#include "app/next_request.h"
#include "chat/last_request.h"
#include "llm/provider.h"
#include "server/api.h"
#include "view/view.h"

/* ---- the next request ---- */

static const rt_file_options *
file_options(rt_call *call)
{
	static const rt_file_options nowhere = {0};
	const rt_file_options *options = rt_project_pool_get_options(call->pool)->files;

	return options != NULL ? options : &nowhere;
}

/* Chosen like ask does, without a key; or the provider given by the query, whatever its models
 * are. */
static void
choose_model(rt_call *call, rt_next_request *next)
{
	rt_scope *s = &call->scope;
	const rt_project_pool_options *given = rt_project_pool_get_options(call->pool);
	rt_str name = rt_call_text(call, "provider");
	rt_str model = rt_call_text(call, "model");
	rt_model_choice choice = {0};
	rt_status st;

	next->config = given->config;
	if (name.size > 0 && !rt_models_provider_named(given->config, name, &choice))
		rt_scope_fail(s, RT_NOT_FOUND, "there is no provider \"%.*s\"",
			      (int)rt_utf8_cut(name, 80), name.ptr);
	if (!rt_ok(s))
		return;
	st = rt_next_request_choose(next, model, given->model, choice.provider, &s->error);
	/* Tokens can be counted even if the model was only set and is not known. */
	if (st != RT_NOT_FOUND || model.size > 0)
		(void)rt_scope_note(s, st);
}

/* Positions count from 1 here, as in addresses. */
static void
put_part(rt_buf *out, const rt_next_request *next, const rt_context_part *part)
{
	rt_scope *s = next->s;
	char id[RT_ID_MAX + 1] = "";

	RT_TRY(s, rt_entry_id(next->value, part->entry, id, &s->error));
	rt_json_open(out, NULL, '{');
	rt_json_put_c(out, "id", id);
	rt_json_put_u64(out, "at", part->at + 1);
	rt_json_put_u64(out, "tokens", part->tokens);
	rt_json_put_bool(out, "left_out", part->left_out);
	if (part->is_summary)
		rt_json_put_bool(out, "summary", true);
	rt_json_close(out, '}');
}

void
rt_api_context(rt_call *call)
{
	rt_scope *s = &call->scope;
	rt_buf *out = &call->answer->body;
	rt_snapshot v = rt_call_snapshot(call);
	rt_next_request next = rt_next_request_of(s, v.engine, v.project, v.place);

	next.is_counted = true;
	next.names_model = true;
	next.budget = (size_t)rt_call_number(call, "budget", 0);
	choose_model(call, &next);
	rt_next_request_read_files(&next, file_options(call));
	rt_next_request_build(&next);
	if (!rt_ok(s))
		return;
	rt_json_open(out, NULL, '{');
	rt_json_put_c(out, "provider", next.provider->name);
	if (next.service.size > 0)
		rt_json_put_str(out, "service", next.service);
	if (next.model.size > 0)
		rt_json_put_str(out, "model", next.model);
	else
		rt_json_put_null(out, "model");
	rt_json_put_u64(out, "tokens", next.tokens);
	rt_json_put_bool(out, "exact", next.is_exact);
	rt_json_put_u64(out, "left_out", next.totals.left_out);
	if (next.budget > 0)
		rt_json_put_u64(out, "budget", next.budget);
	rt_attach_put(out, next.file_set, next.file_tokens);
	rt_json_put_u64(out, "file_tokens", next.totals.file_tokens);
	rt_json_open(out, "entries", '[');
	for (size_t i = 0; i < next.part_count; i++)
		put_part(out, &next, &next.parts[i]);
	rt_json_close(out, ']');
	rt_call_put_lines(out, "unsent", rt_buf_str(next.unsent));
	rt_json_put_raw(out, "body", rt_scope_str(s, next.body));
	rt_json_close(out, '}');
}

/* ---- names of files ---- */

/* Below the directories that the lists may name, and nowhere else. */
void
rt_api_file_names(rt_call *call)
{
	enum { MOST = 100 };
	rt_scope *s = &call->scope;
	const rt_file_options *options = file_options(call);
	rt_buf *out = &call->answer->body;
	rt_file_names names = {0};
	rt_str word = rt_call_text(call, "search");
	uint64_t count = rt_call_number(call, "count", MOST);

	if (options->root_count > 0)
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
	rt_scope *s = &call->scope;
	const rt_file_options *options = file_options(call);
	rt_snapshot v = rt_call_snapshot(call);
	const rt_file_set *set = rt_attach_look(s, options, v.project, v.place.disc, RT_STR(""));
	const rt_file_symbols *symbols;
	rt_buf *out = &call->answer->body;
	size_t count, at;

	symbols = rt_ok(s) ? rt_file_symbols_read(s, options, set) : NULL;
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
	rt_next_request now = rt_next_request_of(s, v.engine, v.project, v.place);

	rt_next_request_read_files(&now, file_options(call));
	RT_TRY(s, rt_engine_last_request(v.engine, v.place.disc, row, &s->error));
	yyjson_val *record = rt_json_parse(s, rt_scope_str(s, row));
	const rt_provider *provider =
		rt_provider_for(rt_provider_named(rt_json_str(rt_json_get(record, "provider"))),
				rt_json_str(rt_json_get(record, "model")));
	RT_TRY(s, rt_last_request_build(v.engine, record, provider, NULL, NULL, &sent, &s->error));
	RT_TRY(s, rt_view_last_request_changes(v.engine, v.project, v.place, record, provider,
					       &now.files, changes, &s->error));
	yyjson_val *changed = rt_json_parse(s, rt_scope_str(s, changes));
	rt_json_open(body, NULL, '{');
	put_members(body, record, of_record);
	put_members(body, changed, of_changes);
	rt_json_put_raw(body, "body", rt_buf_str(&sent.body));
	rt_json_close(body, '}');
	rt_last_request_deinit(&sent);
}
