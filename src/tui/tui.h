/* SPDX-License-Identifier: MIT
 *
 * Tui: `retake` on a terminal. */
#ifndef RT_TUI_TUI_H
#define RT_TUI_TUI_H

#include "app/command.h"
#include "app/session.h"

typedef struct rt_tui_options {
	rt_session *session;               /* open, for changing or for reading */
	const rt_command *const *commands; /* of the command line, ended by NULL */
	const char *model;                 /* the model for this run (-m), or NULL */
	bool no_color;
} rt_tui_options;

/* Runs until the user quits. Until then the session's notes are shown on the screen. RT_REFUSED: no
 * capable terminal. */
RT_CHECKED rt_status rt_tui_run(const rt_tui_options *options, rt_error *err);

#endif
