/* SPDX-License-Identifier: MIT
 *
 * Contexts: which entries are sent, in which order, and in which form. */
#include "chat/context_testing.h"
#include "chat/reply.h"

/* ---- prompts and settings ---- */

static void
an_empty_take(void **state)
{
	bare *f = *state;

	assert_string_equal(context(f, "openai"), "{\"messages\":[]}");
	assert_string_equal(context(f, "ollama"), "{\"messages\":[]}");
	assert_string_equal(context(f, "anthropic"), "{\"max_tokens\":8192,\"messages\":[]}");
	assert_string_equal(context(f, "gemini"), "{\"contents\":[]}");
}

static void
settings_have_each_providers_names(void **state)
{
	bare *f = *state;

	bare_add(f, "a", "User", "Hi");
	bare_apply(f, "{\"op\":\"setting.set\",\"key\":\"model\",\"value\":\"m-1\"}");
	bare_apply(f, "{\"op\":\"setting.set\",\"key\":\"temperature\",\"value\":0.70}");
	bare_apply(f, "{\"op\":\"setting.set\",\"key\":\"top_p\",\"value\":0.9}");
	bare_apply(f, "{\"op\":\"setting.set\",\"key\":\"max_tokens\",\"value\":100}");
	bare_apply(f, "{\"op\":\"setting.set\",\"key\":\"project_system_prompt\",\"value\":\"P\"}");
	bare_apply(f, "{\"op\":\"setting.set\",\"key\":\"global_system_prompt\",\"value\":\"G\"}");
	assert_string_equal(context(f, "openai"),
			    "{\"model\":\"m-1\",\"messages\":[{\"role\":\"system\",\"content\":\"G\\n\\nP\"},"
			    "{\"role\":\"user\",\"content\":\"Hi\"}],\"temperature\":0.70,\"top_p\":0.9,"
			    "\"max_tokens\":100}");
	assert_string_equal(context(f, "anthropic"),
			    "{\"model\":\"m-1\",\"max_tokens\":100,\"system\":\"G\\n\\nP\",\"messages\":["
			    "{\"role\":\"user\",\"content\":\"Hi\"}],\"temperature\":0.70,\"top_p\":0.9}");
	assert_string_equal(context(f, "ollama"),
			    "{\"model\":\"m-1\",\"messages\":[{\"role\":\"system\",\"content\":\"G\\n\\nP\"},"
			    "{\"role\":\"user\",\"content\":\"Hi\"}],\"options\":{\"temperature\":0.70,"
			    "\"top_p\":0.9,\"num_predict\":100}}");
	assert_string_equal(context(f, "gemini"),
			    "{\"systemInstruction\":{\"parts\":[{\"text\":\"G\\n\\nP\"}]},\"contents\":["
			    "{\"role\":\"user\",\"parts\":[{\"text\":\"Hi\"}]}],\"generationConfig\":{"
			    "\"temperature\":0.70,\"topP\":0.9,\"maxOutputTokens\":100}}");
	/* invalid values are ignored */
	bare_apply(f, "{\"op\":\"setting.set\",\"key\":\"temperature\",\"value\":\"hot\"}");
	bare_apply(f, "{\"op\":\"setting.set\",\"key\":\"model\",\"value\":{\"x\":1}}");
	assert_null(strstr(context(f, "openai"), "hot"));
	assert_null(strstr(context(f, "openai"), "model"));
}

static void
the_base_prompt_can_be_ones_own(void **state)
{
	bare *f = *state;

	bare_apply(f, "{\"op\":\"setting.set\",\"key\":\"base_system_prompt\",\"value\":\"B\"}");
	assert_string_equal(messages(f), "system: B\n");
	bare_apply(f, "{\"op\":\"setting.set\",\"key\":\"use_default_base_prompt\",\"value\":true}");
	assert_string_equal(messages(f), "system: B\n"); /* as if it were not set */
	bare_apply(f, "{\"op\":\"setting.set\",\"key\":\"use_default_base_prompt\",\"value\":false}");
	assert_string_equal(messages(f), "system: B\n");
	bare_apply(f, "{\"op\":\"setting.set\",\"key\":\"global_system_prompt\",\"value\":\"G\"}");
	assert_string_equal(messages(f), "system: B\n\nG\n");
}

