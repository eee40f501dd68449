/* SPDX-License-Identifier: MIT
 *
 * All drawing goes through set_cell, which clips, and replaces a wide character that loses one of its
 * columns by a blank. */
#include "terminal/canvas.h"

#include <stdarg.h>
#include <stdio.h>

#include "app/width.h"
#include "base/hash.h"
#include "base/scope.h"

enum {
	LINE_SIZE = 512,
	NAME_END = 8, /* columns at the end of a name that survive cutting */
	URLS_MAX = 1 << 20
};

static const rt_canvas_cell blank = {' ', {0, 0, 0}, 0, RT_INK_TEXT, 1};

void
rt_canvas_init(rt_canvas *canvas, const rt_alloc *alloc, bool utf8)
{
	*canvas = (rt_canvas){.alloc = alloc, .utf8 = utf8, .cursor_x = -1, .cursor_y = -1};
	rt_buf_init(&canvas->urls, alloc, URLS_MAX);
}

void
rt_canvas_deinit(rt_canvas *canvas)
{
	rt_free(canvas->alloc, canvas->cells);
	rt_buf_deinit(&canvas->urls);
	canvas->cells = NULL;
	canvas->columns = canvas->rows = 0;
}

static int
between(int number, int least, int most)
{
	return number < least ? least : number > most ? most : number;
}

rt_status
rt_canvas_resize(rt_canvas *canvas, int columns, int rows)
{
	rt_canvas_cell *cells;

	columns = between(columns, 1, RT_CANVAS_COLUMNS_MAX);
	rows = between(rows, 1, RT_CANVAS_ROWS_MAX);
	cells = rt_new_array(canvas->alloc, (size_t)columns * (size_t)rows, sizeof(*cells));
	if (cells == NULL)
		return RT_NOMEM;
	rt_free(canvas->alloc, canvas->cells);
	canvas->cells = cells;
	canvas->columns = columns;
	canvas->rows = rows;
	rt_canvas_clear(canvas);
	return RT_OK;
}

void
rt_canvas_clear(rt_canvas *canvas)
{
	size_t count = (size_t)canvas->columns * (size_t)canvas->rows;

	for (size_t i = 0; i < count; i++)
		canvas->cells[i] = blank;
	canvas->cursor_x = canvas->cursor_y = -1;
	rt_buf_clear(&canvas->urls);
}

rt_box
rt_canvas_box(const rt_canvas *canvas)
{
	return (rt_box){0, 0, canvas->columns, canvas->rows};
}

/* The intersection of two ranges: its start, and *out_size. */
static int
meet(int a, int a_size, int b, int b_size, int *out_size)
{
	long long from = a > b ? a : b, a_end = (long long)a + a_size, b_end = (long long)b + b_size;
	long long end = a_end < b_end ? a_end : b_end;

	*out_size = end > from ? (int)(end - from) : 0;
	return (int)from;
}

rt_box
rt_box_within(rt_box box, rt_box outer)
{
	rt_box in;

	in.x = meet(box.x, box.w, outer.x, outer.w, &in.w);
	in.y = meet(box.y, box.h, outer.y, outer.h, &in.h);
	if (in.w == 0 || in.h == 0)
		in.w = in.h = 0;
	return in;
}

static rt_canvas_cell *
cell_at(const rt_canvas *canvas, int x, int y)
{
	return &canvas->cells[(size_t)y * (size_t)canvas->columns + (size_t)x];
}

/* Never 0. */
static uint32_t
hash_url(rt_str url)
{
	uint32_t hash = (uint32_t)rt_hash(url.ptr, url.size, 0);

	return hash == 0 ? 1 : hash;
}

rt_str
rt_canvas_url(const rt_canvas *canvas, uint32_t link)
{
	for (size_t at = 0; link != 0 && at < canvas->urls.size;) {
		rt_str url = rt_str_of(canvas->urls.ptr + at);

		if (hash_url(url) == link)
			return url;
		at += url.size + 1;
	}
	return RT_STR("");
}

void
rt_canvas_link(rt_canvas *canvas, rt_box box, rt_str url)
{
	uint32_t link = hash_url(url);
	rt_str known = rt_canvas_url(canvas, link);
	rt_box in = rt_box_within(box, rt_canvas_box(canvas));

	if (in.w == 0 || canvas->urls.size + url.size + 1 > URLS_MAX ||
	    (known.size > 0 && !rt_str_eq(known, url)))
		return;
	if (known.size == 0) {
		rt_buf_add_str(&canvas->urls, url);
		rt_buf_add_byte(&canvas->urls, '\0');
	}
	if (canvas->urls.status != RT_OK)
		return;
	for (int y = in.y; y < in.y + in.h; y++)
		for (int x = in.x; x < in.x + in.w; x++)
			cell_at(canvas, x, y)->link = link;
}

