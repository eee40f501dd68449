/* SPDX-License-Identifier: MIT
 *
 * Inlines of markup as a flow: emphasis, code, links with their url behind them. */
#include "codec/json.h"
#include "tui/lines_impl.h"
#include "app/width.h"

enum { DEPTH = RT_MARKUP_DEPTH_MAX + 8 };

typedef struct frame {
	yyjson_arr_iter nodes;
	rt_ink ink;
	rt_str href;   /* of the link that this is, or empty */
	uint32_t from; /* where its text begins */
} frame;

/* "202E": how a control character is called. */
static size_t
control_name(yyjson_val *node, char name[RT_RUNE_NAME_ROOM])
{
	rt_str digits = rt_json_str(rt_json_get(node, "cp"));
	uint32_t code = 0;
	size_t i;

	for (i = 0; i < digits.size && i < 6; i++) {
		char c = digits.ptr[i];

		code = code << 4 | (uint32_t)(c <= '9' ? c - '0' : (c | 0x20) - 'a' + 10);
	}
	return rt_rune_name(code, name);
}

void
rt_lines_texts(rt_buf *buf, yyjson_val *array)
{
	yyjson_arr_iter nodes = yyjson_arr_iter_with(array);
	char name[RT_RUNE_NAME_ROOM];
	yyjson_val *node;

	while ((node = yyjson_arr_iter_next(&nodes)) != NULL) {
		if (yyjson_is_str(node))
			rt_buf_add_str(buf, rt_json_str(node));
		else
			rt_buf_add(buf, name, control_name(node, name));
	}
}

static void
add_texts(rt_layout *layout, yyjson_val *array, rt_ink ink)
{
	yyjson_arr_iter nodes = yyjson_arr_iter_with(array);
	char name[RT_RUNE_NAME_ROOM];
	yyjson_val *node;

	while ((node = yyjson_arr_iter_next(&nodes)) != NULL) {
		if (yyjson_is_str(node))
			rt_flow_add(layout, rt_json_str(node), ink, ' ');
		else
			rt_flow_add(layout, rt_str_at(name, control_name(node, name)),
				    rt_ink_of(ink, RT_INK_WARNING), ' ');
	}
}

/* The url behind a text that does not say it. */
static void
add_url(rt_layout *layout, uint32_t from, rt_str url, rt_ink ink)
{
	const rt_buf *text = &layout->lines->text;
	rt_str shown = {NULL, 0}, said = url;

	if (text->size > from)
		shown = rt_str_at(text->ptr + from, text->size - from);
	if (rt_str_starts(said, RT_STR("mailto:")))
		said = rt_str_at(url.ptr + 7, url.size - 7);
	if (rt_str_eq(shown, url) || rt_str_eq(shown, said) || url.size == 0)
		return;
	if (shown.size == 0) {
		rt_flow_add(layout, url, ink, ' ');
		return;
	}
	ink = rt_ink_of(layout->ink, RT_INK_DIM);
	rt_flow_add(layout, RT_STR(" ("), ink, ' ');
	rt_flow_add(layout, url, ink, ' ');
	rt_flow_add(layout, RT_STR(")"), ink, ' ');
}

static bool
enter(rt_layout *layout, yyjson_val *node, const frame *in, frame *out)
{
	rt_str type = rt_json_str(rt_json_get(node, "t"));
	uint32_t from = (uint32_t)layout->lines->text.size;
	rt_ink link = (rt_ink)(rt_ink_of(in->ink, RT_INK_LINK) | RT_INK_UNDERLINE);
	char name[RT_RUNE_NAME_ROOM];

	*out = (frame){.ink = in->ink, .from = from};
	if (yyjson_is_str(node)) {
		rt_flow_add(layout, rt_json_str(node), in->ink, ' ');
		return false;
	}
	if (rt_str_is(type, "code")) {
		add_texts(layout, rt_json_get(node, "c"), rt_ink_of(in->ink, RT_INK_CODE));
	} else if (rt_str_is(type, "img")) {
		add_texts(layout, rt_json_get(node, "alt"), link);
		add_url(layout, from, rt_json_str(rt_json_get(node, "src")), link);
	} else if (rt_str_is(type, "br")) {
		rt_flow_add(layout, RT_STR("\n"), in->ink, '\n');
	} else if (rt_str_is(type, "ctl")) {
		rt_flow_add(layout, rt_str_at(name, control_name(node, name)),
			    rt_ink_of(in->ink, RT_INK_WARNING), ' ');
	} else {
		if (rt_str_is(type, "em"))
			out->ink |= RT_INK_ITALIC;
		else if (rt_str_is(type, "strong"))
			out->ink |= RT_INK_BOLD;
		else if (rt_str_is(type, "del"))
			out->ink |= RT_INK_STRIKE;
		else if (rt_str_is(type, "a"))
			out->ink = link;
		out->href = rt_json_str(rt_json_get(node, "href"));
		out->nodes = yyjson_arr_iter_with(rt_json_get(node, "c"));
		return true;
	}
	return false;
}

void
rt_flow_inlines(rt_layout *layout, yyjson_val *array, rt_ink ink)
{
	frame frames[DEPTH] = {{.ink = ink}}, *top;
	size_t depth = 1;
	yyjson_val *node;

	frames[0].nodes = yyjson_arr_iter_with(array);
	while (depth > 0 && rt_layout_fine(layout)) {
		top = &frames[depth - 1];
		node = yyjson_arr_iter_next(&top->nodes);
		if (node == NULL) {
			if (top->href.size > 0)
				add_url(layout, top->from, top->href, top->ink);
			depth--;
			continue;
		}
		RT_ASSERT(depth < DEPTH);
		if (enter(layout, node, top, &frames[depth]))
			depth++;
	}
}
