/* SPDX-License-Identifier: MIT
 *
 * conformance-pi [--ui] DIR: every NAME.jsonl in DIR is read, and the result compared with
 * NAME.expect.json, which was produced by pi. Then the file is written back: a file of the
 * current version must be unchanged, byte for byte, and any file must be stable after one round.
 *
 * With --ui only the cases that expect rows of the tree screen are checked, with their rows: the
 * file is imported, and the tree is built from the resulting discussion, for each filter.
 *
 * What an expectation does not mention is not checked; unknown members of an expectation fail.
 * Last line: "N passed, N failed", N counting names. */
#define _GNU_SOURCE
#include <dirent.h>
#include <unistd.h>

#include "conformance.h"
#include "formats/formats.h"
#include "formats/pi_context_testing.h"
#include "ops/import.h"
#include "store/store_memory.h"
#include "tree/tree_reader.h"

enum { UI_WIDTH = 200, UI_ROWS = 200 };

/* A file and its results. */
typedef struct subject {
	rt_case c;
	rt_str file;
	rt_pi_session session;
	yyjson_val *wanted;
	rt_buf text; /* JSON being written */
	bool ui;     /* check the rows of the tree screen, too */
} subject;

static void
add_id_or_null(rt_buf *buf, const rt_pi_session *s, int64_t at)
{
	rt_json_add_comma(buf);
	if (at < 0 || s->entries[at].id.ptr == NULL)
		rt_buf_add_c(buf, "null");
	else
		rt_json_add_string(buf, s->entries[at].id);
}

static void
add_str_or_null(rt_buf *buf, rt_str s)
{
	if (s.ptr == NULL || s.size == 0)
		rt_buf_add_c(buf, "null");
	else
		rt_json_add_string(buf, s);
}

static void
add_path(rt_buf *buf, const rt_pi_session *s, int64_t at)
{
	size_t *path, count, i;

	if (rt_pi_session_path(rt_alloc_libc(), s, at, &path, &count) != RT_OK) {
		buf->status = RT_NOMEM;
		return;
	}
	rt_buf_add_byte(buf, '[');
	for (i = 0; i < count; i++)
		add_id_or_null(buf, s, (int64_t)path[i]);
	rt_buf_add_byte(buf, ']');
	rt_free(rt_alloc_libc(), path);
}

static void
add_model(rt_buf *buf, const rt_pi_context *context)
{
	if (!context->has_model) {
		rt_buf_add_c(buf, "null");
		return;
	}
	rt_buf_add_byte(buf, '{');
	if (context->provider.ptr != NULL) {
		rt_json_add_key(buf, "provider");
		rt_json_add_string(buf, context->provider);
	}
	if (context->model.ptr != NULL) {
		rt_json_add_key(buf, "modelId");
		rt_json_add_string(buf, context->model);
	}
	rt_buf_add_byte(buf, '}');
}

static void
add_messages(rt_buf *buf, const rt_pi_session *s, const rt_pi_context *context)
{
	size_t i;

	rt_buf_add_byte(buf, '[');
	for (i = 0; i < context->item_count; i++)
		if (rt_pi_context_add(buf, rt_alloc_libc(), s, &context->items[i], NULL) != RT_OK)
			buf->status = RT_NOMEM;
	rt_buf_add_byte(buf, ']');
}

/* The roles of the messages as in the file. */
static void
add_roles(rt_buf *buf, const rt_pi_session *s, const rt_pi_context *context)
{
	rt_buf messages;
	rt_json_doc *doc;
	yyjson_val *message;
	size_t i, max;

	rt_buf_init(&messages, rt_alloc_libc(), RT_BUF_UNLIMITED);
	add_messages(&messages, s, context);
	doc = rt_parse(rt_buf_str(&messages));
	if (doc == NULL)
		buf->status = RT_CORRUPT;
	rt_buf_add_byte(buf, '[');
	yyjson_arr_foreach(doc == NULL ? NULL : rt_json_root(doc), i, max, message)
	{
		rt_json_add_comma(buf);
		rt_json_add_string(buf, rt_json_str(rt_json_get(message, "role")));
	}
	rt_buf_add_byte(buf, ']');
	rt_json_free(doc);
	rt_buf_deinit(&messages);
}

