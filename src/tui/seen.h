/* SPDX-License-Identifier: MIT
 *
 * Seen: what a person saw of what is to be changed: the text that was opened, rows that were
 * marked, the step that undo would take back. A change goes with it, and is not made where
 * somebody else was faster.
 *
 * Threads: filled by one; rt_seen_holds from any, after that. */
#ifndef RT_TUI_SEEN_H
#define RT_TUI_SEEN_H

#include "log/engine.h"

/* An entry as a take had it. */
typedef struct rt_seen_spot {
	uint32_t take;
	rt_slot slot;
	uint64_t label; /* a hash of it; 0: none */
} rt_seen_spot;

typedef struct rt_seen {
	const rt_alloc *alloc;
	uint32_t disc;
	bool is_in_take;            /* the take that was at hand is meant, whichever is active by now */
	rt_seen_spot *spots;
	size_t count, room;
	uint32_t below_take, below; /* an entry and what follows it in a take; 0: not looked at */
	uint64_t below_hash;
	bool has_step, has_redo, has_prompt;
	uint64_t step;              /* that undo would take back; 0: none */
	rt_history redo[2];         /* of the discussion and the project */
	rt_buf prompt;
} rt_seen;

/* Nothing: always so. */
void rt_seen_init(rt_seen *seen, const rt_alloc *alloc, uint32_t disc);
void rt_seen_deinit(rt_seen *seen);

/* One more entry, as this take of the value has it; one that it does not hold is not looked at. */
RT_CHECKED rt_status rt_seen_entry(rt_seen *seen, const rt_project *value, uint32_t take,
				   uint32_t entry, rt_error *err);
/* An entry and all that follow it in the take. O(those). */
RT_CHECKED rt_status rt_seen_below(rt_seen *seen, const rt_project *value, uint32_t take,
				   uint32_t entry, rt_error *err);
void rt_seen_step(rt_seen *seen, uint64_t step);
/* The step that undo would take back now. */
RT_CHECKED rt_status rt_seen_newest(const rt_project *value, uint32_t disc, uint64_t *out,
				    rt_error *err);
/* What redo would bring back. */
RT_CHECKED rt_status rt_seen_redo(rt_seen *seen, const rt_project *value, rt_error *err);
RT_CHECKED rt_status rt_seen_prompt(rt_seen *seen, rt_str text);

/* Is all of it still so? RT_CONFLICT, with what is not in words. */
RT_CHECKED rt_status rt_seen_holds(const rt_seen *seen, rt_engine *engine, const rt_project *now,
				   rt_error *err);
/* Is this entry as it was? *out_there (may be NULL): the take has it. */
RT_CHECKED rt_status rt_seen_spot_holds(const rt_seen *seen, size_t at, const rt_project *now,
					bool *out_holds, bool *out_there, rt_error *err);

/* The working prompt. */
RT_CHECKED rt_status rt_seen_read_prompt(rt_engine *engine, const rt_project *value, uint32_t disc,
					 rt_buf *out, bool *out_edited, rt_error *err);

#endif
