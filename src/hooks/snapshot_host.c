/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE

#include "hooks/snapshot_host.h"

#include <errno.h>
#include <sys/stat.h>
#include <time.h>

/* Longer than the coarsest file system clock (FAT: two seconds). */
enum { COARSE_NS = 500 * 1000 * 1000, COARSE_S = 2 };

struct rt_hook_snapshot_item {
	rt_hook_snapshot_item *next;
	const char *path;
	int error; /* of stat; 0: info is valid */
	struct stat info;
};

static void
look_up(const char *path, rt_hook_snapshot_item *item)
{
	item->error = stat(path, &item->info) == 0 ? 0 : errno;
	if (item->error != 0)
		memset(&item->info, 0, sizeof(item->info));
}

/* True if the file may change again with the same ctime. */
static bool
is_racy(const rt_hook_snapshot_item *item)
{
	struct timespec changed = item->info.st_ctim, now;

	(void)clock_gettime(CLOCK_REALTIME, &now);
	now.tv_sec -= COARSE_S + (now.tv_nsec < COARSE_NS);
	now.tv_nsec += now.tv_nsec < COARSE_NS ? 1000000000L - COARSE_NS : -COARSE_NS;
	return item->error == 0 &&
	       (changed.tv_sec > now.tv_sec ||
		(changed.tv_sec == now.tv_sec && changed.tv_nsec >= now.tv_nsec));
}

void
rt_hook_snapshot_add(rt_hook_snapshot *snapshot, rt_scope *scope, const char *path)
{
	rt_hook_snapshot_item *item = rt_scope_get(scope, sizeof(*item));

	if (item == NULL)
		return;
	item->path = rt_scope_copy(scope, rt_str_of(path)).ptr;
	if (item->path == NULL)
		return;
	look_up(path, item);
	item->next = snapshot->items;
	snapshot->items = item;
	snapshot->is_racy |= is_racy(item);
}

bool
rt_hook_snapshot_differs(const rt_hook_snapshot *snapshot)
{
	for (const rt_hook_snapshot_item *then = snapshot->items; then != NULL; then = then->next) {
		const struct stat *old = &then->info;
		rt_hook_snapshot_item now;

		look_up(then->path, &now);
		if (now.error != then->error || now.info.st_dev != old->st_dev ||
		    now.info.st_ino != old->st_ino || now.info.st_mode != old->st_mode ||
		    now.info.st_size != old->st_size ||
		    now.info.st_ctim.tv_sec != old->st_ctim.tv_sec ||
		    now.info.st_ctim.tv_nsec != old->st_ctim.tv_nsec)
			return true;
	}
	return false;
}

bool
rt_hook_snapshot_is_stale(const rt_hook_snapshot *snapshot)
{
	return snapshot->is_racy || rt_hook_snapshot_differs(snapshot);
}
