/* SPDX-License-Identifier: MIT
 *
 * Files in and out. What is read is never changed; what is written is whole or absent. */
#define _GNU_SOURCE

#include "cli/cli.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

enum { READ_SIZE = 256 * 1024, READ_TRIES = 3 };

static rt_status
fail_errno(rt_cli *cli, const char *path, const char *what)
{
	rt_status st = errno == ENOENT                      ? RT_NOT_FOUND
		       : errno == ENOSPC || errno == EDQUOT ? RT_FULL
		       : errno == EEXIST                    ? RT_REFUSED
							    : RT_IO;

	if (errno == ENOENT) {
		rt_cli_hint(cli, st, "Look at the name. More: retake help %s",
			    cli->args.command->name);
		return rt_cli_fail(cli, st, "there is no file %s", path);
	}
	rt_cli_fail(cli, st, "%s cannot be %s: %s", path, what, strerror(errno));
	return rt_cli_hint(cli, st, "Look at its permissions: ls -l %s", path);
}

static rt_status
read_fd(rt_cli *cli, int fd, const char *path, rt_buf *out)
{
	for (;;) {
		char *to = rt_buf_reserve(out, READ_SIZE);
		ssize_t got;

		if (to == NULL)
			return rt_cli_buf(cli, out);
		got = read(fd, to, READ_SIZE);
		if (got == 0)
			return RT_OK;
		if (got > 0)
			out->size += (size_t)got;
		else if (errno != EINTR)
			return fail_errno(cli, path, "read");
	}
}

rt_status
rt_cli_read_file(rt_cli *cli, const char *path, rt_buf *out)
{
	rt_status st;
	int fd;

	if (strcmp(path, "-") == 0)
		return read_fd(cli, STDIN_FILENO, "standard input", out);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return fail_errno(cli, path, "read");
	st = read_fd(cli, fd, path, out);
	close(fd);
	return st;
}

static bool
same_state(const struct stat *a, const struct stat *b)
{
	return a->st_size == b->st_size && a->st_mtim.tv_sec == b->st_mtim.tv_sec &&
	       a->st_mtim.tv_nsec == b->st_mtim.tv_nsec;
}

/* A file that changes meanwhile is read anew: half of the old and half of the new is
 * neither. */
static rt_status
read_regular(rt_cli *cli, int fd, const char *path, const struct stat *info, rt_buf *out)
{
	struct stat before = *info, after;
	rt_status st;

	for (int i = 0; i < READ_TRIES; i++) {
		rt_buf_clear(out);
		/* room for all of it at once, and to see that there is no more */
		if ((uint64_t)before.st_size < SIZE_MAX / 2 - READ_SIZE &&
		    rt_buf_reserve(out, (size_t)before.st_size + READ_SIZE) == NULL)
			return rt_cli_buf(cli, out);
		if (lseek(fd, 0, SEEK_SET) != 0)
			return fail_errno(cli, path, "read");
		st = read_fd(cli, fd, path, out);
		if (st != RT_OK)
			return st;
		if (fstat(fd, &after) != 0)
			return fail_errno(cli, path, "read");
		/* a size of 0 is also what a file of the system has that is made while it is read */
		if (same_state(&before, &after) &&
		    (after.st_size == 0 || (uint64_t)after.st_size == out->size))
			return RT_OK;
		before = after;
	}
	rt_cli_hint(cli, RT_BUSY, "Try again when the other program is done with it.");
	return rt_cli_fail(cli, RT_BUSY, "%s was changed while it was read", path);
}

rt_status
rt_cli_file_open(rt_cli *cli, const char *path, rt_cli_file *out)
{
	struct stat info;
	rt_status st;
	int fd;

	memset(out, 0, sizeof(*out));
	rt_buf_init(&out->buf, cli->alloc, RT_BUF_UNLIMITED);
	if (strcmp(path, "-") == 0) {
		st = read_fd(cli, STDIN_FILENO, "standard input", &out->buf);
		out->bytes = rt_buf_str(&out->buf);
		return st;
	}
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return fail_errno(cli, path, "read");
	if (fstat(fd, &info) == 0 && S_ISREG(info.st_mode))
		st = read_regular(cli, fd, path, &info, &out->buf);
	else
		st = read_fd(cli, fd, path, &out->buf);
	out->bytes = rt_buf_str(&out->buf);
	close(fd);
	return st;
}

void
rt_cli_file_close(rt_cli_file *file)
{
	rt_buf_deinit(&file->buf);
	file->bytes = rt_str_at(NULL, 0);
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
	/* Where that is not known: a second name fails if there is one already. */
	if (link(from, to) != 0)
		return false;
	(void)unlink(from);
	return true;
}

static rt_status
write_file(rt_cli *cli, const char *path, rt_str bytes, bool replace, mode_t mode)
{
	unsigned char dice[6];
	char room[4096];
	struct stat info;
	rt_status st = RT_OK;
	bool ok;
	int fd;

	if (stat(path, &info) == 0) {
		if (S_ISDIR(info.st_mode))
			return rt_cli_fail(cli, RT_USAGE, "%s is a folder", path);
		if (!replace) {
			rt_cli_hint(cli, RT_REFUSED, "To replace it, add --force.");
			return rt_cli_fail(cli, RT_REFUSED, "%s is there already", path);
		}
	}
	cli->env->random(cli->env->ctx, dice, sizeof(dice));
	if ((size_t)snprintf(room, sizeof(room), "%s.%02x%02x%02x%02x.tmp", path, dice[0], dice[1],
			     dice[2], dice[3]) >= sizeof(room))
		return rt_cli_fail(cli, RT_USAGE, "the name of the file is too long");
	fd = open(room, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);
	if (fd < 0) {
		if (errno == ENOENT) {
			rt_cli_hint(cli, RT_NOT_FOUND,
				    "Make the folder first, or name another one.");
			return rt_cli_fail(cli, RT_NOT_FOUND, "there is no folder for %s", path);
		}
		return fail_errno(cli, path, "written");
	}
	rt_host_temporary(room);
	ok = write_all(fd, bytes) && fsync(fd) == 0;
	if (close(fd) != 0)
		ok = false;
	if (!ok || !name_it(room, path, replace)) {
		st = fail_errno(cli, path, "written");
		(void)unlink(room);
	} else {
		sync_folder(path);
	}
	rt_host_temporary(NULL);
	return st;
}

rt_status
rt_cli_write_file(rt_cli *cli, const char *path, rt_str bytes, bool replace)
{
	return write_file(cli, path, bytes, replace, 0666);
}

rt_status
rt_cli_write_private(rt_cli *cli, const char *path, rt_str bytes)
{
	return write_file(cli, path, bytes, false, 0600);
}

rt_status
rt_cli_temp_file(rt_cli *cli, const char *name, rt_str text, rt_buf *out)
{
	bool ok;
	int fd;

	/* The editor picks its colours by the end of the name. */
	rt_host_temp_dir(out);
	rt_buf_add_f(out, "/%s-XXXXXX.md", name);
	if (out->status != RT_OK)
		return rt_cli_buf(cli, out);
	fd = mkostemps(out->ptr, 3, O_CLOEXEC);
	if (fd < 0)
		return fail_errno(cli, out->ptr, "made");
	ok = write_all(fd, text);
	if (close(fd) != 0)
		ok = false;
	if (ok)
		return RT_OK;
	(void)unlink(out->ptr);
	return fail_errno(cli, out->ptr, "written");
}
