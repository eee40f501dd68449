/* SPDX-License-Identifier: MIT
 *
 * Model: labels, settings, roles, the prompt, files, presets. */
#include <stdlib.h>

#include "model_impl.h"

#include <string.h>

rt_status
model_op_label(model_call *c)
{
	model *m = c->m;
	rt_str label = model_str_field(c, "label");
	int entity;
	size_t take;
	rt_status st = model_resolve_in_disc(c, model_str_field(c, "entry"), &entity, &take);

	if (st != RT_OK)
		return st;
	c->out->entity = entity;
	if (rt_str_eq(model_label_of(model_disc_of(m, c->doc), entity), label))
		return model_unchanged(c);
	model_set_label(m, model_edit_disc(m, c->doc), entity, label);
	return RT_OK;
}

rt_status
model_op_setting(model_call *c)
{
	static const char *const of_disc[] = {"draft", "temperature", "top_p", "max_tokens",
					     "title", "pinned", "archived", "tags"};
	rt_str key = model_keep(c->m, model_str_field(c, "key"));
	yyjson_val *given = model_field(c, "value");
	rt_str value = yyjson_is_null(given) ? RT_STR("") : model_keep_value(c->m, given);
	model_disc d = *model_disc_of(c->m, c->doc);
	model_project p = *model_project_of(c->m);
	uint64_t count;
	size_t i;

	if (rt_str_is(key, "undo_capacity") && !yyjson_is_null(given) &&
	    !rt_json_u64(given, &count))
		return FAIL(c, USAGE, "no whole number");
	for (i = 0; i < sizeof(of_disc) / sizeof(of_disc[0]); i++)
		if (rt_str_is(key, of_disc[i])) {
			if (!model_pair_set(c->m, &d.settings, &d.setting_count, key, value))
				return model_unchanged(c);
			c->m->sets_draft = i == 0;
			*model_edit_disc(c->m, c->doc) = d;
			return RT_OK;
		}
	if (!model_pair_set(c->m, &p.settings, &p.setting_count, key, value))
		return model_unchanged(c);
	c->m->limited = c->m->limited || rt_str_is(key, "undo_capacity");
	*model_edit_project(c->m) = p;
	return RT_OK;
}

static size_t
role_find(const model_project *p, rt_str role)
{
	size_t i;

	for (i = 0; i < p->role_count; i++)
		if (rt_str_eq(p->roles[i], role))
			return i;
	return SIZE_MAX;
}

rt_status
model_op_role_add(model_call *c)
{
	rt_str role = rt_str_trim(model_str_field(c, "role"));
	const model_project *p = model_project_of(c->m);
	model_project *mine;
	rt_str *roles;

	if (role_find(p, role) != SIZE_MAX)
		return model_unchanged(c);
	roles = model_copy(c->m, p->roles, p->role_count, 1, sizeof(*roles));
	roles[p->role_count] = model_keep(c->m, role);
	mine = model_edit_project(c->m);
	mine->roles = roles;
	mine->role_count++;
	return RT_OK;
}

rt_status
model_op_role_remove(model_call *c)
{
	const model_project *p = model_project_of(c->m);
	size_t at = role_find(p, model_str_field(c, "role"));
	model_project *mine;
	rt_str *roles;

	if (at == SIZE_MAX)
		return FAIL(c, NOT_FOUND, "no such role");
	roles = model_copy(c->m, p->roles, p->role_count, 0, sizeof(*roles));
	memmove(roles + at, roles + at + 1, (p->role_count - at - 1) * sizeof(*roles));
	mine = model_edit_project(c->m);
	mine->roles = roles;
	mine->role_count--;
	return RT_OK;
}

rt_status
model_op_prompt(model_call *c)
{
	rt_str text = model_str_field(c, "text");
	model_disc *d;

	if (rt_str_eq(model_disc_of(c->m, c->doc)->prompt, text))
		return model_unchanged(c);
	d = model_edit_disc(c->m, c->doc);
	d->prompt = model_keep(c->m, text);
	d->edited = true;
	return RT_OK;
}

rt_status
model_op_notify(model_call *c)
{
	model *m = c->m;
	const model_disc *d = model_disc_of(m, c->doc);
	model_slot slot = {.role = RT_STR("system"), .kind = RT_STR("prompt_notice"), .ts = m->now};
	rt_buf buf;
	rt_status st;

	if (!d->edited)
		return model_unchanged(c);
	st = model_check_id(c);
	if (st != RT_OK)
		return st;
	rt_buf_init(&buf, rt_alloc_libc(), RT_BUF_UNLIMITED);
	rt_buf_add_c(&buf, "[user edited prompt to: \"");
	rt_buf_add_str(&buf, d->prompt);
	rt_buf_add_c(&buf, "\"]");
	slot.entity = model_make_entity(m, c->doc, model_str_field(c, "id"));
	slot.body = model_make_body(
		m, (model_body){.content = model_keep_string(m, model_keep_buf(m, &buf)),
				.entity = slot.entity});
	model_append_slot(c, slot);
	model_edit_disc(m, c->doc)->edited = false;
	c->out->entity = slot.entity;
	c->out->made = true;
	return RT_OK;
}

const char *const model_list_names[3] = {"files", "context_files", "screenshots"};

void
model_set_files(model *m, model_disc *d, const rt_str *files)
{
	model_take *takes = model_copy(m, d->takes, d->take_count, 0, sizeof(*takes));

	memcpy(takes[d->active].files, files, sizeof(takes[d->active].files));
	d->takes = takes;
}

