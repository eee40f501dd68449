/* SPDX-License-Identifier: MIT
 *
 * conformance-import [--damaged COUNT] MANIFEST EXPECTED: every file of the manifest is imported into a store
 * with the format that recognises its content, and what the store then contains is counted and compared
 * with the facts in EXPECTED (import_facts.h). For agents, whose facts count the records of the file rather than
 * what a user sees, see import_records.c.
 *
 * A fact under the name of a folder ("opencode/storage_legacy/") is that of all files in it, which are
 * imported together, by the program $RETAKE. A file that must have no conversations passes if none is
 * found in it. Conversations that are expected to be unreadable are not counted.
 *
 * Every conversation is also written in every format, read and written again, which must give the
 * same bytes.
 *
 * A file with facts that no format reads has failed, as has one that another format takes for its own.
 *
 * With --damaged, COUNT beginnings and COUNT mutations of each file are tried instead (import_damaged.c).
 *
 * ONLY in the environment is a part of the names of the files to be tried.
 *
 * Last line: "N passed, N failed, N skipped", N counting files. Status 0: none failed. */
#define _GNU_SOURCE /* mkdtemp */
#include <fcntl.h>
#include <limits.h>
#include <sys/wait.h>
#include <unistd.h>


#include "app/host.h"
#include "import_facts.h"
#include "llm/system_host.h"
#include "ops/export.h"
#include "ops/import.h"
#include "store/store_memory.h"

enum { SURE_ENOUGH = 50 };

typedef enum outcome { PASSED, FAILED, SKIPPED } outcome;

/* ---- what the store has ---- */

typedef struct imported {
	rt_store *store;
	rt_engine *engine;
	const rt_project *project;
	rt_outlines outlines;
	bool has_outlines;
} imported;

static rt_status
import_all(imported *i, const rt_outlines *outlines, rt_error *err)
{
	rt_engine_options options = {.env = rt_system_env(), .create = true};
	rt_import_result result;
	rt_status st = rt_store_memory_open(rt_alloc_libc(), rt_system_env(), &i->store, err);

	if (st == RT_OK)
		st = rt_engine_open(&options, i->store, &i->engine, err);
	if (st == RT_OK)
		st = rt_engine_import(i->engine, outlines, RT_STR(""), false, &result, err);
	if (st == RT_OK) {
		i->project = rt_engine_value(i->engine);
		st = rt_engine_export(i->engine, i->project, (rt_place){0}, true, &i->outlines, err);
	}
	i->has_outlines = st == RT_OK;
	return st;
}

static void
imported_free(imported *i)
{
	if (i->has_outlines)
		rt_outlines_deinit(&i->outlines);
	if (i->project != NULL)
		rt_object_unref(i->project);
	rt_engine_close(i->engine);
	if (i->store != NULL)
		i->store->ops->close(i->store);
}

/* ---- comparison ---- */

/* The next expected conversation that can be read; *bad counts the others, also those that are empty. */
static yyjson_val *
next_readable(rt_json_iter *expected, uint64_t *bad, size_t *empty)
{
	while (rt_json_next(expected)) {
		if (*empty > 0 && rt_str_is(rt_json_str(rt_json_get(expected->value, "nodes")), "0"))
			--*empty;
		else if (rt_json_get(expected->value, "error") == NULL)
			return expected->value;
		++*bad;
	}
	return NULL;
}

