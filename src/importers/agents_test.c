/* SPDX-License-Identifier: MIT */
#include "importers/importer_testing.h"

static void
test_codex(void **state)
{
	static const char text[] =
		"{\"timestamp\":\"2026-01-01T00:00:00Z\",\"type\":\"session_meta\",\"payload\":{\"id\":\"r\"}}\n"
		"{\"timestamp\":\"2026-01-01T00:00:00Z\",\"type\":\"session_meta\",\"payload\":{\"id\":\"old\"}}\n"
		"{\"timestamp\":\"2026-01-01T00:00:01Z\",\"type\":\"turn_context\",\"payload\":{\"model\":\"m\"}}\n"
		"{\"timestamp\":\"2026-01-01T00:00:02Z\",\"type\":\"response_item\",\"payload\":{\"type\":\"message\","
		"\"role\":\"user\",\"content\":[{\"type\":\"input_text\",\"text\":\"<environment_context>\"}]}}\n"
		"{\"type\":\"response_item\",\"payload\":{\"type\":\"message\",\"role\":\"user\","
		"\"content\":[{\"type\":\"input_text\",\"text\":\"q\"}]}}\n"
		"{\"type\":\"event_msg\",\"payload\":{\"type\":\"user_message\",\"message\":\"q\"}}\n"
		"{\"type\":\"response_item\",\"payload\":{\"type\":\"reasoning\",\"summary\":[{\"text\":\"hm\"}],"
		"\"encrypted_content\":\"e\"}}\n"
		"{\"type\":\"response_item\",\"payload\":{\"type\":\"function_call\",\"name\":\"sh\","
		"\"arguments\":\"{\\\"c\\\":1}\",\"call_id\":\"k\"}}\n"
		"{\"type\":\"response_item\",\"payload\":{\"type\":\"function_call_output\",\"call_id\":\"k\","
		"\"output\":\"out\"}}\n"
		"{\"type\":\"event_msg\",\"payload\":{\"type\":\"thread_rolled_back\",\"num_turns\":1}}\n"
		"{\"type\":\"response_item\",\"payload\":{\"role\":\"user\",\"content\":\"p\"}}\n";
	rt_outlines o;
	rt_report report;

	(void)state;
	import_text(&rt_format_codex, text, &o, &report);
	assert_true(rt_str_is(o.items[0].source, "codex:r"));
	assert_nodes(&o.items[0],
		     "-1 user [{\"type\":\"input_text\",\"text\":\"<environment_context>\"}] | "
		     "0 user [{\"type\":\"input_text\",\"text\":\"q\"}] | "
		     "1 assistant [{\"type\":\"thinking\",\"thinking\":\"hm\"}] | "
		     "2 assistant [{\"type\":\"toolCall\",\"id\":\"k\",\"name\":\"sh\",\"arguments\":{\"c\":1}}] | "
		     "3 tool out | 0 user p");
	assert_int_equal(o.items[0].head, 5);
	assert_true(rt_str_is(o.items[0].nodes[0].kind, "custom_message"));
	assert_field(&o.items[0], 2, "model", "\"m\"");
	assert_field(&o.items[0], 4, "tool_call_id", "\"k\"");
	assert_int_equal(report.skipped, 0);
	import_done(&o, &report);
}

/* A session of which only the events were written, and the name of its thread. */
static void
test_codex_events(void **state)
{
	static const char text[] =
		"{\"type\":\"session_meta\",\"payload\":{\"id\":\"r\"}}\n"
		"{\"type\":\"event_msg\",\"payload\":{\"type\":\"user_message\",\"message\":\"q \\\"role\\\":\"}}\n"
		"{\"type\":\"event_msg\",\"payload\":{\"type\":\"agent_reasoning\",\"text\":\"hm\"}}\n"
		"{\"type\":\"event_msg\",\"payload\":{\"type\":\"token_count\"}}\n"
		"{\"type\":\"event_msg\",\"payload\":{\"type\":\"agent_message\",\"message\":\"a\"}}\n";
	static const char named[] =
		"{\"type\":\"session_meta\",\"payload\":{\"id\":\"r\"}}\n"
		"{\"type\":\"response_item\",\"payload\":{\"role\":\"user\",\"content\":\"q\"}}\n"
		"{\"type\":\"response_item\",\"payload\":{\"type\":\"image_generation_call\",\"id\":\"i\","
		"\"revised_prompt\":\"a cat\"}}\n"
		"{\"type\":\"event_msg\",\"payload\":{\"type\":\"agent_message\",\"message\":\"a\"}}\n"
		"{\"type\":\"event_msg\",\"payload\":{\"type\":\"thread_name_updated\","
		"\"thread_name\":\"Cats\"}}\n";
	rt_outlines o;
	rt_report report;

	(void)state;
	import_text(&rt_format_codex, text, &o, &report);
	assert_nodes(&o.items[0], "-1 user q \"role\": | 0 assistant [{\"type\":\"thinking\",\"thinking\":"
				  "\"hm\"}] | 1 assistant a");
	assert_true(rt_str_is(o.items[0].name, "q \"role\":"));
	assert_true(rt_str_is(o.items[0].source, "codex:r"));
	import_done(&o, &report);
	import_text(&rt_format_codex, named, &o, &report);
	assert_nodes(&o.items[0], "-1 user q | 0 assistant [{\"type\":\"toolCall\",\"id\":\"i\",\"name\":"
				  "\"image_generation_call\",\"arguments\":{\"input\":\"a cat\"}}]");
	assert_true(rt_str_is(o.items[0].name, "Cats"));
	import_done(&o, &report);
}

