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

bool
rt_role_is_source(rt_str role)
{
	return rt_role_is_user(role) || rt_str_eq_nocase(role, RT_STR("tool")) ||
	       rt_str_eq_nocase(role, RT_STR("toolResult"));
}

/* ---- one vocabulary ---- */

static const char *const meanings[][5] = {
	{"User", "human", NULL},
	{"AI", "assistant", "model", NULL},
	{"System", NULL},
	{"Tool", "toolResult", "tool_result", "function", NULL},
};

/* The next name of a JSON array of strings, as it is written there. */
static bool
next_name(rt_str *json, rt_str *out)
{
	size_t from = 0, end;

	while (from < json->size && json->ptr[from] != '"')
		from++;
	for (end = from + 1; end < json->size && json->ptr[end] != '"'; end++)
		if (json->ptr[end] == '\\')
			end++;
	if (end >= json->size)
		return false;
	*out = rt_str_at(json->ptr + from + 1, end - from - 1);
	*json = rt_str_skip(*json, end + 1);
	return true;
}

/* Words of a row mean the same; NULL: it is not in the table. */
static const char *const *
meaning_of(rt_str word)
{
	for (size_t i = 0; i < sizeof(meanings) / sizeof(meanings[0]); i++)
		for (const char *const *each = meanings[i]; *each != NULL; each++)
			if (rt_str_eq_nocase(word, rt_str_of(*each)))
				return meanings[i];
	return NULL;
}

rt_str
rt_role_meant(const rt_project *project, rt_str word)
{
	const char *const *meaning = meaning_of(word);
	rt_str roles = rt_project_roles(project), name, found = word;

	while (meaning != NULL && next_name(&roles, &name)) {
		if (rt_str_eq(name, word))
			return word;
		if (found.ptr == word.ptr && meaning_of(name) == meaning)
			found = name;
	}
	return found;
}

bool
rt_role_next_word(const rt_project *project, size_t *io_at, rt_str *out)
{
	rt_str roles = rt_project_roles(project);
	size_t at = (*io_at)++;

	while (next_name(&roles, out))
		if (at-- == 0)
			return true;
	for (size_t i = 0; i < sizeof(meanings) / sizeof(meanings[0]); i++)
		for (const char *const *each = meanings[i]; *each != NULL; each++)
			if (at-- == 0) {
				*out = rt_str_of(*each);
				return true;
			}
	return false;
}

rt_str
rt_role_label(const rt_project *project, rt_str role)
{
	const char *const *meaning = meaning_of(role);
	rt_str found = rt_role_meant(project, role);

	/* file formats have several names for it */
	return found.ptr == role.ptr && meaning != NULL && meaning == meaning_of(RT_STR("Tool"))
		       ? rt_str_of(meaning[0])
		       : found;
}

bool
rt_role_same(const rt_project *project, rt_str a, rt_str b)
{
	return rt_str_eq(a, b) ||
	       rt_str_eq_nocase(rt_role_label(project, a), rt_role_label(project, b));
}

bool
rt_role_passes(const rt_project *project, rt_str role, rt_str only)
{
	return only.size == 0 || rt_role_is_user(role) || rt_role_same(project, role, only);
}
