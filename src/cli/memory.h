/* SPDX-License-Identifier: MIT
 *
 * Memory that records whether an allocation ever failed: requests and output are assembled in many
 * small buffers, and one that stayed empty must not count as complete. */
#ifndef RT_CLI_MEMORY_H
#define RT_CLI_MEMORY_H

#include <stdatomic.h>
#include <stdbool.h>

#include "base/alloc.h"

typedef struct rt_cli_memory {
	rt_alloc alloc;
	atomic_bool short_of;
	bool wipes; /* zero freed memory; set before threads are started */
} rt_cli_memory;

/* It must not be moved afterwards. */
void rt_cli_memory_init(rt_cli_memory *memory);

#endif
