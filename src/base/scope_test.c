/* SPDX-License-Identifier: MIT
 *
 * Scope: the first failure is kept, everything is closed once and in reverse order, and running
 * out of memory at any point leaks nothing. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/scope.h"

/* An allocator that counts live blocks and fails from the nth request on. */
typedef struct counter {
	size_t in_use, requests, fail_at;
} counter;

static void *
counting_resize(void *ctx, void *ptr, size_t size)
{
	counter *c = ctx;
	void *fresh;

	if (++c->requests >= c->fail_at)
		return NULL;
	fresh = realloc(ptr, size);
	assert_non_null(fresh);
	if (ptr == NULL)
		c->in_use++;
	return fresh;
}

static void
counting_release(void *ctx, void *ptr)
{
	counter *c = ctx;

	if (ptr != NULL)
		c->in_use--;
	free(ptr);
}

static void
note_close(void *item)
{
	char **at = item;

	*(*at)++ = 'x';
}

static void
note_close_twice(void *item)
{
	char **at = item;

	*(*at)++ = 'y';
}

static rt_status
failing(rt_error *err, unsigned *calls)
{
	(*calls)++;
	return rt_fail(err, RT_REFUSED, "call %u", *calls);
}

static void
first_failure_stays(void **state)
{
	rt_error err = {0};
	unsigned calls = 0;
	rt_scope s;

	(void)state;
	rt_scope_init(&s, rt_alloc_libc());
	assert_true(rt_ok(&s));
	assert_int_equal(RT_TRY(&s, failing(&s.error, &calls)), RT_REFUSED);
	assert_int_equal(RT_TRY(&s, failing(&s.error, &calls)), RT_REFUSED);
	assert_int_equal(rt_scope_fail(&s, RT_USAGE, "later"), RT_REFUSED);
	assert_int_equal(calls, 1);
	assert_null(rt_scope_get(&s, 8));
	assert_null(rt_scope_copy(&s, RT_STR("a")).ptr);
	rt_buf_add_c(rt_scope_buf(&s), "lost");
	assert_int_equal(rt_scope_buf(&s)->size, 0);
	assert_int_equal(rt_scope_end(&s, &err), RT_REFUSED);
	assert_int_equal(err.status, RT_REFUSED);
	assert_string_equal(err.text, "call 1");
}

static void
items_close_in_reverse_order(void **state)
{
	char order[8] = {0}, *at = order;
	rt_scope s;

	(void)state;
	rt_scope_init(&s, rt_alloc_libc());
	rt_scope_defer(&s, note_close, &at);
	rt_scope_defer(&s, note_close_twice, &at);
	rt_scope_defer(&s, note_close, NULL);
	assert_string_equal(order, "");
	rt_scope_reset(&s);
	assert_string_equal(order, "yx");
	(void)rt_scope_fail(&s, RT_USAGE, "bad");
	rt_scope_defer(&s, note_close, &at);
	assert_string_equal(order, "yxx");
	rt_scope_deinit(&s);
	assert_string_equal(order, "yxx");
}

static void
memory_is_zeroed_and_copies_end_with_nul(void **state)
{
	unsigned char *ptr;
	rt_str copy;
	rt_scope s;

	(void)state;
	rt_scope_init(&s, rt_alloc_libc());
	for (size_t round = 0; round < 3; round++) {
		ptr = rt_scope_get(&s, 100);
		for (size_t i = 0; i < 100; i++)
			assert_int_equal(ptr[i], 0);
		memset(ptr, 0xff, 100);
		rt_scope_reset(&s);
	}
	copy = rt_scope_copy(&s, RT_STR("a\0b"));
	assert_int_equal(copy.size, 3);
	assert_memory_equal(copy.ptr, "a\0b", 4);
	assert_null(rt_scope_array(&s, SIZE_MAX / 2, 4));
	assert_int_equal(s.status, RT_NOMEM);
	rt_scope_deinit(&s);
}

