/* SPDX-License-Identifier: MIT
 *
 * export: conversations to standard output, or to a file that is written completely or not at
 * all. */
#include "cli/cli.h"
#include "cli/export_to.h"
#include "chat/last_request.h"
#include "formats/formats.h"
#include "formats/redact.h"
#include "llm/keys_host.h"
#include "llm/provider.h"
#include "chat/action_export.h"

#include <stdio.h>
#include <stdlib.h> /* getenv */
#include <string.h>

/* The format with this file extension, the longest of several. Of those with the same one, that of whole
 * projects; NULL: none, or several. */
static const rt_format *
format_of_file(const char *file)
{
	const rt_format *found = NULL;
	size_t longest = 0;

	for (size_t i = 0; rt_formats[i] != NULL; i++) {
		size_t size = strlen(rt_formats[i]->extension), length = strlen(file);

		if (rt_formats[i]->write == NULL || length <= size ||
		    strcmp(file + length - size, rt_formats[i]->extension) != 0)
			continue;
		if (size > longest)
			found = rt_formats[i];
		else if (size == longest && (found == NULL || !found->holds_project))
			found = rt_formats[i]->holds_project ? rt_formats[i] : NULL;
		longest = size > longest ? size : longest;
	}
	return found;
}

/* The format of the program that continues the conversation. */
static const rt_format *
choose_program(rt_cli *cli, const char *to)
{
	const rt_format *format = rt_export_to_find(to);

	if (rt_cli_has(cli, "format") || rt_cli_has(cli, "output") || rt_cli_has(cli, "dry-run"))
		rt_cli_fail(cli, RT_USAGE, "--to determines the file; to choose it, use --format "
					   "%.40s -o FILE instead",
			    to);
	else if (format == NULL)
		rt_cli_fail(cli, RT_USAGE, "sessions can be written for %s, not for \"%.40s\"",
			    rt_export_to_names(cli), to);
	return format;
}

static const rt_format *
choose_format(rt_cli *cli)
{
	const char *name = rt_cli_flag_value(cli, "format");
	const char *file = rt_cli_flag_value(cli, "output"), *to = rt_cli_flag_value(cli, "to");

	if (to != NULL)
		return choose_program(cli, to);

	/* the usual endings of files */
	if (name != NULL && strcmp(name, "md") == 0)
		name = "markdown";
	else if (name != NULL && strcmp(name, "txt") == 0)
		name = "text";

	const rt_format *format = name != NULL	 ? rt_format_find(rt_str_of(name))
				  : file != NULL ? format_of_file(file)
						 : NULL;

	if (format != NULL && format->write != NULL)
		return format;
	rt_cli_hint(cli, "Formats: retake help formats");
	if (name == NULL && file != NULL)
		rt_cli_fail(cli, RT_USAGE,
			    "cannot tell the format of %.200s; use --format NAME, or a FILE ending in "
			    ".html, .md, .json, .jsonl, .toml or .csv",
			    file);
	else if (name == NULL)
		rt_cli_fail(cli, RT_USAGE, "export needs --format NAME: %s", RT_FORMAT_NAMES);
	else if (format == NULL)
		rt_cli_fail(cli, RT_USAGE, "there is no format \"%.40s\"; use %s", name,
			    RT_FORMAT_NAMES);
	else
		rt_cli_fail(cli, RT_USAGE, "Retake can import %s, but not export it", name);
	return NULL;
}

/* ---- without secrets ---- */

static void
redact(rt_cli *cli, rt_outlines *io, rt_redaction *found)
{
	rt_scope *s = &cli->s;
	const rt_config *config = rt_cli_config(cli);
	const char *home = getenv("HOME");
	rt_secret_options options = {.has_emails = rt_cli_has(cli, "emails")};
	rt_str *keys = NULL;

	if (home != NULL && strcmp(home, "/root") != 0)
		options.home = rt_str_of(home);
	while (options.home.size > 0 && options.home.ptr[options.home.size - 1] == '/')
		options.home.size--;
	RT_TRY(s, rt_keys_at_hand(config, cli->alloc, io->arena, &keys, &options.given_count,
				  &s->error));
	options.given = keys;
	RT_TRY(s, rt_redact(cli->alloc, io, &options, found, &s->error));
}

static rt_str
describe_found(rt_cli *cli, const rt_redaction *found)
{
	rt_buf *words = rt_scope_buf(&cli->s);

	rt_redaction_add_words(words, found);
	return rt_scope_str(&cli->s, words);
}

