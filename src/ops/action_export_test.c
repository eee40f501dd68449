/* SPDX-License-Identifier: MIT
 *
 * Hooks around exports and imports: which content they may remove from a file. */
#include "ops/action_testing.h"

static rt_status
export_all(fixture *f, rt_buf *out)
{
	const rt_project *value = rt_engine_value(f->w.engine);
	rt_action_file file = {.format = &rt_format_canonical, .path = RT_STR("all.json")};
	rt_export_options options = {.whole = true, .lossless = true};
	rt_outlines all;
	rt_status st;

	rt_buf_clear(&f->h.log);
	rt_buf_init(out, rt_alloc_libc(), RT_BUF_UNLIMITED);
	st = rt_action_export(f->w.engine, &f->with, &file, value, (rt_place){0, 0}, true, &all,
			      &f->err);
	rt_object_unref(value);
	if (st == RT_OK) {
		assert_int_equal(rt_format_canonical.write(rt_alloc_libc(), &all, &options, out, NULL),
				 RT_OK);
		rt_outlines_deinit(&all);
	}
	rt_buf_add_byte(out, '\0');
	rt_buf_add_byte(&f->h.log, '\0');
	return st;
}

static void
what_goes_out(void **state)
{
	fixture *f = *state;
	rt_buf out;

	assert_int_equal(export_all(f, &out), RT_OK);
	fired(f, "export.before ");
	has_told(f, "\"format\":\"canonical\",\"path\":\"all.json\",\"entries\":[{\"id\":\"a\",\"role\":"
		"\"User\",\"kind\":\"message\",\"content\":\"one\",\"discussion\":\"main\"},");
	has_told(f, " format=canonical project=default");
	assert_non_null(strstr(out.ptr, "\"three\""));
	rt_buf_deinit(&out);
	/* one changed, one of another role, b and d left out */
	f->h.on = "export.before";
	f->h.patch = "{\"entries\":[{\"id\":\"a\",\"content\":\"[1]\",\"role\":\"User\"},"
		     "{\"id\":\"s\",\"content\":\"aside\",\"role\":\"Who\"},"
		     "{\"id\":\"c\",\"content\":\"three\"}]}";
	assert_int_equal(export_all(f, &out), RT_OK);
	assert_null(strstr(out.ptr, "\"one\""));
	assert_null(strstr(out.ptr, "\"two\""));
	assert_null(strstr(out.ptr, "\"four\""));
	assert_non_null(strstr(out.ptr, "\"[1]\""));
	assert_non_null(strstr(out.ptr, "\"Who\""));
	/* it can be read again: the takes and the head are complete */
	{
		rt_outlines back;
		rt_report report;

		rt_outlines_init(&back);
		rt_report_init(&report, rt_alloc_libc());
		assert_int_equal(rt_format_canonical.read(rt_alloc_libc(),
							  rt_str_at(out.ptr, out.size - 1), &back,
							  &report, NULL),
				 RT_OK);
		assert_int_equal(back.items[0].node_count, 3);
		assert_int_equal(back.items[0].take_count, 2);
		assert_int_equal(report.repaired + report.skipped, 0);
		rt_outlines_deinit(&back);
		rt_report_deinit(&report);
	}
	rt_buf_deinit(&out);
	/* all of them */
	f->h.patch = "{\"entries\":[]}";
	assert_int_equal(export_all(f, &out), RT_OK);
	assert_null(strstr(out.ptr, "\"aside\""));
	rt_buf_deinit(&out);
	/* members that did not exist, and a value that is not content */
	f->h.patch = "{\"entries\":[{\"id\":\"c\",\"content\":\"x\"},{\"id\":\"a\",\"content\":\"x\"}]}";
	assert_int_equal(export_all(f, &out), RT_USAGE);
	assert_non_null(strstr(f->err.text, "entry \"a\""));
	rt_buf_deinit(&out);
	f->h.patch = "{\"entries\":[{\"id\":\"a\",\"content\":1}]}";
	assert_int_equal(export_all(f, &out), RT_USAGE);
	rt_buf_deinit(&out);
	f->h.patch = "{\"entries\":{}}";
	assert_int_equal(export_all(f, &out), RT_USAGE);
	rt_buf_deinit(&out);
	f->h.deny = "keep it";
	assert_int_equal(export_all(f, &out), RT_DENIED);
	rt_buf_deinit(&out);
}

static void
is_in_toml(fixture *f, const char *words, bool yes)
{
	const rt_project *value = rt_engine_value(f->w.engine);
	rt_action_file file = {.format = &rt_format_toml,
			       .sent = rt_provider_named(RT_STR("anthropic"))};
	rt_export_options options = {.whole = true};
	rt_outlines all;
	rt_buf out;

	rt_buf_init(&out, rt_alloc_libc(), RT_BUF_UNLIMITED);
	assert_int_equal(rt_action_export(f->w.engine, &f->with, &file, value, (rt_place){0, 0},
					  true, &all, &f->err),
			 RT_OK);
	assert_int_equal(rt_format_toml.write(rt_alloc_libc(), &all, &options, &out, NULL), RT_OK);
	rt_buf_add_byte(&out, '\0');
	if ((strstr(out.ptr, words) != NULL) != yes)
		fail_msg("\"%s\" is %sin\n%s", words, yes ? "not " : "", out.ptr);
	rt_buf_deinit(&out);
	rt_outlines_deinit(&all);
	rt_object_unref(value);
}

