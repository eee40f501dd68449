/* SPDX-License-Identifier: MIT
 *
 * Replace: edit --replace OLD NEW [RANGE]. */
#ifndef RT_CLI_REPLACE_H
#define RT_CLI_REPLACE_H

#include "cli/cli.h"

void rt_cli_replace(rt_cli *cli);

#endif
