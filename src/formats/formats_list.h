/* SPDX-License-Identifier: MIT
 *
 * List: the containers that readers and writers share. All report failures to a scope and are
 * freed with it; they must not move while the scope lives. */
#ifndef RT_FORMATS_LIST_H
#define RT_FORMATS_LIST_H

#include "base/scope.h"

/* A growing array of equal items. Zeroed memory is an empty one. */
typedef struct rt_vec {
	const rt_alloc *alloc;
	void *items;
	size_t count, room;
} rt_vec;

/* A new item at the end, not initialised; items may move. NULL: the scope has failed. */
void *rt_vec_push(rt_scope *s, rt_vec *vec, size_t item_size);
/* Empty it and free its memory before the scope does. */
void rt_vec_clear(rt_vec *vec);

/* A hash table from hashes to numbers; equal hashes may stand for several. */
typedef struct rt_table_slot {
	uint64_t hash;
	size_t value_plus_1; /* 0: free */
} rt_table_slot;

typedef struct rt_table {
	const rt_alloc *alloc;
	rt_table_slot *slots;
	size_t room; /* a power of two, or 0 */
	size_t count;
} rt_table;

void rt_table_init(rt_table *table, const rt_alloc *alloc);
void rt_table_deinit(rt_table *table);
void rt_table_clear(rt_table *table); /* keeps its memory */
RT_CHECKED rt_status rt_table_add(rt_table *table, uint64_t hash, size_t value);
/* The next value with this hash; *probe begins as 0. False: no more. */
bool rt_table_next(const rt_table *table, uint64_t hash, size_t *probe, size_t *out_value);

/* A hash table from strings, which it borrows, to numbers. Zeroed memory is an empty one. */
typedef struct rt_index_slot {
	rt_str key;
	size_t value_plus_1; /* 0: free */
} rt_index_slot;

typedef struct rt_index {
	const rt_alloc *alloc;
	rt_index_slot *slots;
	size_t room; /* a power of two, or 0 */
	size_t count;
} rt_index;

/* Sets the number of a key; returns the one it had, or -1. */
int64_t rt_index_put(rt_scope *s, rt_index *index, rt_str key, size_t value);
/* -1: no such key. */
int64_t rt_index_get(const rt_index *index, rt_str key);
void rt_index_clear(rt_index *index); /* keeps its memory */

#endif
