/* SPDX-License-Identifier: MIT
 *
 * Rows are computed from the top as far as they are needed, and kept. A change drops those from a
 * little before it on, so typing costs one row, wherever in ten megabytes it happens. */
#include "terminal/field_impl.h"

#include "app/width.h"

enum { LOOK_BACK = 256 /* bytes in which a boundary is searched for */ };

static rt_str
from(const rt_field *field, size_t at)
{
	return rt_str_at(field->text.ptr + at, field->text.size - at);
}

/* ---- graphemes ---- */

size_t
rt_field_next(const rt_field *field, size_t at)
{
	return at >= field->text.size ? field->text.size : at + rt_rune_grapheme(from(field, at));
}

static bool
is_plain(char c)
{
	return (unsigned char)c < 0x80;
}

/* A boundary not far before at; there is one between any two ASCII characters. */
static size_t
boundary_before(const rt_field *field, size_t at)
{
	const char *text = field->text.ptr;
	size_t least = at > LOOK_BACK ? at - LOOK_BACK : 0;

	while (at > least && !(at + 1 <= field->text.size && is_plain(text[at]) && is_plain(text[at - 1])))
		at--;
	while (at > 0 && at < field->text.size && ((unsigned char)text[at] & 0xC0) == 0x80)
		at--;
	return at;
}

size_t
rt_field_snap(const rt_field *field, size_t at)
{
	size_t here, next;

	if (at >= field->text.size)
		return field->text.size;
	here = at == 0 ? 0 : boundary_before(field, at);
	while ((next = rt_field_next(field, here)) <= at)
		here = next;
	return here;
}

size_t
rt_field_previous(const rt_field *field, size_t at)
{
	return at == 0 ? 0 : rt_field_snap(field, at - 1);
}

/* ---- rows ---- */

/* The beginning of the next row; SIZE_MAX: this is the last. The last column is reserved for the
 * cursor. */
static size_t
next_row(const rt_field *field, size_t start)
{
	int limit = field->columns > 1 ? field->columns - 1 : 1, column = 0;
	size_t at = start, space = start;

	while (at < field->text.size) {
		rt_str rest = from(field, at);
		size_t size = rt_rune_grapheme(rest);
		bool is_space = rest.ptr[0] == ' ' || rest.ptr[0] == '\t';
		int width;

		if (rest.ptr[0] == '\n')
			return at + 1;
		width = rt_rune_columns(rt_str_at(rest.ptr, size), field->utf8, column);
		if (column + width > limit && at > start) {
			if (is_space) /* may be beyond the edge */
				return at + size;
			return space > start ? space : at;
		}
		at += size;
		column += width;
		if (is_space)
			space = at;
	}
	return SIZE_MAX;
}

static bool
add_row(rt_field *field, size_t at)
{
	size_t *row = rt_array_add(field->alloc, &field->rows, &field->row_count,
				   &field->row_capacity, sizeof(*row));

	if (row != NULL)
		*row = at;
	return row != NULL;
}

/* Computes rows up to this one; false: there are fewer. */
static bool
has_row(rt_field *field, size_t row)
{
	if (field->row_count == 0 && !add_row(field, 0))
		return false;
	while (!field->has_all_rows && field->row_count <= row) {
		size_t next = next_row(field, field->rows[field->row_count - 1]);

		/* Without memory the rest is one row. */
		field->has_all_rows = next == SIZE_MAX || !add_row(field, next);
	}
	return row < field->row_count;
}

void
rt_field_wrap(rt_field *field, int columns, bool utf8)
{
	columns = columns > 0 ? columns : 1;
	if (columns == field->columns && utf8 == field->utf8)
		return;
	field->columns = columns;
	field->utf8 = utf8;
	field->row_count = 0;
	field->has_all_rows = false;
}

/* The row of an offset, among the computed ones. */
static size_t
find_row(const rt_field *field, size_t at)
{
	size_t low = 0, high = field->row_count;

	while (high - low > 1) {
		size_t mid = low + (high - low) / 2;

		if (field->rows[mid] <= at)
			low = mid;
		else
			high = mid;
	}
	return low;
}

void
rt_field_rows_changed(rt_field *field, size_t at)
{
	size_t row;

	if (field->row_count == 0)
		return;
	row = find_row(field, at);
	/* A word may move back to the previous row. */
	field->row_count = row > 2 ? row - 1 : 1;
	field->has_all_rows = false;
}

/* The end of a row's text, without its line end. */
static size_t
row_end(rt_field *field, size_t row)
{
	size_t end = has_row(field, row + 1) ? field->rows[row + 1] : field->text.size;

	return end > field->rows[row] && field->text.ptr[end - 1] == '\n' ? end - 1 : end;
}

