/* SPDX-License-Identifier: MIT
 *
 * Ids by string, whole entries by hash. */
#include "formats/formats_share.h"

#include "base/hash.h"

void
rt_share_discussion(rt_share *share)
{
	rt_index_clear(&share->ids);
	rt_index_clear(&share->contents);
	share->known.count = share->links.count = share->path.count = share->take_number = 0;
}

void
rt_share_take(rt_share *share)
{
	share->take_number++;
	share->path.count = 0;
}

const int64_t *
rt_share_path(const rt_share *share, size_t *out_count)
{
	*out_count = share->path.count;
	return share->path.items;
}

/* The known data of an id; NULL: none. */
static rt_share_id *
find_id(const rt_share *share, rt_str id)
{
	int64_t at = id.size > 0 ? rt_index_get(&share->ids, id) : -1;

	return at < 0 ? NULL : (rt_share_id *)share->known.items + at;
}

static rt_share_link *
link_of(const rt_share *share, int64_t node)
{
	return (rt_share_link *)share->links.items + node;
}

static uint64_t
hash_str(rt_str s, uint64_t seed)
{
	return rt_hash(s.size == 0 ? "" : s.ptr, s.size, seed ^ s.size);
}

static uint64_t
hash_node(const rt_node *n, char format, rt_str body)
{
	uint64_t h = n->id.size > 0 ? hash_str(n->id, 1) : rt_hash_u64((uint64_t)n->parent + 7);

	h = hash_str(n->role, h);
	h = hash_str(n->kind, h);
	h = hash_str(body, h + (unsigned char)format);
	return rt_hash_u64(h ^ (n->has_ts ? (uint64_t)n->ts.us ^ ((uint64_t)n->ts.ns << 48) : 0));
}

static bool
same_node(const rt_node *a, const rt_node *b, char format, rt_str body)
{
	bool same = rt_str_eq(a->id, b->id) && rt_str_eq(a->role, b->role) &&
		    rt_str_eq(a->kind, b->kind) && a->has_ts == b->has_ts &&
		    (!a->has_ts || (a->ts.us == b->ts.us && a->ts.ns == b->ts.ns)) &&
		    a->muted == b->muted && a->body_format == format && rt_str_eq(a->body, body);

	if (a->id.size == 0)
		return same && a->parent == b->parent;
	return same && a->collapsed == b->collapsed && a->read_mode == b->read_mode;
}

/* A node for an entry that no other take contains. */
static int64_t
new_node(rt_share *share, const rt_node *node, uint64_t hash)
{
	rt_build *b = share->b;
	size_t at = rt_build_node(b, node);
	rt_share_link *link = rt_items_push(&b->s, &share->links, sizeof(*link));
	rt_share_id *known = find_id(share, node->id);

	if (link == NULL)
		return -1;
	*link = (rt_share_link){-1, 0};
	if (known == NULL && node->id.size > 0) {
		known = rt_items_push(&b->s, &share->known, sizeof(*known));
		(void)rt_index_put(&b->s, &share->ids, rt_build_nodes(b)[at].id,
				   share->known.count - 1);
		if (known != NULL)
			*known = (rt_share_id){0, -1};
	}
	if (known != NULL) {
		link->before = known->last_node;
		known->last_node = (int64_t)at;
	}
	if (known != NULL || share->by_place)
		rt_index_add(&b->s, &share->contents, hash, at);
	return (int64_t)at;
}

/* A node at the end of the take. */
static void
push_path(rt_share *share, int64_t node)
{
	rt_share_id *known = find_id(share, rt_build_nodes(share->b)[node].id);
	int64_t *end = rt_items_push(&share->b->s, &share->path, sizeof(*end));

	if (end == NULL)
		return;
	*end = node;
	link_of(share, node)->seen_in = share->take_number;
	if (known != NULL)
		known->seen_in = share->take_number;
}

bool
rt_share_add(rt_share *share, rt_node *node)
{
	rt_build *b = share->b;
	char format;
	rt_str body = rt_build_body(b, node, &format);
	const rt_share_id *known = find_id(share, node->id);
	bool is_unique = known == NULL || known->seen_in != share->take_number;
	const int64_t *path = share->path.items;
	size_t probe = 0, found;
	int64_t at = -1;
	uint64_t hash;

	if (!rt_ok(&b->s))
		return true;
	node->parent = share->path.count == 0 ? -1 : path[share->path.count - 1];
	if (!is_unique)
		node->id = rt_str_at(NULL, 0);
	hash = hash_node(node, format, body);
	while (at < 0 && (node->id.size > 0 || share->by_place) &&
	       rt_index_next(&share->contents, hash, &probe, &found))
		if (link_of(share, (int64_t)found)->seen_in != share->take_number &&
		    same_node(&rt_build_nodes(b)[found], node, format, body))
			at = (int64_t)found;
	if (at < 0)
		at = new_node(share, node, hash);
	if (rt_ok(&b->s))
		push_path(share, at);
	return is_unique;
}

bool
rt_share_again(rt_share *share, int64_t node)
{
	rt_build *b = share->b;
	const rt_share_id *known;

	if (!rt_ok(&b->s))
		return true;
	known = find_id(share, rt_build_nodes(b)[node].id);
	if (link_of(share, node)->seen_in == share->take_number ||
	    (known != NULL && known->seen_in == share->take_number))
		return false;
	push_path(share, node);
	return true;
}

bool
rt_share_label(rt_share *share, rt_str id, rt_str label)
{
	const rt_share_id *known = find_id(share, id);

	for (int64_t node = known == NULL ? -1 : known->last_node; node >= 0;
	     node = link_of(share, node)->before)
		rt_build_nodes(share->b)[node].label = label;
	return known != NULL;
}
