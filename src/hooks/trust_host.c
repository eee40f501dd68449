/* SPDX-License-Identifier: MIT
 *
 * trust.json on disk, and hooks of work folders read for good. */
#define _GNU_SOURCE

#include <errno.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "hooks/trust.h"

enum { PIECE = 64 << 10, NAME_ROOM = 256 };

#define FILE_NAME "trust.json"
#define TEMPORARY "trust.json.new"

#ifndef MFD_EXEC
#define MFD_EXEC 0x0010U /* Linux 6.3; older ones make every such file executable */
#endif

static rt_status
fail_io(rt_error *err, const char *what)
{
	int code = errno;

	return rt_fail(err, code == ENOSPC || code == EDQUOT ? RT_FULL : RT_IO, "%s: %s", what,
		       strerror(code));
}

/* --- trust.json --- */

static rt_status
read_all(int fd, rt_buf *out, rt_error *err)
{
	for (;;) {
		char *to = rt_buf_reserve(out, PIECE);
		ssize_t got = to == NULL ? 0 : read(fd, to, PIECE);

		if (to == NULL)
			return rt_fail(err, out->status, "trust.json is too large");
		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return fail_io(err, "trust.json cannot be read");
		if (got == 0)
			return RT_OK;
		out->size += (size_t)got;
	}
}

