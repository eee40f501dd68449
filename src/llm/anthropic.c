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
 *                         pieces are joined; redacted_thinking complete at its start
 *   message_delta         {"delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":12}}
 *   message_stop, ping, error
 *
 * The event's name is in the data as "type"; that one is read. Token counts are totals; those of
 * the cache are not included in input_tokens. */
#include "core/setting.h"
#include "llm/provider.h"

#define MAX_TOKENS_DEFAULT "8192" /* required */

/* ---- requests ---- */

static void
write_thinking(rt_str text, rt_str signature, yyjson_val *redacted, rt_buf *out)
{
	if (rt_str_is(rt_json_str(rt_json_get(redacted, "type")), "redacted_thinking")) {
		rt_json_add_value(out, redacted);
		return;
	}
	rt_buf_add_byte(out, '{');
	if (redacted != NULL) { /* by another program, in the signature */
		rt_json_put_c(out, "type", "redacted_thinking");
		rt_json_put_str(out, "data", signature);
	} else {
		rt_json_put_c(out, "type", "thinking");
		rt_json_put_str(out, "thinking", text);
		rt_json_put_str(out, "signature", signature);
	}
	rt_buf_add_byte(out, '}');
}

static void
write_body(const rt_model_request *r, const rt_request_settings *s, rt_buf *out)
{
	size_t thinking = rt_request_thinking_tokens(s);
	rt_str reply = s->max_tokens.ptr != NULL ? s->max_tokens : RT_STR(MAX_TOKENS_DEFAULT);
	uint64_t limit = 0;

	rt_request_add_model(r, s, out);
	/* thinking counts as a part of the reply */
	if (thinking > 0 && rt_setting_count(reply, &limit))
		rt_json_put_u64(out, "max_tokens", limit + thinking);
	else
		rt_request_add_json(out, "max_tokens", reply);
	if (rt_str_trim(rt_buf_str(&r->top)).size > 0)
		rt_request_add_member(out, "system", rt_buf_str(&r->top));
	rt_request_add_messages(r, "messages", out);
	if (thinking > 0) { /* with it, only the usual temperature is accepted */
		rt_json_open(out, "thinking", '{');
		rt_json_put_c(out, "type", "enabled");
		rt_json_put_u64(out, "budget_tokens", thinking);
		rt_json_close(out, '}');
	} else {
		rt_request_add_json(out, "temperature", s->temperature);
		rt_request_add_json(out, "top_p", s->top_p);
	}
	if (s->stream)
		rt_buf_add_c(out, ",\"stream\":true");
}

#define RESULT "{\"type\":\"tool_result\",\"tool_use_id\":$i,\"content\":$c"

static const struct rt_provider_writer writer = {
	.assistant = "assistant",
	.content = "content",
	.calls_inside = true,
	.no_blanks = true,
	.image_places = RT_IMAGE_BY_USER | RT_IMAGE_IN_RESULT,
	.plain = "$t",
	.text = "{\"type\":\"text\",\"text\":$t}",
	.image =
		"{\"type\":\"image\",\"source\":{\"type\":\"base64\",\"media_type\":$m,\"data\":$b}}",
	.file = "{\"type\":\"document\",\"title\":$n,\"source\":{\"type\":\"base64\",\"media_type\":$m,"
		"\"data\":$b}}",
	.image_url = "{\"type\":\"image\",\"source\":{\"type\":\"url\",\"url\":$u}}",
	.call = "{\"type\":\"tool_use\",\"id\":$i,\"name\":$n,\"input\":$a}",
	.result = RESULT "}",
	.failed_result = RESULT ",\"is_error\":true}",
	.thinking = write_thinking,
	.body = write_body,
};

/* ---- answers ---- */

static const rt_answer_stop stops[] = {
	{"max_tokens", RT_STOP_LENGTH}, {"model_context_window_exceeded", RT_STOP_LENGTH},
	{"tool_use", RT_STOP_CALLS},    {"refusal", RT_STOP_FILTER},
	{NULL, RT_STOP_NONE},
};

static void
read_usage(rt_reply *reply, yyjson_val *usage)
{
	size_t input = rt_answer_count(usage, "input_tokens");
	rt_usage counts = {SIZE_MAX, rt_answer_count(usage, "output_tokens"),
			   rt_answer_count(usage, "cache_read_input_tokens"),
			   rt_answer_count(usage, "cache_creation_input_tokens")};

	rt_reply_set_usage(reply, &counts);
	if (input == SIZE_MAX)
		return;
	input = rt_answer_sum(input, reply->usage.cache_read);
	reply->usage.input = rt_answer_sum(input, reply->usage.cache_write);
}

static void
read_stop(rt_reply *reply, yyjson_val *from)
{
	yyjson_val *reason = rt_json_get(from, "stop_reason");

	if (yyjson_is_str(reason))
		rt_reply_set_stop(reply,
				  rt_answer_stop_of(stops, rt_json_str(reason), RT_STOP_END));
}

/* A block at its start, or (whole) complete. Blocks of the server's own tools are ignored. */
static void
read_block(rt_reply *reply, uint64_t index, yyjson_val *block, bool whole)
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
		rt_reply_note(reply, json.status);
		rt_buf_deinit(&json);
	} else if (rt_str_is(type, "tool_use")) {
		rt_answer_add_call(reply, index, rt_json_get(block, "id"),
				   rt_json_get(block, "name"),
				   whole ? rt_json_get(block, "input") : NULL);
	}
}

static void
read_delta(rt_reply *reply, uint64_t index, yyjson_val *delta)
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

/* All members except its content. */
static void
read_message(rt_reply *reply, yyjson_val *message)
{
	rt_reply_set_model(reply, rt_json_str(rt_json_get(message, "model")));
	read_usage(reply, rt_json_get(message, "usage"));
	read_stop(reply, message);
}

static void
read_answer(rt_reply *reply, yyjson_val *root, bool whole)
{
	rt_str type = rt_json_str(rt_json_get(root, "type"));
	yyjson_val *content = rt_json_get(root, "content");
	uint64_t index = 0;

	(void)rt_json_u64(rt_json_get(root, "index"), &index);
	if (whole) {
		for (rt_json_iter it = rt_json_items(content); rt_json_next(&it);)
			read_block(reply, it.index, it.value, true);
		read_message(reply, root);
	} else if (rt_str_is(type, "content_block_delta")) {
		read_delta(reply, index, rt_json_get(root, "delta"));
	} else if (rt_str_is(type, "content_block_start")) {
		read_block(reply, index, rt_json_get(root, "content_block"), false);
	} else if (rt_str_is(type, "message_start")) {
		read_message(reply, rt_json_get(root, "message"));
	} else if (rt_str_is(type, "message_delta")) {
		read_usage(reply, rt_json_get(root, "usage"));
		read_stop(reply, rt_json_get(root, "delta"));
	} else if (rt_str_is(type, "message_stop")) {
		reply->ended = true;
	}
}

const rt_provider rt_provider_anthropic = {
	.name = "anthropic",
	.title = "Anthropic",
	.url = "https://api.anthropic.com",
	.key_env = "ANTHROPIC_API_KEY",
	.model_prefixes = {"claude"},
	.key_needed = true,
	.cache_apart = true,
	.takes_turns = true,
	.writer = &writer,
	.path = "/v1/messages",
	.header = {"anthropic-version", "2023-06-01"},
	.key_header = "x-api-key",
	.framing = RT_FRAMING_SSE,
	.read = read_answer,
	.models_path = "/v1/models?limit=1000",
	.models_list = "data",
	.models_name = "id",
};