static void
erase(rt_canvas_cell *cell)
{
	rt_ink ink = cell->ink;

	*cell = blank;
	cell->ink = ink;
}

/* Erase a wide character one half of which is overwritten. */
static void
part(const rt_canvas *canvas, int x, int y)
{
	rt_canvas_cell *cell = cell_at(canvas, x, y);

	if (cell->ch == 0)
		erase(cell_at(canvas, x - 1, y));
	else if (cell->width == 2)
		erase(cell_at(canvas, x + 1, y));
}

/* Draw a character at a column of the canvas, inside clip; returns its cell, NULL if not visible. */
static rt_canvas_cell *
set_cell(rt_canvas *canvas, rt_box clip, int x, int y, uint32_t ch, int width, rt_ink ink)
{
	bool left = x >= clip.x && x < clip.x + clip.w;
	bool right = width == 2 && x + 1 >= clip.x && x + 1 < clip.x + clip.w;
	rt_canvas_cell *cell = NULL;

	if (width == 2 && left != right)
		ch = ' ';
	if (left) {
		part(canvas, x, y);
		cell = cell_at(canvas, x, y);
		*cell = (rt_canvas_cell){ch, {0, 0, 0}, 0, ink, (uint8_t)(right ? 2 : 1)};
	}
	if (right) {
		/* After the left half, which may have erased a wide character there. */
		rt_canvas_cell *half = cell_at(canvas, x + 1, y);

		if (left && half->width == 2 && half->ch != 0)
			erase(cell_at(canvas, x + 2, y));
		else if (!left)
			part(canvas, x + 1, y);
		*half = left ? (rt_canvas_cell){0, {0, 0, 0}, 0, ink, 0}
			     : (rt_canvas_cell){' ', {0, 0, 0}, 0, ink, 1};
	}
	return width == 2 && !right ? NULL : cell;
}

void
rt_canvas_fill(rt_canvas *canvas, rt_box box, rt_ink ink)
{
	rt_box in = rt_box_within(box, rt_canvas_box(canvas));

	for (int y = in.y; y < in.y + in.h; y++)
		for (int x = in.x; x < in.x + in.w; x++)
			(void)set_cell(canvas, in, x, y, ' ', 1, ink);
}

void
rt_canvas_flag(rt_canvas *canvas, rt_box box, rt_ink flags)
{
	rt_box in = rt_box_within(box, rt_canvas_box(canvas));

	for (int y = in.y; y < in.y + in.h; y++)
		for (int x = in.x; x < in.x + in.w; x++)
			cell_at(canvas, x, y)->ink |= flags;
}

/* A line being drawn. */
typedef struct pen {
	rt_canvas *canvas;
	rt_box clip;
	int origin, y; /* the box's column, the row; of the canvas */
	rt_ink ink;
	rt_canvas_cell *base; /* the cell for marks; NULL: not visible */
} pen;

static int
put_char(pen *p, int x, uint32_t ch, int width)
{
	p->base = p->clip.h == 0 ? NULL
				 : set_cell(p->canvas, p->clip, p->origin + x, p->y, ch, width, p->ink);
	return x + width;
}

static int
put_name(pen *p, int x, uint32_t code)
{
	char name[RT_RUNE_NAME_ROOM];
	size_t size = rt_rune_name(code, name);

	for (size_t i = 0; i < size; i++)
		x = put_char(p, x, (unsigned char)name[i], 1);
	return x;
}

static void
put_mark(const pen *p, uint32_t mark)
{
	size_t i = 0;

	while (p->base != NULL && i < RT_CELL_MARKS && p->base->marks[i] != 0)
		i++;
	if (p->base != NULL && i < RT_CELL_MARKS)
		p->base->marks[i] = mark;
}

static int
put_rune(pen *p, int x, int start, const rt_rune *rune, const rt_rune_place *place)
{
	int stop;

	switch (rune->kind) {
	case RT_RUNE_SHOWN: return put_char(p, x, rune->ch, rune->width);
	case RT_RUNE_NAMED: return put_name(p, x, rune->code);
	case RT_RUNE_LINE: return put_char(p, x, ' ', 1);
	case RT_RUNE_MARK:
		if (!place->has_base)
			x = put_char(p, x, RT_RUNE_CIRCLE, 1);
		put_mark(p, rune->ch);
		return x;
	case RT_RUNE_TAB:
		for (stop = x + 8 - (x - start) % 8; x < stop;)
			x = put_char(p, x, ' ', 1);
		return x;
	case RT_RUNE_NOTHING: break;
	}
	return x;
}

