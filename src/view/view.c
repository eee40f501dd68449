/* SPDX-License-Identifier: MIT
 *
 * Values as JSON: show, takes, discussions, settings, diff. The tree is in view_tree.c,
 * history in view_history.c. What is printed here is a promise (contract, section 7). */
#include "core/role.h"
#include "log/engine_impl.h"
#include "view/view.h"

static rt_status
done(rt_buf *buf, rt_status st, rt_error *err)
{
	if (st == RT_OK && buf->status != RT_OK)
		return rt_fail(err, buf->status, "out of memory");
	return st;
}

static void
add_bool(rt_buf *buf, const char *key, bool value)
{
	rt_json_add_key(buf, key);
	rt_buf_add_c(buf, value ? "true" : "false");
}

static void
add_text(rt_buf *buf, const char *key, rt_str value)
{
	rt_json_add_key(buf, key);
	rt_json_add_string(buf, value);
}

/* ---- entries ---- */

/* One entry as an object, from its slot and its body's bytes. */
static rt_status
add_slot(rt_engine *engine, const rt_project *project, const rt_disc *disc, const rt_slot *slot,
	 rt_str bytes, rt_buf *buf, rt_error *err)
{
	char id[RT_ID_MAX + 1];
	rt_str role, kind, label;
	unsigned view;
	rt_body body;
	rt_status st = rt_entry_id(project, slot->entry, id, err);

	if (st == RT_OK)
		st = rt_project_name(project, slot->role, &role, err);
	if (st == RT_OK)
		st = rt_project_name(project, slot->kind, &kind, err);
	if (st == RT_OK)
		st = rt_disc_label(project, disc, slot->entry, &label, err);
	if (st == RT_OK)
		st = rt_project_view(project, slot->entry, &view, err);
	if (st != RT_OK)
		return st;
	st = rt_body_read(engine->alloc, bytes, &body, err);
	if (st != RT_OK)
		return st;
	rt_buf_add_byte(buf, '{');
	add_text(buf, "id", rt_str_of(id));
	add_text(buf, "role", role);
	add_text(buf, "kind", kind.size > 0 ? kind : RT_STR("message"));
	rt_json_add_key(buf, "content");
	rt_body_add_content(buf, &body);
	if ((slot->flags & RT_SLOT_NO_TS) == 0) {
		rt_json_add_key(buf, "ts");
		rt_buf_add_byte(buf, '"');
		rt_moment_format(buf, rt_slot_moment(slot));
		rt_buf_add_byte(buf, '"');
	}
	add_bool(buf, "muted", (slot->flags & RT_SLOT_MUTED) != 0);
	add_bool(buf, "collapsed", (view & RT_VIEW_COLLAPSED) != 0);
	add_bool(buf, "read_mode", (view & RT_VIEW_READ_MODE) != 0);
	if (label.size > 0)
		add_text(buf, "label", label);
	if (body.format == RT_BODY_PURGED)
		add_bool(buf, body.lost ? "lost" : "purged", true);
	/* a field of that name is the user's, and stays */
	if ((slot->flags & RT_SLOT_EDITED) != 0 && rt_body_field(&body, "edited") == NULL)
		add_bool(buf, "edited", true);
	rt_body_add_fields(buf, engine->alloc, &body, false);
	rt_buf_add_byte(buf, '}');
	rt_body_deinit(&body);
	return done(buf, RT_OK, err);
}

rt_status
rt_view_add_slot(rt_engine *engine, const rt_project *project, const rt_disc *disc,
		 const rt_slot *slot, rt_buf *buf, rt_error *err)
{
	rt_buf bytes;
	rt_status st;

	rt_buf_init(&bytes, engine->alloc, RT_BUF_UNLIMITED);
	st = rt_store_get(engine->store, rt_rows_one(RT_STORE_BODIES, engine->project, slot->body),
			  &bytes, NULL, err);
	if (st == RT_NOT_FOUND)
		st = rt_fail(err, RT_CORRUPT, "body %llu is missing; run: retake fsck",
			     (unsigned long long)slot->body);
	if (st == RT_OK && bytes.status != RT_OK)
		st = rt_fail(err, bytes.status, "out of memory");
	if (st == RT_OK)
		st = add_slot(engine, project, disc, slot, rt_buf_str(&bytes), buf, err);
	rt_buf_deinit(&bytes);
	return st;
}

