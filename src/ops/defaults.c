/* SPDX-License-Identifier: MIT
 *
 * The settings that a new project starts with, from the options that its engine was opened with.
 * They are set by one ordinary step: it is in the history and can be undone. */
#include "log/change.h"
#include "ops/action_impl.h"
#include "ops/ops.h"

static rt_status
check_new(void *ctx, const rt_project *now, rt_error *err)
{
	(void)ctx;
	return now->seq == 0 ? RT_OK : rt_fail(err, RT_CONFLICT, "the project already has a history: defaults apply only to "
								 "a new one");
}

/* Replaces the list of roles: removes its roles and adds the new ones in their order. */
static size_t
list_requests(rt_scope *s, const rt_project *value, yyjson_val *defaults, rt_request **out)
{
	yyjson_val *roles = rt_json_get(defaults, "roles"), *old = NULL;
	size_t count = 0;

	if (roles != NULL)
		old = rt_json_parse(s, rt_project_roles(value));
	*out = rt_scope_array(s, yyjson_arr_size(old) + yyjson_arr_size(roles) +
					 yyjson_obj_size(defaults), sizeof(**out));
	if (!rt_ok(s))
		return 0;
	for (rt_json_iter it = rt_json_items(old); rt_json_next(&it);)
		(*out)[count++] = (rt_request){.op = RT_OP_ROLE_REMOVE, .role = rt_json_str(it.value)};
	for (rt_json_iter it = rt_json_items(roles); rt_json_next(&it);)
		(*out)[count++] = (rt_request){.op = RT_OP_ROLE_ADD, .role = rt_json_str(it.value)};
	for (rt_json_iter it = rt_json_members(defaults); rt_json_next(&it);)
		if (it.value != roles)
			(*out)[count++] = (rt_request){.op = RT_OP_SETTING_SET,
						       .key = it.key,
						       .value = it.value,
						       .which = RT_STR("project")};
	return count;
}

rt_status
rt_defaults_apply(rt_engine *engine, rt_error *err)
{
	rt_apply_options how = {.atomic = true, .by = RT_STR("config"), .compile = rt_compile,
				.check = check_new};
	const rt_project *value;
	rt_request *requests = NULL;
	rt_result *results;
	rt_status st = RT_OK;
	size_t count;
	rt_scope s;

	if (engine->defaults == NULL || engine->read_only)
		return RT_OK;
	value = rt_engine_value(engine);
	rt_scope_init(&s, engine->alloc);
	if (value->seq == 0) {
		count = list_requests(&s, value,
				      rt_json_parse(&s, rt_text_str(engine->defaults)), &requests);
		results = rt_scope_array(&s, count, sizeof(*results));
		if (!rt_ok(&s))
			count = 0;
		if (count > 0)
			st = rt_engine_apply_if(engine, requests, count, &how, results);
		if (st != RT_OK && st != RT_CONFLICT) { /* otherwise another process was faster */
			s.error = results[rt_results_cause(results, count)].error;
			rt_scope_note(&s, st);
		}
		for (size_t i = 0; i < count; i++)
			rt_result_deinit(&results[i]);
	}
	rt_object_unref(value);
	return rt_scope_end(&s, err);
}
