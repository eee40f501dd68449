/* SPDX-License-Identifier: MIT
 *
 * import: files of other programs. The type of a file is found by its beginning; the file is only
 * read, in pieces. A folder stands for every file below it. */
#define _DEFAULT_SOURCE
#define _POSIX_C_SOURCE 200809L

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/importing.h"
#include "formats/formats.h"

enum { FOLDERS_DEEP = 16 };

/* --- which files --- */

static int
by_name(const void *a, const void *b)
{
	return strcmp(((const rt_cli_path *)a)->name, ((const rt_cli_path *)b)->name);
}

/* Does the folder have one of this name? */
static bool
has_folder(rt_cli *cli, const char *folder, const char *name)
{
	rt_buf *path = rt_scope_buf(&cli->s);
	struct stat info;

	rt_buf_add_f(path, "%s/%s", folder, name);
	return rt_scope_str(&cli->s, path).ptr != NULL && stat(path->ptr, &info) == 0 &&
	       S_ISDIR(info.st_mode);
}

/* agent-ID.meta.json is read with agent-ID.jsonl (importing.c). */
static bool
is_companion(rt_cli *cli, const char *path)
{
	static const char end[] = ".meta.json";
	rt_buf *name = rt_scope_buf(&cli->s);
	size_t size = strlen(path);

	if (size < sizeof(end) || strcmp(path + size - sizeof(end) + 1, end) != 0)
		return false;
	rt_buf_add_f(name, "%.*s.jsonl", (int)(size - sizeof(end) + 1), path);
	return strstr(path, "/agent-") != NULL && rt_scope_str(&cli->s, name).ptr != NULL &&
	       access(name->ptr, F_OK) == 0;
}

static void add_folder(rt_cli *cli, rt_cli_paths *p, const char *folder, int depth);

/* A folder in which opencode stores its sessions: one input of all files, in the order in which they are
 * needed. */
static void
add_storage(rt_cli *cli, rt_cli_paths *p, const char *folder, int depth)
{
	static const char *const names[] = {"session", "message", "part"};
	rt_cli_paths files = {0};
	const char **parts;

	for (size_t i = 0; i < 3; i++)
		if (has_folder(cli, folder, names[i])) {
			rt_buf *path = rt_scope_buf(&cli->s);

			rt_buf_add_f(path, "%s/%s", folder, names[i]);
			add_folder(cli, &files, path->ptr, depth + 1);
		}
	parts = rt_scope_array(&cli->s, files.count + 1, sizeof(*parts));
	rt_cli_paths_add(cli, p, folder, depth == 0);
	for (size_t i = 0; rt_ok(&cli->s) && i < files.count; i++)
		parts[i] = files.items[i].name;
	if (!rt_ok(&cli->s))
		return;
	p->items[p->count - 1].parts = parts;
	p->items[p->count - 1].part_count = files.count;
}

/* The files below a folder, sorted by name. Recursion is bounded by FOLDERS_DEEP. */
static void
add_folder(rt_cli *cli, rt_cli_paths *p, const char *folder, int depth)
{
	DIR *dir = opendir(folder);
	size_t first = p->count;
	struct dirent *item;

	if (dir == NULL) {
		rt_cli_fail(cli, RT_IO, "cannot read %s: %s", folder, strerror(errno));
		return;
	}
	if (has_folder(cli, folder, "session") && has_folder(cli, folder, "message")) {
		closedir(dir);
		add_storage(cli, p, folder, depth);
		return;
	}
	while (rt_ok(&cli->s) && (errno = 0, item = readdir(dir)) != NULL) {
		rt_buf *name = rt_scope_buf(&cli->s);
		struct stat info;

		if (item->d_name[0] == '.')
			continue;
		rt_buf_add_f(name, "%s/%s", folder, item->d_name);
		if (rt_scope_str(&cli->s, name).ptr == NULL)
			break;
		if (lstat(name->ptr, &info) != 0)
			rt_cli_note(cli, "%s was not imported: %s", name->ptr, strerror(errno));
		else if (S_ISREG(info.st_mode) && is_companion(cli, name->ptr))
			continue;
		else if (S_ISREG(info.st_mode))
			rt_cli_paths_add(cli, p, name->ptr, false);
		else if (S_ISDIR(info.st_mode) && depth >= FOLDERS_DEEP)
			rt_cli_note(cli, "%s was not imported: directories are read %d levels "
				    "deep; import it separately", name->ptr, (int)FOLDERS_DEEP);
		else if (S_ISDIR(info.st_mode))
			add_folder(cli, p, name->ptr, depth + 1);
	}
	if (rt_ok(&cli->s) && item == NULL && errno != 0)
		rt_cli_fail(cli, RT_IO, "cannot read %s: %s", folder, strerror(errno));
	closedir(dir);
	if (p->count > first)
		qsort(p->items + first, p->count - first, sizeof(*p->items), by_name);
}

