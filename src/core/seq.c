/* SPDX-License-Identifier: MIT
 *
 * The B-tree that implements rt_seq: nodes and their loading, handles, and reading. seq_splice.c
 * makes changed trees.
 *
 * A kid refers to a node and has the sums of its subtree. It points to a node in memory or, until
 * first access, has only the number of the stored node. Loading sets the pointer atomically, so
 * several threads may race to load a node and all get the same one. Besides that pointer only the
 * reference count and, under the writer, the number assigned by a checkpoint change in a shared
 * node. */
#include "core/seq_impl.h"

/* ---- nodes ---- */

node *
rt_seq_node_new(const rt_alloc *alloc, unsigned height, size_t count)
{
	size_t size = offsetof(node, of) +
		      count * (height == 0 ? sizeof(rt_slot) : sizeof(kid));
	node *n = rt_new(alloc, size > sizeof(node) ? size : sizeof(node));

	if (n == NULL)
		return NULL;
	atomic_init(&n->refs, 1);
	atomic_init(&n->stored, 0);
	n->pending = 0;
	n->height = (uint16_t)height;
	n->count = (uint16_t)count;
	return n;
}

void
rt_seq_node_unref(const rt_alloc *alloc, node *n)
{
	unsigned i;

	/* Recurses over the height only. */
	if (n == NULL || atomic_fetch_sub_explicit(&n->refs, 1, memory_order_acq_rel) != 1)
		return;
	if (n->height > 0)
		for (i = 0; i < n->count; i++)
			rt_seq_node_unref(alloc, atomic_load_explicit(&n->of.kids[i].node,
								     memory_order_acquire));
	rt_free(alloc, n);
}

static rt_seq_sum
sum_add(rt_seq_sum a, rt_seq_sum b)
{
	return (rt_seq_sum){a.count + b.count, a.bytes + b.bytes, a.turns + b.turns};
}

static rt_seq_sum
slot_sum(const rt_slot *slot)
{
	return (rt_seq_sum){1, slot->size, (slot->flags & RT_SLOT_TURN) != 0};
}

/* Turns an owned node into an owned kid. */
void
rt_seq_kid_of(kid *k, node *n)
{
	rt_seq_sum sum = {0, 0, 0};
	unsigned i;

	RT_ASSERT(n->count > 0);
	if (n->height == 0) {
		for (i = 0; i < n->count; i++)
			sum = sum_add(sum, slot_sum(&n->of.slots[i]));
		rt_seq_kid_init(k, n, 0, sum, n->of.slots[0].key);
	} else {
		for (i = 0; i < n->count; i++)
			sum = sum_add(sum, n->of.kids[i].sum);
		rt_seq_kid_init(k, n, 0, sum, n->of.kids[0].first_key);
	}
}

/* ---- loading ---- */

static rt_status
kid_decode(const rt_seq *seq, kid *k, unsigned height, rt_str bytes, node **out, rt_error *err)
{
	node *n, *expected = NULL;
	kid now;
	rt_status st = rt_seq_node_decode(seq->alloc, bytes, height, k->stored, &n, err);

	if (st != RT_OK)
		return st;
	rt_seq_kid_of(&now, n);
	if (now.sum.count != k->sum.count || now.first_key != k->first_key) {
		rt_seq_node_unref(seq->alloc, n);
		return rt_fail(err, RT_CORRUPT, "node %llu does not match its parent",
			       (unsigned long long)k->stored);
	}
	if (!atomic_compare_exchange_strong_explicit(&k->node, &expected, n, memory_order_acq_rel,
						     memory_order_acquire)) {
		rt_seq_node_unref(seq->alloc, n); /* another thread was faster */
		n = expected;
	}
	*out = n;
	return RT_OK;
}

rt_status
rt_seq_kid_node(const rt_seq *seq, const kid *k, unsigned height, node **out, rt_error *err)
{
	kid *mine = (kid *)(uintptr_t)k;
	node *n = atomic_load_explicit(&mine->node, memory_order_acquire);
	rt_buf bytes;
	rt_status st;

	if (n != NULL) {
		*out = n;
		return RT_OK;
	}
	RT_ASSERT(seq->source != NULL);
	rt_buf_init(&bytes, seq->alloc, RT_BUF_UNLIMITED);
	st = seq->source->read(seq->source->ctx, k->stored, &bytes, err);
	if (st == RT_OK && bytes.status != RT_OK)
		st = rt_fail(err, bytes.status, "out of memory while loading a node");
	if (st == RT_OK)
		st = kid_decode(seq, mine, height, rt_buf_str(&bytes), out, err);
	rt_buf_deinit(&bytes);
	return st;
}

rt_status
rt_seq_kid_decode(const rt_seq *seq, rt_str bytes)
{
	node *n;

	return kid_decode(seq, (kid *)(uintptr_t)&seq->root, seq->height, bytes, &n, NULL);
}

/* ---- handles ---- */

