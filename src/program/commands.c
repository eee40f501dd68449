/* SPDX-License-Identifier: MIT
 *
 * The table of commands, in the order of the help. A new command is a line here and a
 * row in a cmd_*.c. */
#include "program/commands.h"

#define COMMANDS(X) \
	X(ask) \
	X(again) \
	X(chat) \
	X(tui) \
	X(compact) \
	X(compress) \
	X(models) \
	X(comms) \
	X(replay) \
	X(show) \
	X(tree) \
	X(status) \
	X(search) \
	X(stats) \
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
	X(merge_take) \
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
	X(pin) \
	X(archive) \
	X(tag) \
	X(tracks) \
	X(projects) \
	X(serve) \
	X(user) \
	X(team) \
	X(member) \
	X(token) \
	X(invite) \
	X(quota) \
	X(link) \
	X(audit) \
	X(store) \
	X(prompt) \
	X(settings) \
	X(set) \
	X(roles) \
	X(files) \
	X(symbols) \
	X(track) \
	X(preset) \
	X(template_command) \
	X(import) \
	X(scan) \
	X(watch) \
	X(export) \
	X(apply) \
	X(hooks) \
	X(save) \
	X(backup) \
	X(copy) \
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

#define DECLARE(name) extern const rt_command rt_cli_##name;
COMMANDS(DECLARE)

#define POINT(name) &rt_cli_##name,
const rt_command *const rt_commands[] = {COMMANDS(POINT) NULL};
