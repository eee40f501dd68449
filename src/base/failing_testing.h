/* SPDX-License-Identifier: MIT
 *
 * For tests: an allocator that fails from the nth allocation on, and counts unreleased blocks.
 * Several threads may use it at once.
 *
 *	failing f = {.left = n};
 *	rt_alloc alloc = {failing_resize, failing_release, &f}; */
#ifndef RT_BASE_FAILING_TESTING_H
#define RT_BASE_FAILING_TESTING_H

#include <stdatomic.h>
#include <stdbool.h>

#include "base/alloc.h"

typedef struct failing {
	atomic_long left;   /* allocations until all fail; below 0: none does */
	atomic_long live;   /* blocks that are not released */
	atomic_bool failed; /* one has failed */
} failing;

static inline void *
failing_resize(void *ctx, void *ptr, size_t size)
{
	failing *f = ctx;
	void *got;

	if (atomic_load(&f->left) == 0) {
		atomic_store(&f->failed, true);
		return NULL;
	}
	if (atomic_load(&f->left) > 0)
		atomic_fetch_sub(&f->left, 1);
	got = rt_resize(rt_alloc_libc(), ptr, size);
	if (got != NULL && ptr == NULL)
		atomic_fetch_add(&f->live, 1);
	return got;
}

static inline void
failing_release(void *ctx, void *ptr)
{
	if (ptr != NULL)
		atomic_fetch_sub(&((failing *)ctx)->live, 1);
	rt_free(rt_alloc_libc(), ptr);
}

#endif
