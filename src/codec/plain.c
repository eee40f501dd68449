/* SPDX-License-Identifier: MIT */
#include "codec/plain.h"

enum { TICKS_MAX = 3 /* backticks around code for which the end is looked for */ };

/* A line that is being read. */
typedef struct reader {
	rt_buf *buf;
	size_t begin;     /* of the text, in buf */
	rt_str line;
	size_t at;        /* in line */
	size_t ends[2];      /* where the open pairs of * and of ** end; 0: none is open */
	bool has_no_end[2]; /* no further one ends a pair */
} reader;

static bool
is_blank(char c)
{
	return c == ' ' || (c >= '\t' && c <= '\r');
}

/* Blanks as one space, and none at the beginning. */
static void
add_words(reader *r, rt_str words)
{
	for (size_t i = 0; i < words.size; i++) {
		bool has_space = r->buf->size == r->begin ||
				 (r->buf->ptr != NULL && r->buf->ptr[r->buf->size - 1] == ' ');

		if (!is_blank(words.ptr[i]))
			rt_buf_add_byte(r->buf, words.ptr[i]);
		else if (!has_space)
			rt_buf_add_byte(r->buf, ' ');
	}
}

static size_t
run_at(rt_str line, size_t at, char c)
{
	size_t size = 0;

	while (at + size < line.size && line.ptr[at + size] == c)
		size++;
	return size;
}

/* Backticks, with the code between them and the next run of that length. */
static void
read_code(reader *r)
{
	size_t ticks = run_at(r->line, r->at, '`'), begin = r->at + ticks, end = begin;

	r->at = begin;
	if (ticks > TICKS_MAX)
		return;
	while (end < r->line.size) {
		size_t run = run_at(r->line, end, '`');

		if (run == ticks) {
			add_words(r, rt_str_trim(rt_str_at(r->line.ptr + begin, end - begin)));
			r->at = end + run;
			return;
		}
		end += run > 0 ? run : 1;
	}
}

static bool
is_word(char c)
{
	return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || c == '_' ||
	       (unsigned char)c >= 0x80;
}

/* Where a pair of * (size 1) or ** ends that begins before `at`; SIZE_MAX: nowhere. A single * is
 * not inside a word. */
static size_t
end_of_pair(rt_str line, size_t at, size_t size)
{
	while (at < line.size) {
		size_t run = run_at(line, at, '*');

		if (run == size && !is_blank(line.ptr[at - 1]) &&
		    (size == 2 || at + 1 == line.size || !is_word(line.ptr[at + 1])))
			return at;
		at += run > 0 ? run : 1;
	}
	return SIZE_MAX;
}

/* * or ** that opens or closes a pair; false: it is text. */
static bool
read_pair(reader *r)
{
	rt_str line = r->line;
	size_t size = run_at(line, r->at, '*'), begin = r->at + size, end, *open;

	if (size > 2)
		return false;
	open = &r->ends[size - 1];
	if (*open == r->at && r->at > 0) {
		*open = 0;
		r->at = begin;
		return true;
	}
	if (r->has_no_end[size - 1] || *open != 0 || begin >= line.size || is_blank(line.ptr[begin]) ||
	    (size == 1 && r->at > 0 && is_word(line.ptr[r->at - 1])))
		return false;
	end = end_of_pair(line, begin + 1, size);
	r->has_no_end[size - 1] = end == SIZE_MAX;
	if (end == SIZE_MAX)
		return false;
	*open = end;
	r->at = begin;
	return true;
}

/* [text](target), also of an image; false: it is text. */
static bool
read_link(reader *r)
{
	rt_str line = r->line;
	size_t text = r->at + (line.ptr[r->at] == '!') + 1, end = text, target;

	while (end < line.size && line.ptr[end] != ']' && line.ptr[end] != '[')
		end++;
	if (end + 1 >= line.size || line.ptr[end] != ']' || line.ptr[end + 1] != '(')
		return false;
	target = end + 2;
	while (target < line.size && line.ptr[target] != ')' && !is_blank(line.ptr[target]) &&
	       line.ptr[target] != '(')
		target++;
	if (target >= line.size || line.ptr[target] != ')')
		return false;
	add_words(r, rt_str_at(line.ptr + text, end - text));
	r->at = target + 1;
	return true;
}

static void
read_line(reader *r)
{
	r->at = r->ends[0] = r->ends[1] = 0;
	r->has_no_end[0] = r->has_no_end[1] = false;
	while (r->at < r->line.size) {
		const char *p = r->line.ptr + r->at;
		size_t left = r->line.size - r->at;
		bool is_read = false;

		if (*p == '`') {
			read_code(r);
			is_read = true;
		} else if (*p == '*') {
			is_read = read_pair(r);
		} else if (*p == '[' || (*p == '!' && left > 1 && p[1] == '[')) {
			is_read = read_link(r);
		}
		if (!is_read) {
			size_t size = *p == '*' ? run_at(r->line, r->at, '*') : 1;

			add_words(r, rt_str_at(p, size));
			r->at += size;
		}
	}
}

/* Without the signs of quotes and of a heading. */
static rt_str
without_signs(rt_str line)
{
	size_t signs;

	while (line.size > 0 && line.ptr[0] == '>')
		line = rt_str_trim(rt_str_skip(line, 1));
	signs = run_at(line, 0, '#');
	if (signs > 0 && signs <= 6 && signs < line.size && line.ptr[signs] == ' ')
		line = rt_str_trim(rt_str_skip(line, signs));
	return line;
}

static bool
is_fence(rt_str line)
{
	return rt_str_starts(line, RT_STR("```")) || rt_str_starts(line, RT_STR("~~~"));
}

/* "|---|:-:|" */
static bool
is_below_heads(rt_str line)
{
	bool has_dash = false, has_bar = false;

	for (size_t i = 0; i < line.size; i++) {
		char c = line.ptr[i];

		has_dash = has_dash || c == '-';
		has_bar = has_bar || c == '|';
		if (c != '-' && c != '|' && c != ':' && c != ' ')
			return false;
	}
	return has_dash && has_bar;
}

/* A line of code may begin and end a block on the same line. */
static bool
is_fence_alone(rt_str line)
{
	return is_fence(line) && rt_str_find(line, RT_STR("`"), run_at(line, 0, line.ptr[0])) == SIZE_MAX;
}

void
rt_plain_add(rt_buf *buf, rt_str text)
{
	reader r = {.buf = buf, .begin = buf->size};
	bool is_code = false;

	while (rt_str_split(&text, '\n', &r.line)) {
		r.line = rt_str_trim(r.line);
		if (is_fence_alone(r.line)) {
			is_code = !is_code;
			continue;
		}
		if (!is_code && is_below_heads(r.line))
			continue;
		add_words(&r, RT_STR(" "));
		if (!is_code)
			r.line = without_signs(r.line);
		if (is_code)
			add_words(&r, r.line);
		else
			read_line(&r);
	}
	while (buf->size > r.begin && buf->ptr[buf->size - 1] == ' ')
		buf->ptr[--buf->size] = 0;
}

void
rt_plain_add_entry(rt_buf *buf, rt_str role, rt_str text)
{
	reader r = {.buf = buf, .begin = buf->size};
	size_t begin = buf->size;

	if (!rt_str_is(role, "toolResult") && !rt_str_eq_nocase(role, RT_STR("tool")))
		rt_plain_add(buf, text);
	if (buf->size == begin) /* it is of a tool, or has signs only */
		add_words(&r, rt_str_trim(text));
}
