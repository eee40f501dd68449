/* SPDX-License-Identifier: MIT
 *
 * Requests: the part common to all providers. The two families differ in this:
 *
 *               in any order                  in turns (takes_turns)
 *   system      a message, anywhere           on top; later a user's text with a tag
 *   turns       any                           user first, then in turns: neighbours merge
 *   results     messages of role "tool"       blocks of a user's message
 *
 * Empty texts are never sent: Anthropic refuses them. Nor, if a provider refuses these (no_blanks),
 * are texts of blanks only or blanks after the model's last words; the entries are not changed. */
#include "chat/model_request.h"

/* Sent if the first message must be the user's, but is not. */
#define FIRST_WORDS "[start of the conversation]"

rt_str
rt_provider_model(const rt_provider *provider, rt_str model)
{
	size_t size = strlen(provider->name);

	if (model.size <= size || model.ptr[size] != '/' ||
	    !rt_str_eq_nocase(rt_str_at(model.ptr, size), rt_str_of(provider->name)))
		return model;
	return rt_str_at(model.ptr + size + 1, model.size - size - 1);
}

/* Bytes of white space (as in Unicode) at the end of a text. */
static size_t
blank_at_end(rt_str text)
{
	const unsigned char *end = (const unsigned char *)text.ptr + text.size;
	unsigned code;

	if (text.size >= 1 && (end[-1] == ' ' || (end[-1] >= '\t' && end[-1] <= '\r') ||
			       (end[-1] >= 0x1C && end[-1] <= 0x1F)))
		return 1;
	if (text.size >= 2 && end[-2] == 0xC2 && (end[-1] == 0x85 || end[-1] == 0xA0))
		return 2;
	if (text.size < 3 || end[-3] < 0xE1 || end[-3] > 0xE3)
		return 0;
	code = (unsigned)(end[-3] & 0x0F) << 12 | (unsigned)(end[-2] & 0x3F) << 6 |
	       (end[-1] & 0x3F);
	return code == 0x1680 || (code >= 0x2000 && code <= 0x200A) || code == 0x2028 ||
			       code == 0x2029 || code == 0x202F || code == 0x205F || code == 0x3000
		       ? 3
		       : 0;
}

static rt_str
without_blanks(rt_str text)
{
	size_t size;

	while ((size = blank_at_end(text)) > 0)
		text.size -= size;
	return text;
}

/* Empty again. */
static void
blocks_clear(rt_scope *s, rt_blocks *b)
{
	rt_scope_note(s, b->parts.status);
	rt_scope_note(s, b->text.status);
	rt_buf_clear(&b->parts);
	rt_buf_clear(&b->text);
	b->count = b->text_count = 0;
	b->last_at = SIZE_MAX;
}

/* Where texts and images are added at present. */
static rt_blocks *
target(rt_model_request *r)
{
	return r->in_result ? &r->result : &r->blocks;
}

static size_t
request_bufs(rt_model_request *r, rt_buf *out[9])
{
	rt_buf *const all[9] = {&r->top,         &r->messages,    &r->blocks.parts,
				&r->blocks.text, &r->result.parts, &r->result.text,
				&r->images,      &r->calls,       &r->trimmed};

	memcpy(out, all, sizeof(all));
	return 9;
}

static void
close_request(void *request)
{
	rt_buf *bufs[9];

	for (size_t i = request_bufs(request, bufs); i > 0; i--)
		rt_buf_deinit(bufs[i - 1]);
}

rt_model_request *
rt_request_new(rt_scope *s, const rt_provider *provider)
{
	rt_model_request *r = rt_scope_get(s, sizeof(*r));
	rt_buf *bufs[9];

	if (r == NULL)
		return NULL;
	r->scope = r->entry = s;
	r->provider = provider;
	r->writer = provider->writer;
	for (size_t i = request_bufs(r, bufs); i > 0; i--)
		rt_buf_init(bufs[i - 1], s->alloc, RT_BUF_UNLIMITED);
	r->blocks.last_at = r->result.last_at = SIZE_MAX;
	rt_scope_defer(s, close_request, r);
	return r;
}

