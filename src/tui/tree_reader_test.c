/* SPDX-License-Identifier: MIT
 *
 * Discussions as trees: what rows say of entries of our own, and that a tree that goes
 * along with changes is the one that is made anew. */
#include "tui/tree_reader.h"

#include "engine/requests_testing.h"
#include "store/store_memory.h"

enum { REQUESTS = 400, ROWS = 400 };

typedef struct fixture {
	rt_store *store;
	rt_engine *engine;
	rt_tree_reader reader;
	rt_tree *tree;
	rt_buf text;
} fixture;

static int
set_up(void **state)
{
	fixture *f = test_calloc(1, sizeof(*f));
	rt_engine_options options = {.env = &env, .create = true};

	assert_int_equal(rt_store_memory_open(rt_alloc_libc(), &env, &f->store, NULL), RT_OK);
	assert_int_equal(rt_engine_open(&options, f->store, &f->engine, NULL), RT_OK);
	rt_tree_reader_init(&f->reader, rt_alloc_libc(), f->engine, RT_STR("/home/me"));
	assert_int_equal(rt_tree_new(rt_alloc_libc(), &f->reader.source, NULL, &f->tree), RT_OK);
	rt_buf_init(&f->text, rt_alloc_libc(), RT_BUF_UNLIMITED);
	*state = f;
	return 0;
}

static int
tear_down(void **state)
{
	fixture *f = *state;

	rt_buf_deinit(&f->text);
	rt_tree_free(f->tree);
	rt_tree_reader_deinit(&f->reader);
	rt_engine_close(f->engine);
	f->store->ops->close(f->store);
	test_free(f);
	return 0;
}

static bool
try_it(fixture *f, const char *json)
{
	rt_result result;
	rt_status st = rt_engine_apply_text(f->engine, rt_str_of(json), RT_STR(""), RT_STR(""),
					    &result);

	rt_result_deinit(&result);
	return st == RT_OK;
}

static void
do_it(fixture *f, const char *json)
{
	if (!try_it(f, json))
		fail_msg("refused: %s", json);
}

static void
read_tree(fixture *f, rt_tree *tree)
{
	const rt_project *value = rt_engine_value(f->engine);
	bool done = false;

	assert_int_equal(rt_tree_reader_read(&f->reader, value, 0, tree, NULL), RT_OK);
	assert_int_equal(rt_tree_learn(tree, SIZE_MAX, &done, NULL), RT_OK);
	assert_true(done);
	rt_tree_check(tree);
	rt_object_unref(value);
}

static void
draw(rt_tree *tree, rt_buf *out)
{
	rt_tree_line *lines = test_calloc(ROWS, sizeof(*lines));
	size_t first, count, i;

	for (i = 0; i < ROWS; i++)
		rt_tree_line_init(&lines[i], rt_alloc_libc());
	rt_tree_window(tree, ROWS, &first, &count);
	assert_int_equal(rt_tree_draw(tree, first, count, 100, lines, NULL), RT_OK);
	rt_buf_clear(out);
	for (i = 0; i < (count > 0 ? count : 1); i++) {
		rt_buf_add_str(out, rt_buf_str(&lines[i].text));
		rt_buf_add_byte(out, '\n');
	}
	for (i = 0; i < ROWS; i++)
		rt_tree_line_deinit(&lines[i]);
	test_free(lines);
}

static void
shows(fixture *f, const char *wanted)
{
	read_tree(f, f->tree);
	draw(f->tree, &f->text);
	assert_string_equal(f->text.ptr, wanted);
}

