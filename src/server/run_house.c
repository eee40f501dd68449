/* SPDX-License-Identifier: MIT
 *
 * Runs of a project in a house. */
#include "server/house.h"
#include "server/run.h"

rt_status
rt_runs_new(rt_served *served, rt_runs **out, rt_error *err)
{
	const rt_house_options *given = rt_house_given(served->house);
	rt_runs_options options = {.engine = served->engine,
				   .feed = served->feed,
				   .alloc = given->alloc,
				   .env = given->env,
				   .hooks = served->hooks,
				   .config = given->config,
				   .comms = given->comms,
				   .owner = given->owner,
				   .store_path = given->store_path,
				   .model = given->model,
				   .lives = given->lives,
				   .pace_ms = RT_RUN_PACE_MS};

	return rt_runs_new_with(&options, out, err);
}
