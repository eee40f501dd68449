/* SPDX-License-Identifier: MIT
 *
 * The record of hooks: what was run, how it ended, and the hash it was trusted by.
 *
 *   <state folder>/hooks.jsonl (0600), one line for each event on which a hook was run
 *   {"v":1,"at":"2026-11-22T05:44:12.123Z","event":"entry.before_add","id":"b7e5…",
 *    "decision":"deny","by":"10-no-keys",
 *    "runs":[{"hook":"10-no-keys","end":"exit","code":2,"ms":41,"sha256":"…"}]}
 *
 * No text of a conversation and none of a hook's words are in it. At RT_RECORD_SIZE_MAX it
 * becomes hooks.jsonl.old, in the place of the one before.
 *
 * Threads: any; several processes may write, a line at a time. */
#ifndef RT_HOOKS_RECORD_HOST_H
#define RT_HOOKS_RECORD_HOST_H

#include "base/env.h"
#include "ops/hook.h"

enum { RT_RECORD_SIZE_MAX = 4 << 20 };

/* Makes the folder and the file. Nothing is written where answer->runs is empty. RT_IO,
 * RT_REFUSED (a link stands in its place), RT_NOMEM. */
RT_CHECKED rt_status rt_record_hooks(const rt_alloc *alloc, const rt_env *env,
				     const char *state_folder, const char *event, const char *id,
				     const rt_hook_answer *answer, rt_error *err);

#endif
