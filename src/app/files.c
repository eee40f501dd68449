/* SPDX-License-Identifier: MIT
 *
 * Reading and writing files. Input is never changed; output is complete or absent. */
#define _GNU_SOURCE

#include "app/files.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "app/host.h"

enum { READ_SIZE = 256 * 1024, READ_TRIES = 3 };

static rt_status
fail_errno(rt_error *err, const char *path, const char *what)
{
	rt_status st = errno == ENOENT                      ? RT_NOT_FOUND
		       : errno == ENOSPC || errno == EDQUOT ? RT_FULL
		       : errno == EEXIST                    ? RT_REFUSED
							    : RT_IO;

	if (errno == ENOENT)
		return rt_fail(err, st, "there is no file %s", path);
	return rt_fail(err, st, "%s cannot be %s: %s", path, what, strerror(errno));
}

static rt_status
fail_buf(rt_error *err, const rt_buf *buf)
{
	if (buf->status == RT_NOMEM)
		return rt_fail(err, RT_NOMEM, "out of memory");
	return rt_fail(err, buf->status, "it exceeds the limit of %zu bytes", buf->limit);
}

static rt_status
read_fd(int fd, const char *path, rt_buf *out, rt_error *err)
{
	for (;;) {
		char *to = rt_buf_reserve(out, READ_SIZE);
		ssize_t got;

		if (to == NULL)
			return fail_buf(err, out);
		got = read(fd, to, READ_SIZE);
		if (got == 0)
			return RT_OK;
		if (got > 0)
			out->size += (size_t)got;
		else if (errno != EINTR)
			return fail_errno(err, path, "read");
	}
}

rt_status
rt_files_read(const char *path, rt_buf *out, rt_error *err)
{
	rt_status st;
	int fd;

	if (strcmp(path, "-") == 0)
		return read_fd(STDIN_FILENO, "standard input", out, err);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return fail_errno(err, path, "read");
	st = read_fd(fd, path, out, err);
	close(fd);
	return st;
}

static bool
same_state(const struct stat *a, const struct stat *b)
{
	return a->st_size == b->st_size && a->st_mtim.tv_sec == b->st_mtim.tv_sec &&
	       a->st_mtim.tv_nsec == b->st_mtim.tv_nsec;
}

/* A file that changes meanwhile is read again, so that old and new content never mix. */
static rt_status
read_regular(int fd, const char *path, const struct stat *info, rt_buf *out, rt_error *err)
{
	struct stat before = *info, after;
	rt_status st;

	for (int i = 0; i < READ_TRIES; i++) {
		rt_buf_clear(out);
		/* capacity for all of it, and one byte to detect the end */
		if ((uint64_t)before.st_size < SIZE_MAX / 2 - READ_SIZE &&
		    rt_buf_reserve(out, (size_t)before.st_size + READ_SIZE) == NULL)
			return fail_buf(err, out);
		if (lseek(fd, 0, SEEK_SET) != 0)
			return fail_errno(err, path, "read");
		st = read_fd(fd, path, out, err);
		if (st != RT_OK)
			return st;
		if (fstat(fd, &after) != 0)
			return fail_errno(err, path, "read");
		/* generated system files also have size 0 */
		if (same_state(&before, &after) &&
		    (after.st_size == 0 || (uint64_t)after.st_size == out->size))
			return RT_OK;
		before = after;
	}
	return rt_fail(err, RT_BUSY, "%s changed while it was being read", path);
}

rt_status
rt_files_read_whole(const char *path, rt_buf *out, rt_error *err)
{
	struct stat info;
	rt_status st;
	int fd;

	rt_buf_clear(out);
	if (strcmp(path, "-") == 0)
		return read_fd(STDIN_FILENO, "standard input", out, err);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return fail_errno(err, path, "read");
	if (fstat(fd, &info) == 0 && S_ISREG(info.st_mode))
		st = read_regular(fd, path, &info, out, err);
	else
		st = read_fd(fd, path, out, err);
	close(fd);
	return st;
}

