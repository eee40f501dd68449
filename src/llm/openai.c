/* SPDX-License-Identifier: MIT
 *
 * OpenAI's chat completions, which most other servers understand too.
 *
 *   data: {"model":…,"choices":[{"index":0,"delta":{"content":"Hel"}}]}
 *   data: {"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"c1","function":
 *          {"name":"f","arguments":"{\"a\""}}]}}]}         …arguments in pieces
 *   data: {"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}
 *   data: {"choices":[],"usage":{"prompt_tokens":9,"completion_tokens":12}}
 *   data: [DONE]
 *
 * Extensions of other servers: reasoning in "reasoning_content" (DeepSeek, vLLM, llama.cpp) or
 * "reasoning" (OpenRouter, Groq, Ollama); {"error":…} within a stream; content as a list of
 * parts (Mistral); complete calls that all have index 0. Some end without [DONE]: then the stop
 * ends the reply. */
#include "llm/provider.h"

/* ---- requests ---- */

static void
write_body(const rt_model_request *r, const rt_request_settings *s, rt_buf *out)
{
	rt_request_add_model(r, s, out);
	rt_request_add_messages(r, "messages", out);
	rt_request_add_json(out, "temperature", s->temperature);
	rt_request_add_json(out, "top_p", s->top_p);
	rt_request_add_json(out, "max_tokens", s->max_tokens);
	if (s->effort.size > 0)
		rt_request_add_member(out, "reasoning_effort", s->effort);
	if (s->prompt_json)
		rt_buf_add_c(out, ",\"response_format\":{\"type\":\"json_schema\",\"json_schema\":{"
				  "\"name\":\"reply\",\"strict\":true,\"schema\":"
				  RT_REQUEST_PROMPT_SCHEMA "}}");
	if (s->stream)
		rt_buf_add_c(out, ",\"stream\":true,\"stream_options\":{\"include_usage\":true}");
}

const struct rt_provider_writer rt_openai_writer = {
	.assistant = "assistant",
	.content = "content",
	.image_places = RT_IMAGE_BY_USER,
	.plain = "$t",
	.text = "{\"type\":\"text\",\"text\":$t}",
	.image = "{\"type\":\"image_url\",\"image_url\":{\"url\":\"data:$M;base64,$B\"}}",
	.image_url = "{\"type\":\"image_url\",\"image_url\":{\"url\":$u}}",
	.file = "{\"type\":\"file\",\"file\":{\"filename\":$n,\"file_data\":\"data:$M;base64,$B\"}}",
	.call = "{\"id\":$i,\"type\":\"function\",\"function\":{\"name\":$n,\"arguments\":$A}}",
	.result = "{\"role\":\"tool\",\"tool_call_id\":$i,\"content\":$x}",
	.body = write_body,
};

/* ---- answers ---- */

/* OpenAI's own words, and those of others: Mistral's "model_length", vLLM's "abort", DeepSeek's for
 * an overload. */
static const rt_answer_stop stops[] = {
	{"length", RT_STOP_LENGTH},
	{"model_length", RT_STOP_LENGTH},
	{"max_tokens", RT_STOP_LENGTH},
	{"tool_calls", RT_STOP_CALLS},
	{"function_call", RT_STOP_CALLS},
	{"content_filter", RT_STOP_FILTER},
	{"error", RT_STOP_ERROR},
	{"abort", RT_STOP_ERROR},
	{"insufficient_system_resource", RT_STOP_ERROR},
	{NULL, RT_STOP_NONE},
};

static void
read_usage(rt_reply *reply, yyjson_val *usage)
{
	yyjson_val *details = rt_json_get(usage, "prompt_tokens_details");
	rt_usage counts = {rt_answer_count(usage, "prompt_tokens"),
			   rt_answer_count(usage, "completion_tokens"),
			   rt_answer_count(details, "cached_tokens"), SIZE_MAX};

	rt_reply_set_usage(reply, &counts);
}

