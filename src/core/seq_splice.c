/* SPDX-License-Identifier: MIT
 *
 * Making a sequence from another one: one slot inserted, replaced or removed; runs of slots spliced
 * and joined; a sequence built from an array. seq.c has the nodes.
 *
 * An edit copies the nodes from the root to the leaf and shares all others. A splice of runs splits
 * the tree at both ends of the removed run and joins the parts with a tree of the new slots.
 *
 * Fill: a node holds 1 .. MAX items. Splits at the right end leave the left node full
 * (appending is the common case), other splits halve. A removal that leaves a node less
 * than half full merges it with a neighbour when both fit into one. */
#include "core/seq_impl.h"

static void
node_ref(node *n)
{
	atomic_fetch_add_explicit(&n->refs, 1, memory_order_relaxed);
}

/* Copies a reference. */
static void
kid_copy(kid *to, const kid *from)
{
	node *n = atomic_load_explicit(&((kid *)(uintptr_t)from)->node, memory_order_acquire);

	if (n != NULL)
		node_ref(n);
	rt_seq_kid_init(to, n, from->stored, from->sum, from->first_key);
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
		rt_seq_kid_drop(alloc, &p->kid[--p->count]);
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
				rt_seq_kid_drop(alloc, &list[i]);
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
		rt_seq_kid_drop(seq->alloc, a);
		rt_seq_kid_drop(seq->alloc, b);
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
	rt_seq_kid_drop(seq->alloc, a);
	rt_seq_kid_drop(seq->alloc, b);
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
	where = rt_seq_child_at(n, &at, what == EDIT_INSERT);
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
				rt_seq_kid_init(&list[left], NULL, 0, (rt_seq_sum){0, 0, 0}, 0);
				rt_seq_kid_init(&list[left + 1], NULL, 0, (rt_seq_sum){0, 0, 0}, 0);
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
				rt_seq_kid_drop(seq->alloc, &list[i]);
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
	rt_status st = rt_seq_handle_new(like->alloc, like->source, &seq);

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
			rt_seq_kid_drop(seq->alloc, &seq->root);
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
		rt_seq_kid_drop(alloc, &t->root);
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
		rt_seq_kid_drop(seq->alloc, tall);
		rt_seq_kid_drop(seq->alloc, low);
		return st;
	}
	where = low_is_right ? n->count - 1u : 0;
	kid_copy(&edge, &n->of.kids[where]);
	st = join_spine(seq, &edge, tall_height - 1, low, low_height, low_is_right, &below, err);
	if (st != RT_OK) {
		rt_seq_kid_drop(seq->alloc, tall);
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
	rt_seq_kid_drop(seq->alloc, tall);
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
	where = rt_seq_child_at(n, &at, false);
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
				rt_seq_kid_drop(alloc, &level[--i]);
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
					rt_seq_kid_drop(alloc, &level[from]);
				while (made > 0)
					rt_seq_kid_drop(alloc, &level[--made]);
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
