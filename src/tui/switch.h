/* SPDX-License-Identifier: MIT
 *
 * Switch: go to another discussion or take, by an operation if it is not the active one, and
 * show an entry there.
 *
 * Threads: the one of the terminal. */
#ifndef RT_TUI_SWITCH_H
#define RT_TUI_SWITCH_H

#include "tui/pane.h"

/* A discussion (0: none), or a take of it (0: the discussion itself). */
typedef struct rt_switch_place {
	uint32_t disc, take;
} rt_switch_place;

/* An operation on the place, its target; texts are in tui->scope. */
rt_request rt_switch_request(rt_tui *tui, rt_op_id op, rt_switch_place place);
/* Executes an operation. closes: with the panes down to the chat closed afterwards. */
void rt_switch_change(rt_tui *tui, const rt_request *request, bool closes);
/* Make the discussion and take (0: its active one) active, if the session may change that, and show
 * it in the chat; then show the entry with this id (or empty). Failures are reported. */
void rt_switch_to(rt_tui *tui, rt_switch_place place, rt_str entry);

#endif