/* Without a user's prompt, a working prompt is explained; unset means the same as true. */
static void
the_default_base_prompt_explains_the_working_prompt(void **state)
{
	bare *f = *state;
	static const char *const values[] = {"true", "null", "false"};
	char line[100];

	assert_string_equal(messages(f), "");
	bare_apply(f, "{\"op\":\"prompt.update\",\"text\":\"a cat\"}");
	assert_non_null(strstr(messages(f), "system: You and the user are writing a prompt together."));
	for (size_t i = 0; i < 3; i++) {
		snprintf(line, sizeof(line), "{\"op\":\"setting.set\",\"key\":"
			 "\"use_default_base_prompt\",\"value\":%s}", values[i]);
		bare_apply(f, line);
		assert_int_equal(strstr(messages(f), "You and the user") != NULL, i < 2);
	}
	bare_apply(f, "{\"op\":\"setting.set\",\"key\":\"use_default_base_prompt\",\"value\":true}");
	bare_apply(f, "{\"op\":\"setting.set\",\"key\":\"project_system_prompt\",\"value\":\"P\"}");
	assert_null(strstr(messages(f), "You and the user"));
}

/* The example of seed 3, step by step. */
static void
the_working_prompt(void **state)
{
	bare *f = *state;

	bare_apply(f, "{\"op\":\"setting.set\",\"key\":\"project_system_prompt\",\"value\":\"You help.\"}");
	bare_apply(f, "{\"op\":\"entry.append\",\"role\":\"user\",\"content\":\"I want a cat\"}");
	bare_apply(f, "{\"op\":\"entry.append\",\"role\":\"assistant\",\"content\":\"Prompt: a cat\",\"prompt\":\"a cat\"}");
	bare_apply(f, "{\"op\":\"prompt.update\",\"text\":\"a sparkly cat\"}");
	bare_apply(f, "{\"op\":\"prompt.notify\"}");
	bare_apply(f, "{\"op\":\"prompt.notify\"}");
	bare_apply(f, "{\"op\":\"entry.append\",\"role\":\"user\",\"content\":\"Now purple\"}");
	assert_string_equal(messages(f), "system: You help.\n"
					 "user: I want a cat\n"
					 "assistant: Prompt: a cat\n"
					 "system: [user edited prompt to: \"a sparkly cat\"]\n"
					 "user: Now purple\n"
					 "system: [current prompt: \"a sparkly cat\"]\n");
	assert_non_null(strstr(context(f, "anthropic"),
			       "{\"role\":\"user\",\"content\":["
			       "{\"type\":\"text\",\"text\":\"[System]: [user edited prompt to: \\\"a sparkly "
			       "cat\\\"]\"},{\"type\":\"text\",\"text\":\"Now purple\"},"
			       "{\"type\":\"text\",\"text\":\"[System]: [current prompt: \\\"a sparkly "
			       "cat\\\"]\"}]}"));
	bare_apply(f, "{\"op\":\"take.clear\",\"all\":true}");
	assert_string_equal(messages(f), "system: You help.\n");
}

/* ---- entries ---- */

/* Anthropic refuses a text of blanks only, and blanks after the model's last words. */
static void
blanks_that_anthropic_refuses(void **state)
{
	bare *f = *state;
	rt_context_options options = {.stream = false};
	rt_buf trimmed;

	rt_buf_init(&trimmed, rt_alloc_libc(), RT_BUF_UNLIMITED);
	options.trimmed = &trimmed;
	bare_apply(f, "{\"op\":\"setting.set\",\"key\":\"global_system_prompt\",\"value\":\" \\n\"}");
	bare_add(f, "a", "User", "   ");
	assert_string_equal(context(f, "anthropic"), "{\"max_tokens\":8192,\"messages\":[]}");
	assert_non_null(strstr(context(f, "openai"), "{\"role\":\"user\",\"content\":\"   \"}"));
	bare_add(f, "b", "User", "hi ");
	bare_apply(f,
	      "{\"op\":\"entry.append\",\"id\":\"c\",\"role\":\"AI\",\"content\":["
	      "{\"type\":\"text\",\"text\":\"So \"},{\"type\":\"text\",\"text\":\" \\u3000\\n\"},"
	      "{\"type\":\"text\",\"text\":\"the answer is\\u00a0\\n \\u2003\"}]}");
	assert_string_equal(
		request(f, "anthropic", &options),
		"{\"max_tokens\":8192,\"messages\":[{\"role\":\"user\",\"content\":\"hi \"},"
		"{\"role\":\"assistant\",\"content\":[{\"type\":\"text\",\"text\":\"So \"},"
		"{\"type\":\"text\",\"text\":\"the answer is\"}]}]}");
	assert_string_equal(trimmed.ptr, "\xC2\xA0\n \xE2\x80\x83");
	assert_non_null(strstr(context(f, "openai"), "the answer is\xC2\xA0\\n"));
	bare_add(f, "d", "AI", "Well ");
	assert_non_null(strstr(context(f, "anthropic"), "\"text\":\"Well\"}]}]}"));
	/* the model's message is not the last any more */
	bare_add(f, "e", "User", "go on ");
	rt_buf_clear(&trimmed);
	assert_non_null(strstr(request(f, "anthropic", &options),
			       "\"text\":\"Well \"}]},"
			       "{\"role\":\"user\",\"content\":\"go on \"}]}"));
	assert_int_equal(trimmed.size, 0);
	rt_buf_deinit(&trimmed);
}

