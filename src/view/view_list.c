/* SPDX-License-Identifier: MIT
 *
 * Takes, discussions and settings as rows. */
#include <stdlib.h> /* qsort */

#include "log/engine_impl.h"
#include "view/view_impl.h"

/* ---- takes ---- */

/* The time of the last entry of a take; 0: none. */
static int64_t
last_entry_us(const rt_view *v, const rt_take *take)
{
	size_t count = rt_seq_count(take->slots);
	rt_slot slot;

	if (count == 0 ||
	    RT_TRY(v->scope, rt_seq_get(take->slots, count - 1, &slot, &v->scope->error)) != RT_OK)
		return 0;
	return (slot.flags & RT_SLOT_NO_TS) == 0 ? rt_slot_moment(&slot).us : 0;
}

/* A take knows the row of the log that changed it last, but in a past value and where a version
 * without this wrote it. */
static int64_t
take_updated_us(const rt_view *v, const rt_take *take)
{
	int64_t at_us = 0;

	if (take->row == 0 || take->row > v->project->seq)
		return last_entry_us(v, take);
	RT_TRY(v->scope, rt_engine_record_time(v->engine, take->row, &at_us, &v->scope->error));
	return at_us;
}

static int
by_base(const void *a, const void *b)
{
	const rt_take_row *x = a, *y = b;
	int order = rt_str_cmp(x->base, y->base);

	return order != 0 ? order : x->number < y->number ? -1 : x->number > y->number;
}

static int
by_group(const void *a, const void *b)
{
	const rt_take_row *x = a, *y = b;

	if (x->group != y->group)
		return x->group < y->group ? -1 : 1;
	return x->number < y->number ? -1 : x->number > y->number;
}

static void
group_takes(rt_take_rows *rows)
{
	rt_take_row *items = rows->items;

	if (rows->count < 2)
		return;
	qsort(items, rows->count, sizeof(*items), by_base);
	for (size_t i = 0; i < rows->count; i++)
		items[i].group = i > 0 && rt_str_eq(items[i].base, items[i - 1].base)
					 ? items[i - 1].group
					 : items[i].number;
	qsort(items, rows->count, sizeof(*items), by_group);
}

rt_take_rows
rt_takes_list(const rt_view *v, const rt_takes_options *options)
{
	const rt_takes_options how = options != NULL ? *options : (rt_takes_options){0};
	const rt_disc *disc = rt_view_disc(v);
	size_t takes = disc != NULL ? rt_disc_take_count(disc) : 0;
	rt_take_rows rows = {.items = rt_scope_array(v->scope, takes, sizeof(*rows.items))};

	for (uint32_t i = 1; rt_ok(v->scope) && i <= takes; i++) {
		const rt_take *take = rt_disc_take(disc, i);
		bool is_beyond = how.max != 0 && rows.count >= how.max && i != how.also;
		rt_str name = rt_text_str(take->name);

		if ((!take->present && !how.all) || is_beyond)
			continue;
		size_t cut = rt_str_find(name, RT_STR("_take_"), 0);

		rows.items[rows.count++] = (rt_take_row){
			.number = i,
			.name = name,
			.active = i == disc->active,
			.entries = rt_seq_count(take->slots),
			.base = cut == SIZE_MAX ? name : rt_str_at(name.ptr, cut),
			.git_commit = take->git_commit != NULL ? rt_text_str(take->git_commit)
							       : (rt_str){0},
			.updated_us = how.times ? take_updated_us(v, take) : 0,
			.absent = !take->present,
		};
	}
	if (how.grouped)
		group_takes(&rows);
	return rows;
}

/* ---- discussions ---- */

/* When something was done there last. Of a discussion to which nothing was done since it was made
 * out of another one's take: the time of its last entry. */
static void
set_updated(const rt_view *v, const rt_disc *disc, rt_disc_row *row)
{
	const rt_take *take = rt_disc_active(disc);
	rt_scope *s = v->scope;

	if (disc->history.last_step != 0) {
		RT_TRY(s, rt_engine_record_time(v->engine, disc->history.last_step,
						&row->updated_us, &s->error));
		row->has_updated = true;
	} else {
		row->updated_us = last_entry_us(v, take);
		row->has_updated = row->updated_us != 0;
	}
}

