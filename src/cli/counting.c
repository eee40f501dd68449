/* SPDX-License-Identifier: MIT
 *
 * A count is exact only when it can be proved on the request itself: it goes to OpenAI, contains
 * nothing but text, and the sum of its messages is that of the table. */
#define _POSIX_C_SOURCE 200809L

#include "cli/counting.h"

#include <stdlib.h>

#include "app/screen.h"
#include "cli/model_session.h"
#include "llm/provider.h"
#include "llm/tokens_host.h"

enum { ROLE_COLUMNS = 12 };

static void
free_ranks(void *item)
{
	rt_tokens_free(item);
}

/* ---- the model ---- */

static rt_str
choose_name(rt_cli_counting *c)
{
	rt_scope *s = &c->cli->s;
	const char *given = rt_cli_flag_value(c->cli, "model"), *environment = getenv("RETAKE_MODEL");
	rt_buf *name = rt_scope_buf(s);

	if (given != NULL)
		return rt_str_of(given);
	RT_TRY(s, rt_model_session_setting(&c->cli->session, name, &s->error));
	if (name->size == 0 && environment != NULL)
		return rt_str_of(environment);
	return name->size == 0 && c->config != NULL ? c->config->model : rt_scope_str(s, name);
}

const rt_provider *
rt_cli_counting_provider(rt_cli *cli, const char *name)
{
	const rt_provider *provider = rt_provider_named(rt_str_of(name));
	const rt_config *config = provider == NULL ? rt_cli_config(cli) : NULL;
	const rt_config_provider *own =
		config == NULL ? NULL : rt_config_provider_named(config, rt_str_of(name));
	rt_buf *names = rt_scope_buf(&cli->s);

	if (provider != NULL || own != NULL)
		return provider != NULL ? provider : own->kind;
	rt_provider_add_names(names);
	rt_cli_fail(cli, RT_USAGE, "there is no provider \"%s\"; providers: %.*s", name,
		    RT_STR_ARG(rt_scope_str(&cli->s, names)));
	return NULL;
}

/* Tokens can be counted for a model that was chosen earlier and is not known any more. */
static void
choose_provider(rt_cli_counting *c)
{
	rt_cli *cli = c->cli;
	const char *given = rt_cli_flag_value(cli, "provider");
	rt_model_choice choice;
	rt_error err;
	rt_status st;

	if (!rt_ok(&cli->s))
		return;
	if (given != NULL) {
		c->provider = rt_cli_counting_provider(cli, given);
		if (c->provider != NULL)
			c->model = rt_provider_model(c->provider, c->model);
		return;
	}
	if (c->model.size == 0)
		return;
	st = rt_models_choose(c->config, c->model, &choice, &err);
	if (st == RT_OK) {
		c->is_known = true;
		c->provider = choice.provider;
		c->service = choice.provider_name;
		c->model = choice.model;
		if (choice.config != NULL && c->budget == 0)
			c->budget = choice.config->context_tokens;
	} else if (rt_cli_has(cli, "model") && rt_token_encoding_of(c->model) == NULL) {
		(void)rt_scope_fail_as(&cli->s, st, &err);
		rt_cli_hint(cli, "Models: retake models");
	}
}

void
rt_cli_counting_choose(rt_cli_counting *c, rt_cli *cli)
{
	*c = (rt_cli_counting){.cli = cli, .provider = &rt_provider_openai};
	c->unsent = rt_scope_buf(&cli->s);
	c->budget = rt_cli_flag_number(cli, "budget", "number of tokens", 0);
	c->config = rt_cli_config(cli);
	c->model = choose_name(c);
	choose_provider(c);
	c->encoding = rt_token_encoding_of(c->model);
}

/* ---- counting ---- */

static size_t
count_text(void *ctx, rt_str text)
{
	rt_cli_counting *c = ctx;
	size_t count = 0;

	if (c->status == RT_OK)
		c->status = rt_tokens_count(c->ranks, text, &count);
	return count;
}

static void
keep_part(void *ctx, const rt_context_part *part)
{
	rt_cli_counting *c = ctx;

	c->parts = rt_scope_grow(&c->cli->s, c->parts, c->part_count, &c->part_capacity,
				 sizeof(*c->parts));
	if (c->parts != NULL)
		c->parts[c->part_count++] = *part;
}

