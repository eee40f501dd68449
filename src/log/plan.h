/* SPDX-License-Identifier: MIT
 *
 * Plan: the effects of undo, redo, jump and revert.
 *
 * Undo, redo and jump (plan.c) undo or redo steps in the documents where they are current: a plan
 * is a row of moves for the log, and the value after them. Revert (revert.c) restores everything
 * that one old step changed and that is still in the state that the step left: a new step (C17).
 *
 * Threads: call from any thread; a plan is valid as long as the value that it was made from. */
#ifndef RT_LOG_PLAN_H
#define RT_LOG_PLAN_H

#include "codec/record.h"
#include "log/engine_impl.h"

/* A row of moves for the log. */
typedef struct rt_plan {
	rt_record row;           /* in the scope; without moves: there is nothing to do */
	const rt_project *moved; /* the value with its moves, owned by the caller, with the old seq;
				  * NULL after a failure */
	uint64_t steps;          /* undone or redone */
	/* The discussions whose drafts are to be restored in the same commit; in the scope. */
	const uint32_t *drafts;
	size_t draft_count;
	bool sets_draft; /* the plan itself restores a draft; a text that is not empty replaces it */
	uint64_t work;           /* of replaying the row, as in rt_record_work */
} rt_plan;

/* Plan r (an undo, redo or jump) at c's place, on c's base. Notes go to c->result. Fails c's scope:
 * RT_REFUSED, RT_NOT_FOUND, RT_USAGE. */
rt_plan rt_history_plan(rt_change *c, const rt_request *r);
/* Plan an undo of the rows of a group, as far as no other step followed. */
rt_plan rt_history_plan_group(rt_engine *engine, rt_scope *s, const rt_project *project,
			      uint64_t group, uint32_t group_discs, rt_str by);
/* Append the effects of reverting step seq to c, or fail its scope: RT_NOT_FOUND; RT_REFUSED,
 * something that it changed was changed again since. A row of a group stands for the whole group.
 * Returns the number of the step in the history: of a group, its last row. Costs the effects of the
 * step, and for steps that remove, move or make something or may begin a group the rows since. */
uint64_t rt_history_revert(rt_change *c, uint64_t seq);

#endif
