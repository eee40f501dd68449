/* SPDX-License-Identifier: MIT
 *
 * Contexts within a budget of tokens: the entries that fit, the counted texts, and the reads of the
 * store. */
#include "chat/context_testing.h"

/* ---- the budget, counted ---- */

/* Every byte is a token. */
static size_t
bytes_of(void *ctx, rt_str text)
{
	(void)ctx;
	return text.size;
}

static void
counted_as_it_is_sent(void **state)
{
	enum { EACH = RT_TOKENS_PER_MESSAGE };
	bare *f = *state;
	rt_context_totals totals = {0};
	rt_context_options options = {.count = bytes_of, .totals = &totals};
	const size_t prompts = strlen("base\n\nproject") + EACH +
			       strlen("[current prompt: \"a \"b\"]") + EACH;

	bare_apply(f, "{\"op\":\"setting.set\",\"key\":\"base_system_prompt\",\"value\":\"base\"}");
	bare_apply(f, "{\"op\":\"setting.set\",\"key\":\"project_system_prompt\",\"value\":\"project\"}");
	bare_apply(f, "{\"op\":\"prompt.update\",\"text\":\"a \\\"b\"}");
	bare_add(f, "a", "User", "12345");
	bare_add(f, "b", "AI", "1234567");
	(void)request(f, "openai", &options);
	assert_int_equal(totals.tokens, prompts + 5 + EACH + 7 + EACH);
	/* calls of tools are counted */
	bare_apply(f, "{\"op\":\"entry.append\",\"role\":\"AI\",\"content\":\"\",\"tool_calls\":["
		 "{\"id\":\"c\",\"type\":\"function\",\"function\":{\"name\":\"get\","
		 "\"arguments\":\"{}\"}}]}");
	(void)request(f, "openai", &options);
	assert_true(totals.tokens > prompts + 5 + EACH + 7 + EACH + EACH + 15);
	/* exact: with one token less, the oldest is left out */
	options.budget_tokens = totals.tokens + RT_TOKENS_PER_REPLY;
	(void)request(f, "openai", &options);
	assert_int_equal(totals.left_out, 0);
	options.budget_tokens--;
	(void)request(f, "openai", &options);
	assert_int_equal(totals.left_out, 1);
}

static void
heard(void *ctx, const rt_context_part *part)
{
	(void)part;
	++*(size_t *)ctx;
}

/* Only the end of a long path is read, unless the callback needs every entry: both ways produce
 * the same request. */
static void
the_end_of_a_long_path_is_enough(void **state)
{
	enum { ENTRIES = 1300 };
	static const size_t budgets[] = {1, 40, 300, 2000, 6000, 9000, 14000, 1000000};
	bare *f = *state;
	size_t i, newest, parts = 0;

	for (i = 0; i < ENTRIES; i++) {
		char json[400];

		if (i % 9 == 4) /* a call, followed by its result */
			snprintf(json, sizeof(json),
				 "{\"op\":\"entry.append\",\"id\":\"e%zu\",\"role\":\"AI\",\"content\":"
				 "\"I look\",\"tool_calls\":[{\"id\":\"c%zu\",\"type\":\"function\","
				 "\"function\":{\"name\":\"get\",\"arguments\":\"{}\"}}]}", i, i);
		else if (i % 9 == 5)
			snprintf(json, sizeof(json),
				 "{\"op\":\"entry.append\",\"id\":\"e%zu\",\"role\":\"tool\","
				 "\"content\":\"found %zu\",\"tool_call_id\":\"c%zu\"}", i, i, i - 1);
		else
			snprintf(json, sizeof(json),
				 "{\"op\":\"entry.append\",\"id\":\"e%zu\",\"role\":\"%s\","
				 "\"content\":\"number %zu of many\",\"muted\":%s}", i,
				 i % 2 == 0 ? "User" : "AI", i, i % 11 == 3 ? "true" : "false");
		bare_apply(f, json);
	}
	for (i = 0; i < 2 * sizeof(budgets) / sizeof(budgets[0]); i++) {
		rt_context_totals ended, whole;
		rt_context_options options = {.budget_tokens = budgets[i / 2], .totals = &ended};
		rt_buf end;

		options.count = i % 2 == 0 ? NULL : bytes_of;
		rt_buf_init(&end, rt_alloc_libc(), RT_BUF_UNLIMITED);
		rt_buf_add_c(&end, request(f, "openai", &options));
		options.part = heard;
		options.ctx = &parts;
		options.totals = &whole;
		(void)request(f, "openai", &options);
		assert_true(rt_str_eq(rt_buf_str(&end), rt_buf_str(&f->out)));
		assert_int_equal(ended.entries, whole.entries);
		if (options.count == NULL || whole.left_out > 0) /* otherwise nothing was counted */
			assert_int_equal(ended.tokens, whole.tokens);
		assert_true(ended.left_out >= whole.left_out);
		newest = ended.entries;
		options.newest = &newest;
		options.part = NULL;
		(void)request(f, "openai", &options);
		assert_true(rt_str_eq(rt_buf_str(&end), rt_buf_str(&f->out)));
		rt_buf_deinit(&end);
	}
	assert_true(parts > 0);
}

