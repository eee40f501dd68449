/* SPDX-License-Identifier: MIT
 *
 * Bar: the common elements of panes: the line above a pane, the selected row, lines between boxes,
 * and the line at the bottom in which a search is typed. */
#ifndef RT_TUI_BAR_H
#define RT_TUI_BAR_H

#include "tui/pane.h"

/* The first row of the box: a title, and less important text on the right. If the latter does not
 * fit, its last parts (separated by two blanks) are dropped first. */
void rt_bar_draw(rt_canvas *canvas, rt_box box, rt_str title, rt_str right);
/* As many parts (separated by two blanks or more) as fit from column x on; the keys at their
 * beginnings, which have no small letters, in bold. Returns the column after them. */
int rt_bar_put_parts(rt_canvas *canvas, rt_box box, int x, rt_str parts, rt_ink ink);
/* Marks row y of the box as selected: by ink, and by a sign that is visible without colour. */
void rt_bar_select(rt_canvas *canvas, rt_box box, int y);
/* The box filled with a line: RT_GLYPH_HORIZONTAL or RT_GLYPH_VERTICAL. */
void rt_bar_line(rt_canvas *canvas, rt_box box, rt_glyph glyph);
/* A label in a row; returns the box of the field after it. */
rt_box rt_bar_ask(rt_canvas *canvas, rt_box row, const char *label);
/* "Enter OK  Esc cancel", in the scope of the event. */
rt_str rt_bar_ways(rt_tui *tui);
/* "2024-05-01 12:30" of local time, in the scope of the event. */
rt_str rt_bar_time(rt_tui *tui, int64_t at_us);
/* The colour of a role's name. */
rt_ink rt_role_ink(rt_str role);

/* ---- a search that is typed at the bottom of a pane ---- */

typedef struct rt_search_bar {
	rt_pane *pane;
	void (*search)(rt_pane *pane); /* for match, which is not empty */
	rt_field *field;
	rt_buf match; /* the last search; or empty */
	bool is_open; /* the field has the keyboard */
	int columns;
} rt_search_bar;

/* Failures go to the scope of the event; deinit it in any case. */
void rt_search_bar_init(rt_search_bar *bar, rt_pane *pane, void (*search)(rt_pane *pane));
void rt_search_bar_deinit(rt_search_bar *bar);
/* Begin to type a search. */
void rt_search_bar_open(rt_search_bar *bar);
/* Handles an action or a key while the bar is open. False: not handled. */
bool rt_search_bar_act(rt_search_bar *bar, rt_action action);
bool rt_search_bar_key(rt_search_bar *bar, rt_key key);
void rt_search_bar_paste(rt_search_bar *bar, rt_str text);
/* In the last row of the box, if it is open. */
void rt_search_bar_draw(rt_search_bar *bar, rt_canvas *canvas, rt_box box);

#endif
