/* SPDX-License-Identifier: MIT
 *
 * Writing OpenAI chat messages.
 *
 * Roles (C55): user, AI/assistant and system in any case, and further ones that OpenAI knows;
 * others become a user's text that begins with the role, unless the setting role_map names another
 * role for them. The lossless form never changes a message's content in this way: its role is in
 * "retake".
 *
 * Blocks of a content may be those of pi, Anthropic and OpenAI. The plain form has only the types
 * that OpenAI knows:
 *
 *   an image             {"type":"image_url","image_url":{"url":"data:image/png;base64,…"}}
 *   a call of a tool     in "tool_calls" next to the content
 *   a result of a tool   a separate message
 *   reasoning            left out
 *
 * Blocks of OpenAI's types are written with the members of these types; of other types only their
 * text remains, if they have one. The API refuses everything else. */
#include <stdlib.h> /* qsort */

#include "codec/content.h"
#include "formats/openai_impl.h"

typedef struct writer {
	rt_writer w;
	rt_buf *out; /* of w */
	bool lossless;
	bool is_array;        /* the output is an array, each message on a line */
	bool is_training;     /* a line of a fine-tuning file, which may have weights */
	size_t message_count; /* of the array so far */
	yyjson_val *role_map; /* of the current discussion, or NULL */
	rt_buf *text;         /* for one call at a time */
} writer;

static rt_str
text_of(writer *c)
{
	return rt_scope_str(&c->w.s, c->text);
}

static rt_str
member(yyjson_val *object, const char *name)
{
	return rt_json_str(rt_json_get(object, name));
}

/* ---- members and types of the API ---- */

/* "weight" is known in fine-tuning files only. */
static bool
is_message_key(rt_str role, rt_str name)
{
	if (rt_str_is(role, "tool"))
		return rt_str_is(name, "tool_call_id");
	return rt_str_is(name, "name") ||
	       (rt_str_is(role, "assistant") &&
		rt_is_word(name, "tool_calls function_call refusal audio weight"));
}

static bool
is_request_key(rt_str name)
{
	return rt_is_word(
		name,
		"model tools tool_choice functions function_call parallel_tool_calls temperature "
		"top_p max_tokens n stop max_completion_tokens seed user presence_penalty stream "
		"stream_options frequency_penalty logprobs top_logprobs response_format logit_bias "
		"modalities reasoning_effort audio prediction service_tier store metadata "
		"web_search_options verbosity safety_identifier prompt_cache_key "
		"prompt_cache_retention");
}

static const char *
known_role(rt_str role)
{
	static const char *const known[] = {"user", "assistant", "system", "developer",
					    "tool", "function",  NULL};

	if (rt_str_eq_nocase(role, RT_STR("ai")))
		return "assistant";
	for (size_t i = 0; known[i] != NULL; i++)
		if (rt_str_eq_nocase(role, rt_str_of(known[i])))
			return known[i];
	return NULL;
}

/* The role to write; *out_front is the text to put before the content, or empty. */
static rt_str
role_of(const writer *c, rt_str role, rt_str *out_front)
{
	const char *known = known_role(role);

	*out_front = rt_str_at(NULL, 0);
	for (rt_json_iter m = rt_json_members(c->role_map); rt_json_next(&m);)
		if (rt_str_eq_nocase(m.key, role) && yyjson_is_str(m.value))
			return rt_json_str(m.value);
	if (known != NULL)
		return rt_str_of(known);
	*out_front = role;
	return RT_STR("user");
}

/* ---- blocks ---- */

typedef enum block_kind {
	BLOCK_AS_IS, /* one of OpenAI's types, with no other members */
	BLOCK_MORE,  /* with members that the API does not know */
	BLOCK_IMAGE,
	BLOCK_FILE, /* a file stored by Retake, with its bytes */
	BLOCK_TEXT, /* of another type, with a text */
	BLOCK_CALL,
	BLOCK_NONE /* not written */
} block_kind;

