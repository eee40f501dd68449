/* SPDX-License-Identifier: MIT */
#include "formats/formats_random.h"

#include "formats/formats.h"

static void
read_ok(const char *text, rt_outlines *out, rt_report *report)
{
	rt_error err = {.text = ""};

	if (rt_format_markdown.read(rt_alloc_libc(), rt_str_of(text), out, report, &err) != RT_OK)
		fail_msg("%s", err.text);
}

static void
assert_entry(const rt_outline *d, size_t at, const char *role, const char *body)
{
	assert_true(at < d->node_count);
	assert_true(rt_str_is(d->nodes[at].role, role));
	if (!rt_str_is(d->nodes[at].body, body))
		fail_msg("\"%.*s\" is not \"%s\"", RT_STR_ARG(d->nodes[at].body), body);
}

static const char plain[] =
	"# A title\n\n"
	"*Take: other*\n\n"
	"## User \xC2\xB7 2026-11-21T20:35:40Z\n\n"
	"What?\r\n\n# Really\n\n"
	"## Critic \xC2\xB7\n\n"
	"\\## User\n\\\\**AI:** x\n\\<!-- retake:discussion -->\n\n"
	"## AI \xC2\xB7 muted\n\n"
	"## Overview\n\nend\n\n";

static void
test_plain(void **state)
{
	rt_outlines o;
	rt_buf text;
	const rt_outline *d;

	(void)state;
	read_ok(plain, &o, NULL);
	d = &o.items[0];
	assert_int_equal(o.count, 1);
	assert_true(rt_str_is(d->name, "A title"));
	assert_true(rt_str_is(d->takes[0].name, "other"));
	assert_int_equal(d->node_count, 3);
	assert_entry(d, 0, "User", "What?\r\n\n# Really");
	assert_true(d->nodes[0].has_ts);
	assert_entry(d, 1, "Critic", "## User\n\\**AI:** x\n<!-- retake:discussion -->");
	assert_entry(d, 2, "AI", "## Overview\n\nend");
	assert_true(d->nodes[2].muted);
	assert_int_equal(d->nodes[2].parent, 1);
	check_round_trip(&rt_format_markdown, &o, NULL, &text);
	assert_string_equal(text.ptr, plain);
	assert_int_equal(rt_format_markdown.sniff(rt_buf_str(&text)), 50);
	rt_buf_deinit(&text);
	rt_outlines_deinit(&o);
}

/* As written by other programs. */
static void
test_foreign(void **state)
{
	rt_outlines o;
	rt_buf text;
	const rt_outline *d;

	(void)state;
	read_ok("# Cats\r\n\r\nSaved today.\n\n### Human (2024-05-01 10:00)\r\nhi\r\n\r\n#### ChatGPT said:\n\n"
		"hello\n**User:** and\nyou?\n\n**Assistant**: fine\n# System\nnote\n## User's guide\n",
		&o, NULL);
	d = &o.items[0];
	assert_true(rt_str_is(d->name, "Cats"));
	assert_true(rt_str_is(rt_outline_field_of(d->fields, d->field_count, "markdown.preamble"),
			      "\"Saved today.\""));
	assert_int_equal(d->node_count, 5);
	assert_entry(d, 0, "User", "hi");
	assert_true(d->nodes[0].has_ts);
	assert_entry(d, 1, "AI", "hello");
	assert_entry(d, 2, "User", "and\nyou?");
	assert_entry(d, 3, "Assistant", "fine");
	assert_entry(d, 4, "System", "note\n## User's guide");
	check_round_trip(&rt_format_markdown, &o, NULL, &text);
	rt_buf_deinit(&text);
	rt_outlines_deinit(&o);
}

