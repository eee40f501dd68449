/* SPDX-License-Identifier: MIT
 *
 * export: conversations out, to standard output or to a file that is whole or absent. */
#include "cli/cli.h"
#include "chat/last_request.h"
#include "formats/formats.h"
#include "formats/redact.h"
#include "llm/keys_host.h"
#include "llm/provider.h"
#include "chat/action_export.h"

#include <stdio.h>
#include <stdlib.h> /* getenv */
#include <string.h>

/* Formats that hold a whole project are given one unless a discussion is named. */
static bool
holds_project(const rt_format *format)
{
	return strcmp(format->name, "canonical") == 0 || strcmp(format->name, "toml") == 0 ||
	       strcmp(format->name, "html") == 0;
}

static rt_status
choose(rt_cli *cli, const rt_format **out)
{
	const char *name = rt_cli_flag_value(cli, "format"),
		   *file = rt_cli_flag_value(cli, "output");
	size_t i, found = 0;

	*out = name != NULL ? rt_format_find(name) : NULL;
	/* By the end of the file's name, where that says it. */
	for (i = 0; name == NULL && file != NULL && rt_formats[i] != NULL; i++) {
		size_t size = strlen(rt_formats[i]->extension), length = strlen(file);

		if (rt_formats[i]->write == NULL || length <= size ||
		    strcmp(file + length - size, rt_formats[i]->extension) != 0)
			continue;
		found++;
		*out = found == 1 ? rt_formats[i] : NULL;
	}
	if (*out != NULL && (*out)->write != NULL)
		return RT_OK;
	rt_old_hint(cli, RT_USAGE, "Formats: retake help formats");
	if (name == NULL && file != NULL)
		return rt_old_fail(
			cli, RT_USAGE,
			"export needs --format NAME, or a FILE whose end says it (.html, .md, .json, "
			".toml), and %.200s does not",
			file);
	if (name == NULL)
		return rt_old_fail(cli, RT_USAGE, "export needs --format NAME");
	if (*out == NULL)
		return rt_old_fail(cli, RT_USAGE, "there is no format \"%.40s\"", name);
	return rt_old_fail(cli, RT_USAGE, "Retake reads %s, but does not write it", name);
}

/* ---- without secrets ---- */

static rt_status
redact(rt_cli *cli, rt_outlines *io, rt_redaction *found)
{
	const rt_config *config = NULL;
	const char *home = getenv("HOME");
	rt_secret_options options = {.has_emails = rt_cli_has(cli, "emails")};
	rt_str *keys;
	rt_status st = rt_old_config(cli, &config);

	if (home != NULL && strcmp(home, "/root") != 0)
		options.home = rt_str_of(home);
	while (options.home.size > 0 && options.home.ptr[options.home.size - 1] == '/')
		options.home.size--;
	if (st == RT_OK)
		st = rt_keys_at_hand(config, cli->alloc, io->arena, &keys, &options.given_count,
				     &cli->error);
	if (st != RT_OK)
		return st;
	options.given = keys;
	return rt_redact(cli->alloc, io, &options, found, &cli->error);
}

/* What would be hidden, each where it stands, and no more of it than tells it apart. */
static rt_status
say_found(rt_cli *cli, const rt_redaction *found)
{
	rt_buf text;
	size_t i;
	rt_status st;

	rt_buf_init(&text, cli->alloc, RT_BUF_UNLIMITED);
	if (cli->json) {
		rt_redaction_add_json(&text, found);
		st = rt_old_buf(cli, &text);
		if (st == RT_OK)
			st = rt_old_print_json(cli, rt_buf_str(&text));
		rt_buf_deinit(&text);
		return st;
	}
	for (i = 0; i < found->item_count; i++) {
		const rt_redact_item *item = &found->items[i];

		rt_buf_clear(&text);
		rt_buf_add_str(&text, item->discussion.size > 0 ? item->discussion
							       : RT_STR("project"));
		if (item->entry.size > 0) {
			rt_buf_add_c(&text, "  ");
			rt_buf_add_str(&text, item->entry);
		}
		rt_buf_add_c(&text, "  ");
		rt_buf_add_str(&text, item->where);
		rt_buf_add_f(&text, "  %s %s (%zu byte%s)", rt_secret_word(item->kind), item->shown,
			     item->size, RT_CLI_S(item->size));
		rt_term_line(&cli->out, rt_buf_str(&text));
		rt_term_c(&cli->out, "\n");
	}
	if (found->places > found->item_count)
		rt_term_f(&cli->out, "and %zu more\n", found->places - found->item_count);
	rt_buf_clear(&text);
	rt_redaction_add_words(&text, found);
	st = rt_old_buf(cli, &text);
	if (st == RT_OK && !cli->quiet)
		rt_term_f(&cli->out, "%s: %.*s.\n", found->places > 0 ? "Would be" : "There is",
			  RT_STR_ARG(rt_buf_str(&text)));
	rt_buf_deinit(&text);
	return st;
}

