/* SPDX-License-Identifier: MIT
 *
 * Steps: the history of a discussion and of the project's settings as rows, newest first, read as
 * far as they are shown. The last row is the beginning, step 0.
 *
 * Steps in effect are in lane 0. A run of steps that was undone before another step was made is in
 * a lane next to it, down to the step that it began at:
 *
 *     0  1
 *     *        9  in effect
 *     |  o     8  undone, its parent is 7
 *     |  o     7  undone, its parent is 6
 *     *--'     6  joins: lane 1
 *
 * Threads: one at a time. */
#ifndef RT_TUI_STEPS_H
#define RT_TUI_STEPS_H

#include "view/view_rows.h"

enum { RT_STEPS_LANES = 8 /* further undone runs share the last */ };

typedef struct rt_step {
	uint64_t seq; /* 0: the beginning */
	uint64_t parent;
	int64_t at_us;
	uint32_t what;  /* offset of its description */
	uint32_t about; /* … from here on to which entry */
	uint32_t by;    /* offset of its author, after the description */
	uint32_t end;   /* of that */
	bool is_undone, is_current, of_project;
	uint8_t lane;
	uint8_t passes; /* a bit for each lane that continues past it */
	uint8_t joins;  /* a bit for each lane that ends here */
} rt_step;

typedef struct rt_steps {
	const rt_alloc *alloc;
	rt_engine *engine;       /* borrowed */
	const rt_project *value; /* our reference */
	uint32_t disc;
	rt_history_at at;
	bool is_whole;  /* the beginning has been read */
	bool has_trunk; /* a step in effect has been read */
	bool is_past_current; /* the current step is not shown, and no step in effect was read since */
	rt_step *steps;
	size_t count, capacity;
	rt_buf texts;
	uint64_t waits[RT_STEPS_LANES]; /* the step that a lane leads to; UINT64_MAX: it is free */
} rt_steps;

void rt_steps_init(rt_steps *steps, const rt_alloc *alloc);
void rt_steps_deinit(rt_steps *steps);
/* Restart with this value: no rows yet. */
void rt_steps_begin(rt_steps *steps, rt_engine *engine, const rt_project *value, uint32_t disc);
/* Read up to this many more, without those that only set drafts. On failure nothing is added. */
RT_CHECKED rt_status rt_steps_more(rt_steps *steps, size_t count, rt_error *err);
/* Descriptions without ids: "added entry: Which database?", and "added entry" of it. */
rt_str rt_steps_what(const rt_steps *steps, const rt_step *step);
rt_str rt_steps_did(const rt_steps *steps, const rt_step *step);
rt_str rt_steps_by(const rt_steps *steps, const rt_step *step);

#endif