/* The types of the API, the one member that each has, and that one's members. */
typedef struct block_type {
	const char *type, *member, *inner;
} block_type;

static const block_type types[] = {
	{"text", "text", ""},
	{"image_url", "image_url", "url detail"},
	{"input_audio", "input_audio", "data format"},
	{"file", "file", "file_id filename file_data"},
	{"refusal", "refusal", ""},
};

/* NULL: not one of the API's. */
static const block_type *
type_of(yyjson_val *block)
{
	rt_str type = member(block, "type");

	for (size_t i = 0; i < sizeof(types) / sizeof(*types); i++)
		if (rt_str_is(type, types[i].type))
			return &types[i];
	return NULL;
}

/* Has the block members that its type does not have? */
static bool
has_more(yyjson_val *block, const block_type *type)
{
	yyjson_val *inner = rt_json_get(block, type->member);

	for (rt_json_iter m = rt_json_each(block); rt_json_next(&m);)
		if (!rt_str_is(m.key, "type") && !rt_str_is(m.key, type->member))
			return true;
	for (rt_json_iter m = rt_json_members(inner); rt_json_next(&m);)
		if (!rt_is_word(m.key, type->inner))
			return true;
	return false;
}

static bool
is_result(yyjson_val *block)
{
	return rt_str_is(member(block, "type"), "tool_result") &&
	       member(block, "tool_use_id").size > 0;
}

static block_kind
kind_of(yyjson_val *block)
{
	yyjson_val *source = rt_json_get(block, "source");
	rt_str type = member(block, "type");
	const block_type *known = type_of(block);

	if (rt_str_is(type, "file") && member(block, "data").size > 0)
		return BLOCK_FILE;
	if (rt_str_is(type, "file") && rt_json_get(block, "file") == NULL)
		return BLOCK_NONE; /* purged */
	if (known != NULL)
		return has_more(block, known) ? BLOCK_MORE : BLOCK_AS_IS;
	if (rt_is_word(type, "toolCall tool_use"))
		return BLOCK_CALL;
	if (rt_is_word(type, "thinking redacted_thinking"))
		return BLOCK_NONE;
	if (rt_str_is(type, "image") &&
	    (member(block, "data").size > 0 || member(source, "data").size > 0 ||
	     member(source, "url").size > 0))
		return BLOCK_IMAGE;
	return !is_result(block) && member(block, "text").size > 0 ? BLOCK_TEXT : BLOCK_NONE;
}

/* Is there a block of this kind (wanted), or of another? */
static bool
has_kind(yyjson_val *blocks, block_kind kind, bool wanted)
{
	for (rt_json_iter m = rt_json_each(blocks); rt_json_next(&m);)
		if ((kind_of(m.value) == kind) == wanted)
			return true;
	return false;
}

static void
write_more(rt_buf *out, yyjson_val *block)
{
	const block_type *type = type_of(block);
	yyjson_val *inner = rt_json_get(block, type->member);

	rt_json_open(out, NULL, '{');
	rt_json_put_c(out, "type", type->type);
	if (yyjson_is_obj(inner)) {
		rt_json_open(out, type->member, '{');
		for (rt_json_iter m = rt_json_each(inner); rt_json_next(&m);)
			if (rt_is_word(m.key, type->inner))
				rt_json_put_member(out, m.key, m.value);
		rt_json_close(out, '}');
	} else if (inner != NULL) {
		rt_json_put_value(out, type->member, inner);
	}
	rt_json_close(out, '}');
}

