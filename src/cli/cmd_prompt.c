/* SPDX-License-Identifier: MIT
 *
 * prompt: the working text that user and model shape together. */
#include "cli/cli.h"
#include "codec/thinking.h"

static void
show(rt_cli *cli)
{
	bool is_edited = false;
	rt_buf *json = rt_scope_buf(&cli->s);
	rt_str text = {NULL, 0};

	if (rt_cli_open(cli, RT_SESSION_LOOK)) {
		rt_view view = rt_cli_view(cli);

		text = rt_prompt_text(&view, &is_edited);
	}
	if (!rt_ok(&cli->s))
		return;
	if (cli->json) {
		rt_json_open(json, NULL, '{');
		rt_json_put_str(json, "text", text);
		rt_json_put_bool(json, "edited", is_edited);
		rt_json_close(json, '}');
		rt_cli_print_json(cli, json);
	} else if (rt_cli_has(cli, "raw")) {
		rt_term_raw(&cli->out, text);
	} else if (text.size == 0) {
		rt_cli_advise(cli, "No working prompt. Write one: retake prompt edit\n");
	} else {
		rt_term_indented(&cli->out, text, 0);
		if (is_edited)
			rt_cli_advise(cli, "\n(edited; to tell the model: retake prompt notify)\n");
	}
}

static void
update(rt_cli *cli, rt_str text)
{
	const rt_result *result = rt_cli_execute(
		cli, &(rt_request){.op = RT_OP_PROMPT_UPDATE, .text = rt_cli_given(text)}, 1);
	size_t count = rt_ok(&cli->s) ? rt_utf8_count(text) : 0;

	rt_cli_say_result(cli, result, "Changed the working prompt (%zu character%s).", count,
			  RT_CLI_S(count));
}

static void
set(rt_cli *cli)
{
	rt_str text = rt_cli_text(cli, 1);

	if (text.ptr == NULL)
		rt_cli_fail(cli, RT_USAGE, "prompt set needs a text, -f FILE or \"-\"");
	update(cli, text);
}

/* The text of an entry becomes the prompt. */
static void
set_from(rt_cli *cli, const char *address)
{
	rt_buf *text = rt_scope_buf(&cli->s);

	if (!rt_cli_open(cli, RT_SESSION_CHANGE))
		return;
	uint32_t entry = rt_cli_entry(cli, address, false);
	rt_view view = rt_cli_view(cli);
	const rt_entry_row *e = rt_ok(&cli->s) ? rt_entry_find(&view, entry) : NULL;
	if (e == NULL)
		return;
	rt_body_add_prose(text, e->role, e->body);
	if (rt_str_trim(rt_scope_str(&cli->s, text)).size == 0)
		rt_cli_fail(cli, RT_REFUSED, "entry %.*s has no text", RT_STR_ARG(e->id));
	update(cli, rt_scope_str(&cli->s, text));
}

static void
edit(rt_cli *cli)
{
	if (!rt_cli_open(cli, RT_SESSION_CHANGE))
		return;

	rt_view view = rt_cli_view(cli);
	rt_str now = rt_prompt_text(&view, NULL);

	update(cli, rt_cli_edit_text(cli, "prompt", now, true));
	rt_cli_drop_draft(cli);
}

static void
notify(rt_cli *cli)
{
	const rt_result *result =
		rt_cli_execute(cli, &(rt_request){.op = RT_OP_PROMPT_NOTIFY}, 1);

	if (!result->unchanged || cli->json)
		rt_cli_say_result(cli, result, "Added the notice %s that the prompt was edited.",
				  result->entry);
	else if (!cli->quiet)
		rt_term_c(&cli->out, "Nothing to do: the prompt has not been edited since the "
				     "model was last notified.\n");
}

static void
run_prompt(rt_cli *cli)
{
	const char *verb = rt_cli_word(cli, 0), *from = rt_cli_flag_value(cli, "from");
	bool is_alone = cli->args.word_count == 1;

	if (from != NULL && (verb == NULL || (strcmp(verb, "set") == 0 && is_alone)))
		set_from(cli, from);
	else if (from != NULL)
		rt_cli_fail(cli, RT_USAGE, "--from cannot be combined with a text");
	else if (verb == NULL || (strcmp(verb, "show") == 0 && is_alone))
		show(cli);
	else if (strcmp(verb, "set") == 0)
		set(cli);
	else if (strcmp(verb, "edit") == 0 && is_alone)
		edit(cli);
	else if (strcmp(verb, "notify") == 0 && is_alone)
		notify(cli);
	else
		rt_cli_fail(cli, RT_USAGE,
			    "prompt has no subcommand \"%.40s\"; use show, set, edit or notify", verb);
}

static const rt_flag prompt_flags[] = {
	{"file", 'f', "FILE", RT_ARG_FILE, "read the text from a file (\"-\": standard input)"},
	{"from", 0, "ENTRY", RT_ARG_ENTRY, "use the text of an entry as the prompt"},
	{"editor", 'e', NULL, RT_ARG_TEXT, "open the editor even without a terminal"},
	{"exact", 0, NULL, RT_ARG_TEXT, "keep the newline at the end of the file"},
	{"raw", 0, NULL, RT_ARG_TEXT, "only the text, byte for byte (for a pipe or file)"},
	{NULL, 0, NULL, RT_ARG_TEXT, NULL},
};

const rt_command rt_cli_prompt = {
	.name = "prompt",
	.group = RT_COMMANDS_SETTINGS,
	.traits = RT_COMMAND_AT_STEP,
	.max_words = RT_COMMAND_WORDS_ANY,
	.usage = "[show]\n"
		 "set TEXT | -f FILE | -\n"
		 "--from ENTRY\n"
		 "edit\n"
		 "notify",
	.summary = "show or change the working prompt",
	.about =
		"The working prompt is a text that you and the model write together, separate from "
		"the entries. notify adds an entry that tells the model about your edit. --from "
		"uses the text of an entry. The setting prompt_updates lets the model update the "
		"prompt in its replies: \"block\" (a fenced code block named prompt) or \"json\".",
	.examples = "retake prompt\nretake prompt set \"Write a haiku about {topic}.\"\n"
		    "retake prompt edit",
	.ops = "prompt.update prompt.notify",
	.flags = prompt_flags,
	.kinds = {RT_ARG_TEXT},
	.run = run_prompt,
};
