/* SPDX-License-Identifier: MIT
 *
 * Blocks are written to one buffer as they come; the first text is only remembered, because it usually
 * stays alone. */
#include "importers/parts.h"

#include "base/encode.h"

void
rt_parts_init(rt_parts *p, rt_build *b)
{
	*p = (rt_parts){.b = b, .blocks = rt_scope_buf(&b->s)};
}

void
rt_parts_begin(rt_parts *p)
{
	rt_buf_clear(p->blocks);
	rt_json_open(p->blocks, NULL, '[');
	p->count = 0;
	p->is_text = false;
}

void
rt_parts_end(rt_parts *p)
{
	rt_json_close(p->blocks, ']');
	if (p->count == 0)
		rt_build_body_open(p->b, RT_STR(""), false);
	else if (p->is_text)
		rt_build_body_open(p->b, p->text, false);
	else
		rt_build_body_open(p->b, rt_scope_str(&p->b->s, p->blocks), true);
}

/* Before another block: the first text is written after all. */
static void
write_text(rt_parts *p)
{
	if (!p->is_text)
		return;
	p->is_text = false;
	rt_json_open(p->blocks, NULL, '{');
	rt_json_put_c(p->blocks, "type", "text");
	rt_json_put_str(p->blocks, "text", p->text);
	rt_json_close(p->blocks, '}');
}

/* Begin an object of this type. */
static rt_buf *
open_block(rt_parts *p, const char *type)
{
	write_text(p);
	p->count++;
	rt_json_open(p->blocks, NULL, '{');
	rt_json_put_c(p->blocks, "type", type);
	return p->blocks;
}

void
rt_parts_text(rt_parts *p, rt_str text)
{
	write_text(p);
	p->is_text = true;
	p->text = text;
	if (p->count++ > 0)
		write_text(p);
}

void
rt_parts_thinking(rt_parts *p, rt_str text)
{
	rt_buf *buf;

	if (text.size == 0)
		return;
	buf = open_block(p, "thinking");
	rt_json_put_str(buf, "thinking", text);
	rt_json_close(buf, '}');
}

void
rt_parts_call(rt_parts *p, rt_str id, rt_str name, yyjson_val *arguments)
{
	rt_buf *buf = open_block(p, "toolCall");
	rt_str text = rt_json_str(arguments);
	rt_json_doc *doc = NULL;

	rt_json_put_str(buf, "id", id);
	rt_json_put_str(buf, "name", name);
	if (yyjson_is_str(arguments) && text.size > 0 && text.ptr[0] == '{') {
		rt_status st = rt_json_read_repairing(p->b->alloc, text, &doc, NULL, NULL);

		if (st == RT_NOMEM)
			(void)rt_scope_nomem(&p->b->s);
	}
	if (doc != NULL) {
		rt_json_put_value(buf, "arguments", rt_json_root(doc));
	} else if (yyjson_is_obj(arguments)) {
		rt_json_put_value(buf, "arguments", arguments);
	} else {
		rt_json_open(buf, "arguments", '{');
		if (arguments != NULL && !yyjson_is_null(arguments))
			rt_json_put_value(buf, "input", arguments);
		rt_json_close(buf, '}');
	}
	rt_json_free(doc);
	rt_json_close(buf, '}');
}

/* A fence that no line of the text ends. */
static void
add_fence(rt_buf *out, rt_str text)
{
	size_t longest = 2, run = 0;

	for (size_t i = 0; i < text.size; i++) {
		run = text.ptr[i] == '`' ? run + 1 : 0;
		longest = run > longest ? run : longest;
	}
	for (size_t i = 0; i <= longest; i++)
		rt_buf_add_byte(out, '`');
}

