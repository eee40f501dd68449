/* SPDX-License-Identifier: MIT
 *
 * Edit notices: what the model is told of edits that it did not make (M5, M6), as requests that
 * go in front of the next question. The setting edit_notices says which:
 *
 *   "none"    nothing
 *   "prompt"  the working prompt, when it was edited (the default)
 *   "all"     also replies of the model whose text was edited since its last reply
 *
 * A notice is an entry of kind "prompt_notice", so it is seen, and can be edited, muted
 * and undone like any other. Each edit is told once: the flag of the prompt is cleared by
 * prompt.notify, and edits of replies are looked for only back to the last reply or
 * notice. The text that stands now is told; an edit that was taken back is none. */
#ifndef RT_CHAT_EDIT_NOTICE_H
#define RT_CHAT_EDIT_NOTICE_H

#include "log/engine_impl.h"

/* Appends requests to a JSON array under construction (open; commas are put where needed);
 * *out_count counts them. discussion, take: addresses, empty: the active ones. at: the
 * entry that the question comes behind; empty: the head. What is not sent is not told of.
 * Cost: the steps since the last reply. */
RT_CHECKED rt_status rt_edit_notice_add(rt_engine *engine, rt_str discussion, rt_str take,
					rt_str at, rt_buf *array, size_t *out_count, rt_error *err);

#endif
