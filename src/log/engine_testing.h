/* SPDX-License-Identifier: MIT
 *
 * Fixture of the tests of the engine: cmocka, a stopped clock and fixed randomness. */
#ifndef RT_LOG_ENGINE_TESTING_H
#define RT_LOG_ENGINE_TESTING_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "log/engine.h"

static inline uint64_t
next_random(uint64_t *state)
{
	*state = *state * 6364136223846793005u + 1442695040888963407u;
	return *state >> 33;
}

/* ctx: the generator's state. */
static inline void
env_random(void *ctx, void *to, size_t size)
{
	unsigned char *bytes = to;

	for (size_t i = 0; i < size; i++)
		bytes[i] = (unsigned char)next_random(ctx);
}

static inline int64_t
env_now(void *ctx)
{
	(void)ctx;
	return 1700000000000000;
}

static uint64_t env_state = 11;
static const rt_env env = {env_now, env_random, &env_state};

#endif
