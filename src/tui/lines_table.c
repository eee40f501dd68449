/* SPDX-License-Identifier: MIT
 *
 * Tables: in columns, where each can have at least a little room; otherwise row by row, each
 * cell with its head before it. */
#include "codec/json.h"
#include "tui/lines_impl.h"

enum {
	NARROW = 8,    /* columns that any cell can be wrapped to */
	BETWEEN = 3,   /* " │ " */
	COLUMNS_MAX = 256
};

typedef struct cell {
	uint32_t from, to;
	size_t range, range_count; /* while its row is written */
} cell;

typedef struct table {
	rt_layout *layout;
	yyjson_val *align;
	size_t columns, rows; /* with the head */
	cell *cells;
	size_t cell_room;
	int width[COLUMNS_MAX]; /* columns that the widest cell has, then those it gets */
	bool is_wrapped;
	uint32_t between, between_size, cross, cross_size;
} table;

static cell *
cell_at(const table *t, size_t row, size_t column)
{
	return &t->cells[row * t->columns + column];
}

/* The widest line of a cell. */
static int
cell_width(const table *t, const cell *c, int limit)
{
	const char *ptr = t->layout->lines->text.ptr;
	uint32_t at = c->from, end;
	int width = 0, wide;

	while (at < c->to && width <= limit) {
		for (end = at; end < c->to && ptr[end] != '\n';)
			end++;
		wide = rt_layout_measure(t->layout, at, end, limit);
		width = wide > width ? wide : width;
		at = end + 1;
	}
	return width;
}

/* All cells into one flow; a row that has less of them gets empty ones. */
static bool
read_row(table *t, size_t row, yyjson_val *nodes, rt_ink ink)
{
	rt_layout *layout = t->layout;
	yyjson_arr_iter left = yyjson_arr_iter_with(nodes);
	yyjson_val *node;
	size_t column;

	for (column = 0; column < t->columns; column++) {
		cell *c, *cells = rt_lines_grow(layout->lines, t->cells, &t->cell_room,
						row * t->columns + column, sizeof(*cells));

		if (cells == NULL)
			return false;
		t->cells = cells;
		c = cell_at(t, row, column);
		*c = (cell){.from = (uint32_t)layout->lines->text.size};
		layout->marks = 0;
		node = yyjson_arr_iter_next(&left);
		if (node != NULL)
			rt_flow_inlines(layout, node, ink);
		c->to = (uint32_t)layout->lines->text.size;
	}
	return rt_layout_fine(layout);
}

static bool
read_all(table *t, yyjson_val *node)
{
	yyjson_arr_iter rows = yyjson_arr_iter_with(rt_json_get(node, "rows"));
	yyjson_val *row;

	rt_flow_begin(t->layout);
	if (!read_row(t, 0, rt_json_get(node, "head"), (rt_ink)(t->layout->ink | RT_INK_BOLD)))
		return false;
	for (t->rows = 1; (row = yyjson_arr_iter_next(&rows)) != NULL; t->rows++)
		if (!read_row(t, t->rows, row, t->layout->ink))
			return false;
	return true;
}

/* ---- columns ---- */

/* The widest ones get less until all fit; false when that is too little. */
static bool
share(table *t, int room)
{
	int need = 0, left = room, open = 0, fair, i, count = (int)t->columns;
	bool is_settled[COLUMNS_MAX] = {false}, has_changed = true;

	for (i = 0; i < count; i++)
		need += t->width[i] < NARROW ? t->width[i] : NARROW;
	if (need > room)
		return false;
	for (open = count; has_changed && open > 0;) {
		has_changed = false;
		fair = left / open;
		for (i = 0; i < count; i++) {
			if (is_settled[i] || t->width[i] > fair)
				continue;
			is_settled[i] = true;
			left -= t->width[i];
			open--;
			has_changed = true;
		}
	}
	t->is_wrapped = open > 0;
	for (i = 0; i < count; i++) {
		if (is_settled[i])
			continue;
		t->width[i] = left / open;
		left -= left / open--;
	}
	return true;
}

static bool
fits(table *t)
{
	int room = rt_layout_width(t->layout), i, count;
	size_t row, column;

	if (t->columns > COLUMNS_MAX)
		return false;
	count = (int)t->columns;
	room -= BETWEEN * (count - 1);
	if (room < count)
		return false;
	for (i = 0; i < count; i++)
		t->width[i] = 1;
	for (row = 0; row < t->rows; row++) {
		for (column = 0; column < t->columns; column++) {
			int wide = cell_width(t, cell_at(t, row, column), room);

			if (wide > t->width[column])
				t->width[column] = wide;
		}
	}
	return share(t, room);
}

