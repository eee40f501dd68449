/* SPDX-License-Identifier: MIT
 *
 * help, and what is printed instead of a command: welcome, version. */
#include "cli/help.h"

#include <stdio.h>

#include "app/screen.h"
#include "formats/formats.h"

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

/* Broken at the terminal's width, or at 80 columns where there is none. */
static void
paragraph(rt_cli *cli, const char *text, size_t indent)
{
	size_t columns = cli->out.columns;

	cli->out.columns = columns == 0 || columns > 100 ? WIDTH : columns;
	rt_term_indented(&cli->out, rt_str_of(text), indent);
	cli->out.columns = columns;
}

/* "  term   text", the text in a column of its own. */
static void
add_row(rt_cli *cli, const char *term, const char *text, size_t column)
{
	rt_term *out = &cli->out;
	size_t used = 2 + rt_screen_width(rt_str_of(term));
	size_t width = out->columns == 0 || out->columns > 100 ? WIDTH : out->columns;
	size_t skip, size;
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
		rest.ptr += size + skip;
		rest.size -= size + skip;
		used = 0;
	} while (rest.size > 0);
}

/* --- welcome, version --- */

rt_status
rt_cli_help_version(rt_cli *cli)
{
	if (cli->json)
		return rt_old_print_json(
			cli, RT_STR("{\"name\":\"retake\",\"version\":\"" RT_VERSION "\"}"));
	rt_term_c(&cli->out, "retake " RT_VERSION "\n");
	return RT_OK;
}

rt_status
rt_cli_help_welcome(rt_cli *cli)
{
	if (cli->json)
		return rt_cli_help_command(cli, NULL);
	rt_term_style(&cli->out, RT_STYLE_BOLD);
	rt_term_c(&cli->out, "retake");
	rt_term_style(&cli->out, RT_STYLE_NONE);
	rt_term_f(&cli->out, ": %s\n\nBegin with one of these:\n", rt_cli_tagline);
	add_row(cli, "retake demo", "a tour that needs no model and no network", 26);
	add_row(cli, "retake import FILE", "read a conversation of another program", 26);
	add_row(cli, "retake add \"Hello\"", "write the first entry of your own", 26);
	rt_term_c(&cli->out, "\nThen:\n");
	add_row(cli, "retake show", "what is there", 26);
	add_row(cli, "retake tree", "all takes as a tree", 26);
	add_row(cli, "retake undo", "take back anything", 26);
	add_row(cli, "retake help", "all commands", 26);
	return RT_OK;
}

/* --- one command --- */

static void
flag_term(const rt_flag *flag, rt_buf *out)
{
	rt_buf_clear(out);
	if (flag->letter != 0)
		rt_buf_add_f(out, "-%c, ", flag->letter);
	else
		rt_buf_add_c(out, "    ");
	rt_buf_add_f(out, "--%s", flag->name);
	if (flag->value != NULL)
		rt_buf_add_f(out, " %s", flag->value);
}

/* Is there one that is not hidden? */
static bool
has_flags(const rt_flag *flags)
{
	for (; flags != NULL && flags->name != NULL; flags++)
		if (flags->about != NULL)
			return true;
	return false;
}

static void
add_flags(rt_cli *cli, const rt_flag *flags)
{
	rt_buf term;

	rt_buf_init(&term, cli->alloc, 4096);
	for (; flags != NULL && flags->name != NULL; flags++) {
		if (flags->about == NULL)
			continue;
		flag_term(flags, &term);
		add_row(cli, term.ptr, flags->about, 28);
	}
	rt_buf_deinit(&term);
}

static void
add_lines(rt_cli *cli, const char *before, const char *lines)
{
	for (;;) {
		size_t size = strcspn(lines, "\n");

		rt_term_f(&cli->out, "  %s%s%.*s\n", before, before[0] != 0 && size > 0 ? " " : "",
			  (int)size, lines);
		if (lines[size] == 0)
			break;
		lines += size + 1;
	}
}