/* What would be hidden, with its place, and no more of it than necessary to identify it. */
static void
say_found(rt_cli *cli, const rt_redaction *found)
{
	rt_term *out = &cli->out;
	rt_buf *json = rt_scope_buf(&cli->s);

	if (cli->json) {
		rt_redaction_add_json(json, found);
		rt_cli_print_json(cli, json);
		return;
	}
	for (size_t i = 0; i < found->item_count; i++) {
		const rt_redact_item *item = &found->items[i];

		rt_term_line(out, item->discussion.size > 0 ? item->discussion : RT_STR("project"));
		if (item->entry.size > 0) {
			rt_term_c(out, "  ");
			rt_term_line(out, item->entry);
		}
		rt_term_c(out, "  ");
		rt_term_line(out, item->where);
		rt_term_f(out, "  %s %s (%zu byte%s)\n", rt_secret_word(item->kind), item->shown,
			  item->size, RT_CLI_S(item->size));
	}
	if (found->places > found->item_count)
		rt_term_f(out, "and %zu more\n", found->places - found->item_count);

	rt_str words = describe_found(cli, found);

	if (rt_ok(&cli->s) && !cli->quiet)
		rt_term_f(out, "%s: %.*s.\n", found->places > 0 ? "Would be" : "There is",
			  RT_STR_ARG(words));
}

/* ---- writing ---- */

static void
say_written(rt_cli *cli, const char *file, const rt_format *format, size_t discussions, size_t size)
{
	rt_buf *json = rt_scope_buf(&cli->s);

	if (!cli->json) {
		if (rt_ok(&cli->s) && !cli->quiet && discussions > 1)
			rt_cli_advise(cli, "Wrote %s (%s, all %zu discussions, %zu bytes).   To "
					   "export only one: -d NAME\n",
				      file, format->name, discussions, size);
		else if (rt_ok(&cli->s) && !cli->quiet)
			rt_term_f(&cli->out, "Wrote %s (%s, %zu byte%s).\n", file, format->name,
				  size, RT_CLI_S(size));
		return;
	}
	rt_json_open(json, NULL, '{');
	rt_cli_put_bytes(cli, json, "file", rt_str_of(file));
	rt_json_put_c(json, "format", format->name);
	rt_json_put_u64(json, "discussions", discussions);
	rt_json_put_u64(json, "bytes", size);
	rt_json_close(json, '}');
	rt_cli_print_json(cli, json);
}

static void
write_out(rt_cli *cli, const rt_format *format, size_t discussions, const rt_buf *bytes)
{
	const char *file = rt_cli_flag_value(cli, "output");
	rt_str text = rt_scope_str(&cli->s, bytes);
	rt_buf *json = rt_scope_buf(&cli->s);

	if (!rt_ok(&cli->s))
		return;
	if (file != NULL && strcmp(file, "-") != 0) {
		rt_cli_write_file(cli, file, text,
				  rt_cli_has(cli, "force") ? RT_FILES_REPLACE : RT_FILES_NEW);
		say_written(cli, file, format, discussions, text.size);
	} else if (!cli->json) {
		if (!rt_cli_has(cli, "no-pager"))
			rt_term_page(&cli->out);
		rt_term_raw(&cli->out, text);
	} else if (strcmp(format->name, "canonical") == 0) {
		rt_cli_print_json(cli, bytes);
	} else {
		rt_json_open(json, NULL, '{');
		rt_json_put_c(json, "format", format->name);
		rt_json_put_str(json, "content", text);
		rt_json_close(json, '}');
		rt_cli_print_json(cli, json);
	}
}

/* talk.jsonl: one conversation a line. */
static bool
is_lines(const rt_cli *cli)
{
	const char *file = rt_cli_flag_value(cli, "output");
	size_t size = file == NULL ? 0 : strlen(file);

	return size > 6 && strcmp(file + size - 6, ".jsonl") == 0;
}

/* These hold one take; the others need --lossless. */
static void
note_left_out(rt_cli *cli, const rt_format *format)
{
	const rt_disc *disc = rt_cli_disc(cli);
	size_t count = disc == NULL ? 0 : rt_disc_present_count(disc);

	if (rt_cli_has(cli, "lossless") || count < 2 || !format->whole_if_lossless)
		return;
	rt_cli_note(cli, "%s contains one take; with --all, it needs --lossless to include the "
			 "other%s",
		    format->name, count == 2 ? "" : "s");
}

