/* SPDX-License-Identifier: MIT
 *
 * A node as bytes, for checkpoints. All numbers are varints (base/varint.h); "d" marks a
 * difference to the same field of the item before (folded, as it may fall).
 *
 *   byte 'L' or 'I'   leaf or inner node, format 1
 *   height            0 for a leaf
 *   count             1 .. 24 slots, or 1 .. 20 kids
 *   a leaf's slot     d key | d entry | d body | d ts_us | size | role | kind | flags
 *   an inner's kid    number | d first_key | count | bytes | turns
 *
 * A checkpoint writes nodes from the leaves up, since a node refers to its children. Numbers stay
 * pending until the transaction is durable. */
#include "base/varint.h"
#include "core/seq_impl.h"

#include <stdlib.h> /* qsort */

static void
node_encode(const node *n, rt_buf *out)
{
	unsigned i;

	rt_buf_add_byte(out, n->height == 0 ? 'L' : 'I');
	rt_buf_add_varint(out, n->height);
	rt_buf_add_varint(out, n->count);
	if (n->height == 0) {
		rt_slot before = {0};

		for (i = 0; i < n->count; i++) {
			const rt_slot *s = &n->of.slots[i];

			rt_buf_add_varint(out, s->key - before.key);
			rt_buf_add_varint(out, rt_fold((int64_t)s->entry - (int64_t)before.entry));
			rt_buf_add_varint(out, rt_fold((int64_t)(s->body - before.body)));
			rt_buf_add_varint(out, rt_fold((int64_t)((uint64_t)s->ts_us -
								 (uint64_t)before.ts_us)));
			rt_buf_add_varint(out, s->size);
			rt_buf_add_varint(out, s->role);
			rt_buf_add_varint(out, s->kind);
			rt_buf_add_varint(out, s->flags);
			before = *s;
		}
	} else {
		uint64_t before = 0;

		for (i = 0; i < n->count; i++) {
			const kid *k = &n->of.kids[i];
			node *below = atomic_load_explicit(&((kid *)(uintptr_t)k)->node,
							   memory_order_acquire);
			uint64_t number = k->stored;

			if (below != NULL) {
				number = atomic_load(&below->stored);
				if (number == 0)
					number = below->pending;
			}
			RT_ASSERT(number != 0);
			rt_buf_add_varint(out, number);
			rt_buf_add_varint(out, k->first_key - before);
			rt_buf_add_varint(out, k->sum.count);
			rt_buf_add_varint(out, k->sum.bytes);
			rt_buf_add_varint(out, k->sum.turns);
			before = k->first_key;
		}
	}
}

/* The reader fails if the number is larger. */
static uint64_t
read_up_to(rt_byte_reader *r, uint64_t max)
{
	uint64_t number = rt_read_varint(r);

	r->ok = r->ok && number <= max;
	return number;
}

