/* SPDX-License-Identifier: MIT
 *
 * Each block is preceded by its size. */
#include "base/budget.h"

#include <stdint.h>
#include <string.h>

typedef struct head {
	_Alignas(max_align_t) size_t size; /* of what follows */
} head;

static bool
charge(rt_budget *budget, size_t size)
{
	size_t held = atomic_fetch_add(&budget->held, size) + size;
	size_t peak = atomic_load(&budget->peak);

	if (held > budget->limit) {
		atomic_fetch_sub(&budget->held, size);
		atomic_store(&budget->refused, true);
		return false;
	}
	while (held > peak && !atomic_compare_exchange_weak(&budget->peak, &peak, held))
		;
	return true;
}

static void *
budget_resize(void *ctx, void *ptr, size_t size)
{
	rt_budget *budget = ctx;
	head *old = ptr == NULL ? NULL : (head *)ptr - 1, *made;
	size_t was = old == NULL ? 0 : old->size + sizeof(head), is = size + sizeof(head);

	if (is < size || (is > was && !charge(budget, is - was)))
		return NULL;
	made = budget->behind->resize(budget->behind->ctx, old, is);
	if (made == NULL) {
		if (is > was)
			atomic_fetch_sub(&budget->held, is - was);
		return NULL;
	}
	if (is < was)
		atomic_fetch_sub(&budget->held, was - is);
	made->size = size;
	return made + 1;
}

static void
budget_release(void *ctx, void *ptr)
{
	rt_budget *budget = ctx;
	head *old;

	if (ptr == NULL)
		return;
	old = (head *)ptr - 1;
	atomic_fetch_sub(&budget->held, old->size + sizeof(head));
	budget->behind->release(budget->behind->ctx, old);
}

void
rt_budget_init(rt_budget *budget, const rt_alloc *behind, size_t limit)
{
	memset(budget, 0, sizeof(*budget));
	budget->alloc = (rt_alloc){budget_resize, budget_release, budget};
	budget->behind = behind;
	budget->limit = limit;
	atomic_init(&budget->held, 0);
	atomic_init(&budget->peak, 0);
	atomic_init(&budget->refused, false);
}

rt_status
rt_budget_explain(const rt_budget *budget, rt_status status, const char *what, rt_error *err)
{
	if (status != RT_NOMEM || !atomic_load(&budget->refused))
		return status;
	return rt_fail(err, RT_LIMIT,
		       "%s needs more than %zu MiB of memory; split the file", what,
		       budget->limit >> 20);
}
