/* SPDX-License-Identifier: MIT
 *
 * Context: the request body for a model, from the path of a take by the context rules (M2, M3, M5).
 *
 * Threads: call from any thread. */
#ifndef RT_CHAT_CONTEXT_H
#define RT_CHAT_CONTEXT_H

#include "chat/attachment.h"
#include "log/engine.h"

/* One entry (or summary) of a context, in the order in which they are sent. */
typedef struct rt_context_part {
	size_t at;         /* its position in the take */
	uint32_t entry;
	bool is_summary;   /* of a compaction, in place of the entries it summarizes */
	bool left_out;     /* did not fit in the budget */
	size_t tokens;     /* 0: entries of its kind are not sent */
} rt_context_part;
typedef void (*rt_context_part_fn)(void *ctx, const rt_context_part *part);
/* Tokens of a text. */
typedef size_t (*rt_token_fn)(void *ctx, rt_str text);

/* The size of a context. */
typedef struct rt_context_totals {
	size_t entries;    /* that are sent */
	size_t summaries;  /* of these */
	size_t left_out;   /* that did not fit; muted ones before them may be counted, too */
	size_t tokens;     /* of everything that is sent, with prompts and files */
	size_t file_tokens; /* of these, those of files */
} rt_context_totals;

/* Options of a request. */
typedef struct rt_context_options {
	bool stream;          /* request a stream, where the body has a member for it */
	rt_str model;         /* instead of the setting's; empty: that one */
	rt_str service;       /* as in rt_model; empty: the provider's name */
	uint32_t upto;        /* the last entry of the path; 0: up to the head */
	size_t budget_tokens; /* oldest entries are left out until the rest fits; 0: no limit */
	const rt_attachments *files; /* sent before the conversation; never left out; or NULL */
	size_t *file_tokens;  /* set to the tokens of each, if totals is not NULL; or NULL */
	const size_t *newest; /* entries to keep besides summaries, whatever the budget; or NULL */
	/* NULL: rt_tokens_estimate of the sent part of an entry. Not called if part is NULL and
	 * everything fits however it is counted. */
	rt_token_fn count;
	rt_context_part_fn part; /* called for every entry; or NULL */
	void *ctx;            /* of both */
	rt_context_totals *totals; /* or NULL */
	/* One line for each type of block in an entry that the request cannot contain is appended,
	 * for the user; or NULL. */
	rt_buf *unsent;
	/* White space at the end of the path that is not sent, since the provider refuses it there, is
	 * appended; or NULL. */
	rt_buf *trimmed;
} rt_context_options;

enum {
	RT_TOKENS_PER_MESSAGE = 4,
	RT_TOKENS_PER_REPLY = 3,  /* that begin it, where tokens are counted */
	RT_TOKENS_PER_IMAGE = 1200 /* an estimate; it depends on the size and the model */
};
/* Estimated tokens of a text of the given bytes: a quarter, rounded up. */
size_t rt_tokens_estimate(size_t bytes);

/* The request body for a provider (M2, M3, M5, C54-C57), from the path by the context rules.
 * options NULL: as if it were zero. buf NULL: only the options' totals are wanted. */
RT_CHECKED rt_status rt_view_context(rt_engine *engine, const rt_project *project, rt_place place,
				     const rt_provider *provider,
				     const rt_context_options *options, rt_buf *buf,
				     rt_error *err);

#endif