rt_status
rt_seq_node_decode(const rt_alloc *alloc, rt_str bytes, unsigned height, uint64_t number,
		   node **out, rt_error *err)
{
	rt_byte_reader r = rt_byte_reader_of(bytes);
	unsigned char kind = rt_read_byte(&r);
	uint64_t stored_height = rt_read_varint(&r), count = rt_read_varint(&r), i;
	node *n;

	if (!r.ok || kind != (height == 0 ? 'L' : 'I') || stored_height != height || count == 0 ||
	    count > 4096)
		return rt_fail(err, RT_CORRUPT, "node %llu differs from its parent's record",
			       (unsigned long long)number);
	/* written by a build with larger nodes: this checkpoint cannot be used; the log can */
	if (count > (height == 0 ? (uint64_t)SEQ_LEAF_MAX : (uint64_t)SEQ_INNER_MAX))
		return rt_fail(err, RT_CORRUPT, "node %llu has %llu items, more than this build supports",
			       (unsigned long long)number, (unsigned long long)count);
	n = rt_seq_node_new(alloc, height, (size_t)count);
	if (n == NULL)
		return rt_fail(err, RT_NOMEM, "out of memory while loading a node");
	atomic_init(&n->stored, number);
	if (height == 0) {
		rt_slot before = {0};

		for (i = 0; i < count; i++) {
			rt_slot *s = &n->of.slots[i];

			s->key = before.key + rt_read_varint(&r);
			s->entry = (uint32_t)((int64_t)before.entry + rt_unfold(rt_read_varint(&r)));
			s->body = before.body + (uint64_t)rt_unfold(rt_read_varint(&r));
			s->ts_us = (int64_t)((uint64_t)before.ts_us +
					     (uint64_t)rt_unfold(rt_read_varint(&r)));
			s->size = (uint32_t)read_up_to(&r, UINT32_MAX);
			s->role = (uint16_t)read_up_to(&r, UINT16_MAX);
			s->kind = (uint16_t)read_up_to(&r, UINT16_MAX);
			s->flags = (uint32_t)read_up_to(&r, UINT32_MAX);
			if (i > 0 && s->key <= before.key)
				r.ok = false; /* keys rise; places are found by them */
			before = *s;
		}
	} else {
		uint64_t before = 0;

		for (i = 0; i < count; i++) {
			kid *k = &n->of.kids[i];

			atomic_init(&k->node, NULL);
			k->stored = rt_read_varint(&r);
			k->first_key = before + rt_read_varint(&r);
			k->sum.count = rt_read_varint(&r);
			k->sum.bytes = rt_read_varint(&r);
			k->sum.turns = rt_read_varint(&r);
			if (k->stored == 0 || k->sum.count == 0 ||
			    (i > 0 && k->first_key <= before))
				r.ok = false;
			before = k->first_key;
		}
	}
	if (!r.ok || r.at != r.end) {
		rt_free(alloc, n);
		return rt_fail(err, RT_CORRUPT, "node %llu cannot be read",
			       (unsigned long long)number);
	}
	*out = n;
	return RT_OK;
}

/* ---- writing ---- */

struct rt_seq_pending {
	const rt_alloc *alloc;
	node **nodes; /* referenced */
	size_t count, room;
};

rt_seq_pending *
rt_seq_pending_new(const rt_alloc *alloc)
{
	rt_seq_pending *pending = rt_new0(alloc, sizeof(*pending));

	if (pending != NULL)
		pending->alloc = alloc;
	return pending;
}

static void
pending_end(rt_seq_pending *pending, bool durable)
{
	size_t i;

	if (pending == NULL)
		return;
	for (i = 0; i < pending->count; i++) {
		node *n = pending->nodes[i];

		if (durable)
			atomic_store(&n->stored, n->pending);
		n->pending = 0;
		rt_seq_node_unref(pending->alloc, n);
	}
	rt_free(pending->alloc, pending->nodes);
	rt_free(pending->alloc, pending);
}

void
rt_seq_pending_commit(rt_seq_pending *pending)
{
	pending_end(pending, true);
}

void
rt_seq_pending_cancel(rt_seq_pending *pending)
{
	pending_end(pending, false);
}

static rt_status
pending_add(rt_seq_pending *pending, node *n)
{
	if (rt_array_add(pending->alloc, &pending->nodes, &pending->count, &pending->room,
			 sizeof(*pending->nodes)) == NULL)
		return RT_NOMEM;
	atomic_fetch_add_explicit(&n->refs, 1, memory_order_relaxed);
	pending->nodes[pending->count - 1] = n;
	return RT_OK;
}

static rt_status
node_store(node *n, const rt_seq_writer *writer, rt_seq_pending *pending, rt_buf *bytes,
	   rt_error *err)
{
	unsigned i;
	rt_status st;

	if (atomic_load(&n->stored) != 0 || n->pending != 0)
		return RT_OK;
	if (n->height > 0)
		for (i = 0; i < n->count; i++) {
			node *below = atomic_load_explicit(&n->of.kids[i].node,
							   memory_order_acquire);

			if (below == NULL)
				continue; /* never loaded: it is stored */
			st = node_store(below, writer, pending, bytes, err);
			if (st != RT_OK)
				return st;
		}
	rt_buf_clear(bytes);
	node_encode(n, bytes);
	if (bytes->status != RT_OK)
		return rt_fail(err, bytes->status, "out of memory");
	st = pending_add(pending, n);
	if (st != RT_OK)
		return rt_fail(err, st, "out of memory");
	st = writer->write(writer->ctx, rt_buf_str(bytes), &n->pending, err);
	RT_ASSERT(st != RT_OK || n->pending != 0);
	return st;
}