rt_disc_rows
rt_discs_list(const rt_view *v, bool all)
{
	rt_scope *s = v->scope;
	size_t discs = rt_project_disc_count(v->project);
	rt_disc_rows rows = {.items = rt_scope_array(s, discs, sizeof(*rows.items))};

	for (uint32_t i = 1; rt_ok(s) && i <= discs; i++) {
		const rt_cell *cell = rt_project_cell(v->project, i);
		const rt_disc *disc;

		if (!cell->present && !all)
			continue;
		if (RT_TRY(s, rt_project_disc(v->project, i, &disc, &s->error)) != RT_OK)
			break;
		rt_disc_row *row = &rows.items[rows.count++];

		*row = (rt_disc_row){
			.number = cell->number,
			.name = rt_cell_name(cell),
			.active = cell->number == v->project->active,
			.entries = rt_seq_count(rt_disc_active(disc)->slots),
			.takes = rt_disc_present_count(disc),
			.absent = !cell->present,
		};
		rt_str track = rt_fields_get(disc->fields, RT_STR("track"));

		if (track.ptr != NULL)
			row->track = rt_json_str(rt_json_parse(s, track));
		set_updated(v, disc, row);
	}
	return rt_ok(s) ? rows : (rt_disc_rows){0};
}

/* ---- settings ---- */

static const rt_str setting_prefix = RT_STR_INIT("setting.");

static bool
is_setting(rt_str name)
{
	return rt_str_starts(name, setting_prefix);
}

/* over: fields whose settings count instead; or NULL. */
static void
add_settings(rt_setting_rows *rows, const rt_fields *fields, const rt_fields *over)
{
	for (size_t i = 0; i < rt_fields_count(fields); i++) {
		rt_str name = rt_fields_name(fields, i);

		if (is_setting(name) && (over == NULL || rt_fields_get(over, name).ptr == NULL))
			rows->items[rows->count++] = (rt_setting_row){
				rt_str_at(name.ptr + setting_prefix.size,
					  name.size - setting_prefix.size),
				rt_fields_value(fields, i)};
	}
}

static void
add_other_fields(rt_setting_rows *rows, const rt_fields *fields)
{
	for (size_t i = 0; i < rt_fields_count(fields); i++) {
		rt_str name = rt_fields_name(fields, i);

		if (!is_setting(name) && !rt_str_is(name, "prompt") &&
		    !rt_str_is(name, "prompt_edited") && !rt_str_is(name, "take_files"))
			rows->items[rows->count++] =
				(rt_setting_row){name, rt_fields_value(fields, i)};
	}
}

const rt_settings_row *
rt_settings_read(const rt_view *v)
{
	rt_scope *s = v->scope;
	const rt_disc *disc = rt_view_disc(v);
	rt_settings_row *row = rt_scope_get(s, sizeof(*row));

	if (row == NULL)
		return NULL;
	size_t most = rt_fields_count(v->project->fields) + rt_fields_count(disc->fields);
	rt_str prompt = rt_fields_get(disc->fields, RT_STR("prompt"));

	row->discussion = rt_cell_name(rt_project_cell(v->project, disc->number));
	row->roles = rt_project_roles(v->project);
	row->prompt = prompt.ptr != NULL ? prompt : RT_STR("\"\"");
	row->prompt_edited = rt_fields_get(disc->fields, RT_STR("prompt_edited")).ptr != NULL;
	row->settings.items = rt_scope_array(s, most, sizeof(rt_setting_row));
	row->fields.items = rt_scope_array(s, most, sizeof(rt_setting_row));
	if (!rt_ok(s))
		return NULL;
	add_settings(&row->settings, v->project->fields, disc->fields);
	row->own = row->settings.count;
	add_settings(&row->settings, disc->fields, NULL);
	row->own = row->settings.count - row->own;
	add_other_fields(&row->fields, disc->fields);
	return row;
}

static yyjson_val *
parsed(rt_scope *s, rt_str json)
{
	return rt_ok(s) && json.ptr != NULL ? rt_json_parse(s, json) : NULL;
}

yyjson_val *
rt_setting_value(const rt_view *v, rt_str name)
{
	const rt_disc *disc = rt_view_disc(v);
	rt_buf *key = rt_scope_buf(v->scope);

	rt_buf_add_str(key, setting_prefix);
	rt_buf_add_str(key, name);
	name = rt_scope_str(v->scope, key);
	if (disc == NULL || name.ptr == NULL)
		return NULL;
	rt_str value = rt_fields_get(disc->fields, name);

	return parsed(v->scope,
		      value.ptr != NULL ? value : rt_fields_get(v->project->fields, name));
}

yyjson_val *
rt_disc_field_value(const rt_view *v, rt_str name)
{
	const rt_disc *disc = rt_view_disc(v);

	return disc != NULL ? parsed(v->scope, rt_fields_get(disc->fields, name)) : NULL;
}

yyjson_val *
rt_roles_value(const rt_view *v)
{
	return parsed(v->scope, rt_project_roles(v->project));
}

rt_str
rt_prompt_text(const rt_view *v, bool *out_edited)
{
	const rt_disc *disc = rt_view_disc(v);

	if (disc == NULL)
		return (rt_str){0};
	if (out_edited != NULL)
		*out_edited = rt_fields_get(disc->fields, RT_STR("prompt_edited")).ptr != NULL;
	return rt_json_str(rt_disc_field_value(v, RT_STR("prompt")));
}
