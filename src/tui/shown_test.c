/* SPDX-License-Identifier: MIT
 *
 * Commands, the rows of the tree and the cells of the canvas show any text in the same way: the
 * same characters in the same columns, and nothing that controls a terminal or hides. The rules are
 * implemented here again, plainly, so that width.c does not check itself. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>
#include <utf8proc.h>

#include "base/hash.h"
#include "app/screen.h"
#include "terminal/canvas.h"
#include "terminal/text.h"

enum { ROUNDS = 100000, COLUMNS = 400 };

static uint64_t seed;

static uint64_t
below(uint64_t limit)
{
	seed += 0x9E3779B97F4A7C15u;
	return rt_hash_u64(seed) % limit;
}

static void
add_any(rt_buf *buf)
{
	static const char *const pieces[] = {
		"a", "word ", "\033[2J", "\033]0;t\a", "\u4F60", "\u0301", "\u200D", "\uFE0F", "\U0001F468",
		"\U0001F3FD", "\U0001F1E9", "\u202E", "\u2066", "\xFF", "\xE2\x80", "\u1112", "\u1161",
		"\u11AB", "\u0928\u093F", "\u0903", "\u00AD", "\u3164", "\U000E0041", "\uFEFF", "\u0600",
		"\u3000", "\u00A0", "\uE000", "\u0378", "\xC2\x9B", "\x7F", "\u180E", "\uA960", "\u0E33",
		"\u0488", "\u2003",
	};
	static const struct {
		uint32_t first, last;
	} ranges[] = {
		{0x00, 0x24F}, {0x300, 0x36F}, {0x590, 0x1FFF}, {0x2000, 0x20FF}, {0x2190, 0x2BFF},
		{0x3000, 0x30FF}, {0xA000, 0xABFF}, {0xD7A0, 0xFFFF}, {0x10000, 0x1FFFF},
		{0xE0000, 0xE01FF}, {0x20000, 0x10FFFF},
	};
	size_t count = below(14), range;
	char bytes[4];

	rt_buf_clear(buf);
	while (count-- > 0) {
		range = below(sizeof(ranges) / sizeof(ranges[0]));
		if (below(2) == 0)
			rt_buf_add_c(buf, pieces[below(sizeof(pieces) / sizeof(pieces[0]))]);
		else if (below(8) == 0)
			rt_buf_add_byte(buf, (char)below(256));
		else
			rt_buf_add(buf, bytes,
				   rt_rune_encode(ranges[range].first +
							  (uint32_t)below(ranges[range].last -
									  ranges[range].first + 1),
						  bytes));
	}
}

/* Tabs and line ends are shown by each in its own way. */
static void
without_breaks(rt_buf *buf)
{
	size_t i;

	for (i = 0; i < buf->size; i++)
		if (buf->ptr[i] >= '\t' && buf->ptr[i] <= '\r')
			buf->ptr[i] = '.';
}

static bool
may_be_shown(utf8proc_int32_t c)
{
	switch (utf8proc_category(c)) {
	case UTF8PROC_CATEGORY_CC: /* controls */
	case UTF8PROC_CATEGORY_CF: /* direction, joiners, tags … */
	case UTF8PROC_CATEGORY_CN: /* not assigned */
	case UTF8PROC_CATEGORY_CS:
	case UTF8PROC_CATEGORY_ZL:
	case UTF8PROC_CATEGORY_ZP: return false;
	case UTF8PROC_CATEGORY_ZS: return c == ' ' || c == 0x3000;
	default: break;
	}
	return c != 0x34F && c != 0x3164 && c != 0xFFA0 && c != 0x115F && c != 0x1160 &&
	       !(c >= 0xFE00 && c <= 0xFE0F) && !(c >= 0xE0100 && c <= 0xE01EF) &&
	       !(c >= 0x180B && c <= 0x180F) && !(c >= 0x1F3FB && c <= 0x1F3FF) &&
	       !(c >= 0x1F1E6 && c <= 0x1F1FF);
}

static void
assert_fit(rt_str shown, uint64_t round)
{
	size_t at = 0;

	while (at < shown.size) {
		utf8proc_int32_t c;
		utf8proc_ssize_t size = utf8proc_iterate((const utf8proc_uint8_t *)shown.ptr + at,
							 (utf8proc_ssize_t)(shown.size - at), &c);

		if (size <= 0 || !may_be_shown(c))
			fail_msg("round %llu: U+%04X", (unsigned long long)round, (unsigned)c);
		at += (size_t)size;
	}
}

static void
assert_same(rt_str a, rt_str b, uint64_t round)
{
	if (!rt_str_eq(a, b))
		fail_msg("round %llu: '%.*s' and '%.*s'", (unsigned long long)round, RT_STR_ARG(a),
			 RT_STR_ARG(b));
}

/* The canvas's first row, without the line end. */
static rt_str
drawn(rt_canvas *canvas, rt_buf *buf, rt_str text, int *out_end)
{
	rt_canvas_clear(canvas);
	rt_buf_clear(buf);
	*out_end = rt_canvas_put(canvas, rt_canvas_box(canvas), 0, 0, text, RT_INK_TEXT);
	rt_canvas_add_text(canvas, buf);
	return rt_str_at(buf->ptr, buf->size - 1);
}

static rt_str
without_end_blanks(rt_str s)
{
	while (s.size > 0 && s.ptr[s.size - 1] == ' ')
		s.size--;
	return s;
}

