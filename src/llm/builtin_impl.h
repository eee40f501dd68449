/* SPDX-License-Identifier: MIT
 *
 * Shared by the files of the built-in models. */
#ifndef RT_LLM_BUILTIN_IMPL_H
#define RT_LLM_BUILTIN_IMPL_H

#include "base/scope.h"
#include "llm/builtin.h"

/* A reply in progress; its failure is in s. */
typedef struct rt_giving {
	const rt_builtin_options *options;
	const rt_ask *ask;
	rt_reply *reply;
	rt_scope *s;
} rt_giving;

static inline bool
rt_is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

/* ---- summaries (builtin_summary.c) ---- */

/* The text in "<conversation>" of a request for a summary; false: none. */
bool rt_builtin_conversation(rt_str text, rt_str *out);
/* Append an extract of it: first sentences, decisions, names of files. */
void rt_builtin_add_summary(rt_buf *out, rt_str conversation);

/* ---- scripts (builtin_script.c) ---- */

/* Check every line. *out_count: the number of replies. RT_USAGE with the line. */
RT_CHECKED rt_status rt_script_check(rt_str script, const rt_alloc *alloc, size_t *out_count,
				     rt_error *err);
/* Waits; RT_INTERRUPTED, also in the reply, if stop returns true. */
void rt_builtin_wait(const rt_giving *g, uint64_t ms);
/* Gives reply number at, from 0. Statuses as of rt_model_ops.ask. */
void rt_script_play(rt_str script, size_t at, const rt_giving *g);

#endif
