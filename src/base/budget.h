/* SPDX-License-Identifier: MIT
 *
 * Budget: an allocator in front of another one that counts the bytes in use and fails beyond a
 * limit. It gives a task that reads untrusted input a limit of its own. */
#ifndef RT_BASE_BUDGET_H
#define RT_BASE_BUDGET_H

#include <stdatomic.h>
#include <stdbool.h>

#include "base/alloc.h"
#include "base/status.h"

typedef struct rt_budget {
	rt_alloc alloc; /* hand this on; it locks itself if the one behind does */
	const rt_alloc *behind;
	size_t limit;       /* bytes */
	atomic_size_t held; /* now */
	atomic_size_t peak; /* at most so far */
	atomic_bool refused; /* an allocation failed because of the limit */
} rt_budget;

/* limit: SIZE_MAX only counts. The budget must outlive what is allocated through it. */
void rt_budget_init(rt_budget *budget, const rt_alloc *behind, size_t limit);
/* For a failure that may be the budget's: RT_NOMEM becomes RT_LIMIT with a sentence that
 * names the limit and what needed the memory ("this import"). Any other status is given
 * back as it is. */
rt_status rt_budget_explain(const rt_budget *budget, rt_status status, const char *what,
			    rt_error *err);

#endif
