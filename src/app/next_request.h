/* SPDX-License-Identifier: MIT
 *
 * Next request: the request that a question would send now, with its files and tokens, for a named,
 * chosen or unknown model. Nothing is sent, and no key is needed.
 *
 * A count is exact only when it can be proved on the request itself: it goes to OpenAI, contains
 * nothing but text, and the sum of its messages is that of the parts.
 *
 * Failures and memory are the scope's, which the object must not outlive. One thread. */
#ifndef RT_APP_NEXT_REQUEST_H
#define RT_APP_NEXT_REQUEST_H

#include "app/attach.h"
#include "chat/context.h"
#include "llm/models_host.h"

typedef struct rt_next_request {
	/* Set by the caller. */
	rt_scope *s;
	rt_engine *engine;
	const rt_project *value;
	rt_place place;
	const rt_config *config; /* or NULL */
	size_t budget;           /* 0: that of the model's provider, if it is configured */
	bool is_counted;         /* the parts are wanted, with tokens as the model counts them */
	bool names_model;        /* the body names the model even if it is not known */

	const rt_provider *provider;
	rt_str model;   /* the provider's name for it; empty: none is chosen */
	rt_str service; /* the provider's name in the configuration; may be empty */
	bool is_known;  /* the model is one that ask would send to */
	rt_pick_counter *counter;    /* NULL: none was chosen yet */
	const rt_file_set *file_set; /* the discussion's files, read */
	rt_attachments files;        /* the same in the form in which they are sent */
	size_t *file_tokens;         /* of each */
	rt_context_part *parts;      /* the entries, in the order of the request */
	size_t part_count, part_capacity;
	rt_context_totals totals;
	size_t tokens;  /* of the whole request, with the beginning of the reply where it is counted */
	bool is_exact;  /* token counts are not estimates */
	rt_buf *unsent; /* blocks that it cannot contain, a line each */
	rt_buf *body;
} rt_next_request;

/* The object for these; the other members are set afterwards. The provider is OpenAI, without a
 * model and without files. */
rt_next_request rt_next_request_of(rt_scope *s, rt_engine *engine, const rt_project *value,
				   rt_place place);
/* Chooses the model as ask does: said, else the setting, else standard, else the configuration's.
 * provider: instead of the model's; or NULL. The result is that of rt_models_choose, RT_OK without
 * a model: after a failure the tokens can still be counted. */
RT_CHECKED rt_status rt_next_request_choose(rt_next_request *r, rt_str said, rt_str standard,
					    const rt_provider *provider, rt_error *err);
/* Reads the files of the discussion. Their problems are no failure (rt_attach_check). */
void rt_next_request_read_files(rt_next_request *r, const rt_file_options *options);
/* Builds the body within the budget and counts. For a known model it is the body that would be
 * sent. */
void rt_next_request_build(rt_next_request *r);

#endif