static bool
takes_turns(const rt_model_request *r)
{
	return r->provider->takes_turns;
}

void
rt_request_add_member(rt_buf *out, const char *key, rt_str text)
{
	rt_json_add_key(out, key);
	rt_json_add_string(out, text);
}

/* The values of a shape. */
typedef struct shape_values {
	rt_str text, mime, data, url;
	rt_str id, name, arguments, signature;
	const rt_blocks *content;
} shape_values;

/* [items] */
static void
add_array(rt_buf *out, const rt_buf *items)
{
	rt_buf_add_byte(out, '[');
	rt_buf_add_str(out, rt_buf_str(items));
	rt_buf_add_byte(out, ']');
}

static void
add_content(rt_buf *out, const rt_blocks *b)
{
	if (b->count == b->text_count)
		rt_json_add_string(out, rt_buf_str(&b->text));
	else
		add_array(out, &b->parts);
}

static void
add_shape(rt_buf *out, const char *shape, const shape_values *v)
{
	for (const char *mark; (mark = strchr(shape, '$')) != NULL; shape = mark + 2) {
		rt_buf_add(out, shape, (size_t)(mark - shape));
		switch (mark[1]) {
		case 't': rt_json_add_string(out, v->text); break;
		case 'i': rt_json_add_string(out, v->id); break;
		case 'n': rt_json_add_string(out, v->name); break;
		case 's': rt_json_add_string(out, v->signature); break;
		case 'u': rt_json_add_string(out, v->url); break;
		case 'm': rt_json_add_string(out, v->mime); break;
		case 'b': rt_json_add_string(out, v->data); break;
		case 'M': rt_buf_add_str(out, v->mime); break;
		case 'B': rt_buf_add_str(out, v->data); break;
		case 'a': rt_buf_add_str(out, v->arguments); break;
		case 'A': rt_json_add_string(out, v->arguments); break;
		case 'c': add_content(out, v->content); break;
		case 'x': rt_json_add_string(out, rt_buf_str(&v->content->text)); break;
		default: RT_ASSERT(false);
		}
	}
	rt_buf_add_c(out, shape);
}

/* A whole message with one text. */
static void
add_plain(rt_model_request *r, const char *role, rt_str text)
{
	rt_buf *m = &r->messages;

	if (r->message_count++ > 0)
		rt_buf_add_byte(m, ',');
	rt_buf_add_byte(m, '{');
	rt_request_add_member(m, "role", rt_str_of(role));
	rt_json_add_key(m, r->writer->content);
	add_shape(m, r->writer->plain, &(shape_values){.text = text});
	rt_buf_add_byte(m, '}');
}

/* ---- the open message ---- */

static void
clear(rt_model_request *r)
{
	rt_scope_note(r->scope, r->images.status);
	rt_scope_note(r->scope, r->calls.status);
	blocks_clear(r->scope, &r->blocks);
	rt_buf_clear(&r->images);
	rt_buf_clear(&r->calls);
	r->speaker = RT_SPEAKER_NOBODY;
}

static const char *
wire_role(const rt_model_request *r)
{
	if (r->speaker == RT_SPEAKER_SYSTEM)
		return "system";
	if (r->speaker == RT_SPEAKER_USER)
		return "user";
	return r->writer->assistant;
}

/* "key":[items] */
static void
add_list(rt_buf *out, const char *key, const rt_buf *items)
{
	if (items->size == 0)
		return;
	rt_json_add_key(out, key);
	add_array(out, items);
}

