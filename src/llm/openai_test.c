/* SPDX-License-Identifier: MIT
 *
 * Answers in OpenAI's form, from OpenAI and from compatible servers. */
#include "llm/llm_testing.h"

#define P (&rt_provider_openai)
#define CHUNK(members) "data: {\"id\":\"x\",\"object\":\"chat.completion.chunk\"," members "}\n\n"
#define DELTA(delta) CHUNK("\"choices\":[{\"index\":0,\"delta\":" delta ",\"finish_reason\":null}]")
#define STOP(reason) CHUNK("\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"" reason "\"}]")
#define DONE "data: [DONE]\n\n"

static const char everything[] =
	CHUNK("\"model\":\"gpt-x-1\",\"choices\":[{\"index\":0,\"delta\":{\"role\":\"assistant\",\"content\":\"\"}}],\"usage\":null")
	DELTA("{\"reasoning_content\":\"Let me \"}") DELTA("{\"reasoning_content\":\"see\"}")
	DELTA("{\"content\":\"I \xE2\x82\xAC look\"}") DELTA("{\"content\":\".\",\"surprise\":[1]}")
	DELTA("{\"tool_calls\":[{\"index\":0,\"id\":\"c1\",\"type\":\"function\",\"function\":{\"name\":\"read\",\"arguments\":\"\"}}]}")
	DELTA("{\"tool_calls\":[{\"index\":0,\"function\":{\"arguments\":\"{\\\"pa\"}}]}")
	DELTA("{\"tool_calls\":[{\"index\":0,\"function\":{\"arguments\":\"th\\\":\\\"a\\\"}\"}}]}")
	DELTA("{\"tool_calls\":[{\"index\":1,\"id\":\"c2\",\"function\":{\"name\":\"list\",\"arguments\":\"{}\"}}]}")
	STOP("tool_calls")
	CHUNK("\"choices\":[],\"usage\":{\"prompt_tokens\":20,\"completion_tokens\":7,\"total_tokens\":27,\"prompt_tokens_details\":{\"cached_tokens\":16}}")
	DONE;

static void
streams(void **state)
{
	(void)state;
	reads_as(P,
		 CHUNK("\"model\":\"m\",\"choices\":[{\"index\":0,\"delta\":{\"role\":\"assistant\",\"content\":\"\",\"refusal\":null}}]")
		 DELTA("{\"content\":\"Hel\"}") DELTA("{\"content\":\"lo\"}") STOP("stop") DONE,
		 "ok \"Hello\",\"provider\":\"openai\",\"model\":\"m\",\"stop_reason\":\"stop\"");
	reads_as(P, everything,
		 "ok [{\"type\":\"thinking\",\"thinking\":\"Let me see\"},{\"type\":\"text\",\"text\":\"I \xE2\x82\xAC look.\"},"
		 "{\"type\":\"toolCall\",\"id\":\"c1\",\"name\":\"read\",\"arguments\":{\"path\":\"a\"}},"
		 "{\"type\":\"toolCall\",\"id\":\"c2\",\"name\":\"list\",\"arguments\":{}}],"
		 "\"provider\":\"openai\",\"model\":\"gpt-x-1\",\"stop_reason\":\"tool_calls\","
		 "\"usage\":{\"input_tokens\":20,\"output_tokens\":7,\"cache_read_input_tokens\":16}");
	reads_as(P, DELTA("{\"content\":\"so\"}") STOP("length") DONE,
		 "ok \"so\",\"provider\":\"openai\",\"stop_reason\":\"length\"");
	reads_as(P, DELTA("{\"refusal\":\"I cannot.\"}") STOP("content_filter") DONE,
		 "ok \"I cannot.\",\"provider\":\"openai\",\"stop_reason\":\"filtered\"");
}

