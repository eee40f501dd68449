/* SPDX-License-Identifier: MIT
 *
 * branch, label, clear, truncate, graft, promote, extract: takes as a whole, and where
 * one is in them. The command takes is in cmd_takes.c. */
#include "cli/cli.h"
#include "view/view.h"

#include <stdio.h>

/* --- branch --- */

static const rt_cli_op branch_op = {
	.op = RT_OP_TAKE_BRANCH,
	.fields = {{"at", .word = 0, .otherwise = "@"}, {"name", .word = 1}},
	.done = "Now in the new take \"{take}\" with {entries}.",
};

const rt_command rt_cli_branch = {
	.name = "branch",
	.group = RT_COMMANDS_BRANCHING,
	.max_words = 2,
	.usage = "[ENTRY [NAME]]",
	.summary = "start a new take that holds everything up to an entry",
	.about =
		"The new take is named like the old one with _take_ and a number unless NAME is "
		"given, and becomes the active one. The old take stays as it is. Without ENTRY, at "
		"the head.",
	.examples = "retake branch :6\nretake branch good-start duck",
	.ops = "take.branch",
	.kinds = {RT_ARG_ENTRY, RT_ARG_TEXT},
	.run = rt_cli_run_op,
	.op = &branch_op,
};

/* --- label --- */

static rt_status
list_labels(rt_cli *cli)
{
	rt_old_view view;
	yyjson_val *row;
	size_t i, count, shown = 0;
	rt_status st = rt_old_open(cli, RT_SESSION_LOOK);
	rt_buf json;

	if (st != RT_OK)
		return st;
	rt_old_view_init(cli, &view);
	rt_buf_init(&json, cli->alloc, RT_BUF_UNLIMITED);
	rt_buf_add_byte(&json, '[');
	st = rt_old_view_read(cli, &view,
			      rt_view_tree(cli->session.engine, cli->session.value,
					   cli->session.place.disc, &view.buf, &cli->error));
	if (st == RT_OK) {
		yyjson_arr_foreach(view.root, i, count, row) {
			rt_str label = rt_json_str(rt_json_get(row, "label"));

			if (label.size == 0)
				continue;
			rt_json_add_comma(&json);
			rt_buf_add_c(&json, "{\"label\":");
			rt_json_add_string(&json, label);
			rt_json_add_key(&json, "entry");
			rt_json_add_string(&json, rt_json_str(rt_json_get(row, "id")));
			rt_buf_add_byte(&json, '}');
			if (cli->json)
				continue;
			shown++;
			rt_term_style(&cli->out, RT_STYLE_YELLOW);
			rt_term_line(&cli->out, label);
			rt_term_style(&cli->out, RT_STYLE_NONE);
			rt_term_c(&cli->out, "  ");
			rt_term_line(&cli->out, rt_json_str(rt_json_get(row, "id")));
			rt_term_c(&cli->out, "  ");
			rt_term_line(&cli->out, rt_json_str(rt_json_get(row, "preview")));
			rt_term_c(&cli->out, "\n");
		}
		if (!cli->json && shown == 0)
			rt_cli_advise(cli, "No labels. Set one: retake label ENTRY NAME\n");
	}
	rt_buf_add_byte(&json, ']');
	if (st == RT_OK && cli->json)
		st = rt_old_print_json(cli, rt_buf_str(&json));
	rt_buf_deinit(&json);
	rt_old_view_deinit(&view);
	return st;
}

/* A label that could not be used as an address is of no use. */
static rt_status
check_label(rt_cli *cli, const char *name)
{
	char id[RT_ID_ROOM];
	uint32_t entry = 0;
	rt_error none;

	if (name[0] == ':' || strcmp(name, "@") == 0 || strncmp(name, "@-", 2) == 0) {
		rt_old_hint(cli, RT_USAGE, "Choose a word, such as good-start.");
		return rt_old_fail(cli, RT_USAGE,
				   "\"%.60s\" cannot be a label: that is how %s is named", name,
				   name[0] == ':' ? "a position" : "the head");
	}
	if (rt_str_trim(rt_str_of(name)).size == 0) {
		rt_old_hint(cli, RT_USAGE, "To take a label off: retake label ENTRY --clear");
		return rt_old_fail(cli, RT_USAGE, "the label is empty");
	}
	/* An id goes before a label that is spelled the same. */
	if (rt_resolve_entry(cli->session.value, cli->session.place, rt_str_of(name), true, &entry,
			     &none) == RT_OK &&
	    entry != 0 && rt_entry_id(cli->session.value, entry, id, &none) == RT_OK &&
	    strcmp(id, name) == 0) {
		rt_old_hint(cli, RT_USAGE, "Choose a word, such as good-start.");
		return rt_old_fail(cli, RT_USAGE,
				   "\"%.60s\" cannot be a label: it is the id of an entry", name);
	}
	return RT_OK;
}

