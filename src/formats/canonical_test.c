/* SPDX-License-Identifier: MIT */
#include "formats/formats_random.h"

#include "formats/formats.h"

static void
read_ok(const char *text, rt_outlines *out, rt_report *report)
{
	rt_error err = {.text = ""};

	if (rt_format_canonical.read(rt_alloc_libc(), rt_str_of(text), out, report, &err) != RT_OK)
		fail_msg("%s", err.text);
}

static void
assert_written(const rt_outlines *in, const char *wanted)
{
	rt_buf out;

	rt_buf_init(&out, rt_alloc_libc(), RT_BUF_UNLIMITED);
	assert_int_equal(rt_format_canonical.write(rt_alloc_libc(), in, NULL, &out, NULL), RT_OK);
	assert_string_equal(out.ptr, wanted);
	rt_buf_deinit(&out);
}

/* Everything that the contract names, in the required order. */
static void
test_example(void **state)
{
	static const char text[] =
		"{\"active\":\"main\",\"discussions\":[{\"active\":\"main_take_1\","
		"\"files\":{\"context_files\":[{\"path\":\"a\"}],\"files\":[1]},"
		"\"git_commit\":\"c0ffee\",\"head\":\"b\",\"id\":\"d1\",\"labels\":{\"a\":\"here\"},"
		"\"name\":\"main\",\"odd\":[1.10,12345678901234567890123],"
		"\"prompt\":{\"edited\":true,\"text\":\"a cat\"},\"settings\":{\"temperature\":0.5},"
		"\"takes\":["
		"{\"entries\":[{\"content\":\"hi\",\"id\":\"a\",\"role\":\"User\","
		"\"ts\":\"2026-11-21T20:35:40Z\"},"
		"{\"collapsed\":true,\"content\":[{\"text\":\"x\",\"type\":\"text\"}],\"id\":\"c\","
		"\"kind\":\"compaction\",\"muted\":true,\"note\":null,\"read_mode\":true,\"role\":\"\","
		"\"usage\":{\"in\":1,\"out\":2}}],\"name\":\"main\"},"
		"{\"entries\":[{\"content\":\"hi\",\"id\":\"a\",\"role\":\"User\","
		"\"ts\":\"2026-11-21T20:35:40Z\"},"
		"{\"content\":\"\",\"id\":\"b\",\"purged\":true,\"role\":\"AI\"}],"
		"\"git_commit\":\"beef\",\"name\":\"main_take_1\"}]}],"
		"\"later\":{\"a\":1},\"roles\":[\"User\",\"AI\"],\"settings\":{\"model\":\"m\"}}\n";
	rt_outlines o;
	const rt_outline *d;

	(void)state;
	read_ok(text, &o, NULL);
	assert_int_equal(o.count, 1);
	assert_true(o.has_active);
	d = &o.items[0];
	assert_int_equal(d->take_count, 2);
	assert_int_equal(d->node_count, 3); /* "a" is one node in both takes */
	assert_int_equal(d->active_take, 1);
	assert_true(d->has_head);
	assert_true(rt_str_is(d->nodes[d->head].id, "b"));
	assert_int_equal(d->nodes[d->head].body_format, RT_BODY_PURGED);
	assert_int_equal(d->takes[0].nodes[0], d->takes[1].nodes[0]);
	assert_true(rt_str_is(d->nodes[0].label, "here"));
	assert_int_equal(d->nodes[0].body_format, RT_BODY_TEXT);
	assert_int_equal(d->nodes[1].parent, 0);
	assert_int_equal(d->nodes[1].body_format, RT_BODY_JSON);
	assert_true(rt_str_is(d->takes[1].git_commit, "beef"));
	assert_true(rt_str_is(rt_outline_field_of(d->fields, d->field_count, "prompt"), "\"a cat\""));
	assert_true(rt_str_is(rt_outline_field_of(d->fields, d->field_count, "prompt_edited"), "true"));
	assert_true(rt_str_is(rt_outline_field_of(d->fields, d->field_count, "setting.temperature"),
			      "0.5"));
	assert_true(rt_str_is(rt_outline_field_of(d->fields, d->field_count, "files"), "[1]"));
	assert_true(rt_str_is(rt_outline_field_of(d->fields, d->field_count, "id"), "\"d1\""));
	assert_true(rt_str_is(rt_outline_field_of(o.fields, o.field_count, "extra.later"), "{\"a\":1}"));
	assert_true(rt_str_is(rt_outline_field_of(o.fields, o.field_count, "setting.model"), "\"m\""));
	assert_written(&o, text);
	rt_outlines_deinit(&o);
}

/* Any order of keys and any white space is accepted; the output is the same. */
static void
test_sorts(void **state)
{
	rt_outlines o;

	(void)state;
	read_ok("\xEF\xBB\xBF { \"discussions\" : [ { \"takes\":[{\"name\":\"t\",\"entries\":[ {\"z\":{\"b\":1,\"a\":2},"
		"\"role\":\"r\", \"kind\":\"message\",\"muted\":false,\"id\":\"1\",\"Z\":0,"
		"\"content\":\"\\u00e9\"} ]} ],\"name\":\"t\",\"head\":null,\"settings\":{},\"labels\":{}}]}",
		&o, NULL);
	assert_written(&o, "{\"discussions\":[{\"active\":\"t\",\"head\":null,\"name\":\"t\",\"takes\":["
			   "{\"entries\":[{\"Z\":0,\"content\":\"\xC3\xA9\",\"id\":\"1\",\"role\":\"r\","
			   "\"z\":{\"a\":2,\"b\":1}}],\"name\":\"t\"}]}]}\n");
	rt_outlines_deinit(&o);
}

