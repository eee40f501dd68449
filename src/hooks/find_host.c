/* SPDX-License-Identifier: MIT
 *
 * Folders of hooks, read. */
#define _GNU_SOURCE

#include "hooks/find_host.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

enum { NAMES_MAX = 2000 };

/* The names in a folder, sorted. */
typedef struct name_list {
	const rt_alloc *alloc;
	const rt_text *items[NAMES_MAX];
	size_t count;
} name_list;

rt_status
rt_hook_real_folder(const char *path, rt_buf *out, rt_error *err)
{
	char *real = realpath(path, NULL);

	if (real == NULL)
		return rt_fail(err, errno == ENOENT ? RT_NOT_FOUND : RT_IO, "%s: %s", path,
			       strerror(errno));
	rt_buf_add_c(out, real);
	free(real);
	return out->status;
}

static int
by_bytes(const void *a, const void *b)
{
	return rt_str_cmp(rt_text_str(*(const rt_text *const *)a),
			  rt_text_str(*(const rt_text *const *)b));
}

static void
free_names(name_list *names)
{
	size_t i;

	for (i = 0; i < names->count; i++)
		rt_text_unref(names->items[i]);
	names->count = 0;
}

static rt_status
read_names(int folder, name_list *names)
{
	int fd = dup(folder);
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	struct dirent *entry;
	rt_status st = dir != NULL ? RT_OK : RT_IO;
	int error = errno;

	if (dir == NULL && fd >= 0)
		close(fd);
	errno = error;
	while (dir != NULL && st == RT_OK) {
		size_t size;

		errno = 0;
		entry = readdir(dir);
		if (entry == NULL) {
			st = errno == 0 ? RT_OK : RT_IO;
			break;
		}
		size = strlen(entry->d_name);
		if (entry->d_name[0] == '.' || entry->d_name[size - 1] == '~')
			continue;
		if (names->count == NAMES_MAX) {
			st = RT_LIMIT;
			break;
		}
		names->items[names->count] = rt_text_new(names->alloc, rt_str_of(entry->d_name));
		st = names->items[names->count] == NULL ? RT_NOMEM : RT_OK;
		names->count += st == RT_OK;
	}
	error = errno;
	if (dir != NULL)
		closedir(dir);
	qsort(names->items, names->count, sizeof(names->items[0]), by_bytes);
	errno = error;
	return st;
}

static void
warn(rt_hook_list *list, rt_str path, const char *what)
{
	rt_buf_add_c(&list->warnings, "hook ");
	rt_utf8_repair(&list->warnings, path);
	rt_buf_add_f(&list->warnings, ": %s\n", what);
}

static rt_status
add_file(rt_hook_list *list, rt_hook_source source, int folder, rt_str event, const rt_text *name,
	 rt_str path, bool no_links, rt_error *err)
{
	struct stat info;

	if (fstatat(folder, name->ptr, &info, no_links ? AT_SYMLINK_NOFOLLOW : 0) != 0) {
		warn(list, path, strerror(errno));
		return RT_OK;
	}
	if (S_ISLNK(info.st_mode)) {
		warn(list, path, "a symbolic link is no hook of a project");
		return RT_OK;
	}
	if (!S_ISREG(info.st_mode)) {
		warn(list, path, "it is no file");
		return RT_OK;
	}
	if (rt_utf8_valid_size(path) != path.size) {
		warn(list, path, "its name is not UTF-8");
		return RT_OK;
	}
	return rt_hook_list_add_file(list, source, event, rt_text_str(name), path,
				     (info.st_mode & 0111) == 0, err);
}

/* Is it only not there, or no folder? */
static bool
is_absent(int error)
{
	return error == ENOENT || error == ENOTDIR || error == ELOOP;
}

static rt_status
unreadable(const char *path, int error, rt_error *err)
{
	return rt_fail(err, RT_IO, "the hooks in %s cannot be read: %s", path, strerror(error));
}