/* Only the messages of Codex, each after the message above it. */
static void
only_messages(const rt_format *format, const rt_outline *o, rt_outline *out)
{
	int64_t *place = calloc(o->node_count + 1, sizeof(*place));
	rt_buf scratch;

	*out = *o;
	out->node_count = 0;
	out->nodes = calloc(o->node_count + 1, sizeof(*out->nodes));
	if (place == NULL || out->nodes == NULL)
		abort();
	rt_buf_init(&scratch, rt_alloc_libc(), RT_BUF_UNLIMITED);
	for (size_t i = 0; i < o->node_count; i++) {
		yyjson_val *record, *payload;
		rt_body body;

		place[i] = o->nodes[i].parent < 0 ? -1 : place[o->nodes[i].parent];
		if (!read_body(&o->nodes[i], &scratch, &body))
			continue;
		record = kept_record(format, &body);
		payload = rt_json_get(record, "payload");
		if (rt_json_text(yyjson_is_obj(payload) ? payload : record, "role").size > 0 ||
		    rt_is_word(rt_json_text(payload, "type"), "user_message agent_message")) {
			out->nodes[out->node_count] = o->nodes[i];
			out->nodes[out->node_count].parent = place[i];
			place[i] = (int64_t)out->node_count++;
		}
		rt_body_deinit(&body);
	}
	out->has_head = true;
	out->head = o->head < 0 ? -1 : place[o->head];
	rt_buf_deinit(&scratch);
	free(place);
}

/* Counts a discussion, and compares what no count shows. */
static void
count_discussion(rt_case *c, const char *where, yyjson_val *wanted, const rt_format *format,
		 const rt_outline *o, facts *f, rt_arena *arena)
{
	check_takes(c, where, o);
	if (strcmp(format->name, "claude-code") == 0) {
		records r;

		records_make(&r, format, o, arena);
		count_outline(format, &r.outline, f, arena);
		f->orphans += r.orphans;
		check_records(c, where, &r, o);
		check_kept(c, where, wanted, format, o);
		records_free(&r);
	} else if (strcmp(format->name, "codex") == 0) {
		rt_outline messages;

		only_messages(format, o, &messages);
		count_outline(format, &messages, f, arena);
		check_kept(c, where, wanted, format, o);
		free(messages.nodes);
	} else {
		count_outline(format, o, f, arena);
	}
}

static void
check_outlines(rt_case *c, const rt_format *format, const rt_outlines *outlines, size_t empty, yyjson_val *wanted)
{
	facts all;
	rt_arena *arena = rt_arena_new(rt_alloc_libc());
	rt_json_iter expected = rt_json_items(rt_json_get(wanted, "conversations"));
	uint64_t bad = 0;
	size_t i;

	if (arena == NULL)
		abort();
	facts_init(&all);
	for (i = 0; i < outlines->count; i++) {
		const rt_outline *o = &outlines->items[i];
		yyjson_val *one = next_readable(&expected, &bad, &empty);
		char where[40];
		facts f;

		facts_init(&f);
		snprintf(where, sizeof(where), "conversation %zu", i);
		count_discussion(c, where, one, format, o, &f, arena);
		if (rt_check(c, one != NULL, "%s: not expected", where))
			check_conversation(c, where, one, format, o, &f);
		facts_add(&all, &f);
		facts_deinit(&f);
	}
	for (i = 0; next_readable(&expected, &bad, &empty) != NULL; i++)
		;
	rt_check(c, i == 0, "%zu conversations are missing", i);
	rt_check(c, empty == 0, "%zu conversations that are not empty were left out", empty);
	all.conversations += bad; /* the totals count them */
	wanted = rt_json_get(wanted, "totals");
	rt_check(c, wanted != NULL, "no totals to compare with");
	/* totals have no node and root counts */
	check_counts(c, "all", wanted, &all);
	facts_deinit(&all);
	rt_arena_free(arena);
}

/* ---- files ---- */

/* Is the format that of the tool, which the manifest names with underscores? */
static bool
is_format_of(const rt_format *format, const char *tool)
{
	size_t i = 0;

	if (strcmp(tool, "openai_messages") == 0)
		return strcmp(format->name, "openai") == 0;
	while (tool[i] != '\0' && (tool[i] == '_' ? '-' : tool[i]) == format->name[i])
		i++;
	return tool[i] == '\0' && format->name[i] == '\0';
}

const rt_format *
detect(rt_str file)
{
	rt_input in = rt_input_of(&file);
	const rt_format *format;
	rt_str head;
	rt_scope s;

	rt_scope_init(&s, rt_alloc_libc());
	format = rt_format_detect(&s, &in, &head);
	if (format != NULL && (format->read == NULL ||
			       (format->examine == NULL && format->sniff(head) < SURE_ENOUGH)))
		format = NULL;
	rt_scope_deinit(&s);
	return format;
}

