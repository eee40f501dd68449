/* SPDX-License-Identifier: MIT
 *
 * Edges and rows of a layout (see lines_impl.h). */
#include "terminal/lines_impl.h"

enum {
	TEXT_MAX = 0x70000000, /* offsets fit in 32 bits, with space for a row after them */
	URL_MAX = 2000         /* longer ones are refused by terminals */
};

/* ---- lines ---- */

void
rt_lines_init(rt_lines *lines, const rt_alloc *alloc)
{
	*lines = (rt_lines){.alloc = alloc};
	rt_buf_init(&lines->text, alloc, TEXT_MAX);
	rt_buf_init(&lines->urls, alloc, TEXT_MAX);
}

void
rt_lines_deinit(rt_lines *lines)
{
	rt_free(lines->alloc, lines->lines);
	rt_free(lines->alloc, lines->pieces);
	rt_free(lines->alloc, lines->links);
	rt_buf_deinit(&lines->text);
	rt_buf_deinit(&lines->urls);
	memset(lines, 0, sizeof(*lines));
}

void
rt_lines_clear(rt_lines *lines)
{
	rt_buf_clear(&lines->text);
	rt_buf_clear(&lines->urls);
	lines->count = lines->piece_count = lines->link_count = 0;
	lines->status = RT_OK;
}

void
rt_lines_fail(rt_lines *lines, rt_status st)
{
	if (lines->status == RT_OK)
		lines->status = st;
}

bool
rt_lines_ok(rt_lines *lines)
{
	rt_lines_fail(lines, lines->text.status);
	rt_lines_fail(lines, lines->urls.status);
	return lines->status == RT_OK;
}

void *
rt_lines_push(rt_lines *lines, void *items, size_t *count, size_t *capacity, size_t size)
{
	void *item;

	if (!rt_lines_ok(lines))
		return NULL;
	if (*count >= UINT32_MAX - 1) {
		rt_lines_fail(lines, RT_LIMIT);
		return NULL;
	}
	item = rt_array_add(lines->alloc, items, count, capacity, size);
	if (item == NULL)
		rt_lines_fail(lines, RT_NOMEM);
	return item;
}

rt_lines_mark
rt_lines_here(const rt_lines *lines)
{
	return (rt_lines_mark){lines->count, lines->piece_count, lines->text.size};
}

void
rt_lines_cut(rt_lines *lines, const rt_lines_mark *mark)
{
	RT_ASSERT(mark->count <= lines->count && mark->piece_count <= lines->piece_count &&
		  mark->text_size <= lines->text.size);
	lines->count = mark->count;
	lines->piece_count = mark->piece_count;
	lines->text.size = mark->text_size;
	if (lines->text.ptr != NULL)
		lines->text.ptr[mark->text_size] = 0;
	while (lines->link_count > 0 && lines->links[lines->link_count - 1].from >= mark->text_size)
		lines->urls.size = lines->links[--lines->link_count].at;
}

/* Can be followed, and written to a terminal as a link? Markup refuses other urls already; a terminal
 * must not be controlled by a mistake there. */
static bool
is_linkable(rt_str url)
{
	if (url.size > URL_MAX || (!rt_str_starts(url, RT_STR("http://")) &&
				   !rt_str_starts(url, RT_STR("https://")) &&
				   !rt_str_starts(url, RT_STR("mailto:"))))
		return false;
	for (size_t i = 0; i < url.size; i++)
		if (url.ptr[i] <= ' ' || url.ptr[i] >= 0x7F)
			return false;
	return true;
}

void
rt_layout_link(rt_layout *layout, uint32_t from, rt_str url)
{
	rt_lines *lines = layout->lines;
	uint32_t at = (uint32_t)lines->urls.size, to = rt_layout_end(layout);
	rt_lines_url *link;

	if (from == to || !is_linkable(url))
		return;
	rt_buf_add_str(&lines->urls, url);
	link = rt_lines_push(lines, &lines->links, &lines->link_count, &lines->link_capacity,
			     sizeof(*link));
	if (link != NULL)
		*link = (rt_lines_url){from, to, at, (uint32_t)url.size};
}

rt_str
rt_lines_url_at(const rt_lines *lines, const rt_piece *piece, uint32_t at, uint32_t *out_size)
{
	uint32_t byte = piece->from + at, end = piece->from + piece->size;
	size_t low = 0, high = lines->link_count;
	const rt_lines_url *link;

	*out_size = end - byte;
	while (low < high) { /* the first link that ends after the byte */
		size_t middle = low + (high - low) / 2;

		if (lines->links[middle].to > byte)
			high = middle;
		else
			low = middle + 1;
	}
	if (low == lines->link_count || lines->links[low].from >= end)
		return RT_STR("");
	link = &lines->links[low];
	if (link->from > byte) {
		*out_size = link->from - byte;
		return RT_STR("");
	}
	if (link->to < end)
		*out_size = link->to - byte;
	return rt_str_at(lines->urls.ptr + link->at, link->size);
}

