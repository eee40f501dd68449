/* SPDX-License-Identifier: MIT
 *
 * Screen: text made fit for a terminal. Pure functions of bytes.
 *
 * What a model or a file says must not drive the terminal, nor hide anything: no escape
 * sequence, no control but line end and tab, nothing that turns the direction or that cannot
 * be seen gets through. width.h has the visible replacements and the widths; the
 * terminal's screens show the same. */
#ifndef RT_APP_SCREEN_H
#define RT_APP_SCREEN_H

#include "base/text.h"

/* Text of several lines: "\n" and "\t" stay, "\r\n" is a line end. */
void rt_screen_add_text(rt_buf *buf, rt_str text);
/* The same on one line: every run of white space becomes one space, at the ends none. */
void rt_screen_add_line(rt_buf *buf, rt_str text);
/* The same with every blank where it is: each character of white space becomes one space. In
 * ASCII, what is none is "?". */
void rt_screen_add_blanks(rt_buf *buf, rt_str text, bool ascii);
/* JSON: what must not reach a terminal and what cannot be seen is written as \uXXXX, so that
 * the value stays. */
void rt_screen_add_json(rt_buf *buf, rt_str json);

/* Columns of text that went through one of the above (but JSON); a tab counts as one. */
size_t rt_screen_width(rt_str text);
/* The longest beginning of whole graphemes in at most so many columns. */
rt_str rt_screen_cut(rt_str text, size_t columns);
/* The first so many code points on one line, with "..." (or one ellipsis) when more
 * follow; what previews are made of. */
void rt_screen_add_preview(rt_buf *buf, rt_str text, size_t characters, bool utf8);
/* Where to break a line that has to fit in so many columns: bytes of the first piece, at
 * least one grapheme. *out_skip: bytes of white space to leave out behind it. */
size_t rt_screen_break(rt_str line, size_t columns, size_t *out_skip);

#endif
