/* SPDX-License-Identifier: MIT
 *
 * Views as JSON, written from typed rows (view_rows.h). The output is part of the contract (section
 * 7). */
#include "log/engine_impl.h"
#include "view/view.h"
#include "view/view_impl.h"

static rt_view
begin(rt_scope *s, rt_engine *engine, const rt_project *project, rt_place place)
{
	rt_scope_init(s, engine->alloc);
	return (rt_view){s, engine, project, place};
}

static rt_status
end(const rt_view *v, const rt_buf *buf, rt_error *err)
{
	(void)rt_scope_note(v->scope, buf->status);
	return rt_scope_end(v->scope, err);
}

/* ---- entries ---- */

static const rt_view_field entry_fields[] = {
	RT_VIEW_FIELD(rt_entry_row, "id", id, STR, ALWAYS),
	RT_VIEW_FIELD(rt_entry_row, "role", role, STR, ALWAYS),
	RT_VIEW_FIELD(rt_entry_row, "kind", kind, STR, ALWAYS),
};

static const rt_view_field entry_flags[] = {
	RT_VIEW_FIELD(rt_entry_row, "muted", muted, BOOL, ALWAYS),
	RT_VIEW_FIELD(rt_entry_row, "collapsed", collapsed, BOOL, ALWAYS),
	RT_VIEW_FIELD(rt_entry_row, "read_mode", read_mode, BOOL, ALWAYS),
	RT_VIEW_FIELD(rt_entry_row, "label", label, STR, OMIT),
	RT_VIEW_FIELD(rt_entry_row, "purged", purged, BOOL, OMIT),
	RT_VIEW_FIELD(rt_entry_row, "lost", lost, BOOL, OMIT),
};

void
rt_entry_write(rt_buf *buf, const rt_entry_row *e)
{
	rt_json_add_comma(buf);
	rt_buf_add_byte(buf, '{');
	RT_VIEW_PUT(buf, entry_fields, e);
	rt_json_add_key(buf, "content");
	rt_body_add_content(buf, e->body);
	if (e->has_time) {
		rt_json_add_key(buf, "ts");
		rt_buf_add_byte(buf, '"');
		rt_moment_format(buf, rt_slot_moment(&e->slot));
		rt_buf_add_byte(buf, '"');
	}
	RT_VIEW_PUT(buf, entry_flags, e);
	/* a field of that name belongs to the user, and follows */
	if ((e->slot.flags & RT_SLOT_EDITED) != 0 && rt_body_field(e->body, "edited") == NULL)
		rt_json_put_bool(buf, "edited", true);
	if (e->failure != NULL && rt_body_field(e->body, "failure") == NULL)
		rt_json_put_value(buf, "failure", e->failure);
	rt_body_add_fields(buf, buf->alloc, e->body, false);
	rt_buf_add_byte(buf, '}');
}

static void
put_entries(const rt_view *v, const char *key, const rt_window *window, rt_buf *buf)
{
	rt_entry_cursor *c = rt_entries_open(v, window);

	rt_json_open(buf, key, '[');
	for (const rt_entry_row *e; (e = rt_entries_next(c)) != NULL;)
		rt_entry_write(buf, e);
	rt_json_close(buf, ']');
}

static const rt_view_field show_fields[] = {
	RT_VIEW_FIELD(rt_show_row, "discussion", discussion, STR, ALWAYS),
	RT_VIEW_FIELD(rt_show_row, "take", take, STR, ALWAYS),
	RT_VIEW_FIELD(rt_show_row, "head", head, STR, NULL),
	RT_VIEW_FIELD(rt_show_row, "count", count, SIZE, ALWAYS),
};

rt_status
rt_view_show(rt_engine *engine, const rt_project *project, rt_place place, const rt_window *window,
	     rt_buf *buf, rt_error *err)
{
	rt_scope s;
	rt_view v = begin(&s, engine, project, place);
	const rt_show_row *show = rt_show_read(&v);

	if (show != NULL) {
		rt_buf_add_byte(buf, '{');
		RT_VIEW_PUT(buf, show_fields, show);
		put_entries(&v, "entries", window, buf);
		rt_buf_add_byte(buf, '}');
	}
	return end(&v, buf, err);
}

