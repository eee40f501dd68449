/* SPDX-License-Identifier: MIT
 *
 * set, settings, roles, files, track, preset: properties of the project and of the discussion as a
 * whole. */
#include "cli/cli.h"
#include "cli/model_session.h"
#include "core/setting.h"
#include "llm/models_host.h"
#include "view/view.h"

#include <stdio.h>

/* A value on one line: a string as its text, anything else as JSON. */
static void
print_value(rt_cli *cli, yyjson_val *value)
{
	rt_buf *json = rt_scope_buf(&cli->s);

	if (yyjson_is_str(value)) {
		rt_term_line(&cli->out, rt_json_str(value));
		return;
	}
	rt_json_add_value(json, value);
	rt_term_line(&cli->out, rt_scope_str(&cli->s, json));
}

static void
print_line(rt_cli *cli, yyjson_val *value)
{
	print_value(cli, value);
	rt_term_c(&cli->out, "\n");
}

static void
print_pair(rt_cli *cli, rt_str key, yyjson_val *value)
{
	rt_term_line(&cli->out, key);
	rt_term_c(&cli->out, " = ");
	print_line(cli, value);
}

/* A value as the JSON document; otherwise, if it is NULL. */
static void
print_json_value(rt_cli *cli, yyjson_val *value, const char *otherwise)
{
	rt_buf *json = rt_scope_buf(&cli->s);

	if (value != NULL)
		rt_json_add_value(json, value);
	else
		rt_buf_add_c(json, otherwise);
	rt_cli_print_json(cli, json);
}

/* --- settings --- */

static const char *
type_word(rt_setting_type type)
{
	static const char *const words[] = {
		[RT_SETTING_TEXT] = "text",
		[RT_SETTING_NUMBER] = "number",
		[RT_SETTING_COUNT] = "whole number",
		[RT_SETTING_BOOL] = "true or false",
		[RT_SETTING_UPDATES] = "off, block or json",
		[RT_SETTING_NOTICES] = "none, prompt or all",
		[RT_SETTING_EFFORT] = "none, minimal, low, medium or high",
		[RT_SETTING_OBJECT] = "object",
		[RT_SETTING_TAGS] = "list of texts",
	};

	return words[type];
}

/* A setting that Retake uses, set or not. */
static void
list_known(rt_cli *cli, rt_buf *json, const rt_setting *setting, yyjson_val *value)
{
	rt_json_open(json, NULL, '{');
	rt_json_put_c(json, "key", setting->key);
	rt_json_put_c(json, "type", type_word(setting->type));
	rt_json_put_c(json, "of", setting->of_discussion ? "discussion" : "project");
	rt_json_put_c(json, "about", setting->about);
	if (value != NULL)
		rt_json_put_value(json, "value", value);
	rt_json_close(json, '}');
	if (cli->json)
		return;
	rt_term_f(&cli->out, "%-24s ", setting->key);
	if (value != NULL) {
		rt_term_c(&cli->out, "= ");
		print_value(cli, value);
		rt_term_c(&cli->out, "  ");
	}
	rt_term_style(&cli->out, RT_STYLE_DIM);
	rt_term_f(&cli->out, "%s (%s)", setting->about, type_word(setting->type));
	rt_term_style(&cli->out, RT_STYLE_NONE);
	rt_term_c(&cli->out, "\n");
}

/* Everything that Retake uses, and the other keys that are set. */
static void
list_all(rt_cli *cli, rt_setting_rows rows)
{
	rt_view view = rt_cli_view(cli);
	rt_buf *json = rt_scope_buf(&cli->s);

	rt_json_open(json, NULL, '[');
	for (size_t i = 0; rt_settings[i].key != NULL; i++)
		list_known(cli, json, &rt_settings[i],
			   rt_setting_value(&view, rt_str_of(rt_settings[i].key)));
	for (size_t i = 0; i < rows.count; i++) {
		if (rt_setting_named(rows.items[i].name) != NULL)
			continue;
		rt_json_open(json, NULL, '{');
		rt_json_put_str(json, "key", rows.items[i].name);
		rt_json_put_raw(json, "value", rows.items[i].value);
		rt_json_close(json, '}');
		if (!cli->json)
			print_pair(cli, rows.items[i].name,
				   rt_json_parse(&cli->s, rows.items[i].value));
	}
	rt_json_close(json, ']');
	if (cli->json)
		rt_cli_print_json(cli, json);
}

