/* SPDX-License-Identifier: MIT
 *
 * Dedup: values are restored byte for byte, texts are written once, and a growing conversation
 * costs no more than its new texts. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/failing_testing.h"
#include "codec/dedup.h"
#include "codec/json.h"

#define LONG "0123456789012345678901234567890123456789012345678901234567890123456789"

/* Splits and joins; *out_size: bytes that the split value and its new texts take. */
static void
comes_back(rt_dedup *texts, rt_buf *all, rt_str json, size_t *out_size)
{
	rt_buf object, joined;
	rt_dedup whole;
	rt_scope s;

	rt_scope_init(&s, rt_alloc_libc());
	rt_buf *added = rt_scope_buf(&s), *split = rt_scope_buf(&s);
	rt_dedup_split(&s, texts, json, added, split);
	assert_int_equal(s.status, RT_OK);
	if (all->size > 0 && added->size > 0)
		rt_buf_add_byte(all, ',');
	rt_buf_add_str(all, rt_buf_str(added));
	if (out_size != NULL)
		*out_size = added->size + split->size;

	rt_buf_init(&object, rt_alloc_libc(), RT_BUF_UNLIMITED);
	rt_buf_init(&joined, rt_alloc_libc(), RT_BUF_UNLIMITED);
	rt_buf_add_byte(&object, '{');
	rt_buf_add_str(&object, rt_buf_str(all));
	rt_buf_add_byte(&object, '}');
	rt_dedup_init(&whole, rt_alloc_libc());
	assert_int_equal(rt_dedup_add_all(&whole, rt_buf_str(&object)), RT_OK);
	assert_int_equal(rt_dedup_join(&whole, rt_buf_str(split), &joined, NULL), RT_OK);
	assert_int_equal(joined.size, json.size);
	assert_memory_equal(joined.ptr, json.ptr, json.size);
	rt_dedup_deinit(&whole);
	rt_buf_deinit(&object);
	rt_buf_deinit(&joined);
	rt_scope_deinit(&s);
}

static void
values_come_back_to_the_byte(void **state)
{
	static const char *const values[] = {
		"1", "\"\"", "[]", "{}", "[ ]", "\"" LONG "\"", "[1,\"" LONG "\" , 2]",
		" { \"a\" : [ \"" LONG "\" , { \"" LONG "\" : 1.50 } ] } ",
		"{\"$t\":\"" LONG "\"}", "{\"$t\":\"00000000000000000000000000000000\"}",
		"{\"$$t\":[{\"$t\":1}]}", "{\"$t\" :1}", "{\"$x\":1,\"$t\":2}",
		"\"\\\"{\\\"$t\\\":\\\\ " LONG "\"", "[\"" LONG "\",\"" LONG "\"]",
		"{\"\\u0024t\":\"" LONG "\"}", "[[[]],[{}],\"]}\"]",
	};
	rt_dedup texts;
	rt_buf all;

	(void)state;
	rt_dedup_init(&texts, rt_alloc_libc());
	rt_buf_init(&all, rt_alloc_libc(), RT_BUF_UNLIMITED);
	for (size_t i = 0; i < sizeof(values) / sizeof(*values); i++)
		comes_back(&texts, &all, rt_str_of(values[i]), NULL);
	assert_null(strstr(strstr(all.ptr, LONG "\"") + 1, ":\"" LONG "\"")); /* once */
	rt_dedup_deinit(&texts);
	rt_buf_deinit(&all);
}

/* The request with messages [first, last), of one changed by an edit; each is short or long. */
static void
conversation(rt_buf *out, size_t first, size_t last, size_t edited, bool is_long)
{
	rt_buf_clear(out);
	rt_json_open(out, NULL, '{');
	rt_json_open(out, "messages", '[');
	for (size_t i = first; i < last; i++) {
		rt_json_open(out, NULL, '{');
		rt_json_put_c(out, "role", i % 2 == 0 ? "user" : "assistant");
		rt_json_add_key(out, "content");
		rt_buf_add_f(out, "\"%s %zu%s\"", is_long ? LONG LONG : "m", i,
			     i == edited ? " edited" : "");
		rt_json_close(out, '}');
	}
	rt_json_close(out, ']');
	rt_json_close(out, '}');
}

