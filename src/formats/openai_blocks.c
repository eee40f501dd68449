/* SPDX-License-Identifier: MIT
 *
 * The blocks of a content as OpenAI has them. What a message may hold in Retake is what pi,
 * Anthropic and OpenAI have alike; the plain form has only what OpenAI knows:
 *
 *   an image             {"type":"image_url","image_url":{"url":"data:image/png;base64,…"}}
 *   a call of a tool     in "tool_calls" beside the content
 *   reasoning            left out
 *
 * Everything else is written as it stands. */
#include "formats/openai_impl.h"

typedef enum block_kind { BLOCK_AS_IS, BLOCK_IMAGE, BLOCK_CALL, BLOCK_REASONING } block_kind;

static rt_str
member(yyjson_val *block, const char *name)
{
	return rt_json_str(rt_json_get(block, name));
}

static block_kind
kind_of(yyjson_val *block)
{
	yyjson_val *source = rt_json_get(block, "source");
	rt_str type = member(block, "type");

	if (rt_str_is(type, "toolCall") || rt_str_is(type, "tool_use"))
		return BLOCK_CALL;
	if (rt_str_is(type, "thinking") || rt_str_is(type, "redacted_thinking"))
		return BLOCK_REASONING;
	if (rt_str_is(type, "image") &&
	    (member(block, "data").size > 0 || member(source, "data").size > 0 ||
	     member(source, "url").size > 0))
		return BLOCK_IMAGE;
	return BLOCK_AS_IS;
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

		if (kind == BLOCK_CALL || kind == BLOCK_REASONING)
			continue;
		if (written++ > 0)
			rt_buf_add_byte(out, ',');
		if (kind == BLOCK_IMAGE)
			add_image(out, block);
		else
			rt_json_add_value(out, block);
	}
	rt_buf_add_byte(out, ']');
	if (written > 0 || max == 0 || out->status != RT_OK)
		return;
	out->size = from; /* nothing is left of it */
	rt_buf_add_c(out, rt_openai_has_calls(blocks) ? "null" : "\"\"");
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
		rt_buf text;

		if (kind_of(block) != BLOCK_CALL)
			continue;
		if (arguments == NULL)
			arguments = rt_json_get(block, "input");
		rt_buf_init(&text, out->alloc, RT_BUF_UNLIMITED);
		if (arguments != NULL)
			rt_json_add_value(&text, arguments);
		if (count++ > 0)
			rt_buf_add_byte(out, ',');
		rt_buf_add_c(out, "{\"id\":");
		rt_json_add_string(out, member(block, "id"));
		rt_buf_add_c(out, ",\"type\":\"function\",\"function\":{\"name\":");
		rt_json_add_string(out, member(block, "name"));
		rt_buf_add_c(out, ",\"arguments\":");
		rt_json_add_string(out, rt_buf_str(&text));
		rt_buf_add_c(out, "}}");
		if (text.status != RT_OK && out->status == RT_OK)
			out->status = text.status;
		rt_buf_deinit(&text);
	}
	rt_buf_add_byte(out, ']');
}
