/* SPDX-License-Identifier: MIT
 *
 * Names in use, for creating many: whether a name is free, and the first free number after a base
 * ("talk_2", "main_take_7"), without a linear search. */
#ifndef RT_OPS_NAMES_H
#define RT_OPS_NAMES_H

#include "base/hash_table.h"
#include "base/text.h"

typedef struct rt_name_item {
	rt_str name; /* in the arena */
	bool used;
	uint64_t next; /* of a base: no smaller number is free; 0: not requested yet */
} rt_name_item;

typedef struct rt_names {
	const rt_alloc *alloc;
	rt_arena *arena;
	rt_name_item *items;
	size_t count, room;
	rt_hash_table numbers; /* of the items */
} rt_names;

void rt_names_init(rt_names *names, const rt_alloc *alloc);
void rt_names_deinit(rt_names *names);
/* From now on this name is in use. */
RT_CHECKED rt_status rt_names_add(rt_names *names, rt_str name);
bool rt_names_has(const rt_names *names, rt_str name);
/* Into out: base, between and the first number from `first` on that makes a name which is
 * not in use. A table supports one `between` and one `first`. */
RT_CHECKED rt_status rt_names_number(rt_names *names, rt_str base, const char *between,
				     uint64_t first, rt_buf *out);

/* Where the search for a number after this base begins; NULL: no memory. Valid until the next
 * name is added. */
uint64_t *rt_names_next(rt_names *names, rt_str base);

#endif
