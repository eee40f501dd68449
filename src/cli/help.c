/* SPDX-License-Identifier: MIT
 *
 * help, welcome and version. */
#include "cli/help.h"

#include <stdio.h>

#include "app/screen.h"
#include "cli/other_verbs.h"
#include "formats/formats.h"
#include "ops/action.h"

enum { WIDTH = 80 };

/* --- blocks of text --- */

static void
title(rt_cli *cli, const char *text)
{
	rt_term_style(&cli->out, RT_STYLE_BOLD);
	rt_term_c(&cli->out, text);
	rt_term_style(&cli->out, RT_STYLE_NONE);
	rt_term_c(&cli->out, "\n");
}

/* Broken at the terminal's width, or at 80 columns without a terminal. */
static void
paragraph(rt_cli *cli, const char *text)
{
	size_t columns = cli->out.columns;

	cli->out.columns = columns == 0 || columns > 100 ? WIDTH : columns;
	rt_term_indented(&cli->out, rt_str_of(text), 0);
	cli->out.columns = columns;
}

/* "  term   text", the text in a separate column. */
static void
add_row(rt_cli *cli, const char *term, const char *text, size_t column)
{
	rt_term *out = &cli->out;
	size_t used = 2 + rt_screen_width(rt_str_of(term)), skip, size;
	size_t width = out->columns == 0 || out->columns > 100 ? WIDTH : out->columns;
	rt_str rest = rt_str_of(text);

	rt_term_c(out, "  ");
	rt_term_c(out, term);
	if (used + 2 > column) {
		rt_term_c(out, "\n");
		used = 0;
	}
	width = width > column + 20 ? width - column : 20;
	do {
		size = rt_screen_break(rest, width, &skip);
		rt_term_spaces(out, column - used);
		rt_term_text(out, rt_str_at(rest.ptr, size));
		rt_term_c(out, "\n");
		rest = rt_str_skip(rest, size + skip);
		used = 0;
	} while (rest.size > 0);
}

static void
add_name(rt_cli *cli)
{
	rt_term_style(&cli->out, RT_STYLE_BOLD);
	rt_term_c(&cli->out, "retake");
	rt_term_style(&cli->out, RT_STYLE_NONE);
}

/* --- welcome, version --- */

void
rt_cli_help_version(rt_cli *cli)
{
	rt_buf *json = rt_scope_buf(&cli->s);

	if (!cli->json) {
		rt_term_c(&cli->out, "retake " RT_VERSION "\n");
		return;
	}
	rt_json_open(json, NULL, '{');
	rt_json_put_c(json, "name", "retake");
	rt_json_put_c(json, "version", RT_VERSION);
	rt_json_close(json, '}');
	rt_cli_print_json(cli, json);
}

void
rt_cli_help_welcome(rt_cli *cli)
{
	if (cli->json) {
		rt_cli_help_command(cli, NULL);
		return;
	}
	add_name(cli);
	rt_term_f(&cli->out, ": %s\n\nStart with one of these:\n", rt_cli_tagline);
	add_row(cli, "retake demo", "take a tour, without a model or a network", 26);
	add_row(cli, "retake ask \"Hello\"", "ask a model, and keep its reply", 26);
	add_row(cli, "retake import FILE", "import a conversation from another program", 26);
	add_row(cli, "retake add \"Hello\"", "write an entry yourself", 26);
	rt_term_c(&cli->out, "\nThen:\n");
	add_row(cli, "retake show", "show the entries", 26);
	add_row(cli, "retake tree", "show all takes as a tree", 26);
	add_row(cli, "retake undo", "undo any change", 26);
	add_row(cli, "retake ls", "list your discussions", 26);
	add_row(cli, "retake help", "list all commands", 26);
}

/* --- one command --- */

/* Adds the flags that are not hidden, below a title. */
static void
add_flags(rt_cli *cli, const char *heading, const rt_flag *flags)
{
	bool any = false;
	char term[80];

	for (; flags != NULL && flags->name != NULL; flags++) {
		if (flags->about == NULL)
			continue;
		if (!any) {
			rt_term_c(&cli->out, "\n");
			title(cli, heading);
		}
		any = true;
		snprintf(term, sizeof(term), "%s--%s%s%s",
			 flags->letter != 0 ? (const char[]){'-', flags->letter, ',', ' ', 0}
					    : "    ",
			 flags->name, flags->value != NULL ? " " : "",
			 flags->value != NULL ? flags->value : "");
		add_row(cli, term, flags->about, 28);
	}
}