rt_status
rt_view_entry(rt_engine *engine, const rt_project *project, rt_place place, uint32_t entry,
	      rt_buf *buf, rt_error *err)
{
	rt_scope s;
	rt_view v = begin(&s, engine, project, place);
	const rt_entry_row *e = rt_entry_find(&v, entry);

	if (e != NULL)
		rt_entry_write(buf, e);
	return end(&v, buf, err);
}

rt_status
rt_view_diff(rt_engine *engine, const rt_project *project, uint32_t disc, uint32_t take_a,
	     uint32_t take_b, rt_buf *buf, rt_error *err)
{
	rt_scope s;
	rt_view v = begin(&s, engine, project, (rt_place){disc, 0});
	rt_diff diff = rt_diff_open(&v, take_a, take_b);
	rt_view a = {&s, engine, project, {disc, take_a}}, b = {&s, engine, project, {disc, take_b}};
	rt_window rest = {.from = diff.common};

	rt_buf_add_byte(buf, '{');
	rt_json_put_u64(buf, "common", diff.common);
	rt_json_open(buf, "changed", '[');
	while (diff.a != NULL && rt_diff_next(&v, &diff)) {
		rt_json_open(buf, NULL, '{');
		rt_json_add_key(buf, "a");
		rt_entry_write(buf, diff.was);
		rt_json_add_key(buf, "b");
		rt_entry_write(buf, diff.is);
		rt_json_close(buf, '}');
	}
	rt_json_close(buf, ']');
	put_entries(&a, "a", &rest, buf);
	put_entries(&b, "b", &rest, buf);
	rt_buf_add_byte(buf, '}');
	return end(&v, buf, err);
}

/* ---- takes and discussions ---- */

static const rt_view_field take_fields[] = {
	RT_VIEW_FIELD(rt_take_row, "id", number, TAKE_ID, ALWAYS),
	RT_VIEW_FIELD(rt_take_row, "name", name, STR, ALWAYS),
	RT_VIEW_FIELD(rt_take_row, "active", active, BOOL, ALWAYS),
	RT_VIEW_FIELD(rt_take_row, "entries", entries, SIZE, ALWAYS),
	RT_VIEW_FIELD(rt_take_row, "base", base, STR, ALWAYS),
	RT_VIEW_FIELD(rt_take_row, "git_commit", git_commit, STR, OMIT),
	RT_VIEW_FIELD(rt_take_row, "last_updated", updated_us, TIME, OMIT),
	RT_VIEW_FIELD(rt_take_row, "title", title, STR, OMIT),
	RT_VIEW_FIELD(rt_take_row, "preview", preview, STR, OMIT),
	RT_VIEW_FIELD(rt_take_row, "another_reply", another_reply, TAKE_ID, OMIT),
};

static void
put_absent(rt_buf *buf, bool absent)
{
	if (absent)
		rt_json_put_bool(buf, "present", false);
	rt_json_close(buf, '}');
}

rt_status
rt_view_takes_first(rt_engine *engine, const rt_project *project, uint32_t disc, bool all,
		    size_t most, uint32_t also, rt_buf *buf, rt_error *err)
{
	rt_scope s;
	rt_view v = begin(&s, engine, project, (rt_place){disc, 0});
	rt_take_rows takes = rt_takes_list(&v, &(rt_takes_options){all, most, also, true, true, true});

	rt_json_open(buf, NULL, '[');
	for (size_t i = 0; i < takes.count; i++) {
		if (most == 0 && takes.items[i].number != also)
			continue;
		rt_json_open(buf, NULL, '{');
		RT_VIEW_PUT(buf, take_fields, &takes.items[i]);
		put_absent(buf, takes.items[i].absent);
	}
	rt_json_close(buf, ']');
	return end(&v, buf, err);
}

rt_status
rt_view_takes(rt_engine *engine, const rt_project *project, uint32_t disc, bool all, rt_buf *buf,
	      rt_error *err)
{
	return rt_view_takes_first(engine, project, disc, all, SIZE_MAX, 0, buf, err);
}

