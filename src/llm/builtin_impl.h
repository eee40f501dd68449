/* SPDX-License-Identifier: MIT
 *
 * The inside of the built-in models, shared by their files. */
#ifndef RT_LLM_BUILTIN_IMPL_H
#define RT_LLM_BUILTIN_IMPL_H

#include "llm/builtin.h"

/* A reply that is being given. */
typedef struct rt_giving {
	const rt_builtin_options *options;
	const rt_ask *ask;
	rt_reply *reply;
} rt_giving;

/* Wait, as long as nobody says stop. RT_INTERRUPTED: somebody did; the reply knows. */
RT_CHECKED rt_status rt_builtin_wait(const rt_giving *g, uint64_t ms, rt_error *err);

/* ---- summaries (builtin_summary.c) ---- */

/* What stands in "<conversation>" of a request for a summary; false: there is none. */
bool rt_builtin_conversation(rt_str text, rt_str *out);
/* An extract of it: what was said, decided, and which files were named. */
void rt_builtin_add_summary(rt_buf *out, rt_str conversation);

/* ---- scripts (builtin_script.c) ---- */

/* Is every line right? *out_count: how many replies there are. RT_USAGE with the line. */
RT_CHECKED rt_status rt_script_check(rt_str script, const rt_alloc *alloc, size_t *out_count,
				     rt_error *err);
/* Give reply number at, from 0. Statuses as of rt_model_ops.ask. */
RT_CHECKED rt_status rt_script_play(rt_str script, size_t at, const rt_giving *g, rt_error *err);

#endif
