/* SPDX-License-Identifier: MIT
 *
 * A screen in memory: cells, boxes, and texts that exceed them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/hash.h"
#include "terminal/canvas.h"

static rt_canvas canvas;
static rt_buf shown;

static int
setup_sized(int columns, int rows, bool utf8)
{
	rt_canvas_init(&canvas, rt_alloc_libc(), utf8);
	rt_buf_init(&shown, rt_alloc_libc(), RT_BUF_UNLIMITED);
	return rt_canvas_resize(&canvas, columns, rows) == RT_OK ? 0 : -1;
}

static int
setup(void **state)
{
	(void)state;
	return setup_sized(20, 3, true);
}

static int
setup_ascii(void **state)
{
	(void)state;
	return setup_sized(20, 3, false);
}

static int
teardown(void **state)
{
	(void)state;
	rt_canvas_deinit(&canvas);
	rt_buf_deinit(&shown);
	return 0;
}

static void
assert_shows(const char *lines)
{
	rt_buf_clear(&shown);
	rt_canvas_add_text(&canvas, &shown);
	assert_int_equal(shown.status, RT_OK);
	assert_string_equal(shown.ptr, lines);
}

static int
put(int x, int y, const char *text)
{
	return rt_canvas_put_c(&canvas, rt_canvas_box(&canvas), x, y, text, RT_INK_TEXT);
}

static const rt_canvas_cell *
cell(int x, int y)
{
	return &canvas.cells[y * canvas.columns + x];
}

/* Every cell is a whole character, a right half after its left one, or a blank. */
static void
assert_sound(void)
{
	int x, y;

	for (y = 0; y < canvas.rows; y++)
		for (x = 0; x < canvas.columns; x++) {
			const rt_canvas_cell *c = cell(x, y);

			if (c->ch == 0) {
				assert_int_equal(c->width, 0);
				assert_true(x > 0);
				assert_int_equal(cell(x - 1, y)->width, 2);
				continue;
			}
			assert_true(c->width == 1 || c->width == 2);
			assert_true(c->ch >= 0x20 && !(c->ch >= 0x7F && c->ch < 0xA0));
			if (c->width == 2) {
				assert_true(x + 1 < canvas.columns);
				assert_int_equal(cell(x + 1, y)->ch, 0);
			}
		}
}

static void
test_text_is_put_and_clipped(void **state)
{
	rt_box box = {2, 1, 5, 1};

	(void)state;
	assert_int_equal(put(0, 0, "hello"), 5);
	assert_int_equal(rt_canvas_put_c(&canvas, box, 0, 0, "abcdefgh", RT_INK_CODE), 5);
	assert_int_equal(rt_canvas_put_c(&canvas, box, 0, 1, "below", RT_INK_CODE), 5);
	assert_int_equal(rt_canvas_put_c(&canvas, box, 0, -1, "above", RT_INK_CODE), 5);
	assert_shows("hello\n  abcde\n\n");
	assert_int_equal(cell(2, 1)->ink, RT_INK_CODE);
	assert_int_equal(cell(1, 1)->ink, RT_INK_TEXT);
	/* Scrolled to the side. */
	assert_int_equal(rt_canvas_put_c(&canvas, box, -3, 0, "12345", RT_INK_CODE), 2);
	assert_shows("hello\n  45cde\n\n");
	assert_sound();
}

static void
test_wide_characters_are_whole_or_blank(void **state)
{
	rt_box box = {0, 0, 5, 1};

	(void)state;
	assert_int_equal(put(0, 0, "\u4F60\u597D!"), 5);
	assert_int_equal(cell(0, 0)->width, 2);
	assert_int_equal(cell(1, 0)->ch, 0);
	assert_shows("\u4F60\u597D!\n\n\n");
	/* Cut by the end of the box, and by its beginning. */
	assert_int_equal(rt_canvas_put_c(&canvas, box, 0, 0, "abcd\u4F60", RT_INK_TEXT), 6);
	assert_shows("abcd\n\n\n");
	assert_int_equal(rt_canvas_put_c(&canvas, box, -1, 0, "\u4F60xyz", RT_INK_TEXT), 4);
	assert_shows(" xyz\n\n\n");
	/* One half is overwritten. */
	put(0, 1, "\u4F60\u597D");
	put(1, 1, "x");
	assert_shows(" xyz\n x\u597D\n\n");
	put(1, 1, "\u4F60");
	assert_shows(" xyz\n \u4F60\n\n");
	put(0, 1, "\u597D\u597D");
	put(1, 1, "\u4F60");
	assert_shows(" xyz\n \u4F60\n\n");
	assert_sound();
}

