/* SPDX-License-Identifier: MIT
 *
 * Operations on settings, the list of roles, the prompt, files, the track and presets. */
#include "core/setting.h"

#include "core/role.h"
#include "ops/ops.h"

/* ---- settings and roles ---- */

/* A setting with the name of a list of files would be a second value that nothing reads. One that is
 * set already can be unset. */
static void
refuse_list(rt_change *c, const rt_request *r)
{
	if (rt_is_file_list(r->key) && !yyjson_is_null(r->value))
		rt_scope_fail(c->scope, RT_USAGE,
			      "\"%.*s\" is a list of files, not a setting; files.set changes it",
			      RT_STR_ARG(r->key));
}

void
rt_op_setting_set(rt_change *c, const rt_request *r)
{
	const rt_setting *setting = rt_setting_named(r->key);
	bool is_shared = rt_str_is(r->which, "project");
	bool is_own = rt_str_is(r->which, "discussion");
	bool of_disc = setting != NULL && !is_shared &&
		       (setting->of_discussion || (is_own && setting->or_discussion));
	rt_buf *key = rt_scope_buf(c->scope);
	uint64_t count;

	if (r->key.size == 0)
		rt_scope_fail(c->scope, RT_USAGE, "\"key\" is empty");
	refuse_list(c, r);
	/* otherwise it would mean no limit, the opposite of the intent */
	if (rt_str_is(r->key, "undo_capacity") && !yyjson_is_null(r->value) &&
	    !rt_json_u64(r->value, &count))
		rt_scope_fail(c->scope, RT_USAGE,
			      "undo_capacity must be a whole number, 0 or more, or null for no limit");
	if (r->which.size > 0 && !is_shared && !is_own)
		rt_scope_fail(c->scope, RT_USAGE, "\"of\" must be \"project\" or \"discussion\"");
	if (is_own && !of_disc)
		rt_scope_fail(c->scope, RT_USAGE, "\"%.*s\" is a setting of the project: it cannot be set for one discussion",
			      (int)rt_utf8_cut(r->key, 60), r->key.ptr);
	if (is_shared && rt_setting_is_of_one(r->key))
		rt_scope_fail(
			c->scope, RT_USAGE,
			"\"%.*s\" is a setting of a discussion: it cannot be set for the project",
			RT_STR_ARG(r->key));
	rt_buf_add_c(key, "setting.");
	rt_buf_add_str(key, r->key);
	rt_change_set_json(c, of_disc ? c->place.disc : 0, rt_scope_str(c->scope, key), r->value);
}

/* The list with or without a role. */
static void
change_roles(rt_change *c, rt_str role, bool add)
{
	yyjson_val *roles = rt_json_parse(c->scope, rt_project_roles(c->now)), *item;
	rt_buf *list = rt_scope_buf(c->scope);
	bool present = false;
	size_t i, max;

	if (role.size == 0)
		rt_scope_fail(c->scope, RT_USAGE, "\"role\" is empty");
	rt_json_open(list, NULL, '[');
	yyjson_arr_foreach(roles, i, max, item)
	{
		bool same = rt_str_eq(rt_json_str(item), role);

		present = present || same;
		if (add || !same)
			rt_json_put_str(list, NULL, rt_json_str(item));
	}
	if (add && !present)
		rt_json_put_str(list, NULL, role);
	rt_json_close(list, ']');
	if (!add && !present)
		rt_scope_fail(c->scope, RT_NOT_FOUND, "the project has no role \"%.*s\"",
			      RT_STR_ARG(role));
	if (add != present)
		rt_change_set(c, 0, 0, RT_STR("roles"), 0, rt_scope_str(c->scope, list));
}

void
rt_op_role_add(rt_change *c, const rt_request *r)
{
	change_roles(c, rt_str_trim(r->role), true);
}

void
rt_op_role_remove(rt_change *c, const rt_request *r)
{
	change_roles(c, r->role, false);
}

/* ---- prompt ---- */

