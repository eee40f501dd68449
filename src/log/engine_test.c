/* SPDX-License-Identifier: MIT
 *
 * The engine on a log that another program has changed. A newer version continued it: the known part is
 * shown, nothing is written, and the unknown rows are reported. The project was deleted. */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "log/checkpoint.h"
#include "log/engine_testing.h"
#include "log/folder_testing.h"
#include "log/fsck.h"
#include "log/repair.h"
#include "store/store_memory.h"
#include "store/store_sqlite.h"
#include "view/search.h"
#include "view/view.h"

typedef struct fixture {
	rt_store *store;
	rt_engine *engine;
	rt_buf out;
	char folder[64]; /* empty: a store in memory */
	char path[96];
} fixture;

static void
open_engine(fixture *f, bool read_only)
{
	rt_engine_options options = {.env = &env, .create = !read_only, .read_only = read_only};
	rt_error err = {0};

	if (rt_engine_open(&options, f->store, &f->engine, &err) != RT_OK)
		fail_msg("%s", err.text);
}

static void
open_store(fixture *f, bool read_only)
{
	rt_store_sqlite_options file = {.create = !read_only, .read_only = read_only};
	rt_error err = {0};

	if (rt_store_sqlite_open(rt_alloc_libc(), &env, f->path, &file, &f->store, &err) != RT_OK)
		fail_msg("%s", err.text);
}

/* *state: the kind of store. */
static int
set_up(void **state)
{
	fixture *f = test_calloc(1, sizeof(*f));

	if (strcmp(*state, "memory") == 0) {
		assert_int_equal(rt_store_memory_open(rt_alloc_libc(), &env, &f->store, NULL), RT_OK);
	} else {
		assert_true(test_folder(f->folder, sizeof(f->folder), "engine_test"));
		snprintf(f->path, sizeof(f->path), "%s/a.db", f->folder);
		open_store(f, false);
	}
	open_engine(f, false);
	rt_buf_init(&f->out, rt_alloc_libc(), RT_BUF_UNLIMITED);
	*state = f;
	return 0;
}

static int
tear_down(void **state)
{
	static const char *const ends[] = {"", "-wal", "-shm"};
	fixture *f = *state;
	char path[128];

	rt_buf_deinit(&f->out);
	rt_engine_close(f->engine);
	f->store->ops->close(f->store);
	for (size_t i = 0; f->folder[0] != '\0' && i < 3; i++) {
		snprintf(path, sizeof(path), "%s%s", f->path, ends[i]);
		(void)unlink(path);
	}
	if (f->folder[0] != '\0')
		(void)rmdir(f->folder);
	test_free(f);
	return 0;
}

static rt_status
try_apply(fixture *f, const char *json, rt_error *err)
{
	rt_result result;
	rt_status st = rt_engine_apply_text(f->engine, rt_str_of(json), RT_STR(""), RT_STR(""),
					    &result);

	if (err != NULL)
		*err = result.error;
	rt_result_deinit(&result);
	return st;
}

static void
apply(fixture *f, const char *json)
{
	rt_error err;

	if (try_apply(f, json, &err) != RT_OK)
		fail_msg("%s: %s", json, err.text);
}

static void
add(fixture *f, const char *text)
{
	char json[256];

	snprintf(json, sizeof(json), "{\"op\":\"entry.append\",\"content\":\"%s\"}", text);
	apply(f, json);
}

static uint64_t
newest(fixture *f)
{
	const rt_project *value = rt_engine_value(f->engine);
	uint64_t seq = value->seq;

	rt_object_unref(value);
	return seq;
}

/* Another process of a newer version adds a row. */
static void
append_row(fixture *f, uint64_t after, const char *data)
{
	uint64_t project = rt_engine_project_number(f->engine);
	rt_store_row row = {.data = rt_str_of(data), .at_us = 1};
	rt_error err = {0};

	if (f->store->ops->begin(f->store, &err) != RT_OK ||
	    f->store->ops->append(f->store, project, after, &row, 1, NULL, 0, NULL, &err) != RT_OK ||
	    f->store->ops->commit(f->store, &err) != RT_OK)
		fail_msg("%s", err.text);
}

