/* SPDX-License-Identifier: MIT
 *
 * A hash table of copies. Names are only added, so a number in use stays in use. */
#include "ops/names.h"

#include <string.h>

#include "base/hash.h"

void
rt_names_init(rt_names *names, const rt_alloc *alloc)
{
	memset(names, 0, sizeof(*names));
	names->alloc = alloc;
}

void
rt_names_deinit(rt_names *names)
{
	rt_free(names->alloc, names->items);
	rt_arena_free(names->arena);
	memset(names, 0, sizeof(*names));
}

static size_t
place_of(const rt_name_item *items, size_t room, rt_str name, uint64_t hash)
{
	size_t at = (size_t)hash & (room - 1);

	while (items[at].ptr != NULL &&
	       (items[at].hash != hash || !rt_str_eq(rt_str_at(items[at].ptr, items[at].size), name)))
		at = (at + 1) & (room - 1);
	return at;
}

static bool
grow(rt_names *names)
{
	size_t room = names->room == 0 ? 64 : names->room * 2, i;
	rt_name_item *items;

	if (names->count * 2 + 2 <= names->room)
		return true;
	items = rt_new_array(names->alloc, room, sizeof(*items));
	if (items == NULL)
		return false;
	memset(items, 0, room * sizeof(*items));
	for (i = 0; i < names->room; i++) {
		const rt_name_item *old = &names->items[i];

		if (old->ptr != NULL)
			items[place_of(items, room, rt_str_at(old->ptr, old->size), old->hash)] =
				*old;
	}
	rt_free(names->alloc, names->items);
	names->items = items;
	names->room = room;
	return true;
}

/* The item of a name, created if missing. */
static rt_name_item *
item_of(rt_names *names, rt_str name)
{
	uint64_t hash = rt_hash(name.ptr, name.size, 3);
	rt_name_item *item;
	char *ptr;

	if (!grow(names))
		return NULL;
	item = &names->items[place_of(names->items, names->room, name, hash)];
	if (item->ptr != NULL)
		return item;
	if (names->arena == NULL)
		names->arena = rt_arena_new(names->alloc);
	ptr = names->arena == NULL ? NULL : rt_arena_get(names->arena, name.size + 1);
	if (ptr == NULL)
		return NULL;
	if (name.size > 0)
		memcpy(ptr, name.ptr, name.size);
	item->ptr = ptr;
	item->size = name.size;
	item->hash = hash;
	names->count++;
	return item;
}

rt_status
rt_names_add(rt_names *names, rt_str name)
{
	rt_name_item *item = item_of(names, name);

	if (item == NULL)
		return RT_NOMEM;
	item->used = true;
	return RT_OK;
}

bool
rt_names_has(const rt_names *names, rt_str name)
{
	if (names->room == 0)
		return false;
	return names->items[place_of(names->items, names->room, name,
				     rt_hash(name.ptr, name.size, 3))]
		.used;
}

uint64_t *
rt_names_next(rt_names *names, rt_str base)
{
	rt_name_item *item = item_of(names, base);

	return item != NULL ? &item->next : NULL;
}

rt_status
rt_names_number(rt_names *names, rt_str base, const char *between, uint64_t first, rt_buf *out)
{
	rt_name_item *item = item_of(names, base);

	if (item == NULL)
		return RT_NOMEM;
	if (item->next < first)
		item->next = first;
	for (;; item->next++) {
		rt_buf_clear(out);
		rt_buf_add_str(out, base);
		rt_buf_add_c(out, between);
		rt_buf_add_u64(out, item->next);
		if (out->status != RT_OK)
			return out->status;
		if (!rt_names_has(names, rt_buf_str(out)))
			return RT_OK;
	}
}
