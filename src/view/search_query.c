/* SPDX-License-Identifier: MIT
 *
 * Queries and texts. A word is a run of letters and digits; anything beyond ASCII counts as a
 * letter, except for common blanks and punctuation. */
#include "view/search_impl.h"

enum { SNIPPET = 120, SNIPPET_BEFORE = 40 /* characters */ };

/* ---- characters ---- */

/* The code point at *at, which is advanced past it; an invalid byte counts as one. */
static uint32_t
next_char(rt_str s, size_t *at)
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

/* U+00C0 to U+017F in lower case and without accents; ".": not a letter with an accent. */
static const char latin[] =
		"aaaaaa.ceeeeiiii.nooooo..uuuuy..aaaaaa.ceeeeiiii.nooooo..uuuuy.y"
		"aaaaaaccccccccdd..eeeeeeeeeegggggggghh..iiiiiiiii...jjkk.llllll."
		"...nnnnnn...oooooo..rrrrrrsssssssstttt..uuuuuuuuuuuuwwyyyzzzzzzs";

static bool
is_in(uint32_t c, uint32_t from, uint32_t to)
{
	return c >= from && c <= to;
}

/* The same letter in lower case and without its accent, as the index has it (unicode61 of FTS5). Of
 * other scripts than Latin, Greek and Cyrillic the letter itself. */
