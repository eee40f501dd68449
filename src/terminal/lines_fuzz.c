/* SPDX-License-Identifier: MIT
 *
 * Any bytes laid out in every way: the first two determine the width, whether in ASCII, and the
 * earlier part of the rest. No row is too wide, no visible character is missing, and the rows of a
 * growing text end up like those of the whole text. */
#include "terminal/lines_testing.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void
check_growing(const rt_lines *whole, rt_str text, size_t part, const rt_lines_options *options)
{
	rt_markup_options after = {0};
	rt_lines_stream stream;
	rt_buf json;

	rt_lines_stream_init(&stream, rt_alloc_libc());
	rt_lines_stream_begin(&stream, options);
	rt_lines_stream_set(&stream, rt_str_at(text.ptr, part));
	lines_check(&stream.lines, options);
	after.from = stream.stable;
	rt_lines_stream_set(&stream, text);
	lines_check(&stream.lines, options);
	/* The part after the stable one may be refused although the whole is not. */
	rt_buf_init(&json, rt_alloc_libc(), RT_BUF_UNLIMITED);
	if (rt_markup_blocks(&json, text, NULL, NULL, NULL) == RT_OK) {
		rt_buf_clear(&json);
		if (rt_markup_blocks(&json, text, &after, NULL, NULL) == RT_OK)
			lines_check_same(&stream.lines, whole);
	}
	rt_buf_deinit(&json);
	rt_lines_stream_deinit(&stream);
}

static void
check_drawn(const rt_lines *lines, rt_str match, const rt_lines_options *options)
{
	rt_canvas canvas;
	size_t from;

	rt_canvas_init(&canvas, rt_alloc_libc(), options->utf8);
	RT_ASSERT(rt_canvas_resize(&canvas, options->columns, 4) == RT_OK);
	for (from = 0; from < lines->count; from += 4) {
		rt_canvas_clear(&canvas);
		rt_lines_draw(lines, from, 4, &canvas, rt_canvas_box(&canvas), match);
	}
	rt_canvas_deinit(&canvas);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char *const languages[] = {"c",  "python", "sh",   "js",   "json", "sql", "go",
						"rust", "diff", "toml", "yaml", "html", "lua"};
	rt_lines_options options = {.columns = 20, .utf8 = true};
	rt_str text = rt_str_at((const char *)data, size);
	rt_lines lines;
	size_t part;

	if (size >= 2) {
		options.columns = 1 + data[0] % 100;
		options.utf8 = data[0] < 200;
		options.indent = data[0] % 7 == 0 ? 3 : 0;
		text = rt_str_at((const char *)data + 2, size - 2);
	}
	part = size >= 2 ? text.size * data[1] / 256 : 0;
	rt_lines_init(&lines, rt_alloc_libc());
	rt_lines_add_markdown(&lines, text, &options);
	RT_ASSERT(lines.status == RT_OK);
	lines_check(&lines, &options);
	lines_check_shown(&lines, text);
	check_drawn(&lines, rt_str_at(text.ptr, text.size < 3 ? text.size : 3), &options);
	if (lines.count > 0)
		check_growing(&lines, text, part, &options);
	rt_lines_clear(&lines);
	rt_lines_add_plain(&lines, text, &options);
	lines_check(&lines, &options);
	rt_lines_clear(&lines);
	rt_lines_add_code(&lines, text, rt_str_of(languages[part % 13]), &options);
	lines_check(&lines, &options);
	rt_lines_clear(&lines);
	rt_lines_add_difference(&lines, rt_str_at(text.ptr, part),
				rt_str_at(text.ptr + part, text.size - part), &options);
	RT_ASSERT(lines.status == RT_OK);
	lines_check(&lines, &options);
	rt_lines_deinit(&lines);
	return 0;
}
