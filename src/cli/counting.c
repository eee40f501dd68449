/* SPDX-License-Identifier: MIT
 *
 * A count is exact only when it can be proved on the request itself: it goes to OpenAI, there
 * is nothing but text in it, and the sum of its messages is that of the table. */
#define _POSIX_C_SOURCE 200809L

#include "cli/counting.h"

#include <stdlib.h>

#include "app/screen.h"
#include "cli/model_session.h"
#include "llm/provider.h"
#include "llm/tokens_host.h"

enum { ROLE_COLUMNS = 12 };

void
rt_cli_counting_init(rt_cli_counting *c, rt_cli *cli)
{
	memset(c, 0, sizeof(*c));
	c->cli = cli;
	c->provider = &rt_provider_openai;
	rt_buf_init(&c->name, cli->alloc, RT_BUF_UNLIMITED);
	rt_buf_init(&c->unsent, cli->alloc, RT_BUF_UNLIMITED);
}

void
rt_cli_counting_deinit(rt_cli_counting *c)
{
	rt_buf_deinit(&c->name);
	rt_buf_deinit(&c->unsent);
	rt_tokens_free(c->ranks);
	rt_free(c->cli->alloc, c->parts);
}

/* ---- for whom ---- */

static rt_status
choose_name(rt_cli_counting *c)
{
	const char *given = rt_cli_flag_value(c->cli, "model");
	rt_status st = RT_OK;

	if (given != NULL)
		rt_buf_add_c(&c->name, given);
	else
		st = rt_model_session_setting(&c->cli->session, &c->name, &c->cli->error);
	if (st == RT_OK && c->name.size == 0 && getenv("RETAKE_MODEL") != NULL)
		rt_buf_add_c(&c->name, getenv("RETAKE_MODEL"));
	if (st == RT_OK && c->name.size == 0)
		rt_buf_add_str(&c->name, c->config->model);
	return st == RT_OK ? rt_old_buf(c->cli, &c->name) : st;
}

rt_status
rt_cli_counting_provider(rt_cli *cli, const char *name, const rt_provider **out)
{
	const rt_config_provider *own = NULL;
	const rt_config *config = NULL;
	rt_buf names;
	rt_status st;

	*out = rt_provider_named(rt_str_of(name));
	if (*out != NULL)
		return RT_OK;
	st = rt_old_config(cli, &config);
	if (st != RT_OK)
		return st;
	own = rt_config_provider_named(config, rt_str_of(name));
	if (own != NULL) {
		*out = own->kind;
		return RT_OK;
	}
	rt_buf_init(&names, cli->alloc, RT_BUF_UNLIMITED);
	rt_provider_add_names(&names);
	st = names.status == RT_OK
		     ? rt_fail(&cli->error, RT_USAGE, "no provider \"%s\"; there are %.*s", name,
			       RT_STR_ARG(rt_buf_str(&names)))
		     : rt_fail(&cli->error, RT_NOMEM, "out of memory");
	rt_buf_deinit(&names);
	return st;
}

/* Who is asked where no provider is said. One that was only chosen before, and that nobody
 * knows, is still there to be counted for. */
static rt_status
choose_provider(rt_cli_counting *c)
{
	rt_cli *cli = c->cli;
	const char *said = rt_cli_flag_value(cli, "provider");
	rt_model_choice choice;
	rt_error err;
	rt_status st;

	c->model = rt_buf_str(&c->name);
	if (said != NULL) {
		st = rt_cli_counting_provider(cli, said, &c->provider);
		if (st == RT_OK)
			c->model = rt_provider_model(c->provider, c->model);
		return st;
	}
	if (c->model.size == 0)
		return RT_OK;
	st = rt_models_choose(c->config, c->model, &choice, &err);
	if (st == RT_OK) {
		c->is_known = true;
		c->provider = choice.provider;
		c->service = choice.provider_name;
		c->model = choice.model;
		if (choice.config != NULL && c->budget == 0)
			c->budget = choice.config->context_tokens;
	} else if (rt_cli_has(cli, "model") && rt_token_encoding_of(c->model) == NULL) {
		cli->error = err;
		return rt_old_hint(cli, st, "Models: retake models");
	}
	return RT_OK;
}

