/* SPDX-License-Identifier: MIT
 *
 * Requests as providers want them.
 *
 *               OpenAI, Ollama                Anthropic, Gemini
 *   system      a message, anywhere           on top; later a user's text with a tag
 *   turns       as they come                  user first, then in turns: neighbours merge
 *   results     messages of role "tool"       blocks of a user's message
 *
 * An empty text is never sent: Anthropic refuses it, and it says nothing. */
#include "engine/context_impl.h"

/* Where the first to speak must be the user, but is not. */
#define FIRST_WORDS "[start of the conversation]"
#define MAX_TOKENS_DEFAULT "8192" /* where the provider does not go without it */

static rt_wire
wire_of(const rt_provider *provider)
{
	static const char *const names[] = {"openai", "anthropic", "ollama", "gemini"};
	size_t i;

	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (rt_str_is(rt_str_of(provider->name), names[i]))
			return (rt_wire)i;
	return RT_PROVIDER_OPENAI;
}

static void
blocks_init(rt_blocks *b, const rt_alloc *alloc)
{
	rt_buf_init(&b->parts, alloc, RT_BUF_UNLIMITED);
	rt_buf_init(&b->text, alloc, RT_BUF_UNLIMITED);
}

static void
blocks_deinit(rt_blocks *b)
{
	rt_buf_deinit(&b->parts);
	rt_buf_deinit(&b->text);
}

/* Empty again; *status keeps what went wrong. */
static void
blocks_clear(rt_blocks *b, rt_status *status)
{
	if (*status == RT_OK)
		*status = b->parts.status != RT_OK ? b->parts.status : b->text.status;
	rt_buf_clear(&b->parts);
	rt_buf_clear(&b->text);
	b->count = b->text_count = 0;
}

/* Where texts and images go now. */
static rt_blocks *
target(rt_request *r)
{
	return r->in_result ? &r->result : &r->blocks;
}

void
rt_request_init(rt_request *r, const rt_alloc *alloc, const rt_provider *provider)
{
	memset(r, 0, sizeof(*r));
	r->provider = wire_of(provider);
	r->alloc = alloc;
	rt_buf_init(&r->top, alloc, RT_BUF_UNLIMITED);
	rt_buf_init(&r->messages, alloc, RT_BUF_UNLIMITED);
	blocks_init(&r->blocks, alloc);
	blocks_init(&r->result, alloc);
	rt_buf_init(&r->images, alloc, RT_BUF_UNLIMITED);
	rt_buf_init(&r->calls, alloc, RT_BUF_UNLIMITED);
}

void
rt_request_deinit(rt_request *r)
{
	rt_buf_deinit(&r->top);
	rt_buf_deinit(&r->messages);
	blocks_deinit(&r->blocks);
	blocks_deinit(&r->result);
	rt_buf_deinit(&r->images);
	rt_buf_deinit(&r->calls);
}

static bool
takes_turns(const rt_request *r)
{
	return r->provider == RT_PROVIDER_ANTHROPIC || r->provider == RT_PROVIDER_GEMINI;
}

static void
add_member(rt_buf *buf, const char *key, rt_str text)
{
	rt_json_add_key(buf, key);
	rt_json_add_string(buf, text);
}

/* A whole message with one text. */
static void
add_plain(rt_request *r, const char *role, rt_str text)
{
	rt_buf *m = &r->messages;

	if (r->message_count++ > 0)
		rt_buf_add_byte(m, ',');
	rt_buf_add_byte(m, '{');
	add_member(m, "role", rt_str_of(role));
	if (r->provider == RT_PROVIDER_GEMINI) {
		rt_buf_add_c(m, ",\"parts\":[{");
		add_member(m, "text", text);
		rt_buf_add_c(m, "}]}");
		return;
	}
	add_member(m, "content", text);
	rt_buf_add_byte(m, '}');
}

/* ---- the open message ---- */

