/* SPDX-License-Identifier: MIT */
#define _POSIX_C_SOURCE 200809L

#include "cli/counting.h"

#include <stdlib.h>

#include "app/screen.h"
#include "llm/provider.h"

enum { ROLE_COLUMNS = 12 };

/* ---- the request ---- */

rt_next_request
rt_cli_next_request(rt_cli *cli)
{
	const rt_session *session = &cli->session;

	return rt_next_request_of(&cli->s, session->engine, session->value, session->place);
}

/* The provider of --provider. */
static const rt_provider *
given_provider(rt_cli *cli, const char *name)
{
	const rt_provider *provider = rt_provider_named(rt_str_of(name));
	rt_buf *names = rt_scope_buf(&cli->s);
	rt_model_choice choice;

	if (provider != NULL)
		return provider;
	if (rt_models_provider_named(rt_cli_config(cli), rt_str_of(name), &choice))
		return choice.provider;
	rt_provider_add_names(names);
	rt_cli_fail(cli, RT_USAGE, "there is no provider \"%s\"; providers: %.*s", name,
		    RT_STR_ARG(rt_scope_str(&cli->s, names)));
	return NULL;
}

void
rt_cli_counting_choose(rt_cli *cli, rt_next_request *r)
{
	const char *name = rt_cli_flag_value(cli, "provider");
	rt_str model = rt_str_of(rt_cli_flag_value(cli, "model"));
	const rt_provider *provider = name != NULL ? given_provider(cli, name) : NULL;
	rt_status st;
	rt_error err;

	r->names_model = rt_cli_has(cli, "model");
	r->config = rt_cli_config(cli);
	r->budget = rt_cli_flag_number(cli, "budget", "number of tokens", 0);
	if (!rt_ok(&cli->s))
		return;
	st = rt_next_request_choose(r, model, rt_str_of(getenv("RETAKE_MODEL")), provider, &err);
	/* Tokens can be counted for a model that was chosen earlier and is not known any more. */
	if (st != RT_OK && r->names_model && r->counter->encoding == NULL) {
		(void)rt_scope_fail_as(&cli->s, st, &err);
		rt_cli_hint(cli, "Models: retake models");
	}
	r->is_counted = r->budget > 0 || rt_cli_has(cli, "tokens");
}

void
rt_cli_counting_choose_provider(rt_cli *cli, rt_next_request *r)
{
	r->provider = given_provider(cli, rt_cli_flag_value(cli, "provider"));
}

void
rt_cli_counting_read_files(rt_cli *cli, rt_next_request *r)
{
	if (!rt_ok(&cli->s) || rt_cli_has(cli, "no-files"))
		return;
	rt_file_options options = rt_attach_here(&cli->s);

	rt_next_request_read_files(r, &options);
}

void
rt_cli_counting_build(rt_cli *cli, rt_next_request *r)
{
	rt_pick_counter *counter = r->counter;

	if (rt_ok(&cli->s) && r->is_counted && counter->encoding != NULL) {
		(void)rt_pick_count(counter, RT_STR("")); /* loads the ranks */
		if (counter->warnings.size > 0)
			rt_cli_note(cli, "%.*s",
				    (int)rt_str_trim(rt_buf_str(&counter->warnings)).size,
				    counter->warnings.ptr);
		else if (counter->status == RT_OK && counter->ranks == NULL)
			rt_cli_note(cli,
				    "the token encoding %s is not installed; counts are "
				    "estimates",
				    counter->encoding->name);
	}
	rt_next_request_build(r);
}

/* ---- printing ---- */

/* Are texts counted, and not estimated? */
static bool
is_ranked(const rt_next_request *r)
{
	return r->counter != NULL && r->counter->ranks != NULL;
}

void
rt_cli_counting_note(rt_cli *cli, const rt_next_request *r)
{
	size_t first = 0, last = 0, out = r->totals.left_out;

	if (!rt_ok(&cli->s))
		return;
	rt_session_note_lines(&cli->session, rt_buf_str(r->unsent));
	for (size_t i = 0; i < r->part_count; i++) {
		if (!r->parts[i].left_out)
			continue;
		last = r->parts[i].at + 1;
		first = first == 0 ? last : first;
	}
	if (out == 1)
		rt_cli_note(cli, "1 entry does not fit into %zu tokens and is left out: :%zu",
			    r->budget, first);
	else if (out > 1)
		rt_cli_note(cli,
			    "%zu entries do not fit into %zu tokens and are left out: "
			    ":%zu..:%zu",
			    out, r->budget, first, last);
	if (r->budget > 0 && r->tokens > r->budget)
		rt_cli_note(cli,
			    "the rest has %s%zu tokens, which exceeds the budget: prompts, "
			    "summaries and the newest entry are always kept",
			    r->is_exact ? "" : "about ", r->tokens);
}

/* {"exact","encoding","entries":[{"id","at","tokens","left_out"}],"files","file_problems","tokens",
 * "left_out"}; at counts from 1, as addresses do. */
