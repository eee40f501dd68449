/* SPDX-License-Identifier: MIT
 *
 * Ids to entries, and entries to their parents.
 *
 * The table is open addressing over 32-bit indices; its keys stay where they are. A walk
 * up marks what it passes, so that meeting a mark of the same walk is a circle; a second
 * walk over the same way settles it. Every entry is walked over at most twice. */
#include "base/encode.h"
#include "base/hash.h"
#include "formats/pi_impl.h"

static const uint64_t HASH_SEED = 0x7069;

void
rt_pi_ids_init(rt_pi_ids *ids, const rt_alloc *alloc, const rt_str *base, size_t stride)
{
	memset(ids, 0, sizeof(*ids));
	ids->alloc = alloc;
	ids->base = (const char *)base;
	ids->stride = stride;
}

void
rt_pi_ids_deinit(rt_pi_ids *ids)
{
	rt_free(ids->alloc, ids->slots);
	ids->slots = NULL;
	ids->room = ids->used = 0;
}

static rt_str
key_at(const rt_pi_ids *ids, size_t index)
{
	rt_str key;

	memcpy(&key, ids->base + index * ids->stride, sizeof(key));
	return key;
}

/* The slot that holds key, or the free one where it belongs. */
static size_t
slot_of(const rt_pi_ids *ids, rt_str key)
{
	size_t at = (size_t)rt_hash(key.ptr, key.size, HASH_SEED) & (ids->room - 1);

	while (ids->slots[at] != 0 && !rt_str_eq(key_at(ids, ids->slots[at] - 1), key))
		at = (at + 1) & (ids->room - 1);
	return at;
}

static rt_status
grow(rt_pi_ids *ids)
{
	uint32_t *old = ids->slots;
	size_t old_room = ids->room, i;
	size_t room = old_room == 0 ? 16 : old_room * 2;
	uint32_t *slots = rt_new_array(ids->alloc, room, sizeof(*slots));

	if (slots == NULL)
		return RT_NOMEM;
	memset(slots, 0, room * sizeof(*slots));
	ids->slots = slots;
	ids->room = room;
	for (i = 0; i < old_room; i++)
		if (old[i] != 0)
			slots[slot_of(ids, key_at(ids, old[i] - 1))] = old[i];
	rt_free(ids->alloc, old);
	return RT_OK;
}

rt_status
rt_pi_ids_put(rt_pi_ids *ids, size_t index, int64_t *out_before)
{
	size_t at;
	rt_status st;

	if (index >= UINT32_MAX - 1)
		return RT_LIMIT;
	if (ids->used >= ids->room / 2) {
		st = grow(ids);
		if (st != RT_OK)
			return st;
	}
	at = slot_of(ids, key_at(ids, index));
	if (out_before != NULL)
		*out_before = (int64_t)ids->slots[at] - 1;
	ids->used += ids->slots[at] == 0;
	ids->slots[at] = (uint32_t)index + 1;
	return RT_OK;
}

int64_t
rt_pi_ids_get(const rt_pi_ids *ids, rt_str key)
{
	return ids->room == 0 ? -1 : (int64_t)ids->slots[slot_of(ids, key)] - 1;
}

void
rt_pi_fresh_init(rt_pi_fresh *fresh, const rt_env *env, rt_str seed)
{
	fresh->env = env;
	fresh->state = rt_hash(seed.ptr, seed.size, HASH_SEED);
}

static void
fresh_bytes(rt_pi_fresh *fresh, unsigned char *to, size_t size)
{
	size_t i;

	if (fresh->env != NULL) {
		fresh->env->random(fresh->env->ctx, to, size);
		return;
	}
	for (i = 0; i < size; i++) {
		if (i % 8 == 0)
			fresh->state += 0x9E3779B97F4A7C15u;
		to[i] = (unsigned char)(rt_hash_u64(fresh->state) >> (i % 8 * 8));
	}
}

