/* SPDX-License-Identifier: MIT
 *
 * OpenAI's chat completions, which most other servers speak too.
 *
 *   data: {"model":…,"choices":[{"index":0,"delta":{"content":"Hel"}}]}
 *   data: {"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"c1","function":
 *          {"name":"f","arguments":"{\"a\""}}]}}]}         …arguments in pieces
 *   data: {"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}
 *   data: {"choices":[],"usage":{"prompt_tokens":9,"completion_tokens":12}}
 *   data: [DONE]
 *
 * Others' additions that are understood: reasoning in "reasoning_content" (DeepSeek, vLLM,
 * llama.cpp) or "reasoning" (OpenRouter, Groq, Ollama); {"error":…} in the middle; content
 * as a list of parts (Mistral); calls that come whole, all with index 0. Some end without
 * [DONE]: then the stop says that it was all. */
#include "llm/openai_impl.h"

#include "llm/answer.h"
#include "llm/provider.h"

/* ---- writing ---- */

static void
write_said(rt_str text, rt_buf *out)
{
	rt_json_add_string(out, text);
}

static void
write_text(rt_str text, rt_buf *out)
{
	rt_buf_add_c(out, "{\"type\":\"text\"");
	rt_request_add_member(out, "text", text);
	rt_buf_add_byte(out, '}');
}

static bool
takes_image(const rt_model_request *r)
{
	return !r->in_result && r->speaker == RT_SPEAKER_USER;
}

static bool
write_image(rt_model_request *r, rt_str mime, rt_str base64)
{
	rt_buf *p;

	if (!takes_image(r))
		return false;
	p = rt_request_part(r);
	rt_buf_add_c(p, "{\"type\":\"image_url\",\"image_url\":{\"url\":\"data:");
	rt_buf_add_str(p, mime); /* checked by the caller: no quote in it */
	rt_buf_add_c(p, ";base64,");
	rt_buf_add_str(p, base64);
	rt_buf_add_c(p, "\"}}");
	return true;
}

static bool
write_image_url(rt_model_request *r, rt_str url)
{
	rt_buf *p;

	if (!takes_image(r))
		return false;
	p = rt_request_part(r);
	rt_buf_add_c(p, "{\"type\":\"image_url\",\"image_url\":{");
	rt_request_add_member(p, "url", url);
	rt_buf_add_c(p, "}}");
	return true;
}

static void
write_call(const rt_request_call_data *call, rt_buf *out)
{
	rt_buf_add_byte(out, '{');
	rt_request_add_member(out, "id", call->id);
	rt_buf_add_c(out, ",\"type\":\"function\",\"function\":{");
	rt_request_add_member(out, "name", call->name);
	rt_request_add_member(out, "arguments", call->arguments);
	rt_buf_add_c(out, "}}");
}

static void
write_result(const rt_model_request *r, rt_buf *out)
{
	rt_buf_add_c(out, "{\"role\":\"tool\"");
	rt_request_add_member(out, "tool_call_id", r->result_id);
	rt_request_add_member(out, "content", rt_buf_str(&r->result.text));
	rt_buf_add_byte(out, '}');
}

static void
write_body(const rt_model_request *r, const rt_request_settings *s, rt_buf *out)
{
	rt_request_add_model(r, s, out);
	rt_request_add_messages(r, "messages", out);
	rt_request_add_json(out, "temperature", s->temperature);
	rt_request_add_json(out, "top_p", s->top_p);
	rt_request_add_json(out, "max_tokens", s->max_tokens);
	if (s->stream)
		rt_buf_add_c(out, ",\"stream\":true,\"stream_options\":{\"include_usage\":true}");
}

const struct rt_provider_writer rt_openai_writer = {
	.assistant = "assistant",
	.content = "content",
	.said = write_said,
	.text = write_text,
	.image = write_image,
	.image_url = write_image_url,
	.call = write_call,
	.result = write_result,
	.body = write_body,
};

static rt_status
path(rt_str model, bool stream, rt_buf *out, rt_error *err)
{
	(void)model;
	(void)stream;
	rt_buf_add_c(out, "/chat/completions");
	return out->status == RT_OK ? RT_OK : rt_fail(err, out->status, "out of memory");
}

static void
headers(rt_str key, rt_header_fn fn, void *ctx)
{
	rt_answer_key_header(RT_STR("Authorization"), RT_STR("Bearer "), key, fn, ctx);
}

/* ---- reading ---- */

/* Its own words, and those of servers that speak as it does: Mistral's "model_length",
 * "abort" of vLLM, DeepSeek's for an overload. Some say "stop" also where there are calls. */
static rt_stop
stop_of(rt_str reason, const rt_reply *reply)
{
	if (rt_str_is(reason, "length") || rt_str_is(reason, "model_length") ||
	    rt_str_eq_nocase(reason, RT_STR("max_tokens")))
		return RT_STOP_LENGTH;
	if (rt_str_is(reason, "tool_calls") || rt_str_is(reason, "function_call"))
		return RT_STOP_CALLS;
	if (rt_str_is(reason, "content_filter"))
		return RT_STOP_FILTER;
	if (rt_str_is(reason, "error") || rt_str_is(reason, "abort") ||
	    rt_str_is(reason, "insufficient_system_resource"))
		return RT_STOP_ERROR;
	return rt_reply_call_count(reply) > 0 ? RT_STOP_CALLS : RT_STOP_END;
}

