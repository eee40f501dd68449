/* SPDX-License-Identifier: MIT
 *
 * Differences of lines and of words. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/edits.h"

/* The items, changed ones in brackets. */
static void
add_side(rt_buf *out, const rt_edit_side *side)
{
	for (size_t i = 0; i < side->count; i++)
		rt_buf_add_f(out, side->items[i].is_changed ? "[%.*s]" : "%.*s",
			     RT_STR_ARG(side->items[i].text));
}

static void
compare(const char *a, const char *b, const char *wanted, bool similar)
{
	rt_scope s;
	rt_edits edits = {.s = &s};

	rt_scope_init(&s, rt_alloc_libc());
	rt_buf *out = rt_scope_buf(&s);
	rt_edits_words(&edits, rt_str_of(a), rt_str_of(b));
	add_side(out, &edits.a);
	rt_buf_add_c(out, " | ");
	add_side(out, &edits.b);
	assert_true(rt_ok(&s));
	assert_string_equal(out->ptr, wanted);
	assert_int_equal(rt_edits_are_similar(&edits), similar);
	rt_scope_deinit(&s);
}

static void
words(void **state)
{
	(void)state;
	compare("one two three", "one 2 three", "one [two] three | one [2] three", true);
	compare("same", "same", "same | same", true);
	compare("", "new", " | [new]", false);
	compare("a b c d", "a c d e", "a [b][ ]c d | a c d[ ][e]", true);
	compare("quite another", "text", "[quite][ ][another] | [text]", false);
	compare("one", "one, and much more", "one | one[,][ ][and][ ][much][ ][more]", true);
	compare("日本", "日中", "日[本] | 日[中]", true); /* written without blanks */
}

static void
lines(void **state)
{
	rt_scope s;
	rt_edits edits = {.s = &s};

	(void)state;
	rt_scope_init(&s, rt_alloc_libc());
	for (int i = 0; i < 2; i++) { /* it can be used again */
		rt_buf *out = rt_scope_buf(&s);

		rt_edits_lines(&edits, RT_STR("a\nb\nc\n"), RT_STR("a\nB\nc\nd\n"));
		add_side(out, &edits.a);
		rt_buf_add_c(out, "|");
		add_side(out, &edits.b);
		assert_string_equal(out->ptr, "a[b]c|a[B]c[d]");
	}
	rt_scope_deinit(&s);
}

/* Beyond the maximum everything between the common beginning and end is changed. */
static void
many(void **state)
{
	rt_scope s;
	rt_edits edits = {.s = &s};
	rt_buf *a, *b;

	(void)state;
	rt_scope_init(&s, rt_alloc_libc());
	a = rt_scope_buf(&s);
	b = rt_scope_buf(&s);
	for (int i = 0; i < 600; i++) {
		rt_buf_add_f(a, "a%d same ", i);
		rt_buf_add_f(b, "b%d same ", i);
	}
	rt_edits_words(&edits, rt_scope_str(&s, a), rt_scope_str(&s, b));
	assert_true(rt_ok(&s));
	assert_true(edits.a.items[2].is_changed);
	assert_false(edits.a.items[edits.a.count - 1].is_changed);
	rt_scope_deinit(&s);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(words),
		cmocka_unit_test(lines),
		cmocka_unit_test(many),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