/* Each line after a name, or alone. */
static void
add_lines(rt_cli *cli, const char *name, const char *lines)
{
	for (;;) {
		size_t size = strcspn(lines, "\n");

		rt_term_f(&cli->out, "  %s%s%s%.*s\n", name != NULL ? "retake " : "",
			  name != NULL ? name : "", name != NULL && size > 0 ? " " : "", (int)size,
			  lines);
		if (lines[size] == 0)
			break;
		lines += size + 1;
	}
}

static void
explain(rt_cli *cli, const rt_command *command)
{
	rt_term *out = &cli->out;

	rt_term_style(out, RT_STYLE_BOLD);
	rt_term_f(out, "retake %s", command->name);
	rt_term_style(out, RT_STYLE_NONE);
	rt_term_f(out, ": %s\n\n", command->summary);
	title(cli, "Usage");
	add_lines(cli, command->name, command->usage);
	if (command->about != NULL) {
		rt_term_c(out, "\n");
		paragraph(cli, command->about);
	}
	add_flags(cli, "Flags", command->flags);
	if (command->examples != NULL) {
		rt_term_c(out, "\n");
		title(cli, "Examples");
		add_lines(cli, NULL, command->examples);
	}
	rt_term_c(out, "\n");
	if (command->alias != NULL)
		rt_term_f(out, "Alias: retake %s\n", command->alias);
	if (command->ops != NULL)
		rt_term_f(out, "Operations (retake help operations): %s\n", command->ops);
	rt_term_c(out,
		  "Entries: retake help addressing   Flags of every command: retake help\n");
}

/* --- all of them --- */

static void
add_topics(rt_cli *cli, const rt_cli_topic *topics)
{
	for (; topics->name != NULL; topics++)
		add_row(cli, topics->name, topics->summary, 14);
}

static void
explain_all(rt_cli *cli)
{
	add_name(cli);
	rt_term_f(&cli->out, ": %s\n\nUsage: retake [FLAGS] COMMAND …\n", rt_cli_tagline);
	for (int group = 0; group < RT_COMMAND_GROUP_COUNT; group++) {
		rt_term_c(&cli->out, "\n");
		title(cli, rt_command_group_names[group]);
		for (size_t i = 0; cli->commands[i] != NULL; i++)
			if ((int)cli->commands[i]->group == group &&
			    !(cli->commands[i]->traits & RT_COMMAND_HIDDEN))
				add_row(cli, cli->commands[i]->name, cli->commands[i]->summary, 14);
	}
	add_flags(cli, "Global flags, before or after the command", rt_global_flags);
	rt_term_c(&cli->out, "\n");
	title(cli, "Topics");
	add_topics(cli, rt_cli_topics);
	add_topics(cli, rt_cli_generated_topics);
	rt_term_c(&cli->out, "\nMore: retake help COMMAND, retake help TOPIC, man retake\n");
}

/* --- as JSON --- */

void
rt_cli_put_words(rt_buf *json, const char *key, const char *words)
{
	rt_str rest = rt_str_of(words), word;

	rt_json_open(json, key, '[');
	while (rt_str_split(&rest, ' ', &word))
		rt_json_put_str(json, NULL, word);
	rt_json_close(json, ']');
}

static void
put_flags(rt_buf *out, const rt_flag *flags)
{
	char name[64];

	rt_json_open(out, "flags", '[');
	for (; flags != NULL && flags->name != NULL; flags++) {
		if (flags->about == NULL)
			continue;
		rt_json_open(out, NULL, '{');
		snprintf(name, sizeof(name), "--%s", flags->name);
		rt_json_put_c(out, "name", name);
		snprintf(name, sizeof(name), "-%c", flags->letter);
		if (flags->letter != 0)
			rt_json_put_c(out, "short", name);
		if (flags->value != NULL)
			rt_json_put_c(out, "value", flags->value);
		rt_json_put_c(out, "about", flags->about);
		rt_json_close(out, '}');
	}
	rt_json_close(out, ']');
}

