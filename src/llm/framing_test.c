/* SPDX-License-Identifier: MIT
 *
 * Framing: streams into pieces, wherever they are cut. */
#include "llm/llm_testing.h"

#include <stdlib.h>

/* All pieces as "[data]", appended to out. */
static rt_status
read_bytes(rt_frames *frames, rt_str bytes, rt_buf *out, rt_error *err)
{
	rt_str data;

	while (rt_frames_next(frames, &bytes, &data))
		rt_buf_add_f(out, "[%.*s]", RT_STR_ARG(data));
	return rt_frames_check(frames, err);
}

static void
run(rt_framing framing, rt_str bytes, size_t cut, size_t step, const char *expected)
{
	rt_frames frames;
	size_t at, size;
	rt_str data;
	rt_buf seen;

	rt_buf_init(&seen, rt_alloc_libc(), RT_BUF_UNLIMITED);
	rt_buf_add_c(&seen, "");
	rt_frames_init(&frames, rt_alloc_libc(), framing);
	for (at = 0, size = cut; at < bytes.size || size > 0; at += size, size = step) {
		char *copy = malloc(size + 1); /* the last bytes are gone */

		size = bytes.size - at < size ? bytes.size - at : size;
		assert_non_null(copy);
		memcpy(copy, bytes.ptr + at, size);
		assert_int_equal(read_bytes(&frames, rt_str_at(copy, size), &seen, NULL), RT_OK);
		free(copy);
		if (at + size == bytes.size)
			break;
	}
	if (rt_frames_last(&frames, &data))
		rt_buf_add_f(&seen, "[%.*s]", RT_STR_ARG(data));
	assert_int_equal(rt_frames_check(&frames, NULL), RT_OK);
	told_same(&seen, expected, "cut at", cut);
	rt_frames_deinit(&frames);
	rt_buf_deinit(&seen);
}

static void
frames_as(rt_framing framing, const char *stream, const char *expected)
{
	rt_str bytes = rt_str_of(stream);
	size_t i;

	for (i = 0; i <= bytes.size; i++)
		run(framing, bytes, i, bytes.size, expected);
	for (i = 1; i < 5; i++)
		run(framing, bytes, 0, i, expected);
}

static void
events(void **state)
{
	(void)state;
	frames_as(RT_FRAMING_SSE, "", "");
	frames_as(RT_FRAMING_SSE, "\n\n\n", "");
	frames_as(RT_FRAMING_SSE, "data: a\n\ndata: b\n\n", "[a][b]");
	frames_as(RT_FRAMING_SSE, "data:a\r\n\r\ndata:  b\r\n\r\n", "[a][ b]");
	frames_as(RT_FRAMING_SSE, "data: a\r\rdata: b\r\r", "[a][b]");
	frames_as(RT_FRAMING_SSE, "data: a\r\n\ndata: b\n\r\n", "[a][b]");
	/* names of events are not read */
	frames_as(RT_FRAMING_SSE, "event: ping\ndata: 1\n\ndata: 2\n\n", "[1][2]");
	frames_as(RT_FRAMING_SSE, "event: lost\n\ndata: 2\n\n", "[2]");
	frames_as(RT_FRAMING_SSE, "event: x\nevent: y\ndata: 2\n\n", "[2]");
	/* several lines of data; one without a colon; other fields and comments */
	frames_as(RT_FRAMING_SSE, "data: {\ndata:\ndata\ndata: }\n\n", "[{\n\n\n}]");
	frames_as(RT_FRAMING_SSE, ": hi\nid: 7\nretry: 1\nx\ndata: a\n:\n\n", "[a]");
	frames_as(RT_FRAMING_SSE, "data:\n\n", "[]");
	/* a mark at the beginning, and only there */
	frames_as(RT_FRAMING_SSE, "\xEF\xBB\xBF" "data: a\n\n\xEF\xBB\xBF" "data: b\n\n", "[a]");
	/* the end of the stream ends an event, too */
	frames_as(RT_FRAMING_SSE, "data: a\n\ndata: b\n", "[a][b]");
	frames_as(RT_FRAMING_SSE, "data: a\n\nevent: e\ndata: b", "[a][b]");
	frames_as(RT_FRAMING_SSE, "data: \xE2\x82\xAC\n\n", "[\xE2\x82\xAC]");
}

static void
lines(void **state)
{
	(void)state;
	frames_as(RT_FRAMING_LINES, "", "");
	frames_as(RT_FRAMING_LINES, "{}\n{\"a\":1}\n", "[{}][{\"a\":1}]");
	frames_as(RT_FRAMING_LINES, "a\r\nb\r\n\r\n \n\nc", "[a][b][c]");
	frames_as(RT_FRAMING_LINES, "a\rb\n", "[a\rb]");
	frames_as(RT_FRAMING_LINES, "\xEF\xBB\xBF" "a\n", "[a]");
	frames_as(RT_FRAMING_LINES, "data: a\n", "[data: a]");
}

/* A line that never ends, and an event that never does. */
static void
nothing_grows_for_ever(void **state)
{
	static char block[1 << 16];
	rt_framing framing[] = {RT_FRAMING_SSE, RT_FRAMING_LINES, RT_FRAMING_SSE};
	size_t i, k;

	(void)state;
	for (k = 0; k < 3; k++) {
		rt_error err = {0};
		rt_frames frames;
		rt_status st = RT_OK;
		rt_buf seen;

		rt_buf_init(&seen, rt_alloc_libc(), RT_BUF_UNLIMITED);
		memset(block, 'x', sizeof(block));
		if (k == 2) {
			memcpy(block, "data:", 5);
			block[sizeof(block) - 1] = '\n';
		}
		rt_frames_init(&frames, rt_alloc_libc(), framing[k]);
		for (i = 0; st == RT_OK && i <= RT_FRAME_SIZE_MAX / sizeof(block) + 2; i++)
			st = read_bytes(&frames, rt_str_at(block, sizeof(block)), &seen, &err);
		assert_int_equal(st, RT_LIMIT);
		assert_non_null(strstr(err.text, "16 MiB"));
		/* a failure stays */
		assert_int_equal(read_bytes(&frames, RT_STR("data: a\n\n"), &seen, &err), RT_LIMIT);
		assert_int_equal(seen.size, 0);
		rt_buf_deinit(&seen);
		rt_frames_deinit(&frames);
	}
}

static void
no_memory(void **state)
{
	failing f = {.left = -1};
	rt_alloc alloc = {failing_resize, failing_release, &f};
	rt_status st = RT_NOMEM;
	long n;

	(void)state;
	for (n = 0; st != RT_OK; n++) {
		rt_frames frames;
		rt_buf seen;

		f.left = n;
		rt_buf_init(&seen, rt_alloc_libc(), RT_BUF_UNLIMITED);
		rt_frames_init(&frames, &alloc, RT_FRAMING_SSE);
		st = read_bytes(&frames, RT_STR("event: e\ndata: a\ndata"), &seen, NULL);
		if (st == RT_OK)
			st = read_bytes(&frames, RT_STR(": b\n\n"), &seen, NULL);
		assert_true(st == RT_OK || st == RT_NOMEM);
		if (st == RT_OK)
			told_same(&seen, "[a\nb]", "seen", 0);
		rt_frames_deinit(&frames);
		rt_buf_deinit(&seen);
		assert_int_equal(f.live, 0);
	}
	assert_true(n > 2);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(events),
		cmocka_unit_test(lines),
		cmocka_unit_test(nothing_grows_for_ever),
		cmocka_unit_test(no_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
