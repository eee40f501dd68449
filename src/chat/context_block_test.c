/* SPDX-License-Identifier: MIT
 *
 * Contexts: kinds and blocks that only some programs support, and their number of tokens. */
#include <stdio.h>

#include "log/bare_testing.h"
#include "chat/context_impl.h"
#include "ops/format.h"
#include "llm/provider.h"
#include "ops/import.h"
#include "store/store_memory.h"

#define WITH(test) cmocka_unit_test_setup_teardown(test, set_up, bare_tear_down)

/* The names of the providers that are servers, ended by NULL. */
static const char *const *
servers(void)
{
	static const char *names[16];
	size_t count = 0;

	for (size_t i = 0; rt_providers[i] != NULL; i++)
		if (rt_providers[i]->url != NULL)
			names[count++] = rt_providers[i]->name;
	assert_true(count >= 4 && count < 16);
	return names;
}

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
	rt_error err = {0};

	rt_buf_clear(&f->out);
	if (rt_view_context(f->engine, project, place, rt_provider_named(rt_str_of(provider)), options,
			    &f->out, &err) != RT_OK)
		fail_msg("%s: %s", provider, err.text);
	rt_object_unref(project);
	return f->out.ptr;
}

/* The report of blocks that are not sent in a request to this provider. */
static const char *
unsent(bare *f, const char *provider, rt_buf *out)
{
	rt_context_options options = {.unsent = out};

	rt_buf_clear(out);
	rt_buf_add_c(out, "");
	(void)request(f, provider, &options);
	return out->size > 0 ? out->ptr : "";
}

static size_t
tokens(bare *f, const char *provider)
{
	rt_context_totals totals = {0};
	rt_context_options options = {.totals = &totals};

	(void)request(f, provider, &options);
	return totals.tokens;
}

static void
unknown_kinds_are_messages_of_their_role(void **state)
{
	bare *f = *state;
	size_t i;

	bare_apply(f, "{\"op\":\"entry.append\",\"content\":\"q\"}");
	bare_apply(f, "{\"op\":\"entry.append\",\"kind\":\"whatever\",\"content\":\"FROM-USER\"}");
	bare_apply(f, "{\"op\":\"entry.append\",\"kind\":\"whatever\",\"role\":\"AI\",\"content\":\"FROM-AI\"}");
	bare_apply(f, "{\"op\":\"entry.append\",\"kind\":\"custom\",\"content\":\"STATE\"}");
	for (i = 0; servers()[i] != NULL; i++) {
		(void)request(f, servers()[i], NULL);
		assert_non_null(strstr(f->out.ptr, "FROM-USER"));
		assert_non_null(strstr(f->out.ptr, "FROM-AI"));
		assert_null(strstr(f->out.ptr, "STATE"));
	}
	assert_string_equal(request(f, "openai", NULL),
			    "{\"messages\":[{\"role\":\"user\",\"content\":\"q\"},"
			    "{\"role\":\"user\",\"content\":\"FROM-USER\"},"
			    "{\"role\":\"assistant\",\"content\":\"FROM-AI\"}]}");
}

static void
call_and_result(bare *f, const char *role, const char *kind, const char *result)
{
	rt_buf op;

	bare_apply(f, "{\"op\":\"take.clear\"}");
	bare_apply(f, "{\"op\":\"entry.append\",\"content\":\"q\"}");
	bare_apply(f, "{\"op\":\"entry.append\",\"role\":\"AI\",\"content\":[{\"type\":\"toolCall\","
		      "\"id\":\"c1\",\"name\":\"get\",\"arguments\":{\"a\":1}}]}");
	rt_buf_init(&op, rt_alloc_libc(), RT_BUF_UNLIMITED);
	rt_buf_add_f(&op, "{\"op\":\"entry.append\",\"role\":\"%s\"%s,\"content\":[%s]}", role, kind,
		     result);
	bare_apply(f, op.ptr);
	rt_buf_deinit(&op);
}

