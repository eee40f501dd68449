/* SPDX-License-Identifier: MIT
 *
 * All commands of the program. */
#ifndef RT_PROGRAM_COMMANDS_H
#define RT_PROGRAM_COMMANDS_H

#include "app/command.h"

extern const rt_command *const rt_commands[]; /* ended by NULL */

#endif
