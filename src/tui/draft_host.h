/* SPDX-License-Identifier: MIT
 *
 * Draft: text that is not in the store yet, saved in a private file of the state folder, one for
 * each discussion, so that it survives a closed terminal or a crash. That is the text typed since
 * the field "draft" was written last, and text in screens other than the chat's input.
 *
 * Threads: the one of the terminal. */
#ifndef RT_TUI_DRAFT_HOST_H
#define RT_TUI_DRAFT_HOST_H

#include "tui/work.h"

enum { RT_DRAFT_OFTEN_MAX = 64 << 10 /* bytes; longer drafts are only saved at the end */ };

/* Save the draft of a discussion, or (empty) remove it. Failures are ignored. */
void rt_draft_keep(const rt_work *work, uint32_t disc, rt_str text);
/* Append the draft; false: none. */
bool rt_draft_read(const rt_work *work, uint32_t disc, rt_buf *out);

#endif
