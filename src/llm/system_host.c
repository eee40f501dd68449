/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE

#include "llm/system_host.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/clock_host.h"

enum { PIECE = 64 << 10 };

static int64_t
now_us(void *ctx)
{
	struct timespec now;

	(void)ctx;
	clock_gettime(CLOCK_REALTIME, &now);
	return (int64_t)now.tv_sec * 1000000 + now.tv_nsec / 1000;
}

static void
fill_random(void *ctx, void *to, size_t size)
{
	char *at = to;

	(void)ctx;
	while (size > 0) {
		ssize_t got = getrandom(at, size, 0);

		if (got < 0) {
			RT_ASSERT(errno == EINTR);
			continue;
		}
		at += got;
		size -= (size_t)got;
	}
}

const rt_env *
rt_system_env(void)
{
	static const rt_env env = {now_us, fill_random, NULL};

	return &env;
}

bool
rt_home_path(rt_buf *out, const char *variable, const char *below, const char *name)
{
	const char *dir = getenv(variable), *home = getenv("HOME");

	if (dir != NULL && *dir == '/') /* the specification ignores a relative one */
		rt_buf_add_f(out, "%s/retake/%s", dir, name);
	else if (home != NULL && *home == '/')
		rt_buf_add_f(out, "%s/%s/retake/%s", home, below, name);
	else
		return false;
	return true;
}

bool
rt_folders_make(char *path)
{
	bool made = true;

	for (char *at = path + 1; made && *at != '\0'; at++) {
		if (*at != '/')
			continue;
		*at = '\0';
		made = mkdir(path, 0700) == 0 || errno == EEXIST;
		*at = '/';
	}
	return made;
}

/* False: errno says why. */
static bool
read_all(int fd, size_t size_max, rt_buf *out)
{
	ssize_t got = 1;

	while (got != 0 && out->size <= size_max) {
		char *to = rt_buf_reserve(out, PIECE);

		if (to == NULL)
			break;
		got = read(fd, to, PIECE);
		if (got > 0)
			out->size += (size_t)got;
		else if (got < 0 && errno != EINTR)
			return false;
	}
	return true;
}

static rt_status
fail_read(rt_error *err, const char *path)
{
	char why[128];

	return rt_fail(err, errno == ENOENT || errno == ENOTDIR ? RT_NOT_FOUND : RT_IO,
		       "cannot read %s: %s", path, strerror_r(errno, why, sizeof(why)));
}

rt_status
rt_file_read(const char *path, int flags, size_t size_max, rt_buf *out, rt_error *err)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK | flags);
	rt_status st;

	if (fd < 0)
		return fail_read(err, path);
	st = rt_file_read_open(fd, path, size_max, out, err);
	(void)close(fd);
	return st;
}

rt_status
rt_file_read_open(int fd, const char *path, size_t size_max, rt_buf *out, rt_error *err)
{
	struct stat info;

	if (fstat(fd, &info) != 0)
		return fail_read(err, path);
	if (!S_ISREG(info.st_mode))
		return rt_fail(err, RT_IO, "%s is not a file", path);
	if (info.st_size > 0 && (uint64_t)info.st_size <= size_max)
		(void)rt_buf_reserve(out, (size_t)info.st_size + PIECE);
	if (!read_all(fd, size_max, out))
		return fail_read(err, path);
	if (out->status != RT_OK)
		return rt_fail(err, out->status, "out of memory");
	if (out->size > size_max)
		return rt_fail(err, RT_LIMIT, "%s has more than %zu bytes", path, size_max);
	return RT_OK;
}

bool
rt_file_lock(int fd, int wait_ms)
{
	const struct timespec pause = {.tv_nsec = 2 * 1000000};
	int64_t until = rt_clock_ms() + wait_ms;

	while (flock(fd, LOCK_EX | LOCK_NB) != 0) {
		if ((errno != EWOULDBLOCK && errno != EINTR) || rt_clock_ms() >= until)
			return false;
		(void)nanosleep(&pause, NULL);
	}
	return true;
}

int
rt_folder_lock(const char *path, int wait_ms)
{
	const char *slash = strrchr(path, '/');
	char folder[4096];
	int fd;

	(void)snprintf(folder, sizeof(folder), "%.*s", slash == NULL ? 1 : (int)(slash - path) + 1,
		       slash == NULL ? "." : path);
	fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd >= 0 && !rt_file_lock(fd, wait_ms)) {
		(void)close(fd);
		return -1;
	}
	return fd;
}

bool
rt_file_write(const char *path, rt_str bytes, bool sync)
{
	int fd;
	bool ok;

	(void)unlink(path);
	fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (fd < 0)
		return false;
	ok = write(fd, bytes.ptr, bytes.size) == (ssize_t)bytes.size && (!sync || fsync(fd) == 0);
	return close(fd) == 0 && ok;
}
