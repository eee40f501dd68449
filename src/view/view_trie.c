/* SPDX-License-Identifier: MIT
 *
 * The trie of a discussion's takes.
 *
 * A take is added from the point where it diverges from an existing one: their common beginning is
 * found by comparing shared nodes, not entries. Children are sorted oldest first. Nothing here
 * recurses over entries. */
#include "view/view_trie.h"

#include <stdlib.h> /* qsort */

#include "base/hash.h"

/* ---- nodes ---- */

static uint64_t
hash_of(uint32_t parent, uint32_t entry)
{
	return rt_hash_u64((uint64_t)parent << 32 | entry);
}

/* The child of a node, or the root, for an entry; RT_TRIE_NONE: none. */
static uint32_t
find_node(const rt_trie *t, uint32_t parent, uint32_t entry)
{
	uint32_t n;

	for (size_t probe = 0; rt_hash_table_next(&t->numbers, hash_of(parent, entry), &probe, &n);)
		if (t->nodes[n].parent == parent && t->nodes[n].slot.entry == entry)
			return n;
	return RT_TRIE_NONE;
}

/* Where the next node below parent jumps to: as far as its parent's jump and the one after it
 * together where these are equal, else to its parent. So lengths are those of a skew-binary
 * number, and any height is reached in a logarithmic number of steps. */
static uint32_t
jump_of(const rt_trie *t, uint32_t parent)
{
	if (parent == RT_TRIE_NONE)
		return RT_TRIE_NONE;
	uint32_t first = t->nodes[parent].jump;
	uint32_t second = first != RT_TRIE_NONE ? t->nodes[first].jump : RT_TRIE_NONE;

	if (second != RT_TRIE_NONE && t->nodes[parent].depth - t->nodes[first].depth ==
					      t->nodes[first].depth - t->nodes[second].depth)
		return second;
	return parent;
}

/* RT_TRIE_NONE: out of memory. */
static uint32_t
add_node(rt_trie *t, uint32_t parent, const rt_slot *slot, uint32_t take)
{
	if (t->count == t->capacity) {
		uint32_t capacity = t->capacity == 0 ? 256 : t->capacity * 2;
		rt_trie_node *nodes = rt_resize(t->alloc, t->nodes, capacity * sizeof(*nodes));

		if (nodes == NULL)
			return RT_TRIE_NONE;
		t->nodes = nodes;
		t->capacity = capacity;
	}
	if (rt_hash_table_add(&t->numbers, t->alloc, hash_of(parent, slot->entry), t->count) !=
	    RT_OK)
		return RT_TRIE_NONE;
	const rt_trie_node *up = parent != RT_TRIE_NONE ? &t->nodes[parent] : NULL;

	t->nodes[t->count] = (rt_trie_node){
		.slot = *slot,
		.take = take,
		.parent = parent,
		.jump = jump_of(t, parent),
		.child = RT_TRIE_NONE,
		.next = RT_TRIE_NONE,
		.tip = RT_TRIE_NONE,
		.depth = up != NULL ? up->depth + 1 : 0,
		.path = rt_hash_u64((up != NULL ? up->path : 0) ^
				    rt_hash_u64((uint64_t)slot->entry + 1)),
	};
	return t->count++;
}

bool
rt_same_revision(const rt_slot *a, const rt_slot *b)
{
	return a->body == b->body && a->role == b->role &&
	       ((a->flags ^ b->flags) & RT_SLOT_MUTED) == 0;
}

/* The node of a position (0-based) of a take. O(log of its length). */
static uint32_t
node_at(const rt_trie *t, const rt_take *take, size_t at)
{
	uint32_t n = t->tip_node[take->number];

	while (n != RT_TRIE_NONE && t->nodes[n].depth > at) {
		uint32_t jump = t->nodes[n].jump;

		n = jump != RT_TRIE_NONE && t->nodes[jump].depth >= at ? jump : t->nodes[n].parent;
	}
	return n;
}

/* ---- takes ---- */

