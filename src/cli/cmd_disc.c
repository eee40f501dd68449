/* SPDX-License-Identifier: MIT
 *
 * new, use, rename, rm: discussions. */
#include "cli/cli.h"
#include "view/view.h"

#include <stdio.h>

/* --- new --- */

/* A name nobody has yet: "discussion-2" … */
static void
free_name(rt_cli *cli, char *room, size_t size)
{
	unsigned number = 2;

	do
		snprintf(room, size, "discussion-%u", number++);
	while (rt_project_disc_named(cli->session.value, rt_str_of(room)) != 0);
}

static rt_status
run_new(rt_cli *cli)
{
	const char *name = rt_cli_word(cli, 0);
	char room[40];
	rt_old_change change;
	rt_status st = rt_old_open(cli, RT_SESSION_CHANGE);

	if (st != RT_OK)
		return st;
	if (name == NULL) {
		free_name(cli, room, sizeof(room));
		name = room;
	}
	rt_old_change_init(cli, &change);
	st = rt_old_change_one(
		&change, &(rt_request){.op = RT_OP_DISCUSSION_NEW, .name = rt_str_of(name)});
	if (st == RT_REFUSED)
		rt_old_hint(cli, st, "Go to it: retake use NAME   All: retake ls");
	if (st == RT_OK)
		st = rt_old_change_say(&change, "Now in the new discussion \"%s\".", name);
	rt_old_change_deinit(&change);
	return st;
}

const rt_command rt_cli_new = {
	.name = "new",
	.group = RT_COMMANDS_CATALOGUE,
	.max_words = 1,
	.usage = "[NAME]",
	.summary = "start a discussion and go to it",
	.examples = "retake new db-choice",
	.ops = "discussion.new",
	.kinds = {RT_ARG_TEXT},
	.run_status = run_new,
};

/* --- use --- */

/* The step that deleted a discussion and still stands; 0: none did. */
static uint64_t
deleted_in(rt_cli *cli, rt_str name, uint64_t *out_before, bool *out_newest)
{
	rt_old_view view;
	yyjson_val *row;
	size_t i, count;
	uint64_t seq = 0;
	rt_buf quoted;

	*out_newest = false;
	*out_before = 0;
	rt_old_view_init(cli, &view);
	rt_buf_init(&quoted, cli->alloc, RT_BUF_UNLIMITED);
	rt_buf_add_byte(&quoted, '"');
	rt_buf_add_str(&quoted, name);
	rt_buf_add_byte(&quoted, '"');
	if (rt_old_view_read(cli, &view,
			     rt_view_history(cli->session.engine, cli->session.value,
					     cli->session.place.disc, 0, 0, &view.buf, NULL)) ==
	    RT_OK)
		yyjson_arr_foreach(view.root, i, count, row) {
			if (!rt_str_is(rt_json_str(rt_json_get(row, "op")), "discussion.delete") ||
			    yyjson_is_true(rt_json_get(row, "undone")) ||
			    rt_str_find(rt_json_str(rt_json_get(row, "what")), rt_buf_str(&quoted),
					0) == SIZE_MAX)
				continue;
			(void)rt_json_u64(rt_json_get(row, "seq"), &seq);
			(void)rt_json_u64(rt_json_get(row, "parent"), out_before);
			*out_newest = yyjson_is_true(rt_json_get(row, "current"));
			break;
		}
	rt_buf_deinit(&quoted);
	rt_old_view_deinit(&view);
	return seq;
}

