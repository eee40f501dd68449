/* SPDX-License-Identifier: MIT */
#include "formats/formats_random.h"

#include "formats/formats.h"
#include "formats/toml_impl.h"

#ifdef RT_WITH_TOML

static void
read_ok(const char *text, rt_outlines *out, rt_report *report)
{
	rt_error err = {.text = ""};

	if (rt_format_toml.read(rt_alloc_libc(), rt_str_of(text), out, report, &err) != RT_OK)
		fail_msg("%s", err.text);
}

static void
assert_field(const rt_outline_field *fields, size_t count, const char *name, const char *wanted)
{
	rt_str json = rt_outline_field_of(fields, count, name);

	if (!rt_str_is(json, wanted))
		fail_msg("%s is %.*s, not %s", name, RT_STR_ARG(json), wanted);
}

static void
assert_entry(const rt_node *node, const char *role, const char *body, const char *ts)
{
	rt_buf at;

	rt_buf_init(&at, rt_alloc_libc(), 64);
	if (node->has_ts)
		rt_moment_format(&at, node->ts);
	else
		rt_buf_add_c(&at, "");
	assert_true(rt_str_is(node->role, role));
	if (!rt_str_is(node->body, body))
		fail_msg("%.*s is not %s", RT_STR_ARG(node->body), body);
	assert_true(rt_str_is(rt_buf_str(&at), ts));
	rt_buf_deinit(&at);
}

/* The file in the form of the seeds' program. */
static const char project[] =
	"[project]\n"
	"name = \"slop\"\n"
	"system_prompt = \"Be brief\"\n"
	"[ai]\n"
	"temperature = 0.70\n"
	"provider = \"gemini\"\n"
	"[agent.tools]\n"
	"run = true\n"
	"since = 1979-05-27\n"
	"[discussion]\n"
	"roles = [\"User\", \"AI\", \"Vendor API\", \"System\", \"Context\"]\n"
	"active = \"main_take_1\"\n"
	"auto_add = true\n"
	"[discussion.discussions.main]\n"
	"git_commit = \"abc\"\n"
	"last_updated = \"2026-06-08T10:00:00\"\n"
	"sent_markdown = \"# x\\n\"\n"
	"history = [\"@2026-06-08T09:00:00\\nUser:\\nHello\\nthere\", \"AI: Hi: you\", \"nobody: says\",\n"
	"  \"@2026-06-08 09:00:01 context: x\", \"@who: is this\", \"[System]:\\r\\nok\", \"Vendor API:y\"]\n"
	"[discussion.discussions.main_take_1]\n"
	"history = [\"@2026-06-08T09:00:00\\nUser:\\nHello\\nthere\", \"AI: Hi: me\"]\n"
	"context_snapshot = [{path = \"a.c\"}]\n"
	"[discussion.discussions.other]\n"
	"[[discussion.discussions.other.history]]\n"
	"role = \"AI\"\n"
	"content = \"a\\r\\n\\u0000b\"\n"
	"ts = \"@2026-06-08T09:00:00\"\n"
	"collapsed = true\n"
	"usage = {input_tokens = 5, output_tokens = 1_000}\n"
	"thinking_segments = [{content = \"hm\"}]\n";

