/* SPDX-License-Identifier: MIT
 *
 * The inside of contexts, shared by its files:
 *
 *   context.c        from a take and the settings to messages, in order
 *   context_plan.c   which positions are sent, which a summary stands for
 *   context_entry.c  one entry as a message: who speaks, text, images, tool calls
 *   context_block.c  which kinds are sent; blocks of tools, in everybody's spelling
 *   context_tokens.c what one entry comes to in tokens
 *   context_write.c  messages into a request (request.h); the shapes are the providers' */
#ifndef RT_CHAT_CONTEXT_IMPL_H
#define RT_CHAT_CONTEXT_IMPL_H

#include "chat/context.h"
#include "log/engine_impl.h"
#include "chat/model_request.h"

/* ---- the plan (context_plan.c): pure ---- */

/* A compaction on the path that is not muted. */
typedef struct rt_compaction {
	size_t at;         /* its own position */
	bool is_range;     /* stands for from .. to; else for everything before first_kept */
	size_t from, to;   /* from > to: not on the path */
	size_t first_kept; /* at or more: nothing before it is kept */
} rt_compaction;

typedef struct rt_context_step {
	size_t at;
	bool is_summary; /* the compaction there speaks; else the entry there does */
	bool is_kept;    /* stands between the first kept entry and its compaction */
} rt_context_step;

/* What is sent of positions 0 .. count-1, in order. skip[i]: never sent as an entry (muted,
 * or a compaction). compactions in order of their positions. *out_steps has room for
 * count + compaction_count items and is yours to rt_free; *out_count says how many. */
RT_CHECKED rt_status rt_context_plan(const rt_alloc *alloc, size_t count, const bool *skip,
				     const rt_compaction *compactions, size_t compaction_count,
				     rt_context_step **out_steps, size_t *out_count);

/* ---- kinds and blocks (context_block.c): pure ---- */

/* Is an entry of this kind never sent as a message? Summaries are among these: they have a
 * form of their own. A kind that nobody knows is sent as a message of its role. */
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

/* Calls that have their results right behind them, and the tools' names; the others are
 * sent as text, since providers refuse what has no counterpart. */
typedef struct rt_pairs {
	const rt_alloc *alloc;
	rt_arena *arena;
	rt_strs *ids;      /* of paired calls */
	rt_str *names;     /* of their tools, at number - 1 */
	size_t room;
	struct {
		rt_str id, name;
	} *pending;        /* calls of the last assistant without a result so far */
	size_t pending_count, pending_room;
	bool nomem;
} rt_pairs;

RT_CHECKED rt_status rt_pairs_init(rt_pairs *pairs, const rt_alloc *alloc);
void rt_pairs_deinit(rt_pairs *pairs);

/* An entry as it was found. */
typedef struct rt_context_entry {
	rt_str role, kind;
	rt_str role_to;       /* what the settings' role_map says; empty: nothing */
	const rt_body *body;
	rt_str content;       /* in force: the body's, or an edit's */
	yyjson_val *content_json;
	yyjson_val *record;   /* a pi record, also after an edit of ours; or NULL */
} rt_context_entry;

void rt_context_entry_of(rt_context_entry *e, rt_str role, rt_str kind, const rt_body *body);
/* Note the entry's calls and results. Entries in the order in which they are sent. */
void rt_context_entry_pair(const rt_context_entry *e, rt_pairs *pairs);
/* Send it, if it has anything to say. */
void rt_context_entry_send(const rt_context_entry *e, rt_pairs *pairs, rt_model_request *r);
/* Does it answer a tool's call? */
bool rt_context_entry_is_result(const rt_context_entry *e);
/* Would its signed reasoning go back to the provider of the request? */
bool rt_context_entry_sends_thinking(const rt_context_entry *e, rt_model_request *r);
/* Is it never sent, whatever it contains? Its kind says so, or pi does of a command. */
bool rt_context_entry_is_silent(const rt_context_entry *e);
/* Tokens of what is sent of it (context_tokens.c): its text counted, or estimated where count is
 * NULL; about, of the rest. RT_NOMEM. */
RT_CHECKED rt_status rt_context_entry_tokens(const rt_context_entry *e, rt_model_request *r,
					     rt_token_fn count, void *ctx, size_t *out);
/* The summary of a compaction. */
void rt_context_entry_summary(const rt_context_entry *e, rt_model_request *r);
/* A field of the entry, wherever its body keeps it: native's name, or pi's. */
yyjson_val *rt_context_entry_field(const rt_context_entry *e, const char *name,
				   const char *pi_name);

#endif
