/* SPDX-License-Identifier: MIT
 *
 * Canonical: what reader and writer share (canonical_impl.h draws the format), and how to
 * tell such a file. */
#include "formats/canonical_impl.h"
#include "formats/formats.h"

const char *const rt_canonical_entry_names[] = {"id",	     "role",	  "kind",    "ts", "muted",
						"collapsed", "read_mode", "content", NULL};

bool
rt_canonical_is_one_of(rt_str name, const char *const *names)
{
	for (; *names != NULL; names++)
		if (rt_str_is(name, *names))
			return true;
	return false;
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
	return rt_scan_key_is(key, "discussions") && m.at < m.in.size && m.in.ptr[m.at] == '['
		       ? 95
		       : 0;
}

const rt_format rt_format_canonical = {
	.name = "canonical",
	.extension = ".json",
	.about = "the whole state as JSON with sorted keys: equal states, equal bytes",
	.sniff = canonical_sniff,
	.read = rt_canonical_read,
	.stream = rt_canonical_stream,
	.write = rt_canonical_write,
};