static void
load_ranks(rt_cli_counting *c)
{
	rt_cli *cli = c->cli;
	rt_scope *s = &cli->s;
	rt_buf *warnings = rt_scope_buf(s);

	if (c->encoding == NULL || (c->budget == 0 && !rt_cli_has(cli, "tokens")))
		return;
	RT_TRY(s, rt_tokens_load(cli->alloc, c->encoding, &c->ranks, warnings, &s->error));
	rt_scope_defer(s, free_ranks, c->ranks);
	if (rt_ok(s) && warnings->size > 0)
		rt_cli_note(cli, "%.*s", (int)rt_str_trim(rt_buf_str(warnings)).size,
			    warnings->ptr);
	else if (rt_ok(s) && c->ranks == NULL)
		rt_cli_note(cli, "the token ranks of %s are not installed; counts are estimates",
			    c->encoding->name);
}

/* Is the sum of the table the request's total? */
static void
prove(rt_cli_counting *c, rt_str body)
{
	rt_scope *s = &c->cli->s;
	size_t tokens = 0;
	bool whole = false;

	c->tokens = c->totals.tokens;
	if (c->ranks == NULL)
		return;
	c->tokens += RT_TOKENS_REPLY;
	if (c->provider != &rt_provider_openai)
		return;
	RT_TRY(s, rt_tokens_count_request(c->ranks, body, &tokens, &whole, &s->error));
	c->is_exact = rt_ok(s) && whole && tokens == c->tokens;
}

void
rt_cli_counting_read_files(rt_cli_counting *c)
{
	static const rt_file_set none = {0};
	rt_cli *cli = c->cli;
	rt_scope *s = &cli->s;

	c->file_set = &none;
	if (!rt_ok(s) || rt_cli_has(cli, "no-files"))
		return;
	rt_file_options options = rt_attach_here(s);

	rt_str message = rt_attach_message(s, cli->session.engine, cli->session.value,
					   cli->session.place, 0);

	c->file_set = rt_attach_look(s, &options, cli->session.value, cli->session.place.disc,
				     message);
	c->files = rt_attach_set(s, c->file_set);
	c->file_tokens = rt_scope_array(s, c->files.count, sizeof(*c->file_tokens));
}

void
rt_cli_counting_build(rt_cli_counting *c, rt_buf *body)
{
	rt_cli *cli = c->cli;
	rt_scope *s = &cli->s;
	bool is_counted = c->budget > 0 || rt_cli_has(cli, "tokens");

	load_ranks(c);

	rt_context_options options = {
		.ctx = c,
		.totals = &c->totals,
		.budget_tokens = c->budget,
		.unsent = c->unsent,
		.files = &c->files,
		.file_tokens = c->file_tokens,
		.part = is_counted ? keep_part : NULL,
		.count = c->ranks != NULL ? count_text : NULL,
		.service = c->service,
		.stream = c->is_known, /* in the form in which it would be sent */
	};

	if (c->is_known || rt_cli_has(cli, "model"))
		options.model = c->model;
	RT_TRY(s, rt_view_context(cli->session.engine, cli->session.value, cli->session.place,
				  c->provider, &options, body, &s->error));
	if (c->status != RT_OK)
		rt_cli_fail(cli, c->status, "out of memory while counting tokens");
	rt_str text = rt_scope_str(s, body);

	if (rt_ok(s))
		prove(c, text);
}

/* ---- printing ---- */

void
rt_cli_counting_note(const rt_cli_counting *c)
{
	size_t first = 0, last = 0, out = c->totals.left_out;

	if (!rt_ok(&c->cli->s))
		return;
	rt_session_note_lines(&c->cli->session, rt_buf_str(c->unsent));
	for (size_t i = 0; i < c->part_count; i++) {
		if (!c->parts[i].left_out)
			continue;
		last = c->parts[i].at + 1;
		first = first == 0 ? last : first;
	}
	if (out == 1)
		rt_cli_note(c->cli, "1 entry does not fit into %zu tokens and is left out: :%zu",
			    c->budget, first);
	else if (out > 1)
		rt_cli_note(c->cli,
			    "%zu entries do not fit into %zu tokens and are left out: "
			    ":%zu..:%zu",
			    out, c->budget, first, last);
	if (c->budget > 0 && c->tokens > c->budget)
		rt_cli_note(c->cli,
			    "the rest has %s%zu tokens, which exceeds the budget: prompts, "
			    "summaries and the newest entry are always kept",
			    c->is_exact ? "" : "about ", c->tokens);
}

