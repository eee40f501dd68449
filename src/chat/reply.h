/* SPDX-License-Identifier: MIT
 *
 * Reply: a model's answer so far. A provider's reader adds data as it arrives; the engine makes an
 * entry of it at the end.
 *
 * A reply is a list of blocks:
 *
 *   text       the answer
 *   thinking   reasoning; with a signature where the provider signs it, or as an opaque
 *              record ("redacted") that must be sent back unchanged
 *   call       a tool's call: id, name, arguments as JSON text
 *
 * Input may be cut anywhere: inside a character, a JSON text, a <thinking> tag. Bytes of an
 * incomplete character are held back until the rest arrives, and become U+FFFD if it does not, so
 * the text of a reply is always valid UTF-8.
 *
 * Thinking between tags in the text (thinking.h) is reported as thinking while it arrives. At the
 * end it is a block before the text, or it is part of the text, where it is recognised when the
 * entry is shown or sent.
 *
 * Nothing is stored twice. If all thinking came before the text and there are no calls, the entry's
 * content is that text, and the thinking is in its field "thinking_segments"; an edit then changes
 * the text and leaves the thinking. Everything else is an array of blocks, in their order, with the
 * thinking among them.
 *
 * Signed reasoning is sent back only to its provider, with the text that it was signed with. The
 * field "signed_text" is a hash of the content as it arrived; once the content differs, the
 * signatures are stale, and context_entry.c leaves them out. They stay in the entry: an undo makes
 * them valid again.
 *
 * Failures of memory are kept (status) and reported at the end. One thread at a time. */
#ifndef RT_CHAT_REPLY_H
#define RT_CHAT_REPLY_H

#include "codec/thinking.h"
#include "core/request.h"

typedef enum rt_reply_block_kind {
	RT_REPLY_TEXT,
	RT_REPLY_THINKING,
	RT_REPLY_CALL
} rt_reply_block_kind;

typedef struct rt_reply_block {
	rt_reply_block_kind kind;
	rt_buf text;      /* TEXT, THINKING: the text; CALL: the arguments */
	rt_buf id, name;  /* CALL */
	rt_buf signature; /* THINKING: as the provider signed it; CALL: Gemini's of the call */
	rt_buf raw;       /* THINKING: a redacted block as JSON text; empty: none */
	uint64_t index;   /* CALL: the provider's index of the call, for its reader */
	unsigned tag; /* THINKING: of the text between these tags (rt_thinking_part); 0: none */
	bool closed;  /* its closing tag has arrived */
	unsigned char tail[4]; /* bytes of an unfinished character at the end of text */
	unsigned tail_size;
} rt_reply_block;

/* Token counts; SIZE_MAX: unknown. */
typedef struct rt_usage {
	size_t input, output;
	size_t cache_read, cache_write; /* of the input */
} rt_usage;

/* Why it ended, the same for all providers. */
typedef enum rt_stop {
	RT_STOP_NONE,    /* it has not ended, or the reason is unknown */
	RT_STOP_END,     /* "stop": it is complete */
	RT_STOP_LENGTH,  /* "length": max_tokens, or the context is full */
	RT_STOP_CALLS,   /* "tool_calls": waits for the tools' results */
	RT_STOP_FILTER,  /* "filtered": withheld by the provider */
	RT_STOP_USER,    /* "stopped": by the user */
	RT_STOP_CUT,     /* "cut": the connection ended in the middle */
	RT_STOP_ERROR    /* "error": reported by the provider in the middle */
} rt_stop;

/* The word of a stop, as entries carry it in "stop_reason"; "" for NONE. */
const char *rt_stop_word(rt_stop stop);

/* Called with data as it arrives, from the reading thread. block counts from 0; added is always
 * whole characters. Of a call these are its arguments; it is empty once, when the call is new. */
typedef void (*rt_reply_fn)(void *ctx, rt_reply_block_kind kind, size_t block, rt_str added);

typedef struct rt_reply {
	const rt_alloc *alloc;
	rt_status status;       /* RT_NOMEM, or RT_LIMIT when it became too large */
	rt_reply_block *blocks;
	size_t block_count, block_capacity;
	size_t size, size_max;  /* bytes of everything kept; 0: RT_REPLY_SIZE_MAX */
	rt_usage usage;
	rt_stop stop;
	const char *provider;   /* that answered; NULL: unknown. Static */
	rt_buf model;           /* as named by the provider */
	rt_buf error;           /* message of an error in the middle of the reply */
	rt_buf skip;            /* beginning of its text that is skipped (rt_reply_skip) */
	size_t skipped;         /* bytes of it that arrived, or its size: no more is skipped */
	rt_thinking thinking;   /* where its text is being read */
	rt_buf waiting;         /* the end of its text that may be part of a tag */
	bool keeps_tags;        /* there are too many blocks for more thinking between tags */
	bool ended;             /* the provider reported the end */
	bool finished;
	rt_reply_fn fn;         /* or NULL */
	void *fn_ctx;
} rt_reply;

