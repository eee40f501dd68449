/* SPDX-License-Identifier: MIT
 *
 * Contexts of discussions imported from pi: its records are sent with the meaning that they have
 * there. */
#include "chat/context_testing.h"
#include "ops/import.h"

static void
import_records(bare *f, const char *const *lines, const char *const *roles,
	       const char *const *kinds, size_t count)
{
	rt_outline outline;
	rt_outlines outlines;
	rt_import_result result;
	rt_error err = {0};
	rt_node *nodes = test_calloc(count, sizeof(*nodes));
	static char ids[32][24];

	memset(&outline, 0, sizeof(outline));
	for (size_t i = 0; i < count; i++) {
		snprintf(ids[i], sizeof(ids[i]), "p%zu", i);
		nodes[i].id = rt_str_of(ids[i]);
		nodes[i].parent = (int64_t)i - 1;
		nodes[i].role = rt_str_of(roles[i]);
		nodes[i].kind = rt_str_of(kinds[i]);
		nodes[i].body_format = RT_BODY_PI;
		nodes[i].body = rt_str_of(lines[i]);
	}
	outline.name = RT_STR("session");
	outline.source = RT_STR("pi:test");
	outline.nodes = nodes;
	outline.node_count = count;
	rt_outlines_init(&outlines);
	outlines.items = &outline;
	outlines.count = 1;
	if (rt_engine_import(f->engine, &outlines, RT_STR(""), false, &result, &err) != RT_OK)
		fail_msg("%s", err.text);
	bare_apply(f, "{\"op\":\"discussion.switch\",\"discussion\":\"session\"}");
	rt_outlines_deinit(&outlines);
	test_free(nodes);
}

static void
records_of_pi(void **state)
{
	static const char *const lines[] = {
		"{\"type\":\"message\",\"id\":\"p0\",\"message\":{\"role\":\"system\",\"content\":\"old rules\"}}",
		"{\"type\":\"message\",\"id\":\"p1\",\"message\":{\"role\":\"user\",\"content\":\"first\"}}",
		"{\"type\":\"message\",\"id\":\"p2\",\"message\":{\"role\":\"system\",\"content\":\"kept rules\"}}",
		"{\"type\":\"message\",\"id\":\"p3\",\"message\":{\"role\":\"user\",\"content\":[{\"type\":\"text\",\"text\":\"second\"}]}}",
		"{\"type\":\"message\",\"id\":\"p4\",\"message\":{\"role\":\"assistant\",\"content\":[{\"type\":\"thinking\",\"thinking\":\"hm\"},"
		"{\"type\":\"toolCall\",\"id\":\"t\",\"name\":\"ls\",\"arguments\":{}}]}}",
		"{\"type\":\"message\",\"id\":\"p5\",\"message\":{\"role\":\"toolResult\",\"toolCallId\":\"t\",\"toolName\":\"ls\",\"content\":[{\"type\":\"text\",\"text\":\"a b\"}],\"isError\":false}}",
		"{\"type\":\"compaction\",\"id\":\"p6\",\"summary\":\"SUM\",\"firstKeptEntryId\":\"p2\",\"systemMessage\":{\"role\":\"system\",\"content\":\"rules then\",\"sections\":{\"a\":\"more\",\"b\":null}}}",
		"{\"type\":\"message\",\"id\":\"p7\",\"message\":{\"role\":\"bashExecution\",\"command\":\"ls\",\"output\":\"x\",\"exitCode\":2,\"cancelled\":false,\"truncated\":true,\"fullOutputPath\":\"/tmp/o\"}}",
		"{\"type\":\"message\",\"id\":\"p8\",\"message\":{\"role\":\"bashExecution\",\"command\":\"id\",\"output\":\"\",\"cancelled\":true,\"truncated\":false}}",
		"{\"type\":\"message\",\"id\":\"p9\",\"message\":{\"role\":\"bashExecution\",\"command\":\"no\",\"output\":\"\",\"excludeFromContext\":true}}",
		"{\"type\":\"custom_message\",\"id\":\"p10\",\"customType\":\"c\",\"content\":\"hooked\",\"display\":false}",
		"{\"type\":\"model_change\",\"id\":\"p11\",\"provider\":\"p\",\"modelId\":\"m\"}",
		"{\"type\":\"context_edit\",\"id\":\"p12\",\"targetId\":\"p3\",\"replacement\":{\"content\":\"second, edited\"}}",
		"{\"type\":\"context_edit\",\"id\":\"p13\",\"targetId\":\"p10\",\"replacement\":null}",
	};
	static const char *const roles[] = {"system", "user", "system", "user", "assistant", "toolResult", "",
					    "bashExecution", "bashExecution", "bashExecution", "custom", "", "", ""};
	static const char *const kinds[] = {"", "", "", "", "", "", "compaction", "", "", "",
					    "custom_message", "model_change", "context_edit", "context_edit"};
	bare *f = *state;

	import_records(f, lines, roles, kinds, sizeof(lines) / sizeof(lines[0]));
	assert_string_equal(
		context(f, "anthropic"),
		"{\"max_tokens\":8192,\"system\":\"rules then\\n\\nmore\",\"messages\":["
		"{\"role\":\"user\",\"content\":[{\"type\":\"text\",\"text\":\"The conversation history before "
		"this point was compacted into the following summary:\\n\\n<summary>\\nSUM\\n</summary>\"},"
		"{\"type\":\"text\",\"text\":\"second, edited\"}]},"
		"{\"role\":\"assistant\",\"content\":[{\"type\":\"tool_use\",\"id\":\"t\",\"name\":\"ls\",\"input\":{}}]},"
		"{\"role\":\"user\",\"content\":[{\"type\":\"tool_result\",\"tool_use_id\":\"t\",\"content\":\"a b\"},"
		"{\"type\":\"text\",\"text\":\"Ran `ls`\\n```\\nx\\n```\\n\\nCommand exited with code 2\\n\\n"
		"[Output truncated. Full output: /tmp/o]\"},"
		"{\"type\":\"text\",\"text\":\"Ran `id`\\n(no output)\\n\\n(command cancelled)\"}]}]}");
	/* an edited record keeps its meaning */
	bare_apply(f, "{\"op\":\"entry.edit\",\"entry\":\"p6\",\"content\":\"a better sum\"}");
	bare_apply(f, "{\"op\":\"entry.edit\",\"entry\":\"p5\",\"content\":\"c d\"}");
	assert_non_null(strstr(context(f, "anthropic"), "a better sum"));
	assert_null(strstr(f->out.ptr, "first"));
	assert_non_null(strstr(f->out.ptr, "\"tool_use_id\":\"t\",\"content\":\"c d\""));
}

