/* SPDX-License-Identifier: MIT
 *
 * Markdown on the command line, in the layout of the terminal UI. */
#ifndef RT_PROGRAM_MARKDOWN_H
#define RT_PROGRAM_MARKDOWN_H

#include "cli/term.h"

/* rt_cli.print_markdown: each row after indent spaces. */
bool rt_markdown_print(rt_term *out, rt_str text, size_t indent, rt_markdown_part *part);

#endif