static void
show_one(rt_cli *cli, const char *key)
{
	rt_view view = rt_cli_view(cli);
	yyjson_val *value = rt_setting_value(&view, rt_str_of(key));

	if (!rt_ok(&cli->s))
		return;
	if (value == NULL) {
		rt_cli_hint(cli,
			    "Settings: retake settings   To set it: retake set %s VALUE",
			    key);
		rt_cli_fail(cli, RT_NOT_FOUND, "the setting \"%.80s\" is not set", key);
	} else if (cli->json) {
		print_json_value(cli, value, "null");
	} else {
		print_line(cli, value);
	}
}

static void
run_settings(rt_cli *cli)
{
	rt_scope *s = &cli->s;
	const char *key = rt_cli_word(cli, 0);
	rt_buf *json = rt_scope_buf(s);
	const rt_settings_row *row;
	rt_view view;

	if (!rt_cli_open(cli, RT_SESSION_LOOK))
		return;
	view = rt_cli_view(cli);
	row = rt_settings_read(&view);
	if (row == NULL)
		return;
	if (rt_cli_has(cli, "all")) {
		list_all(cli, row->settings);
	} else if (key != NULL) {
		show_one(cli, key);
	} else if (cli->json) {
		RT_TRY(s, rt_view_settings(view.engine, view.project, view.place.disc, json,
					   &s->error));
		rt_cli_print_json(cli, json);
	} else if (row->settings.count == 0) {
		rt_cli_advise(cli, "All settings have their defaults. To change one: retake set "
				   "KEY VALUE\n");
	} else {
		for (size_t i = 0; i < row->settings.count; i++)
			print_pair(cli, row->settings.items[i].name,
				   rt_json_parse(s, row->settings.items[i].value));
	}
}

static const rt_flag settings_flags[] = {
	{"all", 'a', NULL, RT_ARG_TEXT, "include all available settings with descriptions"},
	{NULL, 0, NULL, RT_ARG_TEXT, NULL},
};

const rt_command rt_cli_settings = {
	.name = "settings",
	.group = RT_COMMANDS_SETTINGS,
	.traits = RT_COMMAND_AT_STEP,
	.max_words = 1,
	.usage = "[KEY | --all]",
	.summary = "list the changed settings, or show one",
	.examples = "retake settings\nretake settings temperature\nretake settings --all",
	.flags = settings_flags,
	.kinds = {RT_ARG_SETTING},
	.run = run_settings,
};

/* VALUE as JSON: unchanged if it is JSON, else as a string. */
static rt_str
value_json(rt_cli *cli, const char *text)
{
	rt_scope *s = &cli->s;
	rt_buf *quoted = rt_scope_buf(s);
	rt_json_doc *doc = NULL;
	rt_status st = RT_USAGE;

	if (!rt_cli_has(cli, "string"))
		st = rt_json_read(s->alloc, rt_str_of(text), &doc, NULL);
	rt_json_free(doc);
	if (st == RT_OK)
		return rt_str_of(text);
	if (st == RT_NOMEM)
		rt_scope_nomem(s);
	rt_json_add_string(quoted, rt_str_of(text));
	return rt_scope_str(s, quoted);
}