/* In a request that was sent, content that a hook removes from the entries is removed, too. */
static void
what_was_sent_goes_out_too(void **state)
{
	fixture *f = *state;
	rt_send_with with = world_with(&f->w);
	say said = {SAY_TEXT, "Yes.", 0, NULL, NULL};
	sayer s;

	sayer_init(&s, &f->w, rt_provider_named(RT_STR("openai")), &said, 1);
	with.model = &s.model;
	assert_int_equal(
		world_send_options(&f->w,
				   (rt_send_options){.with = with, .text = RT_STR("It is tulip.")}),
		RT_OK);
	world_apply(&f->w, "{\"op\":\"entry.edit\",\"entry\":\"c\",\"content\":\"3\"}");
	is_in_toml(f, "sent_markdown = ", true);
	is_in_toml(f, "three", true); /* it was contained when it was sent */
	is_in_toml(f, "tulip", true);
	f->h.on = "export.before";
	f->h.patch = "{\"entries\":[{\"id\":\"a\",\"content\":\"one\"},"
		     "{\"id\":\"s\",\"content\":\"aside\"},{\"id\":\"c\",\"content\":\"3\"}]}";
	is_in_toml(f, "one", true);
	is_in_toml(f, "tulip", false);
	is_in_toml(f, "three", false);
	is_in_toml(f, "sent_", false);
}

/* A pi record has its content twice; a hook's removals apply to both. */
static void
what_goes_out_of_a_pi_file(void **state)
{
	static const char session[] =
		"{\"type\":\"session\",\"version\":3,\"id\":\"s1\",\"timestamp\":"
		"\"2026-01-01T00:00:00.000Z\",\"cwd\":\"/\"}\n"
		"{\"type\":\"message\",\"id\":\"m1\",\"parentId\":null,\"timestamp\":"
		"\"2026-01-01T00:00:01.000Z\",\"message\":{\"role\":\"user\",\"content\":"
		"\"the password\",\"timestamp\":1}}\n";
	fixture *f = *state;
	rt_action_file file = {.format = &rt_format_pi, .path = RT_STR("talk.jsonl")};
	rt_str bytes = rt_str_of(session);
	rt_input in = rt_input_of(&bytes);
	rt_action_import_options options = {.name = RT_STR("talk")};
	rt_action_scan looked;
	rt_import_result result;
	uint64_t seq = world_seq(&f->w);
	const rt_project *value;
	rt_buf out;

	assert_int_equal(rt_action_import_scan(rt_alloc_libc(), &f->with, &file, &in, &options,
					       &looked, NULL, &f->err),
			 RT_OK);
	assert_int_equal(looked.discussions, 1);
	assert_int_equal(looked.entries, 1);
	f->h.on = "import.before";
	f->h.deny = "nothing from there";
	remember(f);
	assert_int_equal(rt_action_import(f->w.engine, &f->with, &file, &in, &options, &looked,
					  &result, &f->err),
			 RT_DENIED);
	assert_string_equal(f->err.text, "hook guard: nothing from there");
	same(f, seq);
	/* a scan alone calls no hooks */
	options.dry_run = true;
	assert_int_equal(rt_action_import(f->w.engine, &f->with, &file, &in, &options, &looked,
					  &result, &f->err),
			 RT_OK);
	f->h.deny = NULL;
	f->with.by = RT_STR("web");
	rt_buf_clear(&f->h.log);
	options.dry_run = false;
	assert_int_equal(rt_action_import(f->w.engine, &f->with, &file, &in, &options, &looked,
					  &result, &f->err),
			 RT_OK);
	rt_action_scan_deinit(&looked);
	rt_buf_init(&out, rt_alloc_libc(), RT_BUF_UNLIMITED);
	value = rt_engine_value(f->w.engine);
	assert_int_equal(rt_view_step(f->w.engine, value, result.seq, &out, NULL), RT_OK);
	assert_int_not_equal(rt_str_find(rt_buf_str(&out), RT_STR("\"by\":\"web\""), 0), SIZE_MAX);
	rt_object_unref(value);
	rt_buf_deinit(&out);
	rt_buf_add_byte(&f->h.log, '\0');
	fired(f, "import.before session.after_switch ");
	has_told(f, "\"format\":\"pi\",\"path\":\"talk.jsonl\",\"discussion\":\"talk\",\"discussions\":1}");
	has_told(f, "\"previous\":\"main\",\"reason\":\"new\"}");
	f->h.on = "export.before";
	f->h.patch = "{\"entries\":[{\"id\":\"m1\",\"content\":\"***\"}]}";
	assert_int_equal(export_all(f, &out), RT_OK);
	assert_null(strstr(out.ptr, "the password"));
	assert_non_null(strstr(out.ptr, "\"***\""));
	rt_buf_deinit(&out);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		WITH_WORLD(what_goes_out),
		WITH_WORLD(what_goes_out_of_a_pi_file),
		WITH_WORLD(what_was_sent_goes_out_too),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
