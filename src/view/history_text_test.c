/* SPDX-License-Identifier: MIT
 *
 * Steps in words: with ids for use in further commands, without for display next to the text, and
 * several operations in one step by their result. */
#include "log/engine_testing.h"

#include <string.h>

#include "codec/json.h"
#include "store/store_memory.h"
#include "view/view.h"

typedef struct fixture {
	rt_store *store;
	rt_engine *engine;
} fixture;

static int
set_up(void **state)
{
	fixture *f = test_calloc(1, sizeof(*f));
	rt_engine_options options = {.env = &env, .create = true};

	assert_int_equal(rt_store_memory_open(rt_alloc_libc(), &env, &f->store, NULL), RT_OK);
	assert_int_equal(rt_engine_open(&options, f->store, &f->engine, NULL), RT_OK);
	*state = f;
	return 0;
}

static int
tear_down(void **state)
{
	fixture *f = *state;

	rt_engine_close(f->engine);
	f->store->ops->close(f->store);
	test_free(f);
	return 0;
}

/* Requests in an array, as one step. */
static void
do_all(fixture *f, const char *json)
{
	yyjson_val *requests[16], *item;
	rt_result results[16];
	rt_json_doc *doc = NULL;
	size_t i, count;

	assert_int_equal(rt_json_read(rt_alloc_libc(), rt_str_of(json), &doc, NULL), RT_OK);
	yyjson_arr_foreach(rt_json_root(doc), i, count, item)
		requests[i] = item;
	if (rt_engine_apply_json(f->engine, requests, count, count > 1, rt_str_of(""), rt_str_of(""),
			    results) != RT_OK)
		fail_msg("%s: %s", json, results[0].error.text);
	for (i = 0; i < count; i++)
		rt_result_deinit(&results[i]);
	rt_json_free(doc);
}

/* A member of the newest step of a discussion (0: the active one), NULL: it has none. */
static void
assert_newest(fixture *f, uint32_t disc, const char *member, const char *expected)
{
	const rt_project *value = rt_engine_value(f->engine);
	rt_json_doc *doc = NULL;
	yyjson_val *found;
	rt_buf buf;

	rt_buf_init(&buf, rt_alloc_libc(), RT_BUF_UNLIMITED);
	assert_int_equal(rt_view_history(f->engine, value, disc, 0, 1, &buf, NULL), RT_OK);
	assert_int_equal(rt_json_read(rt_alloc_libc(), rt_buf_str(&buf), &doc, NULL), RT_OK);
	found = rt_json_get(yyjson_arr_get(rt_json_root(doc), 0), member);
	if (yyjson_is_obj(found))
		found = rt_json_get(found, "name");
	if (expected == NULL)
		assert_null(found);
	else if (!rt_str_is(rt_json_str(found), expected))
		fail_msg("%s: \"%.*s\", not \"%s\"", member, (int)rt_json_str(found).size,
			 rt_json_str(found).ptr, expected);
	rt_json_free(doc);
	rt_buf_deinit(&buf);
	rt_object_unref(value);
}

static void
entries(void **state)
{
	fixture *f = *state;

	do_all(f, "[{\"op\":\"entry.append\",\"role\":\"User\",\"id\":\"aaaa\",\"content\":"
		  "\"Which beer goes\\nwith rye bread?\"}]");
	assert_newest(f, 0, "what", "added entry aaaa");
	assert_newest(f, 0, "did", "added entry");
	assert_newest(f, 0, "about", "Which beer goes with rye bread?");
	assert_newest(f, 0, "take", "main");
	do_all(f, "[{\"op\":\"entry.append\",\"role\":\"AI\",\"id\":\"bbbb\",\"content\":\"Stout.\"}]");
	do_all(f, "[{\"op\":\"label.set\",\"entry\":\"aaaa\",\"label\":\"bread\"}]");
	assert_newest(f, 0, "what", "labelled entry aaaa \"bread\"");
	assert_newest(f, 0, "did", "labelled entry \"bread\"");
	assert_newest(f, 0, "about", "Which beer goes with rye bread?");
	do_all(f, "[{\"op\":\"head.move\",\"entry\":\"aaaa\"}]");
	assert_newest(f, 0, "what", "moved the head to entry aaaa");
	assert_newest(f, 0, "did", "continued from entry");
	assert_newest(f, 0, "about", "Which beer goes with rye bread?");
	do_all(f, "[{\"op\":\"entry.delete\",\"from\":\"aaaa\",\"to\":\"bbbb\"}]");
	assert_newest(f, 0, "what", "deleted 2 entries, first aaaa");
	assert_newest(f, 0, "did", "deleted 2 entries");
	assert_newest(f, 0, "about", "Which beer goes with rye bread?");
	do_all(f, "[{\"op\":\"setting.set\",\"key\":\"model\",\"value\":\"builtin/echo\"}]");
	assert_newest(f, 0, "did", "set model to \"builtin/echo\"");
	assert_newest(f, 0, "about", NULL);
	assert_newest(f, 0, "take", NULL);
	assert_newest(f, 0, "setting", "model");
	do_all(f, "[{\"op\":\"setting.set\",\"key\":\"tags\",\"value\":[\"work\",\"a/b\"]}]");
	assert_newest(f, 0, "what", "set the tags to work, a/b");
	do_all(f, "[{\"op\":\"setting.set\",\"key\":\"tags\",\"value\":[\"a\"]}]");
	assert_newest(f, 0, "what", "set the tags to a");
	do_all(f, "[{\"op\":\"setting.set\",\"key\":\"template.x\",\"value\":\"y\"}]");
	assert_newest(f, 0, "what", "set the template \"x\" to \"y\"");
	do_all(f, "[{\"op\":\"setting.set\",\"key\":\"archived\",\"value\":true}]");
	assert_newest(f, 0, "what", "archived the discussion");
	do_all(f, "[{\"op\":\"setting.set\",\"key\":\"archived\",\"value\":null}]");
	assert_newest(f, 0, "what", "unarchived the discussion");
	do_all(f, "[{\"op\":\"setting.set\",\"key\":\"draft\",\"value\":\"set model to\"}]");
	assert_newest(f, 0, "setting", "draft");
}

