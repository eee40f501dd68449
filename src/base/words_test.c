/* SPDX-License-Identifier: MIT
 *
 * How texts are cut into words. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "base/words.h"

static const char *
tokens_of(const char *text)
{
	static char out[400];
	rt_str str = rt_str_of(text);
	rt_token t;

	out[0] = '\0';
	for (size_t at = 0; rt_token_next(str, &at, &t);) {
		assert_true(t.from < t.to && t.to <= str.size);
		snprintf(out + strlen(out), sizeof(out) - strlen(out), "%.*s|", (int)t.size, t.text);
	}
	return out;
}

static void
cuts_words(void **state)
{
	(void)state;
	assert_string_equal(tokens_of(""), "");
	assert_string_equal(tokens_of(" -,.\t"), "");
	assert_string_equal(tokens_of("Don't STOP_me 42x"), "don|t|stop|me|42x|");
	assert_string_equal(tokens_of("Übergröße Łódź Việt"), "ubergroße|lodz|viet|");
	assert_string_equal(tokens_of("e\xcc\x81t\xc3\xa9"), "ete|"); /* a combining accent */
	assert_string_equal(tokens_of("ΑΒΓ Привет"), "αβγ|привет|");
	assert_string_equal(tokens_of("Ａbｃ，４２！ xｙ"), "abc|42|xy|"); /* full-width */
	assert_string_equal(tokens_of("oﬃce ﬁle coﬀee ﬆ"), "office|file|coffee|st|");
	assert_string_equal(tokens_of("a “quoted” word… end"), "a|quoted|word|end|");
}

static void
cuts_scripts_without_spaces_into_pairs(void **state)
{
	(void)state;
	assert_string_equal(tokens_of("東京都"), "東京|京都|都|");
	assert_string_equal(tokens_of("東"), "東|");
	assert_string_equal(tokens_of("東京tower、塔"), "東京|京|tower|塔|");
	assert_string_equal(tokens_of("안녕"), "안녕|녕|");
}

static void
cuts_long_words(void **state)
{
	char text[1000];

	(void)state;
	memset(text, 'x', sizeof(text) - 1);
	text[sizeof(text) - 1] = '\0';
	assert_true(strlen(tokens_of(text)) <= RT_TOKEN_MAX + 1);
	for (size_t i = 0; i + 2 < sizeof(text); i += 2)
		memcpy(text + i, "\xc3\xa6", 2);
	assert_true(strlen(tokens_of(text)) <= RT_TOKEN_MAX + 1);
}

/* Any bytes are a text; every token advances. */
static void
takes_any_bytes(void **state)
{
	unsigned char text[64];
	uint32_t random = 1;

	(void)state;
	for (int round = 0; round < 20000; round++) {
		rt_token t;
		size_t size = (size_t)round % sizeof(text), last = 0;

		for (size_t i = 0; i < size; i++) {
			random = random * 1664525 + 1013904223;
			text[i] = (unsigned char)(random >> 24 | (random >> 20 & 0x80));
		}
		for (size_t at = 0; rt_token_next(rt_str_at((const char *)text, size), &at, &t);) {
			assert_true(at > last && t.to <= size && t.size > 0 && t.size <= RT_TOKEN_MAX);
			last = at;
		}
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(cuts_words),
		cmocka_unit_test(cuts_scripts_without_spaces_into_pairs),
		cmocka_unit_test(cuts_long_words),
		cmocka_unit_test(takes_any_bytes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
