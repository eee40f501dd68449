/* SPDX-License-Identifier: MIT
 *
 * Tables: in columns, if each can have a minimal width; otherwise row by row, each cell after its
 * heading. */
#include "codec/json.h"
#include "terminal/lines_impl.h"

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
	size_t columns, rows; /* including the head */
	cell *cells;
	size_t cell_count, cell_capacity;
	int width[COLUMNS_MAX]; /* of the widest cell, then of the column */
	bool is_wrapped;
	uint32_t between, between_size, cross, cross_size;
} table;

static cell *
cell_at(const table *t, size_t row, size_t column)
{
	return &t->cells[row * t->columns + column];
}

/* Add all cells to one flow; missing ones are empty. */
static bool
read_row(table *t, yyjson_val *nodes, rt_ink ink)
{
	rt_layout *layout = t->layout;
	yyjson_arr_iter left = yyjson_arr_iter_with(nodes);

	for (size_t column = 0; column < t->columns; column++) {
		uint32_t from = rt_layout_end(layout);
		cell *c;

		layout->marks = 0;
		rt_flow_inlines(layout, yyjson_arr_iter_next(&left), ink);
		c = rt_lines_push(layout->lines, &t->cells, &t->cell_count, &t->cell_capacity,
				  sizeof(*c));
		if (c == NULL)
			return false;
		*c = (cell){.from = from, .to = rt_layout_end(layout)};
	}
	t->rows++;
	return true;
}

static bool
read_rows(table *t, yyjson_val *node)
{
	yyjson_val *rows = rt_json_get(node, "rows"), *row;
	size_t i, count;

	rt_flow_begin(t->layout);
	if (!read_row(t, rt_json_get(node, "head"), rt_ink_with(t->layout->ink, RT_INK_BOLD)))
		return false;
	yyjson_arr_foreach(rows, i, count, row)
		if (!read_row(t, row, t->layout->ink))
			return false;
	return true;
}

/* ---- columns ---- */

/* The widest line of a cell. */
static int
cell_width(const table *t, const cell *c, int limit)
{
	const char *ptr = t->layout->lines->text.ptr;
	int width = 0;

	for (uint32_t at = c->from, end; at < c->to && width <= limit; at = end + 1) {
		int line;

		for (end = at; end < c->to && ptr[end] != '\n';)
			end++;
		line = rt_layout_measure(t->layout, at, end, limit);
		width = line > width ? line : width;
	}
	return width;
}

/* Reduce the widest columns until all fit; false if that makes them too narrow. */
static bool
share_width(table *t, int available)
{
	int need = 0, left = available, count = (int)t->columns, open = count;
	bool is_settled[COLUMNS_MAX] = {false}, has_changed = true;

	for (int i = 0; i < count; i++)
		need += t->width[i] < NARROW ? t->width[i] : NARROW;
	if (need > available)
		return false;
	while (has_changed && open > 0) {
		int fair = left / open;

		has_changed = false;
		for (int i = 0; i < count; i++) {
			if (is_settled[i] || t->width[i] > fair)
				continue;
			is_settled[i] = has_changed = true;
			left -= t->width[i];
			open--;
		}
	}
	t->is_wrapped = open > 0;
	for (int i = 0; i < count; i++) {
		if (is_settled[i])
			continue;
		t->width[i] = left / open;
		left -= left / open--;
	}
	return true;
}

static bool
fits_in_columns(table *t)
{
	int available;

	if (t->columns > COLUMNS_MAX)
		return false;
	available = rt_layout_width(t->layout) - BETWEEN * ((int)t->columns - 1);
	if (available < (int)t->columns)
		return false;
	for (size_t column = 0; column < t->columns; column++) {
		t->width[column] = 1;
		for (size_t row = 0; row < t->rows; row++) {
			int width = cell_width(t, cell_at(t, row, column), available);

			if (width > t->width[column])
				t->width[column] = width;
		}
	}
	return share_width(t, available);
}

/* A line of a cell, or blanks. */
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
		rest = 0; /* a single character that is wider than its column */
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
	rt_row_begin(t->layout);
	for (size_t column = 0; column < t->columns; column++) {
		rt_row_rule(t->layout, t->width[column]);
		if (column + 1 < t->columns)
			rt_row_add(t->layout, t->cross, t->cross_size, RT_INK_BORDER);
	}
}