size_t
rt_field_row_of(rt_field *field, size_t at, int *out_column)
{
	size_t row, i;
	int column = 0;

	*out_column = 0;
	if (!has_row(field, 0))
		return 0;
	while (field->rows[field->row_count - 1] <= at && !field->has_all_rows)
		(void)has_row(field, field->row_count);
	row = find_row(field, at);
	for (i = field->rows[row]; i < at;) {
		size_t size = rt_rune_grapheme(from(field, i));

		column += rt_rune_columns(rt_str_at(field->text.ptr + i, size), field->utf8, column);
		i += size;
	}
	*out_column = column;
	return row;
}

size_t
rt_field_place(rt_field *field, size_t row, int column)
{
	int used = 0;
	size_t at, end;

	if (!has_row(field, row))
		return SIZE_MAX;
	end = row_end(field, row);
	/* After the last character of a wrapped row the cursor would be in the next one. */
	if (has_row(field, row + 1) && field->rows[row + 1] == end && end > field->rows[row])
		end = rt_field_previous(field, end);
	for (at = field->rows[row]; at < end;) {
		size_t size = rt_rune_grapheme(from(field, at));

		used += rt_rune_columns(rt_str_at(field->text.ptr + at, size), field->utf8, used);
		if (used > column)
			break;
		at += size;
	}
	return at;
}

int
rt_field_rows(rt_field *field, const rt_canvas *canvas, int columns, int limit)
{
	size_t most = limit > 1 ? (size_t)limit : 1;

	rt_field_wrap(field, columns, canvas->utf8);
	(void)has_row(field, most - 1);
	if (field->row_count < 1)
		return 1;
	return (int)(field->row_count < most ? field->row_count : most);
}

/* A single line in one row is not wrapped but scrolled, so that the text up to the cursor is visible,
 * with an ellipsis for the part that is cut off at the left. */
static void
draw_line(const rt_field *field, rt_canvas *canvas, rt_box box, rt_ink ink, bool has_cursor)
{
	rt_str dots = rt_canvas_glyph(canvas, RT_GLYPH_ELLIPSIS);
	int dots_width = rt_canvas_width(canvas, dots), used = 0, used_cut = 0, x = 0;
	size_t at = field->cursor, start = at; /* start: of the text after the ellipsis */

	while (at > 0) {
		size_t before = rt_field_previous(field, at);

		used += rt_rune_columns(rt_str_at(field->text.ptr + before, at - before),
					canvas->utf8, 0);
		if (used >= box.w) /* the last column is for the cursor */
			break;
		at = before;
		if (used + dots_width < box.w) {
			start = at;
			used_cut = used;
		}
	}
	if (at == 0) {
		start = 0;
		used_cut = used;
	} else {
		x = rt_canvas_put(canvas, box, 0, 0, rt_canvas_fit(canvas, dots, box.w, NULL), ink);
	}
	if (start < field->text.size)
		(void)rt_canvas_put(canvas, box, x, 0,
				    rt_canvas_fit(canvas, from(field, start), box.w - x, NULL), ink);
	if (has_cursor)
		rt_canvas_cursor(canvas, box, x + used_cut < box.w ? x + used_cut : box.w - 1, 0);
}

void
rt_field_draw(rt_field *field, rt_canvas *canvas, rt_box box, rt_ink ink, bool has_cursor)
{
	size_t row, height = box.h > 0 ? (size_t)box.h : 0, y;
	int column;

	rt_canvas_fill(canvas, box, ink);
	if (!field->several_lines && height == 1 && box.w > 0) {
		draw_line(field, canvas, box, ink, has_cursor);
		return;
	}
	rt_field_wrap(field, box.w, canvas->utf8);
	row = rt_field_row_of(field, field->cursor, &column);
	if (height == 0 || field->row_count == 0)
		return;
	if (row < field->top)
		field->top = row;
	if (row >= field->top + height)
		field->top = row - height + 1;
	/* No blank rows below while there is text above. */
	if (!has_row(field, field->top + height - 1))
		field->top = field->row_count > height ? field->row_count - height : 0;
	for (y = 0; y < height && has_row(field, field->top + y); y++) {
		size_t start = field->rows[field->top + y], end = row_end(field, field->top + y);

		/* An empty field has no text to point into. */
		if (end > start)
			(void)rt_canvas_put(canvas, box, 0, (int)y,
					    rt_str_at(field->text.ptr + start, end - start), ink);
	}
	if (has_cursor)
		rt_canvas_cursor(canvas, box, column < box.w ? column : box.w - 1,
				 (int)(row - field->top));
}
