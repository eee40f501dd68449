/* SPDX-License-Identifier: MIT
 *
 * app/screen.c makes text safe, app/width.c measures it. Plain ASCII, the usual case, passes through
 * both without being decoded. */
#include "terminal/text.h"

#include "app/width.h"
#include "app/screen.h"

void
rt_shown_add(rt_buf *buf, rt_str text, bool ascii)
{
	rt_screen_add_blanks(buf, text, ascii);
}

size_t
rt_shown_next(rt_str shown, size_t *out_columns)
{
	size_t size = rt_rune_grapheme(shown);

	*out_columns = (size_t)rt_rune_columns(rt_str_at(shown.ptr, size), true, 0);
	return size;
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
		size = rt_shown_next(rt_str_at(shown.ptr + at, shown.size - at), &width);
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
		size = rt_shown_next(rt_str_at(shown.ptr + at, shown.size - at), &width);
		used += width;
		at += size;
	}
	*out_blank = used > columns ? used - columns : 0;
	return at == 0 ? shown : rt_str_at(shown.ptr + at, shown.size - at);
}
