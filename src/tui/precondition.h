/* SPDX-License-Identifier: MIT
 *
 * Precondition: facts about a value that the user saw and acts on: the text that was opened, rows
 * that were marked, the step that undo would revert. A change carries them, and is not made if they
 * no longer hold.
 *
 * A fact is a fingerprint, so that checking it is reading it again from the newest value.
 *
 * Threads: filled by one; then rt_precondition_holds from any. */
#ifndef RT_TUI_PRECONDITION_H
#define RT_TUI_PRECONDITION_H

#include "view/view_rows.h"

typedef enum rt_fact_kind {
	RT_FACT_NONE,
	RT_FACT_ENTRY,  /* an entry in the form that a take has; not its position */
	RT_FACT_BELOW,  /* the texts of an entry and all that follow it in a take */
	RT_FACT_STEP,   /* the step that undo would revert */
	RT_FACT_REDO,   /* the step that redo would restore */
	RT_FACT_PROMPT, /* the working prompt */
	RT_FACT_INSTRUCTIONS /* the project's instructions */
} rt_fact_kind;

typedef struct rt_fact {
	rt_fact_kind kind;
	uint32_t take, entry; /* ENTRY, BELOW */
	uint64_t print;       /* fingerprint; of STEP its number; 0: none */
	uint64_t body;        /* ENTRY: the number of its text */
} rt_fact;

/* Read print and body from a value. O(1), except BELOW: O(entries that follow). */
void rt_fact_read(rt_scope *s, rt_fact *fact, rt_engine *engine, const rt_project *value,
		  uint32_t disc);

typedef struct rt_precondition {
	const rt_alloc *alloc;
	uint32_t disc;
	bool is_in_take; /* requests without a take mean the one that was in view */
	rt_fact *facts;
	size_t count, capacity;
} rt_precondition;

/* An empty precondition always holds. */
void rt_precondition_init(rt_precondition *precondition, const rt_alloc *alloc, uint32_t disc);
void rt_precondition_deinit(rt_precondition *precondition);
/* Adds a fact from the value. An entry that its take does not contain is left out. */
void rt_precondition_add(rt_scope *s, rt_precondition *precondition, rt_fact fact,
			 rt_engine *engine, const rt_project *value);
/* Replaces the STEP, which must have been added, by the announced one. */
void rt_precondition_set_step(rt_precondition *precondition, uint64_t step);

/* RT_CONFLICT, with a description of the difference: it does not hold. */
RT_CHECKED rt_status rt_precondition_holds(const rt_precondition *precondition, rt_engine *engine,
					   const rt_project *now, rt_error *err);

#endif
