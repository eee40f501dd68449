/* SPDX-License-Identifier: MIT
 *
 * Lint: warnings before a change is made (E14, M9). The change is made in memory only; problems
 * that it causes nearby are reported, with the request that would fix them.
 *
 *   call-parted       a tool's call is left without its result, or a result without its
 *                     call; both would be sent as plain text
 *   same-speaker      two of the same speaker follow each other; some providers want turns,
 *                     and get them as one message
 *   reasoning-stale   reasoning that the provider signed does not fit the text any more,
 *                     and is not sent from now on; it stays in the entry
 *
 * None of these destroys anything: every request is adapted when it is sent. */
#ifndef RT_CHAT_LINT_H
#define RT_CHAT_LINT_H

#include "log/engine.h"

enum { RT_LINT_WINDOW = 48 }; /* entries examined on either side */

typedef struct rt_lint {
	const char *id;   /* as above; static */
	char entry[132];  /* the entry concerned, as it will be */
	char other[132];  /* the other one of the two; or empty */
	rt_str words;     /* a sentence */
	rt_str repair;    /* a request that fixes it, as JSON; empty: none */
} rt_lint;
/* Views live until the function returns. */
typedef void (*rt_lint_fn)(void *ctx, const rt_lint *advice);

/* The effect of requests, applied in order. discussion, take: as for rt_engine_apply. *out_resent:
 * estimated tokens that a provider may have cached and that are sent again (0: none, nothing
 * of the discussion was sent yet, or the change is at the end). Changes nothing. No advice for requests that fail or do not change entries. O(log
 * n) and the window. */
RT_CHECKED rt_status rt_engine_lint(rt_engine *engine, const rt_request *requests, size_t count,
				    rt_str discussion, rt_str take, rt_lint_fn fn, void *ctx,
				    size_t *out_resent, rt_error *err);

#endif
