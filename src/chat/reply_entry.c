/* SPDX-License-Identifier: MIT
 *
 * What can be read of a reply: its text, and the entry that it becomes. */
#include "chat/reply.h"

#include "base/hash.h"

bool
rt_reply_is_empty(const rt_reply *reply)
{
	size_t i;

	for (i = 0; i < reply->block_count; i++) {
		const rt_reply_block *b = &reply->blocks[i];

		if (b->kind == RT_REPLY_CALL || b->text.size > 0 || b->raw.size > 0)
			return false;
	}
	return true;
}

void
rt_reply_add_all_text(const rt_reply *reply, rt_buf *out)
{
	size_t i, count = 0;

	for (i = 0; i < reply->block_count; i++) {
		if (reply->blocks[i].kind != RT_REPLY_TEXT)
			continue;
		if (count++ > 0)
			rt_buf_add_byte(out, '\n');
		rt_buf_add_str(out, rt_buf_str(&reply->blocks[i].text));
	}
}

static void
add_member(rt_buf *out, const char *key, rt_str text)
{
	rt_json_add_key(out, key);
	rt_json_add_string(out, text);
}

/* Only text, with or without thinking in front? */
static bool
is_plain(const rt_reply *r)
{
	bool has_text = false;
	size_t i;

	for (i = 0; i < r->block_count; i++) {
		rt_reply_block_kind kind = r->blocks[i].kind;

		if (kind == RT_REPLY_CALL || (has_text && kind == RT_REPLY_THINKING))
			return false;
		has_text = has_text || kind == RT_REPLY_TEXT;
	}
	return true;
}

static void
add_block(const rt_reply_block *b, rt_buf *out)
{
	if (b->raw.size > 0) {
		rt_buf_add_str(out, rt_buf_str(&b->raw));
		return;
	}
	rt_buf_add_byte(out, '{');
	switch (b->kind) {
	case RT_REPLY_TEXT:
		add_member(out, "type", RT_STR("text"));
		add_member(out, "text", rt_buf_str(&b->text));
		break;
	case RT_REPLY_THINKING:
		add_member(out, "type", RT_STR("thinking"));
		add_member(out, "thinking", rt_buf_str(&b->text));
		if (b->signature.size > 0)
			add_member(out, "thinkingSignature", rt_buf_str(&b->signature));
		break;
	case RT_REPLY_CALL:
		add_member(out, "type", RT_STR("toolCall"));
		add_member(out, "id", rt_buf_str(&b->id));
		add_member(out, "name", rt_buf_str(&b->name));
		rt_json_add_key(out, "arguments");
		rt_buf_add_str(out, rt_buf_str(&b->text));
		if (b->signature.size > 0)
			add_member(out, "thoughtSignature", rt_buf_str(&b->signature));
		break;
	}
	rt_buf_add_byte(out, '}');
}

void
rt_reply_add_content(const rt_reply *reply, rt_buf *out)
{
	rt_buf text;
	size_t i;

	if (!is_plain(reply)) {
		rt_buf_add_byte(out, '[');
		for (i = 0; i < reply->block_count; i++) {
			rt_json_add_comma(out);
			add_block(&reply->blocks[i], out);
		}
		rt_buf_add_byte(out, ']');
		return;
	}
	rt_buf_init(&text, reply->alloc, RT_BUF_UNLIMITED);
	rt_reply_add_all_text(reply, &text);
	rt_json_add_string(out, rt_buf_str(&text));
	if (text.status != RT_OK && out->status == RT_OK)
		out->status = text.status;
	rt_buf_deinit(&text);
}

void
rt_reply_add_signed_text(rt_str text, yyjson_val *blocks, const rt_alloc *alloc, rt_buf *out)
{
	rt_buf sorted;

	rt_buf_init(&sorted, alloc, RT_BUF_UNLIMITED);
	if (blocks != NULL)
		rt_json_add_sorted(&sorted, alloc, blocks);
	else
		rt_json_add_string(&sorted, text);
	if (sorted.status != RT_OK && out->status == RT_OK)
		out->status = sorted.status;
	rt_buf_add_f(out, "%016llx", (unsigned long long)rt_hash(sorted.ptr, sorted.size, 0));
	rt_buf_deinit(&sorted);
}