/* {"exact","encoding","entries":[{"id","at","tokens","left_out"}],"files","file_problems","tokens",
 * "left_out"}; at counts from 1, as addresses do. */
static void
print_json(const rt_cli_counting *c)
{
	rt_cli *cli = c->cli;
	char id[RT_ID_MAX + 1] = "";
	rt_buf *json = rt_scope_buf(&cli->s);

	rt_json_open(json, NULL, '{');
	rt_json_put_bool(json, "exact", c->is_exact);
	rt_json_put_c(json, "encoding", c->ranks != NULL ? c->encoding->name : NULL);
	rt_json_open(json, "entries", '[');
	for (size_t i = 0; i < c->part_count; i++) {
		const rt_context_part *part = &c->parts[i];

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
	rt_attach_put(json, c->file_set, c->file_tokens);
	rt_json_put_u64(json, "tokens", c->tokens);
	rt_json_put_u64(json, "left_out", c->totals.left_out);
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
print_part(const rt_cli_counting *c, const rt_context_part *part, size_t width)
{
	rt_cli *cli = c->cli;
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
file_remark(const rt_cli_counting *c, size_t at)
{
	rt_buf *line = rt_scope_buf(&c->cli->s);

	rt_buf_add_c(line, "  ");
	rt_screen_add_line(line, c->files.items[at].name);
	return rt_scope_str(&c->cli->s, line).ptr;
}

static void
print_total(const rt_cli_counting *c)
{
	rt_term *out = &c->cli->out;

	rt_term_style(out, RT_STYLE_BOLD);
	rt_term_f(out, "%s%zu token%s", c->is_exact ? "" : "about ", c->tokens,
		  RT_CLI_S(c->tokens));
	rt_term_style(out, RT_STYLE_NONE);
	if (c->model.size > 0) {
		rt_term_c(out, " for ");
		rt_term_line(out, c->model);
	}
	if (c->ranks == NULL)
		rt_term_c(out, c->model.size > 0 ? " (estimated)\n"
						 : " (estimated; no model is set)\n");
	else
		rt_term_f(out, " (%s%s)\n", c->is_exact ? "exact, " : "", c->encoding->name);
}

void
rt_cli_counting_print(const rt_cli_counting *c)
{
	rt_cli *cli = c->cli;
	char id[RT_ID_MAX + 1] = "";
	size_t in_entries = 0, width = 4;

	if (cli->json) {
		print_json(c);
		return;
	}
	for (size_t i = 0; i < c->part_count; i++) {
		RT_TRY(&cli->s,
		       rt_entry_id(cli->session.value, c->parts[i].entry, id, &cli->s.error));
		if (strlen(id) > width)
			width = strlen(id) < 24 ? strlen(id) : 24;
	}
	for (size_t i = 0; i < c->files.count; i++)
		print_row(&cli->out, 0, "", width, RT_STR("file"), c->file_tokens[i],
			  file_remark(c, i));
	for (size_t i = 0; i < c->part_count; i++) {
		print_part(c, &c->parts[i], width);
		if (!c->parts[i].left_out)
			in_entries += c->parts[i].tokens;
	}
	if (!rt_ok(&cli->s))
		return;
	in_entries += c->totals.file_tokens;
	if (c->totals.tokens > in_entries)
		print_row(&cli->out, 0, "", width, RT_STR("prompts"),
			  c->totals.tokens - in_entries, "");
	if (c->ranks != NULL)
		print_row(&cli->out, 0, "", width, RT_STR("reply"), RT_TOKENS_REPLY,
			  "  to begin it");
	print_total(c);
}
