/* SPDX-License-Identifier: MIT
 *
 * The trie of a discussion's takes.
 *
 * A take is laid into the trie from where it parts from one that is there already: what
 * both begin with is found by comparing shared nodes, not entries. Children are sorted
 * oldest first. Nothing here recurses over entries. */
#include "view/view_trie.h"

#include <stdlib.h> /* qsort */

#include "base/hash.h"

static uint64_t
key_of(uint32_t parent, uint32_t entry)
{
	return rt_hash_u64((uint64_t)parent << 32 | entry);
}

static bool
table_grow(rt_trie *t)
{
	size_t room = t->table_room == 0 ? 1024 : t->table_room * 2, at;
	uint32_t *table = rt_new_array(t->alloc, room, sizeof(*table)), i;

	if (table == NULL)
		return false;
	memset(table, 0xFF, room * sizeof(*table));
	for (i = 0; i < t->count; i++) {
		at = (size_t)key_of(t->nodes[i].parent, t->nodes[i].slot.entry) & (room - 1);
		while (table[at] != RT_TRIE_NONE)
			at = (at + 1) & (room - 1);
		table[at] = i;
	}
	rt_free(t->alloc, t->table);
	t->table = table;
	t->table_room = room;
	return true;
}

static uint32_t
child_of(const rt_trie *t, uint32_t parent, uint32_t entry)
{
	size_t at = (size_t)key_of(parent, entry) & (t->table_room - 1);

	for (; t->table[at] != RT_TRIE_NONE; at = (at + 1) & (t->table_room - 1))
		if (t->nodes[t->table[at]].parent == parent &&
		    t->nodes[t->table[at]].slot.entry == entry)
			return t->table[at];
	return RT_TRIE_NONE;
}

/* Where the next node below parent jumps to: as far as its parent's jump and the one after it
 * together where these are equal, else to its parent. So lengths are those of a skew-binary
 * number, and any height is reached in a logarithmic number of steps. */
static uint32_t
jump_of(const rt_trie *t, uint32_t parent)
{
	uint32_t first, second;

	if (parent == RT_TRIE_NONE)
		return RT_TRIE_NONE;
	first = t->nodes[parent].jump;
	second = first != RT_TRIE_NONE ? t->nodes[first].jump : RT_TRIE_NONE;
	if (second != RT_TRIE_NONE && t->nodes[parent].depth - t->nodes[first].depth ==
					      t->nodes[first].depth - t->nodes[second].depth)
		return second;
	return parent;
}

static uint32_t
add_node(rt_trie *t, uint32_t parent, const rt_slot *slot, uint32_t take)
{
	rt_trie_node *n;
	size_t at;

	if (t->count == t->room) {
		uint32_t room = t->room == 0 ? 256 : t->room * 2;
		rt_trie_node *nodes = rt_resize(t->alloc, t->nodes, room * sizeof(*nodes));

		if (nodes == NULL)
			return RT_TRIE_NONE;
		t->nodes = nodes;
		t->room = room;
	}
	if (((size_t)t->count + 1) * 2 > t->table_room && !table_grow(t))
		return RT_TRIE_NONE;
	n = &t->nodes[t->count];
	memset(n, 0, sizeof(*n));
	n->slot = *slot;
	n->take = take;
	n->parent = parent;
	n->child = n->next = n->tip = RT_TRIE_NONE;
	n->depth = parent == RT_TRIE_NONE ? 0 : t->nodes[parent].depth + 1;
	n->jump = jump_of(t, parent);
	n->path = rt_hash_u64((parent == RT_TRIE_NONE ? 0 : t->nodes[parent].path) ^
			      rt_hash_u64((uint64_t)slot->entry + 1));
	at = (size_t)key_of(parent, slot->entry) & (t->table_room - 1);
	while (t->table[at] != RT_TRIE_NONE)
		at = (at + 1) & (t->table_room - 1);
	t->table[at] = t->count;
	return t->count++;
}

bool
rt_same_revision(const rt_slot *a, const rt_slot *b)
{
	return a->body == b->body && a->role == b->role &&
	       ((a->flags ^ b->flags) & RT_SLOT_MUTED) == 0;
}

/* The node of position at (0-based) of a take that is laid already. */
uint32_t
rt_trie_node_at(const rt_trie *t, const rt_take *take, size_t at)
{
	uint32_t n = t->tip_node[take->number];

	while (n != RT_TRIE_NONE && t->nodes[n].depth > at) {
		uint32_t jump = t->nodes[n].jump;

		n = jump != RT_TRIE_NONE && t->nodes[jump].depth >= at ? jump : t->nodes[n].parent;
	}
	return n;
}

