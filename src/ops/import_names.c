/* SPDX-License-Identifier: MIT
 *
 * Numbers are only added; those of renamed discussions also stay with their old names, where
 * they never match. */
#include "ops/import_names.h"

#include <string.h>

#include "base/hash.h"

enum { BASES_MAX = 1 << 16 };

void
rt_disc_names_init(rt_disc_names *names, const rt_alloc *alloc)
{
	memset(names, 0, sizeof(*names));
	names->alloc = alloc;
	rt_names_init(&names->bases, alloc);
}

void
rt_disc_names_deinit(rt_disc_names *names)
{
	rt_hash_table_deinit(&names->numbers, names->alloc);
	rt_names_deinit(&names->bases);
	memset(names, 0, sizeof(*names));
}

static rt_str
name_of(const rt_project *now, uint32_t number)
{
	const rt_cell *cell = rt_project_cell(now, number);

	return cell != NULL ? rt_cell_name(cell) : rt_str_at("", 0);
}

static uint64_t
hash_of(rt_str name)
{
	return rt_hash(name.ptr, name.size, 3);
}

rt_status
rt_disc_names_reserve(rt_disc_names *names, size_t count)
{
	return rt_hash_table_reserve(&names->numbers, names->alloc, count);
}

rt_status
rt_disc_names_add(rt_disc_names *names, const rt_project *now, uint32_t number)
{
	uint64_t hash = hash_of(name_of(now, number));
	uint32_t other;

	for (size_t probe = 0; rt_hash_table_next(&names->numbers, hash, &probe, &other);)
		if (other == number)
			return RT_OK;
	return rt_hash_table_add(&names->numbers, names->alloc, hash, number);
}

rt_status
rt_disc_names_update(rt_disc_names *names, const rt_project *before, const rt_project *now)
{
	size_t count = rt_project_disc_count(now), i;
	rt_status st = RT_OK;

	for (i = 1; st == RT_OK && i <= count; i++) {
		if (before != NULL && rt_project_cell(before, (uint32_t)i) ==
					      rt_project_cell(now, (uint32_t)i))
			continue;
		if (rt_project_cell(now, (uint32_t)i)->present)
			st = rt_disc_names_add(names, now, (uint32_t)i);
	}
	return st;
}

bool
rt_disc_names_has(const rt_disc_names *names, const rt_project *now, rt_str name)
{
	uint32_t number;

	for (size_t probe = 0; rt_hash_table_next(&names->numbers, hash_of(name), &probe, &number);) {
		const rt_cell *cell = rt_project_cell(now, number);

		if (cell != NULL && cell->present && rt_str_eq(rt_cell_name(cell), name))
			return true;
	}
	return false;
}

rt_status
rt_disc_names_number(rt_disc_names *names, const rt_project *now, rt_str base, rt_buf *out)
{
	uint64_t *next;

	if (names->bases.count > BASES_MAX) { /* it is only an optimisation */
		rt_names_deinit(&names->bases);
		rt_names_init(&names->bases, names->alloc);
	}
	next = rt_names_next(&names->bases, base);
	if (next == NULL)
		return RT_NOMEM;
	if (*next < 2)
		*next = 2;
	for (;; ++*next) {
		rt_buf_clear(out);
		rt_buf_add_str(out, base);
		rt_buf_add_byte(out, '_');
		rt_buf_add_u64(out, *next);
		if (out->status != RT_OK)
			return out->status;
		if (!rt_disc_names_has(names, now, rt_buf_str(out)))
			return RT_OK;
	}
}
