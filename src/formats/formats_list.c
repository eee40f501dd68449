/* SPDX-License-Identifier: MIT
 *
 * Open addressing with linear probing, at most half full. */
#include "formats/formats_list.h"

#include "base/hash.h"

/* ---- vectors ---- */

void
rt_vec_clear(rt_vec *vec)
{
	if (vec->items != NULL)
		rt_free(vec->alloc, vec->items);
	vec->items = NULL;
	vec->count = vec->room = 0;
}

static void
close_vec(void *item)
{
	rt_vec *vec = item;

	rt_vec_clear(vec);
	vec->alloc = NULL;
}

void *
rt_vec_push(rt_scope *s, rt_vec *vec, size_t item_size)
{
	if (!rt_ok(s))
		return NULL;
	if (vec->count == vec->room) {
		size_t room = vec->room == 0 ? 16 : vec->room * 2;
		bool is_new = vec->alloc == NULL;
		void *items = NULL;

		if (room <= SIZE_MAX / item_size)
			items = rt_resize(s->alloc, vec->items, room * item_size);
		if (items == NULL) {
			(void)rt_scope_nomem(s);
			return NULL;
		}
		*vec = (rt_vec){s->alloc, items, vec->count, room};
		if (is_new)
			rt_scope_defer(s, close_vec, vec);
		if (!rt_ok(s))
			return NULL;
	}
	return (char *)vec->items + vec->count++ * item_size;
}

/* ---- numbers by hash ---- */

void
rt_table_init(rt_table *table, const rt_alloc *alloc)
{
	*table = (rt_table){.alloc = alloc};
}

void
rt_table_deinit(rt_table *table)
{
	rt_free(table->alloc, table->slots);
	table->slots = NULL;
	table->room = table->count = 0;
}

void
rt_table_clear(rt_table *table)
{
	if (table->room > 0)
		memset(table->slots, 0, table->room * sizeof(*table->slots));
	table->count = 0;
}

static void
table_put(rt_table *table, uint64_t hash, size_t value_plus_1)
{
	size_t at = (size_t)rt_hash_u64(hash) & (table->room - 1);

	while (table->slots[at].value_plus_1 != 0)
		at = (at + 1) & (table->room - 1);
	table->slots[at] = (rt_table_slot){hash, value_plus_1};
	table->count++;
}

rt_status
rt_table_add(rt_table *table, uint64_t hash, size_t value)
{
	if (table->count + 1 > table->room / 2) {
		rt_table bigger = {table->alloc, NULL, table->room == 0 ? 16 : table->room * 2, 0};

		bigger.slots = rt_new0(table->alloc, bigger.room * sizeof(*bigger.slots));
		if (bigger.slots == NULL)
			return RT_NOMEM;
		for (size_t i = 0; i < table->room; i++)
			if (table->slots[i].value_plus_1 != 0)
				table_put(&bigger, table->slots[i].hash,
					  table->slots[i].value_plus_1);
		rt_free(table->alloc, table->slots);
		*table = bigger;
	}
	table_put(table, hash, value + 1);
	return RT_OK;
}

bool
rt_table_next(const rt_table *table, uint64_t hash, size_t *probe, size_t *out_value)
{
	size_t start = (size_t)rt_hash_u64(hash);

	while (table->room > 0 && *probe < table->room) {
		const rt_table_slot *slot = &table->slots[(start + *probe) & (table->room - 1)];

		(*probe)++;
		if (slot->value_plus_1 == 0)
			return false;
		if (slot->hash == hash) {
			*out_value = slot->value_plus_1 - 1;
			return true;
		}
	}
	return false;
}

/* ---- numbers by string ---- */

static const uint64_t HASH_SEED = 0x7069;

static void
close_index(void *item)
{
	rt_index *index = item;

	rt_free(index->alloc, index->slots);
	memset(index, 0, sizeof(*index));
}

/* The slot that holds key, or the free one where it belongs. */
static rt_index_slot *
slot_of(const rt_index *index, rt_str key)
{
	size_t at = (size_t)rt_hash(key.size == 0 ? "" : key.ptr, key.size, HASH_SEED);

	for (at &= index->room - 1; index->slots[at].value_plus_1 != 0;
	     at = (at + 1) & (index->room - 1))
		if (rt_str_eq(index->slots[at].key, key))
			break;
	return &index->slots[at];
}

static void
grow_index(rt_scope *s, rt_index *index)
{
	rt_index bigger = {s->alloc, NULL, index->room == 0 ? 16 : index->room * 2, index->count};
	bool is_new = index->alloc == NULL;

	bigger.slots = rt_new0(s->alloc, bigger.room * sizeof(*bigger.slots));
	if (bigger.slots == NULL) {
		(void)rt_scope_nomem(s);
		return;
	}
	for (size_t i = 0; i < index->room; i++)
		if (index->slots[i].value_plus_1 != 0)
			*slot_of(&bigger, index->slots[i].key) = index->slots[i];
	rt_free(s->alloc, index->slots);
	*index = bigger;
	if (is_new)
		rt_scope_defer(s, close_index, index);
}

int64_t
rt_index_put(rt_scope *s, rt_index *index, rt_str key, size_t value)
{
	rt_index_slot *slot;
	int64_t before;

	if (rt_ok(s) && index->count >= index->room / 2)
		grow_index(s, index);
	if (!rt_ok(s))
		return -1;
	slot = slot_of(index, key);
	before = (int64_t)slot->value_plus_1 - 1;
	index->count += before < 0;
	*slot = (rt_index_slot){key, value + 1};
	return before;
}

int64_t
rt_index_get(const rt_index *index, rt_str key)
{
	return index->room == 0 ? -1 : (int64_t)slot_of(index, key)->value_plus_1 - 1;
}

void
rt_index_clear(rt_index *index)
{
	if (index->room > 0)
		memset(index->slots, 0, index->room * sizeof(*index->slots));
	index->count = 0;
}
