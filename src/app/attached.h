/* SPDX-License-Identifier: MIT
 *
 * Files attached to a question or a new entry, and addresses of images: read first, stored once the
 * entry is written. */
#ifndef RT_APP_ATTACHED_H
#define RT_APP_ATTACHED_H

#include "log/blob.h"

/* One of them, with the memory of the scope in which it was read. */
typedef struct rt_attached {
	rt_str name, bytes; /* of a file */
	rt_str url;         /* not empty: the address of an image instead */
} rt_attached;

typedef struct rt_attached_list {
	rt_attached *items;
	size_t count;
} rt_attached_list;

/* The name of a file without its directory. Borrows from the path. */
rt_str rt_attached_name(const char *path);
/* Can these bytes be attached? RT_USAGE: they are empty. RT_LIMIT: more than RT_BLOB_MAX. */
RT_CHECKED rt_status rt_attached_check(const char *path, rt_str bytes, rt_error *err);
/* Reads a regular file ("~/" is the home); never waits. Fails the scope with RT_NOT_FOUND, RT_IO,
 * RT_USAGE, RT_LIMIT. */
rt_attached rt_attached_read(rt_scope *s, rt_str path);
/* "image/png, 812 bytes". */
void rt_attached_add_type(rt_buf *out, rt_str bytes);
/* Stores the files and returns the content of the entry as a JSON array: its text, and a block for
 * each file; ptr NULL if there are none. */
rt_str rt_attached_content(rt_scope *s, rt_engine *engine, rt_str text, const rt_attached_list *list);

#endif