/* Items as lines; not OpenAI messages, which have no times. */
static void
test_codex_bare(void **state)
{
	static const char text[] =
		"{\"created_at\":\"2025-09-10T12:00:00Z\",\"role\":\"user\",\"message\":\"hi\"}\n"
		"{\"type\":\"function_call\",\"function\":{\"name\":\"f\"},\"arguments\":{\"x\":1}}\n"
		"{\"type\":\"function_result\",\"name\":\"f\",\"result\":{\"y\":2}}\n"
		"{\"timestamp\":\"2025-09-10T12:00:02Z\",\"role\":\"assistant\",\"content\":\"ho\"}\n";
	rt_outlines o;
	rt_report report;

	(void)state;
	import_text(&rt_format_codex, text, &o, &report);
	assert_nodes(&o.items[0], "-1 user hi | 0 assistant [{\"type\":\"toolCall\",\"id\":\"\","
				  "\"name\":\"f\",\"arguments\":{\"x\":1}}] | 1 tool {\"y\":2} | "
				  "2 assistant ho");
	import_done(&o, &report);
	assert_ptr_equal(rt_format_sniff(RT_STR("{\"role\":\"user\",\"content\":\"hi\"}\n"
						"{\"role\":\"assistant\",\"content\":\"ho\"}\n")),
			 &rt_format_openai);
}

static void
test_cursor(void **state)
{
	static const char text[] =
		"{\"role\":\"user\",\"message\":{\"content\":[{\"type\":\"text\",\"text\":\"q\"}]}}\n"
		"{\"role\":\"assistant\",\"message\":{\"content\":\"a\",\"x\":1}}\n{\"role\":\"user\"}\n";
	rt_outlines o;
	rt_report report;

	(void)state;
	import_text(&rt_format_cursor, text, &o, &report);
	assert_nodes(&o.items[0], "-1 user [{\"type\":\"text\",\"text\":\"q\"}] | 0 assistant a");
	assert_field(&o.items[0], 1, "cursor", "{\"role\":\"assistant\",\"message\":{\"content\":\"\",\"x\":1}}");
	assert_int_equal(report.skipped, 1);
	import_done(&o, &report);
}

static void
test_aider(void **state)
{
	static const char text[] =
		"before\n# aider chat started at 2024-08-05 19:33:02\n\n> aider --model m  \n> Added "
		"a.py.  \n\n#### Fix the loop  \n#### in a.py  \n# Heading\n\nIt ends now.\n# One more\n"
		"#### Thanks\n# aider chat started at 2024-08-06 08:00:00\n\n";
	rt_outlines o;
	rt_report report;

	(void)state;
	import_text(&rt_format_aider, text, &o, &report);
	assert_int_equal(o.count, 2);
	assert_int_equal(report.empty, 1);
	assert_nodes(&o.items[0], "-1 assistant before");
	assert_nodes(&o.items[1], "-1 tool aider --model m  \nAdded a.py. | 0 user Fix the loop  \nin "
				  "a.py  \n# Heading | 1 assistant It ends now.\n# One more | 2 user "
				  "Thanks");
	assert_true(rt_str_is(o.items[1].name, "Fix the loop"));
	assert_true(rt_str_is(o.items[1].source, "aider:2024-08-05 19:33:02"));
	assert_true(o.items[1].nodes[0].has_ts && o.items[1].nodes[3].has_ts && !o.items[0].nodes[0].has_ts);
	assert_int_equal(o.items[1].head, 3);
	assert_int_equal(report.skipped, 0);
	import_done(&o, &report);
}