/* A text that was purged does not appear in the history either. */
static void
purged_text(void **state)
{
	fixture *f = *state;

	do_all(f, "[{\"op\":\"entry.append\",\"role\":\"User\",\"id\":\"aaaa\",\"content\":\"hidden\"}]");
	assert_newest(f, 0, "about", "hidden");
	do_all(f, "[{\"op\":\"purge\",\"entry\":\"aaaa\"}]");
	assert_newest(f, 0, "about", NULL);
}

static void
several(void **state)
{
	fixture *f = *state;

	do_all(f, "[{\"op\":\"discussion.new\",\"name\":\"bread\"},"
		  "{\"op\":\"entry.append\",\"role\":\"User\",\"content\":\"one\"},"
		  "{\"op\":\"entry.append\",\"role\":\"AI\",\"id\":\"aaaa\",\"content\":\"two\"}]");
	assert_newest(f, 2, "what", "created discussion \"bread\" with 2 entries");
	assert_newest(f, 2, "about", "one");
	do_all(f, "[{\"op\":\"entry.append\",\"role\":\"User\",\"id\":\"bbbb\",\"content\":\"three\"},"
		  "{\"op\":\"setting.set\",\"key\":\"draft\",\"value\":\"x\"}]");
	assert_newest(f, 2, "what", "added entry bbbb");
	assert_newest(f, 2, "did", "added entry");
	assert_newest(f, 2, "setting", NULL);
	do_all(f, "[{\"op\":\"head.move\",\"entry\":\"aaaa\"},"
		  "{\"op\":\"entry.append\",\"role\":\"System\",\"kind\":\"branch_summary\","
		  "\"id\":\"cccc\",\"content\":\"was about three\",\"from_id\":\"bbbb\"}]");
	assert_newest(f, 2, "what", "left a branch and added its summary cccc");
	assert_newest(f, 2, "did", "left a branch and added its summary");
	assert_newest(f, 2, "about", "was about three");
	do_all(f, "[{\"op\":\"take.clear\"},"
		  "{\"op\":\"entry.append\",\"role\":\"System\",\"kind\":\"compaction\","
		  "\"id\":\"dddd\",\"content\":\"all of it\"}]");
	assert_newest(f, 2, "what", "compressed 3 entries into summary dddd");
	do_all(f, "[{\"op\":\"take.branch\",\"at\":\"dddd\",\"name\":\"other\"},"
		  "{\"op\":\"entry.append\",\"role\":\"User\",\"id\":\"eeee\",\"content\":\"four\"}]");
	assert_newest(f, 2, "what", "started take \"other\" and added entry eeee");
	assert_newest(f, 2, "take", "other");
	do_all(f, "[{\"op\":\"entry.edit\",\"entry\":\"eeee\",\"content\":\"five\"},"
		  "{\"op\":\"setting.set\",\"key\":\"draft\",\"value\":null}]");
	assert_newest(f, 2, "did", "changed entry");
	assert_newest(f, 2, "about", "five");
	do_all(f, "[{\"op\":\"setting.set\",\"key\":\"model\",\"value\":\"builtin/echo\"},"
		  "{\"op\":\"setting.set\",\"key\":\"temperature\",\"value\":1}]");
	assert_newest(f, 2, "what", "changed 2 settings");
	assert_newest(f, 2, "setting", NULL);
}

/* A revert names the step and what that had done; reverted itself, it names itself. */
static void
reverts(void **state)
{
	fixture *f = *state;

	do_all(f, "[{\"op\":\"entry.append\",\"role\":\"User\",\"id\":\"aaaa\",\"content\":\"one\"}]");
	do_all(f, "[{\"op\":\"entry.edit\",\"entry\":\"aaaa\",\"content\":\"two\"}]");
	do_all(f, "[{\"op\":\"revert\",\"seq\":2,\"unknown\":[1]}]");
	assert_newest(f, 0, "what", "reverted step 2: edited entry aaaa");
	assert_newest(f, 0, "did", "reverted step 2: edited entry");
	assert_newest(f, 0, "about", "one");
	do_all(f, "[{\"op\":\"revert\",\"seq\":3}]");
	assert_newest(f, 0, "what", "reverted step 3: reverted step 2");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(entries, set_up, tear_down),
		cmocka_unit_test_setup_teardown(purged_text, set_up, tear_down),
		cmocka_unit_test_setup_teardown(several, set_up, tear_down),
		cmocka_unit_test_setup_teardown(reverts, set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
