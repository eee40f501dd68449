/* SPDX-License-Identifier: MIT
 *
 * The topic "keys" of the help. */
#ifndef RT_PROGRAM_HELP_KEYS_H
#define RT_PROGRAM_HELP_KEYS_H

#include "cli/cli.h"

/* The keys of the terminal UI: text, JSON, or Markdown for docs/keys.md. */
void rt_help_keys(rt_cli *cli);

#endif
