/* SPDX-License-Identifier: MIT
 *
 * Canonical: the whole state as one JSON text (row C47 of the contract). Equal states,
 * equal bytes: the keys of every object sorted by their bytes, no spaces, what is empty
 * or default left out, one line end behind it.
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
 * and, at the level of the project, of a discussion and of an entry, any further members.
 * content, id, role, head, name and takes are always written (id and head unless the
 * outline has no ids).
 *
 * An entry that several takes hold is written out in each of them. Reading joins equal
 * entries of equal id again; of different ones each take keeps its own (they are
 * revisions).
 *
 * Pages (html_impl.h) have a shorter form, which is not canonical: the entries that are
 * written out in a discussion are numbered from 0, each is written out once, and where a
 * take has such that are there already it says [FIRST,COUNT]. */
#ifndef RT_FORMATS_CANONICAL_IMPL_H
#define RT_FORMATS_CANONICAL_IMPL_H

#include "formats/formats_feed.h"

/* Members of an entry that have a meaning, ended by NULL. */
extern const char *const rt_canonical_entry_names[];
bool rt_canonical_is_one_of(rt_str name, const char *const *names);

rt_status rt_canonical_read(const rt_alloc *alloc, rt_str input, rt_outlines *out,
			    rt_report *report, rt_error *err);
rt_status rt_canonical_stream(const rt_alloc *alloc, const rt_input *in, rt_outlines_fn fn,
			      void *ctx, rt_report *report, rt_error *err);
rt_status rt_canonical_write(const rt_alloc *alloc, const rt_outlines *in,
			     const rt_export_options *options, rt_buf *out, rt_error *err);

enum {
	RT_CANONICAL_SHARED_MAX = 1 << 27 /* entries said by number that a file may have */
};

/* reads_shared: in the shorter form too. What is beyond RT_CANONICAL_SHARED_MAX is passed over
 * with a remark. edited: for each discussion an array of the numbers of edited entries; NULL:
 * none. */
rt_status rt_canonical_read_to(const rt_alloc *alloc, const rt_input *in, bool reads_shared,
			       yyjson_val *edited, const rt_feed_to *to, rt_report *report,
			       rt_error *err);
rt_status rt_canonical_write_shared(const rt_alloc *alloc, const rt_outlines *in, rt_buf *out,
				    rt_error *err);

#endif