static rt_status
lay_take(rt_trie *t, const rt_take *take, const rt_take *const *others, size_t other_count,
	 rt_error *err)
{
	size_t count = rt_seq_count(take->slots), at = 0, best = 0, i;
	const rt_take *like = NULL;
	uint32_t parent = RT_TRIE_NONE;
	rt_status st = RT_OK;

	for (i = 0; st == RT_OK && i < other_count; i++) {
		size_t common;

		st = rt_seq_common(take->slots, others[i]->slots, &common, err);
		if (common > best) {
			best = common;
			like = others[i];
		}
	}
	if (st != RT_OK)
		return st;
	if (best > 0) {
		size_t differ = 0;

		parent = rt_trie_node_at(t, like, best - 1);
		while (st == RT_OK) { /* revisions that differ from those of the other take */
			rt_slot a, b;

			st = rt_seq_differ(take->slots, like->slots, differ, &differ, err);
			if (st != RT_OK || differ >= best)
				break;
			st = rt_seq_get(take->slots, differ, &a, err);
			if (st == RT_OK)
				st = rt_seq_get(like->slots, differ, &b, err);
			if (st == RT_OK && !rt_same_revision(&a, &b))
				t->nodes[rt_trie_node_at(t, like, differ)].differs = true;
			differ++;
		}
		at = best;
	}
	while (st == RT_OK && at < count) {
		rt_slot slots[64];
		size_t run = count - at < 64 ? count - at : 64;

		st = rt_seq_copy(take->slots, at, run, slots, err);
		for (i = 0; st == RT_OK && i < run; i++) {
			uint32_t n = t->table_room > 0 ? child_of(t, parent, slots[i].entry) : RT_TRIE_NONE;

			if (n == RT_TRIE_NONE) {
				n = add_node(t, parent, &slots[i], take->number);
				if (n == RT_TRIE_NONE)
					st = rt_fail(err, RT_NOMEM, "out of memory");
			} else if (!rt_same_revision(&t->nodes[n].slot, &slots[i])) {
				t->nodes[n].differs = true;
			}
			parent = n;
		}
		at += run;
	}
	if (st == RT_OK) {
		t->tip_node[take->number] = parent;
		if (parent != RT_TRIE_NONE) {
			t->next_tip[take->number] = t->nodes[parent].tip;
			t->nodes[parent].tip = take->number;
		}
	}
	return st;
}

/* ---- order ---- */

typedef struct sort_key {
	int64_t ts_us;
	uint32_t entry, node;
	bool no_ts;
} sort_key;

static int
oldest_first(const void *a, const void *b)
{
	const sort_key *x = a, *y = b;

	if (x->no_ts != y->no_ts)
		return x->no_ts - y->no_ts;
	if (x->ts_us != y->ts_us)
		return x->ts_us < y->ts_us ? -1 : 1;
	return (x->entry > y->entry) - (x->entry < y->entry);
}

/* Thread children into sibling lists, oldest first. */
static rt_status
link_children(rt_trie *t, rt_error *err)
{
	sort_key *keys = rt_new_array(t->alloc, (size_t)t->count + 1, sizeof(*keys));
	uint32_t *last = rt_new_array(t->alloc, (size_t)t->count + 1, sizeof(*last)), i;
	uint32_t last_root = RT_TRIE_NONE;

	if (keys == NULL || last == NULL) {
		rt_free(t->alloc, keys);
		rt_free(t->alloc, last);
		return rt_fail(err, RT_NOMEM, "out of memory");
	}
	for (i = 0; i < t->count; i++)
		keys[i] = (sort_key){t->nodes[i].slot.ts_us, t->nodes[i].slot.entry, i,
				     (t->nodes[i].slot.flags & RT_SLOT_NO_TS) != 0};
	qsort(keys, t->count, sizeof(*keys), oldest_first);
	t->first_root = RT_TRIE_NONE;
	for (i = 0; i < t->count; i++) {
		uint32_t n = keys[i].node, p = t->nodes[n].parent;

		if (p == RT_TRIE_NONE) {
			if (last_root == RT_TRIE_NONE)
				t->first_root = n;
			else
				t->nodes[last_root].next = n;
			last_root = n;
		} else {
			if (t->nodes[p].child == RT_TRIE_NONE)
				t->nodes[p].child = n;
			else
				t->nodes[last[p]].next = n;
			last[p] = n;
		}
	}
	rt_free(t->alloc, keys);
	rt_free(t->alloc, last);
	return RT_OK;
}

/* The next node depth first, or RT_TRIE_NONE. leave is called for every node that is done. */
static uint32_t
walk_next(rt_trie *t, uint32_t n)
{
	if (t->nodes[n].child != RT_TRIE_NONE)
		return t->nodes[n].child;
	for (;;) {
		t->nodes[n].to = t->ordered;
		if (t->nodes[n].next != RT_TRIE_NONE)
			return t->nodes[n].next;
		n = t->nodes[n].parent;
		if (n == RT_TRIE_NONE)
			return RT_TRIE_NONE;
	}
}

