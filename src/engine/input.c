/* SPDX-License-Identifier: MIT
 *
 * Inputs: reading them from memory, and handing whole files to formats that cannot read in
 * batches. */
#include "engine/format.h"

static rt_status
memory_read_at(void *ctx, uint64_t offset, char *to, size_t room, size_t *out_size, rt_error *err)
{
	const rt_str *bytes = ctx;
	size_t size = offset < bytes->size ? bytes->size - (size_t)offset : 0;

	(void)err;
	if (size > room)
		size = room;
	if (size > 0)
		memcpy(to, bytes->ptr + offset, size);
	*out_size = size;
	return RT_OK;
}

rt_input
rt_input_of(const rt_str *bytes)
{
	return (rt_input){(void *)(uintptr_t)bytes, bytes->size, memory_read_at};
}

/* Until room is full or the input ends. */
static rt_status
read_fully(const rt_input *in, uint64_t offset, char *to, size_t room, size_t *out_size,
	   rt_error *err)
{
	size_t size = 0, got = 1;
	rt_status st = RT_OK;

	while (st == RT_OK && size < room && got > 0) {
		got = 0;
		st = in->read_at(in->ctx, offset + size, to + size, room - size, &got, err);
		size += st == RT_OK ? got : 0;
	}
	*out_size = size;
	return st;
}

rt_status
rt_input_head(const rt_input *in, char *to, size_t *out_size, rt_error *err)
{
	return read_fully(in, 0, to, RT_INPUT_HEAD, out_size, err);
}

static rt_status
too_large(const rt_format *format, rt_error *err)
{
	return rt_fail(err, RT_LIMIT,
		       "the file is larger than %zu MiB, the most that a file of the format %s may "
		       "have; import its conversations from several smaller files",
		       format->whole_max >> 20, format->name);
}

static rt_status
read_whole(const rt_format *format, const rt_input *in, rt_buf *out, rt_error *err)
{
	size_t got = 0, room = RT_INPUT_HEAD;
	rt_status st = RT_OK;

	if (in->size > format->whole_max)
		return too_large(format, err);
	do {
		char *to;

		/* all of it at once, and one byte to see that there is no more */
		if (out->size == 0 && in->size >= room)
			room = (size_t)in->size + 1;
		to = rt_buf_reserve(out, room);
		if (to == NULL)
			return rt_fail(err, RT_NOMEM, "out of memory while importing");
		st = read_fully(in, out->size, to, room, &got, err);
		out->size += st == RT_OK ? got : 0;
		if (st == RT_OK && out->size > format->whole_max)
			st = too_large(format, err);
		room = RT_INPUT_HEAD;
	} while (st == RT_OK && got > 0);
	return st;
}

rt_status
rt_format_stream(const rt_format *format, const rt_alloc *alloc, const rt_input *in,
		 rt_outlines_fn fn, void *ctx, rt_report *report, rt_error *err)
{
	rt_outlines outlines;
	rt_buf bytes;
	rt_status st;

	if (format->stream != NULL)
		return format->stream(alloc, in, fn, ctx, report, err);
	rt_outlines_init(&outlines);
	rt_buf_init(&bytes, alloc, RT_BUF_UNLIMITED);
	st = read_whole(format, in, &bytes, err);
	if (st == RT_OK)
		st = format->read(alloc, rt_buf_str(&bytes), &outlines, report, err);
	if (st == RT_OK)
		st = fn(ctx, &outlines, err);
	rt_outlines_deinit(&outlines);
	rt_buf_deinit(&bytes);
	return st;
}