static void
test_revisions(void **state)
{
	rt_outlines o;
	const rt_outline *d;

	(void)state;
	read_ok("{\"discussions\":[{\"name\":\"d\",\"takes\":["
		"{\"name\":\"x\",\"entries\":[{\"id\":\"1\",\"content\":\"a\"},{\"id\":\"2\",\"content\":\"b\"}]},"
		"{\"name\":\"y\",\"entries\":[{\"id\":\"1\",\"content\":\"A\"},{\"id\":\"2\",\"content\":\"b\"}]}]}]}",
		&o, NULL);
	d = &o.items[0];
	assert_int_equal(d->node_count, 3);
	assert_int_not_equal(d->takes[0].nodes[0], d->takes[1].nodes[0]);
	assert_int_equal(d->takes[0].nodes[1], d->takes[1].nodes[1]);
	rt_outlines_deinit(&o);
}

static void
test_bad_records(void **state)
{
	rt_report report;
	rt_outlines o;
	const rt_outline *d;

	(void)state;
	rt_report_init(&report, rt_alloc_libc());
	read_ok("{\"discussions\":[5,{\"name\":\"d\",\"takes\":[7,{\"name\":\"x\",\"entries\":[\n"
		"{\"id\":\"1\",\"content\":\"a\"},\n"
		"{\"id\":\"2\",\"content\":tru},\n"
		"[1],{\"id\":\"1\",\"content\":\"again\"},\n"
		"{\"id\":\"3\",\"content\":\"\\ud83d!\",\"ts\":\"soon\"},{\"id\":\"4\",\"content\":{}}]}]}]}",
		&o, &report);
	assert_int_equal(o.count, 1);
	d = &o.items[0];
	assert_int_equal(d->take_count, 1);
	assert_int_equal(d->node_count, 4);
	assert_int_equal(report.skipped, 4);
	assert_int_equal(report.repaired, 4);
	assert_int_equal(report.remarks[2].line, 3);
	assert_int_equal(d->nodes[1].id.size, 0); /* a second "1" */
	assert_true(rt_str_is(d->nodes[2].body,
			      "{\"content\":\"\xEF\xBF\xBD!\",\"ts_text\":\"soon\",\"import_raw\":"
			      "\"{\\\"id\\\":\\\"3\\\",\\\"content\\\":\\\"\\\\ud83d!\\\","
			      "\\\"ts\\\":\\\"soon\\\"}\"}"));
	assert_true(rt_str_is(d->nodes[3].body, "{\"content\":\"\",\"content_raw\":{}}"));
	rt_outlines_deinit(&o);
	rt_report_deinit(&report);
}

static void
test_refused(void **state)
{
	static const char *const texts[] = {"", "[]", "{}", "{\"discussions\":[", "x", "{\"discussions\":[]}x",
					    "{\"discussions\":[]", "{\"a\" 1}"};
	rt_outlines o;
	rt_error err;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(texts) / sizeof(*texts); i++) {
		memset(&err, 0, sizeof(err));
		assert_int_equal(rt_format_canonical.read(rt_alloc_libc(), rt_str_of(texts[i]), &o, NULL,
							  &err),
				 RT_USAGE);
		assert_true(err.has_at);
	}
}

/* Records nest as deep as the JSON limit although the export adds further levels. */
static void
test_deep(void **state)
{
	rt_buf text, second;
	rt_outlines o;
	int i;

	(void)state;
	rt_buf_init(&text, rt_alloc_libc(), RT_BUF_UNLIMITED);
	rt_buf_add_c(&text, "{\"discussions\":[{\"active\":\"\",\"head\":\"1\",\"name\":\"d\",\"takes\":[{"
			    "\"entries\":[{\"content\":\"\",\"deep\":");
	for (i = 0; i < RT_JSON_DEPTH_MAX - 1; i++)
		rt_buf_add_byte(&text, '[');
	for (i = 0; i < RT_JSON_DEPTH_MAX - 1; i++)
		rt_buf_add_byte(&text, ']');
	rt_buf_add_c(&text, ",\"id\":\"1\",\"role\":\"\"}],\"name\":\"\"}]}]}\n");
	read_ok(text.ptr, &o, NULL);
	rt_buf_init(&second, rt_alloc_libc(), RT_BUF_UNLIMITED);
	assert_int_equal(rt_format_canonical.write(rt_alloc_libc(), &o, NULL, &second, NULL), RT_OK);
	assert_string_equal(text.ptr, second.ptr);
	rt_outlines_deinit(&o);
	rt_buf_deinit(&text);
	rt_buf_deinit(&second);
}

static void
test_random(void **state)
{
	uint64_t seed;

	(void)state;
	for (seed = 1; seed <= 300; seed++) {
		rt_outlines o;
		rt_buf text;

		random_project(rt_alloc_libc(), seed, seed % 4, 12, &o);
		check_round_trip(&rt_format_canonical, &o, NULL, &text);
		if (o.count > 0)
			assert_int_equal(rt_format_canonical.sniff(rt_buf_str(&text)), 95);
		rt_buf_deinit(&text);
		rt_outlines_deinit(&o);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_example),	    cmocka_unit_test(test_sorts),
		cmocka_unit_test(test_revisions),   cmocka_unit_test(test_bad_records),
		cmocka_unit_test(test_refused),	    cmocka_unit_test(test_deep),
		cmocka_unit_test(test_random),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