/* Marks the revisions below `count` in which a take differs from an earlier one. */
static rt_status
mark_differences(rt_trie *t, const rt_take *take, const rt_take *like, size_t count, rt_error *err)
{
	rt_status st = RT_OK;

	for (size_t at = 0;; at++) {
		rt_slot a, b;

		st = rt_seq_differ(take->slots, like->slots, at, &at, err);
		if (st != RT_OK || at >= count)
			return st;
		st = rt_seq_get(take->slots, at, &a, err);
		if (st == RT_OK)
			st = rt_seq_get(like->slots, at, &b, err);
		if (st != RT_OK)
			return st;
		if (!rt_same_revision(&a, &b))
			t->nodes[node_at(t, like, at)].differs = true;
	}
}

/* Adds the entries of a take from a position on below *parent, which becomes the last one. */
static rt_status
add_entries(rt_trie *t, const rt_take *take, size_t at, uint32_t *parent, rt_error *err)
{
	size_t count = rt_seq_count(take->slots);

	for (size_t run; at < count; at += run) {
		rt_slot slots[64];
		rt_status st;

		run = count - at < 64 ? count - at : 64;
		st = rt_seq_copy(take->slots, at, run, slots, err);
		if (st != RT_OK)
			return st;
		for (size_t i = 0; i < run; i++) {
			uint32_t n = find_node(t, *parent, slots[i].entry);

			if (n == RT_TRIE_NONE)
				n = add_node(t, *parent, &slots[i], take->number);
			else if (!rt_same_revision(&t->nodes[n].slot, &slots[i]))
				t->nodes[n].differs = true;
			if (n == RT_TRIE_NONE)
				return rt_fail(err, RT_NOMEM, "out of memory");
			*parent = n;
		}
	}
	return RT_OK;
}

