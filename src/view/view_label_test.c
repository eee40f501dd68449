/* SPDX-License-Identifier: MIT
 *
 * When labels were set: by the newest step that gave the present label, read in pieces. */
#include <stdio.h>

#include "codec/json.h"
#include "log/engine_testing.h"
#include "store/store_memory.h"
#include "view/view.h"

static void
apply(rt_engine *engine, const char *json)
{
	rt_result result;

	if (rt_engine_apply_text(engine, rt_str_of(json), RT_STR(""), RT_STR(""), &result) != RT_OK)
		fail_msg("%s: %s", json, result.error.text);
	rt_result_deinit(&result);
}

static void
label(rt_engine *engine, unsigned entry, const char *text)
{
	char json[100];

	snprintf(json, sizeof(json), "{\"op\":\"label.set\",\"entry\":\":%u\",\"label\":\"%s\"}", entry,
		 text);
	apply(engine, json);
}

typedef struct heard {
	rt_buf text; /* "3@2 ": entry 3, two seconds in */
	size_t count;
} heard;

static int64_t now_s;

static int64_t
clock_now(void *ctx)
{
	(void)ctx;
	return now_s * 1000000;
}

static void
hear(void *ctx, uint32_t entry, int64_t at_us)
{
	heard *h = ctx;

	rt_buf_add_f(&h->text, "%u@%lld ", entry, (long long)(at_us / 1000000));
	h->count++;
}

static void
expect(rt_engine *engine, size_t limit, const char *wanted)
{
	const rt_project *value = rt_engine_value(engine);
	size_t pieces = 0;
	uint64_t seq = 0;
	heard h = {.count = 0};

	rt_buf_init(&h.text, rt_alloc_libc(), RT_BUF_UNLIMITED);
	do {
		assert_int_equal(rt_view_label_times(engine, value, value->active, &seq, limit, hear, &h,
						     NULL),
				 RT_OK);
		pieces++;
	} while (seq != 1);
	assert_true(rt_str_is(rt_buf_str(&h.text), wanted));
	assert_int_equal(pieces, value->seq == 0 ? 1 : (value->seq + limit - 1) / limit);
	rt_buf_deinit(&h.text);
	rt_object_unref(value);
}

static void
the_newest_that_gave_it(void **state)
{
	rt_env clock = {clock_now, env.random, env.ctx};
	rt_engine_options options = {.env = &clock, .create = true};
	const rt_project *value;
	rt_store *store;
	rt_engine *engine;
	uint64_t seq = 0;
	size_t limit;

	(void)state;
	assert_int_equal(rt_store_memory_open(rt_alloc_libc(), &env, &store, NULL), RT_OK);
	now_s = 1;
	assert_int_equal(rt_engine_open(&options, store, &engine, NULL), RT_OK);
	expect(engine, 10, "");
	apply(engine, "{\"op\":\"entry.append\",\"content\":\"one\"}");
	apply(engine, "{\"op\":\"entry.append\",\"content\":\"two\"}");
	now_s = 2;
	label(engine, 1, "start");
	now_s = 3;
	label(engine, 2, "a \\\"quoted\\\" one");
	now_s = 4;
	label(engine, 1, "other");
	now_s = 5;
	apply(engine, "{\"op\":\"entry.append\",\"content\":\"\\\"op\\\":\\\"label.set\\\"\"}");
	for (limit = 1; limit < 8; limit++)
		expect(engine, limit, "1@4 2@3 ");
	now_s = 6;
	label(engine, 2, ""); /* it has no label any more */
	expect(engine, 3, "1@4 ");
	apply(engine, "{\"op\":\"undo\"}");
	expect(engine, 3, "1@4 2@3 ");
	/* another discussion has separate labels */
	apply(engine, "{\"op\":\"discussion.new\",\"name\":\"second\"}");
	expect(engine, 3, "");
	/* invalid requests do not end the search */
	value = rt_engine_value(engine);
	assert_int_equal(rt_view_label_times(engine, value, 99, &seq, 3, hear, NULL, NULL),
			 RT_NOT_FOUND);
	assert_int_equal(seq, 0);
	rt_object_unref(value);
	rt_engine_close(engine);
	store->ops->close(store);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(the_newest_that_gave_it)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
