/* SPDX-License-Identifier: MIT
 *
 * A text that is still being written: rows of what is stable stay, those behind them are cut
 * off and made again. */
#include "tui/lines_impl.h"

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
	stream->stable = 0;
	stream->blocks = 0;
	stream->count = 0;
	stream->piece_count = 0;
	stream->text_size = 0;
}

void
rt_lines_stream_set(rt_lines_stream *stream, rt_str text)
{
	rt_lines_mark kept = {stream->count, stream->piece_count, stream->text_size};
	rt_layout_part part = {.from = stream->stable, .block_count = stream->blocks};
	rt_layout layout;

	RT_ASSERT(text.size >= stream->stable);
	if (stream->lines.status != RT_OK)
		return;
	rt_lines_cut(&stream->lines, &kept);
	rt_layout_init(&layout, &stream->lines, &stream->options);
	rt_layout_markdown(&layout, text, &part);
	rt_layout_deinit(&layout);
	if (stream->lines.status != RT_OK)
		return;
	stream->stable = part.out_stable;
	stream->blocks = part.out_block_count;
	stream->count = part.out_kept.count;
	stream->piece_count = part.out_kept.piece_count;
	stream->text_size = part.out_kept.text_size;
}
