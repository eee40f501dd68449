/* SPDX-License-Identifier: MIT
 *
 * set, settings, roles, files, track, preset: what belongs to the project and to the
 * discussion as a whole. */
#include "cli/cli.h"
#include "cli/model_session.h"
#include "core/setting.h"
#include "view/view.h"

#include <stdio.h>

static rt_status
read_settings(rt_cli *cli, rt_old_view *view)
{
	rt_status st = rt_old_open(cli, RT_SESSION_LOOK);

	if (st != RT_OK)
		return st;
	return rt_old_view_read(cli, view,
				rt_view_settings(cli->session.engine, cli->session.value,
						 cli->session.place.disc, &view->buf, &cli->error));
}

static void
print_value(rt_cli *cli, yyjson_val *value)
{
	rt_buf buf;

	if (yyjson_is_str(value)) {
		rt_term_line(&cli->out, rt_json_str(value));
		return;
	}
	rt_buf_init(&buf, cli->alloc, RT_BUF_UNLIMITED);
	rt_json_add_value(&buf, value);
	rt_term_line(&cli->out, rt_buf_str(&buf));
	rt_buf_deinit(&buf);
}

static rt_status
print_json_value(rt_cli *cli, yyjson_val *value, const char *otherwise)
{
	rt_buf buf;
	rt_status st;

	if (value == NULL)
		return rt_old_print_json(cli, rt_str_of(otherwise));
	rt_buf_init(&buf, cli->alloc, RT_BUF_UNLIMITED);
	rt_json_add_value(&buf, value);
	st = rt_old_buf(cli, &buf);
	if (st == RT_OK)
		st = rt_old_print_json(cli, rt_buf_str(&buf));
	rt_buf_deinit(&buf);
	return st;
}

/* --- settings --- */

static const char *
type_word(rt_setting_type type)
{
	switch (type) {
	case RT_SETTING_TEXT: return "text";
	case RT_SETTING_NUMBER: return "number";
	case RT_SETTING_COUNT: return "whole number";
	case RT_SETTING_BOOL: return "true or false";
	case RT_SETTING_NOTICES: return "none, prompt or all";
	case RT_SETTING_OBJECT: return "object";
	}
	return "";
}

/* Everything that Retake reads, set or not, and what else is set. */
static rt_status
list_all(rt_cli *cli, yyjson_val *settings)
{
	yyjson_val *key, *value;
	size_t i, count;
	rt_status st = RT_OK;
	rt_buf json;

	rt_buf_init(&json, cli->alloc, RT_BUF_UNLIMITED);
	rt_buf_add_byte(&json, '[');
	for (i = 0; rt_settings[i].key != NULL; i++) {
		const rt_setting *s = &rt_settings[i];

		value = rt_json_get(settings, s->key);
		rt_json_add_comma(&json);
		rt_buf_add_f(&json, "{\"key\":\"%s\",\"type\":\"%s\",\"of\":\"%s\",\"about\":", s->key,
			     type_word(s->type), s->of_discussion ? "discussion" : "project");
		rt_json_add_string(&json, rt_str_of(s->about));
		if (value != NULL) {
			rt_buf_add_c(&json, ",\"value\":");
			rt_json_add_value(&json, value);
		}
		rt_buf_add_byte(&json, '}');
		if (cli->json)
			continue;
		rt_term_f(&cli->out, "%-24s ", s->key);
		if (value != NULL) {
			rt_term_c(&cli->out, "= ");
			print_value(cli, value);
			rt_term_c(&cli->out, "  ");
		}
		rt_term_style(&cli->out, RT_STYLE_DIM);
		rt_term_f(&cli->out, "%s (%s)", s->about, type_word(s->type));
		rt_term_style(&cli->out, RT_STYLE_NONE);
		rt_term_c(&cli->out, "\n");
	}
	rt_json_foreach(settings, i, count, key, value) {
		if (rt_setting_named(rt_json_str(key)) != NULL)
			continue;
		rt_json_add_comma(&json);
		rt_buf_add_c(&json, "{\"key\":");
		rt_json_add_string(&json, rt_json_str(key));
		rt_buf_add_c(&json, ",\"value\":");
		rt_json_add_value(&json, value);
		rt_buf_add_byte(&json, '}');
		if (cli->json)
			continue;
		rt_term_line(&cli->out, rt_json_str(key));
		rt_term_c(&cli->out, " = ");
		print_value(cli, value);
		rt_term_c(&cli->out, "\n");
	}
	rt_buf_add_byte(&json, ']');
	st = rt_old_buf(cli, &json);
	if (st == RT_OK && cli->json)
		st = rt_old_print_json(cli, rt_buf_str(&json));
	rt_buf_deinit(&json);
	return st;
}