rt_status
model_op_files(model_call *c)
{
	rt_str files[3];
	rt_str items = model_keep_value(c->m, model_field(c, "items"));
	const model_disc *d = model_disc_of(c->m, c->doc);
	size_t i = 0;

	while (!rt_str_is(model_str_field(c, "which"), model_list_names[i]))
		i++;
	if (rt_str_is(items, "[]"))
		items = RT_STR("");
	memcpy(files, d->takes[d->active].files, sizeof(files));
	if (rt_str_eq(files[i], items))
		return model_unchanged(c);
	files[i] = items;
	model_set_files(c->m, model_edit_disc(c->m, c->doc), files);
	return RT_OK;
}

rt_status
model_op_track(model_call *c)
{
	yyjson_val *track = model_field(c, "track");
	rt_str value = rt_json_str(track).size == 0 ? RT_STR("") : model_keep_value(c->m, track);

	if (rt_str_eq(model_disc_of(c->m, c->doc)->track, value))
		return model_unchanged(c);
	model_edit_disc(c->m, c->doc)->track = value;
	return RT_OK;
}

/* C53: a preset does not change the lists of files and the prompts. */
static const char *const parameter_names[] = {"model", "temperature", "top_p", "max_tokens",
					      "reasoning_effort"};
static const char *const prompt_names[] = {"project_system_prompt", "global_system_prompt",
					   "base_system_prompt", "use_default_base_prompt"};

rt_status
model_op_preset_save(model_call *c)
{
	model *m = c->m;
	const model_project *p = model_project_of(m);
	model_disc d = *model_disc_of(m, c->doc);
	model_pair kept[8], parameters[5];
	size_t i, n = 0, count = 0;
	rt_buf buf;

	for (i = 0; i < 3; i++)
		if (d.takes[d.active].files[i].size > 0)
			kept[n++] = (model_pair){rt_str_of(model_list_names[i]),
						 d.takes[d.active].files[i]};
	for (i = 0; i < 4; i++) {
		size_t at = model_pair_find(p->settings, p->setting_count,
					    rt_str_of(prompt_names[i]));

		if (at != SIZE_MAX)
			kept[n++] = p->settings[at];
	}
	for (i = 0; i < 5; i++) {
		rt_str name = rt_str_of(parameter_names[i]);
		size_t own = model_pair_find(d.settings, d.setting_count, name);
		size_t shared = model_pair_find(p->settings, p->setting_count, name);

		if (own != SIZE_MAX)
			parameters[count++] = d.settings[own];
		else if (shared != SIZE_MAX)
			parameters[count++] = p->settings[shared];
	}
	rt_buf_init(&buf, rt_alloc_libc(), RT_BUF_UNLIMITED);
	model_add_pairs(&buf, parameters, count);
	kept[n++] = (model_pair){RT_STR("parameters"), model_keep_buf(m, &buf)};
	rt_buf_init(&buf, rt_alloc_libc(), RT_BUF_UNLIMITED);
	model_add_pairs(&buf, kept, n);
	if (!model_pair_set(m, &d.presets, &d.preset_count,
			    model_keep(m, model_str_field(c, "name")), model_keep_buf(m, &buf)))
		return model_unchanged(c);
	*model_edit_disc(m, c->doc) = d;
	return RT_OK;
}

rt_status
model_op_preset_load(model_call *c)
{
	model *m = c->m;
	model_project p = *model_project_of(m);
	model_disc d = *model_disc_of(m, c->doc);
	size_t at = model_pair_find(d.presets, d.preset_count, model_str_field(c, "name")), i;
	bool lists = false, prompts = false, parameters = false;
	rt_str files[3];
	rt_json_doc *doc = NULL;

	if (at == SIZE_MAX)
		return FAIL(c, NOT_FOUND, "no such preset");
	if (rt_json_read(rt_alloc_libc(), d.presets[at].value, &doc, NULL) != RT_OK)
		abort();
	for (i = 0; i < 3; i++) {
		yyjson_val *kept = rt_json_get(rt_json_root(doc), model_list_names[i]);
		rt_str value = kept == NULL ? RT_STR("") : model_keep_value(m, kept);

		lists = lists || !rt_str_eq(d.takes[d.active].files[i], value);
		files[i] = value;
	}
	if (lists)
		model_set_files(m, &d, files);
	for (i = 0; i < 4; i++) {
		yyjson_val *kept = rt_json_get(rt_json_root(doc), prompt_names[i]);

		if (model_pair_set(m, &p.settings, &p.setting_count, rt_str_of(prompt_names[i]),
				   kept == NULL ? RT_STR("") : model_keep_value(m, kept)))
			prompts = true;
	}
	for (i = 0; i < 5; i++) {
		yyjson_val *kept = rt_json_get(rt_json_get(rt_json_root(doc), "parameters"),
					       parameter_names[i]);

		if (model_pair_set(m, &d.settings, &d.setting_count, rt_str_of(parameter_names[i]),
				   kept == NULL ? RT_STR("") : model_keep_value(m, kept)))
			parameters = true;
	}
	rt_json_free(doc);
	if (!lists && !prompts && !parameters)
		return model_unchanged(c);
	if (lists || parameters)
		*model_edit_disc(m, c->doc) = d;
	if (prompts)
		*model_edit_project(m) = p;
	return RT_OK;
}

rt_status
model_op_preset_delete(model_call *c)
{
	model_disc d = *model_disc_of(c->m, c->doc);

	if (!model_pair_set(c->m, &d.presets, &d.preset_count, model_str_field(c, "name"),
			    RT_STR("")))
		return FAIL(c, NOT_FOUND, "no such preset");
	*model_edit_disc(c->m, c->doc) = d;
	return RT_OK;
}
