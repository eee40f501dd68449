/* SPDX-License-Identifier: MIT
 *
 * Text: parts of a view. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/text.h"

static void
splitting(void **state)
{
	rt_str rest = RT_STR("one\n\ntwo"), part;

	(void)state;
	assert_true(rt_str_split(&rest, '\n', &part) && rt_str_is(part, "one"));
	assert_true(rt_str_split(&rest, '\n', &part) && part.size == 0);
	assert_true(rt_str_split(&rest, '\n', &part) && rt_str_is(part, "two"));
	assert_false(rt_str_split(&rest, '\n', &part));
	rest = RT_STR("a&"); /* nothing follows the last separator, so there is no further part */
	assert_true(rt_str_split(&rest, '&', &part) && rt_str_is(part, "a"));
	assert_false(rt_str_split(&rest, '&', &part));
	rest = (rt_str){NULL, 0};
	assert_false(rt_str_split(&rest, '&', &part));
}

static void
skipping(void **state)
{
	(void)state;
	assert_true(rt_str_is(rt_str_skip(RT_STR("abc"), 1), "bc"));
	assert_int_equal(rt_str_skip(RT_STR("abc"), 3).size, 0);
	assert_null(rt_str_skip((rt_str){NULL, 0}, 0).ptr);
}

static void
decimal_numbers(void **state)
{
	static const struct {
		const char *text;
		uint64_t max, wanted;
		size_t digits; /* 0: none, or too large */
	} cases[] = {
		{"0", 9, 0, 1},
		{"12ab", 99, 12, 2},
		{"007", 7, 7, 3},
		{"100", 99, 0, 0},
		{"18446744073709551615", UINT64_MAX, UINT64_MAX, 20},
		{"18446744073709551616", UINT64_MAX, 0, 0},
		{"99999999999999999999999", UINT64_MAX, 0, 0},
		{"7", 3, 0, 0},
		{"-1", 9, 0, 0},
		{" 1", 9, 0, 0},
		{"", 9, 0, 0},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		rt_str text = rt_str_of(cases[i].text);
		bool alone = cases[i].digits > 0 && cases[i].digits == text.size;
		uint64_t number = 0;

		assert_int_equal(rt_str_u64_prefix(text, cases[i].max, &number), cases[i].digits);
		assert_true(number == cases[i].wanted);
		number = 1;
		assert_int_equal(rt_str_u64(text, cases[i].max, &number), alone);
		assert_true(number == (alone ? cases[i].wanted : 1));
	}
}

static void
a_failed_buffer_stays_failed(void **state)
{
	char wide[300];
	rt_buf buf;

	(void)state;
	memset(wide, 'x', sizeof(wide) - 1);
	wide[sizeof(wide) - 1] = '\0';
	/* A text that fits exactly. */
	rt_buf_init(&buf, rt_alloc_libc(), sizeof(wide) - 1);
	rt_buf_add_f(&buf, "%s", wide);
	assert_int_equal(buf.status, RT_OK);
	assert_string_equal(buf.ptr, wide);
	rt_buf_add_f(&buf, "%s", wide);
	assert_int_equal(buf.status, RT_LIMIT);
	buf.status = RT_NOMEM;
	rt_buf_add_f(&buf, "%d", 1);
	rt_buf_add_f(&buf, "%s", wide);
	assert_int_equal(buf.status, RT_NOMEM);
	assert_int_equal(buf.size, sizeof(wide) - 1);
	rt_buf_deinit(&buf);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(splitting),
		cmocka_unit_test(skipping),
		cmocka_unit_test(decimal_numbers),
		cmocka_unit_test(a_failed_buffer_stays_failed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
