/* SPDX-License-Identifier: MIT
 *
 * Markdown: the blocks and inlines of markup/markup.h as rows, of a whole text or of one that is
 * still being written. Recursion is as deep as the tree, which markup limits. */
#include <stdio.h>

#include "app/width.h"
#include "codec/json.h"
#include "terminal/lines_impl.h"

/* ---- inlines ---- */

/* The name of a control character, {"t":"ctl","cp":"202E"}. */
static rt_str
control_name(yyjson_val *node, char name[RT_RUNE_NAME_ROOM])
{
	rt_str digits = rt_json_str(rt_json_get(node, "cp"));
	uint32_t code = 0;

	for (size_t i = 0; i < digits.size && i < 6; i++) {
		char c = digits.ptr[i];

		code = code << 4 | (uint32_t)(c <= '9' ? c - '0' : (c | 0x20) - 'a' + 10);
	}
	return rt_str_at(name, rt_rune_name(code, name));
}

/* A string or a control character. */
static void
add_text(rt_layout *layout, yyjson_val *node, rt_ink ink)
{
	char name[RT_RUNE_NAME_ROOM];

	if (yyjson_is_str(node))
		rt_flow_add(layout, rt_json_str(node), ink, ' ');
	else
		rt_flow_add(layout, control_name(node, name), rt_ink_of(ink, RT_INK_WARNING), ' ');
}

static void
add_texts(rt_layout *layout, yyjson_val *array, rt_ink ink)
{
	yyjson_val *node;
	size_t i, count;

	yyjson_arr_foreach(array, i, count, node) add_text(layout, node, ink);
}

/* The text from there on leads to the url, unless it is part of another link. */
static void
link(rt_layout *layout, uint32_t from, rt_str url)
{
	if (!layout->is_in_link && url.size > 0 && rt_layout_ok(layout))
		rt_layout_link(layout, from, url);
}

/* The url after its text, which begins at from, unless both are equal. */
static void
add_url(rt_layout *layout, uint32_t from, rt_str url, rt_ink ink)
{
	link(layout, from, url);

	rt_str shown = rt_layout_text(layout, from, rt_layout_end(layout)), address = url;

	if (rt_str_starts(url, RT_STR("mailto:")))
		address = rt_str_at(url.ptr + 7, url.size - 7);
	if (url.size == 0 || rt_str_eq(shown, url) || rt_str_eq(shown, address))
		return;
	if (shown.size == 0) {
		rt_flow_add(layout, url, ink, ' ');
		link(layout, from, url);
		return;
	}
	ink = rt_ink_of(layout->ink, RT_INK_DIM);
	rt_flow_add(layout, RT_STR(" ("), ink, ' ');
	from = rt_layout_end(layout);
	rt_flow_add(layout, url, ink, ' ');
	link(layout, from, url);
	rt_flow_add(layout, RT_STR(")"), ink, ' ');
}

static void
add_inline(rt_layout *layout, yyjson_val *node, rt_ink ink)
{
	rt_str type = rt_json_str(rt_json_get(node, "t"));
	rt_ink link_ink = rt_ink_with(rt_ink_of(ink, RT_INK_LINK), RT_INK_UNDERLINE);
	uint32_t from = rt_layout_end(layout);
	bool is_outer = !layout->is_in_link;

	if (yyjson_is_str(node) || rt_str_is(type, "ctl")) {
		add_text(layout, node, ink);
	} else if (rt_str_is(type, "code")) {
		add_texts(layout, rt_json_get(node, "c"), rt_ink_of(ink, RT_INK_CODE));
	} else if (rt_str_is(type, "img")) {
		add_texts(layout, rt_json_get(node, "alt"), link_ink);
		add_url(layout, from, rt_json_str(rt_json_get(node, "src")), link_ink);
	} else if (rt_str_is(type, "br")) {
		rt_flow_add(layout, RT_STR("\n"), ink, '\n');
	} else {
		rt_str href = rt_json_str(rt_json_get(node, "href"));

		if (rt_str_is(type, "em"))
			ink |= RT_INK_ITALIC;
		else if (rt_str_is(type, "strong"))
			ink |= RT_INK_BOLD;
		else if (rt_str_is(type, "del"))
			ink |= RT_INK_STRIKE;
		else if (rt_str_is(type, "a"))
			ink = link_ink;
		layout->is_in_link = layout->is_in_link || href.size > 0;
		rt_flow_inlines(layout, rt_json_get(node, "c"), ink);
		layout->is_in_link = !is_outer;
		if (href.size > 0 && rt_layout_ok(layout))
			add_url(layout, from, href, ink);
	}
}

