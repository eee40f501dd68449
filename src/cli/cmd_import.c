/* SPDX-License-Identifier: MIT
 *
 * import: files of other programs in. The type of a file is found by its beginning; the
 * file itself is only read, in pieces. A folder stands for every file below it. */
#define _DEFAULT_SOURCE
#define _POSIX_C_SOURCE 200809L

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "cli/cli.h"
#include "app/host.h"
#include "app/input_host.h"
#include "formats/formats.h"

enum {
	FOLDERS_DEEP = 16,
	PROGRESS_US = 1000000, /* shown after that time */
	LOOK_TRIES = 3         /* at a file that is being written to */
};

typedef struct paths {
	const rt_alloc *alloc;
	char **items; /* each our own */
	bool *asked;  /* named on the command line, not found in a folder */
	size_t count, room;
} paths;

typedef struct importing {
	rt_cli *cli;
	const rt_format *format; /* NULL: by content */
	rt_str name;
	bool dry_run;
	rt_buf json; /* of the files so far */
	size_t files, discussions, entries, takes, known, settings, repaired, skipped, unknown;
	size_t steps;     /* files that changed something: each is one to undo */
	rt_buf temporary; /* folder for what comes through a pipe */
	bool is_open;     /* the store; not before there is something for it */
	rt_status first; /* failure */
	rt_error error;
	char hint[RT_SESSION_HINT_SIZE];
	char discussion[260];
	uint64_t seq;
	int64_t begun_us, said_us;
	bool progress;
} importing;

/* A file on its way in. */
typedef struct incoming {
	importing *m;
	const char *path, *name; /* name: for messages */
	rt_file_input file;
	rt_action_file act;
	rt_action_import_options options;
	rt_report report;
	rt_import_result result;
	int64_t begun_us;
	bool is_second; /* pass */
} incoming;

/* --- which files --- */

static rt_status
add_path(rt_cli *cli, paths *p, const char *path, bool asked)
{
	size_t size = strlen(path) + 1;
	char *copy;

	if (p->count == p->room) {
		size_t room = p->room == 0 ? 32 : p->room * 2;
		char **items = rt_resize(p->alloc, p->items, room * sizeof(*items));
		bool *flags;

		if (items == NULL)
			return rt_old_nomem(cli);
		p->items = items;
		flags = rt_resize(p->alloc, p->asked, room * sizeof(*flags));
		if (flags == NULL)
			return rt_old_nomem(cli);
		p->asked = flags;
		p->room = room;
	}
	copy = rt_new(p->alloc, size);
	if (copy == NULL)
		return rt_old_nomem(cli);
	memcpy(copy, path, size);
	p->items[p->count] = copy;
	p->asked[p->count++] = asked;
	return RT_OK;
}

static void
paths_deinit(paths *p)
{
	size_t i;

	for (i = 0; i < p->count; i++)
		rt_free(p->alloc, p->items[i]);
	rt_free(p->alloc, p->items);
	rt_free(p->alloc, p->asked);
}

