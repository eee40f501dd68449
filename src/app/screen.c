/* SPDX-License-Identifier: MIT
 *
 * Text is processed rune by rune; width.h decides how each of them is displayed. */
#include "app/screen.h"

#include "app/width.h"

enum { REPLACEMENT = 0xFFFD, NAME_END = 8 /* columns of the end of a name that is cut */ };

static rt_rune
rune_at(rt_str text, size_t at)
{
	return rt_rune_read(rt_str_at(text.ptr + at, text.size - at), true);
}

/* Appends the plain ASCII at the beginning of the remaining text; returns its size. */
static size_t
add_plain(rt_buf *buf, rt_rune_place *place, rt_str text, size_t at)
{
	size_t end = at;

	while (end < text.size && text.ptr[end] >= 0x20 && text.ptr[end] < 0x7F)
		end++;
	if (end == at)
		return 0;
	rt_buf_add(buf, text.ptr + at, end - at);
	*place = (rt_rune_place){.has_base = text.ptr[end - 1] != ' '};
	return end - at;
}

void
rt_screen_add_text(rt_buf *buf, rt_str text)
{
	rt_rune_place place = {false, 0};
	size_t at = 0, plain;

	while (at < text.size) {
		rt_rune rune;

		plain = add_plain(buf, &place, text, at);
		at += plain;
		if (plain > 0)
			continue;
		rune = rune_at(text, at);
		rt_rune_add(buf, &place, &rune);
		if (rune.kind == RT_RUNE_LINE || rune.kind == RT_RUNE_TAB)
			rt_buf_add_byte(buf, rune.kind == RT_RUNE_LINE ? '\n' : '\t');
		at += rune.size;
	}
}

/* Adds at most limit characters; true when there were more. */
static bool
add_line(rt_buf *buf, rt_str text, size_t limit)
{
	rt_rune_place place = {false, 0};
	size_t at = 0, count = 0;
	bool space = false;

	while (at < text.size) {
		rt_rune rune = rune_at(text, at);

		at += rune.size;
		if (rt_rune_is_space(&rune)) {
			space = count > 0;
			continue;
		}
		if (rune.kind == RT_RUNE_NOTHING)
			continue;
		if (count + space >= limit)
			return true;
		if (space) {
			rt_buf_add_byte(buf, ' ');
			place = (rt_rune_place){false, 0};
		}
		rt_rune_add(buf, &place, &rune);
		count += 1 + (size_t)space;
		space = false;
	}
	return false;
}

void
rt_screen_add_line(rt_buf *buf, rt_str text)
{
	(void)add_line(buf, text, SIZE_MAX);
}

void
rt_screen_add_blanks(rt_buf *buf, rt_str text, bool ascii)
{
	rt_rune_place place = {false, 0};
	size_t at = 0, plain, i;

	while (at < text.size) {
		rt_rune rune;

		plain = add_plain(buf, &place, text, at);
		at += plain;
		if (plain > 0)
			continue;
		rune = rt_rune_read(rt_str_at(text.ptr + at, text.size - at), !ascii);
		if (rt_rune_is_space(&rune)) {
			for (i = 0; i < (rune.code == '\r' ? rune.size : 1); i++)
				rt_buf_add_byte(buf, ' ');
			place = (rt_rune_place){false, 0};
		} else {
			rt_rune_add(buf, &place, &rune);
		}
		at += rune.size;
	}
}

void
rt_screen_add_preview(rt_buf *buf, rt_str text, size_t characters, bool utf8)
{
	if (add_line(buf, text, characters))
		rt_buf_add_c(buf, utf8 ? "\xE2\x80\xA6" : "...");
}

