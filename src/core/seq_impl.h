/* SPDX-License-Identifier: MIT
 *
 * The implementation of rt_seq, shared by seq.c (nodes, loading, reading), seq_splice.c (changed
 * sequences) and seq_store.c (its bytes). */
#ifndef RT_CORE_SEQ_IMPL_H
#define RT_CORE_SEQ_IMPL_H

#include <stddef.h>

#include "core/seq.h"

/* A full node has about 1 KB: an edit copies one node per level. Nodes are allocated for their
 * exact number of items, because they never grow and many short takes have one leaf each. Tests
 * are also built with nodes of two items, so that ten operations reach every split. */
#ifdef RT_TINY_NODES
enum { SEQ_LEAF_MAX = 2, SEQ_INNER_MAX = 2 };
#else
enum { SEQ_LEAF_MAX = 24, SEQ_INNER_MAX = 20 };
#endif
enum { SEQ_HEIGHT_MAX = 64 };

typedef struct node node;

typedef struct kid {
	_Atomic(node *) node; /* NULL until first access */
	uint64_t stored;      /* its number in the store */
	rt_seq_sum sum;
	uint64_t first_key;
} kid;

struct node {
	_Atomic uint32_t refs;
	uint16_t count;
	uint16_t height;          /* 0: a leaf */
	_Atomic uint64_t stored;  /* its number in the store; 0: not there */
	uint64_t pending;         /* its number in an uncommitted transaction; 0: none */
	union {
		rt_slot slots[1]; /* count of them, at most SEQ_LEAF_MAX */
		kid kids[1];      /* the same, at most SEQ_INNER_MAX */
	} of;
};

struct rt_seq {
	_Atomic uint32_t refs;
	unsigned height;
	const rt_alloc *alloc;
	const rt_seq_source *source;
	kid root; /* sum.count 0: empty, no node */
};

void rt_seq_node_unref(const rt_alloc *alloc, node *n);

static inline void
rt_seq_kid_init(kid *k, node *n, uint64_t stored, rt_seq_sum sum, uint64_t first_key)
{
	atomic_init(&k->node, n);
	k->stored = stored;
	k->sum = sum;
	k->first_key = first_key;
}

static inline void
rt_seq_kid_drop(const rt_alloc *alloc, kid *k)
{
	rt_seq_node_unref(alloc, atomic_load_explicit(&k->node, memory_order_acquire));
	rt_seq_kid_init(k, NULL, 0, (rt_seq_sum){0, 0, 0}, 0);
}

/* The child that holds position *at; *at becomes the position in it. For an insert at the
 * end that is the last one. */
static inline unsigned
rt_seq_child_at(const node *n, size_t *at, bool insert)
{
	unsigned i = 0;

	while (i + 1 < n->count &&
	       (insert ? *at > n->of.kids[i].sum.count : *at >= n->of.kids[i].sum.count)) {
		*at -= (size_t)n->of.kids[i].sum.count;
		i++;
	}
	return i;
}

/* For exactly count items, which the caller fills in; not stored. NULL: out of memory. */
node *rt_seq_node_new(const rt_alloc *alloc, unsigned height, size_t count);
void rt_seq_kid_of(kid *k, node *n);
/* The node of a kid, loaded if necessary; borrowed. */
rt_status rt_seq_kid_node(const rt_seq *seq, const kid *k, unsigned height, node **out,
			  rt_error *err);
/* An empty sequence. */
rt_status rt_seq_handle_new(const rt_alloc *alloc, const rt_seq_source *source, rt_seq **out);
/* Decodes the root node. RT_NOMEM, RT_CORRUPT: unchanged. */
rt_status rt_seq_kid_decode(const rt_seq *seq, rt_str bytes);
rt_status rt_seq_node_decode(const rt_alloc *alloc, rt_str bytes, unsigned height,
			     uint64_t number, node **out, rt_error *err);

#endif
