/* SPDX-License-Identifier: MIT
 *
 * add, insert: new entries. */
#include "cli/cli.h"

/* Fails early, so that no text is written for an invalid request. */
static void
check_fields(rt_cli *cli)
{
	const char *role = rt_cli_flag_value(cli, "role"), *ts = rt_cli_flag_value(cli, "ts");
	rt_moment at;

	if (role != NULL && rt_str_trim(rt_str_of(role)).size == 0) {
		rt_cli_hint(cli, "Roles: retake roles   Default without -r: the first role");
		rt_cli_fail(cli, RT_USAGE, "-r needs a role");
	} else if (ts != NULL && !rt_moment_parse(rt_str_of(ts), &at)) {
		rt_cli_hint(cli, "Example: --ts 2026-11-22T10:00:00Z");
		rt_cli_fail(cli, RT_USAGE, "\"%.60s\" is not a time", ts);
	}
}

/* The text of a new entry, from the source given by the flags, or from the editor. */
static rt_str
new_text(rt_cli *cli)
{
	check_fields(cli);

	rt_str text = rt_cli_text(cli, 0);

	if (text.ptr != NULL || !rt_cli_open(cli, RT_SESSION_CHANGE))
		return text;
	text = rt_cli_edit_text(cli, "entry", text, true);
	if (rt_ok(&cli->s) && rt_str_trim(text).size == 0) {
		rt_cli_drop_draft(cli);
		rt_cli_hint(cli, "Nothing was added.");
		rt_cli_fail(cli, RT_USAGE, "the text is empty");
	}
	return text;
}

/* Executes the request with the common fields of both commands. */
static void
add_entry(rt_cli *cli, rt_request request, const char *verb)
{
	rt_attached_list files = rt_cli_read_attached(cli);

	request.content.text = rt_cli_given(new_text(cli));
	if (files.count > 0 && rt_cli_open(cli, RT_SESSION_CHANGE))
		request.content.blocks = rt_json_parse(
			&cli->s, rt_attached_content(&cli->s, cli->session.engine,
						   request.content.text, &files));
	request.role = rt_cli_role_meant(cli, rt_cli_flag_value(cli, "role"));
	request.id = rt_str_of(rt_cli_flag_value(cli, "id"));
	request.kind = rt_str_of(rt_cli_flag_value(cli, "kind"));
	request.ts.text = rt_str_of(rt_cli_flag_value(cli, "ts"));

	const rt_result *result = rt_cli_execute(cli, &request, 1);
	const char *where = rt_cli_where(cli, result->entry);

	rt_cli_drop_draft(cli);
	if (result->take[0] != 0)
		rt_cli_say_result(cli, result, "%s entry %s in the new take \"%s\".", verb, where,
				  result->take);
	else
		rt_cli_say_result(cli, result, "%s entry %s.", verb, where);
}

static void
run_add(rt_cli *cli)
{
	add_entry(cli, (rt_request){.op = RT_OP_ENTRY_APPEND}, "Added");
}

static void
run_insert(rt_cli *cli)
{
	rt_request request = {.op = RT_OP_ENTRY_INSERT};

	/* Checks first, so that no text is written for a place that does not exist. */
	rt_cli_request_place(cli, &request);
	if (rt_ok(&cli->s))
		rt_cli_position(cli, cli->address, NULL);
	add_entry(cli, request, "Inserted");
}

#define TEXT_FLAGS \
	{"file", 'f', "FILE", RT_ARG_FILE, "read the text from a file (\"-\": standard input)"}, \
		{"editor", 'e', NULL, RT_ARG_TEXT, "write the text in the editor"}, \
	{ \
		"exact", 0, NULL, RT_ARG_TEXT, "keep the newline at the end of the file" \
	}
#define ENTRY_FLAGS \
	{"role", 'r', "ROLE", RT_ARG_ROLE, \
	 "role of the entry; default: the first of the project's roles"}, \
		{"kind", 0, "KIND", RT_ARG_TEXT, "message, custom …"}, \
		{"id", 0, "ID", RT_ARG_TEXT, "use this id"}, \
	{"attach", 0, "FILE", RT_ARG_FILE, "attach a file; repeatable"}, \
	{ \
		"ts", 0, "TIME", RT_ARG_TEXT, "time of the entry; default: now" \
	}

static const rt_flag add_flags[] = {
	ENTRY_FLAGS,
	TEXT_FLAGS,
	{NULL, 0, NULL, RT_ARG_TEXT, NULL},
};

const rt_command rt_cli_add = {
	.name = "add",
	.alias = "append",
	.group = RT_COMMANDS_WRITING,
	.max_words = RT_COMMAND_WORDS_ANY,
	.text_word = 1,
	.usage = "[-r ROLE] [TEXT | -f FILE | -]",
	.summary = "add an entry after the head",
	.about = "The entry is added after the head. If the head is in the middle of a take, "
		 "this starts a new take there and the old one is unchanged. Without a text, the "
		 "editor opens.",
	.examples = "retake add \"Which database?\"\nretake add -r AI -f reply.md\n"
		    "git diff | retake add -",
	.ops = "entry.append",
	.flags = add_flags,
	.kinds = {RT_ARG_TEXT},
	.run = run_add,
};

static const rt_flag insert_flags[] = {
	{"before", 'b', "ENTRY", RT_ARG_ENTRY, "insert before this entry"},
	{"after", 'a', "ENTRY", RT_ARG_ENTRY, "insert after this entry"},
	ENTRY_FLAGS,
	TEXT_FLAGS,
	{NULL, 0, NULL, RT_ARG_TEXT, NULL},
};

const rt_command rt_cli_insert = {
	.name = "insert",
	.group = RT_COMMANDS_WRITING,
	.max_words = RT_COMMAND_WORDS_ANY,
	.text_word = 1,
	.usage = "--before|--after ENTRY [-r ROLE] [TEXT | -f FILE | -]",
	.summary = "add an entry before or after another",
	.about = "Later entries are kept.",
	.examples = "retake insert --before :4 -r System \"Answer briefly.\"\n"
		    "retake insert --after k3f9 -f note.md",
	.ops = "entry.insert",
	.flags = insert_flags,
	.kinds = {RT_ARG_TEXT},
	.run = run_insert,
};
