/* SPDX-License-Identifier: MIT
 *
 * The rows of terminal/lines.h as output of a command. */
#include "program/markdown.h"
#include "terminal/lines.h"

#include <errno.h>

enum { WIDEST = 100 /* columns; longer lines are hard to read */ };

static void
print_piece(rt_term *out, const rt_lines *lines, const rt_piece *piece)
{
	static const rt_style styles[RT_INK_COUNT] = {
		[RT_INK_DIM] = RT_STYLE_DIM,	[RT_INK_HEADING] = RT_STYLE_BOLD,
		[RT_INK_CODE] = RT_STYLE_CYAN,	[RT_INK_LINK] = RT_STYLE_BLUE,
		[RT_INK_QUOTE] = RT_STYLE_DIM,	[RT_INK_BORDER] = RT_STYLE_DIM,
		[RT_INK_TOOL] = RT_STYLE_YELLOW, [RT_INK_USER] = RT_STYLE_GREEN,
		[RT_INK_SYSTEM] = RT_STYLE_MAGENTA,
	};
	rt_style style = styles[piece->ink & 0xff];

	if ((piece->ink & RT_INK_BOLD) != 0)
		rt_term_style(out, RT_STYLE_BOLD);
	if (style != RT_STYLE_NONE)
		rt_term_style(out, style);
	for (uint32_t at = 0, size; at < piece->size; at += size) {
		rt_str url = rt_lines_url_at(lines, piece, at, &size);

		if (url.size > 0)
			rt_term_link(out, url);
		rt_term_text(out, rt_str_at(lines->text.ptr + piece->from + at, size));
		if (url.size > 0)
			rt_term_link(out, RT_STR(""));
	}
	if ((piece->ink & RT_INK_BOLD) != 0 || style != RT_STYLE_NONE)
		rt_term_style(out, RT_STYLE_NONE);
}

bool
rt_markdown_print(rt_term *out, rt_str text, size_t indent, rt_markdown_part *part)
{
	size_t columns = rt_term_width(out);
	rt_lines_options options = {.columns = (int)(columns < WIDEST ? columns : WIDEST),
				    .utf8 = out->utf8,
				    .indent = (int)indent};
	rt_lines_stream stream;
	size_t count;

	rt_lines_stream_init(&stream, out->buf.alloc);
	rt_lines_stream_begin(&stream, &options);
	stream.stable = part->stable;
	stream.blocks = part->blocks;
	rt_lines_stream_set(&stream, text);
	if (stream.lines.status != RT_OK && out->error == 0)
		out->error = ENOMEM;
	count = part->is_end ? stream.lines.count : stream.kept.count;
	for (size_t i = 0; i < count && stream.lines.status == RT_OK && !out->broken; i++) {
		const rt_line *line = &stream.lines.lines[i];

		rt_term_spaces(out, line->indent);
		for (uint32_t k = 0; k < line->pieces; k++)
			print_piece(out, &stream.lines, &stream.lines.pieces[line->piece + k]);
		rt_term_c(out, "\n");
	}
	part->stable = stream.stable;
	part->blocks = stream.blocks;
	rt_lines_stream_deinit(&stream);
	return count > 0;
}
