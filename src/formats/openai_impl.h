/* SPDX-License-Identifier: MIT
 *
 * OpenAI chat messages: what reader and writer agree on.
 *
 *   message       {"role","content",…}; content is text, an array of blocks, or null
 *   conversation  {"messages":[message…],"model","tools",…}, or just the array
 *   file          one conversation, an array of them, or one a line (JSONL)
 *
 * In Retake a message is an entry with its role unchanged; every further member is a further
 * field of the entry under the same name, or, where that name means something else there,
 * with "openai." before it. Further members of the conversation are fields of the discussion,
 * "openai." before their names, but for temperature, top_p and max_tokens, which are settings.
 *
 * The plain form has only members that the chat completions API knows, since it refuses a
 * request with others. The lossless form has all of them, and puts a member "retake"
 * (formats_extras.h) into every message and conversation, and into "retake_more" the messages
 * of the other takes. */
#ifndef RT_FORMATS_OPENAI_IMPL_H
#define RT_FORMATS_OPENAI_IMPL_H

#include "formats/formats_extras.h"

#define OPENAI_PREFIX "openai."

/* Fields of Retake's entries that are not sent: a foreign member of that name gets the
 * prefix. */
bool rt_openai_is_ours(rt_str name);
/* Does the chat completions API know this member of a message of that role, or of a request?
 * It refuses others. "weight" is known in fine-tuning files alone. */
bool rt_openai_is_message_key(rt_str role, rt_str name);
bool rt_openai_is_request_key(rt_str name);
/* Settings that are members of a request under the same name. */
bool rt_openai_is_setting(rt_str name);

/* ---- blocks (openai_blocks.c) ---- */

/* Does a content have blocks that the API does not know? */
bool rt_openai_is_foreign(yyjson_val *blocks);
/* Write them as the value of "content" as the API has them: an array, or "" or null where
 * nothing is left. front: a text before them; empty: none. */
void rt_openai_write_blocks(rt_buf *out, yyjson_val *blocks, rt_str front);
/* Write their calls of tools as the member "tool_calls"; nothing where there are none. */
void rt_openai_write_calls(rt_buf *out, yyjson_val *blocks);
/* Write results of tools, each as a message of its own after begin(ctx). False: there is
 * something else in the content, or nothing. */
bool rt_openai_write_results(rt_buf *out, yyjson_val *blocks, void (*begin)(void *ctx), void *ctx);
/* Write the value of a member "tool_calls" as the API has it. */
void rt_openai_write_call_items(rt_buf *out, yyjson_val *calls);

/* ---- */

rt_status rt_openai_read_to(const rt_alloc *alloc, const rt_input *in, const rt_reader_to *to,
			    rt_report *report, rt_error *err);
rt_status rt_openai_write(const rt_alloc *alloc, const rt_outlines *in,
			  const rt_export_options *options, rt_buf *out, rt_error *err);

#endif