rt_status
rt_seq_store(const rt_seq *seq, const rt_seq_writer *writer, rt_seq_pending *pending,
	     rt_seq_root *out_root, rt_error *err)
{
	rt_buf bytes;
	rt_status st = RT_OK;
	node *n = atomic_load_explicit(&((rt_seq *)(uintptr_t)seq)->root.node,
				       memory_order_acquire);

	memset(out_root, 0, sizeof(*out_root));
	if (rt_seq_count(seq) == 0)
		return RT_OK;
	out_root->height = seq->height;
	out_root->sum = seq->root.sum;
	out_root->first_key = seq->root.first_key;
	if (n == NULL) {
		out_root->number = seq->root.stored;
		return RT_OK;
	}
	rt_buf_init(&bytes, seq->alloc, RT_BUF_UNLIMITED);
	st = node_store(n, writer, pending, &bytes, err);
	rt_buf_deinit(&bytes);
	if (st == RT_OK)
		out_root->number =
			atomic_load(&n->stored) != 0 ? atomic_load(&n->stored) : n->pending;
	return st;
}

rt_status
rt_seq_open(const rt_alloc *alloc, const rt_seq_source *source, const rt_seq_root *root,
	    const rt_seq **out_seq)
{
	const rt_seq *seq = NULL;
	rt_seq *mine;
	rt_status st = rt_seq_new(alloc, source, &seq);

	if (st != RT_OK)
		return st;
	if (root->number != 0) {
		mine = (rt_seq *)(uintptr_t)seq;
		mine->height = root->height;
		mine->root.stored = root->number;
		mine->root.sum = root->sum;
		mine->root.first_key = root->first_key;
	}
	*out_seq = seq;
	return RT_OK;
}

rt_status
rt_seq_shed(const rt_seq *seq, const rt_seq **out_seq)
{
	node *n = atomic_load_explicit(&((rt_seq *)(uintptr_t)seq)->root.node,
				       memory_order_acquire);
	rt_seq_root root = {0};

	if (rt_seq_count(seq) == 0 || n == NULL || atomic_load(&n->stored) == 0) {
		*out_seq = rt_seq_ref(seq);
		return RT_OK;
	}
	root.number = atomic_load(&n->stored);
	root.first_key = seq->root.first_key;
	root.height = seq->height;
	root.sum = seq->root.sum;
	return rt_seq_open(seq->alloc, seq->source, &root, out_seq);
}

/* Sequences whose root node is to be loaded, by its number. */
typedef struct loading {
	const rt_seq *seqs[RT_SEQ_LOAD_MAX];
	size_t count, next; /* seqs[next ..] still wait */
	bool failed;        /* no memory */
} loading;

static uint64_t
root_number(const rt_seq *seq)
{
	return seq->root.stored;
}

static int
by_root(const void *a, const void *b)
{
	uint64_t x = root_number(*(const rt_seq *const *)a);
	uint64_t y = root_number(*(const rt_seq *const *)b);

	return (x > y) - (x < y);
}

static void
on_node(void *to, uint64_t number, rt_str bytes)
{
	loading *l = to;

	for (; l->next < l->count && root_number(l->seqs[l->next]) < number; l->next++)
		;
	for (; l->next < l->count && root_number(l->seqs[l->next]) == number; l->next++)
		l->failed |= rt_seq_kid_decode(l->seqs[l->next], bytes) == RT_NOMEM;
}