static void
test_one_way_of_showing(void **state)
{
	rt_buf text, command, row, cells;
	rt_canvas canvas;
	uint64_t round;
	size_t at, columns, sum;
	int end;

	(void)state;
	rt_buf_init(&text, rt_alloc_libc(), RT_BUF_UNLIMITED);
	rt_buf_init(&command, rt_alloc_libc(), RT_BUF_UNLIMITED);
	rt_buf_init(&row, rt_alloc_libc(), RT_BUF_UNLIMITED);
	rt_buf_init(&cells, rt_alloc_libc(), RT_BUF_UNLIMITED);
	rt_canvas_init(&canvas, rt_alloc_libc(), true);
	assert_int_equal(rt_canvas_resize(&canvas, COLUMNS, 1), RT_OK);
	for (round = 0; round < ROUNDS; round++) {
		seed = round << 20;
		add_any(&text);
		without_breaks(&text);
		rt_buf_clear(&command);
		rt_buf_clear(&row);
		rt_screen_add_text(&command, rt_buf_str(&text));
		rt_shown_add(&row, rt_buf_str(&text), false);
		assert_fit(rt_buf_str(&command), round);
		assert_fit(rt_buf_str(&row), round);
		drawn(&canvas, &cells, rt_buf_str(&text), &end);
		assert_same(without_end_blanks(rt_buf_str(&command)),
			    rt_str_at(cells.ptr, cells.size - 1), round);
		assert_int_equal(rt_screen_width(rt_buf_str(&command)), end);
		assert_int_equal(rt_screen_width(rt_buf_str(&text)), end);
		assert_int_equal(rt_canvas_width(&canvas, rt_buf_str(&text)), end);
		/* C1's next line is white space in a row of the tree, which is one line. */
		if (rt_str_find(rt_buf_str(&text), RT_STR("\xC2\x85"), 0) == SIZE_MAX &&
		    rt_str_find(rt_buf_str(&text), RT_STR("\xE2\x80\xA8"), 0) == SIZE_MAX &&
		    rt_str_find(rt_buf_str(&text), RT_STR("\xE2\x80\xA9"), 0) == SIZE_MAX)
			assert_same(rt_buf_str(&command), rt_buf_str(&row), round);
		/* Text that was made safe is shown unchanged, in the same number of columns. */
		drawn(&canvas, &cells, rt_buf_str(&row), &end);
		assert_same(without_end_blanks(rt_buf_str(&row)), rt_str_at(cells.ptr, cells.size - 1),
			    round);
		assert_int_equal(rt_shown_columns(rt_buf_str(&row)), end);
		assert_int_equal(rt_screen_width(rt_buf_str(&row)), end);
		/* Grapheme by grapheme the width is the same. */
		for (at = sum = 0; at < row.size;) {
			at += rt_shown_next(rt_str_at(row.ptr + at, row.size - at), &columns);
			sum += columns;
		}
		assert_int_equal(sum, end);
	}
	rt_canvas_deinit(&canvas);
	rt_buf_deinit(&text);
	rt_buf_deinit(&command);
	rt_buf_deinit(&row);
	rt_buf_deinit(&cells);
}

/* Cut at every column: no more than that, and everything that fits. */
static void
test_cuts_agree(void **state)
{
	rt_canvas canvas;
	size_t columns, used;
	rt_buf text, row;
	int round, fits;

	(void)state;
	rt_buf_init(&text, rt_alloc_libc(), RT_BUF_UNLIMITED);
	rt_buf_init(&row, rt_alloc_libc(), RT_BUF_UNLIMITED);
	rt_canvas_init(&canvas, rt_alloc_libc(), true);
	for (round = 0; round < ROUNDS / 10; round++) {
		seed = (uint64_t)round << 20;
		add_any(&text);
		rt_buf_clear(&row);
		rt_shown_add(&row, rt_buf_str(&text), false);
		columns = below(40);
		assert_int_equal(rt_shown_cut(rt_buf_str(&row), columns, &used).size,
				 rt_canvas_fit(&canvas, rt_buf_str(&row), (int)columns, &fits).size);
		assert_int_equal(used, fits);
		assert_int_equal(rt_screen_cut(rt_buf_str(&row), columns).size,
				 rt_shown_cut(rt_buf_str(&row), columns, NULL).size);
	}
	rt_buf_deinit(&text);
	rt_buf_deinit(&row);
}

/* An endless grapheme counts as several, so that no text is scanned again and again. */
static void
test_endless_graphemes(void **state)
{
	static const char *const letters[] = {"\u1100", "\U0001F468\u200D", "\u0600", "\u0928\u093F"};
	rt_canvas canvas;
	rt_buf text;
	size_t i, at, size, widest;
	int used;

	(void)state;
	rt_canvas_init(&canvas, rt_alloc_libc(), true);
	rt_buf_init(&text, rt_alloc_libc(), RT_BUF_UNLIMITED);
	for (i = 0; i < sizeof(letters) / sizeof(letters[0]); i++) {
		rt_buf_clear(&text);
		while (text.size < 100000)
			rt_buf_add_c(&text, letters[i]);
		for (at = widest = 0; at < text.size; at += size) {
			size = rt_rune_grapheme(rt_str_at(text.ptr + at, text.size - at));
			widest = size > widest ? size : widest;
		}
		assert_true(widest <= 64);
		assert_true(rt_canvas_fit(&canvas, rt_buf_str(&text), 80, &used).size <= 1000);
	}
	rt_buf_deinit(&text);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_one_way_of_showing),
		cmocka_unit_test(test_cuts_agree),
		cmocka_unit_test(test_endless_graphemes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
