/* SPDX-License-Identifier: MIT
 *
 * Markdown as the words of a preview. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/failing_testing.h"
#include "codec/plain.h"

static void
assert_entry(const char *role, const char *text, const char *wanted)
{
	rt_buf buf;

	rt_buf_init(&buf, rt_alloc_libc(), RT_BUF_UNLIMITED);
	rt_buf_add_c(&buf, "AI: ");
	rt_plain_add_entry(&buf, rt_str_of(role), rt_str_of(text));
	assert_int_equal(buf.status, RT_OK);
	assert_string_equal(buf.ptr + 4, wanted);
	rt_buf_deinit(&buf);
}

static void
assert_plain(const char *text, const char *wanted)
{
	assert_entry("AI", text, wanted);
}

static void
signs_are_left_out(void **state)
{
	(void)state;
	assert_plain("", "");
	assert_plain("plain text", "plain text");
	assert_plain("\033[31m stays", "\033[31m stays");
	assert_plain("**SQLite**: `one file`, no *server*", "SQLite: one file, no server");
	assert_plain("**a *b* c** and *d **e** f*", "a b c and d e f");
	assert_plain("| a | b |\n|---|--:|\n| 1 | 2 |", "| a | b | | 1 | 2 |");
	assert_plain("**a** and **b c**.", "a and b c.");
	assert_plain("## Notes\n\nWe use\tthem.  \n", "Notes We use them.");
	assert_plain("> > quoted\n> again", "quoted again");
	assert_plain("see [the docs](https://x.org/a_b) and ![a cat](cat.png)!", "see the docs and a cat!");
	assert_plain("`` a ` b `` and ``c``", "a ` b and c");
	assert_plain("- one\n- two", "- one - two");
}

static void
code_is_kept(void **state)
{
	(void)state;
	assert_plain("Use:\n```python\nf(**a)  # `x`\n```\nDone.", "Use: f(**a) # `x` Done.");
	assert_plain("~~~\n# no heading\n~~~", "# no heading");
	assert_plain("call `f(**a, **b)` now", "call f(**a, **b) now");
	assert_plain("```one line```", "one line");
	assert_entry("tool", "**kept**\n`as` it is", "**kept** `as` it is");
	assert_entry("toolResult", "# ls\n\n> x", "# ls > x");
}

/* What has no pair is text. */
static void
other_signs_are_text(void **state)
{
	(void)state;
	assert_plain("2 ** 3 and f(**a, **b)", "2 ** 3 and f(**a, **b)");
	assert_plain("**a **b **c", "**a **b **c");
	assert_plain("#hashtag ####### seven", "#hashtag ####### seven");
	assert_plain("a[0] [x] [y](no end", "a[0] [x] [y](no end");
	assert_plain("[a](b c) [d[e](f)", "[a](b c) [de");
	assert_plain("2 * 3 * 4, a*b*c and *.c *.h", "2 * 3 * 4, a*b*c and *.c *.h");
	assert_plain("**", "**");
	assert_plain("*** line", "*** line");
	assert_plain("`cut here", "cut here");
	assert_plain("`````", "`````");
	assert_plain("```", "```");
}

/* 100 KB of openings without an end take no noticeable time. */
static void
time_is_linear(void **state)
{
	static const char *const parts[] = {"**a ", " *a", "` `` ``` ", "[", "![", "**", "* ", "[a]("};
	rt_buf in, out;

	(void)state;
	rt_buf_init(&in, rt_alloc_libc(), RT_BUF_UNLIMITED);
	rt_buf_init(&out, rt_alloc_libc(), RT_BUF_UNLIMITED);
	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
		rt_buf_clear(&in);
		rt_buf_clear(&out);
		while (in.size < 100000)
			rt_buf_add_c(&in, parts[i]);
		rt_plain_add(&out, rt_buf_str(&in));
		assert_int_equal(out.status, RT_OK);
		assert_true(out.size <= in.size);
	}
	rt_buf_deinit(&in);
	rt_buf_deinit(&out);
}

static void
memory_runs_out(void **state)
{
	rt_status st = RT_NOMEM;

	(void)state;
	for (long left = 0; st != RT_OK; left++) {
		failing f = {.left = left};
		rt_alloc alloc = {failing_resize, failing_release, &f};
		rt_buf buf;

		rt_buf_init(&buf, &alloc, RT_BUF_UNLIMITED);
		rt_plain_add(&buf, RT_STR("# a **b** `c` [d](e)\n```\nf\n```\n"));
		st = buf.status;
		assert_true(st == RT_OK || st == RT_NOMEM);
		if (st == RT_OK)
			assert_string_equal(buf.ptr, "a b c d f");
		rt_buf_deinit(&buf);
		assert_int_equal(f.live, 0);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(signs_are_left_out), cmocka_unit_test(code_is_kept),
		cmocka_unit_test(other_signs_are_text), cmocka_unit_test(time_is_linear),
		cmocka_unit_test(memory_runs_out),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
