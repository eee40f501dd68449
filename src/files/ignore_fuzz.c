/* SPDX-License-Identifier: MIT
 *
 * Any bytes as a .gitignore and, after the first NUL, as a path: an answer, in bounded time. */
#include "files/ignore.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	rt_str rest = rt_str_at((const char *)data, size), rules;
	rt_scope s;

	rt_scope_init(&s, rt_alloc_libc());
	if (rt_str_split(&rest, 0, &rules)) {
		const rt_ignore *ignore = rt_ignore_read(&s, NULL, RT_STR(""), rules);

		ignore = rt_ignore_read(&s, ignore, RT_STR("a"), rules);
		(void)rt_ignore_matches(ignore, rest, size % 2 == 0);
	}
	rt_scope_deinit(&s);
	return 0;
}