static void
clear(rt_request *r)
{
	rt_status bad = r->images.status != RT_OK ? r->images.status : r->calls.status;

	blocks_clear(&r->blocks, &bad);
	rt_buf_clear(&r->images);
	rt_buf_clear(&r->calls);
	r->speaker = RT_SPEAKER_NOBODY;
	if (bad != RT_OK && r->messages.status == RT_OK)
		r->messages.status = bad;
}

static const char *
wire_role(const rt_request *r)
{
	if (r->speaker == RT_SPEAKER_SYSTEM)
		return "system";
	if (r->speaker == RT_SPEAKER_USER)
		return "user";
	return r->provider == RT_PROVIDER_GEMINI ? "model" : "assistant";
}

static void
close_message(rt_request *r)
{
	rt_buf *m = &r->messages;

	if (r->speaker == RT_SPEAKER_NOBODY)
		return;
	if (r->blocks.count == 0 && r->calls.size == 0 && r->images.size == 0) {
		clear(r);
		return;
	}
	if (takes_turns(r) && r->message_count == 0 && r->speaker == RT_SPEAKER_ASSISTANT)
		add_plain(r, "user", RT_STR(FIRST_WORDS));
	if (r->message_count++ > 0)
		rt_buf_add_byte(m, ',');
	rt_buf_add_byte(m, '{');
	add_member(m, "role", rt_str_of(wire_role(r)));
	rt_json_add_key(m, r->provider == RT_PROVIDER_GEMINI ? "parts" : "content");
	if (r->provider == RT_PROVIDER_OLLAMA ||
	    (r->provider != RT_PROVIDER_GEMINI && r->blocks.count == 1 &&
	     r->blocks.text_count == 1)) {
		rt_json_add_string(m, rt_buf_str(&r->blocks.text));
	} else if (r->blocks.count == 0) {
		rt_buf_add_c(m, "null"); /* tool calls and no word */
	} else {
		rt_buf_add_byte(m, '[');
		rt_buf_add_str(m, rt_buf_str(&r->blocks.parts));
		rt_buf_add_byte(m, ']');
	}
	if (r->images.size > 0) {
		rt_json_add_key(m, "images");
		rt_buf_add_byte(m, '[');
		rt_buf_add_str(m, rt_buf_str(&r->images));
		rt_buf_add_byte(m, ']');
	}
	if (r->calls.size > 0) {
		rt_json_add_key(m, "tool_calls");
		rt_buf_add_byte(m, '[');
		rt_buf_add_str(m, rt_buf_str(&r->calls));
		rt_buf_add_byte(m, ']');
	}
	rt_buf_add_byte(m, '}');
	clear(r);
}

void
rt_request_begin(rt_request *r, rt_speaker speaker)
{
	if (r->speaker == speaker && takes_turns(r))
		return;
	close_message(r);
	r->speaker = speaker;
}

void
rt_request_end(rt_request *r)
{
	if (!takes_turns(r))
		close_message(r);
}

static rt_buf *
part_begin(rt_blocks *to)
{
	if (to->count++ > 0)
		rt_buf_add_byte(&to->parts, ',');
	return &to->parts;
}

void
rt_request_text(rt_request *r, rt_str text)
{
	rt_blocks *to = target(r);
	rt_buf *p;

	if (text.size == 0)
		return;
	if (to->text_count++ > 0)
		rt_buf_add_byte(&to->text, '\n');
	rt_buf_add_str(&to->text, text);
	p = part_begin(to);
	rt_buf_add_c(p, r->provider == RT_PROVIDER_GEMINI ? "{" : "{\"type\":\"text\"");
	add_member(p, "text", text);
	rt_buf_add_byte(p, '}');
}

/* Where no image can be, it is said that there was one. */
static bool
takes_image(const rt_request *r)
{
	if (r->in_result)
		return r->provider == RT_PROVIDER_ANTHROPIC;
	return r->speaker == RT_SPEAKER_USER || r->provider == RT_PROVIDER_GEMINI;
}

