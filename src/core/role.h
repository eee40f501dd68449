/* SPDX-License-Identifier: MIT
 *
 * Roles: the author of an entry. Any text is a role; a project has a list of roles to choose from. */
#ifndef RT_CORE_ROLE_H
#define RT_CORE_ROLE_H

#include "core/project.h"

/* The default list, as a JSON array. */
extern const char rt_default_roles[];
/* The project's list as a JSON array; borrowed. */
rt_str rt_project_roles(const rt_project *project);
bool rt_role_is_user(rt_str role);
bool rt_role_is_assistant(rt_str role);
/* Is its text shown as source unless read mode is set? Of the user and of tools. */
bool rt_role_is_source(rt_str role);
/* The role of the project's list that a word means: user and human mean User; ai, assistant and
 * model mean AI; system means System; toolResult, tool_result and function mean Tool, in the list's
 * own spelling. A word that is in the list, or that means no role of it, is returned unchanged.
 * Borrows from both. */
rt_str rt_role_meant(const rt_project *project, rt_str word);
/* The roles and the words for them, in turn, from *io_at = 0 on; false: no more. */
bool rt_role_next_word(const rt_project *project, size_t *io_at, rt_str *out);
/* The label of an entry's role: the role that is meant; of a tool, "Tool". */
rt_str rt_role_label(const rt_project *project, rt_str role);
/* Do two roles or words mean the same? */
bool rt_role_same(const rt_project *project, rt_str a, rt_str b);
/* The filter by role: this role and User. only empty: every role passes. */
bool rt_role_passes(const rt_project *project, rt_str role, rt_str only);

#endif
