/* SPDX-License-Identifier: MIT
 *
 * Fixture of the tests of purge: a project in memory or in a file, and whether a text is still in what
 * can be read, or in the bytes of the files. */
#ifndef RT_LOG_PURGE_TESTING_H
#define RT_LOG_PURGE_TESTING_H

#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "log/checkpoint.h"
#include "log/engine_testing.h"
#include "log/folder_testing.h"
#include "log/fsck.h"
#include "log/index.h"
#include "log/purge_impl.h"
#include "store/store_memory.h"
#include "store/store_sqlite.h"
#include "view/view.h"

#define SECRET "tok-9f8e7d6c5b4a"

typedef struct fixture {
	rt_store *store;
	rt_engine *engine;
	rt_buf out;
	char folder[64]; /* empty: a store in memory */
} fixture;

static inline void
open_engine(fixture *f)
{
	rt_engine_options options = {.env = &env, .create = true};
	rt_error err = {0};

	if (rt_engine_open(&options, f->store, &f->engine, &err) != RT_OK)
		fail_msg("%s", err.text);
}

static inline void
path_of(const fixture *f, const char *name, char path[96])
{
	snprintf(path, 96, "%s/%s", f->folder, name);
}

static inline void
open_store(fixture *f, const char *name)
{
	rt_store_sqlite_options file = {.create = true};
	rt_error err = {0};
	char path[96];

	path_of(f, name, path);
	if (rt_store_sqlite_open(rt_alloc_libc(), &env, path, &file, &f->store, &err) != RT_OK)
		fail_msg("%s", err.text);
}

/* *state: the kind of store. */
static inline int
set_up(void **state)
{
	fixture *f = test_calloc(1, sizeof(*f));

	if (strcmp(*state, "memory") == 0) {
		assert_int_equal(rt_store_memory_open(rt_alloc_libc(), &env, &f->store, NULL), RT_OK);
	} else {
		assert_true(test_folder(f->folder, sizeof(f->folder), "purge_test"));
		open_store(f, "a.db");
	}
	open_engine(f);
	rt_buf_init(&f->out, rt_alloc_libc(), RT_BUF_UNLIMITED);
	*state = f;
	return 0;
}

static inline int
tear_down(void **state)
{
	static const char *const names[] = {"a.db", "a.db-wal", "a.db-shm", "b.db", "b.db-wal",
					    "b.db-shm"};
	fixture *f = *state;
	char path[96];

	rt_buf_deinit(&f->out);
	rt_engine_close(f->engine);
	f->store->ops->close(f->store);
	for (size_t i = 0; f->folder[0] != '\0' && i < sizeof(names) / sizeof(names[0]); i++) {
		path_of(f, names[i], path);
		(void)unlink(path);
	}
	if (f->folder[0] != '\0')
		(void)rmdir(f->folder);
	test_free(f);
	return 0;
}

static inline void
apply(fixture *f, const char *json)
{
	rt_result result;

	if (rt_engine_apply_text(f->engine, rt_str_of(json), RT_STR(""), RT_STR(""), &result) != RT_OK)
		fail_msg("%s: %s", json, result.error.text);
	rt_result_deinit(&result);
}

static inline rt_status
try_apply(fixture *f, const char *json, rt_result *result)
{
	return rt_engine_apply_text(f->engine, rt_str_of(json), RT_STR(""), RT_STR(""), result);
}

/* The active take and the settings as JSON. */
static inline const char *
show(fixture *f)
{
	const rt_project *project = rt_engine_value(f->engine);
	rt_place place = {0, 0};
	rt_error err = {0};

	rt_buf_clear(&f->out);
	if (rt_view_show(f->engine, project, place, NULL, &f->out, &err) != RT_OK ||
	    rt_view_settings(f->engine, project, 0, &f->out, &err) != RT_OK ||
	    rt_view_takes(f->engine, project, 0, true, &f->out, &err) != RT_OK ||
	    rt_view_discussions(f->engine, project, true, (rt_str){NULL, 0}, &f->out, &err) != RT_OK ||
	    rt_view_history(f->engine, project, 0, 0, 0, &f->out, &err) != RT_OK)
		fail_msg("%s", err.text);
	rt_object_unref(project);
	return f->out.ptr;
}

static inline bool
shows(fixture *f, const char *text)
{
	return strstr(show(f), text) != NULL;
}

/* ---- all rows of a store ---- */

static inline bool
copy_log(void *ctx, const rt_store_row *row)
{
	rt_buf_add_str(ctx, row->data);
	rt_buf_add_byte(ctx, '\n');
	return true;
}

