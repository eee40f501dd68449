/* SPDX-License-Identifier: MIT
 *
 * Screen: text made safe for a terminal. Pure functions of bytes.
 *
 * The text of a model or a file must not control the terminal nor hide anything: no escape
 * sequence, no control but line end and tab, no bidirectional control and nothing invisible passes.
 * width.h has the visible replacements and the widths; the terminal UI shows the same. */
#ifndef RT_APP_SCREEN_H
#define RT_APP_SCREEN_H

#include "base/text.h"

/* Text of several lines: "\n" and "\t" stay, "\r\n" is a line end. */
void rt_screen_add_text(rt_buf *buf, rt_str text);
/* The same on one line: every run of white space becomes one space, and is removed at the ends. */
void rt_screen_add_line(rt_buf *buf, rt_str text);
/* The same with each character of white space as one space. ascii: other characters become "?". */
void rt_screen_add_blanks(rt_buf *buf, rt_str text, bool ascii);
/* JSON: unsafe and invisible characters are written as \uXXXX, so that the value is preserved. */
void rt_screen_add_json(rt_buf *buf, rt_str json);

/* Columns of text produced by one of the above (except JSON); a tab counts as one. */
size_t rt_screen_width(rt_str text);
/* The longest prefix of whole graphemes that fits in the given columns. */
rt_str rt_screen_cut(rt_str text, size_t columns);
/* A name on one line. If it is wider than this, an ellipsis (utf8, or "...") takes the place of its
 * middle, since names often differ at their ends. columns 0: it is added in full. */
void rt_screen_add_name(rt_buf *buf, rt_str name, size_t columns, bool utf8);
/* A preview: the first code points on one line, with "..." (or an ellipsis) where more follow. */
void rt_screen_add_preview(rt_buf *buf, rt_str text, size_t characters, bool utf8);
/* Where to break a line to fit in the given columns: bytes of the first piece, at least one
 * grapheme. *out_skip: bytes of white space to skip after it. */
size_t rt_screen_break(rt_str line, size_t columns, size_t *out_skip);

#endif