static rt_cli_paths
find_files(rt_cli *cli)
{
	rt_cli_paths p = {0};
	struct stat info;

	for (size_t i = 0; rt_ok(&cli->s) && i < cli->args.word_count; i++) {
		const char *name = rt_cli_word(cli, i);

		if (strcmp(name, "-") != 0 && stat(name, &info) == 0 && S_ISDIR(info.st_mode))
			add_folder(cli, &p, name, 0);
		else
			rt_cli_paths_add(cli, &p, name, true);
	}
	return p;
}

static void
run_import(rt_cli *cli)
{
	const char *format = rt_cli_flag_value(cli, "format");
	rt_cli_importing m = {.cli = cli,
			      .format = format == NULL ? NULL : rt_format_find(rt_str_of(format)),
			      .dry_run = rt_cli_has(cli, "dry-run"),
			      .name = rt_str_of(rt_cli_flag_value(cli, "name"))};
	rt_cli_paths files = {0};

	if (format != NULL && m.format == NULL) {
		rt_cli_hint(cli, "Known formats: retake help formats");
		rt_cli_fail(cli, RT_USAGE, "there is no format \"%.40s\"", format);
	}
	files = find_files(cli);
	if (m.name.size > 0 && files.count > 1)
		rt_cli_fail(cli, RT_USAGE, "--name needs a single file, not %zu", files.count);
	if (rt_ok(&cli->s) && files.count == 0) {
		rt_cli_hint(cli, "Name a file, or a directory that contains files: retake import FILE");
		rt_cli_fail(cli, RT_NOT_FOUND, "%s contains no files", rt_cli_word(cli, 0));
	}
	if (rt_ok(&cli->s))
		rt_cli_import_paths(&m, &files);
}

static const rt_flag import_flags[] = {
	{"dry-run", 'n', NULL, RT_ARG_TEXT, "print only the planned additions"},
	{"name", 0, "NAME", RT_ARG_TEXT, "name of the discussion; default: the name in the file"},
	{"no-switch", 0, NULL, RT_ARG_TEXT, "keep the active discussion"},
	{"format", 0, "NAME", RT_ARG_FORMAT, "read the files in this format instead of detecting "
					     "it"},
	{NULL, 0, NULL, RT_ARG_TEXT, NULL},
};

const rt_command rt_cli_import = {
	.name = "import",
	.group = RT_COMMANDS_FILES,
	.traits = RT_COMMAND_DRY_RUN,
	.min_words = 1,
	.max_words = RT_COMMAND_WORDS_ANY,
	.usage = "FILE… | -",
	.summary = "import conversations from other programs",
	.about =
		"The file type is detected from the content, and the file is never changed. "
		"Damaged parts are repaired or skipped, and reported. Importing the same file "
		"again adds only new entries. For a directory, all files in it are imported.",
	.examples = "retake import session.jsonl\nretake import ~/exports --dry-run\n"
		    "retake import - --format openai < messages.json",
	.flags = import_flags,
	.kinds = {RT_ARG_FILE, RT_ARG_FILE, RT_ARG_FILE},
	.run = run_import,
};
