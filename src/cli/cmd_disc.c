/* SPDX-License-Identifier: MIT
 *
 * new, use, rename, rm: discussions. */
#include "cli/cli.h"

#include <stdio.h>

/* --- new --- */

/* A name nobody has yet: "discussion-2" … */
static void
free_name(rt_cli *cli, char *room, size_t size)
{
	unsigned number = 2;

	do
		snprintf(room, size, "discussion-%u", number++);
	while (rt_project_disc_named(cli->value, rt_str_of(room)) != 0);
}

static rt_status
run_new(rt_cli *cli)
{
	const char *name = rt_cli_word(cli, 0);
	char room[40];
	rt_cli_ask ask;
	rt_status st = rt_cli_open(cli, RT_CLI_CHANGE);

	if (st != RT_OK)
		return st;
	if (name == NULL) {
		free_name(cli, room, sizeof(room));
		name = room;
	}
	rt_cli_ask_init(cli, &ask);
	st = rt_cli_ask_simple(&ask, "discussion.new", "name", name, NULL);
	if (st == RT_REFUSED)
		rt_cli_hint(cli, st, "Go to it: retake use NAME   All: retake ls");
	if (st == RT_OK)
		st = rt_cli_ask_say(&ask, "Now in the new discussion \"%s\".", name);
	rt_cli_ask_deinit(&ask);
	return st;
}

const rt_cli_command rt_cli_new = {
	.name = "new",
	.group = RT_CLI_CATALOGUE,
	.max_words = 1,
	.usage = "[NAME]",
	.summary = "start a discussion and go to it",
	.examples = "retake new db-choice",
	.ops = "discussion.new",
	.kinds = {RT_CLI_TEXT},
	.run = run_new,
};

/* --- use --- */

static rt_status
run_use(rt_cli *cli)
{
	const char *name = rt_cli_word(cli, 0);
	rt_cli_ask ask;
	rt_status st;

	rt_cli_ask_init(cli, &ask);
	st = rt_cli_ask_simple(&ask, "discussion.switch", "discussion", name, NULL);
	if (st == RT_NOT_FOUND)
		rt_cli_hint(cli, st, "Discussions: retake ls   Start it: retake new NAME");
	if (st == RT_OK)
		st = rt_cli_ask_say(&ask, "Now in discussion \"%s\".",
				    ask.result->discussion[0] != 0 ? ask.result->discussion : name);
	rt_cli_ask_deinit(&ask);
	return st;
}

const rt_cli_command rt_cli_use = {
	.name = "use",
	.alias = "switch",
	.group = RT_CLI_CATALOGUE,
	.min_words = 1,
	.max_words = 1,
	.usage = "DISCUSSION",
	.summary = "go to another discussion",
	.examples = "retake use db-choice",
	.ops = "discussion.switch",
	.kinds = {RT_CLI_DISC},
	.run = run_use,
};

/* --- rename --- */

static rt_status
run_rename(rt_cli *cli)
{
	const char *old = rt_cli_word(cli, 0), *name = rt_cli_word(cli, 1);
	rt_cli_ask ask;
	rt_status st = rt_cli_open(cli, RT_CLI_CHANGE);
	rt_str which;

	if (st != RT_OK)
		return st;
	which = rt_str_of(old);
	if (name == NULL) {
		name = old;
		which = rt_text_str(rt_project_cell(cli->value, cli->place.disc)->name);
	}
	rt_cli_ask_init(cli, &ask);
	rt_cli_ask_op(&ask, "discussion.rename");
	rt_cli_ask_text(&ask, "discussion", which);
	rt_cli_ask_text(&ask, "name", rt_str_of(name));
	st = rt_cli_ask_run(&ask);
	if (st == RT_OK)
		st = rt_cli_ask_say(&ask, "The discussion is now called \"%s\".", name);
	rt_cli_ask_deinit(&ask);
	return st;
}

const rt_cli_command rt_cli_rename = {
	.name = "rename",
	.group = RT_CLI_CATALOGUE,
	.min_words = 1,
	.max_words = 2,
	.usage = "[DISCUSSION] NAME",
	.summary = "rename a discussion",
	.about = "Without DISCUSSION, the active one. Its takes keep their names.",
	.examples = "retake rename db-choice storage",
	.ops = "discussion.rename",
	.kinds = {RT_CLI_DISC, RT_CLI_TEXT},
	.run = run_rename,
};

/* --- rm --- */

static rt_status
run_rm(rt_cli *cli)
{
	const char *name = rt_cli_word(cli, 0);
	char question[400];
	rt_place place;
	rt_cli_ask ask;
	rt_status st = rt_cli_open(cli, RT_CLI_CHANGE);

	if (st == RT_OK) {
		st = rt_resolve_place(cli->value, rt_str_of(name), rt_str_of(NULL), &place,
				      &cli->error);
		if (st != RT_OK)
			rt_cli_hint(cli, st, "Discussions: retake ls");
	}
	if (st != RT_OK)
		return st;
	snprintf(question, sizeof(question), "Delete discussion \"%.200s\" (undo brings it back)?",
		 name);
	st = rt_cli_confirm(cli, question);
	if (st != RT_OK)
		return st;
	rt_cli_ask_init(cli, &ask);
	st = rt_cli_ask_simple(&ask, "discussion.delete", "discussion", name, NULL);
	if (st == RT_OK)
		st = rt_cli_ask_say(&ask, "Deleted discussion \"%s\" (still in history).", name);
	rt_cli_ask_deinit(&ask);
	return st;
}

static const rt_cli_flag rm_flags[] = {
	{"yes", 'y', NULL, RT_CLI_TEXT, "do not ask"},
	{NULL, 0, NULL, RT_CLI_TEXT, NULL},
};

const rt_cli_command rt_cli_rm = {
	.name = "rm",
	.group = RT_CLI_CATALOGUE,
	.min_words = 1,
	.max_words = 1,
	.usage = "DISCUSSION [--yes]",
	.summary = "delete a discussion",
	.about = "Asks on a terminal; elsewhere it needs --yes. Undo brings it back.",
	.examples = "retake rm scratch",
	.ops = "discussion.delete",
	.flags = rm_flags,
	.kinds = {RT_CLI_DISC},
	.run = run_rm,
};
