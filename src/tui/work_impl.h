/* SPDX-License-Identifier: MIT
 *
 * What work.c and work_run.c share. */
#ifndef RT_TUI_WORK_IMPL_H
#define RT_TUI_WORK_IMPL_H

#include "tui/work.h"

void rt_work_run_init(rt_work *work);
RT_CHECKED rt_status rt_work_run_open(rt_work *work, rt_error *err);
void rt_work_run_close(rt_work *work);
/* What has come of the run that is shown. */
void rt_work_run_tend(rt_work *work, bool *out_ended);

#endif