static rt_status
run_settings(rt_cli *cli)
{
	const char *wanted = rt_cli_word(cli, 0);
	rt_old_view view;
	yyjson_val *settings, *key, *value;
	size_t i, count;
	rt_status st;

	rt_old_view_init(cli, &view);
	st = read_settings(cli, &view);
	if (st != RT_OK) {
		rt_old_view_deinit(&view);
		return st;
	}
	settings = rt_json_get(view.root, "settings");
	if (rt_cli_has(cli, "all") && settings != NULL) {
		st = list_all(cli, settings);
	} else if (wanted != NULL) {
		value = rt_json_get(settings, wanted);
		if (value == NULL) {
			rt_old_hint(cli, RT_NOT_FOUND,
				    "What is set: retake settings   "
				    "To set it: retake set %s VALUE",
				    wanted);
			st = rt_old_fail(cli, RT_NOT_FOUND, "the setting \"%.80s\" is not set",
					 wanted);
		} else if (cli->json) {
			st = print_json_value(cli, value, "null");
		} else {
			print_value(cli, value);
			rt_term_c(&cli->out, "\n");
		}
	} else if (cli->json) {
		st = rt_old_print_json(cli, rt_buf_str(&view.buf));
	} else if (yyjson_obj_size(settings) == 0) {
		rt_cli_advise(cli, "Everything is at its default. To set something: "
				   "retake set KEY VALUE\n");
	} else {
		rt_json_foreach(settings, i, count, key, value) {
			rt_term_line(&cli->out, rt_json_str(key));
			rt_term_c(&cli->out, " = ");
			print_value(cli, value);
			rt_term_c(&cli->out, "\n");
		}
	}
	rt_old_view_deinit(&view);
	return st;
}

static const rt_flag settings_flags[] = {
	{"all", 'a', NULL, RT_ARG_TEXT, "also what can be set, and what it is for"},
	{NULL, 0, NULL, RT_ARG_TEXT, NULL},
};

const rt_command rt_cli_settings = {
	.name = "settings",
	.group = RT_COMMANDS_SETTINGS,
	.traits = RT_COMMAND_AT_OP,
	.max_words = 1,
	.usage = "[KEY | --all]",
	.summary = "show what is set, or one setting",
	.examples = "retake settings\nretake settings temperature\nretake settings --all",
	.flags = settings_flags,
	.kinds = {RT_ARG_SETTING},
	.run_status = run_settings,
};

/* JSON where it is JSON, else a string. */
static yyjson_val *
new_value(rt_old_change *change, const char *text)
{
	rt_scope *s = &change->scope;
	rt_json_doc *doc = NULL;
	rt_status st = RT_USAGE;
	rt_buf *quoted;

	if (!rt_cli_has(change->cli, "string"))
		st = rt_json_read(s->alloc, rt_str_of(text), &doc, NULL);
	rt_json_free(doc);
	if (st == RT_OK || st == RT_NOMEM)
		return rt_old_change_value(change, rt_str_of(text));
	quoted = rt_scope_buf(s);
	rt_json_add_string(quoted, rt_str_of(text));
	return rt_old_change_value(change, rt_scope_str(s, quoted));
}

/* The provider of a model has to be known. A model that its server does not have is noted after it
 * is set: the server may get it later. *out_is_name false: VALUE is null. */
static rt_status
check_model(rt_cli *cli, const char *text, rt_buf *out_name, bool *out_is_name)
{
	rt_str name = rt_str_of(text);
	rt_json_doc *doc = NULL;
	const rt_config *config;
	rt_status st = RT_USAGE;

	if (!rt_cli_has(cli, "string"))
		st = rt_json_read(cli->alloc, name, &doc, NULL);
	if (st == RT_NOMEM)
		return rt_old_nomem(cli);
	*out_is_name = st != RT_OK || yyjson_is_str(rt_json_root(doc));
	rt_buf_add_str(out_name, st == RT_OK ? rt_json_str(rt_json_root(doc)) : name);
	rt_json_free(doc);
	if (!*out_is_name)
		return RT_OK;
	st = rt_old_buf(cli, out_name);
	name = rt_buf_str(out_name);
	if (st == RT_OK)
		st = rt_old_config(cli, &config);
	if (st == RT_OK)
		st = rt_models_check_setting(config, name, &cli->error);
	if (st == RT_USAGE && name.size == 0)
		rt_old_hint(cli, st, "Back to the default: retake set model --unset");
	else if (st == RT_NOT_FOUND)
		rt_old_hint(cli, st, "What is set up: retake models   To choose one: retake set model "
				     "PROVIDER/NAME");
	return st;
}

