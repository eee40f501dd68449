/* SPDX-License-Identifier: MIT
 *
 * Text is taken code point by code point. Everything is decided by three questions: may
 * it reach a terminal, is it white space, how wide is it. */
#include "cli/screen.h"

typedef struct range {
	uint32_t first, last;
} range;

/* Two columns: East Asian Wide and Fullwidth, and characters shown as emoji. */
static const range wide[] = {
	{0x1100, 0x115F},   {0x231A, 0x231B},   {0x2329, 0x232A},   {0x23E9, 0x23EC},
	{0x23F0, 0x23F0},   {0x23F3, 0x23F3},   {0x25FD, 0x25FE},   {0x2614, 0x2615},
	{0x2648, 0x2653},   {0x267F, 0x267F},   {0x2693, 0x2693},   {0x26A1, 0x26A1},
	{0x26AA, 0x26AB},   {0x26BD, 0x26BE},   {0x26C4, 0x26C5},   {0x26CE, 0x26CE},
	{0x26D4, 0x26D4},   {0x26EA, 0x26EA},   {0x26F2, 0x26F3},   {0x26F5, 0x26F5},
	{0x26FA, 0x26FA},   {0x26FD, 0x26FD},   {0x2705, 0x2705},   {0x270A, 0x270B},
	{0x2728, 0x2728},   {0x274C, 0x274C},   {0x274E, 0x274E},   {0x2753, 0x2755},
	{0x2757, 0x2757},   {0x2795, 0x2797},   {0x27B0, 0x27B0},   {0x27BF, 0x27BF},
	{0x2B1B, 0x2B1C},   {0x2B50, 0x2B50},   {0x2B55, 0x2B55},   {0x2E80, 0x303E},
	{0x3041, 0x4DBF},   {0x4E00, 0xA4CF},   {0xA960, 0xA97F},   {0xAC00, 0xD7A3},
	{0xF900, 0xFAFF},   {0xFE10, 0xFE19},   {0xFE30, 0xFE6F},   {0xFF00, 0xFF60},
	{0xFFE0, 0xFFE6},   {0x16FE0, 0x16FE4}, {0x17000, 0x18CFF}, {0x1AFF0, 0x1B2FF},
	{0x1F004, 0x1F004}, {0x1F0CF, 0x1F0CF}, {0x1F18E, 0x1F18E}, {0x1F191, 0x1F19A},
	{0x1F200, 0x1F320}, {0x1F32D, 0x1F335}, {0x1F337, 0x1F37C}, {0x1F37E, 0x1F393},
	{0x1F3A0, 0x1F3CA}, {0x1F3CF, 0x1F3D3}, {0x1F3E0, 0x1F3F0}, {0x1F3F4, 0x1F3F4},
	{0x1F3F8, 0x1F43E}, {0x1F440, 0x1F440}, {0x1F442, 0x1F4FC}, {0x1F4FF, 0x1F53D},
	{0x1F54B, 0x1F54E}, {0x1F550, 0x1F567}, {0x1F57A, 0x1F57A}, {0x1F595, 0x1F596},
	{0x1F5A4, 0x1F5A4}, {0x1F5FB, 0x1F64F}, {0x1F680, 0x1F6C5}, {0x1F6CC, 0x1F6CC},
	{0x1F6D0, 0x1F6D2}, {0x1F6D5, 0x1F6D7}, {0x1F6DC, 0x1F6DF}, {0x1F6EB, 0x1F6EC},
	{0x1F6F4, 0x1F6FC}, {0x1F7E0, 0x1F7EB}, {0x1F7F0, 0x1F7F0}, {0x1F90C, 0x1F93A},
	{0x1F93C, 0x1F945}, {0x1F947, 0x1F9FF}, {0x1FA70, 0x1FAFF}, {0x20000, 0x3FFFD},
};

