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

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(splitting),
		cmocka_unit_test(skipping),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
