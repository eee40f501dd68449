/* SPDX-License-Identifier: MIT
 *
 * Tree reader: the list of entries of an engine's discussion for a tree, and their texts.
 *
 * Takes are one tree, as in all views of it (view/view_trie.h): children oldest first,
 * several beginnings in the order in which they were made.
 *
 * Threads: one at a time. */
#ifndef RT_TREE_TREE_READER_H
#define RT_TREE_TREE_READER_H

#include "log/engine.h"
#include "tree/tree.h"
#include "view/view.h"

/* Where the call of a tool is, for the rows of results. */
typedef struct rt_tree_call {
	uint64_t id;   /* its hash */
	uint64_t body; /* 0: nothing here */
	uint32_t entry;
} rt_tree_call;

typedef struct rt_tree_reader {
	const rt_alloc *alloc;
	rt_engine *engine;
	const rt_project *project; /* owned; NULL: nothing has been read yet */
	uint32_t disc;
	rt_str home; /* shown as "~"; empty: none */
	/* Shown like the imported file in pi: of records with one id the last is shown for all, and
	 * of records that it does not know, nothing. False. */
	bool as_pi;
	rt_tree_call *calls; /* found by searches; open addressing */
	size_t call_count, call_room;
	rt_tree_source source; /* for rt_tree_new */
} rt_tree_reader;

/* engine and home are the caller's. The reader must stay where it is while a tree uses it. */
void rt_tree_reader_init(rt_tree_reader *reader, const rt_alloc *alloc, rt_engine *engine,
			 rt_str home);
void rt_tree_reader_deinit(rt_tree_reader *reader);
/* Make tree the one of this discussion (0: the active one) in this value. RT_NOT_FOUND,
 * RT_NOMEM, and as rt_tree_set. Reads no text except for an active search.
 * Cost: rt_trie_init's. */
RT_CHECKED rt_status rt_tree_reader_read(rt_tree_reader *reader, const rt_project *project,
					 uint32_t disc, rt_tree *tree, rt_error *err);
/* When labels that came with an import were set: of each record that set one that its entry still
 * has (the last of them last). Needs rt_tree_reader_read of this tree. Unreadable records are
 * skipped. RT_NOMEM. */
RT_CHECKED rt_status rt_tree_reader_label_times(rt_tree_reader *reader, const rt_tree *tree,
						rt_label_time_fn fn, void *ctx);

#endif