#define STRANGE \
	"{\"v\":3,\"op\":\"entry.dance\",\"by\":\"cli\",\"d\":1,\"p\":[[1,3]],\"fx\":[[\"z\",1]]}"
#define KNOWN_NOTE "{\"v\":1,\"op\":\"purge\",\"by\":\"cli\",\"d\":1}"

static void
assert_shown(fixture *f, const char *wanted)
{
	const rt_project *value = rt_engine_value(f->engine);
	rt_buf texts;
	rt_json_doc *doc;
	yyjson_val *item;
	size_t i, max;

	rt_buf_clear(&f->out);
	assert_int_equal(rt_view_show(f->engine, value, (rt_place){0, 0}, &(rt_window){0}, &f->out,
				      NULL), RT_OK);
	rt_object_unref(value);
	rt_buf_init(&texts, rt_alloc_libc(), RT_BUF_UNLIMITED);
	assert_int_equal(rt_json_read(rt_alloc_libc(), rt_buf_str(&f->out), &doc, NULL), RT_OK);
	yyjson_arr_foreach(rt_json_get(rt_json_root(doc), "entries"), i, max, item)
	{
		rt_buf_add_str(&texts, rt_json_str(rt_json_get(item, "content")));
		rt_buf_add_byte(&texts, ' ');
	}
	rt_json_free(doc);
	rt_buf_add_byte(&texts, '\0');
	assert_string_equal(texts.ptr, wanted);
	rt_buf_deinit(&texts);
}

static void
assert_refused(fixture *f, uint64_t row)
{
	char part[40];
	rt_error err;
	size_t count;

	snprintf(part, sizeof(part), "row %llu", (unsigned long long)row);
	assert_true(rt_engine_newer(f->engine, &err));
	assert_int_equal(err.status, RT_TOO_NEW);
	assert_non_null(strstr(err.text, part));
	assert_non_null(strstr(err.text, "version 3"));
	assert_int_equal(try_apply(f, "{\"op\":\"entry.append\",\"content\":\"x\"}", &err), RT_TOO_NEW);
	assert_non_null(strstr(err.text, part));
	assert_non_null(strstr(err.text, "version 3"));
	assert_int_equal(try_apply(f, "{\"op\":\"undo\"}", NULL), RT_TOO_NEW);
	assert_int_equal(try_apply(f, "{\"op\":\"purge\",\"text\":\"one\"}", NULL), RT_TOO_NEW);
	assert_int_equal(rt_engine_checkpoint(f->engine, NULL), RT_TOO_NEW);
	assert_int_equal(rt_engine_rebuild(f->engine, NULL), RT_TOO_NEW);
	assert_int_equal(rt_engine_repair(f->engine, NULL, NULL, &count, NULL), RT_TOO_NEW);
}

static void
opened_before_it(void **state)
{
	fixture *f = *state;
	const rt_project *value;

	add(f, "one");
	add(f, "two");
	assert_false(rt_engine_newer(f->engine, NULL));
	rt_engine_close(f->engine);
	open_engine(f, false);
	append_row(f, 2, STRANGE);
	append_row(f, 3, KNOWN_NOTE); /* known itself, but not the row it depends on */
	rt_engine_close(f->engine);
	open_engine(f, false);
	assert_int_equal(newest(f), 2);
	assert_shown(f, "one two ");
	assert_refused(f, 3);
	assert_shown(f, "one two ");
	/* earlier states are available as always, but no later ones */
	assert_int_equal(rt_engine_value_at(f->engine, 1, &value, NULL), RT_OK);
	rt_object_unref(value);
	assert_int_equal(rt_engine_value_at(f->engine, 3, &value, NULL), RT_TOO_NEW);
	rt_buf_clear(&f->out);
	value = rt_engine_value(f->engine);
	assert_int_equal(rt_view_history(f->engine, value, 0, 0, 0, &f->out, NULL), RT_OK);
	assert_int_equal(rt_view_search(f->engine, value, &(rt_search){.query = RT_STR("two")},
					&f->out, NULL), RT_OK);
	rt_object_unref(value);
}

