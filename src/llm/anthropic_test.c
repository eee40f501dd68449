/* SPDX-License-Identifier: MIT
 *
 * Anthropic's answers. */
#include "llm/llm_testing.h"

#include "chat/reply.h"

#define P (&rt_provider_anthropic)
#define EVENT(name, members) "event: " name "\ndata: {\"type\":\"" name "\"" members "}\n\n"
#define START \
	EVENT("message_start", ",\"message\":{\"id\":\"msg\",\"role\":\"assistant\",\"model\":\"claude-x\",\"content\":[]," \
			       "\"stop_reason\":null,\"usage\":{\"input_tokens\":10,\"cache_creation_input_tokens\":2," \
			       "\"cache_read_input_tokens\":30,\"output_tokens\":1}}")
#define BLOCK(index, block) EVENT("content_block_start", ",\"index\":" index ",\"content_block\":" block)
#define DELTA(index, delta) EVENT("content_block_delta", ",\"index\":" index ",\"delta\":" delta)
#define BLOCK_END(index) EVENT("content_block_stop", ",\"index\":" index)
#define END(reason) \
	EVENT("message_delta", ",\"delta\":{\"stop_reason\":\"" reason "\",\"stop_sequence\":null},\"usage\":{\"output_tokens\":25}") \
	EVENT("message_stop", "")
#define TOLD(reason) \
	"\"provider\":\"anthropic\",\"model\":\"claude-x\",\"stop_reason\":\"" reason "\"," \
	"\"usage\":{\"input_tokens\":42,\"output_tokens\":25,\"cache_read_input_tokens\":30,\"cache_creation_input_tokens\":2}"

static const char everything[] =
	START BLOCK("0", "{\"type\":\"thinking\",\"thinking\":\"\",\"signature\":\"\"}")
	"event: ping\ndata: {\"type\": \"ping\"}\n\n"
	DELTA("0", "{\"type\":\"thinking_delta\",\"thinking\":\"Let me \"}")
	DELTA("0", "{\"type\":\"thinking_delta\",\"thinking\":\"see\"}")
	DELTA("0", "{\"type\":\"signature_delta\",\"signature\":\"c2ln\"}") BLOCK_END("0")
	BLOCK("1", "{\"type\":\"redacted_thinking\",\"data\":\"ZGF0YQ==\"}") BLOCK_END("1")
	BLOCK("2", "{\"type\":\"text\",\"text\":\"\"}")
	DELTA("2", "{\"type\":\"text_delta\",\"text\":\"I \xE2\x82\xAC \"}")
	DELTA("2", "{\"type\":\"novelty_delta\",\"text\":\"x\"}")
	DELTA("2", "{\"type\":\"text_delta\",\"text\":\"look.\"}") BLOCK_END("2")
	BLOCK("3", "{\"type\":\"tool_use\",\"id\":\"toolu_1\",\"name\":\"read\",\"input\":{}}")
	DELTA("3", "{\"type\":\"input_json_delta\",\"partial_json\":\"\"}")
	DELTA("3", "{\"type\":\"input_json_delta\",\"partial_json\":\"{\\\"path\\\":\"}")
	DELTA("3", "{\"type\":\"input_json_delta\",\"partial_json\":\" \\\"a\\\"}\"}") BLOCK_END("3")
	BLOCK("4", "{\"type\":\"server_tool_use\",\"id\":\"s\",\"name\":\"web\",\"input\":{}}")
	DELTA("4", "{\"type\":\"input_json_delta\",\"partial_json\":\"{\\\"q\\\":1}\"}") BLOCK_END("4")
	EVENT("novelty", ",\"x\":[1]") END("tool_use");

/* The end of the fields: signed content, with this hash. */
static void
with_hash(rt_buf *out, const char *before, const char *content)
{
	rt_json_doc *doc;
	yyjson_val *root;

	assert_int_equal(rt_json_read(rt_alloc_libc(), rt_str_of(content), &doc, NULL), RT_OK);
	root = rt_json_root(doc);
	rt_buf_init(out, rt_alloc_libc(), RT_BUF_UNLIMITED);
	rt_buf_add_c(out, before);
	rt_buf_add_c(out, ",\"signed_text\":\"");
	rt_reply_add_signed_text(rt_json_str(root), yyjson_is_arr(root) ? root : NULL,
				 rt_alloc_libc(), out);
	rt_buf_add_byte(out, '"');
	rt_json_free(doc);
}