static void
put_examples(rt_buf *out, const char *lines)
{
	rt_str rest = lines != NULL ? rt_str_of(lines) : RT_STR(""), line;

	rt_json_open(out, "examples", '[');
	while (rt_str_split(&rest, '\n', &line))
		rt_json_put_str(out, NULL, line);
	rt_json_close(out, ']');
}

static void
put_command(rt_buf *out, const rt_command *command)
{
	rt_json_open(out, NULL, '{');
	rt_json_put_c(out, "name", command->name);
	rt_json_put_c(out, "group", rt_command_group_names[command->group]);
	rt_json_put_c(out, "usage", command->usage);
	rt_json_put_c(out, "summary", command->summary);
	if (command->about != NULL)
		rt_json_put_c(out, "about", command->about);
	put_flags(out, command->flags);
	rt_cli_put_words(out, "operations", command->ops);
	put_examples(out, command->examples);
	rt_json_close(out, '}');
}

static void
print_json_help(rt_cli *cli, const rt_command *command)
{
	rt_buf *out = rt_scope_buf(&cli->s);

	if (command != NULL) {
		put_command(out, command);
	} else {
		rt_json_open(out, NULL, '{');
		rt_json_put_c(out, "version", RT_VERSION);
		put_flags(out, rt_global_flags);
		rt_json_open(out, "commands", '[');
		for (size_t i = 0; cli->commands[i] != NULL; i++)
			if (!(cli->commands[i]->traits & RT_COMMAND_HIDDEN))
				put_command(out, cli->commands[i]);
		rt_json_close(out, ']');
		rt_json_close(out, '}');
	}
	rt_cli_print_json(cli, out);
}

void
rt_cli_help_command(rt_cli *cli, const rt_command *command)
{
	if (cli->json) {
		print_json_help(cli, command);
		return;
	}
	if (!rt_cli_has(cli, "no-pager"))
		rt_term_page(&cli->out);
	if (command != NULL)
		explain(cli, command);
	else
		explain_all(cli);
}

/* --- topics --- */

static void
topic_text(rt_cli *cli, const rt_cli_topic *topic)
{
	size_t column = 0;

	title(cli, topic->title);
	if (topic->intro != NULL)
		paragraph(cli, topic->intro);
	for (const rt_cli_topic_row *row = topic->rows; row->term != NULL; row++)
		if (rt_screen_width(rt_str_of(row->term)) + 4 > column)
			column = rt_screen_width(rt_str_of(row->term)) + 4;
	for (const rt_cli_topic_row *row = topic->rows; row->term != NULL; row++)
		add_row(cli, row->term, row->text, column < 26 ? column : 26);
	if (topic->outro != NULL)
		paragraph(cli, topic->outro);
}

static void
topic_json(const rt_cli_topic *topic, rt_buf *out)
{
	rt_json_open(out, NULL, '{');
	for (const rt_cli_topic_row *row = topic->rows; row->term != NULL; row++)
		rt_json_put_c(out, row->term, row->text);
	rt_json_close(out, '}');
}

static void
formats_text(rt_cli *cli)
{
	char term[64];

	title(cli, "Formats");
	for (size_t i = 0; rt_formats[i] != NULL; i++) {
		const rt_format *f = rt_formats[i];

		snprintf(term, sizeof(term), "%-12s %s%s%s", f->name,
			 f->read != NULL ? "import" : "",
			 f->read != NULL && f->write != NULL ? ", " : "",
			 f->write != NULL ? "export" : "");
		add_row(cli, term, f->about, 32);
	}
	paragraph(cli,
		  "import detects the format from the content of the file; for export, give it "
		  "with --format.");
}

static void
formats_json(rt_buf *out)
{
	rt_json_open(out, NULL, '[');
	for (size_t i = 0; rt_formats[i] != NULL; i++) {
		rt_json_open(out, NULL, '{');
		rt_json_put_c(out, "name", rt_formats[i]->name);
		rt_json_put_c(out, "extension", rt_formats[i]->extension);
		rt_json_put_bool(out, "import", rt_formats[i]->read != NULL);
		rt_json_put_bool(out, "export", rt_formats[i]->write != NULL);
		rt_json_put_c(out, "about", rt_formats[i]->about);
		rt_json_close(out, '}');
	}
	rt_json_close(out, ']');
}

