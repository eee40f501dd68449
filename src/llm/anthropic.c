/* SPDX-License-Identifier: MIT
 *
 * Anthropic's messages.
 *
 *   message_start         {"message":{"model":…,"usage":{"input_tokens":9,…}}}
 *   content_block_start   {"index":0,"content_block":{"type":"thinking",…}}
 *   content_block_delta   {"index":0,"delta":{"type":"thinking_delta","thinking":"…"}}
 *                         {"index":0,"delta":{"type":"signature_delta","signature":"…"}}
 *   content_block_stop    {"index":0}
 *   …                     text with text_delta; tool_use with input_json_delta, whose
 *                         pieces are joined; redacted_thinking whole at its start
 *   message_delta         {"delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":12}}
 *   message_stop, ping, error
 *
 * The type stands in the data too, and that is what counts. Counts of tokens are so far,
 * not since the last; those of the cache come on top of input_tokens. */
#include "chat/model_request.h"
#include "llm/answer.h"
#include "llm/provider.h"

#define MAX_TOKENS_DEFAULT "8192" /* it does not go without */

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
	return r->in_result || r->speaker == RT_SPEAKER_USER;
}

static bool
write_image(rt_model_request *r, rt_str mime, rt_str base64)
{
	rt_buf *p;

	if (!takes_image(r))
		return false;
	p = rt_request_part(r);
	rt_buf_add_c(p, "{\"type\":\"image\",\"source\":{\"type\":\"base64\"");
	rt_request_add_member(p, "media_type", mime);
	rt_request_add_member(p, "data", base64);
	rt_buf_add_c(p, "}}");
	return true;
}

static bool
write_image_url(rt_model_request *r, rt_str url)
{
	rt_buf *p;

	if (!takes_image(r))
		return false;
	p = rt_request_part(r);
	rt_buf_add_c(p, "{\"type\":\"image\",\"source\":{\"type\":\"url\"");
	rt_request_add_member(p, "url", url);
	rt_buf_add_c(p, "}}");
	return true;
}

static void
write_thinking(rt_str text, rt_str signature, yyjson_val *redacted, rt_buf *out)
{
	if (redacted != NULL &&
	    rt_str_is(rt_json_str(rt_json_get(redacted, "type")), "redacted_thinking")) {
		rt_json_add_value(out, redacted);
		return;
	}
	rt_buf_add_byte(out, '{');
	if (redacted != NULL) { /* by another program, in the signature */
		rt_request_add_member(out, "type", RT_STR("redacted_thinking"));
		rt_request_add_member(out, "data", signature);
	} else {
		rt_request_add_member(out, "type", RT_STR("thinking"));
		rt_request_add_member(out, "thinking", text);
		rt_request_add_member(out, "signature", signature);
	}
	rt_buf_add_byte(out, '}');
}

static void
write_call(const rt_request_call_data *call, rt_buf *out)
{
	rt_buf_add_c(out, "{\"type\":\"tool_use\"");
	rt_request_add_member(out, "id", call->id);
	rt_request_add_member(out, "name", call->name);
	rt_request_add_json(out, "input", call->arguments);
	rt_buf_add_byte(out, '}');
}

static void
write_result(const rt_model_request *r, rt_buf *out)
{
	rt_buf_add_c(out, "{\"type\":\"tool_result\"");
	rt_request_add_member(out, "tool_use_id", r->result_id);
	rt_json_add_key(out, "content");
	if (r->result.count == r->result.text_count) {
		rt_json_add_string(out, rt_buf_str(&r->result.text));
	} else {
		rt_buf_add_byte(out, '[');
		rt_buf_add_str(out, rt_buf_str(&r->result.parts));
		rt_buf_add_byte(out, ']');
	}
	if (r->result_failed)
		rt_buf_add_c(out, ",\"is_error\":true");
	rt_buf_add_byte(out, '}');
}

