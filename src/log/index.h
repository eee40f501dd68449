/* SPDX-License-Identifier: MIT
 *
 * Index: the store's full-text index follows the bodies up to a mark, in batches, outside the
 * commits of operations. Searches read the bodies after the mark themselves (view/search.c).
 *
 * Threads: call from any thread; a batch belongs to one thread at a time. */
#ifndef RT_LOG_INDEX_H
#define RT_LOG_INDEX_H

#include "log/engine.h"

/* Index new bodies. RT_READ_ONLY, RT_BUSY. O(bodies since the mark). */
RT_CHECKED rt_status rt_engine_index(rt_engine *engine, rt_error *err);

/* done out of all bodies; false: stop, keeping the part that was indexed. */
typedef bool (*rt_progress_fn)(void *ctx, uint64_t done, uint64_t all);
/* The same; progress is called between batches. */
RT_CHECKED rt_status rt_engine_index_with(rt_engine *engine, rt_progress_fn progress, void *ctx,
					  rt_error *err);

/* One batch, if at least this many bodies are not indexed: for maintenance in the background.
 * *out_is_idle: there were fewer; the same until the project has a new row. */
RT_CHECKED rt_status rt_engine_index_step(rt_engine *engine, uint64_t least, bool *out_is_idle,
					  rt_error *err);

/* ---- texts of bodies, in batches ---- */

enum { RT_BATCH_BODIES = 4000, RT_BATCH_BYTES = 3 << 20 };

typedef struct rt_batch {
	const rt_alloc *alloc;
	bool (*wants)(void *ctx, rt_str text); /* filter; NULL: every text but empty ones */
	void *ctx;
	struct {
		uint64_t number, entry;
		size_t at, size; /* in texts */
	} items[RT_BATCH_BODIES];
	size_t count;
	rt_buf texts;
	uint64_t last; /* the last number that was read */
	bool full;
} rt_batch;

rt_batch *rt_batch_new(const rt_alloc *alloc); /* NULL: no memory */
void rt_batch_free(rt_batch *batch);
/* Read bodies from first on, at most to last, until the batch is full. Bodies that cannot be
 * decoded are left out: fsck reports them. */
RT_CHECKED rt_status rt_batch_read(rt_engine *engine, rt_batch *batch, uint64_t first,
				   uint64_t last, rt_error *err);

/* Calls fn with the searched text of each of these bodies, which are in ascending order; much
 * faster than reading them one by one. Bodies that are missing or cannot be decoded are left out.
 * fn must not call the store. RT_NOMEM, or an error of the store. */
RT_CHECKED rt_status rt_engine_texts(rt_engine *engine, const uint64_t *numbers, size_t count,
				     void (*fn)(void *ctx, uint64_t number, rt_str text), void *ctx,
				     rt_error *err);

#endif
