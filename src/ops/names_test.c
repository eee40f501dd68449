/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "ops/names.h"

static void
takes(rt_names *names, const char *base, const char *between, uint64_t first, const char *wanted)
{
	rt_buf name;

	rt_buf_init(&name, rt_alloc_libc(), RT_BUF_UNLIMITED);
	assert_int_equal(rt_names_number(names, rt_str_of(base), between, first, &name), RT_OK);
	rt_buf_add_byte(&name, '\0');
	assert_int_equal(name.status, RT_OK);
	assert_string_equal(name.ptr, wanted);
	assert_int_equal(rt_names_add(names, rt_str_of(wanted)), RT_OK);
	rt_buf_deinit(&name);
}

static void
the_first_free_number(void **state)
{
	rt_names names;

	(void)state;
	rt_names_init(&names, rt_alloc_libc());
	assert_false(rt_names_has(&names, RT_STR("a")));
	assert_int_equal(rt_names_add(&names, RT_STR("a")), RT_OK);
	assert_int_equal(rt_names_add(&names, RT_STR("a_3")), RT_OK);
	assert_true(rt_names_has(&names, RT_STR("a")));
	takes(&names, "a", "_", 2, "a_2");
	takes(&names, "a", "_", 2, "a_4"); /* 3 is the name of an existing one */
	assert_int_equal(rt_names_add(&names, RT_STR("a_5")), RT_OK);
	takes(&names, "a", "_", 2, "a_6");
	assert_false(rt_names_has(&names, RT_STR("a_7"))); /* found is not yet in use */
	assert_false(rt_names_has(&names, RT_STR("b")));
	takes(&names, "b", "_", 2, "b_2");
	assert_false(rt_names_has(&names, RT_STR("b"))); /* a base alone does not match */
	takes(&names, "", "_", 2, "_2");
	rt_names_deinit(&names);
}

static void
many(void **state)
{
	char wanted[32];
	rt_names names;
	int i;

	(void)state;
	rt_names_init(&names, rt_alloc_libc());
	for (i = 1; i <= 100000; i++) {
		snprintf(wanted, sizeof(wanted), "t_take_%d", i);
		takes(&names, "t", "_take_", 1, wanted);
	}
	assert_true(rt_names_has(&names, RT_STR("t_take_1")));
	assert_true(rt_names_has(&names, RT_STR("t_take_100000")));
	assert_false(rt_names_has(&names, RT_STR("t_take_100001")));
	rt_names_deinit(&names);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_first_free_number),
		cmocka_unit_test(many),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
