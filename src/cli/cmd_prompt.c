/* SPDX-License-Identifier: MIT
 *
 * prompt: the working text that user and model shape together. */
#define _POSIX_C_SOURCE 200809L

#include <unistd.h>

#include "cli/cli.h"
#include "view/view.h"

static rt_status
read_prompt(rt_cli *cli, rt_old_view *view, rt_str *out_text, bool *out_edited)
{
	yyjson_val *prompt;
	rt_status st = rt_old_view_read(cli, view,
					rt_view_settings(cli->session.engine, cli->session.value,
							 cli->session.place.disc, &view->buf,
							 &cli->error));

	if (st != RT_OK)
		return st;
	prompt = rt_json_get(view->root, "prompt");
	*out_text = rt_json_str(rt_json_get(prompt, "text"));
	*out_edited = yyjson_is_true(rt_json_get(prompt, "edited"));
	return RT_OK;
}

static rt_status
show(rt_cli *cli)
{
	bool edited = false;
	rt_old_view view;
	rt_str text;
	rt_buf json;
	rt_status st = rt_old_open(cli, RT_SESSION_LOOK);

	if (st != RT_OK)
		return st;
	rt_old_view_init(cli, &view);
	rt_buf_init(&json, cli->alloc, RT_BUF_UNLIMITED);
	st = read_prompt(cli, &view, &text, &edited);
	if (st == RT_OK && cli->json) {
		rt_json_add_value(&json, rt_json_get(view.root, "prompt"));
		st = rt_old_print_json(cli, rt_buf_str(&json));
	} else if (st == RT_OK && rt_cli_has(cli, "raw")) {
		rt_term_raw(&cli->out, text);
	} else if (st == RT_OK && text.size == 0) {
		rt_cli_advise(cli, "There is no working prompt. Write one: retake prompt edit\n");
	} else if (st == RT_OK) {
		rt_term_indented(&cli->out, text, 0);
		if (edited)
			rt_cli_advise(cli, "\n(edited; the model has not been told: "
					   "retake prompt notify)\n");
	}
	rt_buf_deinit(&json);
	rt_old_view_deinit(&view);
	return st;
}

static rt_status
update(rt_cli *cli, rt_str text)
{
	return rt_old_do(cli,
			 &(rt_request){.op = RT_OP_PROMPT_UPDATE, .text = rt_cli_given(text)},
			 "Changed the working prompt (%zu character%s).", rt_utf8_count(text),
			 RT_CLI_S(rt_utf8_count(text)));
}

static rt_status
set(rt_cli *cli)
{
	bool given = false;
	rt_status st;
	rt_buf text;

	rt_buf_init(&text, cli->alloc, RT_BUF_UNLIMITED);
	st = rt_old_text(cli, 1, &text, &given);
	if (st == RT_OK && !given)
		st = rt_old_fail(cli, RT_USAGE, "prompt set needs a text, -f FILE or \"-\"");
	if (st == RT_OK)
		st = update(cli, rt_buf_str(&text));
	rt_buf_deinit(&text);
	return st;
}

static rt_status
edit(rt_cli *cli)
{
	bool edited = false;
	rt_buf text, path;
	rt_old_view view;
	rt_str now;
	rt_status st = rt_old_open(cli, RT_SESSION_CHANGE);

	if (st != RT_OK)
		return st;
	rt_old_view_init(cli, &view);
	rt_buf_init(&text, cli->alloc, RT_BUF_UNLIMITED);
	rt_buf_init(&path, cli->alloc, RT_BUF_UNLIMITED);
	st = read_prompt(cli, &view, &now, &edited);
	if (st == RT_OK) {
		rt_buf_add_str(&text, now);
		st = rt_old_edit_one(cli, "prompt", &text, &path);
	}
	if (st == RT_OK) {
		st = update(cli, rt_buf_str(&text));
		if (st == RT_OK)
			(void)unlink(path.ptr);
		else
			(void)rt_old_keep(cli, st, path.ptr);
	}
	rt_buf_deinit(&text);
	rt_buf_deinit(&path);
	rt_old_view_deinit(&view);
	return st;
}

static rt_status
notify(rt_cli *cli)
{
	rt_old_change change;
	rt_status st;

	rt_old_change_init(cli, &change);
	st = rt_old_change_one(&change, &(rt_request){.op = RT_OP_PROMPT_NOTIFY});
	if (st == RT_OK && change.result->unchanged && !cli->json) {
		if (!cli->quiet)
			rt_term_c(&cli->out, "Nothing to tell: the prompt was not edited since.\n");
	} else if (st == RT_OK) {
		st = rt_old_change_say(&change, "Added the notice %s that the prompt was edited.",
				       change.result->entry);
	}
	rt_old_change_deinit(&change);
	return st;
}

static rt_status
run_prompt(rt_cli *cli)
{
	const char *verb = rt_cli_word(cli, 0);
	size_t count = cli->args.word_count;

	if (verb == NULL || (strcmp(verb, "show") == 0 && count == 1))
		return show(cli);
	if (strcmp(verb, "set") == 0)
		return set(cli);
	if (strcmp(verb, "edit") == 0 && count == 1)
		return edit(cli);
	if (strcmp(verb, "notify") == 0 && count == 1)
		return notify(cli);
	return rt_old_fail(cli, RT_USAGE, "prompt can show, set, edit and notify, not \"%.40s\"",
			   verb);
}

static const rt_flag prompt_flags[] = {
	{"file", 'f', "FILE", RT_ARG_FILE, "take the text from a file (\"-\": standard input)"},
	{"editor", 'e', NULL, RT_ARG_TEXT, "open the editor even when this is no terminal"},
	{"exact", 0, NULL, RT_ARG_TEXT, "keep the line end at the end of a file"},
	{"raw", 0, NULL, RT_ARG_TEXT, "the text alone, byte for byte (into a pipe or file)"},
	{NULL, 0, NULL, RT_ARG_TEXT, NULL},
};

const rt_command rt_cli_prompt = {
	.name = "prompt",
	.group = RT_COMMANDS_SETTINGS,
	.traits = RT_COMMAND_AT_OP,
	.max_words = RT_COMMAND_WORDS_ANY,
	.usage = "[show]\n"
		 "set TEXT | -f FILE | -\n"
		 "edit\n"
		 "notify",
	.summary = "show or change the working prompt",
	.about =
		"The working prompt is a text that you and the model shape together, kept apart from "
		"the entries. notify adds an entry that tells the model that you edited it.",
	.examples = "retake prompt\nretake prompt set \"Write a haiku about {topic}.\"\n"
		    "retake prompt edit",
	.ops = "prompt.update prompt.notify",
	.flags = prompt_flags,
	.kinds = {RT_ARG_TEXT},
	.run_status = run_prompt,
};
