/* SPDX-License-Identifier: MIT
 *
 * Fixture of the tests of streams: a reader that acts as front and browser. */
#ifndef RT_SERVER_FEED_TESTING_H
#define RT_SERVER_FEED_TESTING_H

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <cmocka.h>

#include "codec/json.h"
#include "base/failing_testing.h"
#include "server/feed.h"

/* One stream, read by one thread. */
typedef struct reader {
	rt_web_stream *stream;
	pthread_mutex_t lock;
	pthread_cond_t woken;
	size_t wakes;       /* under lock */
	rt_buf bytes;       /* read, but not a complete event yet */
	rt_buf all;         /* everything that was read */
	uint64_t chance;
	size_t room_max;    /* of one read; random */
	char last_id[64];   /* as remembered by a browser */
	/* the event that was read last */
	char id[64];        /* its own; empty: it has none */
	char name[32];
	rt_buf data;
	bool has_ended;
} reader;

static inline void
reader_wake(void *ctx)
{
	reader *r = ctx;

	pthread_mutex_lock(&r->lock);
	r->wakes++;
	pthread_cond_signal(&r->woken);
	pthread_mutex_unlock(&r->lock);
}

static inline void
reader_init(reader *r, uint64_t seed)
{
	memset(r, 0, sizeof(*r));
	pthread_mutex_init(&r->lock, NULL);
	pthread_cond_init(&r->woken, NULL);
	rt_buf_init(&r->bytes, rt_alloc_libc(), RT_BUF_UNLIMITED);
	rt_buf_init(&r->all, rt_alloc_libc(), RT_BUF_UNLIMITED);
	rt_buf_init(&r->data, rt_alloc_libc(), RT_BUF_UNLIMITED);
	r->chance = seed;
	r->room_max = 4096;
}

/* From where it was cut, or from now on. */
static inline void
reader_open(reader *r, rt_feed *feed, uint32_t disc)
{
	rt_error err;

	if (rt_feed_stream(feed, rt_str_of(r->last_id), disc, &r->stream, &err) != RT_OK)
		fail_msg("%s: %s", r->last_id, err.text);
	r->stream->front = r;
	r->stream->wake = reader_wake;
	rt_buf_clear(&r->bytes);
	r->has_ended = false;
}

static inline void
reader_cut(reader *r)
{
	if (r->stream != NULL)
		r->stream->ops->close(r->stream);
	r->stream = NULL;
}

static inline void
reader_deinit(reader *r)
{
	reader_cut(r);
	rt_buf_deinit(&r->bytes);
	rt_buf_deinit(&r->all);
	rt_buf_deinit(&r->data);
	pthread_cond_destroy(&r->woken);
	pthread_mutex_destroy(&r->lock);
}

static inline size_t
reader_chance(reader *r, size_t below)
{
	r->chance = r->chance * 6364136223846793005u + 1442695040888963407u;
	return (size_t)((r->chance >> 33) % below);
}

/* One read; false: there was nothing. */
static inline bool
reader_read(reader *r)
{
	size_t room = 1 + reader_chance(r, r->room_max), got;
	char *to = rt_buf_reserve(&r->bytes, room);

	assert_non_null(to);
	got = r->stream->ops->read(r->stream, to, room, &r->has_ended);
	assert_true(got <= room);
	rt_buf_add(&r->all, to, got);
	r->bytes.size += got;
	return got > 0;
}

static inline void
reader_line(reader *r, rt_str line)
{
	if (rt_str_starts(line, RT_STR("id: ")))
		snprintf(r->id, sizeof(r->id), "%.*s", (int)line.size - 4, line.ptr + 4);
	else if (rt_str_starts(line, RT_STR("event: ")))
		snprintf(r->name, sizeof(r->name), "%.*s", (int)line.size - 7, line.ptr + 7);
	else if (rt_str_starts(line, RT_STR("data: ")))
		rt_buf_add(&r->data, line.ptr + 6, line.size - 6);
	else if (line.size > 0 && line.ptr[0] != ':' && !rt_str_starts(line, RT_STR("retry: ")))
		fail_msg("no line of events: %.*s", RT_STR_ARG(line));
}

/* The next complete event of those that were read; comments and separate ids are skipped. */
static inline bool
reader_parse(reader *r)
{
	while (true) {
		size_t end = rt_str_find(rt_buf_str(&r->bytes), RT_STR("\n\n"), 0), at = 0;

		if (end == SIZE_MAX)
			return false;
		r->id[0] = r->name[0] = '\0';
		rt_buf_clear(&r->data);
		while (at <= end) {
			size_t stop = rt_str_find(rt_buf_str(&r->bytes), RT_STR("\n"), at);

			reader_line(r, rt_str_at(r->bytes.ptr + at, stop - at));
			at = stop + 1;
		}
		memmove(r->bytes.ptr, r->bytes.ptr + end + 2, r->bytes.size - end - 2);
		r->bytes.size -= end + 2;
		if (r->id[0] != '\0')
			memcpy(r->last_id, r->id, sizeof(r->id));
		if (r->data.size > 0)
			return true;
	}
}

/* The next event; waits to be woken, as a front does. false: the stream has ended. A wake that
 * never comes ends the test. */
static inline bool
reader_next(reader *r)
{
	while (!reader_parse(r)) {
		struct timespec until;
		size_t before;

		pthread_mutex_lock(&r->lock);
		before = r->wakes;
		pthread_mutex_unlock(&r->lock);
		if (reader_read(r))
			continue;
		if (r->has_ended)
			return false;
		clock_gettime(CLOCK_REALTIME, &until);
		until.tv_sec += 60;
		pthread_mutex_lock(&r->lock);
		while (r->wakes == before)
			if (pthread_cond_timedwait(&r->woken, &r->lock, &until) != 0)
				fail_msg("nobody woke the stream");
		pthread_mutex_unlock(&r->lock);
	}
	return true;
}

/* The next available event, without waiting. */
static inline bool
reader_now(reader *r)
{
	while (!reader_parse(r))
		if (!reader_read(r))
			return false;
	return true;
}

/* The next event has this name, and its data these words. */
static inline void
reader_is(reader *r, const char *name, const char *words)
{
	if (!reader_next(r))
		fail_msg("the stream has ended; wanted %s", name);
	if (strcmp(r->name, name) != 0 ||
	    rt_str_find(rt_buf_str(&r->data), rt_str_of(words), 0) == SIZE_MAX)
		fail_msg("%s %.*s; wanted %s with %s", r->name, RT_STR_ARG(rt_buf_str(&r->data)),
			 name, words);
}

/* The number after the dot of an id. */
static inline uint64_t
id_seq(const char *id)
{
	const char *dot = strchr(id, '.');

	assert_non_null(dot);
	assert_int_equal(dot - id, 16);
	return strtoull(dot + 1, NULL, 10);
}

/* A whole number in the event's data. */
static inline uint64_t
data_number(const reader *r, const char *key)
{
	rt_json_doc *doc = NULL;
	uint64_t number = UINT64_MAX;

	assert_int_equal(rt_json_read(rt_alloc_libc(), rt_buf_str(&r->data), &doc, NULL), RT_OK);
	(void)rt_json_u64(rt_json_get(rt_json_root(doc), key), &number);
	rt_json_free(doc);
	return number;
}

#endif