/* A model must exist, as far as that can be found out. */
static void
check_model(rt_cli *cli, const char *text)
{
	rt_scope *s = &cli->s;
	yyjson_val *value = rt_json_parse(s, value_json(cli, text));
	rt_str name = rt_json_str(value);

	if (!yyjson_is_str(value) || !rt_ok(s))
		return;
	if (name.size == 0)
		rt_cli_hint(cli, "To return to the default: retake set model --unset");
	RT_TRY(s, rt_model_session_verify(&cli->session, rt_cli_given(name), &s->error));
}

/* Refuses a key that looks like one that Retake reads, and notes one that Retake does not read. */
static void
advise_key(rt_cli *cli, const char *key)
{
	const char *near = NULL;
	size_t nearest = SIZE_MAX;

	for (size_t i = 0; rt_settings[i].key != NULL; i++) {
		size_t distance = rt_args_distance(key, rt_settings[i].key);

		if (rt_args_is_near(distance, strlen(key)) && distance < nearest) {
			nearest = distance;
			near = rt_settings[i].key;
		}
	}
	if (strcmp(key, "system") == 0 || strcmp(key, "system_prompt") == 0)
		near = "project_system_prompt";
	if (near != NULL)
		rt_cli_fail(cli, RT_USAGE, "there is no setting \"%.60s\"; did you mean %s?", key, near);
	else if (strchr(key, '.') == NULL)
		rt_cli_note(cli, "there is no setting \"%.60s\"; the value is stored for other "
				 "programs. All settings: retake settings --all", key);
}

/* A discussion's own value hides the one that was changed. */
static void
note_own_value(rt_cli *cli, const char *key)
{
	rt_view view = rt_cli_view(cli);
	const rt_settings_row *row;
	rt_buf *value = rt_scope_buf(&cli->s), *unset = rt_scope_buf(&cli->s);

	if (!rt_ok(&cli->s) || cli->json || (row = rt_settings_read(&view)) == NULL)
		return;
	for (size_t i = row->settings.count - row->own; i < row->settings.count; i++) {
		if (!rt_str_is(row->settings.items[i].name, key))
			continue;
		rt_json_add_value(value, rt_json_parse(&cli->s, row->settings.items[i].value));
		rt_cli_add_retake(cli, unset);
		rt_cli_note(cli, "this discussion has its own value, %.*s, which is used instead; to "
				 "remove it: %.*s set %s --unset --here",
			    RT_STR_ARG(rt_scope_str(&cli->s, value)),
			    RT_STR_ARG(rt_scope_str(&cli->s, unset)), key);
	}
}

/* Refuses what belongs in the configuration file, where it would take effect. */
static void
check_place(rt_cli *cli, const char *key)
{
	static const char *const sections[] = {"tui", "provider", "prices", "defaults", "hook"};
	size_t size = strcspn(key, ".");
	rt_buf *path = rt_scope_buf(&cli->s);

	for (size_t i = 0; key[size] != 0 && i < sizeof(sections) / sizeof(*sections); i++) {
		if (!rt_str_is(rt_str_at(key, size), sections[i]))
			continue;
		RT_TRY(&cli->s, rt_config_path(path, &cli->s.error));
		rt_cli_hint(cli, "Set it there, in the section [%s]: %s", sections[i],
			    rt_scope_str(&cli->s, path).ptr);
		rt_cli_fail(cli, RT_USAGE, "%.60s is set in the configuration file", key);
	}
}

/* A key that Retake uses accepts only usable values. */
static void
check_setting(rt_cli *cli, const char *key, const char *text)
{
	const rt_setting *setting = rt_setting_named(rt_str_of(key));
	const char *wants;

	if (setting == NULL) {
		check_place(cli, key);
		if (!rt_is_file_list(rt_str_of(key))) {
			if (rt_ok(&cli->s))
				advise_key(cli, key);
			return;
		}
		rt_cli_hint(cli, "To set this list: retake files set %s FILE…", key);
		rt_cli_fail(cli, RT_USAGE, "\"%s\" is a list of files, not a setting", key);
		return;
	}
	wants = rt_setting_wants(setting, value_json(cli, text));
	if (wants == NULL)
		return;
	if (setting->type == RT_SETTING_TEXT)
		rt_cli_hint(cli, "To set it as text: retake set %s --string %.60s", key, text);
	else
		rt_cli_hint(cli, "All settings: retake settings --all");
	rt_cli_fail(cli, RT_USAGE, "%s must be %s, not %.60s", key, wants, text);
}

