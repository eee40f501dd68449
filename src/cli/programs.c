/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE

#include "cli/programs.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "app/host.h"
#include "app/input_host.h"
#include "formats/formats.h"
#include "ops/import_written.h"

enum {
	DEEP = 16,
	EXPORT_MIB = 4096, /* larger downloads are not read */
	MEMBERS = 64       /* of an archive, that are read */
};

#define SESSION "\"sessionId\""
#define ID      "\"id\""

const rt_program rt_programs[] = {
	{"pi", "PI_CODING_AGENT_DIR", ".pi/agent", "sessions", ".jsonl", NULL, ID, DEEP, RT_PROGRAM_SESSIONS},
	{"claude-code", "CLAUDE_CONFIG_DIR", ".claude", "projects", ".jsonl", NULL, SESSION, DEEP,
	 RT_PROGRAM_SESSIONS},
	{"claude-code", "XDG_CONFIG_HOME", ".config", "claude/projects", ".jsonl", NULL, SESSION,
	 DEEP, RT_PROGRAM_SESSIONS},
	{"codex", "CODEX_HOME", ".codex", "sessions", ".jsonl", NULL, ID, DEEP, RT_PROGRAM_SESSIONS},
	{"codex", "CODEX_HOME", ".codex", "archived_sessions", ".jsonl", NULL, ID, DEEP, RT_PROGRAM_SESSIONS},
	{"gemini-cli", "GEMINI_CLI_HOME", "", ".gemini/tmp", ".json", "/chats/", SESSION, DEEP,
	 RT_PROGRAM_SESSIONS},
	{"cursor", "CURSOR_CONFIG_DIR", ".cursor", "projects", ".jsonl", "/agent-transcripts/",
	 NULL, DEEP, RT_PROGRAM_SESSIONS},
	{"cursor", "XDG_CONFIG_HOME", ".config", "Cursor/User", "state.vscdb", NULL, NULL, 3, RT_PROGRAM_SESSIONS},
	{"opencode", "XDG_DATA_HOME", ".local/share", "opencode/storage/session", ".json", NULL, ID,
	 DEEP, RT_PROGRAM_SESSIONS},
	{"opencode", "XDG_DATA_HOME", ".local/share", "opencode/storage/message", ".json", NULL, ID,
	 DEEP, RT_PROGRAM_MESSAGES},
	{"opencode", "XDG_DATA_HOME", ".local/share", "opencode", "opencode.db", NULL, NULL, 0,
	 RT_PROGRAM_SESSIONS},
	{"openclaw", "OPENCLAW_STATE_DIR", ".openclaw", "agents", ".jsonl", "/sessions/", ID, DEEP,
	 RT_PROGRAM_SESSIONS},
	{"llm", "LLM_USER_PATH", NULL, "", "logs.db", NULL, NULL, 0, RT_PROGRAM_SESSIONS},
	{"llm", "XDG_CONFIG_HOME", ".config", "io.datasette.llm", "logs.db", NULL, NULL, 0, RT_PROGRAM_SESSIONS},
	{"sillytavern", "XDG_DATA_HOME", ".local/share", "SillyTavern/data", ".jsonl", "chats/",
	 "\"integrity\"", DEEP, RT_PROGRAM_SESSIONS},
	{"sillytavern", NULL, "", "SillyTavern/data", ".jsonl", "chats/", "\"integrity\"", DEEP, RT_PROGRAM_SESSIONS},
	{"sillytavern", NULL, "", "SillyTavern/public", ".jsonl", "chats/", "\"integrity\"", DEEP, RT_PROGRAM_SESSIONS},
	{"sillytavern", NULL, "", "SillyTavern-Launcher/SillyTavern/data", ".jsonl", "chats/", "\"integrity\"", DEEP,
	 RT_PROGRAM_SESSIONS},
	{"aider", NULL, "", "", ".aider.chat.history.md", NULL, "# aider chat started at", 4, RT_PROGRAM_IN_WORK},
	{"downloads", "XDG_DOWNLOAD_DIR", "Downloads", "", ".json", NULL, NULL, 1, RT_PROGRAM_DOWNLOADS},
	{"downloads", "XDG_DOWNLOAD_DIR", "Downloads", "", ".zip", NULL, NULL, 1, RT_PROGRAM_DOWNLOADS},
	{NULL, NULL, NULL, NULL, NULL, NULL, NULL, 0, RT_PROGRAM_SESSIONS},
};

