/* SPDX-License-Identifier: MIT
 *
 * The format is described in PKWARE's APPNOTE.TXT. */
#include "importers/archive.h"

#include <stdlib.h> /* qsort */

#include "importers/inflate.h"

enum {
	END_SIZE = 22,       /* of the record at the end, without its comment */
	COMMENT_MAX = 65535,
	LOCATOR_SIZE = 20,
	END64_SIZE = 56,
	ENTRY_SIZE = 46,
	LOCAL_SIZE = 30,
	MEMBERS_MAX = 100000,
	DIRECTORY_MAX = 32 << 20,
	RATIO_MAX = 200,     /* of a member larger than RATIO_FROM, and of all larger than TOTAL_FROM */
	RATIO_FROM = 16 << 20,
	TOTAL_FROM = 64 << 20,
	WASTE_MAX = 8,       /* times the size of a member, and WASTE_FROM */
	WASTE_FROM = 64 << 20,
	PACKED_CHUNK = 32 * 1024
};

static uint64_t
number_at(const char *bytes, size_t size)
{
	uint64_t number = 0;

	while (size-- > 0)
		number = number << 8 | (unsigned char)bytes[size];
	return number;
}

static rt_status
read_fully(const rt_input *in, uint64_t offset, char *to, size_t size, rt_error *err)
{
	size_t done = 0, got = 1;
	rt_status st = RT_OK;

	for (; st == RT_OK && done < size && got > 0; done += st == RT_OK ? got : 0) {
		got = 0;
		st = in->read_at(in->ctx, offset + done, to + done, size - done, &got, err);
	}
	return st == RT_OK && done < size
		       ? rt_fail(err, RT_USAGE, "the archive is truncated or damaged")
		       : st;
}

/* NULL: the scope has failed. */
static char *
read_part(rt_scope *s, const rt_input *in, uint64_t offset, size_t size)
{
	char *bytes = rt_scope_get(s, size + 1);

	RT_TRY(s, read_fully(in, offset, bytes, size, &s->error));
	return rt_ok(s) ? bytes : NULL;
}

bool
rt_archive_is(rt_str head)
{
	return rt_str_starts(head, RT_STR("PK\3\4")) || rt_str_starts(head, RT_STR("PK\5\6"));
}

/* ---- the directory ---- */

typedef struct directory {
	uint64_t offset, size, count, end; /* end: where nothing of the members can be */
} directory;

static void
damaged(rt_scope *s, const char *what)
{
	(void)rt_scope_fail(s, RT_USAGE, "the archive is damaged: %s", what);
}

/* The size of an input from a pipe, which is read once for this. */
static uint64_t
size_of(rt_scope *s, const rt_input *in)
{
	char *bytes = in->size > 0 ? NULL : rt_scope_get(s, RT_INPUT_HEAD);
	uint64_t size = in->size;
	size_t got = 1;

	for (; bytes != NULL && got > 0 && rt_ok(s); size += got) {
		got = 0;
		RT_TRY(s, in->read_at(in->ctx, size, bytes, RT_INPUT_HEAD, &got, &s->error));
	}
	return size;
}

/* The 64-bit record before the other one, where a number does not fit. */
static void
find_zip64(rt_scope *s, const rt_input *in, uint64_t at, directory *d)
{
	const char *bytes = at < LOCATOR_SIZE ? NULL : read_part(s, in, at - LOCATOR_SIZE, LOCATOR_SIZE);
	uint64_t record;

	if (bytes == NULL || number_at(bytes, 4) != 0x07064b50)
		return;
	record = number_at(bytes + 8, 8);
	if (record > at - LOCATOR_SIZE || at - LOCATOR_SIZE - record < END64_SIZE) {
		damaged(s, "its end record is at the wrong position");
		return;
	}
	bytes = read_part(s, in, record, END64_SIZE);
	if (bytes == NULL)
		return;
	if (number_at(bytes, 4) != 0x06064b50) {
		damaged(s, "its end record is at the wrong position");
		return;
	}
	*d = (directory){.offset = number_at(bytes + 48, 8),
			 .size = number_at(bytes + 40, 8),
			 .count = number_at(bytes + 32, 8),
			 .end = record};
}

