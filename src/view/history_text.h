/* SPDX-License-Identifier: MIT
 *
 * A step in words, for people. */
#ifndef RT_VIEW_HISTORY_TEXT_H
#define RT_VIEW_HISTORY_TEXT_H

#include "codec/record.h"
#include "core/project.h"

/* What the step did and to what, as one line without an end: added entry 3zn0. plain: without
 * ids, for who shows the entry's text beside it: added entry. Names of takes are those of now.
 * O(effects). RT_NOMEM. */
RT_CHECKED rt_status rt_history_text(const rt_project *project, const rt_record *step, bool plain,
				     rt_buf *buf, rt_error *err);
/* The entry that the step is about and the body to show of it: that which it wrote, took out,
 * labelled or went to; body 0: as the active take has it. 0: it is about none. */
uint32_t rt_history_text_entry(const rt_record *step, uint64_t *out_body);
/* The (first) take of this discussion that the step changed or made; 0: none. */
uint32_t rt_history_text_take(const rt_record *step, uint32_t disc);
/* The setting that the step changed and nothing else; empty: it is no such step. Lives in step. */
rt_str rt_history_text_setting(const rt_record *step);

#endif
