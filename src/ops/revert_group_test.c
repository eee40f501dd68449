/* SPDX-License-Identifier: MIT
 *
 * The rows of a group (several replies to a question, drafts without a pause) are one step of the
 * history and are reverted together, whichever of them is named. */
#include <stdio.h>
#include <string.h>

#include "codec/json.h"
#include "log/bare_testing.h"
#include "ops/action.h"
#include "store/store_memory.h"
#include "view/view.h"

static int
set_up(void **state)
{
	rt_store *store;

	assert_int_equal(rt_store_memory_open(rt_alloc_libc(), &env, &store, NULL), RT_OK);
	return bare_set_up(state, store);
}

/* As part of a group; 0: it may begin one. Returns its row. */
static uint64_t
do_in_group(bare *f, uint64_t group, unsigned coalesce_ms, const char *json)
{
	rt_apply_context with = {.group = group, .coalesce_ms = coalesce_ms};
	rt_json_doc *doc = NULL;
	rt_result result;
	uint64_t seq;

	assert_int_equal(rt_json_read(rt_alloc_libc(), rt_str_of(json), &doc, NULL), RT_OK);
	yyjson_val *request = rt_json_root(doc);
	if (rt_apply_json(f->engine, &with, &request, 1, false, RT_STR(""), RT_STR(""), &result) !=
	    RT_OK)
		fail_msg("%s: %s", json, result.error.text);
	seq = result.seq;
	rt_result_deinit(&result);
	rt_json_free(doc);
	return seq;
}

/* A request with the number of a row, such as {"op":"revert","seq":3}. */
static rt_status
revert(bare *f, uint64_t seq)
{
	char json[64];

	(void)snprintf(json, sizeof(json), "{\"op\":\"revert\",\"seq\":%llu}",
		       (unsigned long long)seq);
	return bare_try(f, json);
}

/* The number of takes, the entries of the active one, and the draft as JSON (NULL: none). */
static void
assert_state(bare *f, size_t takes, size_t entries, const char *draft)
{
	const rt_project *value = rt_engine_value(f->engine);
	const rt_disc *disc = NULL;

	assert_int_equal(rt_project_disc(value, value->active, &disc, NULL), RT_OK);
	rt_str is = rt_project_setting(value, disc, "setting.draft");
	assert_int_equal(rt_disc_present_count(disc), takes);
	assert_int_equal(rt_seq_count(rt_disc_active(disc)->slots), entries);
	assert_true(draft == NULL ? is.ptr == NULL : rt_str_is(is, draft));
	rt_object_unref(value);
}

/* The newest row of the history. */
static void
assert_newest(bare *f, const char *what)
{
	const rt_project *value = rt_engine_value(f->engine);
	rt_scope s;

	rt_scope_init(&s, rt_alloc_libc());
	rt_view v = {.scope = &s, .engine = f->engine, .project = value,
		     .place = {.disc = value->active}};
	const rt_history_row *row = rt_history_next(rt_history_open(&v, NULL, 0));
	assert_non_null(row);
	assert_true(rt_str_is(row->what, what));
	assert_int_equal(rt_scope_end(&s, NULL), RT_OK);
	rt_object_unref(value);
}

#define REPLY(model) \
	"{\"op\":\"entry.reply\",\"after\":\"q\",\"fork\":true,\"content\":\"x\",\"provider\":\"p\",\"model\":\"" model "\"}"

static void
replies_are_reverted_together(void **state)
{
	bare *f = *state;
	uint64_t rows[4];

	bare_add(f, "q", "user", "why");
	rows[0] = do_in_group(f, 0, 0, REPLY("a"));
	rows[1] = do_in_group(f, rows[0], 0, REPLY("b"));
	rows[2] = do_in_group(f, rows[0], 0, REPLY("c"));
	assert_newest(f, "got 3 replies: p/a, p/b, p/c");
	rows[3] = do_in_group(f, rows[0], 0, "{\"op\":\"take.switch\",\"take\":\"t2\"}");
	assert_newest(f, "got 3 replies: p/a, p/b, p/c");
	for (size_t i = 0; i < 4; i++) {
		assert_state(f, 3, 2, NULL);
		assert_int_equal(revert(f, rows[i]), RT_OK);
		assert_state(f, 1, 1, NULL);
		assert_newest(f, "reverted step 5: got 3 replies: p/a, p/b, p/c");
		bare_apply(f, "{\"op\":\"undo\"}");
	}
	assert_int_equal(revert(f, 1), RT_OK); /* the question is a separate step */
}

/* A reply was edited before the next one arrived. */
static void
a_change_in_between(void **state)
{
	bare *f = *state;
	uint64_t first, edit, last;

	bare_add(f, "q", "user", "why");
	first = do_in_group(f, 0, 0, REPLY("a"));
	bare_apply(f, "{\"op\":\"entry.edit\",\"entry\":\":2\",\"content\":\"y\"}");
	edit = f->seq;
	last = do_in_group(f, first, 0, REPLY("b"));
	for (uint64_t row = first; row <= last; row += last - first) {
		assert_int_equal(revert(f, row), RT_REFUSED);
		if (strstr(f->error.text, "retake revert 3") == NULL)
			fail_msg("%s", f->error.text);
	}
	assert_state(f, 2, 2, NULL);
	assert_int_equal(revert(f, edit), RT_OK);
	assert_int_equal(revert(f, first), RT_OK);
	assert_state(f, 1, 1, NULL);
}

static void
drafts_are_reverted_together(void **state)
{
	bare *f = *state;
	uint64_t rows[3];

	bare_add(f, "q", "user", "why");
	rows[0] = do_in_group(f, 0, 60000, "{\"op\":\"setting.set\",\"key\":\"draft\",\"value\":\"a\"}");
	rows[1] = do_in_group(f, 0, 60000, "{\"op\":\"setting.set\",\"key\":\"draft\",\"value\":\"ab\"}");
	rows[2] = do_in_group(f, 0, 60000, "{\"op\":\"setting.set\",\"key\":\"draft\",\"value\":\"abc\"}");
	for (size_t i = 0; i < 3; i++) {
		assert_state(f, 1, 1, "\"abc\"");
		assert_int_equal(revert(f, rows[i]), RT_OK);
		assert_state(f, 1, 1, NULL);
		bare_apply(f, "{\"op\":\"undo\"}");
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(replies_are_reverted_together, set_up, bare_tear_down),
		cmocka_unit_test_setup_teardown(a_change_in_between, set_up, bare_tear_down),
		cmocka_unit_test_setup_teardown(drafts_are_reverted_together, set_up, bare_tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
