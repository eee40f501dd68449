/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE

#include "hooks/watch_host.h"

#include <errno.h>
#include <sys/stat.h>
#include <time.h>

/* Longer than the coarsest clock of a file system (FAT: two seconds). */
enum { COARSE_NS = 500 * 1000 * 1000, COARSE_S = 2 };

struct rt_hook_watched {
	const rt_text *path;
	int error; /* of stat; 0: what follows is set */
	dev_t device;
	ino_t inode;
	mode_t mode;
	off_t size;
	struct timespec changed; /* ctime */
};

void
rt_hook_watch_init(rt_hook_watch *watch, const rt_alloc *alloc)
{
	memset(watch, 0, sizeof(*watch));
	watch->alloc = alloc;
}

void
rt_hook_watch_deinit(rt_hook_watch *watch)
{
	size_t i;

	for (i = 0; i < watch->count; i++)
		rt_text_unref(watch->items[i].path);
	rt_free(watch->alloc, watch->items);
	rt_hook_watch_init(watch, watch->alloc);
}

static void
look(const char *path, rt_hook_watched *out)
{
	struct stat info;

	memset(out, 0, sizeof(*out));
	if (stat(path, &info) != 0) {
		out->error = errno;
		return;
	}
	out->device = info.st_dev;
	out->inode = info.st_ino;
	out->mode = info.st_mode;
	out->size = info.st_size;
	out->changed = info.st_ctim;
}

/* May it change once more with the same time? */
static bool
is_fresh(const rt_hook_watched *item)
{
	struct timespec now;

	(void)clock_gettime(CLOCK_REALTIME, &now);
	now.tv_sec -= COARSE_S + (now.tv_nsec < COARSE_NS);
	now.tv_nsec += now.tv_nsec < COARSE_NS ? 1000000000L - COARSE_NS : -COARSE_NS;
	return item->error == 0 &&
	       (item->changed.tv_sec > now.tv_sec ||
		(item->changed.tv_sec == now.tv_sec && item->changed.tv_nsec >= now.tv_nsec));
}

rt_status
rt_hook_watch_add(rt_hook_watch *watch, const char *path)
{
	rt_hook_watched *item;

	if (watch->count == watch->room) {
		size_t room = watch->room == 0 ? 16 : watch->room * 2;
		rt_hook_watched *more = rt_resize(watch->alloc, watch->items, room * sizeof(*more));

		if (more == NULL)
			return RT_NOMEM;
		watch->items = more;
		watch->room = room;
	}
	item = &watch->items[watch->count];
	look(path, item);
	item->path = rt_text_new(watch->alloc, rt_str_of(path));
	if (item->path == NULL)
		return RT_NOMEM;
	watch->count++;
	watch->is_fresh |= is_fresh(item);
	return RT_OK;
}

bool
rt_hook_watch_differs(const rt_hook_watch *watch)
{
	size_t i;

	for (i = 0; i < watch->count; i++) {
		const rt_hook_watched *then = &watch->items[i];
		rt_hook_watched now;

		look(then->path->ptr, &now);
		if (now.error != then->error || now.device != then->device ||
		    now.inode != then->inode || now.mode != then->mode || now.size != then->size ||
		    now.changed.tv_sec != then->changed.tv_sec ||
		    now.changed.tv_nsec != then->changed.tv_nsec)
			return true;
	}
	return false;
}

bool
rt_hook_watch_changed(const rt_hook_watch *watch)
{
	return watch->is_fresh || rt_hook_watch_differs(watch);
}
