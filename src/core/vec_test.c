/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

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
many_at_once_are_as_one_by_one(void **state)
{
	static const size_t sizes[] = {0, 1, 32, 33, 1024, 1025, 32769};
	size_t i, k;

	(void)state;
	for (i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		const void **things = rt_new_array(rt_alloc_libc(), sizes[i] + 1, sizeof(*things));
		const rt_vec *vec;

		for (k = 0; k < sizes[i]; k++)
			things[k] = thing_new(k);
		assert_int_equal(rt_vec_from(rt_alloc_libc(), things, sizes[i], &vec), RT_OK);
		for (k = 0; k < sizes[i]; k++)
			rt_object_unref(things[k]);
		rt_free(rt_alloc_libc(), things);
		assert_int_equal(rt_vec_count(vec), sizes[i]);
		put(&vec, sizes[i], sizes[i]); /* and it grows like any other */
		assert_int_equal(alive, sizes[i] + 1);
		for (k = 0; k <= sizes[i]; k++)
			assert_int_equal(at(vec, k), k);
		rt_object_unref(vec);
		assert_int_equal(alive, 0);
	}
}

/* Memory for this many allocations. */
typedef struct scarce {
	size_t left, held;
} scarce;

static void *
scarce_get(void *ctx, void *ptr, size_t size)
{
	scarce *s = ctx;

	if (s->left == 0)
		return NULL;
	s->left--;
	s->held += ptr == NULL;
	return realloc(ptr, size);
}

static void
scarce_release(void *ctx, void *ptr)
{
	((scarce *)ctx)->held -= ptr != NULL;
	free(ptr);
}

/* If any allocation fails, nothing leaks and the items are unchanged. */
static void
many_at_once_or_none(void **state)
{
	enum { MANY = 1100 }; /* three levels */
	const void *things[MANY];
	scarce s = {0};
	const rt_alloc alloc = {scarce_get, scarce_release, &s};
	const rt_vec *vec = NULL;
	size_t turns, i;

	(void)state;
	for (i = 0; i < MANY; i++)
		things[i] = thing_new(i);
	for (turns = 0; vec == NULL; turns++) {
		s.left = turns;
		if (rt_vec_from(&alloc, things, MANY, &vec) != RT_OK) {
			assert_null(vec);
			assert_int_equal(s.held, 0);
		}
	}
	assert_true(turns > 30);
	rt_object_unref(vec);
	assert_int_equal(s.held, 0);
	assert_int_equal(alive, MANY);
	for (i = 0; i < MANY; i++)
		rt_object_unref(things[i]);
	assert_int_equal(alive, 0);
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

/* A list with one owner is changed in place; one with two is replaced, and the other owner keeps it. */
static void
the_only_owner_changes_in_place(void **state)
{
	static const size_t sizes[] = {1, 31, 32, 33, 1024, 1025, 2000};
	const rt_vec *vec, *kept;
	size_t n = 0;

	(void)state;
	assert_int_equal(rt_vec_new(rt_alloc_libc(), &vec), RT_OK);
	for (size_t k = 0; k < sizeof(sizes) / sizeof(sizes[0]); k++) {
		for (; n < sizes[k]; n++) {
			thing *t = thing_new(n);

			assert_int_equal(rt_vec_put(&vec, n, t), RT_OK);
			assert_null(rt_vec_own(vec, n)); /* t is ours, too */
			rt_object_unref(t);
			assert_ptr_equal(rt_vec_own(vec, n), rt_vec_get(vec, n));
			assert_null(rt_vec_own(vec, n + 1));
		}
		for (size_t shared = 0; shared < 2; shared++) {
			const rt_vec *before = vec;
			thing *t = thing_new(n / 2 + 7000);

			kept = shared ? rt_object_ref(vec) : NULL;
			assert_int_equal(rt_vec_put(&vec, n / 2, t), RT_OK);
			rt_object_unref(t);
			assert_int_equal(vec == before, !shared);
			assert_int_equal(at(vec, n / 2), n / 2 + 7000);
			if (kept != NULL) {
				t = thing_new(n / 2 + 8000);
				assert_int_equal(rt_vec_put(&vec, n / 2, t), RT_OK);
				rt_object_unref(t);
				assert_int_equal(at(kept, n / 2), n / 2);
				if (n > 1) /* a part that both have */
					assert_null(rt_vec_own(vec, n / 2 == 0 ? 1 : 0));
				rt_object_unref(kept);
			}
			put(&vec, n / 2, n / 2);
		}
		assert_int_equal(rt_vec_count(vec), n);
		for (size_t i = 0; i < n; i++)
			assert_int_equal(at(vec, i), i);
	}
	rt_object_unref(vec);
	assert_int_equal(alive, 0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(many_at_once_are_as_one_by_one), cmocka_unit_test(many_at_once_or_none),
		cmocka_unit_test(older_ones_stay),
		cmocka_unit_test(the_only_owner_changes_in_place),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
