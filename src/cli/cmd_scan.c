/* SPDX-License-Identifier: MIT
 *
 * scan: sessions of other programs in the home directory: list them, import those that are chosen. */
#include <stdio.h>

#include "cli/importing.h"
#include "cli/programs.h"
#include "app/host.h"
#include "app/screen.h"

enum { NAMES_MAX = 32, NAME_COLUMNS = 13, DIRECTORY_COLUMNS = 42 };

/* --- the list --- */

/* "~/.pi/agent/sessions" */
static void
add_home_path(rt_buf *out, const char *path)
{
	const char *home = rt_host_home();
	size_t size = home == NULL ? 0 : strlen(home);

	if (size > 1 && strncmp(path, home, size) == 0 && (path[size] == '/' || path[size] == 0)) {
		rt_buf_add_byte(out, '~');
		path += size;
	}
	rt_screen_add_line(out, rt_str_of(path));
}

static void
add_size(rt_buf *out, uint64_t size)
{
	if (size < 10240)
		rt_buf_add_f(out, "%llu B", (unsigned long long)size);
	else if (size < (uint64_t)10 << 20)
		rt_buf_add_f(out, "%llu KiB", (unsigned long long)(size >> 10));
	else
		rt_buf_add_f(out, "%llu MiB", (unsigned long long)(size >> 20));
}

static void
put_padded(rt_term *out, rt_str text, size_t columns)
{
	size_t used = rt_screen_width(text);

	rt_term_line(out, text);
	rt_term_spaces(out, (used < columns ? columns - used : 0) + 2);
}

static void
print_found(rt_cli *cli, const rt_program_found *found)
{
	rt_buf *text = rt_scope_buf(&cli->s);
	rt_term *out = &cli->out;

	rt_term_style(out, found->readable > 0 ? RT_STYLE_BOLD : RT_STYLE_DIM);
	put_padded(out, rt_str_of(found->program->name), NAME_COLUMNS - 2);
	rt_term_style(out, RT_STYLE_NONE);
	add_home_path(text, found->directory);
	put_padded(out, rt_scope_str(&cli->s, text), DIRECTORY_COLUMNS - 2);
	rt_term_f(out, "%6zu file%s ", found->count, found->count == 1 ? " " : "s");
	rt_buf_clear(text);
	add_size(text, found->size);
	rt_term_f(out, "%10s  ", text->ptr == NULL ? "" : text->ptr);
	rt_buf_clear(text);
	rt_host_add_local_time(text, found->newest_us, false);
	rt_term_line(out, rt_scope_str(&cli->s, text));
	if (found->imported > 0)
		rt_term_f(out, "  %zu imported", found->imported);
	if (found->readable == 0)
		rt_term_c(out, "  not a readable file type");
	else if (found->readable < found->count)
		rt_term_f(out, "  %zu not readable", found->count - found->readable);
	rt_term_c(out, "\n");
}

static void
print_json(rt_cli *cli, const rt_programs_found *all)
{
	rt_buf *json = rt_scope_buf(&cli->s);

	rt_json_open(json, NULL, '{');
	rt_json_open(json, "programs", '[');
	for (size_t i = 0; i < all->count; i++) {
		const rt_program_found *found = &all->items[i];

		rt_json_open(json, NULL, '{');
		rt_json_put_c(json, "program", found->program->name);
		rt_cli_put_bytes(cli, json, "directory", rt_str_of(found->directory));
		rt_json_put_u64(json, "files", found->count);
		rt_json_put_u64(json, "readable", found->readable);
		rt_json_put_u64(json, "imported", found->imported);
		rt_json_put_u64(json, "bytes", found->size);
		rt_json_put_time(json, "newest", (rt_moment){found->newest_us, 0});
		rt_json_close(json, '}');
	}
	rt_json_close(json, ']');
	rt_json_close(json, '}');
	rt_cli_print_json(cli, json);
}

/* --- the choice --- */

/* Names of programs, separated by spaces or commas, cut in place. "all" is none. */
static size_t
cut_names(rt_cli *cli, char *line, const char **names)
{
	static const char separators[] = " ,\t";
	size_t count = 0;

	while (*(line += strspn(line, separators)) != 0 && count < NAMES_MAX) {
		names[count++] = line;
		line += strcspn(line, separators);
		if (*line != 0)
			*line++ = 0;
	}
	rt_cli_check_programs(cli, names, &count);
	return count;
}