bool
rt_program_is_known(const char *name)
{
	for (const rt_program *p = rt_programs; p->name != NULL; p++)
		if (strcmp(p->name, name) == 0)
			return true;
	return false;
}

static void
hint_names(rt_cli *cli)
{
	rt_buf *text = rt_scope_buf(&cli->s);

	for (const rt_program *p = rt_programs; p->name != NULL; p++)
		if (p == rt_programs || strcmp(p->name, p[-1].name) != 0)
			rt_buf_add_f(text, "%s%s", p == rt_programs ? "" : ", ", p->name);
	rt_cli_hint(cli, "Known: %s, all", rt_scope_str(&cli->s, text).ptr);
}

/* The folder or file, without links; NULL: it does not exist, or the name is not a path. */
static char *
real_path(const char *name)
{
	return strchr(name, '/') != NULL || strcmp(name, ".") == 0 ? realpath(name, NULL) : NULL;
}

void
rt_cli_check_programs(rt_cli *cli, const char **names, size_t *count)
{
	bool all = false;

	for (size_t i = 0; rt_ok(&cli->s) && i < *count; i++) {
		char *path = real_path(names[i]);

		all = all || strcmp(names[i], "all") == 0;
		if (path != NULL) {
			names[i] = rt_scope_copy(&cli->s, rt_str_of(path)).ptr;
		} else if (strchr(names[i], '/') != NULL) {
			rt_cli_fail(cli, RT_NOT_FOUND, "cannot find %s", names[i]);
		} else if (strcmp(names[i], "all") != 0 && !rt_program_is_known(names[i])) {
			hint_names(cli);
			rt_cli_fail(cli, RT_NOT_FOUND, "there is no program \"%.40s\"", names[i]);
		}
		free(path);
	}
	if (all)
		*count = 0;
}

/* Is the name that of the program, or of the file or a folder that contains it? path NULL: of any. */
static bool
is_named(const rt_program *program, const char *path, const char *name)
{
	size_t size = strlen(name);

	if (strchr(name, '/') == NULL)
		return strcmp(name, program->name) == 0;
	return path == NULL || (strncmp(path, name, size) == 0 &&
				(path[size] == '/' || path[size] == 0 || name[size - 1] == '/'));
}

bool
rt_program_is_chosen(const rt_program *program, const char *path, const char *const *names,
		     size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (is_named(program, path, names[i]))
			return true;
	return count == 0;
}

static void
add_part(rt_buf *path, const char *part)
{
	if (*part == 0)
		return;
	if (path->size > 0 && path->ptr[path->size - 1] != '/')
		rt_buf_add_byte(path, '/');
	rt_buf_add_c(path, part);
}

/* The directory of the desktop with this name, in its file user-dirs.dirs: NAME="$HOME/Files". NULL: no such file
 * or line; "": the home directory itself, which stands for none. */
