/* SPDX-License-Identifier: MIT
 *
 * Bar: the line above a pane, the mark of the row that keys act on, and what else all panes
 * draw alike. */
#ifndef RT_TUI_BAR_H
#define RT_TUI_BAR_H

#include "tui/canvas.h"
#include "tui/keymap.h"

/* The first row of the box: on its right what matters less. Where there is no room for all of
 * that, its last parts (between two blanks) are left out first. */
void rt_bar_draw(rt_canvas *canvas, rt_box box, rt_str title, rt_str right);
/* Of parts with two blanks or more between them, the first that fit behind column x of the row.
 * Gives the column behind. */
int rt_bar_put_parts(rt_canvas *canvas, rt_box box, int x, rt_str parts, rt_ink ink);
/* Row y of the box has the cursor: a sign in its first column, so that it is seen without
 * colour, and the ink of what is selected. */
void rt_bar_select(rt_canvas *canvas, rt_box box, int y);
/* A question that is answered on the row itself; gives the box for the field behind it. */
rt_box rt_bar_ask(rt_canvas *canvas, rt_box row, const char *word);
/* "Enter ok  Esc cancel": how a question is answered, for the right of its bar. */
void rt_bar_add_ways(rt_buf *buf, const rt_keymap *keys);
/* Of a role's word. */
rt_ink rt_role_ink(rt_str role);

#endif