static void
test_own_entries(void **state)
{
	fixture *f = *state;

	shows(f, "  No entries found\n");
	do_it(f,
	      "{\"op\":\"entry.append\",\"id\":\"a\",\"role\":\"User\",\"content\":\" two\\nlines \"}");
	do_it(f,
	      "{\"op\":\"entry.append\",\"id\":\"b\",\"role\":\"AI\",\"content\":\"reply \\u001b[31m\"}");
	do_it(f, "{\"op\":\"entry.append\",\"id\":\"c\",\"role\":\"User\",\"content\":\"left\"}");
	do_it(f, "{\"op\":\"take.branch\",\"at\":\"b\",\"name\":\"other\"}");
	do_it(f, "{\"op\":\"entry.append\",\"id\":\"d\",\"role\":\"User\",\"content\":\"right\"}");
	do_it(f,
	      "{\"op\":\"entry.append\",\"id\":\"e\",\"role\":\"assistant\",\"content\":[{\"type\":"
	      "\"toolCall\",\"id\":\"1\",\"name\":\"read\",\"arguments\":{}}]}");
	do_it(f, "{\"op\":\"entry.append\",\"id\":\"f\",\"role\":\"tool\",\"content\":\"found\"}");
	do_it(f, "{\"op\":\"entry.append\",\"id\":\"g\",\"kind\":\"branch_summary\",\"content\":"
		 "\"we tried\"}");
	do_it(f, "{\"op\":\"entry.append\",\"id\":\"h\",\"role\":\"AI\",\"content\":\"\"}");
	do_it(f, "{\"op\":\"label.set\",\"entry\":\"b\",\"label\":\"here\"}");
	do_it(f, "{\"op\":\"entry.mute\",\"entry\":\"f\",\"muted\":true}");
	shows(f, "  • User: two lines\n"
		 "  • [here] AI: reply ^[[31m\n"
		 "  ├⊟ • User: right\n"
		 "  │     • tool: found  (muted)\n"
		 "  │     • [branch summary]: we tried\n"
		 "› │     • AI: (no content)  {other}  ← active\n"
		 "  └─ User: left  {main}\n");
	/* only calls of tools: hidden, but where one stands */
	do_it(f, "{\"op\":\"head.move\",\"entry\":\"e\"}");
	rt_tree_select(f->tree, rt_tree_find(f->tree, 1));
	shows(f, "› • User: two lines\n"
		 "  • [here] AI: reply ^[[31m\n"
		 "  ├⊟ • User: right\n"
		 "  │     • assistant: (calls read)  ← active\n"
		 "  │     tool: found  (muted)\n"
		 "  │     [branch summary]: we tried\n"
		 "  │     AI: (no content)  {other}\n"
		 "  └─ User: left  {main}\n");
	assert_int_equal(rt_tree_search(f->tree, RT_STR("role:ai reply"), NULL), RT_OK);
	shows(f, "› • [here] AI: reply ^[[31m\n");
	/* an edit is found by its new text */
	do_it(f, "{\"op\":\"entry.edit\",\"entry\":\"b\",\"content\":\"another\"}");
	read_tree(f, f->tree);
	assert_int_equal(rt_tree_row_count(f->tree), 0);
	assert_int_equal(rt_tree_search(f->tree, RT_STR("another"), NULL), RT_OK);
	assert_int_equal(rt_tree_row_count(f->tree), 1);
	assert_int_equal(rt_tree_reader_read(&f->reader, f->reader.project, 99, f->tree, NULL),
			 RT_NOT_FOUND);
	assert_int_equal(rt_tree_row_count(f->tree), 1);
}

/* A purged text says so. */
static void
test_purged(void **state)
{
	fixture *f = *state;

	do_it(f, "{\"op\":\"entry.append\",\"id\":\"a\",\"role\":\"User\",\"content\":\"secret\"}");
	do_it(f, "{\"op\":\"purge\",\"entry\":\"a\",\"confirm\":true}");
	shows(f, "› • User: (purged)  {main}  ← active\n");
}

/* Whatever is done: the tree that went along shows what one made anew does. */
static void
test_changes(void **state)
{
	fixture *f = *state;
	uint64_t chance = 5;
	rt_buf fresh_text;
	size_t i, done = 0;

	rt_buf_init(&fresh_text, rt_alloc_libc(), RT_BUF_UNLIMITED);
	rt_tree_set_filter(f->tree, RT_TREE_ALL);
	for (i = 0; i < REQUESTS; i++) {
		const rt_project *value = rt_engine_value(f->engine);
		uint64_t seq = value->seq;
		char json[400];
		rt_tree *fresh;

		rt_object_unref(value);
		random_request(&chance, json, sizeof(json), seq);
		done += try_it(f, json);
		read_tree(f, f->tree);
		assert_int_equal(rt_tree_new(rt_alloc_libc(), &f->reader.source, NULL, &fresh),
				 RT_OK);
		rt_tree_set_filter(fresh, RT_TREE_ALL);
		read_tree(f, fresh);
		if (rt_tree_row_count(fresh) > 0)
			rt_tree_select(fresh, rt_tree_selected_node(f->tree));
		draw(f->tree, &f->text);
		draw(fresh, &fresh_text);
		assert_string_equal(f->text.ptr, fresh_text.ptr);
		assert_int_equal(rt_tree_search(f->tree, RT_STR("text"), NULL), RT_OK);
		assert_int_equal(rt_tree_search(fresh, RT_STR("text"), NULL), RT_OK);
		assert_int_equal(rt_tree_row_count(f->tree), rt_tree_row_count(fresh));
		assert_int_equal(rt_tree_search(f->tree, RT_STR(""), NULL), RT_OK);
		rt_tree_free(fresh);
		rt_tree_move(f->tree, (rt_tree_step)random_below(&chance, 12), 3);
		rt_tree_unfold_all(f->tree);
	}
	assert_true(done > REQUESTS / 3);
	rt_buf_deinit(&fresh_text);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_own_entries, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_purged, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_changes, set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