static void
test_marks_stand_on_their_letter(void **state)
{
	(void)state;
	assert_int_equal(put(0, 0, "e\u0301x"), 2);
	assert_int_equal(cell(0, 0)->marks[0], 0x301);
	/* No more marks than a cell can have, and never on the text before. */
	assert_int_equal(put(0, 1, "a\u0300\u0301\u0302\u0303\u0304"), 1);
	assert_int_equal(cell(0, 1)->marks[2], 0x302);
	assert_int_equal(put(0, 2, "ab"), 2);
	assert_int_equal(put(2, 2, "\u0301c"), 4);
	assert_shows("e\u0301x\na\u0300\u0301\u0302\nab\u25CC\u0301c\n");
	/* Decomposed Hangul is one syllable of two columns; Indic vowels take their own. */
	assert_int_equal(rt_canvas_width(&canvas, rt_str_of("\u1112\u1161\u11AB")), 2);
	assert_int_equal(rt_canvas_width(&canvas, rt_str_of("\u0928\u093F")), 2);
}

static void
test_controls_are_shown_by_name(void **state)
{
	(void)state;
	assert_int_equal(put(0, 0, "a\033[2Jb"), 7);
	assert_int_equal(put(0, 1, "\u202Ex\u2028\x7F"), 19);
	assert_int_equal(put(0, 2, "1\r\n2\t3\xFFz\xC2\x9B"), 19);
	assert_shows("a^[[2Jb\n<U+202E>x<U+2028>^?\n1 2     3\uFFFDz<U+009B>\n");
	rt_canvas_clear(&canvas);
	/* Joiners and variation selectors do nothing; fillers and tags do not hide. */
	assert_int_equal(put(0, 0, "a\u200D\uFE0Fb"), 2);
	assert_int_equal(put(0, 1, "\U000E0041"), 9);
	assert_int_equal(put(0, 2, "\u3164"), 8);
	assert_shows("ab\n<U+E0041>\n<U+3164>\n");
	rt_canvas_clear(&canvas);
	assert_int_equal(put(0, 0, "\U0001F1E9\U0001F1EA"), 2);
	assert_int_equal(put(0, 1, "\U0001F44D\U0001F3FD!"), 3);
	assert_int_equal(put(0, 2, "\u0378x"), 2); /* means nothing yet */
	assert_shows("DE\n\U0001F44D!\n\uFFFDx\n");
	assert_sound();
}

static void
test_tabs_go_by_the_text(void **state)
{
	(void)state;
	assert_int_equal(put(1, 0, "\ta\tb"), 18);
	assert_int_equal(rt_canvas_width(&canvas, rt_str_of("\ta\tb")), 17);
	assert_shows("         a       b\n\n\n");
}

static void
test_ascii_alone(void **state)
{
	(void)state;
	assert_int_equal(put(0, 0, "caf\u00E9 \u4F60 e\u0301"), 8);
	assert_int_equal(put(0, 1, "\u202E"), 8);
	assert_int_equal(rt_canvas_put(&canvas, rt_canvas_box(&canvas), 0, 2,
				       rt_canvas_glyph(&canvas, RT_GLYPH_LEFT_ARROW), RT_INK_TEXT),
			 2);
	assert_shows("caf? ? e\n<U+202E>\n<-\n");
	assert_int_equal(rt_canvas_width(&canvas, rt_str_of("\u4F60")), 1);
}

static void
test_fit_keeps_graphemes_whole(void **state)
{
	rt_str text = rt_str_of("a\u4F60e\u0301z");
	int used;

	(void)state;
	assert_int_equal(rt_canvas_fit(&canvas, text, 2, &used).size, 1);
	assert_int_equal(used, 1);
	assert_int_equal(rt_canvas_fit(&canvas, text, 4, &used).size, 7);
	assert_int_equal(used, 4);
	assert_int_equal(rt_canvas_fit(&canvas, text, 99, &used).size, text.size);
	assert_int_equal(used, 5);
	assert_int_equal(rt_canvas_fit(&canvas, text, 0, NULL).size, 0);
	/* A family is one grapheme of several characters. */
	text = rt_str_of("\U0001F468\u200D\U0001F469\u200D\U0001F467");
	assert_int_equal(rt_canvas_fit(&canvas, text, 5, &used).size, 0);
	assert_int_equal(rt_canvas_fit(&canvas, text, 6, &used).size, text.size);
}