static void
streams(void **state)
{
	static const char content[] =
		"[{\"type\":\"thinking\",\"thinking\":\"Let me see\",\"thinkingSignature\":\"c2ln\"},"
		"{\"type\":\"redacted_thinking\",\"data\":\"ZGF0YQ==\"},"
		"{\"type\":\"text\",\"text\":\"I \xE2\x82\xAC look.\"},"
		"{\"type\":\"toolCall\",\"id\":\"toolu_1\",\"name\":\"read\",\"arguments\":{\"path\":\"a\"}}]";
	rt_buf expected, before;

	(void)state;
	reads_as(P,
		 START BLOCK("0", "{\"type\":\"text\",\"text\":\"\"}") DELTA("0", "{\"type\":\"text_delta\",\"text\":\"Hel\"}")
		 DELTA("0", "{\"type\":\"text_delta\",\"text\":\"lo\"}") BLOCK_END("0") END("end_turn"),
		 "ok \"Hello\"," TOLD("stop"));
	reads_as(P, START BLOCK("0", "{\"type\":\"text\",\"text\":\"so\"}") END("max_tokens"),
		 "ok \"so\"," TOLD("length"));
	reads_as(P, START END("refusal"), "ok \"\"," TOLD("filtered"));
	rt_buf_init(&before, rt_alloc_libc(), RT_BUF_UNLIMITED);
	rt_buf_add_f(&before, "ok %s,%s", content, TOLD("tool_calls"));
	with_hash(&expected, before.ptr, content);
	reads_as(P, everything, expected.ptr);
	rt_buf_deinit(&expected);
	rt_buf_deinit(&before);
}

/* Redacted reasoning is only a signature; two blocks of it stay two. */
static void
thinking_unseen(void **state)
{
	rt_buf expected;

	(void)state;
	with_hash(&expected,
		  "ok \"Yes.\"," TOLD("stop") ",\"thinking_segments\":[{\"text\":\"\",\"signature\":\"s1\"},"
					      "{\"text\":\"\",\"signature\":\"s2\"}]",
		  "\"Yes.\"");
	reads_as(P,
		 START BLOCK("0", "{\"type\":\"thinking\",\"thinking\":\"\",\"signature\":\"\"}")
		 DELTA("0", "{\"type\":\"signature_delta\",\"signature\":\"s1\"}") BLOCK_END("0")
		 BLOCK("1", "{\"type\":\"thinking\",\"thinking\":\"\",\"signature\":\"\"}")
		 DELTA("1", "{\"type\":\"signature_delta\",\"signature\":\"s2\"}") BLOCK_END("1")
		 BLOCK("2", "{\"type\":\"text\",\"text\":\"Yes.\"}") END("stop_sequence"),
		 expected.ptr);
	rt_buf_deinit(&expected);
}

/* Every documented one. pause_turn is about tools of the server, which are never requested. */
static void
stop_reasons(void **state)
{
	static const told_stop said[] = {
		{"end_turn", "stop"}, {"stop_sequence", "stop"}, {"pause_turn", "stop"}, {"tool_use", "tool_calls"},
		{"max_tokens", "length"}, {"model_context_window_exceeded", "length"}, {"refusal", "filtered"},
		{"novelty", "stop"}, {NULL, NULL}};

	(void)state;
	stops_as(P, BLOCK("0", "{\"type\":\"text\",\"text\":\"so\"}")
		 "data: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"",
		 "\"}}\n\ndata: {\"type\":\"message_stop\"}\n\n", said);
}

