/* SPDX-License-Identifier: MIT
 *
 * Operations on discussions, settings, roles, the prompt, files, tracks and presets. */
#include "ops/compile.h"

#include "core/setting.h"

static rt_status
nomem(rt_error *err)
{
	return rt_fail(err, RT_NOMEM, "out of memory");
}

static rt_status
unchanged(rt_change *c)
{
	if (c->result != NULL)
		c->result->unchanged = true;
	return RT_OK;
}

/* unchanged unless effects were made since. */
static rt_status
or_unchanged(rt_change *c, size_t before, rt_status st)
{
	return st == RT_OK && c->effect_count == before ? unchanged(c) : st;
}

const char rt_default_roles[] = "[\"User\",\"AI\",\"Vendor API\",\"System\"]";

rt_str
rt_project_roles(const rt_project *project)
{
	rt_str roles = rt_fields_get(project->fields, RT_STR("roles"));

	return roles.ptr != NULL ? roles : rt_str_of(rt_default_roles);
}

rt_status
rt_compile_set_json(rt_change *c, uint32_t disc, rt_str key, yyjson_val *value, rt_error *err)
{
	rt_buf text, name;
	rt_status st;

	if (memchr(key.ptr, '\0', key.size) != NULL)
		return rt_fail(err, RT_USAGE, "a setting's name holds no NUL");
	rt_buf_init(&text, c->engine->alloc, RT_BUF_UNLIMITED);
	rt_buf_init(&name, c->engine->alloc, RT_BUF_UNLIMITED);
	rt_buf_add_str(&name, key);
	if (value != NULL && !yyjson_is_null(value))
		rt_json_add_sorted(&text, c->engine->alloc, value);
	if (text.status != RT_OK || name.status != RT_OK)
		st = nomem(err);
	else
		st = rt_change_set(c, disc, 0, name.ptr, 0, rt_buf_str(&text), err);
	rt_buf_deinit(&text);
	rt_buf_deinit(&name);
	return st;
}

/* ---- settings and roles ---- */

rt_status
rt_op_setting_set(rt_change *c, const rt_request *r, rt_error *err)
{
	rt_str key = r->key;
	const rt_setting *setting = rt_setting_named(key);
	bool of_disc = setting != NULL && setting->of_discussion;
	yyjson_val *value = r->value;
	size_t before = c->effect_count;
	uint64_t count;
	rt_buf name;
	rt_status st;

	if (key.size == 0)
		return rt_fail(err, RT_USAGE, "\"key\" is empty");
	/* anything else would mean no limit, the opposite of what was meant */
	if (rt_str_is(key, "undo_capacity") && !yyjson_is_null(value) &&
	    !rt_json_u64(value, &count))
		return rt_fail(err, RT_USAGE,
			       "undo_capacity is a whole number from 0 on, or null for no limit");
	rt_buf_init(&name, c->engine->alloc, RT_BUF_UNLIMITED);
	rt_buf_add_c(&name, "setting.");
	rt_buf_add_str(&name, key);
	st = name.status != RT_OK
		     ? nomem(err)
		     : rt_compile_set_json(c, of_disc ? c->place.disc : 0, rt_buf_str(&name),
					   value, err);
	rt_buf_deinit(&name);
	return or_unchanged(c, before, st);
}

static rt_status
change_roles(rt_change *c, const rt_request *r, bool add, rt_error *err)
{
	rt_str role = r->role;
	rt_json_doc *doc = NULL;
	yyjson_val *item;
	size_t i, max, before = c->effect_count;
	bool present = false;
	rt_buf list;
	rt_status st;

	if (add)
		role = rt_str_trim(role);
	if (role.size == 0)
		return rt_fail(err, RT_USAGE, "\"role\" is empty");
	st = rt_json_read(c->engine->alloc, rt_project_roles(c->now), &doc, err);
	if (st != RT_OK)
		return st;
	rt_buf_init(&list, c->engine->alloc, RT_BUF_UNLIMITED);
	rt_buf_add_byte(&list, '[');
	yyjson_arr_foreach(rt_json_root(doc), i, max, item)
	{
		bool same = rt_str_eq(rt_json_str(item), role);

		present = present || same;
		if (same && !add)
			continue;
		rt_json_add_comma(&list);
		rt_json_add_string(&list, rt_json_str(item));
	}
	if (add && !present) {
		rt_json_add_comma(&list);
		rt_json_add_string(&list, role);
	}
	rt_buf_add_byte(&list, ']');
	if (!add && !present)
		st = rt_fail(err, RT_NOT_FOUND, "no role \"%.*s\" in the project's list",
			     RT_STR_ARG(role));
	else if (list.status != RT_OK)
		st = nomem(err);
	else if (!add || !present)
		st = rt_change_set(c, 0, 0, "roles", 0, rt_buf_str(&list), err);
	rt_buf_deinit(&list);
	rt_json_free(doc);
	return or_unchanged(c, before, st);
}

