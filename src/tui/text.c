/* SPDX-License-Identifier: MIT
 *
 * Two passes: cli/screen.c takes away what is dangerous, then graphemes are looked at one
 * by one. Plain ASCII, which most text is, goes through both without being decoded. */
#include "tui/text.h"

#include <utf8proc.h>

#include "cli/screen.h"

/* The code point at the beginning of s (not empty); bytes that are none count one each. */
static utf8proc_int32_t
decode(rt_str s, size_t *out_size)
{
	utf8proc_int32_t c;
	utf8proc_ssize_t size = utf8proc_iterate((const utf8proc_uint8_t *)s.ptr,
						 (utf8proc_ssize_t)s.size, &c);

	*out_size = size > 0 ? (size_t)size : 1;
	return size > 0 ? c : 0xFFFD;
}

static bool
is_ascii(char byte)
{
	return ((unsigned char)byte & 0x80) == 0;
}

/* Vowels and ends of Korean syllables stand in the columns of the beginning, as the C library
 * has it. */
static size_t
columns_of(utf8proc_int32_t c)
{
	int width = utf8proc_charwidth(c);

	if ((c >= 0x1160 && c <= 0x11FF) || (c >= 0xD7B0 && c <= 0xD7FF))
		return 0;
	return width > 0 ? (size_t)width : 0;
}

/* A mark without a column of its own, also where it is no part of a grapheme by the rules:
 * terminals put it onto what stands before it. */
static bool
is_mark(utf8proc_int32_t c)
{
	utf8proc_category_t category;

	if (columns_of(c) > 0)
		return false;
	category = utf8proc_category(c);
	return category != UTF8PROC_CATEGORY_CF && category != UTF8PROC_CATEGORY_CN;
}

/* Bytes and columns of a grapheme of any valid text. */
static size_t
next(rt_str s, size_t *out_columns)
{
	utf8proc_int32_t state = 0, last, c;
	size_t at, size;

	if (is_ascii(s.ptr[0]) && (s.size == 1 || is_ascii(s.ptr[1]))) {
		*out_columns = 1;
		return 1;
	}
	last = decode(s, &at);
	*out_columns = columns_of(last);
	while (at < s.size) {
		c = decode(rt_str_at(s.ptr + at, s.size - at), &size);
		if (utf8proc_grapheme_break_stateful(last, c, &state) && !is_mark(c))
			break;
		*out_columns += columns_of(c);
		at += size;
		last = c;
	}
	return at;
}

/* The code points of a grapheme, less the marks that are too many for a cell. */
static void
add_points(rt_buf *buf, rt_str grapheme)
{
	size_t at, size, marks = 0;

	for (at = 0; at < grapheme.size; at += size) {
		utf8proc_int32_t c = decode(rt_str_at(grapheme.ptr + at, grapheme.size - at),
					    &size);

		marks = columns_of(c) > 0 ? 0 : marks + 1;
		if (marks > RT_SHOWN_MARKS)
			continue;
		if (utf8proc_category(c) == UTF8PROC_CATEGORY_CN)
			rt_buf_add_c(buf, "\xEF\xBF\xBD");
		else
			rt_buf_add(buf, grapheme.ptr + at, size);
	}
}

/* One that stands in no column: a mark without a letter, or what cannot be seen. */
static void
add_invisible(rt_buf *buf, rt_str grapheme)
{
	size_t size;
	utf8proc_int32_t c = decode(grapheme, &size);

	if (utf8proc_category(c) == UTF8PROC_CATEGORY_CF) {
		rt_buf_add_f(buf, "<U+%04X>", (unsigned)c);
		return;
	}
	rt_buf_add_c(buf, "\xE2\x97\x8C"); /* U+25CC */
	add_points(buf, grapheme);
}

void
rt_shown_add(rt_buf *buf, rt_str text, bool ascii)
{
	rt_buf safe;
	rt_str s;
	size_t at, size, columns;

	rt_buf_init(&safe, buf->alloc, RT_BUF_UNLIMITED);
	rt_screen_add_blanks(&safe, text);
	s = rt_buf_str(&safe);
	for (at = 0; at < s.size; at += size) {
		size = next(rt_str_at(s.ptr + at, s.size - at), &columns);
		if (size == 1)
			rt_buf_add_byte(buf, s.ptr[at]);
		else if (ascii)
			do
				rt_buf_add_byte(buf, '?');
			while (columns-- > 1);
		else if (columns == 0)
			add_invisible(buf, rt_str_at(s.ptr + at, size));
		else
			add_points(buf, rt_str_at(s.ptr + at, size));
	}
	if (safe.status != RT_OK)
		buf->status = safe.status;
	rt_buf_deinit(&safe);
}

size_t
rt_shown_next(rt_str shown, size_t *out_columns)
{
	return next(shown, out_columns);
}

size_t
rt_shown_columns(rt_str shown)
{
	size_t all;

	(void)rt_shown_cut(shown, SIZE_MAX, &all);
	return all;
}

rt_str
rt_shown_cut(rt_str shown, size_t columns, size_t *out_columns)
{
	size_t at = 0, used = 0, width, size;

	while (at < shown.size) {
		size = next(rt_str_at(shown.ptr + at, shown.size - at), &width);
		if (width > columns - used)
			break;
		used += width;
		at += size;
	}
	if (out_columns != NULL)
		*out_columns = used;
	return rt_str_at(shown.ptr, at);
}

rt_str
rt_shown_skip(rt_str shown, size_t columns, size_t *out_blank)
{
	size_t at = 0, used = 0, width, size;

	while (at < shown.size && used < columns) {
		size = next(rt_str_at(shown.ptr + at, shown.size - at), &width);
		used += width;
		at += size;
	}
	*out_blank = used > columns ? used - columns : 0;
	return at == 0 ? shown : rt_str_at(shown.ptr + at, shown.size - at);
}