void
rt_parts_document(rt_parts *p, rt_str title, rt_str language, rt_str text)
{
	rt_buf *out = p->b->scratch;
	bool is_code = language.ptr != NULL;

	if (text.size == 0)
		return;
	rt_buf_clear(out);
	if (title.size > 0) {
		rt_buf_add_c(out, "**");
		rt_buf_add_str(out, title);
		rt_buf_add_c(out, "**\n\n");
	}
	if (is_code) {
		add_fence(out, text);
		rt_buf_add_str(out, language);
		rt_buf_add_byte(out, '\n');
	}
	rt_buf_add_str(out, text);
	if (is_code) {
		rt_buf_add_c(out, text.ptr[text.size - 1] == '\n' ? "" : "\n");
		add_fence(out, text);
	}
	rt_parts_text(p, rt_scope_str(&p->b->s, out));
}

void
rt_parts_result(rt_parts *p, rt_str id, yyjson_val *content, bool has_failed)
{
	rt_buf *buf = open_block(p, "tool_result"), *json;

	rt_json_put_str(buf, "tool_use_id", id);
	if (content == NULL || yyjson_is_str(content) || yyjson_is_arr(content)) {
		rt_json_put_value(buf, "content", content);
	} else {
		json = p->b->scratch;
		rt_buf_clear(json);
		rt_json_add_value(json, content);
		rt_json_put_str(buf, "content", rt_scope_str(&p->b->s, json));
	}
	if (has_failed)
		rt_json_put_bool(buf, "is_error", true);
	rt_json_close(buf, '}');
}

/* Members of an object in the open block. */
static void
add_members(rt_parts *p, yyjson_val *object, const char *without)
{
	for (rt_json_iter m = rt_json_members(object); rt_json_next(&m);)
		if (!rt_is_word(m.key, without))
			rt_json_put_member(p->blocks, m.key, m.value);
}

void
rt_parts_file(rt_parts *p, rt_str name, rt_str content, yyjson_val *record, const char *without)
{
	rt_buf *buf = open_block(p, "file");

	rt_json_put_str(buf, "name", name);
	rt_json_put_c(buf, "mimeType", "text/plain");
	rt_json_add_key(buf, "data");
	rt_buf_add_byte(buf, '"');
	rt_buf_add_base64(buf, content);
	rt_buf_add_byte(buf, '"');
	add_members(p, record, without);
	rt_json_close(buf, '}');
}

void
rt_parts_object(rt_parts *p, const char *type, yyjson_val *object)
{
	rt_buf *buf = open_block(p, type);

	add_members(p, object, "type");
	rt_json_close(buf, '}');
}

void
rt_parts_value(rt_parts *p, yyjson_val *block)
{
	write_text(p);
	p->count++;
	rt_json_put_value(p->blocks, NULL, block);
}

bool
rt_parts_has_only(yyjson_val *object, const char *words)
{
	for (rt_json_iter m = rt_json_members(object); rt_json_next(&m);)
		if (!rt_is_word(m.key, words))
			return false;
	return true;
}

size_t
rt_parts_blocks(rt_parts *p, yyjson_val *content, bool *is_verbatim)
{
	size_t before = p->count;

	*is_verbatim = yyjson_is_str(content) || yyjson_is_arr(content);
	if (yyjson_is_str(content))
		rt_parts_text(p, rt_build_copy(p->b, rt_json_str(content)));
	for (rt_json_iter m = rt_json_items(content); rt_json_next(&m);) {
		rt_str type = rt_json_text(m.value, "type"), id = rt_json_text(m.value, "id");

		if (rt_is_word(type, "text input_text output_text") &&
		    yyjson_is_str(rt_json_get(m.value, "text"))) {
			*is_verbatim = *is_verbatim && rt_str_is(type, "text") &&
				       rt_parts_has_only(m.value, "type text");
			rt_parts_text(p, rt_build_copy(p->b, rt_json_text(m.value, "text")));
		} else if (rt_str_is(type, "tool_use")) {
			*is_verbatim = *is_verbatim && id.size > 0 &&
				       rt_parts_has_only(m.value, "type id name input") &&
				       yyjson_is_obj(rt_json_get(m.value, "input"));
			rt_parts_call(p, id, rt_json_text(m.value, "name"),
				      rt_json_get(m.value, "input"));
		} else {
			rt_parts_value(p, m.value);
		}
	}
	return p->count - before;
}