rt_status
rt_op_role_add(rt_change *c, const rt_request *r, rt_error *err)
{
	return change_roles(c, r, true, err);
}

rt_status
rt_op_role_remove(rt_change *c, const rt_request *r, rt_error *err)
{
	return change_roles(c, r, false, err);
}

/* ---- prompt ---- */

static rt_status
prompt_now(rt_change *c, rt_buf *out, bool *out_edited, rt_error *err)
{
	const rt_disc *disc;
	rt_json_doc *doc = NULL;
	rt_str json;
	rt_status st = rt_change_disc(c, &disc, err);

	if (st != RT_OK)
		return st;
	*out_edited = rt_fields_get(disc->fields, RT_STR("prompt_edited")).ptr != NULL;
	json = rt_fields_get(disc->fields, RT_STR("prompt"));
	if (json.ptr == NULL)
		return RT_OK;
	st = rt_json_read(c->engine->alloc, json, &doc, err);
	if (st != RT_OK)
		return st;
	rt_buf_add_str(out, rt_json_str(rt_json_root(doc)));
	rt_json_free(doc);
	return out->status == RT_OK ? RT_OK : nomem(err);
}

rt_status
rt_op_prompt_update(rt_change *c, const rt_request *r, rt_error *err)
{
	rt_str text = r->text;
	rt_buf now;
	bool edited;
	rt_status st;

	rt_buf_init(&now, c->engine->alloc, RT_BUF_UNLIMITED);
	st = prompt_now(c, &now, &edited, err);
	if (st == RT_OK && rt_str_eq(rt_buf_str(&now), text)) {
		rt_buf_deinit(&now);
		return unchanged(c);
	}
	rt_buf_deinit(&now);
	if (st == RT_OK && text.size == 0)
		st = rt_change_set(c, c->place.disc, 0, "prompt", 0, rt_str_at(NULL, 0), err);
	else if (st == RT_OK)
		st = rt_change_set_text(c, c->place.disc, 0, "prompt", 0, text, err);
	if (st == RT_OK)
		st = rt_change_set(c, c->place.disc, 0, "prompt_edited", 0, RT_STR("true"), err);
	return st;
}

rt_status
rt_op_prompt_notify(rt_change *c, const rt_request *r, rt_error *err)
{
	rt_effect_slot slot;
	rt_buf now, text;
	bool edited = false;
	rt_status st;

	rt_buf_init(&now, c->engine->alloc, RT_BUF_UNLIMITED);
	rt_buf_init(&text, c->engine->alloc, RT_BUF_UNLIMITED);
	st = prompt_now(c, &now, &edited, err);
	if (st == RT_OK && r->id.ptr != NULL && !rt_id_is_legal(r->id))
		st = rt_fail(err, RT_USAGE, "an id is 1 to %d characters of A-Z a-z 0-9 . _ ~ -",
			     (int)RT_ID_MAX);
	if (st == RT_OK && !edited) {
		st = unchanged(c);
		goto done;
	}
	rt_buf_add_c(&text, "[user edited prompt to: \"");
	rt_buf_add_str(&text, rt_buf_str(&now));
	rt_buf_add_c(&text, "\"]");
	if (st == RT_OK && text.status != RT_OK)
		st = nomem(err);
	if (st == RT_OK && r->id.ptr != NULL && r->id.size == 0)
		st = rt_fail(err, RT_USAGE, "\"id\" is empty");
	if (st == RT_OK)
		st = rt_compile_plain(c, RT_STR("system"), RT_STR("prompt_notice"), rt_buf_str(&text),
				      false, r->id, &slot, err);
	if (st == RT_OK)
		st = rt_compile_append(c, &slot, err);
	if (st == RT_OK)
		st = rt_change_set(c, c->place.disc, 0, "prompt_edited", 0, rt_str_at(NULL, 0), err);
done:
	rt_buf_deinit(&now);
	rt_buf_deinit(&text);
	return st;
}