static void
test_what_does_not_fit_ends_with_an_ellipsis(void **state)
{
	rt_box all = rt_canvas_box(&canvas);

	(void)state;
	assert_int_equal(rt_canvas_put_cut(&canvas, all, 0, 0, 5, RT_STR("abcde"), 0), 5);
	assert_int_equal(rt_canvas_put_cut(&canvas, all, 0, 1, 5, RT_STR("abcdef"), 0), 5);
	assert_int_equal(rt_canvas_put_cut(&canvas, all, 0, 2, 1, RT_STR("abcdef"), 0), 1);
	assert_shows("abcde\nabcd\u2026\n\u2026\n");
	assert_int_equal(rt_canvas_put_cut(&canvas, all, 4, 2, 0, RT_STR("abcdef"), 0), 4);
	/* No part of a character of two columns is left over. */
	assert_int_equal(rt_canvas_put_cut(&canvas, all, 0, 0, 4, RT_STR("a\u4F60\u597D"), 0), 4);
	assert_shows("a\u4F60\u2026e\nabcd\u2026\n\u2026\n");
}

static void
test_printed_text_of_any_length(void **state)
{
	char digits[700];

	(void)state;
	memset(digits, '7', sizeof(digits) - 1);
	digits[sizeof(digits) - 1] = 0;
	assert_int_equal(rt_canvas_put_f(&canvas, rt_canvas_box(&canvas), -690, 0, RT_INK_DIM, "%s%d",
					 digits, 42),
			 11);
	assert_shows("77777777742\n\n\n");
}

static void
test_boxes(void **state)
{
	rt_box in = rt_box_within((rt_box){-2, 1, 6, 9}, rt_canvas_box(&canvas));

	(void)state;
	assert_true(in.x == 0 && in.y == 1 && in.w == 4 && in.h == 2);
	in = rt_box_within((rt_box){30, 0, 5, 5}, rt_canvas_box(&canvas));
	assert_true(in.w == 0 && in.h == 0);
	put(0, 1, "abcdef");
	rt_canvas_fill(&canvas, (rt_box){2, 1, 2, 9}, RT_INK_BAR);
	rt_canvas_flag(&canvas, (rt_box){0, 1, 99, 1}, RT_INK_SELECTED);
	assert_shows("\nab  ef\n\n");
	assert_int_equal(cell(2, 1)->ink, RT_INK_BAR | RT_INK_SELECTED);
	assert_int_equal(cell(2, 2)->ink, RT_INK_BAR);
	rt_canvas_cursor(&canvas, (rt_box){5, 1, 3, 1}, 2, 0);
	assert_true(canvas.cursor_x == 7 && canvas.cursor_y == 1);
	rt_canvas_cursor(&canvas, (rt_box){5, 1, 3, 1}, 3, 0);
	assert_int_equal(canvas.cursor_x, -1);
}

static uint64_t
random_next(uint64_t *seed)
{
	*seed += 0x9E3779B97F4A7C15u;
	return rt_hash_u64(*seed);
}

/* Any text at any place: nothing outside of the box is touched, every cell is valid, and the
 * reported width is the drawn one. */
static void
test_nothing_leaves_its_box(void **state)
{
	static const char *const pieces[] = {
		"a", " ", "\t", "\n", "\r\n", "\033[", "\033]52;c;", "\a", "\u4F60", "\u0301", "\u200D",
		"\uFE0F", "\U0001F468", "\U0001F3FD", "\U0001F1E9", "\u202E", "\u2066", "\xFF", "\xC3",
		"\u1112", "\u1161", "\u093F", "\u0903", "\u00AD", "\u3164", "\U000E0001", "\uFEFF", "\u0600",
		"\u3000", "\u00A0", "\uE000", "\u0378", "\xC2\x9B", "\x7F", "\u2028", "\U0001F1EA",
	};
	uint64_t seed = 20261122;
	rt_box box = {5, 1, 8, 1};
	int round, x, y;
	rt_buf text;

	(void)state;
	rt_buf_init(&text, rt_alloc_libc(), RT_BUF_UNLIMITED);
	for (round = 0; round < 20000; round++) {
		size_t count = random_next(&seed) % 9;
		int at = (int)(random_next(&seed) % 12) - 4, end;

		rt_canvas_clear(&canvas);
		for (y = 0; y < 3; y++)
			put(0, y, "####################");
		rt_canvas_fill(&canvas, box, RT_INK_TEXT);
		rt_buf_clear(&text);
		while (count-- > 0)
			rt_buf_add_c(&text, pieces[random_next(&seed) %
						   (sizeof(pieces) / sizeof(pieces[0]))]);
		end = rt_canvas_put(&canvas, box, at, 0, rt_buf_str(&text), RT_INK_CODE);
		assert_sound();
		for (y = 0; y < 3; y++)
			for (x = 0; x < 20; x++)
				if (y != 1 || x < 5 || x >= 13)
					assert_int_equal(cell(x, y)->ch, '#');
		for (x = 5; x < 13; x++)
			assert_int_equal(cell(x, 1)->ink,
					 x - 5 >= at && x - 5 < end ? RT_INK_CODE : RT_INK_TEXT);
		if (end < box.w)
			assert_int_equal(end - at, rt_canvas_width(&canvas, rt_buf_str(&text)));
	}
	rt_buf_deinit(&text);
}

