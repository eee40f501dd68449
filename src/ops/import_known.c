/* SPDX-License-Identifier: MIT
 *
 * A sorted list of hashes, and the hash of an outline. */
#include "ops/import_known.h"

#include <stdlib.h> /* qsort */

#include "base/hash.h"

static const rt_str fields[] = {{"source", 6}, {"source_content", 14}};

enum { FIELDS = sizeof(fields) / sizeof(fields[0]) };

static uint64_t
hash_of(rt_str json)
{
	return rt_hash(json.ptr, json.size, 5);
}

static int
by_hash(const void *a, const void *b)
{
	const rt_known_item *x = a, *y = b;

	if (x->hash != y->hash)
		return x->hash < y->hash ? -1 : 1;
	return (x->disc > y->disc) - (x->disc < y->disc);
}

static bool
add_item(rt_known *known, uint64_t hash, uint32_t disc)
{
	if (known->count == known->room) {
		size_t room = known->room == 0 ? 64 : known->room + known->room / 2;
		rt_known_item *items =
			rt_resize(known->alloc, known->items, room * sizeof(*items));

		if (items == NULL)
			return false;
		known->items = items;
		known->room = room;
	}
	known->items[known->count++] = (rt_known_item){hash, disc, 0};
	return true;
}

rt_status
rt_known_init(rt_known *known, const rt_alloc *alloc, const rt_project *project, rt_error *err)
{
	size_t discs = rt_project_disc_count(project), i, k;

	memset(known, 0, sizeof(*known));
	known->alloc = alloc;
	known->discs = discs;
	known->found = rt_new_array(alloc, discs + 1, sizeof(*known->found));
	if (known->found == NULL)
		return rt_fail(err, RT_NOMEM, "out of memory");
	memset(known->found, 0, (discs + 1) * sizeof(*known->found));
	for (i = 1; i <= discs; i++) {
		const rt_disc *disc;
		rt_status st;

		if (!rt_project_cell(project, (uint32_t)i)->present)
			continue;
		st = rt_project_disc_peek(project, (uint32_t)i, &disc, err);
		for (k = 0; st == RT_OK && k < FIELDS; k++) {
			rt_str json = rt_fields_get(disc->fields, fields[k]);

			if (json.ptr != NULL && !add_item(known, hash_of(json), (uint32_t)i))
				st = rt_fail(err, RT_NOMEM, "out of memory");
		}
		rt_object_unref(disc);
		if (st != RT_OK)
			return st;
	}
	if (known->count > 0)
		qsort(known->items, known->count, sizeof(*known->items), by_hash);
	return RT_OK;
}

void
rt_known_deinit(rt_known *known)
{
	rt_free(known->alloc, known->items);
	rt_free(known->alloc, known->found);
	memset(known, 0, sizeof(*known));
}

rt_status
rt_known_find(rt_known *known, const rt_project *now, rt_str source_json, uint32_t *out,
	      rt_error *err)
{
	uint64_t hash = hash_of(source_json);
	size_t first = 0, end = known->count, i, k;

	*out = 0;
	while (first < end) {
		size_t middle = first + (end - first) / 2;

		if (known->items[middle].hash < hash)
			first = middle + 1;
		else
			end = middle;
	}
	if (first == known->count)
		return RT_OK;
	for (i = first + known->items[first].passed;
	     i < known->count && known->items[i].hash == hash; i++) {
		uint32_t number = known->items[i].disc;
		const rt_disc *disc;
		rt_status st;

		if (known->found[number]) {
			if (i == first + known->items[first].passed)
				known->items[first].passed++;
			continue;
		}
		st = rt_project_disc_peek(now, number, &disc, err);
		for (k = 0; st == RT_OK && k < FIELDS && *out == 0; k++)
			if (rt_str_eq(rt_fields_get(disc->fields, fields[k]), source_json)) {
				known->found[number] = true;
				*out = number;
			}
		rt_object_unref(disc);
		if (st != RT_OK || *out != 0)
			return st;
	}
	return RT_OK;
}

/* ---- the mark ---- */

static uint64_t
add_str(uint64_t hash, rt_str s)
{
	return rt_hash(s.ptr, s.size, hash);
}

static uint64_t
add_number(uint64_t hash, uint64_t number)
{
	return rt_hash_u64(hash * 31 ^ number);
}

uint64_t
rt_known_hash(const rt_outline *o, uint64_t before)
{
	uint64_t hash = add_number(2 ^ before, o->node_count); /* 2: the version of this hash */
	size_t i, k;

	hash = add_str(hash, o->name);
	for (i = 0; i < o->node_count; i++) {
		const rt_node *n = &o->nodes[i];

		hash = add_str(hash, n->id);
		hash = add_str(hash, n->role);
		hash = add_str(hash, n->kind);
		hash = add_str(hash, n->label);
		hash = add_str(hash, n->body);
		hash = add_number(hash, (uint64_t)(unsigned char)n->body_format << 8 |
						(n->has_ts ? 2u : 0u) | (n->muted ? 1u : 0u));
		if (n->has_ts)
			hash = add_number(add_number(hash, (uint64_t)n->ts.us), n->ts.ns);
		hash = add_number(hash, (uint64_t)n->parent);
	}
	hash = add_number(hash, o->takes == NULL ? SIZE_MAX : o->take_count);
	for (i = 0; o->takes != NULL && i < o->take_count; i++) {
		const rt_outline_take *t = &o->takes[i];

		hash = add_str(hash, t->name);
		hash = add_str(hash, t->git_commit);
		if (t->files.ptr != NULL)
			hash = add_str(hash, t->files);
		hash = add_number(hash, t->node_count);
		for (k = 0; k < t->node_count; k++)
			hash = add_number(hash, (uint64_t)t->nodes[k]);
	}
	hash = add_number(hash, o->field_count);
	for (i = 0; i < o->field_count; i++) {
		hash = add_str(hash, o->fields[i].name);
		hash = add_str(hash, o->fields[i].json);
	}
	return hash;
}

void
rt_known_mark(uint64_t hash, rt_buf *out)
{
	rt_buf_add_f(out, "content:%016llx", (unsigned long long)hash);
}
