/* SPDX-License-Identifier: MIT
 *
 * Canvas: a screenful of cells in memory. All screens draw here and nowhere else; the terminal
 * (terminal.h) shows it. So every screen can be drawn and read by a test without a terminal, and
 * whatever a text holds it cannot leave the box that it was drawn into.
 *
 * What is drawn is untrusted; app/width.h decides what it is shown as. A cell holds one character
 * that takes one or two columns and up to RT_CELL_MARKS that take none (accents). A tab is spaces
 * up to the next eighth column of its text. A character that would be cut in half by the end of
 * the box is left out, with a blank in its place. Without utf8 a character beyond ASCII is '?',
 * and glyphs are ASCII.
 *
 * Threads: one at a time. */
#ifndef RT_TUI_CANVAS_H
#define RT_TUI_CANVAS_H

#include "app/width.h"

enum { RT_CELL_MARKS = RT_RUNE_MARKS, RT_CANVAS_COLUMNS_MAX = 1000, RT_CANVAS_ROWS_MAX = 500 };

/* What a text is, by meaning; the terminal knows how each looks, in colour and without. */
typedef enum rt_ink_kind {
	RT_INK_TEXT,
	RT_INK_DIM,      /* what matters less: metadata, hints, what is not on the path */
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
	RT_INK_MATCH,    /* what a search found */
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
	uint32_t ch;                   /* 0: the right half of the one before; ' ' when blank */
	uint32_t marks[RT_CELL_MARKS]; /* 0: none */
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
} rt_canvas;

void rt_canvas_init(rt_canvas *canvas, const rt_alloc *alloc, bool utf8);
void rt_canvas_deinit(rt_canvas *canvas);
/* Blank, of that size (cut to the limits above). RT_NOMEM: as it was. */
RT_CHECKED rt_status rt_canvas_resize(rt_canvas *canvas, int columns, int rows);
/* All blank, no cursor. */
void rt_canvas_clear(rt_canvas *canvas);
rt_box rt_canvas_box(const rt_canvas *canvas);
/* What of the box is inside the other one. */
rt_box rt_box_within(rt_box box, rt_box outer);

/* Blanks in this ink. */
void rt_canvas_fill(rt_canvas *canvas, rt_box box, rt_ink ink);
/* The box's cells get these ink flags beside what they have (RT_INK_SELECTED …). */
void rt_canvas_flag(rt_canvas *canvas, rt_box box, rt_ink flags);
/* One line of text at column x, row y of the box (both may be outside of it, then that part is
 * not seen); a line end in it is drawn as a blank. Gives the column behind it. */
int rt_canvas_put(rt_canvas *canvas, rt_box box, int x, int y, rt_str text, rt_ink ink);
int rt_canvas_put_c(rt_canvas *canvas, rt_box box, int x, int y, const char *text, rt_ink ink);
int rt_canvas_put_f(rt_canvas *canvas, rt_box box, int x, int y, rt_ink ink, const char *format, ...)
	RT_PRINTF(6, 7);
/* The same in at most `columns` columns, with an ellipsis as the last where not all fits. */
int rt_canvas_put_cut(rt_canvas *canvas, rt_box box, int x, int y, int columns, rt_str text,
		      rt_ink ink);
/* The same for names, which often differ in their ends only: the ellipsis is within, and the last
 * columns stay. */
int rt_canvas_put_name(rt_canvas *canvas, rt_box box, int x, int y, int columns, rt_str name,
		       rt_ink ink);
/* The name so cut, as text, appended. */
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
	RT_GLYPH_FOLDABLE,   /* ⊟ or - (with brackets drawn by who uses it) */
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

/* The columns that a text takes when it is put at column 0. */
int rt_canvas_width(const rt_canvas *canvas, rt_str text);
/* The longest beginning of text, whole graphemes, that takes at most so many columns; *out_used
 * (may be NULL) is how many it does. */
rt_str rt_canvas_fit(const rt_canvas *canvas, rt_str text, int columns, int *out_used);

/* The screen as text, a line for each row without the blanks at its end: for tests and for
 * who asks what is on it. */
void rt_canvas_add_text(const rt_canvas *canvas, rt_buf *buf);

#endif
