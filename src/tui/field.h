/* SPDX-License-Identifier: MIT
 *
 * Field: a text that is being written: several lines or one, a cursor, its own undo (of typing;
 * the conversation's is another), and what was sent from it before.
 *
 * The text is UTF-8 and any size: a paste of ten megabytes is taken in at once and drawn by the
 * rows that are seen. The cursor stands between graphemes.
 *
 * Threads: one at a time. */
#ifndef RT_TUI_FIELD_H
#define RT_TUI_FIELD_H

#include "tui/canvas.h"
#include "tui/keymap.h"

typedef struct rt_field rt_field;

RT_CHECKED rt_status rt_field_new(const rt_alloc *alloc, bool several_lines, rt_field **out);
void rt_field_free(rt_field *field);
/* All of it; lives until the field changes. */
rt_str rt_field_text(const rt_field *field);
bool rt_field_is_empty(const rt_field *field);
size_t rt_field_cursor(const rt_field *field); /* byte */
/* Put another text in its place, cursor at its end. It can be taken back like typing.
 * RT_NOMEM: as it was. */
RT_CHECKED rt_status rt_field_set(rt_field *field, rt_str text);
/* At the cursor. Of one line: line ends become blanks. */
RT_CHECKED rt_status rt_field_insert(rt_field *field, rt_str text);
/* Empty, nothing to take back. */
void rt_field_clear(rt_field *field);
/* An action of RT_SCREEN_FIELD, a key that is text; *out_used false: it has no use for it. UP on
 * the first row and DOWN on the last go through what was sent before, if there is any. columns:
 * as it is drawn, for the rows. */
RT_CHECKED rt_status rt_field_act(rt_field *field, rt_action action, int columns, bool *out_used);
RT_CHECKED rt_status rt_field_key(rt_field *field, rt_key key, bool *out_used);
/* Remember the text as sent (the newest 500; none twice in a row). */
RT_CHECKED rt_status rt_field_remember(rt_field *field, rt_str text);

/* Forget what was sent, what can be taken back and what was cut: all but the text. */
void rt_field_forget(rt_field *field);

/* Letters x in the place of this text wherever it is, the cursor at the end then. Not of no text. */
RT_CHECKED rt_status rt_field_mask(rt_field *field, rt_str what);

/* Rows that it takes, wrapped at words, of so many columns; at least 1, at most limit. */
int rt_field_rows(rt_field *field, const rt_canvas *canvas, int columns, int limit);
/* In the box, scrolled so that the cursor is seen (a field of one line sideways where the box has
 * one row); has_cursor: and that is the canvas's. */
void rt_field_draw(rt_field *field, rt_canvas *canvas, rt_box box, rt_ink ink, bool has_cursor);

#endif
