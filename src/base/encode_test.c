/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/encode.h"

/* The examples of RFC 4648, section 10. */
static const struct {
	const char *text, *base64, *hex;
} known[] = {
	{"", "", ""},
	{"f", "Zg==", "66"},
	{"fo", "Zm8=", "666f"},
	{"foo", "Zm9v", "666f6f"},
	{"foob", "Zm9vYg==", "666f6f62"},
	{"fooba", "Zm9vYmE=", "666f6f6261"},
	{"foobar", "Zm9vYmFy", "666f6f626172"},
	{"\377\376\373", "//77", "fffefb"},
};

static void
known_answers(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
		rt_buf base64, hex, back;

		rt_buf_init(&base64, rt_alloc_libc(), RT_BUF_UNLIMITED);
		rt_buf_init(&hex, rt_alloc_libc(), RT_BUF_UNLIMITED);
		rt_buf_init(&back, rt_alloc_libc(), RT_BUF_UNLIMITED);
		rt_buf_add_base64(&base64, rt_str_of(known[i].text));
		rt_buf_add_hex(&hex, rt_str_of(known[i].text));
		assert_true(rt_str_is(rt_buf_str(&base64), known[i].base64));
		assert_true(rt_str_is(rt_buf_str(&hex), known[i].hex));
		assert_true(rt_buf_add_base64_decoded(&back, rt_buf_str(&base64)));
		assert_true(rt_str_is(rt_buf_str(&back), known[i].text));
		rt_buf_deinit(&base64);
		rt_buf_deinit(&hex);
		rt_buf_deinit(&back);
	}
}

static void
every_byte_comes_back(void **state)
{
	char bytes[256];
	rt_buf base64, back;

	(void)state;
	for (size_t i = 0; i < sizeof(bytes); i++)
		bytes[i] = (char)i;
	rt_buf_init(&base64, rt_alloc_libc(), RT_BUF_UNLIMITED);
	rt_buf_init(&back, rt_alloc_libc(), RT_BUF_UNLIMITED);
	rt_buf_add_base64(&base64, rt_str_at(bytes, sizeof(bytes)));
	assert_true(rt_buf_add_base64_decoded(&back, rt_buf_str(&base64)));
	assert_true(rt_str_eq(rt_buf_str(&back), rt_str_at(bytes, sizeof(bytes))));
	rt_buf_deinit(&base64);
	rt_buf_deinit(&back);
}

static void
other_characters_are_refused(void **state)
{
	static const char *const bad[] = {"Zm9v-", "Zm 9v", "Z\n", "_", "\xc3\xa9"};

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		rt_buf back;

		rt_buf_init(&back, rt_alloc_libc(), RT_BUF_UNLIMITED);
		assert_false(rt_buf_add_base64_decoded(&back, rt_str_of(bad[i])));
		rt_buf_deinit(&back);
	}
}

static void
single_digits(void **state)
{
	static const char standard[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	rt_str text = RT_STR("x00fFg");
	int hex = 0, base64 = 0;

	(void)state;
	for (int i = 0; i < 256; i++) {
		hex += rt_hex_digit((char)i) >= 0;
		base64 += rt_base64_digit((char)i) >= 0;
	}
	assert_int_equal(hex, 22);
	assert_int_equal(base64, 66);
	for (int i = 0; i < 64; i++)
		assert_int_equal(rt_base64_digit(standard[i]), i);
	assert_int_equal(rt_base64_digit('-'), 62);
	assert_int_equal(rt_base64_digit('_'), 63);
	assert_int_equal(rt_hex_number(text, 1, 4), 0xff);
	assert_int_equal(rt_hex_number(text, 2, 4), -1);
	assert_int_equal(rt_hex_number(text, 5, 2), -1);
	assert_int_equal(rt_hex_number(text, 7, 1), -1);
}

/* RFC 7515, appendix C; no padding, and the two other characters. */
static void
url_safe(void **state)
{
	static const char bytes[] = {3, (char)236, (char)255, (char)224, (char)193};
	rt_buf out;

	(void)state;
	rt_buf_init(&out, rt_alloc_libc(), RT_BUF_UNLIMITED);
	rt_buf_add_c(&out, "+=");
	rt_buf_add_base64url(&out, rt_str_at(bytes, sizeof(bytes)));
	assert_true(rt_str_is(rt_buf_str(&out), "+=A-z_4ME"));
	rt_buf_add_base64url(&out, rt_str_at(bytes, 1));
	assert_true(rt_str_is(rt_buf_str(&out), "+=A-z_4MEAw"));
	rt_buf_deinit(&out);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(url_safe),
		cmocka_unit_test(known_answers),
		cmocka_unit_test(every_byte_comes_back),
		cmocka_unit_test(other_characters_are_refused),
		cmocka_unit_test(single_digits),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
