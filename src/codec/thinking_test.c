/* SPDX-License-Identifier: MIT
 *
 * Thinking in a text: where it is and where it is not; in pieces as in one. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "base/failing_testing.h"
#include "codec/thinking.h"

/* Thinking as [inside], prose unchanged. */
static void
assert_parts_of(const char *text, bool is_cut, const char *wanted)
{
	rt_str rest = rt_str_of(text);
	rt_thinking t = {.is_open_end = is_cut};
	rt_thinking_part part;
	rt_buf out, raw;

	rt_buf_init(&out, rt_alloc_libc(), RT_BUF_UNLIMITED);
	rt_buf_init(&raw, rt_alloc_libc(), RT_BUF_UNLIMITED);
	while (rt_thinking_next(&t, &rest, &part)) {
		rt_buf_add_c(&out, part.tag > 0 ? "[" : "");
		rt_buf_add_str(&out, part.text);
		rt_buf_add_c(&out, part.tag > 0 ? "]" : "");
		rt_buf_add_str(&raw, part.raw);
	}
	rt_buf_add_byte(&raw, '\0');
	rt_buf_add_byte(&out, '\0');
	assert_string_equal(out.ptr, wanted);
	assert_string_equal(raw.ptr, text);
	rt_buf_deinit(&out);
	rt_buf_deinit(&raw);
}

static void
assert_parts(const char *text, const char *wanted)
{
	assert_parts_of(text, false, wanted);
}

static void
thinking_is_anywhere(void **state)
{
	(void)state;
	assert_parts("", "");
	assert_parts("plain < text > of <b>no</b> tags", "plain < text > of <b>no</b> tags");
	assert_parts("Intro <thinking>mid plan</thinking> outro", "Intro [mid plan] outro");
	assert_parts("<think>a</think>b<antThinking>c\nd</antThinking>", "[a]b[c\nd]");
	assert_parts("<thinking>a</think>b</thinking>c", "[a</think>b]c");
	assert_parts("<think></think>x", "[]x");
	assert_parts("- <think>in a list</think> item", "- [in a list] item");
	assert_parts("a</thinking>b <Thinking>c</Thinking>", "a</thinking>b <Thinking>c</Thinking>");
}

static void
code_is_left_alone(void **state)
{
	(void)state;
	assert_parts("Write `<think>x</think>` so. <think>y</think>",
		     "Write `<think>x</think>` so. [y]");
	assert_parts("``a ` <think>x</think>`` <think>y</think>",
		     "``a ` <think>x</think>`` [y]");
	assert_parts("```xml\n<think>x</think>\n```\n<think>y</think>",
		     "```xml\n<think>x</think>\n```\n[y]");
	assert_parts("  ~~~\n```\n<think>x</think>\n~~~\n<think>y</think>",
		     "  ~~~\n```\n<think>x</think>\n~~~\n[y]");
	assert_parts("````\n```\n<think>x</think>\n````\n", "````\n```\n<think>x</think>\n````\n");
	assert_parts("```js\n```xml\n<think>x</think>\n```\n<think>y</think>",
		     "```js\n```xml\n<think>x</think>\n```\n[y]");
	/* a backtick that closes nothing ends with its paragraph, or where a line begins with a tag */
	assert_parts("a ` b\n\n <think>y</think>", "a ` b\n\n [y]");
	assert_parts("a ` b\n<think>y</think>", "a ` b\n[y]");
	/* ```code``` within a line opens no fence */
	assert_parts("```a``` b\n<think>y</think>", "```a``` b\n[y]");
	/* and code within the reasoning is not code of the text */
	assert_parts("<think>```</think>\n<think>y</think>", "[```]\n[y]");
}

static void
a_tag_without_end_is_prose(void **state)
{
	(void)state;
	assert_parts("The <think> tag. <thinking>x</thinking> y", "The <think> tag. [x] y");
	assert_parts("a <thinking>x", "a <thinking>x");
	assert_parts_of("a <thinking>x", true, "a [x]");
	assert_parts_of("a <think>b</think> <thinking>x\ny", true, "a [b] [x\ny]");
}

static void
assert_prose(const char *text, const char *wanted)
{
	rt_buf out;

	rt_buf_init(&out, rt_alloc_libc(), RT_BUF_UNLIMITED);
	rt_thinking_add_prose(&out, rt_str_of(text), false);
	rt_buf_add_byte(&out, '\0');
	assert_string_equal(out.ptr, wanted);
	rt_buf_deinit(&out);
}

static void
prose_has_no_holes(void **state)
{
	(void)state;
	assert_prose("Intro <think>x</think> outro", "Intro outro");
	assert_prose("Intro\n\n<think>x</think>\n\nOutro", "Intro\n\nOutro");
	assert_prose("<think>x</think>\n<think>y</think>\n\nOutro", "Outro");
	assert_prose("a<think>x</think> b", "a b");
	assert_prose("<think>x</think>", "");
	assert_prose(" a ", " a ");
}

