/* SPDX-License-Identifier: MIT
 *
 * The walk holds a window of the input. It slides forward when more is needed: the bytes
 * before the next one are dropped and a chunk is appended. The scan of a value (formats_scan.h)
 * continues where it stopped, so no byte is scanned twice. */
#include "formats/formats_walk.h"

enum {
	CHUNK = 64 * 1024,
	ROOM_KEPT = 1 << 20 /* a larger window is freed when it is not needed any more */
};

void
rt_walk_init(rt_walk *w, const rt_alloc *alloc, const rt_input *in)
{
	memset(w, 0, sizeof(*w));
	w->alloc = alloc;
	w->in = in;
	w->line = 1;
	rt_buf_init(&w->key, alloc, RT_BUF_UNLIMITED);
}

void
rt_walk_deinit(rt_walk *w)
{
	rt_free(w->alloc, w->bytes);
	w->bytes = NULL;
	rt_buf_deinit(&w->key);
}

static void
no_memory(rt_walk *w)
{
	w->status = rt_fail(&w->error, RT_NOMEM, "out of memory while importing");
}

rt_status
rt_walk_fail(const rt_walk *w, rt_error *err)
{
	if (w->status != RT_OK && err != NULL)
		*err = w->error;
	return w->status;
}

/* ---- the window ---- */

static bool
make_room(rt_walk *w)
{
	size_t room = w->room;
	char *bytes;

	if (room > ROOM_KEPT && w->size < ROOM_KEPT / 4)
		room = ROOM_KEPT / 2;
	else if (room - w->size < CHUNK)
		room = room < ROOM_KEPT ? room * 2 : room + room / 2;
	else
		return true;
	if (room - w->size < CHUNK)
		room = w->size + CHUNK;
	bytes = rt_resize(w->alloc, w->bytes, room);
	if (bytes == NULL) {
		no_memory(w);
		return false;
	}
	w->bytes = bytes;
	w->room = room;
	return true;
}

/* Append one more chunk of the input and drop the bytes before at, which moves the caller's
 * indices. False: nothing follows. */
static bool
read_more(rt_walk *w)
{
	size_t got = 0;

	if (w->has_end || w->status != RT_OK)
		return false;
	if (w->at > 0) {
		memmove(w->bytes, w->bytes + w->at, w->size - w->at);
		w->size -= w->at;
		w->base += w->at;
		w->at = 0;
	}
	if (!make_room(w))
		return false;
	w->status = w->in->read_at(w->in->ctx, w->base + w->size, w->bytes + w->size,
				   w->room - w->size < CHUNK ? w->room - w->size : CHUNK, &got,
				   &w->error);
	if (w->status != RT_OK)
		return false;
	w->has_end = got == 0;
	w->size += got;
	return got > 0;
}

/* Pass the bytes up to index end. */
static void
pass(rt_walk *w, size_t end)
{
	while (w->at < end) {
		const char *nl = memchr(w->bytes + w->at, '\n', end - w->at);

		if (nl == NULL) {
			w->at = end;
			break;
		}
		w->at = (size_t)(nl - w->bytes) + 1;
		w->line++;
	}
}

rt_walk_mark
rt_walk_here(const rt_walk *w)
{
	return (rt_walk_mark){w->base + w->at, w->line};
}

void
rt_walk_seek(rt_walk *w, rt_walk_mark mark)
{
	if (mark.offset >= w->base && mark.offset - w->base <= w->size) {
		w->at = (size_t)(mark.offset - w->base);
	} else {
		w->base = mark.offset;
		w->at = w->size = 0;
		w->has_end = false;
	}
	w->line = mark.line;
}

int
rt_walk_peek(rt_walk *w)
{
	if (w->status != RT_OK)
		return -1;
	if (w->at == w->size && !read_more(w))
		return -1;
	return (unsigned char)w->bytes[w->at];
}

rt_str
rt_walk_ahead(rt_walk *w, size_t size)
{
	while (w->status == RT_OK && w->size - w->at < size && read_more(w))
		;
	if (w->status != RT_OK || w->size == w->at)
		return rt_str_at("", 0);
	return rt_str_at(w->bytes + w->at, w->size - w->at < size ? w->size - w->at : size);
}

void
rt_walk_unmark(rt_walk *w)
{
	if (rt_str_is(rt_walk_ahead(w, 3), "\xEF\xBB\xBF"))
		w->at += 3;
}

bool
rt_walk_blank(rt_walk *w)
{
	int c;

	while ((c = rt_walk_peek(w)) == ' ' || c == '\n' || c == '\r' || c == '\t')
		pass(w, w->at + 1);
	return c >= 0;
}

bool
rt_walk_find(rt_walk *w, rt_str needle)
{
	while (w->status == RT_OK) {
		size_t found = w->size == w->at
				       ? SIZE_MAX
				       : rt_str_find(rt_str_at(w->bytes, w->size), needle, w->at);

		if (found != SIZE_MAX) {
			pass(w, found + needle.size);
			return true;
		}
		if (w->size - w->at >= needle.size)
			pass(w, w->size - needle.size + 1);
		if (!read_more(w)) {
			pass(w, w->size);
			break;
		}
	}
	return false;
}

