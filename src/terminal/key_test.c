/* SPDX-License-Identifier: MIT
 *
 * Keys by their words, and the words by their keys. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

#include "terminal/key.h"

static void
assert_reads(const char *word, uint32_t code, unsigned mods, const char *again, const char *title)
{
	rt_key key = {0, 0};
	rt_error err;
	rt_buf buf;

	memset(&err, 0, sizeof(err));
	rt_buf_init(&buf, rt_alloc_libc(), RT_BUF_UNLIMITED);
	assert_int_equal(rt_key_read(rt_str_of(word), &key, &err), RT_OK);
	assert_int_equal(key.code, code);
	assert_int_equal(key.mods, mods);
	rt_key_add_word(&buf, key, false);
	assert_string_equal(buf.ptr, again);
	rt_buf_clear(&buf);
	rt_key_add_word(&buf, key, true);
	assert_string_equal(buf.ptr, title);
	rt_buf_deinit(&buf);
}

static void
test_words_of_keys(void **state)
{
	(void)state;
	assert_reads("ctrl+o", 'o', RT_KEY_CTRL, "ctrl+o", "Ctrl+O");
	assert_reads("Ctrl+O", 'o', RT_KEY_CTRL, "ctrl+o", "Ctrl+O");
	assert_reads("alt+left", RT_KEY_LEFT, RT_KEY_ALT, "alt+left", "Alt+Left");
	assert_reads("Alt+U", 'u', RT_KEY_ALT, "alt+u", "Alt+U");
	assert_reads("alt+shift+u", 'U', RT_KEY_ALT, "alt+shift+u", "Alt+Shift+U");
	assert_reads("G", 'G', 0, "G", "G");
	assert_reads("g", 'g', 0, "g", "g");
	assert_reads("shift+g", 'G', 0, "G", "G");
	assert_reads("space", ' ', 0, "space", "Space");
	assert_reads("ctrl+space", ' ', RT_KEY_CTRL, "ctrl+space", "Ctrl+Space");
	assert_reads("shift+tab", RT_KEY_TAB, RT_KEY_SHIFT, "shift+tab", "Shift+Tab");
	assert_reads("ctrl+shift+o", 'o', RT_KEY_CTRL | RT_KEY_SHIFT, "ctrl+shift+o", "Ctrl+Shift+O");
	assert_reads("esc", RT_KEY_ESCAPE, 0, "escape", "Esc");
	assert_reads("ENTER", RT_KEY_ENTER, 0, "enter", "Enter");
	assert_reads("f12", RT_KEY_F1 + 11, 0, "f12", "F12");
	assert_reads("+", '+', 0, "+", "+");
	assert_reads("ctrl++", '+', RT_KEY_CTRL, "ctrl++", "Ctrl++");
	assert_reads("alt+[", '[', RT_KEY_ALT, "alt+[", "Alt+[");
	assert_reads("ctrl+_", '_', RT_KEY_CTRL, "ctrl+_", "Ctrl+_");
	assert_reads("\u00E9", 0xE9, 0, "\u00E9", "\u00E9");
	/* Keys that most terminals cannot distinguish are the same. */
	assert_reads("ctrl+i", RT_KEY_TAB, 0, "tab", "Tab");
	assert_reads("ctrl+m", RT_KEY_ENTER, 0, "enter", "Enter");
	assert_reads("ctrl+[", RT_KEY_ESCAPE, 0, "escape", "Esc");
}

static void
test_words_of_no_key(void **state)
{
	static const char *const words[] = {"", "ctrl+", "hyper+x", "ab", "f13", "\xFF", "a ", "ctrl",
					    "\n", "\033", "\u0301\u0301"};
	rt_key key = {7, 7};
	rt_error err;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		assert_int_equal(rt_key_read(rt_str_of(words[i]), &key, &err), RT_USAGE);
	assert_int_equal(key.code, 7);
	assert_int_equal(rt_key_read(RT_STR("alt+lefft"), &key, &err), RT_USAGE);
	assert_string_equal(err.text, "there is no key \"alt+lefft\"; did you mean \"left\"?");
}

static void
test_what_is_text(void **state)
{
	(void)state;
	assert_true(rt_key_is_text((rt_key){'a', 0}));
	assert_true(rt_key_is_text((rt_key){' ', 0}));
	assert_true(rt_key_is_text((rt_key){0x4F60, 0}));
	assert_false(rt_key_is_text((rt_key){'a', RT_KEY_CTRL}));
	assert_false(rt_key_is_text((rt_key){'a', RT_KEY_ALT}));
	assert_false(rt_key_is_text((rt_key){RT_KEY_ENTER, 0}));
	assert_false(rt_key_is_text((rt_key){RT_KEY_NONE, 0}));
	assert_false(rt_key_is_text((rt_key){0x9B, 0}));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_words_of_keys),
		cmocka_unit_test(test_words_of_no_key),
		cmocka_unit_test(test_what_is_text),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
