/* SPDX-License-Identifier: MIT
 *
 * Edit notices: inform the model about edits that it did not make (M5, M6), as entries before the
 * next question. The setting edit_notices selects them:
 *
 *   "none"    none
 *   "prompt"  the working prompt, when it was edited (the default)
 *   "all"     also replies of the model whose text was edited since its last reply
 *
 * A notice is an entry of kind "prompt_notice", so it can be seen, edited, muted and undone
 * like any other. Each edit is announced once: prompt.notify clears the flag of the prompt,
 * and edits of replies are searched back to the last reply or notice only. A notice contains the
 * current text; an edit that was undone has none. */
#ifndef RT_CHAT_EDIT_NOTICE_H
#define RT_CHAT_EDIT_NOTICE_H

#include "log/engine_impl.h"

enum { RT_EDIT_NOTICES_MAX = 9 };

/* Fills in the requests that make the notices, at most RT_EDIT_NOTICES_MAX; returns how many. They
 * point into the scope. discussion, take: addresses, empty: the active ones. at: the entry after
 * which the question comes; empty: the head. Entries that are not sent have no notice. Cost: the
 * steps since the last reply. */
size_t rt_edit_notice_requests(rt_scope *scope, rt_engine *engine, rt_str discussion, rt_str take,
			       rt_str at, rt_request *out);

#endif