static void
one_text_that_ends_with_a_blank(void **state)
{
	bare *f = *state;

	bare_add(f, "a", "User", "hi");
	bare_add(f, "b", "AI", "The answer is ");
	assert_string_equal(
		context(f, "anthropic"),
		"{\"max_tokens\":8192,\"messages\":[{\"role\":\"user\",\"content\":\"hi\"},"
		"{\"role\":\"assistant\",\"content\":\"The answer is\"}]}");
	assert_non_null(strstr(context(f, "gemini"), "The answer is \""));
	/* it ends with a call, not with the text before it */
	bare_apply(f, "{\"op\":\"entry.append\",\"id\":\"c\",\"role\":\"AI\",\"content\":["
		 "{\"type\":\"text\",\"text\":\"I look \"},{\"type\":\"toolCall\",\"id\":\"c1\","
		 "\"name\":\"read\",\"arguments\":{}}]}");
	bare_add(f, "d", "AI", "  ");
	assert_non_null(strstr(context(f, "anthropic"), "\"The answer is \""));
}

static void
roles_become_what_providers_know(void **state)
{
	bare *f = *state;

	bare_add(f, "a", "System", "rules");
	bare_add(f, "b", "USER", "hello");
	bare_add(f, "c", "AI", "hi");
	bare_add(f, "d", "Vendor API", "rate limit");
	bare_add(f, "e", "Critic", "meh");
	bare_add(f, "g", "model", "ok");
	bare_add(f, "h", "system", "stop");
	assert_string_equal(messages(f), "system: rules\nuser: hello\nassistant: hi\n"
					 "user: [Vendor API]: rate limit\nuser: [Critic]: meh\n"
					 "assistant: ok\nsystem: stop\n");
	assert_string_equal(context(f, "anthropic"),
			    "{\"max_tokens\":8192,\"system\":\"rules\",\"messages\":["
			    "{\"role\":\"user\",\"content\":\"hello\"},"
			    "{\"role\":\"assistant\",\"content\":\"hi\"},"
			    "{\"role\":\"user\",\"content\":[{\"type\":\"text\",\"text\":\"[Vendor API]: rate "
			    "limit\"},{\"type\":\"text\",\"text\":\"[Critic]: meh\"}]},"
			    "{\"role\":\"assistant\",\"content\":\"ok\"},"
			    "{\"role\":\"user\",\"content\":\"[System]: stop\"}]}");
	assert_string_equal(context(f, "gemini"),
			    "{\"systemInstruction\":{\"parts\":[{\"text\":\"rules\"}]},\"contents\":["
			    "{\"role\":\"user\",\"parts\":[{\"text\":\"hello\"}]},"
			    "{\"role\":\"model\",\"parts\":[{\"text\":\"hi\"}]},"
			    "{\"role\":\"user\",\"parts\":[{\"text\":\"[Vendor API]: rate limit\"},"
			    "{\"text\":\"[Critic]: meh\"}]},"
			    "{\"role\":\"model\",\"parts\":[{\"text\":\"ok\"}]},"
			    "{\"role\":\"user\",\"parts\":[{\"text\":\"[System]: stop\"}]}]}");
	bare_apply(f, "{\"op\":\"setting.set\",\"key\":\"role_map\",\"value\":{\"critic\":\"assistant\","
		 "\"Vendor API\":\"user\",\"model\":\"system\",\"System\":7}}");
	assert_string_equal(messages(f), "system: rules\nuser: hello\nassistant: hi\n"
					 "user: rate limit\nassistant: meh\nsystem: ok\nsystem: stop\n");
}

static void
the_assistant_cannot_be_first_everywhere(void **state)
{
	bare *f = *state;

	bare_add(f, "a", "AI", "Welcome!");
	assert_string_equal(messages(f), "assistant: Welcome!\n");
	assert_string_equal(context(f, "anthropic"),
			    "{\"max_tokens\":8192,\"messages\":[{\"role\":\"user\",\"content\":"
			    "\"[start of the conversation]\"},{\"role\":\"assistant\",\"content\":"
			    "\"Welcome!\"}]}");
}

