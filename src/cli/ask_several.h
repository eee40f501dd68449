/* SPDX-License-Identifier: MIT
 *
 * Several models in parallel (ask and again with more than one -m): the replies are takes after the
 * same question, and undo reverts them together. */
#ifndef RT_CLI_ASK_SEVERAL_H
#define RT_CLI_ASK_SEVERAL_H

#include "app/run.h"
#include "cli/model_session.h"
#include "view/view.h"

/* How often --model was given. */
size_t rt_cli_model_count(const rt_cli *cli);
/* Asks all of them and prints their replies in that order. The place, the models and the budget of
 * the request are filled in. Ctrl-C stops all of them. Fails the command if no model has replied. */
void rt_cli_ask_several(rt_cli *cli, rt_run_request *request);

#endif
