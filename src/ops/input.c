/* SPDX-License-Identifier: MIT
 *
 * Inputs: reading them from memory, and handing whole files to formats that cannot read in
 * batches. */
#include "ops/format.h"

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
	return (rt_input){.ctx = (void *)(uintptr_t)bytes,
			  .size = bytes->size,
			  .read_at = memory_read_at};
}

rt_status
rt_input_read(const rt_input *in, uint64_t offset, char *to, size_t room, size_t *out_size,
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
	return rt_input_read(in, 0, to, RT_INPUT_HEAD, out_size, err);
}

static rt_status
too_large(const rt_format *format, rt_error *err)
{
	return rt_fail(err, RT_LIMIT,
		       "the file is larger than %zu MiB, the limit for the format %s; split its "
		       "conversations into several smaller files",
		       format->whole_max >> 20, format->name);
}

/* The whole input; *io_bytes is the caller's, also on failure. */
static rt_status
read_whole(const rt_format *format, const rt_alloc *alloc, const rt_input *in, char **io_bytes,
	   size_t *out_size, rt_error *err)
{
	size_t size = 0, room = in->size > 0 ? (size_t)in->size + 1 : RT_INPUT_HEAD, got;
	rt_status st;

	if (in->size > format->whole_max)
		return too_large(format, err);
	for (;;) { /* with one spare byte, to detect longer input */
		char *more = rt_resize(alloc, *io_bytes, room);

		if (more == NULL)
			return rt_fail(err, RT_NOMEM, "out of memory while importing");
		*io_bytes = more;
		st = rt_input_read(in, size, more + size, room - size, &got, err);
		if (st != RT_OK)
			return st;
		size += got;
		if (size > format->whole_max)
			return too_large(format, err);
		if (size < room)
			break;
		room += room / 2;
	}
	*out_size = size;
	return RT_OK;
}

rt_status
rt_format_stream(const rt_format *format, const rt_alloc *alloc, const rt_input *in,
		 rt_outlines_fn fn, void *ctx, rt_report *report, rt_error *err)
{
	rt_outlines outlines;
	char *bytes = NULL;
	size_t size = 0;
	rt_status st;

	if (format->stream != NULL && in->size >= format->whole_max)
		return format->stream(alloc, in, fn, ctx, report, err);
	rt_outlines_init(&outlines);
	st = read_whole(format, alloc, in, &bytes, &size, err);
	if (st == RT_LIMIT && format->stream != NULL) { /* its size was not known */
		rt_free(alloc, bytes);
		return format->stream(alloc, in, fn, ctx, report, err);
	}
	if (st == RT_OK)
		st = format->read(alloc, rt_str_at(bytes, size), &outlines, report, err);
	if (st == RT_OK)
		st = fn(ctx, &outlines, err);
	rt_outlines_deinit(&outlines);
	rt_free(alloc, bytes);
	return st;
}
