/* SPDX-License-Identifier: MIT
 *
 * Trie: a discussion's present takes as one tree, by entry id. Takes diverge where the ids differ;
 * where takes hold different revisions of an entry, its node says so. All views of the tree are
 * made from it: rows (view_tree.c), columns (view_columns.c), forks (view_forks.c).
 *
 * Threads: one at a time; it borrows from the project. */
#ifndef RT_VIEW_VIEW_TRIE_H
#define RT_VIEW_VIEW_TRIE_H

#include "base/hash_table.h"
#include "core/project.h"

#define RT_TRIE_NONE UINT32_MAX

typedef struct rt_trie_node {
	rt_slot slot;      /* in the form that the first added take has */
	uint32_t take;     /* that take */
	uint32_t parent;
	uint32_t jump;     /* an ancestor further up: see node_at in view_trie.c */
	uint32_t child;    /* first */
	uint32_t next;     /* sibling */
	uint32_t depth;
	uint32_t tip;      /* first in the list of takes that end here */
	uint32_t from, to; /* the takes below, as a range of order */
	uint64_t path;     /* hash of the ids from the root: the row's name */
	bool differs;      /* takes have different revisions of it */
} rt_trie_node;

typedef struct rt_trie {
	const rt_alloc *alloc;
	const rt_project *project;
	const rt_disc *disc;
	rt_trie_node *nodes;
	uint32_t count, capacity;
	uint32_t first_root; /* where display order begins; RT_TRIE_NONE: there is no entry */
	rt_hash_table numbers; /* of the nodes, by parent and entry */
	uint32_t *tip_node;  /* by take number: where it ends; RT_TRIE_NONE: empty */
	uint32_t *next_tip;  /* by take number: the next one that ends at the same node */
	uint32_t *order;     /* take numbers in the order of their tips */
	uint32_t ordered;
	uint32_t head;       /* the node of the head; RT_TRIE_NONE: before the first */
} rt_trie;

/* deinit it, also after a failure. O(entries that takes do not share, times the logarithm). */
RT_CHECKED rt_status rt_trie_init(rt_trie *t, const rt_alloc *alloc, const rt_project *project,
				  const rt_disc *disc, rt_error *err);
void rt_trie_deinit(rt_trie *t);
/* The next node in display order, depth first; RT_TRIE_NONE after the last. */
uint32_t rt_trie_next(const rt_trie *t, uint32_t n);
/* The node's slot in the active take, else in the oldest take that goes through it. */
RT_CHECKED rt_status rt_trie_shown(const rt_trie *t, uint32_t number, rt_slot *out, rt_error *err);
/* Do both show the same text, of the same role, both muted or both not? */
bool rt_same_revision(const rt_slot *a, const rt_slot *b);

#endif
