/* SPDX-License-Identifier: MIT
 *
 * Completions. The scripts know nothing of Retake: they pass the words of the command line, the
 * last one unfinished, to `retake complete`, and offer what it prints, one a line:
 *
 *     candidate [TAB explanation]
 *     :files        the shell should complete file names
 *
 * Failures while completing are silent. */
#include "cli/help.h"
#include "core/setting.h"

#include <stdio.h>

#include "formats/formats.h"
#include "llm/names_host.h"
#include "llm/provider.h"

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

static const struct {
	const char *shell, *script;
} scripts[] = {{"bash", bash_script}, {"zsh", zsh_script}, {"fish", fish_script}};

const char *
rt_cli_completion_script(const char *shell)
{
	for (size_t i = 0; i < sizeof(scripts) / sizeof(scripts[0]); i++)
		if (strcmp(shell, scripts[i].shell) == 0)
			return scripts[i].script;
	return NULL;
}

static void
run_completion(rt_cli *cli)
{
	const char *shell = rt_cli_word(cli, 0), *script = rt_cli_completion_script(shell);
	rt_buf *json = rt_scope_buf(&cli->s);

	if (script == NULL) {
		rt_cli_fail(cli, RT_USAGE,
			    "no completions for the shell \"%.40s\"; use bash, zsh or fish", shell);
	} else if (cli->json) {
		rt_json_open(json, NULL, '{');
		rt_json_put_c(json, "shell", shell);
		rt_json_put_c(json, "script", script);
		rt_json_close(json, '}');
		rt_cli_print_json(cli, json);
	} else {
		rt_term_raw(&cli->out, rt_str_of(script));
	}
}

const rt_command rt_cli_completion = {
	.name = "completion",
	.group = RT_COMMANDS_LEARNING,
	.min_words = 1,
	.max_words = 1,
	.usage = "bash|zsh|fish",
	.summary = "print shell completions",
	.examples = "source <(retake completion bash)\n"
		    "retake completion fish > ~/.config/fish/completions/retake.fish",
	.kinds = {RT_ARG_SHELL},
	.run = run_completion,
};

/* --- candidates --- */

static void
offer(rt_cli *cli, rt_str prefix, rt_str word, const char *about)
{
	if (!rt_str_starts(word, prefix) || word.size == 0)
		return;
	/* A candidate is one line, and a shell must not get control characters. */
	for (size_t i = 0; i < word.size; i++)
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
	for (size_t i = 0; cli->commands[i] != NULL; i++)
		if (!(cli->commands[i]->traits & RT_COMMAND_HIDDEN))
			offer(cli, prefix, rt_str_of(cli->commands[i]->name),
			      cli->commands[i]->summary);
}

