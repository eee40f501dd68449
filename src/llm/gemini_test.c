/* SPDX-License-Identifier: MIT
 *
 * Gemini's answers. */
#include "llm/llm_testing.h"

#define P (&rt_provider_gemini)
#define USAGE \
	",\"usageMetadata\":{\"promptTokenCount\":12,\"candidatesTokenCount\":5,\"thoughtsTokenCount\":20," \
	"\"cachedContentTokenCount\":8,\"totalTokenCount\":37},\"modelVersion\":\"gemini-x\"}\r\n\r\n"
#define PARTS(parts) "data: {\"candidates\":[{\"content\":{\"role\":\"model\",\"parts\":[" parts "]},\"index\":0}]" USAGE
#define LAST(parts, reason) \
	"data: {\"candidates\":[{\"content\":{\"role\":\"model\",\"parts\":[" parts "]},\"finishReason\":\"" reason "\",\"index\":0}]" USAGE
#define TOLD(reason) \
	"\"provider\":\"gemini\",\"model\":\"gemini-x\",\"stop_reason\":\"" reason "\"," \
	"\"usage\":{\"input_tokens\":12,\"output_tokens\":25,\"cache_read_input_tokens\":8}"

static const char everything[] =
	PARTS("{\"text\":\"Let me \",\"thought\":true}") PARTS("{\"text\":\"see\",\"thought\":true},{\"novelty\":1}")
	PARTS("{\"text\":\"I \xE2\x82\xAC look.\",\"thoughtSignature\":\"dGV4dA==\"}")
	PARTS("{\"functionCall\":{\"name\":\"read\",\"args\":{\"path\":\"a\"}},\"thoughtSignature\":\"c2ln\"},{\"functionCall\":{\"id\":\"x\",\"name\":\"list\"}}")
	LAST("", "STOP");

static void
streams(void **state)
{
	rt_buf expected;
	rt_json_doc *doc;
	static const char content[] =
		"[{\"type\":\"thinking\",\"thinking\":\"Let me see\"},{\"type\":\"text\",\"text\":\"I \xE2\x82\xAC look.\"},"
		"{\"type\":\"toolCall\",\"id\":\"call_1\",\"name\":\"read\",\"arguments\":{\"path\":\"a\"},\"thoughtSignature\":\"c2ln\"},"
		"{\"type\":\"toolCall\",\"id\":\"x\",\"name\":\"list\",\"arguments\":{}}]";

	(void)state;
	reads_as(P, PARTS("{\"text\":\"Hel\"}") LAST("{\"text\":\"lo\"}", "STOP"), "ok \"Hello\"," TOLD("stop"));
	reads_as(P, PARTS("{\"text\":\"hm\",\"thought\":true}") LAST("{\"text\":\"so\"}", "MAX_TOKENS"),
		 "ok \"so\"," TOLD("length") ",\"thinking_segments\":[{\"text\":\"hm\"}]");
	reads_as(P, LAST("{\"text\":\"so\"}", "RECITATION"), "ok \"so\"," TOLD("filtered"));
	rt_buf_init(&expected, rt_alloc_libc(), RT_BUF_UNLIMITED);
	rt_buf_add_f(&expected, "ok %s,%s,\"signed_text\":\"", content, TOLD("tool_calls"));
	assert_int_equal(rt_json_read(rt_alloc_libc(), rt_str_of(content), &doc, NULL), RT_OK);
	rt_reply_add_signed_text(RT_STR(""), rt_json_root(doc), rt_alloc_libc(), &expected);
	rt_json_free(doc);
	rt_buf_add_byte(&expected, '"');
	reads_as(P, everything, expected.ptr);
	rt_buf_deinit(&expected);
}

