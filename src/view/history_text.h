/* SPDX-License-Identifier: MIT
 *
 * The description of a step of the history. */
#ifndef RT_VIEW_HISTORY_TEXT_H
#define RT_VIEW_HISTORY_TEXT_H

#include "base/scope.h"
#include "codec/record.h"
#include "core/project.h"

/* Describes a step on one line: "added entry 3zn0"; plain: without ids, for use next to the entry's
 * text: "added entry". Takes have their present names. O(effects). */
rt_str rt_history_text(rt_scope *scope, const rt_project *project, const rt_record *step,
		       bool plain);
/* The step that this one reverted; 0: it reverted none, or is older than the record of that. */
uint64_t rt_history_text_reverted(rt_scope *scope, const rt_record *step);
/* The entry that the step concerns, and the body to show of it: the one that it wrote, removed,
 * labelled or moved to; body 0: that of the active take. 0: it concerns none. */
uint32_t rt_history_text_entry(const rt_record *step, uint64_t *out_body);
/* The (first) take of this discussion that the step changed or created; 0: none. */
uint32_t rt_history_text_take(const rt_record *step, uint32_t disc);
/* The setting that the step changed, if it changed nothing else; else ptr NULL. Borrowed. */
rt_str rt_history_text_setting(const rt_record *step);

#endif