static void
write_body(const rt_model_request *r, const rt_request_settings *s, rt_buf *out)
{
	rt_request_add_model(r, s, out);
	rt_request_add_json(out, "max_tokens",
			    s->max_tokens.ptr != NULL ? s->max_tokens : RT_STR(MAX_TOKENS_DEFAULT));
	if (rt_str_trim(rt_buf_str(&r->top)).size > 0)
		rt_request_add_member(out, "system", rt_buf_str(&r->top));
	rt_request_add_messages(r, "messages", out);
	rt_request_add_json(out, "temperature", s->temperature);
	rt_request_add_json(out, "top_p", s->top_p);
	if (s->stream)
		rt_buf_add_c(out, ",\"stream\":true");
}

static const struct rt_provider_writer writer = {
	.assistant = "assistant",
	.content = "content",
	.calls_inside = true,
	.no_blanks = true,
	.said = write_said,
	.text = write_text,
	.image = write_image,
	.image_url = write_image_url,
	.thinking = write_thinking,
	.call = write_call,
	.result = write_result,
	.body = write_body,
};

static rt_status
path(rt_str model, bool stream, rt_buf *out, rt_error *err)
{
	(void)model;
	(void)stream;
	rt_buf_add_c(out, "/v1/messages");
	return out->status == RT_OK ? RT_OK : rt_fail(err, out->status, "out of memory");
}

static void
headers(rt_str key, rt_header_fn fn, void *ctx)
{
	fn(ctx, RT_STR("anthropic-version"), RT_STR("2023-06-01"));
	rt_answer_key_header(RT_STR("x-api-key"), rt_str_at(NULL, 0), key, fn, ctx);
}

/* ---- reading ---- */

static rt_stop
stop_of(rt_str reason)
{
	if (rt_str_is(reason, "max_tokens") || rt_str_is(reason, "model_context_window_exceeded"))
		return RT_STOP_LENGTH;
	if (rt_str_is(reason, "tool_use"))
		return RT_STOP_CALLS;
	if (rt_str_is(reason, "refusal"))
		return RT_STOP_FILTER;
	return RT_STOP_END;
}

static void
take_usage(rt_reply *reply, yyjson_val *usage)
{
	size_t input = rt_answer_count(usage, "input_tokens");
	rt_usage told = {SIZE_MAX, rt_answer_count(usage, "output_tokens"),
			 rt_answer_count(usage, "cache_read_input_tokens"),
			 rt_answer_count(usage, "cache_creation_input_tokens")};

	rt_reply_set_usage(reply, &told);
	if (input == SIZE_MAX)
		return;
	input = rt_answer_sum(input, reply->usage.cache_read);
	reply->usage.input = rt_answer_sum(input, reply->usage.cache_write);
}

static void
take_stop(rt_reply *reply, yyjson_val *from)
{
	yyjson_val *reason = rt_json_get(from, "stop_reason");

	if (yyjson_is_str(reason))
		rt_reply_set_stop(reply, stop_of(rt_json_str(reason)));
}

/* A block as it begins, or (whole) all of it. Blocks of the server's own tools are passed
 * over. */
static void
take_block(rt_reply *reply, uint64_t index, yyjson_val *block, bool whole)
{
	rt_str type = rt_json_str(rt_json_get(block, "type"));
	rt_buf json;

	if (rt_str_is(type, "text")) {
		rt_reply_add_text(reply, rt_json_str(rt_json_get(block, "text")));
	} else if (rt_str_is(type, "thinking")) {
		rt_reply_begin_thinking(reply);
		rt_reply_add_thinking(reply, rt_json_str(rt_json_get(block, "thinking")));
		rt_reply_add_signature(reply, rt_json_str(rt_json_get(block, "signature")));
	} else if (rt_str_is(type, "redacted_thinking")) {
		rt_buf_init(&json, reply->alloc, RT_BUF_UNLIMITED);
		rt_json_add_value(&json, block);
		rt_reply_add_redacted(reply, rt_buf_str(&json));
		if (json.status != RT_OK && reply->status == RT_OK)
			reply->status = json.status;
		rt_buf_deinit(&json);
	} else if (rt_str_is(type, "tool_use")) {
		rt_answer_add_call(reply, index, rt_json_get(block, "id"),
				   rt_json_get(block, "name"),
				   whole ? rt_json_get(block, "input") : NULL);
	}
}

