/* SPDX-License-Identifier: MIT
 *
 * Search: entries whose present text answers to a query. Index hits are checked against the value;
 * bodies that are not indexed yet are read.
 *
 * Threads: call from any thread. */
#ifndef RT_VIEW_SEARCH_H
#define RT_VIEW_SEARCH_H

#include "log/engine.h"

/* [{"discussion","take","id","role","at","snippet"}]: \001 and \002 stand around what matched
 * in the snippet. Brings the index up to date first where the store can be written. */
RT_CHECKED rt_status rt_view_search(rt_engine *engine, const rt_project *project, rt_str query,
				    uint32_t disc, rt_str role, size_t limit, rt_buf *buf,
				    rt_error *err);

/* A search that may take long: the first one of a large store makes its index. */
typedef struct rt_search {
	rt_str query;
	uint32_t disc; /* 0: all */
	rt_str role;   /* empty: any */
	size_t limit;  /* 0: the usual 50 */
	/* Asked again and again, some 20 times a second or more, outside the store's lock; true: it
	 * ends with what was found so far, and what was put into the index stays there. Or NULL. */
	bool (*stop)(void *ctx);
	/* Told how much is done (0 .. 100, never less than before) and what was found so far, the
	 * same JSON as in the end; hits lives until it returns. In between as stop is. Or NULL. */
	void (*told)(void *ctx, unsigned percent, rt_str hits);
	void *ctx;
} rt_search;

/* rt_view_search, told how it goes and stopped. */
RT_CHECKED rt_status rt_view_search_on(rt_engine *engine, const rt_project *project,
				       const rt_search *search, rt_buf *buf, rt_error *err);

#endif