/* Any number is accepted, since a server may define its own range. */
static void
note_range(rt_cli *cli, const char *key, const char *text)
{
	static const struct {
		const char *key;
		double min, max;
	} ranges[] = {{"temperature", 0, 2}, {"top_p", 0, 1}};
	double value = strtod(text, NULL);

	for (size_t i = 0; rt_ok(&cli->s) && i < sizeof(ranges) / sizeof(*ranges); i++)
		if (strcmp(key, ranges[i].key) == 0 && (value < ranges[i].min || value > ranges[i].max))
			rt_cli_note(cli, "%s is usually from %g to %g; a provider may refuse %.60s", key,
				    ranges[i].min, ranges[i].max, text);
}

static void
run_set(rt_cli *cli)
{
	rt_scope *s = &cli->s;
	const char *key = rt_cli_word(cli, 0), *value = rt_cli_word(cli, 1);
	bool unset = rt_cli_has(cli, "unset");
	const rt_setting *setting = rt_setting_named(rt_str_of(key));
	rt_request request = {.op = RT_OP_SETTING_SET, .key = rt_str_of(key)};
	const rt_result *result;

	if (unset == (value != NULL)) {
		rt_cli_fail(cli, RT_USAGE, "set needs a KEY and a VALUE, or KEY --unset");
		return;
	}
	if (!unset)
		check_setting(cli, key, value);
	if (!unset && rt_ok(s) && strcmp(key, "model") == 0)
		check_model(cli, value);
	if (rt_cli_has(cli, "for-all"))
		request.which = RT_STR("project");
	else if (rt_cli_has(cli, "here"))
		request.which = RT_STR("discussion");
	request.value = rt_json_parse(s, unset ? RT_STR("null") : value_json(cli, value));
	result = rt_cli_execute(cli, &request, 1);
	if (unset)
		rt_cli_say_result(cli, result, "Reset %s to its default.", key);
	else
		rt_cli_say_result(cli, result, strpbrk(value, " \t\n") != NULL || *value == 0
						       ? "Set %s to \"%.200s\"."
						       : "Set %s to %.200s.",
				  key, value);
	if (!unset && rt_ok(s))
		note_range(cli, key, value);
	if (setting != NULL && setting->or_discussion && !rt_cli_has(cli, "here"))
		note_own_value(cli, key);
}

static const rt_flag set_flags[] = {
	{"unset", 0, NULL, RT_ARG_TEXT, "reset to the default"},
	{"for-all", 'a', NULL, RT_ARG_TEXT,
	 "set it for the project: applies to all discussions that do not have their own "
	 "value"},
	{"here", 0, NULL, RT_ARG_TEXT, "set it for this discussion only: a setting of discussions, or model"},
	{"string", 's', NULL, RT_ARG_TEXT, "treat VALUE as text, even if it is valid JSON"},
	{NULL, 0, NULL, RT_ARG_TEXT, NULL},
};

const rt_command rt_cli_set = {
	.name = "set",
	.unchanged = "the setting already has this value",
	.group = RT_COMMANDS_SETTINGS,
	.traits = RT_COMMAND_NUMBERS,
	.min_words = 1,
	.max_words = 2,
	.text_word = 2,
	.usage = "KEY VALUE | KEY --unset",
	.summary = "change a setting",
	.about = "VALUE is read as JSON if it is valid JSON, else as text. All settings: retake "
		 "settings --all. Other keys are stored for use by other programs.",
	.examples = "retake set temperature 0.7\nretake set model ollama/qwen3:8b\n"
		    "retake set temperature --unset",
	.ops = "setting.set",
	.flags = set_flags,
	.kinds = {RT_ARG_SETTING, RT_ARG_VALUE},
	.run = run_set,
};