static void
test_project(void **state)
{
	rt_outlines o;
	const rt_outline *d;
	rt_buf text;

	(void)state;
	read_ok(project, &o, NULL);
	assert_int_equal(rt_format_toml.sniff(rt_str_of(project)), 90);
	assert_int_equal(o.count, 2);
	assert_true(o.has_active);
	assert_int_equal(o.active, 0);
	assert_field(o.fields, o.field_count, "roles",
		     "[\"User\",\"AI\",\"Vendor API\",\"System\",\"Context\"]");
	assert_field(o.fields, o.field_count, "setting.temperature", "0.70");
	assert_field(o.fields, o.field_count, "setting.project_system_prompt", "\"Be brief\"");
	assert_field(o.fields, o.field_count, "setting.auto_add_history", "true");
	assert_field(o.fields, o.field_count, "extra.toml.agent",
		     "{\"tools\":{\"run\":true,\"since\":{\"$toml\":\"1979-05-27\"}}}");

	d = &o.items[0];
	assert_true(rt_str_is(d->name, "main"));
	assert_int_equal(d->take_count, 2);
	assert_int_equal(d->active_take, 1);
	assert_int_equal(d->node_count, 8); /* the first entry is one in both takes */
	assert_int_equal(d->takes[0].nodes[0], d->takes[1].nodes[0]);
	assert_int_not_equal(d->takes[0].nodes[1], d->takes[1].nodes[1]);
	assert_true(rt_str_is(d->takes[0].git_commit, "abc"));
	assert_entry(&d->nodes[0], "User", "Hello\nthere", "2026-06-08T09:00:00Z");
	assert_entry(&d->nodes[1], "AI", "Hi: you", "");
	assert_entry(&d->nodes[2], "User", "nobody: says", "");
	assert_entry(&d->nodes[3], "Context", "x", "2026-06-08T09:00:01Z");
	assert_entry(&d->nodes[4], "User", "@who: is this", "");
	assert_entry(&d->nodes[5], "System", "ok", "");
	assert_entry(&d->nodes[6], "Vendor API", "y", "");
	assert_field(d->fields, d->field_count, "context_files", "[{\"path\":\"a.c\"}]");
	assert_field(d->fields, d->field_count, "toml.takes",
		     "{\"main\":{\"last_updated\":\"2026-06-08T10:00:00\",\"sent_markdown\":\"# x\\n\"}}");

	d = &o.items[1];
	assert_true(d->nodes[0].collapsed);
	assert_true(rt_str_is(d->nodes[0].body,
			      "{\"content\":\"a\\r\\n\\u0000b\",\"usage\":{\"input_tokens\":5,\"output_tokens\":1000},"
			      "\"thinking_segments\":[{\"content\":\"hm\"}]}"));
	check_round_trip(&rt_format_toml, &o, NULL, &text);
	assert_non_null(strstr(text.ptr, "\ntemperature = 0.70\nprovider = \"gemini\"\n"));
	assert_non_null(strstr(text.ptr, "[agent]\ntools = { run = true, since = 1979-05-27 }\n"));
	assert_non_null(strstr(text.ptr, "\n[discussion]\nroles = [\"User\", "));
	assert_non_null(strstr(text.ptr, "active = \"main_take_1\"\nauto_add = true\n"));
	assert_non_null(strstr(text.ptr, "\n[[discussion.discussions.main.history]]\nrole = \"User\"\n"
					 "content = \"\"\"\nHello\nthere\"\"\"\nts = \"2026-06-08T09:00:00Z\"\n"));
	assert_non_null(strstr(text.ptr, "content = \"\"\"\na\\r\n\\u0000b\"\"\"\n"));
	rt_buf_deinit(&text);
	rt_outlines_deinit(&o);
}

/* Settings are written to their old places, with their present values. */
static void
test_settings(void **state)
{
	rt_outlines o;
	rt_buf out;
	size_t i;

	(void)state;
	read_ok("ui_global_system_prompt = \"g\"\ndisc_roles = [\"A\"]\n[ai]\ntop_p = 0.5\nmodel = \"m\"\n", &o,
		NULL);
	assert_int_equal(o.count, 0);
	for (i = 0; i < o.field_count; i++) {
		if (rt_str_is(o.fields[i].name, "setting.top_p"))
			o.fields[i].json = RT_STR("0.25");
		if (rt_str_is(o.fields[i].name, "setting.model"))
			o.fields[i].name = RT_STR("setting.draft"); /* model is unset, draft has no place */
	}
	rt_buf_init(&out, rt_alloc_libc(), RT_BUF_UNLIMITED);
	assert_int_equal(rt_format_toml.write(rt_alloc_libc(), &o, NULL, &out, NULL), RT_OK);
	assert_string_equal(out.ptr, "disc_roles = [\"A\"]\nui_global_system_prompt = \"g\"\n\n"
				     "[ai]\ntop_p = 0.25\n\n[retake]\n\"setting.draft\" = \"m\"\n\n[discussion]\n");
	rt_buf_deinit(&out);
	rt_outlines_deinit(&o);
}

