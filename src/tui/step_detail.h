/* SPDX-License-Identifier: MIT
 *
 * Step look: what one step changed, and the end of the conversation as it was right after it,
 * as lines.
 *
 * Threads: any, one at a time; it needs nothing but what it is given. */
#ifndef RT_TUI_STEP_DETAIL_H
#define RT_TUI_STEP_DETAIL_H

#include "log/engine.h"
#include "tui/lines.h"

typedef struct rt_step_detail {
	const rt_alloc *alloc;
	rt_engine *engine;
	const rt_project *value; /* the newest: names are looked up in it */
	uint32_t disc;
	uint64_t seq;            /* 0: the beginning */
	rt_str did;              /* what the step did, in words */
	int columns;
	bool utf8;
} rt_step_detail;

/* Appended. RT_NOMEM; other failures are said in the lines. Cost: the steps since, the step. */
RT_CHECKED rt_status rt_step_detail_add(const rt_step_detail *detail, rt_lines *lines);

#endif
