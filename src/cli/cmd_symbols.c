/* SPDX-License-Identifier: MIT
 *
 * symbols: the definitions in the discussion's files. */
#include "app/attach.h"
#include "app/screen.h"
#include "cli/cli.h"

#include <string.h>

/* "compute_sum(int a, int b)  function  src/a.c:3-6" */
static void
print_symbol(rt_cli *cli, const rt_file_set *set, const rt_file_symbol *symbol)
{
	rt_term *out = &cli->out;

	rt_term_style(out, RT_STYLE_BOLD);
	rt_term_line(out, symbol->name);
	rt_term_style(out, RT_STYLE_NONE);
	rt_term_line(out, symbol->signature);
	rt_term_style(out, RT_STYLE_DIM);
	rt_term_c(out, "  ");
	rt_term_line(out, symbol->kind);
	if (symbol->scope.size > 0) {
		rt_term_c(out, " in ");
		rt_term_line(out, symbol->scope);
	}
	rt_term_c(out, "  ");
	rt_term_line(out, set->files[symbol->file].path);
	rt_term_f(out, ":%zu-%zu", symbol->first_line, symbol->last_line);
	rt_term_style(out, RT_STYLE_NONE);
	rt_term_c(out, "\n");
}

/* The symbols of the discussion's files. Problems of the files are not failures, but are shown. */
static const rt_file_symbols *
read_symbols(rt_cli *cli, const rt_file_set **out_set)
{
	rt_scope *s = &cli->s;
	rt_file_options options = rt_attach_here(s);
	const rt_file_symbols *symbols;

	*out_set = rt_attach_look(s, &options, cli->session.value, cli->session.place.disc,
				  RT_STR(""));
	for (size_t i = 0; rt_ok(s) && i < (*out_set)->problem_count; i++) {
		rt_str message = (*out_set)->problems[i].message;

		rt_cli_advise(cli, "%.*s\n", RT_STR_ARG(message));
	}
	symbols = rt_ok(s) ? rt_file_symbols_read(s, &options, *out_set) : NULL;
	if (rt_ok(s) && symbols->problem.size > 0)
		rt_cli_fail(cli, RT_REFUSED, "%.*s", RT_STR_ARG(symbols->problem));
	return symbols;
}

static void
run_symbols(rt_cli *cli)
{
	const char *verb = rt_cli_word(cli, 0), *name = rt_cli_word(cli, 1);
	bool is_show = name != NULL;
	const rt_file_set *set;
	const rt_file_symbols *symbols;
	rt_buf *json;
	size_t at, count;
	rt_str wanted;

	if (is_show && strcmp(verb, "show") != 0) {
		rt_cli_fail(cli, RT_USAGE, "symbols takes a PREFIX, or show NAME");
		return;
	}
	if (!rt_cli_open(cli, RT_SESSION_LOOK))
		return;
	symbols = read_symbols(cli, &set);
	if (!rt_ok(&cli->s))
		return;
	wanted = rt_str_of(is_show ? name : verb);
	if (wanted.size > 0 && wanted.ptr[0] == '@')
		wanted = rt_str_skip(wanted, 1);
	at = rt_file_symbols_range(symbols, wanted, &count);
	if (is_show) { /* those of exactly this name */
		size_t all = count;

		for (count = 0; count < all && rt_str_eq(symbols->items[at + count].name, wanted);)
			count++;
	}
	if (is_show && count == 0) {
		rt_cli_fail(cli, RT_NOT_FOUND,
			    "no symbol \"%.80s\" in the files of this discussion; list them: "
			    "retake symbols",
			    name);
		return;
	}
	json = rt_scope_buf(&cli->s);
	rt_json_open(json, NULL, '[');
	for (size_t i = at; i < at + count; i++) {
		const rt_file_symbol *symbol = &symbols->items[i];

		if (cli->json) {
			rt_file_symbol_put(json, set, symbol, is_show);
			continue;
		}
		print_symbol(cli, set, symbol);
		if (is_show) {
			rt_term_text(&cli->out, symbol->text);
			if (!(symbol->text.size > 0 &&
			      symbol->text.ptr[symbol->text.size - 1] == '\n'))
				rt_term_c(&cli->out, "\n");
		}
	}
	rt_json_close(json, ']');
	if (cli->json)
		rt_cli_print_json(cli, json);
	else if (count == 0)
		rt_cli_advise(cli, "No symbols. To add files: retake files add context_files "
				   "FILE…\n");
}

const rt_command rt_cli_symbols = {
	.name = "symbols",
	.group = RT_COMMANDS_SETTINGS,
	.traits = RT_COMMAND_AT_STEP,
	.max_words = 2,
	.usage = "[PREFIX]\nshow NAME",
	.summary = "list the symbols in the discussion's files, show a definition",
	.about =
		"The definitions (functions, types, variables …) in the files of the discussion, "
		"found with universal-ctags, which must be installed. show prints the text of a "
		"definition with its file and lines. A name may be written as @name.",
	.examples = "retake symbols\nretake symbols compute\nretake symbols show @compute_sum",
	.kinds = {RT_ARG_TEXT, RT_ARG_TEXT},
	.run = run_symbols,
};