void
rt_flow_inlines(rt_layout *layout, yyjson_val *array, rt_ink ink)
{
	yyjson_val *node;
	size_t i, count;

	yyjson_arr_foreach(array, i, count, node) if (rt_layout_ok(layout))
		add_inline(layout, node, ink);
}

/* ---- blocks ---- */

static void add_blocks(rt_layout *layout, yyjson_val *array, bool is_tight, rt_ink ink);

static int
digits(uint64_t number)
{
	int count = 1;

	for (; number >= 10; number /= 10)
		count++;
	return count;
}

/* is_ordered: number is shown in number_width columns. */
static void
push_item(rt_layout *layout, yyjson_val *item, bool is_ordered, uint64_t number, int number_width)
{
	char mark[64];
	int size = 0, width;

	if (is_ordered)
		size = snprintf(mark, sizeof(mark), "%*llu. ", number_width,
				(unsigned long long)number);
	if (yyjson_is_true(rt_json_get(item, "task")))
		size += snprintf(mark + size, sizeof(mark) - (size_t)size, "[%c] ",
				 yyjson_is_true(rt_json_get(item, "done")) ? 'x' : ' ');
	width = size;
	if (size == 0) {
		rt_str bullet = rt_canvas_glyph(&layout->canvas, RT_GLYPH_BULLET);

		size = snprintf(mark, sizeof(mark), "%.*s ", RT_STR_ARG(bullet));
		width = rt_canvas_width(&layout->canvas, bullet) + 1;
	}
	rt_layout_push(layout, width, rt_str_at(mark, (size_t)size), layout->ink);
}

static void
add_list(rt_layout *layout, yyjson_val *node, bool is_ordered, rt_ink ink)
{
	yyjson_val *items = rt_json_get(node, "c"), *item;
	bool is_tight = yyjson_is_true(rt_json_get(node, "tight"));
	uint64_t start = 1;
	size_t i, count;
	int width;

	if (is_ordered && !rt_json_u64(rt_json_get(node, "start"), &start))
		start = 1;
	width = digits(start + yyjson_arr_size(items) - (yyjson_arr_size(items) > 0));
	yyjson_arr_foreach(items, i, count, item)
	{
		if (!rt_layout_ok(layout))
			return;
		if (i > 0 && !is_tight)
			rt_layout_blank(layout);
		push_item(layout, item, is_ordered, start + i, width);
		add_blocks(layout, rt_json_get(item, "c"), is_tight, ink);
		rt_layout_pop(layout);
	}
}

static rt_ink
heading_ink(yyjson_val *node, rt_ink ink)
{
	uint64_t level = 1;
	bool has_level = rt_json_u64(rt_json_get(node, "n"), &level);

	ink = rt_ink_with(rt_ink_of(ink, RT_INK_HEADING), RT_INK_BOLD);
	if (has_level && level == 1)
		ink |= RT_INK_UNDERLINE;
	return level > 3 ? rt_ink_with(ink, RT_INK_ITALIC) : ink;
}

static void
add_pre(rt_layout *layout, yyjson_val *node)
{
	rt_str lang = rt_json_str(rt_json_get(node, "lang"));
	yyjson_val *texts = rt_json_get(node, "c"), *text;
	char name[RT_RUNE_NAME_ROOM];
	size_t i, count;
	rt_scope s;

	rt_layout_settle(layout);
	rt_layout_push(layout, 2, RT_STR(""), 0);
	if (lang.size > 0)
		rt_flow_line(layout, lang, rt_ink_of(layout->ink, RT_INK_DIM), ' ');
	if (yyjson_arr_size(texts) == 1 && yyjson_is_str(yyjson_arr_get_first(texts))) {
		rt_layout_code(layout, rt_json_str(yyjson_arr_get_first(texts)), lang);
	} else {
		rt_buf *code;

		rt_scope_init(&s, layout->lines->alloc);
		code = rt_scope_buf(&s);
		yyjson_arr_foreach(texts, i, count, text) rt_buf_add_str(
			code, yyjson_is_str(text) ? rt_json_str(text) : control_name(text, name));
		rt_lines_fail(layout->lines, code->status);
		rt_layout_code(layout, rt_buf_str(code), lang);
		rt_scope_deinit(&s);
	}
	rt_layout_pop(layout);
}