static void
write_image(writer *c, yyjson_val *block)
{
	yyjson_val *source = rt_json_get(block, "source");

	rt_buf_clear(c->text);
	rt_buf_add_str(c->text, member(source, "url"));
	if (c->text->size == 0) {
		rt_buf_add_c(c->text, "data:");
		rt_buf_add_str(c->text, source != NULL ? member(source, "media_type")
						       : member(block, "mimeType"));
		rt_buf_add_c(c->text, ";base64,");
		rt_buf_add_str(c->text, member(source != NULL ? source : block, "data"));
	}
	rt_json_open(c->out, NULL, '{');
	rt_json_put_c(c->out, "type", "image_url");
	rt_json_open(c->out, "image_url", '{');
	rt_json_put_str(c->out, "url", text_of(c));
	rt_json_close(c->out, '}');
	rt_json_close(c->out, '}');
}

static void
write_file(writer *c, yyjson_val *block)
{
	rt_buf_clear(c->text);
	rt_buf_add_f(c->text, "data:%.*s;base64,", RT_STR_ARG(member(block, "mimeType")));
	rt_buf_add_str(c->text, member(block, "data"));
	rt_json_open(c->out, NULL, '{');
	rt_json_put_c(c->out, "type", "file");
	rt_json_open(c->out, "file", '{');
	rt_json_put_str(c->out, "filename", member(block, "name"));
	rt_json_put_str(c->out, "file_data", text_of(c));
	rt_json_close(c->out, '}');
	rt_json_close(c->out, '}');
}

/* Blocks in the form of the API's content: an array, or "" or null if nothing is left. front: a
 * text before them; empty: none. */
static void
write_blocks(writer *c, yyjson_val *blocks, rt_str front)
{
	rt_buf *out = c->out;
	size_t from = out->size;
	bool is_empty = front.size == 0 && yyjson_arr_size(blocks) > 0;

	rt_json_open(out, "content", '[');
	if (front.size > 0)
		rt_content_add_text_block(out, front);
	for (rt_json_iter m = rt_json_each(blocks); rt_json_next(&m);) {
		block_kind kind = kind_of(m.value);

		is_empty = is_empty && (kind == BLOCK_CALL || kind == BLOCK_NONE);
		switch (kind) {
		case BLOCK_AS_IS: rt_json_put_value(out, NULL, m.value); break;
		case BLOCK_MORE: write_more(out, m.value); break;
		case BLOCK_IMAGE: write_image(c, m.value); break;
		case BLOCK_FILE: write_file(c, m.value); break;
		case BLOCK_TEXT: rt_content_add_text_block(out, member(m.value, "text")); break;
		case BLOCK_CALL:
		case BLOCK_NONE: break;
		}
	}
	rt_json_close(out, ']');
	if (!is_empty || out->status != RT_OK)
		return;
	out->size = from; /* nothing is left of it */
	if (has_kind(blocks, BLOCK_CALL, true))
		rt_json_put_null(out, "content");
	else
		rt_json_put_c(out, "content", "");
}

/* ---- calls of tools ---- */

/* A function in the form of the API: its arguments are JSON in a string. */
static void
write_function(writer *c, const char *key, rt_str name, yyjson_val *arguments)
{
	rt_buf_clear(c->text);
	if (arguments != NULL)
		rt_json_add_value(c->text, arguments);
	rt_json_open(c->out, key, '{');
	rt_json_put_str(c->out, "name", name);
	rt_json_put_str(c->out, "arguments", text_of(c));
	rt_json_close(c->out, '}');
}

/* The value of a member "tool_calls" in the form of the API. */
static void
write_call_items(writer *c, yyjson_val *calls)
{
	rt_buf *out = c->out;

	if (!yyjson_is_arr(calls)) {
		rt_json_add_value(out, calls);
		return;
	}
	rt_buf_add_byte(out, '[');
	for (rt_json_iter call = rt_json_each(calls); rt_json_next(&call);) {
		if (!yyjson_is_obj(call.value)) {
			rt_json_put_value(out, NULL, call.value);
			continue;
		}
		rt_json_open(out, NULL, '{');
		for (rt_json_iter m = rt_json_each(call.value); rt_json_next(&m);) {
			yyjson_val *arguments = rt_json_get(m.value, "arguments");

			if (!rt_is_word(m.key, "id type function custom"))
				continue;
			rt_json_add_key_str(out, m.key);
			if (yyjson_is_obj(arguments))
				write_function(c, NULL, member(m.value, "name"), arguments);
			else
				rt_json_add_value(out, m.value);
		}
		rt_json_close(out, '}');
	}
	rt_json_close(out, ']');
}