static void
add_source(rt_buf *buf, const rt_pi_session *s, const rt_pi_context *context)
{
	size_t i;

	rt_buf_add_byte(buf, '[');
	for (i = 0; i < context->item_count; i++)
		add_id_or_null(buf, s, (int64_t)context->items[i].entry);
	rt_buf_add_byte(buf, ']');
}

/* One key of a "context" or "at" object. */
static bool
add_context_part(subject *u, rt_str key, int64_t at, const rt_pi_context *context)
{
	const rt_pi_session *s = &u->session;

	rt_buf_clear(&u->text);
	if (rt_str_is(key, "path"))
		add_path(&u->text, s, at);
	else if (rt_str_is(key, "thinkingLevel"))
		add_str_or_null(&u->text, context->thinking_level);
	else if (rt_str_is(key, "model"))
		add_model(&u->text, context);
	else if (rt_str_is(key, "source"))
		add_source(&u->text, s, context);
	else if (rt_str_is(key, "roles"))
		add_roles(&u->text, s, context);
	else if (rt_str_is(key, "messages"))
		add_messages(&u->text, s, context);
	else
		return false;
	return true;
}

static void
check_context(subject *u, const char *what, int64_t at, yyjson_val *wanted)
{
	rt_pi_context context;
	yyjson_val *key, *value;
	size_t i, max;
	char name[160];

	if (!rt_check(&u->c,
		      rt_pi_context_init(rt_alloc_libc(), &u->session, at, &context) == RT_OK,
		      "%s: no context", what))
		return;
	rt_check(&u->c, yyjson_is_obj(wanted) && yyjson_obj_size(wanted) > 0,
		 "%s: the expectation is empty", what);
	rt_json_foreach(wanted, i, max, key, value)
	{
		snprintf(name, sizeof(name), "%s: %s", what, yyjson_get_str(key));
		if (add_context_part(u, rt_json_str(key), at, &context))
			rt_check_json(&u->c, name, &u->text, value);
		else
			rt_check(&u->c, false, "%s: a check that is not known", name);
	}
	rt_pi_context_deinit(&context);
}

static void
check_at(subject *u, yyjson_val *wanted)
{
	yyjson_val *key, *value;
	size_t i, max;
	char name[120];

	rt_json_foreach(wanted, i, max, key, value)
	{
		int64_t at = rt_pi_session_find(&u->session, rt_json_str(key));

		snprintf(name, sizeof(name), "at %.80s", yyjson_get_str(key));
		if (rt_check(&u->c, at >= 0, "%s: not found", name))
			check_context(u, name, at, value);
	}
}

/* Writes id[label](child,child…), roots separated by commas; not recursive. */
static void
add_tree(rt_buf *buf, const rt_pi_session *s)
{
	struct level {
		const size_t *children;
		size_t count, at;
	} *levels = malloc((s->entry_count + 1) * sizeof(*levels));
	rt_pi_tree tree;
	size_t depth = 1;

	if (levels == NULL || rt_pi_tree_init(rt_alloc_libc(), s, true, &tree) != RT_OK) {
		free(levels);
		buf->status = RT_NOMEM;
		return;
	}
	levels[0].children = rt_pi_tree_children(&tree, -1, &levels[0].count);
	levels[0].at = 0;
	while (depth > 0) {
		struct level *l = &levels[depth - 1];
		const rt_pi_entry *e;

		if (l->at == l->count) {
			if (--depth > 0)
				rt_buf_add_byte(buf, ')');
			continue;
		}
		if (l->at > 0)
			rt_buf_add_byte(buf, ',');
		e = &s->entries[l->children[l->at]];
		rt_buf_add_str(buf, e->id);
		if (e->label.size > 0) {
			rt_buf_add_byte(buf, '[');
			rt_buf_add_str(buf, e->label);
			rt_buf_add_byte(buf, ']');
		}
		l[1].children = rt_pi_tree_children(&tree, (int64_t)l->children[l->at++],
						    &l[1].count);
		l[1].at = 0;
		if (l[1].count > 0) {
			rt_buf_add_byte(buf, '(');
			depth++;
		}
	}
	rt_pi_tree_deinit(&tree);
	free(levels);
}