static void
explain(rt_cli *cli, const rt_command *command)
{
	char before[64];

	rt_term_style(&cli->out, RT_STYLE_BOLD);
	rt_term_f(&cli->out, "retake %s", command->name);
	rt_term_style(&cli->out, RT_STYLE_NONE);
	rt_term_f(&cli->out, ": %s\n\n", command->summary);
	title(cli, "Usage");
	snprintf(before, sizeof(before), "retake %s", command->name);
	add_lines(cli, before, command->usage);
	if (command->about != NULL) {
		rt_term_c(&cli->out, "\n");
		paragraph(cli, command->about, 0);
	}
	if (has_flags(command->flags)) {
		rt_term_c(&cli->out, "\n");
		title(cli, "Flags");
		add_flags(cli, command->flags);
	}
	if (command->examples != NULL) {
		rt_term_c(&cli->out, "\n");
		title(cli, "Examples");
		add_lines(cli, "", command->examples);
	}
	rt_term_c(&cli->out, "\n");
	if (command->alias != NULL)
		rt_term_f(&cli->out, "Short: retake %s\n", command->alias);
	if (command->ops != NULL)
		rt_term_f(&cli->out, "Operations (retake help operations): %s\n", command->ops);
	rt_term_c(&cli->out,
		  "Entries: retake help addressing   Flags of every command: retake help\n");
}

/* --- all of them --- */

static void
explain_all(rt_cli *cli)
{
	const rt_cli_topic *topic;
	int group;
	size_t i;

	rt_term_style(&cli->out, RT_STYLE_BOLD);
	rt_term_c(&cli->out, "retake");
	rt_term_style(&cli->out, RT_STYLE_NONE);
	rt_term_f(&cli->out, ": %s\n\nUsage: retake [FLAGS] COMMAND …\n", rt_cli_tagline);
	for (group = 0; group < RT_COMMAND_GROUP_COUNT; group++) {
		rt_term_c(&cli->out, "\n");
		title(cli, rt_command_group_names[group]);
		for (i = 0; cli->commands[i] != NULL; i++)
			if ((int)cli->commands[i]->group == group &&
			    !(cli->commands[i]->traits & RT_COMMAND_HIDDEN))
				add_row(cli, cli->commands[i]->name, cli->commands[i]->summary, 14);
	}
	rt_term_c(&cli->out, "\n");
	title(cli, "Flags of every command, before or behind it");
	add_flags(cli, rt_global_flags);
	rt_term_c(&cli->out, "\n");
	title(cli, "Topics");
	for (topic = rt_cli_topics; topic->name != NULL; topic++)
		add_row(cli, topic->name, topic->summary, 14);
	add_row(cli, "events", "what hooks are told of", 14);
	add_row(cli, "formats", "what import and export read and write", 14);
	add_row(cli, "keys", "what keys do on the screens of the terminal", 14);
	add_row(cli, "operations", "what apply carries out", 14);
	rt_term_c(&cli->out, "\nMore: retake help COMMAND, retake help TOPIC, man retake\n");
}

/* --- as JSON --- */

static void
json_flags(rt_buf *out, const rt_flag *flags)
{
	rt_buf_add_byte(out, '[');
	for (; flags != NULL && flags->name != NULL; flags++) {
		if (flags->about == NULL)
			continue;
		rt_json_add_comma(out);
		rt_buf_add_f(out, "{\"name\":\"--%s\"", flags->name);
		if (flags->letter != 0)
			rt_buf_add_f(out, ",\"short\":\"-%c\"", flags->letter);
		if (flags->value != NULL)
			rt_buf_add_f(out, ",\"value\":\"%s\"", flags->value);
		rt_buf_add_c(out, ",\"about\":");
		rt_json_add_string(out, rt_str_of(flags->about));
		rt_buf_add_byte(out, '}');
	}
	rt_buf_add_byte(out, ']');
}

