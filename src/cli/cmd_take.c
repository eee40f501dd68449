/* SPDX-License-Identifier: MIT
 *
 * branch, label, clear, truncate, graft, promote, extract: whole takes, and places in them.
 * The command takes is in cmd_takes.c. */
#include "cli/cli.h"

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
	.summary = "start a new take that contains everything up to an entry",
	.about =
		"Without NAME, the new take is named after the old one, with _take_ and a "
		"number. It becomes active. The old take is unchanged. ENTRY defaults to the "
		"head.",
	.examples = "retake branch :6\nretake branch good-start mysql",
	.ops = "take.branch",
	.kinds = {RT_ARG_ENTRY, RT_ARG_TEXT},
	.run = rt_cli_run_op,
	.op = &branch_op,
};

/* --- label --- */

static void
list_labels(rt_cli *cli)
{
	rt_scope *s = &cli->s;
	rt_buf *json = rt_scope_buf(s);
	rt_view view = rt_cli_view(cli);
	rt_tree_cursor *c = rt_tree_open(&view, RT_TREE_PREVIEW);
	size_t shown = 0;

	rt_json_open(json, NULL, '[');
	for (const rt_tree_row *row; (row = rt_tree_next(c)) != NULL;) {
		if (row->label.size == 0)
			continue;
		rt_json_open(json, NULL, '{');
		rt_json_put_str(json, "label", row->label);
		rt_json_put_str(json, "entry", row->id);
		rt_json_close(json, '}');
		shown++;
		if (cli->json)
			continue;
		rt_term_style(&cli->out, RT_STYLE_YELLOW);
		rt_term_line(&cli->out, row->label);
		rt_term_style(&cli->out, RT_STYLE_NONE);
		rt_term_c(&cli->out, "  ");
		rt_term_line(&cli->out, rt_cli_short_id(cli, row->id));
		rt_term_c(&cli->out, "  ");
		rt_term_line(&cli->out, row->preview);
		rt_term_c(&cli->out, "\n");
	}
	rt_json_close(json, ']');
	if (cli->json)
		rt_cli_print_json(cli, json);
	else if (rt_ok(s) && shown == 0)
		rt_cli_advise(cli, "No labels. Set one: retake label ENTRY NAME\n");
}

/* Refuses a label that could not be used as an address. */
static void
check_label(rt_cli *cli, const char *name)
{
	char id[RT_ID_MAX + 1];
	uint32_t entry = 0;
	rt_error ignored;

	if (name[0] == ':' || strcmp(name, "@") == 0 || strncmp(name, "@-", 2) == 0) {
		rt_cli_hint(cli, "Choose a word, such as good-start.");
		rt_cli_fail(cli, RT_USAGE, "\"%.60s\" cannot be a label: it is the address of %s",
			    name, name[0] == ':' ? "a position" : "the head");
	} else if (rt_str_trim(rt_str_of(name)).size == 0) {
		rt_cli_hint(cli, "To remove a label: retake label ENTRY --clear");
		rt_cli_fail(cli, RT_USAGE, "the label is empty");
	} else if (rt_resolve_entry(cli->session.value, cli->session.place, rt_str_of(name), true,
				    &entry, &ignored) == RT_OK &&
		   entry != 0 &&
		   rt_entry_id(cli->session.value, entry, id, &ignored) == RT_OK &&
		   strcmp(id, name) == 0) { /* an id takes precedence over an equal label */
		rt_cli_hint(cli, "Choose a word, such as good-start.");
		rt_cli_fail(cli, RT_USAGE,
			    "\"%.60s\" cannot be a label: it is the id of an entry", name);
	}
}

