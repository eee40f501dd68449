/* SPDX-License-Identifier: MIT
 *
 * Lines: a text laid out for so many columns, as rows of pieces that each have an ink: Markdown
 * by markup/markup.h, plain text, differences of two texts.
 *
 * Blocks are laid out as people read them in a terminal: headings bold, lists with bullets or
 * numbers and their own indent, quotes with a bar at their edge, code as it stands with its
 * language above, broken only where it is wider, its comments, strings and words of the language
 * told apart where that is cheap, tables in columns where they fit and row by row where they do
 * not, links with their url behind them where it is not the text. All texts are untrusted and
 * stay so: they are drawn by the canvas.
 *
 * Threads: one at a time. */
#ifndef RT_TUI_LINES_H
#define RT_TUI_LINES_H

#include "tui/canvas.h"

typedef struct rt_piece {
	uint32_t from, size; /* bytes of rt_lines.text */
	rt_ink ink;
} rt_piece;

typedef struct rt_line {
	uint32_t piece, pieces; /* the first one, and how many */
	uint16_t indent;        /* columns before them */
} rt_line;

typedef struct rt_lines {
	const rt_alloc *alloc;
	rt_buf text;
	rt_piece *pieces;
	rt_line *lines;
	size_t piece_count, piece_room;
	size_t count, room;
	rt_status status; /* sticky, as of a buf */
} rt_lines;

void rt_lines_init(rt_lines *lines, const rt_alloc *alloc);
void rt_lines_deinit(rt_lines *lines);
void rt_lines_clear(rt_lines *lines);

typedef struct rt_lines_options {
	int columns;  /* > 0; with the indent */
	bool utf8;
	rt_ink ink;   /* of what has none of its own; its flags are those of all text */
	int indent;   /* of all; cut so that a column is left */
} rt_lines_options;

/* No row takes more than the columns, but for one character that is wider than all there are.
 * lines.text has neither controls nor tabs then: they stand there by name, and as blanks. Items
 * and quotes are indented up to half of the columns; what is deeper is not indented further.
 *
 * Appended below what is there. Check lines->status in the end (RT_NOMEM; RT_LIMIT: beyond
 * 1,8 GB). A text that markup refuses (RT_LIMIT) is laid out as plain text. Cost: the text. */
void rt_lines_add_markdown(rt_lines *lines, rt_str text, const rt_lines_options *options);
/* Wrapped at words, white space kept. */
void rt_lines_add_plain(rt_lines *lines, rt_str text, const rt_lines_options *options);
/* Code of that language (may be empty): never wrapped at words, only where it is too wide. */
void rt_lines_add_code(rt_lines *lines, rt_str text, rt_str language, const rt_lines_options *options);
/* What has changed from a to b: lines removed behind "- ", then those added behind "+ ", the
 * words that differ underlined; three lines of what stayed around them, and a row that says how
 * many more did. Texts that have too little in common for that are removed and added whole.
 * Equal texts are that row alone. */
void rt_lines_add_difference(rt_lines *lines, rt_str a, rt_str b, const rt_lines_options *options);
/* A row of one piece; an empty one. */
void rt_lines_add_row(rt_lines *lines, int indent, rt_str text, rt_ink ink);
void rt_lines_add_blank(rt_lines *lines);

/* A text that is still being written. What cannot change any more is laid out once.
 *
 *     rt_lines_stream_begin(&stream, &options)
 *     rt_lines_stream_set(&stream, text so far)     as often as a frame is drawn
 *
 * stream.lines has its rows: those that rt_lines_add_markdown makes of the same text, whatever
 * was set before. (Where markup refuses what has come behind the stable part, only that is
 * plain.) */
typedef struct rt_lines_stream {
	rt_lines lines;
	rt_lines_options options;
	size_t stable, blocks;                   /* bytes of the text that stay, their blocks */
	size_t count, piece_count, text_size;    /* of lines, what was made of them */
} rt_lines_stream;

void rt_lines_stream_init(rt_lines_stream *stream, const rt_alloc *alloc);
void rt_lines_stream_deinit(rt_lines_stream *stream);
/* Without any text: a new one, or other columns. */
void rt_lines_stream_begin(rt_lines_stream *stream, const rt_lines_options *options);
/* The whole text; it begins with the one that was set before. Check stream->lines.status. Cost:
 * what is not stable, which is its last block or two. */
void rt_lines_stream_set(rt_lines_stream *stream, rt_str text);

/* Rows from..from+count into the box, from its top. match (may be empty): marked where it is
 * found, whatever the case of ASCII letters. */
void rt_lines_draw(const rt_lines *lines, size_t from, size_t count, rt_canvas *canvas, rt_box box,
		   rt_str match);
/* The text of a row without inks, appended. */
void rt_lines_add_text(const rt_lines *lines, size_t at, rt_buf *buf);

#endif