/* Reads the next steps of the history with their descriptions; returns where to continue. */
static rt_history_at
add_steps(fixture *f, const rt_project *value, rt_history_at at, size_t limit, rt_buf *out)
{
	rt_scope s;
	rt_view view = {&s, f->engine, value, {0, 0}};
	const rt_history_row *row;

	rt_scope_init(&s, rt_alloc_libc());
	rt_history_cursor *c = rt_history_open(&view, &at, 0);
	while (limit-- > 0 && (row = rt_history_next(c)) != NULL)
		rt_buf_add_f(out, "%llu %llu %.*s%s%s\n", (unsigned long long)row->seq,
			     (unsigned long long)row->parent, RT_STR_ARG(row->what),
			     row->is_undone ? " undone" : "", row->is_current ? " now" : "");
	at = rt_history_position(c);
	assert_int_equal(rt_scope_end(&s, NULL), RT_OK);
	return at;
}

/* Reading steps in portions gives the same as reading all at once, wherever undone ones are
 * between. */
static void
history_in_windows(void **state)
{
	fixture *f = *state;
	const rt_project *value;
	size_t limit;
	rt_buf all;

	add(f, "one");
	add(f, "two");
	add(f, "three");
	apply(f, "{\"op\":\"undo\",\"count\":2}");
	add(f, "four");
	apply(f, "{\"op\":\"setting.set\",\"key\":\"model\",\"value\":\"m\"}");
	apply(f, "{\"op\":\"undo\"}");
	value = rt_engine_value(f->engine);
	rt_buf_init(&all, rt_alloc_libc(), RT_BUF_UNLIMITED);
	(void)add_steps(f, value, (rt_history_at){0}, SIZE_MAX, &all);
	assert_true(all.size > 30);
	for (limit = 1; limit < 8; limit++) {
		rt_history_at at = {0};
		size_t before;

		rt_buf_clear(&f->out);
		do {
			before = f->out.size;
			at = add_steps(f, value, at, limit, &f->out);
		} while (f->out.size > before);
		assert_int_equal(at.seq, 0);
		assert_int_equal(f->out.size, all.size);
		assert_memory_equal(f->out.ptr, all.ptr, all.size);
	}
	rt_buf_deinit(&all);
	rt_object_unref(value);
}

/* Counts the reads of the log; the store's own function for it. */
static rt_status (*read_rows)(rt_store *store, rt_rows rows, rt_store_row_fn fn, void *ctx,
			      rt_error *err);
static size_t log_reads;

static rt_status
count_log(rt_store *store, rt_rows rows, rt_store_row_fn fn, void *ctx, rt_error *err)
{
	log_reads += rows.table == RT_STORE_LOG;
	return read_rows(store, rows, fn, ctx, err);
}

/* A jump forwards over many steps that one jump undid reads the row of that jump once, and not for
 * each of them. */
static void
jumps_far(void **state)
{
	enum { STEPS = 200 };
	fixture *f = *state;
	const rt_store_ops *ops = f->store->ops;
	rt_store_ops counting = *ops;
	int i;

	for (i = 0; i < STEPS; i++)
		add(f, "x");
	apply(f, "{\"op\":\"jump\",\"to\":2}");
	read_rows = ops->read;
	counting.read = count_log;
	f->store->ops = &counting;
	log_reads = 0;
	apply(f, "{\"op\":\"jump\",\"to\":200}");
	f->store->ops = ops;
	/* Each step for the past value, for its parent and for itself, and a few more. */
	assert_in_range(log_reads, STEPS, 3 * STEPS + 20);
}

static void
comes_while_it_is_open(void **state)
{
	fixture *f = *state;
	rt_error err;

	add(f, "one");
	append_row(f, 1, STRANGE);
	assert_false(rt_engine_newer(f->engine, NULL)); /* the project has not been read yet */
	assert_int_equal(try_apply(f, "{\"op\":\"entry.append\",\"content\":\"x\"}", &err), RT_TOO_NEW);
	assert_refused(f, 2);
	assert_int_equal(rt_engine_refresh(f->engine, &err), RT_OK);
	assert_refused(f, 2);
	assert_shown(f, "one ");
}

static void
comes_with_others(void **state)
{
	fixture *f = *state;

	add(f, "one");
	append_row(f, 1, KNOWN_NOTE);
	append_row(f, 2, STRANGE);
	assert_int_equal(rt_engine_refresh(f->engine, NULL), RT_OK);
	assert_int_equal(newest(f), 2); /* as far as possible */
	assert_refused(f, 3);
}

