/* SPDX-License-Identifier: MIT
 *
 * Building blocks of the patterns of secrets: character sets, spans, and a summary of the
 * characters in a value. */
#ifndef RT_FORMATS_SECRET_SCAN_H
#define RT_FORMATS_SECRET_SCAN_H

#include "formats/secret.h"

enum {
	LOOK_AHEAD_MAX = 512, /* bytes examined before a match is certain */
	NAME_MAX_SIZE = 64,
	DISTINCT_MIN = 5 /* different bytes of a secret; "xxxxxxxxxxxx" has one */
};

/* ---- sets of characters ---- */

#define DIGITS "0-9"
#define HEX "0-9A-Fa-f"
#define CAPITALS "0-9A-Z"
#define ALNUM "0-9A-Za-z"
#define WORDS "0-9A-Za-z_-"
#define DOTTED "." WORDS
#define BASE64 "+/=" ALNUM
#define TOKEN "+/=~" DOTTED /* of tokens in headers */
#define QUOTES "\"'`"
#define BLANKS " \t"

/* Is c in the set? "a-z" is a range; a single "-" comes last. */
static inline bool
is(char c, const char *set)
{
	for (; *set != '\0'; set++) {
		if (c == *set)
			return true;
		if (set[1] == '-' && set[2] != '\0') {
			if (c > set[0] && c <= set[2])
				return true;
			set += 2;
		}
	}
	return false;
}

static inline bool
is_at(rt_str text, size_t at, const char *set)
{
	return at < text.size && is(text.ptr[at], set);
}

/* The end of the run of characters of a set from `at` on. */
static inline size_t
span(rt_str text, size_t at, const char *set)
{
	while (is_at(text, at, set))
		at++;
	return at;
}

/* The start of the run that ends at `at`, at most max bytes. */
static inline size_t
span_back(rt_str text, size_t at, const char *set, size_t max)
{
	size_t from = at;

	while (from > 0 && at - from < max && is(text.ptr[from - 1], set))
		from--;
	return from;
}

/* The first byte from `at` on that is a control character, one of stops, or (unless spaces are
 * allowed) a space; at most max bytes further. */
static inline size_t
span_until(rt_str text, size_t at, size_t max, bool has_spaces, const char *stops)
{
	size_t end = at;

	while (end < text.size && end - at < max &&
	       (unsigned char)text.ptr[end] >= (has_spaces ? ' ' : ' ' + 1) &&
	       strchr(stops, text.ptr[end]) == NULL)
		end++;
	return end;
}

/* ---- words ---- */

static inline bool
starts(rt_str text, size_t at, const char *word)
{
	size_t size = strlen(word);

	return text.size - at >= size && memcmp(text.ptr + at, word, size) == 0;
}

static inline bool
starts_nocase(rt_str text, size_t at, const char *word)
{
	size_t size = strlen(word);

	return text.size - at >= size &&
	       rt_str_eq_nocase(rt_str_at(text.ptr + at, size), rt_str_of(word));
}

static inline bool
has(rt_str text, const char *word)
{
	return rt_str_find(text, rt_str_of(word), 0) != SIZE_MAX;
}

/* Does s end with one of the words, in any case? */
static inline bool
ends_with(rt_str s, const char *words)
{
	rt_str word;

	while (rt_next_word(&words, &word))
		if (s.size >= word.size &&
		    rt_str_eq_nocase(rt_str_at(s.ptr + s.size - word.size, word.size), word))
			return true;
	return false;
}

/* text, ended at most LOOK_AHEAD_MAX bytes after `from`. */
static inline rt_str
cut(rt_str text, size_t from)
{
	return rt_str_at(text.ptr,
			 text.size - from > LOOK_AHEAD_MAX ? from + LOOK_AHEAD_MAX : text.size);
}

static inline rt_str
slice(rt_str text, size_t from, size_t to)
{
	return rt_str_at(text.ptr + from, to - from);
}

/* Character classes of the first bytes of a value. */
typedef struct rt_secret_mix {
	bool has_digit, has_upper, has_letter, has_sign;
	size_t distinct, run; /* different bytes; the longest run of letters and digits */
} rt_secret_mix;

rt_secret_mix rt_secret_mix_of(rt_str s);

/* Does a secret of the kind start at byte `at`? Keys with a prefix and JWTs; the URL of a webhook;
 * a private key in its frame. */
bool rt_secret_is_token(rt_str text, size_t at, rt_secret *out);
bool rt_secret_is_hook(rt_str text, size_t at, rt_secret *out);
bool rt_secret_is_private_key(rt_str text, size_t at, rt_secret *out);

#endif