/* The record at the end, before a comment. */
static void
find_directory(rt_scope *s, const rt_input *in, directory *d)
{
	uint64_t size = size_of(s, in);
	size_t room = size < END_SIZE + COMMENT_MAX ? (size_t)size : END_SIZE + COMMENT_MAX;
	const char *tail = read_part(s, in, size - room, room);

	for (size_t at = room; tail != NULL && at-- > 0;) {
		const char *end = tail + at;

		if (room - at < END_SIZE || number_at(end, 4) != 0x06054b50 ||
		    number_at(end + 20, 2) > room - at - END_SIZE)
			continue;
		if (number_at(end + 4, 2) != 0 && number_at(end + 4, 2) != 0xffff) {
			(void)rt_scope_fail(s, RT_USAGE, "the archive is one part of several");
			return;
		}
		*d = (directory){.offset = number_at(end + 16, 4),
				 .size = number_at(end + 12, 4),
				 .count = number_at(end + 10, 2),
				 .end = size - room + at};
		find_zip64(s, in, d->end, d);
		if (rt_ok(s) && (d->offset > d->end || d->size > d->end - d->offset))
			damaged(s, "its directory is not in the file");
		return;
	}
	damaged(s, "it has no directory at its end; it may be truncated");
}

/* Larger numbers than 32 bits are in the extra field, those that do not fit, in this order. */
static bool
read_zip64(rt_str extra, rt_archive_member *m)
{
	uint64_t *const wide[] = {&m->size, &m->packed_size, &m->offset};

	while (extra.size >= 4) {
		size_t size = (size_t)number_at(extra.ptr + 2, 2), at = 4;

		if (size > extra.size - 4)
			return false;
		for (size_t i = 0; number_at(extra.ptr, 2) == 1 && i < 3; i++) {
			if (*wide[i] != 0xffffffff)
				continue;
			if (at + 8 > 4 + size)
				return false;
			*wide[i] = number_at(extra.ptr + at, 8);
			at += 8;
		}
		extra = rt_str_skip(extra, 4 + size);
	}
	return true;
}

/* The entry at the beginning of rest, which then begins after it. */
static bool
read_entry(rt_scope *s, rt_str *rest, rt_archive_member *m)
{
	const char *e = rest->ptr;
	size_t name, extra, comment;
	rt_buf *repaired;

	if (rest->size < ENTRY_SIZE || number_at(e, 4) != 0x02014b50)
		return false;
	name = (size_t)number_at(e + 28, 2);
	extra = (size_t)number_at(e + 30, 2);
	comment = (size_t)number_at(e + 32, 2);
	if (rest->size - ENTRY_SIZE < name + extra + comment)
		return false;
	*m = (rt_archive_member){.offset = number_at(e + 42, 4),
				 .packed_size = number_at(e + 20, 4),
				 .size = number_at(e + 24, 4),
				 .crc = (uint32_t)number_at(e + 16, 4),
				 .method = (uint16_t)number_at(e + 10, 2),
				 .flags = (uint16_t)number_at(e + 8, 2),
				 .is_link = number_at(e + 5, 1) == 3 &&
					    (number_at(e + 38, 4) >> 28) == 0xa};
	repaired = rt_scope_buf(s);
	rt_utf8_repair(repaired, rt_str_at(e + ENTRY_SIZE, name));
	m->name = rt_scope_str(s, repaired);
	*rest = rt_str_skip(*rest, ENTRY_SIZE + name + extra + comment);
	return read_zip64(rt_str_at(e + ENTRY_SIZE + name, extra), m);
}

static int
by_offset(const void *a, const void *b)
{
	const rt_archive_member *const *x = a, *const *y = b;

	return (*x)->offset < (*y)->offset ? -1 : (*x)->offset > (*y)->offset;
}

