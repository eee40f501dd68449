/* SPDX-License-Identifier: MIT
 *
 * What field.c (the text, and what is done to it) and field_rows.c (its rows) share. */
#ifndef RT_TUI_FIELD_IMPL_H
#define RT_TUI_FIELD_IMPL_H

#include "tui/field.h"

/* What undoes a change: put bytes at that place give way to these. */
typedef struct rt_field_edit {
	size_t at, put;
	char *removed; /* ours; NULL when empty */
	size_t removed_size;
	size_t cursor; /* where it was before */
} rt_field_edit;

typedef struct rt_field_edits {
	rt_field_edit *edits;
	size_t count, room;
} rt_field_edits;

/* What goes on from the change before it, to be taken back together. */
typedef enum rt_field_run {
	RT_RUN_NONE,
	RT_RUN_TYPE,
	RT_RUN_ERASE,      /* before the cursor */
	RT_RUN_KILL_LEFT,  /* the same, and kept to be put in again */
	RT_RUN_KILL_RIGHT
} rt_field_run;

enum { RT_FIELD_SENT_MAX = 500 };

struct rt_field {
	const rt_alloc *alloc;
	bool several_lines;
	rt_buf text;
	size_t cursor;
	rt_field_run run;
	rt_field_edits undo, redo;
	rt_buf killed;
	const rt_text *sent[RT_FIELD_SENT_MAX]; /* from the oldest */
	size_t sent_count, sent_at;             /* sent_at == sent_count: the draft */
	const rt_text *draft;                   /* while another one is looked at */
	int goal;                               /* the column that up and down go for; -1: the cursor's */

	/* Where rows begin, for so many columns, as far as somebody has looked. */
	size_t *rows;
	size_t row_count, row_room;
	bool has_all_rows;
	int columns;
	bool utf8;
	size_t top; /* the first row that is seen */
};

/* Grapheme boundaries: the next one after at (which is one), the one before it, the last that is
 * not after any place. */
size_t rt_field_next(const rt_field *field, size_t at);
size_t rt_field_previous(const rt_field *field, size_t at);
size_t rt_field_snap(const rt_field *field, size_t at);

/* Rows for so many columns; forgets those for another number. */
void rt_field_wrap(rt_field *field, int columns, bool utf8);
/* The text has changed from there on. */
void rt_field_rows_changed(rt_field *field, size_t at);
/* The row of a place, and its column. */
size_t rt_field_row_of(rt_field *field, size_t at, int *out_column);
/* The place in a row at a column, or the last before it; SIZE_MAX: there is no such row. */
size_t rt_field_place(rt_field *field, size_t row, int column);

#endif
