/* SPDX-License-Identifier: MIT
 *
 * Hash table: finds the items of an array by their contents. It contains their numbers with 32 bits
 * of their hashes, in open addressing; the caller compares the items. Numbers are only added.
 * Zeroed memory is an empty table.
 *
 *	for (size_t probe = 0; rt_hash_table_next(&t, hash, &probe, &number);)
 *		if (… items[number] …)
 *			return number;
 *
 * One thread at a time. */
#ifndef RT_BASE_HASH_TABLE_H
#define RT_BASE_HASH_TABLE_H

#include <stdbool.h>

#include "base/alloc.h"
#include "base/status.h"

typedef struct rt_hash_slot {
	uint32_t hash;
	uint32_t number; /* UINT32_MAX: free */
} rt_hash_slot;

typedef struct rt_hash_table {
	rt_hash_slot *slots;
	size_t room; /* a power of two, or 0 */
	size_t count;
} rt_hash_table;

void rt_hash_table_deinit(rt_hash_table *t, const rt_alloc *alloc);
/* Makes room for this many in all. RT_NOMEM. */
RT_CHECKED rt_status rt_hash_table_reserve(rt_hash_table *t, const rt_alloc *alloc, size_t count);
/* One more; equal ones are kept. number: below UINT32_MAX. RT_NOMEM. */
RT_CHECKED rt_status rt_hash_table_add(rt_hash_table *t, const rt_alloc *alloc, uint64_t hash,
				       size_t number);
/* The next candidate, in any order; *probe begins as 0. False: no more. */
bool rt_hash_table_next(const rt_hash_table *t, uint64_t hash, size_t *probe, uint32_t *out);

#endif