static void
close_message(rt_model_request *r)
{
	const rt_blocks *said = &r->blocks;
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
	rt_request_add_member(m, "role", rt_str_of(wire_role(r)));
	rt_json_add_key(m, r->writer->content);
	if (r->writer->texts_only || (said->count == 1 && said->text_count == 1)) {
		add_shape(m, r->writer->plain, &(shape_values){.text = rt_buf_str(&said->text)});
	} else if (said->count == 0) {
		rt_buf_add_c(m, "null"); /* tool calls and no word */
	} else {
		add_array(m, &said->parts);
	}
	add_list(m, "images", &r->images);
	add_list(m, "tool_calls", &r->calls);
	rt_buf_add_byte(m, '}');
	clear(r);
}

void
rt_request_begin(rt_model_request *r, rt_speaker speaker)
{
	if (r->speaker == speaker && takes_turns(r))
		return;
	close_message(r);
	r->speaker = speaker;
}

void
rt_request_end(rt_model_request *r)
{
	if (!takes_turns(r))
		close_message(r);
}

static rt_buf *
part_begin(rt_blocks *to)
{
	if (to->count++ > 0)
		rt_buf_add_byte(&to->parts, ',');
	to->last_at = SIZE_MAX;
	return &to->parts;
}

void
rt_request_text(rt_model_request *r, rt_str text)
{
	rt_blocks *to = target(r);

	if (text.size == 0 || (r->writer->no_blanks && without_blanks(text).size == 0))
		return;
	if (to->text_count++ > 0)
		rt_buf_add_byte(&to->text, '\n');
	rt_buf_add_str(&to->text, text);
	(void)part_begin(to);
	to->last_at = to->parts.size;
	to->last_size = text.size;
	add_shape(&to->parts, r->writer->text, &(shape_values){.text = text});
}

/* The model's text at the very end of a request, without trailing blanks. */
static void
trim_end(rt_model_request *r)
{
	rt_blocks *b = &r->blocks;
	rt_str last, kept;

	if (!r->writer->no_blanks || r->speaker != RT_SPEAKER_ASSISTANT || b->last_at == SIZE_MAX ||
	    b->text.status != RT_OK || b->parts.status != RT_OK)
		return;
	last = rt_str_at(b->text.ptr + b->text.size - b->last_size, b->last_size);
	kept = without_blanks(last);
	if (kept.size == last.size)
		return;
	rt_buf_add(&r->trimmed, kept.ptr + kept.size, last.size - kept.size);
	b->text.size -= last.size - kept.size;
	b->text.ptr[b->text.size] = '\0';
	b->parts.size = b->last_at;
	b->parts.ptr[b->parts.size] = '\0';
	add_shape(&b->parts, r->writer->text, &(shape_values){.text = kept});
}

void
rt_request_unsent(rt_model_request *r, rt_str type)
{
	size_t i;

	for (i = 0; i < r->unsent_count && !rt_str_eq(r->unsent[i].type, type); i++)
		;
	if (i == RT_MODEL_REQUEST_UNSENT_MAX)
		i--;
	if (i == r->unsent_count) {
		r->unsent[i].type = type;
		r->unsent[i].count = 0;
		r->unsent_count++;
	}
	r->unsent[i].count++;
}

/* An image if the form allows it, else a placeholder text. shape may be NULL. */
static void
add_image(rt_model_request *r, const char *shape, const shape_values *values)
{
	unsigned place = r->in_result                     ? RT_IMAGE_IN_RESULT
			 : r->speaker == RT_SPEAKER_USER ? RT_IMAGE_BY_USER
							 : RT_IMAGE_BY_MODEL;

	if (shape == NULL || r->provider->no_images || (r->writer->image_places & place) == 0) {
		rt_request_text(r, RT_STR("[image]"));
		rt_request_unsent(r, RT_STR("image"));
	} else if (r->writer->texts_only) {
		if (r->images.size > 0)
			rt_buf_add_byte(&r->images, ',');
		add_shape(&r->images, shape, values);
	} else {
		add_shape(part_begin(target(r)), shape, values);
	}
}

