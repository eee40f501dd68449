/* SPDX-License-Identifier: MIT */
#include "formats/walk_testing.h"

#include "base/budget.h"
#include "formats/formats_random.h"

static const char document[] =
	" {\"active\" : \"ma\\\"in\",\n \"discussions\":[ {\"a\":[1,{\"]\":\"\\\\\\\"]\"}]} ,\n"
	"{\"b\":tru},[],\"x\", 12.5e3 ],\"last\":{}}\n";

/* Every member of a list is held alone, and the rest of the document is passed. */
static void
test_members(void **state)
{
	walk_source s = {.bytes = rt_str_of(document), .step = 3};
	rt_input in = walk_input(&s);
	static const char *const wanted[] = {"{\"a\":[1,{\"]\":\"\\\\\\\"]\"}]}", "{\"b\":tru}", "[]",
					     "\"x\"", "12.5e3"};
	rt_walk_level top, list;
	rt_walk_mark mark = {0, 0};
	rt_str key, value;
	rt_walk w;
	size_t i = 0, round;

	(void)state;
	rt_walk_init(&w, rt_alloc_libc(), &in);
	assert_true(rt_walk_open(&w, &top));
	while (rt_walk_next(&w, &top, &key)) {
		if (rt_str_is(key, "\"discussions\""))
			mark = rt_walk_here(&w);
		assert_true(rt_walk_skip(&w, &top));
	}
	assert_false(top.bad);
	assert_false(rt_walk_blank(&w));
	assert_int_equal(rt_walk_here(&w).offset, sizeof(document) - 1);
	assert_int_equal(mark.line, 2);
	for (round = 0; round < 2; round++) {
		rt_walk_seek(&w, mark);
		assert_true(rt_walk_open(&w, &list));
		for (i = 0; rt_walk_next(&w, &list, &key); i++) {
			assert_int_equal(key.size, 0);
			assert_int_equal(rt_walk_here(&w).line, i == 0 ? 2 : 3);
			assert_int_equal(rt_walk_value(&w, &list, strlen(wanted[i]) - 1, &value),
					 RT_WALK_LONG);
			assert_int_equal(rt_walk_value(&w, &list, strlen(wanted[i]), &value),
					 RT_WALK_WHOLE);
			assert_true(rt_str_is(value, wanted[i]));
		}
		assert_int_equal(i, 5);
		assert_false(list.bad);
	}
	rt_walk_deinit(&w);
}

/* Cut after every byte, and read in pieces of every size: always the result of scanning the same
 * text. */
static void
test_cut(void **state)
{
	uint8_t bytes[sizeof(document)];
	size_t size, step;

	(void)state;
	memcpy(bytes + 1, document, sizeof(document) - 1);
	for (size = 0; size < sizeof(document); size++)
		for (step = 1; step < 20; step++) {
			bytes[0] = (uint8_t)(step - 1);
			walk_check(bytes, size + 1);
		}
}

/* One byte changed to each significant one. */
static void
test_damaged(void **state)
{
	static const char signs[] = "{}[]\",: \n\\x";
	uint8_t bytes[sizeof(document)];
	size_t at, i;

	(void)state;
	for (at = 0; at < sizeof(document) - 1; at++)
		for (i = 0; i < sizeof(signs) - 1; i++) {
			memcpy(bytes + 1, document, sizeof(document) - 1);
			bytes[1 + at] = (uint8_t)signs[i];
			bytes[0] = (uint8_t)(at % 7);
			walk_check(bytes, sizeof(document));
		}
}

static void
test_lines(void **state)
{
	walk_source s = {.bytes = RT_STR("one\n\nthree, which is long\nlast"), .step = 4};
	rt_input in = walk_input(&s);
	rt_walk w;
	rt_str line;

	(void)state;
	rt_walk_init(&w, rt_alloc_libc(), &in);
	assert_int_equal(rt_walk_line(&w, 8, &line), RT_WALK_WHOLE);
	assert_true(rt_str_is(line, "one"));
	assert_int_equal(rt_walk_line(&w, 8, &line), RT_WALK_WHOLE);
	assert_true(rt_str_is(line, ""));
	assert_int_equal(rt_walk_line(&w, 8, &line), RT_WALK_LONG);
	assert_int_equal(rt_walk_here(&w).line, 3);
	rt_walk_skip_line(&w);
	assert_int_equal(rt_walk_here(&w).line, 4);
	assert_int_equal(rt_walk_line(&w, 8, &line), RT_WALK_WHOLE);
	assert_true(rt_str_is(line, "last"));
	assert_int_equal(rt_walk_line(&w, 8, &line), RT_WALK_CUT);
	rt_walk_deinit(&w);
}

