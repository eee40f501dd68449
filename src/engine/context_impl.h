/* SPDX-License-Identifier: MIT
 *
 * The inside of contexts, shared by its files:
 *
 *   context.c        from a take and the settings to messages, in order
 *   context_plan.c   which positions are sent, which a summary stands for
 *   context_entry.c  one entry as a message: who speaks, text, images, tool calls
 *   context_write.c  messages as each provider wants them */
#ifndef RT_ENGINE_CONTEXT_IMPL_H
#define RT_ENGINE_CONTEXT_IMPL_H

#include "engine/engine_impl.h"

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

/* ---- writing (context_write.c) ---- */

typedef enum rt_wire {
	RT_PROVIDER_OPENAI,
	RT_PROVIDER_ANTHROPIC,
	RT_PROVIDER_OLLAMA,
	RT_PROVIDER_GEMINI
} rt_wire;

typedef enum rt_speaker {
	RT_SPEAKER_NOBODY,
	RT_SPEAKER_SYSTEM,
	RT_SPEAKER_USER,
	RT_SPEAKER_ASSISTANT
} rt_speaker;

/* Texts and images of a message, or of a tool's result. */
typedef struct rt_blocks {
	rt_buf parts; /* as the provider writes them, with commas */
	size_t count;
	rt_buf text;  /* the texts alone, joined by line ends */
	size_t text_count;
} rt_blocks;

/* A request under construction. One thread at a time; failures are kept in its buffers and
 * told by finish. */
typedef struct rt_request {
	rt_wire provider;
	const rt_alloc *alloc;
	rt_buf top;      /* the system prompt, and system entries before the first message */
	rt_buf messages;
	size_t message_count;
	/* the message that is open */
	rt_speaker speaker; /* NOBODY: none */
	rt_blocks blocks;
	rt_buf images;   /* Ollama: base64 strings */
	rt_buf calls;    /* OpenAI, Ollama: tool calls */
	/* the tool result that is open */
	bool in_result;
	rt_blocks result;
	rt_str result_id, result_name; /* borrowed until rt_request_result_end */
	bool result_failed;
} rt_request;

void rt_request_init(rt_request *r, const rt_alloc *alloc, const rt_provider *provider);
void rt_request_deinit(rt_request *r);
/* Part of the system prompt, in front of everything; empty: nothing. */
void rt_request_prompt(rt_request *r, rt_str text);
/* A system entry: as such where the provider allows it, else as a user's text with a tag.
 * may_lead: before the first message it joins the system prompt there. */
void rt_request_system(rt_request *r, rt_str text, bool may_lead);
/* A message of a user or an assistant; what is empty in the end is not sent. Those of the
 * same speaker become one where the provider wants them to take turns. */
void rt_request_begin(rt_request *r, rt_speaker speaker);
void rt_request_text(rt_request *r, rt_str text);
void rt_request_image(rt_request *r, rt_str mime, rt_str base64);
void rt_request_image_url(rt_request *r, rt_str url); /* data: URLs are taken apart */
/* A call within an assistant's message; arguments as JSON text. */
void rt_request_call(rt_request *r, rt_str id, rt_str name, rt_str arguments);
void rt_request_end(rt_request *r);
/* A tool's result; texts and images between the two. A message of its own, or a block. */
void rt_request_result_begin(rt_request *r, rt_str id, rt_str name, bool failed);
void rt_request_result_end(rt_request *r);

/* The whole body. */
RT_CHECKED rt_status rt_request_finish(rt_request *r, const rt_request_settings *settings,
				       rt_buf *out, rt_error *err);

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
void rt_context_entry_send(const rt_context_entry *e, rt_pairs *pairs, rt_request *r);
/* Does it answer a tool's call? */
bool rt_context_entry_is_result(const rt_context_entry *e);
/* The summary of a compaction. */
void rt_context_entry_summary(const rt_context_entry *e, rt_request *r);
/* A field of the entry, wherever its body keeps it: native's name, or pi's. */
yyjson_val *rt_context_entry_field(const rt_context_entry *e, const char *name,
				   const char *pi_name);

#endif
