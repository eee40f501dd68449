/* SPDX-License-Identifier: MIT
 *
 * Takes, discussions and settings as rows. */
#include <stdlib.h> /* qsort */

#include "core/role.h"
#include "core/setting.h"
#include "log/engine_impl.h"
#include "ops/ops.h"
#include "view/view_impl.h"

enum {
	TITLE_MAX = 60,    /* characters of a title made of a question */
	TITLE_READ = 240,  /* of the question that are read for it */
	TITLED_MAX = 200,  /* takes of a list that get titles */
	TITLE_LOOKS = 8,   /* entries among which the question is looked for */
	ASKED_MAX = 32     /* last entries of a take among which one with a time is looked for */
};

static yyjson_val *
parsed(rt_scope *s, rt_str json)
{
	return rt_ok(s) && json.ptr != NULL ? rt_json_parse(s, json) : NULL;
}

/* ---- takes ---- */

/* The time of the last entry of a take that has one; 0: none. Only the last few are asked. */
static int64_t
last_entry_us(const rt_view *v, const rt_take *take)
{
	size_t count = rt_seq_count(take->slots);
	rt_slot slot;

	for (size_t i = 0; i < ASKED_MAX && i < count; i++) {
		if (RT_TRY(v->scope, rt_seq_get(take->slots, count - 1 - i, &slot,
						&v->scope->error)) != RT_OK)
			return 0;
		if ((slot.flags & RT_SLOT_NO_TS) == 0)
			return rt_slot_moment(&slot).us;
	}
	return 0;
}

/* A take knows the row of the log that changed it last, except in a past value and if a version
 * without this feature wrote it. */
static int64_t
take_updated_us(const rt_view *v, const rt_take *take, rt_row_time *time)
{
	if (take->row == 0 || take->row > v->project->seq)
		return last_entry_us(v, take);
	return RT_TRY(v->scope, rt_engine_row_time(v->engine, take->row, time,
						   &v->scope->error)) == RT_OK
		       ? time->at_us
		       : 0;
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
	rt_row_time time = {0};

	for (uint32_t i = 1; rt_ok(v->scope) && i <= takes; i++) {
		const rt_take *take = rt_disc_take(disc, i);
		bool is_beyond = how.max != 0 && rows.count >= how.max && i != how.also;
		rt_str name = rt_text_str(take->name);

		if ((!take->present && !how.all) || is_beyond)
			continue;
		rows.items[rows.count++] = (rt_take_row){
			.number = i,
			.name = name,
			.active = i == disc->active,
			.entries = rt_seq_count(take->slots),
			.base = rt_take_base(name),
			.git_commit = take->git_commit != NULL ? rt_text_str(take->git_commit)
							       : (rt_str){0},
			.updated_us = how.times ? take_updated_us(v, take, &time) : 0,
			.absent = !take->present,
		};
	}
	rt_scope *memory = how.titles && rows.count > 1 ? rt_view_inner(v->scope) : NULL;

	for (size_t i = 0; memory != NULL && i < rows.count && i < TITLED_MAX; i++)
		rt_take_row_set_title(v, disc, memory, &rows.items[i]);
	if (how.grouped)
		group_takes(&rows);
	return rows;
}

/* ---- discussions ---- */

/* The row that changed its entries or takes last, and not only a setting such as the draft. */
static uint64_t
last_change(const rt_view *v, const rt_disc *disc)
{
	uint64_t row = 0;

	for (uint32_t i = 1; i <= rt_disc_take_count(disc); i++) {
		const rt_take *take = rt_disc_take(disc, i);

		if (take->row == 0 || take->row > v->project->seq)
			return disc->history.last_step;
		row = take->row > row ? take->row : row;
	}
	return row;
}

/* The time of the last change. Of a discussion that was not changed since it was imported, or made from
 * another one's take: the time of its last entry. */
static void
set_updated(const rt_view *v, const rt_disc *disc, rt_row_time *time, rt_disc_row *row)
{
	int64_t entry_us = 0;
	bool is_import = disc->history.last_step == 0;
	rt_scope *s = v->scope;

	if (!is_import && RT_TRY(s, rt_engine_row_time(v->engine, last_change(v, disc), time,
						       &s->error)) == RT_OK) {
		row->updated_us = time->at_us;
		is_import = time->is_import;
	}
	if (is_import)
		entry_us = last_entry_us(v, rt_disc_active(disc));
	if (entry_us != 0)
		row->updated_us = entry_us;
	row->has_updated = entry_us != 0 || disc->history.last_step != 0;
}

bool
rt_disc_name_is_generated(rt_str name)
{
	rt_str prefix = RT_STR("discussion-");
	uint64_t number;

	return rt_str_is(name, "main") ||
	       (rt_str_starts(name, prefix) &&
		rt_setting_count(rt_str_at(name.ptr + prefix.size, name.size - prefix.size),
				 &number));
}

rt_str
rt_first_words(rt_scope *s, rt_str text, size_t max)
{
	rt_str line = rt_str_trim(text);
	const char *end = line.size > 0 ? memchr(line.ptr, '\n', line.size) : NULL;
	rt_buf *out = rt_scope_buf(s);
	size_t cut;

	if (end != NULL)
		line.size = (size_t)(end - line.ptr);
	line = rt_str_trim(line);
	cut = rt_utf8_count(line) > max ? rt_utf8_offset(line, max - 1) : line.size;
	if (cut < line.size) { /* whole words, unless there is only one */
		size_t space = cut;

		while (space > 0 && line.ptr[space] != ' ')
			space--;
		cut = space > cut / 2 ? space : cut;
	}
	rt_buf_add_str(out, rt_str_trim(rt_str_at(line.ptr, cut)));
	if (cut < line.size)
		rt_buf_add_c(out, "…");
	return rt_scope_str(s, out);
}

