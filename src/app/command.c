/* SPDX-License-Identifier: MIT */
#include "app/command.h"

const char *const rt_command_group_names[RT_COMMAND_GROUP_COUNT] = {
	[RT_COMMANDS_ASKING] = "Asking models",
	[RT_COMMANDS_LOOKING] = "Viewing",
	[RT_COMMANDS_WRITING] = "Writing",
	[RT_COMMANDS_BRANCHING] = "Takes and tree",
	[RT_COMMANDS_UNDOING] = "History",
	[RT_COMMANDS_CATALOGUE] = "Discussions and projects",
	[RT_COMMANDS_SETTINGS] = "Prompt and settings",
	[RT_COMMANDS_FILES] = "Import and export",
	[RT_COMMANDS_MAINTENANCE] = "Maintenance",
	[RT_COMMANDS_LEARNING] = "Getting started",
};

const rt_command *
rt_command_named(const rt_command *const *commands, const char *name)
{
	for (size_t i = 0; commands[i] != NULL; i++) {
		const rt_command *c = commands[i];

		if (strcmp(c->name, name) == 0 || (c->alias != NULL && strcmp(c->alias, name) == 0))
			return c;
	}
	return NULL;
}

const char *
rt_command_nearest(const rt_command *const *commands, const char *name)
{
	const char *found = NULL;
	size_t nearest = SIZE_MAX;

	for (size_t i = 0; commands[i] != NULL; i++) {
		size_t distance = rt_args_distance(name, commands[i]->name);

		if (!(commands[i]->traits & RT_COMMAND_HIDDEN) && distance < nearest) {
			nearest = distance;
			found = commands[i]->name;
		}
	}
	return rt_args_is_near(nearest, strlen(name)) ? found : NULL;
}
