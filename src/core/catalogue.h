/* SPDX-License-Identifier: MIT
 *
 * Catalogue: a project's list of discussions: their names, and whether they are present.
 * There may be very many that nobody looks at, so a line of it is small. Lines are kept in
 * pages of RT_PAGE_CELLS, with the names behind them; a change copies a page.
 *
 *   vec of pages:  [ page | cells … | names … ]  [ page | … ]
 *
 * Threads: pages are immutable but for what is loaded into them. */
#ifndef RT_CORE_CATALOGUE_H
#define RT_CORE_CATALOGUE_H

#include "core/vec.h"

struct rt_disc;

/* A line of the catalogue. The discussion itself may not be in memory yet. */
typedef struct rt_cell {
	uint32_t number;
	uint32_t name_at; /* bytes from here */
	bool present : 1;
	uint32_t name_size : 31;
	_Atomic(const struct rt_disc *) disc; /* ours; NULL until somebody looks */
	_Atomic uint64_t stored;              /* the node it can be loaded from; 0: none */
} rt_cell;

enum { RT_PAGE_CELLS = 32 };

typedef struct rt_page {
	rt_object object;
	uint32_t count;          /* of cells */
	_Atomic uint64_t stored; /* the node that says the same; 0: none */
	rt_cell cells[];         /* and their names */
} rt_page;

static inline rt_str
rt_cell_name(const rt_cell *cell)
{
	return rt_str_at((const char *)cell + cell->name_at, cell->name_size);
}

/* What a line is to say. Everything is copied or referenced. */
typedef struct rt_cell_said {
	bool present;
	rt_str name;
	const struct rt_disc *disc;
	uint64_t stored;
} rt_cell_said;

/* A page like old (NULL: empty) with another line; index at most its count. NULL: no memory. */
rt_page *rt_page_set(const rt_alloc *alloc, const rt_page *old, uint32_t first_number,
		     size_t index, const rt_cell_said *said);
/* The same page with nothing loaded that can be loaded again; stored stays. NULL: no memory.
 * old itself (referenced) where there is nothing to drop. */
const rt_page *rt_page_shed(const rt_page *old);
/* Of so many lines at once, the first with this number. */
rt_page *rt_page_from(const rt_alloc *alloc, uint32_t first_number, const rt_cell_said *said,
		      size_t count);

#endif
