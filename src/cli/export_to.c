/* SPDX-License-Identifier: MIT
 *
 * The path of a session depends on its bytes, so they are made first. An existing file is never
 * replaced, except in place: if it has other bytes, the session gets another id. The store keeps which
 * sessions were written, so that they are known when they are imported. */
#define _POSIX_C_SOURCE 200809L

#include "cli/export_to.h"

#include <errno.h>
#include <glob.h>
#include <stdlib.h> /* getenv */
#include <string.h>
#include <sys/stat.h>
#include <unistd.h> /* getcwd */

#include "base/sha256.h"
#include "formats/formats.h"
#include "formats/formats_list.h"
#include "formats/formats_writer.h"
#include "ops/import_written.h"

enum { COPIES_MAX = 1000 };

typedef struct written written;

typedef struct program {
	const rt_format *format;
	const char *variable, *folder; /* of its directory: the variable, else below HOME */
	const char *sessions;          /* glob of the files of session %s, below it */
	const char *resume;            /* a command, before the id */
	const char *import;            /* one before the file, to be run first; or NULL */
	const char *inner, *id, *cwd;  /* members with the id and the directory, in
	                                * an object of a record, or in the record itself */
	/* Appends the path below that directory, which w->path has. */
	void (*place)(rt_cli *cli, written *w);
} program;

struct written {
	const program *program;
	rt_export_options options;
	rt_str bytes, session;
	rt_str directory; /* in which the program is to be started */
	rt_str missing;   /* the session's own directory, if it does not exist here */
	rt_buf *path, *copy;
	rt_str old;    /* in place: the bytes of the file so far */
	bool is_there; /* with these bytes */
};

/* ---- paths ---- */

/* The first text of this name in a record of the session, or in the object `inner` of one. */
static rt_str
find_member(rt_cli *cli, rt_str bytes, const char *inner, const char *name)
{
	rt_str line, text;

	while (bytes.size > 0 && rt_str_split(&bytes, '\n', &line)) {
		yyjson_val *record = rt_json_parse(&cli->s, line);

		text = rt_json_text(inner == NULL ? record : rt_json_get(record, inner), name);
		if (text.size > 0)
			return text;
	}
	return RT_STR("");
}

