/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/shared_library_host.h"

static struct {
	size_t (*length)(const char *text);
	void (*none)(void);
} functions;

static int starts;

static rt_status
start(rt_error *err)
{
	(void)err;
	starts++;
	return RT_OK;
}

static const rt_shared_function table[] = {
	{"strlen", &functions.length},
	{"no_such_function", &functions.none},
};

static rt_shared_library
library(const char *file, const char *other, size_t count)
{
	return (rt_shared_library){.name = "libx",
				   .version = "7",
				   .need = "a test needs it",
				   .files = {file, other},
				   .functions = table,
				   .function_count = count,
				   .start = start,
				   .lock = PTHREAD_MUTEX_INITIALIZER};
}

static void
is_started_once(void **state)
{
	rt_shared_library l = library("libnone.so.1", "libc.so.6", 1);

	(void)state;
	starts = 0;
	assert_int_equal(rt_shared_library_load(&l, NULL), RT_OK);
	assert_int_equal(rt_shared_library_load(&l, NULL), RT_OK);
	assert_int_equal(starts, 1);
	assert_int_equal(functions.length("four"), 4);
}

static void
fails_the_same_way_again(void **state)
{
	rt_shared_library missing = library("libnone.so.1", NULL, 1);
	rt_shared_library old = library("libc.so.6", NULL, 2);
	rt_error err;

	(void)state;
	starts = 0;
	for (int i = 0; i < 2; i++) {
		assert_int_equal(rt_shared_library_load(&missing, &err), RT_IO);
		assert_non_null(strstr(err.text, "libx cannot be loaded (libnone.so.1"));
		assert_non_null(strstr(err.text, "; a test needs it"));
		assert_int_equal(rt_shared_library_load(&old, &err), RT_IO);
		assert_string_equal(err.text, "libx has no function no_such_function: version 7 or "
					      "later is required");
	}
	assert_int_equal(starts, 0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(is_started_once),
		cmocka_unit_test(fails_the_same_way_again),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