/* Asks on a terminal. False: nothing was chosen. */
static bool
ask_names(rt_cli *cli, const char **names, size_t *out_count)
{
	char *line = rt_scope_get(&cli->s, 512);

	if (line == NULL)
		return false;
	rt_term_flush(&cli->out);
	rt_term_c(&cli->err, "Import which programs? Names, \"all\", or Enter for none: ");
	rt_term_flush(&cli->err);
	if (!rt_host_ask(line, 512) || line[strspn(line, " \t")] == 0)
		return false;
	*out_count = cut_names(cli, line, names);
	return rt_ok(&cli->s);
}

static void
import_found(rt_cli *cli, const rt_programs_found *all, const char *const *names, size_t count)
{
	rt_cli_importing m = {.cli = cli, .dry_run = rt_cli_has(cli, "dry-run")};
	rt_cli_paths paths = {.items = NULL};

	for (size_t i = 0; i < all->count; i++) {
		const rt_program_found *found = &all->items[i];

		for (size_t k = 0; rt_ok(&cli->s) && k < found->count; k++) {
			const rt_program_file *file = &found->files[k];

			if (file->format == NULL ||
			    !rt_program_is_chosen(found->program, file->path, names, count))
				continue;
			rt_cli_paths_add(cli, &paths, file->path, false);
			if (rt_ok(&cli->s))
				paths.items[paths.count - 1].source =
					rt_program_source(&cli->s, found->program, file->path);
		}
	}
	if (paths.count == 0)
		rt_cli_fail(cli, RT_NOT_FOUND, "nothing to import: no readable sessions were found");
	if (rt_ok(&cli->s))
		rt_cli_import_paths(&m, &paths);
}

/* --- the command --- */

static bool
is_any_readable(const rt_programs_found *all)
{
	for (size_t i = 0; i < all->count; i++)
		if (all->items[i].readable > 0)
			return true;
	return false;
}

static void
list(rt_cli *cli, rt_programs_found *all)
{
	rt_programs_count_imported(cli, all);
	if (!rt_ok(&cli->s))
		return;
	if (cli->json) {
		print_json(cli, all);
		return;
	}
	for (size_t i = 0; i < all->count; i++)
		print_found(cli, &all->items[i]);
	if (all->count == 0)
		rt_term_c(&cli->out, "No sessions of other programs were found.\n");
}

static void
run_scan(rt_cli *cli)
{
	const char *names[NAMES_MAX];
	size_t count = 0;
	bool imports = rt_cli_has(cli, "import") || rt_cli_has(cli, "all");

	if (cli->args.word_count > NAMES_MAX)
		rt_cli_fail(cli, RT_USAGE, "too many names");
	for (; rt_ok(&cli->s) && count < cli->args.word_count; count++)
		names[count] = rt_cli_word(cli, count);
	if (imports && rt_cli_has(cli, "all") == (count > 0)) {
		rt_cli_hint(cli, "To list the sessions: retake scan");
		rt_cli_fail(cli, RT_USAGE, "--import requires PROGRAM or PATH; to import "
					   "everything, use only --all");
	}
	rt_cli_check_programs(cli, names, &count);
	if (!rt_ok(&cli->s))
		return;

	rt_programs_found all = rt_programs_find(cli, names, count);
	if (imports) {
		import_found(cli, &all, names, count);
		return;
	}
	list(cli, &all);
	if (!rt_ok(&cli->s) || cli->json || !is_any_readable(&all))
		return;
	if (!cli->out.is_tty || cli->no_input || !rt_host_can_ask())
		rt_cli_advise(cli, "\nImport: retake scan --import NAME… or --all\n");
	else if (ask_names(cli, names, &count))
		import_found(cli, &all, names, count);
}

static const rt_flag scan_flags[] = {
	{"import", 0, NULL, RT_ARG_TEXT, "import the sessions of these programs or paths"},
	{"all", 0, NULL, RT_ARG_TEXT, "import all sessions"},
	{"dry-run", 'n', NULL, RT_ARG_TEXT, "with --import or --all: print only the planned "
					    "additions"},
	{NULL, 0, NULL, RT_ARG_TEXT, NULL},
};

const rt_command rt_cli_scan = {
	.name = "scan",
	.group = RT_COMMANDS_FILES,
	.traits = RT_COMMAND_DRY_RUN,
	.max_words = RT_COMMAND_WORDS_ANY,
	.usage = "[PROGRAM… | PATH…]\n--import PROGRAM… | PATH…\n--all",
	.summary = "find and import sessions from other programs",
	.about =
		"Lists the session directories of other programs in the home directory: program, "
		"directory, files, size, last change, and how many are already imported. Files are "
		"recognised by their content, and never changed. On a terminal it then asks which to "
		"import; each file is a step that you can undo. Importing again adds only new entries.",
	.examples = "retake scan\nretake scan --json",
	.flags = scan_flags,
	.kinds = {RT_ARG_TEXT},
	.run = run_scan,
};