/* Add to the last row. */
static void
add_piece(rt_lines *lines, uint32_t from, uint32_t size, rt_ink ink)
{
	rt_piece *piece = size == 0 ? NULL
				    : rt_lines_push(lines, &lines->pieces, &lines->piece_count,
						    &lines->piece_capacity, sizeof(*piece));

	if (piece == NULL)
		return;
	*piece = (rt_piece){from, size, ink};
	lines->lines[lines->count - 1].pieces++;
}

static bool
add_line(rt_lines *lines, int indent)
{
	uint32_t piece = (uint32_t)lines->piece_count;
	rt_line *line = rt_lines_push(lines, &lines->lines, &lines->count, &lines->capacity,
				      sizeof(*line));

	if (line != NULL)
		*line = (rt_line){piece, 0, (uint16_t)indent};
	return line != NULL;
}

void
rt_lines_add_row(rt_lines *lines, int indent, rt_str text, rt_ink ink)
{
	uint32_t from = (uint32_t)lines->text.size;

	rt_buf_add_str(&lines->text, text);
	indent = indent < 0 ? 0 : indent > RT_LAYOUT_COLUMNS_MAX ? RT_LAYOUT_COLUMNS_MAX : indent;
	if (add_line(lines, indent))
		add_piece(lines, from, (uint32_t)text.size, ink);
}

void
rt_lines_add_blank(rt_lines *lines)
{
	(void)add_line(lines, 0);
}

static void
add_times(rt_buf *buf, rt_str what, size_t times)
{
	while (times-- > 0 && buf->status == RT_OK)
		rt_buf_add_str(buf, what);
}

void
rt_lines_add_text(const rt_lines *lines, size_t at, rt_buf *buf)
{
	const rt_line *line = &lines->lines[at];

	RT_ASSERT(at < lines->count);
	add_times(buf, RT_STR(" "), line->indent);
	for (size_t i = line->piece; i < (size_t)line->piece + line->pieces; i++)
		rt_buf_add(buf, lines->text.ptr + lines->pieces[i].from, lines->pieces[i].size);
}

/* ---- layouts ---- */

void
rt_layout_init(rt_layout *layout, rt_lines *lines, const rt_lines_options *options)
{
	rt_edge *root = &layout->edges[0];

	RT_ASSERT(options->columns > 0);
	memset(layout, 0, sizeof(*layout));
	layout->lines = lines;
	rt_canvas_init(&layout->canvas, lines->alloc, options->utf8);
	layout->ink = options->ink;
	layout->columns = options->columns < RT_LAYOUT_COLUMNS_MAX ? options->columns
								   : RT_LAYOUT_COLUMNS_MAX;
	root->x = options->indent < 0 ? 0 : options->indent;
	if (root->x >= layout->columns)
		root->x = layout->columns - 1;
	layout->edge_count = 1;
}

void
rt_layout_deinit(rt_layout *layout)
{
	(void)rt_layout_ok(layout); /* notes a failure of the text */
	rt_free(layout->lines->alloc, layout->spans);
	rt_free(layout->lines->alloc, layout->ranges);
	rt_canvas_deinit(&layout->canvas);
}

void
rt_flow_add_own(rt_layout *layout, uint32_t from, uint32_t size, rt_ink ink)
{
	rt_buf *text = &layout->lines->text;

	/* With this capacity reserved the text does not move while it is copied: laid out text
	 * contains no tabs or controls, which would grow. */
	if (size > 0 && rt_buf_reserve(text, (size_t)size * 4 + 64) != NULL)
		rt_flow_add(layout, rt_str_at(text->ptr + from, size), ink, '\n');
}

/* ---- edges ---- */

static rt_edge *
top_edge(rt_layout *layout)
{
	return &layout->edges[layout->edge_count - 1];
}

static rt_edge *
push(rt_layout *layout, int width)
{
	const rt_edge *below = top_edge(layout);
	int root = layout->edges[0].x;
	rt_edge *edge;

	RT_ASSERT(layout->edge_count < RT_LAYOUT_EDGES);
	edge = &layout->edges[layout->edge_count++];
	*edge = *below;
	edge->own_size = edge->mark_size = 0;
	edge->is_pending = false;
	edge->is_flat = below->x + width - root > (layout->columns - root) / 2;
	if (!edge->is_flat)
		edge->x += width;
	return edge;
}

void
rt_layout_push(rt_layout *layout, int width, rt_str mark, rt_ink ink)
{
	rt_edge *edge = push(layout, width);

	edge->mark = rt_layout_end(layout);
	rt_buf_add_str(&layout->lines->text, mark);
	edge->mark_size = rt_layout_end(layout) - edge->mark;
	edge->mark_ink = ink;
	edge->is_pending = mark.size > 0;
}

