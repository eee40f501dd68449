/* SPDX-License-Identifier: MIT
 *
 * Queries and texts. */
#include <regex.h>
#include <stdlib.h> /* strtoul */

#include "base/words.h"
#include "view/search_impl.h"

enum {
	SNIPPET = 120, SNIPPET_BEFORE = 40, /* characters */
	SNIPPET_WORD = 24, /* bytes: the longest part of a word that is left out */
	NEAR_WORDS = 8,                     /* of one term; further ones are ignored */
	NEAR_DISTANCE = 10,
	REGEX_MAX = 200,       /* bytes of a regular expression */
	REGEX_REPEATS = 1000,  /* product of its counts {n}: the memory that it may need */
	REGEX_LINE_MAX = 1 << 20, /* bytes of a line; the rest of a longer one is not searched */
	COUNTED = 30,          /* occurrences of a term */
	COUNTED_BYTES = 64 << 10
};

static bool
is_space(char c)
{
	return c == ' ' || (c >= '\t' && c <= '\r');
}

/* ---- words ---- */

enum { NOT_LETTER, LETTER, DENSE };

/* The class of the character at *at, which is advanced past it. */
static int
next_class(rt_str s, size_t *at)
{
	uint32_t c = rt_word_next(s, at);

	return !rt_word_is_letter(c) ? NOT_LETTER : rt_word_is_dense(c) ? DENSE : LETTER;
}

static int
class_at(rt_str s, size_t at)
{
	return at < s.size ? next_class(s, &at) : NOT_LETTER;
}

/* The next word at or after *at, which becomes its beginning; its class. NOT_LETTER: none. */
static int
find_word(rt_str s, size_t *at, size_t *out_end)
{
	int class = NOT_LETTER;
	size_t next = *at;

	while (next < s.size && class == NOT_LETTER) {
		*at = next;
		class = next_class(s, &next);
	}
	while (class != NOT_LETTER && next < s.size && class_at(s, next) == class)
		(void)next_class(s, &next);
	*out_end = next;
	return class;
}

/* ---- a query ---- */

/* How many words are in it? 2 stands for more. */
static int
words_in(rt_str s)
{
	int count = 0;

	for (size_t at = 0, end; count < 2 && find_word(s, &at, &end) != NOT_LETTER; at = end)
		count++;
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
	if (words == 1 && text.size > 1 && text.ptr[text.size - 1] == '*') {
		term->is_prefix = true;
		text.size--;
	}
	term->text = text;
	term->is_not = is_not;
	term->kind = words == 0 ? RT_TERM_LITERAL : words == 1 ? RT_TERM_WORD : RT_TERM_PHRASE;
}

/* NEAR(a b, 5) at *at, which is advanced past it. */
static bool
read_near(rt_query *q, rt_str s, size_t *at, bool is_not)
{
	const rt_str begin = RT_STR("NEAR(");
	rt_str inner = rt_str_skip(s, *at + begin.size <= s.size ? *at + begin.size : s.size);
	const char *end = memchr(inner.ptr, ')', inner.size), *comma;
	rt_query_term *term;

	if (!rt_str_starts(rt_str_skip(s, *at), begin) || end == NULL || q->count == RT_QUERY_TERMS_MAX)
		return false;
	*at = (size_t)(end + 1 - s.ptr);
	inner.size = (size_t)(end - inner.ptr);
	comma = memchr(inner.ptr, ',', inner.size);
	term = &q->terms[q->count++];
	*term = (rt_query_term){.kind = RT_TERM_NEAR, .text = inner, .is_not = is_not, .distance = NEAR_DISTANCE};
	if (comma != NULL) {
		term->text.size = (size_t)(comma - inner.ptr);
		term->distance = (unsigned)strtoul(comma + 1, NULL, 10);
	}
	if (words_in(term->text) < 2) /* nothing to be near to */
		term->kind = words_in(term->text) == 0 ? RT_TERM_LITERAL : RT_TERM_WORD;
	return true;
}