/* A key that Retake reads takes what it can read; one that looks like such a key is noted. */
static rt_status
check_setting(rt_cli *cli, const char *key, const char *text)
{
	const rt_setting *setting = rt_setting_named(rt_str_of(key));
	size_t i, nearest = SIZE_MAX, d;
	rt_json_doc *doc = NULL;
	const char *wants;
	rt_buf quoted;
	rt_status st = RT_USAGE;

	if (setting == NULL) {
		for (i = 0; rt_settings[i].key != NULL; i++) {
			d = rt_args_distance(key, rt_settings[i].key);
			if (rt_args_is_near(d, strlen(key)) && d < nearest) {
				nearest = d;
				setting = &rt_settings[i];
			}
		}
		if (setting != NULL)
			rt_cli_advise(cli, "Retake itself does not read \"%.60s\". Did you mean %s?\n",
				      key, setting->key);
		return RT_OK;
	}
	if (!rt_cli_has(cli, "string"))
		st = rt_json_read(cli->alloc, rt_str_of(text), &doc, NULL);
	rt_json_free(doc);
	if (st == RT_NOMEM)
		return rt_old_nomem(cli);
	rt_buf_init(&quoted, cli->alloc, RT_BUF_UNLIMITED);
	if (st == RT_OK)
		rt_buf_add_c(&quoted, text);
	else
		rt_json_add_string(&quoted, rt_str_of(text));
	wants = rt_setting_wants(setting, rt_buf_str(&quoted));
	st = quoted.status;
	rt_buf_deinit(&quoted);
	if (st != RT_OK)
		return rt_old_nomem(cli);
	if (wants == NULL)
		return RT_OK;
	if (setting->type == RT_SETTING_TEXT)
		rt_old_hint(cli, RT_USAGE, "As a text: retake set %s --string %.60s", key, text);
	else
		rt_old_hint(cli, RT_USAGE, "All of them: retake settings --all");
	return rt_old_fail(cli, RT_USAGE, "%s is %s, not %.60s", key, wants, text);
}

static rt_status
run_set(rt_cli *cli)
{
	const char *key = rt_cli_word(cli, 0), *value = rt_cli_word(cli, 1);
	bool unset = rt_cli_has(cli, "unset"), is_model = false;
	rt_old_change change;
	rt_status st = RT_OK;
	rt_buf model;

	if (unset == (value != NULL))
		return rt_old_fail(cli, RT_USAGE, "set needs a KEY and a VALUE, or KEY --unset");
	if (!unset)
		st = check_setting(cli, key, value);
	rt_buf_init(&model, cli->alloc, RT_BUF_UNLIMITED);
	if (st == RT_OK && !unset && strcmp(key, "model") == 0)
		st = check_model(cli, value, &model, &is_model);
	if (st != RT_OK) {
		rt_buf_deinit(&model);
		return st;
	}
	rt_old_change_init(cli, &change);
	st = rt_old_change_one(
		&change, &(rt_request){.op = RT_OP_SETTING_SET,
				       .key = rt_str_of(key),
				       .value = unset ? rt_old_change_value(&change, RT_STR("null"))
						      : new_value(&change, value)});
	if (st == RT_OK && unset)
		st = rt_old_change_say(&change, "%s is back at its default.", key);
	else if (st == RT_OK)
		st = rt_old_change_say(&change, "Set %s to %.200s.", key, value);
	if (st == RT_OK && is_model)
		rt_model_session_note_model(&cli->session, rt_buf_str(&model));
	rt_old_change_deinit(&change);
	rt_buf_deinit(&model);
	return st;
}

static const rt_flag set_flags[] = {
	{"unset", 0, NULL, RT_ARG_TEXT, "back to the default"},
	{"string", 's', NULL, RT_ARG_TEXT, "VALUE is a text, even when it looks like JSON"},
	{NULL, 0, NULL, RT_ARG_TEXT, NULL},
};

