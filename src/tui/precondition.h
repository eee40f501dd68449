/* SPDX-License-Identifier: MIT
 *
 * Precondition: what a person saw of what is to be changed: the text that was opened, rows that
 * were marked, the step that undo would take back. A change goes with it, and is not made where
 * somebody else was faster.
 *
 * Threads: filled by one; rt_precondition_holds from any, after that. */
#ifndef RT_TUI_PRECONDITION_H
#define RT_TUI_PRECONDITION_H

#include "log/engine.h"

/* An entry as a take had it. */
typedef struct rt_precondition_entry {
	uint32_t take;
	rt_slot slot;
	uint64_t label; /* a hash of it; 0: none */
} rt_precondition_entry;

typedef struct rt_precondition {
	const rt_alloc *alloc;
	uint32_t disc;
	bool is_in_take;            /* the take that was at hand is meant, whichever is active by now */
	rt_precondition_entry *spots;
	size_t count, room;
	uint32_t below_take, below; /* an entry and what follows it in a take; 0: not looked at */
	uint64_t below_hash;
	bool has_step, has_redo, has_prompt;
	uint64_t step;              /* that undo would take back; 0: none */
	rt_history redo[2];         /* of the discussion and the project */
	rt_buf prompt;
} rt_precondition;

/* Nothing: always so. */
void rt_precondition_init(rt_precondition *precondition, const rt_alloc *alloc, uint32_t disc);
void rt_precondition_deinit(rt_precondition *precondition);

/* One more entry, as this take of the value has it; one that it does not hold is not looked at. */
RT_CHECKED rt_status rt_precondition_add_entry(rt_precondition *precondition,
					       const rt_project *value, uint32_t take,
					       uint32_t entry, rt_error *err);
/* An entry and all that follow it in the take. O(those). */
RT_CHECKED rt_status rt_precondition_add_below(rt_precondition *precondition,
					       const rt_project *value, uint32_t take,
					       uint32_t entry, rt_error *err);
void rt_precondition_set_step(rt_precondition *precondition, uint64_t step);
/* The step that undo would take back now. */
RT_CHECKED rt_status rt_precondition_newest_step(const rt_project *value, uint32_t disc,
						 uint64_t *out, rt_error *err);
/* What redo would bring back. */
RT_CHECKED rt_status rt_precondition_add_redo(rt_precondition *precondition,
					      const rt_project *value, rt_error *err);
RT_CHECKED rt_status rt_precondition_set_prompt(rt_precondition *precondition, rt_str text);

/* Is all of it still so? RT_CONFLICT, with what is not in words. */
RT_CHECKED rt_status rt_precondition_holds(const rt_precondition *precondition, rt_engine *engine,
					   const rt_project *now, rt_error *err);
/* Is this entry as it was? *out_there (may be NULL): the take has it. */
RT_CHECKED rt_status rt_precondition_entry_matches(const rt_precondition *precondition, size_t at,
						   const rt_project *now, bool *out_holds,
						   bool *out_there, rt_error *err);

/* The working prompt. */
RT_CHECKED rt_status rt_precondition_read_prompt(rt_engine *engine, const rt_project *value,
						 uint32_t disc, rt_buf *out, bool *out_edited,
						 rt_error *err);

#endif
