/* SPDX-License-Identifier: MIT
 *
 * Tokens: the exact number of tokens of a text for a model of OpenAI.
 *
 * Their models read byte pair encodings. A text is divided into pieces (a word with the blank
 * before it, up to three digits, a run of signs, white space: tokens_split.c). A piece begins as
 * single bytes; the two neighbours that joined have the lowest rank become one, until no two
 * have a rank. The parts are the tokens.
 *
 *   rank data (a .tiktoken file)        one line for each token: its bytes as base64, a
 *                                       blank, its rank in decimal, a line end
 *
 *   tokens.c         ranks, and counting with them
 *   tokens_split.c   where pieces end
 *   tokens_chat.c    the encoding of a model, the cost of a message
 *   tokens_host.h    where the files are
 *
 * The makers of other models publish no such data; rt_tokens_estimate (log/engine.h) is for them.
 * Special tokens ("<|endoftext|>") are text like any other, as they are to a server that finds
 * them in a message. */
#ifndef RT_LLM_TOKENS_H
#define RT_LLM_TOKENS_H

#include "base/text.h"

enum {
	RT_TOKENS_MESSAGE = 3,   /* around each message of a chat */
	RT_TOKENS_NAME = 1,      /* more where the message has a name */
	RT_TOKENS_REPLY = 3,     /* at the beginning of the reply */
	RT_TOKEN_SIZE_MAX = 255, /* bytes of one token */
	RT_TOKEN_RANK_MAX = (1 << 20) - 1,
	RT_TOKENS_BYTES_MAX = (1 << 24) - 1 /* of all tokens of an encoding together */
};

/* ---- encodings ---- */

/* How a text is divided; named after the first encoding that does so. */
typedef enum rt_token_cut { RT_TOKEN_CUT_CL100K, RT_TOKEN_CUT_O200K } rt_token_cut;

/* Static, read only. */
typedef struct rt_token_encoding {
	const char *name; /* "o200k_base"; the file is o200k_base.tiktoken */
	rt_token_cut cut;
	size_t file_size; /* of the published file, and rt_hash of it, seed 0 */
	uint64_t file_hash;
} rt_token_encoding;

/* By name; NULL: not known. */
const rt_token_encoding *rt_token_encoding_named(rt_str name);
/* The encoding of a model as its provider names it ("gpt-4o-mini", "ft:gpt-4o:us"), also after
 * providers ("openai/gpt-4o"). NULL: unknown, so counts are estimates. */
const rt_token_encoding *rt_token_encoding_of(rt_str model);

/* The end of the piece that begins at byte at < text.size; at most text.size. A byte that is not
 * UTF-8 counts as a sign. O(the white space or the letters at at); O(n) for a whole text. */
size_t rt_token_piece_end(rt_token_cut cut, rt_str text, size_t at);

/* ---- ranks ---- */

/* The ranks of an encoding. Immutable: any number of threads may count with it concurrently if its
 * allocator locks itself. About 5.4 MB for o200k_base. */
typedef struct rt_tokens rt_tokens;

/* data: the rank data, borrowed for the call. encoding must outlive the ranks.
 * RT_CORRUPT: a malformed line or a repeated token; err has the line. RT_LIMIT: a token, a rank
 * or all tokens together exceed the limits above. RT_NOMEM.
 * Cost: about 40 ms for 200,000 ranks; one allocation. */
RT_CHECKED rt_status rt_tokens_new(const rt_alloc *alloc, const rt_token_encoding *encoding,
				   rt_str data, rt_tokens **out, rt_error *err);
void rt_tokens_free(rt_tokens *tokens);

const rt_token_encoding *rt_tokens_encoding(const rt_tokens *tokens);
const rt_alloc *rt_tokens_alloc(const rt_tokens *tokens);
/* The number of its tokens. */
size_t rt_tokens_known(const rt_tokens *tokens);
/* Asserts that every slot is found. */
void rt_tokens_check(const rt_tokens *tokens);

/* The number of tokens in a text. RT_NOMEM: for a very long piece (28 times its bytes).
 * RT_LIMIT: a piece has more than 1 GB. O(text), and O(n log n) for a piece of n bytes. */
RT_CHECKED rt_status rt_tokens_count(const rt_tokens *tokens, rt_str text, size_t *out);

/* ---- chats ---- */

/* The tokens of one message of a chat, after OpenAI's documentation: RT_TOKENS_MESSAGE, the role,
 * the text, and the name if it is not empty. A request has those of its messages and
 * RT_TOKENS_REPLY. Those of tools and images are not published. */
RT_CHECKED rt_status rt_tokens_count_message(const rt_tokens *tokens, rt_str role, rt_str name,
					     rt_str content, size_t *out);

/* The tokens of an OpenAI request body ({"messages":[…]}). *out_whole false: it contains more than
 * texts (tool calls, images), which are not counted. RT_CORRUPT: not such a body. */
RT_CHECKED rt_status rt_tokens_count_request(const rt_tokens *tokens, rt_str body, size_t *out,
					     bool *out_whole, rt_error *err);

#endif