/* A piece of work that uses everything. */
static rt_status
work(const rt_alloc *alloc, size_t *closed, rt_error *err)
{
	char marks[8] = {0}, *at = marks;
	rt_status status;
	rt_scope s;
	rt_buf *buf;

	rt_scope_init(&s, alloc);
	(void)rt_scope_get(&s, 3000);
	rt_scope_defer(&s, note_close, &at);
	(void)rt_scope_copy(&s, RT_STR("text"));
	buf = rt_scope_buf(&s);
	rt_buf_add_c(buf, "some text");
	rt_scope_defer(&s, note_close, &at);
	if (rt_scope_str(&s, buf).size != 9)
		assert_false(rt_ok(&s));
	status = rt_scope_end(&s, err);
	*closed = strlen(marks);
	return status;
}

static void
running_out_of_memory_leaks_nothing(void **state)
{
	size_t n, closed;
	rt_status status = RT_NOMEM;

	(void)state;
	for (n = 1; status != RT_OK; n++) {
		counter c = {0, 0, n};
		rt_alloc alloc = {counting_resize, counting_release, &c};
		rt_error err = {0};

		status = work(&alloc, &closed, &err);
		assert_int_equal(c.in_use, 0);
		assert_int_equal(closed, 2);
		if (status != RT_OK) {
			assert_int_equal(status, RT_NOMEM);
			assert_string_equal(err.text, "out of memory");
		}
	}
	assert_true(n > 3);
}

static rt_status
not_found(rt_buf *buf, rt_error *err)
{
	return buf->status == RT_OK ? RT_OK : rt_fail(err, RT_NOT_FOUND, "nothing was found");
}

/* An argument of RT_TRY may fail the scope; the message of the call is not that of the scope. */
static void
a_failed_argument_keeps_its_message(void **state)
{
	counter c = {.fail_at = 1};
	rt_alloc alloc = {counting_resize, counting_release, &c};
	rt_error err;
	rt_scope s;

	(void)state;
	rt_scope_init(&s, &alloc);
	RT_TRY(&s, not_found(rt_scope_buf(&s), &s.error));
	assert_int_equal(rt_scope_end(&s, &err), RT_NOMEM);
	assert_int_equal(err.status, RT_NOMEM);
	assert_string_equal(err.text, "out of memory");
}

/* Joining ends the inner scope even where the outer one has failed. */
static void
joined_scopes_are_ended(void **state)
{
	char closed[4] = "", *at = closed;
	rt_scope outer, inner;

	(void)state;
	rt_scope_init(&outer, rt_alloc_libc());
	rt_scope_init(&inner, rt_alloc_libc());
	rt_scope_fail(&outer, RT_USAGE, "first");
	rt_scope_defer(&inner, note_close, &at);
	rt_scope_fail(&inner, RT_IO, "second");
	assert_int_equal(rt_scope_join(&outer, &inner), RT_USAGE);
	assert_string_equal(closed, "x");
	assert_string_equal(outer.error.text, "first");
	rt_scope_deinit(&outer);
}

/* A block that was made for one large item is not kept for reuse. */
static void
resetting_releases_large_blocks(void **state)
{
	enum { LARGE = 64 << 20 };
	counter c = {.fail_at = SIZE_MAX};
	rt_alloc alloc = {counting_resize, counting_release, &c};
	rt_scope s;

	(void)state;
	rt_scope_init(&s, &alloc);
	assert_non_null(rt_scope_get(&s, 10));
	assert_non_null(rt_scope_get(&s, LARGE));
	assert_int_equal(c.in_use, 3); /* the arena, two blocks */
	rt_scope_reset(&s);
	assert_int_equal(c.in_use, 2);
	assert_non_null(rt_scope_get(&s, 10));
	assert_int_equal(c.in_use, 2);
	rt_scope_deinit(&s);
	assert_int_equal(c.in_use, 0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(first_failure_stays),
		cmocka_unit_test(items_close_in_reverse_order),
		cmocka_unit_test(memory_is_zeroed_and_copies_end_with_nul),
		cmocka_unit_test(running_out_of_memory_leaks_nothing),
		cmocka_unit_test(a_failed_argument_keeps_its_message),
		cmocka_unit_test(joined_scopes_are_ended),
		cmocka_unit_test(resetting_releases_large_blocks),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
