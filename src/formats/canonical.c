/* SPDX-License-Identifier: MIT
 *
 * Canonical: what reader and writer share (canonical_impl.h draws the format), and how to
 * recognise a file. */
#include "formats/canonical_impl.h"
#include "formats/formats.h"

const rt_member rt_canonical_members[RT_CANONICAL_MEMBER_COUNT] = {
	RT_MEMBER(FLAG, collapsed), {"content", RT_MEMBER_CONTENT, 0},
	RT_MEMBER(TEXT, id),        RT_MEMBER(KIND, kind),
	RT_MEMBER(FLAG, muted),     {"purged", RT_MEMBER_PURGED, 0},
	RT_MEMBER(FLAG, read_mode), RT_MEMBER(TEXT_ALWAYS, role),
	RT_MEMBER(TS, ts),
};

const char *const rt_canonical_files[] = {"files", "context_files", "screenshots", NULL};

bool
rt_canonical_is_further(yyjson_val *key)
{
	const rt_member *member = rt_member_find(rt_canonical_members, RT_CANONICAL_MEMBER_COUNT,
						 rt_json_str(key));

	return member == NULL || member->type == RT_MEMBER_PURGED;
}

static int
canonical_sniff(rt_str head)
{
	rt_members m;
	rt_str key, value;

	if (!rt_members_open(&m, rt_scan_unmark(head)) || m.close != '}')
		return 0;
	while (rt_members_next(&m, &key, &value))
		if (rt_scan_key_is(key, "discussions") && value.ptr[0] == '[')
			return 95;
	/* the list is longer than the beginning that we were given */
	return rt_scan_key_is(key, "discussions") && m.at < m.in.size && m.in.ptr[m.at] == '[' ? 95
											       : 0;
}

static rt_status
canonical_to(const rt_alloc *alloc, const rt_input *in, const rt_reader_to *to, rt_report *report,
	     rt_error *err)
{
	return rt_canonical_read_to(alloc, in, false, NULL, to, report, err);
}
RT_READER_FUNCTIONS(canonical, canonical_to)

const rt_format rt_format_canonical = {
	.name = "canonical",
	.extension = ".json",
	.about = "the whole state as JSON with sorted keys: equal states, equal bytes",
	.sniff = canonical_sniff,
	.read = canonical_read,
	.stream = canonical_stream,
	.write = rt_canonical_write,
};
