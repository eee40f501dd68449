/* SPDX-License-Identifier: MIT */
#include "base/hash_table.h"

#include <string.h>

enum { ROOM_MIN = 64 };

static uint32_t
fold(uint64_t hash)
{
	return (uint32_t)(hash ^ hash >> 32);
}

static void
put(rt_hash_table *t, rt_hash_slot slot)
{
	size_t at = slot.hash & (t->room - 1);

	while (t->slots[at].number != UINT32_MAX)
		at = (at + 1) & (t->room - 1);
	t->slots[at] = slot;
}

void
rt_hash_table_deinit(rt_hash_table *t, const rt_alloc *alloc)
{
	rt_free(alloc, t->slots);
	*t = (rt_hash_table){0};
}

rt_status
rt_hash_table_reserve(rt_hash_table *t, const rt_alloc *alloc, size_t count)
{
	rt_hash_table larger = {.room = t->room == 0 ? ROOM_MIN : t->room, .count = t->count};

	while (larger.room / 2 <= count)
		larger.room *= 2;
	if (larger.room == t->room)
		return RT_OK;
	larger.slots = rt_new_array(alloc, larger.room, sizeof(*larger.slots));
	if (larger.slots == NULL)
		return RT_NOMEM;
	memset(larger.slots, 0xFF, larger.room * sizeof(*larger.slots));
	for (size_t i = 0; i < t->room; i++)
		if (t->slots[i].number != UINT32_MAX)
			put(&larger, t->slots[i]);
	rt_free(alloc, t->slots);
	*t = larger;
	return RT_OK;
}

rt_status
rt_hash_table_add(rt_hash_table *t, const rt_alloc *alloc, uint64_t hash, size_t number)
{
	RT_ASSERT(number < UINT32_MAX);
	if (rt_hash_table_reserve(t, alloc, t->count + 1) != RT_OK)
		return RT_NOMEM;
	put(t, (rt_hash_slot){fold(hash), (uint32_t)number});
	t->count++;
	return RT_OK;
}

bool
rt_hash_table_next(const rt_hash_table *t, uint64_t hash, size_t *probe, uint32_t *out)
{
	uint32_t folded = fold(hash);

	while (t->room != 0) {
		const rt_hash_slot *slot = &t->slots[(folded + (*probe)++) & (t->room - 1)];

		if (slot->number == UINT32_MAX)
			return false;
		if (slot->hash == folded) {
			*out = slot->number;
			return true;
		}
	}
	return false;
}
