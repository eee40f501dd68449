/* SPDX-License-Identifier: MIT
 *
 * Quotas of requests: what a request would add is compared with the limits of its user, of the user's
 * teams and of its project (accounts/quota.h), before it does anything, and counted when it is done.
 * Handlers of routes that add something call both; changes by operations do so in rt_call_apply.
 *
 * Threads: a call belongs to one at a time. */
#ifndef RT_SERVER_QUOTA_H
#define RT_SERVER_QUOTA_H

#include "accounts/quota.h"
#include "app/run.h"
#include "core/request.h"
#include "server/route.h"

/* What requests add: the bytes of the body, and entries. */
rt_use rt_call_use(const rt_call *call, const rt_request *requests, size_t count);
/* Answers with 403, or 429 for a daily limit, if a limit would be exceeded, and notes it for the
 * audit log. */
void rt_call_check_quota(rt_call *call, const rt_use *added);
/* It was done. Nothing after a failure of the call. */
void rt_call_count_use(rt_call *call, const rt_use *added);
/* The run of an author ("ann", "ann:script") has ended. */
void rt_quota_count_run(rt_quota_meter *meter, rt_directory *directory, uint64_t project, rt_str by,
			const rt_run_use *use);

#endif
