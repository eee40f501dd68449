/* SPDX-License-Identifier: MIT
 *
 * Fsck: checks that all data is intact and consistent. Changes nothing. The findings are listed in
 * fsck.c.
 *
 * Threads: call from any thread. */
#ifndef RT_LOG_FSCK_H
#define RT_LOG_FSCK_H

#include "log/engine.h"

typedef struct rt_finding {
	const char *id;       /* stable: "log-gap", "entry-unfindable" … */
	const char *severity; /* "error", "warning", "note" */
	const char *text;
} rt_finding;
/* false: stop. */
typedef bool (*rt_fsck_fn)(void *ctx, const rt_finding *finding);

/* Check the store, the log, the bodies, and that the log, the checkpoint and memory give the same
 * value. Calls fn for every finding; RT_OK also then. Replies in flight are checked by
 * rt_engine_fsck_replies (chat/send.h). O(log + bodies). */
RT_CHECKED rt_status rt_engine_fsck(rt_engine *engine, rt_fsck_fn fn, void *ctx, rt_error *err);
/* The same without the store's own checks, for further projects of a store. */
RT_CHECKED rt_status rt_engine_fsck_project(rt_engine *engine, rt_fsck_fn fn, void *ctx,
					    rt_error *err);

/* Passes fn a finding whose text is formatted, truncated and stripped of control characters.
 * Returns what fn returned. */
bool rt_finding_give(rt_fsck_fn fn, void *ctx, const char *severity, const char *id,
		     const char *format, ...) RT_PRINTF(5, 6);

#endif
