/* SPDX-License-Identifier: MIT
 *
 * Plain: the words of a Markdown text on one line, for previews and titles.
 *
 *     # Notes                          Notes We use SQLite: one file.
 *     We use **SQLite**: `one file`.
 *
 * Left out are the signs of headings and quotes, the lines around code and below the heads of
 * tables, pairs of *, of ** and of backticks, and the targets of links. This is an approximation of markup/markup.h, which reads
 * the whole text. Lines are joined, and blanks are a single space.
 *
 * Pure functions. O(size). */
#ifndef RT_CODEC_PLAIN_H
#define RT_CODEC_PLAIN_H

#include "base/text.h"

/* Appends the text. Signs without a pair stay, except for backticks. */
void rt_plain_add(rt_buf *buf, rt_str text);
/* The same for the text of an entry: that of a tool is not Markdown, and only joined. */
void rt_plain_add_entry(rt_buf *buf, rt_str role, rt_str text);

#endif
