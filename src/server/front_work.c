/* SPDX-License-Identifier: MIT
 *
 * Workers: threads for what may wait. One is started when there is something to do and nobody
 * is idle; one that has had nothing to do for a while ends. */
#define _POSIX_C_SOURCE 200809L

#include <errno.h>
#ifdef __GLIBC__
#include <malloc.h>
#endif
#include <time.h>

#include "server/front_impl.h"

enum { IDLE_S = 10, STACK = 1 << 20 };

bool
rt_work_init(rt_work *work)
{
	memset(work, 0, sizeof(*work));
	if (pthread_mutex_init(&work->lock, NULL) != 0)
		return false;
	if (rt_front_cond_init(&work->moved))
		return true;
	pthread_mutex_destroy(&work->lock);
	return false;
}

/* Under the lock: something to do, or NULL: it is time to go. */
static rt_exchange *
next(rt_work *work)
{
	rt_exchange *x;
	struct timespec until;
	int late = 0;

	(void)clock_gettime(CLOCK_MONOTONIC, &until);
	until.tv_sec += IDLE_S;
	work->idle++;
	while (work->first == NULL && !work->is_ending && late != ETIMEDOUT)
		late = pthread_cond_timedwait(&work->moved, &work->lock, &until);
	work->idle--;
	x = work->first;
	if (x != NULL) {
		work->first = x->next;
		if (work->first == NULL)
			work->last = NULL;
		x->next = NULL;
		work->queued--;
	}
	return x;
}

/* What reading a large file took is given back to the system, not kept for the next one. */
static void
give_back_memory(const rt_exchange *x)
{
#ifdef __GLIBC__
	if (x->request.file != NULL)
		(void)malloc_trim(0);
#else
	(void)x;
#endif
}

static void *
worker(void *ctx)
{
	rt_front *front = ctx;
	rt_work *work = &front->work;
	rt_exchange *x;

	pthread_mutex_lock(&work->lock);
	for (x = next(work); x != NULL; x = next(work)) {
		pthread_mutex_unlock(&work->lock);
		front->options.site.handle(front->options.site.ctx, &x->request, &x->answer);
		x->is_done = true;
		give_back_memory(x);
		/* From here on the exchange is the loop's. */
		front->mhd->resume_connection(x->connection);
		pthread_mutex_lock(&work->lock);
	}
	work->threads--;
	pthread_cond_broadcast(&work->moved);
	pthread_mutex_unlock(&work->lock);
	return NULL;
}

static bool
start(rt_front *front)
{
	pthread_attr_t attributes;
	pthread_t thread;
	bool is_started;

	if (pthread_attr_init(&attributes) != 0)
		return false;
	(void)pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
	(void)pthread_attr_setstacksize(&attributes, STACK);
	is_started = pthread_create(&thread, &attributes, worker, front) == 0;
	pthread_attr_destroy(&attributes);
	return is_started;
}

bool
rt_work_add(rt_front *front, rt_exchange *x)
{
	rt_work *work = &front->work;
	bool is_fine = true;

	pthread_mutex_lock(&work->lock);
	if (work->is_ending) { /* nobody waits for it any more */
		pthread_mutex_unlock(&work->lock);
		return false;
	}
	x->next = NULL;
	if (work->last != NULL)
		work->last->next = x;
	else
		work->first = x;
	work->last = x;
	work->queued++;
	if (work->idle < work->queued && work->threads < RT_FRONT_WORKERS) {
		work->threads++;
		if (!start(front))
			work->threads--;
	}
	if (work->threads == 0) { /* then the queue holds nothing else */
		work->first = work->last = NULL;
		work->queued = 0;
		is_fine = false;
	}
	pthread_cond_signal(&work->moved);
	pthread_mutex_unlock(&work->lock);
	return is_fine;
}

void
rt_front_work_end(rt_front *front)
{
	rt_work *work = &front->work;

	pthread_mutex_lock(&work->lock);
	work->is_ending = true;
	pthread_cond_broadcast(&work->moved);
	while (work->threads > 0)
		(void)pthread_cond_wait(&work->moved, &work->lock);
	pthread_mutex_unlock(&work->lock);
}

void
rt_work_deinit(rt_work *work)
{
	pthread_cond_destroy(&work->moved);
	pthread_mutex_destroy(&work->lock);
}
