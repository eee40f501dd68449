/* SPDX-License-Identifier: MIT */
#include "importers/importer_testing.h"

#define AT(id, parent) \
	"\"uuid\":\"" id "\",\"parentUuid\":" parent ",\"sessionId\":\"s1\"," \
	"\"timestamp\":\"2025-01-01T00:00:00.000Z\""
#define SAID(id, parent, text) \
	"{\"type\":\"user\"," AT(id, parent) ",\"message\":{\"role\":\"user\",\"content\":\"" text \
	"\"}}\n"
#define REPLY(id, parent, message, tokens, block) \
	"{\"type\":\"assistant\"," AT(id, parent) ",\"message\":{\"id\":\"" message \
	"\",\"role\":\"assistant\",\"model\":\"m\",\"usage\":{\"output_tokens\":" tokens \
	"},\"content\":[" block "]}}\n"
#define CALL(id) "{\"type\":\"tool_use\",\"id\":\"" id "\",\"name\":\"ls\",\"input\":{}}"
#define RESULT(id, parent, call, text) \
	"{\"type\":\"user\"," AT(id, parent) ",\"toolUseResult\":1,\"message\":{\"role\":\"user\"," \
	"\"content\":[{\"type\":\"tool_result\",\"tool_use_id\":\"" call "\",\"content\":\"" text \
	"\"}]}}\n"
#define NOTE(id, parent) "{\"type\":\"progress\"," AT(id, parent) "}\n"
#define TEXT(text) "{\"type\":\"text\",\"text\":\"" text "\"}"

/* A reply of three records with two calls; their results hang off different records, progress off
 * anything; the prompt is edited after that. */
static void
test_forks(void **state)
{
	static const char text[] =
		SAID("u1", "null", "List")
		REPLY("a1", "\"u1\"", "m1", "1",
		      "{\"type\":\"thinking\",\"thinking\":\"Hm\",\"signature\":\"S\"}")
		REPLY("a2", "\"a1\"", "m1", "2", CALL("c1")) REPLY("a3", "\"a2\"", "m1", "3", CALL("c2"))
		NOTE("p1", "\"a2\"") RESULT("r1", "\"a2\"", "c1", "one") RESULT("r2", "\"a3\"", "c2", "two")
		REPLY("a4", "\"r2\"", "m2", "4", TEXT("Done")) NOTE("p2", "\"u1\"")
		SAID("u2", "\"a4\"", "Old") SAID("u3", "\"a4\"", "New")
		"{\"type\":\"custom-title\",\"customTitle\":\"Listing\",\"sessionId\":\"s1\"}\n"
		"{\"type\":\"ai-title\",\"aiTitle\":\"Other\",\"sessionId\":\"s1\"}\n"
		SAID("u1", "null", "Again") "{\"type\":\"user\",\"uuid\":";
	rt_outlines o;
	rt_report report;

	(void)state;
	import_text(&rt_format_claude_code, text, &o, &report);
	assert_int_equal(o.count, 1);
	assert_true(rt_str_is(o.items[0].name, "Listing"));
	assert_true(rt_str_is(o.items[0].source, "claude-code:s1"));
	assert_nodes(&o.items[0],
		     "-1 user List | "
		     "0 assistant [{\"type\":\"thinking\",\"thinking\":\"Hm\",\"signature\":\"S\"},"
		     "{\"type\":\"toolCall\",\"id\":\"c1\",\"name\":\"ls\",\"arguments\":{}},"
		     "{\"type\":\"toolCall\",\"id\":\"c2\",\"name\":\"ls\",\"arguments\":{}}] | "
		     "1 custom  | 2 tool one | 3 tool two | 4 assistant Done | 5 custom  | "
		     "6 user Old | 6 user New");
	assert_int_equal(o.items[0].head, 8);
	assert_field(&o.items[0], 1, "model", "\"m\"");
	assert_field(&o.items[0], 1, "usage", "{\"output_tokens\":3}");
	assert_field(&o.items[0], 1, "claude-code.blocks", "[1,1,1]");
	assert_field(&o.items[0], 4, "tool_call_id", "\"c2\"");
	assert_field(&o.items[0], 4, "claude-code",
		     "{\"type\":\"user\",\"uuid\":\"r2\",\"parentUuid\":\"a3\",\"sessionId\":\"s1\","
		     "\"timestamp\":\"2025-01-01T00:00:00.000Z\",\"toolUseResult\":1,"
		     "\"message\":{\"role\":\"user\",\"content\":[]}}");
	assert_int_equal(report.skipped, 2); /* the second u1 and the cut line */
	import_done(&o, &report);
}