static void
test_opencode(void **state)
{
	static const char text[] =
		"{\"info\":{\"id\":\"s\",\"title\":\"Fix\",\"time\":{\"created\":1},\"revert\":{\"messageID\":"
		"\"m3\"}},\"messages\":["
		"{\"info\":{\"id\":\"m1\",\"role\":\"user\"},\"parts\":[{\"type\":\"text\",\"text\":\"q\"}]},"
		"{\"info\":{\"id\":\"m2\",\"role\":\"assistant\",\"modelID\":\"m\"},\"parts\":["
		"{\"type\":\"tool\",\"callID\":\"c\",\"tool\":\"sh\",\"state\":{\"status\":\"error\",\"input\":{},"
		"\"error\":\"no\"}},{\"type\":\"patch\"}]},"
		"{\"info\":{\"id\":\"m3\",\"role\":\"user\"},\"parts\":[{\"type\":\"text\",\"text\":\"more\","
		"\"synthetic\":true}]}]}";
	rt_outlines o;
	rt_report report;

	(void)state;
	import_text(&rt_format_opencode, text, &o, &report);
	assert_true(rt_str_is(o.items[0].name, "Fix"));
	assert_true(rt_str_is(o.items[0].source, "opencode:s"));
	assert_nodes(&o.items[0],
		     "-1 user q | 0 assistant [{\"type\":\"toolCall\",\"id\":\"c\",\"name\":\"sh\","
		     "\"arguments\":{}},{\"type\":\"tool_result\",\"tool_use_id\":\"c\",\"content\":\"no\","
		     "\"is_error\":true}] | 1 user more");
	assert_int_equal(o.items[0].head, 1);
	assert_true(rt_str_is(o.items[0].nodes[2].kind, "custom_message"));
	assert_field(&o.items[0], 1, "model", "\"m\"");
	assert_int_equal(report.skipped, 0);
	import_done(&o, &report);
}

/* Files of the storage folder, in any order. */
static void
test_opencode_storage(void **state)
{
	static const char text[] =
		"{\"messageID\":\"m2\",\"id\":\"p2\",\"sessionID\":\"s\",\"type\":\"text\",\"text\":\"b\"}\n\n"
		"{\"messageID\":\"m2\",\"id\":\"p1\",\"type\":\"reasoning\",\"text\":\"hm\"}\n"
		"{\"id\":\"m2\",\"sessionID\":\"s\",\"role\":\"assistant\",\"time\":{\"created\":1730000202000},"
		"\"modelID\":\"m\"}\n"
		"{\"id\":\"s\",\"projectID\":\"p\",\"title\":\"Fix\",\n \"time\":{\"created\":1730000200000}}\n"
		"{\"id\":\"m1\",\"sessionID\":\"s\",\"role\":\"user\",\"time\":{\"created\":1730000201000}}\n"
		"{\"id\":\"e\",\"projectID\":\"p\",\"title\":\"Empty\",\"time\":{\"created\":1730000300000}}\n"
		"{\"messageID\":\"m1\",\"id\":\"p0\",\"type\":\"text\",\"text\":\"q\"}\n"
		"{\"messageID\":\"gone\",\"id\":\"p9\",\"type\":\"text\",\"text\":\"lost\"}\n{broken\n";
	static const char alone[] =
		"{\"id\":\"m1\",\"sessionID\":\"s\",\"role\":\"user\",\"time\":{\"created\":1730000201000}}";
	rt_str bytes = rt_str_of(alone);
	rt_outlines o;
	rt_report report;
	rt_error err;

	(void)state;
	import_text(&rt_format_opencode, text, &o, &report);
	assert_int_equal(o.count, 1);
	assert_int_equal(report.empty, 1);
	assert_true(rt_str_is(o.items[0].source, "opencode:s") && rt_str_is(o.items[0].name, "Fix"));
	assert_nodes(&o.items[0], "-1 user q | 0 assistant [{\"type\":\"thinking\",\"thinking\":\"hm\"},"
				  "{\"type\":\"text\",\"text\":\"b\"}]");
	assert_field(&o.items[0], 1, "model", "\"m\"");
	assert_int_equal(report.skipped, 2); /* a part without a message, and no JSON */
	import_done(&o, &report);
	assert_int_equal(rt_format_opencode.read(rt_alloc_libc(), bytes, &o, NULL, &err), RT_USAGE);
	assert_non_null(strstr(err.text, "import the directory"));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_codex),
					   cmocka_unit_test(test_codex_events), cmocka_unit_test(test_codex_bare),
					   cmocka_unit_test(test_cursor),
					   cmocka_unit_test(test_aider),
					   cmocka_unit_test(test_opencode),
					   cmocka_unit_test(test_opencode_storage)};

	return cmocka_run_group_tests_name("agents", tests, NULL, NULL);
}