static const char *
desktop_directory(rt_scope *s, const char *name)
{
	const char *config = getenv("XDG_CONFIG_HOME"), *home = rt_host_home();
	rt_buf *path = rt_scope_buf(s), *text = rt_scope_buf(s), *found = rt_scope_buf(s);
	rt_str left, line, prefix = RT_STR("=\"$HOME/");

	if (home == NULL)
		return NULL;
	rt_buf_add_f(path, "%s%s/user-dirs.dirs", config != NULL && *config == '/' ? config : home,
		     config != NULL && *config == '/' ? "" : "/.config");
	if (rt_scope_str(s, path).size == 0 || rt_files_read(path->ptr, text, NULL) != RT_OK)
		return NULL;
	left = rt_scope_str(s, text);
	while (left.size > 0 && rt_str_split(&left, '\n', &line)) {
		line = rt_str_trim(line);
		if (!rt_str_starts(line, rt_str_of(name)))
			continue;
		line = rt_str_skip(line, strlen(name));
		if (line.size < 3 || line.ptr[line.size - 1] != '"')
			continue;
		line.size--;
		if (rt_str_starts(line, prefix) && line.size == prefix.size)
			return "";
		if (rt_str_starts(line, prefix))
			rt_buf_add_f(found, "%s/%.*s", home, RT_STR_ARG(rt_str_skip(line, prefix.size)));
		else if (rt_str_starts(line, RT_STR("=\"/")))
			rt_buf_add_str(found, rt_str_skip(line, 2));
		return rt_scope_str(s, found).ptr;
	}
	return NULL;
}

const char *
rt_program_directory(rt_scope *s, const rt_program *program)
{
	const char *base = program->variable == NULL ? NULL : getenv(program->variable);
	rt_buf *path = rt_scope_buf(s);
	bool is_set = base != NULL && *base == '/';

	if (!is_set && program->kind == RT_PROGRAM_DOWNLOADS) {
		base = desktop_directory(s, program->variable);
		if (base != NULL)
			return *base == '/' ? base : NULL;
	}
	if (!is_set)
		base = program->usual == NULL ? NULL : rt_host_home();
	if (base == NULL)
		return NULL;
	rt_buf_add_c(path, base);
	if (!is_set)
		add_part(path, program->usual);
	add_part(path, program->below);
	return rt_scope_str(s, path).ptr;
}

bool
rt_program_has(const rt_program *program, const char *path)
{
	size_t size = strlen(path), end = strlen(program->ends);

	if (strcmp(program->ends, ".json") == 0 && size > 0 && path[size - 1] == 'l')
		size--;
	return size > end && memcmp(path + size - end, program->ends, end) == 0 &&
	       (program->within == NULL || strstr(path, program->within) != NULL);
}

rt_str
rt_program_source(rt_scope *s, const rt_program *program, const char *path)
{
	const char *slash = strrchr(path, '/'), *name = slash == NULL ? path : slash + 1;
	rt_buf *source;

	if (program->id != NULL || program->ends[0] != '.' || program->kind == RT_PROGRAM_DOWNLOADS)
		return rt_str_at(NULL, 0);
	source = rt_scope_buf(s);
	rt_buf_add_f(source, "%s:%.*s", program->name, (int)strcspn(name, "."), name);
	return rt_scope_str(s, source);
}

/* The source that the importer gives to the conversation in the file, as far as its name or its
 * beginning contain it. */
static rt_str
find_source(rt_scope *s, const rt_program *program, const rt_format *format, const char *path,
	    rt_str head)
{
	const char *from, *end, *last = head.ptr + head.size;
	size_t size = program->id == NULL ? 0 : strlen(program->id);
	rt_buf *source;

	from = size == 0 ? NULL : memmem(head.ptr, head.size, program->id, size);
	if (from == NULL)
		return rt_program_source(s, program, path);
	for (from += size; from < last && strchr(" :\"", *from) != NULL && *from != 0;)
		from++;
	for (end = from; end < last && *end != '"' && *end != '\r' && *end != '\n';)
		end++;
	source = rt_scope_buf(s);
	rt_buf_add_f(source, "%s:", format->name);
	rt_buf_add_str(source, rt_str_at(from, (size_t)(end - from)));
	return rt_scope_str(s, source);
}

/* Keeps the source of the first conversation, and ends the reading. */
static rt_status
keep_first(void *ctx, const rt_outlines *batch, rt_error *err)
{
	rt_buf *source = ctx;

	if (source->size > 0 || batch->count == 0)
		return RT_OK;
	rt_buf_add_str(source, batch->items[0].source);
	return rt_fail(err, RT_INTERRUPTED, "found");
}