/* No column: combining marks, joiners, variation selectors. */
static const range narrow[] = {
	{0x0300, 0x036F}, {0x0483, 0x0489},   {0x0591, 0x05BD}, {0x05BF, 0x05BF}, {0x05C1, 0x05C2},
	{0x05C4, 0x05C5}, {0x05C7, 0x05C7},   {0x0610, 0x061A}, {0x064B, 0x065F}, {0x0670, 0x0670},
	{0x06D6, 0x06DC}, {0x06DF, 0x06E4},   {0x06E7, 0x06E8}, {0x06EA, 0x06ED}, {0x0711, 0x0711},
	{0x0730, 0x074A}, {0x0900, 0x0902},   {0x093A, 0x093A}, {0x093C, 0x093C}, {0x0941, 0x0948},
	{0x094D, 0x094D}, {0x0951, 0x0957},   {0x0E31, 0x0E31}, {0x0E34, 0x0E3A}, {0x0E47, 0x0E4E},
	{0x1AB0, 0x1AFF}, {0x1DC0, 0x1DFF},   {0x200B, 0x200D}, {0x2028, 0x2029}, {0x2060, 0x2064},
	{0x20D0, 0x20FF}, {0x302A, 0x302D},   {0x3099, 0x309A}, {0xFE00, 0xFE0F}, {0xFE20, 0xFE2F},
	{0xFEFF, 0xFEFF}, {0xE0000, 0xE01EF},
};

static bool
is_in(const range *ranges, size_t count, uint32_t c)
{
	size_t low = 0, high = count;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (c > ranges[mid].last)
			low = mid + 1;
		else if (c < ranges[mid].first)
			high = mid;
		else
			return true;
	}
	return false;
}

/* The code point at the beginning of s (not empty) and its bytes; UINT32_MAX and one byte
 * where it is not UTF-8. */
static uint32_t
take(rt_str s, size_t *out_size)
{
	const unsigned char *p = (const unsigned char *)s.ptr;
	size_t size = p[0] < 0x80 ? 1 : p[0] < 0xE0 ? 2 : p[0] < 0xF0 ? 3 : 4;
	uint32_t c;
	size_t i;

	*out_size = 1;
	if (size == 1)
		return p[0];
	if (s.size < size || rt_utf8_valid_size(rt_str_at(s.ptr, size)) != size)
		return UINT32_MAX;
	c = p[0] & (0xFFu >> (size + 1));
	for (i = 1; i < size; i++)
		c = c << 6 | (p[i] & 0x3Fu);
	*out_size = size;
	return c;
}

/* Marks that turn the direction, the deprecated ones and those around notes too. */
static bool
is_bidi(uint32_t c)
{
	return c == 0x061C || c == 0x200E || c == 0x200F || (c >= 0x202A && c <= 0x202E) ||
	       (c >= 0x2066 && c <= 0x206F) || (c >= 0xFFF9 && c <= 0xFFFB);
}

static bool
is_unfit(uint32_t c)
{
	return c < 0x20 || (c >= 0x7F && c <= 0x9F) || c == 0x2028 || c == 0x2029 || is_bidi(c);
}

static bool
is_space(uint32_t c)
{
	return c == ' ' || (c >= '\t' && c <= '\r') || c == 0x85 || c == 0xA0 || c == 0x2028 ||
	       c == 0x2029;
}

/* By name, where it may not appear itself. */
static void
add_named(rt_buf *buf, uint32_t c)
{
	if (c < 0x20 || c == 0x7F) {
		rt_buf_add_byte(buf, '^');
		rt_buf_add_byte(buf, (char)(c ^ 0x40));
	} else {
		rt_buf_add_f(buf, "<U+%04X>", (unsigned)c);
	}
}

static void
add_point(rt_buf *buf, uint32_t c, const char *ptr, size_t size)
{
	if (c == UINT32_MAX)
		rt_buf_add_c(buf, "\xEF\xBF\xBD");
	else if (is_unfit(c))
		add_named(buf, c);
	else
		rt_buf_add(buf, ptr, size);
}

/* Bytes at the beginning of s that are plain ASCII. */
static size_t
plain_size(rt_str s)
{
	size_t i;

	for (i = 0; i < s.size && s.ptr[i] >= 0x20 && s.ptr[i] < 0x7F; i++)
		;
	return i;
}

