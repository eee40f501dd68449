/* SPDX-License-Identifier: MIT
 *
 * The text for a terminal, and its width. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdlib.h>

#include "app/screen.h"

typedef void (*add_fn)(rt_buf *buf, rt_str text);

static void
gives(add_fn add, rt_str text, const char *wanted)
{
	rt_buf buf;

	rt_buf_init(&buf, rt_alloc_libc(), RT_BUF_UNLIMITED);
	add(&buf, text);
	rt_buf_add_byte(&buf, 0);
	assert_int_equal(buf.status, RT_OK);
	assert_string_equal(buf.ptr, wanted);
	rt_buf_deinit(&buf);
}

static void
test_text(void **state)
{
	(void)state;
	gives(rt_screen_add_text, RT_STR(""), "");
	gives(rt_screen_add_text, RT_STR("plain"), "plain");
	gives(rt_screen_add_text, RT_STR("two\nlines\tand a tab"), "two\nlines\tand a tab");
	gives(rt_screen_add_text, RT_STR("a\r\nb\rc"), "a\nb^Mc");
	gives(rt_screen_add_text,
	      RT_STR("gr\xC3\xBC\xC3\x9F"
		     "e \xE2\x82\xAC \xF0\x9F\x9A\x80"),
	      "gr\xC3\xBC\xC3\x9F"
	      "e \xE2\x82\xAC \xF0\x9F\x9A\x80");
	/* a colour, a window title, a bell, a NUL, a DEL */
	gives(rt_screen_add_text, RT_STR("\033[31mred"), "^[[31mred");
	gives(rt_screen_add_text, RT_STR("\033]0;x\a"), "^[]0;x^G");
	gives(rt_screen_add_text, RT_STR("a\0b\x7F"), "a^@b^?");
	/* C1 as UTF-8: CSI and OSC in one character */
	gives(rt_screen_add_text,
	      RT_STR("\xC2\x9B"
		     "31m\xC2\x9D"),
	      "<U+009B>31m<U+009D>");
	/* the same as raw bytes is not UTF-8 */
	gives(rt_screen_add_text,
	      RT_STR("\x9B"
		     "31m"),
	      "\xEF\xBF\xBD"
	      "31m");
	/* right-to-left override and isolates */
	gives(rt_screen_add_text,
	      RT_STR("\xE2\x80\xAE"
		     "abc\xE2\x81\xA6"
		     "d\xD8\x9C"),
	      "<U+202E>abc<U+2066>d<U+061C>");
	/* separators that some programs treat as line ends, deprecated marks of direction, marks
	 * around notes */
	gives(rt_screen_add_text,
	      RT_STR("a\xE2\x80\xA8"
		     "b\xE2\x80\xA9\xE2\x81\xAA\xEF\xBF\xB9"),
	      "a<U+2028>b<U+2029><U+206A><U+FFF9>");
	/* tags, a zero width space, a filler that looks like a blank */
	gives(rt_screen_add_text, RT_STR("a\xF3\xA0\x81\x81\xE2\x80\x8B\xE3\x85\xA4"),
	      "a<U+E0041><U+200B><U+3164>");
	/* joiners, variation selectors and skin tones are left out; not assigned; flags */
	gives(rt_screen_add_text,
	      RT_STR("a\xE2\x80\x8D"
		     "b\xEF\xB8\x8F\xF0\x9F\x91\x8D\xF0\x9F\x8F\xBD"),
	      "ab\xF0\x9F\x91\x8D");
	gives(rt_screen_add_text, RT_STR("\xCD\xB8\xF0\x9F\x87\xA9\xF0\x9F\x87\xAA"),
	      "\xEF\xBF\xBD"
	      "DE");
	/* a mark without a base; more of them than in any real text */
	gives(rt_screen_add_text, RT_STR("\n\xCC\x81x\xCC\x81\xCC\x82\xCC\x83\xCC\x84\xCC\x85"),
	      "\n\xE2\x97\x8C\xCC\x81x\xCC\x81\xCC\x82\xCC\x83");
	/* cut off, overlong, a surrogate */
	gives(rt_screen_add_text, RT_STR("a\xE2\x82"), "a\xEF\xBF\xBD\xEF\xBF\xBD");
	gives(rt_screen_add_text, RT_STR("\xC0\x9B"), "\xEF\xBF\xBD\xEF\xBF\xBD");
	gives(rt_screen_add_text, RT_STR("\xED\xA0\x80"), "\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD");
}

static void
add_blanks(rt_buf *buf, rt_str text)
{
	rt_screen_add_blanks(buf, text, false);
}

static void
test_blanks(void **state)
{
	(void)state;
	gives(add_blanks, RT_STR(" a\r\n\tb \xE2\x80\xA8"), " a   b  ");
	gives(add_blanks, RT_STR("\033c\xFF"), "^[c\xEF\xBF\xBD");
}

static void
test_line(void **state)
{
	(void)state;
	gives(rt_screen_add_line,
	      RT_STR("  a \n\t b\xC2\xA0\xE2\x80\xA8"
		     "c  "),
	      "a b c");
	gives(rt_screen_add_line, RT_STR(" \n "), "");
	gives(rt_screen_add_line, RT_STR("\033c"), "^[c");
}

