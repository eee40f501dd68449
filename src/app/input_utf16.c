/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "app/input_utf16.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

enum { UNITS = 8192, REPLACEMENT = 0xFFFD };

typedef struct copying {
	int from, to;
	const char *name;
	bool is_big;       /* the high byte is first */
	uint32_t high;     /* a surrogate that waits for its second half; 0: none */
	unsigned char in[2 * UNITS];
	char out[4 * UNITS];
	size_t size;       /* of out */
} copying;

static void
put(copying *c, uint32_t point)
{
	char *p = c->out + c->size;

	if (point < 0x80) {
		p[0] = (char)point;
		c->size += 1;
	} else if (point < 0x800) {
		p[0] = (char)(0xC0 | point >> 6);
		p[1] = (char)(0x80 | (point & 0x3F));
		c->size += 2;
	} else if (point < 0x10000) {
		p[0] = (char)(0xE0 | point >> 12);
		p[1] = (char)(0x80 | (point >> 6 & 0x3F));
		p[2] = (char)(0x80 | (point & 0x3F));
		c->size += 3;
	} else {
		p[0] = (char)(0xF0 | point >> 18);
		p[1] = (char)(0x80 | (point >> 12 & 0x3F));
		p[2] = (char)(0x80 | (point >> 6 & 0x3F));
		p[3] = (char)(0x80 | (point & 0x3F));
		c->size += 4;
	}
}

static void
put_unit(copying *c, uint32_t unit)
{
	bool is_low = unit >= 0xDC00 && unit < 0xE000;

	if (c->high != 0 && is_low) {
		put(c, 0x10000 + ((c->high - 0xD800) << 10) + (unit - 0xDC00));
		c->high = 0;
		return;
	}
	if (c->high != 0)
		put(c, REPLACEMENT);
	c->high = unit >= 0xD800 && unit < 0xDC00 ? unit : 0;
	if (c->high == 0)
		put(c, is_low ? REPLACEMENT : unit);
}

static rt_status
write_out(copying *c, rt_error *err)
{
	for (size_t at = 0; at < c->size;) {
		ssize_t written = write(c->to, c->out + at, c->size - at);

		if (written < 0 && errno == EINTR)
			continue;
		if (written <= 0)
			return rt_fail(err, errno == ENOSPC || errno == EDQUOT ? RT_FULL : RT_IO,
				       "cannot copy %s to a temporary file: %s", c->name, strerror(errno));
		at += (size_t)written;
	}
	c->size = 0;
	return RT_OK;
}

/* An odd byte at the end is left out. */
static rt_status
copy_units(copying *c, rt_error *err)
{
	off_t at = 2; /* after the mark */
	ssize_t got;
	rt_status st = RT_OK;

	while (st == RT_OK && (got = pread(c->from, c->in, sizeof(c->in), at)) != 0) {
		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return rt_fail(err, RT_IO, "cannot read %s: %s", c->name, strerror(errno));
		if (got == 1)
			break;
		for (ssize_t i = 0; i + 1 < got; i += 2)
			put_unit(c, (uint32_t)c->in[i + !c->is_big] << 8 | c->in[i + c->is_big]);
		at += got - got % 2;
		st = write_out(c, err);
	}
	if (st == RT_OK && c->high != 0) {
		put(c, REPLACEMENT);
		st = write_out(c, err);
	}
	return st;
}

/* The mark is FF FE where the low byte is first, FE FF otherwise. */
bool
rt_input_is_utf16(int fd)
{
	unsigned char mark[2];

	return pread(fd, mark, 2, 0) == 2 && mark[0] + mark[1] == 0xFF + 0xFE && mark[0] >= 0xFE;
}

rt_status
rt_input_utf16_copy(int from, int to, const char *name, rt_error *err)
{
	copying c = {.from = from, .to = to, .name = name};

	c.is_big = pread(from, c.in, 1, 0) == 1 && c.in[0] == 0xFE;
	return copy_units(&c, err);
}
