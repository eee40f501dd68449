/* SPDX-License-Identifier: MIT
 *
 * Streams. While there is nothing to read the connection is suspended; a wake resumes it.
 * pending remembers a wake that comes while read is at work, so that none is lost. */
#define _POSIX_C_SOURCE 200809L

#include "server/front_impl.h"

enum { BLOCK = 4096 };

static void
wake(void *ctx)
{
	rt_front_stream *s = ctx;

	pthread_mutex_lock(&s->lock);
	s->pending = true;
	if (s->is_asleep) {
		s->is_asleep = false;
		s->front->mhd->resume_connection(s->connection);
	}
	pthread_mutex_unlock(&s->lock);
}

static ssize_t
on_read(void *ctx, uint64_t at, char *out, size_t room)
{
	rt_front_stream *s = ctx;
	bool has_ended = false;
	size_t size;

	(void)at;
	for (;;) {
		pthread_mutex_lock(&s->lock);
		s->pending = false;
		pthread_mutex_unlock(&s->lock);
		if (s->front->is_closing)
			return MHD_CONTENT_READER_END_OF_STREAM;
		size = s->inner->ops->read(s->inner, out, room, &has_ended);
		if (size > 0)
			return (ssize_t)size;
		if (has_ended)
			return MHD_CONTENT_READER_END_OF_STREAM;
		pthread_mutex_lock(&s->lock);
		if (!s->pending && !s->front->is_closing) {
			s->is_asleep = true;
			s->front->mhd->suspend_connection(s->connection);
			pthread_mutex_unlock(&s->lock);
			return 0;
		}
		pthread_mutex_unlock(&s->lock);
	}
}

static void
on_free(void *ctx)
{
	rt_front_stream *s = ctx;
	rt_front *front = s->front;

	s->inner->ops->close(s->inner); /* nobody wakes after it */
	pthread_mutex_lock(&front->lock);
	if (s->before != NULL)
		s->before->after = s->after;
	else
		front->streams = s->after;
	if (s->after != NULL)
		s->after->before = s->before;
	front->stream_count--;
	pthread_mutex_unlock(&front->lock);
	pthread_mutex_destroy(&s->lock);
	rt_free(front->alloc, s);
}

struct MHD_Response *
rt_front_stream_response(rt_exchange *x, rt_web_stream *stream)
{
	rt_front *front = x->front;
	rt_front_stream *s = rt_new0(front->alloc, sizeof(*s));
	struct MHD_Response *response;

	if (s == NULL || pthread_mutex_init(&s->lock, NULL) != 0) {
		rt_free(front->alloc, s);
		stream->ops->close(stream);
		return NULL;
	}
	s->front = front;
	s->connection = x->connection;
	s->inner = stream;
	pthread_mutex_lock(&front->lock);
	s->after = front->streams;
	if (s->after != NULL)
		s->after->before = s;
	front->streams = s;
	front->stream_count++;
	pthread_mutex_unlock(&front->lock);
	stream->front = s;
	stream->wake = wake;
	response = front->mhd->create_response_from_callback(MHD_SIZE_UNKNOWN, BLOCK, on_read, s,
							     on_free);
	if (response == NULL)
		on_free(s);
	return response;
}

void
rt_front_streams_wake(rt_front *front)
{
	rt_front_stream *s;

	pthread_mutex_lock(&front->lock);
	for (s = front->streams; s != NULL; s = s->after)
		wake(s);
	pthread_mutex_unlock(&front->lock);
}