rt_status
rt_cli_counting_choose(rt_cli_counting *c)
{
	rt_cli *cli = c->cli;
	const char *budget = rt_cli_flag_value(cli, "budget");
	uint64_t tokens = 0;
	rt_status st = RT_OK;

	if (budget != NULL)
		st = rt_old_number(cli, budget, "how many tokens", &tokens);
	c->budget = (size_t)tokens;
	if (st == RT_OK)
		st = rt_old_config(cli, &c->config);
	if (st == RT_OK)
		st = choose_name(c);
	if (st == RT_OK)
		st = choose_provider(c);
	if (st == RT_OK)
		c->encoding = rt_token_encoding_of(c->model);
	return st;
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
	size_t room = c->part_room == 0 ? 64 : c->part_room * 2;
	rt_context_part *more;

	if (c->part_count == c->part_room) {
		more = rt_resize(c->cli->alloc, c->parts, room * sizeof(*more));
		if (more == NULL) {
			c->status = RT_NOMEM;
			return;
		}
		c->parts = more;
		c->part_room = room;
	}
	c->parts[c->part_count++] = *part;
}

static rt_status
load_ranks(rt_cli_counting *c)
{
	rt_cli *cli = c->cli;
	rt_buf warnings;
	rt_status st;

	if (c->encoding == NULL || (c->budget == 0 && !rt_cli_has(cli, "tokens")))
		return RT_OK;
	rt_buf_init(&warnings, cli->alloc, RT_BUF_UNLIMITED);
	st = rt_tokens_load(cli->alloc, c->encoding, &c->ranks, &warnings, &cli->error);
	if (st == RT_OK && warnings.size > 0)
		rt_cli_note(cli, "%.*s", (int)rt_str_trim(rt_buf_str(&warnings)).size,
			    warnings.ptr);
	else if (st == RT_OK && c->ranks == NULL)
		rt_cli_note(cli, "the token ranks of %s are not installed; counts are estimates",
			    c->encoding->name);
	rt_buf_deinit(&warnings);
	return st;
}

/* Is the sum of the table what the request comes to? */
static rt_status
prove(rt_cli_counting *c, rt_str body)
{
	size_t tokens = 0;
	bool whole = false;
	rt_status st;

	c->tokens = c->totals.tokens;
	if (c->ranks == NULL)
		return RT_OK;
	c->tokens += RT_TOKENS_REPLY;
	if (c->provider != &rt_provider_openai)
		return RT_OK;
	st = rt_tokens_count_request(c->ranks, body, &tokens, &whole, &c->cli->error);
	c->is_exact = st == RT_OK && whole && tokens == c->tokens;
	return st;
}

rt_status
rt_cli_counting_build(rt_cli_counting *c, rt_buf *body)
{
	rt_cli *cli = c->cli;
	rt_context_options options = {.ctx = c,
				      .totals = &c->totals,
				      .budget_tokens = c->budget,
				      .unsent = &c->unsent};
	rt_status st = load_ranks(c);

	if (c->budget > 0 || rt_cli_has(cli, "tokens")) /* else nobody wants to know */
		options.part = keep_part;
	if (c->is_known || rt_cli_has(cli, "model"))
		options.model = c->model;
	options.service = c->service;
	options.stream = c->is_known; /* as it would be sent */
	if (c->ranks != NULL)
		options.count = count_text;
	if (st == RT_OK)
		st = rt_view_context(cli->session.engine, cli->session.value, cli->session.place,
				     c->provider, &options, body, &cli->error);
	if (st == RT_OK && c->status != RT_OK)
		st = rt_old_fail(cli, c->status, "there is not enough memory to count the tokens");
	if (st == RT_OK)
		st = rt_old_buf(cli, body);
	return st == RT_OK ? prove(c, rt_buf_str(body)) : st;
}

/* ---- saying it ---- */

void
rt_cli_counting_note(const rt_cli_counting *c)
{
	size_t i, first = 0, last = 0, out = c->totals.left_out;

	rt_session_note_lines(&c->cli->session, rt_buf_str(&c->unsent));
	for (i = 0; i < c->part_count; i++) {
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
			    "what is left has %s%zu tokens, more than that: prompts, summaries "
			    "and the newest entry always stay",
			    c->is_exact ? "" : "about ", c->tokens);
}