static void
only_the_path_to_the_head(void **state)
{
	bare *f = *state;

	bare_add(f, "a", "User", "one");
	bare_add(f, "b", "AI", "two");
	bare_add(f, "c", "User", "three");
	bare_add(f, "empty", "AI", "");
	assert_string_equal(messages(f), "user: one\nassistant: two\nuser: three\n");
	bare_apply(f, "{\"op\":\"entry.mute\",\"entry\":\"b\",\"muted\":true}");
	assert_string_equal(messages(f), "user: one\nuser: three\n");
	bare_apply(f, "{\"op\":\"undo\"}");
	bare_apply(f, "{\"op\":\"head.move\",\"entry\":\"b\"}");
	assert_string_equal(messages(f), "user: one\nassistant: two\n");
	bare_apply(f, "{\"op\":\"head.move\",\"entry\":null}");
	assert_string_equal(messages(f), "");
	bare_apply(f, "{\"op\":\"head.move\",\"entry\":\"b\"}");
	bare_apply(f, "{\"op\":\"entry.edit\",\"entry\":\"a\",\"content\":\"edited\"}");
	assert_string_equal(messages(f), "user: edited\nassistant: two\n");
	bare_apply(f, "{\"op\":\"purge\",\"entry\":\"a\"}");
	assert_string_equal(messages(f), "assistant: two\n");
}

static void
kinds_that_are_sent_and_not(void **state)
{
	bare *f = *state;

	bare_apply(f, "{\"op\":\"entry.append\",\"kind\":\"message\",\"content\":\"said\"}");
	bare_apply(f, "{\"op\":\"entry.append\",\"kind\":\"custom\",\"content\":\"state\"}");
	bare_apply(f, "{\"op\":\"entry.append\",\"kind\":\"custom_message\",\"role\":\"hook\",\"content\":\"from a hook\"}");
	bare_apply(f, "{\"op\":\"entry.append\",\"kind\":\"label\",\"content\":\"x\"}");
	bare_apply(f, "{\"op\":\"entry.append\",\"kind\":\"novelty\",\"content\":\"new\"}");
	bare_apply(f, "{\"op\":\"entry.append\",\"role\":\"AI\",\"content\":\"thought about it\",\"thinking_segments\":[{\"content\":\"hm\"}]}");
	bare_apply(f, "{\"op\":\"entry.append\",\"kind\":\"branch_summary\",\"content\":\"we tried\"}");
	bare_apply(f, "{\"op\":\"entry.append\",\"kind\":\"branch_summary\",\"content\":\"\"}");
	assert_string_equal(messages(f),
			    "user: said\nuser: from a hook\nuser: new\nassistant: thought about it\n"
			    "user: The following is a summary of a branch that this conversation came "
			    "back from:\n\n<summary>\nwe tried</summary>\n");
}

static void
compactions_stand_for_what_they_sum_up(void **state)
{
	bare *f = *state;

	bare_add(f, "a", "User", "one");
	bare_add(f, "b", "AI", "two");
	bare_add(f, "c", "User", "three");
	bare_apply(f, "{\"op\":\"entry.append\",\"id\":\"s\",\"kind\":\"compaction\",\"content\":\"SUM\",\"first_kept\":\"c\",\"tokens_before\":9}");
	bare_add(f, "d", "AI", "four");
	assert_string_equal(messages(f),
			    "user: The conversation history before this point was compacted into the "
			    "following summary:\n\n<summary>\nSUM\n</summary>\nuser: three\n"
			    "assistant: four\n");
	bare_apply(f, "{\"op\":\"entry.mute\",\"entry\":\"s\",\"muted\":true}");
	assert_string_equal(messages(f), "user: one\nassistant: two\nuser: three\nassistant: four\n");
	bare_apply(f, "{\"op\":\"entry.append\",\"id\":\"r\",\"kind\":\"compaction\",\"content\":\"RANGE\",\"from\":\"b\",\"to\":\"c\"}");
	assert_string_equal(messages(f),
			    "user: one\nuser: The conversation history before this point was compacted "
			    "into the following summary:\n\n<summary>\nRANGE\n</summary>\n"
			    "assistant: four\n");
	bare_apply(f, "{\"op\":\"head.move\",\"entry\":\"d\"}");
	assert_string_equal(messages(f), "user: one\nassistant: two\nuser: three\nassistant: four\n");
}

