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
 * Nothing is kept twice. Where all thinking came before the text and nothing was called,
 * the entry's content is that text, and the thinking is in its field "thinking_segments";
 * an edit then changes the text and leaves the thinking. Everything else is an array of
 * blocks, in their order, with the thinking among them.
 *
 * What a provider signed goes back to it only with the words that it was signed with. The
 * field "signed_text" is a hash of the content as it came; once the content is another,
 * the signatures are stale, and context_entry.c leaves them out. They stay in the entry:
 * an undo makes them good again.
 *
 * Failures of memory are kept (status) and told at the end. One thread at a time. */
#ifndef RT_CHAT_REPLY_H
#define RT_CHAT_REPLY_H

#include "codec/json.h"
#include "core/request.h"

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
	uint64_t index;   /* CALL: as the provider counts; its reader's business */
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

/* What a screen is told as it happens. block counts from 0; added is what was added, always
 * whole characters. Of a call these are its arguments; once, when the call is new, nothing
 * is added. Called from the thread that reads. */
typedef void (*rt_reply_fn)(void *ctx, rt_reply_block_kind kind, size_t block, rt_str added);

typedef struct rt_reply {
	const rt_alloc *alloc;
	rt_status status;       /* RT_NOMEM, or RT_LIMIT when it became too large */
	rt_reply_block *blocks;
	size_t block_count, block_capacity;
	size_t size, size_max;  /* bytes of everything kept; 0: RT_REPLY_SIZE_MAX */
	rt_usage usage;
	rt_stop stop;
	const char *provider;   /* the name of who answered; NULL: not said. Static */
	rt_buf model;           /* as the provider names what answered */
	rt_buf error;           /* an error told in the middle of the reply, in words */
	rt_buf skip;            /* what its text does not begin with again (rt_reply_skip) */
	size_t skipped;         /* bytes of it that came, or all: nothing more is looked for */
	bool ended;             /* the provider said that this was all */
	bool finished;
	rt_reply_fn fn;         /* or NULL */
	void *fn_ctx;
} rt_reply;

enum {
	RT_REPLY_SIZE_MAX = 64 << 20,
	RT_REPLY_BLOCK_MAX = 4096
};

void rt_reply_init(rt_reply *reply, const rt_alloc *alloc, rt_reply_fn fn, void *ctx);
void rt_reply_deinit(rt_reply *reply);
/* As it is now, told to nobody: to finish it while the other one goes on growing. The
 * copy's status says whether there was memory for it. Deinit it. */
void rt_reply_copy(const rt_reply *reply, rt_reply *out);

/* Its text goes on from one whose end was not sent (no_blanks in request.h). As much of that
 * end as comes as its beginning is there already: it is passed over, character by character.
 * Before anything is told. */
void rt_reply_skip(rt_reply *reply, rt_str end);

/* ---- for readers of answers ---- */

/* Keep a failure, unless there is one already. RT_OK: nothing. */
void rt_reply_note(rt_reply *reply, rt_status status);

/* More words of the last block if it is of this kind, else of a new one. */
void rt_reply_add_text(rt_reply *reply, rt_str bytes);
void rt_reply_add_thinking(rt_reply *reply, rt_str bytes);
/* What comes now is another block of thinking than what came before. */
void rt_reply_begin_thinking(rt_reply *reply);
/* More of the signature of the last thinking block (a new one if there is none). */
void rt_reply_add_signature(rt_reply *reply, rt_str signature);
/* A thinking block that may not be read: its JSON as it came. */
void rt_reply_add_redacted(rt_reply *reply, rt_str json);
/* The newest call of this index, made when the index is new, or when it comes with another
 * id: some servers count all calls as number 0. What is not known yet may be empty; the
 * name replaces, arguments are added. A call without an id gets "call_1", "call_2" … */
void rt_reply_add_call(rt_reply *reply, uint64_t index, rt_str id, rt_str name, rt_str arguments);
/* Of the call of this index. */
void rt_reply_add_call_signature(rt_reply *reply, uint64_t index, rt_str signature);
bool rt_reply_has_call(const rt_reply *reply, uint64_t index);
size_t rt_reply_call_count(const rt_reply *reply);
void rt_reply_set_model(rt_reply *reply, rt_str model);
/* Members that are SIZE_MAX leave what is there. */
void rt_reply_set_usage(rt_reply *reply, const rt_usage *usage);
void rt_reply_set_stop(rt_reply *reply, rt_stop stop);
/* The stop is then RT_STOP_ERROR, and nothing more is expected. */
void rt_reply_set_error(rt_reply *reply, rt_str words);

/* ---- read ---- */

/* Nothing more comes: unfinished characters become U+FFFD, arguments that are no JSON
 * object are kept as a string, and <thinking>…</thinking> (or <think>) at the beginning of
 * a text becomes a block of thinking (E9). One that is not closed is all thinking where
 * the reply was cut short, and text where it said all. Again: nothing happens. */
void rt_reply_finish(rt_reply *reply);
/* Has anything worth keeping arrived? */
bool rt_reply_is_empty(const rt_reply *reply);
/* All text blocks, joined by line ends. */
void rt_reply_add_all_text(const rt_reply *reply, rt_buf *out);
/* The content of an entry: a JSON string where there is only text, with or without
 * thinking in front, else an array of blocks {"type":"text"…},
 * {"type":"thinking","thinking","thinkingSignature"?}, {"type":"redacted_thinking",…} and
 * {"type":"toolCall","id","name","arguments","thoughtSignature"?}. */
void rt_reply_add_content(const rt_reply *reply, rt_buf *out);
/* The same as a value, which lives as long as the scope and the reply. */
rt_content rt_reply_content(rt_scope *scope, const rt_reply *reply);
/* The members of the entry beside its content, as far as they are known:
 * "provider":"anthropic","model":…,"stop_reason":…,"usage":{"input_tokens",
 * "output_tokens","cache_read_input_tokens","cache_creation_input_tokens"},
 * "thinking_segments":[{"text","signature"?} or {"redacted":{…}}],"signed_text":…,
 * "error":… */
void rt_reply_add_fields(const rt_reply *reply, rt_buf *out);

/* The hash in "signed_text" of a content (blocks, or where they are NULL a text), appended
 * to out. Equal values have equal hashes, however their keys are ordered. */
void rt_reply_add_signed_text(rt_str text, yyjson_val *blocks, const rt_alloc *alloc, rt_buf *out);

#endif
