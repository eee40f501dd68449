/* SPDX-License-Identifier: MIT
 *
 * Shared by the files that make contexts:
 *
 *   context.c        from a take and the settings to messages, in order
 *   context_plan.c   which positions are sent, and which a summary replaces
 *   context_entry.c  one entry as a message: role, text, images, tool calls; its tokens
 *   context_block.c  which kinds are sent; blocks of tools, in every provider's spelling
 *   context_write.c  messages into a request (model_request.h); their form is that of the
 *                    provider */
#ifndef RT_CHAT_CONTEXT_IMPL_H
#define RT_CHAT_CONTEXT_IMPL_H

#include "chat/context.h"
#include "chat/model_request.h"
#include "log/engine_impl.h"

/* ---- the plan (context_plan.c): pure ---- */

/* A compaction on the path that is not muted. */
typedef struct rt_compaction {
	size_t at;         /* its own position */
	bool is_range;     /* replaces from .. to; else everything before first_kept */
	size_t from, to;   /* from > to: not on the path */
	size_t first_kept; /* at or more: nothing before it is kept */
} rt_compaction;

typedef struct rt_context_step {
	size_t at;
	bool is_summary; /* the compaction there is sent; else the entry there is */
	bool is_kept;    /* between the first kept entry and its compaction */
} rt_context_step;

typedef struct rt_context_steps {
	rt_context_step *items;
	size_t count;
} rt_context_steps;

/* The sent entries of positions 0 .. count-1, in order. skip[i]: never sent as an entry (muted, or
 * a compaction). compactions in the order of their positions. */
rt_context_steps rt_context_plan(rt_scope *scope, size_t count, const bool *skip,
				 const rt_compaction *compactions, size_t compaction_count);

/* ---- kinds and blocks (context_block.c): pure ---- */

/* Is an entry of this kind never sent as a message? Includes summaries, which have a separate form.
 * An unknown kind is sent as a message of its role. */
bool rt_context_kind_is_silent(rt_str kind);

typedef struct rt_context_call {
	rt_str id, name, signature;
	yyjson_val *arguments; /* an object, or JSON text as a string */
} rt_context_call;

/* A block, or an item of "tool_calls", that calls a tool. */
bool rt_context_call_of(yyjson_val *block, rt_context_call *out);

typedef struct rt_context_result {
	rt_str id, name;     /* name: empty where the block has none */
	yyjson_val *content; /* a string or an array; NULL: neither */
	bool failed;
} rt_context_result;

/* A block that is the result of a call: toolResult (pi) or tool_result (Anthropic). */
bool rt_context_result_of(yyjson_val *block, rt_context_result *out);

bool rt_context_is_thinking(rt_str type);
bool rt_context_is_image(rt_str type);

/* ---- one entry (context_entry.c) ---- */

typedef struct rt_pending_call {
	rt_str id, name;
} rt_pending_call;

/* Calls that their results follow directly, and the tools' names; the others are sent as text,
 * since providers refuse a call without a result. */
typedef struct rt_pairs {
	rt_scope *scope;
	rt_strs *ids;  /* of paired calls */
	rt_str *names; /* of their tools, at number - 1 */
	size_t capacity;
	rt_pending_call *pending; /* calls of the last assistant without a result so far */
	size_t pending_count, pending_capacity;
} rt_pairs;

rt_pairs rt_pairs_new(rt_scope *scope);

/* An entry in its stored form. */
typedef struct rt_context_entry {
	rt_str role, kind;
	rt_str role_to;       /* the settings' role_map; empty: none */
	const rt_body *body;
	rt_str content;       /* in force: the body's, or that of an edit */
	yyjson_val *content_json;
	yyjson_val *record;   /* a pi record, also after an edit in Retake; or NULL */
} rt_context_entry;

void rt_context_entry_of(rt_context_entry *e, rt_str role, rt_str kind, const rt_body *body);
/* Note the entry's calls and results. Entries in the order in which they are sent. */
void rt_context_entry_pair(const rt_context_entry *e, rt_pairs *pairs);
/* Send it, unless it is empty. Temporary texts live in request->entry. */
void rt_context_entry_send(const rt_context_entry *e, rt_pairs *pairs, rt_model_request *request);
/* Is it the result of a tool's call? */
bool rt_context_entry_is_result(const rt_context_entry *e);
/* Is it never sent, whatever it contains? Because of its kind, or because pi marked a command
 * so. */
bool rt_context_entry_is_silent(const rt_context_entry *e);
/* Does it come before the files if the path begins with it? System entries do, and those that are
 * not sent. */
bool rt_context_entry_may_lead(const rt_context_entry *e);
/* Tokens of its sent part: its text counted (estimated if count is NULL), the rest estimated.
 * Temporary texts are in request->entry. */
size_t rt_context_entry_tokens(const rt_context_entry *e, rt_model_request *request,
			       rt_token_fn count, void *ctx);
/* The summary of a compaction. */
void rt_context_entry_summary(const rt_context_entry *e, rt_model_request *request);
/* A field of the entry, wherever its body keeps it: by its native name, or pi's. */
yyjson_val *rt_context_entry_field(const rt_context_entry *e, const char *name,
				   const char *pi_name);

#endif
