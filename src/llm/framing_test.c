/* SPDX-License-Identifier: MIT
 *
 * Framing: streams into pieces, wherever they are cut. */
#include "llm/llm_testing.h"

typedef struct pieces {
	rt_buf seen;
	size_t count, fail_at;
} pieces;

static rt_status
take(void *ctx, rt_str event, rt_str data, rt_error *err)
{
	pieces *p = ctx;

	if (++p->count == p->fail_at)
		return rt_fail(err, RT_UPSTREAM, "no");
	rt_buf_add_byte(&p->seen, '[');
	rt_buf_add_str(&p->seen, event);
	rt_buf_add_byte(&p->seen, '|');
	rt_buf_add_str(&p->seen, data);
	rt_buf_add_byte(&p->seen, ']');
	return RT_OK;
}

static void
run(rt_framing framing, rt_str bytes, size_t cut, size_t step, const char *expected)
{
	pieces p = {.count = 0};
	rt_frames frames;
	size_t at, size;

	rt_buf_init(&p.seen, rt_alloc_libc(), RT_BUF_UNLIMITED);
	rt_buf_add_c(&p.seen, "");
	rt_frames_init(&frames, rt_alloc_libc(), framing, take, &p);
	assert_int_equal(rt_frames_add(&frames, rt_str_at(bytes.ptr, cut), NULL), RT_OK);
	for (at = cut; at < bytes.size; at += size) {
		size = bytes.size - at < step ? bytes.size - at : step;
		assert_int_equal(rt_frames_add(&frames, rt_str_at(bytes.ptr + at, size), NULL), RT_OK);
	}
	assert_int_equal(rt_frames_end(&frames, NULL), RT_OK);
	told_same(&p.seen, expected, "cut at", cut);
	rt_frames_deinit(&frames);
	rt_buf_deinit(&p.seen);
}

static void
frames_as(rt_framing framing, const char *stream, const char *expected)
{
	rt_str bytes = rt_str_of(stream);
	size_t i;

	for (i = 0; i <= bytes.size; i++)
		run(framing, bytes, i, SIZE_MAX, expected);
	for (i = 1; i < 5; i++)
		run(framing, bytes, 0, i, expected);
}

static void
events(void **state)
{
	(void)state;
	frames_as(RT_FRAMING_SSE, "", "");
	frames_as(RT_FRAMING_SSE, "\n\n\n", "");
	frames_as(RT_FRAMING_SSE, "data: a\n\ndata: b\n\n", "[|a][|b]");
	frames_as(RT_FRAMING_SSE, "data:a\r\n\r\ndata:  b\r\n\r\n", "[|a][| b]");
	frames_as(RT_FRAMING_SSE, "data: a\r\rdata: b\r\r", "[|a][|b]");
	frames_as(RT_FRAMING_SSE, "data: a\r\n\ndata: b\n\r\n", "[|a][|b]");
	/* a name is for one event */
	frames_as(RT_FRAMING_SSE, "event: ping\ndata: 1\n\ndata: 2\n\n", "[ping|1][|2]");
	frames_as(RT_FRAMING_SSE, "event: lost\n\ndata: 2\n\n", "[|2]");
	frames_as(RT_FRAMING_SSE, "event: x\nevent: y\ndata: 2\n\n", "[y|2]");
	/* several lines of data; one without a colon; other fields and comments */
	frames_as(RT_FRAMING_SSE, "data: {\ndata:\ndata\ndata: }\n\n", "[|{\n\n\n}]");
	frames_as(RT_FRAMING_SSE, ": hi\nid: 7\nretry: 1\nx\ndata: a\n:\n\n", "[|a]");
	frames_as(RT_FRAMING_SSE, "data:\n\n", "[|]");
	/* a mark at the beginning, and only there */
	frames_as(RT_FRAMING_SSE, "\xEF\xBB\xBF" "data: a\n\n\xEF\xBB\xBF" "data: b\n\n", "[|a]");
	/* the end is the end of an event too */
	frames_as(RT_FRAMING_SSE, "data: a\n\ndata: b\n", "[|a][|b]");
	frames_as(RT_FRAMING_SSE, "data: a\n\nevent: e\ndata: b", "[|a][e|b]");
	frames_as(RT_FRAMING_SSE, "data: \xE2\x82\xAC\n\n", "[|\xE2\x82\xAC]");
}

