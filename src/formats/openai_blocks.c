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
	BLOCK_NONE  /* not written */
} block_kind;

/* The types of the API, and the one member that each has. */
static const struct {
	const char *type, *member;
	const char *inner[4]; /* members of that member, where it is an object */
} types[] = {
	{"text", "text", {NULL}},
	{"image_url", "image_url", {"url", "detail", NULL}},
	{"input_audio", "input_audio", {"data", "format", NULL}},
	{"file", "file", {"file_id", "filename", "file_data", NULL}},
	{"refusal", "refusal", {NULL}},
};
enum { TYPE_COUNT = sizeof(types) / sizeof(types[0]) };

static rt_str
member(yyjson_val *block, const char *name)
{
	return rt_json_str(rt_json_get(block, name));
}

static bool
is_inner(size_t type, rt_str name)
{
	size_t i;

	for (i = 0; types[type].inner[i] != NULL; i++)
		if (rt_str_is(name, types[type].inner[i]))
			return true;
	return false;
}

/* Has the block members that its type does not have? */
static bool
has_more(yyjson_val *block, size_t type)
{
	yyjson_val *inner = rt_json_get(block, types[type].member), *key, *value;
	size_t i, max;

	yyjson_obj_foreach(block, i, max, key, value)
	{
		if (!rt_str_is(rt_json_str(key), "type") &&
		    !rt_str_is(rt_json_str(key), types[type].member))
			return true;
	}
	if (!yyjson_is_obj(inner))
		return false;
	yyjson_obj_foreach(inner, i, max, key, value)
	{
		if (!is_inner(type, rt_json_str(key)))
			return true;
	}
	return false;
}

static size_t
type_of(yyjson_val *block)
{
	rt_str type = member(block, "type");
	size_t i = 0;

	while (i < TYPE_COUNT && !rt_str_is(type, types[i].type))
		i++;
	return i;
}