static rt_status
read_at(const rt_alloc *alloc, int folder, rt_json_doc **out, rt_error *err)
{
	int fd = openat(folder, FILE_NAME, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	rt_json_doc *doc = NULL;
	rt_status st = RT_OK;
	struct stat info;
	rt_error why;
	rt_buf text;

	*out = NULL;
	if (fd < 0)
		return errno == ENOENT ? RT_OK : fail_io(err, "trust.json cannot be opened");
	rt_buf_init(&text, alloc, RT_TRUST_FILE_MAX + PIECE);
	if (fstat(fd, &info) != 0)
		st = fail_io(err, "trust.json cannot be looked at");
	else if (!S_ISREG(info.st_mode))
		st = rt_fail(err, RT_CORRUPT, "trust.json is no file");
	else if (info.st_uid != geteuid() || (info.st_mode & 022) != 0)
		st = rt_fail(err, RT_REFUSED,
			     "trust.json can be written by others than you: chmod 600 it, after "
			     "looking at what is in it");
	if (st == RT_OK)
		st = read_all(fd, &text, err);
	if (st == RT_OK) {
		st = rt_json_read(alloc, rt_buf_str(&text), &doc, &why);
		if (st != RT_OK && st != RT_NOMEM)
			st = rt_fail(err, RT_CORRUPT, "trust.json is damaged: %s", why.text);
	}
	if (st == RT_OK)
		st = rt_trust_check(doc, err);
	if (st == RT_OK)
		*out = doc;
	else
		rt_json_free(doc);
	rt_buf_deinit(&text);
	close(fd);
	return st;
}

rt_status
rt_trust_read(const rt_alloc *alloc, const char *state_folder, rt_json_doc **out, rt_error *err)
{
	int folder = open(state_folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	rt_status st;

	*out = NULL;
	if (folder < 0)
		return errno == ENOENT ? RT_OK : fail_io(err, state_folder);
	st = read_at(alloc, folder, out, err);
	close(folder);
	return st;
}

/* The folder and those above it. */
static rt_status
make_folders(const rt_alloc *alloc, const char *path, rt_error *err)
{
	rt_status st = RT_OK;
	rt_buf part;
	size_t i;

	rt_buf_init(&part, alloc, 65536);
	rt_buf_add_c(&part, path);
	st = part.status;
	for (i = 1; st == RT_OK && i <= part.size; i++) {
		if (i < part.size && part.ptr[i] != '/')
			continue;
		part.ptr[i] = 0;
		if (mkdir(part.ptr, 0700) != 0 && errno != EEXIST)
			st = fail_io(err, part.ptr);
		if (i < part.size)
			part.ptr[i] = '/';
	}
	rt_buf_deinit(&part);
	return st;
}

/* Under another name, synced, then given its name, and that synced. */
static rt_status
write_at(int folder, rt_str text, rt_error *err)
{
	int fd;
	size_t at = 0;
	bool ok;

	(void)unlinkat(folder, TEMPORARY, 0); /* of one that crashed; we hold the lock */
	fd = openat(folder, TEMPORARY, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
	ok = fd >= 0;
	while (ok && at < text.size) {
		ssize_t wrote = write(fd, text.ptr + at, text.size - at);

		if (wrote < 0 && errno == EINTR)
			continue;
		ok = wrote > 0;
		at += wrote > 0 ? (size_t)wrote : 0;
	}
	ok = ok && fsync(fd) == 0;
	if (fd >= 0 && close(fd) != 0)
		ok = false;
	ok = ok && renameat(folder, TEMPORARY, folder, FILE_NAME) == 0 && fsync(folder) == 0;
	if (ok)
		return RT_OK;
	(void)fail_io(err, "trust.json cannot be written");
	(void)unlinkat(folder, TEMPORARY, 0);
	return err == NULL ? RT_IO : err->status;
}

rt_status
rt_trust_change(const rt_alloc *alloc, const char *state_folder, rt_str path, rt_str hex,
		rt_error *err)
{
	rt_json_doc *doc = NULL;
	rt_status st = make_folders(alloc, state_folder, err);
	int folder = -1;
	rt_buf text;

	rt_buf_init(&text, alloc, RT_TRUST_FILE_MAX);
	if (st == RT_OK) {
		folder = open(state_folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		if (folder < 0 || flock(folder, LOCK_EX) != 0)
			st = fail_io(err, state_folder);
	}
	if (st == RT_OK)
		st = read_at(alloc, folder, &doc, err);
	if (st == RT_OK)
		st = rt_trust_write(alloc, doc, path, hex, &text);
	if (st == RT_OK)
		st = write_at(folder, rt_buf_str(&text), err);
	rt_json_free(doc);
	rt_buf_deinit(&text);
	if (folder >= 0)
		close(folder); /* and with it the lock */
	return st;
}

/* --- a hook of a work folder --- */

/* The file, with no link on the way from folder to it. */
static int
open_inner(const char *folder, const char *inner)
{
	int at = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC), next = -1, code;
	char name[NAME_ROOM];

	while (at >= 0) {
		size_t size = strcspn(inner, "/");
		bool last = inner[size] == 0;

		if (size == 0 || size >= sizeof(name)) {
			errno = ENAMETOOLONG;
			next = -1;
		} else {
			memcpy(name, inner, size);
			name[size] = 0;
			next = openat(at, name,
				      O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK |
					      (last ? O_NOCTTY : O_DIRECTORY));
		}
		code = errno;
		close(at);
		errno = code;
		if (last || next < 0)
			return next;
		at = next;
		inner += size + 1;
	}
	return -1;
}

static int
memory_file(void)
{
	int fd = memfd_create("retake-hook", MFD_CLOEXEC | MFD_ALLOW_SEALING | MFD_EXEC);

	return fd < 0 && errno == EINVAL
		       ? memfd_create("retake-hook", MFD_CLOEXEC | MFD_ALLOW_SEALING)
		       : fd;
}

static bool
write_whole(int fd, const char *ptr, size_t size)
{
	while (size > 0) {
		ssize_t wrote = write(fd, ptr, size);

		if (wrote < 0 && errno == EINTR)
			continue;
		if (wrote <= 0)
			return false;
		ptr += wrote;
		size -= (size_t)wrote;
	}
	return true;
}

/* All bytes, once: to the hash, and to the copy where there is one. */
static rt_status
take_bytes(int from, int to, const char *inner, rt_trust_file *out, rt_error *err)
{
	char piece[4096];
	uint64_t size = 0;
	rt_sha256 sha;

	rt_sha256_init(&sha);
	for (;;) {
		ssize_t got = read(from, piece, sizeof(piece));

		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return fail_io(err, inner);
		if (got == 0)
			break;
		if (size == 0)
			out->is_script = got >= 2 && piece[0] == '#' && piece[1] == '!';
		size += (uint64_t)got;
		if (size > RT_TRUST_PROGRAM_MAX)
			return rt_fail(err, RT_REFUSED, "%s is larger than %d bytes", inner,
				       RT_TRUST_PROGRAM_MAX);
		rt_sha256_add(&sha, piece, (size_t)got);
		if (to >= 0 && !write_whole(to, piece, (size_t)got))
			return fail_io(err, "there is no room for a copy of a hook");
	}
	rt_sha256_end_hex(&sha, out->hex);
	if (to >= 0 && fcntl(to, F_ADD_SEALS,
			     F_SEAL_WRITE | F_SEAL_GROW | F_SEAL_SHRINK | F_SEAL_SEAL) != 0)
		return fail_io(err, "the copy of a hook cannot be sealed");
	return RT_OK;
}

rt_status
rt_trust_open(const char *folder, const char *inner, bool with_fd, rt_trust_file *out,
	      rt_error *err)
{
	int from = open_inner(folder, inner), to = -1;
	rt_status st = RT_OK;
	struct stat info;

	memset(out, 0, sizeof(*out));
	out->fd = -1;
	if (from < 0) {
		int code = errno;

		if (code == ENOENT)
			return rt_fail(err, RT_NOT_FOUND, "%s is not there", inner);
		if (code == ELOOP || code == ENOTDIR)
			return rt_fail(err, RT_REFUSED,
				       "%s is, or lies behind, a symbolic link; a project's hook "
				       "has to be a file",
				       inner);
		errno = code;
		return fail_io(err, inner);
	}
	if (fstat(from, &info) != 0)
		st = fail_io(err, inner);
	else if (!S_ISREG(info.st_mode))
		st = rt_fail(err, RT_REFUSED, "%s is no file", inner);
	else if ((info.st_mode & 0111) == 0)
		st = rt_fail(err, RT_REFUSED, "%s is not executable", inner);
	if (st == RT_OK && with_fd) {
		to = memory_file();
		if (to < 0)
			st = fail_io(err, "there is no file in memory to be had for a hook");
	}
	if (st == RT_OK)
		st = take_bytes(from, to, inner, out, err);
	close(from);
	if (st == RT_OK)
		out->fd = to;
	else if (to >= 0)
		close(to);
	return st;
}
