/* SPDX-License-Identifier: MIT
 *
 * Blocks of markup as rows: one walk over the tree with the arrays that it is in as its stack. */
#include <stdio.h>

#include "codec/json.h"
#include "tui/lines_impl.h"

enum { DEPTH = 2 * RT_MARKUP_DEPTH_MAX + 8 };

typedef struct frame {
	yyjson_arr_iter nodes;
	size_t count;         /* blocks so far: one is between two of them, if not tight */
	bool is_tight;
	bool has_edge;        /* popped when it ends */
	bool is_list;
	bool is_ordered;
	uint64_t number;      /* of the next item */
	int number_width;
	rt_ink ink;
} frame;

static int
digits(uint64_t number)
{
	int count = 1;

	for (; number >= 10; number /= 10)
		count++;
	return count;
}

static void
begin_list(frame *list, yyjson_val *node, bool is_ordered)
{
	yyjson_val *items = rt_json_get(node, "c");
	uint64_t start = 1;

	list->is_list = true;
	list->is_ordered = is_ordered;
	list->is_tight = yyjson_is_true(rt_json_get(node, "tight"));
	list->nodes = yyjson_arr_iter_with(items);
	if (is_ordered && !rt_json_u64(rt_json_get(node, "start"), &start))
		start = 1;
	list->number = start;
	list->number_width = digits(start + yyjson_arr_size(items));
	if (yyjson_arr_size(items) > 0)
		list->number_width = digits(start + yyjson_arr_size(items) - 1);
}

/* The mark of an item, and its edge. */
static void
begin_item(rt_layout *layout, frame *list, yyjson_val *node, frame *item)
{
	char mark[64];
	int size = 0;

	if (list->is_ordered)
		size = snprintf(mark, sizeof(mark), "%*llu. ", list->number_width,
				(unsigned long long)list->number++);
	if (yyjson_is_true(rt_json_get(node, "task")))
		size += snprintf(mark + size, sizeof(mark) - (size_t)size, "[%c] ",
				 yyjson_is_true(rt_json_get(node, "done")) ? 'x' : ' ');
	if (size > 0) {
		rt_layout_push(layout, size, rt_str_at(mark, (size_t)size), layout->ink);
	} else {
		rt_str bullet = rt_canvas_glyph(&layout->canvas, RT_GLYPH_BULLET);

		snprintf(mark, sizeof(mark), "%.*s ", RT_STR_ARG(bullet));
		rt_layout_push(layout, rt_canvas_width(&layout->canvas, bullet) + 1,
			       rt_str_of(mark), layout->ink);
	}
	item->has_edge = true;
	item->is_tight = list->is_tight;
	item->nodes = yyjson_arr_iter_with(rt_json_get(node, "c"));
}

static rt_ink
heading_ink(yyjson_val *node, rt_ink ink)
{
	uint64_t level = 1;

	ink = (rt_ink)(rt_ink_of(ink, RT_INK_HEADING) | RT_INK_BOLD);
	if (rt_json_u64(rt_json_get(node, "n"), &level) && level == 1)
		ink |= RT_INK_UNDERLINE;
	return level > 3 ? (rt_ink)(ink | RT_INK_ITALIC) : ink;
}

static void
add_pre(rt_layout *layout, yyjson_val *node)
{
	rt_str lang = rt_json_str(rt_json_get(node, "lang"));
	yyjson_val *texts = rt_json_get(node, "c");
	rt_buf code;

	rt_buf_init(&code, layout->lines->alloc, RT_BUF_UNLIMITED);
	rt_layout_settle(layout);
	rt_layout_push(layout, 2, RT_STR(""), 0);
	if (lang.size > 0) {
		rt_flow_begin(layout);
		rt_flow_add(layout, lang, rt_ink_of(layout->ink, RT_INK_DIM), ' ');
		rt_flow_words(layout);
	}
	if (yyjson_arr_size(texts) == 1 && yyjson_is_str(yyjson_arr_get_first(texts))) {
		rt_layout_code(layout, rt_json_str(yyjson_arr_get_first(texts)), lang);
	} else {
		rt_lines_texts(&code, texts);
		if (code.status != RT_OK)
			rt_lines_fail(layout->lines, code.status);
		rt_layout_code(layout, rt_buf_str(&code), lang);
	}
	rt_layout_pop(layout);
	rt_buf_deinit(&code);
}