/* A session that was compacted, commands of the user, a subagent, an error. */
static void
test_kinds(void **state)
{
	static const char text[] =
		SAID("u0", "null", "<command-name>/clear</command-name>") SAID("u1", "\"u0\"", "Go")
		"{\"type\":\"system\",\"subtype\":\"compact_boundary\",\"uuid\":\"b\","
		"\"parentUuid\":null,\"logicalParentUuid\":\"u1\"}\n"
		"{\"type\":\"user\"," AT("k", "\"b\"") ",\"isCompactSummary\":true,"
		"\"message\":{\"role\":\"user\",\"content\":\"So far.\"}}\n"
		"{\"type\":\"assistant\"," AT("e", "\"k\"") ",\"isApiErrorMessage\":true,"
		"\"message\":{\"content\":[" TEXT("Overloaded") "]}}\n"
		"{\"type\":\"user\"," AT("x", "null") ",\"isSidechain\":true,"
		"\"message\":{\"content\":\"Search\"}}\n";
	rt_outlines o;
	rt_report report;

	(void)state;
	import_text(&rt_format_claude_code, text, &o, &report);
	assert_true(rt_str_is(o.items[0].name, "Go"));
	assert_nodes(&o.items[0], "-1 user <command-name>/clear</command-name> | 0 user Go | 1 custom  | "
				  "2 user So far. | 3 assistant Overloaded | -1 user Search");
	assert_field(&o.items[0], 0, "display", "false");
	assert_true(rt_str_is(o.items[0].nodes[3].kind, "compaction"));
	assert_true(o.items[0].nodes[4].muted);
	assert_int_equal(o.items[0].head, 4);
	import_done(&o, &report);
}

/* Technical records whose parents are missing, before and after the conversation. */
static void
test_strays(void **state)
{
	static const char text[] =
		NOTE("p", "\"gone\"") SAID("u", "null", "A") NOTE("q", "\"lost\"") NOTE("r", "\"q\"")
		NOTE("w", "\"missing\"") SAID("v", "\"w\"", "B");
	rt_outlines o;
	rt_report report;

	(void)state;
	import_text(&rt_format_claude_code, text, &o, &report);
	assert_nodes(&o.items[0], "-1 custom  | 0 user A | -1 custom  | 2 user B | 3 custom  | 4 custom ");
	assert_int_equal(o.items[0].head, 3);
	import_done(&o, &report);
}

