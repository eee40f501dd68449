/* SPDX-License-Identifier: MIT
 *
 * Text: the displayed form of any bytes in a row of cells. Pure functions.
 *
 * "Shown" text is one line that is safe on a terminal, whatever its origin: app/width.h decides on
 * the form of each character. Every grapheme of it has at least one column, so that it cannot
 * change the preceding text, and a canvas draws it unchanged, in exactly the columns that are given
 * here. Graphemes are never cut. */
#ifndef RT_TERMINAL_TEXT_H
#define RT_TERMINAL_TEXT_H

#include "base/text.h"

/* Append the shown form of text. White space becomes spaces; with ascii, characters beyond ASCII
 * become "?". Text may be added in pieces, unless one begins with a mark. O(size). */
void rt_shown_add(rt_buf *buf, rt_str text, bool ascii);

/* ---- for shown text only ---- */

/* Bytes and columns of the grapheme at the beginning of shown (not empty). */
size_t rt_shown_next(rt_str shown, size_t *out_columns);
size_t rt_shown_columns(rt_str shown);
/* The longest prefix of whole graphemes in a number of columns; *out_columns (may be NULL): its
 * width. */
rt_str rt_shown_cut(rt_str shown, size_t columns, size_t *out_columns);
/* The text without its first columns; *out_blank: columns of a grapheme that would be cut, to be
 * left blank before the rest. */
rt_str rt_shown_skip(rt_str shown, size_t columns, size_t *out_blank);

#endif
