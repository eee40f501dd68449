/* SPDX-License-Identifier: MIT
 *
 * The pages of complete transactions, sorted by their number; of one page only the last counts. */
#define _GNU_SOURCE

#include "app/input_wal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { HEADER = 32, FRAME = 24, PAGE_MIN = 512, PAGE_MAX = 65536, PATH_SIZE = 4096 };

typedef struct page {
	uint32_t number; /* from 1 */
	uint32_t frame;  /* from 0 */
} page;

struct rt_input_wal {
	int fd;
	size_t page_size;
	uint64_t size;
	unsigned char header[HEADER];
	page *pages;
	size_t count, room;
};

static uint32_t
number_at(const unsigned char *bytes)
{
	return (uint32_t)bytes[0] << 24 | (uint32_t)bytes[1] << 16 | (uint32_t)bytes[2] << 8 | bytes[3];
}

/* The sums over bytes, whose size is a multiple of 8, continued. */
static void
add_sums(bool is_big, const unsigned char *bytes, size_t size, uint32_t sums[2])
{
	for (size_t i = 0; i < size; i += 8) {
		uint32_t one = number_at(bytes + i), two = number_at(bytes + i + 4);

		sums[0] += (is_big ? one : __builtin_bswap32(one)) + sums[1];
		sums[1] += (is_big ? two : __builtin_bswap32(two)) + sums[0];
	}
}

static bool
read_all(int fd, unsigned char *to, size_t size, uint64_t offset)
{
	size_t done = 0;

	while (done < size) {
		ssize_t got = pread(fd, to + done, size - done, (off_t)(offset + done));

		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			return false;
		done += (size_t)got;
	}
	return true;
}

static bool
add_page(rt_input_wal *wal, page added)
{
	page *more;

	if (wal->count == wal->room) {
		wal->room = wal->room == 0 ? 256 : wal->room * 2;
		more = rt_resize(rt_alloc_libc(), wal->pages, wal->room * sizeof(*more));
		if (more == NULL)
			return false;
		wal->pages = more;
	}
	wal->pages[wal->count++] = added;
	return true;
}

static int
by_page(const void *a, const void *b)
{
	const page *x = a, *y = b;

	if (x->number != y->number)
		return x->number < y->number ? -1 : 1;
	return x->frame < y->frame ? -1 : x->frame > y->frame;
}

/* Only the last of each. */
static void
sort_pages(rt_input_wal *wal)
{
	size_t kept = 0;

	if (wal->count > 1)
		qsort(wal->pages, wal->count, sizeof(*wal->pages), by_page);
	for (size_t i = 0; i < wal->count; i++)
		if (i + 1 == wal->count || wal->pages[i + 1].number != wal->pages[i].number)
			wal->pages[kept++] = wal->pages[i];
	wal->count = kept;
}

/* Reads frames until one is not of this log. False: no memory. */
static bool
read_frames(rt_input_wal *wal, unsigned char *frame)
{
	bool is_big = (wal->header[3] & 1) != 0;
	uint32_t sums[2] = {0, 0};
	size_t whole = 0;

	add_sums(is_big, wal->header, 24, sums);
	if (sums[0] != number_at(wal->header + 24) || sums[1] != number_at(wal->header + 28))
		return true;
	for (uint32_t i = 0; i < UINT32_MAX; i++) {
		if (!read_all(wal->fd, frame, FRAME + wal->page_size,
			      HEADER + i * (uint64_t)(FRAME + wal->page_size)))
			break;
		add_sums(is_big, frame, 8, sums);
		add_sums(is_big, frame + FRAME, wal->page_size, sums);
		if (memcmp(frame + 8, wal->header + 16, 8) != 0 || sums[0] != number_at(frame + 16) ||
		    sums[1] != number_at(frame + 20) || number_at(frame) == 0)
			break;
		if (!add_page(wal, (page){number_at(frame), i}))
			return false;
		if (number_at(frame + 4) != 0) { /* it ends a transaction */
			whole = wal->count;
			wal->size = (uint64_t)number_at(frame + 4) * wal->page_size;
		}
	}
	wal->count = whole;
	sort_pages(wal);
	return true;
}

static bool
is_log(rt_input_wal *wal)
{
	return read_all(wal->fd, wal->header, HEADER, 0) &&
	       (number_at(wal->header) & 0xfffffffe) == 0x377f0682 &&
	       number_at(wal->header + 8) == wal->page_size;
}

