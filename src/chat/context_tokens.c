/* SPDX-License-Identifier: MIT
 *
 * What one entry comes to in tokens: of what is sent, not of all that is stored of it. */
#include "codec/content.h"
#include "chat/context_impl.h"

bool
rt_context_entry_is_silent(const rt_context_entry *e)
{
	return (rt_context_kind_is_silent(e->kind) && !rt_str_is(e->kind, "branch_summary")) ||
	       yyjson_is_true(rt_json_get(rt_json_get(e->record, "message"), "excludeFromContext"));
}

/* What blocks send beside their texts: calls and results as JSON, images by their number. */
static void
add_others(rt_buf *json, yyjson_val *blocks, bool thinks, size_t *images)
{
	rt_context_result result;
	rt_context_call call;
	yyjson_val *block;
	size_t i, max;

	yyjson_arr_foreach(blocks, i, max, block)
	{
		rt_str type = rt_json_str(rt_json_get(block, "type"));
		yyjson_val *inner;
		size_t k, count;

		if (rt_content_is_text(block))
			continue;
		if (rt_context_is_image(type)) {
			++*images;
		} else if (rt_context_call_of(block, &call)) {
			rt_json_add_value(json, block);
		} else if (rt_context_is_thinking(type)) {
			if (thinks)
				rt_json_add_value(json, block);
		} else if (rt_context_result_of(block, &result)) {
			rt_buf_add_str(json, rt_json_str(result.content));
			yyjson_arr_foreach(result.content, k, count, inner)
			{
				if (rt_context_is_image(rt_json_str(rt_json_get(inner, "type"))))
					++*images;
				else
					rt_buf_add_str(json,
						       rt_json_str(rt_json_get(inner, "text")));
			}
		} else { /* any other block sends its text, if it has one */
			rt_buf_add_str(json, rt_json_str(rt_json_get(block, "text")));
		}
	}
}

/* Tokens, about, of what is sent beside the text. */
static rt_status
other_tokens(const rt_context_entry *e, rt_model_request *r, size_t *out)
{
	yyjson_val *calls = rt_body_field(e->body, "tool_calls");
	yyjson_val *message = rt_json_get(e->record, "message");
	bool thinks = rt_context_entry_sends_thinking(e, r);
	rt_status st;
	size_t images = 0;
	rt_buf json;

	rt_buf_init(&json, r->alloc, RT_BUF_UNLIMITED);
	add_others(&json, e->content_json, thinks, &images);
	if (calls != NULL)
		rt_json_add_value(&json, calls);
	if (thinks && rt_body_field(e->body, "thinking_segments") != NULL)
		rt_json_add_value(&json, rt_body_field(e->body, "thinking_segments"));
	/* a command that pi's user ran; the parts of a system prompt of pi's */
	rt_buf_add_str(&json, rt_json_str(rt_json_get(message, "command")));
	if (rt_json_get(message, "sections") != NULL)
		rt_json_add_value(&json, rt_json_get(message, "sections"));
	*out = rt_tokens_estimate(json.size) + images * RT_TOKENS_PER_IMAGE;
	st = json.status;
	rt_buf_deinit(&json);
	return st;
}

rt_status
rt_context_entry_tokens(const rt_context_entry *e, rt_model_request *r, rt_token_fn count, void *ctx,
			size_t *out)
{
	rt_body view = {.content = e->content, .content_json = e->content_json};
	size_t others = 0;
	rt_buf text;
	rt_status st;

	rt_buf_init(&text, r->alloc, RT_BUF_UNLIMITED);
	rt_body_add_text(&text, &view);
	st = text.status == RT_OK ? other_tokens(e, r, &others) : text.status;
	if (st == RT_OK)
		*out = (count != NULL ? count(ctx, rt_buf_str(&text))
				      : rt_tokens_estimate(text.size)) +
		       others + RT_TOKENS_PER_MESSAGE;
	rt_buf_deinit(&text);
	return st;
}