/* In a database the source is neither in the name nor in the beginning. */
static rt_str
find_in_database(rt_scope *s, const rt_format *format, const rt_input *in)
{
	rt_buf *source = rt_scope_buf(s);
	rt_status st = rt_format_stream(format, s->alloc, in, keep_first, source, NULL, NULL);

	if (st == RT_NOMEM)
		(void)rt_scope_nomem(s);
	return rt_scope_str(s, source);
}

static bool
is_export(const rt_format *format)
{
	return format == &rt_format_chatgpt || format == &rt_format_claude_ai || format == &rt_format_open_webui ||
	       format == &rt_format_librechat || format == &rt_format_grok;
}

typedef struct finding_export {
	rt_scope *s;
	rt_str source;
} finding_export;

static bool
find_export(void *ctx, const rt_input *file)
{
	finding_export *f = ctx;
	rt_str head = RT_STR("");
	const rt_format *format = rt_format_detect(f->s, file, &head);

	if (format != NULL && is_export(format))
		f->source = find_in_database(f->s, format, file);
	return f->source.size > 0;
}

/* Anything may have been downloaded. */
static const rt_format *
download_format(rt_scope *s, const rt_format *format, const rt_input *in, rt_str *source)
{
	finding_export f = {.s = s};

	if (in->size >> 20 >= EXPORT_MIB)
		return NULL;
	if (is_export(format)) {
		*source = find_in_database(s, format, in);
		return format; /* also without an id */
	}
	if (format == &rt_format_zip)
		rt_zip_each(s->alloc, in, ".json", MEMBERS, find_export, &f);
	if (f.source.size > 0)
		*source = f.source;
	return source->size > 0 ? format : NULL;
}

/* The type of a file, if Retake can read it; NULL: it cannot, or the file cannot be read now.
 * source: of its first conversation, in the scope; empty: unknown. */
static const rt_format *
format_of(rt_scope *s, const rt_program *program, const char *path, rt_str *source)
{
	const rt_format *format = NULL;
	rt_file_input file;
	rt_str head = RT_STR("");
	rt_scope own;

	*source = rt_str_at(NULL, 0);
	rt_scope_init(&own, s->alloc);
	if (rt_file_input_open(&file, path, &own.error) == RT_OK) {
		format = rt_format_detect(&own, &file.in, &head);
		if (format != NULL && format->read == NULL)
			format = NULL;
		if (format != NULL && program->kind == RT_PROGRAM_DOWNLOADS)
			format = download_format(s, format, &file.in, source);
		else if (format != NULL && program->id == NULL && program->ends[0] != '.')
			*source = find_in_database(s, format, &file.in);
		else if (format != NULL)
			*source = find_source(s, program, format, path, head);
		rt_file_input_close(&file);
	}
	if (own.status == RT_NOMEM)
		rt_scope_adopt(s, &own);
	rt_scope_deinit(&own);
	return format;
}

/* --- imported sessions --- */

static int
by_text(const void *a, const void *b)
{
	return rt_str_cmp(*(const rt_str *)a, *(const rt_str *)b);
}

typedef struct sources {
	rt_scope *s;
	rt_str *items;
	size_t count, capacity;
	const rt_project *project;
} sources;

static void
add_source(sources *to, rt_str source)
{
	to->items = rt_scope_grow(to->s, to->items, to->count, &to->capacity, sizeof(*to->items));
	if (to->items != NULL)
		to->items[to->count++] = rt_scope_copy(to->s, source);
}

static bool
add_written(void *ctx, const rt_store_row *row)
{
	const rt_str prefix = RT_STR(RT_WRITTEN_PREFIX);

	if (rt_str_starts(row->name, prefix))
		add_source(ctx, rt_str_skip(row->name, prefix.size));
	return true;
}

/* The path of a file that a discussion was imported from: not every importer's source can be found without reading
 * the whole file. */