rt_status
rt_seq_handle_new(const rt_alloc *alloc, const rt_seq_source *source, rt_seq **out)
{
	rt_seq *seq = rt_new(alloc, sizeof(*seq));

	if (seq == NULL)
		return RT_NOMEM;
	atomic_init(&seq->refs, 1);
	seq->alloc = alloc;
	seq->source = source;
	seq->height = 0;
	rt_seq_kid_init(&seq->root, NULL, 0, (rt_seq_sum){0, 0, 0}, 0);
	*out = seq;
	return RT_OK;
}

rt_status
rt_seq_new(const rt_alloc *alloc, const rt_seq_source *source, const rt_seq **out_seq)
{
	rt_seq *seq = NULL;
	rt_status st = rt_seq_handle_new(alloc, source, &seq);

	if (st == RT_OK)
		*out_seq = seq;
	return st;
}

const rt_seq *
rt_seq_ref(const rt_seq *seq)
{
	if (seq != NULL)
		atomic_fetch_add_explicit(&((rt_seq *)(uintptr_t)seq)->refs, 1,
					  memory_order_relaxed);
	return seq;
}

void
rt_seq_unref(const rt_seq *seq)
{
	rt_seq *mine = (rt_seq *)(uintptr_t)seq;

	if (mine == NULL || atomic_fetch_sub_explicit(&mine->refs, 1, memory_order_acq_rel) != 1)
		return;
	rt_seq_kid_drop(mine->alloc, &mine->root);
	rt_free(mine->alloc, mine);
}

unsigned
rt_seq_leaf_max(void)
{
	return SEQ_LEAF_MAX;
}

rt_moment
rt_slot_moment(const rt_slot *slot)
{
	return (rt_moment){slot->ts_us,
			   (uint16_t)(slot->flags >> RT_SLOT_NS_SHIFT & RT_SLOT_NS_MASK)};
}

void
rt_slot_set_moment(rt_slot *slot, rt_moment at)
{
	slot->ts_us = at.us;
	slot->flags = (slot->flags & ~((uint32_t)RT_SLOT_NS_MASK << RT_SLOT_NS_SHIFT |
				       (uint32_t)RT_SLOT_NO_TS)) |
		      (uint32_t)at.ns << RT_SLOT_NS_SHIFT;
}

size_t
rt_seq_count(const rt_seq *seq)
{
	return (size_t)seq->root.sum.count;
}

rt_seq_sum
rt_seq_total(const rt_seq *seq)
{
	return seq->root.sum;
}
/* ---- reading ---- */

rt_status
rt_seq_copy(const rt_seq *seq, size_t at, size_t count, rt_slot *out, rt_error *err)
{
	RT_ASSERT(at <= rt_seq_count(seq) && count <= rt_seq_count(seq) - at);
	while (count > 0) { /* one descent for each leaf */
		const kid *k = &seq->root;
		unsigned height = seq->height;
		size_t in = at, run;
		node *n;
		rt_status st;

		for (;;) {
			st = rt_seq_kid_node(seq, k, height, &n, err);
			if (st != RT_OK)
				return st;
			if (height == 0)
				break;
			k = &n->of.kids[rt_seq_child_at(n, &in, false)];
			height--;
		}
		run = n->count - in < count ? n->count - in : count;
		memcpy(out, n->of.slots + in, run * sizeof(*out));
		out += run;
		at += run;
		count -= run;
	}
	return RT_OK;
}

rt_status
rt_seq_get(const rt_seq *seq, size_t at, rt_slot *out, rt_error *err)
{
	return rt_seq_copy(seq, at, 1, out, err);
}

rt_status
rt_seq_find(const rt_seq *seq, uint64_t key, size_t *out_at, bool *out_found, rt_slot *out_slot,
	    rt_error *err)
{
	const kid *k = &seq->root;
	unsigned height = seq->height, low, high;
	size_t at = 0;
	node *n;
	rt_status st;

	if (out_found != NULL)
		*out_found = false;
	if (seq->root.sum.count == 0) {
		*out_at = 0;
		return RT_OK;
	}
	for (;; height--) {
		unsigned i;

		st = rt_seq_kid_node(seq, k, height, &n, err);
		if (st != RT_OK)
			return st;
		if (height == 0)
			break;
		/* the last child whose first key is <= key, or the first child */
		low = 0;
		high = n->count;
		while (high - low > 1) {
			unsigned mid = (low + high) / 2;

			if (n->of.kids[mid].first_key <= key)
				low = mid;
			else
				high = mid;
		}
		for (i = 0; i < low; i++)
			at += (size_t)n->of.kids[i].sum.count;
		k = &n->of.kids[low];
	}
	low = 0;
	high = n->count;
	while (low < high) {
		unsigned mid = (low + high) / 2;

		if (n->of.slots[mid].key < key)
			low = mid + 1;
		else
			high = mid;
	}
	if (low < n->count && n->of.slots[low].key == key) {
		if (out_found != NULL)
			*out_found = true;
		if (out_slot != NULL)
			*out_slot = n->of.slots[low];
	}
	*out_at = at + low;
	return RT_OK;
}

