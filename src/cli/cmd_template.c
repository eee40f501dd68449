/* SPDX-License-Identifier: MIT
 *
 * template: prompt templates, which are settings of the project named template.NAME. */
#include "cli/template.h"

#include "app/template.h"

enum { VALUE_ROOM = 4096 };

/* ---- using one ---- */

static rt_template_variable *
variable_named(rt_template_variables *all, rt_str name)
{
	for (size_t i = 0; i < all->count; i++)
		if (rt_str_eq(all->items[i].name, name))
			return &all->items[i];
	return NULL;
}

/* The values of --var. */
static void
read_values(rt_cli *cli, const char *template, rt_template_variables *all)
{
	for (size_t i = 0; i < cli->args.given_count && rt_ok(&cli->s); i++) {
		rt_str value = rt_str_of(cli->args.given[i].value), name = value;

		if (strcmp(cli->args.given[i].flag->name, "var") != 0)
			continue;
		if (rt_str_find(value, RT_STR("="), 0) == SIZE_MAX) {
			rt_cli_fail(cli, RT_USAGE, "--var must be NAME=VALUE, not \"%.80s\"",
				    cli->args.given[i].value);
			return;
		}
		(void)rt_str_split(&value, '=', &name);
		rt_template_variable *variable = variable_named(all, name);
		if (variable == NULL) {
			rt_cli_hint(cli, "Its text: retake template %s", template);
			rt_cli_fail(cli, RT_USAGE, "the template \"%s\" has no variable \"%.*s\"",
				    template, RT_STR_ARG(name));
			return;
		}
		variable->value = rt_cli_check_utf8(cli, value.ptr != NULL ? value : RT_STR(""));
	}
}

/* Asks a person for the others; without a person they must be given. */
static void
ask_values(rt_cli *cli, const char *template, rt_template_variables *all)
{
	rt_buf *missing = rt_scope_buf(&cli->s), *flags = rt_scope_buf(&cli->s);

	for (size_t i = 0; i < all->count && rt_ok(&cli->s); i++) {
		rt_template_variable *variable = &all->items[i];
		char line[VALUE_ROOM];

		if (variable->value.ptr != NULL)
			continue;
		if (cli->no_input || !rt_host_can_ask()) {
			rt_buf_add_f(missing, "%s%.*s", missing->size > 0 ? ", " : "",
				     RT_STR_ARG(variable->name));
			rt_buf_add_f(flags, " --var %.*s=…", RT_STR_ARG(variable->name));
			continue;
		}
		rt_term_line(&cli->err, variable->name);
		rt_term_c(&cli->err, ": ");
		rt_term_flush(&cli->err);
		if (!rt_host_ask(line, sizeof(line)))
			rt_cli_fail(cli, RT_INTERRUPTED, "stopped");
		variable->value = rt_cli_check_utf8(cli, rt_scope_copy(&cli->s, rt_str_of(line)));
	}
	if (missing->size == 0 || !rt_ok(&cli->s))
		return;
	rt_cli_hint(cli, "Set them: retake ask --template %s%s", template,
		    rt_scope_str(&cli->s, flags).ptr);
	rt_cli_fail(cli, RT_USAGE, "the template \"%s\" needs a value for %s", template,
		    rt_scope_str(&cli->s, missing).ptr);
}

static rt_str
text_of(rt_cli *cli, const char *name)
{
	rt_view view = rt_cli_view(cli);
	rt_str text = rt_template_text(&view, rt_str_of(name));

	if (rt_ok(&cli->s) && text.ptr == NULL) {
		rt_cli_hint(cli, "Templates: retake template");
		rt_cli_fail(cli, RT_NOT_FOUND, "there is no template \"%.80s\"", name);
	}
	return text;
}

rt_str
rt_cli_template(rt_cli *cli, const char *name, rt_str more)
{
	rt_str text = text_of(cli, name);
	rt_buf *out = rt_scope_buf(&cli->s);
	rt_template_variables all = {.count = 0};

	if (!rt_ok(&cli->s))
		return text;
	rt_template_read(&cli->s, text, &all);
	read_values(cli, name, &all);
	ask_values(cli, name, &all);
	rt_template_fill(text, &all, out);
	if (more.size > 0)
		rt_buf_add_c(out, "\n\n");
	rt_buf_add_str(out, more);
	return rt_scope_str(&cli->s, out);
}

/* ---- the command ---- */

static void
list_templates(rt_cli *cli)
{
	const rt_str prefix = RT_STR(RT_TEMPLATE_KEY);
	rt_view view = rt_cli_view(cli);
	const rt_settings_row *row = rt_settings_read(&view);
	rt_buf *json = rt_scope_buf(&cli->s);
	bool any = false;

	if (row == NULL)
		return;
	rt_json_open(json, NULL, '{');
	for (size_t i = 0; i < row->settings.count; i++) {
		rt_str key = row->settings.items[i].name;

		if (!rt_str_starts(key, prefix))
			continue;
		any = true;
		rt_json_add_key_str(json, rt_str_skip(key, prefix.size));
		rt_buf_add_str(json, row->settings.items[i].value);
		if (cli->json)
			continue;
		rt_str text = rt_json_str(rt_json_parse(&cli->s, row->settings.items[i].value));
		rt_term_style(&cli->out, RT_STYLE_BOLD);
		rt_term_line(&cli->out, rt_str_skip(key, prefix.size));
		rt_term_style(&cli->out, RT_STYLE_NONE);
		rt_term_c(&cli->out, "  ");
		rt_term_line(&cli->out, rt_str_at(text.ptr, rt_utf8_cut(text, 70)));
		rt_term_c(&cli->out, "\n");
	}
	rt_json_close(json, '}');
	if (cli->json)
		rt_cli_print_json(cli, json);
	else if (!any)
		rt_cli_advise(cli, "No templates. To save one: retake template save NAME "
				   "\"Review {{file}}.\"\n");
}