static int
by_name(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static rt_status add_folder(rt_cli *cli, paths *p, const char *folder, int depth);

static rt_status
add_below(rt_cli *cli, paths *p, const char *folder, const char *name, int depth)
{
	struct stat info;
	rt_buf path;
	rt_status st;

	rt_buf_init(&path, cli->alloc, 64 * 1024);
	rt_buf_add_f(&path, "%s/%s", folder, name);
	st = rt_old_buf(cli, &path);
	if (st == RT_OK && lstat(path.ptr, &info) == 0) {
		if (S_ISREG(info.st_mode))
			st = add_path(cli, p, path.ptr, false);
		else if (S_ISDIR(info.st_mode) && depth < FOLDERS_DEEP)
			st = add_folder(cli, p, path.ptr, depth + 1);
	}
	rt_buf_deinit(&path);
	return st;
}

/* Recursion is bounded by FOLDERS_DEEP. */
static rt_status
add_folder(rt_cli *cli, paths *p, const char *folder, int depth)
{
	DIR *dir = opendir(folder);
	size_t first = p->count;
	struct dirent *item;
	rt_status st = RT_OK;

	if (dir == NULL)
		return rt_old_fail(cli, RT_IO, "%s cannot be read: %s", folder, strerror(errno));
	while (st == RT_OK && (item = readdir(dir)) != NULL)
		if (item->d_name[0] != '.')
			st = add_below(cli, p, folder, item->d_name, depth);
	closedir(dir);
	qsort(p->items + first, p->count - first, sizeof(*p->items), by_name);
	return st;
}

static rt_status
find_files(rt_cli *cli, paths *p)
{
	struct stat info;
	size_t i;
	rt_status st = RT_OK;

	for (i = 0; st == RT_OK && i < cli->args.word_count; i++) {
		const char *path = rt_cli_word(cli, i);

		if (strcmp(path, "-") != 0 && stat(path, &info) == 0 && S_ISDIR(info.st_mode))
			st = add_folder(cli, p, path, 0);
		else
			st = add_path(cli, p, path, true);
	}
	return st;
}

/* --- one file --- */

/* A large file is a wait of its own: what is done with it, how much of it, how fast. */
static void
say_part(incoming *f, const char *what, uint64_t done, uint64_t all, const char *unit)
{
	importing *m = f->m;
	rt_cli *cli = m->cli;
	int64_t now = cli->env->now_us(cli->env->ctx), passed = now - f->begun_us;
	char part[32] = "";

	if (!cli->err.is_tty || cli->quiet || passed < PROGRESS_US ||
	    now - m->said_us < PROGRESS_US / 5)
		return;
	m->said_us = now;
	m->progress = true;
	if (all > 0)
		snprintf(part, sizeof(part), "%llu %%, ",
			 (unsigned long long)(done >= all ? 100 : done * 100 / all));
	rt_term_f(&cli->err, "%s %.40s (%s%llu %s/s) …%10s", what, f->name, part,
		  (unsigned long long)done * 1000 / (uint64_t)(passed / 1000), unit, "");
	rt_buf_add_byte(&cli->err.buf, '\r'); /* our own; text never brings one */
	rt_term_flush(&cli->err);
}

static void
say_reading(void *ctx, uint64_t offset)
{
	incoming *f = ctx;

	if (!f->is_second)
		say_part(f, "Checking", offset >> 10, f->file.in.size >> 10, "KiB");
}

static void
say_importing(void *ctx, size_t done, size_t all)
{
	say_part(ctx, "Importing", done, all, "entries");
}

static rt_status
open_input(incoming *f)
{
	rt_cli *cli = f->m->cli;
	rt_status st = strcmp(f->path, "-") == 0
			       ? rt_file_input_from(&f->file, 0, f->name, f->m->temporary.ptr,
						    &cli->error)
			       : rt_file_input_open(&f->file, f->path, &cli->error);

	f->file.progress = say_reading;
	f->file.progress_ctx = f;
	if (st == RT_NOT_FOUND)
		rt_old_hint(cli, st, "Look at the name. More: retake help import");
	else if (st == RT_USAGE)
		rt_old_hint(cli, st, "What a program writes: PROGRAM | retake import -");
	else if (st != RT_OK)
		rt_old_hint(cli, st, "Look at its permissions: ls -l %s", f->path);
	return st;
}

/* Which format it has, from its beginning alone. */
static rt_status
find_format(incoming *f)
{
	rt_cli *cli = f->m->cli;
	char *bytes = rt_new(cli->alloc, RT_INPUT_HEAD);
	size_t size = 0;
	rt_status st;

	if (bytes == NULL)
		return rt_old_nomem(cli);
	st = rt_input_head(&f->file.in, bytes, &size, &cli->error);
	f->act.format = f->m->format;
	if (st == RT_OK && f->act.format == NULL)
		f->act.format = rt_format_sniff(rt_str_at(bytes, size));
	if (st == RT_OK && f->act.format == NULL &&
	    rt_str_starts(rt_str_at(bytes, size), RT_STR("SQLite format 3"))) {
		rt_old_hint(cli, RT_USAGE,
			    "A store of Retake is opened: retake --db FILE show   In the place of this "
			    "one: retake restore FILE");
		st = rt_old_fail(cli, RT_USAGE, "%s is an SQLite database, and no conversation",
				 f->name);
	} else if (st == RT_OK && f->act.format == NULL) {
		rt_old_hint(cli, RT_USAGE,
			    "Known types: retake help formats   "
			    "To name it: --format NAME");
		st = rt_old_fail(cli, RT_USAGE,
				 size == 0 ? "%s is empty" : "%s: unrecognised file type", f->name);
	} else if (st == RT_OK && f->act.format->read == NULL) {
		st = rt_old_fail(cli, RT_USAGE, "%s is %s, which Retake writes but does not read",
				 f->name, f->act.format->name);
	}
	rt_free(cli->alloc, bytes);
	return st;
}

static bool
is_interrupted(void *ctx)
{
	(void)ctx;
	return rt_host_interrupted();
}

/* Look through it; one that is being written to, a few times. */
static rt_status
look_through(incoming *f, rt_action_scan *looked)
{
	rt_cli *cli = f->m->cli;
	rt_apply_context with = {.stop = is_interrupted};
	rt_error inner;
	rt_status st = RT_BUSY;
	int i;

	for (i = 0; st == RT_BUSY && i < LOOK_TRIES; i++) {
		if (i > 0 && !rt_file_input_again(&f->file))
			break;
		rt_report_deinit(&f->report);
		rt_report_init(&f->report, cli->alloc);
		st = rt_action_import_scan(cli->alloc, &with, &f->act, &f->file.in, &f->options,
					   looked, &f->report, &cli->error);
	}
	if (st == RT_BUSY) {
		rt_old_hint(cli, st, "Try again when the other program is done with it.");
	} else if (st == RT_USAGE) {
		inner = cli->error;
		rt_old_fail(cli, st, "%s (as %s): %s", f->name, f->act.format->name, inner.text);
		rt_old_hint(cli, st,
			    "If it is of another type: --format NAME "
			    "(retake help formats)");
	}
	return st;
}

static const char *
level_word(rt_remark_level level)
{
	return level == RT_REMARK_REPAIRED  ? "repaired"
	       : level == RT_REMARK_SKIPPED ? "skipped"
					    : "note";
}

static void
say_remarks(rt_cli *cli, const rt_report *report)
{
	size_t i, shown = 0;

	for (i = 0; i < report->remark_count && shown < (cli->verbose ? SIZE_MAX : 10); i++) {
		const rt_remark *remark = &report->remarks[i];

		if (remark->level == RT_REMARK_NOTE && !cli->verbose)
			continue;
		shown++;
		rt_term_f(&cli->out, "    %s", level_word(remark->level));
		if (remark->line > 0)
			rt_term_f(&cli->out, ", line %llu", (unsigned long long)remark->line);
		rt_term_c(&cli->out, ": ");
		rt_term_line(&cli->out, rt_str_of(remark->text));
		rt_term_c(&cli->out, "\n");
	}
	if (report->repaired + report->skipped > shown)
		rt_term_f(&cli->out, "    and %zu more%s\n",
			  report->repaired + report->skipped - shown,
			  cli->verbose ? "" : " (retake import -v)");
}

static void
json_error(rt_buf *json, rt_status st, const rt_error *error)
{
	rt_buf_add_c(json, "{\"code\":");
	rt_json_add_string(json, rt_str_of(rt_status_word(st)));
	rt_json_add_key(json, "message");
	rt_json_add_string(json,
			   rt_str_at(error->text, rt_utf8_valid_size(rt_str_of(error->text))));
	rt_buf_add_byte(json, '}');
}

static void
json_file(importing *m, const char *path, const rt_format *format, const rt_report *report,
	  const rt_import_result *result, rt_status st)
{
	rt_buf *json = &m->json;
	size_t i;

	rt_json_add_comma(json);
	rt_buf_add_c(json, "{\"file\":");
	/* A file's name need not be UTF-8; a document has to be. */
	{
		rt_buf name;

		rt_buf_init(&name, m->cli->alloc, RT_BUF_UNLIMITED);
		rt_utf8_repair(&name, rt_str_of(path));
		rt_json_add_string(json, rt_buf_str(&name));
		rt_buf_deinit(&name);
	}
	if (format != NULL) {
		rt_json_add_key(json, "format");
		rt_json_add_string(json, rt_str_of(format->name));
	}
	if (st != RT_OK) {
		rt_buf_add_c(json, ",\"error\":");
		json_error(json, st, &m->cli->error);
	} else {
		rt_buf_add_f(json,
			     ",\"discussions\":%zu,\"entries\":%zu,\"takes\":%zu,\"known\":%zu"
			     ",\"settings\":%zu",
			     result->discussions, result->entries, result->takes, result->known,
			     result->settings);
	}
	rt_buf_add_f(json, ",\"repaired\":%zu,\"skipped\":%zu,\"noted\":%zu,\"remarks\":[",
		     report->repaired, report->skipped, report->noted);
	for (i = 0; i < report->remark_count; i++) {
		rt_json_add_comma(json);
		rt_buf_add_f(json, "{\"level\":\"%s\",\"line\":%llu,\"text\":",
			     level_word(report->remarks[i].level),
			     (unsigned long long)report->remarks[i].line);
		rt_json_add_string(
			json, rt_str_at(report->remarks[i].text,
					rt_utf8_valid_size(rt_str_of(report->remarks[i].text))));
		rt_buf_add_byte(json, '}');
	}
	rt_buf_add_c(json, "]}");
}

static void
say_file(importing *m, const char *path, const rt_format *format, const rt_report *report,
	 const rt_import_result *result)
{
	rt_term *out = &m->cli->out;

	if (m->cli->quiet)
		return;
	rt_term_line(out, rt_str_of(path));
	rt_term_f(out, " (%s): ", format->name);
	if (result->entries == 0 && result->discussions == 0 && result->settings > 0)
		rt_term_f(out, "%s%zu setting%s of the project",
			  m->dry_run ? "would change " : "changed ", result->settings,
			  RT_CLI_S(result->settings));
	else if (result->entries == 0 && result->discussions == 0)
		rt_term_f(out, "nothing new; %zu entr%s known already", result->known,
			  result->known == 1 ? "y is" : "ies are");
	else
		rt_term_f(out, "%s%zu entr%s, %zu take%s, %zu discussion%s%s",
			  m->dry_run ? "would add " : "", result->entries,
			  RT_CLI_IES(result->entries), result->takes, RT_CLI_S(result->takes),
			  result->discussions, RT_CLI_S(result->discussions),
			  m->dry_run ? "" : " added");
	if (result->known > 0 && result->entries > 0)
		rt_term_f(out, "; %zu known already", result->known);
	if (report->repaired > 0)
		rt_term_f(out, "; %zu repaired", report->repaired);
	if (report->skipped > 0)
		rt_term_f(out, "; %zu skipped", report->skipped);
	rt_term_c(out, "\n");
	say_remarks(m->cli, report);
}

static void
count_file(importing *m, const rt_report *report, const rt_import_result *result)
{
	m->files++;
	/* the last discussion that something was added to; else the last that was known already */
	if (result->discussion[0] != 0 &&
	    (result->discussions + result->entries > 0 || m->discussions + m->entries == 0))
		snprintf(m->discussion, sizeof(m->discussion), "%s", result->discussion);
	m->discussions += result->discussions;
	m->entries += result->entries;
	m->takes += result->takes;
	m->known += result->known;
	m->settings += result->settings;
	m->repaired += report->repaired;
	m->skipped += report->skipped;
	m->steps += result->entries > 0 || result->discussions > 0;
	m->seq = result->seq;
}

/* --name goes before the file's own; what has none is called as the file. */
static void
choose_name(incoming *f)
{
	const char *slash = strrchr(f->path, '/'), *base = slash == NULL ? f->path : slash + 1;
	const char *dot = strrchr(base, '.');
	rt_str name = rt_str_at(base,
				dot == NULL || dot == base ? strlen(base) : (size_t)(dot - base));

	f->options.name = f->m->name;
	f->options.dry_run = f->m->dry_run;
	f->options.progress = say_importing;
	f->options.progress_ctx = f;
	if (!rt_str_is(name, "-") && rt_utf8_valid_size(name) == name.size)
		f->options.fallback = name;
}

/* A file that is refused leaves no new store behind. */
static rt_status
open_store(importing *m)
{
	rt_status st = RT_OK;

	if (!m->is_open)
		st = rt_old_open(m->cli, m->dry_run ? RT_SESSION_LOOK : RT_SESSION_CHANGE);
	m->is_open = m->is_open || st == RT_OK;
	return st;
}

static rt_status
bring_in(incoming *f, const rt_action_scan *looked)
{
	rt_cli *cli = f->m->cli;
	rt_buf name;
	rt_status st;

	rt_buf_init(&name, cli->alloc, RT_BUF_UNLIMITED);
	if (strcmp(f->path, "-") != 0)
		rt_utf8_repair(&name, rt_str_of(f->path));
	f->act.path = rt_buf_str(&name);
	f->is_second = true;
	f->begun_us = cli->env->now_us(cli->env->ctx);
	st = rt_old_buf(cli, &name);
	if (st == RT_OK) {
		st = rt_action_import(cli->session.engine, rt_session_hooks_begin(&cli->session),
				      &f->act, &f->file.in, &f->options, looked, &f->result,
				      &cli->error);
		rt_session_hooks_end(&cli->session);
	}
	if (st == RT_BUSY)
		rt_old_hint(cli, st, "Try again when the other program is done with it.");
	rt_buf_deinit(&name);
	return st;
}

static void
import_file(importing *m, const char *path, bool asked)
{
	rt_cli *cli = m->cli;
	incoming f = {.m = m, .path = path};
	rt_action_scan looked = {0};
	bool is_input;
	rt_status st;

	f.name = strcmp(path, "-") == 0 ? "standard input" : path;
	f.begun_us = cli->env->now_us(cli->env->ctx);
	rt_report_init(&f.report, cli->alloc);
	choose_name(&f);
	st = open_input(&f);
	is_input = st == RT_OK;
	if (st == RT_OK)
		st = find_format(&f);
	/* In a folder there may be anything. */
	if (st == RT_USAGE && f.act.format == NULL && !asked) {
		m->unknown++;
		if (cli->verbose)
			rt_cli_note(cli, "%s", cli->error.text);
		cli->session.hint[0] = 0;
		goto done;
	}
	if (st == RT_OK)
		st = look_through(&f, &looked);
	if (st == RT_OK && rt_cli_short_of_memory(cli))
		st = rt_old_nomem(cli);
	if (st == RT_OK)
		st = open_store(m);
	if (st == RT_OK)
		st = bring_in(&f, &looked);
	if (st == RT_OK && !m->dry_run)
		cli->changed = true;
	json_file(m, path, f.act.format, &f.report, &f.result, st);
	if (st == RT_OK) {
		count_file(m, &f.report, &f.result);
		if (!cli->json)
			say_file(m, path, f.act.format, &f.report, &f.result);
	} else if (m->first == RT_OK) {
		m->first = st;
		m->error = cli->error;
		memcpy(m->hint, cli->session.hint, sizeof(m->hint));
	} else {
		rt_cli_note(cli, "%s", cli->error.text);
	}
done:
	rt_action_scan_deinit(&looked);
	rt_report_deinit(&f.report);
	if (is_input)
		rt_file_input_close(&f.file);
}

/* --- all of them --- */

static void
say_progress(importing *m, size_t done, size_t count)
{
	int64_t now = m->cli->env->now_us(m->cli->env->ctx);

	if (!m->cli->err.is_tty || m->cli->quiet || now - m->begun_us < PROGRESS_US ||
	    now - m->said_us < PROGRESS_US / 5)
		return;
	m->said_us = now;
	m->progress = true;
	rt_term_f(&m->cli->err, "%zu of %zu files …%60s", done, count, "");
	rt_buf_add_byte(&m->cli->err.buf, '\r');
	rt_term_flush(&m->cli->err);
}

static void
say_undo(importing *m, rt_str message)
{
	char count[32] = "";
	rt_buf retake;

	if (m->steps > 1)
		snprintf(count, sizeof(count), " %zu", m->steps);
	rt_buf_init(&retake, m->cli->alloc, RT_BUF_UNLIMITED);
	rt_cli_add_retake(m->cli, &retake);
	rt_cli_say(m->cli, message, "step %llu - undo: %s undo%s", (unsigned long long)m->seq,
		   retake.ptr, count);
	rt_buf_deinit(&retake);
}

/* Interrupted between two files. */
static void
say_not_reached(importing *m, size_t count)
{
	rt_error error;

	(void)rt_fail(&error, RT_INTERRUPTED, "interrupted; %zu file%s not imported", count,
		      count == 1 ? " was" : "s were");
	if (m->first != RT_OK)
		rt_cli_note(m->cli, "%s", m->error.text);
	m->first = RT_INTERRUPTED;
	m->error = error;
	m->hint[0] = 0;
}

static rt_status
finish(importing *m)
{
	rt_cli *cli = m->cli;
	rt_status st = RT_OK;
	rt_buf buf;

	if (cli->json) {
		rt_buf_init(&buf, cli->alloc, RT_BUF_UNLIMITED);
		rt_buf_add_f(
			&buf,
			"{\"discussions\":%zu,\"entries\":%zu,\"takes\":%zu,\"known\":%zu,"
			"\"settings\":%zu,\"repaired\":%zu,\"skipped\":%zu,\"unknown_files\":%zu,\"dry_run\":%s,"
			"\"files\":",
			m->discussions, m->entries, m->takes, m->known, m->settings, m->repaired,
			m->skipped, m->unknown, m->dry_run ? "true" : "false");
		rt_buf_add_str(&buf, rt_buf_str(&m->json));
		rt_buf_add_c(&buf, "]");
		if (m->first != RT_OK) {
			rt_buf_add_c(&buf, ",\"error\":");
			json_error(&buf, m->first, &m->error);
		}
		rt_buf_add_byte(&buf, '}');
		st = rt_old_buf(cli, &buf);
		if (st == RT_OK)
			st = rt_old_print_json(cli, rt_buf_str(&buf));
		rt_buf_deinit(&buf);
	} else if (!cli->quiet) {
		if (m->files > 1 || m->unknown > 0)
			rt_term_f(&cli->out, "%zu file%s: %zu entries in %zu discussion%s%s",
				  m->files, RT_CLI_S(m->files), m->entries, m->discussions,
				  RT_CLI_S(m->discussions), m->dry_run ? " would be added" : "");
		if (m->unknown > 0)
			rt_term_f(&cli->out, "; %zu file%s of unrecognised type left alone", m->unknown,
				  RT_CLI_S(m->unknown));
		if (m->files > 1 || m->unknown > 0)
			rt_term_c(&cli->out, "\n");
		if (m->dry_run)
			rt_term_c(&cli->out, "Nothing was changed.\n");
		else if (m->entries > 0) {
			rt_buf_init(&buf, cli->alloc, RT_BUF_UNLIMITED);
			if (rt_old_look(cli) == RT_OK &&
			    rt_str_is(rt_cell_name(rt_project_cell(cli->session.value,
								   cli->session.value->active)),
				      m->discussion)) {
				rt_buf_add_f(&buf, "Now in discussion \"%s\".", m->discussion);
			} else {
				rt_buf_add_c(&buf, "Look at it: ");
				rt_cli_add_advice(cli, &buf, RT_STR("retake use "));
				rt_args_add_quoted(&buf, m->discussion);
			}
			say_undo(m, rt_buf_str(&buf));
			rt_buf_deinit(&buf);
		} else if (m->settings > 0) {
			say_undo(m, RT_STR("Imported the project settings."));
		}
	}
	if (m->first != RT_OK) {
		cli->error = m->error;
		memcpy(cli->session.hint, m->hint, sizeof(cli->session.hint));
	}
	return st != RT_OK ? st : m->first;
}

static rt_status
run_import(rt_cli *cli)
{
	const char *format = rt_cli_flag_value(cli, "format");
	paths files = {.alloc = cli->alloc};
	importing m = {.cli = cli,
		       .dry_run = rt_cli_has(cli, "dry-run"),
		       .name = rt_str_of(rt_cli_flag_value(cli, "name"))};
	size_t i = 0;
	rt_status st = RT_OK;

	if (format != NULL && (m.format = rt_format_find(format)) == NULL) {
		rt_old_hint(cli, RT_USAGE, "Known formats: retake help formats");
		return rt_old_fail(cli, RT_USAGE, "there is no format \"%.40s\"", format);
	}
	st = find_files(cli, &files);
	if (st == RT_OK && m.name.size > 0 && files.count > 1)
		st = rt_old_fail(cli, RT_USAGE, "--name is for one file, not for %zu", files.count);
	if (st == RT_OK && files.count == 0) {
		rt_old_hint(cli, RT_NOT_FOUND, "Name a file, or a folder that contains files: retake import FILE");
		st = rt_old_fail(cli, RT_NOT_FOUND, "there is no file in %s", rt_cli_word(cli, 0));
	}
	rt_buf_init(&m.temporary, cli->alloc, 4096);
	rt_host_temp_dir(&m.temporary);
	if (st == RT_OK)
		st = rt_old_buf(cli, &m.temporary);
	if (st == RT_OK) {
		m.begun_us = cli->env->now_us(cli->env->ctx);
		rt_buf_init(&m.json, cli->alloc, RT_BUF_UNLIMITED);
		rt_buf_add_byte(&m.json, '[');
		rt_host_hold(true); /* interrupted, take back what is written, then stop */
		for (i = 0; i < files.count && !rt_host_interrupted(); i++) {
			import_file(&m, files.items[i], files.asked[i]);
			say_progress(&m, i + 1, files.count);
		}
		rt_host_hold(false);
		if (i < files.count && m.first != RT_INTERRUPTED)
			say_not_reached(&m, files.count - i);
		if (m.progress) {
			rt_term_spaces(&cli->err, 79);
			rt_buf_add_byte(&cli->err.buf, '\r');
			rt_term_flush(&cli->err);
		}
		st = finish(&m);
		rt_buf_deinit(&m.json);
	}
	rt_buf_deinit(&m.temporary);
	paths_deinit(&files);
	return st;
}

static const rt_flag import_flags[] = {
	{"dry-run", 'n', NULL, RT_ARG_TEXT, "only say what would be added"},
	{"name", 0, "NAME", RT_ARG_TEXT, "of the discussion; default: as the file says"},
	{"format", 0, "NAME", RT_ARG_FORMAT, "do not guess what type of file it is"},
	{NULL, 0, NULL, RT_ARG_TEXT, NULL},
};

const rt_command rt_cli_import = {
	.name = "import",
	.group = RT_COMMANDS_FILES,
	.traits = RT_COMMAND_DRY_RUN,
	.min_words = 1,
	.max_words = RT_COMMAND_WORDS_ANY,
	.usage = "FILE… | -",
	.summary = "read conversations of other programs",
	.about =
		"The type of a file is found by its content, and the file is never changed. What is "
		"damaged in it is repaired or passed over, and said. Importing the same again adds only "
		"what is new. A folder stands for every file in it.",
	.examples = "retake import session.jsonl\nretake import ~/exports --dry-run\n"
		    "retake import - --format openai < messages.json",
	.flags = import_flags,
	.kinds = {RT_ARG_FILE, RT_ARG_FILE, RT_ARG_FILE},
	.run_status = run_import,
};
