/* SPDX-License-Identifier: MIT
 *
 * Seq: a persistent sequence of slots, the only container of the core.
 *
 * A sequence is an immutable, reference-counted B-tree. Every operation returns a new sequence
 * that shares all but O(log n) nodes with the old one. Slots have two orders that agree: by
 * position (0, 1, 2 …) and by key (strictly increasing 64-bit numbers), so finding a position by
 * key is as fast as the reverse. Inner nodes store the sums of their subtrees: slots, content
 * bytes, user turns.
 *
 *              [ 5 slots | 2 slots ]            inner: a child and its summary
 *               /              \
 *      [s0 s1 s2 s3 s4]     [s5 s6]             leaves: the slots themselves
 *
 * Nodes may be in a store and are loaded from a source on first access; then any function here
 * can fail like the source. Recursion is limited by the height.
 *
 * In a take, slots are entries as that take shows them and keys are order keys. Elsewhere (labels,
 * view flags, the ledger) a slot is a pair of key and value (body). */
#ifndef RT_CORE_SEQ_H
#define RT_CORE_SEQ_H

#include "base/moment.h"

enum {
	RT_SLOT_MUTED = 1 << 0,
	RT_SLOT_NO_TS = 1 << 1,  /* the entry has no time */
	RT_SLOT_TURN = 1 << 2,   /* counts as a user turn */
	RT_SLOT_RICH = 1 << 3,   /* its body contains more than text */
	RT_SLOT_EDITED = 1 << 4, /* its content differs from the original */
	RT_SLOT_NS_SHIFT = 16,   /* nanoseconds 0 .. 999 on top of ts_us */
	RT_SLOT_NS_MASK = 0x3FF
};

typedef struct rt_slot {
	uint64_t key;   /* order key, unique in the sequence */
	uint64_t body;  /* body number of the revision; the value of a pair */
	int64_t ts_us;  /* microseconds since 1970 UTC */
	uint32_t entry; /* entry number, unique in the project */
	uint32_t size;  /* content bytes, at most UINT32_MAX */
	uint16_t role;  /* numbers in the project's table of names */
	uint16_t kind;
	uint32_t flags; /* RT_SLOT_… */
} rt_slot;

/* The time of an entry. */
rt_moment rt_slot_moment(const rt_slot *slot);
void rt_slot_set_moment(rt_slot *slot, rt_moment at);

/* The sums of a subtree. */
typedef struct rt_seq_sum {
	uint64_t count;
	uint64_t bytes;
	uint64_t turns;
} rt_seq_sum;

typedef void (*rt_seq_node_fn)(void *to, uint64_t number, rt_str bytes);

/* Loads nodes. Must outlive every sequence that refers to it. read appends the bytes of a node to
 * out. Called from any thread. */
typedef struct rt_seq_source {
	rt_status (*read)(void *ctx, uint64_t number, rt_buf *out, rt_error *err);
	void *ctx;
	/* Reads many nodes at once (ascending, without duplicates) and calls fn for those that
	 * exist; fn must not call the source. May be NULL. */
	rt_status (*pick)(void *ctx, const uint64_t *numbers, size_t count, rt_seq_node_fn fn,
			  void *to, rt_error *err);
} rt_seq_source;

typedef struct rt_seq rt_seq;

/* An empty sequence. source may be NULL if nothing will be loaded. */
RT_CHECKED rt_status rt_seq_new(const rt_alloc *alloc, const rt_seq_source *source,
				const rt_seq **out_seq);
const rt_seq *rt_seq_ref(const rt_seq *seq);
void rt_seq_unref(const rt_seq *seq);

/* No cost, no failure. */
size_t rt_seq_count(const rt_seq *seq);
/* The maximum number of items in a leaf, which depends on the build; for tests. */
unsigned rt_seq_leaf_max(void);
rt_seq_sum rt_seq_total(const rt_seq *seq);

/* O(log n). at < count. */
RT_CHECKED rt_status rt_seq_get(const rt_seq *seq, size_t at, rt_slot *out, rt_error *err);
/* Slots at .. at+count-1 into out, all within the sequence. O(log n + count). */
RT_CHECKED rt_status rt_seq_copy(const rt_seq *seq, size_t at, size_t count, rt_slot *out,
				 rt_error *err);
