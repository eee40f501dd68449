/* SPDX-License-Identifier: MIT
 *
 * Reading a reply: its text, and the members of the entry that it becomes. */
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

/* Only text, with or without thinking before it? */
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
put_block(const rt_reply_block *b, rt_buf *out)
{
	if (b->raw.size > 0) {
		rt_json_put_raw(out, NULL, rt_str_trim(rt_buf_str(&b->raw)));
		return;
	}
	rt_json_open(out, NULL, '{');
	switch (b->kind) {
	case RT_REPLY_TEXT:
		rt_json_put_c(out, "type", "text");
		rt_json_put_str(out, "text", rt_buf_str(&b->text));
		break;
	case RT_REPLY_THINKING:
		rt_json_put_c(out, "type", "thinking");
		rt_json_put_str(out, "thinking", rt_buf_str(&b->text));
		if (b->signature.size > 0)
			rt_json_put_str(out, "thinkingSignature", rt_buf_str(&b->signature));
		break;
	case RT_REPLY_CALL:
		rt_json_put_c(out, "type", "toolCall");
		rt_json_put_str(out, "id", rt_buf_str(&b->id));
		rt_json_put_str(out, "name", rt_buf_str(&b->name));
		rt_json_put_raw(out, "arguments", rt_buf_str(&b->text));
		if (b->signature.size > 0)
			rt_json_put_str(out, "thoughtSignature", rt_buf_str(&b->signature));
		break;
	}
	rt_json_close(out, '}');
}

/* The text of a plain reply; a single block's is borrowed. */
static rt_str
plain_text(rt_scope *scope, const rt_reply *r)
{
	const rt_reply_block *last = r->block_count > 0 ? &r->blocks[r->block_count - 1] : NULL;
	rt_buf *text;

	if (last == NULL || last->kind != RT_REPLY_TEXT || last->text.size == 0)
		return RT_STR("");
	if (r->block_count == 1 || last[-1].kind != RT_REPLY_TEXT)
		return rt_buf_str(&last->text);
	text = rt_scope_buf(scope);
	rt_reply_add_all_text(r, text);
	return rt_scope_str(scope, text);
}

static void
put_blocks(const rt_reply *r, rt_buf *out)
{
	rt_json_open(out, NULL, '[');
	for (size_t i = 0; i < r->block_count; i++)
		put_block(&r->blocks[i], out);
	rt_json_close(out, ']');
}

rt_content
rt_reply_content(rt_scope *scope, const rt_reply *reply)
{
	rt_buf *json;

	if (is_plain(reply))
		return (rt_content){.text = plain_text(scope, reply)};
	json = rt_scope_buf(scope);
	put_blocks(reply, json);
	return (rt_content){.blocks = rt_json_parse(scope, rt_scope_str(scope, json))};
}

void
rt_reply_add_content(const rt_reply *reply, rt_buf *out)
{
	rt_scope s;

	if (!is_plain(reply)) {
		put_blocks(reply, out);
		return;
	}
	rt_scope_init(&s, reply->alloc);
	rt_json_put_str(out, NULL, plain_text(&s, reply));
	if (rt_scope_end(&s, NULL) != RT_OK && out->status == RT_OK)
		out->status = s.status;
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
put_signed_text(const rt_reply *r, rt_buf *out)
{
	bool is_signed = false;
	rt_scope s;

	for (size_t i = 0; i < r->block_count; i++)
		is_signed = is_signed || r->blocks[i].signature.size > 0 ||
			    r->blocks[i].raw.size > 0;
	if (!is_signed)
		return;
	rt_scope_init(&s, r->alloc);
	rt_buf *hash = rt_scope_buf(&s);
	rt_content content = rt_reply_content(&s, r);
	rt_reply_add_signed_text(content.text, content.blocks, r->alloc, hash);
	rt_str signed_text = rt_scope_str(&s, hash);
	if (rt_ok(&s))
		rt_json_put_str(out, "signed_text", signed_text);
	else if (out->status == RT_OK)
		out->status = s.status;
	rt_scope_deinit(&s);
}

void
rt_usage_put(rt_buf *out, const rt_usage *usage)
{
	const struct {
		const char *key;
		size_t count;
	} counts[] = {{"input_tokens", usage->input},
		      {"output_tokens", usage->output},
		      {"cache_read_input_tokens", usage->cache_read},
		      {"cache_creation_input_tokens", usage->cache_write}};

	for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++)
		if (counts[i].count != SIZE_MAX)
			rt_json_put_u64(out, counts[i].key, counts[i].count);
}

static void
put_usage(const rt_usage *usage, rt_buf *out)
{
	if (usage->input == SIZE_MAX && usage->output == SIZE_MAX &&
	    usage->cache_read == SIZE_MAX && usage->cache_write == SIZE_MAX)
		return;
	rt_json_open(out, "usage", '{');
	rt_usage_put(out, usage);
	rt_json_close(out, '}');
}

static void
put_segments(const rt_reply *r, rt_buf *out)
{
	size_t i;

	if (!is_plain(r))
		return;
	for (i = 0; i < r->block_count && r->blocks[i].kind == RT_REPLY_THINKING; i++) {
		const rt_reply_block *b = &r->blocks[i];

		if (i == 0)
			rt_json_open(out, "thinking_segments", '[');
		rt_json_open(out, NULL, '{');
		if (b->raw.size > 0)
			rt_json_put_raw(out, "redacted", rt_str_trim(rt_buf_str(&b->raw)));
		else
			rt_json_put_str(out, "text", rt_buf_str(&b->text));
		if (b->signature.size > 0)
			rt_json_put_str(out, "signature", rt_buf_str(&b->signature));
		rt_json_close(out, '}');
	}
	if (i > 0)
		rt_json_close(out, ']');
}

void
rt_reply_add_fields(const rt_reply *reply, rt_buf *out)
{
	if (reply->provider != NULL)
		rt_json_put_c(out, "provider", reply->provider);
	if (reply->model.size > 0)
		rt_json_put_str(out, "model", rt_buf_str(&reply->model));
	if (reply->stop != RT_STOP_NONE)
		rt_json_put_c(out, "stop_reason", rt_stop_word(reply->stop));
	put_usage(&reply->usage, out);
	put_segments(reply, out);
	put_signed_text(reply, out);
	if (reply->error.size > 0)
		rt_json_put_str(out, "error", rt_buf_str(&reply->error));
}