static void
add_tree_json(rt_buf *buf, const rt_pi_session *s)
{
	rt_buf tree;

	rt_buf_init(&tree, rt_alloc_libc(), RT_BUF_UNLIMITED);
	add_tree(&tree, s);
	rt_json_add_string(buf, rt_buf_str(&tree));
	if (tree.status != RT_OK)
		buf->status = tree.status;
	rt_buf_deinit(&tree);
}

static void
add_labels(rt_buf *buf, const rt_pi_session *s)
{
	const rt_pi_label *labels;
	rt_scope scope;
	size_t count;

	rt_scope_init(&scope, rt_alloc_libc());
	labels = rt_pi_session_labels(&scope, s, &count);
	rt_buf_add_byte(buf, '{');
	for (size_t i = 0; i < count; i++) {
		rt_json_add_key_str(buf, labels[i].target);
		rt_json_add_string(buf, labels[i].text);
	}
	rt_buf_add_byte(buf, '}');
	rt_scope_deinit(&scope);
}

static void
add_entries(rt_buf *buf, const rt_pi_session *s)
{
	size_t i;

	rt_buf_add_byte(buf, '[');
	for (i = 0; i < s->entry_count; i++)
		add_id_or_null(buf, s, (int64_t)i);
	rt_buf_add_byte(buf, ']');
}

/* pi migrates every older file in memory; a newer one is left unchanged. */
static void
add_version(rt_buf *buf, const rt_pi_session *s)
{
	rt_buf_add_i64(buf, s->version < RT_PI_VERSION ? RT_PI_VERSION : s->version);
}

static void
check_key(subject *u, yyjson_val *key, yyjson_val *value)
{
	const rt_pi_session *s = &u->session;
	rt_str name = rt_json_str(key);

	rt_buf_clear(&u->text);
	/* "fileChanged": whether pi changes a file while opening it; we never do, and check
	 * that. "ui" is checked last. */
	if (rt_str_is(name, "open") || rt_str_is(name, "fileChanged") || rt_str_is(name, "ui"))
		return;
	if (rt_str_is(name, "context")) {
		check_context(u, "context", s->leaf, value);
		return;
	}
	if (rt_str_is(name, "at")) {
		check_at(u, value);
		return;
	}
	if (rt_str_is(name, "sessionId"))
		add_str_or_null(&u->text, s->id);
	else if (rt_str_is(name, "version"))
		add_version(&u->text, s);
	else if (rt_str_is(name, "leaf"))
		add_id_or_null(&u->text, s, s->leaf);
	else if (rt_str_is(name, "name"))
		add_str_or_null(&u->text, s->name);
	else if (rt_str_is(name, "entries"))
		add_entries(&u->text, s);
	else if (rt_str_is(name, "path"))
		add_path(&u->text, s, s->leaf);
	else if (rt_str_is(name, "tree"))
		add_tree_json(&u->text, s);
	else if (rt_str_is(name, "labels"))
		add_labels(&u->text, s);
	else
		rt_check(&u->c, false, "%s: a check that is not known", yyjson_get_str(key));
	if (u->text.size > 0)
		rt_check_json(&u->c, yyjson_get_str(key), &u->text, value);
}

/* Reads bytes in a format and writes them again. */
static bool
round_trip(rt_case *c, rt_str bytes, rt_buf *out)
{
	const rt_export_options options = {.whole = true};
	rt_outlines outlines;
	rt_error err;
	rt_status st;

	memset(&err, 0, sizeof(err));
	st = rt_format_pi.read(rt_alloc_libc(), bytes, &outlines, NULL, &err);
	if (!rt_check(c, st == RT_OK, "cannot be imported: %s", err.text))
		return false;
	st = rt_format_pi.write(rt_alloc_libc(), &outlines, &options, out, &err);
	rt_outlines_deinit(&outlines);
	return rt_check(c, st == RT_OK, "cannot be exported: %s", err.text);
}

