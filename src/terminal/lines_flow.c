/* SPDX-License-Identifier: MIT
 *
 * Flows of a layout: text made plain, and cut into rows.
 *
 * A flow is measured without regard to inks, which is right as long as no span begins with an
 * accent: an accent belongs to the span before it.
 *
 * No byte is visited more than a few times, however long a word or a row is: a word is read on
 * from where reading it stopped, and measured only up to the width of the row. */
#include "terminal/lines_impl.h"
#include "app/width.h"

enum {
	COLUMN_BYTES = 64, /* a column never has more bytes */
	TAB = 8
};

/* ---- in ---- */

void
rt_flow_begin(rt_layout *layout)
{
	layout->flow = layout->column_at = rt_layout_end(layout);
	layout->span_count = layout->range_count = 0;
	layout->marks = 0;
	layout->column = 0;
	for (size_t i = 1; i < layout->edge_count; i++) {
		rt_edge *edge = &layout->edges[i];

		if (!edge->is_pending || !edge->is_flat)
			continue;
		edge->is_pending = false;
		rt_flow_add_own(layout, edge->mark, edge->mark_size, edge->mark_ink);
	}
}

static rt_piece *
last_span(rt_layout *layout)
{
	return layout->span_count > 0 ? &layout->spans[layout->span_count - 1] : NULL;
}

/* Give the bytes from there on an ink. */
static void
cover(rt_layout *layout, uint32_t from, rt_ink ink)
{
	uint32_t size = rt_layout_end(layout) - from;
	rt_piece *span = last_span(layout);

	if (size == 0)
		return;
	if (span != NULL && span->ink == ink) {
		span->size += size;
		return;
	}
	span = rt_lines_push(layout->lines, &layout->spans, &layout->span_count,
			     &layout->span_capacity, sizeof(*span));
	if (span != NULL)
		*span = (rt_piece){from, size, ink};
}

/* The last line begins here, or a tab stop. */
static void
reset_column(rt_layout *layout)
{
	layout->column = 0;
	layout->column_at = rt_layout_end(layout);
}

static void
add_tab(rt_layout *layout)
{
	int column = layout->column + rt_layout_measure(layout, layout->column_at,
							rt_layout_end(layout), INT32_MAX / 2);

	for (int i = column % TAB; i < TAB; i++)
		rt_buf_add_byte(&layout->lines->text, ' ');
	reset_column(layout);
}

/* Anything but plain ASCII; returns its bytes. */
static size_t
add_rune(rt_layout *layout, rt_str rest, char line_end, bool is_first)
{
	rt_rune rune = rt_rune_read(rest, layout->canvas.utf8);
	rt_buf *text = &layout->lines->text;
	char name[RT_RUNE_NAME_ROOM];

	switch (rune.kind) {
	case RT_RUNE_NOTHING: return rune.size;
	case RT_RUNE_MARK:
		if (layout->marks++ >= RT_RUNE_MARKS)
			return rune.size;
		rt_buf_add(text, rest.ptr, rune.size);
		if (is_first && layout->span_count > 0 && text->status == RT_OK)
			last_span(layout)->size += (uint32_t)rune.size;
		return rune.size;
	case RT_RUNE_TAB:
		if (line_end == '\n')
			add_tab(layout);
		else
			rt_buf_add_byte(text, ' ');
		break;
	case RT_RUNE_LINE:
		rt_buf_add_byte(text, line_end);
		reset_column(layout);
		break;
	case RT_RUNE_NAMED: rt_buf_add(text, name, rt_rune_name(rune.code, name)); break;
	case RT_RUNE_SHOWN:
		if (rune.code == 0xFFFD)
			rt_buf_add_c(text, "\xEF\xBF\xBD");
		else
			rt_buf_add(text, rest.ptr, rune.size);
		break;
	}
	layout->marks = 0;
	return rune.size;
}

