/* SPDX-License-Identifier: MIT
 *
 * Internals of searching: parsing queries and matching texts. search.c queries the index, search_fuse.c orders the
 * results. */
#ifndef RT_VIEW_SEARCH_IMPL_H
#define RT_VIEW_SEARCH_IMPL_H

#include "base/moment.h"
#include "base/scope.h"
#include "view/search.h"

enum { RT_QUERY_TERMS_MAX = 32 /* later terms are ignored */ };

typedef enum rt_term_kind {
	RT_TERM_WORD,    /* one word */
	RT_TERM_PHRASE,  /* words in this order */
	RT_TERM_NEAR,    /* words in any order, not far from each other */
	RT_TERM_LITERAL, /* punctuation without a word: verbatim, anywhere */
	RT_TERM_REGEX    /* a POSIX extended regular expression, which ignores case */
} rt_term_kind;

typedef struct rt_query_term {
	rt_term_kind kind;
	rt_str text; /* borrowed from the query, without quotes */
	bool is_not;
	bool is_plain;     /* without quotes, and not excluded: in a search by meaning, a part of the text */
	bool is_prefix;    /* the beginning of a word is enough: "word*", and the last word of a query */
	bool is_last;      /* of the query, which may not be complete yet */
	unsigned distance; /* of NEAR: other words that may be between */
	const void *regex; /* set by rt_query_prepare */
	rt_str needle;     /* likewise: in lower case, of which every match of the expression contains a spelling */
} rt_query_term;

typedef enum rt_query_filter {
	RT_FILTER_ROLE,
	RT_FILTER_IN,     /* a part of the discussion's name or title */
	RT_FILTER_TAG,    /* of the discussion */
	RT_FILTER_MODEL,  /* a part of the name of the reply's model */
	RT_FILTER_LABEL,  /* a part of the entry's label */
	RT_FILTER_PROGRAM, /* a part of the name of the program that the discussion was imported from */
	RT_FILTER_EDITED, /* "yes" or "no" */
	RT_FILTER_PAST,   /* "yes": earlier versions and deleted entries, too */
	RT_FILTER_COUNT
} rt_query_filter;

/* hello world    both words          "hello world"     these words in this order
 * !hello -world  without the words   NEAR(a b, 5)      at most 5 other words between (10 without the number)
 * wor*           beginning of a word /colou?r/         a regular expression
 * role:x         said by x; role:"Vendor API"; likewise the names of filters above
 * after:2026-11-18, before:2026-11-18T12:00   from a time on, before a time, as local clocks show it
 * after:yesterday  after:7d  after:"last week"    as rt_moment_parse_relative */
typedef struct rt_query {
	rt_query_term terms[RT_QUERY_TERMS_MAX];
	size_t count;
	rt_str filters[RT_FILTER_COUNT]; /* borrowed; empty: any */
	bool has_filter;                 /* one of them is set */
	int64_t from_us, to_us; /* of the entry's time: from_us <= time < to_us */
	bool has_time;  /* one of them is set */
	rt_str not_time; /* after after: or before:, the first text that is not a time; ptr NULL: none */
	rt_str not_filter; /* the first word like a filter, of which none has this name: "foo:bar"; ptr NULL: none */
} rt_query;

/* Any text is a query. now_us: the time to which "after:7d" refers. zone NULL: UTC. */
rt_query rt_query_parse(rt_str text, int64_t now_us, rt_zone_fn zone);
/* Compiles its regular expressions, which live as long as the scope. RT_USAGE: one of them, a time or the
 * value of a filter cannot be read. */
void rt_query_prepare(rt_scope *s, rt_query *query);
/* Removes its plain terms. */
void rt_query_drop_plain(rt_query *query);
/* RT_USAGE, with the names of the filters: nothing was found, and not_filter may be the reason. */
void rt_query_explain(rt_scope *s, const rt_query *query);
/* Does a text match every term of the query and none of its exclusions? */
bool rt_query_matches(const rt_query *query, rt_str text);
/* How well a matching text answers the query: the saturated frequencies of its terms, relative to its
 * length, as in BM25, without the rarity of words, which are all required. */
double rt_query_score(const rt_query *query, rt_str text);
/* About 120 characters of text around the first match, with \001 and \002 around every match in it;
 * control characters are spaces, "…" marks omitted text. */
void rt_query_add_snippet(rt_buf *buf, const rt_query *query, rt_str text);

/* ---- results ---- */

/* A matching text. */
typedef struct rt_scored {
	rt_hit hit; /* its snippet may be missing: ptr NULL */
	uint64_t body;
	double score;
} rt_scored;

/* For qsort: the better answer first; of equal ones the newer. */
int rt_scored_compare(const void *a, const void *b);
/* Reciprocal rank fusion: an entry gets 1 / (60 + rank) for its rank by meaning and by words, added if it
 * has both. all: first near texts by meaning, then those with the words, each the best first; their scores
 * are changed. Returns each entry once, the best first, in the scope; NULL once that has failed. */
rt_scored *rt_scored_fuse(rt_scope *s, rt_scored *all, size_t near, size_t count, size_t *out_count);

#endif