static const rt_view_field disc_fields[] = {
	RT_VIEW_FIELD(rt_disc_row, "id", number, DISC_ID, ALWAYS),
	RT_VIEW_FIELD(rt_disc_row, "name", name, STR, ALWAYS),
	RT_VIEW_FIELD(rt_disc_row, "active", active, BOOL, ALWAYS),
	RT_VIEW_FIELD(rt_disc_row, "entries", entries, SIZE, ALWAYS),
	RT_VIEW_FIELD(rt_disc_row, "takes", takes, SIZE, ALWAYS),
};

void
rt_disc_row_write(rt_buf *buf, const rt_disc_row *disc)
{
	rt_json_open(buf, NULL, '{');
	RT_VIEW_PUT(buf, disc_fields, disc);
	if (disc->has_updated)
		rt_view_put_time(buf, "updated", disc->updated_us);
	else
		rt_json_put_null(buf, "updated");
	if (disc->track.size > 0)
		rt_json_put_str(buf, "track", disc->track);
	if (!rt_str_eq(disc->title, disc->name))
		rt_json_put_str(buf, "title", disc->title);
	if (disc->pinned)
		rt_json_put_bool(buf, "pinned", true);
	if (disc->archived)
		rt_json_put_bool(buf, "archived", true);
	if (disc->tag_count > 0)
		rt_json_open(buf, "tags", '[');
	for (size_t i = 0; i < disc->tag_count; i++)
		rt_json_put_str(buf, NULL, disc->tags[i]);
	if (disc->tag_count > 0)
		rt_json_close(buf, ']');
	put_absent(buf, disc->absent);
}

rt_status
rt_view_discussions(rt_engine *engine, const rt_project *project, bool all, rt_str track,
		    rt_buf *buf, rt_error *err)
{
	rt_scope s;
	rt_view v = begin(&s, engine, project, (rt_place){0});
	rt_disc_rows discs = rt_discs_list(&v, all);

	rt_json_open(buf, NULL, '[');
	for (size_t i = 0; i < discs.count; i++)
		if (rt_disc_row_is_of(&discs.items[i], track))
			rt_disc_row_write(buf, &discs.items[i]);
	rt_json_close(buf, ']');
	return end(&v, buf, err);
}

/* ---- settings ---- */

static void
put_settings(rt_buf *buf, const rt_setting_rows *rows)
{
	for (size_t i = 0; i < rows->count; i++) {
		rt_json_add_key_str(buf, rows->items[i].name);
		rt_buf_add_str(buf, rows->items[i].value);
	}
}

/* The names of those that belong to the discussion. */
static void
put_own(rt_buf *buf, const rt_settings_row *row)
{
	if (row->own == 0)
		return;
	rt_json_open(buf, "own", '[');
	for (size_t i = row->settings.count - row->own; i < row->settings.count; i++)
		rt_json_put_str(buf, NULL, row->settings.items[i].name);
	rt_json_close(buf, ']');
}

static const rt_view_field settings_fields[] = {
	RT_VIEW_FIELD(rt_settings_row, "discussion", discussion, STR, ALWAYS),
	RT_VIEW_FIELD(rt_settings_row, "roles", roles, JSON, ALWAYS),
};

static const rt_view_field prompt_fields[] = {
	RT_VIEW_FIELD(rt_settings_row, "text", prompt, JSON, ALWAYS),
	RT_VIEW_FIELD(rt_settings_row, "edited", prompt_edited, BOOL, ALWAYS),
};

rt_status
rt_view_settings(rt_engine *engine, const rt_project *project, uint32_t disc, rt_buf *buf,
		 rt_error *err)
{
	rt_scope s;
	rt_view v = begin(&s, engine, project, (rt_place){disc, 0});
	const rt_settings_row *settings = rt_settings_read(&v);

	if (settings != NULL) {
		rt_buf_add_byte(buf, '{');
		RT_VIEW_PUT(buf, settings_fields, settings);
		rt_json_add_key(buf, "prompt");
		rt_buf_add_byte(buf, '{');
		RT_VIEW_PUT(buf, prompt_fields, settings);
		rt_buf_add_byte(buf, '}');
		rt_json_open(buf, "settings", '{');
		put_settings(buf, &settings->settings);
		rt_json_close(buf, '}');
		put_own(buf, settings);
		put_settings(buf, &settings->fields);
		rt_buf_add_byte(buf, '}');
	}
	return end(&v, buf, err);
}