static void
print_json(rt_cli *cli, const rt_next_request *r)
{
	char id[RT_ID_MAX + 1] = "";
	rt_buf *json = rt_scope_buf(&cli->s);

	rt_json_open(json, NULL, '{');
	rt_json_put_bool(json, "exact", r->is_exact);
	rt_json_put_c(json, "encoding", is_ranked(r) ? r->counter->encoding->name : NULL);
	rt_json_open(json, "entries", '[');
	for (size_t i = 0; i < r->part_count; i++) {
		const rt_context_part *part = &r->parts[i];

		RT_TRY(&cli->s,
		       rt_entry_id(cli->session.value, part->entry, id, &cli->s.error));
		rt_json_open(json, NULL, '{');
		rt_json_put_c(json, "id", id);
		rt_json_put_u64(json, "at", part->at + 1);
		rt_json_put_u64(json, "tokens", part->tokens);
		rt_json_put_bool(json, "left_out", part->left_out);
		rt_json_close(json, '}');
	}
	rt_json_close(json, ']');
	rt_attach_put(json, r->file_set, r->file_tokens);
	rt_json_put_u64(json, "tokens", r->tokens);
	rt_json_put_u64(json, "left_out", r->totals.left_out);
	rt_json_close(json, '}');
	rt_cli_print_json(cli, json);
}

static void
print_row(rt_term *out, size_t at, const char *id, size_t id_width, rt_str role, size_t tokens,
	  const char *remark)
{
	rt_buf line;
	rt_str word;

	rt_buf_init(&line, out->buf.alloc, RT_BUF_UNLIMITED);
	rt_screen_add_line(&line, role);
	word = rt_screen_cut(rt_buf_str(&line), ROLE_COLUMNS);
	if (at > 0)
		rt_term_f(out, "%5s%-6zu", ":", at);
	else
		rt_term_spaces(out, 11);
	rt_term_style(out, RT_STYLE_DIM);
	rt_term_f(out, "%-*s  ", (int)id_width, id);
	rt_term_style(out, RT_STYLE_NONE);
	rt_term_line(out, word);
	rt_term_spaces(out, ROLE_COLUMNS - rt_screen_width(word));
	rt_term_f(out, "%9zu%s\n", tokens, remark);
	rt_buf_deinit(&line);
}

/* The row of an entry. */
static void
print_part(rt_cli *cli, const rt_context_part *part, size_t width)
{
	rt_scope *s = &cli->s;
	const rt_project *value = cli->session.value;
	const rt_take *take = rt_cli_take(cli);
	char id[RT_ID_MAX + 1] = "";
	rt_str role = {NULL, 0};
	rt_slot slot;

	RT_TRY(s, rt_entry_id(value, part->entry, id, &s->error));
	RT_TRY(s, rt_seq_copy(take->slots, part->at, 1, &slot, &s->error));
	RT_TRY(s, rt_project_name(value, slot.role, &role, &s->error));
	if (rt_ok(s))
		print_row(&cli->out, part->at + 1, id, width, role, part->tokens,
			  part->left_out      ? "  left out"
			  : part->is_summary  ? "  summary"
			  : part->tokens == 0 ? "  not sent"
					      : "");
}

/* "  src/a.c", without control characters. */
static const char *
file_remark(rt_cli *cli, const rt_next_request *r, size_t at)
{
	rt_buf *line = rt_scope_buf(&cli->s);

	rt_buf_add_c(line, "  ");
	rt_screen_add_line(line, r->files.items[at].name);
	return rt_scope_str(&cli->s, line).ptr;
}

static void
print_total(rt_cli *cli, const rt_next_request *r)
{
	rt_term *out = &cli->out;

	rt_term_style(out, RT_STYLE_BOLD);
	rt_term_f(out, "%s%zu token%s", r->is_exact ? "" : "about ", r->tokens,
		  RT_CLI_S(r->tokens));
	rt_term_style(out, RT_STYLE_NONE);
	if (r->model.size > 0) {
		rt_term_c(out, " for ");
		rt_term_line(out, r->model);
	}
	if (!is_ranked(r))
		rt_term_c(out, r->model.size > 0 ? " (estimated)\n"
						 : " (estimated; no model is set)\n");
	else
		rt_term_f(out, " (%s%s)\n", r->is_exact ? "exact, " : "", r->counter->encoding->name);
}

void
rt_cli_counting_print(rt_cli *cli, const rt_next_request *r)
{
	char id[RT_ID_MAX + 1] = "";
	size_t in_entries = 0, width = 4;

	if (cli->json) {
		print_json(cli, r);
		return;
	}
	for (size_t i = 0; i < r->part_count; i++) {
		RT_TRY(&cli->s,
		       rt_entry_id(cli->session.value, r->parts[i].entry, id, &cli->s.error));
		if (strlen(id) > width)
			width = strlen(id) < 24 ? strlen(id) : 24;
	}
	for (size_t i = 0; i < r->files.count; i++)
		print_row(&cli->out, 0, "", width, RT_STR("file"), r->file_tokens[i],
			  file_remark(cli, r, i));
	for (size_t i = 0; i < r->part_count; i++) {
		print_part(cli, &r->parts[i], width);
		if (!r->parts[i].left_out)
			in_entries += r->parts[i].tokens;
	}
	if (!rt_ok(&cli->s))
		return;
	in_entries += r->totals.file_tokens;
	if (r->totals.tokens > in_entries)
		print_row(&cli->out, 0, "", width, RT_STR("prompts"),
			  r->totals.tokens - in_entries, "");
	if (is_ranked(r))
		print_row(&cli->out, 0, "", width, RT_STR("reply"), RT_TOKENS_REPLY,
			  "  start of the reply");
	print_total(cli, r);
}
