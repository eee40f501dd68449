/* SPDX-License-Identifier: MIT
 *
 * Generated ids of several projects: they differ from project to project, are the same for the same
 * name everywhere, and stay the same as long as the log exists. */
#define _GNU_SOURCE
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "core/id.h"
#include "log/checkpoint.h"
#include "log/engine_testing.h"
#include "log/folder_testing.h"
#include "log/fsck.h"
#include "store/store_memory.h"
#include "store/store_sqlite.h"

enum { ENTRIES = 1000 };

typedef char ids[ENTRIES][RT_ID_MAX + 1];

typedef struct fixture {
	rt_store *store, *other;
	char folder[64]; /* empty: stores in memory */
	char path[96];
} fixture;

static int
set_up(void **state)
{
	fixture *f = test_calloc(1, sizeof(*f));
	rt_store_sqlite_options file = {.create = true, .relaxed = true};

	if (strcmp(*state, "memory") == 0) {
		assert_int_equal(rt_store_memory_open(rt_alloc_libc(), &env, &f->store, NULL), RT_OK);
	} else {
		assert_true(test_folder(f->folder, sizeof(f->folder), "ids_test"));
		snprintf(f->path, sizeof(f->path), "%s/a.db", f->folder);
		assert_int_equal(rt_store_sqlite_open(rt_alloc_libc(), &env, f->path, &file,
						      &f->store, NULL), RT_OK);
	}
	assert_int_equal(rt_store_memory_open(rt_alloc_libc(), &env, &f->other, NULL), RT_OK);
	*state = f;
	return 0;
}

static int
tear_down(void **state)
{
	fixture *f = *state;

	f->store->ops->close(f->store);
	f->other->ops->close(f->other);
	if (f->folder[0] != '\0') {
		(void)unlink(f->path);
		(void)rmdir(f->folder);
	}
	test_free(f);
	return 0;
}

static rt_engine *
open_project(rt_store *store, const char *name)
{
	rt_engine_options options = {.env = &env, .create = true, .project = rt_str_of(name)};
	rt_engine *engine = NULL;
	rt_error err = {0};

	if (rt_engine_open(&options, store, &engine, &err) != RT_OK)
		fail_msg("%s: %s", name, err.text);
	return engine;
}

static void
add(rt_engine *engine, size_t count)
{
	rt_json_doc *doc = NULL;
	rt_result *results = test_calloc(count, sizeof(*results));
	yyjson_val **requests = test_calloc(count, sizeof(yyjson_val *));
	size_t i;

	assert_int_equal(rt_json_read(rt_alloc_libc(),
				      RT_STR("{\"op\":\"entry.append\",\"content\":\"1\"}"), &doc,
				      NULL), RT_OK);
	for (i = 0; i < count; i++)
		requests[i] = rt_json_root(doc);
	assert_int_equal(rt_engine_apply_json(engine, requests, count, false, RT_STR(""), RT_STR(""),
					 results), RT_OK);
	for (i = 0; i < count; i++)
		rt_result_deinit(&results[i]);
	rt_json_free(doc);
	test_free(requests);
	test_free(results);
}

static void
get_ids(rt_engine *engine, ids out)
{
	const rt_project *value = rt_engine_value(engine);
	uint32_t i;

	for (i = 0; i < ENTRIES; i++)
		assert_int_equal(rt_entry_id(value, i + 1, out[i], NULL), RT_OK);
	rt_object_unref(value);
}

static bool
print_finding(void *ctx, const rt_finding *finding)
{
	(void)ctx;
	fail_msg("fsck: %s: %s", finding->id, finding->text);
	return true;
}

/* Opens it again and compares; fsck finds nothing. */
static void
assert_ids(rt_store *store, const char *name, ids expected)
{
	static ids now;
	rt_engine *engine = open_project(store, name);

	get_ids(engine, now);
	assert_memory_equal(now, expected, sizeof(ids));
	assert_int_equal(rt_engine_fsck(engine, print_finding, NULL, NULL), RT_OK);
	rt_engine_close(engine);
}

static void
drop_checkpoint(rt_store *store, const char *name)
{
	uint64_t project;

	assert_int_equal(rt_store_get(store, rt_rows_named(RT_STORE_PROJECTS, 0, rt_str_of(name)),
				      NULL, &project, NULL),
			 RT_OK);
	assert_int_equal(store->ops->begin(store, NULL), RT_OK);
	assert_int_equal(store->ops->drop(store, rt_rows_all(RT_STORE_ROOT, project), NULL), RT_OK);
	assert_int_equal(store->ops->commit(store, NULL), RT_OK);
}

static void
drop_mark(rt_store *store, const char *name)
{
	uint64_t project;

	assert_int_equal(rt_store_get(store, rt_rows_named(RT_STORE_PROJECTS, 0, rt_str_of(name)),
				      NULL, &project, NULL),
			 RT_OK);
	assert_int_equal(store->ops->write(
				 store, rt_rows_named(RT_STORE_SIDE, project, RT_STR("salted-ids")),
				 rt_str_at(NULL, 0), NULL),
			 RT_OK);
}

/* As created by a version without salts. */
static void
make_unsalted(rt_store *store, const char *name)
{
	uint64_t project;

	assert_int_equal(store->ops->begin(store, NULL), RT_OK);
	assert_int_equal(store->ops->project_new(store, rt_str_of(name), &project, NULL), RT_OK);
	assert_int_equal(store->ops->commit(store, NULL), RT_OK);
}

