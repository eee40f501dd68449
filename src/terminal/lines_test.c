/* SPDX-License-Identifier: MIT
 *
 * Texts as rows: the look of each kind; no text is cut or lost; a growing text ends up like the
 * whole text; and running out of memory. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/sample_testing.h"
#include "terminal/lines_testing.h"

static uint64_t seed = 20261122;

static size_t
below(size_t limit)
{
	seed = seed * 6364136223846793005u + 1442695040888963407u;
	return (size_t)((seed >> 33) % limit);
}

static rt_lines_options
options_of(int columns)
{
	return (rt_lines_options){.columns = columns, .utf8 = true};
}

/* All rows, a line for each. */
static void
write_rows(rt_buf *buf, const rt_lines *lines)
{
	size_t i;

	rt_buf_clear(buf);
	for (i = 0; i < lines->count; i++) {
		rt_lines_add_text(lines, i, buf);
		rt_buf_add_byte(buf, '\n');
	}
}

static void
assert_rows(const rt_lines *lines, const char *rows)
{
	rt_buf buf;

	assert_int_equal(lines->status, RT_OK);
	rt_buf_init(&buf, rt_alloc_libc(), RT_BUF_UNLIMITED);
	rt_buf_add_c(&buf, "");
	write_rows(&buf, lines);
	if (!rt_str_is(rt_buf_str(&buf), rows))
		fail_msg("rows are\n%.*snot\n%s", RT_STR_ARG(rt_buf_str(&buf)), rows);
	rt_buf_deinit(&buf);
}

static void
assert_markdown(int columns, const char *text, const char *rows)
{
	rt_lines_options options = options_of(columns);
	rt_lines lines;

	rt_lines_init(&lines, rt_alloc_libc());
	rt_lines_add_markdown(&lines, rt_str_of(text), &options);
	lines_check(&lines, &options);
	assert_rows(&lines, rows);
	rt_lines_deinit(&lines);
}

/* The ink of the first piece that has that text. */
static rt_ink
ink_of(const rt_lines *lines, const char *text)
{
	size_t i;

	for (i = 0; i < lines->piece_count; i++)
		if (rt_str_is(rt_str_at(lines->text.ptr + lines->pieces[i].from, lines->pieces[i].size),
			      text))
			return lines->pieces[i].ink;
	fail_msg("no piece is \"%s\"", text);
	return 0;
}

/* ---- blocks ---- */

static void
test_blocks(void **state)
{
	(void)state;
	assert_markdown(20, "", "");
	assert_markdown(20, "# Title\n\nsome words that have to be wrapped",
			"Title\n\nsome words that have\nto be wrapped\n");
	assert_markdown(20, "soft\nend, hard  \nend", "soft end, hard\nend\n");
	assert_markdown(20, "a\n\n---\n\nb", "a\n\n────────────────────\n\nb\n");
	assert_markdown(20, "> a quote that is wrapped\n>\n> > b\n", "▌ a quote that is\n▌ wrapped\n"
									"▌ \n▌ ▌ b\n");
	assert_markdown(20, "```c\nint  a;\n\n\tb;\n```", "  c\n  int  a;\n  \n      b;\n");
	assert_markdown(20, "    code that is wider than all", "  code that is wider\n   than all\n");
	assert_markdown(20, "a <b>c</b> &lt;", "a <b>c</b> <\n");
	assert_markdown(20, "a\x1b[2Jb \xe2\x80\xae", "a^[[2Jb <U+202E>\n");
}

static void
test_lists(void **state)
{
	(void)state;
	assert_markdown(20, "- one\n- two that is long enough\n", "• one\n• two that is long\n  enough\n");
	assert_markdown(20, "9. a\n10. b\n\n    c\n", " 9. a\n\n10. b\n\n    c\n");
	assert_markdown(20, "- a\n  - b\n    1. c\n- d", "• a\n  • b\n    1. c\n• d\n");
	assert_markdown(20, "- [x] a\n- [ ] b", "[x] a\n[ ] b\n");
	assert_markdown(20, "-\n- a", "• \n• a\n");
	assert_markdown(20, "- - a\n  - b", "• • a\n  • b\n");
	assert_markdown(20, "- ```\n  a\n  ```\n- > b\n", "•   a\n• ▌ b\n");
	assert_markdown(20, "> - a\n>   b c d e f g h i j k", "▌ • a b c d e f g h\n▌   i j k\n");
	/* If half of the columns are used up, marks are text. */
	assert_markdown(6, "- - - a b", "• • •\n  a b\n");
	assert_markdown(3, "12. ab", "12.\nab\n");
}