static void
json_command(rt_buf *out, const rt_command *command)
{
	const char *ops = command->ops;

	rt_buf_add_f(out, "{\"name\":\"%s\",\"group\":\"%s\",\"usage\":", command->name,
		     rt_command_group_names[command->group]);
	rt_json_add_string(out, rt_str_of(command->usage));
	rt_buf_add_c(out, ",\"summary\":");
	rt_json_add_string(out, rt_str_of(command->summary));
	if (command->about != NULL) {
		rt_buf_add_c(out, ",\"about\":");
		rt_json_add_string(out, rt_str_of(command->about));
	}
	rt_buf_add_c(out, ",\"flags\":");
	json_flags(out, command->flags);
	rt_buf_add_c(out, ",\"operations\":[");
	while (ops != NULL && *ops != 0) {
		size_t size = strcspn(ops, " ");

		rt_json_add_comma(out);
		rt_json_add_string(out, rt_str_at(ops, size));
		ops += size + (ops[size] == ' ');
	}
	rt_buf_add_c(out, "]}");
}

static rt_status
print_json_help(rt_cli *cli, const rt_command *command)
{
	size_t i;
	rt_status st;
	rt_buf out;

	rt_buf_init(&out, cli->alloc, RT_BUF_UNLIMITED);
	if (command != NULL) {
		json_command(&out, command);
	} else {
		rt_buf_add_c(&out, "{\"version\":\"" RT_VERSION "\",\"flags\":");
		json_flags(&out, rt_global_flags);
		rt_buf_add_c(&out, ",\"commands\":[");
		for (i = 0; cli->commands[i] != NULL; i++) {
			if (cli->commands[i]->traits & RT_COMMAND_HIDDEN)
				continue;
			rt_json_add_comma(&out);
			json_command(&out, cli->commands[i]);
		}
		rt_buf_add_c(&out, "]}");
	}
	st = rt_old_buf(cli, &out);
	if (st == RT_OK)
		st = rt_old_print_json(cli, rt_buf_str(&out));
	rt_buf_deinit(&out);
	return st;
}

rt_status
rt_cli_help_command(rt_cli *cli, const rt_command *command)
{
	if (cli->json)
		return print_json_help(cli, command);
	if (!rt_cli_has(cli, "no-pager"))
		rt_term_page(&cli->out);
	if (command != NULL)
		explain(cli, command);
	else
		explain_all(cli);
	return RT_OK;
}

/* --- topics --- */

static void
topic_text(rt_cli *cli, const rt_cli_topic *topic)
{
	const rt_cli_topic_row *row;
	size_t column = 0;

	title(cli, topic->title);
	if (topic->intro != NULL)
		paragraph(cli, topic->intro, 0);
	for (row = topic->rows; row->term != NULL; row++)
		if (rt_screen_width(rt_str_of(row->term)) + 4 > column)
			column = rt_screen_width(rt_str_of(row->term)) + 4;
	for (row = topic->rows; row->term != NULL; row++)
		add_row(cli, row->term, row->text, column < 26 ? column : 26);
	if (topic->outro != NULL)
		paragraph(cli, topic->outro, 0);
}

static void
formats_text(rt_cli *cli)
{
	char term[64];
	size_t i;

	title(cli, "Formats");
	for (i = 0; rt_formats[i] != NULL; i++) {
		const rt_format *f = rt_formats[i];

		snprintf(term, sizeof(term), "%-10s %s%s%s", f->name,
			 f->read != NULL ? "import" : "",
			 f->read != NULL && f->write != NULL ? ", " : "",
			 f->write != NULL ? "export" : "");
		add_row(cli, term, f->about, 30);
	}
	paragraph(cli,
		  "import finds the format by the content of a file; export is told with --format.",
		  0);
}

const char *
rt_cli_field_word(rt_field_type type)
{
	switch (type) {
	case RT_FIELD_STRING: return "text";
	case RT_FIELD_CONTENT: return "text or array";
	case RT_FIELD_ADDRESS: return "entry";
	case RT_FIELD_NUMBER: return "number";
	case RT_FIELD_BOOL: return "true or false";
	case RT_FIELD_ARRAY: return "array";
	case RT_FIELD_MOMENT: return "time";
	case RT_FIELD_ANY: return "any";
	}
	return "any";
}

