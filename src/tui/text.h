/* SPDX-License-Identifier: MIT
 *
 * Text: what a screen of cells shows of any bytes. Pure functions.
 *
 * "Shown" text is one line that a terminal can be given, whoever wrote it: cli/screen.h
 * decides what may get through (no control of any kind, no change of direction, no line
 * end), and here it is made fit for cells. Every grapheme of shown text stands in at least
 * one column, so nothing in it can change what stands before it:
 *
 *   - a mark without a letter gets a circle to stand on; of the marks on one letter
 *     RT_SHOWN_MARKS are kept
 *   - invisible characters outside a grapheme are shown by name (<U+200B>)
 *   - code points that mean nothing yet become U+FFFD, since nobody knows their width
 *   - in ASCII, every column of what is no ASCII is a "?"
 *
 * A grapheme is as wide as its code points together, which is how terminals and curses
 * move their cursors; it is never cut in two. Widths are utf8proc's. */
#ifndef RT_TUI_TEXT_H
#define RT_TUI_TEXT_H

#include "base/text.h"

enum { RT_SHOWN_MARKS = 4 };

/* Every character of white space is one space. Adding text in pieces is the same as adding
 * it whole, but for graphemes that two pieces share. O(size). */
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
