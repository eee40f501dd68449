/* SPDX-License-Identifier: MIT
 *
 * Pages: every change creates a new one. */
#include "core/catalogue.h"

static void
page_free(rt_object *object)
{
	rt_page *page = (rt_page *)object;
	size_t i;

	for (i = 0; i < page->count; i++)
		rt_object_unref(atomic_load(&page->cells[i].disc));
	rt_free(object->alloc, page);
}

rt_page *
rt_page_from(const rt_alloc *alloc, uint32_t first_number, const rt_cell_said *said, size_t count)
{
	size_t names = 0, i;
	rt_page *page;
	char *to;

	for (i = 0; i < count; i++)
		names += said[i].name.size;
	page = rt_new(alloc, sizeof(*page) + count * sizeof(page->cells[0]) + names);
	if (page == NULL)
		return NULL;
	rt_object_init(&page->object, alloc, page_free);
	page->count = (uint32_t)count;
	atomic_init(&page->stored, 0);
	to = (char *)&page->cells[count];
	for (i = 0; i < count; i++) {
		rt_cell *cell = &page->cells[i];

		cell->number = first_number + (uint32_t)i;
		cell->present = said[i].present;
		cell->name_at = (uint32_t)(to - (char *)cell);
		cell->name_size = (uint32_t)said[i].name.size & (uint32_t)INT32_MAX;
		if (said[i].name.size > 0)
			memcpy(to, said[i].name.ptr, said[i].name.size);
		to += said[i].name.size;
		atomic_init(&cell->disc, rt_object_ref(said[i].disc));
		atomic_init(&cell->stored, said[i].stored);
	}
	return page;
}

static rt_cell_said
said_of(const rt_cell *cell)
{
	rt_cell *mine = (rt_cell *)(uintptr_t)cell;

	return (rt_cell_said){cell->present, rt_cell_name(cell),
			      atomic_load_explicit(&mine->disc, memory_order_acquire),
			      atomic_load(&mine->stored)};
}

rt_page *
rt_page_set(const rt_alloc *alloc, const rt_page *old, uint32_t first_number, size_t index,
	    const rt_cell_said *said)
{
	rt_cell_said all[RT_PAGE_CELLS];
	size_t count = old != NULL ? old->count : 0, i;

	RT_ASSERT(index <= count && index < RT_PAGE_CELLS);
	for (i = 0; i < count; i++)
		if (i != index)
			all[i] = said_of(&old->cells[i]);
	all[index] = *said;
	return rt_page_from(alloc, first_number, all, index == count ? count + 1 : count);
}

bool
rt_page_put(rt_page *mine, size_t index, const rt_cell_said *said)
{
	const struct rt_disc *before;
	rt_cell *cell;

	if (index >= mine->count)
		return false;
	cell = &mine->cells[index];
	if (!rt_str_eq(rt_cell_name(cell), said->name))
		return false;
	cell->present = said->present;
	before = atomic_exchange(&cell->disc, rt_object_ref(said->disc));
	rt_object_unref(before);
	atomic_store(&cell->stored, said->stored);
	atomic_store(&mine->stored, 0);
	return true;
}

const rt_page *
rt_page_shed(const rt_page *old)
{
	rt_cell_said all[RT_PAGE_CELLS];
	rt_page *page;
	bool any = false;
	size_t i;

	for (i = 0; i < old->count; i++) {
		all[i] = said_of(&old->cells[i]);
		if (all[i].disc != NULL && all[i].stored != 0) {
			all[i].disc = NULL;
			any = true;
		}
	}
	if (!any)
		return rt_object_ref(old);
	page = rt_page_from(old->object.alloc, old->cells[0].number, all, old->count);
	if (page != NULL)
		atomic_store(&page->stored, atomic_load(&((rt_page *)(uintptr_t)old)->stored));
	return page;
}
