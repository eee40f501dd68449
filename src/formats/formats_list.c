/* SPDX-License-Identifier: MIT
 *
 * Hash tables: open addressing with linear probing, at most half full. */
#include "formats/formats_list.h"

#include "base/hash.h"

enum {
	ROOM_KEPT = 4096 /* slots of a cleared index */
};

bool
rt_next_word(const char **words, rt_str *out_word)
{
	const char *end = strchr(*words, ' ');

	*out_word = end == NULL ? rt_str_of(*words) : rt_str_at(*words, (size_t)(end - *words));
	*words += out_word->size + (end != NULL);
	return out_word->size > 0;
}

bool
rt_is_word(rt_str name, const char *words)
{
	rt_str word;

	while (rt_next_word(&words, &word))
		if (rt_str_eq(name, word))
			return true;
	return false;
}

/* ---- arrays ---- */

void
rt_items_clear(rt_items *vec)
{
	if (vec->items != NULL)
		rt_free(vec->alloc, vec->items);
	vec->items = NULL;
	vec->count = vec->room = 0;
}

static void
close_vec(void *item)
{
	rt_items *vec = item;

	rt_items_clear(vec);
	vec->alloc = NULL;
}

void *
rt_items_push(rt_scope *s, rt_items *vec, size_t item_size)
{
	if (rt_ok(s) && vec->count == vec->room) {
		size_t room = vec->room == 0 ? 16 : vec->room * 2;
		bool is_new = vec->alloc == NULL;
		void *items = NULL;

		if (room <= SIZE_MAX / item_size)
			items = rt_resize(s->alloc, vec->items, room * item_size);
		if (items == NULL) {
			(void)rt_scope_nomem(s);
			return NULL;
		}
		*vec = (rt_items){s->alloc, items, vec->count, room};
		if (is_new)
			rt_scope_defer(s, close_vec, vec);
	}
	return rt_ok(s) ? (char *)vec->items + vec->count++ * item_size : NULL;
}

/* ---- hash tables ---- */

static void
close_index(void *item)
{
	rt_index *index = item;

	rt_free(index->alloc, index->slots);
	memset(index, 0, sizeof(*index));
}

static size_t
hash_of(rt_str key)
{
	return (size_t)(key.ptr == NULL ? rt_hash_u64(key.size)
					: rt_hash(key.ptr, key.size, 0x7069));
}

/* The slot that holds key, or the free one where it belongs. */
static rt_index_slot *
slot_of(const rt_index *index, rt_str key, bool is_new)
{
	size_t at = hash_of(key) & (index->room - 1);

	while (index->slots[at].value_plus_1 != 0 &&
	       (is_new || !rt_str_eq(index->slots[at].key, key)))
		at = (at + 1) & (index->room - 1);
	return &index->slots[at];
}

/* Makes room for one more. */
static void
reserve(rt_scope *s, rt_index *index)
{
	rt_index bigger = {s->alloc, NULL, index->room == 0 ? 16 : index->room * 2, index->count};
	bool is_new = index->alloc == NULL;

	if (!rt_ok(s) || index->count < index->room / 2)
		return;
	bigger.slots = rt_new0(s->alloc, bigger.room * sizeof(*bigger.slots));
	if (bigger.slots == NULL) {
		(void)rt_scope_nomem(s);
		return;
	}
	for (size_t i = 0; i < index->room; i++)
		if (index->slots[i].value_plus_1 != 0)
			*slot_of(&bigger, index->slots[i].key, true) = index->slots[i];
	rt_free(s->alloc, index->slots);
	*index = bigger;
	if (is_new)
		rt_scope_defer(s, close_index, index);
}

static rt_str
key_of(rt_str key)
{
	return key.size == 0 ? RT_STR("") : key; /* a key without ptr is a hash */
}

int64_t
rt_index_put(rt_scope *s, rt_index *index, rt_str key, size_t value)
{
	rt_index_slot *slot;
	int64_t before;

	reserve(s, index);
	if (!rt_ok(s))
		return -1;
	slot = slot_of(index, key_of(key), false);
	before = (int64_t)slot->value_plus_1 - 1;
	index->count += before < 0;
	*slot = (rt_index_slot){key_of(key), value + 1};
	return before;
}

int64_t
rt_index_get(const rt_index *index, rt_str key)
{
	return index->room == 0 ? -1
				: (int64_t)slot_of(index, key_of(key), false)->value_plus_1 - 1;
}

void
rt_index_add(rt_scope *s, rt_index *index, uint64_t hash, size_t value)
{
	rt_str key = {NULL, hash};

	reserve(s, index);
	if (!rt_ok(s))
		return;
	*slot_of(index, key, true) = (rt_index_slot){key, value + 1};
	index->count++;
}

bool
rt_index_next(const rt_index *index, uint64_t hash, size_t *probe, size_t *out_value)
{
	size_t start = hash_of(rt_str_at(NULL, hash));

	while (*probe < index->room) {
		const rt_index_slot *slot = &index->slots[(start + *probe) & (index->room - 1)];

		(*probe)++;
		if (slot->value_plus_1 == 0)
			return false;
		if (slot->key.size == hash) {
			*out_value = slot->value_plus_1 - 1;
			return true;
		}
	}
	return false;
}

void
rt_index_clear(rt_index *index)
{
	if (index->room > ROOM_KEPT) { /* clearing it costs more than a new one */
		rt_free(index->alloc, index->slots);
		index->slots = NULL;
		index->room = 0;
	}
	if (index->room > 0)
		memset(index->slots, 0, index->room * sizeof(*index->slots));
	index->count = 0;
}
