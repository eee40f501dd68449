/* SPDX-License-Identifier: MIT
 *
 * Object: the header of every reference-counted, immutable part of a project. Call ref and unref
 * from any thread. The count is not part of the value, so both have const parameters. */
#ifndef RT_CORE_OBJECT_H
#define RT_CORE_OBJECT_H

#include <string.h>

#include "base/text.h"

typedef struct rt_object {
	_Atomic uint32_t refs;
	const rt_alloc *alloc;
	void (*free)(struct rt_object *object);
} rt_object;

static inline void
rt_object_init(rt_object *object, const rt_alloc *alloc, void (*free)(rt_object *))
{
	atomic_init(&object->refs, 1);
	object->alloc = alloc;
	object->free = free;
}

/* Copies everything after the header from `from` to `to`. The header is initialised again because
 * another thread may be changing the count of `from`. */
static inline void
rt_object_copy(void *to, const void *from, size_t size, void (*free)(rt_object *))
{
	const rt_object *object = from;

	memcpy((char *)to + sizeof(*object), (const char *)from + sizeof(*object),
	       size - sizeof(*object));
	rt_object_init(to, object->alloc, free);
}

static inline const void *
rt_object_ref(const void *object)
{
	if (object != NULL)
		atomic_fetch_add_explicit(&((rt_object *)(uintptr_t)object)->refs, 1,
					  memory_order_relaxed);
	return object;
}

static inline void
rt_object_unref(const void *object)
{
	rt_object *mine = (rt_object *)(uintptr_t)object;

	if (mine != NULL &&
	    atomic_fetch_sub_explicit(&mine->refs, 1, memory_order_acq_rel) == 1)
		mine->free(mine);
}

/* Has the object a single reference? Only its owner can answer that, and may change it then, unless a
 * part of the project above it has several. */
static inline bool
rt_object_is_single(const void *object)
{
	return atomic_load_explicit(&((rt_object *)(uintptr_t)object)->refs,
				    memory_order_acquire) == 1;
}

#endif
