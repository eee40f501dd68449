/* SPDX-License-Identifier: MIT
 *
 * Numbers are only added; those of renamed discussions also stay in their old slot, where they
 * never match. */
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
	rt_free(names->alloc, names->numbers);
	rt_names_deinit(&names->bases);
	memset(names, 0, sizeof(*names));
}

static rt_str
name_of(const rt_project *now, uint32_t number)
{
	const rt_cell *cell = rt_project_cell(now, number);

	return cell != NULL ? rt_cell_name(cell) : rt_str_at("", 0);
}

static size_t
place_of(const uint32_t *numbers, size_t room, rt_str name, uint32_t number)
{
	size_t at = (size_t)rt_hash(name.ptr, name.size, 3) & (room - 1);

	while (numbers[at] != 0 && numbers[at] != number)
		at = (at + 1) & (room - 1);
	return at;
}

static rt_status
resize(rt_disc_names *names, const rt_project *now, size_t room)
{
	uint32_t *numbers = rt_new_array(names->alloc, room, sizeof(*numbers));
	size_t i;

	if (numbers == NULL)
		return RT_NOMEM;
	memset(numbers, 0, room * sizeof(*numbers));
	names->count = 0;
	for (i = 0; i < names->room; i++) {
		uint32_t number = names->numbers[i];
		size_t at;

		if (number == 0)
			continue;
		at = place_of(numbers, room, name_of(now, number), number);
		names->count += numbers[at] == 0;
		numbers[at] = number;
	}
	rt_free(names->alloc, names->numbers);
	names->numbers = numbers;
	names->room = room;
	return RT_OK;
}

/* A table is at most two thirds full. */
static size_t
room_for(size_t count)
{
	size_t room = 64;

	while (room < count + count / 2 + 2)
		room *= 2;
	return room;
}

rt_status
rt_disc_names_reserve(rt_disc_names *names, const rt_project *now, size_t count)
{
	size_t room = room_for(count);

	return room > names->room ? resize(names, now, room) : RT_OK;
}

rt_status
rt_disc_names_add(rt_disc_names *names, const rt_project *now, uint32_t number)
{
	size_t at;

	if (names->count + names->count / 2 + 2 > names->room &&
	    resize(names, now, room_for(names->count + 1)) != RT_OK)
		return RT_NOMEM;
	at = place_of(names->numbers, names->room, name_of(now, number), number);
	names->count += names->numbers[at] == 0;
	names->numbers[at] = number;
	return RT_OK;
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
	size_t at;

	if (names->room == 0)
		return false;
	at = (size_t)rt_hash(name.ptr, name.size, 3) & (names->room - 1);
	for (; names->numbers[at] != 0; at = (at + 1) & (names->room - 1)) {
		const rt_cell *cell = rt_project_cell(now, names->numbers[at]);

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
