/* SPDX-License-Identifier: MIT
 *
 * Google's Gemini. The model and whether to stream are in the path:
 *
 *   /models/NAME:streamGenerateContent?alt=sse
 *
 *   data: {"candidates":[{"content":{"role":"model","parts":[{"text":"Hel"}]}}],
 *          "usageMetadata":{"promptTokenCount":9,…},"modelVersion":…}
 *   parts: {"text":…,"thought":true}                        reasoning
 *          {"functionCall":{"name":…,"args":{…}},"thoughtSignature":…}
 *   data: {"candidates":[{"content":…,"finishReason":"STOP"}],"usageMetadata":{…}}
 *   data: {"promptFeedback":{"blockReason":"SAFETY"}}       nothing else comes
 *   data: {"error":{"message":…}}
 *
 * Calls come whole, and the reason is STOP with them too. A call's signature goes back
 * with it, else the newer models refuse the conversation. */
#include "chat/model_request.h"
#include "llm/answer.h"
#include "llm/provider.h"

/* ---- writing ---- */

static void
write_text(rt_str text, rt_buf *out)
{
	rt_buf_add_byte(out, '{');
	rt_request_add_member(out, "text", text);
	rt_buf_add_byte(out, '}');
}

static void
write_said(rt_str text, rt_buf *out)
{
	rt_buf_add_byte(out, '[');
	write_text(text, out);
	rt_buf_add_byte(out, ']');
}

static bool
write_image(rt_model_request *r, rt_str mime, rt_str base64)
{
	rt_buf *p;

	if (r->in_result)
		return false;
	p = rt_request_part(r);
	rt_buf_add_c(p, "{\"inlineData\":{");
	rt_request_add_member(p, "mimeType", mime);
	rt_request_add_member(p, "data", base64);
	rt_buf_add_c(p, "}}");
	return true;
}

/* Its references are to files that were uploaded there. */
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
	rt_buf_add_c(out, "{\"functionCall\":{");
	rt_request_add_member(out, "name", call->name);
	rt_request_add_json(out, "args", call->arguments);
	rt_buf_add_byte(out, '}');
	if (call->signature.size > 0)
		rt_request_add_member(out, "thoughtSignature", call->signature);
	rt_buf_add_byte(out, '}');
}

static void
write_result(const rt_model_request *r, rt_buf *out)
{
	rt_buf_add_c(out, "{\"functionResponse\":{");
	rt_request_add_member(out, "name", r->result_name);
	rt_buf_add_c(out, ",\"response\":{");
	rt_request_add_member(out, r->result_failed ? "error" : "output",
			      rt_buf_str(&r->result.text));
	rt_buf_add_c(out, "}}}");
}

static void
write_body(const rt_model_request *r, const rt_request_settings *s, rt_buf *out)
{
	if (r->top.size > 0) {
		rt_buf_add_c(out, "\"systemInstruction\":{\"parts\":[{");
		rt_request_add_member(out, "text", rt_buf_str(&r->top));
		rt_buf_add_c(out, "}]}");
	}
	rt_request_add_messages(r, "contents", out);
	rt_request_add_options(s, "generationConfig", "topP", "maxOutputTokens", out);
}

static const struct rt_provider_writer writer = {
	.assistant = "model",
	.content = "parts",
	.alias = "google",
	.calls_inside = true,
	.signs_calls = true,
	.said = write_said,
	.text = write_text,
	.image = write_image,
	.image_url = write_image_url,
	.call = write_call,
	.result = write_result,
	.body = write_body,
};

