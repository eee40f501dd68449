/* SPDX-License-Identifier: MIT
 *
 * Layout: what the files of lines.h share.
 *
 * All text goes into lines.text once, made plain on its way: no controls (they are there by
 * name), tabs are spaces, no more accents on a character than can be seen. What is laid out
 * together is a *flow*: one run of those bytes, in it "\n" where a row must end, and spans that
 * say the ink of each. A flow is cut into *ranges*, the rows to be; ranges and spans meet when
 * the rows are written.
 *
 * A row begins with its *edges*: what stands left of everything inside a quote or an item of a
 * list. Bars and blanks are kept once and shared by all rows that begin with them:
 *
 *     edges   root  quote   item            item
 *     row     ....  "▌ "    "• "            " 9. "     text …      a mark is shown once,
 *             ....  "▌ "    (two blanks)    (four)     text …      on its item's first row
 *
 * Edges take half of the columns at most. Those beyond (is_flat) take none, and their mark is
 * the beginning of the text. */
#ifndef RT_TUI_LINES_IMPL_H
#define RT_TUI_LINES_IMPL_H

#include "markup/markup.h"
#include "tui/lines.h"

/* Code, scanned for what its words are. */
struct rt_language;
typedef struct rt_scan {
	rt_str text;
	const struct rt_language *language; /* NULL: not known */
	size_t at;
	size_t next_size; /* the run at `at`, where it is known already; 0: it is not */
	rt_ink next_ink;
	uint16_t words[512]; /* by hash: where each begins in the language's list, + 1 */
} rt_scan;

/* scan is zero, or was for another text: what it knows of the language is kept. */
void rt_scan_begin(rt_scan *scan, rt_str text, rt_str language);
/* The next run of one ink, "\n" may be in it; false at the end. */
bool rt_scan_next(rt_scan *scan, rt_str *out_text, rt_ink *out_ink);

enum {
	RT_LAYOUT_EDGES = 2 * RT_MARKUP_DEPTH_MAX + 8,
	RT_LAYOUT_COLUMNS_MAX = 20000
};

typedef struct rt_edge {
	int x;                   /* the column where what is in it begins */
	int bars_x, bars_end;    /* columns of all bars up to it */
	uint32_t bars, bars_size; /* their bytes; 0: none */
	uint32_t own_size;       /* of these, the last ones are its own bar; 0: it has none */
	uint32_t mark, mark_size;
	int mark_width;
	rt_ink mark_ink;
	bool is_pending;         /* the mark has not been shown yet */
	bool is_flat;
} rt_edge;

/* Bytes of lines.text. */
typedef struct rt_range {
	uint32_t from, to;
	int width;
} rt_range;

typedef struct rt_layout {
	rt_lines *lines;
	rt_canvas canvas; /* of no size: it knows widths and glyphs */
	rt_ink ink;
	int columns;
	rt_edge edges[RT_LAYOUT_EDGES];
	size_t edge_count; /* the first one is the root */
	/* The flow. */
	uint32_t flow;
	rt_piece *spans;
	size_t span_count, span_room;
	size_t marks;      /* accents at its end */
	uint32_t column_at; /* how wide its last line is up to here */
	int column;
	rt_range *ranges;
	size_t range_count, range_room;
	/* Blanks, and a rule, that rows share. */
	uint32_t blanks, blanks_size;
	uint32_t rule;
	int rule_width;
	rt_scan scan;
} rt_layout;

static inline rt_ink
rt_ink_of(rt_ink ink, rt_ink_kind kind)
{
	return (rt_ink)((ink & ~0xFF) | (int)kind);
}

void rt_layout_init(rt_layout *layout, rt_lines *lines, const rt_lines_options *options);
void rt_layout_deinit(rt_layout *layout);
static inline bool
rt_layout_fine(const rt_layout *layout)
{
	return layout->lines->status == RT_OK;
}
/* What has failed; the first one stays. */
void rt_lines_fail(rt_lines *lines, rt_status st);
/* items with room for one more; NULL where there is none, they are as they were then. */
void *rt_lines_grow(rt_lines *lines, void *items, size_t *room, size_t count, size_t size);

/* Edges. Everything until the pop stands inside. mark: shown on the first row, as wide as the
 * edge (a blank at its end). */
void rt_layout_push(rt_layout *layout, int width, rt_str mark, rt_ink ink);
void rt_layout_push_bar(rt_layout *layout);
/* A mark that no row was there for gets one. */
void rt_layout_pop(rt_layout *layout);
/* Columns that are left for text, >= 1. */
int rt_layout_width(const rt_layout *layout);
/* Marks that have to be text become rows of their own. */
void rt_layout_settle(rt_layout *layout);

/* The flow: begun (after it no other text is added until it has ended), added to, ended as
 * rows. line_end: what a "\n" becomes. */
void rt_flow_begin(rt_layout *layout);
void rt_flow_add(rt_layout *layout, rt_str text, rt_ink ink, char line_end);
/* Bytes of lines.text once more. */
void rt_flow_add_own(rt_layout *layout, uint32_t from, uint32_t size, rt_ink ink);
void rt_flow_words(rt_layout *layout);
void rt_flow_code(rt_layout *layout);

/* The columns of bytes of lines.text, limit + 1 where they are more. */
int rt_layout_measure(const rt_layout *layout, uint32_t from, uint32_t to, int limit);
/* Cut at words into rows of that width, appended to ranges. */
void rt_layout_wrap(rt_layout *layout, uint32_t from, uint32_t to, int width);
/* The pieces of a range, spans from *span on. */
void rt_layout_range(rt_layout *layout, rt_range range, size_t *span);

/* A row by hand. */
void rt_row_begin(rt_layout *layout);
void rt_row_add(rt_layout *layout, uint32_t from, uint32_t size, rt_ink ink);
void rt_row_blanks(rt_layout *layout, int count);
void rt_row_rule(rt_layout *layout, int width);
/* No more than the bars. */
void rt_layout_blank(rt_layout *layout);

/* Inlines of markup, into the flow. */
struct yyjson_val;
void rt_flow_inlines(rt_layout *layout, struct yyjson_val *array, rt_ink ink);
/* Strings and control characters of markup, into buf. */
void rt_lines_texts(rt_buf *buf, struct yyjson_val *array);
void rt_layout_code(rt_layout *layout, rt_str text, rt_str language);
void rt_layout_table(rt_layout *layout, struct yyjson_val *table);

/* Of the first rows, so many: what follows is taken away. */
typedef struct rt_lines_mark {
	size_t count, piece_count, text_size;
} rt_lines_mark;

/* Blocks of text from a byte on. *out_kept: where those that are stable end, and *out_stable,
 * as markup has it; block_count: those before it, of all and of those that are stable. */
typedef struct rt_layout_part {
	size_t from, block_count;
	size_t out_stable, out_block_count;
	rt_lines_mark out_kept;
} rt_layout_part;
void rt_layout_markdown(rt_layout *layout, rt_str text, rt_layout_part *part);
void rt_layout_plain(rt_layout *layout, rt_str text);
void rt_lines_cut(rt_lines *lines, const rt_lines_mark *mark);
rt_lines_mark rt_lines_here(const rt_lines *lines);

#endif
