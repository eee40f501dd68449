/* SPDX-License-Identifier: MIT
 *
 * Counts the reads of a store, by table. One store at a time. */
#ifndef RT_LOG_COUNTING_TESTING_H
#define RT_LOG_COUNTING_TESTING_H

#include "log/store.h"

static const rt_store_ops *counted_ops;
static rt_store_ops counting_ops;
static size_t store_reads[RT_STORE_INDEX + 1];

static inline rt_status
counting_read(rt_store *store, rt_rows rows, rt_store_row_fn fn, void *ctx, rt_error *err)
{
	store_reads[rows.table]++;
	return counted_ops->read(store, rows, fn, ctx, err);
}

/* From now on; the counts begin with 0. */
static inline void
count_reads(rt_store *store)
{
	counted_ops = store->ops;
	counting_ops = *counted_ops;
	counting_ops.read = counting_read;
	store->ops = &counting_ops;
	memset(store_reads, 0, sizeof(store_reads));
}

static inline void
count_reads_end(rt_store *store)
{
	store->ops = counted_ops;
}

#endif
