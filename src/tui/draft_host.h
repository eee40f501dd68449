/* SPDX-License-Identifier: MIT
 *
 * Draft: what is written and not sent yet, kept in a private file of the state folder, one for
 * each discussion, so that a closed terminal or a crash loses nothing of it.
 *
 * Threads: the one of the terminal. */
#ifndef RT_TUI_DRAFT_HOST_H
#define RT_TUI_DRAFT_HOST_H

#include "tui/work.h"

enum { RT_DRAFT_OFTEN_MAX = 64 << 10 /* bytes; longer ones are kept at the end only */ };

/* disc: its number. Empty text: there is none any more. Failures are ignored: it is a help, not a
 * promise. Cost: the text is written. */
void rt_draft_keep(const rt_work *work, uint32_t disc, rt_str text);
/* What was kept, appended; false: nothing. */
bool rt_draft_read(const rt_work *work, uint32_t disc, rt_buf *out);

#endif
