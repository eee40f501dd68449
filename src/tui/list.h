/* SPDX-License-Identifier: MIT
 *
 * List: rows of one kind with a cursor, scrolled to the room that there is. Panes fill in the
 * rows, and draw one at a time.
 *
 * Threads: one at a time. */
#ifndef RT_TUI_LIST_H
#define RT_TUI_LIST_H

#include "tui/canvas.h"
#include "tui/keymap.h"

typedef struct rt_list {
	size_t count; /* rows that there are */
	size_t at;    /* the cursor; 0 where there is none */
	size_t top;   /* the first row that is seen */
	size_t rows;  /* how many are, as it was drawn last */
} rt_list;

/* UP, DOWN, PAGE_UP, PAGE_DOWN, HOME, END: the cursor moves, never beyond the ends. false: an
 * action of another kind. */
bool rt_list_act(rt_list *list, rt_action action);
/* As many rows now; the cursor stays in them. */
void rt_list_count(rt_list *list, size_t count);
/* Before it is drawn in so many rows: the cursor is among those seen. */
void rt_list_fit(rt_list *list, int rows);
/* Draws row number `row` of a list at line y of the box. */
typedef void (*rt_list_draw_fn)(void *ctx, rt_canvas *canvas, rt_box box, int y, size_t row);
/* Fit the list to the box, draw the rows that are seen, and highlight the one with the cursor. */
void rt_list_draw(rt_list *list, rt_canvas *canvas, rt_box box, rt_list_draw_fn draw, void *ctx);
/* The rows of a list, with room for one more behind count of so many bytes: moved where need be.
 * NULL: no memory; they are as they were. */
void *rt_list_grow(const rt_alloc *alloc, void *rows, size_t count, size_t *room, size_t size);
/* How many rows are to be drawn from top on. */
size_t rt_list_seen(const rt_list *list);

#endif