static bool
has_conversations(yyjson_val *wanted)
{
	uint64_t count = 0;

	return !rt_json_u64(rt_json_get(rt_json_get(wanted, "totals"), "conversations"), &count) ||
	       count > 0;
}

static outcome
finish(rt_case *c, const char *format)
{
	bool passed = rt_case_passed(c);

	if (!passed)
		printf("%s: failed as %s\n", c->name, format);
	return passed ? PASSED : FAILED;
}

void
check_stored(rt_case *c, const rt_outlines *outlines)
{
	imported i = {0};
	rt_error err = {.text = ""};

	rt_check(c, import_all(&i, outlines, &err) == RT_OK, "read, but not imported: %s", err.text);
	imported_free(&i);
}

void
check_written(rt_case *c, const rt_format *format, const rt_outlines *in)
{
	const rt_alloc *alloc = rt_alloc_libc();
	rt_outlines again;
	rt_buf first, second;
	rt_error err = {.text = ""};

	rt_buf_init(&first, alloc, RT_BUF_UNLIMITED);
	rt_buf_init(&second, alloc, RT_BUF_UNLIMITED);
	if (rt_check(c, format->write(alloc, in, NULL, &first, &err) == RT_OK, "not written as %s: %s",
		     format->name, err.text) &&
	    format->read != NULL &&
	    rt_check(c, format->read(alloc, rt_buf_str(&first), &again, NULL, &err) == RT_OK,
		     "not read again as %s: %s", format->name, err.text)) {
		/* Without entries that the format represents, it is left out. */
		bool is_same = (again.count == 0 && is_importer(format)) ||
			       (format->write(alloc, &again, NULL, &second, &err) == RT_OK &&
				rt_str_eq(rt_buf_str(&first), rt_buf_str(&second)));

		rt_check(c, is_same, "as %s it is not the same the second time (%zu bytes, %zu) %s",
			 format->name, first.size, second.size, err.text);
		rt_outlines_deinit(&again);
	}
	rt_buf_deinit(&first);
	rt_buf_deinit(&second);
}

/* Every conversation of the file in every format that is written. */
static void
check_all_written(rt_case *c, const rt_outlines *outlines)
{
	for (size_t i = 0; i < outlines->count; i++) {
		rt_outlines one = {.items = &outlines->items[i], .count = 1};

		for (size_t k = 0; rt_formats[k] != NULL; k++)
			if (rt_formats[k]->write != NULL)
				check_written(c, rt_formats[k], &one);
	}
}

static outcome
run_text(rt_case *c, const char *tool, rt_str file, yyjson_val *wanted)
{
	const rt_format *format = detect(file);
	rt_outlines outlines;
	rt_report report;
	imported i = {0};
	rt_error err = {.text = ""};
	rt_status st;

	if (format == NULL) {
		rt_check(c, !has_conversations(wanted), "not read yet");
		return finish(c, "no format");
	}
	rt_check(c, is_format_of(format, tool), "mistaken for %s", format->name);
	rt_report_init(&report, rt_alloc_libc());
	st = format->read(rt_alloc_libc(), file, &outlines, &report, &err);
	if (rt_check(c, st == RT_OK, "taken for %s, but: %s", format->name, err.text)) {
		/* Every new store contains an empty discussion. */
		st = import_all(&i, &outlines, &err);
		i.outlines.count = outlines.count == 0 ? 0 : i.outlines.count;
		if (rt_check(c, st == RT_OK, "read, but not imported: %s", err.text))
			check_outlines(c, format, &i.outlines, report.empty, wanted);
		if (st == RT_OK)
			check_all_written(c, &i.outlines);
		check_all_written(c, &outlines);
		imported_free(&i);
		rt_outlines_deinit(&outlines);
	}
	rt_report_deinit(&report);
	return finish(c, format->name);
}