static void
blocks_go_where_they_can(void **state)
{
	bare *f = *state;

	bare_apply(f, "{\"op\":\"entry.append\",\"role\":\"User\",\"content\":[{\"type\":\"text\",\"text\":\"see\"},"
		 "{\"type\":\"image\",\"data\":\"QUJD\",\"mimeType\":\"image/png\"}]}");
	assert_string_equal(context(f, "openai"),
			    "{\"messages\":[{\"role\":\"user\",\"content\":[{\"type\":\"text\",\"text\":\"see\"},"
			    "{\"type\":\"image_url\",\"image_url\":{\"url\":\"data:image/png;base64,QUJD\"}}]}]}");
	assert_string_equal(context(f, "anthropic"),
			    "{\"max_tokens\":8192,\"messages\":[{\"role\":\"user\",\"content\":["
			    "{\"type\":\"text\",\"text\":\"see\"},{\"type\":\"image\",\"source\":{\"type\":"
			    "\"base64\",\"media_type\":\"image/png\",\"data\":\"QUJD\"}}]}]}");
	assert_string_equal(context(f, "ollama"),
			    "{\"messages\":[{\"role\":\"user\",\"content\":\"see\",\"images\":[\"QUJD\"]}]}");
	assert_string_equal(context(f, "gemini"),
			    "{\"contents\":[{\"role\":\"user\",\"parts\":[{\"text\":\"see\"},"
			    "{\"inlineData\":{\"mimeType\":\"image/png\",\"data\":\"QUJD\"}}]}]}");
	/* the forms of other programs, and a block that is not an image */
	bare_apply(f, "{\"op\":\"take.clear\"}");
	bare_apply(f, "{\"op\":\"entry.append\",\"role\":\"User\",\"content\":["
		 "{\"type\":\"image_url\",\"image_url\":{\"url\":\"data:image/png;base64,QUJD\"}},"
		 "{\"type\":\"image_url\",\"image_url\":{\"url\":\"https://example.org/a.png\"}},"
		 "{\"type\":\"image\",\"source\":{\"type\":\"base64\",\"media_type\":\"image/gif\",\"data\":\"QQ==\"}},"
		 "{\"type\":\"image\",\"data\":\"\\\"}bad\",\"mimeType\":\"image/png\"},"
		 "{\"type\":\"thinking\",\"thinking\":\"secret thoughts\",\"text\":\"no\"},"
		 "{\"type\":\"audio\",\"x\":1},\"bare\"]}");
	assert_string_equal(context(f, "ollama"),
			    "{\"messages\":[{\"role\":\"user\",\"content\":\"[image]\\n[image]\\nbare\","
			    "\"images\":[\"QUJD\",\"QQ==\"]}]}");
	assert_non_null(strstr(context(f, "openai"), "{\"url\":\"https://example.org/a.png\"}"));
	assert_non_null(strstr(context(f, "anthropic"),
			       "{\"type\":\"url\",\"url\":\"https://example.org/a.png\"}"));
}

static void
tool_calls_go_with_their_results(void **state)
{
	bare *f = *state;

	bare_add(f, "q", "User", "weather?");
	bare_apply(f, "{\"op\":\"entry.append\",\"role\":\"assistant\",\"id\":\"call\",\"content\":[{\"type\":\"text\",\"text\":\"Looking\"},"
		 "{\"type\":\"toolCall\",\"id\":\"t1\",\"name\":\"get\",\"arguments\":{\"city\":\"Bonn\"}}]}");
	bare_apply(f, "{\"op\":\"entry.append\",\"role\":\"tool\",\"id\":\"res\",\"content\":\"sunny\",\"tool_call_id\":\"t1\"}");
	bare_add(f, "z", "AI", "Sun.");
	assert_string_equal(context(f, "openai"),
			    "{\"messages\":[{\"role\":\"user\",\"content\":\"weather?\"},"
			    "{\"role\":\"assistant\",\"content\":\"Looking\",\"tool_calls\":[{\"id\":\"t1\","
			    "\"type\":\"function\",\"function\":{\"name\":\"get\",\"arguments\":"
			    "\"{\\\"city\\\":\\\"Bonn\\\"}\"}}]},"
			    "{\"role\":\"tool\",\"tool_call_id\":\"t1\",\"content\":\"sunny\"},"
			    "{\"role\":\"assistant\",\"content\":\"Sun.\"}]}");
	assert_string_equal(context(f, "anthropic"),
			    "{\"max_tokens\":8192,\"messages\":[{\"role\":\"user\",\"content\":\"weather?\"},"
			    "{\"role\":\"assistant\",\"content\":[{\"type\":\"text\",\"text\":\"Looking\"},"
			    "{\"type\":\"tool_use\",\"id\":\"t1\",\"name\":\"get\",\"input\":{\"city\":\"Bonn\"}}]},"
			    "{\"role\":\"user\",\"content\":[{\"type\":\"tool_result\",\"tool_use_id\":\"t1\","
			    "\"content\":\"sunny\"}]},{\"role\":\"assistant\",\"content\":\"Sun.\"}]}");
	assert_string_equal(context(f, "ollama"),
			    "{\"messages\":[{\"role\":\"user\",\"content\":\"weather?\"},"
			    "{\"role\":\"assistant\",\"content\":\"Looking\",\"tool_calls\":[{\"function\":{"
			    "\"name\":\"get\",\"arguments\":{\"city\":\"Bonn\"}}}]},"
			    "{\"role\":\"tool\",\"tool_name\":\"get\",\"content\":\"sunny\"},"
			    "{\"role\":\"assistant\",\"content\":\"Sun.\"}]}");
	assert_string_equal(context(f, "gemini"),
			    "{\"contents\":[{\"role\":\"user\",\"parts\":[{\"text\":\"weather?\"}]},"
			    "{\"role\":\"model\",\"parts\":[{\"text\":\"Looking\"},{\"functionCall\":{\"name\":"
			    "\"get\",\"args\":{\"city\":\"Bonn\"}}}]},{\"role\":\"user\",\"parts\":["
			    "{\"functionResponse\":{\"name\":\"get\",\"response\":{\"output\":\"sunny\"}}}]},"
			    "{\"role\":\"model\",\"parts\":[{\"text\":\"Sun.\"}]}]}");
	/* one without the other is sent as text */
	bare_apply(f, "{\"op\":\"entry.mute\",\"entry\":\"res\",\"muted\":true}");
	assert_non_null(strstr(context(f, "openai"),
			       "[called get({\\\"city\\\":\\\"Bonn\\\"})]"));
	assert_null(strstr(f->out.ptr, "tool_calls"));
	bare_apply(f, "{\"op\":\"undo\"}");
	bare_apply(f, "{\"op\":\"entry.mute\",\"entry\":\"call\",\"muted\":true}");
	assert_string_equal(messages(f), "user: weather?\nuser: [result of a tool]: sunny\n"
					 "assistant: Sun.\n");
	bare_apply(f, "{\"op\":\"undo\"}");
	bare_apply(f, "{\"op\":\"entry.insert\",\"before\":\"res\",\"role\":\"User\",\"content\":\"wait\"}");
	assert_null(strstr(context(f, "anthropic"), "tool_use"));
}

