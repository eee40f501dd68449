/* SPDX-License-Identifier: MIT
 *
 * Where the pieces of a text end. OpenAI publishes regular expressions, whose alternatives are
 * tried in order at the end of the last piece; below is a function for each. L, N and M are
 * Unicode's letters, numbers and marks; s is its white space (with U+0085, without U+FEFF).
 *
 *            cl100k                                o200k
 *   word     an apostrophe and s t d m ll ve re    (any sign, no line end)? capitals* smalls+
 *            (any sign, no line end)? L+           the same with capitals+ smalls*,
 *                                                  and 's 't 'd 'm 'll 've 're at its end
 *   number   N, three at most                      the same
 *   signs    blank? (not s L N)+ line ends*        the same, also slashes among the line ends
 *   space    s+ up to the end of the text          -
 *            s* up to the last line end in it      the same
 *            s+ but for the last one before        the same
 *            a character that is not s; a single s
 *
 * In a word of o200k, capitals are Lu and Lt, smalls are Ll, and letters without case (Lm, Lo)
 * and M are both: capitals* matches as many as it can and gives back until smalls+ matches one.
 * Without a small letter after them, that is up to the last one that is both. */
#include "llm/tokens.h"

#include <utf8proc.h>

enum {
	CAPITAL = 1 << 0,
	SMALL = 1 << 1,
	BOTH = 1 << 2, /* a letter without case */
	MARK = 1 << 3,
	NUMBER = 1 << 4,
	LINE_END = 1 << 5, /* CR, LF */
	SPACE = 1 << 6,    /* the other white space */
	SIGN = 1 << 7,     /* everything else */

	LETTER = CAPITAL | SMALL | BOTH,
	CAPITALS = CAPITAL | BOTH | MARK,
	SMALLS = SMALL | BOTH | MARK,
	SIGNS = SIGN | MARK,
	WHITE = LINE_END | SPACE
};

enum { NUMBER_MAX = 3 };

/* ---- characters ---- */

static unsigned
kind_of_ascii(unsigned char c)
{
	if (c >= 'a' && c <= 'z')
		return SMALL;
	if (c >= 'A' && c <= 'Z')
		return CAPITAL;
	if (c >= '0' && c <= '9')
		return NUMBER;
	if (c == '\n' || c == '\r')
		return LINE_END;
	return c == ' ' || (c >= '\t' && c <= '\r') ? SPACE : SIGN;
}

static unsigned
kind_of(utf8proc_int32_t c)
{
	switch (utf8proc_category(c)) {
	case UTF8PROC_CATEGORY_LU:
	case UTF8PROC_CATEGORY_LT: return CAPITAL;
	case UTF8PROC_CATEGORY_LL: return SMALL;
	case UTF8PROC_CATEGORY_LM:
	case UTF8PROC_CATEGORY_LO: return BOTH;
	case UTF8PROC_CATEGORY_MN:
	case UTF8PROC_CATEGORY_MC:
	case UTF8PROC_CATEGORY_ME: return MARK;
	case UTF8PROC_CATEGORY_ND:
	case UTF8PROC_CATEGORY_NL:
	case UTF8PROC_CATEGORY_NO: return NUMBER;
	case UTF8PROC_CATEGORY_ZS:
	case UTF8PROC_CATEGORY_ZL:
	case UTF8PROC_CATEGORY_ZP: return SPACE;
	default: return c == 0x85 ? SPACE : SIGN; /* a control that is white space */
	}
}

/* The kind of the character at a byte; 0: the end of the text. */
static unsigned
kind_at(rt_str text, size_t at, size_t *out_end)
{
	const unsigned char *p = (const unsigned char *)text.ptr + at;
	size_t left = text.size - at;
	utf8proc_ssize_t size;
	utf8proc_int32_t c;

	*out_end = at;
	if (left == 0)
		return 0;
	*out_end = at + 1;
	if (*p < 0x80)
		return kind_of_ascii(*p);
	size = utf8proc_iterate(p, left < 4 ? (utf8proc_ssize_t)left : 4, &c);
	if (size <= 0)
		return SIGN;
	*out_end = at + (size_t)size;
	return kind_of(c);
}

/* The end of a run of these kinds; at: there is none. */
static size_t
run_end(rt_str text, size_t at, unsigned kinds)
{
	size_t end;

	while ((kind_at(text, at, &end) & kinds) != 0)
		at = end;
	return at;
}

