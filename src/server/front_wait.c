/* SPDX-License-Identifier: MIT
 *
 * Everything that waits.
 *
 * Workers: threads for work that may wait. One is started when there is something to do and none
 * is idle; one that has had nothing to do for a while ends.
 *
 * Streams: while there is nothing to read the connection is suspended; a wake resumes it.
 * is_woken remembers a wake that comes during a read, so that none is lost.
 *
 * Late connections: the timer shuts the socket down, and libmicrohttpd does the rest. It reports
 * the end of a connection before it closes the socket, and that report waits for our lock, so the
 * socket that is shut down here is never another connection's. */
#define _POSIX_C_SOURCE 200809L

#include <sys/socket.h>
#ifdef __GLIBC__
#include <malloc.h>
#endif

#include "server/front_impl.h"

enum { IDLE_S = 10, STACK = 1 << 20, BLOCK = 4096, LOOK_EVERY_MS = 250 };

bool
rt_front_wait_init(rt_front *front)
{
	if (!rt_wait_init(&front->lock, &front->timer_changed))
		return false;
	if (rt_wait_init(&front->work.lock, &front->work.changed))
		return true;
	rt_wait_deinit(&front->lock, &front->timer_changed);
	return false;
}

void
rt_front_wait_deinit(rt_front *front)
{
	rt_wait_deinit(&front->work.lock, &front->work.changed);
	rt_wait_deinit(&front->lock, &front->timer_changed);
}

void
rt_front_link_add(rt_front_link **first, rt_front_link *link)
{
	link->before = NULL;
	link->after = *first;
	if (link->after != NULL)
		link->after->before = link;
	*first = link;
}

void
rt_front_link_remove(rt_front_link **first, rt_front_link *link)
{
	if (link->before != NULL)
		link->before->after = link->after;
	else
		*first = link->after;
	if (link->after != NULL)
		link->after->before = link->before;
}

/* ---- workers ---- */

/* With the lock: something to do; NULL: the worker is to end. */
static rt_http_exchange *
next_exchange(rt_front_work *work)
{
	int64_t until_ms = rt_clock_ms() + (int64_t)IDLE_S * 1000;

	work->idle++;
	while (work->first == NULL && !work->is_ending)
		if (!rt_wait_until(&work->lock, &work->changed, until_ms))
			break;
	work->idle--;
	rt_http_exchange *x = work->first;
	if (x != NULL) {
		work->first = x->next;
		if (work->first == NULL)
			work->last = NULL;
		x->next = NULL;
		work->queued--;
	}
	return x;
}

/* The memory of reading a large file goes back to the system at once. */
static void
trim_memory(const rt_http_exchange *x)
{
#ifdef __GLIBC__
	if (x->request.file != NULL)
		(void)malloc_trim(0);
#else
	(void)x;
#endif
}

static void *
run_worker(void *ctx)
{
	rt_front *front = ctx;
	rt_front_work *work = &front->work;
	rt_http_exchange *x;

	pthread_mutex_lock(&work->lock);
	while ((x = next_exchange(work)) != NULL) {
		pthread_mutex_unlock(&work->lock);
		front->options.site.handle(front->options.site.ctx, &x->request, &x->answer);
		x->state = RT_EXCHANGE_DONE;
		trim_memory(x);
		front->mhd->resume_connection(x->connection); /* from here on the exchange belongs
							       * to the loop */
		pthread_mutex_lock(&work->lock);
	}
	work->threads--;
	pthread_cond_broadcast(&work->changed);
	pthread_mutex_unlock(&work->lock);
	return NULL;
}

static bool
start_worker(rt_front *front)
{
	pthread_attr_t attributes;
	pthread_t thread;

	if (pthread_attr_init(&attributes) != 0)
		return false;
	(void)pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
	(void)pthread_attr_setstacksize(&attributes, STACK);
	bool is_started = pthread_create(&thread, &attributes, run_worker, front) == 0;
	pthread_attr_destroy(&attributes);
	return is_started;
}

bool
rt_front_work_add(rt_http_exchange *x)
{
	rt_front_work *work = &x->front->work;

	pthread_mutex_lock(&work->lock);
	bool is_accepted = !work->is_ending;
	if (is_accepted) {
		x->next = NULL;
		if (work->last != NULL)
			work->last->next = x;
		else
			work->first = x;
		work->last = x;
		work->queued++;
		if (work->idle < work->queued && work->threads < RT_FRONT_WORKERS &&
		    start_worker(x->front))
			work->threads++;
		if (work->threads == 0) { /* the queue contains nothing else then */
			work->first = work->last = NULL;
			work->queued = 0;
			is_accepted = false;
		}
		pthread_cond_signal(&work->changed);
	}
	pthread_mutex_unlock(&work->lock);
	return is_accepted;
}

