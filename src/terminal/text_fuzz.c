/* SPDX-License-Identifier: MIT
 *
 * Any bytes as shown text: nothing in it controls a terminal, every grapheme has a column, showing
 * it again does not change it, and it can be split at any column. */
#include "terminal/text.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void
check_bytes(rt_str s)
{
	size_t i;

	RT_ASSERT(rt_utf8_valid_size(s) == s.size);
	for (i = 0; i < s.size; i++) {
		unsigned char c = (unsigned char)s.ptr[i];

		RT_ASSERT(c >= 0x20 && c != 0x7F);
		/* C1; U+2028 to U+202E */
		RT_ASSERT(c != 0xC2 || (unsigned char)s.ptr[i + 1] >= 0xA0);
		RT_ASSERT(i + 2 >= s.size || memcmp(s.ptr + i, "\xE2\x80", 2) != 0 ||
			  (unsigned char)s.ptr[i + 2] < 0xA8 || (unsigned char)s.ptr[i + 2] > 0xAE);
	}
}

static void
check_columns(rt_str s)
{
	size_t all = rt_shown_columns(s), at, columns, sum = 0, size, step, blank, used;

	for (at = 0; at < s.size; at += size) {
		size = rt_shown_next(rt_str_at(s.ptr + at, s.size - at), &columns);
		RT_ASSERT(size > 0 && columns > 0);
		sum += columns;
	}
	RT_ASSERT(at == s.size && sum == all);
	step = 1 + all / 16;
	for (at = 0; at <= all; at += step) {
		rt_str head = rt_shown_cut(s, at, &used), tail = rt_shown_skip(s, at, &blank);

		RT_ASSERT(used <= at && used == rt_shown_columns(head));
		RT_ASSERT(at + blank + rt_shown_columns(tail) == all);
		RT_ASSERT(head.size + tail.size <= s.size);
	}
}

static void
check(rt_str input, bool ascii)
{
	rt_buf first, second;

	rt_buf_init(&first, rt_alloc_libc(), RT_BUF_UNLIMITED);
	rt_buf_init(&second, rt_alloc_libc(), RT_BUF_UNLIMITED);
	rt_shown_add(&first, input, ascii);
	RT_ASSERT(first.status == RT_OK);
	check_bytes(rt_buf_str(&first));
	check_columns(rt_buf_str(&first));
	rt_shown_add(&second, rt_buf_str(&first), ascii);
	RT_ASSERT(rt_str_eq(rt_buf_str(&first), rt_buf_str(&second)));
	rt_buf_deinit(&first);
	rt_buf_deinit(&second);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	check(rt_str_at((const char *)data, size), false);
	check(rt_str_at((const char *)data, size), true);
	return 0;
}