static void
show_template(rt_cli *cli, const char *name)
{
	rt_str text = text_of(cli, name);
	rt_buf *json = rt_scope_buf(&cli->s);

	if (!rt_ok(&cli->s))
		return;
	if (cli->json) {
		rt_json_add_string(json, text);
		rt_cli_print_json(cli, json);
		return;
	}
	rt_term_text(&cli->out, text);
	if (text.size == 0 || text.ptr[text.size - 1] != '\n')
		rt_term_c(&cli->out, "\n");
}

/* text.ptr NULL: it is deleted. */
static void
change_template(rt_cli *cli, const char *name, rt_str text)
{
	rt_scope *s = &cli->s;
	rt_buf *key = rt_scope_buf(s), *value = rt_scope_buf(s);
	rt_request request = {.op = RT_OP_SETTING_SET, .which = RT_STR("project")};

	if (!rt_template_name_is_legal(rt_str_of(name)))
		rt_cli_fail(cli, RT_USAGE, "the name of a template is 1 to 40 letters, digits, - and "
			    "_, not \"%.80s\"", name);
	rt_buf_add_c(key, RT_TEMPLATE_KEY);
	rt_buf_add_c(key, name);
	if (text.ptr != NULL)
		rt_json_add_string(value, text);
	else
		rt_buf_add_c(value, "null");
	request.key = rt_scope_str(s, key);
	request.value = rt_json_parse(s, rt_scope_str(s, value));
	if (text.ptr == NULL && rt_cli_open(cli, RT_SESSION_CHANGE))
		(void)text_of(cli, name);
	const rt_result *result = rt_cli_execute(cli, &request, 1);
	rt_cli_say_result(cli, result, text.ptr != NULL
			  ? "Saved the template \"%s\". Use it: retake ask --template %s"
			  : "Deleted the template \"%s\".", name, name);
}

static void
run_template(rt_cli *cli)
{
	const char *verb = rt_cli_word(cli, 0), *name = rt_cli_word(cli, 1);

	if (verb != NULL && strcmp(verb, "save") == 0 && name != NULL) {
		rt_str text = rt_cli_text(cli, 2);

		if (rt_ok(&cli->s) && rt_str_trim(text).size == 0)
			rt_cli_fail(cli, RT_USAGE, "template save needs a NAME and a text");
		change_template(cli, name, text);
	} else if (verb != NULL && strcmp(verb, "delete") == 0 && name != NULL) {
		change_template(cli, name, (rt_str){NULL, 0});
	} else if (verb != NULL && (strcmp(verb, "save") == 0 || strcmp(verb, "delete") == 0)) {
		bool saves = strcmp(verb, "save") == 0;

		rt_cli_hint(cli, "Usage: retake template %s NAME%s   More: retake help template", verb,
			    saves ? " TEXT…" : "");
		rt_cli_fail(cli, RT_USAGE, "template %s needs a NAME%s", verb,
			    saves ? " and a text" : "");
	} else if (name != NULL) {
		rt_cli_fail(cli, RT_USAGE, "template has no subcommand \"%.40s\"; use save or "
					   "delete with a NAME",
			    verb);
	} else if (rt_cli_open(cli, RT_SESSION_LOOK)) {
		if (verb == NULL)
			list_templates(cli);
		else
			show_template(cli, verb);
	}
}

static const rt_flag template_flags[] = {
	{"file", 'f', "FILE", RT_ARG_FILE, "read the text from a file (\"-\": standard input)"},
	{"exact", 0, NULL, RT_ARG_TEXT, "with -f: keep the newline at the end of the file"},
	{NULL, 0, NULL, RT_ARG_TEXT, NULL},
};

const rt_command rt_cli_template_command = {
	.name = "template",
	.alias = "templates",
	.group = RT_COMMANDS_SETTINGS,
	.traits = RT_COMMAND_AT_STEP,
	.max_words = RT_COMMAND_WORDS_ANY,
	.usage = "[NAME]\nsave NAME TEXT…\nsave NAME -f FILE\ndelete NAME",
	.summary = "save, list and delete question templates with variables",
	.about = "A template is a text with variables in double braces. retake ask --template NAME "
		 "--var file=a.c asks with it; variables without a value are prompted for. It is "
		 "stored as the setting template.NAME of the project.",
	.examples = "retake template save review \"Review {{file}} as a {{reader}}.\"\n"
		    "retake ask --template review --var file=a.c --var reader=tester\n"
		    "retake template review",
	.ops = "setting.set",
	.flags = template_flags,
	.kinds = {RT_ARG_TEXT},
	.run = run_template,
};