static void
check_round_trip(subject *u)
{
	rt_buf first, second;

	rt_buf_init(&first, rt_alloc_libc(), RT_BUF_UNLIMITED);
	rt_buf_init(&second, rt_alloc_libc(), RT_BUF_UNLIMITED);
	if (round_trip(&u->c, u->file, &first) && round_trip(&u->c, rt_buf_str(&first), &second)) {
		if (u->session.version >= RT_PI_VERSION)
			rt_check(&u->c, rt_str_eq(rt_buf_str(&first), u->file),
				 "written back it is not the file that was read");
		rt_check(&u->c, rt_str_eq(rt_buf_str(&first), rt_buf_str(&second)),
			 "written back twice it is not the same");
	}
	rt_check(&u->c, rt_format_sniff(u->file) == &rt_format_pi, "not taken for a pi session");
	rt_buf_deinit(&first);
	rt_buf_deinit(&second);
}

/* ---- the tree screen ---- */

/* The session as a discussion. */
typedef struct screen {
	rt_case *c;
	rt_store *store;
	rt_engine *engine;
	const rt_project *project;
	rt_tree_reader reader;
	rt_tree *tree;
} screen;

static int64_t
no_time(void *ctx)
{
	(void)ctx;
	return 0;
}

static void
no_chance(void *ctx, void *to, size_t size)
{
	(void)ctx;
	memset(to, 1, size);
}

static bool
screen_open(screen *s, rt_case *c, rt_str file)
{
	static const rt_env env = {no_time, no_chance, NULL};
	const rt_engine_options options = {.env = &env, .create = true};
	rt_import_result result;
	rt_outlines outlines;
	rt_error err;
	rt_status st;

	memset(s, 0, sizeof(*s));
	memset(&err, 0, sizeof(err));
	s->c = c;
	st = rt_store_memory_open(rt_alloc_libc(), &env, &s->store, &err);
	if (st == RT_OK)
		st = rt_engine_open(&options, s->store, &s->engine, &err);
	if (st == RT_OK)
		st = rt_format_pi.read(rt_alloc_libc(), file, &outlines, NULL, &err);
	if (st == RT_OK) {
		st = rt_engine_import(s->engine, &outlines, RT_STR("pi"), false, &result, &err);
		rt_outlines_deinit(&outlines);
	}
	if (st == RT_OK) {
		s->project = rt_engine_value(s->engine);
		rt_tree_reader_init(&s->reader, rt_alloc_libc(), s->engine, RT_STR(""));
		s->reader.as_pi = true;
	}
	return rt_check(c, st == RT_OK, "ui: cannot be imported: %s", err.text);
}

static void
screen_close(screen *s)
{
	if (s->project != NULL)
		rt_tree_reader_deinit(&s->reader);
	rt_object_unref(s->project);
	rt_engine_close(s->engine);
	if (s->store != NULL)
		s->store->ops->close(s->store);
}

static void
check_selected(screen *s, const char *what, yyjson_val *wanted)
{
	uint32_t node = rt_tree_selected_node(s->tree);
	char id[RT_ID_MAX + 1] = "";
	rt_status st = RT_OK;

	if (node != RT_TREE_NONE)
		st = rt_entry_id(s->project, rt_tree_node_at(s->tree, node)->entry, id, NULL);
	rt_check(s->c, st == RT_OK && rt_str_eq(rt_str_of(id), rt_json_str(wanted)),
		 "%s: selected is \"%s\", should be \"%.*s\"", what, id,
		 RT_STR_ARG(rt_json_str(wanted)));
}

