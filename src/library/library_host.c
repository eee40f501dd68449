/* SPDX-License-Identifier: MIT
 *
 * The system's clock and random numbers. */
#define _GNU_SOURCE

#include "library/library_impl.h"

#include <errno.h>
#include <sys/random.h>
#include <time.h>

static int64_t
now_us(void *ctx)
{
	struct timespec now;

	(void)ctx;
	clock_gettime(CLOCK_REALTIME, &now);
	return (int64_t)now.tv_sec * 1000000 + now.tv_nsec / 1000;
}

static void
fill_random(void *ctx, void *to, size_t size)
{
	char *at = to;

	(void)ctx;
	while (size > 0) {
		ssize_t got = getrandom(at, size, 0);

		if (got < 0) {
			RT_ASSERT(errno == EINTR);
			continue;
		}
		at += got;
		size -= (size_t)got;
	}
}

const rt_env *
rt_library_env(void)
{
	static const rt_env env = {now_us, fill_random, NULL};

	return &env;
}