/* others: takes added before, of which one may begin like this one. */
static rt_status
add_take(rt_trie *t, const rt_take *take, const rt_take *const *others, size_t other_count,
	 rt_error *err)
{
	const rt_take *like = NULL;
	uint32_t parent = RT_TRIE_NONE;
	size_t best = 0;
	rt_status st = RT_OK;

	for (size_t i = 0; st == RT_OK && i < other_count; i++) {
		size_t common = 0;

		st = rt_seq_common(take->slots, others[i]->slots, &common, err);
		if (common > best) {
			best = common;
			like = others[i];
		}
	}
	if (st == RT_OK && best > 0) {
		parent = node_at(t, like, best - 1);
		st = mark_differences(t, take, like, best, err);
	}
	if (st == RT_OK)
		st = add_entries(t, take, best, &parent, err);
	if (st != RT_OK)
		return st;
	t->tip_node[take->number] = parent;
	if (parent != RT_TRIE_NONE) {
		t->next_tip[take->number] = t->nodes[parent].tip;
		t->nodes[parent].tip = take->number;
	}
	return RT_OK;
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

/* Links children into lists of siblings, oldest first. */
static rt_status
link_children(rt_trie *t, rt_error *err)
{
	sort_key *keys = rt_new_array(t->alloc, (size_t)t->count + 1, sizeof(*keys));
	/* the last sibling so far, by parent; that of roots comes last */
	uint32_t *last = rt_new_array(t->alloc, (size_t)t->count + 1, sizeof(*last));

	for (uint32_t i = 0; keys != NULL && i < t->count; i++)
		keys[i] = (sort_key){t->nodes[i].slot.ts_us, t->nodes[i].slot.entry, i,
				     (t->nodes[i].slot.flags & RT_SLOT_NO_TS) != 0};
	if (keys != NULL)
		qsort(keys, t->count, sizeof(*keys), oldest_first);
	for (uint32_t i = 0; keys != NULL && last != NULL && i < t->count; i++) {
		uint32_t n = keys[i].node, parent = t->nodes[n].parent;
		bool is_root = parent == RT_TRIE_NONE;
		uint32_t *first = is_root ? &t->first_root : &t->nodes[parent].child;
		uint32_t *newest = &last[is_root ? t->count : parent];

		if (*first == RT_TRIE_NONE)
			*first = n;
		else
			t->nodes[*newest].next = n;
		*newest = n;
	}
	rt_free(t->alloc, keys);
	rt_free(t->alloc, last);
	return keys != NULL && last != NULL ? RT_OK : rt_fail(err, RT_NOMEM, "out of memory");
}

/* The next node depth first, or RT_TRIE_NONE. Closes the ranges of the nodes that are left on the
 * way. */
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

/* Every node's takes become a range in the order of tips. */
static void
order_takes(rt_trie *t)
{
	for (uint32_t n = t->first_root; n != RT_TRIE_NONE; n = walk_next(t, n)) {
		t->nodes[n].from = t->ordered;
		for (uint32_t take = t->nodes[n].tip; take != RT_TRIE_NONE; take = t->next_tip[take])
			t->order[t->ordered++] = take;
		t->nodes[n].to = t->ordered;
	}
}

/* ---- the whole ---- */

/* Loads the present ones of takes first .. first + RT_SEQ_LOAD_MAX - 1, which come next. */
static rt_status
load_takes(const rt_disc *disc, size_t first, rt_error *err)
{
	const rt_seq *seqs[RT_SEQ_LOAD_MAX];
	size_t end = first + RT_SEQ_LOAD_MAX, takes = rt_disc_take_count(disc), count = 0;

	for (; first < end && first <= takes; first++) {
		const rt_take *take = rt_disc_take(disc, (uint32_t)first);

		if (take->present)
			seqs[count++] = take->slots;
	}
	return rt_seq_load(seqs, count, err);
}

static rt_status
add_takes(rt_trie *t, rt_error *err)
{
	const rt_take *near[6]; /* the first two and the last few: the next may begin like them */
	size_t near_count = 0, takes = rt_disc_take_count(t->disc);
	rt_status st = RT_OK;

	for (size_t i = 1; st == RT_OK && i <= takes; i++) {
		const rt_take *take = rt_disc_take(t->disc, (uint32_t)i);

		if (i % RT_SEQ_LOAD_MAX == 1)
			st = load_takes(t->disc, i, err);
		if (st != RT_OK || !take->present)
			continue;
		st = add_take(t, take, near, near_count, err);
		near[near_count < 6 ? near_count++ : 2 + i % 4] = take;
	}
	return st;
}

rt_status
rt_trie_init(rt_trie *t, const rt_alloc *alloc, const rt_project *project, const rt_disc *disc,
	     rt_error *err)
{
	size_t takes = rt_disc_take_count(disc), head_at = 0;
	rt_status st;

	*t = (rt_trie){
		.alloc = alloc,
		.project = project,
		.disc = disc,
		.first_root = RT_TRIE_NONE,
		.head = RT_TRIE_NONE,
		.tip_node = rt_new_array(alloc, takes + 1, sizeof(uint32_t)),
		.next_tip = rt_new_array(alloc, takes + 1, sizeof(uint32_t)),
		.order = rt_new_array(alloc, takes + 1, sizeof(uint32_t)),
	};
	if (t->tip_node == NULL || t->next_tip == NULL || t->order == NULL)
		return rt_fail(err, RT_NOMEM, "out of memory");
	st = add_takes(t, err);
	if (st == RT_OK)
		st = link_children(t, err);
	if (st != RT_OK)
		return st;
	order_takes(t);
	st = rt_disc_head_at(project, disc, &head_at, err);
	if (st == RT_OK && head_at > 0)
		t->head = node_at(t, rt_disc_active(disc), head_at - 1);
	return st;
}

void
rt_trie_deinit(rt_trie *t)
{
	rt_free(t->alloc, t->nodes);
	rt_hash_table_deinit(&t->numbers, t->alloc);
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
	uint32_t oldest = UINT32_MAX;
	bool found = false;
	size_t at;

	*out = n->slot;
	if (!n->differs)
		return RT_OK;
	rt_status st = rt_take_find(t->project, rt_disc_active(t->disc), n->slot.entry, &at, out,
				    &found, err);

	if (st != RT_OK || found)
		return st;
	for (uint32_t i = n->from; i < n->to; i++)
		oldest = t->order[i] < oldest ? t->order[i] : oldest;
	return rt_take_find(t->project, rt_disc_take(t->disc, oldest), n->slot.entry, &at, out,
			    &found, err);
}
