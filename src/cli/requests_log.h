/* SPDX-License-Identifier: MIT
 *
 * Requests log: reading the log of requests (llm/comms_host.h) for commands. One thread. */
#ifndef RT_CLI_REQUESTS_LOG_H
#define RT_CLI_REQUESTS_LOG_H

#include "cli/cli.h"

/* Appends the request of that name ("reply/5f3a…") to the byte, from the log alone. False: the log
 * does not have it, or not as it was sent; the command has not failed then unless memory is short. */
bool rt_cli_logged_request(rt_cli *cli, rt_str state_folder, rt_str name, rt_buf *out);

#endif
