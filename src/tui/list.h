/* SPDX-License-Identifier: MIT
 *
 * List: a cursor in rows, scrolled to the available height; and a filter, which is a list made
 * from the text in a field. Panes supply the rows and draw one at a time.
 *
 * Threads: one at a time. */
#ifndef RT_TUI_LIST_H
#define RT_TUI_LIST_H

#include "base/scope.h"
#include "terminal/field.h"

typedef struct rt_list {
	size_t count;
	size_t at;   /* the cursor; 0 if there are no rows */
	size_t top;  /* the first visible row */
	size_t rows; /* height, when it was drawn last … */
	rt_box box;  /* … and where */
} rt_list;

/* UP, DOWN, PAGE_UP, PAGE_DOWN, HOME, END move the cursor, which stops at the ends. False: another
 * action. */
bool rt_list_act(rt_list *list, rt_action action);
/* Set the number of rows; the cursor stays among them. */
void rt_list_count(rt_list *list, size_t count);
/* Set the height, and scroll so that the cursor is visible. */
void rt_list_fit(rt_list *list, int rows);
/* The number of visible rows. */
size_t rt_list_seen(const rt_list *list);
/* Draw a row at line y of the box. */
typedef void (*rt_list_draw_fn)(void *ctx, rt_canvas *canvas, rt_box box, int y, size_t row);
/* Fit the list to the box, draw the visible rows, and highlight the one with the cursor. */
void rt_list_draw(rt_list *list, rt_canvas *canvas, rt_box box, rt_list_draw_fn draw, void *ctx);

/* ---- filtered by typing ---- */

typedef struct rt_filter {
	rt_list list;
	rt_field *field;
	void *rows; /* list.count of them */
	size_t row_size, capacity;
	rt_buf typed; /* the text from which the rows were made */
	int columns;  /* of the field, when it was drawn last */
	rt_scope *s;  /* of events */
	/* Add the rows for a text (rt_filter_add). The cursor may be moved. */
	void (*fill)(void *ctx, rt_str text);
	rt_list_draw_fn draw;
	void *ctx; /* of both */
} rt_filter;

/* For a filter with row_size, s, fill, draw and ctx set, and all else zero: make the field, with
 * this text, and no rows yet. Failures go to the scope; deinit it in any case. */
void rt_filter_init(rt_filter *filter, rt_str text);
void rt_filter_deinit(rt_filter *filter);
/* Append a row, copied from *row. */
void rt_filter_add(rt_filter *filter, const void *row);
/* The row with the cursor, or NULL. Rows are valid until the next fill. */
void *rt_filter_at(const rt_filter *filter);
/* Rebuild the rows; the cursor keeps its position. Empty once the scope has failed. */
void rt_filter_fill(rt_filter *filter);
/* The same with the cursor on the first, if the text has changed; true: it has. */
bool rt_filter_update(rt_filter *filter);
/* UP, DOWN, PAGE_UP, PAGE_DOWN move the cursor; other actions edit the text. False: not handled. */
bool rt_filter_act(rt_filter *filter, rt_action action);
bool rt_filter_key(rt_filter *filter, rt_key key);
void rt_filter_paste(rt_filter *filter, rt_str text);
void rt_filter_draw_field(rt_filter *filter, rt_canvas *canvas, rt_box box);
/* empty: shown in place of rows, at this column, if there are none. */
void rt_filter_draw_rows(rt_filter *filter, rt_canvas *canvas, rt_box box, int x,
			 const char *empty);

#endif