/* The visible rows, and the status line. */
static void
check_rows(screen *s, const char *what, yyjson_val *wanted)
{
	const rt_tree_line *lines;
	rt_buf footer;
	size_t first, count, i, max;
	yyjson_val *row;
	rt_scope scope;

	rt_scope_init(&scope, rt_alloc_libc());
	rt_buf_init(&footer, rt_alloc_libc(), RT_BUF_UNLIMITED);
	rt_tree_window(s->tree, UI_ROWS, &first, &count);
	lines = rt_tree_draw(s->tree, &scope, first, count, UI_WIDTH);
	rt_check(s->c, lines != NULL, "%s: cannot be drawn", what);
	rt_tree_add_footer(&footer, s->tree, UI_WIDTH);
	count += count == 0;
	rt_check(s->c, yyjson_arr_size(wanted) == count + 1, "%s: %zu rows, should be %zu", what,
		 count + 1, yyjson_arr_size(wanted));
	yyjson_arr_foreach(wanted, i, max, row)
	{
		rt_str is = i < count && lines != NULL ? lines[i].text : rt_buf_str(&footer);

		rt_check(s->c, i <= count && rt_str_eq(is, rt_json_str(row)),
			 "%s: row %zu is\n  %.*s\nshould be\n  %.*s", what, i, RT_STR_ARG(is),
			 RT_STR_ARG(rt_json_str(row)));
	}
	rt_buf_deinit(&footer);
	rt_scope_deinit(&scope);
}

static void
check_filter(screen *s, rt_tree_filter filter, const char *name, yyjson_val *wanted)
{
	const rt_tree_options options = {.as_pi = true};
	bool done = false;
	char what[80];

	snprintf(what, sizeof(what), "ui: %s", name);
	if (!rt_check(s->c, wanted != NULL, "%s: nothing is expected", what) ||
	    !rt_check(s->c,
		      rt_tree_new(rt_alloc_libc(), &s->reader.source, &options, &s->tree) == RT_OK,
		      "%s: no tree", what))
		return;
	rt_tree_set_filter(s->tree, filter);
	rt_check(s->c,
		 rt_tree_reader_read(&s->reader, s->project, 0, s->tree, NULL) == RT_OK &&
			 rt_tree_learn(s->tree, SIZE_MAX, &done, NULL) == RT_OK && done,
		 "%s: the tree cannot be made", what);
	rt_tree_check(s->tree);
	check_selected(s, what, rt_json_get(wanted, "selected"));
	check_rows(s, what, rt_json_get(wanted, "rows"));
	rt_tree_free(s->tree);
}

static void
check_ui(rt_case *c, rt_str file, yyjson_val *wanted)
{
	static const char *const filters[] = {"default", "no-tools", "user-only", "labeled-only",
					      "all"};
	screen s;
	int i;

	rt_check(c, yyjson_obj_size(wanted) == RT_TREE_FILTERS, "ui: other filters are expected");
	if (screen_open(&s, c, file))
		for (i = 0; i < RT_TREE_FILTERS; i++)
			check_filter(&s, (rt_tree_filter)i, filters[i],
				     rt_json_get(wanted, filters[i]));
	screen_close(&s);
}

/* pi's message ends with the file's path on that machine. */
static void
check_error(subject *u, const rt_error *err)
{
	rt_str wanted = rt_json_str(rt_json_get(u->wanted, "message"));
	size_t colon = rt_str_find(wanted, RT_STR(": "), 0);

	if (colon != SIZE_MAX)
		wanted.size = colon;
	rt_check(&u->c, wanted.size > 0 && rt_str_is(wanted, err->text),
		 "the error is \"%s\", should be \"%.*s\"", err->text, RT_STR_ARG(wanted));
}

