/* SPDX-License-Identifier: MIT
 *
 * Stats: groups by day, model, program and discussion; every entry once; days that are left out;
 * texts that are not read. */
#include <stdio.h>

#include "log/engine_testing.h"
#include "store/store_memory.h"
#include "view/stats.h"

static rt_store *store;
static rt_engine *engine;

static void
apply(const char *json)
{
	rt_result result;

	if (rt_engine_apply_text(engine, rt_str_of(json), RT_STR(""), RT_STR(""), &result) != RT_OK)
		fail_msg("%s: %s", json, result.error.text);
	rt_result_deinit(&result);
}

static int
open_store(void **state)
{
	rt_engine_options options = {.env = &env, .create = true};

	(void)state;
	assert_int_equal(rt_store_memory_open(rt_alloc_libc(), &env, &store, NULL), RT_OK);
	assert_int_equal(rt_engine_open(&options, store, &engine, NULL), RT_OK);
	return 0;
}

static int
close_store(void **state)
{
	(void)state;
	rt_engine_close(engine);
	store->ops->close(store);
	return 0;
}

/* "2026-01-02 3 10/20, … = 5 30/40": name, entries, tokens; at the end the totals. */
static void
expect(const rt_stats_options *options, const char *wanted)
{
	const rt_project *value = rt_engine_value(engine);
	rt_scope s;
	rt_view view = {&s, engine, value, {0, 0}};

	rt_scope_init(&s, rt_alloc_libc());
	rt_stats stats = rt_stats_read(&view, options);
	rt_buf *got = rt_scope_buf(&s);

	for (size_t i = 0; i < stats.count; i++) {
		const rt_stats_row *row = &stats.rows[i];

		if (rt_stats_by_time(options->by) && row->day != RT_STATS_NO_DAY)
			rt_stats_add_day(got, row->day, options->by);
		else if (row->name.ptr == NULL)
			rt_buf_add_c(got, "-");
		else
			rt_buf_add_str(got, row->name);
		rt_buf_add_f(got, " %zu %llu/%llu, ", row->entries,
			     (unsigned long long)row->usage.input, (unsigned long long)row->usage.output);
	}
	rt_buf_add_f(got, "= %zu %llu/%llu", stats.total.entries,
		     (unsigned long long)stats.total.usage.input,
		     (unsigned long long)stats.total.usage.output);
	assert_true(rt_ok(&s));
	assert_string_equal(got->ptr, wanted);
	rt_scope_deinit(&s);
	rt_object_unref(value);
}

static rt_stats_options
all_days(rt_stats_by by)
{
	return (rt_stats_options){.by = by,
				  .since = RT_STATS_FIRST_DAY,
				  .until = RT_STATS_LAST_DAY};
}

static void
fill(void)
{
	apply("{\"op\":\"entry.append\",\"content\":\"q\",\"ts\":\"2026-01-02T10:00:00Z\"}");
	apply("{\"op\":\"entry.append\",\"role\":\"AI\",\"content\":\"a\",\"ts\":\"2026-01-02T23:30:00Z\","
	      "\"model\":\"m\",\"usage\":{\"input_tokens\":10,\"output_tokens\":1}}");
	/* another take shares both */
	apply("{\"op\":\"take.branch\",\"at\":\"@\",\"name\":\"b\"}");
	apply("{\"op\":\"entry.append\",\"role\":\"AI\",\"content\":\"a\",\"ts\":\"1969-12-31T23:59:00Z\","
	      "\"pi\":{\"message\":{\"model\":\"n\",\"usage\":{\"input\":5,\"output\":2}}}}");
	apply("{\"op\":\"discussion.new\",\"name\":\"second\"}");
	apply("{\"op\":\"entry.append\",\"role\":\"AI\",\"content\":\"a\",\"ts\":\"2026-01-03T00:00:00Z\","
	      "\"model\":\"m\",\"usage\":{\"prompt_tokens\":100,\"completion_tokens\":3}}");
}

/* The tokens of all replies that were ever received. */
static void
expect_received(size_t replies, uint64_t input)
{
	rt_stats_options options = {.since = RT_STATS_FIRST_DAY, .until = RT_STATS_LAST_DAY};
	const rt_project *value = rt_engine_value(engine);
	rt_scope s;
	rt_view view = {&s, engine, value, {0, 0}};

	rt_scope_init(&s, rt_alloc_libc());
	rt_stats stats = rt_stats_read(&view, &options);
	assert_int_equal(stats.received.replies, replies);
	assert_int_equal(stats.received.input, input);
	rt_scope_deinit(&s);
	rt_object_unref(value);
}

