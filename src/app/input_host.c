/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE

#include "app/input_host.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "app/host.h"
#include "app/input_utf16.h"
#include "codec/json.h"

enum { PIPE_CHUNK = 64 * 1024, LINE_CHUNK = 16 * 1024 };

int
rt_file_unnamed(const char *folder)
{
	char path[4096];
	int size, fd = open(folder, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);

	if (fd >= 0)
		return fd;
	size = snprintf(path, sizeof(path), "%s/retake-XXXXXX", folder);
	if (size < 0 || (size_t)size >= sizeof(path)) {
		errno = ENAMETOOLONG;
		return -1;
	}
	fd = mkostemp(path, O_CLOEXEC);
	if (fd >= 0)
		(void)unlink(path);
	return fd;
}

static rt_status
fail_errno(const char *name, rt_error *err)
{
	return rt_fail(err, errno == ENOENT ? RT_NOT_FOUND : RT_IO,
		       errno == ENOENT ? "there is no file %s" : "cannot read %s: %s", name,
		       strerror(errno));
}

/* ---- reading ---- */

static bool
is_changed(const rt_file_input *f)
{
	struct stat now;

	if (f->grows)
		return fstat(f->fd, &now) != 0 || (uint64_t)now.st_size < f->from + f->in.size;
	return fstat(f->fd, &now) != 0 || now.st_size != f->state.st_size ||
	       now.st_mtim.tv_sec != f->state.st_mtim.tv_sec ||
	       now.st_mtim.tv_nsec != f->state.st_mtim.tv_nsec;
}

static rt_status
read_file(rt_file_input *f, uint64_t offset, char *to, size_t room, size_t *out_size,
	  rt_error *err)
{
	uint64_t at = f->from + offset;
	int fd = -1;
	ssize_t got;

	if (f->wal != NULL)
		rt_input_wal_find(f->wal, offset, &room, &fd, &at);
	do
		got = pread(fd >= 0 ? fd : f->fd, to, room, (off_t)at);
	while (got < 0 && errno == EINTR);
	if (got < 0)
		return fail_errno(f->name, err);
	*out_size = (size_t)got;
	return RT_OK;
}

static rt_status
keep(rt_file_input *f, const char *bytes, size_t size, rt_error *err)
{
	while (size > 0) {
		ssize_t written = pwrite(f->fd, bytes, size, (off_t)f->kept);

		if (written < 0 && errno == EINTR)
			continue;
		if (written <= 0)
			return rt_fail(err, errno == ENOSPC || errno == EDQUOT ? RT_FULL : RT_IO,
				       "cannot copy %s to a temporary file: %s", f->name,
				       strerror(errno));
		bytes += written;
		size -= (size_t)written;
		f->kept += (uint64_t)written;
	}
	return RT_OK;
}

/* Until that many bytes are kept, or the pipe ends. */
static rt_status
take_from_pipe(rt_file_input *f, uint64_t until, rt_error *err)
{
	char bytes[PIPE_CHUNK];
	rt_status st = RT_OK;

	while (st == RT_OK && !f->has_pipe_end && f->kept < until) {
		uint64_t wanted = until - f->kept;
		ssize_t got = read(f->pipe, bytes,
				   wanted < sizeof(bytes) ? (size_t)wanted : sizeof(bytes));

		if (got < 0 && errno == EINTR && rt_host_interrupted())
			return rt_fail(err, RT_INTERRUPTED, "interrupted while reading %s", f->name);
		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return fail_errno(f->name, err);
		f->has_pipe_end = got == 0;
		if (f->kept + (uint64_t)got > RT_FILE_INPUT_PIPE_MAX)
			return rt_fail(err, RT_LIMIT,
				       "%s is larger than %llu MiB, the limit for pipes; name "
				       "the file instead",
				       f->name,
				       (unsigned long long)(RT_FILE_INPUT_PIPE_MAX >> 20));
		st = keep(f, bytes, (size_t)got, err);
	}
	return st;
}

