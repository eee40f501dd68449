/* SPDX-License-Identifier: MIT
 *
 * Names are only added, so a number in use stays in use. */
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
	rt_hash_table_deinit(&names->numbers, names->alloc);
	rt_arena_free(names->arena);
	memset(names, 0, sizeof(*names));
}

static uint64_t
hash_of(rt_str name)
{
	return rt_hash(name.ptr, name.size, 3);
}

/* NULL: unknown. */
static rt_name_item *
find(const rt_names *names, rt_str name)
{
	uint32_t i;

	for (size_t probe = 0; rt_hash_table_next(&names->numbers, hash_of(name), &probe, &i);)
		if (rt_str_eq(names->items[i].name, name))
			return &names->items[i];
	return NULL;
}

/* The item of a name, created if missing. NULL: no memory. */
static rt_name_item *
item_of(rt_names *names, rt_str name)
{
	rt_name_item *item = find(names, name);
	char *ptr;

	if (item != NULL)
		return item;
	if (names->count == names->room) {
		size_t room = names->room == 0 ? 32 : names->room * 2;

		item = rt_resize(names->alloc, names->items, room * sizeof(*item));
		if (item == NULL)
			return NULL;
		names->items = item;
		names->room = room;
	}
	if (names->arena == NULL)
		names->arena = rt_arena_new(names->alloc);
	ptr = names->arena == NULL ? NULL : rt_arena_get(names->arena, name.size + 1);
	if (ptr == NULL ||
	    rt_hash_table_add(&names->numbers, names->alloc, hash_of(name), names->count) != RT_OK)
		return NULL;
	if (name.size > 0)
		memcpy(ptr, name.ptr, name.size);
	item = &names->items[names->count++];
	*item = (rt_name_item){.name = rt_str_at(ptr, name.size)};
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
	const rt_name_item *item = find(names, name);

	return item != NULL && item->used;
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
