/* SPDX-License-Identifier: MIT
 *
 * Purge of a secret in the search index of an earlier version, which counts as empty. */
#define _GNU_SOURCE
#include <stdio.h>

#include "log/engine_testing.h"
#include "log/folder_testing.h"
#include "store/store_sqlite.h"
#include "store/store_sqlite_old_index_testing.h"

static char folder[64], path[96];

static int
set_up(void **state)
{
	(void)state;
	assert_true(test_folder(folder, sizeof(folder), "purge_old_index_test"));
	snprintf(path, sizeof(path), "%s/a.db", folder);
	return 0;
}

static int
tear_down(void **state)
{
	(void)state;
	return test_folder_remove(folder) ? 0 : -1;
}

/* Executes one request on the store. */
static void
apply(const char *json)
{
	rt_store_sqlite_options file = {.create = true};
	rt_engine_options options = {.env = &env, .create = true};
	rt_engine *engine;
	rt_result result;
	rt_store *store;

	assert_int_equal(rt_store_sqlite_open(rt_alloc_libc(), &env, path, &file, &store, NULL), RT_OK);
	assert_int_equal(rt_engine_open(&options, store, &engine, NULL), RT_OK);
	assert_int_equal(rt_engine_apply_text(engine, rt_str_of(json), RT_STR(""), RT_STR(""), &result),
			 RT_OK);
	rt_result_deinit(&result);
	rt_engine_close(engine);
	store->ops->close(store);
}

static bool
file_has(const char *word)
{
	static char bytes[1 << 20];
	FILE *file = fopen(path, "rb");
	size_t size;

	assert_non_null(file);
	size = fread(bytes, 1, sizeof(bytes), file);
	fclose(file);
	assert_true(size > 0 && size < sizeof(bytes));
	return memmem(bytes, size, word, strlen(word)) != NULL;
}

static void
its_words_are_erased(void **state)
{
	(void)state;
	apply("{\"op\":\"entry.append\",\"content\":\"the zyxwvut\"}");
	make_index_old(path, "the zyxwvut");
	assert_true(file_has("zyxwvut"));
	apply("{\"op\":\"purge\",\"text\":\"zyxwvut\"}");
	assert_false(file_has("zyxwvut"));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(its_words_are_erased, set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