rt_status
rt_view_is_hidden(rt_engine *engine, const rt_project *project, const rt_slot *slot, bool *out,
		  rt_error *err)
{
	rt_str kind, role;
	rt_body body;
	rt_buf bytes;
	rt_status st = rt_project_name(project, slot->kind, &kind, err);

	*out = false;
	if (st == RT_OK)
		st = rt_project_name(project, slot->role, &role, err);
	if (st != RT_OK)
		return st;
	*out = rt_str_is(kind, "custom");
	if (*out || (slot->flags & RT_SLOT_RICH) == 0 ||
	    (!rt_str_is(kind, "custom_message") && !rt_str_is(role, "custom")))
		return RT_OK;
	st = rt_engine_body(engine, slot->body, &bytes, &body, err);
	if (st == RT_OK)
		*out = rt_body_is_hidden(kind, &body);
	rt_body_deinit(&body);
	rt_buf_deinit(&bytes);
	return st == RT_CORRUPT ? RT_OK : st; /* a damaged text is shown, as damaged */
}

rt_status
rt_view_count_hidden(rt_engine *engine, const rt_project *project, const rt_take *take,
		     size_t *out, rt_error *err)
{
	size_t count = rt_seq_count(take->slots), at, run, i, found = 0;
	rt_status st = RT_OK;

	for (at = 0; st == RT_OK && at < count; at += run) {
		rt_slot slots[64];
		bool hidden = false;

		run = count - at < 64 ? count - at : 64;
		st = rt_seq_copy(take->slots, at, run, slots, err);
		for (i = 0; st == RT_OK && i < run; i++) {
			st = rt_view_is_hidden(engine, project, &slots[i], &hidden, err);
			found += hidden;
		}
	}
	*out = found;
	return st;
}

static rt_status
place_of(const rt_project *project, rt_place place, const rt_disc **out_disc,
	 const rt_take **out_take, rt_error *err)
{
	rt_status st = rt_project_disc(project, place.disc != 0 ? place.disc : project->active,
				       out_disc, err);

	if (st != RT_OK)
		return st;
	*out_take = rt_disc_take(*out_disc, place.take != 0 ? place.take : (*out_disc)->active);
	return *out_take != NULL ? RT_OK : rt_fail(err, RT_NOT_FOUND, "no such take");
}

/* "head": id or null. For a take that is not the active one: its tip. */
static rt_status
add_head(const rt_project *project, const rt_disc *disc, const rt_take *take, rt_buf *buf,
	 rt_error *err)
{
	size_t at = rt_seq_count(take->slots);
	char id[RT_ID_MAX + 1];
	rt_slot slot;
	rt_status st = RT_OK;

	if (take->number == disc->active)
		st = rt_disc_head_at(project, disc, &at, err);
	rt_json_add_key(buf, "head");
	if (st != RT_OK)
		return st;
	if (at == 0) {
		rt_buf_add_c(buf, "null");
		return RT_OK;
	}
	st = rt_seq_get(take->slots, at - 1, &slot, err);
	if (st == RT_OK)
		st = rt_entry_id(project, slot.entry, id, err);
	if (st == RT_OK)
		rt_json_add_string(buf, rt_str_of(id));
	return st;
}

static bool
role_passes(const rt_project *project, const rt_slot *slot, rt_str role)
{
	rt_str name;

	if (role.size == 0)
		return true;
	if (rt_project_name(project, slot->role, &name, NULL) != RT_OK)
		return false;
	return rt_str_eq(name, role) || rt_role_is_user(name);
}

