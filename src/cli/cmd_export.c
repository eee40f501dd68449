/* SPDX-License-Identifier: MIT
 *
 * export: conversations out, to standard output or to a file that is whole or absent. */
#include "cli/cli.h"
#include "engine/sent.h"
#include "formats/formats.h"
#include "llm/provider.h"

#include <stdio.h>
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
	rt_cli_hint(cli, RT_USAGE, "Formats: retake help formats");
	if (name == NULL)
		return rt_cli_fail(cli, RT_USAGE, "export needs --format NAME");
	if (*out == NULL)
		return rt_cli_fail(cli, RT_USAGE, "there is no format \"%.40s\"", name);
	return rt_cli_fail(cli, RT_USAGE, "Retake reads %s, but does not write it", name);
}

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
		st = rt_cli_print_json(cli, rt_buf_str(&json));
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
		st = rt_cli_write_file(cli, file, rt_buf_str(bytes), rt_cli_has(cli, "force"));
		return st == RT_OK ? say_written(cli, file, format, bytes) : st;
	}
	if (!cli->json) {
		if (!rt_cli_has(cli, "no-pager"))
			rt_term_page(&cli->out);
		rt_term_raw(&cli->out, rt_buf_str(bytes));
		return RT_OK;
	}
	if (strcmp(format->name, "canonical") == 0)
		return rt_cli_print_json(cli, rt_buf_str(bytes));
	rt_buf_init(&json, cli->alloc, RT_BUF_UNLIMITED);
	rt_buf_add_f(&json, "{\"format\":\"%s\",\"content\":", format->name);
	rt_json_add_string(&json, rt_buf_str(bytes));
	rt_buf_add_byte(&json, '}');
	st = rt_cli_buf(cli, &json);
	if (st == RT_OK)
		st = rt_cli_print_json(cli, rt_buf_str(&json));
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

	if (rt_cli_has(cli, "lossless") || rt_cli_disc(cli, &disc) != RT_OK ||
	    rt_disc_present_count(disc) < 2 ||
	    (strcmp(format->name, "markdown") != 0 && strcmp(format->name, "openai") != 0))
		return;
	rt_cli_note(cli, "%s holds one take; with --all, it needs --lossless to keep the other%s",
		    format->name, rt_disc_present_count(disc) == 2 ? "" : "s");
}

static rt_status
take_out(rt_cli *cli, const rt_format *format, rt_place place, bool whole_project, rt_outlines *out)
{
	const char *path = rt_cli_flag_value(cli, "output");
	rt_act_file file = {.format = format};
	rt_buf name;
	rt_status st;

	rt_buf_init(&name, cli->alloc, RT_BUF_UNLIMITED);
	if (path != NULL && strcmp(path, "-") != 0)
		rt_utf8_repair(&name, rt_str_of(path));
	file.path = rt_buf_str(&name);
	if (format->writes_sent && !rt_cli_has(cli, "at-op"))
		file.sent = rt_provider_named(RT_STR("anthropic"));
	st = rt_cli_buf(cli, &name);
	if (st == RT_OK) {
		st = rt_act_export(cli->engine, rt_cli_told_begin(cli), &file, cli->value, place,
				   whole_project, out, &cli->error);
		rt_cli_told_end(cli);
	}
	rt_buf_deinit(&name);
	return st;
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
	rt_buf bytes;
	rt_status st = choose(cli, &format);

	if (st == RT_OK)
		st = rt_cli_open(cli, RT_CLI_LOOK);
	if (st != RT_OK)
		return st;
	options.lines = is_lines(cli);
	if (options.whole)
		note_left_out(cli, format);
	whole_project = holds_project(format) && rt_cli_disc_name(cli).size == 0 &&
			rt_cli_take_name(cli).size == 0;
	if (whole_project)
		options.whole = true;
	place = cli->place;
	if (rt_cli_take_name(cli).size == 0)
		place.take = 0;
	rt_outlines_init(&outlines);
	rt_buf_init(&bytes, cli->alloc, RT_BUF_UNLIMITED);
	st = take_out(cli, format, place, whole_project, &outlines);
	if (st == RT_OK)
		st = format->write(cli->alloc, &outlines, &options, &bytes, &cli->error);
	if (st == RT_OK)
		st = rt_cli_buf(cli, &bytes);
	if (st == RT_OK)
		st = put_out(cli, format, &bytes);
	rt_buf_deinit(&bytes);
	rt_outlines_deinit(&outlines);
	return st;
}

static const rt_cli_flag export_flags[] = {
	{"format", 0, "NAME", RT_CLI_FORMAT, "what to write; retake help formats lists them"},
	{"output", 'o', "FILE", RT_CLI_FILE, "write to a file, whole or not at all"},
	{"force", 'f', NULL, RT_CLI_TEXT, "replace the file if it is there"},
	{"all", 'a', NULL, RT_CLI_TEXT, "all takes, not only the active one; markdown and openai need --lossless for that"},
	{"lossless", 0, NULL, RT_CLI_TEXT,
	 "add what the format cannot say, so that an import brings everything back"},
	{NULL, 0, NULL, RT_CLI_TEXT, NULL},
};

const rt_cli_command rt_cli_export = {
	.name = "export",
	.group = RT_CLI_FILES,
	.traits = RT_CLI_AT_OP,
	.usage = "--format NAME [-o FILE] [--all] [--lossless]",
	.summary = "write conversations for other programs",
	.about =
		"Writes the discussion in view, or the one named with -d; canonical, toml and html write the "
		"whole project unless a discussion is named. canonical is all there is, with sorted keys: "
		"equal states give equal bytes. html is a page for anyone with a browser: all takes, no "
		"network, no Retake.",
	.examples = "retake export --format markdown -o talk.md\n"
		    "retake export -o talk.html\n"
		    "retake export --format canonical > state.json\n"
		    "retake export --format pi --all --lossless -o session.jsonl",
	.flags = export_flags,
	.run = run_export,
};