rt_status
rt_seq_load(const rt_seq *const *seqs, size_t count, rt_error *err)
{
	uint64_t numbers[RT_SEQ_LOAD_MAX];
	loading l = {.count = 0};
	size_t i, number_count = 0;
	rt_status st;

	RT_ASSERT(count <= RT_SEQ_LOAD_MAX);
	for (i = 0; i < count; i++) {
		rt_seq *mine = (rt_seq *)(uintptr_t)seqs[i];

		if (rt_seq_count(mine) > 0 && mine->source != NULL && mine->source->pick != NULL &&
		    atomic_load_explicit(&mine->root.node, memory_order_acquire) == NULL)
			l.seqs[l.count++] = mine;
	}
	if (l.count < 2)
		return RT_OK;
	qsort(l.seqs, l.count, sizeof(*l.seqs), by_root);
	for (i = 0; i < l.count; i++)
		if (i == 0 || root_number(l.seqs[i]) != numbers[number_count - 1])
			numbers[number_count++] = root_number(l.seqs[i]);
	st = l.seqs[0]->source->pick(l.seqs[0]->source->ctx, numbers, number_count, on_node, &l,
				     err);
	if (st == RT_CORRUPT)
		st = RT_OK; /* benign: the reader of a damaged node gets the error */
	if (st == RT_OK && l.failed)
		st = rt_fail(err, RT_NOMEM, "out of memory while loading nodes");
	return st;
}

static rt_status
numbers(const rt_seq *seq, const kid *k, unsigned height, bool (*fn)(void *ctx, uint64_t number),
	void *ctx, rt_error *err)
{
	node *n = atomic_load_explicit(&((kid *)(uintptr_t)k)->node, memory_order_acquire);
	uint64_t number = n != NULL ? atomic_load(&n->stored) : k->stored;
	unsigned i;
	rt_status st;

	if (number != 0 && !fn(ctx, number))
		return RT_OK;
	if (height == 0)
		return RT_OK;
	st = rt_seq_kid_node(seq, k, height, &n, err);
	for (i = 0; st == RT_OK && i < n->count; i++)
		st = numbers(seq, &n->of.kids[i], height - 1, fn, ctx, err);
	return st;
}

rt_status
rt_seq_numbers(const rt_seq *seq, bool (*fn)(void *ctx, uint64_t number), void *ctx, rt_error *err)
{
	if (rt_seq_count(seq) == 0)
		return RT_OK;
	return numbers(seq, &seq->root, seq->height, fn, ctx, err);
}

/* ---- checking ---- */

static rt_status
check(const rt_seq *seq, const kid *k, unsigned height, uint64_t *last_key, bool *any, rt_error *err)
{
	node *n;
	kid now;
	unsigned i, max = height == 0 ? SEQ_LEAF_MAX : SEQ_INNER_MAX;
	rt_status st = rt_seq_kid_node(seq, k, height, &n, err);

	if (st != RT_OK)
		return st;
	if (n->height != height)
		return rt_fail(err, RT_CORRUPT, "a node of height %u instead of %u", n->height,
			       height);
	if (n->count == 0 || n->count > max)
		return rt_fail(err, RT_CORRUPT, "a node of %u items", n->count);
	rt_seq_kid_of(&now, n);
	if (now.sum.count != k->sum.count || now.sum.bytes != k->sum.bytes ||
	    now.sum.turns != k->sum.turns || now.first_key != k->first_key)
		return rt_fail(err, RT_CORRUPT, "a summary that does not match its node");
	for (i = 0; st == RT_OK && height > 0 && i < n->count; i++)
		st = check(seq, &n->of.kids[i], height - 1, last_key, any, err);
	for (i = 0; st == RT_OK && height == 0 && i < n->count; i++) {
		if (*any && n->of.slots[i].key <= *last_key)
			return rt_fail(err, RT_CORRUPT, "keys that do not increase");
		*last_key = n->of.slots[i].key;
		*any = true;
	}
	return st;
}

rt_status
rt_seq_check(const rt_seq *seq, rt_error *err)
{
	uint64_t last_key = 0;
	bool any = false;

	if (rt_seq_count(seq) == 0)
		return RT_OK;
	return check(seq, &seq->root, seq->height, &last_key, &any, err);
}
