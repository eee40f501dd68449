/* SPDX-License-Identifier: MIT
 *
 * Rows on a canvas. Matches are marked by changing the ink of cells that are already drawn, so that
 * marking does not otherwise affect the look of a row. */
#include "terminal/lines_impl.h"

typedef struct row {
	const rt_lines *lines;
	const rt_line *line;
	size_t count; /* of pieces */
	rt_canvas *canvas;
	rt_box box; /* of this row */
} row;

static const rt_piece *
piece_at(const row *r, size_t piece)
{
	return &r->lines->pieces[r->line->piece + piece];
}

static rt_str
piece_text(const row *r, size_t piece)
{
	return rt_str_at(r->lines->text.ptr + piece_at(r, piece)->from, piece_at(r, piece)->size);
}

/* Is there a match at this byte of a piece? It may continue in the following pieces. *piece, *at:
 * its end. */
static bool
is_match(const row *r, size_t *piece, size_t *at, rt_str match)
{
	size_t i = *piece, k = *at;
	rt_str text = piece_text(r, i);

	for (size_t m = 0; m < match.size; m++) {
		while (k == text.size) {
			if (++i == r->count)
				return false;
			text = piece_text(r, i);
			k = 0;
		}
		if (rt_ascii_lower(text.ptr[k++]) != rt_ascii_lower(match.ptr[m]))
			return false;
	}
	*piece = i;
	*at = k;
	return true;
}

static void
mark_cells(const row *r, int from, int to)
{
	rt_box cells = rt_box_within((rt_box){r->box.x + from, r->box.y, to - from, 1},
				     rt_box_within(r->box, rt_canvas_box(r->canvas)));

	for (int x = 0; x < cells.w && cells.h > 0; x++) {
		rt_canvas_cell *cell = &r->canvas->cells[cells.y * r->canvas->columns + cells.x + x];

		cell->ink = rt_ink_of(cell->ink, RT_INK_MATCH);
	}
}

static int
width_to(const row *r, size_t piece, size_t at)
{
	return rt_canvas_width(r->canvas, rt_str_at(piece_text(r, piece).ptr, at));
}

static void
mark_matches(const row *r, rt_str match)
{
	size_t i = 0, at = 0;
	int x = r->line->indent; /* of piece i */

	while (i < r->count) {
		size_t end_piece = i, end_at = at;
		rt_str text = piece_text(r, i);
		int from;

		if (at >= text.size) {
			x += width_to(r, i++, text.size);
			at = 0;
			continue;
		}
		if (!is_match(r, &end_piece, &end_at, match)) {
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

/* The links of a piece that is drawn from column x on. */
static void
link_cells(const row *r, size_t piece, int x)
{
	uint32_t at = 0, size;

	while (r->lines->link_count > 0 && at < piece_at(r, piece)->size) {
		rt_str url = rt_lines_url_at(r->lines, piece_at(r, piece), at, &size);

		if (url.size > 0) {
			int from = x + width_to(r, piece, at), to = x + width_to(r, piece, at + size);

			rt_canvas_link(r->canvas,
				       rt_box_within((rt_box){r->box.x + from, r->box.y, to - from, 1},
						     r->box),
				       url);
		}
		at += size;
	}
}

void
rt_lines_draw(const rt_lines *lines, size_t from, size_t count, rt_canvas *canvas, rt_box box,
	      rt_str match)
{
	for (int y = 0; y < box.h && (size_t)y < count && from + (size_t)y < lines->count; y++) {
		const rt_line *line = &lines->lines[from + (size_t)y];
		row r = {.lines = lines,
			 .line = line,
			 .count = line->pieces,
			 .canvas = canvas,
			 .box = {box.x, box.y + y, box.w, 1}};
		int x = line->indent;

		for (size_t i = 0; i < r.count && x < box.w; i++) {
			int end = rt_canvas_put(canvas, box, x, y, piece_text(&r, i),
						piece_at(&r, i)->ink);

			link_cells(&r, i, x);
			x = end;
		}
		if (match.size > 0)
			mark_matches(&r, match);
	}
}
