/* SPDX-License-Identifier: MIT
 *
 * Reply: what a model has answered so far. A provider's reader tells it what arrives, in
 * the order of arrival; the engine keeps it, and makes an entry of it in the end.
 *
 * A reply is a list of blocks:
 *
 *   text       what is said
 *   thinking   reasoning; with a signature where the provider signs it, or as an opaque
 *              record ("redacted") that has to go back as it came
 *   call       a tool's call: id, name, arguments as JSON text
 *
 * What arrives may be cut anywhere: in the middle of a character, of a JSON text, of a
 * <thinking> tag. Bytes of an unfinished character wait inside until the rest comes, and
 * become U+FFFD if it does not; so what can be read of a reply is always legal UTF-8.
 *
 * Failures of memory are kept (status) and told at the end. One thread at a time. */
#ifndef RT_ENGINE_REPLY_H
#define RT_ENGINE_REPLY_H

#include "codec/json.h"

typedef enum rt_reply_block_kind {
	RT_REPLY_TEXT,
	RT_REPLY_THINKING,
	RT_REPLY_CALL
} rt_reply_block_kind;

typedef struct rt_reply_block {
	rt_reply_block_kind kind;
	rt_buf text;      /* TEXT, THINKING: the words; CALL: the arguments */
	rt_buf id, name;  /* CALL */
	rt_buf signature; /* THINKING: as the provider signed it; CALL: Gemini's of the call */
	rt_buf raw;       /* THINKING: a redacted block as JSON text; empty: none */
	uint64_t index;   /* as the provider counts its blocks; its reader's business */
	unsigned char tail[4]; /* bytes of an unfinished character at the end of text */
	unsigned tail_size;
} rt_reply_block;

/* Token counts; SIZE_MAX: not told. */
typedef struct rt_usage {
	size_t input, output;
	size_t cache_read, cache_write; /* of the input */
} rt_usage;

/* Why it ended, in one set of words for all providers. */
typedef enum rt_stop {
	RT_STOP_NONE,    /* it has not, or nobody said why: the connection was cut */
	RT_STOP_END,     /* "stop": said all */
	RT_STOP_LENGTH,  /* "length": max_tokens, or the context is full */
	RT_STOP_CALLS,   /* "tool_calls": waits for the tools' results */
	RT_STOP_FILTER,  /* "filtered": the provider holds it back */
	RT_STOP_USER,    /* "stopped": by the person */
	RT_STOP_CUT,     /* "cut": the connection ended in the middle */
	RT_STOP_ERROR    /* "error": the provider said so in the middle */
} rt_stop;

/* The word of a stop, as entries carry it in "stop_reason"; "" for NONE. */
const char *rt_stop_word(rt_stop stop);

/* What a screen is told as it happens. block counts from 0; text is what was added, always
 * whole characters. Called from the thread that reads. */
typedef void (*rt_reply_fn)(void *ctx, rt_reply_block_kind kind, size_t block, rt_str added);

typedef struct rt_reply {
	const rt_alloc *alloc;
	rt_status status;       /* RT_NOMEM, or RT_LIMIT when size went over size_max */
	rt_reply_block *blocks;
	size_t block_count, block_room;
	size_t size, size_max;  /* bytes of everything kept; 0: RT_REPLY_SIZE_MAX */
	rt_usage usage;
	rt_stop stop;
	rt_buf model;           /* as the provider names what answered */
	rt_buf error;           /* an error told in the middle of the reply, in words */
	bool ended;             /* the provider said that this was all */
	rt_reply_fn fn;         /* or NULL */
	void *fn_ctx;
} rt_reply;

enum { RT_REPLY_SIZE_MAX = 64 << 20 };

void rt_reply_init(rt_reply *reply, const rt_alloc *alloc, rt_reply_fn fn, void *ctx);
void rt_reply_deinit(rt_reply *reply);

/* ---- told by readers ---- */

/* More words of the last block if it is of this kind, else of a new one. */
void rt_reply_add_text(rt_reply *reply, rt_str bytes);
void rt_reply_add_thinking(rt_reply *reply, rt_str bytes);
/* Of the last thinking block (a new one if there is none). */
void rt_reply_add_signature(rt_reply *reply, rt_str signature);
/* A thinking block that may not be read: its JSON as it came. */
void rt_reply_add_redacted(rt_reply *reply, rt_str json);
/* The call of this index, made when it is new. What is not known yet may be empty; id and
 * name replace, arguments are added. A call without an id gets "call_1", "call_2" … */
void rt_reply_add_call(rt_reply *reply, uint64_t index, rt_str id, rt_str name, rt_str arguments);
/* Of the call of this index. */
void rt_reply_add_call_signature(rt_reply *reply, uint64_t index, rt_str signature);
void rt_reply_set_model(rt_reply *reply, rt_str model);
/* Members that are SIZE_MAX leave what is there. */
void rt_reply_set_usage(rt_reply *reply, const rt_usage *usage);
void rt_reply_set_stop(rt_reply *reply, rt_stop stop);
void rt_reply_set_error(rt_reply *reply, rt_str words);

/* ---- read ---- */

/* Nothing more comes: unfinished characters become U+FFFD, arguments that are no JSON
 * object are kept as a string, and <thinking>…</thinking> (or <think>) at the beginning of
 * a text becomes a block of thinking (E9). */
void rt_reply_finish(rt_reply *reply);
/* Has anything worth keeping arrived? */
bool rt_reply_is_empty(const rt_reply *reply);
/* All text blocks, joined. */
void rt_reply_add_all_text(const rt_reply *reply, rt_buf *out);
/* The content of an entry: a JSON string where there is only text, else an array of
 * blocks {"type":"text"…}, {"type":"thinking","thinking","thinkingSignature"?},
 * {"type":"redacted_thinking",…} and {"type":"toolCall","id","name","arguments"}. */
void rt_reply_add_content(const rt_reply *reply, rt_buf *out);
/* The members of the entry beside its content, each with a comma in front:
 * ,"model":…,"stop_reason":…,"usage":{"input_tokens":…},"thinking_segments":[…],"error":… */
void rt_reply_add_fields(const rt_reply *reply, rt_buf *out);

#endif
