/* SPDX-License-Identifier: MIT
 *
 * Internals of searching: parsing queries and matching texts. Pure functions; search.c queries the
 * index. */
#ifndef RT_VIEW_SEARCH_IMPL_H
#define RT_VIEW_SEARCH_IMPL_H

#include "base/moment.h"

enum { RT_QUERY_TERMS_MAX = 32 /* later terms are ignored */ };

typedef enum rt_term_kind {
	RT_TERM_WORD,    /* one word */
	RT_TERM_PHRASE,  /* words in this order */
	RT_TERM_LITERAL  /* punctuation without a word: verbatim, anywhere */
} rt_term_kind;

typedef struct rt_query_term {
	rt_term_kind kind;
	rt_str text; /* borrowed from the query, without quotes */
	bool is_not;
	bool is_prefix; /* the beginning of a word is enough: the last word of a query */
} rt_query_term;

/* hello world    both words          "hello world"  these words in this order
 * !hello -world  without the words   role:x         said by x; role:"Vendor API"
 * after:2026-11-18, before:2026-11-18T12:00   from a time on, before a time */
typedef struct rt_query {
	rt_query_term terms[RT_QUERY_TERMS_MAX];
	size_t count;
	rt_str role;    /* borrowed; empty: any */
	int64_t from_us, to_us; /* of the entry's time: from_us <= time < to_us */
	bool has_time;  /* one of them is set */
	rt_str not_time; /* after after: or before:, the first text that is not a time; ptr NULL: none */
	bool substring; /* a word may begin and end inside another (scripts without spaces) */
} rt_query;

/* Any text is a query, except for times that cannot be read (not_time). */
rt_query rt_query_parse(rt_str text);
/* The first occurrence of a term in text at or after from, and its size; SIZE_MAX: none. Case and
 * accents of letters of European alphabets are ignored. */
size_t rt_query_term_find(rt_str text, const rt_query_term *term, bool substring, size_t from,
			  size_t *out_size);
/* Does a text match every term of the query and none of its exclusions? */
bool rt_query_matches(const rt_query *query, rt_str text);
/* About 120 characters of text around the first match, with \001 and \002 around every match in it;
 * control characters are spaces, "…" marks omitted text. */
void rt_query_add_snippet(rt_buf *buf, const rt_query *query, rt_str text);

#endif
