/* SPDX-License-Identifier: MIT
 *
 * Cached answers: found for the same request in the same state, and not otherwise. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "server/project_pool.h"

static void
found_as_long_as_nothing_changes(void **state)
{
	const rt_str target = RT_STR("/retake/v1/discussions/main/entries/k3f9");
	char etag[RT_ETAG_ROOM];
	rt_response_cache cache;
	rt_buf body;

	(void)state;
	assert_true(rt_response_cache_init(&cache, rt_alloc_libc()));
	rt_buf_init(&body, rt_alloc_libc(), RT_BUF_UNLIMITED);
	assert_false(rt_response_cache_find(&cache, 7, 3, target, &body, etag));
	rt_response_cache_put(&cache, 7, 3, target, RT_STR("{\"a\":1}"), "\"7.e.1\"");
	assert_true(rt_response_cache_find(&cache, 7, 3, target, &body, etag));
	assert_true(rt_str_is(rt_buf_str(&body), "{\"a\":1}"));
	assert_string_equal(etag, "\"7.e.1\"");
	/* another row, another history, another request */
	rt_buf_clear(&body);
	assert_false(rt_response_cache_find(&cache, 7, 4, target, &body, etag));
	assert_false(rt_response_cache_find(&cache, 8, 3, target, &body, etag));
	assert_false(rt_response_cache_find(&cache, 7, 3, rt_str_at(target.ptr, target.size - 1),
					    &body, etag));
	assert_int_equal(body.size, 0);
	/* a newer one replaces it */
	rt_response_cache_put(&cache, 7, 4, target, RT_STR("{\"a\":2}"), "\"7.e.2\"");
	assert_false(rt_response_cache_find(&cache, 7, 3, target, &body, etag));
	assert_true(rt_response_cache_find(&cache, 7, 4, target, &body, etag));
	assert_true(rt_str_is(rt_buf_str(&body), "{\"a\":2}"));
	rt_buf_deinit(&body);
	rt_response_cache_deinit(&cache);
}

/* It may contain purged text. */
static void
nothing_is_left_after_a_purge(void **state)
{
	const rt_str target = RT_STR("/a"), other = RT_STR("/b");
	char etag[RT_ETAG_ROOM];
	rt_response_cache cache;
	rt_buf body;

	(void)state;
	assert_true(rt_response_cache_init(&cache, rt_alloc_libc()));
	rt_buf_init(&body, rt_alloc_libc(), RT_BUF_UNLIMITED);
	rt_response_cache_put(&cache, 7, 3, target, RT_STR("a secret"), "\"t\"");
	assert_false(rt_response_cache_find(&cache, 8, 3, other, &body, etag)); /* another epoch */
	assert_false(rt_response_cache_find(&cache, 7, 3, target, &body, etag));
	rt_response_cache_put(&cache, 7, 3, target, RT_STR("a secret"), "\"t\"");
	rt_response_cache_forget(&cache);
	assert_false(rt_response_cache_find(&cache, 7, 3, target, &body, etag));
	rt_buf_deinit(&body);
	rt_response_cache_deinit(&cache);
}

static void
what_is_too_large_is_not_kept(void **state)
{
	static char large[RT_RESPONSE_CACHE_SIZE_MAX + 1];
	char etag[RT_ETAG_ROOM];
	rt_response_cache cache;
	rt_buf body;

	(void)state;
	assert_true(rt_response_cache_init(&cache, rt_alloc_libc()));
	rt_buf_init(&body, rt_alloc_libc(), RT_BUF_UNLIMITED);
	memset(large, 'a', sizeof(large));
	rt_response_cache_put(&cache, 1, 1, RT_STR("/a"), rt_str_at(large, sizeof(large)), "\"t\"");
	assert_false(rt_response_cache_find(&cache, 1, 1, RT_STR("/a"), &body, etag));
	rt_response_cache_put(&cache, 1, 1, RT_STR("/a"), rt_str_at(large, sizeof(large) - 1),
			      "\"t\"");
	assert_true(rt_response_cache_find(&cache, 1, 1, RT_STR("/a"), &body, etag));
	rt_buf_clear(&body);
	rt_response_cache_put(&cache, 1, 1, rt_str_at(large, RT_RESPONSE_CACHE_TARGET_MAX + 1),
			      RT_STR("x"), "\"t\"");
	assert_false(rt_response_cache_find(
		&cache, 1, 1, rt_str_at(large, RT_RESPONSE_CACHE_TARGET_MAX + 1), &body, etag));
	rt_response_cache_put(&cache, 1, 1, rt_str_at(large, RT_RESPONSE_CACHE_TARGET_MAX),
			      RT_STR("x"), "\"t\"");
	assert_true(rt_response_cache_find(
		&cache, 1, 1, rt_str_at(large, RT_RESPONSE_CACHE_TARGET_MAX), &body, etag));
	rt_buf_deinit(&body);
	rt_response_cache_deinit(&cache);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(found_as_long_as_nothing_changes),
		cmocka_unit_test(nothing_is_left_after_a_purge),
		cmocka_unit_test(what_is_too_large_is_not_kept),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