static void
size_grows_with_the_conversation(void **state)
{
	(void)state;
	for (int is_long = 0; is_long < 2; is_long++) {
		size_t size, total = 0, largest = 0;
		rt_dedup texts;
		rt_buf all, json;

		rt_dedup_init(&texts, rt_alloc_libc());
		rt_buf_init(&all, rt_alloc_libc(), RT_BUF_UNLIMITED);
		rt_buf_init(&json, rt_alloc_libc(), RT_BUF_UNLIMITED);
		for (size_t i = 1; i <= 600; i++) {
			conversation(&json, 0, i, SIZE_MAX, is_long);
			comes_back(&texts, &all, rt_buf_str(&json), &size);
			total += size;
			largest = size > largest ? size : largest;
		}
		assert_in_range(total, 0, 600 * 2200);
		assert_in_range(largest, 0, 8000);
		conversation(&json, 0, 600, 17, is_long); /* an edit in an old message */
		comes_back(&texts, &all, rt_buf_str(&json), &size);
		assert_in_range(size, 0, 8000);
		conversation(&json, 40, 600, 17, is_long); /* the oldest messages are left out */
		comes_back(&texts, &all, rt_buf_str(&json), &size);
		assert_in_range(size, 0, 12000);
		rt_dedup_deinit(&texts);
		rt_buf_deinit(&all);
		rt_buf_deinit(&json);
	}
}

static void
equal_items_come_back(void **state)
{
	rt_dedup texts;
	rt_buf all, json;

	(void)state;
	rt_dedup_init(&texts, rt_alloc_libc());
	rt_buf_init(&all, rt_alloc_libc(), RT_BUF_UNLIMITED);
	rt_buf_init(&json, rt_alloc_libc(), RT_BUF_UNLIMITED);
	for (char c = 'a'; c <= 'z'; c++) {
		rt_buf_clear(&json);
		rt_buf_add_byte(&json, '[');
		for (size_t i = 0; i < 500; i++)
			rt_buf_add_f(&json, "%s\"%c\"", i > 0 ? "," : "", c);
		rt_buf_add_byte(&json, ']');
		comes_back(&texts, &all, rt_buf_str(&json), NULL);
	}
	rt_dedup_deinit(&texts);
	rt_buf_deinit(&all);
	rt_buf_deinit(&json);
}

static void
what_is_missing_or_circular_is_an_error(void **state)
{
#define NAME "0123456789abcdef0123456789abcdef"
	rt_dedup texts;
	rt_error err;
	rt_buf out;

	(void)state;
	rt_dedup_init(&texts, rt_alloc_libc());
	rt_buf_init(&out, rt_alloc_libc(), 1 << 20);
	assert_int_equal(rt_dedup_join(&texts, RT_STR("[{\"$t\":\"" NAME "\"}]"), &out, &err),
			 RT_NOT_FOUND);
	assert_non_null(strstr(err.text, NAME));
	assert_int_equal(rt_dedup_add(&texts, RT_STR(NAME), RT_STR("[1,{\"$t\":\"" NAME "\"}]")),
			 RT_OK);
	assert_int_equal(rt_dedup_join(&texts, RT_STR("[{\"$t\":\"" NAME "\"}]"), &out, &err),
			 RT_CORRUPT);
	rt_dedup_deinit(&texts);
	rt_buf_deinit(&out);
}

static void
memory_may_fail_anywhere(void **state)
{
	rt_buf json;
	long n;

	(void)state;
	rt_buf_init(&json, rt_alloc_libc(), RT_BUF_UNLIMITED);
	conversation(&json, 0, 100, SIZE_MAX, true);
	for (n = 0;; n++) {
		failing f = {.left = n};
		rt_alloc alloc = {failing_resize, failing_release, &f};
		rt_dedup texts;
		rt_scope s;

		rt_dedup_init(&texts, &alloc);
		rt_scope_init(&s, &alloc);
		rt_buf *added = rt_scope_buf(&s), *split = rt_scope_buf(&s);
		rt_dedup_split(&s, &texts, rt_buf_str(&json), added, split);
		bool ok = rt_ok(&s);
		assert_true(ok || s.status == RT_NOMEM);
		rt_scope_deinit(&s);
		rt_dedup_deinit(&texts);
		assert_int_equal(atomic_load(&f.live), 0);
		if (ok && !atomic_load(&f.failed))
			break;
		assert_false(ok);
	}
	assert_in_range(n, 10, 100000);
	rt_buf_deinit(&json);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(values_come_back_to_the_byte),
		cmocka_unit_test(size_grows_with_the_conversation),
		cmocka_unit_test(equal_items_come_back),
		cmocka_unit_test(what_is_missing_or_circular_is_an_error),
		cmocka_unit_test(memory_may_fail_anywhere),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
