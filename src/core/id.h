/* SPDX-License-Identifier: MIT
 *
 * Id: the generated id of an entry. It is computed from the entry's number and the project's salt
 * by a permutation. So it needs no index in either direction, differs from the ids of neighbours
 * in the first characters (short prefixes are unique), and has four characters for the first
 * million entries, then eight.
 *
 * Characters: 0-9 a-z without i, l, o, u (they are misread, or make words). */
#ifndef RT_CORE_ID_H
#define RT_CORE_ID_H

#include "base/text.h"

enum { RT_ID_TEXT_MAX = 16, RT_ID_MAX = 128 /* bytes of a given id, C21 */ };

/* Writes the id of number (1 …), without a NUL, and returns its size. */
size_t rt_id_of(uint64_t salt, uint32_t number, char out[RT_ID_TEXT_MAX]);
/* The number whose generated id this is; 0: not a generated id. The number may never have been
 * used. */
uint32_t rt_id_number(uint64_t salt, rt_str id);
/* Calls fn with every number in 1 .. last whose id begins with prefix; fn returns false to
 * stop. O(1) for each hit, or O(last) for short prefixes of a young project. */
void rt_id_prefixed(uint64_t salt, rt_str prefix, uint32_t last,
		    bool (*fn)(void *ctx, uint32_t number), void *ctx);
/* 1 to 128 of A-Z a-z 0-9 . _ ~ - (C21). */
bool rt_id_is_legal(rt_str id);

#endif
