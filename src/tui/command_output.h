/* SPDX-License-Identifier: MIT
 *
 * Command output: shows the output of a command of the command line that ran in the terminal UI.
 * Commands that it names become slash commands, except in texts of the conversation. */
#ifndef RT_TUI_COMMAND_OUTPUT_H
#define RT_TUI_COMMAND_OUTPUT_H

#include "tui/command_host.h"
#include "tui/pane.h"

/* Output, then errors without the name of the program. line: the command and its words. In the scope of
 * the terminal UI, which fails if there is no memory. */
rt_str rt_command_output_text(rt_tui *tui, const rt_command_process *command, rt_str line);
/* As a notice if it is one line, or a short failure; else on a screen with the line as its title. */
void rt_command_output_show(rt_tui *tui, rt_str line, rt_str text, bool failed);

#endif
