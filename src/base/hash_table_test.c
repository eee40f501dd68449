/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/hash.h"
#include "base/hash_table.h"

enum { ITEMS = 5000 };

/* The items are the squares of their numbers. */
static size_t
find(const rt_hash_table *t, uint64_t square, uint64_t hash)
{
	uint32_t number;

	for (size_t probe = 0; rt_hash_table_next(t, hash, &probe, &number);)
		if ((uint64_t)number * number == square)
			return number;
	return SIZE_MAX;
}

static void
finds_what_was_added(void **state)
{
	rt_hash_table t = {0};

	(void)state;
	assert_int_equal(find(&t, 4, rt_hash_u64(4)), SIZE_MAX);
	for (size_t i = 0; i < ITEMS; i++)
		assert_int_equal(rt_hash_table_add(&t, rt_alloc_libc(), rt_hash_u64(i * i), i),
				 RT_OK);
	for (size_t i = 0; i < ITEMS; i++) {
		assert_int_equal(find(&t, i * i, rt_hash_u64(i * i)), i);
		assert_int_equal(find(&t, i * i + 2, rt_hash_u64(i * i + 2)), SIZE_MAX);
	}
	rt_hash_table_deinit(&t, rt_alloc_libc());
}

/* Items with equal hashes, through several enlargements. */
static void
finds_all_of_a_hash(void **state)
{
	rt_hash_table t = {0};

	(void)state;
	for (size_t i = 0; i < 300; i++)
		assert_int_equal(rt_hash_table_add(&t, rt_alloc_libc(), i % 3, i), RT_OK);
	for (uint64_t hash = 0; hash < 3; hash++) {
		size_t count = 0;
		uint32_t number;

		for (size_t probe = 0; rt_hash_table_next(&t, hash, &probe, &number); count++)
			assert_int_equal(number % 3, hash);
		assert_int_equal(count, 100);
	}
	rt_hash_table_deinit(&t, rt_alloc_libc());
}

static void
reserves(void **state)
{
	rt_hash_table t = {0};
	rt_hash_slot *slots;

	(void)state;
	assert_int_equal(rt_hash_table_reserve(&t, rt_alloc_libc(), ITEMS), RT_OK);
	slots = t.slots;
	for (size_t i = 0; i < ITEMS; i++)
		assert_int_equal(rt_hash_table_add(&t, rt_alloc_libc(), rt_hash_u64(i), i), RT_OK);
	assert_ptr_equal(t.slots, slots);
	rt_hash_table_deinit(&t, rt_alloc_libc());
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(finds_what_was_added),
		cmocka_unit_test(finds_all_of_a_hash),
		cmocka_unit_test(reserves),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
