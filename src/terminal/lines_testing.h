/* SPDX-License-Identifier: MIT
 *
 * For tests: the invariants of rows, and a check that all visible text of a source is in them.
 * Reads the tree of markup separately. */
#ifndef RT_TERMINAL_LINES_TESTING_H
#define RT_TERMINAL_LINES_TESTING_H

#include "codec/json.h"
#include "markup/markup.h"
#include "terminal/lines.h"

static inline int
lines_row_width(const rt_canvas *canvas, const rt_lines *lines, size_t row)
{
	const rt_line *line = &lines->lines[row];
	int width = line->indent;
	size_t i;

	for (i = 0; i < line->pieces; i++) {
		const rt_piece *piece = &lines->pieces[line->piece + i];

		width += rt_canvas_width(canvas, rt_str_at(lines->text.ptr + piece->from, piece->size));
	}
	return width;
}

/* One character of two columns if there is one. */
static inline bool
lines_is_one_wide(const rt_canvas *canvas, const rt_lines *lines, size_t row)
{
	return lines_row_width(canvas, lines, row) - lines->lines[row].indent == 2;
}

/* Pieces are inside the text, rows follow each other, none is too wide. */
static inline void
lines_check(const rt_lines *lines, const rt_lines_options *options)
{
	rt_canvas canvas;
	uint32_t piece = 0;
	size_t row, i;
	int width, room;

	rt_canvas_init(&canvas, rt_alloc_libc(), options->utf8);
	for (row = 0; row < lines->count; row++) {
		const rt_line *line = &lines->lines[row];

		RT_ASSERT(line->piece == piece);
		piece += line->pieces;
		RT_ASSERT(piece <= lines->piece_count);
		for (i = 0; i < line->pieces; i++) {
			const rt_piece *at = &lines->pieces[line->piece + i];

			RT_ASSERT(at->size > 0 && at->from <= lines->text.size &&
				  at->size <= lines->text.size - at->from);
			RT_ASSERT((at->ink & 0xFF) < RT_INK_COUNT);
		}
		width = lines_row_width(&canvas, lines, row);
		room = options->columns - line->indent;
		RT_ASSERT(width <= options->columns ||
			  (room == 1 && lines_is_one_wide(&canvas, lines, row)));
	}
	RT_ASSERT(piece == lines->piece_count);
	for (i = 0; i < lines->text.size; i++) {
		unsigned char c = (unsigned char)lines->text.ptr[i];

		RT_ASSERT(c >= 0x20 || c == '\n');
		RT_ASSERT(c != 0x7F);
	}
	rt_canvas_deinit(&canvas);
}

/* The non-blank characters of a text as expected in rows: printable ASCII only, so that accents
 * need no handling. */
static inline void
lines_add_seen(rt_buf *buf, rt_str text)
{
	size_t i;

	for (i = 0; i < text.size; i++)
		if (text.ptr[i] > 0x20 && text.ptr[i] < 0x7F)
			rt_buf_add_byte(buf, text.ptr[i]);
}

/* All text of the blocks, in their order; *out_has_table: there is one. Without names of controls,
 * urls, languages. */
static inline void
lines_add_shown(rt_buf *buf, yyjson_val *root, bool *out_has_table)
{
	enum { DEPTH = 512 };
	static const char *const keys[] = {"alt", "head", "c", "rows"};
	yyjson_val *later[DEPTH * 8], *node, *in, *item;
	yyjson_arr_iter items;
	size_t count = 0, i, k;
	yyjson_val **stack = later, **grown = NULL;
	size_t room = DEPTH * 8;

	stack[count++] = root;
	while (count > 0) {
		node = stack[--count];
		if (yyjson_is_str(node))
			lines_add_seen(buf, rt_json_str(node));
		if (rt_str_is(rt_json_str(rt_json_get(node, "t")), "table"))
			*out_has_table = true;
		for (k = 0; k < 4 || yyjson_is_arr(node); k++) {
			in = yyjson_is_arr(node) ? node : rt_json_get(node, keys[3 - k]);
			if (!yyjson_is_arr(in))
				continue;
			while (count + yyjson_arr_size(in) > room) {
				room *= 2;
				grown = rt_resize(rt_alloc_libc(), stack == later ? NULL : stack,
						  room * sizeof(*grown));
				RT_ASSERT(grown != NULL);
				if (stack == later)
					memcpy(grown, later, sizeof(later));
				stack = grown;
			}
			/* The first one on top. Access by index costs all earlier ones. */
			items = yyjson_arr_iter_with(in);
			for (i = count += yyjson_arr_size(in); (item = yyjson_arr_iter_next(&items)) != NULL;)
				stack[--i] = item;
			if (in == node)
				break;
		}
	}
	if (stack != later)
		rt_free(rt_alloc_libc(), stack);
}

/* All visible text is in the rows, in its order (in tables whose rows have several lines the order
 * differs: then the count of each character is equal). */
static inline void
lines_check_shown(const rt_lines *lines, rt_str text)
{
	size_t want[128] = {0}, got[128] = {0}, row, at = 0, i;
	bool has_table = false;
	rt_json_doc *doc = NULL;
	rt_buf json, shown, seen, line;

	rt_buf_init(&json, rt_alloc_libc(), RT_BUF_UNLIMITED);
	rt_buf_init(&shown, rt_alloc_libc(), RT_BUF_UNLIMITED);
	rt_buf_init(&seen, rt_alloc_libc(), RT_BUF_UNLIMITED);
	rt_buf_init(&line, rt_alloc_libc(), RT_BUF_UNLIMITED);
	if (rt_markup_blocks(&json, text, NULL, NULL, NULL) == RT_OK) {
		RT_ASSERT(rt_json_read(rt_alloc_libc(), rt_buf_str(&json), &doc, NULL) == RT_OK);
		lines_add_shown(&shown, rt_json_root(doc), &has_table);
	} else {
		lines_add_seen(&shown, text);
	}
	for (row = 0; row < lines->count; row++)
		rt_lines_add_text(lines, row, &line);
	lines_add_seen(&seen, rt_buf_str(&line));
	for (i = 0; i < seen.size; i++) {
		got[(unsigned char)seen.ptr[i]]++;
		if (at < shown.size && shown.ptr[at] == seen.ptr[i])
			at++;
	}
	for (i = 0; i < shown.size; i++)
		want[(unsigned char)shown.ptr[i]]++;
	for (i = 0; i < 128; i++)
		RT_ASSERT(got[i] >= want[i]);
	RT_ASSERT(has_table || at == shown.size);
	rt_json_free(doc);
	rt_buf_deinit(&json);
	rt_buf_deinit(&shown);
	rt_buf_deinit(&seen);
	rt_buf_deinit(&line);
}

/* Equal rows: the same text with the same inks. */
static inline void
lines_check_same(const rt_lines *a, const rt_lines *b)
{
	size_t i;

	RT_ASSERT(a->count == b->count && a->piece_count == b->piece_count);
	for (i = 0; i < a->count; i++)
		RT_ASSERT(a->lines[i].piece == b->lines[i].piece &&
			  a->lines[i].pieces == b->lines[i].pieces &&
			  a->lines[i].indent == b->lines[i].indent);
	for (i = 0; i < a->piece_count; i++)
		RT_ASSERT(a->pieces[i].ink == b->pieces[i].ink &&
			  rt_str_eq(rt_str_at(a->text.ptr + a->pieces[i].from, a->pieces[i].size),
				    rt_str_at(b->text.ptr + b->pieces[i].from, b->pieces[i].size)));
}

#endif
