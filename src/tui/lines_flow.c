/* SPDX-License-Identifier: MIT
 *
 * Flows of a layout: text made plain, and cut into rows.
 *
 * What a flow holds is measured without looking at inks. That is right as long as no span
 * begins with an accent, which would then stand alone: it is given to the span before it.
 *
 * Nothing is looked at more than a few times, however long a word or a row may be: a word is
 * read on from where it was left, and measured no further than the row is wide. */
#include "tui/lines_impl.h"
#include "app/width.h"

enum {
	COLUMN_BYTES = 64, /* a column is never more bytes than that */
	TAB = 8
};

/* ---- in ---- */

void
rt_flow_begin(rt_layout *layout)
{
	rt_edge *edge;
	size_t i;

	layout->flow = (uint32_t)layout->lines->text.size;
	layout->span_count = 0;
	layout->range_count = 0;
	layout->marks = 0;
	layout->column_at = layout->flow;
	layout->column = 0;
	for (i = 1; i < layout->edge_count; i++) {
		edge = &layout->edges[i];
		if (!edge->is_pending || !edge->is_flat)
			continue;
		edge->is_pending = false;
		rt_flow_add_own(layout, edge->mark, edge->mark_size, edge->mark_ink);
	}
}

/* The bytes from there on get an ink. */
static void
cover(rt_layout *layout, uint32_t from, rt_ink ink)
{
	rt_lines *lines = layout->lines;
	uint32_t size = (uint32_t)lines->text.size - from;
	rt_piece *last = layout->span_count > 0 ? &layout->spans[layout->span_count - 1] : NULL;
	rt_piece *spans;

	if (lines->text.status != RT_OK)
		rt_lines_fail(lines, lines->text.status);
	if (size == 0)
		return;
	if (last != NULL && last->ink == ink) {
		last->size += size;
		return;
	}
	spans = rt_lines_grow(lines, layout->spans, &layout->span_room, layout->span_count,
			      sizeof(*spans));
	if (spans == NULL)
		return;
	layout->spans = spans;
	layout->spans[layout->span_count++] = (rt_piece){from, size, ink};
}

static void
add_tab(rt_layout *layout)
{
	rt_buf *text = &layout->lines->text;
	uint32_t to = (uint32_t)text->size;
	int i, count;

	layout->column += rt_layout_measure(layout, layout->column_at, to, INT32_MAX / 2) % TAB;
	count = TAB - layout->column % TAB;
	for (i = 0; i < count; i++)
		rt_buf_add_byte(text, ' ');
	layout->column = 0;
	layout->column_at = (uint32_t)text->size;
}

/* Anything but plain ASCII; gives its bytes. */
static size_t
add_rune(rt_layout *layout, rt_str rest, char line_end, bool is_first)
{
	rt_rune rune = rt_rune_read(rest, layout->canvas.utf8);
	rt_buf *text = &layout->lines->text;
	char name[RT_RUNE_NAME_ROOM];

	switch (rune.kind) {
	case RT_RUNE_NOTHING: break;
	case RT_RUNE_TAB:
		if (line_end == '\n')
			add_tab(layout);
		else
			rt_buf_add_byte(text, ' ');
		break;
	case RT_RUNE_LINE:
		rt_buf_add_byte(text, line_end);
		layout->column = 0;
		layout->column_at = (uint32_t)text->size;
		break;
	case RT_RUNE_NAMED: rt_buf_add(text, name, rt_rune_name(rune.code, name)); break;
	case RT_RUNE_MARK:
		if (layout->marks++ >= RT_RUNE_MARKS)
			return rune.size;
		rt_buf_add(text, rest.ptr, rune.size);
		if (is_first && layout->span_count > 0 && text->status == RT_OK)
			layout->spans[layout->span_count - 1].size += (uint32_t)rune.size;
		return rune.size;
	case RT_RUNE_SHOWN:
		if (rune.code == 0xFFFD)
			rt_buf_add_c(text, "\xEF\xBF\xBD");
		else
			rt_buf_add(text, rest.ptr, rune.size);
		break;
	}
	if (rune.kind != RT_RUNE_NOTHING)
		layout->marks = 0;
	return rune.size;
}