/* The first words of the first question of its active take; absent: there is none near its start. */
static rt_str
question_title(const rt_view *v, rt_scope *bodies, const rt_disc *disc)
{
	const rt_seq *slots = rt_disc_active(disc)->slots;
	rt_view inner = {bodies, v->engine, v->project, v->place};
	size_t count = rt_seq_count(slots);
	rt_slot slot[TITLE_LOOKS];
	rt_str role = {0};

	count = count < TITLE_LOOKS ? count : TITLE_LOOKS;
	RT_TRY(v->scope, rt_seq_copy(slots, 0, count, slot, &v->scope->error));
	for (size_t i = 0; rt_ok(v->scope) && i < count; i++) {
		RT_TRY(v->scope,
		       rt_project_name(v->project, slot[i].role, &role, &v->scope->error));
		if (slot[i].kind != 0 || !rt_role_is_user(role))
			continue;
		rt_scope_reset(bodies);
		const rt_body *body = rt_view_body(&inner, slot[i].body);

		if (rt_scope_adopt(v->scope, bodies) != RT_OK)
			break;
		rt_str words = rt_first_words(
			v->scope, rt_view_preview(bodies, role, body, TITLE_READ), TITLE_MAX);

		return words.size > 0 ? words : (rt_str){0};
	}
	return (rt_str){0};
}

static rt_str
title_of(const rt_view *v, rt_scope *bodies, const rt_cell *cell, const rt_disc *disc)
{
	rt_str name = rt_cell_name(cell), title;

	if (!rt_disc_name_is_generated(name))
		return name;
	title = rt_json_str(parsed(v->scope, rt_fields_get(disc->fields, RT_STR("setting.title"))));
	if (rt_str_trim(title).size == 0)
		title = question_title(v, bodies, disc);
	return title.size > 0 ? title : name;
}

rt_str
rt_disc_title(const rt_view *v, uint32_t number)
{
	const rt_cell *cell = rt_project_cell(v->project, number);
	const rt_disc *disc = NULL;

	if (cell == NULL ||
	    RT_TRY(v->scope, rt_project_disc(v->project, number, &disc, &v->scope->error)) != RT_OK)
		return RT_STR("");
	return title_of(v, rt_view_inner(v->scope), cell, disc);
}

static bool
flag_of(const rt_disc *disc, const char *field)
{
	return rt_str_is(rt_fields_get(disc->fields, rt_str_of(field)), "true");
}

static void
set_tags(const rt_view *v, const rt_disc *disc, rt_disc_row *row)
{
	yyjson_val *list =
		parsed(v->scope, rt_fields_get(disc->fields, RT_STR("setting.tags")));
	rt_str *tags = rt_scope_array(v->scope, yyjson_arr_size(list), sizeof(*tags));

	for (rt_json_iter it = rt_json_items(list); tags != NULL && rt_json_next(&it);) {
		rt_str tag = rt_str_trim(rt_json_str(it.value));

		if (tag.size > 0)
			tags[row->tag_count++] = tag;
	}
	row->tags = tags;
}

bool
rt_disc_has_tag(const rt_view *v, const rt_disc *disc, rt_str tag)
{
	rt_disc_row row = {0};

	set_tags(v, disc, &row);
	return rt_disc_row_has_tag(&row, tag);
}

bool
rt_disc_row_has_tag(const rt_disc_row *disc, rt_str tag)
{
	if (tag.size == 0)
		return disc->tag_count == 0;
	for (size_t i = 0; i < disc->tag_count; i++) {
		rt_str own = disc->tags[i];

		if (rt_str_starts(own, tag) && (own.size == tag.size || own.ptr[tag.size] == '/'))
			return true;
	}
	return false;
}

/* The pinned ones first; both parts keep their order. */
static void
put_pinned_first(rt_scope *s, rt_disc_rows *rows)
{
	rt_disc_row *items = rt_scope_array(s, rows->count, sizeof(*items));
	size_t count = 0;

	for (int pinned = 1; items != NULL && pinned >= 0; pinned--)
		for (size_t i = 0; i < rows->count; i++)
			if (rows->items[i].pinned == (pinned == 1))
				items[count++] = rows->items[i];
	rows->items = items;
}

rt_disc_rows
rt_discs_list(const rt_view *v, bool all)
{
	rt_scope *s = v->scope;
	size_t discs = rt_project_disc_count(v->project);
	rt_disc_rows rows = {.items = rt_scope_array(s, discs, sizeof(*rows.items))};
	rt_scope *bodies = rt_view_inner(s);
	bool has_pinned = false;
	rt_row_time time = {0};

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
			.title = title_of(v, bodies, cell, disc),
			.pinned = flag_of(disc, "setting.pinned"),
			.archived = flag_of(disc, "setting.archived"),
			.absent = !cell->present,
		};
		has_pinned = has_pinned || row->pinned;
		set_tags(v, disc, row);
		rt_str track = rt_fields_get(disc->fields, RT_STR("track"));

		if (track.ptr != NULL)
			row->track = rt_json_str(rt_json_parse(s, track));
		set_updated(v, disc, &time, row);
	}
	if (has_pinned)
		put_pinned_first(s, &rows);
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

yyjson_val *
rt_setting_value(const rt_view *v, rt_str name)
{
	const rt_disc *disc = rt_view_disc(v);
	rt_buf *key = rt_scope_buf(v->scope);

	rt_buf_add_str(key, setting_prefix);
	rt_buf_add_str(key, name);
	rt_buf_add_byte(key, 0);
	name = rt_scope_str(v->scope, key);
	if (disc == NULL || name.ptr == NULL)
		return NULL;
	return parsed(v->scope, rt_project_setting(v->project, disc, name.ptr));
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
