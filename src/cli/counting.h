/* SPDX-License-Identifier: MIT
 *
 * Counting: the next request (app/next_request.h) by the flags --provider, --model, --budget,
 * --no-files and --tokens, and its tokens as a table. Failures are the command's. */
#ifndef RT_CLI_COUNTING_H
#define RT_CLI_COUNTING_H

#include "app/next_request.h"
#include "cli/cli.h"

/* The next request at the session's place, in the command's scope. */
rt_next_request rt_cli_next_request(rt_cli *cli);
/* The model that ask would choose (model_session.h), but without a key: -m, else the setting, else
 * RETAKE_MODEL, else the configuration; and its provider: --provider, else the model's, else
 * OpenAI. RT_NOT_FOUND: -m names an unknown provider. */
void rt_cli_counting_choose(rt_cli *cli, rt_next_request *r);
/* Only the provider, of --provider. RT_USAGE: unknown. */
void rt_cli_counting_choose_provider(rt_cli *cli, rt_next_request *r);
/* Reads the files of the discussion, unless --no-files was given. Their problems are not a failure
 * yet (rt_attach_check). */
void rt_cli_counting_read_files(rt_cli *cli, rt_next_request *r);
/* rt_next_request_build, with a note if token ranks are missing. */
void rt_cli_counting_build(rt_cli *cli, rt_next_request *r);
/* Prints notes on entries the budget left out and blocks that are not sent. */
void rt_cli_counting_note(rt_cli *cli, const rt_next_request *r);
/* The table of --tokens, as text or as JSON. */
void rt_cli_counting_print(rt_cli *cli, const rt_next_request *r);

#endif
