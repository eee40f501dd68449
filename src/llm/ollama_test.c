/* SPDX-License-Identifier: MIT
 *
 * Ollama's answers. */
#include "llm/llm_testing.h"

#define P (&rt_provider_ollama)
#define LINE(message) "{\"model\":\"qwen\",\"created_at\":\"2026-01-01T00:00:00Z\",\"message\":" message ",\"done\":false}\n"
#define DONE(reason) \
	"{\"model\":\"qwen\",\"message\":{\"role\":\"assistant\",\"content\":\"\"},\"done\":true,\"done_reason\":\"" reason \
	"\",\"total_duration\":1,\"prompt_eval_count\":26,\"eval_count\":9}\n"
#define TOLD(reason) \
	"\"provider\":\"ollama\",\"model\":\"qwen\",\"stop_reason\":\"" reason "\"," \
	"\"usage\":{\"input_tokens\":26,\"output_tokens\":9}"

static const char everything[] =
	LINE("{\"role\":\"assistant\",\"content\":\"\",\"thinking\":\"Let me \"}")
	LINE("{\"role\":\"assistant\",\"content\":\"\",\"thinking\":\"see\"}")
	LINE("{\"role\":\"assistant\",\"content\":\"I \xE2\x82\xAC\"}") "\r\n"
	LINE("{\"role\":\"assistant\",\"content\":\" look.\",\"novelty\":{}}") "{\"surprise\":1}\n"
	LINE("{\"content\":\"\",\"tool_calls\":[{\"function\":{\"index\":0,\"name\":\"read\",\"arguments\":{\"path\":\"a\"}}},{\"id\":\"x\",\"function\":{\"name\":\"list\",\"arguments\":{}}}]}")
	LINE("{\"content\":\"\",\"tool_calls\":[{\"function\":{\"name\":\"stat\",\"arguments\":{}}}]}")
	DONE("stop");

static void
streams(void **state)
{
	(void)state;
	reads_as(P, LINE("{\"role\":\"assistant\",\"content\":\"Hel\"}") LINE("{\"content\":\"lo\"}") DONE("stop"),
		 "ok \"Hello\"," TOLD("stop"));
	reads_as(P, LINE("{\"content\":\"so\"}") DONE("length"), "ok \"so\"," TOLD("length"));
	reads_as(P, LINE("{\"content\":\"<think>a\"}") LINE("{\"content\":\"</think>b\"}") DONE("stop"),
		 "ok \"b\"," TOLD("stop") ",\"thinking_segments\":[{\"text\":\"a\"}]");
	reads_as(P, everything,
		 "ok [{\"type\":\"thinking\",\"thinking\":\"Let me see\"},{\"type\":\"text\",\"text\":\"I \xE2\x82\xAC look.\"},"
		 "{\"type\":\"toolCall\",\"id\":\"call_1\",\"name\":\"read\",\"arguments\":{\"path\":\"a\"}},"
		 "{\"type\":\"toolCall\",\"id\":\"x\",\"name\":\"list\",\"arguments\":{}},"
		 "{\"type\":\"toolCall\",\"id\":\"call_3\",\"name\":\"stat\",\"arguments\":{}}]," TOLD("tool_calls"));
}

static void
stop_reasons(void **state)
{
	static const told_stop said[] = {{"stop", "stop"}, {"length", "length"}, {"", "stop"},
					 {"novelty", "stop"}, {NULL, NULL}};
	static const told_stop called[] = {{"stop", "tool_calls"}, {"tool_calls", "tool_calls"}, {NULL, NULL}};
	/* messages of a server without a prompt, or about to end */
	static const told_stop nothing[] = {{"load", "error"}, {"unload", "error"}, {"stop", "stop"}, {NULL, NULL}};

	(void)state;
	stops_as(P, LINE("{\"content\":\"so\"}") "{\"done\":true,\"done_reason\":\"", "\"}\n", said);
	stops_as(P, LINE("{\"tool_calls\":[{\"function\":{\"name\":\"f\",\"arguments\":{}}}]}")
		 "{\"done\":true,\"done_reason\":\"", "\"}\n", called);
	stops_as(P, "{\"done\":true,\"done_reason\":\"", "\"}\n", nothing);
}

static void
errors(void **state)
{
	(void)state;
	reads_as(P, LINE("{\"content\":\"so f\"}") "{\"error\":\"model runner has unexpectedly stopped\"}\n",
		 "ok \"so f\",\"provider\":\"ollama\",\"model\":\"qwen\",\"stop_reason\":\"error\","
		 "\"error\":\"model runner has unexpectedly stopped\"");
	reads_as(P, LINE("{\"content\":\"so f\"}"), "ok ... \"so f\",\"provider\":\"ollama\",\"model\":\"qwen\"");
	reads_as(P, LINE("{\"content\":\"so f\"}") "{\"message\":{\"content\":\"\xE2\x82",
		 "upstream ... \"so f\",\"provider\":\"ollama\",\"model\":\"qwen\" the server's response is not a model's reply: {\"message\":{\"content\":\" ...");
	error_reads_as(P, "{\"error\":\"model 'x' not found\"}", "model 'x' not found");
	error_reads_as(P, "404 page not found", "");
}

static void
whole(void **state)
{
	(void)state;
	whole_reads_as(P,
		       "{\"model\":\"qwen\",\"message\":{\"role\":\"assistant\",\"content\":\"Hi\",\"thinking\":\"hm\"},\"done\":true,"
		       "\"done_reason\":\"stop\",\"prompt_eval_count\":26,\"eval_count\":9}",
		       "ok \"Hi\"," TOLD("stop") ",\"thinking_segments\":[{\"text\":\"hm\"}]");
	/* a stream although it was not requested */
	whole_reads_as(P, LINE("{\"content\":\"Hel\"}") LINE("{\"content\":\"lo\"}") DONE("stop"),
		       "ok \"Hello\"," TOLD("stop"));
}

static void
around(void **state)
{
	(void)state;
	path_is(P, "m", true, "/api/chat");
	headers_are(P, "", "");
	headers_are(P, "k", "Authorization: Bearer k\n");
	models_read_as(P, "{\"models\":[{\"name\":\"llama3.2:latest\",\"size\":1},{\"name\":\"qwen\"}]}",
		       "llama3.2:latest:0 qwen:0 ");
}

static void
no_memory(void **state)
{
	(void)state;
	survives_no_memory(P, everything);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(streams), cmocka_unit_test(errors),	cmocka_unit_test(whole),
		cmocka_unit_test(around),  cmocka_unit_test(no_memory),
		cmocka_unit_test(stop_reasons),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