/* ---- files, track, presets ---- */

rt_status
rt_op_files_set(rt_change *c, const rt_request *r, rt_error *err)
{
	rt_str which = r->which;
	size_t before = c->effect_count;
	rt_status st;

	if (!rt_str_is(which, "files") && !rt_str_is(which, "context_files") &&
	    !rt_str_is(which, "screenshots"))
		return rt_fail(err, RT_USAGE,
			       "\"which\" is \"files\", \"context_files\" or \"screenshots\"");
	st = rt_compile_set_json(c, c->place.disc, which,
				 yyjson_arr_size(r->items) > 0 ? r->items : NULL, err);
	return or_unchanged(c, before, st);
}

rt_status
rt_op_track_set(rt_change *c, const rt_request *r, rt_error *err)
{
	size_t before = c->effect_count;

	return or_unchanged(c, before,
			    r->track.size > 0
				    ? rt_change_set_text(c, c->place.disc, 0, "track", 0, r->track, err)
				    : rt_change_set(c, c->place.disc, 0, "track", 0,
						    rt_str_at(NULL, 0), err));
}

/* What a preset keeps: lists of the discussion, prompts of the project (seed 1). */
static const char *const preset_fields[] = {"files", "context_files", "screenshots", NULL};
static const char *const preset_prompts[] = {"setting.project_system_prompt",
					     "setting.global_system_prompt",
					     "setting.base_system_prompt",
					     "setting.use_default_base_prompt", NULL};

static rt_status
preset_of_now(rt_change *c, const rt_disc *disc, rt_buf *out)
{
	size_t i;

	rt_buf_add_byte(out, '{');
	for (i = 0; preset_fields[i] != NULL; i++) {
		rt_str value = rt_fields_get(disc->fields, rt_str_of(preset_fields[i]));

		if (value.ptr != NULL) {
			rt_json_add_key(out, preset_fields[i]);
			rt_buf_add_str(out, value);
		}
	}
	for (i = 0; preset_prompts[i] != NULL; i++) {
		rt_str value = rt_fields_get(c->now->fields, rt_str_of(preset_prompts[i]));

		if (value.ptr != NULL) {
			rt_json_add_key(out, preset_prompts[i] + strlen("setting."));
			rt_buf_add_str(out, value);
		}
	}
	rt_buf_add_byte(out, '}');
	return out->status;
}

static rt_status
preset_apply(rt_change *c, yyjson_val *preset, rt_error *err)
{
	size_t i;
	rt_status st = RT_OK;

	for (i = 0; st == RT_OK && preset_fields[i] != NULL; i++)
		st = rt_compile_set_json(c, c->place.disc, rt_str_of(preset_fields[i]),
					 rt_json_get(preset, preset_fields[i]), err);
	for (i = 0; st == RT_OK && preset_prompts[i] != NULL; i++)
		st = rt_compile_set_json(c, 0, rt_str_of(preset_prompts[i]),
					 rt_json_get(preset, preset_prompts[i] + strlen("setting.")),
					 err);
	return st;
}

