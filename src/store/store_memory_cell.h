/* SPDX-License-Identifier: MIT
 *
 * Cell: a place in the store in memory (a log row, a body, a node, the root …) that holds
 * two values. `now` is what the writer sees inside its begin, `kept` is what everybody else
 * sees; outside a begin the two are the same. A write changes `now` and puts the cell on
 * the list of changes; settling makes every `kept` its `now` (commit) or every `now` its
 * `kept` (cancel). Cells whose two values are both gone are taken out of their table.
 *
 * A table is an array in the order of numbers (of names for side rows), so the usual
 * append goes at the end and everything else is found by halving.
 *
 * One thread at a time: the store's lock is held around everything here. */
#ifndef RT_STORE_MEMORY_CELL_H
#define RT_STORE_MEMORY_CELL_H

#include "log/store.h"

/* What a cell holds. One allocation; never changes once it is in a cell. */
typedef struct rt_cell_value {
	uint64_t extra; /* log: at_us; body and found: entry; root: seq; mark: number */
	unsigned char step[RT_STEP_ID_SIZE]; /* log only */
	size_t size;
	char bytes[];
} rt_cell_value;

typedef struct rt_cell {
	uint64_t number;     /* 0 in side tables */
	rt_cell_value *now;  /* NULL: not there */
	rt_cell_value *kept; /* the same pointer as now unless changed */
	bool listed;         /* on the list of changes */
	size_t name_size;
	char name[]; /* side rows: their key */
} rt_cell;

typedef struct rt_cell_table {
	rt_cell **cells;
	size_t count;
	size_t room;
} rt_cell_table;

typedef struct rt_cell_change {
	rt_cell_table *in; /* NULL: a cell without a table, a project's name */
	rt_cell *what;
} rt_cell_change;

typedef struct rt_cell_changes {
	const rt_alloc *alloc;
	rt_cell_change *items;
	size_t count;
	size_t room;
} rt_cell_changes;

/* NULL: no memory. */
rt_cell_value *rt_cell_value_new(const rt_alloc *alloc, rt_str data, uint64_t extra);
rt_str rt_cell_str(const rt_cell_value *v);
void rt_cell_free(const rt_alloc *alloc, rt_cell *c);

/* Where the key is in a table, or would be. */
size_t rt_cell_table_at(const rt_cell_table *t, uint64_t number, rt_str name);
/* NULL: there is none. */
rt_cell *rt_cell_table_get(const rt_cell_table *t, uint64_t number, rt_str name);
void rt_cell_table_deinit(const rt_alloc *alloc, rt_cell_table *t);

/* Room for one more change, so that the next rt_cell_set cannot fail. False: no memory. */
RT_CHECKED bool rt_cell_reserve(rt_cell_changes *list);
/* Give the cell its new value (NULL: gone). The value is the cell's from now on. */
void rt_cell_set(rt_cell_changes *list, rt_cell_table *in, rt_cell *c, rt_cell_value *v);

/* Write one value under a key; step may be NULL. RT_NOMEM: nothing changed. */
RT_CHECKED rt_status rt_cell_put(rt_cell_changes *list, rt_cell_table *in, uint64_t number,
				 rt_str name, rt_str data, uint64_t extra,
				 const unsigned char *step, rt_error *err);
/* Missing is fine. RT_NOMEM: nothing changed. */
RT_CHECKED rt_status rt_cell_drop(rt_cell_changes *list, rt_cell_table *in, uint64_t number,
				  rt_str name, rt_error *err);
/* Take back the newest changes, down to to_count; all of them made new cells. */
void rt_cell_take_back(rt_cell_changes *list, size_t to_count);
/* Every change is kept or undone, newest first, and the list is empty. */
void rt_cell_settle(rt_cell_changes *list, bool keep);

#endif