static void
test_links(void **state)
{
	(void)state;
	assert_markdown(40, "[a](https://b.c) d", "a (https://b.c) d\n");
	assert_markdown(40, "<https://b.c> <a@b.c>", "https://b.c a@b.c\n");
	assert_markdown(40, "[https://b.c](https://b.c)", "https://b.c\n");
	assert_markdown(40, "![a](https://b.c/d.png)", "a (https://b.c/d.png)\n");
	assert_markdown(40, "![](https://b.c/d.png)", "https://b.c/d.png\n");
	assert_markdown(40, "[![a](https://b.c)](https://d.e)", "a (https://b.c) (https://d.e)\n");
	assert_markdown(12, "a [b](https://b.cd/efghijk) l", "a b\n(https://b.c\nd/efghijk) l\n");
}

static void
test_tables(void **state)
{
	const char *small = "|a|bb|c|\n|---|--:|:-:|\n|1|2|ccc|\n|**x**| |y|\n";
	const char *wide = "|a|b|\n|---|---|\n|some|words that are wrapped|\n|x|y|\n";

	(void)state;
	assert_markdown(20, small, "a │ bb │  c\n──┼────┼────\n1 │  2 │ ccc\nx │    │  y\n");
	assert_markdown(20, wide, "a    │ b\n─────┼──────────────\nsome │ words that\n     │ are wrapped\n"
				  "─────┼──────────────\nx    │ y\n");
	assert_markdown(10, wide, "a: some\nb: words\nthat are\nwrapped\n\na: x\nb: y\n");
	assert_markdown(20, "|a|\n|---|\n", "a\n─\n");
}

static void
test_inks(void **state)
{
	rt_lines_options options = options_of(60);
	rt_lines lines;

	(void)state;
	rt_lines_init(&lines, rt_alloc_libc());
	rt_lines_add_markdown(&lines,
			      RT_STR("# top\n\n## sub\n\nplain **bold *both*** ~~gone~~ `code` "
				     "[link](https://a.b)\n\n> quoted\n\n```c\nint x = 12; // why\n```\n"),
			      &options);
	assert_int_equal(ink_of(&lines, "top"), RT_INK_HEADING | RT_INK_BOLD | RT_INK_UNDERLINE);
	assert_int_equal(ink_of(&lines, "sub"), RT_INK_HEADING | RT_INK_BOLD);
	assert_int_equal(ink_of(&lines, "plain "), RT_INK_TEXT);
	assert_int_equal(ink_of(&lines, "bold "), RT_INK_BOLD);
	assert_int_equal(ink_of(&lines, "both"), RT_INK_BOLD | RT_INK_ITALIC);
	assert_int_equal(ink_of(&lines, "gone"), RT_INK_STRIKE);
	assert_int_equal(ink_of(&lines, "code"), RT_INK_CODE);
	assert_int_equal(ink_of(&lines, "link"), RT_INK_LINK | RT_INK_UNDERLINE);
	assert_int_equal(ink_of(&lines, " (https://a.b)"), RT_INK_DIM);
	assert_int_equal(ink_of(&lines, "quoted"), RT_INK_QUOTE);
	assert_int_equal(ink_of(&lines, "int"), RT_INK_CODE | RT_INK_BOLD);
	assert_int_equal(ink_of(&lines, "12"), RT_INK_LABEL);
	assert_int_equal(ink_of(&lines, "// why"), RT_INK_DIM | RT_INK_ITALIC);
	rt_lines_deinit(&lines);
}