static void
operation_text(rt_cli *cli, const rt_op *op)
{
	const rt_op_field *field;
	rt_buf about;

	rt_term_style(&cli->out, RT_STYLE_BOLD);
	rt_term_c(&cli->out, op->name);
	rt_term_style(&cli->out, RT_STYLE_NONE);
	rt_term_f(&cli->out, ": %s\n", op->about);
	rt_buf_init(&about, cli->alloc, 4096);
	for (field = op->fields; field->name != NULL; field++) {
		rt_buf_clear(&about);
		rt_buf_add_f(&about, "%s%s%s%s%s", rt_cli_field_word(field->type),
			     (field->flags & RT_FIELD_NULLABLE) ? " or null" : "",
			     (field->flags & RT_FIELD_REQUIRED) ? ", needed" : "",
			     field->about[0] != 0 ? ": " : "", field->about);
		add_row(cli, field->name, about.ptr, 14);
	}
	if ((op->flags & RT_OP_OPEN) != 0)
		add_row(cli, "…", "further fields are kept with the entry", 14);
	rt_buf_deinit(&about);
}

static void
operations_text(rt_cli *cli)
{
	size_t i;

	title(cli, "Operations");
	paragraph(
		cli,
		"retake apply reads one JSON object a line: {\"op\":\"entry.append\",\"content\":\"hi\"}. "
		"Any operation may also say \"discussion\" and \"take\", as -d and --take do.",
		0);
	for (i = 0; i < RT_OP_COUNT; i++) {
		rt_term_c(&cli->out, "\n");
		operation_text(cli, &rt_ops[i]);
	}
}

static rt_status
operations_json(rt_cli *cli)
{
	const rt_op_field *field;
	size_t i;
	rt_status st;
	rt_buf out;

	rt_buf_init(&out, cli->alloc, RT_BUF_UNLIMITED);
	rt_buf_add_byte(&out, '[');
	for (i = 0; i < RT_OP_COUNT; i++) {
		rt_json_add_comma(&out);
		rt_buf_add_f(&out, "{\"op\":\"%s\",\"about\":", rt_ops[i].name);
		rt_json_add_string(&out, rt_str_of(rt_ops[i].about));
		rt_buf_add_c(&out, ",\"fields\":[");
		for (field = rt_ops[i].fields; field->name != NULL; field++) {
			rt_json_add_comma(&out);
			rt_buf_add_f(&out,
				     "{\"name\":\"%s\",\"type\":\"%s\",\"required\":%s,"
				     "\"nullable\":%s,\"about\":",
				     field->name, rt_cli_field_word(field->type),
				     (field->flags & RT_FIELD_REQUIRED) ? "true" : "false",
				     (field->flags & RT_FIELD_NULLABLE) ? "true" : "false");
			rt_json_add_string(&out, rt_str_of(field->about));
			rt_buf_add_byte(&out, '}');
		}
		rt_buf_add_c(&out, "]}");
	}
	rt_buf_add_byte(&out, ']');
	st = rt_old_buf(cli, &out);
	if (st == RT_OK)
		st = rt_old_print_json(cli, rt_buf_str(&out));
	rt_buf_deinit(&out);
	return st;
}

static rt_status
topic_json(rt_cli *cli, const rt_cli_topic *topic)
{
	const rt_cli_topic_row *row;
	rt_status st;
	rt_buf out;

	rt_buf_init(&out, cli->alloc, RT_BUF_UNLIMITED);
	rt_buf_add_byte(&out, '{');
	for (row = topic->rows; row->term != NULL; row++) {
		rt_json_add_key(&out, row->term);
		rt_json_add_string(&out, rt_str_of(row->text));
	}
	rt_buf_add_byte(&out, '}');
	st = rt_old_print_json(cli, rt_buf_str(&out));
	rt_buf_deinit(&out);
	return st;
}

static rt_status
formats_json(rt_cli *cli)
{
	size_t i;
	rt_status st;
	rt_buf out;

	rt_buf_init(&out, cli->alloc, RT_BUF_UNLIMITED);
	rt_buf_add_byte(&out, '[');
	for (i = 0; rt_formats[i] != NULL; i++) {
		rt_json_add_comma(&out);
		rt_buf_add_f(&out,
			     "{\"name\":\"%s\",\"extension\":\"%s\",\"import\":%s,\"export\":%s,"
			     "\"about\":",
			     rt_formats[i]->name, rt_formats[i]->extension,
			     rt_formats[i]->read != NULL ? "true" : "false",
			     rt_formats[i]->write != NULL ? "true" : "false");
		rt_json_add_string(&out, rt_str_of(rt_formats[i]->about));
		rt_buf_add_byte(&out, '}');
	}
	rt_buf_add_byte(&out, ']');
	st = rt_old_print_json(cli, rt_buf_str(&out));
	rt_buf_deinit(&out);
	return st;
}