/* ---- values ---- */

static void
make_bad(rt_walk *w, rt_walk_level *level)
{
	if (level == NULL)
		return;
	level->bad = true;
	level->fault = rt_walk_here(w);
}

rt_walked
rt_walk_value(rt_walk *w, rt_walk_level *level, size_t max, rt_str *out_value)
{
	rt_json_scan s = {0};
	size_t end = w->at; /* at is not changed, so that the value is kept */
	bool ended;

	while (!(ended = rt_scan_on(&s, w->bytes, &end, w->size)) && end - w->at <= max) {
		size_t size = end - w->at;
		bool more = read_more(w); /* changes at, also if nothing follows */

		end = w->at + size;
		if (!more)
			break;
	}
	if (w->status == RT_OK && end - w->at > max)
		return RT_WALK_LONG;
	if (w->status != RT_OK || end == w->at || !(ended || s.is_scalar)) {
		make_bad(w, level);
		return RT_WALK_CUT;
	}
	*out_value = rt_str_at(w->bytes + w->at, end - w->at);
	pass(w, end);
	return RT_WALK_WHOLE;
}

bool
rt_walk_skip(rt_walk *w, rt_walk_level *level)
{
	rt_walk_mark start = rt_walk_here(w);
	rt_json_scan s = {0};
	bool ended;

	do {
		size_t end = w->at;

		ended = rt_scan_on(&s, w->bytes, &end, w->size);
		pass(w, end);
	} while (!ended && read_more(w));
	if (w->status == RT_OK && w->base + w->at > start.offset && (ended || s.is_scalar))
		return true;
	rt_walk_seek(w, start);
	make_bad(w, level);
	return false;
}

/* ---- levels ---- */

bool
rt_walk_open(rt_walk *w, rt_walk_level *level)
{
	int c = rt_walk_blank(w) ? rt_walk_peek(w) : -1;

	memset(level, 0, sizeof(*level));
	if (c != '[' && c != '{') {
		make_bad(w, level);
		return false;
	}
	level->close = c == '[' ? ']' : '}';
	pass(w, w->at + 1);
	return true;
}

static bool
level_fail(rt_walk *w, rt_walk_level *level)
{
	make_bad(w, level);
	return false;
}

bool
rt_walk_next(rt_walk *w, rt_walk_level *level, rt_str *out_key)
{
	rt_str key;

	*out_key = rt_str_at(NULL, 0);
	if (level->bad || level->close == '\0')
		return false;
	(void)rt_walk_blank(w);
	if (rt_walk_peek(w) == level->close) {
		pass(w, w->at + 1);
		level->close = '\0';
		return false;
	}
	if (level->started) {
		if (rt_walk_peek(w) != ',')
			return level_fail(w, level);
		pass(w, w->at + 1);
		(void)rt_walk_blank(w);
	}
	level->started = true;
	if (level->close == '}') {
		if (rt_walk_peek(w) != '"' ||
		    rt_walk_value(w, level, SIZE_MAX, &key) != RT_WALK_WHOLE)
			return level_fail(w, level);
		rt_buf_clear(&w->key);
		rt_buf_add_str(&w->key, key);
		if (w->key.status != RT_OK) {
			no_memory(w);
			return level_fail(w, level);
		}
		*out_key = rt_buf_str(&w->key);
		(void)rt_walk_blank(w);
		if (rt_walk_peek(w) != ':')
			return level_fail(w, level);
		pass(w, w->at + 1);
		(void)rt_walk_blank(w);
	}
	return w->status == RT_OK;
}

/* ---- lines ---- */

rt_walked
rt_walk_line(rt_walk *w, size_t max, rt_str *out_line)
{
	size_t size = 0; /* of the line, as far as it was read */
	const char *nl = NULL;

	if (rt_walk_peek(w) < 0)
		return RT_WALK_CUT;
	for (;;) {
		nl = memchr(w->bytes + w->at + size, '\n', w->size - w->at - size);
		size = nl != NULL ? (size_t)(nl - w->bytes) - w->at : w->size - w->at;
		if (size > max)
			return RT_WALK_LONG;
		if (nl != NULL || !read_more(w))
			break;
	}
	if (w->status != RT_OK)
		return RT_WALK_CUT;
	*out_line = rt_str_at(w->bytes + w->at, size);
	pass(w, w->at + size + (nl != NULL));
	return RT_WALK_WHOLE;
}

void
rt_walk_skip_line(rt_walk *w)
{
	while (rt_walk_peek(w) >= 0) {
		const char *nl = memchr(w->bytes + w->at, '\n', w->size - w->at);

		pass(w, nl != NULL ? (size_t)(nl - w->bytes) + 1 : w->size);
		if (nl != NULL)
			return;
	}
}
