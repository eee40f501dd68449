/* SPDX-License-Identifier: MIT
 *
 * Strs: a growing table of strings, numbered 1, 2, 3 …: role names, kinds, labels, and ids given
 * to entries by users and imports. It belongs to the ledger: nothing is ever removed, so all
 * versions of a project share one table.
 *
 * Strings are stored in chunks, which are loaded on first access.
 *
 * Threads: rt_strs_find and rt_strs_get (for numbers it has been given) from any thread, also
 * while the writer adds; everything else one thread at a time (the writer). */
#ifndef RT_CORE_STRS_H
#define RT_CORE_STRS_H

#include "core/seq.h"

typedef struct rt_strs rt_strs;

RT_CHECKED rt_status rt_strs_new(const rt_alloc *alloc, const rt_seq_source *source,
				 rt_strs **out_strs);
void rt_strs_free(rt_strs *strs);
uint32_t rt_strs_count(const rt_strs *strs);
/* 1 <= number <= count. The view lives as long as the table. */
RT_CHECKED rt_status rt_strs_get(const rt_strs *strs, uint32_t number, rt_str *out, rt_error *err);
/* The number of s; 0: not found. A string that is being added may be found or not. The first call
 * builds an index in O(count). */
RT_CHECKED rt_status rt_strs_find(const rt_strs *strs, rt_str s, uint32_t *out_number, rt_error *err);
/* The number of s, which is added if missing. */
RT_CHECKED rt_status rt_strs_intern(rt_strs *strs, rt_str s, uint32_t *out_number, rt_error *err);

/* Checkpoints, as for sequences. The root is a string of bytes for the root record. */
RT_CHECKED rt_status rt_strs_store(rt_strs *strs, const rt_seq_writer *writer, rt_buf *out_root,
				   rt_error *err);
void rt_strs_stored(rt_strs *strs, bool durable);
RT_CHECKED rt_status rt_strs_open(const rt_alloc *alloc, const rt_seq_source *source, rt_str root,
				  rt_strs **out_strs, rt_error *err);
RT_CHECKED rt_status rt_strs_numbers(const rt_strs *strs, bool (*fn)(void *ctx, uint64_t number),
				     void *ctx);

#endif