static rt_status
add_event(rt_hook_list *list, rt_hook_source source, int top, const char *folder,
	  const rt_text *event, name_list *files, bool no_links, rt_hook_watch *watch, rt_error *err)
{
	rt_status st;
	rt_buf path;
	size_t i;
	int fd = -1;

	rt_buf_init(&path, list->alloc, 65536);
	rt_buf_add_f(&path, "%s/%s", folder, event->ptr);
	st = path.status == RT_OK ? rt_hook_watch_add(watch, path.ptr) : path.status;
	if (st == RT_OK)
		fd = openat(top, event->ptr,
			    O_RDONLY | O_DIRECTORY | O_CLOEXEC | (no_links ? O_NOFOLLOW : 0));
	/* there may be a file beside the folders, such as a README */
	if (st == RT_OK && fd < 0 && !is_absent(errno))
		st = unreadable(path.ptr, errno, err);
	if (fd < 0) {
		rt_buf_deinit(&path);
		return st;
	}
	st = read_names(fd, files);
	if (st == RT_IO)
		st = unreadable(path.ptr, errno, err);
	for (i = 0; st == RT_OK && i < files->count; i++) {
		rt_buf_clear(&path);
		rt_buf_add_f(&path, "%s/%s/%s", folder, event->ptr, files->items[i]->ptr);
		st = path.status;
		if (st == RT_OK)
			st = rt_hook_watch_add(watch, path.ptr);
		if (st == RT_OK)
			st = add_file(list, source, fd, rt_text_str(event), files->items[i],
				      rt_buf_str(&path), no_links, err);
	}
	free_names(files);
	rt_buf_deinit(&path);
	close(fd);
	return st;
}

/* The folder, with no link in the two steps to a project's. */
static int
open_top(const char *folder, bool no_links)
{
	size_t size = strlen(folder), tail = sizeof(RT_HOOK_PROJECT_FOLDER) - 1;
	int at, next, inner, error;
	rt_buf above;

	if (!no_links)
		return open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	RT_ASSERT(size > tail);
	rt_buf_init(&above, rt_alloc_libc(), 65536);
	rt_buf_add(&above, folder, size - tail);
	errno = ENOMEM;
	at = above.status != RT_OK ? -1 : open(above.ptr, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	rt_buf_deinit(&above);
	next = at < 0 ? -1 : openat(at, ".retake", O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
	inner = next < 0 ? -1
			 : openat(next, "hooks", O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
	error = errno;
	if (at >= 0)
		close(at);
	if (next >= 0)
		close(next);
	errno = error;
	return inner;
}

rt_status
rt_hook_find(rt_hook_list *list, rt_hook_source source, const char *folder, bool no_links,
	     rt_hook_watch *watch, rt_error *err)
{
	name_list *events = NULL, *files = NULL;
	rt_status st = rt_hook_watch_add(watch, folder);
	size_t i;
	int top;

	if (st != RT_OK)
		return rt_fail(err, st, "out of memory");
	top = open_top(folder, no_links);
	if (top < 0)
		return is_absent(errno) ? RT_OK : unreadable(folder, errno, err);
	events = rt_new0(list->alloc, sizeof(*events));
	files = rt_new0(list->alloc, sizeof(*files));
	if (events == NULL || files == NULL) {
		st = rt_fail(err, RT_NOMEM, "out of memory");
		goto done;
	}
	events->alloc = files->alloc = list->alloc;
	st = read_names(top, events);
	if (st == RT_IO)
		st = unreadable(folder, errno, err);
	for (i = 0; st == RT_OK && i < events->count; i++)
		st = add_event(list, source, top, folder, events->items[i], files, no_links, watch,
			       err);
	if (st == RT_NOMEM)
		st = rt_fail(err, st, "out of memory");
	if (st == RT_LIMIT)
		st = rt_fail(err, RT_LIMIT, "there are too many files in %s", folder);
done:
	if (events != NULL)
		free_names(events);
	if (files != NULL)
		free_names(files);
	rt_free(list->alloc, events);
	rt_free(list->alloc, files);
	close(top);
	return st;
}