static void
result_blocks_are_results_whatever_they_are_called(void **state)
{
	static const char *const results[] = {
		"{\"type\":\"toolResult\",\"toolCallId\":\"c1\",\"toolName\":\"get\",\"content\":[{\"type\":"
		"\"text\",\"text\":\"FOUND\"}]}",
		"{\"type\":\"toolResult\",\"toolCallId\":\"c1\",\"content\":\"FOUND\"}",
		"{\"type\":\"tool_result\",\"tool_use_id\":\"c1\",\"content\":\"FOUND\"}",
		"{\"type\":\"toolResult\",\"tool_call_id\":\"c1\",\"output\":\"FOUND\"}"};
	static const char *const roles[] = {"Tool", "tool", "TOOL", "toolResult", "User"};
	bare *f = *state;
	rt_buf out;
	size_t i, k, p;

	rt_buf_init(&out, rt_alloc_libc(), RT_BUF_UNLIMITED);
	for (i = 0; i < sizeof(results) / sizeof(results[0]); i++)
		for (k = 0; k < sizeof(roles) / sizeof(roles[0]); k++) {
			call_and_result(f, roles[k],
					k % 2 == 0 ? "" : ",\"kind\":\"tool_result\"", results[i]);
			assert_string_equal(
				request(f, "openai", NULL),
				"{\"messages\":[{\"role\":\"user\",\"content\":\"q\"},{\"role\":"
				"\"assistant\",\"content\":null,\"tool_calls\":[{\"id\":\"c1\",\"type\":"
				"\"function\",\"function\":{\"name\":\"get\",\"arguments\":\"{\\\"a\\\":1}\"}}]},"
				"{\"role\":\"tool\",\"tool_call_id\":\"c1\",\"content\":\"FOUND\"}]}");
			assert_non_null(strstr(request(f, "anthropic", NULL),
					       "{\"type\":\"tool_result\",\"tool_use_id\":\"c1\""));
			for (p = 0; servers()[p] != NULL; p++) {
				assert_non_null(strstr(request(f, servers()[p], NULL), "FOUND"));
				assert_string_equal(unsent(f, servers()[p], &out), "");
			}
		}
	/* without its call it is sent as text */
	bare_apply(f, "{\"op\":\"take.clear\"}");
	bare_apply(f, "{\"op\":\"entry.append\",\"role\":\"Tool\",\"content\":[{\"type\":\"toolResult\","
		      "\"toolCallId\":\"x\",\"toolName\":\"get\",\"content\":\"FOUND\"}]}");
	assert_non_null(strstr(request(f, "openai", NULL), "[result of get]: FOUND"));
	rt_buf_deinit(&out);
}

/* A call and its result in one entry of the assistant. */
static void
results_of_the_assistant_are_sent(void **state)
{
	bare *f = *state;

	bare_apply(f, "{\"op\":\"entry.append\",\"content\":\"q\"}");
	bare_apply(f, "{\"op\":\"entry.append\",\"role\":\"AI\",\"content\":["
		      "{\"type\":\"tool_use\",\"id\":\"c1\",\"name\":\"get\",\"input\":{}},"
		      "{\"type\":\"tool_result\",\"tool_use_id\":\"c1\",\"content\":\"FOUND\"},"
		      "{\"type\":\"text\",\"text\":\"done\"}]}");
	assert_string_equal(request(f, "openai", NULL),
			    "{\"messages\":[{\"role\":\"user\",\"content\":\"q\"},{\"role\":\"assistant\","
			    "\"content\":null,\"tool_calls\":[{\"id\":\"c1\",\"type\":\"function\","
			    "\"function\":{\"name\":\"get\",\"arguments\":\"{}\"}}]},{\"role\":\"tool\","
			    "\"tool_call_id\":\"c1\",\"content\":\"FOUND\"},{\"role\":\"assistant\","
			    "\"content\":\"done\"}]}");
}

static void
what_cannot_be_sent_is_reported(void **state)
{
	bare *f = *state;
	rt_buf out;

	rt_buf_init(&out, rt_alloc_libc(), RT_BUF_UNLIMITED);
	bare_apply(f, "{\"op\":\"entry.append\",\"id\":\"here\",\"content\":[{\"type\":\"text\",\"text\":\"hear\"},"
		      "{\"type\":\"audio\",\"data\":\"QUJD\"},{\"type\":\"audio\",\"data\":\"QUJD\"},"
		      "{\"data\":1}]}");
	bare_apply(f, "{\"op\":\"entry.append\",\"id\":\"there\",\"role\":\"System\",\"content\":["
		      "{\"type\":\"text\",\"text\":\"rules\"},{\"type\":\"image\",\"data\":\"QUJD\","
		      "\"mimeType\":\"image/png\"}]}");
	assert_string_equal(unsent(f, "openai", &out),
			    "2 blocks of type audio in entry here are not sent: a request to openai cannot "
			    "contain them\n"
			    "1 block without a type in entry here is not sent: a request to openai cannot "
			    "contain it\n"
			    "1 block of type image in entry there is not sent: a request to openai cannot "
			    "contain it\n");
	bare_apply(f, "{\"op\":\"take.clear\"}");
	bare_apply(f, "{\"op\":\"entry.append\",\"id\":\"web\",\"content\":[{\"type\":\"image_url\","
		      "\"image_url\":{\"url\":\"https://example.org/a.png\"}}]}");
	assert_string_equal(unsent(f, "openai", &out), "");
	assert_string_equal(unsent(f, "ollama", &out),
			    "1 block of type image in entry web is not sent: a request to ollama cannot "
			    "contain it\n");
	/* Reasoning is never sent; this is not reported as a loss. */
	bare_apply(f, "{\"op\":\"take.clear\"}");
	bare_apply(f, "{\"op\":\"entry.append\",\"role\":\"AI\",\"content\":[{\"type\":\"thinking\","
		      "\"thinking\":\"hm\"},{\"type\":\"text\",\"text\":\"so\"}]}");
	assert_string_equal(unsent(f, "openai", &out), "");
	/* More types than are counted separately. */
	bare_apply(f, "{\"op\":\"take.clear\"}");
	bare_apply(f, "{\"op\":\"entry.append\",\"id\":\"many\",\"content\":[{\"type\":\"a\"},{\"type\":\"b\"},"
		      "{\"type\":\"c\"},{\"type\":\"d\"},{\"type\":\"e\"},{\"type\":\"f\"},{\"type\":\"g\"},"
		      "{\"type\":\"h\"},{\"type\":\"i\"},{\"type\":\"j\"}]}");
	assert_non_null(strstr(unsent(f, "openai", &out), "3 blocks of type h in entry many"));
	rt_buf_deinit(&out);
}

