/* SPDX-License-Identifier: MIT
 *
 * Late models: the names in the lists of all providers' servers, requested in a thread, for a list
 * that shows them as they arrive.
 *
 * Threads: the terminal's. */
#ifndef RT_TUI_LATE_MODELS_H
#define RT_TUI_LATE_MODELS_H

#include "tui/pane.h"

typedef struct rt_late_models rt_late_models;

/* in_use: the model in use; may be empty. NULL: no memory, or no thread, which was reported. */
rt_late_models *rt_late_models_start(rt_tui *tui, rt_str in_use);
/* Without waiting for the servers. late may be NULL. */
void rt_late_models_close(rt_late_models *late, rt_tui *tui);
/* Append the arrivals since the last call: names and problems, each with a line end. False:
 * all lists have been read, and nothing more will arrive. */
bool rt_late_models_read(rt_late_models *late, rt_buf *names, rt_buf *problems);

#endif
