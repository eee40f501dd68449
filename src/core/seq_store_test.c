/* SPDX-License-Identifier: MIT
 *
 * Stored nodes: numbers that do not fit their members are damage, not other numbers. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/varint.h"
#include "core/seq_impl.h"

/* A leaf with one slot: key, entry, body, time, size, role, kind, flags. */
static rt_status
decode_leaf(const uint64_t numbers[8])
{
	node *n = NULL;
	rt_status st;
	rt_buf bytes;

	rt_buf_init(&bytes, rt_alloc_libc(), RT_BUF_UNLIMITED);
	rt_buf_add_byte(&bytes, 'L');
	rt_buf_add_varint(&bytes, 0); /* the height */
	rt_buf_add_varint(&bytes, 1); /* the number of slots */
	for (size_t i = 0; i < 8; i++)
		rt_buf_add_varint(&bytes, numbers[i]);
	st = rt_seq_node_decode(rt_alloc_libc(), rt_buf_str(&bytes), 0, 7, &n, NULL);
	rt_buf_deinit(&bytes);
	if (st == RT_OK)
		rt_seq_node_unref(rt_alloc_libc(), n);
	return st;
}

static void
numbers_out_of_range_are_damage(void **state)
{
	static const uint64_t largest[4] = {UINT32_MAX, UINT16_MAX, UINT16_MAX, UINT32_MAX};

	(void)state;
	for (size_t i = 0; i < 4; i++) {
		uint64_t numbers[8] = {1, 2, 2, 0, 5, 0, 0, 0};

		numbers[4 + i] = largest[i];
		assert_int_equal(decode_leaf(numbers), RT_OK);
		numbers[4 + i]++;
		assert_int_equal(decode_leaf(numbers), RT_CORRUPT);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(numbers_out_of_range_are_damage),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