int
rt_canvas_put(rt_canvas *canvas, rt_box box, int x, int y, rt_str text, rt_ink ink)
{
	rt_box row = {box.x, box.y + y, box.w, y >= 0 && y < box.h ? 1 : 0};
	pen p = {canvas, rt_box_within(row, rt_canvas_box(canvas)), box.x, box.y + y, ink, NULL};
	rt_rune_place place = {false, 0};
	size_t at = 0;
	int start = x;

	/* Right of the box only marks on its last column matter. */
	while (at < text.size) {
		rt_rune rune = rt_rune_read(rt_str_at(text.ptr + at, text.size - at), canvas->utf8);

		if (x >= box.w && !(rune.kind == RT_RUNE_MARK && place.has_base))
			break;
		x = put_rune(&p, x, start, &rune, &place);
		rt_rune_pass(&place, &rune);
		at += rune.size;
	}
	return x;
}

int
rt_canvas_put_c(rt_canvas *canvas, rt_box box, int x, int y, const char *text, rt_ink ink)
{
	return rt_canvas_put(canvas, box, x, y, rt_str_of(text), ink);
}

int
rt_canvas_put_f(rt_canvas *canvas, rt_box box, int x, int y, rt_ink ink, const char *format, ...)
{
	char line[LINE_SIZE];
	va_list args, again;
	char *text = line;
	int size;

	va_start(args, format);
	va_copy(again, args);
	size = vsnprintf(line, sizeof(line), format, args);
	if (size >= (int)sizeof(line)) {
		text = rt_new(canvas->alloc, (size_t)size + 1);
		if (text != NULL)
			(void)vsnprintf(text, (size_t)size + 1, format, again);
	}
	va_end(again);
	va_end(args);
	if (text == NULL) { /* without memory, what fits */
		text = line;
		size = (int)sizeof(line) - 1;
	}
	x = size < 0 ? x : rt_canvas_put(canvas, box, x, y, rt_str_at(text, (size_t)size), ink);
	if (text != line)
		rt_free(canvas->alloc, text);
	return x;
}

int
rt_canvas_put_cut(rt_canvas *canvas, rt_box box, int x, int y, int columns, rt_str text, rt_ink ink)
{
	rt_str dots = rt_canvas_glyph(canvas, RT_GLYPH_ELLIPSIS);
	int dots_width = rt_canvas_width(canvas, dots);
	rt_str fit;

	if (columns <= 0)
		return x;
	fit = rt_canvas_fit(canvas, text, columns, NULL);
	if (fit.size == text.size)
		return rt_canvas_put(canvas, box, x, y, fit, ink);
	if (dots_width > columns)
		return rt_canvas_put(canvas, box, x, y, rt_canvas_fit(canvas, dots, columns, NULL), ink);
	fit = rt_canvas_fit(canvas, text, columns - dots_width, NULL);
	x = rt_canvas_put(canvas, box, x, y, fit, ink);
	return rt_canvas_put(canvas, box, x, y, dots, ink);
}

void
rt_canvas_add_name(const rt_canvas *canvas, rt_str name, int columns, rt_buf *out)
{
	rt_str dots = rt_canvas_glyph(canvas, RT_GLYPH_ELLIPSIS), begin;
	int width = rt_canvas_width(canvas, name), room = columns - rt_canvas_width(canvas, dots);
	int end = room / 2 < NAME_END ? room / 2 : NAME_END, skip, used;

	if (width <= columns) {
		rt_buf_add_str(out, name);
		return;
	}
	if (room < 0) {
		rt_buf_add_str(out, rt_canvas_fit(canvas, dots, columns > 0 ? columns : 0, NULL));
		return;
	}
	rt_buf_add_str(out, rt_canvas_fit(canvas, name, room - end, NULL));
	rt_buf_add_str(out, dots);
	skip = width - end;
	do { /* a wide character at the cut is left out */
		begin = rt_canvas_fit(canvas, name, skip++, &used);
	} while (used < width - end);
	rt_buf_add(out, name.ptr + begin.size, name.size - begin.size);
}