/* A discussion that is not there, or not any more. */
static void
hint_use(rt_cli *cli, const char *name)
{
	const rt_cell *cell = NULL;
	rt_place place = {0, 0};
	bool newest = false;
	size_t i;
	uint64_t seq = 0, before = 0;
	rt_error none;

	if (rt_resolve_place(cli->session.value, rt_str_of(name), rt_str_of(NULL), &place, &none) ==
	    RT_OK)
		cell = rt_project_cell(cli->session.value, place.disc);
	/* By name only those are found that are there; of the others, the newest. */
	for (i = rt_project_disc_count(cli->session.value); cell == NULL && i > 0; i--) {
		const rt_cell *other = rt_project_cell(cli->session.value, (uint32_t)i);

		if (!other->present && rt_str_is(rt_cell_name(other), name)) {
			cell = other;
			place.disc = (uint32_t)i;
		}
	}
	if (cell == NULL || cell->present) {
		rt_old_hint(cli, RT_NOT_FOUND, "Discussions: retake ls   Start it: retake new NAME");
		return;
	}
	seq = deleted_in(cli, rt_cell_name(cell), &before, &newest);
	if (seq != 0 && newest)
		rt_old_hint(cli, RT_NOT_FOUND, "Bring it back: retake undo");
	else if (seq != 0 && before != 0)
		rt_old_hint(cli, RT_NOT_FOUND,
			    "It was deleted in step %llu. To set the list of discussions and the "
			    "settings back to before that: retake jump %llu --scope project   "
			    "To read it: retake -d d%u show",
			    (unsigned long long)seq, (unsigned long long)before, place.disc);
	else
		rt_old_hint(cli, RT_NOT_FOUND,
			    "How it came to that: retake history   To read it: retake -d d%u show",
			    place.disc);
	/* "undo brings it back" is only so right after. */
	if (!newest && strstr(cli->error.text, "; undo") != NULL)
		*strstr(cli->error.text, "; undo") = 0;
}

static rt_status
run_use(rt_cli *cli)
{
	const char *name = rt_cli_word(cli, 0);
	rt_old_change change;
	rt_status st;

	rt_old_change_init(cli, &change);
	st = rt_old_change_one(&change, &(rt_request){.op = RT_OP_DISCUSSION_SWITCH,
						      .target = rt_str_of(name)});
	if (st == RT_NOT_FOUND)
		hint_use(cli, name);
	if (st == RT_OK)
		st = rt_old_change_say(&change, "Now in discussion \"%s\".",
				       change.result->discussion[0] != 0 ? change.result->discussion
									 : name);
	rt_old_change_deinit(&change);
	return st;
}

const rt_command rt_cli_use = {
	.name = "use",
	.alias = "switch",
	.group = RT_COMMANDS_CATALOGUE,
	.min_words = 1,
	.max_words = 1,
	.usage = "DISCUSSION",
	.summary = "go to another discussion",
	.examples = "retake use db-choice",
	.ops = "discussion.switch",
	.kinds = {RT_ARG_DISC},
	.run_status = run_use,
};

/* --- rename --- */

static rt_status
run_rename(rt_cli *cli)
{
	const char *old = rt_cli_word(cli, 0), *name = rt_cli_word(cli, 1);
	rt_status st = rt_old_open(cli, RT_SESSION_CHANGE);
	rt_str which;

	if (st != RT_OK)
		return st;
	which = rt_str_of(old);
	if (name == NULL) {
		name = old;
		which = rt_cell_name(rt_project_cell(cli->session.value, cli->session.place.disc));
	}
	return rt_old_do(cli,
			 &(rt_request){.op = RT_OP_DISCUSSION_RENAME,
				       .target = which,
				       .name = rt_str_of(name)},
			 "The discussion is now called \"%s\".", name);
}

const rt_command rt_cli_rename = {
	.name = "rename",
	.group = RT_COMMANDS_CATALOGUE,
	.min_words = 1,
	.max_words = 2,
	.usage = "[DISCUSSION] NAME",
	.summary = "rename a discussion",
	.about = "Without DISCUSSION, the active one. Its takes keep their names.",
	.examples = "retake rename db-choice storage",
	.ops = "discussion.rename",
	.kinds = {RT_ARG_DISC, RT_ARG_TEXT},
	.run_status = run_rename,
};

/* --- rm --- */

static rt_status
run_rm(rt_cli *cli)
{
	const char *name = rt_cli_word(cli, 0);
	rt_place place;
	rt_status st = rt_old_open(cli, RT_SESSION_CHANGE);

	if (st == RT_OK) {
		st = rt_resolve_place(cli->session.value, rt_str_of(name), rt_str_of(NULL), &place,
				      &cli->error);
		if (st != RT_OK)
			rt_old_hint(cli, st, "Discussions: retake ls");
	}
	if (st != RT_OK)
		return st;
	return rt_old_do(cli,
			 &(rt_request){.op = RT_OP_DISCUSSION_DELETE, .target = rt_str_of(name)},
			 "Deleted discussion \"%s\" (still in history).", name);
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
	.about = "It is out of the catalogue and not lost: undo brings it back.",
	.examples = "retake rm scratch",
	.ops = "discussion.delete",
	.flags = rm_flags,
	.kinds = {RT_ARG_DISC},
	.run_status = run_rm,
};