/* A string, or parts with texts, and thinking, which has parts as well. */
static void
read_content(rt_reply *reply, yyjson_val *content)
{
	if (yyjson_is_str(content))
		rt_reply_add_text(reply, rt_json_str(content));
	for (rt_json_iter it = rt_json_items(content); rt_json_next(&it);) {
		yyjson_val *thinking = rt_json_get(it.value, "thinking");

		if (yyjson_is_str(thinking))
			rt_reply_add_thinking(reply, rt_json_str(thinking));
		for (rt_json_iter in = rt_json_items(thinking); rt_json_next(&in);)
			rt_reply_add_thinking(reply, rt_json_str(rt_json_get(in.value, "text")));
		if (thinking == NULL)
			rt_reply_add_text(reply, rt_json_str(rt_json_get(it.value, "text")));
	}
}

static void
read_call(rt_reply *reply, uint64_t index, yyjson_val *id, yyjson_val *function)
{
	rt_answer_add_call(reply, index, id, rt_json_get(function, "name"),
			   rt_json_get(function, "arguments"));
}

static void
read_message(rt_reply *reply, yyjson_val *message)
{
	yyjson_val *reasoning = rt_json_get(message, "reasoning_content");
	yyjson_val *function = rt_json_get(message, "function_call");
	yyjson_val *calls = rt_json_get(message, "tool_calls");

	if (!yyjson_is_str(reasoning))
		reasoning = rt_json_get(message, "reasoning");
	if (yyjson_is_str(reasoning))
		rt_reply_add_thinking(reply, rt_json_str(reasoning));
	read_content(reply, rt_json_get(message, "content"));
	read_content(reply, rt_json_get(message, "refusal"));
	for (rt_json_iter it = rt_json_items(calls); rt_json_next(&it);) {
		uint64_t index = it.index;

		(void)rt_json_u64(rt_json_get(it.value, "index"), &index);
		read_call(reply, index, rt_json_get(it.value, "id"),
			  rt_json_get(it.value, "function"));
	}
	if (yyjson_is_obj(function)) /* the form of calls before 2024 */
		read_call(reply, 0, NULL, function);
}

/* The first choice is the reply; requests never ask for more. */
void
rt_openai_read(rt_reply *reply, yyjson_val *root, bool whole)
{
	rt_reply_set_model(reply, rt_json_str(rt_json_get(root, "model")));
	for (rt_json_iter it = rt_json_items(rt_json_get(root, "choices")); rt_json_next(&it);) {
		rt_str reason = rt_json_str(rt_json_get(it.value, "finish_reason"));
		uint64_t index = 0;

		(void)rt_json_u64(rt_json_get(it.value, "index"), &index);
		if (index != 0)
			continue;
		read_message(reply, rt_json_get(it.value, whole ? "message" : "delta"));
		(void)rt_answer_read_error(reply, it.value);
		if (reason.size > 0 &&
		    reply->stop != RT_STOP_ERROR) /* some send "" until the end */
			rt_reply_set_stop(reply, rt_answer_stop_of(stops, reason,
								   rt_answer_usual_stop(reply)));
	}
	if (yyjson_is_obj(rt_json_get(root, "usage")))
		read_usage(reply, rt_json_get(root, "usage"));
}

const rt_provider rt_provider_openai = {
	.name = "openai",
	.title = "OpenAI and compatible servers",
	.url = "https://api.openai.com/v1",
	.key_env = "OPENAI_API_KEY",
	.url_env = "OPENAI_BASE_URL",
	.model_prefixes = {"gpt-", "chatgpt-", "o1", "o3", "o4"},
	.key_needed = true,
	.writer = &rt_openai_writer,
	.path = "/chat/completions",
	.key_header = "Authorization",
	.key_prefix = "Bearer ",
	.framing = RT_FRAMING_SSE,
	.end_mark = "[DONE]",
	.read = rt_openai_read,
	.models_path = "/models",
	.models_list = "data",
	.models_name = "id",
	.embeddings_path = "/embeddings",
};

/* The built-in models read the same requests. */
#define BUILTIN \
	.name = "builtin", .title = "Built-in (offline; repeats messages)", \
	.model_prefixes = {"echo", "summary"}, .writer = &rt_openai_writer

const rt_provider rt_provider_builtin = {BUILTIN};
const rt_provider rt_provider_builtin_text = {BUILTIN, .no_images = true};