static outcome
run_file(const char *path, const char *tool, const char *name, yyjson_val *wanted)
{
	rt_case c = {.name = name};
	outcome result;
	rt_str file = RT_STR("");

	if (wanted == NULL) {
		printf("%s: skipped, nothing is expected of it\n", name);
		return SKIPPED;
	}
	if (!rt_check(&c, rt_read_file(path, &file), "cannot be opened"))
		return FAILED;
	result = run_text(&c, tool, file, wanted);
	rt_free_file(file);
	return result;
}

/* Damaged copies of a file; one without a format is skipped. */
static outcome
run_damaged(const char *path, const char *name, const char *count)
{
	rt_case c = {.name = name};
	const rt_format *format;
	rt_str file = RT_STR("");

	if (!rt_check(&c, rt_read_file(path, &file), "cannot be opened"))
		return FAILED;
	format = detect(file);
	if (format != NULL)
		check_damaged(&c, format, file, count);
	rt_free_file(file);
	return format == NULL ? SKIPPED : finish(&c, format->name);
}

/* Runs the program in its own home; its output goes to a file. True: it succeeded. */
static bool
run_retake(const char *home, const char *const *words, const char *output)
{
	int status = 1;
	pid_t child = fork();

	if (child == 0) {
		int to = open(output, O_WRONLY | O_CREAT | O_TRUNC, 0600);

		if (to >= 0 && dup2(to, 1) == 1 && setenv("HOME", home, 1) == 0 && chdir(home) == 0)
			execv(words[0], (char *const *)(uintptr_t)(const void *)words);
		_exit(127);
	}
	return child > 0 && waitpid(child, &status, 0) == child && status == 0;
}

static bool
export_folder(const char *retake, const char *home, const char *path, rt_str *out)
{
	const char *const import[] = {retake, "import", "--db", "a.db", path, NULL};
	const char *const export[] = {retake, "export", "--db", "a.db", "--format", "canonical", NULL};
	char file[60];
	bool ok;

	snprintf(file, sizeof(file), "%s/export.json", home);
	ok = run_retake(home, import, file) && run_retake(home, export, file) && rt_read_file(file, out);
	(void)unlink(file);
	for (size_t i = 0; i < 3; i++) {
		static const char *const names[] = {"a.db", "a.db-wal", "a.db-shm"};

		snprintf(file, sizeof(file), "%s/%s", home, names[i]);
		(void)unlink(file);
	}
	(void)rmdir(home);
	return ok;
}

/* Imports a folder with the program, and reads what it exports. */
static outcome
run_folder(const char *path, const char *tool, const char *name, yyjson_val *wanted)
{
	const char *retake = getenv("RETAKE");
	char home[] = "/tmp/conformance-XXXXXX", full[PATH_MAX], program[PATH_MAX];
	rt_case c = {.name = name};
	const rt_format *format = NULL;
	rt_outlines outlines;
	rt_error err = {.text = ""};
	rt_str text;

	for (size_t i = 0; rt_formats[i] != NULL; i++)
		if (is_format_of(rt_formats[i], tool))
			format = rt_formats[i];
	if (!rt_check(&c, retake != NULL && realpath(retake, program) != NULL, "no program in RETAKE") ||
	    !rt_check(&c, realpath(path, full) != NULL, "there is no such folder") ||
	    !rt_check(&c, format != NULL, "not read yet") || mkdtemp(home) == NULL)
		return FAILED;
	if (rt_check(&c, export_folder(program, home, full, &text), "not read yet")) {
		if (rt_check(&c, rt_format_canonical.read(rt_alloc_libc(), text, &outlines, NULL, &err) ==
					 RT_OK,
			     "%s", err.text)) {
			check_outlines(&c, format, &outlines, 0, wanted);
			rt_outlines_deinit(&outlines);
		}
		rt_free_file(text);
	}
	return finish(&c, format->name);
}

/* ---- the manifest ---- */

/* The second column of the manifest's next line, as a separate string, and the first; NULL: end.
 * Modifies the text. */
