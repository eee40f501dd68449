/* SPDX-License-Identifier: MIT
 *
 * Archive: the members of a zip file as inputs. Names are never used as paths: they are for messages
 * and for conversations without a title.
 *
 * The directory at the end of the file is read first (zip64, too); it is refused where members overlap,
 * where there are too many, where they would decompress to far more than the file, or where it is
 * damaged. A member is decompressed with zlib, which is
 * loaded when it is first needed (docs/decisions/0029-archives-and-databases.md), as it is read: no further than its
 * size in the directory, and only if that is plausible for its compressed size. A compressed member
 * that is read backwards is begun again, which is limited too. One thread at a time. */
#ifndef RT_IMPORTERS_ARCHIVE_H
#define RT_IMPORTERS_ARCHIVE_H

#include "base/scope.h"
#include "ops/format.h"

typedef struct rt_archive_member {
	rt_str name; /* UTF-8 */
	uint64_t offset, packed_size, size;
	uint32_t crc;
	uint16_t method, flags;
	bool is_link;
} rt_archive_member;

typedef struct rt_archive {
	const rt_input *in;
	rt_archive_member *members; /* in the order of the directory; no folders */
	size_t count;
} rt_archive;

/* From the first bytes. */
bool rt_archive_is(rt_str head);
/* Reads the directory; fails the scope with RT_USAGE or RT_LIMIT. */
void rt_archive_open(rt_scope *s, const rt_input *in, rt_archive *out);

typedef struct rt_archive_input {
	rt_input in; /* ctx is this struct: it must not be moved */
	const rt_archive *archive;
	const rt_archive_member *member;
	uint64_t start;    /* of its data in the archive */
	uint64_t at;       /* bytes decompressed so far */
	uint64_t packed;   /* bytes of the archive consumed */
	uint64_t wasted;   /* bytes decompressed to be skipped */
	uint32_t crc;      /* of the bytes so far */
	struct rt_inflate *inflate; /* NULL: stored */
} rt_archive_input;

/* A member as an input, closed with the scope. Fails the scope with the reason why it cannot be read:
 * encrypted, an unknown method, an implausible size. */
void rt_archive_read(rt_scope *s, const rt_archive *archive, const rt_archive_member *member,
		     rt_archive_input *out);

#endif
