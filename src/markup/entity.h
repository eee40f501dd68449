/* SPDX-License-Identifier: MIT
 *
 * Entity: "&amp;", "&#38;", "&#x26;" as the characters that they stand for. */
#ifndef RT_MARKUP_ENTITY_H
#define RT_MARKUP_ENTITY_H

#include "base/text.h"

enum {
	RT_ENTITY_ROOM = 8 /* bytes; no entity stands for more */
};

/* What entity, from & to ; inclusive, stands for: bytes of UTF-8 in room, which may hold a
 * NUL. How many; 0: there is no such entity. A number that is no character is U+FFFD; zero
 * is too, as CommonMark has it. Pure; O(log entities). */
size_t rt_entity_decode(rt_str entity, char room[RT_ENTITY_ROOM]);

#endif
