/* SPDX-License-Identifier: MIT
 *
 * Failure: the message of a failed command. */
#ifndef RT_PROGRAM_FAILURE_H
#define RT_PROGRAM_FAILURE_H

#include "cli/cli.h"

/* The message and a next step, or the JSON document. */
void rt_failure_report(rt_cli *cli);
/* A text without allocating anything. */
void rt_failure_say_plainly(int fd, const char *text);

#endif