static rt_status
run_label(rt_cli *cli)
{
	const char *address = rt_cli_word(cli, 0), *name = rt_cli_word(cli, 1);
	bool clear = rt_cli_has(cli, "clear");
	rt_old_change change;
	rt_status st;

	if (address == NULL && !clear)
		return list_labels(cli);
	if (address == NULL || clear == (name != NULL))
		return rt_old_fail(cli, RT_USAGE, "label needs an ENTRY and a NAME, or --clear");
	st = rt_old_open(cli, RT_SESSION_CHANGE);
	if (st == RT_OK && !clear)
		st = check_label(cli, name);
	if (st != RT_OK)
		return st;
	rt_old_change_init(cli, &change);
	st = rt_old_change_one(&change,
			       &(rt_request){.op = RT_OP_LABEL_SET,
					     .entry = rt_old_change_entry(&change, address),
					     .label = clear ? RT_NULL_STR : rt_str_of(name)});
	if (st == RT_OK && clear)
		st = rt_old_change_say(&change, "Took the label off entry %s.",
				       change.result->entry);
	else if (st == RT_OK)
		st = rt_old_change_say(&change, "Labelled entry %s [%s].", change.result->entry,
				       name);
	rt_old_change_deinit(&change);
	return st;
}

static const rt_flag label_flags[] = {
	{"clear", 'c', NULL, RT_ARG_TEXT, "take the label off"},
	{NULL, 0, NULL, RT_ARG_TEXT, NULL},
};

const rt_command rt_cli_label = {
	.name = "label",
	.group = RT_COMMANDS_BRANCHING,
	.max_words = 2,
	.usage = "[ENTRY NAME | ENTRY --clear]",
	.summary = "name an entry; without words, list the labels",
	.about = "A label is an address: retake go good-start.",
	.examples = "retake label :6 good-start\nretake label good-start --clear\nretake label",
	.ops = "label.set",
	.flags = label_flags,
	.kinds = {RT_ARG_ENTRY, RT_ARG_TEXT},
	.run_status = run_label,
};

/* --- clear, truncate --- */

static rt_status
run_clear(rt_cli *cli)
{
	bool all = rt_cli_has(cli, "all");

	return rt_old_do(cli,
			 &(rt_request){.op = RT_OP_TAKE_CLEAR, .all = rt_cli_yes_if(all)},
			 "Cleared the take%s (still in history).", all ? " and the prompt" : "");
}

static const rt_flag clear_flags[] = {
	{"all", 'a', NULL, RT_ARG_TEXT, "the working prompt, too"},
	{NULL, 0, NULL, RT_ARG_TEXT, NULL},
};

const rt_command rt_cli_clear = {
	.name = "clear",
	.group = RT_COMMANDS_BRANCHING,
	.usage = "[--all]",
	.summary = "take out all entries of the take",
	.examples = "retake clear",
	.ops = "take.clear",
	.flags = clear_flags,
	.run_status = run_clear,
};

static rt_status
run_truncate(rt_cli *cli)
{
	const rt_take *take = NULL;
	uint64_t pairs = 0;
	size_t before, after;
	rt_old_change change;
	rt_status st = rt_old_number(cli, rt_cli_word(cli, 0), "how many pairs to keep", &pairs);

	if (st == RT_OK)
		st = rt_old_open(cli, RT_SESSION_CHANGE);
	if (st == RT_OK)
		st = rt_old_take(cli, &take);
	if (st != RT_OK)
		return st;
	before = rt_seq_count(take->slots);
	rt_old_change_init(cli, &change);
	st = rt_old_change_one(&change, &(rt_request){.op = RT_OP_TAKE_TRUNCATE,
						      .pairs = rt_cli_given_number(pairs)});
	if (st == RT_OK)
		st = rt_old_take(cli, &take);
	if (st == RT_OK) {
		after = rt_seq_count(take->slots);
		st = rt_old_change_say(&change,
				       "Kept the last %zu entr%s, removed %zu (still in history).",
				       after, RT_CLI_IES(after), before - after);
	}
	rt_old_change_deinit(&change);
	return st;
}

const rt_command rt_cli_truncate = {
	.name = "truncate",
	.group = RT_COMMANDS_BRANCHING,
	.min_words = 1,
	.max_words = 1,
	.usage = "PAIRS",
	.summary = "keep only the last question-answer pairs",
	.about =
		"Everything before goes, entries of the system, too; mute or move what is to stay.",
	.examples = "retake truncate 5",
	.ops = "take.truncate",
	.run_status = run_truncate,
};

/* --- graft --- */