static void
run_label(rt_cli *cli)
{
	const char *address = rt_cli_word(cli, 0), *name = rt_cli_word(cli, 1);
	bool clear = rt_cli_has(cli, "clear");
	rt_request request = {.op = RT_OP_LABEL_SET,
			      .label = clear ? RT_NULL_STR : rt_str_of(name)};
	const rt_result *result;

	if (address == NULL && !clear) {
		if (rt_cli_open(cli, RT_SESSION_LOOK))
			list_labels(cli);
		return;
	}
	if (address == NULL || clear == (name != NULL))
		rt_cli_fail(cli, RT_USAGE, "label needs an ENTRY and a NAME, or --clear");
	if (rt_cli_open(cli, RT_SESSION_CHANGE) && !clear)
		check_label(cli, name);
	if (rt_ok(&cli->s))
		request.entry = rt_cli_request_entry(cli, address);
	result = rt_cli_execute(cli, &request, 1);
	if (clear)
		cli->unchanged = "the entry has no label";
	if (clear)
		rt_cli_say_result(cli, result, "Removed the label of entry %s.", result->entry);
	else
		rt_cli_say_result(cli, result, "Labelled entry %s [%s].", result->entry, name);
}

static const rt_flag label_flags[] = {
	{"clear", 'c', NULL, RT_ARG_TEXT, "remove the label"},
	{NULL, 0, NULL, RT_ARG_TEXT, NULL},
};

const rt_command rt_cli_label = {
	.name = "label",
	.unchanged = "the entry already has this label",
	.group = RT_COMMANDS_BRANCHING,
	.max_words = 2,
	.usage = "[ENTRY NAME | ENTRY --clear]",
	.summary = "label an entry; without arguments, list the labels",
	.about = "A label is an address: retake go good-start.",
	.examples = "retake label :6 good-start\nretake label good-start --clear\nretake label",
	.ops = "label.set",
	.flags = label_flags,
	.kinds = {RT_ARG_ENTRY, RT_ARG_TEXT},
	.run = run_label,
};

/* --- clear, truncate --- */

static void
run_clear(rt_cli *cli)
{
	bool all = rt_cli_has(cli, "all");

	rt_cli_do(cli, &(rt_request){.op = RT_OP_TAKE_CLEAR, .all = rt_cli_yes_if(all)},
		  all ? "Cleared the take and the prompt (still in history)."
		      : "Cleared the take (still in history).");
}

static const rt_flag clear_flags[] = {
	{"all", 'a', NULL, RT_ARG_TEXT, "clear the working prompt, too"},
	{NULL, 0, NULL, RT_ARG_TEXT, NULL},
};

const rt_command rt_cli_clear = {
	.name = "clear",
	.group = RT_COMMANDS_BRANCHING,
	.usage = "[--all]",
	.summary = "delete all entries of the take",
	.examples = "retake clear",
	.ops = "take.clear",
	.flags = clear_flags,
	.run = run_clear,
};

static void
run_truncate(rt_cli *cli)
{
	uint64_t pairs = rt_cli_number(cli, rt_cli_word(cli, 0), "number of pairs to keep");
	size_t before = rt_cli_open(cli, RT_SESSION_CHANGE) ? rt_cli_count(cli) : 0, after;
	const rt_result *result = rt_cli_execute(
		cli,
		&(rt_request){.op = RT_OP_TAKE_TRUNCATE, .pairs = rt_cli_given_number(pairs)}, 1);

	after = rt_ok(&cli->s) ? rt_cli_count(cli) : 0;
	rt_cli_say_result(cli, result, "Kept the last %zu entr%s, removed %zu (still in history).",
			  after, RT_CLI_IES(after), before - after);
}

const rt_command rt_cli_truncate = {
	.name = "truncate",
	.unchanged = "the take has no more entries than that",
	.group = RT_COMMANDS_BRANCHING,
	.min_words = 1,
	.max_words = 1,
	.usage = "PAIRS",
	.summary = "keep only the last question-answer pairs",
	.about =
		"Everything earlier is removed, including system entries; mute or move entries "
		"you want to keep.",
	.examples = "retake truncate 5",
	.ops = "take.truncate",
	.run = run_truncate,
};

/* --- graft --- */

