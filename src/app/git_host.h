/* SPDX-License-Identifier: MIT
 *
 * Git: the commit that is checked out in a working directory, found by reading .git. No process is
 * started and nothing is written. */
#ifndef RT_APP_GIT_HOST_H
#define RT_APP_GIT_HOST_H

#include "base/alloc.h"

#include <stdbool.h>
#include <stdint.h>

enum { RT_GIT_FILES_MAX = 24, RT_GIT_PATH_MAX = 512 };

/* A file that was read. */
typedef struct rt_git_file {
	char path[RT_GIT_PATH_MAX];
	bool exists;
	uint64_t device, inode;
	int64_t size, seconds, nanoseconds; /* last change */
} rt_git_file;

/* The last result. It is valid until one of the files changes. {0}: no result. */
typedef struct rt_git {
	char commit[72]; /* empty: none */
	char dir[RT_GIT_PATH_MAX];
	rt_git_file files[RT_GIT_FILES_MAX];
	unsigned count; /* 0, or above RT_GIT_FILES_MAX: not valid */
	const rt_alloc *alloc; /* NULL: the C library's */
} rt_git;

/* The commit of the work tree that contains the current directory, in hexadecimal: linked work
 * trees, submodules, detached heads and packed refs included. NULL: there is none, or its
 * references are stored in another form (reftable). ctx: an rt_git, to which the result belongs.
 * One thread at a time. Cost: a stat of each file, if nothing has changed since the last call. */
const char *rt_git_commit(void *ctx);

#endif