static void
test_find(void **state)
{
	walk_source s = {.bytes = RT_STR("aab aaab\naaaab"), .step = 1};
	rt_input in = walk_input(&s);
	rt_walk w;

	(void)state;
	rt_walk_init(&w, rt_alloc_libc(), &in);
	assert_true(rt_walk_find(&w, RT_STR("aaab")));
	assert_int_equal(rt_walk_here(&w).offset, 8);
	assert_true(rt_walk_find(&w, RT_STR("aaab")));
	assert_int_equal(rt_walk_here(&w).offset, 14);
	assert_int_equal(rt_walk_here(&w).line, 2);
	assert_false(rt_walk_find(&w, RT_STR("aaab")));
	rt_walk_deinit(&w);
}

/* A file that cannot be read any further is not a complete file. */
static void
test_failing_input(void **state)
{
	size_t at;

	(void)state;
	for (at = 1; at < sizeof(document) - 1; at++) {
		walk_source s = {.bytes = rt_str_of(document), .step = 2, .fails_at = at};
		rt_input in = walk_input(&s);
		rt_error err = {0};
		rt_buf out;
		rt_walk w;

		rt_buf_init(&out, rt_alloc_libc(), RT_BUF_UNLIMITED);
		rt_walk_init(&w, rt_alloc_libc(), &in);
		(void)rt_walk_blank(&w);
		if (walk_dump(&out, NULL, &w, NULL, 4))
			(void)rt_walk_blank(&w);
		assert_int_equal(rt_walk_fail(&w, &err), RT_IO);
		assert_string_equal(err.text, "the disk failed");
		assert_int_equal(rt_walk_peek(&w), -1);
		rt_walk_deinit(&w);
		rt_buf_deinit(&out);
	}
}

/* The list may have any length: only its longest member is kept in memory. */
static void
test_memory(void **state)
{
	size_t peak[2], round, i;

	(void)state;
	for (round = 0; round < 2; round++) {
		size_t count = round == 0 ? 20000 : 200000, seen = 0;
		walk_source s = {.step = SIZE_MAX};
		rt_budget budget;
		rt_walk_level list;
		rt_str key, value;
		rt_input in;
		rt_buf text;
		rt_walk w;

		rt_buf_init(&text, rt_alloc_libc(), RT_BUF_UNLIMITED);
		rt_buf_add_byte(&text, '[');
		for (i = 0; i < count; i++)
			rt_buf_add_f(&text, "%s{\"n\":%zu}", i == 0 ? "" : ",", i);
		rt_buf_add_byte(&text, ']');
		s.bytes = rt_buf_str(&text);
		in = walk_input(&s);
		rt_budget_init(&budget, rt_alloc_libc(), SIZE_MAX);
		rt_walk_init(&w, &budget.alloc, &in);
		assert_true(rt_walk_open(&w, &list));
		for (; rt_walk_next(&w, &list, &key); seen++)
			assert_int_equal(rt_walk_value(&w, &list, 100, &value), RT_WALK_WHOLE);
		assert_int_equal(seen, count);
		rt_walk_deinit(&w);
		rt_buf_deinit(&text);
		peak[round] = budget.peak;
	}
	assert_int_equal(peak[0], peak[1]);
}

static void *
one_fails(void *ctx, void *ptr, size_t size)
{
	size_t *left = ctx;

	if (*left == 0)
		return NULL;
	(*left)--;
	return rt_resize(rt_alloc_libc(), ptr, size);
}

static void
release(void *ctx, void *ptr)
{
	(void)ctx;
	rt_free(rt_alloc_libc(), ptr);
}

static void
test_torture(void **state)
{
	size_t allowed, left;
	rt_alloc alloc = {one_fails, release, &left};
	rt_status st = RT_NOMEM;

	(void)state;
	for (allowed = 0; st != RT_OK; allowed++) {
		walk_source s = {.bytes = rt_str_of(document), .step = 5};
		rt_input in = walk_input(&s);
		bool whole;
		rt_buf out;
		rt_walk w;

		left = allowed;
		rt_buf_init(&out, rt_alloc_libc(), RT_BUF_UNLIMITED);
		rt_walk_init(&w, &alloc, &in);
		(void)rt_walk_blank(&w);
		whole = walk_dump(&out, NULL, &w, NULL, 4);
		st = rt_walk_fail(&w, NULL);
		assert_int_equal(whole, st == RT_OK);
		assert_true(st == RT_OK || st == RT_NOMEM);
		rt_walk_deinit(&w);
		rt_buf_deinit(&out);
	}
	assert_true(allowed > 1);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_members), cmocka_unit_test(test_cut),
		cmocka_unit_test(test_damaged), cmocka_unit_test(test_lines),
		cmocka_unit_test(test_find),	cmocka_unit_test(test_failing_input),
		cmocka_unit_test(test_memory),	cmocka_unit_test(test_torture),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
