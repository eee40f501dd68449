/* SPDX-License-Identifier: MIT
 *
 * Counting: the tokens of a request, for a named, chosen or unknown model. Exact if the model's
 * encoding is known and its ranks are installed (llm/tokens.h), else estimated. */
#ifndef RT_CLI_COUNTING_H
#define RT_CLI_COUNTING_H

#include "app/attach.h"
#include "chat/context.h"
#include "cli/cli.h"
#include "llm/config.h"
#include "llm/tokens.h"

typedef struct rt_cli_counting {
	rt_cli *cli;
	const rt_provider *provider;       /* that the request is for */
	rt_str model;                      /* the provider's name for it; empty: none is chosen */
	rt_str service;                    /* the provider's name in the configuration */
	const rt_token_encoding *encoding; /* NULL: not known */
	bool is_known;                     /* the model is one that ask would send to */
	bool is_exact;                     /* token counts are not estimates */
	size_t budget;                     /* 0: no limit */
	rt_context_part *parts;            /* the entries, in the order of the request */
	size_t part_count, part_capacity;
	rt_context_totals totals;
	const rt_file_set *file_set; /* the discussion's files, read; empty with --no-files */
	rt_attachments files;        /* the same in the form in which they are sent */
	size_t *file_tokens;         /* of each */
	size_t tokens;  /* of the whole request */
	rt_buf *unsent; /* blocks that it cannot contain, a line each */
	/* private */
	const rt_config *config; /* the session's */
	rt_tokens *ranks;        /* NULL: counts are estimates */
	rt_status status;        /* of counting so far */
} rt_cli_counting;

/* A provider by its name, or the kind of one of the configuration's. RT_USAGE: unknown. */
const rt_provider *rt_cli_counting_provider(rt_cli *cli, const char *name);
/* The model that ask would choose (model_session.h), but without a key: -m, else the setting, else
 * RETAKE_MODEL, else the configuration; and its provider: --provider, else the model's, else
 * OpenAI. RT_NOT_FOUND: -m names an unknown provider. */
void rt_cli_counting_choose(rt_cli_counting *c, rt_cli *cli);
/* Reads the files of the discussion, unless --no-files was given. Their problems are not a failure
 * yet (rt_attach_check). */
void rt_cli_counting_read_files(rt_cli_counting *c);
/* Builds the request into body, within the budget of --budget or of the configuration, and
 * counts. For a known model it is the body that ask would send. */
void rt_cli_counting_build(rt_cli_counting *c, rt_buf *body);
/* Prints notes on entries the budget left out and blocks that are not sent. */
void rt_cli_counting_note(const rt_cli_counting *c);
/* The table of --tokens, for people or as JSON. */
void rt_cli_counting_print(const rt_cli_counting *c);

#endif