static rt_status
run_graft(rt_cli *cli)
{
	const char *from = rt_cli_flag_value(cli, "from");
	const char *before = rt_cli_flag_value(cli, "before");
	const char *after = rt_cli_flag_value(cli, "after");
	size_t count = cli->args.word_count;
	rt_request request = {.op = RT_OP_TAKE_GRAFT, .from_take = rt_str_of(from)};
	rt_old_change change;
	rt_buf *entries;
	rt_status st;

	if (from == NULL)
		return rt_old_fail(cli, RT_USAGE, "graft needs --from TAKE");
	if ((before == NULL) == (after == NULL))
		return rt_old_fail(cli, RT_USAGE,
				   "graft needs one of --before ENTRY and --after ENTRY");
	st = rt_old_open(cli, RT_SESSION_CHANGE);
	if (st != RT_OK)
		return st;
	rt_old_change_init(cli, &change);
	entries = rt_scope_buf(&change.scope);
	rt_json_open(entries, NULL, '[');
	for (size_t i = 0; i < count; i++)
		rt_json_put_c(entries, NULL, rt_cli_word(cli, i));
	rt_json_close(entries, ']');
	request.entries = rt_old_change_value(&change, rt_scope_str(&change.scope, entries));
	*(before != NULL ? &request.before : &request.after) =
		rt_old_change_entry(&change, before != NULL ? before : after);
	st = rt_old_change_one(&change, &request);
	if (st == RT_OK)
		st = rt_old_change_say(&change, "Brought %zu entr%s from take \"%s\" in.", count,
				       RT_CLI_IES(count), from);
	rt_old_change_deinit(&change);
	return st;
}

static const rt_flag graft_flags[] = {
	{"from", 'f', "TAKE", RT_ARG_TAKE, "the take that they are in"},
	{"before", 'b', "ENTRY", RT_ARG_ENTRY, "the entry that will follow"},
	{"after", 'a', "ENTRY", RT_ARG_ENTRY, "the entry that will precede"},
	{NULL, 0, NULL, RT_ARG_TEXT, NULL},
};

const rt_command rt_cli_graft = {
	.name = "graft",
	.group = RT_COMMANDS_BRANCHING,
	.min_words = 1,
	.max_words = RT_COMMAND_WORDS_ANY,
	.usage = "ENTRY… --from TAKE --before|--after ENTRY",
	.summary = "bring entries of another take into this one",
	.examples = "retake graft k3f9 9z2p --from main --after :4",
	.ops = "take.graft",
	.flags = graft_flags,
	.kinds = {RT_ARG_ENTRY, RT_ARG_ENTRY, RT_ARG_ENTRY},
	.run_status = run_graft,
};

/* --- promote, extract --- */

static rt_status
run_promote(rt_cli *cli)
{
	const char *take = rt_cli_word(cli, 0), *name = rt_cli_word(cli, 1);
	const rt_take *active = NULL;
	uint32_t before;
	rt_old_change change;
	rt_status st = rt_old_open(cli, RT_SESSION_CHANGE);

	if (st == RT_OK)
		st = rt_old_take(cli, &active);
	if (st != RT_OK)
		return st;
	rt_old_change_init(cli, &change);
	if (name == NULL) {
		name = take;
		take = NULL;
	}
	before = cli->session.value->active;
	st = rt_old_change_one(
		&change,
		&(rt_request){.op = RT_OP_TAKE_PROMOTE,
			      .target = take != NULL ? rt_str_of(take) : rt_text_str(active->name),
			      .name = rt_str_of(name)});
	if (st == RT_OK)
		st = rt_old_change_say(
			&change,
			cli->session.value != NULL && cli->session.value->active != before
				? "The take is now a discussion of its own, \"%s\", and "
				  "that is where you are."
				: "The take is now a discussion of its own, \"%s\".",
			change.result->discussion);
	rt_old_change_deinit(&change);
	return st;
}

const rt_command rt_cli_promote = {
	.name = "promote",
	.group = RT_COMMANDS_BRANCHING,
	.min_words = 1,
	.max_words = 2,
	.usage = "[TAKE] NAME",
	.summary = "make a take a discussion of its own",
	.about = "Without TAKE, the active one.",
	.examples = "retake promote duck duckdb",
	.ops = "take.promote",
	.kinds = {RT_ARG_TAKE, RT_ARG_TEXT},
	.run_status = run_promote,
};

static const rt_cli_op extract_op = {
	.op = RT_OP_DISCUSSION_EXTRACT,
	.fields = {{"entry", .word = 0, .otherwise = "@"}, {"name", .word = 1}},
	.done = "Now in the new discussion \"{discussion}\".",
	.editor = "The text to send again:\n",
};

const rt_command rt_cli_extract = {
	.name = "extract",
	.group = RT_COMMANDS_BRANCHING,
	.max_words = 2,
	.usage = "[ENTRY [NAME]]",
	.summary = "make a discussion of the path to an entry",
	.about = "An entry of the user is left out, and its text is given back to be sent again. "
		 "Without ENTRY, the path to the head.",
	.examples = "retake extract :6 second-try",
	.ops = "discussion.extract",
	.kinds = {RT_ARG_ENTRY, RT_ARG_TEXT},
	.run = rt_cli_run_op,
	.op = &extract_op,
};
