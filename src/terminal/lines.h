/* SPDX-License-Identifier: MIT
 *
 * Lines: a text laid out for a number of columns, as rows of pieces that each have an ink:
 * Markdown (markup/markup.h), plain text, code, or the difference of two texts.
 *
 * Markdown has the usual look on a terminal: headings bold, lists with bullets or numbers
 * and an indent, quotes with a bar at their left, code unwrapped with its language above and its
 * comments, strings and keywords highlighted, tables in columns where they fit and row by row
 * where they do not, links followed by their url unless it is the text. All texts are untrusted;
 * the canvas makes them safe.
 *
 * Threads: one at a time. */
#ifndef RT_TERMINAL_LINES_H
#define RT_TERMINAL_LINES_H

#include "terminal/canvas.h"

typedef struct rt_piece {
	uint32_t from, size; /* bytes of rt_lines.text */
	rt_ink ink;
} rt_piece;

typedef struct rt_line {
	uint32_t piece, pieces; /* the first one, and how many */
	uint16_t indent;        /* columns before them */
} rt_line;

/* Bytes of rt_lines.text that lead to a url. */
typedef struct rt_lines_url {
	uint32_t from, to;
	uint32_t at, size; /* bytes of rt_lines.urls */
} rt_lines_url;

typedef struct rt_lines {
	const rt_alloc *alloc;
	rt_buf text;
	rt_buf urls;
	rt_lines_url *links; /* in the order of the text */
	size_t link_count, link_capacity;
	rt_piece *pieces;
	rt_line *lines;
	size_t piece_count, piece_capacity;
	size_t count, capacity;
	rt_status status; /* sticky, as of a buf */
} rt_lines;

void rt_lines_init(rt_lines *lines, const rt_alloc *alloc);
void rt_lines_deinit(rt_lines *lines);
void rt_lines_clear(rt_lines *lines);

typedef struct rt_lines_options {
	int columns;  /* > 0; including the indent */
	bool utf8;
	rt_ink ink;   /* of text without an ink; its flags apply to all text */
	int indent;   /* of all rows; reduced so that one column is left */
} rt_lines_options;

/* No row is wider than the columns, except for a single character that is wider than all of them.
 * lines.text contains neither controls (they are replaced by their names) nor tabs (by spaces).
 * Items and quotes are indented up to half of the columns, and no further.
 *
 * Rows are appended. Check lines->status in the end: RT_NOMEM, or RT_LIMIT beyond 1.8 GB. A text
 * that markup refuses (RT_LIMIT) is laid out as plain text. O(text). */
void rt_lines_add_markdown(rt_lines *lines, rt_str text, const rt_lines_options *options);
/* Wrapped at words, white space preserved. */
void rt_lines_add_plain(rt_lines *lines, rt_str text, const rt_lines_options *options);
/* Code in a language (may be empty): broken only where it is too wide. */
void rt_lines_add_code(rt_lines *lines, rt_str text, rt_str language, const rt_lines_options *options);
/* The changes from a to b: removed lines with "- ", then added ones with "+ ", the words that
 * differ underlined; three unchanged lines around them, and a row with the number of further
 * ones. Texts with too little in common are removed and added as a whole. Equal texts give that
 * row only. */
void rt_lines_add_difference(rt_lines *lines, rt_str a, rt_str b, const rt_lines_options *options);
/* A row of one piece; an empty one. */
void rt_lines_add_row(rt_lines *lines, int indent, rt_str text, rt_ink ink);
void rt_lines_add_blank(rt_lines *lines);

/* A position in lines, to which they can be cut back. */
typedef struct rt_lines_mark {
	size_t count, piece_count, text_size;
} rt_lines_mark;

/* A text that is still being written. What cannot change any more is laid out once.
 *
 *     rt_lines_stream_begin(&stream, &options)
 *     rt_lines_stream_set(&stream, text so far)     for each frame
 *
 * stream.lines has the rows that rt_lines_add_markdown makes of the same text, whatever was set
 * before. (If markup refuses what follows the stable part, only that is plain.) */
typedef struct rt_lines_stream {
	rt_lines lines;
	rt_lines_options options;
	size_t stable, blocks; /* bytes of the text that are final, and their blocks */
	rt_lines_mark kept;    /* the end of their rows */
} rt_lines_stream;

void rt_lines_stream_init(rt_lines_stream *stream, const rt_alloc *alloc);
void rt_lines_stream_deinit(rt_lines_stream *stream);
/* Start over with an empty text. */
void rt_lines_stream_begin(rt_lines_stream *stream, const rt_lines_options *options);
/* Set the whole text, which begins with the previous one. Check stream->lines.status. O(unstable
 * part), the last block or two. */
void rt_lines_stream_set(rt_lines_stream *stream, rt_str text);

/* Draw rows from..from+count at the top of the box. Occurrences of match (may be empty) are marked,
 * ignoring the case of ASCII letters. */
void rt_lines_draw(const rt_lines *lines, size_t from, size_t count, rt_canvas *canvas, rt_box box,
		   rt_str match);
/* The url that the text of a piece leads to at this byte of it; empty: none. *out_size: the bytes from there
 * on for which that holds. It begins with http://, https:// or mailto: and has only characters that
 * are valid in urls. O(log links) */
rt_str rt_lines_url_at(const rt_lines *lines, const rt_piece *piece, uint32_t at, uint32_t *out_size);
/* The text of a row without inks, appended. */
void rt_lines_add_text(const rt_lines *lines, size_t at, rt_buf *buf);

#endif