static rt_str
prompt_now(rt_change *c, bool *out_edited)
{
	const rt_disc *disc = rt_change_disc(c);
	rt_str json;

	*out_edited = false;
	if (disc == NULL)
		return RT_STR("");
	*out_edited = rt_fields_get(disc->fields, RT_STR("prompt_edited")).ptr != NULL;
	json = rt_fields_get(disc->fields, RT_STR("prompt"));
	return json.ptr != NULL ? rt_json_str(rt_json_parse(c->scope, json)) : RT_STR("");
}

void
rt_op_prompt_update(rt_change *c, const rt_request *r)
{
	bool edited;

	if (rt_str_eq(prompt_now(c, &edited), r->text))
		return;
	rt_set_or_clear(c, c->place.disc, "prompt", 0, r->text);
	rt_change_set(c, c->place.disc, 0, RT_STR("prompt_edited"), 0, RT_STR("true"));
}

/* A model needs two facts: that the prompt was edited, which is this entry of the history, and its
 * present text, which ends every request (chat/context.c), however long ago the edit was. */
void
rt_op_prompt_notify(rt_change *c, const rt_request *r)
{
	bool edited;
	rt_str prompt = prompt_now(c, &edited);
	rt_buf *text = rt_scope_buf(c->scope);
	rt_effect_slot slot;

	if (r->id.ptr != NULL && !rt_id_is_legal(r->id))
		rt_scope_fail(c->scope, RT_USAGE,
			      "an id must consist of 1 to %d of the characters A-Z a-z 0-9 . _ ~ -", (int)RT_ID_MAX);
	if (!edited)
		return;
	rt_buf_add_c(text, "[user edited prompt to: \"");
	rt_buf_add_str(text, prompt);
	rt_buf_add_c(text, "\"]");
	slot = rt_new_slot(c, RT_STR("system"), RT_STR("prompt_notice"), r->id);
	rt_give_content(c, &slot, rt_scope_str(c->scope, text), false, NULL, NULL);
	rt_append_entry(c, &slot, false);
	rt_change_clear(c, c->place.disc, 0, "prompt_edited");
}

/* ---- files, track, presets ---- */

void
rt_op_files_set(rt_change *c, const rt_request *r)
{
	if (!rt_is_file_list(r->which))
		rt_scope_fail(c->scope, RT_USAGE,
			      "\"which\" must be \"files\", \"context_files\" or \"screenshots\"");
	rt_str was = rt_take_files_begin(c);
	rt_change_set_json(c, c->place.disc, r->which,
			   yyjson_arr_size(r->items) > 0 ? r->items : NULL);
	rt_take_files_end(c, was);
}

void
rt_op_track_set(rt_change *c, const rt_request *r)
{
	rt_set_or_clear(c, c->place.disc, "track", 0, r->track);
}

/* The members of a preset: lists of the discussion, prompts of the project (seed 1). */
static const struct {
	const char *key;
	bool of_project;
} preset_fields[] = {
	{"files", false},
	{"context_files", false},
	{"screenshots", false},
	{"setting.project_system_prompt", true},
	{"setting.global_system_prompt", true},
	{"setting.base_system_prompt", true},
	{"setting.use_default_base_prompt", true},
};

/* The discussion's settings that a preset can contain. A preset saved without them does not
 * change them. */
static const char *const preset_parameters[] = {"model", "temperature", "top_p", "max_tokens",
						"reasoning_effort"};

enum { PRESET_PARAMETERS = sizeof(preset_parameters) / sizeof(preset_parameters[0]) };

enum { PRESET_FIELDS = sizeof(preset_fields) / sizeof(preset_fields[0]) };

/* The field's name in a preset. */
static const char *
preset_name(size_t i)
{
	return preset_fields[i].key + (preset_fields[i].of_project ? strlen("setting.") : 0);
}

/* The presets of a discussion as an object; NULL: there are none. */
static yyjson_val *
presets_of(rt_change *c)
{
	const rt_disc *disc = rt_change_disc(c);
	rt_str json = disc != NULL ? rt_fields_get(disc->fields, RT_STR("presets"))
				   : (rt_str){NULL, 0};

	return json.ptr != NULL ? rt_json_parse(c->scope, json) : NULL;
}