const char *
rt_cli_field_word(rt_field_type type)
{
	static const char *const words[] = {
		[RT_FIELD_STRING] = "text",	[RT_FIELD_CONTENT] = "text or array",
		[RT_FIELD_ADDRESS] = "entry",	[RT_FIELD_NUMBER] = "number",
		[RT_FIELD_BOOL] = "true or false", [RT_FIELD_ARRAY] = "array",
		[RT_FIELD_MOMENT] = "time",	[RT_FIELD_ANY] = "any",
	};

	return words[type];
}

static void
operation_text(rt_cli *cli, const rt_op *op)
{
	char about[512];

	rt_term_style(&cli->out, RT_STYLE_BOLD);
	rt_term_c(&cli->out, op->name);
	rt_term_style(&cli->out, RT_STYLE_NONE);
	rt_term_f(&cli->out, ": %s\n", op->about);
	for (const rt_op_field *field = op->fields; field->name != NULL; field++) {
		snprintf(about, sizeof(about), "%s%s%s%s%s", rt_cli_field_word(field->type),
			 (field->flags & RT_FIELD_NULLABLE) ? " or null" : "",
			 (field->flags & RT_FIELD_REQUIRED) ? ", needed" : "",
			 field->about[0] != 0 ? ": " : "", field->about);
		add_row(cli, field->name, about, 14);
	}
	if ((op->flags & RT_OP_OPEN) != 0)
		add_row(cli, "…", "other fields are stored with the entry", 14);
}

static void
operations_text(rt_cli *cli)
{
	title(cli, "Operations");
	paragraph(
		cli,
		"retake apply reads one JSON object per line: "
		"{\"op\":\"entry.append\",\"content\":\"hi\"}. Every operation also accepts "
		"\"discussion\" and \"take\", like -d and --take, and \"git_commit\", which is "
		"recorded with the take instead of the commit of the working tree.");
	for (size_t i = 0; i < RT_OP_COUNT; i++) {
		rt_term_c(&cli->out, "\n");
		operation_text(cli, &rt_ops[i]);
	}
}

static void
operations_json(rt_buf *out)
{
	rt_json_open(out, NULL, '[');
	for (size_t i = 0; i < RT_OP_COUNT; i++) {
		rt_json_open(out, NULL, '{');
		rt_json_put_c(out, "op", rt_ops[i].name);
		rt_json_put_c(out, "about", rt_ops[i].about);
		rt_json_open(out, "fields", '[');
		for (const rt_op_field *f = rt_ops[i].fields; f->name != NULL; f++) {
			rt_json_open(out, NULL, '{');
			rt_json_put_c(out, "name", f->name);
			rt_json_put_c(out, "type", rt_cli_field_word(f->type));
			rt_json_put_bool(out, "required", (f->flags & RT_FIELD_REQUIRED) != 0);
			rt_json_put_bool(out, "nullable", (f->flags & RT_FIELD_NULLABLE) != 0);
			rt_json_put_c(out, "about", f->about);
			rt_json_close(out, '}');
		}
		rt_json_close(out, ']');
		rt_json_open(out, "events", '[');
		for (const rt_action_event_names *e = rt_action_events; e->what != 0; e++) {
			if ((rt_ops[i].events & e->what) != 0 && e->before != NULL)
				rt_json_put_c(out, NULL, e->before);
			if ((rt_ops[i].events & e->what) != 0 && e->after != NULL)
				rt_json_put_c(out, NULL, e->after);
		}
		rt_json_close(out, ']');
		rt_json_close(out, '}');
	}
	rt_json_close(out, ']');
}

static void
nearest_of(const rt_cli_topic *topics, const char *word, size_t *nearest, const char **found)
{
	for (; topics->name != NULL; topics++) {
		size_t distance = rt_args_distance(word, topics->name);

		if (distance < *nearest) {
			*nearest = distance;
			*found = topics->name;
		}
	}
}