static void
test_options(void **state)
{
	rt_lines_options options = {.columns = 12, .utf8 = false, .ink = RT_INK_DIM, .indent = 2};
	rt_lines lines;

	(void)state;
	rt_lines_init(&lines, rt_alloc_libc());
	rt_lines_add_markdown(&lines, RT_STR("- a **b**\n\n> c\n\n---\n"), &options);
	lines_check(&lines, &options);
	assert_rows(&lines, "  * a b\n\n  | c\n\n  ----------\n");
	assert_int_equal(ink_of(&lines, "a "), RT_INK_DIM);
	assert_int_equal(ink_of(&lines, "b"), RT_INK_DIM | RT_INK_BOLD);
	/* Appended to existing rows; an indent beyond the width leaves one column. */
	rt_lines_clear(&lines);
	rt_lines_add_row(&lines, 3, RT_STR("x"), RT_INK_ERROR);
	rt_lines_add_blank(&lines);
	options.indent = 50;
	rt_lines_add_plain(&lines, RT_STR("ab"), &options);
	assert_rows(&lines, "   x\n\n           a\n           b\n");
	rt_lines_deinit(&lines);
}

static void
test_plain(void **state)
{
	rt_lines_options options = options_of(10), wider = options_of(30);
	rt_lines lines;

	(void)state;
	rt_lines_init(&lines, rt_alloc_libc());
	rt_lines_add_plain(&lines, RT_STR("  a  b\r\n\n*c* words wrapped\tx"), &options);
	assert_rows(&lines, "  a  b\n\n*c* words\nwrapped\nx\n");
	rt_lines_clear(&lines);
	rt_lines_add_plain(&lines, RT_STR("\ta\tb"), &wider);
	assert_rows(&lines, "        a       b\n");
	rt_lines_clear(&lines);
	rt_lines_add_plain(&lines, RT_STR("a\rb\x07\x7f\xff"), &options);
	assert_rows(&lines, "a^Mb^G^?\xEF\xBF\xBD\n");
	rt_lines_deinit(&lines);
}

/* ---- code ---- */

static void
test_code(void **state)
{
	static const struct {
		const char *language, *code, *run;
		rt_ink ink;
	} cases[] = {
		{"c", "a = 'x';", "'x'", RT_INK_GOOD},
		{"C++", "1'000'000", "1'000'000", RT_INK_LABEL},
		{"c", "/* a\n b */ c", " b */", RT_INK_DIM | RT_INK_ITALIC},
		{"c", "\"a\\\"b\" c", "\"a\\\"b\"", RT_INK_GOOD},
		{"c", "\"open\nint x", "int", RT_INK_CODE | RT_INK_BOLD},
		{"c", "printf", "printf", RT_INK_CODE},
		{"rust", "fn f<'a>", " f<'a>", RT_INK_CODE},
		{"rust", "/* /* */ x */ y", "/* /* */ x */", RT_INK_DIM | RT_INK_ITALIC},
		{"python", "'''a\nb''' c", "b'''", RT_INK_GOOD},
		{"py", "x # y", "# y", RT_INK_DIM | RT_INK_ITALIC},
		{"sh", "a#b if", " ", RT_INK_CODE},
		{"bash", "'a\nb' if", "b'", RT_INK_GOOD},
		{"js", "`a\n${b}` let", "${b}`", RT_INK_GOOD},
		{"ts", "interface A", "interface", RT_INK_CODE | RT_INK_BOLD},
		{"json", "{\"a\": \"b\"}", "\"a\"", RT_INK_LINK},
		{"json", "{\"a\": \"b\"}", "\"b\"", RT_INK_GOOD},
		{"sql", "sElEcT 'it''s' -- x", "sElEcT", RT_INK_CODE | RT_INK_BOLD},
		{"go", "func f() `raw\\`", "`raw\\`", RT_INK_GOOD},
		{"toml", "a-b = 1", "a-b", RT_INK_LINK},
		{"yaml", "url: http://a", ": http://a", RT_INK_CODE},
		{"diff", "+a\n-b\n@@ c", "+a", RT_INK_ADDED},
		{"diff", "+a\n-b\n@@ c", "-b", RT_INK_REMOVED},
		{"", "int x", "int x", RT_INK_CODE},
		{"nothing", "int x", "int x", RT_INK_CODE},
	};
	rt_lines_options options = options_of(60);
	rt_lines lines;
	size_t i;

	(void)state;
	rt_lines_init(&lines, rt_alloc_libc());
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		rt_lines_clear(&lines);
		rt_lines_add_code(&lines, rt_str_of(cases[i].code), rt_str_of(cases[i].language),
				  &options);
		if (strcmp(cases[i].run, " ") == 0)
			assert_int_equal(ink_of(&lines, "a#b "), cases[i].ink);
		else
			assert_int_equal(ink_of(&lines, cases[i].run), cases[i].ink);
	}
	rt_lines_clear(&lines);
	rt_lines_add_code(&lines, RT_STR("a // b\r\n\tc\r\n\n"), RT_STR("c"), &options);
	assert_rows(&lines, "a // b\n        c\n\n");
	rt_lines_deinit(&lines);
}