/* A checkpoint of a known version is used; one of an unknown version is not an error. */
static void
checkpoints(void **state)
{
	fixture *f = *state;
	rt_store *s = f->store;
	uint64_t project = rt_engine_project_number(f->engine);

	add(f, "one");
	add(f, "two");
	assert_int_equal(rt_engine_checkpoint(f->engine, NULL), RT_OK);
	add(f, "three");
	append_row(f, 3, STRANGE);
	rt_engine_close(f->engine);
	open_engine(f, false);
	assert_shown(f, "one two three ");
	assert_refused(f, 4);
	/* of row 4, by a version with another format */
	assert_int_equal(s->ops->begin(s, NULL), RT_OK);
	assert_int_equal(s->ops->write(s, rt_rows_one(RT_STORE_ROOT, project, 4),
				       RT_STR("\005R\002 and more"), NULL),
			 RT_OK);
	assert_int_equal(s->ops->commit(s, NULL), RT_OK);
	rt_engine_close(f->engine);
	open_engine(f, false);
	assert_shown(f, "one two three ");
	assert_refused(f, 4);
}

static uint64_t
checkpointed(fixture *f)
{
	uint64_t seq = 0;
	rt_status st = rt_store_get(
		f->store, rt_rows_all(RT_STORE_ROOT, rt_engine_project_number(f->engine)), NULL, &seq,
		NULL);

	assert_true(st == RT_OK || st == RT_NOT_FOUND);
	return seq;
}

/* A checkpoint is due after much work, also where few rows have it. */
static void
large_rows_are_checkpointed(void **state)
{
	enum { COUNT = 5000 };
	static rt_result results[COUNT];
	yyjson_val *requests[COUNT];
	rt_json_doc *doc = NULL;
	fixture *f = *state;

	assert_int_equal(rt_json_read(rt_alloc_libc(),
				      RT_STR("{\"op\":\"entry.append\",\"content\":\"x\"}"), &doc, NULL),
			 RT_OK);
	for (size_t i = 0; i < COUNT; i++)
		requests[i] = rt_json_root(doc);
	add(f, "one");
	assert_int_equal(checkpointed(f), 0);
	assert_int_equal(rt_engine_apply_json(f->engine, requests, COUNT, true, RT_STR(""),
					      RT_STR(""), results), RT_OK);
	for (size_t i = 0; i < COUNT; i++)
		rt_result_deinit(&results[i]);
	rt_json_free(doc);
	assert_int_equal(checkpointed(f), 2);
	add(f, "two");
	assert_int_equal(checkpointed(f), 2);
	assert_int_equal(try_apply(f, "{\"op\":\"undo\",\"count\":2}", NULL), RT_OK);
	assert_int_equal(checkpointed(f), 4);
	assert_shown(f, "one ");
}

/* A log that was replaced by a readable history can be written again. */
static void
is_not_for_ever(void **state)
{
	fixture *f = *state;
	rt_store_row row = {.data = RT_STR(KNOWN_NOTE)};
	rt_store *s = f->store;

	add(f, "one");
	append_row(f, 1, STRANGE);
	assert_int_equal(rt_engine_refresh(f->engine, NULL), RT_OK);
	assert_refused(f, 2);
	assert_int_equal(s->ops->begin(s, NULL), RT_OK);
	assert_int_equal(
		s->ops->write(s, rt_rows_one(RT_STORE_LOG, rt_engine_project_number(f->engine), 2),
			      row.data, NULL),
		RT_OK);
	assert_int_equal(s->ops->commit(s, NULL), RT_OK);
	add(f, "two");
	assert_false(rt_engine_newer(f->engine, NULL));
	assert_shown(f, "one two ");
}

static bool
keep_finding(void *ctx, const rt_finding *finding)
{
	rt_buf_add_f(ctx, "%s ", finding->id);
	return true;
}