/* Every documented finishReason, and one that may be added later. */
static void
stop_reasons(void **state)
{
	static const told_stop said[] = {
		{"STOP", "stop"}, {"MAX_TOKENS", "length"},
		{"SAFETY", "filtered"}, {"RECITATION", "filtered"}, {"LANGUAGE", "filtered"},
		{"BLOCKLIST", "filtered"}, {"PROHIBITED_CONTENT", "filtered"}, {"SPII", "filtered"},
		{"IMAGE_SAFETY", "filtered"}, {"IMAGE_PROHIBITED_CONTENT", "filtered"},
		{"IMAGE_RECITATION", "filtered"}, {"MODEL_ARMOR", "filtered"},
		{"OTHER", "error"}, {"MALFORMED_FUNCTION_CALL", "error"}, {"UNEXPECTED_TOOL_CALL", "error"},
		{"TOO_MANY_TOOL_CALLS", "error"}, {"MISSING_THOUGHT_SIGNATURE", "error"},
		{"MALFORMED_RESPONSE", "error"}, {"IMAGE_OTHER", "error"}, {"NO_IMAGE", "error"},
		{"FUNCTION_CALL", "stop"}, {"COMPLETE", "stop"}, {NULL, NULL}};
	static const told_stop called[] = {{"STOP", "tool_calls"}, {"FUNCTION_CALL", "tool_calls"},
					   {"MALFORMED_FUNCTION_CALL", "error"}, {NULL, NULL}};
	static const told_stop nothing[] = {{"STOP", "stop"}, {"NOVELTY", "error"}, {"SAFETY", "filtered"}, {NULL, NULL}};

	(void)state;
	stops_as(P, PARTS("{\"text\":\"so\"}") "data: {\"candidates\":[{\"finishReason\":\"", "\"}]}\n\n", said);
	stops_as(P, PARTS("{\"functionCall\":{\"name\":\"f\"}}") "data: {\"candidates\":[{\"finishReason\":\"", "\"}]}\n\n",
		 called);
	stops_as(P, "data: {\"candidates\":[{\"finishReason\":\"", "\"}]}\n\n", nothing);
	/* not a reason: the reply continues */
	reads_as(P, "data: {\"candidates\":[{\"content\":{\"parts\":[{\"text\":\"Hel\"}]},\"finishReason\":\"FINISH_REASON_UNSPECIFIED\"}]}\n\n"
		 "data: {\"candidates\":[{\"content\":{\"parts\":[{\"text\":\"l\"}]},\"finishReason\":\"\"}]}\n\n"
		 LAST("{\"text\":\"o\"}", "STOP"), "ok \"Hello\"," TOLD("stop"));
}

static void
errors(void **state)
{
	(void)state;
	reads_as(P, "data: {\"promptFeedback\":{\"blockReason\":\"SAFETY\"}" USAGE,
		 "ok \"\"," TOLD("filtered") ",\"error\":\"the provider blocked the request: SAFETY\"");
	reads_as(P, PARTS("{\"text\":\"so f\"}") "data: {\"error\":{\"code\":503,\"message\":\"The model is overloaded.\",\"status\":\"UNAVAILABLE\"}}\n\n",
		 "ok \"so f\"," TOLD("error") ",\"error\":\"The model is overloaded.\"");
	reads_as(P, LAST("", "MALFORMED_FUNCTION_CALL"), "ok \"\"," TOLD("error") ",\"error\":\"MALFORMED_FUNCTION_CALL\"");
	reads_as(P, "data: {\"candidates\":[]}\n\ndata: {\"candidates\":[{\"content\":{\"parts\":[{\"text\":\"\xE2\x82",
		 "upstream ... \"\",\"provider\":\"gemini\" the server's response is not a model's reply: "
		 "{\"candidates\":[{\"content\":{\"parts\":[{\"text\":\" ...");
	error_reads_as(P, "[{\"error\":{\"code\":400,\"message\":\"API key not valid.\",\"status\":\"INVALID_ARGUMENT\"}}]",
		       "API key not valid.");
}

static void
whole(void **state)
{
	(void)state;
	whole_reads_as(P,
		       "{\"candidates\":[{\"content\":{\"role\":\"model\",\"parts\":[{\"text\":\"Hi\"}]},\"finishReason\":\"STOP\"}],"
		       "\"usageMetadata\":{\"promptTokenCount\":2,\"candidatesTokenCount\":1},\"modelVersion\":\"g\"}",
		       "ok \"Hi\",\"provider\":\"gemini\",\"model\":\"g\",\"stop_reason\":\"stop\","
		       "\"usage\":{\"input_tokens\":2,\"output_tokens\":1}");
	/* a stream without alt=sse is an array */
	whole_reads_as(P,
		       "[{\"candidates\":[{\"content\":{\"parts\":[{\"text\":\"H\"}]}}]},\n"
		       "{\"candidates\":[{\"content\":{\"parts\":[{\"text\":\"i\"}]},\"finishReason\":\"STOP\"}]}]",
		       "ok \"Hi\",\"provider\":\"gemini\",\"stop_reason\":\"stop\"");
}

static void
around(void **state)
{
	rt_buf out;
	rt_error err = {0};

	(void)state;
	path_is(P, "gemini-x", true, "/models/gemini-x:streamGenerateContent?alt=sse");
	path_is(P, "tunedModels/my", false, "/tunedModels/my:generateContent");
	path_is(P, "a b?c", false, "/models/a%20b%3Fc:generateContent");
	rt_buf_init(&out, rt_alloc_libc(), RT_BUF_UNLIMITED);
	assert_int_equal(rt_provider_path(P, RT_STR(""), true, &out, &err), RT_USAGE);
	rt_buf_deinit(&out);
	headers_are(P, "k", "x-goog-api-key: k\n");
	headers_are(P, "", "");
	models_read_as(P, "{\"models\":[{\"name\":\"models/gemini-x\",\"inputTokenLimit\":1048576}]}",
		       "gemini-x:1048576 ");
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
