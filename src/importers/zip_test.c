/* SPDX-License-Identifier: MIT
 *
 * Archives. Those in fuzz/corpus/zip_fuzz were written by Python's zipfile. */
#include <stdio.h>

#include "importers/archive.h"
#include "importers/importer_testing.h"

static rt_str
read_sample(const char *name)
{
	static char bytes[64 * 1024];
	char path[100];
	FILE *file;
	size_t size;

	(void)snprintf(path, sizeof(path), "fuzz/corpus/zip_fuzz/%s", name);
	file = fopen(path, "rb");
	assert_non_null(file);
	size = fread(bytes, 1, sizeof(bytes), file);
	assert_int_equal(fclose(file), 0);
	return rt_str_at(bytes, size);
}

static bool
has_remark(const rt_report *report, const char *text)
{
	for (size_t i = 0; i < report->remark_count; i++)
		if (strstr(report->remarks[i].text, text) != NULL)
			return true;
	return false;
}

static void
test_members(void **state)
{
	rt_outlines o;
	rt_report report;

	(void)state;
	import_bytes(&rt_format_zip, read_sample("export.zip"), &o, &report);
	assert_int_equal(o.count, 2);
	assert_true(rt_str_is(o.items[0].source, "chatgpt:c1") && rt_str_is(o.items[0].name, "Ships"));
	assert_int_equal(o.items[0].node_count, 2);
	assert_nodes(&o.items[1], "-1 user q | 0 assistant a");
	assert_true(rt_str_is(o.items[1].called, "One more"));
	assert_int_equal(report.skipped, 0);
	assert_true(has_remark(&report, "skipped 1 file of unrecognised type"));
	import_done(&o, &report);
	import_bytes(&rt_format_zip, read_sample("zip64.zip"), &o, &report);
	assert_nodes(&o.items[0], "-1 user q | 0 assistant a");
	import_done(&o, &report);
	import_bytes(&rt_format_zip, read_sample("database.zip"), &o, &report);
	assert_int_equal(o.count, 2);
	assert_true(rt_str_is(o.items[0].source, "llm:c"));
	import_done(&o, &report);
	import_bytes(&rt_format_zip, read_sample("take_name.zip"), &o, &report);
	assert_nodes(&o.items[0], "-1 User q | 0 AI a");
	assert_true(rt_str_is(o.items[0].takes[0].name, "the second one"));
	import_done(&o, &report);
}

static void
test_unreadable(void **state)
{
	rt_outlines o;
	rt_report report;

	(void)state;
	import_bytes(&rt_format_zip, read_sample("unreadable.zip"), &o, &report);
	assert_int_equal(o.count, 1);
	assert_int_equal(report.skipped, 3);
	assert_true(has_remark(&report, "skipped bzip2.json: it is compressed with bzip2"));
	assert_true(has_remark(&report, "skipped secret.json: it is encrypted"));
	assert_true(has_remark(&report, "skipped inner.zip: it is an archive itself"));
	import_done(&o, &report);
}

static void
assert_refused(rt_str bytes, rt_status wanted, const char *text)
{
	rt_error err = {.text = ""};
	rt_outlines o;

	assert_int_equal(rt_format_zip.read(rt_alloc_libc(), bytes, &o, NULL, &err), wanted);
	if (strstr(err.text, text) == NULL)
		fail_msg("\"%s\" instead of \"%s\"", err.text, text);
}

static void
put(char *bytes, size_t at, uint32_t number)
{
	for (size_t i = 0; i < 4; i++)
		bytes[at + i] = (char)(number >> 8 * i);
}

/* Archives that were made to harm. */
static void
test_bombs(void **state)
{
	char *bytes;
	rt_str sample = read_sample("export.zip");
	size_t entry, end;

	(void)state;
	bytes = (char *)(uintptr_t)sample.ptr;
	end = rt_str_find(sample, RT_STR("PK\5\6"), 0);
	put(bytes, end + 8, 0xfffefffe); /* 65,534 members in a directory of 6 */
	assert_refused(sample, RT_USAGE, "its directory has an invalid entry");
	sample = read_sample("export.zip");
	entry = rt_str_find(sample, RT_STR("PK\1\2"), 0);
	entry = rt_str_find(sample, RT_STR("PK\1\2"), entry + 1);
	end = rt_str_find(sample, RT_STR("PK\1\2"), entry + 1);
	memcpy(bytes + end + 42, bytes + entry + 42, 4); /* a member at the place of another */
	assert_refused(sample, RT_USAGE, "its members overlap");
	sample = read_sample("database.zip");
	entry = rt_str_find(sample, RT_STR("PK\1\2"), 0);
	put(bytes, entry + 24, 0x7fffffff); /* 2 GiB from less than 2 KiB */
	assert_refused(sample, RT_USAGE, "The first: logs.db: it decompresses to more than 200 times");
	sample = read_sample("export.zip"); /* 15 MiB in each of its members */
	for (entry = 0; (entry = rt_str_find(sample, RT_STR("PK\1\2"), entry)) != SIZE_MAX; entry++)
		put(bytes, entry + 24, 15 << 20);
	assert_refused(sample, RT_LIMIT, "the archive decompresses to more than 200 times its size");
	sample = read_sample("database.zip");
	bytes[60] ^= 1;
	assert_refused(sample, RT_USAGE, "no file in the archive can be read");
	sample = read_sample("zip64.zip");
	assert_refused(rt_str_at(sample.ptr, 100), RT_USAGE, "it may be truncated");
}

/* Every prefix, and a byte changed at every place, is read or refused. */
static void
test_damage(void **state)
{
	static const char *const names[] = {"export.zip", "zip64.zip", "unreadable.zip", "database.zip"};
	size_t read = 0;

	(void)state;
	for (size_t i = 0; i < 4; i++) {
		rt_str whole = read_sample(names[i]);

		for (size_t at = 0; at < 2 * whole.size; at += 3) {
			rt_str bytes = read_sample(names[i]);

			if (at < bytes.size)
				((char *)(uintptr_t)bytes.ptr)[at] ^= 0x15;
			else
				bytes.size = at - bytes.size;
			read += read_damaged(&rt_format_zip, bytes);
		}
	}
	assert_true(read > 100);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_members),
		cmocka_unit_test(test_unreadable),
		cmocka_unit_test(test_bombs),
		cmocka_unit_test(test_damage),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
