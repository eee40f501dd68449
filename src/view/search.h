/* SPDX-License-Identifier: MIT
 *
 * Search: entries whose current text matches a query (search_impl.h has its language), the best and
 * newest first. Bodies that are not indexed yet are read.
 *
 * Threads: call from any thread. */
#ifndef RT_VIEW_SEARCH_H
#define RT_VIEW_SEARCH_H

#include "view/view_rows.h"

/* An entry that was found, in the first take that shows it. */
typedef struct rt_hit {
	uint32_t disc, take_number;
	rt_str discussion, take; /* names */
	uint32_t entry;
	rt_str id, role;
	size_t at;      /* position in the take, from 1; 0: it was deleted, and take is empty */
	bool is_past;   /* the text is of an earlier version, or of a deleted entry (past:yes) */
	bool has_time;
	float similarity; /* to the meaning of the search, -1 .. 1; 0: it was found by its words only */
	rt_moment time; /* of the entry */
	rt_str snippet; /* \001 and \002 surround what matched; rt_highlight_next */
} rt_hit;

typedef struct rt_hits {
	const rt_hit *items;
	size_t count;
} rt_hits;

/* The vector of a text by an embeddings model. */
typedef struct rt_meaning {
	rt_str model;
	const float *vector; /* of length 1 */
	size_t dimensions;
} rt_meaning;

typedef struct rt_search {
	rt_str query;
	/* Also finds texts that mean something similar (log/vectors.h): each entry once, and first those that rank
	 * high by meaning, by the words of the query, or by both. Phrases, exclusions, expressions and filters
	 * apply to all of them. Or NULL. */
	const rt_meaning *meaning;
	uint32_t disc; /* 0: all */
	rt_str role;   /* empty: any */
	size_t limit;  /* 0: the usual 50 */
	rt_zone_fn zone; /* of days in the query; NULL: UTC */
	/* Adds at most one batch to the index and reads the other texts: for callers that show no
	 * progress. With many of them, the index may have enough matches that are older. */
	bool is_prompt;
	/* For searches that take long: the first one of a large store builds its index. Called some
	 * 20 times a second or more, outside the store's lock; true: the search ends with the hits
	 * so far, and the index keeps its additions. Or NULL. */
	bool (*stop)(void *ctx);
	/* Called when there is progress (0 .. 100, never less than before) or a hit, between calls of
	 * stop. found: all hits so far; they stay valid, and its next array begins with the same ones.
	 * Or NULL. */
	void (*progress)(void *ctx, unsigned percent, rt_hits found);
	void *ctx;
} rt_search;

/* Brings the index up to date first if the store is writable. The place of the view does not
 * matter. RT_NOT_FOUND: no such discussion. RT_USAGE: a time in the query cannot be read, or nothing was
 * found and a word looks like a filter that does not exist. */
rt_hits rt_search_run(const rt_view *view, const rt_search *search);

/* The words of a query that only its meaning stands for: without filters, phrases in quotes, exclusions and
 * expressions. RT_USAGE: there are none. In the scope. */
rt_str rt_search_words(rt_scope *s, rt_str query);

/* The next run of a snippet that matched as a whole or did not: *inside says which, *out borrows
 * from the snippet, which becomes the rest. false: at the end. Begin with *inside false. */
bool rt_highlight_next(rt_str *snippet, bool *inside, rt_str *out);

/* Appends the snippet without Markdown syntax, with its marks; unchanged if a mark would get
 * lost. */
void rt_hit_add_plain(rt_buf *buf, const rt_hit *hit);

/* The hits in the form of the contract:
 * [{"discussion","take","id","role","at","ts","similarity","snippet","marks"}], the snippet verbatim and "marks"
 * [[start,size],…] in code points. */
void rt_hits_write(rt_buf *buf, rt_hits hits);

/* Search, as JSON, with the members query, disc, role, limit and zone of given. */
RT_CHECKED rt_status rt_view_search(rt_engine *engine, const rt_project *project,
				    const rt_search *given, rt_buf *buf, rt_error *err);

#endif