rt_status
rt_seq_find_turn(const rt_seq *seq, uint64_t turn, size_t *out_at, rt_error *err)
{
	const kid *k = &seq->root;
	unsigned height = seq->height, i;
	size_t at = 0;
	node *n;
	rt_status st;

	RT_ASSERT(turn < seq->root.sum.turns);
	for (;; height--) {
		st = rt_seq_kid_node(seq, k, height, &n, err);
		if (st != RT_OK)
			return st;
		if (height == 0)
			break;
		for (i = 0; i + 1 < n->count && turn >= n->of.kids[i].sum.turns; i++) {
			turn -= n->of.kids[i].sum.turns;
			at += (size_t)n->of.kids[i].sum.count;
		}
		k = &n->of.kids[i];
	}
	for (i = 0; i < n->count; i++)
		if ((n->of.slots[i].flags & RT_SLOT_TURN) != 0 && turn-- == 0)
			break;
	RT_ASSERT(i < n->count);
	*out_at = at + i;
	return RT_OK;
}

/* The deepest whole subtree of seq that begins exactly at position at and is at most
 * max_height high: its kid and height. */
static rt_status
subtree_at(const rt_seq *seq, size_t at, unsigned max_height, const kid **out, unsigned *out_height,
	   rt_error *err)
{
	const kid *k = &seq->root;
	unsigned height = seq->height;
	node *n;
	rt_status st;

	while (height > 0 && (at > 0 || height > max_height)) {
		st = rt_seq_kid_node(seq, k, height, &n, err);
		if (st != RT_OK)
			return st;
		k = &n->of.kids[rt_seq_child_at(n, &at, false)];
		height--;
	}
	*out = k;
	*out_height = at == 0 ? height : UINT32_MAX; /* in the middle of a leaf */
	return RT_OK;
}

static bool
kid_same(const kid *a, const kid *b)
{
	node *x = atomic_load_explicit(&((kid *)(uintptr_t)a)->node, memory_order_acquire);
	node *y = atomic_load_explicit(&((kid *)(uintptr_t)b)->node, memory_order_acquire);
	uint64_t p = x != NULL ? atomic_load(&x->stored) : a->stored;
	uint64_t q = y != NULL ? atomic_load(&y->stored) : b->stored;

	return (x != NULL && x == y) || (p != 0 && p == q);
}

/* First position >= at, below max, where the two differ; max when they do not. */
static rt_status
first_difference(const rt_seq *a, const rt_seq *b, size_t at, size_t max, bool whole_slots,
		 size_t *out_at, rt_error *err)
{
	rt_status st;

	while (at < max) {
		rt_slot x[SEQ_LEAF_MAX], y[SEQ_LEAF_MAX];
		const kid *p, *q;
		unsigned hp, hq, limit = UINT32_MAX - 1;
		size_t run = max - at < SEQ_LEAF_MAX ? max - at : SEQ_LEAF_MAX, i;
		bool skipped = false;

		for (;;) { /* the same subtree on both sides? try ever lower ones */
			st = subtree_at(a, at, limit, &p, &hp, err);
			if (st == RT_OK)
				st = subtree_at(b, at, limit, &q, &hq, err);
			if (st != RT_OK)
				return st;
			if (hp == UINT32_MAX || hq == UINT32_MAX)
				break;
			if (hp == hq && kid_same(p, q)) {
				at += (size_t)p->sum.count;
				skipped = true;
				break;
			}
			if (hp == 0 || hq == 0)
				break;
			limit = hp == hq ? hp - 1 : hp < hq ? hp : hq;
		}
		if (skipped)
			continue;
		st = rt_seq_copy(a, at, run, x, err);
		if (st == RT_OK)
			st = rt_seq_copy(b, at, run, y, err);
		if (st != RT_OK)
			return st;
		for (i = 0; i < run; i++)
			if (x[i].entry != y[i].entry ||
			    (whole_slots && (x[i].body != y[i].body || x[i].role != y[i].role ||
					     x[i].kind != y[i].kind || x[i].flags != y[i].flags ||
					     x[i].ts_us != y[i].ts_us))) {
				*out_at = at + i;
				return RT_OK;
			}
		at += run;
	}
	*out_at = max;
	return RT_OK;
}

rt_status
rt_seq_common(const rt_seq *a, const rt_seq *b, size_t *out_count, rt_error *err)
{
	size_t max = rt_seq_count(a) < rt_seq_count(b) ? rt_seq_count(a) : rt_seq_count(b);

	return first_difference(a, b, 0, max, false, out_count, err);
}

rt_status
rt_seq_differ(const rt_seq *a, const rt_seq *b, size_t from, size_t *out_at, rt_error *err)
{
	size_t max = rt_seq_count(a) < rt_seq_count(b) ? rt_seq_count(a) : rt_seq_count(b);

	return first_difference(a, b, from, max, true, out_at, err);
}