static void
lines(void **state)
{
	(void)state;
	frames_as(RT_FRAMING_LINES, "", "");
	frames_as(RT_FRAMING_LINES, "{}\n{\"a\":1}\n", "[|{}][|{\"a\":1}]");
	frames_as(RT_FRAMING_LINES, "a\r\nb\r\n\r\n \n\nc", "[|a][|b][|c]");
	frames_as(RT_FRAMING_LINES, "a\rb\n", "[|a\rb]");
	frames_as(RT_FRAMING_LINES, "\xEF\xBB\xBF" "a\n", "[|a]");
	frames_as(RT_FRAMING_LINES, "data: a\n", "[|data: a]");
}

static void
a_failure_stays(void **state)
{
	pieces p = {.fail_at = 2};
	rt_error err = {0};
	rt_frames frames;

	(void)state;
	rt_buf_init(&p.seen, rt_alloc_libc(), RT_BUF_UNLIMITED);
	rt_frames_init(&frames, rt_alloc_libc(), RT_FRAMING_LINES, take, &p);
	assert_int_equal(rt_frames_add(&frames, RT_STR("a\nb\nc\n"), &err), RT_UPSTREAM);
	assert_string_equal(err.text, "no");
	assert_int_equal(rt_frames_add(&frames, RT_STR("d\n"), &err), RT_UPSTREAM);
	assert_int_equal(rt_frames_end(&frames, &err), RT_UPSTREAM);
	told_same(&p.seen, "[|a]", "seen", 0);
	assert_int_equal(p.count, 2);
	rt_frames_deinit(&frames);
	rt_buf_deinit(&p.seen);
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
		pieces p = {.count = 0};
		rt_error err = {0};
		rt_frames frames;
		rt_status st = RT_OK;

		memset(block, 'x', sizeof(block));
		if (k == 2) {
			memcpy(block, "data:", 5);
			block[sizeof(block) - 1] = '\n';
		}
		rt_frames_init(&frames, rt_alloc_libc(), framing[k], take, &p);
		for (i = 0; st == RT_OK && i <= RT_FRAME_SIZE_MAX / sizeof(block) + 2; i++)
			st = rt_frames_add(&frames, rt_str_at(block, sizeof(block)), &err);
		assert_int_equal(st, RT_LIMIT);
		assert_non_null(strstr(err.text, "16 MiB"));
		rt_frames_deinit(&frames);
	}
}

static void
no_memory(void **state)
{
	failing f = {-1, 0};
	rt_alloc alloc = {failing_resize, failing_release, &f};
	rt_status st = RT_NOMEM;
	long n;

	(void)state;
	for (n = 0; st != RT_OK; n++) {
		pieces p = {.count = 0};
		rt_frames frames;

		f.left = n;
		rt_buf_init(&p.seen, rt_alloc_libc(), RT_BUF_UNLIMITED);
		rt_frames_init(&frames, &alloc, RT_FRAMING_SSE, take, &p);
		st = rt_frames_add(&frames, RT_STR("event: e\ndata: a\ndata"), NULL);
		if (st == RT_OK)
			st = rt_frames_add(&frames, RT_STR(": b\n\n"), NULL);
		assert_true(st == RT_OK || st == RT_NOMEM);
		if (st == RT_OK)
			told_same(&p.seen, "[e|a\nb]", "seen", 0);
		rt_frames_deinit(&frames);
		rt_buf_deinit(&p.seen);
		assert_int_equal(f.live, 0);
	}
	assert_true(n > 3);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(events),
		cmocka_unit_test(lines),
		cmocka_unit_test(a_failure_stays),
		cmocka_unit_test(nothing_grows_for_ever),
		cmocka_unit_test(no_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