/* The calls among the blocks as the member "tool_calls"; nothing if there are none. */
static void
write_calls(writer *c, yyjson_val *blocks)
{
	if (!has_kind(blocks, BLOCK_CALL, true))
		return;
	rt_json_open(c->out, "tool_calls", '[');
	for (rt_json_iter m = rt_json_each(blocks); rt_json_next(&m);) {
		yyjson_val *arguments = rt_json_get(m.value, "arguments");

		if (kind_of(m.value) != BLOCK_CALL)
			continue;
		rt_json_open(c->out, NULL, '{');
		rt_json_put_str(c->out, "id", member(m.value, "id"));
		rt_json_put_c(c->out, "type", "function");
		write_function(c, "function", member(m.value, "name"),
			       arguments != NULL ? arguments : rt_json_get(m.value, "input"));
		rt_json_close(c->out, '}');
	}
	rt_json_close(c->out, ']');
}

/* ---- members of messages ---- */

/* The content, preceded by "role: " if necessary. */
static void
write_content(writer *c, const rt_body *body, rt_str front)
{
	yyjson_val *blocks = body->content_json;

	if (front.size > 0) {
		rt_buf_clear(c->text);
		rt_buf_add_str(c->text, front);
		rt_buf_add_c(c->text, ": ");
		if (blocks == NULL)
			rt_buf_add_str(c->text, body->content);
		front = text_of(c); /* written before c->text is used again */
	}
	if (blocks != NULL &&
	    (front.size > 0 || (!c->lossless && has_kind(blocks, BLOCK_AS_IS, false)))) {
		write_blocks(c, blocks, front);
	} else if (front.size > 0) {
		rt_json_put_str(c->out, "content", front);
	} else {
		rt_json_add_key(c->out, "content");
		rt_body_add_content(c->out, body);
	}
}

/* The original value of the content, or NULL. */
static yyjson_val *
odd_content(const rt_body *body)
{
	yyjson_val *odd = rt_body_field(body, RT_BUILD_BAD_CONTENT);

	if (body->content.size > 0 || body->content_json != NULL || yyjson_is_arr(odd) ||
	    (yyjson_is_str(odd) && yyjson_get_len(odd) > 0))
		return NULL; /* not written by Retake */
	return odd;
}

/* audio of a reply is {"id","data",…}; a request only has the id. */
static void
write_audio(rt_buf *out, yyjson_val *audio)
{
	yyjson_val *id = rt_json_get(audio, "id");

	if (id == NULL) {
		rt_json_add_value(out, audio);
		return;
	}
	rt_buf_add_byte(out, '{');
	rt_json_put_value(out, "id", id);
	rt_json_close(out, '}');
}

/* A name without the prefix, if it has it. */
static bool
strip(rt_str *name, const char *prefix)
{
	rt_str start = rt_str_of(prefix);

	if (!rt_str_starts(*name, start))
		return false;
	*name = rt_str_at(name->ptr + start.size, name->size - start.size);
	return true;
}

/* The further fields under their foreign names; in the plain form those that the API knows for
 * the role. */
