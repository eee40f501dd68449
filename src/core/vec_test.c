/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "core/vec.h"

typedef struct thing {
	rt_object object;
	size_t number;
} thing;

static size_t alive;

static void
thing_free(rt_object *object)
{
	alive--;
	rt_free(object->alloc, object);
}

static thing *
thing_new(size_t number)
{
	thing *t = rt_new(rt_alloc_libc(), sizeof(*t));

	assert_non_null(t);
	rt_object_init(&t->object, rt_alloc_libc(), thing_free);
	t->number = number;
	alive++;
	return t;
}

static void
put(const rt_vec **vec, size_t at, size_t number)
{
	thing *t = thing_new(number);
	const rt_vec *next;

	assert_int_equal(rt_vec_set(*vec, at, t, &next), RT_OK);
	rt_object_unref(t);
	rt_object_unref(*vec);
	*vec = next;
}

static size_t
at(const rt_vec *vec, size_t place)
{
	return ((const thing *)rt_vec_get(vec, place))->number;
}

static void
older_ones_stay(void **state)
{
	/* around every size at which the tree grows by a level */
	static const size_t sizes[] = {1, 31, 32, 33, 1023, 1024, 1025, 32767, 32768, 32769, 33000};
	const rt_vec *vec, *kept[sizeof(sizes) / sizeof(sizes[0])];
	size_t i, k, n = 0;

	(void)state;
	assert_int_equal(rt_vec_new(rt_alloc_libc(), &vec), RT_OK);
	assert_int_equal(rt_vec_count(vec), 0);
	for (k = 0; k < sizeof(sizes) / sizeof(sizes[0]); k++) {
		for (; n < sizes[k]; n++)
			put(&vec, n, n);
		assert_int_equal(rt_vec_count(vec), n);
		kept[k] = rt_object_ref(vec);
	}
	for (i = 0; i < n; i += 7)
		put(&vec, i, i + 1000000);
	assert_int_equal(rt_vec_count(vec), n);
	for (i = 0; i < n; i++)
		assert_int_equal(at(vec, i), i % 7 == 0 ? i + 1000000 : i);
	for (k = 0; k < sizeof(sizes) / sizeof(sizes[0]); k++) {
		assert_int_equal(rt_vec_count(kept[k]), sizes[k]);
		for (i = 0; i < sizes[k]; i++)
			assert_int_equal(at(kept[k], i), i);
		rt_object_unref(kept[k]);
	}
	rt_object_unref(vec);
	assert_int_equal(alive, 0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(older_ones_stay),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
