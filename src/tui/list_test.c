/* SPDX-License-Identifier: MIT
 *
 * A cursor in rows of which some are visible. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "tui/list.h"

static void
stays_within(void **state)
{
	rt_list list = {0};

	(void)state;
	rt_list_count(&list, 3);
	rt_list_fit(&list, 10);
	assert_true(rt_list_act(&list, RT_ACT_UP));
	assert_int_equal(list.at, 0);
	assert_true(rt_list_act(&list, RT_ACT_END));
	assert_true(rt_list_act(&list, RT_ACT_DOWN));
	assert_int_equal(list.at, 2);
	assert_true(rt_list_act(&list, RT_ACT_PAGE_UP));
	assert_int_equal(list.at, 0);
	assert_true(rt_list_act(&list, RT_ACT_PAGE_DOWN));
	assert_int_equal(list.at, 2);
	assert_false(rt_list_act(&list, RT_ACT_DELETE));
	rt_list_count(&list, 1);
	assert_int_equal(list.at, 0);
	rt_list_count(&list, 0);
	assert_true(rt_list_act(&list, RT_ACT_DOWN));
	assert_true(rt_list_act(&list, RT_ACT_PAGE_DOWN));
	assert_true(rt_list_act(&list, RT_ACT_END));
	assert_int_equal(list.at, 0);
	rt_list_fit(&list, 5);
	assert_int_equal(rt_list_seen(&list), 0);
}

static void
follows_the_cursor(void **state)
{
	rt_list list = {0};
	size_t i;

	(void)state;
	rt_list_count(&list, 100);
	rt_list_fit(&list, 10);
	for (i = 0; i < 30; i++) {
		(void)rt_list_act(&list, RT_ACT_DOWN);
		rt_list_fit(&list, 10);
	}
	assert_int_equal(list.at, 30);
	assert_int_equal(list.top, 21);
	(void)rt_list_act(&list, RT_ACT_PAGE_DOWN);
	rt_list_fit(&list, 10);
	assert_int_equal(list.at, 39);
	assert_int_equal(list.top, 30);
	(void)rt_list_act(&list, RT_ACT_END);
	rt_list_fit(&list, 10);
	assert_int_equal(list.top, 90);
	/* A higher window shows more above, not blanks below. */
	rt_list_fit(&list, 40);
	assert_int_equal(list.top, 60);
	assert_int_equal(rt_list_seen(&list), 40);
	/* No rows at all, and back. */
	rt_list_fit(&list, 0);
	assert_int_equal(rt_list_seen(&list), 0);
	rt_list_fit(&list, 1);
	assert_int_equal(list.top, 99);
	(void)rt_list_act(&list, RT_ACT_HOME);
	rt_list_fit(&list, 10);
	assert_int_equal(list.top, 0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(stays_within),
		cmocka_unit_test(follows_the_cursor),
	};

	return cmocka_run_group_tests_name("list", tests, NULL, NULL);
}
