/* SPDX-License-Identifier: MIT
 *
 * Follow: the session files of other programs that change, found with inotify.
 *
 * Every folder of the programs is watched, a new one as soon as it exists. For a directory that does
 * not exist yet, the nearest existing parent is watched. Events can be lost, because the kernel limits
 * its queue and the number of watches: `lost` requests a rescan; while `limited` is set, not every
 * folder is watched, and rescans have to be repeated. One thread. */
#ifndef RT_CLI_FOLLOW_H
#define RT_CLI_FOLLOW_H

#include "cli/programs.h"

typedef struct rt_follow_folder {
	int wd;
	char *path; /* owned */
} rt_follow_folder;

typedef struct rt_follow_root {
	const rt_program *program;
	const char *path;
} rt_follow_root;

typedef struct rt_follow {
	rt_cli *cli;
	const char *const *names; /* of programs and paths */
	size_t name_count;
	/* A session was changed, or found by a rescan. path is borrowed. */
	void (*changed)(void *ctx, const rt_program *program, const char *path);
	void *ctx;

	int fd;
	bool lost;    /* events were lost */
	bool limited; /* not every folder is watched */
	rt_follow_folder *folders; /* by wd */
	size_t count, capacity;
	rt_follow_root *roots;
	size_t root_count, root_capacity;
	int64_t since_us; /* of the current rescan */
} rt_follow;

/* Before: cli, names, name_count, changed, ctx. Nothing is watched until the first rescan. The
 * scope of the command closes it. */
void rt_follow_open(rt_follow *follow);
/* Watches all folders, and reports the sessions whose file was changed since that time. */
void rt_follow_rescan(rt_follow *follow, int64_t since_us);
/* Waits for changes, and reports them. An interrupt ends it. */
void rt_follow_wait(rt_follow *follow, int ms);

#endif