/* ---- tokens ---- */

static void
what_is_never_sent_costs_nothing(void **state)
{
	bare *f = *state;
	size_t before;

	bare_apply(f, "{\"op\":\"entry.append\",\"content\":\"a question\"}");
	before = tokens(f, "anthropic");
	bare_apply(f, "{\"op\":\"entry.append\",\"kind\":\"custom\",\"content\":\"a long state of a "
		      "program that no model is sent, ever\"}");
	bare_apply(f, "{\"op\":\"entry.append\",\"kind\":\"model_change\",\"content\":\"\",\"data\":"
		      "\"as long as this is, it costs nothing\"}");
	assert_int_equal(tokens(f, "anthropic"), before);
	assert_int_equal(tokens(f, "openai"), before);
}

/* Much of a pi record is not sent; slots have the size of all of it. */
static void
records_cost_what_is_sent_of_them(void **state)
{
	static const char record[] =
		"{\"type\":\"message\",\"id\":\"aaaa\",\"parentId\":null,\"timestamp\":"
		"\"2026-01-01T00:00:00.000Z\",\"message\":{\"role\":\"assistant\",\"content\":[{\"type\":"
		"\"text\",\"text\":\"hello\"}],\"api\":\"some-api\",\"provider\":\"someone\",\"model\":"
		"\"model-with-a-name\",\"usage\":{\"input\":1,\"output\":2,\"cacheRead\":0,\"cacheWrite\":"
		"0,\"cost\":{\"input\":0.1,\"output\":0.2,\"total\":0.3}},\"stopReason\":\"stop\"}}";
	bare *f = *state;
	rt_node node = {.parent = -1,
			.role = RT_STR("assistant"),
			.body_format = RT_BODY_PI,
			.body = rt_str_at(record, sizeof(record) - 1)};
	rt_outline outline = {.name = RT_STR("from pi"), .source = RT_STR("pi:x"), .nodes = &node,
			      .node_count = 1};
	rt_outlines outlines = {.items = &outline, .count = 1};
	rt_import_result result;
	rt_error err = {0};
	size_t i;

	assert_int_equal(rt_engine_import(f->engine, &outlines, rt_str_at("", 0), false, &result, &err),
			 RT_OK);
	for (i = 0; servers()[i] != NULL; i++)
		assert_int_equal(tokens(f, servers()[i]), rt_tokens_estimate(5) + RT_TOKENS_PER_MESSAGE);
}

/* The bytes of an image inside of a result are not text either. */
static void
results_cost_what_is_in_them(void **state)
{
	bare *f = *state;
	size_t none, some;

	call_and_result(f, "Tool", "", "{\"type\":\"toolResult\",\"toolCallId\":\"c1\",\"content\":\"\"}");
	none = tokens(f, "anthropic");
	call_and_result(f, "Tool", "", "{\"type\":\"toolResult\",\"toolCallId\":\"c1\",\"content\":["
			"{\"type\":\"text\",\"text\":\"12345678\"},{\"type\":\"image\",\"data\":\"QUJD\","
			"\"mimeType\":\"image/png\"}]}");
	some = tokens(f, "anthropic");
	assert_int_equal(some - none, 2 + RT_TOKENS_PER_IMAGE);
	/* a block that is not sent has no cost */
	call_and_result(f, "Tool", "", "{\"type\":\"toolResult\",\"toolCallId\":\"c1\",\"content\":\"\"},"
			"{\"type\":\"audio\",\"data\":\"QUJDQUJDQUJDQUJDQUJDQUJDQUJDQUJDQUJDQUJDQUJD\"}");
	assert_int_equal(tokens(f, "anthropic"), none);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		WITH(unknown_kinds_are_messages_of_their_role),
		WITH(result_blocks_are_results_whatever_they_are_called),
		WITH(results_of_the_assistant_are_sent),
		WITH(what_cannot_be_sent_is_reported),
		WITH(what_is_never_sent_costs_nothing),
		WITH(records_cost_what_is_sent_of_them),
		WITH(results_cost_what_is_in_them),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
