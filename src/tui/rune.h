/* SPDX-License-Identifier: MIT
 *
 * Rune: one code point of any text, as cells show it. What canvas.h says of untrusted text is
 * decided here, and nowhere else. Pure functions.
 *
 * Widths are utf8proc's but where terminals and C libraries agree on something else: spacing
 * marks of Indic scripts take a column, Hangul vowels and finals none. */
#ifndef RT_TUI_RUNE_H
#define RT_TUI_RUNE_H

#include "base/text.h"

typedef enum rt_rune_kind {
	RT_RUNE_SHOWN,   /* ch, in width columns */
	RT_RUNE_MARK,    /* ch, on what stands before it */
	RT_RUNE_NAMED,   /* by name, in width columns */
	RT_RUNE_TAB,
	RT_RUNE_LINE,    /* a line end: "\n", "\r\n" */
	RT_RUNE_NOTHING  /* left out */
} rt_rune_kind;

enum { RT_RUNE_NAME_ROOM = 12 };

typedef struct rt_rune {
	rt_rune_kind kind;
	uint32_t code;  /* as it stands in the text; U+FFFD for a byte that is not UTF-8 */
	uint32_t ch;    /* what is drawn for it */
	int width;
	size_t size;    /* bytes */
} rt_rune;

/* The one at the beginning of text, which is not empty. */
rt_rune rt_rune_read(rt_str text, bool utf8);
/* What a control or a hidden character is called: "^[", "<U+202E>"; gives its size. */
size_t rt_rune_name(uint32_t code, char out[RT_RUNE_NAME_ROOM]);
/* Bytes of the grapheme at the beginning of text, which is not empty. */
size_t rt_rune_grapheme(rt_str text);
/* The columns that a grapheme takes which begins at that column of its row. A line end takes
 * none. */
int rt_rune_columns(rt_str grapheme, bool utf8, int column);
/* As UTF-8; gives its size. */
size_t rt_rune_encode(uint32_t code, char out[4]);

#endif
