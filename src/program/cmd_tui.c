/* SPDX-License-Identifier: MIT
 *
 * tui: the terminal UI; what `retake` alone opens on a terminal. */
#include "cli/cli.h"
#include "tui/tui.h"

static rt_status
run_tui(rt_cli *cli)
{
	rt_tui_options options = {.session = &cli->session,
				  .commands = cli->commands,
				  .model = rt_cli_flag_value(cli, "model"),
				  .no_color = !cli->out.color};
	rt_status st;

	if (cli->json)
		return rt_old_fail(cli, RT_USAGE,
				   "tui is for people; for programs: retake show --json");
	st = rt_old_open(cli, rt_cli_has(cli, "read-only") ? RT_SESSION_LOOK : RT_SESSION_CHANGE);
	if (st != RT_OK)
		return st;
	rt_term_flush(&cli->err);
	return rt_tui_run(&options, &cli->error);
}

static const rt_flag tui_flags[] = {
	{"model", 'm', "MODEL", RT_ARG_TEXT, "PROVIDER/NAME; default: the setting model"},
	{NULL, 0, NULL, RT_ARG_TEXT, NULL},
};

const rt_command rt_cli_tui = {
	.name = "tui",
	.group = RT_COMMANDS_ASKING,
	.usage = "",
	.summary = "chat, tree and history on the whole terminal; what retake alone opens",
	.about =
		"Every entry can be selected (Alt+Up) and then changed with one key; Escape twice shows "
		"the tree, F1 all keys. Keys are changed in keys.toml: retake help keys. For dumb "
		"terminals and screen readers there is retake chat.",
	.examples = "retake\nretake tui -m builtin/echo\nretake -d plans",
	.ops = "entry.append entry.reply",
	.flags = tui_flags,
	.run_status = run_tui,
};
