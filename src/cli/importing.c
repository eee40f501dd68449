/* SPDX-License-Identifier: MIT
 *
 * Importing: files, one after the other, with their messages. */
#define _DEFAULT_SOURCE
#include "cli/importing.h"

#include <dirent.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "app/host.h"
#include "app/input_host.h"
#include "cli/programs.h"
#include "formats/formats.h"
#include "formats/formats_list.h"

enum {
	PROGRESS_US = 1000000, /* shown after that time */
	SCAN_TRIES = 3         /* of a file that is being written */
};

typedef rt_cli_importing importing;

/* A file that is being imported. */
typedef struct incoming {
	importing *m;
	const rt_cli_path *from;
	const char *path, *name; /* name: for messages */
	rt_file_input file;
	rt_action_file act;
	rt_action_import_options options;
	rt_report report;
	rt_action_scan scan;
	rt_import_result result;
	int64_t begun_us;
	bool is_second; /* pass */
} incoming;

/* --- progress --- */

/* Is it time to show progress, of work that began then? */
static bool
is_due(importing *m, int64_t begun_us, int64_t now)
{
	const rt_cli *cli = m->cli;

	if (!cli->err.is_tty || cli->quiet || now - begun_us < PROGRESS_US ||
	    now - m->said_us < PROGRESS_US / 5)
		return false;
	m->said_us = now;
	m->progress = true;
	return true;
}

static int64_t
now_us(const rt_cli *cli)
{
	return cli->env->now_us(cli->env->ctx);
}

/* The next output replaces the line; a carriage return in a text would be filtered. */
static void
end_progress(rt_cli *cli)
{
	rt_buf_add_byte(&cli->err.buf, '\r');
	rt_term_flush(&cli->err);
}