static void
write_further(writer *c, rt_str role, const rt_body *body)
{
	yyjson_val *fields = body->format == RT_BODY_JSON ? body->fields : NULL;

	for (rt_json_iter m = rt_json_each(fields); rt_json_next(&m);) {
		rt_str name = m.key;

		if (rt_is_word(name, "content role " OPENAI_OURS))
			continue;
		if (strip(&name, OPENAI_PREFIX) && c->lossless && rt_str_is(name, "retake"))
			continue; /* the name is in use; the field is in there */
		if (!c->lossless &&
		    (!is_message_key(role, name) || (rt_str_is(name, "weight") && !c->is_training)))
			continue;
		rt_json_add_key_str(c->out, name);
		if (!c->lossless && rt_str_is(name, "audio"))
			write_audio(c->out, m.value);
		else if (!c->lossless && rt_str_is(name, "tool_calls"))
			write_call_items(c, m.value);
		else
			rt_json_add_value(c->out, m.value);
	}
}

static bool
has_call(yyjson_val *blocks)
{
	for (rt_json_iter m = rt_json_each(blocks); rt_json_next(&m);)
		if (kind_of(m.value) == BLOCK_CALL)
			return true;
	return false;
}

/* Is there nothing besides calls, their results and empty texts? */
static bool
is_only_calls(yyjson_val *blocks)
{
	for (rt_json_iter m = rt_json_each(blocks); rt_json_next(&m);) {
		block_kind kind = kind_of(m.value);

		if (kind != BLOCK_CALL && kind != BLOCK_NONE && !is_result(m.value) &&
		    !(rt_str_is(member(m.value, "type"), "text") && member(m.value, "text").size == 0))
			return false;
	}
	return has_call(blocks);
}

/* Members role, content and further ones of an entry with body T or J. */
static void
write_members(writer *c, const rt_node *node, const rt_body *body)
{
	rt_str front, role = role_of(c, node->role, &front);
	yyjson_val *odd = odd_content(body), *calls = rt_body_field(body, "tool_calls");
	bool has_calls = calls != NULL || rt_body_field(body, "function_call") != NULL;
	bool is_call = !c->lossless && rt_str_is(role, "assistant") && is_only_calls(body->content_json);

	if (!c->lossless && rt_str_is(role, "tool") &&
	    !yyjson_is_str(rt_body_field(body, "tool_call_id"))) {
		role = RT_STR("user"); /* the API requires the call that it is the result of */
		front = node->role;
	}
	if (c->lossless || node->kind.size > 0)
		front = rt_str_at(NULL, 0);
	rt_json_put_str(c->out, "role", role);
	if (odd != NULL)
		rt_json_put_value(c->out, "content", odd);
	else if (is_call || (body->content.size == 0 && body->content_json == NULL && has_calls &&
			     (c->lossless || rt_str_is(role, "assistant"))))
		rt_json_put_null(c->out, "content");
	else
		write_content(c, body, front);
	if (!c->lossless && rt_str_is(role, "assistant") && calls == NULL)
		write_calls(c, body->content_json);
	write_further(c, role, body);
}

static void
add_line(rt_buf *text, rt_str line)
{
	if (line.size > 0 && text->size > 0)
		rt_buf_add_byte(text, '\n');
	rt_buf_add_str(text, line);
}

/* Results are texts: an image in one is only named. */
static rt_str
image_word(yyjson_val *block)
{
	return rt_is_word(member(block, "type"), "image image_url input_image") ? RT_STR("[image]")
										: RT_STR("");
}

/* The content of a record of pi's as text. */
static void
write_pi_text(writer *c, const rt_body *body, bool is_result)
{
	rt_buf_clear(c->text);
	rt_body_add_text(c->text, body);
	for (rt_json_iter m = rt_json_items(body->content_json); is_result && rt_json_next(&m);)
		add_line(c->text, image_word(m.value));
	rt_json_put_str(c->out, "content", text_of(c));
}