/* ---- the tree ---- */

static const rt_view_field node_fields[] = {
	RT_VIEW_FIELD(rt_tree_row, "id", id, STR, ALWAYS),
	RT_VIEW_FIELD(rt_tree_row, "parent", parent, STR, NULL),
	RT_VIEW_FIELD(rt_tree_row, "role", role, STR, ALWAYS),
	RT_VIEW_FIELD(rt_tree_row, "kind", kind, STR, ALWAYS),
	RT_VIEW_FIELD(rt_tree_row, "label", label, STR, NULL),
	RT_VIEW_FIELD(rt_tree_row, "active", active, BOOL, ALWAYS),
};

static const rt_view_field node_more_fields[] = {
	RT_VIEW_FIELD(rt_tree_row, "muted", muted, BOOL, OMIT),
	RT_VIEW_FIELD(rt_tree_row, "edited", edited, BOOL, OMIT),
	RT_VIEW_FIELD(rt_tree_row, "depth", depth, SIZE, ALWAYS),
	RT_VIEW_FIELD(rt_tree_row, "preview", preview, STR, ALWAYS),
	RT_VIEW_FIELD(rt_tree_row, "partial", partial, BOOL, OMIT),
	RT_VIEW_FIELD(rt_tree_row, "hidden", hidden, BOOL, OMIT),
};

static const rt_view_field own_node[] = {
	RT_VIEW_FIELD(rt_tree_row, "node", node, NODE_ID, ALWAYS),
};

static const rt_view_field parent_node[] = {
	RT_VIEW_FIELD(rt_tree_row, "parent_node", parent_node, NODE_ID, ALWAYS),
};

static void
put_take_names(rt_buf *buf, const rt_disc *disc, const uint32_t *takes, size_t count)
{
	rt_json_open(buf, "takes", '[');
	for (size_t i = 0; i < count; i++)
		rt_json_put_str(buf, NULL, rt_text_str(rt_disc_take(disc, takes[i])->name));
	rt_json_close(buf, ']');
}

void
rt_tree_row_write(rt_buf *buf, const rt_disc *disc, const rt_tree_row *row)
{
	rt_json_open(buf, NULL, '{');
	RT_VIEW_PUT(buf, own_node, row);
	if (row->parent.ptr != NULL)
		RT_VIEW_PUT(buf, parent_node, row);
	else
		rt_json_put_null(buf, "parent_node");
	RT_VIEW_PUT(buf, node_fields, row);
	put_take_names(buf, disc, row->takes, row->take_count);
	if (row->variant_count > 0) {
		rt_json_open(buf, "variants", '[');
		for (size_t i = 0; i < row->variant_count; i++) {
			rt_json_open(buf, NULL, '{');
			put_take_names(buf, disc, row->variants[i].takes,
				       row->variants[i].take_count);
			rt_json_put_u64(buf, "revision", row->variants[i].revision);
			rt_json_close(buf, '}');
		}
		rt_json_close(buf, ']');
	}
	RT_VIEW_PUT(buf, node_more_fields, row);
	rt_json_close(buf, '}');
}

rt_status
rt_view_tree_wide(rt_engine *engine, const rt_project *project, uint32_t disc, size_t preview,
		  rt_buf *buf, rt_error *err)
{
	rt_scope s;
	rt_view v = begin(&s, engine, project, (rt_place){disc, 0});
	rt_tree_cursor *c = rt_tree_open(&v, preview);

	rt_json_open(buf, NULL, '[');
	for (const rt_tree_row *row; (row = rt_tree_next(c)) != NULL;)
		rt_tree_row_write(buf, rt_view_disc(&v), row);
	rt_json_close(buf, ']');
	return end(&v, buf, err);
}

rt_status
rt_view_tree(rt_engine *engine, const rt_project *project, uint32_t disc, rt_buf *buf,
	     rt_error *err)
{
	return rt_view_tree_wide(engine, project, disc, RT_TREE_PREVIEW, buf, err);
}

/* ---- history ---- */