void
rt_request_image(rt_request *r, rt_str mime, rt_str base64)
{
	rt_buf *p;

	if (!takes_image(r)) {
		rt_request_text(r, RT_STR("[image]"));
		return;
	}
	if (r->provider == RT_PROVIDER_OLLAMA) {
		if (r->images.size > 0)
			rt_buf_add_byte(&r->images, ',');
		rt_json_add_string(&r->images, base64);
		return;
	}
	p = part_begin(target(r));
	switch (r->provider) {
	case RT_PROVIDER_OPENAI:
		rt_buf_add_c(p, "{\"type\":\"image_url\",\"image_url\":{\"url\":\"data:");
		rt_buf_add_str(p, mime); /* checked by the caller: no quote in it */
		rt_buf_add_c(p, ";base64,");
		rt_buf_add_str(p, base64);
		rt_buf_add_c(p, "\"}}");
		break;
	case RT_PROVIDER_ANTHROPIC:
		rt_buf_add_c(p, "{\"type\":\"image\",\"source\":{\"type\":\"base64\"");
		add_member(p, "media_type", mime);
		add_member(p, "data", base64);
		rt_buf_add_c(p, "}}");
		break;
	case RT_PROVIDER_GEMINI:
		rt_buf_add_c(p, "{\"inlineData\":{");
		add_member(p, "mimeType", mime);
		add_member(p, "data", base64);
		rt_buf_add_c(p, "}}");
		break;
	case RT_PROVIDER_OLLAMA: break;
	}
}

