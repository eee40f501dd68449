/* SPDX-License-Identifier: MIT
 *
 * The files of a directory or a glob. */
#ifndef RT_FILES_FILES_WALK_H
#define RT_FILES_FILES_WALK_H

#include "files/files_impl.h"
#include "files/glob.h"

typedef struct rt_file_found {
	rt_file_place place; /* only path is set if it has a fault */
	rt_file_fault fault;
} rt_file_found;

/* All files below base, or those that match a glob there (may be NULL), without what .gitignore
 * excludes; sorted by path, each once. Unreadable ones are in the list with their fault. *visits:
 * how many directory entries may still be visited; at 0 the last item is base with
 * RT_FILE_TOO_MANY. NULL once the scope has failed, or if there is none. */
rt_file_found *rt_file_walk(rt_scope *s, const rt_file_place *base, const rt_glob *glob,
			    size_t *visits, size_t *out_count);

#endif