/* The same entries are sent again, whatever the token counts are now. */
static void
sends_as_many_as_it_is_told(void **state)
{
	bare *f = *state;
	size_t newest = 2;
	rt_context_totals totals = {0};
	rt_context_options options = {.budget_tokens = 1, .newest = &newest, .totals = &totals};

	bare_add(f, "a", "User", "one");
	bare_add(f, "b", "AI", "two");
	bare_add(f, "c", "User", "three");
	bare_add(f, "d", "AI", "four");
	assert_non_null(strstr(request(f, "openai", &options), "three"));
	assert_null(strstr(f->out.ptr, "two"));
	assert_int_equal(totals.left_out, 2);
	newest = 9;
	assert_non_null(strstr(request(f, "openai", &options), "one"));
	assert_int_equal(totals.left_out, 0);
	newest = 0;
	(void)request(f, "openai", &options);
	assert_int_equal(totals.left_out, 4);
}

static size_t
count_calls(void *ctx, rt_str text)
{
	size_t *calls = ctx;

	*calls += 1;
	return text.size;
}

/* A budget with a token for every byte is enough for everything: nothing is counted. */
static void
counts_only_where_it_matters(void **state)
{
	bare *f = *state;
	size_t calls = 0;
	rt_context_totals totals = {0};
	rt_context_options options = {
		.count = count_calls, .ctx = &calls, .totals = &totals, .budget_tokens = 100};

	bare_add(f, "a", "User", "one");
	bare_add(f, "b", "AI", "two");
	(void)request(f, "openai", &options);
	assert_int_equal(calls, 0);
	assert_int_equal(totals.left_out, 0);
	options.budget_tokens = 16;
	(void)request(f, "openai", &options);
	assert_true(calls > 0);
	assert_int_equal(totals.left_out, 1);
}

/* The bytes of an image are not its tokens, whether texts are counted or not. */
static void
an_image_costs_what_an_image_costs(void **state)
{
	enum { BYTES = 40000 };
	bare *f = *state;
	rt_context_totals totals = {0};
	rt_context_options options = {.totals = &totals, .budget_tokens = 2000};
	rt_buf op;
	size_t i;

	bare_add(f, "a", "User", "before");
	rt_buf_init(&op, rt_alloc_libc(), RT_BUF_UNLIMITED);
	rt_buf_add_c(&op, "{\"op\":\"entry.append\",\"role\":\"User\",\"content\":[{\"type\":\"text\","
			  "\"text\":\"see\"},{\"type\":\"image\",\"mimeType\":\"image/png\",\"data\":\"");
	for (i = 0; i < BYTES; i++)
		rt_buf_add_byte(&op, 'A');
	rt_buf_add_c(&op, "\"}]}");
	bare_apply(f, op.ptr);
	rt_buf_deinit(&op);
	(void)request(f, "openai", &options);
	assert_int_equal(totals.left_out, 0);
	assert_true(totals.tokens > RT_TOKENS_PER_IMAGE && totals.tokens < RT_TOKENS_PER_IMAGE + 50);
	options.count = bytes_of;
	(void)request(f, "openai", &options);
	assert_int_equal(totals.left_out, 0);
	assert_true(totals.tokens > RT_TOKENS_PER_IMAGE && totals.tokens < RT_TOKENS_PER_IMAGE + 50);
}

/* ---- bodies ---- */

static const rt_store_ops *whole_ops;
static size_t singles, runs;

static rt_status
count_reads(rt_store *store, rt_rows rows, rt_store_row_fn fn, void *ctx, rt_error *err)
{
	if (rows.table == RT_STORE_BODIES) {
		runs += rows.numbers != NULL;
		singles += rows.numbers == NULL;
	}
	return whole_ops->read(store, rows, fn, ctx, err);
}

/* Replies are read to find thinking in them, from the newest to the oldest; then all is read from
 * the oldest on. */
static void
bodies_are_read_in_runs(void **state)
{
	bare *f = *state;
	rt_context_totals totals = {0};
	rt_context_options options = {.totals = &totals};
	rt_store_ops counting;

	for (int i = 0; i < 65; i++) {
		bare_apply(f, "{\"op\":\"entry.append\",\"content\":\"question\"}");
		bare_apply(f, "{\"op\":\"entry.append\",\"role\":\"assistant\","
			      "\"content\":\"reply\"}");
	}
	whole_ops = f->store->ops;
	counting = *whole_ops;
	counting.read = count_reads;
	f->store->ops = &counting;
	singles = runs = 0;
	(void)request(f, "openai", &options);
	f->store->ops = whole_ops;
	assert_int_equal(totals.entries, 130);
	assert_in_range(singles, 0, 2);
	assert_in_range(runs, 1, 6);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		WITH(counted_as_it_is_sent),
		WITH(the_end_of_a_long_path_is_enough),
		WITH(sends_as_many_as_it_is_told),
		WITH(counts_only_where_it_matters),
		WITH(an_image_costs_what_an_image_costs),
		WITH(bodies_are_read_in_runs),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
