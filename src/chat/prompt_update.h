/* SPDX-License-Identifier: MIT
 *
 * Prompt update: a reply that changes the working prompt (seed 3). The setting prompt_updates
 * defines how the model writes one:
 *
 *   "block"   a fenced code block with the info string "prompt"; the last one counts
 *   "json"    the whole reply is {"content":"the reply","prompt":"the new prompt" or null}
 *   "off"     not at all (the default)
 *
 * The system prompt tells the model about it, and providers that can enforce a form of replies are
 * asked to. The reply and the prompt are one step; the prompt does not count as edited.
 *
 * Pure functions. O(size). */
#ifndef RT_CHAT_PROMPT_UPDATE_H
#define RT_CHAT_PROMPT_UPDATE_H

#include "base/scope.h"

typedef enum rt_prompt_updates {
	RT_PROMPT_UPDATES_OFF,
	RT_PROMPT_UPDATES_BLOCK,
	RT_PROMPT_UPDATES_JSON
} rt_prompt_updates;

/* From the value of the setting, as JSON text; ptr NULL: unset. */
rt_prompt_updates rt_prompt_updates_of(rt_str json);
/* The instruction for the model; empty: none. */
rt_str rt_prompt_updates_words(rt_prompt_updates how);

typedef struct rt_prompt_update {
	rt_str prompt;  /* ptr NULL: the reply has none */
	rt_str content; /* of the entry; ptr NULL: the text as it arrived */
	bool is_broken; /* it is not in the requested form */
} rt_prompt_update;
/* From the text of a finished reply. The result lives as long as the scope and the text. */
rt_prompt_update rt_prompt_update_read(rt_scope *scope, rt_prompt_updates how, rt_str text);

/* The lines that differ, preceded by "- " and "+ ". */
void rt_prompt_update_add_diff(rt_buf *buf, rt_str before, rt_str after);

/* A JSON reply while it arrives: its "content", or everything if it is not a JSON object. */
typedef struct rt_prompt_stream {
	rt_buf text;  /* that arrived */
	size_t at;    /* read so far */
	enum { RT_PROMPT_STREAM_BEFORE, RT_PROMPT_STREAM_IN, RT_PROMPT_STREAM_AFTER,
	       RT_PROMPT_STREAM_PLAIN } state;
} rt_prompt_stream;
void rt_prompt_stream_init(rt_prompt_stream *stream, const rt_alloc *alloc);
void rt_prompt_stream_deinit(rt_prompt_stream *stream);
/* Appends to out the text that can be shown after these bytes, in whole characters. Running out of
 * memory is in the status of out. */
void rt_prompt_stream_add(rt_prompt_stream *stream, rt_str added, rt_buf *out);

#endif
