/* SPDX-License-Identifier: MIT
 *
 * Gemini CLI and AI Studio. */
#include "importers/importer_testing.h"

/* Lines: a message that is replaced, a tool, and a rewind, which leaves a branch. */
static void
test_lines(void **state)
{
	static const char text[] =
		"{\"sessionId\":\"s\",\"projectHash\":\"h\",\"kind\":\"main\"}\n"
		"{\"id\":\"u1\",\"type\":\"user\",\"content\":[{\"text\":\"list\"}],"
		"\"timestamp\":\"2026-01-01T00:00:00Z\"}\n"
		"{\"id\":\"g1\",\"type\":\"gemini\",\"content\":\"\"}\n"
		"{\"id\":\"g1\",\"type\":\"gemini\",\"content\":\"ok\",\"model\":\"m\",\"tokens\":{\"total\":5},"
		"\"thoughts\":[{\"subject\":\"s\",\"description\":\"hm\"}],\"toolCalls\":[{\"id\":\"t\","
		"\"name\":\"ls\",\"args\":{\"p\":\".\"},\"result\":[{\"functionResponse\":{\"id\":\"t\","
		"\"name\":\"ls\",\"response\":{\"output\":\"a b\"}}}]}]}\n"
		"not JSON\n"
		"{\"id\":\"u2\",\"type\":\"user\",\"content\":\"wrong\"}\n"
		"{\"id\":\"i1\",\"type\":\"info\",\"content\":\"note\"}\n"
		"{\"$rewindTo\":\"u2\"}\n"
		"{\"id\":\"u3\",\"type\":\"user\",\"content\":\"right\"}\n"
		"{\"$set\":{\"summary\":\"S\",\"lastUpdated\":\"2026-01-01T00:00:09Z\"}}\n"
		"{\"id\":\"g3\",\"type\":\"gem";
	rt_outlines o;
	rt_report report;

	(void)state;
	import_text(&rt_format_gemini_cli, text, &o, &report);
	assert_int_equal(o.count, 1);
	assert_true(rt_str_is(o.items[0].source, "gemini-cli:s"));
	assert_nodes(&o.items[0],
		     "-1 user list | 0 assistant [{\"type\":\"thinking\",\"thinking\":\"hm\"},"
		     "{\"type\":\"text\",\"text\":\"ok\"},{\"type\":\"toolCall\",\"id\":\"t\","
		     "\"name\":\"ls\",\"arguments\":{\"p\":\".\"}},{\"type\":\"tool_result\","
		     "\"tool_use_id\":\"t\",\"content\":\"a b\"}] | 1 user wrong | 2 info note | "
		     "1 user right");
	assert_int_equal(o.items[0].head, 4);
	assert_true(o.items[0].nodes[3].muted);
	assert_field(&o.items[0], 1, "usage", "{\"total\":5}");
	assert_disc_field(&o.items[0], "gemini-cli.summary", "\"S\"");
	assert_int_equal(report.skipped, 2);
	assert_int_equal(report.remarks[0].line, 5);
	assert_int_equal(report.remarks[1].line, 11);
	import_done(&o, &report);
}

/* A list that replaces the messages: known ones keep their places. Rewinding to an unknown message
 * removes all. */
static void
test_replaced_list(void **state)
{
	static const char text[] =
		"{\"sessionId\":\"s\",\"projectHash\":\"h\"}\n"
		"{\"id\":\"a\",\"type\":\"user\",\"content\":\"1\"}\n"
		"{\"id\":\"b\",\"type\":\"gemini\",\"content\":\"2\"}\n"
		"{\"$set\":{\"messages\":[{\"id\":\"a\",\"type\":\"user\",\"content\":\"1!\"},"
		"{\"id\":\"c\",\"type\":\"gemini\",\"content\":\"3\"}]}}\n"
		"{\"id\":\"d\",\"type\":\"user\",\"content\":\"4\"}\n"
		"{\"$rewindTo\":\"zzz\"}\n"
		"{\"id\":\"e\",\"type\":\"user\",\"content\":\"5\"}\n";
	rt_outlines o;
	rt_report report;

	(void)state;
	import_text(&rt_format_gemini_cli, text, &o, &report);
	assert_nodes(&o.items[0], "-1 user 1! | 0 assistant 2 | 0 assistant 3 | 2 user 4 | -1 user 5");
	assert_int_equal(o.items[0].head, 4);
	import_done(&o, &report);
}

static void
test_object(void **state)
{
	static const char text[] =
		"{\"sessionId\":\"s\",\"projectHash\":\"h\",\"summary\":\"T\",\"messages\":[\n"
		"{\"id\":\"a\",\"type\":\"user\",\"content\":\"1\",\"displayContent\":\"1\"},\n"
		"{\"id\":\"b\",\"type\":\"gemini\",\"content\":[{\"text\":\"x\",\"thought\":true},"
		"{\"inlineData\":{\"mimeType\":\"image/png\",\"data\":\"AA==\"}},{\"new\":1}]}]}";
	rt_outlines o;
	rt_report report;

	(void)state;
	import_text(&rt_format_gemini_cli, text, &o, &report);
	assert_true(rt_str_is(o.items[0].name, "T"));
	assert_nodes(&o.items[0],
		     "-1 user 1 | 0 assistant [{\"type\":\"thinking\",\"thinking\":\"x\"},"
		     "{\"type\":\"image\",\"mimeType\":\"image/png\",\"data\":\"AA==\"},"
		     "{\"type\":\"part\",\"new\":1}]");
	assert_field(&o.items[0], 0, "gemini-cli",
		     "{\"id\":\"a\",\"type\":\"user\",\"displayContent\":\"1\"}");
	import_done(&o, &report);
}

