/* SPDX-License-Identifier: MIT
 *
 * Replies that change the working prompt: the position of the prompt in them, and the shown part of
 * a JSON reply while it arrives. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdlib.h>

#include "base/failing_testing.h"
#include "chat/prompt_update.h"

/* NULL: none. "!": not in the requested form. */
static void
assert_update(rt_prompt_updates how, const char *reply, const char *content, const char *prompt)
{
	rt_prompt_update update;
	rt_scope s;

	rt_scope_init(&s, rt_alloc_libc());
	update = rt_prompt_update_read(&s, how, rt_str_of(reply));
	assert_true(rt_ok(&s));
	assert_int_equal(update.is_broken, content != NULL && content[0] == '!');
	if (content == NULL || update.is_broken)
		assert_null(update.content.ptr);
	else
		assert_true(rt_str_is(update.content, content));
	if (prompt == NULL)
		assert_null(update.prompt.ptr);
	else
		assert_true(rt_str_is(update.prompt, prompt));
	rt_scope_deinit(&s);
}

static void
a_block_is_the_prompt(void **state)
{
	const rt_prompt_updates how = RT_PROMPT_UPDATES_BLOCK;

	(void)state;
	assert_update(how, "So:\n```prompt\na cat\nin a hat\n```\nFine?", NULL, "a cat\nin a hat");
	assert_update(how, "```prompt\na\n```\n```prompt\nb\n```", NULL, "b");
	assert_update(how, "~~~~ prompt\n```\nx\n```\n~~~~\n", NULL, "```\nx\n```");
	assert_update(how, "```prompt\n```", NULL, "");
	assert_update(how, "no block, `prompt`\n```\nprompt\n```", NULL, NULL);
	assert_update(how, "```markdown\n~~~prompt\nx\n~~~\n```\n", NULL, NULL);
	assert_update(how, "```prompt\nnot closed", NULL, NULL);
	assert_update(RT_PROMPT_UPDATES_OFF, "```prompt\na\n```", NULL, NULL);
}

static void
json_has_content_and_prompt(void **state)
{
	const rt_prompt_updates how = RT_PROMPT_UPDATES_JSON;

	(void)state;
	assert_update(how, "{\"content\":\"Hi\",\"prompt\":\"a cat\"}", "Hi", "a cat");
	assert_update(how, " {\"prompt\":null,\"content\":\"Hi\"} \n", "Hi", NULL);
	assert_update(how, "{\"content\":\"Hi\"}", "Hi", NULL);
	assert_update(how, "```json\n{\"content\":\"Hi\",\n\"prompt\":\"x\"}\n```", "Hi", "x");
	assert_update(how, "Hi", "!", NULL);
	assert_update(how, "{\"content\":\"Hi\",\"prompt\":", "!", NULL);
	assert_update(how, "{\"content\":1}", "!", NULL);
	assert_update(how, "{\"content\":\"Hi\",\"prompt\":[]}", "!", NULL);
	assert_update(how, "", "!", NULL);
}

/* In pieces of every size. */
static void
assert_shown(const char *reply, const char *wanted)
{
	size_t size = strlen(reply);

	for (size_t step = 1; step <= size; step++) {
		rt_prompt_stream stream;
		rt_buf out;

		rt_prompt_stream_init(&stream, rt_alloc_libc());
		rt_buf_init(&out, rt_alloc_libc(), RT_BUF_UNLIMITED);
		for (size_t at = 0; at < size; at += step)
			rt_prompt_stream_add(
				&stream,
				rt_str_at(reply + at, size - at < step ? size - at : step), &out);
		rt_buf_add_byte(&out, '\0');
		assert_string_equal(out.ptr, wanted);
		rt_buf_deinit(&out);
		rt_prompt_stream_deinit(&stream);
	}
}

static void
content_is_shown_as_it_arrives(void **state)
{
	(void)state;
	assert_shown("{\"content\":\"A \\\"cat\\\"\\n\\u00e9 \\ud83d\\ude00\",\"prompt\":\"x\"}",
		     "A \"cat\"\n\xC3\xA9 \xF0\x9F\x98\x80");
	assert_shown("{\"prompt\":\"say \\\"content\\\":\\\"no\\\"\", \"content\" : \"yes\"}", "yes");
	assert_shown("{\"content\":\"cut \\u00", "cut ");
	assert_shown("plain words", "plain words");
	assert_shown("{\"content\":null}", "");
}

static void
the_difference_is_lines(void **state)
{
	static const char *const cases[][3] = {
		{"", "a", "\n+ a"},
		{"a\nb\nc", "a\nx\nc", "\n- b\n+ x"},
		{"a\nb", "a\nb\nc", "\n+ c"},
		{"b", "a\nb", "\n+ a"},
		{"a", "", "\n- a"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		rt_buf out;

		rt_buf_init(&out, rt_alloc_libc(), RT_BUF_UNLIMITED);
		rt_prompt_update_add_diff(&out, rt_str_of(cases[i][0]), rt_str_of(cases[i][1]));
		rt_buf_add_byte(&out, '\0');
		assert_string_equal(out.ptr, cases[i][2]);
		rt_buf_deinit(&out);
	}
}

/* A reply with a prompt, read as it arrives and then as a whole, each allocation failing in turn. */
static void
memory_may_fail_anywhere(void **state)
{
	const rt_str reply = RT_STR("{\"content\":\"a \\u00e9 \\ud83d\\ude00 b\",\"prompt\":\"a cat\"}");
	long n;

	(void)state;
	for (n = 0;; n++) {
		failing f = {.left = n};
		rt_alloc alloc = {failing_resize, failing_release, &f};
		rt_prompt_stream stream;
		rt_prompt_update update;
		rt_scope s;

		rt_scope_init(&s, &alloc);
		rt_prompt_stream_init(&stream, &alloc);
		rt_buf *shown = rt_scope_buf(&s);
		for (size_t at = 0; at < reply.size && rt_ok(&s); at++) {
			rt_prompt_stream_add(&stream, rt_str_at(reply.ptr + at, 1), shown);
			RT_TRY(&s, shown->status);
		}
		update = rt_prompt_update_read(&s, RT_PROMPT_UPDATES_JSON, reply);
		bool ok = rt_ok(&s);
		assert_true(ok || s.status == RT_NOMEM);
		assert_int_equal(ok, !atomic_load(&f.failed));
		if (ok) {
			assert_true(rt_str_is(rt_scope_str(&s, shown), "a \xc3\xa9 \xf0\x9f\x98\x80 b"));
			assert_true(rt_str_is(update.prompt, "a cat"));
		}
		rt_prompt_stream_deinit(&stream);
		rt_scope_deinit(&s);
		assert_int_equal(atomic_load(&f.live), 0);
		if (ok)
			break;
	}
	assert_in_range(n, 4, 100000);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(memory_may_fail_anywhere),
		cmocka_unit_test(a_block_is_the_prompt),
		cmocka_unit_test(json_has_content_and_prompt),
		cmocka_unit_test(content_is_shown_as_it_arrives),
		cmocka_unit_test(the_difference_is_lines),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
