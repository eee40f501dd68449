/* SPDX-License-Identifier: MIT
 *
 * Seq: a persistent sequence of slots, and the one container of the core.
 *
 * A sequence is an immutable counted B-tree. Every operation gives a new sequence that
 * shares all but O(log n) nodes with the old one. Slots stand in two orders that agree:
 * by position (0, 1, 2 …) and by key (strictly rising 64-bit numbers), so a position is
 * found from a key as fast as the other way round. Inner nodes carry what lies below
 * them: slots, content bytes, user turns.
 *
 *              [ 5 slots | 2 slots ]            inner: a child and its summary
 *               /              \
 *      [s0 s1 s2 s3 s4]     [s5 s6]             leaves: the slots themselves
 *
 * Nodes may lie in a store and come in when they are first looked at, through a source
 * that is handed in; then any function here can fail as the source does. Nothing in
 * here recurses over anything but the height.
 *
 * Take: slots are entries as that take shows them, keys are order keys.
 * Elsewhere (labels, view flags, the ledger) a slot is a pair: key, and body as value. */
#ifndef RT_CORE_SEQ_H
#define RT_CORE_SEQ_H

#include "base/moment.h"

enum {
	RT_SLOT_MUTED = 1 << 0,
	RT_SLOT_NO_TS = 1 << 1,  /* the entry has no time */
	RT_SLOT_TURN = 1 << 2,   /* counts as a user turn */
	RT_SLOT_RICH = 1 << 3,   /* its body holds more than a text */
	RT_SLOT_EDITED = 1 << 4, /* its content is not the one that it was written with */
	RT_SLOT_NS_SHIFT = 16,   /* nanoseconds 0 .. 999 on top of ts_us */
	RT_SLOT_NS_MASK = 0x3FF
};

