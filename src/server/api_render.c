/* SPDX-License-Identifier: MIT
 *
 * Texts as blocks of layout (markup/markup.h): those of a request, and those of entries. A text
 * that is too large to be laid out is given as it is, so that it does not cost the others. */
#include "server/api.h"

#include "codec/content.h"
#include "markup/markup.h"

/* Adds the blocks of a text as an item or value. out_stable (may be NULL): as of
 * rt_markup_blocks. */
static void
add_blocks(rt_buf *buf, rt_str text, size_t *out_stable)
{
	if (rt_markup_blocks(buf, text, NULL, out_stable, NULL) == RT_LIMIT)
		rt_markup_plain(buf, text);
	/* md4c's own lack of memory is not in the buffer yet. */
	else if (buf->status == RT_OK && (buf->size == 0 || buf->ptr[buf->size - 1] != ']'))
		buf->status = RT_NOMEM;
}

void
rt_api_render(rt_call *call)
{
	rt_scope *s = &call->scope;
	rt_buf *body = &call->answer->body, *stables;
	yyjson_val *texts = rt_json_get(rt_call_body(call, false), "texts"), *text;
	size_t i, count;

	rt_call_check_texts(call, texts, RT_API_WINDOW_MAX,
			    "\"texts\" is an array of at most 2000 texts");
	if (!rt_ok(s))
		return;
	stables = rt_scope_buf(s);
	rt_json_open(stables, NULL, '[');
	rt_json_open(body, NULL, '{');
	rt_json_open(body, "blocks", '[');
	yyjson_arr_foreach(texts, i, count, text)
	{
		size_t stable = 0;

		rt_json_add_comma(body);
		add_blocks(body, rt_json_str(text), &stable);
		rt_json_put_u64(stables, NULL, stable);
	}
	rt_json_close(body, ']');
	rt_json_close(stables, ']');
	rt_json_put_raw(body, "stable", rt_scope_str(s, stables));
	rt_json_close(body, '}');
}

/* "blocks" of a content: of the text, or of each of its blocks (null: it has no text). */
static void
put_blocks(rt_buf *buf, yyjson_val *value)
{
	rt_content content = rt_content_of(value);
	yyjson_val *block;
	size_t i, count;

	if (content.blocks == NULL) {
		rt_json_add_key(buf, "blocks");
		add_blocks(buf, content.text, NULL);
		return;
	}
	rt_json_open(buf, "blocks", '[');
	yyjson_arr_foreach(content.blocks, i, count, block)
	{
		rt_json_add_comma(buf);
		if (!rt_content_is_text(block))
			rt_buf_add_c(buf, "null");
		else
			add_blocks(buf, rt_json_str(yyjson_is_str(block) ? block
									 : rt_json_get(block, "text")),
				   NULL);
	}
	rt_json_close(buf, ']');
}

static void
put_entry(rt_buf *buf, yyjson_val *entry)
{
	yyjson_val *key, *value;
	size_t i, count;

	rt_json_open(buf, NULL, '{');
	rt_json_foreach(entry, i, count, key, value)
	{
		rt_json_add_key_str(buf, rt_json_str(key));
		rt_json_add_value(buf, value);
		if (rt_str_is(rt_json_str(key), "content"))
			put_blocks(buf, value);
	}
	rt_json_close(buf, '}');
}

void
rt_api_add_blocks(rt_call *call)
{
	rt_scope *s = &call->scope;
	rt_buf *body = &call->answer->body;
	yyjson_val *key, *value, *entry;
	size_t i, count, j, entries;

	if (!rt_call_flag(call, "blocks") || !rt_ok(s) || body->status != RT_OK)
		return;
	yyjson_val *root = rt_json_parse(s, rt_buf_str(body));
	if (root == NULL)
		return;
	rt_buf_clear(body);
	if (rt_json_get(root, "entries") == NULL) {
		put_entry(body, root);
		return;
	}
	rt_json_open(body, NULL, '{');
	rt_json_foreach(root, i, count, key, value)
	{
		rt_json_add_key_str(body, rt_json_str(key));
		if (!rt_str_is(rt_json_str(key), "entries")) {
			rt_json_add_value(body, value);
			continue;
		}
		rt_buf_add_byte(body, '[');
		yyjson_arr_foreach(value, j, entries, entry)
			put_entry(body, entry);
		rt_buf_add_byte(body, ']');
	}
	rt_json_close(body, '}');
}
