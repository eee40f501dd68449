/* SPDX-License-Identifier: MIT
 *
 * Words of texts and queries. Matching here is the plain way that the store in memory
 * uses; SQLite's index folds accents on top of it. */
#include "store/store_words.h"

static bool
is_word_byte(unsigned char c)
{
	return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') ||
	       c >= 0x80;
}

bool
rt_words_next(rt_str text, size_t *at, rt_str *out_word)
{
	size_t i = *at, from;

	while (i < text.size && !is_word_byte((unsigned char)text.ptr[i]))
		i++;
	from = i;
	while (i < text.size && is_word_byte((unsigned char)text.ptr[i]))
		i++;
	*at = i;
	if (i == from)
		return false;
	*out_word = rt_str_at(text.ptr + from, i - from);
	return true;
}

static bool
word_fits(rt_str word, rt_str wanted, bool prefix)
{
	if (prefix && word.size > wanted.size)
		word.size = wanted.size;
	return rt_str_eq_nocase(word, wanted);
}

static bool
has_word(rt_str text, rt_str wanted, bool prefix)
{
	size_t at = 0;
	rt_str word;

	while (rt_words_next(text, &at, &word)) {
		if (word_fits(word, wanted, prefix))
			return true;
	}
	return false;
}

static bool
has_all_words(rt_str text, rt_str query)
{
	size_t at = 0, ahead;
	rt_str wanted, next;

	for (int count = 0; count < RT_WORDS_MAX && rt_words_next(query, &at, &wanted); count++) {
		bool is_last;

		ahead = at;
		is_last = count == RT_WORDS_MAX - 1 || !rt_words_next(query, &ahead, &next);
		if (!has_word(text, wanted, is_last))
			return false;
	}
	return true;
}

/* Do the words of query stand in text, the first of them at *at? */
static bool
phrase_here(rt_str text, size_t at, rt_str query)
{
	size_t in_query = 0;
	rt_str word, wanted;

	while (rt_words_next(query, &in_query, &wanted)) {
		if (!rt_words_next(text, &at, &word) || !word_fits(word, wanted, false))
			return false;
	}
	return true;
}

bool
rt_words_match(rt_str text, rt_str query, rt_store_find how)
{
	size_t at = 0;
	rt_str word;

	if (!rt_words_next(query, &at, &word))
		return false;
	if (how == RT_FIND_ALL_WORDS)
		return has_all_words(text, query);
	at = 0;
	for (;;) {
		size_t start = at;

		if (phrase_here(text, start, query))
			return true;
		if (!rt_words_next(text, &at, &word))
			return false;
	}
}

void
rt_words_fts5(rt_buf *buf, rt_str query, rt_store_find how)
{
	size_t at = 0;
	rt_str word;
	int count = 0;

	/* Words hold no quote, so quoting them is all the escaping there is. */
	while (rt_words_next(query, &at, &word)) {
		if (how == RT_FIND_ALL_WORDS) {
			if (count++ == RT_WORDS_MAX)
				break;
			rt_buf_add_c(buf, buf->size == 0 ? "\"" : " \"");
			rt_buf_add_str(buf, word);
			rt_buf_add_byte(buf, '"');
		} else {
			rt_buf_add_byte(buf, count++ == 0 ? '"' : ' ');
			rt_buf_add_str(buf, word);
		}
	}
	if (count > 0)
		rt_buf_add_byte(buf, how == RT_FIND_ALL_WORDS ? '*' : '"');
}