/* /colou?r/ at *at, which is advanced past it: to the last slash before a blank. */
static bool
read_regex(rt_query *q, rt_str s, size_t *at, bool is_not)
{
	size_t to = *at + 1, end;

	if (s.ptr[*at] != '/' || q->count == RT_QUERY_TERMS_MAX)
		return false;
	for (end = 0; to < s.size && s.ptr[to] != '\n'; to++)
		if (s.ptr[to] == '/' && s.ptr[to - 1] != '\\' &&
		    (to + 1 == s.size || is_space(s.ptr[to + 1]))) {
			end = to;
			break;
		}
	if (end <= *at + 1)
		return false;
	q->terms[q->count++] = (rt_query_term){
		.kind = RT_TERM_REGEX, .text = rt_str_at(s.ptr + *at + 1, end - *at - 1), .is_not = is_not};
	*at = end + 1;
	return true;
}

static const rt_str filter_names[RT_FILTER_COUNT] = {
	[RT_FILTER_ROLE] = RT_STR_INIT("role:"),   [RT_FILTER_IN] = RT_STR_INIT("in:"),
	[RT_FILTER_TAG] = RT_STR_INIT("tag:"),     [RT_FILTER_MODEL] = RT_STR_INIT("model:"),
	[RT_FILTER_LABEL] = RT_STR_INIT("label:"), [RT_FILTER_EDITED] = RT_STR_INIT("edited:"),
	[RT_FILTER_PAST] = RT_STR_INIT("past:"),   [RT_FILTER_PROGRAM] = RT_STR_INIT("program:"),
};

/* A filter at *at, which is advanced past it. */
static bool
read_filter(rt_query *q, rt_str s, size_t *at)
{
	for (size_t i = 0; i < RT_FILTER_COUNT; i++) {
		size_t from = *at + filter_names[i].size;

		if (from >= s.size || is_space(s.ptr[from]) ||
		    !rt_str_eq_nocase(rt_str_at(s.ptr + *at, filter_names[i].size), filter_names[i]))
			continue;
		*at = from;
		q->filters[i] = read_term(s, at);
		q->has_filter = q->has_filter || q->filters[i].size > 0;
		return true;
	}
	return false;
}

/* The time after a prefix at *at, which is advanced past it; false: there is no such prefix. */
static bool
read_moment(rt_query *q, rt_str s, size_t *at, int64_t now_us, rt_zone_fn zone, rt_str prefix,
	    int64_t *out_us)
{
	size_t from = *at + prefix.size;
	rt_moment moment;
	rt_str text;

	if (from >= s.size || is_space(s.ptr[from]) ||
	    !rt_str_eq_nocase(rt_str_at(s.ptr + *at, prefix.size), prefix))
		return false;
	text = read_term(s, &from);
	if (rt_str_eq_nocase(text, RT_STR("last")) && from < s.size && s.ptr[from] == ' ') {
		from++; /* after:last week: a shell has removed the quotes */
		text.size += 1 + read_term(s, &from).size;
	}
	if (rt_moment_parse_relative(text, now_us, zone, &moment))
		*out_us = moment.us;
	else if (q->not_time.ptr == NULL)
		q->not_time = text;
	*at = from;
	return true;
}

/* A word like a filter: letters, a colon and a value; not an address ("http://x") or a name ("std::vector"). */
static bool
is_like_filter(rt_str word)
{
	size_t end = 0;

	while (end < word.size && (word.ptr[end] | 32) >= 'a' && (word.ptr[end] | 32) <= 'z')
		end++;
	return end > 1 && end + 1 < word.size && word.ptr[end] == ':' &&
	       strchr(":/\\", word.ptr[end + 1]) == NULL;
}

rt_query
rt_query_parse(rt_str s, int64_t now_us, rt_zone_fn zone)
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
		if (!is_not && read_filter(&q, s, &at))
			continue;
		if (read_near(&q, s, &at, is_not) || read_regex(&q, s, &at, is_not)) {
			last = NULL;
			continue;
		}
		if (!is_not && (read_moment(&q, s, &at, now_us, zone, RT_STR("after:"), &q.from_us) ||
				read_moment(&q, s, &at, now_us, zone, RT_STR("since:"), &q.from_us) ||
				read_moment(&q, s, &at, now_us, zone, RT_STR("before:"), &q.to_us) ||
				read_moment(&q, s, &at, now_us, zone, RT_STR("until:"), &q.to_us))) {
			q.has_time = true;
			continue;
		}
		quoted = s.ptr[at] == '"';
		i = q.count;
		const rt_str word = read_term(s, &at);

		if (!quoted && !is_not && q.not_filter.ptr == NULL && is_like_filter(word))
			q.not_filter = word;
		add_term(&q, word, is_not);
		if (q.count > i)
			q.terms[i].is_plain = !quoted && !is_not;
		last = q.count > i && !quoted && !is_not ? &q.terms[i] : NULL;
	}
	if (last != NULL && last->kind == RT_TERM_WORD)
		last->is_last = last->is_prefix = true;
	return q;
}

