/* SPDX-License-Identifier: MIT
 *
 * The B-tree that implements rt_seq.
 *
 * A kid refers to a node and has the sums of its subtree. It points to a node in memory or, until
 * first access, has only the number of the stored node. Loading sets the pointer atomically, so
 * several threads may race to load a node and all get the same one. Besides that pointer only the
 * reference count and, under the writer, the number assigned by a checkpoint change in a shared
 * node.
 *
 * Fill: a node holds 1 .. MAX items. Splits at the right end leave the left node full
 * (appending is the common case), other splits halve. A removal that leaves a node less
 * than half full merges it with a neighbour when both fit into one. */
#include "core/seq_impl.h"

#include <stdlib.h>

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

static void
node_ref(node *n)
{
	atomic_fetch_add_explicit(&n->refs, 1, memory_order_relaxed);
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

static void
kid_init(kid *k, node *n, uint64_t stored, rt_seq_sum sum, uint64_t first_key)
{
	atomic_init(&k->node, n);
	k->stored = stored;
	k->sum = sum;
	k->first_key = first_key;
}

/* Copies a reference. */
static void
kid_copy(kid *to, const kid *from)
{
	node *n = atomic_load_explicit(&((kid *)(uintptr_t)from)->node, memory_order_acquire);

	if (n != NULL)
		node_ref(n);
	kid_init(to, n, from->stored, from->sum, from->first_key);
}

static void
kid_drop(const rt_alloc *alloc, kid *k)
{
	rt_seq_node_unref(alloc, atomic_load_explicit(&k->node, memory_order_acquire));
	kid_init(k, NULL, 0, (rt_seq_sum){0, 0, 0}, 0);
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
		kid_init(k, n, 0, sum, n->of.slots[0].key);
	} else {
		for (i = 0; i < n->count; i++)
			sum = sum_add(sum, n->of.kids[i].sum);
		kid_init(k, n, 0, sum, n->of.kids[0].first_key);
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

static rt_status
handle_new(const rt_alloc *alloc, const rt_seq_source *source, rt_seq **out)
{
	rt_seq *seq = rt_new(alloc, sizeof(*seq));

	if (seq == NULL)
		return RT_NOMEM;
	atomic_init(&seq->refs, 1);
	seq->alloc = alloc;
	seq->source = source;
	seq->height = 0;
	kid_init(&seq->root, NULL, 0, (rt_seq_sum){0, 0, 0}, 0);
	*out = seq;
	return RT_OK;
}

rt_status
rt_seq_new(const rt_alloc *alloc, const rt_seq_source *source, const rt_seq **out_seq)
{
	rt_seq *seq = NULL;
	rt_status st = handle_new(alloc, source, &seq);

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
	kid_drop(mine->alloc, &mine->root);
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

/* ---- building from changed kids ---- */

/* The result of an edit in a kid: 0, 1 or 2 owned kids of the same height. */
typedef struct pieces {
	kid kid[2];
	unsigned count;
} pieces;

static void
pieces_drop(const rt_alloc *alloc, pieces *p)
{
	while (p->count > 0)
		kid_drop(alloc, &p->kid[--p->count]);
}

/* Owned kids in list (count >= 0, at most 2 * MAX) to inner nodes of this height. Takes
 * ownership of the kids, also on failure. */
static rt_status
inner_from(const rt_alloc *alloc, kid *list, unsigned count, unsigned height, bool at_end,
	   pieces *out)
{
	unsigned first = count, i;
	node *n;

	out->count = 0;
	if (count == 0)
		return RT_OK;
	if (count > SEQ_INNER_MAX)
		first = at_end && count == SEQ_INNER_MAX + 1 ? SEQ_INNER_MAX : (count + 1) / 2;
	for (i = 0; i < count; i += first, first = count - i) {
		unsigned j;

		n = rt_seq_node_new(alloc, height, first);
		if (n == NULL) {
			for (; i < count; i++)
				kid_drop(alloc, &list[i]);
			pieces_drop(alloc, out);
			return RT_NOMEM;
		}
		for (j = 0; j < first; j++)
			n->of.kids[j] = list[i + j];
		rt_seq_kid_of(&out->kid[out->count++], n);
	}
	return RT_OK;
}

/* Slots (0 .. 2 * MAX) to leaves. */
static rt_status
leaf_from(const rt_alloc *alloc, const rt_slot *slots, unsigned count, bool at_end, pieces *out)
{
	unsigned first = count, i;

	out->count = 0;
	if (count == 0)
		return RT_OK;
	if (count > SEQ_LEAF_MAX)
		first = at_end && count == SEQ_LEAF_MAX + 1 ? SEQ_LEAF_MAX : (count + 1) / 2;
	for (i = 0; i < count; i += first, first = count - i) {
		node *n = rt_seq_node_new(alloc, 0, first);

		if (n == NULL) {
			pieces_drop(alloc, out);
			return RT_NOMEM;
		}
		memcpy(n->of.slots, slots + i, first * sizeof(*slots));
		rt_seq_kid_of(&out->kid[out->count++], n);
	}
	return RT_OK;
}

/* Two neighbours of the same height (owned) into one or two; evens them out when one is
 * less than half full. */
static rt_status
merge(const rt_seq *seq, kid *a, kid *b, unsigned height, pieces *out, rt_error *err)
{
	node *x, *y;
	unsigned max = height == 0 ? SEQ_LEAF_MAX : SEQ_INNER_MAX, i;
	rt_status st;

	st = rt_seq_kid_node(seq, a, height, &x, err);
	if (st == RT_OK)
		st = rt_seq_kid_node(seq, b, height, &y, err);
	if (st != RT_OK) {
		kid_drop(seq->alloc, a);
		kid_drop(seq->alloc, b);
		return st;
	}
	if (x->count + y->count > max && x->count >= max / 2 && y->count >= max / 2) {
		out->kid[0] = *a;
		out->kid[1] = *b;
		out->count = 2;
		return RT_OK;
	}
	if (height == 0) {
		rt_slot slots[2 * SEQ_LEAF_MAX];

		memcpy(slots, x->of.slots, x->count * sizeof(*slots));
		memcpy(slots + x->count, y->of.slots, y->count * sizeof(*slots));
		st = leaf_from(seq->alloc, slots, (unsigned)x->count + y->count, false, out);
	} else {
		kid list[2 * SEQ_INNER_MAX];

		for (i = 0; i < x->count; i++)
			kid_copy(&list[i], &x->of.kids[i]);
		for (i = 0; i < y->count; i++)
			kid_copy(&list[x->count + i], &y->of.kids[i]);
		st = inner_from(seq->alloc, list, (unsigned)x->count + y->count, height, false,
				out);
	}
	kid_drop(seq->alloc, a);
	kid_drop(seq->alloc, b);
	return st;
}

/* ---- one slot: the hot path ---- */

typedef enum edit { EDIT_INSERT, EDIT_REPLACE, EDIT_REMOVE } edit;

static rt_status
leaf_edit(const rt_alloc *alloc, const node *n, size_t at, edit what, const rt_slot *slot,
	  pieces *out)
{
	rt_slot slots[SEQ_LEAF_MAX + 1];
	unsigned count = n->count;

	memcpy(slots, n->of.slots, count * sizeof(*slots));
	switch (what) {
	case EDIT_INSERT:
		memmove(slots + at + 1, slots + at, (count - at) * sizeof(*slots));
		slots[at] = *slot;
		count++;
		break;
	case EDIT_REPLACE: slots[at] = *slot; break;
	case EDIT_REMOVE:
		memmove(slots + at, slots + at + 1, (count - at - 1) * sizeof(*slots));
		count--;
		break;
	}
	return leaf_from(alloc, slots, count, what == EDIT_INSERT && at == n->count, out);
}

/* The child that holds position *at; *at becomes the position in it. For an insert at the
 * end that is the last one. */
static unsigned
child_at(const node *n, size_t *at, bool insert)
{
	unsigned i = 0;

	while (i + 1 < n->count &&
	       (insert ? *at > n->of.kids[i].sum.count : *at >= n->of.kids[i].sum.count)) {
		*at -= (size_t)n->of.kids[i].sum.count;
		i++;
	}
	return i;
}

static rt_status
node_edit(const rt_seq *seq, const kid *k, unsigned height, size_t at, edit what,
	  const rt_slot *slot, pieces *out, rt_error *err)
{
	kid list[SEQ_INNER_MAX + 2];
	pieces below;
	node *n;
	unsigned i, j, count = 0, where;
	bool at_end = what == EDIT_INSERT && at == k->sum.count;
	rt_status st = rt_seq_kid_node(seq, k, height, &n, err);

	out->count = 0;
	if (st != RT_OK)
		return st;
	if (height == 0) {
		st = leaf_edit(seq->alloc, n, at, what, slot, out);
		return st == RT_OK ? st : rt_fail(err, st, "out of memory");
	}
	where = child_at(n, &at, what == EDIT_INSERT);
	st = node_edit(seq, &n->of.kids[where], height - 1, at, what, slot, &below, err);
	if (st != RT_OK)
		return st;
	for (i = 0; i < n->count; i++) {
		if (i != where) {
			kid_copy(&list[count++], &n->of.kids[i]);
			continue;
		}
		for (j = 0; j < below.count; j++)
			list[count++] = below.kid[j];
	}
	/* A removal may leave a small child: try it with a neighbour. */
	if (what == EDIT_REMOVE && below.count == 1 && count > 1) {
		node *small = NULL;

		st = rt_seq_kid_node(seq, &list[where], height - 1, &small, err);
		if (st == RT_OK &&
		    small->count < (height == 1 ? SEQ_LEAF_MAX : SEQ_INNER_MAX) / 2) {
			unsigned left = where + 1 < count ? where : where - 1;
			pieces merged = {.count = 0};

			st = merge(seq, &list[left], &list[left + 1], height - 1, &merged, err);
			if (st != RT_OK) { /* both were moved over */
				kid_init(&list[left], NULL, 0, (rt_seq_sum){0, 0, 0}, 0);
				kid_init(&list[left + 1], NULL, 0, (rt_seq_sum){0, 0, 0}, 0);
			} else {
				list[left] = merged.kid[0];
				if (merged.count == 2) {
					list[left + 1] = merged.kid[1];
				} else {
					for (i = left + 1; i + 1 < count; i++)
						list[i] = list[i + 1];
					count--;
				}
			}
		}
		if (st != RT_OK) {
			for (i = 0; i < count; i++)
				kid_drop(seq->alloc, &list[i]);
			return st;
		}
	}
	st = inner_from(seq->alloc, list, count, height, at_end, out);
	return st == RT_OK ? st : rt_fail(err, st, "out of memory");
}

/* Pieces to a sequence: grow a root above two, shrink above one child. Takes ownership. */
static rt_status
finish(const rt_seq *like, pieces *p, unsigned height, const rt_seq **out_seq, rt_error *err)
{
	rt_seq *seq = NULL;
	rt_status st = handle_new(like->alloc, like->source, &seq);

	if (st != RT_OK) {
		pieces_drop(like->alloc, p);
		return rt_fail(err, st, "out of memory");
	}
	if (p->count == 2) {
		kid list[2] = {p->kid[0], p->kid[1]};
		pieces top;

		st = inner_from(like->alloc, list, 2, height + 1, false, &top);
		if (st != RT_OK) {
			rt_seq_unref(seq);
			return rt_fail(err, st, "out of memory");
		}
		seq->root = top.kid[0];
		seq->height = height + 1;
	} else if (p->count == 1) {
		seq->root = p->kid[0];
		seq->height = height;
		while (seq->height > 0) {
			node *n;
			kid only;

			st = rt_seq_kid_node(seq, &seq->root, seq->height, &n, err);
			if (st != RT_OK) {
				rt_seq_unref(seq);
				return st;
			}
			if (n->count > 1)
				break;
			kid_copy(&only, &n->of.kids[0]);
			kid_drop(seq->alloc, &seq->root);
			seq->root = only;
			seq->height--;
		}
	}
	*out_seq = seq;
	return RT_OK;
}

static rt_status
edit_one(const rt_seq *seq, size_t at, edit what, const rt_slot *slot, const rt_seq **out_seq,
	 rt_error *err)
{
	pieces p;
	rt_status st;

	if (seq->root.sum.count == 0) {
		st = leaf_from(seq->alloc, slot, 1, true, &p);
		if (st != RT_OK)
			return rt_fail(err, st, "out of memory");
		return finish(seq, &p, 0, out_seq, err);
	}
	st = node_edit(seq, &seq->root, seq->height, at, what, slot, &p, err);
	if (st != RT_OK)
		return st;
	return finish(seq, &p, seq->height, out_seq, err);
}

/* ---- runs: split and join ---- */

/* A loose tree: an owned kid with its height, or nothing. */
typedef struct loose {
	kid root;
	unsigned height;
	bool empty;
} loose;

static void
loose_drop(const rt_alloc *alloc, loose *t)
{
	if (!t->empty)
		kid_drop(alloc, &t->root);
	t->empty = true;
}

/* a (owned) then b (owned), at least one level of which may be deeper. */
static rt_status join(const rt_seq *seq, loose *a, loose *b, loose *out, rt_error *err);

/* Put b below the right spine of a (deeper), or a below the left spine of b. */
static rt_status
join_spine(const rt_seq *seq, kid *tall, unsigned tall_height, kid *low, unsigned low_height,
	   bool low_is_right, pieces *out, rt_error *err)
{
	kid list[SEQ_INNER_MAX + 2], edge;
	pieces below;
	node *n;
	unsigned i, count = 0, where;
	rt_status st;

	out->count = 0;
	if (tall_height == low_height)
		return low_is_right ? merge(seq, tall, low, tall_height, out, err)
				    : merge(seq, low, tall, tall_height, out, err);
	st = rt_seq_kid_node(seq, tall, tall_height, &n, err);
	if (st != RT_OK) {
		kid_drop(seq->alloc, tall);
		kid_drop(seq->alloc, low);
		return st;
	}
	where = low_is_right ? n->count - 1u : 0;
	kid_copy(&edge, &n->of.kids[where]);
	st = join_spine(seq, &edge, tall_height - 1, low, low_height, low_is_right, &below, err);
	if (st != RT_OK) {
		kid_drop(seq->alloc, tall);
		return st;
	}
	for (i = 0; i < n->count; i++) {
		if (i != where) {
			kid_copy(&list[count++], &n->of.kids[i]);
		} else {
			unsigned j;

			for (j = 0; j < below.count; j++)
				list[count++] = below.kid[j];
		}
	}
	kid_drop(seq->alloc, tall);
	st = inner_from(seq->alloc, list, count, tall_height, low_is_right, out);
	return st == RT_OK ? st : rt_fail(err, st, "out of memory");
}

static rt_status
join(const rt_seq *seq, loose *a, loose *b, loose *out, rt_error *err)
{
	pieces p = {.count = 0};
	unsigned height;
	rt_status st;

	out->empty = true;
	if (a->empty || b->empty) {
		*out = a->empty ? *b : *a;
		a->empty = b->empty = true;
		return RT_OK;
	}
	if (a->height >= b->height) {
		height = a->height;
		st = join_spine(seq, &a->root, a->height, &b->root, b->height, true, &p, err);
	} else {
		height = b->height;
		st = join_spine(seq, &b->root, b->height, &a->root, a->height, false, &p, err);
	}
	a->empty = b->empty = true;
	if (st != RT_OK)
		return st;
	if (p.count == 2) {
		kid list[2] = {p.kid[0], p.kid[1]};
		pieces top;

		st = inner_from(seq->alloc, list, 2, height + 1, false, &top);
		if (st != RT_OK)
			return rt_fail(err, st, "out of memory");
		out->root = top.kid[0];
		out->height = height + 1;
	} else {
		out->root = p.kid[0];
		out->height = height;
	}
	out->empty = false;
	return RT_OK;
}

/* Kids from .. to-1 of n as a loose tree. */
static rt_status
range_of(const rt_seq *seq, const node *n, unsigned from, unsigned to, loose *out)
{
	kid list[SEQ_INNER_MAX];
	pieces p;
	unsigned i;
	rt_status st;

	out->empty = true;
	if (from == to)
		return RT_OK;
	if (to - from == 1) {
		kid_copy(&out->root, &n->of.kids[from]);
		out->height = n->height - 1u;
		out->empty = false;
		return RT_OK;
	}
	for (i = from; i < to; i++)
		kid_copy(&list[i - from], &n->of.kids[i]);
	st = inner_from(seq->alloc, list, to - from, n->height, false, &p);
	if (st != RT_OK)
		return st;
	out->root = p.kid[0];
	out->height = n->height;
	out->empty = false;
	return RT_OK;
}

static rt_status
leaf_part(const rt_seq *seq, const node *n, unsigned from, unsigned to, loose *out)
{
	pieces p;
	rt_status st;

	out->empty = true;
	if (from == to)
		return RT_OK;
	st = leaf_from(seq->alloc, n->of.slots + from, to - from, false, &p);
	if (st != RT_OK)
		return st;
	out->root = p.kid[0];
	out->height = 0;
	out->empty = false;
	return RT_OK;
}

/* Either output may be NULL. */
static rt_status
split(const rt_seq *seq, const kid *k, unsigned height, size_t at, loose *left, loose *right,
      rt_error *err)
{
	loose low_left = {.empty = true}, low_right = {.empty = true};
	loose beside_left = {.empty = true}, beside_right = {.empty = true};
	node *n;
	unsigned where;
	rt_status st;

	if (left != NULL)
		left->empty = true;
	if (right != NULL)
		right->empty = true;
	if (at == 0 || at == k->sum.count) {
		loose *whole = at == 0 ? right : left;

		if (whole != NULL) {
			kid_copy(&whole->root, k);
			whole->height = height;
			whole->empty = false;
		}
		return RT_OK;
	}
	st = rt_seq_kid_node(seq, k, height, &n, err);
	if (st != RT_OK)
		return st;
	if (height == 0) {
		if (left != NULL)
			st = leaf_part(seq, n, 0, (unsigned)at, left);
		if (st == RT_OK && right != NULL)
			st = leaf_part(seq, n, (unsigned)at, n->count, right);
		goto done;
	}
	where = child_at(n, &at, false);
	st = split(seq, &n->of.kids[where], height - 1, at, left != NULL ? &low_left : NULL,
		   right != NULL ? &low_right : NULL, err);
	if (st == RT_OK && left != NULL)
		st = range_of(seq, n, 0, where, &beside_left);
	if (st == RT_OK && right != NULL)
		st = range_of(seq, n, where + 1, n->count, &beside_right);
	if (st == RT_OK && left != NULL)
		st = join(seq, &beside_left, &low_left, left, err);
	if (st == RT_OK && right != NULL)
		st = join(seq, &low_right, &beside_right, right, err);
done:
	loose_drop(seq->alloc, &low_left);
	loose_drop(seq->alloc, &low_right);
	loose_drop(seq->alloc, &beside_left);
	loose_drop(seq->alloc, &beside_right);
	if (st != RT_OK) {
		if (left != NULL)
			loose_drop(seq->alloc, left);
		if (right != NULL)
			loose_drop(seq->alloc, right);
		if (st == RT_NOMEM)
			return rt_fail(err, st, "out of memory");
	}
	return st;
}

/* A loose tree from an array: full leaves, then full inner levels. */
static rt_status
build(const rt_alloc *alloc, const rt_slot *slots, size_t count, loose *out)
{
	size_t kids = (count + SEQ_LEAF_MAX - 1) / SEQ_LEAF_MAX, i;
	unsigned height = 0;
	kid *level;

	out->empty = true;
	if (count == 0)
		return RT_OK;
	level = rt_new_array(alloc, kids, sizeof(*level));
	if (level == NULL)
		return RT_NOMEM;
	for (i = 0; i < kids; i++) {
		size_t from = i * SEQ_LEAF_MAX;
		size_t run = count - from < SEQ_LEAF_MAX ? count - from : SEQ_LEAF_MAX;
		pieces p;

		if (leaf_from(alloc, slots + from, (unsigned)run, false, &p) != RT_OK) {
			while (i > 0)
				kid_drop(alloc, &level[--i]);
			rt_free(alloc, level);
			return RT_NOMEM;
		}
		level[i] = p.kid[0];
	}
	while (kids > 1) {
		size_t made = 0, from = 0;

		height++;
		while (from < kids) {
			size_t run = kids - from < SEQ_INNER_MAX ? kids - from : SEQ_INNER_MAX;
			pieces p;

			if (inner_from(alloc, level + from, (unsigned)run, height, false, &p) !=
			    RT_OK) {
				for (from += run; from < kids; from++)
					kid_drop(alloc, &level[from]);
				while (made > 0)
					kid_drop(alloc, &level[--made]);
				rt_free(alloc, level);
				return RT_NOMEM;
			}
			level[made++] = p.kid[0];
			from += run;
		}
		kids = made;
	}
	out->root = level[0];
	out->height = height;
	out->empty = false;
	rt_free(alloc, level);
	return RT_OK;
}

/* Takes ownership of t. */
static rt_status
loose_finish(const rt_seq *like, loose *t, const rt_seq **out_seq, rt_error *err)
{
	pieces p = {.count = 0};

	if (!t->empty) {
		p.kid[0] = t->root;
		p.count = 1;
	}
	t->empty = true;
	return finish(like, &p, p.count > 0 ? t->height : 0, out_seq, err);
}

rt_status
rt_seq_from(const rt_alloc *alloc, const rt_seq_source *source, const rt_slot *slots, size_t count,
	    const rt_seq **out_seq)
{
	rt_seq like = {.alloc = alloc, .source = source};
	loose t;
	rt_status st = build(alloc, slots, count, &t);

	if (st != RT_OK)
		return st;
	return loose_finish(&like, &t, out_seq, NULL);
}

rt_status
rt_seq_splice(const rt_seq *seq, size_t at, size_t remove, const rt_slot *slots, size_t count,
	      const rt_seq **out_seq, rt_error *err)
{
	loose left = {.empty = true}, right = {.empty = true}, mid = {.empty = true};
	loose half = {.empty = true}, whole = {.empty = true};
	size_t have = rt_seq_count(seq);
	rt_status st = RT_OK;

	RT_ASSERT(at <= have && remove <= have - at);
	if (remove == 0 && count == 0) {
		*out_seq = rt_seq_ref(seq);
		return RT_OK;
	}
	if (remove <= 1 && count <= 1)
		return edit_one(seq, at,
				remove == 0  ? EDIT_INSERT
				: count == 1 ? EDIT_REPLACE
					     : EDIT_REMOVE,
				slots, out_seq, err);
	if (have > 0) {
		st = split(seq, &seq->root, seq->height, at, &left, NULL, err);
		if (st == RT_OK)
			st = split(seq, &seq->root, seq->height, at + remove, NULL, &right, err);
	}
	if (st == RT_OK) {
		st = build(seq->alloc, slots, count, &mid);
		if (st != RT_OK)
			rt_fail(err, st, "out of memory");
	}
	if (st == RT_OK)
		st = join(seq, &left, &mid, &half, err);
	if (st == RT_OK)
		st = join(seq, &half, &right, &whole, err);
	if (st == RT_OK)
		st = loose_finish(seq, &whole, out_seq, err);
	loose_drop(seq->alloc, &left);
	loose_drop(seq->alloc, &right);
	loose_drop(seq->alloc, &mid);
	loose_drop(seq->alloc, &half);
	loose_drop(seq->alloc, &whole);
	return st;
}

rt_status
rt_seq_join(const rt_seq *a, const rt_seq *b, size_t from, const rt_seq **out_seq, rt_error *err)
{
	loose left = {.empty = true}, right = {.empty = true}, whole = {.empty = true};
	rt_status st = RT_OK;

	if (rt_seq_count(a) > 0) {
		kid_copy(&left.root, &a->root);
		left.height = a->height;
		left.empty = false;
	}
	if (rt_seq_count(b) > 0)
		st = split(b, &b->root, b->height, from, NULL, &right, err);
	if (st == RT_OK)
		st = join(a, &left, &right, &whole, err);
	if (st == RT_OK)
		st = loose_finish(a, &whole, out_seq, err);
	loose_drop(a->alloc, &left);
	loose_drop(a->alloc, &right);
	loose_drop(a->alloc, &whole);
	return st;
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
			k = &n->of.kids[child_at(n, &in, false)];
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
		k = &n->of.kids[child_at(n, &at, false)];
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
