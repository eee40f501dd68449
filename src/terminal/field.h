/* SPDX-License-Identifier: MIT
 *
 * Field: an editable text of one line or several, with a cursor, its own undo (for typing), and a
 * history of the sent texts.
 *
 * The text is UTF-8 of any size: a paste of ten megabytes is inserted in one step, and only visible
 * rows are drawn. The cursor is between graphemes.
 *
 * Threads: one at a time. */
#ifndef RT_TERMINAL_FIELD_H
#define RT_TERMINAL_FIELD_H

#include "terminal/canvas.h"
#include "terminal/keymap.h"

typedef struct rt_field rt_field;

RT_CHECKED rt_status rt_field_new(const rt_alloc *alloc, bool several_lines, rt_field **out);
void rt_field_free(rt_field *field);
/* Valid until the field changes. */
rt_str rt_field_text(const rt_field *field);
bool rt_field_is_empty(const rt_field *field);
size_t rt_field_cursor(const rt_field *field); /* byte */
/* Replace the text; the cursor goes to its end. Can be undone like typing. RT_NOMEM: unchanged. */
RT_CHECKED rt_status rt_field_set(rt_field *field, rt_str text);
/* Insert at the cursor. In a single line, line ends become blanks. */
RT_CHECKED rt_status rt_field_insert(rt_field *field, rt_str text);
/* Empties the text and its undo. */
void rt_field_clear(rt_field *field);
/* An action of RT_SCREEN_FIELD, a key that is text; *out_used false: not handled. UP on the first row
 * and DOWN on the last go through the history. columns: as it is drawn. */
RT_CHECKED rt_status rt_field_act(rt_field *field, rt_action action, int columns, bool *out_used);
RT_CHECKED rt_status rt_field_key(rt_field *field, rt_key key, bool *out_used);
/* Add a text to the history (the newest 500; no repetitions in a row). */
RT_CHECKED rt_status rt_field_remember(rt_field *field, rt_str text);

/* Clears the history, undo and the cut text: everything except the text. */
void rt_field_forget(rt_field *field);

/* Replaces every occurrence of a text, not empty, by letters x; the cursor goes to the end then. */
RT_CHECKED rt_status rt_field_mask(rt_field *field, rt_str what);

/* The number of rows of this width, wrapped at words; at least 1, at most limit. */
int rt_field_rows(rt_field *field, const rt_canvas *canvas, int columns, int limit);
/* Draw it, scrolled so that the cursor is visible (sideways, if a single line has one row);
 * has_cursor: show the canvas's cursor there. */
void rt_field_draw(rt_field *field, rt_canvas *canvas, rt_box box, rt_ink ink, bool has_cursor);

#endif