void
rt_screen_add_text(rt_buf *buf, rt_str text)
{
	size_t i = 0;

	while (i < text.size) {
		rt_str rest = rt_str_at(text.ptr + i, text.size - i);
		size_t size = plain_size(rest);
		uint32_t c;

		if (size > 0) {
			rt_buf_add(buf, rest.ptr, size);
			i += size;
			continue;
		}
		c = take(rest, &size);
		if (c == '\n' || c == '\t')
			rt_buf_add_byte(buf, (char)c);
		else if (c != '\r' || rest.size < 2 || rest.ptr[1] != '\n')
			add_point(buf, c, rest.ptr, size);
		i += size;
	}
}

/* Adds at most limit characters; true when there were more. */
static bool
add_line(rt_buf *buf, rt_str text, size_t limit)
{
	size_t i = 0, count = 0;
	bool space = false;

	while (i < text.size) {
		rt_str rest = rt_str_at(text.ptr + i, text.size - i);
		size_t size;
		uint32_t c = take(rest, &size);

		i += size;
		if (is_space(c)) {
			space = count > 0;
			continue;
		}
		if (count + space >= limit)
			return true;
		if (space)
			rt_buf_add_byte(buf, ' ');
		add_point(buf, c, rest.ptr, size);
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
rt_screen_add_blanks(rt_buf *buf, rt_str text)
{
	size_t i = 0;

	while (i < text.size) {
		rt_str rest = rt_str_at(text.ptr + i, text.size - i);
		size_t size = plain_size(rest);
		uint32_t c;

		if (size > 0) {
			rt_buf_add(buf, rest.ptr, size);
			i += size;
			continue;
		}
		c = take(rest, &size);
		if (is_space(c))
			rt_buf_add_byte(buf, ' ');
		else
			add_point(buf, c, rest.ptr, size);
		i += size;
	}
}

void
rt_screen_add_preview(rt_buf *buf, rt_str text, size_t characters, bool utf8)
{
	if (add_line(buf, text, characters))
		rt_buf_add_c(buf, utf8 ? "\xE2\x80\xA6" : "...");
}

void
rt_screen_add_json(rt_buf *buf, rt_str json)
{
	size_t i = 0;

	while (i < json.size) {
		rt_str rest = rt_str_at(json.ptr + i, json.size - i);
		size_t size = plain_size(rest);
		uint32_t c;

		if (size > 0) {
			rt_buf_add(buf, rest.ptr, size);
			i += size;
			continue;
		}
		c = take(rest, &size);
		if (c == '\n' || c == '\t')
			rt_buf_add_byte(buf, (char)c);
		else if (c != UINT32_MAX && is_unfit(c))
			rt_buf_add_f(buf, "\\u%04x", (unsigned)c);
		else
			add_point(buf, c, rest.ptr, size);
		i += size;
	}
}

static size_t
width_of(uint32_t c)
{
	if (c < 0x300)
		return 1;
	if (is_in(narrow, sizeof(narrow) / sizeof(narrow[0]), c))
		return 0;
	return is_in(wide, sizeof(wide) / sizeof(wide[0]), c) ? 2 : 1;
}

rt_str
rt_screen_cut(rt_str text, size_t columns)
{
	size_t i = 0, used = 0;

	while (i < text.size) {
		size_t size;
		uint32_t c = take(rt_str_at(text.ptr + i, text.size - i), &size);

		used += width_of(c);
		if (used > columns)
			break;
		i += size;
	}
	return rt_str_at(text.ptr, i);
}

size_t
rt_screen_width(rt_str text)
{
	size_t i = 0, used = 0;

	while (i < text.size) {
		size_t size;

		used += width_of(take(rt_str_at(text.ptr + i, text.size - i), &size));
		i += size;
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
	if (fit == 0) {
		(void)take(line, &fit);
		return fit;
	}
	/* A space right behind what fits is as good as one inside. */
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
	/* Nothing but the indentation before it: break the word instead. */
	if (fit == 0) {
		*out_skip = 0;
		return rt_screen_cut(line, columns).size;
	}
	return fit;
}
