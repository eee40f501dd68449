/* SPDX-License-Identifier: MIT
 *
 * tui: the terminal UI, which `retake` without arguments opens on a terminal. */
#include "cli/cli.h"
#include "tui/tui.h"

static void
run_tui(rt_cli *cli)
{
	rt_tui_options options = {.session = &cli->session,
				  .commands = cli->commands,
				  .model = rt_cli_flag_value(cli, "model"),
				  .no_color = !cli->out.color};
	bool is_read_only = rt_cli_has(cli, "read-only");

	if (cli->json)
		rt_cli_fail(cli, RT_USAGE, "tui is interactive; for programs: retake show --json");
	if (!rt_cli_open(cli, is_read_only ? RT_SESSION_LOOK : RT_SESSION_CHANGE))
		return;
	rt_term_flush(&cli->err);
	if (rt_scope_note(&cli->s, rt_tui_run(&options, &cli->s.error)) == RT_REFUSED)
		rt_cli_hint(cli, "Line by line, or from a pipe: retake chat");
}

static const rt_flag tui_flags[] = {
	{"model", 'm', "MODEL", RT_ARG_TEXT, "PROVIDER/NAME; default: the model setting"},
	{NULL, 0, NULL, RT_ARG_TEXT, NULL},
};

const rt_command rt_cli_tui = {
	.name = "tui",
	.group = RT_COMMANDS_ASKING,
	.usage = "",
	.summary = "full-screen chat, tree and history; the default command",
	.about =
		"Select any entry with Alt+Up and change it with one key; Escape twice shows the "
		"tree, F1 all keys. To change keys, edit keys.toml: retake help keys. For dumb "
		"terminals and screen readers: retake chat.",
	.examples = "retake\nretake tui -m builtin/echo\nretake -d plans",
	.ops = "entry.append entry.reply",
	.flags = tui_flags,
	.run = run_tui,
};
