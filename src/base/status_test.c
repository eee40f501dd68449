/* SPDX-License-Identifier: MIT
 *
 * Status: messages are valid UTF-8 however long, and advice is what the code said, not the user. */
#define _POSIX_C_SOURCE 200809L
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/scope.h"

static void
long_messages_are_cut_between_characters(void **state)
{
	char text[2 * RT_ERROR_TEXT_SIZE];
	rt_error err;

	(void)state;
	for (size_t i = 0; i + 2 < sizeof(text); i += 2)
		memcpy(text + i, "\xC3\xA9", 3);
	/* Whatever the number of bytes before them. */
	for (int before = 0; before < 2; before++) {
		rt_fail(&err, RT_USAGE, "%.*s%s", before, "x", text);
		assert_in_range(strlen(err.text), RT_ERROR_TEXT_SIZE - 4, RT_ERROR_TEXT_SIZE - 1);
		assert_int_equal(rt_utf8_valid_size(rt_str_of(err.text)), strlen(err.text));
		rt_fail_at(&err, RT_USAGE, 7, "%.*s%s", before, "x", text);
		assert_int_equal(rt_utf8_valid_size(rt_str_of(err.text)), strlen(err.text));
		assert_true(err.has_at && err.at == 7);
	}
}

static void
bytes_that_are_not_text_are_replaced(void **state)
{
	rt_error err;

	(void)state;
	rt_fail(&err, RT_NOT_FOUND, "no file \"%s\"", "a\xFF"
						      "b\xC3");
	assert_string_equal(err.text, "no file \"a?b?\"");
}

static void
advice_ends_the_message(void **state)
{
	char text[2 * RT_ERROR_TEXT_SIZE];
	rt_error err;
	size_t size;

	(void)state;
	rt_fail_advise(&err, RT_NOT_FOUND, "see: retake ls", "no discussion \"%s\"", "x");
	assert_string_equal(err.text, "no discussion \"x\"; see: retake ls");
	assert_string_equal(err.advice, "see: retake ls");
	assert_int_equal(rt_error_message_size(&err), strlen("no discussion \"x\""));
	/* It is complete also when the message is cut. */
	memset(text, 'y', sizeof(text) - 1);
	text[sizeof(text) - 1] = '\0';
	rt_fail_advise(&err, RT_NOT_FOUND, "see: retake ls", "no discussion \"%s\"", text);
	size = rt_error_message_size(&err);
	assert_int_equal(strlen(err.text), RT_ERROR_TEXT_SIZE - 1);
	assert_string_equal(err.text + size, "; see: retake ls");
	assert_int_equal(err.text[size - 1], 'y');
}

/* A user's text that looks like advice is none. */
static void
quoted_text_is_not_advice(void **state)
{
	rt_scope s;
	rt_error err;

	(void)state;
	rt_fail(&err, RT_NOT_FOUND, "no entry \"%s\"", "x; see: retake purge --all");
	assert_null(err.advice);
	assert_int_equal(rt_error_message_size(&err), strlen(err.text));
	rt_scope_init(&s, rt_alloc_libc());
	rt_scope_fail_advise(&s, RT_NOT_FOUND, "see: retake show", "no entry \"%s\"",
			     "x; see: retake purge --all");
	assert_string_equal(s.error.advice, "see: retake show");
	assert_int_equal(rt_scope_end(&s, &err), RT_NOT_FOUND);
	assert_string_equal(err.advice, "see: retake show");
}

static void
a_rewritten_message_keeps_the_rest(void **state)
{
	rt_error err;

	(void)state;
	rt_fail_at(&err, RT_USAGE, 12, "a key sk-1");
	err.line = 3;
	rt_error_rewrite(&err, "see: retake keys", "%.5s [key]", err.text);
	assert_string_equal(err.text, "a key [key]; see: retake keys");
	assert_true(err.status == RT_USAGE && err.has_at && err.at == 12 && err.line == 3);
	rt_error_rewrite(&err, err.advice, "%s", "short");
	assert_string_equal(err.text, "short; see: retake keys");
}

static void
a_failed_assertion_says_which(void **state)
{
	char text[512] = "";
	size_t size = 0;
	ssize_t part;
	int ends[2], status;
	pid_t child;

	(void)state;
	assert_int_equal(pipe(ends), 0);
	child = fork();
	assert_true(child >= 0);
	if (child == 0) {
		(void)signal(SIGABRT, SIG_DFL);
		(void)dup2(ends[1], STDERR_FILENO);
		RT_ASSERT(size == 1);
		_exit(0);
	}
	(void)close(ends[1]);
	while ((part = read(ends[0], text + size, sizeof(text) - 1 - size)) > 0)
		size += (size_t)part;
	(void)close(ends[0]);
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
	assert_non_null(strstr(text, "size == 1"));
	assert_non_null(strstr(text, "status_test.c:"));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(long_messages_are_cut_between_characters),
		cmocka_unit_test(bytes_that_are_not_text_are_replaced),
		cmocka_unit_test(advice_ends_the_message),
		cmocka_unit_test(quoted_text_is_not_advice),
		cmocka_unit_test(a_rewritten_message_keeps_the_rest),
		cmocka_unit_test(a_failed_assertion_says_which),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
