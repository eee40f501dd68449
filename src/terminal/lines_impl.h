/* SPDX-License-Identifier: MIT
 *
 * Layout: shared by the files of lines.h.
 *
 * All text goes into lines.text once, and is made plain on the way: no controls, no tabs, no more
 * accents on a character than can be displayed. Text that is laid out together is a *flow*: a run
 * of those bytes, with "\n" where a row must end, and spans that give the ink of each part. A flow
 * is cut into *ranges*, one for each row; ranges and spans meet when the rows are written.
 *
 * A row begins with its *edges*, the left borders of the quotes and list items around it. Bars and
 * blanks are stored once and shared by all rows that begin with them:
 *
 *     edges   root  quote   item            item
 *     row     ....  "▌ "    "• "            " 9. "     text …      a mark is shown once, on the
 *             ....  "▌ "    (two blanks)    (four)     text …      first row of its item
 *
 * Edges take at most half of the columns. Those beyond (is_flat) take none, and their mark becomes
 * the beginning of the text.
 *
 * Failures are sticky in lines->status. */
#ifndef RT_TERMINAL_LINES_IMPL_H
#define RT_TERMINAL_LINES_IMPL_H

#include "markup/markup.h"
#include "terminal/lines.h"

/* A scanner that classifies the words of code. */
struct rt_language;
typedef struct rt_scan {
	rt_str text;
	const struct rt_language *language; /* NULL: unknown */
	size_t at;
	size_t next_size; /* the run at `at`; 0: not read yet */
	rt_ink next_ink;
	uint16_t words[512]; /* hash table: offset in the language's words, + 1 */
} rt_scan;

/* scan is zero, or was used for another text. */
void rt_scan_begin(rt_scan *scan, rt_str text, rt_str language);
/* The next run of one ink, which may contain "\n"; false at the end. */
bool rt_scan_next(rt_scan *scan, rt_str *out_text, rt_ink *out_ink);

enum {
	RT_LAYOUT_EDGES = 2 * RT_MARKUP_DEPTH_MAX + 8,
	RT_LAYOUT_COLUMNS_MAX = 20000
};

typedef struct rt_edge {
	int x;                    /* column of the content */
	int bars_x, bars_end;     /* columns of all bars up to this edge */
	uint32_t bars, bars_size; /* their bytes; size 0: none */
	uint32_t own_size;        /* the last of these bytes: this edge's bar; 0: none */
	uint32_t mark, mark_size;
	rt_ink mark_ink;
	bool is_pending;          /* the mark has not been shown yet */
	bool is_flat;
} rt_edge;

/* Bytes of lines.text. */
typedef struct rt_range {
	uint32_t from, to;
	int width;
} rt_range;

typedef struct rt_layout {
	rt_lines *lines;
	rt_canvas canvas; /* without cells: for widths and glyphs */
	rt_ink ink;
	int columns;
	rt_edge edges[RT_LAYOUT_EDGES];
	size_t edge_count; /* the first one is the root */
	/* the flow */
	uint32_t flow;
	rt_piece *spans;
	size_t span_count, span_capacity;
	size_t marks;       /* accents at its end */
	uint32_t column_at; /* the last line is `column` wide up to this byte */
	int column;
	rt_range *ranges;
	size_t range_count, range_capacity;
	/* blanks and a rule that rows share */
	uint32_t blanks, blanks_size;
	uint32_t rule;
	int rule_width;
	rt_scan scan;
	bool is_in_link;
} rt_layout;

static inline rt_ink
rt_ink_of(rt_ink ink, rt_ink_kind kind)
{
	return (rt_ink)((ink & ~0xFF) | (int)kind);
}

static inline rt_ink
rt_ink_with(rt_ink ink, int flags)
{
	return (rt_ink)(ink | flags);
}

static inline char
rt_ascii_lower(char c)
{
	return c >= 'A' && c <= 'Z' ? (char)(c + 32) : c;
}

