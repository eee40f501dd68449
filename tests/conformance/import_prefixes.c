/* SPDX-License-Identifier: MIT
 *
 * conformance-import --prefixes: the beginnings of a sample, cut after records and at random places.
 * Each is read by its format, or refused with a reason; none is taken for another format; and the
 * outlines of those that are read have sound links. */
#include "import_facts.h"

enum { BOUNDARIES = 400, RANDOM = 200 };

static void
check_outline(rt_case *c, size_t size, rt_outline *o)
{
	rt_report report;

	rt_report_init(&report, rt_alloc_libc());
	rt_check(c, o->head < (int64_t)o->node_count, "%zu bytes: the head is no entry", size);
	rt_check(c,
		 rt_outline_repair(rt_alloc_libc(), o, NULL, &report) == RT_OK && report.repaired == 0,
		 "%zu bytes: the links of \"%.*s\" are damaged", size, RT_STR_ARG(o->name));
	rt_report_deinit(&report);
}

static void
try_prefix(rt_case *c, const rt_format *format, rt_str file, size_t size)
{
	char *bytes = malloc(size + (size == 0)); /* no byte more, so that sanitizers find reads beyond the end */
	rt_str prefix = rt_str_at(bytes, size);
	const rt_format *detected;
	rt_error err = {.text = ""};
	rt_outlines outlines;
	rt_report report;
	rt_status st;

	if (bytes == NULL)
		abort();
	memcpy(bytes, file.ptr, size);
	detected = detect(prefix);
	rt_check(c, detected == NULL || detected == format, "%zu bytes: mistaken for %s", size,
		 detected == NULL ? "" : detected->name);
	rt_report_init(&report, rt_alloc_libc());
	st = format->read(rt_alloc_libc(), prefix, &outlines, &report, &err);
	if (st == RT_OK) {
		for (size_t i = 0; i < outlines.count; i++)
			check_outline(c, size, &outlines.items[i]);
		rt_outlines_deinit(&outlines);
	} else {
		rt_check(c, (st == RT_USAGE || st == RT_LIMIT) && strlen(err.text) > 10,
			 "%zu bytes: refused with status %d, \"%s\"", size, (int)st, err.text);
	}
	rt_report_deinit(&report);
	free(bytes);
}

void
check_prefixes(rt_case *c, const rt_format *format, rt_str file)
{
	size_t ends = 0, step, seen = 0;
	uint64_t state = 88172645463325252u;

	for (size_t i = 0; i < file.size; i++)
		ends += file.ptr[i] == '\n' || file.ptr[i] == '}';
	step = ends / BOUNDARIES + 1;
	for (size_t i = 0; i < file.size; i++)
		if ((file.ptr[i] == '\n' || file.ptr[i] == '}') && seen++ % step == 0)
			try_prefix(c, format, file, i + 1);
	for (size_t i = 0; i < RANDOM; i++) {
		state ^= state << 13;
		state ^= state >> 7;
		state ^= state << 17;
		try_prefix(c, format, file, (size_t)(state % (file.size + 1)));
	}
}