enum {
	RT_REPLY_SIZE_MAX = 64 << 20,
	RT_REPLY_BLOCK_MAX = 4096,
	/* The maximum of tagged blocks; thinking between further tags stays in the text. The
	 * rest is for calls. */
	RT_REPLY_TAGGED_MAX = RT_REPLY_BLOCK_MAX - 512
};

void rt_reply_init(rt_reply *reply, const rt_alloc *alloc, rt_reply_fn fn, void *ctx);
void rt_reply_deinit(rt_reply *reply);
/* A copy without fn, to be finished while the original keeps growing. out->status is RT_NOMEM if
 * there was no memory for it. Deinit it. */
void rt_reply_copy(const rt_reply *reply, rt_reply *out);

/* For a reply that continues a text whose end was not sent (no_blanks in model_request.h): if its
 * own text begins with that end, the matching part is skipped, character by character. Call it
 * before anything is added. */
void rt_reply_skip(rt_reply *reply, rt_str end);

/* ---- for readers of answers ---- */

/* Keeps the first failure; RT_OK is ignored. */
void rt_reply_note(rt_reply *reply, rt_status status);

/* Adds to the last block if it is of this kind, else to a new one. */
void rt_reply_add_text(rt_reply *reply, rt_str bytes);
void rt_reply_add_thinking(rt_reply *reply, rt_str bytes);
/* The next thinking is a new block. */
void rt_reply_begin_thinking(rt_reply *reply);
/* More of the signature of the last thinking block (a new one if there is none). */
void rt_reply_add_signature(rt_reply *reply, rt_str signature);
/* An opaque thinking block: its JSON as it arrived. */
void rt_reply_add_redacted(rt_reply *reply, rt_str json);
/* Adds to the newest call of this index; to a new one if the index is new or the id differs (some
 * servers number all calls 0). Unknown values may be empty; id and name replace, arguments are
 * appended. A call without an id gets "call_1", "call_2" … */
void rt_reply_add_call(rt_reply *reply, uint64_t index, rt_str id, rt_str name, rt_str arguments);
/* Sets the signature of the call with this index. */
void rt_reply_add_call_signature(rt_reply *reply, uint64_t index, rt_str signature);
bool rt_reply_has_call(const rt_reply *reply, uint64_t index);
size_t rt_reply_call_count(const rt_reply *reply);
void rt_reply_set_model(rt_reply *reply, rt_str model);
/* Members that are SIZE_MAX change nothing. */
void rt_reply_set_usage(rt_reply *reply, const rt_usage *usage);
void rt_reply_set_stop(rt_reply *reply, rt_stop stop);
/* Sets the stop to RT_STOP_ERROR and ends the reply. */
void rt_reply_set_error(rt_reply *reply, rt_str words);

/* ---- read ---- */

/* Call at the end: unfinished characters become U+FFFD, arguments that are not a JSON object are
 * kept as a string, and thinking between tags (thinking.h) at the beginning of a text becomes a
 * block of thinking (E9); after other text it is part of that text, as it arrived. A tag that is
 * not closed is thinking to the end if the reply was cut short, else text. A second call does
 * nothing. */
void rt_reply_finish(rt_reply *reply);
/* Has anything arrived that should be kept? */
bool rt_reply_is_empty(const rt_reply *reply);
/* Replaces all text of a finished reply by this one. */
void rt_reply_set_text(rt_reply *reply, rt_str text);
/* All text blocks, joined by line ends. */
void rt_reply_add_all_text(const rt_reply *reply, rt_buf *out);
/* The content of an entry: a JSON string if there is only text, with or without thinking before it,
 * else an array of blocks {"type":"text"…}, {"type":"thinking","thinking","thinkingSignature"?},
 * {"type":"redacted_thinking",…} and
 * {"type":"toolCall","id","name","arguments","thoughtSignature"?}. */
void rt_reply_add_content(const rt_reply *reply, rt_buf *out);
/* The same as a value, which lives as long as the scope and the reply. */
rt_content rt_reply_content(rt_scope *scope, const rt_reply *reply);
/* The members of the entry besides its content, as far as they are known:
 * "provider":"anthropic","model":…,"stop_reason":…,"usage":{"input_tokens",
 * "output_tokens","cache_read_input_tokens","cache_creation_input_tokens"},
 * "thinking_segments":[{"text","signature"?} or {"redacted":{…}}],"signed_text":…,
 * "error":… */
void rt_reply_add_fields(const rt_reply *reply, rt_buf *out);
/* The members of "usage", as far as they are known. */
void rt_usage_put(rt_buf *out, const rt_usage *usage);

/* The hash in "signed_text" of a content (blocks, or if they are NULL a text), appended
 * to out. Equal values have equal hashes, however their keys are ordered. */
void rt_reply_add_signed_text(rt_str text, yyjson_val *blocks, const rt_alloc *alloc, rt_buf *out);

#endif