static char *
next_name(char **text, char **out_tool)
{
	char *line, *end, *tab;

	do {
		line = *text;
		if (*line == '\0')
			return NULL;
		end = strchr(line, '\n');
		*text = end == NULL ? line + strlen(line) : end + 1;
		if (end != NULL)
			*end = '\0';
		tab = strchr(line, '\t');
	} while (tab == NULL || strncmp(line, "tool\t", 5) == 0);
	*out_tool = line;
	*tab = '\0';
	line = tab + 1;
	tab = strchr(line, '\t');
	if (tab != NULL)
		*tab = '\0';
	return line;
}

/* The key of a folder with facts that contains the file; NULL: none. */
static const char *
folder_of(yyjson_val *files, const char *name)
{
	for (rt_json_iter m = rt_json_members(files); rt_json_next(&m);)
		if (m.key.size > 0 && m.key.ptr[m.key.size - 1] == '/' &&
		    rt_str_starts(rt_str_of(name), m.key))
			return m.key.ptr;
	return NULL;
}

/* wanted: the facts of this file, or of this folder. */
static outcome
run_sample(const char *root, const char *tool, const char *name, yyjson_val *wanted, bool is_folder)
{
	char path[4096];

	snprintf(path, sizeof(path), "%s/%s", root, name);
	return is_folder ? run_folder(path, tool, name, wanted) : run_file(path, tool, name, wanted);
}

int
main(int argc, char **argv)
{
	rt_str manifest, expected;
	rt_json_doc *doc;
	yyjson_val *files;
	size_t counts[3] = {0, 0, 0};
	const char *name, *folder;
	char *at, *tool, *slash;
	char before[4096] = "";
	outcome last = SKIPPED;
	const char *damaged = argc > 2 && strcmp(argv[1], "--damaged") == 0 ? argv[2] : NULL;
	const char *only = getenv("ONLY");

	argc -= damaged != NULL ? 2 : 0;
	argv += damaged != NULL ? 2 : 0;
	if (argc != 3) {
		fprintf(stderr, "usage: conformance-import [--damaged COUNT] MANIFEST EXPECTED\n");
		return 2;
	}
	if (!rt_read_file(argv[1], &manifest) || !rt_read_file(argv[2], &expected)) {
		fprintf(stderr, "conformance-import: cannot read %s or %s\n", argv[1], argv[2]);
		return 2;
	}
	doc = rt_parse(expected);
	files = rt_json_get(rt_json_root(doc), "files");
	if (files == NULL) {
		fprintf(stderr, "conformance-import: %s has no \"files\"\n", argv[2]);
		return 2;
	}
	slash = strrchr(argv[1], '/');
	if (slash != NULL)
		*slash = '\0';
	at = (char *)(uintptr_t)(const void *)manifest.ptr;
	while ((name = next_name(&at, &tool)) != NULL) {
		yyjson_val *wanted = rt_json_get(files, name);

		if (only != NULL && strstr(name, only) == NULL)
			continue;
		if (damaged != NULL) {
			snprintf(before, sizeof(before), "%s/%s", slash == NULL ? "." : argv[1], name);
			counts[run_damaged(before, name, damaged)]++;
			continue;
		}
		folder = wanted == NULL ? folder_of(files, name) : NULL;
		if (folder != NULL)
			name = folder;
		if (folder == NULL || strcmp(before, name) != 0)
			last = run_sample(slash == NULL ? "." : argv[1], tool, name,
					  folder != NULL ? rt_json_get(files, name) : wanted,
					  folder != NULL);
		snprintf(before, sizeof(before), "%s", name);
		counts[last]++;
	}
	rt_json_free(doc);
	rt_free_file(expected);
	rt_free_file(manifest);
	printf("%zu passed, %zu failed, %zu skipped\n", counts[PASSED], counts[FAILED],
	       counts[SKIPPED]);
	return counts[FAILED] == 0 && counts[PASSED] > 0 ? 0 : 1;
}
