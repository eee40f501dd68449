/* SPDX-License-Identifier: MIT
 *
 * The checksums of rows, which all kinds of stores keep. */
#ifndef RT_STORE_ROW_H
#define RT_STORE_ROW_H

#include "log/store.h"

/* Tables, by their numbers in the checksums. */
enum rt_row_table {
	RT_TABLE_META = 1,
	RT_TABLE_PROJECT,
	RT_TABLE_LOG,
	RT_TABLE_BODY,
	RT_TABLE_NODE,
	RT_TABLE_ROOT,
	RT_TABLE_SIDE,
	RT_TABLE_MARK,
	RT_TABLE_FOUND /* the search index of SQLite stores */
};

/* A project and a number in it, as a checksum knows them. */
static inline uint64_t
rt_row_key(uint64_t project, uint64_t number)
{
	return project << 43 | number;
}

/* The checksum of a row: over its data, seeded with the table, the key and one more number (log:
 * a hash of step and time; body: the entry; root and mark: the number; side and meta: a hash of
 * the name; else 0). key: of project, root and mark the project, of meta 0. */
int64_t rt_row_sum(enum rt_row_table table, uint64_t key, const rt_store_row *row);

#endif