static rt_status
change_preset(rt_change *c, const rt_request *r, rt_error *err)
{
	rt_str name = r->name;
	size_t before = c->effect_count, i, max, count = 0;
	const rt_disc *disc;
	rt_json_doc *doc = NULL;
	yyjson_val *presets = NULL, *key, *value, *found = NULL;
	rt_buf all, sorted;
	rt_str now;
	rt_status st = rt_change_disc(c, &disc, err);

	if (st != RT_OK)
		return st;
	if (name.size == 0)
		return rt_fail(err, RT_USAGE, "\"name\" is empty");
	rt_buf_init(&all, c->engine->alloc, RT_BUF_UNLIMITED);
	rt_buf_init(&sorted, c->engine->alloc, RT_BUF_UNLIMITED);
	now = rt_fields_get(disc->fields, RT_STR("presets"));
	if (now.ptr != NULL) {
		st = rt_json_read(c->engine->alloc, now, &doc, err);
		presets = st == RT_OK ? rt_json_root(doc) : NULL;
	}
	rt_buf_add_byte(&all, '{');
	if (presets != NULL) {
		yyjson_obj_foreach(presets, i, max, key, value)
		{
			if (rt_str_eq(rt_json_str(key), name)) {
				found = value;
				continue;
			}
			rt_json_add_key_str(&all, rt_json_str(key));
			rt_json_add_value(&all, value);
			count++;
		}
	}
	if (st == RT_OK && r->op != RT_OP_PRESET_SAVE && found == NULL)
		st = rt_fail(err, RT_NOT_FOUND, "no preset \"%.*s\"", RT_STR_ARG(name));
	if (st == RT_OK && r->op == RT_OP_PRESET_LOAD) {
		st = preset_apply(c, found, err);
	} else if (st == RT_OK) {
		if (r->op == RT_OP_PRESET_SAVE) {
			rt_json_add_key_str(&all, name);
			(void)preset_of_now(c, disc, &all);
			count++;
		}
		rt_buf_add_byte(&all, '}');
		rt_json_free(doc);
		doc = NULL;
		if (all.status != RT_OK)
			st = nomem(err);
		else
			st = rt_json_read(c->engine->alloc, rt_buf_str(&all), &doc, err);
		if (st == RT_OK)
			st = rt_compile_set_json(c, c->place.disc, RT_STR("presets"),
						 count > 0 ? rt_json_root(doc) : NULL, err);
	}
	rt_json_free(doc);
	rt_buf_deinit(&all);
	rt_buf_deinit(&sorted);
	return or_unchanged(c, before, st);
}

rt_status
rt_op_preset_save(rt_change *c, const rt_request *r, rt_error *err)
{
	return change_preset(c, r, err);
}

rt_status
rt_op_preset_load(rt_change *c, const rt_request *r, rt_error *err)
{
	return change_preset(c, r, err);
}

rt_status
rt_op_preset_delete(rt_change *c, const rt_request *r, rt_error *err)
{
	return change_preset(c, r, err);
}

/* ---- the catalogue ---- */

uint32_t
rt_first_disc(const rt_project *project, uint32_t but)
{
	const rt_cell *best = NULL;
	size_t i;

	for (i = 1; i <= rt_project_disc_count(project); i++) {
		const rt_cell *cell = rt_project_cell(project, (uint32_t)i);

		if (cell->present && cell->number != but &&
		    (best == NULL ||
		     rt_str_cmp(rt_cell_name(cell), rt_cell_name(best)) < 0))
			best = cell;
	}
	return best == NULL ? 0 : best->number;
}

static size_t
present_count(const rt_project *project)
{
	size_t count = 0, i;

	for (i = 1; i <= rt_project_disc_count(project); i++)
		count += rt_project_cell(project, (uint32_t)i)->present;
	return count;
}

/* The discussion that an operation names; present. */
static rt_status
named_disc(rt_change *c, const rt_request *r, const rt_cell **out, rt_error *err)
{
	rt_str name = r->target;
	rt_place place;
	rt_status st;

	if (name.size == 0)
		return rt_fail(err, RT_NOT_FOUND, "no discussion \"\"; see: retake ls");
	st = rt_resolve_place(c->now, name, rt_str_at(NULL, 0), &place, err);
	if (st != RT_OK)
		return st;
	*out = rt_project_cell(c->now, place.disc);
	if (!(*out)->present)
		return rt_fail(err, RT_NOT_FOUND,
			       "discussion \"%.*s\" is not in the catalogue; undo brings it back",
			       RT_STR_ARG(name));
	return RT_OK;
}

