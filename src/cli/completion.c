/* SPDX-License-Identifier: MIT
 *
 * Completions. The scripts know nothing of Retake: they hand the words of the command line
 * to `retake complete`, the last one unfinished, and offer what it prints, one a line:
 *
 *     candidate [TAB explanation]
 *     :files        the shell should complete file names
 *
 * Whatever goes wrong while completing is silent. */
#include "cli/help.h"
#include "core/setting.h"

#include <stdio.h>

#include "formats/formats.h"
#include "llm/provider.h"
#include "view/view.h"

static const char bash_script[] =
	"# SPDX-License-Identifier: MIT\n"
	"# Made by: retake completion bash\n"
	"_retake()\n"
	"{\n"
	"\tlocal line words=(\"${COMP_WORDS[@]:1:COMP_CWORD}\")\n"
	"\tlocal cut=\n"
	"\t# bash takes a colon for the end of a word, which positions (:4) begin with.\n"
	"\tlocal cur=${COMP_WORDS[COMP_CWORD]}\n"
	"\tif [[ $cur == : ]]; then\n"
	"\t\tcut=:\n"
	"\telif ((COMP_CWORD > 0)) && [[ ${COMP_WORDS[COMP_CWORD-1]} == : ]]; then\n"
	"\t\twords=(\"${COMP_WORDS[@]:1:COMP_CWORD-2}\" \":$cur\")\n"
	"\t\tcut=:\n"
	"\tfi\n"
	"\tCOMPREPLY=()\n"
	"\twhile IFS= read -r line; do\n"
	"\t\tif [[ $line == :files ]]; then\n"
	"\t\t\tcompopt -o filenames 2>/dev/null\n"
	"\t\t\tmapfile -t COMPREPLY < <(compgen -f -- \"$cur\")\n"
	"\t\t\treturn\n"
	"\t\tfi\n"
	"\t\tline=${line%%$'\\t'*}\n"
	"\t\t[[ -n $cut ]] && line=${line#\"$cut\"}\n"
	"\t\tCOMPREPLY+=(\"$(printf '%q' \"$line\")\")\n"
	"\tdone < <(\"${COMP_WORDS[0]}\" complete -- \"${words[@]}\" 2>/dev/null)\n"
	"}\n"
	"complete -F _retake retake\n";

static const char zsh_script[] =
	"#compdef retake\n"
	"# SPDX-License-Identifier: MIT\n"
	"# Made by: retake completion zsh\n"
	"_retake()\n"
	"{\n"
	"\tlocal line\n"
	"\tlocal -a found shown\n"
	"\twhile IFS= read -r line; do\n"
	"\t\tif [[ $line == :files ]]; then\n"
	"\t\t\t_files\n"
	"\t\t\treturn\n"
	"\t\tfi\n"
	"\t\tfound+=(\"${line%%$'\\t'*}\")\n"
	"\t\tshown+=(\"${line/$'\\t'/  }\")\n"
	"\tdone < <(\"${words[1]}\" complete -- \"${(@)words[2,CURRENT]}\" 2>/dev/null)\n"
	"\tcompadd -d shown -l -- \"${found[@]}\"\n"
	"}\n"
	"if [[ $funcstack[1] == _retake ]]; then\n"
	"\t_retake \"$@\"\n"
	"else\n"
	"\tcompdef _retake retake\n"
	"fi\n";

static const char fish_script[] =
	"# SPDX-License-Identifier: MIT\n"
	"# Made by: retake completion fish\n"
	"function __retake_complete\n"
	"\tset -l words (commandline -opc) (commandline -ct)\n"
	"\tset -l found ($words[1] complete -- $words[2..-1] 2>/dev/null)\n"
	"\tif test \"$found[1]\" = :files\n"
	"\t\t__fish_complete_path (commandline -ct)\n"
	"\telse\n"
	"\t\tprintf '%s\\n' $found\n"
	"\tend\n"
	"end\n"
	"complete -c retake -f -a '(__retake_complete)'\n";

const char *
rt_cli_completion_script(const char *shell)
{
	if (strcmp(shell, "bash") == 0)
		return bash_script;
	if (strcmp(shell, "zsh") == 0)
		return zsh_script;
	if (strcmp(shell, "fish") == 0)
		return fish_script;
	return NULL;
}