void
rt_screen_add_name(rt_buf *buf, rt_str name, size_t columns, bool utf8)
{
	size_t begin = buf->size, width, end, dots = utf8 ? 1 : 3;
	rt_str line, first, last;
	rt_buf tail;

	rt_screen_add_line(buf, name);
	line = rt_str_skip(rt_buf_str(buf), begin);
	width = rt_screen_width(line);
	if (columns <= dots || width <= columns)
		return;
	end = (columns - dots) / 2 < NAME_END ? (columns - dots) / 2 : NAME_END;
	first = rt_screen_cut(line, columns - dots - end);
	last = rt_str_skip(line, rt_screen_cut(line, width - end).size);
	rt_buf_init(&tail, buf->alloc, RT_BUF_UNLIMITED);
	rt_buf_add_c(&tail, utf8 ? "\xE2\x80\xA6" : "...");
	rt_buf_add_str(&tail, last);
	buf->size = begin + first.size;
	rt_buf_add_str(buf, rt_buf_str(&tail));
	if (tail.status != RT_OK)
		buf->status = tail.status;
	rt_buf_deinit(&tail);
}

/* May it appear unescaped in JSON? Replaced characters may, if they are visible. */
static bool
is_fit(const rt_rune *rune)
{
	return rune->kind == RT_RUNE_MARK ||
	       (rune->kind == RT_RUNE_SHOWN && (rune->ch != REPLACEMENT || rune->code == REPLACEMENT));
}

static void
add_escape(rt_buf *buf, uint32_t c)
{
	if (c < 0x10000)
		rt_buf_add_f(buf, "\\u%04x", (unsigned)c);
	else
		rt_buf_add_f(buf, "\\u%04x\\u%04x", (unsigned)(0xD800 + ((c - 0x10000) >> 10)),
			     (unsigned)(0xDC00 + ((c - 0x10000) & 0x3FF)));
}

void
rt_screen_add_json(rt_buf *buf, rt_str json)
{
	rt_rune_place place = {false, 0};
	size_t at = 0, plain;
	char bytes[4];

	while (at < json.size) {
		rt_rune rune;

		plain = add_plain(buf, &place, json, at);
		at += plain;
		if (plain > 0)
			continue;
		rune = rune_at(json, at);
		if (rune.kind == RT_RUNE_LINE || rune.kind == RT_RUNE_TAB)
			rt_buf_add_byte(buf, rune.kind == RT_RUNE_LINE ? '\n' : '\t');
		else if (is_fit(&rune))
			rt_buf_add(buf, bytes, rt_rune_encode(rune.code, bytes));
		else
			add_escape(buf, rune.code);
		at += rune.size;
	}
}

rt_str
rt_screen_cut(rt_str text, size_t columns)
{
	size_t at = 0, used = 0;

	while (at < text.size) {
		rt_str rest = rt_str_at(text.ptr + at, text.size - at);
		size_t size = rt_rune_grapheme(rest);

		used += rt_screen_width(rt_str_at(rest.ptr, size));
		if (used > columns)
			break;
		at += size;
	}
	return rt_str_at(text.ptr, at);
}

size_t
rt_screen_width(rt_str text)
{
	rt_rune_place place = {false, 0};
	size_t at = 0, used = 0;

	while (at < text.size) {
		rt_rune rune = rune_at(text, at);

		used += (size_t)rt_rune_pass(&place, &rune);
		used += rune.kind == RT_RUNE_TAB || rune.kind == RT_RUNE_LINE;
		at += rune.size;
	}
	return used;
}

size_t
rt_screen_break(rt_str line, size_t columns, size_t *out_skip)
{
	size_t fit = rt_screen_cut(line, columns).size, i;

	*out_skip = 0;
	if (fit == line.size)
		return fit;
	if (fit == 0)
		return rt_rune_grapheme(line);
	/* A space directly after the fitting part also counts. */
	for (i = fit + 1; i-- > 0;)
		if (line.ptr[i] == ' ')
			break;
	if (i == SIZE_MAX || i == 0)
		return fit;
	fit = i;
	while (fit + *out_skip < line.size && line.ptr[fit + *out_skip] == ' ')
		++*out_skip;
	while (fit > 0 && line.ptr[fit - 1] == ' ') {
		fit--;
		++*out_skip;
	}
	/* Only the indentation before it: break the word instead. */
	if (fit == 0) {
		*out_skip = 0;
		return rt_screen_cut(line, columns).size;
	}
	return fit;
}