static void
take_delta(rt_reply *reply, uint64_t index, yyjson_val *delta)
{
	rt_str type = rt_json_str(rt_json_get(delta, "type"));

	if (rt_str_is(type, "text_delta"))
		rt_reply_add_text(reply, rt_json_str(rt_json_get(delta, "text")));
	else if (rt_str_is(type, "thinking_delta"))
		rt_reply_add_thinking(reply, rt_json_str(rt_json_get(delta, "thinking")));
	else if (rt_str_is(type, "signature_delta"))
		rt_reply_add_signature(reply, rt_json_str(rt_json_get(delta, "signature")));
	else if (rt_str_is(type, "input_json_delta") && rt_reply_has_call(reply, index))
		rt_reply_add_call(reply, index, rt_str_at(NULL, 0), rt_str_at(NULL, 0),
				  rt_json_str(rt_json_get(delta, "partial_json")));
}

/* All but its content. */
static void
take_message(rt_reply *reply, yyjson_val *message)
{
	rt_reply_set_model(reply, rt_json_str(rt_json_get(message, "model")));
	take_usage(reply, rt_json_get(message, "usage"));
	take_stop(reply, message);
}

static void
take_event(rt_reply *reply, yyjson_val *root)
{
	rt_str type = rt_json_str(rt_json_get(root, "type"));
	uint64_t index = 0;

	(void)rt_json_u64(rt_json_get(root, "index"), &index);
	if (rt_str_is(type, "message_start")) {
		take_message(reply, rt_json_get(root, "message"));
	} else if (rt_str_is(type, "content_block_start")) {
		take_block(reply, index, rt_json_get(root, "content_block"), false);
	} else if (rt_str_is(type, "content_block_delta")) {
		take_delta(reply, index, rt_json_get(root, "delta"));
	} else if (rt_str_is(type, "message_delta")) {
		take_usage(reply, rt_json_get(root, "usage"));
		take_stop(reply, rt_json_get(root, "delta"));
	} else if (rt_str_is(type, "message_stop")) {
		reply->ended = true;
	}
}

static rt_status
read_event(rt_reply *reply, rt_str event, rt_str data, rt_error *err)
{
	rt_json_doc *doc = NULL;
	rt_status st;

	(void)event;
	if (rt_str_trim(data).size == 0)
		return RT_OK;
	st = rt_answer_read(reply->alloc, data, &doc, err);
	if (st != RT_OK)
		return st;
	reply->provider = "anthropic";
	if (!rt_answer_take_error(reply, rt_json_root(doc)))
		take_event(reply, rt_json_root(doc));
	rt_json_free(doc);
	return rt_answer_end(reply, err);
}

static rt_status
read_whole(rt_reply *reply, rt_str body, rt_error *err)
{
	rt_json_doc *doc = NULL;
	yyjson_val *block;
	size_t i, max;
	rt_status st = rt_answer_read(reply->alloc, body, &doc, err);

	if (st != RT_OK)
		return st;
	reply->provider = "anthropic";
	if (!rt_answer_take_error(reply, rt_json_root(doc))) {
		yyjson_arr_foreach(rt_json_get(rt_json_root(doc), "content"), i, max, block)
			take_block(reply, i, block, true);
		take_message(reply, rt_json_root(doc));
	}
	reply->ended = true;
	rt_json_free(doc);
	return rt_answer_end(reply, err);
}

static rt_status
read_models(rt_str body, const rt_alloc *alloc, rt_model_fn fn, void *ctx, rt_error *err)
{
	return rt_answer_read_models(body, alloc, "data", "id", fn, ctx, err);
}

const rt_provider rt_provider_anthropic = {
	.name = "anthropic",
	.title = "Anthropic",
	.url = "https://api.anthropic.com",
	.key_env = "ANTHROPIC_API_KEY",
	.key_needed = true,
	.takes_turns = true,
	.framing = RT_FRAMING_SSE,
	.writer = &writer,
	.path = path,
	.headers = headers,
	.read_event = read_event,
	.read_whole = read_whole,
	.read_error = rt_answer_read_error,
	.models_path = "/v1/models?limit=1000",
	.read_models = read_models,
};