static void
hint_topics(rt_cli *cli)
{
	const rt_cli_topic *const lists[] = {rt_cli_topics, rt_cli_generated_topics};
	rt_buf *names = rt_scope_buf(&cli->s);

	for (size_t i = 0; i < 2; i++)
		for (const rt_cli_topic *topic = lists[i]; topic->name != NULL; topic++)
			rt_buf_add_f(names, "%s%s", names->size > 0 ? ", " : "", topic->name);
	rt_cli_hint(cli, "Topics: %.*s   All commands: retake help",
		    RT_STR_ARG(rt_scope_str(&cli->s, names)));
}

static void
unknown_topic(rt_cli *cli, const char *word)
{
	const char *near = rt_command_nearest(cli->commands, word);
	size_t nearest = near != NULL ? rt_args_distance(word, near) : SIZE_MAX;

	nearest_of(rt_cli_topics, word, &nearest, &near);
	nearest_of(rt_cli_generated_topics, word, &nearest, &near);
	if (rt_other_verb(word) != NULL)
		rt_cli_hint(cli, "Did you mean: retake %s   All: retake help", rt_other_verb(word));
	else if (rt_args_is_near(nearest, strlen(word)))
		rt_cli_hint(cli, "Did you mean: retake help %s   All: retake help", near);
	else
		hint_topics(cli);
	rt_cli_fail(cli, RT_NOT_FOUND, "there is no command or topic \"%.60s\"", word);
}

static void
explain_topic(rt_cli *cli, const char *word)
{
	const rt_cli_topic *topic = rt_cli_topics;
	bool formats = strcmp(word, "formats") == 0, operations = strcmp(word, "operations") == 0;
	rt_buf *json = rt_scope_buf(&cli->s);

	while (topic->name != NULL && strcmp(topic->name, word) != 0)
		topic++;
	if (topic->name == NULL && !formats && !operations) {
		unknown_topic(cli, word);
	} else if (cli->json) {
		if (formats)
			formats_json(json);
		else if (operations)
			operations_json(json);
		else
			topic_json(topic, json);
		rt_cli_print_json(cli, json);
	} else {
		if (!rt_cli_has(cli, "no-pager"))
			rt_term_page(&cli->out);
		if (formats)
			formats_text(cli);
		else if (operations)
			operations_text(cli);
		else
			topic_text(cli, topic);
	}
}

/* Every command in full. */
static void
explain_each(rt_cli *cli)
{
	if (cli->json) {
		rt_cli_help_command(cli, NULL);
		return;
	}
	if (!rt_cli_has(cli, "no-pager"))
		rt_term_page(&cli->out);
	for (size_t i = 0; cli->commands[i] != NULL; i++)
		if (!(cli->commands[i]->traits & RT_COMMAND_HIDDEN)) {
			rt_term_c(&cli->out, i > 0 ? "\n" : "");
			explain(cli, cli->commands[i]);
		}
}

static void
run_help(rt_cli *cli)
{
	const char *word = rt_cli_word(cli, 0);
	const rt_command *command = word == NULL ? NULL : rt_command_named(cli->commands, word);
	rt_buf *page = rt_scope_buf(&cli->s);

	if (rt_cli_has(cli, "man")) {
		rt_cli_manpage(cli->commands, page);
		rt_term_raw(&cli->out, rt_scope_str(&cli->s, page));
	} else if (word == NULL || command != NULL) {
		rt_cli_help_command(cli, command);
	} else if (strcmp(word, "all") == 0) {
		explain_each(cli);
	} else if (strcmp(word, "events") == 0) {
		rt_cli_help_events(cli);
	} else if (strcmp(word, "keys") == 0) {
		cli->help_keys(cli);
	} else {
		explain_topic(cli, word);
	}
}

static const rt_flag help_flags[] = {
	{"man", 0, NULL, RT_ARG_TEXT, NULL},
	{"markdown", 0, NULL, RT_ARG_TEXT, NULL},
	{NULL, 0, NULL, RT_ARG_TEXT, NULL},
};

const rt_command rt_cli_help = {
	.name = "help",
	.group = RT_COMMANDS_LEARNING,
	.max_words = 1,
	.usage = "[COMMAND | TOPIC | all]",
	.summary = "show help for a command or a topic",
	.about = "all shows the help of every command.",
	.examples = "retake help edit\nretake help addressing",
	.flags = help_flags,
	.kinds = {RT_ARG_COMMAND},
	.run = run_help,
};
