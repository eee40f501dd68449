/* SPDX-License-Identifier: MIT
 *
 * Record: the log of hook runs: which ran, how they ended, and the hash they were trusted by.
 *
 *   <state folder>/hooks.jsonl (0600), one line per event on which a hook ran
 *   {"v":1,"at":"2026-11-22T05:44:12.123Z","event":"entry.before_add","id":"b7e5…",
 *    "decision":"deny","by":"10-no-keys",
 *    "runs":[{"hook":"10-no-keys","end":"exit","code":2,"ms":41,"sha256":"…"}]}
 *
 * It contains neither text of a conversation nor output of hooks. At RT_RECORD_SIZE_MAX it is
 * rotated to hooks.jsonl.old, replacing the previous one.
 *
 * Threads: any; several processes may append, a line at a time. */
#ifndef RT_HOOKS_RECORD_HOST_H
#define RT_HOOKS_RECORD_HOST_H

#include "base/env.h"
#include "ops/hook.h"

enum { RT_RECORD_SIZE_MAX = 4 << 20 };

/* Append a line, unless answer->runs is empty. Creates the folder and the file. RT_IO,
 * RT_REFUSED (the file is a symbolic link), RT_NOMEM. */
RT_CHECKED rt_status rt_record_hooks(const rt_alloc *alloc, const rt_env *env,
				     const char *state_folder, const char *event, const char *id,
				     const rt_hook_answer *answer, rt_error *err);

#endif