static uint32_t
fold(uint32_t c)
{
	if (c < 0x80)
		return is_in(c, 'A', 'Z') ? c + 32 : c;
	if (is_in(c, 0xC0, 0x17F) && latin[c - 0xC0] != '.')
		return (uint32_t)(unsigned char)latin[c - 0xC0];
	if (is_in(c, 0xC0, 0xDE) || is_in(c, 0x391, 0x3AB) || is_in(c, 0x410, 0x42F))
		return c == 0xD7 || c == 0x3A2 ? c : c + 32;
	if (is_in(c, 0x100, 0x137) || is_in(c, 0x14A, 0x177) || is_in(c, 0x460, 0x481) ||
	    is_in(c, 0x48A, 0x4BF) || is_in(c, 0x4D0, 0x527))
		return c | 1; /* the capital has the even number */
	if (c == 0x13F || c == 0x141 || (is_in(c, 0x4C1, 0x4CD) && c % 2 == 1))
		return c + 1;
	if (is_in(c, 0x400, 0x40F))
		return c + 80;
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
is_letter(uint32_t c)
{
	if (c < 0x80)
		return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z');
	return c > 0xBF && c != 0xD7 && c != 0xF7 && !(c >= 0x2000 && c <= 0x206F) &&
	       !(c >= 0x3000 && c <= 0x3003) && !(c >= 0x3008 && c <= 0x3011) &&
	       !(c >= 0xFF00 && c <= 0xFF0F) && !(c >= 0xFF1A && c <= 0xFF20);
}

static bool
is_space(char c)
{
	return c == ' ' || (c >= '\t' && c <= '\r');
}

/* ---- a query ---- */

/* How many words are in it? 2 stands for more. */
static int
words_in(rt_str s)
{
	size_t at = 0;
	bool inside = false;
	int count = 0;

	while (at < s.size && count < 2) {
		bool letter = is_letter(next_char(s, &at));

		count += letter && !inside;
		inside = letter;
	}
	return count;
}

/* A quoted text, or the text up to the next blank; *at is advanced past it. */
static rt_str
read_term(rt_str s, size_t *at)
{
	bool quoted = *at < s.size && s.ptr[*at] == '"';
	size_t from = *at + quoted, to = from;

	while (to < s.size && (quoted ? s.ptr[to] != '"' : !is_space(s.ptr[to])))
		to++;
	*at = to + (quoted && to < s.size);
	return rt_str_at(s.ptr + from, to - from);
}

static void
add_term(rt_query *q, rt_str text, bool is_not)
{
	int words = words_in(text);
	rt_query_term *term;

	if (text.size == 0 || q->count == RT_QUERY_TERMS_MAX)
		return;
	term = &q->terms[q->count++];
	memset(term, 0, sizeof(*term));
	term->text = text;
	term->is_not = is_not;
	term->kind = words == 0 ? RT_TERM_LITERAL : words == 1 ? RT_TERM_WORD : RT_TERM_PHRASE;
}

/* The time after a prefix at *at, which is advanced past it; false: there is no such prefix. */
static bool
read_moment(rt_query *q, rt_str s, size_t *at, rt_str prefix, int64_t *out_us)
{
	size_t from = *at + prefix.size;
	rt_moment moment;
	rt_str text;

	if (from >= s.size || is_space(s.ptr[from]) ||
	    !rt_str_eq_nocase(rt_str_at(s.ptr + *at, prefix.size), prefix))
		return false;
	text = read_term(s, &from);
	if (rt_moment_parse(text, &moment))
		*out_us = moment.us;
	else if (q->not_time.ptr == NULL)
		q->not_time = text;
	*at = from;
	return true;
}

rt_query
rt_query_parse(rt_str s)
{
	rt_query q;
	size_t at = 0, i;
	rt_query_term *last = NULL;
	bool quoted;

	memset(&q, 0, sizeof(q));
	q.from_us = INT64_MIN;
	q.to_us = INT64_MAX;
	while (at < s.size) {
		bool is_not = false;

		if (is_space(s.ptr[at])) {
			at++;
			continue;
		}
		if ((s.ptr[at] == '!' || s.ptr[at] == '-') && at + 1 < s.size &&
		    !is_space(s.ptr[at + 1])) {
			is_not = true;
			at++;
		}
		if (!is_not && s.size - at > 5 && !is_space(s.ptr[at + 5]) &&
		    rt_str_eq_nocase(rt_str_at(s.ptr + at, 5), RT_STR("role:"))) {
			at += 5;
			q.role = read_term(s, &at);
			continue;
		}
		if (!is_not && (read_moment(&q, s, &at, RT_STR("after:"), &q.from_us) ||
				read_moment(&q, s, &at, RT_STR("before:"), &q.to_us))) {
			q.has_time = true;
			continue;
		}
		quoted = s.ptr[at] == '"';
		i = q.count;
		add_term(&q, read_term(s, &at), is_not);
		last = q.count > i && !quoted && !is_not ? &q.terms[i] : NULL;
	}
	if (last != NULL && last->kind == RT_TERM_WORD)
		last->is_prefix = true;
	return q;
}

/* ---- matching ---- */

/* Are the characters of word (up to word_end) at *at? */
static bool
same_chars(rt_str text, size_t *at, rt_str word, size_t from, size_t word_end)
{
	size_t here = *at;

	while (from < word_end) {
		if (here == text.size || fold(next_char(text, &here)) != fold(next_char(word, &from)))
			return false;
	}
	*at = here;
	return true;
}

/* Are the words of a term in text from at on? at is the beginning of a word. */
static bool
words_here(rt_str text, size_t at, const rt_query_term *term, size_t *out_end)
{
	size_t from = 0, word_end, probe;
	bool first = true;

	for (;;) {
		while (from < term->text.size) { /* to the next word of the term */
			probe = from;
			if (is_letter(next_char(term->text, &probe)))
				break;
			from = probe;
		}
		if (from == term->text.size)
			break;
		for (word_end = from; word_end < term->text.size; word_end = probe) {
			probe = word_end;
			if (!is_letter(next_char(term->text, &probe)))
				break;
		}
		while (!first && at < text.size) { /* to the next word of the text */
			probe = at;
			if (is_letter(next_char(text, &probe)))
				break;
			at = probe;
		}
		if (!same_chars(text, &at, term->text, from, word_end))
			return false;
		probe = at;
		if (!term->is_prefix && at < text.size && is_letter(next_char(text, &probe)))
			return false;
		from = word_end;
		first = false;
	}
	*out_end = at;
	return true;
}

size_t
rt_query_term_find(rt_str text, const rt_query_term *term, bool substring, size_t from,
		   size_t *out_size)
{
	bool anywhere = substring || term->kind == RT_TERM_LITERAL, inside = false;
	size_t at = from, next = 0, end;
	/* outside the European alphabets there is no folding: search for its bytes */
	int first = anywhere && next_char(term->text, &next) >= 0x530
			    ? (unsigned char)term->text.ptr[0]
			    : -1;

	if (from > 0) { /* in the middle of a word? */
		for (at = from - 1; at > 0 && ((unsigned char)text.ptr[at] & 0xC0) == 0x80; at--)
			;
		inside = is_letter(next_char(text, &at));
		at = from;
	}
	for (; at < text.size; at = next) {
		bool letter;

		if (first >= 0) {
			const char *hit = memchr(text.ptr + at, first, text.size - at);

			if (hit == NULL)
				return SIZE_MAX;
			at = (size_t)(hit - text.ptr);
		}
		next = at;
		letter = is_letter(next_char(text, &next));
		end = at;
		if (anywhere ? same_chars(text, &end, term->text, 0, term->text.size)
			     : letter && !inside && words_here(text, at, term, &end)) {
			*out_size = end - at;
			return at;
		}
		inside = letter;
	}
	return SIZE_MAX;
}

bool
rt_query_matches(const rt_query *q, rt_str text)
{
	size_t i, size;

	for (i = 0; i < q->count; i++)
		if ((rt_query_term_find(text, &q->terms[i], q->substring && !q->terms[i].is_not, 0,
					&size) == SIZE_MAX) != q->terms[i].is_not)
			return false;
	return true;
}

/* ---- a snippet ---- */

/* The first match of any term at or after from. */
static size_t
first_match(const rt_query *q, rt_str text, size_t from, size_t *out_size)
{
	size_t best = SIZE_MAX, i;

	for (i = 0; i < q->count; i++) {
		size_t size, at;

		if (q->terms[i].is_not)
			continue;
		at = rt_query_term_find(text, &q->terms[i], q->substring, from, &size);
		if (at != SIZE_MAX && (at < best || (at == best && size > *out_size))) {
			best = at;
			*out_size = size;
		}
	}
	return best;
}

static void
add_shown(rt_buf *out, rt_str s)
{
	size_t at = 0;

	while (at < s.size) {
		size_t from = at;
		uint32_t c = next_char(s, &at);

		if (c < 0x20 || (c >= 0x7F && c < 0xA0))
			rt_buf_add_byte(out, ' ');
		else
			rt_buf_add(out, s.ptr + from, at - from);
	}
}

void
rt_query_add_snippet(rt_buf *buf, const rt_query *q, rt_str text)
{
	size_t size = 0, match = first_match(q, text, 0, &size), from = 0, to, back, i;
	rt_str shown;

	if (match != SIZE_MAX) {
		for (from = match, back = 0; from > 0 && back < SNIPPET_BEFORE; back++) {
			from--;
			while (from > 0 && ((unsigned char)text.ptr[from] & 0xC0) == 0x80)
				from--;
		}
	}
	for (to = from, i = 0; to < text.size && i < SNIPPET; i++)
		(void)next_char(text, &to);
	shown = rt_str_at(text.ptr, to);
	if (from > 0)
		rt_buf_add_c(buf, "…");
	for (i = from; i < to;) {
		if (match == SIZE_MAX || match >= to) {
			add_shown(buf, rt_str_at(shown.ptr + i, to - i));
			break;
		}
		add_shown(buf, rt_str_at(shown.ptr + i, match - i));
		if (size > to - match)
			size = to - match;
		rt_buf_add_byte(buf, '\001');
		add_shown(buf, rt_str_at(shown.ptr + match, size));
		rt_buf_add_byte(buf, '\002');
		i = match + (size > 0 ? size : 1);
		match = i < to ? first_match(q, shown, i, &size) : SIZE_MAX;
	}
	if (to < text.size)
		rt_buf_add_c(buf, "…");
}
