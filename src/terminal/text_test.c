/* SPDX-License-Identifier: MIT
 *
 * The displayed form of any bytes on a screen of cells, and its width. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "terminal/text.h"

static void
shows(rt_str text, bool ascii, const char *wanted, size_t columns)
{
	rt_buf buf;

	rt_buf_init(&buf, rt_alloc_libc(), RT_BUF_UNLIMITED);
	rt_shown_add(&buf, text, ascii);
	assert_int_equal(buf.status, RT_OK);
	assert_int_equal(rt_shown_columns(rt_buf_str(&buf)), columns);
	rt_buf_add_byte(&buf, 0);
	assert_string_equal(buf.ptr, wanted);
	rt_buf_deinit(&buf);
}

static void
test_plain(void **state)
{
	(void)state;
	shows(RT_STR(""), false, "", 0);
	shows(RT_STR("plain text"), false, "plain text", 10);
	shows(RT_STR("two\nlines\tand a tab"), false, "two lines and a tab", 19);
	shows(RT_STR("漢字"), false, "漢字", 4);
	shows(RT_STR("é😀"), false, "é😀", 3);
}

static void
test_controls(void **state)
{
	(void)state;
	shows(RT_STR("\033]0;title\a"), false, "^[]0;title^G", 12);
	shows(RT_STR("\0\177"), false, "^@^?", 4);
	shows(RT_STR("\xC2\x9B"
		     "31m"),
	      false, "<U+009B>31m", 11);
	shows(RT_STR("a\xE2\x80\xAE"
		     "b"),
	      false, "a<U+202E>b", 10);
	shows(RT_STR("a\xE2\x80\xA8"
		     "b"),
	      false, "a b", 3);
	shows(RT_STR("\xFF\xC0\x9B"), false, "\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD", 3);
}

static void
test_marks(void **state)
{
	(void)state;
	/* a mark on its letter; one without; more than a cell can have */
	shows(RT_STR("e\xCC\x81x"), false, "e\xCC\x81x", 2);
	shows(RT_STR("\xCC\x81x"), false, "\xE2\x97\x8C\xCC\x81x", 2);
	shows(RT_STR("e\xCC\x81\xCC\x81\xCC\x81\xCC\x81\xCC\x81\xCC\x81"), false,
	      "e\xCC\x81\xCC\x81\xCC\x81", 1);
	/* a syllable in three parts; a vowel sign that has a column */
	shows(RT_STR("\xE1\x84\x92\xE1\x85\xA1\xE1\x86\xAB"), false,
	      "\xE1\x84\x92\xE1\x85\xA1\xE1\x86\xAB", 2);
	shows(RT_STR("\xE1\x81\xA8x"), false, "\xE1\x81\xA8x", 2);
	/* invisible characters: by name */
	shows(RT_STR("a\xE2\x80\x8B"
		     "b"),
	      false, "a<U+200B>b", 10);
	/* not assigned */
	shows(RT_STR("\xCD\xB8"), false, "\xEF\xBF\xBD", 1);
}

static void
test_ascii(void **state)
{
	(void)state;
	shows(RT_STR("na\xC3\xAFve 漢 e\xCC\x81"), true, "na?ve ? e", 9);
	shows(RT_STR("\xCC\x81"), true, "", 0);
	shows(RT_STR("\033[1m"), true, "^[[1m", 5);
}

static void
test_cut(void **state)
{
	rt_str s = RT_STR("a漢e\xCC\x81"
			  "b");
	size_t columns, blank;

	(void)state;
	assert_int_equal(rt_shown_cut(s, 0, &columns).size, 0);
	assert_int_equal(rt_shown_cut(s, 2, &columns).size, 1);
	assert_int_equal(columns, 1);
	assert_int_equal(rt_shown_cut(s, 3, &columns).size, 4);
	assert_int_equal(columns, 3);
	assert_int_equal(rt_shown_cut(s, 4, NULL).size, 7);
	assert_int_equal(rt_shown_cut(s, 99, &columns).size, s.size);
	assert_int_equal(columns, 5);
	assert_int_equal(rt_shown_skip(s, 1, &blank).size, s.size - 1);
	assert_int_equal(blank, 0);
	/* half of a wide one is left blank */
	assert_int_equal(rt_shown_skip(s, 2, &blank).size, s.size - 4);
	assert_int_equal(blank, 1);
	assert_int_equal(rt_shown_skip(s, 9, &blank).size, 0);
	assert_int_equal(blank, 0);
	/* nothing, with a NULL pointer */
	assert_null(rt_shown_skip(rt_str_at(NULL, 0), 3, &blank).ptr);
	assert_int_equal(blank, 0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_plain), cmocka_unit_test(test_controls),
		cmocka_unit_test(test_marks), cmocka_unit_test(test_ascii),
		cmocka_unit_test(test_cut),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
