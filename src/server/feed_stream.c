/* SPDX-License-Identifier: MIT
 *
 * One stream. The next events are written when it is read: rows up to the newest value first,
 * then replies of runs and of other processes, which are not rows yet. So a client that reads
 * slowly gets the same rows later, and a reply in larger pieces. */
#define _POSIX_C_SOURCE 200809L

#include "server/feed_impl.h"

#include <stdio.h>

#include "codec/json.h"

/* hello, reset: where the stream begins or continues. */
static void
add_place(rt_feed_stream_at *s, const char *event)
{
	rt_buf *out = &s->pending;

	rt_feed_add_id(out, s->epoch, s->seq);
	rt_buf_add_f(out, "event: %s\ndata: {\"seq\":%llu,\"epoch\":\"%016llx\"", event,
		     (unsigned long long)s->seq, (unsigned long long)s->epoch);
	rt_json_put_str(out, "project", rt_text_str(s->feed->project));
	rt_buf_add_c(out, "}\n\n");
	s->passed = 0;
}

static bool
is_wanted(const rt_feed_stream_at *s, const rt_change_discs *discs)
{
	if (s->disc == 0 || discs->count > RT_CHANGE_DISCS)
		return true;
	for (size_t i = 0; i < discs->count; i++)
		if (discs->at[i] == s->disc || discs->at[i] == 0)
			return true;
	return false;
}

/* The newest value and its history. */
static const rt_project *
newest(rt_engine *engine, uint64_t *out_epoch)
{
	const rt_project *project = NULL;
	uint64_t before;

	do {
		rt_object_unref(project);
		before = rt_engine_epoch(engine);
		project = rt_engine_value(engine);
		*out_epoch = rt_engine_epoch(engine);
	} while (*out_epoch != before);
	return project;
}

/* Rows until there is enough, or none is left. */
static rt_status
add_rows(rt_feed_stream_at *s, const rt_project *project, size_t room)
{
	rt_feed *feed = s->feed;
	rt_feed_row row;

	while (s->seq < project->seq && s->pending.size < room) {
		rt_status st = rt_feed_rows_get(&feed->rows, feed->engine, s->epoch, project,
						s->seq + 1, &row, NULL);
		if (st != RT_OK)
			return st;
		s->seq++;
		s->passed++;
		if (is_wanted(s, &row.discs)) {
			if (s->is_of_one) {
				rt_feed_add_id(&s->pending, s->epoch, s->seq);
				rt_buf_add_f(&s->pending, "event: op\ndata: {\"seq\":%llu,\"whole\":true}\n\n",
					     (unsigned long long)s->seq);
			} else {
				rt_buf_add_str(&s->pending, rt_text_str(row.text));
			}
			s->passed = 0;
		} else if (s->passed == RT_FEED_PASS_MAX) {
			rt_feed_add_id(&s->pending, s->epoch, s->seq);
			rt_buf_add_byte(&s->pending, '\n');
			s->passed = 0;
			room = 0; /* other streams want to be read, too */
		}
		rt_text_unref(row.text);
	}
	return RT_OK;
}

static void
add_newer(rt_feed_stream_at *s)
{
	rt_error why;

	if (!rt_engine_newer(s->feed->engine, &why)) {
		s->is_newer_told = false;
	} else if (!s->is_newer_told) {
		s->is_newer_told = true;
		rt_buf_add_f(&s->pending, "event: newer\ndata: {\"seq\":%llu",
			     (unsigned long long)s->seq + 1);
		rt_json_put_c(&s->pending, "detail", why.text);
		rt_buf_add_c(&s->pending, "}\n\n");
	}
}

/* Events other than rows. */
static void
add_others(rt_feed_stream_at *s, size_t room)
{
	rt_feed *feed = s->feed;

	add_newer(s);
	if (s->is_of_one)
		return;
	if (feed->runs != NULL) {
		s->runs->disc = s->disc;
		s->runs->epoch = s->epoch;
		s->runs->seq = s->seq;
		if (rt_runs_read_sse(feed->runs, s->runs, room, &s->pending))
			return;
	}
	if (!s->inflight_begun) {
		pthread_mutex_lock(&feed->inflight.lock);
		s->inflight_base = feed->inflight.version;
		pthread_mutex_unlock(&feed->inflight.lock);
		s->inflight_begun = true;
	}
	(void)rt_feed_inflight_events(&feed->inflight, s->inflight_base, s->disc, s->seq,
				      &s->inflight_seen, room, &s->pending);
}

/* Writes the available events. A status other than RT_OK ends the stream. */
static rt_status
fill(rt_feed_stream_at *s, size_t room)
{
	unsigned beat = atomic_load(&s->feed->beat);
	uint64_t epoch;
	const rt_project *project = newest(s->feed->engine, &epoch);
	bool is_other = epoch != s->epoch || s->seq > project->seq;

	if (is_other) {
		s->epoch = epoch;
		s->seq = project->seq;
	}
	if (!s->has_begun) {
		rt_buf_add_f(&s->pending, "retry: %d\n\n", (int)RT_FEED_RETRY_MS);
		add_place(s, "hello");
		s->has_begun = true;
	}
	if (is_other)
		add_place(s, "reset");
	rt_status st = add_rows(s, project, room);
	if (st == RT_OK && s->seq == project->seq && s->pending.size < room)
		add_others(s, room);
	rt_object_unref(project);
	if (s->pending.size == 0 && beat != s->beat)
		rt_buf_add_c(&s->pending, ": \n\n");
	if (s->pending.size > 0)
		s->beat = beat;
	return st == RT_OK ? s->pending.status : st;
}

static size_t
send_pending(rt_feed_stream_at *s, char *out, size_t room)
{
	size_t size = s->pending.size - s->pending_at;

	if (size > room)
		size = room;
	if (size > 0)
		memcpy(out, s->pending.ptr + s->pending_at, size);
	s->pending_at += size;
	if (s->pending_at == s->pending.size) { /* many streams are idle: keep no memory */
		rt_buf_deinit(&s->pending);
		rt_buf_init(&s->pending, s->feed->alloc, RT_BUF_UNLIMITED);
		s->pending_at = 0;
	}
	return size;
}

size_t
rt_feed_stream_read(rt_web_stream *stream, char *out, size_t room, bool *out_ended)
{
	rt_feed_stream_at *s = (rt_feed_stream_at *)stream;
	rt_feed *feed = s->feed;
	rt_status st = RT_OK;
	size_t size;

	*out_ended = false;
	pthread_rwlock_rdlock(&feed->gate);
	if (s->pending.size == 0 && !feed->is_over) {
		/* Before reading, so that a change after that wakes this stream. */
		atomic_store(&s->is_waiting, true);
		st = fill(s, room < RT_FEED_BATCH ? room : RT_FEED_BATCH);
		if (s->pending.size > 0)
			atomic_store(&s->is_waiting, false);
	}
	size = st == RT_NOMEM || s->pending.status != RT_OK ? 0 : send_pending(s, out, room);
	if (size == 0 && (feed->is_over || st != RT_OK || s->pending.status != RT_OK))
		*out_ended = true;
	pthread_rwlock_unlock(&feed->gate);
	return size;
}
