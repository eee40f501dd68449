/* SPDX-License-Identifier: MIT
 *
 * Texts laid out (markup/markup.h): those that are sent, and those of entries. What is too
 * large to be laid out is given as it stands, so that one text never costs the others. */
#include "server/api.h"

#include "codec/content.h"
#include "markup/markup.h"

/* out_stable (may be NULL): as rt_markup_blocks says it. */
static void
add_blocks(rt_buf *buf, rt_str text, size_t *out_stable)
{
	if (rt_markup_blocks(buf, text, NULL, out_stable, NULL) == RT_LIMIT)
		rt_markup_plain(buf, text);
	/* Too little memory within md4c is not in the buffer yet. */
	else if (buf->status == RT_OK && (buf->size == 0 || buf->ptr[buf->size - 1] != ']'))
		buf->status = RT_NOMEM;
}

void
rt_api_render(rt_call *call)
{
	rt_buf *body = &call->answer->body, stables;
	yyjson_val *root = NULL, *texts, *text;
	rt_json_doc *doc = NULL;
	size_t i, count, stable;
	bool is_fine;
	rt_error err;

	if (!rt_call_body(call, false, &doc, &root))
		return;
	texts = rt_json_get(root, "texts");
	is_fine = yyjson_is_arr(texts) && yyjson_arr_size(texts) <= RT_API_WINDOW_MAX;
	yyjson_arr_foreach(texts, i, count, text)
		is_fine = is_fine && yyjson_is_str(text);
	if (is_fine) {
		rt_buf_init(&stables, body->alloc, body->limit);
		rt_buf_add_c(body, "{\"blocks\":[");
		yyjson_arr_foreach(texts, i, count, text)
		{
			if (i > 0)
				rt_buf_add_byte(body, ',');
			stable = 0;
			add_blocks(body, rt_json_str(text), &stable);
			rt_buf_add_f(&stables, i > 0 ? ",%zu" : "%zu", stable);
		}
		rt_buf_add_c(body, "],\"stable\":[");
		rt_buf_add_str(body, rt_buf_str(&stables));
		rt_buf_add_c(body, "]}");
		if (body->status == RT_OK)
			body->status = stables.status;
		rt_buf_deinit(&stables);
		rt_call_done(call, 200);
	} else {
		(void)rt_fail(&err, RT_USAGE, "\"texts\" is an array of at most %d texts",
			      RT_API_WINDOW_MAX);
		rt_call_fail(call, &err, NULL);
	}
	rt_json_free(doc);
}

/* ,"blocks":… of a content: of the text, or for each block of it (null: it has no text). */
static void
add_content_blocks(rt_buf *buf, yyjson_val *value)
{
	rt_content content = rt_content_of(value);
	yyjson_val *block;
	size_t i, count;

	rt_json_add_key(buf, "blocks");
	if (content.blocks == NULL) {
		add_blocks(buf, content.text, NULL);
		return;
	}
	rt_buf_add_byte(buf, '[');
	yyjson_arr_foreach(content.blocks, i, count, block)
	{
		if (i > 0)
			rt_buf_add_byte(buf, ',');
		if (!rt_content_is_text(block))
			rt_buf_add_c(buf, "null");
		else
			add_blocks(buf, rt_json_str(yyjson_is_str(block) ? block
									 : rt_json_get(block, "text")),
				   NULL);
	}
	rt_buf_add_byte(buf, ']');
}

static void
add_entry(rt_buf *buf, yyjson_val *entry)
{
	yyjson_val *key, *value;
	size_t i, count;

	rt_buf_add_byte(buf, '{');
	rt_json_foreach(entry, i, count, key, value)
	{
		rt_json_add_key_str(buf, rt_json_str(key));
		rt_json_add_value(buf, value);
		if (rt_str_is(rt_json_str(key), "content"))
			add_content_blocks(buf, value);
	}
	rt_buf_add_byte(buf, '}');
}

static void
add_entries(rt_buf *buf, yyjson_val *entries)
{
	yyjson_val *entry;
	size_t i, count;

	rt_buf_add_byte(buf, '[');
	yyjson_arr_foreach(entries, i, count, entry)
	{
		if (i > 0)
			rt_buf_add_byte(buf, ',');
		add_entry(buf, entry);
	}
	rt_buf_add_byte(buf, ']');
}

rt_status
rt_api_add_blocks(rt_call *call, rt_error *err)
{
	rt_buf *body = &call->answer->body, with;
	yyjson_val *root, *key, *value;
	rt_json_doc *doc = NULL;
	size_t i, count;
	bool wanted;
	rt_status st;

	rt_buf_init(&with, body->alloc, body->limit);
	/* What was said wrongly was refused before. */
	wanted = rt_call_flag(call, "blocks", &wanted) && wanted;
	st = wanted ? rt_json_read(call->request->alloc, rt_buf_str(body), &doc, err) : RT_OK;
	root = doc != NULL ? rt_json_root(doc) : NULL;
	if (st == RT_OK && wanted && rt_json_get(root, "entries") == NULL)
		add_entry(&with, root);
	if (st == RT_OK && wanted && rt_json_get(root, "entries") != NULL) {
		rt_buf_add_byte(&with, '{');
		rt_json_foreach(root, i, count, key, value)
		{
			rt_json_add_key_str(&with, rt_json_str(key));
			if (rt_str_is(rt_json_str(key), "entries"))
				add_entries(&with, value);
			else
				rt_json_add_value(&with, value);
		}
		rt_buf_add_byte(&with, '}');
	}
	if (st == RT_OK && wanted) {
		st = with.status;
		rt_buf_clear(body);
		rt_buf_add_str(body, rt_buf_str(&with));
		if (st != RT_OK)
			st = rt_fail(err, st, "the entries are too large to be laid out");
	}
	rt_json_free(doc);
	rt_buf_deinit(&with);
	return st;
}
