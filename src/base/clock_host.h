/* SPDX-License-Identifier: MIT
 *
 * A monotonic clock, and waiting by it, for time limits; the time of day comes from rt_env, and the
 * time zone from here.
 *
 * Threads: any. */
#ifndef RT_BASE_CLOCK_HOST_H
#define RT_BASE_CLOCK_HOST_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

int64_t rt_clock_ns(void);
int64_t rt_clock_ms(void);
/* How far the local time is ahead of UTC at this moment. */
int64_t rt_clock_zone_us(int64_t at_us);

/* A lock, and a condition whose waits are limited by this clock. False: out of memory; neither
 * exists. */
bool rt_wait_init(pthread_mutex_t *lock, pthread_cond_t *changed);
void rt_wait_deinit(pthread_mutex_t *lock, pthread_cond_t *changed);
/* With the lock. May also return before the condition is signalled. False: it is until_ms. */
bool rt_wait_until(pthread_mutex_t *lock, pthread_cond_t *changed, int64_t until_ms);

#endif