static rt_status
run_completion(rt_cli *cli)
{
	const char *shell = rt_cli_word(cli, 0), *script = rt_cli_completion_script(shell);
	rt_status st = RT_OK;
	rt_buf json;

	if (script == NULL)
		return rt_old_fail(cli, RT_USAGE,
				   "there are completions for bash, zsh and fish, not "
				   "\"%.40s\"",
				   shell);
	if (!cli->json) {
		rt_term_raw(&cli->out, rt_str_of(script));
		return RT_OK;
	}
	rt_buf_init(&json, cli->alloc, RT_BUF_UNLIMITED);
	rt_buf_add_f(&json, "{\"shell\":\"%s\",\"script\":", shell);
	rt_json_add_string(&json, rt_str_of(script));
	rt_buf_add_byte(&json, '}');
	st = rt_old_print_json(cli, rt_buf_str(&json));
	rt_buf_deinit(&json);
	return st;
}

const rt_command rt_cli_completion = {
	.name = "completion",
	.group = RT_COMMANDS_LEARNING,
	.min_words = 1,
	.max_words = 1,
	.usage = "bash|zsh|fish",
	.summary = "print completions for a shell",
	.examples = "source <(retake completion bash)\n"
		    "retake completion fish > ~/.config/fish/completions/retake.fish",
	.kinds = {RT_ARG_SHELL},
	.run_status = run_completion,
};

/* --- candidates --- */

static void
offer(rt_cli *cli, rt_str prefix, rt_str word, const char *about)
{
	size_t i;

	if (!rt_str_starts(word, prefix) || word.size == 0)
		return;
	/* A candidate is one line, and no shell should get to see a control character. */
	for (i = 0; i < word.size; i++)
		if ((unsigned char)word.ptr[i] < 0x20 || word.ptr[i] == 0x7F)
			return;
	rt_term_text(&cli->out, word);
	if (about != NULL && *about != 0)
		rt_term_f(&cli->out, "\t%s", about);
	rt_term_c(&cli->out, "\n");
}

static void
offer_commands(rt_cli *cli, rt_str prefix)
{
	size_t i;

	for (i = 0; cli->commands[i] != NULL; i++)
		if (!(cli->commands[i]->traits & RT_COMMAND_HIDDEN))
			offer(cli, prefix, rt_str_of(cli->commands[i]->name),
			      cli->commands[i]->summary);
}

static void
offer_flags(rt_cli *cli, rt_str prefix, const rt_flag *flags)
{
	char word[64];

	for (; flags != NULL && flags->name != NULL; flags++) {
		if (flags->about == NULL)
			continue;
		snprintf(word, sizeof(word), "--%s", flags->name);
		offer(cli, prefix, rt_str_of(word), flags->about);
	}
}

static void
offer_names(rt_cli *cli, rt_str prefix, yyjson_val *rows, const char *key)
{
	yyjson_val *row;
	size_t i, count;

	yyjson_arr_foreach(rows, i, count, row)
		offer(cli, prefix, rt_json_str(key == NULL ? row : rt_json_get(row, key)), NULL);
}

static void
offer_keys(rt_cli *cli, rt_str prefix, yyjson_val *object)
{
	yyjson_val *key, *value;
	size_t i, count;

	if (object == NULL)
		return;
	rt_json_foreach(object, i, count, key, value)
		offer(cli, prefix, rt_json_str(key), NULL);
}

/* Labels, the head, and positions of a take that is not too long. */
static void
offer_entries(rt_cli *cli, rt_str prefix)
{
	const rt_take *take = NULL;
	rt_old_view view;
	yyjson_val *row;
	size_t i, count;
	char word[32];

	offer(cli, prefix, RT_STR("@"), "the head");
	if (rt_old_take(cli, &take) != RT_OK)
		return;
	count = rt_seq_count(take->slots);
	for (i = 1; i <= count && count <= 200 && prefix.size > 0; i++) {
		snprintf(word, sizeof(word), ":%zu", i);
		offer(cli, prefix, rt_str_of(word), NULL);
	}
	rt_old_view_init(cli, &view);
	if (count <= 20000 && rt_old_view_read(cli, &view,
					       rt_view_tree(cli->session.engine, cli->session.value,
							    cli->session.place.disc, &view.buf,
							    &cli->error)) == RT_OK)
		yyjson_arr_foreach(view.root, i, count, row) {
			rt_str label = rt_json_str(rt_json_get(row, "label"));

			if (label.size > 0)
				offer(cli, prefix, label, "label");
			else if (prefix.size > 0)
				offer(cli, prefix, rt_json_str(rt_json_get(row, "id")), NULL);
		}
	rt_old_view_deinit(&view);
}

