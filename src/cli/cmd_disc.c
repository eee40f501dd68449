/* SPDX-License-Identifier: MIT
 *
 * new, use, rename, rm: discussions. */
#include "cli/cli.h"

#include <stdio.h>

/* --- new --- */

/* A name that is not used yet: "discussion-2" … */
static const char *
free_name(rt_cli *cli)
{
	char *name = rt_scope_get(&cli->s, 40);
	unsigned number = 2;

	if (name == NULL)
		return "";
	do
		snprintf(name, 40, "discussion-%u", number++);
	while (rt_project_disc_named(cli->session.value, rt_str_of(name)) != 0);
	return name;
}

static void
run_new(rt_cli *cli)
{
	const char *name = rt_cli_word(cli, 0);

	if (!rt_cli_open(cli, RT_SESSION_CHANGE))
		return;
	if (name == NULL)
		name = free_name(cli);
	rt_cli_do(cli, &(rt_request){.op = RT_OP_DISCUSSION_NEW, .name = rt_str_of(name)},
		  "Now in the new discussion \"{name}\".");
	if (cli->s.status == RT_REFUSED)
		rt_cli_hint(cli, "Open it: retake use NAME   All: retake ls");
}

const rt_command rt_cli_new = {
	.name = "new",
	.group = RT_COMMANDS_CATALOGUE,
	.max_words = 1,
	.usage = "[NAME]",
	.summary = "start a discussion and switch to it",
	.examples = "retake new db-choice",
	.ops = "discussion.new",
	.kinds = {RT_ARG_TEXT},
	.run = run_new,
};

/* --- use --- */

/* The step that deleted a discussion and is in effect; seq 0: none. */
static rt_history_row
find_deletion(rt_cli *cli, rt_str name)
{
	rt_view view = rt_cli_view(cli);
	rt_history_row found = {0};
	rt_buf *quoted = rt_scope_buf(&cli->s);
	rt_history_cursor *c = rt_history_open(&view, NULL, 0);

	rt_buf_add_f(quoted, "\"%.*s\"", RT_STR_ARG(name));
	for (const rt_history_row *row; (row = rt_history_next(c)) != NULL;)
		if (rt_str_is(row->op, "discussion.delete") && !row->is_undone &&
		    rt_str_find(row->what, rt_buf_str(quoted), 0) != SIZE_MAX)
			return *row;
	return found;
}

/* The cell of a deleted discussion, of several with the name the newest; NULL: none. (Look-up by
 * name finds only existing ones.) */
static const rt_cell *
find_deleted(rt_cli *cli, const char *name, uint32_t *out_number)
{
	const rt_project *value = cli->session.value;
	rt_place place = {0, 0};
	rt_error ignored;

	if (rt_resolve_place(value, rt_str_of(name), rt_str_of(NULL), &place, &ignored) == RT_OK) {
		const rt_cell *cell = rt_project_cell(value, place.disc);

		*out_number = place.disc;
		return cell->present ? NULL : cell;
	}
	for (size_t i = rt_project_disc_count(value); i > 0; i--) {
		const rt_cell *cell = rt_project_cell(value, (uint32_t)i);

		*out_number = (uint32_t)i;
		if (!cell->present && rt_str_is(rt_cell_name(cell), name))
			return cell;
	}
	return NULL;
}

/* A discussion that does not exist, or not any more. */
static void
hint_use(rt_cli *cli, const char *name)
{
	char *advice = strstr(cli->s.error.text, "; undo");
	uint32_t number = 0;
	const rt_cell *cell = find_deleted(cli, name, &number);
	rt_history_row step;
	rt_scope outer;

	if (cell == NULL) {
		rt_cli_hint(cli, "Discussions: retake ls   Start it: retake new NAME");
		return;
	}
	rt_cli_begin_part(cli, &outer);
	step = find_deletion(cli, rt_cell_name(cell));
	(void)rt_cli_end_part(cli, &outer, NULL);
	if (step.seq != 0 && step.is_current)
		rt_cli_hint(cli, "Restore it: retake undo");
	else if (step.seq != 0 && step.parent != 0)
		rt_cli_hint(cli,
			    "It was deleted in step %llu. To restore the list of discussions and "
			    "the settings from before that:   retake jump %llu --scope project   "
			    "To read it: retake -d d%u show",
			    (unsigned long long)step.seq, (unsigned long long)step.parent, number);
	else
		rt_cli_hint(cli,
			    "How it was removed: retake history   To read it: retake -d d%u show",
			    number);
	/* "undo brings it back" is true only right after the deletion. */
	if (!step.is_current && advice != NULL)
		*advice = 0;
}