void
rt_query_drop_plain(rt_query *q)
{
	size_t kept = 0;

	for (size_t i = 0; i < q->count; i++)
		if (!q->terms[i].is_plain)
			q->terms[kept++] = q->terms[i];
	q->count = kept;
}

/* Can the expression need much memory? Back references, which make a search slow, are refused as well. */
static const char *
regex_problem(rt_str text)
{
	unsigned long repeats = 1;

	if (text.size > REGEX_MAX)
		return "is too long";
	for (size_t i = 0; i < text.size; i++) {
		if (text.ptr[i] == '\\' && i + 1 < text.size && text.ptr[i + 1] >= '0' && text.ptr[i + 1] <= '9')
			return "refers to a group";
		i += text.ptr[i] == '\\';
		if (i < text.size && text.ptr[i] == '{') {
			unsigned long count = 0, number = 0;

			for (size_t j = i + 1; j < text.size && text.ptr[j] != '}'; j++) {
				number = text.ptr[j] >= '0' && text.ptr[j] <= '9' && number < REGEX_REPEATS
						 ? number * 10 + (unsigned long)(text.ptr[j] - '0')
						 : 0;
				count = number > count ? number : count;
			}
			repeats *= count > 0 ? count : 1;
			if (repeats > REGEX_REPEATS)
				return "repeats too often";
		}
	}
	return NULL;
}

static char
lower(char c)
{
	return c >= 'A' && c <= 'Z' ? (char)(c | 32) : c;
}

/* The longest run of ASCII characters that every match of an expression contains: outside of groups and brackets,
 * and not followed by an operator. Empty: none is known. */
static rt_str
find_needle(rt_scope *s, rt_str text)
{
	size_t depth = 0, from = 0, best = 0, size = 0;
	char *copy;

	for (size_t i = 0; i <= text.size; i++) {
		unsigned char c = i < text.size ? (unsigned char)text.ptr[i] : 0;
		size_t end = i;

		if (c != 0 && c < 0x80 && strchr("|()[]{}.*+?^$\\", c) == NULL)
			continue;
		if (depth == 0 && c == '|')
			return RT_STR("");
		if ((c == '*' || c == '+' || c == '?' || c == '{') && end > from)
			end--;
		if (depth == 0 && end > from && end - from > size) {
			best = from;
			size = end - from;
		}
		depth += c == '(';
		depth -= c == ')' && depth > 0;
		i += c == '\\';
		if (c == '[' || c == '{') { /* "[]]", "[[:digit:]]": to be on the safe side */
			const char *close = memchr(text.ptr + i, c == '[' ? ']' : '}', text.size - i);

			if (close == NULL ||
			    (c == '[' && (close <= text.ptr + i + 2 ||
					  memchr(text.ptr + i + 1, '[', (size_t)(close - text.ptr) - i - 1) != NULL)))
				return RT_STR("");
			i = (size_t)(close - text.ptr);
		}
		from = i + 1;
	}
	copy = rt_scope_get(s, size);
	for (size_t i = 0; copy != NULL && i < size; i++)
		copy[i] = lower(text.ptr[best + i]);
	return rt_str_at(copy, copy != NULL ? size : 0);
}

static void
free_regex(void *regex)
{
	regfree(regex);
}

