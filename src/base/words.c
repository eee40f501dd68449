/* SPDX-License-Identifier: MIT */
#include "base/words.h"

/* ---- characters ---- */

uint32_t
rt_word_char(rt_str s, size_t *at)
{
	const unsigned char *p = (const unsigned char *)s.ptr + *at;
	size_t left = s.size - *at;

	if (p[0] >= 0xF0 && left >= 4) {
		*at += 4;
		return (p[0] & 7u) << 18 | (p[1] & 0x3Fu) << 12 | (p[2] & 0x3Fu) << 6 |
		       (p[3] & 0x3Fu);
	}
	if (p[0] >= 0xE0 && p[0] < 0xF0 && left >= 3) {
		*at += 3;
		return (p[0] & 15u) << 12 | (p[1] & 0x3Fu) << 6 | (p[2] & 0x3Fu);
	}
	if (p[0] >= 0xC0 && p[0] < 0xE0 && left >= 2) {
		*at += 2;
		return (p[0] & 31u) << 6 | (p[1] & 0x3Fu);
	}
	*at += 1;
	return p[0];
}

/* U+00C0 to U+024F and U+1E00 to U+1EFF in lower case and without accents; ".": not a letter with an
 * accent. From the decompositions of the Unicode Character Database, and the letters with a stroke. */
static const char latin[] =
		"aaaaaa.ceeeeiiii.nooooo.ouuuuy..aaaaaa.ceeeeiiii.nooooo.ouuuuy.y"
		"aaaaaaccccccccddddeeeeeeeeeegggggggghhhhiiiiiiiiii..jjkk.llllll."
		".llnnnnnn...oooooo..rrrrrrssssssssttttttuuuuuuuuuuuuwwyyyzzzzzz."
		"................................oo.............uu..............."
		".............aaiioouuuuuuuuuu.aaaa....ggkkoooo..j...gg..nnaa...."
		"aaaaeeeeiiiioooorrrruuuusstt..hh......aaeeooooooooyy............"
		"................",
	latin_additional[] =
		"aabbbbbbccddddddddddeeeeeeeeeeffgghhhhhhhhhhiiiikkkkkkllllllllmm"
		"mmmmnnnnnnnnoooooooopppprrrrrrrrssssssssssttttttttuuuuuuuuuuvvvv"
		"wwwwwwwwwwxxxxyyzzzzzzhtwy......aaaaaaaaaaaaaaaaaaaaaaaaeeeeeeee"
		"eeeeeeeeiiiioooooooooooooooooooooooouuuuuuuuuuuuuuyyyyyyyy......";

static bool
is_in(uint32_t c, uint32_t from, uint32_t to)
{
	return c >= from && c <= to;
}

uint32_t
rt_word_fold(uint32_t c)
{
	if (c < 0x80)
		return is_in(c, 'A', 'Z') ? c + 32 : c;
	if (is_in(c, 0xC0, 0x24F) && latin[c - 0xC0] != '.')
		return (uint32_t)(unsigned char)latin[c - 0xC0];
	if (is_in(c, 0x1E00, 0x1EFF) && latin_additional[c - 0x1E00] != '.')
		return (uint32_t)(unsigned char)latin_additional[c - 0x1E00];
	if (is_in(c, 0xC0, 0xDE) || is_in(c, 0x391, 0x3AB) || is_in(c, 0x410, 0x42F))
		return c == 0xD7 || c == 0x3A2 ? c : c + 32;
	if (is_in(c, 0x100, 0x137) || is_in(c, 0x14A, 0x177) || is_in(c, 0x460, 0x481) ||
	    is_in(c, 0x48A, 0x4BF) || is_in(c, 0x4D0, 0x527))
		return c | 1; /* the capital has the even number */
	if (c == 0x13F || c == 0x141 || (is_in(c, 0x4C1, 0x4CD) && c % 2 == 1))
		return c + 1;
	if (is_in(c, 0x400, 0x40F))
		return c + 80;
	if (is_in(c, 0xFF01, 0xFF5E)) /* full-width ASCII */
		return rt_word_fold(c - 0xFEE0);
	switch (c) {
	case 0x386: return 0x3AC;
	case 0x388:
	case 0x389:
	case 0x38A: return c + 37;
	case 0x38C: return 0x3CC;
	case 0x38E:
	case 0x38F: return c + 63;
	case 0x3C2: return 0x3C3; /* the final sigma */
	case 0x4C0: return 0x4CF;
	default: return c;
	}
}

static bool
is_mark(uint32_t c)
{
	return is_in(c, 0x300, 0x36F);
}

uint32_t
rt_word_next(rt_str s, size_t *at)
{
	unsigned char first = (unsigned char)s.ptr[*at];
	uint32_t c;

	if (first < 0x80) { /* most often */
		++*at;
		c = first >= 'A' && first <= 'Z' ? first + 32u : first;
	} else {
		c = rt_word_fold(rt_word_char(s, at));
	}
	while (*at < s.size && (unsigned char)s.ptr[*at] >= 0xCC && (unsigned char)s.ptr[*at] <= 0xCD) {
		size_t next = *at;

		if (!is_mark(rt_word_char(s, &next)))
			break;
		*at = next;
	}
	return c;
}