void
rt_front_work_end(rt_front *front)
{
	rt_front_work *work = &front->work;

	pthread_mutex_lock(&work->lock);
	work->is_ending = true;
	pthread_cond_broadcast(&work->changed);
	while (work->threads > 0)
		(void)pthread_cond_wait(&work->changed, &work->lock);
	pthread_mutex_unlock(&work->lock);
}

/* ---- streams ---- */

static void
wake(void *ctx)
{
	rt_front_stream *s = ctx;

	pthread_mutex_lock(&s->lock);
	s->is_woken = true;
	if (s->is_asleep) {
		s->is_asleep = false;
		s->front->mhd->resume_connection(s->connection);
	}
	pthread_mutex_unlock(&s->lock);
}

/* Suspends the connection, unless there was a wake since the last read. */
static bool
fall_asleep(rt_front_stream *s)
{
	pthread_mutex_lock(&s->lock);
	s->is_asleep = !s->is_woken && !s->front->is_closing;
	bool is_asleep = s->is_asleep;
	if (is_asleep)
		s->front->mhd->suspend_connection(s->connection);
	pthread_mutex_unlock(&s->lock);
	return is_asleep;
}

static ssize_t
on_read(void *ctx, uint64_t at, char *out, size_t room)
{
	rt_front_stream *s = ctx;
	bool has_ended = false;

	(void)at;
	do {
		pthread_mutex_lock(&s->lock);
		s->is_woken = false;
		pthread_mutex_unlock(&s->lock);
		if (s->front->is_closing)
			return MHD_CONTENT_READER_END_OF_STREAM;
		size_t size = s->inner->ops->read(s->inner, out, room, &has_ended);
		if (size > 0)
			return (ssize_t)size;
		if (has_ended)
			return MHD_CONTENT_READER_END_OF_STREAM;
	} while (!fall_asleep(s));
	return 0;
}

static void
on_free(void *ctx)
{
	rt_front_stream *s = ctx;
	rt_front *front = s->front;

	s->inner->ops->close(s->inner); /* there is no wake after it */
	pthread_mutex_lock(&front->lock);
	rt_front_link_remove(&front->streams, &s->link);
	front->stream_count--;
	pthread_mutex_unlock(&front->lock);
	pthread_mutex_destroy(&s->lock);
	rt_free(front->alloc, s);
}

struct MHD_Response *
rt_front_stream_response(rt_http_exchange *x, rt_web_stream *stream)
{
	rt_front *front = x->front;
	rt_front_stream *s = rt_new0(front->alloc, sizeof(*s));

	if (s == NULL || pthread_mutex_init(&s->lock, NULL) != 0) {
		rt_free(front->alloc, s);
		stream->ops->close(stream);
		return NULL;
	}
	s->front = front;
	s->connection = x->connection;
	s->inner = stream;
	pthread_mutex_lock(&front->lock);
	rt_front_link_add(&front->streams, &s->link);
	front->stream_count++;
	pthread_mutex_unlock(&front->lock);
	stream->front = s;
	stream->wake = wake;
	struct MHD_Response *response = front->mhd->create_response_from_callback(
		MHD_SIZE_UNKNOWN, BLOCK, on_read, s, on_free);
	if (response == NULL)
		on_free(s);
	return response;
}

void
rt_front_streams_wake(rt_front *front)
{
	pthread_mutex_lock(&front->lock);
	for (rt_front_link *link = front->streams; link != NULL; link = link->after)
		wake(link);
	pthread_mutex_unlock(&front->lock);
}

/* ---- late connections ---- */

void
rt_conn_expect(rt_conn *conn, int64_t ms)
{
	if (conn == NULL)
		return;
	pthread_mutex_lock(&conn->front->lock);
	conn->until_ms = ms == 0 ? 0 : rt_clock_ms() + ms;
	pthread_mutex_unlock(&conn->front->lock);
}

static void *
run_timer(void *ctx)
{
	rt_front *front = ctx;

	pthread_mutex_lock(&front->lock);
	while (!front->is_closing) {
		(void)rt_wait_until(&front->lock, &front->timer_changed,
				    rt_clock_ms() + LOOK_EVERY_MS);
		int64_t now = rt_clock_ms();
		for (rt_front_link *link = front->conns; link != NULL; link = link->after) {
			rt_conn *conn = (rt_conn *)link;

			if (conn->until_ms == 0 || conn->until_ms > now || conn->is_late)
				continue;
			conn->is_late = true;
			front->late++;
			(void)shutdown(conn->fd, SHUT_RDWR);
		}
	}
	pthread_mutex_unlock(&front->lock);
	return NULL;
}

bool
rt_front_start_timer(rt_front *front)
{
	front->has_timer = pthread_create(&front->timer, NULL, run_timer, front) == 0;
	return front->has_timer;
}
