/* SPDX-License-Identifier: MIT
 *
 * Stats, as `retake stats --json` prints them. */
#include "app/host.h"
#include "app/stats.h"
#include "server/access.h"
#include "server/api.h"

static int64_t
day_of(rt_call *call, const char *name, int64_t absent)
{
	rt_str text = rt_call_text(call, name);

	if (text.size > 0 && !rt_stats_day_of(text, &absent))
		rt_scope_fail(&call->scope, RT_USAGE, "\"%s\" must be a date such as 2026-11-18", name);
	return absent;
}

void
rt_api_stats(rt_call *call)
{
	rt_scope *s = &call->scope;
	const rt_project_pool_options *given = rt_project_pool_get_options(call->pool);
	rt_str by = rt_call_text(call, "by"), disc = rt_call_text(call, "discussion");
	rt_stats_options options = {.by = RT_STATS_DAY,
				    .only_here = disc.size > 0,
				    .since = day_of(call, "since", RT_STATS_FIRST_DAY),
				    .until = day_of(call, "until", RT_STATS_LAST_DAY),
				    .day = rt_host_local_day};
	uint64_t at_op = rt_call_number(call, "at_op", UINT64_MAX);
	rt_stats stats = {0};

	if (by.size > 0 && !rt_stats_by_of(by, &options.by))
		rt_scope_fail(s, RT_USAGE, "\"by\" must be one of " RT_STATS_BY_WORDS);
	if (options.by == RT_STATS_PROJECT) {
		if (at_op != UINT64_MAX || options.only_here)
			rt_scope_fail(s, RT_USAGE, "by=project always counts the current state of all projects: leave out at_op and the "
						   "discussion");
		if (!rt_access_allows(call, RT_RIGHT_SERVER) || call->principal.project.size > 0)
			rt_scope_fail(s, RT_REFUSED, "only an administrator may count all projects");
		if (rt_ok(s))
			stats = rt_stats_of_projects(s, given->store, given->env, &options);
	} else {
		rt_snapshot v = rt_call_locate(call, at_op, disc);
		rt_view view = {s, v.engine, v.project, v.place};

		if (rt_ok(s))
			stats = rt_stats_read(&view, &options);
	}
	rt_stats_add_json(s, &stats, options.by, &call->answer->body);
}
