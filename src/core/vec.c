/* SPDX-License-Identifier: MIT
 *
 * A tree of nodes of 32 references: to items in the lowest ones, to nodes above. */
#include "core/vec.h"

enum { BITS = 5, NODE = 1 << BITS };

typedef struct node {
	rt_object object;
	size_t count;
	const void *items[NODE];
} node;

struct rt_vec {
	rt_object object;
	size_t count;
	unsigned shift;   /* of the root: 0 where it holds the items */
	const void *root; /* a node; NULL: empty */
};

/* The tree is as high as its shift says, so this ends. */
static void
node_free(rt_object *object)
{
	node *n = (node *)object;
	size_t i;

	for (i = 0; i < n->count; i++)
		rt_object_unref(n->items[i]);
	rt_free(object->alloc, n);
}

static void
vec_free(rt_object *object)
{
	rt_vec *vec = (rt_vec *)object;

	rt_object_unref(vec->root);
	rt_free(object->alloc, vec);
}

static rt_vec *
vec_alloc(const rt_alloc *alloc)
{
	rt_vec *vec = rt_new(alloc, sizeof(*vec));

	if (vec == NULL)
		return NULL;
	rt_object_init(&vec->object, alloc, vec_free);
	vec->count = 0;
	vec->shift = 0;
	vec->root = NULL;
	return vec;
}

rt_status
rt_vec_new(const rt_alloc *alloc, const rt_vec **out_vec)
{
	rt_vec *vec = vec_alloc(alloc);

	if (vec == NULL)
		return RT_NOMEM;
	*out_vec = vec;
	return RT_OK;
}

/* Up to NODE items (referenced) in one node. */
static node *
node_of(const rt_alloc *alloc, const void *const *items, size_t count)
{
	node *n = rt_new(alloc, sizeof(*n));

	if (n == NULL)
		return NULL;
	rt_object_init(&n->object, alloc, node_free);
	for (n->count = 0; n->count < count; n->count++)
		n->items[n->count] = rt_object_ref(items[n->count]);
	return n;
}

rt_status
rt_vec_from(const rt_alloc *alloc, const void *const *items, size_t count, const rt_vec **out_vec)
{
	rt_vec *vec = vec_alloc(alloc);
	const void **level = NULL; /* nodes of the level below, ours */
	size_t level_count = 0, i;

	if (vec == NULL)
		return RT_NOMEM;
	vec->count = count;
	while (count > 0 && (level == NULL || level_count > 1)) {
		bool is_leaf = level == NULL;
		const void *const *from = is_leaf ? items : (const void *const *)level;
		size_t from_count = is_leaf ? count : level_count, made = 0;
		const void **next = rt_new_array(alloc, from_count / NODE + 1, sizeof(*next));

		for (i = 0; next != NULL && i < from_count; i += NODE, made++) {
			next[made] = node_of(alloc, from + i,
					     from_count - i < NODE ? from_count - i : NODE);
			if (next[made] == NULL)
				break;
		}
		for (size_t k = 0; k < level_count; k++)
			rt_object_unref(level[k]);
		rt_free(alloc, level);
		if (next == NULL || i < from_count) {
			while (made > 0)
				rt_object_unref(next[--made]);
			rt_free(alloc, next);
			rt_object_unref(vec);
			return RT_NOMEM;
		}
		vec->shift += is_leaf ? 0 : BITS;
		level = next;
		level_count = made;
	}
	if (level != NULL)
		vec->root = level[0];
	rt_free(alloc, level);
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
	const node *n = vec->root;
	unsigned shift;

	RT_ASSERT(at < vec->count);
	for (shift = vec->shift; shift > 0; shift -= BITS)
		n = n->items[at >> shift & (NODE - 1)];
	return n->items[at & (NODE - 1)];
}

/* A copy of old (NULL: none) without the item at this position. */
static node *
copy_but(const rt_alloc *alloc, const node *old, size_t place)
{
	node *n = rt_new(alloc, sizeof(*n));
	size_t i;

	if (n == NULL)
		return NULL;
	rt_object_init(&n->object, alloc, node_free);
	n->count = old == NULL ? 0 : old->count;
	for (i = 0; i < n->count; i++)
		n->items[i] = i == place ? NULL : rt_object_ref(old->items[i]);
	if (place == n->count)
		n->items[n->count++] = NULL;
	return n;
}

rt_status
rt_vec_set(const rt_vec *vec, size_t at, const void *item, const rt_vec **out_vec)
{
	const rt_alloc *alloc = vec->object.alloc;
	rt_vec *next = vec_alloc(alloc);
	const node *old = vec->root;
	const void **to;
	unsigned shift = vec->shift;

	RT_ASSERT(at <= vec->count);
	if (next == NULL)
		return RT_NOMEM;
	to = &next->root;
	if (at >> shift >> BITS != 0) { /* full: one more level above */
		node *n = copy_but(alloc, NULL, 0);

		if (n == NULL) {
			rt_object_unref(next);
			return RT_NOMEM;
		}
		n->items[0] = rt_object_ref(old);
		n->items[n->count++] = NULL;
		shift += BITS;
		next->root = n;
		next->shift = shift;
		to = &n->items[1];
		old = NULL;
	} else {
		next->shift = shift;
		shift += BITS;
	}
	while (shift > 0) {
		size_t place;
		node *n;

		shift -= BITS;
		place = at >> shift & (NODE - 1);
		n = copy_but(alloc, old, place);
		if (n == NULL) {
			rt_object_unref(next);
			return RT_NOMEM;
		}
		*to = n;
		to = &n->items[place];
		old = old == NULL || place >= old->count || shift == 0 ? NULL : old->items[place];
	}
	*to = rt_object_ref(item);
	next->count = vec->count + (at == vec->count);
	*out_vec = next;
	return RT_OK;
}

/* The lowest node with this position, if it can be changed in place; the item may be the next one of
 * the node. */
static node *
own_leaf(const rt_vec *vec, size_t at)
{
	const node *n = vec->root;

	if (n == NULL || at >> vec->shift >> BITS != 0 || !rt_object_is_single(vec))
		return NULL;
	for (unsigned shift = vec->shift; shift > 0; shift -= BITS) {
		size_t place = at >> shift & (NODE - 1);

		if (!rt_object_is_single(n) || place >= n->count)
			return NULL;
		n = n->items[place];
	}
	return rt_object_is_single(n) ? (node *)(uintptr_t)n : NULL;
}

rt_status
rt_vec_put(const rt_vec **vec, size_t at, const void *item)
{
	rt_vec *mine = (rt_vec *)(uintptr_t)*vec;
	node *leaf = own_leaf(mine, at);
	size_t place = at & (NODE - 1);
	const rt_vec *next;
	rt_status st;

	RT_ASSERT(at <= mine->count);
	if (leaf == NULL) {
		st = rt_vec_set(mine, at, item, &next);
		if (st != RT_OK)
			return st;
		rt_object_unref(mine);
		*vec = next;
		return RT_OK;
	}
	(void)rt_object_ref(item);
	if (place < leaf->count)
		rt_object_unref(leaf->items[place]);
	else
		leaf->count++;
	leaf->items[place] = item;
	mine->count += at == mine->count;
	return RT_OK;
}

void *
rt_vec_own(const rt_vec *vec, size_t at)
{
	const node *leaf = at < vec->count ? own_leaf(vec, at) : NULL;
	const void *item = leaf != NULL ? leaf->items[at & (NODE - 1)] : NULL;

	return item != NULL && rt_object_is_single(item) ? (void *)(uintptr_t)item : NULL;
}
