/* SPDX-License-Identifier: MIT
 *
 * A plan in progress: plan.c undoes and redoes, plan_jump.c jumps. */
#ifndef RT_LOG_PLAN_IMPL_H
#define RT_LOG_PLAN_IMPL_H

#include "log/plan.h"

#include "log/history.h"

/* The documents that a request concerns. */
enum { RT_IN_DISC = 1, RT_IN_PROJECT = 2, RT_IN_BOTH = RT_IN_DISC | RT_IN_PROJECT };

/* The search for the newest step of a document that undo does not pass over. */
typedef struct rt_newest_search {
	uint64_t from, at; /* the current step; where the search continues */
	bool found;        /* undo does not pass over `at` */
} rt_newest_search;

typedef struct rt_planning {
	rt_engine *engine;
	rt_scope *s; /* the caller's */
	rt_record row;
	size_t move_capacity, redo_capacity;
	uint64_t work;           /* see rt_plan */
	const rt_project *now;   /* owned: the value after the moves so far */
	uint64_t seq;            /* the future number of the row */
	rt_moves_cache redo;     /* the row that redo reads from */
	rt_moves_cache moved;    /* the rows that rt_history_move reads */
	rt_newest_search passed[2]; /* in the project; in the discussion that was named */
	bool pinned;             /* undo passes over switches: those of others */
	bool keep_draft;         /* drafts keep their text; undo passes over steps that set it */
	uint32_t *drafts;        /* the discussions in which such steps were moved */
	size_t draft_count, draft_capacity;
	bool sets_draft;         /* another of the steps set a draft */
	uint64_t kept;           /* a step that is not undone, see removes_changed; or 0 */
	bool has_capacity;       /* undo is limited: */
	uint64_t capacity;       /* to this many steps before the newest state */
	uint64_t undone;         /* those that are already undone, as seen from undone_disc */
	uint32_t undone_disc;    /* 0: not counted yet */
} rt_planning;

rt_history rt_planning_history(rt_planning *p, uint32_t disc);
/* Reads a step into scratch, replacing its content. false: failed. */
bool rt_planning_step(rt_planning *p, rt_scope *scratch, uint64_t seq, rt_record *out);
/* with_next: it makes room for the next move. false: failed. */
bool rt_planning_move(rt_planning *p, uint64_t step_seq, int direction, bool with_next,
		      const uint32_t *discs, size_t disc_count, const rt_record *step);
unsigned rt_planning_scope(rt_planning *p, const rt_request *r); /* RT_IN_ */
void rt_planning_jump(rt_planning *p, const rt_request *r, uint32_t disc, rt_result *result);

#endif