static void
take_usage(rt_reply *reply, yyjson_val *usage)
{
	yyjson_val *details = rt_json_get(usage, "prompt_tokens_details");
	rt_usage told = {rt_answer_count(usage, "prompt_tokens"),
			 rt_answer_count(usage, "completion_tokens"),
			 rt_answer_count(details, "cached_tokens"), SIZE_MAX};

	rt_reply_set_usage(reply, &told);
}

/* A string, or parts with texts, and thinking with parts of its own. */
static void
take_content(rt_reply *reply, yyjson_val *content)
{
	yyjson_val *part, *inner;
	size_t i, max, k, inner_max;

	if (yyjson_is_str(content))
		rt_reply_add_text(reply, rt_json_str(content));
	yyjson_arr_foreach(content, i, max, part)
	{
		yyjson_val *thinking = rt_json_get(part, "thinking");

		if (yyjson_is_str(thinking))
			rt_reply_add_thinking(reply, rt_json_str(thinking));
		yyjson_arr_foreach(thinking, k, inner_max, inner)
			rt_reply_add_thinking(reply, rt_json_str(rt_json_get(inner, "text")));
		if (thinking == NULL)
			rt_reply_add_text(reply, rt_json_str(rt_json_get(part, "text")));
	}
}

static void
take_calls(rt_reply *reply, yyjson_val *calls)
{
	yyjson_val *call;
	size_t i, max;

	yyjson_arr_foreach(calls, i, max, call)
	{
		yyjson_val *function = rt_json_get(call, "function");
		uint64_t index = i;

		(void)rt_json_u64(rt_json_get(call, "index"), &index);
		rt_answer_add_call(reply, index, rt_json_get(call, "id"),
				   rt_json_get(function, "name"),
				   rt_json_get(function, "arguments"));
	}
}

/* What is said in a "delta", or in a whole "message". */
static void
take_message(rt_reply *reply, yyjson_val *message)
{
	yyjson_val *reasoning = rt_json_get(message, "reasoning_content");
	yyjson_val *function = rt_json_get(message, "function_call");

	if (!yyjson_is_str(reasoning))
		reasoning = rt_json_get(message, "reasoning");
	if (yyjson_is_str(reasoning))
		rt_reply_add_thinking(reply, rt_json_str(reasoning));
	take_content(reply, rt_json_get(message, "content"));
	take_content(reply, rt_json_get(message, "refusal"));
	take_calls(reply, rt_json_get(message, "tool_calls"));
	if (yyjson_is_obj(function)) /* how calls were written once */
		rt_answer_add_call(reply, 0, NULL, rt_json_get(function, "name"),
				   rt_json_get(function, "arguments"));
}

/* The first choice is the reply; we never ask for more. */
static void
take_choices(rt_reply *reply, yyjson_val *choices, const char *member)
{
	yyjson_val *choice, *reason;
	size_t i, max;

	yyjson_arr_foreach(choices, i, max, choice)
	{
		uint64_t index = 0;

		(void)rt_json_u64(rt_json_get(choice, "index"), &index);
		if (index != 0)
			continue;
		take_message(reply, rt_json_get(choice, member));
		(void)rt_answer_take_error(reply, choice);
		reason = rt_json_get(choice, "finish_reason"); /* "" of some, while it goes on */
		if (rt_json_str(reason).size > 0 && reply->stop != RT_STOP_ERROR)
			rt_reply_set_stop(reply, stop_of(rt_json_str(reason), reply));
	}
}

static rt_status
take(rt_reply *reply, rt_str data, const char *member, rt_error *err)
{
	rt_json_doc *doc = NULL;
	rt_status st = rt_answer_read(reply->alloc, data, &doc, err);
	yyjson_val *root;

	if (st != RT_OK)
		return st;
	root = rt_json_root(doc);
	reply->provider = "openai";
	if (!rt_answer_take_error(reply, root)) {
		rt_reply_set_model(reply, rt_json_str(rt_json_get(root, "model")));
		take_choices(reply, rt_json_get(root, "choices"), member);
		if (yyjson_is_obj(rt_json_get(root, "usage")))
			take_usage(reply, rt_json_get(root, "usage"));
	}
	rt_json_free(doc);
	return rt_answer_end(reply, err);
}

static rt_status
read_event(rt_reply *reply, rt_str event, rt_str data, rt_error *err)
{
	(void)event;
	data = rt_str_trim(data);
	if (data.size == 0)
		return RT_OK;
	if (rt_str_is(data, "[DONE]")) {
		reply->ended = true;
		return RT_OK;
	}
	return take(reply, data, "delta", err);
}

static rt_status
read_whole(rt_reply *reply, rt_str body, rt_error *err)
{
	rt_status st = take(reply, body, "message", err);

	reply->ended = reply->ended || st == RT_OK;
	return st;
}

static rt_status
read_models(rt_str body, const rt_alloc *alloc, rt_model_fn fn, void *ctx, rt_error *err)
{
	return rt_answer_read_models(body, alloc, "data", "id", fn, ctx, err);
}

const rt_provider rt_provider_openai = {
	.name = "openai",
	.title = "OpenAI, and servers that speak as it does",
	.url = "https://api.openai.com/v1",
	.key_env = "OPENAI_API_KEY",
	.key_needed = true,
	.framing = RT_FRAMING_SSE,
	.writer = &rt_openai_writer,
	.path = path,
	.headers = headers,
	.read_event = read_event,
	.read_whole = read_whole,
	.read_error = rt_answer_read_error,
	.models_path = "/models",
	.read_models = read_models,
};
