/* SPDX-License-Identifier: MIT
 *
 * Text: what a screen of cells shows of any bytes. Pure functions.
 *
 * "Shown" text is one line that a terminal can be given, whoever wrote it: app/width.h decides
 * what each of its characters is shown as. Every grapheme of shown text stands in at least one
 * column, so nothing in it can change what stands before it, and a canvas draws it as it is, in
 * just the columns that are told here. A grapheme is never cut in two. */
#ifndef RT_TUI_TEXT_H
#define RT_TUI_TEXT_H

#include "base/text.h"

/* Every character of white space is one space; in ASCII every other character is a "?". Adding
 * text in pieces is the same as adding it whole, but for a mark that begins a piece. O(size). */
void rt_shown_add(rt_buf *buf, rt_str text, bool ascii);

/* --- of shown text only --- */

/* Bytes and columns of the grapheme at the beginning of shown (not empty). */
size_t rt_shown_next(rt_str shown, size_t *out_columns);
size_t rt_shown_columns(rt_str shown);
/* The longest beginning of whole graphemes in at most so many columns; *out_columns (may be
 * NULL): how many it has. */
rt_str rt_shown_cut(rt_str shown, size_t columns, size_t *out_columns);
/* What is left when so many columns are taken away at the beginning; *out_blank: columns of
 * a grapheme that was cut by that, to be left blank before it. */
rt_str rt_shown_skip(rt_str shown, size_t columns, size_t *out_blank);

#endif