/* ---- widths ---- */

static void
test_wide(void **state)
{
	(void)state;
	assert_markdown(5, "日本語 ab", "日本\n語 ab\n");
	assert_markdown(6, "日本語。x", "日本\n語。x\n");
	assert_markdown(1, "a日b", "a\n日\nb\n");
	assert_markdown(4, "e\xcc\x81o\xcc\x81u\xcc\x81xyz", "e\xcc\x81o\xcc\x81u\xcc\x81x\nyz\n");
	/* An accent stays on its character, whatever the inks. */
	assert_markdown(4, "abc**d**\xcc\x81x e", "abcd\xcc\x81\nx e\n");
	assert_markdown(3, "abcdefgh", "abc\ndef\ngh\n");
}

static void
check_all(rt_lines *lines, rt_str text, const rt_lines_options *options)
{
	rt_lines_clear(lines);
	rt_lines_add_markdown(lines, text, options);
	assert_int_equal(lines->status, RT_OK);
	lines_check(lines, options);
	lines_check_shown(lines, text);
	rt_lines_clear(lines);
	rt_lines_add_plain(lines, text, options);
	lines_check(lines, options);
	rt_lines_clear(lines);
	rt_lines_add_code(lines, text, RT_STR("c"), options);
	lines_check(lines, options);
}

static void
test_deep(void **state)
{
	static const char *const marks[] = {"- ", "> ", "1. ", "> - ", "*", "[", "- [x] "};
	rt_lines_options options;
	rt_lines lines;
	rt_buf text;
	size_t i, k;
	int columns;

	(void)state;
	rt_buf_init(&text, rt_alloc_libc(), RT_BUF_UNLIMITED);
	rt_lines_init(&lines, rt_alloc_libc());
	for (i = 0; i < 7; i++) {
		rt_buf_clear(&text);
		for (k = 0; k < 70; k++)
			rt_buf_add_c(&text, marks[i]);
		rt_buf_add_c(&text, "some words in there\n");
		for (columns = 1; columns < 14; columns++) {
			options = options_of(columns);
			check_all(&lines, rt_buf_str(&text), &options);
			rt_lines_clear(&lines);
			rt_lines_add_markdown(&lines, rt_buf_str(&text), &options);
			for (k = 0; k < lines.count; k++)
				assert_true(lines.lines[k].indent <= columns / 2);
		}
	}
	rt_lines_deinit(&lines);
	rt_buf_deinit(&text);
}

static void
add_more(rt_buf *buf, const char *text, size_t times)
{
	size_t i;

	for (i = 0; i < times; i++)
		rt_buf_add_c(buf, text);
}

static void
add_times(rt_buf *buf, const char *text, size_t times)
{
	rt_buf_clear(buf);
	add_more(buf, text, times);
}

/* If the cost were not linear, this would not end. */
static void
test_large(void **state)
{
	static const char *const parts[] = {"a", "word ", "\xcc\x81", "\xe2\x80\x8d", "日", " ",
					    "\xf0\x9f\x91\xa9\xe2\x80\x8d", "\xe1\x84\x80", "\x1b",
					    "*a* ", "`", "a\n", "|a", "> ", "- a\n", "\"", "/*", "\\"};
	rt_lines_options options = options_of(80);
	rt_lines lines;
	rt_buf text;
	size_t i;

	(void)state;
	rt_buf_init(&text, rt_alloc_libc(), RT_BUF_UNLIMITED);
	rt_lines_init(&lines, rt_alloc_libc());
	for (i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
		add_times(&text, parts[i], 100000 / strlen(parts[i]));
		check_all(&lines, rt_buf_str(&text), &options);
	}
	/* A table of 40,000 columns. */
	add_times(&text, "|a", 40000);
	add_more(&text, "|\n", 1);
	add_more(&text, "|---", 40000);
	add_more(&text, "|\n", 1);
	add_more(&text, "|b", 40000);
	check_all(&lines, rt_buf_str(&text), &options);
	add_times(&text, "a", 1000000);
	rt_lines_clear(&lines);
	rt_lines_add_markdown(&lines, rt_buf_str(&text), &options);
	assert_int_equal(lines.count, 12500);
	add_times(&text, "if (x == 1) return \"y\"; // z\n", 100000);
	rt_lines_clear(&lines);
	rt_lines_add_code(&lines, rt_buf_str(&text), RT_STR("c"), &options);
	assert_int_equal(lines.count, 100000);
	lines_check(&lines, &options);
	rt_lines_deinit(&lines);
	rt_buf_deinit(&text);
}