static void
others_ways(void **state)
{
	(void)state;
	/* no [DONE]; comments; CRLF; "reasoning"; a second choice */
	reads_as(P,
		 ": OPENROUTER PROCESSING\r\n\r\ndata: {\"choices\":[{\"delta\":{\"reasoning\":\"hm\",\"content\":\"\"}}]}\r\n\r\n"
		 "data: {\"choices\":[{\"index\":1,\"delta\":{\"content\":\"no\"}},{\"index\":0,\"delta\":{\"content\":\"yes\"}}]}\r\n\r\n"
		 "data: {\"choices\":[{\"delta\":{},\"finish_reason\":\"eos\"}]}",
		 "ok ... \"yes\",\"provider\":\"openai\",\"stop_reason\":\"stop\",\"thinking_segments\":[{\"text\":\"hm\"}]");
	/* calls that are all number 0, or have no number, with arguments as an object */
	reads_as(P,
		 DELTA("{\"tool_calls\":[{\"index\":0,\"id\":\"a\",\"function\":{\"name\":\"f\",\"arguments\":\"{}\"}}]}")
		 DELTA("{\"tool_calls\":[{\"index\":0,\"id\":\"b\",\"function\":{\"name\":\"g\",\"arguments\":\"{}\"}}]}")
		 STOP("tool_calls") DONE,
		 "ok [{\"type\":\"toolCall\",\"id\":\"a\",\"name\":\"f\",\"arguments\":{}},"
		 "{\"type\":\"toolCall\",\"id\":\"b\",\"name\":\"g\",\"arguments\":{}}],"
		 "\"provider\":\"openai\",\"stop_reason\":\"tool_calls\"");
	reads_as(P,
		 DELTA("{\"tool_calls\":[{\"function\":{\"name\":\"f\",\"arguments\":{\"n\":1.50}}},{\"function\":{\"name\":\"g\"}}]}")
		 DELTA("{\"function_call\":{\"name\":\"old\"}}") DONE,
		 "ok [{\"type\":\"toolCall\",\"id\":\"call_1\",\"name\":\"old\",\"arguments\":{\"n\":1.50}},"
		 "{\"type\":\"toolCall\",\"id\":\"call_2\",\"name\":\"g\",\"arguments\":{}}],\"provider\":\"openai\"");
	/* content in parts */
	reads_as(P,
		 DELTA("{\"content\":[{\"type\":\"thinking\",\"thinking\":[{\"type\":\"text\",\"text\":\"hm\"}]},{\"type\":\"text\",\"text\":\"yes\"}]}") DONE,
		 "ok \"yes\",\"provider\":\"openai\",\"thinking_segments\":[{\"text\":\"hm\"}]");
	/* tags, half of a surrogate, empty values */
	reads_as(P,
		 DELTA("{\"content\":\"<think>a\"}") DELTA("{\"content\":\"</think>b\\ud83d\"}")
		 "data: {\"x\":1}\n\ndata: {\"choices\":null,\"usage\":{\"prompt_tokens\":-1,\"completion_tokens\":\"x\"}}\n\n"
		 "data: {\"choices\":[7,null,{}]}\n\ndata:\n\n" STOP("stop") DONE,
		 "ok \"b\xEF\xBF\xBD\",\"provider\":\"openai\",\"stop_reason\":\"stop\",\"thinking_segments\":[{\"text\":\"a\"}]");
}

/* The documented ones, and those of compatible servers. */
static void
stop_reasons(void **state)
{
	static const told_stop said[] = {
		{"stop", "stop"}, {"eos", "stop"}, {"end_turn", "stop"}, {"length", "length"}, {"model_length", "length"},
		{"MAX_TOKENS", "length"}, {"content_filter", "filtered"}, {"error", "error"}, {"abort", "error"},
		{"insufficient_system_resource", "error"}, {NULL, NULL}};
	static const told_stop called[] = {{"tool_calls", "tool_calls"}, {"function_call", "tool_calls"},
					   {"stop", "tool_calls"}, {"length", "length"}, {NULL, NULL}};

	(void)state;
	stops_as(P, DELTA("{\"content\":\"so\"}") "data: {\"choices\":[{\"finish_reason\":\"", "\"}]}\n\n" DONE, said);
	stops_as(P, DELTA("{\"tool_calls\":[{\"index\":0,\"id\":\"a\",\"function\":{\"name\":\"f\",\"arguments\":\"{}\"}}]}")
		 "data: {\"choices\":[{\"finish_reason\":\"", "\"}]}\n\n" DONE, called);
	/* none: a connection that ends here is cut */
	reads_as(P, CHUNK("\"choices\":[{\"index\":0,\"delta\":{\"content\":\"so\"},\"finish_reason\":\"\"}]"),
		 "ok ... \"so\",\"provider\":\"openai\"");
}