/* Members that share bytes decompress to far more than a file of that size can contain. */
static void
refuse_overlaps(rt_scope *s, const rt_archive *a, uint64_t end)
{
	rt_archive_member **sorted = rt_scope_array(s, a->count + 1, sizeof(*sorted));

	for (size_t i = 0; sorted != NULL && i < a->count; i++)
		sorted[i] = &a->members[i];
	if (sorted == NULL)
		return;
	qsort(sorted, a->count, sizeof(*sorted), by_offset);
	for (size_t i = 0; i < a->count; i++) {
		uint64_t next = i + 1 < a->count ? sorted[i + 1]->offset : end;

		if (next > end || next - sorted[i]->offset < LOCAL_SIZE ||
		    next - sorted[i]->offset - LOCAL_SIZE < sorted[i]->packed_size) {
			damaged(s, "its members overlap");
			return;
		}
	}
}

static bool
is_implausible(const rt_archive_member *m)
{
	return m->size > RATIO_FROM && m->size / RATIO_MAX > m->packed_size;
}

/* Many small members may decompress to as much as a large one, which is refused alone. */
static void
refuse_total(rt_scope *s, const rt_archive *a)
{
	uint64_t size = 0, packed = 0;

	for (size_t i = 0; i < a->count; i++) {
		if (is_implausible(&a->members[i]))
			continue;
		size += a->members[i].size; /* at most 200 times the file */
		packed += a->members[i].packed_size;
	}
	if (size > TOTAL_FROM && size / RATIO_MAX > packed)
		(void)rt_scope_fail(s, RT_LIMIT,
				    "the archive decompresses to more than %d times its size",
				    (int)RATIO_MAX);
}

void
rt_archive_open(rt_scope *s, const rt_input *in, rt_archive *out)
{
	directory d = {0};
	rt_str rest;

	*out = (rt_archive){.in = in};
	find_directory(s, in, &d);
	if (rt_ok(s) && (d.count > MEMBERS_MAX || d.size > DIRECTORY_MAX))
		(void)rt_scope_fail(s, RT_LIMIT,
				    "the archive has more than %d members, or names that are too "
				    "long; unpack it and import the directory",
				    (int)MEMBERS_MAX);
	if (!rt_ok(s))
		return;
	rest = rt_str_at(read_part(s, in, d.offset, (size_t)d.size), (size_t)d.size);
	out->members = rt_scope_array(s, (size_t)d.count + 1, sizeof(*out->members));
	for (uint64_t i = 0; i < d.count && rt_ok(s); i++) {
		rt_archive_member *m = &out->members[out->count];

		if (!read_entry(s, &rest, m))
			damaged(s, "its directory has an invalid entry");
		else if (m->name.size == 0 || m->name.ptr[m->name.size - 1] != '/' || m->size > 0)
			out->count++;
	}
	if (rt_ok(s))
		refuse_overlaps(s, out, d.offset);
	if (rt_ok(s))
		refuse_total(s, out);
}

/* ---- members ---- */

static void
begin_again(rt_archive_input *m)
{
	m->at = m->packed = 0;
	m->crc = 0;
	rt_inflate_again(m->inflate);
}

/* Decompresses into to; *out_size is 0 at the end only. */
static rt_status
decompress(rt_archive_input *m, char *to, size_t room, size_t *out_size, rt_error *err)
{
	const rt_archive_member *member = m->member;
	char packed[PACKED_CHUNK];
	bool is_end = false;
	rt_status st;

	*out_size = 0;
	if (m->at == member->size)
		return RT_OK;
	if (room > member->size - m->at)
		room = (size_t)(member->size - m->at);
	if (room > (1 << 30))
		room = 1 << 30;
	while (*out_size == 0) {
		uint64_t left = member->packed_size - m->packed;
		size_t size = left < sizeof(packed) ? (size_t)left : sizeof(packed);
		rt_str rest = rt_str_at(packed, size);

		st = read_fully(m->archive->in, m->start + m->packed, packed, size, err);
		if (st != RT_OK)
			return st;
		if (!rt_inflate_some(m->inflate, &rest, to, room, out_size, &is_end) ||
		    (*out_size == 0 && (is_end || size == 0)))
			return rt_fail(err, RT_USAGE, "its compressed data is damaged");
		m->packed += size - rest.size;
	}
	m->crc = rt_inflate_crc(m->inflate, m->crc, to, *out_size);
	m->at += *out_size;
	if (m->at == member->size && m->crc != member->crc)
		return rt_fail(err, RT_USAGE, "its checksum does not match");
	return RT_OK;
}