/* Text that markup refuses is shown unchanged. */
static void
test_refused(void **state)
{
	rt_lines_options options = options_of(40);
	rt_lines_stream stream;
	rt_lines lines;
	rt_buf text;

	(void)state;
	rt_buf_init(&text, rt_alloc_libc(), RT_BUF_UNLIMITED);
	rt_lines_init(&lines, rt_alloc_libc());
	rt_lines_stream_init(&stream, rt_alloc_libc());
	add_times(&text, "[a](\n", 20000);
	rt_lines_add_markdown(&lines, rt_buf_str(&text), &options);
	assert_int_equal(lines.status, RT_OK);
	assert_int_equal(lines.count, 20000);
	lines_check(&lines, &options);
	rt_lines_stream_begin(&stream, &options);
	rt_lines_stream_set(&stream, rt_str_at(text.ptr, 5));
	rt_lines_stream_set(&stream, rt_buf_str(&text));
	lines_check_same(&stream.lines, &lines);
	rt_lines_stream_deinit(&stream);
	rt_lines_deinit(&lines);
	rt_buf_deinit(&text);
}

/* ---- any text ---- */

static void
add_soup(rt_buf *buf, size_t count)
{
	static const char *const parts[] = {
		"word ", "a", "**", "*", "`", "\n", "\n\n", "- ", "1. ", "> ", "    ", "\t", "```c\n",
		"```\n", "|", "|---|---|\n", "| a | b |\n", "# ", "[", "](https://a.b/c)", "![", "~~",
		"日本語", "e\xcc\x81", "\xf0\x9f\x98\x80", "\xf0\x9f\x91\xa9\xe2\x80\x8d\xf0\x9f\x92\xbb",
		"\x1b[31m", "\xe2\x80\xae", "\xff", "  \n", "<b>", "&amp;", "---\n", "- [ ] ", "\r\n",
		"averylongwordthatdoesnotfit", "\xcc\x81", "\xe2\x80\x8b", "\xe1\x84\x80\xe1\x85\xa1",
		"'", "\"", "//", "/*", "*/", "12", "if "};

	rt_buf_clear(buf);
	while (count-- > 0) {
		if (below(40) == 0)
			rt_buf_add_byte(buf, (char)below(256));
		else
			rt_buf_add_c(buf, parts[below(sizeof(parts) / sizeof(parts[0]))]);
	}
}

static void
test_any(void **state)
{
	rt_lines_options options;
	rt_lines lines, again;
	uint64_t before;
	rt_buf text;
	int i;

	(void)state;
	rt_buf_init(&text, rt_alloc_libc(), RT_BUF_UNLIMITED);
	rt_lines_init(&lines, rt_alloc_libc());
	rt_lines_init(&again, rt_alloc_libc());
	for (i = 0; i < 3000; i += (int)test_sample()) {
		before = seed;
		options = options_of(1 + (int)below(60));
		options.utf8 = below(4) > 0;
		options.indent = below(4) == 0 ? (int)below(10) : 0;
		add_soup(&text, 1 + below(80));
		check_all(&lines, rt_buf_str(&text), &options);
		/* Same bytes, same rows. */
		rt_lines_clear(&lines);
		rt_lines_clear(&again);
		rt_lines_add_markdown(&lines, rt_buf_str(&text), &options);
		rt_lines_add_markdown(&again, rt_buf_str(&text), &options);
		lines_check_same(&lines, &again);
		if (!rt_str_eq(rt_buf_str(&lines.text), rt_buf_str(&again.text)))
			fail_msg("seed %llu", (unsigned long long)before);
	}
	rt_lines_deinit(&lines);
	rt_lines_deinit(&again);
	rt_buf_deinit(&text);
}

/* ---- growing ---- */