/* Position of the first slot whose key is >= key (count: none). If it is equal, fills *out_slot
 * (may be NULL) and sets *out_found (may be NULL). O(log n). */
RT_CHECKED rt_status rt_seq_find(const rt_seq *seq, uint64_t key, size_t *out_at, bool *out_found,
				 rt_slot *out_slot, rt_error *err);
/* Position of user turn number turn, 0-based from the front; turn < turns. O(log n). */
RT_CHECKED rt_status rt_seq_find_turn(const rt_seq *seq, uint64_t turn, size_t *out_at,
				      rt_error *err);
/* The length of the common prefix by entry numbers; shared nodes are skipped. */
RT_CHECKED rt_status rt_seq_common(const rt_seq *a, const rt_seq *b, size_t *out_count,
				   rt_error *err);
/* The first position >= from where the slots differ in anything but their key; the smaller count
 * if there is none. Shared nodes are skipped. */
RT_CHECKED rt_status rt_seq_differ(const rt_seq *a, const rt_seq *b, size_t from, size_t *out_at,
				   rt_error *err);

/* A new sequence with slots at .. at+remove-1 replaced by the count given ones, whose keys must be
 * between those of the neighbours. This is the only mutating operation; branching is a splice that
 * removes the end. O(log n + count). */
RT_CHECKED rt_status rt_seq_splice(const rt_seq *seq, size_t at, size_t remove,
				   const rt_slot *slots, size_t count, const rt_seq **out_seq,
				   rt_error *err);

/* --- checkpoints --- */

/* Stores the bytes of a node and assigns it a number. */
typedef struct rt_seq_writer {
	rt_status (*write)(void *ctx, rt_str bytes, uint64_t *out_number, rt_error *err);
	void *ctx;
} rt_seq_writer;

/* Nodes written in one transaction that is not yet durable. */
typedef struct rt_seq_pending rt_seq_pending;
rt_seq_pending *rt_seq_pending_new(const rt_alloc *alloc);
/* After the commit: the nodes keep their numbers. */
void rt_seq_pending_commit(rt_seq_pending *pending);
/* After a failure: as if nothing had been written. Both free pending. */
void rt_seq_pending_cancel(rt_seq_pending *pending);

/* A stored sequence as it is referred to in a root record; plain numbers.
 * An empty sequence has number 0. */
typedef struct rt_seq_root {
	uint64_t number;
	uint64_t first_key;
	uint32_t height;
	rt_seq_sum sum;
} rt_seq_root;

/* Write all nodes that are not stored yet. One thread at a time. */
RT_CHECKED rt_status rt_seq_store(const rt_seq *seq, const rt_seq_writer *writer,
				  rt_seq_pending *pending, rt_seq_root *out_root, rt_error *err);
/* The sequence with this root; nothing is read yet. */
RT_CHECKED rt_status rt_seq_open(const rt_alloc *alloc, const rt_seq_source *source,
				 const rt_seq_root *root, const rt_seq **out_seq);
/* The same sequence without nodes in memory, if all of it is stored; else itself. */
RT_CHECKED rt_status rt_seq_shed(const rt_seq *seq, const rt_seq **out_seq);
/* Loads the root nodes of sequences of one source that are not in memory, in one read if the
 * source can. Missing or damaged nodes are reported on access. count is at most RT_SEQ_LOAD_MAX.
 * RT_NOMEM, and the errors of the source. */
enum { RT_SEQ_LOAD_MAX = 256 };
RT_CHECKED rt_status rt_seq_load(const rt_seq *const *seqs, size_t count, rt_error *err);
/* Calls fn with the number of every stored node; leaves are not loaded. fn returns false to skip
 * the subtree of an inner node that it has seen before. */
RT_CHECKED rt_status rt_seq_numbers(const rt_seq *seq, bool (*fn)(void *ctx, uint64_t number),
				    void *ctx, rt_error *err);

/* Checks every invariant; for tests and fsck. RT_CORRUPT, with the first violation in err. */
RT_CHECKED rt_status rt_seq_check(const rt_seq *seq, rt_error *err);

#endif
