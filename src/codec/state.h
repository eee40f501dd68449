/* SPDX-License-Identifier: MIT
 *
 * State: a project as stored in a checkpoint: a root record, one node for every discussion, and
 * the nodes of their sequences. Binary, of varints (base/varint.h) and sized strings. It is a
 * cache of the log, so its version may change freely; it has to change whenever RT_RECORD_VERSION
 * does: an older program must not continue from a value that it could not have made.
 *
 *   root  'R' version | seq | next entry | next body | active | salt (8 bytes)
 *         | history | names (sized) | given ids (sized) | views | entries | owners | fields
 *         | count of discussions | for every RT_STATE_LIST pages a node number
 *   list  'C' version | count, then node numbers of pages
 *   page  'P' version | number of its first discussion
 *         | count, then for each discussion: present | name | node number
 *   disc  'D' version | number | active | head + 1 (0: tip) | history | fields | labels
 *         | has a seed, then its slots and moved
 *         | count, then for each take: present | name | git commit | slots | moved | row
 *   history   current | last step | redo row | redo move
 *   fields    count, then name, value
 *   sequence  node number (0: empty) [| height | first key | count | bytes | turns] */
#ifndef RT_CODEC_STATE_H
#define RT_CODEC_STATE_H

#include "core/project.h"

enum {
	RT_STATE_VERSION = 3, /* of roots; 1 had all discussions in the root; all are read */
	RT_STATE_PAGE_VERSION = 2, /* of lists and pages */
	RT_STATE_DISC_VERSION = 2, /* 1 had no rows of takes; still read */
	RT_STATE_LIST = 256 /* pages in a list */
};

/* Everything written in a transaction that is not yet durable. */
typedef struct rt_state_pending rt_state_pending;

/* Writes everything that is new since the last checkpoint through writer, and the root to out_root.
 * Afterwards commit or cancel *out_pending. One thread at a time. */
RT_CHECKED rt_status rt_state_store(const rt_project *project, const rt_seq_writer *writer,
				    rt_buf *out_root, rt_state_pending **out_pending,
				    rt_error *err);
void rt_state_commit(rt_state_pending *pending);
void rt_state_cancel(rt_state_pending *pending);

/* The project of a root; discussions and nodes are loaded on first use. */
RT_CHECKED rt_status rt_state_open(const rt_alloc *alloc, const rt_seq_source *source, rt_str root,
				   const rt_project **out, rt_error *err);

/* Loads discussions; also for projects made with rt_project_new. */
extern const rt_loader rt_state_loader;

/* Numbers of all nodes that the stored parts of project use; repeats possible. */
RT_CHECKED rt_status rt_state_numbers(const rt_project *project,
				      bool (*fn)(void *ctx, uint64_t number), void *ctx,
				      rt_error *err);

#endif