static void
offer_view(rt_cli *cli, rt_str prefix, rt_arg_kind kind)
{
	rt_old_view view;
	rt_status st;
	size_t i;

	rt_old_view_init(cli, &view);
	if (kind == RT_ARG_DISC)
		st = rt_view_discussions(cli->session.engine, cli->session.value, false, &view.buf,
					 &cli->error);
	else if (kind == RT_ARG_TAKE)
		st = rt_view_takes(cli->session.engine, cli->session.value, cli->session.place.disc,
				   false, &view.buf, &cli->error);
	else
		st = rt_view_settings(cli->session.engine, cli->session.value,
				      cli->session.place.disc, &view.buf, &cli->error);
	if (rt_old_view_read(cli, &view, st) == RT_OK) {
		if (kind == RT_ARG_DISC || kind == RT_ARG_TAKE) {
			offer_names(cli, prefix, view.root, "name");
		} else if (kind == RT_ARG_ROLE) {
			offer_names(cli, prefix, rt_json_get(view.root, "roles"), NULL);
		} else {
			for (i = 0; rt_settings[i].key != NULL; i++)
				if (rt_json_get(rt_json_get(view.root, "settings"),
						rt_settings[i].key) == NULL)
					offer(cli, prefix, rt_str_of(rt_settings[i].key), NULL);
			offer_keys(cli, prefix, rt_json_get(view.root, "settings"));
		}
	}
	rt_old_view_deinit(&view);
}

typedef struct project_offer {
	rt_cli *cli;
	rt_str prefix;
} project_offer;

static bool
offer_project(void *ctx, const rt_store_row *row)
{
	project_offer *o = ctx;

	offer(o->cli, o->prefix, row->data, NULL);
	return true;
}

static void
offer_kind(rt_cli *cli, rt_str prefix, rt_arg_kind kind)
{
	static const char *const shells[] = {"bash", "zsh", "fish"};
	project_offer projects = {cli, prefix};
	const rt_cli_topic *topic;
	size_t i;

	switch (kind) {
	case RT_ARG_TEXT:
	case RT_ARG_STEP: break;
	case RT_ARG_FILE:
	case RT_ARG_DIR: rt_term_c(&cli->out, ":files\n"); break;
	case RT_ARG_ENTRY:
		if (rt_old_open(cli, RT_SESSION_LOOK) == RT_OK)
			offer_entries(cli, prefix);
		break;
	case RT_ARG_TAKE:
	case RT_ARG_DISC:
	case RT_ARG_ROLE:
	case RT_ARG_SETTING:
		if (rt_old_open(cli, RT_SESSION_LOOK) == RT_OK)
			offer_view(cli, prefix, kind);
		break;
	case RT_ARG_PROJECT:
		if (rt_old_open_store(cli, RT_SESSION_LOOK) == RT_OK)
			(void)cli->session.store->ops->read(cli->session.store, rt_rows_all(RT_STORE_PROJECTS, 0),
						    offer_project, &projects, NULL);
		break;
	case RT_ARG_FORMAT:
		for (i = 0; rt_formats[i] != NULL; i++)
			offer(cli, prefix, rt_str_of(rt_formats[i]->name), rt_formats[i]->about);
		break;
	case RT_ARG_PROVIDER:
		for (i = 0; rt_providers[i] != NULL; i++)
			offer(cli, prefix, rt_str_of(rt_providers[i]->name),
			      rt_providers[i]->title);
		break;
	case RT_ARG_COMMAND:
		offer_commands(cli, prefix);
		for (topic = rt_cli_topics; topic->name != NULL; topic++)
			offer(cli, prefix, rt_str_of(topic->name), topic->summary);
		offer(cli, prefix, RT_STR("events"), "what hooks are told of");
		offer(cli, prefix, RT_STR("formats"), "what import and export read and write");
		offer(cli, prefix, RT_STR("keys"), "what keys do on the screens of the terminal");
		offer(cli, prefix, RT_STR("operations"), "what apply carries out");
		break;
	case RT_ARG_SCOPE:
		offer(cli, prefix, RT_STR("discussion"), NULL);
		offer(cli, prefix, RT_STR("project"), NULL);
		break;
	case RT_ARG_SHELL:
		for (i = 0; i < 3; i++)
			offer(cli, prefix, rt_str_of(shells[i]), NULL);
		break;
	}
}