static inline bool
copy_body(void *ctx, const rt_store_row *row)
{
	rt_buf_add_str(ctx, row->data);
	rt_buf_add_byte(ctx, '\n');
	return true;
}

static inline bool
copy_side(void *ctx, const rt_store_row *row)
{
	rt_buf_add_str(ctx, row->name);
	rt_buf_add_str(ctx, row->data);
	return true;
}

static inline bool
copy_node_number(void *ctx, const rt_store_row *row)
{
	rt_buf_add(ctx, &row->number, sizeof(row->number));
	return true;
}

static inline bool
copy_number(void *ctx, uint64_t number, uint64_t entry)
{
	rt_buf *numbers = ctx;

	(void)entry;
	rt_buf_add(numbers, &number, sizeof(number));
	return true;
}

/* Everything that can be read from the store. */
static inline bool
store_holds(fixture *f, const char *text)
{
	const rt_store_ops *ops = f->store->ops;
	uint64_t project = rt_engine_project_number(f->engine), number;
	rt_buf all, nodes;
	bool found = false;
	size_t hits;

	rt_buf_init(&all, rt_alloc_libc(), RT_BUF_UNLIMITED);
	rt_buf_init(&nodes, rt_alloc_libc(), RT_BUF_UNLIMITED);
	assert_int_equal(ops->read(f->store, rt_rows_between(RT_STORE_LOG, project, 1, UINT32_MAX),
				   copy_log, &all, NULL),
			 RT_OK);
	assert_int_equal(ops->read(f->store,
				   rt_rows_between(RT_STORE_BODIES, project, 1, UINT32_MAX),
				   copy_body, &all, NULL),
			 RT_OK);
	assert_int_equal(
		ops->read(f->store, rt_rows_all(RT_STORE_SIDE, project), copy_side, &all, NULL),
		RT_OK);
	assert_int_equal(ops->read(f->store, rt_rows_numbers(RT_STORE_NODES, project),
				   copy_node_number, &nodes, NULL),
			 RT_OK);
	for (size_t i = 0; i < nodes.size; i += sizeof(number)) {
		memcpy(&number, nodes.ptr + i, sizeof(number));
		assert_int_equal(rt_store_get(f->store,
					      rt_rows_one(RT_STORE_NODES, project, number), &all,
					      NULL, NULL),
				 RT_OK);
	}
	if (rt_store_get(f->store, rt_rows_all(RT_STORE_ROOT, project), &all, NULL, NULL) != RT_OK)
		assert_int_equal(all.status, RT_OK); /* no checkpoint yet */
	found = rt_str_find(rt_buf_str(&all), rt_str_of(text), 0) != SIZE_MAX;
	nodes.size = 0;
	assert_int_equal(ops->index_find(f->store, project, rt_str_of(text), 0,
					 copy_number, &nodes, NULL), RT_OK);
	hits = nodes.size / sizeof(number);
	rt_buf_deinit(&all);
	rt_buf_deinit(&nodes);
	return found || hits > 0;
}

/* The bytes of the files, ignoring case, because the index folds it. */
static inline bool
file_holds(fixture *f, const char *name, const char *text)
{
	char path[96], *bytes;
	size_t size = strlen(text), room, i, j;
	bool found = false;
	FILE *file;
	struct stat about;

	path_of(f, name, path);
	file = fopen(path, "rb");
	if (file == NULL)
		return false;
	assert_int_equal(fstat(fileno(file), &about), 0);
	room = (size_t)about.st_size;
	bytes = test_malloc(room + 1);
	assert_int_equal(fread(bytes, 1, room, file), room);
	fclose(file);
	for (i = 0; !found && i + size <= room; i++) {
		for (j = 0; j < size && (bytes[i + j] | 32) == (text[j] | 32); j++)
			;
		found = j == size;
	}
	test_free(bytes);
	return found;
}

static inline bool
files_hold(fixture *f, const char *text)
{
	return file_holds(f, "a.db", text) || file_holds(f, "a.db-wal", text) ||
	       file_holds(f, "a.db-shm", text);
}

/* ---- the value follows from the remaining rows ---- */

static inline bool
print_finding(void *ctx, const rt_finding *finding)
{
	int *count = ctx;

	print_message("%s: %s\n", finding->id, finding->text);
	(*count)++;
	return true;
}

static inline void
is_sound(fixture *f)
{
	int count = 0;

	assert_int_equal(rt_engine_fsck(f->engine, print_finding, &count, NULL), RT_OK);
	assert_int_equal(count, 0);
}

