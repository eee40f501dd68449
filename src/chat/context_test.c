/* SPDX-License-Identifier: MIT
 *
 * Contexts: which entries are sent, in which order, and in which form. */
#include <stdio.h>

#include "log/bare_testing.h"
#include "chat/context_impl.h"
#include "llm/provider.h"
#include "ops/import.h"
#include "store/store_memory.h"

static int
set_up(void **state)
{
	rt_store *store;

	assert_int_equal(rt_store_memory_open(rt_alloc_libc(), &env, &store, NULL), RT_OK);
	return bare_set_up(state, store);
}

static const char *
request(bare *f, const char *provider, const rt_context_options *options)
{
	const rt_project *project = rt_engine_value(f->engine);
	rt_place place = {0, 0};
	rt_json_doc *doc;
	rt_error err = {0};

	rt_buf_clear(&f->out);
	if (rt_view_context(f->engine, project, place, rt_provider_named(rt_str_of(provider)), options,
			    &f->out, &err) != RT_OK)
		fail_msg("%s: %s", provider, err.text);
	rt_object_unref(project);
	assert_int_equal(rt_json_read(rt_alloc_libc(), rt_buf_str(&f->out), &doc, NULL), RT_OK);
	rt_json_free(doc);
	return f->out.ptr;
}

static const char *
context(bare *f, const char *provider)
{
	return request(f, provider, NULL);
}

/* The messages of an OpenAI request, a line for each: "role: text". */
static const char *
messages(bare *f)
{
	rt_json_doc *doc;
	yyjson_val *message;
	size_t i, max;
	rt_buf lines;

	(void)context(f, "openai");
	assert_int_equal(rt_json_read(rt_alloc_libc(), rt_buf_str(&f->out), &doc, NULL), RT_OK);
	rt_buf_init(&lines, rt_alloc_libc(), RT_BUF_UNLIMITED);
	rt_buf_add_c(&lines, "");
	yyjson_arr_foreach(rt_json_get(rt_json_root(doc), "messages"), i, max, message)
	{
		rt_buf_add_str(&lines, rt_json_str(rt_json_get(message, "role")));
		rt_buf_add_c(&lines, ": ");
		rt_buf_add_str(&lines, rt_json_str(rt_json_get(message, "content")));
		rt_buf_add_byte(&lines, '\n');
	}
	rt_json_free(doc);
	rt_buf_deinit(&f->out);
	f->out = lines;
	return lines.ptr != NULL ? lines.ptr : "";
}

/* ---- the plan ---- */

/* "0 1 S4 5": positions, and S for a summary. */
static void
plans(size_t count, const char *skipped, const rt_compaction *c, size_t n, const char *expected)
{
	bool skip[32] = {false};
	rt_context_steps steps;
	size_t i, used = 0;
	char got[200] = "";
	rt_scope scope;

	for (i = 0; skipped[i] != '\0'; i++)
		skip[skipped[i] - '0'] = true;
	for (i = 0; i < n; i++)
		skip[c[i].at] = true;
	rt_scope_init(&scope, rt_alloc_libc());
	steps = rt_context_plan(&scope, count, skip, c, n);
	assert_true(rt_ok(&scope));
	for (i = 0; i < steps.count; i++)
		used += (size_t)snprintf(got + used, sizeof(got) - used, "%s%s%zu", i > 0 ? " " : "",
					 steps.items[i].is_summary ? "S" : "", steps.items[i].at);
	assert_string_equal(got, expected);
	rt_scope_deinit(&scope);
}

static void
plans_without_compactions(void **state)
{
	(void)state;
	plans(0, "", NULL, 0, "");
	plans(1, "", NULL, 0, "0");
	plans(4, "", NULL, 0, "0 1 2 3");
	plans(4, "02", NULL, 0, "1 3");
}

static void
plans_with_a_first_kept_entry(void **state)
{
	rt_compaction one[] = {{.at = 5, .first_kept = 3}};
	rt_compaction none[] = {{.at = 5, .first_kept = SIZE_MAX}};
	rt_compaction later[] = {{.at = 2, .first_kept = 6}};
	rt_compaction two[] = {{.at = 3, .first_kept = 2}, {.at = 6, .first_kept = 2}};
	rt_compaction gone[] = {{.at = 3, .first_kept = 2}, {.at = 6, .first_kept = 5}};

	(void)state;
	plans(8, "", one, 1, "S5 3 4 6 7");
	plans(6, "", one, 1, "S5 3 4");
	plans(8, "37", one, 1, "S5 4 6");
	plans(8, "", none, 1, "S5 6 7");
	plans(4, "", later, 1, "S2 3");
	plans(8, "", two, 2, "S6 2 4 5 7"); /* the older one is not sent */
	plans(8, "", gone, 2, "S6 5 7");
}

