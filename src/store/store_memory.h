/* SPDX-License-Identifier: MIT
 *
 * A store in memory: for tests, tours and throw-away conversations. Gone at close. */
#ifndef RT_STORE_MEMORY_H
#define RT_STORE_MEMORY_H

#include "base/env.h"
#include "log/store.h"

RT_CHECKED rt_status rt_store_memory_open(const rt_alloc *alloc, const rt_env *env,
					  rt_store **out_store, rt_error *err);

#endif