void
rt_flow_add(rt_layout *layout, rt_str str, rt_ink ink, char line_end)
{
	rt_buf *text = &layout->lines->text;
	uint32_t from = rt_layout_end(layout);

	for (size_t at = 0; at < str.size && text->status == RT_OK;) {
		size_t plain = at;

		while (plain < str.size && str.ptr[plain] >= 0x20 && str.ptr[plain] < 0x7F)
			plain++;
		if (plain > at) {
			rt_buf_add(text, str.ptr + at, plain - at);
			layout->marks = 0;
			at = plain;
			continue;
		}
		at += add_rune(layout, rt_str_at(str.ptr + at, str.size - at), line_end,
			       text->size == from);
		/* Accents on the span before it belong to that. */
		if (layout->marks > 0 && layout->span_count > 0 &&
		    last_span(layout)->from + last_span(layout)->size == text->size)
			from = rt_layout_end(layout);
	}
	cover(layout, from, ink);
}

/* ---- widths ---- */

int
rt_layout_measure(const rt_layout *layout, uint32_t from, uint32_t to, int limit)
{
	rt_str text = rt_layout_text(layout, from, to);
	int width = 0, used = 0;
	size_t at = 0;

	while (at < text.size && width <= limit) {
		size_t end = at;
		rt_str part;

		while (end < text.size && (unsigned char)text.ptr[end] < 0x80)
			end++;
		if (end < text.size && end > at)
			end--; /* an accent on it may follow */
		if (end - at > (size_t)(limit - width))
			return limit + 1;
		width += (int)(end - at);
		at = end;
		if (at == text.size)
			break;
		for (end = at + 1; end < text.size && (unsigned char)text.ptr[end] >= 0x80;)
			end++;
		part = rt_str_at(text.ptr + at, end - at);
		if (rt_canvas_fit(&layout->canvas, part, limit - width, &used).size < part.size)
			return limit + 1;
		width += used;
		at = end;
	}
	return width;
}

/* As much as fits, and at least something. */
static rt_range
fit(const rt_layout *layout, uint32_t from, uint32_t to, int width)
{
	const char *ptr = layout->lines->text.ptr;
	rt_range range = {from, from, 0};
	rt_str fits;

	/* A grapheme may be of any size: do not read all of it for each row. */
	if (to - from > (uint32_t)width * COLUMN_BYTES)
		to = from + (uint32_t)rt_utf8_cut(rt_str_at(ptr + from, to - from),
						  (size_t)width * COLUMN_BYTES);
	fits = rt_canvas_fit(&layout->canvas, rt_str_at(ptr + from, to - from), width,
			     &range.width);
	range.to += (uint32_t)fits.size;
	/* A grapheme that is wider than the row is cut between its code points. */
	while (range.to < to && fits.size == 0) {
		rt_rune rune = rt_rune_read(rt_str_at(ptr + range.to, to - range.to),
					    layout->canvas.utf8);

		if (range.to > from && (range.width + rune.width > width || ptr[range.to] == '\n'))
			break;
		range.width += range.to == from && rune.width == 0 ? 1 : rune.width;
		range.to += (uint32_t)rune.size;
	}
	return range;
}

/* ---- words ---- */

typedef struct runes {
	uint32_t first, last;
} runes;

static bool
is_one_of(uint32_t c, const runes *ranges, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (c >= ranges[i].first && c <= ranges[i].last)
			return true;
	return false;
}

/* Scripts that write words without blanks: a row may end at any character. */
static bool
is_ideograph(uint32_t c)
{
	static const runes ideographs[] = {{0x2E80, 0x9FFF},
					   {0xAC00, 0xD7A3},
					   {0xF900, 0xFAFF},
					   {0xFF00, 0xFF60},
					   {0x20000, 0x3FFFF}};

	return is_one_of(c, ideographs, sizeof(ideographs) / sizeof(ideographs[0]));
}

/* Punctuation that must not begin a row. */
static bool
is_closing(uint32_t c)
{
	static const runes closing[] = {{0x3001, 0x3002}, {0x3009, 0x3009}, {0x300B, 0x300B},
					{0x300D, 0x300D}, {0x300F, 0x300F}, {0x3011, 0x3011},
					{0xFF01, 0xFF01}, {0xFF09, 0xFF0C}, {0xFF0E, 0xFF0E},
					{0xFF1A, 0xFF1B}, {0xFF1F, 0xFF1F}};

	return is_one_of(c, closing, sizeof(closing) / sizeof(closing[0]));
}

/* The end of the word at from, or a position in it at or after stop. known: it is known to be one
 * word up to there. */
