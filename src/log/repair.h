/* SPDX-License-Identifier: MIT
 *
 * Repair: recovery of the intact parts of a damaged project. rt_engine_salvage (salvage.c) copies
 * it into a sound store; rt_engine_repair (repair.c) then gives up texts that cannot be read.
 *
 * Threads: one at a time. */
#ifndef RT_LOG_REPAIR_H
#define RT_LOG_REPAIR_H

#include "core/id.h"
#include "log/engine.h"

/* The result for a project whose store lacks rows or bodies. */
typedef struct rt_salvaged {
	uint64_t rows;        /* copied unchanged: 1 .. rows */
	uint64_t rows_known;  /* the last row that any remaining data refers to */
	uint64_t rows_lost;   /* of those; and these exist, but follow a lost one: */
	uint64_t rows_unused;
	uint64_t state_seq;   /* the state is the one after this row, from the checkpoint; 0: the
			       * one after the last copied row */
	size_t bodies_lost;   /* texts that a row or the state refers to and that do not exist */
	size_t recovered;     /* texts that nothing refers to any more, */
	char discussion[40];  /* and the discussion that they were added to */
} rt_salvaged;
/* Rows first .. last are lost. */
typedef void (*rt_lost_rows_fn)(void *ctx, uint64_t first, uint64_t last);

/* Creates the project in the store `to`, which must not have one of that name, from its remains in
 * `from`, which is not changed. The new project is usable; lost texts are unreadable bodies until
 * rt_engine_repair. RT_TOO_NEW: a newer version wrote to it. O(everything). */
RT_CHECKED rt_status rt_engine_salvage(const rt_alloc *alloc, const rt_env *env, rt_store *from,
				       rt_str name, rt_store *to, rt_salvaged *out,
				       rt_lost_rows_fn fn, void *ctx, rt_error *err);

/* A text that could not be read any more, and where it appears in a present take. */
typedef struct rt_lost_text {
	rt_str discussion, take;
	size_t position; /* from 1 */
	char entry[RT_ID_MAX + 1];
} rt_lost_text;
typedef void (*rt_lost_fn)(void *ctx, const rt_lost_text *text);

/* Damaged texts become empty and marked as lost, so that everything else can be used again. The
 * caller must have made a copy before. fn is called for each in a present take; out_count is the
 * number of all. RT_READ_ONLY. O(bodies). */
RT_CHECKED rt_status rt_engine_repair(rt_engine *engine, rt_lost_fn fn, void *ctx,
				      size_t *out_count, rt_error *err);

#endif