static rt_status
part_words(const rt_cli_counting *c, const rt_context_part *part, char id[RT_ID_ROOM], rt_str *role)
{
	rt_cli *cli = c->cli;
	const rt_take *take = NULL;
	rt_slot slot;
	rt_status st = rt_entry_id(cli->session.value, part->entry, id, &cli->error);

	if (st == RT_OK)
		st = rt_old_take(cli, &take);
	if (st == RT_OK)
		st = rt_seq_copy(take->slots, part->at, 1, &slot, &cli->error);
	if (st == RT_OK)
		st = rt_project_name(cli->session.value, slot.role, role, &cli->error);
	return st;
}

/* {"exact","encoding","entries":[{"id","at","tokens","left_out"}],"tokens","left_out"}; at
 * counts from 1, as addresses do. */
static rt_status
print_json(const rt_cli_counting *c)
{
	rt_cli *cli = c->cli;
	char id[RT_ID_ROOM];
	rt_status st = RT_OK;
	rt_str role;
	rt_buf json;
	size_t i;

	rt_buf_init(&json, cli->alloc, RT_BUF_UNLIMITED);
	rt_buf_add_f(&json, "{\"exact\":%s,\"encoding\":", c->is_exact ? "true" : "false");
	if (c->ranks != NULL)
		rt_json_add_string(&json, rt_str_of(c->encoding->name));
	else
		rt_buf_add_c(&json, "null");
	rt_buf_add_c(&json, ",\"entries\":[");
	for (i = 0; st == RT_OK && i < c->part_count; i++) {
		const rt_context_part *part = &c->parts[i];

		st = part_words(c, part, id, &role);
		rt_buf_add_c(&json, i > 0 ? ",{\"id\":" : "{\"id\":");
		rt_json_add_string(&json, rt_str_of(id));
		rt_buf_add_f(&json, ",\"at\":%zu,\"tokens\":%zu,\"left_out\":%s}", part->at + 1,
			     part->tokens, part->left_out ? "true" : "false");
	}
	rt_buf_add_f(&json, "],\"tokens\":%zu,\"left_out\":%zu}", c->tokens, c->totals.left_out);
	if (st == RT_OK)
		st = rt_old_buf(cli, &json);
	if (st == RT_OK)
		st = rt_old_print_json(cli, rt_buf_str(&json));
	rt_buf_deinit(&json);
	return st;
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
						 : " (estimated; no model is chosen)\n");
	else
		rt_term_f(out, " (%s%s)\n", c->is_exact ? "exact, " : "", c->encoding->name);
}

rt_status
rt_cli_counting_print(const rt_cli_counting *c)
{
	rt_term *out = &c->cli->out;
	size_t i, in_entries = 0, width = 4;
	char id[RT_ID_ROOM];
	rt_status st = RT_OK;
	rt_str role;

	if (c->cli->json)
		return print_json(c);
	for (i = 0; st == RT_OK && i < c->part_count; i++) {
		st = part_words(c, &c->parts[i], id, &role);
		if (strlen(id) > width)
			width = strlen(id) < 24 ? strlen(id) : 24;
	}
	for (i = 0; st == RT_OK && i < c->part_count; i++) {
		const rt_context_part *part = &c->parts[i];

		st = part_words(c, part, id, &role);
		if (!part->left_out)
			in_entries += part->tokens;
		print_row(out, part->at + 1, id, width, role, part->tokens,
			  part->left_out     ? "  left out"
			  : part->is_summary ? "  summary"
			  : part->tokens == 0 ? "  not sent"
					     : "");
	}
	if (c->totals.tokens > in_entries)
		print_row(out, 0, "", width, RT_STR("prompts"), c->totals.tokens - in_entries, "");
	if (c->ranks != NULL)
		print_row(out, 0, "", width, RT_STR("reply"), RT_TOKENS_REPLY, "  to begin it");
	if (st == RT_OK)
		print_total(c);
	return st;
}