/* A line that may begin a fence, without end: only a bounded part is held back, however it is
 * split. */
static void
what_waits_is_bounded(void **state)
{
	enum { SIZE = 100000 };
	char *text = malloc(SIZE);

	(void)state;
	assert_non_null(text);
	for (int kind = 0; kind < 3; kind++) {
		rt_thinking t = {.is_streamed = true};
		rt_thinking_part part;
		size_t from = 0;

		memset(text, kind == 0 ? 'x' : kind == 1 ? '`' : '~', SIZE);
		memset(text, kind == 2 ? '~' : '`', 3);
		for (size_t end = 7; end <= SIZE; end += 7) {
			rt_str rest = rt_str_at(text + from, end - from);

			while (rt_thinking_next(&t, &rest, &part))
				from += part.raw.size;
			assert_true(rest.size <= 1024);
		}
		assert_true(t.fence >= 3);
	}
	free(text);
}

/* However a text is split, prose and thinking are those of the whole text. */
static void
pieces_are_as_the_whole(void **state)
{
	static const char text[] =
		"In <thinking>one\n```\n</thinking> `<think>` and\n```\n<think>no</think>\n```\n"
		"<think>two</thin></think> <antThinking>three</antThinking>``x` <";
	rt_buf whole, joined;

	(void)state;
	rt_buf_init(&whole, rt_alloc_libc(), RT_BUF_UNLIMITED);
	rt_buf_init(&joined, rt_alloc_libc(), RT_BUF_UNLIMITED);
	for (size_t size = sizeof(text); size > 0; size--) {
		rt_thinking t = {.is_streamed = true};
		rt_buf *out = size == sizeof(text) ? &whole : &joined, waiting;
		rt_thinking_part part;

		rt_buf_clear(out);
		rt_buf_init(&waiting, rt_alloc_libc(), RT_BUF_UNLIMITED);
		for (size_t at = 0; at < sizeof(text) - 1; at += size) {
			size_t left = sizeof(text) - 1 - at;
			rt_str rest;
			rt_buf more;

			rt_buf_add(&waiting, text + at, size < left ? size : left);
			rest = rt_buf_str(&waiting);
			while (rt_thinking_next(&t, &rest, &part)) {
				rt_buf_add_c(out, part.opens ? "[" : "");
				rt_buf_add_str(out, part.text);
				rt_buf_add_c(out, part.closes ? "]" : "");
			}
			rt_buf_init(&more, rt_alloc_libc(), RT_BUF_UNLIMITED);
			rt_buf_add_str(&more, rest);
			rt_buf_deinit(&waiting);
			waiting = more;
		}
		rt_buf_add_str(out, rt_buf_str(&waiting));
		rt_buf_add_byte(out, '\0');
		rt_buf_deinit(&waiting);
		assert_string_equal(out->ptr, whole.ptr);
	}
	assert_string_equal(whole.ptr,
			    "In [one\n```\n] `<think>` and\n```\n<think>no</think>\n```\n"
			    "[two</thin>] [three]``x` <");
	rt_buf_deinit(&whole);
	rt_buf_deinit(&joined);
}

/* The parts of a body, each allocation failing in turn. */
static void
memory_may_fail_anywhere(void **state)
{
	const rt_str role = RT_STR("AI");
	rt_body body = {.content = RT_STR("<think>a</think> b <think>c</think> d")};
	long n;

	(void)state;
	for (n = 0;; n++) {
		failing f = {.left = n};
		rt_alloc alloc = {failing_resize, failing_release, &f};
		rt_scope s;

		rt_scope_init(&s, &alloc);
		rt_buf *prose = rt_scope_buf(&s);
		rt_body_parts parts = rt_body_parts_of(&s, role, &body);
		rt_body_add_prose(prose, role, &body);
		rt_str text = rt_scope_str(&s, prose);
		bool ok = rt_ok(&s);
		assert_int_equal(ok, !atomic_load(&f.failed));
		assert_true(ok || s.status == RT_NOMEM);
		assert_true(!ok || (parts.thinking_count == 2 && rt_str_is(text, "b d")));
		rt_scope_deinit(&s);
		assert_int_equal(atomic_load(&f.live), 0);
		if (ok)
			break;
	}
	assert_in_range(n, 2, 1000);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(memory_may_fail_anywhere),
		cmocka_unit_test(thinking_is_anywhere),
		cmocka_unit_test(code_is_left_alone),
		cmocka_unit_test(a_tag_without_end_is_prose),
		cmocka_unit_test(prose_has_no_holes),
		cmocka_unit_test(what_waits_is_bounded),
		cmocka_unit_test(pieces_are_as_the_whole),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
