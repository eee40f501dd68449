/* SPDX-License-Identifier: MIT
 *
 * Lines first, then their meaning. Lines and data are copied only where they are cut. */
#include "llm/framing.h"

void
rt_frames_init(rt_frames *frames, const rt_alloc *alloc, rt_framing framing)
{
	*frames = (rt_frames){.framing = framing};
	rt_buf_init(&frames->line, alloc, RT_FRAME_SIZE_MAX);
	rt_buf_init(&frames->data, alloc, RT_FRAME_SIZE_MAX);
}

void
rt_frames_deinit(rt_frames *frames)
{
	rt_buf_deinit(&frames->line);
	rt_buf_deinit(&frames->data);
}

rt_status
rt_frames_check(const rt_frames *frames, rt_error *err)
{
	if (frames->status == RT_OK)
		return RT_OK;
	if (frames->status == RT_LIMIT)
		return rt_fail(err, RT_LIMIT, "the server sent a line of more than %d MiB",
			       (int)(RT_FRAME_SIZE_MAX >> 20));
	return rt_fail(err, frames->status, "out of memory while reading a response");
}

static void
note(rt_frames *f, rt_status status)
{
	if (f->status == RT_OK)
		f->status = status;
}

/* The data of the view into the buffer: the bytes that it points into are used up, or another
 * line follows. */
static void
keep_view(rt_frames *f)
{
	if (f->view.ptr == NULL)
		return;
	rt_buf_add_str(&f->data, f->view);
	f->view = rt_str_at(NULL, 0);
	note(f, f->data.status);
}

/* A line of SSE that is not empty. in_bytes: it is not in one of our buffers. */
static void
read_field(rt_frames *f, rt_str line, bool in_bytes)
{
	static const rt_str name = RT_STR_INIT("data");
	rt_str value = rt_str_at(line.ptr + name.size, line.size - name.size);

	if (!rt_str_starts(line, name) || (value.size > 0 && value.ptr[0] != ':'))
		return;
	if (value.size > 0)
		value = rt_str_skip(value, 1);
	if (value.size > 0 && value.ptr[0] == ' ')
		value = rt_str_skip(value, 1);
	if (f->has_data) {
		keep_view(f);
		rt_buf_add_byte(&f->data, '\n');
	}
	if (!f->has_data && in_bytes)
		f->view = value;
	else
		rt_buf_add_str(&f->data, value);
	f->has_data = true;
	note(f, f->data.status);
}

/* The data of a finished event, if it has any. */
static bool
end_event(rt_frames *f, rt_str *out)
{
	bool has_data = f->has_data;

	*out = f->view.ptr != NULL ? f->view : rt_buf_str(&f->data);
	f->view = rt_str_at(NULL, 0);
	f->has_data = false;
	f->is_given = true;
	return has_data;
}

/* A whole line, without its end. True: a piece is finished. */
static bool
read_line(rt_frames *f, rt_str line, bool in_bytes, rt_str *out)
{
	if (line.size > RT_FRAME_SIZE_MAX)
		note(f, RT_LIMIT);
	if (f->status != RT_OK)
		return false;
	if (!f->begun && rt_str_starts(line, RT_STR("\xEF\xBB\xBF")))
		line = rt_str_skip(line, 3);
	f->begun = true;
	if (f->framing == RT_FRAMING_LINES) {
		line.size -= line.size > 0 && line.ptr[line.size - 1] == '\r';
		*out = line;
		f->is_given = true;
		return rt_str_trim(line).size > 0;
	}
	if (line.size == 0)
		return end_event(f, out);
	read_field(f, line, in_bytes);
	if (!in_bytes)
		rt_buf_clear(&f->line);
	return false;
}

static void
clear_given(rt_frames *f)
{
	if (!f->is_given)
		return;
	rt_buf_clear(&f->line);
	rt_buf_clear(&f->data);
	f->is_given = false;
}

/* A line's end in bytes; SIZE_MAX: none. A CR alone ends a line of SSE. */
static size_t
find_end(const rt_frames *f, rt_str bytes)
{
	const char *end = memchr(bytes.ptr, '\n', bytes.size), *cr = NULL;

	if (f->framing == RT_FRAMING_SSE)
		cr = memchr(bytes.ptr, '\r', end != NULL ? (size_t)(end - bytes.ptr) : bytes.size);
	if (cr != NULL)
		end = cr;
	return end == NULL ? SIZE_MAX : (size_t)(end - bytes.ptr);
}

bool
rt_frames_next(rt_frames *f, rt_str *bytes, rt_str *out)
{
	clear_given(f);
	while (bytes->size > 0 && f->status == RT_OK) {
		bool skip = f->after_cr && bytes->ptr[0] == '\n', in_bytes = f->line.size == 0;
		rt_str line;
		size_t end;

		if (skip)
			*bytes = rt_str_skip(*bytes, 1);
		f->after_cr = false;
		end = bytes->size > 0 ? find_end(f, *bytes) : SIZE_MAX;
		if (end == SIZE_MAX) {
			rt_buf_add_str(&f->line, *bytes);
			note(f, f->line.status);
			bytes->size = 0;
			break;
		}
		line = rt_str_at(bytes->ptr, end);
		f->after_cr = bytes->ptr[end] == '\r';
		*bytes = rt_str_skip(*bytes, end + 1);
		if (!in_bytes) {
			rt_buf_add_str(&f->line, line);
			note(f, f->line.status);
			line = rt_buf_str(&f->line);
		}
		if (read_line(f, line, in_bytes, out))
			return true;
		clear_given(f);
	}
	keep_view(f);
	return false;
}

bool
rt_frames_last(rt_frames *f, rt_str *out)
{
	clear_given(f);
	if (f->line.size > 0 && read_line(f, rt_buf_str(&f->line), false, out))
		return true;
	return f->framing == RT_FRAMING_SSE && f->status == RT_OK && end_event(f, out);
}