void
rt_request_image(rt_model_request *r, rt_str mime, rt_str base64)
{
	add_image(r, r->writer->image, &(shape_values){.mime = mime, .data = base64});
}

void
rt_request_file(rt_model_request *r, rt_str name, rt_str mime, rt_str base64)
{
	rt_buf *words = rt_scope_buf(r->entry);

	if (r->writer->file != NULL && !r->provider->no_images &&
	    r->speaker == RT_SPEAKER_USER && !r->in_result && rt_str_is(mime, "application/pdf")) {
		add_shape(part_begin(target(r)), r->writer->file,
			  &(shape_values){.name = name, .mime = mime, .data = base64});
		return;
	}
	rt_buf_add_f(words, "[file %.*s]", RT_STR_ARG(name));
	rt_request_text(r, rt_scope_str(r->entry, words));
	rt_request_unsent(r, RT_STR("file"));
}

/* Safe in a data: URL and in JSON without escaping. */
static bool
is_token(rt_str s)
{
	for (size_t i = 0; i < s.size; i++) {
		char c = s.ptr[i];

		if (!((c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') ||
		      c == '/' || c == '+' || c == '=' || c == '-' || c == '.' || c == '_'))
			return false;
	}
	return s.size > 0;
}

void
rt_request_image_url(rt_model_request *r, rt_str url)
{
	size_t mark = rt_str_find(url, RT_STR(";base64,"), 0);

	if (rt_str_starts(url, RT_STR("data:")) && mark != SIZE_MAX) {
		rt_str mime = rt_str_at(url.ptr + 5, mark - 5);
		rt_str data = rt_str_at(url.ptr + mark + 8, url.size - mark - 8);

		if (is_token(mime) && is_token(data)) {
			rt_request_image(r, mime, data);
			return;
		}
	}
	add_image(r, r->writer->image_url, &(shape_values){.url = url});
}

void
rt_request_thinking(rt_model_request *r, rt_str text, rt_str signature, yyjson_val *redacted)
{
	if (r->is_signed && r->writer->thinking != NULL && !r->in_result)
		r->writer->thinking(text, signature, redacted, part_begin(&r->blocks));
}

/* ---- tools ---- */

/* JSON text of an object: providers require one for arguments. */
static bool
is_object(rt_str json)
{
	json = rt_str_trim(json);
	return json.size >= 2 && json.ptr[0] == '{' && json.ptr[json.size - 1] == '}';
}

void
rt_request_call(rt_model_request *r, const rt_request_call_data *call)
{
	bool is_signed = r->is_signed && r->writer->signed_call != NULL && call->signature.size > 0;
	shape_values values = {.id = call->id, .name = call->name, .arguments = call->arguments,
			       .signature = call->signature};
	rt_buf *to = &r->calls;

	if (!is_object(values.arguments))
		values.arguments = RT_STR("{}");
	if (r->writer->calls_inside)
		to = part_begin(&r->blocks);
	else if (r->calls.size > 0)
		rt_buf_add_byte(&r->calls, ',');
	add_shape(to, is_signed ? r->writer->signed_call : r->writer->call, &values);
}

void
rt_request_result_begin(rt_model_request *r, rt_str id, rt_str name, bool failed)
{
	if (r->writer->calls_inside)
		rt_request_begin(r, RT_SPEAKER_USER);
	else
		close_message(r);
	r->in_result = true;
	r->result_id = id;
	r->result_name = name;
	r->result_failed = failed;
}

void
rt_request_result_end(rt_model_request *r)
{
	shape_values values = {.id = r->result_id, .name = r->result_name, .content = &r->result};
	const char *shape = r->writer->result;
	rt_buf *to = &r->messages;

	r->in_result = false;
	if (r->result_failed && r->writer->failed_result != NULL)
		shape = r->writer->failed_result;
	if (r->writer->calls_inside)
		to = part_begin(&r->blocks);
	else if (r->message_count++ > 0)
		rt_buf_add_byte(to, ',');
	add_shape(to, shape, &values);
	blocks_clear(r->scope, &r->result);
}

/* ---- system ---- */

void
rt_request_prompt(rt_model_request *r, rt_str text)
{
	if (text.size == 0)
		return;
	if (r->top.size > 0)
		rt_buf_add_c(&r->top, "\n\n");
	rt_buf_add_str(&r->top, text);
}

void
rt_request_system(rt_model_request *r, rt_str text, bool may_lead)
{
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
	rt_buf *tagged = rt_scope_buf(r->entry);

	rt_buf_add_c(tagged, "[System]: ");
	rt_buf_add_str(tagged, text);
	rt_request_begin(r, RT_SPEAKER_USER);
	rt_request_text(r, rt_scope_str(r->entry, tagged));
	rt_request_end(r);
}

/* ---- the whole ---- */

void
rt_request_add_json(rt_buf *out, const char *key, rt_str json)
{
	if (json.ptr == NULL)
		return;
	rt_json_add_key(out, key);
	rt_buf_add_str(out, json);
}

size_t
rt_request_thinking_tokens(const rt_request_settings *s)
{
	static const struct {
		const char *effort;
		size_t tokens;
	} efforts[] = {{"minimal", 1024}, {"low", 4096}, {"medium", 16384}, {"high", 32768}};

	for (size_t i = 0; i < sizeof(efforts) / sizeof(efforts[0]); i++)
		if (rt_str_is(s->effort, efforts[i].effort))
			return efforts[i].tokens;
	return 0;
}

void
rt_request_add_model(const rt_model_request *r, const rt_request_settings *s, rt_buf *out)
{
	rt_str inside, name;

	if (s->model.ptr == NULL)
		return;
	/* A provider's name and a slash are written in JSON as they are. */
	inside = rt_str_at(s->model.ptr + 1, s->model.size - 1);
	name = rt_provider_model(r->provider, inside);
	rt_json_add_key(out, "model");
	rt_buf_add_byte(out, '"');
	rt_buf_add_str(out, name);
}

void
rt_request_add_messages(const rt_model_request *r, const char *key, rt_buf *out)
{
	rt_json_add_key(out, key);
	rt_buf_add_byte(out, '[');
	if (!takes_turns(r) && r->top.size > 0) {
		rt_buf_add_c(out, "{\"role\":\"system\"");
		rt_request_add_member(out, "content", rt_buf_str(&r->top));
		rt_buf_add_c(out, r->message_count > 0 ? "}," : "}");
	}
	rt_buf_add_str(out, rt_buf_str(&r->messages));
	rt_buf_add_byte(out, ']');
}

void
rt_request_add_options(const rt_request_settings *s, const char *key, const char *top_p,
		       const char *max_tokens, const char *more, rt_buf *out)
{
	if (s->temperature.ptr == NULL && s->top_p.ptr == NULL && s->max_tokens.ptr == NULL &&
	    more == NULL)
		return;
	rt_json_add_key(out, key);
	rt_buf_add_byte(out, '{');
	rt_request_add_json(out, "temperature", s->temperature);
	rt_request_add_json(out, top_p, s->top_p);
	rt_request_add_json(out, max_tokens, s->max_tokens);
	if (more != NULL) {
		rt_json_add_comma(out);
		rt_buf_add_c(out, more);
	}
	rt_buf_add_byte(out, '}');
}

void
rt_request_finish(rt_model_request *r, const rt_request_settings *s, rt_buf *out)
{
	rt_buf *bufs[9];

	trim_end(r);
	close_message(r);
	rt_buf_add_byte(out, '{');
	r->writer->body(r, s, out);
	rt_buf_add_byte(out, '}');
	for (size_t i = request_bufs(r, bufs); i > 0; i--)
		rt_scope_note(r->scope, bufs[i - 1]->status);
	rt_scope_note(r->scope, out->status);
}
