/* SPDX-License-Identifier: MIT
 *
 * Words: how a search query falls into words, the same for every store. A word is a run
 * of ASCII letters and digits and of anything beyond ASCII. Pure arithmetic. */
#ifndef RT_STORE_WORDS_H
#define RT_STORE_WORDS_H

#include "log/store.h"

enum {
	/* Words of a query beyond this many are ignored: a pasted page is a legal query. */
	RT_WORDS_MAX = 64
};

/* The next word at or after *at, which moves behind it. False: there is none. */
bool rt_words_next(rt_str text, size_t *at, rt_str *out_word);

/* Does text answer to query? ASCII letters compare equal whatever their case. A query
 * without words matches nothing. */
bool rt_words_match(rt_str text, rt_str query, rt_store_find how);

/* The query as an FTS5 expression of quoted strings, added to buf; nothing at all when it
 * holds no word. */
void rt_words_fts5(rt_buf *buf, rt_str query, rt_store_find how);

#endif