const rt_command rt_cli_set = {
	.name = "set",
	.group = RT_COMMANDS_SETTINGS,
	.traits = RT_COMMAND_NUMBERS,
	.min_words = 1,
	.max_words = 2,
	.usage = "KEY VALUE | KEY --unset",
	.summary = "change a setting",
	.about = "VALUE is read as JSON where it is JSON, else as a text. What can be set: retake "
		 "settings --all. Any other key is kept, for whoever reads it.",
	.examples = "retake set temperature 0.7\nretake set model ollama/qwen3:8b\n"
		    "retake set temperature --unset",
	.ops = "setting.set",
	.flags = set_flags,
	.kinds = {RT_ARG_SETTING, RT_ARG_TEXT},
	.run_status = run_set,
};

/* --- roles --- */

static rt_status
list_roles(rt_cli *cli)
{
	rt_old_view view;
	yyjson_val *roles, *role;
	size_t i, count;
	rt_status st;

	rt_old_view_init(cli, &view);
	st = read_settings(cli, &view);
	roles = st == RT_OK ? rt_json_get(view.root, "roles") : NULL;
	if (st == RT_OK && cli->json) {
		st = print_json_value(cli, roles, "[]");
	} else if (st == RT_OK) {
		yyjson_arr_foreach(roles, i, count, role) {
			rt_term_line(&cli->out, rt_json_str(role));
			rt_term_c(&cli->out, "\n");
		}
		if (yyjson_arr_size(roles) == 0)
			rt_term_c(&cli->out,
				  "The list is empty; entries without a role are User.\n");
	}
	rt_old_view_deinit(&view);
	return st;
}

static rt_status
run_roles(rt_cli *cli)
{
	const char *verb = rt_cli_word(cli, 0), *role = rt_cli_word(cli, 1);
	rt_str trimmed;
	bool add;

	if (verb == NULL)
		return list_roles(cli);
	add = strcmp(verb, "add") == 0;
	if (role == NULL || (!add && strcmp(verb, "rm") != 0))
		return rt_old_fail(cli, RT_USAGE, "roles can add ROLE and rm ROLE, not \"%.40s\"",
				   verb);
	trimmed = add ? rt_str_trim(rt_str_of(role)) : rt_str_of(role); /* as it is kept */
	return rt_old_do(cli,
			 &(rt_request){.op = add ? RT_OP_ROLE_ADD : RT_OP_ROLE_REMOVE,
				       .role = rt_str_of(role)},
			 add ? "Added the role \"%.*s\"."
			     : "Removed the role \"%.*s\" from the list; entries keep theirs.",
			 RT_STR_ARG(trimmed));
}

const rt_command rt_cli_roles = {
	.name = "roles",
	.group = RT_COMMANDS_SETTINGS,
	.traits = RT_COMMAND_AT_OP,
	.max_words = 2,
	.usage = "[add ROLE | rm ROLE]",
	.summary = "list the project's roles, add one, remove one",
	.about =
		"An entry may have any role; this list is what screens offer. Its first is the default.",
	.examples = "retake roles\nretake roles add Reviewer",
	.ops = "role.add role.remove",
	.kinds = {RT_ARG_TEXT, RT_ARG_ROLE},
	.run_status = run_roles,
};

/* --- files --- */

static const char *const file_lists[] = {"files", "context_files", "screenshots"};

static bool
is_file_list(const char *word)
{
	size_t i;

	for (i = 0; i < 3; i++)
		if (strcmp(word, file_lists[i]) == 0)
			return true;
	return false;
}

/* The settings view has "files" as an object of lists, or each list by itself. */
static yyjson_val *
file_list(yyjson_val *settings, const char *which)
{
	yyjson_val *files = rt_json_get(settings, "files"), *inner;

	inner = yyjson_is_obj(files) ? rt_json_get(files, which) : NULL;
	return inner != NULL ? inner : rt_json_get(settings, which);
}

