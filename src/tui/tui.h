/* SPDX-License-Identifier: MIT
 *
 * Tui: `retake` on a terminal. */
#ifndef RT_TUI_TUI_H
#define RT_TUI_TUI_H

#include "app/command.h"
#include "app/session.h"

typedef struct rt_tui_options {
	rt_session *session;               /* open, for changing or for looking */
	const rt_command *const *commands; /* of the command line, ended by NULL */
	const char *model;                 /* that answers in this run (-m), or NULL */
	bool no_color;
} rt_tui_options;

/* Until the person leaves. Meanwhile the session's notes are shown on the screen. RT_REFUSED: no
 * terminal that can. */
RT_CHECKED rt_status rt_tui_run(const rt_tui_options *options, rt_error *err);

#endif