static void
errors(void **state)
{
	(void)state;
	reads_as(P, DELTA("{\"content\":\"so f\"}") "data: {\"error\":{\"message\":\"overloaded\",\"code\":503}}\n\n",
		 "ok \"so f\",\"provider\":\"openai\",\"stop_reason\":\"error\",\"error\":\"overloaded\"");
	reads_as(P, CHUNK("\"choices\":[{\"index\":0,\"delta\":{\"content\":\"a\"},\"error\":{\"message\":\"gone\"},\"finish_reason\":\"error\"}]"),
		 "ok \"a\",\"provider\":\"openai\",\"stop_reason\":\"error\",\"error\":\"gone\"");
	/* the connection ends: between events, and inside of one */
	reads_as(P, DELTA("{\"content\":\"so f\"}"), "ok ... \"so f\",\"provider\":\"openai\"");
	reads_as(P, DELTA("{\"content\":\"so f\"}") "data: {\"choices\":[{\"delta\":{\"content\":\"\xE2\x82",
		 "upstream ... \"so f\",\"provider\":\"openai\" the server's response is not a model's reply: "
		 "{\"choices\":[{\"delta\":{\"content\":\" ...");
	reads_as(P, "data: <html>\n\n", "upstream ... \"\" the server's response is not a model's reply: <html>");
	error_reads_as(P, "{\"error\":{\"message\":\"No such model\",\"type\":\"invalid_request_error\"}}", "No such model");
	error_reads_as(P, "{\"error\":\"unauthorized\"}", "unauthorized");
	error_reads_as(P, "[{\"error\":{\"code\":400,\"message\":\"bad\"}}]", "bad");
	error_reads_as(P, "{\"detail\":\"Not Found\"}", "Not Found");
	error_reads_as(P, "{\"object\":\"error\",\"message\":\"too long\"}", "too long");
	error_reads_as(P, "{\"error\":{\"code\":7}}", "{\"code\":7}");
	error_reads_as(P, "<html>502</html>", "");
	error_reads_as(P, "", "");
}

static void
whole(void **state)
{
	(void)state;
	whole_reads_as(P,
		       "{\"model\":\"m\",\"choices\":[{\"index\":0,\"message\":{\"role\":\"assistant\",\"content\":\"Hi\",\"reasoning_content\":\"hm\"},\"finish_reason\":\"stop\"}],"
		       "\"usage\":{\"prompt_tokens\":3,\"completion_tokens\":1}}\n",
		       "ok \"Hi\",\"provider\":\"openai\",\"model\":\"m\",\"stop_reason\":\"stop\","
		       "\"usage\":{\"input_tokens\":3,\"output_tokens\":1},\"thinking_segments\":[{\"text\":\"hm\"}]");
	whole_reads_as(P,
		       "{\"choices\":[{\"message\":{\"content\":null,\"tool_calls\":[{\"id\":\"c\",\"function\":{\"name\":\"f\",\"arguments\":\"{\\\"a\\\":1}\"}}]},\"finish_reason\":\"tool_calls\"}]}",
		       "ok [{\"type\":\"toolCall\",\"id\":\"c\",\"name\":\"f\",\"arguments\":{\"a\":1}}],"
		       "\"provider\":\"openai\",\"stop_reason\":\"tool_calls\"");
	whole_reads_as(P, "{\"error\":{\"message\":\"no\"}}",
		       "ok \"\",\"provider\":\"openai\",\"stop_reason\":\"error\",\"error\":\"no\"");
	whole_reads_as(P, "", "upstream ... \"\" the server's response is not a model's reply: ");
}

static void
around(void **state)
{
	(void)state;
	path_is(P, "m", true, "/chat/completions");
	headers_are(P, "k-1", "Authorization: Bearer k-1\n");
	headers_are(P, "", "");
	headers_are(P, "k\r\nX-Evil: 1", "");
	models_read_as(P, "{\"data\":[{\"id\":\"a\"},{\"id\":\"b/c\",\"context_length\":4096},{\"x\":1}]}", "a:0 b/c:4096 ");
	models_read_as(P, "[{\"id\":\"a\",\"max_model_len\":5}]", "a:5 ");
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
		cmocka_unit_test(streams), cmocka_unit_test(others_ways), cmocka_unit_test(errors),
		cmocka_unit_test(whole),   cmocka_unit_test(around),	  cmocka_unit_test(no_memory),
		cmocka_unit_test(stop_reasons),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