static void
plans_with_ranges(void **state)
{
	rt_compaction one[] = {{.at = 5, .is_range = true, .from = 1, .to = 3}};
	rt_compaction none[] = {{.at = 5, .is_range = true, .from = 1, .to = 0}};
	rt_compaction beyond[] = {{.at = 2, .is_range = true, .from = 1, .to = 90}};
	rt_compaction two[] = {{.at = 5, .is_range = true, .from = 1, .to = 3},
			       {.at = 6, .is_range = true, .from = 3, .to = 4}};
	rt_compaction nested[] = {{.at = 3, .is_range = true, .from = 0, .to = 1},
				  {.at = 5, .is_range = true, .from = 1, .to = 3}};
	rt_compaction inside[] = {{.at = 3, .is_range = true, .from = 0, .to = 1},
				  {.at = 6, .is_range = true, .from = 0, .to = 4}};

	(void)state;
	plans(7, "", one, 1, "0 S5 4 6");
	plans(7, "", none, 1, "0 1 2 3 4 6");
	plans(4, "", beyond, 1, "0 1 3");
	plans(7, "", two, 2, "0 S5 S6"); /* 1 2, and 3 4 */
	plans(7, "", nested, 2, "0 S5 4 6"); /* the first is in the second's range */
	plans(8, "", inside, 2, "S6 5 7");
}

static void
plans_with_both(void **state)
{
	rt_compaction before[] = {{.at = 3, .is_range = true, .from = 0, .to = 1},
				  {.at = 6, .first_kept = 4}};
	rt_compaction kept[] = {{.at = 5, .is_range = true, .from = 3, .to = 4},
				{.at = 6, .first_kept = 2}};
	rt_compaction after[] = {{.at = 4, .first_kept = 2},
				 {.at = 7, .is_range = true, .from = 1, .to = 3}};
	rt_compaction covered[] = {{.at = 2, .first_kept = 1},
				   {.at = 6, .is_range = true, .from = 1, .to = 4}};

	(void)state;
	plans(8, "", before, 2, "S6 4 5 7");
	plans(8, "", kept, 2, "S6 2 S5 7");
	plans(8, "", after, 2, "S4 S7 5 6");
	plans(8, "", covered, 2, "0 S6 5 7");
}

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
	assert_non_null(strstr(messages(f), "system: You and the user write a prompt together."));
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

/* ---- pi's records ---- */

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

#define WITH(name) cmocka_unit_test_setup_teardown(name, set_up, bare_tear_down)

/* ---- the budget, counted ---- */

/* Every byte is a token. */
static size_t
bytes_of(void *ctx, rt_str text)
{
	(void)ctx;
	return text.size;
}

static void
counted_as_it_is_sent(void **state)
{
	enum { EACH = RT_TOKENS_PER_MESSAGE };
	bare *f = *state;
	rt_context_totals totals = {0};
	rt_context_options options = {.count = bytes_of, .totals = &totals};
	const size_t prompts = strlen("base\n\nproject") + EACH +
			       strlen("[current prompt: \"a \"b\"]") + EACH;

	bare_apply(f, "{\"op\":\"setting.set\",\"key\":\"base_system_prompt\",\"value\":\"base\"}");
	bare_apply(f, "{\"op\":\"setting.set\",\"key\":\"project_system_prompt\",\"value\":\"project\"}");
	bare_apply(f, "{\"op\":\"prompt.update\",\"text\":\"a \\\"b\"}");
	bare_add(f, "a", "User", "12345");
	bare_add(f, "b", "AI", "1234567");
	(void)request(f, "openai", &options);
	assert_int_equal(totals.tokens, prompts + 5 + EACH + 7 + EACH);
	/* calls of tools are counted */
	bare_apply(f, "{\"op\":\"entry.append\",\"role\":\"AI\",\"content\":\"\",\"tool_calls\":["
		 "{\"id\":\"c\",\"type\":\"function\",\"function\":{\"name\":\"get\","
		 "\"arguments\":\"{}\"}}]}");
	(void)request(f, "openai", &options);
	assert_true(totals.tokens > prompts + 5 + EACH + 7 + EACH + EACH + 15);
	/* exact: with one token less, the oldest is left out */
	options.budget_tokens = totals.tokens + RT_TOKENS_PER_REPLY;
	(void)request(f, "openai", &options);
	assert_int_equal(totals.left_out, 0);
	options.budget_tokens--;
	(void)request(f, "openai", &options);
	assert_int_equal(totals.left_out, 1);
}

