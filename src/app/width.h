/* SPDX-License-Identifier: MIT
 *
 * Width: one code point of any text, in the form for terminals. The effect of untrusted text on a
 * terminal is decided only here: commands (screen.h), the rows of the tree (terminal/text.h) and
 * the canvas (terminal/canvas.h) show a text with the same characters in the same columns. Pure
 * functions.
 *
 *   controls (C0, DEL, C1), line and paragraph separators     by name: ^[ <U+009B> <U+2028>
 *   changing direction or hiding text (bidirectional          by name: <U+202E> <U+E0041>
 *   controls, tags, zero width spaces, fillers)
 *   joiners, variation selectors, skin tones                  left out
 *   invalid UTF-8; unassigned code points                     U+FFFD
 *   every blank but the ideographic one                       a space
 *   a soft hyphen; the letters of flags                       "-"; plain letters
 *   a mark                                                    on the preceding character;
 *                                                             without one, or after a space,
 *                                                             on a circle: blanks stay blank
 *   more than RT_RUNE_MARKS marks in a row                    left out
 *
 * Characters that are left out change the look or the width of others, depending on the terminal.
 *
 * Widths are those of utf8proc, except where terminals and C libraries agree on another one:
 * spacing marks of Indic scripts take a column, Hangul vowels and finals none. A text is as wide as
 * its runes together, which is how terminals and curses move their cursors, although many draw a
 * family of three in two columns. */
#ifndef RT_APP_WIDTH_H
#define RT_APP_WIDTH_H

#include "base/text.h"

typedef enum rt_rune_kind {
	RT_RUNE_SHOWN,   /* ch, in width columns */
	RT_RUNE_MARK,    /* ch, on the preceding character */
	RT_RUNE_NAMED,   /* by name, in width columns */
	RT_RUNE_TAB,
	RT_RUNE_LINE,    /* a line end: "\n", "\r\n" */
	RT_RUNE_NOTHING  /* left out */
} rt_rune_kind;

enum {
	RT_RUNE_NAME_ROOM = 12,
	RT_RUNE_MARKS = 3,
	RT_RUNE_CIRCLE = 0x25CC /* base of a mark without a letter */
};

typedef struct rt_rune {
	rt_rune_kind kind;
	uint32_t code;  /* as in the text; U+FFFD for a byte that is not UTF-8 */
	uint32_t ch;    /* its displayed form */
	int width;
	size_t size;    /* bytes */
} rt_rune;

/* The first rune of text, which is not empty. Without utf8, non-ASCII characters become "?" and
 * marks are dropped. */
rt_rune rt_rune_read(rt_str text, bool utf8);
/* The displayed name of a control or hidden character: "^[", "<U+202E>"; returns its size. */
size_t rt_rune_name(uint32_t code, char out[RT_RUNE_NAME_ROOM]);
/* White space of any kind; all of it may be shown as one space. */
bool rt_rune_is_space(const rt_rune *rune);

/* The context before a rune: all zero at the beginning of a text. */
typedef struct rt_rune_place {
	bool has_base; /* there is a base for a mark */
	int marks;     /* so far */
} rt_rune_place;

/* Advances past the rune and returns its columns. Tabs and line ends take none: the caller handles
 * them. */
int rt_rune_pass(rt_rune_place *place, const rt_rune *rune);
/* The same, and its displayed form, appended. Nothing for tabs and line ends. */
int rt_rune_add(rt_buf *buf, rt_rune_place *place, const rt_rune *rune);

/* Bytes of the grapheme at the beginning of text, which is not empty: marks and dropped characters
 * belong to the preceding character. Overlong graphemes (hostile input) are split. */
size_t rt_rune_grapheme(rt_str text);
/* The columns that a grapheme takes which begins at that column of its row. A line end takes
 * none. */
int rt_rune_columns(rt_str grapheme, bool utf8, int column);
/* As UTF-8; gives its size. */
size_t rt_rune_encode(uint32_t code, char out[4]);

#endif