/* Every node's takes are a run in the order of tips. */
static void
order_takes(rt_trie *t)
{
	uint32_t n;

	for (n = t->first_root; n != RT_TRIE_NONE; n = walk_next(t, n)) {
		uint32_t take;

		t->nodes[n].from = t->ordered;
		for (take = t->nodes[n].tip; take != RT_TRIE_NONE; take = t->next_tip[take])
			t->order[t->ordered++] = take;
		t->nodes[n].to = t->ordered;
	}
}

/* ---- the whole ---- */

/* Takes first .. first + RT_SEQ_LOAD_MAX - 1 are looked at next, where they are present. */
static rt_status
load_takes(const rt_disc *disc, size_t first, rt_error *err)
{
	const rt_seq *seqs[RT_SEQ_LOAD_MAX];
	size_t last = first + RT_SEQ_LOAD_MAX - 1, takes = rt_disc_take_count(disc), count = 0;

	for (; first <= last && first <= takes; first++) {
		const rt_take *take = rt_disc_take(disc, (uint32_t)first);

		if (take->present)
			seqs[count++] = take->slots;
	}
	return rt_seq_load(seqs, count, err);
}

rt_status
rt_trie_init(rt_trie *t, const rt_alloc *alloc, const rt_project *project, const rt_disc *disc,
	     rt_error *err)
{
	const rt_take *near[6];
	size_t near_count = 0, takes = rt_disc_take_count(disc), head_at, i;
	rt_status st = RT_OK;

	memset(t, 0, sizeof(*t));
	t->alloc = alloc;
	t->project = project;
	t->disc = disc;
	t->first_root = t->head = RT_TRIE_NONE;
	t->tip_node = rt_new_array(alloc, takes + 1, sizeof(uint32_t));
	t->next_tip = rt_new_array(alloc, takes + 1, sizeof(uint32_t));
	t->order = rt_new_array(alloc, takes + 1, sizeof(uint32_t));
	if (t->tip_node == NULL || t->next_tip == NULL || t->order == NULL || !table_grow(t))
		st = rt_fail(err, RT_NOMEM, "out of memory");
	for (i = 1; st == RT_OK && i <= takes; i++) {
		const rt_take *take = rt_disc_take(disc, (uint32_t)i);

		if (i % RT_SEQ_LOAD_MAX == 1)
			st = load_takes(disc, i, err);
		if (st != RT_OK || !take->present)
			continue;
		st = lay_take(t, take, near, near_count, err);
		/* the first two and the last few are what the next ones may begin like */
		if (near_count < 6)
			near[near_count++] = take;
		else
			near[2 + i % 4] = take;
	}
	if (st == RT_OK)
		st = link_children(t, err);
	if (st == RT_OK)
		order_takes(t);
	if (st == RT_OK)
		st = rt_disc_head_at(project, disc, &head_at, err);
	if (st == RT_OK && head_at > 0)
		t->head = rt_trie_node_at(t, rt_disc_active(disc), head_at - 1);
	return st;
}

void
rt_trie_deinit(rt_trie *t)
{
	rt_free(t->alloc, t->nodes);
	rt_free(t->alloc, t->table);
	rt_free(t->alloc, t->tip_node);
	rt_free(t->alloc, t->next_tip);
	rt_free(t->alloc, t->order);
}

uint32_t
rt_trie_next(const rt_trie *t, uint32_t n)
{
	if (t->nodes[n].child != RT_TRIE_NONE)
		return t->nodes[n].child;
	while (n != RT_TRIE_NONE && t->nodes[n].next == RT_TRIE_NONE)
		n = t->nodes[n].parent;
	return n != RT_TRIE_NONE ? t->nodes[n].next : RT_TRIE_NONE;
}

rt_status
rt_trie_shown(const rt_trie *t, uint32_t number, rt_slot *out, rt_error *err)
{
	const rt_trie_node *n = &t->nodes[number];
	uint32_t oldest = UINT32_MAX, i;
	bool found = false;
	size_t at;
	rt_status st;

	*out = n->slot;
	if (!n->differs)
		return RT_OK;
	st = rt_take_find(t->project, rt_disc_active(t->disc), n->slot.entry, &at, out, &found, err);
	if (st != RT_OK || found)
		return st;
	for (i = n->from; i < n->to; i++)
		oldest = t->order[i] < oldest ? t->order[i] : oldest;
	return rt_take_find(t->project, rt_disc_take(t->disc, oldest), n->slot.entry, &at, out,
			    &found, err);
}