static void
compile_regex(rt_scope *s, rt_query_term *term)
{
	const char *problem = regex_problem(term->text);
	rt_str text = rt_scope_copy(s, term->text);
	regex_t *regex = rt_scope_get(s, sizeof(*regex));
	char words[120];
	int rc;

	if (problem != NULL)
		(void)rt_scope_fail(s, RT_USAGE, "the regular expression /%.*s/ %s",
				    RT_STR_ARG(term->text), problem);
	if (!rt_ok(s))
		return;
	rc = memchr(text.ptr, 0, text.size) != NULL
		     ? REG_BADPAT
		     : regcomp(regex, text.ptr, REG_EXTENDED | REG_ICASE);
	if (rc == 0) {
		rt_scope_defer(s, free_regex, regex);
		term->regex = regex;
		term->needle = find_needle(s, text);
		return;
	}
	(void)regerror(rc, regex, words, sizeof(words));
	(void)rt_scope_fail(
		s, RT_USAGE,
		"the regular expression /%.*s/ is invalid (%s); to search for it as text, put it in double quotes",
		RT_STR_ARG(term->text), words);
}

void
rt_query_prepare(rt_scope *s, rt_query *q)
{
	if (q->not_time.ptr != NULL)
		(void)rt_scope_fail(s, RT_USAGE,
				    "\"%.*s\" is not a date such as after:2026-11-18 or after:7d; to search for it as text, put it in double "
				    "quotes",
				    RT_STR_ARG(q->not_time));
	for (size_t i = RT_FILTER_EDITED; i <= RT_FILTER_PAST; i++)
		if (q->filters[i].size > 0 && !rt_str_is(q->filters[i], "yes") &&
		    !rt_str_is(q->filters[i], "no"))
			(void)rt_scope_fail(s, RT_USAGE, "%.*s must be followed by yes or no, not \"%.*s\"",
					    RT_STR_ARG(filter_names[i]), RT_STR_ARG(q->filters[i]));
	for (size_t i = 0; rt_ok(s) && i < q->count; i++)
		if (q->terms[i].kind == RT_TERM_REGEX)
			compile_regex(s, &q->terms[i]);
}

void
rt_query_explain(rt_scope *s, const rt_query *q)
{
	rt_buf *names = rt_scope_buf(s);
	size_t size = rt_str_find(q->not_filter, RT_STR(":"), 0);

	if (q->not_filter.ptr == NULL)
		return;
	for (size_t i = 0; i < RT_FILTER_COUNT; i++)
		rt_buf_add_f(names, "%.*s ", RT_STR_ARG(filter_names[i]));
	(void)rt_scope_fail(s, RT_USAGE,
			    "there is no filter \"%.*s\", and no text contains it; filters by date: "
			    "after:7d, before:2026-11-25; other filters: %.*s",
			    (int)size, q->not_filter.ptr,
			    RT_STR_ARG(rt_str_trim(rt_scope_str(s, names))));
}

/* ---- matching ---- */

/* The next letter; *more is the rest of a ligature. */
static uint32_t
next_letter(rt_str s, size_t *at, const char **more)
{
	uint32_t c;

	if (**more != 0)
		return (unsigned char)*(*more)++;
	c = rt_word_next(s, at);
	if (rt_word_ligature(c) == NULL)
		return c;
	*more = rt_word_ligature(c) + 1;
	return (unsigned char)(*more)[-1];
}

/* Is the word of a term at *at, which is advanced past it, and does it end there? */
static bool
word_here(rt_str text, size_t *at, rt_str term, size_t from, size_t end, int class, bool is_prefix)
{
	const char *rest = "", *term_rest = "";
	size_t here = *at;

	while (from < end || *term_rest != 0) {
		if ((here == text.size && *rest == 0) ||
		    next_letter(text, &here, &rest) != next_letter(term, &from, &term_rest))
			return false;
	}
	if (!is_prefix && class != DENSE && (*rest != 0 || class_at(text, here) == LETTER))
		return false;
	*at = here;
	return true;
}

/* Are the words of a term in text from at on? at is the beginning of a word. */
static bool
words_here(rt_str text, size_t at, const rt_query_term *term, size_t *out_end)
{
	size_t from = 0, end, next;
	int class;

	for (bool first = true; (class = find_word(term->text, &from, &end)) != NOT_LETTER; first = false) {
		for (next = at; !first && at < text.size && next_class(text, &next) == NOT_LETTER;)
			at = next;
		if (!word_here(text, &at, term->text, from, end, class, term->is_prefix))
			return false;
		from = end;
	}
	*out_end = at;
	return true;
}