/* Values that TOML cannot express are written as strings, and read back. */
static void
test_json_values(void **state)
{
	static const char *const values[] = {
		"null", "12345678901234567890123", "1.10", "-0", "1e400", "[1,null]", "{\"a\":null}",
		"{\"a\":1,\"a\":2}", "{\"$toml\":\"07:32:00\"}", "{\"$toml\":\"x\"}", "{\"json:a\":\"1\"}",
		"9223372036854775807", "9223372036854775808", "\"\x7F\\u0000\"", "[[],{}]", "1E-2",
		"{\"$toml\":\"inf\"}", "{\"$toml\":\"1979-05-27T07:32:00.5-07:00\"}",
	};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(values) / sizeof(*values); i++) {
		rt_buf toml, json, wanted;
		rt_scope s;

		rt_scope_init(&s, rt_alloc_libc());
		rt_buf_init(&toml, rt_alloc_libc(), RT_BUF_UNLIMITED);
		rt_buf_init(&json, rt_alloc_libc(), RT_BUF_UNLIMITED);
		rt_buf_init(&wanted, rt_alloc_libc(), RT_BUF_UNLIMITED);
		assert_true(rt_toml_add_member_text(&s, &toml, RT_STR("k.\"1"), rt_str_of(values[i])));
		assert_int_equal(rt_toml_to_json(rt_alloc_libc(), rt_buf_str(&toml), &json, NULL), RT_OK);
		rt_buf_add_f(&wanted, "{\"k.\\\"1\":%s}", values[i]);
		assert_string_equal(json.ptr, wanted.ptr);
		rt_scope_deinit(&s);
		rt_buf_deinit(&toml);
		rt_buf_deinit(&json);
		rt_buf_deinit(&wanted);
	}
}

static void
test_refused(void **state)
{
	rt_outlines o;
	rt_error err;
	rt_buf deep;
	int i;

	(void)state;
	memset(&err, 0, sizeof(err));
	assert_int_equal(rt_format_toml.read(rt_alloc_libc(), RT_STR("a = 1\n\xC3\xA9 = [\n"), &o, NULL, &err),
			 RT_USAGE);
	assert_int_equal(err.line, 2);
	assert_true(err.has_at);
	assert_int_equal(err.at, 6);
	rt_buf_init(&deep, rt_alloc_libc(), RT_BUF_UNLIMITED);
	for (i = 0; i < 100000; i++)
		rt_buf_add_c(&deep, "a.");
	rt_buf_add_c(&deep, "a=1");
	assert_int_equal(rt_format_toml.read(rt_alloc_libc(), rt_buf_str(&deep), &o, NULL, &err), RT_LIMIT);
	rt_buf_clear(&deep);
	rt_buf_add_c(&deep, "[a");
	for (i = 0; i < 100000; i++)
		rt_buf_add_c(&deep, ".a");
	rt_buf_add_c(&deep, "]\n");
	assert_int_equal(rt_format_toml.read(rt_alloc_libc(), rt_buf_str(&deep), &o, NULL, &err), RT_LIMIT);
	rt_buf_clear(&deep);
	rt_buf_add_c(&deep, "a=");
	for (i = 0; i < 100000; i++)
		rt_buf_add_c(&deep, "[");
	assert_int_equal(rt_format_toml.read(rt_alloc_libc(), rt_buf_str(&deep), &o, NULL, &err), RT_LIMIT);
	rt_buf_deinit(&deep);
}

