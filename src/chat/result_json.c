/* SPDX-License-Identifier: MIT
 *
 * The result of a question as JSON. */
#include "chat/send.h"

static void
put_text(rt_buf *out, const char *key, const char *text)
{
	if (text[0] != '\0')
		rt_json_put_c(out, key, text);
}

static void
put_count(rt_buf *out, const char *key, size_t count)
{
	if (count != SIZE_MAX)
		rt_json_put_u64(out, key, count);
}

static void
put_compaction(rt_buf *out, const rt_send_compaction *c)
{
	if (c->entry[0] == '\0')
		return;
	rt_json_open(out, "compaction", '{');
	rt_json_put_c(out, "entry", c->entry);
	rt_json_put_u64(out, "seq", c->seq);
	rt_json_put_u64(out, "entries", c->entries);
	rt_json_put_u64(out, "tokens_before", c->tokens_before);
	rt_json_put_u64(out, "tokens_after", c->tokens_after);
	rt_json_close(out, '}');
}

void
rt_send_result_put(rt_buf *out, const rt_send_result *r, bool with_take)
{
	static const char *const fates[] = {"", "in_row", "aside", "taken"};

	put_text(out, "entry", r->entry);
	if (with_take)
		put_text(out, "take", r->take);
	if (r->entry[0] != '\0')
		rt_json_put_u64(out, "seq", r->seq);
	if (r->files > 0)
		rt_json_put_u64(out, "files", r->files);
	if (r->partial)
		rt_json_put_bool(out, "partial", true);
	put_text(out, "stop", rt_stop_word(r->stop));
	rt_json_open(out, "usage", '{');
	rt_usage_put(out, &r->usage);
	rt_json_close(out, '}');
	put_count(out, "left_out", r->left_out);
	put_count(out, "tokens_estimate", r->tokens);
	put_compaction(out, &r->compaction);
	put_text(out, "fate", fates[r->fate]);
	if (r->note != NULL)
		rt_json_put_str(out, "note", rt_text_str(r->note));
}
