/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE

#include "server/token_host.h"

#include "base/encode.h"
#include "llm/system_host.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

enum { LOCK_WAIT_MS = 5000 };

void
rt_token_make(const rt_env *env, char out[RT_TOKEN_ROOM])
{
	unsigned char bytes[RT_TOKEN_SIZE / 2];

	env->random(env->ctx, bytes, sizeof(bytes));
	rt_hex(bytes, sizeof(bytes), out);
	out[RT_TOKEN_SIZE] = '\0';
}

rt_status
rt_private_folder(const rt_alloc *alloc, const char *path, rt_error *err)
{
	struct stat info;
	rt_buf part;
	size_t i;
	rt_status st = RT_OK;

	rt_buf_init(&part, alloc, 65536);
	rt_buf_add_c(&part, path);
	for (i = 1; part.status == RT_OK && i <= part.size; i++) {
		char kept = part.ptr[i];

		if (kept != '/' && kept != '\0')
			continue;
		part.ptr[i] = '\0';
		(void)mkdir(part.ptr, 0700);
		part.ptr[i] = kept;
	}
	if (part.status != RT_OK)
		st = rt_fail(err, part.status, "out of memory");
	else if (lstat(path, &info) != 0)
		st = rt_fail(err, RT_IO, "cannot create the directory %s: %s", path, strerror(errno));
	else if (!S_ISDIR(info.st_mode) || info.st_uid != geteuid() || (info.st_mode & 022) != 0)
		st = rt_fail(err, RT_REFUSED, "%s must be a directory that only you can write "
			     "to: chmod 700 %s", path, path);
	rt_buf_deinit(&part);
	return st;
}

static rt_status
write_token(const rt_env *env, const char *path, const char *fresh, char out[RT_TOKEN_ROOM],
	    rt_error *err)
{
	bool is_written;
	int fd;

	rt_token_make(env, out);
	(void)unlink(fresh);
	fd = open(fresh, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (fd < 0)
		return rt_fail(err, RT_IO, "cannot write %s: %s", fresh, strerror(errno));
	is_written = write(fd, out, RT_TOKEN_SIZE) == RT_TOKEN_SIZE && write(fd, "\n", 1) == 1 &&
		     fsync(fd) == 0;
	if (close(fd) != 0 || !is_written || rename(fresh, path) != 0) {
		rt_status st = rt_fail(err, RT_IO, "cannot write %s: %s", path, strerror(errno));

		(void)unlink(fresh);
		return st;
	}
	return RT_OK;
}

/* RT_NOT_FOUND: none. A file that the user has named may be a link, and is not replaced. */
static rt_status
read_token(const char *path, bool is_named, char out[RT_TOKEN_ROOM], rt_error *err)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | (is_named ? 0 : O_NOFOLLOW));
	const char *advice = is_named ? "" : "; or remove it to get a new one";
	struct stat info;
	ssize_t size;

	if (fd < 0 && errno == ENOENT)
		return RT_NOT_FOUND;
	if (fd < 0)
		return rt_fail(err, errno == ELOOP ? RT_REFUSED : RT_IO, "cannot read %s: %s", path,
			       strerror(errno));
	if (fstat(fd, &info) != 0 || !S_ISREG(info.st_mode) || info.st_uid != geteuid() ||
	    (info.st_mode & 077) != 0) {
		(void)close(fd);
		return rt_fail(err, RT_REFUSED, "%s must be a file that only you can read: chmod "
			       "600 %s%s", path, path, advice);
	}
	size = read(fd, out, RT_TOKEN_SIZE);
	(void)close(fd);
	out[RT_TOKEN_SIZE] = '\0';
	if (size != RT_TOKEN_SIZE || strspn(out, "0123456789abcdef") != RT_TOKEN_SIZE)
		return rt_fail(err, RT_REFUSED, "%s does not contain a token of 64 hexadecimal digits%s",
			       path, advice);
	return RT_OK;
}

rt_status
rt_token_load(const rt_alloc *alloc, const rt_env *env, const char *folder, bool renew,
	      char out[RT_TOKEN_ROOM], rt_error *err)
{
	char path[4096], fresh[4096];
	int a = snprintf(path, sizeof(path), "%s/token", folder);
	int b = snprintf(fresh, sizeof(fresh), "%s/token.new", folder);
	int lock;
	rt_status st;

	if (a < 0 || b < 0 || (size_t)a >= sizeof(path) || (size_t)b >= sizeof(fresh))
		return rt_fail(err, RT_LIMIT, "the path of the state directory is too long");
	st = rt_private_folder(alloc, folder, err);
	if (st != RT_OK)
		return st;
	st = renew ? RT_NOT_FOUND : read_token(path, false, out, err);
	if (st != RT_NOT_FOUND)
		return st;
	/* If several servers start at once, one creates the token. */
	lock = rt_folder_lock(path, LOCK_WAIT_MS);
	if (lock < 0)
		return rt_fail(err, RT_BUSY, "%s is in use by another program: try again", folder);
	st = renew ? RT_NOT_FOUND : read_token(path, false, out, err);
	if (st == RT_NOT_FOUND)
		st = write_token(env, path, fresh, out, err);
	(void)close(lock);
	return st;
}

rt_status
rt_token_read(const char *path, char out[RT_TOKEN_ROOM], rt_error *err)
{
	rt_status st = read_token(path, true, out, err);

	return st == RT_NOT_FOUND ? rt_fail(err, st, "there is no token file %s", path) : st;
}
