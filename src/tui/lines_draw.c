/* SPDX-License-Identifier: MIT
 *
 * Rows on a canvas. What is marked gets its ink in the cells that are drawn already, so that
 * marking never changes what a row looks like otherwise. */
#include "tui/lines_impl.h"

typedef struct row {
	const rt_lines *lines;
	const rt_line *line;
	rt_canvas *canvas;
	rt_box box;
	int y;
} row;

static const rt_piece *
piece_at(const row *r, size_t i)
{
	return &r->lines->pieces[r->line->piece + i];
}

static rt_str
piece_text(const row *r, size_t i)
{
	return rt_str_at(r->lines->text.ptr + piece_at(r, i)->from, piece_at(r, i)->size);
}

static char
lower(char c)
{
	return c >= 'A' && c <= 'Z' ? (char)(c + 32) : c;
}

/* Does match stand at that byte of piece number i? It may go on in those behind it.
 * *out_piece, *out_at: its end. */
static bool
is_match(const row *r, size_t i, size_t at, rt_str match, size_t *out_piece, size_t *out_at)
{
	rt_str text = piece_text(r, i);
	size_t k;

	for (k = 0; k < match.size; k++) {
		while (at == text.size) {
			if (++i == r->line->pieces)
				return false;
			text = piece_text(r, i);
			at = 0;
		}
		if (lower(text.ptr[at++]) != lower(match.ptr[k]))
			return false;
	}
	*out_piece = i;
	*out_at = at;
	return true;
}

static void
mark_cells(const row *r, int from, int to)
{
	rt_box cells = rt_box_within((rt_box){r->box.x + from, r->box.y + r->y, to - from, 1},
				     rt_box_within(r->box, rt_canvas_box(r->canvas)));
	rt_canvas_cell *cell;
	int x;

	for (x = 0; x < cells.w && cells.h > 0; x++) {
		cell = &r->canvas->cells[(size_t)cells.y * (size_t)r->canvas->columns +
					 (size_t)(cells.x + x)];
		cell->ink = rt_ink_of(cell->ink, RT_INK_MATCH);
	}
}

static int
width_to(const row *r, size_t piece, size_t at)
{
	return rt_canvas_width(r->canvas, rt_str_at(piece_text(r, piece).ptr, at));
}

/* x: the columns where the pieces begin is worked out again on the way. */
static void
mark_row(const row *r, rt_str match)
{
	size_t i = 0, at = 0, end_piece = 0, end_at = 0;
	int x = r->line->indent, from;

	while (i < r->line->pieces) {
		rt_str text = piece_text(r, i);

		if (at >= text.size) {
			x += width_to(r, i++, text.size);
			at = 0;
			continue;
		}
		if (lower(text.ptr[at]) != lower(match.ptr[0]) ||
		    !is_match(r, i, at, match, &end_piece, &end_at)) {
			at++;
			continue;
		}
		from = x + width_to(r, i, at);
		for (; i < end_piece; i++)
			x += width_to(r, i, piece_text(r, i).size);
		at = end_at;
		mark_cells(r, from, x + width_to(r, i, at));
	}
}

void
rt_lines_draw(const rt_lines *lines, size_t from, size_t count, rt_canvas *canvas, rt_box box,
	      rt_str match)
{
	row r = {.lines = lines, .canvas = canvas, .box = box};
	size_t i;
	int x;

	for (; r.y < box.h && (size_t)r.y < count && from + (size_t)r.y < lines->count; r.y++) {
		r.line = &lines->lines[from + (size_t)r.y];
		x = r.line->indent;
		for (i = 0; i < r.line->pieces && x < box.w; i++)
			x = rt_canvas_put(canvas, box, x, r.y, piece_text(&r, i), piece_at(&r, i)->ink);
		if (match.size > 0)
			mark_row(&r, match);
	}
}