static void
write_row(table *t, size_t row, size_t *span)
{
	rt_layout *layout = t->layout;
	size_t spans[COLUMNS_MAX], height = 1;

	layout->range_count = 0;
	for (size_t column = 0; column < t->columns; column++) {
		cell *c = cell_at(t, row, column);

		/* The cell's first span; cells come in the order of the spans. */
		while (*span < layout->span_count &&
		       layout->spans[*span].from + layout->spans[*span].size <= c->from)
			++*span;
		spans[column] = *span;
		c->range = layout->range_count;
		rt_layout_wrap(layout, c->from, c->to, t->width[column]);
		c->range_count = layout->range_count - c->range;
		height = c->range_count > height ? c->range_count : height;
	}
	for (size_t line = 0; line < height && rt_layout_ok(layout); line++) {
		rt_row_begin(layout);
		for (size_t column = 0; column < t->columns; column++)
			write_cell(t, cell_at(t, row, column), column, line, &spans[column]);
	}
}

static void
write_columns(table *t)
{
	rt_layout *layout = t->layout;
	rt_buf *text = &layout->lines->text;
	size_t span = 0;

	t->between = rt_layout_end(layout);
	rt_buf_add_f(text, " %s ", layout->canvas.utf8 ? "│" : "|");
	t->between_size = rt_layout_end(layout) - t->between;
	t->cross = rt_layout_end(layout);
	rt_buf_add_c(text, layout->canvas.utf8 ? "─┼─" : "-+-");
	t->cross_size = rt_layout_end(layout) - t->cross;
	for (size_t row = 0; row < t->rows && rt_layout_ok(layout); row++) {
		write_row(t, row, &span);
		if (row == 0 || (t->is_wrapped && row + 1 < t->rows))
			write_rule(t);
	}
}

/* ---- row by row ---- */

/* The heading before a cell: all of it the first time, then a short form. */
static void
add_heading(table *t, const cell *head, bool is_whole)
{
	rt_layout *layout = t->layout;
	rt_ink ink = rt_ink_with(layout->ink, RT_INK_BOLD);
	rt_str label = rt_layout_text(layout, head->from, head->to), cut = label;

	if (label.size == 0)
		return;
	if (!is_whole)
		cut = rt_canvas_fit(&layout->canvas, label, 16, NULL);
	rt_flow_add_own(layout, head->from, (uint32_t)cut.size, ink);
	if (cut.size < label.size)
		rt_flow_add(layout, rt_canvas_glyph(&layout->canvas, RT_GLYPH_ELLIPSIS), ink, ' ');
	rt_flow_add(layout, RT_STR(": "), ink, ' ');
}

/* Copies of the cells, without the inks inside them. */
static void
write_list(table *t)
{
	rt_layout *layout = t->layout;
	rt_ink ink = t->rows > 1 ? layout->ink : rt_ink_with(layout->ink, RT_INK_BOLD);

	for (size_t row = t->rows > 1 ? 1 : 0; row < t->rows && rt_layout_ok(layout); row++) {
		if (row > 1)
			rt_layout_blank(layout);
		for (size_t column = 0; column < t->columns && rt_layout_ok(layout); column++) {
			const cell *c = cell_at(t, row, column);

			if (row > 1 && c->to == c->from)
				continue;
			rt_flow_begin(layout);
			if (row > 0)
				add_heading(t, cell_at(t, 0, column), row == 1);
			rt_flow_add_own(layout, c->from, c->to - c->from, ink);
			rt_flow_words(layout);
		}
	}
}

void
rt_layout_table(rt_layout *layout, yyjson_val *node)
{
	table t = {.layout = layout,
		   .align = rt_json_get(node, "align"),
		   .columns = yyjson_arr_size(rt_json_get(node, "head"))};

	if (t.columns > 0 && read_rows(&t, node)) {
		if (fits_in_columns(&t))
			write_columns(&t);
		else
			write_list(&t);
	}
	rt_free(layout->lines->alloc, t.cells);
}
