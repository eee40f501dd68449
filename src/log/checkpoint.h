/* SPDX-License-Identifier: MIT
 *
 * Checkpoint: the value of one log row as nodes in the store, so that opening a project does not
 * replay its log. Nodes are shared between checkpoints; nodes that the newest one does not use are
 * swept occasionally. A cache: the log can rebuild it.
 *
 *   root record   varint: the next free node number; then the state (codec/state.h)
 *
 * Threads: the engine locks; functions for the holder of rt_engine_lock_writer do not. */
#ifndef RT_LOG_CHECKPOINT_H
#define RT_LOG_CHECKPOINT_H

#include "base/scope.h"
#include "log/engine.h"

/* Write one if there are changes. RT_READ_ONLY, RT_TOO_NEW. O(changes). */
RT_CHECKED rt_status rt_engine_checkpoint(rt_engine *engine, rt_error *err);
/* Drop the checkpoint and rebuild it from the log. O(log). */
RT_CHECKED rt_status rt_engine_rebuild(rt_engine *engine, rt_error *err);

/* ---- for the holder of rt_engine_lock_writer ----
 *
 * A row that only a newer version can read ends the loading: the value is that of the row before
 * it, the status RT_OK, and rt_engine_newer tells. */

/* The newest value; the caller owns it. use_checkpoint false: from the log alone. RT_CORRUPT. */
rt_status rt_engine_load(rt_engine *engine, bool use_checkpoint, const rt_project **out,
			 rt_error *err);
/* For a log that lacks rows: *out_first is the value after all rows before the first one that is
 * missing or cannot be applied, *out_ahead the value after a later row, from the checkpoint;
 * NULL: none. The caller owns both. */
rt_status rt_engine_load_parts(rt_engine *engine, const rt_project **out_first,
			       const rt_project **out_ahead, rt_error *err);
/* Apply the rows up to head to *project, which is replaced row by row, also before a failure. */
rt_status rt_engine_catch_up(rt_engine *engine, const rt_project **project, uint64_t head,
			     rt_error *err);
/* The checkpoint's root record, appended to bytes, which contains *out_state: its row, the next
 * free node number (0: unknown), the state (codec/state.h). RT_NOT_FOUND. */
rt_status rt_engine_root(rt_engine *engine, rt_buf *bytes, uint64_t *out_seq,
			 uint64_t *out_next_node, rt_str *out_state, rt_error *err);
/* The salt of the ids of a project by this name. 0 for "default": its ids stay as they are. */
uint64_t rt_engine_salt_of(rt_str name);

/* Write one if that many rows were added since the last one, or fewer that take long to replay. Failure is harmless. */
void rt_engine_maybe_checkpoint(rt_engine *engine, unsigned rows);
/* Between transactions: write changes, and unload discussions from this one on that the checkpoint
 * contains. */
rt_status rt_engine_settle(rt_engine *engine, uint32_t from, rt_error *err);
/* Inside begin: drop the checkpoint and renew the epoch, so that other processes do not write one
 * from their memory. Its node numbers are not reused. */
void rt_engine_drop_checkpoint(rt_engine *engine, rt_scope *s);

#endif