static void
test_names_keep_their_ends(void **state)
{
	static const struct {
		int columns;
		const char *name, *shown;
	} rows[] = {
		{20, "a-name-that-fits-20c", "a-name-that-fits-20c"},
		{19, "a-name-that-fits-20c", "a-name-tha\u2026fits-20c"},
		{8, "a-name-that-fits-20c", "a-na\u202620c"},
		{3, "a-name-that-fits-20c", "a\u2026c"},
		{2, "a-name-that-fits-20c", "a\u2026"},
		{1, "a-name-that-fits-20c", "\u2026"},
		{0, "a-name-that-fits-20c", ""},
		/* No part of a wide character at the cut remains. */
		{8, "\u4F60\u597D\u4F60\u597D\u4F60", "\u4F60\u597D\u2026\u4F60"},
		{9, "e\u0301e\u0301e\u0301e\u0301e\u0301e\u0301e\u0301e\u0301e\u0301e\u0301",
		 "e\u0301e\u0301e\u0301e\u0301\u2026e\u0301e\u0301e\u0301e\u0301"},
	};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		rt_str name = rt_str_of(rows[i].name);
		rt_buf line;

		rt_buf_init(&line, rt_alloc_libc(), RT_BUF_UNLIMITED);
		rt_buf_add_f(&line, "%s\n\n\n", rows[i].shown);
		rt_canvas_clear(&canvas);
		assert_in_range(rt_canvas_put_name(&canvas, rt_canvas_box(&canvas), 0, 0,
						   rows[i].columns, name, RT_INK_TEXT),
				0, rows[i].columns);
		assert_shows(line.ptr);
		assert_sound();
		rt_buf_deinit(&line);
	}
}

static void
test_sizes_have_limits(void **state)
{
	(void)state;
	assert_int_equal(rt_canvas_resize(&canvas, 100000, 0), RT_OK);
	assert_int_equal(canvas.columns, RT_CANVAS_COLUMNS_MAX);
	assert_int_equal(canvas.rows, 1);
	put(0, 0, "x");
	assert_shows("x\n");
}

/* Two urls may have the same hash: the second one does not become a link. */
static void
test_links_of_one_hash(void **state)
{
	const rt_str first = RT_STR("https://a.b/25226"), second = RT_STR("https://a.b/345644");

	(void)state;
	assert_int_equal((uint32_t)rt_hash(first.ptr, first.size, 0),
			 (uint32_t)rt_hash(second.ptr, second.size, 0));
	rt_canvas_link(&canvas, (rt_box){0, 0, 2, 1}, first);
	rt_canvas_link(&canvas, (rt_box){2, 0, 2, 1}, second);
	assert_true(rt_str_eq(rt_canvas_url(&canvas, canvas.cells[0].link), first));
	assert_int_equal(canvas.cells[2].link, 0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_text_is_put_and_clipped, setup, teardown),
		cmocka_unit_test_setup_teardown(test_wide_characters_are_whole_or_blank, setup,
						teardown),
		cmocka_unit_test_setup_teardown(test_marks_stand_on_their_letter, setup, teardown),
		cmocka_unit_test_setup_teardown(test_controls_are_shown_by_name, setup, teardown),
		cmocka_unit_test_setup_teardown(test_tabs_go_by_the_text, setup, teardown),
		cmocka_unit_test_setup_teardown(test_ascii_alone, setup_ascii, teardown),
		cmocka_unit_test_setup_teardown(test_fit_keeps_graphemes_whole, setup, teardown),
		cmocka_unit_test_setup_teardown(test_what_does_not_fit_ends_with_an_ellipsis, setup,
						teardown),
		cmocka_unit_test_setup_teardown(test_names_keep_their_ends, setup, teardown),
		cmocka_unit_test_setup_teardown(test_printed_text_of_any_length, setup, teardown),
		cmocka_unit_test_setup_teardown(test_boxes, setup, teardown),
		cmocka_unit_test_setup_teardown(test_links_of_one_hash, setup, teardown),
		cmocka_unit_test_setup_teardown(test_nothing_leaves_its_box, setup, teardown),
		cmocka_unit_test_setup_teardown(test_sizes_have_limits, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