static void
write_pi_members(writer *c, const rt_node *node, const rt_body *body)
{
	yyjson_val *message = rt_json_get(body->fields, "message");
	rt_str role = member(message, "role"), front;
	bool has_image = false;

	if (rt_str_is(role, "toolResult")) {
		rt_json_put_c(c->out, "role", "tool");
		write_pi_text(c, body, !c->lossless);
		rt_json_put_str(c->out, "tool_call_id", member(message, "toolCallId"));
		return;
	}
	for (rt_json_iter m = rt_json_each(body->content_json); rt_json_next(&m);)
		has_image = has_image || rt_str_is(member(m.value, "type"), "image");
	rt_json_put_str(c->out, "role", role_of(c, node->role, &front));
	if (c->lossless || !has_image)
		write_pi_text(c, body, false);
	else
		write_blocks(c, body->content_json, rt_str_at(NULL, 0));
	if (rt_str_is(role, "assistant"))
		write_calls(c, body->content_json);
}

/* ---- messages ---- */

/* Is this entry in the plain form? Not if muted or purged, nor kinds that no model is sent
 * (chat/context_entry.c). */
static bool
is_sent(const rt_node *node)
{
	return !node->muted && !rt_node_is_purged(node) &&
	       !rt_is_word(node->kind, "custom label session session_info model_change "
				       "thinking_level_change usage context_edit");
}

static void
begin_message(writer *c)
{
	if (c->message_count++ > 0)
		rt_buf_add_byte(c->out, ',');
	rt_buf_add_c(c->out, c->is_array ? "\n{" : "{");
}

/* The text of a result: of its parts the texts, on lines. */
static void
write_result(writer *c, yyjson_val *block)
{
	yyjson_val *content = rt_json_get(block, "content");

	rt_buf_clear(c->text);
	rt_buf_add_str(c->text, rt_json_str(content));
	for (rt_json_iter m = rt_json_items(content); rt_json_next(&m);) {
		rt_str text = member(m.value, "text");

		add_line(c->text, text.size > 0 || c->lossless ? text : image_word(m.value));
	}
	begin_message(c);
	rt_json_put_c(c->out, "role", "tool");
	rt_json_put_str(c->out, "content", text_of(c));
	rt_json_put_str(c->out, "tool_call_id", member(block, "tool_use_id"));
	rt_json_close(c->out, '}');
}

/* The results of tools among the blocks as messages. False: there is something else, or nothing. */
static bool
write_results(writer *c, yyjson_val *blocks)
{
	size_t results = 0;

	for (rt_json_iter m = rt_json_each(blocks); rt_json_next(&m);)
		if (is_result(m.value)) {
			write_result(c, m.value);
			results++;
		}
	return results > 0 && results == yyjson_arr_size(blocks);
}

/* Results come before the other content of an entry, but after its calls. */
static void
write_message(writer *c, const rt_node *node)
{
	const rt_body *body = rt_writer_body(&c->w, node);
	bool calls = body != NULL && !c->lossless && has_call(body->content_json);

	if (body == NULL || (!c->lossless && !calls && write_results(c, body->content_json)))
		return;
	begin_message(c);
	if (body->format == RT_BODY_PI)
		write_pi_members(c, node, body);
	else
		write_members(c, node, body);
	if (c->lossless)
		rt_extras_write(c->out, "retake", node, body);
	rt_json_close(c->out, '}');
	if (calls)
		(void)write_results(c, body->content_json);
}

/* ---- conversations ---- */

static int
field_order(const void *a, const void *b)
{
	return rt_str_cmp(((const rt_outline_field *)a)->name, ((const rt_outline_field *)b)->name);
}

/* The other members of a request body. */
static void
write_request(writer *c)
{
	const rt_outline *o = c->w.outline;
	rt_outline_field *sorted = rt_scope_array(&c->w.d, o->field_count, sizeof(*sorted));

	if (rt_scope_note(&c->w.s, c->w.d.status) != RT_OK || o->field_count == 0)
		return;
	memcpy(sorted, o->fields, o->field_count * sizeof(*sorted));
	qsort(sorted, o->field_count, sizeof(*sorted), field_order);
	for (size_t i = 0; i < o->field_count; i++) {
		rt_str name = sorted[i].name;

		if (strip(&name, OPENAI_PREFIX)
			    ? c->lossless && rt_is_word(name, "retake retake_more")
			    : !strip(&name, "setting.") || !rt_is_word(name, OPENAI_SETTINGS))
			continue;
		if (!c->lossless && !is_request_key(name))
			continue;
		rt_json_add_key_str(c->out, name);
		rt_buf_add_str(c->out, sorted[i].json);
	}
}

