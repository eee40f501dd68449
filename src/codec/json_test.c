/* SPDX-License-Identifier: MIT
 *
 * JSON: structured writing puts commas and keys where they belong. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "codec/json.h"

static void
members_and_items(void **state)
{
	rt_json_doc *doc;
	rt_error err;
	rt_buf buf;

	(void)state;
	assert_int_equal(rt_json_read(rt_alloc_libc(), RT_STR("{\"x\":[1.10]}"), &doc, &err), RT_OK);
	rt_buf_init(&buf, rt_alloc_libc(), RT_BUF_UNLIMITED);
	rt_json_open(&buf, NULL, '{');
	rt_json_put_str(&buf, "s", RT_STR("a\"b{"));
	rt_json_put_c(&buf, "c", NULL);
	rt_json_put_u64(&buf, "u", UINT64_MAX);
	rt_json_put_i64(&buf, "i", INT64_MIN);
	rt_json_put_bool(&buf, "b", true);
	rt_json_put_value(&buf, "v", rt_json_root(doc));
	rt_json_put_value(&buf, "none", NULL);
	rt_json_put_raw(&buf, "raw", RT_STR("[1,2]"));
	rt_json_open(&buf, "empty", '[');
	rt_json_close(&buf, ']');
	rt_json_open(&buf, "items", '[');
	rt_json_put_u64(&buf, NULL, 1);
	rt_json_open(&buf, NULL, '{');
	rt_json_close(&buf, '}');
	rt_json_open(&buf, NULL, '{');
	rt_json_put_bool(&buf, "in", false);
	rt_json_close(&buf, '}');
	rt_json_close(&buf, ']');
	rt_json_close(&buf, '}');
	rt_buf_add_byte(&buf, '\n');
	rt_json_put_null(&buf, NULL);
	assert_string_equal(buf.ptr,
			    "{\"s\":\"a\\\"b{\",\"c\":null,\"u\":18446744073709551615,"
			    "\"i\":-9223372036854775808,\"b\":true,\"v\":{\"x\":[1.10]},"
			    "\"none\":null,\"raw\":[1,2],\"empty\":[],"
			    "\"items\":[1,{},{\"in\":false}]}\nnull");
	rt_buf_deinit(&buf);
	rt_json_free(doc);
}

static void
parsing_into_a_scope(void **state)
{
	rt_scope scope;

	(void)state;
	rt_scope_init(&scope, rt_alloc_libc());
	assert_true(yyjson_is_true(rt_json_get(rt_json_parse(&scope, RT_STR("{\"a\":true}")), "a")));
	assert_null(rt_json_parse(&scope, RT_STR("[")));
	assert_int_equal(scope.status, RT_USAGE);
	assert_null(rt_json_parse(&scope, RT_STR("1")));
	assert_int_equal(rt_scope_end(&scope, NULL), RT_USAGE);
}

/* Every member, repeated keys too; a value of another type has none. */
static void
iterating(void **state)
{
	static const char text[] = "{\"a\":[1,[2],3],\"b\":{},\"a\":null,\"n\\u0000\":7}";
	rt_buf seen;
	rt_scope scope;

	(void)state;
	rt_scope_init(&scope, rt_alloc_libc());
	rt_buf_init(&seen, rt_alloc_libc(), RT_BUF_UNLIMITED);
	yyjson_val *root = rt_json_parse(&scope, rt_str_of(text));
	for (rt_json_iter it = rt_json_members(root); rt_json_next(&it);) {
		assert_int_equal(it.count, 4);
		rt_buf_add_u64(&seen, it.index);
		rt_buf_add_str(&seen, it.key);
		for (rt_json_iter in = rt_json_items(it.value); rt_json_next(&in);) {
			rt_buf_add_byte(&seen, ' ');
			rt_json_add_value(&seen, in.value);
		}
		rt_buf_add_byte(&seen, ';');
	}
	assert_memory_equal(seen.ptr, "0a 1 [2] 3;1b;2a;3n\0;", 21);
	assert_int_equal(seen.size, 21);
	for (rt_json_iter it = rt_json_items(root); rt_json_next(&it);)
		fail();
	for (rt_json_iter it = rt_json_members(rt_json_get(root, "n")); rt_json_next(&it);)
		fail();
	for (rt_json_iter it = rt_json_items(NULL); rt_json_next(&it);)
		fail();
	rt_buf_deinit(&seen);
	assert_int_equal(rt_scope_end(&scope, NULL), RT_OK);
}