/* --- roles --- */

static void
list_roles(rt_cli *cli)
{
	rt_view view = rt_cli_view(cli);
	yyjson_val *roles = rt_roles_value(&view);

	if (!rt_ok(&cli->s))
		return;
	if (cli->json) {
		print_json_value(cli, roles, "[]");
		return;
	}
	for (rt_json_iter it = rt_json_items(roles); rt_json_next(&it);)
		print_line(cli, it.value);
	if (yyjson_arr_size(roles) == 0)
		rt_term_c(&cli->out, "The list is empty; entries added without a role get the role "
				     "User.\n");
}

static void
run_roles(rt_cli *cli)
{
	const char *verb = rt_cli_word(cli, 0), *role = rt_cli_word(cli, 1);
	rt_request request = {.op = RT_OP_ROLE_REMOVE, .role = rt_str_of(role)};
	const rt_result *result;

	if (verb == NULL) {
		if (rt_cli_open(cli, RT_SESSION_LOOK))
			list_roles(cli);
	} else if (role != NULL && strcmp(verb, "add") == 0) {
		request.op = RT_OP_ROLE_ADD;
		result = rt_cli_execute(cli, &request, 1);
		rt_cli_say_result(cli, result, "Added the role \"%.*s\".",
				  RT_STR_ARG(rt_str_trim(request.role))); /* in its stored form */
	} else if (role != NULL && strcmp(verb, "rm") == 0) {
		rt_cli_do(cli, &request,
			  "Removed the role \"{role}\" from the list; entries are not changed.");
	} else {
		rt_cli_fail(cli, RT_USAGE,
			    strcmp(verb, "add") == 0 || strcmp(verb, "rm") == 0
				    ? "roles %.40s needs a ROLE"
				    : "roles has no subcommand \"%.40s\"; use add ROLE or rm ROLE",
			    verb);
	}
}

const rt_command rt_cli_roles = {
	.name = "roles",
	.group = RT_COMMANDS_SETTINGS,
	.traits = RT_COMMAND_AT_STEP,
	.max_words = 2,
	.usage = "[add ROLE | rm ROLE]",
	.summary = "list the project's roles, add one, remove one",
	.about =
		"An entry can have any role; this list contains those that the interfaces offer. "
		"The first is the default.",
	.examples = "retake roles\nretake roles add Reviewer",
	.ops = "role.add role.remove",
	.kinds = {RT_ARG_TEXT, RT_ARG_ROLE},
	.run = run_roles,
};

/* --- track --- */

static void
show_track(rt_cli *cli)
{
	rt_view view = rt_cli_view(cli);
	yyjson_val *track = rt_disc_field_value(&view, RT_STR("track"));

	if (!rt_ok(&cli->s))
		return;
	if (cli->json)
		print_json_value(cli, track, "null");
	else if (track == NULL)
		rt_term_c(&cli->out, "The discussion has no track.\n");
	else
		print_line(cli, track);
}

static void
run_track(rt_cli *cli)
{
	const char *name = rt_cli_word(cli, 0);
	bool clear = rt_cli_has(cli, "clear");

	if (rt_cli_has(cli, "toggle")) {
		if (clear)
			rt_cli_fail(cli, RT_USAGE, "track takes --toggle or --clear, not both");
		rt_cli_do(cli, &(rt_request){.op = RT_OP_TRACK_TOGGLE, .track = rt_str_of(name)},
			  "Now in discussion \"{discussion}\".");
		return;
	}
	if (name == NULL && !clear) {
		if (rt_cli_open(cli, RT_SESSION_LOOK))
			show_track(cli);
		return;
	}
	if (name != NULL && clear)
		rt_cli_fail(cli, RT_USAGE, "track takes a NAME or --clear, not both");
	if (clear || name[0] == '\0') /* an empty name is not a name */
		rt_cli_do(cli, &(rt_request){.op = RT_OP_TRACK_SET, .track = RT_NULL_STR},
			  "The discussion has no track.");
	else
		rt_cli_do(cli, &(rt_request){.op = RT_OP_TRACK_SET, .track = rt_str_of(name)},
			  "Bound the discussion to the track \"{track}\".");
}

