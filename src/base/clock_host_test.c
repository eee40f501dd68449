/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/clock_host.h"

static void
a_wait_ends_at_its_time(void **state)
{
	int64_t until = rt_clock_ms() + 30;
	pthread_mutex_t lock;
	pthread_cond_t changed;

	(void)state;
	assert_true(rt_wait_init(&lock, &changed));
	assert_int_equal(pthread_mutex_lock(&lock), 0);
	while (rt_wait_until(&lock, &changed, until))
		;
	assert_true(rt_clock_ms() >= until);
	assert_false(rt_wait_until(&lock, &changed, until - 1000)); /* it has passed */
	assert_int_equal(pthread_mutex_unlock(&lock), 0);
	rt_wait_deinit(&lock, &changed);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(a_wait_ends_at_its_time)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
