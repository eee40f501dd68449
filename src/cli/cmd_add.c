/* SPDX-License-Identifier: MIT
 *
 * add, insert: new entries. */
#define _POSIX_C_SOURCE 200809L

#include <unistd.h>

#include "cli/cli.h"

/* What can be known to be wrong before anybody writes a text for it. */
static rt_status
check_fields(rt_cli *cli)
{
	const char *role = rt_cli_flag_value(cli, "role"), *ts = rt_cli_flag_value(cli, "ts");
	rt_moment at;

	if (role != NULL && rt_str_trim(rt_str_of(role)).size == 0) {
		rt_old_hint(cli, RT_USAGE, "Roles: retake roles   Without -r: the first of them");
		return rt_old_fail(cli, RT_USAGE, "-r is given no role");
	}
	if (ts != NULL && !rt_moment_parse(rt_str_of(ts), &at)) {
		rt_old_hint(cli, RT_USAGE, "Put it so: --ts 2026-11-22T10:00:00Z");
		return rt_old_fail(cli, RT_USAGE, "\"%.60s\" is no time", ts);
	}
	return RT_OK;
}

/* The text of a new entry, from where the command line says, or from the editor. path is
 * the editor's file, to be removed when the text has been used. */
static rt_status
new_text(rt_cli *cli, size_t index, rt_buf *text, rt_buf *path)
{
	bool given = false;
	rt_status st = check_fields(cli);

	if (st == RT_OK)
		st = rt_old_text(cli, index, text, &given);
	if (st != RT_OK || given)
		return st;
	st = rt_old_open(cli, RT_SESSION_CHANGE);
	if (st != RT_OK)
		return st;
	st = rt_old_edit_one(cli, "entry", text, path);
	if (st == RT_OK && rt_str_trim(rt_buf_str(text)).size == 0) {
		(void)unlink(path->ptr);
		rt_old_hint(cli, RT_USAGE, "Nothing was added.");
		return rt_old_fail(cli, RT_USAGE, "the text is empty");
	}
	return st;
}

/* Carry out the request with the fields that both commands have. */
static rt_status
finish(rt_cli *cli, rt_old_change *change, rt_request request, rt_str text, const rt_buf *path,
       const char *verb)
{
	rt_buf where;
	rt_status st;

	request.content.text = rt_cli_given(text);
	request.role = rt_str_of(rt_cli_flag_value(cli, "role"));
	request.id = rt_str_of(rt_cli_flag_value(cli, "id"));
	request.kind = rt_str_of(rt_cli_flag_value(cli, "kind"));
	request.ts.text = rt_str_of(rt_cli_flag_value(cli, "ts"));
	st = rt_old_change_one(change, &request);
	if (st != RT_OK)
		return path->size > 0 ? rt_old_keep(cli, st, path->ptr) : st;
	if (path->size > 0)
		(void)unlink(path->ptr);
	rt_buf_init(&where, cli->alloc, RT_BUF_UNLIMITED);
	rt_old_add_where(cli, change->result->entry, &where);
	if (change->result->take[0] != 0)
		st = rt_old_change_say(change, "%s entry %s in the new take \"%s\".", verb,
				       where.ptr, change->result->take);
	else
		st = rt_old_change_say(change, "%s entry %s.", verb, where.ptr);
	rt_buf_deinit(&where);
	return st;
}

static rt_status
run_add(rt_cli *cli)
{
	rt_buf text, path;
	rt_old_change change;
	rt_status st;

	rt_buf_init(&text, cli->alloc, RT_BUF_UNLIMITED);
	rt_buf_init(&path, cli->alloc, RT_BUF_UNLIMITED);
	rt_old_change_init(cli, &change);
	st = new_text(cli, 0, &text, &path);
	if (st == RT_OK)
		st = finish(cli, &change, (rt_request){.op = RT_OP_ENTRY_APPEND}, rt_buf_str(&text),
			    &path, "Added");
	rt_old_change_deinit(&change);
	rt_buf_deinit(&text);
	rt_buf_deinit(&path);
	return st;
}

