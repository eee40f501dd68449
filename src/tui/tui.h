/* SPDX-License-Identifier: MIT
 *
 * Tui: `retake` on a terminal. */
#ifndef RT_TUI_TUI_H
#define RT_TUI_TUI_H

#include "base/status.h"

struct rt_cli;

/* The session is not open yet. Until the person leaves. RT_REFUSED: no terminal that can. */
RT_CHECKED rt_status rt_tui_run(struct rt_cli *cli);

#endif
