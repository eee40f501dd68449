/* SPDX-License-Identifier: MIT
 *
 * Claude.ai, Open WebUI, LibreChat and Grok. */
#include "importers/importer_testing.h"

/* An old export, without parents: a file with its text, a file by name, a block of the API. */
static void
test_claude_list(void **state)
{
	static const char text[] =
		"[{\"uuid\":\"c\",\"name\":\"Ships\",\"account\":{\"uuid\":\"x\"},\"chat_messages\":["
		"{\"uuid\":\"a\",\"sender\":\"human\",\"text\":\"See\",\"content\":[{\"type\":\"text\","
		"\"text\":\"See\",\"citations\":[]}],\"created_at\":\"2024-01-01T00:00:00Z\","
		"\"attachments\":[{\"file_name\":\"n.txt\",\"file_size\":2,\"extracted_content\":\"hi\"}],"
		"\"files\":[{\"file_name\":\"p.png\"}]},"
		"{\"uuid\":\"a\",\"sender\":\"assistant\",\"text\":\"Yes\",\"content\":[{\"type\":"
		"\"thinking\",\"thinking\":\"hm\"}]},5,"
		"{\"uuid\":\"b\",\"sender\":\"human\",\"text\":\"ok\",\"content\":null}]},"
		"{\"uuid\":\"d\",\"name\":\"Bad\"},{\"uuid\":\"e\",\"name\":\"\",\"chat_messages\":[]}]";
	rt_outlines o;
	rt_report report;

	(void)state;
	import_text(&rt_format_claude_ai, text, &o, &report);
	assert_int_equal(o.count, 1);
	assert_int_equal(report.empty, 1);
	assert_true(rt_str_is(o.items[0].source, "claude-ai:c"));
	assert_true(rt_str_is(o.items[0].name, "Ships"));
	assert_nodes(&o.items[0],
		     "-1 user [{\"type\":\"text\",\"text\":\"See\",\"citations\":[]},{\"type\":\"file\","
		     "\"name\":\"n.txt\",\"mimeType\":\"text/plain\",\"data\":\"aGk=\",\"file_size\":2},"
		     "{\"type\":\"file\",\"file_name\":\"p.png\"}] | "
		     "0 assistant [{\"type\":\"text\",\"text\":\"Yes\"},{\"type\":\"thinking\","
		     "\"thinking\":\"hm\"}] | 1 user ok");
	assert_field(&o.items[0], 0, "claude-ai",
		     "{\"uuid\":\"a\",\"sender\":\"human\",\"created_at\":\"2024-01-01T00:00:00Z\","
		     "\"files\":[{\"file_name\":\"p.png\"}]}");
	assert_disc_field(&o.items[0], "claude-ai.account", "{\"uuid\":\"x\"}");
	assert_int_equal(report.skipped, 2);
	import_done(&o, &report);
}

/* The document of an artifact is a text of its entry, in Markdown or as code. */
static void
test_claude_artifacts(void **state)
{
#define CALL(input) "{\"type\":\"tool_use\",\"name\":\"artifacts\",\"input\":{" input "}}"
	static const char text[] =
		"[{\"uuid\":\"c\",\"name\":\"n\",\"chat_messages\":[{\"uuid\":\"a\",\"sender\":\"assistant\","
		"\"text\":\"See\",\"content\":[{\"type\":\"text\",\"text\":\"See\"},"
		CALL("\"type\":\"text/markdown\",\"title\":\"Soup\",\"content\":\"# Fog\"") ","
		CALL("\"type\":\"application/vnd.ant.code\",\"language\":\"c\",\"content\":\"/* ``` */\"") ","
		CALL("\"command\":\"update\",\"old_str\":\"x\"") "]}]}]";
	rt_outlines o;
	rt_report report;

	(void)state;
	import_text(&rt_format_claude_ai, text, &o, &report);
	assert_nodes(&o.items[0],
		     "-1 assistant [{\"type\":\"text\",\"text\":\"See\"},"
		     CALL("\"type\":\"text/markdown\",\"title\":\"Soup\",\"content\":\"# Fog\"")
		     ",{\"type\":\"text\",\"text\":\"**Soup**\\n\\n# Fog\"},"
		     CALL("\"type\":\"application/vnd.ant.code\",\"language\":\"c\",\"content\":\"/* ``` */\"")
		     ",{\"type\":\"text\",\"text\":\"````c\\n/* ``` */\\n````\"},"
		     CALL("\"command\":\"update\",\"old_str\":\"x\"") "]");
	import_done(&o, &report);
#undef CALL
}

