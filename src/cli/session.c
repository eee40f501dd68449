/* SPDX-License-Identifier: MIT
 *
 * The session of a command. */
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
				      .step = rt_cli_flag_value(cli, "at-step"),
				      .glued_discussion = rt_args_glued(&args, "discussion")};
	s->command = args.command != NULL ? args.command->name : "retake";
	s->read_only = rt_cli_has(cli, "read-only");
	s->relaxed = rt_cli_has(cli, "relaxed");
}

bool
rt_cli_find_store(rt_cli *cli)
{
	return RT_TRY(&cli->s, rt_session_find_store(&cli->session, &cli->s.error)) == RT_OK;
}

/* Whether a new store is mentioned depends on the command that creates it: programs that use apply
 * expect only results. */
static bool
opened(rt_cli *cli, bool had_made)
{
	const rt_command *command = cli->args.command;

	if (cli->session.made_store && !had_made)
		cli->say_made = !cli->json && command->group != RT_COMMANDS_LEARNING &&
				strcmp(command->name, "apply") != 0;
	return rt_ok(&cli->s);
}

bool
rt_cli_open_store(rt_cli *cli, rt_session_mode mode)
{
	bool had_made = cli->session.made_store;

	RT_TRY(&cli->s, rt_session_open_store(&cli->session, mode, &cli->s.error));
	return opened(cli, had_made);
}

bool
rt_cli_open(rt_cli *cli, rt_session_mode mode)
{
	bool had_made = cli->session.made_store;

	RT_TRY(&cli->s, rt_session_open(&cli->session, mode, &cli->s.error));
	return opened(cli, had_made);
}

bool
rt_cli_look(rt_cli *cli)
{
	return RT_TRY(&cli->s, rt_session_look(&cli->session, &cli->s.error)) == RT_OK;
}

const rt_config *
rt_cli_config(rt_cli *cli)
{
	const rt_config *config = NULL;

	RT_TRY(&cli->s, rt_session_config(&cli->session, &config, &cli->s.error));
	return config;
}

void
rt_cli_close(rt_cli *cli)
{
	if (cli->session.is_session && cli->session.engine != NULL)
		rt_term_flush(&cli->out); /* hooks may take long */
	rt_session_close(&cli->session);
	cli->ids = NULL; /* of its project */
}

void
rt_cli_say_made(rt_cli *cli)
{
	if (cli->say_made)
		rt_cli_note(cli, "created a new store: %s", rt_session_shown(&cli->session));
	cli->say_made = false;
}

const rt_disc *
rt_cli_disc(rt_cli *cli)
{
	const rt_disc *disc = NULL;

	RT_TRY(&cli->s, rt_project_disc(cli->session.value, cli->session.place.disc, &disc,
					&cli->s.error));
	return rt_ok(&cli->s) ? disc : NULL;
}

const rt_take *
rt_cli_take(rt_cli *cli)
{
	const rt_disc *disc = rt_cli_disc(cli);
	const rt_take *take = disc == NULL ? NULL : rt_disc_take(disc, cli->session.place.take);

	if (take == NULL)
		rt_cli_fail(cli, RT_NOT_FOUND, "take not found");
	return take;
}

size_t
rt_cli_count(rt_cli *cli)
{
	const rt_take *take = rt_cli_take(cli);

	return take == NULL ? 0 : rt_seq_count(take->slots);
}

rt_str
rt_cli_disc_name(const rt_cli *cli)
{
	return rt_cell_name(rt_project_cell(cli->session.value, cli->session.place.disc));
}

const char *
rt_cli_disc_title(rt_cli *cli, uint32_t number)
{
	rt_view view = rt_cli_view(cli);
	rt_buf *out = rt_scope_buf(&cli->s), *found = rt_scope_buf(&cli->s);
	const rt_cell *cell = rt_ok(&cli->s) ? rt_project_cell(cli->session.value, number) : NULL;
	rt_str title, name;
	rt_error ignored;

	if (cell == NULL)
		return "";
	title = rt_disc_title(&view, number);
	name = rt_cell_name(cell);
	if (!rt_ok(&cli->s))
		return "";
	rt_buf_add_f(out, "\"%.*s\"", RT_STR_ARG(title));
	if (!rt_str_eq(title, name) &&
	    rt_session_similar(&cli->session, title, found, &ignored) != RT_OK)
		rt_buf_add_f(out, " (%.*s)", RT_STR_ARG(name));
	cli->session.hint[0] = 0;
	return rt_scope_str(&cli->s, out).ptr;
}

rt_view
rt_cli_view(rt_cli *cli)
{
	return (rt_view){&cli->s, cli->session.engine, cli->session.value, cli->session.place};
}

rt_entry_cursor *
rt_cli_entries(rt_cli *cli, rt_cli_span span)
{
	rt_view view = rt_cli_view(cli);
	rt_window window = {.from = span.first, .count = span.last - span.first + 1};

	return rt_ok(&cli->s) ? rt_entries_open(&view, &window) : NULL;
}