/* The same reply in another entry counts once; undone and deleted ones were received nevertheless. */
static void
same_reply(void **state)
{
	static const char reply[] = "{\"op\":\"entry.append\",\"role\":\"AI\",\"content\":\"a\",\"ts\":\"2026-01-04T10:00:00Z\","
				    "\"model\":\"m\",\"usage\":{\"input_tokens\":1000,\"output_tokens\":1}}";
	rt_stats_options options = {.by = RT_STATS_PROJECT, .since = RT_STATS_FIRST_DAY, .until = RT_STATS_LAST_DAY};

	(void)state;
	fill();
	apply(reply);
	expect(&options, "- 5 1115/7, = 5 1115/7");
	apply("{\"op\":\"discussion.new\",\"name\":\"third\"}");
	apply(reply);
	expect(&options, "- 6 1115/7, = 6 1115/7");
	expect_received(4, 1115);
	apply("{\"op\":\"entry.append\",\"role\":\"AI\",\"content\":\"a\",\"ts\":\"2026-01-04T10:00:00Z\","
	      "\"model\":\"n\",\"usage\":{\"input_tokens\":1000,\"output_tokens\":1}}");
	expect(&options, "- 7 2115/8, = 7 2115/8");
	apply("{\"op\":\"undo\"}");
	expect(&options, "- 6 1115/7, = 6 1115/7");
	expect_received(5, 2115);
	apply("{\"op\":\"discussion.delete\",\"discussion\":\"third\"}");
	apply("{\"op\":\"entry.edit\",\"entry\":\"@\",\"content\":\"b\"}");
	expect_received(5, 2115);
}

static int64_t
an_hour_east(int64_t at_us)
{
	int64_t s = at_us / 1000000 + 3600;

	return s / 86400 - (s % 86400 < 0);
}

static void
by_day(void **state)
{
	rt_stats_options options = all_days(RT_STATS_DAY);

	(void)state;
	expect(&options, "= 0 0/0");
	fill();
	expect(&options, "1969-12-31 1 5/2, 2026-01-02 2 10/1, 2026-01-03 1 100/3, = 4 115/6");
	options.day = an_hour_east;
	expect(&options, "1970-01-01 1 5/2, 2026-01-02 1 0/0, 2026-01-03 2 110/4, = 4 115/6");
	options.day = NULL;
	options.since = options.until = 20455; /* 2026-01-02 */
	expect(&options, "2026-01-02 2 10/1, = 2 10/1");
}

static void
other_groups(void **state)
{
	rt_stats_options options = all_days(RT_STATS_MODEL);

	(void)state;
	fill();
	expect(&options, "m 2 110/4, n 1 5/2, - 1 0/0, = 4 115/6");
	options.by = RT_STATS_DISCUSSION;
	expect(&options, "main 3 15/3, second 1 100/3, = 4 115/6");
	options.by = RT_STATS_PROGRAM;
	expect(&options, "retake 4 115/6, = 4 115/6");
	options.only_here = true; /* the active discussion */
	expect(&options, "retake 1 100/3, = 1 100/3");
	apply("{\"op\":\"discussion.delete\",\"discussion\":\"main\"}");
	options.only_here = false;
	expect(&options, "retake 1 100/3, = 1 100/3");
}

/* Only bodies with more than text, and only in the days, are read. */
static size_t bodies_read;
static const rt_store_ops *inner;

static rt_status
count_reads(rt_store *s, rt_rows rows, rt_store_row_fn fn, void *ctx, rt_error *err)
{
	if (rows.table == RT_STORE_BODIES)
		bodies_read += rows.numbers != NULL ? rows.number_count : rows.last - rows.first + 1;
	return inner->read(s, rows, fn, ctx, err);
}

static void
plain_texts_are_not_read(void **state)
{
	rt_stats_options options = all_days(RT_STATS_DAY);
	rt_store_ops ops = *store->ops;

	(void)state;
	for (int i = 0; i < 200; i++)
		apply("{\"op\":\"entry.append\",\"content\":\"text\",\"ts\":\"2026-01-04T00:00:00Z\"}");
	inner = store->ops;
	ops.read = count_reads;
	store->ops = &ops;
	bodies_read = 0;
	expect(&options, "2026-01-04 200 0/0, = 200 0/0");
	assert_int_equal(bodies_read, 0);
	store->ops = inner;
	fill();
	store->ops = &ops;
	options.until = 20450; /* before 2026 */
	expect(&options, "1969-12-31 1 5/2, = 1 5/2");
	assert_in_range(bodies_read, 1, 1);
	store->ops = inner;
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, open_store, close_store)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(by_day),
		TEST(same_reply),
		TEST(other_groups),
		TEST(plain_texts_are_not_read),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
