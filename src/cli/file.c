/* SPDX-License-Identifier: MIT
 *
 * Files and the editor, with what to do when something is wrong. */
#include "app/editor.h"
#include "cli/cli.h"

static void
hint_unreadable(rt_cli *cli, rt_status st, const char *path)
{
	if (strcmp(path, "-") == 0)
		path = "standard input";
	if (st == RT_NOT_FOUND)
		rt_cli_hint(cli, st, "Look at the name. More: retake help %s",
			    cli->args.command->name);
	else if (st == RT_IO || st == RT_FULL || st == RT_REFUSED)
		rt_cli_hint(cli, st, "Look at its permissions: ls -l %s", path);
}

rt_status
rt_cli_read_file(rt_cli *cli, const char *path, rt_buf *out)
{
	rt_status st = rt_files_read(path, out, &cli->error);

	hint_unreadable(cli, st, path);
	return st;
}

rt_status
rt_cli_read_whole_file(rt_cli *cli, const char *path, rt_buf *out)
{
	rt_status st = rt_files_read_whole(path, out, &cli->error);

	if (st == RT_BUSY)
		rt_cli_hint(cli, st, "Try again when the other program is done with it.");
	hint_unreadable(cli, st, path);
	return st;
}

rt_status
rt_cli_write_file(rt_cli *cli, const char *path, rt_str bytes, rt_files_write_mode mode)
{
	rt_status st = rt_files_write(cli->env, path, bytes, mode, &cli->error);

	if (st == RT_REFUSED)
		rt_cli_hint(cli, st, "To replace it, add --force.");
	else if (st == RT_NOT_FOUND)
		rt_cli_hint(cli, st, "Make the folder first, or name another one.");
	else
		hint_unreadable(cli, st, path);
	return st;
}

bool
rt_cli_may_edit(const rt_cli *cli)
{
	return rt_cli_has(cli, "editor") || (!cli->no_input && rt_host_can_ask());
}

static rt_status
nobody_to_ask(rt_cli *cli)
{
	rt_cli_hint(cli, RT_USAGE,
		    strcmp(cli->args.command->name, "prompt") == 0
			    ? "To open the editor all the same: retake prompt edit -e   "
			      "To give the text: retake prompt set TEXT"
			    : "Give the text, a file with -f FILE, or \"-\" for standard input.   "
			      "To open the editor all the same: -e");
	return rt_cli_fail(cli, RT_USAGE, "%s has no text, and there is nobody to ask for it",
			   cli->args.command->name);
}

rt_status
rt_cli_edit_text(rt_cli *cli, const char *name, rt_buf *text, rt_buf *path)
{
	return rt_cli_may_edit(cli) ? rt_editor_run(&cli->session, name, text, path, &cli->error)
				    : nobody_to_ask(cli);
}

rt_status
rt_cli_edit_one(rt_cli *cli, const char *name, rt_buf *text, rt_buf *path)
{
	return rt_cli_may_edit(cli)
		       ? rt_editor_run_one(&cli->session, name, text, path, &cli->error)
		       : nobody_to_ask(cli);
}