/* Files in which no record names a parent, with and without ids. */
static void
test_lines(void **state)
{
	static const char text[] =
		"{\"loglines\":[{\"type\":\"user\",\"message\":{\"content\":\"A\"}},"
		"{\"type\":\"assistant\",\"message\":{\"content\":[" TEXT("B") "]}},"
		"{\"type\":\"user\",\"message\":{\"content\":\"C\"}},7]}";
	static const char agent[] =
		"{\"type\":\"user\",\"uuid\":\"1\",\"sessionId\":\"s\",\"agentId\":\"g\","
		"\"isSidechain\":true,\"message\":{\"content\":\"A\"}}\n"
		"{\"type\":\"summary\",\"summary\":\"T\",\"leafUuid\":\"z\"}\n"
		"{\"type\":\"assistant\",\"uuid\":\"2\",\"sessionId\":\"s\",\"message\":{\"content\":\"B\"}}";
	rt_outlines o;
	rt_report report;
	rt_error err;

	(void)state;
	import_text(&rt_format_claude_code, text, &o, &report);
	assert_nodes(&o.items[0], "-1 user A | 0 assistant B | 1 user C");
	assert_int_equal(report.skipped, 1);
	import_done(&o, &report);
	import_text(&rt_format_claude_code, agent, &o, &report);
	assert_nodes(&o.items[0], "-1 user A | 0 assistant B");
	assert_true(rt_str_is(o.items[0].source, "claude-code:s/g"));
	assert_true(rt_str_is(o.items[0].name, "T"));
	assert_disc_field(&o.items[0], "claude-code.records",
			  "[{\"type\":\"summary\",\"summary\":\"T\",\"leafUuid\":\"z\"}]");
	import_done(&o, &report);
	assert_int_equal(rt_format_claude_code.read(rt_alloc_libc(), RT_STR("{\"a\":1}"), &o, NULL, &err),
			 RT_USAGE);
	assert_null(rt_format_sniff(RT_STR("{\"type\":\"user\",\"message\":{\"content\":\"A\"}}")));
	/* Qwen Code */
	assert_null(rt_format_sniff(RT_STR("{\"uuid\":\"a\",\"parentUuid\":null,\"sessionId\":\"s\","
					   "\"type\":\"user\",\"message\":{\"role\":\"user\","
					   "\"parts\":[{\"text\":\"A\"}]}}")));
	import_text(&rt_format_claude_code,
		    "{\"type\":\"user\",\"timestamp\":\"2024-01-01T10:00:00Z\",\"message\":{\"content\":"
		    "\"A\"}}\n{\"type\":\"assistant\",\"timestamp\":\"2024-01-01T10:00:05Z\","
		    "\"message\":{\"content\":[" TEXT("B") "]}}\n",
		    &o, &report);
	assert_nodes(&o.items[0], "-1 user A | 0 assistant B");
	import_done(&o, &report);
}

/* Records with invalid Unicode are kept as they were, and not joined. */
static void
test_repaired(void **state)
{
	static const char text[] =
		SAID("u", "null", "A") REPLY("a", "\"u\"", "m", "1", TEXT("x\xFF"))
		REPLY("b", "\"a\"", "m", "2", TEXT("y"))
		"{\"type\":\"last-prompt\",\"sessionId\":\"s1\",\"lastPrompt\":\"\\ud83d\"}";
	rt_outlines o;
	rt_report report;

	(void)state;
	import_text(&rt_format_claude_code, text, &o, &report);
	assert_nodes(&o.items[0], "-1 user A | 0 assistant x\xEF\xBF\xBD | 1 assistant y");
	assert_field(&o.items[0], 1, "import_raw", "{\"base64\":\""
		     "eyJ0eXBlIjoiYXNzaXN0YW50IiwidXVpZCI6ImEiLCJwYXJlbnRVdWlkIjoidSIsInNlc3"
		     "Npb25JZCI6InMxIiwidGltZXN0YW1wIjoiMjAyNS0wMS0wMVQwMDowMDowMC4wMDBaIiwi"
		     "bWVzc2FnZSI6eyJpZCI6Im0iLCJyb2xlIjoiYXNzaXN0YW50IiwibW9kZWwiOiJtIiwidX"
		     "NhZ2UiOnsib3V0cHV0X3Rva2VucyI6MX0sImNvbnRlbnQiOlt7InR5cGUiOiJ0ZXh0Iiwi"
		     "dGV4dCI6Inj/In1dfX0="
		     "\"}");
	assert_field(&o.items[0], 2, "import_raw", "none");
	assert_disc_field(&o.items[0], "claude-code.records",
			  "[{\"import_raw\":\"{\\\"type\\\":\\\"last-prompt\\\",\\\"sessionId\\\":"
			  "\\\"s1\\\",\\\"lastPrompt\\\":\\\"\\\\ud83d\\\"}\"}]");
	assert_int_equal(report.repaired, 2);
	import_done(&o, &report);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_forks), cmocka_unit_test(test_kinds),
					   cmocka_unit_test(test_lines), cmocka_unit_test(test_strays), cmocka_unit_test(test_repaired)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