static void
offer_topics(rt_cli *cli, rt_str prefix, const rt_cli_topic *topics)
{
	for (; topics->name != NULL; topics++)
		offer(cli, prefix, rt_str_of(topics->name), topics->summary);
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

/* Labels, the head, and positions of a take that is not too long. */
static void
offer_entries(rt_cli *cli, rt_str prefix)
{
	rt_view view = rt_cli_view(cli);
	size_t count = rt_cli_count(cli);
	rt_tree_cursor *c;
	char word[32];

	offer(cli, prefix, RT_STR("@"), "the head");
	for (size_t i = 1; i <= count && count <= 200 && prefix.size > 0; i++) {
		snprintf(word, sizeof(word), ":%zu", i);
		offer(cli, prefix, rt_str_of(word), NULL);
	}
	c = rt_ok(&cli->s) && count <= 20000 ? rt_tree_open(&view, RT_TREE_PREVIEW) : NULL;
	for (const rt_tree_row *row; (row = rt_tree_next(c)) != NULL;) {
		if (row->label.size > 0)
			offer(cli, prefix, row->label, "label");
		else if (prefix.size > 0)
			offer(cli, prefix, row->id, NULL);
	}
}

/* Offers the settings that Retake uses, and others that are set. */
static void
offer_settings(rt_cli *cli, rt_str prefix)
{
	rt_view view = rt_cli_view(cli);
	const rt_settings_row *row = rt_settings_read(&view);

	for (size_t i = 0; row != NULL && rt_settings[i].key != NULL; i++)
		if (rt_setting_value(&view, rt_str_of(rt_settings[i].key)) == NULL)
			offer(cli, prefix, rt_str_of(rt_settings[i].key), NULL);
	for (size_t i = 0; row != NULL && i < row->settings.count; i++)
		offer(cli, prefix, row->settings.items[i].name, NULL);
}

/* Names of things in the project. */
static void
offer_names(rt_cli *cli, rt_str prefix, rt_arg_kind kind)
{
	rt_view view;

	if (!rt_cli_open(cli, RT_SESSION_LOOK))
		return;
	view = rt_cli_view(cli);
	if (kind == RT_ARG_ENTRY) {
		offer_entries(cli, prefix);
	} else if (kind == RT_ARG_DISC) {
		rt_disc_rows discs = rt_discs_list(&view, false);

		for (size_t i = 0; i < discs.count; i++)
			offer(cli, prefix, discs.items[i].name, NULL);
	} else if (kind == RT_ARG_TAKE) {
		rt_take_rows takes = rt_takes_list(&view, NULL);

		for (size_t i = 0; i < takes.count; i++)
			offer(cli, prefix, takes.items[i].name, NULL);
	} else if (kind == RT_ARG_ROLE) {
		for (rt_json_iter it = rt_json_items(rt_roles_value(&view)); rt_json_next(&it);)
			offer(cli, prefix, rt_json_str(it.value), NULL);
	} else {
		offer_settings(cli, prefix);
	}
}

typedef struct project_offer {
	rt_cli *cli;
	rt_str prefix;
} project_offer;

static bool
offer_project(void *ctx, const rt_store_row *row)
{
	project_offer *o = ctx;

	if (rt_store_is_reserved(row->data))
		return true;
	offer(o->cli, o->prefix, row->data, NULL);
	return true;
}

static void
offer_projects(rt_cli *cli, rt_str prefix)
{
	project_offer projects = {cli, prefix};
	rt_store *store;

	if (!rt_cli_open_store(cli, RT_SESSION_LOOK))
		return;
	store = cli->session.store;
	(void)!store->ops->read(store, rt_rows_all(RT_STORE_PROJECTS, 0), offer_project, &projects,
				NULL);
}

typedef struct model_offer {
	rt_cli *cli;
	rt_str prefix;
} model_offer;

static void
offer_model(void *ctx, rt_str name)
{
	model_offer *o = ctx;

	offer(o->cli, o->prefix, name, NULL);
}

/* Providers until one is typed, then its models. */
static void
offer_models(rt_cli *cli, rt_str prefix)
{
	const rt_config *config = rt_cli_config(cli);
	model_offer o = {cli, prefix};

	rt_model_names_each(cli->alloc, cli->env, config, prefix, offer_model, &o);
}

static void
offer_kind(rt_cli *cli, rt_str prefix, rt_arg_kind kind)
{
	switch (kind) {
	case RT_ARG_TEXT:
	case RT_ARG_STEP: break;
	case RT_ARG_FILE:
	case RT_ARG_DIR: rt_term_c(&cli->out, ":files\n"); break;
	case RT_ARG_ENTRY:
	case RT_ARG_TAKE:
	case RT_ARG_DISC:
	case RT_ARG_ROLE:
	case RT_ARG_SETTING: offer_names(cli, prefix, kind); break;
	case RT_ARG_PROJECT: offer_projects(cli, prefix); break;
	case RT_ARG_FORMAT:
	case RT_ARG_EXPORT_FORMAT:
		for (size_t i = 0; rt_formats[i] != NULL; i++) {
			const rt_format *f = rt_formats[i];

			if (kind == RT_ARG_FORMAT ? f->read != NULL || f->stream != NULL
						  : f->write != NULL)
				offer(cli, prefix, rt_str_of(f->name), f->about);
		}
		break;
	case RT_ARG_PROVIDER:
		for (size_t i = 0; rt_providers[i] != NULL; i++)
			offer(cli, prefix, rt_str_of(rt_providers[i]->name),
			      rt_providers[i]->title);
		break;
	case RT_ARG_MODEL: offer_models(cli, prefix); break;
	case RT_ARG_VALUE:
		if (strcmp(rt_cli_word(cli, 0), "model") == 0)
			offer_models(cli, prefix);
		break;
	case RT_ARG_COMMAND:
		offer_commands(cli, prefix);
		offer_topics(cli, prefix, rt_cli_topics);
		offer_topics(cli, prefix, rt_cli_generated_topics);
		break;
	case RT_ARG_SCOPE:
		offer(cli, prefix, RT_STR("discussion"), NULL);
		offer(cli, prefix, RT_STR("project"), NULL);
		break;
	case RT_ARG_SHELL:
		for (size_t i = 0; i < sizeof(scripts) / sizeof(scripts[0]); i++)
			offer(cli, prefix, rt_str_of(scripts[i].shell), NULL);
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
			char next = usage[at + size];

			if (size > 0 && (next == ' ' || next == '|' || next == ']' || next == '\n' ||
					 next == 0))
				offer(cli, prefix, rt_str_at(usage + at, size), NULL);
			at += size;
			/* Only the first word, or one after a bar, is literal. */
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

/* The flag that the next word is a value of; NULL: none. */
static const rt_flag *
wants_value(const rt_command *command, const char *word)
{
	const rt_flag *lists[2] = {command == NULL ? NULL : command->flags, rt_global_flags};

	if (word[0] != '-' || word[1] == 0)
		return NULL;
	for (size_t i = 0; i < 2; i++)
		for (const rt_flag *f = lists[i]; f != NULL && f->name != NULL; f++)
			if (f->value != NULL &&
			    (word[1] == '-' ? strcmp(word + 2, f->name) == 0
					    : word[1] == f->letter && word[2] == 0))
				return f;
	return NULL;
}

static void
complete(rt_cli *cli, const char *const *words, size_t count)
{
	const char *last = count == 0 ? "" : words[count - 1];
	const rt_command *command = cli->args.command;
	const rt_flag *flag = count < 2 ? NULL : wants_value(command, words[count - 2]);
	rt_str prefix = rt_str_of(last);
	size_t done = cli->args.word_count; /* finished words after the verb */

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
	/* The usage of completion names the shells, which the kind lists, too. */
	if (done == 0 && command->kinds[0] != RT_ARG_SHELL)
		offer_usage(cli, prefix, command->usage);
	if (command->max_words == 0)
		return;
	if (strcmp(command->name, "takes") == 0 && done == 0)
		return;
	offer_kind(cli, prefix,
		   command->kinds[done < RT_COMMAND_KINDS ? done : RT_COMMAND_KINDS - 1]);
}

static void
run_complete(rt_cli *cli)
{
	size_t count = cli->args.word_count;
	const char **words = cli->args.words;
	char **line = rt_scope_array(&cli->s, count + 2, sizeof(*line));
	rt_args args = {.words = rt_scope_array(&cli->s, count + 2, sizeof(*args.words))};
	rt_scope outer;

	cli->session.hooks_off = true; /* no prompts while completing */
	if (!rt_ok(&cli->s))
		return;
	/* The line so far, without the unfinished word, determines the place. */
	line[0] = (char *)(uintptr_t) "retake";
	for (size_t i = 0; i + 1 < count; i++)
		line[i + 1] = (char *)(uintptr_t)words[i];
	(void)!rt_args_parse(cli->commands, count == 0 ? 1 : (int)count, line, &args, NULL);
	rt_cli_use_args(cli, args);
	cli->json = false;
	cli->quiet = true;
	rt_cli_begin_part(cli, &outer);
	complete(cli, words, count);
	(void)rt_cli_end_part(cli, &outer, NULL);
	cli->args.word_count = 0;
}

const rt_command rt_cli_complete = {
	.name = "complete",
	.group = RT_COMMANDS_LEARNING,
	.traits = RT_COMMAND_HIDDEN,
	.max_words = RT_COMMAND_WORDS_ANY,
	.usage = "-- WORD…",
	.summary = "list completions for a command line",
	.run = run_complete,
};
