/* SPDX-License-Identifier: MIT
 *
 * Export with hooks, which run before anything is written and may change it. Optionally includes
 * the last request (last_request.h). */
#ifndef RT_CHAT_ACTION_EXPORT_H
#define RT_CHAT_ACTION_EXPORT_H

#include "ops/action.h"

/* As rt_engine_export, with the removals and changes by hooks; if there are any, the last request,
 * which has the original texts, is not exported. file may be NULL if with is. RT_DENIED; RT_USAGE:
 * hooks added something. */
RT_CHECKED rt_status rt_action_export(rt_engine *engine, const rt_apply_context *with,
				      const rt_action_file *file, const rt_project *project,
				      rt_place place, bool whole_project, rt_outlines *out,
				      rt_error *err);

#endif
