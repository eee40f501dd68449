/* SPDX-License-Identifier: MIT
 *
 * Two hash tables, one of ids and one of whole entries. */
#include "formats/formats_share.h"

#include "base/hash.h"

void
rt_share_init(rt_share *share, rt_build *b, bool by_place)
{
	memset(share, 0, sizeof(*share));
	share->b = b;
	share->by_place = by_place;
	rt_table_init(&share->ids, b->alloc);
	rt_table_init(&share->contents, b->alloc);
}

void
rt_share_deinit(rt_share *share)
{
	const rt_alloc *alloc = share->b->alloc;

	rt_table_deinit(&share->ids);
	rt_table_deinit(&share->contents);
	rt_free(alloc, share->known);
	rt_free(alloc, share->links);
	rt_free(alloc, share->path);
	share->known = NULL;
	share->links = NULL;
	share->path = NULL;
}

void
rt_share_discussion(rt_share *share)
{
	rt_table_clear(&share->ids);
	rt_table_clear(&share->contents);
	share->known_count = share->take_number = share->path_count = 0;
}

void
rt_share_take(rt_share *share)
{
	share->take_number++;
	share->path_count = 0;
}

/* Room for item number count of an array of the share's. */
static bool
grow(rt_share *share, void **items, size_t *room, size_t count, size_t item_size)
{
	size_t wanted;
	void *more;

	if (count < *room)
		return true;
	wanted = *room == 0 ? 64 : *room * 2;
	more = wanted > SIZE_MAX / item_size
		       ? NULL
		       : rt_resize(share->b->alloc, *items, wanted * item_size);
	if (more == NULL) {
		share->b->status = RT_NOMEM;
		return false;
	}
	*items = more;
	*room = wanted;
	return true;
}

static uint64_t
hash_str(rt_str s, uint64_t seed)
{
	return rt_hash(s.size == 0 ? "" : s.ptr, s.size, seed ^ s.size);
}

static size_t
find_id(const rt_share *share, rt_str id)
{
	size_t probe = 0, at;

	while (rt_table_next(&share->ids, hash_str(id, 0), &probe, &at))
		if (rt_str_eq(share->known[at].id, id))
			return at;
	return SIZE_MAX;
}

/* SIZE_MAX: no memory. */
static size_t
add_id(rt_share *share, rt_str id)
{
	size_t at = share->known_count;
	void *items = share->known;

	if (!grow(share, &items, &share->known_room, at, sizeof(*share->known)))
		return SIZE_MAX;
	share->known = items;
	if (rt_table_add(&share->ids, hash_str(id, 0), at) != RT_OK) {
		share->b->status = RT_NOMEM;
		return SIZE_MAX;
	}
	share->known[at] = (rt_share_id){id, 0, -1};
	share->known_count++;
	return at;
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

/* A node for what no other take has. */
static size_t
new_node(rt_share *share, rt_node *node, size_t known, uint64_t hash)
{
	rt_build *b = share->b;
	void *items = share->links;
	size_t at;

	node->id = rt_build_copy(b, node->id);
	node->role = rt_build_copy(b, node->role);
	node->kind = rt_build_copy(b, node->kind);
	node->label = rt_build_copy(b, node->label);
	at = rt_build_node(b, node);
	if (b->status != RT_OK || !grow(share, &items, &share->link_room, at, sizeof(*share->links)))
		return SIZE_MAX;
	share->links = items;
	share->links[at] = (rt_share_link){-1, 0};
	if (known != SIZE_MAX) {
		share->links[at].before = share->known[known].last_node;
		share->known[known].last_node = (int64_t)at;
		share->known[known].id = node->id; /* the copy that stays */
	}
	if ((known != SIZE_MAX || share->by_place) &&
	    rt_table_add(&share->contents, hash, at) != RT_OK)
		b->status = RT_NOMEM;
	return at;
}

/* A node at the end of the take. */
static void
push_path(rt_share *share, size_t node)
{
	void *items = share->path;

	if (!grow(share, &items, &share->path_room, share->path_count, sizeof(*share->path)))
		return;
	share->path = items;
	share->links[node].seen_in = share->take_number;
	share->path[share->path_count++] = (int64_t)node;
}

bool
rt_share_add(rt_share *share, rt_node *node)
{
	rt_build *b = share->b;
	char format;
	rt_str body = rt_build_body(b, &format);
	size_t known = SIZE_MAX, probe = 0, at = SIZE_MAX, found;
	bool unique = true;
	uint64_t hash;

	if (b->status != RT_OK)
		return true;
	if (node->body_format == RT_BODY_PURGED) {
		format = RT_BODY_PURGED;
		body = rt_str_at(NULL, 0);
	} else if (node->body_format == RT_BODY_PI) {
		format = RT_BODY_PI;
	}
	node->parent = share->path_count == 0 ? -1 : share->path[share->path_count - 1];
	if (node->id.size > 0) {
		known = find_id(share, node->id);
		if (known == SIZE_MAX)
			known = add_id(share, node->id);
		if (known == SIZE_MAX)
			return true;
		unique = share->known[known].seen_in != share->take_number;
		share->known[known].seen_in = share->take_number;
		if (!unique) {
			node->id = rt_str_at(NULL, 0);
			known = SIZE_MAX;
		}
	}
	hash = hash_node(node, format, body);
	while (at == SIZE_MAX && (known != SIZE_MAX || share->by_place) &&
	       rt_table_next(&share->contents, hash, &probe, &found))
		if (share->links[found].seen_in != share->take_number &&
		    same_node(&rt_build_nodes(b)[found], node, format, body))
			at = found;
	if (at == SIZE_MAX)
		at = new_node(share, node, known, hash);
	if (b->status == RT_OK)
		push_path(share, at);
	return unique;
}

bool
rt_share_again(rt_share *share, int64_t node)
{
	rt_build *b = share->b;
	rt_str id;
	size_t known;

	if (b->status != RT_OK)
		return true;
	if (share->links[node].seen_in == share->take_number)
		return false;
	id = rt_build_nodes(b)[node].id;
	known = id.size > 0 ? find_id(share, id) : SIZE_MAX;
	if (known != SIZE_MAX) {
		if (share->known[known].seen_in == share->take_number)
			return false;
		share->known[known].seen_in = share->take_number;
	}
	push_path(share, (size_t)node);
	return true;
}

bool
rt_share_label(rt_share *share, rt_str id, rt_str label)
{
	size_t known = find_id(share, id);
	int64_t node;

	if (known == SIZE_MAX)
		return false;
	for (node = share->known[known].last_node; node >= 0; node = share->links[node].before)
		rt_build_nodes(share->b)[node].label = label;
	return true;
}