static void
collect_outlines(rt_cli *cli, const rt_format *format, rt_place place, bool whole_project,
		 rt_outlines *out)
{
	const char *path = rt_cli_flag_value(cli, "output");
	rt_buf *name = rt_scope_buf(&cli->s);
	rt_action_file file = {.format = format};

	if (path != NULL && strcmp(path, "-") != 0)
		rt_utf8_repair(name, rt_str_of(path));
	file.path = rt_scope_str(&cli->s, name);
	if (!rt_cli_has(cli, "at-step"))
		file.sent = rt_provider_of_export(format);
	if (!rt_ok(&cli->s))
		return;
	rt_scope_note(&cli->s, rt_action_export(cli->session.engine,
						rt_session_hooks_begin(&cli->session), &file,
						cli->session.value, place, whole_project, out,
						&cli->s.error));
	rt_session_hooks_end(&cli->session);
}

/* Markdown has only the name of an image. */
static void
note_images(rt_cli *cli, const rt_format *format, const rt_outlines *outlines)
{
	size_t count = 0;

	if (format != &rt_format_markdown || rt_cli_has(cli, "lossless") || cli->quiet || cli->json)
		return;
	for (size_t i = 0; i < outlines->count; i++)
		for (size_t k = 0; k < outlines->items[i].node_count; k++) {
			const rt_node *node = &outlines->items[i].nodes[k];

			count += (node->body_format == RT_BODY_JSON || node->body_format == RT_BODY_PI) &&
				 rt_str_find(node->body, RT_STR("\"type\":\"image"), 0) != SIZE_MAX;
		}
	if (count > 0)
		rt_cli_note(cli, "%zu entr%s with images; Markdown contains only their names. To keep the "
				 "images: --lossless, or --format html",
			    count, RT_CLI_IES(count));
}

/* What redaction would find in a file that was written, in place in its outlines: they are not needed
 * any more. */
static void
note_secrets(rt_cli *cli, rt_outlines *outlines, size_t size)
{
	enum { SEARCHED_MAX = 8 << 20 }; /* bytes of the file; a larger one takes too long */
	const char *file = rt_cli_flag_value(cli, "output");
	rt_redaction found;
	size_t count;

	if (file == NULL || strcmp(file, "-") == 0 || size > SEARCHED_MAX || cli->quiet || cli->json)
		return;
	rt_redaction_init(&found, cli->alloc);
	redact(cli, outlines, &found);
	count = found.places - found.kinds[RT_SECRET_HOME];
	if (rt_ok(&cli->s) && count > 0)
		rt_cli_note(cli, "the file contains %zu possible secret%s; to replace %s: retake export --redact", count,
			    RT_CLI_S(count), count == 1 ? "it" : "them");
	rt_redaction_deinit(&found);
}

static void
export_as(rt_cli *cli, const rt_format *format, rt_outlines *outlines, rt_redaction *found)
{
	rt_scope *s = &cli->s;
	bool is_redacted = rt_cli_has(cli, "redact");
	bool has_place = rt_session_discussion(&cli->session).size > 0 ||
			 rt_session_take(&cli->session).size > 0;
	/* a page is for other people, so it has only the discussion in view */
	bool is_page = format == &rt_format_html;
	bool whole_project = !has_place && ((format->holds_project && !is_page) ||
					    rt_cli_has(cli, "all-discussions"));
	rt_export_options options = {.whole = rt_cli_has(cli, "all") ||
					      (whole_project && format->holds_project),
				     .lossless = rt_cli_has(cli, "lossless"),
				     .lines = is_lines(cli)};
	rt_place place = cli->session.place;
	rt_buf *bytes = rt_scope_buf(s);

	if (rt_cli_has(cli, "all"))
		note_left_out(cli, format);
	if (rt_session_take(&cli->session).size == 0)
		place.take = 0;
	collect_outlines(cli, format, place, whole_project, outlines);
	if (format->holds_one && outlines->count > 1)
		rt_cli_fail(cli, RT_USAGE, "a %s file can contain only one conversation, not %zu", format->name,
			    outlines->count);
	if (is_redacted)
		redact(cli, outlines, found);
	if (!rt_ok(s))
		return;
	if (rt_cli_has(cli, "dry-run")) {
		say_found(cli, found);
		return;
	}
	if (rt_cli_has(cli, "to")) {
		rt_cli_export_to(cli, format, outlines, &options);
		return;
	}
	RT_TRY(s, format->write(cli->alloc, outlines, &options, bytes, &s->error));
	write_out(cli, format, outlines->count, bytes);
	if (rt_ok(s))
		note_images(cli, format, outlines);
	if (!is_redacted && rt_ok(s))
		note_secrets(cli, outlines, bytes->size);
	else if (rt_ok(s))
		rt_cli_note(cli, "%.*s; importing it creates a separate discussion",
			    RT_STR_ARG(describe_found(cli, found)));
}