rt_status
rt_view_show(rt_engine *engine, const rt_project *project, rt_place place, const rt_window *window,
	     rt_buf *buf, rt_error *err)
{
	const rt_disc *disc;
	const rt_take *take;
	size_t count, at, end;
	bool first = true;
	rt_status st = place_of(project, place, &disc, &take, err);

	if (st != RT_OK)
		return st;
	count = rt_seq_count(take->slots);
	at = window != NULL && window->from < count ? window->from : window != NULL ? count : 0;
	if (window == NULL || window->from == 0)
		at = 0;
	end = window != NULL && window->count > 0 && window->count < count - at ? at + window->count
										 : count;
	rt_buf_add_byte(buf, '{');
	add_text(buf, "discussion", rt_cell_name(rt_project_cell(project, disc->number)));
	add_text(buf, "take", rt_text_str(take->name));
	st = add_head(project, disc, take, buf, err);
	rt_json_add_key(buf, "count");
	rt_buf_add_u64(buf, count);
	rt_json_add_key(buf, "entries");
	rt_buf_add_byte(buf, '[');
	while (st == RT_OK && at < end) {
		rt_slot slots[64];
		size_t run = end - at < 64 ? end - at : 64, i;

		rt_body_run bodies;

		st = rt_seq_copy(take->slots, at, run, slots, err);
		rt_buf_init(&bodies.bytes, engine->alloc, RT_BUF_UNLIMITED);
		if (st == RT_OK)
			st = rt_engine_body_run(engine, slots, run, &bodies, err);
		for (i = 0; st == RT_OK && i < run; i++) {
			if (window != NULL && !role_passes(project, &slots[i], window->role))
				continue;
			if (!first)
				rt_buf_add_byte(buf, ',');
			first = false;
			st = add_slot(engine, project, disc, &slots[i],
				      rt_str_at(bodies.bytes.ptr + bodies.at[i], bodies.size[i]),
				      buf, err);
		}
		rt_buf_deinit(&bodies.bytes);
		at += run;
	}
	rt_buf_add(buf, "]}", 2);
	return done(buf, st, err);
}

rt_status
rt_view_entry(rt_engine *engine, const rt_project *project, rt_place place, uint32_t entry,
	      rt_buf *buf, rt_error *err)
{
	const rt_disc *disc;
	const rt_take *take;
	rt_slot slot;
	size_t at, i;
	bool found;
	rt_status st = place_of(project, place, &disc, &take, err);

	if (st == RT_OK)
		st = rt_take_find(project, take, entry, &at, &slot, &found, err);
	for (i = 1; st == RT_OK && !found && i <= rt_disc_take_count(disc); i++)
		if (rt_disc_take(disc, (uint32_t)i)->present)
			st = rt_take_find(project, rt_disc_take(disc, (uint32_t)i), entry, &at,
					  &slot, &found, err);
	if (st == RT_OK && !found)
		return rt_fail(err, RT_NOT_FOUND, "the entry is in no take now");
	return st == RT_OK ? rt_view_add_slot(engine, project, disc, &slot, buf, err) : st;
}

/* ---- lists ---- */

rt_status
rt_view_takes(rt_engine *engine, const rt_project *project, uint32_t disc_number, bool all,
	      rt_buf *buf, rt_error *err)
{
	return rt_view_takes_first(engine, project, disc_number, all, SIZE_MAX, 0, buf, err);
}

rt_status
rt_view_takes_first(rt_engine *engine, const rt_project *project, uint32_t disc_number, bool all,
		    size_t most, uint32_t also, rt_buf *buf, rt_error *err)
{
	const rt_disc *disc;
	size_t i, listed = 0;
	bool first = true;
	rt_status st = rt_project_disc(project, disc_number != 0 ? disc_number : project->active,
				       &disc, err);

	(void)engine;
	if (st != RT_OK)
		return st;
	rt_buf_add_byte(buf, '[');
	for (i = 1; i <= rt_disc_take_count(disc); i++) {
		const rt_take *take = rt_disc_take(disc, (uint32_t)i);
		rt_str name = rt_text_str(take->name);
		size_t cut;

		if ((!take->present && !all) || (listed >= most && take->number != also))
			continue;
		listed++;
		cut = rt_str_find(name, RT_STR("_take_"), 0);
		if (!first)
			rt_buf_add_byte(buf, ',');
		first = false;
		rt_buf_add_c(buf, "{\"id\":\"");
		rt_buf_add_number_id(buf, 't', take->number);
		rt_buf_add_byte(buf, '"');
		add_text(buf, "name", name);
		add_bool(buf, "active", take->number == disc->active);
		rt_json_add_key(buf, "entries");
		rt_buf_add_u64(buf, rt_seq_count(take->slots));
		add_text(buf, "base", cut == SIZE_MAX ? name : rt_str_at(name.ptr, cut));
		if (take->git_commit != NULL)
			add_text(buf, "git_commit", rt_text_str(take->git_commit));
		if (!take->present)
			add_bool(buf, "present", false);
		rt_buf_add_byte(buf, '}');
	}
	rt_buf_add_byte(buf, ']');
	return done(buf, RT_OK, err);
}