static const rt_view_field step_fields[] = {
	RT_VIEW_FIELD(rt_history_row, "seq", seq, U64, ALWAYS),
	RT_VIEW_FIELD(rt_history_row, "parent", parent, U64, ALWAYS),
	RT_VIEW_FIELD(rt_history_row, "op", op, STR, ALWAYS),
	RT_VIEW_FIELD(rt_history_row, "what", what, STR, ALWAYS),
	RT_VIEW_FIELD(rt_history_row, "did", did, STR, ALWAYS),
	RT_VIEW_FIELD(rt_history_row, "about", about, STR, OMIT),
};

static const rt_view_field step_take[] = {
	RT_VIEW_FIELD(rt_history_row, "id", take, TAKE_ID, ALWAYS),
	RT_VIEW_FIELD(rt_history_row, "name", take_name, STR, ALWAYS),
};

static const rt_view_field step_more_fields[] = {
	RT_VIEW_FIELD(rt_history_row, "setting", setting, STR, OMIT),
	RT_VIEW_FIELD(rt_history_row, "by", by, STR, ALWAYS),
	RT_VIEW_FIELD(rt_history_row, "at", at_us, TIME, ALWAYS),
};

static void
put_step(rt_buf *buf, const rt_history_row *row)
{
	rt_json_open(buf, NULL, '{');
	RT_VIEW_PUT(buf, step_fields, row);
	if (row->take != 0) {
		rt_json_open(buf, "take", '{');
		RT_VIEW_PUT(buf, step_take, row);
		rt_json_close(buf, '}');
	}
	RT_VIEW_PUT(buf, step_more_fields, row);
	rt_json_put_c(buf, "scope", row->of_disc ? "discussion" : "project");
	rt_json_put_bool(buf, "current", row->is_current);
	rt_json_put_bool(buf, "undone", row->is_undone);
	if (row->rows > 1)
		rt_json_put_u64(buf, "rows", row->rows);
	rt_json_close(buf, '}');
}

rt_status
rt_view_history(rt_engine *engine, const rt_project *project, uint32_t disc, uint64_t before,
		size_t limit, rt_buf *buf, rt_error *err)
{
	rt_scope s;
	rt_view v = begin(&s, engine, project, (rt_place){disc, 0});
	rt_history_cursor *c = rt_history_open(&v, NULL, before);
	const rt_history_row *row;

	rt_json_open(buf, NULL, '[');
	for (size_t count = 0; limit == 0 || count < limit; count++) {
		row = rt_history_next(c);
		if (row == NULL)
			break;
		put_step(buf, row);
	}
	rt_json_close(buf, ']');
	return end(&v, buf, err);
}

/* ---- one step ---- */

static const rt_view_field side_fields[] = {
	RT_VIEW_FIELD(rt_entry_row, "id", id, STR, ALWAYS),
	RT_VIEW_FIELD(rt_entry_row, "role", role, STR, ALWAYS),
};

static void
put_sides(const rt_view *v, const char *key, const rt_effect_slot *slots, size_t count, rt_buf *buf)
{
	rt_view one = {rt_view_inner(v->scope), v->engine, v->project, v->place};

	rt_json_open(buf, key, '[');
	for (size_t i = 0; rt_scope_adopt(v->scope, one.scope) == RT_OK && i < count; i++) {
		rt_scope_reset(one.scope);
		const rt_entry_row *side = rt_entry_of_effect(&one, &slots[i]);

		if (side == NULL)
			continue;
		rt_json_open(buf, NULL, '{');
		RT_VIEW_PUT(buf, side_fields, side);
		rt_json_add_key(buf, "content");
		rt_body_add_content(buf, side->body);
		rt_json_add_key(buf, "muted");
		rt_buf_add_c(buf, side->muted ? "true}" : "false}");
	}
	rt_json_close(buf, ']');
}

