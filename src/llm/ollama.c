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
 * Calls come whole, often without an id, and the reason is "stop" with them too. A server
 * that is not asked for a stream sends one anyway: an answer as a whole is lines as well. */
#include "chat/model_request.h"
#include "llm/answer.h"
#include "llm/provider.h"

/* ---- writing ---- */

static void
write_said(rt_str text, rt_buf *out)
{
	rt_json_add_string(out, text);
}

/* Only the joined texts are sent. */
static void
write_text(rt_str text, rt_buf *out)
{
	(void)text;
	(void)out;
}

static bool
write_image(rt_model_request *r, rt_str mime, rt_str base64)
{
	(void)mime;
	if (r->in_result || r->speaker != RT_SPEAKER_USER)
		return false;
	if (r->images.size > 0)
		rt_buf_add_byte(&r->images, ',');
	rt_json_add_string(&r->images, base64);
	return true;
}

static bool
write_image_url(rt_model_request *r, rt_str url)
{
	(void)r;
	(void)url;
	return false;
}

static void
write_call(const rt_request_call_data *call, rt_buf *out)
{
	rt_buf_add_c(out, "{\"function\":{");
	rt_request_add_member(out, "name", call->name);
	rt_request_add_json(out, "arguments", call->arguments);
	rt_buf_add_c(out, "}}");
}

static void
write_result(const rt_model_request *r, rt_buf *out)
{
	rt_buf_add_c(out, "{\"role\":\"tool\"");
	rt_request_add_member(out, "tool_name", r->result_name);
	rt_request_add_member(out, "content", rt_buf_str(&r->result.text));
	rt_buf_add_byte(out, '}');
}

static void
write_body(const rt_model_request *r, const rt_request_settings *s, rt_buf *out)
{
	rt_request_add_model(r, s, out);
	rt_request_add_messages(r, "messages", out);
	rt_request_add_options(s, "options", "top_p", "num_predict", out);
	if (s->stream)
		rt_buf_add_c(out, ",\"stream\":true");
}

static const struct rt_provider_writer writer = {
	.assistant = "assistant",
	.content = "content",
	.texts_only = true,
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
	rt_buf_add_c(out, "/api/chat");
	return out->status == RT_OK ? RT_OK : rt_fail(err, out->status, "out of memory");
}

/* Its own server wants no key; one behind a gate may. */
static void
headers(rt_str key, rt_header_fn fn, void *ctx)
{
	rt_answer_key_header(RT_STR("Authorization"), RT_STR("Bearer "), key, fn, ctx);
}

/* ---- reading ---- */

static void
take_message(rt_reply *reply, yyjson_val *message)
{
	yyjson_val *call, *text = rt_json_get(message, "thinking");
	size_t i, max;

	if (yyjson_is_str(text))
		rt_reply_add_thinking(reply, rt_json_str(text));
	text = rt_json_get(message, "content");
	if (yyjson_is_str(text))
		rt_reply_add_text(reply, rt_json_str(text));
	yyjson_arr_foreach(rt_json_get(message, "tool_calls"), i, max, call)
	{
		yyjson_val *function = rt_json_get(call, "function");

		rt_answer_add_call(reply, reply->block_count, rt_json_get(call, "id"),
				   rt_json_get(function, "name"),
				   rt_json_get(function, "arguments"));
	}
}

static void
take_done(rt_reply *reply, yyjson_val *root)
{
	rt_str reason = rt_json_str(rt_json_get(root, "done_reason"));
	rt_usage told = {rt_answer_count(root, "prompt_eval_count"),
			 rt_answer_count(root, "eval_count"), SIZE_MAX, SIZE_MAX};

	rt_reply_set_usage(reply, &told);
	if (rt_reply_is_empty(reply) &&
	    (rt_str_is(reason, "load") || rt_str_is(reason, "unload")))
		rt_reply_set_error(reply, RT_STR("the server loaded or unloaded the model "
						 "and asked it nothing"));
	else if (rt_str_is(reason, "length"))
		rt_reply_set_stop(reply, RT_STOP_LENGTH);
	else
		rt_reply_set_stop(reply,
				  rt_reply_call_count(reply) > 0 ? RT_STOP_CALLS : RT_STOP_END);
	reply->ended = true;
}

static rt_status
read_event(rt_reply *reply, rt_str event, rt_str data, rt_error *err)
{
	rt_json_doc *doc = NULL;
	yyjson_val *root;
	rt_status st;

	(void)event;
	if (rt_str_trim(data).size == 0)
		return RT_OK;
	st = rt_answer_read(reply->alloc, data, &doc, err);
	if (st != RT_OK)
		return st;
	root = rt_json_root(doc);
	reply->provider = "ollama";
	if (!rt_answer_take_error(reply, root)) {
		rt_reply_set_model(reply, rt_json_str(rt_json_get(root, "model")));
		take_message(reply, rt_json_get(root, "message"));
		if (yyjson_is_true(rt_json_get(root, "done")))
			take_done(reply, root);
	}
	rt_json_free(doc);
	return rt_answer_end(reply, err);
}

static rt_status
read_whole(rt_reply *reply, rt_str body, rt_error *err)
{
	size_t at = 0;
	rt_status st = RT_OK;

	while (st == RT_OK && at < body.size) {
		size_t end = rt_str_find(body, RT_STR("\n"), at);

		if (end == SIZE_MAX)
			end = body.size;
		st = read_event(reply, rt_str_at(NULL, 0), rt_str_at(body.ptr + at, end - at), err);
		at = end + 1;
	}
	return st;
}

static rt_status
read_models(rt_str body, const rt_alloc *alloc, rt_model_fn fn, void *ctx, rt_error *err)
{
	return rt_answer_read_models(body, alloc, "models", "name", fn, ctx, err);
}

const rt_provider rt_provider_ollama = {
	.name = "ollama",
	.title = "Ollama, on this machine or another",
	.url = "http://localhost:11434",
	.key_env = "OLLAMA_API_KEY",
	.no_image_urls = true,
	.framing = RT_FRAMING_LINES,
	.writer = &writer,
	.path = path,
	.headers = headers,
	.read_event = read_event,
	.read_whole = read_whole,
	.read_error = rt_answer_read_error,
	.models_path = "/api/tags",
	.read_models = read_models,
};