/* A discussion that nothing was done to since it was made out of another one's take: the time
 * of its last entry, or null. */
static rt_status
add_newest_time(const rt_take *take, rt_buf *buf, rt_error *err)
{
	size_t count = rt_seq_count(take->slots);
	rt_slot slot;
	rt_status st = RT_OK;

	if (count > 0)
		st = rt_seq_get(take->slots, count - 1, &slot, err);
	if (st != RT_OK || count == 0 || (slot.flags & RT_SLOT_NO_TS) != 0) {
		rt_buf_add_c(buf, "null");
		return st;
	}
	rt_buf_add_byte(buf, '"');
	rt_moment_format_ms(buf, rt_slot_moment(&slot));
	rt_buf_add_byte(buf, '"');
	return RT_OK;
}

rt_status
rt_view_discussions(rt_engine *engine, const rt_project *project, bool all, rt_buf *buf,
		    rt_error *err)
{
	size_t i;
	bool first = true;
	rt_status st = RT_OK;

	rt_buf_add_byte(buf, '[');
	for (i = 1; st == RT_OK && i <= rt_project_disc_count(project); i++) {
		const rt_cell *cell = rt_project_cell(project, (uint32_t)i);
		const rt_disc *disc;

		if (!cell->present && !all)
			continue;
		st = rt_project_disc(project, (uint32_t)i, &disc, err);
		if (st != RT_OK)
			break;
		if (!first)
			rt_buf_add_byte(buf, ',');
		first = false;
		rt_buf_add_c(buf, "{\"id\":\"");
		rt_buf_add_number_id(buf, 'd', cell->number);
		rt_buf_add_byte(buf, '"');
		add_text(buf, "name", rt_cell_name(cell));
		add_bool(buf, "active", cell->number == project->active);
		rt_json_add_key(buf, "entries");
		rt_buf_add_u64(buf, rt_seq_count(rt_disc_active(disc)->slots));
		rt_json_add_key(buf, "takes");
		rt_buf_add_u64(buf, rt_disc_present_count(disc));
		rt_json_add_key(buf, "updated");
		if (disc->history.last_step != 0) {
			int64_t at_us = 0;

			st = rt_engine_record_time(engine, disc->history.last_step, &at_us, err);
			rt_buf_add_byte(buf, '"');
			rt_moment_format_ms(buf, (rt_moment){at_us, 0});
			rt_buf_add_byte(buf, '"');
		} else {
			st = add_newest_time(rt_disc_active(disc), buf, err);
		}
		if (!cell->present)
			add_bool(buf, "present", false);
		rt_buf_add_byte(buf, '}');
	}
	rt_buf_add_byte(buf, ']');
	return done(buf, st, err);
}

/* ---- settings ---- */

static void
add_setting_fields(rt_buf *buf, const rt_fields *fields)
{
	size_t i;

	for (i = 0; i < rt_fields_count(fields); i++) {
		rt_str name = rt_fields_name(fields, i);

		if (!rt_str_starts(name, RT_STR("setting.")))
			continue;
		rt_json_add_key_str(buf, rt_str_at(name.ptr + 8, name.size - 8));
		rt_buf_add_str(buf, rt_fields_value(fields, i));
	}
}

