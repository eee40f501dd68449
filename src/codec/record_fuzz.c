/* SPDX-License-Identifier: MIT
 *
 * Any bytes as a log row. What can be read is written again, and reading that gives the
 * same text: the form is canonical. */
#include "codec/record.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const rt_alloc *alloc = rt_alloc_libc();
	rt_arena *arena = rt_arena_new(alloc);
	rt_record record, again;
	rt_error err;
	rt_buf first, second;

	rt_buf_init(&first, alloc, RT_BUF_UNLIMITED);
	rt_buf_init(&second, alloc, RT_BUF_UNLIMITED);
	if (rt_record_read(alloc, arena, rt_str_at((const char *)data, size), &record, &err) ==
	    RT_OK) {
		rt_record_write(&first, &record);
		RT_ASSERT(rt_record_read(alloc, arena, rt_buf_str(&first), &again, &err) == RT_OK);
		rt_record_write(&second, &again);
		RT_ASSERT(rt_str_eq(rt_buf_str(&first), rt_buf_str(&second)));
	}
	rt_buf_deinit(&first);
	rt_buf_deinit(&second);
	rt_arena_free(arena);
	return 0;
}