static void
calls_in_the_forms_of_others(void **state)
{
	bare *f = *state;

	bare_add(f, "q", "User", "go");
	bare_apply(f, "{\"op\":\"entry.append\",\"role\":\"assistant\",\"content\":\"\",\"tool_calls\":["
		 "{\"id\":\"c1\",\"type\":\"function\",\"function\":{\"name\":\"f\",\"arguments\":\"{\\\"a\\\":1}\"}},"
		 "{\"id\":\"c2\",\"type\":\"function\",\"function\":{\"name\":\"g\",\"arguments\":\"oops\"}}]}");
	bare_apply(f, "{\"op\":\"entry.append\",\"role\":\"tool\",\"content\":\"r2\",\"tool_call_id\":\"c2\"}");
	bare_apply(f, "{\"op\":\"entry.append\",\"role\":\"tool\",\"content\":\"\",\"tool_call_id\":\"c1\"}");
	bare_apply(f, "{\"op\":\"entry.append\",\"role\":\"assistant\",\"content\":[{\"type\":\"tool_use\",\"id\":\"c3\",\"name\":\"h\",\"input\":{}}]}");
	bare_apply(f, "{\"op\":\"entry.append\",\"role\":\"user\",\"content\":[{\"type\":\"tool_result\",\"tool_use_id\":\"c3\","
		 "\"is_error\":true,\"content\":[{\"type\":\"text\",\"text\":\"bad\"}]},{\"type\":\"text\",\"text\":\"go on\"}]}");
	assert_string_equal(context(f, "anthropic"),
			    "{\"max_tokens\":8192,\"messages\":[{\"role\":\"user\",\"content\":\"go\"},"
			    "{\"role\":\"assistant\",\"content\":["
			    "{\"type\":\"tool_use\",\"id\":\"c1\",\"name\":\"f\",\"input\":{\"a\":1}},"
			    "{\"type\":\"tool_use\",\"id\":\"c2\",\"name\":\"g\",\"input\":{}}]},"
			    "{\"role\":\"user\",\"content\":["
			    "{\"type\":\"tool_result\",\"tool_use_id\":\"c2\",\"content\":\"r2\"},"
			    "{\"type\":\"tool_result\",\"tool_use_id\":\"c1\",\"content\":\"\"}]},"
			    "{\"role\":\"assistant\",\"content\":[{\"type\":\"tool_use\",\"id\":\"c3\",\"name\":"
			    "\"h\",\"input\":{}}]},{\"role\":\"user\",\"content\":[{\"type\":\"tool_result\","
			    "\"tool_use_id\":\"c3\",\"content\":\"bad\",\"is_error\":true},"
			    "{\"type\":\"text\",\"text\":\"go on\"}]}]}");
	assert_non_null(strstr(context(f, "openai"),
			       "{\"role\":\"assistant\",\"content\":null,\"tool_calls\":[{\"id\":\"c1\""));
	assert_non_null(strstr(f->out.ptr, "{\"role\":\"tool\",\"tool_call_id\":\"c3\",\"content\":\"bad\"},"
					   "{\"role\":\"user\",\"content\":\"go on\"}"));
	assert_non_null(strstr(context(f, "gemini"),
			       "{\"functionResponse\":{\"name\":\"h\",\"response\":{\"error\":\"bad\"}}}"));
}