static void
test_bad_records(void **state)
{
	rt_report report;
	rt_outlines o;

	(void)state;
	rt_report_init(&report, rt_alloc_libc());
	read_ok("\xEF\xBB\xBF[discussion.discussions]\nx = 5\n[discussion.discussions.a]\n"
		"history = [5, \"AI: \xFF\", {role = 5, content = 6, ts = \"soon\", id = \"1\"}, {id = \"1\"}]\n"
		"[discussion.discussions.b]\nhistory = \"no\"\n",
		&o, &report);
	assert_int_equal(o.count, 2);
	assert_int_equal(o.items[0].node_count, 3);
	assert_int_equal(report.skipped, 3);
	assert_int_equal(report.repaired, 2);
	assert_entry(&o.items[0].nodes[0], "AI", "\xEF\xBF\xBD", "");
	assert_entry(&o.items[0].nodes[1], "User",
		     "{\"content\":\"\",\"role\":5,\"content_raw\":6,\"ts_text\":\"soon\"}", "");
	rt_outlines_deinit(&o);
	rt_report_deinit(&report);
}

static void
test_random(void **state)
{
	static const rt_export_options all = {.whole = true, .lossless = true};
	static const rt_export_options active = {.lossless = true};
	uint64_t seed;

	(void)state;
	for (seed = 1; seed <= 200; seed++) {
		rt_outlines o, again;
		rt_buf text, before, after;

		random_project(rt_alloc_libc(), seed, seed % 4, 12, &o);
		check_round_trip(&rt_format_toml, &o, NULL, &text);
		rt_buf_deinit(&text);
		check_round_trip(&rt_format_toml, &o, &active, &text);
		rt_buf_deinit(&text);
		check_round_trip(&rt_format_toml, &o, &all, &text);
		assert_int_equal(rt_format_toml.read(rt_alloc_libc(), rt_buf_str(&text), &again, NULL, NULL),
				 RT_OK);
		check_round_trip(&rt_format_canonical, &o, NULL, &before);
		check_round_trip(&rt_format_canonical, &again, NULL, &after);
		if (strcmp(before.ptr, after.ptr) != 0)
			fail_msg("seed %d\n%s\n%s\n%s", (int)seed, before.ptr, after.ptr, text.ptr);
		rt_buf_deinit(&before);
		rt_buf_deinit(&after);
		rt_buf_deinit(&text);
		rt_outlines_deinit(&again);
		rt_outlines_deinit(&o);
	}
}

/* Conversations without names, or with equal ones, stay separate. */
static void
test_names(void **state)
{
	rt_outlines o, again;
	rt_build b;
	rt_buf text;
	rt_node node = {.role = RT_STR("User"), .parent = -1};
	int i;

	(void)state;
	rt_build_init(&b, rt_alloc_libc(), NULL);
	for (i = 0; i < 40; i++) {
		rt_outline *outline = rt_build_discussion(&b);

		outline->name = i % 4 == 0 ? RT_STR("") : i % 4 == 1 ? RT_STR("x") : RT_STR("y_take_1");
		rt_build_body_open(&b, RT_STR("hi"), false);
		(void)rt_build_node(&b, &node);
	}
	assert_int_equal(rt_build_finish(&b, &o, NULL), RT_OK);
	rt_build_deinit(&b);
	check_round_trip(&rt_format_toml, &o, NULL, &text);
	assert_int_equal(rt_format_toml.read(rt_alloc_libc(), rt_buf_str(&text), &again, NULL, NULL), RT_OK);
	assert_int_equal(again.count, 40);
	rt_buf_deinit(&text);
	rt_outlines_deinit(&again);
	rt_outlines_deinit(&o);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_project),	    cmocka_unit_test(test_settings),
		cmocka_unit_test(test_json_values), cmocka_unit_test(test_refused),
		cmocka_unit_test(test_bad_records), cmocka_unit_test(test_random),
		cmocka_unit_test(test_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

#else

/* Without toml++ nothing is read, and the error says so. */
static void
test_refused(void **state)
{
	rt_outlines o;

	(void)state;
	assert_int_equal(rt_format_toml.read(rt_alloc_libc(), RT_STR("a = 1\n"), &o, NULL, NULL), RT_REFUSED);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_refused)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

#endif
