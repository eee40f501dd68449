/* SPDX-License-Identifier: MIT
 *
 * Lines first, then what they mean. A line is gathered in a buffer only when it is cut. */
#include "llm/framing.h"

void
rt_frames_init(rt_frames *frames, const rt_alloc *alloc, rt_framing framing, rt_frame_fn fn,
	       void *ctx)
{
	memset(frames, 0, sizeof(*frames));
	frames->framing = framing;
	frames->fn = fn;
	frames->ctx = ctx;
	rt_buf_init(&frames->line, alloc, RT_FRAME_SIZE_MAX);
	rt_buf_init(&frames->event, alloc, RT_FRAME_SIZE_MAX);
	rt_buf_init(&frames->data, alloc, RT_FRAME_SIZE_MAX);
}

void
rt_frames_deinit(rt_frames *frames)
{
	rt_buf_deinit(&frames->line);
	rt_buf_deinit(&frames->event);
	rt_buf_deinit(&frames->data);
}

static rt_status
too_much(rt_status status, rt_error *err)
{
	if (status == RT_LIMIT)
		return rt_fail(err, status, "the server sent a line of more than %d MiB",
			       (int)(RT_FRAME_SIZE_MAX >> 20));
	return rt_fail(err, status, "out of memory while reading an answer");
}

/* The event that has been gathered, if it is one. */
static rt_status
give_event(rt_frames *f, rt_error *err)
{
	rt_status st = RT_OK;

	if (f->has_data)
		st = f->fn(f->ctx, rt_buf_str(&f->event), rt_buf_str(&f->data), err);
	rt_buf_clear(&f->event);
	rt_buf_clear(&f->data);
	f->has_data = false;
	return st;
}

static rt_status
take_field(rt_frames *f, rt_str line, rt_error *err)
{
	size_t colon = rt_str_find(line, RT_STR(":"), 0);
	rt_str name = line, value = rt_str_at(NULL, 0);

	if (colon != SIZE_MAX) {
		name.size = colon;
		value = rt_str_at(line.ptr + colon + 1, line.size - colon - 1);
		if (value.size > 0 && value.ptr[0] == ' ')
			value = rt_str_at(value.ptr + 1, value.size - 1);
	}
	if (rt_str_is(name, "event")) {
		rt_buf_clear(&f->event);
		rt_buf_add_str(&f->event, value);
	} else if (rt_str_is(name, "data")) {
		if (f->has_data)
			rt_buf_add_byte(&f->data, '\n');
		rt_buf_add_str(&f->data, value);
		f->has_data = true;
	}
	if (f->event.status != RT_OK || f->data.status != RT_OK)
		return too_much(f->event.status != RT_OK ? f->event.status : f->data.status, err);
	return RT_OK;
}

/* A whole line, without its end. */
static rt_status
take_line(rt_frames *f, rt_str line, rt_error *err)
{
	if (line.size > RT_FRAME_SIZE_MAX)
		return too_much(RT_LIMIT, err);
	if (!f->begun && rt_str_starts(line, RT_STR("\xEF\xBB\xBF")))
		line = rt_str_at(line.ptr + 3, line.size - 3);
	f->begun = true;
	if (f->framing == RT_FRAMING_LINES && line.size > 0 && line.ptr[line.size - 1] == '\r')
		line.size--;
	if (f->framing == RT_FRAMING_LINES)
		return rt_str_trim(line).size > 0 ? f->fn(f->ctx, rt_str_at(NULL, 0), line, err)
						  : RT_OK;
	return line.size == 0 ? give_event(f, err) : take_field(f, line, err);
}

/* With what was gathered of it before. */
static rt_status
end_line(rt_frames *f, rt_str rest, rt_error *err)
{
	rt_status st;

	if (f->line.size == 0)
		return take_line(f, rest, err);
	rt_buf_add_str(&f->line, rest);
	if (f->line.status != RT_OK)
		return too_much(f->line.status, err);
	st = take_line(f, rt_buf_str(&f->line), err);
	rt_buf_clear(&f->line);
	return st;
}

/* Where the line ends; SIZE_MAX: not here. A lone CR ends one of SSE too. */
static size_t
find_end(const rt_frames *f, rt_str bytes)
{
	size_t i;

	for (i = 0; i < bytes.size; i++)
		if (bytes.ptr[i] == '\n' || (bytes.ptr[i] == '\r' && f->framing == RT_FRAMING_SSE))
			return i;
	return SIZE_MAX;
}

rt_status
rt_frames_add(rt_frames *frames, rt_str bytes, rt_error *err)
{
	if (frames->status != RT_OK)
		return rt_fail(err, frames->status, "the answer could not be read");
	while (bytes.size > 0 && frames->status == RT_OK) {
		size_t end;

		if (frames->after_cr && bytes.ptr[0] == '\n') {
			bytes = rt_str_at(bytes.ptr + 1, bytes.size - 1);
			frames->after_cr = false;
			continue;
		}
		frames->after_cr = false;
		end = find_end(frames, bytes);
		if (end == SIZE_MAX) {
			rt_buf_add_str(&frames->line, bytes);
			if (frames->line.status != RT_OK)
				frames->status = too_much(frames->line.status, err);
			break;
		}
		frames->after_cr = bytes.ptr[end] == '\r';
		frames->status = end_line(frames, rt_str_at(bytes.ptr, end), err);
		bytes = rt_str_at(bytes.ptr + end + 1, bytes.size - end - 1);
	}
	return frames->status;
}

rt_status
rt_frames_end(rt_frames *frames, rt_error *err)
{
	if (frames->status != RT_OK)
		return rt_fail(err, frames->status, "the answer could not be read");
	if (frames->line.size > 0)
		frames->status = end_line(frames, rt_str_at(NULL, 0), err);
	if (frames->status == RT_OK && frames->framing == RT_FRAMING_SSE)
		frames->status = give_event(frames, err);
	return frames->status;
}
