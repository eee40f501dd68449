/* SPDX-License-Identifier: MIT
 *
 * Plain ASCII, the common case, is handled directly; utf8proc classifies the rest. */
#include "app/width.h"

#include <stdio.h>
#include <utf8proc.h>

enum { REPLACEMENT = 0xFFFD, GRAPHEME_MAX = 8 /* letters of one */ };

static uint32_t
decode(rt_str s, size_t *out_size)
{
	utf8proc_ssize_t room = s.size < 4 ? (utf8proc_ssize_t)s.size : 4, size;
	utf8proc_int32_t c;

	size = utf8proc_iterate((const utf8proc_uint8_t *)s.ptr, room, &c);
	*out_size = size > 0 ? (size_t)size : 1;
	return size > 0 ? (uint32_t)c : REPLACEMENT;
}

static bool
is_between(uint32_t c, uint32_t first, uint32_t last)
{
	return c >= first && c <= last;
}

/* Characters that only affect how their neighbours are joined or drawn. */
static bool
is_silent(uint32_t c)
{
	return c == 0x034F || is_between(c, 0x17B4, 0x17B5) || is_between(c, 0x180B, 0x180F) ||
	       is_between(c, 0x200C, 0x200D) || is_between(c, 0xFE00, 0xFE0F) ||
	       is_between(c, 0x1F3FB, 0x1F3FF) || is_between(c, 0xE0100, 0xE01EF);
}

/* Characters that look blank or invisible but are neither. */
static bool
is_filler(uint32_t c)
{
	return c == 0x115F || c == 0x1160 || c == 0x3164 || c == 0xFFA0;
}

static rt_rune_kind
kind_of(uint32_t c, int *out_width)
{
	int width = utf8proc_charwidth((utf8proc_int32_t)c);

	*out_width = 0;
	if (is_silent(c))
		return RT_RUNE_NOTHING;
	if (is_filler(c))
		return RT_RUNE_NAMED;
	switch (utf8proc_category((utf8proc_int32_t)c)) {
	case UTF8PROC_CATEGORY_MN:
	case UTF8PROC_CATEGORY_ME: return RT_RUNE_MARK;
	case UTF8PROC_CATEGORY_LO: /* vowels and finals of Hangul */
		if (is_between(c, 0x1161, 0x11FF) || is_between(c, 0xD7B0, 0xD7FF))
			return RT_RUNE_MARK;
		break;
	case UTF8PROC_CATEGORY_CC:
	case UTF8PROC_CATEGORY_ZL:
	case UTF8PROC_CATEGORY_ZP: return RT_RUNE_NAMED;
	case UTF8PROC_CATEGORY_CF:
		if (c != 0xAD)
			return RT_RUNE_NAMED;
		break;
	default: break;
	}
	*out_width = width == 2 ? 2 : 1;
	return RT_RUNE_SHOWN;
}

/* Some are drawn as others, which every terminal gives the same width. */
static uint32_t
drawn_for(uint32_t c)
{
	if (c == 0xAD)
		return '-';
	if (is_between(c, 0x1F1E6, 0x1F1FF)) /* pairs of them may be a flag, or two letters */
		return 'A' + (c - 0x1F1E6);
	if (utf8proc_category((utf8proc_int32_t)c) == UTF8PROC_CATEGORY_CN)
		return REPLACEMENT; /* its width is not known yet */
	if (utf8proc_category((utf8proc_int32_t)c) == UTF8PROC_CATEGORY_ZS && c != 0x3000)
		return ' ';
	return c;
}

size_t
rt_rune_name(uint32_t code, char out[RT_RUNE_NAME_ROOM])
{
	if (code < 0x20 || code == 0x7F)
		return (size_t)snprintf(out, RT_RUNE_NAME_ROOM, "^%c", (int)(code ^ 0x40));
	return (size_t)snprintf(out, RT_RUNE_NAME_ROOM, "<U+%04X>", (unsigned)(code & 0x1FFFFF));
}

