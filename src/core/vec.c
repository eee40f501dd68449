/* SPDX-License-Identifier: MIT
 *
 * Chunks of 32 references. */
#include "core/vec.h"

enum { CHUNK = 32 };

typedef struct chunk {
	rt_object object;
	size_t count;
	const void *items[CHUNK];
} chunk;

struct rt_vec {
	rt_object object;
	size_t count;
	size_t chunk_count;
	const chunk *chunks[];
};

static void
chunk_free(rt_object *object)
{
	chunk *c = (chunk *)object;
	size_t i;

	for (i = 0; i < c->count; i++)
		rt_object_unref(c->items[i]);
	rt_free(object->alloc, c);
}

static void
vec_free(rt_object *object)
{
	rt_vec *vec = (rt_vec *)object;
	size_t i;

	for (i = 0; i < vec->chunk_count; i++)
		rt_object_unref(vec->chunks[i]);
	rt_free(object->alloc, vec);
}

static rt_vec *
vec_alloc(const rt_alloc *alloc, size_t chunk_count)
{
	rt_vec *vec = rt_new(alloc, sizeof(*vec) + chunk_count * sizeof(chunk *));

	if (vec == NULL)
		return NULL;
	rt_object_init(&vec->object, alloc, vec_free);
	vec->count = 0;
	vec->chunk_count = chunk_count;
	return vec;
}

rt_status
rt_vec_new(const rt_alloc *alloc, const rt_vec **out_vec)
{
	rt_vec *vec = vec_alloc(alloc, 0);

	if (vec == NULL)
		return RT_NOMEM;
	*out_vec = vec;
	return RT_OK;
}

size_t
rt_vec_count(const rt_vec *vec)
{
	return vec->count;
}

const void *
rt_vec_get(const rt_vec *vec, size_t at)
{
	RT_ASSERT(at < vec->count);
	return vec->chunks[at / CHUNK]->items[at % CHUNK];
}

rt_status
rt_vec_set(const rt_vec *vec, size_t at, const void *item, const rt_vec **out_vec)
{
	const rt_alloc *alloc = vec->object.alloc;
	size_t where = at / CHUNK, i;
	bool grow = where == vec->chunk_count;
	rt_vec *next;
	chunk *c;

	RT_ASSERT(at <= vec->count);
	next = vec_alloc(alloc, vec->chunk_count + grow);
	c = rt_new(alloc, sizeof(*c));
	if (next == NULL || c == NULL) {
		rt_free(alloc, next);
		rt_free(alloc, c);
		return RT_NOMEM;
	}
	rt_object_init(&c->object, alloc, chunk_free);
	c->count = grow ? 0 : vec->chunks[where]->count;
	for (i = 0; i < c->count; i++)
		c->items[i] = i == at % CHUNK ? NULL : rt_object_ref(vec->chunks[where]->items[i]);
	if (at % CHUNK == c->count)
		c->count++;
	c->items[at % CHUNK] = rt_object_ref(item);
	for (i = 0; i < next->chunk_count; i++)
		next->chunks[i] = i == where ? c : rt_object_ref(vec->chunks[i]);
	next->count = vec->count + (at == vec->count);
	*out_vec = next;
	return RT_OK;
}