static rt_status
note_redacted(rt_cli *cli, const rt_redaction *found)
{
	rt_buf text;
	rt_status st;

	rt_buf_init(&text, cli->alloc, RT_BUF_UNLIMITED);
	rt_redaction_add_words(&text, found);
	st = rt_old_buf(cli, &text);
	if (st == RT_OK)
		rt_cli_note(cli, "%.*s; what is imported from this is a discussion of its own",
			    RT_STR_ARG(rt_buf_str(&text)));
	rt_buf_deinit(&text);
	return st;
}

/* ---- out ---- */

static rt_status
say_written(rt_cli *cli, const char *file, const rt_format *format, const rt_buf *bytes)
{
	rt_buf json, name;
	rt_status st = RT_OK;

	if (cli->json) {
		rt_buf_init(&json, cli->alloc, RT_BUF_UNLIMITED);
		rt_buf_init(&name, cli->alloc, RT_BUF_UNLIMITED);
		rt_utf8_repair(&name, rt_str_of(file));
		rt_buf_add_c(&json, "{\"file\":");
		rt_json_add_string(&json, rt_buf_str(&name));
		rt_buf_add_f(&json, ",\"format\":\"%s\",\"bytes\":%zu}", format->name, bytes->size);
		st = rt_old_print_json(cli, rt_buf_str(&json));
		rt_buf_deinit(&json);
		rt_buf_deinit(&name);
	} else if (!cli->quiet) {
		rt_term_f(&cli->out, "Wrote %s (%s, %zu byte%s).\n", file, format->name,
			  bytes->size, RT_CLI_S(bytes->size));
	}
	return st;
}

static rt_status
put_out(rt_cli *cli, const rt_format *format, const rt_buf *bytes)
{
	const char *file = rt_cli_flag_value(cli, "output");
	rt_buf json;
	rt_status st;

	if (file != NULL && strcmp(file, "-") != 0) {
		st = rt_old_write_file(cli, file, rt_buf_str(bytes),
				       rt_cli_has(cli, "force") ? RT_FILES_REPLACE : RT_FILES_NEW);
		return st == RT_OK ? say_written(cli, file, format, bytes) : st;
	}
	if (!cli->json) {
		if (!rt_cli_has(cli, "no-pager"))
			rt_term_page(&cli->out);
		rt_term_raw(&cli->out, rt_buf_str(bytes));
		return RT_OK;
	}
	if (strcmp(format->name, "canonical") == 0)
		return rt_old_print_json(cli, rt_buf_str(bytes));
	rt_buf_init(&json, cli->alloc, RT_BUF_UNLIMITED);
	rt_buf_add_f(&json, "{\"format\":\"%s\",\"content\":", format->name);
	rt_json_add_string(&json, rt_buf_str(bytes));
	rt_buf_add_byte(&json, '}');
	st = rt_old_buf(cli, &json);
	if (st == RT_OK)
		st = rt_old_print_json(cli, rt_buf_str(&json));
	rt_buf_deinit(&json);
	return st;
}

/* talk.jsonl: one conversation a line. */
static bool
is_lines(rt_cli *cli)
{
	const char *file = rt_cli_flag_value(cli, "output");
	size_t size = file == NULL ? 0 : strlen(file);

	return size > 6 && strcmp(file + size - 6, ".jsonl") == 0;
}

/* These hold one take; the others need --lossless. */
static void
note_left_out(rt_cli *cli, const rt_format *format)
{
	const rt_disc *disc = NULL;

	if (rt_cli_has(cli, "lossless") || rt_old_disc(cli, &disc) != RT_OK ||
	    rt_disc_present_count(disc) < 2 ||
	    (strcmp(format->name, "markdown") != 0 && strcmp(format->name, "openai") != 0))
		return;
	rt_cli_note(cli, "%s holds one take; with --all, it needs --lossless to keep the other%s",
		    format->name, rt_disc_present_count(disc) == 2 ? "" : "s");
}

static rt_status
collect_outlines(rt_cli *cli, const rt_format *format, rt_place place, bool whole_project,
		 rt_outlines *out)
{
	const char *path = rt_cli_flag_value(cli, "output");
	rt_action_file file = {.format = format};
	rt_buf name;
	rt_status st;

	rt_buf_init(&name, cli->alloc, RT_BUF_UNLIMITED);
	if (path != NULL && strcmp(path, "-") != 0)
		rt_utf8_repair(&name, rt_str_of(path));
	file.path = rt_buf_str(&name);
	if (format->writes_sent && !rt_cli_has(cli, "at-op"))
		file.sent = rt_provider_named(RT_STR("anthropic"));
	st = rt_old_buf(cli, &name);
	if (st == RT_OK) {
		st = rt_action_export(cli->session.engine, rt_session_hooks_begin(&cli->session),
				      &file, cli->session.value, place, whole_project, out,
				      &cli->error);
		rt_session_hooks_end(&cli->session);
	}
	rt_buf_deinit(&name);
	return st;
}