static yyjson_val *
number_of(const char *text, rt_json_doc **doc)
{
	assert_int_equal(rt_json_read(rt_alloc_libc(), rt_str_of(text), doc, NULL), RT_OK);
	return rt_json_root(*doc);
}

static void
whole_numbers(void **state)
{
	static const struct {
		const char *text;
		int64_t wanted;
		bool fits;
	} cases[] = {
		{"0", 0, true},
		{"-1", -1, true},
		{"9223372036854775807", INT64_MAX, true},
		{"-9223372036854775808", INT64_MIN, true},
		{"9223372036854775808", 0, false},
		{"-9223372036854775809", 0, false},
		{"1.5", 0, false},
		{"1e2", 0, false},
	};
	rt_json_doc *doc;
	uint64_t big;

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		int64_t number = 0;
		bool fits = rt_json_i64(number_of(cases[i].text, &doc), &number);

		if (fits != cases[i].fits || number != cases[i].wanted)
			fail_msg("%s: %lld", cases[i].text, (long long)number);
		rt_json_free(doc);
	}
	assert_true(rt_json_u64(number_of("18446744073709551615", &doc), &big));
	assert_true(big == UINT64_MAX);
	rt_json_free(doc);
	assert_false(rt_json_u64(number_of("18446744073709551616", &doc), &big));
	rt_json_free(doc);
}

/* The position is that in the input, not in the repaired copy, which is longer. */
static void
position_after_a_repair(void **state)
{
	rt_json_doc *doc = NULL;
	rt_error err;
	size_t repaired = 0;

	(void)state;
	assert_int_equal(rt_json_read_repairing(rt_alloc_libc(), RT_STR("[\"\xFF\xFF\"]"), &doc,
						&repaired, &err),
			 RT_OK);
	assert_int_equal(repaired, 2);
	rt_json_free(doc);
	assert_int_equal(rt_json_read_repairing(rt_alloc_libc(), RT_STR("[\"\xFF\xFF\",?]"), &doc,
						&repaired, &err),
			 RT_USAGE);
	assert_true(err.has_at);
	assert_true(err.at <= 6);
}

/* Strings of every length, with and without an escaped quote at their end, hide brackets. */
static void
strings_do_not_nest(void **state)
{
	char text[200];

	(void)state;
	for (size_t size = 0; size < 100; size++)
		for (int escapes = 0; escapes < 3; escapes++) {
			size_t at = 0;

			text[at++] = '[';
			text[at++] = '"';
			for (size_t i = 0; i < size; i++)
				text[at++] = "[{]}"[i % 4];
			for (int i = 0; i < escapes; i++) {
				text[at++] = '\\';
				text[at++] = i == 0 ? '"' : '\\';
				text[at++] = '[';
			}
			text[at++] = '"';
			memcpy(text + at, ",[[[1]]]]", 9);
			assert_int_equal(rt_json_too_deep_at(rt_str_at(text, at + 9), 3), at + 3);
			assert_int_equal(rt_json_too_deep_at(rt_str_at(text, at + 9), 4), SIZE_MAX);
			assert_int_equal(rt_json_too_deep_at(rt_str_at(text, at - 1), 1), SIZE_MAX); /* cut */
		}
}

/* The depth of a text and of the value that it is. */
static void
test_depth(void **state)
{
	static const char *const texts[] = {"1", "[]", "[[],{}]", "{\"a\":[1,{\"b\":[]}],\"c\":{}}", "[[[]],[[],[[[\"[[[\"]]]]]"};

	(void)state;
	for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++) {
		rt_json_doc *doc;

		assert_int_equal(rt_json_read(rt_alloc_libc(), rt_str_of(texts[i]), &doc, NULL), RT_OK);
		for (size_t max = 0; max < 8; max++)
			assert_int_equal(rt_json_is_deeper(rt_json_root(doc), max),
					 rt_json_too_deep_at(rt_str_of(texts[i]), max) != SIZE_MAX);
		rt_json_free(doc);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_depth),
		cmocka_unit_test(members_and_items),
		cmocka_unit_test(parsing_into_a_scope),
		cmocka_unit_test(iterating),
		cmocka_unit_test(whole_numbers),
		cmocka_unit_test(position_after_a_repair),
		cmocka_unit_test(strings_do_not_nest),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
