/* SPDX-License-Identifier: MIT
 *
 * Requests log: reading the log of requests (llm/comms_host.h) for commands. One thread. */
#ifndef RT_CLI_REQUESTS_LOG_H
#define RT_CLI_REQUESTS_LOG_H

#include "cli/cli.h"

/* Appends the request of that name ("reply/5f3a…") byte for byte, from the log alone. False: the
 * log does not contain it, or not in the sent form; the command has not failed then unless memory
 * ran out. */
bool rt_cli_logged_request(rt_cli *cli, rt_str state_folder, rt_str name, rt_buf *out);

#endif