static rt_status
print_manpage(rt_cli *cli)
{
	rt_status st;
	rt_buf out;

	rt_buf_init(&out, cli->alloc, RT_BUF_UNLIMITED);
	rt_cli_manpage(cli->commands, &out);
	st = rt_old_buf(cli, &out);
	if (st == RT_OK)
		rt_term_raw(&cli->out, rt_buf_str(&out));
	rt_buf_deinit(&out);
	return st;
}

/* The command or topic that is spelled most like it; NULL: none is near. */
static const char *
nearest_topic(const rt_cli *cli, const char *word)
{
	static const char *const made[] = {"events", "formats", "keys",
					   "operations"}; /* of tables */
	const char *found = rt_command_nearest(cli->commands, word);
	size_t nearest = found != NULL ? rt_args_distance(word, found) : SIZE_MAX;

	for (const rt_cli_topic *topic = rt_cli_topics; topic->name != NULL; topic++) {
		size_t distance = rt_args_distance(word, topic->name);

		if (distance < nearest) {
			nearest = distance;
			found = topic->name;
		}
	}
	for (size_t i = 0; i < sizeof(made) / sizeof(made[0]); i++) {
		size_t distance = rt_args_distance(word, made[i]);

		if (distance < nearest) {
			nearest = distance;
			found = made[i];
		}
	}
	return rt_args_is_near(nearest, strlen(word)) ? found : NULL;
}

static rt_status
unknown_topic(rt_cli *cli, const char *word)
{
	const char *near = nearest_topic(cli, word);

	if (near != NULL)
		rt_old_hint(cli, RT_NOT_FOUND, "Did you mean: retake help %s   All: retake help",
			    near);
	else
		rt_old_hint(cli, RT_NOT_FOUND, "All commands and topics: retake help");
	return rt_old_fail(cli, RT_NOT_FOUND, "there is no command or topic \"%.60s\"", word);
}

static rt_status
run_help(rt_cli *cli)
{
	const char *word = rt_cli_word(cli, 0);
	const rt_command *command;
	const rt_cli_topic *topic = rt_cli_topics;

	if (rt_cli_has(cli, "man"))
		return print_manpage(cli);
	if (word == NULL)
		return rt_cli_help_command(cli, NULL);
	command = rt_command_named(cli->commands, word);
	if (command != NULL)
		return rt_cli_help_command(cli, command);
	if (strcmp(word, "events") == 0)
		return rt_cli_help_events(cli);
	if (strcmp(word, "keys") == 0)
		{ cli->help_keys(cli); return rt_cli_recover(cli, &cli->error); }
	while (topic->name != NULL && strcmp(topic->name, word) != 0)
		topic++;
	if (strcmp(word, "operations") == 0 && cli->json)
		return operations_json(cli);
	if (strcmp(word, "formats") == 0 && cli->json)
		return formats_json(cli);
	if (topic->name != NULL && cli->json)
		return topic_json(cli, topic);
	if (topic->name == NULL && strcmp(word, "operations") != 0 && strcmp(word, "formats") != 0)
		return unknown_topic(cli, word);
	if (!rt_cli_has(cli, "no-pager"))
		rt_term_page(&cli->out);
	if (topic->name != NULL)
		topic_text(cli, topic);
	else if (strcmp(word, "formats") == 0)
		formats_text(cli);
	else
		operations_text(cli);
	return RT_OK;
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
	.usage = "[COMMAND | TOPIC]",
	.summary = "explain a command or a topic",
	.examples = "retake help edit\nretake help addressing",
	.flags = help_flags,
	.kinds = {RT_ARG_COMMAND},
	.run_status = run_help,
};
