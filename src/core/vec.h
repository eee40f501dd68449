/* SPDX-License-Identifier: MIT
 *
 * Vec: a persistent list of objects by number, for takes and discussions. A tree of nodes
 * of 32: changing one item copies the nodes above it, and shares the rest. */
#ifndef RT_CORE_VEC_H
#define RT_CORE_VEC_H

#include "core/object.h"

typedef struct rt_vec rt_vec; /* an rt_object; immutable */

RT_CHECKED rt_status rt_vec_new(const rt_alloc *alloc, const rt_vec **out_vec);
/* From count items, which are referenced. O(count). */
RT_CHECKED rt_status rt_vec_from(const rt_alloc *alloc, const void *const *items, size_t count,
				 const rt_vec **out_vec);
size_t rt_vec_count(const rt_vec *vec);
/* Borrowed; at < count. */
const void *rt_vec_get(const rt_vec *vec, size_t at);
/* A new list with item, which is referenced, at this position; at == count appends. */
RT_CHECKED rt_status rt_vec_set(const rt_vec *vec, size_t at, const void *item,
				const rt_vec **out_vec);
/* The same for a list of the caller's: changed in place if it has no other owner, else replaced. */
RT_CHECKED rt_status rt_vec_put(const rt_vec **vec, size_t at, const void *item);
/* The item at this position if it and the list have no other owner, to be changed; else NULL. */
void *rt_vec_own(const rt_vec *vec, size_t at);

#endif
