/* SPDX-License-Identifier: MIT
 *
 * Catalogue: a project's list of discussions, with their names and whether they are present.
 * There may be very many, few of which are in use, so a cell is small. Cells are stored in pages
 * of RT_PAGE_CELLS, followed by the names; a change copies a page.
 *
 *   vec of pages:  [ page | cells … | names … ]  [ page | … ]
 *
 * Threads: pages are immutable, except for discussions loaded into them. */
#ifndef RT_CORE_CATALOGUE_H
#define RT_CORE_CATALOGUE_H

#include "core/vec.h"

struct rt_disc;

/* One discussion in the catalogue. The discussion itself may not be in memory yet. */
typedef struct rt_cell {
	uint32_t number;
	uint32_t name_at; /* offset from the cell, in bytes */
	bool present : 1;
	uint32_t name_size : 31;
	_Atomic(const struct rt_disc *) disc; /* owned; NULL until first access */
	_Atomic uint64_t stored;              /* node to load it from; 0: none */
} rt_cell;

enum { RT_PAGE_CELLS = 32 };

typedef struct rt_page {
	rt_object object;
	uint32_t count;          /* of cells */
	_Atomic uint64_t stored; /* the node with the same contents; 0: none */
	rt_cell cells[];         /* and their names */
} rt_page;

static inline rt_str
rt_cell_name(const rt_cell *cell)
{
	return rt_str_at((const char *)cell + cell->name_at, cell->name_size);
}

/* The contents of a cell. Everything is copied or referenced. */
typedef struct rt_cell_said {
	bool present;
	rt_str name;
	const struct rt_disc *disc;
	uint64_t stored;
} rt_cell_said;

/* A copy of old (NULL: empty) with one cell set; index is at most its count. NULL: out of memory. */
rt_page *rt_page_set(const rt_alloc *alloc, const rt_page *old, uint32_t first_number,
		     size_t index, const rt_cell_said *said);
/* The same in a page that is the caller's alone; false: it needs another, because the name differs or
 * there is no such cell. */
bool rt_page_put(rt_page *mine, size_t index, const rt_cell_said *said);
/* The same page without the discussions that can be loaded again. NULL: out of memory. old itself
 * (referenced) if there is nothing to drop. */
const rt_page *rt_page_shed(const rt_page *old);
/* A page of count cells, the first of which has this number. */
rt_page *rt_page_from(const rt_alloc *alloc, uint32_t first_number, const rt_cell_said *said,
		      size_t count);

#endif