static void
add_rule(rt_layout *layout)
{
	rt_layout_settle(layout);
	rt_row_begin(layout);
	rt_row_rule(layout, rt_layout_width(layout));
}

/* A block; true when out is what is in it. */
static bool
enter(rt_layout *layout, yyjson_val *node, frame *in, frame *out)
{
	rt_str type = rt_json_str(rt_json_get(node, "t"));
	yyjson_val *c = rt_json_get(node, "c");

	*out = (frame){.ink = in->ink};
	if (in->count++ > 0 && !in->is_tight)
		rt_layout_blank(layout);
	if (in->is_list) {
		begin_item(layout, in, node, out);
		return true;
	}
	if (rt_str_is(type, "p") || rt_str_is(type, "h")) {
		rt_flow_begin(layout);
		rt_flow_inlines(layout, c,
				rt_str_is(type, "h") ? heading_ink(node, in->ink) : in->ink);
		rt_flow_words(layout);
	} else if (rt_str_is(type, "pre")) {
		add_pre(layout, node);
	} else if (rt_str_is(type, "quote")) {
		rt_layout_push_bar(layout);
		out->has_edge = true;
		out->ink = rt_ink_of(in->ink, RT_INK_QUOTE);
		out->nodes = yyjson_arr_iter_with(c);
		return true;
	} else if (rt_str_is(type, "table")) {
		rt_layout_settle(layout);
		rt_layout_table(layout, node);
	} else if (rt_str_is(type, "hr")) {
		add_rule(layout);
	} else {
		begin_list(out, node, rt_str_is(type, "ol"));
		return true;
	}
	return false;
}

/* root: the blocks of the whole. Those that end at or before the stable byte are counted. */
static void
add_blocks(rt_layout *layout, yyjson_val *root, rt_layout_part *part)
{
	frame frames[DEPTH] = {{.count = part->block_count, .ink = layout->ink}}, *top;
	bool is_stable = true;
	size_t depth = 1;
	yyjson_val *node;
	uint64_t to = 0;

	frames[0].nodes = yyjson_arr_iter_with(root);
	while (depth > 0 && rt_layout_fine(layout)) {
		top = &frames[depth - 1];
		if (depth == 1 && is_stable) {
			part->out_kept = rt_lines_here(layout->lines);
			part->out_block_count = top->count;
		}
		node = yyjson_arr_iter_next(&top->nodes);
		if (node == NULL) {
			if (top->has_edge)
				rt_layout_pop(layout);
			depth--;
			continue;
		}
		if (depth == 1 && !(rt_json_u64(yyjson_arr_get(rt_json_get(node, "at"), 1), &to) &&
				    to <= part->out_stable))
			is_stable = false;
		RT_ASSERT(depth < DEPTH);
		if (enter(layout, node, top, &frames[depth]))
			depth++;
	}
}

void
rt_layout_markdown(rt_layout *layout, rt_str text, rt_layout_part *part)
{
	rt_markup_options options = {.from = part->from};
	rt_json_doc *doc = NULL;
	rt_status st;
	rt_buf json;

	part->out_kept = rt_lines_here(layout->lines);
	part->out_block_count = part->block_count;
	part->out_stable = part->from;
	rt_buf_init(&json, layout->lines->alloc, RT_BUF_UNLIMITED);
	st = rt_markup_blocks(&json, text, &options, &part->out_stable, NULL);
	if (st == RT_OK)
		st = rt_json_read(layout->lines->alloc, rt_buf_str(&json), &doc, NULL);
	if (st == RT_OK) {
		add_blocks(layout, rt_json_root(doc), part);
	} else if (st == RT_LIMIT) {
		part->out_stable = part->from;
		if (part->block_count > 0)
			rt_layout_blank(layout);
		rt_layout_plain(layout, rt_str_at(text.ptr + part->from, text.size - part->from));
	} else {
		rt_lines_fail(layout->lines, st);
	}
	rt_json_free(doc);
	rt_buf_deinit(&json);
}

void
rt_lines_add_markdown(rt_lines *lines, rt_str text, const rt_lines_options *options)
{
	rt_layout_part part = {0};
	rt_layout layout;

	rt_layout_init(&layout, lines, options);
	rt_layout_markdown(&layout, text, &part);
	rt_layout_deinit(&layout);
}
