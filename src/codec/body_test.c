/* SPDX-License-Identifier: MIT
 *
 * Bodies: damaged ones are reported as damage, in words. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/scope.h"
#include "codec/body.h"

static void
damage_is_described(void **state)
{
	static const char *const damaged[] = {"J{\"content\":", "Pnot a line", "J[1]", "?x", ""};

	(void)state;
	for (size_t i = 0; i < sizeof(damaged) / sizeof(damaged[0]); i++) {
		rt_body body;
		rt_scope s;

		rt_scope_init(&s, rt_alloc_libc());
		assert_int_equal(RT_TRY(&s, rt_body_read(rt_alloc_libc(), rt_str_of(damaged[i]), &body,
							 &s.error)),
				 RT_CORRUPT);
		/* Not only "corrupt": the scope keeps the message of the same status. */
		if (strstr(s.error.text, "body") == NULL)
			fail_msg("\"%s\": %s", damaged[i], s.error.text);
		rt_scope_deinit(&s);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(damage_is_described),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