static void
errors(void **state)
{
	(void)state;
	reads_as(P,
		 START BLOCK("0", "{\"type\":\"text\",\"text\":\"so f\"}")
		 "event: error\ndata: {\"type\":\"error\",\"error\":{\"type\":\"overloaded_error\",\"message\":\"Overloaded\"}}\n\n",
		 "ok \"so f\",\"provider\":\"anthropic\",\"model\":\"claude-x\",\"stop_reason\":\"error\","
		 "\"usage\":{\"input_tokens\":42,\"output_tokens\":1,\"cache_read_input_tokens\":30,\"cache_creation_input_tokens\":2},"
		 "\"error\":\"Overloaded\"");
	/* the connection ends inside of a character */
	reads_as(P,
		 BLOCK("0", "{\"type\":\"text\",\"text\":\"so f\"}")
		 "event: content_block_delta\ndata: {\"delta\":{\"type\":\"text_delta\",\"text\":\"\xE2\x82",
		 "upstream ... \"so f\",\"provider\":\"anthropic\" the server's response is not a model's reply: "
		 "{\"delta\":{\"type\":\"text_delta\",\"text\":\" ...");
	/* or inside of a call */
	reads_as(P,
		 BLOCK("0", "{\"type\":\"tool_use\",\"id\":\"t\",\"name\":\"f\",\"input\":{}}")
		 DELTA("0", "{\"type\":\"input_json_delta\",\"partial_json\":\"{\\\"a\"}"),
		 "ok ... [{\"type\":\"toolCall\",\"id\":\"t\",\"name\":\"f\",\"arguments\":\"{\\\"a\"}],\"provider\":\"anthropic\"");
	reads_as(P, "data: 7\n\n", "upstream ... \"\" the server's response is not a model's reply: 7");
	error_reads_as(P, "{\"type\":\"error\",\"error\":{\"type\":\"authentication_error\",\"message\":\"invalid x-api-key\"}}",
		       "invalid x-api-key");
}

static void
whole(void **state)
{
	rt_buf expected;

	(void)state;
	with_hash(&expected,
		  "ok \"Yes.\",\"provider\":\"anthropic\",\"model\":\"claude-x\",\"stop_reason\":\"stop\","
		  "\"usage\":{\"input_tokens\":3,\"output_tokens\":4},"
		  "\"thinking_segments\":[{\"text\":\"hm\",\"signature\":\"s\"},{\"redacted\":{\"type\":\"redacted_thinking\",\"data\":\"d\"}}]",
		  "\"Yes.\"");
	whole_reads_as(P,
		       "{\"type\":\"message\",\"model\":\"claude-x\",\"content\":[{\"type\":\"thinking\",\"thinking\":\"hm\",\"signature\":\"s\"},"
		       "{\"type\":\"redacted_thinking\",\"data\":\"d\"},{\"type\":\"text\",\"text\":\"Yes.\"}],\"stop_reason\":\"end_turn\","
		       "\"usage\":{\"input_tokens\":3,\"output_tokens\":4}}",
		       expected.ptr);
	rt_buf_deinit(&expected);
	whole_reads_as(P,
		       "{\"content\":[{\"type\":\"tool_use\",\"id\":\"t\",\"name\":\"f\",\"input\":{\"a\":[1.0]}}],\"stop_reason\":\"tool_use\"}",
		       "ok [{\"type\":\"toolCall\",\"id\":\"t\",\"name\":\"f\",\"arguments\":{\"a\":[1.0]}}],"
		       "\"provider\":\"anthropic\",\"stop_reason\":\"tool_calls\"");
}

static void
around(void **state)
{
	(void)state;
	path_is(P, "m", true, "/v1/messages");
	headers_are(P, "k-1", "anthropic-version: 2023-06-01\nx-api-key: k-1\n");
	headers_are(P, "", "anthropic-version: 2023-06-01\n");
	models_read_as(P, "{\"data\":[{\"id\":\"claude-x\",\"display_name\":\"X\",\"max_input_tokens\":200000}],\"has_more\":false}",
		       "claude-x:200000 ");
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
		cmocka_unit_test(streams), cmocka_unit_test(thinking_unseen), cmocka_unit_test(errors),
		cmocka_unit_test(whole),   cmocka_unit_test(around),	      cmocka_unit_test(no_memory),
		cmocka_unit_test(stop_reasons),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