static void
check_subject(subject *u)
{
	rt_str open = rt_json_str(rt_json_get(u->wanted, "open"));
	rt_error err;
	yyjson_val *key, *value;
	size_t i, max;
	rt_status st;

	memset(&err, 0, sizeof(err));
	st = rt_pi_session_read(rt_alloc_libc(), u->file, NULL, &u->session, NULL, &err);
	rt_check(&u->c, rt_str_is(open, "ok") || rt_str_is(open, "error"),
		 "the expectation does not say whether it opens");
	if (!rt_check(&u->c, (st == RT_OK) == rt_str_is(open, "ok"), "opening gave %s %s",
		      rt_status_word(st), err.text)) {
		if (st == RT_OK)
			rt_pi_session_deinit(&u->session);
		return;
	}
	if (st != RT_OK) {
		check_error(u, &err);
		return;
	}
	rt_pi_session_check(&u->session);
	rt_buf_init(&u->text, rt_alloc_libc(), RT_BUF_UNLIMITED);
	rt_json_foreach(u->wanted, i, max, key, value)
	{
		check_key(u, key, value);
	}
	check_round_trip(u);
	if (u->ui)
		check_ui(&u->c, u->file, rt_json_get(u->wanted, "ui"));
	rt_buf_deinit(&u->text);
	rt_pi_session_deinit(&u->session);
}

/* *out_skipped: the case has no rows of the tree screen, which only were requested. */
static bool
run_case(const char *dir, const char *name, bool ui, bool *out_skipped)
{
	subject u;
	rt_str expect = {NULL, 0}, after = {NULL, 0};
	rt_json_doc *doc = NULL;
	char path[4096];

	memset(&u, 0, sizeof(u));
	u.c.name = name;
	u.ui = ui;
	*out_skipped = false;
	snprintf(path, sizeof(path), "%s/%s.expect.json", dir, name);
	if (rt_check(&u.c, rt_read_file(path, &expect), "cannot read %s", path))
		doc = rt_parse(expect);
	rt_check(&u.c, doc != NULL && yyjson_is_obj(rt_json_root(doc)), "no expectation");
	if (ui && doc != NULL && rt_json_get(rt_json_root(doc), "ui") == NULL) {
		*out_skipped = true;
		rt_json_free(doc);
		rt_free_file(expect);
		return true;
	}
	snprintf(path, sizeof(path), "%s/%s.jsonl", dir, name);
	if (rt_check(&u.c, rt_read_file(path, &u.file), "cannot read %s", path) && doc != NULL) {
		u.wanted = rt_json_root(doc);
		check_subject(&u);
		rt_check(&u.c, rt_read_file(path, &after) && rt_str_eq(u.file, after),
			 "the file has changed");
	}
	rt_json_free(doc);
	rt_free_file(after);
	rt_free_file(u.file);
	rt_free_file(expect);
	return rt_case_passed(&u.c);
}

/* Does file have this suffix? Then name is the part before it. */
static bool
name_of(const char *file, const char *end, char *name, size_t size)
{
	size_t length = strlen(file), end_length = strlen(end);

	if (length <= end_length || length - end_length >= size ||
	    strcmp(file + length - end_length, end) != 0)
		return false;
	memcpy(name, file, length - end_length);
	name[length - end_length] = '\0';
	return true;
}

/* A case is a session file; an expectation without one is also a case, and fails. */
static bool
is_case(const char *dir, const char *file, char *name, size_t size)
{
	char path[4096];

	if (name_of(file, ".jsonl", name, size))
		return true;
	if (!name_of(file, ".expect.json", name, size))
		return false;
	snprintf(path, sizeof(path), "%s/%s.jsonl", dir, name);
	return access(path, F_OK) != 0;
}

int
main(int argc, char **argv)
{
	struct dirent **files = NULL;
	char name[256];
	size_t passed = 0, failed = 0;
	bool ui = argc == 3 && strcmp(argv[1], "--ui") == 0, skipped;
	const char *dir = argv[argc - 1];
	int count, i;

	if (argc != (ui ? 3 : 2)) {
		fprintf(stderr, "usage: conformance-pi [--ui] DIR\n");
		return 2;
	}
	count = scandir(dir, &files, NULL, alphasort);
	if (count < 0) {
		perror(dir);
		return 2;
	}
	for (i = 0; i < count; i++) {
		if (is_case(dir, files[i]->d_name, name, sizeof(name))) {
			if (run_case(dir, name, ui, &skipped))
				passed += !skipped;
			else
				failed++;
		}
		free(files[i]);
	}
	free(files);
	printf("%zu passed, %zu failed\n", passed, failed);
	return failed == 0 && passed > 0 ? 0 : 1;
}