static rt_status
run_insert(rt_cli *cli)
{
	const char *before = rt_cli_flag_value(cli, "before");
	const char *after = rt_cli_flag_value(cli, "after");
	rt_request request = {.op = RT_OP_ENTRY_INSERT};
	rt_buf text, path;
	rt_old_change change;
	rt_status st;

	if ((before == NULL) == (after == NULL))
		return rt_old_fail(cli, RT_USAGE,
				   "insert needs one of --before ENTRY and --after ENTRY");
	/* Look first: nobody should write a text for a place that is not there. */
	st = rt_old_open(cli, RT_SESSION_CHANGE);
	if (st == RT_OK)
		st = rt_old_position(cli, before != NULL ? before : after, &(size_t){0}, NULL);
	if (st != RT_OK)
		return st;
	rt_buf_init(&text, cli->alloc, RT_BUF_UNLIMITED);
	rt_buf_init(&path, cli->alloc, RT_BUF_UNLIMITED);
	rt_old_change_init(cli, &change);
	st = new_text(cli, 0, &text, &path);
	if (st == RT_OK) {
		*(before != NULL ? &request.before : &request.after) =
			rt_old_change_entry(&change, before != NULL ? before : after);
		st = finish(cli, &change, request, rt_buf_str(&text), &path, "Inserted");
	}
	rt_old_change_deinit(&change);
	rt_buf_deinit(&text);
	rt_buf_deinit(&path);
	return st;
}

#define TEXT_FLAGS \
	{"file", 'f', "FILE", RT_ARG_FILE, "take the text from a file (\"-\": standard input)"}, \
		{"editor", 'e', NULL, RT_ARG_TEXT, "write the text in the editor"}, \
	{ \
		"exact", 0, NULL, RT_ARG_TEXT, "keep the line end at the end of a file" \
	}
#define ENTRY_FLAGS \
	{"role", 'r', "ROLE", RT_ARG_ROLE, \
	 "who speaks; default: the first of the project's roles"}, \
		{"kind", 0, "KIND", RT_ARG_TEXT, "message, custom …"}, \
		{"id", 0, "ID", RT_ARG_TEXT, "an id of one's own"}, \
	{ \
		"ts", 0, "TIME", RT_ARG_TEXT, "when it was said; default: now" \
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
	.usage = "[-r ROLE] [TEXT | -f FILE | -]",
	.summary = "add an entry at the head",
	.about = "The entry goes behind the head. When the head is in the middle of a take, a new "
		 "take begins there by itself, and the old one stays as it is. Without a text, "
		 "the editor opens.",
	.examples = "retake add \"Which database?\"\nretake add -r AI -f reply.md\n"
		    "git diff | retake add -",
	.ops = "entry.append",
	.flags = add_flags,
	.kinds = {RT_ARG_TEXT},
	.run_status = run_add,
};

static const rt_flag insert_flags[] = {
	{"before", 'b', "ENTRY", RT_ARG_ENTRY, "the entry that will follow"},
	{"after", 'a', "ENTRY", RT_ARG_ENTRY, "the entry that will precede"},
	ENTRY_FLAGS,
	TEXT_FLAGS,
	{NULL, 0, NULL, RT_ARG_TEXT, NULL},
};

const rt_command rt_cli_insert = {
	.name = "insert",
	.group = RT_COMMANDS_WRITING,
	.max_words = RT_COMMAND_WORDS_ANY,
	.usage = "--before|--after ENTRY [-r ROLE] [TEXT | -f FILE | -]",
	.summary = "add an entry before or after another",
	.about = "Everything that follows stays.",
	.examples = "retake insert --before :4 -r System \"Answer briefly.\"\n"
		    "retake insert --after k3f9 -f note.md",
	.ops = "entry.insert",
	.flags = insert_flags,
	.kinds = {RT_ARG_TEXT},
	.run_status = run_insert,
};
