/* SPDX-License-Identifier: MIT
 *
 * What is held back comes out as it went in: in its order, with its text, and no more of it than
 * there can be. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

#include "tui/held.h"

static rt_event
key(uint32_t code)
{
	return (rt_event){.kind = RT_EVENT_KEY, .key = {code, 0}};
}

static void
in_its_order(void **state)
{
	char pasted[] = "pasted";
	rt_event paste = {.kind = RT_EVENT_PASTE, .text = rt_str_of(pasted), .is_cut = true}, event;
	rt_held held;

	(void)state;
	rt_held_init(&held, rt_alloc_libc());
	assert_false(rt_held_next(&held, &event));
	event = key('a');
	assert_int_equal(rt_held_add(&held, &event), RT_OK);
	assert_int_equal(rt_held_add(&held, &paste), RT_OK);
	memset(pasted, '!', sizeof(pasted) - 1); /* it lives until the next wait only */
	event = key('b');
	assert_int_equal(rt_held_add(&held, &event), RT_OK);
	assert_true(rt_held_next(&held, &event));
	assert_int_equal(event.key.code, 'a');
	rt_held_free(&held, &event);
	assert_true(rt_held_next(&held, &event));
	assert_true(rt_str_is(event.text, "pasted"));
	assert_true(event.is_cut);
	rt_held_free(&held, &event);
	assert_true(rt_held_next(&held, &event));
	assert_int_equal(event.key.code, 'b');
	assert_false(rt_held_next(&held, &event));
	rt_held_deinit(&held);
}

/* It goes round. */
static void
as_many_as_there_can_be(void **state)
{
	rt_held held;
	rt_event event;
	uint32_t i, next = 0;

	(void)state;
	rt_held_init(&held, rt_alloc_libc());
	for (i = 0; i < RT_HELD_MAX; i++) {
		event = key(i);
		assert_int_equal(rt_held_add(&held, &event), RT_OK);
	}
	assert_int_equal(rt_held_add(&held, &event), RT_LIMIT);
	for (; next < 10; next++) {
		assert_true(rt_held_next(&held, &event));
		assert_int_equal(event.key.code, next);
	}
	for (; i < RT_HELD_MAX + 10; i++) {
		event = key(i);
		assert_int_equal(rt_held_add(&held, &event), RT_OK);
	}
	assert_int_equal(rt_held_add(&held, &event), RT_LIMIT);
	for (; rt_held_next(&held, &event); next++)
		assert_int_equal(event.key.code, next);
	assert_int_equal(next, RT_HELD_MAX + 10);
	rt_held_deinit(&held);
}

/* Texts that nobody took are freed. */
static void
cleared(void **state)
{
	rt_event paste = {.kind = RT_EVENT_PASTE, .text = RT_STR("text")}, event;
	rt_held held;

	(void)state;
	rt_held_init(&held, rt_alloc_libc());
	assert_int_equal(rt_held_add(&held, &paste), RT_OK);
	rt_held_clear(&held);
	assert_false(rt_held_next(&held, &event));
	assert_int_equal(rt_held_add(&held, &paste), RT_OK);
	rt_held_deinit(&held);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(in_its_order),
		cmocka_unit_test(as_many_as_there_can_be),
		cmocka_unit_test(cleared),
	};

	return cmocka_run_group_tests_name("held", tests, NULL, NULL);
}