/* A newer one, in a wrapper: parents and the open message are named. */
static void
test_claude_tree(void **state)
{
	static const char text[] =
		"{\"version\":1,\"conversations\":[{\"uuid\":\"c\",\"name\":\"n\","
		"\"current_leaf_message_uuid\":\"y\",\"chat_messages\":["
		"{\"uuid\":\"a\",\"sender\":\"human\",\"text\":\"1\","
		"\"parent_message_uuid\":\"00000000-0000-4000-8000-000000000000\"},"
		"{\"uuid\":\"x\",\"sender\":\"assistant\",\"text\":\"2\",\"parent_message_uuid\":\"a\"},"
		"{\"uuid\":\"y\",\"sender\":\"assistant\",\"text\":\"3\",\"parent_message_uuid\":\"a\"},"
		"{\"uuid\":\"z\",\"sender\":\"human\",\"text\":\"4\",\"parent_message_uuid\":\"x\"}]}]}";
	rt_outlines o;
	rt_report report;

	(void)state;
	import_text(&rt_format_claude_ai, text, &o, &report);
	assert_nodes(&o.items[0], "-1 user 1 | 0 assistant 2 | 1 user 4 | 0 assistant 3");
	assert_int_equal(o.items[0].head, 3);
	assert_int_equal(report.repaired, 0);
	import_done(&o, &report);
}

static void
test_open_webui(void **state)
{
	static const char text[] =
		"[{\"id\":\"r1\",\"user_id\":\"u\",\"title\":\"T\",\"updated_at\":1700000000,\"chat\":{"
		"\"title\":\"T\",\"models\":[\"m\"],\"history\":{\"currentId\":\"gone\",\"messages\":{"
		"\"c\":{\"id\":\"c\",\"parentId\":\"a\",\"role\":\"assistant\",\"content\":\"two\"},"
		"\"b\":{\"id\":\"b\",\"parentId\":\"a\",\"role\":\"assistant\",\"content\":\"one\","
		"\"model\":\"m\",\"usage\":{\"total_tokens\":3},\"timestamp\":1700000000},"
		"\"a\":{\"id\":\"a\",\"parentId\":null,\"childrenIds\":[\"b\",\"c\",\"no\"],"
		"\"role\":\"user\",\"content\":\"q\",\"files\":[{\"type\":\"image\",\"url\":\"/f\"}]},"
		"\"s\":{\"parentId\":\"b\",\"childrenIds\":[]}}},\"messages\":[]}},"
		"{\"id\":\"r2\",\"title\":\"L\",\"chat\":{\"messages\":[{\"role\":\"user\","
		"\"content\":\"x\"},{\"role\":\"assistant\",\"content\":\"y\"}]}}]";
	rt_outlines o;
	rt_report report;

	(void)state;
	import_text(&rt_format_open_webui, text, &o, &report);
	assert_int_equal(o.count, 2);
	assert_true(rt_str_is(o.items[0].source, "open-webui:r1"));
	assert_nodes(&o.items[0], "-1 user [{\"type\":\"text\",\"text\":\"q\"},{\"type\":\"image\","
				  "\"url\":\"/f\"}] | 0 assistant one | 1 custom  | 0 assistant two");
	assert_int_equal(o.items[0].head, 1); /* the newest */
	assert_field(&o.items[0], 1, "model", "\"m\"");
	assert_field(&o.items[0], 1, "usage", "{\"total_tokens\":3}");
	assert_int_equal(report.repaired, 1);
	assert_disc_field(&o.items[0], "open-webui.user_id", "\"u\"");
	assert_disc_field(&o.items[0], "open-webui.models", "[\"m\"]");
	assert_nodes(&o.items[1], "-1 user x | 0 assistant y");
	import_done(&o, &report);
}

/* Nested messages, with the blocks of newer versions; the latest is the open one. */
static void
test_librechat(void **state)
{
	static const char text[] =
		"{\"conversationId\":\"l1\",\"endpoint\":\"x\",\"title\":\"T\",\"recursive\":true,"
		"\"messages\":[{\"messageId\":\"a\",\"isCreatedByUser\":true,\"text\":\"q\","
		"\"parentMessageId\":\"00000000-0000-0000-0000-000000000000\","
		"\"createdAt\":\"2024-01-01T00:00:00Z\",\"children\":["
		"{\"messageId\":\"b\",\"parentMessageId\":\"wrong\",\"isCreatedByUser\":false,"
		"\"model\":\"m\",\"text\":\"\",\"createdAt\":\"2024-01-01T00:00:02Z\",\"content\":["
		"{\"type\":\"think\",\"think\":\"hm\"},{\"type\":\"tool_call\",\"tool_call\":{\"id\":\"t\","
		"\"name\":\"f\",\"args\":\"{\\\"x\\\":1}\",\"output\":\"2\"}},"
		"{\"type\":\"text\",\"text\":{\"value\":\"done\"}}],\"children\":[]},"
		"{\"messageId\":\"c\",\"isCreatedByUser\":false,\"text\":\"two\",\"children\":["
		"{\"messageId\":\"d\",\"isCreatedByUser\":true,\"text\":\"three\"}]}]}]}";
	rt_outlines o;
	rt_report report;

	(void)state;
	import_text(&rt_format_librechat, text, &o, &report);
	assert_true(rt_str_is(o.items[0].source, "librechat:l1"));
	assert_nodes(&o.items[0],
		     "-1 user q | 0 assistant [{\"type\":\"thinking\",\"thinking\":\"hm\"},"
		     "{\"type\":\"toolCall\",\"id\":\"t\",\"name\":\"f\",\"arguments\":{\"x\":1}},"
		     "{\"type\":\"tool_result\",\"tool_use_id\":\"t\",\"content\":\"2\"},"
		     "{\"type\":\"text\",\"text\":\"done\"}] | 0 assistant two | 2 user three");
	assert_int_equal(o.items[0].head, 1);
	assert_int_equal(report.repaired, 0);
	import_done(&o, &report);
}