static void
test_lossless(void **state)
{
	static const rt_export_options all = {.whole = true, .lossless = true};
	rt_outlines o, again;
	rt_report report;
	rt_buf text;
	char *at;

	(void)state;
	read_ok("## User\n\n--> <!-- retake: {\"n\":1} -->\n\n## AI \xC2\xB7\n\nok\n", &o, NULL);
	check_round_trip(&rt_format_markdown, &o, &all, &text);
	assert_string_equal(
		text.ptr,
		"<!-- retake: {\"own\":2,\"discussion\":{\"name\":\"\",\"head\":1,\"active\":0,"
		"\"takes\":[{\"name\":\"\"}],\"project\":{}}} -->\n"
		"<!-- retake: {\"n\":0,\"bytes\":28,\"entry\":{\"role\":\"User\"}} -->\n"
		"## User\n\n--> <!-- retake: {\"n\":1} -->\n\n"
		"<!-- retake: {\"n\":1,\"bytes\":2,\"entry\":{\"role\":\"AI\"}} -->\n"
		"## AI\n\nok\n\n");
	/* edited by hand */
	at = strstr(text.ptr, "ok\n\n");
	memcpy(at, "oh\n\n", 4);
	rt_buf_add_c(&text, "more\n");
	rt_report_init(&report, rt_alloc_libc());
	read_ok(text.ptr, &again, &report);
	assert_entry(&again.items[0], 1, "AI", "oh\n\nmore");
	assert_int_equal(report.noted, 1);
	rt_outlines_deinit(&again);
	rt_report_deinit(&report);
	rt_buf_deinit(&text);
	rt_outlines_deinit(&o);
}

static void
test_refused(void **state)
{
	rt_outlines o;
	rt_error err;

	(void)state;
	assert_int_equal(rt_format_markdown.read(rt_alloc_libc(), RT_STR(""), &o, NULL, &err), RT_USAGE);
	assert_int_equal(rt_format_markdown.read(rt_alloc_libc(), RT_STR("# Shopping\n\n- milk\n"), &o, NULL, &err),
			 RT_USAGE);
	static const char *const transcripts[] = {
		"**User:** hi\n\n**Assistant:** ho\n",
		"**You**: hi\n\n**ChatGPT**: ho\n",
		"## User\n\nhi\n\n## Assistant\n\nho\n",
		"# Trip\n\n### Human\n\nhi\n\n### Claude\n\nho\n",
		"## User\n\nhi\n\n## AI\n\n## Step 1\n\n## Step 2\n\n## Step 3\n\n## User\n\nmore\n\n## AI\n",
		"# T\n\n*Take: main*\n\n## User\n\nhi\n",
		"## User \xC2\xB7 2026-11-21T20:35:40Z\n\nhi\n",
	};
	static const char *const notes[] = {
		"# Shopping\n\n- milk\n",
		"# Architecture\n\n## Model\n\nrows\n\n## View\n\npages\n\n## User\n\nroles\n",
		"# API\n\n## Prompt\n\nThe text.\n",
		"# API\n\n## Response\n\nJSON.\n\n## Errors\n",
		"# Accounts\n\n## User\n\n## System\n\n## Tool\n",
		"**Model:** gpt-4\n\n**Me:** nobody\n\n## One\n\n## Two\n",
	};

	for (size_t i = 0; i < sizeof(transcripts) / sizeof(*transcripts); i++)
		assert_int_equal(rt_format_markdown.sniff(rt_str_of(transcripts[i])), 50);
	for (size_t i = 0; i < sizeof(notes) / sizeof(*notes); i++)
		assert_int_equal(rt_format_markdown.sniff(rt_str_of(notes[i])), 0);
}

static void
test_random(void **state)
{
	static const rt_export_options all = {.whole = true, .lossless = true};
	static const rt_export_options active = {.lossless = true};
	uint64_t seed;

	(void)state;
	for (seed = 1; seed <= 300; seed++) {
		rt_outlines o, again;
		rt_buf text, before, after;

		random_project(rt_alloc_libc(), seed, seed % 4, 12, &o);
		check_round_trip(&rt_format_markdown, &o, NULL, &text);
		rt_buf_deinit(&text);
		check_round_trip(&rt_format_markdown, &o, &active, &text);
		rt_buf_deinit(&text);
		check_round_trip(&rt_format_markdown, &o, &all, &text);
		assert_int_equal(rt_format_markdown.read(rt_alloc_libc(), rt_buf_str(&text), &again, NULL, NULL),
				 RT_OK);
		if (o.count > 0) { /* without a discussion there is no place for the project */
			check_round_trip(&rt_format_canonical, &o, NULL, &before);
			check_round_trip(&rt_format_canonical, &again, NULL, &after);
			if (strcmp(before.ptr, after.ptr) != 0)
				fail_msg("seed %d\n%s\n%s\n%s", (int)seed, before.ptr, after.ptr, text.ptr);
			rt_buf_deinit(&before);
			rt_buf_deinit(&after);
		}
		rt_buf_deinit(&text);
		rt_outlines_deinit(&again);
		rt_outlines_deinit(&o);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_plain),	 cmocka_unit_test(test_foreign),
		cmocka_unit_test(test_lossless), cmocka_unit_test(test_refused),
		cmocka_unit_test(test_random),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