static rt_status
read_at(void *ctx, uint64_t offset, char *to, size_t room, size_t *out_size, rt_error *err)
{
	rt_file_input *f = ctx;
	rt_status st = RT_OK;

	if (f->progress != NULL)
		f->progress(f->progress_ctx, offset);
	if (f->parts != NULL)
		return rt_input_parts_read(f->parts, offset, to, room, out_size, err);
	if (f->pipe >= 0)
		st = take_from_pipe(f, offset + room, err);
	if (st == RT_OK)
		st = read_file(f, offset, to, room, out_size, err);
	if (st == RT_OK && f->pipe < 0 && f->name != NULL &&
	    (is_changed(f) || (f->wal != NULL && rt_input_wal_is_changed(f->wal))))
		st = rt_fail(err, RT_BUSY, "%s changed while it was being read", f->name);
	return st;
}

/* ---- opening ---- */

static void
begin(rt_file_input *f, const char *name, int fd)
{
	memset(f, 0, sizeof(*f));
	f->name = name;
	f->fd = fd;
	f->pipe = -1;
	f->in.ctx = f;
	f->in.read_at = read_at;
}

static rt_status
no_file(const char *name, mode_t mode, rt_error *err)
{
	const char *what = S_ISDIR(mode)    ? "a directory"
			   : S_ISFIFO(mode) ? "a named pipe (FIFO)"
			   : S_ISSOCK(mode) ? "a socket"
					    : "a device";

	return rt_fail(err, RT_USAGE, "%s is %s, not a file that can be imported", name, what);
}

static void
take_state(rt_file_input *f)
{
	uint64_t size = (uint64_t)f->state.st_size;

	f->in.size = f->wal != NULL     ? rt_input_wal_size(f->wal)
		     : size > f->from ? size - f->from
				      : 0;
}

/* A copy in UTF-8 is read instead of the file. */
static rt_status
take_copy(rt_file_input *f, rt_error *err)
{
	int from = f->fd;
	rt_buf folder;
	rt_status st;

	rt_buf_init(&folder, rt_alloc_libc(), RT_BUF_UNLIMITED);
	rt_host_temp_dir(&folder);
	f->fd = folder.status == RT_OK ? rt_file_unnamed(folder.ptr) : -1;
	st = f->fd < 0 ? rt_fail(err, RT_IO, "cannot create a temporary file: %s", strerror(errno))
		       : rt_input_utf16_copy(from, f->fd, f->name, err);
	if (st == RT_OK && fstat(f->fd, &f->state) != 0)
		st = fail_errno(f->name, err);
	rt_buf_deinit(&folder);
	(void)close(from);
	return st;
}