void
rt_layout_push_bar(rt_layout *layout)
{
	rt_str bar = rt_canvas_glyph(&layout->canvas, RT_GLYPH_BAR);
	rt_edge below = *top_edge(layout);
	rt_edge *edge = push(layout, 2);
	rt_buf *text = &layout->lines->text;

	if (edge->is_flat)
		return;
	edge->bars = rt_layout_end(layout);
	if (below.bars_size == 0) {
		edge->bars_x = below.x;
	} else if (rt_buf_reserve(text, below.bars_size) != NULL) {
		rt_buf_add(text, text->ptr + below.bars, below.bars_size);
		add_times(text, RT_STR(" "), (size_t)(below.x - below.bars_end));
	}
	rt_buf_add_str(text, bar);
	rt_buf_add_byte(text, ' ');
	edge->own_size = (uint32_t)bar.size + 1;
	edge->bars_size = rt_layout_end(layout) - edge->bars;
	edge->bars_end = edge->x;
}

void
rt_layout_pop(rt_layout *layout)
{
	RT_ASSERT(layout->edge_count > 1);
	rt_layout_settle(layout);
	if (top_edge(layout)->is_pending)
		rt_row_begin(layout);
	layout->edge_count--;
}

int
rt_layout_width(const rt_layout *layout)
{
	int width = layout->columns - layout->edges[layout->edge_count - 1].x;

	return width < 1 ? 1 : width;
}

void
rt_layout_settle(rt_layout *layout)
{
	for (size_t i = 1; i < layout->edge_count; i++)
		if (layout->edges[i].is_pending && layout->edges[i].is_flat) {
			rt_flow_begin(layout);
			rt_flow_words(layout);
			return;
		}
}

/* ---- rows ---- */

void
rt_row_add(rt_layout *layout, uint32_t from, uint32_t size, rt_ink ink)
{
	add_piece(layout->lines, from, size, ink);
}

void
rt_row_blanks(rt_layout *layout, int count)
{
	if (count <= 0)
		return;
	if (layout->blanks_size < (uint32_t)count) {
		layout->blanks = rt_layout_end(layout);
		add_times(&layout->lines->text, RT_STR(" "), (size_t)count + 32);
		layout->blanks_size = rt_layout_end(layout) - layout->blanks;
	}
	rt_row_add(layout, layout->blanks, (uint32_t)count, RT_INK_TEXT);
}

void
rt_row_rule(rt_layout *layout, int width)
{
	rt_str glyph = rt_canvas_glyph(&layout->canvas, RT_GLYPH_HORIZONTAL);

	if (layout->rule_width < width) {
		layout->rule = rt_layout_end(layout);
		add_times(&layout->lines->text, glyph, (size_t)width);
		layout->rule_width = width;
	}
	rt_row_add(layout, layout->rule, (uint32_t)width * (uint32_t)glyph.size, RT_INK_BORDER);
}

void
rt_row_begin(rt_layout *layout)
{
	const rt_edge *edge;
	size_t first = 1;

	while (first < layout->edge_count &&
	       (!layout->edges[first].is_pending || layout->edges[first].is_flat))
		first++;
	edge = &layout->edges[first - 1];
	if (!add_line(layout->lines, edge->bars_size > 0 ? edge->bars_x : edge->x))
		return;
	if (edge->bars_size > 0) {
		rt_row_add(layout, edge->bars, edge->bars_size, RT_INK_QUOTE);
		rt_row_blanks(layout, edge->x - edge->bars_end);
	}
	for (size_t i = first; i < layout->edge_count; i++) {
		rt_edge *e = &layout->edges[i];

		if (e->is_flat)
			continue;
		if (e->is_pending)
			rt_row_add(layout, e->mark, e->mark_size, e->mark_ink);
		else if (e->own_size > 0)
			rt_row_add(layout, e->bars + e->bars_size - e->own_size, e->own_size,
				   RT_INK_QUOTE);
		else
			rt_row_blanks(layout, e->x - layout->edges[i - 1].x);
		e->is_pending = false;
	}
}

void
rt_layout_blank(rt_layout *layout)
{
	const rt_edge *edge = top_edge(layout);

	if (add_line(layout->lines, edge->bars_size > 0 ? edge->bars_x : 0))
		rt_row_add(layout, edge->bars, edge->bars_size, RT_INK_QUOTE);
}

void
rt_layout_range(rt_layout *layout, rt_range range, size_t *span)
{
	for (; *span < layout->span_count && layout->spans[*span].from < range.to; ++*span) {
		rt_piece at = layout->spans[*span];
		uint32_t end = at.from + at.size;
		uint32_t from = at.from > range.from ? at.from : range.from;
		uint32_t to = end < range.to ? end : range.to;

		if (from < to)
			rt_row_add(layout, from, to - from, at.ink);
		if (end > range.to)
			break;
	}
}