/* The preset of this name among them. */
static yyjson_val *
preset_named(rt_change *c, yyjson_val *presets, rt_str name)
{
	yyjson_val *preset = yyjson_obj_getn(presets, name.ptr, name.size);

	if (preset == NULL)
		rt_scope_fail(c->scope, RT_NOT_FOUND, "no preset \"%.*s\"", RT_STR_ARG(name));
	return preset;
}

/* All presets but one, in an object that is not closed yet. */
static rt_buf *
presets_without(rt_change *c, yyjson_val *presets, rt_str name)
{
	rt_buf *out = rt_scope_buf(c->scope);
	yyjson_val *key, *value;
	size_t i, max;

	rt_json_open(out, NULL, '{');
	if (presets == NULL)
		return out;
	rt_json_foreach(presets, i, max, key, value)
	{
		if (!rt_str_eq(rt_json_str(key), name)) {
			rt_json_add_key_str(out, rt_json_str(key));
			rt_json_add_value(out, value);
		}
	}
	return out;
}

static void
set_presets(rt_change *c, rt_buf *presets)
{
	yyjson_val *all;

	rt_json_close(presets, '}');
	all = rt_json_parse(c->scope, rt_scope_str(c->scope, presets));
	rt_change_set_json(c, c->place.disc, RT_STR("presets"),
			   yyjson_obj_size(all) > 0 ? all : NULL);
}

static rt_str
parameter_key(rt_change *c, const char *name)
{
	rt_buf *key = rt_scope_buf(c->scope);

	rt_buf_add_c(key, "setting.");
	rt_buf_add_c(key, name);
	return rt_scope_str(c->scope, key);
}

/* The value in force: the discussion's, else the project's. */
static rt_str
parameter_now(rt_change *c, const rt_disc *disc, const char *name)
{
	rt_str key = parameter_key(c, name), value = rt_fields_get(disc->fields, key);

	return value.ptr != NULL ? value : rt_fields_get(c->now->fields, key);
}

void
rt_op_preset_save(rt_change *c, const rt_request *r)
{
	rt_check_name(c, r->name);
	rt_buf *presets = presets_without(c, presets_of(c), r->name);
	const rt_disc *disc = rt_change_disc(c);

	rt_json_add_key_str(presets, r->name);
	rt_buf_add_byte(presets, '{');
	for (size_t i = 0; disc != NULL && i < PRESET_FIELDS; i++) {
		rt_str value = rt_fields_get(preset_fields[i].of_project ? c->now->fields
									 : disc->fields,
					     rt_str_of(preset_fields[i].key));

		if (value.ptr != NULL)
			rt_json_put_raw(presets, preset_name(i), value);
	}
	rt_json_open(presets, "parameters", '{');
	for (size_t i = 0; disc != NULL && i < PRESET_PARAMETERS; i++) {
		rt_str value = parameter_now(c, disc, preset_parameters[i]);

		if (value.ptr != NULL)
			rt_json_put_raw(presets, preset_parameters[i], value);
	}
	rt_json_close(presets, '}');
	rt_json_close(presets, '}');
	set_presets(c, presets);
}

void
rt_op_preset_load(rt_change *c, const rt_request *r)
{
	rt_check_name(c, r->name);
	yyjson_val *preset = preset_named(c, presets_of(c), r->name);
	rt_str was = rt_take_files_begin(c);

	for (size_t i = 0; i < PRESET_FIELDS; i++)
		rt_change_set_json(c, preset_fields[i].of_project ? 0 : c->place.disc,
				   rt_str_of(preset_fields[i].key),
				   rt_json_get(preset, preset_name(i)));
	yyjson_val *parameters = rt_json_get(preset, "parameters");
	for (size_t i = 0; parameters != NULL && i < PRESET_PARAMETERS; i++)
		rt_change_set_json(c, c->place.disc, parameter_key(c, preset_parameters[i]),
				   rt_json_get(parameters, preset_parameters[i]));
	rt_take_files_end(c, was);
}

void
rt_op_preset_delete(rt_change *c, const rt_request *r)
{
	rt_check_name(c, r->name);
	yyjson_val *presets = presets_of(c);

	(void)preset_named(c, presets, r->name);
	set_presets(c, presets_without(c, presets, r->name));
}
