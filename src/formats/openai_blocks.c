/* SPDX-License-Identifier: MIT
 *
 * The blocks of a content as OpenAI has them. What a message may hold in Retake is what pi,
 * Anthropic and OpenAI have alike; the plain form has only what OpenAI knows:
 *
 *   an image             {"type":"image_url","image_url":{"url":"data:image/png;base64,…"}}
 *   a call of a tool     in "tool_calls" beside the content
 *   a result of a tool   a message of its own
 *   reasoning            left out
 *
 * Blocks of OpenAI's types are written with the members that these have; of other types
 * remains their text, if they have one. The API refuses everything else. */
#include "formats/openai_impl.h"

typedef enum block_kind {
	BLOCK_AS_IS, /* of a type of OpenAI's, and nothing more */
	BLOCK_MORE,  /* with members that the API does not know */
	BLOCK_IMAGE,
	BLOCK_TEXT, /* of another type, with a text */
	BLOCK_CALL,
	BLOCK_NONE /* not written */
} block_kind;

/* The types of the API, and the one member that each has. */
typedef struct block_type {
	const char *type, *member;
	const char *inner[4]; /* members of that member, where it is an object */
} block_type;

static const block_type types[] = {
	{"text", "text", {NULL}},
	{"image_url", "image_url", {"url", "detail", NULL}},
	{"input_audio", "input_audio", {"data", "format", NULL}},
	{"file", "file", {"file_id", "filename", "file_data", NULL}},
	{"refusal", "refusal", {NULL}},
};

static rt_str
member(yyjson_val *block, const char *name)
{
	return rt_json_str(rt_json_get(block, name));
}

static bool
is_inner(const block_type *type, yyjson_val *key)
{
	return rt_str_is_one_of(rt_json_str(key), type->inner);
}

/* Has the block members that its type does not have? */
static bool
has_more(yyjson_val *block, const block_type *type)
{
	yyjson_val *inner = rt_json_get(block, type->member), *key, *value;
	size_t i, max;

	rt_json_foreach(block, i, max, key, value)
	{
		if (!rt_str_is(rt_json_str(key), "type") &&
		    !rt_str_is(rt_json_str(key), type->member))
			return true;
	}
	if (!yyjson_is_obj(inner))
		return false;
	rt_json_foreach(inner, i, max, key, value)
	{
		if (!is_inner(type, key))
			return true;
	}
	return false;
}

/* NULL: none of the API's. */
static const block_type *
type_of(yyjson_val *block)
{
	rt_str type = member(block, "type");

	for (size_t i = 0; i < sizeof(types) / sizeof(*types); i++)
		if (rt_str_is(type, types[i].type))
			return &types[i];
	return NULL;
}

static void
write_known(rt_buf *out, yyjson_val *block)
{
	const block_type *type = type_of(block);
	yyjson_val *inner = rt_json_get(block, type->member), *key, *value;
	size_t i, max;

	rt_json_open(out, NULL, '{');
	rt_json_put_c(out, "type", type->type);
	if (yyjson_is_obj(inner)) {
		rt_json_open(out, type->member, '{');
		rt_json_foreach(inner, i, max, key, value)
		{
			if (!is_inner(type, key))
				continue;
			rt_json_add_key_str(out, rt_json_str(key));
			rt_json_add_value(out, value);
		}
		rt_json_close(out, '}');
	} else if (inner != NULL) {
		rt_json_put_value(out, type->member, inner);
	}
	rt_json_close(out, '}');
}

static void
write_text(rt_buf *out, rt_str text)
{
	rt_json_open(out, NULL, '{');
	rt_json_put_c(out, "type", "text");
	rt_json_put_str(out, "text", text);
	rt_json_close(out, '}');
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

	if (known != NULL)
		return has_more(block, known) ? BLOCK_MORE : BLOCK_AS_IS;
	if (rt_str_is(type, "toolCall") || rt_str_is(type, "tool_use"))
		return BLOCK_CALL;
	if (rt_str_is(type, "thinking") || rt_str_is(type, "redacted_thinking"))
		return BLOCK_NONE;
	if (rt_str_is(type, "image") &&
	    (member(block, "data").size > 0 || member(source, "data").size > 0 ||
	     member(source, "url").size > 0))
		return BLOCK_IMAGE;
	return !is_result(block) && member(block, "text").size > 0 ? BLOCK_TEXT : BLOCK_NONE;
}

/* Is there a block of this kind? */
static bool
has_kind(yyjson_val *blocks, block_kind kind)
{
	yyjson_val *block;
	size_t i, max;

	yyjson_arr_foreach(blocks, i, max, block)
	{
		if (kind_of(block) == kind)
			return true;
	}
	return false;
}

bool
rt_openai_is_foreign(yyjson_val *blocks)
{
	yyjson_val *block;
	size_t i, max;

	yyjson_arr_foreach(blocks, i, max, block)
	{
		if (kind_of(block) != BLOCK_AS_IS)
			return true;
	}
	return false;
}

/* End a scope whose buffers were written to out, which gets its failure. */
static void
end_scope(rt_scope *s, rt_buf *out)
{
	rt_status st = rt_scope_end(s, NULL);

	if (st != RT_OK && out->status == RT_OK)
		out->status = st;
}

static void
write_image(rt_buf *out, yyjson_val *block)
{
	yyjson_val *source = rt_json_get(block, "source");
	rt_str mime = member(block, "mimeType"), data = member(block, "data");
	rt_scope s;
	rt_buf *url;

	rt_scope_init(&s, out->alloc);
	url = rt_scope_buf(&s);
	if (source != NULL) {
		mime = member(source, "media_type");
		data = member(source, "data");
		rt_buf_add_str(url, member(source, "url"));
	}
	if (url->size == 0) {
		rt_buf_add_c(url, "data:");
		rt_buf_add_str(url, mime);
		rt_buf_add_c(url, ";base64,");
		rt_buf_add_str(url, data);
	}
	rt_json_open(out, NULL, '{');
	rt_json_put_c(out, "type", "image_url");
	rt_json_open(out, "image_url", '{');
	rt_json_put_str(out, "url", rt_scope_str(&s, url));
	rt_json_close(out, '}');
	rt_json_close(out, '}');
	end_scope(&s, out);
}