static void
add_block(rt_layout *layout, yyjson_val *node, rt_ink ink)
{
	rt_str type = rt_json_str(rt_json_get(node, "t"));
	yyjson_val *c = rt_json_get(node, "c");

	if (rt_str_is(type, "p") || rt_str_is(type, "h")) {
		rt_flow_begin(layout);
		rt_flow_inlines(layout, c, rt_str_is(type, "h") ? heading_ink(node, ink) : ink);
		rt_flow_words(layout);
	} else if (rt_str_is(type, "pre")) {
		add_pre(layout, node);
	} else if (rt_str_is(type, "quote")) {
		rt_layout_push_bar(layout);
		add_blocks(layout, c, false, rt_ink_of(ink, RT_INK_QUOTE));
		rt_layout_pop(layout);
	} else if (rt_str_is(type, "table")) {
		rt_layout_settle(layout);
		rt_layout_table(layout, node);
	} else if (rt_str_is(type, "hr")) {
		rt_layout_settle(layout);
		rt_row_begin(layout);
		rt_row_rule(layout, rt_layout_width(layout));
	} else {
		add_list(layout, node, rt_str_is(type, "ol"), ink);
	}
}

static void
add_blocks(rt_layout *layout, yyjson_val *array, bool is_tight, rt_ink ink)
{
	yyjson_val *node;
	size_t i, count;

	yyjson_arr_foreach(array, i, count, node)
	{
		if (!rt_layout_ok(layout))
			return;
		if (i > 0 && !is_tight)
			rt_layout_blank(layout);
		add_block(layout, node, ink);
	}
}

/* ---- texts ---- */

/* Lays out the text from the stable byte on, and advances that. */
static void
add_markdown(rt_layout *layout, rt_str text, rt_lines_stream *stream)
{
	rt_markup_options options = {.from = stream->stable};
	rt_lines_stream next = {.stable = stream->stable,
				.blocks = stream->blocks,
				.kept = rt_lines_here(layout->lines)};
	size_t blocks = stream->blocks, i, count;
	bool is_stable = true;
	yyjson_val *root, *node;
	rt_buf *json;
	rt_scope s;

	rt_scope_init(&s, layout->lines->alloc);
	json = rt_scope_buf(&s);
	RT_TRY(&s, rt_markup_blocks(json, text, &options, &next.stable, &s.error));
	root = rt_json_parse(&s, rt_buf_str(json));
	yyjson_arr_foreach(root, i, count, node)
	{
		uint64_t end = 0;

		if (!rt_layout_ok(layout))
			break;
		is_stable = is_stable &&
			    rt_json_u64(yyjson_arr_get(rt_json_get(node, "at"), 1), &end) &&
			    end <= next.stable;
		if (blocks++ > 0)
			rt_layout_blank(layout);
		add_block(layout, node, layout->ink);
		if (is_stable) {
			next.kept = rt_lines_here(layout->lines);
			next.blocks = blocks;
		}
	}
	if (s.status == RT_LIMIT) {
		next.stable = stream->stable;
		if (blocks > 0)
			rt_layout_blank(layout);
		rt_layout_plain(layout, rt_str_at(text.ptr + next.stable, text.size - next.stable));
	} else {
		rt_lines_fail(layout->lines, s.status);
	}
	if (rt_layout_ok(layout)) {
		stream->stable = next.stable;
		stream->blocks = next.blocks;
		stream->kept = next.kept;
	}
	rt_scope_deinit(&s);
}

void
rt_lines_add_markdown(rt_lines *lines, rt_str text, const rt_lines_options *options)
{
	rt_lines_stream whole = {.stable = 0};
	rt_layout layout;

	rt_layout_init(&layout, lines, options);
	add_markdown(&layout, text, &whole);
	rt_layout_deinit(&layout);
}

void
rt_lines_stream_init(rt_lines_stream *stream, const rt_alloc *alloc)
{
	memset(stream, 0, sizeof(*stream));
	rt_lines_init(&stream->lines, alloc);
}

void
rt_lines_stream_deinit(rt_lines_stream *stream)
{
	rt_lines_deinit(&stream->lines);
	memset(stream, 0, sizeof(*stream));
}

void
rt_lines_stream_begin(rt_lines_stream *stream, const rt_lines_options *options)
{
	rt_lines_clear(&stream->lines);
	stream->options = *options;
	stream->stable = stream->blocks = 0;
	stream->kept = (rt_lines_mark){0};
}

void
rt_lines_stream_set(rt_lines_stream *stream, rt_str text)
{
	rt_layout layout;

	RT_ASSERT(text.size >= stream->stable);
	if (!rt_lines_ok(&stream->lines))
		return;
	rt_lines_cut(&stream->lines, &stream->kept);
	rt_layout_init(&layout, &stream->lines, &stream->options);
	add_markdown(&layout, text, stream);
	rt_layout_deinit(&layout);
}
