/* SPDX-License-Identifier: MIT
 *
 * Ollama's own chat: one JSON object a line.
 *
 *   {"model":…,"message":{"role":"assistant","content":"Hel"},"done":false}
 *   {"message":{"content":"","thinking":"hm"},"done":false}
 *   {"message":{"tool_calls":[{"function":{"name":"f","arguments":{…}}}]},"done":false}
 *   {"message":{"content":""},"done":true,"done_reason":"stop",
 *    "prompt_eval_count":9,"eval_count":12}
 *   {"error":"…"}          at any time
 *
 * Calls are complete, often without an id, and the reason is "stop" with them too. A request
 * without "stream" is answered with a stream as well. */
#include "llm/provider.h"

/* ---- requests ---- */

static void
write_body(const rt_model_request *r, const rt_request_settings *s, rt_buf *out)
{
	rt_request_add_model(r, s, out);
	rt_request_add_messages(r, "messages", out);
	rt_request_add_options(s, "options", "top_p", "num_predict", NULL, out);
	if (rt_str_is(s->effort, "none"))
		rt_buf_add_c(out, ",\"think\":false");
	else if (s->effort.size > 0)
		rt_request_add_member(out, "think", rt_str_is(s->effort, "minimal") ? RT_STR("low")
										: s->effort);
	if (s->prompt_json)
		rt_buf_add_c(out, ",\"format\":" RT_REQUEST_PROMPT_SCHEMA);
	if (s->stream)
		rt_buf_add_c(out, ",\"stream\":true");
}

static const struct rt_provider_writer writer = {
	.assistant = "assistant",
	.content = "content",
	.texts_only = true,
	.image_places = RT_IMAGE_BY_USER,
	.plain = "$t",
	.text = "",
	.image = "$b",
	.call = "{\"function\":{\"name\":$n,\"arguments\":$a}}",
	.result = "{\"role\":\"tool\",\"tool_name\":$n,\"content\":$x}",
	.body = write_body,
};

/* The url that a value of OLLAMA_HOST means: "host", "host:port", ":port" or a url; nothing for an
 * empty one. */
static void
add_url(rt_str host, rt_buf *out)
{
	size_t colon, second;

	host = rt_str_trim(host);
	if (host.size >= 2 && host.ptr[0] == '"' && host.ptr[host.size - 1] == '"')
		host = rt_str_at(host.ptr + 1, host.size - 2);
	if (host.size == 0)
		return;
	if (rt_str_find(host, RT_STR("://"), 0) != SIZE_MAX) {
		rt_buf_add_str(out, host);
		return;
	}
	rt_buf_add_c(out, "http://");
	colon = rt_str_find(host, RT_STR(":"), 0);
	second = colon == SIZE_MAX ? colon : rt_str_find(host, RT_STR(":"), colon + 1);
	if (second != SIZE_MAX && host.ptr[0] != '[') { /* an IPv6 address without brackets */
		if (rt_str_is(host, "::")) /* a server's listening address: all of its addresses */
			host = RT_STR("::1");
		rt_buf_add_f(out, "[%.*s]:11434", RT_STR_ARG(host));
		return;
	}
	if (rt_str_starts(host, RT_STR("0.0.0.0")) && (host.size == 7 || colon == 7)) {
		host = rt_str_at(host.ptr + 7, host.size - 7); /* the same */
		rt_buf_add_c(out, "127.0.0.1");
	} else if (colon == 0) { /* a port alone */
		rt_buf_add_c(out, "127.0.0.1");
	}
	rt_buf_add_str(out, host);
	if (colon == SIZE_MAX || (host.size > 0 && host.ptr[host.size - 1] == ']'))
		rt_buf_add_c(out, ":11434");
}

/* ---- answers ---- */

static void
read_message(rt_reply *reply, yyjson_val *message)
{
	yyjson_val *text = rt_json_get(message, "thinking");
	yyjson_val *calls = rt_json_get(message, "tool_calls");

	if (yyjson_is_str(text))
		rt_reply_add_thinking(reply, rt_json_str(text));
	text = rt_json_get(message, "content");
	if (yyjson_is_str(text))
		rt_reply_add_text(reply, rt_json_str(text));
	for (rt_json_iter it = rt_json_items(calls); rt_json_next(&it);) {
		yyjson_val *function = rt_json_get(it.value, "function");

		rt_answer_add_call(reply, reply->block_count, rt_json_get(it.value, "id"),
				   rt_json_get(function, "name"),
				   rt_json_get(function, "arguments"));
	}
}

static void
read_end(rt_reply *reply, yyjson_val *root)
{
	rt_str reason = rt_json_str(rt_json_get(root, "done_reason"));
	rt_usage counts = {rt_answer_count(root, "prompt_eval_count"),
			   rt_answer_count(root, "eval_count"), SIZE_MAX, SIZE_MAX};

	rt_reply_set_usage(reply, &counts);
	if (rt_reply_is_empty(reply) && (rt_str_is(reason, "load") || rt_str_is(reason, "unload")))
		rt_reply_set_error(reply, RT_STR("the server only loaded or unloaded the model"));
	else
		rt_reply_set_stop(reply, rt_str_is(reason, "length") ? RT_STOP_LENGTH
								     : rt_answer_usual_stop(reply));
	reply->ended = true;
}

static void
read_answer(rt_reply *reply, yyjson_val *root, bool whole)
{
	(void)whole;
	rt_reply_set_model(reply, rt_json_str(rt_json_get(root, "model")));
	read_message(reply, rt_json_get(root, "message"));
	if (yyjson_is_true(rt_json_get(root, "done")))
		read_end(reply, root);
}

const rt_provider rt_provider_ollama = {
	.name = "ollama",
	.title = "Ollama, on this machine or another",
	.url = "http://localhost:11434",
	.key_env = "OLLAMA_API_KEY", /* for a server with an authenticating proxy: Ollama itself
				      * needs none */
	.url_env = "OLLAMA_HOST",
	.add_url = add_url,
	.model_infix = ":",
	.no_image_urls = true,
	.writer = &writer,
	.path = "/api/chat",
	.key_header = "Authorization",
	.key_prefix = "Bearer ",
	.framing = RT_FRAMING_LINES,
	.read = read_answer,
	.models_path = "/api/tags",
	.models_list = "models",
	.models_name = "name",
	.embeddings_path = "/v1/embeddings",
};
