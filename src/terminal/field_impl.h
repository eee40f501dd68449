/* SPDX-License-Identifier: MIT
 *
 * Shared by field.c (the text and its editing) and field_rows.c (its rows). */
#ifndef RT_TERMINAL_FIELD_IMPL_H
#define RT_TERMINAL_FIELD_IMPL_H

#include "terminal/field.h"

/* The inverse of a change: replace `put` bytes by the removed ones. */
typedef struct rt_field_edit {
	size_t at, put;
	char *removed; /* owned; NULL when empty */
	size_t removed_size;
	size_t cursor; /* before the change */
} rt_field_edit;

typedef struct rt_field_edits {
	rt_field_edit *edits;
	size_t count, capacity;
} rt_field_edits;

/* Changes of one kind in a row, which are undone together. */
typedef enum rt_field_run {
	RT_RUN_NONE,
	RT_RUN_TYPE,
	RT_RUN_ERASE,      /* before the cursor */
	RT_RUN_KILL_LEFT,  /* the same, kept for YANK */
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
	const rt_text *sent[RT_FIELD_SENT_MAX]; /* the history, oldest first */
	size_t sent_count, sent_at;             /* sent_at == sent_count: the draft */
	const rt_text *draft;                   /* while a text of the history is shown */
	int goal;                               /* column for up and down; -1: the cursor's */

	/* The beginnings of rows for this width, as far as they were needed. */
	size_t *rows;
	size_t row_count, row_capacity;
	bool has_all_rows;
	int columns;
	bool utf8;
	size_t top; /* the first visible row */
};

/* Grapheme boundaries: the next one after a boundary, the one before it, the last at or before any
 * offset. */
size_t rt_field_next(const rt_field *field, size_t at);
size_t rt_field_previous(const rt_field *field, size_t at);
size_t rt_field_snap(const rt_field *field, size_t at);

/* Set the width of rows. */
void rt_field_wrap(rt_field *field, int columns, bool utf8);
/* Drop rows after a change at this offset. */
void rt_field_rows_changed(rt_field *field, size_t at);
/* The row and column of an offset. */
size_t rt_field_row_of(rt_field *field, size_t at, int *out_column);
/* The last offset in a row up to a column; SIZE_MAX: no such row. */
size_t rt_field_place(rt_field *field, size_t row, int column);

#endif