static rt_status
list_files(rt_cli *cli, const char *which)
{
	rt_old_view view;
	yyjson_val *item;
	size_t i, count, list, shown = 0;
	rt_buf json;
	rt_status st;

	rt_old_view_init(cli, &view);
	rt_buf_init(&json, cli->alloc, RT_BUF_UNLIMITED);
	rt_buf_add_byte(&json, '{');
	st = read_settings(cli, &view);
	for (list = 0; st == RT_OK && list < 3; list++) {
		yyjson_val *items = file_list(view.root, file_lists[list]);

		if ((which != NULL && strcmp(which, file_lists[list]) != 0) ||
		    !yyjson_is_arr(items))
			continue;
		rt_json_add_key(&json, file_lists[list]);
		rt_json_add_value(&json, items);
		yyjson_arr_foreach(items, i, count, item) {
			shown++;
			if (cli->json)
				continue;
			if (which == NULL)
				rt_term_f(&cli->out, "%-14s ", file_lists[list]);
			print_value(cli, item);
			rt_term_c(&cli->out, "\n");
		}
	}
	rt_buf_add_byte(&json, '}');
	if (st == RT_OK && cli->json)
		st = rt_old_print_json(cli, rt_buf_str(&json));
	else if (st == RT_OK && shown == 0)
		rt_cli_advise(cli, "No files. To name some: retake files set files FILE…\n");
	rt_buf_deinit(&json);
	rt_old_view_deinit(&view);
	return st;
}

static bool
is_named(const rt_cli *cli, rt_str item)
{
	size_t i;

	for (i = 2; i < cli->args.word_count; i++)
		if (rt_str_is(item, rt_cli_word(cli, i)))
			return true;
	return false;
}

/* The new list: set takes the words alone, add puts them behind, rm takes them out. */
static rt_status
new_list(rt_cli *cli, const char *verb, const char *which, rt_buf *json)
{
	rt_old_view view;
	yyjson_val *item;
	size_t i, count;
	rt_status st = RT_OK;

	rt_json_open(json, NULL, '[');
	if (strcmp(verb, "set") != 0) {
		rt_old_view_init(cli, &view);
		st = rt_old_view_read(cli, &view,
				      rt_view_settings(cli->session.engine, cli->session.value,
						       cli->session.place.disc, &view.buf,
						       &cli->error));
		if (st == RT_OK)
			yyjson_arr_foreach(file_list(view.root, which), i, count, item) {
				if (is_named(cli, rt_json_str(item)))
					continue;
				rt_json_put_value(json, NULL, item);
			}
		rt_old_view_deinit(&view);
	}
	if (strcmp(verb, "rm") != 0)
		for (i = 2; i < cli->args.word_count; i++)
			rt_json_put_c(json, NULL, rt_cli_word(cli, i));
	rt_json_close(json, ']');
	return st;
}

static rt_status
run_files(rt_cli *cli)
{
	const char *verb = rt_cli_word(cli, 0), *which = rt_cli_word(cli, 1);
	rt_old_change change;
	rt_buf *json;
	rt_status st;

	if (verb == NULL || (is_file_list(verb) && which == NULL))
		return list_files(cli, verb);
	if (strcmp(verb, "set") != 0 && strcmp(verb, "add") != 0 && strcmp(verb, "rm") != 0)
		return rt_old_fail(cli, RT_USAGE, "files can set, add and rm, not \"%.40s\"", verb);
	if (which == NULL || !is_file_list(which))
		return rt_old_fail(cli, RT_USAGE,
				   "files %s needs to know which list: files, context_files or "
				   "screenshots",
				   verb);
	st = rt_old_open(cli, RT_SESSION_CHANGE);
	if (st != RT_OK)
		return st;
	rt_old_change_init(cli, &change);
	json = rt_scope_buf(&change.scope);
	st = new_list(cli, verb, which, json);
	if (st == RT_OK)
		st = rt_old_change_one(
			&change, &(rt_request){.op = RT_OP_FILES_SET,
					       .which = rt_str_of(which),
					       .items = rt_old_change_value(
						       &change, rt_scope_str(&change.scope, json))});
	if (st == RT_OK)
		st = rt_old_change_say(&change, "Changed the list %s.", which);
	rt_old_change_deinit(&change);
	return st;
}

const rt_command rt_cli_files = {
	.name = "files",
	.group = RT_COMMANDS_SETTINGS,
	.traits = RT_COMMAND_AT_OP,
	.max_words = RT_COMMAND_WORDS_ANY,
	.usage = "[files | context_files | screenshots]\n"
		 "set|add|rm LIST FILE…",
	.summary = "show or change the discussion's lists of files",
	.about =
		"There are three lists: files, context_files and screenshots. They are part of what undo "
		"brings back.",
	.examples = "retake files\nretake files add context_files src/main.c",
	.ops = "files.set",
	.kinds = {RT_ARG_TEXT, RT_ARG_TEXT, RT_ARG_FILE},
	.run_status = run_files,
};

/* --- track --- */