/* Can these letters be at this position? ASCII that differs excludes it; the rest is undecided. */
static bool
may_begin(rt_str text, size_t at, rt_str letters)
{
	for (size_t i = 0; i < letters.size && at + i < text.size; i++) {
		unsigned char c = (unsigned char)text.ptr[at + i];

		if (c >= 0x80 || (unsigned char)letters.ptr[i] >= 0x80)
			return true;
		if (rt_word_ascii(c) != rt_word_ascii((unsigned char)letters.ptr[i]))
			return false;
	}
	return true;
}

static size_t
find_words(rt_str text, const rt_query_term *term, size_t from, size_t *out_size)
{
	size_t begin = 0, end, at = from, next;
	int class = find_word(term->text, &begin, &end), before = NOT_LETTER;
	uint32_t first;

	if (class == NOT_LETTER)
		return SIZE_MAX;
	next = begin;
	first = next_letter(term->text, &next, &(const char *){""});
	if (from > 0) { /* in the middle of a word? */
		for (at = from - 1; at > 0 && ((unsigned char)text.ptr[at] & 0xC0) == 0x80; at--)
			;
		before = class_at(text, at);
	}
	const rt_str word = rt_str_at(term->text.ptr + begin, end - begin);

	for (at = from; at < text.size; at = next) {
		unsigned char byte = (unsigned char)text.ptr[at];

		next = at + 1;
		if (byte < 0x80 && (next == text.size || (unsigned char)text.ptr[next] < 0x80)) { /* most often */
			bool is_letter = rt_word_ascii(byte) != 0;

			if (is_letter && before != LETTER && may_begin(text, at, word) &&
			    words_here(text, at, term, &end)) {
				*out_size = end - at;
				return at;
			}
			before = is_letter ? LETTER : NOT_LETTER;
			continue;
		}
		next = at;
		uint32_t c = next_letter(text, &next, &(const char *){""});
		int here = !rt_word_is_letter(c) ? NOT_LETTER : rt_word_is_dense(c) ? DENSE : LETTER;

		if (c == first && (here == DENSE || here != before) && words_here(text, at, term, &end)) {
			*out_size = end - at;
			return at;
		}
		before = here;
	}
	return SIZE_MAX;
}

/* The words of the term, each at its last occurrence: a match if they are close to each other. */
static size_t
find_near(rt_str text, const rt_query_term *term, size_t start, size_t *out_size)
{
	struct {
		size_t from, end; /* in the term */
		size_t at, to;    /* in the text */
		size_t number;    /* which word of the text; 0: not seen yet */
		int class;
	} words[NEAR_WORDS];
	size_t count = 0, seen = 0, number = 0, at = start, end = 0;

	for (size_t from = 0; count < NEAR_WORDS; from = end) {
		int class = find_word(term->text, &from, &end);

		if (class == NOT_LETTER)
			break;
		words[count].from = from;
		words[count].end = end;
		words[count].class = class;
		words[count++].number = 0;
	}
	for (int class; (class = find_word(text, &at, &end)) != NOT_LETTER;) {
		size_t next = at, first = SIZE_MAX, low = SIZE_MAX, last = 0;

		number++;
		for (size_t i = 0; i < count; i++) {
			size_t to = at;

			if (!word_here(text, &to, term->text, words[i].from, words[i].end, words[i].class, false))
				continue;
			seen += words[i].number == 0;
			words[i].at = at;
			words[i].to = to;
			words[i].number = number;
		}
		for (size_t i = 0; seen == count && i < count; i++) {
			first = words[i].at < first ? words[i].at : first;
			low = words[i].number < low ? words[i].number : low;
			last = words[i].to > last ? words[i].to : last;
		}
		if (seen == count && number - low < count + term->distance) {
			*out_size = last - first;
			return first;
		}
		if (class == DENSE)
			(void)next_class(text, &next); /* a word begins at each character */
		at = class == DENSE ? next : end;
	}
	return SIZE_MAX;
}

/* In any case; it is in lower case. */
static bool
has_needle(rt_str text, rt_str needle)
{
	for (size_t at = 0; at + needle.size <= text.size; at++) {
		size_t i = 0;

		while (i < needle.size && lower(text.ptr[at + i]) == needle.ptr[i])
			i++;
		if (i == needle.size)
			return true;
	}
	return false;
}