/* Safe to stand in a data: URL and in JSON as it is. */
static bool
is_token(rt_str s)
{
	size_t i;

	for (i = 0; i < s.size; i++) {
		char c = s.ptr[i];

		if (!((c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') ||
		      c == '/' || c == '+' || c == '=' || c == '-' || c == '.' || c == '_'))
			return false;
	}
	return s.size > 0;
}

void
rt_request_image_url(rt_request *r, rt_str url)
{
	size_t mark = rt_str_find(url, RT_STR(";base64,"), 0);
	rt_buf *p;

	if (rt_str_starts(url, RT_STR("data:")) && mark != SIZE_MAX) {
		rt_str mime = rt_str_at(url.ptr + 5, mark - 5);
		rt_str data = rt_str_at(url.ptr + mark + 8, url.size - mark - 8);

		if (is_token(mime) && is_token(data)) {
			rt_request_image(r, mime, data);
			return;
		}
	}
	if (!takes_image(r) || r->provider == RT_PROVIDER_OLLAMA ||
	    r->provider == RT_PROVIDER_GEMINI) {
		rt_request_text(r, RT_STR("[image]"));
		return;
	}
	p = part_begin(target(r));
	rt_buf_add_c(p, r->provider == RT_PROVIDER_OPENAI
				? "{\"type\":\"image_url\",\"image_url\":{"
				: "{\"type\":\"image\",\"source\":{\"type\":\"url\"");
	add_member(p, "url", url);
	rt_buf_add_c(p, "}}");
}

/* ---- tools ---- */

/* JSON text of an object: what providers want for arguments. */
static bool
is_object(rt_str json)
{
	json = rt_str_trim(json);
	return json.size >= 2 && json.ptr[0] == '{' && json.ptr[json.size - 1] == '}';
}

void
rt_request_call(rt_request *r, rt_str id, rt_str name, rt_str arguments)
{
	rt_buf *b;

	if (!is_object(arguments))
		arguments = RT_STR("{}");
	if (!takes_turns(r) && r->calls.size > 0)
		rt_buf_add_byte(&r->calls, ',');
	b = takes_turns(r) ? part_begin(&r->blocks) : &r->calls;
	switch (r->provider) {
	case RT_PROVIDER_OPENAI:
		rt_buf_add_byte(b, '{');
		add_member(b, "id", id);
		rt_buf_add_c(b, ",\"type\":\"function\",\"function\":{");
		add_member(b, "name", name);
		add_member(b, "arguments", arguments);
		rt_buf_add_c(b, "}}");
		break;
	case RT_PROVIDER_OLLAMA:
		rt_buf_add_c(b, "{\"function\":{");
		add_member(b, "name", name);
		rt_json_add_key(b, "arguments");
		rt_buf_add_str(b, arguments);
		rt_buf_add_c(b, "}}");
		break;
	case RT_PROVIDER_ANTHROPIC:
		rt_buf_add_c(b, "{\"type\":\"tool_use\"");
		add_member(b, "id", id);
		add_member(b, "name", name);
		rt_json_add_key(b, "input");
		rt_buf_add_str(b, arguments);
		rt_buf_add_byte(b, '}');
		break;
	case RT_PROVIDER_GEMINI:
		rt_buf_add_c(b, "{\"functionCall\":{");
		add_member(b, "name", name);
		rt_json_add_key(b, "args");
		rt_buf_add_str(b, arguments);
		rt_buf_add_c(b, "}}");
		break;
	}
}

void
rt_request_result_begin(rt_request *r, rt_str id, rt_str name, bool failed)
{
	if (takes_turns(r))
		rt_request_begin(r, RT_SPEAKER_USER);
	else
		close_message(r);
	r->in_result = true;
	r->result_id = id;
	r->result_name = name;
	r->result_failed = failed;
}

/* {"type":"tool_result",…} */
static void
add_result_anthropic(rt_request *r, rt_buf *p)
{
	rt_buf_add_c(p, "{\"type\":\"tool_result\"");
	add_member(p, "tool_use_id", r->result_id);
	rt_json_add_key(p, "content");
	if (r->result.count == r->result.text_count) {
		rt_json_add_string(p, rt_buf_str(&r->result.text));
	} else {
		rt_buf_add_byte(p, '[');
		rt_buf_add_str(p, rt_buf_str(&r->result.parts));
		rt_buf_add_byte(p, ']');
	}
	if (r->result_failed)
		rt_buf_add_c(p, ",\"is_error\":true");
	rt_buf_add_byte(p, '}');
}

void
rt_request_result_end(rt_request *r)
{
	rt_buf *m = &r->messages;
	rt_status bad = RT_OK;

	r->in_result = false;
	switch (r->provider) {
	case RT_PROVIDER_ANTHROPIC: add_result_anthropic(r, part_begin(&r->blocks)); break;
	case RT_PROVIDER_GEMINI:
		m = part_begin(&r->blocks);
		rt_buf_add_c(m, "{\"functionResponse\":{");
		add_member(m, "name", r->result_name);
		rt_buf_add_c(m, ",\"response\":{");
		add_member(m, r->result_failed ? "error" : "output", rt_buf_str(&r->result.text));
		rt_buf_add_c(m, "}}}");
		break;
	case RT_PROVIDER_OPENAI:
	case RT_PROVIDER_OLLAMA:
		if (r->message_count++ > 0)
			rt_buf_add_byte(m, ',');
		rt_buf_add_c(m, "{\"role\":\"tool\"");
		if (r->provider == RT_PROVIDER_OPENAI)
			add_member(m, "tool_call_id", r->result_id);
		else
			add_member(m, "tool_name", r->result_name);
		add_member(m, "content", rt_buf_str(&r->result.text));
		rt_buf_add_byte(m, '}');
		break;
	}
	blocks_clear(&r->result, &bad);
	if (bad != RT_OK && r->messages.status == RT_OK)
		r->messages.status = bad;
}

/* ---- system ---- */

void
rt_request_prompt(rt_request *r, rt_str text)
{
	if (text.size == 0)
		return;
	if (r->top.size > 0)
		rt_buf_add_c(&r->top, "\n\n");
	rt_buf_add_str(&r->top, text);
}

void
rt_request_system(rt_request *r, rt_str text, bool may_lead)
{
	rt_buf tagged;

	if (text.size == 0)
		return;
	if (!takes_turns(r)) {
		close_message(r);
		add_plain(r, "system", text);
		return;
	}
	if (may_lead && r->message_count == 0 && r->blocks.count == 0) {
		rt_request_prompt(r, text);
		return;
	}
	rt_buf_init(&tagged, r->alloc, RT_BUF_UNLIMITED);
	rt_buf_add_c(&tagged, "[System]: ");
	rt_buf_add_str(&tagged, text);
	rt_request_begin(r, RT_SPEAKER_USER);
	rt_request_text(r, rt_buf_str(&tagged));
	rt_request_end(r);
	if (tagged.status != RT_OK)
		r->messages.status = tagged.status;
	rt_buf_deinit(&tagged);
}

/* ---- the whole ---- */

static void
add_json(rt_buf *out, const char *key, rt_str json)
{
	if (json.ptr == NULL)
		return;
	rt_json_add_key(out, key);
	rt_buf_add_str(out, json);
}

static void
add_messages(const rt_request *r, const char *key, rt_buf *out)
{
	rt_json_add_key(out, key);
	rt_buf_add_byte(out, '[');
	if (!takes_turns(r) && r->top.size > 0) {
		rt_buf_add_c(out, "{\"role\":\"system\"");
		add_member(out, "content", rt_buf_str(&r->top));
		rt_buf_add_c(out, r->message_count > 0 ? "}," : "}");
	}
	rt_buf_add_str(out, rt_buf_str(&r->messages));
	rt_buf_add_byte(out, ']');
}

/* An object of what is set, or nothing. */
static void
add_options(rt_buf *out, const char *key, const rt_request_settings *s, const char *top_p,
	    const char *max_tokens)
{
	if (s->temperature.ptr == NULL && s->top_p.ptr == NULL && s->max_tokens.ptr == NULL)
		return;
	rt_json_add_key(out, key);
	rt_buf_add_byte(out, '{');
	add_json(out, "temperature", s->temperature);
	add_json(out, top_p, s->top_p);
	add_json(out, max_tokens, s->max_tokens);
	rt_buf_add_byte(out, '}');
}

rt_status
rt_request_finish(rt_request *r, const rt_request_settings *s, rt_buf *out, rt_error *err)
{
	rt_status bad;

	close_message(r);
	rt_buf_add_byte(out, '{');
	switch (r->provider) {
	case RT_PROVIDER_OPENAI:
		add_json(out, "model", s->model);
		add_messages(r, "messages", out);
		add_json(out, "temperature", s->temperature);
		add_json(out, "top_p", s->top_p);
		add_json(out, "max_tokens", s->max_tokens);
		break;
	case RT_PROVIDER_ANTHROPIC:
		add_json(out, "model", s->model);
		add_json(out, "max_tokens",
			 s->max_tokens.ptr != NULL ? s->max_tokens : RT_STR(MAX_TOKENS_DEFAULT));
		if (r->top.size > 0)
			add_member(out, "system", rt_buf_str(&r->top));
		add_messages(r, "messages", out);
		add_json(out, "temperature", s->temperature);
		add_json(out, "top_p", s->top_p);
		break;
	case RT_PROVIDER_OLLAMA:
		add_json(out, "model", s->model);
		add_messages(r, "messages", out);
		add_options(out, "options", s, "top_p", "num_predict");
		break;
	case RT_PROVIDER_GEMINI: /* the model is in its address */
		if (r->top.size > 0) {
			rt_buf_add_c(out, "\"systemInstruction\":{\"parts\":[{");
			add_member(out, "text", rt_buf_str(&r->top));
			rt_buf_add_c(out, "}]}");
		}
		add_messages(r, "contents", out);
		add_options(out, "generationConfig", s, "topP", "maxOutputTokens");
		break;
	}
	rt_buf_add_byte(out, '}');
	bad = r->messages.status != RT_OK ? r->messages.status
	      : r->top.status != RT_OK    ? r->top.status
					  : out->status;
	return bad == RT_OK ? RT_OK : rt_fail(err, bad, "out of memory while building a request");
}