void rt_layout_init(rt_layout *layout, rt_lines *lines, const rt_lines_options *options);
void rt_layout_deinit(rt_layout *layout);

/* Record a failure; the first one stays. */
void rt_lines_fail(rt_lines *lines, rt_status st);
/* False after a failure, also one of lines->text. */
bool rt_lines_ok(rt_lines *lines);
static inline bool
rt_layout_ok(rt_layout *layout)
{
	return rt_lines_ok(layout->lines);
}
/* rt_array_add for lines and layouts. NULL after a failure. */
void *rt_lines_push(rt_lines *lines, void *items, size_t *count, size_t *capacity, size_t size);
void rt_lines_cut(rt_lines *lines, const rt_lines_mark *mark);
rt_lines_mark rt_lines_here(const rt_lines *lines);

/* The end of lines.text. */
static inline uint32_t
rt_layout_end(const rt_layout *layout)
{
	return (uint32_t)layout->lines->text.size;
}
static inline rt_str
rt_layout_text(const rt_layout *layout, uint32_t from, uint32_t to)
{
	return from == to ? RT_STR("") : rt_str_at(layout->lines->text.ptr + from, to - from);
}

/* Edges: everything up to the pop is inside. mark: shown on the first row, as wide as the edge
 * (including a blank at its end). */
void rt_layout_push(rt_layout *layout, int width, rt_str mark, rt_ink ink);
void rt_layout_push_bar(rt_layout *layout);
/* A mark that has not been shown gets a row. */
void rt_layout_pop(rt_layout *layout);
/* Columns that are left for text, >= 1. */
int rt_layout_width(const rt_layout *layout);
/* Write the marks of flat edges as rows. */
void rt_layout_settle(rt_layout *layout);

/* The flow: begin it (nothing else may be added to the text until it ends), add to it, end it as
 * rows: wrapped at words, or as code. line_end: the replacement for "\n". */
void rt_flow_begin(rt_layout *layout);
void rt_flow_add(rt_layout *layout, rt_str text, rt_ink ink, char line_end);
/* A copy of bytes of lines.text. */
void rt_flow_add_own(rt_layout *layout, uint32_t from, uint32_t size, rt_ink ink);
void rt_flow_words(rt_layout *layout);
void rt_flow_code(rt_layout *layout);
/* A flow of one text. */
void rt_flow_line(rt_layout *layout, rt_str text, rt_ink ink, char line_end);
/* The line of text at *at without its line end; *at: the next one. False at the end. */
bool rt_next_line(rt_str text, size_t *at, rt_str *out_line);

/* The columns of bytes of lines.text; limit + 1 if there are more. */
int rt_layout_measure(const rt_layout *layout, uint32_t from, uint32_t to, int limit);
/* Wrap at words into rows of this width, appended to ranges. */
void rt_layout_wrap(rt_layout *layout, uint32_t from, uint32_t to, int width);
/* Add the pieces of a range to the row; spans from *span on. */
void rt_layout_range(rt_layout *layout, rt_range range, size_t *span);

/* The bytes of lines.text from there on lead to this url, if it can be followed. */
void rt_layout_link(rt_layout *layout, uint32_t from, rt_str url);

/* A row piece by piece. */
void rt_row_begin(rt_layout *layout);
void rt_row_add(rt_layout *layout, uint32_t from, uint32_t size, rt_ink ink);
void rt_row_blanks(rt_layout *layout, int count);
void rt_row_rule(rt_layout *layout, int width);
/* Only the bars. */
void rt_layout_blank(rt_layout *layout);

struct yyjson_val;
/* Inlines of markup, added to the flow. */
void rt_flow_inlines(rt_layout *layout, struct yyjson_val *array, rt_ink ink);
void rt_layout_code(rt_layout *layout, rt_str text, rt_str language);
void rt_layout_table(rt_layout *layout, struct yyjson_val *table);
void rt_layout_plain(rt_layout *layout, rt_str text);

#endif