/* ---- streams, models, signatures ---- */

static void
a_stream_is_asked_for(void **state)
{
	static const rt_context_options options = {.stream = true};
	bare *f = *state;

	assert_string_equal(request(f, "openai", &options),
			    "{\"messages\":[],\"stream\":true,\"stream_options\":{\"include_usage\":true}}");
	assert_string_equal(request(f, "anthropic", &options),
			    "{\"max_tokens\":8192,\"messages\":[],\"stream\":true}");
	assert_string_equal(request(f, "ollama", &options), "{\"messages\":[],\"stream\":true}");
	assert_string_equal(request(f, "gemini", &options), "{\"contents\":[]}");
}

static void
a_model_with_its_provider(void **state)
{
	bare *f = *state;

	bare_apply(f, "{\"op\":\"setting.set\",\"key\":\"model\",\"value\":\"openai/gpt-4o\"}");
	assert_string_equal(context(f, "openai"), "{\"model\":\"gpt-4o\",\"messages\":[]}");
	/* another provider's name is part of the model's: gateways have such names */
	assert_string_equal(context(f, "ollama"), "{\"model\":\"openai/gpt-4o\",\"messages\":[]}");
	bare_apply(f, "{\"op\":\"setting.set\",\"key\":\"model\",\"value\":\"OpenAI/a/b\"}");
	assert_string_equal(context(f, "openai"), "{\"model\":\"a/b\",\"messages\":[]}");
	bare_apply(f, "{\"op\":\"setting.set\",\"key\":\"model\",\"value\":\"openai\"}");
	assert_string_equal(context(f, "openai"), "{\"model\":\"openai\",\"messages\":[]}");
}

/* The reply as an entry, in the form that the engine makes. */
static void
append_reply(bare *f, const char *id, rt_reply *reply)
{
	rt_buf op;

	rt_reply_finish(reply);
	rt_buf_init(&op, rt_alloc_libc(), RT_BUF_UNLIMITED);
	rt_buf_add_f(&op, "{\"op\":\"entry.append\",\"role\":\"AI\",\"id\":\"%s\",\"content\":", id);
	rt_reply_add_content(reply, &op);
	rt_reply_add_fields(reply, &op);
	rt_buf_add_byte(&op, '}');
	bare_apply(f, op.ptr);
	rt_buf_deinit(&op);
	rt_reply_deinit(reply);
}

static void
signed_thinking_goes_back(void **state)
{
	bare *f = *state;
	rt_reply reply;

	bare_add(f, "q", "User", "why?");
	rt_reply_init(&reply, rt_alloc_libc(), NULL, NULL);
	reply.provider = "anthropic";
	rt_reply_add_thinking(&reply, RT_STR("hm"));
	rt_reply_add_signature(&reply, RT_STR("s1"));
	rt_reply_add_redacted(&reply, RT_STR("{\"type\":\"redacted_thinking\",\"data\":\"d\"}"));
	rt_reply_add_text(&reply, RT_STR("Because."));
	append_reply(f, "a", &reply);
	assert_non_null(strstr(context(f, "anthropic"),
			       "{\"role\":\"assistant\",\"content\":["
			       "{\"type\":\"thinking\",\"thinking\":\"hm\",\"signature\":\"s1\"},"
			       "{\"type\":\"redacted_thinking\",\"data\":\"d\"},"
			       "{\"type\":\"text\",\"text\":\"Because.\"}]}"));
	/* not to others */
	assert_null(strstr(context(f, "openai"), "hm"));
	assert_null(strstr(context(f, "ollama"), "hm"));
	assert_null(strstr(context(f, "gemini"), "hm"));
	/* not after a change of the text; after undoing the change, again */
	bare_apply(f, "{\"op\":\"entry.edit\",\"entry\":\"a\",\"content\":\"Because!\"}");
	assert_non_null(strstr(context(f, "anthropic"), "{\"role\":\"assistant\",\"content\":\"Because!\"}"));
	bare_apply(f, "{\"op\":\"undo\"}");
	assert_non_null(strstr(context(f, "anthropic"), "\"signature\":\"s1\""));
	bare_apply(f, "{\"op\":\"entry.edit\",\"entry\":\"a\",\"content\":\"x\"}");
	bare_apply(f, "{\"op\":\"entry.edit\",\"entry\":\"a\",\"content\":\"Because.\"}");
	assert_non_null(strstr(context(f, "anthropic"), "\"signature\":\"s1\""));
	/* no content: not sent at all */
	bare_apply(f, "{\"op\":\"entry.edit\",\"entry\":\"a\",\"content\":\"\"}");
	assert_null(strstr(context(f, "anthropic"), "assistant"));
}

