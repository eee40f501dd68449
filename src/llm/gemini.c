/* SPDX-License-Identifier: MIT
 *
 * Google's Gemini. The path has the model, and whether to stream:
 *
 *   /models/NAME:streamGenerateContent?alt=sse
 *
 *   data: {"candidates":[{"content":{"role":"model","parts":[{"text":"Hel"}]}}],
 *          "usageMetadata":{"promptTokenCount":9,…},"modelVersion":…}
 *   parts: {"text":…,"thought":true}                        reasoning
 *          {"functionCall":{"name":…,"args":{…}},"thoughtSignature":…}
 *   data: {"candidates":[{"content":…,"finishReason":"STOP"}],"usageMetadata":{…}}
 *   data: {"promptFeedback":{"blockReason":"SAFETY"}}       nothing else follows
 *   data: {"error":{"message":…}}
 *
 * Calls are complete, and the reason is STOP with them too. A call's signature goes back with
 * it, otherwise the newer models refuse the conversation. */
#include <stdio.h>

#include "llm/provider.h"
#include "llm/url.h"

/* ---- requests ---- */

/* Gemini's schemas are those of OpenAPI. */
#define PROMPT_JSON \
	"\"responseMimeType\":\"application/json\",\"responseSchema\":{\"type\":\"OBJECT\"," \
	"\"properties\":{\"content\":{\"type\":\"STRING\"}," \
	"\"prompt\":{\"type\":\"STRING\",\"nullable\":true}}," \
	"\"required\":[\"content\",\"prompt\"],\"propertyOrdering\":[\"content\",\"prompt\"]}"

static void
write_body(const rt_model_request *r, const rt_request_settings *s, rt_buf *out)
{
	if (r->top.size > 0) {
		rt_buf_add_c(out, "\"systemInstruction\":{\"parts\":[{");
		rt_request_add_member(out, "text", rt_buf_str(&r->top));
		rt_buf_add_c(out, "}]}");
	}
	rt_request_add_messages(r, "contents", out);
	char more[600] = "";

	if (s->effort.size > 0)
		(void)snprintf(more, sizeof(more),
			       "\"thinkingConfig\":{\"includeThoughts\":true,\"thinkingBudget\":%zu}%s",
			       rt_request_thinking_tokens(s), s->prompt_json ? "," : "");
	(void)snprintf(more + strlen(more), sizeof(more) - strlen(more), "%s",
		       s->prompt_json ? PROMPT_JSON : "");
	rt_request_add_options(s, "generationConfig", "topP", "maxOutputTokens",
			       more[0] != '\0' ? more : NULL, out);
}

#define CALL "{\"functionCall\":{\"name\":$n,\"args\":$a}"

static const struct rt_provider_writer writer = {
	.assistant = "model",
	.content = "parts",
	.alias = "google",
	.calls_inside = true,
	.image_places = RT_IMAGE_BY_USER | RT_IMAGE_BY_MODEL,
	.plain = "[{\"text\":$t}]",
	.text = "{\"text\":$t}",
	.image =
		"{\"inlineData\":{\"mimeType\":$m,\"data\":$b}}", /* by address: only files there */
	.file = "{\"inlineData\":{\"mimeType\":$m,\"data\":$b}}",
	.call = CALL "}",
	.signed_call = CALL ",\"thoughtSignature\":$s}",
	.result = "{\"functionResponse\":{\"name\":$n,\"response\":{\"output\":$x}}}",
	.failed_result = "{\"functionResponse\":{\"name\":$n,\"response\":{\"error\":$x}}}",
	.body = write_body,
};

static rt_status
add_path(rt_str model, bool stream, rt_buf *out, rt_error *err)
{
	if (model.size == 0)
		return rt_fail(err, RT_USAGE, "no model is set, but Gemini requires one");
	rt_buf_add_byte(out, '/');
	if (!rt_str_starts(model, RT_STR("models/")) &&
	    !rt_str_starts(model, RT_STR("tunedModels/")))
		rt_buf_add_c(out, "models/");
	for (size_t i = 0; i < model.size; i++)
		if (rt_word_size(rt_str_at(model.ptr + i, 1), "-._~/") == 1)
			rt_buf_add_byte(out, model.ptr[i]);
		else
			rt_buf_add_f(out, "%%%02X", (unsigned char)model.ptr[i]);
	rt_buf_add_c(out, stream ? ":streamGenerateContent?alt=sse" : ":generateContent");
	return out->status == RT_OK ? RT_OK : rt_fail(err, out->status, "out of memory");
}

/* ---- answers ---- */

