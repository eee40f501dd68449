/* SPDX-License-Identifier: MIT
 *
 * Models worker: the names in the lists of all providers' servers, requested in a thread, for a list
 * that shows them as they arrive.
 *
 * Threads: the terminal's. */
#ifndef RT_TUI_MODELS_WORKER_H
#define RT_TUI_MODELS_WORKER_H

#include "tui/pane.h"

typedef struct rt_models_worker rt_models_worker;

/* in_use: the model in use; may be empty. NULL: no memory, or no thread, which was reported. */
rt_models_worker *rt_models_worker_start(rt_tui *tui, rt_str in_use);
/* Without waiting for the servers. models may be NULL. */
void rt_models_worker_close(rt_models_worker *models, rt_tui *tui);
/* Append the arrivals since the last call: names and problems, each with a line end. False:
 * all lists have been read, and nothing more will arrive. */
bool rt_models_worker_read(rt_models_worker *models, rt_buf *names, rt_buf *problems);

#endif