int
rt_canvas_put_name(rt_canvas *canvas, rt_box box, int x, int y, int columns, rt_str name,
		   rt_ink ink)
{
	rt_scope s;
	rt_buf *cut;

	if (rt_canvas_width(canvas, name) <= columns)
		return rt_canvas_put(canvas, box, x, y, name, ink);
	rt_scope_init(&s, canvas->alloc);
	cut = rt_scope_buf(&s);
	rt_canvas_add_name(canvas, name, columns, cut);
	x = rt_canvas_put_cut(canvas, box, x, y, columns,
			      cut->status == RT_OK ? rt_buf_str(cut) : name, ink);
	rt_scope_deinit(&s);
	return x;
}

void
rt_canvas_cursor(rt_canvas *canvas, rt_box box, int x, int y)
{
	rt_box at = {box.x + x, box.y + y, 1, 1};

	at = rt_box_within(rt_box_within(at, box), rt_canvas_box(canvas));
	canvas->cursor_x = at.w == 0 ? -1 : at.x;
	canvas->cursor_y = at.w == 0 ? -1 : at.y;
}

rt_str
rt_canvas_glyph(const rt_canvas *canvas, rt_glyph glyph)
{
	static const char *const glyphs[RT_GLYPH_COUNT][2] = {
		[RT_GLYPH_HORIZONTAL] = {"-", "\u2500"}, [RT_GLYPH_VERTICAL] = {"|", "\u2502"},
		[RT_GLYPH_CROSS_DOWN] = {"+", "\u252C"}, [RT_GLYPH_CROSS_UP] = {"+", "\u2534"},
		[RT_GLYPH_TEE] = {"|", "\u251C"},        [RT_GLYPH_CORNER] = {"`", "\u2514"},
		[RT_GLYPH_FOLDABLE] = {"-", "\u229F"},   [RT_GLYPH_FOLDED] = {"+", "\u229E"},
		[RT_GLYPH_BULLET] = {"*", "\u2022"},     [RT_GLYPH_CURSOR] = {">", "\u203A"},
		[RT_GLYPH_LEFT_ARROW] = {"<-", "\u2190"}, [RT_GLYPH_ELLIPSIS] = {"...", "\u2026"},
		[RT_GLYPH_CHECK] = {"x", "\u2713"},      [RT_GLYPH_DOT] = {".", "\u00B7"},
		[RT_GLYPH_OPEN] = {"v", "\u25BE"},       [RT_GLYPH_CLOSED] = {">", "\u25B8"},
		[RT_GLYPH_BAR] = {"|", "\u258C"},
	};

	RT_ASSERT(glyph < RT_GLYPH_COUNT);
	return rt_str_of(glyphs[glyph][canvas->utf8]);
}

rt_str
rt_canvas_fit(const rt_canvas *canvas, rt_str text, int columns, int *out_used)
{
	size_t at = 0;
	int used = 0;

	while (at < text.size) {
		rt_str rest = rt_str_at(text.ptr + at, text.size - at);
		size_t size = rt_rune_grapheme(rest);
		bool is_line = *rest.ptr == '\n' || (*rest.ptr == '\r' && size > 1);
		int width = is_line ? 1 /* as it is put */
				    : rt_rune_columns(rt_str_at(rest.ptr, size), canvas->utf8, used);

		if (width > columns - used)
			break;
		used += width;
		at += size;
	}
	if (out_used != NULL)
		*out_used = used;
	return rt_str_at(text.ptr, at);
}

int
rt_canvas_width(const rt_canvas *canvas, rt_str text)
{
	int used;

	(void)rt_canvas_fit(canvas, text, INT32_MAX, &used);
	return used;
}

void
rt_canvas_add_text(const rt_canvas *canvas, rt_buf *buf)
{
	char bytes[4];

	for (int y = 0; y < canvas->rows; y++) {
		int end = canvas->columns;

		while (end > 0 && cell_at(canvas, end - 1, y)->ch == ' ' &&
		       cell_at(canvas, end - 1, y)->marks[0] == 0)
			end--;
		for (int x = 0; x < end; x++) {
			const rt_canvas_cell *cell = cell_at(canvas, x, y);

			if (cell->ch != 0)
				rt_buf_add(buf, bytes, rt_rune_encode(cell->ch, bytes));
			for (int i = 0; i < RT_CELL_MARKS && cell->marks[i] != 0; i++)
				rt_buf_add(buf, bytes, rt_rune_encode(cell->marks[i], bytes));
		}
		rt_buf_add_byte(buf, '\n');
	}
}