/* A rollback journal with a header belongs to a transaction that was not finished. */
static bool
has_journal(const char *name)
{
	static const unsigned char magic[] = {0xd9, 0xd5, 0x05, 0xf9, 0x20, 0xa1, 0x63, 0xd7};
	unsigned char bytes[sizeof(magic)];
	char path[PATH_SIZE];
	int size = snprintf(path, sizeof(path), "%s-journal", name), fd;
	bool found;

	if (size < 0 || (size_t)size >= sizeof(path))
		return false;
	fd = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	if (fd < 0)
		return false;
	found = read_all(fd, bytes, sizeof(bytes), 0) && memcmp(bytes, magic, sizeof(magic)) == 0;
	(void)close(fd);
	return found;
}

rt_status
rt_input_wal_open(const char *name, int fd, rt_input_wal **out, rt_error *err)
{
	unsigned char head[100], *frame;
	char path[PATH_SIZE];
	int size = snprintf(path, sizeof(path), "%s-wal", name);
	rt_input_wal *wal;
	bool has_memory;

	*out = NULL;
	if (!read_all(fd, head, sizeof(head), 0) || memcmp(head, "SQLite format 3", 16) != 0 ||
	    size < 0 || (size_t)size >= sizeof(path))
		return RT_OK;
	if (has_journal(name))
		return rt_fail(err, RT_BUSY, "another program has an unfinished transaction in %s "
					     "(%s-journal); close it, or wait", name, name);
	wal = rt_new0(rt_alloc_libc(), sizeof(*wal));
	frame = rt_new0(rt_alloc_libc(), FRAME + PAGE_MAX);
	if (wal == NULL || frame == NULL) {
		rt_free(rt_alloc_libc(), wal);
		rt_free(rt_alloc_libc(), frame);
		return rt_fail(err, RT_NOMEM, "out of memory");
	}
	wal->page_size = (size_t)head[16] << 8 | head[17];
	if (wal->page_size == 1)
		wal->page_size = PAGE_MAX;
	wal->fd = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	if (wal->fd < 0 && errno != ENOENT) {
		rt_free(rt_alloc_libc(), wal);
		rt_free(rt_alloc_libc(), frame);
		return rt_fail(err, RT_IO, "cannot read %s: %s", path, strerror(errno));
	}
	has_memory = wal->fd < 0 || wal->page_size < PAGE_MIN || !is_log(wal) || read_frames(wal, frame);
	rt_free(rt_alloc_libc(), frame);
	if (!has_memory || wal->count == 0) {
		rt_input_wal_close(wal);
		return has_memory ? RT_OK : rt_fail(err, RT_NOMEM, "out of memory");
	}
	*out = wal;
	return RT_OK;
}

void
rt_input_wal_close(rt_input_wal *wal)
{
	if (wal == NULL)
		return;
	if (wal->fd >= 0)
		(void)close(wal->fd);
	rt_free(rt_alloc_libc(), wal->pages);
	rt_free(rt_alloc_libc(), wal);
}

uint64_t
rt_input_wal_size(const rt_input_wal *wal)
{
	return wal->size;
}

void
rt_input_wal_find(const rt_input_wal *wal, uint64_t offset, size_t *io_room, int *out_fd,
		  uint64_t *out_offset)
{
	uint64_t at = offset % wal->page_size, number = offset / wal->page_size + 1;
	size_t low = 0, high = wal->count;

	if (offset >= wal->size) {
		*io_room = 0;
		return;
	}
	if (*io_room > wal->page_size - at)
		*io_room = (size_t)(wal->page_size - at);
	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (wal->pages[middle].number < number)
			low = middle + 1;
		else
			high = middle;
	}
	if (low == wal->count || wal->pages[low].number != number) {
		*out_fd = -1;
		*out_offset = offset;
		return;
	}
	*out_fd = wal->fd;
	*out_offset = HEADER + wal->pages[low].frame * (uint64_t)(FRAME + wal->page_size) + FRAME + at;
}

bool
rt_input_wal_is_changed(const rt_input_wal *wal)
{
	unsigned char header[HEADER];

	return !read_all(wal->fd, header, HEADER, 0) || memcmp(header, wal->header, HEADER) != 0;
}
