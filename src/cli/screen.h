/* SPDX-License-Identifier: MIT
 *
 * Screen: text made fit for a terminal. Pure functions of bytes.
 *
 * What a model or a file says must not drive the terminal: no escape sequence, no C0
 * control but line end and tab, no DEL, no C1 control and no bidirectional control gets
 * through, nor does U+2028 or U+2029, which end a line for some. Such a character is shown
 * by name instead: ^[ for escape, <U+202E> and so on.
 * Bytes that are not UTF-8 become U+FFFD.
 *
 * Widths are those of a fixed table (East Asian wide characters and emoji are two
 * columns, combining marks none), the same on every machine. */
#ifndef RT_CLI_SCREEN_H
#define RT_CLI_SCREEN_H

#include "base/text.h"

/* Text of several lines: "\n" and "\t" stay, "\r\n" is a line end. */
void rt_screen_add_text(rt_buf *buf, rt_str text);
/* The same on one line: every run of white space becomes one space, at the ends none. */
void rt_screen_add_line(rt_buf *buf, rt_str text);
/* The same with every blank where it is: each character of white space becomes one space. */
void rt_screen_add_blanks(rt_buf *buf, rt_str text);
/* JSON: what must not reach a terminal is written as \uXXXX, so that the value stays. */
void rt_screen_add_json(rt_buf *buf, rt_str json);

/* Columns of text that went through one of the above; a tab counts as one. */
size_t rt_screen_width(rt_str text);
/* The longest beginning of at most so many columns. */
rt_str rt_screen_cut(rt_str text, size_t columns);
/* The first so many code points on one line, with "..." (or one ellipsis) when more
 * follow; what previews are made of. */
void rt_screen_add_preview(rt_buf *buf, rt_str text, size_t characters, bool utf8);
/* Where to break a line that has to fit in so many columns: bytes of the first piece, at
 * least one character. *out_skip: bytes of white space to leave out behind it. */
size_t rt_screen_break(rt_str line, size_t columns, size_t *out_skip);

#endif
