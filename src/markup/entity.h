/* SPDX-License-Identifier: MIT
 *
 * Entity: "&amp;", "&#38;", "&#x26;" as the characters that they encode. */
#ifndef RT_MARKUP_ENTITY_H
#define RT_MARKUP_ENTITY_H

#include "base/text.h"

enum {
	RT_ENTITY_ROOM = 8 /* bytes; no entity has more */
};

/* A named character reference of HTML. */
typedef struct rt_entity {
	const char *name; /* without & and ; */
	const char *text; /* UTF-8; at most RT_ENTITY_ROOM bytes */
} rt_entity;

/* The table of all entities, sorted by their bytes; tools/entities.py generates it during the
 * build. */
extern const rt_entity rt_entities[];
extern const size_t rt_entity_count;

/* Decode entity, from & to ; inclusive, into bytes of UTF-8 in room, which may contain a NUL.
 * Returns their number; 0: there is no such entity. A number that is not a character gives U+FFFD;
 * so does zero, as in CommonMark. Pure; O(log entities). */
size_t rt_entity_decode(rt_str entity, char room[RT_ENTITY_ROOM]);

#endif