static void
run_use(rt_cli *cli)
{
	const char *name = rt_cli_word(cli, 0);

	rt_cli_do(cli, &(rt_request){.op = RT_OP_DISCUSSION_SWITCH, .target = rt_str_of(name)},
		  "Now in discussion \"{discussion}\".");
	if (cli->s.status == RT_NOT_FOUND)
		hint_use(cli, name);
}

const rt_command rt_cli_use = {
	.name = "use",
	.alias = "switch",
	.group = RT_COMMANDS_CATALOGUE,
	.min_words = 1,
	.max_words = 1,
	.usage = "DISCUSSION",
	.summary = "switch to another discussion",
	.examples = "retake use db-choice",
	.ops = "discussion.switch",
	.kinds = {RT_ARG_DISC},
	.run = run_use,
};

/* --- rename --- */

static void
run_rename(rt_cli *cli)
{
	const char *old = rt_cli_word(cli, 0), *name = rt_cli_word(cli, 1);

	if (rt_cli_open(cli, RT_SESSION_CHANGE))
		rt_cli_do(cli,
			  &(rt_request){.op = RT_OP_DISCUSSION_RENAME,
					.target = name != NULL ? rt_str_of(old)
							       : rt_cli_disc_name(cli),
					.name = rt_str_of(name != NULL ? name : old)},
			  "The discussion is now called \"{name}\".");
}

const rt_command rt_cli_rename = {
	.name = "rename",
	.group = RT_COMMANDS_CATALOGUE,
	.min_words = 1,
	.max_words = 2,
	.usage = "[DISCUSSION] NAME",
	.summary = "rename a discussion",
	.about = "DISCUSSION defaults to the active one. The names of its takes do not change.",
	.examples = "retake rename db-choice storage",
	.ops = "discussion.rename",
	.kinds = {RT_ARG_DISC, RT_ARG_TEXT},
	.run = run_rename,
};

/* --- rm --- */

static void
run_rm(rt_cli *cli)
{
	rt_scope *s = &cli->s;
	rt_str name = rt_str_of(rt_cli_word(cli, 0));
	rt_place place;

	if (!rt_cli_open(cli, RT_SESSION_CHANGE))
		return;
	if (RT_TRY(s, rt_resolve_place(cli->session.value, name, rt_str_of(NULL), &place,
				       &s->error)) != RT_OK)
		rt_cli_hint(cli, "Discussions: retake ls");
	rt_cli_do(cli, &(rt_request){.op = RT_OP_DISCUSSION_DELETE, .target = name},
		  "Deleted discussion \"{target}\" (still in history).");
}

static const rt_flag rm_flags[] = {
	{"yes", 'y', NULL, RT_ARG_TEXT, NULL}, /* once, it asked */
	{NULL, 0, NULL, RT_ARG_TEXT, NULL},
};

const rt_command rt_cli_rm = {
	.name = "rm",
	.group = RT_COMMANDS_CATALOGUE,
	.min_words = 1,
	.max_words = 1,
	.usage = "DISCUSSION",
	.summary = "delete a discussion",
	.about = "It is removed from the list but not lost: undo restores it.",
	.examples = "retake rm scratch",
	.ops = "discussion.delete",
	.flags = rm_flags,
	.kinds = {RT_ARG_DISC},
	.run = run_rm,
};
