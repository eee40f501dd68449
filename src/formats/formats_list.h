/* SPDX-License-Identifier: MIT
 *
 * List: the containers and loops that readers and writers share. Failures go to a scope; the
 * memory is freed with it. A container must not move while its scope lives. */
#ifndef RT_FORMATS_LIST_H
#define RT_FORMATS_LIST_H

#include "codec/json.h"

/* ---- JSON ---- */

/* Iterates over the members of an object or the items of an array. */
static inline rt_json_iter
rt_json_each(yyjson_val *container)
{
	return yyjson_is_obj(container) ? rt_json_members(container) : rt_json_items(container);
}

/* The member of that name, where it is a string; else ptr NULL. */
static inline rt_str
rt_json_text(yyjson_val *object, const char *key)
{
	yyjson_val *value = rt_json_get(object, key);

	return yyjson_is_str(value) ? rt_json_str(value) : rt_str_at(NULL, 0);
}

/* Add a member that is copied from elsewhere. */
static inline void
rt_json_put_member(rt_buf *buf, rt_str key, yyjson_val *value)
{
	rt_json_add_key_str(buf, key);
	rt_json_add_value(buf, value);
}

/* ---- words ---- */

/* Lists of names are written as one text, with single blanks between them. */
/* The next word; *words is moved past it. False: no more. */
bool rt_next_word(const char **words, rt_str *out_word);
/* Is name one of them? */
bool rt_is_word(rt_str name, const char *words);

/* ---- arrays ---- */

/* A growing array of equal items. Zeroed memory is an empty one. */
typedef struct rt_items {
	const rt_alloc *alloc;
	void *items;
	size_t count, room;
} rt_items;

/* A new item at the end, not initialised; items may move. NULL: the scope has failed. */
void *rt_items_push(rt_scope *s, rt_items *vec, size_t item_size);
/* Empty it and free its memory before the scope does. */
void rt_items_clear(rt_items *vec);

/* ---- hash tables ---- */

/* From strings, which it borrows, or from hashes, to numbers. Zeroed memory is an empty one. */
typedef struct rt_index_slot {
	rt_str key;          /* ptr NULL: size is a hash */
	size_t value_plus_1; /* 0: free */
} rt_index_slot;

typedef struct rt_index {
	const rt_alloc *alloc;
	rt_index_slot *slots;
	size_t room; /* a power of two, or 0 */
	size_t count;
} rt_index;

/* Sets the number of a key; returns the one it had, or -1. */
int64_t rt_index_put(rt_scope *s, rt_index *index, rt_str key, size_t value);
/* -1: no such key. */
int64_t rt_index_get(const rt_index *index, rt_str key);
/* One more number for a hash. */
void rt_index_add(rt_scope *s, rt_index *index, uint64_t hash, size_t value);
/* The next number of a hash; *probe begins as 0. False: no more. */
bool rt_index_next(const rt_index *index, uint64_t hash, size_t *probe, size_t *out_value);
void rt_index_clear(rt_index *index); /* keeps its memory, unless it is large */

#endif
