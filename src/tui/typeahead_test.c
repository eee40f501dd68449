/* SPDX-License-Identifier: MIT
 *
 * Queued keys are returned unchanged: in their order, with their text, up to the maximum number. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

#include "tui/typeahead.h"

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
	rt_typeahead typeahead;

	(void)state;
	rt_typeahead_init(&typeahead, rt_alloc_libc());
	assert_false(rt_typeahead_next(&typeahead, &event));
	event = key('a');
	assert_int_equal(rt_typeahead_add(&typeahead, &event), RT_OK);
	assert_int_equal(rt_typeahead_add(&typeahead, &paste), RT_OK);
	memset(pasted, '!', sizeof(pasted) - 1); /* it is only valid until the next wait */
	event = key('b');
	assert_int_equal(rt_typeahead_add(&typeahead, &event), RT_OK);
	assert_true(rt_typeahead_next(&typeahead, &event));
	assert_int_equal(event.key.code, 'a');
	rt_typeahead_free(&typeahead, &event);
	assert_true(rt_typeahead_next(&typeahead, &event));
	assert_true(rt_str_is(event.text, "pasted"));
	assert_true(event.is_cut);
	rt_typeahead_free(&typeahead, &event);
	assert_true(rt_typeahead_next(&typeahead, &event));
	assert_int_equal(event.key.code, 'b');
	assert_false(rt_typeahead_next(&typeahead, &event));
	rt_typeahead_deinit(&typeahead);
}

/* It goes round. */
static void
as_many_as_there_can_be(void **state)
{
	rt_typeahead typeahead;
	rt_event event;
	uint32_t i, next = 0;

	(void)state;
	rt_typeahead_init(&typeahead, rt_alloc_libc());
	for (i = 0; i < RT_TYPEAHEAD_MAX; i++) {
		event = key(i);
		assert_int_equal(rt_typeahead_add(&typeahead, &event), RT_OK);
	}
	assert_int_equal(rt_typeahead_add(&typeahead, &event), RT_OK); /* not kept */
	assert_int_equal(typeahead.count, RT_TYPEAHEAD_MAX);
	for (; next < 10; next++) {
		assert_true(rt_typeahead_next(&typeahead, &event));
		assert_int_equal(event.key.code, next);
	}
	for (; i < RT_TYPEAHEAD_MAX + 10; i++) {
		event = key(i);
		assert_int_equal(rt_typeahead_add(&typeahead, &event), RT_OK);
	}
	assert_int_equal(rt_typeahead_add(&typeahead, &event), RT_OK); /* not kept */
	assert_int_equal(typeahead.count, RT_TYPEAHEAD_MAX);
	for (; rt_typeahead_next(&typeahead, &event); next++)
		assert_int_equal(event.key.code, next);
	assert_int_equal(next, RT_TYPEAHEAD_MAX + 10);
	rt_typeahead_deinit(&typeahead);
}

/* Texts that were not removed are freed. */
static void
cleared(void **state)
{
	rt_event paste = {.kind = RT_EVENT_PASTE, .text = RT_STR("text")}, event;
	rt_typeahead typeahead;

	(void)state;
	rt_typeahead_init(&typeahead, rt_alloc_libc());
	assert_int_equal(rt_typeahead_add(&typeahead, &paste), RT_OK);
	rt_typeahead_clear(&typeahead);
	assert_false(rt_typeahead_next(&typeahead, &event));
	assert_int_equal(rt_typeahead_add(&typeahead, &paste), RT_OK);
	rt_typeahead_deinit(&typeahead);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(in_its_order),
		cmocka_unit_test(as_many_as_there_can_be),
		cmocka_unit_test(cleared),
	};

	return cmocka_run_group_tests_name("typeahead", tests, NULL, NULL);
}