void
rt_flow_add(rt_layout *layout, rt_str str, rt_ink ink, char line_end)
{
	rt_buf *text = &layout->lines->text;
	uint32_t from = (uint32_t)text->size;
	size_t at = 0, plain;

	while (at < str.size && text->status == RT_OK) {
		for (plain = at; plain < str.size && str.ptr[plain] >= 0x20 && str.ptr[plain] < 0x7F;)
			plain++;
		if (plain > at) {
			rt_buf_add(text, str.ptr + at, plain - at);
			layout->marks = 0;
			at = plain;
			continue;
		}
		at += add_rune(layout, rt_str_at(str.ptr + at, str.size - at), line_end,
			       text->size == from);
		/* What accents the span before it is its own. */
		if (layout->marks > 0 && layout->span_count > 0 &&
		    layout->spans[layout->span_count - 1].from +
				    layout->spans[layout->span_count - 1].size ==
			    text->size)
			from = (uint32_t)text->size;
	}
	cover(layout, from, ink);
}

/* ---- widths ---- */

static size_t
plain_run(rt_str text, size_t at)
{
	while (at < text.size && (unsigned char)text.ptr[at] < 0x80)
		at++;
	return at;
}

int
rt_layout_measure(const rt_layout *layout, uint32_t from, uint32_t to, int limit)
{
	rt_str text = from == to ? rt_str_at("", 0)
				 : rt_str_at(layout->lines->text.ptr + from, to - from);
	rt_str part, fits;
	int width = 0, used = 0;
	size_t at = 0, end;

	while (at < text.size && width <= limit) {
		end = plain_run(text, at);
		if (end < text.size && end > at)
			end--; /* what follows may be its accent */
		if (end - at > (size_t)(limit - width))
			return limit + 1;
		width += (int)(end - at);
		at = end;
		if (at == text.size)
			break;
		for (end = at + 1; end < text.size && (unsigned char)text.ptr[end] >= 0x80;)
			end++;
		part = rt_str_at(text.ptr + at, end - at);
		fits = rt_canvas_fit(&layout->canvas, part, limit - width, &used);
		if (fits.size < part.size)
			return limit + 1;
		width += used;
		at = end;
	}
	return width;
}

/* As much as fits, but at least something. */
static rt_range
fit(const rt_layout *layout, uint32_t from, uint32_t to, int width)
{
	const char *ptr = layout->lines->text.ptr;
	rt_range range = {from, from, 0};
	rt_rune rune;
	rt_str fits;

	/* A grapheme can be of any size: not all of it is looked at for each row. */
	if (to - from > (uint32_t)width * COLUMN_BYTES)
		to = from + (uint32_t)rt_utf8_cut(rt_str_at(ptr + from, to - from),
						  (size_t)width * COLUMN_BYTES);
	fits = rt_canvas_fit(&layout->canvas, rt_str_at(ptr + from, to - from), width, &range.width);
	range.to += (uint32_t)fits.size;
	/* One grapheme that is wider than the row: by its code points. */
	while (range.to < to && fits.size == 0) {
		rune = rt_rune_read(rt_str_at(ptr + range.to, to - range.to), layout->canvas.utf8);
		if (range.to > from && range.width + rune.width > width)
			break;
		if (range.to > from && ptr[range.to] == '\n')
			break;
		range.width += range.to == from && rune.width == 0 ? 1 : rune.width;
		range.to += (uint32_t)rune.size;
	}
	return range;
}

/* ---- words ---- */

static bool
is_between(uint32_t c, uint32_t first, uint32_t last)
{
	return c >= first && c <= last;
}

/* Scripts whose words have no blanks between them: a row may end at any character. */
static bool
is_ideograph(uint32_t c)
{
	return is_between(c, 0x2E80, 0x9FFF) || is_between(c, 0xAC00, 0xD7A3) ||
	       is_between(c, 0xF900, 0xFAFF) || is_between(c, 0xFF00, 0xFF60) ||
	       is_between(c, 0x20000, 0x3FFFF);
}

/* What must not begin a row. */
static bool
is_closing(uint32_t c)
{
	return c == 0x3001 || c == 0x3002 || is_between(c, 0xFF09, 0xFF0C) || c == 0xFF0E ||
	       c == 0xFF01 || c == 0xFF1A || c == 0xFF1B || c == 0xFF1F || c == 0x300D ||
	       c == 0x300F || c == 0x3011 || c == 0x300B || c == 0x3009;
}

/* The end of the word at from, or a place in it at or after stop. known: as far as it is
 * known to be one word. */
static uint32_t
word_end(const rt_layout *layout, uint32_t from, uint32_t to, uint32_t known, uint32_t stop)
{
	const char *ptr = layout->lines->text.ptr;
	uint32_t at = known > from ? known : from;
	bool is_alone = false;
	rt_rune rune;

	while (at < to && at < stop && ptr[at] != ' ' && ptr[at] != '\n') {
		if ((unsigned char)ptr[at] < 0x80) {
			if (is_alone)
				break;
			at++;
			continue;
		}
		rune = rt_rune_read(rt_str_at(ptr + at, to - at), layout->canvas.utf8);
		if (rune.kind != RT_RUNE_MARK && !is_closing(rune.code)) {
			if (at > from && (is_alone || is_ideograph(rune.code)))
				break;
			is_alone = is_ideograph(rune.code);
		}
		at += (uint32_t)rune.size;
	}
	return at;
}