static void
test_json(void **state)
{
	(void)state;
	gives(rt_screen_add_json, RT_STR("{\"a\":\"\x7F\xC2\x9B\xE2\x80\xAE\"}\n"),
	      "{\"a\":\"\\u007f\\u009b\\u202e\"}\n");
	gives(rt_screen_add_json, RT_STR("\"\xC3\xBC\""), "\"\xC3\xBC\"");
	/* beyond 16 bits; characters that are left out elsewhere; unassigned ones */
	gives(rt_screen_add_json, RT_STR("\"\xF3\xA0\x81\x81\xE2\x80\x8D\xCD\xB8\""),
	      "\"\\udb40\\udc41\\u200d\\u0378\"");
}

/* For any input, the output contains nothing that controls the terminal. */
static void
test_nothing_gets_through(void **state)
{
	unsigned char text[64];
	rt_buf buf;
	int round;
	size_t i;

	(void)state;
	srand(7);
	rt_buf_init(&buf, rt_alloc_libc(), RT_BUF_UNLIMITED);
	for (round = 0; round < 20000; round++) {
		for (i = 0; i < sizeof(text); i++)
			text[i] =
				(unsigned char)(rand() % 3 == 0
							? "\x1B\xC2\x9B\xE2\x80\xAE\x7F\r"[rand() %
											   9]
							: rand());
		rt_buf_clear(&buf);
		rt_screen_add_text(&buf, rt_str_at((char *)text, sizeof(text)));
		assert_int_equal(rt_utf8_valid_size(rt_buf_str(&buf)), buf.size);
		for (i = 0; i < buf.size; i++) {
			unsigned char c = (unsigned char)buf.ptr[i];

			assert_true(c >= 0x20 || c == '\n' || c == '\t');
			assert_int_not_equal(c, 0x7F);
			if (c == 0xC2)
				assert_true((unsigned char)buf.ptr[i + 1] >= 0xA0);
		}
		assert_int_equal(rt_str_find(rt_buf_str(&buf), RT_STR("\xE2\x80\xAE"), 0),
				 SIZE_MAX);
	}
	rt_buf_deinit(&buf);
}

static void
test_preview(void **state)
{
	rt_buf buf;

	(void)state;
	rt_buf_init(&buf, rt_alloc_libc(), RT_BUF_UNLIMITED);
	rt_screen_add_preview(&buf, RT_STR("abc"), 3, false);
	assert_string_equal(buf.ptr, "abc");
	rt_buf_clear(&buf);
	rt_screen_add_preview(&buf, RT_STR("ab\n\ncd"), 4, false);
	assert_string_equal(buf.ptr, "ab c...");
	rt_buf_clear(&buf);
	rt_screen_add_preview(&buf, RT_STR("\xC3\xBC\xC3\xBC\xC3\xBC"), 2, true);
	assert_string_equal(buf.ptr, "\xC3\xBC\xC3\xBC\xE2\x80\xA6");
	rt_buf_deinit(&buf);
}

static void
test_width(void **state)
{
	(void)state;
	assert_int_equal(rt_screen_width(RT_STR("abc")), 3);
	assert_int_equal(rt_screen_width(RT_STR("\xE6\xBC\xA2\xE5\xAD\x97")), 4);
	assert_int_equal(rt_screen_width(RT_STR("e\xCC\x81")), 1);
	assert_int_equal(rt_screen_width(RT_STR("\xF0\x9F\x9A\x80")), 2);
	assert_int_equal(rt_screen_cut(RT_STR("\xE6\xBC\xA2\xE5\xAD\x97"), 3).size, 3);
	assert_int_equal(rt_screen_cut(RT_STR("e\xCC\x81x"), 1).size, 3);
	assert_int_equal(rt_screen_cut(RT_STR("abc"), 0).size, 0);
}

static void
test_break(void **state)
{
	size_t skip;

	(void)state;
	assert_int_equal(rt_screen_break(RT_STR("ab cd"), 10, &skip), 5);
	assert_int_equal(skip, 0);
	assert_int_equal(rt_screen_break(RT_STR("ab cd"), 4, &skip), 2);
	assert_int_equal(skip, 1);
	assert_int_equal(rt_screen_break(RT_STR("ab   cd"), 2, &skip), 2);
	assert_int_equal(skip, 3);
	assert_int_equal(rt_screen_break(RT_STR("abcdef"), 4, &skip), 4);
	assert_int_equal(skip, 0);
	assert_int_equal(rt_screen_break(RT_STR("    abcdef"), 6, &skip), 6);
	assert_int_equal(skip, 0);
	/* never nothing */
	assert_int_equal(rt_screen_break(RT_STR("\xE6\xBC\xA2x"), 1, &skip), 3);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_text),    cmocka_unit_test(test_line),
		cmocka_unit_test(test_blanks),
		cmocka_unit_test(test_json),    cmocka_unit_test(test_nothing_gets_through),
		cmocka_unit_test(test_preview), cmocka_unit_test(test_width),
		cmocka_unit_test(test_break),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
