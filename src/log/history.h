/* SPDX-License-Identifier: MIT
 *
 * History: a tree of steps for every document (each discussion, and the project's own settings).
 * A document knows its current step; every step knows, for each document it touched, which step
 * was current before. Undo reverts the current step's effects in the documents where it is current;
 * redo restores undone steps.
 *
 * Redo is not stored as a list but read from the log: a document's history points at the newest
 * move that undid a step (row, index), and that row contains the previous pointer. So undo and redo
 * cost the same after a restart, at any depth.
 *
 * This file applies and reverts log rows; plan.h plans undo, redo and jump.
 *
 * Threads: call from any thread. */
#ifndef RT_LOG_HISTORY_H
#define RT_LOG_HISTORY_H

#include "codec/record.h"
#include "log/engine.h"

/* The value after a row, from the one before it. */
rt_status rt_engine_apply_row(rt_engine *engine, const rt_project *project, uint64_t seq,
			      const rt_record *record, const rt_project **out, rt_error *err);
/* The same if the row's effects are applied already: enters it into the history. */
rt_status rt_engine_close_step(const rt_project *applied, uint64_t seq, const rt_record *record,
			       const rt_project **out, rt_error *err);
/* The value right after row seq, walking back from base, which is newer. Each document has the
 * current step of that time; its redo pointer is not known. RT_NOT_FOUND, RT_TOO_NEW. */
rt_status rt_engine_value_back(rt_engine *engine, const rt_project *base, uint64_t seq,
			       const rt_project **out, rt_error *err);

/* ---- for planning ---- */

/* Cache of the row of moves that was read last: many moves need the same one, and a row of ten
 * thousand moves must not be read ten thousand times. Begins as {0}; rt_arena_free(cache.arena). */
typedef struct rt_moves_cache {
	rt_arena *arena; /* NULL: empty */
	uint64_t seq;
	rt_record row;
} rt_moves_cache;

rt_status rt_moves_read(rt_engine *engine, rt_moves_cache *cache, uint64_t seq, rt_error *err);

/* The history of a document (0: the project's). */
rt_status rt_history_get(const rt_project *project, uint32_t number, rt_history *out,
			 rt_error *err);
/* Does the step set drafts of discussions and nothing else? */
bool rt_history_is_draft(const rt_record *step);
/* Does it set the draft of this discussion, possibly with other changes? */
bool rt_history_sets_draft(const rt_record *step, uint32_t disc);
/* The newest step in effect of a discussion and the project, apart from those that only set drafts;
 * 0: none. Costs one record for each draft above it. */
rt_status rt_history_newest(rt_engine *engine, const rt_project *project, uint32_t disc,
			    uint64_t *out, rt_error *err);
/* The step that was current in a document before this one; false: it did not touch it. */
bool rt_history_parent(const rt_record *step, uint32_t disc, uint64_t *out);
/* The redo pointer of a document after this move of row `seq` was redone: the row's previous move,
 * or the pointer from before the row. */
void rt_history_redo_before(const rt_record *row, uint64_t seq, uint32_t move, uint32_t disc,
			    rt_history *h);
/* The value after one move of row `seq`; step is the step that it moves. cache is for the rows that
 * redo points at. */
rt_status rt_history_move(rt_engine *engine, const rt_project *project, uint64_t seq,
			  const rt_record *row, uint32_t index, const rt_record *step,
			  rt_moves_cache *cache, const rt_project **out, rt_error *err);
/* RT_CORRUPT: a row moves a step in a document that the step did not touch. */
rt_status rt_history_not_touched(uint64_t step, uint32_t disc, rt_error *err);

#endif