static void
signed_thinking_goes_with_its_calls(void **state)
{
	bare *f = *state;
	rt_reply reply;

	bare_add(f, "q", "User", "why?");
	rt_reply_init(&reply, rt_alloc_libc(), NULL, NULL);
	reply.provider = "anthropic";
	rt_reply_add_thinking(&reply, RT_STR("hm"));
	rt_reply_add_signature(&reply, RT_STR("s1"));
	rt_reply_add_text(&reply, RT_STR("I look."));
	rt_reply_add_call(&reply, 2, RT_STR("c1"), RT_STR("get"), RT_STR("{\"n\": 1.50}"));
	append_reply(f, "a", &reply);
	bare_apply(f, "{\"op\":\"entry.append\",\"role\":\"tool\",\"id\":\"r\",\"content\":\"42\",\"tool_call_id\":\"c1\"}");
	assert_non_null(strstr(context(f, "anthropic"),
			       "{\"role\":\"assistant\",\"content\":["
			       "{\"type\":\"thinking\",\"thinking\":\"hm\",\"signature\":\"s1\"},"
			       "{\"type\":\"text\",\"text\":\"I look.\"},"
			       "{\"type\":\"tool_use\",\"id\":\"c1\",\"name\":\"get\",\"input\":{\"n\":1.50}}]}"));
	/* its text is edited: the blocks and the thinking stay in the entry, and the thinking is
	 * not sent */
	bare_apply(f, "{\"op\":\"entry.edit\",\"entry\":\"a\",\"content\":\"I looked.\",\"keep_blocks\":true}");
	assert_non_null(strstr(context(f, "anthropic"), "tool_use"));
	assert_null(strstr(f->out.ptr, "hm"));
	bare_apply(f, "{\"op\":\"undo\"}");
	assert_non_null(strstr(context(f, "anthropic"), "\"s1\""));
	/* a call without a result is sent as text, and the thinking not at all */
	bare_apply(f, "{\"op\":\"entry.mute\",\"entry\":\"r\",\"muted\":true}");
	assert_null(strstr(context(f, "anthropic"), "\"s1\""));
}

static void
signed_calls_go_back(void **state)
{
	bare *f = *state;
	rt_reply reply;

	bare_add(f, "q", "User", "why?");
	rt_reply_init(&reply, rt_alloc_libc(), NULL, NULL);
	reply.provider = "gemini";
	rt_reply_add_thinking(&reply, RT_STR("hm"));
	rt_reply_add_call(&reply, 0, RT_STR("c1"), RT_STR("get"), RT_STR("{}"));
	rt_reply_add_call_signature(&reply, 0, RT_STR("sig"));
	append_reply(f, "a", &reply);
	bare_apply(f, "{\"op\":\"entry.append\",\"role\":\"tool\",\"content\":\"42\",\"tool_call_id\":\"c1\"}");
	assert_non_null(strstr(context(f, "gemini"),
			       "{\"role\":\"model\",\"parts\":[{\"functionCall\":{\"name\":\"get\",\"args\":{}},"
			       "\"thoughtSignature\":\"sig\"}]}"));
	assert_null(strstr(context(f, "openai"), "sig"));
	assert_null(strstr(context(f, "anthropic"), "sig"));
	bare_apply(f, "{\"op\":\"entry.edit\",\"entry\":\"a\",\"content\":\"Ha.\",\"keep_blocks\":true}");
	assert_non_null(strstr(context(f, "gemini"), "functionCall"));
	assert_null(strstr(f->out.ptr, "thoughtSignature"));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		WITH(an_empty_take),
		WITH(settings_have_each_providers_names),
		WITH(the_base_prompt_can_be_ones_own),
		WITH(the_default_base_prompt_explains_the_working_prompt),
		WITH(the_working_prompt),
		WITH(blanks_that_anthropic_refuses),
		WITH(one_text_that_ends_with_a_blank),
		WITH(roles_become_what_providers_know),
		WITH(the_assistant_cannot_be_first_everywhere),
		WITH(only_the_path_to_the_head),
		WITH(kinds_that_are_sent_and_not),
		WITH(compactions_stand_for_what_they_sum_up),
		WITH(blocks_go_where_they_can),
		WITH(tool_calls_go_with_their_results),
		WITH(calls_in_the_forms_of_others),
		WITH(a_stream_is_asked_for),
		WITH(a_model_with_its_provider),
		WITH(signed_thinking_goes_back),
		WITH(signed_thinking_goes_with_its_calls),
		WITH(signed_calls_go_back),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
