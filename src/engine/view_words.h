/* SPDX-License-Identifier: MIT
 *
 * A step in words, for people. */
#ifndef RT_ENGINE_VIEW_WORDS_H
#define RT_ENGINE_VIEW_WORDS_H

#include "codec/record.h"
#include "core/project.h"

/* What the step did and to what, as one line without an end: added entry 3zn0. Names of
 * takes are those of now. O(effects). RT_NOMEM. */
RT_CHECKED rt_status rt_view_words(const rt_project *project, const rt_record *step, rt_buf *buf,
				   rt_error *err);

#endif