/* The words that a usage line begins with: "switch TAKE", "[list]", "set|add|rm LIST". */
static void
offer_usage(rt_cli *cli, rt_str prefix, const char *usage)
{
	while (*usage != 0) {
		size_t line = strcspn(usage, "\n"), at = 0;

		while (at < line) {
			size_t size = strspn(usage + at, "abcdefghijklmnopqrstuvwxyz_");
			char behind = usage[at + size];

			if (size > 0 && (behind == ' ' || behind == '|' || behind == ']' ||
					 behind == '\n' || behind == 0))
				offer(cli, prefix, rt_str_at(usage + at, size), NULL);
			at += size;
			/* Only what stands first, or behind a bar, is a word to type. */
			at += strspn(usage + at, "[");
			if (usage[at] == '|')
				at++;
			else if (size > 0 && strncmp(usage + at, " | ", 3) == 0)
				at += 3;
			else if (size > 0 || usage[at] < 'a' || usage[at] > 'z')
				break;
		}
		usage += line + (usage[line] == '\n');
	}
}

/* A flag's value is wanted when the word before is a flag that takes one. */
static const rt_flag *
wants_value(const rt_command *command, const char *word)
{
	const rt_flag *lists[2] = {command == NULL ? NULL : command->flags, rt_global_flags};
	size_t i;

	if (word[0] != '-' || word[1] == 0)
		return NULL;
	for (i = 0; i < 2; i++) {
		const rt_flag *flag;

		for (flag = lists[i]; flag != NULL && flag->name != NULL; flag++) {
			if (flag->value == NULL)
				continue;
			if (word[1] == '-' ? strcmp(word + 2, flag->name) == 0
					   : word[1] == flag->letter && word[2] == 0)
				return flag;
		}
	}
	return NULL;
}

static void
complete(rt_cli *cli, const char *const *words, size_t count)
{
	const char *last = count == 0 ? "" : words[count - 1];
	const rt_command *command = cli->args.command;
	const rt_flag *flag = count < 2 ? NULL : wants_value(command, words[count - 2]);
	rt_str prefix = rt_str_of(last);
	size_t done = cli->args.word_count; /* finished words behind the verb */

	if (flag != NULL) {
		offer_kind(cli, prefix, flag->kind);
		return;
	}
	if (last[0] == '-' && last[1] != 0) {
		if (command != NULL)
			offer_flags(cli, prefix, command->flags);
		offer_flags(cli, prefix, rt_global_flags);
		return;
	}
	if (command == NULL) {
		if (cli->args.verb == NULL)
			offer_commands(cli, prefix);
		return;
	}
	/* The usage of completion names the shells, which the kind knows, too. */
	if (done == 0 && command->kinds[0] != RT_ARG_SHELL)
		offer_usage(cli, prefix, command->usage);
	if (command->max_words == 0)
		return;
	if (strcmp(command->name, "takes") == 0 && done == 0)
		return;
	offer_kind(cli, prefix,
		   command->kinds[done < RT_COMMAND_KINDS ? done : RT_COMMAND_KINDS - 1]);
}

static rt_status
run_complete(rt_cli *cli)
{
	size_t count = cli->args.word_count, i;
	const char **words = cli->args.words;
	char **line = rt_new_array(cli->alloc, count + 2, sizeof(char *));
	rt_args args = {0};

	cli->session.hooks_off = true; /* a Tab asks nobody */
	/* What stands on the line so far, without the unfinished word, says where to look. */
	args.words = rt_new_array(cli->alloc, count + 2, sizeof(*args.words));
	if (line != NULL && args.words != NULL) {
		line[0] = (char *)(uintptr_t) "retake";
		for (i = 0; i + 1 < count; i++)
			line[i + 1] = (char *)(uintptr_t)words[i];
		line[count == 0 ? 1 : count] = NULL;
		(void)!rt_args_parse(cli->commands, count == 0 ? 1 : (int)count, line, &args, NULL);
		rt_cli_use_args(cli, args);
		cli->json = false;
		cli->quiet = true;
		complete(cli, words, count);
		args.words = cli->args.words;
	}
	rt_free(cli->alloc, line);
	cli->args.words = words;
	cli->args.word_count = 0;
	rt_free(cli->alloc, args.words);
	return RT_OK;
}

const rt_command rt_cli_complete = {
	.name = "complete",
	.group = RT_COMMANDS_LEARNING,
	.traits = RT_COMMAND_HIDDEN,
	.max_words = RT_COMMAND_WORDS_ANY,
	.usage = "-- WORD…",
	.summary = "list what may follow on a command line",
	.run_status = run_complete,
};