static void
run_export(rt_cli *cli)
{
	const rt_format *format = choose_format(cli);
	rt_outlines outlines;
	rt_redaction found;

	if (!rt_cli_has(cli, "redact") && rt_cli_has(cli, "emails"))
		rt_cli_fail(cli, RT_USAGE, "--emails needs --redact");
	else if (!rt_cli_has(cli, "redact") && rt_cli_has(cli, "dry-run"))
		rt_cli_fail(cli, RT_USAGE, "--dry-run needs --redact");
	else if (rt_cli_has(cli, "in-place") && !rt_cli_has(cli, "to"))
		rt_cli_fail(cli, RT_USAGE, "--in-place needs --to PROGRAM");
	else if (rt_cli_has(cli, "all-discussions") &&
		 (rt_cli_has(cli, "to") || rt_session_discussion(&cli->session).size > 0 ||
		  rt_session_take(&cli->session).size > 0))
		rt_cli_fail(cli, RT_USAGE, "--all-discussions cannot be combined with -d, --take or --to");
	if (!rt_cli_open(cli, rt_cli_has(cli, "to") ? RT_SESSION_MAINTAIN : RT_SESSION_LOOK))
		return;
	rt_outlines_init(&outlines);
	rt_redaction_init(&found, cli->alloc);
	export_as(cli, format, &outlines, &found);
	rt_redaction_deinit(&found);
	rt_outlines_deinit(&outlines);
}

static const rt_flag export_flags[] = {
	{"format", 0, "NAME", RT_ARG_EXPORT_FORMAT, "output format; retake help formats lists all "
						    "formats"},
	{"output", 'o', "FILE", RT_ARG_FILE, "write to a file, atomically"},
	{"to", 0, "PROGRAM", RT_ARG_TEXT,
	 "write a new session into the directory of this program, which can resume it"},
	{"in-place", 0, NULL, RT_ARG_TEXT,
	 "with --to: replace the imported session, and keep a copy in the same directory"},
	{"force", 'f', NULL, RT_ARG_TEXT, "replace an existing file"},
	{"all", 'a', NULL, RT_ARG_TEXT,
	 "all takes, not only the active one; markdown and openai also need --lossless"},
	{"all-discussions", 0, NULL, RT_ARG_TEXT,
	 "all discussions of the project in one file, if the format can contain several"},
	{"lossless", 0, NULL, RT_ARG_TEXT,
	 "include Retake metadata for a lossless re-import"},
	{"redact", 0, NULL, RT_ARG_TEXT,
	 "redact keys, tokens, passwords and names of home directories"},
	{"emails", 0, NULL, RT_ARG_TEXT, "with --redact: redact email addresses, too"},
	{"dry-run", 'n', NULL, RT_ARG_TEXT, "with --redact: print only the planned redactions"},
	{NULL, 0, NULL, RT_ARG_TEXT, NULL},
};

const rt_command rt_cli_export = {
	.name = "export",
	.group = RT_COMMANDS_FILES,
	.traits = RT_COMMAND_AT_STEP | RT_COMMAND_DRY_RUN,
	.usage = "--format NAME [-o FILE] [--all] [--all-discussions] [--lossless] [--redact [--emails] [-n]] | --to "
		 "PROGRAM [--in-place]",
	.summary = "export conversations for other programs",
	.about =
		"Exports the active discussion, or the one given with -d; canonical and toml "
		"export the whole project unless a discussion is given. canonical contains "
		"everything, with sorted keys: equal states give equal bytes. html is a page for "
		"any browser: all takes of the discussion, no network, no Retake needed. With "
		"--redact, anything that looks like a secret is replaced by a placeholder such as "
		"\"[redacted: api key]\": check with -n first, and read the file before you share "
		"it, because no program recognises every secret. --to writes the active take as a "
		"session for another program, which can resume it. Entries keep their ids and the "
		"data that Retake does not show; the original session is not changed.",
	.examples = "retake export --format markdown -o talk.md\n"
		    "retake export -d db-choice -o talk.html\n"
		    "retake export --all-discussions -o everything.html\n"
		    "retake export --format canonical > state.json\n"
		    "retake export -o talk.html --redact\n"
		    "retake export --format pi --all --lossless -o talk.jsonl\n"
		    "retake export --format csv --all-discussions -o talk.csv\n"
		    "retake export --to claude-code",
	.flags = export_flags,
	.run = run_export,
};
