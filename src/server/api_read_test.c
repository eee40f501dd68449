/* SPDX-License-Identifier: MIT
 *
 * Reads: windows, the past, history. */
#define _POSIX_C_SOURCE 200809L

#include "server/api_testing.h"

/* ---- reading ---- */

static void
test_windows(void **state)
{
	fixture *f = *state;
	yyjson_val *entries, *etags;
	uint64_t from = 0, seen = 0;
	char target[100];

	tell(f);
	while (from != UINT64_MAX) {
		snprintf(target, sizeof(target), D "/entries?from=%llu&count=3",
			 (unsigned long long)from);
		expect(f, 200, "GET", target, NULL);
		assert_int_equal(number_at(f, "count"), 4);
		assert_int_equal(number_at(f, "from"), from);
		entries = rt_json_get(f->root, "entries");
		seen += yyjson_arr_size(entries);
		from = number_at(f, "next");
	}
	assert_int_equal(seen, 4);
	expect(f, 200, "GET", D "/entries?from=1&count=2&tags", NULL);
	etags = rt_json_get(f->root, "etags");
	assert_int_equal(yyjson_obj_size(etags), 2);
	snprintf(target, sizeof(target), "%.*s", RT_STR_ARG(rt_json_str(rt_json_get(etags, "c"))));
	expect(f, 200, "GET", D "/entries/c", NULL);
	assert_string_equal(f->etag, target);
	expect(f, 201, "POST", D "/entries", "{\"id\":\"e\",\"role\":\"AI\",\"content\":\"x\"}");
	expect(f, 201, "POST", D "/entries", "{\"id\":\"g\",\"role\":\"Critic\",\"content\":\"x\"}");
	for (size_t i = 0; i < 2; i++) { /* the filter by role: User passes, and the same role */
		expect(f, 200, "GET", i == 0 ? D "/entries?from=2&role=AI"
					     : D "/entries?from=2&role=assistant", NULL);
		entries = rt_json_get(f->root, "entries");
		assert_int_equal(yyjson_arr_size(entries), 3);
		assert_true(rt_str_is(rt_json_str(rt_json_get(yyjson_arr_get(entries, 2), "id")),
				      "e"));
	}
	expect(f, 200, "POST", D "/undo", "{\"count\":2}");
	expect(f, 200, "GET", D "/entries?from=99", NULL);
	assert_int_equal(number_at(f, "from"), 4);
	assert_int_equal(yyjson_arr_size(rt_json_get(f->root, "entries")), 0);
	expect(f, 200, "POST", D "/entries/read", "{\"ids\":[\"d\",\"nobody\",\"a\"]}");
	entries = rt_json_get(f->root, "entries");
	assert_int_equal(yyjson_arr_size(entries), 2);
	assert_true(rt_str_is(rt_json_str(rt_json_get(yyjson_arr_get(entries, 0), "id")), "d"));
	assert_true(rt_str_is(rt_json_str(yyjson_arr_get_first(rt_json_get(f->root, "missing"))),
			      "nobody"));
	expect(f, 200, "POST", D "/entries/read", "{\"ids\":[\"nobody\",\"a\"]}");
	assert_int_equal(yyjson_arr_size(rt_json_get(f->root, "entries")), 1);
	expect(f, 400, "POST", D "/entries/read", "{\"ids\":7}");
	expect(f, 200, "GET", D "/tree?columns=1&preview=3&from=1&count=2", NULL);
	assert_int_equal(number_at(f, "count"), 4);
	assert_int_equal(yyjson_arr_size(rt_json_get(f->root, "id")), 2);
	expect(f, 200, "GET", D "/tree", NULL);
	assert_int_equal(yyjson_arr_size(f->root), 4);
	expect(f, 200, "GET", V1 "/search?q=words&limit=5", NULL);
	assert_int_equal(yyjson_arr_size(f->root), 1);
	assert_non_null(rt_json_get(yyjson_arr_get_first(f->root), "marks"));
	expect(f, 200, "GET", D "/labels", NULL);
	assert_true(
		rt_str_is(rt_json_str(rt_json_get(yyjson_arr_get_first(f->root), "entry")), "b"));
	expect(f, 200, "GET", D, NULL);
	assert_true(rt_str_is(text_at(f, "head"), "d"));
	assert_int_equal(number_at(f, "entries"), 4);
}

static void
test_past(void **state)
{
	fixture *f = *state;
	uint64_t seq;
	char target[100];

	tell(f);
	seq = head_seq(f);
	expect(f, 200, "PUT", D "/entries/a/content", "{\"content\":\"changed\"}");
	snprintf(target, sizeof(target), D "/entries/a?at_op=%llu", (unsigned long long)seq);
	assert_content(f, target, "one");
	assert_string_equal(f->etag, ""); /* the past cannot be changed */
	assert_content(f, D "/entries/a", "changed");
	assert_string_not_equal(f->etag, "");
	expect(f, 200, "GET", D "/entries?at_op=0", NULL);
	assert_int_equal(number_at(f, "count"), 0);
	expect(f, 404, "GET", D "/entries?at_op=999", NULL);
	expect(f, 400, "GET", D "/entries?at_op=x", NULL);
}

