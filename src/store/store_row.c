/* SPDX-License-Identifier: MIT */
#include "store/store_row.h"

#include "base/hash.h"

int64_t
rt_row_sum(enum rt_row_table table, uint64_t key, const rt_store_row *row)
{
	uint64_t extra = 0;

	switch (table) {
	case RT_TABLE_LOG: extra = rt_hash(row->step, RT_STEP_ID_SIZE, (uint64_t)row->at_us); break;
	case RT_TABLE_BODY: extra = row->entry; break;
	case RT_TABLE_ROOT:
	case RT_TABLE_MARK: extra = row->number; break;
	case RT_TABLE_SIDE:
	case RT_TABLE_META: extra = rt_hash(row->name.ptr, row->name.size, 0); break;
	case RT_TABLE_PROJECT:
	case RT_TABLE_NODE:
	case RT_TABLE_FOUND: break;
	}
	return (int64_t)rt_hash(row->data.ptr, row->data.size,
				rt_hash_u64(key ^ (uint64_t)table << 56) ^ rt_hash_u64(extra + 1));
}