/* Line by line, because regexec needs memory for the text that it is given. */
static size_t
find_regex(rt_str text, const rt_query_term *term, size_t from, size_t *out_size)
{
	size_t end;

	for (; term->regex != NULL && from < text.size; from = end + 1) {
		const char *feed = memchr(text.ptr + from, '\n', text.size - from);
		rt_str line = rt_str_at(text.ptr + from, feed != NULL ? (size_t)(feed - text.ptr) - from
								      : text.size - from);
		size_t size = line.size < REGEX_LINE_MAX ? line.size : REGEX_LINE_MAX;
		regmatch_t match = {.rm_so = 0, .rm_eo = (regoff_t)size};
		int flags = REG_STARTEND | (from > 0 && text.ptr[from - 1] != '\n' ? REG_NOTBOL : 0) |
			    (size < line.size ? REG_NOTEOL : 0);

		end = from + line.size;
		if (has_needle(line, term->needle) && regexec(term->regex, line.ptr, 1, &match, flags) == 0) {
			*out_size = (size_t)(match.rm_eo - match.rm_so);
			return from + (size_t)match.rm_so;
		}
	}
	return SIZE_MAX;
}

/* The first occurrence of a term in text at or after from, and its size; SIZE_MAX: none. Words as in
 * base/words.h. */
static size_t
find_term(rt_str text, const rt_query_term *term, size_t from, size_t *out_size)
{
	switch (term->kind) {
	case RT_TERM_NEAR: return find_near(text, term, from, out_size);
	case RT_TERM_REGEX: return find_regex(text, term, from, out_size);
	case RT_TERM_LITERAL: *out_size = term->text.size; return rt_str_find(text, term->text, from);
	case RT_TERM_WORD:
	case RT_TERM_PHRASE: break;
	}
	return find_words(text, term, from, out_size);
}

bool
rt_query_matches(const rt_query *q, rt_str text)
{
	size_t i, size;

	for (i = 0; i < q->count; i++)
		if ((find_term(text, &q->terms[i], 0, &size) == SIZE_MAX) != q->terms[i].is_not)
			return false;
	return true;
}

double
rt_query_score(const rt_query *q, rt_str text)
{
	static const double k = 1.2, b = 0.75, usual_bytes = 1000;
	rt_str counted = rt_str_at(text.ptr, text.size < COUNTED_BYTES ? text.size : COUNTED_BYTES);
	double score = 0, length = 1 - b + b * (double)text.size / usual_bytes;

	for (size_t i = 0; i < q->count; i++) {
		unsigned count = 0;
		size_t at = 0, size;

		if (q->terms[i].is_not)
			continue;
		for (; count < COUNTED && (at = find_term(counted, &q->terms[i], at, &size)) != SIZE_MAX;
		     count++)
			at += size > 0 ? size : 1;
		score += count * (k + 1) / (count + k * length);
	}
	return score;
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
		at = find_term(text, &q->terms[i], from, &size);
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
		uint32_t c = rt_word_char(s, &at);

		if (c < 0x20 || (c >= 0x7F && c < 0xA0))
			rt_buf_add_byte(out, ' ');
		else
			rt_buf_add(out, s.ptr + from, at - from);
	}
}

static bool
is_blank(char c)
{
	return c == ' ' || c == '\n' || c == '\t' || c == '\r';
}

/* The beginning of the next word, unless from is one; no further than to, and unchanged if there is none near (scripts
 * without spaces, long words). */
static size_t
word_after(rt_str text, size_t from, size_t to)
{
	if (from == 0 || is_blank(text.ptr[from - 1]))
		return from;
	for (size_t at = from; at < to && at - from < SNIPPET_WORD; at++)
		if (is_blank(text.ptr[at]))
			return at + 1;
	return from;
}

/* The end of the last whole word before to, in the same way. */
static size_t
word_before(rt_str text, size_t to, size_t from)
{
	if (to == text.size || is_blank(text.ptr[to]))
		return to;
	for (size_t at = to; at > from && to - at < SNIPPET_WORD; at--)
		if (is_blank(text.ptr[at - 1]))
			return at - 1;
	return to;
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
		(void)rt_word_char(text, &to);
	from = match != SIZE_MAX ? word_after(text, from, match) : from;
	to = word_before(text, to, match != SIZE_MAX ? match + size : from);
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