static void
check_growing(rt_str text, const rt_lines_options *options, size_t step)
{
	rt_lines_stream stream;
	rt_lines whole;
	size_t at;

	rt_lines_init(&whole, rt_alloc_libc());
	rt_lines_stream_init(&stream, rt_alloc_libc());
	rt_lines_stream_begin(&stream, options);
	for (at = 0; at < text.size; at += step) {
		rt_lines_stream_set(&stream, rt_str_at(text.ptr, at));
		lines_check(&stream.lines, options);
	}
	rt_lines_stream_set(&stream, text);
	rt_lines_add_markdown(&whole, text, options);
	assert_int_equal(stream.lines.status, RT_OK);
	lines_check_same(&stream.lines, &whole);
	rt_lines_stream_deinit(&stream);
	rt_lines_deinit(&whole);
}

static void
test_stream(void **state)
{
	rt_str text = RT_STR("# A\n\nsome *words*\nthat go on\n\n- a\n- b\n\n  c\n- d\n\n> q\n\n```c\n"
			     "int a;\n\nint b;\n```\n\n|a|b|\n|---|---|\n|1|2|\n\n---\n\n"
			     "[x] and [y]\n\n1. z\n\n---\n\nend\n\n[x]: https://a.b\n");
	rt_lines_options options = options_of(20);
	rt_lines_stream stream;
	rt_buf soup;
	int i;

	(void)state;
	check_growing(text, &options, 1);
	options = options_of(7);
	check_growing(text, &options, 1);
	rt_buf_init(&soup, rt_alloc_libc(), RT_BUF_UNLIMITED);
	for (i = 0; i < 300; i += (int)test_sample()) {
		add_soup(&soup, 1 + below(60));
		options = options_of(1 + (int)below(50));
		check_growing(rt_buf_str(&soup), &options, 1 + below(3));
	}
	/* Stable parts are not laid out again: their rows stay in place. */
	rt_lines_stream_init(&stream, rt_alloc_libc());
	rt_lines_stream_begin(&stream, &options);
	add_times(&soup, "a b c\n\n", 5000);
	rt_lines_stream_set(&stream, rt_buf_str(&soup));
	assert_true(stream.stable > soup.size - 20);
	assert_true(stream.kept.count > 9990);
	rt_lines_stream_begin(&stream, &options);
	assert_int_equal(stream.lines.count, 0);
	rt_lines_stream_set(&stream, RT_STR("other"));
	assert_true(stream.lines.count > 0);
	rt_lines_stream_deinit(&stream);
	rt_buf_deinit(&soup);
}

/* ---- drawn ---- */

static void
test_draw(void **state)
{
	rt_lines_options options = options_of(20);
	rt_box box = {2, 1, 10, 2};
	rt_canvas canvas;
	rt_lines lines;
	rt_buf seen;
	int x;

	(void)state;
	rt_buf_init(&seen, rt_alloc_libc(), RT_BUF_UNLIMITED);
	rt_canvas_init(&canvas, rt_alloc_libc(), true);
	assert_int_equal(rt_canvas_resize(&canvas, 20, 4), RT_OK);
	rt_lines_init(&lines, rt_alloc_libc());
	rt_lines_add_markdown(&lines, RT_STR("one\n\n日x **Bo**ld words\n\nthree"), &options);
	rt_lines_draw(&lines, 2, 9, &canvas, box, RT_STR("X bOL"));
	rt_canvas_add_text(&canvas, &seen);
	assert_string_equal(seen.ptr, "\n  日x Bold w\n\n\n");
	for (x = 0; x < 20; x++) {
		bool is_marked = x >= 4 && x < 9;

		assert_int_equal((canvas.cells[20 + x].ink & 0xFF) == RT_INK_MATCH, is_marked);
		assert_int_equal((canvas.cells[20 + x].ink & RT_INK_BOLD) != 0, x == 6 || x == 7);
	}
	/* A match at the end of the box is marked as far as it is visible. */
	rt_canvas_clear(&canvas);
	rt_lines_draw(&lines, 2, 1, &canvas, box, RT_STR("words"));
	assert_int_equal(canvas.cells[20 + 11].ink & 0xFF, RT_INK_MATCH);
	assert_int_equal(canvas.cells[20 + 12].ink & 0xFF, RT_INK_TEXT);
	/* Beyond the end, and in an empty box, there is nothing to draw. */
	rt_canvas_clear(&canvas);
	rt_lines_draw(&lines, 5, 3, &canvas, box, RT_STR(""));
	rt_lines_draw(&lines, 0, 3, &canvas, (rt_box){30, 30, 5, 5}, RT_STR("one"));
	rt_buf_clear(&seen);
	rt_canvas_add_text(&canvas, &seen);
	assert_string_equal(seen.ptr, "\n\n\n\n");
	rt_lines_deinit(&lines);
	rt_canvas_deinit(&canvas);
	rt_buf_deinit(&seen);
}