static rt_status
new_disc(rt_change *c, rt_str name, rt_error *err)
{
	rt_effect e;
	rt_status st;

	memset(&e, 0, sizeof(e));
	e.kind = RT_EFFECT_NEW;
	e.sub = (uint32_t)rt_project_disc_count(c->now) + 1;
	e.name = rt_change_keep(c, name);
	e.take_name = e.name;
	if (e.name.ptr == NULL)
		return nomem(err);
	st = rt_change_emit(c, &e, err);
	if (st == RT_OK)
		st = rt_change_set_number(c, 0, 0, "active", e.sub, err);
	return st;
}

rt_status
rt_op_discussion_new(rt_change *c, const rt_request *r, rt_error *err)
{
	rt_str name = r->name;

	if (name.size == 0)
		return rt_fail(err, RT_USAGE, "\"name\" is empty");
	if (rt_project_disc_named(c->now, name) != 0)
		return rt_fail(err, RT_REFUSED, "there is a discussion \"%.*s\" already",
			       RT_STR_ARG(name));
	rt_compile_result_disc(c, name);
	return new_disc(c, name, err);
}

rt_status
rt_op_discussion_switch(rt_change *c, const rt_request *r, rt_error *err)
{
	const rt_cell *cell;
	rt_status st = named_disc(c, r, &cell, err);

	if (st != RT_OK)
		return st;
	rt_compile_result_disc(c, rt_cell_name(cell));
	if (cell->number == c->now->active)
		return unchanged(c);
	return rt_change_set_number(c, 0, 0, "active", cell->number, err);
}

rt_status
rt_op_discussion_rename(rt_change *c, const rt_request *r, rt_error *err)
{
	rt_str name = r->name;
	const rt_cell *cell;
	uint32_t other;
	rt_status st = named_disc(c, r, &cell, err);

	if (st != RT_OK)
		return st;
	if (name.size == 0)
		return rt_fail(err, RT_USAGE, "\"name\" is empty");
	rt_compile_result_disc(c, name);
	other = rt_project_disc_named(c->now, name);
	if (other == cell->number)
		return unchanged(c);
	if (other != 0)
		return rt_fail(err, RT_REFUSED, "there is a discussion \"%.*s\" already",
			       RT_STR_ARG(name));
	return rt_change_set_text(c, 0, cell->number, "name", 0, name, err);
}

rt_status
rt_op_discussion_delete(rt_change *c, const rt_request *r, rt_error *err)
{
	const rt_cell *cell;
	uint32_t number, next;
	rt_status st = named_disc(c, r, &cell, err);

	if (st != RT_OK)
		return st;
	if (present_count(c->now) < 2)
		return rt_fail(err, RT_REFUSED,
			       "\"%.*s\" is the last discussion; it cannot be deleted",
			       RT_STR_ARG(rt_cell_name(cell)));
	number = cell->number;
	if (c->now->active == number) {
		next = rt_first_disc(c->now, number);
		rt_compile_result_disc(
			c, rt_change_keep(c, rt_cell_name(rt_project_cell(c->now, next))));
		st = rt_change_set_number(c, 0, 0, "active", next, err);
	}
	if (st == RT_OK)
		st = rt_change_set(c, 0, number, "present", 0, rt_str_at(NULL, 0), err);
	return st;
}

rt_status
rt_op_project_reset(rt_change *c, const rt_request *r, rt_error *err)
{
	size_t i, discs = rt_project_disc_count(c->now);
	rt_status st = RT_OK;

	(void)r;
	for (i = 1; st == RT_OK && i <= discs; i++)
		if (rt_project_cell(c->now, (uint32_t)i)->present)
			st = rt_change_set(c, 0, (uint32_t)i, "present", 0, rt_str_at(NULL, 0), err);
	while (st == RT_OK && rt_fields_count(c->now->fields) > 0) {
		rt_str key = rt_change_keep(c, rt_fields_name(c->now->fields, 0));

		if (key.ptr == NULL)
			return nomem(err);
		st = rt_change_set(c, 0, 0, key.ptr, 0, rt_str_at(NULL, 0), err);
	}
	if (st == RT_OK)
		st = new_disc(c, RT_STR("main"), err);
	rt_compile_result_disc(c, RT_STR("main"));
	return st;
}