/* A large file takes long: shows the action, its progress and its speed. */
static void
say_part(incoming *f, const char *what, uint64_t done, uint64_t all, const char *unit)
{
	rt_cli *cli = f->m->cli;
	int64_t now = now_us(cli), passed = now - f->begun_us;
	char part[32] = "";

	if (!is_due(f->m, f->begun_us, now))
		return;
	if (all > 0)
		snprintf(part, sizeof(part), "%llu%%, ",
			 (unsigned long long)(done >= all ? 100 : done * 100 / all));
	rt_term_f(&cli->err, "%s %.40s (%s%llu %s/s) …%10s", what, f->name, part,
		  (unsigned long long)done * 1000 / (uint64_t)(passed / 1000), unit, "");
	end_progress(cli);
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

static void
say_progress(importing *m, size_t done, size_t count)
{
	rt_cli *cli = m->cli;

	if (!is_due(m, m->begun_us, now_us(cli)))
		return;
	rt_term_f(&cli->err, "%zu of %zu files …%60s", done, count, "");
	end_progress(cli);
}

/* --- one file --- */

static void
close_input(void *item)
{
	rt_file_input_close(item);
}

/* Subagents of Claude Code have a second file, agent-ID.meta.json beside agent-ID.jsonl. */
static const char *
find_companion(rt_cli *cli, const char *path)
{
	const char *slash = strrchr(path, '/'), *base = slash == NULL ? path : slash + 1;
	rt_str stem = rt_str_of(path);
	rt_buf *name = rt_scope_buf(&cli->s);

	if (strncmp(base, "agent-", 6) != 0 || stem.size < 6 ||
	    strcmp(path + stem.size - 6, ".jsonl") != 0)
		return NULL;
	rt_buf_add_f(name, "%.*s.meta.json", (int)(stem.size - 6), path);
	return rt_scope_str(&cli->s, name).ptr != NULL && access(name->ptr, R_OK) == 0 ? name->ptr
										       : NULL;
}

typedef struct names {
	rt_scope *s;
	const char **items;
	size_t count, capacity;
	bool is_followed; /* replies that are arriving are left out until they are complete */
} names;

static void
add_name(names *n, const char *name)
{
	n->items = rt_scope_grow(n->s, n->items, n->count, &n->capacity, sizeof(*n->items));
	if (n->items != NULL)
		n->items[n->count++] = name;
}

/* Is a message a reply that is not complete yet? */
static bool
is_arriving(names *n, const char *path)
{
	rt_buf *text = rt_scope_buf(n->s);
	yyjson_val *message;

	if (!n->is_followed || rt_files_read(path, text, NULL) != RT_OK)
		return false;
	message = rt_json_parse(n->s, rt_scope_str(n->s, text));
	return rt_str_is(rt_json_text(message, "role"), "assistant") &&
	       rt_json_get(message, "error") == NULL &&
	       rt_json_get(rt_json_get(message, "time"), "completed") == NULL;
}

/* The files in STORAGE/KIND/ID, and for messages the parts of each. */
static void
add_stored(names *n, rt_str storage, const char *kind, rt_str id)
{
	rt_buf *folder = rt_scope_buf(n->s);
	struct dirent **found = NULL;
	int count = -1;

	rt_buf_add_f(folder, "%.*s/%s/%.*s", RT_STR_ARG(storage), kind, RT_STR_ARG(id));
	if (rt_scope_str(n->s, folder).ptr != NULL)
		count = scandir(folder->ptr, &found, NULL, alphasort);
	for (int i = 0; i < count; i++) {
		rt_str name = rt_str_of(found[i]->d_name);
		rt_buf *path = rt_scope_buf(n->s);

		if (name.size > 5 && rt_str_eq(rt_str_skip(name, name.size - 5), RT_STR(".json"))) {
			bool is_message = strcmp(kind, "message") == 0;

			rt_buf_add_f(path, "%s/%s", folder->ptr, name.ptr);
			if (rt_scope_str(n->s, path).size > 0 && !(is_message && is_arriving(n, path->ptr)))
				add_name(n, path->ptr);
			else
				is_message = false;
			if (is_message)
				add_stored(n, storage, "part", rt_str_at(name.ptr, name.size - 5));
		}
		free(found[i]);
	}
	free(found);
}

/* The messages of a session of opencode, STORAGE/session/PROJECT/ID.json, are in further files. */
static void
find_stored(names *n, const char *path)
{
	rt_str text = rt_str_of(path);
	size_t at = rt_str_find(text, RT_STR("/session/"), 0), next = at, slash;

	for (; next != SIZE_MAX; next = rt_str_find(text, RT_STR("/session/"), at + 1))
		at = next;
	if (at == SIZE_MAX || text.size < 5 || strcmp(path + text.size - 5, ".json") != 0)
		return;
	slash = (size_t)(strrchr(path, '/') - path) + 1;
	add_stored(n, rt_str_at(path, at), "message", rt_str_at(path + slash, text.size - 5 - slash));
}

static rt_status
open_file(incoming *f)
{
	rt_scope *s = &f->m->cli->s;
	names n = {.s = s, .is_followed = f->m->follows != NULL};
	const char *companion;

	if (strcmp(f->path, "-") == 0)
		return rt_file_input_from(&f->file, 0, f->name, f->m->temporary, &s->error);
	if (f->from->parts != NULL)
		return rt_file_input_join(&f->file, f->name, f->from->parts, f->from->part_count,
					  &s->error);
	add_name(&n, f->path);
	companion = find_companion(f->m->cli, f->path);
	if (companion != NULL)
		add_name(&n, companion);
	find_stored(&n, f->path);
	if (!rt_ok(s))
		return s->status;
	return n.count > 1 ? rt_file_input_join(&f->file, f->name, n.items, n.count, &s->error)
			   : rt_file_input_open(&f->file, f->path, &s->error);
}

static bool
has_end(const char *path, const char *end)
{
	size_t size = strlen(path), end_size = strlen(end);

	return size >= end_size && strcmp(path + size - end_size, end) == 0;
}

/* The last line may be written at this moment. */
static void
end_at_line(incoming *f)
{
	rt_cli *cli = f->m->cli;

	if (f->m->follows != NULL && (has_end(f->path, ".jsonl") || has_end(f->path, ".md")))
		RT_TRY(&cli->s, rt_file_input_lines(&f->file, cli->alloc, &cli->s.error));
}

static void
open_input(incoming *f)
{
	rt_cli *cli = f->m->cli;
	rt_scope *s = &cli->s;
	rt_status st = open_file(f);

	f->file.progress = say_reading;
	f->file.progress_ctx = f;
	if (st == RT_NOT_FOUND)
		rt_cli_hint(cli, "Check the name. More: retake help import");
	else if (st == RT_USAGE)
		rt_cli_hint(cli, "To import the output of a program: PROGRAM | retake import -");
	else if (st == RT_BUSY)
		rt_cli_hint(cli, "Try again when the other program has finished with it.");
	else if (st != RT_OK)
		rt_cli_hint(cli, "Check its permissions: ls -l %s", f->path);
	if (rt_scope_note(s, st) == RT_OK)
		rt_scope_defer(s, close_input, &f->file);
	end_at_line(f);
}

/* The format of the file, from its content. */
static void
find_format(incoming *f)
{
	rt_cli *cli = f->m->cli;
	rt_scope *s = &cli->s;
	rt_str head = RT_STR("");

	f->act.format = f->m->format;
	if (f->act.format == NULL)
		f->act.format = rt_format_detect(s, &f->file.in, &head);
	if (!rt_ok(s) || (f->act.format != NULL && f->act.format->read != NULL))
		return;
	if (f->act.format != NULL) {
		rt_cli_fail(cli, RT_USAGE, "%s is %s, which Retake can export but not import",
			    f->name, f->act.format->name);
	} else if (rt_str_starts(head, RT_STR("SQLite format 3"))) {
		/* the application id of a store */
		if (head.size >= 72 && memcmp(head.ptr + 68, "RtK1", 4) == 0)
			rt_cli_hint(cli,
				    "To open a store: retake --db FILE show   To replace this store "
				    "with it: retake restore FILE");
		else
			rt_cli_hint(cli, "File types: retake help formats");
		rt_cli_fail(cli, RT_USAGE, "%s is an SQLite database, not a conversation",
			    f->name);
	} else {
		rt_cli_hint(cli, "File types: retake help formats   To set the type: --format "
				 "NAME");
		rt_cli_fail(cli, RT_USAGE,
			    head.size == 0 ? "%s is empty" : "%s: unrecognised file type", f->name);
	}
}

static bool
is_interrupted(void *ctx)
{
	(void)ctx;
	return rt_host_interrupted();
}

/* Scans the file; one that is being written, a few times. */
static void
scan(incoming *f)
{
	rt_cli *cli = f->m->cli;
	rt_scope *s = &cli->s;
	rt_apply_context with = {.stop = is_interrupted};
	rt_error err;
	rt_status st = RT_BUSY;

	if (!rt_ok(s))
		return;
	for (int i = 0; st == RT_BUSY && i < SCAN_TRIES; i++) {
		if (i > 0 && !rt_file_input_again(&f->file))
			break;
		if (i > 0)
			end_at_line(f);
		rt_report_deinit(&f->report);
		rt_report_init(&f->report, cli->alloc);
		st = rt_action_import_scan(cli->alloc, &with, &f->act, &f->file.in, &f->options,
					   &f->scan, &f->report, &err);
	}
	if (st == RT_USAGE) {
		rt_cli_hint(cli, "To set another type: --format NAME (retake help formats)");
		rt_cli_fail(cli, st, "%s (as %s): %s", f->name, f->act.format->name, err.text);
	} else if (st != RT_OK) {
		if (st == RT_BUSY)
			rt_cli_hint(cli, "Try again when the other program has finished with it.");
		s->error = err;
		rt_scope_note(s, st);
	}
	if (rt_cli_short_of_memory(cli))
		rt_scope_nomem(s);
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
		rt_term_f(&cli->out, "    %s", rt_remark_word(remark->level));
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
put_error(rt_buf *json, rt_status status, const rt_error *error)
{
	rt_json_open(json, "error", '{');
	rt_json_put_c(json, "code", rt_status_word(status));
	rt_json_put_c(json, "message", error->text);
	rt_json_close(json, '}');
}

static void
json_file(const incoming *f, rt_status status, const rt_error *error)
{
	rt_buf *json = f->m->json;
	const rt_report *report = &f->report;
	const rt_import_result *result = &f->result;

	rt_json_open(json, NULL, '{');
	if (f->m->follows != NULL) {
		rt_json_put_c(json, "event", status == RT_OK ? "imported" : "failed");
		rt_json_put_c(json, "program", f->m->follows);
	}
	rt_cli_put_bytes(f->m->cli, json, "file", rt_str_of(f->path));
	if (f->act.format != NULL)
		rt_json_put_c(json, "format", f->act.format->name);
	if (status != RT_OK) {
		put_error(json, status, error);
	} else {
		rt_import_result_put(json, result);
		if (f->m->follows != NULL) {
			rt_json_put_c(json, "discussion", result->discussion);
			rt_json_put_u64(json, "seq", result->seq);
		}
	}
	rt_report_put(json, report);
	rt_report_put_remarks(json, report);
	rt_json_close(json, '}');
}

/* " (3 hidden)", or nothing. Entries that a list does not show are part of their number, as in show. */
static const char *
hidden_words(size_t hidden, char words[32])
{
	words[0] = 0;
	if (hidden > 0)
		snprintf(words, 32, " (%zu hidden)", hidden);
	return words;
}

static void
say_empty(rt_term *out, size_t count)
{
	if (count > 0)
		rt_term_f(out, "; skipped %zu empty conversation%s", count, RT_CLI_S(count));
}

static void
say_file(const incoming *f)
{
	char words[32];
	const importing *m = f->m;
	const rt_import_result *result = &f->result;
	rt_term *out = &m->cli->out;

	if (m->cli->quiet || m->cli->json || (m->follows != NULL && m->steps == 0))
		return;
	rt_term_line(out, rt_str_of(f->path));
	rt_term_f(out, " (%s): ", f->act.format->name);
	if (result->entries == 0 && result->discussions == 0 && result->settings > 0)
		rt_term_f(out, "%s%zu setting%s of the project",
			  m->dry_run ? "would change " : "changed ", result->settings,
			  RT_CLI_S(result->settings));
	else if (result->entries == 0 && result->discussions == 0 && result->known == 0)
		rt_term_c(out, "nothing new");
	else if (result->entries == 0 && result->discussions == 0)
		rt_term_f(out, "nothing new; %zu entr%s already known", result->known,
			  result->known == 1 ? "y is" : "ies are");
	else
		rt_term_f(out, "%s%zu entr%s%s, %zu take%s, %zu discussion%s%s",
			  m->dry_run ? "would add " : "", result->entries,
			  RT_CLI_IES(result->entries), hidden_words(result->hidden, words), result->takes,
			  RT_CLI_S(result->takes), result->discussions, RT_CLI_S(result->discussions),
			  m->dry_run ? "" : " added");
	if (result->known > 0 && result->entries > 0)
		rt_term_f(out, "; %zu already known", result->known);
	if (f->report.repaired > 0)
		rt_term_f(out, "; %zu repaired", f->report.repaired);
	if (f->report.skipped > 0)
		rt_term_f(out, "; %zu skipped", f->report.skipped);
	say_empty(out, f->report.empty);
	rt_term_c(out, "\n");
	if (m->follows == NULL || m->cli->verbose) /* they would be repeated with every line */
		say_remarks(m->cli, &f->report);
}

static void
count_file(importing *m, const rt_report *report, const rt_import_result *result)
{
	m->files++;
	/* the last discussion that something was added to; else the last that was known */
	if (result->discussion[0] != 0 &&
	    (result->discussions + result->entries > 0 || m->discussions + m->entries == 0))
		snprintf(m->discussion, sizeof(m->discussion), "%s", result->discussion);
	m->discussions += result->discussions;
	m->entries += result->entries;
	m->hidden += result->hidden;
	m->takes += result->takes;
	m->known += result->known;
	m->settings += result->settings;
	m->repaired += report->repaired;
	m->skipped += report->skipped;
	m->empty += report->empty;
	m->steps += result->entries > 0 || result->discussions > 0 || result->settings > 0;
	m->seq = result->seq;
}

/* --name goes before the name in the file; a discussion without one is named after the file. */
static void
choose_name(incoming *f)
{
	const char *slash = strrchr(f->path, '/'), *base = slash == NULL ? f->path : slash + 1;
	const char *dot = strrchr(base, '.');
	rt_str name = rt_str_at(base,
				dot == NULL || dot == base ? strlen(base) : (size_t)(dot - base));

	f->options = (rt_action_import_options){.name = f->m->name,
						.dry_run = f->m->dry_run,
						.keep_active = f->m->follows != NULL || rt_cli_has(f->m->cli, "no-switch"),
						.progress = say_importing,
						.progress_ctx = f};
	if (!rt_str_is(name, "-") && rt_utf8_valid_size(name) == name.size)
		f->options.fallback = name;
}

/* Empty: it is not a file. */
static rt_str
absolute_path(rt_scope *s, const char *path)
{
	char *real = realpath(path, NULL);
	rt_str copy = real != NULL ? rt_scope_copy(s, rt_str_of(real)) : rt_str_at("", 0);

	free(real);
	return copy;
}

/* Adds the result of the scan. A refused file does not create a store. */
static void
add_file(incoming *f)
{
	importing *m = f->m;
	rt_cli *cli = m->cli;
	rt_scope *s = &cli->s;
	rt_buf *name = rt_scope_buf(s);

	if (!m->is_open)
		m->is_open = rt_cli_open(cli, m->dry_run ? RT_SESSION_LOOK : RT_SESSION_CHANGE);
	if (strcmp(f->path, "-") != 0)
		rt_utf8_repair(name, rt_str_of(f->path));
	f->act.path = rt_scope_str(s, name);
	if (rt_program_is_known(f->act.format->name) && f->from->parts == NULL)
		f->options.file = absolute_path(s, f->path);
	f->is_second = true;
	f->begun_us = now_us(cli);
	if (!rt_ok(s))
		return;
	rt_scope_note(s, rt_action_import(cli->session.engine,
					  rt_session_hooks_begin(&cli->session), &f->act,
					  &f->file.in, &f->options, &f->scan, &f->result,
					  &s->error));
	rt_session_hooks_end(&cli->session);
	if (s->status == RT_BUSY)
		rt_cli_hint(cli, "Try again when the other program has finished with it.");
	cli->changed = cli->changed || (rt_ok(s) && !m->dry_run);
}

void
rt_cli_import_file(rt_cli_importing *m, const rt_cli_path *p)
{
	rt_cli *cli = m->cli;
	incoming f = {.m = m,
		      .from = p,
		      .path = p->name,
		      .name = strcmp(p->name, "-") == 0 ? "standard input" : p->name,
		      .begun_us = now_us(cli)};
	bool is_unknown;
	rt_error error = {0};
	rt_scope outer;
	rt_status st;

	if (m->json == NULL)
		m->json = rt_scope_buf(&cli->s);
	rt_cli_begin_part(cli, &outer);
	rt_report_init(&f.report, cli->alloc);
	choose_name(&f);
	f.options.source = p->source;
	open_input(&f);
	if (rt_ok(&cli->s))
		find_format(&f);
	/* In a folder there may be anything. */
	scan(&f);
	is_unknown = cli->s.status == RT_USAGE && !p->is_explicit &&
		     (f.act.format == NULL || f.act.format->is_container);
	if (rt_ok(&cli->s))
		add_file(&f);
	st = rt_cli_end_part(cli, &outer, &error);
	if (is_unknown) {
		m->unknown++;
		if (cli->verbose)
			rt_cli_note(cli, "%s", error.text);
		cli->session.hint[0] = 0;
	} else {
		json_file(&f, st, &error);
		if (st == RT_OK) {
			count_file(m, &f.report, &f.result);
			say_file(&f);
		} else if (m->first == RT_OK) {
			m->first = st;
			m->error = error;
			memcpy(m->hint, cli->session.hint, sizeof(m->hint));
		} else {
			rt_cli_note(cli, "%s", error.text);
		}
	}
	rt_action_scan_deinit(&f.scan);
	rt_report_deinit(&f.report);
}

/* --- all of them --- */

static void
say_undo(importing *m, rt_str message)
{
	char count[32] = "";

	if (m->steps > 1)
		snprintf(count, sizeof(count), " %zu", m->steps);
	rt_cli_say(m->cli, message, "step %llu - undo: %s undo%s", (unsigned long long)m->seq,
		   rt_cli_retake(m->cli), count);
}

/* Interrupted between two files. */
static void
say_not_reached(importing *m, size_t count)
{
	if (m->first != RT_OK)
		rt_cli_note(m->cli, "%s", m->error.text);
	m->first = rt_fail(&m->error, RT_INTERRUPTED, "interrupted; %zu file%s not imported", count,
			   count == 1 ? " was" : "s were");
	m->hint[0] = 0;
}

static void
print_json(const importing *m)
{
	rt_buf *json = rt_scope_buf(&m->cli->s);

	rt_json_open(json, NULL, '{');
	rt_json_put_u64(json, "discussions", m->discussions);
	rt_json_put_u64(json, "entries", m->entries);
	rt_json_put_u64(json, "hidden", m->hidden);
	rt_json_put_u64(json, "takes", m->takes);
	rt_json_put_u64(json, "known", m->known);
	rt_json_put_u64(json, "settings", m->settings);
	rt_json_put_u64(json, "repaired", m->repaired);
	rt_json_put_u64(json, "skipped", m->skipped);
	rt_json_put_u64(json, "empty", m->empty);
	rt_json_put_u64(json, "unknown_files", m->unknown);
	rt_json_put_bool(json, "dry_run", m->dry_run);
	rt_json_close(m->json, ']');
	rt_json_put_raw(json, "files", rt_scope_str(&m->cli->s, m->json));
	if (m->first != RT_OK)
		put_error(json, m->first, &m->error);
	rt_json_close(json, '}');
	rt_cli_print_json(m->cli, json);
}

static void
print_summary(importing *m)
{
	rt_cli *cli = m->cli;
	rt_term *out = &cli->out;
	rt_buf *text = rt_scope_buf(&cli->s);
	char words[32];

	if (m->files > 1 || m->unknown > 0) {
		rt_term_f(out, "%zu file%s: ", m->files, RT_CLI_S(m->files));
		if (m->entries + m->discussions + m->settings == 0)
			rt_term_c(out, "nothing new");
		else
			rt_term_f(out, "%zu entr%s%s in %zu discussion%s%s", m->entries, RT_CLI_IES(m->entries),
				  hidden_words(m->hidden, words), m->discussions, RT_CLI_S(m->discussions),
				  m->dry_run ? " would be added" : "");
		say_empty(out, m->empty);
		if (m->unknown > 0)
			rt_term_f(out, "; skipped %zu file%s of unrecognised type", m->unknown,
				  RT_CLI_S(m->unknown));
		rt_term_c(out, "\n");
	}
	if (m->dry_run) {
		rt_term_c(out, "Nothing was changed.\n");
	} else if (m->entries > 0) {
		bool looked = rt_cli_look(cli);

		rt_cli_recover(cli, NULL);
		if (looked && rt_str_is(rt_cell_name(rt_project_cell(cli->session.value,
								     cli->session.value->active)),
					m->discussion)) {
			rt_buf_add_f(text, "Now in discussion \"%s\".", m->discussion);
		} else {
			rt_buf_add_c(text, "View it: ");
			rt_cli_add_advice(cli, text, RT_STR("retake use "));
			rt_args_add_quoted(text, m->discussion);
		}
		say_undo(m, rt_buf_str(text));
	} else if (m->settings > 0) {
		say_undo(m, RT_STR("Imported the project settings."));
	}
}

static void
import_files(importing *m, const rt_cli_paths *files)
{
	rt_cli *cli = m->cli;
	size_t i;

	rt_json_open(m->json, NULL, '[');
	rt_host_hold(true); /* interrupted: undo the written part, then stop */
	for (i = 0; i < files->count && !rt_host_interrupted(); i++) {
		rt_cli_import_file(m, &files->items[i]);
		say_progress(m, i + 1, files->count);
	}
	rt_host_hold(false);
	if (i < files->count && m->first != RT_INTERRUPTED)
		say_not_reached(m, files->count - i);
	if (m->progress) {
		rt_term_spaces(&cli->err, 79);
		end_progress(cli);
	}
}

void
rt_cli_paths_add(rt_cli *cli, rt_cli_paths *p, const char *name, bool is_explicit)
{
	p->items = rt_scope_grow(&cli->s, p->items, p->count, &p->capacity, sizeof(*p->items));
	if (p->items != NULL)
		p->items[p->count++] = (rt_cli_path){.name = name, .is_explicit = is_explicit};
}

/* Buffers of up to some MiB are allocated for each conversation. By default each would be new memory, which the
 * kernel has to clear. */
static void
keep_memory(void)
{
#ifdef M_MMAP_THRESHOLD
	(void)mallopt(M_MMAP_THRESHOLD, 16 << 20);
	(void)mallopt(M_TRIM_THRESHOLD, 32 << 20);
#endif
}

void
rt_cli_import_paths(rt_cli_importing *m, const rt_cli_paths *paths)
{
	rt_cli *cli = m->cli;
	rt_buf *temporary = rt_scope_buf(&cli->s);

	keep_memory();
	m->json = rt_scope_buf(&cli->s);
	m->begun_us = now_us(cli);
	rt_host_temp_dir(temporary);
	m->temporary = rt_scope_str(&cli->s, temporary).ptr;
	if (!rt_ok(&cli->s))
		return;
	import_files(m, paths);
	if (cli->json)
		print_json(m);
	else if (!cli->quiet)
		print_summary(m);
	if (m->first != RT_OK && rt_ok(&cli->s)) {
		cli->s.error = m->error;
		rt_scope_note(&cli->s, m->first);
		memcpy(cli->session.hint, m->hint, sizeof(cli->session.hint));
	}
}
