/* SPDX-License-Identifier: MIT
 *
 * Find: hooks that lie in folders. Touches the outside. */
#ifndef RT_HOOKS_FIND_HOST_H
#define RT_HOOKS_FIND_HOST_H

#include "hooks/define.h"
#include "hooks/watch_host.h"

#define RT_HOOK_PROJECT_FOLDER ".retake/hooks"

/* The path without links, as a key and for running. RT_NOT_FOUND, RT_IO. */
RT_CHECKED rt_status rt_hook_real_folder(const char *path, rt_buf *out, rt_error *err);

/* Add what lies in FOLDER/<event>/NN-name, in the order of the bytes of their names. Names
 * that begin with "." or end with "~" are no hooks; what is not executable is off. Of a
 * project (no_links) links are left out with a warning, in a user's folder they are followed.
 * There may be no such folder. Each folder and file that is looked at is added to watch.
 * RT_IO: a folder is there and cannot be read. RT_LIMIT, RT_NOMEM. */
RT_CHECKED rt_status rt_hook_find(rt_hook_list *list, rt_hook_source source, const char *folder,
				  bool no_links, rt_hook_watch *watch, rt_error *err);

#endif