/* ---- common to both ---- */

/* The end of 's, 't, 'd, 'm, 'll, 've, 're in any case; at: there is none. The old long s is an s
 * in another case. */
static size_t
contraction_end(rt_str text, size_t at)
{
	size_t left = text.size - at;
	char a, b;

	if (left < 2 || text.ptr[at] != '\'')
		return at;
	a = (char)(text.ptr[at + 1] | 0x20); /* maps nothing else to these letters */
	if (a == 's' || a == 't' || a == 'd' || a == 'm')
		return at + 2;
	if (left < 3)
		return at;
	b = (char)(text.ptr[at + 2] | 0x20);
	if ((a == 'l' && b == 'l') || ((a == 'v' || a == 'r') && b == 'e'))
		return at + 3;
	return memcmp(text.ptr + at + 1, "\xC5\xBF", 2) == 0 ? at + 3 : at;
}

static size_t
number_end(rt_str text, size_t at)
{
	size_t end = at;

	for (int count = 0; count < NUMBER_MAX && kind_at(text, at, &end) == NUMBER; count++)
		at = end;
	return at;
}

/* The end of signs, with a blank before and line ends after them; at: there are none. */
static size_t
signs_end(rt_token_cut cut, rt_str text, size_t at)
{
	size_t from = text.ptr[at] == ' ' ? at + 1 : at, end = run_end(text, from, SIGNS);

	if (end == from)
		return at;
	while (end < text.size && (text.ptr[end] == '\r' || text.ptr[end] == '\n' ||
				   (cut == RT_TOKEN_CUT_O200K && text.ptr[end] == '/')))
		end++;
	return end;
}

/* The end of the white space at at. */
static size_t
space_end(rt_token_cut cut, rt_str text, size_t at)
{
	size_t here = at, end, last = at, line_end = at;
	unsigned kind;

	while (((kind = kind_at(text, here, &end)) & WHITE) != 0) {
		last = here;
		here = end;
		if (kind == LINE_END)
			line_end = end;
	}
	if (cut == RT_TOKEN_CUT_CL100K && here == text.size)
		return here;
	if (line_end > at)
		return line_end;
	if (here == text.size || last == at)
		return here;
	return last; /* the last one belongs to the next piece */
}

/* ---- words ---- */

static size_t
cl100k_word_end(rt_str text, size_t at)
{
	size_t next, end = contraction_end(text, at);
	unsigned kind;

	if (end > at)
		return end;
	kind = kind_at(text, at, &next);
	if ((kind & LETTER) != 0)
		return run_end(text, next, LETTER);
	if ((kind & (LINE_END | NUMBER)) != 0)
		return at;
	end = run_end(text, next, LETTER);
	return end > next ? end : at;
}

/* The end of capitals* smalls+; at: there are none. */
static size_t
small_word_end(rt_str text, size_t at)
{
	size_t here = at, end, both = at;
	unsigned kind;

	while (((kind = kind_at(text, here, &end)) & CAPITALS) != 0) {
		here = end;
		if (kind != CAPITAL)
			both = end;
	}
	return kind == SMALL ? run_end(text, here, SMALLS) : both;
}

static size_t
o200k_word_end(rt_str text, size_t at)
{
	size_t next, end = at;
	unsigned kind = kind_at(text, at, &next);
	bool leads = (kind & (LINE_END | NUMBER | LETTER)) == 0; /* the sign before a word */

	if (leads && (end = small_word_end(text, next)) == next)
		end = at;
	if (end == at)
		end = small_word_end(text, at);
	if (end == at && leads && (end = run_end(text, next, CAPITALS)) == next)
		end = at;
	if (end == at)
		end = run_end(text, at, CAPITALS);
	return end == at ? at : contraction_end(text, end);
}

/* ---- all ---- */

size_t
rt_token_piece_end(rt_token_cut cut, rt_str text, size_t at)
{
	size_t end;

	RT_ASSERT(at < text.size);
	end = cut == RT_TOKEN_CUT_CL100K ? cl100k_word_end(text, at) : o200k_word_end(text, at);
	if (end == at)
		end = number_end(text, at);
	if (end == at)
		end = signs_end(cut, text, at);
	if (end == at)
		end = space_end(cut, text, at);
	RT_ASSERT(end > at);
	return end;
}