/* As in a URL: what could mean something there is escaped. */
static void
add_escaped(rt_buf *out, rt_str name)
{
	size_t i;

	for (i = 0; i < name.size; i++) {
		unsigned char c = (unsigned char)name.ptr[i];

		if ((c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') ||
		    (c != '\0' && strchr("-._~/", c) != NULL))
			rt_buf_add_byte(out, (char)c);
		else
			rt_buf_add_f(out, "%%%02X", c);
	}
}

static rt_status
path(rt_str model, bool stream, rt_buf *out, rt_error *err)
{
	if (model.size == 0)
		return rt_fail(err, RT_USAGE, "there is no model set, and Gemini needs one");
	rt_buf_add_byte(out, '/');
	if (!rt_str_starts(model, RT_STR("models/")) &&
	    !rt_str_starts(model, RT_STR("tunedModels/")))
		rt_buf_add_c(out, "models/");
	add_escaped(out, model);
	rt_buf_add_c(out, stream ? ":streamGenerateContent?alt=sse" : ":generateContent");
	return out->status == RT_OK ? RT_OK : rt_fail(err, out->status, "out of memory");
}

static void
headers(rt_str key, rt_header_fn fn, void *ctx)
{
	rt_answer_key_header(RT_STR("x-goog-api-key"), rt_str_at(NULL, 0), key, fn, ctx);
}

/* ---- reading ---- */

static bool
is_in(rt_str reason, const char *const *list)
{
	while (*list != NULL && !rt_str_is(reason, *list))
		list++;
	return *list != NULL;
}

/* "" and the enumeration's zero are what a piece in the middle may have. */
static bool
is_reason(yyjson_val *reason)
{
	rt_str word = rt_json_str(reason);

	return word.size > 0 && !rt_str_is(word, "FINISH_REASON_UNSPECIFIED");
}

/* Of a word that came up later: what is there is a reply, and nothing at all is none. */
static rt_stop
stop_of(rt_str reason, const rt_reply *reply)
{
	static const char *const held_back[] = {
		"SAFETY",      "RECITATION",   "BLOCKLIST",		   "PROHIBITED_CONTENT",
		"SPII",	       "LANGUAGE",     "IMAGE_SAFETY",		   "IMAGE_RECITATION",
		"MODEL_ARMOR", "IMAGE_PROHIBITED_CONTENT", NULL};
	static const char *const failed[] = {
		"OTHER",		"MALFORMED_FUNCTION_CALL",   "UNEXPECTED_TOOL_CALL",
		"TOO_MANY_TOOL_CALLS",	"MISSING_THOUGHT_SIGNATURE", "MALFORMED_RESPONSE",
		"IMAGE_OTHER",		"NO_IMAGE",		     NULL};

	if (rt_str_is(reason, "MAX_TOKENS"))
		return RT_STOP_LENGTH;
	if (is_in(reason, held_back))
		return RT_STOP_FILTER;
	if (is_in(reason, failed) || (rt_reply_is_empty(reply) && !rt_str_is(reason, "STOP")))
		return RT_STOP_ERROR;
	return rt_reply_call_count(reply) > 0 ? RT_STOP_CALLS : RT_STOP_END;
}

static void
take_part(rt_reply *reply, yyjson_val *part)
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

/* Why there is no more, in words where it is not plain. */
static void
take_reason(rt_reply *reply, yyjson_val *reason, yyjson_val *message)
{
	rt_stop stop = stop_of(rt_json_str(reason), reply);

	if (stop == RT_STOP_ERROR)
		rt_reply_set_error(reply, yyjson_is_str(message) ? rt_json_str(message)
								 : rt_json_str(reason));
	rt_reply_set_stop(reply, stop);
	reply->ended = true;
}

static void
take_candidate(rt_reply *reply, yyjson_val *candidate)
{
	yyjson_val *reason = rt_json_get(candidate, "finishReason"), *part;
	size_t i, max;

	yyjson_arr_foreach(rt_json_get(rt_json_get(candidate, "content"), "parts"), i, max, part)
		take_part(reply, part);
	if (is_reason(reason))
		take_reason(reply, reason, rt_json_get(candidate, "finishMessage"));
}

static void
take_usage(rt_reply *reply, yyjson_val *usage)
{
	rt_usage told = {rt_answer_count(usage, "promptTokenCount"),
			 rt_answer_sum(rt_answer_count(usage, "candidatesTokenCount"),
				       rt_answer_count(usage, "thoughtsTokenCount")),
			 rt_answer_count(usage, "cachedContentTokenCount"), SIZE_MAX};

	rt_reply_set_usage(reply, &told);
}

static void
take(rt_reply *reply, yyjson_val *root)
{
	yyjson_val *blocked = rt_json_get(rt_json_get(root, "promptFeedback"), "blockReason");
	yyjson_val *candidates = rt_json_get(root, "candidates");

	if (rt_answer_take_error(reply, root))
		return;
	rt_reply_set_model(reply, rt_json_str(rt_json_get(root, "modelVersion")));
	take_usage(reply, rt_json_get(root, "usageMetadata"));
	take_candidate(reply, yyjson_arr_get_first(candidates));
	if (yyjson_is_str(blocked)) {
		rt_buf words;

		rt_buf_init(&words, reply->alloc, RT_BUF_UNLIMITED);
		rt_buf_add_c(&words, "the request was held back: ");
		rt_buf_add_str(&words, rt_json_str(blocked));
		rt_reply_set_error(reply, rt_buf_str(&words));
		rt_reply_set_stop(reply, RT_STOP_FILTER);
		if (words.status != RT_OK && reply->status == RT_OK)
			reply->status = words.status;
		rt_buf_deinit(&words);
	}
}

/* A piece, or an array of them, which is how a stream comes without alt=sse. */
static rt_status
read_event(rt_reply *reply, rt_str event, rt_str data, rt_error *err)
{
	rt_json_doc *doc = NULL;
	yyjson_val *item;
	size_t i, max;
	rt_status st;

	(void)event;
	if (rt_str_trim(data).size == 0)
		return RT_OK;
	st = rt_answer_read(reply->alloc, data, &doc, err);
	if (st != RT_OK)
		return st;
	reply->provider = "gemini";
	if (yyjson_is_obj(rt_json_root(doc)))
		take(reply, rt_json_root(doc));
	yyjson_arr_foreach(rt_json_root(doc), i, max, item) take(reply, item);
	rt_json_free(doc);
	return rt_answer_end(reply, err);
}

static rt_status
read_whole(rt_reply *reply, rt_str body, rt_error *err)
{
	rt_status st = read_event(reply, rt_str_at(NULL, 0), body, err);

	reply->ended = reply->ended || st == RT_OK;
	return st;
}

static rt_status
read_models(rt_str body, const rt_alloc *alloc, rt_model_fn fn, void *ctx, rt_error *err)
{
	return rt_answer_read_models(body, alloc, "models", "name", fn, ctx, err);
}

const rt_provider rt_provider_gemini = {
	.name = "gemini",
	.title = "Google Gemini",
	.url = "https://generativelanguage.googleapis.com/v1beta",
	.key_env = "GEMINI_API_KEY",
	.key_needed = true,
	.no_image_urls = true,
	.takes_turns = true,
	.framing = RT_FRAMING_SSE,
	.writer = &writer,
	.path = path,
	.headers = headers,
	.read_event = read_event,
	.read_whole = read_whole,
	.read_error = rt_answer_read_error,
	.models_path = "/models?pageSize=1000",
	.read_models = read_models,
};