static void
add_known(rt_buf *out, yyjson_val *block)
{
	size_t type = type_of(block), i, max;
	yyjson_val *inner = rt_json_get(block, types[type].member), *key, *value;

	rt_buf_add_c(out, "{\"type\":");
	rt_json_add_string(out, member(block, "type"));
	if (inner != NULL)
		rt_json_add_key(out, types[type].member);
	if (!yyjson_is_obj(inner)) {
		if (inner != NULL)
			rt_json_add_value(out, inner);
		rt_buf_add_byte(out, '}');
		return;
	}
	rt_buf_add_byte(out, '{');
	yyjson_obj_foreach(inner, i, max, key, value)
	{
		if (!is_inner(type, rt_json_str(key)))
			continue;
		rt_json_add_key_str(out, rt_json_str(key));
		rt_json_add_value(out, value);
	}
	rt_buf_add_c(out, "}}");
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
	size_t known = type_of(block);

	if (known < TYPE_COUNT)
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

static void
add_image(rt_buf *out, yyjson_val *block)
{
	yyjson_val *source = rt_json_get(block, "source");
	rt_str mime = member(block, "mimeType"), data = member(block, "data");
	rt_buf url;

	rt_buf_init(&url, out->alloc, RT_BUF_UNLIMITED);
	if (source != NULL) {
		mime = member(source, "media_type");
		data = member(source, "data");
		rt_buf_add_str(&url, member(source, "url"));
	}
	if (url.size == 0) {
		rt_buf_add_c(&url, "data:");
		rt_buf_add_str(&url, mime);
		rt_buf_add_c(&url, ";base64,");
		rt_buf_add_str(&url, data);
	}
	rt_buf_add_c(out, "{\"type\":\"image_url\",\"image_url\":{\"url\":");
	rt_json_add_string(out, rt_buf_str(&url));
	rt_buf_add_c(out, "}}");
	if (url.status != RT_OK && out->status == RT_OK)
		out->status = url.status;
	rt_buf_deinit(&url);
}

void
rt_openai_add_blocks(rt_buf *out, yyjson_val *blocks, rt_str front)
{
	size_t i, max, written = 0, from = out->size;
	yyjson_val *block;

	rt_buf_add_byte(out, '[');
	if (front.size > 0) {
		rt_buf_add_c(out, "{\"type\":\"text\",\"text\":");
		rt_json_add_string(out, front);
		rt_buf_add_byte(out, '}');
		written++;
	}
	yyjson_arr_foreach(blocks, i, max, block)
	{
		block_kind kind = kind_of(block);

		if (kind == BLOCK_CALL || kind == BLOCK_NONE)
			continue;
		if (written++ > 0)
			rt_buf_add_byte(out, ',');
		if (kind == BLOCK_IMAGE) {
			add_image(out, block);
		} else if (kind == BLOCK_TEXT) {
			rt_buf_add_c(out, "{\"type\":\"text\",\"text\":");
			rt_json_add_string(out, member(block, "text"));
			rt_buf_add_byte(out, '}');
		} else if (kind == BLOCK_MORE) {
			add_known(out, block);
		} else {
			rt_json_add_value(out, block);
		}
	}
	rt_buf_add_byte(out, ']');
	if (written > 0 || max == 0 || out->status != RT_OK)
		return;
	out->size = from; /* nothing is left of it */
	rt_buf_add_c(out, rt_openai_has_calls(blocks) ? "null" : "\"\"");
}

bool
rt_openai_add_results(rt_buf *out, yyjson_val *blocks, void (*begin)(void *ctx), void *ctx)
{
	size_t i, max, k, count = 0, written = 0;
	yyjson_val *block, *part, *content;

	yyjson_arr_foreach(blocks, i, max, block)
	{
		rt_buf text;

		if (!is_result(block))
			continue;
		content = rt_json_get(block, "content");
		rt_buf_init(&text, out->alloc, RT_BUF_UNLIMITED);
		rt_buf_add_str(&text, rt_json_str(content));
		for (k = 0; k < yyjson_arr_size(content); k++) {
			part = yyjson_arr_get(content, k);
			if (member(part, "text").size > 0 && text.size > 0)
				rt_buf_add_byte(&text, '\n');
			rt_buf_add_str(&text, member(part, "text"));
		}
		begin(ctx);
		rt_buf_add_c(out, "{\"role\":\"tool\",\"content\":");
		rt_json_add_string(out, rt_buf_str(&text));
		rt_json_add_key(out, "tool_call_id");
		rt_json_add_string(out, member(block, "tool_use_id"));
		rt_buf_add_byte(out, '}');
		if (text.status != RT_OK && out->status == RT_OK)
			out->status = text.status;
		rt_buf_deinit(&text);
		written++;
	}
	yyjson_arr_foreach(blocks, i, max, block)
	{
		count += !is_result(block);
	}
	return written > 0 && count == 0;
}

/* The arguments of a call as the API has them: JSON in a string. */
static void
add_arguments(rt_buf *out, yyjson_val *arguments)
{
	rt_buf text;

	rt_buf_init(&text, out->alloc, RT_BUF_UNLIMITED);
	if (arguments != NULL)
		rt_json_add_value(&text, arguments);
	rt_json_add_key(out, "arguments");
	rt_json_add_string(out, rt_buf_str(&text));
	if (text.status != RT_OK && out->status == RT_OK)
		out->status = text.status;
	rt_buf_deinit(&text);
}

static void
add_call_item(rt_buf *out, yyjson_val *call)
{
	yyjson_val *key, *value, *arguments;
	size_t i, max;

	rt_buf_add_byte(out, '{');
	yyjson_obj_foreach(call, i, max, key, value)
	{
		rt_str name = rt_json_str(key);

		if (!rt_str_is(name, "id") && !rt_str_is(name, "type") &&
		    !rt_str_is(name, "function") && !rt_str_is(name, "custom"))
			continue;
		rt_json_add_key_str(out, name);
		arguments = rt_json_get(value, "arguments");
		if (!yyjson_is_obj(arguments)) {
			rt_json_add_value(out, value);
			continue;
		}
		rt_buf_add_c(out, "{\"name\":");
		rt_json_add_string(out, member(value, "name"));
		add_arguments(out, arguments);
		rt_buf_add_byte(out, '}');
	}
	rt_buf_add_byte(out, '}');
}

void
rt_openai_add_call_items(rt_buf *out, yyjson_val *calls)
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
		rt_json_add_comma(out);
		if (yyjson_is_obj(call))
			add_call_item(out, call);
		else
			rt_json_add_value(out, call);
	}
	rt_buf_add_byte(out, ']');
}

bool
rt_openai_has_calls(yyjson_val *blocks)
{
	yyjson_val *block;
	size_t i, max;

	yyjson_arr_foreach(blocks, i, max, block)
	{
		if (kind_of(block) == BLOCK_CALL)
			return true;
	}
	return false;
}

void
rt_openai_add_calls(rt_buf *out, yyjson_val *blocks)
{
	size_t i, max, count = 0;
	yyjson_val *block;

	if (!rt_openai_has_calls(blocks))
		return;
	rt_json_add_key(out, "tool_calls");
	rt_buf_add_byte(out, '[');
	yyjson_arr_foreach(blocks, i, max, block)
	{
		yyjson_val *arguments = rt_json_get(block, "arguments");

		if (kind_of(block) != BLOCK_CALL)
			continue;
		if (arguments == NULL)
			arguments = rt_json_get(block, "input");
		if (count++ > 0)
			rt_buf_add_byte(out, ',');
		rt_buf_add_c(out, "{\"id\":");
		rt_json_add_string(out, member(block, "id"));
		rt_buf_add_c(out, ",\"type\":\"function\",\"function\":{\"name\":");
		rt_json_add_string(out, member(block, "name"));
		add_arguments(out, arguments);
		rt_buf_add_c(out, "}}");
	}
	rt_buf_add_byte(out, ']');
}