static void
test_ai_studio(void **state)
{
	static const char text[] =
		"{\"displayName\":\"T\",\"id\":\"p\",\"runSettings\":{\"model\":\"models/g\","
		"\"temperature\":1},\"systemInstruction\":{\"text\":\"Be brief.\"},\"chunkedPrompt\":{"
		"\"chunks\":[{\"role\":\"user\",\"text\":\"2+2?\",\"tokenCount\":3},"
		"{\"role\":\"user\",\"driveDocument\":{\"id\":\"d\"}},"
		"{\"role\":\"model\",\"text\":\"hm\",\"isThought\":true},"
		"{\"role\":\"model\",\"executableCode\":{\"language\":\"PYTHON\",\"code\":\"2+2\"}},"
		"{\"role\":\"model\",\"codeExecutionResult\":{\"outcome\":\"OUTCOME_OK\",\"output\":\"4\"}},"
		"7,{\"role\":\"model\",\"text\":\"whole\",\"parts\":[{\"text\":\"4\"},{\"text\":\".\"}]}],"
		"\"pendingInputs\":[{\"text\":\"draft\",\"role\":\"user\"}]}}";
	rt_outlines o;
	rt_report report;

	(void)state;
	import_text(&rt_format_ai_studio, text, &o, &report);
	assert_true(rt_str_is(o.items[0].name, "T"));
	assert_nodes(&o.items[0],
		     "-1 user 2+2? | 0 user [{\"type\":\"file\",\"id\":\"d\"}] | "
		     "1 assistant [{\"type\":\"thinking\",\"thinking\":\"hm\"}] | "
		     "2 assistant [{\"type\":\"toolCall\",\"id\":\"code_execution\","
		     "\"name\":\"code_execution\",\"arguments\":{\"language\":\"PYTHON\",\"code\":\"2+2\"}}]"
		     " | 3 assistant [{\"type\":\"tool_result\",\"tool_use_id\":\"code_execution\","
		     "\"content\":\"4\"}] | 4 assistant [{\"type\":\"text\",\"text\":\"4\"},"
		     "{\"type\":\"text\",\"text\":\".\"}]");
	assert_field(&o.items[0], 0, "ai-studio", "{\"role\":\"user\",\"tokenCount\":3}");
	assert_field(&o.items[0], 0, "model", "none");
	assert_field(&o.items[0], 2, "model", "\"models/g\"");
	assert_disc_field(&o.items[0], "ai-studio.pendingInputs",
			  "[{\"text\":\"draft\",\"role\":\"user\"}]");
	assert_disc_field(&o.items[0], "ai-studio.systemInstruction", "{\"text\":\"Be brief.\"}");
	assert_int_equal(report.skipped, 1);
	import_done(&o, &report);
}

/* Checkpoints of Gemini CLI, and an older prompt of AI Studio: contents of the API. */
static void
test_contents(void **state)
{
#define SAID "[{\"role\":\"user\",\"parts\":[{\"text\":\"q\"}]}," \
	     "{\"role\":\"model\",\"parts\":[{\"text\":\"a\"},{\"functionCall\":{\"name\":\"f\",\"args\":{}}}]}]"
	static const struct {
		const rt_format *format;
		const char *text;
	} files[] = {{&rt_format_gemini_cli, SAID},
		     {&rt_format_gemini_cli, "{\"history\":" SAID ",\"authType\":\"x\"}"},
		     {&rt_format_ai_studio, "{\"runSettings\":{},\"history\":" SAID "}"}};
	rt_outlines o;
	rt_report report;

	(void)state;
	assert_ptr_equal(rt_format_sniff(RT_STR("{\"messages\":[{\"content\":\"q\",\"timestamp\":\"\","
						"\"type\":\"user\"},{\"content\":\"cut")),
			 &rt_format_gemini_cli);
	for (size_t i = 0; i < 3; i++) {
		import_text(files[i].format, files[i].text, &o, &report);
		assert_int_equal(o.count, 1);
		assert_nodes(&o.items[0], "-1 user q | 0 assistant [{\"type\":\"text\",\"text\":\"a\"},"
					  "{\"type\":\"toolCall\",\"id\":\"f\",\"name\":\"f\",\"arguments\":{}}]");
		import_done(&o, &report);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_lines), cmocka_unit_test(test_replaced_list),
		cmocka_unit_test(test_object), cmocka_unit_test(test_ai_studio),
		cmocka_unit_test(test_contents)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