/* ---- memory ---- */

static size_t left, blocks;

static void *
failing_resize(void *ctx, void *ptr, size_t size)
{
	void *got;

	(void)ctx;
	if (left-- == 0) {
		left = 0;
		return NULL;
	}
	got = realloc(ptr, size);
	blocks += ptr == NULL && got != NULL;
	return got;
}

static void
failing_release(void *ctx, void *ptr)
{
	(void)ctx;
	blocks -= ptr != NULL;
	free(ptr);
}

static const rt_alloc failing = {failing_resize, failing_release, NULL};

static void
add_everything(rt_lines *lines, const rt_lines_options *options)
{
	rt_str text = RT_STR("# a\n\n- b **c** `d`\n  - e\n\n> f\n\n|g|h|\n|---|---|\n|i|j|\n\n---\n\n"
			     "```c\nint k; // l\x1b\n```\n");

	rt_lines_add_row(lines, 1, RT_STR("x"), RT_INK_TEXT);
	rt_lines_add_blank(lines);
	rt_lines_add_markdown(lines, text, options);
	rt_lines_add_plain(lines, text, options);
	rt_lines_add_code(lines, text, RT_STR("sql"), options);
	rt_lines_add_difference(lines, text, RT_STR("# a\n\n- b **d** `d`\nnew\n> f\n"), options);
}

static void
test_no_memory(void **state)
{
	rt_lines_options options = options_of(30);
	rt_lines_stream stream;
	rt_lines lines;
	bool is_done = false;
	size_t n;

	(void)state;
	for (n = 0; !is_done; n++) {
		left = n;
		rt_lines_init(&lines, &failing);
		add_everything(&lines, &options);
		is_done = lines.status == RT_OK;
		assert_true(is_done || lines.status == RT_NOMEM);
		lines_check(&lines, &options);
		/* After emptying, it can be used again. */
		left = SIZE_MAX;
		rt_lines_clear(&lines);
		rt_lines_add_plain(&lines, RT_STR("a"), &options);
		assert_rows(&lines, "a\n");
		rt_lines_deinit(&lines);
		assert_int_equal(blocks, 0);
	}
	assert_true(n > 30);
	for (n = 0, is_done = false; !is_done; n++) {
		left = n;
		rt_lines_stream_init(&stream, &failing);
		rt_lines_stream_begin(&stream, &options);
		rt_lines_stream_set(&stream, RT_STR("a\n\nb\n\nc"));
		rt_lines_stream_set(&stream, RT_STR("a\n\nb\n\nc\n\n- d"));
		is_done = stream.lines.status == RT_OK;
		assert_true(is_done || stream.lines.status == RT_NOMEM);
		rt_lines_stream_deinit(&stream);
		assert_int_equal(blocks, 0);
	}
	assert_true(n > 10);
}

/* The url that the first occurrence of a text leads to. */
static void
assert_leads(const rt_lines *lines, const char *text, const char *url)
{
	for (size_t i = 0; i < lines->piece_count; i++) {
		const rt_piece *piece = &lines->pieces[i];
		size_t at = rt_str_find(rt_str_at(lines->text.ptr + piece->from, piece->size),
					rt_str_of(text), 0);
		uint32_t size;

		if (at == SIZE_MAX)
			continue;
		rt_str found = rt_lines_url_at(lines, piece, (uint32_t)at, &size);

		assert_true(size > 0 && at + size <= piece->size);
		if (!rt_str_is(found, url))
			fail_msg("%s leads to \"%.*s\" and not to \"%s\"", text, RT_STR_ARG(found), url);
		return;
	}
	fail_msg("no piece has \"%s\"", text);
}