static rt_status
check_flags(rt_cli *cli)
{
	static const char *const need[] = {"emails", "dry-run", NULL};
	size_t i;

	for (i = 0; need[i] != NULL; i++)
		if (rt_cli_has(cli, need[i]) && !rt_cli_has(cli, "redact"))
			return rt_old_fail(cli, RT_USAGE, "--%s is for --redact", need[i]);
	return RT_OK;
}

static rt_status
run_export(rt_cli *cli)
{
	const rt_format *format = NULL;
	rt_export_options options = {.whole = rt_cli_has(cli, "all"),
				     .lossless = rt_cli_has(cli, "lossless")};
	bool whole_project;
	rt_outlines outlines;
	rt_place place;
	rt_redaction found;
	rt_buf bytes;
	rt_status st = choose(cli, &format);

	if (st == RT_OK)
		st = check_flags(cli);
	if (st == RT_OK)
		st = rt_old_open(cli, RT_SESSION_LOOK);
	if (st != RT_OK)
		return st;
	options.lines = is_lines(cli);
	if (options.whole)
		note_left_out(cli, format);
	whole_project = holds_project(format) && rt_session_discussion(&cli->session).size == 0 &&
			rt_session_take(&cli->session).size == 0;
	if (whole_project)
		options.whole = true;
	place = cli->session.place;
	if (rt_session_take(&cli->session).size == 0)
		place.take = 0;
	rt_outlines_init(&outlines);
	rt_buf_init(&bytes, cli->alloc, RT_BUF_UNLIMITED);
	rt_redaction_init(&found, cli->alloc);
	st = collect_outlines(cli, format, place, whole_project, &outlines);
	if (st == RT_OK && rt_cli_has(cli, "redact"))
		st = redact(cli, &outlines, &found);
	if (st == RT_OK && rt_cli_has(cli, "dry-run")) {
		st = say_found(cli, &found);
		goto done;
	}
	if (st == RT_OK)
		st = format->write(cli->alloc, &outlines, &options, &bytes, &cli->error);
	if (st == RT_OK)
		st = rt_old_buf(cli, &bytes);
	if (st == RT_OK)
		st = put_out(cli, format, &bytes);
	if (st == RT_OK && rt_cli_has(cli, "redact"))
		st = note_redacted(cli, &found);
done:
	rt_redaction_deinit(&found);
	rt_buf_deinit(&bytes);
	rt_outlines_deinit(&outlines);
	return st;
}

static const rt_flag export_flags[] = {
	{"format", 0, "NAME", RT_ARG_FORMAT, "what to write; retake help formats lists them"},
	{"output", 'o', "FILE", RT_ARG_FILE, "write to a file, whole or not at all"},
	{"force", 'f', NULL, RT_ARG_TEXT, "replace the file if it is there"},
	{"all", 'a', NULL, RT_ARG_TEXT,
	 "all takes, not only the active one; markdown and openai need --lossless for that"},
	{"lossless", 0, NULL, RT_ARG_TEXT,
	 "add what the format cannot say, so that an import brings everything back"},
	{"redact", 0, NULL, RT_ARG_TEXT,
	 "without keys, tokens, passwords and the names of home directories"},
	{"emails", 0, NULL, RT_ARG_TEXT, "with --redact: without addresses of mail, too"},
	{"dry-run", 'n', NULL, RT_ARG_TEXT, "with --redact: only say what would be hidden"},
	{NULL, 0, NULL, RT_ARG_TEXT, NULL},
};

const rt_command rt_cli_export = {
	.name = "export",
	.group = RT_COMMANDS_FILES,
	.traits = RT_COMMAND_AT_OP | RT_COMMAND_DRY_RUN,
	.usage = "--format NAME [-o FILE] [--all] [--lossless] [--redact [--emails] [-n]]",
	.summary = "write conversations for other programs",
	.about =
		"Writes the discussion in view, or the one named with -d; canonical, toml and html write the "
		"whole project unless a discussion is named. canonical is all there is, with sorted keys: "
		"equal states give equal bytes. html is a page for anyone with a browser: all takes, no "
		"network, no Retake. With --redact, what looks like a secret is replaced by a mark "
		"such as \"[redacted: api key]\", wherever it stands: look with -n first, and read what "
		"you give away, for no program knows every secret.",
	.examples = "retake export --format markdown -o talk.md\n"
		    "retake export -o talk.html\n"
		    "retake export --format canonical > state.json\n"
		    "retake export -o talk.html --redact\n"
		    "retake export --format pi --all --lossless -o session.jsonl",
	.flags = export_flags,
	.run_status = run_export,
};
