/* SPDX-License-Identifier: MIT
 *
 * For tests of the walk: an input that delivers a few bytes at a time and counts them, and a
 * comparison of the results of formats_scan.h and the walk. */
#ifndef RT_FORMATS_WALK_TESTING_H
#define RT_FORMATS_WALK_TESTING_H

#include "codec/json.h"
#include "formats/formats_scan.h"
#include "formats/formats_walk.h"

typedef struct walk_source {
	rt_str bytes;
	size_t step;       /* maximum per call */
	uint64_t fails_at; /* reading this byte fails; 0: none */
	uint64_t read;     /* bytes given so far */
} walk_source;

static inline rt_status
walk_source_read_at(void *ctx, uint64_t offset, char *to, size_t room, size_t *out_size,
		    rt_error *err)
{
	walk_source *s = ctx;
	size_t size = offset < s->bytes.size ? s->bytes.size - (size_t)offset : 0;

	if (size > room)
		size = room;
	if (size > s->step)
		size = s->step;
	if (s->fails_at > 0 && offset + size > s->fails_at)
		return rt_fail(err, RT_IO, "the disk failed");
	if (size > 0)
		memcpy(to, s->bytes.ptr + offset, size);
	s->read += size;
	*out_size = size;
	return RT_OK;
}

static inline rt_input
walk_input(walk_source *s)
{
	return (rt_input){.ctx = s, .size = s->bytes.size, .read_at = walk_source_read_at};
}

/* Dumps a value with every key and scalar as text; both sides must agree. Containers are opened
 * down to depth, and kept as a whole below. */
static inline bool
walk_dump_scan(rt_buf *out, rt_str in, rt_str value, int depth)
{
	rt_members m;
	rt_str key, member;

	if (depth == 0 || !rt_members_open(&m, value)) {
		rt_buf_add_str(out, value);
		return true;
	}
	rt_buf_add_byte(out, m.close);
	while (rt_members_next(&m, &key, &member)) {
		rt_buf_add_f(out, "\n%zu %.*s: ", (size_t)(member.ptr - in.ptr), RT_STR_ARG(key));
		(void)walk_dump_scan(out, in, member, depth - 1);
	}
	if (m.bad)
		rt_buf_add_f(out, "\nbad at %zu", (size_t)(m.in.ptr - in.ptr) + m.at);
	rt_buf_add_byte(out, '.');
	return !m.bad && m.close == '\0';
}

static inline bool walk_dump_part(rt_buf *out, const walk_source *source, rt_walk_mark from,
				  rt_walk_mark end, int depth);

/* source: the input, each value of which is walked as if it were all of it; NULL: they are walked as
 * parts of it. In malformed JSON that is not the same: a value may seem to continue beyond the end of the
 * one around it. */
static inline bool
walk_dump(rt_buf *out, const walk_source *source, rt_walk *w, rt_walk_level *in, int depth)
{
	rt_walk_level level;
	rt_str key, value;
	int c = rt_walk_peek(w);

	if (depth == 0 || (c != '[' && c != '{')) {
		if (rt_walk_value(w, in, SIZE_MAX, &value) != RT_WALK_WHOLE)
			return false;
		rt_buf_add_str(out, value);
		return true;
	}
	(void)rt_walk_open(w, &level);
	rt_buf_add_byte(out, level.close);
	while (rt_walk_next(w, &level, &key)) {
		rt_walk_mark here = rt_walk_here(w), end;

		/* as the scan does: a truncated value does not count, and brackets determine the
		 * end even of malformed content */
		if (!rt_walk_skip(w, &level))
			break;
		end = rt_walk_here(w);
		rt_walk_seek(w, here);
		rt_buf_add_f(out, "\n%zu %.*s: ", (size_t)here.offset, RT_STR_ARG(key));
		if (source != NULL)
			(void)walk_dump_part(out, source, here, end, depth - 1);
		else
			(void)walk_dump(out, NULL, w, &level, depth - 1);
		rt_walk_seek(w, end);
	}
	if (level.bad)
		rt_buf_add_f(out, "\nbad at %zu", (size_t)level.fault.offset);
	rt_buf_add_byte(out, '.');
	return !level.bad && level.close == '\0' && w->status == RT_OK;
}