static uint32_t
word_end(const rt_layout *layout, uint32_t from, uint32_t to, uint32_t known, uint32_t stop)
{
	const char *ptr = layout->lines->text.ptr;
	uint32_t at = known > from ? known : from;
	bool is_alone = false;

	while (at < to && at < stop && ptr[at] != ' ' && ptr[at] != '\n') {
		rt_rune rune;

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
	rt_range *added = rt_lines_push(layout->lines, &layout->ranges, &layout->range_count,
					&layout->range_capacity, sizeof(*added));

	if (added != NULL)
		*added = range;
}

/* One row from *at up to a "\n"; *at: the beginning of the next one. */
static rt_range
wrap_row(const rt_layout *layout, uint32_t *at, uint32_t to, int width, uint32_t *known)
{
	const char *ptr = layout->lines->text.ptr;
	rt_range row = {*at, *at, 0};

	for (;;) {
		uint32_t word = row.to, stop, end;
		int gap, wide;

		while (word < to && ptr[word] == ' ')
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
		end = *known = word_end(layout, word, to, *known, stop);
		gap = word - row.to < (uint32_t)width ? (int)(word - row.to) : width;
		wide = end < stop ? rt_layout_measure(layout, word, end, width) : width + 1;
		if (row.width + gap + wide <= width) {
			row.width += gap + wide;
			row.to = end;
			continue;
		}
		*at = word;
		if (row.to > row.from)
			return row;
		if (wide > width) {
			row = fit(layout, word, end, width);
			*at = row.to;
			return row;
		}
		row = (rt_range){word, end, wide}; /* without the blanks before it */
	}
}

void
rt_layout_wrap(rt_layout *layout, uint32_t from, uint32_t to, int width)
{
	uint32_t at = from, known = from;

	while (rt_layout_ok(layout)) {
		add_range(layout, wrap_row(layout, &at, to, width, &known));
		if (at >= to)
			break;
		at += layout->lines->text.ptr[at] == '\n';
	}
}

/* ---- out ---- */

static void
write_ranges(rt_layout *layout)
{
	size_t span = 0;

	for (size_t i = 0; i < layout->range_count && rt_layout_ok(layout); i++) {
		rt_row_begin(layout);
		rt_layout_range(layout, layout->ranges[i], &span);
	}
	layout->range_count = layout->span_count = 0;
}

void
rt_flow_words(rt_layout *layout)
{
	rt_layout_wrap(layout, layout->flow, rt_layout_end(layout), rt_layout_width(layout));
	write_ranges(layout);
}

void
rt_flow_code(rt_layout *layout)
{
	uint32_t to = rt_layout_end(layout), at = layout->flow;

	while (rt_layout_ok(layout)) {
		rt_range range = {at, at, 0};

		if (at < to)
			range = fit(layout, at, to, rt_layout_width(layout));
		add_range(layout, range);
		at = range.to;
		if (at >= to)
			break;
	}
	write_ranges(layout);
}

void
rt_flow_line(rt_layout *layout, rt_str text, rt_ink ink, char line_end)
{
	rt_flow_begin(layout);
	rt_flow_add(layout, text, ink, line_end);
	rt_flow_words(layout);
}

bool
rt_next_line(rt_str text, size_t *at, rt_str *out_line)
{
	const char *from, *end;

	if (*at >= text.size)
		return false;
	from = text.ptr + *at;
	end = memchr(from, '\n', text.size - *at);
	*out_line = rt_str_at(from, end == NULL ? text.size - *at : (size_t)(end - from));
	*at += out_line->size + 1;
	if (end != NULL && out_line->size > 0 && end[-1] == '\r')
		out_line->size--;
	return true;
}

void
rt_layout_plain(rt_layout *layout, rt_str text)
{
	size_t at = 0;
	rt_str line;

	while (rt_layout_ok(layout) && rt_next_line(text, &at, &line))
		rt_flow_line(layout, line, layout->ink, '\n');
}

void
rt_lines_add_plain(rt_lines *lines, rt_str text, const rt_lines_options *options)
{
	rt_layout layout;

	rt_layout_init(&layout, lines, options);
	rt_layout_plain(&layout, text);
	rt_layout_deinit(&layout);
}