static void
fill(rt_store *store, const char *name, ids out)
{
	rt_engine *engine = open_project(store, name);

	add(engine, ENTRIES);
	get_ids(engine, out);
	rt_engine_close(engine);
}

static ids first, second, third, plain;

/* In the default project they are the same as in earlier versions. */
static void
differ_from_project_to_project(void **state)
{
	fixture *f = *state;
	char id[RT_ID_TEXT_MAX + 1];
	size_t i;

	fill(f->store, "default", plain);
	fill(f->store, "novel", first);
	fill(f->store, "thesis", second);
	for (i = 0; i < ENTRIES; i++) {
		id[rt_id_of(0, (uint32_t)i + 1, id)] = '\0';
		assert_string_equal(plain[i], id);
		assert_string_not_equal(first[i], second[i]);
		assert_string_not_equal(first[i], plain[i]);
		assert_string_not_equal(second[i], plain[i]);
	}
	/* another store, the same names */
	fill(f->other, "novel", third);
	assert_memory_equal(third, first, sizeof(ids));
}

static void
stay_without_the_checkpoint(void **state)
{
	fixture *f = *state;
	rt_engine *engine;

	fill(f->store, "novel", first);
	assert_ids(f->store, "novel", first);
	drop_checkpoint(f->store, "novel");
	assert_ids(f->store, "novel", first);
	engine = open_project(f->store, "novel");
	assert_int_equal(rt_engine_rebuild(engine, NULL), RT_OK);
	rt_engine_close(engine);
	assert_ids(f->store, "novel", first);
}

static void
stay_in_projects_of_older_versions(void **state)
{
	fixture *f = *state;

	fill(f->store, "default", plain);
	make_unsalted(f->store, "old");
	fill(f->store, "old", first);
	assert_memory_equal(first, plain, sizeof(ids));
	assert_ids(f->store, "old", plain);
	drop_checkpoint(f->store, "old");
	assert_ids(f->store, "old", plain);
}

/* The side row with the salt mark is not a text of the user, and one checkpoint is enough without
 * it. */
static void
stay_whatever_is_purged(void **state)
{
	fixture *f = *state;
	rt_engine *engine;
	rt_result result;

	fill(f->store, "novel", first);
	engine = open_project(f->store, "novel");
	assert_int_equal(rt_engine_apply_text(engine, RT_STR("{\"op\":\"purge\",\"text\":\"1\"}"),
					      RT_STR(""), RT_STR(""), &result), RT_OK);
	rt_result_deinit(&result);
	assert_int_equal(rt_engine_apply_text(engine, RT_STR("{\"op\":\"purge\",\"text\":\"salted\"}"),
					      RT_STR(""), RT_STR(""), &result), RT_OK);
	assert_true(result.unchanged);
	rt_result_deinit(&result);
	rt_engine_close(engine);
	drop_checkpoint(f->store, "novel");
	assert_ids(f->store, "novel", first);
}

static void
stay_without_the_mark(void **state)
{
	fixture *f = *state;
	rt_engine *engine;

	fill(f->store, "novel", first);
	drop_mark(f->store, "novel");
	assert_ids(f->store, "novel", first);
	/* the checkpoint must not be lost then: only it records the salt */
	engine = open_project(f->store, "novel");
	assert_int_equal(rt_engine_rebuild(engine, NULL), RT_OK);
	rt_engine_close(engine);
	assert_ids(f->store, "novel", first);
}

/* An older version that does not know the mark writes a checkpoint without a salt: it is not
 * used. */
static void
stay_beside_a_checkpoint_that_has_others(void **state)
{
	fixture *f = *state;
	uint64_t project;
	rt_engine *engine;

	make_unsalted(f->store, "novel");
	fill(f->store, "novel", plain);
	assert_int_equal(rt_store_get(f->store,
				      rt_rows_named(RT_STORE_PROJECTS, 0, RT_STR("novel")), NULL,
				      &project, NULL),
			 RT_OK);
	assert_int_equal(
		f->store->ops->write(f->store,
				     rt_rows_named(RT_STORE_SIDE, project, RT_STR("salted-ids")),
				     RT_STR("1"), NULL),
		RT_OK);
	fill(f->other, "novel", first);
	engine = open_project(f->store, "novel");
	get_ids(engine, second);
	assert_memory_equal(second, first, sizeof(ids));
	assert_int_equal(rt_engine_rebuild(engine, NULL), RT_OK);
	rt_engine_close(engine);
	assert_ids(f->store, "novel", first);
}

#define ON(name, kind) \
	{#name " (" kind ")", name, set_up, tear_down, (void *)(uintptr_t)kind}
#define BOTH(name) ON(name, "memory"), ON(name, "sqlite")

int
main(void)
{
	const struct CMUnitTest tests[] = {
		BOTH(differ_from_project_to_project),
		BOTH(stay_without_the_checkpoint),
		BOTH(stay_in_projects_of_older_versions),
		BOTH(stay_whatever_is_purged),
		BOTH(stay_without_the_mark),
		BOTH(stay_beside_a_checkpoint_that_has_others),
	};

	return cmocka_run_group_tests_name("ids", tests, NULL, NULL);
}
