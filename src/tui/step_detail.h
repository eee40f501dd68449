/* SPDX-License-Identifier: MIT
 *
 * Step detail: the effects of a step, and the end of the conversation right after it, as lines.
 *
 * Threads: any, one at a time; it uses only its arguments. */
#ifndef RT_TUI_STEP_DETAIL_H
#define RT_TUI_STEP_DETAIL_H

#include "log/engine.h"
#include "terminal/lines.h"

typedef struct rt_step_detail {
	const rt_alloc *alloc;
	rt_engine *engine;
	const rt_project *value; /* the newest, in which names are looked up */
	uint32_t disc;
	uint64_t seq; /* 0: the beginning */
	rt_str did;   /* description of the step */
	int columns;
	bool utf8;
} rt_step_detail;

/* Appended. RT_NOMEM; other failures are lines. Cost: the steps since, and the step. */
RT_CHECKED rt_status rt_step_detail_add(const rt_step_detail *detail, rt_lines *lines);

#endif
