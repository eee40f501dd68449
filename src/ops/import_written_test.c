/* SPDX-License-Identifier: MIT
 *
 * Imports of sessions that were written for other programs: how much is read. */
#include "log/counting_testing.h"
#include "ops/import_testing.h"
#include "store/store_memory.h"

/* The file of a long conversation that was written for another program and continued there: each new
 * message is compared with the few that have its text, not with all. */
static void
a_long_written_session_grows(void **state)
{
	enum { LONG = 2000, NEW = 300 };
	bare *b = *state;
	const rt_project *value;
	char (*ids)[RT_ID_TEXT_MAX + 1] = test_calloc(LONG, sizeof(*ids));
	int64_t *all = test_calloc(LONG, sizeof(*all));
	rt_outline from, written;
	rt_outline_take take = {.name = RT_STR("main"), .nodes = all, .node_count = LONG};
	rt_import_result result;
	rt_error err = {0};
	file f;

	file_init(&f);
	assert_int_equal(rt_engine_import(b->engine, piece(&f, "y", 0, LONG, false), RT_STR("x"), false,
					  &result, NULL), RT_OK);
	value = rt_engine_value(b->engine);
	written = from = f.items[0];
	written.source = RT_STR("x");
	from.nodes = test_calloc(LONG, sizeof(*from.nodes));
	for (size_t i = 0; i < LONG; i++) {
		all[i] = (int64_t)i;
		from.nodes[i] = f.nodes[i];
		from.nodes[i].id = rt_str_at(ids[i], rt_id_of(value->ledger->salt, (uint32_t)i + 1, ids[i]));
	}
	from.takes = &take;
	from.take_count = 1;
	rt_object_unref(value);
	if (rt_written_keep(b->engine, 1, &from, &written, &err) != RT_OK)
		fail_msg("%s", err.text);
	test_free(from.nodes);

	count_reads(b->store);
	assert_int_equal(rt_engine_import(b->engine, piece(&f, "x", 0, LONG + NEW, false), RT_STR("x"),
					  false, &result, NULL), RT_OK);
	count_reads_end(b->store);
	assert_int_equal(result.known, LONG);
	assert_int_equal(result.entries, NEW);
	assert_int_equal(result.discussions, 0);
	assert_true(store_reads[RT_STORE_BODIES] >= LONG);
	assert_true(store_reads[RT_STORE_BODIES] < 2 * LONG + 2 * NEW);
	assert_sound(b);
	test_free(ids);
	test_free(all);
	file_deinit(&f);
}

static int
set_up(void **state)
{
	rt_store *store = NULL;

	assert_int_equal(rt_store_memory_open(rt_alloc_libc(), &env, &store, NULL), RT_OK);
	return bare_set_up(state, store);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(a_long_written_session_grows, set_up, bare_tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
