/* SPDX-License-Identifier: MIT
 *
 * Budget: an allocator that counts the bytes in use and fails above a limit, on top of another
 * allocator. Limits the memory of a task that reads untrusted input. */
#ifndef RT_BASE_BUDGET_H
#define RT_BASE_BUDGET_H

#include <stdatomic.h>
#include <stdbool.h>

#include "base/alloc.h"
#include "base/status.h"

typedef struct rt_budget {
	rt_alloc alloc; /* pass this on; locks itself if the underlying one does */
	const rt_alloc *behind;
	size_t limit;       /* bytes */
	atomic_size_t held; /* now */
	atomic_size_t peak; /* peak usage so far */
	atomic_bool refused; /* an allocation failed because of the limit */
} rt_budget;

/* limit: SIZE_MAX only counts. The budget must outlive everything allocated through it. */
void rt_budget_init(rt_budget *budget, const rt_alloc *behind, size_t limit);
/* Turns an RT_NOMEM caused by the limit into RT_LIMIT, with a message that contains the limit and
 * what needed the memory ("this import"). Returns any other status unchanged. */
rt_status rt_budget_explain(const rt_budget *budget, rt_status status, const char *what,
			    rt_error *err);

#endif