/* Row number line of a cell, or blanks. */
static void
write_cell(table *t, const cell *c, size_t column, size_t line, size_t *span)
{
	rt_str align = rt_json_str(yyjson_arr_get(t->align, column));
	rt_range range = {0, 0, 0};
	int left = 0, rest;

	if (line < c->range_count)
		range = t->layout->ranges[c->range + line];
	rest = t->width[column] - range.width;
	if (rest < 0)
		rest = 0; /* one character that is wider than its column */
	if (rt_str_is(align, "right"))
		left = rest;
	else if (rt_str_is(align, "center"))
		left = rest / 2;
	rt_row_blanks(t->layout, left);
	if (range.to > range.from)
		rt_layout_range(t->layout, range, span);
	if (column + 1 < t->columns) {
		rt_row_blanks(t->layout, rest - left);
		rt_row_add(t->layout, t->between, t->between_size, RT_INK_BORDER);
	}
}

static void
write_rule(table *t)
{
	size_t column;

	rt_row_begin(t->layout);
	for (column = 0; column < t->columns; column++) {
		rt_row_rule(t->layout, t->width[column]);
		if (column + 1 < t->columns)
			rt_row_add(t->layout, t->cross, t->cross_size, RT_INK_BORDER);
	}
}

/* The first span that a cell has any of. Rows come in order, so it is looked for from the
 * last one on. */
static size_t
span_of(const rt_layout *layout, uint32_t from, size_t at)
{
	while (at < layout->span_count && layout->spans[at].from + layout->spans[at].size <= from)
		at++;
	return at;
}

static void
write_row(table *t, size_t row, size_t *span)
{
	rt_layout *layout = t->layout;
	size_t spans[COLUMNS_MAX], column, line, height = 1;

	layout->range_count = 0;
	for (column = 0; column < t->columns; column++) {
		cell *c = cell_at(t, row, column);

		*span = span_of(layout, c->from, *span);
		spans[column] = *span;
		c->range = layout->range_count;
		rt_layout_wrap(layout, c->from, c->to, t->width[column]);
		c->range_count = layout->range_count - c->range;
		height = c->range_count > height ? c->range_count : height;
	}
	for (line = 0; line < height && rt_layout_fine(layout); line++) {
		rt_row_begin(layout);
		for (column = 0; column < t->columns; column++)
			write_cell(t, cell_at(t, row, column), column, line, &spans[column]);
	}
}

static void
write_columns(table *t)
{
	rt_buf *text = &t->layout->lines->text;
	rt_str bar = rt_canvas_glyph(&t->layout->canvas, RT_GLYPH_VERTICAL);
	size_t row, span = 0;

	t->between = (uint32_t)text->size;
	rt_buf_add_byte(text, ' ');
	rt_buf_add_str(text, bar);
	rt_buf_add_byte(text, ' ');
	t->between_size = (uint32_t)text->size - t->between;
	t->cross = (uint32_t)text->size;
	rt_buf_add_c(text, t->layout->canvas.utf8 ? "─┼─" : "-+-");
	t->cross_size = (uint32_t)text->size - t->cross;
	for (row = 0; row < t->rows && rt_layout_fine(t->layout); row++) {
		write_row(t, row, &span);
		if (row == 0 || (t->is_wrapped && row + 1 < t->rows))
			write_rule(t);
	}
}

/* ---- row by row ---- */

/* The head of a column before a cell: all of it the first time, then what is a label. */
static void
add_head(table *t, const cell *head, bool is_whole)
{
	rt_layout *layout = t->layout;
	rt_ink ink = (rt_ink)(layout->ink | RT_INK_BOLD);
	rt_str label = rt_str_at(layout->lines->text.ptr + head->from, head->to - head->from);
	rt_str cut = label;

	if (label.size == 0)
		return;
	if (!is_whole)
		cut = rt_canvas_fit(&layout->canvas, label, 16, NULL);
	rt_flow_add_own(layout, head->from, (uint32_t)cut.size, ink);
	if (cut.size < label.size)
		rt_flow_add(layout, rt_canvas_glyph(&layout->canvas, RT_GLYPH_ELLIPSIS), ink, ' ');
	rt_flow_add(layout, RT_STR(": "), ink, ' ');
}

/* Cells once more, without the inks inside them. */
static void
write_rows(table *t)
{
	rt_layout *layout = t->layout;
	size_t row, column;

	for (row = t->rows > 1 ? 1 : 0; row < t->rows && rt_layout_fine(layout); row++) {
		if (row > 1)
			rt_layout_blank(layout);
		for (column = 0; column < t->columns && rt_layout_fine(layout); column++) {
			const cell *c = cell_at(t, row, column);

			if (row > 1 && c->to == c->from)
				continue;
			rt_flow_begin(layout);
			if (row > 0)
				add_head(t, cell_at(t, 0, column), row == 1);
			rt_flow_add_own(layout, c->from, c->to - c->from,
					row > 0 ? layout->ink
						: (rt_ink)(layout->ink | RT_INK_BOLD));
			rt_flow_words(layout);
		}
	}
}

void
rt_layout_table(rt_layout *layout, yyjson_val *node)
{
	table t = {.layout = layout, .align = rt_json_get(node, "align")};

	t.columns = yyjson_arr_size(rt_json_get(node, "head"));
	if (t.columns > 0 && read_all(&t, node)) {
		if (fits(&t))
			write_columns(&t);
		else
			write_rows(&t);
	}
	rt_free(layout->lines->alloc, t.cells);
}
