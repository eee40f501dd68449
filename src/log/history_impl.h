/* SPDX-License-Identifier: MIT
 *
 * The inside of history, shared by its files:
 *
 *   history.c         what a row of the log does to a value, forwards and back
 *   history_plan.c    what undo, redo and jump will do
 *   history_revert.c  one old step undone as a new one */
#ifndef RT_LOG_HISTORY_IMPL_H
#define RT_LOG_HISTORY_IMPL_H

#include "log/engine_impl.h"

/* A log row that is at hand already, where it may be the one that redo points at. */
typedef struct rt_redo_hint {
	uint64_t seq;
	const rt_record *row;
} rt_redo_hint;

/* The row of moves that was read last: many moves in a row look at the same one, and a row
 * of ten thousand moves is not to be read ten thousand times. Begins as {0}; free it. */
typedef struct rt_moves_cache {
	rt_arena *arena; /* NULL: nothing yet */
	uint64_t seq;
	rt_record row;
} rt_moves_cache;

rt_status rt_moves_read(rt_engine *engine, rt_moves_cache *cache, uint64_t seq, rt_error *err);

/* The history of a document as it stands. */
rt_status rt_history_get(const rt_project *project, uint32_t number, rt_history *out,
			 rt_error *err);
/* The step that was current in a document before this one; false: it did not touch it. */
bool rt_history_parent(const rt_record *step, uint32_t disc, uint64_t *out);
/* Where redo stands in a document after the move it names, which is this one, was brought
 * back: at the move of that row before it, or where the row found it. */
void rt_history_redo_before(const rt_record *row, uint64_t seq, uint32_t move, uint32_t disc,
			    rt_history *h);
/* The value after one move of row `seq`, with its step at hand. hint may be NULL. */
rt_status rt_history_move(rt_engine *engine, const rt_project *project, uint64_t seq,
			  const rt_record *row, uint32_t index, const rt_record *step,
			  const rt_redo_hint *hint, const rt_project **out, rt_error *err);

#endif