rt_status
rt_file_input_open(rt_file_input *out, const char *name, rt_error *err)
{
	struct stat info;
	int fd;
	rt_status st = RT_OK;

	/* before it is opened: opening some devices has an effect */
	if (stat(name, &info) != 0)
		return fail_errno(name, err);
	if (!S_ISREG(info.st_mode))
		return no_file(name, info.st_mode, err);
	fd = open(name, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	if (fd < 0)
		return fail_errno(name, err);
	begin(out, name, fd);
	out->is_ours = true;
	if (fstat(fd, &out->state) != 0)
		st = fail_errno(name, err);
	else if (!S_ISREG(out->state.st_mode))
		st = no_file(name, out->state.st_mode, err);
	if (st == RT_OK && rt_input_is_utf16(fd))
		st = take_copy(out, err);
	else if (st == RT_OK)
		st = rt_input_wal_open(name, fd, &out->wal, err);
	take_state(out);
	if (st != RT_OK)
		rt_file_input_close(out);
	return st;
}

rt_status
rt_file_input_join(rt_file_input *out, const char *name, const char *const *paths, size_t count,
		   rt_error *err)
{
	rt_status st;

	begin(out, name, -1);
	st = rt_input_parts_open(paths, count, &out->parts, err);
	if (st == RT_OK)
		out->in.size = rt_input_parts_size(out->parts);
	return st;
}

rt_status
rt_file_input_from(rt_file_input *out, int fd, const char *name, const char *folder, rt_error *err)
{
	off_t at;

	begin(out, name, fd);
	if (fstat(fd, &out->state) != 0)
		return fail_errno(name, err);
	if (S_ISDIR(out->state.st_mode))
		return no_file(name, out->state.st_mode, err);
	at = lseek(fd, 0, SEEK_CUR);
	if (S_ISREG(out->state.st_mode) && at >= 0) {
		out->from = (uint64_t)at;
		take_state(out);
		return RT_OK;
	}
	out->pipe = fd;
	out->fd = rt_file_unnamed(folder);
	if (out->fd < 0)
		return rt_fail(err, RT_IO, "cannot create a temporary file in %s: %s", folder,
			       strerror(errno));
	out->is_ours = true;
	return RT_OK;
}

void
rt_file_input_spooled(rt_file_input *out, int fd, uint64_t size)
{
	begin(out, NULL, fd);
	out->in.size = size;
}

/* Is the last line, which has no line feed, complete? Some programs write the line feed before the next
 * record. */
static bool
is_record(const rt_alloc *alloc, rt_str line)
{
	rt_json_doc *doc = NULL;
	bool is = line.size > 1 && line.ptr[0] == '{' && line.ptr[line.size - 1] == '}' &&
		  rt_json_read(alloc, line, &doc, NULL) == RT_OK;

	rt_json_free(doc);
	return is;
}

rt_status
rt_file_input_lines(rt_file_input *f, const rt_alloc *alloc, rt_error *err)
{
	uint64_t end = f->in.size, at = end;
	size_t room = 0, got = 0;
	char *bytes = NULL;
	const char *last = NULL;
	rt_status st = RT_OK;

	if (f->parts != NULL)
		return RT_OK;
	f->grows = true;
	/* Most lines are short: twice the room with each attempt, up to all of the file. */
	while (st == RT_OK && last == NULL && at > 0) {
		room = room == 0 ? LINE_CHUNK : room * 2;
		room = end < room ? (size_t)end : room;
		at = end - room;
		rt_free(alloc, bytes);
		bytes = rt_new_array(alloc, room, 1);
		if (bytes == NULL)
			return rt_fail(err, RT_NOMEM, "out of memory");
		st = read_file(f, at, bytes, room, &got, err);
		last = got == 0 ? NULL : memrchr(bytes, '\n', got);
	}
	if (st == RT_OK && got == room && end > 0) {
		size_t begin = last == NULL ? 0 : (size_t)(last - bytes) + 1;

		if (!is_record(alloc, rt_str_at(bytes + begin, room - begin)))
			f->in.size = at + begin;
	}
	rt_free(alloc, bytes);
	return st;
}

bool
rt_file_input_again(rt_file_input *input)
{
	bool is_again = input->pipe < 0 && input->parts == NULL && input->name != NULL &&
			(is_changed(input) ||
			 (input->wal != NULL && rt_input_wal_is_changed(input->wal))) &&
			fstat(input->fd, &input->state) == 0;

	if (!is_again)
		return false;
	if (input->is_ours) {
		rt_input_wal_close(input->wal);
		if (rt_input_wal_open(input->name, input->fd, &input->wal, NULL) != RT_OK)
			return false;
	}
	take_state(input);
	return true;
}

void
rt_file_input_close(rt_file_input *input)
{
	if (input->is_ours)
		(void)close(input->fd);
	rt_input_wal_close(input->wal);
	rt_input_parts_close(input->parts);
	input->wal = NULL;
	input->parts = NULL;
	input->is_ours = false;
	input->fd = -1;
}
