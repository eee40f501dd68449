/* SPDX-License-Identifier: MIT
 *
 * Canonical: the whole state as one JSON text (row C47 of the contract). Equal states,
 * equal bytes: the keys of every object sorted by their bytes, no spaces, empty and default values
 * left out, one line end at the end.
 *
 *   {"active":NAME,"discussions":[DISCUSSION…],"roles":[…],"settings":{…}}
 *
 *   DISCUSSION   active       name of the active take
 *                files        {"context_files":[…],"files":[…],"screenshots":[…]}
 *                git_commit, id, link, presets, track
 *                head         id of the entry; null before the first
 *                labels       {ID:TEXT…}
 *                name
 *                prompt       {"edited":true,"text":…}
 *                settings     {NAME:VALUE…}
 *                takes        [{"entries":[ENTRY…],"git_commit":…,"name":…}…]
 *   ENTRY        collapsed, content, id, kind, muted, purged, read_mode, role, ts
 *
 * The project, discussions and entries may have further members. content, id, role, head, name and
 * takes are always written (id and head unless the outline has no ids).
 *
 * An entry of several takes is written in each of them. Reading joins equal entries of equal
 * id again; different ones of equal id are revisions.
 *
 * Pages (html_impl.h) have a shorter form, which is not canonical: each entry of a discussion
 * is written once and numbered from 0; a take refers to entries written before as
 * [FIRST,COUNT]. */
#ifndef RT_FORMATS_CANONICAL_IMPL_H
#define RT_FORMATS_CANONICAL_IMPL_H

#include "formats/formats_reader.h"
#include "formats/formats_writer.h"

/* Members of an entry, sorted; further fields have none of these names but "purged". */
enum { RT_CANONICAL_MEMBER_COUNT = 9 };
extern const rt_member rt_canonical_members[RT_CANONICAL_MEMBER_COUNT];
/* Is this member of an entry a further field? */
bool rt_canonical_is_further(rt_str name);
/* Fields of a discussion that are members of its "files" under their own names. */
#define RT_CANONICAL_FILES "files context_files screenshots"

rt_status rt_canonical_write(const rt_alloc *alloc, const rt_outlines *in,
			     const rt_export_options *options, rt_buf *out, rt_error *err);

enum {
	RT_CANONICAL_SHARED_MAX = 1 << 27 /* entries that a file may refer to by number */
};

/* reads_shared: the shorter form, too. References beyond RT_CANONICAL_SHARED_MAX are skipped
 * with a remark. edited: for each discussion an array of the numbers of edited entries; NULL:
 * none. */
rt_status rt_canonical_read_to(const rt_alloc *alloc, const rt_input *in, bool reads_shared,
			       yyjson_val *edited, const rt_reader_to *to, rt_report *report,
			       rt_error *err);
rt_status rt_canonical_write_shared(const rt_alloc *alloc, const rt_outlines *in, rt_buf *out,
				    rt_error *err);

#endif