static bool
is_plain(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

/* Ids are part of paths and commands. */
static bool
is_safe(rt_str id)
{
	for (size_t i = 0; i < id.size; i++)
		if (!is_plain(id.ptr[i]) && id.ptr[i] != '-' && id.ptr[i] != '_')
			return false;
	return id.size > 0 && id.size <= 128 && id.ptr[0] != '-';
}

static bool
is_folder(rt_cli *cli, rt_str path)
{
	struct stat info;

	path = rt_scope_copy(&cli->s, path);
	return path.size > 0 && path.ptr[0] == '/' && strlen(path.ptr) == path.size &&
	       stat(path.ptr, &info) == 0 && S_ISDIR(info.st_mode);
}

/* projects/-home-me-src/ID.jsonl */
static void
place_claude_code(rt_cli *cli, written *w)
{
	(void)cli;
	rt_buf_add_c(w->path, "projects/");
	for (size_t i = 0; i < w->directory.size; i++)
		rt_buf_add_byte(w->path, is_plain(w->directory.ptr[i]) ? w->directory.ptr[i] : '-');
	rt_buf_add_f(w->path, "/%.*s.jsonl", RT_STR_ARG(w->session));
}

/* A time in the session, as "2026-01-31T12:00:00.000Z"; empty: it has none. */
static rt_str
find_time(rt_cli *cli, const written *w, const char *name)
{
	rt_str text = find_member(cli, w->bytes, w->program->inner, name);
	rt_buf *time = rt_scope_buf(&cli->s);
	rt_moment at = {0};

	(void)rt_moment_parse(text, &at);
	rt_moment_format_ms(time, at);
	text = rt_scope_str(&cli->s, time);
	return text.size < 19 ? RT_STR("") : text;
}

/* sessions/2026/01/31/rollout-2026-01-31T12-00-00-ID.jsonl */
static void
place_codex(rt_cli *cli, written *w)
{
	const char *time = find_time(cli, w, "timestamp").ptr;

	if (rt_ok(&cli->s) && *time != '\0')
		rt_buf_add_f(w->path,
			     "sessions/%.4s/%.2s/%.2s/rollout-%.10sT%.2s-%.2s-%.2s-%.*s.jsonl",
			     time, time + 5, time + 8, time, time + 11, time + 14, time + 17,
			     RT_STR_ARG(w->session));
}

/* Does the file have the path of the folder with this hash, or of this folder? */
static bool
is_project(rt_cli *cli, const char *file, rt_str hash, rt_str folder, rt_str *out_path)
{
	char hex[RT_SHA256_HEX_ROOM];
	rt_sha256 sha;

	*out_path = rt_str_trim(rt_cli_read_file(cli, file));
	rt_sha256_init(&sha);
	rt_sha256_add(&sha, out_path->ptr, out_path->size);
	rt_sha256_end_hex(&sha, hex);
	return rt_str_is(hash, hex) || (folder.size > 0 && rt_str_eq(*out_path, folder));
}

/* The program's folder of a project, and the project's directory. */
static bool
find_project(rt_cli *cli, written *w, rt_str hash, rt_str folder)
{
	rt_buf *pattern = rt_scope_buf(&cli->s);
	glob_t found = {0};
	bool is_found = false;
	rt_str path = RT_STR("");

	rt_buf_add_str(pattern, rt_scope_str(&cli->s, w->path));
	rt_buf_add_c(pattern, ".gemini/tmp/*/.project_root");
	if (rt_scope_str(&cli->s, pattern).size == 0 || glob(pattern->ptr, 0, NULL, &found) != 0)
		return false;
	for (size_t i = 0; i < found.gl_pathc && !is_found && rt_ok(&cli->s); i++) {
		is_found = is_project(cli, found.gl_pathv[i], hash, folder, &path);
		if (!is_found)
			continue;
		rt_buf_clear(w->path);
		rt_buf_add_str(w->path, rt_str_at(found.gl_pathv[i],
						  (size_t)(strrchr(found.gl_pathv[i], '/') -
							   found.gl_pathv[i])));
		w->directory = is_folder(cli, path) ? path : w->directory;
	}
	globfree(&found);
	return is_found;
}

/* .gemini/tmp/PROJECT/chats/session-2026-01-31T12-00-ID.jsonl. The project is found by the hash of its
 * path, which is also its name if the program has not been used there. */
static void
place_gemini_cli(rt_cli *cli, written *w)
{
	rt_str hash = find_member(cli, w->bytes, NULL, "projectHash"), none = rt_str_at("/", 0);
	const char *time = find_time(cli, w, "startTime").ptr;

	if (!rt_ok(&cli->s) || *time == '\0' || !is_safe(hash))
		return;
	if (!find_project(cli, w, hash, none) && !find_project(cli, w, none, w->directory)) {
		char hex[RT_SHA256_HEX_ROOM];
		rt_sha256 sha;

		rt_sha256_init(&sha);
		rt_sha256_add(&sha, w->directory.ptr, w->directory.size);
		rt_sha256_end_hex(&sha, hex);
		rt_buf_add_f(w->path, ".gemini/tmp/%s", hex);
	}
	rt_buf_add_f(w->path, "/chats/session-%.13s-%.2s-%.8s.jsonl", time, time + 14,
		     rt_scope_copy(&cli->s, w->session).ptr);
}

/* opencode/retake/ID.json. Sessions are in a database, so the program has to import the file. */
static void
place_opencode(rt_cli *cli, written *w)
{
	(void)cli;
	rt_buf_add_f(w->path, "opencode/retake/%.*s.json", RT_STR_ARG(w->session));
}

static const program programs[] = {
	{&rt_format_claude_code, "CLAUDE_CONFIG_DIR", ".claude", "projects/*/%s.jsonl",
	 "claude --resume ", NULL, NULL, "sessionId", "cwd", place_claude_code},
	{&rt_format_codex, "CODEX_HOME", ".codex", "sessions/*/*/*/rollout-*-%s.jsonl",
	 "codex resume ", NULL, "payload", "id", "cwd", place_codex},
	{&rt_format_gemini_cli, "GEMINI_CLI_HOME", "", ".gemini/tmp/*/chats/session-*-%.8s.jsonl",
	 "gemini --resume ", NULL, NULL, "sessionId", NULL, place_gemini_cli},
	{&rt_format_opencode, "XDG_DATA_HOME", ".local/share", NULL, "opencode --session ",
	 "opencode import ", "info", "id", "directory", place_opencode},
};

enum { PROGRAMS = sizeof(programs) / sizeof(*programs) };

static const program *
find_program(const rt_format *format)
{
	for (size_t i = 0; i < PROGRAMS; i++)
		if (programs[i].format == format)
			return &programs[i];
	return NULL;
}

const rt_format *
rt_export_to_find(const char *name)
{
	for (size_t i = 0; i < PROGRAMS; i++) {
		rt_str command = rt_str_at(programs[i].resume, strcspn(programs[i].resume, " "));

		if (strcmp(programs[i].format->name, name) == 0 || rt_str_is(command, name))
			return programs[i].format;
	}
	return NULL;
}

const char *
rt_export_to_names(rt_cli *cli)
{
	rt_buf *out = rt_scope_buf(&cli->s);

	for (size_t i = 0; i < PROGRAMS; i++)
		rt_buf_add_f(out, "%s%s", out->size > 0 ? ", " : "", programs[i].format->name);
	return rt_scope_str(&cli->s, out).size > 0 ? out->ptr : "";
}

static void
add_root(rt_cli *cli, const program *p, rt_buf *path)
{
	const char *named = getenv(p->variable), *home = getenv("HOME");

	if (named != NULL && *named == '/')
		rt_buf_add_f(path, "%s/", named);
	else if (home != NULL && *home == '/')
		rt_buf_add_f(path, "%s/%s%s", home, p->folder, *p->folder != 0 ? "/" : "");
	else
		rt_cli_fail(
			cli, RT_NOT_FOUND,
			"HOME is not set, so the directory of %s is unknown; name a FILE with -o",
			p->format->name);
}

static void
make_folders(rt_cli *cli, const char *file)
{
	for (const char *at = strchr(file + 1, '/'); at != NULL && rt_ok(&cli->s);
	     at = strchr(at + 1, '/')) {
		rt_str folder = rt_scope_copy(&cli->s, rt_str_at(file, (size_t)(at - file)));

		if (folder.ptr != NULL && mkdir(folder.ptr, 0700) != 0 && errno != EEXIST)
			rt_cli_fail(cli, RT_IO, "cannot create the directory %s: %s", folder.ptr,
				    strerror(errno));
	}
}

/* ---- the session ---- */

static void
write_bytes(rt_cli *cli, written *w, const rt_outlines *outlines)
{
	rt_buf *bytes = rt_scope_buf(&cli->s);

	RT_TRY(&cli->s,
	       w->program->format->write(cli->alloc, outlines, &w->options, bytes, &cli->s.error));
	w->bytes = rt_scope_str(&cli->s, bytes);
	w->session = find_member(cli, w->bytes, w->program->inner, w->program->id);
	if (w->program->cwd != NULL)
		w->directory = find_member(cli, w->bytes, w->program->inner, w->program->cwd);
	if (!is_folder(cli, w->directory)) {
		w->missing = w->directory; /* of another machine */
		w->directory = w->options.directory;
	}
	if (rt_ok(&cli->s) && !is_safe(w->session))
		rt_cli_fail(cli, RT_USAGE, "\"%.*s\" cannot be the id of a session",
			    (int)rt_utf8_cut(w->session, 80), w->session.ptr);
}

/* An import of the file is to add what the program appends to it, and nothing else. */
static void
keep_written(rt_cli *cli, const written *w, const rt_outline *from)
{
	rt_outlines file;

	if (!rt_ok(&cli->s))
		return;
	if (cli->session.store->is_read_only) {
		rt_cli_note(cli, "the store is read-only: retake scan will import this session as another "
				 "discussion");
		return;
	}
	rt_outlines_init(&file);
	RT_TRY(&cli->s, w->program->format->read(cli->alloc, w->bytes, &file, NULL, &cli->s.error));
	if (rt_ok(&cli->s) && file.count == 1)
		RT_TRY(&cli->s, rt_written_keep(cli->session.engine, cli->session.place.disc, from,
						&file.items[0], &cli->s.error));
	rt_outlines_deinit(&file);
}

/* A path for the bytes; false: another session is there. */
static bool
find_place(rt_cli *cli, written *w)
{
	struct stat info;

	rt_buf_clear(w->path);
	add_root(cli, w->program, w->path);
	w->program->place(cli, w);
	if (rt_scope_str(&cli->s, w->path).size == 0 || stat(w->path->ptr, &info) != 0)
		return true;
	w->is_there = rt_str_eq(rt_cli_read_file(cli, w->path->ptr), w->bytes);
	return w->is_there;
}

/* A version 4 UUID. */
static rt_str
random_session(rt_cli *cli)
{
	rt_buf *id = rt_scope_buf(&cli->s);
	unsigned char bytes[16];

	cli->env->random(cli->env->ctx, bytes, sizeof(bytes));
	bytes[6] = (unsigned char)((bytes[6] & 0x0f) | 0x40);
	bytes[8] = (unsigned char)((bytes[8] & 0x3f) | 0x80);
	for (size_t i = 0; i < sizeof(bytes); i++)
		rt_buf_add_f(id, i == 4 || i == 6 || i == 8 || i == 10 ? "-%02x" : "%02x",
			     bytes[i]);
	return rt_scope_str(&cli->s, id);
}

static void
write_new(rt_cli *cli, written *w, const rt_outlines *outlines)
{
	write_bytes(cli, w, outlines);
	if (rt_ok(&cli->s) && !find_place(cli, w)) {
		w->options.session = random_session(cli);
		write_bytes(cli, w, outlines);
		(void)find_place(cli, w);
	}
	keep_written(cli, w, &outlines->items[0]);
	if (!rt_ok(&cli->s) || w->is_there)
		return;
	make_folders(cli, w->path->ptr);
	rt_cli_write_file(cli, w->path->ptr, w->bytes, RT_FILES_PRIVATE);
}

/* ---- in place ---- */

/* Names may contain a part of the id only. */
static bool
is_session(rt_cli *cli, const written *w, const char *file, rt_str id)
{
	return strstr(w->program->sessions, "%s") != NULL ||
	       rt_str_eq(find_member(cli, rt_cli_read_file(cli, file), w->program->inner,
				     w->program->id),
			 id);
}

/* For discussions whose import did not keep the path: in the directory of the program. */
static void
find_by_id(rt_cli *cli, written *w, rt_str source)
{
	rt_buf *pattern = rt_scope_buf(&cli->s);
	glob_t found = {0};

	add_root(cli, w->program, pattern);
	rt_buf_add_f(pattern, w->program->sessions, rt_scope_copy(&cli->s, source).ptr);
	if (rt_scope_str(&cli->s, pattern).size == 0)
		return;
	if (glob(pattern->ptr, GLOB_NOSORT, NULL, &found) != 0)
		found.gl_pathc = 0;
	for (size_t i = 0; i < found.gl_pathc && w->path->size == 0; i++)
		if (is_session(cli, w, found.gl_pathv[i], source))
			rt_buf_add_c(w->path, found.gl_pathv[i]);
	globfree(&found);
	if (w->path->size == 0) {
		rt_cli_hint(cli, "Without --in-place it becomes a new session.");
		rt_cli_fail(cli, RT_NOT_FOUND, "the original session does not exist: %s",
			    pattern->ptr);
	}
}

static void
find_original(rt_cli *cli, written *w, const rt_outline *o)
{
	const char *name = w->program->format->name;
	rt_str source = rt_outline_source_id(&cli->s, o, name);
	rt_status st;

	if (w->program->sessions == NULL) {
		rt_cli_hint(cli, "Without --in-place it becomes a new session.");
		rt_cli_fail(cli, RT_USAGE,
			    "%s keeps its sessions in a database, which Retake does not change", name);
		return;
	}
	if (!is_safe(source)) {
		rt_cli_hint(cli, "Without --in-place it becomes a new session.");
		rt_cli_fail(cli, RT_USAGE, "the discussion is not an imported session of %s", name);
		return;
	}
	w->options.session = source;
	st = rt_imported_file(cli->session.engine, cli->session.place.disc, w->path, &cli->s.error);
	if (st == RT_NOT_FOUND)
		find_by_id(cli, w, source);
	else
		rt_scope_note(&cli->s, st);
	if (rt_scope_str(&cli->s, w->path).size > 0 && access(w->path->ptr, F_OK) != 0) {
		rt_cli_hint(cli, "If it was moved, import it again. Without --in-place, the export "
				 "becomes a new session.");
		rt_cli_fail(cli, RT_NOT_FOUND, "the imported file does not exist: %s", w->path->ptr);
	}
	w->old = rt_cli_read_file(cli, w->path->ptr);
}

/* What the program has added since the import would be lost: everything in the file has to be known. */
static void
check_original(rt_cli *cli, const written *w)
{
	rt_input in = rt_input_of(&w->old);
	rt_action_file file = {.format = w->program->format};
	rt_action_import_options options = {.dry_run = true};
	rt_import_result result = {0};
	rt_action_scan scan = {0};

	if (!rt_ok(&cli->s))
		return;
	if (RT_TRY(&cli->s, rt_action_import_scan(cli->alloc, NULL, &file, &in, &options, &scan, NULL,
						  &cli->s.error)) == RT_OK)
		RT_TRY(&cli->s, rt_action_import(cli->session.engine, NULL, &file, &in, &options, &scan,
						 &result, &cli->s.error));
	rt_action_scan_deinit(&scan);
	if (!rt_ok(&cli->s) || result.entries + result.discussions == 0)
		return;
	rt_cli_hint(cli, "To add them to the discussion first: %s import %s",
		    rt_cli_retake(cli), w->path->ptr);
	rt_cli_fail(cli, RT_CONFLICT, "%s has %zu entr%s that %s not imported and would be lost",
		    w->path->ptr, result.entries, RT_CLI_IES(result.entries),
		    result.entries == 1 ? "is" : "are");
}

/* The first of FILE.bak, FILE.bak2 … that is free. */
static void
keep_copy(rt_cli *cli, written *w)
{
	for (int i = 1; i < COPIES_MAX && rt_ok(&cli->s); i++) {
		rt_buf_clear(w->copy);
		rt_buf_add_f(w->copy, i == 1 ? "%s.bak" : "%s.bak%d", w->path->ptr, i);
		if (rt_scope_str(&cli->s, w->copy).size == 0 || access(w->copy->ptr, F_OK) == 0)
			continue;
		rt_cli_write_file(cli, w->copy->ptr, w->old, RT_FILES_PRIVATE);
		return;
	}
}

static void
write_in_place(rt_cli *cli, written *w, const rt_outlines *outlines)
{
	find_original(cli, w, &outlines->items[0]);
	check_original(cli, w);
	if (!rt_ok(&cli->s))
		return;
	write_bytes(cli, w, outlines);
	keep_written(cli, w, &outlines->items[0]);
	if (rt_ok(&cli->s) && rt_str_eq(w->old, w->bytes)) {
		w->is_there = true;
		return;
	}
	keep_copy(cli, w);
	if (rt_ok(&cli->s) && !rt_str_eq(rt_cli_read_file(cli, w->path->ptr), w->old))
		rt_cli_fail(cli, RT_CONFLICT, "%s was changed in the meantime; try again", w->path->ptr);
	rt_cli_write_file(cli, w->path->ptr, w->bytes, RT_FILES_PRIVATE_REPLACE);
}

/* ---- the result ---- */

static void
say_written(rt_cli *cli, const written *w, rt_str here)
{
	rt_buf *command = rt_scope_buf(&cli->s), *json = rt_scope_buf(&cli->s);
	rt_term *out = &cli->out;

	if (w->directory.size > 0 && !rt_str_eq(w->directory, here)) {
		rt_buf_add_c(command, "cd ");
		rt_args_add_quoted(command, rt_scope_copy(&cli->s, w->directory).ptr);
		rt_buf_add_c(command, " && ");
	}
	if (w->program->import != NULL) {
		rt_buf_add_c(command, w->program->import);
		rt_args_add_quoted(command, w->path->ptr);
		rt_buf_add_c(command, " && ");
	}
	rt_buf_add_c(command, w->program->resume);
	rt_buf_add_str(command, w->session);
	if (!rt_ok(&cli->s))
		return;
	if (cli->json) {
		rt_json_open(json, NULL, '{');
		rt_cli_put_bytes(cli, json, "file", rt_scope_str(&cli->s, w->path));
		rt_json_put_c(json, "format", w->program->format->name);
		rt_json_put_str(json, "session", w->session);
		if (w->copy->size > 0)
			rt_cli_put_bytes(cli, json, "copy", rt_scope_str(&cli->s, w->copy));
		rt_json_put_bool(json, "changed", !w->is_there);
		rt_cli_put_bytes(cli, json, "resume", rt_scope_str(&cli->s, command));
		rt_json_close(json, '}');
		rt_cli_print_json(cli, json);
		return;
	}
	if (cli->quiet)
		return;
	rt_term_f(out, w->is_there ? "%s already contains it.\n" : "Wrote %s (%s, %zu bytes).\n",
		  w->path->ptr, w->program->format->name, w->bytes.size);
	if (w->copy->size > 0)
		rt_term_f(out, "The original is kept as %s\n", w->copy->ptr);
	if (w->missing.size > 0) {
		rt_term_c(out, "Its directory ");
		rt_term_line(out, w->missing);
		rt_term_c(out, " does not exist here; the session will continue in the current directory.\n");
	}
	rt_term_f(out, "Continue with: %s\n", rt_scope_str(&cli->s, command).ptr);
}

void
rt_cli_export_to(rt_cli *cli, const rt_format *format, const rt_outlines *outlines,
		 const rt_export_options *options)
{
	written w = {.program = find_program(format), .options = *options};
	char *here = getcwd(NULL, 0);

	if (here == NULL && errno == ENOMEM) {
		rt_cli_fail(cli, RT_NOMEM, "out of memory");
		return;
	}
	w.path = rt_scope_buf(&cli->s);
	w.copy = rt_scope_buf(&cli->s);
	w.options.directory = rt_scope_copy(&cli->s, rt_str_of(here));
	free(here);
	if (outlines->count == 0)
		rt_cli_fail(cli, RT_NOT_FOUND, "there is no discussion to export");
	else if (outlines->items[0].node_count == 0)
		rt_cli_fail(cli, RT_USAGE, "the discussion has no entries; a session needs at least one message");
	else if (rt_cli_has(cli, "in-place"))
		write_in_place(cli, &w, outlines);
	else
		write_new(cli, &w, outlines);
	if (rt_ok(&cli->s))
		say_written(cli, &w, w.options.directory);
}
