/* SPDX-License-Identifier: MIT
 *
 * Internals of the full-text index: its rows. store_sqlite_index.c has their format. */
#ifndef RT_STORE_SQLITE_INDEX_H
#define RT_STORE_SQLITE_INDEX_H

#include "store/store_sqlite_impl.h"

enum { RT_INDEX_HEAD_ROW = (1 << RT_PART_BITS) - 1, RT_INDEX_TEXTS_ROW = RT_INDEX_HEAD_ROW - 1 };

/* The row about a segment. */
typedef struct rt_index_head {
	uint64_t segment; /* 0: none */
	uint64_t texts, first, last, parts, bytes;
} rt_index_head;

/* The key of a row of a segment. */
uint64_t rt_index_key(uint64_t project, uint64_t segment, uint64_t number);
/* The number of the last segment; 0: there is none. */
uint64_t rt_index_last(rt_sqlite_call *call, uint64_t project);
rt_index_head rt_index_head_read(rt_sqlite_call *call, uint64_t project, uint64_t segment);
/* Adds the texts of a segment, without their terms, or with them. */
void rt_index_read_texts(rt_sqlite_call *call, uint64_t project, const rt_index_head *h, rt_segment *to);
void rt_index_read_segment(rt_sqlite_call *call, uint64_t project, const rt_index_head *h, rt_segment *to);
/* Fails the call. */
void rt_index_damaged(rt_sqlite_call *call, uint64_t segment);

#endif