static bool
add_imported(void *ctx, const rt_store_row *row)
{
	const sources *to = ctx;
	uint64_t disc = 0;

	if (!rt_str_u64(rt_str_skip(row->name, strlen(RT_IMPORTED_PREFIX "d")), UINT32_MAX, &disc))
		return true;
	const rt_cell *cell = rt_project_cell(to->project, (uint32_t)disc);

	if (cell != NULL && cell->present)
		add_source(ctx, row->data);
	return true;
}

/* The sources of the project's discussions, their files, and the sources of sessions written from them, sorted. */
static sources
read_sources(rt_cli *cli)
{
	const rt_project *project = cli->session.value;
	rt_store *store = cli->session.store;
	uint64_t number = rt_engine_project_number(cli->session.engine);
	sources found = {.s = &cli->s, .project = project};

	RT_TRY(&cli->s, store->ops->read(store, rt_rows_names(number), add_written, &found, &cli->s.error));
	RT_TRY(&cli->s, store->ops->read(store, rt_rows_prefixed(number, RT_STR(RT_IMPORTED_PREFIX)), add_imported,
					 &found, &cli->s.error));
	for (size_t i = 1; rt_ok(&cli->s) && i <= rt_project_disc_count(project); i++) {
		const rt_disc *disc = NULL;
		rt_str json;

		if (!rt_project_cell(project, (uint32_t)i)->present)
			continue;
		RT_TRY(&cli->s, rt_project_disc_peek(project, (uint32_t)i, &disc, &cli->s.error));
		json = disc == NULL ? rt_str_at(NULL, 0)
				    : rt_fields_get(disc->fields, RT_STR("source"));
		if (json.size > 2) /* the ids have no escapes */
			add_source(&found, rt_str_at(json.ptr + 1, json.size - 2));
		rt_object_unref(disc);
	}
	if (rt_ok(&cli->s) && found.count > 1)
		qsort(found.items, found.count, sizeof(*found.items), by_text);
	return found;
}

static bool
is_known_source(const sources *known, rt_str source)
{
	return bsearch(&source, known->items, known->count, sizeof(source), by_text) != NULL;
}

/* Is its first conversation in the project, or a discussion that was imported from it? */
static bool
is_imported(const sources *known, const rt_program_file *file)
{
	char *real;
	bool is_it;

	if (is_known_source(known, file->source))
		return true;
	real = realpath(file->path, NULL);
	is_it = real != NULL && is_known_source(known, rt_str_of(real));
	free(real);
	return is_it;
}

void
rt_programs_count_imported(rt_cli *cli, rt_programs_found *all)
{
	sources known = {.s = &cli->s};

	if (rt_cli_open(cli, RT_SESSION_LOOK) && rt_cli_look(cli))
		known = read_sources(cli);
	for (size_t i = 0; rt_ok(&cli->s) && known.count > 0 && i < all->count; i++) {
		rt_program_found *found = &all->items[i];

		for (size_t k = 0; k < found->count; k++)
			found->imported += is_imported(&known, &found->files[k]);
	}
	rt_cli_close(cli); /* an import opens it for changes */
}

/* --- searching --- */

/* path: the folder; it is the same afterwards. Links are not followed. Recursion is bounded by
 * the program's depth. */
