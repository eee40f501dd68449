/* SPDX-License-Identifier: MIT */
#include "cli/memory.h"

#include "app/host.h"

static void *
memory_resize(void *ctx, void *ptr, size_t size)
{
	rt_cli_memory *memory = ctx;
	void *out = rt_resize(rt_alloc_libc(), ptr, size);

	if (out == NULL)
		atomic_store(&memory->short_of, true);
	return out;
}

static void
memory_release(void *ctx, void *ptr)
{
	const rt_cli_memory *memory = ctx;

	if (memory->wipes && ptr != NULL)
		rt_host_memory_wipe(ptr);
	rt_free(rt_alloc_libc(), ptr);
}

void
rt_cli_memory_init(rt_cli_memory *memory)
{
	memory->alloc.resize = memory_resize;
	memory->alloc.release = memory_release;
	memory->alloc.ctx = memory;
	atomic_init(&memory->short_of, false);
}
