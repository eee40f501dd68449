/* SPDX-License-Identifier: MIT
 *
 * Context: what a model is sent, from the path of a take by the context rules (M2, M3, M5).
 *
 * Threads: call from any thread. */
#ifndef RT_CHAT_CONTEXT_H
#define RT_CHAT_CONTEXT_H

#include "log/engine.h"
#include "chat/provider.h"

/* One entry (or summary) of a context, in the order in which they are sent. */
typedef struct rt_context_part {
	size_t at;         /* its position in the take */
	uint32_t entry;
	bool is_summary;   /* a compaction speaks for what it stands for */
	bool left_out;     /* did not fit into the budget */
	size_t tokens;     /* 0: its kind is never sent */
} rt_context_part;
typedef void (*rt_context_part_fn)(void *ctx, const rt_context_part *part);
/* Tokens of a text. */
typedef size_t (*rt_token_fn)(void *ctx, rt_str text);

/* What a context came to. */
typedef struct rt_context_totals {
	size_t entries;    /* that are sent */
	size_t summaries;  /* of these */
	size_t left_out;   /* that did not fit; muted ones before them may be counted too */
	size_t tokens;     /* of all that is sent, prompts too */
} rt_context_totals;

/* How a request is wanted. */
typedef struct rt_context_options {
	bool stream;          /* the reply piece by piece, where the body says so */
	rt_str model;         /* instead of the setting's; empty: that one */
	rt_str service;       /* whom of the provider's kind it is for, as rt_model has it; empty:
	                       * the one that is called as its kind */
	uint32_t upto;        /* the last entry of the path; 0: up to the head */
	size_t budget_tokens; /* oldest entries are left out until the rest fits; 0: no limit */
	const size_t *newest; /* so many beside summaries, whatever the budget; or NULL */
	/* NULL: rt_tokens_estimate of what is sent of an entry. Not asked where nobody wants
	 * to know (part is NULL) and all fits however its texts are counted. */
	rt_token_fn count;
	rt_context_part_fn part; /* told of every entry; or NULL */
	void *ctx;            /* of both */
	rt_context_totals *totals; /* or NULL */
	/* One line for each type of block in an entry that the request cannot contain is appended,
	 * for people; or NULL. */
	rt_buf *unsent;
	rt_buf *trimmed; /* blanks that end the path but not the request, since the provider
				 refuses them there, are appended; or NULL */
} rt_context_options;

enum {
	RT_TOKENS_PER_MESSAGE = 4,
	RT_TOKENS_PER_REPLY = 3,  /* begin it, where tokens are counted */
	RT_TOKENS_PER_IMAGE = 1200 /* about; what it costs depends on its size and the model */
};
/* About as many tokens as a text of so many bytes has: a quarter, rounded up. */
size_t rt_tokens_estimate(size_t bytes);

/* The request body for a provider (M2, M3, M5, C54-C57), from the path by the context rules.
 * options NULL: as if it were zero. */
RT_CHECKED rt_status rt_view_context(rt_engine *engine, const rt_project *project, rt_place place,
				     const rt_provider *provider,
				     const rt_context_options *options, rt_buf *buf,
				     rt_error *err);

#endif