const char *
rt_word_ligature(uint32_t c)
{
	static const char *const letters[] = {"ff", "fi", "fl", "ffi", "ffl", "st", "st"};

	return is_in(c, 0xFB00, 0xFB06) ? letters[c - 0xFB00] : NULL;
}

bool
rt_word_is_letter(uint32_t c)
{
	if (c < 0x80)
		return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z');
	return c > 0xBF && c != 0xD7 && c != 0xF7 && !(c >= 0x2000 && c <= 0x206F) &&
	       !(c >= 0x3000 && c <= 0x3003) && !(c >= 0x3008 && c <= 0x3011) &&
	       !(c >= 0xFF00 && c <= 0xFF0F) && !(c >= 0xFF1A && c <= 0xFF20);
}

bool
rt_word_is_dense(uint32_t c)
{
	/* Thai, Lao; Myanmar; Khmer; kana to CJK ideographs; Yi; Hangul; compatibility; half-width kana;
	 * the supplementary ideographs */
	return c >= 0xE00 && (is_in(c, 0xE00, 0xEFF) || is_in(c, 0x1000, 0x109F) || is_in(c, 0x1780, 0x17FF) ||
			      is_in(c, 0x3040, 0x9FFF) || is_in(c, 0xA000, 0xA4CF) || is_in(c, 0xAC00, 0xD7AF) ||
			      is_in(c, 0xF900, 0xFAFF) || is_in(c, 0xFF66, 0xFF9F) || is_in(c, 0x20000, 0x3FFFF));
}

/* ---- tokens ---- */

static void
add_char(rt_token *t, uint32_t c)
{
	char *p = t->text + t->size;

	if (t->size + 4 > RT_TOKEN_MAX)
		return;
	if (c < 0x80) {
		*p = (char)c;
		t->size++;
	} else if (c < 0x800) {
		p[0] = (char)(0xC0 | c >> 6);
		p[1] = (char)(0x80 | (c & 0x3F));
		t->size += 2;
	} else if (c < 0x10000) {
		p[0] = (char)(0xE0 | c >> 12);
		p[1] = (char)(0x80 | (c >> 6 & 0x3F));
		p[2] = (char)(0x80 | (c & 0x3F));
		t->size += 3;
	} else {
		p[0] = (char)(0xF0 | (c >> 18 & 7));
		p[1] = (char)(0x80 | (c >> 12 & 0x3F));
		p[2] = (char)(0x80 | (c >> 6 & 0x3F));
		p[3] = (char)(0x80 | (c & 0x3F));
		t->size += 4;
	}
}

/* The rest of a word, which is not dense. */
static void
add_word(rt_str text, size_t *at, rt_token *t)
{
	while (*at < text.size) {
		unsigned char low = rt_word_ascii((unsigned char)text.ptr[*at]);
		size_t next = *at;
		uint32_t c;

		if (low != 0) {
			++*at;
			if (t->size < RT_TOKEN_MAX - 4)
				t->text[t->size++] = (char)low;
			continue;
		}
		if ((unsigned char)text.ptr[*at] < 0x80)
			break;
		c = rt_word_next(text, &next);
		if (!rt_word_is_letter(c) || rt_word_is_dense(c))
			break;
		for (const char *p = rt_word_ligature(c); p != NULL && *p != 0; p++)
			add_char(t, (unsigned char)*p);
		if (!is_mark(c) && rt_word_ligature(c) == NULL)
			add_char(t, c);
		*at = next;
	}
}

bool
rt_token_next(rt_str text, size_t *at, rt_token *out)
{
	uint32_t c = 0;
	size_t next = *at;

	for (; *at < text.size; *at = next) {
		if ((unsigned char)text.ptr[*at] < 0x80) {
			if (rt_word_ascii((unsigned char)text.ptr[*at]) != 0)
				break;
			next = *at + 1;
			continue;
		}
		next = *at;
		c = rt_word_next(text, &next);
		if (rt_word_is_letter(c) && !is_mark(c))
			break;
	}
	if (*at >= text.size)
		return false;
	out->size = 0;
	out->from = *at;
	out->is_dense = (unsigned char)text.ptr[*at] >= 0x80 && rt_word_is_dense(c);
	out->is_last = true;
	if (!out->is_dense) {
		add_word(text, at, out);
	} else {
		add_char(out, c);
		*at = out->to = next; /* the next token begins with the second character */
		if (next < text.size && (unsigned char)text.ptr[next] >= 0x80) {
			c = rt_word_next(text, &next);
			if (rt_word_is_dense(c)) {
				add_char(out, c);
				out->is_last = false;
				out->to = next;
			}
		}
		return true;
	}
	out->to = *at;
	return true;
}
