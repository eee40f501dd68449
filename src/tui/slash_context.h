/* SPDX-License-Identifier: MIT
 *
 * The next request of the discussion in view, as lines: its parts with their share of the
 * tokens, the prompts, and the newest entries. */
#ifndef RT_TUI_SLASH_CONTEXT_H
#define RT_TUI_SLASH_CONTEXT_H

#include "terminal/lines.h"
#include "tui/work.h"

/* Failures go to the scope. Cost: reads all entries that are sent. */
void rt_slash_context_add(rt_work *work, rt_scope *s, rt_lines_options options, rt_lines *lines);

#endif