static const rt_flag track_flags[] = {
	{"clear", 'c', NULL, RT_ARG_TEXT, "remove the track"},
	{"toggle", 't', NULL, RT_ARG_TEXT,
	 "switch between a discussion with a track and one without"},
	{NULL, 0, NULL, RT_ARG_TEXT, NULL},
};

const rt_command rt_cli_track = {
	.name = "track",
	.unchanged = "the discussion already has this track",
	.group = RT_COMMANDS_SETTINGS,
	.traits = RT_COMMAND_AT_STEP,
	.max_words = 1,
	.usage = "[NAME | --clear]\n"
		 "--toggle [NAME]",
	.summary = "show or set the track of the discussion",
	.about = "A track groups discussions: retake tracks lists them. --toggle switches from a "
		 "discussion without a track to one of the track NAME (default: any track), and "
		 "back; if there are several, to the most recently changed one.",
	.examples = "retake track release-2\nretake track --toggle\nretake tracks",
	.ops = "track.set track.toggle",
	.flags = track_flags,
	.kinds = {RT_ARG_TEXT},
	.run = run_track,
};

/* --- preset --- */

static void
list_presets(rt_cli *cli)
{
	rt_view view = rt_cli_view(cli);
	yyjson_val *presets = rt_disc_field_value(&view, RT_STR("presets"));

	if (!rt_ok(&cli->s))
		return;
	if (cli->json) {
		print_json_value(cli, presets, "{}");
		return;
	}
	for (rt_json_iter it = rt_json_members(presets); rt_json_next(&it);) {
		rt_term_line(&cli->out, it.key);
		rt_term_c(&cli->out, "\n");
	}
	if (yyjson_obj_size(presets) == 0)
		rt_cli_advise(cli, "No presets. To save the current files and prompts: retake "
				   "preset save NAME\n");
}

static void
run_preset(rt_cli *cli)
{
	static const struct {
		const char *verb;
		rt_op_id op;
		const char *done;
	} verbs[] = {{"save", RT_OP_PRESET_SAVE, "Saved the preset \"{name}\"."},
		     {"load", RT_OP_PRESET_LOAD, "Loaded the preset \"{name}\"."},
		     {"delete", RT_OP_PRESET_DELETE, "Deleted the preset \"{name}\"."}};
	const char *verb = rt_cli_word(cli, 0), *name = rt_cli_word(cli, 1);

	if (verb == NULL) {
		if (rt_cli_open(cli, RT_SESSION_LOOK))
			list_presets(cli);
		return;
	}
	for (size_t i = 0; name != NULL && i < 3; i++)
		if (strcmp(verb, verbs[i].verb) == 0) {
			rt_cli_do(cli,
				  &(rt_request){.op = verbs[i].op, .name = rt_str_of(name)},
				  verbs[i].done);
			return;
		}
	rt_cli_fail(cli, RT_USAGE,
		    "invalid argument \"%.40s\"; use save, load or delete with a NAME", verb);
}

const rt_command rt_cli_preset = {
	.name = "preset",
	.alias = "presets",
	.group = RT_COMMANDS_SETTINGS,
	.traits = RT_COMMAND_AT_STEP,
	.max_words = 2,
	.usage = "[save|load|delete NAME]",
	.summary = "save and load files, screenshots and prompts under a name",
	.examples = "retake preset save review\nretake preset load review",
	.ops = "preset.save preset.load preset.delete",
	.kinds = {RT_ARG_TEXT},
	.run = run_preset,
};
