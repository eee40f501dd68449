/* SPDX-License-Identifier: MIT
 *
 * Files of the SQLite store: which one is at the path, syncing, renaming. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* renameat2 */
#endif
#include "store/store_sqlite_impl.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h> /* snprintf, renameat2: no streams */
#include <sys/stat.h>
#include <unistd.h>

enum { LOG_HEADER_SIZE = 32 /* bytes before the first frame of a write-ahead log */ };

/* --- identity --- */

bool
rt_sqlite_exists(const rt_sqlite_store *s, const char *suffix, bool *out_filled)
{
	char name[RT_SQLITE_PATH_ROOM + 8];
	struct stat info;

	snprintf(name, sizeof(name), "%s%s", s->path, suffix);
	if (s->options.vfs != NULL) {
		int there = 0;

		(void)s->vfs->xAccess(s->vfs, name, SQLITE_ACCESS_EXISTS, &there);
		*out_filled = there != 0;
		return there != 0;
	}
	*out_filled = false;
	if (stat(name, &info) != 0)
		return false;
	*out_filled = info.st_size > (strcmp(suffix, "-wal") == 0 ? LOG_HEADER_SIZE : 0);
	return true;
}

bool
rt_sqlite_file_at(const rt_sqlite_store *s, uint64_t *out_device, uint64_t *out_number)
{
	struct stat info;

	*out_device = *out_number = 0;
	if (s->options.vfs != NULL || stat(s->path, &info) != 0)
		return false;
	*out_device = (uint64_t)info.st_dev;
	*out_number = (uint64_t)info.st_ino;
	return true;
}

rt_status
rt_sqlite_same_file(const rt_sqlite_store *s, rt_error *err)
{
	uint64_t device, number;

	if (!s->file_known)
		return RT_OK;
	if (!rt_sqlite_file_at(s, &device, &number))
		return rt_fail(err, RT_REFUSED,
			       "%s has been removed or renamed since it was opened; open it again",
			       s->place);
	if (device != s->file_device || number != s->file_number)
		return rt_fail(err, RT_REFUSED,
			       "%s has been replaced by another file since it was opened; open it again",
			       s->place);
	return RT_OK;
}

/* --- syncing --- */

/* Some file systems cannot sync a folder, and report that with EINVAL. */
static rt_status
sync_path(const char *what, const char *path, int flags, rt_error *err)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | flags);
	int error = fd < 0 || (fsync(fd) != 0 && (flags == 0 || errno != EINVAL)) ? errno : 0;

	if (fd >= 0)
		(void)close(fd);
	if (error == 0)
		return RT_OK;
	return rt_fail(err, RT_IO, "%s%s cannot be %s: %s", what, path,
		       fd < 0 ? "opened" : "synced", strerror(error));
}

rt_status
rt_sqlite_sync_file(const char *path, rt_error *err)
{
	return sync_path("", path, 0, err);
}

rt_status
rt_sqlite_sync_folder(const char *path, rt_error *err)
{
	char folder[RT_SQLITE_PATH_ROOM];
	const char *slash = strrchr(path, '/');

	if (slash == NULL)
		snprintf(folder, sizeof(folder), ".");
	else
		snprintf(folder, sizeof(folder), "%.*s", slash == path ? 1 : (int)(slash - path),
			 path);
	return sync_path("the directory ", folder, O_DIRECTORY, err);
}

/* --- names --- */

rt_status
rt_sqlite_full_or_io(int error)
{
	return error == ENOSPC || error == EDQUOT ? RT_FULL : RT_IO;
}

rt_status
rt_sqlite_rename(const char *from, const char *to, rt_error *err)
{
	if (link(from, to) == 0) {
		(void)unlink(from);
		return RT_OK;
	}
#if defined(__linux__) && defined(RENAME_NOREPLACE)
	/* File systems without hard links. */
	if (errno != EEXIST && renameat2(AT_FDCWD, from, AT_FDCWD, to, RENAME_NOREPLACE) == 0)
		return RT_OK;
#endif
	if (errno == EEXIST)
		return rt_fail(err, RT_REFUSED, "%s already exists", to);
	return rt_fail(err, rt_sqlite_full_or_io(errno), "%s could not be renamed: %s", to,
		       strerror(errno));
}

rt_status
rt_sqlite_make_beside(rt_sqlite_store *s, const char *path, const char *for_people, char *name,
		      size_t room, int *out_fd, rt_error *err)
{
	uint64_t random;

	s->env.random(s->env.ctx, &random, sizeof(random));
	snprintf(name, room, "%s.new-%016llx", path, (unsigned long long)random);
	*out_fd = open(name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
	return *out_fd >= 0 ? RT_OK
			    : rt_fail(err, rt_sqlite_full_or_io(errno), "%s could not be created: %s",
				      for_people, strerror(errno));
}
