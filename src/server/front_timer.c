/* SPDX-License-Identifier: MIT
 *
 * Connections that are late: the socket is shut down, and libmicrohttpd does the rest. It
 * tells of the end of a connection before it closes the socket, and that waits for our lock,
 * so what is shut down here is never the socket of somebody else. */
#define _POSIX_C_SOURCE 200809L

#include <errno.h>
#include <sys/socket.h>
#include <time.h>

#include "server/front_impl.h"

enum { LOOK_EVERY_MS = 250 };

int64_t
rt_front_now_ms(void)
{
	struct timespec now;

	(void)clock_gettime(CLOCK_MONOTONIC, &now);
	return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

bool
rt_front_cond_init(pthread_cond_t *cond)
{
	pthread_condattr_t attributes;
	bool is_fine;

	if (pthread_condattr_init(&attributes) != 0)
		return false;
	is_fine = pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC) == 0 &&
		  pthread_cond_init(cond, &attributes) == 0;
	(void)pthread_condattr_destroy(&attributes);
	return is_fine;
}

void
rt_conn_expect(rt_conn *conn, int64_t ms)
{
	if (conn == NULL)
		return;
	pthread_mutex_lock(&conn->front->lock);
	conn->until_ms = ms == 0 ? 0 : rt_front_now_ms() + ms;
	pthread_mutex_unlock(&conn->front->lock);
}

void *
rt_front_timer(void *ctx)
{
	rt_front *front = ctx;
	struct timespec until;
	rt_conn *conn;
	int64_t now;

	pthread_mutex_lock(&front->lock);
	while (!front->is_closing) {
		(void)clock_gettime(CLOCK_MONOTONIC, &until);
		until.tv_nsec += (long)LOOK_EVERY_MS * 1000000;
		if (until.tv_nsec >= 1000000000) {
			until.tv_nsec -= 1000000000;
			until.tv_sec++;
		}
		(void)pthread_cond_timedwait(&front->timer_moved, &front->lock, &until);
		now = rt_front_now_ms();
		for (conn = front->conns; conn != NULL; conn = conn->after) {
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
