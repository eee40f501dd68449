/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/budget.h"

static void
counts_what_is_held(void **state)
{
	rt_budget budget;
	char *a, *b;

	(void)state;
	rt_budget_init(&budget, rt_alloc_libc(), SIZE_MAX);
	a = rt_new(&budget.alloc, 1000);
	assert_non_null(a);
	memset(a, 'x', 1000);
	assert_true(atomic_load(&budget.held) >= 1000);
	a = rt_resize(&budget.alloc, a, 5000);
	assert_non_null(a);
	assert_int_equal(a[999], 'x');
	b = rt_new(&budget.alloc, 1);
	assert_non_null(b);
	rt_free(&budget.alloc, a);
	assert_true(atomic_load(&budget.held) < 100);
	assert_true(atomic_load(&budget.peak) >= 5000);
	rt_free(&budget.alloc, b);
	rt_free(&budget.alloc, NULL);
	assert_int_equal(atomic_load(&budget.held), 0);
}

static void
refuses_beyond_the_limit(void **state)
{
	rt_budget budget;
	rt_error err;
	char *a;

	(void)state;
	memset(&err, 0, sizeof(err));
	rt_budget_init(&budget, rt_alloc_libc(), 1 << 20);
	a = rt_new(&budget.alloc, 1000 * 1000);
	assert_non_null(a);
	a[999999] = 'y';
	assert_int_equal(rt_budget_explain(&budget, RT_NOMEM, "this import", &err), RT_NOMEM);
	assert_null(rt_new(&budget.alloc, 100 * 1000));
	assert_null(rt_resize(&budget.alloc, a, 1100 * 1000));
	assert_int_equal(a[999999], 'y');
	assert_null(rt_new(&budget.alloc, SIZE_MAX));
	assert_int_equal(rt_budget_explain(&budget, RT_IO, "this import", &err), RT_IO);
	assert_int_equal(rt_budget_explain(&budget, RT_NOMEM, "this import", &err), RT_LIMIT);
	assert_string_equal(err.text,
			    "this import needs more than 1 MiB of memory; split the file");
	rt_free(&budget.alloc, a);
	a = rt_new(&budget.alloc, 1000 * 1000); /* there is room again */
	assert_non_null(a);
	rt_free(&budget.alloc, a);
	assert_int_equal(atomic_load(&budget.held), 0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(counts_what_is_held),
		cmocka_unit_test(refuses_beyond_the_limit),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
