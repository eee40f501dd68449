/* SPDX-License-Identifier: MIT
 *
 * Words: how texts are cut into words, for the search index and for matching texts with a query.
 *
 * A word is a run of letters and digits; anything beyond ASCII counts as a letter, except for common
 * blanks and punctuation. Case and accents of European alphabets are ignored, combining marks too;
 * full-width letters and ligatures ("ﬁ") count as those that they stand for.
 * Chinese, Japanese, Korean, Thai and other scripts have no spaces between words: there each pair
 * of adjacent characters is a token of the index ("abc" gives "ab", "bc", "c"), so that any part of
 * a text is found by its pairs. Pure functions. */
#ifndef RT_BASE_WORDS_H
#define RT_BASE_WORDS_H

#include "base/text.h"

/* The version of the rules by which words are cut and folded. Every change of the rules raises
 * it; stores replace the indexes of other versions. Since 2: full-width letters and ligatures. */
#define RT_WORDS_VERSION "2"

/* The code point at *at, which is advanced past it; an invalid byte counts as one. */
uint32_t rt_word_char(rt_str s, size_t *at);
/* The same letter in lower case and without its accent. Of other scripts than Latin, Greek and
 * Cyrillic the letter itself. */
uint32_t rt_word_fold(uint32_t c);
/* The folded character at *at, which is advanced past it and the combining marks after it. */
uint32_t rt_word_next(rt_str s, size_t *at);
bool rt_word_is_letter(uint32_t c);
/* The letters of a ligature: "fi"; NULL: it is none. */
const char *rt_word_ligature(uint32_t c);
/* The letters a-z and digits in lower case; 0: another byte. */
static inline unsigned char
rt_word_ascii(unsigned char c)
{
	unsigned char low = c | 32;

	if (low >= 'a' && low <= 'z')
		return low;
	return c >= '0' && c <= '9' ? c : 0;
}
/* Does the character belong to a script without spaces between words? */
bool rt_word_is_dense(uint32_t c);

enum { RT_TOKEN_MAX = 64 /* bytes; longer words, such as encoded data, are cut */ };

/* A token of the index. */
typedef struct rt_token {
	char text[RT_TOKEN_MAX + 8]; /* folded, UTF-8 */
	size_t size;
	size_t from, to; /* in the text */
	bool is_dense;
	bool is_last; /* of its run: in a dense run a single character */
} rt_token;

/* The next token at or after *at, which is advanced; false: none. */
bool rt_token_next(rt_str text, size_t *at, rt_token *out);

#endif
