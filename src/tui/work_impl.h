/* SPDX-License-Identifier: MIT
 *
 * The parts of rt_work: work.c has the value and its changes, work_run.c runs models. */
#ifndef RT_TUI_WORK_IMPL_H
#define RT_TUI_WORK_IMPL_H

#include "tui/work.h"

rt_status rt_work_open_runs(rt_work *work, rt_error *err);
void rt_work_close_runs(rt_work *work);
/* Events since the last call. */
void rt_work_read_runs(rt_work *work);

#endif
