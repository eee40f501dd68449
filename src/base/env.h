/* SPDX-License-Identifier: MIT
 *
 * Env: the clock and the source of randomness. Only programs ask the system for either, so runs
 * with the same seed are reproducible. */
#ifndef RT_BASE_ENV_H
#define RT_BASE_ENV_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct rt_env {
	int64_t (*now_us)(void *ctx); /* microseconds since 1970-01-01 UTC */
	void (*random)(void *ctx, void *to, size_t size);
	void *ctx;
} rt_env;

/* Called at least every 50 ms while waiting; true: stop now. */
typedef bool (*rt_stop_fn)(void *ctx);

#endif
