/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE

#include "app/input_parts.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

typedef struct part {
	const char *path;
	uint64_t start, size;
	struct timespec changed;
} part;

struct rt_input_parts {
	size_t count, open; /* open: index of the open file */
	int fd;             /* -1: none */
	uint64_t size;
	part parts[];
};

static rt_status
fail(const char *path, rt_error *err)
{
	return rt_fail(err, errno == ENOENT ? RT_NOT_FOUND : RT_IO, "cannot read %s: %s", path,
		       strerror(errno));
}

rt_status
rt_input_parts_open(const char *const *paths, size_t count, rt_input_parts **out, rt_error *err)
{
	rt_input_parts *p = rt_new0(rt_alloc_libc(), sizeof(*p) + count * sizeof(p->parts[0]));
	rt_status st = RT_OK;

	if (p == NULL)
		return rt_fail(err, RT_NOMEM, "out of memory");
	p->count = count;
	p->fd = -1;
	for (size_t i = 0; i < count && st == RT_OK; i++) {
		struct stat info;

		if (stat(paths[i], &info) != 0)
			st = fail(paths[i], err);
		else if (!S_ISREG(info.st_mode))
			st = rt_fail(err, RT_USAGE, "%s is not a regular file", paths[i]);
		else
			p->parts[i] = (part){paths[i], p->size, (uint64_t)info.st_size, info.st_mtim};
		p->size += p->parts[i].size + 1;
	}
	if (st != RT_OK)
		rt_input_parts_close(p);
	else
		*out = p;
	return st;
}

void
rt_input_parts_close(rt_input_parts *parts)
{
	if (parts != NULL && parts->fd >= 0)
		(void)close(parts->fd);
	rt_free(rt_alloc_libc(), parts);
}

uint64_t
rt_input_parts_size(const rt_input_parts *parts)
{
	return parts->size;
}

static size_t
find(const rt_input_parts *p, uint64_t offset)
{
	size_t low = 0, high = p->count;

	while (high - low > 1) {
		size_t middle = low + (high - low) / 2;

		if (p->parts[middle].start <= offset)
			low = middle;
		else
			high = middle;
	}
	return low;
}

static rt_status
open_part(rt_input_parts *p, size_t at, rt_error *err)
{
	const part *one = &p->parts[at];
	struct stat info;

	if (p->fd >= 0)
		(void)close(p->fd);
	p->open = at;
	p->fd = open(one->path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	if (p->fd < 0 || fstat(p->fd, &info) != 0)
		return fail(one->path, err);
	if ((uint64_t)info.st_size != one->size || info.st_mtim.tv_sec != one->changed.tv_sec ||
	    info.st_mtim.tv_nsec != one->changed.tv_nsec)
		return rt_fail(err, RT_BUSY, "%s changed while it was being read", one->path);
	return RT_OK;
}

rt_status
rt_input_parts_read(rt_input_parts *parts, uint64_t offset, char *to, size_t room, size_t *out_size,
		    rt_error *err)
{
	const part *one;
	size_t at;
	ssize_t got;
	rt_status st = RT_OK;

	*out_size = 0;
	if (offset >= parts->size || room == 0)
		return RT_OK;
	at = find(parts, offset);
	one = &parts->parts[at];
	offset -= one->start;
	if (offset >= one->size) {
		*to = '\n';
		*out_size = 1;
		return RT_OK;
	}
	if (parts->fd < 0 || parts->open != at)
		st = open_part(parts, at, err);
	if (st != RT_OK)
		return st;
	if (room > one->size - offset)
		room = (size_t)(one->size - offset);
	do
		got = pread(parts->fd, to, room, (off_t)offset);
	while (got < 0 && errno == EINTR);
	if (got < 0)
		return fail(one->path, err);
	if (got == 0)
		return rt_fail(err, RT_BUSY, "%s changed while it was being read", one->path);
	*out_size = (size_t)got;
	return RT_OK;
}