static inline bool
walk_dump_part(rt_buf *out, const walk_source *source, rt_walk_mark from, rt_walk_mark end, int depth)
{
	walk_source part = *source;
	rt_input in = walk_input(&part);
	rt_walk w;
	bool whole;

	part.bytes.size = in.size = (size_t)end.offset;
	rt_walk_init(&w, rt_alloc_libc(), &in);
	rt_walk_seek(&w, from);
	whole = walk_dump(out, &part, &w, NULL, depth);
	rt_walk_deinit(&w);
	return whole;
}

static inline bool
walk_is_json(rt_str text)
{
	rt_json_doc *doc = NULL;
	bool is = rt_json_read(rt_alloc_libc(), text, &doc, NULL) == RT_OK;

	rt_json_free(doc);
	return is;
}

static inline void
walk_check_lines(const walk_source *source)
{
	walk_source s = *source;
	rt_input in = walk_input(&s);
	rt_walk w;
	rt_str line;
	size_t at = 0;

	rt_walk_init(&w, rt_alloc_libc(), &in);
	while (rt_walk_line(&w, SIZE_MAX, &line) == RT_WALK_WHOLE) {
		RT_ASSERT(rt_str_eq(line, rt_str_at(s.bytes.ptr + at, line.size)));
		RT_ASSERT(memchr(line.ptr, '\n', line.size) == NULL);
		at += line.size;
		RT_ASSERT(at == s.bytes.size || s.bytes.ptr[at] == '\n');
		at += at < s.bytes.size;
		RT_ASSERT(rt_walk_here(&w).offset == at);
	}
	RT_ASSERT(at == s.bytes.size);
	rt_walk_deinit(&w);
}

/* Any bytes, a few at a time (the first byte is their number): the walk has the same result as a
 * scan of the whole text, counts the same lines, and returns to its old position. */
static inline void
walk_check(const uint8_t *data, size_t size)
{
	walk_source s = {.step = size > 0 ? data[0] + 1u : 1};
	rt_input in = walk_input(&s);
	rt_buf scanned, walked;
	rt_walk_mark here;
	rt_line_reader lines;
	rt_walk w;
	size_t start, end;

	if (size == 0)
		return;
	s.bytes = rt_str_at((const char *)data + 1, size - 1);
	in.size = s.bytes.size;
	rt_buf_init(&scanned, rt_alloc_libc(), RT_BUF_UNLIMITED);
	rt_buf_init(&walked, rt_alloc_libc(), RT_BUF_UNLIMITED);
	rt_walk_init(&w, rt_alloc_libc(), &in);
	start = rt_scan_blank(s.bytes, 0);
	RT_ASSERT(rt_walk_blank(&w) == (start < s.bytes.size));
	here = rt_walk_here(&w);
	RT_ASSERT(here.offset == start);
	end = rt_scan_value(s.bytes, start);
	if (end == start)
		end = SIZE_MAX; /* an empty value does not count */
	RT_ASSERT(rt_walk_skip(&w, NULL) == (end != SIZE_MAX));
	RT_ASSERT(rt_walk_here(&w).offset == (end != SIZE_MAX ? end : start));
	rt_scan_lines_init(&lines, s.bytes, 1);
	RT_ASSERT(rt_walk_here(&w).line ==
		  rt_scan_lines_of(&lines, s.bytes.ptr + rt_walk_here(&w).offset));
	rt_walk_seek(&w, here);
	if (end != SIZE_MAX) {
		rt_str value = rt_str_at(s.bytes.ptr + start, end - start);
		bool whole = walk_dump_scan(&scanned, s.bytes, value, 4);

		RT_ASSERT(walk_dump_part(&walked, &s, here, (rt_walk_mark){end, 0}, 4) == whole);
		RT_ASSERT(rt_str_eq(rt_buf_str(&scanned), rt_buf_str(&walked)));
		if (walk_is_json(value)) {
			rt_buf_clear(&walked);
			RT_ASSERT(walk_dump(&walked, NULL, &w, NULL, 4) && whole);
			RT_ASSERT(rt_str_eq(rt_buf_str(&scanned), rt_buf_str(&walked)));
		}
	}
	walk_check_lines(&s);
	rt_walk_deinit(&w);
	rt_buf_deinit(&scanned);
	rt_buf_deinit(&walked);
}

#endif