typedef struct rt_slot {
	uint64_t key;   /* order key, unique in the sequence */
	uint64_t body;  /* body number of the revision; a value where there is no entry */
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

/* What lies below a node. */
typedef struct rt_seq_sum {
	uint64_t count;
	uint64_t bytes;
	uint64_t turns;
} rt_seq_sum;

typedef void (*rt_seq_node_fn)(void *to, uint64_t number, rt_str bytes);

/* Where nodes come from that are not in memory. Must outlive every sequence that names it.
 * read appends the bytes of node number to out. Threads: called from any. */
typedef struct rt_seq_source {
	rt_status (*read)(void *ctx, uint64_t number, rt_buf *out, rt_error *err);
	void *ctx;
	/* Many at once (ascending, each once), or NULL: fn gets those that there are; it must not
	 * call the source. */
	rt_status (*pick)(void *ctx, const uint64_t *numbers, size_t count, rt_seq_node_fn fn,
			  void *to, rt_error *err);
} rt_seq_source;

typedef struct rt_seq rt_seq;

/* An empty sequence. source may be NULL when nothing will ever be loaded. */
RT_CHECKED rt_status rt_seq_new(const rt_alloc *alloc, const rt_seq_source *source,
				const rt_seq **out_seq);
/* From slots in rising order of their keys. O(count). */
RT_CHECKED rt_status rt_seq_from(const rt_alloc *alloc, const rt_seq_source *source,
				 const rt_slot *slots, size_t count, const rt_seq **out_seq);
const rt_seq *rt_seq_ref(const rt_seq *seq);
void rt_seq_unref(const rt_seq *seq);

/* No cost, no failure. */
size_t rt_seq_count(const rt_seq *seq);
/* The most items that a leaf holds: a choice of the build, which tests are told. */
unsigned rt_seq_leaf_max(void);
rt_seq_sum rt_seq_total(const rt_seq *seq);

/* O(log n). at < count. */
RT_CHECKED rt_status rt_seq_get(const rt_seq *seq, size_t at, rt_slot *out, rt_error *err);
/* Slots at .. at+count-1 into out, all within the sequence. O(log n + count). */
RT_CHECKED rt_status rt_seq_copy(const rt_seq *seq, size_t at, size_t count, rt_slot *out,
				 rt_error *err);
/* Position of the first slot whose key is >= key (count when there is none). Where it is
 * equal, *out_slot (may be NULL) is filled and *out_found (may be NULL) true. O(log n). */
RT_CHECKED rt_status rt_seq_find(const rt_seq *seq, uint64_t key, size_t *out_at, bool *out_found,
				 rt_slot *out_slot, rt_error *err);
/* Position of user turn number turn, 0-based from the front; turn < turns. O(log n). */
RT_CHECKED rt_status rt_seq_find_turn(const rt_seq *seq, uint64_t turn, size_t *out_at,
				      rt_error *err);
/* How many slots both begin with that have the same entry number in the same order;
 * shared nodes are passed over whole. */
RT_CHECKED rt_status rt_seq_common(const rt_seq *a, const rt_seq *b, size_t *out_count,
				   rt_error *err);
/* The first position from `from` on where the slots differ in anything but their key; the
 * smaller count when there is none. Shared nodes are passed over whole. */
RT_CHECKED rt_status rt_seq_differ(const rt_seq *a, const rt_seq *b, size_t from, size_t *out_at,
				   rt_error *err);

/* A new sequence with slots at .. at+remove-1 replaced by the count given ones. Their keys
 * must fit between the neighbours'. The one operation that changes anything; branching is
 * a splice that removes the end. O(log n + count). The old sequence stays as it is. */
RT_CHECKED rt_status rt_seq_splice(const rt_seq *seq, size_t at, size_t remove,
				   const rt_slot *slots, size_t count, const rt_seq **out_seq,
				   rt_error *err);
/* a followed by slots from .. of b. O(log n). Keys must rise over the joint. */
RT_CHECKED rt_status rt_seq_join(const rt_seq *a, const rt_seq *b, size_t from,
				 const rt_seq **out_seq, rt_error *err);

/* --- checkpoints --- */

/* Takes the bytes of a node and gives it a number. */
typedef struct rt_seq_writer {
	rt_status (*write)(void *ctx, rt_str bytes, uint64_t *out_number, rt_error *err);
	void *ctx;
} rt_seq_writer;

/* Nodes written in one transaction that is not yet durable. */
typedef struct rt_seq_pending rt_seq_pending;
rt_seq_pending *rt_seq_pending_new(const rt_alloc *alloc);
/* After the commit: the nodes know their numbers. */
void rt_seq_pending_commit(rt_seq_pending *pending);
/* After a failure: as if nothing had been written. Both free pending. */
void rt_seq_pending_cancel(rt_seq_pending *pending);

/* What names a stored sequence in a root record; plain numbers, writable anywhere.
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
/* The sequence that root names; nothing is read yet. */
RT_CHECKED rt_status rt_seq_open(const rt_alloc *alloc, const rt_seq_source *source,
				 const rt_seq_root *root, const rt_seq **out_seq);
/* The same sequence with nothing in memory, where all of it is stored; else itself. */
RT_CHECKED rt_status rt_seq_shed(const rt_seq *seq, const rt_seq **out_seq);
/* Before many sequences of one source are looked at: load the uppermost nodes of all that have
 * none in memory in one look at the source, where it can. What is missing or damaged there is
 * left to who looks at it. count at most RT_SEQ_LOAD_MAX. RT_NOMEM, and as the source. */
enum { RT_SEQ_LOAD_MAX = 256 };
RT_CHECKED rt_status rt_seq_load(const rt_seq *const *seqs, size_t count, rt_error *err);
/* Number of every stored node of the sequence; leaves are not loaded. fn returns false to
 * pass over what lies below an inner node (it was seen before). */
RT_CHECKED rt_status rt_seq_numbers(const rt_seq *seq, bool (*fn)(void *ctx, uint64_t number),
				    void *ctx, rt_error *err);

/* Walks everything and checks every invariant; for tests and fsck. The text of the first
 * broken one is in err. RT_CORRUPT. */
RT_CHECKED rt_status rt_seq_check(const rt_seq *seq, rt_error *err);

#endif