static void
fsck_names_it(void **state)
{
	fixture *f = *state;

	add(f, "one");
	append_row(f, 1, STRANGE);
	append_row(f, 2, KNOWN_NOTE);
	for (int i = 0; i < 2; i++) {
		rt_buf_clear(&f->out);
		assert_int_equal(rt_engine_fsck(f->engine, keep_finding, &f->out, NULL), RT_OK);
		rt_buf_add_byte(&f->out, '\0');
		assert_string_equal(f->out.ptr, "log-row-too-new ");
		assert_int_equal(rt_engine_refresh(f->engine, NULL), RT_OK);
	}
	assert_refused(f, 2);
}

static char *
bytes_of(const char *path, size_t *size)
{
	FILE *file = fopen(path, "rb");
	char *bytes = test_calloc(1, 1 << 20);

	assert_non_null(file);
	*size = fread(bytes, 1, 1 << 20, file);
	fclose(file);
	return bytes;
}

/* Neither reading nor a refused change nor closing writes a byte. */
static void
leaves_the_file_alone(void **state)
{
	fixture *f = *state;
	size_t size, size_after;
	char *before, *after;

	for (int i = 0; i < 140; i++) /* enough for a checkpoint at close */
		add(f, "one");
	append_row(f, 140, STRANGE);
	assert_int_equal(rt_engine_refresh(f->engine, NULL), RT_OK);
	rt_engine_close(f->engine);
	f->store->ops->close(f->store);
	before = bytes_of(f->path, &size);
	for (int read_only = 0; read_only <= 1; read_only++) {
		const rt_project *value;

		open_store(f, read_only != 0);
		open_engine(f, read_only != 0);
		assert_int_equal(newest(f), 140);
		value = rt_engine_value(f->engine);
		rt_buf_clear(&f->out);
		assert_int_equal(rt_view_search(f->engine, value, &(rt_search){.query = RT_STR("one")},
						&f->out, NULL), RT_OK);
		rt_object_unref(value);
		if (!read_only)
			assert_refused(f, 141);
		rt_engine_close(f->engine);
		f->store->ops->close(f->store);
		after = bytes_of(f->path, &size_after);
		assert_int_equal(size, size_after);
		assert_memory_equal(before, after, size);
		test_free(after);
	}
	test_free(before);
	open_store(f, true);
	open_engine(f, true);
}

/* Another program deletes the project: nothing of it remains in memory, and nothing is written. */
static void
is_deleted_elsewhere(void **state)
{
	fixture *f = *state;
	uint64_t project = rt_engine_project_number(f->engine);
	rt_engine *dead = f->engine;
	rt_error err = {0};

	add(f, "one");
	assert_int_equal(rt_store_project_delete(f->store, project, &err), RT_OK);
	assert_false(rt_engine_is_deleted(f->engine));
	assert_int_equal(try_apply(f, "{\"op\":\"entry.append\",\"content\":\"two\"}", &err), RT_NOT_FOUND);
	assert_string_equal(err.text, "the project \"default\" was deleted");
	assert_true(rt_engine_is_deleted(f->engine));
	for (int i = 0; i < 2; i++)
		assert_int_equal(rt_engine_refresh(f->engine, &err), RT_NOT_FOUND);
	assert_int_equal(newest(f), 0);
	/* A new project of this name is another one. */
	open_engine(f, false);
	assert_true(rt_engine_project_number(f->engine) > project);
	add(f, "three");
	assert_int_equal(rt_engine_refresh(dead, &err), RT_NOT_FOUND);
	rt_engine_close(dead);
	assert_int_equal(newest(f), 1);
}

#define ON(name, kind) \
	{#name " (" kind ")", name, set_up, tear_down, (void *)(uintptr_t)kind}
#define BOTH(name) ON(name, "memory"), ON(name, "sqlite")

int
main(void)
{
	const struct CMUnitTest tests[] = {
		BOTH(opened_before_it),
		BOTH(history_in_windows),
		BOTH(jumps_far),
		BOTH(comes_while_it_is_open),
		BOTH(comes_with_others),
		BOTH(checkpoints),
		BOTH(large_rows_are_checkpointed),
		BOTH(is_not_for_ever),
		BOTH(fsck_names_it),
		BOTH(is_deleted_elsewhere),
		ON(leaves_the_file_alone, "sqlite"),
	};

	return cmocka_run_group_tests_name("engine", tests, NULL, NULL);
}
