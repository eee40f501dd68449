/* SPDX-License-Identifier: MIT
 *
 * The named character references of HTML, sorted by their bytes. tools/entities.py writes the
 * table when the program is built. */
#ifndef RT_MARKUP_ENTITY_TABLE_H
#define RT_MARKUP_ENTITY_TABLE_H

#include <stddef.h>

typedef struct rt_entity {
	const char *name; /* without & and ; */
	const char *text; /* UTF-8; at most RT_ENTITY_ROOM bytes */
} rt_entity;

extern const rt_entity rt_entities[];
extern const size_t rt_entity_count;

#endif