static const rt_answer_stop stops[] = {
	{"STOP", RT_STOP_NONE},
	{"MAX_TOKENS", RT_STOP_LENGTH},
	{"SAFETY", RT_STOP_FILTER},
	{"RECITATION", RT_STOP_FILTER},
	{"BLOCKLIST", RT_STOP_FILTER},
	{"PROHIBITED_CONTENT", RT_STOP_FILTER},
	{"SPII", RT_STOP_FILTER},
	{"LANGUAGE", RT_STOP_FILTER},
	{"IMAGE_SAFETY", RT_STOP_FILTER},
	{"IMAGE_RECITATION", RT_STOP_FILTER},
	{"MODEL_ARMOR", RT_STOP_FILTER},
	{"IMAGE_PROHIBITED_CONTENT", RT_STOP_FILTER},
	{"OTHER", RT_STOP_ERROR},
	{"MALFORMED_FUNCTION_CALL", RT_STOP_ERROR},
	{"UNEXPECTED_TOOL_CALL", RT_STOP_ERROR},
	{"TOO_MANY_TOOL_CALLS", RT_STOP_ERROR},
	{"MISSING_THOUGHT_SIGNATURE", RT_STOP_ERROR},
	{"MALFORMED_RESPONSE", RT_STOP_ERROR},
	{"IMAGE_OTHER", RT_STOP_ERROR},
	{"NO_IMAGE", RT_STOP_ERROR},
	{NULL, RT_STOP_NONE},
};

static void
read_part(rt_reply *reply, yyjson_val *part)
{
	yyjson_val *text = rt_json_get(part, "text"), *call = rt_json_get(part, "functionCall");
	yyjson_val *signature = rt_json_get(part, "thoughtSignature");
	uint64_t index = reply->block_count;

	if (yyjson_is_str(text) && yyjson_is_true(rt_json_get(part, "thought")))
		rt_reply_add_thinking(reply, rt_json_str(text));
	else if (yyjson_is_str(text))
		rt_reply_add_text(reply, rt_json_str(text));
	if (!yyjson_is_obj(call))
		return;
	rt_answer_add_call(reply, index, rt_json_get(call, "id"), rt_json_get(call, "name"),
			   rt_json_get(call, "args"));
	if (yyjson_is_str(signature))
		rt_reply_add_call_signature(reply, index, rt_json_str(signature));
}

static void
read_reason(rt_reply *reply, rt_str reason, yyjson_val *message)
{
	/* An unknown reason without any content is a failure. */
	rt_stop usual = rt_reply_is_empty(reply) ? RT_STOP_ERROR : rt_answer_usual_stop(reply);
	rt_stop stop = rt_answer_stop_of(stops, reason, usual);

	/* A piece in the middle may have "" or the enumeration's zero. */
	if (reason.size == 0 || rt_str_is(reason, "FINISH_REASON_UNSPECIFIED"))
		return;
	if (stop == RT_STOP_ERROR)
		rt_reply_set_error(reply, yyjson_is_str(message) ? rt_json_str(message) : reason);
	rt_reply_set_stop(reply, stop != RT_STOP_NONE ? stop : rt_answer_usual_stop(reply));
	reply->ended = true;
}

static void
read_blocked(rt_reply *reply, rt_str reason)
{
	rt_buf words;

	rt_buf_init(&words, reply->alloc, RT_BUF_UNLIMITED);
	rt_buf_add_c(&words, "the provider blocked the request: ");
	rt_buf_add_str(&words, reason);
	rt_reply_set_error(reply, rt_buf_str(&words));
	rt_reply_set_stop(reply, RT_STOP_FILTER);
	rt_reply_note(reply, words.status);
	rt_buf_deinit(&words);
}

static void
read_object(rt_reply *reply, yyjson_val *root)
{
	yyjson_val *blocked = rt_json_get(rt_json_get(root, "promptFeedback"), "blockReason");
	yyjson_val *candidate = yyjson_arr_get_first(rt_json_get(root, "candidates"));
	yyjson_val *parts = rt_json_get(rt_json_get(candidate, "content"), "parts");
	yyjson_val *usage = rt_json_get(root, "usageMetadata");
	rt_usage counts = {rt_answer_count(usage, "promptTokenCount"),
			   rt_answer_sum(rt_answer_count(usage, "candidatesTokenCount"),
					 rt_answer_count(usage, "thoughtsTokenCount")),
			   rt_answer_count(usage, "cachedContentTokenCount"), SIZE_MAX};

	if (rt_answer_read_error(reply, root))
		return;
	rt_reply_set_model(reply, rt_json_str(rt_json_get(root, "modelVersion")));
	rt_reply_set_usage(reply, &counts);
	for (rt_json_iter it = rt_json_items(parts); rt_json_next(&it);)
		read_part(reply, it.value);
	read_reason(reply, rt_json_str(rt_json_get(candidate, "finishReason")),
		    rt_json_get(candidate, "finishMessage"));
	if (yyjson_is_str(blocked))
		read_blocked(reply, rt_json_str(blocked));
}

/* A piece, or an array of them: a stream without alt=sse. */
static void
read_answer(rt_reply *reply, yyjson_val *root, bool whole)
{
	(void)whole;
	if (yyjson_is_obj(root))
		read_object(reply, root);
	for (rt_json_iter it = rt_json_items(root); rt_json_next(&it);)
		read_object(reply, it.value);
}

const rt_provider rt_provider_gemini = {
	.name = "gemini",
	.title = "Google Gemini",
	.url = "https://generativelanguage.googleapis.com/v1beta",
	.key_env = "GEMINI_API_KEY",
	.model_prefixes = {"gemini"},
	.key_needed = true,
	.no_image_urls = true,
	.takes_turns = true,
	.writer = &writer,
	.add_path = add_path,
	.key_header = "x-goog-api-key",
	.framing = RT_FRAMING_SSE,
	.read = read_answer,
	.models_path = "/models?pageSize=1000",
	.models_list = "models",
	.models_name = "name",
};