static void
put_effect(const rt_view *v, const rt_effect *e, rt_buf *buf)
{
	static const rt_str null = RT_STR_INIT("null");

	rt_json_open(buf, NULL, '{');
	switch (e->kind) {
	case RT_EFFECT_SPLICE:
		rt_buf_add_f(buf, "\"effect\":\"splice\",\"discussion\":\"d%u\",\"take\":\"t%u\"",
			     e->disc, e->sub);
		rt_json_put_u64(buf, "at", e->at);
		put_sides(v, "before", e->removed, e->removed_count, buf);
		put_sides(v, "after", e->added, e->added_count, buf);
		break;
	case RT_EFFECT_NEW:
		rt_json_put_c(buf, "effect", e->disc == 0 ? "new discussion" : "new take");
		rt_json_put_str(buf, "name", e->name);
		rt_json_put_u64(buf, "entries", e->count);
		break;
	case RT_EFFECT_SET:
		rt_json_put_c(buf, "effect", "set");
		rt_json_put_str(buf, "field", e->key);
		rt_json_add_key(buf, "before");
		rt_buf_add_str(buf, e->before.ptr != NULL ? e->before : null);
		rt_json_add_key(buf, "after");
		rt_buf_add_str(buf, e->after.ptr != NULL ? e->after : null);
		break;
	}
	rt_buf_add_byte(buf, '}');
}

rt_status
rt_view_step(rt_engine *engine, const rt_project *project, uint64_t seq, rt_buf *buf, rt_error *err)
{
	rt_scope s;
	rt_view v = begin(&s, engine, project, (rt_place){0});
	const rt_step_row *step = rt_step_read(&v, seq);

	if (step == NULL)
		return end(&v, buf, err);
	const rt_record *r = &step->record;

	rt_buf_add_byte(buf, '{');
	rt_json_put_u64(buf, "seq", seq);
	rt_json_put_str(buf, "op", r->op);
	rt_json_put_str(buf, "what", step->what);
	rt_json_put_str(buf, "by", r->by);
	rt_view_put_time(buf, "at", step->at_us);
	if (r->extra.size > 0)
		rt_json_put_raw(buf, "extra", r->extra);
	rt_json_open(buf, "effects", '[');
	for (size_t i = 0; rt_ok(&s) && i < r->effect_count; i++)
		put_effect(&v, &r->effects[i], buf);
	rt_json_close(buf, ']');
	rt_json_open(buf, "moves", '[');
	for (size_t i = 0; i < r->move_count; i++) {
		rt_json_open(buf, NULL, '{');
		rt_json_put_u64(buf, "step", r->moves[i].step);
		rt_json_put_i64(buf, "direction", r->moves[i].direction);
		rt_json_close(buf, '}');
	}
	rt_json_close(buf, ']');
	rt_buf_add_byte(buf, '}');
	return end(&v, buf, err);
}

/* ---- revisions ---- */

static const rt_view_field revision_fields[] = {
	RT_VIEW_FIELD(rt_revision_row, "seq", seq, U64, ALWAYS),
	RT_VIEW_FIELD(rt_revision_row, "body", body, U64, ALWAYS),
	RT_VIEW_FIELD(rt_revision_row, "at", at_us, TIME, ALWAYS),
	RT_VIEW_FIELD(rt_revision_row, "by", by, STR, ALWAYS),
};

rt_status
rt_view_revisions(rt_engine *engine, const rt_project *project, uint32_t disc, uint32_t entry,
		  rt_buf *buf, rt_error *err)
{
	rt_scope s;
	rt_view v = begin(&s, engine, project, (rt_place){disc, 0});
	rt_revision_rows rows = rt_revisions_list(&v, entry);
	rt_view one = {rt_view_inner(&s), engine, project, v.place};

	rt_json_open(buf, NULL, '[');
	for (size_t i = 0; i < rows.count; i++) {
		rt_scope_reset(one.scope);
		const rt_body *body = rt_view_body(&one, rows.items[i].body);

		if (rt_scope_adopt(&s, one.scope) != RT_OK)
			break;
		rt_json_open(buf, NULL, '{');
		RT_VIEW_PUT(buf, revision_fields, &rows.items[i]);
		rt_json_add_key(buf, "content");
		rt_body_add_content(buf, body);
		if (body->format == RT_BODY_PURGED)
			rt_buf_add_c(buf, ",\"purged\":true");
		rt_json_add_key(buf, "current");
		rt_buf_add_c(buf, rows.items[i].is_current ? "true}" : "false}");
	}
	rt_json_close(buf, ']');
	return end(&v, buf, err);
}
