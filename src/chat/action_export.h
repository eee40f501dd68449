/* SPDX-License-Identifier: MIT
 *
 * Export with hooks: they are asked before something goes out, and may change it. With it goes,
 * if asked for, what was sent last (last_request.h). */
#ifndef RT_CHAT_ACTION_EXPORT_H
#define RT_CHAT_ACTION_EXPORT_H

#include "ops/action.h"

/* As rt_engine_export; what hooks left out is left out, what they changed is changed, and
 * then what was sent last, which had it all, stays here. file may be NULL where with is.
 * RT_DENIED; RT_USAGE: they put something there that was not. */
RT_CHECKED rt_status rt_action_export(rt_engine *engine, const rt_apply_context *with,
				      const rt_action_file *file, const rt_project *project,
				      rt_place place, bool whole_project, rt_outlines *out,
				      rt_error *err);

#endif