/* The same rules as in the page: http, https, mailto. */
static void
test_urls(void **state)
{
	static const char text[] =
		"Some [words](https://a.b/c?d=e&f) and <https://g.h> or [mail](mailto:i@j.k).\n\n"
		"[one](http://one.x)[two](http://two.x) [script](javascript:alert(1)) [data](data:text/html,x) "
		"[file](file:///etc/passwd) [part](#part) [![image](https://img.x/y.png)](https://outer.x)\n\n"
		"| table |\n|---|\n| [cell](https://cell.x) |\n";
	rt_lines_options options = {.columns = 40, .utf8 = true};
	rt_lines_stream stream;
	char escape[80];
	rt_lines lines;
	rt_canvas canvas;

	(void)state;
	rt_lines_init(&lines, rt_alloc_libc());
	rt_lines_add_markdown(&lines, rt_str_of(text), &options);
	assert_leads(&lines, "Some ", "");
	assert_leads(&lines, "words", "https://a.b/c?d=e&f");
	assert_leads(&lines, "https://a.b/c?d=e&f", "https://a.b/c?d=e&f");
	assert_leads(&lines, "https://g.h", "https://g.h");
	assert_leads(&lines, "mail", "mailto:i@j.k");
	assert_leads(&lines, "one", "http://one.x");
	assert_leads(&lines, "two", "http://two.x");
	assert_leads(&lines, "script", "");
	assert_leads(&lines, "javascript", "");
	assert_leads(&lines, "data", "");
	assert_leads(&lines, "file", "");
	assert_leads(&lines, "part", "");
	assert_leads(&lines, "image", "https://outer.x");
	assert_leads(&lines, "cell", "https://cell.x");
	/* In the cells of a canvas, also where a match is marked. */
	rt_canvas_init(&canvas, rt_alloc_libc(), true);
	assert_int_equal(rt_canvas_resize(&canvas, 40, 4), RT_OK);
	rt_lines_draw(&lines, 0, 4, &canvas, rt_canvas_box(&canvas), RT_STR("words"));
	assert_int_equal(canvas.cells[4].link, 0);
	assert_true(rt_str_is(rt_canvas_url(&canvas, canvas.cells[5].link), "https://a.b/c?d=e&f"));
	assert_true(rt_str_is(rt_canvas_url(&canvas, canvas.cells[9].link), "https://a.b/c?d=e&f"));
	assert_int_equal(canvas.cells[10].link, 0);
	rt_canvas_fill(&canvas, rt_canvas_box(&canvas), RT_INK_TEXT);
	assert_int_equal(canvas.cells[5].link, 0);
	rt_canvas_deinit(&canvas);
	/* A control cannot be part of a url. */
	(void)snprintf(escape, sizeof(escape), "[x](https://a.b/%c]0;title%c) <https://c.d%c[2J>", 27, 7, 27);
	rt_lines_clear(&lines);
	rt_lines_add_markdown(&lines, rt_str_of(escape), &options);
	for (size_t i = 0; i < lines.urls.size; i++)
		assert_in_range(lines.urls.ptr[i], '!', '~');
	rt_lines_deinit(&lines);
	/* Streamed, the addresses do not pile up. */
	rt_lines_stream_init(&stream, rt_alloc_libc());
	rt_lines_stream_begin(&stream, &options);
	for (size_t size = 1; size < sizeof(text); size++)
		rt_lines_stream_set(&stream, rt_str_at(text, size));
	assert_leads(&stream.lines, "cell", "https://cell.x");
	assert_leads(&stream.lines, "words", "https://a.b/c?d=e&f");
	assert_true(stream.lines.urls.size < sizeof(text));
	rt_lines_stream_deinit(&stream);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_blocks),	cmocka_unit_test(test_lists),
		cmocka_unit_test(test_links),	cmocka_unit_test(test_tables),
		cmocka_unit_test(test_inks),	cmocka_unit_test(test_options),
		cmocka_unit_test(test_plain),	cmocka_unit_test(test_code),
		cmocka_unit_test(test_wide),	cmocka_unit_test(test_deep),
		cmocka_unit_test(test_large),	cmocka_unit_test(test_refused),
		cmocka_unit_test(test_any),	cmocka_unit_test(test_stream),
		cmocka_unit_test(test_urls),	cmocka_unit_test(test_draw),	cmocka_unit_test(test_no_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