static void
add_signed_text(const rt_reply *r, rt_buf *out)
{
	rt_json_doc *doc = NULL;
	bool is_signed = false;
	rt_buf content, hash;
	yyjson_val *root;
	rt_status st;
	size_t i;

	for (i = 0; i < r->block_count; i++)
		is_signed = is_signed || r->blocks[i].signature.size > 0 ||
			    r->blocks[i].raw.size > 0;
	if (!is_signed)
		return;
	rt_buf_init(&content, r->alloc, RT_BUF_UNLIMITED);
	rt_buf_init(&hash, r->alloc, RT_BUF_UNLIMITED);
	rt_reply_add_content(r, &content);
	st = content.status != RT_OK ? content.status
				     : rt_json_read(r->alloc, rt_buf_str(&content), &doc, NULL);
	if (st == RT_OK) {
		root = rt_json_root(doc);
		rt_reply_add_signed_text(rt_json_str(root), yyjson_is_arr(root) ? root : NULL,
					 r->alloc, &hash);
		st = hash.status;
	}
	if (st == RT_OK)
		add_member(out, "signed_text", rt_buf_str(&hash));
	else if (out->status == RT_OK)
		out->status = st;
	rt_json_free(doc);
	rt_buf_deinit(&content);
	rt_buf_deinit(&hash);
}

static void
add_count(rt_buf *out, const char *key, size_t count)
{
	if (count == SIZE_MAX)
		return;
	rt_json_add_key(out, key);
	rt_buf_add_u64(out, count);
}

static void
add_usage(const rt_usage *usage, rt_buf *out)
{
	if (usage->input == SIZE_MAX && usage->output == SIZE_MAX &&
	    usage->cache_read == SIZE_MAX && usage->cache_write == SIZE_MAX)
		return;
	rt_json_add_key(out, "usage");
	rt_buf_add_byte(out, '{');
	add_count(out, "input_tokens", usage->input);
	add_count(out, "output_tokens", usage->output);
	add_count(out, "cache_read_input_tokens", usage->cache_read);
	add_count(out, "cache_creation_input_tokens", usage->cache_write);
	rt_buf_add_byte(out, '}');
}

static void
add_segments(const rt_reply *r, rt_buf *out)
{
	size_t i, count = 0, end = is_plain(r) ? r->block_count : 0;

	for (i = 0; i < end; i++) {
		const rt_reply_block *b = &r->blocks[i];

		if (b->kind != RT_REPLY_THINKING)
			break;
		if (count++ == 0) {
			rt_json_add_key(out, "thinking_segments");
			rt_buf_add_byte(out, '[');
		}
		rt_json_add_comma(out);
		rt_buf_add_byte(out, '{');
		if (b->raw.size > 0) {
			rt_json_add_key(out, "redacted");
			rt_buf_add_str(out, rt_buf_str(&b->raw));
		} else {
			add_member(out, "text", rt_buf_str(&b->text));
		}
		if (b->signature.size > 0)
			add_member(out, "signature", rt_buf_str(&b->signature));
		rt_buf_add_byte(out, '}');
	}
	if (count > 0)
		rt_buf_add_byte(out, ']');
}

void
rt_reply_add_fields(const rt_reply *reply, rt_buf *out)
{
	rt_buf fields;

	/* Keys put a comma where one is needed; here one is needed before the first. */
	rt_buf_init(&fields, reply->alloc, RT_BUF_UNLIMITED);
	rt_buf_add_byte(&fields, ' ');
	if (reply->provider != NULL)
		add_member(&fields, "provider", rt_str_of(reply->provider));
	if (reply->model.size > 0)
		add_member(&fields, "model", rt_buf_str(&reply->model));
	if (reply->stop != RT_STOP_NONE)
		add_member(&fields, "stop_reason", rt_str_of(rt_stop_word(reply->stop)));
	add_usage(&reply->usage, &fields);
	add_segments(reply, &fields);
	add_signed_text(reply, &fields);
	if (reply->error.size > 0)
		add_member(&fields, "error", rt_buf_str(&reply->error));
	if (fields.status == RT_OK)
		rt_buf_add(out, fields.ptr + 1, fields.size - 1);
	else if (out->status == RT_OK)
		out->status = fields.status;
	rt_buf_deinit(&fields);
}
