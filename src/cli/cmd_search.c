/* SPDX-License-Identifier: MIT
 *
 * search: words in all discussions, or in one. */
#include "cli/cli.h"
#include "app/screen.h"
#include "view/highlight.h"
#include "view/search.h"

#include <stdio.h>

enum { LIMIT = 100, INDENT = 4 };

/* Lay a snippet out on lines: what matched stands between \001 and \002, which take no
 * room where there is colour and one column each, as stars, where there is none. */
static void
add_snippet(rt_cli *cli, rt_str snippet)
{
	rt_term *out = &cli->out;
	size_t room = out->columns > INDENT + 10 ? out->columns - INDENT : SIZE_MAX;
	rt_buf line, plain;
	rt_str left, run;
	bool inside = false, was = false;

	rt_buf_init(&line, cli->alloc, RT_BUF_UNLIMITED);
	rt_buf_init(&plain, cli->alloc, RT_BUF_UNLIMITED);
	while (rt_highlight_next(&snippet, &inside, &run)) {
		rt_buf_clear(&plain);
		rt_screen_add_line(&plain, run);
		/* A line has no white space at its ends; between two runs it counts. */
		if (run.ptr[0] == ' ' && line.size > 0)
			rt_buf_add_byte(&line, ' ');
		rt_buf_add_c(&line, inside ? "\001" : "");
		rt_buf_add_str(&line, rt_buf_str(&plain));
		rt_buf_add_c(&line, inside ? "\002" : "");
		if (run.size > 1 && run.ptr[run.size - 1] == ' ' && snippet.size > 0)
			rt_buf_add_byte(&line, ' ');
	}
	inside = false;
	for (left = rt_buf_str(&line); left.size > 0;) {
		size_t skip = 0, size = room == SIZE_MAX ? left.size
							  : rt_screen_break(left, room, &skip);
		rt_str piece = rt_str_at(left.ptr, size);

		rt_term_spaces(out, INDENT);
		if (inside && out->color)
			rt_term_style(out, RT_STYLE_MATCH);
		while (piece.size > 0) {
			was = inside;
			if (rt_highlight_next(&piece, &inside, &run) || was != inside) {
				if (was != inside && out->color)
					rt_term_style(out, inside ? RT_STYLE_MATCH : RT_STYLE_NONE);
				else if (was != inside)
					rt_term_c(out, "*");
				rt_term_text(out, run);
			}
		}
		rt_term_style(out, RT_STYLE_NONE);
		rt_term_c(out, "\n");
		left.ptr += size + skip;
		left.size -= size + skip;
	}
	rt_buf_deinit(&line);
	rt_buf_deinit(&plain);
}

static void
add_hit(rt_cli *cli, yyjson_val *hit)
{
	rt_term *out = &cli->out;
	rt_str role = rt_json_str(rt_json_get(hit, "role"));

	rt_term_style(out, RT_STYLE_BOLD);
	rt_term_line(out, rt_json_str(rt_json_get(hit, "discussion")));
	rt_term_style(out, RT_STYLE_NONE);
	rt_term_c(out, "  ");
	rt_term_line(out, rt_json_str(rt_json_get(hit, "take")));
	rt_term_c(out, "  ");
	rt_term_line(out, rt_json_str(rt_json_get(hit, "id")));
	rt_term_c(out, "  ");
	rt_term_style(out, rt_cli_role_style(role));
	rt_term_line(out, role);
	rt_term_style(out, RT_STYLE_NONE);
	rt_term_c(out, "\n");
	add_snippet(cli, rt_json_str(rt_json_get(hit, "snippet")));
}

/* The hits for programs: the snippet as it stands in the text, and beside it what matched. */
static rt_status
print_hits(rt_cli *cli, yyjson_val *hits)
{
	rt_status st;
	rt_buf buf;

	rt_buf_init(&buf, cli->alloc, RT_BUF_UNLIMITED);
	rt_highlight_add_hits(cli->alloc, hits, &buf);
	st = rt_old_buf(cli, &buf);
	if (st == RT_OK)
		st = rt_old_print_json(cli, rt_buf_str(&buf));
	rt_buf_deinit(&buf);
	return st;
}

static rt_status
run_search(rt_cli *cli)
{
	const char *limit_text = rt_cli_flag_value(cli, "limit");
	uint64_t limit = LIMIT;
	size_t i, count;
	rt_old_view view;
	yyjson_val *hit;
	rt_buf query;
	rt_status st = RT_OK;

	if (limit_text != NULL)
		st = rt_old_number(cli, limit_text, "how many to list", &limit);
	if (st == RT_OK)
		st = rt_old_open(cli, RT_SESSION_MAINTAIN);
	if (st != RT_OK)
		return st;
	rt_buf_init(&query, cli->alloc, RT_BUF_UNLIMITED);
	for (i = 0; i < cli->args.word_count; i++) {
		rt_buf_add_c(&query, i > 0 ? " " : "");
		rt_buf_add_c(&query, rt_cli_word(cli, i));
	}
	rt_old_view_init(cli, &view);
	st = rt_view_search(
		cli->session.engine, cli->session.value, rt_buf_str(&query),
		rt_session_discussion(&cli->session).size > 0 ? cli->session.place.disc : 0,
		rt_str_of(rt_cli_flag_value(cli, "role")), (size_t)limit, &view.buf, &cli->error);
	st = rt_old_view_read(cli, &view, st);
	if (st == RT_OK && cli->json) {
		st = print_hits(cli, view.root);
	} else if (st == RT_OK) {
		if (!rt_cli_has(cli, "no-pager"))
			rt_term_page(&cli->out);
		yyjson_arr_foreach(view.root, i, count, hit)
			add_hit(cli, hit);
		if (yyjson_arr_size(view.root) == 0) {
			rt_term_c(&cli->out, "Nothing holds \"");
			rt_term_line(&cli->out, rt_buf_str(&query));
			rt_term_c(&cli->out, "\".\n");
		}
	}
	rt_buf_deinit(&query);
	rt_old_view_deinit(&view);
	return st;
}

static const rt_flag search_flags[] = {
	{"role", 'r', "ROLE", RT_ARG_ROLE, "only entries of this role"},
	{"limit", 'l', "N", RT_ARG_TEXT, "list so many; default 100"},
	{NULL, 0, NULL, RT_ARG_TEXT, NULL},
};

const rt_command rt_cli_search = {
	.name = "search",
	.alias = "grep",
	.group = RT_COMMANDS_LOOKING,
	.traits = RT_COMMAND_AT_OP,
	.min_words = 1,
	.max_words = RT_COMMAND_WORDS_ANY,
	.usage = "TEXT… [-r ROLE] [-d DISCUSSION]",
	.summary = "find words in all discussions",
	.about =
		"Finds entries that hold all the words; the last may be the beginning of one. A text "
		"without a word (\"\") finds nothing. What was "
		"found stands between stars, or in colour.",
	.examples = "retake search sqlite journal\nretake search -d db-choice error",
	.flags = search_flags,
	.kinds = {RT_ARG_TEXT},
	.run_status = run_search,
};
