/* SPDX-License-Identifier: MIT
 *
 * A group of sendings: which member adds the question, and how failures are handled. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "chat/send_group.h"

static rt_send_group *
group_of(size_t members)
{
	rt_send_group *g = NULL;

	assert_int_equal(rt_send_group_new(rt_alloc_libc(), members, &g, NULL), RT_OK);
	return g;
}

static void
leave(rt_send_group *g, size_t members)
{
	for (size_t i = 0; i < members; i++)
		rt_send_group_unref(g);
}

static void
test_question(void **state)
{
	rt_send_group *g = group_of(3);
	rt_send_asked asked = {.question = "q1", .anchor = 7}, out = {0};

	(void)state;
	assert_true(rt_send_group_wait(g, &out));
	/* the first could not add it: the next one tries */
	rt_send_group_asked(g, NULL);
	assert_true(rt_send_group_wait(g, &out));
	rt_send_group_asked(g, &asked);
	assert_false(rt_send_group_wait(g, &out));
	assert_string_equal(out.question, "q1");
	assert_int_equal(out.anchor, 7);
	leave(g, 3);
}

static void
test_rows(void **state)
{
	rt_send_group *g = group_of(3);

	(void)state;
	assert_int_equal(rt_send_group_begin_keep(g), 0);
	rt_send_group_end_keep(g, 0); /* it could not be kept */
	assert_int_equal(rt_send_group_begin_keep(g), 0);
	rt_send_group_end_keep(g, 12);
	assert_int_equal(rt_send_group_begin_keep(g), 12);
	rt_send_group_end_keep(g, 15);
	assert_int_equal(rt_send_group_begin_keep(g), 12);
	rt_send_group_end_keep(g, 16);
	leave(g, 3);
}

/* kept: the row of a member's reply; 0: no member has one. */
static void
check_failures(uint64_t kept, const char *wanted)
{
	rt_send_group *g = group_of(3);
	rt_buf out;

	rt_buf_init(&out, rt_alloc_libc(), RT_BUF_UNLIMITED);
	if (kept > 0) {
		(void)rt_send_group_begin_keep(g);
		rt_send_group_end_keep(g, kept);
	}
	rt_send_group_end(g, RT_STR(""), &out); /* stopped, or it has a reply */
	rt_send_group_end(g, RT_STR("{1}"), &out);
	assert_int_equal(out.size, 0);
	rt_send_group_end(g, RT_STR("{2}"), &out);
	rt_buf_add_byte(&out, '\0');
	assert_string_equal(out.ptr, wanted);
	rt_buf_deinit(&out);
	leave(g, 3);
}

static void
test_failures(void **state)
{
	(void)state;
	check_failures(0, "{1}");
	check_failures(9, "");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_question),
		cmocka_unit_test(test_rows),
		cmocka_unit_test(test_failures),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
