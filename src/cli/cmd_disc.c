/* SPDX-License-Identifier: MIT
 *
 * new, use, rename, rm, pin, archive, tag: discussions. */
#include "cli/cli.h"

#include <stdio.h>

/* --- new --- */

static void
run_new(rt_cli *cli)
{
	const char *name = rt_cli_word(cli, 0);
	char generated[RT_SESSION_NAME_ROOM];

	if (!rt_cli_open(cli, RT_SESSION_CHANGE))
		return;
	if (name == NULL) {
		rt_session_free_name(cli->session.value, generated);
		name = generated;
	}
	rt_cli_do(cli, &(rt_request){.op = RT_OP_DISCUSSION_NEW, .name = rt_str_of(name)},
		  "Now in the new discussion \"{name}\".");
	if (cli->s.status == RT_REFUSED) {
		rt_buf word;

		rt_buf_init(&word, cli->alloc, 4096);
		rt_args_add_quoted(&word, name);
		rt_cli_hint(cli, "Open it: retake use %.300s   All: retake ls",
			    word.ptr != NULL ? word.ptr : "NAME");
		rt_buf_deinit(&word);
	}
}

const rt_command rt_cli_new = {
	.name = "new",
	.group = RT_COMMANDS_CATALOGUE,
	.max_words = 1,
	.usage = "[NAME]",
	.summary = "start a discussion and switch to it",
	.examples = "retake new ideas",
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

/* Is it a take of the discussion in view? */
static bool
is_take(const rt_cli *cli, const char *name)
{
	const rt_disc *disc = NULL;

	return rt_project_disc(cli->session.value, cli->session.place.disc, &disc, NULL) == RT_OK &&
	       rt_disc_take_named(disc, rt_str_of(name)) != 0;
}

/* A discussion that does not exist, or not any more. */
static void
hint_use(rt_cli *cli, const char *name)
{
	uint32_t number = 0;
	const rt_cell *cell = find_deleted(cli, name, &number);
	rt_history_row step;
	rt_scope outer;

	if (cell == NULL && is_take(cli, name)) {
		rt_cli_hint(cli, "That is a take. Switch to it: retake takes switch %s", name);
		return;
	}
	if (cell == NULL) {
		if (cli->session.hint[0] == 0)
			rt_cli_hint(cli, "Discussions: retake ls   Start it: retake new NAME");
		return;
	}
	rt_cli_begin_part(cli, &outer);
	step = find_deletion(cli, rt_cell_name(cell));
	(void)rt_cli_end_part(cli, &outer, NULL);
	if (step.seq != 0 && step.is_current)
		rt_cli_hint(cli, "Restore it: retake undo");
	else if (step.seq != 0)
		rt_cli_hint(cli,
			    "It was deleted in step %llu. Restore it: retake revert %llu   "
			    "Read it: retake -d d%u show",
			    (unsigned long long)step.seq, (unsigned long long)step.seq, number);
	else
		rt_cli_hint(cli,
			    "The step that removed it: retake history   To read it: retake -d d%u show",
			    number);
	/* "undo restores it" is only true right after the deletion. */
	if (!step.is_current && cli->s.error.about == RT_ABOUT_DELETED)
		rt_error_rewrite(&cli->s.error, NULL, "discussion \"%s\" was deleted", name);
}

/* The active one before this effect, if it exists and is another one now; else 0. */
static uint32_t
active_before(rt_cli *cli, const rt_effect *e, bool discs)
{
	const rt_project *value = cli->session.value;
	const rt_disc *disc = rt_cli_disc(cli);
	uint64_t number = 0;

	if (disc == NULL || e->kind != RT_EFFECT_SET || !rt_str_is(e->key, "active") ||
	    e->disc != (discs ? 0 : cli->session.place.disc) ||
	    !rt_json_u64(rt_json_parse(&cli->s, e->before), &number) || number == 0)
		return 0;
	if (discs)
		return number <= rt_project_disc_count(value) && number != value->active &&
				       rt_project_cell(value, (uint32_t)number)->present
			       ? (uint32_t)number
			       : 0;
	return number <= rt_disc_take_count(disc) && number != disc->active &&
			       rt_disc_take(disc, (uint32_t)number)->present
		       ? (uint32_t)number
		       : 0;
}

const char *
rt_cli_previous(rt_cli *cli, bool discs)
{
	uint32_t found = 0;
	rt_view view;
	rt_history_cursor *c;

	if (!rt_cli_open(cli, RT_SESSION_CHANGE))
		return NULL;
	view = rt_cli_view(cli);
	c = rt_history_open(&view, NULL, 0);
	for (const rt_history_row *row; found == 0 && (row = rt_history_next(c)) != NULL;) {
		const rt_step_row *step = row->is_undone || row->seq == 0 ? NULL
									   : rt_step_read(&view, row->seq);

		for (size_t i = 0; step != NULL && found == 0 && i < step->record.effect_count; i++)
			found = active_before(cli, &step->record.effects[i], discs);
	}
	if (found == 0 && rt_ok(&cli->s)) {
		rt_cli_fail(cli, RT_NOT_FOUND, "there is no previous %s", discs ? "discussion" : "take");
		rt_cli_hint(cli, discs ? "Discussions: retake ls" : "Takes: retake takes");
	}
	if (found == 0)
		return NULL;
	/* Not by its id, which another one may have as its name (C29). */
	return discs ? rt_scope_copy(&cli->s, rt_cell_name(rt_project_cell(cli->session.value, found))).ptr
		     : rt_disc_take(rt_cli_disc(cli), found)->name->ptr;
}

/* The name of the discussion that a word means (rt_session_similar): exact names and ids, deleted
 * discussions and takes are left unchanged. */
static const char *
name_to_use(rt_cli *cli, const char *name)
{
	rt_buf *found = rt_scope_buf(&cli->s);
	rt_place place = {0, 0};
	rt_error ignored;
	uint32_t number = 0;

	if (name[0] == 0 || !rt_cli_open(cli, RT_SESSION_CHANGE) ||
	    rt_resolve_place(cli->session.value, rt_str_of(name), rt_str_of(NULL), &place, &ignored) !=
		    RT_NOT_FOUND ||
	    find_deleted(cli, name, &number) != NULL || is_take(cli, name))
		return name;
	RT_TRY(&cli->s, rt_session_similar(&cli->session, rt_str_of(name), found, &cli->s.error));
	return rt_ok(&cli->s) ? rt_scope_str(&cli->s, found).ptr : name;
}

static void
run_use(rt_cli *cli)
{
	const char *name = rt_cli_word(cli, 0);

	if (strcmp(name, "-") == 0)
		name = rt_cli_previous(cli, true);
	else
		name = name_to_use(cli, name);
	if (name == NULL)
		return;
	const rt_result *result = rt_cli_execute(
		cli, &(rt_request){.op = RT_OP_DISCUSSION_SWITCH, .target = rt_str_of(name)}, 1);

	if (cli->s.status == RT_NOT_FOUND)
		hint_use(cli, name);
	if (rt_ok(&cli->s))
		rt_cli_say_result(cli, result, "Now in discussion %s.",
				  rt_cli_disc_title(cli, cli->session.value->active));
}

const rt_command rt_cli_use = {
	.name = "use",
	.alias = "switch",
	.unchanged = "this discussion is already active. To switch takes: retake takes switch NAME",
	.group = RT_COMMANDS_CATALOGUE,
	.min_words = 1,
	.max_words = 1,
	.usage = "DISCUSSION",
	.summary = "switch to another discussion",
	.about = "DISCUSSION is a name, an id, a title, or an unambiguous beginning of a name or title, as in "
		 "rename, rm, pin and archive. Case is ignored. \"-\" is the previous one.",
	.examples = "retake use db-choice\nretake use -",
	.ops = "discussion.switch",
	.kinds = {RT_ARG_DISC},
	.run = run_use,
};

/* --- rename --- */

static void
run_rename(rt_cli *cli)
{
	const char *old = rt_cli_word(cli, 0), *name = rt_cli_word(cli, 1);

	if (!rt_cli_open(cli, RT_SESSION_CHANGE))
		return;
	if (name != NULL)
		old = name_to_use(cli, old);
	rt_cli_do(cli,
		  &(rt_request){.op = RT_OP_DISCUSSION_RENAME,
				.target = name != NULL ? rt_str_of(old) : rt_cli_disc_name(cli),
				.name = rt_str_of(name != NULL ? name : old)},
		  "The discussion is now called \"{name}\".");
	if (cli->s.status == RT_NOT_FOUND && name != NULL && cli->session.hint[0] == 0)
		rt_cli_hint(cli, "To rename this discussion: retake rename \"%s %s\"", old, name);
}

const rt_command rt_cli_rename = {
	.name = "rename",
	.unchanged = "the discussion already has this name",
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
	rt_str name = rt_str_of(name_to_use(cli, rt_cli_word(cli, 0)));
	rt_place place = {0, 0};

	if (!rt_cli_open(cli, RT_SESSION_CHANGE) && cli->session.value == NULL)
		return;
	if (RT_TRY(s, rt_resolve_place(cli->session.value, name, rt_str_of(NULL), &place,
				       &s->error)) != RT_OK && cli->session.hint[0] == 0)
		rt_cli_hint(cli, "Discussions: retake ls");
	const char *title = rt_cli_disc_title(cli, place.disc);
	const rt_result *result =
		rt_cli_execute(cli, &(rt_request){.op = RT_OP_DISCUSSION_DELETE, .target = name}, 1);

	rt_cli_say_result(cli, result, "Deleted discussion %s (still in history).", title);
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

/* --- pin, archive, tag: settings of a discussion that lists use --- */

static void
set_flag(rt_cli *cli, rt_str key, const char *on, const char *off)
{
	const char *name = rt_cli_word(cli, 0);
	bool is_off = rt_cli_has(cli, "off"), pins = rt_str_is(key, "pinned");

	if (is_off)
		cli->unchanged = pins ? "the discussion is not pinned" : "the discussion is not archived";
	rt_cli_do(cli,
		  &(rt_request){.op = RT_OP_SETTING_SET,
				.discussion = name != NULL ? rt_str_of(name_to_use(cli, name)) : RT_STR(""),
				.key = key,
				.value = rt_json_parse(&cli->s,
						       is_off ? RT_STR("null") : RT_STR("true"))},
		  is_off ? off : on);
	if (cli->s.status == RT_NOT_FOUND)
		hint_use(cli, name != NULL ? name : "");
}

static void
run_pin(rt_cli *cli)
{
	set_flag(cli, RT_STR("pinned"), "Pinned the discussion.", "Unpinned the discussion.");
}

static const rt_flag pin_flags[] = {
	{"off", 0, NULL, RT_ARG_TEXT, "unpin it"},
	{NULL, 0, NULL, RT_ARG_TEXT, NULL},
};

const rt_command rt_cli_pin = {
	.name = "pin",
	.unchanged = "the discussion is already pinned",
	.group = RT_COMMANDS_CATALOGUE,
	.max_words = 1,
	.usage = "[DISCUSSION] [--off]",
	.summary = "list a discussion before the others",
	.about = "DISCUSSION defaults to the active one.",
	.examples = "retake pin\nretake pin db-choice --off",
	.ops = "setting.set",
	.flags = pin_flags,
	.kinds = {RT_ARG_DISC},
	.run = run_pin,
};

static void
run_archive(rt_cli *cli)
{
	set_flag(cli, RT_STR("archived"), "Archived the discussion. Archived ones: retake ls --archived",
		 "Unarchived the discussion.");
}

static const rt_flag archive_flags[] = {
	{"off", 0, NULL, RT_ARG_TEXT, "list it again"},
	{NULL, 0, NULL, RT_ARG_TEXT, NULL},
};

const rt_command rt_cli_archive = {
	.name = "archive",
	.unchanged = "the discussion is already archived",
	.group = RT_COMMANDS_CATALOGUE,
	.max_words = 1,
	.usage = "[DISCUSSION] [--off]",
	.summary = "leave a discussion out of lists",
	.about = "DISCUSSION defaults to the active one. Nothing is deleted: it can be opened, searched "
		 "and exported as before.",
	.examples = "retake archive scratch\nretake ls --archived\nretake archive scratch --off",
	.ops = "setting.set",
	.flags = archive_flags,
	.kinds = {RT_ARG_DISC},
	.run = run_archive,
};

/* Is a tag among the words of the command? */
static bool
is_word(const rt_cli *cli, rt_str tag)
{
	for (size_t i = 0; rt_cli_word(cli, i) != NULL; i++)
		if (rt_str_eq(rt_str_trim(rt_str_of(rt_cli_word(cli, i))), tag))
			return true;
	return false;
}

/* The tags after the command, as JSON: the present ones without the words, then the words unless
 * they are removed. */
static rt_str
changed_tags(rt_cli *cli, yyjson_val *tags)
{
	rt_buf *json = rt_scope_buf(&cli->s);
	bool removes = rt_cli_has(cli, "remove");
	size_t count = 0;

	rt_json_open(json, NULL, '[');
	for (rt_json_iter it = rt_json_items(tags); rt_json_next(&it);)
		if (!is_word(cli, rt_json_str(it.value))) {
			rt_json_put_str(json, NULL, rt_json_str(it.value));
			count++;
		}
	for (size_t i = 0; !removes && rt_cli_word(cli, i) != NULL; i++) {
		rt_str tag = rt_str_trim(rt_cli_check_utf8(cli, rt_str_of(rt_cli_word(cli, i))));

		if (tag.size == 0)
			rt_cli_fail(cli, RT_USAGE, "a tag is empty");
		rt_json_put_str(json, NULL, tag);
		count++;
	}
	rt_json_close(json, ']');
	return count > 0 ? rt_scope_str(&cli->s, json) : RT_STR("null");
}

static void
show_tags(rt_cli *cli, yyjson_val *tags)
{
	rt_buf *json = rt_scope_buf(&cli->s);

	if (cli->json) {
		if (tags != NULL)
			rt_json_add_value(json, tags);
		else
			rt_buf_add_c(json, "[]");
		rt_cli_print_json(cli, json);
		return;
	}
	for (rt_json_iter it = rt_json_items(tags); rt_json_next(&it);) {
		rt_term_line(&cli->out, rt_json_str(it.value));
		rt_term_c(&cli->out, "\n");
	}
	if (yyjson_arr_size(tags) == 0)
		rt_term_c(&cli->out, "The discussion has no tags.\n");
}

static void
run_tag(rt_cli *cli)
{
	bool changes = rt_cli_word(cli, 0) != NULL;

	if (!changes && rt_cli_has(cli, "remove"))
		rt_cli_fail(cli, RT_USAGE, "tag --remove needs a TAG");
	if (!rt_cli_open(cli, changes ? RT_SESSION_CHANGE : RT_SESSION_LOOK))
		return;
	rt_view view = rt_cli_view(cli);
	yyjson_val *tags = rt_setting_value(&view, RT_STR("tags"));

	if (!rt_ok(&cli->s))
		return;
	if (rt_cli_has(cli, "remove"))
		cli->unchanged = "the discussion has none of these tags";
	if (!changes)
		show_tags(cli, tags);
	else
		rt_cli_do(cli,
			  &(rt_request){.op = RT_OP_SETTING_SET,
					.key = RT_STR("tags"),
					.value = rt_json_parse(&cli->s, changed_tags(cli, tags))},
			  rt_cli_has(cli, "remove") ? "Removed tags from the discussion."
						    : "Added tags to the discussion.");
}

static const rt_flag tag_flags[] = {
	{"remove", 'r', NULL, RT_ARG_TEXT, "remove these tags"},
	{NULL, 0, NULL, RT_ARG_TEXT, NULL},
};

const rt_command rt_cli_tag = {
	.name = "tag",
	.unchanged = "the discussion already has these tags",
	.group = RT_COMMANDS_CATALOGUE,
	.max_words = RT_COMMAND_WORDS_ANY,
	.usage = "[TAG]... [--remove]",
	.summary = "show, add or remove tags of the discussion",
	.about = "Tags can be nested, like directories: retake ls --tag work also lists "
		 "discussions with the tag work/db.",
	.examples = "retake tag work/db urgent\nretake tag --remove urgent\nretake ls --tag work",
	.ops = "setting.set",
	.flags = tag_flags,
	.kinds = {RT_ARG_TEXT},
	.run = run_tag,
};