/* A project with the secret in every place that takes a text. */
static inline void
everywhere(fixture *f)
{
	static const char *const lines[] = {
		"{\"op\":\"entry.append\",\"id\":\"a\",\"content\":\"plain\"}",
		"{\"op\":\"entry.append\",\"id\":\"b\",\"content\":\"x " SECRET " y\"}",
		"{\"op\":\"entry.append\",\"id\":\"" SECRET "\",\"content\":\"an id\"}",
		"{\"op\":\"entry.append\",\"id\":\"id-" SECRET "\",\"content\":\"another id\"}",
		"{\"op\":\"entry.append\",\"role\":\"r " SECRET "\",\"content\":\"a role\"}",
		"{\"op\":\"entry.append\",\"role\":\"AI\",\"kind\":\"k-" SECRET "\",\"content\":\"a kind\"}",
		"{\"op\":\"entry.append\",\"content\":\"fields\",\"extra\":{\"deep\":[\"" SECRET "\"]}}",
		"{\"op\":\"entry.append\",\"content\":\"keys\",\"extra\":{\"" SECRET "\":1}}",
		"{\"op\":\"entry.append\",\"content\":\"nested\",\"extra\":\"{\\\"a\\\":\\\"" SECRET "\\\"}\"}",
		"{\"op\":\"entry.append\",\"content\":\"escaped \\\\u0074\\\\u006fk-9f8e7d6c5b4a\"}",
		"{\"op\":\"entry.append\",\"content\":[{\"type\":\"text\",\"text\":\"blocks " SECRET "\"}]}",
		"{\"op\":\"entry.edit\",\"entry\":\"a\",\"content\":\"" SECRET "\",\"why\":\"because " SECRET "\"}",
		"{\"op\":\"entry.edit\",\"entry\":\"a\",\"content\":\"clean\"}",
		"{\"op\":\"entry.delete\",\"entry\":\"b\"}",
		"{\"op\":\"label.set\",\"entry\":\"a\",\"label\":\"label " SECRET "\"}",
		"{\"op\":\"prompt.update\",\"text\":\"prompt " SECRET "\"}",
		"{\"op\":\"prompt.notify\"}",
		"{\"op\":\"setting.set\",\"key\":\"project_system_prompt\",\"value\":\"be " SECRET "\"}",
		"{\"op\":\"setting.set\",\"key\":\"k" SECRET "\",\"value\":{\"" SECRET "\":[1,\"" SECRET "\"]}}",
		"{\"op\":\"setting.set\",\"key\":\"draft\",\"value\":\"draft " SECRET "\"}",
		"{\"op\":\"files.set\",\"which\":\"files\",\"items\":[\"/home/" SECRET "\",\"/tmp\"]}",
		"{\"op\":\"preset.save\",\"name\":\"preset " SECRET "\"}",
		"{\"op\":\"role.add\",\"role\":\"r " SECRET "\"}",
		"{\"op\":\"track.set\",\"track\":\"" SECRET "\"}",
		"{\"op\":\"take.branch\",\"at\":\"a\",\"name\":\"take " SECRET "\"}",
		"{\"op\":\"take.branch\",\"at\":\"a\",\"name\":\"tack " SECRET "\"}",
		"{\"op\":\"entry.append\",\"id\":\"last\",\"content\":\"in the branch\"}",
		"{\"op\":\"discussion.new\",\"name\":\"disc " SECRET "\"}",
		"{\"op\":\"discussion.rename\",\"discussion\":\"disc " SECRET "\",\"name\":\"" SECRET " too\"}",
		"{\"op\":\"discussion.switch\",\"discussion\":\"main\"}",
		"{\"op\":\"undo\"}",
		"{\"op\":\"redo\"}",
	};

	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++)
		apply(f, lines[i]);
	assert_int_equal(f->store->ops->write(f->store,
					      rt_rows_named(RT_STORE_SIDE,
							    rt_engine_project_number(f->engine),
							    RT_STR("draft:1")),
					      RT_STR("half " SECRET), NULL),
			 RT_OK);
	assert_int_equal(f->store->ops->write(f->store,
					      rt_rows_named(RT_STORE_SIDE,
							    rt_engine_project_number(f->engine),
							    RT_STR("draft:2")),
					      RT_STR("clean"), NULL),
			 RT_OK);
	assert_int_equal(rt_engine_index(f->engine, NULL), RT_OK);
	assert_int_equal(rt_engine_checkpoint(f->engine, NULL), RT_OK);
}

#define ON(name, kind) \
	{#name " (" kind ")", name, set_up, tear_down, (void *)(uintptr_t)kind}
#define BOTH(name) ON(name, "memory"), ON(name, "sqlite")

#endif