rt_status
rt_view_settings(rt_engine *engine, const rt_project *project, uint32_t disc_number, rt_buf *buf,
		 rt_error *err)
{
	const rt_disc *disc;
	rt_str prompt;
	size_t i;
	rt_status st = rt_project_disc(project, disc_number != 0 ? disc_number : project->active,
				       &disc, err);

	(void)engine;
	if (st != RT_OK)
		return st;
	rt_buf_add_byte(buf, '{');
	add_text(buf, "discussion", rt_cell_name(rt_project_cell(project, disc->number)));
	rt_json_add_key(buf, "roles");
	rt_buf_add_str(buf, rt_project_roles(project));
	rt_json_add_key(buf, "prompt");
	prompt = rt_fields_get(disc->fields, RT_STR("prompt"));
	rt_buf_add_c(buf, "{\"text\":");
	rt_buf_add_str(buf, prompt.ptr != NULL ? prompt : RT_STR("\"\""));
	add_bool(buf, "edited",
		 rt_fields_get(disc->fields, RT_STR("prompt_edited")).ptr != NULL);
	rt_buf_add_byte(buf, '}');
	rt_json_add_key(buf, "settings");
	rt_buf_add_byte(buf, '{');
	add_setting_fields(buf, project->fields);
	add_setting_fields(buf, disc->fields);
	rt_buf_add_byte(buf, '}');
	for (i = 0; i < rt_fields_count(disc->fields); i++) {
		rt_str name = rt_fields_name(disc->fields, i);

		if (rt_str_starts(name, RT_STR("setting.")) || rt_str_is(name, "prompt") ||
		    rt_str_is(name, "prompt_edited"))
			continue;
		rt_json_add_key_str(buf, name);
		rt_buf_add_str(buf, rt_fields_value(disc->fields, i));
	}
	rt_buf_add_byte(buf, '}');
	return done(buf, RT_OK, err);
}

/* ---- diff ---- */

static rt_status
add_rest(rt_engine *engine, const rt_project *project, const rt_disc *disc, const rt_take *take,
	 size_t from, rt_buf *buf, rt_error *err)
{
	rt_status st = RT_OK;
	size_t at;

	rt_buf_add_byte(buf, '[');
	for (at = from; st == RT_OK && at < rt_seq_count(take->slots); at++) {
		rt_slot slot;

		if (at > from)
			rt_buf_add_byte(buf, ',');
		st = rt_seq_get(take->slots, at, &slot, err);
		if (st == RT_OK)
			st = rt_view_add_slot(engine, project, disc, &slot, buf, err);
	}
	rt_buf_add_byte(buf, ']');
	return st;
}

rt_status
rt_view_diff(rt_engine *engine, const rt_project *project, uint32_t disc_number, uint32_t take_a,
	     uint32_t take_b, rt_buf *buf, rt_error *err)
{
	const rt_disc *disc;
	const rt_take *a, *b;
	size_t common, at;
	bool first = true;
	rt_status st = rt_project_disc(project, disc_number != 0 ? disc_number : project->active,
				       &disc, err);

	if (st != RT_OK)
		return st;
	a = rt_disc_take(disc, take_a);
	b = rt_disc_take(disc, take_b);
	if (a == NULL || b == NULL)
		return rt_fail(err, RT_NOT_FOUND, "no such take");
	st = rt_seq_common(a->slots, b->slots, &common, err);
	if (st != RT_OK)
		return st;
	rt_buf_add_byte(buf, '{');
	rt_json_add_key(buf, "common");
	rt_buf_add_u64(buf, common);
	rt_json_add_key(buf, "changed");
	rt_buf_add_byte(buf, '[');
	for (at = 0; st == RT_OK; at++) {
		rt_slot x, y;

		st = rt_seq_differ(a->slots, b->slots, at, &at, err);
		if (st != RT_OK || at >= common)
			break;
		st = rt_seq_get(a->slots, at, &x, err);
		if (st == RT_OK)
			st = rt_seq_get(b->slots, at, &y, err);
		if (st != RT_OK)
			break;
		rt_buf_add_c(buf, first ? "{\"a\":" : ",{\"a\":");
		first = false;
		st = rt_view_add_slot(engine, project, disc, &x, buf, err);
		rt_buf_add_c(buf, ",\"b\":");
		if (st == RT_OK)
			st = rt_view_add_slot(engine, project, disc, &y, buf, err);
		rt_buf_add_byte(buf, '}');
	}
	rt_buf_add_byte(buf, ']');
	rt_json_add_key(buf, "a");
	if (st == RT_OK)
		st = add_rest(engine, project, disc, a, common, buf, err);
	rt_json_add_key(buf, "b");
	if (st == RT_OK)
		st = add_rest(engine, project, disc, b, common, buf, err);
	rt_buf_add_byte(buf, '}');
	return done(buf, st, err);
}