static void
heard(void *ctx, const rt_context_part *part)
{
	(void)part;
	++*(size_t *)ctx;
}

/* Of a long path only the end is read, unless the callback needs every entry: both ways produce the
 * same request. */
static void
the_end_of_a_long_path_is_enough(void **state)
{
	enum { ENTRIES = 1300 };
	static const size_t budgets[] = {1, 40, 300, 2000, 6000, 9000, 14000, 1000000};
	bare *f = *state;
	size_t i, newest, parts = 0;

	for (i = 0; i < ENTRIES; i++) {
		char json[400];

		if (i % 9 == 4) /* a call, followed by its result */
			snprintf(json, sizeof(json),
				 "{\"op\":\"entry.append\",\"id\":\"e%zu\",\"role\":\"AI\",\"content\":"
				 "\"I look\",\"tool_calls\":[{\"id\":\"c%zu\",\"type\":\"function\","
				 "\"function\":{\"name\":\"get\",\"arguments\":\"{}\"}}]}", i, i);
		else if (i % 9 == 5)
			snprintf(json, sizeof(json),
				 "{\"op\":\"entry.append\",\"id\":\"e%zu\",\"role\":\"tool\","
				 "\"content\":\"found %zu\",\"tool_call_id\":\"c%zu\"}", i, i, i - 1);
		else
			snprintf(json, sizeof(json),
				 "{\"op\":\"entry.append\",\"id\":\"e%zu\",\"role\":\"%s\","
				 "\"content\":\"number %zu of many\",\"muted\":%s}", i,
				 i % 2 == 0 ? "User" : "AI", i, i % 11 == 3 ? "true" : "false");
		bare_apply(f, json);
	}
	for (i = 0; i < 2 * sizeof(budgets) / sizeof(budgets[0]); i++) {
		rt_context_totals ended, whole;
		rt_context_options options = {.budget_tokens = budgets[i / 2], .totals = &ended};
		rt_buf end;

		options.count = i % 2 == 0 ? NULL : bytes_of;
		rt_buf_init(&end, rt_alloc_libc(), RT_BUF_UNLIMITED);
		rt_buf_add_c(&end, request(f, "openai", &options));
		options.part = heard;
		options.ctx = &parts;
		options.totals = &whole;
		(void)request(f, "openai", &options);
		assert_true(rt_str_eq(rt_buf_str(&end), rt_buf_str(&f->out)));
		assert_int_equal(ended.entries, whole.entries);
		if (options.count == NULL || whole.left_out > 0) /* otherwise nothing was counted */
			assert_int_equal(ended.tokens, whole.tokens);
		assert_true(ended.left_out >= whole.left_out);
		newest = ended.entries;
		options.newest = &newest;
		options.part = NULL;
		(void)request(f, "openai", &options);
		assert_true(rt_str_eq(rt_buf_str(&end), rt_buf_str(&f->out)));
		rt_buf_deinit(&end);
	}
	assert_true(parts > 0);
}

/* The same entries are sent again, whatever the token counts are now. */
static void
sends_as_many_as_it_is_told(void **state)
{
	bare *f = *state;
	size_t newest = 2;
	rt_context_totals totals = {0};
	rt_context_options options = {.budget_tokens = 1, .newest = &newest, .totals = &totals};

	bare_add(f, "a", "User", "one");
	bare_add(f, "b", "AI", "two");
	bare_add(f, "c", "User", "three");
	bare_add(f, "d", "AI", "four");
	assert_non_null(strstr(request(f, "openai", &options), "three"));
	assert_null(strstr(f->out.ptr, "two"));
	assert_int_equal(totals.left_out, 2);
	newest = 9;
	assert_non_null(strstr(request(f, "openai", &options), "one"));
	assert_int_equal(totals.left_out, 0);
	newest = 0;
	(void)request(f, "openai", &options);
	assert_int_equal(totals.left_out, 4);
}

static size_t
count_calls(void *ctx, rt_str text)
{
	size_t *calls = ctx;

	*calls += 1;
	return text.size;
}

