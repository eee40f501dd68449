/* SPDX-License-Identifier: MIT
 *
 * The first file that can be opened is the one; it is read whole and compared with what
 * was published, because one lost line would make every count quietly wrong. */
#define _GNU_SOURCE

#include "llm/tokens_host.h"

#include "base/hash.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#ifndef RT_TOKENS_DIR
#define RT_TOKENS_DIR "/usr/local/share/retake/tokens"
#endif

/* Try DIR BELOW/NAME.tiktoken; -1: it is not there. path is the one that was opened. */
static int
open_in(rt_str dir, const char *below, const rt_token_encoding *encoding, rt_buf *path)
{
	int fd = -1;

	rt_buf_clear(path);
	rt_buf_add_str(path, dir);
	rt_buf_add_f(path, "%s/%s.tiktoken", below, encoding->name);
	if (path->status == RT_OK && dir.size > 0)
		fd = open(path->ptr, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	return fd;
}

/* The folder of the running program; empty: not known. */
static rt_str
program_dir(char *room, size_t size)
{
	ssize_t got = readlink("/proc/self/exe", room, size);
	size_t left = got < 0 || (size_t)got == size ? 0 : (size_t)got;

	while (left > 0 && room[left - 1] != '/')
		left--;
	return rt_str_at(room, left > 1 ? left - 1 : 0);
}

static int
open_ranks(const rt_token_encoding *encoding, rt_buf *path)
{
	const char *said = getenv("RETAKE_TOKENS");
	char room[PATH_MAX];
	rt_str program;
	int fd;

	if (said != NULL && *said != 0)
		return open_in(rt_str_of(said), "", encoding, path);
	program = program_dir(room, sizeof(room));
	fd = open_in(program, "/tokens", encoding, path);
	if (fd < 0 && path->status == RT_OK)
		fd = open_in(program, "/../share/retake/tokens", encoding, path);
	if (fd < 0 && path->status == RT_OK)
		fd = open_in(RT_STR(RT_TOKENS_DIR), "", encoding, path);
	return fd;
}

/* All of a file of so many bytes; false: it has another size, or cannot be read. */
static bool
read_all(int fd, size_t size, char *out)
{
	struct stat info;
	size_t at = 0;
	ssize_t got;

	if (fstat(fd, &info) != 0 || !S_ISREG(info.st_mode) || (uint64_t)info.st_size != size)
		return false;
	while (at < size) {
		got = read(fd, out + at, size - at);
		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			return false;
		at += (size_t)got;
	}
	return true;
}

rt_status
rt_tokens_load(const rt_alloc *alloc, const rt_token_encoding *encoding, rt_tokens **out,
	       rt_buf *warnings, rt_error *err)
{
	rt_status st = RT_OK;
	rt_tokens *tokens = NULL;
	char *data = NULL;
	rt_buf path;
	int fd;

	rt_buf_init(&path, alloc, RT_BUF_UNLIMITED);
	fd = open_ranks(encoding, &path);
	if (path.status == RT_OK)
		data = fd < 0 ? NULL : rt_new(alloc, encoding->file_size);
	if (path.status != RT_OK || (fd >= 0 && data == NULL))
		st = rt_fail(err, RT_NOMEM, "out of memory for token ranks");
	if (st == RT_OK && fd >= 0) {
		if (read_all(fd, encoding->file_size, data) &&
		    rt_hash(data, encoding->file_size, 0) == encoding->file_hash)
			st = rt_tokens_new(alloc, encoding, rt_str_at(data, encoding->file_size),
					   &tokens, err);
		else
			rt_buf_add_f(warnings,
				     "%s is not the file that was published; token counts "
				     "are estimates\n",
				     path.ptr);
	}
	if (fd >= 0)
		close(fd);
	rt_free(alloc, data);
	rt_buf_deinit(&path);
	if (st == RT_OK)
		*out = tokens;
	return st;
}
