/* SPDX-License-Identifier: MIT
 *
 * Roles are compared without regard to case: formats and providers write them differently. */
#include "core/role.h"

const char rt_default_roles[] = "[\"User\",\"AI\",\"Vendor API\",\"System\"]";

rt_str
rt_project_roles(const rt_project *project)
{
	rt_str roles = rt_fields_get(project->fields, RT_STR("roles"));

	return roles.ptr != NULL ? roles : rt_str_of(rt_default_roles);
}

bool
rt_role_is_user(rt_str role)
{
	return rt_str_eq_nocase(role, RT_STR("user"));
}

bool
rt_role_is_assistant(rt_str role)
{
	return rt_str_eq_nocase(role, RT_STR("ai")) || rt_str_eq_nocase(role, RT_STR("assistant")) ||
	       rt_str_eq_nocase(role, RT_STR("model"));
}
