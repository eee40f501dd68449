/* SPDX-License-Identifier: MIT
 *
 * Canvas: a screen of cells in memory. All screens draw here and nowhere else; the terminal
 * (terminal.h) shows it. So tests draw and read screens without a terminal, and no text can leave
 * the box that it was drawn into.
 *
 * Text is untrusted; app/width.h decides how it is displayed. A cell holds one character of one or
 * two columns and up to RT_CELL_MARKS without width (accents). A tab is spaces up to the next eighth
 * column of its text. A character that the edge of the box would cut in half becomes a blank.
 * Without utf8 a character beyond ASCII is '?', and glyphs are ASCII.
 *
 * Threads: one at a time. */
#ifndef RT_TERMINAL_CANVAS_H
#define RT_TERMINAL_CANVAS_H

#include "app/width.h"

enum { RT_CELL_MARKS = RT_RUNE_MARKS, RT_CANVAS_COLUMNS_MAX = 1000, RT_CANVAS_ROWS_MAX = 500 };

/* The meaning of a text; the terminal decides on its look, with colours and without. */
typedef enum rt_ink_kind {
	RT_INK_TEXT,
	RT_INK_DIM,      /* less important: metadata, hints, other branches */
	RT_INK_USER,     /* role words */
	RT_INK_AI,
	RT_INK_TOOL,
	RT_INK_SYSTEM,
	RT_INK_HEADING,
	RT_INK_CODE,
	RT_INK_LINK,
	RT_INK_QUOTE,
	RT_INK_ERROR,
	RT_INK_WARNING,
	RT_INK_GOOD,
	RT_INK_ADDED,
	RT_INK_REMOVED,
	RT_INK_LABEL,
	RT_INK_MATCH,    /* a search match */
	RT_INK_BAR,      /* title line, footer */
	RT_INK_BORDER,
	RT_INK_COUNT
} rt_ink_kind;

enum {
	RT_INK_BOLD = 1 << 8,
	RT_INK_ITALIC = 1 << 9,
	RT_INK_UNDERLINE = 1 << 10,
	RT_INK_STRIKE = 1 << 11,
	RT_INK_SELECTED = 1 << 12 /* the row that keys act on */
};
typedef uint16_t rt_ink; /* one kind, and any of these */

typedef struct rt_canvas_cell {
	uint32_t ch;                   /* 0: the right half of a wide character; ' ' when blank */
	uint32_t marks[RT_CELL_MARKS]; /* 0: none */
	uint32_t link;                 /* the hash of its url (rt_canvas_url); 0: none */
	rt_ink ink;
	uint8_t width;                 /* 1 or 2; 0 with ch 0 */
} rt_canvas_cell;

typedef struct rt_box {
	int x, y, w, h;
} rt_box;

typedef struct rt_canvas {
	const rt_alloc *alloc;
	rt_canvas_cell *cells; /* rows * columns */
	int columns, rows;
	bool utf8;
	int cursor_x, cursor_y; /* -1: not shown */
	rt_buf urls;            /* of the links drawn since it was cleared, each ended by a NUL */
} rt_canvas;

void rt_canvas_init(rt_canvas *canvas, const rt_alloc *alloc, bool utf8);
void rt_canvas_deinit(rt_canvas *canvas);
/* Make it blank and of this size (cut to the limits above). RT_NOMEM: unchanged. */
RT_CHECKED rt_status rt_canvas_resize(rt_canvas *canvas, int columns, int rows);
/* Make it blank, without a cursor. */
void rt_canvas_clear(rt_canvas *canvas);
rt_box rt_canvas_box(const rt_canvas *canvas);
/* The intersection of two boxes. */
rt_box rt_box_within(rt_box box, rt_box outer);

/* Fill with blanks. */
void rt_canvas_fill(rt_canvas *canvas, rt_box box, rt_ink ink);
/* Add ink flags (RT_INK_SELECTED …) to the box's cells. */
void rt_canvas_flag(rt_canvas *canvas, rt_box box, rt_ink flags);
/* The cells of the box lead to a url, which is ASCII without controls; not if memory is short, or if
 * the hash of another url in this frame is the same. */
void rt_canvas_link(rt_canvas *canvas, rt_box box, rt_str url);
/* The url of a cell's link; empty: none. O(urls) */
rt_str rt_canvas_url(const rt_canvas *canvas, uint32_t link);
/* Draw one line of text at column x, row y of the box, clipped to it; a line end is drawn as a blank.
 * Returns the column after it. */
int rt_canvas_put(rt_canvas *canvas, rt_box box, int x, int y, rt_str text, rt_ink ink);
int rt_canvas_put_c(rt_canvas *canvas, rt_box box, int x, int y, const char *text, rt_ink ink);
int rt_canvas_put_f(rt_canvas *canvas, rt_box box, int x, int y, rt_ink ink, const char *format, ...)
	RT_PRINTF(6, 7);
/* The same in at most `columns` columns, ending in an ellipsis if it does not fit. */
int rt_canvas_put_cut(rt_canvas *canvas, rt_box box, int x, int y, int columns, rt_str text,
		      rt_ink ink);
/* The same for names, which often differ only at their ends: the ellipsis is in the middle. */
int rt_canvas_put_name(rt_canvas *canvas, rt_box box, int x, int y, int columns, rt_str name,
		       rt_ink ink);
/* Append the name cut in this way. */
void rt_canvas_add_name(const rt_canvas *canvas, rt_str name, int columns, rt_buf *out);
void rt_canvas_cursor(rt_canvas *canvas, rt_box box, int x, int y);

/* Lines and signs. */
typedef enum rt_glyph {
	RT_GLYPH_HORIZONTAL, /* ─ or - */
	RT_GLYPH_VERTICAL,   /* │ or | */
	RT_GLYPH_CROSS_DOWN, /* ┬ or + */
	RT_GLYPH_CROSS_UP,   /* ┴ or + */
	RT_GLYPH_TEE,        /* ├ or | */
	RT_GLYPH_CORNER,     /* └ or ` */
	RT_GLYPH_FOLDABLE,   /* ⊟ or - (the caller draws brackets) */
	RT_GLYPH_FOLDED,     /* ⊞ or + */
	RT_GLYPH_BULLET,     /* • or * */
	RT_GLYPH_CURSOR,     /* › or > */
	RT_GLYPH_LEFT_ARROW, /* ← or <- */
	RT_GLYPH_ELLIPSIS,   /* … or ... */
	RT_GLYPH_CHECK,      /* ✓ or x */
	RT_GLYPH_DOT,        /* · or . */
	RT_GLYPH_OPEN,       /* ▾ or v */
	RT_GLYPH_CLOSED,     /* ▸ or > */
	RT_GLYPH_BAR,        /* ▌ or | : left edge of a block of code or a quote */
	RT_GLYPH_COUNT
} rt_glyph;
rt_str rt_canvas_glyph(const rt_canvas *canvas, rt_glyph glyph);

/* The width of a text at column 0. */
int rt_canvas_width(const rt_canvas *canvas, rt_str text);
/* The longest prefix of whole graphemes that fits into a number of columns; *out_used (may be NULL):
 * its width. */
rt_str rt_canvas_fit(const rt_canvas *canvas, rt_str text, int columns, int *out_used);

/* The screen as text, a line for each row without trailing blanks. */
void rt_canvas_add_text(const rt_canvas *canvas, rt_buf *buf);

#endif