/* A list with several roots, which is the tree of one root in a different form. */
static void
test_librechat_list(void **state)
{
	static const char list[] =
		"{\"conversationId\":\"l\",\"exportAt\":\"now\",\"messages\":["
		"{\"messageId\":\"b\",\"parentMessageId\":\"a\",\"text\":\"2\"},"
		"{\"messageId\":\"a\",\"parentMessageId\":null,\"isCreatedByUser\":true,\"text\":\"1\"},"
		"{\"messageId\":\"c\",\"parentMessageId\":null,\"isCreatedByUser\":true,\"text\":\"3\"}]}";
	static const char tree[] =
		"{\"conversationId\":\"l\",\"exportAt\":\"now\",\"messagesTree\":{\"messageId\":\"a\","
		"\"isCreatedByUser\":true,\"text\":\"1\",\"children\":[{\"messageId\":\"b\","
		"\"text\":\"2\"}]}}";
	rt_outlines o;
	rt_report report;

	(void)state;
	import_text(&rt_format_librechat, list, &o, &report);
	assert_nodes(&o.items[0], "-1 user 1 | 0 assistant 2 | -1 user 3");
	import_done(&o, &report);
	import_text(&rt_format_librechat, tree, &o, &report);
	assert_nodes(&o.items[0], "-1 user 1 | 0 assistant 2");
	import_done(&o, &report);
}

static void
test_grok(void **state)
{
	static const char text[] =
		"{\"conversations\":[{\"conversation\":{\"id\":\"g\",\"title\":\"T\",\"starred\":true,"
		"\"leaf_response_id\":\"b\"},\"responses\":["
		"{\"response\":{\"_id\":\"b\",\"parent_response_id\":\"a\",\"sender\":\"ASSISTANT\","
		"\"message\":\"one\",\"model\":\"grok-3\",\"thinking_trace\":\"hm\","
		"\"create_time\":{\"$date\":{\"$numberLong\":\"1700000000000\"}}}},"
		"{\"response\":{\"_id\":\"c\",\"parent_response_id\":\"a\",\"sender\":\"assistant\","
		"\"message\":\"two\"}},null,"
		"{\"response\":{\"response_id\":\"a\",\"sender\":\"human\",\"message\":\"q\","
		"\"create_time\":\"2024-01-01T00:00:00Z\"}}]},{\"conversation\":null}],\"tasks\":[]}";
	rt_outlines o;
	rt_report report;

	(void)state;
	import_text(&rt_format_grok, text, &o, &report);
	assert_int_equal(o.count, 1);
	assert_true(rt_str_is(o.items[0].source, "grok:g"));
	assert_nodes(&o.items[0], "-1 user q | 0 assistant [{\"type\":\"thinking\",\"thinking\":\"hm\"},"
				  "{\"type\":\"text\",\"text\":\"one\"}] | 0 assistant two");
	assert_int_equal(o.items[0].head, 1);
	assert_int_equal(o.items[0].nodes[1].ts.us, 1700000000000000);
	assert_field(&o.items[0], 1, "model", "\"grok-3\"");
	assert_disc_field(&o.items[0], "grok.starred", "true");
	assert_int_equal(report.skipped, 2);
	import_done(&o, &report);
}

/* Responses without a wrapper or parents follow each other. */
static void
test_grok_flat(void **state)
{
	static const char text[] =
		"{\"conversations\":[{\"conversation\":{\"title\":\"T\"},\"responses\":["
		"{\"sender\":\"human\",\"message\":\"q\"},{\"sender\":\"assistant\",\"message\":\"a\"},7]}]}";
	rt_outlines o;
	rt_report report;

	(void)state;
	import_text(&rt_format_grok, text, &o, &report);
	assert_nodes(&o.items[0], "-1 user q | 0 assistant a");
	assert_int_equal(o.items[0].head, 1);
	assert_int_equal(report.skipped, 1);
	import_done(&o, &report);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_claude_list),
		cmocka_unit_test(test_claude_artifacts),
		cmocka_unit_test(test_claude_tree),
		cmocka_unit_test(test_open_webui),  cmocka_unit_test(test_librechat),
		cmocka_unit_test(test_librechat_list), cmocka_unit_test(test_grok),
		cmocka_unit_test(test_grok_flat)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
