/* SPDX-License-Identifier: MIT
 *
 * The inside of rt_seq, shared by seq.c (the tree) and seq_store.c (its bytes). */
#ifndef RT_CORE_SEQ_IMPL_H
#define RT_CORE_SEQ_IMPL_H

#include <stddef.h>

#include "core/seq.h"

/* Full nodes are some 1 KB: an edit copies one node of each level. One that is not full takes
 * what it holds: nodes never grow, and many short takes have a leaf each. Tests also build
 * with nodes of two items, so that ten operations reach every split. */
#ifdef RT_TINY_NODES
enum { SEQ_LEAF_MAX = 2, SEQ_INNER_MAX = 2 };
#else
enum { SEQ_LEAF_MAX = 24, SEQ_INNER_MAX = 20 };
#endif
enum { SEQ_HEIGHT_MAX = 64 };

typedef struct node node;

typedef struct kid {
	_Atomic(node *) node; /* NULL until somebody looks */
	uint64_t stored;      /* where to load it from then */
	rt_seq_sum sum;
	uint64_t first_key;
} kid;

struct node {
	_Atomic uint32_t refs;
	uint16_t count;
	uint16_t height;          /* 0: a leaf */
	_Atomic uint64_t stored;  /* its number in the store; 0: not there */
	uint64_t pending;         /* its number in a transaction under way; 0: none */
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

/* With room for exactly so many items, which are the caller's to fill in; not stored. NULL: no
 * memory. */
node *rt_seq_node_new(const rt_alloc *alloc, unsigned height, size_t count);
void rt_seq_node_unref(const rt_alloc *alloc, node *n);
void rt_seq_kid_of(kid *k, node *n);
/* The node of a kid, loaded if need be; borrowed. */
rt_status rt_seq_kid_node(const rt_seq *seq, const kid *k, unsigned height, node **out,
			  rt_error *err);
/* The uppermost node from its bytes. RT_NOMEM, RT_CORRUPT: as it was. */
rt_status rt_seq_kid_decode(const rt_seq *seq, rt_str bytes);
rt_status rt_seq_node_decode(const rt_alloc *alloc, rt_str bytes, unsigned height,
			     uint64_t number, node **out, rt_error *err);

#endif