/* A budget with a token for every byte is enough for everything: nothing is counted. */
static void
counts_only_where_it_matters(void **state)
{
	bare *f = *state;
	size_t calls = 0;
	rt_context_totals totals = {0};
	rt_context_options options = {
		.count = count_calls, .ctx = &calls, .totals = &totals, .budget_tokens = 100};

	bare_add(f, "a", "User", "one");
	bare_add(f, "b", "AI", "two");
	(void)request(f, "openai", &options);
	assert_int_equal(calls, 0);
	assert_int_equal(totals.left_out, 0);
	options.budget_tokens = 16;
	(void)request(f, "openai", &options);
	assert_true(calls > 0);
	assert_int_equal(totals.left_out, 1);
}

/* The bytes of an image are not its tokens, whether texts are counted or not. */
static void
an_image_costs_what_an_image_costs(void **state)
{
	enum { BYTES = 40000 };
	bare *f = *state;
	rt_context_totals totals = {0};
	rt_context_options options = {.totals = &totals, .budget_tokens = 2000};
	rt_buf op;
	size_t i;

	bare_add(f, "a", "User", "before");
	rt_buf_init(&op, rt_alloc_libc(), RT_BUF_UNLIMITED);
	rt_buf_add_c(&op, "{\"op\":\"entry.append\",\"role\":\"User\",\"content\":[{\"type\":\"text\","
			  "\"text\":\"see\"},{\"type\":\"image\",\"mimeType\":\"image/png\",\"data\":\"");
	for (i = 0; i < BYTES; i++)
		rt_buf_add_byte(&op, 'A');
	rt_buf_add_c(&op, "\"}]}");
	bare_apply(f, op.ptr);
	rt_buf_deinit(&op);
	(void)request(f, "openai", &options);
	assert_int_equal(totals.left_out, 0);
	assert_true(totals.tokens > RT_TOKENS_PER_IMAGE && totals.tokens < RT_TOKENS_PER_IMAGE + 50);
	options.count = bytes_of;
	(void)request(f, "openai", &options);
	assert_int_equal(totals.left_out, 0);
	assert_true(totals.tokens > RT_TOKENS_PER_IMAGE && totals.tokens < RT_TOKENS_PER_IMAGE + 50);
}

/* ---- bodies ---- */

static const rt_store_ops *whole_ops;
static size_t singles, runs;

static rt_status
count_reads(rt_store *store, rt_rows rows, rt_store_row_fn fn, void *ctx, rt_error *err)
{
	if (rows.table == RT_STORE_BODIES) {
		runs += rows.numbers != NULL;
		singles += rows.numbers == NULL;
	}
	return whole_ops->read(store, rows, fn, ctx, err);
}

/* Replies are read to find thinking in them, from the newest to the oldest; then all is read from
 * the oldest on. */
static void
bodies_are_read_in_runs(void **state)
{
	bare *f = *state;
	rt_context_totals totals = {0};
	rt_context_options options = {.totals = &totals};
	rt_store_ops counting;

	for (int i = 0; i < 65; i++) {
		bare_apply(f, "{\"op\":\"entry.append\",\"content\":\"question\"}");
		bare_apply(f, "{\"op\":\"entry.append\",\"role\":\"assistant\","
			      "\"content\":\"reply\"}");
	}
	whole_ops = f->store->ops;
	counting = *whole_ops;
	counting.read = count_reads;
	f->store->ops = &counting;
	singles = runs = 0;
	(void)request(f, "openai", &options);
	f->store->ops = whole_ops;
	assert_int_equal(totals.entries, 130);
	assert_in_range(singles, 0, 2);
	assert_in_range(runs, 1, 6);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(plans_without_compactions),
		cmocka_unit_test(plans_with_a_first_kept_entry),
		cmocka_unit_test(plans_with_ranges),
		cmocka_unit_test(plans_with_both),
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
		WITH(records_of_pi),
		WITH(a_stream_is_asked_for),
		WITH(a_model_with_its_provider),
		WITH(signed_thinking_goes_back),
		WITH(signed_thinking_goes_with_its_calls),
		WITH(signed_calls_go_back),
		WITH(thinking_in_records_of_pi),
		WITH(counted_as_it_is_sent),
		WITH(the_end_of_a_long_path_is_enough),
		WITH(sends_as_many_as_it_is_told),
		WITH(counts_only_where_it_matters),
		WITH(an_image_costs_what_an_image_costs),
		WITH(bodies_are_read_in_runs),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