size_t
rt_pi_fresh_id(rt_pi_fresh *fresh, const rt_pi_ids *ids, char *to)
{
	enum { TRIES = 100 };
	unsigned char bytes[16];
	char digits[32];
	int i;

	for (i = 0; i < TRIES; i++) {
		fresh_bytes(fresh, bytes, RT_PI_ID_SIZE / 2);
		rt_hex(bytes, RT_PI_ID_SIZE / 2, to);
		if (rt_pi_ids_get(ids, rt_str_at(to, RT_PI_ID_SIZE)) < 0)
			return RT_PI_ID_SIZE;
	}
	fresh_bytes(fresh, bytes, sizeof(bytes)); /* 122 random bits: taken as they are */
	bytes[6] = (unsigned char)((bytes[6] & 0x0F) | 0x40);
	bytes[8] = (unsigned char)((bytes[8] & 0x3F) | 0x80);
	rt_hex(bytes, sizeof(bytes), digits);
	memcpy(to, digits, 8);
	memcpy(to + 9, digits + 8, 4);
	memcpy(to + 14, digits + 12, 4);
	memcpy(to + 19, digits + 16, 4);
	memcpy(to + 24, digits + 20, 12);
	to[8] = to[13] = to[18] = to[23] = '-';
	return RT_PI_UUID_SIZE;
}

/* Item i of an array that is strided inside larger things. */
static void *
item(const void *array, const rt_pi_links *links, size_t i)
{
	return (char *)(uintptr_t)array + i * links->stride;
}

static uint64_t
line_of(const rt_pi_links *links, size_t i)
{
	return links->numbers == NULL ? 0 : *(const uint64_t *)item(links->numbers, links, i);
}

static int64_t
find_parent(const rt_pi_ids *ids, const rt_pi_links *links, size_t i, rt_report *report)
{
	rt_str id = *(const rt_str *)item(links->ids, links, i);
	rt_str wanted = *(const rt_str *)item(links->parent_ids, links, i);
	int64_t parent;

	if (wanted.size == 0)
		return -1;
	if (rt_str_eq(id, wanted)) {
		rt_report_add(report, RT_REMARK_REPAIRED, line_of(links, i),
			      "entry %.*s is its own parent; made a root", (int)rt_utf8_cut(id, 40),
			      id.ptr);
		return -1;
	}
	parent = rt_pi_ids_get(ids, wanted);
	if (parent < 0)
		rt_report_add(report, RT_REMARK_REPAIRED, line_of(links, i),
			      "its parent %.*s is not in the file; made a root",
			      (int)rt_utf8_cut(wanted, 40), wanted.ptr);
	return parent;
}

/* state: 0 not seen, 1 on the walk under way, 2 settled */
static void
walk_up(const rt_pi_links *links, unsigned char *state, size_t from, rt_report *report)
{
	int64_t at = (int64_t)from, met;
	rt_str id;

	while (at >= 0 && state[at] == 0) {
		state[at] = 1;
		at = *(int64_t *)item(links->parents, links, (size_t)at);
	}
	met = at >= 0 && state[at] == 1 ? at : -1; /* on this very walk: a circle */
	for (at = (int64_t)from; at >= 0 && state[at] == 1;
	     at = *(int64_t *)item(links->parents, links, (size_t)at))
		state[at] = 2;
	if (met < 0)
		return;
	*(int64_t *)item(links->parents, links, (size_t)met) = -1;
	*(bool *)item(links->cut, links, (size_t)met) = true;
	id = *(const rt_str *)item(links->ids, links, (size_t)met);
	rt_report_add(report, RT_REMARK_REPAIRED, line_of(links, (size_t)met),
		      "entry %.*s is its own ancestor; made a root", (int)rt_utf8_cut(id, 40),
		      id.ptr == NULL ? "" : id.ptr);
}

rt_status
rt_pi_link(const rt_alloc *alloc, const rt_pi_ids *ids, const rt_pi_links *links, rt_report *report)
{
	unsigned char *state;
	size_t i;

	if (links->count == 0)
		return RT_OK;
	state = rt_new_array(alloc, links->count, 1);
	if (state == NULL)
		return RT_NOMEM;
	memset(state, 0, links->count);
	for (i = 0; i < links->count; i++) {
		*(int64_t *)item(links->parents, links, i) = find_parent(ids, links, i, report);
		*(bool *)item(links->cut, links, i) = false;
	}
	for (i = 0; i < links->count; i++)
		if (state[i] == 0)
			walk_up(links, state, i, report);
	rt_free(alloc, state);
	return RT_OK;
}