static void
write_plain(writer *c)
{
	const rt_outline *o = c->w.outline;
	const rt_outline_take *take = rt_writer_take(&c->w);
	rt_str model = rt_outline_field_of(o->fields, o->field_count, OPENAI_PREFIX "model");
	size_t from = c->out->size;

	c->is_array = c->w.in->count == 1 && !c->w.options.lines;
	for (size_t i = 0; i < o->field_count; i++) {
		rt_str name = o->fields[i].name;

		if (strip(&name, OPENAI_PREFIX) && is_request_key(name))
			c->is_array = false; /* it was a request */
	}
	c->is_training = !c->is_array && model.size == 0;
	rt_buf_add_c(c->out, c->is_array ? "[" : "{\"messages\":[");
	for (size_t i = 0; take != NULL && i < take->node_count; i++)
		if (is_sent(&o->nodes[take->nodes[i]]))
			write_message(c, &o->nodes[take->nodes[i]]);
	if (c->is_array && c->message_count > 0)
		rt_buf_add_byte(c->out, '\n');
	rt_json_close(c->out, ']');
	if (c->is_array && c->message_count == 0 && c->out->status == RT_OK) {
		c->out->size = from; /* an empty array is refused: it may be anything */
		rt_buf_add_c(c->out, "{\"messages\":[]}");
	} else if (!c->is_array) {
		write_request(c);
		rt_json_close(c->out, '}');
	}
}

static void
write_lossless(writer *c)
{
	const rt_outline *o = c->w.outline;
	size_t own, count;
	const int64_t *order, *numbers = rt_writer_number(&c->w, &order, &own, &count);

	rt_buf_add_c(c->out, "{\"messages\":[");
	for (size_t i = 0; i < own; i++)
		write_message(c, &o->nodes[order[i]]);
	rt_json_close(c->out, ']');
	write_request(c);
	if (numbers != NULL)
		rt_extras_write_discussion(c->out, "retake", &c->w, numbers);
	if (count > own) {
		rt_json_open(c->out, "retake_more", '[');
		c->message_count = 0;
		for (size_t i = own; i < count; i++)
			write_message(c, &o->nodes[order[i]]);
		rt_json_close(c->out, ']');
	}
	rt_json_close(c->out, '}');
}

static yyjson_val *
role_map(writer *c)
{
	const rt_outline *o = c->w.outline;
	rt_str map = rt_outline_field_of(o->fields, o->field_count, "setting.role_map");

	if (map.size == 0)
		map = rt_outline_field_of(c->w.in->fields, c->w.in->field_count,
					  "setting.role_map");
	return rt_writer_parse(&c->w, &c->w.d, map);
}

rt_status
rt_openai_write(const rt_alloc *alloc, const rt_outlines *in, const rt_export_options *options,
		rt_buf *out, rt_error *err)
{
	writer c = {.out = out};

	rt_writer_init(&c.w, alloc, in, options, out);
	c.lossless = c.w.options.lossless;
	c.text = rt_scope_buf(&c.w.s);
	if (in->count == 0)
		rt_buf_add_c(out, "[]\n");
	while (rt_writer_next(&c.w)) {
		c.role_map = role_map(&c);
		c.message_count = 0;
		if (c.lossless)
			write_lossless(&c);
		else
			write_plain(&c);
		rt_buf_add_byte(out, '\n');
	}
	return rt_writer_end(&c.w, err);
}