static rt_status
read_packed(void *ctx, uint64_t offset, char *to, size_t room, size_t *out_size, rt_error *err)
{
	rt_archive_input *m = ctx;
	char skipped[4096];
	rt_status st = RT_OK;

	*out_size = 0;
	if (offset >= m->member->size || room == 0)
		return RT_OK;
	if (offset < m->at)
		begin_again(m);
	while (st == RT_OK && m->at < offset) {
		uint64_t left = offset - m->at;
		size_t size = 0;

		st = decompress(m, skipped, left < sizeof(skipped) ? (size_t)left : sizeof(skipped), &size,
				err);
		m->wasted += size;
		if (st == RT_OK && m->wasted > WASTE_FROM + m->member->size * WASTE_MAX)
			st = rt_fail(err, RT_LIMIT, "it cannot be read inside an archive; unpack it");
	}
	return st == RT_OK ? decompress(m, to, room, out_size, err) : st;
}

static rt_status
read_stored(void *ctx, uint64_t offset, char *to, size_t room, size_t *out_size, rt_error *err)
{
	rt_archive_input *m = ctx;
	const rt_input *in = m->archive->in;

	*out_size = 0;
	if (offset >= m->member->size)
		return RT_OK;
	if (room > m->member->size - offset)
		room = (size_t)(m->member->size - offset);
	return in->read_at(in->ctx, m->start + offset, to, room, out_size, err);
}

static const char *
method_name(unsigned method)
{
	static const struct {
		unsigned number;
		const char *name;
	} names[] = {{1, "Shrink"}, {6, "Implode"}, {9, "Deflate64"}, {12, "bzip2"}, {14, "LZMA"},
		     {93, "Zstandard"}, {95, "XZ"}, {98, "PPMd"}, {99, "AES"}};

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (names[i].number == method)
			return names[i].name;
	return "an unknown method";
}

static void
check(rt_scope *s, const rt_archive_member *m)
{
	if ((m->flags & 1) != 0)
		(void)rt_scope_fail(s, RT_USAGE, "it is encrypted; unpack it first");
	else if (m->method != 0 && m->method != 8)
		(void)rt_scope_fail(s, RT_USAGE, "it is compressed with %s, which Retake does "
						 "not support; unpack it first",
				    method_name(m->method));
	else if (m->method == 0 && m->size != m->packed_size)
		damaged(s, "the two sizes of a member differ");
	else if (is_implausible(m))
		(void)rt_scope_fail(s, RT_LIMIT, "it decompresses to more than %d times its size",
				    (int)RATIO_MAX);
}

void
rt_archive_read(rt_scope *s, const rt_archive *archive, const rt_archive_member *member,
		rt_archive_input *out)
{
	const char *local;

	*out = (rt_archive_input){.archive = archive, .member = member};
	check(s, member);
	local = rt_ok(s) ? read_part(s, archive->in, member->offset, LOCAL_SIZE) : NULL;
	if (local == NULL)
		return;
	out->start = member->offset + LOCAL_SIZE + number_at(local + 26, 2) + number_at(local + 28, 2);
	if (number_at(local, 4) != 0x04034b50)
		damaged(s, "a member is at the wrong position");
	if (member->method == 8)
		out->inflate = rt_inflate_new(s);
	out->in = (rt_input){.ctx = out,
			     .size = member->size,
			     .read_at = member->method == 8 ? read_packed : read_stored};
}