static rt_status
show_track(rt_cli *cli)
{
	rt_old_view view;
	yyjson_val *track;
	rt_status st;

	rt_old_view_init(cli, &view);
	st = read_settings(cli, &view);
	if (st == RT_OK) {
		track = rt_json_get(view.root, "track");
		if (cli->json) {
			st = print_json_value(cli, track, "null");
		} else if (track == NULL) {
			rt_term_c(&cli->out, "The discussion is bound to no track.\n");
		} else {
			print_value(cli, track);
			rt_term_c(&cli->out, "\n");
		}
	}
	rt_old_view_deinit(&view);
	return st;
}

static rt_status
run_track(rt_cli *cli)
{
	const char *name = rt_cli_word(cli, 0);
	bool clear = rt_cli_has(cli, "clear");

	if (name == NULL && !clear)
		return show_track(cli);
	if (name != NULL && clear)
		return rt_old_fail(cli, RT_USAGE, "track takes a NAME or --clear, not both");
	clear = clear || name[0] == '\0'; /* no name is none */
	if (clear)
		return rt_old_do(cli,
				 &(rt_request){.op = RT_OP_TRACK_SET, .track = RT_NULL_STR},
				 "The discussion is bound to no track.");
	return rt_old_do(cli, &(rt_request){.op = RT_OP_TRACK_SET, .track = rt_str_of(name)},
			 "Bound the discussion to the track \"%s\".", name);
}

static const rt_flag track_flags[] = {
	{"clear", 'c', NULL, RT_ARG_TEXT, "bind it to none"},
	{NULL, 0, NULL, RT_ARG_TEXT, NULL},
};

const rt_command rt_cli_track = {
	.name = "track",
	.group = RT_COMMANDS_SETTINGS,
	.traits = RT_COMMAND_AT_OP,
	.max_words = 1,
	.usage = "[NAME | --clear]",
	.summary = "show or set the track the discussion is bound to",
	.examples = "retake track release-2",
	.ops = "track.set",
	.flags = track_flags,
	.kinds = {RT_ARG_TEXT},
	.run_status = run_track,
};

/* --- preset --- */

static rt_status
list_presets(rt_cli *cli)
{
	rt_old_view view;
	yyjson_val *presets, *key, *value;
	size_t i, count;
	rt_status st;

	rt_old_view_init(cli, &view);
	st = read_settings(cli, &view);
	if (st == RT_OK) {
		presets = rt_json_get(view.root, "presets");
		if (cli->json) {
			st = print_json_value(cli, presets, "{}");
		} else {
			if (yyjson_obj_size(presets) > 0) /* the macro does not like NULL */
				rt_json_foreach(presets, i, count, key, value) {
					rt_term_line(&cli->out, rt_json_str(key));
					rt_term_c(&cli->out, "\n");
				}
			else
				rt_cli_advise(cli, "No presets. To keep the files and prompts of "
						   "now: retake preset save NAME\n");
		}
	}
	rt_old_view_deinit(&view);
	return st;
}

static rt_status
run_preset(rt_cli *cli)
{
	static const char *const verbs[] = {"save", "load", "delete"};
	static const rt_op_id ops[] = {RT_OP_PRESET_SAVE, RT_OP_PRESET_LOAD, RT_OP_PRESET_DELETE};
	static const char *const did[] = {"Saved", "Loaded", "Deleted"};
	const char *verb = rt_cli_word(cli, 0), *name = rt_cli_word(cli, 1);
	size_t i = 0;

	if (verb == NULL)
		return list_presets(cli);
	while (i < 3 && strcmp(verb, verbs[i]) != 0)
		i++;
	if (i == 3 || name == NULL)
		return rt_old_fail(cli, RT_USAGE,
				   "preset can save, load and delete a NAME, not "
				   "\"%.40s\" alone",
				   verb);
	return rt_old_do(cli, &(rt_request){.op = ops[i], .name = rt_str_of(name)},
			 "%s the preset \"%s\".", did[i], name);
}

const rt_command rt_cli_preset = {
	.name = "preset",
	.alias = "presets",
	.group = RT_COMMANDS_SETTINGS,
	.traits = RT_COMMAND_AT_OP,
	.max_words = 2,
	.usage = "[save|load|delete NAME]",
	.summary = "keep files, screenshots and prompts under a name",
	.examples = "retake preset save review\nretake preset load review",
	.ops = "preset.save preset.load preset.delete",
	.kinds = {RT_ARG_TEXT},
	.run_status = run_preset,
};
