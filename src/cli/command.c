/* SPDX-License-Identifier: MIT
 *
 * The table of commands, in the order of the help. A new command is a line here and a
 * file cmd_*.c. */
#include "cli/command.h"

#include "cli/help.h"

#define COMMANDS(X) \
	X(ask) \
	X(again) \
	X(chat) \
	X(tui) \
	X(compact) \
	X(compress) \
	X(models) \
	X(replay) \
	X(show) \
	X(tree) \
	X(status) \
	X(search) \
	X(context) \
	X(add) \
	X(insert) \
	X(edit) \
	X(role) \
	X(delete) \
	X(move) \
	X(mute) \
	X(unmute) \
	X(split) \
	X(merge) \
	X(view_command) \
	X(branch) \
	X(go) \
	X(takes) \
	X(diff) \
	X(label) \
	X(graft) \
	X(clear) \
	X(truncate) \
	X(promote) \
	X(extract) \
	X(undo) \
	X(redo) \
	X(history) \
	X(jump) \
	X(revert) \
	X(revisions) \
	X(reset) \
	X(purge) \
	X(ls) \
	X(new) \
	X(use) \
	X(rename) \
	X(rm) \
	X(projects) \
	X(serve) \
	X(prompt) \
	X(settings) \
	X(set) \
	X(roles) \
	X(files) \
	X(track) \
	X(preset) \
	X(import) \
	X(export) \
	X(apply) \
	X(hooks) \
	X(save) \
	X(backup) \
	X(restore) \
	X(fsck) \
	X(repair) \
	X(doctor) \
	X(checkpoint) \
	X(index_command) \
	X(demo) \
	X(help) \
	X(completion) \
	X(complete)

#define DECLARE(name) extern const rt_cli_command rt_cli_##name;
COMMANDS(DECLARE)

#define POINT(name) &rt_cli_##name,
const rt_cli_command *const rt_cli_commands[] = {COMMANDS(POINT) NULL};

const char *const rt_cli_group_names[RT_CLI_GROUP_COUNT] = {
	[RT_CLI_ASKING] = "Asking models",
	[RT_CLI_LOOKING] = "Looking",
	[RT_CLI_WRITING] = "Writing",
	[RT_CLI_BRANCHING] = "Takes and the tree",
	[RT_CLI_UNDOING] = "History",
	[RT_CLI_CATALOGUE] = "Discussions and projects",
	[RT_CLI_SETTINGS] = "Prompt and settings",
	[RT_CLI_FILES] = "In and out",
	[RT_CLI_MAINTENANCE] = "Care",
	[RT_CLI_LEARNING] = "Learning",
};

const rt_cli_command *
rt_cli_command_named(const char *name)
{
	size_t i;

	for (i = 0; rt_cli_commands[i] != NULL; i++) {
		const rt_cli_command *c = rt_cli_commands[i];

		if (strcmp(c->name, name) == 0 || (c->alias != NULL && strcmp(c->alias, name) == 0))
			return c;
	}
	return NULL;
}

const char *
rt_cli_command_nearest(const char *name, bool topics)
{
	static const char *const made[] = {"events", "formats", "keys", "operations"}; /* topics of tables */
	const rt_cli_topic *topic = rt_cli_topics;
	size_t best = SIZE_MAX, size = strlen(name), i, d;
	const char *found = NULL;

	for (i = 0; rt_cli_commands[i] != NULL; i++) {
		const rt_cli_command *c = rt_cli_commands[i];

		if (c->traits & RT_CLI_HIDDEN)
			continue;
		d = rt_cli_distance(name, c->name);
		if (d < best) {
			best = d;
			found = c->name;
		}
	}
	for (; topics && topic->name != NULL; topic++) {
		d = rt_cli_distance(name, topic->name);
		if (d < best) {
			best = d;
			found = topic->name;
		}
	}
	for (i = 0; topics && i < sizeof(made) / sizeof(made[0]); i++) {
		d = rt_cli_distance(name, made[i]);
		if (d < best) {
			best = d;
			found = made[i];
		}
	}
	return rt_cli_is_near(best, size) ? found : NULL;
}
