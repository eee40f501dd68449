/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE /* tm_gmtoff */
#include "base/clock_host.h"

#include <time.h>

#include "base/status.h"

int64_t
rt_clock_ns(void)
{
	struct timespec now;

	RT_ASSERT(clock_gettime(CLOCK_MONOTONIC, &now) == 0);
	return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

int64_t
rt_clock_ms(void)
{
	return rt_clock_ns() / 1000000;
}

int64_t
rt_clock_zone_us(int64_t at_us)
{
	time_t when = (time_t)(at_us / 1000000 - (at_us % 1000000 < 0));
	struct tm parts;

	return localtime_r(&when, &parts) != NULL ? (int64_t)parts.tm_gmtoff * 1000000 : 0;
}

bool
rt_wait_init(pthread_mutex_t *lock, pthread_cond_t *changed)
{
	pthread_condattr_t attr;
	bool ok;

	if (pthread_condattr_init(&attr) != 0)
		return false;
	ok = pthread_condattr_setclock(&attr, CLOCK_MONOTONIC) == 0 &&
	     pthread_cond_init(changed, &attr) == 0;
	(void)pthread_condattr_destroy(&attr);
	if (ok && pthread_mutex_init(lock, NULL) != 0) {
		(void)pthread_cond_destroy(changed);
		return false;
	}
	return ok;
}

void
rt_wait_deinit(pthread_mutex_t *lock, pthread_cond_t *changed)
{
	(void)pthread_cond_destroy(changed);
	(void)pthread_mutex_destroy(lock);
}

bool
rt_wait_until(pthread_mutex_t *lock, pthread_cond_t *changed, int64_t until_ms)
{
	struct timespec until = {.tv_sec = (time_t)(until_ms / 1000),
				 .tv_nsec = (long)(until_ms % 1000) * 1000000};

	return pthread_cond_timedwait(changed, lock, &until) == 0;
}
