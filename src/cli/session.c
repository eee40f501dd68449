/* SPDX-License-Identifier: MIT
 *
 * The session of a run of the command line. */
#include "cli/cli.h"

void
rt_cli_use_args(rt_cli *cli, rt_args args)
{
	rt_session *s = &cli->session;

	cli->args = args;
	s->given = (rt_session_names){.db = rt_cli_flag_value(cli, "db"),
				      .project = rt_cli_flag_value(cli, "project"),
				      .discussion = rt_cli_flag_value(cli, "discussion"),
				      .take = rt_cli_flag_value(cli, "take"),
				      .step = rt_cli_flag_value(cli, "at-op"),
				      .glued_discussion = rt_args_glued(&args, "discussion")};
	s->command = args.command != NULL ? args.command->name : "retake";
	s->read_only = rt_cli_has(cli, "read-only");
	s->relaxed = rt_cli_has(cli, "relaxed");
}

rt_status
rt_cli_find_store(rt_cli *cli)
{
	return rt_session_find_store(&cli->session, &cli->error);
}

/* Whether a new store is mentioned depends on the command that makes it. */
static rt_status
opened(rt_cli *cli, bool was_made, rt_status st)
{
	const rt_command *command = cli->args.command;

	/* For people; what talks to apply wants nothing else to be said. */
	if (cli->session.made_store && !was_made)
		cli->say_made = !cli->json && command->group != RT_COMMANDS_LEARNING &&
				strcmp(command->name, "apply") != 0;
	return st;
}

rt_status
rt_cli_open_store(rt_cli *cli, rt_session_mode mode)
{
	bool was_made = cli->session.made_store;

	return opened(cli, was_made, rt_session_open_store(&cli->session, mode, &cli->error));
}

rt_status
rt_cli_open(rt_cli *cli, rt_session_mode mode)
{
	bool was_made = cli->session.made_store;

	return opened(cli, was_made, rt_session_open(&cli->session, mode, &cli->error));
}

rt_status
rt_cli_look(rt_cli *cli)
{
	return rt_session_look(&cli->session, &cli->error);
}

rt_status
rt_cli_config(rt_cli *cli, const rt_config **out)
{
	return rt_session_config(&cli->session, out, &cli->error);
}

void
rt_cli_close(rt_cli *cli)
{
	if (cli->session.is_session && cli->session.engine != NULL)
		rt_term_flush(&cli->out); /* hooks may take their time */
	rt_session_close(&cli->session);
}

void
rt_cli_say_made(rt_cli *cli)
{
	if (cli->say_made)
		rt_cli_note(cli, "made a new store: %s", cli->session.path.ptr);
	cli->say_made = false;
}

rt_status
rt_cli_disc(rt_cli *cli, const rt_disc **out)
{
	return rt_project_disc(cli->session.value, cli->session.place.disc, out, &cli->error);
}

rt_status
rt_cli_take(rt_cli *cli, const rt_take **out)
{
	const rt_disc *disc = NULL;
	rt_status st = rt_cli_disc(cli, &disc);

	if (st != RT_OK)
		return st;
	*out = rt_disc_take(disc, cli->session.place.take);
	return *out != NULL ? RT_OK : rt_cli_fail(cli, RT_NOT_FOUND, "there is no such take");
}
