/* SPDX-License-Identifier: MIT
 *
 * Runs of a project in a pool. */
#include "server/project_pool.h"
#include "server/run.h"

rt_status
rt_runs_new(rt_open_project *open_project, rt_runs **out, rt_error *err)
{
	const rt_project_pool_options *given = rt_project_pool_get_options(open_project->pool);
	rt_runs_options options = {.engine = open_project->engine,
				   .feed = open_project->feed,
				   .alloc = given->alloc,
				   .env = given->env,
				   .hooks = open_project->hooks,
				   .config = given->config,
				   .comms = given->comms,
				   .owner = given->owner,
				   .store_path = given->store_path,
				   .model = given->model,
				   .lives = given->lives,
				   .pace_ms = RT_RUN_PACE_MS};

	return rt_runs_new_with(&options, out, err);
}
