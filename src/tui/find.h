/* SPDX-License-Identifier: MIT
 *
 * Find: substrings, ignoring the case of ASCII letters. */
#ifndef RT_TUI_FIND_H
#define RT_TUI_FIND_H

#include "base/text.h"

static inline bool
rt_find_begins(rt_str text, rt_str part)
{
	return part.size <= text.size && rt_str_eq_nocase(rt_str_at(text.ptr, part.size), part);
}

/* Every text contains the empty one. */
static inline bool
rt_find_holds(rt_str text, rt_str part)
{
	for (size_t i = 0; i + part.size <= text.size; i++)
		if (part.size == 0 || rt_str_eq_nocase(rt_str_at(text.ptr + i, part.size), part))
			return true;
	return false;
}

#endif