static void
walk(rt_cli *cli, const rt_program_visitor *v, const rt_program *program, rt_buf *path, int deep)
{
	size_t size = path->size;
	struct dirent *item;
	DIR *dir;

	if (path->ptr != NULL && v->folder != NULL)
		v->folder(v->ctx, program, path->ptr);
	dir = path->ptr == NULL ? NULL : opendir(path->ptr);
	if (dir == NULL) {
		if (cli->verbose && errno != ENOENT && errno != ENOTDIR)
			rt_cli_note(cli, "%s was not searched: %s", path->ptr, strerror(errno));
		return;
	}
	while (rt_ok(&cli->s) && !rt_host_interrupted() && (item = readdir(dir)) != NULL) {
		struct stat info;

		if (strcmp(item->d_name, ".") == 0 || strcmp(item->d_name, "..") == 0)
			continue;
		add_part(path, item->d_name);
		if (path->status != RT_OK || lstat(path->ptr, &info) != 0)
			info.st_mode = 0;
		if (S_ISREG(info.st_mode) && rt_program_has(program, path->ptr) &&
		    rt_program_is_chosen(program, path->ptr, v->names, v->count))
			v->file(v->ctx, program, path->ptr, &info);
		else if (S_ISDIR(info.st_mode) && deep < program->deep &&
			 !(program->kind >= RT_PROGRAM_IN_WORK && (item->d_name[0] == '.' ||
						strcmp(item->d_name, "node_modules") == 0)))
			walk(cli, v, program, path, deep + 1);
		path->size = size;
		if (path->ptr != NULL)
			path->ptr[size] = '\0';
	}
	closedir(dir);
}

void
rt_program_walk(rt_cli *cli, const rt_program *program, const char *directory, const char *folder,
		const rt_program_visitor *v)
{
	rt_buf path;
	int deep = 0;

	for (const char *c = folder + strlen(directory); *c != 0; c++)
		deep += *c == '/';
	rt_buf_init(&path, cli->alloc, RT_BUF_UNLIMITED);
	rt_buf_add_c(&path, folder);
	if (deep <= program->deep)
		walk(cli, v, program, &path, deep);
	rt_scope_note(&cli->s, path.status);
	rt_buf_deinit(&path);
}

typedef struct finding {
	rt_cli *cli;
	rt_program_found found;
} finding;

static void
add_file(void *ctx, const rt_program *program, const char *path, const struct stat *info)
{
	finding *x = ctx;
	rt_cli *cli = x->cli;
	rt_program_found *found = &x->found;
	rt_program_file file = {
		.path = rt_scope_copy(&cli->s, rt_str_of(path)).ptr,
		.size = (uint64_t)info->st_size,
		.changed_us = (int64_t)info->st_mtim.tv_sec * 1000000 + info->st_mtim.tv_nsec / 1000,
	};

	file.format = format_of(&cli->s, program, path, &file.source);
	if (file.format == NULL && program->kind == RT_PROGRAM_DOWNLOADS)
		return;
	found->files = rt_scope_grow(&cli->s, found->files, found->count, &found->capacity,
				     sizeof(*found->files));
	if (found->files == NULL)
		return;
	found->files[found->count++] = file;
	found->readable += file.format != NULL;
	found->size += file.size;
	if (file.changed_us > found->newest_us)
		found->newest_us = file.changed_us;
}

static int
by_time(const void *a, const void *b)
{
	const rt_program_file *x = a, *y = b;

	if (x->changed_us != y->changed_us)
		return x->changed_us < y->changed_us ? -1 : 1;
	return strcmp(x->path, y->path);
}

rt_programs_found
rt_programs_find(rt_cli *cli, const char *const *names, size_t count)
{
	rt_programs_found all = {.items = NULL};

	for (const rt_program *p = rt_programs; p->name != NULL && rt_ok(&cli->s); p++) {
		finding x = {.cli = cli, .found = {.program = p}};
		rt_program_found *found = &x.found;

		if (p->kind == RT_PROGRAM_MESSAGES || !rt_program_is_chosen(p, NULL, names, count))
			continue;
		found->directory = rt_program_directory(&cli->s, p);
		if (found->directory == NULL)
			continue;
		rt_program_walk(cli, p, found->directory, found->directory,
				&(rt_program_visitor){.ctx = &x,
						      .file = add_file,
						      .names = names,
						      .count = count});
		if (found->count == 0)
			continue;
		if (found->count > 1)
			qsort(found->files, found->count, sizeof(*found->files), by_time);
		all.items = rt_scope_grow(&cli->s, all.items, all.count, &all.capacity,
					  sizeof(*all.items));
		if (all.items != NULL)
			all.items[all.count++] = *found;
	}
	return all;
}
