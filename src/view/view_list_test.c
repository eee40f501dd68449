/* SPDX-License-Identifier: MIT
 *
 * Lists and exports of many takes or discussions that one import made: its row is read once, not
 * once for each of them. */
#include <stdio.h>

#include "log/bare_testing.h"
#include "log/counting_testing.h"
#include "ops/export.h"
#include "ops/import.h"
#include "store/store_memory.h"
#include "view/view_rows.h"

enum { MANY = 400 };

static int
set_up(void **state)
{
	rt_store *store = NULL;

	assert_int_equal(rt_store_memory_open(rt_alloc_libc(), &env, &store, NULL), RT_OK);
	return bare_set_up(state, store);
}

/* An import of discussions of one message each, or of one discussion with that many takes. */
static void
import_many(bare *b, bool as_takes)
{
	static rt_node nodes[MANY + 1];
	static rt_outline items[MANY];
	rt_outlines file;
	rt_import_result result;

	for (size_t i = 0; i <= MANY; i++)
		nodes[i] = (rt_node){.parent = as_takes && i > 0 ? 0 : -1,
				     .role = RT_STR("user"),
				     .body_format = 'T',
				     .body = RT_STR("text")};
	for (size_t i = 0; i < MANY; i++)
		items[i] = (rt_outline){.nodes = &nodes[i], .node_count = 1};
	if (as_takes)
		items[0] = (rt_outline){.nodes = nodes, .node_count = MANY + 1};
	rt_outlines_init(&file);
	file.items = items;
	file.count = as_takes ? 1 : MANY;
	assert_int_equal(rt_engine_import(b->engine, &file, RT_STR("x"), false, &result, NULL),
			 RT_OK);
	count_reads(b->store);
}

static void
discussions(void **state)
{
	bare *b = *state;
	rt_scope s;

	import_many(b, false);
	rt_scope_init(&s, rt_alloc_libc());
	rt_view view = {&s, b->engine, rt_engine_value(b->engine), {0}};
	rt_disc_rows rows = rt_discs_list(&view, false);
	assert_true(rt_ok(&s));
	assert_true(rows.count >= MANY);
	assert_true(rows.items[MANY - 1].has_updated);
	assert_true(store_reads[RT_STORE_LOG] >= 1 && store_reads[RT_STORE_LOG] < 10);
	count_reads_end(b->store);
	rt_object_unref(view.project);
	rt_scope_deinit(&s);
}

static void
takes(void **state)
{
	const rt_takes_options options = {.times = true};
	bare *b = *state;
	rt_outlines out;
	rt_scope s;

	import_many(b, true);
	rt_scope_init(&s, rt_alloc_libc());
	rt_view view = {&s, b->engine, rt_engine_value(b->engine), {0}};
	view.place.disc = view.project->active;
	rt_take_rows rows = rt_takes_list(&view, &options);
	assert_true(rt_ok(&s));
	assert_int_equal(rows.count, MANY);
	assert_true(rows.items[0].updated_us > 0);
	assert_true(store_reads[RT_STORE_LOG] >= 1 && store_reads[RT_STORE_LOG] < 10);

	memset(store_reads, 0, sizeof(store_reads));
	assert_int_equal(rt_engine_export(b->engine, view.project, view.place, true, &out, NULL),
			 RT_OK);
	assert_true(store_reads[RT_STORE_LOG] >= 1 && store_reads[RT_STORE_LOG] < 10);
	rt_outlines_deinit(&out);
	count_reads_end(b->store);
	rt_object_unref(view.project);
	rt_scope_deinit(&s);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, bare_tear_down)

int
main(void)
{
	const struct CMUnitTest tests[] = {TEST(discussions), TEST(takes)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
