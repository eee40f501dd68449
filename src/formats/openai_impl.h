/* SPDX-License-Identifier: MIT
 *
 * OpenAI chat messages: the common part of reader and writer.
 *
 *   message       {"role","content",…}; content is text, an array of blocks, or null
 *   conversation  {"messages":[message…],"model","tools",…}, or just the array
 *   file          one conversation, an array of them, or one a line (JSONL)
 *
 * In Retake a message is an entry with its role unchanged; every further member is a further
 * field of the entry under the same name, or, if that name has another meaning there, with the
 * prefix "openai.". Further members of the conversation are fields of the discussion with the
 * prefix "openai.", except for temperature, top_p and max_tokens, which are settings.
 *
 * The plain form has only members that the chat completions API knows, since it refuses a
 * request with others. The lossless form has all of them, and puts a member "retake"
 * (formats_extras.h) into every message and conversation, and into "retake_more" the messages
 * of the other takes. */
#ifndef RT_FORMATS_OPENAI_IMPL_H
#define RT_FORMATS_OPENAI_IMPL_H

#include "formats/formats_extras.h"

#define OPENAI_PREFIX "openai."

/* Fields of Retake's entries that are not sent: a foreign member of that name gets the prefix. */
#define OPENAI_OURS \
	"id kind ts muted collapsed purged read_mode label usage thinking_segments pi first_kept " \
	"tokens_before details from_id retake link provider model stop_reason error signed_text " \
	RT_BUILD_BAD_TS " " RT_BUILD_RAW " " RT_BUILD_BAD_CONTENT
/* Settings that are members of a request under the same name. */
#define OPENAI_SETTINGS "temperature top_p max_tokens"

rt_status rt_openai_write(const rt_alloc *alloc, const rt_outlines *in,
			  const rt_export_options *options, rt_buf *out, rt_error *err);

#endif