static void
thinking_in_records_of_pi(void **state)
{
	static const char *const lines[] = {
		"{\"type\":\"message\",\"id\":\"p0\",\"message\":{\"role\":\"user\",\"content\":\"why?\"}}",
		"{\"type\":\"message\",\"id\":\"p1\",\"message\":{\"role\":\"assistant\",\"provider\":\"anthropic\",\"content\":["
		"{\"type\":\"thinking\",\"thinking\":\"hm\",\"thinkingSignature\":\"s\"},"
		"{\"type\":\"thinking\",\"thinking\":\"\",\"thinkingSignature\":\"d\",\"redacted\":true},"
		"{\"type\":\"text\",\"text\":\"One.\"}]}}",
		"{\"type\":\"message\",\"id\":\"p2\",\"message\":{\"role\":\"user\",\"content\":\"and?\"}}",
		"{\"type\":\"message\",\"id\":\"p3\",\"message\":{\"role\":\"assistant\",\"provider\":\"google\",\"content\":["
		"{\"type\":\"thinking\",\"thinking\":\"so\",\"thinkingSignature\":\"t\"},"
		"{\"type\":\"toolCall\",\"id\":\"c\",\"name\":\"ls\",\"arguments\":{},\"thoughtSignature\":\"g\"}]}}",
		"{\"type\":\"message\",\"id\":\"p4\",\"message\":{\"role\":\"toolResult\",\"toolCallId\":\"c\",\"toolName\":\"ls\",\"content\":\"x\"}}",
	};
	static const char *const roles[] = {"user", "assistant", "user", "assistant", "toolResult"};
	static const char *const kinds[] = {"", "", "", "", ""};
	bare *f = *state;

	import_records(f, lines, roles, kinds, 5);
	assert_non_null(strstr(context(f, "anthropic"),
			       "{\"type\":\"thinking\",\"thinking\":\"hm\",\"signature\":\"s\"},"
			       "{\"type\":\"redacted_thinking\",\"data\":\"d\"},"
			       "{\"type\":\"text\",\"text\":\"One.\"}"));
	assert_null(strstr(f->out.ptr, "\"so\""));
	assert_non_null(strstr(context(f, "gemini"), "\"args\":{}},\"thoughtSignature\":\"g\"}"));
	assert_null(strstr(f->out.ptr, "hm"));
	bare_apply(f, "{\"op\":\"entry.edit\",\"entry\":\"p1\",\"content\":\"Two.\",\"keep_blocks\":true}");
	assert_null(strstr(context(f, "anthropic"), "hm"));
	assert_non_null(strstr(f->out.ptr, "Two."));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		WITH(records_of_pi),
		WITH(thinking_in_records_of_pi),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