/* The data for a page to offer undo and redo. */
static void
assert_can(fixture *f, bool undo, bool redo)
{
	expect(f, 200, "GET", D, NULL);
	assert_int_equal(yyjson_get_bool(rt_json_get(f->root, "can_undo")), undo);
	assert_int_equal(yyjson_get_bool(rt_json_get(f->root, "can_redo")), redo);
}

static void
test_can_undo(void **state)
{
	fixture *f = *state;

	assert_can(f, false, false);
	expect(f, 201, "POST", D "/entries", "{\"content\":\"x\"}");
	assert_can(f, true, false);
	expect(f, 200, "POST", D "/undo", NULL);
	assert_can(f, false, true);
	expect(f, 200, "POST", D "/redo", NULL);
	assert_can(f, true, false);
	expect(f, 200, "POST", D "/undo", NULL);
	expect(f, 200, "POST", V1 "/ops/role.add", "{\"role\":\"Judge\"}"); /* the project's */
	assert_can(f, true, false);
}

static void
test_history_pages(void **state)
{
	fixture *f = *state;
	uint64_t next, seen = 0;
	char target[100];
	int i;

	for (i = 0; i < 5; i++)
		expect(f, 201, "POST", D "/entries", "{\"content\":\"x\"}");
	for (next = 0; next != UINT64_MAX; seen++) {
		snprintf(target, sizeof(target), D "/history?limit=1&before=%llu",
			 (unsigned long long)next);
		expect(f, 200, "GET", target, NULL);
		assert_int_equal(yyjson_arr_size(rt_json_get(f->root, "steps")), 1);
		next = number_at(f, "next");
	}
	assert_int_equal(seen, 5);
	expect(f, 200, "POST", D "/undo", NULL);
	expect(f, 200, "GET", V1 "/history?limit=4", NULL);
	assert_int_equal(yyjson_arr_size(rt_json_get(f->root, "rows")), 4);
	assert_int_equal(number_at(f, "next"), 3);
	expect(f, 200, "GET", V1 "/history?before=3", NULL);
	assert_int_equal(yyjson_arr_size(rt_json_get(f->root, "rows")), 2);
	assert_int_equal(number_at(f, "next"), UINT64_MAX);
}

/* ---- the index in the background ---- */

static uint64_t
head(fixture *f, rt_store_table table)
{
	rt_store *store = rt_engine_store(f->open_project->engine);
	uint64_t number = 0;

	assert_int_equal(store->ops->head(store, table, rt_engine_project_number(f->open_project->engine),
					  &number, NULL), RT_OK);
	return number;
}

static void
add_entries(fixture *f, int count)
{
	rt_buf body;

	rt_buf_init(&body, rt_alloc_libc(), RT_BUF_UNLIMITED);
	rt_buf_add_c(&body, "{\"ops\":[");
	for (int i = 0; i < count; i++)
		rt_buf_add_f(&body, "%s{\"op\":\"entry.append\",\"content\":\"a word %d\"}", i > 0 ? "," : "", i);
	rt_buf_add_c(&body, "]}");
	expect(f, 200, "POST", V1 "/batch", body.ptr);
	rt_buf_deinit(&body);
}

/* Many new texts are indexed without a search; a few wait for one. */
static void
test_index_in_background(void **state)
{
	fixture *f = *state;

	add_entries(f, 10);
	rt_project_pool_tick(f->pool);
	assert_int_equal(head(f, RT_STORE_INDEX), 0);
	f->open_project->index_pause_us = 0;
	add_entries(f, 300);
	rt_project_pool_tick(f->pool);
	assert_int_equal(head(f, RT_STORE_INDEX), head(f, RT_STORE_BODIES));
	assert_true(f->open_project->index_pause_us > 0);
	expect(f, 200, "GET", V1 "/search?q=299", NULL);
	assert_int_equal(yyjson_arr_size(f->root), 1);
}

/* A project that another program deletes leaves the memory without a request for it, and its name is free. */
static void
test_deleted(void **state)
{
	fixture *f = *state;
	rt_open_project *deleted = f->open_project;
	rt_error err = {0};

	add_entries(f, 10);
	expect(f, 200, "GET", D "/entries", NULL);
	rt_project_pool_tick(f->pool);
	assert_int_equal(rt_store_project_delete(f->store, rt_engine_project_number(deleted->engine), &err), RT_OK);
	clock_us += 14000000;
	rt_project_pool_tick(f->pool);
	assert_false(rt_engine_is_deleted(deleted->engine));
	clock_us += 2000000;
	rt_project_pool_tick(f->pool);
	assert_true(rt_engine_is_deleted(deleted->engine));
	const rt_project *value = rt_engine_value(deleted->engine);
	assert_int_equal(value->seq, 0);
	rt_object_unref(value);
	expect(f, 404, "GET", D "/entries", NULL);
	assert_int_equal(rt_project_pool_project(f->pool, rt_text_str(deleted->name), true, &f->open_project, &err), RT_OK);
	assert_ptr_not_equal(f->open_project, deleted);
	expect(f, 201, "POST", D "/entries", "{\"content\":\"new\"}");
	rt_project_pool_tick(f->pool);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_windows),
		TEST(test_past),
		TEST(test_can_undo),
		TEST(test_history_pages),
		TEST(test_index_in_background),
		TEST(test_deleted),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