rt_rune
rt_rune_read(rt_str text, bool utf8)
{
	unsigned char first = (unsigned char)text.ptr[0];
	rt_rune rune = {RT_RUNE_SHOWN, first, first, 1, 1};
	char name[RT_RUNE_NAME_ROOM];

	if (first >= 0x20 && first < 0x7F)
		return rune;
	if (first == '\t' || first == '\n') {
		rune.kind = first == '\t' ? RT_RUNE_TAB : RT_RUNE_LINE;
		rune.width = 0;
		return rune;
	}
	if (first == '\r' && text.size > 1 && text.ptr[1] == '\n') {
		rune.kind = RT_RUNE_LINE;
		rune.width = 0;
		rune.size = 2;
		return rune;
	}
	rune.code = decode(text, &rune.size);
	rune.kind = kind_of(rune.code, &rune.width);
	if (rune.kind == RT_RUNE_NAMED)
		rune.width = (int)rt_rune_name(rune.code, name);
	rune.ch = rune.kind == RT_RUNE_SHOWN ? drawn_for(rune.code) : rune.code;
	if (rune.ch == REPLACEMENT)
		rune.width = 1;
	if (utf8 || rune.ch < 0x80)
		return rune;
	if (rune.kind == RT_RUNE_SHOWN) {
		rune.ch = '?';
		rune.width = 1;
	} else if (rune.kind == RT_RUNE_MARK) {
		rune.kind = RT_RUNE_NOTHING;
	}
	return rune;
}

bool
rt_rune_is_space(const rt_rune *rune)
{
	uint32_t c = rune->code;

	return is_between(c, '\t', '\r') || c == 0x85 || c == 0x2028 || c == 0x2029 ||
	       (rune->kind == RT_RUNE_SHOWN && rune->ch == ' ');
}

int
rt_rune_pass(rt_rune_place *place, const rt_rune *rune)
{
	bool is_alone = rune->kind == RT_RUNE_MARK && !place->has_base;

	if (rune->kind == RT_RUNE_NOTHING)
		return 0;
	place->marks = rune->kind != RT_RUNE_MARK ? 0 : place->marks + (place->marks < RT_RUNE_MARKS + 1);
	place->has_base = (rune->kind == RT_RUNE_SHOWN && rune->ch != ' ') || rune->kind == RT_RUNE_MARK;
	return is_alone ? 1 : rune->width;
}

int
rt_rune_add(rt_buf *buf, rt_rune_place *place, const rt_rune *rune)
{
	bool had_base = place->has_base;
	int width = rt_rune_pass(place, rune);
	char bytes[RT_RUNE_NAME_ROOM];

	switch (rune->kind) {
	case RT_RUNE_MARK:
		if (!had_base)
			rt_buf_add(buf, bytes, rt_rune_encode(RT_RUNE_CIRCLE, bytes));
		if (place->marks > RT_RUNE_MARKS)
			break;
		rt_buf_add(buf, bytes, rt_rune_encode(rune->ch, bytes));
		break;
	case RT_RUNE_SHOWN: rt_buf_add(buf, bytes, rt_rune_encode(rune->ch, bytes)); break;
	case RT_RUNE_NAMED: rt_buf_add(buf, bytes, rt_rune_name(rune->code, bytes)); break;
	case RT_RUNE_TAB:
	case RT_RUNE_LINE:
	case RT_RUNE_NOTHING: break;
	}
	return width;
}

size_t
rt_rune_grapheme(rt_str text)
{
	utf8proc_int32_t state = 0;
	rt_rune_place place = {false, 0};
	rt_rune last, rune;
	size_t at, count = 1;
	bool is_break;

	if ((unsigned char)text.ptr[0] < 0x80 && text.ptr[0] != '\r' &&
	    (text.size == 1 || (unsigned char)text.ptr[1] < 0x80))
		return 1;
	last = rt_rune_read(text, true);
	at = last.size;
	rt_rune_pass(&place, &last);
	while (at < text.size && last.kind != RT_RUNE_TAB && last.kind != RT_RUNE_LINE) {
		rune = rt_rune_read(rt_str_at(text.ptr + at, text.size - at), true);
		is_break = utf8proc_grapheme_break_stateful((utf8proc_int32_t)last.code,
							    (utf8proc_int32_t)rune.code, &state);
		if (place.has_base && (rune.kind == RT_RUNE_MARK || rune.kind == RT_RUNE_NOTHING))
			is_break = false;
		else if (++count > GRAPHEME_MAX)
			is_break = true;
		if (is_break)
			break;
		rt_rune_pass(&place, &rune);
		at += rune.size;
		last = rune;
	}
	return at;
}

int
rt_rune_columns(rt_str grapheme, bool utf8, int column)
{
	rt_rune_place place = {false, 0};
	size_t at = 0;
	int used = 0;

	while (at < grapheme.size) {
		rt_rune rune = rt_rune_read(rt_str_at(grapheme.ptr + at, grapheme.size - at), utf8);

		used += rt_rune_pass(&place, &rune);
		if (rune.kind == RT_RUNE_TAB)
			used += 8 - (column + used) % 8;
		at += rune.size;
	}
	return used;
}

size_t
rt_rune_encode(uint32_t code, char out[4])
{
	utf8proc_ssize_t size = utf8proc_encode_char((utf8proc_int32_t)code, (utf8proc_uint8_t *)out);

	return size > 0 ? (size_t)size : 0;
}