void
rt_openai_write_blocks(rt_buf *out, yyjson_val *blocks, rt_str front)
{
	size_t i, max, from = out->size;
	yyjson_val *block;
	bool is_empty = front.size == 0;

	rt_json_open(out, "content", '[');
	if (front.size > 0)
		write_text(out, front);
	yyjson_arr_foreach(blocks, i, max, block)
	{
		block_kind kind = kind_of(block);

		is_empty = is_empty && (kind == BLOCK_CALL || kind == BLOCK_NONE);
		switch (kind) {
		case BLOCK_AS_IS: rt_json_put_value(out, NULL, block); break;
		case BLOCK_MORE: write_known(out, block); break;
		case BLOCK_IMAGE: write_image(out, block); break;
		case BLOCK_TEXT: write_text(out, member(block, "text")); break;
		case BLOCK_CALL:
		case BLOCK_NONE: break;
		}
	}
	rt_json_close(out, ']');
	if (!is_empty || max == 0 || out->status != RT_OK)
		return;
	out->size = from; /* nothing is left of it */
	if (has_kind(blocks, BLOCK_CALL))
		rt_json_put_null(out, "content");
	else
		rt_json_put_c(out, "content", "");
}

/* ---- results and calls of tools ---- */

static void
write_result(rt_buf *out, yyjson_val *block)
{
	yyjson_val *content = rt_json_get(block, "content"), *part;
	size_t i, max;
	rt_scope s;
	rt_buf *text;

	rt_scope_init(&s, out->alloc);
	text = rt_scope_buf(&s);
	rt_buf_add_str(text, rt_json_str(content));
	yyjson_arr_foreach(content, i, max, part)
	{
		if (member(part, "text").size > 0 && text->size > 0)
			rt_buf_add_byte(text, '\n');
		rt_buf_add_str(text, member(part, "text"));
	}
	rt_buf_add_byte(out, '{');
	rt_json_put_c(out, "role", "tool");
	rt_json_put_str(out, "content", rt_scope_str(&s, text));
	rt_json_put_str(out, "tool_call_id", member(block, "tool_use_id"));
	rt_json_close(out, '}');
	end_scope(&s, out);
}

bool
rt_openai_write_results(rt_buf *out, yyjson_val *blocks, void (*begin)(void *ctx), void *ctx)
{
	size_t i, max, results = 0;
	yyjson_val *block;

	yyjson_arr_foreach(blocks, i, max, block)
	{
		if (!is_result(block))
			continue;
		begin(ctx);
		write_result(out, block);
		results++;
	}
	return results > 0 && results == max;
}

/* A function as the API has it: its arguments are JSON in a string. */
static void
write_function(rt_buf *out, rt_str name, yyjson_val *arguments)
{
	rt_scope s;
	rt_buf *text;

	rt_scope_init(&s, out->alloc);
	text = rt_scope_buf(&s);
	if (arguments != NULL)
		rt_json_add_value(text, arguments);
	rt_json_put_str(out, "name", name);
	rt_json_put_str(out, "arguments", rt_scope_str(&s, text));
	rt_json_close(out, '}');
	end_scope(&s, out);
}

static void
write_call_item(rt_buf *out, yyjson_val *call)
{
	static const char *const known[] = {"id", "type", "function", "custom", NULL};
	yyjson_val *key, *value, *arguments;
	size_t i, max;

	rt_json_open(out, NULL, '{');
	rt_json_foreach(call, i, max, key, value)
	{
		if (!rt_str_is_one_of(rt_json_str(key), known))
			continue;
		rt_json_add_key_str(out, rt_json_str(key));
		arguments = rt_json_get(value, "arguments");
		if (yyjson_is_obj(arguments)) {
			rt_buf_add_byte(out, '{');
			write_function(out, member(value, "name"), arguments);
		} else {
			rt_json_add_value(out, value);
		}
	}
	rt_json_close(out, '}');
}

void
rt_openai_write_call_items(rt_buf *out, yyjson_val *calls)
{
	yyjson_val *call;
	size_t i, max;

	if (!yyjson_is_arr(calls)) {
		rt_json_add_value(out, calls);
		return;
	}
	rt_buf_add_byte(out, '[');
	yyjson_arr_foreach(calls, i, max, call)
	{
		if (yyjson_is_obj(call))
			write_call_item(out, call);
		else
			rt_json_put_value(out, NULL, call);
	}
	rt_json_close(out, ']');
}

void
rt_openai_write_calls(rt_buf *out, yyjson_val *blocks)
{
	size_t i, max;
	yyjson_val *block;

	if (!has_kind(blocks, BLOCK_CALL))
		return;
	rt_json_open(out, "tool_calls", '[');
	yyjson_arr_foreach(blocks, i, max, block)
	{
		yyjson_val *arguments = rt_json_get(block, "arguments");

		if (kind_of(block) != BLOCK_CALL)
			continue;
		rt_json_open(out, NULL, '{');
		rt_json_put_str(out, "id", member(block, "id"));
		rt_json_put_c(out, "type", "function");
		rt_json_open(out, "function", '{');
		write_function(out, member(block, "name"),
			       arguments != NULL ? arguments : rt_json_get(block, "input"));
		rt_json_close(out, '}');
	}
	rt_json_close(out, ']');
}