static bool
write_all(int fd, rt_str bytes)
{
	size_t at = 0;

	while (at < bytes.size) {
		ssize_t written = write(fd, bytes.ptr + at, bytes.size - at);

		if (written >= 0)
			at += (size_t)written;
		else if (errno != EINTR)
			return false;
	}
	return true;
}

/* The folder of path must know the new name after a loss of power, too. */
static void
sync_folder(const char *path)
{
	const char *slash = strrchr(path, '/');
	char folder[4096];
	int fd;

	if (slash == NULL)
		snprintf(folder, sizeof(folder), ".");
	else
		snprintf(folder, sizeof(folder), "%.*s", slash == path ? 1 : (int)(slash - path),
			 path);
	fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return;
	(void)fsync(fd); /* some file systems cannot; the file itself is synced */
	close(fd);
}

/* Give the finished file its name. */
static bool
name_it(const char *from, const char *to, bool replace)
{
	if (replace)
		return rename(from, to) == 0;
	if (renameat2(AT_FDCWD, from, AT_FDCWD, to, RENAME_NOREPLACE) == 0)
		return true;
	if (errno != EINVAL && errno != ENOSYS)
		return false;
	/* If that is not known: creating a second name fails if it exists already. */
	if (link(from, to) != 0)
		return false;
	(void)unlink(from);
	return true;
}

rt_status
rt_files_write(const rt_env *env, const char *path, rt_str bytes, rt_files_write_mode mode,
	      rt_error *err)
{
	unsigned char dice[6];
	char room[4096];
	struct stat info;
	bool replaces = mode == RT_FILES_REPLACE || mode == RT_FILES_PRIVATE_REPLACE;
	bool is_private = mode == RT_FILES_PRIVATE || mode == RT_FILES_PRIVATE_REPLACE;
	rt_status st = RT_OK;
	bool ok;
	int fd;

	if (stat(path, &info) == 0) {
		if (S_ISDIR(info.st_mode))
			return rt_fail(err, RT_USAGE, "%s is a directory", path);
		if (!replaces)
			return rt_fail(err, RT_REFUSED, "%s already exists", path);
	}
	env->random(env->ctx, dice, sizeof(dice));
	if ((size_t)snprintf(room, sizeof(room), "%s.%02x%02x%02x%02x.tmp", path, dice[0], dice[1],
			     dice[2], dice[3]) >= sizeof(room))
		return rt_fail(err, RT_USAGE, "the file name is too long");
	fd = open(room, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, is_private ? 0600 : 0666);
	if (fd < 0 && errno == ENOENT)
		return rt_fail(err, RT_NOT_FOUND, "the directory for %s does not exist", path);
	if (fd < 0)
		return fail_errno(err, path, "written");
	rt_host_temporary(room);
	ok = write_all(fd, bytes) && fsync(fd) == 0;
	if (close(fd) != 0)
		ok = false;
	if (!ok || !name_it(room, path, replaces)) {
		st = fail_errno(err, path, "written");
		(void)unlink(room);
	} else {
		sync_folder(path);
	}
	rt_host_temporary(NULL);
	return st;
}

rt_status
rt_files_write_temporary(const char *name, rt_str text, rt_buf *out, rt_error *err)
{
	bool ok;
	int fd;

	/* The editor picks its colours by the end of the name. */
	rt_host_temp_dir(out);
	rt_buf_add_f(out, "/%s-XXXXXX.md", name);
	if (out->status != RT_OK)
		return fail_buf(err, out);
	fd = mkostemps(out->ptr, 3, O_CLOEXEC);
	if (fd < 0)
		return fail_errno(err, out->ptr, "made");
	ok = write_all(fd, text);
	if (close(fd) != 0)
		ok = false;
	if (ok)
		return RT_OK;
	(void)unlink(out->ptr);
	return fail_errno(err, out->ptr, "written");
}