static void
add_range(rt_layout *layout, rt_range range)
{
	rt_range *ranges = rt_lines_grow(layout->lines, layout->ranges, &layout->range_room,
					 layout->range_count, sizeof(*ranges));

	if (ranges == NULL)
		return;
	layout->ranges = ranges;
	layout->ranges[layout->range_count++] = range;
}

/* One row from *at on, up to a "\n"; *at: where the next one begins. */
static rt_range
wrap_row(const rt_layout *layout, uint32_t *at, uint32_t to, int width, uint32_t *known)
{
	const char *ptr = layout->lines->text.ptr;
	rt_range row = {*at, *at, 0};
	uint32_t word, end, stop;
	int gap, wide;

	for (;;) {
		for (word = row.to; word < to && ptr[word] == ' ';)
			word++;
		if (word == to || ptr[word] == '\n') {
			gap = word - row.to < (uint32_t)(width - row.width) ? (int)(word - row.to)
									    : width - row.width;
			row.to += (uint32_t)gap;
			row.width += gap;
			*at = word;
			return row;
		}
		stop = word + (uint32_t)width * COLUMN_BYTES;
		end = word_end(layout, word, to, *known, stop);
		*known = end;
		gap = word - row.to < (uint32_t)width ? (int)(word - row.to) : width;
		wide = end < stop ? rt_layout_measure(layout, word, end, width) : width + 1;
		if (row.width + gap + wide <= width) {
			row.width += gap + wide;
			row.to = end;
			continue;
		}
		*at = word;
		/* The row's first word does not fit behind the blanks before it. */
		if (row.to == row.from && wide <= width) {
			row = (rt_range){word, end, wide};
			continue;
		}
		if (row.to > row.from)
			return row;
		row = fit(layout, word, end, width);
		*at = row.to;
		return row;
	}
}

void
rt_layout_wrap(rt_layout *layout, uint32_t from, uint32_t to, int width)
{
	const char *ptr = layout->lines->text.ptr;
	uint32_t at = from, known = from;

	if (!rt_layout_fine(layout) || layout->lines->text.status != RT_OK)
		return;
	while (rt_layout_fine(layout)) {
		add_range(layout, wrap_row(layout, &at, to, width, &known));
		if (at >= to)
			break;
		if (ptr[at] == '\n')
			at++;
	}
}

/* ---- out ---- */

static void
write_ranges(rt_layout *layout)
{
	size_t i, span = 0;

	for (i = 0; i < layout->range_count && rt_layout_fine(layout); i++) {
		rt_row_begin(layout);
		rt_layout_range(layout, layout->ranges[i], &span);
	}
	layout->range_count = 0;
	layout->span_count = 0;
}

void
rt_flow_words(rt_layout *layout)
{
	uint32_t to = (uint32_t)layout->lines->text.size;

	cover(layout, to, layout->ink); /* notices a failure */
	rt_layout_wrap(layout, layout->flow, to, rt_layout_width(layout));
	write_ranges(layout);
}

void
rt_flow_code(rt_layout *layout)
{
	uint32_t to = (uint32_t)layout->lines->text.size, at = layout->flow;
	int width = rt_layout_width(layout);
	rt_range range;

	cover(layout, to, layout->ink);
	do {
		if (!rt_layout_fine(layout))
			break;
		range = (rt_range){at, at, 0};
		if (at < to)
			range = fit(layout, at, to, width);
		add_range(layout, range);
		at = range.to;
	} while (at < to);
	write_ranges(layout);
}

void
rt_layout_plain(rt_layout *layout, rt_str text)
{
	const char *end;
	size_t at = 0, size;

	while (at < text.size && rt_layout_fine(layout)) {
		end = memchr(text.ptr + at, '\n', text.size - at);
		size = (end == NULL ? text.size : (size_t)(end - text.ptr)) - at;
		rt_flow_begin(layout);
		rt_flow_add(layout, rt_str_at(text.ptr + at, size - (end != NULL && size > 0 &&
								     end[-1] == '\r')),
			    layout->ink, '\n');
		rt_flow_words(layout);
		at += size + 1;
	}
}

void
rt_lines_add_plain(rt_lines *lines, rt_str text, const rt_lines_options *options)
{
	rt_layout layout;

	rt_layout_init(&layout, lines, options);
	rt_layout_plain(&layout, text);
	rt_layout_deinit(&layout);
}
