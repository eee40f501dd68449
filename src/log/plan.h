/* SPDX-License-Identifier: MIT
 *
 * Plan: what undo, redo, jump and revert will do.
 *
 * Undo, redo and jump (plan.c) take steps back or bring them back, in the documents where they are
 * current: a plan is a row of moves for the log, and the value after them. Revert (revert.c) puts
 * back what one old step changed, where it still is as that step left it: a new step (C17).
 *
 * Threads: call from any thread; a plan holds as long as the value that it was made from. */
#ifndef RT_LOG_PLAN_H
#define RT_LOG_PLAN_H

#include "codec/record.h"
#include "log/engine_impl.h"

/* Plan r (an undo, redo or jump) at c's place. *out lives in the arena; *out_moved is the value
 * with its moves (yours; its seq is still the old one). move_count 0: nothing to do. *out_steps:
 * how many steps. Notes go to c->result. RT_REFUSED, RT_NOT_FOUND, RT_USAGE. */
rt_status rt_history_plan(rt_engine *engine, const rt_project *project, const rt_request *r,
			  const rt_change *c, rt_arena *arena, rt_record *out,
			  const rt_project **out_moved, uint64_t *out_steps, rt_error *err);
/* Plan an undo of the rows of a group, as far as nothing else came since. */
rt_status rt_history_plan_group(rt_engine *engine, const rt_project *project, uint64_t group,
				uint32_t group_discs, rt_str by, rt_arena *arena, rt_record *out,
				const rt_project **out_moved, rt_error *err);
/* Append the effects of reverting step seq to c, or fail its scope: RT_NOT_FOUND; RT_REFUSED, it is
 * no step of a kind that can be reverted, or something changed again since. */
void rt_history_revert(rt_change *c, uint64_t seq);

#endif