static void
run_graft(rt_cli *cli)
{
	rt_scope *s = &cli->s;
	const char *from = rt_cli_flag_value(cli, "from");
	size_t count = cli->args.word_count;
	rt_request request = {.op = RT_OP_TAKE_GRAFT, .from_take = rt_str_of(from)};
	rt_buf *entries = rt_scope_buf(s);
	const rt_result *result;

	if (from == NULL)
		rt_cli_fail(cli, RT_USAGE, "graft needs --from TAKE");
	rt_cli_request_place(cli, &request);
	rt_json_open(entries, NULL, '[');
	for (size_t i = 0; i < count; i++)
		rt_json_put_c(entries, NULL, rt_cli_word(cli, i));
	rt_json_close(entries, ']');
	request.entries = rt_json_parse(s, rt_scope_str(s, entries));
	result = rt_cli_execute(cli, &request, 1);
	rt_cli_say_result(cli, result, "Copied %zu entr%s from take \"%s\".", count,
			  RT_CLI_IES(count), from);
}

static const rt_flag graft_flags[] = {
	{"from", 'f', "TAKE", RT_ARG_TAKE, "the take that contains them"},
	{"before", 'b', "ENTRY", RT_ARG_ENTRY, "the entry before which it is added"},
	{"after", 'a', "ENTRY", RT_ARG_ENTRY, "the entry after which it is added"},
	{NULL, 0, NULL, RT_ARG_TEXT, NULL},
};

const rt_command rt_cli_graft = {
	.name = "graft",
	.group = RT_COMMANDS_BRANCHING,
	.min_words = 1,
	.max_words = RT_COMMAND_WORDS_ANY,
	.usage = "ENTRY… --from TAKE --before|--after ENTRY",
	.summary = "copy entries from another take into this one",
	.examples = "retake graft k3f9 9z2p --from main --after :4",
	.ops = "take.graft",
	.flags = graft_flags,
	.kinds = {RT_ARG_ENTRY, RT_ARG_ENTRY, RT_ARG_ENTRY},
	.run = run_graft,
};

/* --- promote, extract --- */

static void
run_promote(rt_cli *cli)
{
	const char *take = rt_cli_word(cli, 0), *name = rt_cli_word(cli, 1);
	const rt_take *active = rt_cli_open(cli, RT_SESSION_CHANGE) ? rt_cli_take(cli) : NULL;
	uint32_t before;
	const rt_result *result;

	if (active == NULL)
		return;
	before = cli->session.value->active;
	result = rt_cli_execute(
		cli,
		&(rt_request){.op = RT_OP_TAKE_PROMOTE,
			      .target = name != NULL ? rt_str_of(take) : rt_text_str(active->name),
			      .name = rt_str_of(name != NULL ? name : take)},
		1);
	rt_cli_say_result(cli, result,
			  cli->session.value != NULL && cli->session.value->active != before
				  ? "The take is now the discussion \"%s\", which is active."
				  : "The take is now the discussion \"%s\".",
			  result->discussion);
}

const rt_command rt_cli_promote = {
	.name = "promote",
	.group = RT_COMMANDS_BRANCHING,
	.min_words = 1,
	.max_words = 2,
	.usage = "[TAKE] NAME",
	.summary = "turn a take into a separate discussion",
	.about = "TAKE defaults to the active one.",
	.examples = "retake promote duck duckdb",
	.ops = "take.promote",
	.kinds = {RT_ARG_TAKE, RT_ARG_TEXT},
	.run = run_promote,
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
	.summary = "create a discussion from the path to an entry",
	.about = "If ENTRY is a user message, it is left out, and its text is printed to be sent "
		 "again. ENTRY defaults to the head.",
	.examples = "retake extract :6 second-try",
	.ops = "discussion.extract",
	.kinds = {RT_ARG_ENTRY, RT_ARG_TEXT},
	.run = rt_cli_run_op,
	.op = &extract_op,
};
